//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.attention.

#include "ExpandKernel.h"
#include "ScoreTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/IR/PolOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// For each block of queries the keys are visited tile by tile. What has been
// found so far is held relative to the largest score until then: with a larger
// one, it is scaled down (Milakov and Gimelshein, Online normalizer calculation
// for softmax, 2018; Dao, FlashAttention-2, 2023). Sums are those of a tile, of
// some tiles, and of all: an addend goes through few additions.

/// Tiles whose sums are added up by themselves.
static constexpr int64_t kTilesPerPart = 16;

namespace {
/// What is known of some keys' scores: the largest one, the sum of the weights
/// relative to it, and whether there are any keys; each by vectors of queries.
struct Softmax {
  SmallVector<Value> largest, sums, isAny;

  static Softmax getEmpty(VectorBuilder v, int64_t numVectors) {
    Value none = arith::ConstantOp::create(
        v.builder, v.loc, DenseElementsAttr::get(v.getMaskType(), false));
    return {SmallVector<Value>(numVectors, v.constant(-kInfinity)),
            SmallVector<Value>(numVectors, v.constant(0.0)),
            SmallVector<Value>(numVectors, none)};
  }
  explicit Softmax(ValueRange values) {
    size_t count = values.size() / 3;
    largest.assign(values.begin(), values.begin() + count);
    sums.assign(values.begin() + count, values.begin() + 2 * count);
    isAny.assign(values.begin() + 2 * count, values.end());
  }
  Softmax(ArrayRef<Value> largest, ArrayRef<Value> sums, ArrayRef<Value> isAny)
      : largest(largest), sums(sums), isAny(isAny) {}
  SmallVector<Value> getValues() const {
    SmallVector<Value> values(largest);
    llvm::append_range(values, sums);
    llvm::append_range(values, isAny);
    return values;
  }
};

class Forward {
public:
  Forward(OpBuilder &builder, AttentionOp op, TargetAttr target)
      : op(op), loc(op.getLoc()),
        scores(builder, AttentionInputs(op), /*sumBlock=*/1),
        tiles(builder, scores, target, op.getWorkspace()),
        numVectors(tiles.tiling.vectors) {}

  void build(OpBuilder &builder) {
    if (op.getPacked())
      clearOthers(builder);
    tiles.forEachBlock(
        builder, [&](OpBuilder &b, Value worker, const QueryBlock &block) {
          buildBlock(b, worker, block);
        });
  }

private:
  void buildBlock(OpBuilder &builder, Value worker, const QueryBlock &block);
  void clear(OpBuilder &builder, Value worker, Value offset);
  void clearOthers(OpBuilder &builder);
  Softmax buildPart(OpBuilder &builder, Value worker, const QueryBlock &block,
                    IndexBounds keys);
  Softmax addPart(OpBuilder &builder, Value worker, const Softmax &all,
                  const Softmax &part);
  Softmax visitTile(OpBuilder &builder, Value worker, const QueryBlock &block,
                    const KeyTile &tile, const Softmax &before);
  SmallVector<Value> buildWeights(OpBuilder &builder, Value worker,
                                  const KeyTile &tile, ArrayRef<Value> largest);
  void addValues(OpBuilder &builder, Value worker, const QueryBlock &block,
                 const KeyTile &tile, ArrayRef<Value> decay);
  void addKeptValues(OpBuilder &builder, Value worker, const QueryBlock &block,
                     const KeyTile &tile, ArrayRef<Value> decay);
  Value hasStrangeValues(OpBuilder &builder, const QueryBlock &block,
                         const KeyTile &tile);
  Value loadValue(OpBuilder &builder, const QueryBlock &block,
                  const KeyTile &tile, Value row, Value column);
  void writeResult(OpBuilder &builder, Value worker, const QueryBlock &block,
                   const Softmax &all);
  void writeLanes(OpBuilder &builder, Value worker, const QueryBlock &block,
                  ArrayRef<Value> vectors, Value array);
  /// What is subtracted from scores: the largest one, or 0 where there is none.
  Value getSubtrahend(VectorBuilder &v, Value largest) {
    Value least = v.constant(-kInfinity);
    Value isNone = arith::CmpFOp::create(
        v.builder, loc, arith::CmpFPredicate::OEQ, largest, least);
    return v.select(isNone, v.constant(0.0), largest);
  }

  AttentionOp op;
  Location loc;
  AttentionScores scores;
  ScoreTiles tiles;
  int64_t numVectors;
};
} // namespace

