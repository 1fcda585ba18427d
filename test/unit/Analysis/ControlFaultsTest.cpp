//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults in live ranges over branches, frames and loops, and in the memory that
// the trips of loops have of their own.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

static std::string frame(const std::string &body, const std::string &on = "%s",
                         const std::string &name = "%f",
                         const std::string &type = "!pol.arena") {
  return "pol.frame on " + on + " : " + type + " {\n^bb0(" + name +
         ": !pol.frame):\n" + body + "} {at = \"frame" + name.substr(1) +
         "\"}\n";
}

static std::string loop(const std::string &body, const std::string &at = "loop",
                        const std::string &variable = "%i") {
  return "scf.for " + variable + " = %c0 to %c4 step %c1 {\n" + body +
         "} {at = \"" + at + "\"}\n";
}

static std::string branch(const std::string &then,
                          const std::string &otherwise) {
  return "scf.if %cond {\n" + then + "} else {\n" + otherwise +
         "} {at = \"if\"}\n";
}

static PlantedFault killedBefore(const std::string &name,
                                 const std::string &program,
                                 const std::string &item, const std::string &at,
                                 const std::string &other) {
  return {name,
          program,
          [=](Planter &planter) {
            planter.endBefore(item, at);
            planter.place();
          },
          {"both use bytes ["},
          item,
          other};
}

static std::vector<PlantedFault> getBranchFaults() {
  std::string both = alloc("a") + alloc("b");
  return {
      shortened("UseInBranch",
                inFunction(both + use("a", "a1") +
                           branch(use("b") + use("a") + use("b"), "")),
                "a", "a1", "b"),
      shortened("UseInOtherBranch",
                inFunction(both + use("a", "a1") + use("b", "b1") +
                           branch(use("b"), use("a")) + use("b")),
                "a", "a1", "b"),
      shortened("UseAfterBranch",
                inFunction(both + branch(use("a", "a1"), "") + use("b") +
                           use("a") + use("b")),
                "a", "a1", "b"),
      // On the path through the other branch, it is in use there, too.
      {"LiveThroughOtherBranch",
       inFunction(both + use("a") + branch("", use("b") + use("b")) + use("a")),
       [](Planter &planter) {
         planter.item("b").offset = planter.item("a").offset;
       },
       {"buffer 'a'", "buffer 'b'", "both use bytes ["},
       "a",
       "b"},
      shortened("UseInCase",
                inFunction(both + use("a", "a1") +
                           "%n = arith.index_castui %cond : i1 to index\n"
                           "scf.index_switch %n\ncase 1 {\n" +
                           use("b") + use("a") + use("b") +
                           "scf.yield\n}\ndefault {\n}\n"),
                "a", "a1", "b"),
      shortened("UseInExecuteRegion",
                inFunction(both + use("a", "a1") + use("b") +
                           "scf.execute_region {\n" + use("a") +
                           "scf.yield\n}\n" + use("b")),
                "a", "a1", "b"),
      shortened("UseInCapture",
                inFunction(both + use("a", "a1") + use("b") +
                           "pol.capture {\n" + use("a") + "}\n" + use("b")),
                "a", "a1", "b"),
  };
}

static std::vector<PlantedFault> getFrameFaults() {
  std::string inner = alloc("b", "%f", "!pol.frame");
  return {
      killedBefore("KilledAtInnerFrame",
                   inFunction(alloc("a") + use("a") + frame(inner + use("b")) +
                              use("a")),
                   "a", "framef", "b"),
      killedBefore(
          "KilledAtFrameOfFrame",
          inFunction(frame(inner + use("b") +
                           frame(alloc("a", "%g", "!pol.frame") + use("a"),
                                 "%f", "%g", "!pol.frame") +
                           use("b"))),
          "b", "frameg", "a"),
      // A view of what an outer frame holds leaves an inner one.
      shortened(
          "ResultOfFrame",
          inFunction(alloc("a") + alloc("b") +
                     "%w = pol.frame on %s : !pol.arena -> memref<64xf32> {\n"
                     "^bb0(%f: !pol.frame):\n" +
                     use("a") +
                     "%e = pol.alloc %f[] {name = \"e\"} : !pol.frame -> "
                     "memref<64xf32>\n" +
                     use("e") +
                     "pol.yield %a : memref<64xf32>\n} {at = \"frame\"}\n" +
                     use("b") + "%r = memref.load %w[%c0] : memref<64xf32>\n" +
                     use("b")),
          "a", "frame", "b"),
      // Whoever finds it may use it for as long as the frame is open.
      shortened("StoredInFrame",
                inFunction(frame(
                    "%box = memref.alloca() : memref<1xmemref<64xf32>>\n" +
                    inner + alloc("a", "%f", "!pol.frame") + use("a") +
                    "memref.store %a, %box[%c0] {at = \"put\"} : "
                    "memref<1xmemref<64xf32>>\n" +
                    use("b"))),
                "a", "put", "b"),
      shortened("FromOuterSpaceInFrame",
                inFunction(frame(alloc("a") + use("a", "a1") + inner +
                                 use("b") + use("a"))),
                "a", "a1", "b"),
  };
}

