"""Rules of attention, one function each. The table is in edge_cases.py."""

import itertools

import numpy as np

from attention_cases import Extents, Static
from edge import EQUAL_TERMS
from setup import dtypes, oracle

HUGE = (2**63 - 1, -2**63, 2**62, -2**62)
GRADIENTS = ("dq", "dk", "dv", "dbias")


def operands(edge, extents, dtype="f32", bias=False, scale=1.0):
    """Random q, k, v and perhaps a bias [B,H,S,T]."""
    shapes = extents.shapes()
    made = {name: edge.suite.values(shapes[name], dtype, scale)
            for name in ("q", "k", "v")}
    if bias:
        e = extents
        made["bias"] = edge.suite.values((e.b, e.h, e.s, e.t), dtype)
    return made


def shapes_of(extents, inputs):
    shapes = extents.shapes()
    if "bias" in inputs:
        shapes["dbias"] = inputs["bias"].shape
    return shapes


def options_of(static, inputs):
    return oracle.Options(
        scale=static.scale, causal=static.causal,
        input_pos=inputs.get("input_pos", 0), window=static.window,
        softcap=static.softcap, q_lengths=inputs.get("q_lengths"),
        k_lengths=inputs.get("k_lengths"))


def forward_of(static, inputs):
    return oracle.attention(inputs["q"], inputs["k"], inputs["v"],
                            inputs.get("bias"), options_of(static, inputs))


def with_checkpoints(edge, static, inputs):
    """Inputs of the backward kernel."""
    made, _, _ = forward_of(static, inputs)
    q, _, _, o = static.types
    accumulated = oracle.accumulation(q)
    return {**inputs, "dout": edge.suite.values(made["o"].shape, o),
            "o": dtypes.round_to(made["o"], o),
            "max": dtypes.round_to(made["max"], accumulated),
            "sum": dtypes.round_to(made["sum"], accumulated)}


def check_forward(edge, kernel, static, extents, inputs, what="", times=1.0):
    """Against the oracle; returns what came out. times: what is allowed."""
    got = kernel(shapes_of(extents, inputs), **inputs)
    want, sizes, growth = forward_of(static, inputs)
    accumulated = oracle.accumulation(static.types[0])
    for name, value in got.items():
        edge.near(value, want[name], kernel.function.elements[name],
                  f"{name} {what}", accumulated, sizes[name],
                  2 if name == "o" else 1, times * growth)
    return got


def check_backward(edge, kernel, static, extents, inputs, what="", times=1.0):
    given = (inputs if "dout" in inputs
             else with_checkpoints(edge, static, inputs))
    got = kernel(shapes_of(extents, inputs), **given)
    want, sizes, growth = oracle.attention_grad(
        *(given[n] for n in ("q", "k", "v", "o", "dout", "max", "sum")),
        inputs.get("bias"), options_of(static, inputs))
    accumulated = oracle.accumulation(static.types[0])
    for name, value in got.items():
        edge.near(value, want[name], kernel.function.elements[name],
                  f"{name} {what}", accumulated, sizes[name], 2, times * growth)
    return got


def both(edge, static, extents, inputs, what="", times=1.0):
    """Forward and backward against the oracle."""
    forward = check_forward(edge, edge.attention(static), static, extents,
                            inputs, what, times)
    backward = check_backward(edge, edge.attention(static, backward=True),
                              static, extents, inputs, what, times)
    return forward, backward


# ------------------------------------------------------------------------------
# Masks
# ------------------------------------------------------------------------------


