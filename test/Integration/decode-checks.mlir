// REQUIRES: pol-run
// RUN: %python %S/Inputs/calls.py %s pol-run | FileCheck %s

// What pol.decode_attention checks at run time: for each of its two caches, what
// letters stand for, how many splits there are, lengths, and the entries of the
// block table that are in use.

// ARGS: contiguous q=2x4x3x8xf32 k=2x2x100x8xf32 v=2x2x100x6xf32 k_lengths=2xi64=const:99 o=2x4x3x6xf32 max=2x4x3xf32 sum=2x4x3xf32 partial_o=2x4x3x2x6xf32 partial_max=2x4x3x2xf32 partial_sum=2x4x3x2xf32
// CALL: contiguous
// CHECK:      {{^.*}} -> exit 0
// CALL: contiguous k_lengths=2xi64=const:100
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: contiguous k_lengths=2xi64=const:101
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.decode_attention' to be at most 100, but got 101, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k_lengths=2xi64=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.decode_attention' to be at least 0, but got -1, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k_lengths=2xi64=const:101 --no-checks
// Kernels that are trusted to have lengths within bounds keep to the bounds.
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: contiguous k=2x3x100x8xf32 v=2x3x100x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of q of kernel 'pol.decode_attention' to be a multiple of 3, but got 4, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k=3x2x100x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k of kernel 'pol.decode_attention' to be 2, but got 3, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous v=2x2x99x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of v of kernel 'pol.decode_attention' to be 100, but got 99, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous o=2x4x3x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of o of kernel 'pol.decode_attention' to be 6, but got 7, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// 100 keys are two splits; 1000 keys of 4 heads are 16, and 10000 are 40.
// CALL: contiguous partial_o=2x4x3x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_o of kernel 'pol.decode_attention' to be 2, but got 3, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous partial_max=2x4x3x1xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_max of kernel 'pol.decode_attention' to be 2, but got 1, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous partial_sum=2x4x2x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of partial_sum of kernel 'pol.decode_attention' to be 3, but got 2, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k=2x2x1000x8xf32 v=2x2x1000x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_o of kernel 'pol.decode_attention' to be 16, but got 2, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k=2x2x10000x8xf32 v=2x2x10000x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_o of kernel 'pol.decode_attention' to be 40, but got 2, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: contiguous k=2x2x0x8xf32 v=2x2x0x6xf32 k_lengths=2xi64=const:0
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_o of kernel 'pol.decode_attention' to be 1, but got 2, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
func.func @contiguous(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>,
    %v: memref<?x?x?x?xf32>, %k_lengths: memref<?xi64>,
    %o: memref<?x?x?x?xf32>, %max: memref<?x?x?xf32>, %sum: memref<?x?x?xf32>,
    %partial_o: memref<?x?x?x?x?xf32>, %partial_max: memref<?x?x?x?xf32>,
    %partial_sum: memref<?x?x?x?xf32>) {
  pol.decode_attention
      ins(%q, %k, %v, k_lengths = %k_lengths : memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?xi64>)
      outs(%o : memref<?x?x?x?xf32>)
      checkpoints(%max, %sum : memref<?x?x?xf32>, memref<?x?x?xf32>)
      scratch(%partial_o, %partial_max, %partial_sum : memref<?x?x?x?x?xf32>,
              memref<?x?x?x?xf32>, memref<?x?x?x?xf32>)
      {causal = #pol.causal<bottom_right>}
  return
}

// ARGS: paged q=2x4x1x8xf32 k=9x2x16x8xf32 v=9x2x16x6xf32 block_table=2x3xi32=const:8 k_lengths=2xi32=const:33 o=2x4x1x6xf32 partial_o=2x4x1x5x6xf32 partial_max=2x4x1x5xf32 partial_sum=2x4x1x5xf32
// CALL: paged
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged block_table=2x3xi32=const:9
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest entry of block_table in use of kernel 'pol.decode_attention' to be at most 8, but got 9, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged block_table=2x3xi32=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least entry of block_table in use of kernel 'pol.decode_attention' to be at least 0, but got -1, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// Entries of pages without keys may be anything.
// CALL: paged block_table=2x3xi32=const:-1 k_lengths=2xi32=const:0
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged block_table=2x3xi32=const:9 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged block_table=2x3xi32=const:-1 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged k_lengths=2xi32=const:48
// CHECK-NEXT: {{^.*}} -> exit 0
// Three pages of 16 keys have room for 48.
// CALL: paged k_lengths=2xi32=const:49
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.decode_attention' to be at most 48, but got 49, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged block_table=3x3xi32=const:8
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of block_table of kernel 'pol.decode_attention' to be 2, but got 3, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged v=8x2x16x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of v of kernel 'pol.decode_attention' to be 9, but got 8, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged v=9x2x15x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of v of kernel 'pol.decode_attention' to be 16, but got 15, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged partial_max=2x4x1x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of partial_max of kernel 'pol.decode_attention' to be 5, but got 6, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// Without pages there are no keys.
// CALL: paged k=0x2x16x8xf32 v=0x2x16x6xf32 k_lengths=2xi32=const:0
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged k=0x2x16x8xf32 v=0x2x16x6xf32 block_table=2x3xi32=const:0 k_lengths=2xi32=const:1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest entry of block_table in use of kernel 'pol.decode_attention' to be at most -1, but got 0, at {{.*}}decode-checks.mlir:[[#]]:3{{$}}
// CALL: paged k=0x2x16x8xf32 v=0x2x16x6xf32 block_table=2x3xi32=const:0 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: paged k=9x2x0x8xf32 v=9x2x0x6xf32 k_lengths=2xi32=const:0
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @paged(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>,
    %v: memref<?x?x?x?xf32>, %block_table: memref<?x?xi32>,
    %k_lengths: memref<?xi32>, %o: memref<?x?x?x?xf32>,
    %partial_o: memref<?x?x?x?x?xf32>, %partial_max: memref<?x?x?x?xf32>,
    %partial_sum: memref<?x?x?x?xf32>) {
  pol.decode_attention
      ins(%q, %k, %v, %block_table, %k_lengths : memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?xi32>,
          memref<?xi32>)
      outs(%o : memref<?x?x?x?xf32>)
      scratch(%partial_o, %partial_max, %partial_sum : memref<?x?x?x?x?xf32>,
              memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) {splits = 5 : i64}
  return
}
