//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults in what calls take and keep, in the caller and in the callee.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

/// A callee that needs scratch and returns what it allocates.
static std::string callee() {
  return "func.func private @make(%s: !pol.arena, %v: f32) -> memref<64xf32> "
         "{\n%c0 = arith.constant 0 : index\n" +
         alloc("r") + alloc("u") + use("r", "r1") + use("u", "u1") +
         "return %r : memref<64xf32>\n}\n";
}

static std::string call(const std::string &result = "%w") {
  return result + " = func.call @make(%s, %v) : (!pol.arena, f32) -> "
                  "memref<64xf32>\n";
}

static std::string caller() {
  return inFunction(alloc("a") + alloc("b") + use("a", "a1") + call() +
                    use("b", "b1") + use("w", "w1") + use("a", "a2") +
                    use("b", "b2")) +
         callee();
}

static std::vector<PlantedFault> getCallerFaults() {
  std::string program = caller();
  auto set = [](Size MemoryItem::*field, int64_t value) {
    return [=](Planter &planter) {
      planter.item("@make").*field = planter.constant(value);
    };
  };
  return {
      {"ResultDeadAfterCall",
       program,
       [](Planter &planter) {
         planter.item("@make").end = planter.item("@make").keptFrom;
         planter.place();
       },
       {"what the call of @make takes", "buffer 'b'", "both use bytes"},
       "kept @make",
       "b"},
      {"DeadDuringCall",
       program,
       [](Planter &planter) {
         planter.endBefore("a", "@make");
         planter.place();
       },
       {"buffer 'a'", "what the call of @make takes", "both use bytes"},
       "@make",
       "a"},
      {"KeepsOnlyFromItsStart",
       inFunction(alloc("a") + use("a") + call() + use("w") + use("a")) +
           callee(),
       [](Planter &planter) {
         planter.item("@make").keptFrom = planter.item("@make").begin;
         planter.place();
       },
       {"what the call of @make takes", "buffer 'a'", "both use bytes"},
       "@make",
       "a"},
      {"TooSmall",
       program,
       set(&MemoryItem::bytes, 256),
       {"expected what the call of @make takes",
        "to take 512 bytes, but got 256"}},
      {"KeptTooSmall",
       program,
       set(&MemoryItem::kept, 0),
       {"expected what the call of @make takes",
        "to keep 256 bytes, but got 0"}},
      {"Missing",
       program,
       [](Planter &planter) {
         planter.body().items.erase(&planter.item("@make"));
       },
       {"what the call of @make takes", "has no place"}},
      {"ResultOfCallReturned",
       inFunction(call(), "return %w : memref<64xf32>") + callee(),
       [](Planter &planter) {
         planter.item("@make").escapes = false;
         planter.place();
       },
       {"what the call of @make takes", "within the first 0, which are kept"}},
      {"ResultOfCallCarried",
       inFunction("%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> "
                  "(memref<64xf32>) {\n" +
                  call() + "scf.yield %w : memref<64xf32>\n}\n" + use("r")) +
           callee(),
       [](Planter &planter) {
         planter.item("@make").escapes = false;
         planter.place();
       },
       {"what the call of @make takes", "which are kept"}},
      // Of two calls in a row.
      {"OneResultForTwoCalls",
       inFunction(call("%p") + call("%q") + use("p") + use("q")) + callee(),
       [](Planter &planter) {
         for (MemoryItem &item : planter.body().items)
           item.end = item.keptFrom;
         planter.place();
       },
       {"both use bytes"}},
  };
}

/// A callee that leaves what it allocates in the caller's memory.
static std::string storing() {
  return "func.func private @store(%s: !pol.arena, "
         "%box: memref<1xmemref<64xf32>>) {\n"
         "%c0 = arith.constant 0 : index\n" +
         alloc("m") +
         "memref.store %m, %box[%c0] : memref<1xmemref<64xf32>>\nreturn\n}\n";
}

