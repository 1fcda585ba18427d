//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Aliases that are dropped: a buffer is thought to be dead where it is in use
// under another name.

#include "PlanFaults.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

/// %w is made of %a by `view`, and used when %b is in use; %a itself is not.
static PlantedFault dropped(const std::string &name, const std::string &view,
                            const std::string &access,
                            const std::string &more = "") {
  return shortened(name,
                   inFunction(alloc("a") + alloc("b") + alloc("d") +
                              use("d", "d1") + use("a", "a1") + view +
                              use("b", "b1") + access + use("b", "b2")) +
                       more,
                   "a", "a1", "b");
}

static std::string load(const std::string &type,
                        const std::string &indices = "%c0") {
  return "%r = memref.load %w[" + indices + "] : " + type + "\n";
}

static std::vector<PlantedFault> getViewFaults() {
  std::string plain = "memref<64xf32>", square = "memref<8x8xf32>";
  std::string strided = "memref<8xf32, strided<[2], offset: 3>>";
  return {
      dropped("Subview",
              "%w = memref.subview %a[3] [8] [2] : " + plain + " to " +
                  strided + "\n",
              load(strided)),
      dropped("Cast", "%w = memref.cast %a : " + plain + " to memref<?xf32>\n",
              load("memref<?xf32>")),
      dropped("ReinterpretCast",
              "%w = memref.reinterpret_cast %a to offset: [3], sizes: [8], "
              "strides: [2] : " +
                  plain + " to " + strided + "\n",
              load(strided)),
      dropped("ExpandShape",
              "%w = memref.expand_shape %a [[0, 1]] output_shape [8, 8] : " +
                  plain + " into " + square + "\n",
              load(square, "%c0, %c1")),
      dropped("CollapseShape",
              "%q = memref.expand_shape %a [[0, 1]] output_shape [8, 8] : " +
                  plain + " into " + square +
                  "\n%w = memref.collapse_shape %q [[0, 1]] : " + square +
                  " into " + plain + "\n",
              load(plain)),
      dropped("Select", "%w = arith.select %cond, %x, %a : " + plain + "\n",
              load(plain)),
      dropped("SelectOfSelect",
              "%q = arith.select %cond, %a, %x : " + plain +
                  "\n%w = arith.select %cond, %x, %q : " + plain + "\n",
              load(plain)),
      dropped("BaseOfMetadata",
              "%w, %o, %n, %t = memref.extract_strided_metadata %a : " + plain +
                  " -> memref<f32>, index, index, index\n",
              load("memref<f32>", "")),
      dropped("AssumeAlignment",
              "%w = memref.assume_alignment %a, 64 : " + plain + "\n",
              load(plain)),
      dropped("Unrealized",
              "%w = builtin.unrealized_conversion_cast %a : " + plain +
                  " to memref<64xi32>\n",
              load("memref<64xi32>")),
  };
}

static std::vector<PlantedFault> getRegionFaults() {
  std::string plain = "memref<64xf32>";
  return {
      dropped("IfResult",
              "%w = scf.if %cond -> " + plain + " {\nscf.yield %a : " + plain +
                  "\n} else {\nscf.yield %x : " + plain + "\n}\n",
              load(plain)),
      dropped("SwitchResult",
              "%w = scf.index_switch %c1 -> " + plain +
                  "\ncase 3 {\nscf.yield %a : " + plain +
                  "\n}\ndefault {\nscf.yield %x : " + plain + "\n}\n",
              load(plain)),
      dropped("ExecuteRegionResult",
              "%w = scf.execute_region -> " + plain +
                  " {\nscf.yield %a : " + plain + "\n}\n",
              load(plain)),
      dropped("ForResult",
              "%w = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %a) -> (" +
                  plain + ") {\nscf.yield %p : " + plain + "\n}\n",
              load(plain)),
      // The second result is %a only after the first trip.
      dropped("ForSwap",
              "%w, %u = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %d, "
              "%q = %a) -> (" +
                  plain + ", " + plain + ") {\nscf.yield %q, %p : " + plain +
                  ", " + plain + "\n}\n",
              load(plain)),
      dropped("WhileResult",
              "%w = scf.while (%p = %a) : (" + plain + ") -> " + plain +
                  " {\nscf.condition(%cond) %p : " + plain +
                  "\n} do {\n^bb0(%q: " + plain +
                  "):\nscf.yield %q : " + plain + "\n}\n",
              load(plain)),
      dropped("FrameResult",
              "%w = pol.frame on %s : !pol.arena -> " + plain +
                  " {\n^bb0(%f: !pol.frame):\n%e = pol.alloc %f[] {name = "
                  "\"e\"} : !pol.frame -> " +
                  plain + "\n" + use("e") + "pol.yield %a : " + plain + "\n}\n",
              load(plain)),
  };
}

