//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a bump allocator does: the figure that a run that carves every buffer by
// itself shows, on the branches that take most.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/MemoryPlan.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Where the allocator is, and the furthest it has been.
struct BumpState {
  Size end;
  Size peak;
};

class BumpSimulation {
public:
  BumpSimulation(MemoryPlanner &planner, const ProgramPoints &points,
                 SpacePlan &plan, bool assign)
      : planner(planner), context(planner.getContext()), points(points),
        plan(plan), assign(assign) {}

  bool run(func::FuncOp function);
  std::optional<UnknownSize> unknown;

private:
  bool visit(Block &block, size_t scope, BumpState &state);
  bool visitOp(Operation *op, size_t scope, BumpState &state);
  bool visitCall(func::CallOp call, size_t scope, BumpState &state);
  bool visitBranches(Operation *op, size_t scope, BumpState &state);
  bool visitLoop(Operation *op, size_t scope, BumpState &state);
  void take(MemoryItem item, size_t scope, BumpState &state);
  BumpState join(Size condition, BumpState then, BumpState otherwise);
  bool allocates(Operation *op);

  MemoryPlanner &planner;
  SizeContext &context;
  const ProgramPoints &points;
  SpacePlan &plan;
  bool assign;
  /// The frame or scope with which goes what is allocated now.
  Operation *holder = nullptr;
};
} // namespace

/// Whether the region of an op has to be looked into at all.
bool BumpSimulation::allocates(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        bool takes = llvm::any_of(inner->getOperands(), [&](Value value) {
          return MemoryPlanner::getArgument(value) == plan.argument;
        });
        return takes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void BumpSimulation::take(MemoryItem item, size_t scope, BumpState &state) {
  Size start = context.alignBytes(state.end);
  Size reached = context.addBytes(start, item.bytes);
  state.peak = context.max(
      state.peak, context.ifAny(item.bytes, reached, context.constant(0)));
  state.end =
      context.ifAny(item.kept, context.addBytes(start, item.kept), state.end);
  if (!assign)
    return;
  item.offset = start;
  item.begin = item.keptFrom = points.getStart(item.op);
  if (!isa<AllocOp>(item.op))
    item.keptFrom = points.getEnd(item.op) + 1;
  item.end = points.getEnd(holder);
  item.escapes = holder == plan.scopes[scope].op;
  plan.scopes[scope].items.push_back(item);
}

BumpState BumpSimulation::join(Size condition, BumpState then,
                               BumpState otherwise) {
  if (condition)
    return {context.select(condition, then.end, otherwise.end),
            context.select(condition, then.peak, otherwise.peak)};
  return {context.max(then.end, otherwise.end),
          context.max(then.peak, otherwise.peak)};
}

bool BumpSimulation::visit(Block &block, size_t scope, BumpState &state) {
  return llvm::all_of(
      block, [&](Operation &op) { return visitOp(&op, scope, state); });
}

bool BumpSimulation::visitOp(Operation *op, size_t scope, BumpState &state) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    if (MemoryPlanner::getArgument(alloc.getSpace()) != plan.argument)
      return true;
    Size bytes = planner.getBytes(alloc, unknown);
    if (!bytes)
      return false;
    MemoryItem item{op};
    item.bytes = item.kept = bytes;
    take(item, scope, state);
    return true;
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call, scope, state);
  if (op->getNumRegions() == 0 || !allocates(op))
    return true;
  if (auto frame = dyn_cast<FrameOp>(op)) {
    if (MemoryPlanner::getArgument(frame.getSpace()) != plan.argument)
      return visit(frame.getBody().front(), scope, state);
    Size before = state.end;
    Operation *around = std::exchange(holder, frame);
    if (!visit(frame.getBody().front(), scope, state))
      return false;
    holder = around;
    state.end = before;
    return true;
  }
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return visitBranches(op, scope, state);
  if (mayRepeat(op))
    return visitLoop(op, scope, state);
  return visit(op->getRegion(0).front(), scope, state);
}

