//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.attention_grad: a pass for each gradient, over
// whatever has one, in which weights are computed again.

#include "AttentionGradients.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
class GradExpansion : ScoreGradients {
public:
  using ScoreGradients::ScoreGradients;

  void build(OpBuilder &builder);

private:
  void buildDelta(OpBuilder &builder, const Query &query);
  void buildDq(OpBuilder &builder, Query query);
  void buildKeyGradient(OpBuilder &builder, const Sequence &sequence,
                        Value keyHead, Value key, bool isOfValues);
};
} // namespace

/// Δ = Σ dout · o. Of queries without keys it is not used.
void GradExpansion::buildDelta(OpBuilder &builder, const Query &query) {
  Value delta =
      buildBlockedSum(builder, loc, getAsOpFoldResult(scores.valueDepth),
                      sumBlock, type, [&](OpBuilder &b, Location, Value e) {
                        FloatBuilder floats{b, loc, type};
                        SmallVector<Value> at = append(query.getPlace(), e);
                        return floats.multiply(floats.load(op.getDout(), at),
                                               floats.load(op.getO(), at));
                      });
  FloatBuilder{builder, loc, type}.store(delta, op.getDelta(),
                                         query.getPlace());
}

/// dq = scale · Σ ds · k over keys
void GradExpansion::buildDq(OpBuilder &builder, Query query) {
  scores.findKeys(builder, query);
  TileSums tileSums(builder, loc, type, sumBlock);
  auto addRange = [&](OpBuilder &b, const KeptRange &kept, ValueRange) {
    tileSums.add(
        b, kept,
        [&](OpBuilder &outer, Value key) {
          return getProductGradient(outer, query, key);
        },
        [&](OpBuilder &inner, Value key, Value column) {
          return FloatBuilder{inner, loc, type}.load(
              op.getK(), append(scores.getKeyPlace(inner, query, key), column));
        });
    return SmallVector<Value>();
  };
  tileSums.build(
      builder, scores.depth,
      [&](OpBuilder &b) { scores.overKeys(b, query, {}, addRange); },
      [&](OpBuilder &b, Value column, Value sum) {
        FloatBuilder floats{b, loc, type};
        floats.store(floats.multiply(scores.scale, sum), op.getDq(),
                     append(query.getPlace(), column));
      });
}

/// dk = scale · Σ ds · q, or dv = Σ P · dout, over the queries that keep a key,
/// in all heads that read it.
void GradExpansion::buildKeyGradient(OpBuilder &builder,
                                     const Sequence &sequence, Value keyHead,
                                     Value key, bool isOfValues) {
  TileSums tileSums(builder, loc, type, sumBlock);
  Value firstHead =
      arith::MulIOp::create(builder, loc, keyHead, scores.groupSize);
  // Where there are no heads, groups have one nevertheless.
  Value lastHead = buildMin(
      builder, loc, scores.heads,
      arith::AddIOp::create(builder, loc, firstHead, scores.groupSize));
  auto addHead = [&](OpBuilder &b, Location, ValueRange head) {
    auto getQuery = [&](OpBuilder &outer, Value number) {
      Query query = scores.getQuery(outer, sequence, head.front(), number);
      query.keyHead = keyHead;
      return query;
    };
    auto getFactor = [&](OpBuilder &outer, Value number) {
      Query query = getQuery(outer, number);
      if (!isOfValues)
        return getProductGradient(outer, query, key);
      return getWeight(outer, query, scores.getScore(outer, query, key).value);
    };
    auto addRange = [&](OpBuilder &outer, const KeptRange &kept, ValueRange) {
      tileSums.add(outer, kept, getFactor,
                   [&](OpBuilder &inner, Value number, Value column) {
                     return FloatBuilder{inner, loc, type}.load(
                         isOfValues ? op.getDout() : op.getQ(),
                         append(getQuery(inner, number).getPlace(), column));
                   });
      return SmallVector<Value>();
    };
    scores.overQueries(b, sequence, head.front(), key, {}, addRange);
  };
  tileSums.build(
      builder, isOfValues ? scores.valueDepth : scores.depth,
      [&](OpBuilder &b) { buildLoop(b, loc, firstHead, lastHead, 1, addHead); },
      [&](OpBuilder &b, Value column, Value sum) {
        FloatBuilder floats{b, loc, type};
        if (!isOfValues)
          sum = floats.multiply(scores.scale, sum);
        Query reader{sequence, keyHead, Value(), Value(), keyHead};
        floats.store(sum, isOfValues ? op.getDv() : op.getDk(),
                     append(scores.getKeyPlace(b, reader, key), column));
      });
}

void GradExpansion::build(OpBuilder &builder) {
  scores.buildTileLists(builder);
  if (op.getDelta())
    scores.forEachQuery(builder, [&](OpBuilder &b, const Query &query) {
      buildDelta(b, query);
    });
  if (op.getDq())
    scores.forEachQuery(
        builder, [&](OpBuilder &b, const Query &query) { buildDq(b, query); });
  for (bool isOfValues : {false, true})
    if (isOfValues ? op.getDv() : op.getDk())
      scores.forEachKey(builder, [&](OpBuilder &b, const Sequence &sequence,
                                     Value keyHead, Value key) {
        buildKeyGradient(b, sequence, keyHead, key, isOfValues);
      });
  buildCaptureGradients(builder, *this);
}

static void expandAttentionGrad(OpBuilder &builder, AttentionGradOp op,
                                int64_t sumBlock) {
  GradExpansion(builder, op, sumBlock).build(builder);
}

void mlir::pol::populateAttentionGradToLinalgPatterns(
    RewritePatternSet &patterns, int64_t sumBlock) {
  patterns.add<ExpandKernel<AttentionGradOp>>(patterns.getContext(),
                                              expandAttentionGrad, sumBlock);
}
