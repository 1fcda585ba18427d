// build/bin/pol-run examples/layer_norm.mlir --entry layer_norm_step --input examples/data/activations.npy --input examples/data/w.npy --input 64xf32=normal:1 --input 256x64xf32=normal:2 --space arena:1M --memory-report
//
// Layer normalization over the last dimension, and its gradients:
//
//   y = (x - mean) * rstd * w + b,   rstd = 1 / sqrt(variance + eps)

// Forward. The results are the output and, since they are asked for, the two
// checkpoints that the backward pass reads. All come from the caller's space.
func.func @layer_norm(%arena: !pol.arena, %x: tensor<?x?xf32>,
                      %w: tensor<?xf32>, %b: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y, %mean, %rstd = pol.apply "pol.layer_norm"(%x, %w, %b)
      {eps = 1.0e-5 : f64} in %arena
      : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>), !pol.arena
      -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %mean, %rstd : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// Inference: no checkpoints, so none are computed. Neither weight nor bias is
// needed.
func.func @layer_norm_inference(%arena: !pol.arena, %x: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %y = pol.apply "pol.layer_norm"(%x) in %arena
      : (tensor<?x?xf32>), !pol.arena -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Backward. A duplicated value is a primal with its shadow, which the value's
// gradient overwrites; here the caller has them all. A bare one would be a
// constant, with no gradient. Partial sums of the gradients of w and b are
// scratch: they come from a frame that pol.apply opens, and are gone after it.
!matrix = !pol.duplicated<tensor<?x?xf32>>
!vector = !pol.duplicated<tensor<?xf32>>
func.func @layer_norm_grad(%arena: !pol.arena, %x: !matrix,
                           %dy: tensor<?x?xf32>, %w: !vector, %b: !vector,
                           %mean: tensor<?xf32>, %rstd: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %dx, %dw, %db = pol.apply "pol.layer_norm_grad"(%x, %dy, %w, %b, %mean, %rstd)
      in %arena
      : (!matrix, tensor<?x?xf32>, !vector, !vector, tensor<?xf32>,
         tensor<?xf32>), !pol.arena
      -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %dx, %dw, %db : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// Both, with shadows from the arena. A value that is duplicated without a
// shadow has one that is a description, like the value itself; pol.alloc turns
// descriptions into memory and leaves values alone, here three at once.
!undefs = !pol.bundle<{
  x: !pol.duplicated<tensor<?x?xf32>, !pol.undef<?x?xf32>>,
  w: !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>,
  b: !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>}>
!pairs = !pol.bundle<{x: !matrix, w: !vector, b: !vector}>
func.func @layer_norm_step(%arena: !pol.arena, %x: tensor<?x?xf32>,
                           %w: tensor<?xf32>, %b: tensor<?xf32>,
                           %dy: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y, %mean, %rstd = func.call @layer_norm(%arena, %x, %w, %b)
      : (!pol.arena, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
      -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  %xu = pol.duplicated %x : tensor<?x?xf32>
  %wu = pol.duplicated %w : tensor<?xf32>
  %bu = pol.duplicated %b : tensor<?xf32>
  %undefs = pol.bundle {
      x = %xu : !pol.duplicated<tensor<?x?xf32>, !pol.undef<?x?xf32>>,
      w = %wu : !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>,
      b = %bu : !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>}
  %pairs = pol.alloc %arena, %undefs : !pol.arena, !undefs -> !pairs
  %xp = pol.get %pairs, "x" : !pairs
  %wp = pol.get %pairs, "w" : !pairs
  %bp = pol.get %pairs, "b" : !pairs
  %dx, %dw, %db = func.call @layer_norm_grad(%arena, %xp, %dy, %wp, %bp, %mean,
                                             %rstd)
      : (!pol.arena, !matrix, tensor<?x?xf32>, !vector, !vector, tensor<?xf32>,
         tensor<?xf32>)
      -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %y, %dx, %dw, %db
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// The op itself, on memory, for one gradient alone: it has the scratch of that
// one, and nothing else is computed.
func.func @layer_norm_bias_grad(%x: memref<?x?xf32>, %dy: memref<?x?xf32>,
                                %mean: memref<?xf32>, %rstd: memref<?xf32>,
                                %db: memref<?xf32>, %partials: memref<?x?xf32>)
    -> memref<?xf32> {
  pol.layer_norm_grad ins(%x, %dy : memref<?x?xf32>, memref<?x?xf32>)
      checkpoints(%mean, %rstd : memref<?xf32>, memref<?xf32>)
      outs(dbias = %db : memref<?xf32>)
      scratch(dbias_partials = %partials : memref<?x?xf32>)
  return %db : memref<?xf32>
}
