// RUN: pol-opt %s --pol-expand-apply --pol-resolve-descriptions \
// RUN:   --pol-flatten-bundles --canonicalize --split-input-file | FileCheck %s

// Buffers are what the function's arguments are, which may say more of their
// shapes than the description does.

func.func private @known(tensor<4xf32>, tensor<4xf32>, tensor<2xf32>)
    -> tensor<4xf32>
pol.description for @known(%x: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %y = pol.undef [%c4] : !pol.undef<?xf32>
  %t = pol.undef [%c2] : !pol.undef<?xf32>
  pol.describe outputs {y(1) = %y : !pol.undef<?xf32>}
               scratch {t(2) = %t : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @static_arguments(
// CHECK-SAME:    %[[ARENA:[^:]+]]: !pol.arena, %[[X:[^:]+]]: tensor<4xf32>)
// CHECK:         %[[Y:.+]] = pol.alloc %[[ARENA]] {{.+}} -> tensor<4xf32>
// CHECK:         pol.frame
// CHECK:         ^bb0(%[[FRAME:.+]]: !pol.frame):
// CHECK:           %[[T:.+]] = pol.alloc %[[FRAME]] {{.+}} -> tensor<2xf32>
// CHECK:           func.call @known(%[[X]], %[[Y]], %[[T]])
func.func @static_arguments(%arena: !pol.arena, %x: tensor<4xf32>)
    -> tensor<4xf32> {
  %r = pol.apply @known(%x) in %arena
      : (tensor<4xf32>), !pol.arena -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A function on memrefs gets memrefs.

func.func private @fill(memref<?xf32>, memref<?xf32>) -> memref<?xf32>
pol.description for @fill(%x: memref<?xf32>) {
  %y = pol.undef like %x : memref<?xf32>
  pol.describe outputs {y(1) = %y : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:    %[[ARENA:[^:]+]]: !pol.arena, %[[X:[^:]+]]: memref<?xf32>)
// CHECK:         %[[N:.+]] = memref.dim %[[X]]
// CHECK:         %[[Y:.+]] = pol.alloc %[[ARENA]][%[[N]]] {{.+}} -> memref<?xf32>
// CHECK:         call @fill(%[[X]], %[[Y]])
func.func @memrefs(%arena: !pol.arena, %x: memref<?xf32>) -> memref<?xf32> {
  %r = pol.apply @fill(%x) in %arena
      : (memref<?xf32>), !pol.arena -> memref<?xf32>
  return %r : memref<?xf32>
}

// -----

// So does an op that is given memrefs.

// CHECK-LABEL: func.func @op_on_memrefs(
// CHECK-SAME:    %[[ARENA:[^:]+]]: !pol.arena, %[[X:[^:]+]]: memref<2x4xf32>)
// CHECK:         %[[Y:.+]] = pol.alloc %[[ARENA]] {{.+}} -> memref<2x4xf32>
// CHECK:         pol.rms_norm ins(%[[X]] : memref<2x4xf32>) outs(%[[Y]] : memref<2x4xf32>)
func.func @op_on_memrefs(%arena: !pol.arena, %x: memref<2x4xf32>) {
  pol.apply "pol.rms_norm"(%x) in %arena : (memref<2x4xf32>), !pol.arena
  return
}
