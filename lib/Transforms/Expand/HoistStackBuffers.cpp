//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Moves stack buffers out of parallel loops that run in sequence.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_HOISTSTACKBUFFERS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;

static bool isLoop(Operation *op) {
  return isa_and_nonnull<affine::AffineDialect, scf::SCFDialect>(
      op->getDialect());
}

static bool isParallelLoop(Operation *op) {
  return op->hasTrait<OpTrait::HasParallelRegion>() ||
         isa<affine::AffineParallelOp>(op);
}

/// Whether a loop is known to have one trip at most: canonicalization makes it
/// part of what is around it.
static bool hasOneTrip(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return false;
  auto lower = loop.getLoopLowerBounds();
  auto upper = loop.getLoopUpperBounds();
  auto steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return false;
  for (auto [begin, end, step] : llvm::zip_equal(*lower, *upper, *steps)) {
    std::optional<int64_t> first = getConstantIntValue(begin);
    std::optional<int64_t> last = getConstantIntValue(end);
    std::optional<int64_t> stride = getConstantIntValue(step);
    if (!first || !last || !stride || *last - *first > *stride)
      return false;
  }
  return true;
}

namespace {
/// Moves buffers, and has those of loops that run one after the other be the
/// same.
class Hoister {
public:
  explicit Hoister(bool hasThreads) : hasThreads(hasThreads) {}
  void hoist(memref::AllocaOp alloca);

private:
  /// Whether the trips of a loop are those of one thread.
  bool isSequential(Operation *op) const {
    return !isParallelLoop(op) || !hasThreads || hasOneTrip(op);
  }

  /// Buffers of one type and alignment at the start of a block, and how many
  /// of them the loop that was seen last has.
  struct Pool {
    SmallVector<memref::AllocaOp> buffers;
    Operation *loop = nullptr;
    size_t taken = 0;
  };
  using Key = std::tuple<Block *, Type, Attribute>;

  bool hasThreads;
  DenseMap<Key, Pool> pools;
};
} // namespace

void Hoister::hoist(memref::AllocaOp alloca) {
  // One of dynamic size is not pol's: its operands may be made in the loop.
  if (alloca->getNumOperands())
    return;
  bool isInParallel = false;
  Operation *outermost = alloca;
  for (Operation *parent = alloca->getParentOp();
       parent && isLoop(parent) && isSequential(parent);
       parent = parent->getParentOp()) {
    isInParallel |= isParallelLoop(parent);
    outermost = parent;
  }
  if (!isInParallel)
    return;
  Block *block = &outermost->getParentRegion()->front();
  Pool &pool = pools[{block, alloca.getType(), alloca.getAlignmentAttr()}];
  if (pool.loop != outermost) {
    pool.loop = outermost;
    pool.taken = 0;
  }
  if (pool.taken == pool.buffers.size()) {
    alloca->moveBefore(block, block->begin());
    pool.buffers.push_back(alloca);
  } else {
    alloca->replaceAllUsesWith(pool.buffers[pool.taken]);
    alloca.erase();
  }
  ++pool.taken;
}

namespace {
struct HoistStackBuffers : pol::impl::HoistStackBuffersBase<HoistStackBuffers> {
  using HoistStackBuffersBase::HoistStackBuffersBase;

  void runOnOperation() override {
    SmallVector<memref::AllocaOp> allocas;
    getOperation().walk(
        [&](memref::AllocaOp alloca) { allocas.push_back(alloca); });
    Hoister hoister(threads);
    for (memref::AllocaOp alloca : allocas)
      hoister.hoist(alloca);
  }
};
} // namespace
