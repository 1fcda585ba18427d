//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.attention_grad.

#include "../PolToLinalg/AttentionGradients.h"
#include "ExpandKernel.h"
#include "Rows.h"
#include "ScoreTiles.h"
#include "VectorRegions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

// A tile of weights P and one of their gradients dS are computed again from
// what the forward op has found, keys by queries as there. dq is summed over
// the tiles of a block of queries, as the forward result is; dk and dv over the
// blocks of queries of an item of work, in lanes of columns (Dao,
// FlashAttention-2, 2023).
//
// Where heads of keys are enough for the workers, an item is one of them, and
// each tile is computed once: 5 products. Where they are not, or where dk or dv
// are too narrow to be summed in, there are two kinds of items: a block of
// queries with all keys, for dq, and some keys with all queries, for dk and dv:
// 7 products.

static constexpr int64_t kJointProducts = 5, kSplitProducts = 7;

namespace {
/// What one item of work computes: of these query heads, which share a head of
/// keys, these blocks of queries with these keys.
struct WorkItem {
  Sequence sequence;
  Value keyHead;
  IndexRange heads, blocks, keys;
  /// Whether it computes dq; whether dk and dv.
  Value isOfQueries, isOfKeys;
};

/// A sum over queries: of a tile's weights, or their gradients, times rows of
/// an array of queries.
struct KeyGradient {
  Value destination;
  /// What is in the place of a tile of scores.
  Value weightsAt;
  Value factors;
  Value columns;
  /// Where it is summed in the workspace; null where that is the destination.
  Value sumsAt;
  Rows rows;
};

class Backward {
public:
  Backward(OpBuilder &builder, AttentionGradOp op, TargetAttr target);
  void build(OpBuilder &builder);

private:
  Value getPlace(OpBuilder &builder, OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(builder, loc, place);
  }
  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  void buildDelta(OpBuilder &builder);
  void clearOthers(OpBuilder &builder);

  // Work.
  void decideSplit(OpBuilder &builder);
  Value getKeysPerItem(OpBuilder &builder, const Sequence &sequence);
  Value getNumQueryItems(OpBuilder &builder, const Sequence &sequence);
  Value getNumKeyItems(OpBuilder &builder, const Sequence &sequence);
  WorkItem getItem(OpBuilder &builder, const Sequence &sequence, Value number);
  void buildItem(OpBuilder &builder, Value worker, const WorkItem &item);
  void buildBlock(OpBuilder &builder, Value worker, const WorkItem &item,
                  const QueryBlock &block);
  void ifForQueries(OpBuilder &builder, const WorkItem &item,
                    function_ref<void(OpBuilder &)> body);
  void ifForKeys(OpBuilder &builder, const WorkItem &item,
                 function_ref<void(OpBuilder &)> body);

  // Tiles.
  void visitTile(OpBuilder &builder, Value worker, const WorkItem &item,
                 const QueryBlock &block, const KeyTile &tile);
  void buildProducts(OpBuilder &builder, Value worker, const QueryBlock &block,
                     const KeyTile &tile);
  void buildGradients(OpBuilder &builder, Value worker, const QueryBlock &block,
                      const KeyTile &tile, bool isPartial);
  void buildByLane(OpBuilder &builder, Value worker, const QueryBlock &block,
                   const KeyTile &tile);
  Value getSeedGradient(OpBuilder &builder, ValueRange arguments, Value seed);
  void addQueries(OpBuilder &builder, Value worker, const QueryBlock &block,
                  const KeyTile &tile);
  void addKeys(OpBuilder &builder, Value worker, const WorkItem &item,
               const QueryBlock &block, const KeyTile &tile,
               const KeyGradient &gradient);
  void addKept(OpBuilder &builder, Value worker, const WorkItem &item,
               const QueryBlock &block, const KeyTile &tile);
  Value hasStrange(OpBuilder &builder, const QueryBlock &block,
                   const KeyTile &tile);

  // Sums of dk and dv.
  /// An element, in an array and at indices there.
  using Element = std::pair<Value, SmallVector<Value>>;
  Element getSum(OpBuilder &builder, Value worker, const WorkItem &item,
                 const KeyGradient &gradient, Value key, Value column);
  void forEachSum(OpBuilder &builder, const WorkItem &item,
                  function_ref<void(VectorBuilder &, const KeyGradient &,
                                    Value key, Value column, Value mask)>
                      body);

