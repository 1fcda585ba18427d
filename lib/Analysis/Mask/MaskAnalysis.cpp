//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/MaskAnalysis.h"

#include "Box.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::mask;

//===----------------------------------------------------------------------===//
// MaskAnalysis
//===----------------------------------------------------------------------===//

MaskAnalysis::MaskAnalysis(Block *mask)
    : block(mask), formula(std::make_shared<const Formula>(mask)) {}

bool MaskAnalysis::isFull() const { return formula->getDropped().empty(); }

bool MaskAnalysis::isInterval() const { return formula->isInterval(); }

bool MaskAnalysis::usesBatch() const {
  return block && formula->getDependences().on(Batch, formula->getYield());
}

bool MaskAnalysis::usesHead() const {
  return block && formula->getDependences().on(Head, formula->getYield());
}

//===----------------------------------------------------------------------===//
// MaskEmitter
//===----------------------------------------------------------------------===//

/// A position that a caller gives, which is within limits, or a constant.
static Number getPosition(Value value, int64_t min, int64_t max) {
  if (std::optional<int64_t> constant = getConstant(value))
    return Number(*constant);
  return Number(value, min, max);
}

namespace {
/// What is emitted for one question.
class Emission {
public:
  Emission(OpBuilder &builder, Location loc, const Formula &formula,
           IRMapping arguments, IndexBounds queries, IndexBounds keys);

  /// Of keys, or of queries.
  IndexBounds getBounds(bool ofKeys);
  Value getClass();
  /// Whether the box has positions.
  Condition hasPositions() { return box.hasAny(numbers); }
  Value get(Condition condition) { return numbers.get(condition); }

private:
  Condition hasAny(const Disjunction &disjunction);
  Box restrictTo(const Conjunction &conjunction, bool withOpaque) {
    return restrict(box, conjunction, numbers, intervals,
                    formula.getDependences(), withOpaque);
  }

  OpBuilder &builder;
  Location loc;
  const Formula &formula;
  Numbers numbers;
  Box box;
  Intervals intervals;
};
} // namespace

Emission::Emission(OpBuilder &builder, Location loc, const Formula &formula,
                   IRMapping arguments, IndexBounds queries, IndexBounds keys)
    : builder(builder), loc(loc), formula(formula), numbers(&builder, loc),
      box{{getPosition(queries.begin, -queryLimit, queryLimit),
           getPosition(queries.end, -queryLimit, queryLimit)},
          {getPosition(keys.begin, 0, keyLimit),
           getPosition(keys.end, 0, keyLimit)},
          std::nullopt,
          std::nullopt},
      intervals(formula.getDependences(), numbers,
                {box.queries.begin, numbers.sub(box.queries.end, 1)},
                {box.keys.begin, numbers.sub(box.keys.end, 1)},
                std::move(arguments)) {}

/// The hull of what the conjunctions leave. What begins nowhere begins at the
/// end, and what ends nowhere at the begin, or where it begins.
IndexBounds Emission::getBounds(bool ofKeys) {
  Positions all = ofKeys ? box.keys : box.queries;
  std::optional<Positions> hull;
  const Disjunction &kept = formula.getKept();
  for (const Conjunction &conjunction : kept) {
    Box left = restrictTo(conjunction, /*withOpaque=*/false);
    Positions found = ofKeys ? left.getKeys(numbers) : left.getQueries(numbers);
    const Positions &others = ofKeys ? left.queries : left.keys;
    Condition holds =
        numbers.both(left.holds, numbers.lt(others.begin, others.end));
    if (left.least && left.greatest)
      holds = numbers.both(holds, numbers.le(*left.least, *left.greatest));
    found.end = numbers.select(holds, found.end, all.begin);
    if (kept.size() > 1)
      found.begin = numbers.select(numbers.lt(found.begin, found.end),
                                   found.begin, all.end);
    hull = hull ? Positions{numbers.min(hull->begin, found.begin),
                            numbers.max(hull->end, found.end)}
                : found;
  }
  if (!hull)
    hull = Positions{all.begin, all.begin};
  Number begin = numbers.min(hull->begin, all.end);
  if (kept.size() > 1)
    begin = numbers.max(begin, all.begin);
  return {numbers.get(begin), numbers.get(numbers.max(begin, hull->end))};
}

Condition Emission::hasAny(const Disjunction &disjunction) {
  Condition result = false;
  for (const Conjunction &conjunction : disjunction) {
    Box left = restrictTo(conjunction, /*withOpaque=*/true);
    result = numbers.either(result, left.hasAny(numbers));
  }
  return result;
}

