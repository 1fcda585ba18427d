// RUN: pol-test-opt %s --pol-mark-known-buffers --test-pol-expand-scale --pol-report-hidden \
// RUN:   --mlir-print-debuginfo --mlir-print-local-scope 2>/dev/null \
// RUN:   | FileCheck %s --implicit-check-not=pol.kernel

// Locations are again what they were, those of kernels that stay, too.

// CHECK-LABEL: func.func @locations(
// CHECK:         memref.copy {{.*}} loc("{{.*}}report-hidden-locations.mlir":[[@LINE+6]]:3)
// CHECK:         memref.copy {{.*}} loc(fused["a.mlir":1:2, "b.mlir":3:4])
// CHECK:         memref.copy {{.*}} loc(callsite("a.mlir":1:2 at "b.mlir":3:4))
// CHECK:         memref.copy {{.*}} loc(unknown)
// CHECK:         pol.softmax {{.*}} loc("c.mlir":5:6)
func.func @locations(%x: memref<2xf32>, %y: memref<2xf32>) {
  test_pol.scale x(%x : memref<2xf32>) outs(%y : memref<2xf32>)
  test_pol.scale x(%x : memref<2xf32>) outs(%y : memref<2xf32>) loc(fused["a.mlir":1:2, "b.mlir":3:4])
  test_pol.scale x(%x : memref<2xf32>) outs(%y : memref<2xf32>) loc(callsite("a.mlir":1:2 at "b.mlir":3:4))
  test_pol.scale x(%x : memref<2xf32>) outs(%y : memref<2xf32>) loc(unknown)
  pol.softmax ins(%x : memref<2xf32>) outs(%y : memref<2xf32>) loc("c.mlir":5:6)
  return
}
