//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.decode_attention: splits of keys, in parallel,
// and their merge.

#include "AttentionScores.h"
#include "Decoding.h"
#include "ExpandKernel.h"
#include "Loops.h"
#include "TileSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

/// Keys whose scores are computed, for one query after the other, before their
/// values are read.
static constexpr int64_t kBlockKeys = 16;

namespace {
/// One split of the keys of one sequence and head, for all queries that read
/// them.
class SplitExpansion {
public:
  SplitExpansion(OpBuilder &builder, Decoding &decoding, Value batch,
                 Value keyHead, Value split);

  void build(OpBuilder &builder);

private:
  void clear(OpBuilder &builder, ValueRange query);
  void addBlock(OpBuilder &builder, ValueRange query, IndexRange block);
  void addValues(OpBuilder &builder, ValueRange query, IndexRange kept,
                 Value correction);

  Decoding &decoding;
  DecodeAttentionOp op;
  Location loc;
  FloatType type;
  Value batch, keyHead, split;
  Value length;
  BlockRows rows;
  TileSums tileSums;
  /// Scores of a block, and then their exponentials.
  Value scores;
};
} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

Decoding::Decoding(OpBuilder &builder, DecodeAttentionOp op, int64_t sumBlock)
    : op(op), sumBlock(sumBlock), loc(op.getLoc()),
      type(getAccumulationType(
          cast<MemRefType>(op.getQ().getType()).getElementType())) {
  auto getDim = [&](Value array, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, getExtent(builder, loc, array, dimension));
  };
  batches = getDim(op.getQ(), 0);
  heads = getDim(op.getQ(), 1);
  queries = getDim(op.getQ(), 2);
  depth = getDim(op.getQ(), 3);
  keyHeads = getDim(op.getK(), 1);
  valueDepth = getDim(op.getV(), 3);
  splits = getDim(op.getPartialO(), 3);
  groupSize = buildGroupSize(builder, loc, heads, keyHeads);
  if (Value table = op.getBlockTable()) {
    pages = getDim(op.getK(), 0);
    pageSize = getDim(op.getK(), 2);
    capacity = buildPagedCapacity(builder, loc, getDim(table, 1), pageSize);
    // Without pages there is no nearest one for an entry that is none.
    Value isEmpty = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, pages, constant(builder, 0));
    capacity = builder.createOrFold<arith::SelectOp>(
        loc, isEmpty, constant(builder, 0), capacity);
  } else {
    capacity = getDim(op.getK(), 2);
  }
  scale = buildScale(builder, loc, type, op.getScaleAttr(), depth);
}

Value Decoding::getLength(OpBuilder &builder, Value batch) {
  Value lengths = op.getKLengths();
  return lengths ? loadWithin(builder, loc, lengths, batch,
                              constant(builder, 0), capacity)
                 : capacity;
}

void Decoding::forEachQuery(OpBuilder &builder, Value batch, Value keyHead,
                            function_ref<void(OpBuilder &, ValueRange)> body) {
  Value first = arith::MulIOp::create(builder, loc, keyHead, groupSize);
  // Where there are no heads, groups have one nevertheless.
  Value last = buildMin(builder, loc, heads,
                        arith::AddIOp::create(builder, loc, first, groupSize));
  Value zero = constant(builder, 0);
  buildLoop(builder, loc, first, last, 1,
            [&](OpBuilder &outer, Location, ValueRange head) {
              buildLoop(outer, loc, zero, queries, 1,
                        [&](OpBuilder &b, Location, ValueRange position) {
                          body(b, {batch, head.front(), position.front()});
                        });
            });
}

IndexRange Decoding::getKeys(OpBuilder &builder, Value length, Value position) {
  Value zero = constant(builder, 0);
  if (!op.getCausal())
    return {zero, length};
  // The key that the query keeps last: n − S + s, which is before n.
  Value last = arith::AddIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, length, queries),
      position);
  Value end = buildMax(
      builder, loc,
      arith::AddIOp::create(builder, loc, last, constant(builder, 1)), zero);
  if (!op.getWindowAttr())
    return {zero, end};
  // A window of all keys is as good as a larger one.
  Value window = buildMin(
      builder, loc, constant(builder, op.getWindowAttr().getInt()), length);
  Value begin = arith::SubIOp::create(builder, loc, last, window);
  return {buildMax(builder, loc, begin, zero), end};
}

