// RUN: pol-opt %s --split-input-file | pol-opt --split-input-file | FileCheck %s
// RUN: pol-opt %s --split-input-file --mlir-print-op-generic \
// RUN:   | pol-opt --split-input-file | FileCheck %s

// Optional operands are written by position as long as none before them is
// missing, and by name behind a gap.

// CHECK-LABEL: func.func @norms(
func.func @norms(%x: tensor<?x8xf32>, %w: tensor<8xbf16>, %b: tensor<8xf32>,
                 %r: tensor<?xf32>) {
  // CHECK: pol.rms_norm ins(%{{.+}}, %{{.+}} : tensor<?x8xf32>, tensor<8xbf16>) outs(%{{.+}} : tensor<?x8xf32>) checkpoints(%{{.+}} : tensor<?xf32>) {offset = 1.000000e+00 : f64} -> tensor<?x8xf32>, tensor<?xf32>
  %0:2 = pol.rms_norm ins(%x, %w : tensor<?x8xf32>, tensor<8xbf16>)
      outs(%x : tensor<?x8xf32>) checkpoints(%r : tensor<?xf32>)
      {eps = 1.0e-5 : f64, offset = 1.0 : f64} -> tensor<?x8xf32>, tensor<?xf32>
  // CHECK: pol.layer_norm ins(%{{.+}}, bias = %{{.+}} : tensor<?x8xf32>, tensor<8xf32>) outs(%{{.+}} : tensor<?x8xf32>) {eps = 0.000000e+00 : f64} -> tensor<?x8xf32>
  %1 = pol.layer_norm ins(%x, bias = %b : tensor<?x8xf32>, tensor<8xf32>)
      outs(%x : tensor<?x8xf32>) {eps = 0.0 : f64} -> tensor<?x8xf32>
  // CHECK: pol.layer_norm ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<?x8xf32>, tensor<8xbf16>, tensor<8xf32>)
  // CHECK-SAME: checkpoints(%{{.+}}, %{{.+}} : tensor<?xf32>, tensor<?xf32>)
  // CHECK-NOT: eps
  %2:3 = pol.layer_norm
      ins(%x, weight = %w, %b : tensor<?x8xf32>, tensor<8xbf16>, tensor<8xf32>)
      outs(%x : tensor<?x8xf32>)
      checkpoints(%r, %r : tensor<?xf32>, tensor<?xf32>)
      -> tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>
  // CHECK: pol.softmax ins(%{{.+}} : tensor<?x8xf32>) outs(%{{.+}} : tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = pol.softmax ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>)
      -> tensor<?x8xf32>
  return
}

// -----

// The clauses of a backward op come in another order, as its checkpoints are
// read; it may have no destination at all.

