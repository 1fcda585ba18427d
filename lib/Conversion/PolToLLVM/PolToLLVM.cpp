//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The memory family in LLVM's dialect: calls of pol's runtime.

#include "pol/Conversion/PolToLLVM.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// The runtime's functions and data
//===----------------------------------------------------------------------===//

static LLVM::LLVMPointerType getPointerType(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context);
}

static LLVM::LLVMStructType getMarkType(MLIRContext *context) {
  Type i64 = IntegerType::get(context, 64);
  return LLVM::LLVMStructType::getLiteral(context, {i64, i64});
}

/// Calls a function of the runtime, declaring it if need be. Without a result
/// type it returns nothing.
static FailureOr<Value> callRuntime(OpBuilder &builder, Location loc,
                                    Operation *from, StringRef name,
                                    Type result, ValueRange arguments) {
  // Code of other symbol tables, of a GPU say, cannot call it.
  auto module = dyn_cast<ModuleOp>(SymbolTable::getNearestSymbolTable(from));
  if (!module)
    return failure();
  if (!result)
    result = LLVM::LLVMVoidType::get(builder.getContext());
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      builder, module, name, llvm::to_vector(arguments.getTypes()), result);
  if (failed(function))
    return failure();
  auto call = LLVM::CallOp::create(builder, loc, *function, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

/// A constant of the module that patterns share, found again by its content.
template <typename MatchFn, typename BuildFn>
static Value getConstant(OpBuilder &builder, Location loc, ModuleOp module,
                         StringRef prefix, uint64_t hash, MatchFn matches,
                         BuildFn build) {
  for (unsigned i = 0;; ++i) {
    std::string name = (prefix + llvm::utohexstr(hash) + "_" + Twine(i)).str();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      global = build(name);
    } else if (!matches(global)) {
      continue; // Two contents of one hash.
    }
    return LLVM::AddressOfOp::create(builder, loc, global);
  }
}

/// The address of a constant string.
static Value getString(OpBuilder &builder, Location loc, ModuleOp module,
                       StringRef text) {
  std::string terminated = text.str() + '\0';
  return getConstant(
      builder, loc, module, "pol_string_", llvm::xxh3_64bits(text),
      [&](LLVM::GlobalOp global) {
        auto value = dyn_cast_or_null<StringAttr>(global.getValueOrNull());
        return value && value.getValue() == terminated;
      },
      [&](StringRef name) {
        auto type =
            LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
        return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::Private, name,
                                      builder.getStringAttr(terminated));
      });
}

/// What a site says after its texts: file, line, column.
static void appendLocation(OpBuilder &builder, Location loc,
                           SmallVectorImpl<Attribute> &fields) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  fields.push_back(builder.getStringAttr(file ? file.getFilename().getValue()
                                              : StringRef()));
  fields.push_back(builder.getI32IntegerAttr(file ? file.getLine() : 0));
  fields.push_back(builder.getI32IntegerAttr(file ? file.getColumn() : 0));
}

/// The fields of a `pol_site`: what a carve says about itself.
static SmallVector<Attribute> getSite(OpBuilder &builder, CarveOp carve) {
  auto type = cast<MemRefType>(carve.getBuffer().getType());
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  StringRef role =
      carve.getRole() ? stringifyBufferRole(*carve.getRole()) : StringRef();
  SmallVector<Attribute> fields;
  for (StringRef text :
       {carve.getName().value_or(""), carve.getKernel().value_or(""), role,
        StringRef(element)})
    fields.push_back(builder.getStringAttr(text));
  appendLocation(builder, carve.getLoc(), fields);
  fields.push_back(
      builder.getI64IntegerAttr(getElementBytes(type.getElementType())));
  // At least the element type's own, which no target has above 16; the space
  // adds its.
  fields.push_back(builder.getI64IntegerAttr(carve.getAlignment().value_or(
      std::min<int64_t>(getElementBytes(type.getElementType()), 16))));
  return fields;
}

/// The fields of a `pol_check_site`. Relations are numbered as predicates are.
static SmallVector<Attribute> getSite(OpBuilder &builder, CheckOp check) {
  SmallVector<Attribute> fields = {
      check.getWhatAttr(),
      builder.getStringAttr(check.getKernel().value_or(""))};
  appendLocation(builder, check.getLoc(), fields);
  fields.push_back(
      builder.getI32IntegerAttr(static_cast<int32_t>(check.getPredicate())));
  return fields;
}

