//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The derivatives of math's ops.

#include "DerivativeBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pol;
using arith::CmpFPredicate;

static constexpr double kLn2 = 0.693147180559945309417;
static constexpr double kLn10 = 2.302585092994045684018;
static constexpr double kTwoOverRootPi = 1.128379167095512573896;

//===----------------------------------------------------------------------===//
// Exponentials, logarithms and powers
//===----------------------------------------------------------------------===//

/// y = exp(x): y
static Value deriveExp(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, at.y);
}

/// y = 2ˣ: y · ln 2
static Value deriveExp2(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(d.scale(at.cotangent, kLn2), at.y);
}

/// y = exp(x) − 1: y + 1
static Value deriveExpM1(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.add(at.y, d.constant(1.0)));
}

/// log(x): 1 / x
static Value deriveLog(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(at.cotangent, at.x);
}

/// log₂(x): 1 / (x · ln 2)
static Value deriveLog2(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(d.scale(at.cotangent, 1.0 / kLn2), at.x);
}

/// log₁₀(x): 1 / (x · ln 10)
static Value deriveLog10(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(d.scale(at.cotangent, 1.0 / kLn10), at.x);
}

/// log(1 + x): 1 / (1 + x)
static Value deriveLog1p(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(at.cotangent, d.add(at.x, d.constant(1.0)));
}

/// y = √x: 1 / (2y)
static Value deriveSqrt(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(d.scale(at.cotangent, 0.5), at.y);
}

/// y = 1/√x: −y³ / 2
static Value deriveRsqrt(DerivativeBuilder &d, const UnaryEvaluation &at) {
  Value factor = d.mul(d.scale(at.cotangent, -0.5), at.y);
  return d.mul(d.mul(factor, at.y), at.y);
}

/// y = ∛x: 1 / (3y²)
static Value deriveCbrt(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(d.scale(at.cotangent, 1.0 / 3.0), d.mul(at.y, at.y));
}

/// y = xᵖ: p · xᵖ⁻¹, and 0 if p is 0, whatever x is; y · log(x), and 0 if x or
/// y is 0.
static SmallVector<Value> derivePow(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0], x = at.operands[0], p = at.operands[1];
  Value ofBase, ofExponent, zero = d.constant(0.0);
  if (at.wanted[0]) {
    Value power = d.create<math::PowFOp>(x, d.sub(p, d.constant(1.0)));
    ofBase = d.select(d.equalsZero(p), zero, d.mul(d.mul(c, p), power));
  }
  if (at.wanted[1]) {
    Value y = at.results[0];
    Value slope = d.mul(y, d.create<math::LogOp>(x));
    Value isZero = d.create<arith::OrIOp>(d.equalsZero(x), d.equalsZero(y));
    ofExponent = d.select(isZero, zero, d.mul(c, slope));
  }
  return {ofBase, ofExponent};
}

/// y = xⁿ: n · xⁿ⁻¹, and 0 if n is 0, whatever x is.
static SmallVector<Value> deriveIntegerPow(DerivativeBuilder &d,
                                           const OpEvaluation &at) {
  Value c = at.cotangents[0], x = at.operands[0], n = at.operands[1];
  Type type = n.getType();
  TypedAttr one =
      cast<TypedAttr>(IntegerAttr::get(getElementTypeOrSelf(type), 1));
  if (auto shaped = dyn_cast<ShapedType>(type))
    one = DenseElementsAttr::get(shaped, one);
  Value less = d.create<arith::SubIOp>(n, d.create<arith::ConstantOp>(one));
  Value factor = d.create<arith::SIToFPOp>(d.getType(), n);
  Value slope = d.mul(d.mul(c, factor), d.create<math::FPowIOp>(x, less));
  return {d.select(d.equalsZero(factor), d.constant(0.0), slope), Value()};
}

//===----------------------------------------------------------------------===//
// Circular and hyperbolic functions, and the error function
//===----------------------------------------------------------------------===//

/// √(a² + b²) without overflow or underflow of the squares; NaN if both are 0.
static Value buildHypot(DerivativeBuilder &d, Value a, Value b) {
  a = d.create<math::AbsFOp>(a);
  b = d.create<math::AbsFOp>(b);
  Value large = d.create<arith::MaximumFOp>(a, b);
  Value small = d.create<arith::MinimumFOp>(a, b);
  Value ratio = d.div(small, large);
  Value square = d.add(d.constant(1.0), d.mul(ratio, ratio));
  return d.mul(large, d.create<math::SqrtOp>(square));
}

/// c / √((1 − x)(1 + x)); NaN outside of [−1, 1].
static Value divideByCircle(DerivativeBuilder &d, Value c, Value x) {
  Value one = d.constant(1.0);
  Value left = d.create<math::SqrtOp>(d.sub(one, x));
  Value right = d.create<math::SqrtOp>(d.add(one, x));
  return d.div(c, d.mul(left, right));
}

