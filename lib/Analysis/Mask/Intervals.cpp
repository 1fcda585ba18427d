//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intervals.h"

#include "Loads.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol::mask;

/// Sums of two numbers, and of products, of at most this do not wrap.
static constexpr int64_t sumLimit = int64_t(1) << 62;
static constexpr int64_t productLimit = int64_t(1) << 31;
/// What the extent of an array is at most, and a batch's or head's number.
static constexpr int64_t extentLimit = int64_t(1) << 60;
static constexpr int64_t batchLimit = int64_t(1) << 32;

/// All that an integer of some bits can be.
static Interval getFull(unsigned width) {
  if (width == 1)
    return Interval(0, 1);
  if (width == 0 || width == 64)
    return Interval(Number::lowest, Number::highest);
  return Interval(llvm::minIntN(width), llvm::maxIntN(width));
}

/// Where nothing is emitted: one number of an interval.
static Interval getPoint(Interval interval) {
  return Number(Value(), interval.lo.min, interval.hi.max);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Interval Intervals::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  bool isUniform = dependences.isUniform(value);
  Interval result = isUniform && numbers.isEmitting() ? getUniform(value)
                    : isUniform                       ? getPoint(compute(value))
                                                      : compute(value);
  known.try_emplace(value, result);
  return result;
}

Number Intervals::getUniform(Value value) {
  if (!numbers.isEmitting())
    return get(value).lo;
  if (auto found = known.find(value); found != known.end())
    return found->second.lo;
  Value emitted = emitUniform(value);
  auto [min, max] = estimate(value);
  std::optional<int64_t> constant = getConstant(emitted);
  Number result = constant ? Number(*constant) : Number(emitted, min, max);
  if (result.value)
    result.value = castToIndex(numbers.getBuilder(), numbers.getLoc(), emitted);
  known.try_emplace(value, result);
  return result;
}

/// What a value may be, whatever the box and the arguments.
std::pair<int64_t, int64_t> Intervals::estimate(Value value) {
  if (!estimates) {
    noNumbers = std::make_unique<Numbers>(nullptr, numbers.getLoc());
    estimates = std::make_unique<Intervals>(
        dependences, *noNumbers, Number(Value(), -queryLimit, queryLimit),
        Number(Value(), 0, keyLimit), IRMapping());
  }
  Interval interval = estimates->get(value);
  return {interval.lo.min, interval.hi.max};
}

/// The value for the arguments at hand: what it is computed by, again.
Value Intervals::emitUniform(Value value) {
  if (Value emitted = uniform.lookupOrNull(value))
    return emitted;
  Operation *op = value.getDefiningOp();
  if (!op)
    return value;
  for (Value operand : op->getOperands())
    emitUniform(operand);
  OpBuilder &builder = numbers.getBuilder();
  Operation *copy = builder.clone(*op, uniform);
  SmallVector<Value> folded;
  if (succeeded(builder.tryFold(copy, folded)) && !folded.empty()) {
    uniform.map(op->getResults(), folded);
    copy->erase();
  }
  return uniform.lookup(value);
}

Interval Intervals::compute(Value value) {
  unsigned width = getWidth(value.getType());
  if (width == 0)
    return getFull(64);
  if (std::optional<int64_t> constant = getConstant(value))
    return Number(*constant);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    switch (argument.getArgNumber()) {
    case Query:
      return queries;
    case Key:
      return keys;
    case Batch:
    case Head:
      return Interval(0, batchLimit);
    }
    return getFull(width);
  }
  Operation *op = value.getDefiningOp();
  if (width != 1)
    return computeOp(op, width);
  if (getKind(op) == OpKind::Load)
    return computeLoad(op, width);
  Truth truth = getTruth(value);
  return Interval(numbers.select(truth.must, Number(1), Number(0)),
                  numbers.select(truth.may, Number(1), Number(0)));
}