  AttentionGradOp op;
  Location loc;
  TargetAttr target;
  AttentionScores scores;
  AttentionGradWorkspace places;
  AttentionTiling tiling;
  ScoreTiles tiles;
  Value cotangentsAt, resultAt, gradientsAt;
  SmallVector<KeyGradient> keyGradients;
  /// Whether a tile's gradients of scores are needed, or weights alone.
  bool usesScores;
  /// How many items there would be if each were a head of keys, and whether
  /// each is, an i1.
  Value numHeads, isJoint;
  /// Of the block that is being built, by vectors of queries: what the forward
  /// op has found, 1/sum of it, and Δ.
  SmallVector<Value> maxima, inverses, deltas;
};
} // namespace

/// Whether sums may be in the destination itself.
static bool isOfType(Value array, FloatType type) {
  return cast<MemRefType>(array.getType()).getElementType() == type;
}

Backward::Backward(OpBuilder &builder, AttentionGradOp op, TargetAttr target)
    : op(op), loc(op.getLoc()), target(target),
      scores(builder, AttentionInputs(op), /*sumBlock=*/1),
      places(builder, loc, target, getAsOpFoldResult(scores.depth),
             getAsOpFoldResult(scores.valueDepth)),
      tiling(target, scores.getType()),
      tiles(scores, tiling, tiling.gradKeys, op.getWorkspace(),
            getPlace(builder, places.queries),
            getPlace(builder, places.scores)),
      cotangentsAt(getPlace(builder, places.cotangents)),
      resultAt(getPlace(builder, places.result)),
      gradientsAt(getPlace(builder, places.gradients)),
      usesScores(op.getDq() || op.getDk()) {
  bool isNarrow = false;
  for (Value array : {op.getDk(), op.getDv()})
    isNarrow |= array && !isOfType(array, scores.getType());
  auto add = [&](Value destination, Value weightsAt, Value queries,
                 Value columns, OpFoldResult sumsAt) {
    if (destination)
      keyGradients.push_back(
          {destination, weightsAt, queries, columns,
           isNarrow ? getPlace(builder, sumsAt) : Value(),
           Rows(builder, loc, queries, target, scores.getType())});
  };
  add(op.getDv(), tiles.scoresAt, op.getDout(), scores.valueDepth,
      places.valueSums);
  add(op.getDk(), gradientsAt, op.getQ(), scores.depth, places.keySums);
}

/// Δ = Σ dout · o. Of queries without keys it is not used.
void Backward::buildDelta(OpBuilder &builder) {
  Rows rows(builder, loc, op.getDout(), target, scores.getType());
  rows.forEach(builder, [&](OpBuilder &b, ValueRange at) {
    SmallVector<Value> sum =
        rows.sum(b, 1,
                 [&](VectorBuilder &v, Value index, Value mask,
                     MutableArrayRef<Value> running) {
                   SmallVector<Value> place = append(at, index);
                   running[0] =
                       v.fma(v.load(op.getDout(), place, mask),
                             v.load(op.getO(), place, mask), running[0]);
                 });
    FloatBuilder{b, loc, scores.getType()}.store(sum[0], op.getDelta(), at);
  });
}

/// Rows that are in no sequence.
void Backward::clearOthers(OpBuilder &builder) {
  auto clear = [&](Value array, Value offsets, Value heads, Value length,
                   Value columns) {
    if (array)
      tiles.forEachOther(builder, offsets, heads, length,
                         [&](OpBuilder &b, ValueRange place) {
                           tiles.clearRow(b, array, place, columns);
                         });
  };
  clear(op.getDq(), op.getQLengths(), scores.heads, scores.queries,
        scores.depth);
  for (const KeyGradient &gradient : keyGradients)
    clear(gradient.destination, op.getKLengths(), scores.keyHeads, scores.keys,
          gradient.columns);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Heads of keys, each by one worker, take 5 products for as many rounds as
/// there are; items of two kinds, which keep all workers busy, take 7.
void Backward::decideSplit(OpBuilder &builder) {
  numHeads = arith::MulIOp::create(
      builder, loc, scores.getNumSequences(builder), scores.keyHeads);
  bool canBeJoint =
      op.getDq() && !keyGradients.empty() && !keyGradients.front().sumsAt;
  if (!canBeJoint) {
    isJoint = arith::ConstantIntOp::create(builder, loc, 0, 1);
    return;
  }
  Value workers =
      getPlace(builder, getExtent(builder, loc, op.getWorkspace(), 0));
  Value rounds = arith::CeilDivUIOp::create(builder, loc, numHeads, workers);
  Value joint = arith::MulIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, rounds, workers),
      constant(builder, kJointProducts));
  Value split = arith::MulIOp::create(builder, loc, numHeads,
                                      constant(builder, kSplitProducts));
  isJoint = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                  joint, split);
}

