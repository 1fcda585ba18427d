//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTracer.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// Whether values of a type are references to memory.
static bool isReference(Type type) {
  return isa<BaseMemRefType, TensorType>(type);
}

/// The type of the references that the memory of a value holds; null if none.
static Type getHeldType(Value value) {
  auto type = dyn_cast<BaseMemRefType>(value.getType());
  Type element = type ? type.getElementType() : Type();
  return element && isa<BaseMemRefType>(element) ? element : Type();
}

/// Numbers and the like, in which no reference to memory hides.
static bool isPlainData(Type type) {
  return type.isIntOrIndexOrFloat() ||
         isa<ComplexType, NoneType, VectorType, MarkType>(type);
}

/// Whether a result may hide a reference in a type that is no reference.
static bool hidesReference(Operation *op) {
  if (op->getName().getStringRef() == "memref.extract_aligned_pointer_as_index")
    return true;
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    return !isReference(type) && !isPlainData(type) &&
           !isa<SpaceTypeInterface>(type);
  });
}

static bool mayWrite(Operation *op, Value container) {
  return !isa<MemoryEffectOpInterface>(op) ||
         hasEffect<MemoryEffects::Write>(op, container);
}

std::optional<unsigned> ReferenceTracer::getSpaceArgument(Value space) {
  auto argument = dyn_cast<BlockArgument>(space);
  while (argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return argument.getOwner()->isEntryBlock()
                 ? std::optional<unsigned>(argument.getArgNumber())
                 : std::nullopt;
    auto frame = dyn_cast<FrameOp>(parent);
    argument =
        frame ? dyn_cast<BlockArgument>(frame.getSpace()) : BlockArgument();
  }
  return std::nullopt;
}

bool ReferenceTracer::Flow::operator==(const Flow &other) const {
  return returned == other.returned && storedIn == other.storedIn &&
         isLost == other.isLost;
}

bool ReferenceTracer::Summary::operator==(const Summary &other) const {
  return memory == other.memory && contents == other.contents;
}

//===----------------------------------------------------------------------===//
// One walk
//===----------------------------------------------------------------------===//

/// Follows references from where they start to wherever they go.
class ReferenceTracer::Walk {
public:
  Walk(ReferenceTracer &tracer, func::FuncOp function, bool followStores)
      : tracer(tracer), function(function), followStores(followStores) {
    trace.returned.assign(function.getNumResults(), 0);
  }

  void add(Value value, unsigned kind) {
    unsigned &known = trace.values[value];
    if ((known | kind) == known)
      return;
    known |= kind;
    pending.push_back(value);
  }
  /// A reference is stored in the memory of `container`.
  void store(Value container);
  /// The results of a call, and what it stores, by what its callee does with
  /// something.
  void apply(CallOpInterface call, const Flow &flow);

  ReferenceTrace run() {
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      unsigned kind = trace.values[value];
      for (OpOperand &use : value.getUses())
        visit(use, kind);
    }
    return std::move(trace);
  }

private:
  void visit(OpOperand &use, unsigned kind);
  void visitTerminator(OpOperand &use, unsigned kind);
  void visitCall(CallOpInterface call, OpOperand &use, unsigned kind);
  void visitAny(OpOperand &use, unsigned kind);

  ReferenceTracer &tracer;
  func::FuncOp function;
  bool followStores;
  ReferenceTrace trace;
  SmallVector<Value> pending;
};

void ReferenceTracer::Walk::store(Value container) {
  trace.isStored = true;
  if (!followStores)
    return;
  const auto &origins = tracer.getContainers(container);
  trace.isLost |= origins.empty();
  // A copy: what follows may look for containers of another value.
  for (Value origin : SmallVector<Value>(origins.begin(), origins.end())) {
    add(origin, Holding);
    Operation *op = origin.getDefiningOp();
    if (!op) {
      trace.storedIn.insert(cast<BlockArgument>(origin).getArgNumber());
      continue;
    }
    bool isFresh = hasEffect<MemoryEffects::Allocate>(op, origin) ||
                   isa<CallOpInterface>(op);
    trace.isLost |= !isFresh;
  }
}

void ReferenceTracer::Walk::apply(CallOpInterface call, const Flow &flow) {
  for (auto [result, kind] : llvm::zip(call->getResults(), flow.returned))
    if (kind)
      add(result, kind);
  for (unsigned argument : flow.storedIn)
    store(call.getArgOperands()[argument]);
  trace.isLost |= flow.isLost;
}

