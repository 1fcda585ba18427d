//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Provenance.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pol;

bool FunctionSummary::operator==(const FunctionSummary &other) const {
  return returned == other.returned && stored == other.stored;
}

/// Whether a value refers to memory, or is a place to get some.
static bool isTracked(Value value) {
  return isa<TensorType, BaseMemRefType, SpaceTypeInterface>(value.getType());
}

static bool isSpace(Value value) {
  return isa<SpaceTypeInterface>(value.getType());
}

/// Whether a memref holds references to memory.
static bool holdsReferences(Value value) {
  auto type = dyn_cast<BaseMemRefType>(value.getType());
  return type && isa<BaseMemRefType>(type.getElementType());
}

/// Whether all that memory holds is what this function stored in it.
static bool isFresh(Value origin) {
  return isa_and_nonnull<AllocOp, memref::AllocOp, memref::AllocaOp>(
      origin.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

const Origins &Provenance::get(Value value) const {
  static const Origins none;
  auto found = origins.find(value);
  return found == origins.end() ? none : found->second;
}

Origins Provenance::getReachable(Value value) const {
  Origins reachable = get(value);
  for (size_t i = 0; i < reachable.size(); ++i)
    if (auto held = contents.find(reachable[i]); held != contents.end())
      reachable.insert_range(held->second);
  return reachable;
}

Origins Provenance::getSpaces(Value origin) const {
  if (auto alloc = origin.getDefiningOp<AllocOp>())
    return get(alloc.getSpace());
  auto found = callSpaces.find(origin);
  return found == callSpaces.end() ? Origins() : found->second;
}

ArrayRef<ReferenceStore> Provenance::getStores(func::FuncOp function) const {
  auto found = stores.find(function);
  return found == stores.end() ? ArrayRef<ReferenceStore>() : found->second;
}

Operation *mlir::pol::getEnclosingParallel(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !parent->hasTrait<OpTrait::HasParallelRegion>() &&
         !isa<affine::AffineParallelOp, gpu::LaunchOp, omp::ParallelOp>(parent))
    parent = parent->getParentOp();
  return parent;
}

bool mlir::pol::mayRepeatWithin(Operation *op, Operation *ancestor) {
  for (Region *region = op->getParentRegion();
       region && region->getParentOp() != ancestor;
       region = region->getParentRegion()) {
    auto branch = dyn_cast<RegionBranchOpInterface>(region->getParentOp());
    if (!branch || !region->hasOneBlock() ||
        isa<LoopLikeOpInterface>(*branch) ||
        branch.isRepetitiveRegion(region->getRegionNumber()))
      return true;
  }
  return false;
}

static FrameOp getFrameOfSpace(Value space) {
  auto argument = dyn_cast<BlockArgument>(space);
  return argument
             ? dyn_cast_or_null<FrameOp>(argument.getOwner()->getParentOp())
             : FrameOp();
}

static std::optional<unsigned> getArgumentNumber(func::FuncOp function,
                                                 Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  return argument.getArgNumber();
}

Origins Provenance::getSpacesBelow(Value space) const {
  Origins below = get(space);
  for (size_t i = 0; i < below.size(); ++i) {
    if (FrameOp frame = getFrameOfSpace(below[i])) {
      below.insert_range(Origins(get(frame.getSpace())));
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(below[i]);
    if (!argument)
      continue;
    auto shared = sharing.find(argument.getOwner()->getParentOp());
    if (shared == sharing.end() || !argument.getOwner()->isEntryBlock())
      continue;
    for (auto [left, right] : shared->second) {
      if (left == argument.getArgNumber())
        below.insert(argument.getOwner()->getArgument(right));
      if (right == argument.getArgNumber())
        below.insert(argument.getOwner()->getArgument(left));
    }
  }
  return below;
}

Frames Provenance::getOpenFrames(Operation *op, const Origins &spaces) const {
  Frames frames;
  for (Value space : spaces) {
    Origins own = getSpacesBelow(space);
    for (auto frame = op->getParentOfType<FrameOp>(); frame;
         frame = frame->getParentOfType<FrameOp>()) {
      // Frames beyond the space's own are below it.
      if (frame.getFrame() == space)
        break;
      Origins below = getSpacesBelow(frame.getSpace());
      if (llvm::any_of(own,
                       [&](Value origin) { return below.contains(origin); }))
        frames.insert(frame);
    }
  }
  return frames;
}

Frames Provenance::getFrames(Value origin) const {
  Frames frames;
  Origins spaces = getSpaces(origin);
  // A frame as a value goes with itself.
  if (isSpace(origin))
    spaces.insert(origin);
  for (Value space : spaces)
    if (FrameOp frame = getFrameOfSpace(space))
      frames.insert(frame);
  if (callSpaces.contains(origin))
    frames.insert_range(getOpenFrames(origin.getDefiningOp(), spaces));
  return frames;
}

bool mlir::pol::mayKeepReference(Operation *user) {
  if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
    return true;
  auto isOpaque = [](Value result) {
    Type type = result.getType();
    return !isTracked(result) && !type.isIntOrIndexOrFloat() &&
           !isa<ComplexType, MarkType, NoneType, VectorType>(type);
  };
  // What gives a token may run its body later, and use what it captures then.
  for (Operation *op = user; op && !isa<FunctionOpInterface>(op);
       op = op->getParentOp())
    if (llvm::any_of(op->getResults(), isOpaque))
      return true;
  return false;
}

Operation *Provenance::getLastUseInBlock(AllocOp alloc) const {
  auto isStored = [&](const auto &entry) {
    return entry.second.contains(alloc.getResult());
  };
  if (llvm::any_of(contents, isStored))
    return nullptr;
  Operation *last = alloc;
  for (const auto &[value, sources] : origins) {
    if (!sources.contains(alloc.getResult()))
      continue;
    for (Operation *user : value.getUsers()) {
      Operation *inBlock = alloc->getBlock()->findAncestorOpInBlock(*user);
      if (!inBlock || inBlock->hasTrait<OpTrait::IsTerminator>() ||
          mayKeepReference(user))
        return nullptr;
      if (last->isBeforeInBlock(inBlock))
        last = inBlock;
    }
  }
  return last;
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

/// Adds what one origin's memory holds references to.
bool Provenance::addContents(Value into, Value container) {
  // What a call returns may hold references to an argument, which then counts
  // as its origin.
  if (auto type = dyn_cast<BaseMemRefType>(container.getType());
      type && type.getElementType() != into.getType() &&
      !callSpaces.contains(container))
    return addOrigin(into, container);
  bool changed = false;
  Origins held = contents.lookup(container);
  for (Value origin : held)
    changed |= addOrigin(into, origin);
  if (isFresh(container))
    return changed;
  // Somebody else filled it, too. What a call returns stands for all that can
  // be reached from it.
  if (callSpaces.contains(container))
    return addOrigin(into, container) || changed;
  changed |= addOrigin(into, into);
  return containers[into].insert(container) || changed;
}

bool Provenance::visitLoad(Value result, Value container) {
  bool changed = false;
  Origins from = get(container);
  for (Value origin : from)
    changed |= addContents(result, origin);
  return changed;
}

/// What an op that may write to a container may store in it.
bool Provenance::visitStore(Operation *op, Value container) {
  if (isa<MemoryEffectOpInterface>(op) &&
      !hasEffect<MemoryEffects::Write>(op, container))
    return false;
  auto element = cast<BaseMemRefType>(container.getType()).getElementType();
  bool changed = false;
  for (Value operand : op->getOperands()) {
    if (operand.getType() == element) {
      changed |= addStore(op, operand, container);
    } else if (operand != container && holdsReferences(operand)) {
      for (Value source : Origins(get(operand)))
        for (Value held : Origins(contents.lookup(source)))
          changed |= addStore(op, held, container);
    }
  }
  return changed;
}

/// Nothing is known about what is called. A memref may be any that went in, or
/// come from any space that did; the check on tensors gives the benefit of the
/// doubt.
bool Provenance::visitUnknownCall(CallOpInterface call) {
  bool changed = false;
  for (Value result : call->getResults()) {
    if (!isa<BaseMemRefType, SpaceTypeInterface>(result.getType()))
      continue;
    for (Value argument : call.getArgOperands()) {
      if (isSpace(argument) && !isSpace(result)) {
        changed |= addOrigin(result, result);
        for (Value space : Origins(get(argument)))
          changed |= callSpaces[result].insert(space);
      } else {
        changed |= join(result, argument);
      }
    }
  }
  return changed;
}

bool Provenance::shareSpaces(func::FuncOp function, ValueRange arguments) {
  bool changed = false;
  for (auto [i, left] : llvm::enumerate(arguments)) {
    if (!isSpace(left))
      continue;
    Origins below = getSpacesBelow(left);
    for (size_t j = i + 1; j < arguments.size(); ++j)
      if (isSpace(arguments[j]) &&
          llvm::any_of(getSpacesBelow(arguments[j]),
                       [&](Value space) { return below.contains(space); }))
        changed |= sharing[function].insert({i, j});
  }
  return changed;
}

bool Provenance::visitCall(CallOpInterface call) {
  auto function =
      dyn_cast_or_null<func::FuncOp>(call.resolveCallableInTable(&symbols));
  if (!function || function.isExternal())
    return visitUnknownCall(call);
  OperandRange arguments = call.getArgOperands();
  bool changed = shareSpaces(function, arguments);
  FunctionSummary summary = summaries.lookup(function);
  for (auto [result, sources] : llvm::zip(call->getResults(), summary.returned))
    for (auto [kind, number] : sources) {
      if (kind == SourceKind::Argument) {
        changed |= join(result, arguments[number]);
      } else if (kind == SourceKind::Contents) {
        changed |= visitLoad(result, arguments[number]);
      } else {
        changed |= addOrigin(result, result);
        for (Value space : Origins(get(arguments[number])))
          changed |= callSpaces[result].insert(space);
      }
    }
  for (auto [what, where] : summary.stored) {
    if (what.first != SourceKind::Contents) {
      changed |= addStore(call, arguments[what.second], arguments[where]);
      continue;
    }
    for (Value container : Origins(get(arguments[what.second])))
      for (Value held : Origins(contents.lookup(container)))
        changed |= addStore(call, held, arguments[where]);
  }
  return changed;
}

/// Ops whose results may be their operands in ways that nothing declares.
static bool mayAliasUndeclared(Operation *op, Value operand, Value result) {
  // An allocation is fresh; every other memref made from one may be the same
  // memory. Tensors are values: ops that say nothing make new ones.
  if (!isa<BaseMemRefType>(result.getType()))
    return isSpace(result) && isSpace(operand);
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
        changed |=
            join(destinationStyle.getTiedOpResult(&operand), operand.get());
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

/// Calls, branches and region ops.
bool Provenance::visitControlFlow(Operation *op) {
  bool changed = false;
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    for (OpOperand &output : forall.getOutputsMutable()) {
      changed |= join(forall.getTiedBlockArgument(&output), output.get());
      changed |= join(forall.getTiedOpResult(&output), output.get());
    }
  } else if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchSuccessorMapping mapping;
    branch.getSuccessorOperandInputMapping(mapping);
    for (auto &[operand, inputs] : mapping)
      for (Value input : inputs)
        changed |= join(input, operand->get());
  } else if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      Block *successor = op->getSuccessor(i);
      for (unsigned j = 0, f = operands.size(); j < f; ++j)
        if (Value operand = operands[j])
          changed |= join(successor->getArgument(j), operand);
    }
  }
  return changed;
}

