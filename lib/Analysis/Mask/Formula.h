//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A mask as a disjunction of conjunctions of bounds.

#ifndef POL_LIB_ANALYSIS_MASK_FORMULA_H
#define POL_LIB_ANALYSIS_MASK_FORMULA_H

#include "Expressions.h"
#include "Numbers.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace mlir::pol::mask {

/// query * q + key * k + the sum of terms + constant, modulo 2^64. Terms are
/// values that depend on neither q nor k, with factors.
struct Linear {
  int64_t query = 0, key = 0, constant = 0;
  SmallVector<std::pair<Value, int64_t>, 2> terms;

  /// Adds `other` so many times.
  void add(const Linear &other, int64_t times);
  /// Neither q nor k is in it.
  bool isUniform() const { return query == 0 && key == 0; }
  bool operator==(const Linear &other) const;
};

/// What a bound is of: q - k is the difference, and nothing is 0.
enum class Variable { Nothing, Query, Key, Difference };

/// variable <= above - below + offset, or >= below - above - offset. Of `above`
/// and `below` all but the terms with q and k counts; what these are is said by
/// whether one is nothing else.
struct Bound {
  Variable variable;
  bool isUpper;
  Linear above, below;
  int64_t offset = 0;

  bool operator==(const Bound &other) const;
};

/// A bound, or a value of the mask as it is, or its negation.
struct Atom {
  std::optional<Bound> bound;
  Value value;
  bool isNegated = false;

  bool operator==(const Atom &other) const;
};

/// All of its atoms hold; any of its conjunctions holds.
using Conjunction = SmallVector<Atom, 4>;
using Disjunction = SmallVector<Conjunction, 1>;

/// The sums in a bound may be this far from zero, for all to be computed in 64
/// bits: with |q| <= 2^61 and 0 <= k < 2^40, sums with q or k in them stay
/// within `farLimit`, which a side that has neither is clamped to.
constexpr int64_t nearLimit = (int64_t(1) << 60) + (int64_t(1) << 59);
constexpr int64_t farLimit = int64_t(1) << 62;

/// The sum of an expression but for q and k, as the values of its terms are
/// said to be.
Number getSum(Numbers &numbers, const Linear &linear,
              function_ref<Number(Value)> getTerm);

/// What is kept, and what is not.
class Formula {
public:
  /// Null: everything is kept.
  explicit Formula(Block *mask);

  Block *getBlock() const { return block; }
  Value getYield() const { return yield; }
  const Disjunction &getKept() const { return kept; }
  const Disjunction &getDropped() const { return dropped; }
  Dependences &getDependences() const { return dependences; }
  /// Whether all that is emitted may be computed where a box has no positions,
  /// and captures no elements.
  bool isSpeculatable() const { return speculatable; }
  /// See MaskAnalysis.
  bool isInterval() const { return interval; }

private:
  Block *block;
  Value yield;
  Disjunction kept, dropped;
  bool speculatable = true, interval = true;
  /// It remembers what it was asked.
  mutable Dependences dependences;
};

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_FORMULA_H
