// REQUIRES: pol-run
// RUN: pol-run %s --entry softmax --input 3xf32=const:2 --space arena:64K --strict \
// RUN:   | FileCheck %s --check-prefix=SOFTMAX
// RUN: pol-run %s --entry addresses --input 5xf32=iota --space arena:64K --strict \
// RUN:   --max-stack-bytes=0 | FileCheck %s --check-prefix=ADDRESSES

// A capture runs as what is in it.

// SOFTMAX: result 0: {{.*}} [0.333333, 0.333333, 0.333333]
func.func @softmax(%a: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = pol.capture -> tensor<?xf32> {
    %y = pol.apply "pol.softmax"(%x) in %a : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
    pol.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// From the same state of its space, and on the same shapes, it gives the same
// addresses, whatever is in the arrays.

func.func private @piece(%a: !pol.arena, %x: memref<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %r:2 = pol.capture -> index, index {
    %n = memref.dim %x, %c0 : memref<?xf32>
    %y = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
    %t = pol.frame on %a : !pol.arena -> index {
    ^bb0(%f: !pol.frame):
      %0 = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
      linalg.exp ins(%x : memref<?xf32>) outs(%0 : memref<?xf32>)
      linalg.exp ins(%0 : memref<?xf32>) outs(%y : memref<?xf32>)
      %1 = memref.extract_aligned_pointer_as_index %0 : memref<?xf32> -> index
      pol.yield %1 : index
    }
    memref.copy %y, %x : memref<?xf32> to memref<?xf32>
    %2 = memref.extract_aligned_pointer_as_index %y : memref<?xf32> -> index
    pol.yield %2, %t : index, index
  }
  return %r#0, %r#1 : index, index
}

// ADDRESSES: result 0: i1 {{.*}} [1]
// ADDRESSES: result 1: i1 {{.*}} [1]
func.func @addresses(%a: !pol.arena, %x: memref<?xf32>) -> (i1, i1) {
  %m = pol.mark %a : !pol.arena
  %0:2 = call @piece(%a, %x) : (!pol.arena, memref<?xf32>) -> (index, index)
  %done = pol.retract %a, %m : !pol.arena
  %1:2 = call @piece(%a, %x) : (!pol.arena, memref<?xf32>) -> (index, index)
  %2 = arith.cmpi eq, %0#0, %1#0 : index
  %3 = arith.cmpi eq, %0#1, %1#1 : index
  return %2, %3 : i1, i1
}
