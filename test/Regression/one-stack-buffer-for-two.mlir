// REQUIRES: pol-run
// RUN: pol-opt %s --pol-promote-frames --pol-hoist-allocs --pol-lower-frames | FileCheck %s
// RUN: pol-run %s --entry main --input 2xf32=iota --input i64=2 --space arena:64K \
// RUN:   | FileCheck %s --check-prefix=RAN

// A buffer that a loop carries from trip to trip, allocated on each from a
// frame around the loop, was hoisted: the new and the old one were the same.

// CHECK-LABEL: func.func private @swap(
// CHECK-NOT:     memref.alloca
// CHECK:         pol.mark
// CHECK:         scf.for
// CHECK:           pol.carve
func.func private @swap(%a: !pol.arena, %x: memref<2xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> memref<2xf32> {
      %q = pol.alloc %f : !pol.frame -> memref<2xf32>
      %u = memref.load %p[%c0] : memref<2xf32>
      memref.store %u, %q[%c1] : memref<2xf32>
      %v = memref.load %p[%c1] : memref<2xf32>
      memref.store %v, %q[%c0] : memref<2xf32>
      scf.yield %q : memref<2xf32>
    }
    memref.copy %r, %x : memref<2xf32> to memref<2xf32>
  }
  return
}

// RAN: result 0: {{.*}} [0]
// RAN: result 1: {{.*}} [1]
func.func @main(%a: !pol.arena, %x: memref<2xf32>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  call @swap(%a, %x, %n) : (!pol.arena, memref<2xf32>, index) -> ()
  %u = memref.load %x[%c0] : memref<2xf32>
  %v = memref.load %x[%c1] : memref<2xf32>
  return %u, %v : f32, f32
}
