//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansion of pol.decode_attention: its splits. Merging them is
// little work, and as in the reference.

#include "../PolToLinalg/Decoding.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Lanes at least: of less, there are no vectors worth it.
static constexpr int64_t kLeastLanes = 4;
/// Vectors of keys in a block: what is done once for it takes as long as some
/// keys.
static constexpr int64_t kVectorsPerBlock = 2;
/// Keys between those that are read and those that are prefetched.
static constexpr int64_t kKeysAhead = 32;
/// Vectors of columns whose values are summed side by side.
static constexpr int64_t kColumnsAtOnce = 8;

namespace {
/// One split of the keys of one sequence and head, for all queries that read
/// them. Keys are read once from memory, a block of as many as vectors have
/// lanes at a time: products are along the columns, and what follows is along
/// the keys.
class VectorSplit {
public:
  VectorSplit(OpBuilder &builder, Decoding &decoding, VectorType type,
              Value batch, Value keyHead, Value split)
      : decoding(decoding), op(decoding.op), loc(decoding.loc), type(type),
        lanes(type.getDimSize(0)), batch(batch), keyHead(keyHead), split(split),
        rows(builder, decoding, kVectorsPerBlock * lanes),
        scores(memref::AllocaOp::create(
            builder, loc,
            MemRefType::get(kVectorsPerBlock * lanes, decoding.type))) {}

  void build(OpBuilder &builder);

private:
  VectorBuilder vectors(OpBuilder &builder) const {
    return {builder, loc, type};
  }
  using ColumnsFn = function_ref<SmallVector<Value>(
      VectorBuilder &, Value column, Value mask, ValueRange running)>;
  SmallVector<Value> overColumns(OpBuilder &builder, Value begin, Value length,
                                 ValueRange initial, ColumnsFn body);
  void clear(OpBuilder &builder, ValueRange query);
  SmallVector<Value> getAhead(OpBuilder &builder, ValueRange row);
  Value buildProducts(OpBuilder &builder, ValueRange query, IndexRange block,
                      Value first);
  Value buildProducts(OpBuilder &builder, ValueRange query,
                      ArrayRef<SmallVector<Value>> keys, bool arePrefetched);
  Value
  overBlock(OpBuilder &builder, IndexRange block, Value initial,
            function_ref<Value(OpBuilder &, Value place, Value running)> body);
  Value buildScores(OpBuilder &builder, Value products);
  void addBlock(OpBuilder &builder, ValueRange query, IndexRange block);
  void addValues(OpBuilder &builder, ValueRange query, IndexRange kept,
                 Value correction);
  Value isWithin(OpBuilder &builder, IndexRange kept, Value place);

  Decoding &decoding;
  DecodeAttentionOp op;
  Location loc;
  VectorType type;
  int64_t lanes;
  Value batch, keyHead, split;
  Value length;
  BlockRows rows;
  /// Scores, then weights, of a block, for one query after the other.
  Value scores;
};
} // namespace

/// Runs the body for vectors of columns from one on, a whole number of vectors
/// behind the first; the last one may be a part.
SmallVector<Value> VectorSplit::overColumns(OpBuilder &builder, Value begin,
                                            Value length, ValueRange initial,
                                            ColumnsFn body) {
  Value step = decoding.constant(builder, lanes);
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, length, step);
  Value whole = builder.createOrFold<arith::SubIOp>(loc, length, rest);
  auto loop = scf::ForOp::create(
      builder, loc, begin, whole, step, initial,
      [&](OpBuilder &b, Location, Value column, ValueRange running) {
        VectorBuilder v = vectors(b);
        scf::YieldOp::create(b, loc, body(v, column, Value(), running));
      });
  if (getConstantIntValue(rest) == 0)
    return SmallVector<Value>(loop.getResults());
  VectorBuilder v = vectors(builder);
  // With no lanes it does nothing: lanes that are not there load as 0.
  Value mask =
      vector::CreateMaskOp::create(builder, loc, v.getMaskType(), rest);
  return body(v, whole, mask, loop.getResults());
}

