//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.layer_norm.

#include "../PolToLinalg/RowScale.h"
#include "ExpandKernel.h"
#include "RowPipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// Vectors of a row whose mean is a first guess of the row's.
static constexpr int64_t kFirstVectors = 16;

namespace {
/// One kernel, and what all of its rows share.
class Expansion : RowPipeline {
public:
  Expansion(OpBuilder &builder, LayerNormOp op, TargetAttr target)
      : RowPipeline(builder, op.getLoc(), target, op.getX(), op.getY()), op(op),
        type(rows.getType()), eps(op.getEps().convertToDouble()),
        rules(getScaleRules(
            cast<MemRefType>(op.getX().getType()).getElementType(), eps)) {}

  using RowPipeline::buildRows;

private:
  Counts getCounts() const override { return {1, 2, 3}; }
  SmallVector<Value> prepare(OpBuilder &builder, const Row &row) override {
    return {buildFirstMean(builder, row.inputs.front())};
  }
  void add(VectorBuilder &v, const Row &row, ValueRange prepared, Value index,
           Value mask, MutableArrayRef<Value> sums) override;
  Factors finish(OpBuilder &builder, const Row &row, ValueRange prepared,
                 ValueRange sums) override;
  Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                  Value index, Value mask) override;

  void prefetchShared(VectorBuilder &v, Value index) override {
    for (Value shared : {op.getWeight(), op.getBias()})
      if (shared)
        v.prefetch(shared, index, /*level=*/1);
  }

  /// What makes a row's elements deviations from its mean: they are multiplied
  /// by `first`; then `mean` and `rest`, which add up to the mean, are
  /// subtracted one after the other; and what is left is multiplied by
  /// `second`. What is null is left out.
  struct Centre {
    Value first, mean, rest, second;
  };

  Value buildFirstMean(OpBuilder &builder, Value row);
  std::tuple<Centre, Value, Value> getMoments(OpBuilder &builder,
                                              Value firstMean, ValueRange sums);
  void buildScaledRow(OpBuilder &builder, const Row &row);
  RowScales buildSecondScale(OpBuilder &builder, Value row, Centre &centre);
  Value buildIsSafe(OpBuilder &builder, Value variance, Value restSquared);
  Value buildRoot(OpBuilder &builder, Value variance, Value eps);
  Value buildMagnitude(OpBuilder &builder, Value row, Centre centre);
  Value buildMeanOf(OpBuilder &builder, Value row, Centre centre,
                    bool areSquares);
  void buildCheckpoints(OpBuilder &builder, ValueRange at, Value mean,
                        Value rstd);
  Centre splat(OpBuilder &builder, Centre centre);
  Value loadDeviation(VectorBuilder &v, Value row, Value index, Value mask,
                      Centre splats);
  Value buildElement(VectorBuilder &v, Value deviation, Value root, Value index,
                     Value mask);

