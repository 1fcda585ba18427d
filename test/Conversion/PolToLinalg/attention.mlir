// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file | FileCheck %s

// Masks are bounds of loops: what is masked is never read. The largest score
// comes first, then the sum of exponentials, then the products with v, whose
// sums are on the stack, 64 columns at a time.

// CHECK-LABEL: func.func @masked(
// CHECK-SAME:    %[[Q:.+]]: memref<2x4x8x16xf32>, %[[K:.+]]: memref<2x2x9x16xf32>, %[[V:.+]]: memref<2x2x9x3xf32>, %[[N:.+]]: memref<2xi32>, %[[O:.+]]: memref<2x4x8x3xf32>, %[[MAX:.+]]: memref<2x4x8xf32>, %[[SUM:.+]]: memref<2x4x8xf32>)
// CHECK:         scf.parallel (%[[B:.+]], %[[H:.+]], %[[S:.+]]) =
// CHECK:           %[[HK:.+]] = arith.divui %[[H]], %{{.+}}
// CHECK:           %[[LENGTH:.+]] = memref.load %[[N]][%[[B]]]
// CHECK:           arith.select
// CHECK:           %[[BEGIN:.+]] = arith.minsi
// CHECK:           %[[END:.+]] = arith.maxsi %[[BEGIN]], %{{.+}}
// CHECK:           %[[M:.+]] = scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK:             memref.load %[[Q]][%[[B]], %[[H]], %[[S]], %{{.+}}]
// CHECK:             memref.load %[[K]][%[[B]], %[[HK]], %{{.+}}, %{{.+}}]
// CHECK:             math.tanh
// CHECK:             arith.maximumf
// CHECK:           scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK:             %[[SHIFTED:.+]] = arith.subf %{{.+}}, %[[M]]
// CHECK:             math.exp %[[SHIFTED]]
// CHECK:           memref.store %[[M]], %[[MAX]][%[[B]], %[[H]], %[[S]]]
// CHECK:           memref.store %{{.+}}, %[[SUM]][%[[B]], %[[H]], %[[S]]]
// CHECK-COUNT-3:   memref.alloca() : memref<64xf32>
// CHECK:           scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK:             memref.load %[[V]][%[[B]], %[[HK]], %{{.+}}, %{{.+}}]
// CHECK:           memref.store %{{.+}}, %[[O]][%[[B]], %[[H]], %[[S]], %{{.+}}]
// CHECK-NOT:     pol.attention
func.func @masked(%q: memref<2x4x8x16xf32>, %k: memref<2x2x9x16xf32>,
                  %v: memref<2x2x9x3xf32>, %n: memref<2xi32>,
                  %o: memref<2x4x8x3xf32>, %max: memref<2x4x8xf32>,
                  %sum: memref<2x4x8xf32>) {
  pol.attention ins(%q, %k, %v, k_lengths = %n : memref<2x4x8x16xf32>,
      memref<2x2x9x16xf32>, memref<2x2x9x3xf32>, memref<2xi32>)
      outs(%o : memref<2x4x8x3xf32>)
      checkpoints(%max, %sum : memref<2x4x8xf32>, memref<2x4x8xf32>)
      {causal = #pol.causal<bottom_right>, window = 4 : i64,
       softcap = 30.0 : f64}
  return
}

// -----

// Without masks there is nothing to bound, and without a cap no tanh.

// CHECK-LABEL: func.func @plain(
// CHECK-NOT:     math.tanh
// CHECK-NOT:     arith.cmpi sge
// CHECK:         return
func.func @plain(%q: memref<1x1x8x16xf32>, %k: memref<1x1x9x16xf32>,
                 %o: memref<1x1x8x16xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x1x8x16xf32>, memref<1x1x9x16xf32>,
      memref<1x1x9x16xf32>) outs(%o : memref<1x1x8x16xf32>)
  return
}