/// The address of the constant site of an op.
template <typename OpTy>
static Value getSiteAddress(OpBuilder &builder, OpTy op) {
  MLIRContext *context = builder.getContext();
  Location loc = op.getLoc();
  auto module = op->template getParentOfType<ModuleOp>();
  SmallVector<Attribute> fields = getSite(builder, op);
  auto key = builder.getArrayAttr(fields);
  std::string text;
  llvm::raw_string_ostream(text) << key;
  return getConstant(
      builder, loc, module, "pol_site_", llvm::xxh3_64bits(text),
      [&](LLVM::GlobalOp global) { return global->getAttr("pol.site") == key; },
      [&](StringRef name) {
        SmallVector<Type> types;
        for (Attribute field : fields)
          types.push_back(isa<StringAttr>(field)
                              ? Type(getPointerType(context))
                              : cast<IntegerAttr>(field).getType());
        auto type = LLVM::LLVMStructType::getLiteral(context, types);
        auto global =
            LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                   LLVM::Linkage::Private, name, Attribute());
        global->setAttr("pol.site", key);
        OpBuilder::InsertionGuard guard(builder);
        builder.createBlock(&global.getInitializerRegion());
        Value site = LLVM::UndefOp::create(builder, loc, type);
        for (auto [index, field] : llvm::enumerate(fields)) {
          Value value;
          if (auto string = dyn_cast<StringAttr>(field))
            value = getString(builder, loc, module, string.getValue());
          else
            value = LLVM::ConstantOp::create(builder, loc,
                                             cast<IntegerAttr>(field));
          site = LLVM::InsertValueOp::create(builder, loc, site, value, index);
        }
        LLVM::ReturnOp::create(builder, loc, site);
        return global;
      });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct ConvertCarve : ConvertOpToLLVMPattern<CarveOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  /// The extents in memory. The array is in the function's entry block: in a
  /// loop the stack would grow with every trip.
  static Value storeExtents(ConversionPatternRewriter &rewriter, CarveOp op,
                            ArrayRef<Value> sizes) {
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    Type pointer = getPointerType(rewriter.getContext());
    if (sizes.empty())
      return LLVM::ZeroOp::create(rewriter, loc, pointer);
    Value array;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      auto function = op->getParentOfType<FunctionOpInterface>();
      rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
      Value count = LLVM::ConstantOp::create(
          rewriter, loc, rewriter.getI64IntegerAttr(sizes.size()));
      array = LLVM::AllocaOp::create(rewriter, loc, pointer, i64, count);
    }
    for (auto [index, size] : llvm::enumerate(sizes)) {
      Value slot = LLVM::GEPOp::create(
          rewriter, loc, pointer, i64, array,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      LLVM::StoreOp::create(rewriter, loc, size, slot);
    }
    return array;
  }

  LogicalResult
  matchAndRewrite(CarveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getBuffer().getType());
    if (!op->getParentOfType<FunctionOpInterface>())
      return rewriter.notifyMatchFailure(op, "outside of functions");
    FailureOr<unsigned> addressSpace =
        getTypeConverter()->getMemRefAddressSpace(type);
    if (failed(addressSpace) || *addressSpace != 0)
      return rewriter.notifyMatchFailure(
          op, "pol's runtime carves in default memory only");
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(loc, type, adaptor.getExtents(), rewriter, sizes,
                             strides, bytes, /*sizeInBytes=*/false);
    Value rank = LLVM::ConstantOp::create(
        rewriter, loc, rewriter.getI64IntegerAttr(type.getRank()));
    FailureOr<Value> pointer = callRuntime(
        rewriter, loc, op, "pol_carve", getPointerType(op.getContext()),
        {adaptor.getSpace(), getSiteAddress(rewriter, op), rank,
         storeExtents(rewriter, op, sizes)});
    if (failed(pointer))
      return failure();
    Value null =
        LLVM::ZeroOp::create(rewriter, loc, getPointerType(op.getContext()));
    Value ok = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::ne,
                                    *pointer, null);
    Value buffer = createMemRefDescriptor(loc, type, *pointer, *pointer, sizes,
                                          strides, rewriter);
    rewriter.replaceOp(op, {buffer, ok});
    return success();
  }
};

/// Compares in line; only a failure costs a call.
struct ConvertCheck : ConvertOpToLLVMPattern<CheckOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  static Value compare(OpBuilder &builder, Location loc, Value got,
                       CheckPredicate predicate, Value want) {
    using Predicate = LLVM::ICmpPredicate;
    auto icmp = [&](Predicate how, Value left, Value right) -> Value {
      return LLVM::ICmpOp::create(builder, loc, how, left, right);
    };
    switch (predicate) {
    case CheckPredicate::eq:
      return icmp(Predicate::eq, got, want);
    case CheckPredicate::le:
      return icmp(Predicate::sle, got, want);
    case CheckPredicate::ge:
      return icmp(Predicate::sge, got, want);
    case CheckPredicate::multiple_of:
      break;
    }
    // Nothing is divided by 0: of that, only 0 is a multiple.
    Value zero = LLVM::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(got.getType(), 0));
    Value one = LLVM::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(got.getType(), 1));
    Value isPositive = icmp(Predicate::sgt, want, zero);
    Value divisor = LLVM::SelectOp::create(builder, loc, isPositive, want, one);
    Value rest = LLVM::SRemOp::create(builder, loc, got, divisor);
    Value left = LLVM::SelectOp::create(builder, loc, isPositive, rest, got);
    return icmp(Predicate::eq, left, zero);
  }

  LogicalResult
  matchAndRewrite(CheckOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!op->getParentOfType<FunctionOpInterface>())
      return rewriter.notifyMatchFailure(op, "outside of functions");
    Value ok = compare(rewriter, loc, adaptor.getGot(), op.getPredicate(),
                       adaptor.getWant());
    Block *before = rewriter.getInsertionBlock();
    Block *rest = rewriter.splitBlock(before, rewriter.getInsertionPoint());
    Block *report = rewriter.createBlock(rest);
    // The runtime counts in 64 bits.
    Type i64 = rewriter.getI64Type();
    auto widen = [&](Value value) -> Value {
      return value.getType() == i64
                 ? value
                 : LLVM::SExtOp::create(rewriter, loc, i64, value);
    };
    if (failed(
            callRuntime(rewriter, loc, op, "pol_report_mismatch", Type(),
                        {getSiteAddress(rewriter, op), widen(adaptor.getGot()),
                         widen(adaptor.getWant())})))
      return failure();
    LLVM::BrOp::create(rewriter, loc, ValueRange(), rest);
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, loc, ok, rest, report);
    rewriter.replaceOp(op, ok);
    return success();
  }
};

