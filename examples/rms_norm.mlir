// build/bin/pol-run examples/rms_norm.mlir --entry rms_norm_applied --input examples/data/activations.npy --input examples/data/w.npy --space arena:1M --memory-report
//
// RMS normalization, a kernel that comes with pol as an op:
//
//   y = x * rstd * (w + offset),   rstd = 1 / sqrt(mean(x^2) + eps)
//
// over the last dimension. Models that store their weights around zero rather
// than around one use an offset of 1. Here too the kernel says what it needs,
// and the caller decides where that is.

// The op alone, in destination style: y goes into %y0, and rstd into %r0. A
// checkpoint is what the forward pass leaves for the backward pass: it outlives
// the call, and is kept only if asked for. Without the `checkpoints(...)` part
// the op has one result.
func.func @rms_norm(%x: tensor<?x?xf32>, %w: tensor<?xf32>,
                    %y0: tensor<?x?xf32>, %r0: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y, %rstd = pol.rms_norm ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>)
      outs(%y0 : tensor<?x?xf32>) checkpoints(%r0 : tensor<?xf32>)
      {eps = 1.0e-5 : f64, offset = 1.0 : f64}
      -> tensor<?x?xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x?xf32>, tensor<?xf32>
}

// Step by step. The verbs that ask a function with a description ask an op by
// its name, too. `in %arena` allocates what was asked for on the spot.
func.func @rms_norm_by_hand(%arena: !pol.arena, %x: tensor<?x?xf32>,
                            %w: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %out = pol.outputs "pol.rms_norm"(%x, %w) in %arena
      : (tensor<?x?xf32>, tensor<?xf32>), !pol.arena
      -> !pol.bundle<{y: tensor<?x?xf32>}>
  %kept = pol.checkpoints "pol.rms_norm"(%x, %w) in %arena
      : (tensor<?x?xf32>, tensor<?xf32>), !pol.arena
      -> !pol.bundle<{rstd: tensor<?xf32>}>
  // Attributes of the op go along: whatever decides what it computes, or what
  // it needs.
  %y, %rstd = pol.call "pol.rms_norm"(%x, %w)
      {eps = 1.0e-5 : f64, offset = 1.0 : f64} outputs(%out) checkpoints(%kept)
      : (tensor<?x?xf32>, tensor<?xf32>), !pol.bundle<{y: tensor<?x?xf32>}>,
        !pol.bundle<{rstd: tensor<?xf32>}>
      -> tensor<?x?xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x?xf32>, tensor<?xf32>
}

// All of that in one op. The second result is the checkpoint.
func.func @rms_norm_applied(%arena: !pol.arena, %x: tensor<?x?xf32>,
                            %w: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y, %rstd = pol.apply "pol.rms_norm"(%x, %w)
      {eps = 1.0e-5 : f64, offset = 1.0 : f64} in %arena
      : (tensor<?x?xf32>, tensor<?xf32>), !pol.arena
      -> tensor<?x?xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x?xf32>, tensor<?xf32>
}

// On memory: the same op on memrefs has no results. It may work in place. Its
// weight is optional; with none there is no offset either.
func.func @rms_norm_in_place(%x: memref<?x?xf32>) -> memref<?x?xf32> {
  pol.rms_norm ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
      {eps = 1.0e-5 : f64}
  return %x : memref<?x?xf32>
}

// Backward. It reads the checkpoint. Here no operand is duplicated, so each
// gradient is an output that the op describes, and pol.apply allocates it. The
// partial sums of dw are scratch, in a frame that closes behind the kernel.
func.func @rms_norm_grad(%arena: !pol.arena, %x: tensor<?x?xf32>,
                         %w: tensor<?xf32>, %rstd: tensor<?xf32>,
                         %dy: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %dx, %dw = pol.apply "pol.rms_norm_grad"(%x, %dy, %w, %rstd)
      {offset = 1.0 : f64} in %arena
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>),
        !pol.arena -> tensor<?x?xf32>, tensor<?xf32>
  return %dx, %dw : tensor<?x?xf32>, tensor<?xf32>
}

// Where a value is duplicated it says where its gradient goes, and that the
// others have none: x is a constant here, and nothing is computed for it.
// %w's shadow is the caller's. It is overwritten, whatever it held.
func.func @rms_norm_weight_grad(%arena: !pol.arena, %x: tensor<?x?xf32>,
                                %w: !pol.duplicated<tensor<?xf32>>,
                                %rstd: tensor<?xf32>, %dy: tensor<?x?xf32>)
    -> tensor<?xf32> {
  %dw = pol.apply "pol.rms_norm_grad"(%x, %dy, %w, %rstd)
      {offset = 1.0 : f64} in %arena
      : (tensor<?x?xf32>, tensor<?x?xf32>, !pol.duplicated<tensor<?xf32>>,
         tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %dw : tensor<?xf32>
}

// Forward and backward, one after the other.
func.func @rms_norm_step(%arena: !pol.arena, %x: tensor<?x?xf32>,
                         %w: tensor<?xf32>, %dy: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %y, %rstd = func.call @rms_norm_applied(%arena, %x, %w)
      : (!pol.arena, tensor<?x?xf32>, tensor<?xf32>)
      -> (tensor<?x?xf32>, tensor<?xf32>)
  %dx, %dw = func.call @rms_norm_grad(%arena, %x, %w, %rstd, %dy)
      : (!pol.arena, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>,
         tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %y, %dx, %dw : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}
