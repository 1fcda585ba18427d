// RUN: pol-test-opt %s --pol-verify-capture --verify-diagnostics | FileCheck %s

// Captures that can be replayed: nothing is said, and nothing changed.

// What is allocated before the capture, or after it, may come from a heap.
// CHECK-LABEL: func.func @around(
// CHECK:         pol.capture -> memref<?xf32> {
func.func @around(%h: !pol.heap, %a: !pol.arena, %x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %b = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  %r = pol.capture -> memref<?xf32> {
    memref.copy %x, %b : memref<?xf32> to memref<?xf32>
    %m = memref.alloca() : memref<4xf32>
    %y = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    }
    pol.yield %y : memref<?xf32>
  }
  pol.release %b in %h : memref<?xf32>, !pol.heap
  %e = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  return %r : memref<?xf32>
}

// An arena may be marked and retracted in one.
func.func @by_hand(%a: !pol.arena) {
  pol.capture {
    %m = pol.mark %a : !pol.arena
    %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
    %done = pol.retract %a, %m : !pol.arena
    pol.reset %a : !pol.arena
  }
  return
}

func.func private @external(!pol.arena, memref<?xf32>)
func.func @callee(%a: !pol.arena, %f: !pol.frame, %n: index) {
  %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
  func.call @external(%a, %t) : (!pol.arena, memref<?xf32>) -> ()
  return
}
// A function that allocates from the heap it is given, and one that does not,
// called where that is no harm.
func.func @allocating(%h: !pol.heap) {
  %t = pol.alloc %h : !pol.heap -> memref<4xf32>
  return
}
func.func @ignoring(%h: !pol.heap) {
  return
}
func.func @calls(%h: !pol.heap, %a: !pol.arena, %n: index) {
  call @allocating(%h) : (!pol.heap) -> ()
  pol.capture {
    func.call @ignoring(%h) : (!pol.heap) -> ()
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      func.call @callee(%a, %f, %n) : (!pol.arena, !pol.frame, index) -> ()
    }
  }
  return
}

// Sizes that follow from shapes, arguments and constants, whatever way they
// take.
func.func @shapes(%x: memref<?x?xf32>, %a: !pol.arena, %c: i1) -> memref<?x?xf32> {
  return %x : memref<?x?xf32>
}
func.func @recursive(%n: index, %c: i1) -> index {
  %r = scf.if %c -> index {
    %0 = func.call @recursive(%n, %c) : (index, i1) -> index
    scf.yield %0 : index
  } else {
    scf.yield %n : index
  }
  return %r : index
}
func.func @sizes(%a: !pol.arena, %x: memref<?x?xf32>, %n: index, %c: i1, %v: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = memref.load %v[] : memref<f32>
  pol.capture {
    %y = func.call @shapes(%x, %a, %c) : (memref<?x?xf32>, !pol.arena, i1) -> memref<?x?xf32>
    %d = memref.dim %y, %c1 : memref<?x?xf32>
    %e = arith.muli %d, %n : index
    %s = scf.if %c -> index {
      // What is read decides nothing here.
      memref.store %l, %v[] : memref<f32>
      scf.yield %e : index
    } else {
      %0 = func.call @recursive(%n, %c) : (index, i1) -> index
      scf.yield %0 : index
    }
    %t = pol.alloc %a[%s] : !pol.arena -> memref<?xf32>
    %w = memref.dim %t, %c0 : memref<?xf32>
    scf.for %i = %c0 to %w step %c1 {
      %u = pol.alloc %a[%i] : !pol.arena -> memref<?xf32>
    }
  }
  return
}

// On tensors, the shape of a result is that of its destination, whatever the
// other operands are.
func.func @destinations(%a: !pol.arena, %x: tensor<?xf32>, %m: tensor<f32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %m[] : tensor<f32>
  %r = pol.capture -> tensor<?xf32> {
    %0 = linalg.fill ins(%v : f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    %n = tensor.dim %0, %c0 : tensor<?xf32>
    %t = pol.alloc %a[%n] : !pol.arena -> tensor<?xf32>
    pol.yield %t : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
