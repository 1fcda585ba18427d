//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults in what a plan says of straight code: where items are and how large.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

static std::string straight() {
  return inFunction(alloc("a") + alloc("b") + alloc("c") + use("a", "a1") +
                    use("b", "b1") + use("a", "a2") + use("b", "b2") +
                    use("c", "c1") + use("c", "c2"));
}

static std::vector<PlantedFault> getRangeFaults() {
  std::string program = straight();
  std::vector<std::string> words = {"buffer 'a'", "buffer 'b'",
                                    "both use bytes [0, 256) at test:"};
  return {
      shortened("LastAccessDropped", program, "a", "a1", "b"),
      {"FirstAccessDropped", program,
       [](Planter &planter) {
         planter.beginAt("b", "b2");
         planter.place();
       },
       words, "a", "b"},
      {"EndsWhereTheOtherBegins", program,
       [](Planter &planter) {
         planter.endBefore("a", "b1");
         planter.place();
       },
       words, "a", "b"},
      {"NeverUsed", program,
       [](Planter &planter) {
         planter.item("a").end = planter.item("a").begin;
         planter.place();
       },
       words, "a", "b"},
      {"ReturnedButKilled",
       inFunction(alloc("a") + alloc("b") + use("a", "a1") + use("b", "b1"),
                  "return %a : memref<64xf32>"),
       [](Planter &planter) {
         planter.endAt("a", "a1");
         planter.item("a").escapes = false;
         planter.place();
       },
       {"expected buffer 'a'", "within the first 0, which are kept"},
       "a",
       "b"},
      {"ReturnedUnwritten",
       inFunction(alloc("a") + alloc("b") + use("b", "b1"),
                  "return %a, %b : memref<64xf32>, memref<64xf32>"),
       [](Planter &planter) {
         planter.item("a").end = planter.item("a").begin;
         planter.place();
       },
       {"buffer 'a'", "buffer 'b'", "both use bytes [0, 256)"},
       "a",
       "b"},
  };
}

static std::vector<PlantedFault> getPlaceFaults() {
  std::string program = straight();
  auto set = [](Size MemoryItem::*field, int64_t value) {
    return [=](Planter &planter) {
      planter.item("b").*field = planter.constant(value);
    };
  };
  return {
      {"OneOffsetForTwo",
       program,
       set(&MemoryItem::offset, 0),
       {"buffer 'a'", "buffer 'b'", "both use bytes [0, 256)"},
       "a",
       "b"},
      {"Negative",
       program,
       set(&MemoryItem::offset, -256),
       {"expected buffer 'b'", "at a multiple of 256, but got -256"}},
      {"Misaligned",
       program,
       [](Planter &planter) {
         planter.item("b").offset = planter.constant(320);
       },
       {"expected buffer 'b'", "at a multiple of 256, but got 320"}},
      {"MisalignedByOne",
       program,
       set(&MemoryItem::offset, 257),
       {"expected buffer 'b'", "at a multiple of 256, but got 257"}},
      {"BeyondTheHeight",
       program,
       set(&MemoryItem::offset, 512),
       {"expected buffer 'b'", "bytes [512, 768), within 512 bytes"}},
      {"Overflow",
       program,
       set(&MemoryItem::offset, INT64_MAX - SizeExpr::alignment + 1),
       {"expected the end of buffer 'b'", "in 64 bits"}},
      {"TooSmall",
       program,
       set(&MemoryItem::bytes, 128),
       {"expected buffer 'b'", "to take 256 bytes, but got 128"}},
      {"KeepsTooLittle",
       program,
       set(&MemoryItem::kept, 0),
       {"expected buffer 'b'", "to keep 256 bytes, but got 0"}},
      {"NoOffset",
       program,
       [](Planter &planter) { planter.item("b").offset = nullptr; },
       {"size and offset of buffer 'b'", "to be known"}},
  };
}

static std::vector<PlantedFault> getListFaults() {
  std::string program = straight();
  return {
      {"HeightOfAllButOne",
       program,
       [](Planter &planter) { planter.body().bytes = planter.constant(256); },
       {"expected buffer 'b'", "within 256 bytes"}},
      {"HigherThanBump",
       program,
       [](Planter &planter) { planter.body().bytes = planter.constant(1024); },
       {"it takes 1024 bytes, but a bump allocator 768"}},
      {"KeepsMoreThanItTakes",
       program,
       [](Planter &planter) { planter.body().kept = planter.constant(1024); },
       {"no more than the 512 bytes in all, but got 1024"}},
      {"KeepsMoreThanBump",
       inFunction("pol.frame on %s : !pol.arena {\n^bb0(%f: !pol.frame):\n" +
                  alloc("a", "%f", "!pol.frame") + use("a") + "}\n"),
       [](Planter &planter) { planter.body().kept = planter.constant(256); },
       {"it keeps 256 bytes, but a bump allocator 0"}},
      {"NegativeHeight",
       program,
       [](Planter &planter) { planter.body().bytes = planter.constant(-1); },
       {"in all"}},
      {"ItemMissing",
       program,
       [](Planter &planter) { planter.body().items.erase(&planter.item("b")); },
       {"buffer 'b'", "has no place"}},
      {"ItemTwice",
       program,
       [](Planter &planter) {
         MemoryItem copy = planter.item("b");
         planter.body().items.push_back(copy);
       },
       {"buffer 'b'", "has two places"}},
      {"SpaceMissing",
       program,
       [](Planter &planter) { planter.plan.spaces.clear(); },
       {"space 0 has no plan"}},
      {"ScopeMissing",
       program,
       [](Planter &planter) { planter.space().scopes.front().op = nullptr; },
       {"expected the first scope to be the function"}},
      {"ItemOfOtherSpace",
       "func.func @f(%s: !pol.arena, %t: !pol.arena, %v: f32) {\n"
       "%c0 = arith.constant 0 : index\n" +
           alloc("a") + alloc("b", "%t") + use("a") + use("b") + "return\n}\n",
       [](Planter &planter) {
         MemoryItem moved = planter.plan.spaces[1].scopes[0].items[0];
         planter.body().items.push_back(moved);
       },
       {"buffer 'b'", "takes nothing of the space"}},
  };
}

POL_PLANTED_FAULTS(Range, getRangeFaults());
POL_PLANTED_FAULTS(Place, getPlaceFaults());
POL_PLANTED_FAULTS(List, getListFaults());
