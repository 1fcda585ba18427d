//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks what may remain after a stage.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/Fallible.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// What each stage has removed
//===----------------------------------------------------------------------===//

/// Whether a type is gone, or anything in it is: elements, inputs of functions.
static bool mentions(Type type, function_ref<bool(Type)> isGone) {
  return type
      .walk([&](Type part) {
        return isGone(part) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool anyType(Operation *op, function_ref<bool(Type)> isGone) {
  auto isLeft = [&](Type type) { return mentions(type, isGone); };
  if (llvm::any_of(op->getOperandTypes(), isLeft) ||
      llvm::any_of(op->getResultTypes(), isLeft))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), isLeft))
        return true;
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function && isLeft(function.getFunctionType());
}

static bool isDescribing(Operation *op) {
  return isa<DescriptionOp, DescribeOp, OutputsOp, CheckpointsOp, ScratchOp,
             CallOp, ApplyOp, UndefOp, DimOp, BundleOp, GetOp, MergeOp,
             DuplicatedOp, PrimalOp, ShadowOp>(op) ||
         anyType(op, llvm::IsaPred<UndefType, BundleType, DuplicatedType>);
}

static bool isTensorOp(Operation *op) {
  return anyType(op, llvm::IsaPred<TensorType>);
}

static bool isUnplaced(Operation *op) {
  return isa<FrameOp, CaptureOp, AllocOp>(op);
}

static bool isKernel(Operation *op) { return isa<KernelOpInterface>(op); }

static bool isUntargeted(Operation *op) {
  if (isa<CarveOp, CheckOp>(op) && getStatus(op).use_empty())
    return true;
  // Entry points retract, after a failure, as far as can be.
  auto function = op->getParentOfType<func::FuncOp>();
  bool isEntry = function && function->hasAttr("pol.entry");
  if (auto retract = dyn_cast<RetractOp>(op);
      retract && !isEntry && retract.getOk().use_empty())
    return true;
  if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
    return true;
  // No address space has a meaning on the CPU.
  return anyType(op, [](Type type) {
    auto memref = dyn_cast<BaseMemRefType>(type);
    return memref && memref.getMemorySpace();
  });
}

namespace {
struct Stage {
  StringLiteral name;
  StringLiteral removed;
  bool (*isLeft)(Operation *);
};
} // namespace

/// In order: what one stage has removed is gone after the later ones, too.
static constexpr Stage kStages[] = {
    {"describe", "no descriptions, bundles, duplicated values or verbs",
     isDescribing},
    {"materialize", "no tensors", isTensorOp},
    {"place", "no frames, captures or allocations", isUnplaced},
    {"expand", "no kernels", isKernel},
    {"target",
     "no structured control flow, carves, retracts or checks whose status is "
     "unused, or memory spaces",
     isUntargeted},
};

namespace {
struct VerifyStage : pol::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    const Stage *last = llvm::find_if(
        kStages, [&](const Stage &known) { return known.name == stage; });
    if (last == std::end(kStages)) {
      emitError(getOperation().getLoc())
          << "expected stage to be describe, materialize, place, expand or "
             "target, but got '"
          << stage << "'";
      return signalPassFailure();
    }
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
          for (const Stage *known = kStages; known <= last; ++known)
            if (known->isLeft(op)) {
              op->emitError("expected ")
                  << known->removed << " after stage '" << stage
                  << "', but got '" << op->getName() << "'";
              return WalkResult::interrupt();
            }
          return WalkResult::advance();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
