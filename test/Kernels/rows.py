"""Norms and softmax, forward and backward, over types, shapes and options.

The parts are one kernel and direction each.
"""

import itertools
import sys

import numpy as np

import suite as suites
from ops import OPERANDS, Function, members
from setup import dtypes, oracle
from suite import Want

FLOATS = ("f16", "bf16", "f32", "f64")

# Extents around those of vectors and blocks, primes, and the smallest ones.
SHAPES = {
    1: [(0,), (1,), (2,), (7,), (15,), (16,), (17,), (63,), (64,), (65,),
        (255,), (256,), (257,), (1023,), (1024,), (1025,), (4099,)],
    2: [(0, 0), (0, 5), (5, 0), (1, 1), (1, 2), (2, 1), (7, 13), (15, 16),
        (16, 17), (17, 15), (63, 64), (64, 65), (65, 63), (5, 255), (3, 256),
        (2, 257), (1023, 2), (1024, 3), (1025, 1), (2, 1023), (1, 1024),
        (2, 1025)],
    3: [(0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (2, 1, 7), (3, 5, 16),
        (1, 64, 17), (4, 16, 15), (5, 13, 65), (2, 2, 257)],
    4: [(1, 0, 1, 4), (1, 1, 1, 1), (2, 3, 5, 7), (2, 2, 2, 64),
        (3, 1, 7, 31), (1, 5, 13, 17)],
}
STATIC_SHAPES = [(5, 257), (64, 16), (2, 3, 17), (1,), (0, 3), (3, 0)]
# Rows that are whole tiles of vectors, in arrays of more than 128 KiB (f16: 64):
# with caches of 128 KiB, they are written in groups, or tile by tile.
GROUPED_SHAPES = {1: [(32768,)], 2: [(85, 512), (35, 1088), (171, 192)],
                  3: [(5, 17, 512)], 4: [(3, 6, 5, 512)]}
GROUPED_CACHES = 1 << 17
LONG_ROWS = (2, 100003)
MANY_ROWS = (65537, 3)
# Sizes that norms are known to be tried at elsewhere.
KNOWN_NORMS = [(256, 32), (512, 16), (768, 8), (130, 16), (300, 8)]
KNOWN_SOFTMAX = [(3, 1), (3, 17), (3, 256), (3, 4096), (2, 4097), (2, 5000),
                 (2, 16384)]

KINDS = ("tensor", "memref", "strided")

# What all parts together compare at least; each one checks its own share.
MINIMUM = {"rms_norm": 500, "rms_norm_grad": 600, "layer_norm": 700,
           "layer_norm_grad": 900, "softmax": 250, "softmax_grad": 250}


def minimum(suite, op):
    """What there has to be: of groups of rows there are fewer shapes."""
    are_grouped = suite.tools.small_caches == GROUPED_CACHES
    return {op: MINIMUM[op] // (10 if are_grouped else 1)}


def partials_shape(shape):
    """[P, M] with P = ceil(R / (64 ceil(R / 4096))) for R rows."""
    rows = int(np.prod(shape[:-1]))
    block = 64 * max(-(-rows // 4096), 1)
    return (-(-rows // block), shape[-1])


def attributes(eps=None, offset=None):
    parts = [f"{name} = {value:.17e} : f64"
             for name, value in (("eps", eps), ("offset", offset))
             if value is not None]
    return ", ".join(parts)


def shapes_for(rank, number):
    """Those of a rank; the largest ones only of rank 2, in turn."""
    shapes = list(SHAPES[rank])
    if rank == 2:
        shapes.append((LONG_ROWS, MANY_ROWS)[number % 2])
    return shapes


class Rows:
    """Functions of one kernel, and what they are called with.

    A variant is a dictionary of element types, a string of options, and the
    attributes as numbers.
    """

    def __init__(self, suite, op):
        self.suite, self.op = suite, op
        self.are_grouped = suite.tools.small_caches == GROUPED_CACHES
        self.kinds = itertools.cycle(KINDS)
        self.ranks = itertools.cycle((2, 2, 3, 2, 1, 2, 4))
        self.jobs = []

    def add(self, elements, shapes=None, alias=None, kind=None, **numbers):
        """A function of dynamic extents, and the shapes that it is called
        with."""
        rank = len(shapes[0]) if shapes else next(self.ranks)
        if self.are_grouped:
            shapes = GROUPED_SHAPES[rank]
        kind = kind or ("memref" if alias else next(self.kinds))
        number = len(self.jobs)
        lower = {"rstd": rank - 1, "mean": rank - 1, "weight": 1, "bias": 1,
                 "dweight": 1, "dbias": 1, "dweight_partials": 2,
                 "dbias_partials": 2}
        ranks = {name: lower.get(name, rank) for name in elements}
        function = Function(f"f{number}", self.op, elements, ranks,
                            attributes(**numbers), kind, alias or {})
        self.jobs.append((function, shapes or shapes_for(rank, number),
                          numbers))

    def add_static(self, elements, **numbers):
        """Functions of static extents."""
        for shape in (GROUPED_SHAPES[2] if self.are_grouped else STATIC_SHAPES):
            every = {**grad_shapes(shape), "rstd": shape[:-1],
                     "mean": shape[:-1], "weight": shape[-1:],
                     "bias": shape[-1:]}
            function = Function(
                f"f{len(self.jobs)}", self.op, elements,
                {name: every.get(name, shape) for name in elements},
                attributes(**numbers), next(self.kinds))
            self.jobs.append((function, [shape], numbers))

    def run(self, case):
        """Compiles and calls all; case gives inputs, shapes and what to
        expect."""
        for at in range(0, len(self.jobs), 12):
            jobs = self.jobs[at:at + 12]
            modules = self.suite.compile(f"{self.op}-{at}",
                                         [job[0] for job in jobs])
            for function, shapes, numbers in jobs:
                if function.name not in modules:
                    continue
                for shape in shapes:
                    inputs, sizes, wants = case(self.suite, function, shape,
                                                **numbers)
                    self.suite.check(
                        modules[function.name], function, inputs, sizes, wants,
                        f"{function.elements} {list(shape)} {numbers}")


def share(function, inputs):
    """One value where one operand is another one's."""
    for name, other in function.alias.items():
        if name in inputs:
            inputs[name] = inputs[other]


def spread(suite, shape, dtype):
    """Rows of different magnitudes, as activations have."""
    rows = np.exp(suite.random.standard_normal(shape[:-1] + (1,)))
    return suite.values(shape, dtype, rows)


def enlarge(suite, x, dtype):
    """Makes some of the rows of groups so large that their squares overflow."""
    if suite.tools.small_caches == GROUPED_CACHES and dtype in ("f32", "bf16"):
        x.reshape(-1, x.shape[-1])[5::11] *= 2.0 ** 66
    return x


def types_of(x, weight=None, y=None):
    """Names of element types for x, weight and result."""
    return x, weight or x, y or x


# x, weight, result. No type is wider than accumulation.
TYPES = [types_of(t) for t in ("f32", "f16", "bf16", "f64")] + [
    types_of("bf16", "f32"), types_of("f16", "f32", "f32"),
    types_of("f32", "bf16"), types_of("f64", "f32"),
    types_of("bf16", "f32", "f32"), types_of("f32", "f32", "f16")]


# ------------------------------------------------------------------------------
# rms_norm
# ------------------------------------------------------------------------------


def rms_norm(suite):
    rows = Rows(suite, "rms_norm")
    for x, w, y in TYPES:
        accumulated = oracle.accumulation(x)
        rows.add({"x": x, "y": y, "rstd": accumulated}, eps=1e-6)
        rows.add({"x": x, "weight": w, "y": y, "rstd": accumulated},
                 offset=1.0)
        rows.add({"x": x, "weight": w, "y": y}, eps=1e-3, offset=-0.25)
        rows.add({"x": x, "weight": w, "y": y, "rstd": accumulated}, eps=1e-12)
    for x in FLOATS:
        rows.add({"x": x, "weight": x, "y": x,
                  "rstd": oracle.accumulation(x)}, alias={"y": "x"})
        for offset in (0.0, 1.0):
            rows.add({"x": x, "weight": x, "y": x,
                      "rstd": oracle.accumulation(x)}, KNOWN_NORMS,
                     offset=offset)
    for x in ("f32", "bf16"):
        rows.add_static({"x": x, "weight": x, "y": x, "rstd": "f32"},
                        offset=1.0)
    rows.run(rms_norm_case)
    return minimum(suite, "rms_norm")


def rms_norm_case(suite, function, shape, eps=1e-5, offset=0.0):
    elements = function.elements
    x = spread(suite, shape, elements["x"])
    inputs = {"x": enlarge(suite, x, elements["x"])}
    if "weight" in elements:
        inputs["weight"] = suite.values(shape[-1:], elements["weight"])
    y, rstd = oracle.rms_norm(inputs["x"], inputs.get("weight"), eps, offset)
    wants = {"y": Want(y, rank=1)}
    if "rstd" in elements:
        wants["rstd"] = Want(rstd, rank=0)
    return inputs, {"y": shape, "rstd": shape[:-1]}, wants


def all_operands(op, dtype):
    """Element types of all operands, of inputs of one type."""
    own = ("rstd", "mean", "dweight_partials", "dbias_partials")
    return {name: oracle.accumulation(dtype) if name in own else dtype
            for group in OPERANDS[op] for name in members(op, group)}


# Inputs, weight, gradient of x, gradients of weight and bias.
GRAD_TYPES = [(t, t, t, t) for t in FLOATS] + [
    ("bf16", "bf16", "f32", "f32"), ("bf16", "f32", "bf16", "f32"),
    ("f16", "f16", "f32", "f32"), ("f16", "f32", "f16", "bf16"),
    ("f32", "bf16", "f32", "f32"), ("f64", "f32", "f32", "f64")]


def rms_norm_grad(suite):
    rows = Rows(suite, "rms_norm_grad")
    for x, w, dx, dw in GRAD_TYPES:
        accumulated = oracle.accumulation(x)
        read = {"x": x, "dy": x, "rstd": accumulated}
        weight = {**read, "weight": w}
        dweight = {"dweight": dw, "dweight_partials": accumulated}
        rows.add({**weight, "dx": dx, **dweight})
        rows.add({**weight, "dx": dx, **dweight}, offset=1.0)
        rows.add({**read, "dx": dx})
        rows.add({**weight, "dx": dx}, offset=-0.5)
        rows.add({**weight, **dweight})
    for x in FLOATS:
        accumulated = oracle.accumulation(x)
        whole = {"x": x, "dy": x, "weight": x, "rstd": accumulated, "dx": x,
                 "dweight": x, "dweight_partials": accumulated}
        rows.add(whole, alias={"dx": "dy"})
        rows.add(whole, alias={"dy": "x"})
        rows.add(whole, [LONG_ROWS, MANY_ROWS])
        for offset in (0.0, 1.0):
            rows.add(whole, KNOWN_NORMS, offset=offset)
    for x in ("f32", "bf16"):
        rows.add_static({"x": x, "dy": x, "weight": x, "rstd": "f32", "dx": x,
                         "dweight": "f32", "dweight_partials": "f32"})
    rows.run(rms_norm_grad_case)
    return minimum(suite, "rms_norm_grad")


def rms_norm_grad_case(suite, function, shape, offset=0.0):
    elements = function.elements
    x = spread(suite, shape, elements["x"])
    inputs = {"x": x, "dy": suite.values(shape, elements["dy"])}
    if "weight" in elements:
        inputs["weight"] = suite.values(shape[-1:], elements["weight"])
    share(function, inputs)
    rstd = oracle.rms_norm(x)[1]
    inputs["rstd"] = dtypes.round_to(rstd, elements["rstd"])
    values, sizes = oracle.rms_norm_grad(
        x, inputs["dy"], inputs.get("weight"), inputs["rstd"], offset)
    return inputs, grad_shapes(shape), grad_wants(function, values, sizes)


def grad_shapes(shape):
    return {"dx": shape, "dweight": shape[-1:], "dbias": shape[-1:],
            "dweight_partials": partials_shape(shape),
            "dbias_partials": partials_shape(shape)}


def grad_wants(function, values, sizes):
    """Of the destinations that are there; rows count by themselves."""
    return {name: Want(values[name], sizes[name], rank=1)
            for name in function.destinations()}


# ------------------------------------------------------------------------------
# layer_norm
# ------------------------------------------------------------------------------


def layer_norm(suite):
    rows = Rows(suite, "layer_norm")
    for x, w, y in TYPES:
        accumulated = oracle.accumulation(x)
        both = {"mean": accumulated, "rstd": accumulated}
        rows.add({"x": x, "y": y, **both}, eps=1e-6)
        rows.add({"x": x, "weight": w, "bias": w, "y": y, **both})
        rows.add({"x": x, "weight": w, "y": y, **both}, eps=1e-3)
        rows.add({"x": x, "bias": w, "y": y})
    for x in FLOATS:
        accumulated = oracle.accumulation(x)
        whole = {"x": x, "weight": x, "bias": x, "y": x, "mean": accumulated,
                 "rstd": accumulated}
        rows.add(whole, alias={"y": "x"})
        rows.add(whole, alias={"bias": "weight"})
        rows.add(whole, KNOWN_NORMS)
    for x in ("f32", "bf16"):
        rows.add_static({"x": x, "weight": x, "bias": x, "y": x,
                         "mean": "f32", "rstd": "f32"})
    rows.run(layer_norm_case)
    return minimum(suite, "layer_norm")


def off_centre(suite, shape, dtype):
    """Rows whose mean is not 0."""
    mean = suite.random.standard_normal(shape[:-1] + (1,)) * 3
    return suite.values(shape, dtype, 1.0, mean)


def layer_norm_case(suite, function, shape, eps=1e-5):
    elements = function.elements
    x = off_centre(suite, shape, elements["x"])
    inputs = {"x": enlarge(suite, x, elements["x"])}
    for name in ("weight", "bias"):
        if name in elements:
            inputs[name] = suite.values(shape[-1:], elements[name])
    share(function, inputs)
    y, mean, rstd, sizes = oracle.layer_norm(
        inputs["x"], inputs.get("weight"), inputs.get("bias"), eps)
    wants = {"y": Want(y, sizes["y"], rank=1)}
    if "mean" in elements:
        wants["mean"] = Want(mean, sizes["mean"], rank=0)
        # A row of one element has no variance, only what is rounded.
        wants["rstd"] = Want(rstd, sizes["rstd"], rank=0)
    return inputs, {"y": shape, "mean": shape[:-1], "rstd": shape[:-1]}, wants


def layer_norm_grad(suite):
    rows = Rows(suite, "layer_norm_grad")
    for x, w, dx, dw in GRAD_TYPES:
        accumulated = oracle.accumulation(x)
        read = {"x": x, "dy": x, "mean": accumulated, "rstd": accumulated}
        dweight = {"dweight": dw, "dweight_partials": accumulated}
        dbias = {"dbias": dw, "dbias_partials": accumulated}
        both = {**read, "weight": w, "bias": w}
        rows.add({**both, "dx": dx, **dweight, **dbias})
        rows.add({**read, "dx": dx})
        rows.add({**both, **dweight, **dbias})
        rows.add({**both, "dx": dx, **dbias})
        rows.add({**read, "weight": w, "dx": dx, **dweight})
        rows.add({**read, "bias": w, **dbias})
    for x in FLOATS:
        accumulated = oracle.accumulation(x)
        whole = {"x": x, "dy": x, "weight": x, "bias": x, "mean": accumulated,
                 "rstd": accumulated, "dx": x, "dweight": x, "dbias": x,
                 "dweight_partials": accumulated,
                 "dbias_partials": accumulated}
        rows.add(whole, alias={"dx": "dy"})
        rows.add(whole, alias={"dy": "x"})
        rows.add(whole, [LONG_ROWS, MANY_ROWS])
        rows.add(whole, KNOWN_NORMS)
    for x in ("f32", "bf16"):
        rows.add_static({"x": x, "dy": x, "weight": x, "bias": x,
                         "mean": "f32", "rstd": "f32", "dx": x,
                         "dweight": "f32", "dbias": "f32",
                         "dweight_partials": "f32", "dbias_partials": "f32"})
    rows.run(layer_norm_grad_case)
    return minimum(suite, "layer_norm_grad")


def layer_norm_grad_case(suite, function, shape):
    elements = function.elements
    x = off_centre(suite, shape, elements["x"])
    inputs = {"x": x, "dy": suite.values(shape, elements["dy"])}
    for name in ("weight", "bias"):
        if name in elements:
            inputs[name] = suite.values(shape[-1:], elements[name])
    share(function, inputs)
    _, mean, rstd, _ = oracle.layer_norm(x)
    inputs["mean"] = dtypes.round_to(mean, elements["mean"])
    inputs["rstd"] = dtypes.round_to(rstd, elements["rstd"])
    values, sizes = oracle.layer_norm_grad(
        x, inputs["dy"], inputs.get("weight"), inputs["mean"], inputs["rstd"])
    return inputs, grad_shapes(shape), grad_wants(function, values, sizes)


# ------------------------------------------------------------------------------
# softmax
# ------------------------------------------------------------------------------


def softmax(suite):
    rows = Rows(suite, "softmax")
    for x, _, y in TYPES:
        rows.add({"x": x, "y": y})
    for x in FLOATS:
        for rank in (1, 2, 3, 4):
            rows.add({"x": x, "y": x}, SHAPES[rank])
        rows.add({"x": x, "y": x}, alias={"y": "x"})
        rows.add({"x": x, "y": x}, [LONG_ROWS, MANY_ROWS, *KNOWN_SOFTMAX])
    for x in ("f32", "bf16"):
        rows.add_static({"x": x, "y": x})
    rows.run(softmax_case)
    return minimum(suite, "softmax")


def softmax_case(suite, function, shape):
    scale = suite.choose((0.1, 1.0, 5.0, 30.0))
    x = suite.values(shape, function.elements["x"], scale)
    return {"x": x}, {"y": shape}, {"y": Want(oracle.softmax(x), rank=1)}


def softmax_grad(suite):
    rows = Rows(suite, "softmax_grad")
    for y, _, dx, _ in GRAD_TYPES:
        rows.add({"y": y, "dy": y, "dx": dx})
        rows.add({"y": y, "dy": y, "x": y, "dx": dx})
    for y in FLOATS:
        whole = {"y": y, "dy": y, "dx": y}
        for rank in (1, 2, 3, 4):
            rows.add(whole, SHAPES[rank])
        rows.add(whole, alias={"dx": "dy"})
        rows.add(whole, alias={"dx": "y"})
        rows.add(whole, alias={"dy": "y"})
        rows.add(whole, [LONG_ROWS, MANY_ROWS, *KNOWN_SOFTMAX])
    for y in ("f32", "bf16"):
        rows.add_static({"y": y, "dy": y, "dx": y})
    rows.run(softmax_grad_case)
    return minimum(suite, "softmax_grad")


def softmax_grad_case(suite, function, shape):
    elements = function.elements
    x = suite.values(shape, elements["y"], 3.0)
    inputs = {"y": dtypes.round_to(oracle.softmax(x), elements["y"]),
              "dy": suite.values(shape, elements["dy"])}
    if "x" in elements:
        inputs["x"] = x
    share(function, inputs)
    values, sizes = oracle.softmax_grad(inputs["y"], inputs["dy"])
    return inputs, {"dx": shape}, grad_wants(function, values, sizes)


PARTS = {f.__name__: f for f in (rms_norm, rms_norm_grad, layer_norm,
                                 layer_norm_grad, softmax, softmax_grad)}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
