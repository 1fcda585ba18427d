//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Square roots that the GPU's math library would only approximate.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "pol/Conversion/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EXPANDGPUROOTS
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// A root rounded to the nearest number, as on the CPU. One of f16 or bf16 is
/// taken in f32, where it is exact enough to be rounded again.
static Value buildRoot(PatternRewriter &rewriter, Location loc, Value operand) {
  Type type = operand.getType();
  bool isNarrow = getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32;
  if (isNarrow) {
    Type wide = rewriter.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    operand = arith::ExtFOp::create(rewriter, loc, wide, operand);
  }
  Value root = LLVM::SqrtOp::create(rewriter, loc, operand);
  if (isNarrow)
    root = arith::TruncFOp::create(rewriter, loc, type, root);
  return root;
}

namespace {
struct ExpandSqrt : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!op->getParentOfType<gpu::GPUModuleOp>())
      return rewriter.notifyMatchFailure(op, "not on the GPU");
    rewriter.replaceOp(op, buildRoot(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }
};

struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!op->getParentOfType<gpu::GPUModuleOp>())
      return rewriter.notifyMatchFailure(op, "not on the GPU");
    Type type = op.getType();
    TypedAttr one = rewriter.getFloatAttr(getElementTypeOrSelf(type), 1.0);
    if (auto shaped = dyn_cast<ShapedType>(type))
      one = DenseElementsAttr::get(shaped, one);
    Value root = buildRoot(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(
        op, arith::ConstantOp::create(rewriter, op.getLoc(), one), root);
    return success();
  }
};

struct ExpandGPURoots : pol::impl::ExpandGPURootsBase<ExpandGPURoots> {
  using ExpandGPURootsBase::ExpandGPURootsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandRsqrt, ExpandSqrt>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