/// An empty split: M = −∞, L = 0 and sums of 0.
void VectorSplit::clear(OpBuilder &builder, ValueRange query) {
  FloatBuilder floats{builder, loc, decoding.type};
  SmallVector<Value> partial = append(query, split);
  floats.store(floats.constant(-kInfinity), op.getPartialMax(), partial);
  floats.store(floats.constant(0.0), op.getPartialSum(), partial);
  overColumns(builder, decoding.constant(builder, 0), decoding.valueDepth, {},
              [&](VectorBuilder &v, Value column, Value mask, ValueRange) {
                v.store(v.constant(0.0), op.getPartialO(),
                        append(partial, column), mask);
                return SmallVector<Value>();
              });
}

/// A key's row that is soon to be read, where keys lie one behind the other.
/// There may be no such row: what is prefetched need not be there.
SmallVector<Value> VectorSplit::getAhead(OpBuilder &builder, ValueRange row) {
  SmallVector<Value> ahead(row);
  ahead.back() = arith::AddIOp::create(builder, loc, row.back(),
                                       decoding.constant(builder, kKeysAhead));
  return ahead;
}

/// Σ q·k of as many keys of a block as there are lanes, from one on; behind the
/// last one, that of the last one once more. Where none is behind it and keys
/// lie one behind the other, one address is enough for all.
Value VectorSplit::buildProducts(OpBuilder &builder, ValueRange query,
                                 IndexRange block, Value first) {
  Value last = arith::SubIOp::create(builder, loc, block.end,
                                     decoding.constant(builder, 1));
  auto getKeys = [&](OpBuilder &b, bool areAll) {
    SmallVector<SmallVector<Value>> keys;
    for (int64_t i = 0; i < lanes; ++i) {
      Value key = arith::AddIOp::create(b, loc, first, decoding.constant(b, i));
      keys.push_back(rows.get(b, areAll ? key : buildMin(b, loc, key, last)));
    }
    return keys;
  };
  if (decoding.pageSize)
    return buildProducts(builder, query, getKeys(builder, /*areAll=*/false),
                         /*arePrefetched=*/false);
  Value end = arith::AddIOp::create(builder, loc, first,
                                    decoding.constant(builder, lanes));
  Value areAll = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       end, block.end);
  auto build = [&](bool isSo) {
    return [&, isSo](OpBuilder &b, Location) {
      Value products = buildProducts(b, query, getKeys(b, isSo), isSo);
      scf::YieldOp::create(b, loc, products);
    };
  };
  return scf::IfOp::create(builder, loc, areAll, build(true), build(false))
      .getResult(0);
}

Value VectorSplit::buildProducts(OpBuilder &builder, ValueRange query,
                                 ArrayRef<SmallVector<Value>> keys,
                                 bool arePrefetched) {
  SmallVector<SmallVector<Value>> ahead;
  if (arePrefetched)
    for (ValueRange key : keys)
      ahead.push_back(getAhead(builder, key));
  SmallVector<Value> zeros(lanes, vectors(builder).constant(0.0));
  SmallVector<Value> sums = overColumns(
      builder, decoding.constant(builder, 0), decoding.depth, zeros,
      [&](VectorBuilder &v, Value column, Value mask, ValueRange running) {
        Value factor = v.load(op.getQ(), append(query, column), mask);
        SmallVector<Value> next;
        for (auto [key, sum] : llvm::zip(keys, running))
          next.push_back(
              v.fma(factor, v.load(op.getK(), append(key, column), mask), sum));
        for (ValueRange key : ahead)
          v.prefetch(op.getK(), append(key, column));
        return next;
      });
  return vectors(builder).sumEach(sums);
}

/// The scores of a block's products, as a vector.
Value VectorSplit::buildScores(OpBuilder &builder, Value products) {
  VectorBuilder v = vectors(builder);
  Value result = v.multiply(v.splat(decoding.getScale()), products);
  if (!op.getSoftcapAttr())
    return result;
  Value cap = v.constant(op.getSoftcapAttr().getValueAsDouble());
  Value bent = math::TanhOp::create(
      builder, loc, arith::DivFOp::create(builder, loc, result, cap));
  return v.multiply(cap, bent);
}

