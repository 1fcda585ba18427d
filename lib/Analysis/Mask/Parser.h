//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How a mask's conditions become disjunctions.

#ifndef POL_LIB_ANALYSIS_MASK_PARSER_H
#define POL_LIB_ANALYSIS_MASK_PARSER_H

#include "Box.h"
#include "Intervals.h"

namespace mlir::pol::mask {

/// Reads conditions. What cannot hold at any position is left out.
class Parser {
public:
  Parser(Dependences &dependences, Location loc);

  /// The condition, or its negation. A part that takes too many conjunctions is
  /// an atom.
  Disjunction parse(Value value, bool isNegated);
  /// Whether a sum is near zero, whatever captures hold.
  bool isNear(const Linear &linear);

private:
  /// Nothing: too many conjunctions.
  using Result = std::optional<Disjunction>;

  Result parseOp(Value value, bool isNegated);
  Result parseCompare(Operation *op, bool isNegated);
  Result parseSides(arith::CmpIPredicate predicate, const Linear &a,
                    const Linear &b);
  Disjunction parseAtMost(const Linear &a, const Linear &b, int64_t offset);
  Disjunction makeAtom(Value value, bool isNegated);
  std::optional<Linear> getLinear(Value value);
  std::optional<Linear> computeLinear(Operation *op);

  Result both(const Result &a, const Result &b);
  Result either(const Result &a, const Result &b);
  bool add(Disjunction &disjunction, Conjunction conjunction);
  std::optional<Conjunction> join(const Conjunction &a, const Conjunction &b);
  Box restrictAll(const Conjunction &conjunction);

  Dependences &dependences;
  Numbers numbers;
  Intervals estimates;
  DenseMap<Value, Disjunction> known[2];
  DenseMap<Value, std::optional<Linear>> knownLinears;
};

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_PARSER_H
