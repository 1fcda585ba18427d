// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file | FileCheck %s
// RUN: pol-opt %s --convert-pol-to-linalg=sum-block=64 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=WIDE

// The mean, the mean of what is left of it, and the mean of squares of what is
// left of both: never a mean of squares minus a square. Sums are in blocks. A row
// is scaled down if it is large, and so are the differences.

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.+]]: memref<?x?xf32>, %[[W:.+]]: memref<?xbf16>, %[[BIAS:.+]]: memref<?xbf16>,
// CHECK-SAME:    %[[Y:.+]]: memref<?x?xf32>, %[[MEAN:.+]]: memref<?xf32>, %[[RSTD:.+]]: memref<?xf32>)
// CHECK:         %[[M:.+]] = memref.dim %[[X]], %{{.+}}
// CHECK:         %[[DIVISOR:.+]] = arith.maxsi %[[M]], %{{.+}} : index
// CHECK:         %[[INTEGER:.+]] = arith.index_cast %[[DIVISOR]] : index to i64
// CHECK:         %[[COUNT:.+]] = arith.sitofp %[[INTEGER]] : i64 to f32
// CHECK:         scf.parallel (%[[I:.+]]) =
// CHECK:           %[[MAX:.+]] = scf.for
// CHECK:             math.absf
// CHECK:             arith.maximumf
// CHECK:           arith.cmpf ogt, %[[MAX]], %{{.+}} : f32
// CHECK:           %[[SCALE:.+]] = arith.mulf
// CHECK:           %[[BLOCK:.+]] = arith.constant 16 : index
// CHECK:           scf.for %{{.+}} = %{{.+}} to %[[M]] step %[[BLOCK]]
// CHECK:             scf.for
// CHECK:               memref.load %[[X]][%[[I]], %{{.+}}]
// CHECK:               %[[SCALED:.+]] = arith.mulf %{{.+}}, %[[SCALE]]
// CHECK:               arith.addf %{{.+}}, %[[SCALED]]
// CHECK:           %[[ROUGH:.+]] = arith.divf %{{.+}}, %[[COUNT]]
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               %[[LEFT:.+]] = arith.subf %{{.+}}, %[[ROUGH]]
// CHECK:               arith.addf %{{.+}}, %[[LEFT]]
// CHECK:           arith.divf %{{.+}}, %[[COUNT]]
// CHECK:           %[[REST:.+]] = arith.select
// CHECK:           %[[LARGEST:.+]] = scf.for
// CHECK:             arith.subf %{{.+}}, %[[ROUGH]]
// CHECK:             arith.subf %{{.+}}, %[[REST]]
// CHECK:             math.absf
// CHECK:             arith.maximumf
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               %[[ONCE:.+]] = arith.subf %{{.+}}, %[[ROUGH]]
// CHECK:               %[[TWICE:.+]] = arith.subf %[[ONCE]], %[[REST]]
// CHECK:               %[[UNIT:.+]] = arith.mulf %[[TWICE]], %{{.+}}
// CHECK:               %[[SQUARE:.+]] = arith.mulf %[[UNIT]], %[[UNIT]]
// CHECK:               arith.addf %{{.+}}, %[[SQUARE]]
// CHECK:           %[[VARIANCE:.+]] = arith.divf %{{.+}}, %[[COUNT]]
// CHECK:           %[[EPS:.+]] = arith.constant 9.99999974E-6 : f32
// CHECK:           %[[BIASED:.+]] = arith.addf %[[VARIANCE]], %{{.+}}
// CHECK:           %[[SQRT:.+]] = math.sqrt %[[BIASED]]
// CHECK:           %[[ROOT:.+]] = arith.divf %{{.+}}, %[[SQRT]]
// CHECK:           scf.for %[[J:[^ ]+]] =
// CHECK:             arith.subf %{{.+}}, %[[ROUGH]]
// CHECK:             arith.subf %{{.+}}, %[[REST]]
// CHECK:             %[[NORMAL:.+]] = arith.mulf %{{.+}}, %[[ROOT]]
// CHECK:             memref.load %[[W]][%[[J]]]
// CHECK:             %[[G:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK:             %[[PRODUCT:.+]] = arith.mulf %[[NORMAL]], %[[G]]
// CHECK:             memref.load %[[BIAS]][%[[J]]]
// CHECK:             %[[B:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK:             %[[RESULT:.+]] = arith.addf %[[PRODUCT]], %[[B]]
// CHECK:             memref.store %[[RESULT]], %[[Y]][%[[I]], %[[J]]]
// CHECK-DAG:       memref.store %{{.+}}, %[[MEAN]][%[[I]]]
// CHECK-DAG:       memref.store %{{.+}}, %[[RSTD]][%[[I]]]
// CHECK-NOT:     pol.layer_norm