IndexRange Decoding::getSplit(OpBuilder &builder, Value length, Value split) {
  // The first query keeps the first key that any does.
  Value first = getKeys(builder, length, constant(builder, 0)).begin;
  Value count = arith::SubIOp::create(builder, loc, length, first);
  Value size = arith::CeilDivUIOp::create(builder, loc, count, splits);
  Value begin = buildMin(
      builder, loc, arith::MulIOp::create(builder, loc, split, size), count);
  Value left = arith::SubIOp::create(builder, loc, count, begin);
  begin = arith::AddIOp::create(builder, loc, first, begin);
  return {begin, arith::AddIOp::create(builder, loc, begin,
                                       buildMin(builder, loc, size, left))};
}

Value Decoding::getScore(OpBuilder &builder, ValueRange query,
                         ValueRange keyRow) {
  Value product = buildBlockedSum(
      builder, loc, getAsOpFoldResult(depth), sumBlock, type,
      [&](OpBuilder &b, Location, Value column) {
        FloatBuilder floats{b, loc, type};
        return floats.multiply(floats.load(op.getQ(), append(query, column)),
                               floats.load(op.getK(), append(keyRow, column)));
      });
  FloatBuilder floats{builder, loc, type};
  Value score = floats.multiply(scale, product);
  if (!op.getSoftcapAttr())
    return score;
  Value cap = floats.constant(op.getSoftcapAttr().getValueAsDouble());
  return floats.multiply(
      cap, math::TanhOp::create(builder, loc, floats.divide(score, cap)));
}

//===----------------------------------------------------------------------===//
// BlockRows
//===----------------------------------------------------------------------===//

BlockRows::BlockRows(OpBuilder &builder, Decoding &decoding, int64_t blockKeys)
    : decoding(decoding), loc(decoding.loc), blockKeys(blockKeys) {
  if (!decoding.pageSize)
    return;
  auto type = MemRefType::get(blockKeys, builder.getIndexType());
  pages = memref::AllocaOp::create(builder, loc, type);
  rows = memref::AllocaOp::create(builder, loc, type);
}

void BlockRows::forEachBlock(OpBuilder &builder, Value batchOfKeys,
                             Value headOfKeys, IndexRange keys,
                             function_ref<void(OpBuilder &, IndexRange)> body) {
  batch = batchOfKeys;
  keyHead = headOfKeys;
  buildLoop(builder, loc, keys.begin, keys.end, blockKeys,
            [&](OpBuilder &b, Location, ValueRange begin) {
              first = begin.front();
              IndexRange block = buildBlock(b, loc, first, keys.end, blockKeys);
              build(b, block);
              body(b, block);
            });
}

Value BlockRows::getPlace(OpBuilder &builder, Value key) {
  return arith::SubIOp::create(builder, loc, key, first);
}

void BlockRows::build(OpBuilder &builder, IndexRange range) {
  Value pageSize = decoding.pageSize;
  if (!pageSize)
    return;
  Value last = builder.createOrFold<arith::SubIOp>(
      loc, decoding.pages, decoding.constant(builder, 1));
  buildLoop(builder, loc, range.begin, range.end, 1,
            [&](OpBuilder &b, Location, ValueRange key) {
              Value number =
                  arith::DivUIOp::create(b, loc, key.front(), pageSize);
              Value page =
                  loadWithin(b, loc, decoding.op.getBlockTable(),
                             {batch, number}, decoding.constant(b, 0), last);
              Value row = arith::RemUIOp::create(b, loc, key.front(), pageSize);
              Value at = getPlace(b, key.front());
              memref::StoreOp::create(b, loc, page, pages, at);
              memref::StoreOp::create(b, loc, row, rows, at);
            });
}

SmallVector<Value> BlockRows::get(OpBuilder &builder, Value key) {
  if (!decoding.pageSize)
    return {batch, keyHead, key};
  Value at = getPlace(builder, key);
  return {memref::LoadOp::create(builder, loc, pages, at), keyHead,
          memref::LoadOp::create(builder, loc, rows, at)};
}

//===----------------------------------------------------------------------===//
// SplitExpansion
//===----------------------------------------------------------------------===//

SplitExpansion::SplitExpansion(OpBuilder &builder, Decoding &decoding,
                               Value batch, Value keyHead, Value split)
    : decoding(decoding), op(decoding.op), loc(decoding.loc),
      type(decoding.type), batch(batch), keyHead(keyHead), split(split),
      rows(builder, decoding, kBlockKeys),
      tileSums(builder, loc, type, decoding.sumBlock),
      scores(memref::AllocaOp::create(builder, loc,
                                      MemRefType::get(kBlockKeys, type))) {}

