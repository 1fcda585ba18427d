// RUN: pol-opt %s --pol-bufferize=report-hidden=false --verify-diagnostics -o /dev/null

// A mismatch of memory spaces at a function's result, or in an op whose
// verifier does not look at encodings, was a buffer and a copy.

func.func @f(%x: tensor<8xf32, 1 : i64>) -> tensor<4xf32> {
  // expected-error@+1 {{expected one memory space, but got 'memref<4xf32, strided<[1]>, 1>' where a buffer of type 'memref<4xf32>' is expected}}
  %y = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32, 1 : i64> to tensor<4xf32>
  return %y : tensor<4xf32>
}
