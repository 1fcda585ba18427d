//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Spells out what memref.expand_shape does where upstream's lowering cannot.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_LOWEREXPANDSHAPES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Whether one extent becomes several that only a run knows.
static bool hasManyDynamic(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](const auto &group) {
    return llvm::count_if(group, [&](int64_t dimension) {
             return op.getResultType().isDynamicDim(dimension);
           }) > 1;
  });
}

static void lower(memref::ExpandShapeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto source =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getSrc());
  SmallVector<OpFoldResult> extents = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(extents.size());
  SmallVector<int64_t> known;
  int64_t offset;
  // A result of another layout does not verify.
  (void)op.getResultType().getStridesAndOffset(known, offset);
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[number];
    for (int64_t dimension : llvm::reverse(group)) {
      strides[dimension] = ShapedType::isDynamic(known[dimension])
                               ? OpFoldResult(stride)
                               : builder.getIndexAttr(known[dimension]);
      Value extent =
          getValueOrCreateConstantIndexOp(builder, loc, extents[dimension]);
      stride = arith::MulIOp::create(builder, loc, stride, extent);
    }
  }
  OpFoldResult start = ShapedType::isDynamic(offset)
                           ? OpFoldResult(source.getOffset())
                           : builder.getIndexAttr(offset);
  auto cast = memref::ReinterpretCastOp::create(
      builder, loc, op.getResultType(), source.getBaseBuffer(), start, extents,
      strides);
  op.replaceAllUsesWith(cast.getResult());
  op.erase();
}

namespace {
struct LowerExpandShapes : pol::impl::LowerExpandShapesBase<LowerExpandShapes> {
  void runOnOperation() override {
    getOperation()->walk([](memref::ExpandShapeOp op) {
      if (hasManyDynamic(op))
        lower(op);
    });
  }
};
} // namespace