struct ConvertMark : ConvertOpToLLVMPattern<MarkOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(MarkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<Value> mark =
        callRuntime(rewriter, op.getLoc(), op, "pol_space_mark",
                    getMarkType(op.getContext()), adaptor.getSpace());
    if (failed(mark))
      return failure();
    rewriter.replaceOp(op, *mark);
    return success();
  }
};

struct ConvertRetract : ConvertOpToLLVMPattern<RetractOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(RetractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value offset =
        LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getMark(), 0);
    Value epoch =
        LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getMark(), 1);
    FailureOr<Value> status =
        callRuntime(rewriter, loc, op, "pol_space_retract", i32,
                    {adaptor.getSpace(), offset, epoch});
    if (failed(status))
      return failure();
    Value zero =
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
    rewriter.replaceOpWithNewOp<LLVM::ICmpOp>(op, LLVM::ICmpPredicate::ne,
                                              *status, zero);
    return success();
  }
};

struct ConvertReset : ConvertOpToLLVMPattern<ResetOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ResetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(callRuntime(rewriter, op.getLoc(), op, "pol_space_reset", Type(),
                           adaptor.getSpace())))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertWatermark : ConvertOpToLLVMPattern<WatermarkOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(WatermarkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<Value> bytes =
        callRuntime(rewriter, op.getLoc(), op, "pol_space_watermark",
                    rewriter.getI64Type(), adaptor.getSpace());
    if (failed(bytes))
      return failure();
    rewriter.replaceOp(op, *bytes);
    return success();
  }
};

struct ConvertRelease : ConvertOpToLLVMPattern<ReleaseOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value pointer = MemRefDescriptor(adaptor.getBuffer())
                        .allocatedPtr(rewriter, op.getLoc());
    if (failed(callRuntime(rewriter, op.getLoc(), op, "pol_space_release",
                           Type(), {adaptor.getSpace(), pointer})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertTrim : ConvertOpToLLVMPattern<TrimOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(TrimOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value pointer = MemRefDescriptor(adaptor.getBuffer())
                        .allocatedPtr(rewriter, op.getLoc());
    if (failed(callRuntime(rewriter, op.getLoc(), op, "pol_space_trim", Type(),
                           {adaptor.getSpace(), pointer, adaptor.getBytes()})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertThreadHeap : ConvertOpToLLVMPattern<ThreadHeapOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ThreadHeapOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<Value> heap =
        callRuntime(rewriter, op.getLoc(), op, "pol_thread_heap",
                    getPointerType(op.getContext()), {});
    if (failed(heap))
      return failure();
    rewriter.replaceOp(op, *heap);
    return success();
  }
};

struct PolToLLVMInterface : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect>();
  }

  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &target, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const final {
    populatePolToLLVMTypeConversions(converter);
    populatePolToLLVMPatterns(converter, patterns);
    target.addIllegalOp<CarveOp, CheckOp, MarkOp, ReleaseOp, ResetOp, RetractOp,
                        ThreadHeapOp, TrimOp, WatermarkOp>();
  }
};
} // namespace

void mlir::pol::populatePolToLLVMTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion([](Type type) -> std::optional<Type> {
    if (isa<SpaceTypeInterface>(type))
      return getPointerType(type.getContext());
    if (isa<MarkType>(type))
      return getMarkType(type.getContext());
    return std::nullopt;
  });
}

void mlir::pol::populatePolToLLVMPatterns(LLVMTypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ConvertCarve, ConvertCheck, ConvertMark, ConvertRelease,
               ConvertReset, ConvertRetract, ConvertThreadHeap, ConvertTrim,
               ConvertWatermark>(converter);
}

void mlir::pol::registerConvertPolToLLVMInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, PolDialect *dialect) {
    dialect->addInterfaces<PolToLLVMInterface>();
  });
}
