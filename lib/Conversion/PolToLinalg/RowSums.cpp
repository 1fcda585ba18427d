//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums over rows, in two stages.

#include "RowSums.h"
#include "Loops.h"
#include "TileSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
class RowSums {
public:
  RowSums(Location loc, int64_t sumBlock, FloatType type, Value partials,
          AddendFn addend)
      : loc(loc), sumBlock(sumBlock), type(type), partials(partials),
        addend(addend) {}

  void build(OpBuilder &builder, Value array, Value sums);

private:
  void buildBlock(OpBuilder &builder, Value block, Value tile);
  void buildTotal(OpBuilder &builder, Value sums, Value column);

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Location loc;
  int64_t sumBlock;
  FloatType type;
  Value partials;
  AddendFn addend;
  SmallVector<Value> leading;
  Value numRows;
  Value rowsPerBlock;
  Value length;
};
} // namespace

/// Sums a tile of columns over a block of rows.
void RowSums::buildBlock(OpBuilder &builder, Value block, Value tile) {
  TileSums tileSums(builder, loc, type, sumBlock);
  IndexRange rows;
  rows.begin = arith::MulIOp::create(builder, loc, block, rowsPerBlock);
  rows.end =
      buildMin(builder, loc, numRows,
               arith::AddIOp::create(builder, loc, rows.begin, rowsPerBlock));
  Value first = arith::MulIOp::create(builder, loc, tile,
                                      constant(builder, kTileColumns));
  SmallVector<Value> indices;
  auto accumulate = [&](OpBuilder &b) {
    tileSums.add(
        b, {rows, nullptr},
        [&](OpBuilder &outer, Value row) {
          indices = getRowIndices(outer, loc, row, leading);
          return Value();
        },
        [&](OpBuilder &inner, Value, Value column) {
          return addend(inner, indices, column);
        });
  };
  tileSums.buildTile(builder, first, length, accumulate,
                     [&](OpBuilder &b, Value column, Value sum) {
                       FloatBuilder{b, loc, type}.store(
                           sum, partials, ValueRange{block, column});
                     });
}

/// The sum of a column of the partials: zero if there are none.
void RowSums::buildTotal(OpBuilder &builder, Value sums, Value column) {
  Value sum =
      buildBlockedSum(builder, loc, getExtent(builder, loc, partials, 0),
                      sumBlock, type, [&](OpBuilder &b, Location, Value block) {
                        return FloatBuilder{b, loc, type}.load(
                            partials, ValueRange{block, column});
                      });
  FloatBuilder{builder, loc, type}.store(sum, sums, column);
}

void RowSums::build(OpBuilder &builder, Value array, Value sums) {
  numRows = constant(builder, 1);
  for (OpFoldResult extent : getLeadingExtents(builder, loc, array, 1)) {
    leading.push_back(getValueOrCreateConstantIndexOp(builder, loc, extent));
    numRows = builder.createOrFold<arith::MulIOp>(loc, numRows, leading.back());
  }
  rowsPerBlock = buildRowsPerBlock(builder, loc,
                                   getLeadingExtents(builder, loc, array, 1));
  int64_t rank = cast<MemRefType>(array.getType()).getRank();
  OpFoldResult columns = getExtent(builder, loc, array, rank - 1);
  length = getValueOrCreateConstantIndexOp(builder, loc, columns);
  Value tiles = builder.createOrFold<arith::CeilDivUIOp>(
      loc, length, constant(builder, kTileColumns));
  buildParallelLoop(builder, loc, {getExtent(builder, loc, partials, 0), tiles},
                    [&](OpBuilder &b, Location, ValueRange indices) {
                      buildBlock(b, indices[0], indices[1]);
                    });
  buildParallelLoop(builder, loc, columns,
                    [&](OpBuilder &b, Location, ValueRange column) {
                      buildTotal(b, sums, column.front());
                    });
}

void mlir::pol::buildRowSums(OpBuilder &builder, Location loc, Value array,
                             int64_t sumBlock, FloatType type, Value partials,
                             Value sums, AddendFn addend) {
  RowSums(loc, sumBlock, type, partials, addend).build(builder, array, sums);
}
