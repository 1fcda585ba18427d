//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks memory plans. It finds out by itself when memory is in use, and has
// nothing in common with what plans, so that a mistake there is found here.

#ifndef POL_ANALYSIS_PLANVERIFIER_H
#define POL_ANALYSIS_PLANVERIFIER_H

#include "pol/Analysis/MemoryPlan.h"

namespace mlir::pol {

class ReferenceTracer;

/// What is wrong with a plan, in words.
struct PlanFault {
  Location location;
  std::string text;
};

/// Checks plans of a module's functions. Of a plan it takes what programs are
/// rewritten by: where items are, how large, and the scopes; of the planner
/// only the sizes, and the plans of callees.
class PlanVerifier {
public:
  PlanVerifier(MemoryPlanner &planner, ModuleOp module);
  ~PlanVerifier();

  /// The first fault of a plan. That there is none is proven for functions
  /// without size parameters, and where the parameters are those of a fixed set
  /// of samples.
  std::optional<PlanFault> verify(const FunctionPlan &plan);

private:
  MemoryPlanner &planner;
  std::unique_ptr<ReferenceTracer> tracer;
};

} // namespace mlir::pol

#endif // POL_ANALYSIS_PLANVERIFIER_H
