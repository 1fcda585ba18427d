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
  BundleType description =
      kernel.getBundleType(builder.getContext(), VerbOp::role);
  Type type = description;
  if (space)
    type = getMaterializedType(description,
                               cast<SpaceTypeInterface>(space.getType()));
  auto verb = VerbOp::create(builder, apply.getLoc(), type, apply.getKernel(),
                             apply.getInputs(), space, apply.getPresentAttr(),
                             apply.getOptionsAttr(),
                             apply.getKernelRegions().size());
  for (auto [from, to] :
       llvm::zip_equal(apply.getKernelRegions(), verb.getKernelRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  return verb;
}

/// The outputs to allocate, with the caller's own in their places.
static Value overrideOutputs(OpBuilder &builder, ApplyOp apply,
                             const Kernel &kernel) {
  auto outputs = describe<OutputsOp>(builder, apply, kernel);
  if (apply.getOverrides().empty())
    return outputs;
  auto overrides =
      BundleOp::create(builder, apply.getLoc(),
                       llvm::to_vector(apply.getOverrideNamesAttr()
                                           .getAsRange<StringAttr>()),
                       apply.getOverrides());
  return MergeOp::create(builder, apply.getLoc(),
                         ValueRange{outputs, overrides});
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
  Value spec = overrideOutputs(builder, apply, *kernel);
  StringAttr name = getBareKernelName(apply.getKernel());
  // Outputs come first, so that they lie below the frame and survive it.
  Value outputs = AllocOp::create(
      builder, loc,
      getMaterializedType(spec.getType(),
                          cast<SpaceTypeInterface>(space.getType())),
      space, spec, ValueRange(), StringAttr(), name,
      BufferRoleAttr::get(apply.getContext(), BufferRole::Output));
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
