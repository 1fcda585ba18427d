// RUN: pol-opt %s | FileCheck %s
// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s
// RUN: pol-opt %s --emit-bytecode | pol-opt | FileCheck %s

// CHECK-LABEL: func.func @rms_norm_on_tensors(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<?x64xf32>, %[[R:.*]]: tensor<?xf32>)
func.func @rms_norm_on_tensors(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %y: tensor<?x64xf32>, %r: tensor<?xf32>) {
  // CHECK: pol.rms_norm ins(%[[X]], %[[W]] : tensor<?x64xf32>, tensor<64xf32>) outs(%[[Y]] : tensor<?x64xf32>) checkpoints(%[[R]] : tensor<?xf32>) {eps = 9.9999999999999995E-7 : f64, offset = 1.000000e+00 : f64} -> tensor<?x64xf32>, tensor<?xf32>
  %0:2 = pol.rms_norm ins(%x, %w : tensor<?x64xf32>, tensor<64xf32>) outs(%y : tensor<?x64xf32>) checkpoints(%r : tensor<?xf32>) {eps = 1.0e-6 : f64, offset = 1.0 : f64} -> tensor<?x64xf32>, tensor<?xf32>
  // CHECK: pol.rms_norm ins(%[[X]] : tensor<?x64xf32>) outs(%[[Y]] : tensor<?x64xf32>) -> tensor<?x64xf32>
  %1 = pol.rms_norm ins(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_on_memrefs(
// CHECK-SAME:    %[[X:.*]]: memref<8x64xf16, strided<[128, 2], offset: ?>>, %[[W:.*]]: memref<?xbf16>, %[[Y:.*]]: memref<8x?xf32, 3>, %[[R:.*]]: memref<8xf32>)
func.func @rms_norm_on_memrefs(%x: memref<8x64xf16, strided<[128, 2], offset: ?>>, %w: memref<?xbf16>, %y: memref<8x?xf32, 3>, %r: memref<8xf32>) {
  // CHECK: pol.rms_norm ins(%[[X]], %[[W]] : memref<8x64xf16, strided<[128, 2], offset: ?>>, memref<?xbf16>) outs(%[[Y]] : memref<8x?xf32, 3>) checkpoints(%[[R]] : memref<8xf32>){{$}}
  pol.rms_norm ins(%x, %w : memref<8x64xf16, strided<[128, 2], offset: ?>>, memref<?xbf16>) outs(%y : memref<8x?xf32, 3>) checkpoints(%r : memref<8xf32>)
  return
}

// f64 is accumulated in f64; rows of length 0, and one row, are ordinary.
// CHECK-LABEL: func.func @rms_norm_corners(
func.func @rms_norm_corners(%x: tensor<0xf64>, %y: tensor<0xf32>, %r: tensor<f64>) {
  // CHECK: pol.rms_norm {{.*}} {eps = 0.000000e+00 : f64} -> tensor<0xf32>, tensor<f64>
  %0:2 = pol.rms_norm ins(%x : tensor<0xf64>) outs(%y : tensor<0xf32>) checkpoints(%r : tensor<f64>) {eps = 0.0 : f64} -> tensor<0xf32>, tensor<f64>
  return
}
