//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The pass that expands kernels on memrefs into linalg and loops, and what it
// has in common with tuned expansions.

#include "ExpandKernel.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "pol/Conversion/AttentionForms.h"
#include "pol/Conversion/Passes.h"
#include "pol/IR/PolDialect.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {
#define GEN_PASS_DEF_CONVERTPOLTOLINALG
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static bool isKernel(Operation *op) {
  return isa<KernelOpInterface>(op) &&
         isa_and_nonnull<PolDialect>(op->getDialect());
}

/// Whether a kernel can be expanded: it works on memory, and rows of it can be
/// named.
static LogicalResult verifyOperands(DestinationStyleOpInterface kernel) {
  if (!kernel.hasPureBufferSemantics())
    return kernel->emitOpError("expected pol-bufferize to run first");
  for (Type type : kernel->getOperandTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && !memref.isStrided())
      return kernel->emitOpError("expected memrefs of strided layout, but got ")
             << memref;
  }
  return success();
}

namespace {
/// Copies that are no single block of memory become loops, too: LLVM's lowering
/// calls a function for them that no library of pol's has.
struct ExpandStridedCopy : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isContiguous(Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && memref.getLayout().isIdentity();
  }
  static bool isLegal(memref::CopyOp op) {
    return !isa<MemRefType>(op.getSource().getType()) ||
           !isa<MemRefType>(op.getTarget().getType()) ||
           (isContiguous(op.getSource().getType()) &&
            isContiguous(op.getTarget().getType()));
  }

  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    if (isLegal(op))
      return rewriter.notifyMatchFailure(op, "copies one block");
    auto loop = linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(),
                                         op.getTarget());
    loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::pol::populatePolToLinalgPatterns(RewritePatternSet &patterns,
                                            int64_t sumBlock) {
  populateAttentionGradToLinalgPatterns(patterns, sumBlock);
  populateAttentionToLinalgPatterns(patterns, sumBlock);
  populateDecodeAttentionToLinalgPatterns(patterns, sumBlock);
  populateLayerNormToLinalgPatterns(patterns, sumBlock);
  populateNormGradToLinalgPatterns(patterns, sumBlock);
  populateRmsNormToLinalgPatterns(patterns, sumBlock);
  populateSoftmaxToLinalgPatterns(patterns, sumBlock);
  patterns.add<ExpandStridedCopy>(patterns.getContext());
}

/// Checks what was asked for and every kernel before any is expanded.
static LogicalResult verify(ModuleOp module, int64_t sumBlock) {
  if (sumBlock < 1)
    return mlir::emitError(module.getLoc())
           << "expected sum-block to be at least 1, but got " << sumBlock;
  LogicalResult result = success();
  module.walk([&](DestinationStyleOpInterface op) {
    if (isKernel(op) && failed(verifyOperands(op)))
      result = failure();
  });
  return result;
}

LogicalResult mlir::pol::expandKernels(
    ModuleOp module, int64_t sumBlock,
    function_ref<void(RewritePatternSet &)> populateTuned) {
  if (failed(verify(module, sumBlock)))
    return failure();
  expandAttentionForms(module);
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populatePolToLinalgPatterns(patterns, sumBlock);
  if (populateTuned)
    populateTuned(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !isKernel(op); });
  target.addDynamicallyLegalOp<memref::CopyOp>(ExpandStridedCopy::isLegal);
  return applyPartialConversion(module, target, std::move(patterns));
}

namespace {
struct ConvertPolToLinalg
    : pol::impl::ConvertPolToLinalgBase<ConvertPolToLinalg> {
  using ConvertPolToLinalgBase::ConvertPolToLinalgBase;

  void runOnOperation() override {
    if (failed(expandKernels(getOperation(), sumBlock, nullptr)))
      signalPassFailure();
  }
};
} // namespace
