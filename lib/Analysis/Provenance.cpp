//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Provenance.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

bool FunctionSummary::operator==(const FunctionSummary &other) const {
  return returnedArguments == other.returnedArguments &&
         returnedAllocations == other.returnedAllocations &&
         storedArguments == other.storedArguments;
}

/// Whether a value refers to memory, or is a place to get some.
static bool isTracked(Value value) {
  return isa<TensorType, BaseMemRefType, SpaceTypeInterface>(value.getType());
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

const Origins &Provenance::get(Value value) const {
  static const Origins none;
  auto found = origins.find(value);
  return found == origins.end() ? none : found->second;
}

Origins Provenance::getSpaces(Value origin) const {
  if (auto alloc = origin.getDefiningOp<AllocOp>())
    return get(alloc.getSpace());
  auto found = callSpaces.find(origin);
  return found == callSpaces.end() ? Origins() : found->second;
}

const FunctionSummary *Provenance::getSummary(func::FuncOp function) const {
  auto found = summaries.find(function);
  return found == summaries.end() ? nullptr : &found->second;
}

ArrayRef<ReferenceStore> Provenance::getStores(func::FuncOp function) const {
  auto found = stores.find(function);
  return found == stores.end() ? ArrayRef<ReferenceStore>() : found->second;
}

bool Provenance::isStored(Value origin) const {
  return llvm::any_of(contents, [&](const auto &entry) {
    return entry.second.contains(origin);
  });
}

Operation *mlir::pol::getEnclosingParallel(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !isa<scf::ParallelOp, scf::ForallOp>(parent))
    parent = parent->getParentOp();
  return parent;
}

static FrameOp getFrameOfSpace(Value space) {
  auto argument = dyn_cast<BlockArgument>(space);
  return argument ? dyn_cast<FrameOp>(argument.getOwner()->getParentOp())
                  : FrameOp();
}

Frames Provenance::getFrames(Value origin) const {
  Frames frames;
  Origins spaces = getSpaces(origin);
  // A frame as a value goes with itself.
  if (isa<SpaceTypeInterface>(origin.getType()))
    spaces.insert(origin);
  for (Value space : spaces)
    if (FrameOp frame = getFrameOfSpace(space))
      frames.insert(frame);

  // What a callee allocates from a space on which the caller has a frame open
  // lies above that frame's mark, and goes with it.
  if (!callSpaces.contains(origin))
    return frames;
  for (auto frame = origin.getDefiningOp()->getParentOfType<FrameOp>(); frame;
       frame = frame->getParentOfType<FrameOp>()) {
    Origins below = get(frame.getSpace());
    for (size_t i = 0; i < below.size(); ++i)
      if (FrameOp outer = getFrameOfSpace(below[i]))
        for (Value space : get(outer.getSpace()))
          below.insert(space);
    if (llvm::any_of(spaces, [&](Value space) { return below.contains(space); }))
      frames.insert(frame);
  }
  return frames;
}

//===----------------------------------------------------------------------===//
// Transfer
//===----------------------------------------------------------------------===//

bool Provenance::addOrigin(Value into, Value origin) {
  return origins[into].insert(origin);
}

bool Provenance::join(Value into, Value from) {
  if (into == from || !isTracked(into) || !isTracked(from))
    return false;
  bool changed = false;
  // A copy: the insertion below may move the map's values.
  Origins sources = get(from);
  for (Value origin : sources)
    changed |= addOrigin(into, origin);
  return changed;
}

bool Provenance::addStore(Operation *op, Value what, Value where) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<ReferenceStore> &known = stores[function];
  bool changed = llvm::none_of(known, [&](const ReferenceStore &store) {
    return store.op == op && store.what == what && store.where == where;
  });
  if (changed)
    known.push_back({op, what, where});
  Origins targets = get(where);
  Origins sources = get(what);
  for (Value target : targets)
    for (Value source : sources)
      changed |= contents[target].insert(source);
  return changed;
}

bool Provenance::visitCall(CallOpInterface call) {
  Operation *callee = call.resolveCallable();
  auto function = dyn_cast_or_null<func::FuncOp>(callee);
  bool changed = false;
  if (!function || function.isExternal()) {
    // Nothing is known. A memref may be any that went in; the check on tensors
    // gives the benefit of the doubt.
    for (Value result : call->getResults())
      if (isa<BaseMemRefType>(result.getType()))
        for (Value argument : call.getArgOperands())
          changed |= join(result, argument);
    return changed;
  }
  FunctionSummary summary = summaries.lookup(function);
  OperandRange arguments = call.getArgOperands();
  for (auto [index, sources] : llvm::enumerate(summary.returnedArguments))
    for (unsigned argument : sources)
      changed |= join(call->getResult(index), arguments[argument]);
  for (auto [index, spaces] : llvm::enumerate(summary.returnedAllocations)) {
    Value result = call->getResult(index);
    if (!spaces.empty())
      changed |= addOrigin(result, result);
    for (unsigned argument : spaces)
      for (Value space : Origins(get(arguments[argument])))
        changed |= callSpaces[result].insert(space);
  }
  for (auto [what, where] : summary.storedArguments)
    changed |= addStore(call, arguments[what], arguments[where]);
  return changed;
}