def fully_masked_rows(edge):
    """O = 0, max = -Inf, sum = 0 and zero gradients, for every reason that a
    row can have to keep nothing."""
    e = Extents(2, 2, 1, 5, 4, 3, 6)
    nothing = [(Static(bias=True, k_lengths="i32"),
                {"k_lengths": np.array([0, 0])}),
               (Static(bias=True, q_lengths="i64"),
                {"q_lengths": np.array([0, 0])}),
               (Static(bias=True, causal="input_pos"), {"input_pos": -5}),
               (Static(bias=True, causal="input_pos"), {"input_pos": -2**63}),
               (Static(bias=True, causal="input_pos", window=0),
                {"input_pos": 2**63 - 1}),
               (Static(bias=True, causal="top_left", k_lengths="i64"),
                {"k_lengths": np.array([0, 0])})]
    for dtype in ("f32", "bf16"):
        for static, given in nothing:
            static.types = (dtype,) * 4
            inputs = {**operands(edge, e, dtype, bias=True), **given}
            forward, backward = both(edge, static, e, inputs,
                                     f"{dtype} {given}")
            edge.equal(forward["o"], np.zeros((2, 2, 5, 6)), f"o, {given}")
            edge.equal(forward["max"], np.full((2, 2, 5), -np.inf),
                       f"max, {given}")
            edge.equal(forward["sum"], np.zeros((2, 2, 5)), f"sum, {given}")
            for name, value in backward.items():
                edge.equal(value, np.zeros(value.shape), f"{name}, {given}")
    # Some rows of each batch.
    static = Static(bias=True, causal="bottom_right", k_lengths="i32")
    inputs = {**operands(edge, e, bias=True), "k_lengths": np.array([3, 0])}
    forward, backward = both(edge, static, e, inputs, "some rows")
    edge.equal(forward["o"][0, :, 0], np.zeros((2, 6)), "o of the first row")
    edge.equal(backward["dq"][1], np.zeros((2, 5, 3)), "dq of length 0")


def masked_values_reach_nothing(edge):
    """NaN and infinities at masked positions of k, v, bias, of q, dout and o
    past q_lengths: the same bytes as with other values there."""
    e = Extents(2, 4, 2, 6, 7, 3, 5)
    for dtype in ("f32", "f16", "f64"):
        static = Static(types=(dtype,) * 4, bias=True, causal="top_left",
                        k_lengths="i32", q_lengths="i64")
        inputs = {**operands(edge, e, dtype, bias=True),
                  "k_lengths": np.array([4, 7]), "q_lengths": np.array([6, 2])}
        forward = edge.attention(static)
        backward = edge.attention(static, backward=True)
        shapes = shapes_of(e, inputs)
        given = with_checkpoints(edge, static, inputs)
        made = forward.bytes_of(shapes, **inputs)
        gradients = backward.bytes_of(shapes, **given)
        check_forward(edge, forward, static, e, inputs, dtype)
        check_backward(edge, backward, static, e, given, dtype)
        keep = np.broadcast_to(oracle.kept(2, 6, 7, options_of(static, inputs)),
                               inputs["bias"].shape)
        for bad in (np.nan, np.inf, -np.inf):
            other = {name: value.copy() for name, value in given.items()}
            other["bias"][~keep] = bad
            # The second batch keeps two queries, and so two keys.
            for name, part in (("k", np.s_[0, :, 4:]), ("v", np.s_[0, :, 4:]),
                               ("k", np.s_[1, :, 2:]), ("v", np.s_[1, :, 2:]),
                               ("q", np.s_[1, :, 2:]), ("o", np.s_[1, :, 2:]),
                               ("dout", np.s_[1, :, 2:])):
                other[name][part] = bad
            again = forward.bytes_of(shapes, **{n: other[n] for n in inputs})
            edge.expect(again == made, f"{bad} where {dtype} is masked not to "
                        "reach results")
            again = backward.bytes_of(shapes, **other)
            edge.expect(again == gradients, f"{bad} where {dtype} is masked "
                        "not to reach gradients")


def masked_values_beside_kept_ones(edge):
    """A key that is NaN reaches the queries that keep it, and no other."""
    e = Extents(1, 2, 1, 4, 4, 3, 5)
    for dtype in ("f32", "bf16", "f64"):
        static = Static(types=(dtype,) * 4, bias=True, causal="top_left")
        inputs = operands(edge, e, dtype, bias=True)
        forward = edge.attention(static)
        backward = edge.attention(static, backward=True)
        shapes = shapes_of(e, inputs)
        given = with_checkpoints(edge, static, inputs)
        made = forward(shapes, **inputs)
        gradients = backward(shapes, **given)
        for name, bad in itertools.product("kv", (np.nan, np.inf)):
            other = {n: value.copy() for n, value in given.items()}
            other[name][:, :, 3] = bad
            what = f"{dtype}, {name} is {bad}"
            got = forward(shapes, **{n: other[n] for n in inputs})
            for result, value in got.items():
                edge.equal(value[:, :, :3], made[result][:, :, :3],
                           f"{result} of queries that do not keep it, {what}")
            edge.expect(not np.isfinite(got["o"][:, :, 3]).all(),
                        f"it to reach the query that does, {what}")
            got = backward(shapes, **other)
            for result in ("dq", "dbias"):
                edge.equal(got[result][:, :, :3],
                           gradients[result][:, :, :3],
                           f"{result} of queries that do not keep it, {what}")
            # The query's own value reaches the keys that it keeps: all.
            other = {n: value.copy() for n, value in given.items()}
            other["q"][:, :, 1] = bad
            got = backward(shapes, **other)
            for result in ("dk", "dv"):
                edge.equal(got[result][:, :, 2:],
                           gradients[result][:, :, 2:],
                           f"{result} of keys that it does not keep, {dtype}, "
                           f"q is {bad}")


