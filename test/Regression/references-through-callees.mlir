// RUN: pol-opt %s --pol-verify-lifetimes --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// References in memory were not followed out of callees: what one loads from a
// box of its caller, and what one allocates and stores in it.

func.func @loads(%a: !pol.arena) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloca() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    %u = func.call @open(%box) : (memref<1xmemref<4xf32>>) -> memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %u : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @open(%box: memref<1xmemref<4xf32>>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
  return %u : memref<4xf32>
}

// -----

func.func @stores(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-error@+1 {{is stored in memory that outlives it}}
    func.call @make(%f, %out) : (!pol.frame, memref<1xmemref<4xf32>>) -> ()
  }
  return
}
func.func private @make(%f: !pol.frame, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  memref.store %t, %out[%c0] : memref<1xmemref<4xf32>>
  return
}
