"""Breaks every rule of edge_cases.py in a stand-in for the kernels, and sees
that the rule's test fails; and that all pass where no rule is broken.

The stand-in is NumPy, and nothing is compiled: this shows that what the rules'
tests expect is sharp enough. It does not break the compiled kernels, nor show
that layouts or compilers could not hide a rule that one of them breaks.
"""

import sys

import numpy as np

import edge_cases
from edge import Edge
from setup import dtypes, oracle
from stand_in import Correct, StandInSuite, compute, number, options_of

f32 = np.float32


def running(terms, axis=-1):
    """One running f32 sum."""
    terms = np.moveaxis(np.asarray(terms, f32), axis, -1)
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1], f32)
    return np.add.accumulate(terms, axis=-1, dtype=f32)[..., -1]


def broken(name, op, **steps):
    """A kernel with steps of its own, for that op, or for it and its gradient
    where the name ends in "*"."""
    ops = (op,) if op[-1] != "*" else (op[:-1], op[:-1] + "_grad")

    def only(step):
        given, usual = steps[step], getattr(Correct, step)

        def run(self, function, *more):
            if function.op not in ops:
                return usual(self, function, *more)
            return given(function, *more)
        return run

    return type(name, (Correct,), {step: only(step) for step in steps})


# ------------------------------------------------------------------------------
# Rows
# ------------------------------------------------------------------------------


def rms(mean_of):
    """rms_norm with its own reciprocal root."""
    def run(function, v):
        eps = number(function.attributes, "eps", 1e-5)
        rstd = np.asarray(mean_of(v["x"], eps), np.float64)
        g = v["weight"] if "weight" in v else 1.0
        return {"y": v["x"] * rstd[..., None] * g, "rstd": rstd}
    return run


def mean_square(squares, length):
    return squares / max(length, 1)


def eps_outside(x, eps):
    return 1 / (np.sqrt((x.astype(float)**2).mean(axis=-1)) + eps)


def eps_in_f32(x, eps):
    kind = x.dtype if x.dtype == np.float64 else np.float64
    return 1 / np.sqrt((x.astype(kind)**2).mean(axis=-1) + float(f32(eps)))


def running_squares(x, eps):
    return 1 / np.sqrt(mean_square(running(x * x), x.shape[-1]) + f32(eps))


def squares_in(kind):
    def run(x, eps):
        total = (x.astype(kind) * x.astype(kind)).astype(float).sum(axis=-1)
        return 1 / np.sqrt(mean_square(total, x.shape[-1]) + eps)
    return run


def rounded_offset(function, v):
    if "weight" in v:
        offset = number(function.attributes, "offset", 0.0)
        v["weight"] = dtypes.round_to(v["weight"] + offset,
                                      function.elements["weight"]) - offset


def variance_of_squares(function, v):
    x, eps = v["x"].astype(f32), number(function.attributes, "eps", 1e-5)
    mean = x.mean(axis=-1, dtype=f32)
    variance = (x * x).mean(axis=-1, dtype=f32) - mean * mean
    rstd = 1 / np.sqrt(variance + f32(eps))
    y = (x - mean[..., None]) * rstd[..., None] * v["weight"] + v["bias"]
    return {"y": y, "mean": mean, "rstd": rstd}


def running_rows(function, v, made):
    dy = v["dy"].reshape(-1, v["dy"].shape[-1])
    if "dbias" in made:
        made["dbias"] = running(dy, 0)


def no_maximum(function, v):
    exps = np.exp(v["x"])
    return {"y": exps / exps.sum(axis=-1, keepdims=True)}


def running_softmax(function, v):
    x = v["x"]
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return {"y": exps / running(exps)[..., None]}


def finite(names):
    def run(function, v):
        for name in names:
            if name in v:
                v[name] = np.nan_to_num(v[name])
    return run


def drop_last_rows(function, v, made):
    """Only whole blocks of 64 rows are summed up, if there is one."""
    flat = v["dy"].reshape(-1, v["dy"].shape[-1])
    rows = len(flat) // 64 * 64 or len(flat)
    made["dweight"] = made["dweight"] * (rows / max(len(flat), 1))


def unwritten_without_rows(function, v, made):
    if v["dy"].size == 0:
        made["dweight"] = made["dweight"] * np.nan


# ------------------------------------------------------------------------------
# Attention
# ------------------------------------------------------------------------------


def nan_where_empty(function, v, made):
    if "sum" in made:
        made["o"] = np.where(made["sum"][..., None] == 0, np.nan, made["o"])


