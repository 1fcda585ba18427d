//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The verbs: asking a kernel for its buffers, calling it, applying it.

#include "PolAssembly.h"

using namespace mlir;
using namespace mlir::pol;

template <typename OpTy> static KernelInvocation getInvocationOf(OpTy op) {
  return {op.getLoc(), op.getInputs(), op.getPresence(), op.getOptionsAttr(),
          RegionRange(op.getKernelRegions())};
}

static LogicalResult verifyPresence(Operation *op, ArrayRef<bool> present,
                                    size_t inputs) {
  if (!present.empty() &&
      static_cast<size_t>(llvm::count(present, true)) != inputs)
    return op->emitOpError("expected as many operands as are present, ")
           << llvm::count(present, true) << ", but got " << inputs;
  return success();
}

//===----------------------------------------------------------------------===//
// OutputsOp, CheckpointsOp, ScratchOp
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyDescribing(OpTy op) {
  if (failed(verifyPresence(op, op.getPresence(), op.getInputs().size())))
    return failure();
  BundleType type = op.getType();
  if (!op.getSpace()) {
    if (!isDescriptionType(type))
      return op.emitOpError("expected a bundle of descriptions, but got ")
             << type;
    return success();
  }
  if (!isBufferType(type))
    return op.emitOpError("expected a bundle of tensors or memrefs, but got ")
           << type;
  auto space = cast<SpaceTypeInterface>(op.getSpace().getType());
  if (OpTy::role == BufferRole::Scratch && !space.isFrame())
    return op.emitOpError("expected scratch to be allocated in a frame, but "
                          "got ")
           << op.getSpace().getType();
  return success();
}

/// Checks what a kernel describes of one role against a bundle of buffers or
/// descriptions.
static LogicalResult verifyBundle(Operation *op, Attribute kernelName,
                                  const Kernel &kernel, BufferRole role,
                                  StringRef what, BundleType got) {
  BundleType described = kernel.getBundleType(op->getContext(), role, got);
  auto fits = [&](Type a, Type b) {
    return isDescriptionType(b) ? areCompatibleDescriptions(a, b)
                                : describes(a, b);
  };
  if (described.getNames() == got.getNames() && fits(described, got))
    return success();
  BundleType all = kernel.getBundleType(op->getContext(), role);
  return op->emitOpError("expected ")
         << what << " of " << getKernelName(kernelName) << " to be "
         << (all == described ? "" : "among ") << all << ", but got " << got;
}

template <typename OpTy> static LogicalResult verifyDescribingUse(OpTy op) {
  FailureOr<Kernel> kernel =
      Kernel::resolve(op, op.getKernel(), op.getInvocation());
  if (failed(kernel))
    return failure();
  StringRef what = OpTy::getOperationName().drop_front(strlen("pol."));
  if (!kernel->hasRole(OpTy::role))
    return op.emitOpError("expected kernel ")
           << getKernelName(op.getKernel()) << " to describe " << what
           << ", but it describes none";
  return verifyBundle(op, op.getKernel(), *kernel, OpTy::role, what,
                      op.getType());
}

template <typename OpTy>
static void
getDescribingEffects(OpTy op,
                     SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (op.getSpace())
    effects.emplace_back(MemoryEffects::Allocate::get(), op->getResult(0));
}

