// RUN: pol-test-opt %s | FileCheck %s
// RUN: pol-test-opt %s | pol-test-opt | FileCheck %s
// RUN: pol-test-opt %s --mlir-print-op-generic | pol-test-opt | FileCheck %s
// RUN: pol-test-opt %s --emit-bytecode | pol-test-opt | FileCheck %s

// Kernels and a space of a dialect that pol does not know. Nothing but the
// kernel's name says which dialect that is, so reading the name loads it.

// CHECK-LABEL: func.func @name_loads_dialect(
func.func @name_loads_dialect(%x: tensor<?x?xf32>) {
  // CHECK: pol.outputs "test_pol.tiled"(%{{.*}}) {block = 4 : i64} : (tensor<?x?xf32>) -> !pol.bundle<{y: !pol.undef<?x?xf32>}>
  %0 = pol.outputs "test_pol.tiled"(%x) {block = 4 : i64} : (tensor<?x?xf32>) -> !pol.bundle<{y: !pol.undef<?x?xf32>}>
  return
}

// CHECK-LABEL: func.func @regions(
func.func @regions(%x: tensor<?xf32>) {
  // CHECK:      pol.scratch "test_pol.fold_rows"(%{{.*}}) regions({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT:   %[[S:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK-NEXT:   test_pol.fold_yield %[[S]] : f32
  // CHECK-NEXT: }) : (tensor<?xf32>) -> !pol.bundle<{lanes: !pol.undef<2x?xf32>, trace: !pol.undef<1xf32>}>
  %0 = pol.scratch "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    test_pol.fold_yield %s : f32
  }) : (tensor<?xf32>) -> !pol.bundle<{lanes: !pol.undef<2x?xf32>, trace: !pol.undef<1xf32>}>
  return
}

// CHECK-LABEL: func.func @absent_operands(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<4xf16>)
func.func @absent_operands(%x: tensor<?xf32>, %g: tensor<4xf16>) {
  // CHECK: pol.scratch "test_pol.scale"(%[[X]], none, %[[G]]) : (tensor<?xf32>, tensor<4xf16>) -> !pol.bundle<{gain_copy: !pol.undef<4xf16>}>
  %0 = pol.scratch "test_pol.scale"(%x, none, %g) : (tensor<?xf32>, tensor<4xf16>) -> !pol.bundle<{gain_copy: !pol.undef<4xf16>}>
  // CHECK: pol.scratch "test_pol.scale"(%[[X]], %[[G]], none) : (tensor<?xf32>, tensor<4xf16>) -> !pol.bundle<{bias_copy: !pol.undef<4xf16>}>
  %1 = pol.scratch "test_pol.scale"(%x, %g, none) : (tensor<?xf32>, tensor<4xf16>) -> !pol.bundle<{bias_copy: !pol.undef<4xf16>}>
  return
}

// CHECK-LABEL: func.func @pool(
// CHECK-SAME:    %[[P:.*]]: !test_pol.pool<#gpu.address_space<workgroup>>, %[[N:.*]]: index, %[[S:.*]]: !pol.undef<?xf32>)
func.func @pool(%pool: !test_pol.pool<#gpu.address_space<workgroup>>, %n: index, %spec: !pol.undef<?xf32>) {
  // CHECK: pol.alloc %[[P]], %[[S]] : !test_pol.pool<#gpu.address_space<workgroup>>, !pol.undef<?xf32> -> tensor<?xf32, #gpu.address_space<workgroup>>
  %0 = pol.alloc %pool, %spec : !test_pol.pool<#gpu.address_space<workgroup>>, !pol.undef<?xf32> -> tensor<?xf32, #gpu.address_space<workgroup>>
  // CHECK: %[[B:.*]] = pol.alloc %[[P]][%[[N]]] : !test_pol.pool<#gpu.address_space<workgroup>> -> memref<?xf32, #gpu.address_space<workgroup>>
  %1 = pol.alloc %pool[%n] : !test_pol.pool<#gpu.address_space<workgroup>> -> memref<?xf32, #gpu.address_space<workgroup>>
  // CHECK: pol.frame on %[[P]] : !test_pol.pool<#gpu.address_space<workgroup>> {
  // CHECK-NEXT: ^bb0(%[[F:.*]]: !pol.frame<#gpu.address_space<workgroup>>):
  // CHECK-NEXT: pol.alloc %[[F]] : !pol.frame<#gpu.address_space<workgroup>> -> memref<4xf32, #gpu.address_space<workgroup>>
  pol.frame on %pool : !test_pol.pool<#gpu.address_space<workgroup>> {
  ^bb0(%f: !pol.frame<#gpu.address_space<workgroup>>):
    %2 = pol.alloc %f : !pol.frame<#gpu.address_space<workgroup>> -> memref<4xf32, #gpu.address_space<workgroup>>
  }
  // CHECK: pol.mark %[[P]]
  %m = pol.mark %pool : !test_pol.pool<#gpu.address_space<workgroup>>
  // CHECK: pol.carve %[[P]]
  %c, %ok = pol.carve %pool : !test_pol.pool<#gpu.address_space<workgroup>> -> memref<4xf32, #gpu.address_space<workgroup>>
  // CHECK: pol.retract %[[P]]
  %done = pol.retract %pool, %m : !test_pol.pool<#gpu.address_space<workgroup>>
  // CHECK: pol.release %[[B]] in %[[P]]
  pol.release %1 in %pool : memref<?xf32, #gpu.address_space<workgroup>>, !test_pol.pool<#gpu.address_space<workgroup>>
  return
}