void Forward::buildBlock(OpBuilder &builder, Value worker,
                         const QueryBlock &block) {
  VectorBuilder v = tiles.vectors(builder);
  tiles.packQueries(builder, block, op.getQ(), scores.depth, worker,
                    tiles.queriesAt);
  clear(builder, worker, tiles.resultAt);
  IndexBounds keys = tiles.getKeys(builder, block);
  int64_t size = kTilesPerPart * tiles.tiling.keys;
  auto loop = scf::ForOp::create(
      builder, loc, keys.begin, keys.end, tiles.constant(builder, size),
      Softmax::getEmpty(v, numVectors).getValues(),
      [&](OpBuilder &b, Location, Value begin, ValueRange running) {
        IndexRange range = pol::buildBlock(b, loc, begin, keys.end, size);
        Softmax part = buildPart(b, worker, block, {range.begin, range.end});
        Softmax all = addPart(b, worker, Softmax(running), part);
        scf::YieldOp::create(b, loc, all.getValues());
      });
  writeResult(builder, worker, block, Softmax(loop.getResults()));
}

void Forward::clear(OpBuilder &builder, Value worker, Value offset) {
  buildLoop(builder, loc, tiles.constant(builder, 0), scores.valueDepth, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              Value zero = tiles.vectors(b).constant(0.0);
              for (int64_t i = 0; i < numVectors; ++i)
                tiles.storeRow(b, zero, worker, offset, column.front(), i);
            });
}

Softmax Forward::buildPart(OpBuilder &builder, Value worker,
                           const QueryBlock &block, IndexBounds keys) {
  clear(builder, worker, tiles.partAt);
  VectorBuilder v = tiles.vectors(builder);
  SmallVector<Value> found = tiles.overKeys(
      builder, block, keys, Softmax::getEmpty(v, numVectors).getValues(),
      [&](OpBuilder &b, const KeyTile &tile, ValueRange running) {
        return visitTile(b, worker, block, tile, Softmax(running)).getValues();
      });
  return Softmax(found);
}

/// Adds what has been found of some keys to what has been of those before.
Softmax Forward::addPart(OpBuilder &builder, Value worker, const Softmax &all,
                         const Softmax &part) {
  VectorBuilder v = tiles.vectors(builder);
  Softmax both = all;
  SmallVector<Value> decayOfAll, decayOfPart;
  for (int64_t i = 0; i < numVectors; ++i) {
    both.largest[i] = v.larger(part.largest[i], all.largest[i]);
    Value subtrahend = getSubtrahend(v, both.largest[i]);
    decayOfAll.push_back(
        v.expOfNegative(v.subtract(all.largest[i], subtrahend)));
    decayOfPart.push_back(
        v.expOfNegative(v.subtract(part.largest[i], subtrahend)));
    both.sums[i] = v.fma(all.sums[i], decayOfAll[i],
                         v.multiply(part.sums[i], decayOfPart[i]));
    both.isAny[i] =
        arith::OrIOp::create(builder, loc, all.isAny[i], part.isAny[i]);
  }
  buildLoop(builder, loc, tiles.constant(builder, 0), scores.valueDepth, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              VectorBuilder inner = tiles.vectors(b);
              for (int64_t i = 0; i < numVectors; ++i) {
                Value sum =
                    tiles.loadRow(b, worker, tiles.resultAt, column.front(), i);
                Value added =
                    tiles.loadRow(b, worker, tiles.partAt, column.front(), i);
                sum = inner.fma(sum, decayOfAll[i],
                                inner.multiply(added, decayOfPart[i]));
                tiles.storeRow(b, sum, worker, tiles.resultAt, column.front(),
                               i);
              }
            });
  return both;
}

