//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Answers what kernels describe, and turns pol.call into calls.

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pol {
#define GEN_PASS_DEF_RESOLVEDESCRIPTIONS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// The same description under a type that says more or less of its shape.
static Value castDescription(OpBuilder &builder, Location loc, Value value,
                             Type type) {
  if (value.getType() == type)
    return value;
  if (auto bundle = dyn_cast<BundleType>(type)) {
    SmallVector<Value> elements;
    for (auto [name, element] :
         llvm::zip_equal(bundle.getNames(), bundle.getTypes()))
      elements.push_back(castDescription(
          builder, loc, GetOp::create(builder, loc, value, name), element));
    return BundleOp::create(builder, loc, bundle.getNames(), elements);
  }
  if (auto duplicated = dyn_cast<DuplicatedType>(type)) {
    Value primal =
        castDescription(builder, loc, PrimalOp::create(builder, loc, value),
                        duplicated.getPrimal());
    Value shadow =
        castDescription(builder, loc, ShadowOp::create(builder, loc, value),
                        duplicated.getShadow());
    return DuplicatedOp::create(builder, loc, primal, shadow);
  }
  auto undef = cast<UndefType>(type);
  SmallVector<Value> extents;
  for (int64_t i = 0, e = undef.getRank(); i < e; ++i)
    if (undef.isDynamicDim(i))
      extents.push_back(getValueOrCreateConstantIndexOp(
          builder, loc, getExtent(builder, loc, value, i)));
  return UndefOp::create(builder, loc, undef, extents);
}

namespace {
class Resolver {
public:
  /// Replaces a verb that asks for a description.
  template <typename VerbOp> LogicalResult resolveVerb(VerbOp verb);
  LogicalResult resolveCall(CallOp call);
  /// Resolves every verb below an op, innermost description first.
  LogicalResult resolveIn(ArrayRef<Operation *> ops);

private:
  FailureOr<SmallVector<Value>>
  describeByFunction(OpBuilder &builder, Operation *verb, const Kernel &kernel,
                     ValueRange inputs, BufferRole role);
  FailureOr<SmallVector<Value>> describeByOp(OpBuilder &builder,
                                             const Kernel &kernel,
                                             KernelInvocation invocation,
                                             BufferRole role);

  /// The descriptions being inlined, to catch one that asks for itself.
  SmallVector<Operation *> active;
};
} // namespace

FailureOr<SmallVector<Value>> Resolver::describeByFunction(OpBuilder &builder,
                                                           Operation *verb,
                                                           const Kernel &kernel,
                                                           ValueRange inputs,
                                                           BufferRole role) {
  DescriptionOp description = kernel.description;
  if (llvm::is_contained(active, description.getOperation()))
    return verb->emitOpError("expected a description that does not ask for "
                             "itself, but that of ")
           << description.getFunctionAttr() << " does";
  active.push_back(description);

  IRMapping mapping;
  mapping.map(description.getBody().getArguments(), inputs);
  SmallVector<Operation *> inlined;
  for (Operation &op : description.getBody().front().without_terminator())
    inlined.push_back(builder.clone(op, mapping));
  // Values of the description may themselves come from verbs: note them before
  // those are replaced.
  DescribeOp describe = description.getDescribe();
  SmallVector<Value> values;
  auto anchor = BundleOp::create(builder, verb->getLoc(),
                                 ArrayRef<StringAttr>(), ValueRange());
  for (auto [roleAttr, buffer] :
       llvm::zip_equal(describe.getRoles(), describe.getBuffers()))
    if (cast<BufferRoleAttr>(roleAttr).getValue() == role)
      values.push_back(mapping.lookupOrDefault(buffer));
  anchor->setOperands(values);
  LogicalResult resolved = resolveIn(inlined);
  values = llvm::to_vector(anchor->getOperands());
  anchor->erase();
  active.pop_back();
  if (failed(resolved))
    return failure();
  return values;
}

FailureOr<SmallVector<Value>>
Resolver::describeByOp(OpBuilder &builder, const Kernel &kernel,
                       KernelInvocation invocation, BufferRole role) {
  auto *interface = kernel.op->getInterface<KernelOpInterface>();
  SmallVector<SmallVector<OpFoldResult>> shapes;
  if (failed(interface->reifyBufferShapes(builder, invocation, shapes)))
    return failure();
  if (shapes.size() != kernel.buffers.size())
    return emitError(invocation.loc)
           << "expected " << kernel.op->getStringRef()
           << " to give a shape for each of " << kernel.buffers.size()
           << " buffers, but got " << shapes.size();
  SmallVector<Value> values;
  for (auto [buffer, shape] : llvm::zip_equal(kernel.buffers, shapes)) {
    if (buffer.role != role)
      continue;
    auto type = cast<UndefType>(buffer.type);
    if (static_cast<int64_t>(shape.size()) != type.getRank())
      return emitError(invocation.loc)
             << "expected " << kernel.op->getStringRef() << " to give "
             << type.getRank() << " extents for " << buffer.name << ", but got "
             << shape.size();
    SmallVector<Value> extents;
    for (auto [size, extent] : llvm::zip_equal(type.getShape(), shape))
      if (ShapedType::isDynamic(size))
        extents.push_back(
            getValueOrCreateConstantIndexOp(builder, invocation.loc, extent));
    values.push_back(UndefOp::create(builder, invocation.loc, type, extents));
  }
  return values;
}

/// Says of every alloc of a description, or of part of it, whose it is. Where a
/// description goes through control flow, its allocs stay anonymous.
static void markAllocs(Value description, StringAttr kernel,
                       BufferRoleAttr role) {
  SmallVector<Value> worklist{description};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (isa<GetOp, MergeOp, BundleOp, DuplicatedOp, PrimalOp, ShadowOp>(user))
        worklist.push_back(user->getResult(0));
      auto alloc = dyn_cast<AllocOp>(user);
      if (!alloc || alloc.getRole())
        continue;
      alloc.setKernelAttr(kernel);
      alloc.setRoleAttr(role);
    }
}