// CHECK-LABEL: func.func @norm_gradients(
func.func @norm_gradients(%x: memref<4x8xf16>, %w: memref<8xf32>,
                          %dw: memref<8xf32>,
                          %r: memref<4xf32>, %p: memref<1x8xf32>) {
  // CHECK: pol.rms_norm_grad ins(%{{.+}}, %{{.+}}, %{{.+}} : memref<4x8xf16>, memref<4x8xf16>, memref<8xf32>) checkpoints(%{{.+}} : memref<4xf32>) outs(%{{.+}}, %{{.+}} : memref<4x8xf16>, memref<8xf32>) scratch(%{{.+}} : memref<1x8xf32>){{$}}
  pol.rms_norm_grad ins(%x, %x, %w : memref<4x8xf16>, memref<4x8xf16>, memref<8xf32>)
      checkpoints(%r : memref<4xf32>)
      outs(dx = %x, %dw : memref<4x8xf16>, memref<8xf32>)
      scratch(%p : memref<1x8xf32>)
  // CHECK: pol.rms_norm_grad ins(%{{.+}}, %{{.+}} : memref<4x8xf16>, memref<4x8xf16>) checkpoints(%{{.+}} : memref<4xf32>){{$}}
  pol.rms_norm_grad ins(%x, %x : memref<4x8xf16>, memref<4x8xf16>)
      checkpoints(%r : memref<4xf32>) {offset = 0.0 : f64}
  // CHECK: pol.layer_norm_grad ins(%{{.+}}, %{{.+}} : memref<4x8xf16>, memref<4x8xf16>) checkpoints(%{{.+}}, %{{.+}} : memref<4xf32>, memref<4xf32>) outs(dbias = %{{.+}} : memref<8xf32>) scratch(dbias_partials = %{{.+}} : memref<1x8xf32>){{$}}
  pol.layer_norm_grad ins(%x, %x : memref<4x8xf16>, memref<4x8xf16>)
      checkpoints(%r, %r : memref<4xf32>, memref<4xf32>)
      outs(dbias = %w : memref<8xf32>)
      scratch(dbias_partials = %p : memref<1x8xf32>)
  // CHECK: pol.softmax_grad ins(%{{.+}}, %{{.+}} : memref<4x8xf16>, memref<4x8xf16>) outs(%{{.+}} : memref<4x8xf16>){{$}}
  pol.softmax_grad ins(%x, %x : memref<4x8xf16>, memref<4x8xf16>)
      outs(%x : memref<4x8xf16>)
  return
}

// -----

