//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Arithmetic that is emitted, or only estimated: numbers with what is known of
// them at compile time.

#ifndef POL_LIB_ANALYSIS_MASK_NUMBERS_H
#define POL_LIB_ANALYSIS_MASK_NUMBERS_H

#include "mlir/IR/Builders.h"
#include <limits>

namespace mlir::pol::mask {

/// A signed number of 64 bits and what is known of it: min <= it <= max. The
/// value, an index, is null for constants and where nothing is emitted.
struct Number {
  static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
  static constexpr int64_t highest = std::numeric_limits<int64_t>::max();

  Number(int64_t constant) : min(constant), max(constant) {}
  Number(Value value, int64_t min, int64_t max)
      : value(min == max ? Value() : value), min(min), max(max) {}

  bool isConstant() const { return min == max; }
  bool isWithin(int64_t low, int64_t high) const {
    return low <= min && max <= high;
  }

  Value value;
  int64_t min, max;
};

/// A condition and what is known of it. The value, an i1, is null where it is
/// known, and where nothing is emitted.
struct Condition {
  Condition(bool known) : canHold(known), canFail(!known) {}
  explicit Condition(Value value) : value(value) {}

  bool isTrue() const { return !canFail; }
  bool isFalse() const { return !canHold; }

  Value value;
  bool canHold = true, canFail = true;
};

/// What an expression may be: lo <= it <= hi.
struct Interval {
  Interval(Number number) : lo(number), hi(number) {}
  Interval(Number lo, Number hi) : lo(lo), hi(hi) {}

  Number lo, hi;
};

/// The interval of a condition: whether it may hold, and whether it must.
struct Truth {
  Condition may, must;
};

/// Emits arithmetic at a builder and folds what it can; with no builder, only
/// estimates. Sums, differences and products wrap; one that could is known to
/// be any number.
class Numbers {
public:
  Numbers(OpBuilder *builder, Location loc) : builder(builder), loc(loc) {}

  bool isEmitting() const { return builder; }
  OpBuilder &getBuilder() { return *builder; }
  Location getLoc() const { return loc; }

  Number add(Number a, Number b);
  Number sub(Number a, Number b);
  Number mul(Number a, Number b);
  Number min(Number a, Number b);
  Number max(Number a, Number b);
  Number select(Condition condition, Number a, Number b);
  /// By a positive divisor; `div` and `rem` round towards zero.
  Number div(Number a, Number b);
  Number rem(Number a, Number b);
  Number floorDiv(Number a, Number b);
  Number ceilDiv(Number a, Number b);

  Condition le(Number a, Number b);
  Condition lt(Number a, Number b);
  Condition eq(Number a, Number b);
  Condition both(Condition a, Condition b);
  Condition either(Condition a, Condition b);
  Condition negate(Condition a);
  Condition select(Condition condition, Condition a, Condition b);

  /// Only where something is emitted.
  Value get(Number number);
  Value get(Condition condition);

private:
  Condition compare(int predicate, Number a, Number b);

  OpBuilder *builder;
  Location loc;
};

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_NUMBERS_H
