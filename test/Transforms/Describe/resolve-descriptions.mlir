// RUN: pol-test-opt %s --pol-resolve-descriptions --split-input-file | FileCheck %s

// What kernels describe, and calls to them.

func.func private @softmax(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NOT: pol.description
pol.description for @softmax(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %twice = arith.muli %n, %c2 : index
  %t = pol.undef [%twice] : !pol.undef<?xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
               scratch {tmp(2) = %t : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @as_data(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>)
func.func @as_data(%x: tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}> {
  // CHECK: %[[U:.*]] = pol.undef like %[[X]]
  // CHECK: %[[B:.*]] = pol.bundle {y = %[[U]] : !pol.undef<?xf32>}
  // CHECK: return %[[B]]
  %0 = pol.outputs @softmax(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return %0 : !pol.bundle<{y: !pol.undef<?xf32>}>
}

// CHECK-LABEL: func.func @in_a_space(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[F:.*]]: !pol.frame)
func.func @in_a_space(%x: tensor<?xf32>, %f: !pol.frame) -> !pol.bundle<{tmp: tensor<?xf32>}> {
  // CHECK: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK: %[[TWICE:.*]] = arith.muli %[[N]]
  // CHECK: %[[U:.*]] = pol.undef[%[[TWICE]]]
  // CHECK: %[[B:.*]] = pol.bundle {tmp = %[[U]] : !pol.undef<?xf32>}
  // CHECK: %[[A:.*]] = pol.alloc %[[F]], %[[B]] {kernel = "softmax", role = #pol.role<scratch>}
  // CHECK: return %[[A]]
  %0 = pol.scratch @softmax(%x) in %f : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
  return %0 : !pol.bundle<{tmp: tensor<?xf32>}>
}

// An allocation of what a kernel described says so.
// CHECK-LABEL: func.func @alloc_of_described(
func.func @alloc_of_described(%x: tensor<?xf32>, %arena: !pol.arena) -> !pol.bundle<{y: tensor<?xf32>}> {
  // CHECK: pol.alloc %{{.*}}, %{{.*}} {kernel = "softmax", role = #pol.role<output>}
  %0 = pol.outputs @softmax(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  %1 = pol.alloc %arena, %0 : !pol.arena, !pol.bundle<{y: !pol.undef<?xf32>}> -> !pol.bundle<{y: tensor<?xf32>}>
  return %1 : !pol.bundle<{y: tensor<?xf32>}>
}

// CHECK-LABEL: func.func @known_more_exactly(
func.func @known_more_exactly(%x: tensor<?xf32>, %arena: !pol.arena) -> !pol.bundle<{y: tensor<4xf32>}> {
  // CHECK: %[[U:.*]] = pol.undef : !pol.undef<4xf32>
  // CHECK: %[[B:.*]] = pol.bundle {y = %[[U]]
  // CHECK: pol.alloc %{{.*}}, %[[B]]
  %0 = pol.outputs @softmax(%x) in %arena : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<4xf32>}>
  return %0 : !pol.bundle<{y: tensor<4xf32>}>
}

// Buffers go where the description says, inputs to the other arguments in order.
// CHECK-LABEL: func.func @call(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[OUT:[^:]*]]: !pol.bundle<{y: tensor<?xf32>}>, %[[TMP:[^:]*]]: !pol.bundle
func.func @call(%x: tensor<?xf32>, %out: !pol.bundle<{y: tensor<?xf32>}>, %s: !pol.bundle<{tmp: tensor<?xf32>}>) -> tensor<?xf32> {
  // CHECK-DAG: %[[Y:.*]] = pol.get %[[OUT]], "y"
  // CHECK-DAG: %[[T:.*]] = pol.get %[[TMP]], "tmp"
  // CHECK:     %[[R:.*]] = call @softmax(%[[X]], %[[Y]], %[[T]])
  // CHECK:     return %[[R]]
  %0 = pol.call @softmax(%x) outputs(%out) scratch(%s) : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{tmp: tensor<?xf32>}> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Described arguments may come anywhere, and be bundles.
func.func private @mixed(tensor<f32>, i32, !pol.bundle<{a: tensor<1xf32>, b: tensor<2xf32>}>, index, memref<3xf32>)
pol.description for @mixed(%i: i32, %n: index) {
  %t = pol.undef : !pol.undef<f32>
  %a = pol.undef : !pol.undef<1xf32>
  %b = pol.undef : !pol.undef<2xf32>
  %p = pol.bundle {a = %a : !pol.undef<1xf32>, b = %b : !pol.undef<2xf32>}
  %m = pol.undef : !pol.undef<3xf32>
  pol.describe outputs {m(4) = %m : !pol.undef<3xf32>, t(0) = %t : !pol.undef<f32>}
               checkpoints {p(2) = %p : !pol.bundle<{a: !pol.undef<1xf32>, b: !pol.undef<2xf32>}>}
}

// CHECK-LABEL: func.func @order_of_arguments(
// CHECK-SAME:    %[[I:.*]]: i32, %[[N:.*]]: index, %[[O:[^:]*]]: !pol.bundle<{m: memref<3xf32>, t: tensor<f32>}>, %[[C:[^:]*]]: !pol.bundle
func.func @order_of_arguments(%i: i32, %n: index, %o: !pol.bundle<{m: memref<3xf32>, t: tensor<f32>}>, %c: !pol.bundle<{p: !pol.bundle<{a: tensor<1xf32>, b: tensor<2xf32>}>}>) {
  // CHECK-DAG: %[[M:.*]] = pol.get %[[O]], "m"
  // CHECK-DAG: %[[T:.*]] = pol.get %[[O]], "t"
  // CHECK-DAG: %[[P:.*]] = pol.get %[[C]], "p"
  // CHECK:     call @mixed(%[[T]], %[[I]], %[[P]], %[[N]], %[[M]])
  pol.call @mixed(%i, %n) outputs(%o) checkpoints(%c) : (i32, index), !pol.bundle<{m: memref<3xf32>, t: tensor<f32>}>, !pol.bundle<{p: !pol.bundle<{a: tensor<1xf32>, b: tensor<2xf32>}>}>
  return
}

// -----

// A description may ask other kernels, in any order of the text.
func.func private @outer(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
pol.description for @outer(%x: tensor<?xf32>) {
  %b = pol.scratch @inner(%x) : (tensor<?xf32>) -> !pol.bundle<{t: !pol.undef<?xf32>}>
  %t = pol.get %b, "t" : !pol.bundle<{t: !pol.undef<?xf32>}>
  %n = pol.dim %t, 0 : !pol.undef<?xf32>
  %u = pol.undef [%n] : !pol.undef<?xf32>
  pol.describe outputs {y(1) = %t : !pol.undef<?xf32>}
               scratch {t(2) = %u : !pol.undef<?xf32>}
}
func.func private @inner(tensor<?xf32>, tensor<?xf32>)
pol.description for @inner(%x: tensor<?xf32>) {
  %b = pol.outputs "pol.rms_norm"(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  %y = pol.get %b, "y" : !pol.bundle<{y: !pol.undef<?xf32>}>
  pol.describe scratch {t(1) = %y : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @description_that_asks(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>)
func.func @description_that_asks(%x: tensor<?xf32>) -> !pol.bundle<{t: !pol.undef<?xf32>}> {
  // CHECK: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK: %[[Y:.*]] = pol.undef[%[[N]]] : !pol.undef<?xf32>
  // CHECK: %[[B:.*]] = pol.bundle {y = %[[Y]]
  // CHECK: %[[GY:.*]] = pol.get %[[B]], "y"
  // CHECK: %[[I:.*]] = pol.bundle {t = %[[GY]]
  // CHECK: %[[T:.*]] = pol.get %[[I]], "t"
  // CHECK: %[[D:.*]] = pol.dim %[[T]], 0
  // CHECK: %[[U:.*]] = pol.undef[%[[D]]]
  // CHECK: %[[R:.*]] = pol.bundle {t = %[[U]]
  // CHECK: return %[[R]]
  %0 = pol.scratch @outer(%x) : (tensor<?xf32>) -> !pol.bundle<{t: !pol.undef<?xf32>}>
  return %0 : !pol.bundle<{t: !pol.undef<?xf32>}>
}

// -----

// Kernels of a dialect that pol does not know: an attribute, a region or the
// presence of an operand decides what is described.

// CHECK-LABEL: func.func @attribute_decides(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>)
func.func @attribute_decides(%x: tensor<?x?xf32>) -> !pol.bundle<{tile: !pol.undef<4x?xf32>, counts: !pol.undef<?xindex>}> {
  // CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[X]], %c0
  // CHECK-DAG: %[[COLUMNS:.*]] = tensor.dim %[[X]], %c1
  // CHECK:     %[[BLOCKS:.*]] = arith.ceildivui %[[ROWS]], %c4
  // CHECK-DAG: %[[T:.*]] = pol.undef[%[[COLUMNS]]] : !pol.undef<4x?xf32>
  // CHECK-DAG: %[[C:.*]] = pol.undef[%[[BLOCKS]]] : !pol.undef<?xindex>
  // CHECK:     pol.bundle {tile = %[[T]] : !pol.undef<4x?xf32>, counts = %[[C]] : !pol.undef<?xindex>}
  %0 = pol.scratch "test_pol.tiled"(%x) {block = 4 : i64} : (tensor<?x?xf32>) -> !pol.bundle<{tile: !pol.undef<4x?xf32>, counts: !pol.undef<?xindex>}>
  return %0 : !pol.bundle<{tile: !pol.undef<4x?xf32>, counts: !pol.undef<?xindex>}>
}

// CHECK-LABEL: func.func @region_decides(
func.func @region_decides(%x: memref<8xf32>) -> !pol.bundle<{lanes: !pol.undef<3x8xf32>, trace: !pol.undef<2xf32>}> {
  // CHECK-DAG: pol.undef : !pol.undef<3x8xf32>
  // CHECK-DAG: pol.undef : !pol.undef<2xf32>
  %0 = pol.scratch "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.mulf %s, %c : f32
    test_pol.fold_yield %t : f32
  }) : (memref<8xf32>) -> !pol.bundle<{lanes: !pol.undef<3x8xf32>, trace: !pol.undef<2xf32>}>
  return %0 : !pol.bundle<{lanes: !pol.undef<3x8xf32>, trace: !pol.undef<2xf32>}>
}

// CHECK-LABEL: func.func @presence_decides(
func.func @presence_decides(%x: tensor<?xf32>, %g: tensor<2xf16>) -> !pol.bundle<{gain_copy: !pol.undef<2xf16>}> {
  // CHECK: pol.bundle {gain_copy = %{{.*}} : !pol.undef<2xf16>}
  %0 = pol.scratch "test_pol.scale"(%x, none, %g) : (tensor<?xf32>, tensor<2xf16>) -> !pol.bundle<{gain_copy: !pol.undef<2xf16>}>
  return %0 : !pol.bundle<{gain_copy: !pol.undef<2xf16>}>
}

// The kernel is built with all that it was asked with.
// CHECK-LABEL: func.func @build_with_region(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[O:[^:]*]]: !pol.bundle<{y: memref<8xf32>}>, %[[S:[^:]*]]: !pol.bundle
func.func @build_with_region(%x: memref<8xf32>, %o: !pol.bundle<{y: memref<8xf32>}>, %s: !pol.bundle<{lanes: memref<1x8xf32>, trace: memref<0xf32>}>) {
  // CHECK-DAG: %[[Y:.*]] = pol.get %[[O]], "y"
  // CHECK-DAG: %[[L:.*]] = pol.get %[[S]], "lanes"
  // CHECK-DAG: %[[T:.*]] = pol.get %[[S]], "trace"
  // CHECK:     test_pol.fold_rows ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>) scratch(%[[L]], %[[T]] :
  // CHECK:     ^bb0(%[[A:.*]]: f32):
  // CHECK:       test_pol.fold_yield %[[A]]
  pol.call "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32):
    test_pol.fold_yield %a : f32
  }) outputs(%o) scratch(%s) : (memref<8xf32>), !pol.bundle<{y: memref<8xf32>}>, !pol.bundle<{lanes: memref<1x8xf32>, trace: memref<0xf32>}>
  return
}

// CHECK-LABEL: func.func @build_with_absent_operand(
func.func @build_with_absent_operand(%x: tensor<?xf32>, %b: tensor<3xf32>, %o: !pol.bundle<{y: tensor<?xf32>}>, %s: !pol.bundle<{bias_copy: tensor<3xf32>}>) -> tensor<?xf32> {
  // CHECK: test_pol.scale x(%{{.*}} : tensor<?xf32>) bias(%{{.*}} : tensor<3xf32>) outs(%{{.*}} : tensor<?xf32>) bias_copy(%{{.*}} : tensor<3xf32>) -> tensor<?xf32>
  %0 = pol.call "test_pol.scale"(%x, %b) outputs(%o) scratch(%s) : (tensor<?xf32>, tensor<3xf32>), !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{bias_copy: tensor<3xf32>}> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @build_rms_norm(
func.func @build_rms_norm(%x: tensor<?xf32>, %o: !pol.bundle<{y: tensor<?xf32>}>) -> tensor<?xf32> {
  // CHECK: pol.rms_norm ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>) {eps = 0.000000e+00 : f64} -> tensor<?xf32>
  %0 = pol.call "pol.rms_norm"(%x, none) {eps = 0.0 : f64} outputs(%o) : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Modules nest; each has descriptions of its own.
// CHECK-LABEL: module @inner
// CHECK-NOT:     pol.description
// CHECK:         pol.undef : !pol.undef<4xf32>
// CHECK-LABEL: module @empty
module @inner {
  func.func private @k(i32, tensor<4xf32>)
  pol.description for @k(%i: i32) {
    %u = pol.undef : !pol.undef<4xf32>
    pol.describe outputs {y(1) = %u : !pol.undef<4xf32>}
  }
  func.func @f(%i: i32) -> !pol.bundle<{y: !pol.undef<4xf32>}> {
    %0 = pol.outputs @k(%i) : (i32) -> !pol.bundle<{y: !pol.undef<4xf32>}>
    return %0 : !pol.bundle<{y: !pol.undef<4xf32>}>
  }
}
module @empty {
}
