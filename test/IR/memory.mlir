// RUN: pol-opt %s | FileCheck %s
// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s
// RUN: pol-opt %s --emit-bytecode | pol-opt | FileCheck %s

// Spaces, frames, and what they become.

// CHECK-LABEL: func.func @alloc(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[HEAP:.*]]: !pol.heap, %[[FRAME:.*]]: !pol.frame, %[[U:.*]]: !pol.undef<?xf32>, %[[N:.*]]: index)
func.func @alloc(%arena: !pol.arena, %heap: !pol.heap, %frame: !pol.frame, %u: !pol.undef<?xf32>, %n: index) {
  // CHECK: pol.alloc %[[ARENA]], %[[U]] : !pol.arena, !pol.undef<?xf32> -> tensor<?xf32>
  %0 = pol.alloc %arena, %u : !pol.arena, !pol.undef<?xf32> -> tensor<?xf32>
  // CHECK: pol.alloc %[[HEAP]], %[[U]] : !pol.heap, !pol.undef<?xf32> -> memref<?xf32>
  %1 = pol.alloc %heap, %u : !pol.heap, !pol.undef<?xf32> -> memref<?xf32>
  // CHECK: pol.alloc %[[FRAME]][%[[N]], %[[N]]] : !pol.frame -> tensor<?x4x?xi24>
  %2 = pol.alloc %frame[%n, %n] : !pol.frame -> tensor<?x4x?xi24>
  // CHECK: pol.alloc %[[ARENA]] : !pol.arena -> memref<0x4xf32>
  %3 = pol.alloc %arena : !pol.arena -> memref<0x4xf32>
  // CHECK: pol.alloc %[[ARENA]] {kernel = "k", name = "y.low", role = #pol.role<checkpoint>} : !pol.arena -> tensor<f32>
  %4 = pol.alloc %arena {kernel = "k", name = "y.low", role = #pol.role<checkpoint>} : !pol.arena -> tensor<f32>
  return
}

// Entries that are buffers pass through, whatever memory space they are in.
// CHECK-LABEL: func.func @alloc_bundle(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[SPEC:[^:]*]]: !pol.bundle
func.func @alloc_bundle(%arena: !pol.arena, %spec: !pol.bundle<{y: !pol.undef<?xf32>, given: memref<4xf32, strided<[2]>, 3>, in: !pol.bundle<{t: !pol.undef<2xi1>}>, none: !pol.bundle<{}>}>) {
  // CHECK: pol.alloc %[[ARENA]], %[[SPEC]] :
  // CHECK-SAME: -> !pol.bundle<{y: tensor<?xf32>, given: memref<4xf32, strided<[2]>, 3>, in: !pol.bundle<{t: memref<2xi1>}>, none: !pol.bundle<{}>}>
  %0 = pol.alloc %arena, %spec : !pol.arena, !pol.bundle<{y: !pol.undef<?xf32>, given: memref<4xf32, strided<[2]>, 3>, in: !pol.bundle<{t: !pol.undef<2xi1>}>, none: !pol.bundle<{}>}>
      -> !pol.bundle<{y: tensor<?xf32>, given: memref<4xf32, strided<[2]>, 3>, in: !pol.bundle<{t: memref<2xi1>}>, none: !pol.bundle<{}>}>
  return
}

// CHECK-LABEL: func.func @memory_spaces(
// CHECK-SAME:    %[[G:.*]]: !pol.arena<#gpu.address_space<global>>, %[[S:.*]]: !pol.heap<"named">, %[[I:.*]]: !pol.heap<3 : i32>)
func.func @memory_spaces(%g: !pol.arena<#gpu.address_space<global>>, %s: !pol.heap<"named">, %i: !pol.heap<3 : i32>) {
  // CHECK: pol.alloc %[[G]] : !pol.arena<#gpu.address_space<global>> -> tensor<4xf32, #gpu.address_space<global>>
  %0 = pol.alloc %g : !pol.arena<#gpu.address_space<global>> -> tensor<4xf32, #gpu.address_space<global>>
  // CHECK: pol.alloc %[[G]] : !pol.arena<#gpu.address_space<global>> -> memref<4xf32, #gpu.address_space<global>>
  %1 = pol.alloc %g : !pol.arena<#gpu.address_space<global>> -> memref<4xf32, #gpu.address_space<global>>
  // CHECK: pol.alloc %[[S]] : !pol.heap<"named"> -> memref<4xf32, "named">
  %2 = pol.alloc %s : !pol.heap<"named"> -> memref<4xf32, "named">
  // CHECK: pol.alloc %[[I]] : !pol.heap<3 : i32> -> memref<4xf32, 3 : i32>
  %3 = pol.alloc %i : !pol.heap<3 : i32> -> memref<4xf32, 3 : i32>
  // CHECK: pol.frame on %[[G]] : !pol.arena<#gpu.address_space<global>> {
  pol.frame on %g : !pol.arena<#gpu.address_space<global>> {
  // CHECK-NEXT: ^bb0(%[[F:.*]]: !pol.frame<#gpu.address_space<global>>):
  ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
    // CHECK: pol.alloc %[[F]] : !pol.frame<#gpu.address_space<global>> -> memref<4xf32, #gpu.address_space<global>>
    %4 = pol.alloc %f : !pol.frame<#gpu.address_space<global>> -> memref<4xf32, #gpu.address_space<global>>
  }
  return
}

