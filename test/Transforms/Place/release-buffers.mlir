// RUN: pol-opt %s --pol-release-buffers --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-release-buffers --pol-release-buffers --split-input-file \
// RUN:   | FileCheck %s

// A buffer goes after its last use in its block, however it is used: through
// views, in nested regions. Of two that are used last together, the newer goes
// first.

// CHECK-LABEL: func.func @after_last_use(
// CHECK-SAME:    %[[HEAP:.+]]: !pol.heap, %[[N:.+]]: index
func.func @after_last_use(%h: !pol.heap, %n: index, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  // CHECK:      %[[A:.+]] = pol.alloc %[[HEAP]][%[[N]]]
  %a = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  // CHECK:      %[[B:.+]] = pol.alloc %[[HEAP]]
  %b = pol.alloc %h : !pol.heap -> memref<4xf32>
  // CHECK:      scf.if
  // CHECK:        memref.copy
  // CHECK-NOT:    pol.release
  // CHECK:      }
  // CHECK-NEXT: pol.release %[[B]] in %[[HEAP]] : memref<4xf32>, !pol.heap
  scf.if %c {
    %v = memref.cast %b : memref<4xf32> to memref<?xf32>
    memref.copy %v, %a : memref<?xf32> to memref<?xf32>
  }
  // CHECK-NEXT: memref.load %[[A]]
  %r = memref.load %a[%c0] : memref<?xf32>
  // CHECK-NEXT: pol.release %[[A]] in %[[HEAP]] : memref<?xf32>, !pol.heap
  // CHECK-NEXT: return
  return %r : f32
}

// -----

// CHECK-LABEL: func.func @unused(
// CHECK:         %[[A:.+]] = pol.alloc
// CHECK-NEXT:    pol.release %[[A]]
func.func @unused(%h: !pol.heap) {
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  return
}

// -----

// On every trip.

// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for
// CHECK-NEXT:      %[[A:.+]] = pol.alloc
// CHECK-NEXT:      call @use(%[[A]])
// CHECK-NEXT:      pol.release %[[A]]
// CHECK-NEXT:    }
func.func private @use(memref<4xf32>)
func.func @loop(%h: !pol.heap, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = pol.alloc %h : !pol.heap -> memref<4xf32>
    func.call @use(%a) : (memref<4xf32>) -> ()
  }
  return
}

// -----

// What leaves its block is the heap's owner's to free: a result, of the
// function or of a branch, what a loop carries, what is used in other blocks,
// or what is stored.

// CHECK-LABEL: func.func @leaves(
// CHECK-NOT:     pol.release
func.func @leaves(%h: !pol.heap, %c: i1, %n: index) -> (memref<4xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  %b = pol.alloc %h : !pol.heap -> memref<4xf32>
  %s = scf.if %c -> memref<4xf32> {
    %d = pol.alloc %h : !pol.heap -> memref<4xf32>
    scf.yield %d : memref<4xf32>
  } else {
    scf.yield %b : memref<4xf32>
  }
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%p = %s) -> memref<4xf32> {
    %d = pol.alloc %h : !pol.heap -> memref<4xf32>
    memref.copy %p, %d : memref<4xf32> to memref<4xf32>
    scf.yield %d : memref<4xf32>
  }
  %v = memref.cast %l : memref<4xf32> to memref<?xf32>
  return %a, %v : memref<4xf32>, memref<?xf32>
}

// CHECK-LABEL: func.func @other_block(
// CHECK-NOT:     pol.release
func.func @other_block(%h: !pol.heap, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  cf.br ^next
^next:
  %v = memref.load %a[%c0] : memref<4xf32>
  cf.cond_br %c, ^next, ^end
^end:
  return %v : f32
}

// CHECK-LABEL: func.func @stored(
// CHECK-NOT:     pol.release
func.func @stored(%h: !pol.heap, %out: memref<1xmemref<4xf32>>) {
  %c0 = arith.constant 0 : index
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  memref.store %a, %out[%c0] : memref<1xmemref<4xf32>>
  return
}

// CHECK-LABEL: func.func @address(
// CHECK-NOT:     pol.release
func.func @address(%h: !pol.heap) -> index {
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  return %p : index
}

// -----

// What a callee returns of its arguments is in use after the call.

// CHECK-LABEL: func.func @through_call(
// CHECK:         %[[A:.+]] = pol.alloc
// CHECK-NEXT:    call @identity
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    pol.release %[[A]]
func.func @through_call(%h: !pol.heap) -> f32 {
  %c0 = arith.constant 0 : index
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  %b = call @identity(%a) : (memref<4xf32>) -> memref<4xf32>
  %v = memref.load %b[%c0] : memref<4xf32>
  return %v : f32
}
func.func private @identity(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

// The program frees by itself.

// CHECK-LABEL: func.func @released(
// CHECK-COUNT-1: pol.release
// CHECK-NOT:     pol.release
func.func @released(%h: !pol.heap, %c: i1) {
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  scf.if %c {
    pol.release %a in %h : memref<4xf32>, !pol.heap
  }
  return
}

// A retract frees what is left: the release comes before it.

// CHECK-LABEL: func.func @retracted(
// CHECK:         %[[A:.+]] = pol.alloc
// CHECK-NEXT:    pol.release %[[A]]
// CHECK-NEXT:    pol.retract
func.func @retracted(%h: !pol.heap) {
  %m = pol.mark %h : !pol.heap
  %a = pol.alloc %h : !pol.heap -> memref<4xf32>
  %ok = pol.retract %h, %m : !pol.heap
  return
}

// -----

// Nothing is freed in arenas and frames.

// CHECK-LABEL: func.func @arena(
// CHECK-NOT:     pol.release
func.func @arena(%a: !pol.arena) {
  %t = pol.alloc %a : !pol.arena -> memref<4xf32>
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %u = pol.alloc %f : !pol.frame -> memref<4xf32>
    memref.copy %t, %u : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

// What bufferization added and leaves its block goes at every return.

// CHECK-LABEL: func.func @hidden(
// CHECK-NEXT:    %[[HEAP:.+]] = pol.thread_heap
// CHECK-NEXT:    %[[MARK:.+]] = pol.mark %[[HEAP]]
// CHECK:         return
// CHECK:         %[[A:.+]] = pol.alloc
func.func @hidden(%c: i1, %x: memref<4xf32>) {
  cf.cond_br %c, ^one, ^two
^one:
  return
^two:
  %h = pol.thread_heap : !pol.heap
  %a = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
  cf.br ^three(%a : memref<4xf32>)
^three(%b: memref<4xf32>):
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  return
}
