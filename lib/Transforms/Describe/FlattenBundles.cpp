//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Dissolves bundles into their entries and descriptions into their extents.

#include "FlattenControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "pol/IR/Checks.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_FLATTENBUNDLES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// How many values a type becomes.
static size_t getFlatSize(Type type) {
  if (auto undef = dyn_cast<UndefType>(type))
    return undef.getNumDynamicDims();
  if (auto bundle = dyn_cast<BundleType>(type)) {
    size_t size = 0;
    for (Type entry : bundle.getTypes())
      size += getFlatSize(entry);
    return size;
  }
  return 1;
}

static LogicalResult flattenType(Type type, SmallVectorImpl<Type> &types) {
  if (auto undef = dyn_cast<UndefType>(type)) {
    types.append(undef.getNumDynamicDims(), IndexType::get(type.getContext()));
    return success();
  }
  if (auto bundle = dyn_cast<BundleType>(type)) {
    for (Type entry : bundle.getTypes())
      if (failed(flattenType(entry, types)))
        return failure();
    return success();
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    SmallVector<Type> inputs, results;
    for (Type input : function.getInputs())
      (void)flattenType(input, inputs);
    for (Type result : function.getResults())
      (void)flattenType(result, results);
    types.push_back(FunctionType::get(type.getContext(), inputs, results));
    return success();
  }
  types.push_back(type);
  return success();
}

/// The values of one entry among those of its bundle.
static ValueRange getEntry(ValueRange values, BundleType bundle,
                           unsigned index) {
  size_t begin = 0;
  for (Type entry : bundle.getTypes().take_front(index))
    begin += getFlatSize(entry);
  return values.slice(begin, getFlatSize(bundle.getTypes()[index]));
}

//===----------------------------------------------------------------------===//
// Descriptions and bundles
//===----------------------------------------------------------------------===//

namespace {
struct FlattenUndef : OpConversionPattern<UndefOp> {
  FlattenUndef(const TypeConverter &converter, MLIRContext *context,
               bool checks)
      : OpConversionPattern(converter, context), checks(checks) {}

  LogicalResult
  matchAndRewrite(UndefOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> extents;
    for (ValueRange extent : adaptor.getExtents())
      llvm::append_range(extents, extent);
    if (op.getLike() && op.takesShapeOfLike() && extents.empty()) {
      auto like = cast<ShapedType>(op.getLike().getType());
      // Of other shapes, like gives the element type alone.
      bool compares =
          checks && succeeded(verifyCompatibleShape(like, op.getType()));
      int64_t nextOfLike = 0;
      for (int64_t i = 0, e = like.getRank(); i < e; ++i) {
        bool known = !like.isDynamicDim(i);
        bool wanted = op.getType().isDynamicDim(i);
        OpFoldResult extent;
        if (known)
          extent = rewriter.getIndexAttr(like.getDimSize(i));
        else if (isa<UndefType>(like))
          extent = adaptor.getLike()[nextOfLike];
        else if (wanted || compares)
          extent =
              getExtent(rewriter, op.getLoc(), adaptor.getLike().front(), i);
        if (wanted)
          extents.push_back(
              getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), extent));
        else if (compares)
          buildCheck(
              rewriter, op.getLoc(), extent, CheckPredicate::eq,
              rewriter.getIndexAttr(op.getType().getDimSize(i)),
              ("extent " + Twine(i) + " of what pol.undef narrows").str(),
              /*kernel=*/"");
        nextOfLike += !known;
      }
    }
    rewriter.replaceOpWithMultiple(op, {extents});
    return success();
  }

private:
  /// Whether extents that become static are compared with what is there.
  bool checks;
};

struct FlattenDim : OpConversionPattern<DimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    UndefType type = op.getSource().getType();
    auto dimension = static_cast<int64_t>(op.getDimension());
    if (type.isDynamicDim(dimension))
      rewriter.replaceOp(
          op, adaptor.getSource()[type.getDynamicDimIndex(dimension)]);
    else
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
          op, type.getDimSize(dimension));
    return success();
  }
};

struct FlattenBundle : OpConversionPattern<BundleOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(BundleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    for (ValueRange element : adaptor.getElements())
      llvm::append_range(values, element);
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct FlattenGet : OpConversionPattern<GetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(GetOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    BundleType type = op.getSource().getType();
    rewriter.replaceOpWithMultiple(
        op, {llvm::to_vector(getEntry(adaptor.getSource(), type,
                                      *type.find(op.getName())))});
    return success();
  }
};