Interval Intervals::computeOp(Operation *op, unsigned width) {
  switch (OpKind kind = getKind(op)) {
  case OpKind::Load:
    return computeLoad(op, width);
  case OpKind::Extent:
    return Interval(0, extentLimit);
  case OpKind::Cast:
  case OpKind::CastU:
    return computeCast(op, width);
  case OpKind::Select:
    return computeSelect(op);
  case OpKind::Abs: {
    Interval a = get(op->getOperand(0));
    Interval negative = computeSum(/*negate=*/true, Number(0), a, width);
    return fit({numbers.max(0, numbers.max(a.lo, negative.lo)),
                numbers.max(a.hi, negative.hi)},
               width);
  }
  case OpKind::Compare:
  case OpKind::Other:
    return getFull(width);
  default: {
    // Divisors, and by how much is shifted, have to be one number.
    bool needsPoint = kind == OpKind::Div || kind == OpKind::DivU ||
                      kind == OpKind::FloorDiv || kind == OpKind::CeilDiv ||
                      kind == OpKind::CeilDivU || kind == OpKind::Rem ||
                      kind == OpKind::RemU;
    if (needsPoint && !dependences.isUniform(op->getOperand(1)))
      return getFull(width);
    return computeBinary(kind, get(op->getOperand(0)), get(op->getOperand(1)),
                         width);
  }
  }
}

Interval Intervals::computeBinary(OpKind kind, Interval a, Interval b,
                                  unsigned width) {
  switch (kind) {
  case OpKind::Add:
  case OpKind::Sub:
    return computeSum(kind == OpKind::Sub, a, b, width);
  case OpKind::Mul:
    return computeProduct(a, b, width);
  case OpKind::Min:
    return {numbers.min(a.lo, b.lo), numbers.min(a.hi, b.hi)};
  case OpKind::Max:
    return {numbers.max(a.lo, b.lo), numbers.max(a.hi, b.hi)};
  case OpKind::Div:
  case OpKind::FloorDiv:
  case OpKind::CeilDiv:
  case OpKind::Rem:
    return computeDivision(kind, a, b, width);
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor:
    return computeBits(kind, a, b, width);
  case OpKind::Shl:
  case OpKind::Shr:
    return computeShift(kind, a, b, width);
  default:
    return computeUnsigned(kind, a, b, width);
  }
}

