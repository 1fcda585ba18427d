//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks at run time, and what is known before.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "pol/IR/Checks.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

bool mlir::pol::holds(int64_t got, CheckPredicate predicate, int64_t want) {
  switch (predicate) {
  case CheckPredicate::eq:
    return got == want;
  case CheckPredicate::le:
    return got <= want;
  case CheckPredicate::ge:
    return got >= want;
  case CheckPredicate::multiple_of:
    return want > 0 ? got % want == 0 : got == 0;
  }
  llvm_unreachable("no such predicate");
}

/// Whether two values are one, or computed alike from the same ones. Chains of
/// more than a few ops are taken to differ.
static bool isSameValue(Value a, Value b, unsigned depth = 4) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth == 0 || !isPure(first) ||
      first->getNumRegions() ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return OperationEquivalence::isEquivalentTo(
      first, second,
      [&](Value left, Value right) {
        return success(isSameValue(left, right, depth - 1));
      },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

bool mlir::pol::isKnownToHold(OpFoldResult got, CheckPredicate predicate,
                              OpFoldResult want) {
  std::optional<int64_t> gotNumber = getConstantIntValue(got);
  std::optional<int64_t> wantNumber = getConstantIntValue(want);
  if (gotNumber && wantNumber)
    return holds(*gotNumber, predicate, *wantNumber);
  // An extent is a multiple of one whatever it is.
  if (predicate == CheckPredicate::multiple_of && wantNumber == 1)
    return true;
  auto gotValue = dyn_cast<Value>(got), wantValue = dyn_cast<Value>(want);
  // Of a number that is negative, not even itself is a multiple.
  return gotValue && wantValue && predicate != CheckPredicate::multiple_of &&
         isSameValue(gotValue, wantValue);
}

OpFoldResult mlir::pol::getKnownExtent(OpBuilder &builder, Location loc,
                                       Value shaped, int64_t dimension) {
  while (true) {
    auto type = cast<ShapedType>(shaped.getType());
    if (!type.isDynamicDim(dimension))
      return builder.getIndexAttr(type.getDimSize(dimension));
    Operation *op = shaped.getDefiningOp();
    if (isa_and_nonnull<memref::CastOp, tensor::CastOp>(op)) {
      auto source = dyn_cast<ShapedType>(op->getOperand(0).getType());
      if (!source.hasRank())
        break;
      shaped = op->getOperand(0);
      continue;
    }
    unsigned index = type.getDynamicDimIndex(dimension);
    if (auto carve = dyn_cast_or_null<CarveOp>(op))
      return carve.getExtents()[index];
    if (auto alloc = dyn_cast_or_null<AllocOp>(op); alloc && !alloc.getSpec())
      return alloc.getExtents()[index];
    if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(op))
      return expand.getMixedOutputShape()[dimension];
    break;
  }
  // Sizes of other views are what their extents fold to.
  if (isa<MemRefType>(shaped.getType())) {
    Value index = arith::ConstantIndexOp::create(builder, loc, dimension);
    return getAsOpFoldResult(
        builder.createOrFold<memref::DimOp>(loc, shaped, index));
  }
  return getExtent(builder, loc, shaped, dimension);
}

//===----------------------------------------------------------------------===//
// CheckOp
//===----------------------------------------------------------------------===//

namespace {
/// The thread's record of its last failure, which no buffer is.
struct FailureResource : SideEffects::Resource::Base<FailureResource> {
  StringRef getName() final { return "pol.failure"; }
};
} // namespace

void CheckOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), FailureResource::get());
}

LogicalResult CheckOp::verify() {
  if (getWhat().empty())
    return emitOpError("expected a text that says what is checked, but got "
                       "an empty one");
  return success();
}

OpFoldResult CheckOp::fold(FoldAdaptor adaptor) {
  OpFoldResult got = getGot(), want = getWant();
  if (adaptor.getGot())
    got = adaptor.getGot();
  if (adaptor.getWant())
    want = adaptor.getWant();
  return isKnownToHold(got, getPredicate(), want)
             ? BoolAttr::get(getContext(), true)
             : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Building checks
//===----------------------------------------------------------------------===//

void mlir::pol::buildCheck(OpBuilder &builder, Location loc, OpFoldResult got,
                           CheckPredicate predicate, OpFoldResult want,
                           StringRef what, StringRef kernel) {
  if (isKnownToHold(got, predicate, want))
    return;
  CheckOp::create(builder, loc,
                  getValueOrCreateConstantIndexOp(builder, loc, got), predicate,
                  getValueOrCreateConstantIndexOp(builder, loc, want), what,
                  kernel);
}

void mlir::pol::buildExtentCheck(OpBuilder &builder, Location loc, Value shaped,
                                 int64_t dimension, OpFoldResult want,
                                 CheckPredicate predicate, StringRef name,
                                 StringRef kernel) {
  buildCheck(builder, loc, getKnownExtent(builder, loc, shaped, dimension),
             predicate, want,
             ("extent " + Twine(dimension) + " of " + name).str(), kernel);
}

void mlir::pol::buildShapeCheck(OpBuilder &builder, Location loc, Value shaped,
                                ArrayRef<OpFoldResult> shape, StringRef name,
                                StringRef kernel) {
  for (auto [dimension, want] : llvm::enumerate(shape))
    buildExtentCheck(builder, loc, shaped, dimension, want, CheckPredicate::eq,
                     name, kernel);
}
