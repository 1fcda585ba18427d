// RUN: pol-opt %s --pol-promote-frames --pol-hoist-allocs --pol-lower-frames | FileCheck %s

// Recursion through a function pointer was not seen, and stack went to frames
// in it.

// CHECK-NOT: memref.alloca
func.func @pointed_at(%a: !pol.arena) {
  call @recursive(%a) : (!pol.arena) -> ()
  return
}
func.func @recursive(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %g = func.constant @pointed_at : (!pol.arena) -> ()
    func.call_indirect %g(%a) : (!pol.arena) -> ()
  }
  return
}
