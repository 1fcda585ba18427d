//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

using namespace mlir;
using namespace mlir::pol::mask;
using Predicate = arith::CmpIPredicate;

/// How many conjunctions one disjunction may have.
static constexpr size_t maxConjunctions = 64;

/// What is always true: one conjunction of nothing.
static Disjunction getAlways() {
  Disjunction result;
  result.emplace_back();
  return result;
}

Parser::Parser(Dependences &dependences, Location loc)
    : dependences(dependences), numbers(nullptr, loc),
      estimates(dependences, numbers, Number(Value(), -queryLimit, queryLimit),
                Number(Value(), 0, keyLimit), IRMapping()) {}

//===----------------------------------------------------------------------===//
// Disjunctions
//===----------------------------------------------------------------------===//

/// What a conjunction leaves of all queries and keys.
Box Parser::restrictAll(const Conjunction &conjunction) {
  Box all{{Number(Value(), -queryLimit, queryLimit),
           Number(Value(), -queryLimit, queryLimit)},
          {Number(Value(), 0, keyLimit), Number(Value(), 0, keyLimit)},
          std::nullopt,
          std::nullopt};
  return restrict(all, conjunction, numbers, estimates, dependences,
                  /*withOpaque=*/true);
}

/// Adds a conjunction unless another that is there holds wherever it does, and
/// takes out those that hold only where it does. False if there are too many.
bool Parser::add(Disjunction &disjunction, Conjunction conjunction) {
  auto implies = [](const Conjunction &a, const Conjunction &b) {
    return llvm::all_of(
        b, [&](const Atom &atom) { return llvm::is_contained(a, atom); });
  };
  for (const Conjunction &other : disjunction)
    if (implies(conjunction, other))
      return true;
  llvm::erase_if(disjunction, [&](const Conjunction &other) {
    return implies(other, conjunction);
  });
  disjunction.push_back(std::move(conjunction));
  return disjunction.size() <= maxConjunctions;
}

/// Nothing where the two exclude each other.
std::optional<Conjunction> Parser::join(const Conjunction &a,
                                        const Conjunction &b) {
  Conjunction joined = a;
  for (const Atom &atom : b) {
    if (atom.value && llvm::any_of(a, [&](const Atom &other) {
          return other.value == atom.value && other.isNegated != atom.isNegated;
        }))
      return std::nullopt;
    if (!llvm::is_contained(joined, atom))
      joined.push_back(atom);
  }
  if (restrictAll(joined).hasAny(numbers).isFalse())
    return std::nullopt;
  return joined;
}

Parser::Result Parser::both(const Result &a, const Result &b) {
  if (!a || !b)
    return std::nullopt;
  Disjunction result;
  for (const Conjunction &x : *a)
    for (const Conjunction &y : *b)
      if (std::optional<Conjunction> joined = join(x, y))
        if (!add(result, std::move(*joined)))
          return std::nullopt;
  return result;
}