#define POL_DEFINE_DESCRIBING_OP(OpTy)                                         \
  KernelInvocation OpTy::getInvocation() { return getInvocationOf(*this); }    \
  LogicalResult OpTy::verify() { return verifyDescribing(*this); }             \
  LogicalResult OpTy::verifySymbolUses(SymbolTableCollection &) {              \
    return verifyDescribingUse(*this);                                         \
  }                                                                            \
  void OpTy::getEffects(                                                       \
      SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {               \
    getDescribingEffects(*this, effects);                                      \
  }
POL_DEFINE_DESCRIBING_OP(OutputsOp)
POL_DEFINE_DESCRIBING_OP(CheckpointsOp)
POL_DEFINE_DESCRIBING_OP(ScratchOp)
#undef POL_DEFINE_DESCRIBING_OP

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

KernelInvocation CallOp::getInvocation() { return getInvocationOf(*this); }

Value CallOp::getBundle(BufferRole role) {
  switch (role) {
  case BufferRole::Output:
    return getOutputs();
  case BufferRole::Checkpoint:
    return getCheckpoints();
  case BufferRole::Scratch:
    return getScratch();
  case BufferRole::Hidden:
    break;
  }
  return Value();
}

LogicalResult CallOp::verify() {
  if (failed(verifyPresence(*this, getPresence(), getInputs().size())))
    return failure();
  for (Value bundle : {getOutputs(), getCheckpoints(), getScratch()})
    if (bundle && !isBufferType(bundle.getType()))
      return emitOpError("expected a bundle of tensors or memrefs, but got ")
             << bundle.getType();
  return success();
}

static LogicalResult verifyResultTypes(Operation *op, Attribute kernelName,
                                       TypeRange wanted) {
  if (op->getResultTypes() == wanted)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected the results of ");
  error << getKernelName(kernelName) << " to be (" << wanted << "), but got ("
        << op->getResultTypes() << ")";
  return error;
}

/// Where a bundle of checkpoints was allocated: the verb that asked for it, and
/// the op that allocated it, null if that is not seen.
static std::pair<CheckpointsOp, Operation *> getCheckpointOrigin(Value bundle) {
  Operation *def = bundle.getDefiningOp();
  auto asked = dyn_cast_or_null<CheckpointsOp>(def);
  if (auto alloc = dyn_cast_or_null<AllocOp>(def))
    if (Value spec = alloc.getSpec())
      asked = spec.getDefiningOp<CheckpointsOp>();
  return {asked, def};
}

/// A backward function reads what its forward one wrote, as far as that can be
/// seen.
static LogicalResult verifyCheckpoints(CallOp call, const Kernel &kernel) {
  FlatSymbolRefAttr forward =
      kernel.function ? DescriptionOp(kernel.description).getForwardAttr()
                      : nullptr;
  Value bundle = call.getCheckpoints();
  if (!forward || !bundle)
    return success();
  auto [asked, allocated] = getCheckpointOrigin(bundle);
  if (!asked)
    return success();
  if (asked.getKernel() != forward && asked.getKernel() != call.getKernel())
    return call.emitOpError("expected the checkpoints of ")
           << forward << ", but got those of "
           << getKernelName(asked.getKernel());
  // A bundle of tensors holds what it was allocated with. Memory may have been
  // written by whatever else has it.
  bool isTensors = llvm::any_of(cast<BundleType>(bundle.getType()).getTypes(),
                                llvm::IsaPred<TensorType>);
  if (!isTensors && !bundle.hasOneUse())
    return success();
  InFlightDiagnostic error = call.emitOpError("expected the checkpoints that ");
  error << forward << " wrote, but nothing did";
  error.attachNote(allocated->getLoc()) << "they are allocated here";
  return error;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &) {
  FailureOr<Kernel> kernel =
      Kernel::resolve(*this, getKernel(), getInvocation());
  if (failed(kernel))
    return failure();
  for (BufferRole role :
       {BufferRole::Output, BufferRole::Checkpoint, BufferRole::Scratch}) {
    Value bundle = getBundle(role);
    StringRef what = stringifyBufferRole(role);
    if (!bundle) {
      if (kernel->needsRole(role))
        return emitOpError("expected ")
               << what << " buffers "
               << kernel->getBundleType(getContext(), role) << " for "
               << getKernelName(getKernel());
      continue;
    }
    if (!kernel->hasRole(role))
      return emitOpError("expected kernel ")
             << getKernelName(getKernel()) << " to describe " << what
             << " buffers, but it describes none";
    if (failed(verifyBundle(*this, getKernel(), *kernel, role, what,
                            cast<BundleType>(bundle.getType()))))
      return failure();
  }
  if (failed(verifyCheckpoints(*this, *kernel)))
    return failure();
  if (!kernel->function)
    return success();
  // Tensors passed to a function have the very types of its arguments.
  FunctionType function = kernel->function.getFunctionType();
  DescribeOp describe = kernel->description.getDescribe();
  for (auto [name, roleAttr, argument] : llvm::zip_equal(
           describe.getNames(), describe.getRoles(), describe.getArguments())) {
    BufferRole role = cast<BufferRoleAttr>(roleAttr).getValue();
    auto bundle = cast<BundleType>(getBundle(role).getType());
    StringRef text = cast<StringAttr>(name).getValue();
    Type got = bundle.getTypes()[*bundle.find(text)];
    if (argument < 0 || argument >= function.getNumInputs())
      return failure(); // The description says so itself.
    if (got != function.getInput(argument))
      return emitOpError("expected '")
             << text << "' to be " << function.getInput(argument)
             << ", but got " << got;
  }
  return verifyResultTypes(*this, getKernel(), function.getResults());
}

//===----------------------------------------------------------------------===//
// ApplyOp
//===----------------------------------------------------------------------===//

KernelInvocation ApplyOp::getInvocation() { return getInvocationOf(*this); }

LogicalResult ApplyOp::verify() {
  if (failed(verifyPresence(*this, getPresence(), getInputs().size())))
    return failure();
  size_t names = getOverrideNames() ? getOverrideNames()->size() : 0;
  if (names != getOverrides().size())
    return emitOpError("expected as many override names as overrides, but "
                       "got ")
           << names << " and " << getOverrides().size();
  llvm::SmallDenseSet<Attribute> seen;
  if (getOverrideNames())
    for (Attribute name : getOverrideNamesAttr())
      if (!seen.insert(name).second)
        return emitOpError("expected unique override names, but got ")
               << name << " twice";
  return success();
}

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &) {
  FailureOr<Kernel> kernel =
      Kernel::resolve(*this, getKernel(), getInvocation());
  if (failed(kernel))
    return failure();
  // An op's outputs may all be the shadows of its operands.
  if (kernel->function && !kernel->hasRole(BufferRole::Output))
    return emitOpError("expected kernel ")
           << getKernelName(getKernel())
           << " to describe outputs, but it describes none";
  BundleType outputs = kernel->getBundleType(getContext(), BufferRole::Output);
  for (auto [index, override] : llvm::enumerate(getOverrides())) {
    auto name = cast<StringAttr>((*getOverrideNames())[index]);
    std::optional<unsigned> entry = outputs.find(name.getValue());
    if (!entry)
      return emitOpError("expected override ")
             << name << " to be one of the outputs of "
             << getKernelName(getKernel()) << ", " << outputs;
    if (!describes(outputs.getTypes()[*entry], override.getType()))
      return emitOpError("expected override ")
             << name << " to be what " << outputs.getTypes()[*entry]
             << " describes, but got " << override.getType();
    // A function takes just what its arguments are.
    if (Type wanted = kernel->function ? kernel->getArgumentType(name) : Type();
        wanted && wanted != override.getType())
      return emitOpError("expected override ")
             << name << " to be " << wanted << ", but got "
             << override.getType();
  }
  if (kernel->function)
    return verifyResultTypes(*this, getKernel(),
                             kernel->function.getResultTypes());
  return success();
}

#define GET_OP_CLASSES
#include "pol/IR/PolOps.cpp.inc"
