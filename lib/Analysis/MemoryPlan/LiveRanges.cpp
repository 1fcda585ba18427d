//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// When what a function allocates is in use: from its first access to its last,
// in a program of structured control flow, on one line of program points. On
// that line the branches of an op lie one after the other, so that what is used
// in one of them only does not meet what is used in another.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/MemoryPlan.h"

using namespace mlir;
using namespace mlir::pol;

ProgramPoints::ProgramPoints(func::FuncOp function) {
  int64_t now = 0;
  std::function<void(Operation *)> number = [&](Operation *op) {
    int64_t start = now++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    points[op] = {start, now++};
  };
  number(function);
}

namespace {
/// What is known of one op that allocates.
struct Life {
  SmallVector<Operation *> accesses;
  /// Loops around the op that its memory outlives a trip of, innermost first.
  llvm::SmallSetVector<Operation *, 2> carriedBy;
  bool escapes = false;
};

class LiveRangeFinder {
public:
  LiveRangeFinder(MemoryPlanner &planner, func::FuncOp function,
                  const ProgramPoints &points, SpacePlan &plan)
      : planner(planner), provenance(planner.getProvenance()),
        function(function), points(points), plan(plan) {}

  std::optional<UnknownSize> run();

private:
  void collectSources();
  void visitUses(Operation *op);
  void visitStores();
  void noteAlias(Value value, Operation *source);
  Operation *getHolder(Operation *source) const;
  void carryEverywhere(Operation *source);
  void makeScopes();
  bool addItem(Operation *source, unsigned argument);
  void guard(MemoryItem &item);
  size_t getScope(Operation *op);
  void extend(MemoryItem &item, ArrayRef<Operation *> accesses);
  bool closeLoop(size_t scope);
  template <typename Fn> void forEachSource(const Origins &origins, Fn fn);

  MemoryPlanner &planner;
  const Provenance &provenance;
  func::FuncOp function;
  const ProgramPoints &points;
  SpacePlan &plan;
  /// In the order of the program.
  llvm::MapVector<Operation *, Life> lives;
  llvm::MapVector<Operation *, size_t> scopeOf;
  std::optional<UnknownSize> unknown;
};
} // namespace

/// The outermost loop around `op` that `source` is not in; else `op`.
static Operation *liftOutOfLoops(Operation *op, Operation *source) {
  Operation *lifted = op;
  for (Operation *parent = op->getParentOp(); !parent->isAncestor(source);
       parent = parent->getParentOp())
    if (mayRepeat(parent))
      lifted = parent;
  return lifted;
}

template <typename Fn>
void LiveRangeFinder::forEachSource(const Origins &origins, Fn fn) {
  for (Value origin : origins)
    if (Operation *op = origin.getDefiningOp())
      if (lives.contains(op))
        fn(op);
}

/// Allocations from the space, and calls that get it.
void LiveRangeFinder::collectSources() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    if (alloc && MemoryPlanner::getArgument(alloc.getSpace()) == plan.argument)
      lives[op];
    if (isa<func::CallOp>(op) && llvm::any_of(op->getOperands(), [&](Value v) {
          return MemoryPlanner::getArgument(v) == plan.argument;
        }))
      lives[op];
  });
}

/// A value that may be the source's memory: where it is beyond a loop around
/// the source, or carried by it, the memory outlives a trip.
void LiveRangeFinder::noteAlias(Value value, Operation *source) {
  Operation *holder = value.getDefiningOp();
  if (!holder)
    holder = value.getParentBlock()->getParentOp();
  Life &life = lives.find(source)->second;
  for (Operation *parent = source->getParentOp(); parent != function;
       parent = parent->getParentOp())
    if (mayRepeat(parent) && !parent->isProperAncestor(holder))
      life.carriedBy.insert(parent);
}

/// The frame that a source's memory goes with, or the function.
Operation *LiveRangeFinder::getHolder(Operation *source) const {
  for (Value operand : source->getOperands())
    if (MemoryPlanner::getArgument(operand) == plan.argument)
      return operand.getParentBlock()->getParentOp();
  return function;
}