Softmax Forward::visitTile(OpBuilder &builder, Value worker,
                           const QueryBlock &block, const KeyTile &tile,
                           const Softmax &before) {
  VectorBuilder v = tiles.vectors(builder);
  TileScores found = tiles.buildScores(builder, block, tile, worker);
  Softmax after = before;
  SmallVector<Value> subtrahends, decay;
  for (int64_t i = 0; i < numVectors; ++i) {
    after.largest[i] = v.larger(found.largest[i], before.largest[i]);
    subtrahends.push_back(getSubtrahend(v, after.largest[i]));
    decay.push_back(
        v.expOfNegative(v.subtract(before.largest[i], subtrahends[i])));
    after.isAny[i] =
        arith::OrIOp::create(builder, loc, before.isAny[i], found.isAny[i]);
  }
  SmallVector<Value> sums = buildWeights(builder, worker, tile, subtrahends);
  for (int64_t i = 0; i < numVectors; ++i)
    after.sums[i] = v.fma(before.sums[i], decay[i], sums[i]);
  if (!tile.isPartial) {
    addValues(builder, worker, block, tile, decay);
    return after;
  }
  Value isStrange = arith::AndIOp::create(
      builder, loc, tile.isPartial, hasStrangeValues(builder, block, tile));
  auto choice = scf::IfOp::create(builder, loc, isStrange,
                                  /*withElseRegion=*/true);
  OpBuilder strange = choice.getThenBodyBuilder();
  addKeptValues(strange, worker, block, tile, decay);
  OpBuilder plain = choice.getElseBodyBuilder();
  addValues(plain, worker, block, tile, decay);
  return after;
}

/// Turns scores into weights, and adds those up.
SmallVector<Value> Forward::buildWeights(OpBuilder &builder, Value worker,
                                         const KeyTile &tile,
                                         ArrayRef<Value> subtrahends) {
  SmallVector<Value> zeros(numVectors, tiles.vectors(builder).constant(0.0));
  auto loop = scf::ForOp::create(
      builder, loc, tiles.constant(builder, 0), tile.count,
      tiles.constant(builder, 1), zeros,
      [&](OpBuilder &b, Location, Value row, ValueRange running) {
        VectorBuilder v = tiles.vectors(b);
        SmallVector<Value> sums;
        for (int64_t i = 0; i < numVectors; ++i) {
          Value score = tiles.loadRow(b, worker, tiles.scoresAt, row, i);
          Value weight = v.expOfNegative(v.subtract(score, subtrahends[i]));
          tiles.storeRow(b, weight, worker, tiles.scoresAt, row, i);
          sums.push_back(v.add(running[i], weight));
        }
        scf::YieldOp::create(b, loc, sums);
      });
  return SmallVector<Value>(loop.getResults());
}

Value Forward::loadValue(OpBuilder &builder, const QueryBlock &block,
                         const KeyTile &tile, Value row, Value column) {
  Value key = arith::AddIOp::create(builder, loc, tile.begin, row);
  return FloatBuilder{builder, loc, scores.getType()}.load(
      op.getV(), append(tiles.getKeyPlace(builder, block, key), column));
}

/// part = part · decay + weights · v. Rows of registers beyond the last column
/// are that column once more.
void Forward::addValues(OpBuilder &builder, Value worker,
                        const QueryBlock &block, const KeyTile &tile,
                        ArrayRef<Value> decay) {
  RegisterTile registers = tiles.getRegisterTile();
  Value zero = tiles.constant(builder, 0);
  Value last = arith::SubIOp::create(builder, loc, scores.valueDepth,
                                     tiles.constant(builder, 1));
  auto build = [&](OpBuilder &b, Location, ValueRange first) {
    VectorBuilder v = tiles.vectors(b);
    SmallVector<Value> rows, columns;
    for (int64_t row = 0; row < registers.rows; ++row) {
      rows.push_back(
          arith::AddIOp::create(b, loc, first.front(), tiles.constant(b, row)));
      columns.push_back(buildMin(b, loc, rows.back(), last));
    }
    SmallVector<Value> sums = registers.sum(
        b, {zero, tile.count},
        [&](OpBuilder &inner, Value key, int64_t row) {
          return loadValue(inner, block, tile, key, columns[row]);
        },
        [&](OpBuilder &inner, Value key, int64_t vector) {
          return tiles.loadRow(inner, worker, tiles.scoresAt, key, vector);
        });
    for (int64_t row = 0; row < registers.rows; ++row)
      for (int64_t i = 0; i < numVectors; ++i) {
        Value before = tiles.loadRow(b, worker, tiles.partAt, rows[row], i);
        Value after =
            v.fma(before, decay[i], sums[row * registers.vectors + i]);
        tiles.storeRow(b, after, worker, tiles.partAt, rows[row], i);
      }
  };
  buildLoop(builder, loc, zero, scores.valueDepth, registers.rows, build);
}

