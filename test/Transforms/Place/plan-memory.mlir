// RUN: pol-opt %s --pol-plan-memory --split-input-file --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAN
// RUN: pol-opt %s --pol-plan-memory=mode=bump --split-input-file --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BUMP

// Buffers that are not in use at once share memory.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[ARENA:.*]]: !pol.arena, %{{.*}}: memref<64xf32>)
// PLAN: %[[BYTES:.*]] = arith.constant 512 : index
// BUMP: %[[BYTES:.*]] = arith.constant 768 : index
// CHECK: %[[MARK:.*]] = pol.mark %[[ARENA]]
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve %[[ARENA]][%[[BYTES]]]
// CHECK-SAME: alignment = 256
// CHECK-SAME: kernel = "f"
// CHECK-SAME: role = #pol.role<slab>
// CHECK-NOT: {{ pol\.}}
// CHECK: %[[A:.*]] = memref.view %[[SLAB]][%c0][] : memref<?xi8> to memref<64xf32>
// CHECK: %[[B:.*]] = memref.view %[[SLAB]][%c256][]
// PLAN: %[[C:.*]] = memref.view %[[SLAB]][%c0][]
// BUMP: %[[C:.*]] = memref.view %[[SLAB]][%c512][]
// CHECK: memref.copy %[[B]], %[[C]]
// CHECK: pol.retract %[[ARENA]], %[[MARK]]

// CHECK-LABEL: func.func @f_footprint() -> i64
// PLAN: %[[BYTES:.*]] = arith.constant 512 : i64
// BUMP: %[[BYTES:.*]] = arith.constant 768 : i64
// CHECK: return %[[BYTES]]
func.func @f(%arena: !pol.arena, %x: memref<64xf32>) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %a = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    %b = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    %c = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    memref.copy %c, %x : memref<64xf32> to memref<64xf32>
  }
  return
}

// -----

// Sizes that only a run knows: what is in use at once is stacked.

// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[N:.*]] = memref.dim %{{.*}}, %c0 : memref<?xf32>
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: memref.view %[[SLAB]][%c0][%{{.*}}]
// CHECK: memref.view %[[SLAB]][%[[OFFSET:.*]]][%{{.*}}]
// PLAN: memref.view %[[SLAB]][%[[LATER:.*]]][%{{.*}}]
// BUMP-NOT: memref.view %[[SLAB]][%[[OFFSET]]]
// CHECK: return

// CHECK-LABEL: func.func @dynamic_footprint(
// CHECK-SAME: %[[N:.*]]: i64) -> i64
// CHECK-NOT: func.
// CHECK: arith.mului_extended
// CHECK: arith.select
// CHECK: return
func.func @dynamic(%arena: !pol.arena, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %a = pol.alloc %frame[%n] : !pol.frame -> memref<?xf32>
    %b = pol.alloc %frame[%n] : !pol.frame -> memref<?xf32>
    %c = pol.alloc %frame[%n] : !pol.frame -> memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    memref.copy %a, %b : memref<?xf32> to memref<?xf32>
    memref.copy %b, %c : memref<?xf32> to memref<?xf32>
    memref.copy %c, %x : memref<?xf32> to memref<?xf32>
  }
  return
}

// -----

// Branches share; of what is returned the arena keeps that much and no more.

// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[ARENA:.*]]: !pol.arena
// CHECK-DAG: %[[KEPT:.*]] = arith.constant 128 : index
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve %[[ARENA]]
// CHECK: pol.trim %[[SLAB]] to %[[KEPT]] in %[[ARENA]]

// CHECK-LABEL: func.func @branches_footprint() -> i64
// PLAN: %[[BYTES:.*]] = arith.constant 1408 : i64
// BUMP: %[[BYTES:.*]] = arith.constant 1664 : i64
// CHECK: return %[[BYTES]]
func.func @branches(%arena: !pol.arena, %c: i1, %x: memref<352xf32>,
                    %y: memref<32xf32>) -> memref<32xf32> {
  %out = pol.alloc %arena[] : !pol.arena -> memref<32xf32>
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    scf.if %c {
      %a = pol.alloc %frame[] : !pol.frame -> memref<352xf32>
      memref.copy %x, %a : memref<352xf32> to memref<352xf32>
      memref.copy %a, %x : memref<352xf32> to memref<352xf32>
    } else {
      %b = pol.alloc %frame[] : !pol.frame -> memref<32xf32>
      memref.copy %y, %b : memref<32xf32> to memref<32xf32>
      memref.copy %b, %y : memref<32xf32> to memref<32xf32>
    }
    memref.copy %y, %out : memref<32xf32> to memref<32xf32>
  }
  return %out : memref<32xf32>
}

// -----

// Callees are part of their callers: theirs is one block, of which what they
// return stays. Private functions that only planned ones call have no other
// form.

