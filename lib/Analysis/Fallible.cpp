//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Fallible.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

Value mlir::pol::getStatus(Operation *op) {
  if (auto carve = dyn_cast<CarveOp>(op))
    return carve.getOk();
  if (auto retract = dyn_cast<RetractOp>(op))
    return retract.getOk();
  if (auto check = dyn_cast<CheckOp>(op))
    return check.getOk();
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

/// Says where a callee fails if that can be switched off.
static void noteCheck(InFlightDiagnostic &error, func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  CheckOp found;
  callee.walk([&](CheckOp check) {
    found = check;
    return WalkResult::interrupt();
  });
  if (found)
    error.attachNote(found.getLoc())
        << "it fails where this is checked, unless checks=false trusts it";
}

LogicalResult mlir::pol::verifyParallelRegions(ModuleOp module) {
  FallibleFunctions fallible(module);
  WalkResult result = module.walk([&](Operation *op) {
    if (!fallible.mayFail(op))
      return WalkResult::advance();
    Operation *parallel = getEnclosingParallel(op);
    if (!parallel)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitOpError();
    auto call = dyn_cast<func::CallOp>(op);
    if (call)
      error << "expected a callee that cannot fail in a parallel region, but "
               "got "
            << call.getCalleeAttr();
    else
      error << "expected what can fail to be outside of parallel regions, "
               "which no worker can leave early";
    error.attachNote(parallel->getLoc()) << "the parallel region is here";
    if (call)
      noteCheck(error, call);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