Parser::Result Parser::either(const Result &a, const Result &b) {
  if (!a || !b)
    return std::nullopt;
  Disjunction result = *a;
  for (const Conjunction &conjunction : *b)
    if (!add(result, conjunction))
      return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Disjunction Parser::parse(Value value, bool isNegated) {
  auto &cache = known[isNegated];
  if (auto found = cache.find(value); found != cache.end())
    return found->second;
  Result parsed = parseOp(value, isNegated);
  Disjunction result = parsed ? std::move(*parsed) : makeAtom(value, isNegated);
  cache.try_emplace(value, result);
  return result;
}

/// A condition that stays as it is.
Disjunction Parser::makeAtom(Value value, bool isNegated) {
  Truth truth = estimates.getTruth(value);
  Condition may = isNegated ? numbers.negate(truth.must) : truth.may;
  Condition must = isNegated ? numbers.negate(truth.may) : truth.must;
  if (may.isFalse())
    return {};
  Disjunction result = getAlways();
  if (!must.isTrue())
    result.front().push_back(Atom{std::nullopt, value, isNegated});
  return result;
}

Parser::Result Parser::parseOp(Value value, bool isNegated) {
  Operation *op = value.getDefiningOp();
  if (!op || dependences.isUniform(value))
    return makeAtom(value, isNegated);
  OpKind kind = getKind(op);
  auto parseOperand = [&](unsigned number, bool negate) {
    return parse(op->getOperand(number), negate);
  };
  if (kind == OpKind::And || kind == OpKind::Or) {
    Disjunction a = parseOperand(0, isNegated), b = parseOperand(1, isNegated);
    return (kind == OpKind::And) != isNegated ? both(a, b) : either(a, b);
  }
  if (kind == OpKind::Select && op->getOperand(0).getType().isInteger(1))
    return either(both(parseOperand(0, false), parseOperand(1, isNegated)),
                  both(parseOperand(0, true), parseOperand(2, isNegated)));
  bool isOfTruths =
      op->getNumOperands() == 2 && op->getOperand(0).getType().isInteger(1);
  bool isEqual = kind == OpKind::Compare && getPredicate(op) == Predicate::eq;
  bool isUnequal = kind == OpKind::Xor || (kind == OpKind::Compare &&
                                           getPredicate(op) == Predicate::ne);
  if (isOfTruths && (isEqual || isUnequal))
    return either(
        both(parseOperand(0, false), parseOperand(1, isUnequal != isNegated)),
        both(parseOperand(0, true), parseOperand(1, isEqual != isNegated)));
  if (kind == OpKind::Compare && !isOfTruths)
    return parseCompare(op, isNegated);
  return makeAtom(value, isNegated);
}

/// Whether a <= b is a bound: on q, k or q - k, and of sides that do not wrap.
static bool isBound(const Linear &a, const Linear &b) {
  auto isSmall = [](int64_t factor) { return factor >= -1 && factor <= 1; };
  if (!isSmall(a.query) || !isSmall(a.key) || !isSmall(b.query) ||
      !isSmall(b.key))
    return false;
  int64_t query = a.query - b.query, key = a.key - b.key;
  return isSmall(query) && isSmall(key) && (query == 0 || query != key);
}

Parser::Result Parser::parseCompare(Operation *op, bool isNegated) {
  std::optional<Linear> a = getLinear(op->getOperand(0));
  std::optional<Linear> b = getLinear(op->getOperand(1));
  Value value = op->getResult(0);
  if (!a || !b || !isBound(*a, *b))
    return makeAtom(value, isNegated);
  Predicate predicate = getPredicate(op);
  if (isNegated)
    predicate = arith::invertPredicate(predicate);
  Result result = parseSides(predicate, *a, *b);
  return result ? result : makeAtom(value, isNegated);
}

/// Nothing if it is no bound.
Parser::Result Parser::parseSides(Predicate predicate, const Linear &a,
                                  const Linear &b) {
  switch (predicate) {
  case Predicate::eq:
    return both(parseAtMost(a, b, 0), parseAtMost(b, a, 0));
  case Predicate::ne:
    return either(parseAtMost(a, b, -1), parseAtMost(b, a, -1));
  case Predicate::sle:
    return parseAtMost(a, b, 0);
  case Predicate::slt:
    return parseAtMost(a, b, -1);
  case Predicate::sge:
    return parseAtMost(b, a, 0);
  case Predicate::sgt:
    return parseAtMost(b, a, -1);
  case Predicate::uge:
    return parseSides(Predicate::ule, b, a);
  case Predicate::ugt:
    return parseSides(Predicate::ult, b, a);
  case Predicate::ule:
  case Predicate::ult:
    break;
  }
  // Of one sign, as signed numbers; else the one that is negative is greater.
  Linear zero;
  if (!isBound(a, zero) || !isBound(b, zero))
    return std::nullopt;
  Disjunction less = parseAtMost(a, b, predicate == Predicate::ule ? 0 : -1);
  Disjunction isPositiveA = parseAtMost(zero, a, 0),
              isNegativeA = parseAtMost(a, zero, -1);
  Result isSame = either(both(isPositiveA, parseAtMost(zero, b, 0)),
                         both(isNegativeA, parseAtMost(b, zero, -1)));
  return either(both(isSame, less),
                both(isPositiveA, parseAtMost(b, zero, -1)));
}

/// a <= b + offset.
Disjunction Parser::parseAtMost(const Linear &a, const Linear &b,
                                int64_t offset) {
  int64_t query = a.query - b.query, key = a.key - b.key;
  Bound bound;
  bound.variable = query && key ? Variable::Difference
                   : query      ? Variable::Query
                   : key        ? Variable::Key
                                : Variable::Nothing;
  // The difference is that of the query and the key.
  bound.isUpper = query ? query > 0 : key >= 0;
  bound.above = b;
  bound.below = a;
  bound.offset = offset;
  Conjunction conjunction = {Atom{bound, Value(), false}};
  Box box = restrictAll(conjunction);
  if (box.hasAny(numbers).isFalse())
    return {};
  if (bound.variable == Variable::Nothing && box.holds.isTrue())
    return getAlways();
  Disjunction result;
  result.push_back(std::move(conjunction));
  return result;
}

//===----------------------------------------------------------------------===//
// Linear expressions
//===----------------------------------------------------------------------===//

bool Parser::isNear(const Linear &linear) {
  if (linear.isUniform())
    return true;
  Number sum = getSum(numbers, linear,
                      [&](Value value) { return estimates.getUniform(value); });
  return sum.isWithin(-nearLimit, nearLimit);
}

/// Of an index or i64.
std::optional<Linear> Parser::getLinear(Value value) {
  if (auto found = knownLinears.find(value); found != knownLinears.end())
    return found->second;
  std::optional<Linear> result;
  if (getWidth(value.getType()) == 64) {
    if (std::optional<int64_t> constant = getConstant(value)) {
      result.emplace();
      result->constant = *constant;
    } else if (dependences.isUniform(value)) {
      result.emplace();
      result->terms.emplace_back(value, 1);
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      result.emplace();
      (argument.getArgNumber() == Query ? result->query : result->key) = 1;
    } else {
      result = computeLinear(value.getDefiningOp());
    }
  }
  knownLinears.try_emplace(value, result);
  return result;
}

std::optional<Linear> Parser::computeLinear(Operation *op) {
  OpKind kind = getKind(op);
  if (kind == OpKind::Cast || kind == OpKind::CastU)
    return getLinear(op->getOperand(0));
  if (kind != OpKind::Add && kind != OpKind::Sub && kind != OpKind::Mul)
    return std::nullopt;
  std::optional<Linear> a = getLinear(op->getOperand(0));
  std::optional<Linear> b = getLinear(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (kind != OpKind::Mul) {
    a->add(*b, kind == OpKind::Add ? 1 : -1);
    return a;
  }
  auto isConstant = [](const Linear &linear) {
    return linear.isUniform() && linear.terms.empty();
  };
  if (isConstant(*a))
    std::swap(a, b);
  if (!isConstant(*b))
    return std::nullopt;
  Linear product;
  product.add(*a, b->constant);
  return product;
}
