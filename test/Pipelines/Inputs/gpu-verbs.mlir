// Every kernel by verbs, with spaces and shadows in a GPU's memory. Arrays have
// elements of f16, which tests replace, and accumulation is in f32.

#gpu = #gpu.address_space<global>
!arena = !pol.arena<#gpu>

!vector = tensor<?xf16, #gpu>
!rows = tensor<?x?xf16, #gpu>
!heads = tensor<?x?x?x?xf16, #gpu>
!bias = tensor<1x?x?x?xf16, #gpu>
!vector_sum = tensor<?xf32, #gpu>
!rows_sum = tensor<?x?xf32, #gpu>
!heads_sum = tensor<?x?x?xf32, #gpu>
!lengths = tensor<?xi32, #gpu>
!table = tensor<?x?xi32, #gpu>

!rows_pair = !pol.duplicated<tensor<?x?xf16, #gpu>, tensor<?x?xf16, #gpu>>
!heads_pair = !pol.duplicated<tensor<?x?x?x?xf16, #gpu>, tensor<?x?x?x?xf16, #gpu>>
!bias_pair = !pol.duplicated<tensor<1x?x?x?xf16, #gpu>, tensor<1x?x?x?xf16, #gpu>>
// A shadow may be wider than its primal.
!vector_pair = !pol.duplicated<tensor<?xf16, #gpu>, tensor<?xf32, #gpu>>
!vector_undef = !pol.duplicated<tensor<?xf16, #gpu>, !pol.undef<?xf32>>

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

func.func @rms_norm(%a: !arena, %x: !rows, %w: !vector) -> (!rows, !vector_sum) {
  %y, %rstd = pol.apply "pol.rms_norm"(%x, %w) {offset = 1.0 : f64} in %a : (!rows, !vector), !arena -> !rows, !vector_sum
  return %y, %rstd : !rows, !vector_sum
}

func.func @rms_norm_of_pairs(%a: !arena, %x: !rows, %w: !vector, %dx: !rows) -> (!rows, !vector_sum) {
  %xp = pol.duplicated %x, %dx : !rows, !rows
  %y, %rstd = pol.apply "pol.rms_norm"(%xp, %w) in %a : (!rows_pair, !vector), !arena -> !rows, !vector_sum
  return %y, %rstd : !rows, !vector_sum
}

func.func @rms_norm_grad(%a: !arena, %x: !rows, %dy: !rows, %w: !vector, %rstd: !vector_sum) -> (!rows, !vector) {
  %dx, %dw = pol.apply "pol.rms_norm_grad"(%x, %dy, %w, %rstd) {offset = 1.0 : f64} in %a : (!rows, !rows, !vector, !vector_sum), !arena -> !rows, !vector
  return %dx, %dw : !rows, !vector
}

// x is a constant, and the weight's shadow is the arena's.
func.func @rms_norm_grad_of_pairs(%a: !arena, %x: !rows, %dy: !rows, %w: !vector, %rstd: !vector_sum) -> !vector_sum {
  %u = pol.duplicated %w : !vector -> !vector_undef
  %wp = pol.alloc %a, %u : !arena, !vector_undef -> !vector_pair
  %dw = pol.apply "pol.rms_norm_grad"(%x, %dy, %wp, %rstd) in %a : (!rows, !rows, !vector_pair, !vector_sum), !arena -> !vector_sum
  return %dw : !vector_sum
}

func.func @layer_norm(%a: !arena, %x: !rows, %w: !vector, %b: !vector) -> (!rows, !vector_sum, !vector_sum) {
  %y, %mean, %rstd = pol.apply "pol.layer_norm"(%x, %w, %b) in %a : (!rows, !vector, !vector), !arena -> !rows, !vector_sum, !vector_sum
  return %y, %mean, %rstd : !rows, !vector_sum, !vector_sum
}

func.func @layer_norm_of_pairs(%a: !arena, %x: !rows, %w: !vector, %b: !vector, %db: !vector_sum) -> (!rows, !vector_sum, !vector_sum) {
  %bp = pol.duplicated %b, %db : !vector, !vector_sum
  %y, %mean, %rstd = pol.apply "pol.layer_norm"(%x, %w, %bp) in %a : (!rows, !vector, !vector_pair), !arena -> !rows, !vector_sum, !vector_sum
  return %y, %mean, %rstd : !rows, !vector_sum, !vector_sum
}

func.func @layer_norm_grad(%a: !arena, %x: !rows, %dy: !rows, %w: !vector, %b: !vector, %mean: !vector_sum, %rstd: !vector_sum) -> (!rows, !vector, !vector) {
  %dx, %dw, %db = pol.apply "pol.layer_norm_grad"(%x, %dy, %w, %b, %mean, %rstd) in %a : (!rows, !rows, !vector, !vector, !vector_sum, !vector_sum), !arena -> !rows, !vector, !vector
  return %dx, %dw, %db : !rows, !vector, !vector
}

