// REQUIRES: pol-run
// RUN: %python %S/Inputs/calls.py %s pol-run | FileCheck %s

// What types leave open is compared at run time: a wrong call for each letter
// and each relation of each kernel's signature. Every message names the operand,
// what was expected, and what there is.

// ARGS: rms_norm x=2x3x64xf32 weight=64xf32 y=2x3x64xf32 rstd=2x3xf32
// CALL: rms_norm
// CHECK:      {{^.*}} -> exit 0
// CALL: rms_norm weight=63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.rms_norm' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm y=1x3x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of y of kernel 'pol.rms_norm' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm y=2x4x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of y of kernel 'pol.rms_norm' to be 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm y=2x3x65xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of y of kernel 'pol.rms_norm' to be 64, but got 65, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm rstd=3x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of rstd of kernel 'pol.rms_norm' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm rstd=2x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of rstd of kernel 'pol.rms_norm' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm x=0x3x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of y of kernel 'pol.rms_norm' to be 0, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm x=2x3x0xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.rms_norm' to be 0, but got 64, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// Unless the caller vouches for them.
// CALL: rms_norm weight=65xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @rms_norm(%x: memref<?x?x?xf32>, %weight: memref<?xf32>,
    %y: memref<?x?x?xf32>, %rstd: memref<?x?xf32>) {
  pol.rms_norm
      ins(%x, %weight : memref<?x?x?xf32>, memref<?xf32>)
      outs(%y : memref<?x?x?xf32>)
      checkpoints(%rstd : memref<?x?xf32>)
  return
}

// ARGS: rms_norm_grad x=70x64xf32 dy=70x64xf32 weight=64xf32 rstd=70xf32 dx=70x64xf32 dweight=64xf32 dweight_partials=2x64xf32
// CALL: rms_norm_grad
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: rms_norm_grad dy=69x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dy of kernel 'pol.rms_norm_grad' to be 70, but got 69, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dy=70x65xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dy of kernel 'pol.rms_norm_grad' to be 64, but got 65, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad weight=1xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.rms_norm_grad' to be 64, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad rstd=71xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of rstd of kernel 'pol.rms_norm_grad' to be 70, but got 71, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dx=64x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dx of kernel 'pol.rms_norm_grad' to be 70, but got 64, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dx=70x70xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dx of kernel 'pol.rms_norm_grad' to be 64, but got 70, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dweight=65xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight of kernel 'pol.rms_norm_grad' to be 64, but got 65, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// 70 rows are two blocks; 64 are one.
// CALL: rms_norm_grad dweight_partials=1x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight_partials of kernel 'pol.rms_norm_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dweight_partials=3x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight_partials of kernel 'pol.rms_norm_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dweight_partials=2x63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dweight_partials of kernel 'pol.rms_norm_grad' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad x=64x64xf32 dy=64x64xf32 rstd=64xf32 dx=64x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight_partials of kernel 'pol.rms_norm_grad' to be 1, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad x=0x64xf32 dy=0x64xf32 rstd=0xf32 dx=0x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight_partials of kernel 'pol.rms_norm_grad' to be 0, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: rms_norm_grad dweight_partials=3x64xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @rms_norm_grad(%x: memref<?x?xf32>, %dy: memref<?x?xf32>,
    %weight: memref<?xf32>, %rstd: memref<?xf32>, %dx: memref<?x?xf32>,
    %dweight: memref<?xf32>, %dweight_partials: memref<?x?xf32>) {
  pol.rms_norm_grad
      ins(%x, %dy, %weight : memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>)
      checkpoints(%rstd : memref<?xf32>)
      outs(%dx, %dweight : memref<?x?xf32>, memref<?xf32>)
      scratch(%dweight_partials : memref<?x?xf32>)
  return
}