  LayerNormOp op;
  FloatType type;
  double eps;
  SmallVector<ScaleRule> rules;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Expansion::Centre Expansion::splat(OpBuilder &builder, Centre centre) {
  VectorBuilder all = rows.vectors(builder);
  for (Value *value :
       {&centre.first, &centre.mean, &centre.rest, &centre.second})
    if (*value)
      *value = all.splat(*value);
  return centre;
}

/// Zero where there is no element.
Value Expansion::loadDeviation(VectorBuilder &v, Value row, Value index,
                               Value mask, Centre splats) {
  Value value = v.load(row, index, mask);
  if (splats.first)
    value = v.multiply(value, splats.first);
  if (splats.mean)
    value = v.subtract(value, splats.mean);
  if (splats.rest)
    value = v.subtract(value, splats.rest);
  if (splats.second)
    value = v.multiply(value, splats.second);
  return mask && splats.mean ? v.select(mask, value, v.constant(0.0)) : value;
}

/// deviation · root · weight + bias
Value Expansion::buildElement(VectorBuilder &v, Value deviation, Value root,
                              Value index, Value mask) {
  Value value = v.multiply(deviation, root);
  Value weight = op.getWeight(), bias = op.getBias();
  if (weight)
    weight = v.load(weight, index, mask);
  if (bias)
    bias = v.load(bias, index, mask);
  if (weight && bias)
    return v.fma(value, weight, bias);
  if (weight)
    return v.multiply(value, weight);
  return bias ? v.add(value, bias) : value;
}

void Expansion::buildCheckpoints(OpBuilder &builder, ValueRange at, Value mean,
                                 Value rstd) {
  if (!op.getMean())
    return;
  memref::StoreOp::create(builder, loc, mean, op.getMean(), at);
  memref::StoreOp::create(builder, loc, rstd, op.getRstd(), at);
}

//===----------------------------------------------------------------------===//
// Rows as they are
//===----------------------------------------------------------------------===//

/// 1/√(var + eps)
Value Expansion::buildRoot(OpBuilder &builder, Value variance, Value eps) {
  FloatBuilder floats{builder, loc, type};
  Value root = math::SqrtOp::create(builder, loc, floats.add(variance, eps));
  return floats.divide(floats.constant(1.0), root);
}

/// The mean of the first elements.
Value Expansion::buildFirstMean(OpBuilder &builder, Value row) {
  int64_t most = kFirstVectors * rows.vectors(builder).getLanes();
  Value end = buildMin(builder, loc, rows.getEnd(),
                       arith::ConstantIndexOp::create(builder, loc, most));
  SmallVector<Value> sums =
      rows.sumFirst(builder, end, 1,
                    [&](VectorBuilder &v, Value index, Value mask,
                        MutableArrayRef<Value> running) {
                      running[0] = v.add(running[0], v.load(row, index, mask));
                    });
  FloatBuilder floats{builder, loc, type};
  return floats.divide(sums.front(), floats.count(end));
}

/// Whether a variance is what it should be: nothing has overflown, nothing that
/// matters has vanished, and its correction has not cancelled it.
Value Expansion::buildIsSafe(OpBuilder &builder, Value variance,
                             Value restSquared) {
  FloatBuilder floats{builder, loc, type};
  auto compare = [&](arith::CmpFPredicate predicate, Value limit) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, variance, limit);
  };
  Value isSafe = arith::AndIOp::create(
      builder, loc,
      compare(arith::CmpFPredicate::OLT,
              floats.constant(std::numeric_limits<double>::infinity())),
      compare(arith::CmpFPredicate::OGE,
              floats.multiply(restSquared, floats.constant(0.25))));
  if (llvm::none_of(rules, [](const ScaleRule &rule) {
        return rule.side == ScaleRule::Below;
      }))
    return isSafe;
  // Squares lose 2^-150 each (f64: 2^-1075) to underflow.
  Value least = floats.constant(type.isF64() ? 0x1p-900 : 0x1p-80);
  return arith::AndIOp::create(builder, loc, isSafe,
                               compare(arith::CmpFPredicate::OGE, least));
}

/// A row's first elements have a mean that is near its own. Deviations from it
/// and their squares are summed in one pass: the mean of the former corrects
/// the mean, and the variance by its square.
void Expansion::add(VectorBuilder &v, const Row &row, ValueRange prepared,
                    Value index, Value mask, MutableArrayRef<Value> sums) {
  Centre splats;
  splats.mean = prepared.front();
  Value deviation = loadDeviation(v, row.inputs.front(), index, mask, splats);
  sums[0] = v.add(sums[0], deviation);
  sums[1] = v.fma(deviation, deviation, sums[1]);
}

/// The centre of a row, its variance, and whether that is safe.
std::tuple<Expansion::Centre, Value, Value>
Expansion::getMoments(OpBuilder &builder, Value firstMean, ValueRange sums) {
  FloatBuilder floats{builder, loc, type};
  Centre centre;
  centre.mean = firstMean;
  centre.rest = floats.divide(sums[0], rows.getCount());
  Value restSquared = floats.multiply(centre.rest, centre.rest);
  Value variance =
      floats.subtract(floats.divide(sums[1], rows.getCount()), restSquared);
  return {centre, variance, buildIsSafe(builder, variance, restSquared)};
}

RowPipeline::Factors Expansion::finish(OpBuilder &builder, const Row &row,
                                       ValueRange prepared, ValueRange sums) {
  FloatBuilder floats{builder, loc, type};
  auto [centre, variance, isSafe] = getMoments(builder, prepared.front(), sums);
  Value root = buildRoot(builder, variance, floats.constant(eps));
  auto choice =
      scf::IfOp::create(builder, loc, isSafe, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  buildCheckpoints(then, row.at,
                   FloatBuilder{then, loc, type}.add(centre.mean, centre.rest),
                   root);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  buildScaledRow(otherwise, row);
  return {{centre.mean, centre.rest, root}, isSafe};
}

Value Expansion::getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                           Value index, Value mask) {
  Centre splats;
  splats.mean = factors[0];
  splats.rest = factors[1];
  Value deviation = loadDeviation(v, row.inputs.front(), index, mask, splats);
  return buildElement(v, deviation, factors[2], index, mask);
}

