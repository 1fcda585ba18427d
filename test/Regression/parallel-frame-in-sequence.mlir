// REQUIRES: pol-run
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --threads 1 --opt-level 0" \
// RUN:   | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input i64=1000000 --threads 2 --opt-level 3" \
// RUN:   | FileCheck %s

// Workers' stack buffers were allocated on each trip of the sequential loop
// that a parallel one becomes on one thread, and what threads reduce into on
// each trip of a loop around it: the stack overflowed.

// CHECK: result 0: {{.*}} [4e+06]
func.func @main(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 50 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c5 iter_args(%s = %zero) -> f32 {
    %p = scf.parallel (%j, %k) = (%c0, %c0) to (%c4, %c5) step (%c1, %c1) init (%s) -> f32 {
      %v = pol.frame on %a : !pol.arena -> f32 {
      ^bb0(%f: !pol.frame):
        %t = pol.alloc %f : !pol.frame -> memref<64xf32>
        memref.store %one, %t[%k] : memref<64xf32>
        %u = memref.load %t[%k] : memref<64xf32>
        pol.yield %u : f32
      }
      scf.reduce(%v : f32) {
      ^bb0(%left: f32, %right: f32):
        %x = arith.addf %left, %right : f32
        scf.reduce.return %x : f32
      }
    }
    scf.yield %p : f32
  }
  return %r : f32
}