static std::vector<PlantedFault> getStoreFaults() {
  std::string box = "%box = memref.alloca() : memref<1xmemref<64xf32>>\n";
  std::string find = "%w = memref.load %box[%c0] : memref<1xmemref<64xf32>>\n";
  std::string type = "(!pol.arena, memref<1xmemref<64xf32>>) -> ()\n";
  return {
      {"StoredByCall",
       inFunction(box + alloc("b") + "func.call @store(%s, %box) : " + type +
                  use("b", "b1") + find + use("w")) +
           storing(),
       [](Planter &planter) {
         planter.item("@store").end = planter.item("@store").keptFrom;
         planter.item("@store").escapes = false;
         planter.place();
       },
       {"what the call of @store takes", "which are kept"},
       "@store",
       "b"},
      {"StoredInCallee",
       inFunction(box + "func.call @store(%s, %box) : " + type + find +
                  use("w")) +
           storing(),
       [](Planter &planter) {
         planter.item("m").escapes = false;
         planter.place();
       },
       {"buffer 'm'", "within the first 0, which are kept"},
       "",
       "",
       "store"},
      {"StoredAndFound",
       inFunction(box + alloc("a") + alloc("b") + use("a") +
                  "memref.store %a, %box[%c0] {at = \"put\"} : "
                  "memref<1xmemref<64xf32>>\n" +
                  use("b", "b1") + find + use("w") + use("b")),
       [](Planter &planter) {
         // It still counts as kept.
         planter.item("a").end = planter.points.getEnd(planter.op("put")) + 1;
         planter.place();
       },
       {"buffer 'a'", "buffer 'b'", "both use bytes"},
       "a",
       "b"},
      {"AddressTakenOnEachTrip",
       inFunction("scf.for %i = %c0 to %c4 step %c1 {\n" + alloc("a") +
                  use("a") +
                  "%p = memref.extract_aligned_pointer_as_index %a : "
                  "memref<64xf32> -> index\n} {at = \"loop\"}\n"),
       [](Planter &planter) {
         planter.scope("loop").stride = planter.constant(0);
       },
       {"expected trips", "apart", "buffer 'a'"}},
      // What one call returns holds it, and another one finds it there.
      {"FoundByCall",
       inFunction("%q = func.call @hold(%s) : (!pol.arena) -> "
                  "memref<1xmemref<64xf32>>\n" +
                  alloc("b") +
                  "%w = func.call @find(%q) : (memref<1xmemref<64xf32>>) -> "
                  "memref<64xf32>\n" +
                  use("b") + use("w") + use("b")) +
           "func.func private @hold(%s: !pol.arena) -> "
           "memref<1xmemref<64xf32>> {\n%c0 = arith.constant 0 : index\n" +
           alloc("m") +
           "%b = memref.alloc() : memref<1xmemref<64xf32>>\n"
           "memref.store %m, %b[%c0] : memref<1xmemref<64xf32>>\n"
           "return %b : memref<1xmemref<64xf32>>\n}\n"
           "func.func private @find(%b: memref<1xmemref<64xf32>>) -> "
           "memref<64xf32> {\n%c0 = arith.constant 0 : index\n"
           "%r = memref.load %b[%c0] : memref<1xmemref<64xf32>>\n"
           "return %r : memref<64xf32>\n}\n",
       [](Planter &planter) {
         // Only what finds it is thought to use it.
         planter.endAt("@hold", "@find");
         planter.place();
       },
       {"what the call of @hold takes", "buffer 'b'", "both use bytes"},
       "kept @hold",
       "b"},
      {"StoredOnEachTrip",
       inFunction(box + alloc("c") + "scf.for %i = %c0 to %c4 step %c1 {\n" +
                  alloc("a") + use("a") +
                  "memref.store %a, %box[%c0] : memref<1xmemref<64xf32>>\n"
                  "} {at = \"loop\"}\n" +
                  find + use("w") + use("c")),
       [](Planter &planter) {
         planter.scope("loop").stride = planter.constant(0);
       },
       {"expected trips", "apart", "buffer 'a'"}},
  };
}

static std::vector<PlantedFault> getCalleeFaults() {
  std::string program = caller();
  return {
      {"KeptTrimmed",
       program,
       [](Planter &planter) { planter.body().kept = planter.constant(0); },
       {"the plan of @make", "buffer 'r'",
        "within the first 0, which are kept"},
       "",
       "",
       "make"},
      {"KeptTrimmedByBytes",
       program,
       [](Planter &planter) { planter.body().kept = planter.constant(128); },
       {"buffer 'r'", "within the first 128, which are kept"},
       "",
       "",
       "make"},
      {"OutputKilledBeforeReturn",
       program,
       [](Planter &planter) {
         planter.item("r").end = planter.points.getEnd(planter.op("r1")) + 1;
         planter.place();
       },
       {"buffer 'r'", "buffer 'u'", "both use bytes"},
       "r",
       "u",
       "make"},
      {"ScratchBelowKept",
       program,
       [](Planter &planter) {
         std::swap(planter.item("r").offset, planter.item("u").offset);
       },
       {"buffer 'r'", "within the first 256, which are kept"},
       "",
       "",
       "make"},
  };
}

POL_PLANTED_FAULTS(Caller, getCallerFaults());
POL_PLANTED_FAULTS(Store, getStoreFaults());
POL_PLANTED_FAULTS(Callee, getCalleeFaults());
