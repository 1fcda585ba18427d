// RUN: pol-test-opt %s --pol-expand-apply --split-input-file | FileCheck %s

// An apply in terms of the other verbs: outputs from the space, then the frame.

func.func private @softmax(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
pol.description for @softmax(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
               scratch {tmp(2) = %u : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @outputs_then_frame(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: tensor<?xf32>)
func.func @outputs_then_frame(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[D:.*]] = pol.outputs @softmax(%[[X]]) : (tensor<?xf32>)
  // CHECK-NEXT: %[[Y:.*]] = pol.alloc %[[ARENA]], %[[D]] {kernel = "softmax", role = #pol.role<output>}
  // CHECK-SAME:     -> !pol.bundle<{y: tensor<?xf32>}>
  // CHECK-NEXT: %[[R:.*]] = pol.frame on %[[ARENA]] : !pol.arena -> tensor<?xf32> {
  // CHECK-NEXT: ^bb0(%[[F:.*]]: !pol.frame):
  // CHECK-NEXT:   %[[S:.*]] = pol.scratch @softmax(%[[X]]) in %[[F]] : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
  // CHECK-NEXT:   %[[C:.*]] = pol.call @softmax(%[[X]]) outputs(%[[Y]]) scratch(%[[S]])
  // CHECK-NEXT:   pol.yield %[[C]]
  // CHECK:      return %[[R]]
  %0 = pol.apply @softmax(%x) in %arena : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An overridden output is not allocated: its entry in the bundle is a buffer.
// CHECK-LABEL: func.func @override(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: tensor<?xf32>, %[[MINE:.*]]: tensor<?xf32>)
func.func @override(%arena: !pol.arena, %x: tensor<?xf32>, %mine: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[D:.*]] = pol.outputs @softmax
  // CHECK-NEXT: %[[O:.*]] = pol.bundle {y = %[[MINE]] : tensor<?xf32>}
  // CHECK-NEXT: %[[M:.*]] = pol.merge %[[D]], %[[O]]
  // CHECK-NEXT: %[[Y:.*]] = pol.alloc %[[ARENA]], %[[M]]
  // CHECK-SAME:     : !pol.arena, !pol.bundle<{y: tensor<?xf32>}> -> !pol.bundle<{y: tensor<?xf32>}>
  // CHECK:      pol.call @softmax(%[[X]]) outputs(%[[Y]])
  %0 = pol.apply @softmax(%x) in %arena override {y = %mine : tensor<?xf32>} : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Without scratch there is no frame; a function's checkpoints are always
// written.
func.func private @two(tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
pol.description for @two(%x: tensor<4xf32>) {
  %u = pol.undef like %x : tensor<4xf32>
  %s = pol.undef : !pol.undef<f32>
  pol.describe outputs {y(1) = %u : !pol.undef<4xf32>}
               checkpoints {m(2) = %s : !pol.undef<f32>}
}

// CHECK-LABEL: func.func @no_scratch(
// CHECK-SAME:    %[[HEAP:.*]]: !pol.heap, %[[X:.*]]: tensor<4xf32>)
func.func @no_scratch(%heap: !pol.heap, %x: tensor<4xf32>) -> tensor<f32> {
  // CHECK:      %[[Y:.*]] = pol.alloc %[[HEAP]]
  // CHECK-NEXT: %[[M:.*]] = pol.checkpoints @two(%[[X]]) in %[[HEAP]]
  // CHECK-NEXT: %[[R:.*]]:2 = pol.call @two(%[[X]]) outputs(%[[Y]]) checkpoints(%[[M]])
  // CHECK-NEXT: return %[[R]]#1
  %0:2 = pol.apply @two(%x) in %heap : (tensor<4xf32>), !pol.heap -> tensor<4xf32>, tensor<f32>
  return %0#1 : tensor<f32>
}

// -----

// The results say whether an op's checkpoints are wanted.
// CHECK-LABEL: func.func @op_with_checkpoints(
func.func @op_with_checkpoints(%arena: !pol.arena, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>) {
  // CHECK:      pol.outputs "test_pol.tiled"(%{{.*}}) {block = 4 : i64}
  // CHECK:      %[[C:.*]] = pol.checkpoints "test_pol.tiled"(%{{.*}}) {block = 4 : i64} in
  // CHECK:      pol.scratch "test_pol.tiled"(%{{.*}}) {block = 4 : i64} in
  // CHECK-SAME:     -> !pol.bundle<{tile: tensor<4x8xf32>, counts: tensor<?xindex>}>
  // CHECK:      pol.call "test_pol.tiled"(%{{.*}}) {block = 4 : i64} outputs(%{{.*}}) checkpoints(%[[C]])
  %0:2 = pol.apply "test_pol.tiled"(%x) {block = 4 : i64} in %arena : (tensor<?x8xf32>), !pol.arena -> tensor<?x8xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x8xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @op_without_checkpoints(
func.func @op_without_checkpoints(%arena: !pol.arena, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NOT: checkpoints
  // CHECK:     pol.call "test_pol.tiled"
  // CHECK-NOT: checkpoints
  // CHECK:     return
  %0 = pol.apply "test_pol.tiled"(%x) {block = 4 : i64} in %arena : (tensor<?x8xf32>), !pol.arena -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Regions go along to all that are asked.
// CHECK-LABEL: func.func @op_with_region(
func.func @op_with_region(%pool: !test_pol.pool, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: pol.outputs "test_pol.fold_rows"(%{{.*}}) regions({
  // CHECK:   arith.addf
  // CHECK: pol.scratch "test_pol.fold_rows"(%{{.*}}) regions({
  // CHECK:   arith.addf
  // CHECK: -> !pol.bundle<{lanes: tensor<2x?xf32>, trace: tensor<1xf32>}>
  // CHECK: pol.call "test_pol.fold_rows"(%{{.*}}) regions({
  // CHECK:   arith.addf
  %0 = pol.apply "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    test_pol.fold_yield %s : f32
  }) in %pool : (tensor<?xf32>), !test_pol.pool -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @op_with_absent_operand(
func.func @op_with_absent_operand(%arena: !pol.arena, %x: tensor<?xf32>, %g: tensor<2xf16>) -> tensor<?xf32> {
  // CHECK: pol.scratch "test_pol.scale"(%{{.*}}, none, %{{.*}}) in
  // CHECK-SAME: -> !pol.bundle<{gain_copy: tensor<2xf16>}>
  // CHECK: pol.call "test_pol.scale"(%{{.*}}, none, %{{.*}})
  %0 = pol.apply "test_pol.scale"(%x, none, %g) in %arena : (tensor<?xf32>, tensor<2xf16>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The memory space of the space is the encoding of the tensors.
// CHECK-LABEL: func.func @memory_space(
func.func @memory_space(%arena: !pol.arena<1>, %x: tensor<4xf32>) -> tensor<4xf32, 1 : i64> {
  // CHECK: pol.alloc %{{.*}} -> !pol.bundle<{y: tensor<4xf32, 1 : i64>}>
  %0 = pol.apply "test_pol.scale"(%x) in %arena : (tensor<4xf32>), !pol.arena<1> -> tensor<4xf32, 1 : i64>
  return %0 : tensor<4xf32, 1 : i64>
}