bool BumpSimulation::visitCall(func::CallOp call, size_t scope,
                               BumpState &state) {
  func::FuncOp callee = planner.getCallee(call);
  for (auto [number, operand] : llvm::enumerate(call.getOperands())) {
    if (MemoryPlanner::getArgument(operand) != plan.argument)
      continue;
    const SpacePlan *inside = planner.getPlan(callee).find(number);
    MemoryItem item{call};
    item.argument = number;
    if (inside && inside->bumpBytes) {
      item.bytes = planner.translate(call, inside->bumpBytes);
      item.kept = planner.translate(call, inside->bumpKept);
    }
    if (!item.bytes || !item.kept) {
      unknown = getUnknownCallee(call);
      return false;
    }
    take(item, scope, state);
  }
  return true;
}

/// Each branch in its own copy of the state; the one taken, where it is known
/// which, or else the furthest.
bool BumpSimulation::visitBranches(Operation *op, size_t scope,
                                   BumpState &state) {
  SmallVector<BumpState> states;
  for (Region &region : op->getRegions()) {
    states.push_back(state);
    if (!region.empty() && !visit(region.front(), scope, states.back()))
      return false;
  }
  SizeAnalysis &sizes = planner.getSizes();
  if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
    state = join(sizes.get(ifOp.getCondition()), states[0], states[1]);
    return true;
  }
  // The first region is the default.
  auto switchOp = cast<scf::IndexSwitchOp>(op);
  Size chosen = sizes.get(switchOp.getArg());
  BumpState result = states[0];
  for (auto [number, value] : llvm::enumerate(switchOp.getCases())) {
    Size condition =
        chosen ? context.get(SizeOp::Equal, {chosen, context.constant(value)})
               : nullptr;
    result = join(condition, states[number + 1], result);
  }
  state = result;
  return true;
}

bool BumpSimulation::visitLoop(Operation *op, size_t scope, BumpState &state) {
  size_t inner = plan.scopes.size();
  if (assign)
    plan.scopes.push_back({op});
  BumpState trip = {context.constant(0), context.constant(0)};
  Operation *around = std::exchange(holder, op);
  for (Region &region : op->getRegions())
    if (!region.empty() && !visit(region.front(), inner, trip))
      return false;
  holder = around;
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  Size trips = loop ? planner.getSizes().getTrips(loop) : nullptr;
  Size stride = context.alignBytes(trip.end);
  MemoryItem item{op};
  if (trips) {
    item.bytes = getLoopBytes(context, trips, stride, trip.peak);
    item.kept = getLoopBytes(context, trips, stride, trip.end);
  } else if (trip.end->isConstant(0)) {
    item.bytes = trip.peak;
    item.kept = trip.end;
  } else {
    unknown = getUnknownTrips(op);
    return false;
  }
  if (assign) {
    MemoryScope &body = plan.scopes[inner];
    body.bytes = item.bytes;
    body.kept = item.kept;
    body.stride = stride;
    body.trips = trips;
  }
  take(item, scope, state);
  return true;
}

bool BumpSimulation::run(func::FuncOp function) {
  if (assign)
    plan.scopes.push_back({function});
  BumpState state = {context.constant(0), context.constant(0)};
  holder = function;
  if (!visit(function.getBody().front(), 0, state))
    return false;
  plan.bumpBytes = state.peak;
  plan.bumpKept = state.end;
  if (assign) {
    plan.scopes.front().bytes = state.peak;
    plan.scopes.front().kept = state.end;
  }
  return true;
}

std::optional<UnknownSize> mlir::pol::simulateBump(MemoryPlanner &planner,
                                                   func::FuncOp function,
                                                   const ProgramPoints &points,
                                                   SpacePlan &plan,
                                                   bool assign) {
  BumpSimulation simulation(planner, points, plan, assign);
  if (simulation.run(function))
    return std::nullopt;
  plan.scopes.clear();
  return simulation.unknown;
}
