//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults in what takes over the memory of something else.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

/// An elementwise op from `ins` to `out`; the maps are of all operands.
static std::string map(const std::string &ins, const std::string &types,
                       const std::string &out, const std::string &maps,
                       const std::string &arguments,
                       const std::string &iterators = "\"parallel\"",
                       const std::string &type = "memref<64xf32>") {
  return "linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" +
         iterators + "]} ins(" + ins + " : " + types + ") outs(" + out + " : " +
         type + ") {\n^bb0(" + arguments +
         "%o: f32):\nlinalg.yield %p : f32\n}\n";
}

static const char *const identity = "affine_map<(i) -> (i)>";

static std::string unary(const std::string &in, const std::string &out) {
  std::string maps = std::string(identity) + ", " + identity;
  return map("%" + in, "memref<64xf32>", "%" + out, maps, "%p: f32, ");
}

/// %b takes over %a, if `between` and `after` let it.
static PlantedFault overtaken(const std::string &name,
                              const std::string &program,
                              std::vector<std::string> words) {
  return {name, program,
          [](Planter &planter) {
            planter.inPlace("b", "a");
            planter.item("a").escapes = false;
            planter.place();
          },
          std::move(words)};
}

static std::string with(const std::string &op, const std::string &after = "") {
  return inFunction(alloc("a") + alloc("b") + use("a") + op + use("b", "b2") +
                    after);
}

static std::vector<PlantedFault> getInPlaceFaults() {
  std::string id = identity;
  std::string nothing = "but nothing works in place on them";
  std::vector<std::string> overlap = {"buffer 'a'", "buffer 'b'",
                                      "both use bytes"};
  std::string type = "memref<64xf32>";
  return {
      overtaken("ReadLater", with(unary("a", "b"), use("a") + use("b")),
                overlap),
      overtaken("ReadLaterThroughView",
                inFunction(alloc("a") + alloc("b") + use("a") +
                           "%w = memref.cast %a : memref<64xf32> to "
                           "memref<?xf32>\n" +
                           unary("a", "b") +
                           "%r = memref.load %w[%c0] : memref<?xf32>\n" +
                           use("b")),
                overlap),
      overtaken("WrittenEarlier",
                inFunction(alloc("a") + alloc("b") + use("a") + use("b") +
                           unary("a", "b") + use("b")),
                overlap),
      overtaken("ReadOnNextTrip",
                inFunction(alloc("a") + alloc("b") + use("a") +
                           "scf.for %i = %c0 to %c4 step %c1 {\n" +
                           unary("a", "b") + "}\n" + use("b")),
                overlap),
      overtaken(
          "ReadInOtherOperandOfTheOp",
          inFunction(alloc("a") + alloc("b") + use("a") +
                     "%w = memref.subview %a[0] [64] [1] : memref<64xf32>"
                     " to memref<64xf32, strided<[1]>>\n" +
                     map("%a, %w", type + ", memref<64xf32, strided<[1]>>",
                         "%b", id + ", affine_map<(i) -> (i)>, " + id,
                         "%p: f32, %q: f32, ") +
                     use("b")),
          {nothing}),
      overtaken("OfCopy",
                with("memref.copy %a, %b : memref<64xf32> to memref<64xf32>\n"),
                {nothing}),
      overtaken("OfReversal",
                with(map("%a", type, "%b", "affine_map<(i) -> (63 - i)>, " + id,
                         "%p: f32, ")),
                {nothing}),
      overtaken("OfReduction",
                with(map("%a", type, "%b",
                         "affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>",
                         "%p: f32, ", "\"parallel\", \"reduction\"")),
                {nothing}),
      overtaken("OfReductionOfNothing",
                with(map("%a", type, "%b", id + ", " + id, "%p: f32, ",
                         "\"reduction\"")),
                {nothing}),
      // Every element is written once for each of %d's.
      overtaken(
          "OfBroadcast",
          inFunction(alloc("a") + alloc("b") +
                     "%d = memref.alloc() : memref<64x4xf32>\n" + use("a") +
                     map("%a, %d", type + ", memref<64x4xf32>", "%b",
                         "affine_map<(i, j) -> (i)>, affine_map<(i, j) "
                         "-> (i, j)>, affine_map<(i, j) -> (i)>",
                         "%p: f32, %q: f32, ", "\"parallel\", \"parallel\"") +
                     use("b")),
          {nothing}),
      overtaken("OfTransposition",
                inFunction("%a = pol.alloc %s[] {name = \"a\"} : !pol.arena -> "
                           "memref<8x8xf32>\n%b = pol.alloc %s[] {name = "
                           "\"b\"} : !pol.arena -> memref<8x8xf32>\n"
                           "memref.store %v, %a[%c0, %c0] : memref<8x8xf32>\n" +
                           map("%a", "memref<8x8xf32>", "%b",
                               "affine_map<(i, j) -> (j, i)>, affine_map<(i, "
                               "j) -> (i, j)>",
                               "%p: f32, ", "\"parallel\", \"parallel\"",
                               "memref<8x8xf32>") +
                           "memref.store %v, %b[%c0, %c0] : memref<8x8xf32>\n"),
                {nothing}),
      overtaken("OfTwoReaders", with(unary("a", "b") + unary("a", "x"), ""),
                overlap),
      overtaken("OfUnrelated", with(unary("x", "b")), {nothing}),
      overtaken("Returned",
                inFunction(alloc("a") + alloc("b") + use("a") +
                               unary("a", "b") + use("b"),
                           "return %a : memref<64xf32>"),
                {"buffer 'a'"}),
  };
}

