// A kernel on one tensor as input and destination got a buffer that no
// pol.alloc asked for, though it may work in place; so did a result that is
// inserted where its destination was taken from.

// RUN: pol-opt %s --pol-materialize-stage=strict | FileCheck %s

// CHECK-LABEL: func.func @one_tensor(
// CHECK-SAME:    %[[X:.+]]: memref<?x?xf32>)
// CHECK-NEXT:    pol.rms_norm ins(%[[X]] : memref<?x?xf32>) outs(%[[X]] : memref<?x?xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @one_tensor(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = pol.rms_norm ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME:    %[[BIG:.+]]: memref<16x32xf32>, %[[X:.+]]: memref<4x9xf32>)
// CHECK:         %[[VIEW:.+]] = memref.subview %[[BIG]]
// CHECK:         pol.rms_norm ins(%[[X]] : memref<4x9xf32>) outs(%[[VIEW]] :
// CHECK-NOT:     memref.copy
// CHECK:         return %[[BIG]]
func.func @slice(%big: tensor<16x32xf32>, %x: tensor<4x9xf32>)
    -> tensor<16x32xf32> {
  %s = tensor.extract_slice %big[1, 3] [4, 9] [2, 2]
      : tensor<16x32xf32> to tensor<4x9xf32>
  %y = pol.rms_norm ins(%x : tensor<4x9xf32>) outs(%s : tensor<4x9xf32>)
      -> tensor<4x9xf32>
  %r = tensor.insert_slice %y into %big[1, 3] [4, 9] [2, 2]
      : tensor<4x9xf32> into tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}
