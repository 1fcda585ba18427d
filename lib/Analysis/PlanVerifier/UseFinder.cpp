//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the items of a plan are, and when their memory is in use.

#include "SpaceVerifier.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::pol;

std::string mlir::pol::describeItem(const MemoryItem &item) {
  std::string text = "the loop";
  if (auto alloc = dyn_cast<AllocOp>(item.op))
    text = alloc.getName() ? "buffer '" + alloc.getName()->str() + "'"
                           : "the buffer";
  else if (auto call = dyn_cast<func::CallOp>(item.op))
    text = "what the call of @" + call.getCallee().str() + " takes";
  std::string place = describePlace(item.op->getLoc());
  return place.empty() ? text : text + " (" + place + ")";
}

static PlanFault fault(Operation *op, const Twine &text) {
  return {op->getLoc(), text.str()};
}

//===----------------------------------------------------------------------===//
// What takes memory
//===----------------------------------------------------------------------===//

void UseFinder::collectSources() {
  auto add = [&](Operation *op, unsigned argument) {
    sources.insert(
        {{op, argument}, {op, argument, tracer.traceAllocation(op, argument)}});
  };
  function.walk([&](Operation *op) {
    auto isOfSpace = [&](Value space) {
      return isa<SpaceTypeInterface>(space.getType()) &&
             ReferenceTracer::getSpaceArgument(space) == plan.argument;
    };
    if (auto alloc = dyn_cast<AllocOp>(op))
      if (isOfSpace(alloc.getSpace()))
        add(op, 0);
    if (auto call = dyn_cast<func::CallOp>(op))
      for (auto [number, operand] : llvm::enumerate(call.getOperands()))
        if (isOfSpace(operand))
          add(op, number);
  });
}

const MemorySource *UseFinder::getSource(const MemoryItem &item) const {
  unsigned argument = isa<func::CallOp>(item.op) ? item.argument : 0;
  auto found = sources.find({item.op, argument});
  return found == sources.end() ? nullptr : &found->second;
}

/// The frame that a source's memory goes with; null if there is none.
static FrameOp getFrame(const MemorySource &source) {
  Value space = isa<AllocOp>(source.op)
                    ? cast<AllocOp>(source.op).getSpace()
                    : source.op->getOperand(source.argument);
  return dyn_cast<FrameOp>(space.getParentBlock()->getParentOp());
}

/// Whether memory of one trip of a loop may be in use on a later one or after
/// the loop: somebody beyond the trip has a reference. That nobody has when a
/// frame closes is checked before memory is planned.
bool UseFinder::survivesTrip(const MemorySource &source,
                             Operation *loop) const {
  if (FrameOp frame = getFrame(source); frame && loop->isAncestor(frame))
    return false;
  if (source.trace.isStored || source.trace.isLost)
    return true;
  Region *trip = source.op->getParentRegion();
  while (trip->getParentOp() != loop)
    trip = trip->getParentRegion();
  return llvm::any_of(source.trace.values, [&](const auto &entry) {
    Value value = entry.first;
    Region *region = value.getParentRegion();
    return isa<BlockArgument>(value) ? !trip->isProperAncestor(region)
                                     : !trip->isAncestor(region);
  });
}

/// Of a loop: what is in use after a trip through it.
SmallVector<const MemorySource *>
UseFinder::getSources(const MemoryItem &item) const {
  if (const MemorySource *source = getSource(item))
    return {source};
  SmallVector<const MemorySource *> found;
  for (const auto &[key, source] : sources)
    if (item.op->isProperAncestor(source.op) && survivesTrip(source, item.op))
      found.push_back(&source);
  return found;
}

/// Every source and every scope but the first is an item of one scope.
std::optional<PlanFault> UseFinder::checkItems() {
  if (plan.scopes.empty() || plan.scopes.front().op != function)
    return fault(function, "expected the first scope to be the function");
  for (auto [number, scope] : llvm::enumerate(plan.scopes)) {
    if (!scopeOf.insert({scope.op, number}).second)
      return fault(scope.op, "expected one scope for a loop, but got two");
    if (!scope.bytes || !scope.kept || (number > 0 && !scope.stride))
      return fault(scope.op, "expected the size of a scope to be known");
  }
  llvm::SmallDenseSet<std::pair<Operation *, unsigned>> seen;
  for (auto [number, scope] : llvm::enumerate(plan.scopes))
    for (const MemoryItem &item : scope.items) {
      if (auto found = checkItem(item, number))
        return found;
      unsigned argument = isa<func::CallOp>(item.op) ? item.argument : 0;
      if (!seen.insert({item.op, argument}).second)
        return fault(item.op, describeItem(item) + " has two places");
    }
  for (const auto &[key, source] : sources)
    if (!seen.contains(key))
      return fault(source.op, describeItem({source.op}) + " has no place");
  for (const MemoryScope &scope : ArrayRef(plan.scopes).drop_front())
    if (!seen.contains({scope.op, 0}))
      return fault(scope.op, describeItem({scope.op}) + " has no place");
  return std::nullopt;
}