void ReferenceTracer::Walk::visit(OpOperand &use, unsigned kind) {
  Operation *op = use.getOwner();
  auto forwarded = tracer.forwards.find(&use);
  if (forwarded != tracer.forwards.end()) {
    for (Value value : forwarded->second)
      add(value, kind);
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitTerminator(use, kind);
  if (kind & Direct && !isMemoryEffectFree(op))
    trace.accesses.insert(op);
  auto call = dyn_cast<CallOpInterface>(op);
  if (call && tracer.getCallee(call))
    return visitCall(call, use, kind);
  visitAny(use, kind);
}

void ReferenceTracer::Walk::visitTerminator(OpOperand &use, unsigned kind) {
  Operation *op = use.getOwner();
  if (isa<func::ReturnOp>(op)) {
    trace.returned[use.getOperandNumber()] |= kind;
    return;
  }
  // Anything may come of it.
  Operation *parent = op->getParentOp();
  for (Value result : parent->getResults())
    if (isReference(result.getType()))
      add(result, kind);
  for (Region &region : parent->getRegions())
    for (Value argument : region.getArguments())
      if (isReference(argument.getType()))
        add(argument, kind);
}

void ReferenceTracer::Walk::visitCall(CallOpInterface call, OpOperand &use,
                                      unsigned kind) {
  auto summary = tracer.summaries.find(tracer.getCallee(call));
  if (summary == tracer.summaries.end())
    return;
  for (auto [number, operand] : llvm::enumerate(call.getArgOperands())) {
    if (operand != use.get() || number >= summary->second.memory.size())
      continue;
    if (kind & Direct)
      apply(call, summary->second.memory[number]);
    if (kind & Holding)
      apply(call, summary->second.contents[number]);
  }
}

/// What an op does that says nothing of it: results of the same kind may be the
/// same memory, and what fits into memory may be stored there.
void ReferenceTracer::Walk::visitAny(OpOperand &use, unsigned kind) {
  Operation *op = use.getOwner();
  Value value = use.get();
  Type held = getHeldType(value);
  trace.isLost |= hidesReference(op);
  for (Value result : op->getResults()) {
    if (!isReference(result.getType()) ||
        hasEffect<MemoryEffects::Allocate>(op, result))
      continue;
    if (!held || result.getType() != held)
      add(result, kind);
    else if (kind & Holding)
      add(result, Direct | Holding);
  }
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      if (isReference(argument.getType()))
        add(argument, kind);
  for (Value container : op->getOperands()) {
    Type stored = getHeldType(container);
    bool fits = stored && (stored == value.getType() ||
                           (held && kind & Holding && container != value));
    if (fits && mayWrite(op, container))
      store(container);
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

func::FuncOp ReferenceTracer::getCallee(CallOpInterface call) {
  auto callee =
      dyn_cast_or_null<func::FuncOp>(call.resolveCallableInTable(&symbols));
  return callee && !callee.isExternal() ? callee : func::FuncOp();
}

/// Values that are passed on between regions and blocks.
void ReferenceTracer::collectForwards(Operation *op) {
  auto pass = [&](OperandRange operands, ValueRange inputs) {
    OpOperand *operand = operands.getBase();
    for (Value input : inputs)
      forwards[operand++].push_back(input);
  };
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    for (RegionBranchPoint point : branch.getAllRegionBranchPoints()) {
      SmallVector<RegionSuccessor> successors;
      branch.getSuccessorRegions(point, successors);
      for (const RegionSuccessor &successor : successors)
        pass(branch.getSuccessorOperands(point, successor),
             successor.getSuccessorInputs());
    }
  } else if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      pass(operands.getForwardedOperands(),
           op->getSuccessor(i)->getArguments().drop_front(
               operands.getProducedOperandCount()));
    }
  }
}

ReferenceTracer::Flow
ReferenceTracer::getFlow(const ReferenceTrace &trace) const {
  Flow flow;
  flow.returned = trace.returned;
  flow.storedIn = llvm::to_vector(trace.storedIn);
  llvm::sort(flow.storedIn);
  flow.isLost = trace.isLost;
  return flow;
}

