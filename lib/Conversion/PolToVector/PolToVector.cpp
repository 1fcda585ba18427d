//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The pass that expands kernels on memrefs into loops over vectors.

#include "../PolToLinalg/ExpandKernel.h"
#include "ExpandKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "pol/Conversion/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_CONVERTPOLTOVECTOR
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
struct ConvertPolToVector
    : pol::impl::ConvertPolToVectorBase<ConvertPolToVector> {
  using ConvertPolToVectorBase::ConvertPolToVectorBase;

  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    auto populate = [&](RewritePatternSet &patterns) {
      populateAttentionToVectorPatterns(patterns, target);
      populateAttentionGradToVectorPatterns(patterns, target, sumBlock);
      populateDecodeAttentionToVectorPatterns(patterns, target);
      populateLayerNormToVectorPatterns(patterns, target);
      populateNormGradToVectorPatterns(patterns, target);
      populateRmsNormToVectorPatterns(patterns, target);
      populateSoftmaxToVectorPatterns(patterns, target);
    };
    if (failed(expandKernels(getOperation(), sumBlock, populate)))
      signalPassFailure();
  }
};
} // namespace