/// Where items are of two kinds: as many keys as can be summed, or fewer, so
/// that all workers have some. 1 at least.
Value Backward::getKeysPerItem(OpBuilder &builder, const Sequence &sequence) {
  Value one = constant(builder, 1), tile = constant(builder, tiling.gradKeys);
  auto divide = [&](Value lhs, Value rhs) -> Value {
    return arith::CeilDivUIOp::create(builder, loc, lhs, rhs);
  };
  Value workers =
      getPlace(builder, getExtent(builder, loc, op.getWorkspace(), 0));
  Value perHead = divide(workers, buildMax(builder, loc, numHeads, one));
  Value numTiles = divide(sequence.numKeys, tile);
  Value least = divide(sequence.numKeys, constant(builder, tiling.summedKeys));
  Value parts =
      buildMax(builder, loc, buildMin(builder, loc, perHead, numTiles),
               buildMax(builder, loc, least, one));
  Value tiles = buildMax(builder, loc, divide(numTiles, parts), one);
  return arith::MulIOp::create(builder, loc, tiles, tile);
}

Value Backward::getNumQueryItems(OpBuilder &builder, const Sequence &sequence) {
  Value none = constant(builder, 0);
  if (!op.getDq())
    return none;
  Value perHead = tiles.getNumBlocks(builder, sequence);
  Value count = arith::MulIOp::create(builder, loc, perHead, scores.heads);
  return arith::SelectOp::create(builder, loc, isJoint, none, count);
}

/// Of each head of keys.
Value Backward::getNumKeyItems(OpBuilder &builder, const Sequence &sequence) {
  if (keyGradients.empty())
    return constant(builder, 0);
  Value count = arith::CeilDivUIOp::create(builder, loc, sequence.numKeys,
                                           getKeysPerItem(builder, sequence));
  return arith::SelectOp::create(builder, loc, isJoint, constant(builder, 1),
                                 count);
}

/// Those for queries come first. Where each is a head of keys, there are none.
WorkItem Backward::getItem(OpBuilder &builder, const Sequence &sequence,
                           Value number) {
  Value zero = constant(builder, 0), one = constant(builder, 1);
  auto select = [&](Value condition, Value lhs, Value rhs) -> Value {
    return arith::SelectOp::create(builder, loc, condition, lhs, rhs);
  };
  auto divide = [&](Value lhs, Value rhs) -> Value {
    return arith::DivUIOp::create(builder, loc, lhs, rhs);
  };
  auto rest = [&](Value lhs, Value rhs) -> Value {
    return arith::RemUIOp::create(builder, loc, lhs, rhs);
  };
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  };
  Value numBlocks = tiles.getNumBlocks(builder, sequence);
  Value numQueryItems = getNumQueryItems(builder, sequence);
  Value isBlock = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        number, numQueryItems);
  Value blocksPerHead = buildMax(builder, loc, numBlocks, one);
  Value perKeyHead =
      buildMax(builder, loc, one,
               select(isBlock,
                      arith::MulIOp::create(builder, loc, blocksPerHead,
                                            scores.groupSize),
                      getNumKeyItems(builder, sequence)));
  Value ownNumber = arith::SubIOp::create(builder, loc, number,
                                          select(isBlock, zero, numQueryItems));

  WorkItem item;
  item.sequence = sequence;
  item.keyHead = divide(ownNumber, perKeyHead);
  Value inHead = rest(ownNumber, perKeyHead);
  Value first =
      arith::MulIOp::create(builder, loc, item.keyHead, scores.groupSize);
  first = add(first, select(isBlock, divide(inHead, blocksPerHead), zero));
  Value count = select(isBlock, one, scores.groupSize);
  // Where there are no heads, groups have one nevertheless.
  item.heads = {first, buildMin(builder, loc, scores.heads, add(first, count))};
  Value block = select(isBlock, rest(inHead, blocksPerHead), zero);
  item.blocks = {block, select(isBlock, add(block, one), numBlocks)};
  Value hasAllKeys = arith::OrIOp::create(builder, loc, isBlock, isJoint);
  Value size =
      select(hasAllKeys, sequence.numKeys, getKeysPerItem(builder, sequence));
  Value begin = select(hasAllKeys, zero,
                       arith::MulIOp::create(builder, loc, inHead, size));
  Value left = arith::SubIOp::create(builder, loc, sequence.numKeys, begin);
  item.keys = {begin, add(begin, buildMin(builder, loc, left, size))};
  item.isOfQueries = hasAllKeys;
  item.isOfKeys = arith::XOrIOp::create(
      builder, loc, isBlock, arith::ConstantIntOp::create(builder, loc, 1, 1));
  return item;
}

