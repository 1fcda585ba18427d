//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.attention_grad, and how its work is split.

#include "AttentionGrad.h"
#include "../PolToLinalg/AttentionGradients.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pol;

static constexpr int64_t kJointProducts = 5, kSplitProducts = 7;
/// Blocks of queries whose sums are added up by themselves, before they are
/// added to others with compensation.
static constexpr int64_t kBlocksPerPart = 16;

Value Backward::getPlace(OpBuilder &builder, OpFoldResult place) {
  return getValueOrCreateConstantIndexOp(builder, loc, place);
}

Backward::Backward(OpBuilder &builder, AttentionGradOp op, TargetAttr target)
    : op(op), loc(op.getLoc()), target(target),
      scores(builder, AttentionInputs(op), /*sumBlock=*/1),
      places(builder, loc, target, getAsOpFoldResult(scores.depth),
             getAsOpFoldResult(scores.valueDepth),
             getAsOpFoldResult(scores.keys)),
      tiling(target, scores.getType()),
      tiles(scores, tiling, tiling.gradKeys, op.getWorkspace(),
            getPlace(builder, places.queries),
            getPlace(builder, places.scores)),
      cotangentsAt(getPlace(builder, places.cotangents)),
      resultAt(getPlace(builder, places.result)),
      totalAt(getPlace(builder, places.total)),
      gradientsAt(getPlace(builder, places.gradients)),
      summedKeys(getPlace(builder, places.summedKeys)),
      usesScores(op.getDq() || op.getDk()) {
  auto isOfType = [&](Value array) {
    return cast<MemRefType>(array.getType()).getElementType() ==
           scores.getType();
  };
  isDqWide = op.getDq() && isOfType(op.getDq());
  auto add = [&](Value destination, Value weightsAt, Value queries,
                 Value columns, OpFoldResult sumsAt) {
    if (destination)
      keyGradients.push_back(
          {destination, weightsAt, queries, columns, getPlace(builder, sumsAt),
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
  if (!isDqWide || keyGradients.empty()) {
    isJoint = arith::ConstantIntOp::create(builder, loc, 0, 1);
    return;
  }
  Value workers = tiles.getNumWorkers(builder);
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
  Value workers = tiles.getNumWorkers(builder);
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
  ifForQueries(builder, item,
               [&](OpBuilder &b) { clearQuerySums(b, worker, item); });
  scf::ForOp::create(builder, loc, item.keys.begin, item.keys.end,
                     constant(builder, tiling.summedKeys), ValueRange(),
                     [&](OpBuilder &b, Location, Value begin, ValueRange) {
                       WorkItem chunk = item;
                       chunk.keys = pol::buildBlock(
                           b, loc, begin, item.keys.end, tiling.summedKeys);
                       buildChunk(b, worker, chunk);
                       scf::YieldOp::create(b, loc);
                     });
  if (isDqWide)
    return;
  // Such an item is of one block.
  ifForQueries(builder, item, [&](OpBuilder &b) {
    QueryBlock block =
        tiles.getBlock(b, item.sequence, item.heads.begin, item.blocks.begin);
    Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        item.heads.begin, item.heads.end);
    scf::IfOp::create(b, loc, isAny, [&](OpBuilder &inner, Location) {
      tiles.unpackQueries(inner, block, op.getDq(), scores.depth, worker,
                          totalAt);
      scf::YieldOp::create(inner, loc);
    });
  });
}

/// Some keys, and all of an item's blocks of queries.
void Backward::buildChunk(OpBuilder &builder, Value worker,
                          const WorkItem &chunk) {
  ifForKeys(builder, chunk,
            [&](OpBuilder &b) { clearKeySums(b, worker, chunk); });
  Value zero = constant(builder, 0), one = constant(builder, 1);
  auto visit = [&](OpBuilder &b, Value head, Value number, Value inPart) {
    buildBlock(b, worker, chunk,
               tiles.getBlock(b, chunk.sequence, head, number));
    Value next = arith::AddIOp::create(b, loc, inPart, constant(b, 1));
    Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          next, constant(b, kBlocksPerPart));
    scf::IfOp::create(b, loc, isWhole, [&](OpBuilder &outer, Location) {
      ifForKeys(outer, chunk,
                [&](OpBuilder &inner) { addParts(inner, worker, chunk); });
      scf::YieldOp::create(outer, loc);
    });
    return arith::SelectOp::create(b, loc, isWhole, constant(b, 0), next);
  };
  scf::ForOp::create(
      builder, loc, chunk.heads.begin, chunk.heads.end, one, zero,
      [&](OpBuilder &outer, Location, Value head, ValueRange before) {
        auto blocks = scf::ForOp::create(
            outer, loc, chunk.blocks.begin, chunk.blocks.end, one, before,
            [&](OpBuilder &b, Location, Value number, ValueRange inPart) {
              Value next = visit(b, head, number, inPart.front());
              scf::YieldOp::create(b, loc, next);
            });
        scf::YieldOp::create(outer, loc, blocks.getResults());
      });
  ifForKeys(builder, chunk, [&](OpBuilder &b) {
    addParts(b, worker, chunk);
    writeKeySums(b, worker, chunk);
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
  ifForQueries(builder, item, [&](OpBuilder &b) {
    tiles.clearRows(b, worker, resultAt, scores.depth);
  });
  IndexBounds kept = tiles.getKeys(builder, block);
  IndexBounds keys{buildMax(builder, loc, kept.begin, item.keys.begin),
                   buildMin(builder, loc, kept.end, item.keys.end)};
  tiles.overKeys(builder, block, keys, {},
                 [&](OpBuilder &b, const KeyTile &tile, ValueRange) {
                   visitTile(b, worker, item, block, tile);
                   return SmallVector<Value>();
                 });
  ifForQueries(builder, item,
               [&](OpBuilder &b) { addQuerySums(b, worker, block); });
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
