// RUN: pol-opt %s --canonicalize --split-input-file | FileCheck %s

// What nobody uses is not computed: the gradient goes with its destination and
// the scratch that is for it alone.

// CHECK-LABEL: func.func @gradient(
// CHECK:         %[[DX:.+]] = pol.rms_norm_grad ins({{.*}}) checkpoints({{.*}}) outs(%{{.+}} : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    return %[[DX]]
func.func @gradient(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>,
                    %p: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %dx, %dw = pol.rms_norm_grad
      ins(%x, %x, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%r : tensor<4xf32>)
      outs(%x, %w : tensor<4x8xf32>, tensor<8xf32>)
      scratch(%p : tensor<1x8xf32>) -> tensor<4x8xf32>, tensor<8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

// Delta stays as long as one of the gradients that need it does.

// CHECK-LABEL: func.func @delta(
// CHECK:         pol.attention_grad {{.*}} outs(dk = %{{.+}} : {{.*}}) scratch(%{{.+}} : tensor<1x1x4xf32>)
// CHECK:         pol.attention_grad {{.*}} outs(dv = %{{.+}} : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
func.func @delta(%q: tensor<1x1x4x4xf32>, %m: tensor<1x1x4xf32>)
    -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %dq, %dk, %dv = pol.attention_grad
      ins(%q, %q, %q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
          tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
      checkpoints(%m, %m : tensor<1x1x4xf32>, tensor<1x1x4xf32>)
      outs(%q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
           tensor<1x1x4x4xf32>) scratch(%m : tensor<1x1x4xf32>)
      -> tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
  %dq2, %dk2, %dv2 = pol.attention_grad
      ins(%q, %q, %q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
          tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
      checkpoints(%m, %m : tensor<1x1x4xf32>, tensor<1x1x4xf32>)
      outs(%q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
           tensor<1x1x4x4xf32>) scratch(%m : tensor<1x1x4xf32>)
      -> tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
  return %dk, %dv2 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Checkpoints are kept or dropped together; an output always stays.

// CHECK-LABEL: func.func @checkpoints(
// CHECK:         pol.layer_norm {{.*}} outs(%{{.+}} : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:         pol.layer_norm {{.*}} checkpoints(%{{.+}}, %{{.+}} : tensor<4xf32>, tensor<4xf32>)
func.func @checkpoints(%x: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %y:3 = pol.layer_norm ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      checkpoints(%r, %r : tensor<4xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  %z:3 = pol.layer_norm ins(%y#0 : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      checkpoints(%r, %r : tensor<4xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return %y#0, %z#2 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// An operand that is not read is dropped, unless its shadow is what it is for.

// CHECK-LABEL: func.func @unread(
// CHECK:         pol.softmax_grad ins(%{{.+}}, %{{.+}} : tensor<4xf32>, tensor<4xf32>) outs
// CHECK:         pol.softmax_grad ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4xf32>, tensor<4xf32>, !pol.duplicated<tensor<4xf32>>) outs
func.func @unread(%y: tensor<4xf32>, %x: tensor<4xf32>,
                  %d: !pol.duplicated<tensor<4xf32>>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = pol.softmax_grad ins(%y, %y, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %s = pol.shadow %d : !pol.duplicated<tensor<4xf32>>
  %1 = pol.softmax_grad
      ins(%y, %y, %d : tensor<4xf32>, tensor<4xf32>, !pol.duplicated<tensor<4xf32>>)
      outs(%s : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// On memory everything stays that is written.

// CHECK-LABEL: func.func @memory(
// CHECK:         pol.rms_norm_grad {{.*}} outs(%{{.+}}, %{{.+}} : memref<4x8xf32>, memref<8xf32>) scratch(
func.func @memory(%x: memref<4x8xf32>, %w: memref<8xf32>, %r: memref<4xf32>,
                  %dw: memref<8xf32>, %p: memref<1x8xf32>) {
  pol.rms_norm_grad
      ins(%x, %x, %w : memref<4x8xf32>, memref<4x8xf32>, memref<8xf32>)
      checkpoints(%r : memref<4xf32>)
      outs(%x, %dw : memref<4x8xf32>, memref<8xf32>)
      scratch(%p : memref<1x8xf32>)
  return
}