static std::vector<PlantedFault> getSharingFaults() {
  std::string good = with(unary("a", "b"));
  return {
      {"SharedWithoutSayingSo",
       good,
       [](Planter &planter) { planter.item("b").inPlaceOf = -1; },
       {"buffer 'a'", "buffer 'b'", "both use bytes"}},
      {"AtAnotherPlace",
       good,
       [](Planter &planter) {
         planter.item("b").offset = planter.constant(256);
         planter.body().bytes = planter.constant(512);
       },
       {"expected the place of buffer 'a'", "0, but got 256"}},
      {"UnequalSizes",
       inFunction("%a = pol.alloc %s[] {name = \"a\"} : !pol.arena -> "
                  "memref<128xf32>\n%w = memref.subview %a[0] [64] [1] : "
                  "memref<128xf32> to memref<64xf32, strided<[1]>>\n" +
                  alloc("b") + "memref.store %v, %a[%c0] : memref<128xf32>\n" +
                  map("%w", "memref<64xf32, strided<[1]>>", "%b",
                      std::string(identity) + ", " + identity, "%p: f32, ") +
                  use("b")),
       [](Planter &planter) {
         planter.inPlace("b", "a");
         planter.place();
       },
       {"nothing works in place"}},
      {"OfItself",
       good,
       [](Planter &planter) { planter.inPlace("b", "b"); },
       {"expected buffer 'b'", "to take over the memory of another item"}},
      {"OfNothing",
       good,
       [](Planter &planter) { planter.item("b").inPlaceOf = 17; },
       {"expected buffer 'b'", "to take over the memory of another item"}},
      // Two take over one.
      {"Twice",
       inFunction(alloc("a") + alloc("b") + alloc("c") + use("a") +
                  unary("a", "b") + unary("b", "c") + use("c") + use("b")),
       [](Planter &planter) {
         planter.inPlace("c", "b");
         planter.place();
       },
       {"buffer 'b'", "buffer 'c'", "both use bytes"}},
  };
}

POL_PLANTED_FAULTS(InPlace, getInPlaceFaults());
POL_PLANTED_FAULTS(Sharing, getSharingFaults());
