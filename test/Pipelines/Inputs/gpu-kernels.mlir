// Every kernel on a GPU's memory, of dynamic and of static shapes. Arrays have
// elements of f16, which tests replace, and accumulation is in f32.

func.func @rms_norm(%x: memref<?x?xf16, #gpu.address_space<global>>,
    %w: memref<?xf16, #gpu.address_space<global>>,
    %y: memref<?x?xf16, #gpu.address_space<global>>,
    %rstd: memref<?xf32, #gpu.address_space<global>>) {
  pol.rms_norm ins(%x, %w : memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      outs(%y : memref<?x?xf16, #gpu.address_space<global>>)
      checkpoints(%rstd : memref<?xf32, #gpu.address_space<global>>) {offset = 1.0 : f64}
  return
}

func.func @rms_norm_grad(%x: memref<?x?xf16, #gpu.address_space<global>>,
    %dy: memref<?x?xf16, #gpu.address_space<global>>,
    %w: memref<?xf16, #gpu.address_space<global>>,
    %rstd: memref<?xf32, #gpu.address_space<global>>,
    %dx: memref<?x?xf16, #gpu.address_space<global>>,
    %dw: memref<?xf16, #gpu.address_space<global>>,
    %p: memref<?x?xf32, #gpu.address_space<global>>) {
  pol.rms_norm_grad ins(%x, %dy, %w : memref<?x?xf16, #gpu.address_space<global>>, memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      checkpoints(%rstd : memref<?xf32, #gpu.address_space<global>>)
      outs(%dx, %dw : memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      scratch(%p : memref<?x?xf32, #gpu.address_space<global>>)
  return
}

func.func @layer_norm(%x: memref<?x?xf16, #gpu.address_space<global>>,
    %w: memref<?xf16, #gpu.address_space<global>>,
    %b: memref<?xf16, #gpu.address_space<global>>,
    %y: memref<?x?xf16, #gpu.address_space<global>>,
    %mean: memref<?xf32, #gpu.address_space<global>>,
    %rstd: memref<?xf32, #gpu.address_space<global>>) {
  pol.layer_norm ins(%x, %w, %b : memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      outs(%y : memref<?x?xf16, #gpu.address_space<global>>)
      checkpoints(%mean, %rstd : memref<?xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>)
  return
}

func.func @layer_norm_grad(%x: memref<?x?xf16, #gpu.address_space<global>>,
    %dy: memref<?x?xf16, #gpu.address_space<global>>,
    %w: memref<?xf16, #gpu.address_space<global>>,
    %b: memref<?xf16, #gpu.address_space<global>>,
    %mean: memref<?xf32, #gpu.address_space<global>>,
    %rstd: memref<?xf32, #gpu.address_space<global>>,
    %dx: memref<?x?xf16, #gpu.address_space<global>>,
    %dw: memref<?xf16, #gpu.address_space<global>>,
    %db: memref<?xf16, #gpu.address_space<global>>,
    %p: memref<?x?xf32, #gpu.address_space<global>>,
    %q: memref<?x?xf32, #gpu.address_space<global>>) {
  pol.layer_norm_grad ins(%x, %dy, %w, %b : memref<?x?xf16, #gpu.address_space<global>>, memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      checkpoints(%mean, %rstd : memref<?xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>)
      outs(%dx, %dw, %db : memref<?x?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>, memref<?xf16, #gpu.address_space<global>>)
      scratch(%p, %q : memref<?x?xf32, #gpu.address_space<global>>, memref<?x?xf32, #gpu.address_space<global>>)
  return
}

func.func @softmax(%x: memref<?x?xf16, #gpu.address_space<global>>,
    %y: memref<?x?xf16, #gpu.address_space<global>>) {
  pol.softmax ins(%x : memref<?x?xf16, #gpu.address_space<global>>)
      outs(%y : memref<?x?xf16, #gpu.address_space<global>>)
  return
}

func.func @softmax_grad(%y: memref<?x?xf16, #gpu.address_space<global>>,
    %dy: memref<?x?xf16, #gpu.address_space<global>>,
    %dx: memref<?x?xf16, #gpu.address_space<global>>) {
  pol.softmax_grad ins(%y, %dy : memref<?x?xf16, #gpu.address_space<global>>, memref<?x?xf16, #gpu.address_space<global>>)
      outs(%dx : memref<?x?xf16, #gpu.address_space<global>>)
  return
}

func.func @attention(%q: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %k: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %v: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %bias: memref<1x?x?x?xf16, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %m: memref<?x?x?xf32, #gpu.address_space<global>>,
    %l: memref<?x?x?xf32, #gpu.address_space<global>>) {
  pol.attention ins(%q, %k, %v, %bias, k_lengths = %n : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<1x?x?x?xf16, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<?x?x?x?xf16, #gpu.address_space<global>>)
      checkpoints(%m, %l : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64}
  return
}

func.func @attention_grad(%q: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %k: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %v: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %do: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %bias: memref<1x?x?x?xf16, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %m: memref<?x?x?xf32, #gpu.address_space<global>>,
    %l: memref<?x?x?xf32, #gpu.address_space<global>>,
    %dq: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %dk: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %dv: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %dbias: memref<1x?x?x?xf16, #gpu.address_space<global>>,
    %delta: memref<?x?x?xf32, #gpu.address_space<global>>) {
  pol.attention_grad ins(%q, %k, %v, %o, %do, %bias, k_lengths = %n : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<1x?x?x?xf16, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      checkpoints(%m, %l : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>)
      outs(%dq, %dk, %dv, %dbias : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<1x?x?x?xf16, #gpu.address_space<global>>)
      scratch(%delta : memref<?x?x?xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64}
  return
}

func.func @rms_norm_static(%x: memref<70x48xf16, #gpu.address_space<global>>,
    %w: memref<48xf16, #gpu.address_space<global>>,
    %y: memref<70x48xf16, #gpu.address_space<global>>,
    %rstd: memref<70xf32, #gpu.address_space<global>>) {
  pol.rms_norm ins(%x, %w : memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      outs(%y : memref<70x48xf16, #gpu.address_space<global>>)
      checkpoints(%rstd : memref<70xf32, #gpu.address_space<global>>) {offset = 1.0 : f64}
  return
}

func.func @rms_norm_grad_static(%x: memref<70x48xf16, #gpu.address_space<global>>,
    %dy: memref<70x48xf16, #gpu.address_space<global>>,
    %w: memref<48xf16, #gpu.address_space<global>>,
    %rstd: memref<70xf32, #gpu.address_space<global>>,
    %dx: memref<70x48xf16, #gpu.address_space<global>>,
    %dw: memref<48xf16, #gpu.address_space<global>>,
    %p: memref<2x48xf32, #gpu.address_space<global>>) {
  pol.rms_norm_grad ins(%x, %dy, %w : memref<70x48xf16, #gpu.address_space<global>>, memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      checkpoints(%rstd : memref<70xf32, #gpu.address_space<global>>)
      outs(%dx, %dw : memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      scratch(%p : memref<2x48xf32, #gpu.address_space<global>>)
  return
}

func.func @layer_norm_static(%x: memref<70x48xf16, #gpu.address_space<global>>,
    %w: memref<48xf16, #gpu.address_space<global>>,
    %b: memref<48xf16, #gpu.address_space<global>>,
    %y: memref<70x48xf16, #gpu.address_space<global>>,
    %mean: memref<70xf32, #gpu.address_space<global>>,
    %rstd: memref<70xf32, #gpu.address_space<global>>) {
  pol.layer_norm ins(%x, %w, %b : memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      outs(%y : memref<70x48xf16, #gpu.address_space<global>>)
      checkpoints(%mean, %rstd : memref<70xf32, #gpu.address_space<global>>, memref<70xf32, #gpu.address_space<global>>)
  return
}

func.func @layer_norm_grad_static(%x: memref<70x48xf16, #gpu.address_space<global>>,
    %dy: memref<70x48xf16, #gpu.address_space<global>>,
    %w: memref<48xf16, #gpu.address_space<global>>,
    %b: memref<48xf16, #gpu.address_space<global>>,
    %mean: memref<70xf32, #gpu.address_space<global>>,
    %rstd: memref<70xf32, #gpu.address_space<global>>,
    %dx: memref<70x48xf16, #gpu.address_space<global>>,
    %dw: memref<48xf16, #gpu.address_space<global>>,
    %db: memref<48xf16, #gpu.address_space<global>>,
    %p: memref<2x48xf32, #gpu.address_space<global>>,
    %q: memref<2x48xf32, #gpu.address_space<global>>) {
  pol.layer_norm_grad ins(%x, %dy, %w, %b : memref<70x48xf16, #gpu.address_space<global>>, memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      checkpoints(%mean, %rstd : memref<70xf32, #gpu.address_space<global>>, memref<70xf32, #gpu.address_space<global>>)
      outs(%dx, %dw, %db : memref<70x48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>, memref<48xf16, #gpu.address_space<global>>)
      scratch(%p, %q : memref<2x48xf32, #gpu.address_space<global>>, memref<2x48xf32, #gpu.address_space<global>>)
  return
}

func.func @softmax_static(%x: memref<70x48xf16, #gpu.address_space<global>>,
    %y: memref<70x48xf16, #gpu.address_space<global>>) {
  pol.softmax ins(%x : memref<70x48xf16, #gpu.address_space<global>>)
      outs(%y : memref<70x48xf16, #gpu.address_space<global>>)
  return
}

func.func @softmax_grad_static(%y: memref<70x48xf16, #gpu.address_space<global>>,
    %dy: memref<70x48xf16, #gpu.address_space<global>>,
    %dx: memref<70x48xf16, #gpu.address_space<global>>) {
  pol.softmax_grad ins(%y, %dy : memref<70x48xf16, #gpu.address_space<global>>, memref<70x48xf16, #gpu.address_space<global>>)
      outs(%dx : memref<70x48xf16, #gpu.address_space<global>>)
  return
}

func.func @attention_static(%q: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %k: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %v: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %bias: memref<1x4x7x9xf16, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %o: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %m: memref<2x4x7xf32, #gpu.address_space<global>>,
    %l: memref<2x4x7xf32, #gpu.address_space<global>>) {
  pol.attention ins(%q, %k, %v, %bias, k_lengths = %n : memref<2x4x7x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<1x4x7x9xf16, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<2x4x7x16xf16, #gpu.address_space<global>>)
      checkpoints(%m, %l : memref<2x4x7xf32, #gpu.address_space<global>>, memref<2x4x7xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64}
  return
}

func.func @attention_grad_static(%q: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %k: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %v: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %o: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %do: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %bias: memref<1x4x7x9xf16, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %m: memref<2x4x7xf32, #gpu.address_space<global>>,
    %l: memref<2x4x7xf32, #gpu.address_space<global>>,
    %dq: memref<2x4x7x16xf16, #gpu.address_space<global>>,
    %dk: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %dv: memref<2x2x9x16xf16, #gpu.address_space<global>>,
    %dbias: memref<1x4x7x9xf16, #gpu.address_space<global>>,
    %delta: memref<2x4x7xf32, #gpu.address_space<global>>) {
  pol.attention_grad ins(%q, %k, %v, %o, %do, %bias, k_lengths = %n : memref<2x4x7x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<2x4x7x16xf16, #gpu.address_space<global>>, memref<2x4x7x16xf16, #gpu.address_space<global>>, memref<1x4x7x9xf16, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      checkpoints(%m, %l : memref<2x4x7xf32, #gpu.address_space<global>>, memref<2x4x7xf32, #gpu.address_space<global>>)
      outs(%dq, %dk, %dv, %dbias : memref<2x4x7x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<2x2x9x16xf16, #gpu.address_space<global>>, memref<1x4x7x9xf16, #gpu.address_space<global>>)
      scratch(%delta : memref<2x4x7xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64}
  return
}

func.func @decode_attention(%q: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %k: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %v: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %max: memref<?x?x?xf32, #gpu.address_space<global>>,
    %sum: memref<?x?x?xf32, #gpu.address_space<global>>,
    %po: memref<?x?x?x?x?xf32, #gpu.address_space<global>>,
    %pm: memref<?x?x?x?xf32, #gpu.address_space<global>>,
    %pl: memref<?x?x?x?xf32, #gpu.address_space<global>>) {
  pol.decode_attention ins(%q, %k, %v, k_lengths = %n : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<?x?x?x?xf16, #gpu.address_space<global>>)
      checkpoints(%max, %sum : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>)
      scratch(%po, %pm, %pl : memref<?x?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64}
  return
}

func.func @decode_attention_paged(%q: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %k: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %v: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %t: memref<?x?xi32, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %o: memref<?x?x?x?xf16, #gpu.address_space<global>>,
    %max: memref<?x?x?xf32, #gpu.address_space<global>>,
    %sum: memref<?x?x?xf32, #gpu.address_space<global>>,
    %po: memref<?x?x?x?x?xf32, #gpu.address_space<global>>,
    %pm: memref<?x?x?x?xf32, #gpu.address_space<global>>,
    %pl: memref<?x?x?x?xf32, #gpu.address_space<global>>) {
  pol.decode_attention ins(%q, %k, %v, %t, %n : memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?x?x?xf16, #gpu.address_space<global>>, memref<?x?xi32, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<?x?x?x?xf16, #gpu.address_space<global>>)
      checkpoints(%max, %sum : memref<?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?xf32, #gpu.address_space<global>>)
      scratch(%po, %pm, %pl : memref<?x?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>, memref<?x?x?x?xf32, #gpu.address_space<global>>) {causal = #pol.causal<bottom_right>}
  return
}

func.func @decode_attention_static(%q: memref<2x4x1x16xf16, #gpu.address_space<global>>,
    %k: memref<9x2x8x16xf16, #gpu.address_space<global>>,
    %v: memref<9x2x8x16xf16, #gpu.address_space<global>>,
    %t: memref<?x?xi32, #gpu.address_space<global>>,
    %n: memref<?xi32, #gpu.address_space<global>>,
    %o: memref<2x4x1x16xf16, #gpu.address_space<global>>,
    %max: memref<2x4x1xf32, #gpu.address_space<global>>,
    %sum: memref<2x4x1xf32, #gpu.address_space<global>>,
    %po: memref<2x4x1x3x16xf32, #gpu.address_space<global>>,
    %pm: memref<2x4x1x3xf32, #gpu.address_space<global>>,
    %pl: memref<2x4x1x3xf32, #gpu.address_space<global>>) {
  pol.decode_attention ins(%q, %k, %v, %t, %n : memref<2x4x1x16xf16, #gpu.address_space<global>>, memref<9x2x8x16xf16, #gpu.address_space<global>>, memref<9x2x8x16xf16, #gpu.address_space<global>>, memref<?x?xi32, #gpu.address_space<global>>, memref<?xi32, #gpu.address_space<global>>)
      outs(%o : memref<2x4x1x16xf16, #gpu.address_space<global>>)
      checkpoints(%max, %sum : memref<2x4x1xf32, #gpu.address_space<global>>, memref<2x4x1xf32, #gpu.address_space<global>>)
      scratch(%po, %pm, %pl : memref<2x4x1x3x16xf32, #gpu.address_space<global>>, memref<2x4x1x3xf32, #gpu.address_space<global>>, memref<2x4x1x3xf32, #gpu.address_space<global>>) {splits = 3 : i64}
  return
}
