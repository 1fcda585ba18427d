//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.layer_norm.

#include "ExpandKernel.h"
#include "Loops.h"
#include "RowScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// One kernel, and what all of its rows share.
class Expansion {
public:
  Expansion(LayerNormOp op, int64_t sumBlock)
      : op(op), x(op.getX()), sumBlock(sumBlock),
        rank(cast<MemRefType>(x.getType()).getRank()) {
    Type elementType = cast<MemRefType>(x.getType()).getElementType();
    type = getAccumulationType(elementType);
    rules = getScaleRules(elementType, op.getEps().convertToDouble());
  }

  void build(OpBuilder &builder);

private:
  /// What is known of a row: its elements are multiplied by `first`; then
  /// `mean` and `rest`, which add up to the mean, are subtracted one after the
  /// other; and these deviations are multiplied by `second`, so that with both,
  /// they have been multiplied by `scales`. Scales are null where no row is
  /// scaled.
  struct Row {
    ValueRange indices;
    Value first;
    Value mean;
    Value rest;
    RowScales scales;
    Value second;
  };

  void buildRow(OpBuilder &builder, Location loc, ValueRange indices);
  void buildFirstScale(OpBuilder &builder, Location loc, Row &row);
  void buildSecondScale(OpBuilder &builder, Location loc, Row &row);
  void buildMean(OpBuilder &builder, Location loc, Row &row);
  Value buildRoot(OpBuilder &builder, Location loc, const Row &row);
  void buildResult(OpBuilder &builder, Location loc, const Row &row,
                   Value root);
  void buildCheckpoints(OpBuilder &builder, Location loc, const Row &row,
                        Value root);
  Value buildMeanOf(OpBuilder &builder, Location loc, ElementFn element);
  Value load(OpBuilder &builder, Location loc, const Row &row, Value column);
  Value loadDeviation(OpBuilder &builder, Location loc, const Row &row,
                      Value column);

  LayerNormOp op;
  Value x;
  int64_t sumBlock;
  int64_t rank;
  FloatType type;
  SmallVector<ScaleRule> rules;
  OpFoldResult length;
  Value begin;
  Value end;
  /// The length as a number to divide by.
  Value count;
};
} // namespace

void Expansion::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  length = getExtent(builder, loc, x, rank - 1);
  begin = arith::ConstantIndexOp::create(builder, loc, 0);
  end = getValueOrCreateConstantIndexOp(builder, loc, length);
  count = FloatBuilder{builder, loc, type}.count(length);
  buildRowLoop(builder, loc, x,
               [&](OpBuilder &body, Location, ValueRange indices) {
                 buildRow(body, loc, indices);
               });
}

/// An element of a row, scaled so that it can be added to others.
Value Expansion::load(OpBuilder &builder, Location loc, const Row &row,
                      Value column) {
  FloatBuilder floats{builder, loc, type};
  Value value = floats.load(x, append(row.indices, column));
  return row.first ? floats.multiply(value, row.first) : value;
}

Value Expansion::loadDeviation(OpBuilder &builder, Location loc, const Row &row,
                               Value column) {
  FloatBuilder floats{builder, loc, type};
  Value value = floats.subtract(load(builder, loc, row, column), row.mean);
  if (row.rest)
    value = floats.subtract(value, row.rest);
  return row.second ? floats.multiply(value, row.second) : value;
}

Value Expansion::buildMeanOf(OpBuilder &builder, Location loc,
                             ElementFn element) {
  Value sum = buildBlockedSum(builder, loc, length, sumBlock, type, element);
  return FloatBuilder{builder, loc, type}.divide(sum, count);
}

/// Large elements are scaled down, so that sums and differences of them do not
/// overflow.
void Expansion::buildFirstScale(OpBuilder &builder, Location loc, Row &row) {
  if (rules.empty())
    return;
  FloatBuilder floats{builder, loc, type};
  Value maximum = buildMagnitude(builder, loc, length, type,
                                 [&](OpBuilder &b, Location, Value column) {
                                   return load(b, loc, row, column);
                                 });
  RowScales scales =
      buildRowScales(builder, loc, ArrayRef(rules).take_front(), maximum);
  row.first = floats.multiply(scales.element, scales.root);
}

