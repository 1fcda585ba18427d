//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frames.h"

#include "StackBudget.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pol;

Block *mlir::pol::getStackBlock(Operation *op) {
  if (Operation *parallel = getEnclosingParallel(op))
    return &parallel->getRegion(0).front();
  return &op->getParentOfType<func::FuncOp>().getBody().front();
}

void mlir::pol::moveToStack(AllocOp alloc, OpBuilder &builder) {
  auto type = cast<MemRefType>(alloc.getType());
  auto buffer = memref::AllocaOp::create(
      builder, alloc.getLoc(), type,
      builder.getI64IntegerAttr(StackBudget::alignment));
  // For the memory report.
  buffer->setAttr(
      "pol.buffer",
      builder.getDictionaryAttr({
          builder.getNamedAttr("kernel", alloc.getKernelAttr()
                                             ? alloc.getKernelAttr()
                                             : builder.getStringAttr("")),
          builder.getNamedAttr("name", alloc.getNameAttr()
                                           ? alloc.getNameAttr()
                                           : builder.getStringAttr("")),
      }));
  alloc.replaceAllUsesWith(buffer.getResult());
  alloc.erase();
}

void mlir::pol::replaceFrameUses(FrameOp frame, OpBuilder &builder) {
  Value space = frame.getSpace();
  Value cast;
  for (OpOperand &use :
       llvm::make_early_inc_range(frame.getFrame().getUses())) {
    if (isa<AllocOp, FrameOp, MarkOp, RetractOp, ResetOp, WatermarkOp>(
            use.getOwner())) {
      use.set(space);
      continue;
    }
    if (!cast)
      cast = UnrealizedConversionCastOp::create(
                 builder, frame.getLoc(), frame.getFrame().getType(), space)
                 .getResult(0);
    use.set(cast);
  }
}

void mlir::pol::inlineFrame(FrameOp frame) {
  YieldOp yield = frame.getYield();
  frame->replaceAllUsesWith(yield.getValues());
  yield.erase();
  Block &body = frame.getBody().front();
  frame->getBlock()->getOperations().splice(frame->getIterator(),
                                            body.getOperations());
  frame.erase();
}
