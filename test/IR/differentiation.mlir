// RUN: pol-opt %s | FileCheck %s
// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s
// RUN: pol-opt %s --emit-bytecode | pol-opt | FileCheck %s

// Primals and shadows.

// A shadow of the primal's type is left out.
// CHECK-LABEL: func.func private @types(
// CHECK-SAME:    !pol.duplicated<tensor<4xf32>>,
// CHECK-SAME:    !pol.duplicated<memref<?xf64>>,
// CHECK-SAME:    !pol.duplicated<!pol.undef<f16>>,
// CHECK-SAME:    !pol.duplicated<tensor<?xbf16>, tensor<4xf32>>,
// CHECK-SAME:    !pol.duplicated<tensor<4xf8E4M3FN>, !pol.undef<?xf16>>,
// CHECK-SAME:    !pol.duplicated<memref<4xf32>, !pol.undef<4xf32>>,
// CHECK-SAME:    !pol.duplicated<!pol.undef<4xf16>, !pol.undef<4xf64>>,
// CHECK-SAME:    !pol.duplicated<tensor<4xf32>, tensor<4xf32, 1 : i64>>,
// CHECK-SAME:    !pol.duplicated<memref<4xf32, strided<[2]>, 1>, memref<4xf32>>,
// CHECK-SAME:    !pol.bundle<{d: !pol.duplicated<tensor<f32>>}>)
func.func private @types(
    !pol.duplicated<tensor<4xf32>, tensor<4xf32>>,
    !pol.duplicated<memref<?xf64>>,
    !pol.duplicated<!pol.undef<f16>>,
    !pol.duplicated<tensor<?xbf16>, tensor<4xf32>>,
    !pol.duplicated<tensor<4xf8E4M3FN>, !pol.undef<?xf16>>,
    !pol.duplicated<memref<4xf32>, !pol.undef<4xf32>>,
    !pol.duplicated<!pol.undef<4xf16>, !pol.undef<4xf64>>,
    !pol.duplicated<tensor<4xf32>, tensor<4xf32, 1>>,
    !pol.duplicated<memref<4xf32, strided<[2]>, 1>, memref<4xf32>>,
    !pol.bundle<{d: !pol.duplicated<tensor<f32>>}>)

// CHECK-LABEL: func.func @duplicated(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xbf16>, %[[DX:[^:]*]]: tensor<?xf32>, %[[M:[^:]*]]: memref<4xf32>, %[[U:[^:]*]]: !pol.undef<?xf32>)
func.func @duplicated(%x: tensor<?xbf16>, %dx: tensor<?xf32>, %m: memref<4xf32>, %u: !pol.undef<?xf32>) {
  // CHECK: pol.duplicated %[[X]], %[[DX]] : tensor<?xbf16>, tensor<?xf32>
  %0 = pol.duplicated %x, %dx : tensor<?xbf16>, tensor<?xf32>
  // CHECK: pol.duplicated %[[M]], %[[M]] : memref<4xf32>, memref<4xf32>
  %1 = pol.duplicated %m, %m : memref<4xf32>, memref<4xf32>
  // CHECK: pol.duplicated %[[X]], %[[U]] : tensor<?xbf16>, !pol.undef<?xf32>
  %2 = pol.duplicated %x, %u : tensor<?xbf16>, !pol.undef<?xf32>
  // A shadow that is described like the primal.
  // CHECK: %[[LIKE:.*]] = pol.duplicated %[[X]] : tensor<?xbf16>{{$}}
  %3 = pol.duplicated %x : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<?xbf16>>
  // CHECK: pol.duplicated %[[U]] : !pol.undef<?xf32>{{$}}
  %4 = pol.duplicated %u : !pol.undef<?xf32>
  // And one that is not.
  // CHECK: pol.duplicated %[[X]] : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
  %5 = pol.duplicated %x : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
  // CHECK: pol.duplicated %[[X]] {note = "kept"} : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<4xbf16>>
  %6 = pol.duplicated %x {note = "kept"} : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<4xbf16>>
  // CHECK: pol.primal %[[LIKE]] : !pol.duplicated<tensor<?xbf16>, !pol.undef<?xbf16>>
  %7 = pol.primal %3 : !pol.duplicated<tensor<?xbf16>, !pol.undef<?xbf16>>
  // CHECK: pol.shadow %[[LIKE]] : !pol.duplicated<tensor<?xbf16>, !pol.undef<?xbf16>>
  %8 = pol.shadow %3 : !pol.duplicated<tensor<?xbf16>, !pol.undef<?xbf16>>
  return
}

// CHECK-LABEL: func.func @primal_of_bare(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xbf16>, %[[M:[^:]*]]: memref<4xi32>, %[[U:[^:]*]]: !pol.undef<?xf32>)
func.func @primal_of_bare(%x: tensor<?xbf16>, %m: memref<4xi32>, %u: !pol.undef<?xf32>) -> (tensor<?xbf16>, memref<4xi32>, !pol.undef<?xf32>) {
  // CHECK: %[[A:.*]] = pol.primal %[[X]] : tensor<?xbf16>
  // CHECK: %[[B:.*]] = pol.primal %[[M]] : memref<4xi32>
  // CHECK: %[[C:.*]] = pol.primal %[[U]] : !pol.undef<?xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %0 = pol.primal %x : tensor<?xbf16>
  %1 = pol.primal %m : memref<4xi32>
  %2 = pol.primal %u : !pol.undef<?xf32>
  return %0, %1, %2 : tensor<?xbf16>, memref<4xi32>, !pol.undef<?xf32>
}

