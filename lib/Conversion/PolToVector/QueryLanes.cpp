//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Queries as lanes, in a worker's part of the workspace.

#include "ScoreTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::pol;

Value ScoreTiles::getIndex(OpBuilder &builder, Value offset, Value row,
                           int64_t vector) const {
  Value begin = builder.createOrFold<arith::MulIOp>(
      loc, row, constant(builder, tiling.queries));
  Value at = builder.createOrFold<arith::AddIOp>(loc, offset, begin);
  return builder.createOrFold<arith::AddIOp>(
      loc, at, constant(builder, vector * tiling.lanes));
}

Value ScoreTiles::loadRow(OpBuilder &builder, Value worker, Value offset,
                          Value row, int64_t vector) {
  return vectors(builder).load(
      workspace, {worker, getIndex(builder, offset, row, vector)});
}

void ScoreTiles::storeRow(OpBuilder &builder, Value value, Value worker,
                          Value offset, Value row, int64_t vector) {
  vectors(builder).store(value, workspace,
                         {worker, getIndex(builder, offset, row, vector)});
}

void ScoreTiles::clearRows(OpBuilder &builder, Value worker, Value offset,
                           Value rows) {
  buildLoop(builder, loc, constant(builder, 0), rows, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              Value zero = vectors(b).constant(0.0);
              for (int64_t i = 0; i < tiling.vectors; ++i)
                storeRow(b, zero, worker, offset, row.front(), i);
            });
}

SmallVector<Value> ScoreTiles::getNumberPlace(OpBuilder &builder, Value worker,
                                              Value offset, Value row,
                                              Value lane) const {
  Value first = arith::AddIOp::create(builder, loc, offset, lane);
  return {worker, getIndex(builder, first, row, 0)};
}

SmallVector<Value> ScoreTiles::getQueryPlace(OpBuilder &builder,
                                             const QueryBlock &block,
                                             Value lane) const {
  Value row = arith::AddIOp::create(builder, loc, lane, block.row);
  if (block.sequence.firstRow)
    row = arith::AddIOp::create(builder, loc, row, block.sequence.firstRow);
  return {block.sequence.arrayBatch, block.head, row};
}

// Queries become lanes in squares of as many columns as there are lanes, and
// the columns that are left one by one.

Value ScoreTiles::getWholeColumns(OpBuilder &builder, Value array,
                                  Value columns) const {
  Value lanes = constant(builder, tiling.lanes);
  if (!hasVectorRows(array))
    return constant(builder, 0);
  return builder.createOrFold<arith::MulIOp>(
      loc, builder.createOrFold<arith::DivUIOp>(loc, columns, lanes), lanes);
}

/// Loops over squares: their first query and column.
void ScoreTiles::forEachSquare(
    OpBuilder &builder, Value queries, Value columns,
    function_ref<void(OpBuilder &, Value lane, Value column)> body) {
  Value zero = constant(builder, 0);
  buildLoop(builder, loc, zero, queries, tiling.lanes,
            [&](OpBuilder &outer, Location, ValueRange lane) {
              buildLoop(outer, loc, zero, columns, tiling.lanes,
                        [&](OpBuilder &b, Location, ValueRange column) {
                          body(b, lane.front(), column.front());
                        });
            });
}

void ScoreTiles::packQueries(OpBuilder &builder, const QueryBlock &block,
                             Value array, Value columns, Value worker,
                             Value offset) {
  Value queries = constant(builder, tiling.queries);
  Value last =
      arith::SubIOp::create(builder, loc, block.count, constant(builder, 1));
  Value whole = getWholeColumns(builder, array, columns);
  auto getRow = [&](OpBuilder &b, Value lane) {
    return getQueryPlace(b, block, buildMin(b, loc, lane, last));
  };
  auto add = [&](OpBuilder &b, Value value, int64_t number) -> Value {
    return arith::AddIOp::create(b, loc, value, constant(b, number));
  };
  auto packSquare = [&](OpBuilder &b, Value lane, Value column) {
    VectorBuilder v = vectors(b);
    SmallVector<Value> rows;
    for (int64_t i = 0; i < tiling.lanes; ++i)
      rows.push_back(v.load(array, append(getRow(b, add(b, lane, i)), column)));
    for (auto [i, vector] : llvm::enumerate(v.transpose(rows)))
      v.store(vector, workspace,
              getNumberPlace(b, worker, offset, add(b, column, i), lane));
  };
  auto packLane = [&](OpBuilder &outer, Location, ValueRange lane) {
    SmallVector<Value> row = getRow(outer, lane.front());
    buildLoop(outer, loc, whole, columns, 1,
              [&](OpBuilder &b, Location, ValueRange column) {
                FloatBuilder floats{b, loc, scores.getType()};
                Value element = floats.load(array, append(row, column.front()));
                floats.store(element, workspace,
                             getNumberPlace(b, worker, offset, column.front(),
                                            lane.front()));
              });
  };
  if (hasVectorRows(array))
    forEachSquare(builder, queries, whole, packSquare);
  buildLoop(builder, loc, constant(builder, 0), queries, 1, packLane);
}

