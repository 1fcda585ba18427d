//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A plan as a list of buffers, those of callees included.

#include "pol/Analysis/MemoryPlan.h"
#include "pol/Analysis/PlanDescription.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// A function as it is called, from a caller as it is called, and so on.
struct Activation {
  const FunctionPlan *plan;
  /// The function's parameters in those of the outermost one.
  SmallVector<Size> parameters;
  /// Where the slab for a space argument is.
  struct Region {
    unsigned space;
    Size offset;
    /// Of a loop whose trips have memory of their own; null if there is none.
    Size times, stride;
    /// When the function's caller is done with what the slab keeps.
    int64_t end;
  };
  DenseMap<unsigned, Region> regions;
  /// The steps of the function's program points.
  std::vector<int64_t> steps;
  std::vector<std::pair<func::CallOp, std::unique_ptr<Activation>>> calls;

  int64_t getStep(int64_t point) const { return steps[point]; }
  /// Of a half-open end.
  int64_t getEnd(int64_t point) const { return steps[point - 1] + 1; }
};

class PlanDescriber {
public:
  PlanDescriber(MemoryPlanner &planner, PlanDescription &description)
      : planner(planner), context(planner.getContext()),
        description(description) {}
  void describe(const FunctionPlan &plan);

private:
  void number(Operation *op, Activation &activation);
  void enter(func::CallOp call, Activation &caller);
  void addBuffers(const Activation &activation);
  void addItem(const Activation &activation, const MemoryItem &item,
               const MemoryScope &scope, Activation::Region region);
  void addCall(const Activation &activation, const MemoryItem &item,
               Activation::Region region);

  MemoryPlanner &planner;
  SizeContext &context;
  PlanDescription &description;
  int64_t now = 0;
  /// Calls that are looked into, so that there is an end to it.
  int64_t budget = 10000;
};
} // namespace

/// Program points become steps in the order in which they are numbered.
void PlanDescriber::number(Operation *op, Activation &activation) {
  activation.steps.push_back(now++);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner, activation);
  if (auto call = dyn_cast<func::CallOp>(op))
    enter(call, activation);
  activation.steps.push_back(now++);
}

void PlanDescriber::enter(func::CallOp call, Activation &caller) {
  if (llvm::none_of(call.getOperandTypes(), MemoryPlanner::isPlanned) ||
      --budget < 0)
    return;
  auto activation = std::make_unique<Activation>();
  func::FuncOp callee = planner.getCallee(call);
  activation->plan = &planner.getPlan(callee);
  for (SizeParameter parameter : getSizeParameters(callee)) {
    Size size =
        planner.getSizes().getArgument(call.getArgOperands(), parameter);
    activation->parameters.push_back(
        size ? context.substitute(size, caller.parameters) : nullptr);
  }
  number(callee, *activation);
  caller.calls.emplace_back(call, std::move(activation));
}

void PlanDescriber::addItem(const Activation &activation,
                            const MemoryItem &item, const MemoryScope &scope,
                            Activation::Region region) {
  auto translate = [&](Size size) {
    return context.substitute(size, activation.parameters);
  };
  Size offset = translate(item.offset), bytes = translate(item.bytes);
  // Of what is only known where it is called from, nothing can be said.
  if (!offset || !bytes)
    return;
  region.offset = context.addBytes(region.offset, offset);
  if (isa<func::CallOp>(item.op))
    return addCall(activation, item, region);
  auto alloc = dyn_cast<AllocOp>(item.op);
  if (!alloc || !item.isUsed())
    return;
  func::FuncOp function = activation.plan->function;
  PlannedBuffer buffer;
  buffer.name = alloc.getName().value_or("").str();
  buffer.kernel = alloc.getKernel().value_or("").str();
  if (alloc.getRole())
    buffer.role = stringifyBufferRole(*alloc.getRole()).str();
  buffer.location = describePlace(alloc.getLoc());
  buffer.function = function.getSymName().str();
  buffer.bytes = bytes;
  buffer.offset = region.offset;
  buffer.times = region.times;
  buffer.stride = region.stride;
  buffer.begin = activation.getStep(item.begin);
  bool outlives = item.escapes && scope.op == function;
  buffer.end = outlives ? region.end : activation.getEnd(item.end);
  // What is taken over in place is no longer this buffer.
  for (const MemoryItem &other : scope.items)
    if (other.inPlaceOf >= 0 && &scope.items[other.inPlaceOf] == &item)
      buffer.end = activation.getStep(other.begin);
  description.spaces[region.space].buffers.push_back(std::move(buffer));
}

void PlanDescriber::addCall(const Activation &activation,
                            const MemoryItem &item, Activation::Region region) {
  for (auto &[call, inside] : activation.calls) {
    if (call != item.op)
      continue;
    if (!item.escapes)
      region.end = activation.getEnd(item.end);
    inside->regions[item.argument] = region;
    return;
  }
}

void PlanDescriber::addBuffers(const Activation &activation) {
  for (const SpacePlan &space : activation.plan->spaces) {
    auto found = activation.regions.find(space.argument);
    if (found == activation.regions.end())
      continue;
    // Where the scopes of loops begin: outer ones come first.
    DenseMap<Operation *, Size> starts;
    for (const MemoryScope &scope : space.scopes) {
      Activation::Region region = found->second;
      auto translate = [&](Size size) {
        return size ? context.substitute(size, activation.parameters) : nullptr;
      };
      if (Size start = starts.lookup(scope.op)) {
        region.offset = start;
        region.times = translate(scope.trips);
        region.stride = translate(scope.stride);
      }
      for (const MemoryItem &item : scope.items) {
        Size offset = translate(item.offset);
        if (!isa<AllocOp, func::CallOp>(item.op) && offset)
          starts[item.op] = context.addBytes(region.offset, offset);
        addItem(activation, item, scope, region);
      }
    }
  }
  for (auto &[call, inside] : activation.calls)
    addBuffers(*inside);
}

void PlanDescriber::describe(const FunctionPlan &plan) {
  Activation outermost;
  outermost.plan = &plan;
  func::FuncOp function = plan.function;
  description.function = function.getSymName().str();
  for (auto [index, parameter] : llvm::enumerate(getSizeParameters(function))) {
    outermost.parameters.push_back(context.parameter(index));
    description.parameters.emplace_back(parameter.argument,
                                        parameter.dimension);
  }
  number(function, outermost);
  description.steps = now;
  for (auto [index, space] : llvm::enumerate(plan.spaces)) {
    description.spaces.push_back(
        {space.argument, space.getBytes(), space.getKept(), space.bumpBytes});
    outermost.regions[space.argument] = {static_cast<unsigned>(index),
                                         context.constant(0), nullptr, nullptr,
                                         now};
  }
  addBuffers(outermost);
}

ModulePlan MemoryPlanner::describe() {
  ModulePlan plan{context, {}};
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || !takesSpace(function) ||
        getPlan(function).unknown)
      continue;
    PlanDescriber(*this, plan.functions.emplace_back())
        .describe(getPlan(function));
  }
  return plan;
}
