// RUN: pol-opt %s --pol-promote-frames=alloca-scope --pol-hoist-allocs --pol-lower-frames --split-input-file | FileCheck %s

// Buffers are at the start of the scope of their own frame, wherever in it they
// are asked for.

// CHECK-LABEL: func.func @scope(
// CHECK:         scf.for
// CHECK-NEXT:      %[[R:.+]] = memref.alloca_scope -> (f32) {
// CHECK-NEXT:        %[[T:.+]] = memref.alloca()
// CHECK:             memref.alloca_scope.return %{{.+}} : f32
// CHECK:           }
func.func @scope(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = pol.frame on %a : !pol.arena -> f32 {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      %v = memref.load %t[%c0] : memref<4xf32>
      pol.yield %v : f32
    }
  }
  return
}

// -----

// The outer frame's buffer outlives the inner scope.

// CHECK-LABEL: func.func @outer_from_inner(
// CHECK-NEXT:    memref.alloca_scope {
// CHECK-NEXT:      %[[T:.+]] = memref.alloca() {{.*}}name = "t"
// CHECK-NEXT:      memref.alloca_scope {
// CHECK-NEXT:        %[[U:.+]] = memref.alloca() {{.*}}name = "u"
// CHECK:             memref.copy %[[U]], %[[T]]
// CHECK:           }
// CHECK:           call @use(%[[T]])
func.func private @use(memref<4xf32>)
func.func @outer_from_inner(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      %u = pol.alloc %g {name = "u"} : !pol.frame -> memref<4xf32>
      %t = pol.alloc %f {name = "t"} : !pol.frame -> memref<4xf32>
      memref.copy %u, %t : memref<4xf32> to memref<4xf32>
      pol.yield %t : memref<4xf32>
    }
    func.call @use(%s) : (memref<4xf32>) -> ()
  }
  return
}

// -----

// CHECK-LABEL: func.func @loop_inside(
// CHECK:         memref.alloca_scope {
// CHECK-NEXT:      memref.alloca()
// CHECK-NEXT:      scf.for
// CHECK-NOT:         memref.alloca()
func.func private @use(memref<4xf32>)
func.func @loop_inside(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    scf.for %i = %c0 to %n step %c1 {
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      func.call @use(%t) : (memref<4xf32>) -> ()
    }
  }
  return
}
