//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Functions of the GPU's math library that LLVM can do as well or better.

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "pol/Conversion/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EXPANDLIBDEVICECALLS
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
struct ExpandCall : OpRewritePattern<LLVM::CallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LLVM::CallOp op,
                                PatternRewriter &rewriter) const override {
    StringRef name = op.getCallee().value_or("");
    // A suffix tells f32.
    if (!name.consume_front("__nv_"))
      return rewriter.notifyMatchFailure(op, "calls nothing of libdevice");
    name.consume_back("f");
    Location loc = op.getLoc();
    if (name == "fabs") {
      rewriter.replaceOpWithNewOp<LLVM::FAbsOp>(op, op.getArgOperands()[0]);
      return success();
    }
    if (name != "sqrt" && name != "rsqrt")
      return rewriter.notifyMatchFailure(op, "LLVM has no such intrinsic");
    Value root = LLVM::SqrtOp::create(rewriter, loc, op.getArgOperands()[0]);
    if (name == "rsqrt") {
      Value one = LLVM::ConstantOp::create(
          rewriter, loc, rewriter.getFloatAttr(root.getType(), 1.0));
      root = LLVM::FDivOp::create(rewriter, loc, one, root);
    }
    rewriter.replaceOp(op, root);
    return success();
  }
};

struct ExpandLibdeviceCalls
    : pol::impl::ExpandLibdeviceCallsBase<ExpandLibdeviceCalls> {
  using ExpandLibdeviceCallsBase::ExpandLibdeviceCallsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandCall>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
