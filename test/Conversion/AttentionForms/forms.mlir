// RUN: pol-opt %s --pol-expand-attention-forms --split-input-file | FileCheck %s

// Causality and a window are comparisons of positions.

// CHECK-LABEL: func.func @causal(
// CHECK:         pol.attention ins(
// CHECK-SAME:      mask(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK:             %[[SEEN:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK:             %[[W:.+]] = arith.constant 3 : index
// CHECK:             %[[FIRST:.+]] = arith.subi %[[I]], %[[W]] : index
// CHECK:             %[[NEAR:.+]] = arith.cmpi sge, %[[J]], %[[FIRST]] : index
// CHECK:             %[[KEPT:.+]] = arith.andi %[[SEEN]], %[[NEAR]] : i1
// CHECK:             pol.yield %[[KEPT]] : i1
// CHECK-NEXT:      }{{$}}
func.func @causal(%x: memref<1x2x8x4xf32>, %o: memref<1x2x8x4xf32>) {
  pol.attention ins(%x, %x, %x : memref<1x2x8x4xf32>, memref<1x2x8x4xf32>,
                    memref<1x2x8x4xf32>) outs(%o : memref<1x2x8x4xf32>)
      {causal = #pol.causal<top_left>, window = 3 : i64}
  return
}

// -----

// What comes from operands is captured, and clamped where it is read.

// CHECK-LABEL: func.func @operands(
// CHECK-SAME:    %[[X:[^:]+]]: memref<1x2x?x4xf16>, %[[AT:[^:]+]]: index, %[[N:[^:]+]]: memref<1xi64>, %[[BIAS:[^:]+]]: memref<1x?x?x?xbf16>,
// CHECK:         %[[LEAST:.+]] = arith.maxsi %[[AT]], %{{.+}}
// CHECK:         %[[POSITION:.+]] = arith.minsi %[[LEAST]], %{{.+}}
// CHECK:         pol.attention ins(%[[X]], %[[X]], %[[X]], input_pos = %[[POSITION]] :
// CHECK-SAME:      captures(%[[POSITION]], %[[N]], %[[BIAS]] : index, memref<1xi64>, memref<1x?x?x?xbf16>)
// CHECK-SAME:      score(%[[S:.+]], %{{.+}}, %[[H:.+]], %[[I:.+]], %[[J:.+]], %[[SHIFT:.+]], %{{.+}}, %[[ARRAY:.+]]) {
// CHECK:             %[[RATIO:.+]] = arith.divf %[[S]], %[[CAP:.+]] : f32
// CHECK:             %[[TANH:.+]] = math.tanh %[[RATIO]]
// CHECK:             %[[CAPPED:.+]] = arith.mulf %[[CAP]], %[[TANH]]
// CHECK:             memref.dim %[[ARRAY]]
// CHECK:             %[[HEAD:.+]] = arith.minsi %[[H]], %{{.+}}
// CHECK:             %[[ROW:.+]] = arith.subi %[[I]], %{{.+}}
// CHECK:             %[[B:.+]] = memref.load %[[ARRAY]][%{{.+}}, %[[HEAD]], %[[ROW]], %[[J]]]
// CHECK:             %[[WIDE:.+]] = arith.extf %[[B]] : bf16 to f32
// CHECK:             arith.addf %[[CAPPED]], %[[WIDE]]
// CHECK:           } mask(%[[B2:.+]], %{{.+}}, %[[I2:.+]], %[[J2:.+]], %{{.+}}, %[[LENGTHS:.+]], %{{.+}}) {
// CHECK:             arith.cmpi sle, %[[J2]], %[[I2]]
// CHECK:             memref.load %[[LENGTHS]][%[[B2]]]
// CHECK:             arith.cmpi slt, %[[J2]], %{{.+}}
func.func @operands(%x: memref<1x2x?x4xf16>, %at: index, %n: memref<1xi64>,
                    %bias: memref<1x?x?x?xbf16>, %o: memref<1x2x?x4xf16>) {
  pol.attention ins(%x, %x, %x, %bias, %at, k_lengths = %n :
          memref<1x2x?x4xf16>, memref<1x2x?x4xf16>, memref<1x2x?x4xf16>,
          memref<1x?x?x?xbf16>, index, memref<1xi64>)
      outs(%o : memref<1x2x?x4xf16>)
      {causal = #pol.causal<input_pos>, softcap = 30.0 : f64}
  return
}

// -----

// The cap comes before what a region does, a bias after it, and its gradient is
// that of a capture. A mask and causality both hold.

// CHECK-LABEL: func.func @beside_regions(
// CHECK-SAME:    %[[X:[^:]+]]: memref<1x1x4x4xf32>, %[[M:[^:]+]]: memref<1x1x4xf32>, %[[C:[^:]+]]: memref<4xf32>, %[[BIAS:[^:]+]]: memref<1x1x4x4xf32>, %[[DBIAS:[^:]+]]: memref<1x1x4x4xf32>,
// CHECK:         captures(%[[C]], %[[BIAS]] : memref<4xf32>, memref<1x1x4x4xf32>)
// CHECK-SAME:    dcaptures(1 = %[[DBIAS]] : memref<1x1x4x4xf32>)
// CHECK-SAME:    score(%[[S:.+]], %{{.+}}, %{{.+}}, %[[I:.+]], %{{.+}}, %[[ARRAY:.+]], %{{.+}}) {
// CHECK:           arith.divf %[[S]]
// CHECK:           %[[CAPPED:.+]] = arith.mulf
// CHECK:           %[[OWN:.+]] = memref.load %[[ARRAY]][%[[I]]]
// CHECK:           %[[SUM:.+]] = arith.addf %[[CAPPED]], %[[OWN]]
// CHECK:           arith.addf %[[SUM]], %{{.+}}
// CHECK:         } mask(
// CHECK:           %[[OWN:.+]] = arith.cmpi ne
// CHECK:           %[[SEEN:.+]] = arith.cmpi sle
// CHECK:           arith.andi %[[OWN]], %[[SEEN]]
func.func @beside_regions(%x: memref<1x1x4x4xf32>, %m: memref<1x1x4xf32>,
                          %c: memref<4xf32>, %bias: memref<1x1x4x4xf32>,
                          %dbias: memref<1x1x4x4xf32>,
                          %delta: memref<1x1x4xf32>) {
  pol.attention_grad ins(%x, %x, %x, %x, %x, %bias : memref<1x1x4x4xf32>,
          memref<1x1x4x4xf32>, memref<1x1x4x4xf32>, memref<1x1x4x4xf32>,
          memref<1x1x4x4xf32>, memref<1x1x4x4xf32>)
      checkpoints(%m, %m : memref<1x1x4xf32>, memref<1x1x4xf32>)
      captures(%c : memref<4xf32>) outs(dbias = %dbias : memref<1x1x4x4xf32>)
      scratch(%delta : memref<1x1x4xf32>)
      score(%s, %b, %h, %i, %j, %a) {
        %0 = memref.load %a[%i] : memref<4xf32>
        %1 = arith.addf %s, %0 : f32
        pol.yield %1 : f32
      }
      mask(%b, %h, %i, %j, %a) {
        %0 = arith.cmpi ne, %i, %j : index
        pol.yield %0 : i1
      } {causal = #pol.causal<top_left>, softcap = 2.0 : f64}
  return
}

// -----

// Of packed sequences, each is aligned by itself.

// CHECK-LABEL: func.func @packed(
// CHECK-SAME:    %[[X:[^:]+]]: memref<1x2x?x4xf32>, %[[Q:[^:]+]]: memref<4xi32>, %[[K:[^:]+]]: memref<4xi32>,
// CHECK:         pol.attention ins(%[[X]], %[[X]], %[[X]], q_lengths = %[[Q]], %[[K]] :
// CHECK-SAME:      captures(%[[Q]], %[[K]] : memref<4xi32>, memref<4xi32>)
// CHECK-SAME:      mask(%[[N:.+]], %{{.+}}, %[[I:.+]], %[[J:.+]], %[[ROWS:.+]], %[[KEYS:.+]]) {
// CHECK-COUNT-2:     memref.load %[[KEYS]]
// CHECK-COUNT-2:     memref.load %[[ROWS]]
// CHECK:             %[[LAST:.+]] = arith.addi %[[I]], %{{.+}}
// CHECK:             arith.cmpi sle, %[[J]], %[[LAST]]
// CHECK:           } {packed}
func.func @packed(%x: memref<1x2x?x4xf32>, %q: memref<4xi32>, %k: memref<4xi32>,
                  %o: memref<1x2x?x4xf32>) {
  pol.attention ins(%x, %x, %x, q_lengths = %q, %k : memref<1x2x?x4xf32>,
          memref<1x2x?x4xf32>, memref<1x2x?x4xf32>, memref<4xi32>,
          memref<4xi32>) outs(%o : memref<1x2x?x4xf32>)
      {causal = #pol.causal<bottom_right>, packed}
  return
}
