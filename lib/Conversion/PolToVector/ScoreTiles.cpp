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
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Columns of rows that are converted on the stack, at most: 4 KiB of f32.
static constexpr int64_t kConvertedColumns = 128;

bool mlir::pol::hasWorkspace(Operation *op, Value workspace) {
  return workspace && hasVectorRows(workspace) && lookupTarget(op) &&
         cast<MemRefType>(workspace.getType()).getDimSize(0) != 0;
}

ScoreTiles::ScoreTiles(AttentionScores &scores, const AttentionTiling &tiling,
                       int64_t keysPerTile, Value workspace, Value queriesAt,
                       Value scoresAt)
    : scores(scores), loc(scores.getLoc()), tiling(tiling),
      type(VectorType::get(tiling.lanes, scores.getType())),
      keysPerTile(keysPerTile), workspace(workspace), queriesAt(queriesAt),
      scoresAt(scoresAt) {}

Value ScoreTiles::constant(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

// Worker w of W takes every W-th of the items of all sequences.
void ScoreTiles::forEachItem(
    OpBuilder &builder,
    function_ref<Value(OpBuilder &, const Sequence &)> getCount,
    function_ref<void(OpBuilder &, Value, const Sequence &, Value)> body) {
  Value one = constant(builder, 1), zero = constant(builder, 0);
  Value numWorkers = getNumWorkers(builder);
  auto buildWorker = [&](OpBuilder &b0, Location, ValueRange worker) {
    if (isConverted(scores.getInputs().k, scores.depth) ||
        isConverted(scores.getInputs().v, scores.valueDepth))
      converted = memref::AllocaOp::create(
          b0, loc,
          MemRefType::get({tiling.rows, kConvertedColumns}, scores.getType()),
          b0.getI64IntegerAttr(64));
    auto visit = [&](OpBuilder &b, Location, Value number, ValueRange before) {
      Sequence sequence = scores.getSequence(b, number);
      Value count = getCount(b, sequence);
      // The first of this sequence's items that is this worker's.
      Value rest = arith::RemUIOp::create(b, loc, before.front(), numWorkers);
      Value ahead = arith::SubIOp::create(
          b, loc, arith::AddIOp::create(b, loc, worker.front(), numWorkers),
          rest);
      Value first = arith::RemUIOp::create(b, loc, ahead, numWorkers);
      scf::ForOp::create(b, loc, first, count, numWorkers, ValueRange(),
                         [&](OpBuilder &b1, Location, Value item, ValueRange) {
                           body(b1, worker.front(), sequence, item);
                           scf::YieldOp::create(b1, loc);
                         });
      Value after = arith::AddIOp::create(b, loc, before.front(), count);
      scf::YieldOp::create(b, loc, after);
    };
    scf::ForOp::create(b0, loc, zero, scores.getNumSequences(b0), one, zero,
                       visit);
  };
  buildParallelLoop(builder, loc, getAsOpFoldResult(numWorkers), buildWorker);
}

Value ScoreTiles::getNumWorkers(OpBuilder &builder) const {
  return getValueOrCreateConstantIndexOp(builder, loc,
                                         getExtent(builder, loc, workspace, 0));
}

Value ScoreTiles::getNumBlocks(OpBuilder &builder,
                               const Sequence &sequence) const {
  return arith::CeilDivUIOp::create(builder, loc, sequence.numQueries,
                                    constant(builder, tiling.queries));
}

// With causal masks the last block of a head has most keys: every second head
// counts from its end, so that no worker has the larger one of each pair.
QueryBlock ScoreTiles::getBlock(OpBuilder &builder, const Sequence &sequence,
                                Value head, Value number) const {
  Value size = constant(builder, tiling.queries);
  Value last = arith::SubIOp::create(
      builder, loc, getNumBlocks(builder, sequence), constant(builder, 1));
  Value fromEnd = arith::SubIOp::create(builder, loc, last, number);
  Value isOdd = arith::TruncIOp::create(
      builder, loc, builder.getI1Type(),
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), head));
  number = arith::SelectOp::create(builder, loc, isOdd, fromEnd, number);
  Value row = arith::MulIOp::create(builder, loc, number, size);
  Value left = arith::SubIOp::create(builder, loc, sequence.numQueries, row);
  return {sequence, head,
          arith::DivUIOp::create(builder, loc, head, scores.groupSize), row,
          buildMin(builder, loc, left, size)};
}

