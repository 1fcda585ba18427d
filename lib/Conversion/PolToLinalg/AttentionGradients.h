//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of one score of attention, and the gradients of what scores
// capture.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONGRADIENTS_H
#define POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONGRADIENTS_H

#include "AttentionScores.h"
#include "pol/Differentiation/ReverseMode.h"

namespace mlir::pol {

/// Gradients of single scores, in one backward op.
class ScoreGradients {
public:
  ScoreGradients(OpBuilder &builder, AttentionGradOp op, int64_t sumBlock)
      : op(op), sumBlock(sumBlock), loc(op.getLoc()),
        scores(builder, AttentionInputs(op), sumBlock), type(scores.getType()) {
  }

  /// P = exp(s − max) / sum of a key that is kept.
  Value getWeight(OpBuilder &builder, const Query &query, Value score);
  /// What scale · q·k gets of ds = P · (dout·v − Δ), for a key that is kept.
  Value getProductGradient(OpBuilder &builder, const Query &query, Value key);
  /// What one load of a capture gets of it.
  Value getLoadGradient(OpBuilder &builder, const Query &query, Value key,
                        Operation *load);
  /// What all loads of a capture get of it, each at its indices.
  SmallVector<RegionGradient::Load> getLoadGradients(OpBuilder &builder,
                                                     const Query &query,
                                                     Value key,
                                                     unsigned argument);

  AttentionGradOp op;
  int64_t sumBlock;
  Location loc;
  AttentionScores scores;
  FloatType type;

private:
  RegionGradient getGradient(OpBuilder &builder, const Query &query, Value key,
                             bool wantsProduct, ArrayRef<unsigned> captures);
};

/// Builds the gradients of captures that have a destination.
void buildCaptureGradients(OpBuilder &builder, ScoreGradients &gradients);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONGRADIENTS_H
