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

/// Options of the pipelines. Each stage reads those that concern it.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
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
  Option<int64_t> maxStackBytes{
      *this, "max-stack-bytes",
      llvm::cl::desc("Bytes of stack that frames may take along any chain of "
                     "calls"),
      llvm::cl::init(64 * 1024)};
  Option<bool> openmp{
      *this, "openmp",
      llvm::cl::desc("Run parallel loops on OpenMP threads, not in sequence"),
      llvm::cl::init(false)};
};

/// Descriptions are answered, bundles dissolve. Tensors or memrefs.
void buildDescribeStage(OpPassManager &pm, const PipelineOptions &options);
/// Tensors become memrefs.
void buildMaterializeStage(OpPassManager &pm, const PipelineOptions &options);
/// Frames and allocations get their places.
void buildPlaceStage(OpPassManager &pm, const PipelineOptions &options);
/// Kernels become loops.
void buildExpandStage(OpPassManager &pm, const PipelineOptions &options);
/// Loops become LLVM's dialect.
void buildTargetStage(OpPassManager &pm, const PipelineOptions &options);

/// All stages: `--pol-to-llvm`.
void buildPolToLLVM(OpPassManager &pm, const PipelineOptions &options);

void registerPolPipelines();

} // namespace mlir::pol

#endif // POL_PIPELINES_PIPELINES_H