/// Builds what is for dq only. If nothing else is wanted, all items are.
void Backward::ifForQueries(OpBuilder &builder, const WorkItem &item,
                            function_ref<void(OpBuilder &)> body) {
  if (!op.getDq())
    return;
  if (keyGradients.empty())
    return body(builder);
  scf::IfOp::create(builder, loc, item.isOfQueries,
                    [&](OpBuilder &b, Location) {
                      body(b);
                      scf::YieldOp::create(b, loc);
                    });
}

/// The same for dk and dv.
void Backward::ifForKeys(OpBuilder &builder, const WorkItem &item,
                         function_ref<void(OpBuilder &)> body) {
  if (keyGradients.empty())
    return;
  if (!op.getDq())
    return body(builder);
  scf::IfOp::create(builder, loc, item.isOfKeys, [&](OpBuilder &b, Location) {
    body(b);
    scf::YieldOp::create(b, loc);
  });
}

void Backward::buildItem(OpBuilder &builder, Value worker,
                         const WorkItem &item) {
  ifForKeys(builder, item, [&](OpBuilder &b) {
    forEachSum(b, item,
               [&](VectorBuilder &v, const KeyGradient &gradient, Value key,
                   Value column, Value mask) {
                 auto [array, place] =
                     getSum(v.builder, worker, item, gradient, key, column);
                 v.store(v.constant(0.0), array, place, mask);
               });
  });
  Value one = constant(builder, 1);
  scf::ForOp::create(
      builder, loc, item.heads.begin, item.heads.end, one, ValueRange(),
      [&](OpBuilder &outer, Location, Value head, ValueRange) {
        scf::ForOp::create(
            outer, loc, item.blocks.begin, item.blocks.end, one, ValueRange(),
            [&](OpBuilder &b, Location, Value number, ValueRange) {
              buildBlock(b, worker, item,
                         tiles.getBlock(b, item.sequence, head, number));
              scf::YieldOp::create(b, loc);
            });
        scf::YieldOp::create(outer, loc);
      });
  if (keyGradients.empty() || !keyGradients.front().sumsAt)
    return;
  ifForKeys(builder, item, [&](OpBuilder &b) {
    forEachSum(b, item,
               [&](VectorBuilder &v, const KeyGradient &gradient, Value key,
                   Value column, Value mask) {
                 auto [array, place] =
                     getSum(v.builder, worker, item, gradient, key, column);
                 Value sum = v.load(array, place, mask);
                 KeyGradient inPlace = gradient;
                 inPlace.sumsAt = Value();
                 auto [to, toPlace] =
                     getSum(v.builder, worker, item, inPlace, key, column);
                 v.store(sum, to, toPlace, mask);
               });
  });
}

