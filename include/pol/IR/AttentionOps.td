//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Attention, forward and backward.

#ifndef POL_IR_ATTENTIONOPS_TD
#define POL_IR_ATTENTIONOPS_TD

include "pol/IR/KernelOps.td"

def Pol_AttentionOp : Pol_KernelOp<"attention",
                                   [AttrSizedOperandSegments,
                                    IsolatedFromAbove]> {
  let summary = "scaled dot product attention";
  let description = [{
    `o = softmax(s) · v` along the keys, with the score of query q and key t
    `s = cap(scale · Σ q·k) + bias`, where `cap(s) = softcap · tanh(s/softcap)`,
    or s itself without `softcap`. Keys that are masked take no part.

    | operand | shape | element type |
    | --- | --- | --- |
    | q | [B, H, S, D] | f16, bf16, f32, f64 |
    | k | [B, Hk, T, D] | any of these, no wider than accumulation |
    | v | [B, Hk, T, Dv] | any of these, no wider than accumulation |
    | bias (optional) | [1 or B, 1 or H, S, T] | any of these, no wider than accumulation |
    | input_pos (with `causal = #pol.causal<input_pos>`) | | index |
    | q_lengths, k_lengths (optional) | [B] | i32, i64 |
    | captures (any number) | any | floats, integers, index |
    | o, output | [B, H, S, Dv] | any of these, no wider than accumulation |
    | max, sum, checkpoints (both or none) | [B, H, S] | that of accumulation |
    | tiles, scratch (optional) | [B, H, ⌈S/64⌉, ⌈T/64⌉ + 1] | i32 |
    | workspace, scratch (optional) | [workers, of the target] | that of accumulation |

    Hk divides H, and query head h reads head ⌊h / (H/Hk)⌋ of k and v. `scale`
    defaults to 1/√D (1 where D is 0). Accumulation is f64 where q is f64, else f32.

    A key t is kept for query s where all of these hold:

    * `t < k_lengths[b]`, with lengths at most T;
    * with `causal`, `t ≤ s + pos`. With `top_left`, pos is 0: query 0 sees key
      0 alone. With `bottom_right`, pos is T − S: the last query sees all keys.
      They are one where S = T. With `input_pos`, pos is that operand, the
      number of keys that came before the first query; it may be negative;
    * with `window = w`, which wants `causal`, `t ≥ s + pos − w`: at most w + 1
      keys.

    * the region `mask`, where there is one, yields true for it.

    Queries from `q_lengths[b]` on keep no key. A query that keeps none has o =
    0, max = −∞ and sum = 0, and no gradient. What masked positions hold is
    never read. `max` is the largest score of a query, `sum` that of exp(s −
    max). Vaswani et al., *Attention Is All You Need*, 2017; Ainslie et al.,
    *GQA*, 2023.

    With `packed`, the batch is 1 and holds sequences one behind the other:
    `q_lengths` and `k_lengths`, [N + 1], say where each of N begins in q and in
    k, and where the last one ends. Each attends to itself, with positions that
    begin at 0, or at `input_pos`, in each; to regions, its number is the batch.
    With `bottom_right`, pos is its own T − S. Rows outside of all sequences keep
    no key. There is no bias then but what a region computes.

    Two regions make variants. `score` takes a score, cap(scale · Σ q·k), and
    what it yields, plus the bias, is what counts; it is only evaluated where a
    key is kept. `mask` yields whether a query keeps a key. Their arguments are,
    after the score, the batch, the head, the position of the query, which is its
    row plus `input_pos` (that operand may be there without `causal` then), and
    the key. Arrays and scalars that they read are captured: each is an argument
    of both regions. Types are not written, as they follow from the operands.
    Regions hold scalar code without effects, of the dialects arith, math and
    index, and read captures by `tensor.extract` (`memref.load` of memrefs).
    What they do for each pair of positions is done as often as the product of
    query and key, and no array of size S × T comes of it: a mask is analysed
    for how much of a tile of 64 queries and 64 keys it keeps, so that tiles it
    empties are not visited, and in those it keeps in full it is not evaluated.
    Where it keeps no interval of keys for each query, the tiles that are left
    are listed in `tiles`; without that scratch they are found query by query.

    In `workspace` each of the target's workers has room for a tile of what it
    multiplies. The tuned expansion for the CPU (`convert-pol-to-vector`) needs
    it; where it is not there, the reference expansion is used. Where the module
    has no target, it is described with extents of 0.

    ```mlir
    %r = pol.attention
        ins(%x, %x, %x : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>,
            tensor<1x4x?x8xf32>)
        captures(%slopes, %documents : tensor<4xf32>, tensor<?xi32>)
        outs(%o0 : tensor<1x4x?x8xf32>)
        score(%s, %b, %h, %i, %j, %slope, %document) {
          %a = tensor.extract %slope[%h] : tensor<4xf32>
          %d = arith.subi %j, %i : index
          %e = arith.index_cast %d : index to i64
          %f = arith.sitofp %e : i64 to f32
          %g = arith.mulf %a, %f : f32
          %t = arith.addf %s, %g : f32
          pol.yield %t : f32
        } mask(%b, %h, %i, %j, %slope, %document) {
          %a = tensor.extract %document[%i] : tensor<?xi32>
          %d = tensor.extract %document[%j] : tensor<?xi32>
          %same = arith.cmpi eq, %a, %d : i32
          pol.yield %same : i1
        } -> tensor<1x4x?x8xf32>
    ```

    ```mlir
    %o, %m, %l = pol.attention
        ins(%q, %k, %v, k_lengths = %n : tensor<2x6x?x64xf16>,
            tensor<2x2x?x64xf16>, tensor<2x2x?x32xf16>, tensor<2xi32>)
        outs(%o0 : tensor<2x6x?x32xf16>)
        checkpoints(%m0, %l0 : tensor<2x6x?xf32>, tensor<2x6x?xf32>)
        {causal = #pol.causal<bottom_right>, softcap = 30.0 : f64}
        -> tensor<2x6x?x32xf16>, tensor<2x6x?xf32>, tensor<2x6x?xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$q, Pol_KernelInput:$k,
                       Pol_KernelInput:$v, Optional<Pol_KernelInput>:$bias,
                       Optional<Index>:$input_pos,
                       Optional<Pol_Lengths>:$q_lengths,
                       Optional<Pol_Lengths>:$k_lengths,
                       Variadic<AnyType>:$captures, Pol_KernelBuffer:$o,
                       Optional<Pol_KernelBuffer>:$max,
                       Optional<Pol_KernelBuffer>:$sum,
                       Optional<Pol_TileLists>:$tiles,
                       Optional<Pol_KernelBuffer>:$workspace,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<Pol_CausalAttr>:$causal,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$packed);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
}

def Pol_AttentionGradOp : Pol_KernelOp<"attention_grad",
                                   [AttrSizedOperandSegments,
                                    IsolatedFromAbove]> {
  let summary = "gradients of pol.attention";
  let description = [{
    With P the weights of the forward pass, recomputed as `exp(s − max)/sum`,
    dP = dout · vᵀ, Δ = Σ dout·o along Dv and `ds = P·(dP − Δ)`:
    `dv = Pᵀ·dout`, `dq = scale · (ds·cap′)·k`, `dk = scale · (ds·cap′)ᵀ·q`, each
    summed over the query heads of a group where they share a head, and `dbias =
    ds`, summed over the dimensions in which bias is 1. Each is overwritten,
    never added to; one without a destination is not computed. Sums have a fixed
    order, and nothing of size S × T is stored.

    | operand | shape | element type |
    | --- | --- | --- |
    | q, k, v, bias, input_pos, q_lengths, k_lengths | as in `pol.attention` | |
    | o, dout | [B, H, S, Dv] | any float no wider than accumulation |
    | max, sum, checkpoints of the forward op | [B, H, S] | that of accumulation |
    | dq, dk, dv (optional) | as q, k, v | any of these, no wider than accumulation |
    | dbias (optional) | as bias | any of these, no wider than accumulation |
    | captures | as in `pol.attention` | |
    | dcaptures (optional) | as captures, by number | any floats |
    | delta, scratch | [B, H, S] | that of accumulation |
    | capture_sums, scratch (optional) | [N] | that of accumulation |
    | tiles, key_tiles, scratch (optional) | [B, H, ⌈S/64⌉, ⌈T/64⌉ + 1], [B, H, ⌈T/64⌉, ⌈S/64⌉ + 1] | i32 |
    | workspace, scratch (optional) | [workers, of the target] | that of accumulation |

    The scratch delta is there where dq, dk, dbias or a gradient of a capture is,
    and `workspace`, as in `pol.attention`, where dq, dk or dv is.
    The attributes and regions are those of the forward op. Masked positions have
    no part in any gradient, and are 0 in dbias. Dao et al., *FlashAttention*,
    2022.

    A capture that is duplicated, or has a destination in `dcaptures`, gets its
    gradient: the sum of ds times the derivative of the score region by what it
    loads, over all positions, in a fixed order. Every op between the score or
    such a capture and what the region yields implements
    `DifferentiableOpInterface`. Where each index of a load is one position at
    most, plus or minus what is the same everywhere, the elements of the capture
    are summed side by side; else one position after the other, with compensation
    in capture_sums: two numbers for each element of such captures. Without that
    scratch they are added in the destination's type.

    ```mlir
    %dq, %dv = pol.attention_grad
        ins(%q, %k, %v, %o, %do : tensor<2x6x8x64xf32>, tensor<2x2x9x64xf32>,
            tensor<2x2x9x32xf32>, tensor<2x6x8x32xf32>, tensor<2x6x8x32xf32>)
        checkpoints(%m, %l : tensor<2x6x8xf32>, tensor<2x6x8xf32>)
        outs(%dq0, dv = %dv0 : tensor<2x6x8x64xf32>, tensor<2x2x9x32xf32>)
        scratch(%delta : tensor<2x6x8xf32>) {causal = #pol.causal<top_left>}
        -> tensor<2x6x8x64xf32>, tensor<2x2x9x32xf32>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$q, Pol_KernelInput:$k,
                       Pol_KernelInput:$v, Pol_KernelInput:$o,
                       Pol_KernelInput:$dout, Optional<Pol_KernelInput>:$bias,
                       Optional<Index>:$input_pos,
                       Optional<Pol_Lengths>:$q_lengths,
                       Optional<Pol_Lengths>:$k_lengths, Pol_KernelBuffer:$max,
                       Pol_KernelBuffer:$sum, Variadic<AnyType>:$captures,
                       Optional<Pol_KernelBuffer>:$dq,
                       Optional<Pol_KernelBuffer>:$dk,
                       Optional<Pol_KernelBuffer>:$dv,
                       Optional<Pol_KernelBuffer>:$dbias,
                       Variadic<Pol_KernelBuffer>:$dcaptures,
                       Optional<Pol_KernelBuffer>:$delta,
                       Optional<Pol_KernelBuffer>:$capture_sums,
                       Optional<Pol_TileLists>:$tiles,
                       Optional<Pol_TileLists>:$key_tiles,
                       Optional<Pol_KernelBuffer>:$workspace,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<Pol_CausalAttr>:$causal,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$packed,
                       OptionalAttr<DenseI64ArrayAttr>:$capture_gradients);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
}

def Pol_DecodeAttentionOp : Pol_KernelOp<"decode_attention",
                                      [AttrSizedOperandSegments]> {
  let summary = "attention of a few queries to a long cache, split over keys";
  let description = [{
    What `pol.attention` computes, for queries at the end of a cache of keys and
    values: S of them, often 1, in each sequence. Keys are cut into C splits,
    which are computed in parallel and then merged. Split c has of each query

    * `m_c`, the largest score `s = cap(scale · Σ q·k)` of the keys it keeps,
    * `l_c = Σ exp(s − m_c)` and `a_c = Σ exp(s − m_c) · v`,

    and with `m = max m_c` and `w_c = exp(m_c − m)`, `o = Σ w_c·a_c / Σ w_c·l_c`.

    The cache is contiguous, or, where there is a `block_table`, paged: k and v
    are then pools of N pages of P keys, and key t of sequence b is key `t mod P`
    of page `block_table[b, t / P]`. Pages may be shared, and are in any order;
    T is G · P.

    | operand | shape | element type |
    | --- | --- | --- |
    | q | [B, H, S, D] | f16, bf16, f32, f64 |
    | k, v | [B, Hk, T, D], [B, Hk, T, Dv]; paged: [N, Hk, P, D], [N, Hk, P, Dv] | any of these, no wider than accumulation |
    | block_table (optional) | [B, G] | i32, i64 |
    | k_lengths (optional; with a block table required) | [B] | i32, i64 |
    | o, output | [B, H, S, Dv] | any of these, no wider than accumulation |
    | max, sum, checkpoints (both or none) | [B, H, S] | that of accumulation |
    | partial_o, scratch | [B, H, S, C, Dv] | that of accumulation |
    | partial_max, partial_sum, scratch | [B, H, S, C] | that of accumulation |

    Hk divides H, and query heads that share a head of k and v read each of its
    rows together. `scale` defaults to 1/√D (1 where D is 0), `softcap` is that of
    `pol.attention`. A sequence has n keys: `k_lengths[b]`, at most T, or T
    without lengths. With `causal`, which is `bottom_right`, query s keeps key t
    if `t ≤ n − S + s`: the last query keeps all. With `window = w`, which wants
    `causal`, it keeps `t ≥ n − S + s − w` only. A query that keeps none has o = 0,
    max = −∞ and sum = 0. What lies past a length, in pages of the pool or in the
    table, is never read. Entries in use are in [0, N).

    C is `splits` if that is given, else
    `max(min(⌈64 / (B·Hk)⌉, ⌈T / 64⌉), ⌈T / 256⌉, 1)`: it depends on nothing
    but shapes, and the result on it by rounding alone. Dao et al.,
    *Flash-Decoding*, 2023; Kwon et al., *PagedAttention*, 2023.

    ```mlir
    %o = pol.decode_attention
        ins(%q, %k, %v, %table, %n : tensor<4x8x1x64xf16>,
            tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16>, tensor<4x?xi32>,
            tensor<4xi32>)
        outs(%o0 : tensor<4x8x1x64xf16>)
        scratch(%po, %pm, %pl : tensor<4x8x1x8x64xf32>, tensor<4x8x1x8xf32>,
            tensor<4x8x1x8xf32>)
        {causal = #pol.causal<bottom_right>, splits = 8 : i64}
        -> tensor<4x8x1x64xf16>
    ```
  }];
  let arguments = (ins Pol_KernelInput:$q, Pol_KernelInput:$k,
                       Pol_KernelInput:$v, Optional<Pol_Lengths>:$block_table,
                       Optional<Pol_Lengths>:$k_lengths, Pol_KernelBuffer:$o,
                       Optional<Pol_KernelBuffer>:$max,
                       Optional<Pol_KernelBuffer>:$sum,
                       Optional<Pol_KernelBuffer>:$partial_o,
                       Optional<Pol_KernelBuffer>:$partial_max,
                       Optional<Pol_KernelBuffer>:$partial_sum,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<Pol_CausalAttr>:$causal,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<I64Attr>:$splits);
}

#endif // POL_IR_ATTENTIONOPS_TD
