// A frame inside another one, but opened on the arena instead of on the outer
// frame, reclaimed what came from the outer frame while it was open: silently,
// or through a call.

// RUN: split-file %s %t
// RUN: pol-run %t/direct.mlir --input i64=4 --space arena:1M \
// RUN:   | FileCheck %t/direct.mlir
// RUN: pol-run %t/direct.mlir --input i64=4 --space heap \
// RUN:   | FileCheck %t/direct.mlir
// RUN: pol-opt %t/call.mlir --pol-verify-lifetimes --verify-diagnostics

//--- direct.mlir
// CHECK: result 0: f32 min 1 max 1
func.func @main(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%outer: !pol.frame):
    %b = pol.frame on %a : !pol.arena -> memref<?xf32> {
    ^bb0(%inner: !pol.frame):
      %kept = pol.alloc %outer[%n] : !pol.frame -> memref<?xf32>
      memref.store %one, %kept[%c0] : memref<?xf32>
      %t = pol.alloc %inner[%n] : !pol.frame -> memref<?xf32>
      memref.store %two, %t[%c0] : memref<?xf32>
      pol.yield %kept : memref<?xf32>
    }
    %c = pol.alloc %outer[%n] : !pol.frame -> memref<?xf32>
    memref.store %two, %c[%c0] : memref<?xf32>
    %v = memref.load %b[%c0] : memref<?xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

//--- call.mlir
func.func private @make(%s: !pol.frame, %n: index) -> memref<?xf32> {
  %b = pol.alloc %s[%n] : !pol.frame -> memref<?xf32>
  return %b : memref<?xf32>
}
func.func @main(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%outer: !pol.frame):
    // expected-note @below {{from the frame opened here}}
    %b = pol.frame on %a : !pol.arena -> memref<?xf32> {
    ^bb0(%inner: !pol.frame):
      // expected-note @below {{it is allocated here}}
      %kept = func.call @make(%outer, %n) : (!pol.frame, index) -> memref<?xf32>
      // expected-error @below {{expected a value that outlives the frame}}
      pol.yield %kept : memref<?xf32>
    }
    %v = memref.load %b[%c0] : memref<?xf32>
    pol.yield %v : f32
  }
  return %r : f32
}
