//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Turns memref.alloca_scope into a saved and restored stack, and moves what
// workers have on their stacks out of loops that are not parallel any more.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_LOWERALLOCASCOPES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;

static void lowerScope(memref::AllocaScopeOp scope) {
  WalkResult found =
      scope.walk([](memref::AllocaOp) { return WalkResult::interrupt(); });
  OpBuilder builder(scope);
  Location loc = scope.getLoc();
  if (found.wasInterrupted()) {
    Value saved = LLVM::StackSaveOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
    builder.setInsertionPointAfter(scope);
    LLVM::StackRestoreOp::create(builder, loc, saved);
  }
  Block &body = scope.getBodyRegion().front();
  Operation *end = body.getTerminator();
  scope->replaceAllUsesWith(end->getOperands());
  end->erase();
  scope->getBlock()->getOperations().splice(scope->getIterator(),
                                            body.getOperations());
  scope.erase();
}

static bool isLoop(Operation *op) {
  return isa_and_nonnull<affine::AffineDialect, scf::SCFDialect>(
      op->getDialect());
}

/// The region around all loops that are around `op`: that of a function, or of
/// what a thread runs.
static Region *getRegionAroundLoops(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && isLoop(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

/// Moves what OpenMP's threads reduce into to where it is not allocated anew on
/// every trip of a loop.
static void hoistReduction(LLVM::AllocaOp alloca) {
  Region *region = getRegionAroundLoops(alloca);
  Operation *size = alloca.getArraySize().getDefiningOp();
  auto isOpenMP = [](Operation *user) {
    return isa_and_nonnull<omp::OpenMPDialect>(user->getDialect());
  };
  if (!region || !size || !size->hasTrait<OpTrait::ConstantLike>() ||
      llvm::none_of(alloca->getUsers(), isOpenMP))
    return;
  OpBuilder builder(&region->front(), region->front().begin());
  alloca.getArraySizeMutable().assign(builder.clone(*size)->getResult(0));
  alloca->moveAfter(&region->front().front());
}

namespace {
struct LowerAllocaScopes : pol::impl::LowerAllocaScopesBase<LowerAllocaScopes> {
  void runOnOperation() override {
    SmallVector<LLVM::AllocaOp> allocas;
    getOperation().walk(
        [&](LLVM::AllocaOp alloca) { allocas.push_back(alloca); });
    for (LLVM::AllocaOp alloca : allocas)
      hoistReduction(alloca);
    // Inner scopes first: what is left of an outer one is a list of ops.
    SmallVector<memref::AllocaScopeOp> scopes;
    getOperation().walk(
        [&](memref::AllocaScopeOp scope) { scopes.push_back(scope); });
    for (memref::AllocaScopeOp scope : scopes)
      lowerScope(scope);
  }
};
} // namespace
