//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The pattern that all reference expansions of kernels are, and what runs them.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_EXPANDKERNEL_H
#define POL_LIB_CONVERSION_POLTOLINALG_EXPANDKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::pol {

/// Replaces a kernel on memrefs by what `expand` builds in its place.
template <typename OpTy> struct ExpandKernel : OpRewritePattern<OpTy> {
  using ExpandFn = void (*)(OpBuilder &, OpTy, int64_t sumBlock);

  ExpandKernel(MLIRContext *context, ExpandFn expand, int64_t sumBlock)
      : OpRewritePattern<OpTy>(context), expand(expand), sumBlock(sumBlock) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto kernel = cast<DestinationStyleOpInterface>(op.getOperation());
    if (!kernel.hasPureBufferSemantics())
      return rewriter.notifyMatchFailure(op, "expected memrefs");
    expand(rewriter, op, sumBlock);
    rewriter.eraseOp(op);
    return success();
  }

  ExpandFn expand;
  int64_t sumBlock;
};

void populatePolToLinalgPatterns(RewritePatternSet &patterns, int64_t sumBlock);

/// Expands the kernels of a module: by the reference, or by patterns of more
/// benefit.
LogicalResult
expandKernels(ModuleOp module, int64_t sumBlock,
              function_ref<void(RewritePatternSet &)> populateTuned);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_EXPANDKERNEL_H
