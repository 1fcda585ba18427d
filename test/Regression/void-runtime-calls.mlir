// RUN: pol-opt %s --convert-to-llvm | FileCheck %s

// Calls of runtime functions without a result crashed.

// CHECK: llvm.call @pol_space_release
// CHECK: llvm.call @pol_space_reset
func.func @f(%m: memref<4xf32>, %h: !pol.heap) {
  pol.release %m in %h : memref<4xf32>, !pol.heap
  pol.reset %h : !pol.heap
  return
}
