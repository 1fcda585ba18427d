// RUN: pol-test-opt %s --pol-verify-capture --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null
// RUN: not pol-test-opt %s --pol-verify-capture --split-input-file 2>&1 \
// RUN:   | FileCheck %s

// Captures that could not be replayed on the same addresses. Each error is where
// the address is made, with the calls that lead there, and is reported once.

// CHECK-COUNT-33: error: '
// CHECK-NOT:      error: '

func.func @alloc(%h: !pol.heap) -> memref<4xf32> {
  // expected-note@+1 {{the capture is here}}
  %r = pol.capture -> memref<4xf32> {
    // expected-error@+1 {{'pol.alloc' op expected no allocation from a heap inside a capture: its address may change from run to run; allocate it before the capture, or from an arena}}
    %t = pol.alloc %h : !pol.heap -> memref<4xf32>
    pol.yield %t : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// The check takes tensors, too.

func.func @tensor(%h: !pol.heap) -> tensor<4xf32> {
  // expected-note@+1 {{the capture is here}}
  %r = pol.capture -> tensor<4xf32> {
    // expected-error@+1 {{expected no allocation from a heap inside a capture}}
    %t = pol.alloc %h : !pol.heap -> tensor<4xf32>
    pol.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @in_a_branch_of_a_loop(%h: !pol.heap, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    scf.for %i = %c0 to %n step %c1 {
      scf.if %c {
        // expected-error@+1 {{expected no allocation from a heap inside a capture}}
        %t = pol.alloc %h : !pol.heap -> memref<4xf32>
      }
    }
  }
  return
}

// -----

func.func @hidden() {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    %h = pol.thread_heap : !pol.heap
    // expected-error@+1 {{'pol.alloc' op expected no allocation from a heap inside a capture, but no pol.alloc asked for this buffer: its address may change from run to run; give what uses it a destination that is allocated before the capture, or from an arena}}
    %t = pol.alloc %h {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
  }
  return
}

// -----

// A space that can release is a heap, whatever dialect it is of.

func.func @third_party(%p: !test_pol.pool) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{expected no allocation from a heap inside a capture}}
    %t = pol.alloc %p : !test_pol.pool -> memref<4xf32>
  }
  return
}

// -----

// What comes from a frame comes from what it is opened on, in the capture or
// before it.

func.func @frame_on_a_heap(%h: !pol.heap) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    pol.frame on %h : !pol.heap {
    ^bb0(%f: !pol.frame):
      pol.frame on %f : !pol.frame {
      ^bb0(%g: !pol.frame):
        // expected-error@+1 {{expected no allocation from a heap inside a capture}}
        %t = pol.alloc %g : !pol.frame -> memref<4xf32>
      }
    }
  }
  return
}

// -----

func.func @in_a_frame_on_a_heap(%h: !pol.heap) {
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    // expected-note@+1 {{the capture is here}}
    pol.capture {
      // expected-error@+1 {{expected no allocation from a heap inside a capture}}
      %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    }
  }
  return
}

// -----

func.func @one_of_two(%a: !pol.arena, %h: !pol.heap, %c: i1) {
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    pol.frame on %a : !pol.arena {
    ^bb0(%g: !pol.frame):
      %s = arith.select %c, %f, %g : !pol.frame
      // expected-note@+1 {{the capture is here}}
      pol.capture {
        // expected-error@+1 {{expected no allocation from a heap inside a capture}}
        %t = pol.alloc %s : !pol.frame -> memref<4xf32>
      }
    }
  }
  return
}

// -----

func.func @by_hand(%h: !pol.heap, %m: memref<4xf32>) {
  %0 = pol.mark %h : !pol.heap
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{'pol.carve' op expected no allocation from a heap inside a capture}}
    %t, %ok = pol.carve %h : !pol.heap -> memref<4xf32>
    // expected-error@+1 {{'pol.mark' op expected a heap to be left as it is inside a capture, so that a replay finds it so: do this before or after the capture}}
    %1 = pol.mark %h : !pol.heap
    // expected-error@+1 {{'pol.retract' op expected a heap to be left as it is inside a capture}}
    %done = pol.retract %h, %0 : !pol.heap
    // expected-error@+1 {{'pol.release' op expected a heap to be left as it is inside a capture}}
    pol.release %m in %h : memref<4xf32>, !pol.heap
    // expected-error@+1 {{'pol.reset' op expected a heap to be left as it is inside a capture}}
    pol.reset %h : !pol.heap
  }
  return
}

