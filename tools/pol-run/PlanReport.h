//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A plan for the shapes of one run.

#ifndef POL_TOOLS_POL_RUN_PLANREPORT_H
#define POL_TOOLS_POL_RUN_PLANREPORT_H

#include "Arguments.h"
#include "pol/Analysis/MemoryReport.h"
#include "pol/Analysis/PlanDescription.h"

namespace pol_run {

/// The bytes that each space argument needs; an error where they overflow.
llvm::Expected<std::vector<int64_t>>
getFootprints(const mlir::pol::PlanDescription &plan,
              llvm::ArrayRef<int64_t> parameters);

/// Puts what was planned in place of the slabs that were observed in `spaces`,
/// which come in the order of the space arguments.
void addPlan(std::vector<mlir::pol::ReportedSpace> &spaces,
             const mlir::pol::PlanDescription &plan,
             llvm::ArrayRef<int64_t> parameters, llvm::StringRef mode);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_PLANREPORT_H