/// Whether any value of a tile is infinite or NaN: times a weight of 0, it
/// would not be nothing.
Value Forward::hasStrangeValues(OpBuilder &builder, const QueryBlock &block,
                                const KeyTile &tile) {
  Value zero = tiles.constant(builder, 0), one = tiles.constant(builder, 1);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 1);
  auto visitRow = [&](OpBuilder &outer, Location, Value row, ValueRange found) {
    auto columns = scf::ForOp::create(
        outer, loc, zero, scores.valueDepth, one, found,
        [&](OpBuilder &b, Location, Value column, ValueRange running) {
          Value isFinite =
              buildIsFinite(b, loc, loadValue(b, block, tile, row, column));
          Value isStrange = arith::XOrIOp::create(
              b, loc, isFinite, arith::ConstantIntOp::create(b, loc, 1, 1));
          scf::YieldOp::create(
              b, loc,
              arith::OrIOp::create(b, loc, running.front(), isStrange)
                  .getResult());
        });
    scf::YieldOp::create(outer, loc, columns.getResults());
  };
  auto rows =
      scf::ForOp::create(builder, loc, zero, tile.count, one, none, visitRow);
  return rows.getResult(0);
}

/// The same, with the same bits, where a query's weight of 0 is no factor but a
/// key that it does not keep.
void Forward::addKeptValues(OpBuilder &builder, Value worker,
                            const QueryBlock &block, const KeyTile &tile,
                            ArrayRef<Value> decay) {
  Value zero = tiles.constant(builder, 0), one = tiles.constant(builder, 1);
  auto addColumn = [&](OpBuilder &outer, Location, ValueRange column) {
    VectorBuilder v = tiles.vectors(outer);
    SmallVector<Value> zeros(numVectors, v.constant(0.0));
    auto sums = scf::ForOp::create(
        outer, loc, zero, tile.count, one, zeros,
        [&](OpBuilder &b, Location, Value row, ValueRange running) {
          VectorBuilder inner = tiles.vectors(b);
          Value key = arith::AddIOp::create(b, loc, tile.begin, row);
          Value number =
              inner.splat(loadValue(b, block, tile, row, column.front()));
          SmallVector<Value> next;
          for (int64_t i = 0; i < numVectors; ++i) {
            Value weight = tiles.loadRow(b, worker, tiles.scoresAt, row, i);
            next.push_back(inner.select(tiles.isKept(b, block, key, i),
                                        inner.fma(number, weight, running[i]),
                                        running[i]));
          }
          scf::YieldOp::create(b, loc, next);
        });
    for (int64_t i = 0; i < numVectors; ++i) {
      Value before =
          tiles.loadRow(outer, worker, tiles.partAt, column.front(), i);
      tiles.storeRow(outer, v.fma(before, decay[i], sums.getResult(i)), worker,
                     tiles.partAt, column.front(), i);
    }
  };
  buildLoop(builder, loc, zero, scores.valueDepth, 1, addColumn);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Writes a number of each query: into the workspace, where scores were, and
/// from there one by one.
void Forward::writeLanes(OpBuilder &builder, Value worker,
                         const QueryBlock &block, ArrayRef<Value> vectors,
                         Value array) {
  Value zero = tiles.constant(builder, 0);
  for (auto [i, vector] : llvm::enumerate(vectors))
    tiles.storeRow(builder, vector, worker, tiles.scoresAt, zero, i);
  buildLoop(builder, loc, zero, block.count, 1,
            [&](OpBuilder &b, Location, ValueRange lane) {
              FloatBuilder floats{b, loc, scores.getType()};
              Value at =
                  arith::AddIOp::create(b, loc, tiles.scoresAt, lane.front());
              floats.store(floats.load(op.getWorkspace(), {worker, at}), array,
                           tiles.getQueryPlace(b, block, lane.front()));
            });
}

/// o = result / sum, 0 where there are no keys; and the checkpoints. Where all
/// scores are -inf, none can be subtracted from another: weights and sums are
/// NaN.
void Forward::writeResult(OpBuilder &builder, Value worker,
                          const QueryBlock &block, const Softmax &all) {
  VectorBuilder v = tiles.vectors(builder);
  SmallVector<Value> factors, maxima, sums;
  for (int64_t i = 0; i < numVectors; ++i) {
    auto compare = [&](arith::CmpFPredicate predicate, Value lhs,
                       double rhs) -> Value {
      return arith::CmpFOp::create(builder, loc, predicate, lhs,
                                   v.constant(rhs));
    };
    Value largest = all.largest[i];
    Value isLeast = arith::AndIOp::create(
        builder, loc, all.isAny[i],
        compare(arith::CmpFPredicate::OEQ, largest, -kInfinity));
    double noNumber = std::numeric_limits<double>::quiet_NaN();
    sums.push_back(v.select(isLeast, v.constant(noNumber), all.sums[i]));
    factors.push_back(
        arith::DivFOp::create(builder, loc, v.constant(1.0), sums[i]));
    // A score that is not a number is not found among the largest ones, but
    // makes the sum one that is not.
    Value isStrange = arith::AndIOp::create(
        builder, loc, compare(arith::CmpFPredicate::UNO, all.sums[i], 0.0),
        compare(arith::CmpFPredicate::ONE, largest, kInfinity));
    maxima.push_back(v.select(isStrange, all.sums[i], largest));
  }
  Value first = tiles.constant(builder, 0);
  buildLoop(builder, loc, first, scores.valueDepth, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              VectorBuilder inner = tiles.vectors(b);
              for (int64_t i = 0; i < numVectors; ++i) {
                Value sum =
                    tiles.loadRow(b, worker, tiles.resultAt, column.front(), i);
                Value result =
                    inner.select(all.isAny[i], inner.multiply(sum, factors[i]),
                                 inner.constant(0.0));
                tiles.storeRow(b, result, worker, tiles.resultAt,
                               column.front(), i);
              }
            });
  tiles.unpackQueries(builder, block, op.getO(), scores.valueDepth, worker,
                      tiles.resultAt);
  if (!op.getMax())
    return;
  writeLanes(builder, worker, block, maxima, op.getMax());
  writeLanes(builder, worker, block, sums, op.getSum());
}

