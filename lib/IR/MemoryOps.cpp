//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Spaces, frames and what they become.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// AllocOp, CarveOp
//===----------------------------------------------------------------------===//

static Attribute getMemorySpace(Type buffer) {
  if (auto tensor = dyn_cast<RankedTensorType>(buffer))
    return tensor.getEncoding();
  return cast<MemRefType>(buffer).getMemorySpace();
}

/// A buffer fresh from a space: contiguous, of a size that can exist, and in
/// the memory space of its space.
static LogicalResult verifyFreshBuffer(Operation *op, Type buffer,
                                       SpaceTypeInterface space) {
  auto shaped = cast<ShapedType>(buffer);
  Type element = shaped.getElementType();
  if (!element.isIntOrIndexOrFloat() && !isa<ComplexType>(element))
    return op->emitOpError("expected an integer, index, float or complex "
                           "element type, but got ")
           << element;
  if (failed(getStaticBytes(shaped)))
    return op->emitOpError("expected a size below 2^63 bytes, but got ")
           << buffer;
  if (auto memref = dyn_cast<MemRefType>(buffer))
    if (!memref.getLayout().isIdentity())
      return op->emitOpError("expected a contiguous memref, but got ")
             << memref;
  if (getMemorySpace(buffer) != space.getMemorySpace()) {
    InFlightDiagnostic error = op->emitOpError("expected a buffer in ");
    if (space.getMemorySpace())
      error << "memory space " << space.getMemorySpace() << " of " << space;
    else
      error << "the default memory space of " << space;
    error << ", but got " << buffer;
    return error;
  }
  return success();
}

/// Checks every buffer that materializing `description` as `type` makes.
static LogicalResult verifyMaterialized(Operation *op, Type description,
                                        Type type, SpaceTypeInterface space) {
  if (auto duplicated = dyn_cast<DuplicatedType>(description)) {
    auto made = cast<DuplicatedType>(type);
    return failure(failed(verifyMaterialized(op, duplicated.getPrimal(),
                                             made.getPrimal(), space)) ||
                   failed(verifyMaterialized(op, duplicated.getShadow(),
                                             made.getShadow(), space)));
  }
  auto bundle = dyn_cast<BundleType>(description);
  if (!bundle) {
    // A buffer passes through: nothing is made.
    if (!isa<UndefType>(description))
      return success(description == type);
    return verifyFreshBuffer(op, type, space);
  }
  for (auto [from, to] :
       llvm::zip_equal(bundle.getTypes(), cast<BundleType>(type).getTypes()))
    if (failed(verifyMaterialized(op, from, to, space)))
      return failure();
  return success();
}

/// Whether `type` has the form of `description` with every array materialized.
static bool materializes(Type description, Type type) {
  auto bundle = dyn_cast<BundleType>(description);
  auto result = dyn_cast<BundleType>(type);
  if (bundle && result)
    return bundle.getNames() == result.getNames() &&
           llvm::all_of(llvm::zip_equal(bundle.getTypes(), result.getTypes()),
                        [](auto pair) {
                          return materializes(std::get<0>(pair),
                                              std::get<1>(pair));
                        });
  auto duplicated = dyn_cast<DuplicatedType>(description);
  auto made = dyn_cast<DuplicatedType>(type);
  if (duplicated && made)
    return materializes(duplicated.getPrimal(), made.getPrimal()) &&
           materializes(duplicated.getShadow(), made.getShadow());
  auto undef = dyn_cast<UndefType>(description);
  if (!undef)
    return description == type;
  auto shaped = dyn_cast<ShapedType>(type);
  return isa<RankedTensorType, MemRefType>(type) &&
         shaped.getShape() == undef.getShape() &&
         shaped.getElementType() == undef.getElementType();
}

static LogicalResult verifyExtents(Operation *op, Type buffer,
                                   ValueRange extents) {
  int64_t wanted = cast<ShapedType>(buffer).getNumDynamicDims();
  if (static_cast<int64_t>(extents.size()) != wanted)
    return op->emitOpError("expected an extent for each of ")
           << wanted << " dynamic dimensions, but got " << extents.size();
  for (Value extent : extents) {
    IntegerAttr value;
    if (matchPattern(extent, m_Constant(&value)) &&
        value.getValue().isNegative())
      return op->emitOpError("expected extents that are not negative, but "
                             "got ")
             << value.getValue().getSExtValue();
  }
  return success();
}

