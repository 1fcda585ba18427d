"""Inputs of a case, and what its outputs should be, by the float64 oracle.

Of long arrays a sample of rows is compared, the first and the last among them,
and of large attentions a sample of heads. Sums over rows are of all rows.
Besides, no output may have a NaN anywhere, where there were NaN before.
"""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from common import dtypes, empty, oracle

SAMPLED_ELEMENTS = 1 << 22
SAMPLED_SCORES = 1 << 25
_CHUNK = 1 << 20

# How far off a peer may be, relative to the size of the terms and times what
# errors of scores grow by; pol has its own, narrower promise
# (docs/Numerics.md). A peer is not accused of being less exact, but of another
# result.
PEERS_ACCUMULATION = 1e-4
PEERS_ROUNDINGS = 8


def random_values(rng, shape, dtype):
    """Normally distributed values that the type has, as it stores them."""
    array = empty(shape, dtype)
    flat = array.reshape(-1)
    for begin in range(0, flat.size, _CHUNK):
        part = flat[begin:begin + _CHUNK]
        part[...] = dtypes.encode(
            rng.standard_normal(part.size, np.float32), dtype)
    return array


def _chunks(rows, length):
    step = max(_CHUNK // max(length, 1), 1)
    return [slice(b, min(b + step, rows)) for b in range(0, rows, step)]


def _in_parallel(function, items, elements=_CHUNK):
    """elements: of the matrices that an item needs, a dozen of them and more in
    float64: large ones are not there twice."""
    with ThreadPoolExecutor(2 if elements < 1 << 23 else 1) as pool:
        return list(pool.map(function, items))


def _head(case, arrays, b, h):
    """The operands of one query head, decoded."""
    group = case.shape[1] // case.shape[2]
    one = {}
    for name, array in arrays.items():
        head = h // group if name in ("k", "v") else h
        dtype = "f32" if name in ("max", "sum") else case.dtype
        one[name] = dtypes.decode(array[b:b + 1, head:head + 1], dtype)
    return one


def _options(case):
    return oracle.Options(causal="top_left" if case.causal else None)


def make_inputs(case, rng):
    """All inputs by name; a gradient's are what its forward kernel gives,
    rounded."""
    inputs = {}
    for name, (shape, dtype) in case.inputs().items():
        if name in ("rstd", "mean", "o", "max", "sum") or (
                name == "y" and case.is_grad):
            inputs[name] = empty(shape, dtype)
        else:
            inputs[name] = random_values(rng, shape, dtype)
    if case.kernel == "attention_grad":
        _forward_of_heads(case, inputs)
    elif case.is_grad:
        _forward_of_rows(case, inputs, rng)
    return inputs


def _forward_of_heads(case, inputs):
    def one(index):
        b, h = index
        head = _head(case, {n: inputs[n] for n in "qkv"}, b, h)
        values, _, _ = oracle.attention(head["q"], head["k"], head["v"], None,
                                        _options(case))
        inputs["o"][b, h] = dtypes.encode(values["o"][0, 0], case.dtype)
        for name in ("max", "sum"):
            inputs[name][b, h] = values[name][0, 0]

    b, h = case.shape[:2]
    _in_parallel(one, [(i, j) for i in range(b) for j in range(h)],
                 case.shape[3] * case.shape[4])


def _forward_of_rows(case, inputs, rng):
    rows, length = case.shape
    x = inputs.get("x")

    def one(part):
        if case.base == "softmax":
            values = oracle.softmax(
                rng.standard_normal((part.stop - part.start, length),
                                    np.float32))
            inputs["y"][part] = dtypes.encode(values.astype(np.float32),
                                              case.dtype)
            return
        values = dtypes.decode(x[part], case.dtype)
        if case.base == "rms_norm":
            _, inputs["rstd"][part] = oracle.rms_norm(values)
        else:
            _, inputs["mean"][part], inputs["rstd"][part], _ = (
                oracle.layer_norm(values))

    # Random numbers are drawn in order.
    run = map if case.base == "softmax" else _in_parallel
    list(run(one, _chunks(rows, length)))


@dataclasses.dataclass
class Want:
    """What an output should hold, as test/Kernels has it; along axis 0 or 1,
    only at the indices, if there are any."""

    values: np.ndarray
    size: object = None
    rank: int = None
    growth: float = 1.0
    axis: int = 0
    indices: np.ndarray = None

    def error(self, got, dtype, ours):
        """The error relative to the size of terms, and by what is allowed."""
        got = dtypes.decode(got, dtype)
        relative, ratio = oracle.norm_errors(
            got, self.values, dtype, "f32", self.size, self.rank, self.growth)
        if not ours:
            allowed = PEERS_ACCUMULATION * self.growth
            if dtype != "f32":
                allowed += PEERS_ROUNDINGS * oracle.ROUNDING[dtype]
            ratio = relative / allowed
        return relative, ratio


def wanted(case, inputs, rng):
    """A `Want` for each output."""
    if case.is_rows:
        return _wanted_rows(case, inputs, rng)
    return _wanted_heads(case, inputs, rng)


def _sample(count, wanted_count, rng):
    """Sorted indices, the first and the last ones among them."""
    if wanted_count >= count:
        return np.arange(count)
    picked = rng.choice(count, max(wanted_count, 2), replace=False)
    picked[:2] = 0, count - 1
    return np.unique(picked)


def _wanted_rows(case, inputs, rng):
    rows, length = case.shape
    sample = _sample(rows, SAMPLED_ELEMENTS // length, rng)
    wide = {n: dtypes.decode(a[sample] if a.shape[0] == rows and n != "weight"
                             and n != "bias" else a, case.dtype_of(n))
            for n, a in inputs.items()}
    wants = {}
    if case.kernel == "rms_norm":
        y, rstd = oracle.rms_norm(wide["x"], wide["weight"])
        wants = {"y": Want(y, None, 1), "rstd": Want(rstd, None, 0)}
    elif case.kernel == "layer_norm":
        y, mean, rstd, sizes = oracle.layer_norm(wide["x"], wide["weight"],
                                                 wide["bias"])
        wants = {"y": Want(y, sizes["y"], 1),
                 "mean": Want(mean, sizes["mean"], 0),
                 "rstd": Want(rstd, sizes["rstd"], 0)}
    elif case.kernel == "softmax":
        wants = {"y": Want(oracle.softmax(wide["x"]), None, 1)}
    else:
        values, sizes = _row_gradients(case, wide)
        wants = {"dx": Want(values["dx"], sizes["dx"], 1)}
    for want in wants.values():
        want.indices = sample
    if case.is_grad and case.base != "softmax":
        wants.update(_sums_over_rows(case, inputs))
    return wants


def _row_gradients(case, wide):
    if case.base == "softmax":
        return oracle.softmax_grad(wide["y"], wide["dy"])
    if case.base == "rms_norm":
        return oracle.rms_norm_grad(wide["x"], wide["dy"], wide["weight"],
                                    wide["rstd"])
    return oracle.layer_norm_grad(wide["x"], wide["dy"], wide["weight"],
                                  wide["mean"], wide["rstd"])


def _sums_over_rows(case, inputs):
    """dweight and dbias, of all rows, a piece at a time."""
    names = [n for n in case.outputs() if n != "dx"]

    def one(part):
        wide = {n: dtypes.decode(a if n == "weight" else a[part],
                                 case.dtype_of(n))
                for n, a in inputs.items()}
        values, sizes = _row_gradients(case, wide)
        return {n: (values[n], sizes[n]**2) for n in names}

    found = _in_parallel(one, _chunks(*case.shape))
    return {n: Want(sum(f[n][0] for f in found),
                    np.sqrt(sum(f[n][1] for f in found)), 1) for n in names}


def _wanted_heads(case, inputs, rng):
    b, h, hk, s, t, _ = case.shape
    if b != 1 or (case.is_grad and h != hk):
        raise ValueError("expected one batch entry, and heads of their own for "
                         "gradients")
    sample = _sample(h, SAMPLED_SCORES // (s * t), rng)

    def one(head):
        a = _head(case, inputs, 0, int(head))
        if case.is_grad:
            return oracle.attention_grad(
                *(a[n] for n in ("q", "k", "v", "o", "dout", "max", "sum")),
                None, _options(case))
        return oracle.attention(a["q"], a["k"], a["v"], None, _options(case))

    found = _in_parallel(one, sample, s * t)
    return {name: Want(*(np.concatenate([f[i][name] for f in found], axis=1)
                         for i in (0, 1)),
                       rank=1 if name in ("max", "sum") else 2,
                       growth=max(f[2] for f in found), axis=1, indices=sample)
            for name in case.outputs()}
