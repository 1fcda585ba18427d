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

/// The bytes that each space needs, by its argument; an error where they
/// overflow.
llvm::Expected<llvm::DenseMap<unsigned, int64_t>>
getFootprints(const mlir::pol::PlanDescription &plan,
              llvm::ArrayRef<int64_t> parameters);

/// The plan's spaces for these sizes, in order, as yet without names.
std::vector<mlir::pol::ReportedSpace>
reportPlan(const mlir::pol::PlanDescription &plan,
           llvm::ArrayRef<int64_t> parameters, llvm::StringRef mode);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_PLANREPORT_H
