// RUN: pol-test-opt %s --test-pol-region-gradient --split-input-file --verify-diagnostics

func.func private @no_derivative(%s: f16) -> f16 {
  %bits = arith.bitcast %s : f16 to bf16
  // expected-error @-1 {{expected ops with derivatives on the way from the arguments to the result, but got 'arith.bitcast'}}
  %wide = arith.extf %bits : bf16 to f32
  %result = arith.truncf %wide : f32 to f16
  return %result : f16
}
func.func private @no_derivative_grad(f16, f16) -> (f16, f16) attributes {test.gradient_of = @no_derivative}

// -----

// An array is loaded from as it is captured.
func.func private @view(%s: f32, %x: memref<?xf32>, %i: index) -> f32 {
  // expected-error @+1 {{expected ops with derivatives on the way from the arguments to the result, but got 'memref.cast'}}
  %view = memref.cast %x : memref<?xf32> to memref<4xf32>
  %element = memref.load %view[%i] : memref<4xf32>
  %result = arith.addf %s, %element : f32
  return %result : f32
}
func.func private @view_grad(f32, memref<?xf32>, index, f32, memref<?xf32>) -> (f32, f32)
    attributes {test.gradient_of = @view}

// -----

// What a nested region uses counts.
func.func private @nested(%s: f32, %c: i1) -> f32 {
  // expected-error @+1 {{expected ops with derivatives on the way from the arguments to the result, but got 'scf.if'}}
  %result = scf.if %c -> f32 {
    scf.yield %s : f32
  } else {
    %zero = arith.constant 0.0 : f32
    scf.yield %zero : f32
  }
  return %result : f32
}
func.func private @nested_grad(f32, i1, f32) -> (f32, f32) attributes {test.gradient_of = @nested}

// -----

// No error: what has no derivative is not on the way.
func.func private @aside(%s: f32, %a: f16 {test.constant}, %b: f16) -> f32 {
  %bits = arith.bitcast %a : f16 to bf16
  %factor = arith.extf %bits : bf16 to f32
  %unused = arith.bitcast %b : f16 to bf16
  %result = arith.mulf %s, %factor : f32
  return %result : f32
}
func.func private @aside_grad(f32, f16, f16, f32) -> (f32, f32, f16) attributes {test.gradient_of = @aside}
