//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks that what a backward kernel reads is what its forward kernel wrote, as
// far as that can be seen.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_VERIFYCHECKPOINTS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Where values come from, through views, casts, frames, captures and calls in
/// the module.
class SourceFinder {
public:
  explicit SourceFinder(ModuleOp module);
  SetVector<Value> find(Value value);

private:
  void visit(Value value);
  void visitArgument(BlockArgument argument);
  void visitResult(func::CallOp call, unsigned result);

  SymbolTableCollection symbols;
  DenseMap<Operation *, SmallVector<func::CallOp>> callsOf;
  DenseSet<Value> visited;
  SetVector<Value> sources;
};
} // namespace

SourceFinder::SourceFinder(ModuleOp module) {
  module.walk([&](func::CallOp call) {
    if (Operation *callee =
            symbols.lookupNearestSymbolFrom(call, call.getCalleeAttr()))
      callsOf[callee].push_back(call);
  });
}

SetVector<Value> SourceFinder::find(Value value) {
  visited.clear();
  sources.clear();
  visit(value);
  return sources;
}

void SourceFinder::visit(Value value) {
  if (!visited.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op)
    return visitArgument(cast<BlockArgument>(value));
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return visit(view.getViewSource());
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return visit(cast.getSource());
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitResult(call, cast<OpResult>(value).getResultNumber());
  if (isa<CaptureOp, FrameOp>(op))
    return visit(op->getRegion(0).front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  sources.insert(value);
}

/// What calls pass; those from elsewhere are trusted.
void SourceFinder::visitArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  auto function = dyn_cast<func::FuncOp>(block->getParentOp());
  if (!function || !block->isEntryBlock())
    return;
  for (func::CallOp call : callsOf.lookup(function))
    visit(call.getOperand(argument.getArgNumber()));
}

void SourceFinder::visitResult(func::CallOp call, unsigned result) {
  auto callee =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee)
    return;
  for (Block &block : callee.getBody())
    if (auto end = dyn_cast<func::ReturnOp>(block.getTerminator()))
      visit(end.getOperand(result));
}

/// Whether anything but kernels that read it might have written a buffer. What
/// is not known to leave it alone might.
static bool mayBeWritten(Value buffer) {
  return llvm::any_of(buffer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), mayBeWritten);
    if (isa<ReleaseOp>(user))
      return false;
    auto kernel = dyn_cast<KernelOpInterface>(user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    return !kernel || !destination || destination.isDpsInit(&use) ||
           kernel.isScratch(use);
  });
}

static InFlightDiagnostic emitError(Operation *op, CheckpointName wanted) {
  return op->emitOpError("expected ")
         << wanted.name << " to be the " << wanted.name << " that '"
         << wanted.kernel << "' wrote";
}

/// What both kernels are told is the same.
static LogicalResult verifyOptions(Operation *op, Operation *forward) {
  for (StringAttr name : op->getName().getAttributeNames()) {
    if (name == "operandSegmentSizes" ||
        !llvm::is_contained(forward->getName().getAttributeNames(), name))
      continue;
    Attribute got = op->getAttr(name);
    Attribute wanted = forward->getAttr(name);
    if (got == wanted)
      continue;
    InFlightDiagnostic error = op->emitOpError("expected ");
    error << name.getValue() << " to be that of the forward kernel, ";
    auto print = [&](Attribute value) {
      if (value)
        error << value;
      else
        error << "none";
    };
    print(wanted);
    error << ", but got ";
    print(got);
    error.attachNote(forward->getLoc()) << "it is here";
    return error;
  }
  return success();
}

static LogicalResult verifyCheckpoint(Operation *op, Value source,
                                      CheckpointName wanted) {
  Operation *def = source.getDefiningOp();
  if (llvm::is_contained(cast<ShapedType>(source.getType()).getShape(), 0))
    return success();
  bool isTensor = isa<TensorType>(source.getType());
  bool isUnwritten = isTensor ? isa<AllocOp, tensor::EmptyOp>(def)
                              : isa<AllocOp>(def) && !mayBeWritten(source);
  if (isUnwritten) {
    InFlightDiagnostic error = emitError(op, wanted);
    error << ", but nothing did";
    error.attachNote(def->getLoc()) << "it is allocated here";
    return error;
  }
  auto kernel = dyn_cast<KernelOpInterface>(def);
  auto destination = dyn_cast<DestinationStyleOpInterface>(def);
  if (!isTensor || !kernel || !destination)
    return success();
  OpOperand *init = destination.getTiedOpOperand(cast<OpResult>(source));
  CheckpointName got = kernel.getCheckpoint(*init);
  if (got == wanted)
    return verifyOptions(op, def);
  InFlightDiagnostic error = emitError(op, wanted);
  if (got.kernel.empty())
    error << ", but got another result of '" << def->getName() << "'";
  else
    error << ", but got the " << got.name << " of '" << got.kernel << "'";
  error.attachNote(def->getLoc()) << "it is written here";
  return error;
}

namespace {
struct VerifyCheckpoints : pol::impl::VerifyCheckpointsBase<VerifyCheckpoints> {
  void runOnOperation() override {
    bool failedAny = false;
    SourceFinder finder(getOperation());
    getOperation().walk([&](KernelOpInterface kernel) {
      auto destination = dyn_cast<DestinationStyleOpInterface>(*kernel);
      for (OpOperand &operand : kernel->getOpOperands()) {
        CheckpointName wanted = kernel.getCheckpoint(operand);
        if (wanted.kernel.empty() ||
            (destination && destination.isDpsInit(&operand)))
          continue;
        for (Value source : finder.find(operand.get()))
          failedAny |= failed(verifyCheckpoint(kernel, source, wanted));
      }
    });
    if (failedAny)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