/// Rows of packed sequences that are in none: before the first one, and behind
/// the last.
void Forward::clearOthers(OpBuilder &builder) {
  Value zero = tiles.constant(builder, 0);
  Value count = scores.getNumSequences(builder);
  Value offsets = op.getQLengths();
  auto isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     count, zero);
  // Without sequences nothing may be read of the offsets.
  auto bounds = scf::IfOp::create(
      builder, loc, isAny,
      [&](OpBuilder &b, Location) {
        Value first = loadWithin(b, loc, offsets, zero, zero, scores.queries);
        Value last = loadWithin(b, loc, offsets, count, first, scores.queries);
        scf::YieldOp::create(b, loc, ValueRange{first, last});
      },
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc,
                             ValueRange{scores.queries, scores.queries});
      });
  auto clearRow = [&](OpBuilder &b, Value head, Value row) {
    FloatBuilder floats{b, loc, scores.getType()};
    SmallVector<Value> place{zero, head, row};
    if (op.getMax()) {
      floats.store(floats.constant(-kInfinity), op.getMax(), place);
      floats.store(floats.constant(0.0), op.getSum(), place);
    }
    buildLoop(b, loc, zero, scores.valueDepth, 1,
              [&](OpBuilder &inner, Location, ValueRange column) {
                FloatBuilder element{inner, loc, scores.getType()};
                element.store(element.constant(0.0), op.getO(),
                              append(place, column.front()));
              });
  };
  auto clearHead = [&](OpBuilder &outer, Location, ValueRange at) {
    for (auto [begin, end] :
         {std::pair<Value, Value>(zero, bounds.getResult(0)),
          {bounds.getResult(1), scores.queries}})
      buildLoop(outer, loc, begin, end, 1,
                [&](OpBuilder &b, Location, ValueRange row) {
                  clearRow(b, at[1], row.front());
                });
  };
  buildParallelLoop(builder, loc,
                    getAsOpFoldResult({scores.batches, scores.heads}),
                    clearHead);
}

static void expandAttention(OpBuilder &builder, AttentionOp op,
                            TargetAttr target) {
  Forward(builder, op, target).build(builder);
}

/// Whether there is a workspace that was described for a target: for none, it
/// is empty.
static bool canExpandAttention(AttentionOp op) {
  Value workspace = op.getWorkspace();
  return workspace && hasVectorRows(workspace) && lookupTarget(op) &&
         cast<MemRefType>(workspace.getType()).getDimSize(0) != 0;
}

void mlir::pol::populateAttentionToVectorPatterns(RewritePatternSet &patterns,
                                                  TargetAttr target) {
  patterns.add<ExpandToVector<AttentionOp>>(
      patterns.getContext(), expandAttention, target, canExpandAttention);
}
