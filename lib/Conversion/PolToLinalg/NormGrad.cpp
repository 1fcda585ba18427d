//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansions of pol.rms_norm_grad and pol.layer_norm_grad.

#include "ExpandKernel.h"
#include "Loops.h"
#include "RowSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// What the backward passes of the two norms have in common. An operand that
/// the kernel lacks is null.
struct NormGrad {
  Location loc;
  int64_t sumBlock;
  Value x, dy, weight, mean, rstd;
  Value dx, dweight, dbias, dweightPartials, dbiasPartials;
  double offset;

  void build(OpBuilder &builder);

private:
  FloatType getType() const {
    return getAccumulationType(cast<MemRefType>(x.getType()).getElementType());
  }
  Value buildNormalized(FloatBuilder &floats, ValueRange row, Value column);
  Value buildWeighted(FloatBuilder &floats, ValueRange row, Value column);
  void buildRow(OpBuilder &builder, ValueRange row, OpFoldResult length,
                Value count);
};
} // namespace

/// x̂ = (x − μ) · rstd
Value NormGrad::buildNormalized(FloatBuilder &floats, ValueRange row,
                                Value column) {
  Value value = floats.load(x, append(row, column));
  if (mean)
    value = floats.subtract(value, floats.load(mean, row));
  return floats.multiply(value, floats.load(rstd, row));
}

/// dy · (weight + offset)
Value NormGrad::buildWeighted(FloatBuilder &floats, ValueRange row,
                              Value column) {
  Value value = floats.load(dy, append(row, column));
  if (!weight)
    return value;
  Value scale = floats.load(weight, column);
  if (offset != 0)
    scale = floats.add(scale, floats.constant(offset));
  return floats.multiply(value, scale);
}

/// dx = rstd · (dy·g − mean(dy·g) − x̂ · mean(dy·g·x̂)), where the first mean is
/// that of kernels that subtract the row's. Both are complete before an element
/// is written, and each is read before that: dx may be x or dy.
void NormGrad::buildRow(OpBuilder &builder, ValueRange row, OpFoldResult length,
                        Value count) {
  FloatType type = getType();
  FloatBuilder floats{builder, loc, type};
  Value along = floats.divide(
      buildBlockedSum(builder, loc, length, sumBlock, type,
                      [&](OpBuilder &b, Location, Value column) {
                        FloatBuilder element{b, loc, type};
                        return element.multiply(
                            buildWeighted(element, row, column),
                            buildNormalized(element, row, column));
                      }),
      count);
  Value average;
  if (mean)
    average = floats.divide(
        buildBlockedSum(builder, loc, length, sumBlock, type,
                        [&](OpBuilder &b, Location, Value column) {
                          FloatBuilder element{b, loc, type};
                          return buildWeighted(element, row, column);
                        }),
        count);
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, length);
  buildLoop(builder, loc, begin, end, 1,
            [&](OpBuilder &b, Location, ValueRange columns) {
              FloatBuilder element{b, loc, type};
              Value column = columns.front();
              Value value = buildWeighted(element, row, column);
              if (average)
                value = element.subtract(value, average);
              value = element.subtract(
                  value, element.multiply(buildNormalized(element, row, column),
                                          along));
              value = element.multiply(value, element.load(rstd, row));
              element.store(value, dx, append(row, column));
            });
}

void NormGrad::build(OpBuilder &builder) {
  FloatType type = getType();
  // First, as dx may overwrite what these read.
  if (dweight)
    buildRowSums(builder, loc, x, sumBlock, type, dweightPartials, dweight,
                 [&](OpBuilder &b, ValueRange row, Value column) {
                   FloatBuilder floats{b, loc, type};
                   return floats.multiply(floats.load(dy, append(row, column)),
                                          buildNormalized(floats, row, column));
                 });
  if (dbias)
    buildRowSums(builder, loc, x, sumBlock, type, dbiasPartials, dbias,
                 [&](OpBuilder &b, ValueRange row, Value column) {
                   return FloatBuilder{b, loc, type}.load(dy,
                                                          append(row, column));
                 });
  if (!dx)
    return;
  OpFoldResult length =
      getExtent(builder, loc, x, cast<MemRefType>(x.getType()).getRank() - 1);
  Value count = FloatBuilder{builder, loc, type}.count(length);
  buildRowLoop(builder, loc, x, [&](OpBuilder &b, Location, ValueRange row) {
    buildRow(b, row, length, count);
  });
}

static void expandRmsNormGrad(OpBuilder &builder, RmsNormGradOp op,
                              int64_t sumBlock) {
  NormGrad grad{op.getLoc(),
                sumBlock,
                op.getX(),
                op.getDy(),
                op.getWeight(),
                /*mean=*/Value(),
                op.getRstd(),
                op.getDx(),
                op.getDweight(),
                /*dbias=*/Value(),
                op.getDweightPartials(),
                /*dbiasPartials=*/Value(),
                op.getOffset().convertToDouble()};
  grad.build(builder);
}

static void expandLayerNormGrad(OpBuilder &builder, LayerNormGradOp op,
                                int64_t sumBlock) {
  NormGrad grad{op.getLoc(),
                sumBlock,
                op.getX(),
                op.getDy(),
                op.getWeight(),
                op.getMean(),
                op.getRstd(),
                op.getDx(),
                op.getDweight(),
                op.getDbias(),
                op.getDweightPartials(),
                op.getDbiasPartials(),
                /*offset=*/0.0};
  grad.build(builder);
}

void mlir::pol::populateNormGradToLinalgPatterns(RewritePatternSet &patterns,
                                                 int64_t sumBlock) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandKernel<RmsNormGradOp>>(context, expandRmsNormGrad,
                                            sumBlock);
  patterns.add<ExpandKernel<LayerNormGradOp>>(context, expandLayerNormGrad,
                                              sumBlock);
}