// The weight is a constant; dy is a pair too.
func.func @layer_norm_grad_of_pairs(%a: !arena, %x: !rows, %dx: !rows, %y: !rows, %dy: !rows, %w: !vector, %b: !vector, %mean: !vector_sum, %rstd: !vector_sum) -> (!rows, !vector_sum) {
  %xp = pol.duplicated %x, %dx : !rows, !rows
  %yp = pol.duplicated %y, %dy : !rows, !rows
  %u = pol.duplicated %b : !vector -> !vector_undef
  %bp = pol.alloc %a, %u : !arena, !vector_undef -> !vector_pair
  %0, %db = pol.apply "pol.layer_norm_grad"(%xp, %yp, %w, %bp, %mean, %rstd) in %a : (!rows_pair, !rows_pair, !vector, !vector_pair, !vector_sum, !vector_sum), !arena -> !rows, !vector_sum
  return %0, %db : !rows, !vector_sum
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

func.func @softmax(%a: !arena, %x: !rows) -> !rows {
  %y = pol.apply "pol.softmax"(%x) in %a : (!rows), !arena -> !rows
  return %y : !rows
}

func.func @softmax_of_pairs(%a: !arena, %x: !rows, %dx: !rows) -> !rows {
  %xp = pol.duplicated %x, %dx : !rows, !rows
  %y = pol.apply "pol.softmax"(%xp) in %a : (!rows_pair), !arena -> !rows
  return %y : !rows
}

func.func @softmax_grad(%a: !arena, %y: !rows, %dy: !rows) -> !rows {
  %dx = pol.apply "pol.softmax_grad"(%y, %dy) in %a : (!rows, !rows), !arena -> !rows
  return %dx : !rows
}

func.func @softmax_grad_of_pairs(%a: !arena, %x: !rows, %dx: !rows, %y: !rows, %dy: !rows) -> !rows {
  %xp = pol.duplicated %x, %dx : !rows, !rows
  %yp = pol.duplicated %y, %dy : !rows, !rows
  %0 = pol.apply "pol.softmax_grad"(%yp, %yp, %xp) in %a : (!rows_pair, !rows_pair, !rows_pair), !arena -> !rows
  return %0 : !rows
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

func.func @attention(%a: !arena, %q: !heads, %k: !heads, %v: !heads, %b: !bias, %n: !lengths) -> (!heads, !heads_sum, !heads_sum) {
  %o, %max, %sum = pol.apply "pol.attention"(%q, %k, %v, %b, none, none, %n) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64} in %a : (!heads, !heads, !heads, !bias, !lengths), !arena -> !heads, !heads_sum, !heads_sum
  return %o, %max, %sum : !heads, !heads_sum, !heads_sum
}

func.func @attention_of_pairs(%a: !arena, %q: !heads, %dq: !heads, %k: !heads, %v: !heads, %b: !bias, %db: !bias) -> (!heads, !heads_sum, !heads_sum) {
  %qp = pol.duplicated %q, %dq : !heads, !heads
  %bp = pol.duplicated %b, %db : !bias, !bias
  %o, %max, %sum = pol.apply "pol.attention"(%qp, %k, %v, %bp) in %a : (!heads_pair, !heads, !heads, !bias_pair), !arena -> !heads, !heads_sum, !heads_sum
  return %o, %max, %sum : !heads, !heads_sum, !heads_sum
}

func.func @attention_grad(%a: !arena, %q: !heads, %k: !heads, %v: !heads, %o: !heads, %do: !heads, %b: !bias, %n: !lengths, %max: !heads_sum, %sum: !heads_sum) -> (!heads, !heads, !heads, !bias) {
  %dq, %dk, %dv, %db = pol.apply "pol.attention_grad"(%q, %k, %v, %o, %do, %b, none, none, %n, %max, %sum) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64} in %a : (!heads, !heads, !heads, !heads, !heads, !bias, !lengths, !heads_sum, !heads_sum), !arena -> !heads, !heads, !heads, !bias
  return %dq, %dk, %dv, %db : !heads, !heads, !heads, !bias
}

// k and v are constants.
func.func @attention_grad_of_pairs(%a: !arena, %q: !heads, %dq: !heads, %k: !heads, %v: !heads, %o: !heads, %do: !heads, %b: !bias, %db: !bias, %max: !heads_sum, %sum: !heads_sum) -> (!heads, !bias) {
  %qp = pol.duplicated %q, %dq : !heads, !heads
  %op = pol.duplicated %o, %do : !heads, !heads
  %bp = pol.duplicated %b, %db : !bias, !bias
  %0, %1 = pol.apply "pol.attention_grad"(%qp, %k, %v, %op, %op, %bp, none, none, none, %max, %sum) in %a : (!heads_pair, !heads, !heads, !heads_pair, !heads_pair, !bias_pair, !heads_sum, !heads_sum), !arena -> !heads, !bias
  return %0, %1 : !heads, !bias
}

func.func @decode_attention(%a: !arena, %q: !heads, %k: !heads, %v: !heads, %n: !lengths) -> (!heads, !heads_sum, !heads_sum) {
  %o, %max, %sum = pol.apply "pol.decode_attention"(%q, %k, %v, none, %n) {causal = #pol.causal<bottom_right>, softcap = 5.0 : f64, window = 100 : i64} in %a : (!heads, !heads, !heads, !lengths), !arena -> !heads, !heads_sum, !heads_sum
  return %o, %max, %sum : !heads, !heads_sum, !heads_sum
}

// q's shadow is nobody's.
func.func @decode_attention_of_pairs(%a: !arena, %q: !heads, %dq: !heads, %k: !heads, %v: !heads, %t: !table, %n: !lengths) -> !heads {
  %qp = pol.duplicated %q, %dq : !heads, !heads
  %o = pol.apply "pol.decode_attention"(%qp, %k, %v, %t, %n) {splits = 4 : i64} in %a : (!heads_pair, !heads, !heads, !table, !lengths), !arena -> !heads
  return %o : !heads
}
