// RUN: pol-opt %s --canonicalize --split-input-file | FileCheck %s

// Folding a cast into an op with a region that has no blocks used to crash, and
// a capture's cast has to reach the argument that stands for it.

// CHECK-LABEL: func.func @no_region(
// CHECK:         %[[R:.+]] = pol.attention
// CHECK-SAME:      tensor<1x2x5x8xf32>, tensor<1x2x?x8xf32>
// CHECK-SAME:      outs(%{{.+}} : tensor<1x2x5x8xf32>)
// CHECK-SAME:      -> tensor<1x2x5x8xf32>
// CHECK-NEXT:    tensor.cast %[[R]] : tensor<1x2x5x8xf32> to tensor<1x2x?x8xf32>
func.func @no_region(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x?x8xf32>,
                     %o: tensor<1x2x5x8xf32>) -> tensor<1x2x?x8xf32> {
  %q0 = tensor.cast %q : tensor<1x2x5x8xf32> to tensor<1x2x?x8xf32>
  %o0 = tensor.cast %o : tensor<1x2x5x8xf32> to tensor<1x2x?x8xf32>
  %r = pol.attention ins(%q0, %k, %k : tensor<1x2x?x8xf32>,
                         tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      outs(%o0 : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %r : tensor<1x2x?x8xf32>
}

// -----

// CHECK-LABEL: func.func @capture(
// CHECK:         pol.attention
// CHECK-SAME:      captures(%{{.+}} : tensor<2xf32>)
// CHECK:         tensor.extract %{{.+}}[%{{.+}}] : tensor<2xf32>
func.func @capture(%q: tensor<1x2x5x8xf32>, %slopes: tensor<2xf32>,
                   %o: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %s0 = tensor.cast %slopes : tensor<2xf32> to tensor<?xf32>
  %r = pol.attention ins(%q, %q, %q : tensor<1x2x5x8xf32>,
                         tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>)
      captures(%s0 : tensor<?xf32>) outs(%o : tensor<1x2x5x8xf32>)
      score(%s, %b, %h, %i, %j, %slope) {
        %a = tensor.extract %slope[%h] : tensor<?xf32>
        %t = arith.mulf %s, %a : f32
        pol.yield %t : f32
      } -> tensor<1x2x5x8xf32>
  return %r : tensor<1x2x5x8xf32>
}
