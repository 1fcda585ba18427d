//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The pattern that all tuned expansions are, and where those are found.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_EXPANDKERNEL_H
#define POL_LIB_CONVERSION_POLTOVECTOR_EXPANDKERNEL_H

#include "Vectors.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "pol/IR/Target.h"

namespace mlir::pol {

/// Whether any of an op's arrays is of f16.
inline bool usesF16(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isF16();
  });
}

/// Replaces a kernel on memrefs by what `expand` builds in its place, where
/// that can be expanded. It goes before the reference expansion.
template <typename OpTy> struct ExpandToVector : OpRewritePattern<OpTy> {
  using ExpandFn = std::function<void(OpBuilder &, OpTy, TargetAttr)>;
  using CanExpandFn = bool (*)(OpTy);

  /// By default that are kernels whose rows can all be read in vectors.
  ExpandToVector(MLIRContext *context, ExpandFn expand, TargetAttr target,
                 CanExpandFn canExpand = nullptr)
      : OpRewritePattern<OpTy>(context, /*benefit=*/2), expand(expand),
        target(target), canExpand(canExpand) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto kernel = cast<DestinationStyleOpInterface>(op.getOperation());
    if (!kernel.hasPureBufferSemantics())
      return rewriter.notifyMatchFailure(op, "expected memrefs");
    if (canExpand ? !canExpand(op) : !hasVectorRows(op))
      return rewriter.notifyMatchFailure(op, "expected what vectors can do");
    if (!target.getF16() && usesF16(op))
      return rewriter.notifyMatchFailure(op, "expected no f16");
    expand(rewriter, op, target);
    rewriter.eraseOp(op);
    return success();
  }

  ExpandFn expand;
  TargetAttr target;
  CanExpandFn canExpand;
};

void populateAttentionToVectorPatterns(RewritePatternSet &patterns,
                                       TargetAttr target);
void populateAttentionGradToVectorPatterns(RewritePatternSet &patterns,
                                           TargetAttr target, int64_t sumBlock);
void populateDecodeAttentionToVectorPatterns(RewritePatternSet &patterns,
                                             TargetAttr target);
void populateLayerNormToVectorPatterns(RewritePatternSet &patterns,
                                       TargetAttr target);
void populateNormGradToVectorPatterns(RewritePatternSet &patterns,
                                      TargetAttr target);
void populateRmsNormToVectorPatterns(RewritePatternSet &patterns,
                                     TargetAttr target);
void populateSoftmaxToVectorPatterns(RewritePatternSet &patterns,
                                     TargetAttr target);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_EXPANDKERNEL_H