!q = tensor<2x6x5x8xbf16>
!k = tensor<2x3x7x8xbf16>
!row = tensor<2x6x5xf32>

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: !q, %k: !k, %bias: tensor<1x?x5x7xf32>,
                     %n: tensor<2xi64>, %pos: index, %row: !row) {
  // CHECK: pol.attention ins(%{{.+}}, %{{.+}}, %{{.+}}, input_pos = %{{.+}}, k_lengths = %{{.+}} : tensor<2x6x5x8xbf16>, tensor<2x3x7x8xbf16>, tensor<2x3x7x8xbf16>, index, tensor<2xi64>) outs(%{{.+}} : tensor<2x6x5x8xbf16>) {causal = #pol.causal<input_pos>, scale = 1.250000e-01 : f64, softcap = 3.000000e+01 : f64, window = 4 : i64} -> tensor<2x6x5x8xbf16>
  %0 = pol.attention
      ins(%q, %k, %k, input_pos = %pos, k_lengths = %n : !q, !k, !k, index, tensor<2xi64>)
      outs(%q : !q) {causal = #pol.causal<input_pos>, scale = 0.125 : f64,
                     softcap = 30.0 : f64, window = 4 : i64} -> !q
  // CHECK: pol.attention ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, q_lengths = %{{.+}} : {{.*}}) outs({{.*}}) checkpoints(%{{.+}}, %{{.+}} : tensor<2x6x5xf32>, tensor<2x6x5xf32>) {causal = #pol.causal<bottom_right>}
  %1:3 = pol.attention
      ins(%q, %k, %k, %bias, q_lengths = %n : !q, !k, !k, tensor<1x?x5x7xf32>, tensor<2xi64>)
      outs(%q : !q) checkpoints(%row, %row : !row, !row)
      {causal = #pol.causal<bottom_right>} -> !q, !row, !row
  // CHECK: pol.attention_grad ins({{.*}}) checkpoints(%{{.+}}, %{{.+}} : {{.*}}) outs(dk = %{{.+}}, dbias = %{{.+}} : tensor<2x3x7x8xbf16>, tensor<1x?x5x7xf32>) scratch(%{{.+}} : tensor<2x6x5xf32>) -> tensor<2x3x7x8xbf16>, tensor<1x?x5x7xf32>
  %2:2 = pol.attention_grad
      ins(%q, %k, %k, %q, %q, %bias : !q, !k, !k, !q, !q, tensor<1x?x5x7xf32>)
      checkpoints(%row, %row : !row, !row)
      outs(dk = %k, dbias = %bias : !k, tensor<1x?x5x7xf32>)
      scratch(%row : !row) -> !k, tensor<1x?x5x7xf32>
  return
}

// -----

// Where there is a block table, keys and values are pools of pages; how many
// splits there are follows from shapes unless it is said.

!q = tensor<4x8x1x64xf16>
!cache = tensor<4x2x1000x64xf16>
!pool = tensor<?x2x16x64xf16>
!row = tensor<4x8x1xf32>

// CHECK-LABEL: func.func @decode_attention(
func.func @decode_attention(%q: !q, %k: !cache, %pool: !pool, %n: tensor<4xi64>,
    %t: tensor<4x?xi32>, %row: !row, %o8: tensor<4x8x1x8x64xf32>,
    %m8: tensor<4x8x1x8xf32>, %o3: tensor<4x8x1x3x64xf32>,
    %m3: tensor<4x8x1x3xf32>) {
  // CHECK: pol.decode_attention ins(%{{.+}}, %{{.+}}, %{{.+}}, k_lengths = %{{.+}} : tensor<4x8x1x64xf16>, tensor<4x2x1000x64xf16>, tensor<4x2x1000x64xf16>, tensor<4xi64>) outs(%{{.+}} : tensor<4x8x1x64xf16>) scratch(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4x8x1x8x64xf32>, tensor<4x8x1x8xf32>, tensor<4x8x1x8xf32>) -> tensor<4x8x1x64xf16>
  %0 = pol.decode_attention
      ins(%q, %k, %k, k_lengths = %n : !q, !cache, !cache, tensor<4xi64>)
      outs(%q : !q)
      scratch(%o8, %m8, %m8 : tensor<4x8x1x8x64xf32>, tensor<4x8x1x8xf32>,
              tensor<4x8x1x8xf32>) -> !q
  // CHECK: pol.decode_attention ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : tensor<4x8x1x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>, tensor<4x?xi32>, tensor<4xi64>) outs(%{{.+}} : tensor<4x8x1x64xf16>) checkpoints(%{{.+}}, %{{.+}} : tensor<4x8x1xf32>, tensor<4x8x1xf32>) scratch({{.*}}) {causal = #pol.causal<bottom_right>, scale = 1.250000e-01 : f64, softcap = 3.000000e+01 : f64, splits = 3 : i64, window = 4 : i64} -> tensor<4x8x1x64xf16>, tensor<4x8x1xf32>, tensor<4x8x1xf32>
  %1:3 = pol.decode_attention
      ins(%q, %pool, %pool, %t, %n : !q, !pool, !pool, tensor<4x?xi32>,
          tensor<4xi64>)
      outs(%q : !q) checkpoints(%row, %row : !row, !row)
      scratch(%o3, %m3, %m3 : tensor<4x8x1x3x64xf32>, tensor<4x8x1x3xf32>,
              tensor<4x8x1x3xf32>)
      {causal = #pol.causal<bottom_right>, scale = 0.125 : f64,
       softcap = 30.0 : f64, splits = 3 : i64, window = 4 : i64}
      -> !q, !row, !row
  return
}

// -----

// A duplicated operand has a gradient.

// CHECK-LABEL: func.func @duplicated(
func.func @duplicated(%x: !pol.duplicated<tensor<4x8xbf16>, tensor<4x8xf32>>,
                      %y: !pol.duplicated<tensor<4x8xbf16>>,
                      %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %shadow = pol.shadow %x : !pol.duplicated<tensor<4x8xbf16>, tensor<4x8xf32>>
  // CHECK: pol.rms_norm_grad ins(%{{.+}}, %{{.+}} : !pol.duplicated<tensor<4x8xbf16>, tensor<4x8xf32>>, !pol.duplicated<tensor<4x8xbf16>>)
  %dx = pol.rms_norm_grad
      ins(%x, %y : !pol.duplicated<tensor<4x8xbf16>, tensor<4x8xf32>>,
          !pol.duplicated<tensor<4x8xbf16>>)
      checkpoints(%r : tensor<4xf32>) outs(%shadow : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}