def large_number_where_empty(function, v, made):
    if "max" in made:
        made["max"] = np.maximum(made["max"], -1e30)


def added_mask(function, v):
    """-1e9 for what is masked."""
    if function.op != "attention":
        return compute(function, v)
    options = options_of(function, v)
    keep = oracle.kept(v["q"].shape[0], v["q"].shape[2], v["k"].shape[2],
                       options)
    bias = v["bias"] + np.where(keep, 0, -1e9)
    return oracle.attention(v["q"], v["k"], v["v"], bias, oracle.Options(
        scale=options.scale, softcap=options.softcap))[0]


def multiplied_mask(function, v, made):
    """Weights of 0 times values of NaN."""
    bad = ~np.isfinite(v["v"]).all(axis=(1, 2, 3))
    if "o" in made:
        made["o"][bad] = np.nan
    else:
        made["dq"][bad] = np.nan


def multiplied_values(function, v, made):
    """The same for single columns of o or dq."""
    if "o" in made:
        made["o"] = made["o"] + 0 * v["v"].sum(axis=(1, 2))[:, None, None]
    else:
        made["dq"] = made["dq"] + 0 * v["k"].sum(axis=(1, 2))[:, None, None]


def changed(function, old, new):
    """The same function with another attribute."""
    other = type(function)(**vars(function))
    other.attributes = function.attributes.replace(old, new)
    return other


def other_alignment(function, v):
    return compute(changed(function, "top_left", "bottom_right"), v)


def one_key_less(function, v):
    v["input_pos"] = v.get("input_pos", 0) - 1
    return compute(changed(function, "top_left", "input_pos"), v)


def lose_first_query(function, v, made):
    """Every key is kept by one query less, for its own gradient."""
    if "dv" in made and function.attributes.count("input_pos"):
        made["dv"] = oracle.attention_grad(
            *(v[n] for n in ("q", "k", "v", "o")),
            np.where(np.arange(v["q"].shape[2])[:, None] == 0, 0, v["dout"]),
            v["max"], v["sum"], v.get("bias"), options_of(function, v))[0]["dv"]


def wrapped_positions(function, v):
    """In 64 bits that wrap around: q + input_pos."""
    pos, rows = v.get("input_pos", 0), v["q"].shape[2]
    wrapped = (pos + rows - 1 + 2**63) % 2**64 - 2**63
    v["input_pos"] = wrapped - rows + 1


def rows_past_length_count(function, v, made):
    if "dk" in made and "q_lengths" in v:
        past = np.arange(v["q"].shape[2]) >= v["q_lengths"][:, None]
        extra = (v["dout"] * past[:, None, :, None]).sum(axis=(1, 2))
        made["dv"] = made["dv"] + extra[:, None, None]


def smaller_window(function, v):
    window = number(function.attributes, "window", kind=int)
    return compute(changed(function, f"window = {window}",
                           f"window = {max(window - 1, 0)}"), v)


def no_wide_lengths(function, v):
    if function.elements.get("k_lengths") == "i64":
        v["k_lengths"] = np.full_like(v["k_lengths"], v["k"].shape[2])


def bias_before_cap(function, v):
    options = options_of(function, v)
    group = v["q"].shape[1] // v["k"].shape[1]
    cap = options.softcap
    scores = options.scale * np.matmul(v["q"], np.swapaxes(
        np.repeat(v["k"], group, axis=1), 2, 3))
    # A bias that undoes the order.
    right = cap * np.tanh(scores / cap)
    v["bias"] = cap * np.tanh((scores + v["bias"]) / cap) - right


def rounded_maximum(function, v, made):
    """A maximum that is rounded, and subtracted with a fused product."""
    off = made["max"] * 2.0**-24
    off = np.where(np.isfinite(off), off, 0)
    made["sum"] = made["sum"] * np.exp(off)
    made["o"] = made["o"] * np.exp(off)[..., None]


def narrow_maximum(function, v, made):
    """One that is kept in the operands' type."""
    if "max" in made:
        made["max"] = dtypes.round_to(made["max"], function.elements["q"])


def zero_where_no_maximum(function, v, made):
    """Where the largest score is -Inf, whether by a mask or by its value."""
    if "max" in made:
        made["o"] = np.where(made["max"][..., None] == -np.inf, 0, made["o"])


def binary_units(function, v, made):
    made["max"] = made["max"] * np.log2(np.e)


