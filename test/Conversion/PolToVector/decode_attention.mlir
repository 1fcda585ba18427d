// RUN: pol-opt %s --convert-pol-to-vector --canonicalize --cse | FileCheck %s

// In each split, blocks of 16 keys: the products of 8 keys side by side, along
// the columns, and from there to one sum in each lane; then scores and weights
// along the keys, then the values along 8 vectors of columns. Keys and values are
// prefetched. A second loop merges splits.

// CHECK-LABEL: func.func @decode(
// CHECK-SAME:    %[[Q:.+]]: memref<1x4x1x64xf32>, %[[K:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[V:[a-z0-9]+]]: memref<1x2x?x64xf32>,
// CHECK:         scf.parallel
// CHECK:           %[[SCORES:.+]] = memref.alloca() : memref<16xf32>
// CHECK:           %{{.+}}:8 = scf.for
// CHECK:             vector.load %[[Q]]
// CHECK-COUNT-8:     vector.load %[[K]]
// CHECK-COUNT-8:     memref.prefetch %[[K]]
// CHECK-COUNT-14:  vector.shuffle
// CHECK:           vector.store %{{.+}}, %[[SCORES]]
// CHECK:           vector.load %[[SCORES]]
// CHECK:           arith.bitcast %{{.+}} : vector<8xf32> to vector<8xi32>
// CHECK:           vector.store %{{.+}}, %[[SCORES]]
// CHECK:           %{{.+}}:8 = scf.for
// CHECK:             memref.load %[[SCORES]]
// CHECK-COUNT-8:     vector.fma
// CHECK-COUNT-8:     memref.prefetch %[[V]]
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