// CHECK-LABEL: func.func @frame(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: tensor<4xf32>)
func.func @frame(%arena: !pol.arena, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]]:2 = pol.frame on %[[ARENA]] : !pol.arena -> tensor<4xf32>, index {
  %r:2 = pol.frame on %arena : !pol.arena -> tensor<4xf32>, index {
  // CHECK-NEXT: ^bb0(%[[OUTER:.*]]: !pol.frame):
  ^bb0(%outer: !pol.frame):
    // A frame is a space, so frames nest.
    // CHECK: %[[N:.*]] = pol.frame on %[[OUTER]] : !pol.frame -> index {
    // CHECK-NEXT: ^bb0(%{{.*}}: !pol.frame):
    %n = pol.frame on %outer : !pol.frame -> index {
    ^bb0(%inner: !pol.frame):
      %c = arith.constant 1 : index
      // CHECK: pol.yield %{{.*}} : index
      pol.yield %c : index
    // CHECK: } {note = "kept"}
    } {note = "kept"}
    // CHECK: pol.yield %[[X]], %[[N]] : tensor<4xf32>, index
    pol.yield %x, %n : tensor<4xf32>, index
  }
  // A frame without results needs no terminator.
  // CHECK: pol.frame on %[[ARENA]] : !pol.arena {
  // CHECK-NEXT: ^bb0(%{{.*}}: !pol.frame):
  // CHECK-NEXT: }
  pol.frame on %arena : !pol.arena {
  ^bb0(%f: !pol.frame):
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @placed(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[N:.*]]: index)
func.func @placed(%arena: !pol.arena, %n: index) -> i64 {
  // CHECK: %[[M:.*]] = pol.mark %[[ARENA]] : !pol.arena
  %m = pol.mark %arena : !pol.arena
  // CHECK: %{{.*}}, %{{.*}} = pol.carve %[[ARENA]][%[[N]]] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.arena -> memref<4x?xf32>
  %b, %ok = pol.carve %arena[%n] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.arena -> memref<4x?xf32>
  // CHECK: %{{.*}}, %{{.*}} = pol.carve %[[ARENA]] : !pol.arena -> memref<f32>
  %s, %ok2 = pol.carve %arena : !pol.arena -> memref<f32>
  // CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve %[[ARENA]][%[[N]]] {alignment = 256 : i64, kernel = "f", role = #pol.role<slab>} : !pol.arena -> memref<?xi8>
  %slab, %ok3 = pol.carve %arena[%n] {alignment = 256, kernel = "f", role = #pol.role<slab>} : !pol.arena -> memref<?xi8>
  // CHECK: pol.trim %[[SLAB]] to %[[N]] in %[[ARENA]] : memref<?xi8>, !pol.arena
  pol.trim %slab to %n in %arena : memref<?xi8>, !pol.arena
  // CHECK: pol.retract %[[ARENA]], %[[M]] : !pol.arena
  %done = pol.retract %arena, %m : !pol.arena
  // CHECK: pol.reset %[[ARENA]] : !pol.arena
  pol.reset %arena : !pol.arena
  // CHECK: %[[H:.*]] = pol.thread_heap : !pol.heap
  %h = pol.thread_heap : !pol.heap
  // CHECK: %[[B:.*]] = pol.alloc %[[H]]
  %hb = pol.alloc %h[%n] : !pol.heap -> memref<?xf32>
  // CHECK: pol.release %[[B]] in %[[H]] : memref<?xf32>, !pol.heap
  pol.release %hb in %h : memref<?xf32>, !pol.heap
  // CHECK: pol.thread_heap : !pol.heap<1 : i64>
  %h1 = pol.thread_heap : !pol.heap<1>
  // CHECK: pol.watermark %[[ARENA]] : !pol.arena
  %bytes = pol.watermark %arena : !pol.arena
  return %bytes : i64
}

// CHECK-LABEL: func.func @capture(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[C:.*]]: i1)
func.func @capture(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK: %[[R:.*]]:2 = pol.capture -> tensor<4xf32>, index {
  %r:2 = pol.capture -> tensor<4xf32>, index {
    %n = arith.constant 1 : index
    // CHECK: pol.yield %[[X]], %{{.*}} : tensor<4xf32>, index
    pol.yield %x, %n : tensor<4xf32>, index
  // CHECK: } {note = "kept"}
  } {note = "kept"}
  // One without results needs no terminator.
  // CHECK:      scf.if %[[C]] {
  // CHECK-NEXT:   pol.capture {
  // CHECK-NEXT:   }
  scf.if %c {
    pol.capture {
    }
  }
  return %r#0 : tensor<4xf32>
}