bool Provenance::visitOp(Operation *op) {
  bool changed = false;
  if (auto alloc = dyn_cast<AllocOp>(op))
    return addOrigin(alloc, alloc);
  if (isa<bufferization::ToTensorOp, bufferization::ToBufferOp>(op))
    return join(op->getResult(0), op->getOperand(0));
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  if (auto frame = dyn_cast<FrameOp>(op))
    changed |= addOrigin(frame.getFrame(), frame.getFrame());
  if (isa<RegionBranchOpInterface, BranchOpInterface, scf::ForallOp>(op))
    return visitControlFlow(op) || changed;
  if (op->hasTrait<OpTrait::IsTerminator>())
    return changed;
  // References in memory: what an op does with them is told from types and
  // effects.
  bool loads = false;
  for (Value container : op->getOperands()) {
    if (!holdsReferences(container))
      continue;
    auto element = cast<BaseMemRefType>(container.getType()).getElementType();
    for (Value result : op->getResults())
      if (result.getType() == element) {
        loads = true;
        changed |= visitLoad(result, container);
      }
    changed |= visitStore(op, container);
  }
  return (!loads && visitGeneric(op)) || changed;
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

/// What an origin is, seen from outside of the function.
Sources Provenance::getSources(func::FuncOp function, Value origin) const {
  Sources sources;
  if (auto number = getArgumentNumber(function, origin))
    sources.insert({SourceKind::Argument, *number});
  for (Value space : getSpaces(origin))
    if (auto number = getArgumentNumber(function, space))
      sources.insert({SourceKind::Allocation, *number});
  Origins from = containers.lookup(origin);
  for (size_t i = 0; i < from.size(); ++i) {
    if (auto number = getArgumentNumber(function, from[i]))
      sources.insert({SourceKind::Contents, *number});
    from.insert_range(containers.lookup(from[i]));
  }
  return sources;
}

FunctionSummary Provenance::summarize(func::FuncOp function) const {
  FunctionSummary summary;
  summary.returned.resize(function.getNumResults());
  function.walk([&](func::ReturnOp ret) {
    for (auto [index, value] : llvm::enumerate(ret.getOperands()))
      for (Value origin : getReachable(value))
        summary.returned[index].insert_range(getSources(function, origin));
  });
  for (const ReferenceStore &store : getStores(function))
    for (Value where : get(store.where))
      for (Source target : getSources(function, where)) {
        if (target.first == SourceKind::Allocation)
          continue;
        for (Value what : get(store.what)) {
          bool isAllocation = isSpace(what);
          for (auto [kind, number] : getSources(function, what))
            summary.stored.insert(
                {{isAllocation ? SourceKind::Allocation : kind, number},
                 target.second});
        }
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
