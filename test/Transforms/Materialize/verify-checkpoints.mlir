// RUN: pol-opt %s --pol-verify-checkpoints --split-input-file \
// RUN:   --verify-diagnostics

// What comes from an argument is taken for what it should be, and what the
// forward kernel gives is.

func.func @good(%x: tensor<4x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %y, %rstd = pol.rms_norm ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      checkpoints(%r : tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  %cast = tensor.cast %rstd : tensor<4xf32> to tensor<?xf32>
  %dx = pol.rms_norm_grad ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%cast : tensor<?xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  %dx2 = pol.rms_norm_grad ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(%dx : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx2 : tensor<4x8xf32>
}

// -----

func.func @unwritten(%x: tensor<4x8xf32>, %arena: !pol.arena)
    -> tensor<4x8xf32> {
  // expected-note @below {{it is allocated here}}
  %r = pol.alloc %arena : !pol.arena -> tensor<4xf32>
  // expected-error @below {{expected rstd to be the rstd that 'pol.rms_norm' wrote, but nothing did}}
  %dx = pol.rms_norm_grad ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

// On tensors a forward kernel's result holds the checkpoint, and the array it
// was given holds nothing.

func.func @destination_for_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-note @below {{it is allocated here}}
  %r = tensor.empty() : tensor<4xf32>
  %y, %rstd = pol.rms_norm ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      checkpoints(%r : tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  // expected-error @below {{expected rstd to be the rstd that 'pol.rms_norm' wrote, but nothing did}}
  %dx = pol.rms_norm_grad ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%r : tensor<4xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

func.func @other_kernel(%x: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> tensor<4x8xf32> {
  // expected-note @below {{it is written here}}
  %y, %mean, %rstd = pol.layer_norm ins(%x : tensor<4x8xf32>)
      outs(%x : tensor<4x8xf32>)
      checkpoints(%r, %r : tensor<4xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{expected rstd to be the rstd that 'pol.rms_norm' wrote, but got the rstd of 'pol.layer_norm'}}
  %dx = pol.rms_norm_grad ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%rstd : tensor<4xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

func.func @other_checkpoint(%x: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> tensor<4x8xf32> {
  // expected-note @below {{it is written here}}
  %y, %mean, %rstd = pol.layer_norm ins(%x : tensor<4x8xf32>)
      outs(%x : tensor<4x8xf32>)
      checkpoints(%r, %r : tensor<4xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{expected mean to be the mean that 'pol.layer_norm' wrote, but got the rstd of 'pol.layer_norm'}}
  %dx2 = pol.layer_norm_grad ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%rstd, %rstd : tensor<4xf32>, tensor<4xf32>)
      outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %dx2 : tensor<4x8xf32>
}

// -----

func.func @output(%q: tensor<1x1x4x4xf32>, %m: tensor<1x1x4xf32>)
    -> tensor<1x1x4x4xf32> {
  // expected-note @below {{it is written here}}
  %y = pol.softmax ins(%m : tensor<1x1x4xf32>) outs(%m : tensor<1x1x4xf32>)
      -> tensor<1x1x4xf32>
  // expected-error @below {{expected sum to be the sum that 'pol.attention' wrote, but got another result of 'pol.softmax'}}
  %dv = pol.attention_grad
      ins(%q, %q, %q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
          tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
      checkpoints(%m, %y : tensor<1x1x4xf32>, tensor<1x1x4xf32>)
      outs(dv = %q : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %dv : tensor<1x1x4x4xf32>
}

// -----

// The same attributes decide both passes.

func.func @other_offset(%x: tensor<4x8xf32>, %w: tensor<8xf32>,
                        %r: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-note @below {{it is here}}
  %y, %rstd = pol.rms_norm ins(%x, %w : tensor<4x8xf32>, tensor<8xf32>)
      outs(%x : tensor<4x8xf32>) checkpoints(%r : tensor<4xf32>)
      {offset = 1.0 : f64} -> tensor<4x8xf32>, tensor<4xf32>
  // expected-error @below {{expected offset to be that of the forward kernel, 1.000000e+00 : f64, but got 0.000000e+00 : f64}}
  %dx = pol.rms_norm_grad
      ins(%x, %y, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%rstd : tensor<4xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

func.func @other_mask(%q: tensor<1x1x4x4xf32>, %m: tensor<1x1x4xf32>)
    -> tensor<1x1x4x4xf32> {
  // expected-note @below {{it is here}}
  %o:3 = pol.attention ins(%q, %q, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
      outs(%q : tensor<1x1x4x4xf32>)
      checkpoints(%m, %m : tensor<1x1x4xf32>, tensor<1x1x4xf32>)
      -> tensor<1x1x4x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
  // expected-error @below {{expected causal to be that of the forward kernel, none, but got #pol.causal<top_left>}}
  %dv = pol.attention_grad
      ins(%q, %q, %q, %o#0, %q : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>,
          tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
      checkpoints(%o#1, %m : tensor<1x1x4xf32>, tensor<1x1x4xf32>)
      outs(dv = %q : tensor<1x1x4x4xf32>) {causal = #pol.causal<top_left>}
      -> tensor<1x1x4x4xf32>
  return %dv : tensor<1x1x4x4xf32>
}

// -----

// Forward and backward in functions of their own, with other attributes and
// swapped checkpoints.

func.func private @forward(%x: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-note @below {{it is written here}}
  %y:3 = pol.layer_norm ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
      checkpoints(%r, %r : tensor<4xf32>, tensor<4xf32>)
      -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return %y#2, %y#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @backward(%x: tensor<4x8xf32>, %mean: tensor<4xf32>,
                            %rstd: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expected mean to be the mean that 'pol.layer_norm' wrote, but got the rstd of 'pol.layer_norm'}}
  %dx = pol.layer_norm_grad ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>)
      checkpoints(%mean, %mean : tensor<4xf32>, tensor<4xf32>)
      outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}
func.func @step(%x: tensor<4x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %0:2 = call @forward(%x, %r)
      : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = call @backward(%x, %0#0, %0#1)
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// On memrefs it is what was written that counts, by whomever.

func.func private @fill(memref<4xf32>)

func.func @memory(%x: memref<4x8xf32>, %arena: !pol.arena) {
  %a = pol.alloc %arena : !pol.arena -> memref<4xf32>
  %view = memref.subview %a[0] [4] [1] : memref<4xf32> to memref<4xf32, strided<[1]>>
  pol.rms_norm ins(%x : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
      checkpoints(%view : memref<4xf32, strided<[1]>>)
  pol.rms_norm_grad ins(%x, %x : memref<4x8xf32>, memref<4x8xf32>)
      checkpoints(%a : memref<4xf32>) outs(%x : memref<4x8xf32>)
  %b = pol.alloc %arena : !pol.arena -> memref<4xf32>
  func.call @fill(%b) : (memref<4xf32>) -> ()
  pol.rms_norm_grad ins(%x, %x : memref<4x8xf32>, memref<4x8xf32>)
      checkpoints(%b : memref<4xf32>) outs(%x : memref<4x8xf32>)
  // expected-note @below {{it is allocated here}}
  %c = pol.alloc %arena : !pol.arena -> memref<4xf32>
  // expected-error @below {{expected rstd to be the rstd that 'pol.rms_norm' wrote, but nothing did}}
  pol.rms_norm_grad ins(%x, %x : memref<4x8xf32>, memref<4x8xf32>)
      checkpoints(%c : memref<4xf32>) outs(%x : memref<4x8xf32>)
  return
}

// -----

// What a forward kernel writes in a frame or a capture is what it writes.

func.func @through_regions(%a: !pol.arena, %x: tensor<4x8xf32>, %w: tensor<8xf32>, %y: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> tensor<4x8xf32> {
  %fwd:2 = pol.capture -> tensor<4x8xf32>, tensor<4xf32> {
    %0:2 = pol.frame on %a : !pol.arena -> tensor<4x8xf32>, tensor<4xf32> {
    ^bb0(%f: !pol.frame):
      // expected-note @below {{it is here}}
      %1, %rstd = pol.rms_norm ins(%x, %w : tensor<4x8xf32>, tensor<8xf32>)
          outs(%y : tensor<4x8xf32>) checkpoints(%r : tensor<4xf32>)
          {offset = 1.0 : f64} -> tensor<4x8xf32>, tensor<4xf32>
      pol.yield %1, %rstd : tensor<4x8xf32>, tensor<4xf32>
    }
    pol.yield %0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>
  }
  // expected-error @below {{expected offset to be that of the forward kernel}}
  %dx = pol.rms_norm_grad
      ins(%x, %fwd#0, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
      checkpoints(%fwd#1 : tensor<4xf32>) outs(%x : tensor<4x8xf32>)
      -> tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}
