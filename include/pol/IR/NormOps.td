//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Kernels along the last dimension: rms_norm, layer_norm and softmax.

#ifndef POL_IR_NORMOPS_TD
#define POL_IR_NORMOPS_TD

include "pol/IR/KernelOps.td"

def Pol_RmsNormOp : Pol_KernelOp<"rms_norm",
                                      [AttrSizedOperandSegments]> {
  let summary = "root mean square normalization of the last dimension";
  let description = [{
    For each row of length M, `y = x · rstd · (weight + offset)` with
    `rstd = 1/√(mean(x²) + eps)`. Without a weight, `weight + offset` is 1 and
    `offset` must be 0.

    | operand | shape | element type |
    | --- | --- | --- |
    | x | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | weight (optional) | [M] | any of these, no wider than accumulation |
    | y, output | as x | any of these, no wider than accumulation |
    | rstd, checkpoint (optional) | [...] | that of accumulation |

    Accumulation is f64 for f64 inputs, else f32. `eps` ≥ 0 is added inside the
    root, `offset` to the weight, both in the accumulation type. Squares do not
    overflow or vanish whatever finite values x holds. A row of zeros with
    `eps` 0 gives NaN, as the formula does; rows of length 0 have rstd =
    1/√eps. y may be x. Zhang and Sennrich, *Root Mean Square Layer
    Normalization*, 2019.

    ```mlir
    %y, %rstd = pol.rms_norm ins(%x, %w : tensor<?x64xf32>, tensor<64xf32>)
        outs(%y0 : tensor<?x64xf32>) checkpoints(%r0 : tensor<?xf32>)
        {eps = 1.0e-6 : f64} -> tensor<?x64xf32>, tensor<?xf32>
    pol.rms_norm ins(%m : memref<8x64xf16>) outs(%n : memref<8x64xf16>)
    ```
  }];
  let arguments = (ins Pol_KernelInput:$x, Optional<Pol_KernelInput>:$weight,
                       Pol_KernelBuffer:$y, Optional<Pol_KernelBuffer>:$rstd,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset);
}

