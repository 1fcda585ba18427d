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
  // Without heads there is nothing to divide, and nothing to do.
  Value one = constant(builder, 1);
  groupSize = buildMax(builder, loc,
                       builder.createOrFold<arith::DivUIOp>(
                           loc, heads, buildMax(builder, loc, keyHeads, one)),
                       one);
  // Farther than any array is long, and near enough that nothing overflows.
  constexpr int64_t farthest = int64_t(1) << 60;
  if (inputs.inputPos)
    shift = buildMin(
        builder, loc,
        buildMax(builder, loc, inputs.inputPos, constant(builder, -farthest)),
        constant(builder, farthest));
  maskCaptures = getCaptures(builder, *inputs.mask);
  scoreCaptures = getCaptures(builder, *inputs.score);
  buildScale(builder);
}

void AttentionScores::buildScale(OpBuilder &builder) {
  FloatBuilder floats{builder, inputs.loc, type};
  if (inputs.scale) {
    scale = floats.constant(inputs.scale.getValueAsDouble());
    return;
  }
  Value length = buildMax(builder, inputs.loc, depth, constant(builder, 1));
  Value root =
      math::SqrtOp::create(builder, inputs.loc, floats.fromIndex(length));
  scale = floats.divide(floats.constant(1.0), root);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void AttentionScores::forEachQuery(
    OpBuilder &builder, function_ref<void(OpBuilder &, const Query &)> body) {
  buildParallelLoop(builder, inputs.loc,
                    getAsOpFoldResult({batches, heads, queries}),
                    [&](OpBuilder &b, Location, ValueRange at) {
                      body(b, getQuery(b, at[0], at[1], at[2]));
                    });
}

Query AttentionScores::getQuery(OpBuilder &builder, Value batch, Value head,
                                Value row) {
  Location loc = inputs.loc;
  Value position =
      shift ? arith::AddIOp::create(builder, loc, row, shift).getResult() : row;
  return {batch, head, row, position,
          arith::DivUIOp::create(builder, loc, head, groupSize)};
}

/// Visits the tiles of a range that are not empty, and tells those that are
/// full from those that are not.
SmallVector<Value> AttentionScores::overTiles(
    OpBuilder &builder, IndexRange range, ValueRange initial,
    function_ref<Value(OpBuilder &, IndexBounds)> getClass,
    std::function<Value(OpBuilder &, Value)> isKept, RangeBodyFn body) {
  Location loc = inputs.loc;
  auto compare = [&](OpBuilder &b, Value tileClass, TileClass wanted) {
    Value number = arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                                static_cast<int32_t>(wanted));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, tileClass,
                                 number);
  };
  TypeRange types = initial.getTypes();
  auto yield = [&](OpBuilder &b, ValueRange values) {
    scf::YieldOp::create(b, loc, values);
  };
  auto visit = [&](OpBuilder &b, Location, Value begin, ValueRange running) {
    Value left = arith::SubIOp::create(b, loc, range.end, begin);
    Value size = buildMin(b, loc, constant(b, kMaskTile), left);
    IndexRange tile{begin, arith::AddIOp::create(b, loc, begin, size)};
    Value tileClass = getClass(b, {tile.begin, tile.end});
    auto visitSome = [&](OpBuilder &some, bool isFull) {
      KeptRange kept{tile, isFull ? nullptr : isKept};
      yield(some, body(some, kept, running));
    };
    auto choice = scf::IfOp::create(
        b, loc, types, compare(b, tileClass, TileClass::Empty), true, true);
    OpBuilder none = choice.getThenBodyBuilder();
    yield(none, running);
    OpBuilder any = choice.getElseBodyBuilder();
    auto inner = scf::IfOp::create(
        any, loc, types, compare(any, tileClass, TileClass::Full), true, true);
    OpBuilder full = inner.getThenBodyBuilder();
    visitSome(full, true);
    OpBuilder partial = inner.getElseBodyBuilder();
    visitSome(partial, false);
    yield(any, inner.getResults());
    yield(b, choice.getResults());
  };
  auto loop = scf::ForOp::create(builder, loc, range.begin, range.end,
                                 constant(builder, kMaskTile), initial, visit);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AttentionScores::overKeys(OpBuilder &builder,
                                             const Query &query,
                                             ValueRange initial,
                                             RangeBodyFn body) {
  Location loc = inputs.loc;
  MaskEmitter emitter = getMask(query.batch, query.head);
  Value next =
      arith::AddIOp::create(builder, loc, query.position, constant(builder, 1));
  IndexBounds self{query.position, next};
  IndexBounds bounds =
      emitter.getKeys(builder, self, {constant(builder, 0), keys});
  IndexRange range{bounds.begin, bounds.end};
  if (mask.isInterval())
    return body(builder, {range, nullptr}, initial);
  return overTiles(
      builder, range, initial,
      [&](OpBuilder &b, IndexBounds tile) {
        return emitter.getClass(b, self, tile);
      },
      [=](OpBuilder &b, Value key) mutable {
        return emitter.isKept(b, query.position, key);
      },
      body);
}

SmallVector<Value> AttentionScores::overQueries(OpBuilder &builder, Value batch,
                                                Value head, Value key,
                                                ValueRange initial,
                                                RangeBodyFn body) {
  Location loc = inputs.loc;
  MaskEmitter emitter = getMask(batch, head);
  auto move = [&](OpBuilder &b, Value row, bool isBack) -> Value {
    if (!shift)
      return row;
    if (isBack)
      return arith::SubIOp::create(b, loc, row, shift);
    return arith::AddIOp::create(b, loc, row, shift);
  };
  Value zero = constant(builder, 0);
  IndexBounds all{move(builder, zero, false), move(builder, queries, false)};
  IndexBounds self{
      key, arith::AddIOp::create(builder, loc, key, constant(builder, 1))};
  IndexBounds bounds = emitter.getQueries(builder, all, self);
  IndexRange rows{move(builder, bounds.begin, true),
                  move(builder, bounds.end, true)};
  if (mask.isInterval())
    return body(builder, {rows, nullptr}, initial);
  return overTiles(
      builder, rows, initial,
      [&](OpBuilder &b, IndexBounds tile) {
        return emitter.getClass(
            b, {move(b, tile.begin, false), move(b, tile.end, false)}, self);
      },
      [=](OpBuilder &b, Value row) mutable {
        return emitter.isKept(b, move(b, row, false), key);
      },
      body);
}

Value AttentionScores::isKept(OpBuilder &builder, const Query &query,
                              Value key) {
  return getMask(query.batch, query.head).isKept(builder, query.position, key);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionScores::getScoreArguments(const Query &query,
                                                      Value key,
                                                      Value product) {
  SmallVector<Value> arguments = {product, query.batch, query.head,
                                  query.position, key};
  llvm::append_range(arguments, scoreCaptures);
  return arguments;
}

Score AttentionScores::getScore(OpBuilder &builder, const Query &query,
                                Value key) {
  Location loc = inputs.loc;
  Value product = buildBlockedSum(
      builder, loc, getAsOpFoldResult(depth), sumBlock, type,
      [&](OpBuilder &b, Location, Value d) {
        FloatBuilder floats{b, loc, type};
        Value q = floats.load(
            inputs.q, ValueRange{query.batch, query.head, query.row, d});
        Value k = floats.load(inputs.k,
                              ValueRange{query.batch, query.keyHead, key, d});
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
