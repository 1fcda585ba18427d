// RUN: pol-opt %s --pol-hoist-allocs --pol-lower-frames | FileCheck %s

// Two arguments that are the same arena were taken for two: the retract of a
// frame on one lost what was allocated from the other.

// CHECK-LABEL: func.func private @f(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[B:.+]]: !pol.arena
// CHECK:         pol.carve %[[B]]
// CHECK:         pol.mark %[[A]]
func.func private @f(%a: !pol.arena, %b: !pol.arena) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %y = pol.alloc %b : !pol.arena -> memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
    pol.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func @caller(%a: !pol.arena) -> memref<4xf32> {
  %r = call @f(%a, %a) : (!pol.arena, !pol.arena) -> memref<4xf32>
  return %r : memref<4xf32>
}
