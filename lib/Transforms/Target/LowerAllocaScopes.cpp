//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Turns memref.alloca_scope into a saved and restored stack.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

namespace {
struct LowerAllocaScopes
    : pol::impl::LowerAllocaScopesBase<LowerAllocaScopes> {
  void runOnOperation() override {
    // Inner scopes first: what is left of an outer one is a list of ops.
    SmallVector<memref::AllocaScopeOp> scopes;
    getOperation().walk(
        [&](memref::AllocaScopeOp scope) { scopes.push_back(scope); });
    for (memref::AllocaScopeOp scope : scopes)
      lowerScope(scope);
  }
};
} // namespace
