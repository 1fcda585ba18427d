//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"

#include "Parser.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace mlir::pol::mask;

//===----------------------------------------------------------------------===//
// Linear expressions, bounds and atoms
//===----------------------------------------------------------------------===//

/// a + b * times, modulo 2^64.
static int64_t addTimes(int64_t a, int64_t b, int64_t times) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) *
                                  static_cast<uint64_t>(times));
}

void Linear::add(const Linear &other, int64_t times) {
  query = addTimes(query, other.query, times);
  key = addTimes(key, other.key, times);
  constant = addTimes(constant, other.constant, times);
  for (auto [value, factor] : other.terms) {
    auto *found = llvm::find_if(
        terms, [&, v = value](const auto &term) { return term.first == v; });
    if (found == terms.end())
      found = &terms.emplace_back(value, 0);
    found->second = addTimes(found->second, factor, times);
  }
  llvm::erase_if(terms, [](const auto &term) { return term.second == 0; });
}

bool Linear::operator==(const Linear &other) const {
  return query == other.query && key == other.key &&
         constant == other.constant && terms == other.terms;
}

bool Bound::operator==(const Bound &other) const {
  return variable == other.variable && isUpper == other.isUpper &&
         above == other.above && below == other.below && offset == other.offset;
}

bool Atom::operator==(const Atom &other) const {
  return bound == other.bound && value == other.value &&
         isNegated == other.isNegated;
}

Number mlir::pol::mask::getSum(Numbers &numbers, const Linear &linear,
                               function_ref<Number(Value)> getTerm) {
  Number sum = 0;
  for (auto [value, factor] : linear.terms) {
    Number term = getTerm(value);
    sum = factor == -1 ? numbers.sub(sum, term)
                       : numbers.add(sum, numbers.mul(term, Number(factor)));
  }
  return numbers.add(sum, linear.constant);
}

//===----------------------------------------------------------------------===//
// Formula
//===----------------------------------------------------------------------===//

/// Whether an index of a load is within the array, whatever it is loaded for:
/// batches and heads are those of the arrays.
static bool isAlwaysWithin(Operation *load, unsigned number) {
  Value index = load->getOperand(number + 1);
  if (auto argument = dyn_cast<BlockArgument>(index))
    return argument.getArgNumber() == Batch || argument.getArgNumber() == Head;
  auto type = dyn_cast<ShapedType>(load->getOperand(0).getType());
  std::optional<int64_t> constant = getConstant(index);
  return type && constant && !type.isDynamicDim(number) && *constant >= 0 &&
         *constant < type.getDimSize(number);
}

/// Whether what is emitted of an op may be computed where the mask itself is
/// not.
static bool isSafe(Operation *op, Dependences &dependences) {
  switch (getKind(op)) {
  case OpKind::Load:
    for (unsigned i = 0, e = op->getNumOperands() - 1; i < e; ++i)
      if (dependences.isUniform(op->getOperand(i + 1)) &&
          !isAlwaysWithin(op, i))
        return false;
    return true;
  case OpKind::Div:
  case OpKind::DivU:
  case OpKind::FloorDiv:
  case OpKind::CeilDiv:
  case OpKind::CeilDivU:
  case OpKind::Rem:
  case OpKind::RemU: {
    // Of the others, only quotients by positive numbers are emitted.
    std::optional<int64_t> divisor = getConstant(op->getOperand(1));
    return !dependences.isUniform(op->getResult(0)) ||
           (divisor && *divisor > 0);
  }
  default:
    return true;
  }
}

Formula::Formula(Block *mask) : block(mask), dependences(mask) {
  if (!mask) {
    kept.emplace_back();
    return;
  }
  Operation *terminator = mask->getTerminator();
  yield = terminator->getOperand(0);
  Parser parser(dependences, terminator->getLoc());
  kept = parser.parse(yield, /*isNegated=*/false);
  dropped = parser.parse(yield, /*isNegated=*/true);
  speculatable = llvm::all_of(mask->without_terminator(), [&](Operation &op) {
    return isSafe(&op, dependences);
  });
  interval = kept.size() <= 1;
  for (const Conjunction &conjunction : kept)
    for (const Atom &atom : conjunction)
      interval &= atom.bound ? parser.isNear(atom.bound->above) &&
                                   parser.isNear(atom.bound->below)
                             : dependences.isUniform(atom.value);
}
