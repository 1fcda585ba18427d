// RUN: pol-opt %s --canonicalize --split-input-file | FileCheck %s

// Folds and canonicalizations, one function each.

// CHECK-LABEL: func.func @undef_like_itself(
// CHECK-SAME:    %[[U:.*]]: !pol.undef<?x4xf32>)
// CHECK-NEXT:    return %[[U]]
func.func @undef_like_itself(%u: !pol.undef<?x4xf32>) -> !pol.undef<?x4xf32> {
  %0 = pol.undef like %u : !pol.undef<?x4xf32>
  return %0 : !pol.undef<?x4xf32>
}

// CHECK-LABEL: func.func @undef_like_a_tensor_stays(
// CHECK-NEXT:    pol.undef like
func.func @undef_like_a_tensor_stays(%t: tensor<?xf32>) -> !pol.undef<?xf32> {
  %0 = pol.undef like %t : tensor<?xf32>
  return %0 : !pol.undef<?xf32>
}

// CHECK-LABEL: func.func @undef_like_another_type_stays(
// CHECK-NEXT:    pol.undef like
func.func @undef_like_another_type_stays(%u: !pol.undef<?xf32>) -> !pol.undef<?xf64> {
  %0 = pol.undef like %u : !pol.undef<?xf32> -> !pol.undef<?xf64>
  return %0 : !pol.undef<?xf64>
}

// CHECK-LABEL: func.func @undef_of_static_shape_needs_no_like(
// CHECK-NEXT:    pol.undef : !pol.undef<4xf64>
func.func @undef_of_static_shape_needs_no_like(%t: tensor<4xf32>) -> !pol.undef<4xf64> {
  %0 = pol.undef like %t : tensor<4xf32> -> !pol.undef<4xf64>
  return %0 : !pol.undef<4xf64>
}

// Its extent is compared with that of like, in time.
// CHECK-LABEL: func.func @undef_that_narrows_needs_like(
// CHECK-SAME:    %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT:    pol.undef like %[[T]]
func.func @undef_that_narrows_needs_like(%t: tensor<?xf32>) -> !pol.undef<4xf64> {
  %0 = pol.undef like %t : tensor<?xf32> -> !pol.undef<4xf64>
  return %0 : !pol.undef<4xf64>
}

// CHECK-LABEL: func.func @undef_with_extents_needs_no_like(
// CHECK-SAME:    %{{.*}}: tensor<?xf32>, %[[N:.*]]: index)
// CHECK-NEXT:    pol.undef[%[[N]]] : !pol.undef<?x2xf32>
func.func @undef_with_extents_needs_no_like(%t: tensor<?xf32>, %n: index) -> !pol.undef<?x2xf32> {
  %0 = pol.undef like %t [%n] : tensor<?xf32> -> !pol.undef<?x2xf32>
  return %0 : !pol.undef<?x2xf32>
}

// CHECK-LABEL: func.func @dim_of_static_extent(
// CHECK-NEXT:    %[[C:.*]] = arith.constant 4 : index
// CHECK-NEXT:    return %[[C]]
func.func @dim_of_static_extent(%u: !pol.undef<?x4xf32>) -> index {
  %0 = pol.dim %u, 1 : !pol.undef<?x4xf32>
  return %0 : index
}

// CHECK-LABEL: func.func @dim_of_undef(
// CHECK-SAME:    %{{.*}}: index, %[[M:.*]]: index)
// CHECK-NEXT:    return %[[M]]
func.func @dim_of_undef(%n: index, %m: index) -> index {
  %u = pol.undef [%n, %m] : !pol.undef<?x4x?xf32>
  %0 = pol.dim %u, 2 : !pol.undef<?x4x?xf32>
  return %0 : index
}

// CHECK-LABEL: func.func @dim_of_argument_stays(
// CHECK-NEXT:    pol.dim
func.func @dim_of_argument_stays(%u: !pol.undef<?x4xf32>) -> index {
  %0 = pol.dim %u, 0 : !pol.undef<?x4xf32>
  return %0 : index
}

