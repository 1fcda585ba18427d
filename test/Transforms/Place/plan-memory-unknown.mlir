// RUN: pol-opt %s --pol-plan-memory --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not pol-opt %s --pol-plan-memory=require-footprint --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR

// ERROR: error: the footprint of @data is not known

// A size that data decides.

// CHECK-LABEL: func.func @data(
// CHECK-SAME: %{{.*}}: !pol.arena
// CHECK: pol.alloc
// CHECK-NOT: @data_footprint
func.func @data(%arena: !pol.arena, %x: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<1xindex>
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    // expected-remark @below {{the footprint of @data is not known before a run, as the size of this buffer does not follow from shapes: it is what 'memref.load' gives}}
    %a = pol.alloc %frame[%n] : !pol.frame -> memref<?xf32>
    linalg.fill ins(%c0 : index) outs(%x : memref<1xindex>)
  }
  return
}

// -----

// So is one that changes from trip to trip.

func.func @trip(%arena: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    pol.frame on %arena : !pol.arena {
    ^bb0(%frame: !pol.frame):
      // expected-remark @below {{it changes from one trip of a loop to the next}}
      %a = pol.alloc %frame[%i] : !pol.frame -> memref<?xf32>
    }
  }
  return
}

// -----

// How many trips leave something is not known.

func.func @trips(%arena: !pol.arena, %x: memref<4xf32>, %n: memref<index>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %to = memref.load %n[] : memref<index>
  // expected-remark @below {{every trip of this loop allocates something that stays, and how many there are does not follow from shapes}}
  %last = scf.for %i = %c0 to %to step %c1 iter_args(%before = %x) -> memref<4xf32> {
    %next = pol.alloc %arena[] : !pol.arena -> memref<4xf32>
    memref.copy %before, %next : memref<4xf32> to memref<4xf32>
    scf.yield %next : memref<4xf32>
  }
  memref.copy %last, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Recursion, and what calls it.

func.func @recursive(%arena: !pol.arena, %n: index) {
  // expected-remark @below {{the footprint of @recursive is not known before a run, as the call of @recursive is recursive}}
  call @recursive(%arena, %n) : (!pol.arena, index) -> ()
  return
}
func.func @caller(%arena: !pol.arena, %n: index) {
  // expected-remark @below {{as what @recursive allocates is not known}}
  call @recursive(%arena, %n) : (!pol.arena, index) -> ()
  return
}

// -----

// Functions that nobody has looked into, and whose address is taken.

func.func private @external(!pol.arena)
func.func @calls_external(%arena: !pol.arena) {
  // expected-remark @below {{@external has no body to look into}}
  call @external(%arena) : (!pol.arena) -> ()
  return
}
// expected-remark @below {{the function's address is taken}}
func.func @taken(%arena: !pol.arena) {
  return
}
func.func @takes() -> ((!pol.arena) -> ()) {
  %f = constant @taken : (!pol.arena) -> ()
  return %f : (!pol.arena) -> ()
}

// -----

// What else is done with a space, and control flow that is not structured.

func.func @marks(%arena: !pol.arena) {
  // expected-remark @below {{'pol.mark' may do anything with the space}}
  %m = pol.mark %arena : !pol.arena
  return
}
// expected-remark @below {{its control flow is not structured}}
func.func @unstructured(%arena: !pol.arena, %c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^b
^b:
  return
}

// -----

// A function that a caller with no footprint calls is called with the space.

// CHECK-LABEL: func.func private @known(
// CHECK: pol.carve
// CHECK-LABEL: func.func @unknown(
// CHECK: call @known(%{{.*}}) : (!pol.arena) -> ()
func.func private @known(%arena: !pol.arena) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %a = pol.alloc %frame[] : !pol.frame -> memref<4xf32>
    memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  }
  return
}
func.func @unknown(%arena: !pol.arena) {
  // expected-remark @below {{may do anything with the space}}
  pol.reset %arena : !pol.arena
  call @known(%arena) : (!pol.arena) -> ()
  return
}

// -----

// Two spaces that may be one.

// expected-remark @below {{two of its spaces may be the same}}
func.func private @two(%a: !pol.arena, %b: !pol.arena) {
  return
}
func.func @one(%a: !pol.arena) {
  // expected-remark @below {{what @two allocates is not known}}
  call @two(%a, %a) : (!pol.arena, !pol.arena) -> ()
  return
}

// -----

// A module inside another.

func.func @outer() {
  return
}
module @inner {
  // expected-remark @below {{the footprint of @nested is not known before a run, as it is in a module inside another}}
  func.func @nested(%a: !pol.arena) {
    return
  }
}