/// Numbers that are not negative are the same with and without signs.
Interval Intervals::computeUnsigned(OpKind kind, Interval a, Interval b,
                                    unsigned width) {
  OpKind asSigned = kind == OpKind::DivU       ? OpKind::Div
                    : kind == OpKind::CeilDivU ? OpKind::CeilDiv
                    : kind == OpKind::RemU     ? OpKind::Rem
                    : kind == OpKind::ShrU     ? OpKind::Shr
                    : kind == OpKind::MinU     ? OpKind::Min
                    : kind == OpKind::MaxU     ? OpKind::Max
                                               : OpKind::Other;
  if (asSigned == OpKind::Other)
    return getFull(width);
  Condition same = numbers.both(
      numbers.le(0, a.lo), kind == OpKind::ShrU ? true : numbers.le(0, b.lo));
  return select(same, computeBinary(asSigned, a, b, width), getFull(width));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Condition Intervals::isWithin(Interval interval, int64_t low, int64_t high) {
  return numbers.both(numbers.le(low, interval.lo),
                      numbers.le(interval.hi, high));
}

Interval Intervals::select(Condition condition, Interval a, Interval b) {
  return {numbers.select(condition, a.lo, b.lo),
          numbers.select(condition, a.hi, b.hi)};
}

/// What did not wrap in 64 bits, in fewer.
Interval Intervals::fit(Interval interval, unsigned width) {
  Interval full = getFull(width);
  return select(isWithin(interval, full.lo.min, full.hi.max), interval, full);
}

Interval Intervals::computeSum(bool negate, Interval a, Interval b,
                               unsigned width) {
  Interval sum =
      negate ? Interval(numbers.sub(a.lo, b.hi), numbers.sub(a.hi, b.lo))
             : Interval(numbers.add(a.lo, b.lo), numbers.add(a.hi, b.hi));
  int64_t low, high;
  bool wraps = negate ? llvm::SubOverflow(a.lo.min, b.hi.max, low) ||
                            llvm::SubOverflow(a.hi.max, b.lo.min, high)
                      : llvm::AddOverflow(a.lo.min, b.lo.min, low) ||
                            llvm::AddOverflow(a.hi.max, b.hi.max, high);
  if (!wraps)
    return fit(sum, width);
  Condition small = numbers.both(isWithin(a, -sumLimit, sumLimit - 1),
                                 isWithin(b, -sumLimit + 1, sumLimit - 1));
  return fit(select(small, sum, getFull(64)), width);
}

Interval Intervals::computeProduct(Interval a, Interval b, unsigned width) {
  int64_t unused;
  bool wraps = false;
  for (int64_t x : {a.lo.min, a.hi.max})
    for (int64_t y : {b.lo.min, b.hi.max})
      wraps |= llvm::MulOverflow(x, y, unused) != 0;
  if (a.lo.isConstant() && a.hi.isConstant())
    std::swap(a, b);
  Interval product = getFull(64);
  Condition small = true;
  if (b.lo.isConstant() && b.hi.isConstant() && b.lo.min == b.hi.min) {
    int64_t factor = b.lo.min;
    product = Interval(numbers.mul(a.lo, b.lo), numbers.mul(a.hi, b.lo));
    if (factor < 0)
      std::swap(product.lo, product.hi);
    if (wraps) {
      if (factor == Number::lowest)
        return getFull(width);
      int64_t limit = sumLimit / std::abs(factor);
      small = isWithin(a, -limit, limit);
    }
  } else {
    Number corners[] = {numbers.mul(a.lo, b.lo), numbers.mul(a.lo, b.hi),
                        numbers.mul(a.hi, b.lo), numbers.mul(a.hi, b.hi)};
    product = Interval(numbers.min(numbers.min(corners[0], corners[1]),
                                   numbers.min(corners[2], corners[3])),
                       numbers.max(numbers.max(corners[0], corners[1]),
                                   numbers.max(corners[2], corners[3])));
    if (wraps)
      small = numbers.both(isWithin(a, -productLimit, productLimit),
                           isWithin(b, -productLimit, productLimit));
  }
  return fit(select(small, product, getFull(64)), width);
}

/// By a number that is not positive, anything.
Interval Intervals::computeDivision(OpKind kind, Interval a, Interval b,
                                    unsigned width) {
  Condition isPositive = numbers.le(1, b.lo);
  if (isPositive.isFalse())
    return getFull(width);
  Number divisor = numbers.max(b.lo, 1);
  Interval quotient =
      kind == OpKind::Div
          ? Interval(numbers.div(a.lo, divisor), numbers.div(a.hi, divisor))
      : kind == OpKind::FloorDiv ? Interval(numbers.floorDiv(a.lo, divisor),
                                            numbers.floorDiv(a.hi, divisor))
      : kind == OpKind::CeilDiv  ? Interval(numbers.ceilDiv(a.lo, divisor),
                                            numbers.ceilDiv(a.hi, divisor))
                                 : computeRemainder(a, divisor);
  return select(isPositive, quotient, getFull(width));
}

/// Of numbers with the same quotient the remainders are in the same order.
Interval Intervals::computeRemainder(Interval a, Number divisor) {
  Condition same =
      numbers.eq(numbers.div(a.lo, divisor), numbers.div(a.hi, divisor));
  Number last = numbers.sub(divisor, 1);
  Number low = numbers.select(numbers.lt(a.lo, 0), numbers.sub(0, last), 0);
  Number high = numbers.select(numbers.lt(0, a.hi), last, 0);
  return select(same, {numbers.rem(a.lo, divisor), numbers.rem(a.hi, divisor)},
                {low, high});
}

Interval Intervals::computeBits(OpKind kind, Interval a, Interval b,
                                unsigned width) {
  bool isPositiveA = a.lo.min >= 0, isPositiveB = b.lo.min >= 0;
  if (kind != OpKind::And) {
    if (!isPositiveA || !isPositiveB)
      return getFull(width);
    uint64_t most = static_cast<uint64_t>(a.hi.max) | b.hi.max;
    int64_t bound =
        most ? llvm::maskTrailingOnes<uint64_t>(llvm::Log2_64(most) + 1) : 0;
    return {kind == OpKind::Or ? numbers.max(a.lo, b.lo) : Number(0), bound};
  }
  if (a.lo.isConstant() && a.hi.isConstant())
    std::swap(a, b), std::swap(isPositiveA, isPositiveB);
  // By 2^n - 1: what is left of a multiple of 2^n below.
  if (b.lo.isConstant() && b.hi.isConstant() && b.lo.min == b.hi.min &&
      b.lo.min >= 0 && b.lo.min < sumLimit &&
      llvm::isPowerOf2_64(b.lo.min + 1)) {
    Number unit = b.lo.min + 1;
    Number first = numbers.floorDiv(a.lo, unit);
    Number begin = numbers.mul(first, unit);
    return select(numbers.eq(first, numbers.floorDiv(a.hi, unit)),
                  {numbers.sub(a.lo, begin), numbers.sub(a.hi, begin)},
                  {0, b.lo});
  }
  if (isPositiveA && isPositiveB)
    return {0, numbers.min(a.hi, b.hi)};
  if (isPositiveA || isPositiveB)
    return {0, isPositiveA ? a.hi : b.hi};
  return getFull(width);
}

Interval Intervals::computeShift(OpKind kind, Interval a, Interval b,
                                 unsigned width) {
  if (!b.lo.isConstant() || !b.hi.isConstant() || b.lo.min != b.hi.min ||
      b.lo.min < 0 || b.lo.min >= std::min(width, 62u))
    return getFull(width);
  Number factor = int64_t(1) << b.lo.min;
  if (kind == OpKind::Shl)
    return computeProduct(a, factor, width);
  return {numbers.floorDiv(a.lo, factor), numbers.floorDiv(a.hi, factor)};
}

Interval Intervals::computeCast(Operation *op, unsigned width) {
  Value source = op->getOperand(0);
  unsigned from = getWidth(source.getType());
  if (from == 0)
    return getFull(width);
  Interval a = get(source);
  bool isSigned = getKind(op) == OpKind::Cast;
  if (from == 1)
    return isSigned && width > 1
               ? Interval(numbers.sub(0, a.hi), numbers.sub(0, a.lo))
               : a;
  if (width < from)
    return fit(a, width);
  if (isSigned || width == from)
    return a;
  return select(
      numbers.le(0, a.lo), a,
      {0, static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(from))});
}