void LiveRangeFinder::carryEverywhere(Operation *source) {
  Life &life = lives.find(source)->second;
  Operation *holder = getHolder(source);
  for (Operation *parent = source->getParentOp(); parent != holder;
       parent = parent->getParentOp())
    if (mayRepeat(parent))
      life.carriedBy.insert(parent);
  if (auto frame = dyn_cast<FrameOp>(holder))
    life.accesses.push_back(frame.getYield());
  else
    life.escapes = true;
}

void LiveRangeFinder::visitUses(Operation *op) {
  bool escapes = isa<func::ReturnOp>(op) || mayKeepReference(op);
  bool accesses = !op->hasTrait<OpTrait::IsTerminator>() &&
                  (op->getNumRegions() > 0 || !isPure(op));
  if (!escapes && !accesses)
    return;
  for (Value operand : op->getOperands()) {
    if (!isa<BaseMemRefType>(operand.getType()))
      continue;
    forEachSource(provenance.getReachable(operand), [&](Operation *source) {
      if (escapes)
        carryEverywhere(source);
      if (accesses && op != source)
        lives.find(source)->second.accesses.push_back(op);
    });
  }
}

/// What is stored somewhere may be used by whoever finds it there.
void LiveRangeFinder::visitStores() {
  for (const ReferenceStore &store : provenance.getStores(function)) {
    forEachSource(provenance.getReachable(store.what),
                  [&](Operation *source) { carryEverywhere(source); });
    if (isa<SpaceTypeInterface>(store.what.getType()) &&
        lives.contains(store.op))
      carryEverywhere(store.op);
  }
}

//===----------------------------------------------------------------------===//
// Scopes and items
//===----------------------------------------------------------------------===//

/// A loop that carries something gets a scope of its own.
void LiveRangeFinder::makeScopes() {
  plan.scopes.push_back({function});
  llvm::SmallSetVector<Operation *, 4> loops;
  for (auto &[source, life] : lives)
    loops.insert_range(life.carriedBy);
  // Outer ones first.
  SmallVector<Operation *> ordered(loops.begin(), loops.end());
  llvm::sort(ordered, [&](Operation *left, Operation *right) {
    return points.getStart(left) < points.getStart(right);
  });
  for (Operation *loop : ordered) {
    scopeOf[loop] = plan.scopes.size();
    plan.scopes.push_back({loop});
  }
}

size_t LiveRangeFinder::getScope(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent != function;
       parent = parent->getParentOp())
    if (auto found = scopeOf.find(parent); found != scopeOf.end())
      return found->second;
  return 0;
}

void LiveRangeFinder::extend(MemoryItem &item, ArrayRef<Operation *> accesses) {
  for (Operation *access : accesses) {
    Operation *lifted = liftOutOfLoops(access, item.op);
    int64_t begin = points.getStart(lifted), end = points.getEnd(lifted) + 1;
    // What comes before it is an access to memory of an earlier trip.
    if (begin < points.getStart(item.op))
      continue;
    item.begin = item.isUsed() ? std::min(item.begin, begin) : begin;
    item.end = std::max(item.end, end);
  }
}

bool LiveRangeFinder::addItem(Operation *source, unsigned argument) {
  const Life &life = lives.find(source)->second;
  MemoryItem item{source};
  item.argument = argument;
  if (auto alloc = dyn_cast<AllocOp>(source)) {
    item.bytes = item.kept = planner.getBytes(alloc, unknown);
  } else {
    auto call = cast<func::CallOp>(source);
    const SpacePlan *inside =
        planner.getPlan(planner.getCallee(call)).find(argument);
    item.bytes = planner.translate(call, inside->getBytes());
    item.kept = planner.translate(call, inside->getKept());
    item.begin = points.getStart(source);
    item.end = item.keptFrom = points.getEnd(source) + 1;
    if (!item.bytes || !item.kept)
      unknown = getUnknownCallee(call);
  }
  if (unknown)
    return false;
  guard(item);
  MemoryScope &scope = plan.scopes[getScope(source)];
  extend(item, life.accesses);
  if (life.escapes || life.carriedBy.contains(scope.op)) {
    item.escapes = true;
    if (!item.isUsed())
      item.begin = points.getStart(source);
    item.end = points.getEnd(scope.op);
  }
  if (isa<AllocOp>(source))
    item.keptFrom = item.begin;
  scope.items.push_back(item);
  return true;
}

