//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The derivatives of arith's ops.

#include "pol/Differentiation/Derivatives.h"

#include "DerivativeBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::pol;
using arith::CmpFPredicate;

/// a + b
static SmallVector<Value> deriveAdd(DerivativeBuilder &,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0];
  return {c, c};
}

/// a − b
static SmallVector<Value> deriveSub(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0];
  return {c, at.wanted[1] ? d.neg(c) : Value()};
}

/// −x
static Value deriveNeg(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.neg(at.cotangent);
}

/// a · b
static SmallVector<Value> deriveMul(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0], a = at.operands[0], b = at.operands[1];
  return {at.wanted[0] ? d.mul(c, b) : Value(),
          at.wanted[1] ? d.mul(c, a) : Value()};
}

/// y = a / b: 1 / b and −y / b
static SmallVector<Value> deriveDiv(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value quotient = d.div(at.cotangents[0], at.operands[1]);
  return {quotient,
          at.wanted[1] ? d.neg(d.mul(quotient, at.results[0])) : Value()};
}

/// y = a − n·b with an integer n: 1 and −n = (y − a) / b
static SmallVector<Value> deriveRem(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0];
  if (!at.wanted[1])
    return {c, Value()};
  Value slope = d.div(d.sub(at.results[0], at.operands[0]), at.operands[1]);
  return {c, d.mul(c, slope)};
}

/// Passes the cotangent to one of two operands, the first if the condition
/// holds.
static SmallVector<Value> passToOne(DerivativeBuilder &d,
                                    const OpEvaluation &at, Value isFirst) {
  Value c = at.cotangents[0], zero = d.constant(0.0);
  return {at.wanted[0] ? d.select(isFirst, c, zero) : Value(),
          at.wanted[1] ? d.select(isFirst, zero, c) : Value()};
}

/// The larger or smaller one, and NaN if one of them is NaN: that of the first
/// operand if it is the result. A NaN goes to the first as well.
static SmallVector<Value> deriveExtremum(DerivativeBuilder &d,
                                         const OpEvaluation &at) {
  return passToOne(
      d, at, d.compare(CmpFPredicate::UEQ, at.results[0], at.operands[0]));
}

/// The larger or smaller one, and the other if one of them is NaN: that of the
/// first operand if it is the result.
static SmallVector<Value> deriveNumberExtremum(DerivativeBuilder &d,
                                               const OpEvaluation &at) {
  return passToOne(
      d, at, d.compare(CmpFPredicate::OEQ, at.results[0], at.operands[0]));
}

/// Selection, of the cotangent too: never a product with 0.
static SmallVector<Value> deriveSelect(DerivativeBuilder &d,
                                       const OpEvaluation &at) {
  Value c = at.cotangents[0], zero = d.constant(0.0);
  Value condition = at.operands[0];
  return {Value(), at.wanted[1] ? d.select(condition, c, zero) : Value(),
          at.wanted[2] ? d.select(condition, zero, c) : Value()};
}

/// A wider type: the cotangent becomes narrower. (`buildRegionGradient` keeps
/// it as it is.)
static Value deriveExt(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.create<arith::TruncFOp>(at.x.getType(), at.cotangent);
}

/// A narrower type: the cotangent becomes wider.
static Value deriveTrunc(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.create<arith::ExtFOp>(at.x.getType(), at.cotangent);
}

void mlir::pol::attachArithDerivatives(MLIRContext *context) {
  attachDerivative<arith::AddFOp, deriveAdd>(context);
  attachDerivative<arith::SubFOp, deriveSub>(context);
  attachDerivative<arith::NegFOp, deriveNeg>(context);
  attachDerivative<arith::MulFOp, deriveMul>(context);
  attachDerivative<arith::DivFOp, deriveDiv>(context);
  attachDerivative<arith::RemFOp, deriveRem>(context);
  attachDerivative<arith::MaximumFOp, deriveExtremum>(context);
  attachDerivative<arith::MinimumFOp, deriveExtremum>(context);
  attachDerivative<arith::MaxNumFOp, deriveNumberExtremum>(context);
  attachDerivative<arith::MinNumFOp, deriveNumberExtremum>(context);
  attachDerivative<arith::SelectOp, deriveSelect>(context);
  attachDerivative<arith::ExtFOp, deriveExt>(context);
  attachDerivative<arith::TruncFOp, deriveTrunc>(context);
}

void mlir::pol::registerDerivatives(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachArithDerivatives(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachMathDerivatives(context);
  });
}