// ARGS: layer_norm x=5x64xf32 weight=64xf32 bias=64xf32 y=5x64xf32 mean=5xf32 rstd=5xf32
// CALL: layer_norm
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: layer_norm weight=32xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.layer_norm' to be 64, but got 32, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm bias=63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of bias of kernel 'pol.layer_norm' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm y=6x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of y of kernel 'pol.layer_norm' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm y=5x63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of y of kernel 'pol.layer_norm' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm mean=1xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of mean of kernel 'pol.layer_norm' to be 5, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm rstd=4xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of rstd of kernel 'pol.layer_norm' to be 5, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// x is what others are compared with.
// CALL: layer_norm x=5x65xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.layer_norm' to be 65, but got 64, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm bias=128xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @layer_norm(%x: memref<?x?xf32>, %weight: memref<?xf32>,
    %bias: memref<?xf32>, %y: memref<?x?xf32>, %mean: memref<?xf32>,
    %rstd: memref<?xf32>) {
  pol.layer_norm
      ins(%x, %weight, %bias : memref<?x?xf32>, memref<?xf32>, memref<?xf32>)
      outs(%y : memref<?x?xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
  return
}

// ARGS: layer_norm_grad x=70x64xf32 dy=70x64xf32 weight=64xf32 bias=64xf32 mean=70xf32 rstd=70xf32 dx=70x64xf32 dweight=64xf32 dbias=64xf32 dweight_partials=2x64xf32 dbias_partials=2x64xf32
// CALL: layer_norm_grad
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: layer_norm_grad dy=71x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dy of kernel 'pol.layer_norm_grad' to be 70, but got 71, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dy=70x63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dy of kernel 'pol.layer_norm_grad' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad weight=63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.layer_norm_grad' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// An operand that is not read, and not duplicated, is not compared.
// CALL: layer_norm_grad bias=63xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: layer_norm_grad mean=69xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of mean of kernel 'pol.layer_norm_grad' to be 70, but got 69, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad rstd=0xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of rstd of kernel 'pol.layer_norm_grad' to be 70, but got 0, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dx=71x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dx of kernel 'pol.layer_norm_grad' to be 70, but got 71, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dx=70x1xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dx of kernel 'pol.layer_norm_grad' to be 64, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dweight=63xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight of kernel 'pol.layer_norm_grad' to be 64, but got 63, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dbias=66xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dbias of kernel 'pol.layer_norm_grad' to be 64, but got 66, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dweight_partials=4x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dweight_partials of kernel 'pol.layer_norm_grad' to be 2, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dweight_partials=2x65xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dweight_partials of kernel 'pol.layer_norm_grad' to be 64, but got 65, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dbias_partials=1x64xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dbias_partials of kernel 'pol.layer_norm_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dbias_partials=2x62xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dbias_partials of kernel 'pol.layer_norm_grad' to be 64, but got 62, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: layer_norm_grad dbias_partials=3x64xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @layer_norm_grad(%x: memref<?x?xf32>, %dy: memref<?x?xf32>,
    %weight: memref<?xf32>, %bias: memref<?xf32>, %mean: memref<?xf32>,
    %rstd: memref<?xf32>, %dx: memref<?x?xf32>, %dweight: memref<?xf32>,
    %dbias: memref<?xf32>, %dweight_partials: memref<?x?xf32>,
    %dbias_partials: memref<?x?xf32>) {
  pol.layer_norm_grad
      ins(%x, %dy, %weight, %bias : memref<?x?xf32>, memref<?x?xf32>,
          memref<?xf32>, memref<?xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
      outs(%dx, %dweight, %dbias : memref<?x?xf32>, memref<?xf32>,
          memref<?xf32>)
      scratch(%dweight_partials, %dbias_partials : memref<?x?xf32>,
          memref<?x?xf32>)
  return
}

// ARGS: softmax x=2x3x4x8xf32 y=2x3x4x8xf32
// CALL: softmax
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: softmax y=1x3x4x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of y of kernel 'pol.softmax' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax y=2x4x4x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of y of kernel 'pol.softmax' to be 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax y=2x3x0x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of y of kernel 'pol.softmax' to be 4, but got 0, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax y=2x3x4x9xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of y of kernel 'pol.softmax' to be 8, but got 9, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax y=2x3x4x9xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @softmax(%x: memref<?x?x?x?xf32>, %y: memref<?x?x?x?xf32>) {
  pol.softmax
      ins(%x : memref<?x?x?x?xf32>)
      outs(%y : memref<?x?x?x?xf32>)
  return
}

// ARGS: softmax_grad y=5x8xf32 dy=5x8xf32 x=5x8xf32 dx=5x8xf32
// CALL: softmax_grad
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: softmax_grad dy=6x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dy of kernel 'pol.softmax_grad' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax_grad dy=5x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dy of kernel 'pol.softmax_grad' to be 8, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax_grad x=6x8xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: softmax_grad x=5x7xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: softmax_grad dx=6x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dx of kernel 'pol.softmax_grad' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax_grad dx=5x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dx of kernel 'pol.softmax_grad' to be 8, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: softmax_grad dx=5x9xf32 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @softmax_grad(%y: memref<?x?xf32>, %dy: memref<?x?xf32>,
    %x: memref<?x?xf32>, %dx: memref<?x?xf32>) {
  pol.softmax_grad
      ins(%y, %dy, %x : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      outs(%dx : memref<?x?xf32>)
  return
}

// ARGS: attention q=2x4x3x8xf32 k=2x2x5x8xf32 v=2x2x5x6xf32 bias=2x4x3x5xf32 input_pos=i64=1 q_lengths=2xi32=const:3 k_lengths=2xi64=const:5 o=2x4x3x6xf32 max=2x4x3xf32 sum=2x4x3xf32
// CALL: attention
// CHECK-NEXT: {{^.*}} -> exit 0
// Heads that do not share keys evenly.
// CALL: attention k=2x3x5x8xf32 v=2x3x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of q of kernel 'pol.attention' to be a multiple of 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k=2x8x5x8xf32 v=2x8x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of q of kernel 'pol.attention' to be a multiple of 8, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k=2x0x5x8xf32 v=2x0x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of q of kernel 'pol.attention' to be a multiple of 0, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k=1x2x5x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k=2x2x5x9xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of k of kernel 'pol.attention' to be 8, but got 9, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention v=1x2x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of v of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention v=2x3x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of v of kernel 'pol.attention' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention v=2x2x4x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of v of kernel 'pol.attention' to be 5, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention o=1x4x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of o of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention o=2x5x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of o of kernel 'pol.attention' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention o=2x4x2x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of o of kernel 'pol.attention' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention o=2x4x3x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of o of kernel 'pol.attention' to be 6, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention max=1x4x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of max of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention max=2x5x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of max of kernel 'pol.attention' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention max=2x4x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of max of kernel 'pol.attention' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention sum=1x4x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of sum of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention sum=2x5x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of sum of kernel 'pol.attention' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention sum=2x4x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of sum of kernel 'pol.attention' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// k decides how many heads and keys there are.
// CALL: attention k=2x4x5x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of v of kernel 'pol.attention' to be 4, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k=2x2x4x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of v of kernel 'pol.attention' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// A bias is broadcast from an extent of 1, and only in batch and head.
// CALL: attention bias=1x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention bias=2x1x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention bias=1x1x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention bias=3x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of bias of kernel 'pol.attention' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention bias=0x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of bias of kernel 'pol.attention' to be 2, but got 0, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention bias=2x2x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of bias of kernel 'pol.attention' to be 4, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention bias=1x3x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of bias of kernel 'pol.attention' to be 4, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention bias=2x4x1x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of bias of kernel 'pol.attention' to be 3, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention bias=2x4x3x1xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of bias of kernel 'pol.attention' to be 5, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention q_lengths=2xi32=const:4
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of q_lengths of kernel 'pol.attention' to be at most 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k_lengths=2xi64=const:6
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention' to be at most 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention q_lengths=2xi32=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of q_lengths of kernel 'pol.attention' to be at least 0, but got -1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k_lengths=2xi64=const:-7
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention' to be at least 0, but got -7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention q_lengths=3xi32=const:3
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of q_lengths of kernel 'pol.attention' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k_lengths=1xi64=const:5
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k_lengths of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// 0 is a length, of i64 no more than of i32 only its lower half, and any
// position is one.
// CALL: attention q_lengths=2xi32=zeros k_lengths=2xi64=zeros
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention k_lengths=2xi64=const:4294967296
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention' to be at most 5, but got 4294967296, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention k_lengths=2xi64=const:-4294967295
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention' to be at least 0, but got -4294967295, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention q_lengths=2xi32=const:-2147483648
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of q_lengths of kernel 'pol.attention' to be at least 0, but got -2147483648, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention input_pos=i64=-9223372036854775808
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention input_pos=i64=9223372036854775807
// CHECK-NEXT: {{^.*}} -> exit 0
// One wrong length is enough: iota is 0, 1, 2, ...
// CALL: attention q=8x1x3x8xf32 k=8x1x7x8xf32 v=8x1x7x6xf32 bias=1x1x3x7xf32 o=8x1x3x6xf32 max=8x1x3xf32 sum=8x1x3xf32 q_lengths=8xi32=zeros k_lengths=8xi64=iota
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention q=8x1x3x8xf32 k=8x1x6x8xf32 v=8x1x6x6xf32 bias=1x1x3x6xf32 o=8x1x3x6xf32 max=8x1x3xf32 sum=8x1x3xf32 q_lengths=8xi32=zeros k_lengths=8xi64=iota
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention' to be at most 6, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// Kernels that are trusted to have lengths within bounds keep to the bounds.
// CALL: attention q_lengths=2xi32=const:4 k_lengths=2xi64=const:-1 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @attention(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>,
    %v: memref<?x?x?x?xf32>, %bias: memref<?x?x?x?xf32>, %input_pos: index,
    %q_lengths: memref<?xi32>, %k_lengths: memref<?xi64>,
    %o: memref<?x?x?x?xf32>, %max: memref<?x?x?xf32>, %sum: memref<?x?x?xf32>) {
  pol.attention
      ins(%q, %k, %v, %bias, %input_pos, %q_lengths, %k_lengths :
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, index, memref<?xi32>, memref<?xi64>)
      outs(%o : memref<?x?x?x?xf32>)
      checkpoints(%max, %sum : memref<?x?x?xf32>, memref<?x?x?xf32>) {causal = #pol.causal<input_pos>}
  return
}

// ARGS: attention_of_other_lengths q=2x4x3x8xf32 k=2x2x5x8xf32 v=2x2x5x6xf32 bias=2x4x3x5xf32 input_pos=i64=1 q_lengths=2xi64=const:3 k_lengths=2xi32=const:5 o=2x4x3x6xf32 max=2x4x3xf32 sum=2x4x3xf32
// CALL: attention_of_other_lengths
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention_of_other_lengths q_lengths=2xi64=const:4
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of q_lengths of kernel 'pol.attention' to be at most 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_of_other_lengths k_lengths=2xi32=const:6
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention' to be at most 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_of_other_lengths q_lengths=2xi64=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of q_lengths of kernel 'pol.attention' to be at least 0, but got -1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_of_other_lengths k_lengths=2xi32=const:-7
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention' to be at least 0, but got -7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_of_other_lengths q_lengths=3xi64=const:3
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of q_lengths of kernel 'pol.attention' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_of_other_lengths k_lengths=1xi32=const:5
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k_lengths of kernel 'pol.attention' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
func.func @attention_of_other_lengths(%q: memref<?x?x?x?xf32>,
    %k: memref<?x?x?x?xf32>, %v: memref<?x?x?x?xf32>,
    %bias: memref<?x?x?x?xf32>, %input_pos: index, %q_lengths: memref<?xi64>,
    %k_lengths: memref<?xi32>, %o: memref<?x?x?x?xf32>,
    %max: memref<?x?x?xf32>, %sum: memref<?x?x?xf32>) {
  pol.attention
      ins(%q, %k, %v, %bias, %input_pos, %q_lengths, %k_lengths :
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, index, memref<?xi64>, memref<?xi32>)
      outs(%o : memref<?x?x?x?xf32>)
      checkpoints(%max, %sum : memref<?x?x?xf32>, memref<?x?x?xf32>) {causal = #pol.causal<input_pos>}
  return
}

// ARGS: attention_grad q=2x4x3x8xf32 k=2x2x5x8xf32 v=2x2x5x6xf32 o=2x4x3x6xf32 dout=2x4x3x6xf32 bias=2x4x3x5xf32 input_pos=i64=1 q_lengths=2xi64=const:3 k_lengths=2xi32=const:5 max=2x4x3xf32 sum=2x4x3xf32 dq=2x4x3x8xf32 dk=2x2x5x8xf32 dv=2x2x5x6xf32 dbias=2x4x3x5xf32 delta=2x4x3xf32
// CALL: attention_grad
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention_grad k=2x3x5x8xf32 v=2x3x5x6xf32 dk=2x3x5x8xf32 dv=2x3x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of q of kernel 'pol.attention_grad' to be a multiple of 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad k=1x2x5x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad k=2x2x5x9xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of k of kernel 'pol.attention_grad' to be 8, but got 9, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad v=1x2x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of v of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad v=2x3x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of v of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad v=2x2x4x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of v of kernel 'pol.attention_grad' to be 5, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad o=1x4x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of o of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad o=2x5x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of o of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad o=2x4x2x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of o of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad o=2x4x3x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of o of kernel 'pol.attention_grad' to be 6, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dout=1x4x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dout of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dout=2x5x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dout of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dout=2x4x2x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of dout of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dout=2x4x3x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of dout of kernel 'pol.attention_grad' to be 6, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad max=1x4x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of max of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad max=2x5x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of max of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad max=2x4x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of max of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad sum=1x4x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of sum of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad sum=2x5x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of sum of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad sum=2x4x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of sum of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dq=1x4x3x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dq of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dq=2x5x3x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dq of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dq=2x4x2x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of dq of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dq=2x4x3x9xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of dq of kernel 'pol.attention_grad' to be 8, but got 9, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad delta=1x4x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of delta of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad delta=2x5x3xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of delta of kernel 'pol.attention_grad' to be 4, but got 5, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad delta=2x4x2xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of delta of kernel 'pol.attention_grad' to be 3, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dk=3x2x5x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dk of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dk=2x3x5x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dk of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dk=2x2x6x8xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of dk of kernel 'pol.attention_grad' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dk=2x2x5x9xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of dk of kernel 'pol.attention_grad' to be 8, but got 9, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dv=3x2x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dv of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dv=2x3x5x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dv of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dv=2x2x6x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of dv of kernel 'pol.attention_grad' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dv=2x2x5x7xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of dv of kernel 'pol.attention_grad' to be 6, but got 7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// The gradient of a bias has its shape: it is not broadcast by itself.
// CALL: attention_grad bias=1x4x3x5xf32 dbias=1x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention_grad bias=2x1x3x5xf32 dbias=2x1x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention_grad bias=3x4x3x5xf32 dbias=3x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of bias of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad bias=2x3x3x5xf32 dbias=2x3x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of bias of kernel 'pol.attention_grad' to be 4, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad bias=2x4x4x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of bias of kernel 'pol.attention_grad' to be 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad bias=2x4x3x6xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of bias of kernel 'pol.attention_grad' to be 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad bias=1x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dbias of kernel 'pol.attention_grad' to be 1, but got 2, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dbias=1x4x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of dbias of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dbias=2x1x3x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 1 of dbias of kernel 'pol.attention_grad' to be 4, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dbias=2x4x1x5xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 2 of dbias of kernel 'pol.attention_grad' to be 3, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad dbias=2x4x3x4xf32
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 3 of dbias of kernel 'pol.attention_grad' to be 5, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad q_lengths=2xi64=const:4
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of q_lengths of kernel 'pol.attention_grad' to be at most 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad k_lengths=2xi32=const:6
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention_grad' to be at most 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad q_lengths=2xi64=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of q_lengths of kernel 'pol.attention_grad' to be at least 0, but got -1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad k_lengths=2xi32=const:-7
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention_grad' to be at least 0, but got -7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad q_lengths=3xi64=const:3
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of q_lengths of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad k_lengths=1xi32=const:5
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k_lengths of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad q_lengths=2xi64=const:-1 k_lengths=2xi32=const:6 --no-checks
// CHECK-NEXT: {{^.*}} -> exit 0
func.func @attention_grad(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>,
    %v: memref<?x?x?x?xf32>, %o: memref<?x?x?x?xf32>,
    %dout: memref<?x?x?x?xf32>, %bias: memref<?x?x?x?xf32>, %input_pos: index,
    %q_lengths: memref<?xi64>, %k_lengths: memref<?xi32>,
    %max: memref<?x?x?xf32>, %sum: memref<?x?x?xf32>,
    %dq: memref<?x?x?x?xf32>, %dk: memref<?x?x?x?xf32>,
    %dv: memref<?x?x?x?xf32>, %dbias: memref<?x?x?x?xf32>,
    %delta: memref<?x?x?xf32>) {
  pol.attention_grad
      ins(%q, %k, %v, %o, %dout, %bias, %input_pos, %q_lengths, %k_lengths :
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          index, memref<?xi64>, memref<?xi32>)
      checkpoints(%max, %sum : memref<?x?x?xf32>, memref<?x?x?xf32>)
      outs(%dq, %dk, %dv, %dbias : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>)
      scratch(%delta : memref<?x?x?xf32>) {causal = #pol.causal<input_pos>}
  return
}

// ARGS: attention_grad_of_other_lengths q=2x4x3x8xf32 k=2x2x5x8xf32 v=2x2x5x6xf32 o=2x4x3x6xf32 dout=2x4x3x6xf32 bias=2x4x3x5xf32 input_pos=i64=1 q_lengths=2xi32=const:3 k_lengths=2xi64=const:5 max=2x4x3xf32 sum=2x4x3xf32 dq=2x4x3x8xf32 dk=2x2x5x8xf32 dv=2x2x5x6xf32 dbias=2x4x3x5xf32 delta=2x4x3xf32
// CALL: attention_grad_of_other_lengths
// CHECK-NEXT: {{^.*}} -> exit 0
// CALL: attention_grad_of_other_lengths q_lengths=2xi32=const:4
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of q_lengths of kernel 'pol.attention_grad' to be at most 3, but got 4, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad_of_other_lengths k_lengths=2xi64=const:6
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention_grad' to be at most 5, but got 6, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad_of_other_lengths q_lengths=2xi32=const:-1
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of q_lengths of kernel 'pol.attention_grad' to be at least 0, but got -1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad_of_other_lengths k_lengths=2xi64=const:-7
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected the least of k_lengths of kernel 'pol.attention_grad' to be at least 0, but got -7, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad_of_other_lengths q_lengths=3xi32=const:3
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of q_lengths of kernel 'pol.attention_grad' to be 2, but got 3, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
// CALL: attention_grad_of_other_lengths k_lengths=1xi64=const:5
// CHECK-NEXT: {{^.*}} -> exit 1 pol-run: error: shape mismatch: expected extent 0 of k_lengths of kernel 'pol.attention_grad' to be 2, but got 1, at {{.*}}kernel-checks.mlir:[[#]]:3{{$}}
func.func @attention_grad_of_other_lengths(%q: memref<?x?x?x?xf32>,
    %k: memref<?x?x?x?xf32>, %v: memref<?x?x?x?xf32>, %o: memref<?x?x?x?xf32>,
    %dout: memref<?x?x?x?xf32>, %bias: memref<?x?x?x?xf32>, %input_pos: index,
    %q_lengths: memref<?xi32>, %k_lengths: memref<?xi64>,
    %max: memref<?x?x?xf32>, %sum: memref<?x?x?xf32>,
    %dq: memref<?x?x?x?xf32>, %dk: memref<?x?x?x?xf32>,
    %dv: memref<?x?x?x?xf32>, %dbias: memref<?x?x?x?xf32>,
    %delta: memref<?x?x?xf32>) {
  pol.attention_grad
      ins(%q, %k, %v, %o, %dout, %bias, %input_pos, %q_lengths, %k_lengths :
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          index, memref<?xi32>, memref<?xi64>)
      checkpoints(%max, %sum : memref<?x?x?xf32>, memref<?x?x?xf32>)
      outs(%dq, %dk, %dv, %dbias : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>,
          memref<?x?x?x?xf32>, memref<?x?x?x?xf32>)
      scratch(%delta : memref<?x?x?xf32>) {causal = #pol.causal<input_pos>}
  return
}
