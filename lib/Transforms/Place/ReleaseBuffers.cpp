//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Frees heap buffers at the end of the block they stay in.

#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_RELEASEBUFFERS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Whether a buffer may be in use after the block it is allocated in. Blocks
/// hand on what their terminator takes, and what was stored somewhere.
static bool leavesBlock(AllocOp alloc, const Provenance &provenance) {
  Operation *terminator = alloc->getBlock()->getTerminator();
  return provenance.isStored(alloc) ||
         llvm::any_of(terminator->getOperands(), [&](Value operand) {
           return provenance.get(operand).contains(alloc);
         });
}

namespace {
struct ReleaseBuffers : pol::impl::ReleaseBuffersBase<ReleaseBuffers> {
  void runOnOperation() override {
    Provenance provenance(getOperation());
    SmallVector<AllocOp> local;
    getOperation().walk([&](AllocOp alloc) {
      auto space = cast<SpaceTypeInterface>(alloc.getSpace().getType());
      if (space.canRelease() && isa<MemRefType>(alloc.getType()) &&
          alloc->getBlock()->mightHaveTerminator() &&
          !leavesBlock(alloc, provenance))
        local.push_back(alloc);
    });
    // Newest first, as a heap likes it.
    for (AllocOp alloc : llvm::reverse(local)) {
      OpBuilder builder(alloc->getBlock()->getTerminator());
      ReleaseOp::create(builder, alloc.getLoc(), alloc.getResult(),
                        alloc.getSpace());
    }
  }
};
} // namespace
