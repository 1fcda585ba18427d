//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the reference expansions of attention, forward and backward, share:
// which keys a query attends to, and their scores.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H
#define POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H

#include "Loops.h"
#include "TileSums.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {

/// The operands and attributes that the forward and the backward op share.
struct AttentionInputs {
  Location loc;
  Value q, k, v, bias, inputPos, qLengths, kLengths;
  FloatAttr scale, softcap;
  std::optional<CausalAlignment> causal;
  IntegerAttr window;

  template <typename OpTy>
  explicit AttentionInputs(OpTy op)
      : loc(op.getLoc()), q(op.getQ()), k(op.getK()), v(op.getV()),
        bias(op.getBias()), inputPos(op.getInputPos()),
        qLengths(op.getQLengths()), kLengths(op.getKLengths()),
        scale(op.getScaleAttr()), softcap(op.getSoftcapAttr()),
        causal(op.getCausal()), window(op.getWindowAttr()) {}
};

/// One query of one head, and the head of keys and values that it reads.
struct Query {
  Value batch;
  Value head;
  Value position;
  Value keyHead;
};

/// A score, and its derivative by the product of query and key (null for 1)
/// without `scale`.
struct Score {
  Value value;
  Value derivative;
};

class AttentionScores {
public:
  /// Builds what all queries share.
  AttentionScores(OpBuilder &builder, AttentionInputs inputs, int64_t sumBlock);

  FloatType getType() const { return type; }
  Location getLoc() const { return inputs.loc; }

  /// Builds a parallel loop over the queries of all heads.
  void forEachQuery(OpBuilder &builder,
                    function_ref<void(OpBuilder &, const Query &)> body);
  /// Completes a query by the head it reads.
  Query getQuery(OpBuilder &builder, Value batch, Value head, Value position);
  /// The keys that a query keeps.
  IndexRange getKeys(OpBuilder &builder, const Query &query);
  /// The queries that keep a key.
  IndexRange getQueries(OpBuilder &builder, Value batch, Value key);
  Score getScore(OpBuilder &builder, const Query &query, Value key);
  /// An index into a dimension of the bias, which may have but one entry.
  Value getBiasIndex(OpBuilder &builder, Value array, int64_t dimension,
                     Value index);

  /// Extents.
  Value batches, heads, queries, depth;
  Value keyHeads, keys, valueDepth;
  /// Query heads for each head of keys.
  Value groupSize;
  /// The scale of the scores.
  Value scale;

private:
  Value constant(OpBuilder &builder, int64_t value);
  Value getLength(OpBuilder &builder, Value lengths, Value batch, Value extent);
  IndexRange limit(OpBuilder &builder, IndexRange range, Value lengths,
                   Value batch, Value extent, Value index);
  void buildBounds(OpBuilder &builder);
  void buildScale(OpBuilder &builder);

  AttentionInputs inputs;
  int64_t sumBlock;
  FloatType type;
  /// The keys that query 0 attends to last, with causal, and first, with a
  /// window: between −S and T.
  Value highest;
  Value lowest;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H
