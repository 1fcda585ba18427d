// RUN: pol-opt %s --pol-promote-frames --pol-hoist-allocs --pol-lower-frames --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// A frame of static buffers goes on the stack, into the function's entry; a
// static buffer of no bytes and every element type, too.

// CHECK-LABEL: func.func @static(
// CHECK-NEXT:    %[[U:.+]] = memref.alloca() {alignment = 64 : i64, pol.buffer = {kernel = "k", name = "u"}} : memref<2x3xi8>
// CHECK-NEXT:    %[[T:.+]] = memref.alloca() {{.*}} : memref<4xcomplex<f64>>
// CHECK-NOT:     pol.mark
// CHECK:         scf.for
// CHECK-NOT:     memref.alloca
// CHECK:           func.call @use(%[[T]], %[[U]])
// CHECK-NOT:     pol.retract
func.func private @use(memref<4xcomplex<f64>>, memref<2x3xi8>)
func.func @static(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %u = pol.alloc %f {kernel = "k", name = "u", role = #pol.role<scratch>} : !pol.frame -> memref<2x3xi8>
      %t = pol.alloc %f : !pol.frame -> memref<4xcomplex<f64>>
      func.call @use(%t, %u) : (memref<4xcomplex<f64>>, memref<2x3xi8>) -> ()
    }
  }
  return
}

// -----

// One buffer of dynamic size makes the frame a mark and a retract; results are
// what the frame yields.

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena, %[[N:.+]]: index
// CHECK:         %[[MARK:.+]] = pol.mark %[[ARENA]] : !pol.arena
// CHECK-NEXT:    %[[T:.+]], %{{.+}} = pol.carve %[[ARENA]][%[[N]]] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.arena -> memref<?xf32>
// CHECK-NEXT:    %{{.+}}, %{{.+}} = pol.carve %[[ARENA]] : !pol.arena -> memref<4xf32>
// CHECK-NEXT:    %[[V:.+]] = memref.load %[[T]]
// CHECK-NEXT:    pol.retract %[[ARENA]], %[[MARK]] : !pol.arena
// CHECK-NEXT:    return %[[V]]
func.func @dynamic(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.frame -> memref<?xf32>
    %u = pol.alloc %f : !pol.frame -> memref<4xf32>
    %v = memref.load %t[%c0] : memref<?xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

// -----

// Inside of each other: every frame is one by itself, on the space of the one
// around it.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[HEAP:.+]]: !pol.heap, %[[N:.+]]: index
// CHECK:         %[[U:.+]] = memref.alloca()
// CHECK:         %[[OUTER:.+]] = pol.mark %[[HEAP]] : !pol.heap
// CHECK:         pol.carve %[[HEAP]][%[[N]]] {name = "t"}
// CHECK:         %[[INNER:.+]] = pol.mark %[[HEAP]] : !pol.heap
// CHECK:         pol.carve %[[HEAP]][%[[N]]] {name = "v"}
// CHECK:         pol.retract %[[HEAP]], %[[INNER]]
// CHECK:         call @use(%[[U]])
// CHECK:         pol.retract %[[HEAP]], %[[OUTER]]
func.func private @use(memref<4xf32>)
func.func @nested(%h: !pol.heap, %n: index) {
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] {name = "t"} : !pol.frame -> memref<?xf32>
    pol.frame on %f : !pol.frame {
    ^bb0(%g: !pol.frame):
      %u = pol.alloc %g {name = "u"} : !pol.frame -> memref<4xf32>
      pol.frame on %g : !pol.frame {
      ^bb0(%i: !pol.frame):
        %v = pol.alloc %i[%n] {name = "v"} : !pol.frame -> memref<?xf32>
      }
      func.call @use(%u) : (memref<4xf32>) -> ()
    }
  }
  return
}

// -----

// A frame that a callee gets is a space.

// CHECK-LABEL: func.func @passed(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena
// CHECK-NEXT:    %[[MARK:.+]] = pol.mark %[[ARENA]]
// CHECK-NEXT:    %[[FRAME:.+]] = builtin.unrealized_conversion_cast %[[ARENA]] : !pol.arena to !pol.frame
// CHECK-NEXT:    call @callee(%[[FRAME]])
// CHECK-NEXT:    call @callee(%[[FRAME]])
// CHECK-NEXT:    pol.retract %[[ARENA]], %[[MARK]]
func.func @passed(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    func.call @callee(%f) : (!pol.frame) -> ()
    func.call @callee(%f) : (!pol.frame) -> ()
  }
  return
}
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    %[[FRAME:.+]]: !pol.frame
// CHECK-NEXT:    pol.carve %[[FRAME]] : !pol.frame -> memref<4xf32>
func.func private @callee(%f: !pol.frame) {
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  return
}

// -----

// A loop inside of the frame: one buffer does if every trip is done with its
// own before the next.

// CHECK-LABEL: func.func @loop_inside(
// CHECK-NEXT:    %[[T:.+]] = memref.alloca()
// CHECK:         scf.for
// CHECK-NEXT:      func.call @use(%[[T]])
func.func private @use(memref<4xf32>)
func.func @loop_inside(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    scf.for %i = %c0 to %n step %c1 {
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      func.call @use(%t) : (memref<4xf32>) -> ()
    }
  }
  return
}

// -----

// In branches there is no such doubt.