void ScoreTiles::unpackQueries(OpBuilder &builder, const QueryBlock &block,
                               Value array, Value columns, Value worker,
                               Value offset, bool isAdded) {
  Value zero = constant(builder, 0);
  Value whole = getWholeColumns(builder, array, columns);
  Value lanes = constant(builder, tiling.lanes);
  Value wholeQueries = arith::MulIOp::create(
      builder, loc, arith::DivUIOp::create(builder, loc, block.count, lanes),
      lanes);
  auto add = [&](OpBuilder &b, Value value, int64_t number) -> Value {
    return arith::AddIOp::create(b, loc, value, constant(b, number));
  };
  auto unpackSquare = [&](OpBuilder &b, Value lane, Value column) {
    VectorBuilder v = vectors(b);
    SmallVector<Value> packed;
    for (int64_t i = 0; i < tiling.lanes; ++i)
      packed.push_back(
          v.load(workspace,
                 getNumberPlace(b, worker, offset, add(b, column, i), lane)));
    for (auto [i, row] : llvm::enumerate(v.transpose(packed))) {
      SmallVector<Value> place =
          append(getQueryPlace(b, block, add(b, lane, i)), column);
      v.store(isAdded ? v.add(v.load(array, place), row) : row, array, place);
    }
  };
  auto unpackLane = [&](OpBuilder &outer, Value lane, Value from) {
    SmallVector<Value> row = getQueryPlace(outer, block, lane);
    buildLoop(outer, loc, from, columns, 1,
              [&](OpBuilder &b, Location, ValueRange column) {
                FloatBuilder floats{b, loc, scores.getType()};
                SmallVector<Value> at = append(row, column.front());
                Value number = floats.load(
                    workspace,
                    getNumberPlace(b, worker, offset, column.front(), lane));
                if (isAdded)
                  number = floats.add(floats.load(array, at), number);
                floats.store(number, array, at);
              });
  };
  if (hasVectorRows(array))
    forEachSquare(builder, wholeQueries, whole, unpackSquare);
  buildLoop(builder, loc, zero, block.count, 1,
            [&](OpBuilder &b, Location, ValueRange lane) {
              Value isWhole =
                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        lane.front(), wholeQueries);
              Value from =
                  arith::SelectOp::create(b, loc, isWhole, whole, zero);
              unpackLane(b, lane.front(), from);
            });
}

SmallVector<Value> ScoreTiles::loadLanes(OpBuilder &builder,
                                         const QueryBlock &block, Value array,
                                         Value worker) {
  Value zero = constant(builder, 0);
  Value last =
      arith::SubIOp::create(builder, loc, block.count, constant(builder, 1));
  auto load = [&](OpBuilder &b, Location, ValueRange lane) {
    FloatBuilder floats{b, loc, scores.getType()};
    Value query = buildMin(b, loc, lane.front(), last);
    floats.store(floats.load(array, getQueryPlace(b, block, query)), workspace,
                 getNumberPlace(b, worker, scoresAt, zero, lane.front()));
  };
  buildLoop(builder, loc, zero, constant(builder, tiling.queries), 1, load);
  SmallVector<Value> values;
  for (int64_t i = 0; i < tiling.vectors; ++i)
    values.push_back(loadRow(builder, worker, scoresAt, zero, i));
  return values;
}

void ScoreTiles::storeLanes(OpBuilder &builder, const QueryBlock &block,
                            ArrayRef<Value> values, Value array, Value worker) {
  Value zero = constant(builder, 0);
  for (auto [i, vector] : llvm::enumerate(values))
    storeRow(builder, vector, worker, scoresAt, zero, i);
  buildLoop(
      builder, loc, zero, block.count, 1,
      [&](OpBuilder &b, Location, ValueRange lane) {
        FloatBuilder floats{b, loc, scores.getType()};
        Value number = floats.load(
            workspace, getNumberPlace(b, worker, scoresAt, zero, lane.front()));
        floats.store(number, array, getQueryPlace(b, block, lane.front()));
      });
}