/// What is on a branch that these shapes do not take, or in a loop that they do
/// not run, takes nothing.
void LiveRangeFinder::guard(MemoryItem &item) {
  SizeContext &context = planner.getContext();
  SizeAnalysis &sizes = planner.getSizes();
  Size zero = context.constant(0);
  auto onlyIf = [&](Size condition, bool holds) {
    for (Size *bytes : {&item.bytes, &item.kept})
      *bytes = holds ? context.select(condition, *bytes, zero)
                     : context.select(condition, zero, *bytes);
  };
  for (Region *region = item.op->getParentRegion();
       region->getParentOp() != function;
       region = region->getParentOp()->getParentRegion()) {
    Operation *parent = region->getParentOp();
    unsigned number = region->getRegionNumber();
    if (auto ifOp = dyn_cast<scf::IfOp>(parent)) {
      if (Size condition = sizes.get(ifOp.getCondition()))
        onlyIf(condition, number == 0);
    } else if (auto switchOp = dyn_cast<scf::IndexSwitchOp>(parent)) {
      Size chosen = sizes.get(switchOp.getArg());
      for (auto [index, value] : llvm::enumerate(switchOp.getCases()))
        // The first region is the default.
        if (chosen && (number == 0 || number == index + 1))
          onlyIf(context.get(SizeOp::Equal, {chosen, context.constant(value)}),
                 number != 0);
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
      if (Size trips = sizes.getTrips(loop))
        onlyIf(trips, true);
    }
  }
}

/// Makes a loop an item of the scope around it, for what it carries.
bool LiveRangeFinder::closeLoop(size_t number) {
  MemoryScope &scope = plan.scopes[number];
  MemoryScope &outer = plan.scopes[getScope(scope.op)];
  auto loop = dyn_cast<LoopLikeOpInterface>(scope.op);
  Size trips = loop ? planner.getSizes().getTrips(loop) : nullptr;
  if (!trips) {
    unknown = getUnknownTrips(scope.op);
    return false;
  }
  MemoryItem item{scope.op};
  item.begin = points.getStart(scope.op);
  item.end = item.keptFrom = points.getEnd(scope.op) + 1;
  for (auto &[source, life] : lives) {
    if (!life.carriedBy.contains(scope.op))
      continue;
    SmallVector<Operation *> beyond;
    for (Operation *access : life.accesses)
      if (!scope.op->isProperAncestor(access))
        beyond.push_back(access);
    extend(item, beyond);
    item.escapes |= life.escapes || life.carriedBy.contains(outer.op);
  }
  if (item.escapes)
    item.end = points.getEnd(outer.op);
  // Sizes follow once the loop's own items have their places.
  item.bytes = item.kept = trips;
  guard(item);
  outer.items.push_back(item);
  return true;
}

std::optional<UnknownSize> LiveRangeFinder::run() {
  collectSources();
  function.walk([&](Operation *op) {
    visitUses(op);
    auto note = [&](Value value) {
      forEachSource(provenance.get(value),
                    [&](Operation *source) { noteAlias(value, source); });
    };
    for (Value result : op->getResults())
      note(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        note(argument);
  });
  visitStores();
  makeScopes();
  for (auto &[source, life] : lives) {
    if (auto alloc = dyn_cast<AllocOp>(source)) {
      if (!addItem(source, 0))
        return unknown;
      continue;
    }
    for (auto [number, operand] : llvm::enumerate(source->getOperands()))
      if (MemoryPlanner::getArgument(operand) == plan.argument &&
          !addItem(source, number))
        return unknown;
  }
  for (size_t scope = 1; scope < plan.scopes.size(); ++scope)
    if (!closeLoop(scope))
      return unknown;
  for (MemoryScope &scope : plan.scopes)
    llvm::stable_sort(scope.items, [&](const auto &left, const auto &right) {
      return points.getStart(left.op) < points.getStart(right.op);
    });
  return std::nullopt;
}

std::optional<UnknownSize>
mlir::pol::findLiveRanges(MemoryPlanner &planner, func::FuncOp function,
                          const ProgramPoints &points, SpacePlan &plan) {
  return LiveRangeFinder(planner, function, points, plan).run();
}
