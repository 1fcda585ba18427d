//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of attention's gradients: over keys, and over queries.

#include "AttentionGrad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pol;

/// dq += ds · k
void Backward::addQueries(OpBuilder &builder, Value worker,
                          const QueryBlock &block, const KeyTile &tile,
                          ScoreTiles::SumFn sum) {
  (tiles.*sum)(builder, block, tile, worker,
               {op.getK(), scores.depth, gradientsAt},
               [&](OpBuilder &b, Value column, int64_t i, Value added) {
                 Value before = tiles.loadRow(b, worker, resultAt, column, i);
                 tiles.storeRow(b, tiles.vectors(b).add(before, added), worker,
                                resultAt, column, i);
               });
}

void Backward::clearQuerySums(OpBuilder &builder, Value worker,
                              const WorkItem &item) {
  if (!isDqWide)
    return tiles.clearRows(builder, worker, totalAt, scores.depth);
  auto clear = [&](OpBuilder &outer, Value head, Value number) {
    QueryBlock block = tiles.getBlock(outer, item.sequence, head, number);
    buildLoop(outer, loc, constant(outer, 0), block.count, 1,
              [&](OpBuilder &b, Location, ValueRange lane) {
                tiles.clearRow(b, op.getDq(),
                               tiles.getQueryPlace(b, block, lane.front()),
                               scores.depth);
              });
  };
  buildLoop(builder, loc, item.heads.begin, item.heads.end, 1,
            [&](OpBuilder &outer, Location, ValueRange head) {
              buildLoop(outer, loc, item.blocks.begin, item.blocks.end, 1,
                        [&](OpBuilder &b, Location, ValueRange number) {
                          clear(b, head.front(), number.front());
                        });
            });
}

/// Adds a chunk's sums to dq.
void Backward::addQuerySums(OpBuilder &builder, Value worker,
                            const QueryBlock &block) {
  Value zero = constant(builder, 0);
  if (!isDqWide) {
    auto addRow = [&](OpBuilder &b, Location, ValueRange column) {
      for (int64_t i = 0; i < tiling.vectors; ++i) {
        Value sum = tiles.vectors(b).add(
            tiles.loadRow(b, worker, totalAt, column.front(), i),
            tiles.loadRow(b, worker, resultAt, column.front(), i));
        tiles.storeRow(b, sum, worker, totalAt, column.front(), i);
      }
    };
    return buildLoop(builder, loc, zero, scores.depth, 1, addRow);
  }
  tiles.unpackQueries(builder, block, op.getDq(), scores.depth, worker,
                      resultAt, /*isAdded=*/true);
}

SmallVector<Value> Backward::getSum(OpBuilder &builder, Value worker,
                                    const WorkItem &chunk,
                                    const KeyGradient &gradient, SumKind kind,
                                    Value key, Value column) {
  Value row = arith::SubIOp::create(builder, loc, key, chunk.keys.begin);
  Value before = arith::MulIOp::create(
      builder, loc, summedKeys, constant(builder, static_cast<int64_t>(kind)));
  row = arith::AddIOp::create(builder, loc, row, before);
  Value at = arith::AddIOp::create(
      builder, loc, gradient.sumsAt,
      arith::MulIOp::create(builder, loc, row, gradient.columns));
  return {worker, arith::AddIOp::create(builder, loc, at, column)};
}

/// Runs the body for the vectors of a chunk's sums.
void Backward::forEachSum(
    OpBuilder &builder, const WorkItem &chunk,
    function_ref<void(VectorBuilder &, const KeyGradient &, Value key,
                      Value column, Value mask)>
        body) {
  for (KeyGradient &gradient : keyGradients)
    buildLoop(builder, loc, chunk.keys.begin, chunk.keys.end, 1,
              [&](OpBuilder &b, Location, ValueRange key) {
                gradient.rows.forEachVector(
                    b, [&](VectorBuilder &v, Value column, Value mask) {
                      body(v, gradient, key.front(), column, mask);
                    });
              });
}