/// Deviations are scaled so that their squares neither overflow nor vanish. It
/// is their own size that counts: those of a row of large elements may be
/// small. Where they are all zero, eps decides alone, and is left as it is.
void Expansion::buildSecondScale(OpBuilder &builder, Location loc, Row &row) {
  if (rules.empty())
    return;
  FloatBuilder floats{builder, loc, type};
  Value scaled = buildMagnitude(builder, loc, length, type,
                                [&](OpBuilder &b, Location, Value column) {
                                  return loadDeviation(b, loc, row, column);
                                });
  Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       scaled, floats.constant(0.0));
  Value one = floats.constant(1.0);
  // Infinite only if it is too large anyway.
  row.scales =
      buildRowScales(builder, loc, rules, floats.divide(scaled, row.first));
  row.scales.element =
      arith::SelectOp::create(builder, loc, isZero, one, row.scales.element);
  row.scales.root =
      arith::SelectOp::create(builder, loc, isZero, one, row.scales.root);
  row.second = floats.divide(
      floats.multiply(row.scales.element, row.scales.root), row.first);
}

/// The mean, and the mean of what is left when it is subtracted: what rounding
/// took from the former, which is not small beside the deviations of a row that
/// lies far from zero.
void Expansion::buildMean(OpBuilder &builder, Location loc, Row &row) {
  row.mean = buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
    return load(b, loc, row, i);
  });
  Value rest = buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
    return loadDeviation(b, loc, row, i);
  });
  row.rest = arith::SelectOp::create(
      builder, loc, buildIsFinite(builder, loc, row.mean), rest,
      FloatBuilder{builder, loc, type}.constant(0.0));
}

/// 1/√(var + eps) of the scaled deviations.
Value Expansion::buildRoot(OpBuilder &builder, Location loc, const Row &row) {
  FloatBuilder floats{builder, loc, type};
  Value variance =
      buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
        Value deviation = loadDeviation(b, loc, row, i);
        return FloatBuilder{b, loc, type}.multiply(deviation, deviation);
      });
  Value eps = floats.constant(op.getEps().convertToDouble());
  if (row.second) {
    // Not by the square of the scale, which may vanish where this does not.
    Value scale = floats.multiply(row.scales.element, row.scales.root);
    eps = floats.multiply(floats.multiply(eps, scale), scale);
  }
  Value root = math::SqrtOp::create(builder, loc, floats.add(variance, eps));
  // A division, as math.rsqrt may be an approximation.
  return floats.divide(floats.constant(1.0), root);
}

void Expansion::buildRow(OpBuilder &builder, Location loc, ValueRange indices) {
  Row row;
  row.indices = indices;
  buildFirstScale(builder, loc, row);
  buildMean(builder, loc, row);
  buildSecondScale(builder, loc, row);
  Value root = buildRoot(builder, loc, row);
  // All of the row has been read: it may be overwritten, as y may be x.
  buildResult(builder, loc, row, root);
  if (op.getMean())
    buildCheckpoints(builder, loc, row, root);
}

/// y = (x − μ) · rstd · weight + bias. The deviations' scale and that of their
/// rstd cancel.
void Expansion::buildResult(OpBuilder &builder, Location loc, const Row &row,
                            Value root) {
  buildLoop(
      builder, loc, begin, end, 1,
      [&](OpBuilder &b, Location, ValueRange column) {
        FloatBuilder floats{b, loc, type};
        Value value =
            floats.multiply(loadDeviation(b, loc, row, column.front()), root);
        if (Value weight = op.getWeight())
          value = floats.multiply(value, floats.load(weight, column));
        if (Value bias = op.getBias())
          value = floats.add(value, floats.load(bias, column));
        floats.store(value, op.getY(), append(row.indices, column.front()));
      });
}

void Expansion::buildCheckpoints(OpBuilder &builder, Location loc,
                                 const Row &row, Value root) {
  FloatBuilder floats{builder, loc, type};
  Value mean = floats.add(row.mean, row.rest);
  if (row.second) {
    mean = floats.divide(mean, row.first);
    root = floats.multiply(floats.multiply(root, row.scales.root),
                           row.scales.element);
  }
  floats.store(mean, op.getMean(), row.indices);
  floats.store(root, op.getRstd(), row.indices);
}

static void expandLayerNorm(OpBuilder &builder, LayerNormOp op,
                            int64_t sumBlock) {
  Expansion(op, sumBlock).build(builder);
}

void mlir::pol::populateLayerNormToLinalgPatterns(RewritePatternSet &patterns,
                                                  int64_t sumBlock) {
  patterns.add<ExpandKernel<LayerNormOp>>(patterns.getContext(),
                                          expandLayerNorm, sumBlock);
}
