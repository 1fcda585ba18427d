// build/bin/pol-run examples/attention_variant.mlir --entry variant_step --input 1x4x150x16xf32=normal:1 --input 1x2x150x16xf32=normal:2 --input 1x2x150x16xf32=normal:3 --input 4xf32=normal:4 --input 150xi32=const:0 --input 1x4x150x16xf32=normal:5 --space arena:16M --memory-report
//
// A variant of attention, forward and backward: documents that are packed into
// one sequence, causal within each, with ALiBi, whose slopes are learned.
//
//   s += slopes[head] · (key − query)    a region, of scalar ops
//   kept where documents[query] = documents[key] and key ≤ query
//
// What regions read is captured: here slopes and documents, in this order. No
// array of queries × keys comes of it. The tiles of 64 × 64 that the mask keeps
// anything of are listed in scratch; the others are not visited.

!x = tensor<1x?x?x16xf32>
!row = tensor<1x?x?xf32>
func.func @variant(%arena: !pol.arena, %q: !x, %k: !x, %v: !x,
                   %slopes: tensor<?xf32>, %documents: tensor<?xi32>)
    -> (!x, !row, !row) {
  // `none`: there are no bias, input_pos and lengths.
  %o, %max, %sum = pol.apply "pol.attention"(%q, %k, %v, none, none, none, none,
                                             %slopes, %documents)
      {causal = #pol.causal<top_left>} regions({
      ^score(%s: f32, %b: index, %h: index, %i: index, %j: index,
             %slope: tensor<?xf32>, %document: tensor<?xi32>):
        %a = tensor.extract %slope[%h] : tensor<?xf32>
        %back = arith.subi %j, %i : index
        %integer = arith.index_cast %back : index to i64
        %distance = arith.sitofp %integer : i64 to f32
        %r = math.fma %a, %distance, %s : f32
        pol.yield %r : f32
      }, {
      ^mask(%b: index, %h: index, %i: index, %j: index, %slope: tensor<?xf32>,
            %document: tensor<?xi32>):
        %one = tensor.extract %document[%i] : tensor<?xi32>
        %other = tensor.extract %document[%j] : tensor<?xi32>
        %same = arith.cmpi eq, %one, %other : i32
        pol.yield %same : i1
      }) in %arena
      : (!x, !x, !x, tensor<?xf32>, tensor<?xi32>), !pol.arena
      -> !x, !row, !row
  return %o, %max, %sum : !x, !row, !row
}

// Backward, with the same regions. The gradient of what is duplicated goes to its
// shadow: that of q, and that of the slopes.
!pair = !pol.duplicated<!x>
!slopes = !pol.duplicated<tensor<?xf32>>
func.func @variant_grad(%arena: !pol.arena, %q: !pair, %k: !x, %v: !x, %o: !x,
                        %do: !x, %max: !row, %sum: !row, %slopes: !slopes,
                        %documents: tensor<?xi32>) -> (!x, tensor<?xf32>) {
  %dq, %dslopes = pol.apply "pol.attention_grad"(%q, %k, %v, %o, %do, none, none,
                                                 none, none, %max, %sum, %slopes,
                                                 %documents)
      {causal = #pol.causal<top_left>} regions({
      ^score(%s: f32, %b: index, %h: index, %i: index, %j: index,
             %slope: tensor<?xf32>, %document: tensor<?xi32>):
        %a = tensor.extract %slope[%h] : tensor<?xf32>
        %back = arith.subi %j, %i : index
        %integer = arith.index_cast %back : index to i64
        %distance = arith.sitofp %integer : i64 to f32
        %r = math.fma %a, %distance, %s : f32
        pol.yield %r : f32
      }, {
      ^mask(%b: index, %h: index, %i: index, %j: index, %slope: tensor<?xf32>,
            %document: tensor<?xi32>):
        %one = tensor.extract %document[%i] : tensor<?xi32>
        %other = tensor.extract %document[%j] : tensor<?xi32>
        %same = arith.cmpi eq, %one, %other : i32
        pol.yield %same : i1
      }) in %arena
      : (!pair, !x, !x, !x, !x, !row, !row, !slopes, tensor<?xi32>), !pol.arena
      -> !x, tensor<?xf32>
  return %dq, %dslopes : !x, tensor<?xf32>
}

// Both.
!pairs = !pol.bundle<{q: !pair, slopes: !slopes}>
!qSpec = !pol.duplicated<!x, !pol.undef<1x?x?x16xf32>>
!slopesSpec = !pol.duplicated<tensor<?xf32>, !pol.undef<?xf32>>
func.func @variant_step(%arena: !pol.arena, %q: !x, %k: !x, %v: !x,
                        %slopes: tensor<?xf32>, %documents: tensor<?xi32>,
                        %do: !x) -> (!x, !x, tensor<?xf32>) {
  %o, %max, %sum = func.call @variant(%arena, %q, %k, %v, %slopes, %documents)
      : (!pol.arena, !x, !x, !x, tensor<?xf32>, tensor<?xi32>)
      -> (!x, !row, !row)
  %qShadow = pol.duplicated %q : !x
  %slopesShadow = pol.duplicated %slopes : tensor<?xf32>
  %specs = pol.bundle {q = %qShadow : !qSpec, slopes = %slopesShadow : !slopesSpec}
  %pairs = pol.alloc %arena, %specs
      : !pol.arena, !pol.bundle<{q: !qSpec, slopes: !slopesSpec}> -> !pairs
  %qPair = pol.get %pairs, "q" : !pairs
  %slopesPair = pol.get %pairs, "slopes" : !pairs
  %dq, %dslopes = func.call @variant_grad(%arena, %qPair, %k, %v, %o, %do, %max,
                                          %sum, %slopesPair, %documents)
      : (!pol.arena, !pair, !x, !x, !x, !x, !row, !row, !slopes, tensor<?xi32>)
      -> (!x, tensor<?xf32>)
  return %o, %dq, %dslopes : !x, !x, tensor<?xf32>
}
