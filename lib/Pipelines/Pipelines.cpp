//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Pipelines/Pipelines.h"

#include "Stages.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "pol/Conversion/Passes.h"
#include "pol/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::pol;

void mlir::pol::endStage(OpPassManager &pm, StringRef stage) {
  VerifyStageOptions options;
  options.stage = stage.str();
  pm.addPass(createVerifyStage(options));
}

void mlir::pol::buildDescribeStage(OpPassManager &pm,
                                   const PipelineOptions &options) {
  if (options.expansion != Expansion::Linalg) {
    SetTargetOptions target;
    target.cpu = options.cpu;
    target.maxWorkers = options.maxWorkers;
    pm.addPass(createSetTarget(target));
  }
  pm.addPass(createExpandApply());
  pm.addPass(createResolveDescriptions());
  FlattenBundlesOptions flatten;
  flatten.checks = options.checks;
  pm.addPass(createFlattenBundles(flatten));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  endStage(pm, "describe");
}

void mlir::pol::buildMaterializeStage(OpPassManager &pm,
                                      const PipelineOptions &options) {
  pm.addPass(createVerifyLifetimes());
  pm.addPass(createVerifyCheckpoints());
  BufferizeOptions bufferize;
  bufferize.strict = options.strict;
  bufferize.reportHidden = options.reportHidden;
  pm.addPass(createBufferize(bufferize));
  // Copies of a view to itself are found once equal views are one. What frames
  // yield from outside is dropped from their results: what is left is for the
  // verifier to judge.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  endStage(pm, "materialize");
}

void mlir::pol::buildPlaceStage(OpPassManager &pm,
                                const PipelineOptions &options) {
  pm.addPass(createVerifyLifetimes());
  pm.addPass(createVerifyCapture());
  pm.addPass(createReleaseBuffers());
  PromoteFramesOptions promote;
  promote.maxStackBytes = options.maxStackBytes;
  pm.addPass(createPromoteFrames(promote));
  pm.addPass(createHoistAllocs());
  if (options.placement != "carve") {
    PlanMemoryOptions plan;
    plan.mode = options.placement;
    plan.reportUnknown = options.reportHidden;
    pm.addPass(createPlanMemory(plan, options.onPlan));
  }
  pm.addPass(createLowerFrames());
  pm.addPass(createLowerCaptures());
  // Once there are no frames or captures that checks would have to be moved out
  // of.
  if (options.checks)
    pm.addPass(createEmitChecks());
  endStage(pm, "place");
}

void mlir::pol::buildExpandedKernels(OpPassManager &pm, bool strict,
                                     bool reportHidden,
                                     std::unique_ptr<Pass> expansion) {
  bool looksForHidden = strict || reportHidden;
  if (looksForHidden)
    pm.addPass(createMarkKnownBuffers());
  pm.addPass(std::move(expansion));
  // While copies are no loops yet.
  ReportHiddenOptions report;
  report.strict = strict;
  if (looksForHidden)
    pm.addPass(createReportHidden(report));
}

void mlir::pol::buildExpandStage(OpPassManager &pm,
                                 const PipelineOptions &options) {
  buildExpandedKernels(pm, options.strict, options.reportHidden,
                       options.expansion == Expansion::Linalg
                           ? createConvertPolToLinalg()
                           : createConvertPolToVector());
  pm.addPass(createConvertLinalgToLoopsPass());
  HoistStackBuffersOptions hoist;
  hoist.threads = options.openmp;
  pm.addPass(createHoistStackBuffers(hoist));
  pm.addPass(createCanonicalizerPass());
  endStage(pm, "expand");
}

void mlir::pol::buildUnstructuredCode(OpPassManager &pm) {
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createLowerExpandShapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createThreadStatus());
  pm.addPass(createEmitEntryPoints());
  endStage(pm, "target");
}

void mlir::pol::buildCPUMath(OpPassManager &pm) {
  // Compilers' support libraries lack conversions to bf16, and the instructions
  // for them flush subnormal results.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
}

void mlir::pol::buildTargetStage(OpPassManager &pm,
                                 const PipelineOptions &options) {
  pm.addPass(createForallToParallelLoopPass());
  if (options.openmp) {
    pm.addPass(createConvertSCFToOpenMPPass());
    pm.addPass(createFuseParallelRegions());
  }
  pm.addPass(createLowerAllocaScopes());
  buildUnstructuredCode(pm);
  buildCPUMath(pm);
  // Slices of vectors become shuffles, which the interface does not see to.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // What reads LLVM's dialect does not know pol's.
  SetTargetOptions none;
  none.cpu = "none";
  pm.addPass(createSetTarget(none));
}

void mlir::pol::buildPolToLLVM(OpPassManager &pm,
                               const PipelineOptions &options) {
  buildDescribeStage(pm, options);
  buildMaterializeStage(pm, options);
  buildPlaceStage(pm, options);
  buildExpandStage(pm, options);
  buildTargetStage(pm, options);
}

void mlir::pol::registerPolPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "pol-describe-stage", "Answer descriptions and dissolve bundles",
      buildDescribeStage);
  PassPipelineRegistration<PipelineOptions>("pol-materialize-stage",
                                            "Turn tensors into memrefs",
                                            buildMaterializeStage);
  PassPipelineRegistration<PipelineOptions>(
      "pol-place-stage", "Give frames and allocations their places",
      buildPlaceStage);
  PassPipelineRegistration<PipelineOptions>(
      "pol-expand-stage", "Expand kernels into loops", buildExpandStage);
  PassPipelineRegistration<PipelineOptions>(
      "pol-target-stage", "Lower loops to the LLVM dialect", buildTargetStage);
  PassPipelineRegistration<PipelineOptions>(
      "pol-to-llvm", "All stages, from kernels to the LLVM dialect for the CPU",
      buildPolToLLVM);
}
