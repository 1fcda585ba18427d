// RUN: pol-opt %s --cse | FileCheck %s

// What is data is merged when equal; what is memory is not.

// CHECK-LABEL: func.func @descriptions(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index)
func.func @descriptions(%x: tensor<?xf32>, %n: index) -> (!pol.bundle<{a: !pol.undef<?xf32>}>, !pol.bundle<{a: !pol.undef<?xf32>}>, index, index) {
  // CHECK-NEXT: %[[U:.*]] = pol.undef like %[[X]]
  // CHECK-NEXT: %[[V:.*]] = pol.undef[%[[N]]]
  // CHECK-NEXT: %[[B:.*]] = pol.bundle {a = %[[U]]
  // CHECK-NEXT: %[[D:.*]] = pol.dim %[[V]], 0
  // CHECK-NEXT: return %[[B]], %[[B]], %[[D]], %[[D]]
  %u0 = pol.undef like %x : tensor<?xf32>
  %u1 = pol.undef like %x : tensor<?xf32>
  %v0 = pol.undef [%n] : !pol.undef<?xf32>
  %v1 = pol.undef [%n] : !pol.undef<?xf32>
  %b0 = pol.bundle {a = %u0 : !pol.undef<?xf32>}
  %b1 = pol.bundle {a = %u1 : !pol.undef<?xf32>}
  %d0 = pol.dim %v0, 0 : !pol.undef<?xf32>
  %d1 = pol.dim %v1, 0 : !pol.undef<?xf32>
  return %b0, %b1, %d0, %d1 : !pol.bundle<{a: !pol.undef<?xf32>}>, !pol.bundle<{a: !pol.undef<?xf32>}>, index, index
}

// CHECK-LABEL: func.func @asking_a_kernel(
func.func @asking_a_kernel(%x: tensor<?xf32>) -> (!pol.bundle<{y: !pol.undef<?xf32>}>, !pol.bundle<{y: !pol.undef<?xf32>}>) {
  // CHECK-NEXT: %[[D:.*]] = pol.outputs
  // CHECK-NEXT: return %[[D]], %[[D]]
  %0 = pol.outputs "pol.rms_norm"(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  %1 = pol.outputs "pol.rms_norm"(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return %0, %1 : !pol.bundle<{y: !pol.undef<?xf32>}>, !pol.bundle<{y: !pol.undef<?xf32>}>
}

// CHECK-LABEL: func.func @allocations(
func.func @allocations(%arena: !pol.arena, %x: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xf32>, !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{y: tensor<?xf32>}>) {
  // CHECK-NEXT: %[[A:.*]] = pol.alloc
  // CHECK-NEXT: %[[B:.*]] = pol.alloc
  // CHECK-NEXT: %[[C:.*]] = pol.outputs
  // CHECK-NEXT: %[[D:.*]] = pol.outputs
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = pol.alloc %arena : !pol.arena -> tensor<4xf32>
  %1 = pol.alloc %arena : !pol.arena -> tensor<4xf32>
  %2 = pol.outputs "pol.rms_norm"(%x) in %arena : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
  %3 = pol.outputs "pol.rms_norm"(%x) in %arena : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{y: tensor<?xf32>}>
}

// A space changes between two reads of it.
// CHECK-LABEL: func.func @marks(
func.func @marks(%arena: !pol.arena) -> (!pol.mark, !pol.mark, memref<4xf32>) {
  // CHECK-NEXT: %[[M:.*]] = pol.mark
  // CHECK-NEXT: %[[B:.*]], %{{.*}} = pol.carve
  // CHECK-NEXT: %[[N:.*]] = pol.mark
  // CHECK-NEXT: return %[[M]], %[[N]], %[[B]]
  %m = pol.mark %arena : !pol.arena
  %b, %ok = pol.carve %arena : !pol.arena -> memref<4xf32>
  %n = pol.mark %arena : !pol.arena
  return %m, %n, %b : !pol.mark, !pol.mark, memref<4xf32>
}

// Kernels on tensors are values too.
// CHECK-LABEL: func.func @kernels(
func.func @kernels(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = pol.rms_norm
  // CHECK-NEXT: return %[[R]], %[[R]]
  %0 = pol.rms_norm ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  %1 = pol.rms_norm ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
