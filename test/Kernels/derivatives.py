"""Compares the derivatives of compiled code with central differences.

In f64 the derivatives of every op, and of regions as scores have them, are
compared with differences of the same compiled function, and at edges (0, ±∞, NaN)
with what they should be. Those of the other types are compared with those of
f64. A seed of 0 gives 0 everywhere.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile

import numpy as np

from derivative_cases import FUNCTIONS, REGIONS
from driver import Array, Tools
from setup import dtypes

UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
# How far off: a few roundings of each op, and a libm's functions.
UNITS = 16
# What a difference of the fourth order may be off in f64.
DIFFERENCE = 1e-10
HEADS, QUERIES, KEYS = 2, 4, 6


def function_text(function, dtype):
    """The function, its gradient, and an entry point that evaluates it at all
    points: out[p] = (value, derivatives)."""
    names = ["%x", "%y", "%z"][:function.arity]
    parameters = ", ".join(f"{n}: {dtype}" for n in names)
    columns = function.arity + 1
    types = ", ".join([dtype] * columns)
    body = function.body.replace("{T}", dtype)
    loads = "".join(
        f"%c{i} = arith.constant {i} : index\n" for i in range(columns)
    ) + "".join(
        f"{n} = memref.load %points[%p, %c{i}] : memref<?x?x{dtype}>\n"
        for i, n in enumerate(names))
    stores = "".join(
        f"memref.store %g#{i}, %out[%p, %c{i}] : memref<?x?x{dtype}>\n"
        for i in range(columns))
    return f"""
func.func private @{function.symbol}({parameters}) -> {dtype} {{
{body}
return %r : {dtype}
}}
func.func private @{function.symbol}_grad({types}) -> ({types})
    attributes {{test.gradient_of = @{function.symbol}}}
func.func @{function.symbol}_run(%points: memref<?x?x{dtype}>,
    %seeds: memref<?x{dtype}>, %out: memref<?x?x{dtype}>) {{
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
%count = memref.dim %seeds, %zero : memref<?x{dtype}>
scf.for %p = %zero to %count step %one {{
{loads}%seed = memref.load %seeds[%p] : memref<?x{dtype}>
%g:{columns} = func.call @{function.symbol}_grad({', '.join(names)}, %seed)
    : ({types}) -> ({types})
{stores}}}
return
}}
"""


def array_type(shape, element):
    return f"memref<{'?x' * len(shape)}{element}>"


def region_text(region, dtype):
    """A region, its gradient, and an entry point that evaluates it at all
    positions: it writes values and derivatives by the score, and adds to the
    gradients of the arrays."""
    arrays, sums = [], []
    for shape, element in region.arrays:
        arrays.append(array_type(shape, element.replace("{T}", dtype)))
        sums.append(array_type(shape, dtype))
    names = [f"%a{i}" for i in range(len(arrays))]
    given = "".join(f", {n}: {t}" for n, t in zip(names, arrays))
    destinations = "".join(f", %d{i}: {t}" for i, t in enumerate(sums))
    kinds = ", ".join([dtype, "index", "index", "index", *arrays, dtype, *sums])
    used = ", ".join(["%s", "%h", "%i", "%j", *names, "%seed",
                      *(f"%d{i}" for i in range(len(sums)))])
    scores = f"memref<?x?x?x{dtype}>"
    loops = "".join(
        f"%n{v} = memref.dim %scores, %c{i} : {scores}\n"
        f"scf.for %{v} = %c0 to %n{v} step %c1 {{\n"
        for i, v in enumerate("hij"))
    return f"""
func.func private @{region.name}(%s: {dtype}, %h: index, %i: index,
    %j: index{given}) -> {dtype} {{
{region.body.replace("{T}", dtype)}
return %r : {dtype}
}}
func.func private @{region.name}_grad({kinds}) -> ({dtype}, {dtype})
    attributes {{test.gradient_of = @{region.name}}}
