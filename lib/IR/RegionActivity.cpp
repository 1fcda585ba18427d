//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which values of a region of scalar ops a gradient passes through.

#include "pol/IR/RegionActivity.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "pol/IR/DifferentiableOpInterface.h"

using namespace mlir;
using namespace mlir::pol;

#include "pol/IR/DifferentiableOpInterface.cpp.inc"

std::optional<unsigned> mlir::pol::getLoadedArgument(Operation *op) {
  Value array;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    array = extract.getTensor();
  else if (auto load = dyn_cast<memref::LoadOp>(op))
    array = load.getMemRef();
  auto argument = dyn_cast_if_present<BlockArgument>(array);
  if (!argument || argument.getOwner() != op->getBlock())
    return std::nullopt;
  return argument.getArgNumber();
}

/// Whether a value is a float, or is made of floats.
static bool isOfFloats(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Calls back with what an op uses, in its regions too.
static void forEachUsed(Operation *op, function_ref<void(Value)> callback) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      callback(operand);
  });
}

/// The values made of floats that depend on some arguments of a block.
static DenseSet<Value> findDependent(Block &block,
                                     ArrayRef<unsigned> arguments) {
  DenseSet<Value> dependent;
  for (unsigned number : arguments)
    if (number < block.getNumArguments() &&
        isOfFloats(block.getArgument(number)))
      dependent.insert(block.getArgument(number));
  for (Operation &op : block) {
    bool depends = false;
    forEachUsed(&op, [&](Value used) { depends |= dependent.contains(used); });
    if (!depends)
      continue;
    for (Value result : op.getResults())
      if (isOfFloats(result))
        dependent.insert(result);
  }
  return dependent;
}

RegionActivity::RegionActivity(Region &region, ArrayRef<unsigned> arguments) {
  if (!region.hasOneBlock() || region.front().empty())
    return;
  Block &block = region.front();
  DenseSet<Value> dependent = findDependent(block, arguments);
  auto activate = [&](Value used) {
    if (dependent.contains(used))
      active.insert(used);
  };
  forEachUsed(&block.back(), activate);
  for (Operation &op : llvm::drop_begin(llvm::reverse(block)))
    if (isActive(&op))
      forEachUsed(&op, activate);
}

bool RegionActivity::isActive(Operation *op) const {
  return llvm::any_of(op->getResults(),
                      [&](Value result) { return isActive(result); });
}

Operation *mlir::pol::findUndifferentiable(Region &region, bool wantsInput,
                                           ArrayRef<unsigned> arguments) {
  SmallVector<unsigned> wanted(arguments);
  if (wantsInput)
    wanted.push_back(0);
  RegionActivity activity(region, wanted);
  for (Operation &op : region.getOps())
    if (activity.isActive(&op) && !getLoadedArgument(&op) &&
        !isa<DifferentiableOpInterface>(op))
      return &op;
  return nullptr;
}
