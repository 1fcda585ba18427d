// REQUIRES: pol-run
// RUN: pol-run %s --input 1000x64xf32=random:7 --input 1000x64xf32=zeros --threads 1 > %t.1
// RUN: pol-run %s --input 1000x64xf32=random:7 --input 1000x64xf32=zeros --threads 4 > %t.4
// RUN: pol-run %s --input 1000x64xf32=random:7 --input 1000x64xf32=zeros --threads 4 --opt-level 0 > %t.0
// RUN: diff %t.1 %t.4
// RUN: diff %t.1 %t.0
// RUN: FileCheck %s < %t.1

// Every worker has a frame of its own.

// CHECK: result 0: 1000x64xf32
func.func @main(%a: !pol.arena, %x: tensor<1000x64xf32>, %y: tensor<1000x64xf32>) -> tensor<1000x64xf32> {
  %r = scf.forall (%i) in (1000) shared_outs(%o = %y) -> tensor<1000x64xf32> {
    %in = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : tensor<1000x64xf32> to tensor<64xf32>
    %out = tensor.extract_slice %o[%i, 0] [1, 64] [1, 1] : tensor<1000x64xf32> to tensor<64xf32>
    %row = pol.frame on %a : !pol.arena -> tensor<64xf32> {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f : !pol.frame -> tensor<64xf32>
      %0 = linalg.exp ins(%in : tensor<64xf32>) outs(%t : tensor<64xf32>) -> tensor<64xf32>
      %1 = linalg.log ins(%0 : tensor<64xf32>) outs(%out : tensor<64xf32>) -> tensor<64xf32>
      pol.yield %1 : tensor<64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<1000x64xf32>
    }
  }
  return %r : tensor<1000x64xf32>
}
