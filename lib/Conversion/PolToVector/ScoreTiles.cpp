//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Tiles of scores.

#include "ScoreTiles.h"
#include "VectorRegions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScoreTiles::ScoreTiles(OpBuilder &builder, AttentionScores &scores,
                       TargetAttr target, Value workspace)
    : scores(scores), loc(scores.getLoc()), tiling(target, scores.getType()),
      places(builder, loc, target, getAsOpFoldResult(scores.depth),
             getAsOpFoldResult(scores.valueDepth)),
      type(VectorType::get(tiling.lanes, scores.getType())),
      workspace(workspace),
      queriesAt(getValueOrCreateConstantIndexOp(builder, loc, places.queries)),
      resultAt(getValueOrCreateConstantIndexOp(builder, loc, places.result)),
      partAt(getValueOrCreateConstantIndexOp(builder, loc, places.part)),
      scoresAt(getValueOrCreateConstantIndexOp(builder, loc, places.scores)) {}

Value ScoreTiles::constant(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

// Worker w of W takes every W-th of the blocks of all heads and sequences. With
// causal masks the last block of a head has most keys: every second head counts
// from its end, so that no worker has the larger one of each pair.
void ScoreTiles::forEachBlock(
    OpBuilder &builder,
    function_ref<void(OpBuilder &, Value, const QueryBlock &)> body) {
  Value size = constant(builder, tiling.queries);
  Value one = constant(builder, 1), zero = constant(builder, 0);
  OpFoldResult workers = getExtent(builder, loc, workspace, 0);
  Value numWorkers = getValueOrCreateConstantIndexOp(builder, loc, workers);
  auto buildWorker = [&](OpBuilder &b0, Location, ValueRange worker) {
    auto visit = [&](OpBuilder &b, Location, Value number, ValueRange before) {
      Sequence sequence = scores.getSequence(b, number);
      Value blocks =
          arith::CeilDivUIOp::create(b, loc, sequence.numQueries, size);
      Value count = arith::MulIOp::create(b, loc, blocks, scores.heads);
      // The first of this sequence's blocks that is this worker's.
      Value rest = arith::RemUIOp::create(b, loc, before.front(), numWorkers);
      Value ahead = arith::SubIOp::create(
          b, loc, arith::AddIOp::create(b, loc, worker.front(), numWorkers),
          rest);
      Value first = arith::RemUIOp::create(b, loc, ahead, numWorkers);
      scf::ForOp::create(
          b, loc, first, count, numWorkers, ValueRange(),
          [&](OpBuilder &b1, Location, Value item, ValueRange) {
            Value head = arith::DivUIOp::create(b1, loc, item, blocks);
            Value block = arith::RemUIOp::create(b1, loc, item, blocks);
            Value fromEnd = arith::SubIOp::create(
                b1, loc, arith::SubIOp::create(b1, loc, blocks, one), block);
            Value isOdd = arith::TruncIOp::create(
                b1, loc, b1.getI1Type(),
                arith::IndexCastOp::create(b1, loc, b1.getI64Type(), head));
            block = arith::SelectOp::create(b1, loc, isOdd, fromEnd, block);
            Value row = arith::MulIOp::create(b1, loc, block, size);
            Value left =
                arith::SubIOp::create(b1, loc, sequence.numQueries, row);
            QueryBlock queries{
                sequence, head,
                arith::DivUIOp::create(b1, loc, head, scores.groupSize), row,
                buildMin(b1, loc, left, size)};
            body(b1, worker.front(), queries);
            scf::YieldOp::create(b1, loc);
          });
      Value after = arith::AddIOp::create(b, loc, before.front(), count);
      scf::YieldOp::create(b, loc, after);
    };
    scf::ForOp::create(b0, loc, zero, scores.getNumSequences(b0), one, zero,
                       visit);
  };
  buildParallelLoop(builder, loc, workers, buildWorker);
}

IndexBounds ScoreTiles::getBlockPositions(OpBuilder &builder,
                                          const QueryBlock &block) {
  Value end = arith::AddIOp::create(builder, loc, block.row, block.count);
  return scores.getPositions(builder, {block.row, end});
}

IndexBounds ScoreTiles::getKeys(OpBuilder &builder, const QueryBlock &block) {
  IndexBounds all{constant(builder, 0), block.sequence.numKeys};
  if (scores.getMaskAnalysis().isFull())
    return all;
  return scores.getMask(block.sequence.batch, block.head)
      .getKeys(builder, getBlockPositions(builder, block), all);
}

SmallVector<Value> ScoreTiles::overKeys(OpBuilder &builder,
                                        const QueryBlock &block,
                                        IndexBounds keys, ValueRange initial,
                                        TileFn body) {
  bool isFull = scores.getMaskAnalysis().isFull();
  MaskEmitter emitter = scores.getMask(block.sequence.batch, block.head);
  IndexBounds positions = getBlockPositions(builder, block);
  auto visit = [&](OpBuilder &b, Location, Value begin, ValueRange running) {
    IndexRange range = buildBlock(b, loc, begin, keys.end, tiling.keys);
    KeyTile tile{range.begin, arith::SubIOp::create(b, loc, range.end, begin),
                 Value()};
    if (isFull) {
      scf::YieldOp::create(b, loc, body(b, tile, running));
      return;
    }
    Value tileClass = emitter.getClass(b, positions, {range.begin, range.end});
    Value isEmpty = scores.isClass(b, tileClass, TileClass::Empty);
    tile.isPartial = scores.isClass(b, tileClass, TileClass::Partial);
    auto choice = scf::IfOp::create(
        b, loc, isEmpty,
        [&](OpBuilder &none, Location) {
          scf::YieldOp::create(none, loc, running);
        },
        [&](OpBuilder &some, Location) {
          scf::YieldOp::create(some, loc, body(some, tile, running));
        });
    scf::YieldOp::create(b, loc, choice.getResults());
  };
  auto loop =
      scf::ForOp::create(builder, loc, keys.begin, keys.end,
                         constant(builder, tiling.keys), initial, visit);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> ScoreTiles::getKeyPlace(OpBuilder &builder,
                                           const QueryBlock &block,
                                           Value key) const {
  Value row =
      block.sequence.firstKey
          ? arith::AddIOp::create(builder, loc, block.sequence.firstKey, key)
                .getResult()
          : key;
  return {block.sequence.arrayBatch, block.keyHead, row};
}

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

Value ScoreTiles::getIndex(OpBuilder &builder, Value offset, Value row,
                           int64_t vector) {
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

SmallVector<Value> ScoreTiles::getQueryPlace(OpBuilder &builder,
                                             const QueryBlock &block,
                                             Value lane) const {
  Value row = arith::AddIOp::create(builder, loc, lane, block.row);
  if (block.sequence.firstRow)
    row = arith::AddIOp::create(builder, loc, row, block.sequence.firstRow);
  return {block.sequence.arrayBatch, block.head, row};
}

void ScoreTiles::packQueries(OpBuilder &builder, const QueryBlock &block,
                             Value array, Value columns, Value worker,
                             Value offset) {
  Value zero = constant(builder, 0);
  Value last =
      arith::SubIOp::create(builder, loc, block.count, constant(builder, 1));
  auto packLane = [&](OpBuilder &outer, Location, ValueRange lane) {
    SmallVector<Value> row =
        getQueryPlace(outer, block, buildMin(outer, loc, lane.front(), last));
    Value first = arith::AddIOp::create(outer, loc, offset, lane.front());
    buildLoop(outer, loc, zero, columns, 1,
              [&](OpBuilder &b, Location, ValueRange column) {
                FloatBuilder floats{b, loc, scores.getType()};
                Value element = floats.load(array, append(row, column.front()));
                Value at = getIndex(b, first, column.front(), 0);
                floats.store(element, workspace, {worker, at});
              });
  };
  buildLoop(builder, loc, zero, constant(builder, tiling.queries), 1, packLane);
}

void ScoreTiles::unpackQueries(OpBuilder &builder, const QueryBlock &block,
                               Value array, Value columns, Value worker,
                               Value offset) {
  Value zero = constant(builder, 0);
  auto unpackLane = [&](OpBuilder &outer, Location, ValueRange lane) {
    SmallVector<Value> row = getQueryPlace(outer, block, lane.front());
    Value first = arith::AddIOp::create(outer, loc, offset, lane.front());
    buildLoop(outer, loc, zero, columns, 1,
              [&](OpBuilder &b, Location, ValueRange column) {
                FloatBuilder floats{b, loc, scores.getType()};
                Value at = getIndex(b, first, column.front(), 0);
                floats.store(floats.load(workspace, {worker, at}), array,
                             append(row, column.front()));
              });
  };
  buildLoop(builder, loc, zero, block.count, 1, unpackLane);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

TileScores ScoreTiles::buildScores(OpBuilder &builder, const QueryBlock &block,
                                   const KeyTile &tile, Value worker) {
  SmallVector<Value> largest = multiply(builder, block, tile, worker);
  auto one = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value all = vector::BroadcastOp::create(builder, loc,
                                          vectors(builder).getMaskType(), one);
  SmallVector<Value> isAny(tiling.vectors, all);
  if (hasScore() && !tile.isPartial) {
    applyScores(builder, block, tile, worker);
    return {findLargest(builder, tile, worker), isAny};
  }
  if (!tile.isPartial)
    return {largest, isAny};
  auto yield = [&](OpBuilder &b, ArrayRef<Value> first,
                   ArrayRef<Value> second) {
    SmallVector<Value> both(first);
    llvm::append_range(both, second);
    scf::YieldOp::create(b, loc, both);
  };
  auto choice = scf::IfOp::create(
      builder, loc, tile.isPartial,
      [&](OpBuilder &b, Location) {
        applyRegions(b, block, tile, worker);
        yield(b, findLargest(b, tile, worker), findKept(b, block, tile));
      },
      [&](OpBuilder &b, Location) {
        if (hasScore()) {
          applyScores(b, block, tile, worker);
          largest = findLargest(b, tile, worker);
        }
        yield(b, largest, isAny);
      });
  ValueRange results(choice.getResults());
  return {SmallVector<Value>(results.take_front(tiling.vectors)),
          SmallVector<Value>(results.drop_front(tiling.vectors))};
}

/// scale · Σ q·k, and the largest of them. The last rows of registers may be
/// one key's once more.
SmallVector<Value> ScoreTiles::multiply(OpBuilder &builder,
                                        const QueryBlock &block,
                                        const KeyTile &tile, Value worker) {
  VectorBuilder all = vectors(builder);
  RegisterTile registers = getRegisterTile();
  Value zero = constant(builder, 0);
  Value last =
      arith::SubIOp::create(builder, loc, tile.count, constant(builder, 1));
  Value scale = all.splat(scores.scale);
  SmallVector<Value> least(tiling.vectors, all.constant(-kInfinity));

  auto build = [&](OpBuilder &b, Location, Value first, ValueRange running) {
    SmallVector<SmallVector<Value>> keys;
    for (int64_t row = 0; row < registers.rows; ++row) {
      Value key = arith::AddIOp::create(b, loc, first, constant(b, row));
      key = arith::AddIOp::create(b, loc, buildMin(b, loc, key, last),
                                  tile.begin);
      keys.push_back(getKeyPlace(b, block, key));
    }
    SmallVector<Value> products = registers.sumBlocks(
        b, {zero, scores.depth},
        [&](OpBuilder &inner, Value column, int64_t row) {
          return FloatBuilder{inner, loc, scores.getType()}.load(
              scores.getInputs().k, append(keys[row], column));
        },
        [&](OpBuilder &inner, Value column, int64_t vector) {
          return loadRow(inner, worker, queriesAt, column, vector);
        });
    VectorBuilder v = vectors(b);
    SmallVector<Value> largest(running);
    for (int64_t row = 0; row < registers.rows; ++row) {
      Value key = arith::AddIOp::create(b, loc, first, constant(b, row));
      for (int64_t i = 0; i < registers.vectors; ++i) {
        Value score = v.multiply(products[row * registers.vectors + i], scale);
        storeRow(b, score, worker, scoresAt, key, i);
        largest[i] = v.larger(score, largest[i]);
      }
    }
    scf::YieldOp::create(b, loc, largest);
  };
  auto loop =
      scf::ForOp::create(builder, loc, zero, tile.count,
                         constant(builder, registers.rows), least, build);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> ScoreTiles::findLargest(OpBuilder &builder,
                                           const KeyTile &tile, Value worker) {
  SmallVector<Value> least(tiling.vectors,
                           vectors(builder).constant(-kInfinity));
  auto loop = scf::ForOp::create(
      builder, loc, constant(builder, 0), tile.count, constant(builder, 1),
      least, [&](OpBuilder &b, Location, Value row, ValueRange running) {
        SmallVector<Value> largest(running);
        for (int64_t i = 0; i < tiling.vectors; ++i)
          largest[i] = vectors(b).larger(loadRow(b, worker, scoresAt, row, i),
                                         largest[i]);
        scf::YieldOp::create(b, loc, largest);
      });
  return SmallVector<Value>(loop.getResults());
}

/// Whether each query keeps any key of a tile.
SmallVector<Value> ScoreTiles::findKept(OpBuilder &builder,
                                        const QueryBlock &block,
                                        const KeyTile &tile) {
  auto zero = arith::ConstantIntOp::create(builder, loc, 0, 1);
  Value none = vector::BroadcastOp::create(
      builder, loc, vectors(builder).getMaskType(), zero);
  SmallVector<Value> initial(tiling.vectors, none);
  auto loop = scf::ForOp::create(
      builder, loc, constant(builder, 0), tile.count, constant(builder, 1),
      initial, [&](OpBuilder &b, Location, Value row, ValueRange running) {
        Value key = arith::AddIOp::create(b, loc, tile.begin, row);
        SmallVector<Value> found;
        for (int64_t i = 0; i < tiling.vectors; ++i)
          found.push_back(arith::OrIOp::create(b, loc, running[i],
                                               isKept(b, block, key, i)));
        scf::YieldOp::create(b, loc, found);
      });
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The positions of a vector of queries, as regions see them.
Value ScoreTiles::getPositions(OpBuilder &builder, const QueryBlock &block,
                               int64_t vector) const {
  auto indices = VectorType::get(tiling.lanes, builder.getIndexType());
  auto splat = [&](Value value) -> Value {
    return vector::BroadcastOp::create(builder, loc, indices, value);
  };
  Value lanes = arith::AddIOp::create(
      builder, loc, vector::StepOp::create(builder, loc, indices),
      splat(constant(builder, vector * tiling.lanes)));
  Value last =
      arith::SubIOp::create(builder, loc, block.count, constant(builder, 1));
  Value rows = arith::MinUIOp::create(builder, loc, lanes, splat(last));
  Value first = scores.getPositions(builder, {block.row, block.row}).begin;
  return arith::AddIOp::create(builder, loc, rows, splat(first));
}

/// The same of one lane.
Value ScoreTiles::getPosition(OpBuilder &builder, const QueryBlock &block,
                              Value lane) const {
  Value last =
      arith::SubIOp::create(builder, loc, block.count, constant(builder, 1));
  Value row = arith::AddIOp::create(builder, loc, block.row,
                                    buildMin(builder, loc, lane, last));
  return scores.getPositions(builder, {row, row}).begin;
}

Value ScoreTiles::isKept(OpBuilder &builder, const QueryBlock &block, Value key,
                         int64_t vector) {
  SmallVector<Value> arguments{block.sequence.batch, block.head,
                               getPositions(builder, block, vector), key};
  llvm::append_range(arguments, scores.getMaskCaptures());
  Value kept = evaluateLanes(builder, loc, *scores.getMaskAnalysis().getBlock(),
                             arguments, tiling.lanes);
  if (isa<VectorType>(kept.getType()))
    return kept;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(tiling.lanes, builder.getI1Type()), kept);
}

void ScoreTiles::applyScores(OpBuilder &builder, const QueryBlock &block,
                             const KeyTile &tile, Value worker) {
  Block &region = scores.getInputs().score->front();
  buildLoop(
      builder, loc, constant(builder, 0), tile.count, 1,
      [&](OpBuilder &b, Location, ValueRange row) {
        VectorBuilder v = vectors(b);
        Value key = arith::AddIOp::create(b, loc, tile.begin, row.front());
        for (int64_t i = 0; i < tiling.vectors; ++i) {
          SmallVector<Value> arguments{
              loadRow(b, worker, scoresAt, row.front(), i),
              block.sequence.batch, block.head, getPositions(b, block, i), key};
          llvm::append_range(arguments, scores.getScoreCaptures());
          Value score = evaluateLanes(b, loc, region, arguments, tiling.lanes);
          if (!isa<VectorType>(score.getType()))
            score = v.splat(score);
          storeRow(b, score, worker, scoresAt, row.front(), i);
        }
      });
}

void ScoreTiles::applyMask(OpBuilder &builder, const QueryBlock &block,
                           const KeyTile &tile, Value worker) {
  buildLoop(builder, loc, constant(builder, 0), tile.count, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              VectorBuilder v = vectors(b);
              Value key =
                  arith::AddIOp::create(b, loc, tile.begin, row.front());
              Value least = v.constant(-kInfinity);
              for (int64_t i = 0; i < tiling.vectors; ++i) {
                Value score = loadRow(b, worker, scoresAt, row.front(), i);
                Value kept = isKept(b, block, key, i);
                storeRow(b, v.select(kept, score, least), worker, scoresAt,
                         row.front(), i);
              }
            });
}

/// The same of a score that may only be evaluated where a key is kept.
void ScoreTiles::applyByLane(OpBuilder &builder, const QueryBlock &block,
                             const KeyTile &tile, Value worker) {
  Value zero = constant(builder, 0);
  auto visit = [&](OpBuilder &b, Value row, Value lane) {
    FloatBuilder floats{b, loc, scores.getType()};
    Value key = arith::AddIOp::create(b, loc, tile.begin, row);
    Value position = getPosition(b, block, lane);
    Value at =
        getIndex(b, arith::AddIOp::create(b, loc, scoresAt, lane), row, 0);
    Value kept = scores.getMask(block.sequence.batch, block.head)
                     .isKept(b, position, key);
    auto choice = scf::IfOp::create(
        b, loc, kept,
        [&](OpBuilder &then, Location) {
          FloatBuilder inner{then, loc, scores.getType()};
          SmallVector<Value> arguments{inner.load(workspace, {worker, at}),
                                       block.sequence.batch, block.head,
                                       position, key};
          llvm::append_range(arguments, scores.getScoreCaptures());
          Value score =
              evaluateLanes(then, loc, scores.getInputs().score->front(),
                            arguments, tiling.lanes);
          scf::YieldOp::create(then, loc, score);
        },
        [&](OpBuilder &otherwise, Location) {
          FloatBuilder inner{otherwise, loc, scores.getType()};
          Value least = inner.constant(-kInfinity);
          scf::YieldOp::create(otherwise, loc, least);
        });
    floats.store(choice.getResult(0), workspace, {worker, at});
  };
  buildLoop(builder, loc, zero, tile.count, 1,
            [&](OpBuilder &outer, Location, ValueRange row) {
              buildLoop(outer, loc, zero, constant(outer, tiling.queries), 1,
                        [&](OpBuilder &b, Location, ValueRange lane) {
                          visit(b, row.front(), lane.front());
                        });
            });
}

void ScoreTiles::applyRegions(OpBuilder &builder, const QueryBlock &block,
                              const KeyTile &tile, Value worker) {
  if (!hasScore())
    return applyMask(builder, block, tile, worker);
  bool isAlwaysSafe =
      llvm::all_of(scores.getInputs().score->front().without_terminator(),
                   [](Operation &op) { return isSpeculatable(&op); });
  if (!isAlwaysSafe)
    return applyByLane(builder, block, tile, worker);
  applyScores(builder, block, tile, worker);
  applyMask(builder, block, tile, worker);
}
