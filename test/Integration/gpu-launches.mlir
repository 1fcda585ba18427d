// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   --pol-expand-gpu-stage | %python %S/Inputs/launches_to_loops.py > %t.gpu.mlir
// RUN: sed 's/, #gpu.address_space<global>>/>/g; s/<#gpu.address_space<global>>//g' %s > %t.cpu.mlir

// Launches compute, thread by thread, what the CPU does, to the last bit: with
// threads left over in the last block, in several blocks, and with none at all.

// RUN: pol-run %t.gpu.mlir --entry norm --space arena:1M --input 5x7x9xf32=normal:1 \
// RUN:   --input 9xf32=normal:2 --input 5x7x9xf32=zeros --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --entry norm --space arena:1M --input 5x7x9xf32=normal:1 \
// RUN:   --input 9xf32=normal:2 --input 5x7x9xf32=zeros --output %t.cpu.npy
// RUN: cmp %t.gpu.npy %t.cpu.npy
// RUN: pol-run %t.gpu.mlir --entry norm --space arena:1M --input 2x300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 2x300x17xf32=zeros --output %t.gpu.npy
// RUN: pol-run %t.cpu.mlir --entry norm --space arena:1M --input 2x300x17xf32=normal:1 \
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
// RUN: pol-run %t.cpu.mlir --entry norm_grad --space arena:1M --input 150x67xf32=normal:1 \
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
// RUN: pol-run %t.cpu.mlir --entry attention --input 2x4x33x8xf32=normal:1 \
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
