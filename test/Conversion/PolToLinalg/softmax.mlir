// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file | FileCheck %s
// RUN: pol-opt %s --convert-pol-to-linalg=sum-block=64 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=WIDE

// Three passes over a row: the largest element, the sum of exponentials of what
// they are below it, in blocks, and the quotients. Only these are stored.

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.+]]: memref<?x?xf16>, %[[Y:.+]]: memref<?x?xf16>)
// CHECK:         %[[M:.+]] = memref.dim %[[X]], %{{.+}}
// CHECK:         %[[ROWS:.+]] = memref.dim %[[X]], %{{.+}}
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%[[ROWS]])
// CHECK-NOT:       memref.alloc
// CHECK:           %[[LEAST:.+]] = arith.constant 0xFF800000 : f32
// CHECK:           %[[MAX:.+]] = scf.for %[[A:.+]] = %{{.+}} to %[[M]] step %{{.+}} iter_args(%[[SO_FAR:.+]] = %[[LEAST]])
// CHECK:             %[[LOADED:.+]] = memref.load %[[X]][%[[I]], %[[A]]]
// CHECK:             %[[EXTENDED:.+]] = arith.extf %[[LOADED]] : f16 to f32
// CHECK:             arith.maximumf %[[SO_FAR]], %[[EXTENDED]] : f32
// CHECK:           %[[BLOCK:.+]] = arith.constant 16 : index
// CHECK:           scf.for %[[B:.+]] = %{{.+}} to %[[M]] step %[[BLOCK]]
// CHECK:             scf.for %[[C:.+]] = %[[B]] to %{{.+}} step
// CHECK:               memref.load %[[X]][%[[I]], %[[C]]]
// CHECK:               %[[BELOW:.+]] = arith.subf %{{.+}}, %[[MAX]] : f32
// CHECK:               %[[EXP:.+]] = math.exp %[[BELOW]] : f32
// CHECK:               arith.addf %{{.+}}, %[[EXP]] : f32
// CHECK:           %[[SUM:.+]] = arith.select
// CHECK-NOT:       memref.store
// CHECK:           scf.for %[[D:.+]] = %{{.+}} to %[[M]]
// CHECK:             memref.load %[[X]][%[[I]], %[[D]]]
// CHECK:             %[[AGAIN:.+]] = arith.subf %{{.+}}, %[[MAX]] : f32
// CHECK:             %[[POWER:.+]] = math.exp %[[AGAIN]] : f32
// CHECK:             %[[QUOTIENT:.+]] = arith.divf %[[POWER]], %[[SUM]] : f32
// CHECK:             %[[NARROW:.+]] = arith.truncf %[[QUOTIENT]] : f32 to f16
// CHECK:             memref.store %[[NARROW]], %[[Y]][%[[I]], %[[D]]]
// CHECK-NOT:       memref.store
// CHECK:         return

// WIDE-LABEL: func.func @dynamic(
// WIDE:         %[[BLOCK:.+]] = arith.constant 64 : index
// WIDE:         scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[BLOCK]]
func.func @dynamic(%x: memref<?x?xf16>, %y: memref<?x?xf16>) {
  pol.softmax ins(%x : memref<?x?xf16>) outs(%y : memref<?x?xf16>)
  return
}

// -----

// f64 is f64 throughout, and a row of a single block has one loop for its sum.

// WIDE-LABEL: func.func @f64(
// CHECK-LABEL: func.func @f64(
// CHECK-SAME:    %[[X:.+]]: memref<2x3x8xf64>
// CHECK:         scf.parallel (%{{.+}}, %{{.+}}) =
// CHECK-NOT:       f32
// CHECK-COUNT-3:   scf.for
// CHECK-NOT:       scf.for
// CHECK-NOT:       f32
// CHECK:         return
func.func @f64(%x: memref<2x3x8xf64>) {
  pol.softmax ins(%x : memref<2x3x8xf64>) outs(%x : memref<2x3x8xf64>)
  return
}