/// Ops whose results may be their operands in ways that nothing declares.
static bool mayAliasUndeclared(Operation *op, Value operand, Value result) {
  // An allocation is fresh; every other memref made from one may be the same
  // memory. Tensors are values: ops that say nothing make new ones.
  if (!isa<BaseMemRefType>(result.getType()))
    return isa<SpaceTypeInterface>(result.getType()) &&
           isa<SpaceTypeInterface>(operand.getType());
  return isa<BaseMemRefType>(operand.getType()) &&
         !hasEffect<MemoryEffects::Allocate>(op, result);
}

bool Provenance::visitGeneric(Operation *op) {
  bool changed = false;
  // What comes from nothing that is tracked is a place of its own.
  if (llvm::none_of(op->getOperands(), isTracked)) {
    for (Value result : op->getResults())
      if (isa<BaseMemRefType, SpaceTypeInterface>(result.getType()))
        changed |= addOrigin(result, result);
    return changed;
  }
  auto bufferizable = dyn_cast<bufferization::BufferizableOpInterface>(op);
  static const bufferization::BufferizationOptions options;
  bufferization::AnalysisState state(options);
  auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTracked(operand.get()))
      continue;
    bool isTensor = isa<TensorType>(operand.get().getType());
    if (isTensor && destinationStyle) {
      if (destinationStyle.isDpsInit(&operand))
        changed |= join(destinationStyle.getTiedOpResult(&operand),
                        operand.get());
      continue;
    }
    if (isTensor && bufferizable) {
      for (const bufferization::AliasingValue &alias :
           bufferizable.getAliasingValues(operand, state))
        changed |= join(alias.value, operand.get());
      continue;
    }
    for (Value result : op->getResults())
      if (mayAliasUndeclared(op, operand.get(), result))
        changed |= join(result, operand.get());
  }
  return changed;
}

bool Provenance::visitOp(Operation *op) {
  bool changed = false;
  if (auto alloc = dyn_cast<AllocOp>(op))
    return addOrigin(alloc, alloc);
  if (isa<bufferization::ToTensorOp, bufferization::ToBufferOp>(op))
    return join(op->getResult(0), op->getOperand(0));
  if (auto frame = dyn_cast<FrameOp>(op))
    changed |= addOrigin(frame.getFrame(), frame.getFrame());
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return isTracked(store.getValue())
               ? addStore(op, store.getValue(), store.getMemRef())
               : false;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (isTracked(load))
      for (Value container : Origins(get(load.getMemRef())))
        for (Value origin : Origins(contents.lookup(container)))
          changed |= addOrigin(load, origin);
    return changed;
  }
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    for (OpOperand &output : forall.getOutputsMutable()) {
      changed |= join(forall.getTiedBlockArgument(&output), output.get());
      changed |= join(forall.getTiedOpResult(&output), output.get());
    }
    return changed;
  }
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchSuccessorMapping mapping;
    branch.getSuccessorOperandInputMapping(mapping);
    for (auto &[operand, inputs] : mapping)
      for (Value input : inputs)
        changed |= join(input, operand->get());
    return changed;
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      Block *successor = op->getSuccessor(i);
      for (unsigned j = 0, f = operands.size(); j < f; ++j)
        if (Value operand = operands[j])
          changed |= join(successor->getArgument(j), operand);
    }
    return changed;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return changed;
  return visitGeneric(op) || changed;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Provenance::visitFunction(func::FuncOp function) {
  bool changed = false;
  for (BlockArgument argument : function.getArguments())
    if (isTracked(argument))
      changed |= addOrigin(argument, argument);
  bool again = true;
  while (again) {
    again = false;
    function.walk([&](Operation *op) { again |= visitOp(op); });
    changed |= again;
  }
  return changed;
}

static std::optional<unsigned> getArgumentNumber(func::FuncOp function,
                                                 Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  return argument.getArgNumber();
}

FunctionSummary Provenance::summarize(func::FuncOp function) const {
  FunctionSummary summary;
  summary.returnedArguments.resize(function.getNumResults());
  summary.returnedAllocations.resize(function.getNumResults());
  function.walk([&](func::ReturnOp ret) {
    for (auto [index, value] : llvm::enumerate(ret.getOperands()))
      for (Value origin : get(value)) {
        if (auto number = getArgumentNumber(function, origin))
          summary.returnedArguments[index].insert(*number);
        for (Value space : getSpaces(origin))
          if (auto number = getArgumentNumber(function, space))
            summary.returnedAllocations[index].insert(*number);
      }
  });
  for (const ReferenceStore &store : getStores(function))
    for (Value what : get(store.what))
      for (Value where : get(store.where)) {
        auto from = getArgumentNumber(function, what);
        auto to = getArgumentNumber(function, where);
        if (from && to)
          summary.storedArguments.insert({*from, *to});
      }
  return summary;
}

Provenance::Provenance(ModuleOp module) : module(module) {
  // Summaries only grow, so this ends, recursion or not.
  bool again = true;
  while (again) {
    again = false;
    module.walk([&](func::FuncOp function) {
      if (function.isExternal())
        return;
      again |= visitFunction(function);
      FunctionSummary summary = summarize(function);
      if (!(summaries[function] == summary)) {
        summaries[function] = std::move(summary);
        again = true;
      }
    });
  }
}
