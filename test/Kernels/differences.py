"""Central differences of compiled forward kernels against compiled gradients.

All in f64, with a random projection of the result: the gradients that a
backward kernel gives for that projection, times a direction, are what the
forward kernel's projected results differ by along it. Directions are every
coordinate of small arrays, and random ones of larger ones.
"""

import sys

import numpy as np

import suite as suites
from attention_cases import BIAS_FORMS, Call, Extents, Static
from driver import Failed
from ops import Function
from rows import attributes, grad_shapes
from suite import Tally

# The largest accepted |differences - gradient| / |gradient|, over directions.
TOLERANCE = 1e-6

# Third derivatives of these kernels times its square are some 1e-9, and
# roundings of results divided by it some 1e-11.
STEP = 2e-5

SMALL = 24
RANDOM_DIRECTIONS = 8

MINIMUM = {"rows": {"rms_norm_grad": 12, "layer_norm_grad": 18,
                    "softmax_grad": 4},
           "attention": {"attention_grad": 90}}


def directions(suite, shape):
    """Of length 1."""
    size = int(np.prod(shape))
    if size <= SMALL:
        yield from np.eye(size).reshape((size, *shape))
        return
    for _ in range(RANDOM_DIRECTIONS):
        direction = suite.random.standard_normal(shape)
        yield direction / np.linalg.norm(direction)


class Differences:
    """One kernel and its gradients. modules: of both functions, by name."""

    def __init__(self, suite, modules, forward, backward, label):
        self.suite, self.modules = suite, modules
        self.forward, self.backward, self.label = forward, backward, label

    def _call(self, function, inputs, shapes):
        return self.suite.call(self.modules[function.name], function, inputs,
                               shapes, self.label)

    def check(self, *what):
        """As `_check`; a call that fails is a problem."""
        try:
            self._check(*what)
        except Failed as failure:
            self.suite.problem(f"{self.label}: {failure}")

    def _check(self, inputs, shapes, result, reads, names):
        """inputs: of the forward kernel. result: the one that is projected, and
        what the backward kernel calls the projection. reads: results of the
        forward kernel that the backward one reads. names: the input that each
        gradient is of."""
        result, projection = result
        made = {name: array.values() for name, array in
                self._call(self.forward, inputs, shapes).items()}
        weights = self.suite.random.standard_normal(made[result].shape)
        given = {n: v for n, v in inputs.items()
                 if n in self.backward.elements}
        given.update({name: made[name] for name in reads})
        given[projection] = weights
        gradients = self._call(self.backward, given, shapes)

        def projected(moved):
            got = self._call(self.forward, moved, shapes)[result].values()
            return np.sum(weights * got.astype(np.longdouble))

        for gradient, name in names.items():
            if gradient not in gradients:
                continue
            slope = gradients[gradient].values()
            got, want = [], []
            for direction in directions(self.suite, inputs[name].shape):
                ends = [projected({**inputs, name: inputs[name]
                                   + sign * STEP * direction})
                        for sign in (1, -1)]
                want.append(float(ends[0] - ends[1]) / (2 * STEP))
                got.append(float(np.sum(slope * direction)))
            self._add(gradient, np.array(got), np.array(want))

    def _add(self, gradient, got, want):
        size = np.linalg.norm(want)
        off = np.linalg.norm(got - want)
        error = off / size if size else off
        tally = self.suite.tallies.setdefault(self.backward.op, Tally())
        if not tally.add(error, error / TOLERANCE):
            self.suite.problem(
                f"{self.backward.op}, {self.label}: {gradient} is off by "
                f"{error:.3g} of differences")


# ------------------------------------------------------------------------------
# Norms and softmax
# ------------------------------------------------------------------------------

ROW_SHAPES = [(2, 5), (2, 3, 17)]


def row_functions(number, op, rank, forward, backward, numbers):
    """A kernel and its gradient, all in f64."""
    lower = {"rstd": rank - 1, "mean": rank - 1, "weight": 1, "bias": 1,
             "dweight": 1, "dbias": 1, "dweight_partials": 2,
             "dbias_partials": 2}

    def function(name, kernel, names, given):
        return Function(name, kernel, {n: "f64" for n in names},
                        {n: lower.get(n, rank) for n in names},
                        attributes(**given))

    offset = {k: v for k, v in numbers.items() if k == "offset"}
    return (function(f"forward{number}", op, forward, numbers),
            function(f"backward{number}", f"{op}_grad", backward, offset))


