//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/IR/CaptureLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pol/IR/RegionActivity.h"

using namespace mlir;
using namespace mlir::pol;

/// Whether a value is the same at all positions.
static bool isUniform(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= kFirstScoreCapture;
  return llvm::all_of(value.getDefiningOp()->getOperands(), isUniform);
}

/// The axis of which an index is a position plus or minus what is uniform.
static std::optional<unsigned> getShiftedAxis(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    unsigned number = argument.getArgNumber();
    bool isAxis = number > 0 && number < kFirstScoreCapture;
    return isAxis ? std::optional(number - 1) : std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  auto isWide = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (!isWide(index.getType()))
    return std::nullopt;
  if (isa<arith::IndexCastOp>(op))
    return isWide(op->getOperand(0).getType())
               ? getShiftedAxis(op->getOperand(0))
               : std::nullopt;
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  if (isUniform(op->getOperand(1)))
    return getShiftedAxis(op->getOperand(0));
  if (isUniform(op->getOperand(0)))
    return getShiftedAxis(op->getOperand(1));
  return std::nullopt;
}

/// Takes one index in.
static bool addIndex(PlacedLoad &load, Value index) {
  if (isUniform(index))
    return true;
  Value cap;
  if (auto capped = index.getDefiningOp<arith::MinSIOp>();
      capped && isUniform(capped.getRhs())) {
    cap = capped.getRhs();
    index = capped.getLhs();
    // A position that begins at 0.
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || argument.getArgNumber() - 1 > HeadAxis)
      return false;
  }
  std::optional<unsigned> axis = getShiftedAxis(index);
  if (!axis || load.axes[*axis].isUsed)
    return false;
  load.axes[*axis] = {true, cap};
  return true;
}

std::optional<PlacedLoad> PlacedLoad::get(Operation *load) {
  PlacedLoad placed;
  for (Value index : load->getOperands().drop_front())
    if (!addIndex(placed, index))
      return std::nullopt;
  return placed;
}

bool mlir::pol::isScattered(Region &score, unsigned capture) {
  return !score.empty() && llvm::any_of(score.front(), [&](Operation &op) {
    std::optional<unsigned> argument = getLoadedArgument(&op);
    return argument == capture + kFirstScoreCapture && !PlacedLoad::get(&op);
  });
}
