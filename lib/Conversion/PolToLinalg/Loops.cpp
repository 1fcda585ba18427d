//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows, blocked reductions and conversions of floats.

#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void mlir::pol::buildRowLoop(OpBuilder &builder, Location loc, Value array,
                             RowBodyFn body) {
  buildParallelLoop(builder, loc, getLeadingExtents(builder, loc, array, 1),
                    body);
}

Value mlir::pol::getRow(OpBuilder &builder, Location loc, Value array,
                        ValueRange leadingIndices, OpFoldResult length) {
  auto type = cast<MemRefType>(array.getType());
  int64_t leading = type.getRank() - 1;
  if (leading == 0)
    return array;
  OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(leadingIndices);
  SmallVector<OpFoldResult> sizes(leading, one);
  SmallVector<OpFoldResult> strides(leading + 1, one);
  offsets.push_back(zero);
  sizes.push_back(length);
  MemRefType row = memref::SubViewOp::inferRankReducedResultType(
      getConstantIntValue(length).value_or(ShapedType::kDynamic), type, offsets,
      sizes, strides);
  return memref::SubViewOp::create(builder, loc, row, array, offsets, sizes,
                                   strides);
}

SmallVector<Value> mlir::pol::getRowIndices(OpBuilder &builder, Location loc,
                                            Value row, ValueRange extents) {
  SmallVector<Value> indices(extents.size());
  for (size_t i = extents.size(); i-- > 1;) {
    indices[i] = arith::RemUIOp::create(builder, loc, row, extents[i]);
    row = arith::DivUIOp::create(builder, loc, row, extents[i]);
  }
  if (!indices.empty())
    indices.front() = row;
  return indices;
}

void mlir::pol::buildParallelLoop(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> extents,
                                  LoopBodyFn body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> ends;
  for (OpFoldResult extent : extents)
    ends.push_back(getValueOrCreateConstantIndexOp(builder, loc, extent));
  // A loop has at least one dimension.
  if (ends.empty())
    ends.push_back(one);
  scf::ParallelOp::create(builder, loc, SmallVector<Value>(ends.size(), zero),
                          ends, SmallVector<Value>(ends.size(), one),
                          [&](OpBuilder &inner, Location, ValueRange indices) {
                            body(inner, loc,
                                 indices.take_front(extents.size()));
                          });
}

void mlir::pol::buildLoop(OpBuilder &builder, Location loc, Value begin,
                          Value end, int64_t step, LoopBodyFn body) {
  Value stepValue = arith::ConstantIndexOp::create(builder, loc, step);
  scf::ForOp::create(builder, loc, begin, end, stepValue, ValueRange(),
                     [&](OpBuilder &inner, Location, Value index, ValueRange) {
                       body(inner, loc, index);
                       scf::YieldOp::create(inner, loc);
                     });
}

SmallVector<OpFoldResult> mlir::pol::getLeadingExtents(OpBuilder &builder,
                                                       Location loc,
                                                       Value array,
                                                       int64_t numTrailing) {
  SmallVector<OpFoldResult> extents;
  int64_t rank = cast<MemRefType>(array.getType()).getRank();
  for (int64_t i = 0; i < rank - numTrailing; ++i)
    extents.push_back(getExtent(builder, loc, array, i));
  return extents;
}

Value mlir::pol::buildMin(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}

Value mlir::pol::buildMax(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
}

Value mlir::pol::buildWhereKept(OpBuilder &builder, Location loc,
                                const KeptRange &kept, Value index,
                                Value otherwise,
                                function_ref<Value(OpBuilder &)> body) {
  if (!kept.isKept)
    return body(builder);
  auto choice = scf::IfOp::create(
      builder, loc, kept.isKept(builder, index),
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, body(b)); },
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, otherwise); });
  return choice.getResult(0);
}

Value mlir::pol::loadWithin(OpBuilder &builder, Location loc, Value array,
                            ValueRange indices, Value least, Value most) {
  Value element = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      memref::LoadOp::create(builder, loc, array, indices));
  return buildMin(builder, loc, buildMax(builder, loc, element, least), most);
}

