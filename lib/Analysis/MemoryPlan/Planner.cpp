//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/MemoryPlan.h"

using namespace mlir;
using namespace mlir::pol;

const SpacePlan *FunctionPlan::find(unsigned argument) const {
  for (const SpacePlan &space : spaces)
    if (space.argument == argument)
      return &space;
  return nullptr;
}

MemoryPlanner::MemoryPlanner(ModuleOp module, PlacementMode mode)
    : module(module), mode(mode), sizes(module, *context), provenance(module) {
  module.walk([&](Operation *op) {
    if (isa<func::CallOp>(op))
      return;
    op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
      Operation *from = op->getParentOp();
      if (Operation *used =
              from ? symbols.lookupNearestSymbolFrom(from, symbol) : nullptr)
        addressTaken.insert(used);
    });
  });
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool MemoryPlanner::isPlanned(Type type) {
  auto space = dyn_cast<SpaceTypeInterface>(type);
  return space && !space.canRelease();
}

bool MemoryPlanner::takesSpace(func::FuncOp function) {
  return !function.isExternal() &&
         llvm::any_of(function.getArgumentTypes(), isPlanned);
}

std::optional<unsigned> MemoryPlanner::getArgument(Value space) {
  while (isPlanned(space.getType())) {
    auto argument = dyn_cast<BlockArgument>(space);
    if (!argument)
      return std::nullopt;
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto frame = dyn_cast<FrameOp>(parent)) {
      space = frame.getSpace();
      continue;
    }
    if (isa<func::FuncOp>(parent) && argument.getOwner()->isEntryBlock())
      return argument.getArgNumber();
    return std::nullopt;
  }
  return std::nullopt;
}

func::FuncOp MemoryPlanner::getCallee(func::CallOp call) {
  return symbols.lookupNearestSymbolFrom<func::FuncOp>(call,
                                                       call.getCalleeAttr());
}

Size MemoryPlanner::translate(func::CallOp call, Size expr) {
  return sizes.translate(expr, getCallee(call), call.getArgOperands());
}

Size MemoryPlanner::getBytes(AllocOp alloc,
                             std::optional<UnknownSize> &unknown) {
  auto type = cast<MemRefType>(alloc.getType());
  SmallVector<Size> extents;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i) {
    extents.push_back(sizes.getExtent(alloc, i));
    if (extents.back())
      continue;
    Value extent = alloc.getExtents()[type.getDynamicDimIndex(i)];
    unknown = sizes.getReason(extent);
    unknown->reason = "the size of this buffer does not follow from shapes: " +
                      unknown->reason;
    unknown->location =
        FusedLoc::get(alloc.getContext(), {alloc.getLoc(), unknown->location});
    return nullptr;
  }
  return context->arrayBytes(extents, getElementBytes(type.getElementType()));
}

//===----------------------------------------------------------------------===//
// What stands in the way
//===----------------------------------------------------------------------===//

std::optional<UnknownSize> MemoryPlanner::checkCall(func::CallOp call) {
  func::FuncOp callee = getCallee(call);
  std::string name = "@" + call.getCallee().str();
  if (!callee || callee.isExternal())
    return UnknownSize{call.getLoc(), name + " has no body to look into"};
  if (active.contains(callee))
    return UnknownSize{call.getLoc(), "the call of " + name + " is recursive"};
  if (getPlan(callee).unknown)
    return UnknownSize{call.getLoc(),
                       "what " + name + " allocates is not known"};
  return std::nullopt;
}

/// A space may be allocated from, opened frames on, and passed on.
std::optional<UnknownSize> MemoryPlanner::checkSpace(Value space) {
  for (Operation *user : space.getUsers()) {
    std::optional<UnknownSize> unknown;
    if (auto frame = dyn_cast<FrameOp>(user)) {
      unknown = checkSpace(frame.getFrame());
    } else if (auto call = dyn_cast<func::CallOp>(user)) {
      unknown = checkCall(call);
    } else if (auto alloc = dyn_cast<AllocOp>(user)) {
      if (!isa<MemRefType>(alloc.getType()))
        unknown = UnknownSize{alloc.getLoc(), "it is not a memref"};
    } else {
      unknown = UnknownSize{user->getLoc(),
                            "'" + user->getName().getStringRef().str() +
                                "' may do anything with the space"};
    }
    if (!unknown && getEnclosingParallel(user))
      unknown = UnknownSize{user->getLoc(), "it is in a parallel region"};
    if (unknown)
      return unknown;
  }
  return std::nullopt;
}

