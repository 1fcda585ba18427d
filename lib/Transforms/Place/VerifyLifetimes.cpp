//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks that nothing outlives the frame it was allocated from.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_VERIFYLIFETIMES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// "output 'y' of 'softmax'", as far as it is known.
static std::string describeOrigin(Value origin) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto alloc = origin.getDefiningOp<AllocOp>();
  if (!alloc) {
    os << (isa<SpaceTypeInterface>(origin.getType())
               ? "the frame or a buffer of it"
               : "a buffer of a call");
    return text;
  }
  if (alloc.getRole())
    os << stringifyBufferRole(*alloc.getRole());
  else
    os << "buffer";
  if (alloc.getName())
    os << " '" << *alloc.getName() << "'";
  if (alloc.getKernel())
    os << " of kernel '" << *alloc.getKernel() << "'";
  return text;
}

static void attachOrigins(InFlightDiagnostic &error, Value origin,
                          Operation *frame) {
  if (Operation *op = origin.getDefiningOp())
    error.attachNote(op->getLoc()) << "it is allocated here";
  if (frame)
    error.attachNote(frame->getLoc()) << "from the frame opened here";
}

namespace {
class LifetimeVerifier {
public:
  explicit LifetimeVerifier(ModuleOp module)
      : module(module), provenance(module) {}

  LogicalResult verify() {
    module.walk([&](Operation *op) {
      if (isa<AllocOp, CaptureOp, FrameOp>(op))
        checkFunction(op);
      if (auto yield = dyn_cast<YieldOp>(op))
        checkYield(yield);
      else if (auto alloc = dyn_cast<AllocOp>(op))
        checkAlloc(alloc);
      else if (auto ret = dyn_cast<func::ReturnOp>(op))
        checkReturn(ret);
      else if (auto call = dyn_cast<CallOpInterface>(op))
        checkParallel(call, call.getArgOperands());
    });
    module.walk([&](func::FuncOp function) {
      for (const ReferenceStore &store : provenance.getStores(function))
        checkStore(store);
    });
    return success(!failed);
  }

private:
  void checkYield(YieldOp yield);
  void checkAlloc(AllocOp alloc);
  void checkReturn(func::ReturnOp ret);
  bool isWithin(Value memory, Operation *frame);
  void checkStore(const ReferenceStore &store);
  void checkFunction(Operation *op);
  void checkParallel(Operation *op, ValueRange spaces);

  ModuleOp module;
  Provenance provenance;
  bool failed = false;
};
} // namespace

void LifetimeVerifier::checkYield(YieldOp yield) {
  Operation *frame = yield->getParentOp();
  for (Value value : yield.getValues())
    for (Value origin : provenance.getReachable(value)) {
      if (!provenance.getFrames(origin).contains(frame))
        continue;
      auto alloc = origin.getDefiningOp<AllocOp>();
      bool isOutput = alloc && alloc.getRole() == BufferRole::Output;
      InFlightDiagnostic error = yield.emitOpError();
      error << "expected a value that outlives the frame, but "
            << describeOrigin(origin)
            << (isOutput ? " is allocated from a frame that closes before its "
                           "last use"
                         : " goes with it");
      attachOrigins(error, origin, frame);
      failed = true;
    }
}

/// Whether memory is made inside a frame, or goes with one inside it: then it
/// is gone after the frame, or yielding it is checked with all that it holds.
bool LifetimeVerifier::isWithin(Value memory, Operation *frame) {
  if (llvm::any_of(provenance.getFrames(memory), [&](Operation *holder) {
        return frame->isAncestor(holder);
      }))
    return true;
  Operation *definition = memory.getDefiningOp();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(definition) &&
         frame->isProperAncestor(definition);
}

void LifetimeVerifier::checkStore(const ReferenceStore &store) {
  for (Value what : provenance.getReachable(store.what)) {
    Frames frames = provenance.getFrames(what);
    // A callee's allocation, which its space stands for.
    if (isa<SpaceTypeInterface>(what.getType())) {
      Origins spaces;
      spaces.insert(what);
      frames.insert_range(provenance.getOpenFrames(store.op, spaces));
    }
    for (Operation *frame : frames)
      for (Value where : provenance.get(store.where)) {
        if (isWithin(where, frame))
          continue;
        InFlightDiagnostic error = store.op->emitOpError();
        error << "expected memory that goes with the frame, but "
              << describeOrigin(what)
              << " is stored in memory that outlives it";
        attachOrigins(error, what, frame);
        failed = true;
        return;
      }
  }
}

void LifetimeVerifier::checkReturn(func::ReturnOp ret) {
  for (Value value : ret.getOperands())
    for (Value origin : provenance.get(value)) {
      auto alloc = origin.getDefiningOp<AllocOp>();
      if (!alloc || alloc.getRole() != BufferRole::Hidden)
        continue;
      InFlightDiagnostic error = ret.emitOpError();
      error << "expected buffers from a space or destination of the caller, "
               "but got one that no pol.alloc asked for: give the function a "
               "destination argument or a space to allocate its result from";
      error.attachNote(alloc.getLoc()) << "it is added here";
      failed = true;
    }
}

/// What is followed is followed through functions.
void LifetimeVerifier::checkFunction(Operation *op) {
  Operation *function = op->getParentOp();
  while (function && !isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  if (isa_and_nonnull<func::FuncOp>(function))
    return;
  InFlightDiagnostic error = op->emitOpError("expected to be in a func.func");
  if (function)
    error << ", but got '" << function->getName() << "'";
  failed = true;
}

void LifetimeVerifier::checkAlloc(AllocOp alloc) {
  auto space = cast<SpaceTypeInterface>(alloc.getSpace().getType());
  if (alloc.getRole() == BufferRole::Scratch && !space.isFrame()) {
    alloc.emitOpError("expected ")
        << describeOrigin(alloc) << " to be allocated from a frame, but got "
        << space;
    failed = true;
  }
  checkParallel(alloc, alloc.getSpace());
}

void LifetimeVerifier::checkParallel(Operation *op, ValueRange operands) {
  Operation *parallel = getEnclosingParallel(op);
  if (!parallel)
    return;
  for (Value operand : operands) {
    if (!isa<SpaceTypeInterface>(operand.getType()))
      continue;
    for (Value origin : provenance.get(operand)) {
      // The thread's own heap is no one else's.
      if (origin.getDefiningOp<ThreadHeapOp>() ||
          parallel->isProperAncestor(origin.getParentBlock()->getParentOp()) ||
          origin.getParentBlock()->getParentOp() == parallel)
        continue;
      InFlightDiagnostic error = op->emitOpError();
      error << "expected no "
            << (isa<AllocOp>(op) ? "allocation from" : "call with")
            << " a space of outside the parallel region: open a frame inside "
               "it";
      error.attachNote(parallel->getLoc()) << "the parallel region is here";
      failed = true;
      return;
    }
  }
}

namespace {
struct VerifyLifetimes : pol::impl::VerifyLifetimesBase<VerifyLifetimes> {
  void runOnOperation() override {
    // A bundle or duplicated value hides what it holds.
    WalkResult bundles = getOperation().walk([](Operation *op) {
      if (llvm::none_of(op->getResultTypes(),
                        llvm::IsaPred<BundleType, DuplicatedType>))
        return WalkResult::advance();
      op->emitOpError("expected pol-flatten-bundles to run first");
      return WalkResult::interrupt();
    });
    if (bundles.wasInterrupted())
      return signalPassFailure();
    if (failed(LifetimeVerifier(getOperation()).verify()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
