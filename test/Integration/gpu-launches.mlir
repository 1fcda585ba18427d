// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   --pol-expand-gpu-stage | %python %S/Inputs/launches_to_loops.py > %t.gpu.mlir
// RUN: sed 's/, #gpu.address_space<global>>/>/g; s/<#gpu.address_space<global>>//g' %s > %t.cpu.mlir

!arena = !pol.arena<#gpu.address_space<global>>
!vector = tensor<?xf32, #gpu.address_space<global>>
!rows = tensor<?x?xf32, #gpu.address_space<global>>
!cube = tensor<?x?x?xf32, #gpu.address_space<global>>
!heads = tensor<?x?x?x?xf32, #gpu.address_space<global>>
!bias = tensor<1x?x?x?xf32, #gpu.address_space<global>>
!lengths = tensor<?xi32, #gpu.address_space<global>>
!table = tensor<?x?xi32, #gpu.address_space<global>>
!vector_undef = !pol.duplicated<tensor<?xf32, #gpu.address_space<global>>, !pol.undef<?xf32>>
!vector_pair = !pol.duplicated<tensor<?xf32, #gpu.address_space<global>>, tensor<?xf32, #gpu.address_space<global>>>
!heads_pair = !pol.duplicated<tensor<?x?x?x?xf32, #gpu.address_space<global>>, tensor<?x?x?x?xf32, #gpu.address_space<global>>>

// Launches compute, thread by thread, what the CPU does, to the last bit: with
// threads left over in the last block, in several blocks, and with none at all.

