// What one bit becomes as a number, and what of a number is left in one bit, was
// taken for the number itself: the slab was too small.

// RUN: pol-opt %s --pol-plan-memory --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-NOT: _footprint

func.func @cast(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c64 = arith.constant 64 : index
  %c1000 = arith.constant 1000 : index
  %p = arith.index_cast %n : index to i1
  %s = arith.select %p, %c64, %c1000 : index
  // expected-remark @+1 {{it is what 'arith.index_cast' gives}}
  %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
  return %t : memref<?xf32>
}

// -----

func.func @sign(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %i = arith.index_cast %p : i1 to index
  %s = arith.subi %c1000, %i : index
  // expected-remark @+1 {{it is what 'arith.index_cast' gives}}
  %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
  return %t : memref<?xf32>
}

// -----

func.func @signed(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %q = arith.cmpi eq, %n, %c1 : index
  %less = arith.cmpi slt, %p, %q : i1
  %s = arith.select %less, %c1, %c1000 : index
  // expected-remark @+1 {{it is what 'arith.cmpi' gives}}
  %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
  return %t : memref<?xf32>
}

// -----

func.func @least(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %q = arith.cmpi eq, %n, %c1 : index
  %less = arith.minsi %p, %q : i1
  %s = arith.select %less, %c1000, %c1 : index
  // expected-remark @+1 {{it is what 'arith.minsi' gives}}
  %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
  return %t : memref<?xf32>
}
