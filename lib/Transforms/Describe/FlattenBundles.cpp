//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Dissolves bundles into their entries and descriptions into their extents.

#include "FlattenBundles.h"

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

size_t mlir::pol::getFlatSize(Type type) {
  if (auto undef = dyn_cast<UndefType>(type))
    return undef.getNumDynamicDims();
  if (auto bundle = dyn_cast<BundleType>(type)) {
    size_t size = 0;
    for (Type entry : bundle.getTypes())
      size += getFlatSize(entry);
    return size;
  }
  if (auto duplicated = dyn_cast<DuplicatedType>(type))
    return getFlatSize(duplicated.getPrimal()) +
           getFlatSize(duplicated.getShadow());
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
  if (auto duplicated = dyn_cast<DuplicatedType>(type))
    return failure(failed(flattenType(duplicated.getPrimal(), types)) ||
                   failed(flattenType(duplicated.getShadow(), types)));
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

SmallVector<Value> mlir::pol::takeExtents(OpBuilder &builder, Location loc,
                                          ShapedType like, ValueRange values,
                                          UndefType description, bool checks) {
  // Of other shapes, like gives the element type alone.
  bool compares = checks && succeeded(verifyCompatibleShape(like, description));
  SmallVector<Value> extents;
  int64_t nextOfLike = 0;
  for (int64_t i = 0, e = like.getRank(); i < e; ++i) {
    bool known = !like.isDynamicDim(i);
    bool wanted = description.isDynamicDim(i);
    OpFoldResult extent;
    if (known)
      extent = builder.getIndexAttr(like.getDimSize(i));
    else if (isa<UndefType>(like))
      extent = values[nextOfLike];
    else if (wanted || compares)
      extent = getExtent(builder, loc, values.front(), i);
    if (wanted)
      extents.push_back(getValueOrCreateConstantIndexOp(builder, loc, extent));
    else if (compares)
      buildCheck(builder, loc, extent, CheckPredicate::eq,
                 builder.getIndexAttr(description.getDimSize(i)),
                 ("extent " + Twine(i) + " of what pol.undef narrows").str(),
                 /*kernel=*/"");
    nextOfLike += !known;
  }
  return extents;
}

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
    if (op.getLike() && op.takesShapeOfLike() && extents.empty())
      extents = takeExtents(rewriter, op.getLoc(),
                            cast<ShapedType>(op.getLike().getType()),
                            adaptor.getLike(), op.getType(), checks);
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
    if (auto duplicated = dyn_cast<DuplicatedType>(spec)) {
      auto result = cast<DuplicatedType>(type);
      allocate(builder, op, space, duplicated.getPrimal(), result.getPrimal(),
               getPrimalValues(values, duplicated), path, buffers);
      allocate(builder, op, space, duplicated.getShadow(), result.getShadow(),
               getShadowValues(values, duplicated),
               name.empty() ? "shadow" : name + ".shadow", buffers);
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
    populateFlattenDuplicatedPatterns(patterns, converter, checks);
    populateFlattenControlFlowPatterns(patterns, converter, target);
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return isFlat(op, converter); });
    target.addIllegalOp<BundleOp, DimOp, DuplicatedOp, GetOp, MergeOp, PrimalOp,
                        ShadowOp, UndefOp>();
    target.addDynamicallyLegalOp<AllocOp>(
        [](AllocOp op) { return !op.getSpec(); });
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
  }

  /// Whether an op has values of these types, in its regions too.
  static bool carries(Operation *op, function_ref<bool(Type)> isOurs,
                      bool asOperands = true) {
    return (asOperands && llvm::any_of(op->getOperandTypes(), isOurs)) ||
           llvm::any_of(op->getResultTypes(), isOurs) ||
           llvm::any_of(op->getRegions(), [&](Region &region) {
             return llvm::any_of(region, [&](Block &block) {
               return llvm::any_of(block.getArgumentTypes(), isOurs);
             });
           });
  }

  /// Reports values of pol's in ops that can neither dissolve nor carry them.
  LogicalResult checkCarriers() {
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isa<DescriptionOp, DescribeOp, OutputsOp, CheckpointsOp, ScratchOp,
              CallOp, ApplyOp>(op)) {
        op->emitOpError("expected pol-resolve-descriptions to run first");
        return WalkResult::interrupt();
      }
      bool isKernel = isa<KernelOpInterface>(op);
      if (isKernel && failed(verifyKernelOperands(op)))
        return WalkResult::interrupt();
      if (canCarryBundles(op) ||
          (isa_and_nonnull<PolDialect>(op->getDialect()) && !isKernel))
        return WalkResult::advance();
      if (carries(op, llvm::IsaPred<BundleType, UndefType>)) {
        op->emitOpError("expected no bundles or descriptions here: they pass "
                        "through functions, calls, scf, cf, arith.select, "
                        "frames and captures only");
        return WalkResult::interrupt();
      }
      if (carries(op, llvm::IsaPred<DuplicatedType>,
                  /*asOperands=*/!isKernel)) {
        op->emitOpError("expected no duplicated values here: they pass through "
                        "functions, calls, scf, cf, arith.select, frames and "
                        "captures, and into kernels, only");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