LogicalResult AllocOp::verify() {
  auto space = cast<SpaceTypeInterface>(getSpace().getType());
  Type type = getType();
  if (Value spec = getSpec()) {
    if (!getExtents().empty())
      return emitOpError("expected a description or extents, but got both");
    if (!materializes(spec.getType(), type))
      return emitOpError("expected what ")
             << spec.getType() << " becomes in " << space << ", "
             << getMaterializedType(spec.getType(), space) << ", but got "
             << type;
    return verifyMaterialized(*this, spec.getType(), type, space);
  }
  if (isa<BundleType, DuplicatedType>(type))
    return emitOpError("expected a description of ") << type;
  if (failed(verifyExtents(*this, type, getExtents())))
    return failure();
  return verifyFreshBuffer(*this, type, space);
}

LogicalResult CarveOp::verify() {
  if (auto alignment = getAlignment();
      alignment && (*alignment <= 0 || !llvm::isPowerOf2_64(*alignment)))
    return emitOpError("expected an alignment that is a power of two, but got ")
           << *alignment;
  if (failed(verifyExtents(*this, getBuffer().getType(), getExtents())))
    return failure();
  return verifyFreshBuffer(*this, getBuffer().getType(),
                           cast<SpaceTypeInterface>(getSpace().getType()));
}

namespace {
/// Extents that are constants belong in the type, where a frame that holds only
/// static buffers can be seen to be one.
struct FoldConstantExtents : OpRewritePattern<AllocOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllocOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSpec())
      return rewriter.notifyMatchFailure(op, "has a description");
    auto type = cast<ShapedType>(op.getType());
    SmallVector<int64_t> shape(type.getShape());
    OperandRange extents = op.getExtents();
    auto next = extents.begin();
    SmallVector<Value> kept;
    for (int64_t &size : shape) {
      if (!ShapedType::isDynamic(size))
        continue;
      IntegerAttr value;
      if (matchPattern(*next, m_Constant(&value)) &&
          !value.getValue().isNegative())
        size = value.getValue().getSExtValue();
      else
        kept.push_back(*next);
      ++next;
    }
    if (kept.size() == extents.size())
      return rewriter.notifyMatchFailure(op, "no extent is a constant");
    ShapedType folded = type.clone(shape);
    if (failed(getStaticBytes(folded)))
      return rewriter.notifyMatchFailure(op, "the size overflows");
    auto alloc = AllocOp::create(rewriter, op.getLoc(), folded, op.getSpace(),
                                 Value(), kept, op.getNameAttr(),
                                 op.getKernelAttr(), op.getRoleAttr());
    if (isa<RankedTensorType>(type))
      rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, alloc.getResult());
    else
      rewriter.replaceOpWithNewOp<memref::CastOp>(op, type, alloc.getResult());
    return success();
  }
};
} // namespace

void AllocOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<FoldConstantExtents>(context);
}

LogicalResult ReleaseOp::verify() {
  if (!cast<SpaceTypeInterface>(getSpace().getType()).canRelease())
    return emitOpError("expected a space that frees single buffers, but got ")
           << getSpace().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// FrameOp
//===----------------------------------------------------------------------===//

void FrameOp::build(OpBuilder &builder, OperationState &state,
                    TypeRange results, Value space,
                    function_ref<void(OpBuilder &, Location, Value)> body) {
  state.addOperands(space);
  state.addTypes(results);
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  auto type = FrameType::get(
      builder.getContext(),
      cast<SpaceTypeInterface>(space.getType()).getMemorySpace());
  Block *block = builder.createBlock(region, {}, type, state.location);
  if (body)
    body(builder, state.location, block->getArgument(0));
  if (results.empty())
    ensureTerminator(*region, builder, state.location);
}

YieldOp FrameOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// The body of a frame or capture ends with what the op results in.
template <typename OpTy> static LogicalResult verifyYield(OpTy op) {
  Block &block = op.getBody().front();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op.emitOpError("expected its body to end with pol.yield");
  TypeRange yielded = op.getYield().getOperandTypes();
  if (yielded != op.getResultTypes()) {
    InFlightDiagnostic error = op.emitOpError("expected its body to yield (");
    error << op.getResultTypes() << "), but got (" << yielded << ")";
    return error;
  }
  return success();
}

LogicalResult FrameOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1)
    return emitOpError("expected its body to have one argument, but got ")
           << block.getNumArguments();
  auto frame = dyn_cast<FrameType>(block.getArgument(0).getType());
  if (!frame)
    return emitOpError("expected the argument of its body to be a frame, but "
                       "got ")
           << block.getArgument(0).getType();
  auto space = cast<SpaceTypeInterface>(getSpace().getType());
  if (frame.getMemorySpace() != space.getMemorySpace())
    return emitOpError("expected a frame in the memory space of ")
           << getSpace().getType() << ", but got " << frame;
  return verifyYield(*this);
}

void FrameOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  // The frame is made by the op, not passed in: the body has no other inputs.
  if (point.isParent())
    regions.emplace_back(&getBody());
  else
    regions.emplace_back(getOperation(), getResults());
}

void FrameOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(1, 1);
}

namespace {
/// A frame that nothing is allocated from is no scope.
struct InlineUnusedFrame : OpRewritePattern<FrameOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FrameOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getFrame().use_empty())
      return rewriter.notifyMatchFailure(op, "the frame is used");
    YieldOp yield = op.getYield();
    SmallVector<Value> values(yield.getValues());
    rewriter.eraseOp(yield);
    // The argument has no uses; the space stands in for it.
    rewriter.inlineBlockBefore(&op.getBody().front(), op, op.getSpace());
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// Results that yield values from outside the frame or capture, or that nothing
/// uses, are dropped: what buffers then remain as results of a frame are
/// escapes.
template <typename OpTy> struct DropOuterResults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    YieldOp yield = op.getYield();
    SmallVector<Value> kept, replacements(op.getNumResults());
    SmallVector<Type> types;
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), yield.getValues())) {
      if (!op.getBody().isAncestor(value.getParentRegion())) {
        replacements[result.getResultNumber()] = value;
      } else if (!result.use_empty()) {
        kept.push_back(value);
        types.push_back(value.getType());
      }
    }
    if (kept.size() == op.getNumResults())
      return rewriter.notifyMatchFailure(op, "every result is needed");
    rewriter.modifyOpInPlace(yield,
                             [&] { yield.getValuesMutable().assign(kept); });
    rewriter.setInsertionPoint(op);
    OperationState state(op.getLoc(), op->getName(), op->getOperands(), types,
                         op->getAttrs());
    Region *body = state.addRegion();
    rewriter.inlineRegionBefore(op.getBody(), *body, body->end());
    Operation *smaller = rewriter.create(state);
    auto next = smaller->getResults().begin();
    for (auto [result, replacement] :
         llvm::zip_equal(op.getResults(), replacements))
      if (!replacement && !result.use_empty())
        replacement = *next++;
    // Results that are neither used nor replaced stay null, which is allowed.
    rewriter.replaceOp(op, replacements);
    return success();
  }
};
} // namespace

void FrameOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<InlineUnusedFrame, DropOuterResults<FrameOp>>(context);
}

//===----------------------------------------------------------------------===//
// CaptureOp
//===----------------------------------------------------------------------===//

void CaptureOp::build(OpBuilder &builder, OperationState &state,
                      TypeRange results,
                      function_ref<void(OpBuilder &, Location)> body) {
  state.addTypes(results);
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(region);
  if (body)
    body(builder, state.location);
  if (results.empty())
    ensureTerminator(*region, builder, state.location);
}

YieldOp CaptureOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult CaptureOp::verify() {
  for (Operation *op = getOperation()->getParentOp();
       op && !op->hasTrait<OpTrait::IsIsolatedFromAbove>();
       op = op->getParentOp())
    if (isa<CaptureOp>(op)) {
      InFlightDiagnostic error =
          emitOpError("expected no capture inside a capture");
      error.attachNote(op->getLoc()) << "the outer one is here";
      return error;
    }
  return success();
}

LogicalResult CaptureOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 0)
    return emitOpError("expected its body to have no arguments, but got ")
           << block.getNumArguments();
  return verifyYield(*this);
}

void CaptureOp::getSuccessorRegions(RegionBranchPoint point,
                                    SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.emplace_back(&getBody());
  else
    regions.emplace_back(getOperation(), getResults());
}

void CaptureOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(1, 1);
}

namespace {
/// A capture in which nothing happens records nothing.
struct InlineEmptyCapture : OpRewritePattern<CaptureOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CaptureOp op,
                                PatternRewriter &rewriter) const override {
    YieldOp yield = op.getYield();
    if (&op.getBody().front().front() != yield)
      return rewriter.notifyMatchFailure(op, "there is something in it");
    SmallVector<Value> values(yield.getValues());
    rewriter.replaceOp(op, values);
    return success();
  }
};
} // namespace

void CaptureOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<InlineEmptyCapture, DropOuterResults<CaptureOp>>(context);
}
