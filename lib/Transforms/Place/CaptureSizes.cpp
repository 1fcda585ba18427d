//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaptureSizes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// The values that one set of sizes is computed from.
class CaptureSizes::Slice {
public:
  explicit Slice(CaptureSizes &analysis) : analysis(analysis) {}
  SizeSources follow(ValueRange sizes);

private:
  void add(ValueRange values) { worklist.append(values.begin(), values.end()); }
  void addTerminators(Region &region);
  void visitArgument(BlockArgument argument);
  void visitCall(CallOpInterface call, OpResult result);
  void visitResult(OpResult result);

  CaptureSizes &analysis;
  SizeSources sources;
  SmallVector<Value> worklist;
  DenseSet<Value> visited;
};

SizeSources CaptureSizes::Slice::follow(ValueRange sizes) {
  add(sizes);
  while (!worklist.empty() && !sources.data) {
    Value value = worklist.pop_back_val();
    // Where a buffer is has no part in its shape.
    if (isa<SpaceTypeInterface>(value.getType()) ||
        !visited.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value))
      visitArgument(argument);
    else
      visitResult(cast<OpResult>(value));
  }
  return std::move(sources);
}

/// What leaves the blocks of a region, and decides where to.
void CaptureSizes::Slice::addTerminators(Region &region) {
  for (Block &block : region)
    if (block.mightHaveTerminator())
      add(block.getTerminator()->getOperands());
}

void CaptureSizes::Slice::visitArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (!block->isEntryBlock())
    return addTerminators(*block->getParent());
  if (isa<FunctionOpInterface>(parent)) {
    sources.arguments.insert(argument.getArgNumber());
    return;
  }
  // Of a loop: its bounds, and what is carried from trip to trip.
  add(parent->getOperands());
  for (Region &region : parent->getRegions())
    addTerminators(region);
}

void CaptureSizes::Slice::visitCall(CallOpInterface call, OpResult result) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      call.resolveCallableInTable(&analysis.symbols));
  if (!callee || callee.isExternal()) {
    sources.data = call;
    return;
  }
  SizeSources inside = analysis.getReturned(callee, result.getResultNumber());
  sources.data = inside.data;
  for (unsigned number : inside.arguments)
    add(call.getArgOperands()[number]);
}

/// Whether what an op results in is a function of its operands' values and
/// shapes. An allocation's shape is one of its extents.
static bool isFunctionOfOperands(Operation *op) {
  if (isa<AllocOp, CarveOp, memref::AllocOp, memref::AllocaOp>(op))
    return true;
  return isMemoryEffectFree(op) && !isa<tensor::ExtractOp>(op);
}

void CaptureSizes::Slice::visitResult(OpResult result) {
  Operation *op = result.getOwner();
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call, result);
  if (isa<RegionBranchOpInterface, scf::ForallOp>(op)) {
    add(op->getOperands());
    for (Region &region : op->getRegions())
      addTerminators(region);
    return;
  }
  auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
  if (destinationStyle && isa<TensorType>(result.getType())) {
    add(destinationStyle.getTiedOpOperand(result)->get());
    return;
  }
  if (isFunctionOfOperands(op))
    return add(op->getOperands());
  sources.data = op;
}

SizeSources CaptureSizes::getSources(ValueRange sizes) {
  return Slice(*this).follow(sizes);
}

SizeSources CaptureSizes::getReturned(func::FuncOp function, unsigned result) {
  auto [known, isNew] = returned.try_emplace({function, result});
  if (!isNew)
    return known->second;
  SmallVector<Value> values;
  function.walk(
      [&](func::ReturnOp end) { values.push_back(end.getOperand(result)); });
  return returned[{function, result}] = getSources(values);
}
