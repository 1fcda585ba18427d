//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Faults in plans for sizes that only a run knows.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

static std::string sized(const std::string &name, const std::string &extent) {
  return "%" + name + " = pol.alloc %s[" + extent + "] {name = \"" + name +
         "\"} : !pol.arena -> memref<?xf32>\n";
}

static std::string touch(const std::string &name, const std::string &at = "") {
  std::string attribute = at.empty() ? "" : " {at = \"" + at + "\"}";
  return "memref.store %v, %" + name + "[%c0]" + attribute +
         " : memref<?xf32>\n";
}

/// Parameters: %n, %m, %k.
static std::string inSizes(const std::string &body) {
  return "func.func @f(%s: !pol.arena, %n: index, %m: index, %k: index, "
         "%v: f32, %x: memref<4xf32>) {\n%c0 = arith.constant 0 : index\n"
         "%c1 = arith.constant 1 : index\n" +
         body + "return\n}\n";
}

/// %b is above %a, and %c above %b.
static std::string stacked() {
  return inSizes(sized("a", "%n") + sized("b", "%m") + sized("c", "%k") +
                 touch("a", "a1") + touch("b", "b1") + touch("a", "a2") +
                 touch("c", "c1") + touch("b", "b2") + touch("c", "c2"));
}

static std::vector<PlantedFault> getOrderFaults() {
  std::string program = stacked();
  return {
      shortened("EdgeDropped", program, "a", "a1", "b"),
      shortened("OtherEdgeDropped", program, "b", "b1", "c"),
      {"AllAtZero",
       program,
       [](Planter &planter) {
         for (MemoryItem &item : planter.body().items)
           item.offset = planter.constant(0);
       },
       {"both use bytes [0, ", ", where the sizes are "},
       "a",
       "b"},
      {"AboveWithoutAlignment",
       program,
       [](Planter &planter) {
         planter.item("b").offset = planter.sizes().addBytes(
             planter.item("a").offset, planter.item("a").bytes);
       },
       {"at a multiple of 256, but got 4"}},
      {"AboveAnother",
       program,
       // As if %a had the size of %k.
       [](Planter &planter) {
         planter.item("b").offset =
             planter.sizes().alignBytes(planter.item("c").bytes);
         planter.body().bytes = planter.space().bumpBytes;
       },
       {"where the sizes are "}},
      {"OneTermOfTheMaximum",
       inSizes(sized("a", "%n") + sized("b", "%m") + sized("c", "%k") +
               touch("a") + touch("b") + touch("c") + touch("a") + touch("b")),
       [](Planter &planter) {
         planter.item("c").offset =
             planter.sizes().alignBytes(planter.item("a").bytes);
         planter.item("b").offset = planter.constant(0);
         planter.item("a").offset =
             planter.sizes().alignBytes(planter.item("b").bytes);
         planter.body().bytes = planter.space().bumpBytes;
       },
       {"both use bytes", "where the sizes are "}},
      // Two orders that swap where one is lower than the other; the condition
      // that is chosen by is the wrong way round.
      {"MixOfTwoOrders",
       program,
       [](Planter &planter) {
         SizeContext &sizes = planter.sizes();
         Size less = sizes.get(SizeOp::LessS,
                               {planter.parameter(0), planter.parameter(1)});
         planter.item("b").offset =
             sizes.select(less, planter.item("b").offset, planter.constant(0));
       },
       {"buffer 'b'", "where the sizes are "}},
  };
}

static std::vector<PlantedFault> getHeightFaults() {
  std::string program = stacked();
  return {
      {"HeightOfTheFirst",
       program,
       [](Planter &planter) { planter.body().bytes = planter.item("a").bytes; },
       {"within ", "where the sizes are "}},
      {"HeightWrapsAround",
       inSizes(sized("a", "%n") + sized("b", "%m") + touch("a") + touch("b") +
               touch("a")),
       [](Planter &planter) {
         SizeContext &sizes = planter.sizes();
         Size four = sizes.constant(4), mask = sizes.constant(-256);
         auto bytes = [&](unsigned parameter) {
           return sizes.get(SizeOp::Mul, {planter.parameter(parameter), four});
         };
         Size aligned = sizes.get(
             SizeOp::And,
             {sizes.get(SizeOp::Add, {bytes(0), sizes.constant(255)}), mask});
         Size first = sizes.get(SizeOp::LessS, {sizes.constant(0), bytes(1)});
         planter.body().bytes = sizes.select(
             first, sizes.get(SizeOp::Add, {aligned, bytes(1)}), bytes(0));
       },
       {"where the sizes are "}},
      {"SizeWrapsAround",
       inSizes(sized("a", "%n") + touch("a")),
       [](Planter &planter) {
         Size bytes = planter.sizes().get(
             SizeOp::Mul, {planter.parameter(0), planter.constant(4)});
         planter.item("a").bytes = planter.item("a").kept = bytes;
         planter.body().bytes = bytes;
         planter.body().kept = bytes;
       },
       {"where the sizes are "}},
      {"SizeOfAnotherParameter",
       program,
       [](Planter &planter) {
         planter.item("a").bytes = planter.item("a").kept =
             planter.item("b").bytes;
       },
       {"expected buffer 'a'", "to take ", "where the sizes are "}},
      {"SizeOfASample",
       program,
       [](Planter &planter) {
         planter.item("a").bytes = planter.item("a").kept =
             planter.constant(4096);
       },
       {"expected buffer 'a'", "to take "}},
      {"HigherThanBumpForSome",
       program,
       [](Planter &planter) {
         planter.body().bytes = planter.sizes().max(planter.body().bytes,
                                                    planter.constant(100000));
       },
       {"it takes 100000 bytes, but a bump allocator 0"}},
      {"OverflowsForSome",
       program,
       [](Planter &planter) {
         planter.body().bytes = planter.sizes().select(
             planter.sizes().get(SizeOp::LessS,
                                 {planter.constant(63), planter.parameter(0)}),
             planter.constant(SizeExpr::overflow), planter.body().bytes);
       },
       {"it takes 9223372036854775807 bytes"}},
  };
}

/// Every one of %n trips keeps a buffer of %m.
static std::string growing() {
  return inSizes(sized("z", "%m") +
                 "%r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z) -> "
                 "(memref<?xf32>) {\n" +
                 sized("a", "%m") + touch("a") + touch("p") +
                 "scf.yield %a : memref<?xf32>\n} {at = \"loop\"}\n" +
                 touch("r"));
}

static std::vector<PlantedFault> getTripFaults() {
  std::string program = growing();
  return {
      {"StrideForSmallSizes",
       program,
       [](Planter &planter) {
         planter.scope("loop").stride = planter.constant(256);
       },
       {"bytes apart", "buffer 'a'", "but got 256", "where the sizes are"}},
      {"TripsOfAnotherParameter",
       program,
       [](Planter &planter) {
         MemoryScope &scope = planter.scope("loop");
         Size bytes = getLoopBytes(planter.sizes(), planter.parameter(1),
                                   scope.stride, planter.item("a").bytes);
         for (Size *size :
              {&scope.bytes, &scope.kept, &planter.item("loop").bytes,
               &planter.item("loop").kept})
           *size = bytes;
       },
       {"trips", "where the sizes are"}},
  };
}

POL_PLANTED_FAULTS(Order, getOrderFaults());
POL_PLANTED_FAULTS(Height, getHeightFaults());
POL_PLANTED_FAULTS(Trips, getTripFaults());