// CHECK-LABEL: func.func @get_of_bundle(
// CHECK-SAME:    %{{.*}}: !pol.undef<f32>, %[[T:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[T]]
func.func @get_of_bundle(%u: !pol.undef<f32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %b = pol.bundle {u = %u : !pol.undef<f32>, t = %t : tensor<4xf32>}
  %0 = pol.get %b, "t" : !pol.bundle<{u: !pol.undef<f32>, t: tensor<4xf32>}>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @get_of_nested_bundle(
// CHECK-SAME:    %[[T:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[T]]
func.func @get_of_nested_bundle(%t: tensor<4xf32>) -> tensor<4xf32> {
  %b = pol.bundle {t = %t : tensor<4xf32>}
  %o = pol.bundle {in = %b : !pol.bundle<{t: tensor<4xf32>}>}
  %i = pol.get %o, "in" : !pol.bundle<{in: !pol.bundle<{t: tensor<4xf32>}>}>
  %0 = pol.get %i, "t" : !pol.bundle<{t: tensor<4xf32>}>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @merge_of_one(
// CHECK-SAME:    %[[B:.*]]: !pol.bundle<{t: tensor<4xf32>}>)
// CHECK-NEXT:    return %[[B]]
func.func @merge_of_one(%b: !pol.bundle<{t: tensor<4xf32>}>) -> !pol.bundle<{t: tensor<4xf32>}> {
  %0 = pol.merge %b : !pol.bundle<{t: tensor<4xf32>}>
  return %0 : !pol.bundle<{t: tensor<4xf32>}>
}

// The later entry wins, in the place of the earlier one.
// CHECK-LABEL: func.func @merge_of_bundles(
// CHECK-SAME:    %{{.*}}: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<3xf32>)
// CHECK-NEXT:    pol.bundle {x = %[[C]] : tensor<3xf32>, y = %[[B]] : tensor<2xf32>}
func.func @merge_of_bundles(%a: tensor<1xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>) -> !pol.bundle<{x: tensor<3xf32>, y: tensor<2xf32>}> {
  %0 = pol.bundle {x = %a : tensor<1xf32>, y = %b : tensor<2xf32>}
  %1 = pol.bundle {x = %c : tensor<3xf32>}
  %2 = pol.merge %0, %1 : !pol.bundle<{x: tensor<1xf32>, y: tensor<2xf32>}>, !pol.bundle<{x: tensor<3xf32>}>
  return %2 : !pol.bundle<{x: tensor<3xf32>, y: tensor<2xf32>}>
}

// CHECK-LABEL: func.func @merge_of_none(
// CHECK-NEXT:    pol.bundle {}
func.func @merge_of_none() -> !pol.bundle<{}> {
  %0 = pol.merge
  return %0 : !pol.bundle<{}>
}

// CHECK-LABEL: func.func @merge_of_unknown_stays(
// CHECK-NEXT:    %{{.*}} = pol.bundle
// CHECK-NEXT:    %{{.*}} = pol.merge
func.func @merge_of_unknown_stays(%b: !pol.bundle<{t: tensor<4xf32>}>) -> !pol.bundle<{t: tensor<4xf32>}> {
  %e = pol.bundle {}
  %0 = pol.merge %b, %e : !pol.bundle<{t: tensor<4xf32>}>, !pol.bundle<{}>
  return %0 : !pol.bundle<{t: tensor<4xf32>}>
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func.func @constant_extents_are_in_the_type(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[N:.*]]: index)
// CHECK-NEXT:    %[[A:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.arena -> tensor<4x?x0xf32>
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %[[A]] : tensor<4x?x0xf32> to tensor<?x?x?xf32>
// CHECK-NEXT:    return %[[CAST]]
func.func @constant_extents_are_in_the_type(%arena: !pol.arena, %n: index) -> tensor<?x?x?xf32> {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %0 = pol.alloc %arena[%c4, %n, %c0] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.arena -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @constant_extents_are_in_the_type_of_memrefs(
// CHECK:         pol.alloc %{{.*}} : !pol.arena<1 : i64> -> memref<4xf32, 1>
// CHECK:         memref.cast %{{.*}} : memref<4xf32, 1> to memref<?xf32, 1>
func.func @constant_extents_are_in_the_type_of_memrefs(%arena: !pol.arena<1>) -> memref<?xf32, 1> {
  %c4 = arith.constant 4 : index
  %0 = pol.alloc %arena[%c4] : !pol.arena<1> -> memref<?xf32, 1>
  return %0 : memref<?xf32, 1>
}

// A size that is too large for a type stays an extent, and fails at run time.
// CHECK-LABEL: func.func @constant_extents_that_overflow_stay(
// CHECK:         pol.alloc %{{.*}}[%{{.*}}] : !pol.arena -> memref<?x2xf32>
func.func @constant_extents_that_overflow_stay(%arena: !pol.arena) -> memref<?x2xf32> {
  %huge = arith.constant 4611686018427387904 : index
  %0 = pol.alloc %arena[%huge] : !pol.arena -> memref<?x2xf32>
  return %0 : memref<?x2xf32>
}

// CHECK-LABEL: func.func @dead_allocations_go(
// CHECK-NEXT:    return
func.func @dead_allocations_go(%arena: !pol.arena, %heap: !pol.heap, %u: !pol.undef<4xf32>, %x: tensor<?xf32>) {
  %0 = pol.alloc %arena, %u : !pol.arena, !pol.undef<4xf32> -> tensor<4xf32>
  %1 = pol.alloc %heap : !pol.heap -> memref<4xf32>
  %2 = pol.outputs "pol.rms_norm"(%x) in %arena : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
  %3 = pol.outputs "pol.rms_norm"(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return
}

// CHECK-LABEL: func.func @carves_stay(
// CHECK-NEXT:    pol.carve
// CHECK-NEXT:    pol.retract
// CHECK-NEXT:    pol.reset
func.func @carves_stay(%arena: !pol.arena, %m: !pol.mark) {
  %b, %ok = pol.carve %arena : !pol.arena -> memref<4xf32>
  %done = pol.retract %arena, %m : !pol.arena
  pol.reset %arena : !pol.arena
  return
}

// CHECK-LABEL: func.func @kernels_on_dead_tensors_go(
// CHECK-NEXT:    return
func.func @kernels_on_dead_tensors_go(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = pol.rms_norm ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @kernels_on_memrefs_stay(
// CHECK-NEXT:    pol.rms_norm
func.func @kernels_on_memrefs_stay(%x: memref<4xf32>, %y: memref<4xf32>) {
  pol.rms_norm ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func.func @unused_frame_is_inlined(
// CHECK-SAME:    %{{.*}}: !pol.arena, %[[M:.*]]: memref<4xf32>, %[[I:.*]]: index)
// CHECK-NEXT:    %[[V:.*]] = memref.load %[[M]][%[[I]]]
// CHECK-NEXT:    return %[[V]]
func.func @unused_frame_is_inlined(%arena: !pol.arena, %m: memref<4xf32>, %i: index) -> f32 {
  %0 = pol.frame on %arena : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %v = memref.load %m[%i] : memref<4xf32>
    pol.yield %v : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @frame_of_dead_allocations_is_inlined(
// CHECK-NEXT:    return
func.func @frame_of_dead_allocations_is_inlined(%arena: !pol.arena) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%f: !pol.frame):
    %0 = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  return
}

// CHECK-LABEL: func.func @used_frame_stays(
// CHECK:         pol.frame
// CHECK:           %[[B:.*]] = pol.alloc
// CHECK-NEXT:      memref.store %{{.*}}, %[[B]]
func.func @used_frame_stays(%arena: !pol.arena, %v: f32) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%f: !pol.frame):
    %0 = pol.alloc %f : !pol.frame -> memref<f32>
    memref.store %v, %0[] : memref<f32>
  }
  return
}

// CHECK-LABEL: func.func @outer_results_are_dropped(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: memref<4xf32>, %{{.*}}: f32)
// CHECK-NEXT:    %[[R:.*]] = pol.frame on %[[ARENA]] : !pol.arena -> f32 {
// CHECK:           %[[V:.*]] = memref.load
// CHECK-NEXT:      pol.yield %[[V]] : f32
// CHECK-NEXT:    } {note = "kept"}
// CHECK-NEXT:    return %[[X]], %[[R]]
func.func @outer_results_are_dropped(%arena: !pol.arena, %x: memref<4xf32>, %s: f32) -> (memref<4xf32>, f32) {
  %0:2 = pol.frame on %arena : !pol.arena -> memref<4xf32>, f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<f32>
    memref.store %s, %t[] : memref<f32>
    %v = memref.load %t[] : memref<f32>
    pol.yield %x, %v : memref<4xf32>, f32
  } {note = "kept"}
  return %0#0, %0#1 : memref<4xf32>, f32
}

// CHECK-LABEL: func.func @unused_results_are_dropped(
// CHECK:         pol.frame on %{{.*}} : !pol.arena {
// CHECK-NOT:     pol.yield
// CHECK:         return
func.func @unused_results_are_dropped(%arena: !pol.arena, %s: f32) {
  %0 = pol.frame on %arena : !pol.arena -> memref<f32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<f32>
    memref.store %s, %t[] : memref<f32>
    pol.yield %t : memref<f32>
  }
  return
}

// The result of an inner frame that is a value of the outer one is no escape of
// either.
// CHECK-LABEL: func.func @results_of_nested_frames_are_dropped(
// CHECK:         pol.frame on %{{.*}} : !pol.arena -> f32 {
// CHECK-NEXT:    ^bb0(%[[OUTER:.*]]: !pol.frame):
// CHECK-NEXT:      %[[T:.*]] = pol.alloc %[[OUTER]]
// CHECK-NEXT:      pol.frame on %[[OUTER]] : !pol.frame {
// CHECK:             memref.store
// CHECK:           memref.load %[[T]][]
func.func @results_of_nested_frames_are_dropped(%arena: !pol.arena, %s: f32) -> f32 {
  %0 = pol.frame on %arena : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<f32>
    %1 = pol.frame on %f : !pol.frame -> memref<f32> {
    ^bb0(%g: !pol.frame):
      %u = pol.alloc %g : !pol.frame -> memref<f32>
      memref.store %s, %u[] : memref<f32>
      %w = memref.load %u[] : memref<f32>
      memref.store %w, %t[] : memref<f32>
      pol.yield %t : memref<f32>
    }
    %v = memref.load %1[] : memref<f32>
    pol.yield %v : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @empty_capture_is_inlined(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @empty_capture_is_inlined(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = pol.capture -> memref<4xf32> {
    pol.yield %x : memref<4xf32>
  }
  return %0 : memref<4xf32>
}

// What has an effect stays in it.
// CHECK-LABEL: func.func @results_of_a_capture_are_dropped(
// CHECK-SAME:    %[[X:.*]]: memref<f32>, %[[S:.*]]: f32)
// CHECK-NEXT:    %[[R:.*]] = pol.capture -> f32 {
// CHECK-NEXT:      memref.store %[[S]], %[[X]]
// CHECK-NEXT:      %[[V:.*]] = memref.load
// CHECK-NEXT:      pol.yield %[[V]] : f32
// CHECK-NEXT:    } {note = "kept"}
// CHECK-NEXT:    return %[[X]], %[[R]]
func.func @results_of_a_capture_are_dropped(%x: memref<f32>, %s: f32) -> (memref<f32>, f32) {
  %0:3 = pol.capture -> memref<f32>, f32, f32 {
    memref.store %s, %x[] : memref<f32>
    %v = memref.load %x[] : memref<f32>
    pol.yield %x, %v, %v : memref<f32>, f32, f32
  } {note = "kept"}
  return %0#0, %0#2 : memref<f32>, f32
}