void Backward::clearKeySums(OpBuilder &builder, Value worker,
                            const WorkItem &chunk) {
  forEachSum(
      builder, chunk,
      [&](VectorBuilder &v, const KeyGradient &gradient, Value key,
          Value column, Value mask) {
        for (SumKind kind : {SumKind::Part, SumKind::All, SumKind::Rest})
          v.store(v.constant(0.0), tiles.workspace,
                  getSum(v.builder, worker, chunk, gradient, kind, key, column),
                  mask);
      });
}

/// Adds what some blocks of queries have summed to what others have.
void Backward::addParts(OpBuilder &builder, Value worker,
                        const WorkItem &chunk) {
  forEachSum(
      builder, chunk,
      [&](VectorBuilder &v, const KeyGradient &gradient, Value key,
          Value column, Value mask) {
        auto at = [&](SumKind kind) {
          return getSum(v.builder, worker, chunk, gradient, kind, key, column);
        };
        auto load = [&](SumKind kind) {
          return v.load(tiles.workspace, at(kind), mask);
        };
        auto store = [&](Value value, SumKind kind) {
          v.store(value, tiles.workspace, at(kind), mask);
        };
        Compensated before{load(SumKind::All), load(SumKind::Rest)};
        Compensated sum = before.add(v.builder, loc, load(SumKind::Part));
        store(sum.sum, SumKind::All);
        store(sum.rest, SumKind::Rest);
        store(v.constant(0.0), SumKind::Part);
      });
}

void Backward::writeKeySums(OpBuilder &builder, Value worker,
                            const WorkItem &chunk) {
  QueryBlock reader;
  reader.sequence = chunk.sequence;
  reader.keyHead = chunk.keyHead;
  forEachSum(builder, chunk,
             [&](VectorBuilder &v, const KeyGradient &gradient, Value key,
                 Value column, Value mask) {
               auto load = [&](SumKind kind) {
                 return v.load(tiles.workspace,
                               getSum(v.builder, worker, chunk, gradient, kind,
                                      key, column),
                               mask);
               };
               Compensated sum{load(SumKind::All), load(SumKind::Rest)};
               SmallVector<Value> row =
                   tiles.getKeyPlace(v.builder, reader, key);
               v.store(sum.get(v.builder, loc), gradient.destination,
                       append(row, column), mask);
             });
}

/// dv += Pᵀ · dout, or dk += dsᵀ · q. The last keys of registers may be one's
/// once more: sums are loaded before any is stored.
void Backward::addKeys(OpBuilder &builder, Value worker, const WorkItem &chunk,
                       const QueryBlock &block, const KeyTile &tile,
                       const KeyGradient &gradient) {
  Value zero = constant(builder, 0);
  Value last =
      arith::SubIOp::create(builder, loc, tile.count, constant(builder, 1));
  auto addRows = [&](OpBuilder &b, Value first, ValueRange columns,
                     Value mask) {
    int64_t numColumns = columns.size();
    RegisterTile registers{loc, tiles.type, tiling.keyRows, numColumns};
    VectorBuilder v = tiles.vectors(b);
    SmallVector<Value> rows;
    for (int64_t row = 0; row < registers.rows; ++row)
      rows.push_back(buildMin(
          b, loc, arith::AddIOp::create(b, loc, first, constant(b, row)),
          last));
    SmallVector<Value> sums = registers.sum(
        b, {zero, block.count},
        [&](OpBuilder &inner, Value lane, int64_t row) {
          return FloatBuilder{inner, loc, scores.getType()}.load(
              tiles.workspace,
              tiles.getNumberPlace(inner, worker, gradient.weightsAt, rows[row],
                                   lane));
        },
        [&](OpBuilder &inner, Value lane, int64_t vector) {
          return tiles.vectors(inner).load(
              gradient.factors,
              append(tiles.getQueryPlace(inner, block, lane), columns[vector]),
              mask);
        });
    SmallVector<SmallVector<Value>> places;
    for (Value row : rows)
      for (Value column : columns) {
        Value key = arith::AddIOp::create(b, loc, tile.begin, row);
        places.push_back(
            getSum(b, worker, chunk, gradient, SumKind::Part, key, column));
      }
    for (auto [sum, place] : llvm::zip_equal(sums, places))
      sum = v.add(v.load(tiles.workspace, place, mask), sum);
    for (auto [sum, place] : llvm::zip_equal(sums, places))
      v.store(sum, tiles.workspace, place, mask);
  };
  Rows columns = gradient.rows;
  columns.forEachTile(builder, {zero, gradient.columns}, tiling.columnVectors,
                      [&](VectorBuilder &v, ValueRange indices, Value mask) {
                        buildLoop(
                            v.builder, loc, zero, tile.count, tiling.keyRows,
                            [&](OpBuilder &b, Location, ValueRange first) {
                              addRows(b, first.front(), indices, mask);
                            });
                      });
}

