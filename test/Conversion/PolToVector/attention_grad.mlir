// RUN: pol-opt %s --pol-set-target --convert-pol-to-vector --canonicalize --cse \
// RUN:   --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-set-target=cpu=x86-64-v4 --convert-pol-to-vector \
// RUN:   --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=V4
// RUN: pol-opt %s --convert-pol-to-vector --split-input-file \
// RUN:   | FileCheck %s --check-prefix=REFERENCE

// Without a target, a workspace has been described for none, and is empty.

// REFERENCE-NOT: vector.fma

// Δ first, in a loop of its own. Then workers share items of work: heads of
// keys, or blocks of queries and parts of keys. Queries, and what comes for
// them, become lanes. Of a tile there are five products, in registers: scores
// and what weights get, dq, dv and dk; the last two have columns as lanes.

// CHECK-LABEL: func.func @all(
// CHECK-SAME:    %[[DELTA:[a-z0-9]+]]: memref<1x2x?xf32>, %[[DQ:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[DK:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[DV:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[W:[a-z0-9]+]]: memref<?x?xf32>)
// CHECK:         scf.parallel
// CHECK:           memref.store %{{.+}}, %[[DELTA]]
// CHECK:         %[[WORKERS:.+]] = memref.dim %[[W]], %c0
// CHECK:         scf.parallel (%[[WORKER:.+]]) = (%c0) to (%[[WORKERS]])
// CHECK:           scf.if %[[HAS_QUERIES:.+]] {
// CHECK:             memref.store %{{.+}}, %[[DQ]]
// CHECK:           scf.for %{{.+}} step %c288
// CHECK:             scf.if %[[HAS_KEYS:.+]] {
// CHECK:               vector.shuffle
// CHECK:               vector.store %{{.+}}, %[[W]][%[[WORKER]]
// CHECK:               scf.for %{{.+}} step %c72
// CHECK:                 %{{.+}}:12 = scf.for
// CHECK-COUNT-12:          vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:              scf.yield
// CHECK:                 %{{.+}}:12 = scf.for
// CHECK-COUNT-12:          vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:              scf.yield
// CHECK:                 arith.bitcast %{{.+}} : vector<8xf32> to vector<8xi32>
// CHECK:                 scf.if %[[HAS_QUERIES]] {
// CHECK:                   %{{.+}}:12 = scf.for
// CHECK-COUNT-12:            vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:                scf.yield
// CHECK:                 scf.if %[[HAS_KEYS]] {
// CHECK:                   %{{.+}}:12 = scf.for
// CHECK-COUNT-12:            vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:                scf.yield
// CHECK:                   %{{.+}}:12 = scf.for
// CHECK-COUNT-12:            vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:                scf.yield
// CHECK:               scf.if %[[HAS_QUERIES]] {
// CHECK:                 vector.store %{{.+}}, %[[DQ]]
// CHECK:             scf.if %[[HAS_KEYS]] {
// CHECK:               vector.store %{{.+}}, %[[DV]]
// CHECK:               vector.store %{{.+}}, %[[DK]]
// CHECK-NOT:     pol.attention_grad

// V4-LABEL:   func.func @all(
// V4-COUNT-3:   %{{.+}}:16 = scf.for
// V4-COUNT-2:   %{{.+}}:24 = scf.for
// V4-NOT:       %{{.+}}:{{16|24}} = scf.for
// V4:           return
func.func @all(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
               %m: memref<1x2x?xf32>, %delta: memref<1x2x?xf32>,
               %dq: memref<1x2x?x64xf32>, %dk: memref<1x2x?x64xf32>,
               %dv: memref<1x2x?x64xf32>, %w: memref<?x?xf32>) {
  pol.attention_grad
      ins(%q, %k, %k, %q, %q : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
          memref<1x2x?x64xf32>, memref<1x2x?x64xf32>, memref<1x2x?x64xf32>)
      checkpoints(%m, %m : memref<1x2x?xf32>, memref<1x2x?xf32>)
      outs(%dq, %dk, %dv : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
           memref<1x2x?x64xf32>)
      scratch(%delta, workspace = %w : memref<1x2x?xf32>, memref<?x?xf32>)
  return
}

// -----

// What is too narrow to be summed in is summed in the workspace, and written
// once. A tile that is kept in part has its weights selected, and is looked
// through for what is not finite.

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[DQ:[a-z0-9]+]]: memref<1x2x?x64xbf16>, %[[DK:[a-z0-9]+]]: memref<1x2x?x64xbf16>, %[[W:[a-z0-9]+]]: memref<?x?xf32>)
// CHECK-NOT:     %[[DQ]]
// CHECK:         scf.for %{{.+}} step %c72
// CHECK:           %[[IS_PARTIAL:.+]] = arith.cmpi eq, %{{.+}}, %c1_i32
// CHECK:           %[[STRANGE:.+]] = scf.if %[[IS_PARTIAL]] -> (i1) {
// CHECK:             vector.step : vector<8xindex>
// CHECK:             arith.cmpf ord
// CHECK:           } else {
// CHECK-NOT:         vector.step
// CHECK-NOT:         arith.cmpf ord
// CHECK:           scf.if %[[STRANGE]] {
// CHECK-NOT:         :12 = scf.for
// CHECK:           } else {
// CHECK:             %{{.+}}:12 = scf.for
// CHECK-NOT:     %[[DQ]]
// CHECK:         arith.truncf %{{.+}} : vector<8xf32> to vector<8xbf16>
// CHECK:         vector.store %{{.+}}, %[[DK]]
// CHECK:         vector.store %{{.+}}, %[[DQ]]
func.func @narrow(%q: memref<1x2x?x64xbf16>, %k: memref<1x2x?x64xbf16>,
               %m: memref<1x2x?xf32>, %delta: memref<1x2x?xf32>,
               %dq: memref<1x2x?x64xbf16>, %dk: memref<1x2x?x64xbf16>,
               %w: memref<?x?xf32>) {
  pol.attention_grad
      ins(%q, %k, %k, %q, %q : memref<1x2x?x64xbf16>, memref<1x2x?x64xbf16>,
          memref<1x2x?x64xbf16>, memref<1x2x?x64xbf16>, memref<1x2x?x64xbf16>)
      checkpoints(%m, %m : memref<1x2x?xf32>, memref<1x2x?xf32>)
      outs(%dq, %dk : memref<1x2x?x64xbf16>, memref<1x2x?x64xbf16>)
      scratch(%delta, workspace = %w : memref<1x2x?xf32>, memref<?x?xf32>)
      {causal = #pol.causal<top_left>}
  return
}

// -----

// dv alone takes weights, and no Δ: two products.

// V4-LABEL:   func.func @weights(
// V4:           %{{.+}}:16 = scf.for
// V4:           %{{.+}}:24 = scf.for
// V4-NOT:       %{{.+}}:{{16|24}} = scf.for
// V4:           return
func.func @weights(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
                   %m: memref<1x2x?xf32>, %dv: memref<1x2x?x64xf32>,
                   %w: memref<?x?xf32>) {
  pol.attention_grad
      ins(%q, %k, %k, %q, %q : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
          memref<1x2x?x64xf32>, memref<1x2x?x64xf32>, memref<1x2x?x64xf32>)
      checkpoints(%m, %m : memref<1x2x?xf32>, memref<1x2x?xf32>)
      outs(dv = %dv : memref<1x2x?x64xf32>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}
