//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Tells buffers and copies of the program from what kernels expand to.

#include "../HiddenBuffers.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_MARKKNOWNBUFFERS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

bool mlir::pol::isBufferOrCopy(Operation *op) {
  if (isa<AllocOp, CarveOp, memref::AllocOp, memref::AllocaOp, memref::CopyOp>(
          op))
    return true;
  // A linalg.copy, or what is one under another name.
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  return linalg && linalg::isaCopyOpInterface(linalg);
}

namespace {
struct MarkKnownBuffers : pol::impl::MarkKnownBuffersBase<MarkKnownBuffers> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      if (isBufferOrCopy(op))
        op->setAttr(kKnownAttr, builder.getUnitAttr());
      if (!isa<KernelOpInterface>(op))
        return;
      // Whatever expands the kernel, pol or not, gives its location to what
      // comes of it.
      auto name = builder.getDictionaryAttr(builder.getNamedAttr(
          kKernelKey, builder.getStringAttr(op->getName().getStringRef())));
      op->setLoc(FusedLoc::get({op->getLoc()}, name, &getContext()));
    });
  }
};
} // namespace
