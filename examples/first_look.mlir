// build/bin/pol-run examples/first_look.mlir --entry main --input 1024xf32=random:1 --space arena:64K --memory-report

// Any function can be a kernel, unmodified.
func.func @exp2x(%x: tensor<?xf32>, %y: tensor<?xf32>, %tmp: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%tmp : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.exp ins(%0 : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Its description is data about it: names, element types, shapes, roles.
pol.description for @exp2x(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<?xf32>} scratch {tmp(2) = %u : !pol.undef<?xf32>}
}

// The caller decides where the buffers come from: outputs from its arena, scratch from a frame on it.
func.func @main(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = pol.apply @exp2x(%x) in %arena : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %r : tensor<?xf32>
}
