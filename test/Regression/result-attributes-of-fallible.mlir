// RUN: pol-opt %s --pol-thread-status | FileCheck %s

// A function that can fail and has attributes on its results got one list of
// attributes too many.

// CHECK: func.func @f(%{{.+}}: !pol.arena {test.a}) -> (f32 {test.b}, i1)
func.func @f(%a: !pol.arena {test.a}) -> (f32 {test.b}) {
  %z = arith.constant 0.0 : f32
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  return %z : f32
}