def causal_alignments(edge):
    """top_left is input_pos = 0, bottom_right is input_pos = T - S, and key kv
    is kept where kv <= q + input_pos: with equal scores, sums are counts."""
    for s, t in ((4, 4), (3, 7), (7, 3), (1, 5), (5, 1)):
        e = Extents(1, 2, 2, s, t, 2, 3)
        inputs = operands(edge, e, bias=True)
        kernels = {causal: Static(bias=True, causal=causal) for causal in
                   ("top_left", "bottom_right", "input_pos")}
        shapes = shapes_of(e, inputs)
        for name, pos in (("top_left", 0), ("bottom_right", t - s)):
            for backward in (False, True):
                given = (inputs if not backward else
                         with_checkpoints(edge, kernels[name], inputs))
                named = edge.attention(kernels[name], backward)
                placed = edge.attention(kernels["input_pos"], backward)
                edge.expect(named.bytes_of(shapes, **given)
                            == placed.bytes_of(shapes, **given, input_pos=pos),
                            f"{name} to be input_pos = {pos}, S {s} T {t}")
        zero = {**inputs, "q": 0 * inputs["q"], "bias": 0 * inputs["bias"]}
        static = kernels["input_pos"]
        forward = edge.attention(static)
        backward = edge.attention(static, backward=True)
        for pos in (*range(-s - 1, t + 2), *HUGE):
            got = forward(shapes, **zero, input_pos=pos)
            want = [min(max(q + pos + 1, 0), t) for q in range(s)]
            edge.equal(got["sum"][0, 0], want, f"keys at input_pos {pos}")
            given, what = {**inputs, "input_pos": pos}, f"input_pos {pos}"
            check_forward(edge, forward, static, e, given, what)
            check_backward(edge, backward, static, e, given, what)


def huge_positions(edge):
    """Any 64-bit input_pos and window: nothing overflows."""
    e = Extents(1, 2, 1, 3, 4, 2, 3)
    for window in (None, 0, 2, 2**63 - 1):
        static = Static(bias=True, causal="input_pos", window=window)
        forward = edge.attention(static)
        backward = edge.attention(static, backward=True)
        for pos in (*HUGE, 2**63 - 2, -2**63 + 1, 2**31, -2**31, 2**32, 5, 1,
                    0, -1, -2):
            inputs = {**operands(edge, e, bias=True), "input_pos": pos}
            what = f"window {window}, input_pos {pos}"
            check_forward(edge, forward, static, e, inputs, what)
            check_backward(edge, backward, static, e, inputs, what)


