//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pol::mask;

Value mlir::pol::mask::castToIndex(OpBuilder &builder, Location loc,
                                   Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return value;
  if (type.isInteger(1))
    return builder.createOrFold<arith::IndexCastUIOp>(
        loc, builder.getIndexType(), value);
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  value);
}

/// The loads of a constant at constant indices, of which one may vary.
static std::optional<Interval> foldLoads(Value array,
                                         ArrayRef<Interval> indices) {
  DenseElementsAttr elements;
  if (!matchPattern(array, m_Constant(&elements)) ||
      !elements.getElementType().isSignlessInteger())
    return std::nullopt;
  int64_t first = 0, count = 1, stride = 1;
  ArrayRef<int64_t> shape = elements.getType().getShape();
  for (auto [number, index] : llvm::enumerate(indices)) {
    if (!index.lo.isConstant() || !index.hi.isConstant() || index.lo.min < 0 ||
        index.hi.min >= shape[number] || index.lo.min > index.hi.min)
      return std::nullopt;
    first = first * shape[number] + index.lo.min;
    stride = index.hi.min > index.lo.min ? 1 : stride * shape[number];
    count = std::max(count, index.hi.min - index.lo.min + 1);
  }
  if (count == 1)
    stride = 1;
  bool isTruth = elements.getElementType().isInteger(1);
  int64_t least = Number::highest, greatest = Number::lowest;
  auto values = elements.getValues<APInt>();
  for (int64_t i = 0; i < count; ++i) {
    APInt element = values[first + i * stride];
    int64_t number = isTruth ? element.getZExtValue() : element.getSExtValue();
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
  return Interval(least, greatest);
}

/// The extent of an array.
static Number getExtent(Numbers &numbers, Value array, int64_t dimension) {
  auto type = cast<ShapedType>(array.getType());
  if (!type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  OpBuilder &builder = numbers.getBuilder();
  Location loc = numbers.getLoc();
  Value extent =
      isa<MemRefType>(type)
          ? builder.createOrFold<memref::DimOp>(loc, array, dimension)
          : builder.createOrFold<tensor::DimOp>(loc, array, dimension);
  return Number(extent, 0, Number::highest);
}

namespace {
/// A loop over the values of each index that varies, in turn, that carries the
/// least and the greatest element.
struct LoadLoops {
  Numbers &numbers;
  Value array;
  ArrayRef<bool> varies;
  /// First, and after the last.
  SmallVector<Value> begins, ends;
  SmallVector<Value> at;
  Value one;

  SmallVector<Value> emit(OpBuilder &builder, ValueRange found);
  SmallVector<Value> load(OpBuilder &builder, ValueRange found);
};
} // namespace

SmallVector<Value> LoadLoops::load(OpBuilder &builder, ValueRange found) {
  Location loc = numbers.getLoc();
  Value element = isa<MemRefType>(array.getType())
                      ? Value(memref::LoadOp::create(builder, loc, array, at))
                      : tensor::ExtractOp::create(builder, loc, array, at);
  element = castToIndex(builder, loc, element);
  return {arith::MinSIOp::create(builder, loc, found[0], element),
          arith::MaxSIOp::create(builder, loc, found[1], element)};
}

SmallVector<Value> LoadLoops::emit(OpBuilder &builder, ValueRange found) {
  while (at.size() < begins.size() && !varies[at.size()])
    at.push_back(begins[at.size()]);
  if (at.size() == begins.size())
    return load(builder, found);
  Location loc = numbers.getLoc();
  size_t number = at.size();
  auto loop = scf::ForOp::create(
      builder, loc, begins[number], ends[number], one, found,
      [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
        at.push_back(index);
        scf::YieldOp::create(inner, loc, emit(inner, carried));
      });
  at.resize(number);
  return loop.getResults();
}

Interval mlir::pol::mask::emitLoads(Numbers &numbers, Value array,
                                    ArrayRef<Interval> indices,
                                    ArrayRef<bool> varies, Interval full) {
  SmallVector<Interval> clipped;
  Condition hasVarying = false, isRow = true;
  for (auto [number, index] : llvm::enumerate(indices)) {
    clipped.push_back(index);
    if (!varies[number])
      continue;
    Number last = numbers.sub(getExtent(numbers, array, number), 1);
    clipped.back() = {numbers.max(index.lo, 0), numbers.min(index.hi, last)};
    Condition moves = numbers.lt(clipped.back().lo, clipped.back().hi);
    isRow =
        numbers.both(isRow, numbers.negate(numbers.both(hasVarying, moves)));
    hasVarying = numbers.either(hasVarying, moves);
  }
  if (isRow.isFalse())
    return full;
  if (std::optional<Interval> folded = foldLoads(array, clipped))
    return *folded;
  LoadLoops loops{numbers, array, varies, {}, {}, {}, Value()};
  loops.one = numbers.get(Number(1));
  for (auto [number, index] : llvm::enumerate(clipped)) {
    loops.begins.push_back(numbers.get(index.lo));
    // No loads, where they would be of more than a row.
    Number end = varies[number]
                     ? numbers.select(isRow, numbers.add(index.hi, 1), index.lo)
                     : index.lo;
    loops.ends.push_back(numbers.get(end));
  }
  Value least = numbers.get(full.hi), greatest = numbers.get(full.lo);
  SmallVector<Value> found =
      loops.emit(numbers.getBuilder(), {least, greatest});
  return {numbers.select(isRow, Number(found[0], full.lo.min, full.hi.max),
                         full.lo),
          numbers.select(isRow, Number(found[1], full.lo.min, full.hi.max),
                         full.hi)};
}
