//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_TRANSFORMS_PASSES_H
#define POL_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::pol {
struct ModulePlan;

#define GEN_PASS_DECL
#include "pol/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pol/Transforms/Passes.h.inc"

/// With what is told of the plans of public functions, if it is not null.
std::unique_ptr<Pass>
createPlanMemory(const PlanMemoryOptions &options,
                 std::function<void(const ModulePlan &)> onPlan);

} // namespace mlir::pol

#endif // POL_TRANSFORMS_PASSES_H
