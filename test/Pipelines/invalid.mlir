// RUN: pol-opt %s --pol-to-llvm=report-hidden=false --split-input-file --verify-diagnostics -o /dev/null

// What the pipeline refuses, it refuses with one error at the place.

func.func @hidden_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{it is added here}}
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{expected buffers from a space or destination of the caller, but got one that no pol.alloc asked for}}
  return %0 : tensor<4xf32>
}

// -----

func.func @escape(%a: !pol.arena) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// expected-error@+1 {{but got 'func.func'}}
func.func @memory_space(%x: memref<4xf32, 1>) {
  return
}

// -----

func.func private @fallible(%h: !pol.heap, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %t = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  %v = memref.load %t[%c0] : memref<?xf32>
  return %v : f32
}
func.func private @take((!pol.heap, index) -> f32)
func.func @pointer() {
  // expected-error@+1 {{'func.constant' op expected only calls of @fallible, which can fail}}
  %f = func.constant @fallible : (!pol.heap, index) -> f32
  call @take(%f) : ((!pol.heap, index) -> f32) -> ()
  return
}
