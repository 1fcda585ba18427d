// RUN: pol-opt %s --convert-pol-to-vector | FileCheck %s

// Blocks of rows are walked through in groups. The means of a group's rows come
// first; then each vector of columns is visited in all of its rows: dx is written
// in the pass that adds up dweight, in registers, and no row before all have been
// read. Past the caches, that is done while the means of the next group are.

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[X:.+]]: memref<?x64xf32>, %[[DY:.+]]: memref<?x64xf32>, %[[W:.+]]: memref<64xf32>, %[[RSTD:.+]]: memref<?xf32>,
// CHECK-SAME:    %[[DX:.+]]: memref<?x64xf32>, %[[DW:.+]]: memref<64xf32>, %[[PARTIALS:.+]]: memref<?x64xf32>)
// CHECK:         %[[ROWS:.+]] = memref.dim %[[DY]]
// CHECK:         %[[IS_LARGE:.+]] = arith.cmpi uge, %[[ROWS]]
// CHECK:         %[[IS_PAIRED:.+]] = arith.cmpi ugt, %[[ROWS]], %{{.+}} : index
// CHECK:         scf.parallel
// CHECK:           vector.store %{{.+}}, %[[PARTIALS]]
// CHECK:           arith.select %[[IS_LARGE]]
// CHECK:               scf.for {{.+}} -> (vector<2xf32>, vector<2xf32>, i1)
// CHECK:                 %{{.+}}:2 = scf.for
// CHECK:                 %{{.+}}:2 = scf.for
// CHECK-COUNT-4:           memref.prefetch {{.+}} locality<2>
// CHECK-COUNT-8:           memref.prefetch {{.+}} locality<3>
// CHECK:                   memref.prefetch %[[W]]
// CHECK-COUNT-2:           memref.prefetch %[[PARTIALS]]
// CHECK:                   vector.load %[[W]]
// CHECK-COUNT-2:           vector.fma
// CHECK-COUNT-2:           vector.store {{.+}} {alignment = 32 : i64, nontemporal = true}

// Where a block's sums are many, what their roundings lose is kept as well.
// CHECK:                   vector.load %[[PARTIALS]]
// CHECK:                   scf.if %[[IS_PAIRED]] {
// CHECK-COUNT-2:             vector.store %{{.+}}, %[[PARTIALS]]
// CHECK:                   } else {
// CHECK:                     vector.store %{{.+}}, %[[PARTIALS]]
// CHECK-COUNT-2:           vector.fma

// Other groups are not in each other's shadow.
// CHECK:           llvm.fence
// CHECK:           scf.for
// CHECK:             scf.for {{.+}} -> (vector<2xf32>, vector<2xf32>)
// CHECK-NOT:       nontemporal

// Then the partial sums are added.
// CHECK:         scf.parallel
// CHECK:           scf.for {{.+}} iter_args(
// CHECK:             vector.load %[[PARTIALS]]
// CHECK:           vector.store %{{.+}}, %[[DW]]
// CHECK-NOT:     pol.rms_norm_grad
func.func @both(%x: memref<?x64xf32>, %dy: memref<?x64xf32>,
                %w: memref<64xf32>, %rstd: memref<?xf32>,
                %dx: memref<?x64xf32>, %dw: memref<64xf32>,
                %partials: memref<?x64xf32>) {
  pol.rms_norm_grad
      ins(%x, %dy, %w : memref<?x64xf32>, memref<?x64xf32>, memref<64xf32>)
      checkpoints(%rstd : memref<?xf32>)
      outs(%dx, %dw : memref<?x64xf32>, memref<64xf32>)
      scratch(%partials : memref<?x64xf32>)
  return
}

// dx alone is computed row by row.

// CHECK-LABEL: func.func @input(
// CHECK-NOT:     memref.alloca
// CHECK:         scf.parallel
// CHECK:           vector.store {{.+}} {alignment = 32 : i64, nontemporal = true}
// CHECK:           llvm.fence
// CHECK:           %{{.+}}:2 = scf.for
// CHECK:             vector.fma
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @input(%x: memref<?x64xf32>, %dy: memref<?x64xf32>,
                 %mean: memref<?xf32>, %rstd: memref<?xf32>,
                 %dx: memref<?x64xf32>) {
  pol.layer_norm_grad
      ins(%x, %dy : memref<?x64xf32>, memref<?x64xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
      outs(%dx : memref<?x64xf32>)
  return
}

// Without dx, no means are computed, and of dbias alone x is not read.

// CHECK-LABEL: func.func @bias(
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     vector.fma
// CHECK:         memref.prefetch
// CHECK-COUNT-2:   vector.load
// CHECK-NOT:       vector.load
// CHECK:           vector.load %[[PARTIALS:.+]][%{{.+}}, %{{.+}}] : memref<?x64xf32>
// CHECK-NOT:     vector.fma
// CHECK:         return
func.func @bias(%x: memref<?x64xf32>, %dy: memref<?x64xf32>,
                %mean: memref<?xf32>, %rstd: memref<?xf32>,
                %db: memref<64xf32>, %partials: memref<?x64xf32>) {
  pol.layer_norm_grad
      ins(%x, %dy : memref<?x64xf32>, memref<?x64xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
      outs(dbias = %db : memref<64xf32>)
      scratch(dbias_partials = %partials : memref<?x64xf32>)
  return
}
