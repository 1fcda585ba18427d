// build/bin/pol-run examples/decode_attention.mlir --entry decode --input 2x8x1x64xf32=normal:1 --input 2x2x1000x64xf32=normal:2 --input 2x2x1000x64xf32=normal:3 --input 2xi32=const:999 --space arena:1M --memory-report
//
// Attention of the newest query of each sequence to a cache of the keys and
// values before it, for which there is nothing to be computed in parallel but
// the keys themselves: they are cut into splits, each of which has a largest
// score, a sum of exponentials and a weighted sum of values, and the splits are
// merged.
//
// q is [batch, heads, queries, D]. k and v have fewer heads, each of which is
// read once for all query heads of its group.

// A contiguous cache, of which each sequence has so much. Operands go by
// position: `none` stands for the block table. Partial results of the splits
// are scratch, which the report shows.
func.func @decode(%arena: !pol.arena, %q: tensor<?x?x?x?xf32>,
                  %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                  %lengths: tensor<?xi32>) -> tensor<?x?x?x?xf32> {
  %o = pol.apply "pol.decode_attention"(%q, %k, %v, none, %lengths)
      {causal = #pol.causal<bottom_right>} in %arena
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
         tensor<?xi32>), !pol.arena -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}

// A paged one: k and v are pools [pages, heads, keys of a page, D], and the
// table says which pages a sequence has, in order. Without `splits`, their
// number follows from the shapes.
func.func @decode_paged(%arena: !pol.arena, %q: tensor<?x?x?x?xf32>,
                        %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                        %table: tensor<?x?xi32>, %lengths: tensor<?xi32>)
    -> tensor<?x?x?x?xf32> {
  %o = pol.apply "pol.decode_attention"(%q, %k, %v, %table, %lengths)
      {causal = #pol.causal<bottom_right>, splits = 4 : i64} in %arena
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>,
         tensor<?x?xi32>, tensor<?xi32>), !pol.arena -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}
