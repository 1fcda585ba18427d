// RUN: pol-opt %s --pol-verify-lifetimes --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// Programs without a fault, on memrefs: no false alarm.

func.func private @use(memref<4xf32>)
func.func private @use_frame(!pol.frame)

func.func @scalar(%a: !pol.arena, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f {role = #pol.role<scratch>} : !pol.frame -> memref<4xf32>
    %u = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = arith.select %c, %t, %u : memref<4xf32>
    %v = memref.load %s[%c0] : memref<4xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

func.func @dim(%a: !pol.arena, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> index {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    %d = memref.dim %t, %c0 : memref<?xf32>
    pol.yield %d : index
  }
  return %r : index
}

func.func @argument(%a: !pol.arena, %x: memref<4xf32>) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    linalg.exp ins(%t : memref<4xf32>) outs(%x : memref<4xf32>)
    pol.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func @view_of_outer(%a: !pol.arena, %x: memref<4xf32>) -> memref<?xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %x : memref<4xf32> to memref<4xf32>
    %v = memref.cast %x : memref<4xf32> to memref<?xf32>
    pol.yield %v : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// It is placed before the frame.
func.func @outer_allocation(%a: !pol.arena) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %y = pol.alloc %a {role = #pol.role<output>} : !pol.arena -> memref<4xf32>
    linalg.exp ins(%t : memref<4xf32>) outs(%y : memref<4xf32>)
    pol.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func @copies(%a: !pol.arena, %x: memref<4xf32>, %y: memref<4xf32>) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %x : memref<4xf32> to memref<4xf32>
    linalg.copy ins(%t : memref<4xf32>) outs(%y : memref<4xf32>)
  }
  return
}

func.func @kernel(%a: !pol.arena, %x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<8x4xf32>
    %r = pol.alloc %f : !pol.frame -> memref<8xf32>
    pol.rms_norm ins(%x : memref<8x4xf32>) outs(%t : memref<8x4xf32>) checkpoints(%r : memref<8xf32>)
    pol.rms_norm ins(%t : memref<8x4xf32>) outs(%y : memref<8x4xf32>)
  }
  return
}

func.func @frame_in_loop(%a: !pol.arena, %n: index, %x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> f32 {
    %v = pol.frame on %a : !pol.arena -> f32 {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
      %u = memref.load %t[%c0] : memref<?xf32>
      pol.yield %u : f32
    }
    %w = arith.addf %s, %v : f32
    scf.yield %w : f32
  }
  return %r : f32
}

func.func @loop_in_frame(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t) -> memref<4xf32> {
      %u = pol.alloc %f : !pol.frame -> memref<4xf32>
      memref.copy %p, %u : memref<4xf32> to memref<4xf32>
      scf.yield %u : memref<4xf32>
    }
    func.call @use(%r) : (memref<4xf32>) -> ()
  }
  return
}

func.func @if_in_frame(%a: !pol.arena, %c: i1) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %r = scf.if %c -> memref<4xf32> {
      %u = pol.alloc %f : !pol.frame -> memref<4xf32>
      scf.yield %u : memref<4xf32>
    } else {
      scf.yield %t : memref<4xf32>
    }
    func.call @use(%r) : (memref<4xf32>) -> ()
  }
  return
}

func.func @while_in_frame(%a: !pol.arena, %c: i1) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %r = scf.while (%p = %t) : (memref<4xf32>) -> memref<4xf32> {
      scf.condition(%c) %p : memref<4xf32>
    } do {
    ^bb0(%p: memref<4xf32>):
      scf.yield %p : memref<4xf32>
    }
    func.call @use(%r) : (memref<4xf32>) -> ()
  }
  return
}

func.func @parallel(%a: !pol.arena, %n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      %v = memref.load %t[%c0] : memref<4xf32>
      memref.store %v, %x[%i] : memref<?xf32>
    }
    scf.reduce
  }
  return
}

func.func @forall(%a: !pol.arena, %n: index) {
  scf.forall (%i) in (%n) {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      pol.frame on %f : !pol.frame {
      ^bb0(%g: !pol.frame):
        %t = pol.alloc %f : !pol.frame -> memref<4xf32>
        %u = pol.alloc %g : !pol.frame -> memref<4xf32>
        memref.copy %t, %u : memref<4xf32> to memref<4xf32>
      }
    }
  }
  return
}

