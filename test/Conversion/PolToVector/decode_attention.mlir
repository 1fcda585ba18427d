// RUN: pol-opt %s --convert-pol-to-vector --canonicalize --cse | FileCheck %s

// In each split, blocks of 8 keys: the products of four keys side by side, along
// the columns, then scores and weights along the keys, then the values along the
// columns. A second loop merges splits.

// CHECK-LABEL: func.func @decode(
// CHECK-SAME:    %[[Q:.+]]: memref<1x4x1x64xf32>, %[[K:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[V:[a-z0-9]+]]: memref<1x2x?x64xf32>,
// CHECK:         scf.parallel
// CHECK:           %[[SCORES:.+]] = memref.alloca() : memref<8xf32>
// CHECK:           %{{.+}}:4 = scf.for
// CHECK:             vector.load %[[Q]]
// CHECK-COUNT-4:     vector.load %[[K]]
// CHECK:           vector.load %[[SCORES]]
// CHECK:           arith.bitcast %{{.+}} : vector<8xf32> to vector<8xi32>
// CHECK:           vector.store %{{.+}}, %[[SCORES]]
// CHECK:           scf.for
// CHECK:             memref.load %[[SCORES]]
// CHECK:             vector.load %[[V]]
// CHECK:             vector.fma
// CHECK:         scf.parallel
// CHECK-NOT:     pol.decode_attention
func.func @decode(%q: memref<1x4x1x64xf32>, %k: memref<1x2x?x64xf32>,
                  %v: memref<1x2x?x64xf32>, %o: memref<1x4x1x64xf32>,
                  %po: memref<1x4x1x?x64xf32>, %pm: memref<1x4x1x?xf32>,
                  %ps: memref<1x4x1x?xf32>) {
  pol.decode_attention ins(%q, %k, %v : memref<1x4x1x64xf32>,
                           memref<1x2x?x64xf32>, memref<1x2x?x64xf32>)
      outs(%o : memref<1x4x1x64xf32>)
      scratch(%po, %pm, %ps : memref<1x4x1x?x64xf32>, memref<1x4x1x?xf32>,
              memref<1x4x1x?xf32>)
  return
}
