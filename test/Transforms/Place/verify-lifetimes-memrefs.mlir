// RUN: pol-opt %s --pol-verify-lifetimes --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// Programs with a fault, on memrefs. Each error is at the use by which the
// buffer escapes, and names the allocation and the frame.

func.func @yield(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {kernel = "softmax", name = "tmp", role = #pol.role<scratch>} : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{'pol.yield' op expected a value that outlives the frame, but scratch 'tmp' of kernel 'softmax' goes with it}}
    pol.yield %t : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @output(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f {name = "y", role = #pol.role<output>} : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{output 'y' is allocated from a frame that closes before its last use}}
    pol.yield %t : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @subview(%a: !pol.arena) -> memref<2xf32, strided<[1], offset: 1>> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<2xf32, strided<[1], offset: 1>> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %v = memref.subview %t[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %v : memref<2xf32, strided<[1], offset: 1>>
  }
  return %r : memref<2xf32, strided<[1], offset: 1>>
}

// -----

func.func @chain_of_views(%a: !pol.arena) -> memref<*xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<*xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<2x3xf32>
    %c = memref.collapse_shape %t [[0, 1]] : memref<2x3xf32> into memref<6xf32>
    %e = memref.expand_shape %c [[0, 1]] output_shape [3, 2] : memref<6xf32> into memref<3x2xf32>
    %p = memref.transpose %e (i, j) -> (j, i) : memref<3x2xf32> to memref<2x3xf32, strided<[1, 2]>>
    %i = memref.reinterpret_cast %p to offset: [0], sizes: [6], strides: [1] : memref<2x3xf32, strided<[1, 2]>> to memref<6xf32>
    %u = memref.cast %i : memref<6xf32> to memref<*xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %u : memref<*xf32>
  }
  return %r : memref<*xf32>
}

// -----

func.func @metadata(%a: !pol.arena) -> memref<f32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<f32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %b, %o, %n, %s = memref.extract_strided_metadata %t : memref<4xf32> -> memref<f32>, index, index, index
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %b : memref<f32>
  }
  return %r : memref<f32>
}

// -----