template <typename VerbOp> LogicalResult Resolver::resolveVerb(VerbOp verb) {
  KernelInvocation invocation = verb.getInvocation();
  FailureOr<Kernel> kernel =
      Kernel::resolve(verb, verb.getKernel(), invocation);
  if (failed(kernel))
    return failure();
  OpBuilder builder(verb);
  FailureOr<SmallVector<Value>> values =
      kernel->function
          ? describeByFunction(builder, verb, *kernel, verb.getInputs(),
                               VerbOp::role)
          : describeByOp(builder, *kernel, invocation, VerbOp::role);
  if (failed(values))
    return failure();

  Location loc = verb.getLoc();
  BundleType type = verb.getType();
  // What the kernel can do without is there only if it is asked for.
  BundleType all = kernel->getBundleType(builder.getContext(), VerbOp::role);
  BundleType described =
      kernel->getBundleType(builder.getContext(), VerbOp::role, type);
  SmallVector<Value> wantedValues;
  for (auto [name, value] : llvm::zip_equal(all.getNames(), *values))
    if (described.find(name.getValue()))
      wantedValues.push_back(value);
  Value bundle =
      BundleOp::create(builder, loc, described.getNames(), wantedValues);
  StringAttr name = getBareKernelName(verb.getKernel());
  auto role = BufferRoleAttr::get(builder.getContext(), VerbOp::role);
  if (verb.getSpace()) {
    // The buffers' types say which shapes to describe.
    SmallVector<Type> types;
    for (auto [descriptionType, bufferType] :
         llvm::zip_equal(described.getTypes(), type.getTypes()))
      types.push_back(getDescribedType(bufferType));
    auto wanted = BundleType::get(builder.getContext(), type.getNames(), types);
    bundle = castDescription(builder, loc, bundle, wanted);
    bundle = AllocOp::create(builder, loc, type, verb.getSpace(), bundle,
                             ValueRange(), StringAttr(), name, role);
  } else {
    bundle = castDescription(builder, loc, bundle, type);
    markAllocs(verb, name, role);
  }
  verb.replaceAllUsesWith(bundle);
  verb.erase();
  return success();
}

LogicalResult Resolver::resolveCall(CallOp call) {
  KernelInvocation invocation = call.getInvocation();
  FailureOr<Kernel> kernel =
      Kernel::resolve(call, call.getKernel(), invocation);
  if (failed(kernel))
    return failure();
  OpBuilder builder(call);
  Location loc = call.getLoc();
  SmallVector<Value> buffers;
  for (const BufferDescription &buffer : kernel->buffers) {
    Value bundle = call.getBundle(buffer.role);
    bool isGiven =
        bundle &&
        cast<BundleType>(bundle.getType()).find(buffer.name.getValue());
    buffers.push_back(
        isGiven ? GetOp::create(builder, loc, bundle, buffer.name).getResult()
                : Value());
  }

  Operation *result;
  if (kernel->function) {
    SmallVector<Value> arguments(
        kernel->function.getFunctionType().getNumInputs());
    for (auto [argument, buffer] : llvm::zip_equal(
             kernel->description.getDescribe().getArguments(), buffers))
      arguments[argument] = buffer;
    auto input = call.getInputs().begin();
    for (Value &argument : arguments)
      if (!argument)
        argument = *input++;
    result = func::CallOp::create(builder, loc, kernel->function, arguments);
  } else {
    FailureOr<Operation *> built =
        kernel->op->getInterface<KernelOpInterface>()->buildKernel(
            builder, invocation, buffers);
    if (failed(built))
      return failure();
    result = *built;
    if (result->getResultTypes() != call.getResultTypes()) {
      InFlightDiagnostic error = call.emitOpError("expected the results of ");
      error << getKernelName(call.getKernel()) << " to be ("
            << result->getResultTypes() << "), but got ("
            << call.getResultTypes() << ")";
      return error;
    }
  }
  call->replaceAllUsesWith(result->getResults());
  call->erase();
  return success();
}

LogicalResult Resolver::resolveIn(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> verbs;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      if (isa<OutputsOp, CheckpointsOp, ScratchOp, CallOp>(inner))
        verbs.push_back(inner);
      // Those of a description are resolved where it is inlined.
      return isa<DescriptionOp>(inner) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
  for (Operation *verb : verbs) {
    LogicalResult resolved =
        TypeSwitch<Operation *, LogicalResult>(verb)
            .Case<OutputsOp, CheckpointsOp, ScratchOp>(
                [&](auto op) { return resolveVerb(op); })
            .Case([&](CallOp op) { return resolveCall(op); });
    if (failed(resolved))
      return failure();
  }
  return success();
}

namespace {
struct ResolveDescriptions
    : pol::impl::ResolveDescriptionsBase<ResolveDescriptions> {
  void runOnOperation() override {
    WalkResult applies = getOperation().walk([](ApplyOp apply) {
      apply.emitOpError("expected pol-expand-apply to run first");
      return WalkResult::interrupt();
    });
    if (applies.wasInterrupted() ||
        failed(Resolver().resolveIn(getOperation().getOperation())))
      return signalPassFailure();
    // Modules nest, and each has descriptions of its own.
    SmallVector<DescriptionOp> descriptions;
    getOperation().walk([&](DescriptionOp op) { descriptions.push_back(op); });
    for (DescriptionOp description : descriptions)
      description.erase();
  }
};
} // namespace
