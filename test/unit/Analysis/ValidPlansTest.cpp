//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Plans in which buffers share memory, and rightly so: the verifier has to
// accept them, of the planner as of a bump allocator.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

namespace {
/// With items that share memory in the planner's plan.
struct ValidPlan {
  std::string name;
  std::string program;
  std::string one, other;
};
} // namespace

static std::vector<ValidPlan> getValidPlans() {
  std::string both = alloc("a") + alloc("b");
  std::string type = "memref<64xf32>";
  std::string known = "%big = arith.cmpi slt, %c4, %n : index\n";
  auto withSize = [&](const std::string &body) {
    return "func.func @f(%s: !pol.arena, %n: index, %v: f32, %x: " + type +
           ") {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : "
           "index\n%c4 = arith.constant 4 : index\n" +
           body + "return\n}\n";
  };
  return {
      {"OneAfterTheOther", inFunction(both + use("a") + use("b")), "a", "b"},
      {"Branches",
       inFunction(both + "scf.if %cond {\n" + use("a") + "} else {\n" +
                  use("b") + "}\n"),
       "a", "b"},
      {"UsedAfterBranches",
       inFunction("%w = scf.if %cond -> " + type + " {\n" + alloc("a") +
                  use("a") + "scf.yield %a : " + type + "\n} else {\n" +
                  alloc("b") + use("b") + "scf.yield %b : " + type + "\n}\n" +
                  use("w")),
       "a", "b"},
      {"DeadInOtherBranch",
       inFunction(both + use("a") + "scf.if %cond {\n" + use("a") +
                  "} else {\n" + use("b") + "}\n"),
       "", ""},
      {"PerTrip",
       inFunction("scf.for %i = %c0 to %c4 step %c1 {\n" + both + use("a") +
                  use("b") + "}\n"),
       "a", "b"},
      {"TripReadsTheOneBefore",
       inFunction("%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> "
                  "(" +
                  type + ") {\n" + alloc("b") + use("b") + use("p") + use("b") +
                  alloc("a") + use("a") + "scf.yield %a : " + type + "\n}\n"),
       "a", "b"},
      {"KnownBranch",
       withSize(known + "%w = scf.if %big -> " + type + " {\n" + alloc("a") +
                use("a") + "scf.yield %a : " + type + "\n} else {\n" +
                "scf.yield %x : " + type + "\n}\n" + alloc("b") + use("b") +
                use("w") + use("b")),
       "", ""},
      {"KnownCase",
       withSize("%w = scf.index_switch %n -> " + type + "\ncase 3 {\n" +
                alloc("a") + use("a") + "scf.yield %a : " + type +
                "\n}\ndefault {\nscf.yield %x : " + type + "\n}\n" +
                alloc("b") + use("b") + use("w") + use("b")),
       "", ""},
      {"LoopThatMayNotRun",
       withSize("%w = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (" +
                type + ") {\n" + alloc("a") + use("a") + use("p") +
                "scf.yield %a : " + type + "\n}\n" + alloc("b") + use("b") +
                use("w") + use("b")),
       "", ""},
      {"PerTripThatMayNotRun",
       withSize("scf.for %i = %c0 to %n step %c1 {\n" + both + use("a") +
                use("b") + "}\n"),
       "a", "b"},
      {"AddressTakenInAFrameOfATrip",
       inFunction("scf.for %i = %c0 to %c4 step %c1 {\n"
                  "pol.frame on %s : !pol.arena {\n^bb0(%f: !pol.frame):\n" +
                  alloc("a", "%f", "!pol.frame") + use("a") +
                  "%p = memref.extract_aligned_pointer_as_index %a : " + type +
                  " -> index\n}\n}\n" + alloc("b") + use("b")),
       "a", "b"},
      {"MemoryOfAFrameStored",
       inFunction("%box = memref.alloca() : memref<1x" + type +
                  ">\n"
                  "pol.frame on %s : !pol.arena {\n^bb0(%f: !pol.frame):\n" +
                  alloc("a", "%f", "!pol.frame") + use("a") +
                  "memref.store %a, %box[%c0] : memref<1x" + type + ">\n}\n" +
                  alloc("b") + use("b")),
       "a", "b"},
      {"InPlace",
       inFunction(both + use("a") + "linalg.exp ins(%a : " + type +
                  ") outs(%b : " + type + ")\n" + use("b")),
       "a", "b"},
  };
}

class ValidPlanTest
    : public testing::TestWithParam<std::tuple<ValidPlan, PlacementMode>> {};

TEST_P(ValidPlanTest, IsAccepted) {
  const auto &[valid, mode] = GetParam();
  ParsedPlan parsed(valid.program, "f", mode);
  ASSERT_TRUE(parsed.plan);
  std::optional<PlanFault> found = parsed.verify();
  EXPECT_FALSE(found) << found->text;
  if (mode == PlacementMode::Plan && !valid.one.empty()) {
    Planter planter(*parsed.planner, *parsed.plan);
    EXPECT_TRUE(planter.overlap(valid.one, valid.other));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Valid, ValidPlanTest,
    testing::Combine(testing::ValuesIn(getValidPlans()),
                     testing::Values(PlacementMode::Plan, PlacementMode::Bump)),
    [](const auto &info) {
      return std::get<0>(info.param).name +
             (std::get<1>(info.param) == PlacementMode::Plan ? "Plan" : "Bump");
    });
