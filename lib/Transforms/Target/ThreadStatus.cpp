//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Returns early where a carve, retract or check fails.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "pol/Analysis/Fallible.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_THREADSTATUS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
class StatusThreader {
public:
  explicit StatusThreader(ModuleOp module) : module(module), fallible(module) {}
  LogicalResult run();

private:
  LogicalResult check();
  WalkResult checkUses(Operation *op);
  void threadFunction(func::FuncOp function);
  Block *getFailureBlock(func::FuncOp function);
  void branchOn(Operation *op, Value status, Block *failure);

  ModuleOp module;
  SymbolTableCollection symbols;
  FallibleFunctions fallible;
};
} // namespace

/// Failing means to return, which takes a block of the function, and a caller
/// that looks.
LogicalResult StatusThreader::check() {
  WalkResult result = module.walk([&](Operation *op) {
    if (fallible.mayFail(op) && !isa<func::FuncOp>(op->getParentOp())) {
      op->emitOpError("expected what can fail to be in the body of a function, "
                      "but got '")
          << op->getParentOp()->getName() << "' around it";
      return WalkResult::interrupt();
    }
    return checkUses(op);
  });
  return failure(result.wasInterrupted());
}

/// The type of a function that can fail changes: only direct calls may name it.
WalkResult StatusThreader::checkUses(Operation *op) {
  if (isa<func::CallOp>(op))
    return WalkResult::advance();
  Operation *from = op->getParentOp();
  func::FuncOp used;
  op->getAttrDictionary().walk<WalkOrder::PreOrder>([&](SymbolRefAttr symbol) {
    auto function =
        from ? symbols.lookupNearestSymbolFrom<func::FuncOp>(from, symbol)
             : func::FuncOp();
    if (!used && function && fallible.contains(function))
      used = function;
    return WalkResult::skip();
  });
  if (!used)
    return WalkResult::advance();
  op->emitOpError("expected only calls of @")
      << used.getSymName() << ", which can fail";
  return WalkResult::interrupt();
}

Block *StatusThreader::getFailureBlock(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  Block *block =
      builder.createBlock(&function.getBody(), function.getBody().end());
  SmallVector<Value> results;
  for (Type type : function.getResultTypes().drop_back())
    results.push_back(ub::PoisonOp::create(
        builder, loc, type, ub::PoisonAttr::get(builder.getContext())));
  results.push_back(
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0));
  func::ReturnOp::create(builder, loc, results);
  return block;
}

void StatusThreader::branchOn(Operation *op, Value status, Block *failure) {
  Block *rest = op->getBlock()->splitBlock(std::next(op->getIterator()));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(op->getBlock());
  cf::CondBranchOp::create(builder, op->getLoc(), status, rest, ValueRange(),
                           failure, ValueRange());
}

void StatusThreader::threadFunction(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  auto append = [&](TypeRange types) {
    SmallVector<Type> appended(types);
    appended.push_back(builder.getI1Type());
    return appended;
  };
  FunctionType type = function.getFunctionType();
  function->setAttr("pol.fallible", builder.getUnitAttr());
  // Attributes of results move along.
  function.setType(
      builder.getFunctionType(type.getInputs(), append(type.getResults())));

  SmallVector<Operation *> failing;
  SmallVector<func::ReturnOp> returns;
  function.walk([&](Operation *op) {
    if (fallible.mayFail(op))
      failing.push_back(op);
    else if (auto ret = dyn_cast<func::ReturnOp>(op))
      returns.push_back(ret);
  });
  for (func::ReturnOp ret : returns) {
    builder.setInsertionPoint(ret);
    Value ok = arith::ConstantIntOp::create(builder, ret.getLoc(),
                                            builder.getI1Type(), 1);
    ret.getOperandsMutable().append(ok);
  }
  Block *failure = getFailureBlock(function);
  for (Operation *op : failing) {
    Value status = getStatus(op);
    if (auto call = dyn_cast<func::CallOp>(op)) {
      builder.setInsertionPoint(call);
      auto checked = func::CallOp::create(
          builder, call.getLoc(), call.getCalleeAttr(),
          append(call.getResultTypes()), call.getOperands());
      checked->setDiscardableAttrs(call->getDiscardableAttrDictionary());
      call.replaceAllUsesWith(checked.getResults().drop_back());
      call.erase();
      op = checked;
      status = checked.getResults().back();
    }
    branchOn(op, status, failure);
  }
}

LogicalResult StatusThreader::run() {
  if (failed(check()))
    return failure();
  module.walk([&](func::FuncOp function) {
    if (fallible.contains(function))
      threadFunction(function);
  });
  return success();
}

namespace {
struct ThreadStatus : pol::impl::ThreadStatusBase<ThreadStatus> {
  void runOnOperation() override {
    if (failed(StatusThreader(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