// -----

// One row is a loop of one trip.

// WIDE-LABEL: func.func @vector(
// CHECK-LABEL: func.func @vector(
// CHECK-SAME:    %[[X:.+]]: memref<?xf32>, %[[Y:.+]]: memref<?xf32>)
// CHECK:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%{{.+}}) step
// CHECK:           memref.load %[[X]][%{{[^,]+}}] : memref<?xf32>
// CHECK:           memref.store %{{.+}}, %[[Y]][%{{[^,]+}}] : memref<?xf32>
func.func @vector(%x: memref<?xf32>, %y: memref<?xf32>) {
  pol.softmax ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// The gradient is of y and dy: it computes no exponential, and x is not read.

// WIDE-LABEL: func.func @gradient(
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[Y:.+]]: memref<?x?xf32>, %[[DY:.+]]: memref<?x?xbf16>, %[[X:.+]]: memref<?x?xf32>, %[[DX:.+]]: memref<?x?xf16>)
// CHECK-NOT:     math.exp
// CHECK-NOT:     %[[X]]
// CHECK:         scf.parallel (%[[I:.+]]) =
// CHECK:           scf.for
// CHECK:             scf.for %[[A:[^ ]+]] =
// CHECK-DAG:           memref.load %[[DY]][%[[I]], %[[A]]]
// CHECK-DAG:           memref.load %[[Y]][%[[I]], %[[A]]]
// CHECK:               %[[PRODUCT:.+]] = arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK:               arith.addf %{{.+}}, %[[PRODUCT]] : f32
// CHECK:           %[[DOT:.+]] = arith.select
// CHECK:           scf.for %[[B:[^ ]+]] =
// CHECK:             memref.load %[[DY]][%[[I]], %[[B]]]
// CHECK:             %[[REST:.+]] = arith.subf %{{.+}}, %[[DOT]] : f32
// CHECK:             memref.load %[[Y]][%[[I]], %[[B]]]
// CHECK:             %[[RESULT:.+]] = arith.mulf %{{.+}}, %[[REST]] : f32
// CHECK:             %[[NARROW:.+]] = arith.truncf %[[RESULT]] : f32 to f16
// CHECK:             memref.store %[[NARROW]], %[[DX]][%[[I]], %[[B]]]
// CHECK-NOT:     math.exp
// CHECK-NOT:     %[[X]]
// CHECK:         return
func.func @gradient(%y: memref<?x?xf32>, %dy: memref<?x?xbf16>,
                    %x: memref<?x?xf32>, %dx: memref<?x?xf16>) {
  pol.softmax_grad
      ins(%y, %dy, %x : memref<?x?xf32>, memref<?x?xbf16>, memref<?x?xf32>)
      outs(%dx : memref<?x?xf16>)
  return
}

// -----

// Leading dimensions are one loop, and layouts and memory spaces stay.

// WIDE-LABEL: func.func @layouts(
// CHECK-LABEL: func.func @layouts(
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x?x8xf32, strided<[?, ?, 2], offset: 5>, 1>
// CHECK-SAME:    %[[Y:[^ ]+]]: memref<2x?x8xf32, 1>
// CHECK:         scf.parallel (%[[I:.+]], %[[J:.+]]) =
// CHECK:           memref.load %[[X]][%[[I]], %[[J]], %{{.+}}]
// CHECK:           memref.store %{{.+}}, %[[Y]][%[[I]], %[[J]], %{{.+}}]
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @layouts(%x: memref<2x?x8xf32, strided<[?, ?, 2], offset: 5>, 1>,
                   %y: memref<2x?x8xf32, 1>) {
  pol.softmax
      ins(%x : memref<2x?x8xf32, strided<[?, ?, 2], offset: 5>, 1>)
      outs(%y : memref<2x?x8xf32, 1>)
  return
}