IndexRange mlir::pol::buildBlock(OpBuilder &builder, Location loc, Value begin,
                                 Value end, int64_t size) {
  Value left = arith::SubIOp::create(builder, loc, end, begin);
  Value most = arith::ConstantIndexOp::create(builder, loc, size);
  Value length = buildMin(builder, loc, most, left);
  return {begin, arith::AddIOp::create(builder, loc, begin, length)};
}

void mlir::pol::forEachKept(OpBuilder &builder, Location loc,
                            const KeptRange &kept,
                            function_ref<void(OpBuilder &, Value)> body) {
  auto visit = [&](OpBuilder &b, Location, ValueRange index) {
    if (!kept.isKept)
      return body(b, index.front());
    auto isKept =
        scf::IfOp::create(b, loc, kept.isKept(b, index.front()), false);
    OpBuilder inner = isKept.getThenBodyBuilder();
    body(inner, index.front());
  };
  buildLoop(builder, loc, kept.range.begin, kept.range.end, 1, visit);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Compensated Compensated::zero(OpBuilder &builder, Location loc,
                              FloatType type) {
  Value zero = getFloatConstant(builder, loc, type, 0.0);
  return {zero, zero};
}

Compensated Compensated::add(OpBuilder &builder, Location loc,
                             Value addend) const {
  FloatBuilder floats{builder, loc,
                      cast<FloatType>(getElementTypeOrSelf(sum.getType()))};
  Value newSum = floats.add(sum, addend);
  Value addendPart = floats.subtract(newSum, sum);
  Value sumPart = floats.subtract(newSum, addendPart);
  Value lost = floats.add(floats.subtract(sum, sumPart),
                          floats.subtract(addend, addendPart));
  return {newSum, floats.add(rest, lost)};
}

Value Compensated::get(OpBuilder &builder, Location loc) const {
  FloatBuilder floats{builder, loc,
                      cast<FloatType>(getElementTypeOrSelf(sum.getType()))};
  return arith::SelectOp::create(builder, loc, buildIsFinite(builder, loc, sum),
                                 floats.add(sum, rest), sum);
}

Value mlir::pol::buildIsFinite(OpBuilder &builder, Location loc, Value value) {
  Value difference = arith::SubFOp::create(builder, loc, value, value);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD,
                               difference, difference);
}

/// Combines an initial value with the elements from `begin` to `end`, one after
/// the other.
template <typename CombineOp>
static Value buildFold(OpBuilder &builder, Location loc, Value begin, Value end,
                       Value initial, ElementFn element) {
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, arith::ConstantIndexOp::create(builder, loc, 1),
      initial, [&](OpBuilder &b, Location, Value index, ValueRange running) {
        Value next = element(b, loc, index);
        Value result = CombineOp::create(b, loc, running.front(), next);
        scf::YieldOp::create(b, loc, result);
      });
  return loop.getResult(0);
}

static Value buildPlainSum(OpBuilder &builder, Location loc, Value begin,
                           Value end, FloatType type, ElementFn element) {
  Value zero = getFloatConstant(builder, loc, type, 0.0);
  return buildFold<arith::AddFOp>(builder, loc, begin, end, zero, element);
}

/// Adds the sums of blocks. `isWhole`: the last one is as long as the others.
static Compensated addBlocks(OpBuilder &builder, Location loc,
                             Compensated initial, IndexRange range,
                             int64_t block, bool isWhole, ElementFn element) {
  auto type = cast<FloatType>(initial.sum.getType());
  Value step = arith::ConstantIndexOp::create(builder, loc, block);
  auto sumBlock = [&](OpBuilder &b, Value begin) -> Value {
    IndexRange part{begin, Value()};
    if (isWhole)
      part.end = arith::AddIOp::create(b, loc, begin, step);
    else
      part = buildBlock(b, loc, begin, range.end, block);
    return buildPlainSum(b, loc, part.begin, part.end, type, element);
  };
  auto loop = scf::ForOp::create(
      builder, loc, range.begin, range.end, step,
      ValueRange{initial.sum, initial.rest},
      [&](OpBuilder &b, Location, Value begin, ValueRange running) {
        Compensated sum{running[0], running[1]};
        sum = sum.add(b, loc, sumBlock(b, begin));
        scf::YieldOp::create(b, loc, ValueRange{sum.sum, sum.rest});
      });
  return {loop.getResult(0), loop.getResult(1)};
}

