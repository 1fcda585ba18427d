// REQUIRES: libdevice
// RUN: pol-opt %s --pol-to-nvvm=chip=sm_80 | %extract_ptx | FileCheck %s
// RUN: sed s/f16/bf16/g %s | pol-opt --pol-to-nvvm=chip=sm_90 | %extract_ptx | FileCheck %s

// Attention with regions is launches like any other: of lists of tiles and of
// queries, then of the sums that gradients of captures are made of.
func.func @attention_variant(%q: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %ids: memref<?xi32, #gpu.address_space<global>>,
    %table: memref<?x9xf16, #gpu.address_space<global>>,
    %slopes: memref<?xf16, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %max: memref<?x?x?xf32, #gpu.address_space<global>>,
    %sum: memref<?x?x?xf32, #gpu.address_space<global>>,
    %delta: memref<?x?x?xf32, #gpu.address_space<global>>,
    %sums: memref<?xf32, #gpu.address_space<global>>,
    %tiles: memref<?x?x?x?xi32, #gpu.address_space<global>>,
    %dtable: memref<?x9xf16, #gpu.address_space<global>>,
    %dslopes: memref<?xf16, #gpu.address_space<global>>) {
  pol.attention ins(%q, %q, %q : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>)
      captures(%ids : memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<?x?x?x?xf16, #gpu.address_space<global>>)
      checkpoints(%max, %sum : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>)
      scratch(%tiles : memref<?x?x?x?xi32, #gpu.address_space<global>>)
      mask(%b, %h, %i, %j, %d) {
        %0 = memref.load %d[%i] : memref<?xi32, #gpu.address_space<global>>
        %1 = memref.load %d[%j] : memref<?xi32, #gpu.address_space<global>>
        %2 = arith.cmpi eq, %0, %1 : i32
        pol.yield %2 : i1
      }
  pol.attention_grad ins(%q, %q, %q, %o, %o : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>)
      checkpoints(%max, %sum : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>)
      captures(%table, %slopes : memref<?x9xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      dcaptures(0 = %dtable, 1 = %dslopes : memref<?x9xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      scratch(%delta, %sums : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>)
      score(%s, %b, %h, %i, %j, %t, %sl) {
        %c0 = arith.constant 0 : index
        %c4 = arith.constant 4 : index
        %c8 = arith.constant 8 : index
        %0 = arith.subi %j, %i : index
        %1 = arith.addi %0, %c4 : index
        %2 = arith.maxsi %1, %c0 : index
        %3 = arith.minsi %2, %c8 : index
        %4 = memref.load %t[%h, %3] : memref<?x9xf16, #gpu.address_space<global>>
        %5 = arith.extf %4 : f16 to f32
        %6 = arith.addf %s, %5 : f32
        %7 = memref.load %sl[%h] : memref<?xf16, #gpu.address_space<global>>
        %8 = arith.extf %7 : f16 to f32
        %9 = arith.index_cast %0 : index to i32
        %10 = arith.sitofp %9 : i32 to f32
        %11 = math.fma %8, %10, %6 : f32
        pol.yield %11 : f32
      } {causal = #pol.causal<top_left>}
  return
}

// CHECK-COUNT-8: .visible .entry attention_variant_kernel