// CHECK-LABEL: func.func @alloc(
// CHECK-SAME:    %[[A:[^:]*]]: !pol.arena, %[[A1:[^:]*]]: !pol.arena<1 : i64>, %[[D:[^:]*]]: !pol.duplicated<{{.*}}>, %[[U:[^:]*]]: !pol.duplicated<{{.*}}>,
func.func @alloc(%arena: !pol.arena, %arena1: !pol.arena<1>, %d: !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>, %u: !pol.duplicated<!pol.undef<4xf16>, !pol.undef<4xf32>>, %b: !pol.bundle<{in: !pol.bundle<{d: !pol.duplicated<memref<2xf32>, !pol.undef<2xf32>>}>}>) {
  // CHECK: pol.alloc %[[A]], %[[D]] : !pol.arena, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>> -> !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %0 = pol.alloc %arena, %d : !pol.arena, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>> -> !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  // CHECK: pol.alloc %[[A1]], %[[D]] : !pol.arena<1 : i64>, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>> -> !pol.duplicated<tensor<?xbf16>, tensor<?xf32, 1 : i64>>
  %1 = pol.alloc %arena1, %d : !pol.arena<1>, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>> -> !pol.duplicated<tensor<?xbf16>, tensor<?xf32, 1>>
  // CHECK: pol.alloc %[[A]], %[[U]] : !pol.arena, !pol.duplicated<!pol.undef<4xf16>, !pol.undef<4xf32>> -> !pol.duplicated<memref<4xf16>, memref<4xf32>>
  %2 = pol.alloc %arena, %u : !pol.arena, !pol.duplicated<!pol.undef<4xf16>, !pol.undef<4xf32>> -> !pol.duplicated<memref<4xf16>, memref<4xf32>>
  // CHECK: pol.alloc %[[A]], %{{.*}} -> !pol.bundle<{in: !pol.bundle<{d: !pol.duplicated<memref<2xf32>>}>}>
  %3 = pol.alloc %arena, %b : !pol.arena, !pol.bundle<{in: !pol.bundle<{d: !pol.duplicated<memref<2xf32>, !pol.undef<2xf32>>}>}> -> !pol.bundle<{in: !pol.bundle<{d: !pol.duplicated<memref<2xf32>>}>}>
  return
}

//===----------------------------------------------------------------------===//
// Descriptions of functions
//===----------------------------------------------------------------------===//

func.func private @k(!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, !pol.duplicated<tensor<?xf32>>, !pol.bundle<{d: !pol.duplicated<memref<?xf32>>}>)

// CHECK-LABEL: pol.description for @k(
// CHECK-SAME:    %[[X:.*]]: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>)
pol.description for @k(%x: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) {
  // CHECK: %[[P:.*]] = pol.primal %[[X]]
  // CHECK: pol.undef like %[[P]]
  %p = pol.primal %x : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %u = pol.undef like %p : tensor<?xbf16> -> !pol.undef<?xf32>
  %s = pol.shadow %x : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %v = pol.undef like %s : tensor<?xf32>
  %d = pol.duplicated %u, %v : !pol.undef<?xf32>, !pol.undef<?xf32>
  %b = pol.bundle {d = %d : !pol.duplicated<!pol.undef<?xf32>>}
  // CHECK: pol.describe outputs {y(1) = %{{.*}} : !pol.duplicated<!pol.undef<?xf32>>} scratch {t(2) = %{{.*}} : !pol.bundle<{d: !pol.duplicated<!pol.undef<?xf32>>}>}
  pol.describe outputs {y(1) = %d : !pol.duplicated<!pol.undef<?xf32>>}
               scratch {t(2) = %b : !pol.bundle<{d: !pol.duplicated<!pol.undef<?xf32>>}>}
}

// CHECK-LABEL: func.func @verbs(
func.func @verbs(%arena: !pol.arena, %frame: !pol.frame, %x: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) {
  // CHECK: %[[O:.*]] = pol.outputs @k(%{{.*}}) in %{{.*}} : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>), !pol.arena -> !pol.bundle<{y: !pol.duplicated<tensor<?xf32>>}>
  %o = pol.outputs @k(%x) in %arena : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>), !pol.arena -> !pol.bundle<{y: !pol.duplicated<tensor<?xf32>>}>
  // CHECK: %[[S:.*]] = pol.scratch @k(%{{.*}}) : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) -> !pol.bundle<{t: !pol.bundle<{d: !pol.duplicated<!pol.undef<?xf32>>}>}>
  %s = pol.scratch @k(%x) : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) -> !pol.bundle<{t: !pol.bundle<{d: !pol.duplicated<!pol.undef<?xf32>>}>}>
  %t = pol.alloc %frame, %s : !pol.frame, !pol.bundle<{t: !pol.bundle<{d: !pol.duplicated<!pol.undef<?xf32>>}>}> -> !pol.bundle<{t: !pol.bundle<{d: !pol.duplicated<memref<?xf32>>}>}>
  // CHECK: pol.call @k(%{{.*}}) outputs(%[[O]])
  pol.call @k(%x) outputs(%o) scratch(%t) : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>), !pol.bundle<{y: !pol.duplicated<tensor<?xf32>>}>, !pol.bundle<{t: !pol.bundle<{d: !pol.duplicated<memref<?xf32>>}>}>
  return
}
