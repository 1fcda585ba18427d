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
  /// What is known of a row: its elements are multiplied by `scale` (unless it
  /// is null); then `mean` and `rest`, which add up to the mean, are subtracted
  /// one after the other.
  struct Row {
    ValueRange indices;
    RowScales scales;
    Value scale;
    Value mean;
    Value rest;
  };

  void buildRow(OpBuilder &builder, Location loc, ValueRange indices);
  void buildScale(OpBuilder &builder, Location loc, Row &row);
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
  /// The length as a number to divide by. The mean of no elements is 0, and
  /// their sum is: any number but 0 will do.
  Value count;
};
} // namespace

void Expansion::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  length = getExtent(builder, loc, x, rank - 1);
  begin = arith::ConstantIndexOp::create(builder, loc, 0);
  end = getValueOrCreateConstantIndexOp(builder, loc, length);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  count = FloatBuilder{builder, loc, type}.fromIndex(
      buildMax(builder, loc, end, one));
  buildRowLoop(builder, loc, x,
               [&](OpBuilder &body, Location, ValueRange indices) {
                 buildRow(body, loc, indices);
               });
}

/// An element of a row, scaled.
Value Expansion::load(OpBuilder &builder, Location loc, const Row &row,
                      Value column) {
  FloatBuilder floats{builder, loc, type};
  Value value = floats.load(x, append(row.indices, column));
  return row.scale ? floats.multiply(value, row.scale) : value;
}

Value Expansion::loadDeviation(OpBuilder &builder, Location loc, const Row &row,
                               Value column) {
  FloatBuilder floats{builder, loc, type};
  Value value = floats.subtract(load(builder, loc, row, column), row.mean);
  return row.rest ? floats.subtract(value, row.rest) : value;
}

Value Expansion::buildMeanOf(OpBuilder &builder, Location loc,
                             ElementFn element) {
  Value sum = buildBlockedSum(builder, loc, length, sumBlock, type, element);
  return FloatBuilder{builder, loc, type}.divide(sum, count);
}

void Expansion::buildScale(OpBuilder &builder, Location loc, Row &row) {
  if (rules.empty())
    return;
  FloatBuilder floats{builder, loc, type};
  Value maximum = buildBlockedMax(
      builder, loc, length, sumBlock, floats.constant(0.0),
      [&](OpBuilder &b, Location, Value column) -> Value {
        return math::AbsFOp::create(b, loc, load(b, loc, row, column));
      });
  row.scales = buildRowScales(builder, loc, rules, maximum);
  row.scale = floats.multiply(row.scales.element, row.scales.root);
}

/// The mean, and the mean of what is left when it is subtracted: what rounding
/// took from the former, which is not small beside the deviations of a row that
/// lies far from zero.
void Expansion::buildMean(OpBuilder &builder, Location loc, Row &row) {
  row.mean = buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
    return load(b, loc, row, i);
  });
  row.rest = buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
    return loadDeviation(b, loc, row, i);
  });
}

/// 1/√(var + eps) of the scaled row.
Value Expansion::buildRoot(OpBuilder &builder, Location loc, const Row &row) {
  FloatBuilder floats{builder, loc, type};
  Value variance =
      buildMeanOf(builder, loc, [&](OpBuilder &b, Location, Value i) {
        Value deviation = loadDeviation(b, loc, row, i);
        return FloatBuilder{b, loc, type}.multiply(deviation, deviation);
      });
  Value eps = floats.constant(op.getEps().convertToDouble());
  // Not by the square of the scale, which may vanish where this does not.
  if (row.scale)
    eps = floats.multiply(floats.multiply(eps, row.scale), row.scale);
  Value root = math::SqrtOp::create(builder, loc, floats.add(variance, eps));
  // A division, as math.rsqrt may be an approximation.
  return floats.divide(floats.constant(1.0), root);
}

void Expansion::buildRow(OpBuilder &builder, Location loc, ValueRange indices) {
  Row row;
  row.indices = indices;
  buildScale(builder, loc, row);
  buildMean(builder, loc, row);
  Value root = buildRoot(builder, loc, row);
  // All of the row has been read: it may be overwritten, as y may be x.
  buildResult(builder, loc, row, root);
  if (op.getMean())
    buildCheckpoints(builder, loc, row, root);
}

/// y = (x − μ) · rstd · weight + bias. Scale and rstd of the scaled row cancel.
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
  if (row.scale) {
    mean = floats.divide(mean, row.scale);
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
