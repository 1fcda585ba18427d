// RUN: pol-opt %s --split-input-file \
// RUN:   --pol-print-tile-classes="tile-queries=64 queries=100 first-query=64" \
// RUN:   -o /dev/null 2>&1 | FileCheck %s
// RUN: pol-opt %s --split-input-file \
// RUN:   --pol-print-tile-classes="queries=100 counts-only=true batch=1 head=1" \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS

// Queries from 0, since input_pos is constant; the last tiles are ragged.
// CHECK-LABEL: pol.attention in @causal, batch 0, head 0
// CHECK-NEXT: {{^}}+...{{$}}
// CHECK-NEXT: {{^}}#+..{{$}}
// CHECK-NEXT: {{^}}##+.{{$}}
// CHECK-NEXT: {{^}}###+{{$}}
// CHECK-NEXT: tiles: 4 x 4 of 64 x 64; visited 10 (62.5%), full 6, partial 4
// COUNTS: pol.attention in @causal, batch 1, head 1
// COUNTS-NEXT: tiles: 4 x 4 of 64 x 64; visited 10 (62.5%), full 6, partial 4
func.func @causal(%q: tensor<1x1x200x8xf32>, %k: tensor<1x1x250x8xf32>,
                  %o: tensor<1x1x200x8xf32>) -> tensor<1x1x200x8xf32> {
  %zero = arith.constant 0 : index
  %0 = pol.attention
      ins(%q, %k, %k, input_pos = %zero : tensor<1x1x200x8xf32>,
          tensor<1x1x250x8xf32>, tensor<1x1x250x8xf32>, index)
      outs(%o : tensor<1x1x200x8xf32>)
      mask(%b, %h, %i, %j) {
        %kept = arith.cmpi sle, %j, %i : index
        pol.yield %kept : i1
      } -> tensor<1x1x200x8xf32>
  return %0 : tensor<1x1x200x8xf32>
}

// -----

// Ids that are constant are looked at; a length that is not may be anything.
// The queries' number and first position are those of the options.
// CHECK-LABEL: pol.attention in @captures, batch 0, head 0
// CHECK-NEXT: {{^}}.{{$}}
// CHECK-NEXT: {{^}}?{{$}}
// CHECK-NEXT: tiles: 2 x 1 of 64 x 64; visited 1 (50.0%), full 0, partial 0, unknown 1: they depend on captures that are not constant
func.func @captures(%q: tensor<2x2x?x8xf32>, %k: tensor<2x2x3x8xf32>,
                    %o: tensor<2x2x?x8xf32>, %length: index)
    -> tensor<2x2x?x8xf32> {
  %ids = arith.constant dense<[4, 4, 4]> : tensor<3xi32>
  %0 = pol.attention
      ins(%q, %k, %k : tensor<2x2x?x8xf32>, tensor<2x2x3x8xf32>,
          tensor<2x2x3x8xf32>)
      captures(%ids, %length : tensor<3xi32>, index)
      outs(%o : tensor<2x2x?x8xf32>)
      mask(%b, %h, %i, %j, %d, %n) {
        %id = tensor.extract %d[%j] : tensor<3xi32>
        %block = arith.constant 128 : index
        %at = arith.divsi %i, %block : index
        %zero = arith.constant 0 : index
        %four = arith.constant 4 : i32
        %is_four = arith.cmpi eq, %id, %four : i32
        %is_late = arith.cmpi sgt, %at, %zero : index
        %is_long = arith.cmpi slt, %i, %n : index
        %some = arith.andi %is_four, %is_late : i1
        %kept = arith.andi %some, %is_long : i1
        pol.yield %kept : i1
      } -> tensor<2x2x?x8xf32>
  return %0 : tensor<2x2x?x8xf32>
}

// -----

// No mask, and no keys.
// CHECK-LABEL: pol.attention in @no_mask
// CHECK-NEXT: {{^}}#{{$}}
// CHECK-NEXT: tiles: 1 x 1 of 64 x 64; visited 1 (100.0%), full 1, partial 0
// CHECK-LABEL: pol.attention in @no_mask
// CHECK-NEXT: {{^$}}
// CHECK-NEXT: tiles: 1 x 0 of 64 x 64; visited 0 (0.0%), full 0, partial 0
func.func @no_mask(%q: tensor<1x1x64x8xf32>, %k: tensor<1x1x0x8xf32>,
                   %o: tensor<1x1x64x8xf32>)
    -> (tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>) {
  %0 = pol.attention
      ins(%q, %q, %q : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>,
          tensor<1x1x64x8xf32>)
      outs(%o : tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32>
  %1 = pol.attention
      ins(%q, %k, %k : tensor<1x1x64x8xf32>, tensor<1x1x0x8xf32>,
          tensor<1x1x0x8xf32>)
      outs(%o : tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32>
  return %0, %1 : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
}
