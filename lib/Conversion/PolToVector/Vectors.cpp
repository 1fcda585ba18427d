//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Vectors.

#include "Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pol;

bool mlir::pol::hasVectorRows(Value array) {
  auto type = cast<MemRefType>(array.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getRank() == 0 ||
         (type.getShape().back() != 0 &&
          succeeded(type.getStridesAndOffset(strides, offset)) &&
          strides.back() == 1);
}

bool mlir::pol::hasVectorRows(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return !isa<MemRefType>(operand.getType()) || hasVectorRows(operand);
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value VectorBuilder::constant(double value) {
  bool losesInfo;
  APFloat number(value);
  number.convert(getElementType().getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, number));
}

Value VectorBuilder::splat(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, type, scalar);
}

Value VectorBuilder::add(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::subtract(Value lhs, Value rhs) {
  return arith::SubFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::multiply(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::fma(Value lhs, Value rhs, Value addend) {
  return vector::FMAOp::create(builder, loc, lhs, rhs, addend);
}

Value VectorBuilder::larger(Value lhs, Value rhs) {
  Value isLarger =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, lhs, rhs);
  return arith::SelectOp::create(builder, loc, isLarger, lhs, rhs);
}

Value VectorBuilder::smallerOrNaN(Value lhs, Value rhs) {
  Value isLess =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, rhs, lhs);
  return arith::SelectOp::create(builder, loc, isLess, rhs, lhs);
}

Value VectorBuilder::select(Value mask, Value lhs, Value rhs) {
  return arith::SelectOp::create(builder, loc, mask, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

// x is split into a whole number n and a fraction f, |f| <= 1/2, by adding a
// number so large that the sum has no fraction: n is then in its low bits, from
// where it is shifted into an exponent. 2^f is a polynomial, fitted to the
// relative error (Remez): off by 1.9e-9 (f32, degree 6) or 3.1e-18 (f64, degree
// 11), and 1 for f = 0. What is not a number stays that through the fraction.

namespace {
struct PowerFormat {
  /// 1.5 · 2^(bits of the mantissa)
  double rounder;
  int64_t mantissaBits;
  int64_t bias;
  /// What is less is as good as 0: of 2^x if subnormal, and if not.
  double leastGradual, least;
  /// n is raised by so much, and the result lowered by it again, where that may
  /// be subnormal.
  int64_t raise;
  /// log2(e), and what that lacks.
  double log2e, log2eRest;
  ArrayRef<double> coefficients;
};
} // namespace

static const PowerFormat &getPowerFormat(FloatType type) {
  static constexpr double single[] = {
      1.0000000005541662993,    0.69314720573725267536,
      0.24022646890639572134,   0.055503287769976637639,
      0.0096184889565227915705, 0.0013399931209474140493,
      0.00015345812158740182477};
  static constexpr double wide[] = {
      0.9999999999999999971,     0.69314718055994533046,
      0.24022650695910156205,    0.055504108664819921483,
      0.0096181291075883350833,  0.0013333558146789950323,
      0.00015403530462514613026, 0.0000152527334899608046,
      1.3215433089594629037e-6,  1.0178198033328527662e-7,
      7.0741056262456593708e-9,  4.4352809446103361611e-10};
  static const PowerFormat formats[] = {
      {0x1.8p23, 23, 127, -151, -127, 64, 0x1.715476p0, 0x1.4ae0cp-26, single},
      {0x1.8p52, 52, 1023, -1076, -1023, 512, 0x1.71547652b82fep0,
       0x1.777d0ffda0d24p-56, wide}};
  return formats[type.isF64()];
}

Value VectorBuilder::bits(int64_t value) {
  auto integers =
      IntegerType::get(type.getContext(), type.getElementTypeBitWidth());
  APInt number(integers.getWidth(), value, /*isSigned=*/true);
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type.clone(integers), number));
}

Value VectorBuilder::evaluate(Value fraction) {
  ArrayRef<double> coefficients = getPowerFormat(getElementType()).coefficients;
  Value result = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, fraction, constant(coefficient));
  return result;
}

/// mantissa · 2^n, where n is in the low bits of a shifted number.
Value VectorBuilder::scalePower(Value mantissa, Value shifted, bool isGradual) {
  const PowerFormat &format = getPowerFormat(getElementType());
  Value asBits =
      arith::BitcastOp::create(builder, loc, bits(0).getType(), shifted);
  int64_t bias = format.bias + (isGradual ? format.raise : 0);
  Value exponent = arith::AddIOp::create(
      builder, loc,
      arith::ShLIOp::create(builder, loc, asBits, bits(format.mantissaBits)),
      bits(bias << format.mantissaBits));
  Value power = arith::BitcastOp::create(builder, loc, type, exponent);
  Value result = multiply(mantissa, power);
  if (!isGradual)
    return result;
  return multiply(result, constant(std::ldexp(1.0, -format.raise)));
}

