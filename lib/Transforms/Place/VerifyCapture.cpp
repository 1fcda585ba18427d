//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks that captures can be replayed on the same addresses.

#include "CaptureSizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::pol {
#define GEN_PASS_DEF_VERIFYCAPTURE
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
/// A function that runs in a capture, or the one that the capture is in, and
/// the chain of calls that led to it.
struct Activation {
  func::FuncOp function;
  /// The call, and the activation it is in; null for the capture's function.
  Operation *call = nullptr;
  const Activation *caller = nullptr;
  /// What makes an argument unfit, if it is: the call that passes a heap, or
  /// the op that a size, or the size of a buffer, is read by.
  SmallVector<Operation *> unfit = {};
};

class CaptureVerifier {
public:
  explicit CaptureVerifier(ModuleOp module);
  void verify(CaptureOp op);
  bool hasFailed() const { return failed; }

private:
  void visit(Operation *root, const Activation &in);
  void visitOp(Operation *op, const Activation &in);
  void visitCall(CallOpInterface call, const Activation &in);
  void enter(func::FuncOp callee, CallOpInterface call, const Activation &in);
  void visitSpaceUse(Operation *op, Value space, const Activation &in);
  void visitEffects(MemoryEffectOpInterface op, const Activation &in);
  LogicalResult verifySizes(Operation *alloc, ValueRange extents,
                            const Activation &in);
  bool isOnHeap(Value space, const Activation &in) const;
  Operation *getData(ValueRange sizes, const Activation &in);
  void explain(InFlightDiagnostic &error, const Activation &in);

  Provenance provenance;
  SymbolTableCollection symbols;
  CaptureSizes sizes;
  /// Functions whose address is taken.
  SmallVector<func::FuncOp> indirect;
  CaptureOp capture;
  /// What has been followed in this capture: functions, and which of their
  /// arguments were unfit.
  DenseSet<std::pair<Operation *, llvm::BitVector>> visited;
  bool failed = false;
};
} // namespace

CaptureVerifier::CaptureVerifier(ModuleOp module)
    : provenance(module), sizes(symbols) {
  module.walk([&](func::ConstantOp constant) {
    auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        constant, constant.getValueAttr());
    if (function && !llvm::is_contained(indirect, function))
      indirect.push_back(function);
  });
}

void CaptureVerifier::verify(CaptureOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function) {
    op.emitOpError("expected to be in a func.func");
    failed = true;
    return;
  }
  capture = op;
  visited.clear();
  Activation in{function};
  in.unfit.resize(function.getNumArguments());
  visit(op, in);
}

//===----------------------------------------------------------------------===//
// Heaps and sizes, as they are known in an activation
//===----------------------------------------------------------------------===//

/// Whether what comes from a space comes, through the frames between them, from
/// a heap.
bool CaptureVerifier::isOnHeap(Value space, const Activation &in) const {
  if (cast<SpaceTypeInterface>(space.getType()).canRelease())
    return true;
  Origins below = provenance.get(space);
  for (size_t i = 0; i < below.size(); ++i) {
    if (cast<SpaceTypeInterface>(below[i].getType()).canRelease())
      return true;
    auto argument = dyn_cast<BlockArgument>(below[i]);
    if (!argument)
      continue;
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto frame = dyn_cast<FrameOp>(parent)) {
      below.insert(frame.getSpace());
      below.insert_range(Origins(provenance.get(frame.getSpace())));
    } else if (parent == in.function && in.unfit[argument.getArgNumber()]) {
      return true;
    }
  }
  return false;
}

/// The op that makes sizes depend on more than shapes; null if none does.
Operation *CaptureVerifier::getData(ValueRange values, const Activation &in) {
  SizeSources sources = sizes.getSources(values);
  if (sources.data)
    return sources.data;
  for (unsigned number : sources.arguments)
    if (Operation *data = in.unfit[number])
      return data;
  return nullptr;
}

/// How the capture comes to do what is wrong.
void CaptureVerifier::explain(InFlightDiagnostic &error, const Activation &in) {
  for (const Activation *at = &in; at->call; at = at->caller)
    error.attachNote(at->call->getLoc())
        << "@" << SymbolTable::getSymbolName(at->function).getValue()
        << " is called here";
  error.attachNote(capture.getLoc()) << "the capture is here";
}