/// An empty split: M = −∞, L = 0 and sums of 0.
void SplitExpansion::clear(OpBuilder &builder, ValueRange query) {
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> partial = append(query, split);
  floats.store(floats.constant(-std::numeric_limits<double>::infinity()),
               op.getPartialMax(), partial);
  Value zero = floats.constant(0.0);
  floats.store(zero, op.getPartialSum(), partial);
  buildLoop(builder, loc, decoding.constant(builder, 0), decoding.valueDepth, 1,
            [&](OpBuilder &b, Location, ValueRange column) {
              FloatBuilder{b, loc, type}.store(zero, op.getPartialO(),
                                               append(partial, column.front()));
            });
}

/// Takes the keys of a block that a query keeps into its M, L and sums. What
/// they hold is of a smaller maximum, and is corrected by exp(M − new M): a
/// factor of 1, exactly, where it is no smaller.
void SplitExpansion::addBlock(OpBuilder &builder, ValueRange query,
                              IndexRange block) {
  IndexRange kept = decoding.getKeys(builder, length, query[2]);
  kept.begin = buildMax(builder, loc, kept.begin, block.begin);
  kept.end = buildMax(builder, loc, kept.begin,
                      buildMin(builder, loc, kept.end, block.end));
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> partial = append(query, split);
  Value before = floats.load(op.getPartialMax(), partial);
  Value maximum = buildMaximum(
      builder, loc, kept, before, [&](OpBuilder &b, Location, Value key) {
        Value score = decoding.getScore(b, query, rows.get(b, key));
        memref::StoreOp::create(b, loc, score, scores, rows.getPlace(b, key));
        return score;
      });
  // Where all scores so far are −∞, their weights are 0 for any larger one.
  Value infinity = floats.constant(-std::numeric_limits<double>::infinity());
  Value isLeast = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        maximum, infinity);
  Value origin = arith::SelectOp::create(builder, loc, isLeast,
                                         floats.constant(0.0), maximum);
  Compensated sum =
      addBlockedSum(builder, loc, Compensated::zero(builder, loc, type), kept,
                    decoding.sumBlock, [&](OpBuilder &b, Location, Value key) {
                      FloatBuilder inner{b, loc, type};
                      Value at = rows.getPlace(b, key);
                      Value weight = inner.exp(
                          inner.subtract(inner.load(scores, at), origin));
                      inner.store(weight, scores, at);
                      return weight;
                    });
  Value correction = floats.exp(floats.subtract(before, origin));
  floats.store(maximum, op.getPartialMax(), partial);
  Value old = floats.load(op.getPartialSum(), partial);
  floats.store(
      floats.add(floats.multiply(old, correction), sum.get(builder, loc)),
      op.getPartialSum(), partial);
  addValues(builder, query, kept, correction);
}

/// Adds the weighted values of the keys that a query keeps of a block.
void SplitExpansion::addValues(OpBuilder &builder, ValueRange query,
                               IndexRange kept, Value correction) {
  SmallVector<Value> row;
  auto accumulate = [&](OpBuilder &b) {
    tileSums.add(
        b, {kept, nullptr},
        [&](OpBuilder &outer, Value key) {
          row = rows.get(outer, key);
          Value at = rows.getPlace(outer, key);
          return FloatBuilder{outer, loc, type}.load(scores, at);
        },
        [&](OpBuilder &inner, Value, Value column) {
          return FloatBuilder{inner, loc, type}.load(op.getV(),
                                                     append(row, column));
        });
  };
  SmallVector<Value> partial = append(query, split);
  tileSums.build(builder, decoding.valueDepth, accumulate,
                 [&](OpBuilder &b, Value column, Value sum) {
                   FloatBuilder floats{b, loc, type};
                   SmallVector<Value> at = append(partial, column);
                   Value old = floats.load(op.getPartialO(), at);
                   floats.store(
                       floats.add(floats.multiply(old, correction), sum),
                       op.getPartialO(), at);
                 });
}

/// Clears what the split has of each query, and adds block after block of keys.
void SplitExpansion::build(OpBuilder &builder) {
  length = decoding.getLength(builder, batch);
  IndexRange keys = decoding.getSplit(builder, length, split);
  decoding.forEachQuery(
      builder, batch, keyHead,
      [&](OpBuilder &b, ValueRange query) { clear(b, query); });
  rows.forEachBlock(
      builder, batch, keyHead, keys, [&](OpBuilder &b, IndexRange block) {
        decoding.forEachQuery(b, batch, keyHead,
                              [&](OpBuilder &inner, ValueRange query) {
                                addBlock(inner, query, block);
                              });
      });
}