static std::vector<PlantedFault> getFunctionFaults() {
  std::string plain = "memref<64xf32>";
  std::string same = "func.func private @same(%p: " + plain + ") -> " + plain +
                     " {\nreturn %p : " + plain + "\n}\n";
  std::string type = "(" + plain + ") -> " + plain;
  std::string cell = "memref<1x" + plain + ">";
  std::string box = "%box = memref.alloca() : " + cell + "\n";
  return {
      dropped("CallResult", "%w = func.call @same(%a) : " + type + "\n",
              load(plain), same),
      dropped("ResultOfCallInCallee",
              "%w = func.call @twice(%a) : " + type + "\n", load(plain),
              same + "func.func private @twice(%p: " + plain + ") -> " + plain +
                  " {\n%r = func.call @same(%p) : " + type +
                  "\nreturn %r : " + plain + "\n}\n"),
      dropped("ResultOfUnknownCall",
              "%w = func.call @extern(%a) : " + type + "\n", load(plain),
              "func.func private @extern(" + plain + ") -> " + plain + "\n"),
      dropped("ResultOfRecursion",
              "%w = func.call @again(%a, %x, %cond) : (" + plain + ", " +
                  plain + ", i1) -> " + plain + "\n",
              load(plain),
              "func.func private @again(%p: " + plain + ", %q: " + plain +
                  ", %c: i1) -> " + plain + " {\n%r = scf.if %c -> " + plain +
                  " {\n%t = func.call @again(%q, %p, %c) : (" + plain + ", " +
                  plain + ", i1) -> " + plain + "\nscf.yield %t : " + plain +
                  "\n} else {\nscf.yield %p : " + plain +
                  "\n}\nreturn %r : " + plain + "\n}\n"),
      dropped("StoredInMemory",
              box + "memref.store %a, %box[%c0] : " + cell +
                  "\n%w = memref.load %box[%c0] : " + cell + "\n",
              load(plain)),
      dropped("StoredByCallee",
              box + "func.call @put(%a, %box) : (" + plain + ", " + cell +
                  ") -> ()\n%w = memref.load %box[%c0] : " + cell + "\n",
              load(plain),
              "func.func private @put(%p: " + plain + ", %b: " + cell +
                  ") {\n%z = arith.constant 0 : index\nmemref.store %p, "
                  "%b[%z] : " +
                  cell + "\nreturn\n}\n"),
      dropped("HeldByResultOfCallee",
              "%q = func.call @hold(%a) : (" + plain + ") -> " + cell +
                  "\n%w = memref.load %q[%c0] : " + cell + "\n",
              load(plain),
              "func.func private @hold(%p: " + plain + ") -> " + cell +
                  " {\n%z = arith.constant 0 : index\n%b = memref.alloc() : " +
                  cell + "\nmemref.store %p, %b[%z] : " + cell +
                  "\nreturn %b : " + cell + "\n}\n"),
      dropped("AddressTaken",
              "%w = memref.extract_aligned_pointer_as_index %a : " + plain +
                  " -> index\n",
              ""),
  };
}

POL_PLANTED_FAULTS(View, getViewFaults());
POL_PLANTED_FAULTS(Region, getRegionFaults());
POL_PLANTED_FAULTS(Function, getFunctionFaults());
