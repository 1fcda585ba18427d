// These crashed, or gave invalid code.

// RUN: pol-opt %s --pol-plan-memory=report-unknown=false --split-input-file | FileCheck %s

// A space that is no argument, passed to a function that is planned.

// CHECK-LABEL: func.func private @g(
// CHECK: pol.carve
// CHECK-LABEL: func.func @f(
// CHECK-COUNT-2: call @g(%{{.*}}, %{{.*}}) : (!pol.arena, index) -> ()
func.func private @get() -> !pol.arena
func.func private @g(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  pol.frame on %a : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %t = pol.alloc %frame[%n] : !pol.frame -> memref<?xf32>
    memref.store %z, %t[%c0] : memref<?xf32>
  }
  return
}
func.func @f(%a: !pol.arena, %n: index) {
  %b = call @get() : () -> !pol.arena
  call @g(%b, %n) : (!pol.arena, index) -> ()
  call @g(%a, %n) : (!pol.arena, index) -> ()
  return
}

// -----

// A frame on a heap, passed to one.

// CHECK-LABEL: func.func @heap(
// CHECK: pol.frame on
func.func private @callee(%f: !pol.frame) {
  %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  return
}
func.func @heap(%a: !pol.arena, %h: !pol.heap) {
  pol.frame on %h : !pol.heap {
  ^bb0(%f: !pol.frame):
    func.call @callee(%f) : (!pol.frame) -> ()
  }
  return
}

// -----

// Trips counted in i64.

// CHECK-LABEL: func.func @trips(
// CHECK: scf.for
// CHECK: arith.index_cast %{{.*}} : i64 to index
func.func @trips(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %from = arith.constant 0 : i64
  %step = arith.constant 1 : i64
  %to = arith.constant 4 : i64
  %first = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
  %last = scf.for %i = %from to %to step %step iter_args(%before = %first)
      -> memref<?xf32> : i64 {
    %next = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
    memref.copy %before, %next : memref<?xf32> to memref<?xf32>
    scf.yield %next : memref<?xf32>
  }
  %v = memref.load %last[%c0] : memref<?xf32>
  return %v : f32
}

// -----

// A callee that does not return.

// CHECK-LABEL: func.func @unreachable(
// CHECK: pol.alloc
func.func private @stop(%n: index) -> index {
  llvm.unreachable
}
func.func @unreachable(%a: !pol.arena, %n: index) {
  %m = call @stop(%n) : (index) -> index
  %t = pol.alloc %a[%m] : !pol.arena -> memref<?xf32>
  return
}

// -----

// A function that does not return itself.

// CHECK-LABEL: func.func @stops(
// CHECK: pol.alloc
func.func @stops(%a: !pol.arena, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %t = pol.alloc %a[%n] : !pol.arena -> memref<?xf32>
  memref.store %v, %t[%c0] : memref<?xf32>
  ub.unreachable
}

// -----

// Trips of a loop that compares without a sign: three.

// CHECK-LABEL: func.func @unsigned_footprint(
// CHECK: %[[BYTES:.*]] = arith.constant 1024 : i64
// CHECK: return %[[BYTES]]
func.func @unsigned(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %from = arith.constant 9223372036854775806 : index
  %to = arith.constant -9223372036854775807 : index
  %first = pol.alloc %a[] : !pol.arena -> memref<64xf32>
  %last = scf.for unsigned %i = %from to %to step %c1
      iter_args(%before = %first) -> memref<64xf32> {
    %next = pol.alloc %a[] : !pol.arena -> memref<64xf32>
    memref.copy %before, %next : memref<64xf32> to memref<64xf32>
    scf.yield %next : memref<64xf32>
  }
  %v = memref.load %last[%c0] : memref<64xf32>
  return %v : f32
}

// -----

// Nothing of a GPU's memory, for a callee.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: memref.alloca
// CHECK: pol.carve
// CHECK: call @takes_nothing(
func.func private @takes_nothing(%g: !pol.arena<#gpu.address_space<global>>) {
  return
}
func.func @nothing(%g: !pol.arena<#gpu.address_space<global>>) {
  call @takes_nothing(%g) : (!pol.arena<#gpu.address_space<global>>) -> ()
  return
}