def rows(suite):
    dweight, dbias = ("dweight", "dweight_partials"), ("dbias",
                                                       "dbias_partials")
    cases = []
    for offset in (0.0, 1.0):
        cases.append(("rms_norm", ("x", "weight", "y", "rstd"),
                      ("x", "dy", "weight", "rstd", "dx", *dweight),
                      {"offset": offset, "eps": 1e-5}))
    cases += [
        ("rms_norm", ("x", "y", "rstd"), ("x", "dy", "rstd", "dx"),
         {"eps": 0.1}),
        ("rms_norm", ("x", "weight", "y", "rstd"),
         ("x", "dy", "weight", "rstd", *dweight), {"eps": 0.5}),
        ("layer_norm", ("x", "weight", "bias", "y", "mean", "rstd"),
         ("x", "dy", "weight", "bias", "mean", "rstd", "dx", *dweight, *dbias),
         {"eps": 1e-5}),
        ("layer_norm", ("x", "weight", "y", "mean", "rstd"),
         ("x", "dy", "weight", "mean", "rstd", "dx", *dweight), {"eps": 0.2}),
        ("layer_norm", ("x", "y", "mean", "rstd"),
         ("x", "dy", "mean", "rstd", "dx"), {"eps": 1e-3}),
        ("layer_norm", ("x", "weight", "bias", "y", "mean", "rstd"),
         ("x", "dy", "weight", "bias", "mean", "rstd", "dx", *dbias),
         {"eps": 1e-5}),
        ("layer_norm", ("x", "bias", "y", "mean", "rstd"),
         ("x", "dy", "bias", "mean", "rstd", "dx", *dbias), {"eps": 1e-5}),
        ("softmax", ("x", "y"), ("y", "dy", "dx"), {}),
        ("softmax", ("x", "y"), ("y", "dy", "x", "dx"), {}),
    ]
    jobs = []
    for op, forward, backward, numbers in cases:
        for shape in ROW_SHAPES:
            pair = row_functions(len(jobs), op, len(shape), forward, backward,
                                 numbers)
            jobs.append((*pair, shape))
    modules = suite.compile("differences", [f for job in jobs
                                            for f in job[:2]])
    for forward, backward, shape in jobs:
        if not {forward.name, backward.name} <= set(modules):
            continue
        random = suite.random
        inputs = {"x": random.standard_normal(shape) + 0.5}
        for name in ("weight", "bias"):
            if name in forward.elements:
                inputs[name] = random.standard_normal(shape[-1:])
        shapes = {**grad_shapes(shape), "y": shape, "rstd": shape[:-1],
                  "mean": shape[:-1]}
        reads = [n for n in forward.destinations() if n in backward.elements]
        Differences(suite, modules, forward, backward, f"{list(shape)} "
             f"{forward.attributes}").check(
                 inputs, shapes, ("y", "dy"), reads,
                 {"dx": "x", "dweight": "weight", "dbias": "bias"})
    return MINIMUM["rows"]


# ------------------------------------------------------------------------------
# Attention
# ------------------------------------------------------------------------------


def attention_cases():
    """Options one by one, and together."""
    f64 = ("f64",) * 4
    small, larger = Extents(1, 2, 1, 3, 4, 2, 3), Extents(2, 4, 2, 7, 9, 8, 5)
    plain = [
        {}, {"scale": 0.7}, {"scale": -0.4}, {"softcap": 0.9},
        {"softcap": 20.0, "scale": 2.0}, {"causal": "top_left"},
        {"causal": "bottom_right"}, {"causal": "input_pos"},
        {"causal": "top_left", "window": 1},
        {"causal": "bottom_right", "window": 0}, {"k_lengths": "i32"},
        {"k_lengths": "i64", "q_lengths": "i32"}, {"q_lengths": "i64"},
    ]
    for options in plain:
        for extents in (small, larger):
            yield Static(types=f64, **options), extents, "bias [B,H]"
    for form in BIAS_FORMS:
        yield Static(types=f64, bias=True), larger, form
        yield (Static(types=f64, bias=True, causal="input_pos", window=3,
                      softcap=1.3, scale=0.8, k_lengths="i64",
                      q_lengths="i32"), larger, form)
        yield (Static(types=f64, bias=True, causal="bottom_right",
                      softcap=0.5), Extents(2, 3, 1, 2, 3, 1, 2), form)
    for heads, kv_heads in ((6, 1), (6, 2), (3, 3)):
        yield (Static(types=f64, bias=True),
               Extents(1, heads, kv_heads, 5, 6, 3, 4), "bias [1,1]")
    yield Static(types=f64, bias=True), Extents(2, 2, 1, 1, 5, 3, 3), (
        "bias [B,H]")


def attention(suite):
    jobs = []
    for number, case in enumerate(attention_cases()):
        static = case[0]
        jobs.append((static.forward(f"forward{number}"),
                     static.backward(f"backward{number}"), *case))
    for at in range(0, len(jobs), 8):
        some = jobs[at:at + 8]
        modules = suite.compile(f"attention-{at}",
                                [f for job in some for f in job[:2]])
        for forward, backward, static, extents, form in some:
            if not {forward.name, backward.name} <= set(modules):
                continue
            call = Call(suite, static, extents, form, position=1)
            for name, limit in (("q_lengths", extents.s),
                                ("k_lengths", extents.t)):
                if name in call.inputs:
                    # Neither all nor nothing.
                    call.inputs[name] = np.array(
                        [limit - 1, limit][:extents.b])
            Differences(suite, modules, forward, backward, call.label()).check(
                call.inputs, call.shapes, ("o", "dout"),
                ("o", "max", "sum"),
                {"dq": "q", "dk": "k", "dv": "v", "dbias": "bias"})
    return MINIMUM["attention"]


PARTS = {"rows": rows, "attention": attention}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
