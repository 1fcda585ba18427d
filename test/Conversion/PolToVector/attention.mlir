// RUN: pol-opt %s --pol-set-target --convert-pol-to-vector --canonicalize --cse \
// RUN:   --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-set-target=cpu=x86-64-v4 --convert-pol-to-vector \
// RUN:   --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=V4
// RUN: pol-opt %s --convert-pol-to-vector --split-input-file \
// RUN:   | FileCheck %s --check-prefix=REFERENCE

// Without a target, a workspace has been described for none, and is empty.

// REFERENCE-NOT: vector.fma

// Workers share blocks of queries. Products of queries and keys are summed in a
// register tile of 6 by 2 vectors, 4 by 4 of the widest ones; so are
// those of weights and values. Without a mask nothing is looked for.

// CHECK-LABEL: func.func @all(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[K:[a-z0-9]+]]: memref<1x2x?x64xf32>,
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<1x2x?x64xf32>, %[[W:[a-z0-9]+]]: memref<?x?xf32>)
// CHECK:         %[[WORKERS:.+]] = memref.dim %[[W]], %c0
// CHECK:         scf.parallel (%[[WORKER:.+]]) = (%c0) to (%[[WORKERS]])
// CHECK:           vector.load %[[Q]]
// CHECK:           vector.shuffle
// CHECK:           vector.store %{{.+}}, %[[W]][%[[WORKER]]
// CHECK-NOT:       scf.if
// CHECK:           %{{.+}}:12 = scf.for
// CHECK-NEXT:        arith
// CHECK-COUNT-12:    vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:        scf.yield
// CHECK-NOT:       scf.if
// CHECK:           %{{.+}}:2 = scf.for
// CHECK:             arith.bitcast %{{.+}} : vector<8xf32> to vector<8xi32>
// CHECK-NOT:       scf.if
// CHECK:           %{{.+}}:12 = scf.for
// CHECK-COUNT-12:    vector.fma %{{.+}} : vector<8xf32>
// CHECK-NEXT:        scf.yield
// CHECK-NOT:     scf.if
// CHECK-NOT:     pol.attention

// V4-LABEL: func.func @all(
// V4:         %{{.+}}:16 = scf.for
// V4-COUNT-16:  vector.fma %{{.+}} : vector<16xf32>
// V4-NEXT:      scf.yield
// V4:         %{{.+}}:16 = scf.for
// V4-COUNT-16:  vector.fma %{{.+}} : vector<16xf32>
// V4-NEXT:      scf.yield
func.func @all(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
               %o: memref<1x2x?x64xf32>, %w: memref<?x?xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
                    memref<1x2x?x64xf32>)
      outs(%o : memref<1x2x?x64xf32>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}

// -----

// The keys of a block of queries end where the mask says. A tile that is kept in
// part has its scores selected and its values looked through.

// CHECK-LABEL: func.func @causal(
// CHECK:         scf.parallel
// CHECK:           %[[IS_EMPTY:.+]] = arith.cmpi eq, %[[CLASS:.+]], %c0_i32
// CHECK:           %[[IS_PARTIAL:.+]] = arith.cmpi eq, %[[CLASS]], %c1_i32
// CHECK:           %{{.+}}:6 = scf.if %[[IS_EMPTY]]
// CHECK-COUNT-12:    vector.fma
// CHECK:             %{{.+}}:4 = scf.if %[[IS_PARTIAL]]
// CHECK:               vector.step : vector<8xindex>
// CHECK:               arith.select %{{.+}} : vector<8xi1>, vector<8xf32>
// CHECK:             %[[STRANGE:.+]] = scf.if %[[IS_PARTIAL]] -> (i1) {
// CHECK:             scf.if %[[STRANGE]] {
// CHECK:               arith.select %{{.+}} : vector<8xi1>, vector<8xf32>
// CHECK:             } else {
// CHECK-NOT:           vector.step
// CHECK:               %{{.+}}:12 = scf.for
func.func @causal(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
                  %o: memref<1x2x?x64xf32>, %w: memref<?x?xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
                    memref<1x2x?x64xf32>)
      outs(%o : memref<1x2x?x64xf32>)
      scratch(workspace = %w : memref<?x?xf32>)
      {causal = #pol.causal<top_left>}
  return
}

// -----

// Long heads are summed in blocks of columns, and f16 is read as it is and
// converted.

// CHECK-LABEL: func.func @long_heads(
// CHECK:         %{{.+}}:12 = scf.for
// CHECK:           %{{.+}}:12 = scf.for
// CHECK:             memref.load %{{.+}} : memref<1x1x?x?xf16>
// CHECK:             arith.extf %{{.+}} : f16 to f32
// CHECK:           arith.addf %{{.+}} : vector<8xf32>
func.func @long_heads(%q: memref<1x1x?x?xf16>, %o: memref<1x1x?x?xf16>,
                      %w: memref<?x?xf32>) {
  pol.attention ins(%q, %q, %q : memref<1x1x?x?xf16>, memref<1x1x?x?xf16>,
                    memref<1x1x?x?xf16>)
      outs(%o : memref<1x1x?x?xf16>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}

// -----

// Without a workspace there is nothing for workers to work in.

// CHECK-LABEL: func.func @no_workspace(
// CHECK-NOT:     vector
// CHECK:         return
func.func @no_workspace(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
                        %o: memref<1x2x?x64xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
                    memref<1x2x?x64xf32>)
      outs(%o : memref<1x2x?x64xf32>)
  return
}
