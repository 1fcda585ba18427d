//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.attention.

#include "AttentionScores.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

namespace {
/// The weights of one query's keys: first their largest score, then their sum,
/// then their products with the values, for which the scores are computed again
/// rather than stored.
class QueryExpansion {
public:
  QueryExpansion(AttentionOp op, AttentionScores &scores, Query query,
                 int64_t sumBlock)
      : op(op), scores(scores), query(query), sumBlock(sumBlock),
        loc(op.getLoc()), type(scores.getType()) {}

  void build(OpBuilder &builder);

private:
  /// exp(s − max), for the same s that the maximum was taken of.
  Value getNumerator(OpBuilder &builder, Value key) {
    FloatBuilder floats{builder, loc, type};
    return floats.exp(
        floats.subtract(scores.getScore(builder, query, key).value, maximum));
  }
  void buildResult(OpBuilder &builder);

  AttentionOp op;
  AttentionScores &scores;
  Query query;
  int64_t sumBlock;
  Location loc;
  FloatType type;
  IndexRange keys;
  Value maximum;
  Value sum;
};
} // namespace

void QueryExpansion::build(OpBuilder &builder) {
  FloatBuilder floats{builder, loc, type};
  keys = scores.getKeys(builder, query);
  Value length = arith::SubIOp::create(builder, loc, keys.end, keys.begin);
  auto getKey = [&](OpBuilder &b, Value index) -> Value {
    return arith::AddIOp::create(b, loc, keys.begin, index);
  };
  maximum =
      buildMaximum(builder, loc, length,
                   floats.constant(-std::numeric_limits<double>::infinity()),
                   [&](OpBuilder &b, Location, Value index) {
                     return scores.getScore(b, query, getKey(b, index)).value;
                   });
  sum = buildBlockedSum(builder, loc, length, sumBlock, type,
                        [&](OpBuilder &b, Location, Value index) {
                          return getNumerator(b, getKey(b, index));
                        });
  Value row[] = {query.batch, query.head, query.position};
  if (op.getMax()) {
    floats.store(maximum, op.getMax(), row);
    floats.store(sum, op.getSum(), row);
  }
  buildResult(builder);
}

/// o = Σ exp(s − max) · v / sum, or 0 where there are no keys.
void QueryExpansion::buildResult(OpBuilder &builder) {
  Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        keys.begin, keys.end);
  TileSums tileSums(builder, loc, type, sumBlock);
  auto accumulate = [&](OpBuilder &b) {
    tileSums.add(
        b, keys,
        [&](OpBuilder &outer, Value key) { return getNumerator(outer, key); },
        [&](OpBuilder &inner, Value key, Value column) {
          return FloatBuilder{inner, loc, type}.load(
              op.getV(), ValueRange{query.batch, query.keyHead, key, column});
        });
  };
  tileSums.build(builder, scores.valueDepth, accumulate,
                 [&](OpBuilder &b, Value column, Value total) {
                   FloatBuilder floats{b, loc, type};
                   Value result = arith::SelectOp::create(
                       b, loc, isEmpty, floats.constant(0.0),
                       floats.divide(total, sum));
                   floats.store(result, op.getO(),
                                ValueRange{query.batch, query.head,
                                           query.position, column});
                 });
}

static void expandAttention(OpBuilder &builder, AttentionOp op,
                            int64_t sumBlock) {
  AttentionScores scores(builder, AttentionInputs(op), sumBlock);
  scores.forEachQuery(builder, [&](OpBuilder &b, const Query &query) {
    QueryExpansion(op, scores, query, sumBlock).build(b);
  });
}

void mlir::pol::populateAttentionToLinalgPatterns(RewritePatternSet &patterns,
                                                  int64_t sumBlock) {
  patterns.add<ExpandKernel<AttentionOp>>(patterns.getContext(),
                                          expandAttention, sumBlock);
}
