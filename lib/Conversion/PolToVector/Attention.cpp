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

/// Keys whose sums are added up by themselves, some tiles.
static constexpr int64_t kKeysPerPart = 1024;

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
        places(builder, loc, target, getAsOpFoldResult(scores.depth),
               getAsOpFoldResult(scores.valueDepth)),
        tiling(target, scores.getType()),
        tiles(scores, tiling, tiling.keys, op.getWorkspace(),
              getPlace(builder, places.queries),
              getPlace(builder, places.scores)),
        resultAt(getPlace(builder, places.result)),
        partAt(isOnePart() ? resultAt : getPlace(builder, places.part)),
        numVectors(tiling.vectors) {}

  void build(OpBuilder &builder) {
    if (op.getPacked())
      clearOthers(builder);
    auto getCount = [&](OpBuilder &b, const Sequence &sequence) -> Value {
      return arith::MulIOp::create(b, loc, tiles.getNumBlocks(b, sequence),
                                   scores.heads);
    };
    auto visit = [&](OpBuilder &b, Value worker, const Sequence &sequence,
                     Value item) {
      Value blocks = tiles.getNumBlocks(b, sequence);
      Value head = arith::DivUIOp::create(b, loc, item, blocks);
      Value number = arith::RemUIOp::create(b, loc, item, blocks);
      buildBlock(b, worker, tiles.getBlock(b, sequence, head, number));
    };
    tiles.forEachItem(builder, getCount, visit);
  }

private:
  /// Whether all keys are one part, which then is the result.
  bool isOnePart() const {
    std::optional<int64_t> keys = getConstantIntValue(scores.keys);
    return keys && *keys <= kKeysPerPart;
  }
  void buildBlock(OpBuilder &builder, Value worker, const QueryBlock &block);
  Softmax buildParts(OpBuilder &builder, Value worker, const QueryBlock &block,
                     IndexBounds keys);
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
                 const KeyTile &tile, ArrayRef<Value> decay,
                 ScoreTiles::SumFn sum);
  void writeResult(OpBuilder &builder, Value worker, const QueryBlock &block,
                   const Softmax &all);
  Value getPlace(OpBuilder &builder, OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(builder, loc, place);
  }
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
  AttentionWorkspace places;
  AttentionTiling tiling;
  ScoreTiles tiles;
  Value resultAt, partAt;
  int64_t numVectors;
};
} // namespace

void Forward::buildBlock(OpBuilder &builder, Value worker,
                         const QueryBlock &block) {
  tiles.packQueries(builder, block, op.getQ(), scores.depth, worker,
                    tiles.queriesAt);
  IndexBounds keys = tiles.getKeys(builder, block);
  writeResult(builder, worker, block,
              isOnePart() ? buildPart(builder, worker, block, keys)
                          : buildParts(builder, worker, block, keys));
}

Softmax Forward::buildParts(OpBuilder &builder, Value worker,
                            const QueryBlock &block, IndexBounds keys) {
  tiles.clearRows(builder, worker, resultAt, scores.valueDepth);
  auto loop = scf::ForOp::create(
      builder, loc, keys.begin, keys.end, tiles.constant(builder, kKeysPerPart),
      Softmax::getEmpty(tiles.vectors(builder), numVectors).getValues(),
      [&](OpBuilder &b, Location, Value begin, ValueRange running) {
        IndexRange range =
            pol::buildBlock(b, loc, begin, keys.end, kKeysPerPart);
        Softmax part = buildPart(b, worker, block, {range.begin, range.end});
        Softmax all = addPart(b, worker, Softmax(running), part);
        scf::YieldOp::create(b, loc, all.getValues());
      });
  return Softmax(loop.getResults());
}

Softmax Forward::buildPart(OpBuilder &builder, Value worker,
                           const QueryBlock &block, IndexBounds keys) {
  tiles.clearRows(builder, worker, partAt, scores.valueDepth);
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
                    tiles.loadRow(b, worker, resultAt, column.front(), i);
                Value added =
                    tiles.loadRow(b, worker, partAt, column.front(), i);
                sum = inner.fma(sum, decayOfAll[i],
                                inner.multiply(added, decayOfPart[i]));
                tiles.storeRow(b, sum, worker, resultAt, column.front(), i);
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
    addValues(builder, worker, block, tile, decay, &ScoreTiles::sumKeys);
    return after;
  }
  Value isStrange = tiles.isPartialAnd(builder, tile, [&](OpBuilder &outer) {
    return tiles.hasStrange(outer, tile.count, scores.valueDepth,
                            [&](OpBuilder &b, Value row, Value column) {
                              return tiles.loadOfKey(b, block, tile, op.getV(),
                                                     row, column);
                            });
  });
  auto choice = scf::IfOp::create(builder, loc, isStrange,
                                  /*withElseRegion=*/true);
  OpBuilder strange = choice.getThenBodyBuilder();
  addValues(strange, worker, block, tile, decay, &ScoreTiles::sumKeptKeys);
  OpBuilder plain = choice.getElseBodyBuilder();
  addValues(plain, worker, block, tile, decay, &ScoreTiles::sumKeys);
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

/// part = part · decay + weights · v
void Forward::addValues(OpBuilder &builder, Value worker,
                        const QueryBlock &block, const KeyTile &tile,
                        ArrayRef<Value> decay, ScoreTiles::SumFn sum) {
  (tiles.*sum)(builder, block, tile, worker,
               {op.getV(), scores.valueDepth, tiles.scoresAt},
               [&](OpBuilder &b, Value column, int64_t i, Value added) {
                 VectorBuilder v = tiles.vectors(b);
                 Value before = tiles.loadRow(b, worker, partAt, column, i);
                 tiles.storeRow(b, v.fma(before, decay[i], added), worker,
                                partAt, column, i);
               });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

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
                    tiles.loadRow(b, worker, resultAt, column.front(), i);
                Value result =
                    inner.select(all.isAny[i], inner.multiply(sum, factors[i]),
                                 inner.constant(0.0));
                tiles.storeRow(b, result, worker, resultAt, column.front(), i);
              }
            });
  tiles.unpackQueries(builder, block, op.getO(), scores.valueDepth, worker,
                      resultAt);
  if (!op.getMax())
    return;
  tiles.storeLanes(builder, block, maxima, op.getMax(), worker);
  tiles.storeLanes(builder, block, sums, op.getSum(), worker);
}

/// Rows that are in no sequence.
void Forward::clearOthers(OpBuilder &builder) {
  auto clearRow = [&](OpBuilder &b, ValueRange place) {
    FloatBuilder floats{b, loc, scores.getType()};
    if (op.getMax()) {
      floats.store(floats.constant(-kInfinity), op.getMax(), place);
      floats.store(floats.constant(0.0), op.getSum(), place);
    }
    tiles.clearRow(b, op.getO(), place, scores.valueDepth);
  };
  tiles.forEachOther(builder, op.getQLengths(), scores.heads, scores.queries,
                     clearRow);
}

static void expandAttention(OpBuilder &builder, AttentionOp op,
                            TargetAttr target) {
  Forward(builder, op, target).build(builder);
}

static bool canExpandAttention(AttentionOp op) {
  return hasWorkspace(op, op.getWorkspace());
}

void mlir::pol::populateAttentionToVectorPatterns(RewritePatternSet &patterns,
                                                  TargetAttr target) {
  patterns.add<ExpandToVector<AttentionOp>>(
      patterns.getContext(), expandAttention, target, canExpandAttention);
}
