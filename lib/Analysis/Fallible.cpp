//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Fallible.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

Value mlir::pol::getStatus(Operation *op) {
  if (auto carve = dyn_cast<CarveOp>(op))
    return carve.getOk();
  if (auto retract = dyn_cast<RetractOp>(op))
    return retract.getOk();
  return Value();
}

bool FallibleFunctions::mayFail(Operation *op) {
  if (Value status = getStatus(op))
    return status.use_empty();
  auto call = dyn_cast<func::CallOp>(op);
  return call && functions.contains(symbols.lookupNearestSymbolFrom(
                     call, call.getCalleeAttr()));
}

FallibleFunctions::FallibleFunctions(ModuleOp module) {
  bool again = true;
  while (again) {
    again = false;
    module.walk([&](func::FuncOp function) {
      if (functions.contains(function))
        return;
      WalkResult result = function.walk([&](Operation *op) {
        return mayFail(op) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (result.wasInterrupted())
        again |= functions.insert(function).second;
    });
  }
}
