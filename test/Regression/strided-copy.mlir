// A copy between strided memrefs became a call of a function that no library
// of pol's has: the program did not link.

// RUN: pol-opt %s --convert-pol-to-linalg | FileCheck %s
// RUN: pol-run %s --input 8x8xf32=zeros --input 4x4xf32=ones \
// RUN:   | FileCheck %s --check-prefix=OUT

// CHECK-LABEL: func.func @insert(
// CHECK-SAME:    %[[A:.+]]: memref<8x8xf32>, %[[B:.+]]: memref<4x4xf32>)
// CHECK:         %[[VIEW:.+]] = memref.subview %[[A]]
// CHECK:         linalg.generic {{.+}} ins(%[[B]] : {{.+}}) outs(%[[VIEW]] :
// CHECK-NOT:     memref.copy
// OUT: result 0: 8x8xf32 min 0 max 1 mean 0.25
func.func @insert(%a: memref<8x8xf32>, %b: memref<4x4xf32>) -> memref<8x8xf32> {
  %view = memref.subview %a[1, 1] [4, 4] [1, 2]
      : memref<8x8xf32> to memref<4x4xf32, strided<[8, 2], offset: 9>>
  memref.copy %b, %view
      : memref<4x4xf32> to memref<4x4xf32, strided<[8, 2], offset: 9>>
  return %a : memref<8x8xf32>
}
