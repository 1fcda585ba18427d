// RUN: pol-opt %s | FileCheck %s
// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: pol-opt %s --emit-bytecode | pol-opt | FileCheck %s

// Asking kernels for their buffers, calling and applying them.

func.func private @softmax(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
pol.description for @softmax(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
               scratch {tmp(2) = %u : !pol.undef<?xf32>}
}

// CHECK-LABEL: func.func @of_function(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: tensor<?xf32>)
func.func @of_function(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: pol.outputs @softmax(%[[X]]) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  // GENERIC: "pol.outputs"(%{{.*}}) <{kernel = @softmax, operandSegmentSizes = array<i32: 1, 0>}>
  %spec = pol.outputs @softmax(%x) : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  // CHECK: %[[OUT:.*]] = pol.outputs @softmax(%[[X]]) in %[[ARENA]] : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
  // GENERIC: "pol.outputs"(%{{.*}}, %{{.*}}) <{kernel = @softmax, operandSegmentSizes = array<i32: 1, 1>}>
  %out = pol.outputs @softmax(%x) in %arena : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
  // CHECK: pol.scratch @softmax(%[[X]]) : (tensor<?xf32>) -> !pol.bundle<{tmp: !pol.undef<?xf32>}>
  %scratch = pol.scratch @softmax(%x) : (tensor<?xf32>) -> !pol.bundle<{tmp: !pol.undef<?xf32>}>
  %r = pol.frame on %arena : !pol.arena -> tensor<?xf32> {
  ^bb0(%frame: !pol.frame):
    // CHECK: %[[S:.*]] = pol.scratch @softmax(%[[X]]) in %{{.*}} : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
    %s = pol.scratch @softmax(%x) in %frame : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
    // CHECK: pol.call @softmax(%[[X]]) outputs(%[[OUT]]) scratch(%[[S]]) : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{tmp: tensor<?xf32>}> -> tensor<?xf32>
    // GENERIC: "pol.call"(%{{.*}}, %{{.*}}, %{{.*}}) <{kernel = @softmax, operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
    %0 = pol.call @softmax(%x) outputs(%out) scratch(%s) : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}>, !pol.bundle<{tmp: tensor<?xf32>}> -> tensor<?xf32>
    pol.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @apply(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: tensor<?xf32>, %[[MINE:.*]]: tensor<?xf32>)
func.func @apply(%arena: !pol.arena, %x: tensor<?xf32>, %mine: tensor<?xf32>) {
  // CHECK: pol.apply @softmax(%[[X]]) in %[[ARENA]] : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  %0 = pol.apply @softmax(%x) in %arena : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  // CHECK: pol.apply @softmax(%[[X]]) in %[[ARENA]] override {y = %[[MINE]] : tensor<?xf32>} attributes {note} : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  // GENERIC: "pol.apply"{{.*}} <{kernel = @softmax, operandSegmentSizes = array<i32: 1, 1, 1>, override_names = ["y"]}> {note}
  %1 = pol.apply @softmax(%x) in %arena override {y = %mine : tensor<?xf32>} attributes {note} : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  // CHECK: pol.apply "pol.rms_norm"(%[[X]], %[[X]]) {eps = 0.000000e+00 : f64} in %[[ARENA]] : (tensor<?xf32>, tensor<?xf32>), !pol.arena -> tensor<?xf32>, tensor<f32>
  %2:2 = pol.apply "pol.rms_norm"(%x, %x) {eps = 0.0 : f64} in %arena : (tensor<?xf32>, tensor<?xf32>), !pol.arena -> tensor<?xf32>, tensor<f32>
  return
}

// Operands that are absent go along, and so do attributes.
// CHECK-LABEL: func.func @of_op(
// CHECK-SAME:    %[[HEAP:.*]]: !pol.heap, %[[X:.*]]: tensor<4x?xf16>)
func.func @of_op(%heap: !pol.heap, %x: tensor<4x?xf16>) {
  // CHECK: %[[OUT:.*]] = pol.outputs "pol.rms_norm"(%[[X]], none) {eps = 0.000000e+00 : f64} in %[[HEAP]] : (tensor<4x?xf16>), !pol.heap -> !pol.bundle<{y: tensor<4x?xf16>}>
  // GENERIC: "pol.outputs"({{.*}}) <{kernel = #pol.kernel<"pol.rms_norm">, operandSegmentSizes = array<i32: 1, 1>, options = {eps = 0.000000e+00 : f64}, present = array<i1: true, false>}>
  %out = pol.outputs "pol.rms_norm"(%x, none) {eps = 0.0 : f64} in %heap : (tensor<4x?xf16>), !pol.heap -> !pol.bundle<{y: tensor<4x?xf16>}>
  // CHECK: %[[CHECKPOINTS:.*]] = pol.checkpoints "pol.rms_norm"(%[[X]]) in %[[HEAP]] attributes {note = "kept"} : (tensor<4x?xf16>), !pol.heap -> !pol.bundle<{rstd: tensor<4xf32>}>
  %checkpoints = pol.checkpoints "pol.rms_norm"(%x) in %heap attributes {note = "kept"} : (tensor<4x?xf16>), !pol.heap -> !pol.bundle<{rstd: tensor<4xf32>}>
  // CHECK: pol.call "pol.rms_norm"(%[[X]]) outputs(%[[OUT]]) checkpoints(%[[CHECKPOINTS]]) : (tensor<4x?xf16>), !pol.bundle<{y: tensor<4x?xf16>}>, !pol.bundle<{rstd: tensor<4xf32>}> -> tensor<4x?xf16>, tensor<4xf32>
  %0:2 = pol.call "pol.rms_norm"(%x) outputs(%out) checkpoints(%checkpoints) : (tensor<4x?xf16>), !pol.bundle<{y: tensor<4x?xf16>}>, !pol.bundle<{rstd: tensor<4xf32>}> -> tensor<4x?xf16>, tensor<4xf32>
  // Checkpoints of an op may be left out.
  // CHECK: pol.call "pol.rms_norm"(%[[X]]) outputs(%[[OUT]]) : (tensor<4x?xf16>), !pol.bundle<{y: tensor<4x?xf16>}> -> tensor<4x?xf16>
  %1 = pol.call "pol.rms_norm"(%x) outputs(%out) : (tensor<4x?xf16>), !pol.bundle<{y: tensor<4x?xf16>}> -> tensor<4x?xf16>
  // What is described may be known more exactly than the kernel says.
  // CHECK: pol.outputs "pol.rms_norm"(%[[X]]) : (tensor<4x?xf16>) -> !pol.bundle<{y: !pol.undef<?x8xf16>}>
  %refined = pol.outputs "pol.rms_norm"(%x) : (tensor<4x?xf16>) -> !pol.bundle<{y: !pol.undef<?x8xf16>}>
  return
}
