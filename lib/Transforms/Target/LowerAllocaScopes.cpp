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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_LOWERALLOCASCOPES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;

static void lowerScope(memref::AllocaScopeOp scope) {
  WalkResult found = scope.walk([](memref::AllocaOp) {
    return WalkResult::interrupt();
  });
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

/// Moves what each worker of a parallel loop has on its stack before the loop,
/// when that becomes a sequential one: nothing would give it back after a trip.
static void hoistFromLoops(memref::AllocaOp alloca) {
  bool isParallel = false;
  Operation *parent = alloca->getParentOp();
  for (; parent && isLoop(parent); parent = parent->getParentOp()) {
    isParallel |= parent->hasTrait<OpTrait::HasParallelRegion>() ||
                  isa<affine::AffineParallelOp>(parent);
  }
  // One of dynamic size is not pol's: its operands may be made in the loop.
  if (!isParallel || !parent || alloca->getNumOperands())
    return;
  Region *region = alloca->getParentRegion();
  while (region->getParentOp() != parent)
    region = region->getParentRegion();
  alloca->moveBefore(&region->front(), region->front().begin());
}

namespace {
struct LowerAllocaScopes
    : pol::impl::LowerAllocaScopesBase<LowerAllocaScopes> {
  void runOnOperation() override {
    SmallVector<memref::AllocaOp> allocas;
    getOperation().walk(
        [&](memref::AllocaOp alloca) { allocas.push_back(alloca); });
    for (memref::AllocaOp alloca : allocas)
      hoistFromLoops(alloca);
    // Inner scopes first: what is left of an outer one is a list of ops.
    SmallVector<memref::AllocaScopeOp> scopes;
    getOperation().walk(
        [&](memref::AllocaScopeOp scope) { scopes.push_back(scope); });
    for (memref::AllocaScopeOp scope : scopes)
      lowerScope(scope);
  }
};
} // namespace
