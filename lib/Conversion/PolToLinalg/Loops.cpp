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
  int64_t leading = cast<MemRefType>(array.getType()).getRank() - 1;
  if (leading == 0) {
    body(builder, loc, ValueRange());
    return;
  }
  SmallVector<Value> extents;
  for (int64_t i = 0; i < leading; ++i)
    extents.push_back(getValueOrCreateConstantIndexOp(
        builder, loc, getExtent(builder, loc, array, i)));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  scf::ParallelOp::create(builder, loc, SmallVector<Value>(leading, zero),
                          extents, SmallVector<Value>(leading, one), body);
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

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

using CombineFn = function_ref<Value(OpBuilder &, Location, Value, Value)>;

/// Folds the elements of each block into `initial`, and so the results of the
/// blocks.
static Value buildBlockedReduction(OpBuilder &builder, Location loc,
                                   OpFoldResult length, int64_t block,
                                   Value initial, CombineFn combine,
                                   ElementFn element) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value step = arith::ConstantIndexOp::create(builder, loc, block);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, length);
  std::optional<int64_t> known = getConstantIntValue(length);
  bool hasTail = !known || *known % block != 0;

  auto reduceBlock = [&](OpBuilder &outer, Location, Value begin,
                         ValueRange whole) {
    // What is left is taken rather than where the block would end, which might
    // not be representable.
    Value size = step;
    if (hasTail)
      size = arith::MinSIOp::create(
          outer, loc, step, arith::SubIOp::create(outer, loc, end, begin));
    auto part = scf::ForOp::create(
        outer, loc, zero, size, one, initial,
        [&](OpBuilder &inner, Location, Value i, ValueRange running) {
          Value index = arith::AddIOp::create(inner, loc, begin, i);
          Value value = element(inner, loc, index);
          scf::YieldOp::create(inner, loc,
                               combine(inner, loc, running.front(), value));
        });
    scf::YieldOp::create(outer, loc,
                         combine(outer, loc, whole.front(), part.getResult(0)));
  };
  return scf::ForOp::create(builder, loc, zero, end, step, initial, reduceBlock)
      .getResult(0);
}

Value mlir::pol::buildBlockedSum(OpBuilder &builder, Location loc,
                                 OpFoldResult length, int64_t block,
                                 FloatType type, ElementFn element) {
  auto add = [](OpBuilder &b, Location l, Value whole, Value part) -> Value {
    return arith::AddFOp::create(b, l, whole, part);
  };
  return buildBlockedReduction(builder, loc, length, block,
                               getFloatConstant(builder, loc, type, 0.0), add,
                               element);
}

Value mlir::pol::buildBlockedMax(OpBuilder &builder, Location loc,
                                 OpFoldResult length, int64_t block,
                                 Value initial, ElementFn element) {
  auto max = [](OpBuilder &b, Location l, Value whole, Value part) -> Value {
    return arith::MaximumFOp::create(b, l, whole, part);
  };
  return buildBlockedReduction(builder, loc, length, block, initial, max,
                               element);
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
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  assert(from != to && "expected a wider or a narrower type");
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  // No target has f64 to bf16, nor has the compiler's support library. The
  // detour rounds twice, which is off by at most 2^-16 of a last place more.
  if (from == 64 && type.isBF16())
    value = arith::TruncFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, value);
}
