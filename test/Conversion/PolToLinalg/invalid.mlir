// RUN: pol-opt %s --convert-pol-to-linalg --split-input-file -verify-diagnostics
// RUN: not pol-opt %s --convert-pol-to-linalg=sum-block=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ZERO

// ZERO: error: expected sum-block to be at least 1, but got 0

func.func @tensors(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>)
    -> tensor<4x8xf32> {
  // expected-error@+1 {{expected pol-bufferize to run first}}
  %0 = pol.rms_norm ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Every kernel is reported, not only the first.

func.func @all(%x: tensor<8xf32>, %y: tensor<8xf32>, %r: tensor<f32>)
    -> tensor<8xf32> {
  // expected-error@+1 {{expected pol-bufferize to run first}}
  %0 = pol.rms_norm ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>)
      -> tensor<8xf32>
  // expected-error@+1 {{expected pol-bufferize to run first}}
  %1, %2 = pol.rms_norm ins(%0 : tensor<8xf32>) outs(%y : tensor<8xf32>)
      checkpoints(%r : tensor<f32>) -> tensor<8xf32>, tensor<f32>
  return %1 : tensor<8xf32>
}

// -----

#rows = affine_map<(i, j) -> (i floordiv 2, j)>
func.func @layout(%x: memref<4x8xf32, #rows>, %y: memref<4x8xf32>) {
  // expected-error@+1 {{expected memrefs of strided layout, but got 'memref<4x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>'}}
  pol.rms_norm ins(%x : memref<4x8xf32, #rows>) outs(%y : memref<4x8xf32>)
  return
}