// -----

func.func @of_other_dialects(%n: index, %x: memref<4xf32>) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{'memref.alloc' op expected no allocation from a heap inside a capture}}
    %t = memref.alloc(%n) : memref<?xf32>
    // expected-error@+1 {{'memref.dealloc' op expected no buffer to be freed inside a capture, whose replay would use it again: free it after the capture}}
    memref.dealloc %x : memref<4xf32>
  }
  return
}

// -----

func.func @outer(%h: !pol.heap) {
  // expected-note@+1 {{@inner is called here}}
  call @inner(%h) : (!pol.heap) -> ()
  return
}
func.func @inner(%h: !pol.heap) {
  // expected-error@+1 {{expected no allocation from a heap inside a capture}}
  %t = pol.alloc %h : !pol.heap -> memref<4xf32>
  return
}
func.func @through_calls(%h: !pol.heap) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-note@+1 {{@outer is called here}}
    func.call @outer(%h) : (!pol.heap) -> ()
  }
  return
}

// -----

// The callee's frame is one on a heap in one of three calls.

func.func @callee(%f: !pol.frame) {
  // expected-error@+1 {{expected no allocation from a heap inside a capture}}
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  return
}
func.func @frames(%a: !pol.arena, %h: !pol.heap) {
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    func.call @callee(%f) : (!pol.frame) -> ()
  }
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      func.call @callee(%f) : (!pol.frame) -> ()
    }
    pol.frame on %h : !pol.heap {
    ^bb0(%f: !pol.frame):
      // expected-note@+1 {{@callee is called here}}
      func.call @callee(%f) : (!pol.frame) -> ()
    }
  }
  return
}

// -----

func.func @recursive(%h: !pol.heap, %c: i1) {
  scf.if %c {
    func.call @recursive(%h, %c) : (!pol.heap, i1) -> ()
  }
  // expected-error@+1 {{expected no allocation from a heap inside a capture}}
  %t = pol.alloc %h : !pol.heap -> memref<4xf32>
  return
}
func.func @recursion(%h: !pol.heap, %c: i1) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-note@+1 {{@recursive is called here}}
    func.call @recursive(%h, %c) : (!pol.heap, i1) -> ()
  }
  return
}

// -----

func.func @capturing() {
  // expected-error@+1 {{'pol.capture' op expected no capture inside a capture}}
  pol.capture {
  }
  return
}
func.func @nested_through_a_call() {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-note@+1 {{@capturing is called here}}
    func.call @capturing() : () -> ()
  }
  return
}

// -----

func.func private @external(!pol.heap)
func.func @unknown_callee(%h: !pol.heap) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{'func.call' op expected no heap to be passed to a function that is not known, inside a capture: it may allocate from it, and addresses may change from run to run}}
    func.call @external(%h) : (!pol.heap) -> ()
  }
  return
}

// -----

func.func @pointed_to() {
  %h = pol.thread_heap : !pol.heap
  // expected-error@+1 {{expected no allocation from a heap inside a capture}}
  %t = pol.alloc %h : !pol.heap -> memref<4xf32>
  return
}
func.func @through_a_pointer(%h: !pol.heap, %g: (!pol.heap) -> ()) {
  %p = constant @pointed_to : () -> ()
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-note@+1 {{@pointed_to is called here}}
    func.call_indirect %p() : () -> ()
    // expected-error@+1 {{expected no heap to be passed to a function that is not known}}
    func.call_indirect %g(%h) : (!pol.heap) -> ()
  }
  return
}

// -----

func.func @size_from_memory(%a: !pol.arena, %m: memref<index>) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-note@+1 {{the result is here}}
    %n = memref.load %m[] : memref<index>
    %c4 = arith.constant 4 : index
    %d = arith.divui %n, %c4 : index
    // expected-error@+1 {{'pol.alloc' op expected the size of an allocation inside a capture to follow from shapes, but it depends on the result of 'memref.load': addresses may change from run to run; allocate it before the capture}}
    %t = pol.alloc %a[%d] : !pol.arena -> memref<?xf32>
    // expected-error@+1 {{'pol.carve' op expected the size of an allocation inside a capture to follow from shapes}}
    %u, %ok = pol.carve %a[%d] : !pol.arena -> memref<?xf32>
  }
  return
}