def scores_in_f16(function, v):
    group = v["q"].shape[1] // v["k"].shape[1]
    product = np.matmul(v["q"], np.swapaxes(
        np.repeat(v["k"], group, axis=1), 2, 3))
    v["q"] = np.where((np.abs(product) > 65504).any(axis=-1)[..., None],
                      np.inf, v["q"])


def heads_in_turn(function, v):
    """h % Hk instead of h / (H / Hk)."""
    heads, kv_heads = v["q"].shape[1], v["k"].shape[1]
    order = np.argsort(np.arange(heads) % kv_heads, kind="stable")
    made = compute(function, {**v, "q": v["q"][:, order]})
    back = np.argsort(order)
    return {name: value[:, back] for name, value in made.items()}


def mean_bias(function, v, made):
    if "dbias" in made:
        made["dbias"] = made["dbias"] / (
            v["q"].shape[0] / made["dbias"].shape[0])


def unwritten_without_queries(function, v, made):
    if "dk" in made and v["q"].size == 0:
        made["dk"] = made["dk"] * np.nan


def running_keys(function, v, made):
    if v["k"].shape[2] > 1000:
        made["sum"] = running(np.exp(f32(v["k"][..., 0])), -1).reshape(
            made["sum"].shape)


def running_queries(function, v, made):
    if v["q"].shape[2] > 1000:
        made["dv"] = running(v["dout"], 2)[:, :, None]


# ------------------------------------------------------------------------------
# All kernels
# ------------------------------------------------------------------------------


class IgnoresStrides(Correct):
    def read(self, array):
        flat = array.memory.view(array.view.dtype)[:array.view.size]
        return dtypes.decode(flat.reshape(array.view.shape), array.dtype)


class WritesOutside(Correct):
    def write(self, array, values):
        super().write(array, values)
        if array.memory.size > array.view.nbytes:
            array.memory[:] = 0


class Accumulates(Correct):
    def write(self, array, values):
        old = array.values()
        super().write(array, values + np.where(np.isnan(old), 0, old))


class ChangesInits(Correct):
    keeps_inits = False


class CountsThreads(Correct):
    def after(self, function, values, made):
        for name in made:
            made[name] = made[name] * (1 + 2.0**-7 * self.threads)


class Alternates(Correct):
    runs = 0

    def after(self, function, values, made):
        Alternates.runs += 1
        for name in made:
            made[name] = made[name] * (1 + 2.0**-7 * (self.runs % 2))