/// Which lanes, from a place in a block on, are keys of a range.
Value VectorSplit::isWithin(OpBuilder &builder, IndexRange kept, Value place) {
  auto upTo = [&](Value key) -> Value {
    Value count =
        arith::SubIOp::create(builder, loc, rows.getPlace(builder, key), place);
    return vector::CreateMaskOp::create(builder, loc,
                                        vectors(builder).getMaskType(), count);
  };
  // What is up to the end, and not up to the beginning.
  return arith::XOrIOp::create(builder, loc, upTo(kept.end), upTo(kept.begin));
}

/// Runs the body for places in a block, one for each vector of its keys.
Value VectorSplit::overBlock(
    OpBuilder &builder, IndexRange block, Value initial,
    function_ref<Value(OpBuilder &, Value place, Value running)> body) {
  Value size = arith::SubIOp::create(builder, loc, block.end, block.begin);
  return scf::ForOp::create(
             builder, loc, decoding.constant(builder, 0), size,
             decoding.constant(builder, lanes), initial,
             [&](OpBuilder &b, Location, Value place, ValueRange running) {
               scf::YieldOp::create(b, loc, body(b, place, running.front()));
             })
      .getResult(0);
}

/// Takes the keys of a block that a query keeps into its M, L and sums. What
/// they hold is of a smaller maximum, and is corrected by exp(M − new M).
void VectorSplit::addBlock(OpBuilder &builder, ValueRange query,
                           IndexRange block) {
  IndexRange kept = decoding.getKeys(builder, length, query[2]);
  kept.begin = buildMin(builder, loc, block.end,
                        buildMax(builder, loc, kept.begin, block.begin));
  kept.end = buildMax(builder, loc, kept.begin,
                      buildMin(builder, loc, kept.end, block.end));
  VectorBuilder v = vectors(builder);
  FloatBuilder floats{builder, loc, decoding.type};
  SmallVector<Value> partial = append(query, split);
  Value before = floats.load(op.getPartialMax(), partial);
  Value found = overBlock(
      builder, block, v.constant(-kInfinity),
      [&](OpBuilder &b, Value place, Value running) {
        VectorBuilder inner = vectors(b);
        Value first = arith::AddIOp::create(b, loc, block.begin, place);
        Value score = buildScores(b, buildProducts(b, query, block, first));
        score = inner.select(isWithin(b, kept, place), score,
                             inner.constant(-kInfinity));
        inner.store(score, scores, place);
        return inner.larger(score, running);
      });
  Value largest = v.maximumLane(found);
  Value isLarger = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGT, largest, before);
  Value maximum =
      arith::SelectOp::create(builder, loc, isLarger, largest, before);
  // Where all scores so far are −∞, their weights are 0 for any larger one.
  Value isLeast = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        maximum, floats.constant(-kInfinity));
  Value origin = arith::SelectOp::create(builder, loc, isLeast,
                                         floats.constant(0.0), maximum);
  Value sums = overBlock(
      builder, block, v.constant(0.0),
      [&](OpBuilder &b, Value place, Value running) {
        VectorBuilder inner = vectors(b);
        Value score = inner.load(scores, place);
        Value weight = inner.exp(inner.subtract(score, inner.splat(origin)));
        weight =
            inner.select(isWithin(b, kept, place), weight, inner.constant(0.0));
        inner.store(weight, scores, place);
        return inner.add(running, weight);
      });
  Value sum = v.sumLanes(sums);
  // A score that is not a number is none of the larger ones.
  Value isStrange = arith::AndIOp::create(
      builder, loc,
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, sum, sum),
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, maximum,
                            floats.constant(kInfinity)));
  Value correction = vector::ExtractOp::create(
      builder, loc, v.exp(v.splat(floats.subtract(before, origin))),
      int64_t(0));
  floats.store(arith::SelectOp::create(builder, loc, isStrange, sum, maximum),
               op.getPartialMax(), partial);
  Value old = floats.load(op.getPartialSum(), partial);
  floats.store(floats.add(floats.multiply(old, correction), sum),
               op.getPartialSum(), partial);
  addValues(builder, query, kept, correction);
}