def rows_past_q_lengths(edge):
    """They are zero, and what is there has no part in dK and dV: finite values
    too, and the same as without these rows."""
    e, short = Extents(1, 2, 1, 6, 5, 3, 4), Extents(1, 2, 1, 4, 5, 3, 4)
    for dtype, lengths in itertools.product(("f32", "bf16"), ("i32", "i64")):
        static = Static(types=(dtype,) * 4, q_lengths=lengths)
        bare = Static(types=(dtype,) * 4)
        inputs = {**operands(edge, e, dtype), "q_lengths": np.array([4])}
        forward, backward = both(edge, static, e, inputs, dtype)
        edge.equal(forward["o"][:, :, 4:], np.zeros((1, 2, 2, 4)), "o")
        edge.equal(backward["dq"][:, :, 4:], np.zeros((1, 2, 2, 3)), "dq")
        cut = {n: inputs[n] for n in ("q", "k", "v")}
        cut["q"] = cut["q"][:, :, :4]
        given = with_checkpoints(edge, bare, cut)
        want = check_backward(edge, edge.attention(bare, backward=True), bare,
                              short, given, "without the rows")
        whole = {**with_checkpoints(edge, static, inputs)}
        for name in ("dout", "o", "max", "sum"):
            whole[name][:, :, :4] = given[name]
        whole["dout"][:, :, 4:] = dtypes.round_to(1e4, dtype)
        got = edge.attention(static, backward=True)(
            shapes_of(e, inputs), **whole)
        for name in ("dk", "dv"):
            edge.near(got[name], want[name].astype(np.float64), dtype, name,
                      growth=4.0)


def window_keeps_one_more(edge):
    """A window of w keeps w + 1 keys: with equal scores, sums are counts."""
    e = Extents(1, 1, 1, 6, 6, 2, 6)
    inputs = operands(edge, e)
    inputs["q"] = 0 * inputs["q"]
    # Values that say which keys they are of.
    inputs["v"] = np.eye(6)[None, None]
    for window in range(8):
        static = Static(causal="top_left", window=window)
        got = edge.attention(static)(shapes_of(e, inputs), **inputs)
        counts = np.minimum(np.arange(6), window) + 1
        edge.equal(got["sum"][0, 0], counts, f"keys in a window of {window}")
        for q in range(6):
            kept = (np.arange(6) <= q) & (np.arange(6) >= q - window)
            edge.equal(got["o"][0, 0, q] > 0, kept,
                       f"which keys query {q} keeps, window {window}")
        both(edge, static, e, inputs, f"window {window}")
    # From the key that the query is at, wherever that is.
    e = Extents(1, 1, 1, 4, 7, 2, 3)
    inputs = operands(edge, e)
    for window in (0, 2):
        both(edge, Static(causal="bottom_right", window=window), e, inputs,
             f"bottom_right, window {window}")
        for pos in (-2, 1):
            both(edge, Static(causal="input_pos", window=window), e,
                 {**inputs, "input_pos": pos}, f"{pos}, window {window}")


def lengths_of_both_types(edge):
    """i32 and i64, none and all: the same bytes."""
    e = Extents(3, 2, 1, 4, 5, 3, 3)
    inputs = {**operands(edge, e), "q_lengths": np.array([4, 2, 0]),
              "k_lengths": np.array([5, 3, 1])}
    made = []
    for q, k in itertools.product(("i32", "i64"), repeat=2):
        static = Static(q_lengths=q, k_lengths=k)
        both(edge, static, e, inputs, f"{q} {k}")
        made.append(edge.attention(static).bytes_of(shapes_of(e, inputs),
                                                    **inputs))
    edge.expect(all(m == made[0] for m in made), "equal bytes for i32 and i64")
    whole = {**inputs, "q_lengths": np.full(3, 4), "k_lengths": np.full(3, 5)}
    static = Static(q_lengths="i32", k_lengths="i32")
    bare = operands_only(inputs)
    edge.expect(edge.attention(static).bytes_of(shapes_of(e, inputs), **whole)
                == edge.attention(Static()).bytes_of(shapes_of(e, bare),
                                                     **bare),
                "whole lengths to be as none")


def operands_only(inputs):
    return {name: inputs[name] for name in ("q", "k", "v")}


# ------------------------------------------------------------------------------
# The formula
# ------------------------------------------------------------------------------