/// sin(x): cos(x)
static Value deriveSin(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.create<math::CosOp>(at.x));
}

/// cos(x): −sin(x)
static Value deriveCos(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.neg(d.mul(at.cotangent, d.create<math::SinOp>(at.x)));
}

/// (s, c) = (sin(x), cos(x)): c of the first, −s of the second
static SmallVector<Value> deriveSincos(DerivativeBuilder &d,
                                       const OpEvaluation &at) {
  Value ofSin = at.cotangents[0], ofCos = at.cotangents[1];
  if (!ofCos)
    return {d.mul(ofSin, at.results[1])};
  Value product = d.mul(ofCos, at.results[0]);
  if (!ofSin)
    return {d.neg(product)};
  return {d.sub(d.mul(ofSin, at.results[1]), product)};
}

/// y = tan(x): 1 + y²
static Value deriveTan(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.add(d.constant(1.0), d.mul(at.y, at.y)));
}

/// asin(x): 1 / √(1 − x²)
static Value deriveAsin(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return divideByCircle(d, at.cotangent, at.x);
}

/// acos(x): −1 / √(1 − x²)
static Value deriveAcos(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.neg(divideByCircle(d, at.cotangent, at.x));
}

/// atan(x): 1 / (1 + x²)
static Value deriveAtan(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(at.cotangent, d.add(d.constant(1.0), d.mul(at.x, at.x)));
}

/// The angle of (x, y): x / r² by y and −y / r² by x; 0 if one is infinite.
static SmallVector<Value> deriveAtan2(DerivativeBuilder &d,
                                      const OpEvaluation &at) {
  Value y = at.operands[0], x = at.operands[1], zero = d.constant(0.0);
  Value radius = buildHypot(d, y, x);
  Value large = d.create<arith::MaximumFOp>(d.create<math::AbsFOp>(y),
                                            d.create<math::AbsFOp>(x));
  Value isFar = d.compare(CmpFPredicate::OEQ, large,
                          d.constant(std::numeric_limits<double>::infinity()));
  Value part = d.div(at.cotangents[0], radius);
  auto multiply = [&](Value coordinate) {
    return d.select(isFar, zero, d.mul(part, d.div(coordinate, radius)));
  };
  return {at.wanted[0] ? multiply(x) : Value(),
          at.wanted[1] ? d.neg(multiply(y)) : Value()};
}

/// sinh(x): cosh(x)
static Value deriveSinh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.create<math::CoshOp>(at.x));
}

/// cosh(x): sinh(x)
static Value deriveCosh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.create<math::SinhOp>(at.x));
}

/// y = tanh(x): 1 − y²
static Value deriveTanh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.mul(at.cotangent, d.sub(d.constant(1.0), d.mul(at.y, at.y)));
}

/// asinh(x): 1 / √(x² + 1)
static Value deriveAsinh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.div(at.cotangent, buildHypot(d, at.x, d.constant(1.0)));
}

/// acosh(x): 1 / (√(x − 1) √(x + 1)); NaN below 1.
static Value deriveAcosh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  Value one = d.constant(1.0);
  Value left = d.create<math::SqrtOp>(d.sub(at.x, one));
  Value right = d.create<math::SqrtOp>(d.add(at.x, one));
  return d.div(at.cotangent, d.mul(left, right));
}

/// atanh(x): 1 / ((1 − x)(1 + x))
static Value deriveAtanh(DerivativeBuilder &d, const UnaryEvaluation &at) {
  Value one = d.constant(1.0);
  return d.div(at.cotangent, d.mul(d.sub(one, at.x), d.add(one, at.x)));
}

/// erf(x): 2/√π · exp(−x²)
static Value deriveErf(DerivativeBuilder &d, const UnaryEvaluation &at) {
  Value bell = d.create<math::ExpOp>(d.neg(d.mul(at.x, at.x)));
  return d.mul(d.scale(at.cotangent, kTwoOverRootPi), bell);
}

/// 1 − erf(x)
static Value deriveErfc(DerivativeBuilder &d, const UnaryEvaluation &at) {
  return d.neg(deriveErf(d, at));
}

//===----------------------------------------------------------------------===//
// Products, signs and integers
//===----------------------------------------------------------------------===//

/// a · b + c
static SmallVector<Value> deriveFma(DerivativeBuilder &d,
                                    const OpEvaluation &at) {
  Value c = at.cotangents[0], a = at.operands[0], b = at.operands[1];
  return {at.wanted[0] ? d.mul(c, b) : Value(),
          at.wanted[1] ? d.mul(c, a) : Value(), c};
}