// A worker's own heap is no one else's.
func.func @hidden_in_parallel(%n: index) {
  scf.forall (%i) in (%n) {
    %h = pol.thread_heap : !pol.heap
    %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
    func.call @use(%t) : (memref<4xf32>) -> ()
  }
  return
}

func.func @hidden_in_function() -> f32 {
  %c0 = arith.constant 0 : index
  %h = pol.thread_heap : !pol.heap
  %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
  %v = memref.load %t[%c0] : memref<4xf32>
  return %v : f32
}

func.func @callee_uses(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    func.call @use(%t) : (memref<4xf32>) -> ()
    func.call @use_frame(%f) : (!pol.frame) -> ()
  }
  return
}

// The callee returns another argument than the frame's.
func.func @callee_returns_other(%a: !pol.arena, %x: memref<4xf32>) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = func.call @first(%x, %t) : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @first(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32> {
  linalg.exp ins(%y : memref<4xf32>) outs(%x : memref<4xf32>)
  return %x : memref<4xf32>
}

// A callee's allocation lives until the innermost frame on its space closes.
func.func @callee_allocates(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = func.call @make(%f) : (!pol.frame) -> memref<4xf32>
    func.call @use(%t) : (memref<4xf32>) -> ()
  }
  return
}
func.func private @make(%f: !pol.frame) -> memref<4xf32> {
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  return %t : memref<4xf32>
}

// From another arena than the frame is open on.
func.func @other_arena(%a: !pol.arena, %b: !pol.arena) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %y = func.call @make_in_arena(%b) : (!pol.arena) -> memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
    pol.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func private @make_in_arena(%a: !pol.arena) -> memref<4xf32> {
  %t = pol.alloc %a : !pol.arena -> memref<4xf32>
  return %t : memref<4xf32>
}

func.func @outer_from_inner(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      %u = pol.alloc %g : !pol.frame -> memref<4xf32>
      memref.copy %u, %t : memref<4xf32> to memref<4xf32>
      pol.yield %t : memref<4xf32>
    }
    %v = memref.load %s[%c0] : memref<4xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

func.func @siblings(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
    pol.yield %v : f32
  }
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.store %r, %t[%c0] : memref<4xf32>
  }
  return %r : f32
}

func.func @blocks(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  cf.cond_br %c, ^one, ^two(%x : memref<4xf32>)
^one:
  %y = pol.alloc %a : !pol.arena -> memref<4xf32>
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
  }
  cf.br ^two(%y : memref<4xf32>)
^two(%r: memref<4xf32>):
  return %r : memref<4xf32>
}

func.func @recursion(%a: !pol.arena, %n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %done -> memref<4xf32> {
    scf.yield %x : memref<4xf32>
  } else {
    %m = arith.subi %n, %c1 : index
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      memref.copy %t, %x : memref<4xf32> to memref<4xf32>
    }
    %s = func.call @recursion(%a, %m, %x) : (!pol.arena, index, memref<4xf32>) -> memref<4xf32>
    scf.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func @heap_frame(%h: !pol.heap) -> memref<4xf32> {
  %y = pol.alloc %h : !pol.heap -> memref<4xf32>
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
  }
  return %y : memref<4xf32>
}

// A frame of the caller: what comes from it is for the caller to check.
func.func @frame_argument(%f: !pol.frame) -> memref<4xf32> {
  %t = pol.alloc %f {role = #pol.role<scratch>} : !pol.frame -> memref<4xf32>
  return %t : memref<4xf32>
}

func.func private @declared(!pol.arena, memref<4xf32>) -> memref<4xf32>
func.func @nothing() {
  return
}
func.func @unused_frame(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
  }
  return
}

// What a capture yields lives on.
func.func @capture(%a: !pol.arena) -> memref<4xf32> {
  %y = pol.capture -> memref<4xf32> {
    %0 = pol.alloc %a : !pol.arena -> memref<4xf32>
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      memref.copy %t, %0 : memref<4xf32> to memref<4xf32>
    }
    pol.yield %0 : memref<4xf32>
  }
  return %y : memref<4xf32>
}
