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
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

Value AttentionScores::constant(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, inputs.loc, value);
}

AttentionScores::AttentionScores(OpBuilder &builder, AttentionInputs inputs,
                                 int64_t sumBlock)
    : inputs(inputs), sumBlock(sumBlock),
      type(getAccumulationType(
          cast<MemRefType>(inputs.q.getType()).getElementType())) {
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
  buildBounds(builder);
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

/// Every bound that counts lies between −S and T: what is farther is taken to
/// these, before a sum of it can overflow.
void AttentionScores::buildBounds(OpBuilder &builder) {
  if (!inputs.causal)
    return;
  Location loc = inputs.loc;
  Value zero = constant(builder, 0);
  Value least = builder.createOrFold<arith::SubIOp>(loc, zero, queries);
  Value position;
  switch (*inputs.causal) {
  case CausalAlignment::TopLeft:
    position = zero;
    break;
  case CausalAlignment::BottomRight:
    position = builder.createOrFold<arith::SubIOp>(loc, keys, queries);
    break;
  case CausalAlignment::InputPos:
    position = buildMax(builder, loc, inputs.inputPos, least);
    break;
  }
  highest = buildMin(builder, loc, position, keys);
  if (!inputs.window)
    return;
  // From a position that is not negative, any window can be subtracted.
  Value window = constant(builder, inputs.window.getInt());
  Value enough = builder.createOrFold<arith::AddIOp>(loc, queries, keys);
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, position, zero);
  window = builder.createOrFold<arith::SelectOp>(
      loc, isNegative, buildMin(builder, loc, window, enough), window);
  Value first = builder.createOrFold<arith::SubIOp>(loc, position, window);
  lowest = buildMin(builder, loc, buildMax(builder, loc, first, least), keys);
}

void AttentionScores::forEachQuery(
    OpBuilder &builder, function_ref<void(OpBuilder &, const Query &)> body) {
  buildParallelLoop(builder, inputs.loc,
                    getAsOpFoldResult({batches, heads, queries}),
                    [&](OpBuilder &b, Location, ValueRange at) {
                      body(b, getQuery(b, at[0], at[1], at[2]));
                    });
}

Query AttentionScores::getQuery(OpBuilder &builder, Value batch, Value head,
                                Value queryPosition) {
  return {batch, head, queryPosition,
          arith::DivUIOp::create(builder, inputs.loc, head, groupSize)};
}

/// A length, between 0 and an extent, which is what there is without lengths.
Value AttentionScores::getLength(OpBuilder &builder, Value lengths, Value batch,
                                 Value extent) {
  if (!lengths)
    return extent;
  Location loc = inputs.loc;
  Value length = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      memref::LoadOp::create(builder, loc, lengths, batch));
  return buildMin(builder, loc,
                  buildMax(builder, loc, length, constant(builder, 0)), extent);
}

IndexRange AttentionScores::getKeys(OpBuilder &builder, const Query &query) {
  Location loc = inputs.loc;
  Value zero = constant(builder, 0);
  IndexRange range{zero,
                   getLength(builder, inputs.kLengths, query.batch, keys)};
  if (highest) {
    Value last = arith::AddIOp::create(builder, loc, query.position, highest);
    range.end = buildMin(
        builder, loc, range.end,
        arith::AddIOp::create(builder, loc, last, constant(builder, 1)));
  }
  if (lowest)
    range.begin =
        buildMax(builder, loc, zero,
                 arith::AddIOp::create(builder, loc, query.position, lowest));
  return limit(builder, range, inputs.qLengths, query.batch, queries,
               query.position);
}

IndexRange AttentionScores::getQueries(OpBuilder &builder, Value batch,
                                       Value key) {
  Location loc = inputs.loc;
  Value zero = constant(builder, 0);
  IndexRange range{zero, getLength(builder, inputs.qLengths, batch, queries)};
  if (highest)
    range.begin = buildMax(builder, loc, zero,
                           arith::SubIOp::create(builder, loc, key, highest));
  if (lowest) {
    Value last = arith::SubIOp::create(builder, loc, key, lowest);
    range.end = buildMin(
        builder, loc, range.end,
        arith::AddIOp::create(builder, loc, last, constant(builder, 1)));
  }
  return limit(builder, range, inputs.kLengths, batch, keys, key);
}

/// The range, or none of it for an index at or past its length.
IndexRange AttentionScores::limit(OpBuilder &builder, IndexRange range,
                                  Value lengths, Value batch, Value extent,
                                  Value index) {
  Location loc = inputs.loc;
  if (lengths) {
    Value length = getLength(builder, lengths, batch, extent);
    Value isPadding = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, index, length);
    range.end = arith::SelectOp::create(builder, loc, isPadding,
                                        constant(builder, 0), range.end);
  }
  range.end = buildMax(builder, loc, range.end, range.begin);
  return range;
}

Value AttentionScores::getBiasIndex(OpBuilder &builder, Value array,
                                    int64_t dimension, Value index) {
  Location loc = inputs.loc;
  int64_t extent = cast<MemRefType>(array.getType()).getDimSize(dimension);
  if (extent == 1)
    return constant(builder, 0);
  if (!ShapedType::isDynamic(extent))
    return index;
  Value isOne = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      memref::DimOp::create(builder, loc, array, dimension),
      constant(builder, 1));
  return arith::SelectOp::create(builder, loc, isOne, constant(builder, 0),
                                 index);
}

Score AttentionScores::getScore(OpBuilder &builder, const Query &query,
                                Value key) {
  Location loc = inputs.loc;
  Value product = buildBlockedSum(
      builder, loc, getAsOpFoldResult(depth), sumBlock, type,
      [&](OpBuilder &b, Location, Value d) {
        FloatBuilder floats{b, loc, type};
        Value q = floats.load(
            inputs.q, ValueRange{query.batch, query.head, query.position, d});
        Value k = floats.load(inputs.k,
                              ValueRange{query.batch, query.keyHead, key, d});
        return floats.multiply(q, k);
      });
  FloatBuilder floats{builder, loc, type};
  Score score{floats.multiply(scale, product), Value()};
  if (inputs.softcap) {
    Value cap = floats.constant(inputs.softcap.getValueAsDouble());
    Value tanh =
        math::TanhOp::create(builder, loc, floats.divide(score.value, cap));
    score.value = floats.multiply(cap, tanh);
    score.derivative =
        floats.subtract(floats.constant(1.0), floats.multiply(tanh, tanh));
  }
  if (Value bias = inputs.bias) {
    Value at[] = {getBiasIndex(builder, bias, 0, query.batch),
                  getBiasIndex(builder, bias, 1, query.head), query.position,
                  key};
    score.value = floats.add(score.value, floats.load(bias, at));
  }
  return score;
}