def order_of_scores(edge):
    """Scale, softcap, bias, mask, softmax, in that order: every other order
    gives something else."""
    e = Extents(1, 2, 1, 4, 5, 3, 4)
    static = Static(bias=True, causal="bottom_right", scale=2.0, softcap=1.5)
    inputs = operands(edge, e, bias=True)
    inputs["bias"] *= 3
    got, _ = both(edge, static, e, inputs)
    q, k, v, bias = (inputs[n].astype(np.float64)
                     for n in ("q", "k", "v", "bias"))
    product = np.matmul(q, np.swapaxes(np.repeat(k, 2, axis=1), 2, 3))
    keep = oracle.kept(1, 4, 5, options_of(static, inputs))

    def cap(s):
        return 1.5 * np.tanh(s / 1.5)

    right = np.where(keep, cap(2 * product) + bias, -np.inf)
    edge.near(got["max"], right.max(axis=-1), "f32", "max", growth=20.0)
    for wrong, what in ((cap(2 * product + bias), "bias before softcap"),
                        (2 * cap(product) + bias, "scale after softcap"),
                        (cap(2 * (product + bias)), "scale after bias"),
                        (1.5 * np.tanh(2 * product) + bias,
                         "no division by cap"),
                        (cap(2 * product * np.log2(np.e)) + bias,
                         "log2(e) before softcap")):
        other = oracle.softmax(np.where(keep, wrong, -np.inf))
        o = np.matmul(other, np.repeat(v, 2, axis=1))
        off = np.linalg.norm(got["o"] - o) / np.linalg.norm(o)
        edge.expect(off > 1e-3, f"{what} to be something else")


def maximum_is_what_is_subtracted(edge):
    """The largest score, rounded as it is subtracted: exp(0) is one of the
    terms of each sum, so that it is 1 for one key, and O is that value."""
    for dtype, scale in (("f32", 1.0), ("f32", 100.0), ("f32", 3e4),
                         ("bf16", 50.0), ("f16", 50.0), ("f64", 1e4)):
        static = Static(types=(dtype,) * 4, scale=0.3712345678901234)
        kernel = edge.attention(static)
        e = Extents(2, 4, 2, 9, 1, 33, 5)
        inputs = operands(edge, e, dtype, scale=scale)
        got = kernel(shapes_of(e, inputs), **inputs)
        what = f"{dtype}, values up to {scale}"
        edge.equal(got["sum"], np.ones((2, 4, 9)), f"sum of one key, {what}")
        value = np.repeat(inputs["v"], 2, axis=1)
        edge.equal(got["o"], np.broadcast_to(value, (2, 4, 9, 5)),
                   f"o of one key, {what}")
        e = Extents(2, 4, 2, 9, 50, 33, 5)
        inputs = operands(edge, e, dtype, scale=scale)
        got = kernel(shapes_of(e, inputs), **inputs)
        edge.expect((got["sum"] >= 1).all(), f"sums of 1 or more, {what}")
        edge.expect(np.isfinite(got["o"]).all(), f"finite results, {what}")
    # Scores that are exact in whatever order, and need more bits than operands.
    e = Extents(2, 4, 2, 9, 50, 33, 5)
    scale = 1 + 2.0**-10
    for dtype in ("f32", "bf16", "f16", "f64"):
        static = Static(types=(dtype,) * 4, scale=scale)
        inputs = {name: np.rint(value) for name, value in
                  operands(edge, e, dtype, scale=5.0).items()}
        got = edge.attention(static)(shapes_of(e, inputs), **inputs)
        q, k = (inputs[n].astype(np.float64) for n in ("q", "k"))
        product = np.matmul(q, np.swapaxes(np.repeat(k, 2, axis=1), 2, 3))
        edge.equal(got["max"], (scale * product).max(axis=-1), f"max, {dtype}")
    static = Static(types=("f32",) * 4, causal="top_left", window=0,
                    softcap=3.0)
    e = Extents(1, 1, 1, 40, 40, 8, 3)
    inputs = operands(edge, e, scale=10.0)
    got = edge.attention(static)(shapes_of(e, inputs), **inputs)
    edge.equal(got["o"], inputs["v"], "o of one key, softcap and window")


def checkpoints_in_natural_units(edge):
    """max is the largest score, and sum is of exponentials to base e."""
    e = Extents(1, 1, 1, 1, 3, 1, 1)
    inputs = {"q": np.ones((1, 1, 1, 1)),
              "k": np.array([1.0, 3.0, 2.0]).reshape(1, 1, 3, 1),
              "v": np.ones((1, 1, 3, 1))}
    for dtype in ("f32", "f64"):
        static = Static(types=(dtype,) * 4)
        got = edge.attention(static)(shapes_of(e, inputs), **inputs)
        edge.equal(got["max"], [[[3.0]]], "max")
        edge.near(got["sum"], np.array([[[1 + np.exp(-1) + np.exp(-2)]]],
                                       np.longdouble), dtype, "sum")
        check_backward(edge, edge.attention(static, backward=True), static, e,
                       inputs, dtype)