/// |x|: the sign, 0 at 0
static Value deriveAbs(DerivativeBuilder &d, const UnaryEvaluation &at) {
  Value zero = d.constant(0.0);
  Value isNegative = d.compare(CmpFPredicate::OLT, at.x, zero);
  Value passed = d.select(isNegative, d.neg(at.cotangent), at.cotangent);
  return d.select(d.equalsZero(at.x), zero, passed);
}

/// |x| with another sign: ±1, 0 at 0; nothing by what gives the sign.
static SmallVector<Value> deriveCopySign(DerivativeBuilder &d,
                                         const OpEvaluation &at) {
  Value c = at.cotangents[0], x = at.operands[0];
  if (!at.wanted[0])
    return {Value(), Value()};
  Value isSame = d.compare(CmpFPredicate::OEQ, at.results[0], x);
  Value passed = d.select(isSame, c, d.neg(c));
  return {d.select(d.equalsZero(x), d.constant(0.0), passed), Value()};
}

/// A number within two bounds: that of the number if it is the result, else
/// that of the bound it is beyond.
static SmallVector<Value> deriveClamp(DerivativeBuilder &d,
                                      const OpEvaluation &at) {
  Value c = at.cotangents[0], zero = d.constant(0.0), x = at.operands[0];
  Value isInside = d.compare(CmpFPredicate::UEQ, at.results[0], x);
  Value isBelow = d.compare(CmpFPredicate::OLT, x, at.results[0]);
  Value outside = d.select(isInside, zero, c);
  return {at.wanted[0] ? d.select(isInside, c, zero) : Value(),
          at.wanted[1] ? d.select(isBelow, outside, zero) : Value(),
          at.wanted[2] ? d.select(isBelow, zero, outside) : Value()};
}

/// A step function: nothing passes.
static Value deriveSteps(DerivativeBuilder &, const UnaryEvaluation &) {
  return Value();
}

/// Exponentials, logarithms and powers.
static void attachPowers(MLIRContext *context) {
  attachDerivative<math::ExpOp, deriveExp>(context);
  attachDerivative<math::Exp2Op, deriveExp2>(context);
  attachDerivative<math::ExpM1Op, deriveExpM1>(context);
  attachDerivative<math::LogOp, deriveLog>(context);
  attachDerivative<math::Log2Op, deriveLog2>(context);
  attachDerivative<math::Log10Op, deriveLog10>(context);
  attachDerivative<math::Log1pOp, deriveLog1p>(context);
  attachDerivative<math::SqrtOp, deriveSqrt>(context);
  attachDerivative<math::RsqrtOp, deriveRsqrt>(context);
  attachDerivative<math::CbrtOp, deriveCbrt>(context);
  attachDerivative<math::PowFOp, derivePow>(context);
  attachDerivative<math::FPowIOp, deriveIntegerPow>(context);
}

/// Circular and hyperbolic functions, and the error function.
static void attachAngles(MLIRContext *context) {
  attachDerivative<math::SinOp, deriveSin>(context);
  attachDerivative<math::CosOp, deriveCos>(context);
  attachDerivative<math::SincosOp, deriveSincos>(context);
  attachDerivative<math::TanOp, deriveTan>(context);
  attachDerivative<math::AsinOp, deriveAsin>(context);
  attachDerivative<math::AcosOp, deriveAcos>(context);
  attachDerivative<math::AtanOp, deriveAtan>(context);
  attachDerivative<math::Atan2Op, deriveAtan2>(context);
  attachDerivative<math::SinhOp, deriveSinh>(context);
  attachDerivative<math::CoshOp, deriveCosh>(context);
  attachDerivative<math::TanhOp, deriveTanh>(context);
  attachDerivative<math::AsinhOp, deriveAsinh>(context);
  attachDerivative<math::AcoshOp, deriveAcosh>(context);
  attachDerivative<math::AtanhOp, deriveAtanh>(context);
  attachDerivative<math::ErfOp, deriveErf>(context);
  attachDerivative<math::ErfcOp, deriveErfc>(context);
}

void mlir::pol::attachMathDerivatives(MLIRContext *context) {
  attachPowers(context);
  attachAngles(context);
  attachDerivative<math::FmaOp, deriveFma>(context);
  attachDerivative<math::AbsFOp, deriveAbs>(context);
  attachDerivative<math::CopySignOp, deriveCopySign>(context);
  attachDerivative<math::ClampFOp, deriveClamp>(context);
  attachDerivative<math::CeilOp, deriveSteps>(context);
  attachDerivative<math::FloorOp, deriveSteps>(context);
  attachDerivative<math::RoundOp, deriveSteps>(context);
  attachDerivative<math::RoundEvenOp, deriveSteps>(context);
  attachDerivative<math::TruncOp, deriveSteps>(context);
}
