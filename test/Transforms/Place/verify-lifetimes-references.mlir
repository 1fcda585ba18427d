// RUN: pol-opt %s --pol-verify-lifetimes --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// References to memory that are kept in memory.

func.func @store(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {name = "t"} : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{'memref.store' op expected memory that goes with the frame, but buffer 't' is stored in memory that outlives it}}
    memref.store %t, %out[%c0] : memref<1xmemref<4xf32>>
  }
  return
}

// -----

func.func @affine_store(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{'affine.store' op expected memory that goes with the frame}}
    affine.store %t, %out[0] : memref<1xmemref<4xf32>>
  }
  return
}

// -----

func.func @store_in_callee(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{'func.call' op expected memory that goes with the frame}}
    func.call @keep(%t, %out) : (memref<4xf32>, memref<1xmemref<4xf32>>) -> ()
  }
  return
}
func.func private @keep(%t: memref<4xf32>, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  memref.store %t, %out[%c0] : memref<1xmemref<4xf32>>
  return
}

// -----

func.func @callee_stores_its_allocation(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-error@+1 {{'func.call' op expected memory that goes with the frame, but the frame or a buffer of it is stored}}
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

// -----

func.func @load_back(%a: !pol.arena) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloca() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %u : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @load_back_in_callee(%a: !pol.arena) -> memref<4xf32> {
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

// The box itself outlives the frame, with what it holds.
func.func @yielded_box(%a: !pol.arena) -> memref<1xmemref<4xf32>> {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<1xmemref<4xf32>> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloc() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %box : memref<1xmemref<4xf32>>
  }
  return %r : memref<1xmemref<4xf32>>
}

// -----

func.func @box_in_box(%a: !pol.arena, %out: memref<1xmemref<1xmemref<4xf32>>>) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloc() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    // expected-error@+1 {{expected memory that goes with the frame}}
    memref.store %box, %out[%c0] : memref<1xmemref<1xmemref<4xf32>>>
  }
  return
}

// -----

func.func @copy_of_references(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloca() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    // expected-error@+1 {{'memref.copy' op expected memory that goes with the frame}}
    memref.copy %box, %out : memref<1xmemref<4xf32>> to memref<1xmemref<4xf32>>
  }
  return
}

// -----

memref.global "private" @global : memref<1xmemref<4xf32>>
func.func @global_store(%a: !pol.arena) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{from the frame opened here}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %g = memref.get_global @global : memref<1xmemref<4xf32>>
    // expected-error@+1 {{expected memory that goes with the frame}}
    memref.store %t, %g[%c0] : memref<1xmemref<4xf32>>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Without a fault
//===----------------------------------------------------------------------===//

func.func @box_of_the_frame(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %box = memref.alloca() : memref<1xmemref<4xf32>>
    memref.store %t, %box[%c0] : memref<1xmemref<4xf32>>
    %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
    %v = memref.load %u[%c0] : memref<4xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

// An outer buffer goes through a box of the frame.
func.func @outer_through_box(%a: !pol.arena, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %x : memref<4xf32> to memref<4xf32>
    %box = memref.alloca() : memref<1xmemref<4xf32>>
    memref.store %x, %box[%c0] : memref<1xmemref<4xf32>>
    %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
    %v = func.call @open(%box) : (memref<1xmemref<4xf32>>) -> memref<4xf32>
    memref.copy %t, %u : memref<4xf32> to memref<4xf32>
    pol.yield %v : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @open(%box: memref<1xmemref<4xf32>>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
  return %u : memref<4xf32>
}

// What a caller's box holds is the caller's.
func.func @from_outer_box(%a: !pol.arena, %box: memref<1xmemref<4xf32>>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %u = memref.load %box[%c0] : memref<1xmemref<4xf32>>
    memref.copy %t, %u : memref<4xf32> to memref<4xf32>
    pol.yield %u : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func @outer_in_outer(%a: !pol.arena, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  %y = pol.alloc %a : !pol.arena -> memref<4xf32>
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
    memref.store %y, %out[%c0] : memref<1xmemref<4xf32>>
  }
  return
}
