//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the pipelines for the CPU and for GPUs build alike.

#ifndef POL_LIB_PIPELINES_STAGES_H
#define POL_LIB_PIPELINES_STAGES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::pol {

/// Every stage ends with a check of what it leaves.
void endStage(OpPassManager &pm, StringRef stage);

/// Kernels are expanded by a pass, and what buffers and copies that adds is
/// reported.
void buildExpandedKernels(OpPassManager &pm, bool strict, bool reportHidden,
                          std::unique_ptr<Pass> expansion);

/// Structured control flow and what works on it is lowered to branches, and
/// functions that can fail get a status and an entry point.
void buildUnstructuredCode(OpPassManager &pm);

/// What the CPU's LLVM does not have is expanded or called.
void buildCPUMath(OpPassManager &pm);

} // namespace mlir::pol

#endif // POL_LIB_PIPELINES_STAGES_H
