//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Masks and scores of attention.

#include "AttentionScores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/Differentiation/ReverseMode.h"

using namespace mlir;
using namespace mlir::pol;

Value AttentionScores::constant(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, inputs.loc, value);
}

Value mlir::pol::buildGroupSize(OpBuilder &builder, Location loc, Value heads,
                                Value keyHeads) {
  // Without heads there is nothing to divide, and nothing to do.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return buildMax(builder, loc,
                  builder.createOrFold<arith::DivUIOp>(
                      loc, heads, buildMax(builder, loc, keyHeads, one)),
                  one);
}

Value mlir::pol::buildScale(OpBuilder &builder, Location loc, FloatType type,
                            FloatAttr scale, Value depth) {
  FloatBuilder floats{builder, loc, type};
  if (scale)
    return floats.constant(scale.getValueAsDouble());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value length = buildMax(builder, loc, depth, one);
  Value root = math::SqrtOp::create(builder, loc, floats.fromIndex(length));
  return floats.divide(floats.constant(1.0), root);
}

/// Captures in the types that a region has for them.
SmallVector<Value> AttentionScores::getCaptures(OpBuilder &builder,
                                                Region &region) {
  SmallVector<Value> captures;
  if (region.empty())
    return captures;
  auto arguments = region.getArguments().take_back(inputs.captures.size());
  for (auto [capture, argument] : llvm::zip_equal(inputs.captures, arguments))
    captures.push_back(capture.getType() == argument.getType()
                           ? capture
                           : memref::CastOp::create(builder, inputs.loc,
                                                    argument.getType(), capture)
                                 .getResult());
  return captures;
}

AttentionScores::AttentionScores(OpBuilder &builder, AttentionInputs inputs,
                                 int64_t sumBlock)
    : inputs(inputs), sumBlock(sumBlock),
      type(getAccumulationType(
          cast<MemRefType>(inputs.q.getType()).getElementType())),
      mask(inputs.mask->empty() ? nullptr : &inputs.mask->front()) {
  Location loc = inputs.loc;
  auto getDim = [&](Value array, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, getExtent(builder, loc, array, dimension));
  };
  batches = getDim(inputs.q, 0);
  heads = getDim(inputs.q, 1);
  queries = getDim(inputs.q, 2);
  depth = getDim(inputs.q, 3);
  keyHeads = getDim(inputs.k, 1);
  keys = getDim(inputs.k, 2);
  valueDepth = getDim(inputs.v, 3);
  groupSize = buildGroupSize(builder, loc, heads, keyHeads);
  scale = buildScale(builder, loc, type, inputs.scale, depth);
  shift = inputs.inputPos;
  maskCaptures = getCaptures(builder, *inputs.mask);
  scoreCaptures = getCaptures(builder, *inputs.score);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// An index behind an offset, which is null for 0.
Value AttentionScores::add(OpBuilder &builder, Value offset, Value index) {
  return offset ? arith::AddIOp::create(builder, inputs.loc, offset, index)
                      .getResult()
                : index;
}

Value AttentionScores::getNumSequences(OpBuilder &builder) {
  if (!inputs.queryOffsets)
    return batches;
  Location loc = inputs.loc;
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, getExtent(builder, loc, inputs.queryOffsets, 0));
  Value zero = constant(builder, 0);
  return buildMax(
      builder, loc, zero,
      arith::SubIOp::create(builder, loc, count, constant(builder, 1)));
}

/// Of packed sequences, what offsets say is taken to what there is.
Sequence AttentionScores::getSequence(OpBuilder &builder, Value batch) {
  if (!inputs.queryOffsets)
    return {batch, batch, Value(), Value(), queries, keys};
  Location loc = inputs.loc;
  Value zero = constant(builder, 0);
  Value next = arith::AddIOp::create(builder, loc, batch, constant(builder, 1));
  auto load = [&](Value offsets, Value number, Value least, Value most) {
    return loadWithin(builder, loc, offsets, number, least, most);
  };
  Value row = load(inputs.queryOffsets, batch, zero, queries);
  Value lastRow = load(inputs.queryOffsets, next, row, queries);
  Value key = load(inputs.keyOffsets, batch, zero, keys);
  Value lastKey = load(inputs.keyOffsets, next, key, keys);
  return {batch,
          zero,
          row,
          key,
          arith::SubIOp::create(builder, loc, lastRow, row),
          arith::SubIOp::create(builder, loc, lastKey, key)};
}

