//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// From kernels to PTX, and to the code of the host that launches it.

#include "Stages.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "pol/Conversion/Passes.h"
#include "pol/Conversion/PolToGPU.h"
#include "pol/Pipelines/Pipelines.h"
#include "pol/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::pol;

void mlir::pol::buildExpandGPUStage(OpPassManager &pm,
                                    const NVVMPipelineOptions &options) {
  buildExpandedKernels(pm, options.strict, options.reportHidden,
                       createConvertPolToLinalg());
  pm.addPass(createForallToParallelLoopPass());
  // Nothing canonicalizes before loops are mapped: it would fold loops of one
  // trip, and what they do would run on the host.
  MapParallelLoopsToGPUOptions map;
  map.blockSize = options.blockSize;
  map.workerMemory = options.workerMemory;
  pm.addPass(createMapParallelLoopsToGPU(map));
  // What is left works on the host's memory.
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createHoistStackBuffers());
  pm.addPass(createLowerAllocaScopes());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  endStage(pm, "expand");
}

/// Kernels become objects of the format asked for.
static void buildKernels(OpPassManager &pm,
                         const NVVMPipelineOptions &options) {
  // Constants are computed in the kernel, not passed to it.
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertVectorToSCFPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(arith::createArithExpandOpsPass());
  ConvertGpuOpsToNVVMOpsOptions convert;
  convert.indexBitwidth = 64;
  kernels.addPass(createConvertGpuOpsToNVVMOps(convert));
  kernels.addPass(createExpandLibdeviceCalls());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());

  AttachNVVMTargetOptions attach;
  attach.chip = options.chip;
  attach.features = options.features;
  attach.optLevel = options.optLevel;
  attach.format = options.format;
  attach.toolkitPath = options.toolkit;
  pm.addPass(createAttachNVVMTarget(attach));
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = getGPUBinaryFormat(options.format);
  binary.toolkitPath = findCUDAToolkit(options.toolkit);
  pm.addPass(createGpuModuleToBinaryPass(binary));
}

/// What is left becomes LLVM's dialect, as for the CPU.
static void buildHost(OpPassManager &pm) {
  pm.addPass(createEraseGPUMemorySpaces());
  buildUnstructuredCode(pm);
  buildCPUMath(pm);
  pm.addPass(createGpuToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::pol::buildPolToNVVM(OpPassManager &pm,
                               const NVVMPipelineOptions &options) {
  PipelineOptions stages;
  stages.strict = options.strict;
  stages.reportHidden = options.reportHidden;
  stages.placement = options.placement;
  stages.maxStackBytes = options.maxStackBytes;
  stages.checks = options.checks;
  stages.expansion = Expansion::Linalg;
  buildDescribeStage(pm, stages);
  buildMaterializeStage(pm, stages);
  buildPlaceStage(pm, stages);
  buildExpandGPUStage(pm, options);
  buildKernels(pm, options);
  buildHost(pm);
}

void mlir::pol::registerPolToNVVM() {
  PassPipelineRegistration<NVVMPipelineOptions>(
      "pol-expand-gpu-stage", "Expand kernels into launches on a GPU",
      buildExpandGPUStage);
  PassPipelineRegistration<NVVMPipelineOptions>(
      "pol-to-nvvm",
      "All stages, from kernels to PTX or a binary for an NVIDIA GPU and the "
      "LLVM dialect for the host",
      buildPolToNVVM);
}
