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
/// Keys whose products with a query are summed side by side.
static constexpr int64_t kKeysAtOnce = 4;

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
        rows(builder, decoding, lanes),
        scores(memref::AllocaOp::create(
            builder, loc, MemRefType::get(lanes, decoding.type))) {}

  void build(OpBuilder &builder);

private:
  VectorBuilder vectors(OpBuilder &builder) const {
    return {builder, loc, type};
  }
  using ColumnsFn = function_ref<SmallVector<Value>(
      VectorBuilder &, Value column, Value mask, ValueRange running)>;
  SmallVector<Value> overColumns(OpBuilder &builder, Value length,
                                 ValueRange initial, ColumnsFn body);
  void clear(OpBuilder &builder, ValueRange query);
  void buildProducts(OpBuilder &builder, ValueRange query, IndexRange block);
  Value buildScores(OpBuilder &builder);
  void addBlock(OpBuilder &builder, ValueRange query, IndexRange block);
  void addValues(OpBuilder &builder, ValueRange query, IndexRange kept,
                 Value correction);
  Value isWithin(OpBuilder &builder, IndexRange kept);

  Decoding &decoding;
  DecodeAttentionOp op;
  Location loc;
  VectorType type;
  int64_t lanes;
  Value batch, keyHead, split;
  Value length;
  BlockRows rows;
  /// Of a block, for one query after the other: products, scores, weights.
  Value scores;
};
} // namespace

/// Runs the body for all vectors of columns, the last of which may be a part.
SmallVector<Value> VectorSplit::overColumns(OpBuilder &builder, Value length,
                                            ValueRange initial,
                                            ColumnsFn body) {
  Value zero = decoding.constant(builder, 0);
  Value step = decoding.constant(builder, lanes);
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, length, step);
  Value whole = builder.createOrFold<arith::SubIOp>(loc, length, rest);
  auto loop = scf::ForOp::create(
      builder, loc, zero, whole, step, initial,
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
  overColumns(builder, decoding.valueDepth, {},
              [&](VectorBuilder &v, Value column, Value mask, ValueRange) {
                v.store(v.constant(0.0), op.getPartialO(),
                        append(partial, column), mask);
                return SmallVector<Value>();
              });
}

/// Σ q·k of the keys of a block; behind the last one, that of the last one once
/// more.
void VectorSplit::buildProducts(OpBuilder &builder, ValueRange query,
                                IndexRange block) {
  Value last = arith::SubIOp::create(builder, loc, block.end,
                                     decoding.constant(builder, 1));
  auto build = [&](OpBuilder &b, Location, ValueRange first) {
    SmallVector<SmallVector<Value>> keys;
    for (int64_t i = 0; i < kKeysAtOnce; ++i) {
      Value at =
          arith::AddIOp::create(b, loc, first.front(), decoding.constant(b, i));
      Value key = arith::AddIOp::create(b, loc, block.begin, at);
      keys.push_back(rows.get(b, buildMin(b, loc, key, last)));
    }
    SmallVector<Value> zeros(kKeysAtOnce, vectors(b).constant(0.0));
    SmallVector<Value> sums = overColumns(
        b, decoding.depth, zeros,
        [&](VectorBuilder &v, Value column, Value mask, ValueRange running) {
          Value factor = v.load(op.getQ(), append(query, column), mask);
          SmallVector<Value> next;
          for (auto [key, sum] : llvm::zip(keys, running))
            next.push_back(v.fma(
                factor, v.load(op.getK(), append(key, column), mask), sum));
          return next;
        });
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value at =
          arith::AddIOp::create(b, loc, first.front(), decoding.constant(b, i));
      memref::StoreOp::create(b, loc, vectors(b).sumLanes(sum), scores, at);
    }
  };
  buildLoop(builder, loc, decoding.constant(builder, 0),
            decoding.constant(builder, lanes), kKeysAtOnce, build);
}

/// The scores of a block's products, as a vector.
Value VectorSplit::buildScores(OpBuilder &builder) {
  VectorBuilder v = vectors(builder);
  Value products = v.load(scores, decoding.constant(builder, 0));
  Value result = v.multiply(v.splat(decoding.getScale()), products);
  if (!op.getSoftcapAttr())
    return result;
  Value cap = v.constant(op.getSoftcapAttr().getValueAsDouble());
  Value bent = math::TanhOp::create(
      builder, loc, arith::DivFOp::create(builder, loc, result, cap));
  return v.multiply(cap, bent);
}

/// Which lanes of a block are keys of a range.
Value VectorSplit::isWithin(OpBuilder &builder, IndexRange kept) {
  auto upTo = [&](Value key) -> Value {
    Value count = rows.getPlace(builder, key);
    return vector::CreateMaskOp::create(builder, loc,
                                        vectors(builder).getMaskType(), count);
  };
  // What is up to the end, and not up to the beginning.
  return arith::XOrIOp::create(builder, loc, upTo(kept.end), upTo(kept.begin));
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
  buildProducts(builder, query, block);
  Value isKept = isWithin(builder, kept);
  Value found = v.select(isKept, buildScores(builder), v.constant(-kInfinity));
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
  Value weights = v.select(isKept, v.exp(v.subtract(found, v.splat(origin))),
                           v.constant(0.0));
  v.store(weights, scores, decoding.constant(builder, 0));
  Value sum = v.sumLanes(weights);
  // A score that is not a number is none of the larger ones.
  Value isStrange = arith::AndIOp::create(
      builder, loc,
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, sum, sum),
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, maximum,
                            floats.constant(kInfinity)));
  Value correction = floats.exp(floats.subtract(before, origin));
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
  auto addColumns = [&](VectorBuilder &v, Value column, Value mask,
                        ValueRange) {
    auto loop = scf::ForOp::create(
        v.builder, loc, kept.begin, kept.end, decoding.constant(v.builder, 1),
        v.constant(0.0),
        [&](OpBuilder &b, Location, Value key, ValueRange running) {
          VectorBuilder inner = vectors(b);
          Value at = rows.getPlace(b, key);
          Value weight = memref::LoadOp::create(b, loc, scores, at);
          Value value =
              inner.load(op.getV(), append(rows.get(b, key), column), mask);
          Value sum = inner.fma(inner.splat(weight), value, running.front());
          scf::YieldOp::create(b, loc, sum);
        });
    SmallVector<Value> at = append(partial, column);
    Value old = v.load(op.getPartialO(), at, mask);
    v.store(v.fma(old, v.splat(correction), loop.getResult(0)),
            op.getPartialO(), at, mask);
    return SmallVector<Value>();
  };
  overColumns(builder, decoding.valueDepth, {}, addColumns);
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
  if (type.getDimSize(0) < kKeysAtOnce)
    type = VectorType::get(kKeysAtOnce, decoding.type);
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