/// The sequence of a row of an array: the last one that begins at or before it.
/// Of a row that is in none it has no queries and no keys.
Sequence AttentionScores::findSequence(OpBuilder &builder, Value offsets,
                                       Value row) {
  Location loc = inputs.loc;
  Value zero = constant(builder, 0), one = constant(builder, 1);
  Value count = getNumSequences(builder);
  auto loop = scf::ForOp::create(
      builder, loc, zero, count, one, zero,
      [&](OpBuilder &b, Location, Value number, ValueRange found) {
        Value offset = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            memref::LoadOp::create(b, loc, offsets, number));
        Value begins = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                             offset, row);
        Value last =
            arith::SelectOp::create(b, loc, begins, number, found.front());
        scf::YieldOp::create(b, loc, last);
      });
  auto isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     count, zero);
  // Without sequences nothing may be read of the offsets.
  auto choice = scf::IfOp::create(
      builder, loc, TypeRange(SmallVector<Type>(5, builder.getIndexType())),
      isAny, true, true);
  OpBuilder some = choice.getThenBodyBuilder();
  Sequence sequence = getSequence(some, loop.getResult(0));
  bool isOfRows = offsets == inputs.queryOffsets;
  Value first = isOfRows ? sequence.firstRow : sequence.firstKey;
  Value length = isOfRows ? sequence.numQueries : sequence.numKeys;
  Value isInside = arith::CmpIOp::create(
      some, loc, arith::CmpIPredicate::ult,
      arith::SubIOp::create(some, loc, row, first), length);
  auto ifInside = [&](Value value) -> Value {
    return arith::SelectOp::create(some, loc, isInside, value,
                                   constant(some, 0));
  };
  // What is in none counts from the first row, so that it stays itself.
  scf::YieldOp::create(some, loc,
                       ValueRange{sequence.batch, ifInside(sequence.firstRow),
                                  ifInside(sequence.firstKey),
                                  ifInside(sequence.numQueries),
                                  ifInside(sequence.numKeys)});
  OpBuilder none = choice.getElseBodyBuilder();
  Value nothing = constant(none, 0);
  scf::YieldOp::create(none, loc, SmallVector<Value>(5, nothing));
  return {choice.getResult(0), zero,
          choice.getResult(1), choice.getResult(2),
          choice.getResult(3), choice.getResult(4)};
}

void AttentionScores::forEachQuery(
    OpBuilder &builder, function_ref<void(OpBuilder &, const Query &)> body) {
  Location loc = inputs.loc;
  buildParallelLoop(
      builder, loc, getAsOpFoldResult({batches, heads, queries}),
      [&](OpBuilder &b, Location, ValueRange at) {
        if (!inputs.queryOffsets)
          return body(b, getQuery(b, getSequence(b, at[0]), at[1], at[2]));
        Sequence sequence = findSequence(b, inputs.queryOffsets, at[2]);
        Value number = arith::SubIOp::create(b, loc, at[2], sequence.firstRow);
        body(b, getQuery(b, sequence, at[1], number));
      });
}

void AttentionScores::forEachKey(
    OpBuilder &builder,
    function_ref<void(OpBuilder &, const Sequence &, Value, Value)> body) {
  Location loc = inputs.loc;
  buildParallelLoop(
      builder, loc, getAsOpFoldResult({batches, keyHeads, keys}),
      [&](OpBuilder &b, Location, ValueRange at) {
        if (!inputs.keyOffsets)
          return body(b, getSequence(b, at[0]), at[1], at[2]);
        Sequence sequence = findSequence(b, inputs.keyOffsets, at[2]);
        body(b, sequence, at[1],
             arith::SubIOp::create(b, loc, at[2], sequence.firstKey));
      });
}

Query AttentionScores::getQuery(OpBuilder &builder, const Sequence &sequence,
                                Value head, Value number) {
  return {sequence, head, add(builder, sequence.firstRow, number),
          add(builder, shift, number),
          arith::DivUIOp::create(builder, inputs.loc, head, groupSize)};
}