void Backward::buildBlock(OpBuilder &builder, Value worker,
                          const WorkItem &item, const QueryBlock &block) {
  VectorBuilder v = tiles.vectors(builder);
  tiles.packQueries(builder, block, op.getQ(), scores.depth, worker,
                    tiles.queriesAt);
  maxima = tiles.loadLanes(builder, block, op.getMax(), worker);
  inverses.clear();
  for (Value sum : tiles.loadLanes(builder, block, op.getSum(), worker))
    inverses.push_back(
        arith::DivFOp::create(builder, loc, v.constant(1.0), sum));
  if (usesScores) {
    tiles.packQueries(builder, block, op.getDout(), scores.valueDepth, worker,
                      cotangentsAt);
    deltas = tiles.loadLanes(builder, block, op.getDelta(), worker);
  }
  ifForQueries(builder, item, [&](OpBuilder &outer) {
    buildLoop(outer, loc, constant(outer, 0), scores.depth, 1,
              [&](OpBuilder &b, Location, ValueRange column) {
                Value zero = tiles.vectors(b).constant(0.0);
                for (int64_t i = 0; i < tiling.vectors; ++i)
                  tiles.storeRow(b, zero, worker, resultAt, column.front(), i);
              });
  });
  IndexBounds kept = tiles.getKeys(builder, block);
  IndexBounds keys{buildMax(builder, loc, kept.begin, item.keys.begin),
                   buildMin(builder, loc, kept.end, item.keys.end)};
  tiles.overKeys(builder, block, keys, {},
                 [&](OpBuilder &b, const KeyTile &tile, ValueRange) {
                   visitTile(b, worker, item, block, tile);
                   return SmallVector<Value>();
                 });
  ifForQueries(builder, item, [&](OpBuilder &b) {
    tiles.unpackQueries(b, block, op.getDq(), scores.depth, worker, resultAt);
  });
}

void Backward::build(OpBuilder &builder) {
  if (op.getDelta())
    buildDelta(builder);
  if (op.getPacked())
    clearOthers(builder);
  decideSplit(builder);
  auto getCount = [&](OpBuilder &b, const Sequence &sequence) -> Value {
    Value ofKeys = arith::MulIOp::create(b, loc, scores.keyHeads,
                                         getNumKeyItems(b, sequence));
    return arith::AddIOp::create(b, loc, getNumQueryItems(b, sequence), ofKeys);
  };
  tiles.forEachItem(
      builder, getCount,
      [&](OpBuilder &b, Value worker, const Sequence &sequence, Value number) {
        buildItem(b, worker, getItem(b, sequence, number));
      });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void Backward::visitTile(OpBuilder &builder, Value worker, const WorkItem &item,
                         const QueryBlock &block, const KeyTile &tile) {
  buildProducts(builder, worker, block, tile);
  auto add = [&](OpBuilder &outer) {
    ifForQueries(outer, item,
                 [&](OpBuilder &b) { addQueries(b, worker, block, tile); });
    ifForKeys(outer, item, [&](OpBuilder &b) {
      for (const KeyGradient &gradient : keyGradients)
        addKeys(b, worker, item, block, tile, gradient);
    });
  };
  if (!tile.isPartial) {
    buildGradients(builder, worker, block, tile, /*isPartial=*/false);
    return add(builder);
  }
  auto choice = scf::IfOp::create(builder, loc, tile.isPartial,
                                  /*withElseRegion=*/true);
  OpBuilder partial = choice.getThenBodyBuilder();
  if (tiles.hasScore() && !tiles.isScoreAlwaysSafe())
    buildByLane(partial, worker, block, tile);
  else
    buildGradients(partial, worker, block, tile, /*isPartial=*/true);
  OpBuilder full = choice.getElseBodyBuilder();
  buildGradients(full, worker, block, tile, /*isPartial=*/false);

  Value isStrange = arith::AndIOp::create(builder, loc, tile.isPartial,
                                          hasStrange(builder, block, tile));
  auto strange = scf::IfOp::create(builder, loc, isStrange,
                                   /*withElseRegion=*/true);
  OpBuilder kept = strange.getThenBodyBuilder();
  addKept(kept, worker, item, block, tile);
  OpBuilder all = strange.getElseBodyBuilder();
  add(all);
}

/// scale · Σ q·k in the place of scores, and Σ dout·v in that of gradients.
void Backward::buildProducts(OpBuilder &builder, Value worker,
                             const QueryBlock &block, const KeyTile &tile) {
  Value scale = tiles.vectors(builder).splat(scores.scale);
  tiles.multiply(builder, block, tile, worker,
                 {op.getK(), scores.depth, tiles.queriesAt}, {},
                 [&](OpBuilder &b, Value row, int64_t i, Value product,
                     MutableArrayRef<Value>) {
                   Value score = tiles.vectors(b).multiply(product, scale);
                   tiles.storeRow(b, score, worker, tiles.scoresAt, row, i);
                 });
  if (!usesScores)
    return;
  tiles.multiply(builder, block, tile, worker,
                 {op.getV(), scores.valueDepth, cotangentsAt}, {},
                 [&](OpBuilder &b, Value row, int64_t i, Value product,
                     MutableArrayRef<Value>) {
                   tiles.storeRow(b, product, worker, gradientsAt, row, i);
                 });
}

/// Turns a tile of products into weights, P = exp(s − max) / sum, and what they
/// get, dP, into what products get, scale · P · (dP − Δ) · ds/d(product); 0
/// where a query does not keep a key.
void Backward::buildGradients(OpBuilder &builder, Value worker,
                              const QueryBlock &block, const KeyTile &tile,
                              bool isPartial) {
  auto visit = [&](OpBuilder &b, Value row, int64_t i) {
    VectorBuilder v = tiles.vectors(b);
    Value zero = v.constant(0.0);
    Value key = arith::AddIOp::create(b, loc, tile.begin, row);
    Value product = tiles.loadRow(b, worker, tiles.scoresAt, row, i);
    SmallVector<Value> arguments;
    Value score = product;
    if (tiles.hasScore()) {
      arguments = tiles.getScoreArguments(b, block, key, i, product);
      score =
          evaluateLanes(b, loc, op.getScore().front(), arguments, tiling.lanes);
      if (!isa<VectorType>(score.getType()))
        score = v.splat(score);
    }
    Value weight = v.multiply(
        v.expOfNegative(v.smallerOrNaN(v.subtract(score, maxima[i]), zero)),
        inverses[i]);
    Value kept;
    if (isPartial) {
      kept = tiles.isKept(b, block, key, i);
      weight = v.select(kept, weight, zero);
    }
    tiles.storeRow(b, weight, worker, tiles.scoresAt, row, i);
    if (!usesScores)
      return;
    Value gradient = tiles.loadRow(b, worker, gradientsAt, row, i);
    gradient = v.multiply(weight, v.subtract(gradient, deltas[i]));
    if (tiles.hasScore())
      gradient = getSeedGradient(b, arguments, gradient);
    gradient = v.multiply(gradient, v.splat(scores.scale));
    if (isPartial)
      gradient = v.select(kept, gradient, zero);
    tiles.storeRow(b, gradient, worker, gradientsAt, row, i);
  };
  buildLoop(builder, loc, constant(builder, 0), tile.count, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              for (int64_t i = 0; i < tiling.vectors; ++i)
                visit(b, row.front(), i);
            });
}

