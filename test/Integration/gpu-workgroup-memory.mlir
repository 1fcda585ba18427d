// REQUIRES: pol-run
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   --pol-expand-gpu-stage > %t.local.launches.mlir
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   --pol-expand-gpu-stage=worker-memory=workgroup > %t.workgroup.launches.mlir
// RUN: FileCheck %s --check-prefix=LAUNCH < %t.workgroup.launches.mlir
// RUN: %python %S/Inputs/launches_to_loops.py < %t.local.launches.mlir > %t.local.mlir
// RUN: %python %S/Inputs/launches_to_loops.py < %t.workgroup.launches.mlir > %t.workgroup.mlir
// RUN: sed 's/, #gpu.address_space<global>>/>/g; s/<#gpu.address_space<global>>//g' %s > %t.cpu.mlir

// Where the frames of threads are changes no bit. In workgroup memory all
// threads of a block share three buffers, and one is too large for it; the last
// of 3 blocks has threads left over.

// LAUNCH:      gpu.launch
// LAUNCH-SAME:   workgroup(%{{.+}} : memref<17x128xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<2x17x128xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<128xf32, #gpu.address_space<workgroup>>)
// LAUNCH:        memref.alloca() {{.*}} : memref<20x17xf32>

// RUN: pol-run %t.local.mlir --entry rows --space arena:1M --input 300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 300x17xf32=zeros --output %t.local.npy
// RUN: pol-run %t.workgroup.mlir --entry rows --space arena:1M --input 300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 300x17xf32=zeros --output %t.workgroup.npy
// RUN: pol-run %t.cpu.mlir --expansion linalg --entry rows --space arena:1M --input 300x17xf32=normal:1 \
// RUN:   --input 17xf32=normal:2 --input 300x17xf32=zeros --output %t.cpu.npy
// RUN: cmp %t.workgroup.npy %t.local.npy
// RUN: cmp %t.workgroup.npy %t.cpu.npy

!arena = !pol.arena<#gpu.address_space<global>>
!frame = !pol.frame<#gpu.address_space<global>>
!rows = memref<?x17xf32, #gpu.address_space<global>>
!row = memref<17xf32, #gpu.address_space<global>>
!second = memref<17xf32, strided<[1], offset: 17>, #gpu.address_space<global>>
!part = memref<17xf32, strided<[1], offset: ?>, #gpu.address_space<global>>

func.func @rows(%a: !arena, %x: !rows, %w: !row, %y: !rows) -> !rows {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !rows
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    pol.frame on %a : !arena {
    ^bb0(%f: !frame):
      %t = pol.alloc %f : !frame -> !row
      %both = pol.alloc %f : !frame -> memref<2x17xf32, #gpu.address_space<global>>
      %u = memref.subview %both[1, 0] [1, 17] [1, 1] : memref<2x17xf32, #gpu.address_space<global>> to !second
      %large = pol.alloc %f : !frame -> memref<20x17xf32, #gpu.address_space<global>>
      %scale = pol.alloc %f : !frame -> memref<f32, #gpu.address_space<global>>
      %in = memref.subview %x[%i, 0] [1, 17] [1, 1] : !rows to !part
      %out = memref.subview %y[%i, 0] [1, 17] [1, 1] : !rows to !part
      pol.rms_norm ins(%in, %w : !part, !row) outs(%t : !row)
      %first = memref.load %t[%c0] : !row
      memref.store %first, %scale[] : memref<f32, #gpu.address_space<global>>
      linalg.exp ins(%t : !row) outs(%u : !second)
      memref.copy %u, %t : !second to !row
      %part = memref.subview %large[5, 0] [1, 17] [1, 1] : memref<20x17xf32, #gpu.address_space<global>> to memref<17xf32, strided<[1], offset: 85>, #gpu.address_space<global>>
      linalg.add ins(%t, %u : !row, !second) outs(%part : memref<17xf32, strided<[1], offset: 85>, #gpu.address_space<global>>)
      linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}
          ins(%part, %scale : memref<17xf32, strided<[1], offset: 85>, #gpu.address_space<global>>, memref<f32, #gpu.address_space<global>>)
          outs(%out : !part) {
      ^bb0(%v: f32, %s: f32, %o: f32):
        %r = arith.mulf %v, %s : f32
        linalg.yield %r : f32
      }
    }
  }
  return %y : !rows
}
