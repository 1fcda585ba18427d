// RUN: pol-opt %s --pol-bufferize=strict --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// Scratch is written and read, and holds nothing in between: two kernels may
// have the same, and no copy is made for the second.

// CHECK-LABEL: func.func @scratch_again(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         pol.rms_norm_grad {{.*}} scratch(%[[S:.+]] : memref<1x8xf32>)
// CHECK:         pol.rms_norm_grad {{.*}} scratch(%[[S]] : memref<1x8xf32>)
func.func @scratch_again(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>,
                         %w: tensor<8xf32>, %r: tensor<4xf32>,
                         %a: tensor<8xf32>, %b: tensor<8xf32>,
                         %s: tensor<1x8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = pol.rms_norm_grad
      ins(%x, %dy, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(dweight = %a : tensor<8xf32>)
      scratch(%s : tensor<1x8xf32>) -> tensor<8xf32>
  %1 = pol.rms_norm_grad
      ins(%dy, %x, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(dweight = %b : tensor<8xf32>)
      scratch(%s : tensor<1x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What the scratch held before is lost: who reads it afterwards gets a copy.

func.func @scratch_read_later(%x: tensor<4x8xf32>, %w: tensor<8xf32>,
                              %r: tensor<4xf32>, %a: tensor<8xf32>,
                              %s: tensor<1x8xf32>)
    -> (tensor<8xf32>, tensor<1x8xf32>) {
  // expected-error @below {{because 'pol.rms_norm_grad' writes to a tensor that is read later}}
  %0 = pol.rms_norm_grad
      ins(%x, %x, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(dweight = %a : tensor<8xf32>)
      scratch(%s : tensor<1x8xf32>) -> tensor<8xf32>
  return %0, %s : tensor<8xf32>, tensor<1x8xf32>
}

// -----

// dx may be x or dy, and y may be x.

// CHECK-LABEL: func.func @in_place(
// CHECK-NOT:     memref.copy
// CHECK:         pol.layer_norm ins(%[[X:.+]] : {{.*}}) outs(%[[X]] :
// CHECK:         pol.softmax ins(%[[X]] : {{.*}}) outs(%[[X]] :
// CHECK:         pol.softmax_grad ins(%[[X]], %[[DY:.+]] : {{.*}}) outs(%[[DY]] :
// CHECK-NOT:     memref.copy
func.func @in_place(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>)
    -> tensor<4x8xf32> {
  %0 = pol.layer_norm ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  %1 = pol.softmax ins(%0 : tensor<4x8xf32>) outs(%0 : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  %2 = pol.softmax_grad ins(%1, %dy : tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%dy : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Attention reads all of a query for each of its outputs: o is never q.

func.func @not_in_place(%q: tensor<1x1x4x8xf32>, %k: tensor<1x1x4x8xf32>)
    -> tensor<1x1x4x8xf32> {
  // expected-error @below {{because 'pol.attention' writes to a tensor that is read later}}
  %0 = pol.attention
      ins(%q, %k, %k : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%q : tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  return %0 : tensor<1x1x4x8xf32>
}

// -----

// What is there for its type alone may be overwritten.

// CHECK-LABEL: func.func @unread(
// CHECK-NOT:     memref.copy
// CHECK:         pol.softmax_grad ins(%{{.+}}, %{{.+}}, %[[X:.+]] : {{.*}}) outs(%[[X]] :
func.func @unread(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pol.softmax_grad ins(%y, %y, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