Value Emission::getClass() {
  Condition keepsAny = hasAny(formula.getKept());
  Condition dropsAny = hasAny(formula.getDropped());
  auto constant = [&](TileClass number) -> Value {
    return arith::ConstantIntOp::create(builder, loc,
                                        static_cast<int32_t>(number), 32);
  };
  auto select = [&](Condition condition, Value a, Value b) {
    return condition.isTrue()    ? a
           : condition.isFalse() ? b
                                 : builder.createOrFold<arith::SelectOp>(
                                       loc, condition.value, a, b);
  };
  if (keepsAny.isFalse())
    return constant(TileClass::Empty);
  Value kept = dropsAny.isTrue() ? constant(TileClass::Partial)
               : dropsAny.isFalse()
                   ? constant(TileClass::Full)
                   : select(dropsAny, constant(TileClass::Partial),
                            constant(TileClass::Full));
  return keepsAny.isTrue() ? kept
                           : select(keepsAny, kept, constant(TileClass::Empty));
}

MaskEmitter::MaskEmitter(const MaskAnalysis &analysis, Location loc,
                         Value batch, Value head, ValueRange captures)
    : block(analysis.block), formula(analysis.formula), loc(loc), batch(batch),
      head(head), captures(captures.begin(), captures.end()) {}

/// What stands for the arguments of a mask, but for the query and the key.
static IRMapping mapArguments(Block *block, Value batch, Value head,
                              ValueRange captures) {
  IRMapping mapping;
  if (!block)
    return mapping;
  mapping.map(block->getArgument(Batch), batch);
  mapping.map(block->getArgument(Head), head);
  mapping.map(block->getArguments().drop_front(FirstCapture), captures);
  return mapping;
}

/// Emits an answer, where the box has positions if it may not be asked for
/// otherwise; `none` is the answer then.
static SmallVector<Value>
emitAnswer(OpBuilder &builder, Location loc, const Formula &formula,
           IRMapping arguments, IndexBounds queries, IndexBounds keys,
           ValueRange none, function_ref<SmallVector<Value>(Emission &)> emit) {
  Emission emission(builder, loc, formula, arguments, queries, keys);
  if (formula.isSpeculatable())
    return emit(emission);
  Condition hasPositions = emission.hasPositions();
  if (hasPositions.isTrue())
    return emit(emission);
  if (hasPositions.isFalse())
    return SmallVector<Value>(none);
  auto ifOp = scf::IfOp::create(
      builder, loc, emission.get(hasPositions),
      [&](OpBuilder &inner, Location) {
        Emission within(inner, loc, formula, arguments, queries, keys);
        scf::YieldOp::create(inner, loc, emit(within));
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, none);
      });
  return ifOp.getResults();
}

IndexBounds MaskEmitter::getBounds(OpBuilder &builder, IndexBounds queries,
                                   IndexBounds keys, bool ofKeys) {
  Value none = ofKeys ? keys.begin : queries.begin;
  SmallVector<Value> bounds =
      emitAnswer(builder, loc, *formula,
                 mapArguments(block, batch, head, captures), queries, keys,
                 {none, none}, [&](Emission &emission) -> SmallVector<Value> {
                   IndexBounds found = emission.getBounds(ofKeys);
                   return {found.begin, found.end};
                 });
  return {bounds[0], bounds[1]};
}

IndexBounds MaskEmitter::getKeys(OpBuilder &builder, IndexBounds queries,
                                 IndexBounds keys) {
  return getBounds(builder, queries, keys, /*ofKeys=*/true);
}

IndexBounds MaskEmitter::getQueries(OpBuilder &builder, IndexBounds queries,
                                    IndexBounds keys) {
  return getBounds(builder, queries, keys, /*ofKeys=*/false);
}

Value MaskEmitter::getClass(OpBuilder &builder, IndexBounds queries,
                            IndexBounds keys) {
  Value none;
  if (!formula->isSpeculatable())
    none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return emitAnswer(builder, loc, *formula,
                    mapArguments(block, batch, head, captures), queries, keys,
                    none,
                    [](Emission &emission) -> SmallVector<Value> {
                      return {emission.getClass()};
                    })
      .front();
}

Value MaskEmitter::isKept(OpBuilder &builder, Value query, Value key) {
  if (!block)
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  IRMapping mapping = mapArguments(block, batch, head, captures);
  mapping.map(block->getArgument(Query), query);
  mapping.map(block->getArgument(Key), key);
  for (Operation &op : block->without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(formula->getYield());
}
