// RUN: pol-opt %s --pol-hoist-allocs --pol-lower-frames --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// An allocation from an outer space, inside of a frame on it, is made before
// the frame: the retract would lose it.

// CHECK-LABEL: func.func @placed(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena, %[[N:.+]]: index
// CHECK:         %[[TWICE:.+]] = arith.addi %[[N]], %[[N]]
// CHECK-NEXT:    %[[Y:.+]], %{{.+}} = pol.carve %[[ARENA]][%[[TWICE]]] {name = "y"}
// CHECK:         %[[MARK:.+]] = pol.mark %[[ARENA]]
// CHECK:         %[[T:.+]], %{{.+}} = pol.carve %[[ARENA]] : !pol.arena -> memref<4xf32>
// CHECK:         memref.copy
// CHECK:         pol.retract %[[ARENA]], %[[MARK]]
// CHECK:         return %[[Y]]
func.func @placed(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %m = arith.addi %n, %n : index
    %y = pol.alloc %a[%m] {name = "y"} : !pol.arena -> memref<?xf32>
    %v = memref.cast %t : memref<4xf32> to memref<?xf32>
    memref.copy %v, %y : memref<?xf32> to memref<?xf32>
    pol.yield %y : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

// Out of the frames it would be lost with, and of no other.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena
// CHECK:         pol.mark %[[ARENA]]
// CHECK-NEXT:    %[[Y:.+]], %{{.+}} = pol.carve %[[ARENA]] {name = "y"}
// CHECK-NEXT:    pol.mark %[[ARENA]]
// CHECK-NEXT:    pol.carve %[[ARENA]] {name = "t"}
// CHECK:         pol.retract
// CHECK:         call @use(%[[Y]])
// CHECK:         pol.retract
func.func private @use(memref<4xf32>)
func.func @nested(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %y = pol.frame on %f : !pol.frame -> memref<4xf32> {
    ^bb0(%g: !pol.frame):
      %t = pol.alloc %g {name = "t"} : !pol.frame -> memref<4xf32>
      func.call @use(%t) : (memref<4xf32>) -> ()
      %u = pol.alloc %f {name = "y"} : !pol.frame -> memref<4xf32>
      pol.yield %u : memref<4xf32>
    }
    func.call @use(%y) : (memref<4xf32>) -> ()
  }
  return
}

// -----

// From another arena it may stay. In a branch, a static one moves.

// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[B:.+]]: !pol.arena
// CHECK:         pol.carve %[[A]] {name = "static"}
// CHECK:         pol.mark %[[A]]
// CHECK:         pol.carve %[[B]]
func.func private @use(memref<4xf32>)
func.func @others(%a: !pol.arena, %b: !pol.arena, %c: i1, %n: index) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    %y = pol.alloc %b {name = "other"} : !pol.arena -> memref<4xf32>
    func.call @use(%y) : (memref<4xf32>) -> ()
    %z = scf.if %c -> memref<4xf32> {
      %u = pol.alloc %a {name = "static"} : !pol.arena -> memref<4xf32>
      scf.yield %u : memref<4xf32>
    } else {
      scf.yield %y : memref<4xf32>
    }
    func.call @use(%z) : (memref<4xf32>) -> ()
  }
  return
}

// -----

// Two space arguments that some call passes one arena for.

// CHECK-LABEL: func.func private @same(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[B:.+]]: !pol.arena
// CHECK-NEXT:    pol.carve %[[B]] {name = "y"}
// CHECK-NEXT:    pol.mark %[[A]]
func.func private @same(%a: !pol.arena, %b: !pol.arena, %n: index) -> memref<4xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    %y = pol.alloc %b {name = "y"} : !pol.arena -> memref<4xf32>
    pol.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func @caller(%a: !pol.arena, %n: index) -> memref<4xf32> {
  %r = call @same(%a, %a, %n) : (!pol.arena, !pol.arena, index) -> memref<4xf32>
  return %r : memref<4xf32>
}