/// Whether a 0 among a tile's weights is multiplied with what is infinite or
/// NaN.
Value Backward::hasStrange(OpBuilder &builder, const QueryBlock &block,
                           const KeyTile &tile) {
  auto ofQueries = [&](Value array, Value columns) {
    return tiles.hasStrange(
        builder, block.count, columns,
        [&](OpBuilder &b, Value row, Value column) {
          return FloatBuilder{b, loc, scores.getType()}.load(
              array, append(tiles.getQueryPlace(b, block, row), column));
        });
  };
  Value isStrange = ofQueries(op.getDout(), scores.valueDepth);
  if (!usesScores)
    return isStrange;
  Value ofKeys = tiles.hasStrange(builder, tile.count, scores.depth,
                                  [&](OpBuilder &b, Value row, Value column) {
                                    return tiles.loadOfKey(
                                        b, block, tile, op.getK(), row, column);
                                  });
  isStrange = arith::OrIOp::create(builder, loc, isStrange, ofKeys);
  return arith::OrIOp::create(builder, loc, isStrange,
                              ofQueries(op.getQ(), scores.depth));
}

/// The same sums, with the same bits, where a weight of 0 is no factor but a
/// key that a query does not keep.
void Backward::addKeptKeys(OpBuilder &builder, Value worker,
                           const WorkItem &chunk, const QueryBlock &block,
                           const KeyTile &tile, KeyGradient &gradient) {
  Value zero = constant(builder, 0), one = constant(builder, 1);
  auto addVector = [&](VectorBuilder &outer, Value row, Value column,
                       Value mask) {
    Value key = arith::AddIOp::create(outer.builder, loc, tile.begin, row);
    auto sum = scf::ForOp::create(
        outer.builder, loc, zero, block.count, one, outer.constant(0.0),
        [&](OpBuilder &b, Location, Value lane, ValueRange running) {
          VectorBuilder v = tiles.vectors(b);
          Value weight = FloatBuilder{b, loc, scores.getType()}.load(
              tiles.workspace,
              tiles.getNumberPlace(b, worker, gradient.weightsAt, row, lane));
          Value factors =
              v.load(gradient.factors,
                     append(tiles.getQueryPlace(b, block, lane), column), mask);
          Value next =
              v.select(tiles.isKept(b, block, key, lane),
                       v.fma(v.splat(weight), factors, running.front()),
                       running.front());
          scf::YieldOp::create(b, loc, next);
        });
    SmallVector<Value> place = getSum(outer.builder, worker, chunk, gradient,
                                      SumKind::Part, key, column);
    Value before = outer.load(tiles.workspace, place, mask);
    outer.store(outer.add(before, sum.getResult(0)), tiles.workspace, place,
                mask);
  };
  buildLoop(builder, loc, zero, tile.count, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              gradient.rows.forEachVector(
                  b, [&](VectorBuilder &v, Value column, Value mask) {
                    addVector(v, row.front(), column, mask);
                  });
            });
}
