//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Frees heap buffers where they are last needed.

#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_RELEASEBUFFERS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Frees what a function takes from the thread's heap when it returns.
static void scopeThreadHeap(func::FuncOp function) {
  OpBuilder builder(&function.getBody().front(),
                    function.getBody().front().begin());
  Location loc = function.getLoc();
  Value heap = ThreadHeapOp::create(
      builder, loc, HeapType::get(builder.getContext(), Attribute()));
  Value mark =
      MarkOp::create(builder, loc, MarkType::get(builder.getContext()), heap);
  function.walk([&](func::ReturnOp ret) {
    builder.setInsertionPoint(ret);
    RetractOp::create(builder, loc, builder.getI1Type(), heap, mark);
  });
}

namespace {
struct ReleaseBuffers : pol::impl::ReleaseBuffersBase<ReleaseBuffers> {
  void runOnOperation() override {
    Provenance provenance(getOperation());
    // What the program frees itself is its own business.
    Origins released;
    getOperation().walk([&](ReleaseOp release) {
      released.insert_range(provenance.get(release.getBuffer()));
    });
    SmallVector<std::pair<AllocOp, Operation *>> local;
    llvm::SmallSetVector<func::FuncOp, 4> scoped;
    getOperation().walk([&](AllocOp alloc) {
      auto space = cast<SpaceTypeInterface>(alloc.getSpace().getType());
      auto function = alloc->getParentOfType<func::FuncOp>();
      if (!function || !space.canRelease() ||
          !isa<MemRefType>(alloc.getType()) ||
          released.contains(alloc.getResult()))
        return;
      if (Operation *last = provenance.getLastUseInBlock(alloc))
        local.emplace_back(alloc, last);
      else if (alloc.getRole() == BufferRole::Hidden)
        scoped.insert(function);
    });
    // Of buffers that are last used together, the newest goes first, as a heap
    // likes it.
    OpBuilder builder(&getContext());
    for (auto [alloc, last] : local) {
      builder.setInsertionPointAfter(last);
      ReleaseOp::create(builder, alloc.getLoc(), alloc.getResult(),
                        alloc.getSpace());
    }
    for (func::FuncOp function : scoped)
      scopeThreadHeap(function);
  }
};
} // namespace
