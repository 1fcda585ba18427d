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

static bool isParallelLoop(Operation *op) {
  return op->hasTrait<OpTrait::HasParallelRegion>() ||
         isa<affine::AffineParallelOp>(op);
}

/// The region around all loops that are around `op`: that of a function, or of
/// what a thread runs.
static Region *getRegionAroundLoops(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && isLoop(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

namespace {
/// Moves what each worker of a parallel loop has on its stack before the loop,
/// when that becomes a sequential one: nothing would give it back after a trip.
/// Loops run one after the other, so that one of them can have the buffers of
/// those before it.
class ParallelLoopHoister {
public:
  void hoist(memref::AllocaOp alloca);

private:
  /// Buffers of one type and alignment at the start of a region, and how many
  /// of them the loop that was seen last has.
  struct Pool {
    SmallVector<memref::AllocaOp> buffers;
    Operation *loop = nullptr;
    size_t taken = 0;
  };
  using Key = std::tuple<Region *, Type, Attribute>;
  DenseMap<Key, Pool> pools;
};
} // namespace

void ParallelLoopHoister::hoist(memref::AllocaOp alloca) {
  // One of dynamic size is not pol's: its operands may be made in the loop.
  Region *region = getRegionAroundLoops(alloca);
  if (!region || alloca->getNumOperands())
    return;
  bool isParallel = false;
  Operation *outermost = alloca->getParentOp();
  for (Operation *parent = outermost; parent != region->getParentOp();
       parent = parent->getParentOp()) {
    isParallel |= isParallelLoop(parent);
    outermost = parent;
  }
  if (!isParallel)
    return;
  Pool &pool = pools[{region, alloca.getType(), alloca.getAlignmentAttr()}];
  if (pool.loop != outermost) {
    pool.loop = outermost;
    pool.taken = 0;
  }
  if (pool.taken == pool.buffers.size()) {
    alloca->moveBefore(&region->front(), region->front().begin());
    pool.buffers.push_back(alloca);
  } else {
    alloca->replaceAllUsesWith(pool.buffers[pool.taken]);
    alloca.erase();
  }
  ++pool.taken;
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
    SmallVector<Operation *> allocas;
    getOperation().walk([&](Operation *op) {
      if (isa<memref::AllocaOp, LLVM::AllocaOp>(op))
        allocas.push_back(op);
    });
    ParallelLoopHoister hoister;
    for (Operation *op : allocas) {
      if (auto alloca = dyn_cast<memref::AllocaOp>(op))
        hoister.hoist(alloca);
      else
        hoistReduction(cast<LLVM::AllocaOp>(op));
    }
    // Inner scopes first: what is left of an outer one is a list of ops.
    SmallVector<memref::AllocaScopeOp> scopes;
    getOperation().walk(
        [&](memref::AllocaScopeOp scope) { scopes.push_back(scope); });
    for (memref::AllocaScopeOp scope : scopes)
      lowerScope(scope);
  }
};
} // namespace
