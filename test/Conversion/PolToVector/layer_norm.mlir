// RUN: pol-opt %s --convert-pol-to-vector | FileCheck %s

// The mean of the first elements is a first guess. One pass over the row sums
// deviations from it and their squares, four vectors at a time, and prefetches
// half of the next row's lines where rows are short.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.+]]: memref<?x64xf32>, %[[W:.+]]: memref<64xf32>, %[[B:.+]]: memref<64xf32>,
// CHECK-SAME:    %[[Y:.+]]: memref<?x64xf32>, %[[MEAN:.+]]: memref<?xf32>, %[[RSTD:.+]]: memref<?xf32>)
// CHECK:         %[[ROWS:.+]] = memref.dim %[[X]]
// CHECK:         %[[IS_LARGE:.+]] = arith.cmpi uge, %[[ROWS]]
// CHECK:         arith.select %[[IS_LARGE]]
// CHECK:         scf.parallel
// CHECK:           llvm.fence
// CHECK:           scf.for %[[I:.+]] =
// CHECK:             %[[ROW:.+]] = memref.subview %[[X]][%[[I]], 0]
// CHECK:             %[[OUT:.+]] = memref.subview %[[Y]][%[[I]], 0]
// CHECK:             scf.for
// CHECK-COUNT-4:       vector.load %[[ROW]]
// CHECK:             %[[FIRST:.+]] = arith.divf
// CHECK:             %[[GUESS:.+]] = vector.broadcast %[[FIRST]]
// CHECK:             %[[NEXT:.+]] = memref.subview %[[X]]
// CHECK:             %[[SUMS:.+]]:2 = scf.for %[[J:[a-z0-9_]+]] = {{.+}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[SQUARES:[a-z0-9_]+]] = %{{.+}})
// CHECK:               memref.prefetch %[[NEXT]][%[[J]]]
// CHECK:               %[[VALUE:[a-z0-9_]+]] = vector.load %[[ROW]][%[[J]]]
// CHECK:               %[[DEVIATION:[a-z0-9_]+]] = arith.subf %[[VALUE]], %[[GUESS]]
// CHECK:               arith.addf %{{.+}}, %[[DEVIATION]]
// CHECK:               vector.fma %[[DEVIATION]], %[[DEVIATION]]
// CHECK-COUNT-3:       vector.load %[[ROW]]
// CHECK-NOT:           vector.load
// CHECK:               arith.addf %[[SUM]]
// CHECK:               arith.addf %[[SQUARES]]
// CHECK-NOT:         vector.load

// The variance is corrected by the square of what the guess lacks, unless that
// cancels it.
// CHECK:             %[[REST:.+]] = arith.divf
// CHECK:             %[[REST_SQUARED:.+]] = arith.mulf %[[REST]], %[[REST]]
// CHECK:             %[[VARIANCE:.+]] = arith.subf %{{.+}}, %[[REST_SQUARED]]
// CHECK:             %[[IS_FINITE:.+]] = arith.cmpf olt, %[[VARIANCE]]
// CHECK:             %[[IS_EXACT:.+]] = arith.cmpf oge, %[[VARIANCE]]
// CHECK:             %[[IS_SAFE:.+]] = arith.andi %[[IS_FINITE]], %[[IS_EXACT]]
// CHECK:             scf.if %[[IS_SAFE]] {
// CHECK:               memref.store %{{.+}}, %[[MEAN]][%[[I]]]
// CHECK:               memref.store %{{.+}}, %[[RSTD]][%[[I]]]

// Otherwise the row is scaled by its largest magnitude.
// CHECK:             } else {
// CHECK:               math.absf
// CHECK:               math.absf
// CHECK:               memref.store %{{.+}}, %[[MEAN]][%[[I]]]
// CHECK:             scf.if %[[IS_SAFE]] {
// CHECK-COUNT-4:         vector.store %{{.+}}, %[[OUT]][%{{.+}}]
// CHECK-NOT:     pol.layer_norm
func.func @rows(%x: memref<?x64xf32>, %w: memref<64xf32>, %b: memref<64xf32>,
                %y: memref<?x64xf32>, %mean: memref<?xf32>,
                %rstd: memref<?xf32>) {
  pol.layer_norm
      ins(%x, %w, %b : memref<?x64xf32>, memref<64xf32>, memref<64xf32>)
      outs(%y : memref<?x64xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
  return
}

// Where there is no element, there is no deviation.

// CHECK-LABEL: func.func @tail(
// CHECK:         %[[MASK:.+]] = vector.create_mask
// CHECK:         %[[GUESS:.+]] = vector.broadcast
// CHECK:         %[[MASK:.+]] = vector.create_mask
// CHECK:         %[[VALUE:[a-z0-9_]+]] = vector.maskedload %{{.+}}[%{{.+}}], %[[MASK]]
// CHECK:         %[[DEVIATION:[a-z0-9_]+]] = arith.subf %[[VALUE]], %[[GUESS]]
// CHECK:         arith.select %[[MASK]], %[[DEVIATION]]
// CHECK:         vector.maskedstore
func.func @tail(%x: memref<2x5xf32>, %y: memref<2x5xf32>) {
  pol.layer_norm ins(%x : memref<2x5xf32>) outs(%y : memref<2x5xf32>)
  return
}
