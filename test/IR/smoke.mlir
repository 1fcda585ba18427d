// RUN: pol-opt %s | FileCheck %s

// CHECK-LABEL: func.func @undef
// CHECK: pol.undef
func.func @undef(%n: index) -> !pol.undef<4x?xf32> {
  %u = pol.undef [%n] : !pol.undef<4x?xf32>
  return %u : !pol.undef<4x?xf32>
}
