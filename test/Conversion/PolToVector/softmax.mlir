// RUN: pol-opt %s --convert-pol-to-vector | FileCheck %s

// Exponentials of a row that fits a tile on the stack are kept there from the
// sum to the result.

// CHECK-LABEL: func.func @short(
// CHECK-SAME:    %[[X:.+]]: memref<9x64xf32>, %[[Y:.+]]: memref<9x64xf32>)
// CHECK:         scf.parallel
// CHECK:           %[[TILE:.+]] = memref.alloca() {alignment = 64 : i64} : memref<4x1024xf32>
// CHECK:           scf.for %[[I:.+]] =
// CHECK:             %[[ROW:.+]] = memref.subview %[[X]][%[[I]], 0]
// CHECK:             %[[OUT:.+]] = memref.subview %[[Y]][%[[I]], 0]
// CHECK:             scf.for %{{.+}} = {{.+}} iter_args(%[[MAX:[a-z0-9_]+]] = %{{.+}}, {{.+}})
// CHECK:               %[[VALUE:[a-z0-9_]+]] = vector.load %[[ROW]]
// CHECK:               %[[IS_LARGER:.+]] = arith.cmpf ogt, %[[VALUE]], %[[MAX]]
// CHECK:               arith.select %[[IS_LARGER]], %[[VALUE]], %[[MAX]]
// CHECK:             %[[SHIFT:.+]] = vector.broadcast
// CHECK:             memref.subview %[[X]]
// CHECK:             %[[NEXT:.+]] = memref.subview %[[X]]
// CHECK:             scf.for %[[J:[a-z0-9_]+]] = {{.+}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
// CHECK:               memref.prefetch %[[NEXT]][%[[J]]]
// CHECK:               %[[AGAIN:.+]] = vector.load %[[ROW]][%[[J]]]
// CHECK:               arith.subf %[[AGAIN]], %[[SHIFT]]
// CHECK:               vector.store %[[NUMERATOR:.+]], %[[TILE]][%{{.+}}, %[[J]]]
// CHECK:               arith.addf %{{.+}}, %[[NUMERATOR]]
// CHECK:               arith.addf %[[SUM]]
// CHECK:             %[[QUOTIENT:.+]] = arith.divf
// CHECK:             %[[INVERSE:.+]] = vector.broadcast %[[QUOTIENT]]
// CHECK-NOT:           vector.load %[[ROW]]
// CHECK:               %[[KEPT:.+]] = vector.load %[[TILE]]
// CHECK:               %[[RESULT:.+]] = arith.mulf %[[KEPT]], %[[INVERSE]]
// CHECK:               vector.store %[[RESULT]], %[[OUT]]
// CHECK-NOT:         nontemporal
// CHECK-NOT:     pol.softmax
func.func @short(%x: memref<9x64xf32>, %y: memref<9x64xf32>) {
  pol.softmax ins(%x : memref<9x64xf32>) outs(%y : memref<9x64xf32>)
  return
}

// Those of a longer row are computed anew. Where results go past the caches,
// rows are written while others are summed: exponentials of both in one loop.

// CHECK-LABEL: func.func @long(
// CHECK-NOT:     memref.alloca
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             memref.prefetch
// CHECK:             vector.store %{{.+}} {alignment = 32 : i64, nontemporal = true}
// CHECK:             arith.addf
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     pol.softmax
func.func @long(%x: memref<?x8192xf32>, %y: memref<?x8192xf32>) {
  pol.softmax ins(%x : memref<?x8192xf32>) outs(%y : memref<?x8192xf32>)
  return
}

// Where there is no element, it is less than any other.

// CHECK-LABEL: func.func @tail(
// CHECK:         %[[LEAST:.+]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK:         %[[MASK:.+]] = vector.create_mask
// CHECK:         %[[VALUE:[a-z0-9_]+]] = vector.maskedload %{{.+}}[%{{.+}}], %[[MASK]]
// CHECK:         arith.select %[[MASK]], %[[VALUE]], %{{.+}}
// CHECK:         vector.maskedstore
func.func @tail(%x: memref<2x5xf32>, %y: memref<2x5xf32>) {
  pol.softmax ins(%x : memref<2x5xf32>) outs(%y : memref<2x5xf32>)
  return
}

// dx = y (dy - sum(dy y)): one pass for the sum, one to write.

// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[Y:.+]]: memref<?x64xf32>, %[[DY:.+]]: memref<?x64xf32>, %[[DX:.+]]: memref<?x64xf32>)
// CHECK:         llvm.fence
// CHECK:         %[[Y_ROW:.+]] = memref.subview %[[Y]]
// CHECK:         %[[DY_ROW:.+]] = memref.subview %[[DY]]
// CHECK:         %[[DX_ROW:.+]] = memref.subview %[[DX]]
// CHECK:         scf.for %[[J:[a-z0-9_]+]] = {{.+}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
// CHECK-COUNT-2:   memref.prefetch
// CHECK:           %[[DY_VALUE:[a-z0-9_]+]] = vector.load %[[DY_ROW]][%[[J]]]
// CHECK:           %[[Y_VALUE:[a-z0-9_]+]] = vector.load %[[Y_ROW]][%[[J]]]
// CHECK:           vector.fma %[[DY_VALUE]], %[[Y_VALUE]]
// CHECK:           arith.addf %[[SUM]]
// CHECK:         %[[TOTAL:.+]] = vector.broadcast
// CHECK:         %[[DY_AGAIN:.+]] = vector.load %[[DY_ROW]]
// CHECK:         %[[DIFFERENCE:.+]] = arith.subf %[[DY_AGAIN]], %[[TOTAL]]
// CHECK:         %[[Y_AGAIN:.+]] = vector.load %[[Y_ROW]]
// CHECK:         %[[RESULT:.+]] = arith.mulf %[[Y_AGAIN]], %[[DIFFERENCE]]
// CHECK:         vector.store %[[RESULT]], %[[DX_ROW]]
// CHECK-NOT:     pol.softmax_grad
func.func @gradient(%y: memref<?x64xf32>, %dy: memref<?x64xf32>,
                    %dx: memref<?x64xf32>) {
  pol.softmax_grad ins(%y, %dy : memref<?x64xf32>, memref<?x64xf32>)
      outs(%dx : memref<?x64xf32>)
  return
}
