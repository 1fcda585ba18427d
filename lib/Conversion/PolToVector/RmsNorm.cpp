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
#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// One kernel, and what all of its rows share.
class Expansion {
public:
  Expansion(OpBuilder &builder, RmsNormOp op, TargetAttr target)
      : op(op), loc(op.getLoc()), rows(builder, loc, op.getX(), target),
        type(rows.getType()), eps(op.getEps().convertToDouble()),
        rules(getScaleRules(
            cast<MemRefType>(op.getX().getType()).getElementType(), eps)) {}

  void build(OpBuilder &builder) {
    rows.forEach(builder,
                 [&](OpBuilder &b, ValueRange at) { buildRow(b, at); });
  }

private:
  /// What a row is multiplied with: first its elements, then what follows.
  struct Factors {
    Value element;
    Value root;
  };
  void buildRow(OpBuilder &builder, ValueRange at);
  Value buildRoot(OpBuilder &builder, Value sum, Value eps);
  Factors buildScaled(OpBuilder &builder, Value row);
  Factors buildFactors(OpBuilder &builder, Value row);
  void buildResult(OpBuilder &builder, ValueRange at, Value row,
                   Factors factors);

  RmsNormOp op;
  Location loc;
  Rows rows;
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
  Value maximum = rows.maximum(builder, 0.0,
                               [&](VectorBuilder &v, Value index, Value mask,
                                   MutableArrayRef<Value> running) {
                                 Value magnitude = math::AbsFOp::create(
                                     v.builder, loc, v.load(row, index, mask));
                                 running[0] = v.larger(magnitude, running[0]);
                               });
  RowScales scales = buildRowScales(builder, loc, rules, maximum);
  Value scale = floats.multiply(scales.element, scales.root);
  Value splat = rows.vectors(builder).splat(scale);
  Value sum = rows.sum(builder, 1,
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

Expansion::Factors Expansion::buildFactors(OpBuilder &builder, Value row) {
  FloatBuilder floats{builder, loc, type};
  Value sum = rows.sum(builder, 1,
                       [&](VectorBuilder &v, Value index, Value mask,
                           MutableArrayRef<Value> running) {
                         Value value = v.load(row, index, mask);
                         running[0] = v.fma(value, value, running[0]);
                       })
                  .front();
  Value root = buildRoot(builder, sum, floats.constant(eps));
  Value one = floats.constant(1.0);
  if (rules.empty())
    return {one, root};
  // What squares lose to underflow, 2^-150 each (f64: 2^-1075), is nothing
  // beside a sum of this size, nor where rows need not be scaled up.
  Value isSafe = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, sum,
      floats.constant(std::numeric_limits<double>::infinity()));
  if (llvm::any_of(rules, [](const ScaleRule &rule) {
        return rule.side == ScaleRule::Below;
      })) {
    Value least = floats.constant(type.isF64() ? 0x1p-900 : 0x1p-80);
    isSafe = arith::AndIOp::create(
        builder, loc, isSafe,
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, sum,
                              least));
  }
  auto choice = scf::IfOp::create(
      builder, loc, isSafe,
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc, ValueRange{one, root});
      },
      [&](OpBuilder &b, Location) {
        Factors scaled = buildScaled(b, row);
        scf::YieldOp::create(b, loc, ValueRange{scaled.element, scaled.root});
      });
  return {choice.getResult(0), choice.getResult(1)};
}

/// y = (x · scale) · root · (weight + offset)
void Expansion::buildResult(OpBuilder &builder, ValueRange at, Value row,
                            Factors factors) {
  VectorBuilder all = rows.vectors(builder);
  Value scale = rules.empty() ? Value() : all.splat(factors.element);
  Value root = all.splat(factors.root);
  double offset = op.getOffset().convertToDouble();
  Value output = getRow(builder, loc, op.getY(), at, rows.getLength());
  rows.write(builder, output,
             [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
               Value value = v.load(row, index, mask);
               if (scale)
                 value = v.multiply(value, scale);
               value = v.multiply(value, root);
               if (op.getWeight()) {
                 Value weight = v.load(op.getWeight(), index, mask);
                 if (offset != 0)
                   weight = v.add(weight, v.constant(offset));
                 value = v.multiply(value, weight);
               }
               v.store(value, output, index, mask, kind);
             });
}

void Expansion::buildRow(OpBuilder &builder, ValueRange at) {
  Value row = getRow(builder, loc, op.getX(), at, rows.getLength());
  Factors factors = buildFactors(builder, row);
  buildResult(builder, at, row, factors);
  if (Value rstd = op.getRstd())
    memref::StoreOp::create(builder, loc,
                            FloatBuilder{builder, loc, type}.multiply(
                                factors.root, factors.element),
                            rstd, at);
}

static void expandRmsNorm(OpBuilder &builder, RmsNormOp op, TargetAttr target) {
  Expansion(builder, op, target).build(builder);
}

void mlir::pol::populateRmsNormToVectorPatterns(RewritePatternSet &patterns,
                                                TargetAttr target) {
  patterns.add<ExpandToVector<RmsNormOp>>(patterns.getContext(), expandRmsNorm,
                                          target, canExpandRows<RmsNormOp>);
}
