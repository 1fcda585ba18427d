//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inlines the bodies of captures.

#include "mlir/IR/PatternMatch.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_LOWERCAPTURES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static void inlineCapture(CaptureOp capture, RewriterBase &rewriter) {
  YieldOp yield = capture.getYield();
  SmallVector<Value> values(yield.getValues());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&capture.getBody().front(), capture);
  rewriter.replaceOp(capture, values);
}

namespace {
struct LowerCaptures : pol::impl::LowerCapturesBase<LowerCaptures> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](CaptureOp capture) { inlineCapture(capture, rewriter); });
  }
};
} // namespace