def large_scores_in_accumulation_type(edge):
    """f16 operands whose products are far beyond f16."""
    e = Extents(1, 2, 1, 5, 7, 64, 3)
    for dtype in ("f16", "bf16"):
        static = Static(types=(dtype,) * 4, scale=1e-5)
        inputs = operands(edge, e, dtype, scale=200.0)
        both(edge, static, e, inputs, dtype)


def heads_share_in_order(edge):
    """Query head h reads head h / (H / Hk): values say which."""
    for heads, kv_heads in ((6, 1), (6, 2), (6, 3), (6, 6), (4, 2)):
        e = Extents(2, heads, kv_heads, 2, 3, 2, 1)
        inputs = operands(edge, e)
        number = np.arange(kv_heads)[:, None, None] + np.array(
            [0, 100])[:, None, None, None]
        inputs["v"] = np.broadcast_to(number, (2, kv_heads, 3, 1)).astype(
            np.float32)
        static = Static()
        got, _ = both(edge, static, e, inputs, f"{heads}/{kv_heads}")
        want = (np.arange(heads) // (heads // kv_heads)
                + np.array([[0], [100]]))
        edge.near(got["o"][:, :, 0, 0], want.astype(float), "f32", "heads")


def bias_gradient_is_reduced(edge):
    """Over batches and heads where the bias has 1, and 0 where masked."""
    e = Extents(3, 4, 2, 3, 5, 2, 3)
    for batch, heads in itertools.product((1, 3), (1, 4)):
        for causal in (None, "bottom_right"):
            static = Static(bias=True, causal=causal, gradients=("dbias",))
            inputs = operands(edge, e)
            inputs["bias"] = edge.suite.values((batch, heads, 3, 5), "f32")
            _, got = both(edge, static, e, inputs, f"[{batch},{heads}]")
            keep = oracle.kept(1, 3, 5, options_of(static, inputs))
            masked = np.broadcast_to(~keep, got["dbias"].shape)
            edge.equal(got["dbias"][masked], np.zeros(masked.sum()),
                       "gradients of masked scores")


def empty_extents(edge):
    """Results and gradients that exist are written: T = 0 gives O = 0, max =
    -Inf, sum = 0; without queries dK and dV are 0."""
    for b, h, hk, s, t, d, dv in (
            (2, 2, 1, 3, 0, 4, 5), (2, 2, 1, 0, 3, 4, 5), (0, 2, 1, 3, 3, 4, 5),
            (2, 0, 1, 3, 3, 4, 5), (2, 2, 1, 3, 3, 4, 0)):
        e = Extents(b, h, hk, s, t, d, dv)
        for dtype in ("f32", "bf16"):
            static = Static(types=(dtype,) * 4, bias=True)
            inputs = operands(edge, e, dtype, bias=True)
            forward, backward = both(edge, static, e, inputs, f"{e}")
            if t == 0:
                edge.equal(forward["o"], np.zeros((b, h, s, dv)), "o")
                edge.equal(forward["max"], np.full((b, h, s), -np.inf), "max")
                edge.equal(forward["sum"], np.zeros((b, h, s)), "sum")
                edge.equal(backward["dq"], np.zeros((b, h, s, d)), "dq")
            if s == 0 or h == 0:
                edge.equal(backward["dk"], np.zeros((b, hk, t, d)), "dk")
                edge.equal(backward["dv"], np.zeros((b, hk, t, dv)), "dv")
    # A bias that is broadcast over no batch: its gradient is 0.
    static = Static(bias=True, one=(True, False), gradients=("dbias",))
    e = Extents(0, 2, 1, 3, 3, 4, 5)
    inputs = {**operands(edge, e), "bias": np.ones((1, 2, 3, 3))}
    _, got = both(edge, static, e, inputs, "no batch")
    edge.equal(got["dbias"], np.zeros((1, 2, 3, 3)), "dbias of no batch")
    # Heads of no length: all scores are 0.
    static = Static(scale=0.5)
    e = Extents(1, 1, 1, 2, 4, 0, 3)
    both(edge, static, e, operands(edge, e), "D = 0")