/// What a product gets of what its score gets: numbers, or vectors of them.
Value Backward::getSeedGradient(OpBuilder &builder, ValueRange arguments,
                                Value seed) {
  // The derivative as a block of scalar code, which is then evaluated.
  Region region;
  Block &block = region.emplaceBlock();
  for (auto [argument, like] :
       llvm::zip_equal(arguments, op.getScore().getArguments()))
    block.addArgument(like.getType(), loc);
  block.addArgument(scores.getType(), loc);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  RegionGradient gradient = buildRegionGradient(
      inside, op.getScore(), block.getArguments().drop_back(),
      block.getArguments().back(), /*wantsInput=*/true, {});
  if (!gradient.input)
    gradient.input = FloatBuilder{inside, loc, scores.getType()}.constant(0.0);
  YieldOp::create(inside, loc, gradient.input);
  Value result =
      evaluateLanes(builder, loc, block, append(arguments, seed), tiling.lanes);
  bool isVector = isa<VectorType>(seed.getType());
  return isVector && !isa<VectorType>(result.getType())
             ? tiles.vectors(builder).splat(result)
             : result;
}

/// The same of a score that may only be evaluated where a key is kept.
void Backward::buildByLane(OpBuilder &builder, Value worker,
                           const QueryBlock &block, const KeyTile &tile) {
  auto evaluate = [&](OpBuilder &b, Value key, Value lane, Value product,
                      Value weightGradient) {
    FloatBuilder floats{b, loc, scores.getType()};
    SmallVector<Value> arguments{product, block.sequence.batch, block.head,
                                 tiles.getPosition(b, block, lane), key};
    llvm::append_range(arguments, scores.getScoreCaptures());
    Value score =
        evaluateLanes(b, loc, op.getScore().front(), arguments, tiling.lanes);
    SmallVector<Value> place = tiles.getQueryPlace(b, block, lane);
    Value weight = floats.divide(
        floats.exp(floats.subtract(score, floats.load(op.getMax(), place))),
        floats.load(op.getSum(), place));
    if (!usesScores)
      return SmallVector<Value>{weight, weightGradient};
    Value seed = floats.multiply(
        weight,
        floats.subtract(weightGradient, floats.load(op.getDelta(), place)));
    return SmallVector<Value>{
        weight,
        floats.multiply(scores.scale, getSeedGradient(b, arguments, seed))};
  };
  auto visit = [&](OpBuilder &b, Value row, Value lane) {
    FloatBuilder floats{b, loc, scores.getType()};
    Value key = arith::AddIOp::create(b, loc, tile.begin, row);
    SmallVector<Value> weightAt =
        tiles.getNumberPlace(b, worker, tiles.scoresAt, row, lane);
    SmallVector<Value> gradientAt =
        tiles.getNumberPlace(b, worker, gradientsAt, row, lane);
    Value product = floats.load(tiles.workspace, weightAt);
    Value weightGradient = floats.load(tiles.workspace, gradientAt);
    auto choice = scf::IfOp::create(
        b, loc, tiles.isKept(b, block, key, lane),
        [&](OpBuilder &then, Location) {
          scf::YieldOp::create(
              then, loc, evaluate(then, key, lane, product, weightGradient));
        },
        [&](OpBuilder &otherwise, Location) {
          Value zero =
              FloatBuilder{otherwise, loc, scores.getType()}.constant(0.0);
          scf::YieldOp::create(otherwise, loc, ValueRange{zero, zero});
        });
    floats.store(choice.getResult(0), tiles.workspace, weightAt);
    if (usesScores)
      floats.store(choice.getResult(1), tiles.workspace, gradientAt);
  };
  // Lanes that stand for no query are left: nothing is summed of them, and
  // nothing written.
  buildLoop(builder, loc, constant(builder, 0), tile.count, 1,
            [&](OpBuilder &outer, Location, ValueRange row) {
              buildLoop(outer, loc, constant(outer, 0), block.count, 1,
                        [&](OpBuilder &b, Location, ValueRange lane) {
                          visit(b, row.front(), lane.front());
                        });
            });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// dq += ds · k
void Backward::addQueries(OpBuilder &builder, Value worker,
                          const QueryBlock &block, const KeyTile &tile) {
  tiles.sumKeys(builder, block, tile, worker,
                {op.getK(), scores.depth, gradientsAt},
                [&](OpBuilder &b, Value column, int64_t i, Value sum) {
                  Value before = tiles.loadRow(b, worker, resultAt, column, i);
                  tiles.storeRow(b, tiles.vectors(b).add(before, sum), worker,
                                 resultAt, column, i);
                });
}

Backward::Element Backward::getSum(OpBuilder &builder, Value worker,
                                   const WorkItem &item,
                                   const KeyGradient &gradient, Value key,
                                   Value column) {
  if (!gradient.sumsAt) {
    QueryBlock reader;
    reader.sequence = item.sequence;
    reader.keyHead = item.keyHead;
    return {gradient.destination,
            append(tiles.getKeyPlace(builder, reader, key), column)};
  }
  Value row = arith::SubIOp::create(builder, loc, key, item.keys.begin);
  Value at = arith::AddIOp::create(
      builder, loc, gradient.sumsAt,
      arith::MulIOp::create(builder, loc, row, gradient.columns));
  return {tiles.workspace,
          {worker, arith::AddIOp::create(builder, loc, at, column)}};
}

/// Runs the body for the vectors of the sums of an item.
void Backward::forEachSum(
    OpBuilder &builder, const WorkItem &item,
    function_ref<void(VectorBuilder &, const KeyGradient &, Value key,
                      Value column, Value mask)>
        body) {
  for (KeyGradient &gradient : keyGradients)
    buildLoop(builder, loc, item.keys.begin, item.keys.end, 1,
              [&](OpBuilder &b, Location, ValueRange key) {
                gradient.rows.forEachVector(
                    b, [&](VectorBuilder &v, Value column, Value mask) {
                      body(v, gradient, key.front(), column, mask);
                    });
              });
}

/// dv += Pᵀ · dout, or dk += dsᵀ · q. The last keys of registers may be one's
/// once more: sums are loaded before any is stored.
void Backward::addKeys(OpBuilder &builder, Value worker, const WorkItem &item,
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
    SmallVector<Element> places;
    for (Value row : rows)
      for (Value column : columns) {
        Value key = arith::AddIOp::create(b, loc, tile.begin, row);
        places.push_back(getSum(b, worker, item, gradient, key, column));
      }
    for (auto [sum, place] : llvm::zip_equal(sums, places))
      sum = v.add(v.load(place.first, place.second, mask), sum);
    for (auto [sum, place] : llvm::zip_equal(sums, places))
      v.store(sum, place.first, place.second, mask);
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

/// All sums, of what is kept alone: element by element, as it is rare.
void Backward::addKept(OpBuilder &builder, Value worker, const WorkItem &item,
                       const QueryBlock &block, const KeyTile &tile) {
  FloatType type = scores.getType();
  Value zero = constant(builder, 0);
  auto addProduct = [&](OpBuilder &b, const Element &sum, Value lhs,
                        Value rhs) {
    FloatBuilder floats{b, loc, type};
    Value before = floats.load(sum.first, sum.second);
    floats.store(floats.add(before, floats.multiply(lhs, rhs)), sum.first,
                 sum.second);
  };
  auto getWeight = [&](OpBuilder &b, Value at, Value row, Value lane) {
    return FloatBuilder{b, loc, type}.load(
        tiles.workspace, tiles.getNumberPlace(b, worker, at, row, lane));
  };
  auto addPair = [&](OpBuilder &b0, Value row, Value lane) {
    Value key = arith::AddIOp::create(b0, loc, tile.begin, row);
    ifForQueries(b0, item, [&](OpBuilder &b1) {
      Value weight = getWeight(b1, gradientsAt, row, lane);
      buildLoop(b1, loc, zero, scores.depth, 1,
                [&](OpBuilder &b, Location, ValueRange column) {
                  Value number = tiles.loadOfKey(b, block, tile, op.getK(), row,
                                                 column.front());
                  addProduct(b,
                             {tiles.workspace,
                              tiles.getNumberPlace(b, worker, resultAt,
                                                   column.front(), lane)},
                             weight, number);
                });
    });
    ifForKeys(b0, item, [&](OpBuilder &b1) {
      for (const KeyGradient &gradient : keyGradients) {
        Value weight = getWeight(b1, gradient.weightsAt, row, lane);
        buildLoop(
            b1, loc, zero, gradient.columns, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              Value number = FloatBuilder{b, loc, type}.load(
                  gradient.factors,
                  append(tiles.getQueryPlace(b, block, lane), column.front()));
              addProduct(b,
                         getSum(b, worker, item, gradient, key, column.front()),
                         weight, number);
            });
      }
    });
  };
  auto visit = [&](OpBuilder &b, Value row, Value lane) {
    Value key = arith::AddIOp::create(b, loc, tile.begin, row);
    scf::IfOp::create(b, loc, tiles.isKept(b, block, key, lane),
                      [&](OpBuilder &inner, Location) {
                        addPair(inner, row, lane);
                        scf::YieldOp::create(inner, loc);
                      });
  };
  buildLoop(builder, loc, zero, tile.count, 1,
            [&](OpBuilder &outer, Location, ValueRange row) {
              buildLoop(outer, loc, zero, block.count, 1,
                        [&](OpBuilder &b, Location, ValueRange lane) {
                          visit(b, row.front(), lane.front());
                        });
            });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static void expandAttentionGrad(OpBuilder &builder, AttentionGradOp op,
                                TargetAttr target, int64_t sumBlock) {
  Backward(builder, op, target).build(builder);
  if (op.getDcaptures().empty())
    return;
  ScoreGradients gradients(builder, op, sumBlock);
  gradients.scores.buildTileLists(builder);
  buildCaptureGradients(builder, gradients);
}

/// Whether there is a workspace, and rows are in vectors where they are read or
/// written as such.
static bool canExpandAttentionGrad(AttentionGradOp op) {
  if (!hasWorkspace(op, op.getWorkspace()))
    return false;
  Value arrays[] = {op.getQ(), op.getO(), op.getDout(), op.getDk(), op.getDv()};
  return llvm::all_of(
      arrays, [](Value array) { return !array || hasVectorRows(array); });
}

void mlir::pol::populateAttentionGradToVectorPatterns(
    RewritePatternSet &patterns, TargetAttr target, int64_t sumBlock) {
  auto expand = [=](OpBuilder &builder, AttentionGradOp op, TargetAttr target) {
    expandAttentionGrad(builder, op, target, sumBlock);
  };
  patterns.add<ExpandToVector<AttentionGradOp>>(patterns.getContext(), expand,
                                                target, canExpandAttentionGrad);
}