/// Adds the weighted values of the keys that a query keeps of a block.
void VectorSplit::addValues(OpBuilder &builder, ValueRange query,
                            IndexRange kept, Value correction) {
  SmallVector<Value> partial = append(query, split);
  auto addColumns = [&](VectorBuilder &v, ValueRange columns, Value mask) {
    SmallVector<Value> zeros(columns.size(), v.constant(0.0));
    auto loop = scf::ForOp::create(
        v.builder, loc, kept.begin, kept.end, decoding.constant(v.builder, 1),
        zeros, [&](OpBuilder &b, Location, Value key, ValueRange running) {
          VectorBuilder inner = vectors(b);
          Value at = rows.getPlace(b, key);
          Value weight =
              inner.splat(memref::LoadOp::create(b, loc, scores, at));
          SmallVector<Value> row = rows.get(b, key);
          SmallVector<Value> next;
          for (auto [column, sum] : llvm::zip(columns, running))
            next.push_back(inner.fma(
                weight, inner.load(op.getV(), append(row, column), mask), sum));
          if (!decoding.pageSize)
            for (Value column : columns)
              inner.prefetch(op.getV(), append(getAhead(b, row), column));
          scf::YieldOp::create(b, loc, next);
        });
    for (auto [column, sum] : llvm::zip(columns, loop.getResults())) {
      SmallVector<Value> at = append(partial, column);
      Value old = v.load(op.getPartialO(), at, mask);
      v.store(v.fma(old, v.splat(correction), sum), op.getPartialO(), at, mask);
    }
  };
  Value step = decoding.constant(builder, kColumnsAtOnce * lanes);
  Value rest =
      builder.createOrFold<arith::RemUIOp>(loc, decoding.valueDepth, step);
  Value whole =
      builder.createOrFold<arith::SubIOp>(loc, decoding.valueDepth, rest);
  buildLoop(builder, loc, decoding.constant(builder, 0), whole,
            kColumnsAtOnce * lanes,
            [&](OpBuilder &b, Location, ValueRange first) {
              SmallVector<Value> columns;
              for (int64_t i = 0; i < kColumnsAtOnce; ++i)
                columns.push_back(arith::AddIOp::create(
                    b, loc, first.front(), decoding.constant(b, i * lanes)));
              VectorBuilder v = vectors(b);
              addColumns(v, columns, Value());
            });
  if (getConstantIntValue(rest) == 0)
    return;
  overColumns(builder, whole, decoding.valueDepth, {},
              [&](VectorBuilder &v, Value column, Value mask, ValueRange) {
                addColumns(v, column, mask);
                return SmallVector<Value>();
              });
}

/// Clears what the split has of each query, and adds block after block of keys.
void VectorSplit::build(OpBuilder &builder) {
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

static void expandDecodeAttention(OpBuilder &builder, DecodeAttentionOp op,
                                  TargetAttr target) {
  // What merges splits adds up blocks of 16.
  Decoding decoding(builder, op, /*sumBlock=*/16);
  auto type = VectorType::get(target.getVectorBits() / decoding.type.getWidth(),
                              decoding.type);
  if (type.getDimSize(0) < kLeastLanes)
    type = VectorType::get(kLeastLanes, decoding.type);
  forEachSplit(builder, decoding,
               [&](OpBuilder &b, Value batch, Value keyHead, Value split) {
                 VectorSplit(b, decoding, type, batch, keyHead, split).build(b);
               });
  mergeSplits(builder, decoding);
}

void mlir::pol::populateDecodeAttentionToVectorPatterns(
    RewritePatternSet &patterns, TargetAttr target) {
  patterns.add<ExpandToVector<DecodeAttentionOp>>(
      patterns.getContext(), expandDecodeAttention, target);
}