// -----

// The caller passes the arena and a frame on it.

// CHECK-LABEL: func.func private @on_frame(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[F:.+]]: !pol.frame
// CHECK-NEXT:    pol.carve %[[A]] {name = "y"}
// CHECK-NEXT:    pol.mark %[[F]]
func.func private @use(memref<4xf32>)
func.func private @on_frame(%a: !pol.arena, %g: !pol.frame, %n: index) {
  %r = pol.frame on %g : !pol.frame -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    %y = pol.alloc %a {name = "y"} : !pol.arena -> memref<4xf32>
    pol.yield %y : memref<4xf32>
  }
  call @use(%r) : (memref<4xf32>) -> ()
  return
}
func.func @caller(%a: !pol.arena, %n: index) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    func.call @on_frame(%a, %f, %n) : (!pol.arena, !pol.frame, index) -> ()
  }
  return
}

// -----

// One that is done with in its block may be lost, where it cannot move.

// CHECK-LABEL: func.func @done_with(
// CHECK:         pol.mark
// CHECK:         scf.for
// CHECK:           pol.carve %{{.+}} {name = "y"}
func.func private @use(memref<4xf32>)
func.func @done_with(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %y = pol.alloc %a {name = "y"} : !pol.arena -> memref<4xf32>
      func.call @use(%y) : (memref<4xf32>) -> ()
    }
  }
  return
}

// -----

func.func @in_loop(%a: !pol.arena, %n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the frame is opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> memref<4xf32> {
      // expected-error@+1 {{'pol.alloc' op expected an allocation from an outer space to be possible before the frame that is open on it, but it is made anew on every trip of a loop}}
      %y = pol.alloc %a : !pol.arena -> memref<4xf32>
      scf.yield %y : memref<4xf32>
    }
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A loop of blocks is one, too.
func.func @in_blocks(%a: !pol.arena, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-note@+1 {{the frame is opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.execute_region -> memref<4xf32> {
      cf.br ^again(%x : memref<4xf32>)
    ^again(%p: memref<4xf32>):
      // expected-error@+1 {{but it is made anew on every trip of a loop}}
      %y = pol.alloc %a : !pol.arena -> memref<4xf32>
      cf.cond_br %c, ^again(%y : memref<4xf32>), ^end
    ^end:
      scf.yield %p : memref<4xf32>
    }
    pol.yield %s : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @dynamic_in_branch(%a: !pol.arena, %n: index, %c: i1, %x: memref<?xf32>) -> memref<?xf32> {
  // expected-note@+1 {{the frame is opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    %s = scf.if %c -> memref<?xf32> {
      // expected-error@+1 {{but its size may only hold on this branch}}
      %y = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
      scf.yield %y : memref<?xf32>
    } else {
      scf.yield %x : memref<?xf32>
    }
    pol.yield %s : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

func.func @size_of_inside(%a: !pol.arena, %x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{the frame is opened here}}
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xindex>
    %n = memref.load %t[%c0] : memref<4xindex>
    // expected-error@+1 {{but its size is computed inside the frame}}
    %y = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
    pol.yield %y : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

// A capture is no branch.

// CHECK-LABEL: func.func @in_a_capture(
// CHECK:         pol.carve %{{.+}}[%{{.+}}] {name = "y"}
// CHECK:         pol.mark
func.func @in_a_capture(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %r = pol.frame on %a : !pol.arena -> memref<?xf32> {
  ^bb0(%f: !pol.frame):
    %0 = pol.capture -> memref<?xf32> {
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
      %y = pol.alloc %a[%n] {name = "y"} : !pol.arena -> memref<?xf32>
      memref.copy %t, %y : memref<?xf32> to memref<?xf32>
      pol.yield %y : memref<?xf32>
    }
    pol.yield %0 : memref<?xf32>
  }
  return %r : memref<?xf32>
}
