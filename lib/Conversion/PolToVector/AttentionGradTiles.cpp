//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Tiles of attention's weights and of what their scores get.

#include "AttentionGrad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Differentiation/ReverseMode.h"

using namespace mlir;
using namespace mlir::pol;

void Backward::visitTile(OpBuilder &builder, Value worker,
                         const WorkItem &chunk, const QueryBlock &block,
                         const KeyTile &tile) {
  buildProducts(builder, worker, block, tile);
  auto add = [&](OpBuilder &outer) {
    ifForQueries(outer, chunk, [&](OpBuilder &b) {
      addQueries(b, worker, block, tile, &ScoreTiles::sumKeys);
    });
    ifForKeys(outer, chunk, [&](OpBuilder &b) {
      for (const KeyGradient &gradient : keyGradients)
        addKeys(b, worker, chunk, block, tile, gradient);
    });
  };
  auto addKept = [&](OpBuilder &outer) {
    ifForQueries(outer, chunk, [&](OpBuilder &b) {
      addQueries(b, worker, block, tile, &ScoreTiles::sumKeptKeys);
    });
    ifForKeys(outer, chunk, [&](OpBuilder &b) {
      for (KeyGradient &gradient : keyGradients)
        addKeptKeys(b, worker, chunk, block, tile, gradient);
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

  Value isStrange = tiles.isPartialAnd(
      builder, tile, [&](OpBuilder &b) { return hasStrange(b, block, tile); });
  auto strange = scf::IfOp::create(builder, loc, isStrange,
                                   /*withElseRegion=*/true);
  OpBuilder kept = strange.getThenBodyBuilder();
  addKept(kept);
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
      arguments = tiles.getScoreArguments(block, product,
                                          tiles.getPositions(b, block, i), key);
      score = tiles.evaluate(b, op.getScore().front(), arguments);
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
  return tiles.evaluate(builder, block, append(arguments, seed));
}

/// The same of a score that may only be evaluated where a key is kept.
void Backward::buildByLane(OpBuilder &builder, Value worker,
                           const QueryBlock &block, const KeyTile &tile) {
  auto evaluate = [&](OpBuilder &b, Value key, Value lane, Value product,
                      Value weightGradient) {
    FloatBuilder floats{b, loc, scores.getType()};
    SmallVector<Value> arguments = tiles.getScoreArguments(
        block, product, tiles.getPosition(b, block, lane), key);
    Value score = tiles.evaluate(b, op.getScore().front(), arguments);
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