/// That an allocation has the same size, and so leaves others at the same
/// addresses, whenever shapes are the same.
LogicalResult CaptureVerifier::verifySizes(Operation *alloc, ValueRange extents,
                                           const Activation &in) {
  Operation *data = getData(extents, in);
  if (!data)
    return success();
  InFlightDiagnostic error = alloc->emitOpError();
  error << "expected the size of an allocation inside a capture to follow from "
           "shapes, but it depends on the result of '"
        << data->getName()
        << "': addresses may change from run to run; allocate it before the "
           "capture";
  error.attachNote(data->getLoc()) << "the result is here";
  explain(error, in);
  return error;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static void adviseAgainstHeap(InFlightDiagnostic &error, Operation *op) {
  error << "expected no allocation from a heap inside a capture";
  auto role = op->getAttrOfType<BufferRoleAttr>("role");
  bool isHidden = role && role.getValue() == BufferRole::Hidden;
  if (isHidden)
    error << ", but no pol.alloc asked for this buffer";
  error << ": its address may change from run to run; ";
  if (isHidden)
    error << "give what uses it a destination that is allocated before the "
             "capture, or from an arena";
  else
    error << "allocate it before the capture, or from an arena";
}

/// What an op of pol's does with a space.
void CaptureVerifier::visitSpaceUse(Operation *op, Value space,
                                    const Activation &in) {
  auto alloc = dyn_cast<AllocOp>(op);
  auto carve = dyn_cast<CarveOp>(op);
  if (!isOnHeap(space, in)) {
    if (alloc || carve)
      failed |= mlir::failed(
          verifySizes(op, alloc ? alloc.getExtents() : carve.getExtents(), in));
    return;
  }
  InFlightDiagnostic error = op->emitOpError();
  if (alloc || carve)
    adviseAgainstHeap(error, op);
  else
    error << "expected a heap to be left as it is inside a capture, so that a "
             "replay finds it so: do this before or after the capture";
  explain(error, in);
  failed = true;
}

/// What ops of other dialects allocate and free, but for the stack.
void CaptureVerifier::visitEffects(MemoryEffectOpInterface op,
                                   const Activation &in) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  op.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isAllocation = isa<MemoryEffects::Allocate>(effect.getEffect());
    if ((!isAllocation && !isa<MemoryEffects::Free>(effect.getEffect())) ||
        effect.getResource() ==
            SideEffects::AutomaticAllocationScopeResource::get())
      continue;
    InFlightDiagnostic error = op->emitOpError();
    if (isAllocation)
      adviseAgainstHeap(error, op);
    else
      error << "expected no buffer to be freed inside a capture, whose replay "
               "would use it again: free it after the capture";
    explain(error, in);
    failed = true;
    return;
  }
}

void CaptureVerifier::visitOp(Operation *op, const Activation &in) {
  if (auto inner = dyn_cast<CaptureOp>(op)) {
    if (inner == capture)
      return;
    InFlightDiagnostic error =
        inner.emitOpError("expected no capture inside a capture");
    explain(error, in);
    failed = true;
  } else if (auto call = dyn_cast<CallOpInterface>(op)) {
    visitCall(call, in);
  } else if (isa<AllocOp, CarveOp, MarkOp, ReleaseOp, ResetOp, RetractOp>(op)) {
    for (Value operand : op->getOperands())
      if (isa<SpaceTypeInterface>(operand.getType()))
        visitSpaceUse(op, operand, in);
  } else if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    visitEffects(effects, in);
  }
}

void CaptureVerifier::visit(Operation *root, const Activation &in) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { visitOp(op, in); });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void CaptureVerifier::visitCall(CallOpInterface call, const Activation &in) {
  auto callee =
      dyn_cast_or_null<func::FuncOp>(call.resolveCallableInTable(&symbols));
  if (callee && !callee.isExternal())
    return enter(callee, call, in);
  // Nothing is known of what it does with a heap. It might be a function of
  // this module all the same.
  for (Value operand : call.getArgOperands()) {
    if (!isa<SpaceTypeInterface>(operand.getType()) || !isOnHeap(operand, in))
      continue;
    InFlightDiagnostic error = call->emitOpError();
    error << "expected no heap to be passed to a function that is not known, "
             "inside a capture: it may allocate from it, and addresses may "
             "change from run to run";
    explain(error, in);
    failed = true;
    return;
  }
  if (isa<SymbolRefAttr>(call.getCallableForCallee()))
    return;
  for (func::FuncOp function : indirect)
    if (!function.isExternal() && llvm::equal(function.getArgumentTypes(),
                                              call.getArgOperands().getTypes()))
      enter(function, call, in);
}

void CaptureVerifier::enter(func::FuncOp callee, CallOpInterface call,
                            const Activation &in) {
  Activation inside{callee, call, &in};
  llvm::BitVector bits(callee.getNumArguments());
  for (auto [i, operand] : llvm::enumerate(call.getArgOperands())) {
    Operation *cause;
    if (isa<SpaceTypeInterface>(operand.getType()))
      cause = isOnHeap(operand, in) ? call.getOperation() : nullptr;
    else
      cause = getData(operand, in);
    inside.unfit.push_back(cause);
    if (cause)
      bits.set(i);
  }
  if (visited.insert({callee, bits}).second)
    visit(callee, inside);
}

namespace {
struct VerifyCapture : pol::impl::VerifyCaptureBase<VerifyCapture> {
  void runOnOperation() override {
    SmallVector<CaptureOp> captures;
    getOperation().walk(
        [&](CaptureOp capture) { captures.push_back(capture); });
    markAllAnalysesPreserved();
    if (captures.empty())
      return;
    CaptureVerifier verifier(getOperation());
    for (CaptureOp capture : captures)
      verifier.verify(capture);
    if (verifier.hasFailed())
      signalPassFailure();
  }
};
} // namespace