void ScoreTiles::forEachOther(
    OpBuilder &builder, Value offsets, Value heads, Value length,
    function_ref<void(OpBuilder &, ValueRange place)> body) {
  Value zero = constant(builder, 0);
  Value count = scores.getNumSequences(builder);
  auto isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     count, zero);
  // Without sequences nothing may be read of the offsets.
  auto bounds = scf::IfOp::create(
      builder, loc, isAny,
      [&](OpBuilder &b, Location) {
        Value first = loadWithin(b, loc, offsets, zero, zero, length);
        Value last = loadWithin(b, loc, offsets, count, first, length);
        scf::YieldOp::create(b, loc, ValueRange{first, last});
      },
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc, ValueRange{length, length});
      });
  std::pair<Value, Value> ranges[] = {{zero, bounds.getResult(0)},
                                      {bounds.getResult(1), length}};
  auto visitHead = [&](OpBuilder &outer, Location, ValueRange at) {
    for (auto [begin, end] : ranges)
      buildLoop(outer, loc, begin, end, 1,
                [&](OpBuilder &b, Location, ValueRange row) {
                  body(b, {zero, at[1], row.front()});
                });
  };
  buildParallelLoop(builder, loc, getAsOpFoldResult({scores.batches, heads}),
                    visitHead);
}

void ScoreTiles::clearRow(OpBuilder &builder, Value array, ValueRange place,
                          Value columns) {
  buildLoop(builder, loc, constant(builder, 0), columns, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              FloatBuilder floats{b, loc, scores.getType()};
              floats.store(floats.constant(0.0), array,
                           append(place, column.front()));
            });
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
    IndexRange range = buildBlock(b, loc, begin, keys.end, keysPerTile);
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
                         constant(builder, keysPerTile), initial, visit);
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

Value ScoreTiles::loadOfKey(OpBuilder &builder, const QueryBlock &block,
                            const KeyTile &tile, Value array, Value row,
                            Value column) const {
  Value key = arith::AddIOp::create(builder, loc, tile.begin, row);
  return FloatBuilder{builder, loc, scores.getType()}.load(
      array, append(getKeyPlace(builder, block, key), column));
}

Value ScoreTiles::hasStrange(OpBuilder &builder, Value rows, Value columns,
                             LoadFn load) {
  Value zero = constant(builder, 0), one = constant(builder, 1);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 1);
  auto visitRow = [&](OpBuilder &outer, Location, Value row, ValueRange found) {
    auto visit = [&](OpBuilder &b, Location, Value column, ValueRange running) {
      Value isFinite = buildIsFinite(b, loc, load(b, row, column));
      Value isStrange = arith::XOrIOp::create(
          b, loc, isFinite, arith::ConstantIntOp::create(b, loc, 1, 1));
      Value either = arith::OrIOp::create(b, loc, running.front(), isStrange);
      scf::YieldOp::create(b, loc, either);
    };
    auto inRow =
        scf::ForOp::create(outer, loc, zero, columns, one, found, visit);
    scf::YieldOp::create(outer, loc, inRow.getResults());
  };
  return scf::ForOp::create(builder, loc, zero, rows, one, none, visitRow)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool ScoreTiles::isConverted(Value array, Value columns) const {
  std::optional<int64_t> known = getConstantIntValue(columns);
  return hasVectorRows(array) &&
         getElementTypeOrSelf(array) != scores.getType() && known &&
         *known <= kConvertedColumns;
}

void ScoreTiles::convertRows(OpBuilder &builder, const Factors &factors,
                             ArrayRef<SmallVector<Value>> places) {
  auto convert = [&](OpBuilder &b, Value column, Value mask) {
    VectorBuilder v = vectors(b);
    for (auto [row, place] : llvm::enumerate(places))
      v.store(v.load(factors.array, append(place, column), mask), converted,
              {constant(b, row), column}, mask);
  };
  Value whole = getWholeColumns(builder, factors.array, factors.columns);
  buildLoop(builder, loc, constant(builder, 0), whole, tiling.lanes,
            [&](OpBuilder &b, Location, ValueRange column) {
              convert(b, column.front(), Value());
            });
  Value left = builder.createOrFold<arith::SubIOp>(loc, factors.columns, whole);
  if (getConstantIntValue(left) == 0)
    return;
  Value mask = vector::CreateMaskOp::create(
      builder, loc, vectors(builder).getMaskType(), left);
  convert(builder, whole, mask);
}

