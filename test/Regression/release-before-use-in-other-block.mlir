// RUN: pol-opt %s --pol-release-buffers | FileCheck %s

// A buffer was released at the end of its block, though blocks that it
// dominates use it without a block argument; and one that the program releases
// itself was released again.

// CHECK-LABEL: func.func @f(
// CHECK-NOT:     pol.release
// CHECK:       ^bb1:
// CHECK-NEXT:    memref.load
// CHECK-NOT:     pol.release
func.func @f(%h: !pol.heap) -> f32 {
  %c0 = arith.constant 0 : index
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  cf.br ^bb1
^bb1:
  %v = memref.load %a[%c0] : memref<4xf32>
  return %v : f32
}

// CHECK-LABEL: func.func @g(
// CHECK-COUNT-1: pol.release
// CHECK-NOT:     pol.release
func.func @g(%h: !pol.heap) {
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  pol.release %a in %h : memref<4xf32>, !pol.heap
  return
}