//===----------------------------------------------------------------------===//
// Merge
//===----------------------------------------------------------------------===//

/// Merges the splits of one query: o = Σ w·a / Σ w·l with w = exp(m − max). The
/// weights take the place of the maxima; that of an empty split is 0.
static void buildMerge(OpBuilder &builder, Decoding &decoding,
                       ValueRange query) {
  DecodeAttentionOp op = decoding.op;
  Location loc = decoding.loc;
  FloatType type = decoding.type;
  FloatBuilder floats{builder, loc, type};
  IndexRange keys = decoding.getKeys(
      builder, decoding.getLength(builder, query[0]), query[2]);
  Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                        keys.end, keys.begin);
  auto load = [&](OpBuilder &b, Value array, Value split,
                  Value column = Value()) {
    SmallVector<Value> at = append(query, split);
    if (column)
      at.push_back(column);
    return FloatBuilder{b, loc, type}.load(array, at);
  };
  Value maximum =
      buildMaximum(builder, loc, decoding.splits,
                   floats.constant(-std::numeric_limits<double>::infinity()),
                   [&](OpBuilder &b, Location, Value split) {
                     return load(b, op.getPartialMax(), split);
                   });
  Value sum = buildBlockedSum(
      builder, loc, decoding.splits, decoding.sumBlock, type,
      [&](OpBuilder &b, Location, Value split) {
        FloatBuilder inner{b, loc, type};
        Value weight = inner.exp(
            inner.subtract(load(b, op.getPartialMax(), split), maximum));
        inner.store(weight, op.getPartialMax(), append(query, split));
        return inner.multiply(weight, load(b, op.getPartialSum(), split));
      });
  Value zero = floats.constant(0.0);
  sum = arith::SelectOp::create(builder, loc, isEmpty, zero, sum);
  if (op.getMax()) {
    floats.store(maximum, op.getMax(), query);
    floats.store(sum, op.getSum(), query);
  }
  TileSums tileSums(builder, loc, type, decoding.sumBlock);
  auto accumulate = [&](OpBuilder &b) {
    tileSums.add(
        b, {{decoding.constant(b, 0), decoding.splits}, nullptr},
        [&](OpBuilder &outer, Value split) {
          return load(outer, op.getPartialMax(), split);
        },
        [&](OpBuilder &inner, Value split, Value column) {
          return load(inner, op.getPartialO(), split, column);
        });
  };
  tileSums.build(builder, decoding.valueDepth, accumulate,
                 [&](OpBuilder &b, Value column, Value total) {
                   FloatBuilder outer{b, loc, type};
                   Value result = arith::SelectOp::create(
                       b, loc, isEmpty, zero, outer.divide(total, sum));
                   outer.store(result, op.getO(), append(query, column));
                 });
}

void mlir::pol::forEachSplit(
    OpBuilder &builder, Decoding &decoding,
    function_ref<void(OpBuilder &, Value, Value, Value)> body) {
  buildParallelLoop(
      builder, decoding.loc,
      getAsOpFoldResult({decoding.batches, decoding.keyHeads, decoding.splits}),
      [&](OpBuilder &b, Location, ValueRange at) {
        body(b, at[0], at[1], at[2]);
      });
}

void mlir::pol::mergeSplits(OpBuilder &builder, Decoding &decoding) {
  buildParallelLoop(
      builder, decoding.loc,
      getAsOpFoldResult({decoding.batches, decoding.heads, decoding.queries}),
      [&](OpBuilder &b, Location, ValueRange query) {
        buildMerge(b, decoding, query);
      });
}

/// Splits first, then what merges them.
static void expandDecodeAttention(OpBuilder &builder, DecodeAttentionOp op,
                                  int64_t sumBlock) {
  Decoding decoding(builder, op, sumBlock);
  forEachSplit(builder, decoding,
               [&](OpBuilder &b, Value batch, Value keyHead, Value split) {
                 SplitExpansion(b, decoding, batch, keyHead, split).build(b);
               });
  mergeSplits(builder, decoding);
}

void mlir::pol::populateDecodeAttentionToLinalgPatterns(
    RewritePatternSet &patterns, int64_t sumBlock) {
  patterns.add<ExpandKernel<DecodeAttentionOp>>(
      patterns.getContext(), expandDecodeAttention, sumBlock);
}
