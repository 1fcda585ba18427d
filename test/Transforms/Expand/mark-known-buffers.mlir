// RUN: pol-test-opt %s --pol-mark-known-buffers --mlir-print-debuginfo \
// RUN:   --mlir-print-local-scope | FileCheck %s

// Buffers and copies that are there, under whatever name, and nothing else.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @all(
// CHECK:         memref.dim
// CHECK-NOT:     pol.known
// CHECK-SAME:    loc(
// CHECK:         memref.alloc({{.*}}) {pol.known}
// CHECK:         memref.alloca() {pol.known}
// CHECK:         pol.alloc {{.*}} {name = "t", pol.known}
// CHECK:         pol.carve {{.*}} {pol.known}
// CHECK:         memref.copy {{.*}} {pol.known}
// CHECK:         linalg.copy {pol.known}
// CHECK:         linalg.generic {{.*}} attrs = {pol.known}
// CHECK:         linalg.exp ins
func.func @all(%a: !pol.arena, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %0 = memref.alloc(%n) : memref<?xf32>
  %1 = memref.alloca() : memref<4xf32>
  %2 = pol.alloc %a[%n] {name = "t"} : !pol.arena -> memref<?xf32>
  %3, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%from: f32, %to: f32):
    linalg.yield %from : f32
  }
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// The location of a kernel, of whatever dialect, has its name.

// CHECK-LABEL: func.func @kernels(
// CHECK-NEXT:    pol.softmax {{.*}} loc(fused<{pol.kernel = "pol.softmax"}>["{{.*}}mark-known-buffers.mlir":{{.*}}])
// CHECK-NEXT:    test_pol.scale {{.*}} loc(fused<{pol.kernel = "test_pol.scale"}>["
// CHECK-NEXT:    return loc("
func.func @kernels(%x: memref<?xf32>, %y: memref<?xf32>) {
  pol.softmax ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  test_pol.scale x(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
