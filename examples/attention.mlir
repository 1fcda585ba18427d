// build/bin/pol-run examples/attention.mlir --entry attention_step --input 2x6x16x64xf32=normal:1 --input 2x2x24x64xf32=normal:2 --input 2x2x24x32xf32=normal:3 --input 2xi32=const:20 --input 2x6x16x32xf32=normal:4 --space arena:16M --memory-report
//
// Attention, forward and backward:
//
//   o = softmax(q k^T / sqrt(D) where kept) v
//
// q is [batch, heads, queries, D]. k and v have fewer heads, each of which is
// shared by a group of query heads (GQA), and v has rows of another length than
// q and k. Two masks apply: `causal` lets a query see the keys up to its own
// place, here with the last query at the last key; and of each batch entry only
// the first lengths[b] keys are real, whatever the others hold.

// Forward. Operands go by position: `none` stands for the ones that are absent,
// which are bias, input_pos and q_lengths. Two checkpoints per query are all
// that the backward pass needs to know of the scores: none of them are stored.
func.func @attention(%arena: !pol.arena, %q: tensor<?x?x?x?xf32>,
                     %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                     %lengths: tensor<?xi32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %o, %max, %sum = pol.apply "pol.attention"(%q, %k, %v, none, none, none,
                                             %lengths)
      {causal = #pol.causal<bottom_right>} in %arena
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
         tensor<?xi32>), !pol.arena
      -> tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>
  return %o, %max, %sum
      : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// Backward, with the same attributes. The gradients go to the shadows of q, k
// and v; delta, a number per query, is scratch.
!pair = !pol.duplicated<tensor<?x?x?x?xf32>>
func.func @attention_grad(%arena: !pol.arena, %q: !pair, %k: !pair, %v: !pair,
                          %o: tensor<?x?x?x?xf32>, %do: tensor<?x?x?x?xf32>,
                          %lengths: tensor<?xi32>, %max: tensor<?x?x?xf32>,
                          %sum: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %dq, %dk, %dv = pol.apply "pol.attention_grad"(%q, %k, %v, %o, %do, none,
                                                 none, none, %lengths, %max,
                                                 %sum)
      {causal = #pol.causal<bottom_right>} in %arena
      : (!pair, !pair, !pair, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
         tensor<?xi32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>), !pol.arena
      -> tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
  return %dq, %dk, %dv
      : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// Both. The three shadows are allocated at once, as a bundle.
!pairs = !pol.bundle<{q: !pair, k: !pair, v: !pair}>
!spec = !pol.duplicated<tensor<?x?x?x?xf32>, !pol.undef<?x?x?x?xf32>>
func.func @attention_step(%arena: !pol.arena, %q: tensor<?x?x?x?xf32>,
                          %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                          %lengths: tensor<?xi32>, %do: tensor<?x?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
        tensor<?x?x?x?xf32>) {
  %o, %max, %sum = func.call @attention(%arena, %q, %k, %v, %lengths)
      : (!pol.arena, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
         tensor<?x?x?x?xf32>, tensor<?xi32>)
      -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  %qSpec = pol.duplicated %q : tensor<?x?x?x?xf32>
  %kSpec = pol.duplicated %k : tensor<?x?x?x?xf32>
  %vSpec = pol.duplicated %v : tensor<?x?x?x?xf32>
  %specs = pol.bundle {q = %qSpec : !spec, k = %kSpec : !spec, v = %vSpec : !spec}
  %pairs = pol.alloc %arena, %specs
      : !pol.arena, !pol.bundle<{q: !spec, k: !spec, v: !spec}>
      -> !pairs
  %qPair = pol.get %pairs, "q" : !pairs
  %kPair = pol.get %pairs, "k" : !pairs
  %vPair = pol.get %pairs, "v" : !pairs
  %dq, %dk, %dv = func.call @attention_grad(%arena, %qPair, %kPair, %vPair, %o,
                                            %do, %lengths, %max, %sum)
      : (!pol.arena, !pair, !pair, !pair, tensor<?x?x?x?xf32>,
         tensor<?x?x?x?xf32>, tensor<?xi32>, tensor<?x?x?xf32>,
         tensor<?x?x?xf32>)
      -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
  return %o, %dq, %dk, %dv : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
      tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}
