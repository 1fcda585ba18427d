//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Turns frames into marks and retracts, and allocations into carves.

#include "Frames.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/Fallible.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_LOWERFRAMES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static LogicalResult lowerToMark(FrameOp frame) {
  if (Operation *parallel = getEnclosingParallel(frame)) {
    InFlightDiagnostic error = frame.emitOpError();
    error << "expected a frame in a parallel region to hold arrays of static "
             "size within max-stack-bytes: each worker has one";
    error.attachNote(parallel->getLoc()) << "the parallel region is here";
    return error;
  }
  OpBuilder builder(frame);
  Location loc = frame.getLoc();
  Value space = frame.getSpace();
  Value mark =
      MarkOp::create(builder, loc, MarkType::get(builder.getContext()), space);
  replaceFrameUses(frame, builder);
  builder.setInsertionPointAfter(frame);
  RetractOp::create(builder, loc, builder.getI1Type(), space, mark);
  inlineFrame(frame);
  return success();
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static LogicalResult lowerAlloc(AllocOp alloc) {
  auto type = dyn_cast<MemRefType>(alloc.getType());
  if (!type)
    return alloc.emitOpError("expected pol-bufferize to run first");
  OpBuilder builder(alloc);
  if (Operation *parallel = getEnclosingParallel(alloc)) {
    FailureOr<std::optional<int64_t>> bytes = getStaticBytes(type);
    // A worker cannot fail on its own, so what it adds has to be on its stack.
    constexpr int64_t workerBytes = 16 * 1024;
    if (failed(bytes) || !*bytes || **bytes > workerBytes ||
        alloc.getRole() != BufferRole::Hidden) {
      InFlightDiagnostic error = alloc.emitOpError();
      error << "expected buffers in a parallel region to be static and of at "
               "most "
            << workerBytes << " bytes, or from a frame, but got " << type;
      error.attachNote(parallel->getLoc()) << "the parallel region is here";
      return error;
    }
    builder.setInsertionPointToStart(getStackBlock(alloc));
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<ReleaseOp>(user))
        user->erase();
    moveToStack(alloc, builder);
    return success();
  }
  auto carve =
      CarveOp::create(builder, alloc.getLoc(), type, builder.getI1Type(),
                      alloc.getSpace(), alloc.getExtents(), alloc.getNameAttr(),
                      alloc.getKernelAttr(), alloc.getRoleAttr(),
                      /*alignment=*/IntegerAttr());
  alloc.replaceAllUsesWith(carve.getBuffer());
  alloc.erase();
  return success();
}

namespace {
struct LowerFrames : pol::impl::LowerFramesBase<LowerFrames> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Outer frames first: a frame that is inlined is the space of its inner
    // ones.
    SmallVector<FrameOp> frames;
    module.walk<WalkOrder::PreOrder>(
        [&](FrameOp frame) { frames.push_back(frame); });
    for (FrameOp frame : frames)
      if (failed(lowerToMark(frame)))
        return signalPassFailure();
    SmallVector<AllocOp> allocs;
    module.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      if (failed(lowerAlloc(alloc)))
        return signalPassFailure();
    if (failed(verifyParallelRegions(module)))
      return signalPassFailure();
  }
};
} // namespace
