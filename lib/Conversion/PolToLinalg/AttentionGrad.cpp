//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.attention_grad: a pass for each gradient, over
// whatever has one, in which weights are computed again.

#include "AttentionScores.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
class GradExpansion {
public:
  GradExpansion(OpBuilder &builder, AttentionGradOp op, int64_t sumBlock)
      : op(op), sumBlock(sumBlock), loc(op.getLoc()),
        scores(builder, AttentionInputs(op), sumBlock), type(scores.getType()) {
  }

  void build(OpBuilder &builder);

private:
  void buildDelta(OpBuilder &builder, const Query &query);
  void buildDq(OpBuilder &builder, const Query &query);
  void buildKeyGradient(OpBuilder &builder, Value batch, Value keyHead,
                        Value key, bool isOfValues);
  void buildDbias(OpBuilder &builder, Value batch, Value head, Value position,
                  Value key);
  Value sumBiasOver(OpBuilder &builder, Value extent, int64_t dimension,
                    Value index,
                    function_ref<Value(OpBuilder &, Value)> addend);

  Value getWeight(FloatBuilder &floats, const Query &query, Value score);
  Value getScoreGradient(OpBuilder &builder, const Query &query, Value key,
                         bool isBehindCap);
  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  AttentionGradOp op;
  int64_t sumBlock;
  Location loc;
  AttentionScores scores;
  FloatType type;
};
} // namespace

/// P = exp(s − max) / sum
Value GradExpansion::getWeight(FloatBuilder &floats, const Query &query,
                               Value score) {
  Value row[] = {query.batch, query.head, query.position};
  Value shifted = floats.subtract(score, floats.load(op.getMax(), row));
  return floats.divide(floats.exp(shifted), floats.load(op.getSum(), row));
}

/// The gradient of a score, P · (dout·v − Δ), or of scale · q·k where that is
/// another because of a cap.
Value GradExpansion::getScoreGradient(OpBuilder &builder, const Query &query,
                                      Value key, bool isBehindCap) {
  Score score = scores.getScore(builder, query, key);
  Value weightGradient = buildBlockedSum(
      builder, loc, getAsOpFoldResult(scores.valueDepth), sumBlock, type,
      [&](OpBuilder &b, Location, Value e) {
        FloatBuilder floats{b, loc, type};
        Value dout =
            floats.load(op.getDout(),
                        ValueRange{query.batch, query.head, query.position, e});
        Value v = floats.load(op.getV(),
                              ValueRange{query.batch, query.keyHead, key, e});
        return floats.multiply(dout, v);
      });
  FloatBuilder floats{builder, loc, type};
  Value row[] = {query.batch, query.head, query.position};
  Value difference =
      floats.subtract(weightGradient, floats.load(op.getDelta(), row));
  Value gradient =
      floats.multiply(getWeight(floats, query, score.value), difference);
  if (isBehindCap && score.derivative)
    gradient = floats.multiply(gradient, score.derivative);
  return gradient;
}

/// Δ = Σ dout · o. Of queries without keys it is not used.
void GradExpansion::buildDelta(OpBuilder &builder, const Query &query) {
  Value delta = buildBlockedSum(
      builder, loc, getAsOpFoldResult(scores.valueDepth), sumBlock, type,
      [&](OpBuilder &b, Location, Value e) {
        FloatBuilder floats{b, loc, type};
        Value at[] = {query.batch, query.head, query.position, e};
        return floats.multiply(floats.load(op.getDout(), at),
                               floats.load(op.getO(), at));
      });
  FloatBuilder{builder, loc, type}.store(
      delta, op.getDelta(),
      ValueRange{query.batch, query.head, query.position});
}

/// dq = scale · Σ ds · k over keys
void GradExpansion::buildDq(OpBuilder &builder, const Query &query) {
  IndexRange keys = scores.getKeys(builder, query);
  TileSums tileSums(builder, loc, type, sumBlock);
  auto accumulate = [&](OpBuilder &b) {
    tileSums.add(
        b, keys,
        [&](OpBuilder &outer, Value key) {
          return getScoreGradient(outer, query, key, /*isBehindCap=*/true);
        },
        [&](OpBuilder &inner, Value key, Value column) {
          return FloatBuilder{inner, loc, type}.load(
              op.getK(), ValueRange{query.batch, query.keyHead, key, column});
        });
  };
  tileSums.build(builder, scores.depth, accumulate,
                 [&](OpBuilder &b, Value column, Value sum) {
                   FloatBuilder floats{b, loc, type};
                   floats.store(floats.multiply(scores.scale, sum), op.getDq(),
                                ValueRange{query.batch, query.head,
                                           query.position, column});
                 });
}