func.func @{region.name}_run(%scores: {scores}, %seeds: {scores}{given},
    %values: {scores}, %dscores: {scores}{destinations}) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
{loops}%s = memref.load %scores[%h, %i, %j] : {scores}
%seed = memref.load %seeds[%h, %i, %j] : {scores}
%g:2 = func.call @{region.name}_grad({used}) : ({kinds}) -> ({dtype}, {dtype})
memref.store %g#0, %values[%h, %i, %j] : {scores}
memref.store %g#1, %dscores[%h, %i, %j] : {scores}
}}
}}
}}
return
}}
"""


class Checker:
    """Counts comparisons, and says which failed."""

    def __init__(self):
        self.counts, self.worst, self.problems = {}, {}, []

    def check(self, kind, name, got, want, allowed):
        """Every number within what is allowed, NaN where NaN is wanted."""
        got, want, allowed = np.broadcast_arrays(
            np.asarray(got, np.float64), want, allowed)
        with np.errstate(invalid="ignore"):
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            ratio = np.where(same, 0.0, np.abs(got - want) / allowed)
        # Written so that a NaN fails.
        wrong = ~(ratio <= 1)
        self.counts[kind] = self.counts.get(kind, 0) + got.size
        self.worst[kind] = max(self.worst.get(kind, 0.0),
                               np.nanmax(ratio, initial=0.0))
        for index in np.argwhere(wrong)[:3]:
            at = tuple(index)
            self.problems.append(
                f"{kind}: {name} at {list(map(int, at))}: expected "
                f"{want[at]:.17g}, but got {got[at]:.17g}")

    def report(self, minimum):
        for kind, count in self.counts.items():
            print(f"{kind:<24} {count:>7} comparisons, worst "
                  f"{self.worst[kind]:.3f} of what is allowed")
        for text in self.problems[:60]:
            print("FAILED:", text)
        total = sum(self.counts.values())
        print(f"{total} comparisons, {len(self.problems)} problems")
        return not self.problems and total >= minimum


def evaluate(module, function, points, seeds, dtype):
    """Values and derivatives, as float64."""
    out = Array(np.zeros((len(seeds), function.arity + 1)), dtype)
    module.call(f"{function.symbol}_run", [
        Array(dtypes.round_to(points, dtype), dtype),
        Array(dtypes.round_to(seeds, dtype), dtype), out])
    return out.values().astype(np.float64)


def differences(module, function, points):
    """The derivatives at points, of values around them, in f64."""
    columns = []
    for argument in range(function.arity):
        step = 2.0**-13 * np.maximum(1, np.abs(points[:, argument]))
        # Within what is smooth: a part of the least argument.
        step = np.minimum(step, np.abs(points[:, argument]) / 64)
        value = {}
        for k in (-2, -1, 1, 2):
            moved = points.copy()
            moved[:, argument] += k * step
            value[k] = evaluate(module, function, moved, np.ones(len(points)),
                                "f64")[:, 0]
        columns.append((8 * (value[1] - value[-1]) - (value[2] - value[-2]))
                       / (12 * step))
    return np.stack(columns, axis=1)


def check_function(checker, modules, function):
    points = np.stack(function.points, axis=1).astype(np.float64)
    ones = np.ones(len(points))
    for dtype, module in modules.items():
        there = dtypes.round_to(points, dtype).astype(np.float64)
        exact = evaluate(modules["f64"], function, there, ones, "f64")
        if dtype == "f64":
            want = differences(module, function, points)
            size = np.maximum(np.abs(want), np.abs(exact[:, :1]))
            checker.check("f64 and differences", function.name, exact[:, 1:],
                          want, DIFFERENCE * np.maximum(1, size))
        # Of the values, and of the derivatives.
        got = evaluate(module, function, there, ones, dtype)
        allowed = UNITS * UNIT[dtype] * np.maximum(np.abs(exact), function.floor)
        checker.check(f"{dtype} and f64", function.name, got, exact, allowed)
        # Another seed is a factor; without one there is nothing.
        twice = evaluate(module, function, there, -2 * ones, dtype)
        checker.check(f"{dtype}, seed -2", function.name, twice[:, 1:],
                      -2 * exact[:, 1:], 2 * allowed[:, 1:])
        nothing = evaluate(module, function, there, 0 * ones, dtype)
        checker.check(f"{dtype}, seed 0", function.name, nothing[:, 1:], 0, 1e-300)


def check_edges(checker, modules, function):
    if not function.edges:
        return
    points = np.array([at for at, _ in function.edges], np.float64)
    want = np.array([slopes for _, slopes in function.edges], np.float64)
    for dtype, module in modules.items():
        for seed in (1.0, 0.0):
            got = evaluate(module, function, points,
                           np.full(len(points), seed), dtype)[:, 1:]
            there = dtypes.round_to(want, dtype).astype(np.float64)
            allowed = UNITS * UNIT[dtype] * np.where(
                np.isfinite(there), np.maximum(np.abs(there), 1e-300), 1)
            checker.check(f"{dtype} at edges, seed {seed:g}", function.name,
                          got, there if seed else np.zeros_like(there), allowed)


def region_inputs(region):
    random = np.random.RandomState(7)
    shape = (HEADS, QUERIES, KEYS)
    # None is near 0, where a branch may change.
    arrays = [dtypes.round_to(np.where(random.uniform(size=s) < 0.5, -1, 1)
                              * random.uniform(0.25, 1, s), "bf16")
              .astype(np.float64) for s, _ in region.arrays]
    scores, seeds = (random.uniform(-2, 2, shape) for _ in range(2))
    return [dtypes.round_to(a, "bf16").astype(np.float64)
            for a in (scores, seeds)] + arrays


def evaluate_region(module, region, inputs, dtype):
    """The value, and the gradients by the score and by each array."""
    kinds = [dtype, dtype] + [e.replace("{T}", dtype)
                              for _, e in region.arrays]
    given = [Array(dtypes.round_to(a, kind), kind)
             for a, kind in zip(inputs, kinds)]
    outs = [Array(np.zeros(a.shape), dtype)
            for a in (inputs[0], inputs[0], *inputs[2:])]
    module.call(f"{region.name}_run", given + outs)
    return [out.values().astype(np.float64) for out in outs]


def check_region(checker, modules, region):
    """In f64 with differences of Σ seed · value, by each number."""
    inputs = region_inputs(region)
    exact = evaluate_region(modules["f64"], region, inputs, "f64")
    for position, gradient in zip((0, *range(2, len(inputs))), exact[1:]):
        if position >= 2 and region.arrays[position - 2][1] != "{T}":
            continue
        want = np.zeros_like(gradient)
        for index in np.ndindex(*gradient.shape):
            step = 2.0**-13
            value = {}
            for k in (-2, -1, 1, 2):
                moved = [a.copy() for a in inputs]
                moved[position][index] += k * step
                value[k] = np.sum(inputs[1] * evaluate_region(
                    modules["f64"], region, moved, "f64")[0])
            want[index] = (8 * (value[1] - value[-1])
                           - (value[2] - value[-2])) / (12 * step)
        checker.check("regions and differences", region.name, gradient, want,
                      DIFFERENCE * 10)
    for dtype in ("f32", "f64"):
        got = evaluate_region(modules[dtype], region, inputs, dtype)
        for mine, other in zip(got, exact):
            # A sum of at most so many terms of magnitude 10.
            checker.check(f"regions, {dtype} and f64", region.name, mine, other,
                          UNITS * UNIT[dtype] * 40)


def expand_clampf(text):
    """Writes clampf as what it is. No pass of a pipeline does, and that of
    upstream takes the bounds for one another."""
    return re.sub(
        r"%(\w+) = math\.clampf (%\w+) to \[(%\w+), (%\w+)\] : (\w+)",
        r"%raised_\1 = arith.maximumf \2, \3 : \5\n"
        r"%\1 = arith.minimumf %raised_\1, \4 : \5", text)


def compile_module(tools, tool, dtype):
    texts = [function_text(f, dtype) for f in FUNCTIONS
             if f.bf16 or dtype != "bf16"]
    if dtype in ("f32", "f64"):
        texts += [region_text(r, dtype) for r in REGIONS]
    # Support libraries have no bf16: its ops are those of f32, rounded.
    emulate = [] if dtype != "bf16" else [
        "--math-extend-to-supported-types",
        "--arith-emulate-unsupported-floats=source-types=bf16 target-type=f32"]
    done = subprocess.run(
        [tool, "-", "--test-pol-region-gradient", *emulate],
        input="".join(texts), capture_output=True, text=True, check=False,
        timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[:3000])
    return tools.compile(dtype, expand_clampf(done.stdout), level=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("pol-opt", "llvm-bin", "runtime", "openmp"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    checker = Checker()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.pol_opt, options.llvm_bin, options.runtime,
                      options.openmp, folder)
        modules = {dtype: compile_module(tools, options.pol_opt, dtype)
                   for dtype in ("f64", "f32", "f16", "bf16")}
        for function, check in itertools.product(
                FUNCTIONS, (check_function, check_edges)):
            check(checker, {dtype: module for dtype, module in modules.items()
                            if function.bf16 or dtype != "bf16"}, function)
        for region in REGIONS:
            check_region(checker, modules, region)
    return 0 if checker.report(minimum=20000) else 1


if __name__ == "__main__":
    sys.exit(main())
