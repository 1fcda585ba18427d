// RUN: pol-opt %s --convert-pol-to-vector --canonicalize --cse | FileCheck %s

// Where hardware follows few streams (`row_group = 1`), rows that go past the
// caches are read one by one: one is prefetched, into the first-level cache,
// while one before is written, and nothing while it is summed.

module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"pol.target" = #pol.target<
        vector_bits = 256, vector_registers = 16, l1_bytes = 32768,
        l2_bytes = 1048576, llc_bytes = 33554432, max_workers = 2, f16 = true,
        row_group = 1>>>} {

// CHECK-LABEL: func.func @one_by_one(
// CHECK:         scf.parallel
// CHECK:           scf.for
// CHECK-NOT:         prefetch
// CHECK:             scf.for {{.+}} iter_args
// CHECK-NOT:           prefetch
// CHECK:               vector.fma
// CHECK-NOT:         prefetch
// CHECK:             scf.for %[[J:.+]] = %c0 to %c1024
// CHECK:               memref.prefetch %{{.+}}[%[[J]]], read, locality<3>
// CHECK:               vector.store {{.+}} nontemporal = true
// CHECK:           llvm.fence seq_cst
func.func @one_by_one(%x: memref<16384x1024xf32>, %y: memref<16384x1024xf32>) {
  pol.rms_norm ins(%x : memref<16384x1024xf32>)
      outs(%y : memref<16384x1024xf32>)
  return
}

// Rows that the first-level cache does not hold share weights in groups of four.

// CHECK-LABEL: func.func @long(
// CHECK:         iter_args({{.+}}) -> (vector<4xf32>, i1)
// CHECK-COUNT-4:   memref.prefetch %{{.+}}, read, locality<2>
// CHECK-COUNT-8:   memref.prefetch %{{.+}}, read, locality<3>
func.func @long(%x: memref<1024x16384xf32>, %y: memref<1024x16384xf32>) {
  pol.rms_norm ins(%x : memref<1024x16384xf32>)
      outs(%y : memref<1024x16384xf32>)
  return
}

// Exponentials would keep memory idle: one row is written while the next one is
// summed.

// CHECK-LABEL: func.func @softmax(
// CHECK:         iter_args({{.+}}) -> (vector<1xf32>, i1)
// CHECK:           memref.prefetch %{{.+}}, read, locality<3>
// CHECK-NEXT:      vector.load
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      vector.store {{.+}} nontemporal = true
func.func @softmax(%x: memref<16384x1024xf32>, %y: memref<16384x1024xf32>) {
  pol.softmax ins(%x : memref<16384x1024xf32>)
      outs(%y : memref<16384x1024xf32>)
  return
}

// Four rows are summed, then written by tiles of columns, row after row: what
// they share stays in the first-level cache.

// CHECK-LABEL: func.func @tiles(
// CHECK:         scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c4 {
// CHECK:           scf.for %[[FIRST:.+]] = %c0 to %c4096 step %c1024
// CHECK:             scf.for %{{.+}} = %c0 to %c4 step %c1
// CHECK:               scf.for %[[J:.+]] = %[[FIRST]] to
// CHECK:                 memref.prefetch %{{.+}}[%[[J]]], read, locality<3>
// CHECK:                 vector.store {{.+}} nontemporal = true
// CHECK:         llvm.fence seq_cst
func.func @tiles(%x: memref<4096x4096xf32>, %w: memref<4096xf32>,
                 %rstd: memref<4096xf32>, %dx: memref<4096x4096xf32>,
                 %dw: memref<4096xf32>, %p: memref<64x4096xf32>) {
  pol.rms_norm_grad
      ins(%x, %x, %w : memref<4096x4096xf32>, memref<4096x4096xf32>,
          memref<4096xf32>)
      checkpoints(%rstd : memref<4096xf32>)
      outs(%dx, %dw : memref<4096x4096xf32>, memref<4096xf32>)
      scratch(%p : memref<64x4096xf32>)
  return
}
}
