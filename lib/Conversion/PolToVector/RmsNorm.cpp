//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.rms_norm.

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

namespace {
/// One kernel, and what all of its rows share.
class Expansion : RowPipeline {
public:
  Expansion(OpBuilder &builder, RmsNormOp op, TargetAttr target)
      : RowPipeline(builder, op.getLoc(), target, op.getX(), op.getY()), op(op),
        type(rows.getType()), eps(op.getEps().convertToDouble()),
        rules(getScaleRules(
            cast<MemRefType>(op.getX().getType()).getElementType(), eps)) {}

  using RowPipeline::buildRows;

private:
  Counts getCounts() const override { return {0, 1, 1}; }
  void add(VectorBuilder &v, const Row &row, ValueRange, Value index,
           Value mask, MutableArrayRef<Value> sums) override {
    Value value = v.load(row.inputs.front(), index, mask);
    sums[0] = v.fma(value, value, sums[0]);
  }
  RowPipeline::Factors finish(OpBuilder &builder, const Row &row,
                              ValueRange prepared, ValueRange sums) override;
  Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                  Value index, Value mask) override {
    return buildElement(v, row.inputs.front(), index, mask,
                        {Value(), factors.front()});
  }

  void prefetchShared(VectorBuilder &v, Value index) override {
    if (Value weight = op.getWeight())
      v.prefetch(weight, index, /*level=*/1);
  }

  /// What a row is multiplied with: first its elements, then what follows.
  struct Factors {
    Value element;
    Value root;
  };
  Value buildRoot(OpBuilder &builder, Value sum, Value eps);
  Value buildIsSafe(OpBuilder &builder, Value sum);
  Factors buildScaled(OpBuilder &builder, Value row);
  void buildScaledRow(OpBuilder &builder, const Row &row);
  Value buildElement(VectorBuilder &v, Value row, Value index, Value mask,
                     Factors factors);
  void buildRstd(OpBuilder &builder, ValueRange at, Value rstd);

  RmsNormOp op;
  FloatType type;
  double eps;
  SmallVector<ScaleRule> rules;
};
} // namespace

/// 1/√(sum/M + eps)
Value Expansion::buildRoot(OpBuilder &builder, Value sum, Value eps) {
  FloatBuilder floats{builder, loc, type};
  Value biased = floats.add(floats.divide(sum, rows.getCount()), eps);
  return floats.divide(floats.constant(1.0),
                       math::SqrtOp::create(builder, loc, biased));
}

/// Of a row whose squares, as they are, overflow or vanish: a rare one.
Expansion::Factors Expansion::buildScaled(OpBuilder &builder, Value row) {
  FloatBuilder floats{builder, loc, type};
  Value maximum =
      rows.getRare().maximum(builder, 0.0,
                             [&](VectorBuilder &v, Value index, Value mask,
                                 MutableArrayRef<Value> running) {
                               Value magnitude = math::AbsFOp::create(
                                   v.builder, loc, v.load(row, index, mask));
                               running[0] = v.larger(magnitude, running[0]);
                             });
  RowScales scales = buildRowScales(builder, loc, rules, maximum);
  Value scale = floats.multiply(scales.element, scales.root);
  Value splat = rows.vectors(builder).splat(scale);
  Value sum = rows.getRare()
                  .sum(builder, 1,
                       [&](VectorBuilder &v, Value index, Value mask,
                           MutableArrayRef<Value> running) {
                         Value value =
                             v.multiply(v.load(row, index, mask), splat);
                         running[0] = v.fma(value, value, running[0]);
                       })
                  .front();
  // Not by the square of the scale, which may vanish where this does not.
  Value scaledEps =
      floats.multiply(floats.multiply(floats.constant(eps), scale), scale);
  Value root = floats.multiply(buildRoot(builder, sum, scaledEps), scales.root);
  return {scales.element, root};
}

/// Whether the sum of a row's squares is what it should be.
Value Expansion::buildIsSafe(OpBuilder &builder, Value sum) {
  FloatBuilder floats{builder, loc, type};
  Value isSafe = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, sum,
      floats.constant(std::numeric_limits<double>::infinity()));
  if (llvm::none_of(rules, [](const ScaleRule &rule) {
        return rule.side == ScaleRule::Below;
      }))
    return isSafe;
  // What squares lose to underflow, 2^-150 each (f64: 2^-1075), is nothing
  // beside a sum of this size, nor where rows need not be scaled up.
  Value least = floats.constant(type.isF64() ? 0x1p-900 : 0x1p-80);
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE,
                                        sum, least);
  return arith::AndIOp::create(builder, loc, isSafe, isLarge);
}

/// (x · scale) · root · (weight + offset); the scale is null where it is 1.
Value Expansion::buildElement(VectorBuilder &v, Value row, Value index,
                              Value mask, Factors factors) {
  Value value = v.load(row, index, mask);
  if (factors.element)
    value = v.multiply(value, factors.element);
  value = v.multiply(value, factors.root);
  if (!op.getWeight())
    return value;
  Value weight = v.load(op.getWeight(), index, mask);
  double offset = op.getOffset().convertToDouble();
  if (offset != 0)
    weight = v.add(weight, v.constant(offset));
  return v.multiply(value, weight);
}

void Expansion::buildRstd(OpBuilder &builder, ValueRange at, Value rstd) {
  if (Value kept = op.getRstd())
    memref::StoreOp::create(builder, loc, rstd, kept, at);
}

void Expansion::buildScaledRow(OpBuilder &builder, const Row &row) {
  Value input = row.inputs.front();
  Factors factors = buildScaled(builder, input);
  VectorBuilder all = rows.vectors(builder);
  Factors splats{all.splat(factors.element), all.splat(factors.root)};
  rows.getRare().forEachVector(
      builder, [&](VectorBuilder &v, Value index, Value mask) {
        v.store(buildElement(v, input, index, mask, splats), row.output, index,
                mask);
      });
  FloatBuilder floats{builder, loc, type};
  buildRstd(builder, row.at, floats.multiply(factors.root, factors.element));
}

RowPipeline::Factors Expansion::finish(OpBuilder &builder, const Row &row,
                                       ValueRange, ValueRange sums) {
  Value root = buildRoot(builder, sums.front(),
                         FloatBuilder{builder, loc, type}.constant(eps));
  if (rules.empty()) {
    buildRstd(builder, row.at, root);
    return {{root}, /*isPlain=*/Value()};
  }
  Value isSafe = buildIsSafe(builder, sums.front());
  auto choice =
      scf::IfOp::create(builder, loc, isSafe, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  buildRstd(then, row.at, root);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  buildScaledRow(otherwise, row);
  return {{root}, isSafe};
}

static void expandRmsNorm(OpBuilder &builder, RmsNormOp op, TargetAttr target) {
  Expansion(builder, op, target).buildRows(builder);
}

void mlir::pol::populateRmsNormToVectorPatterns(RewritePatternSet &patterns,
                                                TargetAttr target) {
  patterns.add<ExpandToVector<RmsNormOp>>(patterns.getContext(), expandRmsNorm,
                                          target);
}
