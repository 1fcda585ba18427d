// RUN: pol-opt %s --pol-verify-lifetimes --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// Programs with a fault, on tensors: the early check.

func.func @yield(%a: !pol.arena) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {kernel = "softmax", name = "tmp", role = #pol.role<scratch>} : !pol.frame -> tensor<4xf32>
    // expected-error@+1 {{'pol.yield' op expected a value that outlives the frame, but scratch 'tmp' of kernel 'softmax' goes with it}}
    pol.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @destination(%a: !pol.arena, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {name = "y", role = #pol.role<output>} : !pol.frame -> tensor<4xf32>
    %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{output 'y' is allocated from a frame that closes before its last use}}
    pol.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @kernel(%a: !pol.arena, %x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  // expected-note@+1 {{from the frame opened here}}
  %r:2 = pol.frame on %a : !pol.arena -> tensor<8x4xf32>, tensor<8xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {name = "rstd", role = #pol.role<checkpoint>} : !pol.frame -> tensor<8xf32>
    %0:2 = pol.rms_norm ins(%x : tensor<8x4xf32>) outs(%y : tensor<8x4xf32>) checkpoints(%t : tensor<8xf32>) -> tensor<8x4xf32>, tensor<8xf32>
    // expected-error@+1 {{checkpoint 'rstd' goes with it}}
    pol.yield %0#0, %0#1 : tensor<8x4xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8xf32>
}

// -----

func.func @slice(%a: !pol.arena) -> tensor<2xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<2xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %v = tensor.extract_slice %t[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %v : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @reshapes(%a: !pol.arena) -> tensor<?x?xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<?x?xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<2x3xf32>
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
    %e = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
    %v = tensor.cast %e : tensor<3x2xf32> to tensor<?x?xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %v : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

func.func @insert_into_frame(%a: !pol.arena, %x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %v = tensor.insert_slice %x into %t[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @if(%a: !pol.arena, %c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = scf.if %c -> tensor<4xf32> {
      scf.yield %x : tensor<4xf32>
    } else {
      scf.yield %t : tensor<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @for(%a: !pol.arena, %n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t) -> tensor<4xf32> {
      %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %0 : tensor<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @forall(%a: !pol.arena, %x: tensor<1xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %x into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @while_and_switch(%a: !pol.arena, %c: i1, %i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = scf.while (%p = %t) : (tensor<4xf32>) -> tensor<4xf32> {
      scf.condition(%c) %p : tensor<4xf32>
    } do {
    ^bb0(%p: tensor<4xf32>):
      scf.yield %p : tensor<4xf32>
    }
    %u = scf.index_switch %i -> tensor<4xf32>
    case 0 { scf.yield %s : tensor<4xf32> }
    default { scf.yield %x : tensor<4xf32> }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @select(%a: !pol.arena, %c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = arith.select %c, %t, %x : tensor<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @callee(%a: !pol.arena, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = func.call @exp(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @exp(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @nested(%a: !pol.arena) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %s = pol.frame on %f : !pol.frame -> tensor<4xf32> {
    ^bb0(%g: !pol.frame):
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
      pol.yield %t : tensor<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @allocating_callee(%a: !pol.arena) -> tensor<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %s = func.call @make(%f) : (!pol.frame) -> tensor<4xf32>
    // expected-error@+1 {{a buffer of a call goes with it}}
    pol.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @make(%f: !pol.frame) -> tensor<4xf32> {
  %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

func.func @to_buffer(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %m = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %m : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @parallel(%a: !pol.arena, %n: index) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    // expected-error@+1 {{expected no allocation from a space of outside the parallel region}}
    %t = pol.alloc %a : !pol.arena -> tensor<4xf32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Without a fault
//===----------------------------------------------------------------------===//

func.func @into_outer(%a: !pol.arena, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f {role = #pol.role<scratch>} : !pol.frame -> tensor<4xf32>
    %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %1 = linalg.log ins(%0 : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    pol.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @insert_into_outer(%a: !pol.arena, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<2xf32>
    %0 = tensor.insert_slice %t into %y[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    pol.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @copy_to_outer(%a: !pol.arena, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %0 = linalg.copy ins(%t : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    %1 = bufferization.materialize_in_destination %t in %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pol.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @element(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %v = tensor.extract %t[%c0] : tensor<4xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

// A new tensor, not the frame's.
func.func @fresh(%a: !pol.arena) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> tensor<1xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %v = tensor.extract %t[%c0] : tensor<4xf32>
    %u = tensor.from_elements %v : tensor<1xf32>
    pol.yield %u : tensor<1xf32>
  }
  return %r : tensor<1xf32>
}

func.func @reduction(%a: !pol.arena, %n: index, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %y) -> tensor<4xf32> {
    %q = pol.frame on %a : !pol.arena -> tensor<4xf32> {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
      %0 = linalg.exp ins(%t : tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
      pol.yield %0 : tensor<4xf32>
    }
    scf.yield %q : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @kernel_chain(%a: !pol.arena, %x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<8x4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<8x4xf32>
    %0 = pol.rms_norm ins(%x : tensor<8x4xf32>) outs(%t : tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = pol.rms_norm ins(%0 : tensor<8x4xf32>) outs(%y : tensor<8x4xf32>) -> tensor<8x4xf32>
    pol.yield %1 : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

func.func @select_of_outer(%a: !pol.arena, %c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %s = arith.select %c, %x, %y : tensor<4xf32>
    %0 = linalg.exp ins(%t : tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
    pol.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @callee_reads(%a: !pol.arena, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %0 = func.call @exp(%t, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pol.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @exp(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Nothing is known of what it does: the check on memrefs will tell.
func.func @unregistered_benefit(%a: !pol.arena, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
    %0 = func.call @declared(%t, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pol.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @declared(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

func.func @parallel_frames(%a: !pol.arena, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %y) -> tensor<4xf32> {
    %v = pol.frame on %a : !pol.arena -> f32 {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> tensor<4xf32>
      %0 = tensor.extract %t[%i] : tensor<4xf32>
      pol.yield %0 : f32
    }
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %u = linalg.fill ins(%v : f32) outs(%s : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %u into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}
