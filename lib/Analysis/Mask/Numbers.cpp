//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::pol::mask;

/// The result of an op on two numbers of which one is not constant, or null
/// where nothing is emitted.
template <typename OpTy>
static Value emit(Numbers &numbers, Number a, Number b) {
  if (!numbers.isEmitting())
    return Value();
  Value lhs = numbers.get(a), rhs = numbers.get(b);
  return numbers.getBuilder().createOrFold<OpTy>(numbers.getLoc(), lhs, rhs);
}

/// What a sum may be that lies between two others, each if it fits.
static Number make(Value value, bool fits, int64_t min, int64_t max) {
  return fits ? Number(value, min, max)
              : Number(value, Number::lowest, Number::highest);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Number Numbers::add(Number a, Number b) {
  if (a.isConstant() && b.isConstant())
    return static_cast<int64_t>(static_cast<uint64_t>(a.min) + b.min);
  if (a.isConstant() && a.min == 0)
    return b;
  if (b.isConstant() && b.min == 0)
    return a;
  int64_t min, max;
  bool fits = !llvm::AddOverflow(a.min, b.min, min);
  fits &= !llvm::AddOverflow(a.max, b.max, max);
  return make(emit<arith::AddIOp>(*this, a, b), fits, min, max);
}

Number Numbers::sub(Number a, Number b) {
  if (a.isConstant() && b.isConstant())
    return static_cast<int64_t>(static_cast<uint64_t>(a.min) - b.min);
  if (b.isConstant() && b.min != Number::lowest)
    return add(a, -b.min);
  int64_t min, max;
  bool fits = !llvm::SubOverflow(a.min, b.max, min);
  fits &= !llvm::SubOverflow(a.max, b.min, max);
  return make(emit<arith::SubIOp>(*this, a, b), fits, min, max);
}

Number Numbers::mul(Number a, Number b) {
  if (a.isConstant() && b.isConstant())
    return static_cast<int64_t>(static_cast<uint64_t>(a.min) * b.min);
  if (a.isConstant())
    std::swap(a, b);
  if (b.isConstant() && b.min == 1)
    return a;
  if (b.isConstant() && b.min == 0)
    return b;
  bool fits = true;
  SmallVector<int64_t, 4> corners;
  for (int64_t x : {a.min, a.max})
    for (int64_t y : {b.min, b.max})
      fits &= !llvm::MulOverflow(x, y, corners.emplace_back());
  return make(emit<arith::MulIOp>(*this, a, b), fits,
              *std::min_element(corners.begin(), corners.end()),
              *std::max_element(corners.begin(), corners.end()));
}

Number Numbers::min(Number a, Number b) {
  if (a.max <= b.min || (a.value && a.value == b.value))
    return a;
  if (b.max <= a.min)
    return b;
  return Number(emit<arith::MinSIOp>(*this, a, b), std::min(a.min, b.min),
                std::min(a.max, b.max));
}

Number Numbers::max(Number a, Number b) {
  if (a.min >= b.max || (a.value && a.value == b.value))
    return a;
  if (b.min >= a.max)
    return b;
  return Number(emit<arith::MaxSIOp>(*this, a, b), std::max(a.min, b.min),
                std::max(a.max, b.max));
}

Number Numbers::select(Condition condition, Number a, Number b) {
  if (condition.isTrue())
    return a;
  if (condition.isFalse())
    return b;
  if ((a.isConstant() && b.isConstant() && a.min == b.min) ||
      (a.value && a.value == b.value))
    return a;
  Value value;
  if (builder) {
    Value lhs = get(a), rhs = get(b);
    value =
        builder->createOrFold<arith::SelectOp>(loc, condition.value, lhs, rhs);
  }
  return Number(value, std::min(a.min, b.min), std::max(a.max, b.max));
}

Number Numbers::div(Number a, Number b) {
  if (b.isConstant() && b.min == 1)
    return a;
  // The quotient is farthest from zero by the least divisor.
  int64_t low = a.min / (a.min < 0 ? b.min : b.max);
  int64_t high = a.max / (a.max < 0 ? b.max : b.min);
  if (low == high)
    return low;
  return Number(emit<arith::DivSIOp>(*this, a, b), low, high);
}

Number Numbers::rem(Number a, Number b) {
  if (a.isConstant() && b.isConstant())
    return a.min % b.min;
  int64_t low = a.min < 0 ? std::max(a.min, 1 - b.max) : 0;
  int64_t high = a.max > 0 ? std::min(a.max, b.max - 1) : 0;
  if (low == high)
    return low;
  return Number(emit<arith::RemSIOp>(*this, a, b), low, high);
}

Number Numbers::floorDiv(Number a, Number b) {
  if (b.isConstant() && b.min == 1)
    return a;
  int64_t low = llvm::divideFloorSigned(a.min, a.min < 0 ? b.min : b.max);
  int64_t high = llvm::divideFloorSigned(a.max, a.max < 0 ? b.max : b.min);
  if (low == high)
    return low;
  // Of numbers that are not negative, the plain division is the cheaper one.
  Value value = a.min >= 0 ? emit<arith::DivSIOp>(*this, a, b)
                           : emit<arith::FloorDivSIOp>(*this, a, b);
  return Number(value, low, high);
}

Number Numbers::ceilDiv(Number a, Number b) {
  if (b.isConstant() && b.min == 1)
    return a;
  int64_t low = llvm::divideCeilSigned(a.min, a.min < 0 ? b.min : b.max);
  int64_t high = llvm::divideCeilSigned(a.max, a.max < 0 ? b.max : b.min);
  if (low == high)
    return low;
  return Number(emit<arith::CeilDivSIOp>(*this, a, b), low, high);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Condition Numbers::compare(int predicate, Number a, Number b) {
  if (!builder)
    return Condition(Value());
  Value lhs = get(a), rhs = get(b);
  return Condition(builder->createOrFold<arith::CmpIOp>(
      loc, static_cast<arith::CmpIPredicate>(predicate), lhs, rhs));
}

Condition Numbers::le(Number a, Number b) {
  if (a.max <= b.min || (a.value && a.value == b.value))
    return true;
  if (a.min > b.max)
    return false;
  return compare(static_cast<int>(arith::CmpIPredicate::sle), a, b);
}

Condition Numbers::lt(Number a, Number b) {
  if (a.max < b.min)
    return true;
  if (a.min >= b.max || (a.value && a.value == b.value))
    return false;
  return compare(static_cast<int>(arith::CmpIPredicate::slt), a, b);
}

Condition Numbers::eq(Number a, Number b) {
  if ((a.isConstant() && b.isConstant() && a.min == b.min) ||
      (a.value && a.value == b.value))
    return true;
  if (a.max < b.min || a.min > b.max)
    return false;
  return compare(static_cast<int>(arith::CmpIPredicate::eq), a, b);
}

Condition Numbers::both(Condition a, Condition b) {
  if (a.isTrue() || b.isFalse() || (a.value && a.value == b.value))
    return b;
  if (b.isTrue() || a.isFalse())
    return a;
  if (!builder)
    return Condition(Value());
  return Condition(builder->createOrFold<arith::AndIOp>(loc, a.value, b.value));
}

Condition Numbers::either(Condition a, Condition b) {
  if (a.isFalse() || b.isTrue() || (a.value && a.value == b.value))
    return b;
  if (b.isFalse() || a.isTrue())
    return a;
  if (!builder)
    return Condition(Value());
  return Condition(builder->createOrFold<arith::OrIOp>(loc, a.value, b.value));
}

Condition Numbers::negate(Condition a) {
  if (a.isTrue() || a.isFalse())
    return a.isFalse();
  if (!builder)
    return Condition(Value());
  return Condition(
      builder->createOrFold<arith::XOrIOp>(loc, a.value, get(Condition(true))));
}

Condition Numbers::select(Condition condition, Condition a, Condition b) {
  if (condition.isTrue())
    return a;
  if (condition.isFalse())
    return b;
  return either(both(condition, a), both(negate(condition), b));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Numbers::get(Number number) {
  if (number.value)
    return number.value;
  return arith::ConstantIndexOp::create(*builder, loc, number.min);
}

Value Numbers::get(Condition condition) {
  if (condition.value)
    return condition.value;
  return arith::ConstantOp::create(*builder, loc,
                                   builder->getBoolAttr(condition.canHold));
}
