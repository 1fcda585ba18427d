// CSE made one of two marks with an allocation in between, as that writes
// nothing: the later retract reclaimed a buffer in use.

// RUN: pol-opt %s --cse | FileCheck %s
// RUN: pol-run %s --space arena:4K | FileCheck %s --check-prefix=OUT

// CHECK-LABEL: func.func @f(
// CHECK:         %[[FIRST:.+]] = pol.mark
// CHECK:         %[[SECOND:.+]] = pol.mark
// CHECK:         pol.retract %{{.+}}, %[[SECOND]]
// CHECK:         pol.retract %{{.+}}, %[[FIRST]]
// OUT: result 0: f32 min 1
func.func @f(%arena: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %first = pol.mark %arena : !pol.arena
  %t = pol.alloc %arena : !pol.arena -> memref<4xf32>
  %second = pol.mark %arena : !pol.arena
  memref.store %one, %t[%c0] : memref<4xf32>
  %ok = pol.retract %arena, %second : !pol.arena
  %v = pol.alloc %arena : !pol.arena -> memref<4xf32>
  memref.store %two, %v[%c0] : memref<4xf32>
  %r = memref.load %t[%c0] : memref<4xf32>
  %done = pol.retract %arena, %first : !pol.arena
  return %r : f32
}
