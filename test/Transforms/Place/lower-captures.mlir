// RUN: pol-opt %s --pol-lower-captures | FileCheck %s

// CHECK-LABEL: func.func @results(
// CHECK-SAME:    %[[X:.+]]: memref<f32>, %[[Y:.+]]: memref<f32>)
// CHECK-NEXT:    %[[V:.+]] = memref.load %[[X]][]
// CHECK-NEXT:    memref.store %[[V]], %[[Y]][]
// CHECK-NEXT:    memref.store %[[V]], %[[X]][]
// CHECK-NEXT:    return %[[Y]], %[[V]]
func.func @results(%x: memref<f32>, %y: memref<f32>) -> (memref<f32>, f32) {
  %0:2 = pol.capture -> memref<f32>, f32 {
    %v = memref.load %x[] : memref<f32>
    memref.store %v, %y[] : memref<f32>
    pol.yield %y, %v : memref<f32>, f32
  }
  memref.store %0#1, %x[] : memref<f32>
  return %0#0, %0#1 : memref<f32>, f32
}

// In regions, and in frames.

// CHECK-LABEL: func.func @nested(
// CHECK:         scf.if
// CHECK-NEXT:      pol.frame
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        pol.alloc
// CHECK-NEXT:        pol.frame on
// CHECK-NEXT:        ^bb0
// CHECK:         return
func.func @nested(%a: !pol.arena, %c: i1) {
  scf.if %c {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      pol.capture {
        %t = pol.alloc %f : !pol.frame -> memref<4xf32>
        pol.frame on %f : !pol.frame {
        ^bb0(%g: !pol.frame):
        }
      }
    }
  }
  return
}
