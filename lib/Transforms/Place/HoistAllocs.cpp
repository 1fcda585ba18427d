//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Places allocations before the frames that would lose them.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pol/Analysis/Provenance.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_HOISTALLOCS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// The outermost frame around an allocation that is opened, after its own
/// space, on the same memory: its retract would lose the allocation.
static FrameOp getLosingFrame(AllocOp alloc, const Provenance &provenance) {
  FrameOp losing;
  Origins own = provenance.getSpacesBelow(alloc.getSpace());
  for (auto frame = alloc->getParentOfType<FrameOp>(); frame;
       frame = frame->getParentOfType<FrameOp>()) {
    if (own.contains(frame.getFrame()))
      break;
    Origins below = provenance.getSpacesBelow(frame.getSpace());
    if (llvm::any_of(own, [&](Value space) { return below.contains(space); }))
      losing = frame;
  }
  return losing;
}

/// Moves what computes `value` before `frame`, if it has no effects.
static bool hoistBefore(Value value, FrameOp frame) {
  Operation *op = value.getDefiningOp();
  if (!frame.getBody().isAncestor(value.getParentRegion()))
    return true;
  if (!op || op->getNumRegions() || !isPure(op))
    return false;
  for (Value operand : op->getOperands())
    if (!hoistBefore(operand, frame))
      return false;
  op->moveBefore(frame);
  return true;
}

/// Places an allocation before the frame that would lose it. One that is done
/// with in the block it is made in may be lost.
static LogicalResult placeBefore(AllocOp alloc, FrameOp frame,
                                 const Provenance &provenance) {
  // What is used up on its own branch is lost by no retract.
  if (alloc->getParentOfType<FrameOp>() != alloc->getParentOp() &&
      provenance.getLastUseInBlock(alloc))
    return success();
  StringRef reason;
  bool isStatic = cast<ShapedType>(alloc.getType()).hasStaticShape();
  if (mayRepeatWithin(alloc, frame))
    reason = "it is made anew on every trip of a loop";
  for (Operation *parent = alloc->getParentOp();
       parent != frame && reason.empty(); parent = parent->getParentOp())
    if (!isa<CaptureOp, FrameOp, memref::AllocaScopeOp>(parent) && !isStatic)
      reason = "its size may only hold on this branch";
  if (reason.empty() && !llvm::all_of(alloc->getOperands(), [&](Value value) {
        return hoistBefore(value, frame);
      }))
    reason = "its size is computed inside the frame";
  if (reason.empty()) {
    alloc->moveBefore(frame);
    return success();
  }
  if (provenance.getLastUseInBlock(alloc))
    return success();
  InFlightDiagnostic error = alloc.emitOpError();
  error << "expected an allocation from an outer space to be possible before "
           "the frame that is open on it, but "
        << reason;
  error.attachNote(frame.getLoc()) << "the frame is opened here";
  return error;
}

namespace {
struct HoistAllocs : pol::impl::HoistAllocsBase<HoistAllocs> {
  void runOnOperation() override {
    Provenance provenance(getOperation());
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      if (FrameOp frame = getLosingFrame(alloc, provenance))
        if (failed(placeBefore(alloc, frame, provenance)))
          return signalPassFailure();
  }
};
} // namespace
