//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults of a planner that are planted in plans, to see the verifier refuse
// them.

#ifndef POL_TEST_UNIT_ANALYSIS_PLANFAULTS_H
#define POL_TEST_UNIT_ANALYSIS_PLANFAULTS_H

#include "pol/Analysis/PlanVerifier.h"
#include "gtest/gtest.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::pol::test {

/// A program and the plan of a function of it.
struct ParsedPlan {
  ParsedPlan(const std::string &program, const std::string &function,
             PlacementMode mode);
  std::optional<PlanFault> verify();

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<MemoryPlanner> planner;
  /// None if the program is wrong, or has no plan.
  std::optional<FunctionPlan> plan;
};

/// A plan to change. Items and ops are found by name: an allocation by its
/// `name`, a call as "@callee", any other op by its attribute `at`.
class Planter {
public:
  Planter(MemoryPlanner &planner, FunctionPlan &plan)
      : planner(planner), plan(plan), points(plan.function) {}

  MemoryItem &item(StringRef name);
  MemoryScope &scope(StringRef name);
  SpacePlan &space() { return plan.spaces.front(); }
  MemoryScope &body() { return space().scopes.front(); }
  Operation *op(StringRef name);
  SizeContext &sizes() { return planner.getContext(); }
  Size constant(int64_t value) { return sizes().constant(value); }
  Size parameter(int64_t number) { return sizes().parameter(number); }

  /// An item ends with an op, or begins with one, or with an op's start ends.
  void endAt(StringRef name, StringRef at);
  void endBefore(StringRef name, StringRef at);
  void beginAt(StringRef name, StringRef at);
  /// One takes over the memory of another.
  void inPlace(StringRef name, StringRef of);
  /// As the planner does, all items get their places anew.
  void place();
  /// Whether items share addresses, for some sizes. "kept NAME" is what a call
  /// or loop keeps.
  bool overlap(StringRef one, StringRef other);

  MemoryPlanner &planner;
  FunctionPlan &plan;
  ProgramPoints points;
};

struct PlantedFault {
  std::string name;
  std::string program;
  std::function<void(Planter &)> plant;
  /// Of the error.
  std::vector<std::string> words;
  /// Items that share addresses only with the fault; if empty, the fault is not
  /// of that kind.
  std::string one = {}, other = {};
  std::string function = "f";
};

/// "f" with an arena %s, %x of 64 f32, a number %v and a condition %cond.
std::string inFunction(const std::string &body,
                       const std::string &results = "return");
/// Of 64 f32.
std::string alloc(const std::string &name, const std::string &space = "%s",
                  const std::string &type = "!pol.arena");
/// A write of a buffer of 64 f32.
std::string use(const std::string &name, const std::string &at = "");

/// A shortened live range, after which `one` and `other` share.
PlantedFault shortened(const std::string &name, const std::string &program,
                       const std::string &item, const std::string &at,
                       const std::string &other);

class PlanFaultTest : public testing::TestWithParam<PlantedFault> {};

} // namespace mlir::pol::test

#define POL_PLANTED_FAULTS(suite, faults)                                      \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      suite, PlanFaultTest, testing::ValuesIn(faults),                         \
      [](const testing::TestParamInfo<PlantedFault> &info) {                   \
        return info.param.name;                                                \
      })

#endif // POL_TEST_UNIT_ANALYSIS_PLANFAULTS_H