def attention_propagates_not_finite_values(edge):
    """NaN and infinities at kept positions give what the formula gives."""
    e = Extents(1, 2, 1, 3, 4, 2, 3)
    for dtype in ("f32", "f64"):
        static = Static(types=(dtype,) * 4, bias=True)
        forward = edge.attention(static)
        backward = edge.attention(static, backward=True)
        for name, bad in itertools.product(("q", "k", "v", "bias", "dout"),
                                           (np.nan, np.inf, -np.inf)):
            inputs, what = operands(edge, e, dtype, bias=True), f"{name} {bad}"
            if name != "dout":
                inputs[name][0, 0, 1, 1] = bad
                check_forward(edge, forward, static, e, inputs, what)
            given = with_checkpoints(edge, static, inputs)
            given[name][0, 0, 1, 1] = bad
            check_backward(edge, backward, static, e, given, what)
        # No mask: 0 / 0, and not a row that keeps nothing.
        inputs = operands(edge, e, dtype, bias=True)
        inputs["bias"][0, 0, 1] = -np.inf
        got = check_forward(edge, forward, static, e, inputs, "all -Inf")
        edge.expect(np.isnan(got["o"][0, 0, 1]).all(), "NaN for all -Inf")
        check_backward(edge, backward, static, e, inputs, "all -Inf")


def attention_sums_are_blocked(edge):
    """Equal terms, or terms of two kinds, over many of each extent."""
    many = 1 << 17
    logit = np.float32(np.log(0.1))
    running = np.add.accumulate(np.full(many, 0.1, np.float32),
                                dtype=np.float32)[-1]
    edge.expect(abs(running / (many * 0.1) - 1) > 1e-5,
                "a running sum to be far off")

    def full(*shape_and_value):
        return np.full(shape_and_value[:-1], shape_and_value[-1], np.float32)

    # Keys of two kinds, by their value and in what is no part of their score,
    # so that the gradient of the query is a sum of terms of one sign.
    odd = np.arange(many) % 2 == 1
    inputs = {"q": full(1, 1, 1, 2, 1), "k": full(1, 1, many, 2, logit),
              "v": full(1, 1, many, 1, 0.7)}
    inputs["q"][..., 1] = 0
    inputs["k"][0, 0, 0, 0] = 0
    inputs["k"][0, 0, :, 1] = np.where(odd, 1, -1)
    inputs["v"][0, 0, odd] = 0.1
    both(edge, Static(scale=1.0), Extents(1, 1, 1, 1, many, 2, 1), inputs,
         "many keys", EQUAL_TERMS)
    # Two keys for each of many queries, batches or heads, all alike.
    for name, b, h, s in (("queries", 1, 1, many), ("batches", many, 1, 1),
                          ("heads", 1, many, 1)):
        e = Extents(b, h, 1, s, 2, 1, 1)
        static = Static(bias=True)
        inputs = {"q": full(b, h, s, 1, 0.7), "k": full(b, 1, 2, 1, 0.3),
                  "v": full(b, 1, 2, 1, 0.9), "bias": full(1, 1, s, 2, 0.1)}
        inputs["k"][:, :, 1] = inputs["v"][:, :, 1] = -0.4
        given = with_checkpoints(edge, static, inputs)
        given["dout"] = full(b, h, s, 1, 0.1)
        check_backward(edge, edge.attention(static, backward=True), static, e,
                       given, f"many {name}", EQUAL_TERMS)
    # Heads of great length.
    e = Extents(1, 1, 1, 1, 2, many, many)
    inputs = {"q": full(1, 1, 1, many, 0.7), "k": full(1, 1, 2, many, 0.3),
              "v": full(1, 1, 2, many, 0.9)}
    inputs["k"][:, :, 1] = inputs["v"][:, :, 1] = -0.4
    static = Static(scale=1 / many)
    given = with_checkpoints(edge, static, inputs)
    given["dout"] = full(1, 1, 1, many, 0.1)
    check_forward(edge, edge.attention(static), static, e, inputs,
                  "long heads", EQUAL_TERMS)
    check_backward(edge, edge.attention(static, backward=True), static, e,
                   given, "long heads", EQUAL_TERMS)