SmallVector<Value> AttentionScores::getKeyPlace(OpBuilder &builder,
                                                const Query &query, Value key) {
  return {query.sequence.arrayBatch, query.keyHead,
          add(builder, query.sequence.firstKey, key)};
}

Value AttentionScores::isClass(OpBuilder &builder, Value tileClass,
                               TileClass wanted) {
  Value number = arith::ConstantIntOp::create(
      builder, inputs.loc, builder.getI32Type(), static_cast<int32_t>(wanted));
  return arith::CmpIOp::create(builder, inputs.loc, arith::CmpIPredicate::eq,
                               tileClass, number);
}

/// The indices of a tile by its number.
IndexBounds AttentionScores::getTile(OpBuilder &builder, Value number,
                                     Value length) {
  Location loc = inputs.loc;
  Value begin =
      arith::MulIOp::create(builder, loc, number, constant(builder, kMaskTile));
  IndexRange tile = buildBlock(builder, loc, begin, length, kMaskTile);
  return {tile.begin, tile.end};
}

IndexBounds AttentionScores::getPositions(OpBuilder &builder,
                                          IndexBounds rows) {
  if (!shift)
    return rows;
  Location loc = inputs.loc;
  return {arith::AddIOp::create(builder, loc, rows.begin, shift),
          arith::AddIOp::create(builder, loc, rows.end, shift)};
}

IndexBounds AttentionScores::getRows(OpBuilder &builder,
                                     IndexBounds positions) {
  if (!shift)
    return positions;
  Location loc = inputs.loc;
  return {arith::SubIOp::create(builder, loc, positions.begin, shift),
          arith::SubIOp::create(builder, loc, positions.end, shift)};
}

/// Builds the body for a tile: once for one that is full, and once for others.
SmallVector<Value> AttentionScores::visitTile(OpBuilder &builder,
                                              IndexRange tile, Value isFull,
                                              ValueRange running,
                                              IsKeptFn isKept,
                                              RangeBodyFn body) {
  auto choice = scf::IfOp::create(builder, inputs.loc, running.getTypes(),
                                  isFull, true, true);
  OpBuilder full = choice.getThenBodyBuilder();
  scf::YieldOp::create(full, inputs.loc, body(full, {tile, nullptr}, running));
  OpBuilder partial = choice.getElseBodyBuilder();
  scf::YieldOp::create(partial, inputs.loc,
                       body(partial, {tile, isKept}, running));
  return SmallVector<Value>(choice.getResults());
}

/// Visits the tiles of a range that are not empty.
SmallVector<Value> AttentionScores::overTiles(OpBuilder &builder,
                                              IndexRange range,
                                              ValueRange initial,
                                              ClassFn getClass, IsKeptFn isKept,
                                              RangeBodyFn body) {
  Location loc = inputs.loc;
  auto visit = [&](OpBuilder &b, Location, Value begin, ValueRange running) {
    IndexRange tile = buildBlock(b, loc, begin, range.end, kMaskTile);
    Value tileClass = getClass(b, {tile.begin, tile.end});
    auto choice =
        scf::IfOp::create(b, loc, initial.getTypes(),
                          isClass(b, tileClass, TileClass::Empty), true, true);
    OpBuilder none = choice.getThenBodyBuilder();
    scf::YieldOp::create(none, loc, running);
    OpBuilder any = choice.getElseBodyBuilder();
    Value isFull = isClass(any, tileClass, TileClass::Full);
    scf::YieldOp::create(any, loc,
                         visitTile(any, tile, isFull, running, isKept, body));
    scf::YieldOp::create(b, loc, choice.getResults());
  };
  auto loop = scf::ForOp::create(builder, loc, range.begin, range.end,
                                 constant(builder, kMaskTile), initial, visit);
  return SmallVector<Value>(loop.getResults());
}

