//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The pipelines: one build function per stage, and the ones that users run,
// which are only these.

#ifndef POL_PIPELINES_PIPELINES_H
#define POL_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::pol {
struct ModulePlan;

/// What expands kernels: `convert-pol-to-vector` or `convert-pol-to-linalg`.
enum class Expansion { Vector, Linalg };

/// Options that all pipelines have. Each stage reads those that concern it.
template <typename Pipeline>
struct StageOptions : PassPipelineOptions<Pipeline> {
  template <typename T>
  using Option = typename PassPipelineOptions<Pipeline>::template Option<T>;

  Option<bool> strict{
      *this, "strict",
      llvm::cl::desc(
          "A buffer or copy that no pol.alloc asked for is an error"),
      llvm::cl::init(false)};
  Option<bool> reportHidden{
      *this, "report-hidden",
      llvm::cl::desc("Say where buffers and copies were added"),
      llvm::cl::init(true)};
  Option<bool> checks{
      *this, "checks",
      llvm::cl::desc("Compare at run time extents that have to fit each other"),
      llvm::cl::init(true)};
  Option<std::string> placement{
      *this, "placement",
      llvm::cl::desc("How spaces are carved from: plan (as one slab, packed), "
                     "bump (as one slab, one buffer after the other) or carve "
                     "(buffer by buffer, at run time)"),
      llvm::cl::init("plan")};
  Option<int64_t> maxStackBytes{
      *this, "max-stack-bytes",
      llvm::cl::desc("Bytes of stack that frames may take along any chain of "
                     "calls"),
      llvm::cl::init(64 * 1024)};
};

/// Options of the pipeline for the CPU, and of single stages.
struct PipelineOptions : StageOptions<PipelineOptions> {
  /// Is told of the plans of public functions; may be null.
  std::function<void(const ModulePlan &)> onPlan;
  Option<Expansion> expansion{
      *this, "expansion", llvm::cl::desc("How kernels are expanded"),
      llvm::cl::init(Expansion::Vector),
      llvm::cl::values(
          clEnumValN(Expansion::Vector, "vector", "fast code for the target"),
          clEnumValN(Expansion::Linalg, "linalg", "the reference"))};
  Option<std::string> cpu{
      *this, "cpu",
      llvm::cl::desc("The CPU to compile for: x86-64-v2, x86-64-v3, x86-64-v4, "
                     "neon or host; by default the module's own target, or "
                     "x86-64-v3"),
      llvm::cl::init("")};
  Option<int64_t> maxWorkers{
      *this, "max-workers",
      llvm::cl::desc("Workers that may share a kernel; 0 for the CPU's own "
                     "number"),
      llvm::cl::init(0)};
  Option<bool> openmp{
      *this, "openmp",
      llvm::cl::desc("Run parallel loops on OpenMP threads, not in sequence"),
      llvm::cl::init(false)};
};

/// Options of the pipeline for NVIDIA's GPUs.
struct NVVMPipelineOptions : StageOptions<NVVMPipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("The GPU, such as sm_90"),
                           llvm::cl::init("sm_80")};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("Features of the target, such as +ptx80; by default the "
                     "least that the chip takes"),
      llvm::cl::init("")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("What kernels become: isa (PTX), bin, fatbin, or llvm "
                     "(bitcode; offload is another name)"),
      llvm::cl::init("isa")};
  Option<int> optLevel{*this, "opt-level",
                       llvm::cl::desc("How far kernels are optimized, 0 to 3"),
                       llvm::cl::init(2)};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("The folder of the CUDA toolkit; by default CUDA_ROOT, "
                     "CUDA_HOME, CUDA_PATH or the usual one"),
      llvm::cl::init("")};
  Option<int64_t> blockSize{*this, "block-size",
                            llvm::cl::desc("Threads in a block"),
                            llvm::cl::init(128)};
  Option<std::string> workerMemory{
      *this, "worker-memory",
      llvm::cl::desc("Where frames in parallel loops are: local (the thread's "
                     "own memory) or workgroup (the block's, as far as they "
                     "fit)"),
      llvm::cl::init("local")};
};

/// Descriptions are answered, bundles dissolve. Tensors or memrefs.
void buildDescribeStage(OpPassManager &pm, const PipelineOptions &options);
/// Tensors become memrefs.
void buildMaterializeStage(OpPassManager &pm, const PipelineOptions &options);
/// Frames and allocations get their places.
void buildPlaceStage(OpPassManager &pm, const PipelineOptions &options);
/// Kernels become loops.
void buildExpandStage(OpPassManager &pm, const PipelineOptions &options);
/// Kernels become launches on a GPU.
void buildExpandGPUStage(OpPassManager &pm, const NVVMPipelineOptions &options);
/// Loops become LLVM's dialect.
void buildTargetStage(OpPassManager &pm, const PipelineOptions &options);

/// All stages: `--pol-to-llvm`.
void buildPolToLLVM(OpPassManager &pm, const PipelineOptions &options);

/// All stages, for kernels on a GPU: `--pol-to-nvvm`.
void buildPolToNVVM(OpPassManager &pm, const NVVMPipelineOptions &options);

void registerPolPipelines();
void registerPolToNVVM();

} // namespace mlir::pol

#endif // POL_PIPELINES_PIPELINES_H
