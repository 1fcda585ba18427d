// RUN: pol-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pol-print-tile-classes
// RUN: not pol-opt %s --split-input-file -o /dev/null \
// RUN:   --pol-print-tile-classes=tile-keys=0 2>&1 | FileCheck %s

// CHECK: error: expected option 'tile-keys' to be at least 1, but got 0

func.func @short_form(%q: tensor<1x1x64x8xf32>, %o: tensor<1x1x64x8xf32>)
    -> tensor<1x1x64x8xf32> {
  // expected-error @+1 {{'pol.attention' op expected no short forms of a mask, which --pol-expand-attention-forms expands, but got 'causal'}}
  %0 = pol.attention
      ins(%q, %q, %q : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>,
          tensor<1x1x64x8xf32>)
      outs(%o : tensor<1x1x64x8xf32>)
      {causal = #pol.causal<top_left>} -> tensor<1x1x64x8xf32>
  return %0 : tensor<1x1x64x8xf32>
}

// -----

func.func @dynamic(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x4x8xf32>,
                   %o: tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32> {
  // expected-error @+1 {{'pol.attention' op expected option 'queries', but got none, and a dynamic extent}}
  %0 = pol.attention
      ins(%q, %k, %k : tensor<1x1x?x8xf32>, tensor<1x1x4x8xf32>,
          tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  return %0 : tensor<1x1x?x8xf32>
}
