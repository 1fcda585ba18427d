//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reverse-mode differentiation of regions of scalar ops.

#include "pol/Differentiation/ReverseMode.h"

#include "DerivativeBuilder.h"
#include "mlir/IR/Matchers.h"
#include "pol/IR/RegionActivity.h"

using namespace mlir;
using namespace mlir::pol;

Value mlir::pol::buildRegion(OpBuilder &builder, Region &region,
                             ValueRange arguments, IRMapping &mapping) {
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// Whether a product with this value, or a quotient by it, is 0 where the other
/// operand is: it is a finite constant, or an integer that became a float and
/// is none too large for that.
static bool isHarmlessFactor(Value value, bool isDivisor) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Type integer = getElementTypeOrSelf(op->getOperand(0));
    return !isDivisor && !getElementTypeOrSelf(value).isF16() &&
           integer.getIntOrFloatBitWidth() <= 64;
  }
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         constant.getValue().isFinite() &&
         !(isDivisor && constant.getValue().isZero());
}

/// Whether a value is 0 wherever a cotangent is that it was computed from. It
/// looks at a few ops of the kind that derivatives are made of.
static bool isZeroWith(Value value, Value cotangent, unsigned depth = 4) {
  if (value == cotangent || matchPattern(value, m_AnyZeroFloat()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto recurse = [&](unsigned operand) {
    return isZeroWith(op->getOperand(operand), cotangent, depth - 1);
  };
  if (isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op))
    return recurse(0);
  if (isa<arith::SelectOp>(op))
    return recurse(1) && recurse(2);
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return isHarmlessFactor(op->getOperand(1), isa<arith::DivFOp>(op)) &&
           recurse(0);
  return false;
}

namespace {
/// The cotangents of the values of a region, built from its last op to its
/// first.
class ReverseSweep {
public:
  ReverseSweep(OpBuilder &builder, Region &region, const IRMapping &mapping,
               ArrayRef<unsigned> wanted)
      : builder(builder), block(region.front()), mapping(mapping),
        activity(region, wanted) {}

  /// Adds to what a value of the region has. A cotangent may be of a wider type
  /// than the value.
  void add(Location loc, Value primal, Value cotangent);
  /// The cotangent of a value, null if there is none.
  Value getWide(Value primal) const { return cotangents.lookup(primal); }
  /// The same in the value's type.
  Value get(Location loc, Value primal);
  /// Adds an op's share to the cotangents of its operands.
  void differentiate(Operation *op);
  /// Goes through all ops; collects the loads.
  void run(SmallVectorImpl<RegionGradient::Load> &loads);

private:
  SmallVector<Value> lookUp(ValueRange values) const;
  Value guard(Location loc, ArrayRef<Value> results, Value cotangent);

  OpBuilder &builder;
  Block &block;
  const IRMapping &mapping;
  RegionActivity activity;
  DenseMap<Value, Value> cotangents;
};
} // namespace

/// Extends or truncates a float.
static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  return value;
}

void ReverseSweep::add(Location loc, Value primal, Value cotangent) {
  if (!cotangent || !activity.isActive(primal))
    return;
  Value &sum = cotangents[primal];
  if (!sum) {
    sum = cotangent;
    return;
  }
  if (getElementTypeOrSelf(sum).getIntOrFloatBitWidth() <
      getElementTypeOrSelf(cotangent).getIntOrFloatBitWidth())
    sum = convert(builder, loc, sum, cotangent.getType());
  cotangent = convert(builder, loc, cotangent, sum.getType());
  sum = arith::AddFOp::create(builder, loc, sum, cotangent);
}

Value ReverseSweep::get(Location loc, Value primal) {
  Value cotangent = getWide(primal);
  return cotangent ? convert(builder, loc, cotangent, primal.getType())
                   : Value();
}

SmallVector<Value> ReverseSweep::lookUp(ValueRange values) const {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Makes an operand's cotangent 0 where those of all results are 0: the
/// derivative may be infinite or NaN there.
Value ReverseSweep::guard(Location loc, ArrayRef<Value> results,
                          Value cotangent) {
  if (!cotangent ||
      (results.size() == 1 && isZeroWith(cotangent, results.front())))
    return cotangent;
  Value isZero;
  for (Value result : results) {
    if (!result)
      continue;
    DerivativeBuilder d(builder, loc, result.getType());
    Value isThisZero = d.equalsZero(result);
    isZero = isZero ? d.create<arith::AndIOp>(isZero, isThisZero) : isThisZero;
  }
  DerivativeBuilder d(builder, loc, cotangent.getType());
  return d.select(isZero, d.constant(0.0), cotangent);
}

void ReverseSweep::differentiate(Operation *op) {
  Location loc = op->getLoc();
  // Nothing is rounded between a wider type and the load of a narrower one.
  if (isa<arith::ExtFOp>(op)) {
    add(loc, op->getOperand(0), getWide(op->getResult(0)));
    return;
  }
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return;
  SmallVector<Value> results, operands, values;
  for (Value result : op->getResults())
    results.push_back(get(loc, result));
  if (llvm::none_of(results, [](Value value) { return bool(value); }))
    return;
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(activity.isActive(operand));
  operands = lookUp(op->getOperands());
  values = lookUp(op->getResults());
  SmallVector<Value> given = differentiable.buildDerivative(
      builder, {operands, values, results, wanted});
  for (auto [operand, cotangent] : llvm::zip(op->getOperands(), given))
    if (activity.isActive(operand))
      add(loc, operand, guard(loc, results, cotangent));
}

void ReverseSweep::run(SmallVectorImpl<RegionGradient::Load> &loads) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (!activity.isActive(&op))
      continue;
    std::optional<unsigned> array = getLoadedArgument(&op);
    if (!array) {
      differentiate(&op);
      continue;
    }
    // The array comes before the indices.
    if (Value cotangent = getWide(op.getResult(0)))
      loads.push_back(
          {&op, *array, lookUp(op.getOperands().drop_front()), cotangent});
  }
  std::reverse(loads.begin(), loads.end());
}

RegionGradient mlir::pol::buildRegionGradient(OpBuilder &builder,
                                              Region &region,
                                              const IRMapping &mapping,
                                              Value seed, bool wantsInput,
                                              ArrayRef<unsigned> captures) {
  SmallVector<unsigned> wanted(captures);
  if (wantsInput)
    wanted.push_back(0);
  Block &block = region.front();
  Operation *terminator = block.getTerminator();
  Location loc = terminator->getLoc();
  Value yielded = terminator->getOperand(0);

  RegionGradient gradient;
  gradient.value = mapping.lookupOrDefault(yielded);
  ReverseSweep sweep(builder, region, mapping, wanted);
  sweep.add(loc, yielded, seed);
  sweep.run(gradient.loads);
  if (wantsInput)
    gradient.input = sweep.get(loc, block.getArgument(0));
  for (unsigned number : captures)
    if (Value cotangent = sweep.getWide(block.getArgument(number)))
      gradient.loads.push_back({nullptr, number, {}, cotangent});
  return gradient;
}

RegionGradient mlir::pol::buildRegionGradient(OpBuilder &builder,
                                              Region &region,
                                              ValueRange arguments, Value seed,
                                              bool wantsInput,
                                              ArrayRef<unsigned> captures) {
  IRMapping mapping;
  buildRegion(builder, region, arguments, mapping);
  return buildRegionGradient(builder, region, mapping, seed, wantsInput,
                             captures);
}
