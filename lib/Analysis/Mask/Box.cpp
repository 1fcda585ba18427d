//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Box.h"

using namespace mlir;
using namespace mlir::pol::mask;

/// A sum without q and k, and whether it is of use: a side that has neither is
/// clamped, which changes no comparison; one that has must be near zero.
static std::pair<Number, Condition>
getSide(Numbers &numbers, Intervals &intervals, const Linear &side) {
  Number sum = getSum(numbers, side,
                      [&](Value value) { return intervals.getUniform(value); });
  if (side.isUniform())
    return {numbers.max(-farLimit, numbers.min(farLimit, sum)), true};
  return {sum, numbers.both(numbers.le(-nearLimit, sum),
                            numbers.le(sum, nearLimit))};
}

/// Narrows one end. Bounds of queries and keys from above are exclusive.
static void narrow(Box &box, Numbers &numbers, const Bound &bound,
                   Number limit) {
  switch (bound.variable) {
  case Variable::Nothing:
    break;
  case Variable::Query:
  case Variable::Key: {
    Positions &positions =
        bound.variable == Variable::Query ? box.queries : box.keys;
    if (bound.isUpper)
      positions.end = numbers.min(positions.end, limit);
    else
      positions.begin = numbers.max(positions.begin, limit);
    break;
  }
  case Variable::Difference:
    if (bound.isUpper)
      box.greatest = box.greatest ? numbers.min(*box.greatest, limit) : limit;
    else
      box.least = box.least ? numbers.max(*box.least, limit) : limit;
    break;
  }
}

static void apply(Box &box, Numbers &numbers, Intervals &intervals,
                  const Bound &bound) {
  auto [above, isAboveNear] = getSide(numbers, intervals, bound.above);
  auto [below, isBelowNear] = getSide(numbers, intervals, bound.below);
  Condition isNear = numbers.both(isAboveNear, isBelowNear);
  bool isPosition =
      bound.variable == Variable::Query || bound.variable == Variable::Key;
  Number limit = bound.isUpper
                     ? numbers.add(numbers.sub(above, below),
                                   bound.offset + (isPosition ? 1 : 0))
                     : numbers.sub(numbers.sub(below, above), bound.offset);
  if (bound.variable == Variable::Nothing) {
    box.holds = numbers.both(
        box.holds, numbers.either(numbers.negate(isNear),
                                  bound.isUpper ? numbers.le(0, limit)
                                                : numbers.le(limit, 0)));
    return;
  }
  // A bound that is not known is none.
  narrow(box, numbers, bound,
         numbers.select(isNear, limit, bound.isUpper ? farLimit : -farLimit));
}

Box mlir::pol::mask::restrict(Box box, const Conjunction &conjunction,
                              Numbers &numbers, Intervals &intervals,
                              Dependences &dependences, bool withOpaque) {
  for (const Atom &atom : conjunction) {
    if (atom.bound) {
      apply(box, numbers, intervals, *atom.bound);
      continue;
    }
    if (!withOpaque && !dependences.isUniform(atom.value))
      continue;
    Truth truth = intervals.getTruth(atom.value);
    box.holds = numbers.both(
        box.holds, atom.isNegated ? numbers.negate(truth.must) : truth.may);
  }
  return box;
}

Positions Box::getKeys(Numbers &numbers) const {
  Positions result = keys;
  if (greatest)
    result.begin =
        numbers.max(result.begin, numbers.sub(queries.begin, *greatest));
  if (least)
    result.end = numbers.min(result.end, numbers.sub(queries.end, *least));
  return result;
}

Positions Box::getQueries(Numbers &numbers) const {
  Positions result = queries;
  if (least)
    result.begin = numbers.max(result.begin, numbers.add(keys.begin, *least));
  if (greatest)
    result.end = numbers.min(result.end, numbers.add(keys.end, *greatest));
  return result;
}

Condition Box::hasAny(Numbers &numbers) const {
  Condition result =
      numbers.both(holds, numbers.lt(queries.begin, queries.end));
  if (least && greatest)
    result = numbers.both(result, numbers.le(*least, *greatest));
  Positions left = getKeys(numbers);
  return numbers.both(result, numbers.lt(left.begin, left.end));
}
