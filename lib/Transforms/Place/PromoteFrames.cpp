//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Moves frames to the stack.

#include "Frames.h"
#include "StackBudget.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_PROMOTEFRAMES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static void lowerToScope(FrameOp frame, OpBuilder &builder) {
  // What lives outside does not go through the scope, which could not be
  // lowered with memrefs for results.
  YieldOp yield = frame.getYield();
  SmallVector<Value> values, results;
  for (auto [result, value] :
       llvm::zip_equal(frame.getResults(), yield.getValues())) {
    if (!frame.getBody().isAncestor(value.getParentRegion())) {
      result.replaceAllUsesWith(value);
      continue;
    }
    values.push_back(value);
    results.push_back(result);
  }
  auto scope = memref::AllocaScopeOp::create(builder, frame.getLoc(),
                                             ValueRange(values).getTypes());
  builder.setInsertionPoint(yield);
  memref::AllocaScopeReturnOp::create(builder, yield.getLoc(), values);
  yield.erase();
  frame.getBody().eraseArgument(0);
  scope.getBodyRegion().takeBody(frame.getBody());
  for (auto [result, replacement] :
       llvm::zip_equal(results, scope.getResults()))
    result.replaceAllUsesWith(replacement);
  frame.erase();
}

static void lowerToStack(FrameOp frame, bool allocaScope) {
  SmallVector<AllocOp> allocs;
  for (Operation *user : frame.getFrame().getUsers())
    if (auto alloc = dyn_cast<AllocOp>(user))
      allocs.push_back(alloc);
  // Wherever in the frame an allocation is, in an inner frame or a loop, its
  // buffer lives as long as the frame.
  Block *block = allocaScope ? &frame.getBody().front() : getStackBlock(frame);
  OpBuilder builder(frame);
  for (AllocOp alloc : allocs) {
    builder.setInsertionPointToStart(block);
    moveToStack(alloc, builder);
  }
  builder.setInsertionPoint(frame);
  replaceFrameUses(frame, builder);
  if (allocaScope)
    lowerToScope(frame, builder);
  else
    inlineFrame(frame);
}

namespace {
struct PromoteFrames : pol::impl::PromoteFramesBase<PromoteFrames> {
  using PromoteFramesBase::PromoteFramesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (maxStackBytes < 0) {
      emitError(module.getLoc())
          << "expected max-stack-bytes not to be negative, but got "
          << maxStackBytes.getValue();
      return signalPassFailure();
    }
    Provenance provenance(module);
    StackBudget budget(module, provenance, maxStackBytes);
    // Outer frames first: a frame that is inlined is the space of its inner
    // ones.
    SmallVector<FrameOp> frames;
    module.walk<WalkOrder::PreOrder>([&](FrameOp frame) {
      if (budget.isOnStack(frame))
        frames.push_back(frame);
    });
    for (FrameOp frame : frames)
      lowerToStack(frame, allocaScope);
  }
};
} // namespace
