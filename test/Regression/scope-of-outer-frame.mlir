// RUN: pol-opt %s --pol-promote-frames=alloca-scope --pol-hoist-allocs --pol-lower-frames | FileCheck %s

// A buffer of an outer frame that is asked for inside an inner one was
// allocated in the inner one's scope, which gave it back too early.

// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    memref.alloca_scope {
// CHECK-NEXT:      %[[T:.+]] = memref.alloca() {{.*}} : memref<4xf32>
// CHECK-NEXT:      memref.alloca_scope {
// CHECK-NEXT:        memref.alloca() {{.*}} : memref<8xf32>
// CHECK:           call @use(%[[T]])
func.func private @use(memref<4xf32>)
func.func private @use8(memref<8xf32>)
func.func @f(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      %u = pol.alloc %g : !pol.frame -> memref<8xf32>
      func.call @use8(%u) : (memref<8xf32>) -> ()
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      pol.yield %t : memref<4xf32>
    }
    func.call @use(%s) : (memref<4xf32>) -> ()
  }
  return
}
