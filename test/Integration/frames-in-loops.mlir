// REQUIRES: pol-run
// RUN: bash -c "ulimit -s 8192; pol-run %s --input i64=1000000 --input i64=4 --opt-level 0" | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --input i64=4 --opt-level 0" | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --input i64=4 --opt-level 3" | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --input i64=4 --opt-level 0 --space arena:4K" \
// RUN:   | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --input i64=4 --opt-level 3 --space arena:4K --max-stack-bytes=0" \
// RUN:   | FileCheck %s

// A million trips take no more memory than one: on the stack, in an arena, on
// the heap; in the loop itself, and in functions that it calls.

func.func private @static(%a: !pol.arena, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<256xf32>
    memref.store %x, %t[%c0] : memref<256xf32>
    %v = memref.load %t[%c0] : memref<256xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

func.func private @dynamic(%a: !pol.arena, %m: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%m, %m] : !pol.frame -> memref<?x?xf32>
    memref.store %x, %t[%c0, %c0] : memref<?x?xf32>
    %v = memref.load %t[%c0, %c0] : memref<?x?xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

// CHECK: result 0: {{.*}} [1e+06]
func.func @main(%a: !pol.arena, %n: index, %m: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %u = func.call @static(%a, %one) : (!pol.arena, f32) -> f32
    %v = func.call @dynamic(%a, %m, %u) : (!pol.arena, index, f32) -> f32
    %w = pol.frame on %a : !pol.arena -> f32 {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> memref<64xf32>
      memref.store %v, %t[%c0] : memref<64xf32>
      %q = memref.load %t[%c0] : memref<64xf32>
      pol.yield %q : f32
    }
    %next = arith.addf %s, %w : f32
    scf.yield %next : f32
  }
  return %r : f32
}
