// REQUIRES: pol-run
// RUN: %python %S/Inputs/calls.py %s pol-run | FileCheck %s

// What pol.attention checks at run time of packed sequences, and what
// pol.attention_grad checks of captures, their gradients and scratch.

// ARGS: packed x=1x2x6x8xf32 q_lengths=4xi32=const:3 k_lengths=4xi64=const:6 o=1x2x6x8xf32
// CALL: packed
// CHECK:      {{^.*}} -> exit 0
// CALL: packed q_lengths=4xi32=const:7
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of q_lengths of kernel 'pol.attention' to be at most 6, but got 7, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: packed k_lengths=4xi64=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention' to be at least 0, but got -1, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: packed q_lengths=4xi32=random:1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the {{.*}} of q_lengths of kernel 'pol.attention' to be at {{.*}}, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: packed k_lengths=5xi64=const:6
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k_lengths of kernel 'pol.attention' to be 4, but got 5, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: packed x=2x2x6x8xf32 o=2x2x6x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of q of kernel 'pol.attention' to be 1, but got 2, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// Without sequences there is nothing to attend to.
// CALL: packed q_lengths=0xi32 k_lengths=0xi64
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: packed q_lengths=1xi32=const:2 k_lengths=1xi64=const:3
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: packed q_lengths=4xi32=const:9 k_lengths=4xi64=const:-9 --no-checks
// Kernels that are trusted to have offsets within bounds keep to the bounds.
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @packed(%x: memref<?x?x?x?xf32>, %q_lengths: memref<?xi32>,
    %k_lengths: memref<?xi64>, %o: memref<?x?x?x?xf32>) {
  pol.attention ins(%x, %x, %x, q_lengths = %q_lengths, %k_lengths :
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?xi32>, memref<?xi64>)
      outs(%o : memref<?x?x?x?xf32>) {causal = #pol.causal<bottom_right>, packed}
  return
}

// ARGS: captures x=1x2x70x8xf32 m=1x2x70xf32 table=2x9xf32 ids=70xi32=const:1 dtable=2x9xf32 delta=1x2x70xf32 sums=36xf32 tiles=1x2x2x3xi32
// CALL: captures
// CHECK:      {{^.*}} -> exit 0
// CALL: captures sums=37xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: captures sums=35xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of capture_sums of kernel 'pol.attention_grad' to be at least 36, but got 35, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: captures dtable=2x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of a gradient of captures of kernel 'pol.attention_grad' to be 9, but got 8, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
// CALL: captures tiles=1x2x2x2xi32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of tiles of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}attention-checks.mlir:[[#]]:3{{$}}
func.func @captures(%x: memref<?x?x?x?xf32>, %m: memref<?x?x?xf32>,
    %table: memref<?x?xf32>, %ids: memref<?xi32>, %dtable: memref<?x?xf32>,
    %delta: memref<?x?x?xf32>, %sums: memref<?xf32>,
    %tiles: memref<?x?x?x?xi32>) {
  pol.attention_grad ins(%x, %x, %x, %x, %x : memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>)
      checkpoints(%m, %m : memref<?x?x?xf32>, memref<?x?x?xf32>)
      captures(%table, %ids : memref<?x?xf32>, memref<?xi32>)
      dcaptures(0 = %dtable : memref<?x?xf32>)
      scratch(%delta, %sums, %tiles : memref<?x?x?xf32>, memref<?xf32>,
              memref<?x?x?x?xi32>)
      score(%s, %b, %h, %i, %j, %t, %d) {
        %c4 = arith.constant 4 : index
        %c9 = arith.constant 9 : index
        %0 = arith.subi %j, %i : index
        %1 = arith.addi %0, %c4 : index
        %2 = arith.remui %1, %c9 : index
        %3 = memref.load %t[%h, %2] : memref<?x?xf32>
        %4 = arith.addf %s, %3 : f32
        pol.yield %4 : f32
      }
      mask(%b, %h, %i, %j, %t, %d) {
        %0 = memref.load %d[%i] : memref<?xi32>
        %1 = memref.load %d[%j] : memref<?xi32>
        %2 = arith.cmpi eq, %0, %1 : i32
        pol.yield %2 : i1
      }
  return
}
