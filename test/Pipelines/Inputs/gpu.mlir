// Kernels on a GPU's memory: dynamic and static shapes, one row, and frames
// around kernels and in one.

func.func @dynamic(%a: !pol.arena<#gpu.address_space<global>>, %x: tensor<?x?xf32, #gpu.address_space<global>>, %w: tensor<?xf32, #gpu.address_space<global>>) -> tensor<?x?xf32, #gpu.address_space<global>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32, #gpu.address_space<global>>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32, #gpu.address_space<global>>
  %y = pol.alloc %a[%n, %m] : !pol.arena<#gpu.address_space<global>> -> tensor<?x?xf32, #gpu.address_space<global>>
  %r = pol.frame on %a : !pol.arena<#gpu.address_space<global>> -> tensor<?x?xf32, #gpu.address_space<global>> {
  ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
    %t = pol.alloc %f[%n, %m] : !pol.frame<#gpu.address_space<global>> -> tensor<?x?xf32, #gpu.address_space<global>>
    %0 = pol.rms_norm ins(%x, %w : tensor<?x?xf32, #gpu.address_space<global>>, tensor<?xf32, #gpu.address_space<global>>) outs(%t : tensor<?x?xf32, #gpu.address_space<global>>) -> tensor<?x?xf32, #gpu.address_space<global>>
    %1 = pol.rms_norm ins(%0 : tensor<?x?xf32, #gpu.address_space<global>>) outs(%y : tensor<?x?xf32, #gpu.address_space<global>>) -> tensor<?x?xf32, #gpu.address_space<global>>
    pol.yield %1 : tensor<?x?xf32, #gpu.address_space<global>>
  }
  return %r : tensor<?x?xf32, #gpu.address_space<global>>
}

func.func @static(%a: !pol.arena<#gpu.address_space<global>>, %x: memref<64x48xf32, #gpu.address_space<global>>, %y: memref<64x48xf32, #gpu.address_space<global>>, %rstd: memref<64xf32, #gpu.address_space<global>>) {
  pol.frame on %a : !pol.arena<#gpu.address_space<global>> {
  ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
    %t = pol.alloc %f : !pol.frame<#gpu.address_space<global>> -> memref<64x48xf32, #gpu.address_space<global>>
    pol.rms_norm ins(%x : memref<64x48xf32, #gpu.address_space<global>>) outs(%t : memref<64x48xf32, #gpu.address_space<global>>) checkpoints(%rstd : memref<64xf32, #gpu.address_space<global>>)
    pol.rms_norm ins(%t : memref<64x48xf32, #gpu.address_space<global>>) outs(%y : memref<64x48xf32, #gpu.address_space<global>>)
  }
  return
}

func.func @row(%x: memref<48xf32, #gpu.address_space<global>>) {
  pol.rms_norm ins(%x : memref<48xf32, #gpu.address_space<global>>) outs(%x : memref<48xf32, #gpu.address_space<global>>)
  return
}

func.func @workers(%a: !pol.arena<#gpu.address_space<global>>, %x: memref<64x48xf32, #gpu.address_space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    pol.frame on %a : !pol.arena<#gpu.address_space<global>> {
    ^bb0(%f: !pol.frame<#gpu.address_space<global>>):
      %t = pol.alloc %f : !pol.frame<#gpu.address_space<global>> -> memref<48xf32, #gpu.address_space<global>>
      %row = memref.subview %x[%i, 0] [1, 48] [1, 1] : memref<64x48xf32, #gpu.address_space<global>> to memref<48xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
      pol.rms_norm ins(%row : memref<48xf32, strided<[1], offset: ?>, #gpu.address_space<global>>) outs(%t : memref<48xf32, #gpu.address_space<global>>)
      pol.rms_norm ins(%t : memref<48xf32, #gpu.address_space<global>>) outs(%row : memref<48xf32, strided<[1], offset: ?>, #gpu.address_space<global>>)
    }
  }
  return
}
