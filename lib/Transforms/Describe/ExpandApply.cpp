//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Writes pol.apply out in terms of the other verbs.

#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EXPANDAPPLY
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Builds one of the describing verbs with what the apply was asked with. The
/// regions are copied: outputs, scratch and call each need them.
template <typename VerbOp>
static VerbOp describe(OpBuilder &builder, ApplyOp apply, const Kernel &kernel,
                       Value space = Value()) {
  auto spaceType =
      cast<SpaceTypeInterface>((space ? space : apply.getSpace()).getType());
  Type type = kernel.getBufferBundleType(VerbOp::role, spaceType,
                                         apply.getInputs().getTypes());
  if (!space)
    type = getDescribedType(type);
  auto verb =
      VerbOp::create(builder, apply.getLoc(), type, apply.getKernel(),
                     apply.getInputs(), space, apply.getPresentAttr(),
                     apply.getOptionsAttr(), apply.getKernelRegions().size());
  for (auto [from, to] :
       llvm::zip_equal(apply.getKernelRegions(), verb.getKernelRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  return verb;
}

/// Allocates the outputs, with the caller's own in their places.
static Value allocateOutputs(OpBuilder &builder, ApplyOp apply,
                             const Kernel &kernel) {
  Location loc = apply.getLoc();
  auto spaceType = cast<SpaceTypeInterface>(apply.getSpace().getType());
  BundleType type = kernel.getBufferBundleType(BufferRole::Output, spaceType,
                                               apply.getInputs().getTypes());
  Value spec = describe<OutputsOp>(builder, apply, kernel);
  if (!apply.getOverrides().empty()) {
    SmallVector<StringAttr> names =
        llvm::to_vector(apply.getOverrideNamesAttr().getAsRange<StringAttr>());
    spec = MergeOp::create(
        builder, loc,
        ValueRange{
            spec, BundleOp::create(builder, loc, names, apply.getOverrides())});
    SmallVector<Type> types(type.getTypes());
    for (auto [name, override] : llvm::zip_equal(names, apply.getOverrides()))
      types[*type.find(name)] = override.getType();
    type = BundleType::get(builder.getContext(), type.getNames(), types);
  }
  return AllocOp::create(
      builder, loc, type, apply.getSpace(), spec, ValueRange(), StringAttr(),
      getBareKernelName(apply.getKernel()),
      BufferRoleAttr::get(apply.getContext(), BufferRole::Output));
}

static ValueRange call(OpBuilder &builder, ApplyOp apply, Value outputs,
                       Value checkpoints, Value scratch) {
  auto call = CallOp::create(
      builder, apply.getLoc(), apply.getResultTypes(), apply.getKernel(),
      apply.getInputs(), outputs, checkpoints, scratch, apply.getPresentAttr(),
      apply.getOptionsAttr(), apply.getKernelRegions().size());
  for (auto [from, to] :
       llvm::zip_equal(apply.getKernelRegions(), call.getKernelRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  return call.getResults();
}

/// Whether checkpoints are to be written: a function always does, an op when
/// the apply has results for them.
static bool wantsCheckpoints(ApplyOp apply, const Kernel &kernel) {
  if (!kernel.hasRole(BufferRole::Checkpoint))
    return false;
  return kernel.function ||
         apply.getNumResults() >
             kernel.getBundleType(apply.getContext(), BufferRole::Output)
                 .size();
}

static LogicalResult expand(ApplyOp apply) {
  FailureOr<Kernel> kernel =
      Kernel::resolve(apply, apply.getKernel(), apply.getInvocation());
  if (failed(kernel))
    return failure();

  OpBuilder builder(apply);
  Location loc = apply.getLoc();
  Value space = apply.getSpace();
  // Outputs come first, so that they lie below the frame and survive it.
  Value outputs;
  if (kernel->hasRole(BufferRole::Output))
    outputs = allocateOutputs(builder, apply, *kernel);
  Value checkpoints;
  if (wantsCheckpoints(apply, *kernel))
    checkpoints = describe<CheckpointsOp>(builder, apply, *kernel, space);

  if (!kernel->hasRole(BufferRole::Scratch)) {
    apply->replaceAllUsesWith(
        call(builder, apply, outputs, checkpoints, Value()));
  } else {
    auto frame = FrameOp::create(
        builder, loc, apply.getResultTypes(), space,
        [&](OpBuilder &body, Location, Value frameSpace) {
          Value scratch = describe<ScratchOp>(body, apply, *kernel, frameSpace);
          YieldOp::create(body, loc,
                          call(body, apply, outputs, checkpoints, scratch));
        });
    apply->replaceAllUsesWith(frame.getResults());
  }
  apply->erase();
  return success();
}

namespace {
struct ExpandApply : pol::impl::ExpandApplyBase<ExpandApply> {
  void runOnOperation() override {
    SmallVector<ApplyOp> applies;
    getOperation().walk([&](ApplyOp apply) { applies.push_back(apply); });
    for (ApplyOp apply : applies)
      if (failed(expand(apply)))
        return signalPassFailure();
  }
};
} // namespace