ReferenceTrace ReferenceTracer::traceAllocation(Operation *op,
                                                unsigned argument) {
  Walk walk(*this, op->getParentOfType<func::FuncOp>(), true);
  if (isa<AllocOp>(op)) {
    walk.add(op->getResult(0), Direct);
    return walk.run();
  }
  auto call = cast<CallOpInterface>(op);
  auto summary = summaries.find(getCallee(call));
  if (summary == summaries.end())
    return walk.run();
  Flow flow = summary->second.memory[argument];
  for (unsigned &kind : flow.returned)
    kind = kind ? Direct | Holding : 0;
  walk.apply(call, flow);
  return walk.run();
}

/// What becomes of all that a function allocates from a space.
ReferenceTrace ReferenceTracer::traceSpace(func::FuncOp function,
                                           unsigned argument) {
  Walk walk(*this, function, true);
  function.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (getSpaceArgument(alloc.getSpace()) == argument)
        walk.add(alloc, Direct);
      return;
    }
    auto call = dyn_cast<CallOpInterface>(op);
    func::FuncOp callee = call ? getCallee(call) : func::FuncOp();
    auto summary = summaries.find(callee);
    if (!callee || summary == summaries.end())
      return;
    for (auto [number, operand] : llvm::enumerate(call.getArgOperands()))
      if (isa<SpaceTypeInterface>(operand.getType()) &&
          getSpaceArgument(operand) == argument)
        walk.apply(call, summary->second.memory[number]);
  });
  return walk.run();
}

ReferenceTracer::Summary ReferenceTracer::summarize(func::FuncOp function) {
  Summary summary;
  for (BlockArgument argument : function.getArguments()) {
    Flow &memory = summary.memory.emplace_back();
    Flow &contents = summary.contents.emplace_back();
    if (isa<SpaceTypeInterface>(argument.getType()))
      memory = getFlow(traceSpace(function, argument.getArgNumber()));
    if (!isReference(argument.getType()))
      continue;
    auto trace = [&](unsigned kind) {
      Walk walk(*this, function, true);
      walk.add(argument, kind);
      return getFlow(walk.run());
    };
    memory = trace(Direct);
    if (getHeldType(argument))
      contents = trace(Holding);
  }
  return summary;
}

/// Callers once more whenever what is known of a callee grows.
void ReferenceTracer::summarize() {
  DenseMap<Operation *, llvm::SmallSetVector<Operation *, 4>> callers;
  llvm::SetVector<Operation *> pending;
  module.walk([&](func::FuncOp function) {
    if (function.isExternal())
      return;
    pending.insert(function);
    function.walk([&](CallOpInterface call) {
      if (func::FuncOp callee = getCallee(call))
        callers[callee].insert(function);
    });
  });
  while (!pending.empty()) {
    auto function = cast<func::FuncOp>(pending.pop_back_val());
    Summary summary = summarize(function);
    auto known = summaries.find(function);
    if (known != summaries.end() && known->second == summary)
      continue;
    summaries[function] = std::move(summary);
    containers.clear();
    pending.insert_range(callers[function]);
  }
}

/// What memory of references a value may be, as an allocation, an argument of
/// the function, a result of a call or what was found in other memory.
const llvm::SmallSetVector<Value, 2> &
ReferenceTracer::getContainers(Value value) {
  auto function = value.getParentRegion()->getParentOfType<func::FuncOp>();
  if (auto op = dyn_cast<func::FuncOp>(value.getParentRegion()->getParentOp()))
    function = op;
  auto [known, isNew] = containers.try_emplace(function);
  if (!isNew)
    return known->second[value];
  SmallVector<Value> origins;
  for (Value argument : function.getArguments())
    if (getHeldType(argument))
      origins.push_back(argument);
  function.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      if (!getHeldType(result))
        continue;
      bool isOrigin = llvm::none_of(op->getOperandTypes(), isReference) ||
                      isa<CallOpInterface>(op) ||
                      hasEffect<MemoryEffects::Allocate>(op, result);
      for (Value operand : op->getOperands())
        isOrigin |= getHeldType(operand) == result.getType();
      if (isOrigin && !isa<RegionBranchOpInterface>(op))
        origins.push_back(result);
    }
  });
  DenseMap<Value, llvm::SmallSetVector<Value, 2>> found;
  for (Value origin : origins) {
    Walk walk(*this, function, /*followStores=*/false);
    walk.add(origin, Direct);
    for (auto &[alias, kind] : walk.run().values)
      if (kind & Direct)
        found[alias].insert(origin);
  }
  return (containers[function] = std::move(found))[value];
}

ReferenceTracer::ReferenceTracer(ModuleOp module) : module(module) {
  module.walk([&](Operation *op) { collectForwards(op); });
  summarize();
}