SmallVector<Value> ScoreTiles::multiply(OpBuilder &builder,
                                        const QueryBlock &block,
                                        const KeyTile &tile, Value worker,
                                        const Factors &factors,
                                        ValueRange initial, ProductFn body) {
  RegisterTile registers = getRegisterTile();
  Value zero = constant(builder, 0);
  Value last =
      arith::SubIOp::create(builder, loc, tile.count, constant(builder, 1));
  auto build = [&](OpBuilder &b, Location, Value first, ValueRange running) {
    SmallVector<Value> rows;
    for (int64_t row = 0; row < registers.rows; ++row)
      rows.push_back(arith::AddIOp::create(b, loc, first, constant(b, row)));
    SmallVector<SmallVector<Value>> places;
    for (Value row : rows) {
      Value key = arith::AddIOp::create(b, loc, buildMin(b, loc, row, last),
                                        tile.begin);
      places.push_back(getKeyPlace(b, block, key));
    }
    bool areConverted = isConverted(factors.array, factors.columns);
    if (areConverted)
      convertRows(b, factors, places);
    SmallVector<Value> products = registers.sumBlocks(
        b, {zero, factors.columns},
        [&](OpBuilder &inner, Value column, int64_t row) -> Value {
          if (areConverted)
            return memref::LoadOp::create(
                inner, loc, converted,
                ValueRange{constant(inner, row), column});
          return FloatBuilder{inner, loc, scores.getType()}.load(
              factors.array, append(places[row], column));
        },
        [&](OpBuilder &inner, Value column, int64_t vector) {
          return loadRow(inner, worker, factors.packedAt, column, vector);
        });
    SmallVector<Value> next(running);
    for (auto [number, row] : llvm::enumerate(rows))
      for (int64_t i = 0; i < registers.vectors; ++i)
        body(b, row, i, products[number * registers.vectors + i], next);
    scf::YieldOp::create(b, loc, next);
  };
  auto loop =
      scf::ForOp::create(builder, loc, zero, tile.count,
                         constant(builder, registers.rows), initial, build);
  return SmallVector<Value>(loop.getResults());
}

void ScoreTiles::sumKeys(OpBuilder &builder, const QueryBlock &block,
                         const KeyTile &tile, Value worker,
                         const Factors &factors, ColumnFn body) {
  RegisterTile registers = getRegisterTile();
  Value zero = constant(builder, 0);
  Value last = arith::SubIOp::create(builder, loc, factors.columns,
                                     constant(builder, 1));
  auto build = [&](OpBuilder &b, Location, ValueRange first) {
    SmallVector<Value> rows, columns;
    for (int64_t row = 0; row < registers.rows; ++row) {
      rows.push_back(
          arith::AddIOp::create(b, loc, first.front(), constant(b, row)));
      columns.push_back(buildMin(b, loc, rows.back(), last));
    }
    SmallVector<Value> sums = registers.sum(
        b, {zero, tile.count},
        [&](OpBuilder &inner, Value key, int64_t row) {
          return loadOfKey(inner, block, tile, factors.array, key,
                           columns[row]);
        },
        [&](OpBuilder &inner, Value key, int64_t vector) {
          return loadRow(inner, worker, factors.packedAt, key, vector);
        });
    for (auto [number, row] : llvm::enumerate(rows))
      for (int64_t i = 0; i < registers.vectors; ++i)
        body(b, row, i, sums[number * registers.vectors + i]);
  };
  buildLoop(builder, loc, zero, factors.columns, registers.rows, build);
}

void ScoreTiles::sumKeptKeys(OpBuilder &builder, const QueryBlock &block,
                             const KeyTile &tile, Value worker,
                             const Factors &factors, ColumnFn body) {
  Value zero = constant(builder, 0), one = constant(builder, 1);
  auto build = [&](OpBuilder &outer, Location, ValueRange column) {
    SmallVector<Value> zeros(tiling.vectors, vectors(outer).constant(0.0));
    auto sums = scf::ForOp::create(
        outer, loc, zero, tile.count, one, zeros,
        [&](OpBuilder &b, Location, Value row, ValueRange running) {
          VectorBuilder v = vectors(b);
          Value key = arith::AddIOp::create(b, loc, tile.begin, row);
          Value number = v.splat(
              loadOfKey(b, block, tile, factors.array, row, column.front()));
          SmallVector<Value> next;
          for (int64_t i = 0; i < tiling.vectors; ++i) {
            Value weight = loadRow(b, worker, factors.packedAt, row, i);
            next.push_back(v.select(isKept(b, block, key, i),
                                    v.fma(number, weight, running[i]),
                                    running[i]));
          }
          scf::YieldOp::create(b, loc, next);
        });
    for (int64_t i = 0; i < tiling.vectors; ++i)
      body(outer, column.front(), i, sums.getResult(i));
  };
  buildLoop(builder, loc, zero, factors.columns, 1, build);
}