//===----------------------------------------------------------------------===//
// Rows that are scaled
//===----------------------------------------------------------------------===//

/// The mean of a row's deviations, or of their squares.
Value Expansion::buildMeanOf(OpBuilder &builder, Value row, Centre centre,
                             bool areSquares) {
  Centre splats = splat(builder, centre);
  SmallVector<Value> sums = rows.getRare().sum(
      builder, 1,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        Value deviation = loadDeviation(v, row, index, mask, splats);
        running[0] = areSquares ? v.fma(deviation, deviation, running[0])
                                : v.add(running[0], deviation);
      });
  return FloatBuilder{builder, loc, type}.divide(sums.front(), rows.getCount());
}

/// The largest magnitude of a row's deviations.
Value Expansion::buildMagnitude(OpBuilder &builder, Value row, Centre centre) {
  Centre splats = splat(builder, centre);
  return rows.getRare().maximum(
      builder, 0.0,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        Value magnitude = math::AbsFOp::create(
            v.builder, loc, loadDeviation(v, row, index, mask, splats));
        running[0] = v.larger(magnitude, running[0]);
      });
}

/// Deviations are scaled so that their squares neither overflow nor vanish. It
/// is their own size that counts: those of a row of large elements may be
/// small. Where they are all zero, eps decides alone, and is left as it is.
RowScales Expansion::buildSecondScale(OpBuilder &builder, Value row,
                                      Centre &centre) {
  FloatBuilder floats{builder, loc, type};
  Value scaled = buildMagnitude(builder, row, centre);
  Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       scaled, floats.constant(0.0));
  // Infinite only if it is too large anyway.
  RowScales scales =
      buildRowScales(builder, loc, rules, floats.divide(scaled, centre.first));
  for (Value *scale : {&scales.element, &scales.root})
    *scale = arith::SelectOp::create(builder, loc, isZero, floats.constant(1.0),
                                     *scale);
  centre.second =
      floats.divide(floats.multiply(scales.element, scales.root), centre.first);
  return scales;
}

/// Of a row whose variance is not safe: a rare one. Large elements are scaled
/// down first, so that sums and differences of them do not overflow.
void Expansion::buildScaledRow(OpBuilder &builder, const Row &given) {
  Value row = given.inputs.front();
  FloatBuilder floats{builder, loc, type};
  Centre centre;
  if (!rules.empty()) {
    RowScales scales =
        buildRowScales(builder, loc, ArrayRef(rules).take_front(),
                       buildMagnitude(builder, row, Centre()));
    centre.first = floats.multiply(scales.element, scales.root);
  }
  centre.mean = buildMeanOf(builder, row, centre, /*areSquares=*/false);
  Value rest = buildMeanOf(builder, row, centre, /*areSquares=*/false);
  centre.rest = arith::SelectOp::create(
      builder, loc, buildIsFinite(builder, loc, centre.mean), rest,
      floats.constant(0.0));
  Value scaledEps = floats.constant(eps);
  RowScales scales;
  if (!rules.empty()) {
    scales = buildSecondScale(builder, row, centre);
    // Not by the square of the scale, which may vanish where this does not.
    Value scale = floats.multiply(scales.element, scales.root);
    scaledEps = floats.multiply(floats.multiply(scaledEps, scale), scale);
  }
  Value variance = buildMeanOf(builder, row, centre, /*areSquares=*/true);
  Value root = buildRoot(builder, variance, scaledEps);
  Centre splats = splat(builder, centre);
  Value rootSplat = rows.vectors(builder).splat(root);
  rows.getRare().forEachVector(
      builder, [&](VectorBuilder &v, Value index, Value mask) {
        Value deviation = loadDeviation(v, row, index, mask, splats);
        v.store(buildElement(v, deviation, rootSplat, index, mask),
                given.output, index, mask);
      });
  Value mean = floats.add(centre.mean, centre.rest);
  if (!rules.empty()) {
    mean = floats.divide(mean, centre.first);
    root = floats.multiply(floats.multiply(root, scales.root), scales.element);
  }
  buildCheckpoints(builder, given.at, mean, root);
}

static void expandLayerNorm(OpBuilder &builder, LayerNormOp op,
                            TargetAttr target) {
  Expansion(builder, op, target).buildRows(builder);
}

void mlir::pol::populateLayerNormToVectorPatterns(RewritePatternSet &patterns,
                                                  TargetAttr target) {
  patterns.add<ExpandToVector<LayerNormOp>>(patterns.getContext(),
                                            expandLayerNorm, target);
}
