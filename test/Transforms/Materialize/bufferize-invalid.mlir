// RUN: pol-opt %s --pol-bufferize=report-hidden=false --split-input-file \
// RUN:   --verify-diagnostics --allow-unregistered-dialect -o /dev/null

// A memory space changes nowhere, seen or unseen.

func.func @cast(%x: tensor<4xf32, 1 : i64>) -> tensor<4xf32> {
  // expected-error@+1 {{'tensor.cast' op expected source and result in one memory space, but got 'tensor<4xf32, 1 : i64>' and 'tensor<4xf32>'}}
  %y = tensor.cast %x : tensor<4xf32, 1 : i64> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @unranked_cast(%x: tensor<4xf32, 1 : i64>) -> tensor<4xf32> {
  %u = tensor.cast %x : tensor<4xf32, 1 : i64> to tensor<*xf32>
  // expected-error@+1 {{expected one memory space, but got 'memref<4xf32, strided<[?], offset: ?>, 1>' where a buffer of type 'memref<4xf32>' is expected}}
  %y = tensor.cast %u : tensor<*xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @slice(%x: tensor<8xf32, 1 : i64>) -> tensor<4xf32> {
  // expected-error@+1 {{expected one memory space}}
  %y = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32, 1 : i64> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @reshape(%x: tensor<8xf32, 1 : i64>) -> tensor<2x4xf32> {
  // expected-error@+1 {{expected one memory space}}
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32, 1 : i64> into tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// expected-error@+1 {{expected one memory space, but got 'memref<8xf32, 1>' where a buffer of type 'memref<8xf32>' is expected}}
func.func @function_result(%x: memref<8xf32, 1>) -> tensor<8xf32> {
  %y = bufferization.to_tensor %x restrict : memref<8xf32, 1> to tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Encodings that are no memory spaces.

// expected-error@+1 {{'tensor<8xf32, unit>': expected a memory space that memrefs can have, but got unit}}
func.func @unit(%x: tensor<8xf32, unit>) {
  return
}

// -----

#sparse = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
func.func @sparse(%x: tensor<8xf32, #sparse>) {
  // expected-error@+1 {{expected a memory space that memrefs can have}}
  "test.use"(%x) : (tensor<8xf32, #sparse>) -> ()
  return
}

// -----

// No heap has an address space.
func.func @empty() -> tensor<4xf32, 1 : i64> {
  // expected-error@+2 {{expected a pol.alloc for a buffer of type 'memref<4xf32, 1>': nothing else can allocate in its memory space}}
  // expected-error@+1 {{failed to bufferize op}}
  %c = tensor.empty() : tensor<4xf32, 1 : i64>
  return %c : tensor<4xf32, 1 : i64>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{op was not bufferized}}
  %y = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @description(%a: !pol.arena, %u: !pol.undef<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{failed to bufferize op}}
  // expected-error@+1 {{'pol.alloc' op expected pol-flatten-bundles to run first}}
  %t = pol.alloc %a, %u : !pol.arena, !pol.undef<4xf32> -> tensor<4xf32>
  return %t : tensor<4xf32>
}
