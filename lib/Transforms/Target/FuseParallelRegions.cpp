//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_FUSEPARALLELREGIONS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Whether all that the threads of a region do is to share loops, at whose ends
/// they wait for each other.
static bool onlySharesLoops(omp::ParallelOp region) {
  if (region->getNumOperands() != 0 || !region.getRegion().hasOneBlock())
    return false;
  return llvm::all_of(region.getRegion().front().without_terminator(),
                      [](Operation &op) { return isa<omp::WsloopOp>(op); });
}

/// Whether an op may run before a region that it came after.
static bool mayGoFirst(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         isSpeculatable(&op);
}

/// Makes regions that follow each other one, with what is between them in
/// front.
static void fuse(Block &block) {
  omp::ParallelOp first;
  SmallVector<Operation *> between;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto region = dyn_cast<omp::ParallelOp>(op);
    if (!region) {
      if (!mayGoFirst(op))
        first = nullptr;
      between.push_back(&op);
      continue;
    }
    if (!first || !onlySharesLoops(region)) {
      first = onlySharesLoops(region) ? region : nullptr;
      between.clear();
      continue;
    }
    for (Operation *moved : between)
      moved->moveBefore(first);
    between.clear();
    Block &body = first.getRegion().front();
    Block &added = region.getRegion().front();
    added.getTerminator()->erase();
    body.getOperations().splice(body.getTerminator()->getIterator(),
                                added.getOperations());
    region.erase();
  }
}

/// Whether a loop has more than one trip, where that is known in front of its
/// region: one and no more, or none, are not worth a team.
static Value hasManyTrips(OpBuilder &builder, omp::LoopNestOp nest) {
  Location loc = nest.getLoc();
  Value many;
  for (auto [begin, end, step] :
       llvm::zip(nest.getLoopLowerBounds(), nest.getLoopUpperBounds(),
                 nest.getLoopSteps())) {
    Value length = arith::SubIOp::create(builder, loc, end, begin);
    Value isLonger = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, length, step);
    many = many ? arith::OrIOp::create(builder, loc, many, isLonger).getResult()
                : isLonger;
  }
  return many;
}

static void addCondition(omp::ParallelOp region) {
  OpBuilder builder(region);
  Value condition;
  for (auto loop : region.getRegion().getOps<omp::WsloopOp>()) {
    auto nest = dyn_cast<omp::LoopNestOp>(loop.getWrappedLoop());
    auto isOutside = [&](Value value) {
      return value.getParentRegion()->isProperAncestor(&region.getRegion());
    };
    if (!nest || !llvm::all_of(nest->getOperands(), isOutside))
      return;
    Value many = hasManyTrips(builder, nest);
    condition = condition ? arith::OrIOp::create(builder, region.getLoc(),
                                                 condition, many)
                                .getResult()
                          : many;
  }
  if (condition)
    region.getIfExprMutable().assign(condition);
}

namespace {
struct FuseParallelRegions
    : pol::impl::FuseParallelRegionsBase<FuseParallelRegions> {
  using FuseParallelRegionsBase::FuseParallelRegionsBase;

  void runOnOperation() override {
    getOperation().walk([](Block *block) { fuse(*block); });
    getOperation().walk([](omp::ParallelOp region) {
      if (onlySharesLoops(region))
        addCondition(region);
    });
  }
};
} // namespace
