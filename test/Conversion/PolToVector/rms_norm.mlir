// RUN: pol-opt %s --convert-pol-to-vector | FileCheck %s

// Where results go past the caches, groups of four rows are written while the
// next four are summed, vector after vector: what is summed is prefetched from
// memory, and all that is read soon into the first-level cache.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.+]]: memref<?x64xf32>, %[[W:.+]]: memref<64xf32>,
// CHECK-SAME:    %[[Y:.+]]: memref<?x64xf32>, %[[RSTD:.+]]: memref<?xf32>)
// CHECK:         %[[ROWS:.+]] = memref.dim %[[X]]
// CHECK:         %[[IS_LARGE:.+]] = arith.cmpi uge, %[[ROWS]]
// CHECK:         %[[ROWS_PER_TRIP:.+]] = arith.select %[[IS_LARGE]]
// CHECK:           scf.parallel
// CHECK:             arith.select %[[IS_LARGE]]
// CHECK:             %[[LAST:.+]]:2 = scf.for %[[FIRST:.+]] = {{.+}} iter_args(%[[ROOTS:.+]] = %{{.+}}, %[[IS_PENDING:.+]] = %{{.+}}) -> (vector<4xf32>, i1)
// CHECK:               %[[SUMS:.+]] = scf.if %[[IS_PENDING]]
// CHECK:                 vector.extract %[[ROOTS]][0]
// CHECK:                 %{{.+}}:4 = scf.for
// CHECK:                   %{{.+}}:4 = scf.for
// CHECK-COUNT-4:             memref.prefetch %{{.+}}, read, locality<2>
// CHECK-COUNT-8:             memref.prefetch %{{.+}}, read, locality<3>
// CHECK:                     memref.prefetch %[[W]]
// CHECK-COUNT-4:             vector.store %{{.+}} {alignment = 32 : i64, nontemporal = true}
// CHECK-COUNT-4:             vector.fma
// CHECK:                   {llvm.loop_annotation = #[[ROLLED:.+]]}
// CHECK:               } else {
// CHECK-NOT:             nontemporal
// CHECK:               scf.for
// CHECK:                 vector.extract %[[SUMS]]

// Rows that are not plain have been scaled and written: where there are such in
// a group, the others are written one by one.
// CHECK:                 math.absf
// CHECK:               scf.if
// CHECK:                 scf.for
// CHECK:                   scf.if

// The last group is written by itself.
// CHECK:             scf.if %[[LAST]]#1
// CHECK-COUNT-4:       vector.store %{{.+}} {alignment = 32 : i64, nontemporal = true}
// CHECK:             llvm.fence seq_cst

// Other rows go one by one: one pass sums the squares of four vectors at a time and prefetches
// half of the next row's lines where rows are short, another one writes. Rows are
// scaled only where that sum has overflown.
// CHECK:           scf.for %[[I:.+]] =
// CHECK:             %[[ROW:.+]] = memref.subview %[[X]][%[[I]], 0]
// CHECK:             %[[OUT:.+]] = memref.subview %[[Y]][%[[I]], 0]
// CHECK:             %[[NEXT:.+]] = memref.subview %[[X]]
// CHECK:             %{{.+}} = scf.for %[[J:[a-z0-9_]+]] = {{.+}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) ->
// CHECK:               memref.prefetch %[[NEXT]][%[[J]]]
// CHECK:               %[[VALUE:[a-z0-9_]+]] = vector.load %[[ROW]][%[[J]]]
// CHECK:               %[[TILE:[a-z0-9_]+]] = vector.fma %[[VALUE]], %[[VALUE]], %{{.+}}
// CHECK:               vector.load %[[ROW]]
// CHECK:               vector.fma %{{.+}}, %{{.+}}, %[[TILE]]
// CHECK-COUNT-2:       vector.load %[[ROW]]
// CHECK-NOT:           vector.load
// CHECK:               arith.addf %[[SUM]]
// CHECK:             %[[IS_SAFE:.+]] = arith.cmpf olt
// CHECK:             scf.if %[[IS_SAFE]] {
// CHECK:               memref.store %{{.+}}, %[[RSTD]][%[[I]]]
// CHECK:             } else {
// CHECK:               math.absf
// CHECK:             scf.if %[[IS_SAFE]] {
// CHECK:               vector.store %{{.+}}, %[[OUT]]
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