ROWS = {
    edge_cases.edge_rows.eps_inside_the_root: [
        broken("EpsOutside", "rms_norm", compute=rms(eps_outside)),
        broken("EpsInF32", "rms_norm", compute=rms(eps_in_f32))],
    edge_cases.edge_rows.offset_in_accumulation_type: [
        broken("RoundedOffset", "rms_norm", before=rounded_offset)],
    edge_cases.edge_rows.sums_are_blocked: [
        broken("RunningSquares", "rms_norm", compute=rms(running_squares)),
        broken("RunningSoftmax", "softmax", compute=running_softmax)],
    edge_cases.edge_rows.sums_over_rows_are_blocked: [
        broken("RunningRows", "layer_norm_grad", after=running_rows)],
    edge_cases.edge_rows.variance_is_of_differences: [
        broken("VarianceOfSquares", "layer_norm",
               compute=variance_of_squares)],
    edge_cases.edge_rows.squares_of_f16_do_not_overflow: [
        broken("SquaresInF16", "rms_norm",
               compute=rms(squares_in(np.float16)))],
    edge_cases.edge_rows.extreme_rows: [
        broken("SquaresInF32", "rms_norm", compute=rms(squares_in(f32)))],
    edge_cases.edge_rows.softmax_subtracts_the_maximum: [
        broken("NoMaximum", "softmax", compute=no_maximum)],
    edge_cases.edge_rows.not_finite_values_propagate: [
        broken("OnlyFinite", "softmax", before=finite(["x"])),
        broken("OnlyFiniteGrad", "rms_norm_grad", before=finite(["dy"]))],
    edge_cases.edge_rows.weight_gradients_sum_over_all_rows: [
        broken("DropsRows", "rms_norm_grad", after=drop_last_rows),
        broken("DropsRows", "layer_norm_grad", after=drop_last_rows)],
    edge_cases.edge_rows.empty_and_single: [
        broken("Unwritten", "rms_norm_grad", after=unwritten_without_rows),
        broken("Unwritten", "layer_norm_grad", after=unwritten_without_rows)],
}
ATTENTION = {
    edge_cases.edge_attention.fully_masked_rows: [
        broken("NaNWhereEmpty", "attention", after=nan_where_empty),
        broken("NumberWhereEmpty", "attention",
               after=large_number_where_empty),
        broken("AddedMask", "attention*", compute=added_mask)],
    edge_cases.edge_attention.masked_values_reach_nothing: [
        broken("AddedMask", "attention*", compute=added_mask),
        broken("MultipliedMask", "attention*", after=multiplied_mask)],
    edge_cases.edge_attention.masked_values_beside_kept_ones: [
        broken("MultipliedValues", "attention*", after=multiplied_values)],
    edge_cases.edge_attention.causal_alignments: [
        broken("BottomRight", "attention*", compute=other_alignment),
        broken("OneLess", "attention*", compute=one_key_less),
        broken("OneLessBackward", "attention_grad", after=lose_first_query)],
    edge_cases.edge_attention.huge_positions: [
        broken("Wrapped", "attention*", before=wrapped_positions)],
    edge_cases.edge_attention.rows_past_q_lengths: [
        broken("RowsCount", "attention_grad", after=rows_past_length_count)],
    edge_cases.edge_attention.window_keeps_one_more: [
        broken("SmallerWindow", "attention*", compute=smaller_window)],
    edge_cases.edge_attention.lengths_of_both_types: [
        broken("NoWideLengths", "attention*", before=no_wide_lengths)],
    edge_cases.edge_attention.order_of_scores: [
        broken("BiasBeforeCap", "attention*", before=bias_before_cap)],
    edge_cases.edge_attention.maximum_is_what_is_subtracted: [
        broken("RoundedMaximum", "attention", after=rounded_maximum),
        broken("NarrowMaximum", "attention", after=narrow_maximum)],
    edge_cases.edge_attention.checkpoints_in_natural_units: [
        broken("BinaryUnits", "attention", after=binary_units)],
    edge_cases.edge_attention.large_scores_in_accumulation_type: [
        broken("ScoresInF16", "attention", before=scores_in_f16)],
    edge_cases.edge_attention.heads_share_in_order: [
        broken("HeadsInTurn", "attention", compute=heads_in_turn)],
    edge_cases.edge_attention.bias_gradient_is_reduced: [
        broken("MeanBias", "attention_grad", after=mean_bias)],
    edge_cases.edge_attention.empty_extents: [
        broken("Unwritten", "attention_grad",
               after=unwritten_without_queries)],
    edge_cases.edge_attention.attention_propagates_not_finite_values: [
        broken("OnlyFinite", "attention", before=finite(["v"])),
        broken("OnlyFiniteGrad", "attention_grad", before=finite(["dout"])),
        broken("ZeroWhereNoMaximum", "attention",
               after=zero_where_no_maximum)],
    edge_cases.edge_attention.attention_sums_are_blocked: [
        broken("RunningKeys", "attention", after=running_keys),
        broken("RunningQueries", "attention_grad", after=running_queries)],
}
SHARED = {
    edge_cases.edge_shared.views_of_any_strides: [IgnoresStrides,
                                                  WritesOutside],
    edge_cases.edge_shared.gradients_are_overwritten: [Accumulates],
    edge_cases.edge_shared.inits_are_not_changed: [ChangesInits],
    edge_cases.edge_shared.threads_and_runs_do_not_matter: [CountsThreads,
                                                            Alternates],
}


def problems_of(rule, test, kernel):
    suite = StandInSuite(kernel)
    edge = Edge(suite, rule)
    test(edge)
    return suite.problems


def main():
    good, count = True, 0
    rules = {**edge_cases.ROWS, **edge_cases.ATTENTION, **edge_cases.SHARED}
    ways = {**ROWS, **ATTENTION, **SHARED}
    for rule, test in rules.items():
        problems = problems_of(rule, test, Correct())
        if problems:
            good = False
            print(f"FAILED: {rule}: not broken, but {problems[0]}")
        kinds = ways.get(test, [])
        if not kinds:
            good = False
            print(f"FAILED: {rule}: nothing here breaks it")
        for kind in kinds:
            count += 1
            problems = problems_of(rule, test, kind())
            good &= bool(problems)
            print(f"{'seen' if problems else 'FAILED: not seen'}: {rule}: "
                  f"{kind.__name__}")
    print(f"{len(rules)} rules, broken in {count} ways")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
