// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file | FileCheck %s

// A gradient without a destination costs nothing: no loop, no load, no store is
// there for it.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.load
// CHECK:         return
func.func @nothing(%x: memref<?x?xf32>, %w: memref<?xf32>, %r: memref<?xf32>,
                   %q: memref<?x?x?x?xf32>, %m: memref<?x?x?xf32>) {
  pol.rms_norm_grad
      ins(%x, %x, %w : memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>)
      checkpoints(%r : memref<?xf32>)
  pol.layer_norm_grad
      ins(%x, %x, %w : memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>)
      checkpoints(%r, %r : memref<?xf32>, memref<?xf32>)
  pol.softmax_grad ins(%x, %x : memref<?x?xf32>, memref<?x?xf32>)
  pol.attention_grad
      ins(%q, %q, %q, %q, %q : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>)
      checkpoints(%m, %m : memref<?x?x?xf32>, memref<?x?x?xf32>)
  return
}

// -----

// dx alone: one loop over rows, and the scratch is not there.

// CHECK-LABEL: func.func @dx_alone(
// CHECK-SAME:    %[[X:.+]]: memref<4x8xf32>, %[[DY:.+]]: memref<4x8xf32>, %[[DX:.+]]: memref<4x8xf32>
// CHECK-COUNT-1: scf.parallel
// CHECK-NOT:     scf.parallel
// CHECK:         memref.store %{{.+}}, %[[DX]]
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @dx_alone(%x: memref<4x8xf32>, %dy: memref<4x8xf32>,
                    %dx: memref<4x8xf32>, %r: memref<4xf32>) {
  pol.rms_norm_grad ins(%x, %dy : memref<4x8xf32>, memref<4x8xf32>)
      checkpoints(%r : memref<4xf32>) outs(%dx : memref<4x8xf32>)
  return
}

// -----

// dbias alone reads dy, and neither x nor rstd nor mean.

// CHECK-LABEL: func.func @dbias_alone(
// CHECK-SAME:    %[[X:.+]]: memref<4x8xf32>, %[[DY:.+]]: memref<4x8xf32>, %[[MEAN:.+]]: memref<4xf32>, %[[RSTD:.+]]: memref<4xf32>
// CHECK-NOT:     memref.load %[[X]]
// CHECK-NOT:     memref.load %[[MEAN]]
// CHECK-NOT:     memref.load %[[RSTD]]
// CHECK:         memref.load %[[DY]]
// CHECK-NOT:     memref.load %[[X]]
// CHECK-NOT:     memref.load %[[MEAN]]
// CHECK-NOT:     memref.load %[[RSTD]]
// CHECK:         return
func.func @dbias_alone(%x: memref<4x8xf32>, %dy: memref<4x8xf32>,
                       %mean: memref<4xf32>, %rstd: memref<4xf32>,
                       %db: memref<8xf32>, %p: memref<1x8xf32>) {
  pol.layer_norm_grad ins(%x, %dy : memref<4x8xf32>, memref<4x8xf32>)
      checkpoints(%mean, %rstd : memref<4xf32>, memref<4xf32>)
      outs(dbias = %db : memref<8xf32>)
      scratch(dbias_partials = %p : memref<1x8xf32>)
  return
}

// -----

// dv alone needs the weights, and of o, v and delta nothing.

// CHECK-LABEL: func.func @dv_alone(
// CHECK-SAME:    %[[Q:.+]]: memref<1x2x3x4xf32>, %[[K:.+]]: memref<1x1x5x4xf32>, %[[V:.+]]: memref<1x1x5x6xf32>, %[[O:.+]]: memref<1x2x3x6xf32>, %[[DO:.+]]: memref<1x2x3x6xf32>
// CHECK-NOT:     memref.load %[[V]]
// CHECK-NOT:     memref.load %[[O]]
// CHECK:         memref.load %[[DO]]
// CHECK-NOT:     memref.load %[[V]]
// CHECK-NOT:     memref.load %[[O]]
// CHECK:         return
func.func @dv_alone(%q: memref<1x2x3x4xf32>, %k: memref<1x1x5x4xf32>,
                    %v: memref<1x1x5x6xf32>, %o: memref<1x2x3x6xf32>,
                    %do: memref<1x2x3x6xf32>, %m: memref<1x2x3xf32>,
                    %dv: memref<1x1x5x6xf32>) {
  pol.attention_grad
      ins(%q, %k, %v, %o, %do : memref<1x2x3x4xf32>, memref<1x1x5x4xf32>,
          memref<1x1x5x6xf32>, memref<1x2x3x6xf32>, memref<1x2x3x6xf32>)
      checkpoints(%m, %m : memref<1x2x3xf32>, memref<1x2x3xf32>)
      outs(dv = %dv : memref<1x1x5x6xf32>)
  return
}

// -----

// Inference keeps no checkpoints, and stores none.

// CHECK-LABEL: func.func @inference(
// CHECK-SAME:    %[[Y:[^ ,]+]]: memref<4x8xf32>)
// CHECK-COUNT-1: memref.store %{{.+}}, %[[Y]]
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @inference(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  pol.layer_norm ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  return
}