/// Visits the tiles of a list.
SmallVector<Value> AttentionScores::overList(OpBuilder &builder, Value list,
                                             ValueRange at, Value length,
                                             ValueRange initial,
                                             IsKeptFn isKept,
                                             RangeBodyFn body) {
  Location loc = inputs.loc;
  auto load = [&](OpBuilder &b, Value entry) -> Value {
    return arith::IndexCastOp::create(
        b, loc, b.getIndexType(),
        memref::LoadOp::create(b, loc, list, append(at, entry)));
  };
  Value zero = constant(builder, 0), one = constant(builder, 1);
  Value end = arith::AddIOp::create(builder, loc, load(builder, zero), one);
  auto visit = [&](OpBuilder &b, Location, Value entry, ValueRange running) {
    Value code = load(b, entry);
    Value isFull =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                              arith::AndIOp::create(b, loc, code, one), one);
    IndexBounds tile =
        getTile(b, arith::ShRUIOp::create(b, loc, code, one), length);
    scf::YieldOp::create(
        b, loc,
        visitTile(b, {tile.begin, tile.end}, isFull, running, isKept, body));
  };
  auto loop = scf::ForOp::create(builder, loc, one, end, one, initial, visit);
  return SmallVector<Value>(loop.getResults());
}

/// Fills one list with the tiles, of so many indices, that are not empty.
void AttentionScores::buildTileList(OpBuilder &builder, Value list,
                                    ValueRange at, Value length,
                                    ClassFn getClass) {
  Location loc = inputs.loc;
  Value zero = constant(builder, 0), one = constant(builder, 1);
  auto store = [&](OpBuilder &b, Value number, Value entry) {
    Value code = arith::IndexCastOp::create(b, loc, b.getI32Type(), number);
    memref::StoreOp::create(b, loc, code, list, append(at, entry));
  };
  Value count = arith::CeilDivUIOp::create(builder, loc, length,
                                           constant(builder, kMaskTile));
  auto visit = [&](OpBuilder &b, Location, Value number, ValueRange found) {
    Value tileClass = getClass(b, getTile(b, number, length));
    auto choice =
        scf::IfOp::create(b, loc, found.getTypes(),
                          isClass(b, tileClass, TileClass::Empty), true, true);
    OpBuilder none = choice.getThenBodyBuilder();
    scf::YieldOp::create(none, loc, found);
    OpBuilder any = choice.getElseBodyBuilder();
    Value next = arith::AddIOp::create(any, loc, found.front(), one);
    Value isFull = arith::IndexCastUIOp::create(
        any, loc, any.getIndexType(), isClass(any, tileClass, TileClass::Full));
    Value code = arith::AddIOp::create(
        any, loc, arith::ShLIOp::create(any, loc, number, one), isFull);
    store(any, code, next);
    scf::YieldOp::create(any, loc, next);
    scf::YieldOp::create(b, loc, choice.getResults());
  };
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, zero, visit);
  store(builder, loop.getResult(0), zero);
}

void AttentionScores::buildTileLists(OpBuilder &builder) {
  Location loc = inputs.loc;
  if (mask.isInterval())
    return;
  for (Value list : {inputs.tiles, inputs.keyTiles}) {
    if (!list)
      continue;
    bool isOfKeys = list == inputs.tiles;
    Value length = isOfKeys ? queries : keys;
    Value others = isOfKeys ? keys : queries;
    auto fill = [&](OpBuilder &b, Location, ValueRange at) {
      MaskEmitter emitter = getMask(at[0], at[1]);
      IndexBounds self = getTile(b, at[2], length);
      auto getClass = [&](OpBuilder &inner, IndexBounds tile) {
        return isOfKeys
                   ? emitter.getClass(inner, getPositions(inner, self), tile)
                   : emitter.getClass(inner, getPositions(inner, tile), self);
      };
      buildTileList(b, list, at, others, getClass);
    };
    SmallVector<OpFoldResult> lists =
        getLeadingExtents(builder, loc, list, /*numTrailing=*/1);
    buildParallelLoop(builder, loc, lists, fill);
  }
}

/// One position alone.
IndexBounds AttentionScores::getSelf(OpBuilder &builder, Value position) {
  return {position, arith::AddIOp::create(builder, inputs.loc, position,
                                          constant(builder, 1))};
}

IndexRange AttentionScores::getKeys(OpBuilder &builder, const Query &query) {
  IndexBounds bounds =
      getMask(query.sequence.batch, query.head)
          .getKeys(builder, getSelf(builder, query.position),
                   {constant(builder, 0), query.sequence.numKeys});
  return {bounds.begin, bounds.end};
}

