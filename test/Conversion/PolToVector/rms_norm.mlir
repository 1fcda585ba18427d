// RUN: pol-opt %s --convert-pol-to-vector | FileCheck %s

// One pass sums the squares of four vectors at a time and prefetches half of
// the next row's lines where rows are short, another one writes and prefetches
// the next row. Rows are scaled only where that sum
// has overflown.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.+]]: memref<?x64xf32>, %[[W:.+]]: memref<64xf32>,
// CHECK-SAME:    %[[Y:.+]]: memref<?x64xf32>, %[[RSTD:.+]]: memref<?xf32>)
// CHECK:         %[[ROWS:.+]] = memref.dim %[[X]]
// CHECK:         %[[IS_LARGE:.+]] = arith.cmpi ugt, %[[ROWS]]
// CHECK:         scf.parallel
// CHECK:           scf.for %[[I:.+]] =
// CHECK:             %[[ROW:.+]] = memref.subview %[[X]][%[[I]], 0]
// CHECK:             %[[NEXT:.+]] = memref.subview %[[X]]
// CHECK:             %[[ANY_NEXT:.+]] = memref.subview %[[X]]
// CHECK:             %{{.+}}:4 = scf.for %[[J:[a-z0-9_]+]] = {{.+}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}})
// CHECK:               memref.prefetch %[[NEXT]][%[[J]]]
// CHECK:               %[[VALUE:[a-z0-9_]+]] = vector.load %[[ROW]][%[[J]]]
// CHECK:               vector.fma %[[VALUE]], %[[VALUE]], %[[SUM]]
// CHECK-COUNT-3:       vector.load %[[ROW]]
// CHECK-NOT:         vector.load
// CHECK:             %[[IS_SAFE:.+]] = arith.cmpf olt
// CHECK:             scf.if %[[IS_SAFE]] {
// CHECK:               %[[OUT:.+]] = memref.subview %[[Y]][%[[I]], 0]
// CHECK:               %[[GOES_PAST:.+]] = arith.andi %[[IS_LARGE]]
// CHECK:               scf.if %[[GOES_PAST]] {
// CHECK:                 memref.prefetch %[[ANY_NEXT]]
// CHECK-COUNT-2:         vector.store %{{.+}}, %[[OUT]][%{{.+}}] {alignment = 32 : i64, nontemporal = true}
// CHECK:               } else {
// CHECK-NOT:             nontemporal
// CHECK-NOT:             memref.prefetch
// CHECK:               memref.store %{{.+}}, %[[RSTD]][%[[I]]]
// CHECK:             } else {
// CHECK:               math.absf
// CHECK:           scf.if %[[IS_LARGE]]
// CHECK:             llvm.fence seq_cst
// CHECK-NOT:     pol.rms_norm
func.func @rows(%x: memref<?x64xf32>, %w: memref<64xf32>, %y: memref<?x64xf32>,
                %rstd: memref<?xf32>) {
  pol.rms_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>)
      outs(%y : memref<?x64xf32>) checkpoints(%rstd : memref<?xf32>)
  return
}

// Squares of f16 do not overflow: nothing is checked.

// CHECK-LABEL: func.func @half(
// CHECK:         vector.maskedload %{{.+}} : memref<5xf16, {{.+}} into vector<8xf16>
// CHECK-NOT:     arith.cmpf
// CHECK:         vector.maskedstore
func.func @half(%x: memref<2x5xf16>, %y: memref<2x5xf16>) {
  pol.rms_norm ins(%x : memref<2x5xf16>) outs(%y : memref<2x5xf16>)
  return
}