// WIDE-LABEL: func.func @dynamic(
// WIDE:         %[[BLOCK:.+]] = arith.constant 64 : index
// WIDE:         scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[BLOCK]]
func.func @dynamic(%x: memref<?x?xf32>, %w: memref<?xbf16>, %b: memref<?xbf16>,
                   %y: memref<?x?xf32>, %mean: memref<?xf32>,
                   %rstd: memref<?xf32>) {
  pol.layer_norm ins(%x, %w, %b : memref<?x?xf32>, memref<?xbf16>, memref<?xbf16>)
      outs(%y : memref<?x?xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
  return
}

// -----

// Squares of f16 fit in f32, so nothing is scaled. Of what is absent nothing is
// loaded or stored.

// WIDE-LABEL: func.func @bare(
// CHECK-LABEL: func.func @bare(
// CHECK-SAME:    %[[X:.+]]: memref<4x64xf16>, %[[Y:.+]]: memref<4x64xf16>)
// CHECK-NOT:     math.absf
// CHECK-NOT:     memref.load %[[Y]]
// CHECK:         memref.store %{{.+}}, %[[Y]]
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @bare(%x: memref<4x64xf16>, %y: memref<4x64xf16>) {
  pol.layer_norm ins(%x : memref<4x64xf16>) outs(%y : memref<4x64xf16>)
  return
}

// -----

// A bias alone is added in f64, in which eps is, too.

// WIDE-LABEL: func.func @bias(
// CHECK-LABEL: func.func @bias(
// CHECK-SAME:    %{{.+}}: memref<2x8xf64>, %[[B:.+]]: memref<8xf32>, %[[Y:.+]]: memref<2x8xbf16>)
// CHECK:         arith.constant 1.000000e-01 : f64
// CHECK:         math.sqrt %{{.+}} : f64
// CHECK:         memref.load %[[B]]
// CHECK-NEXT:    %[[EXTENDED:.+]] = arith.extf %{{.+}} : f32 to f64
// CHECK-NEXT:    arith.addf %{{.+}}, %[[EXTENDED]] : f64
// CHECK:         memref.store %{{.+}}, %[[Y]]
func.func @bias(%x: memref<2x8xf64>, %b: memref<8xf32>, %y: memref<2x8xbf16>) {
  pol.layer_norm ins(%x, bias = %b : memref<2x8xf64>, memref<8xf32>)
      outs(%y : memref<2x8xbf16>) {eps = 1.0e-1 : f64}
  return
}

// -----

// Rows of length 0 have a root, and a mean.

// WIDE-LABEL: func.func @no_columns(
// CHECK-LABEL: func.func @no_columns(
// CHECK-SAME:    %[[MEAN:[^ ,]+]]: memref<4xf32>, %[[RSTD:[^ ,]+]]: memref<4xf32>)
// CHECK:         scf.parallel
// CHECK-DAG:       memref.store %{{.+}}, %[[MEAN]]
// CHECK-DAG:       memref.store %{{.+}}, %[[RSTD]]
func.func @no_columns(%x: memref<4x0xf32>, %y: memref<4x0xf32>,
                      %mean: memref<4xf32>, %rstd: memref<4xf32>) {
  pol.layer_norm ins(%x : memref<4x0xf32>) outs(%y : memref<4x0xf32>)
      checkpoints(%mean, %rstd : memref<4xf32>, memref<4xf32>)
  return
}

// -----

// Sums over rows go through scratch: P blocks of rows, at most 64, and columns
// in tiles of 64; and then over the blocks. What bias holds is not read.

// WIDE-LABEL: func.func @columns(
// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    %[[X:.+]]: memref<?x?xf32>, %[[DY:.+]]: memref<?x?xf32>, %[[BIAS:.+]]: memref<?xf16>, %[[MEAN:[^ ,]+]]: memref<?xf32>,
// CHECK-SAME:    %[[DBIAS:.+]]: memref<?xf16>, %[[P:.+]]: memref<?x?xf32>)
// CHECK-NOT:     memref.load %[[BIAS]]
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %{{.+}}, %{{.+}} : index
// CHECK:         arith.muli %[[BLOCKS]], %{{.+}}
// CHECK:         %[[TILES:.+]] = arith.ceildivui
// CHECK:         scf.parallel (%[[I:.+]], %[[J:.+]]) = (%{{.+}}, %{{.+}}) to (%{{.+}}, %[[TILES]])
// CHECK-COUNT-3:   memref.alloca() : memref<64xf32>
// CHECK:           memref.load %[[DY]]
// CHECK-NOT:       memref.load %[[MEAN]]
// CHECK:           memref.store %{{.+}}, %[[P]][%[[I]], %{{.+}}]
// CHECK:         scf.parallel (%[[K:.+]]) =
// CHECK:           memref.load %[[P]][%{{.+}}, %[[K]]]
// CHECK:           %[[NARROW:.+]] = arith.truncf %{{.+}} : f32 to f16
// CHECK:           memref.store %[[NARROW]], %[[DBIAS]][%[[K]]]
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.load %[[BIAS]]
// CHECK:         return
func.func @columns(%x: memref<?x?xf32>, %dy: memref<?x?xf32>,
                   %b: memref<?xf16>, %mean: memref<?xf32>,
                   %dbias: memref<?xf16>, %p: memref<?x?xf32>) {
  pol.layer_norm_grad ins(%x, %dy, bias = %b : memref<?x?xf32>, memref<?x?xf32>, memref<?xf16>)
      checkpoints(%mean, %mean : memref<?xf32>, memref<?xf32>)
      outs(dbias = %dbias : memref<?xf16>)
      scratch(dbias_partials = %p : memref<?x?xf32>)
  return
}

// -----

// dx of a row takes two means over it: of dy·w, and of that times the
// normalized row.

// WIDE-LABEL: func.func @dx(
// CHECK-LABEL: func.func @dx(
// CHECK-SAME:    %[[X:.+]]: memref<4x64xf32>, %[[DY:.+]]: memref<4x64xf32>, %[[W:.+]]: memref<64xf32>, %[[MEAN:.+]]: memref<4xf32>, %[[RSTD:.+]]: memref<4xf32>, %[[DX:.+]]: memref<4x64xf32>)
// CHECK:         %[[COUNT:.+]] = arith.constant 6.400000e+01 : f32
// CHECK:         scf.parallel
// CHECK:           memref.load %[[W]]
// CHECK:           arith.divf %{{.+}}, %[[COUNT]]
// CHECK:           arith.divf %{{.+}}, %[[COUNT]]
// CHECK:           memref.store %{{.+}}, %[[DX]]
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @dx(%x: memref<4x64xf32>, %dy: memref<4x64xf32>, %w: memref<64xf32>,
              %mean: memref<4xf32>, %rstd: memref<4xf32>,
              %dx: memref<4x64xf32>) {
  pol.layer_norm_grad
      ins(%x, %dy, %w : memref<4x64xf32>, memref<4x64xf32>, memref<64xf32>)
      checkpoints(%mean, %rstd : memref<4xf32>, memref<4xf32>)
      outs(%dx : memref<4x64xf32>)
  return
}