Value mlir::pol::buildBlockedSum(OpBuilder &builder, Location loc,
                                 OpFoldResult length, int64_t block,
                                 FloatType type, ElementFn element) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, length);
  std::optional<int64_t> known = getConstantIntValue(length);
  if (known && *known <= block)
    return buildPlainSum(builder, loc, zero, end, type, element);
  Compensated sum =
      addBlocks(builder, loc, Compensated::zero(builder, loc, type),
                {zero, end}, block, known && *known % block == 0, element);
  return sum.get(builder, loc);
}

Compensated mlir::pol::addBlockedSum(OpBuilder &builder, Location loc,
                                     Compensated sum, IndexRange range,
                                     int64_t block, ElementFn element) {
  return addBlocks(builder, loc, sum, range, block, /*isWhole=*/false, element);
}

Value mlir::pol::buildMaximum(OpBuilder &builder, Location loc,
                              IndexRange range, Value initial,
                              ElementFn element) {
  return buildFold<arith::MaximumFOp>(builder, loc, range.begin, range.end,
                                      initial, element);
}

Value mlir::pol::buildMaximum(OpBuilder &builder, Location loc,
                              OpFoldResult length, Value initial,
                              ElementFn element) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, length);
  return buildMaximum(builder, loc, IndexRange{zero, end}, initial, element);
}

Value mlir::pol::buildMagnitude(OpBuilder &builder, Location loc,
                                OpFoldResult length, FloatType type,
                                ElementFn element) {
  return buildMaximum(
      builder, loc, length, getFloatConstant(builder, loc, type, 0.0),
      [&](OpBuilder &b, Location, Value index) -> Value {
        return math::AbsFOp::create(b, loc, element(b, loc, index));
      });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Value mlir::pol::getFloatConstant(OpBuilder &builder, Location loc,
                                  FloatType type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value mlir::pol::convertFloat(OpBuilder &builder, Location loc, Value value,
                              Type type) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  assert(from != to && "expected a wider or a narrower type");
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  // No target has f64 to bf16, nor has the compiler's support library. The
  // detour rounds twice, which is off by at most 2^-16 of a last place more.
  if (from == 64 && getElementTypeOrSelf(type).isBF16()) {
    Type single = builder.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      single = vector.clone(single);
    value = arith::TruncFOp::create(builder, loc, single, value);
  }
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value FloatBuilder::add(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

Value FloatBuilder::subtract(Value lhs, Value rhs) {
  return arith::SubFOp::create(builder, loc, lhs, rhs);
}

Value FloatBuilder::multiply(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}

Value FloatBuilder::divide(Value lhs, Value rhs) {
  return arith::DivFOp::create(builder, loc, lhs, rhs);
}

Value FloatBuilder::exp(Value value) {
  return math::ExpOp::create(builder, loc, value);
}

Value FloatBuilder::fromIndex(OpFoldResult index) {
  Value value = getValueOrCreateConstantIndexOp(builder, loc, index);
  value = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(),
                                                   value);
  return builder.createOrFold<arith::SIToFPOp>(loc, type, value);
}

Value FloatBuilder::count(OpFoldResult length) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return fromIndex(
      buildMax(builder, loc,
               getValueOrCreateConstantIndexOp(builder, loc, length), one));
}

Value FloatBuilder::load(Value array, ValueRange indices) {
  return convertFloat(
      builder, loc, memref::LoadOp::create(builder, loc, array, indices), type);
}

void FloatBuilder::store(Value value, Value array, ValueRange indices) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  memref::StoreOp::create(
      builder, loc, convertFloat(builder, loc, value, element), array, indices);
}
