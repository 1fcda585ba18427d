// RUN: split-file %s %t
// RUN: not pol-opt %t/apply.mlir --pol-resolve-descriptions 2>&1 | FileCheck %t/apply.mlir
// RUN: not pol-opt %t/outputs.mlir --pol-flatten-bundles 2>&1 | FileCheck %t/outputs.mlir
// RUN: not pol-opt %t/description.mlir --pol-flatten-bundles 2>&1 | FileCheck %t/description.mlir
// RUN: not pol-opt %t/duplicated.mlir --pol-verify-lifetimes 2>&1 | FileCheck %t/duplicated.mlir

// A pass that needs another to have run says so.

//--- apply.mlir
func.func @f(%x: tensor<4xf32>, %arena: !pol.arena) -> tensor<4xf32> {
  // CHECK: apply.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'pol.apply' op expected pol-expand-apply to run first
  %0 = pol.apply "pol.rms_norm"(%x) in %arena : (tensor<4xf32>), !pol.arena -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- outputs.mlir
func.func @f(%x: tensor<4xf32>) {
  // CHECK: outputs.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'pol.outputs' op expected pol-resolve-descriptions to run first
  %0 = pol.outputs "pol.rms_norm"(%x) : (tensor<4xf32>) -> !pol.bundle<{y: !pol.undef<4xf32>}>
  return
}

//--- description.mlir
func.func private @k()
pol.description for @k() {
  // CHECK: description.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'pol.describe' op expected pol-resolve-descriptions to run first
  pol.describe
}

//--- duplicated.mlir
func.func @f(%x: tensor<4xf32>) -> !pol.duplicated<tensor<4xf32>> {
  // CHECK: duplicated.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'pol.duplicated' op expected pol-flatten-bundles to run first
  %0 = pol.duplicated %x, %x : tensor<4xf32>, tensor<4xf32>
  return %0 : !pol.duplicated<tensor<4xf32>>
}
