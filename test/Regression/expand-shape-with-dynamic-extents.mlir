// Upstream's lowering crashes on extents of which more than one is dynamic.

// RUN: pol-opt %s --pol-lower-expand-shapes | FileCheck %s
// RUN: pol-opt %s --pol-to-llvm
// REQUIRES: pol-run
// RUN: pol-run %s --entry sum --input 6x2xf32=iota --input i64=3 --input 3x2x2xf32=zeros \
// RUN:   | FileCheck %s --check-prefix=SUM

// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:    %[[X:.+]]: memref<?x8xf32, strided<[16, 1], offset: 4>>, %[[N:.+]]: index, %[[M:.+]]: index
// CHECK:         %[[BASE:.+]], %[[OFFSET:.+]], %{{.+}}:2, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[OUTER:.+]] = arith.muli %[[STRIDES]]#0, %[[M]]
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [4], sizes: [%[[N]], %[[M]], 2, 4], strides: [%[[OUTER]], 16, 4, 1]
func.func @memrefs(%x: memref<?x8xf32, strided<[16, 1], offset: 4>>, %n: index,
                   %m: index) -> f32 {
  %c0 = arith.constant 0 : index
  %y = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%n, %m, 2, 4]
      : memref<?x8xf32, strided<[16, 1], offset: 4>>
      into memref<?x?x2x4xf32, strided<[?, 16, 4, 1], offset: 4>>
  %v = memref.load %y[%c0, %c0, %c0, %c0]
      : memref<?x?x2x4xf32, strided<[?, 16, 4, 1], offset: 4>>
  return %v : f32
}

// SUM: result 0: 3x2x2xf32  min 0  max 22
func.func @sum(%x: tensor<?x2xf32>, %n: index, %y: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %c2, 2]
      : tensor<?x2xf32> into tensor<?x?x2xf32>
  %0 = linalg.add ins(%e, %e : tensor<?x?x2xf32>, tensor<?x?x2xf32>)
      outs(%y : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  return %0 : tensor<?x?x2xf32>
}