def Pol_RmsNormGradOp : Pol_KernelOp<"rms_norm_grad",
                                      [AttrSizedOperandSegments]> {
  let summary = "gradients of pol.rms_norm";
  let description = [{
    With g = weight + offset and x̂ = x · rstd, for each row
    `dx = rstd · (dy·g − x̂ · mean(dy·g·x̂))`, and `dweight = Σ dy·x̂` over all
    rows. Each is overwritten, never added to; one without a destination is not
    computed.

    | operand | shape | element type |
    | --- | --- | --- |
    | x, dy | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | weight (optional) | [M] | any of these, no wider than accumulation |
    | rstd, checkpoint of the forward op | [...] | that of accumulation |
    | dx (optional) | as x | any of these, no wider than accumulation |
    | dweight (optional) | [M] | any of these, no wider than accumulation |
    | dweight_partials, scratch | [P, M] | that of accumulation |

    The rows are summed in P = ⌈R / (64·⌈R/4096⌉)⌉ blocks, where R is their
    number, in an order that depends on R alone. The scratch is there where
    dweight is. dx may be x or dy. `offset` is that of the forward op.

    ```mlir
    %dx, %dw = pol.rms_norm_grad
        ins(%x, %dy, %w : tensor<8x64xf32>, tensor<8x64xf32>, tensor<64xf32>)
        checkpoints(%rstd : tensor<8xf32>)
        outs(%dx0, %dw0 : tensor<8x64xf32>, tensor<64xf32>)
        scratch(%partials : tensor<1x64xf32>)
        -> tensor<8x64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$x, Pol_KernelInput:$dy,
                       Optional<Pol_KernelInput>:$weight,
                       Pol_KernelBuffer:$rstd, Optional<Pol_KernelBuffer>:$dx,
                       Optional<Pol_KernelBuffer>:$dweight,
                       Optional<Pol_KernelBuffer>:$dweight_partials,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset);
}

def Pol_LayerNormOp : Pol_KernelOp<"layer_norm",
                                      [AttrSizedOperandSegments]> {
  let summary = "layer normalization of the last dimension";
  let description = [{
    For each row of length M, `y = (x − μ) · rstd · weight + bias`, with μ the
    mean of the row, `rstd = 1/√(var + eps)` and `var = mean((x − μ)²)`. A
    weight or bias that is absent is 1 or 0.

    | operand | shape | element type |
    | --- | --- | --- |
    | x | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | weight, bias (optional) | [M] | any of these, no wider than accumulation |
    | y, output | as x | any of these, no wider than accumulation |
    | mean, rstd, checkpoints (both or none) | [...] | that of accumulation |

    Accumulation is f64 for f64 inputs, else f32. The mean is corrected by the
    mean of what is left after subtracting it, so that rows far from zero keep
    their digits. `eps` ≥ 0 is added inside the root. Rows of length 0 have mean
    0 and rstd 1/√eps. y may be x. Ba, Kiros and Hinton, *Layer Normalization*,
    2016.

    ```mlir
    %y = pol.layer_norm
        ins(%x, %w, %b : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>)
        outs(%y0 : tensor<?x64xf32>) {eps = 1.0e-6 : f64} -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$x, Optional<Pol_KernelInput>:$weight,
                       Optional<Pol_KernelInput>:$bias, Pol_KernelBuffer:$y,
                       Optional<Pol_KernelBuffer>:$mean,
                       Optional<Pol_KernelBuffer>:$rstd,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$eps);
}

def Pol_LayerNormGradOp : Pol_KernelOp<"layer_norm_grad",
                                      [AttrSizedOperandSegments]> {
  let summary = "gradients of pol.layer_norm";
  let description = [{
    With g = dy · weight and x̂ = (x − μ) · rstd, for each row
    `dx = rstd · (g − mean(g) − x̂ · mean(g·x̂))`, and over all rows
    `dweight = Σ dy·x̂` and `dbias = Σ dy`. Each is overwritten, never added to;
    one without a destination is not computed.

    | operand | shape | element type |
    | --- | --- | --- |
    | x, dy | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | weight (optional) | [M] | any of these, no wider than accumulation |
    | bias (optional) | [M] | any of these, no wider than accumulation; not read |
    | mean, rstd, checkpoints of the forward op | [...] | that of accumulation |
    | dx (optional) | as x | any of these, no wider than accumulation |
    | dweight, dbias (optional) | [M] | any of these, no wider than accumulation |
    | dweight_partials, dbias_partials, scratch | [P, M] | that of accumulation |

    P is as in `pol.rms_norm_grad`; each scratch is there where its gradient is.
    A bias is given only to be duplicated. dx may be x or dy. The mean is taken
    as it was kept: where it is far from zero, x̂ is off by up to its rounding,
    |μ| · 2^-24 · rstd (2^-53 for f64).

    ```mlir
    %db = pol.layer_norm_grad
        ins(%x, %dy, %w : tensor<8x64xf32>, tensor<8x64xf32>, tensor<64xf32>)
        checkpoints(%mean, %rstd : tensor<8xf32>, tensor<8xf32>)
        outs(dbias = %db0 : tensor<64xf32>)
        scratch(dbias_partials = %partials : tensor<1x64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$x, Pol_KernelInput:$dy,
                       Optional<Pol_KernelInput>:$weight,
                       Optional<Pol_KernelInput>:$bias, Pol_KernelBuffer:$mean,
                       Pol_KernelBuffer:$rstd, Optional<Pol_KernelBuffer>:$dx,
                       Optional<Pol_KernelBuffer>:$dweight,
                       Optional<Pol_KernelBuffer>:$dbias,
                       Optional<Pol_KernelBuffer>:$dweight_partials,
                       Optional<Pol_KernelBuffer>:$dbias_partials);
}

def Pol_SoftmaxOp : Pol_KernelOp<"softmax"> {
  let summary = "softmax along the last dimension";
  let description = [{
    For each row, `y = exp(x − max x) / Σ exp(x − max x)`. The backward op reads
    y, so there are no checkpoints.

    | operand | shape | element type |
    | --- | --- | --- |
    | x | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | y, output | as x | any of these, no wider than accumulation |

    Accumulation is f64 for f64 inputs, else f32. A row that holds NaN or +∞, or
    −∞ alone, is NaN, as the formula is. y may be x.

    ```mlir
    %y = pol.softmax ins(%x : tensor<?x64xf16>) outs(%y0 : tensor<?x64xf32>)
        -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$x, Pol_KernelBuffer:$y);
}

def Pol_SoftmaxGradOp : Pol_KernelOp<"softmax_grad",
                                      [AttrSizedOperandSegments]> {
  let summary = "gradient of pol.softmax";
  let description = [{
    For each row, `dx = y · (dy − Σ dy·y)`.

    | operand | shape | element type |
    | --- | --- | --- |
    | y, dy | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | x (optional) | as y | any of these, no wider than accumulation; not read |
    | dx (optional) | as y | any of these, no wider than accumulation |

    x is given only to be duplicated. dx may be y or dy.

    ```mlir
    %dx = pol.softmax_grad ins(%y, %dy : tensor<?x64xf32>, tensor<?x64xf32>)
        outs(%dx0 : tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$y, Pol_KernelInput:$dy,
                       Optional<Pol_KernelInput>:$x,
                       Optional<Pol_KernelBuffer>:$dx);
}

#endif // POL_IR_NORMOPS_TD
