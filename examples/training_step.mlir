// build/bin/pol-run examples/training_step.mlir --entry training_step --input 2x4x32x16xf32=normal:1 --input 16xbf16=ones --input 2x2x32x16xf32=normal:2 --input 2x2x32x16xf32=normal:3 --input 2x4x32x16xf32=normal:4 --space arena --strict --memory-report
//
// One training step: forward, loss, backward.
//
//   q = rms_norm(x, w),   o = attention(q, k, v),   loss = sum((o - target)^2)/2
//
// and the gradients of x and w; k and v are constants. The weights are bf16 and
// their gradient is f32. Forward and backward each have an arena of their own,
// so that the report says what either takes: the forward pass, what it leaves
// for the backward pass, and no more; the backward pass, the gradients, and what
// it needs in between, which is gone when its frame closes.

!array = tensor<?x?x?x?xf32>
!rows = tensor<?x?x?xf32>
!room = tensor<?x?xf32>
!arrayPair = !pol.duplicated<tensor<?x?x?x?xf32>>
!weightPair = !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
!arrayUndef = !pol.duplicated<tensor<?x?x?x?xf32>, !pol.undef<?x?x?x?xf32>>
!weightUndef = !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>

// Outputs and checkpoints come from the caller's space, and so outlive the call.
// There is no scratch.
func.func private @forward(%space: !pol.arena, %x: !array, %w: tensor<?xbf16>,
                           %k: !array, %v: !array)
    -> (!array, !rows, !array, !rows, !rows) {
  %q, %rstd = pol.apply "pol.rms_norm"(%x, %w) in %space
      : (!array, tensor<?xbf16>), !pol.arena -> !array, !rows
  %o, %max, %sum = pol.apply "pol.attention"(%q, %k, %v)
      {causal = #pol.causal<top_left>} in %space
      : (!array, !array, !array), !pol.arena -> !array, !rows, !rows
  return %q, %rstd, %o, %max, %sum : !array, !rows, !array, !rows, !rows
}

// The gradients of x and w go to their shadows, which the caller has allocated.
// All the rest is in one frame: the loss's gradient, that of q, and the kernels'
// scratch.
func.func private @backward(%space: !pol.arena, %x: !arrayPair, %w: !weightPair,
                            %k: !array, %v: !array, %q: !array, %rstd: !rows,
                            %o: !array, %max: !rows, %sum: !rows,
                            %target: !array) -> (!array, tensor<?xf32>) {
  %dx, %dw = pol.frame on %space : !pol.arena -> !array, tensor<?xf32> {
  ^bb0(%frame: !pol.frame):
    // q is duplicated, and its shadow is in the frame, as nobody needs it later.
    // k and v are bare: nothing is computed for them.
    %u = pol.undef like %o : !array
    %qu = pol.duplicated %q : !array
    %spec = pol.bundle {do = %u : !pol.undef<?x?x?x?xf32>, q = %qu : !arrayUndef}
    %mem = pol.alloc %frame, %spec : !pol.frame,
        !pol.bundle<{do: !pol.undef<?x?x?x?xf32>, q: !arrayUndef}>
        -> !pol.bundle<{do: !array, q: !arrayPair}>
    %do0 = pol.get %mem, "do" : !pol.bundle<{do: !array, q: !arrayPair}>
    %qp = pol.get %mem, "q" : !pol.bundle<{do: !array, q: !arrayPair}>

    // d loss / d o = o - target
    %do = linalg.sub ins(%o, %target : !array, !array) outs(%do0 : !array)
        -> !array
    %scratch = pol.scratch "pol.attention_grad"(%qp, %k, %v, %o, %do, none,
        none, none, none, %max, %sum) in %frame
        : (!arrayPair, !array, !array, !array, !array, !rows, !rows), !pol.frame
        -> !pol.bundle<{delta: !rows, workspace: !room}>
    %dq = pol.call "pol.attention_grad"(%qp, %k, %v, %o, %do, none, none, none,
        none, %max, %sum) {causal = #pol.causal<top_left>} scratch(%scratch)
        : (!arrayPair, !array, !array, !array, !array, !rows, !rows),
          !pol.bundle<{delta: !rows, workspace: !room}> -> !array

    // As the gradient of the norm's output, q stands for its shadow.
    %qd = pol.duplicated %q, %dq : !array, !array
    %partials = pol.scratch "pol.rms_norm_grad"(%x, %qd, %w, %rstd) in %frame
        : (!arrayPair, !arrayPair, !weightPair, !rows), !pol.frame
        -> !pol.bundle<{dweight_partials: tensor<?x?xf32>}>
    %0, %1 = pol.call "pol.rms_norm_grad"(%x, %qd, %w, %rstd) scratch(%partials)
        : (!arrayPair, !arrayPair, !weightPair, !rows),
          !pol.bundle<{dweight_partials: tensor<?x?xf32>}>
        -> !array, tensor<?xf32>
    pol.yield %0, %1 : !array, tensor<?xf32>
  }
  return %dx, %dw : !array, tensor<?xf32>
}

func.func @training_step(%forward: !pol.arena, %backward: !pol.arena,
                         %x: !array, %w: tensor<?xbf16>, %k: !array, %v: !array,
                         %target: !array) -> (!array, !array, tensor<?xf32>) {
  %q, %rstd, %o, %max, %sum = func.call @forward(%forward, %x, %w, %k, %v)
      : (!pol.arena, !array, tensor<?xbf16>, !array, !array)
      -> (!array, !rows, !array, !rows, !rows)
  // A shadow may be wider than what it is the shadow of.
  %xu = pol.duplicated %x : !array
  %wu = pol.duplicated %w : tensor<?xbf16> -> !weightUndef
  %spec = pol.bundle {x = %xu : !arrayUndef, w = %wu : !weightUndef}
  %pairs = pol.alloc %backward, %spec
      : !pol.arena, !pol.bundle<{x: !arrayUndef, w: !weightUndef}>
      -> !pol.bundle<{x: !arrayPair, w: !weightPair}>
  %xp = pol.get %pairs, "x" : !pol.bundle<{x: !arrayPair, w: !weightPair}>
  %wp = pol.get %pairs, "w" : !pol.bundle<{x: !arrayPair, w: !weightPair}>
  %dx, %dw = func.call @backward(%backward, %xp, %wp, %k, %v, %q, %rstd, %o,
                                 %max, %sum, %target)
      : (!pol.arena, !arrayPair, !weightPair, !array, !array, !array, !rows,
         !array, !rows, !rows, !array) -> (!array, tensor<?xf32>)
  return %o, %dx, %dw : !array, !array, tensor<?xf32>
}
