// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s

// Regions are written with the names of their arguments alone.

// CHECK-LABEL: func.func @both(
// CHECK:         pol.attention ins(
// CHECK-SAME:      captures(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4xf16>, tensor<?xi32>, f32)
// CHECK-SAME:      scratch(%{{.+}} : tensor<1x4x1x2xi32>)
// CHECK-SAME:      score(%[[S:.+]], %[[B:.+]], %[[H:.+]], %[[I:.+]], %[[J:.+]], %[[SLOPES:.+]], %{{.+}}, %[[T:.+]]) {
// CHECK-NEXT:        tensor.extract %[[SLOPES]][%[[H]]] : tensor<4xf16>
// CHECK:             pol.yield %{{.+}} : f32
// CHECK-NEXT:      } mask(%{{.+}}, %{{.+}}, %[[I2:.+]], %[[J2:.+]], %{{.+}}, %[[IDS:.+]], %{{.+}}) {
// CHECK-NEXT:        tensor.extract %[[IDS]][%[[I2]]] : tensor<?xi32>
// CHECK:             pol.yield %{{.+}} : i1
// CHECK-NEXT:      } {scale = 1.000000e+00 : f64} -> tensor<1x4x8x8xf32>
func.func @both(%x: tensor<1x4x8x8xf32>, %slopes: tensor<4xf16>,
                %ids: tensor<?xi32>, %t: f32, %tiles: tensor<1x4x1x2xi32>)
    -> tensor<1x4x8x8xf32> {
  %o = pol.attention ins(%x, %x, %x : tensor<1x4x8x8xf32>,
          tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>)
      captures(%slopes, %ids, %t : tensor<4xf16>, tensor<?xi32>, f32)
      outs(%x : tensor<1x4x8x8xf32>) scratch(%tiles : tensor<1x4x1x2xi32>)
      score(%s, %b, %h, %i, %j, %sl, %d, %scale) {
        %0 = tensor.extract %sl[%h] : tensor<4xf16>
        %1 = arith.extf %0 : f16 to f32
        %2 = math.fma %s, %scale, %1 : f32
        pol.yield %2 : f32
      }
      mask(%b, %h, %i, %j, %sl, %d, %scale) {
        %0 = tensor.extract %d[%i] : tensor<?xi32>
        %1 = tensor.extract %d[%j] : tensor<?xi32>
        %2 = arith.cmpi eq, %0, %1 : i32
        pol.yield %2 : i1
      }
      {scale = 1.0 : f64} -> tensor<1x4x8x8xf32>
  return %o : tensor<1x4x8x8xf32>
}

// Gradients of captures have their numbers. Where queries are f64, so are
// scores.

// CHECK-LABEL: func.func @gradients(
// CHECK:         pol.attention_grad ins(
// CHECK-SAME:      captures(%{{.+}}, %{{.+}}, %{{.+}} : memref<?xf64>, memref<4xi32>, memref<2x?xf64>)
// CHECK-SAME:      outs(dv = %{{.+}} : memref<1x2x8x8xf64>)
// CHECK-SAME:      dcaptures(0 = %{{.+}}, 2 = %{{.+}} : memref<?xf64>, memref<2x?xf64>)
// CHECK-SAME:      scratch(%{{.+}}, %{{.+}} : memref<1x2x8xf64>, memref<?xf64>)
// CHECK-SAME:      score(
// CHECK:           pol.yield %{{.+}} : f64
func.func @gradients(%x: memref<1x2x8x8xf64>, %m: memref<1x2x8xf64>,
                     %a: memref<?xf64>, %n: memref<4xi32>, %c: memref<2x?xf64>,
                     %dv: memref<1x2x8x8xf64>, %da: memref<?xf64>,
                     %dc: memref<2x?xf64>, %delta: memref<1x2x8xf64>,
                     %sums: memref<?xf64>) {
  pol.attention_grad ins(%x, %x, %x, %x, %x : memref<1x2x8x8xf64>,
          memref<1x2x8x8xf64>, memref<1x2x8x8xf64>, memref<1x2x8x8xf64>,
          memref<1x2x8x8xf64>)
      checkpoints(%m, %m : memref<1x2x8xf64>, memref<1x2x8xf64>)
      captures(%a, %n, %c : memref<?xf64>, memref<4xi32>, memref<2x?xf64>)
      outs(dv = %dv : memref<1x2x8x8xf64>)
      dcaptures(0 = %da, 2 = %dc : memref<?xf64>, memref<2x?xf64>)
      scratch(%delta, %sums : memref<1x2x8xf64>, memref<?xf64>)
      score(%s, %b, %h, %i, %j, %p, %q, %r) {
        %0 = memref.load %p[%i] : memref<?xf64>
        %1 = memref.load %r[%h, %j] : memref<2x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = arith.addf %s, %2 : f64
        pol.yield %3 : f64
      }
  return
}

// Positions without causality, as a region sees them, and packed sequences.

// CHECK-LABEL: func.func @packed(
// CHECK:         pol.attention ins(%{{.+}}, %{{.+}}, %{{.+}}, input_pos = %{{.+}}, %{{.+}}, %{{.+}} : memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, index, memref<5xi32>, memref<5xi32>)
// CHECK-SAME:      mask(
// CHECK:         } {packed}
func.func @packed(%x: memref<1x2x?x8xf32>, %at: index, %n: memref<5xi32>,
                  %o: memref<1x2x?x8xf32>) {
  pol.attention ins(%x, %x, %x, input_pos = %at, %n, %n : memref<1x2x?x8xf32>,
          memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, index, memref<5xi32>,
          memref<5xi32>)
      outs(%o : memref<1x2x?x8xf32>)
      mask(%b, %h, %i, %j) {
        %0 = arith.cmpi sge, %i, %j : index
        pol.yield %0 : i1
      } {packed}
  return
}
