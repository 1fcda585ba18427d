// RUN: pol-opt %s --canonicalize | FileCheck %s

// Folds and canonicalizations of primals and shadows, one function each.

// CHECK-LABEL: func.func @parts_of_duplicated(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[DX:.*]]: tensor<4xf64>)
// CHECK-NEXT:    return %[[X]], %[[DX]]
func.func @parts_of_duplicated(%x: tensor<4xf32>, %dx: tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>) {
  %d = pol.duplicated %x, %dx : tensor<4xf32>, tensor<4xf64>
  %0 = pol.primal %d : !pol.duplicated<tensor<4xf32>, tensor<4xf64>>
  %1 = pol.shadow %d : !pol.duplicated<tensor<4xf32>, tensor<4xf64>>
  return %0, %1 : tensor<4xf32>, tensor<4xf64>
}

// CHECK-LABEL: func.func @primal_of_bare(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[M:.*]]: memref<4xf32>, %[[U:.*]]: !pol.undef<4xf32>)
// CHECK-NEXT:    return %[[X]], %[[M]], %[[U]]
func.func @primal_of_bare(%x: tensor<4xf32>, %m: memref<4xf32>, %u: !pol.undef<4xf32>) -> (tensor<4xf32>, memref<4xf32>, !pol.undef<4xf32>) {
  %0 = pol.primal %x : tensor<4xf32>
  %1 = pol.primal %m : memref<4xf32>
  %2 = pol.primal %u : !pol.undef<4xf32>
  return %0, %1, %2 : tensor<4xf32>, memref<4xf32>, !pol.undef<4xf32>
}

// CHECK-LABEL: func.func @parts_of_argument_stay(
// CHECK-NEXT:    pol.primal
// CHECK-NEXT:    pol.shadow
func.func @parts_of_argument_stay(%d: !pol.duplicated<tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = pol.primal %d : !pol.duplicated<tensor<4xf32>>
  %1 = pol.shadow %d : !pol.duplicated<tensor<4xf32>>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @shadow_described_like_primal(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT:    %[[U:.*]] = pol.undef like %[[X]] : tensor<?xf32>{{$}}
// CHECK-NEXT:    return %[[U]]
func.func @shadow_described_like_primal(%x: tensor<?xf32>) -> !pol.undef<?xf32> {
  %d = pol.duplicated %x : tensor<?xf32>
  %0 = pol.shadow %d : !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>
  return %0 : !pol.undef<?xf32>
}

// CHECK-LABEL: func.func @shadow_described_wider(
// CHECK-SAME:    %[[X:.*]]: memref<?xf16>)
// CHECK-NEXT:    %[[U:.*]] = pol.undef like %[[X]] : memref<?xf16> -> !pol.undef<?xf32>
// CHECK-NEXT:    return %[[U]]
func.func @shadow_described_wider(%x: memref<?xf16>) -> !pol.undef<?xf32> {
  %d = pol.duplicated %x : memref<?xf16> -> !pol.duplicated<memref<?xf16>, !pol.undef<?xf32>>
  %0 = pol.shadow %d : !pol.duplicated<memref<?xf16>, !pol.undef<?xf32>>
  return %0 : !pol.undef<?xf32>
}

// CHECK-LABEL: func.func @shadow_of_description(
// CHECK-SAME:    %[[U:.*]]: !pol.undef<?xf32>)
// CHECK-NEXT:    return %[[U]]
func.func @shadow_of_description(%u: !pol.undef<?xf32>) -> !pol.undef<?xf32> {
  %d = pol.duplicated %u : !pol.undef<?xf32>
  %0 = pol.shadow %d : !pol.duplicated<!pol.undef<?xf32>>
  return %0 : !pol.undef<?xf32>
}

// CHECK-LABEL: func.func @duplicated_of_parts(
// CHECK-SAME:    %[[D:.*]]: !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>>)
// CHECK-NEXT:    return %[[D]]
func.func @duplicated_of_parts(%d: !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>>) -> !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>> {
  %0 = pol.primal %d : !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>>
  %1 = pol.shadow %d : !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>>
  %2 = pol.duplicated %0, %1 : tensor<4xf32>, !pol.undef<4xf32>
  return %2 : !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>>
}

// CHECK-LABEL: func.func @duplicated_of_parts_of_two_stays(
// CHECK:         pol.duplicated
func.func @duplicated_of_parts_of_two_stays(%d: !pol.duplicated<tensor<4xf32>>, %e: !pol.duplicated<tensor<4xf32>>) -> !pol.duplicated<tensor<4xf32>> {
  %0 = pol.primal %d : !pol.duplicated<tensor<4xf32>>
  %1 = pol.shadow %e : !pol.duplicated<tensor<4xf32>>
  %2 = pol.duplicated %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %2 : !pol.duplicated<tensor<4xf32>>
}

// Its shadow has the extents of the primal, whatever the other one has.
// CHECK-LABEL: func.func @duplicated_of_primal_stays(
// CHECK:         pol.duplicated
func.func @duplicated_of_primal_stays(%d: !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>) -> !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>> {
  %0 = pol.primal %d : !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>
  %1 = pol.duplicated %0 : tensor<?xf32>
  return %1 : !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>
}

// CHECK-LABEL: func.func @dead_allocations_go(
// CHECK-NEXT:    return
func.func @dead_allocations_go(%arena: !pol.arena, %x: tensor<?xf32>) {
  %d = pol.duplicated %x : tensor<?xf32>
  %0 = pol.alloc %arena, %d : !pol.arena, !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>> -> !pol.duplicated<tensor<?xf32>>
  return
}