std::optional<PlanFault> UseFinder::checkItem(const MemoryItem &item,
                                              size_t scope) {
  if (!item.bytes || !item.kept || !item.offset)
    return fault(item.op, "expected size and offset of " + describeItem(item) +
                              " to be known");
  if (!getSource(item) && !scopeOf.contains(item.op))
    return fault(item.op, describeItem(item) + " takes nothing of the space");
  Operation *holder = plan.scopes[scope].op;
  if (!holder->isProperAncestor(item.op))
    return fault(item.op,
                 describeItem(item) + " is not in the scope of its place");
  // Trips that share memory leave nothing in use.
  for (Operation *loop = item.op->getParentOp(); loop != holder;
       loop = loop->getParentOp()) {
    if (UseTimes::isChoice(loop))
      continue;
    for (const MemorySource *source : getSources(item))
      if (survivesTrip(*source, loop))
        return fault(source->op,
                     describeItem({source->op}) +
                         " has one place for all trips of the loop at " +
                         describePlace(loop->getLoc()) +
                         ", but is in use after a trip");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// When it is in use
//===----------------------------------------------------------------------===//

void UseFinder::addUse(const MemoryItem &item, size_t scope) {
  Operation *holder = plan.scopes[scope].op;
  bool isFunction = holder == function;
  SmallVector<Operation *> accesses;
  ItemUse use;
  use.item = &item;
  bool isAlloc = isa<AllocOp>(item.op);
  if (!isAlloc)
    accesses.push_back(item.op);
  for (const MemorySource *source : getSources(item)) {
    const ReferenceTrace &trace = source->trace;
    for (Operation *access : trace.accesses)
      if (!item.op->isAncestor(access))
        accesses.push_back(access);
    bool isAnywhere = trace.isStored || trace.isLost;
    FrameOp frame = getFrame(*source);
    if (isAnywhere && frame)
      accesses.push_back(frame.getYield());
    use.outlives |= isFunction ? !frame && (isAnywhere || trace.isReturned())
                               : survivesTrip(*source, holder);
  }
  TimeSpans spans = times.find(item.op, accesses, use.outlives);
  if (isAlloc) {
    use.whole = std::move(spans);
  } else {
    TimeSpan run = times.get(item.op);
    use.whole.push_back(run);
    for (TimeSpan span : spans)
      if (span.end > run.end)
        use.kept.push_back({std::max(span.begin, run.end), span.end});
  }
  uses[scope].push_back(std::move(use));
}

/// Whether an op reads each element of an operand before it writes the same one
/// of another.
static bool mayOverwrite(Operation *op, OpOperand &input,
                         OpOperand &destination) {
  if (auto kernel = dyn_cast<KernelOpInterface>(op))
    return kernel.mayWorkInPlace(input, destination);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.isDpsInput(&input) ||
      !structured.isDpsInit(&destination))
    return false;
  AffineMap map = structured.getMatchingIndexingMap(&input);
  return structured.getNumLoops() == structured.getNumParallelLoops() &&
         map.isPermutation() &&
         map == structured.getMatchingIndexingMap(&destination);
}

/// The op that reads a buffer for the last time and may write another in its
/// place.
Operation *UseFinder::findInPlaceOp(const MemorySource &input,
                                    const MemorySource &destination) const {
  if (!isa<AllocOp>(input.op) || !isa<AllocOp>(destination.op))
    return nullptr;
  for (Operation *user : destination.op->getUsers()) {
    SmallVector<OpOperand *> read, written;
    for (OpOperand &operand : user->getOpOperands()) {
      if (input.trace.values.contains(operand.get()))
        read.push_back(&operand);
      if (destination.trace.values.contains(operand.get()))
        written.push_back(&operand);
    }
    // Other operands may be other elements of the same memory.
    if (read.size() == 1 && written.size() == 1 &&
        read.front()->get() == input.op->getResult(0) &&
        written.front()->get() == destination.op->getResult(0) &&
        mayOverwrite(user, *read.front(), *written.front()))
      return user;
  }
  return nullptr;
}

/// Where an op works in place, one buffer is done with when it has read it, and
/// the other is in use from then on.
std::optional<PlanFault> UseFinder::shareInPlace(size_t scope) {
  std::vector<ItemUse> &items = uses[scope];
  for (ItemUse &use : items) {
    int64_t number = use.item->inPlaceOf;
    if (number < 0)
      continue;
    std::string name = describeItem(*use.item);
    if (number >= static_cast<int64_t>(items.size()) ||
        items[number].item == use.item)
      return fault(use.item->op, "expected " + name +
                                     " to take over the memory of another "
                                     "item");
    ItemUse &input = items[number];
    const MemorySource *from = getSource(*input.item);
    const MemorySource *to = getSource(*use.item);
    Operation *op = from && to ? findInPlaceOp(*from, *to) : nullptr;
    if (!op)
      return fault(use.item->op, name + " takes over the memory of " +
                                     describeItem(*input.item) +
                                     ", but nothing works in place on them");
    TimeSpan run = times.get(op);
    for (TimeSpan &span : input.whole)
      if (span.end == run.end)
        span.end = run.begin + 1;
    for (TimeSpan &span : use.whole)
      if (span.begin == run.begin)
        span.begin = run.begin + 1;
  }
  return std::nullopt;
}

std::optional<PlanFault> UseFinder::run() {
  collectSources();
  if (auto found = checkItems())
    return found;
  uses.resize(plan.scopes.size());
  for (auto [number, scope] : llvm::enumerate(plan.scopes)) {
    for (const MemoryItem &item : scope.items)
      addUse(item, number);
    if (auto found = shareInPlace(number))
      return found;
  }
  return std::nullopt;
}
