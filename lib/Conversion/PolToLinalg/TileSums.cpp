//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of vectors in tiles.

#include "TileSums.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pol;

TileSums::TileSums(OpBuilder &builder, Location loc, FloatType type,
                   int64_t block)
    : loc(loc), type(type), block(block) {
  auto tile = MemRefType::get(kTileColumns, type);
  sums = memref::AllocaOp::create(builder, loc, tile);
  rests = memref::AllocaOp::create(builder, loc, tile);
  blockSums = memref::AllocaOp::create(builder, loc, tile);
}

void TileSums::forEachColumn(OpBuilder &builder,
                             function_ref<void(OpBuilder &, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  buildLoop(builder, loc, zero, width, 1,
            [&](OpBuilder &inner, Location, ValueRange column) {
              body(inner, column.front());
            });
}

void TileSums::clear(OpBuilder &builder, Value tile) {
  Value zero = getFloatConstant(builder, loc, type, 0.0);
  forEachColumn(builder, [&](OpBuilder &inner, Value column) {
    memref::StoreOp::create(inner, loc, zero, tile, column);
  });
}

Compensated TileSums::load(OpBuilder &builder, Value column) {
  FloatBuilder floats{builder, loc, type};
  return {floats.load(sums, column), floats.load(rests, column)};
}

void TileSums::addIndex(OpBuilder &builder, Value index, FactorFn factor,
                        ElementFn element) {
  Value scale = factor(builder, index);
  forEachColumn(builder, [&](OpBuilder &inner, Value column) {
    FloatBuilder floats{inner, loc, type};
    Value at = arith::AddIOp::create(inner, loc, first, column);
    Value addend = element(inner, index, at);
    if (scale)
      addend = floats.multiply(scale, addend);
    floats.store(floats.add(floats.load(blockSums, column), addend), blockSums,
                 column);
  });
}

void TileSums::addBlock(OpBuilder &builder, const KeptRange &kept,
                        FactorFn factor, ElementFn element) {
  forEachKept(builder, loc, kept, [&](OpBuilder &b, Value index) {
    addIndex(b, index, factor, element);
  });
}

void TileSums::add(OpBuilder &builder, const KeptRange &kept, FactorFn factor,
                   ElementFn element) {
  IndexRange range = kept.range;
  auto addRange = [&](OpBuilder &outer, Location, ValueRange begin) {
    clear(outer, blockSums);
    IndexRange part = buildBlock(outer, loc, begin.front(), range.end, block);
    addBlock(outer, {part, kept.isKept}, factor, element);
    forEachColumn(outer, [&](OpBuilder &inner, Value column) {
      FloatBuilder floats{inner, loc, type};
      Compensated sum =
          load(inner, column).add(inner, loc, floats.load(blockSums, column));
      floats.store(sum.sum, sums, column);
      floats.store(sum.rest, rests, column);
    });
  };
  buildLoop(builder, loc, range.begin, range.end, block, addRange);
}

void TileSums::buildTile(OpBuilder &builder, Value firstColumn, Value length,
                         AccumulateFn accumulate, StoreFn store) {
  first = firstColumn;
  width = buildMin(builder, loc,
                   arith::ConstantIndexOp::create(builder, loc, kTileColumns),
                   arith::SubIOp::create(builder, loc, length, first));
  clear(builder, sums);
  clear(builder, rests);
  accumulate(builder);
  forEachColumn(builder, [&](OpBuilder &inner, Value column) {
    Value at = arith::AddIOp::create(inner, loc, first, column);
    store(inner, at, load(inner, column).get(inner, loc));
  });
}

void TileSums::build(OpBuilder &builder, Value length, AccumulateFn accumulate,
                     StoreFn store) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  buildLoop(builder, loc, zero, length, kTileColumns,
            [&](OpBuilder &inner, Location, ValueRange begin) {
              buildTile(inner, begin.front(), length, accumulate, store);
            });
}