// RUN: pol-run %t.gpu.mlir --entry norm --space arena:1M --input 5x7x9xf32=normal:1 \
// RUN:   --input 9xf32=normal:2 --input 5x7x9xf32=zeros --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry norm --space arena:1M --input 5x7x9xf32=normal:1 \
// RUN:   --input 9xf32=normal:2 --input 5x7x9xf32=zeros --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
// RUN: pol-run %t.gpu.mlir --entry norm --space arena:1M --input 2x300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 2x300x17xf32=zeros --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry norm --space arena:1M --input 2x300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 2x300x17xf32=zeros --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
// RUN: pol-run %t.gpu.mlir --entry norm --space arena:1M --input 0x3x4xf32=zeros \
// RUN:   --input 4xf32=zeros --input 0x3x4xf32=zeros | FileCheck %s --check-prefix=EMPTY
// EMPTY: 0x3x4xf32
func.func @norm(%a: !pol.arena<#gpu.address_space<global>>,
    %x: memref<?x?x?xf32, #gpu.address_space<global>>,
    %w: memref<?xf32, #gpu.address_space<global>>,
    %y: memref<?x?x?xf32, #gpu.address_space<global>>) -> memref<?x?x?xf32, #gpu.address_space<global>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?x?xf32, #gpu.address_space<global>>
  %m = memref.dim %x, %c1 : memref<?x?x?xf32, #gpu.address_space<global>>
  %l = memref.dim %x, %c2 : memref<?x?x?xf32, #gpu.address_space<global>>
  pol.frame on %a : !pol.arena<#gpu.address_space<global>> {
  ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
    %t = pol.alloc %f[%n, %m, %l] : !pol.frame<#gpu.address_space<global>> -> memref<?x?x?xf32, #gpu.address_space<global>>
    pol.rms_norm ins(%x, %w : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>)
        outs(%t : memref<?x?x?xf32, #gpu.address_space<global>>)
    linalg.exp ins(%t : memref<?x?x?xf32, #gpu.address_space<global>>)
        outs(%y : memref<?x?x?xf32, #gpu.address_space<global>>)
  }
  return %y : memref<?x?x?xf32, #gpu.address_space<global>>
}

// Sums of columns, in two stages with tiles on the stack.

// RUN: pol-run %t.gpu.mlir --entry norm_grad --space arena:1M --input 150x67xf32=normal:1 \
// RUN:   --input 150x67xf32=normal:2 --input 67xf32=normal:3 --input 150xf32=ones \
// RUN:   --input 150x67xf32=zeros --input 67xf32=zeros --output %t.gpu.dx.npy --output %t.gpu.dw.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry norm_grad --space arena:1M --input 150x67xf32=normal:1 \
// RUN:   --input 150x67xf32=normal:2 --input 67xf32=normal:3 --input 150xf32=ones \
// RUN:   --input 150x67xf32=zeros --input 67xf32=zeros --output %t.cpu.dx.npy --output %t.cpu.dw.npy
// RUN: cmp %t.gpu.dx.npy %t.cpu.dx.npy
// RUN: cmp %t.gpu.dw.npy %t.cpu.dw.npy
func.func @norm_grad(%a: !pol.arena<#gpu.address_space<global>>,
    %x: memref<150x67xf32, #gpu.address_space<global>>,
    %dy: memref<150x67xf32, #gpu.address_space<global>>,
    %w: memref<67xf32, #gpu.address_space<global>>,
    %rstd: memref<150xf32, #gpu.address_space<global>>,
    %dx: memref<150x67xf32, #gpu.address_space<global>>,
    %dw: memref<67xf32, #gpu.address_space<global>>)
    -> (memref<150x67xf32, #gpu.address_space<global>>, memref<67xf32, #gpu.address_space<global>>) {
  pol.frame on %a : !pol.arena<#gpu.address_space<global>> {
  ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
    %p = pol.alloc %f : !pol.frame<#gpu.address_space<global>> -> memref<3x67xf32, #gpu.address_space<global>>
    pol.rms_norm_grad ins(%x, %dy, %w : memref<150x67xf32, #gpu.address_space<global>>, memref<150x67xf32, #gpu.address_space<global>>, memref<67xf32, #gpu.address_space<global>>)
        checkpoints(%rstd : memref<150xf32, #gpu.address_space<global>>)
        outs(%dx, %dw : memref<150x67xf32, #gpu.address_space<global>>, memref<67xf32, #gpu.address_space<global>>)
        scratch(%p : memref<3x67xf32, #gpu.address_space<global>>)
  }
  return %dx, %dw : memref<150x67xf32, #gpu.address_space<global>>, memref<67xf32, #gpu.address_space<global>>
}

// RUN: pol-run %t.gpu.mlir --entry attention --input 2x4x33x8xf32=normal:1 \
// RUN:   --input 2x2x41x8xf32=normal:2 --input 2x2x41x8xf32=normal:3 --input 2x4x33x8xf32=zeros --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry attention --input 2x4x33x8xf32=normal:1 \
// RUN:   --input 2x2x41x8xf32=normal:2 --input 2x2x41x8xf32=normal:3 --input 2x4x33x8xf32=zeros --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
func.func @attention(%q: memref<?x?x?x?xf32, #gpu.address_space<global>>,
    %k: memref<?x?x?x?xf32, #gpu.address_space<global>>,
    %v: memref<?x?x?x?xf32, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf32, #gpu.address_space<global>>) -> memref<?x?x?x?xf32, #gpu.address_space<global>> {
  pol.attention ins(%q, %k, %v : memref<?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>)
      outs(%o : memref<?x?x?x?xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>}
  return %o : memref<?x?x?x?xf32, #gpu.address_space<global>>
}

// The others, by verbs: outputs, checkpoints and scratch are of the arena.

// RUN: pol-run %t.gpu.mlir --entry layer_norm --space arena:1M --input 5x67x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 17xf32=normal:3 --output %t.gpu.y.npy \
// RUN:   --output %t.gpu.mean.npy --output %t.gpu.rstd.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry layer_norm --space arena:1M --input 5x67x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 17xf32=normal:3 --output %t.cpu.y.npy \
// RUN:   --output %t.cpu.mean.npy --output %t.cpu.rstd.npy
// RUN: cmp %t.gpu.y.npy %t.cpu.y.npy
// RUN: cmp %t.gpu.mean.npy %t.cpu.mean.npy
// RUN: cmp %t.gpu.rstd.npy %t.cpu.rstd.npy
func.func @layer_norm(%a: !arena, %x: !cube, %w: !vector, %b: !vector) -> (!cube, !rows, !rows) {
  %y, %mean, %rstd = pol.apply "pol.layer_norm"(%x, %w, %b) in %a
      : (!cube, !vector, !vector), !arena -> !cube, !rows, !rows
  return %y, %mean, %rstd : !cube, !rows, !rows
}

// RUN: pol-run %t.gpu.mlir --entry layer_norm_grad --space arena:1M --input 150x67xf32=normal:1 \
// RUN:   --input 150x67xf32=normal:2 --input 67xf32=normal:3 --input 67xf32=normal:4 \
// RUN:   --input 150xf32=normal:5 --input 150xf32=random:6 --output %t.gpu.dx.npy \
// RUN:   --output %t.gpu.dw.npy --output %t.gpu.db.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry layer_norm_grad --space arena:1M --input 150x67xf32=normal:1 \
// RUN:   --input 150x67xf32=normal:2 --input 67xf32=normal:3 --input 67xf32=normal:4 \
// RUN:   --input 150xf32=normal:5 --input 150xf32=random:6 --output %t.cpu.dx.npy \
// RUN:   --output %t.cpu.dw.npy --output %t.cpu.db.npy
// RUN: cmp %t.gpu.dx.npy %t.cpu.dx.npy
// RUN: cmp %t.gpu.dw.npy %t.cpu.dw.npy
// RUN: cmp %t.gpu.db.npy %t.cpu.db.npy
func.func @layer_norm_grad(%a: !arena, %x: !rows, %dy: !rows, %w: !vector, %b: !vector,
    %mean: !vector, %rstd: !vector) -> (!rows, !vector, !vector) {
  %dx, %dw, %db = pol.apply "pol.layer_norm_grad"(%x, %dy, %w, %b, %mean, %rstd) in %a
      : (!rows, !rows, !vector, !vector, !vector, !vector), !arena -> !rows, !vector, !vector
  return %dx, %dw, %db : !rows, !vector, !vector
}

// x and the weight are constants; the bias's shadow is the arena's.

// RUN: pol-run %t.gpu.mlir --entry layer_norm_grad_of_pairs --space arena:1M \
// RUN:   --input 150x67xf32=normal:1 --input 150x67xf32=normal:2 --input 67xf32=normal:3 \
// RUN:   --input 67xf32=normal:4 --input 150xf32=normal:5 --input 150xf32=random:6 \
// RUN:   --output %t.gpu.db.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry layer_norm_grad_of_pairs --space arena:1M \
// RUN:   --input 150x67xf32=normal:1 --input 150x67xf32=normal:2 --input 67xf32=normal:3 \
// RUN:   --input 67xf32=normal:4 --input 150xf32=normal:5 --input 150xf32=random:6 \
// RUN:   --output %t.cpu.db.npy
// RUN: cmp %t.gpu.db.npy %t.cpu.db.npy
func.func @layer_norm_grad_of_pairs(%a: !arena, %x: !rows, %dy: !rows, %w: !vector, %b: !vector,
    %mean: !vector, %rstd: !vector) -> !vector {
  %u = pol.duplicated %b : !vector -> !vector_undef
  %bp = pol.alloc %a, %u : !arena, !vector_undef -> !vector_pair
  %db = pol.apply "pol.layer_norm_grad"(%x, %dy, %w, %bp, %mean, %rstd) in %a
      : (!rows, !rows, !vector, !vector_pair, !vector, !vector), !arena -> !vector
  return %db : !vector
}

// RUN: pol-run %t.gpu.mlir --entry softmax --space arena:1M --input 5x67x17xf32=normal:1 \
// RUN:   --output %t.gpu.y.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry softmax --space arena:1M --input 5x67x17xf32=normal:1 \
// RUN:   --output %t.cpu.y.npy
// RUN: cmp %t.gpu.y.npy %t.cpu.y.npy
// RUN: pol-run %t.gpu.mlir --entry softmax --space arena:1M --input 3x1x300xf32=normal:1 \
// RUN:   --output %t.gpu.y.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry softmax --space arena:1M --input 3x1x300xf32=normal:1 \
// RUN:   --output %t.cpu.y.npy
// RUN: cmp %t.gpu.y.npy %t.cpu.y.npy
func.func @softmax(%a: !arena, %x: !cube) -> !cube {
  %y = pol.apply "pol.softmax"(%x) in %a : (!cube), !arena -> !cube
  return %y : !cube
}

// RUN: pol-run %t.gpu.mlir --entry softmax_grad --space arena:1M --input 5x67x17xf32=random:1 \
// RUN:   --input 5x67x17xf32=normal:2 --output %t.gpu.dx.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry softmax_grad --space arena:1M --input 5x67x17xf32=random:1 \
// RUN:   --input 5x67x17xf32=normal:2 --output %t.cpu.dx.npy
// RUN: cmp %t.gpu.dx.npy %t.cpu.dx.npy
func.func @softmax_grad(%a: !arena, %y: !cube, %dy: !cube) -> !cube {
  %dx = pol.apply "pol.softmax_grad"(%y, %dy) in %a : (!cube, !cube), !arena -> !cube
  return %dx : !cube
}

// The checkpoints are those of the forward kernel, which is launched before.

// RUN: pol-run %t.gpu.mlir --entry attention_grad --space arena:1M --input 2x4x33x8xf32=normal:1 \
// RUN:   --input 2x2x41x8xf32=normal:2 --input 2x2x41x7xf32=normal:3 --input 1x4x33x41xf32=normal:4 \
// RUN:   --input 2x4x33x7xf32=normal:5 --input 2xi32=const:29 --output %t.gpu.dq.npy \
// RUN:   --output %t.gpu.dk.npy --output %t.gpu.dv.npy --output %t.gpu.db.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry attention_grad --space arena:1M --input 2x4x33x8xf32=normal:1 \
// RUN:   --input 2x2x41x8xf32=normal:2 --input 2x2x41x7xf32=normal:3 --input 1x4x33x41xf32=normal:4 \
// RUN:   --input 2x4x33x7xf32=normal:5 --input 2xi32=const:29 --output %t.cpu.dq.npy \
// RUN:   --output %t.cpu.dk.npy --output %t.cpu.dv.npy --output %t.cpu.db.npy
// RUN: cmp %t.gpu.dq.npy %t.cpu.dq.npy
// RUN: cmp %t.gpu.dk.npy %t.cpu.dk.npy
// RUN: cmp %t.gpu.dv.npy %t.cpu.dv.npy
// RUN: cmp %t.gpu.db.npy %t.cpu.db.npy
func.func @attention_grad(%a: !arena, %q: !heads, %k: !heads, %v: !heads, %b: !bias, %do: !heads,
    %n: !lengths) -> (!heads, !heads, !heads, !bias) {
  %o, %max, %sum = pol.apply "pol.attention"(%q, %k, %v, %b, none, %n)
      {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64} in %a
      : (!heads, !heads, !heads, !bias, !lengths), !arena -> !heads, !cube, !cube
  %dq, %dk, %dv, %db = pol.apply "pol.attention_grad"(%q, %k, %v, %o, %do, %b, none, %n, none, %max, %sum)
      {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64} in %a
      : (!heads, !heads, !heads, !heads, !heads, !bias, !lengths, !cube, !cube), !arena
      -> !heads, !heads, !heads, !bias
  return %dq, %dk, %dv, %db : !heads, !heads, !heads, !bias
}

// Splits are launched, and then their merge, here with lengths and entries of a
// table that a GPU's memory keeps from being checked: they are taken for the
// nearest ones.

// RUN: pol-run %t.gpu.mlir --entry decode --space arena:1M --input 2x4x3x8xf32=normal:1 \
// RUN:   --input 7x2x16x8xf32=normal:2 --input 7x2x16x5xf32=normal:3 --input 2x9xi32=const:5 \
// RUN:   --input 2xi32=const:141 --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry decode --space arena:1M --input 2x4x3x8xf32=normal:1 \
// RUN:   --input 7x2x16x8xf32=normal:2 --input 7x2x16x5xf32=normal:3 --input 2x9xi32=const:5 \
// RUN:   --input 2xi32=const:141 --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
// RUN: pol-run %t.gpu.mlir --entry decode --space arena:1M --input 2x4x3x8xf32=normal:1 \
// RUN:   --input 6x2x16x8xf32=normal:2 --input 6x2x16x5xf32=normal:3 --input 2x9xi32=const:9 \
// RUN:   --input 2xi32=const:1000 --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry decode --space arena:1M --input 2x4x3x8xf32=normal:1 \
// RUN:   --input 6x2x16x8xf32=normal:2 --input 6x2x16x5xf32=normal:3 --input 2x9xi32=const:5 \
// RUN:   --input 2xi32=const:144 --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
func.func @decode(%a: !arena, %q: !heads, %k: !heads, %v: !heads, %t: !table,
    %n: !lengths) -> !heads {
  %o = pol.apply "pol.decode_attention"(%q, %k, %v, %t, %n)
      {causal = #pol.causal<bottom_right>, window = 100 : i64} in %a
      : (!heads, !heads, !heads, !table, !lengths), !arena -> !heads
  return %o : !heads
}

// k and v are constants, and nothing of them is launched.

// RUN: pol-run %t.gpu.mlir --entry attention_grad_of_pairs --space arena:1M \
// RUN:   --input 2x4x33x8xf32=normal:1 --input 2x4x33x8xf32=zeros --input 2x2x41x8xf32=normal:2 \
// RUN:   --input 2x2x41x7xf32=normal:3 --input 2x4x33x7xf32=normal:5 --output %t.gpu.dq.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry attention_grad_of_pairs --space arena:1M \
// RUN:   --input 2x4x33x8xf32=normal:1 --input 2x4x33x8xf32=zeros --input 2x2x41x8xf32=normal:2 \
// RUN:   --input 2x2x41x7xf32=normal:3 --input 2x4x33x7xf32=normal:5 --output %t.cpu.dq.npy
// RUN: cmp %t.gpu.dq.npy %t.cpu.dq.npy
func.func @attention_grad_of_pairs(%a: !arena, %q: !heads, %dq: !heads, %k: !heads, %v: !heads,
    %do: !heads) -> !heads {
  %qp = pol.duplicated %q, %dq : !heads, !heads
  %o, %max, %sum = pol.apply "pol.attention"(%qp, %k, %v) in %a
      : (!heads_pair, !heads, !heads), !arena -> !heads, !cube, !cube
  %0 = pol.apply "pol.attention_grad"(%qp, %k, %v, %o, %do, none, none, none, none, %max, %sum) in %a
      : (!heads_pair, !heads, !heads, !heads, !heads, !cube, !cube), !arena -> !heads
  return %0 : !heads
}