void AttentionScores::findKeys(OpBuilder &builder, Query &query) {
  if (mask.isInterval())
    query.keys = getKeys(builder, query);
}

SmallVector<Value> AttentionScores::overKeys(OpBuilder &builder,
                                             const Query &query,
                                             ValueRange initial,
                                             RangeBodyFn body) {
  if (mask.isInterval()) {
    IndexRange range = query.keys ? *query.keys : getKeys(builder, query);
    return body(builder, {range, nullptr}, initial);
  }
  MaskEmitter emitter = getMask(query.sequence.batch, query.head);
  auto isKept = [emitter, query](OpBuilder &b, Value key) mutable {
    return emitter.isKept(b, query.position, key);
  };
  if (inputs.tiles) {
    Value tile = arith::DivUIOp::create(builder, inputs.loc, query.row,
                                        constant(builder, kMaskTile));
    return overList(builder, inputs.tiles,
                    {query.sequence.batch, query.head, tile}, keys, initial,
                    isKept, body);
  }
  IndexBounds self = getSelf(builder, query.position);
  auto getClass = [&](OpBuilder &b, IndexBounds tile) {
    return emitter.getClass(b, self, tile);
  };
  return overTiles(builder, getKeys(builder, query), initial, getClass, isKept,
                   body);
}

SmallVector<Value> AttentionScores::overQueries(OpBuilder &builder,
                                                const Sequence &sequence,
                                                Value head, Value key,
                                                ValueRange initial,
                                                RangeBodyFn body) {
  MaskEmitter emitter = getMask(sequence.batch, head);
  IndexBounds self = getSelf(builder, key);
  auto isKept = [this, emitter, key](OpBuilder &b, Value row) mutable {
    return emitter.isKept(b, getPositions(b, {row, row}).begin, key);
  };
  if (inputs.keyTiles && !mask.isInterval()) {
    Value tile = arith::DivUIOp::create(builder, inputs.loc, key,
                                        constant(builder, kMaskTile));
    return overList(builder, inputs.keyTiles, {sequence.batch, head, tile},
                    queries, initial, isKept, body);
  }
  IndexBounds all =
      getPositions(builder, {constant(builder, 0), sequence.numQueries});
  IndexBounds bounds = getRows(builder, emitter.getQueries(builder, all, self));
  IndexRange rows{bounds.begin, bounds.end};
  if (mask.isInterval())
    return body(builder, {rows, nullptr}, initial);
  auto getClass = [&](OpBuilder &b, IndexBounds tile) {
    return emitter.getClass(b, getPositions(b, tile), self);
  };
  return overTiles(builder, rows, initial, getClass, isKept, body);
}

Value AttentionScores::isKept(OpBuilder &builder, const Query &query,
                              Value key) {
  return getMask(query.sequence.batch, query.head)
      .isKept(builder, query.position, key);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionScores::getScoreArguments(const Query &query,
                                                      Value key,
                                                      Value product) {
  SmallVector<Value> arguments = {product, query.sequence.batch, query.head,
                                  query.position, key};
  llvm::append_range(arguments, scoreCaptures);
  return arguments;
}

Score AttentionScores::getScore(OpBuilder &builder, const Query &query,
                                Value key) {
  Location loc = inputs.loc;
  SmallVector<Value> keyPlace = getKeyPlace(builder, query, key);
  Value product =
      buildBlockedSum(builder, loc, getAsOpFoldResult(depth), sumBlock, type,
                      [&](OpBuilder &b, Location, Value d) {
                        FloatBuilder floats{b, loc, type};
                        Value q =
                            floats.load(inputs.q, append(query.getPlace(), d));
                        Value k = floats.load(inputs.k, append(keyPlace, d));
                        return floats.multiply(q, k);
                      });
  Score score;
  score.value = FloatBuilder{builder, loc, type}.multiply(scale, product);
  if (!inputs.score->empty())
    score.value = buildRegion(builder, *inputs.score,
                              getScoreArguments(query, key, score.value),
                              score.evaluated);
  return score;
}