/// dk = scale · Σ ds · q, or dv = Σ P · dout, over the queries that keep a key,
/// in all heads that read it.
void GradExpansion::buildKeyGradient(OpBuilder &builder, Value batch,
                                     Value keyHead, Value key,
                                     bool isOfValues) {
  IndexRange queries = scores.getQueries(builder, batch, key);
  TileSums tileSums(builder, loc, type, sumBlock);
  Value firstHead =
      arith::MulIOp::create(builder, loc, keyHead, scores.groupSize);
  // Where there are no heads, groups have one nevertheless.
  Value lastHead = buildMin(
      builder, loc, scores.heads,
      arith::AddIOp::create(builder, loc, firstHead, scores.groupSize));
  auto addHead = [&](OpBuilder &b, Location, ValueRange head) {
    auto getFactor = [&](OpBuilder &outer, Value position) {
      Query query{batch, head.front(), position, keyHead};
      if (!isOfValues)
        return getScoreGradient(outer, query, key, /*isBehindCap=*/true);
      FloatBuilder floats{outer, loc, type};
      return getWeight(floats, query, scores.getScore(outer, query, key).value);
    };
    tileSums.add(b, queries, getFactor,
                 [&](OpBuilder &inner, Value position, Value column) {
                   return FloatBuilder{inner, loc, type}.load(
                       isOfValues ? op.getDout() : op.getQ(),
                       ValueRange{batch, head.front(), position, column});
                 });
  };
  tileSums.build(
      builder, isOfValues ? scores.valueDepth : scores.depth,
      [&](OpBuilder &b) { buildLoop(b, loc, firstHead, lastHead, 1, addHead); },
      [&](OpBuilder &b, Value column, Value sum) {
        FloatBuilder floats{b, loc, type};
        if (!isOfValues)
          sum = floats.multiply(scores.scale, sum);
        floats.store(sum, isOfValues ? op.getDv() : op.getDk(),
                     ValueRange{batch, keyHead, key, column});
      });
}

/// Sums over a dimension where the bias has one entry for all, else takes the
/// one index.
Value GradExpansion::sumBiasOver(
    OpBuilder &builder, Value extent, int64_t dimension, Value index,
    function_ref<Value(OpBuilder &, Value)> addend) {
  Value biasExtent = getValueOrCreateConstantIndexOp(
      builder, loc, getExtent(builder, loc, op.getDbias(), dimension));
  Value one = constant(builder, 1);
  Value isOne = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      biasExtent, one);
  Value count = arith::SelectOp::create(builder, loc, isOne, extent, one);
  return buildBlockedSum(builder, loc, count, sumBlock, type,
                         [&](OpBuilder &b, Location, Value i) {
                           return addend(
                               b, arith::AddIOp::create(b, loc, index, i));
                         });
}

/// dbias = Σ ds, over what shares an entry of the bias and keeps the key.
void GradExpansion::buildDbias(OpBuilder &builder, Value batch, Value head,
                               Value position, Value key) {
  auto getAddend = [&](OpBuilder &b, Value atBatch, Value atHead) -> Value {
    Query query = scores.getQuery(b, atBatch, atHead, position);
    IndexRange keys = scores.getKeys(b, query);
    Value isKept = arith::AndIOp::create(
        b, loc,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, key,
                              keys.begin),
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key,
                              keys.end));
    auto choice = scf::IfOp::create(
        b, loc, isKept,
        [&](OpBuilder &inner, Location) {
          scf::YieldOp::create(
              inner, loc,
              getScoreGradient(inner, query, key, /*isBehindCap=*/false));
        },
        [&](OpBuilder &inner, Location) {
          Value zero = FloatBuilder{inner, loc, type}.constant(0.0);
          scf::YieldOp::create(inner, loc, zero);
        });
    return choice.getResult(0);
  };
  Value sum = sumBiasOver(
      builder, scores.batches, 0, batch, [&](OpBuilder &outer, Value atBatch) {
        return sumBiasOver(outer, scores.heads, 1, head,
                           [&](OpBuilder &inner, Value atHead) {
                             return getAddend(inner, atBatch, atHead);
                           });
      });
  FloatBuilder{builder, loc, type}.store(
      sum, op.getDbias(), ValueRange{batch, head, position, key});
}

void GradExpansion::build(OpBuilder &builder) {
  if (op.getDelta())
    scores.forEachQuery(builder, [&](OpBuilder &b, const Query &query) {
      buildDelta(b, query);
    });
  if (op.getDq())
    scores.forEachQuery(
        builder, [&](OpBuilder &b, const Query &query) { buildDq(b, query); });
  for (bool isOfValues : {false, true})
    if (isOfValues ? op.getDv() : op.getDk())
      buildParallelLoop(
          builder, loc,
          getAsOpFoldResult({scores.batches, scores.keyHeads, scores.keys}),
          [&](OpBuilder &b, Location, ValueRange at) {
            buildKeyGradient(b, at[0], at[1], at[2], isOfValues);
          });
  if (Value dbias = op.getDbias())
    buildParallelLoop(builder, loc, getLeadingExtents(builder, loc, dbias, 0),
                      [&](OpBuilder &b, Location, ValueRange at) {
                        buildDbias(b, at[0], at[1], at[2], at[3]);
                      });
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
