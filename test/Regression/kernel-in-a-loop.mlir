// REQUIRES: pol-run
// RUN: bash -c "ulimit -s 512; pol-run %s --input index=100000 --input 1x1x1x4xf32=ones --input 2x4xf32=ones --opt-level 0" | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input index=100000 --input 1x1x1x4xf32=ones --input 2x4xf32=ones --opt-level 0 --threads 1" | FileCheck %s
// RUN: bash -c "ulimit -s 512; pol-run %s --input index=100000 --input 1x1x1x4xf32=ones --input 2x4xf32=ones --opt-level 3" | FileCheck %s

// A kernel whose own parallel loop has one trip leaves its body in the loop
// around it. Its tiles on the stack were allocated anew on every trip.

// CHECK: result 0: {{.*}} [1, 1, 1, 1]
// CHECK: result 1: {{.*}} [2, 2, 2, 2]
func.func @main(%n: index, %q: memref<1x1x1x4xf32>, %x: memref<2x4xf32>)
    -> (memref<1x1x1x4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %heap = pol.thread_heap : !pol.heap
  %o = pol.alloc %heap : !pol.heap -> memref<1x1x1x4xf32>
  %db = pol.alloc %heap : !pol.heap -> memref<4xf32>
  %partials = pol.alloc %heap : !pol.heap -> memref<1x4xf32>
  %rstd = pol.alloc %heap : !pol.heap -> memref<2xf32>
  %mean = pol.alloc %heap : !pol.heap -> memref<2xf32>
  %y = pol.alloc %heap : !pol.heap -> memref<2x4xf32>
  pol.layer_norm ins(%x : memref<2x4xf32>) outs(%y : memref<2x4xf32>)
      checkpoints(%mean, %rstd : memref<2xf32>, memref<2xf32>)
  scf.for %i = %c0 to %n step %c1 {
    pol.attention ins(%q, %q, %q : memref<1x1x1x4xf32>, memref<1x1x1x4xf32>, memref<1x1x1x4xf32>)
        outs(%o : memref<1x1x1x4xf32>)
    pol.layer_norm_grad ins(%x, %x : memref<2x4xf32>, memref<2x4xf32>)
        checkpoints(%mean, %rstd : memref<2xf32>, memref<2xf32>)
        outs(dbias = %db : memref<4xf32>)
        scratch(dbias_partials = %partials : memref<1x4xf32>)
  }
  return %o, %db : memref<1x1x1x4xf32>, memref<4xf32>
}