static std::vector<PlantedFault> getLoopFaults() {
  std::string both = alloc("a") + alloc("b");
  return {
      // On the next trip it is in use again.
      shortened("EndsBeforeBackEdge",
                inFunction(alloc("a") + use("a") +
                           loop(use("a", "a1") + alloc("b") + use("b"))),
                "a", "a1", "b"),
      {"BeginsOnLastTrip",
       inFunction(both + loop(use("a") + use("b", "b1"))),
       [](Planter &planter) {
         planter.item("b").begin = planter.points.getStart(planter.op("b1"));
         planter.item("b").end = planter.points.getEnd(planter.op("b1")) + 1;
         planter.item("a").end = planter.item("b").begin;
         planter.place();
       },
       {"both use bytes ["},
       "a",
       "b"},
      shortened("UseInInnerLoop",
                inFunction(loop(alloc("a") + use("a") +
                                loop(use("a", "a1") + alloc("b") + use("b"),
                                     "inner", "%j"))),
                "a", "a1", "b"),
      shortened("UseInWhile",
                inFunction(alloc("a") + use("a") + "scf.while : () -> () {\n" +
                           use("a", "a1") + "scf.condition(%cond)\n} do {\n" +
                           alloc("b") + use("b") + "scf.yield\n}\n"),
                "a", "a1", "b"),
      shortened("UseInParallelLoop",
                inFunction(both + use("a", "a1") + use("b") +
                           "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {\n" +
                           use("a") + "scf.reduce\n}\n" + use("b")),
                "a", "a1", "b"),
      shortened("SameTrip",
                inFunction(loop(both + use("a", "a1") + use("b") + use("a") +
                                use("b"))),
                "a", "a1", "b"),
  };
}

/// Every trip hands %a to the next one, and the last of them is used after the
/// loop.
static std::string carrying() {
  return inFunction(
      alloc("c") + use("c", "c1") +
      "%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> "
      "(memref<64xf32>) {\n" +
      alloc("a") + alloc("t") + use("t", "t1") + use("a", "a1") +
      use("t", "t2") + use("p") + "scf.yield %a : memref<64xf32>\n" +
      "} {at = \"loop\"}\n" + alloc("d") + use("d", "d1") + use("r", "r1") +
      use("d", "d2"));
}

