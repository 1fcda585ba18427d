// RUN: pol-opt %s --canonicalize --pol-flatten-bundles --pol-bufferize \
// RUN:   --canonicalize | pol-opt | FileCheck %s

// What a region captures becomes a memref in it, too, of the type of its operand.

// CHECK-LABEL: func.func @captures(
// CHECK-SAME:    %[[A:[^:]+]]: memref<4xf32>, %[[N:[^:]+]]: memref<2x?xi32>
// CHECK:         pol.attention
// CHECK-SAME:      captures(%[[A]], %[[N]], %{{.+}} : memref<4xf32>, memref<2x?xi32>, f32)
// CHECK-SAME:      score(%{{.+}}, %{{.+}}, %[[H:.+]], %{{.+}}, %{{.+}}, %[[SLOPES:.+]], %{{.+}}, %{{.+}}) {
// CHECK-NEXT:        memref.load %[[SLOPES]][%[[H]]] : memref<4xf32>
// CHECK-NOT:       tensor
// CHECK:           } mask(
// CHECK-NOT:       tensor
// CHECK:         return
func.func @captures(%a: tensor<4xf32>, %n: tensor<2x?xi32>, %t: f32,
                    %x: tensor<2x4x?x8xf32>, %o: tensor<2x4x?x8xf32>)
    -> tensor<2x4x?x8xf32> {
  %open = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %r = pol.attention ins(%x, %x, %x : tensor<2x4x?x8xf32>,
          tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>)
      captures(%open, %n, %t : tensor<?xf32>, tensor<2x?xi32>, f32)
      outs(%o : tensor<2x4x?x8xf32>)
      score(%s, %b, %h, %i, %j, %slopes, %ids, %f) {
        %0 = tensor.extract %slopes[%h] : tensor<?xf32>
        %1 = arith.addf %s, %0 : f32
        pol.yield %1 : f32
      }
      mask(%b, %h, %i, %j, %slopes, %ids, %f) {
        %0 = tensor.extract %ids[%b, %i] : tensor<2x?xi32>
        %1 = tensor.extract %ids[%b, %j] : tensor<2x?xi32>
        %2 = arith.cmpi eq, %0, %1 : i32
        pol.yield %2 : i1
      } -> tensor<2x4x?x8xf32>
  return %r : tensor<2x4x?x8xf32>
}

// What is written after the kernel is written in place: reads of a region are
// over by then.

// CHECK-LABEL: func.func @changed_later(
// CHECK:         pol.alloc
// CHECK:         pol.attention
// CHECK:         memref.store
func.func @changed_later(%space: !pol.arena, %x: tensor<1x1x8x8xf32>,
                         %o: tensor<1x1x8x8xf32>, %f: f32)
    -> (tensor<1x1x8x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u = pol.undef : !pol.undef<8xf32>
  %e = pol.alloc %space, %u : !pol.arena, !pol.undef<8xf32> -> tensor<8xf32>
  %a = tensor.insert %f into %e[%c0] : tensor<8xf32>
  %r = pol.attention ins(%x, %x, %x : tensor<1x1x8x8xf32>,
          tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
      captures(%a : tensor<8xf32>) outs(%o : tensor<1x1x8x8xf32>)
      score(%s, %b, %h, %i, %j, %p) {
        %0 = tensor.extract %p[%i] : tensor<8xf32>
        %1 = arith.addf %s, %0 : f32
        pol.yield %1 : f32
      } -> tensor<1x1x8x8xf32>
  %later = tensor.insert %f into %a[%c1] : tensor<8xf32>
  return %r, %later : tensor<1x1x8x8xf32>, tensor<8xf32>
}