func.func @view_of_bytes(%a: !pol.arena, %o: index) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<64xi8>
    %v = memref.view %t[%o][] : memref<64xi8> to memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %v : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @if(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.if %c -> memref<4xf32> {
      scf.yield %x : memref<4xf32>
    } else {
      scf.yield %t : memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @for(%a: !pol.arena, %n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %t) -> (memref<4xf32>, memref<4xf32>) {
      scf.yield %q, %p : memref<4xf32>, memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s#0 : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @while(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %s = scf.while (%p = %x) : (memref<4xf32>) -> memref<4xf32> {
      scf.condition(%c) %p : memref<4xf32>
    } do {
    ^bb0(%q: memref<4xf32>):
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      scf.yield %t : memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @index_switch(%a: !pol.arena, %i: index, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.index_switch %i -> memref<4xf32>
    case 3 { scf.yield %t : memref<4xf32> }
    default { scf.yield %x : memref<4xf32> }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @select(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = arith.select %c, %x, %t : memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @blocks(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.execute_region -> memref<4xf32> {
      cf.cond_br %c, ^one(%t : memref<4xf32>), ^one(%x : memref<4xf32>)
    ^one(%b: memref<4xf32>):
      scf.yield %b : memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @call(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = func.call @outer(%t, %t) : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @outer(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32> {
  %r = call @inner(%y) : (memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}
func.func private @inner(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

func.func @call_of_branches(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = func.call @branches(%c, %x, %t) : (i1, memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @branches(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32> {
  cf.cond_br %c, ^left, ^right
^left:
  return %x : memref<4xf32>
^right:
  cf.br ^end(%y : memref<4xf32>)
^end(%z: memref<4xf32>):
  return %z : memref<4xf32>
}

// -----

func.func @recursion(%a: !pol.arena, %n: index) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = func.call @even(%t, %n) : (memref<4xf32>, index) -> memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @even(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %done = arith.cmpi eq, %n, %c0 : index
  cf.cond_br %done, ^end, ^more
^end:
  return %x : memref<4xf32>
^more:
  %r = call @odd(%x, %n) : (memref<4xf32>, index) -> memref<4xf32>
  return %r : memref<4xf32>
}
func.func private @odd(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  %r = call @even(%x, %m) : (memref<4xf32>, index) -> memref<4xf32>
  return %r : memref<4xf32>
}

// -----

// What is called through a pointer, or is defined elsewhere, may return any.
func.func private @external(memref<4xf32>) -> memref<?xf32>
func.func @unknown(%a: !pol.arena) -> memref<?xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = func.call @external(%t) : (memref<4xf32>) -> memref<?xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

func.func private @external(!pol.frame) -> memref<?xf32>
func.func @unknown_from_frame(%a: !pol.arena) -> memref<?xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %s = func.call @external(%f) : (!pol.frame) -> memref<?xf32>
    // expected-error@+1 {{a buffer of a call goes with it}}
    pol.yield %s : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

func.func @allocating_callee(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %s = func.call @make(%f) : (!pol.frame) -> memref<4xf32>
    // expected-error@+1 {{a buffer of a call goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @make(%f: !pol.frame) -> memref<4xf32> {
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  return %t : memref<4xf32>
}

// -----

// A callee's allocation from the space that the frame is open on lies above the
// frame's mark.
func.func @above_the_mark(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{it is allocated here}}
    %s = func.call @make(%a) : (!pol.arena) -> memref<4xf32>
    // expected-error@+1 {{a buffer of a call goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @make(%a: !pol.arena) -> memref<4xf32> {
  %t = pol.alloc %a : !pol.arena -> memref<4xf32>
  return %t : memref<4xf32>
}

// -----

func.func @frame_itself(%a: !pol.arena) {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> !pol.frame {
  ^bb0(%f: !pol.frame):
    // expected-error@+1 {{the frame or a buffer of it goes with it}}
    pol.yield %f : !pol.frame
  }
  return
}

// -----

func.func @frame_through_call(%a: !pol.arena) {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> !pol.frame {
  ^bb0(%f: !pol.frame):
    %g = func.call @identity(%f) : (!pol.frame) -> !pol.frame
    // expected-error@+1 {{the frame or a buffer of it goes with it}}
    pol.yield %g : !pol.frame
  }
  return
}
func.func private @identity(%f: !pol.frame) -> !pol.frame {
  return %f : !pol.frame
}

// -----

func.func @nested(%a: !pol.arena) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{from the frame opened here}}
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %g : !pol.frame -> memref<4xf32>
      // expected-error@+1 {{buffer goes with it}}
      pol.yield %t : memref<4xf32>
    }
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @through_inner(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      pol.yield %t : memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @selected_frame(%a: !pol.arena, %c: i1) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{from the frame opened here}}
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      %h = arith.select %c, %f, %g : !pol.frame
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %h : !pol.frame -> memref<4xf32>
      // expected-error@+1 {{buffer goes with it}}
      pol.yield %t : memref<4xf32>
    }
  }
  return
}

// -----

func.func @loop_carried_space(%a: !pol.arena, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%g = %f) -> !pol.frame {
      scf.yield %g : !pol.frame
    }
    // expected-note@+1 {{it is allocated here}}
    %t = pol.alloc %s : !pol.frame -> memref<4xf32>
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %t : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @scratch_outside(%a: !pol.arena, %h: !pol.heap) {
  // expected-error@+1 {{'pol.alloc' op expected scratch 'tmp' of kernel 'k' to be allocated from a frame, but got '!pol.arena'}}
  %t = pol.alloc %a {kernel = "k", name = "tmp", role = #pol.role<scratch>} : !pol.arena -> memref<4xf32>
  // expected-error@+1 {{expected scratch to be allocated from a frame, but got '!pol.heap'}}
  %u = pol.alloc %h {role = #pol.role<scratch>} : !pol.heap -> memref<4xf32>
  return
}

// -----

func.func @parallel(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the parallel region is here}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error@+1 {{'pol.alloc' op expected no allocation from a space of outside the parallel region: open a frame inside it}}
    %t = pol.alloc %a : !pol.arena -> memref<4xf32>
    scf.reduce
  }
  return
}

// -----

func.func @forall_from_frame(%a: !pol.arena, %n: index) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{the parallel region is here}}
    scf.forall (%i) in (%n) {
      // expected-error@+1 {{expected no allocation from a space of outside the parallel region}}
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    }
  }
  return
}

// -----

func.func @affine_parallel(%a: !pol.arena) {
  // expected-note@+1 {{the parallel region is here}}
  affine.parallel (%i) = (0) to (10) {
    // expected-error@+1 {{expected no allocation from a space of outside the parallel region}}
    %t = pol.alloc %a : !pol.arena -> memref<4xf32>
  }
  return
}

// -----

func.func @call_in_parallel(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the parallel region is here}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error@+1 {{'func.call' op expected no call with a space of outside the parallel region}}
    func.call @use(%a) : (!pol.arena) -> ()
    scf.reduce
  }
  return
}
func.func private @use(!pol.arena)

// -----

func.func @hidden() -> memref<4xf32> {
  %h = pol.thread_heap : !pol.heap
  // expected-note@+1 {{it is added here}}
  %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
  %v = memref.cast %t : memref<4xf32> to memref<4xf32>
  // expected-error@+1 {{'func.return' op expected buffers from a space or destination of the caller, but got one that no pol.alloc asked for}}
  return %v : memref<4xf32>
}

// -----

llvm.func @other(%p: !llvm.ptr) {
  %a = builtin.unrealized_conversion_cast %p : !llvm.ptr to !pol.arena
  // expected-error@+1 {{'pol.frame' op expected to be in a func.func, but got 'llvm.func'}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
  }
  llvm.return
}

// -----

// A capture is no scope: what it yields out of a frame is the frame's.

func.func @capture(%a: !pol.arena) -> memref<4xf32> {
  // expected-note@+1 {{from the frame opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %0 = pol.capture -> memref<4xf32> {
      // expected-note@+1 {{it is allocated here}}
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      pol.yield %t : memref<4xf32>
    }
    // expected-error@+1 {{buffer goes with it}}
    pol.yield %0 : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

llvm.func @capture_elsewhere() {
  // expected-error@+1 {{'pol.capture' op expected to be in a func.func, but got 'llvm.func'}}
  pol.capture {
  }
  llvm.return
}
