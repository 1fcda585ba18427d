// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file | FileCheck %s

// Splits of keys are computed in parallel, for all queries of a head of keys at
// once: a block of 16 keys is read for one query after the other. The page and
// the row of each are looked up once. Then the splits of each query are merged.

// CHECK-LABEL: func.func @paged(
// CHECK-SAME:    %[[Q:.+]]: memref<2x4x3x16xf32>, %[[K:.+]]: memref<9x2x8x16xf32>, %[[V:.+]]: memref<9x2x8x5xf32>, %[[TABLE:.+]]: memref<2x6xi32>, %[[N:.+]]: memref<2xi32>, %[[O:.+]]: memref<2x4x3x5xf32>, %[[MAX:.+]]: memref<2x4x3xf32>, %[[SUM:.+]]: memref<2x4x3xf32>, %[[PO:.+]]: memref<2x4x3x7x5xf32>, %[[PM:.+]]: memref<2x4x3x7xf32>, %[[PL:.+]]: memref<2x4x3x7xf32>)
// CHECK:         scf.parallel (%[[B:.+]], %[[HK:.+]], %[[C:.+]]) =
// CHECK-COUNT-2:   memref.alloca() : memref<16xindex>
// CHECK-COUNT-3:   memref.alloca() : memref<64xf32>
// CHECK:           %[[SCORES:.+]] = memref.alloca() : memref<16xf32>
// CHECK:           memref.load %[[N]][%[[B]]]
// CHECK:           scf.for %[[H:.+]] =
// CHECK:             scf.for %[[S:.+]] =
// CHECK:               memref.store %{{.+}}, %[[PM]][%[[B]], %[[H]], %[[S]], %[[C]]]
// CHECK:               memref.store %{{.+}}, %[[PL]][%[[B]], %[[H]], %[[S]], %[[C]]]
// CHECK:               memref.store %{{.+}}, %[[PO]][%[[B]], %[[H]], %[[S]], %[[C]], %{{.+}}]
// CHECK:           scf.for
// CHECK:             scf.for %[[T:.+]] =
// CHECK:               %[[PAGE:.+]] = arith.divui %[[T]]
// CHECK:               memref.load %[[TABLE]][%[[B]], %[[PAGE]]]
// CHECK:               arith.remui %[[T]]
// CHECK:             scf.for %[[H:.+]] =
// CHECK:               scf.for %[[S:.+]] =
// CHECK:                 scf.for
// CHECK:                   memref.load %[[Q]][%[[B]], %[[H]], %[[S]], %{{.+}}]
// CHECK:                   memref.load %[[K]][%{{.+}}, %[[HK]], %{{.+}}, %{{.+}}]
// CHECK:                   arith.maximumf
// CHECK:                 memref.load %[[V]][%{{.+}}, %[[HK]], %{{.+}}, %{{.+}}]
// CHECK:         scf.parallel (%[[B:.+]], %[[H:.+]], %[[S:.+]]) =
// CHECK:           memref.load %[[PM]]
// CHECK:           arith.maximumf
// CHECK:           memref.load %[[PL]]
// CHECK:           memref.store %{{.+}}, %[[MAX]][%[[B]], %[[H]], %[[S]]]
// CHECK:           memref.store %{{.+}}, %[[SUM]][%[[B]], %[[H]], %[[S]]]
// CHECK:           memref.load %[[PO]]
// CHECK:           memref.store %{{.+}}, %[[O]][%[[B]], %[[H]], %[[S]], %{{.+}}]
// CHECK-NOT:     pol.decode_attention
func.func @paged(%q: memref<2x4x3x16xf32>, %k: memref<9x2x8x16xf32>,
                 %v: memref<9x2x8x5xf32>, %t: memref<2x6xi32>,
                 %n: memref<2xi32>, %o: memref<2x4x3x5xf32>,
                 %max: memref<2x4x3xf32>, %sum: memref<2x4x3xf32>,
                 %po: memref<2x4x3x7x5xf32>, %pm: memref<2x4x3x7xf32>,
                 %pl: memref<2x4x3x7xf32>) {
  pol.decode_attention
      ins(%q, %k, %v, %t, %n : memref<2x4x3x16xf32>, memref<9x2x8x16xf32>,
          memref<9x2x8x5xf32>, memref<2x6xi32>, memref<2xi32>)
      outs(%o : memref<2x4x3x5xf32>)
      checkpoints(%max, %sum : memref<2x4x3xf32>, memref<2x4x3xf32>)
      scratch(%po, %pm, %pl : memref<2x4x3x7x5xf32>, memref<2x4x3x7xf32>,
              memref<2x4x3x7xf32>)
      {causal = #pol.causal<bottom_right>, splits = 7 : i64}
  return
}

// -----

// Keys of a contiguous cache are where they are: nothing is looked up, and
// without a cap there is no tanh.

// CHECK-LABEL: func.func @contiguous(
// CHECK-SAME:    %[[Q:.+]]: memref<1x2x1x4xf64>, %[[K:.+]]: memref<1x1x9x4xf64>,
// CHECK-NOT:     index>
// CHECK-NOT:     math.tanh
// CHECK:         memref.load %[[K]][%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}] : memref<1x1x9x4xf64>
// CHECK-NOT:     memref<16xindex>
// CHECK-NOT:     math.tanh
// CHECK:         return
func.func @contiguous(%q: memref<1x2x1x4xf64>, %k: memref<1x1x9x4xf64>,
                      %po: memref<1x2x1x1x4xf64>, %pm: memref<1x2x1x1xf64>,
                      %pl: memref<1x2x1x1xf64>, %o: memref<1x2x1x4xf64>) {
  pol.decode_attention
      ins(%q, %k, %k : memref<1x2x1x4xf64>, memref<1x1x9x4xf64>,
          memref<1x1x9x4xf64>)
      outs(%o : memref<1x2x1x4xf64>)
      scratch(%po, %pm, %pl : memref<1x2x1x1x4xf64>, memref<1x2x1x1xf64>,
              memref<1x2x1x1xf64>) {splits = 1 : i64}
  return
}
