//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What values of a mask may be over a box of queries and keys.

#ifndef POL_LIB_ANALYSIS_MASK_INTERVALS_H
#define POL_LIB_ANALYSIS_MASK_INTERVALS_H

#include "Expressions.h"
#include "Numbers.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::pol::mask {

/// The largest magnitude of a query, and what keys are less than.
constexpr int64_t queryLimit = int64_t(1) << 61;
constexpr int64_t keyLimit = int64_t(1) << 40;

/// Interval arithmetic on the values of a mask over a box, inclusive, for what
/// stands for the mask's other arguments. Where nothing is emitted, these may
/// be null.
class Intervals {
public:
  Intervals(Dependences &dependences, Numbers &numbers, Interval queries,
            Interval keys, IRMapping arguments)
      : dependences(dependences), numbers(numbers), queries(queries),
        keys(keys), uniform(std::move(arguments)) {}

  /// Of an index or integer: as a signed number, of an i1 as 0 or 1.
  Interval get(Value value);
  /// Of an i1.
  Truth getTruth(Value value);
  /// Of a value that depends on neither query nor key.
  Number getUniform(Value value);

private:
  Interval compute(Value value);
  Interval computeOp(Operation *op, unsigned width);
  Interval computeBinary(OpKind kind, Interval a, Interval b, unsigned width);
  Interval computeUnsigned(OpKind kind, Interval a, Interval b, unsigned width);
  Interval computeSum(bool negate, Interval a, Interval b, unsigned width);
  Interval computeProduct(Interval a, Interval b, unsigned width);
  Interval computeDivision(OpKind kind, Interval a, Interval b, unsigned width);
  Interval computeRemainder(Interval a, Number divisor);
  Interval computeBits(OpKind kind, Interval a, Interval b, unsigned width);
  Interval computeShift(OpKind kind, Interval a, Interval b, unsigned width);
  Interval computeCast(Operation *op, unsigned width);
  Interval computeSelect(Operation *op);
  Interval computeLoad(Operation *op, unsigned width);
  Truth computeTruth(Value value);
  Truth compare(arith::CmpIPredicate predicate, Interval a, Interval b);

  std::pair<int64_t, int64_t> estimate(Value value);
  Value emitUniform(Value value);
  Condition isWithin(Interval interval, int64_t low, int64_t high);
  Interval select(Condition condition, Interval a, Interval b);
  Interval fit(Interval interval, unsigned width);

  Dependences &dependences;
  Numbers &numbers;
  Interval queries, keys;
  /// What stands for values that depend on neither query nor key.
  IRMapping uniform;
  DenseMap<Value, Interval> known;
  DenseMap<Value, Truth> knownTruths;
  /// The same with nothing emitted, of any box.
  std::unique_ptr<Numbers> noNumbers;
  std::unique_ptr<Intervals> estimates;
};

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_INTERVALS_H