std::optional<UnknownSize> MemoryPlanner::findObstacle(func::FuncOp function) {
  if (addressTaken.contains(function))
    return UnknownSize{function.getLoc(), "the function's address is taken"};
  Operation *unstructured = nullptr, *passesOther = nullptr;
  function.walk([&](Operation *op) {
    // A frame on a heap, say, which has no slab.
    if (isa<func::CallOp>(op) && llvm::any_of(op->getOperands(), [](Value v) {
          return isPlanned(v.getType()) && !getArgument(v);
        }))
      passesOther = op;
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.hasOneBlock())
        unstructured = op;
  });
  if (!isa<func::ReturnOp>(function.getBody().back().getTerminator()))
    unstructured = function;
  if (unstructured)
    return UnknownSize{unstructured->getLoc(),
                       "its control flow is not structured"};
  if (passesOther)
    return UnknownSize{passesOther->getLoc(),
                       "it passes on a space that is not of its arguments"};
  for (BlockArgument argument : function.getArguments()) {
    if (!isPlanned(argument.getType()))
      continue;
    // It counts as shared with itself.
    if (provenance.getSpacesBelow(argument).size() > 1)
      return UnknownSize{argument.getLoc(),
                         "two of its spaces may be the same"};
    if (auto unknown = checkSpace(argument))
      return unknown;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

const FunctionPlan &MemoryPlanner::getPlan(func::FuncOp function) {
  if (auto found = plans.find(function); found != plans.end())
    return *found->second;
  active.insert(function);
  auto plan = std::make_unique<FunctionPlan>(makePlan(function));
  active.erase(function);
  return *(plans[function] = std::move(plan));
}

FunctionPlan MemoryPlanner::makePlan(func::FuncOp function) {
  FunctionPlan plan{function, {}, findObstacle(function)};
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (plan.unknown)
      break;
    if (!isPlanned(type))
      continue;
    SpacePlan &space = plan.spaces.emplace_back();
    space.argument = number;
    plan.unknown = planSpace(function, space);
  }
  if (plan.unknown)
    plan.spaces.clear();
  return plan;
}

bool mlir::pol::mayRepeat(Operation *op) {
  if (isa<FrameOp, scf::IfOp, scf::IndexSwitchOp>(op))
    return false;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return !branch || branch.hasLoop() || op->getNumRegions() != 1;
}

UnknownSize mlir::pol::getUnknownCallee(func::CallOp call) {
  return {call.getLoc(), "what @" + call.getCallee().str() +
                             " allocates does not follow from the shapes here"};
}

UnknownSize mlir::pol::getUnknownTrips(Operation *loop) {
  return {loop->getLoc(), "every trip of this loop allocates something that "
                          "stays, and how many there are does not follow from "
                          "shapes"};
}

std::string mlir::pol::describePlace(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

Size mlir::pol::getLoopBytes(SizeContext &context, Size trips, Size stride,
                             Size last) {
  Size zero = context.constant(0);
  Size before = context.mulBytes(
      context.get(SizeOp::Sub, {trips, context.constant(1)}), stride);
  return context.ifAny(
      trips, context.ifAny(last, context.addBytes(before, last), zero), zero);
}

/// Sizes of loops that carry something, from those of their bodies.
static void finishLoop(SizeContext &context, std::vector<MemoryScope> &scopes,
                       MemoryScope &scope) {
  for (MemoryScope &outer : scopes)
    for (MemoryItem &item : outer.items) {
      if (item.op != scope.op)
        continue;
      // As yet the bytes are the number of trips.
      Size trips = scope.trips = item.bytes;
      scope.stride = context.alignBytes(scope.kept);
      for (auto [whole, part] : {std::pair(&item.bytes, &scope.bytes),
                                 std::pair(&item.kept, &scope.kept)})
        *whole = *part = getLoopBytes(context, trips, scope.stride, *part);
    }
}

std::optional<UnknownSize> MemoryPlanner::planSpace(func::FuncOp function,
                                                    SpacePlan &plan) {
  ProgramPoints points(function);
  if (mode == PlacementMode::Bump)
    return simulateBump(*this, function, points, plan, /*assign=*/true);
  simulateBump(*this, function, points, plan, /*assign=*/false);
  if (auto unknown = findLiveRanges(*this, function, points, plan))
    return unknown;
  unsigned numParameters = getSizeParameters(function).size();
  // Scopes of inner loops come after those of outer ones.
  for (MemoryScope &scope : llvm::reverse(plan.scopes)) {
    shareInPlace(provenance, points, scope);
    placeItems(*context, scope, numParameters);
    if (scope.op != function)
      finishLoop(*context, plan.scopes, scope);
  }
  return std::nullopt;
}