Value ScoreTiles::isPartialAnd(OpBuilder &builder, const KeyTile &tile,
                               function_ref<Value(OpBuilder &)> isSo) {
  return scf::IfOp::create(
             builder, loc, tile.isPartial,
             [&](OpBuilder &b, Location) {
               scf::YieldOp::create(b, loc, isSo(b));
             },
             [&](OpBuilder &b, Location) {
               Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
               scf::YieldOp::create(b, loc, no);
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

TileScores ScoreTiles::buildScores(OpBuilder &builder, const QueryBlock &block,
                                   const KeyTile &tile, Value worker) {
  SmallVector<Value> largest = buildProducts(builder, block, tile, worker);
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

/// scale · Σ q·k, and the largest of them.
SmallVector<Value> ScoreTiles::buildProducts(OpBuilder &builder,
                                             const QueryBlock &block,
                                             const KeyTile &tile,
                                             Value worker) {
  VectorBuilder all = vectors(builder);
  Value scale = all.splat(scores.scale);
  SmallVector<Value> least(tiling.vectors, all.constant(-kInfinity));
  auto storeScore = [&](OpBuilder &b, Value row, int64_t i, Value product,
                        MutableArrayRef<Value> largest) {
    VectorBuilder v = vectors(b);
    Value score = v.multiply(product, scale);
    storeRow(b, score, worker, scoresAt, row, i);
    largest[i] = v.larger(score, largest[i]);
  };
  return multiply(builder, block, tile, worker,
                  {scores.getInputs().k, scores.depth, queriesAt}, least,
                  storeScore);
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

Value ScoreTiles::isKept(OpBuilder &builder, const QueryBlock &block, Value key,
                         Value lane) {
  return scores.getMask(block.sequence.batch, block.head)
      .isKept(builder, getPosition(builder, block, lane), key);
}

SmallVector<Value> ScoreTiles::getScoreArguments(const QueryBlock &block,
                                                 Value product, Value position,
                                                 Value key) {
  SmallVector<Value> arguments{product, block.sequence.batch, block.head,
                               position, key};
  llvm::append_range(arguments, scores.getScoreCaptures());
  return arguments;
}

Value ScoreTiles::evaluate(OpBuilder &builder, Block &block,
                           ValueRange arguments) {
  Value result = evaluateLanes(builder, loc, block, arguments, tiling.lanes);
  bool isVector = isa<VectorType>(arguments.front().getType());
  return isVector && !isa<VectorType>(result.getType())
             ? vectors(builder).splat(result)
             : result;
}

bool ScoreTiles::isScoreAlwaysSafe() const {
  return llvm::all_of(scores.getInputs().score->front().without_terminator(),
                      [](Operation &op) { return isSpeculatable(&op); });
}

void ScoreTiles::applyScores(OpBuilder &builder, const QueryBlock &block,
                             const KeyTile &tile, Value worker) {
  Block &region = scores.getInputs().score->front();
  buildLoop(builder, loc, constant(builder, 0), tile.count, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              Value key =
                  arith::AddIOp::create(b, loc, tile.begin, row.front());
              for (int64_t i = 0; i < tiling.vectors; ++i) {
                Value product = loadRow(b, worker, scoresAt, row.front(), i);
                Value score =
                    evaluate(b, region,
                             getScoreArguments(block, product,
                                               getPositions(b, block, i), key));
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
    SmallVector<Value> at = getNumberPlace(b, worker, scoresAt, row, lane);
    auto choice = scf::IfOp::create(
        b, loc, isKept(b, block, key, lane),
        [&](OpBuilder &then, Location) {
          FloatBuilder inner{then, loc, scores.getType()};
          Value score =
              evaluate(then, scores.getInputs().score->front(),
                       getScoreArguments(block, inner.load(workspace, at),
                                         position, key));
          scf::YieldOp::create(then, loc, score);
        },
        [&](OpBuilder &otherwise, Location) {
          FloatBuilder inner{otherwise, loc, scores.getType()};
          Value least = inner.constant(-kInfinity);
          scf::YieldOp::create(otherwise, loc, least);
        });
    floats.store(choice.getResult(0), workspace, at);
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
  if (!isScoreAlwaysSafe())
    return applyByLane(builder, block, tile, worker);
  applyScores(builder, block, tile, worker);
  applyMask(builder, block, tile, worker);
}