// -----

func.func @size_from_a_tensor(%a: !pol.arena, %x: tensor<4xindex>) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{the result is here}}
  %n = tensor.extract %x[%c0] : tensor<4xindex>
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{it depends on the result of 'tensor.extract'}}
    %t = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
  }
  return
}

// -----

// Shapes of what is allocated are no better than their extents.

func.func @shape_of_data(%a: !pol.arena, %m: memref<index>) {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{the result is here}}
  %n = memref.load %m[] : memref<index>
  %x = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
  %v = memref.cast %x : memref<?xf32> to memref<*xf32>
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    %d = memref.dim %v, %c0 : memref<*xf32>
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      // expected-error@+1 {{it depends on the result of 'memref.load'}}
      %t = pol.alloc %f[%d] : !pol.frame -> memref<?xf32>
    }
  }
  return
}

// -----

// Through a branch, by what it yields and by its condition, and a loop.

func.func @control_flow(%a: !pol.arena, %m: memref<i1>, %k: memref<index>, %x: index, %y: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the result is here}}
  %e = memref.load %m[] : memref<i1>
  // expected-note@+1 {{the result is here}}
  %n = memref.load %k[] : memref<index>
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    %0 = scf.if %e -> index {
      scf.yield %x : index
    } else {
      scf.yield %y : index
    }
    // expected-error@+1 {{it depends on the result of 'memref.load'}}
    %t = pol.alloc %a[%0] : !pol.arena -> memref<?xf32>
    %1 = scf.if %c -> index {
      scf.yield %x : index
    } else {
      scf.yield %n : index
    }
    // expected-error@+1 {{it depends on the result of 'memref.load'}}
    %u = pol.alloc %a[%1] : !pol.arena -> memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      // expected-error@+1 {{it depends on the result of 'memref.load'}}
      %v = pol.alloc %a[%i] : !pol.arena -> memref<?xf32>
    }
  }
  return
}

// -----

func.func @unstructured(%a: !pol.arena, %m: memref<index>, %x: index, %c: i1) {
  // expected-note@+1 {{the result is here}}
  %n = memref.load %m[] : memref<index>
  cf.cond_br %c, ^next(%n : index), ^next(%x : index)
^next(%s: index):
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    // expected-error@+1 {{it depends on the result of 'memref.load'}}
    %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
  }
  return
}

// -----

// Down through an argument, and up through a result.

func.func @sized(%a: !pol.arena, %n: index, %m: index) {
  // expected-error@+1 {{it depends on the result of 'memref.load'}}
  %t = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
  %u = pol.alloc %a[%m] : !pol.arena -> memref<?xf32>
  return
}
func.func @read(%m: memref<index>) -> index {
  // expected-note@+1 {{the result is here}}
  %n = memref.load %m[] : memref<index>
  return %n : index
}
func.func @second(%n: index, %m: index) -> index {
  return %m : index
}
func.func private @external() -> index
func.func @sizes_through_calls(%a: !pol.arena, %m: memref<index>, %x: index) {
  // expected-note@+1 {{the capture is here}}
  pol.capture {
    %n = func.call @read(%m) : (memref<index>) -> index
    // expected-note@+1 {{@sized is called here}}
    func.call @sized(%a, %n, %x) : (!pol.arena, index, index) -> ()
    // The same again is the same error.
    func.call @sized(%a, %n, %x) : (!pol.arena, index, index) -> ()
    %0 = func.call @second(%n, %x) : (index, index) -> index
    %t = pol.alloc %a[%0] : !pol.arena -> memref<?xf32>
    %1 = func.call @second(%x, %n) : (index, index) -> index
    // expected-error@+1 {{it depends on the result of 'memref.load'}}
    %u = pol.alloc %a[%1] : !pol.arena -> memref<?xf32>
    // expected-note@+1 {{the result is here}}
    %2 = func.call @external() : () -> index
    // expected-error@+1 {{it depends on the result of 'func.call'}}
    %v = pol.alloc %a[%2] : !pol.arena -> memref<?xf32>
  }
  return
}
