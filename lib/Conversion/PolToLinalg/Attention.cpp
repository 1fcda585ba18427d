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
  Value buildMaximumScore(OpBuilder &builder);
  Value buildSum(OpBuilder &builder);
  void buildResult(OpBuilder &builder);

  AttentionOp op;
  AttentionScores &scores;
  Query query;
  int64_t sumBlock;
  Location loc;
  FloatType type;
  Value maximum;
  Value sum;
};
} // namespace

Value QueryExpansion::buildMaximumScore(OpBuilder &builder) {
  Value least = FloatBuilder{builder, loc, type}.constant(
      -std::numeric_limits<double>::infinity());
  auto addRange = [&](OpBuilder &b, const KeptRange &kept, ValueRange running) {
    Value found =
        buildMaximum(b, loc, kept.range, running.front(),
                     [&](OpBuilder &inner, Location, Value key) {
                       return buildWhereKept(
                           inner, loc, kept, key, least, [&](OpBuilder &at) {
                             return scores.getScore(at, query, key).value;
                           });
                     });
    return SmallVector<Value>{found};
  };
  return scores.overKeys(builder, query, least, addRange).front();
}

Value QueryExpansion::buildSum(OpBuilder &builder) {
  Value zero = FloatBuilder{builder, loc, type}.constant(0.0);
  auto addRange = [&](OpBuilder &b, const KeptRange &kept, ValueRange running) {
    Compensated total =
        addBlockedSum(b, loc, {running[0], running[1]}, kept.range, sumBlock,
                      [&](OpBuilder &inner, Location, Value key) {
                        return buildWhereKept(inner, loc, kept, key, zero,
                                              [&](OpBuilder &at) {
                                                return getNumerator(at, key);
                                              });
                      });
    return SmallVector<Value>{total.sum, total.rest};
  };
  SmallVector<Value> total =
      scores.overKeys(builder, query, ValueRange{zero, zero}, addRange);
  return Compensated{total[0], total[1]}.get(builder, loc);
}

void QueryExpansion::build(OpBuilder &builder) {
  FloatBuilder floats{builder, loc, type};
  scores.findKeys(builder, query);
  maximum = buildMaximumScore(builder);
  sum = buildSum(builder);
  SmallVector<Value> row = query.getPlace();
  if (op.getMax()) {
    floats.store(maximum, op.getMax(), row);
    floats.store(sum, op.getSum(), row);
  }
  buildResult(builder);
}

/// o = Σ exp(s − max) · v / sum, or 0 where there are no keys: where the sum is
/// 0, which it is of no key's.
void QueryExpansion::buildResult(OpBuilder &builder) {
  Value zero = FloatBuilder{builder, loc, type}.constant(0.0);
  Value isEmpty =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, sum, zero);
  TileSums tileSums(builder, loc, type, sumBlock);
  auto addRange = [&](OpBuilder &b, const KeptRange &kept, ValueRange) {
    tileSums.add(
        b, kept,
        [&](OpBuilder &outer, Value key) { return getNumerator(outer, key); },
        [&](OpBuilder &inner, Value key, Value column) {
          return FloatBuilder{inner, loc, type}.load(
              op.getV(), append(scores.getKeyPlace(inner, query, key), column));
        });
    return SmallVector<Value>();
  };
  tileSums.build(
      builder, scores.valueDepth,
      [&](OpBuilder &b) { scores.overKeys(b, query, {}, addRange); },
      [&](OpBuilder &b, Value column, Value total) {
        FloatBuilder floats{b, loc, type};
        Value result = arith::SelectOp::create(
            b, loc, isEmpty, floats.constant(0.0), floats.divide(total, sum));
        floats.store(result, op.getO(), append(query.getPlace(), column));
      });
}

static void expandAttention(OpBuilder &builder, AttentionOp op,
                            int64_t sumBlock) {
  AttentionScores scores(builder, AttentionInputs(op), sumBlock);
  scores.buildTileLists(builder);
  scores.forEachQuery(builder, [&](OpBuilder &b, const Query &query) {
    QueryExpansion(op, scores, query, sumBlock).build(b);
  });
}

void mlir::pol::populateAttentionToLinalgPatterns(RewritePatternSet &patterns,
                                                  int64_t sumBlock) {
  patterns.add<ExpandKernel<AttentionOp>>(patterns.getContext(),
                                          expandAttention, sumBlock);
}