static std::vector<PlantedFault> getCarryFaults() {
  std::string program = carrying();
  auto setScope = [](Size MemoryScope::*field, int64_t value) {
    return [=](Planter &planter) {
      planter.scope("loop").*field = planter.constant(value);
    };
  };
  return {
      {"TripsInOnePlace",
       program,
       setScope(&MemoryScope::stride, 0),
       {"expected trips", "apart", "buffer 'a'", "but got 0"}},
      {"StrideTooSmall",
       // Each trip keeps two buffers.
       inFunction(
           "%r, %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x, "
           "%o = %x) -> (memref<64xf32>, memref<64xf32>) {\n" +
           alloc("a") + alloc("b") + use("a") + use("b") +
           "scf.yield %a, %b : memref<64xf32>, memref<64xf32>\n} {at = "
           "\"loop\"}\n" +
           use("r") + use("q")),
       setScope(&MemoryScope::stride, 256),
       {"expected trips 512 or more bytes apart", "but got 256"}},
      {"StrideMisaligned",
       program,
       setScope(&MemoryScope::stride, 300),
       {"expected trips a multiple of 256 bytes apart, but got 300"}},
      {"CarriedIsNot",
       program,
       [](Planter &planter) {
         planter.endAt("a", "a1");
         planter.item("a").escapes = false;
         planter.place();
       },
       {"buffer 'a'", "which are kept"}},
      {"SharedWithinTrip",
       program,
       [](Planter &planter) {
         planter.item("t").offset = planter.item("a").offset;
       },
       {"buffer 'a'", "buffer 't'", "both use bytes"},
       "a",
       "t"},
      {"CarriedEndsBeforeNextUse",
       inFunction("%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> "
                  "(memref<64xf32>) {\n" +
                  alloc("a") + alloc("t") + use("a", "a1") + use("t", "t1") +
                  "scf.yield %a : memref<64xf32>\n} {at = \"loop\"}\n"),
       [](Planter &planter) {
         // It still counts as kept.
         planter.item("a").end = planter.points.getEnd(planter.op("a1")) + 1;
         planter.place();
       },
       {"buffer 'a'", "buffer 't'", "both use bytes"},
       "a",
       "t"},
      {"NoScopeOfItsOwn",
       program,
       [](Planter &planter) {
         SpacePlan &space = planter.space();
         MemoryItem a = planter.item("a"), t = planter.item("t");
         planter.body().items.erase(&planter.item("loop"));
         space.scopes.pop_back();
         planter.body().items.append({a, t});
         planter.place();
       },
       {"buffer 'a'", "one place for all trips of the loop at test:",
        "is in use after a trip"}},
      {"LoopDeadAfterIt",
       program,
       [](Planter &planter) {
         planter.item("loop").end = planter.item("loop").keptFrom;
         planter.place();
       },
       {"the loop", "buffer 'd'", "both use bytes"},
       "kept loop",
       "d"},
      {"LoopOfOneTrip",
       program,
       [](Planter &planter) {
         planter.item("loop").bytes = planter.constant(512);
         planter.item("loop").kept = planter.constant(256);
       },
       {"expected the loop", "to take 1280 bytes, but got 512"}},
      {"OneTripTooFew",
       program,
       [](Planter &planter) {
         planter.scope("loop").bytes = planter.constant(1024);
         planter.item("loop").bytes = planter.constant(1024);
       },
       {"within 1024 bytes for 4 trips"}},
      {"LastTripNotKept",
       program,
       [](Planter &planter) {
         planter.scope("loop").kept = planter.constant(768);
         planter.item("loop").kept = planter.constant(768);
       },
       {"buffer 'a'", "within the first 768, which are kept, for 4 trips"}},
      {"LastTripStillRead",
       inFunction("%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> "
                  "(memref<64xf32>) {\n" +
                  alloc("t") + use("t", "t1") + use("p") + use("t") +
                  alloc("a") + use("a") +
                  "scf.yield %a : memref<64xf32>\n"
                  "} {at = \"loop\"}\n"),
       [](Planter &planter) {
         planter.scope("loop").stride = planter.constant(0);
       },
       {"expected trips", "apart", "buffer 'a'"}},
      {"LoopHasNoPlace",
       program,
       [](Planter &planter) {
         planter.body().items.erase(&planter.item("loop"));
       },
       {"the loop", "has no place"}},
      {"ItemInWrongScope",
       program,
       [](Planter &planter) {
         MemoryItem moved = planter.item("c");
         planter.body().items.erase(&planter.item("c"));
         planter.scope("loop").items.push_back(moved);
       },
       {"buffer 'c'", "is not in the scope of its place"}},
      {"ScopeTwice",
       program,
       [](Planter &planter) {
         MemoryScope copy = planter.scope("loop");
         planter.space().scopes.push_back(copy);
       },
       {"one scope for a loop, but got two"}},
  };
}

POL_PLANTED_FAULTS(Branch, getBranchFaults());
POL_PLANTED_FAULTS(Frame, getFrameFaults());
POL_PLANTED_FAULTS(Loop, getLoopFaults());
POL_PLANTED_FAULTS(Carry, getCarryFaults());
