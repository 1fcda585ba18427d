// RUN: pol-opt %s --pol-materialize-stage=report-hidden=false --pol-place-stage \
// RUN:   | FileCheck %s

// A hidden buffer was released at the end of its block, after the retract of
// the thread's heap had freed it.

// CHECK-LABEL: func.func @f(
// CHECK:         %[[T:.+]], %{{.+}} = pol.carve
// CHECK-NOT:     pol.retract
// CHECK:         pol.release %[[T]]
// CHECK-NOT:     pol.re{{lease|tract}}
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