struct FlattenMerge : OpConversionPattern<MergeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MergeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<ValueRange> entries(op.getType().size());
    for (auto [source, values] :
         llvm::zip_equal(op.getSources(), adaptor.getSources())) {
      auto type = cast<BundleType>(source.getType());
      for (auto [index, name] : llvm::enumerate(type.getNames()))
        entries[*op.getType().find(name)] = getEntry(values, type, index);
    }
    SmallVector<Value> flat;
    for (ValueRange entry : entries)
      llvm::append_range(flat, entry);
    rewriter.replaceOpWithMultiple(op, {flat});
    return success();
  }
};

/// Allocates each array of a description by itself, named by its path.
struct FlattenAlloc : OpConversionPattern<AllocOp> {
  using OpConversionPattern::OpConversionPattern;

  static void allocate(OpBuilder &builder, AllocOp op, Value space, Type spec,
                       Type type, ValueRange values, const Twine &path,
                       SmallVectorImpl<Value> &buffers) {
    std::string name = path.str();
    if (auto bundle = dyn_cast<BundleType>(spec)) {
      auto result = cast<BundleType>(type);
      for (auto [index, entry] : llvm::enumerate(bundle.getNames()))
        allocate(builder, op, space, bundle.getTypes()[index],
                 result.getTypes()[index], getEntry(values, bundle, index),
                 name.empty() ? entry.getValue()
                              : name + "." + entry.getValue(),
                 buffers);
      return;
    }
    if (!isa<UndefType>(spec)) {
      llvm::append_range(buffers, values);
      return;
    }
    buffers.push_back(AllocOp::create(
        builder, op.getLoc(), type, space, Value(), values,
        name.empty() ? StringAttr() : builder.getStringAttr(name),
        op.getKernelAttr(), op.getRoleAttr()));
  }

  LogicalResult
  matchAndRewrite(AllocOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> buffers;
    allocate(rewriter, op, adaptor.getSpace().front(), op.getSpec().getType(),
             op.getType(), adaptor.getSpec(), op.getName().value_or(""),
             buffers);
    rewriter.replaceOpWithMultiple(op, {buffers});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct FlattenBundles : pol::impl::FlattenBundlesBase<FlattenBundles> {
  using FlattenBundlesBase::FlattenBundlesBase;

  void runOnOperation() override {
    if (failed(checkCarriers()))
      return signalPassFailure();

    MLIRContext *context = &getContext();
    // The conversion does not reach into blocks that nothing branches to.
    IRRewriter rewriter(context);
    (void)eraseUnreachableBlocks(rewriter, getOperation()->getRegions());
    TypeConverter converter;
    converter.addConversion(flattenType);
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    patterns.add<FlattenUndef>(converter, context, checks);
    patterns
        .add<FlattenDim, FlattenBundle, FlattenGet, FlattenMerge, FlattenAlloc>(
            converter, context);
    populateFlattenControlFlowPatterns(patterns, converter, target);
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return isFlat(op, converter); });
    target.addIllegalOp<BundleOp, DimOp, GetOp, MergeOp, UndefOp>();
    target.addDynamicallyLegalOp<AllocOp>(
        [](AllocOp op) { return !op.getSpec(); });
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
  }

  /// Reports values of pol's in ops that can neither dissolve nor carry them.
  LogicalResult checkCarriers() {
    auto isOurs = llvm::IsaPred<BundleType, UndefType>;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isa<DescriptionOp, DescribeOp, OutputsOp, CheckpointsOp, ScratchOp,
              CallOp, ApplyOp>(op)) {
        op->emitOpError("expected pol-resolve-descriptions to run first");
        return WalkResult::interrupt();
      }
      bool carries = llvm::any_of(op->getOperandTypes(), isOurs) ||
                     llvm::any_of(op->getResultTypes(), isOurs) ||
                     llvm::any_of(op->getRegions(), [&](Region &region) {
                       return llvm::any_of(region, [&](Block &block) {
                         return llvm::any_of(block.getArgumentTypes(), isOurs);
                       });
                     });
      if (!carries || isa_and_nonnull<PolDialect>(op->getDialect()) ||
          canCarryBundles(op))
        return WalkResult::advance();
      op->emitOpError("expected no bundles or descriptions here: they pass "
                      "through functions, calls, scf, cf, arith.select and "
                      "frames only");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