// CHECK-LABEL: func.func @caller(
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: %[[VIEW:.*]] = memref.view %[[SLAB]][%c0][] : memref<?xi8> to memref<512xi8>
// CHECK: %[[INNER:.*]] = memref.cast %[[VIEW]]
// CHECK: %[[Y:.*]] = call @callee(%[[INNER]], %{{.*}}) : (memref<?xi8>, memref<64xf32>) -> memref<64xf32>
// PLAN: memref.view %[[SLAB]][%c256][] : memref<?xi8> to memref<64xf32>

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: memref<?xi8>, %{{.*}}: memref<64xf32>) -> memref<64xf32>
// CHECK-NOT: {{ pol\.}}
// CHECK: return
func.func @caller(%arena: !pol.arena, %x: memref<64xf32>) {
  %y = call @callee(%arena, %x) : (!pol.arena, memref<64xf32>) -> memref<64xf32>
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %t = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    memref.copy %y, %t : memref<64xf32> to memref<64xf32>
    memref.copy %t, %x : memref<64xf32> to memref<64xf32>
    memref.copy %y, %x : memref<64xf32> to memref<64xf32>
  }
  return
}
func.func private @callee(%arena: !pol.arena, %x: memref<64xf32>) -> memref<64xf32> {
  %y = pol.alloc %arena[] : !pol.arena -> memref<64xf32>
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %t = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    memref.copy %x, %t : memref<64xf32> to memref<64xf32>
    memref.copy %t, %y : memref<64xf32> to memref<64xf32>
  }
  return %y : memref<64xf32>
}

// -----

// What every trip of a loop leaves has memory of its own.

// CHECK-LABEL: func.func @trips(
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: scf.for %[[I:.*]] = %c0 to %c4
// CHECK: %[[DISTANCE:.*]] = arith.muli %[[I]], %c256
// CHECK: memref.view %[[SLAB]][%{{.*}}]

// CHECK-LABEL: func.func @trips_footprint() -> i64
// CHECK: %[[BYTES:.*]] = arith.constant 1280 : i64
// CHECK: return %[[BYTES]]
func.func @trips(%arena: !pol.arena, %x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %first = pol.alloc %arena[] : !pol.arena -> memref<64xf32>
  memref.copy %x, %first : memref<64xf32> to memref<64xf32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %first) -> memref<64xf32> {
    %next = pol.alloc %arena[] : !pol.arena -> memref<64xf32>
    memref.copy %before, %next : memref<64xf32> to memref<64xf32>
    scf.yield %next : memref<64xf32>
  }
  memref.copy %last, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// An op that works in place: what it writes takes over what it reads last.

// PLAN-LABEL: func.func @in_place_footprint() -> i64
// PLAN: %[[BYTES:.*]] = arith.constant 1024 : i64
// PLAN: return %[[BYTES]]
func.func @in_place(%arena: !pol.arena, %x: memref<4x64xf32>) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %a = pol.alloc %frame[] : !pol.frame -> memref<4x64xf32>
    %b = pol.alloc %frame[] : !pol.frame -> memref<4x64xf32>
    memref.copy %x, %a : memref<4x64xf32> to memref<4x64xf32>
    pol.softmax ins(%a : memref<4x64xf32>) outs(%b : memref<4x64xf32>)
    memref.copy %b, %x : memref<4x64xf32> to memref<4x64xf32>
  }
  return
}

// -----

// Several spaces have a footprint each, in the order of the arguments.

// CHECK-LABEL: func.func @two_footprint_0(%{{.*}}: i64) -> i64
// CHECK: %[[BYTES:.*]] = arith.constant 256 : i64
// CHECK: return %[[BYTES]]
// CHECK-LABEL: func.func @two_footprint_1(%{{.*}}: i64) -> i64
// CHECK: arith.mului_extended
func.func @two(%a: !pol.arena, %n: index, %b: !pol.arena)
    -> (memref<64xf32>, memref<?xf32>) {
  %x = pol.alloc %a[] : !pol.arena -> memref<64xf32>
  %y = pol.alloc %b[%n] : !pol.arena -> memref<?xf32>
  return %x, %y : memref<64xf32>, memref<?xf32>
}

// -----

// A function that is called with slabs and with the space is two.

// CHECK-LABEL: func.func @both(
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: %[[Y:.*]] = call @both_in_slab(%[[SLAB]])
// CHECK: return %[[Y]]
// CHECK-LABEL: func.func private @both_in_slab(
// CHECK-SAME: %[[SLAB:.*]]: memref<?xi8>) -> memref<64xf32>
// CHECK: memref.view %[[SLAB]][%c0][]
// CHECK-LABEL: func.func @calls_both(
// CHECK: call @both_in_slab(
func.func @both(%arena: !pol.arena) -> memref<64xf32> {
  %x = pol.alloc %arena[] : !pol.arena -> memref<64xf32>
  return %x : memref<64xf32>
}
func.func @calls_both(%arena: !pol.arena) -> memref<64xf32> {
  %x = call @both(%arena) : (!pol.arena) -> memref<64xf32>
  return %x : memref<64xf32>
}

// -----

// Nothing is carved where nothing is needed.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: {{ pol\.}}
// CHECK: return
func.func @nothing(%arena: !pol.arena, %x: memref<64xf32>) {
  memref.copy %x, %x : memref<64xf32> to memref<64xf32>
  return
}