// CHECK-LABEL: func.func @branch_inside(
// CHECK-NEXT:    memref.alloca()
// CHECK-NEXT:    memref.alloca()
// CHECK-NEXT:    scf.if
// CHECK-NOT:     pol.carve
func.func private @use(memref<4xf32>)
func.func @branch_inside(%a: !pol.arena, %c: i1) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %r = scf.if %c -> memref<4xf32> {
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      scf.yield %t : memref<4xf32>
    } else {
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
      scf.yield %t : memref<4xf32>
    }
    func.call @use(%r) : (memref<4xf32>) -> ()
  }
  return
}

// -----

// Each worker of a parallel region has its buffers in its body.

// CHECK-LABEL: func.func @parallel(
// CHECK:         scf.parallel
// CHECK-NEXT:      %[[T:.+]] = memref.alloca()
// CHECK:           scf.for
// CHECK:             func.call @use(%[[T]])
func.func private @use(memref<4xf32>)
func.func @parallel(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      pol.frame on %a : !pol.arena {
      ^bb0(%f: !pol.frame):
        %t = pol.alloc %f : !pol.frame -> memref<4xf32>
        func.call @use(%t) : (memref<4xf32>) -> ()
      }
    }
    scf.reduce
  }
  return
}

// Memory of another memory space is not on the stack, unless a thread of it is.

// CHECK-LABEL: func.func @memory_space(
// CHECK-NOT:     memref.alloca
// CHECK:         pol.carve %{{.+}} -> memref<4xf32, 1>
// CHECK:         scf.parallel
// CHECK-NEXT:      memref.alloca() {{.*}} : memref<4xf32, 1>
func.func @memory_space(%a: !pol.arena<1>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena<1> {
  ^bb0(%f: !pol.frame<1>):
    %t = pol.alloc %f : !pol.frame<1> -> memref<4xf32, 1>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    pol.frame on %a : !pol.arena<1> {
    ^bb0(%f: !pol.frame<1>):
      %t = pol.alloc %f : !pol.frame<1> -> memref<4xf32, 1>
    }
  }
  return
}

// -----

// What bufferization adds to a worker is on its stack, if it is small.

// CHECK-LABEL: func.func @hidden_in_parallel(
// CHECK:         scf.forall
// CHECK-NEXT:      %[[T:.+]] = memref.alloca() {{.*}} : memref<4096xf32>
// CHECK-NOT:       pol.release
func.func private @use(memref<4096xf32>)
func.func @hidden_in_parallel(%n: index) {
  scf.forall (%i) in (%n) {
    %h = pol.thread_heap : !pol.heap
    %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4096xf32>
    func.call @use(%t) : (memref<4096xf32>) -> ()
    pol.release %t in %h : memref<4096xf32>, !pol.heap
  }
  return
}

// -----

// An address space is not the stack's.

// CHECK-LABEL: func.func @address_space(
// CHECK:         pol.mark
// CHECK:         pol.carve {{.*}} -> memref<4xf32, 1>
func.func @address_space(%a: !pol.arena<1>) {
  pol.frame on %a : !pol.arena<1> {
  ^bb0(%f: !pol.frame<1>):
    %t = pol.alloc %f : !pol.frame<1> -> memref<4xf32, 1>
  }
  return
}

// -----

// Marks and resets of a frame, and a choice of frames, are those of its space.

// CHECK-LABEL: func.func @other_uses(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena
// CHECK:         pol.mark %[[ARENA]]
// CHECK:         pol.mark %[[ARENA]]
// CHECK:         arith.select {{.*}} : !pol.frame
// CHECK:         pol.retract %[[ARENA]]
// CHECK:         pol.watermark %[[ARENA]]
// CHECK:         pol.retract %[[ARENA]]
func.func @other_uses(%a: !pol.arena, %c: i1) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %m = pol.mark %f : !pol.frame
    %g = arith.select %c, %f, %f : !pol.frame
    %t = pol.alloc %g : !pol.frame -> memref<4xf32>
    %ok = pol.retract %f, %m : !pol.frame
    %w = pol.watermark %f : !pol.frame
  }
  return
}

// -----

func.func @dynamic_in_parallel(%a: !pol.arena, %n: index) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    // expected-error@+1 {{'pol.frame' op expected a frame in a parallel region to hold arrays of static size within max-stack-bytes: each worker has one}}
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    }
  }
  return
}

// -----

func.func @large_in_parallel(%n: index) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    %h = pol.thread_heap : !pol.heap
    // expected-error@+1 {{'pol.alloc' op expected buffers in a parallel region to be static and of at most 16384 bytes, or from a frame, but got 'memref<4097xf32>'}}
    %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4097xf32>
  }
  return
}

// -----

func.func @tensors(%a: !pol.arena) {
  // expected-error@+1 {{'pol.alloc' op expected pol-bufferize to run first}}
  %t = pol.alloc %a : !pol.arena -> tensor<4xf32>
  return
}

// -----

// A worker has nobody to tell that a callee failed.
func.func private @carves(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %h = pol.thread_heap : !pol.heap
  %t = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  %v = memref.load %t[%c0] : memref<?xf32>
  return %v : f32
}
func.func @fallible_callee(%n: index) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    // expected-error@+1 {{'func.call' op expected a callee that cannot fail in a parallel region, but got @carves}}
    %v = func.call @carves(%n) : (index) -> f32
  }
  return
}

// -----

func.func @check_in_parallel(%n: index, %m: index) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    // expected-error@+1 {{'pol.check' op expected what can fail to be outside of parallel regions, which no worker can leave early}}
    %ok = pol.check %i le %m, "i"
  }
  return
}