Interval Intervals::computeSelect(Operation *op) {
  if (!op->getOperand(0).getType().isInteger(1))
    return getFull(64);
  Truth condition = getTruth(op->getOperand(0));
  Interval a = get(op->getOperand(1)), b = get(op->getOperand(2));
  Interval either(numbers.min(a.lo, b.lo), numbers.max(a.hi, b.hi));
  return select(condition.must, a, select(condition.may, either, b));
}

Interval Intervals::computeLoad(Operation *op, unsigned width) {
  if (!numbers.isEmitting())
    return getFull(width);
  SmallVector<Interval> indices;
  SmallVector<bool> varies;
  for (Value index : op->getOperands().drop_front()) {
    indices.push_back(get(index));
    varies.push_back(!dependences.isUniform(index));
  }
  return emitLoads(numbers, emitUniform(op->getOperand(0)), indices, varies,
                   getFull(width));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Truth Intervals::getTruth(Value value) {
  if (auto found = knownTruths.find(value); found != knownTruths.end())
    return found->second;
  Truth result = {true, false};
  if (numbers.isEmitting() && dependences.isUniform(value)) {
    Value emitted = emitUniform(value);
    std::optional<int64_t> constant = getConstant(emitted);
    Condition condition =
        constant ? Condition(*constant != 0) : Condition(emitted);
    result = {condition, condition};
  } else {
    result = computeTruth(value);
  }
  knownTruths.try_emplace(value, result);
  return result;
}

Truth Intervals::computeTruth(Value value) {
  if (std::optional<int64_t> constant = getConstant(value))
    return {*constant != 0, *constant != 0};
  // Of any truth, where nothing is emitted, but always the same one.
  Truth unknown = {true, false};
  if (dependences.isUniform(value))
    unknown = {Condition(Value()), Condition(Value())};
  Operation *op = value.getDefiningOp();
  if (!op)
    return unknown;
  OpKind kind = getKind(op);
  if (kind == OpKind::Load) {
    Interval loaded = get(value);
    return {numbers.le(1, loaded.hi), numbers.le(1, loaded.lo)};
  }
  if (kind == OpKind::Select && op->getOperand(0).getType().isInteger(1)) {
    Truth c = getTruth(op->getOperand(0)), a = getTruth(op->getOperand(1)),
          b = getTruth(op->getOperand(2));
    return {numbers.either(numbers.both(c.may, a.may),
                           numbers.both(numbers.negate(c.must), b.may)),
            numbers.both(numbers.either(numbers.negate(c.may), a.must),
                         numbers.either(c.must, b.must))};
  }
  bool isOfTruths =
      op->getNumOperands() == 2 && op->getOperand(0).getType().isInteger(1);
  if (kind == OpKind::Compare && !isOfTruths)
    return getWidth(op->getOperand(0).getType()) == 0
               ? unknown
               : compare(getPredicate(op), get(op->getOperand(0)),
                         get(op->getOperand(1)));
  if (!isOfTruths)
    return unknown;
  Truth a = getTruth(op->getOperand(0)), b = getTruth(op->getOperand(1));
  if (kind == OpKind::And)
    return {numbers.both(a.may, b.may), numbers.both(a.must, b.must)};
  if (kind == OpKind::Or)
    return {numbers.either(a.may, b.may), numbers.either(a.must, b.must)};
  bool isEqual =
      kind == OpKind::Compare && getPredicate(op) == arith::CmpIPredicate::eq;
  bool isUnequal =
      kind == OpKind::Xor ||
      (kind == OpKind::Compare && getPredicate(op) == arith::CmpIPredicate::ne);
  if (!isEqual && !isUnequal)
    return unknown;
  if (isEqual)
    b = {numbers.negate(b.must), numbers.negate(b.may)};
  return {numbers.either(numbers.both(a.may, numbers.negate(b.must)),
                         numbers.both(numbers.negate(a.must), b.may)),
          numbers.either(numbers.both(a.must, numbers.negate(b.may)),
                         numbers.both(numbers.negate(a.may), b.must))};
}

Truth Intervals::compare(arith::CmpIPredicate predicate, Interval a,
                         Interval b) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return {numbers.lt(a.lo, b.hi), numbers.lt(a.hi, b.lo)};
  case Predicate::sle:
    return {numbers.le(a.lo, b.hi), numbers.le(a.hi, b.lo)};
  case Predicate::sgt:
    return compare(Predicate::slt, b, a);
  case Predicate::sge:
    return compare(Predicate::sle, b, a);
  case Predicate::eq:
    return {numbers.both(numbers.le(a.lo, b.hi), numbers.le(b.lo, a.hi)),
            numbers.both(numbers.le(a.hi, b.lo), numbers.le(b.hi, a.lo))};
  case Predicate::ne: {
    Truth equal = compare(Predicate::eq, a, b);
    return {numbers.negate(equal.must), numbers.negate(equal.may)};
  }
  case Predicate::ugt:
    return compare(Predicate::ult, b, a);
  case Predicate::uge:
    return compare(Predicate::ule, b, a);
  case Predicate::ult:
  case Predicate::ule: {
    Condition same = numbers.both(numbers.le(0, a.lo), numbers.le(0, b.lo));
    Truth truth = compare(
        predicate == Predicate::ult ? Predicate::slt : Predicate::sle, a, b);
    return {numbers.either(numbers.negate(same), truth.may),
            numbers.both(same, truth.must)};
  }
  }
  return {true, false};
}