Value VectorBuilder::buildExp(Value value, bool isGradual) {
  const PowerFormat &format = getPowerFormat(getElementType());
  double least = isGradual ? format.leastGradual : format.least;
  Value bounded = larger(constant(least / format.log2e), value);
  Value log2e = constant(format.log2e);
  Value rounder = constant(format.rounder);
  Value shifted = fma(bounded, log2e, rounder);
  Value whole = subtract(shifted, rounder);
  Value negated = arith::NegFOp::create(builder, loc, whole);
  Value fraction = fma(bounded, log2e, negated);
  if (isGradual)
    fraction = fma(bounded, constant(format.log2eRest), fraction);
  return scalePower(evaluate(fraction), shifted, isGradual);
}

Value VectorBuilder::exp(Value value) {
  return buildExp(value, /*isGradual=*/true);
}

Value VectorBuilder::expOfNegative(Value value) {
  return buildExp(value, /*isGradual=*/false);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value VectorBuilder::foldLanes(
    Value vector, function_ref<Value(VectorBuilder &, Value, Value)> combine) {
  int64_t lanes = getLanes();
  while (lanes > 1) {
    lanes /= 2;
    auto part = [&](int64_t first) {
      return vector::ExtractStridedSliceOp::create(builder, loc, vector, first,
                                                   lanes, int64_t(1));
    };
    VectorBuilder halves{builder, loc,
                         VectorType::get(lanes, getElementType())};
    vector = combine(halves, part(0), part(lanes));
  }
  return vector::ExtractOp::create(builder, loc, vector, int64_t(0));
}

Value VectorBuilder::sumLanes(Value vector) {
  return foldLanes(vector, [](VectorBuilder &v, Value lhs, Value rhs) {
    return v.add(lhs, rhs);
  });
}

Value VectorBuilder::maximumLane(Value vector) {
  return foldLanes(vector, [](VectorBuilder &v, Value lhs, Value rhs) {
    return v.larger(lhs, rhs);
  });
}

/// Two vectors whose blocks of so many lanes off the diagonal change places.
std::pair<Value, Value> VectorBuilder::exchange(Value first, Value second,
                                                int64_t size) {
  // Lanes of the second vector count from `lanes` on.
  int64_t lanes = getLanes();
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bool isOfSecond = lane & size;
    even.push_back(isOfSecond ? lanes + lane - size : lane);
    odd.push_back(isOfSecond ? lanes + lane : lane + size);
  }
  return {vector::ShuffleOp::create(builder, loc, first, second, even),
          vector::ShuffleOp::create(builder, loc, first, second, odd)};
}

SmallVector<Value> VectorBuilder::transpose(ArrayRef<Value> rows) {
  SmallVector<Value> result(rows);
  for (int64_t size = getLanes() / 2; size > 0; size /= 2)
    for (int64_t row = 0; row < getLanes(); ++row)
      if (!(row & size))
        std::tie(result[row], result[row + size]) =
            exchange(result[row], result[row + size], size);
  return result;
}

/// What is exchanged is added at once: with each step, half of the vectors are
/// left.
Value VectorBuilder::sumEach(ArrayRef<Value> vectors) {
  SmallVector<Value> sums(vectors);
  for (int64_t size = getLanes() / 2; size > 0; size /= 2)
    for (int64_t row = 0; row < size; ++row) {
      auto [first, second] = exchange(sums[row], sums[row + size], size);
      sums[row] = add(first, second);
    }
  return sums.front();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value VectorBuilder::load(Value array, ValueRange indices, Value mask) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  VectorType stored = type.clone(element);
  if (!mask)
    return convertFloat(
        builder, loc,
        vector::LoadOp::create(builder, loc, stored, array, indices), type);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
  Value loaded = vector::MaskedLoadOp::create(builder, loc, stored, array,
                                              indices, mask, zero);
  return convertFloat(builder, loc, loaded, type);
}

void VectorBuilder::store(Value value, Value array, ValueRange indices,
                          Value mask, StoreKind kind) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  VectorType stored = type.clone(element);
  Value converted = convertFloat(builder, loc, value, stored);
  if (mask) {
    vector::MaskedStoreOp::create(builder, loc, array, indices, mask,
                                  converted);
    return;
  }
  if (kind == StoreKind::Plain) {
    vector::StoreOp::create(builder, loc, converted, array, indices);
    return;
  }
  uint64_t bytes =
      stored.getNumElements() * stored.getElementTypeBitWidth() / 8;
  vector::StoreOp::create(builder, loc, converted, array, indices,
                          /*nontemporal=*/true, llvm::MaybeAlign(bytes));
}

void VectorBuilder::prefetch(Value array, ValueRange indices, unsigned level) {
  memref::PrefetchOp::create(builder, loc, array, indices, /*isWrite=*/false,
                             /*localityHint=*/4 - level, /*isDataCache=*/true);
}
