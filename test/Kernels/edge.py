"""What the tests of single rules share: one kernel, called on given values."""

import dataclasses

import numpy as np

from driver import Failed
from ops import Function
from rows import attributes, partials_shape
from setup import dtypes, oracle
from suite import Tally


# What sums of equal terms may be off by, in terms of what others may: their
# roundings do not cancel.
EQUAL_TERMS = 1.0


class Kernel:
    """A compiled kernel. Calls take values by operand, and give values by
    destination, or the bytes of all with `bytes_of`."""

    def __init__(self, edge, function):
        self.edge = edge
        # Equal functions are compiled once.
        text = function.text().replace(f"@{function.name}(", "@(")
        known = edge.suite.compiled
        if text not in known:
            modules = edge.suite.compile("edge", [function])
            if not modules:
                raise Failed(f"{function.op} did not compile")
            known[text] = modules[function.name], function
        self.module, self.function = known[text]

    def arrays(self, shapes, inputs, threads=None):
        function = self.function
        rounded = {name: value if function.elements[name] in
                   ("index", "i32", "i64")
                   else dtypes.round_to(value, function.elements[name])
                   for name, value in inputs.items()
                   if name in function.elements}
        return self.edge.suite.call(self.module, function, rounded, shapes,
                                    f"{self.edge.rule}: {function.op}",
                                    threads)

    def __call__(self, shapes, threads=None, **inputs):
        return {name: array.values() for name, array in
                self.arrays(shapes, inputs, threads).items()}

    def bytes_of(self, shapes, threads=None, **inputs):
        return {name: array.bytes() for name, array in
                self.arrays(shapes, inputs, threads).items()}


class Edge:
    """One rule's test."""

    def __init__(self, suite, rule):
        self.suite, self.rule = suite, rule
        self.checks = 0
        self.number = 0

    # --------------------------------------------------------------------------
    # Kernels
    # --------------------------------------------------------------------------

    def rows(self, op, elements, rank=2, kind="memref", alias=None, fixed=None,
             **numbers):
        """A norm or softmax kernel with these operands. fixed: the shape of
        rows, if types have it."""
        shapes = row_shapes(fixed or (1,) * rank)
        like = {"x": "y", "dy": "y", "weight": "dweight", "bias": "dbias"}
        ranks = {name: shapes[like.get(name, name)] for name in elements}
        if fixed is None:
            ranks = {name: len(shape) for name, shape in ranks.items()}
        self.number += 1
        return Kernel(self, Function(f"f{self.number}", op, elements, ranks,
                                     attributes(**numbers), kind, alias or {}))

    def attention(self, static, backward=False):
        self.number += 1
        make = static.backward if backward else static.forward
        return Kernel(self, make(f"f{self.number}"))

    def plain(self, function):
        """The same op in a function that is the op and no more."""
        self.number += 1
        return Kernel(self, Function(f"f{self.number}", function.op,
                                     function.elements, function.ranks,
                                     function.attributes, function.kind))

    # --------------------------------------------------------------------------
    # Expectations
    # --------------------------------------------------------------------------

    def expect(self, good, what):
        self.checks += 1
        tally = self.suite.tallies.setdefault(self.rule, Tally())
        tally.add(0.0, 0.0 if good else np.inf)
        if not good:
            self.suite.problem(f"{self.rule}: expected {what}")

    def equal(self, got, want, what):
        """To the last bit of the value; NaN is equal to itself."""
        got, want = np.asarray(got), np.asarray(want)
        same = got.shape == want.shape and np.array_equal(
            got, want, equal_nan=True)
        self.expect(same, f"{what}: {summary(want)}, but got {summary(got)}")

    def near(self, got, want, dtype, what, accumulated=None, size=None,
             rank=None, growth=1.0):
        """Within the tolerance of the type."""
        relative, ratio = oracle.norm_errors(
            np.asarray(got), np.asarray(want), dtype,
            accumulated or oracle.accumulation(dtype), size, rank, growth)
        self.expect(ratio <= 1, f"{what}: {summary(want)}, but got "
                    f"{summary(got)}, off by {relative:.3g}, {ratio:.3g} of "
                    "what is allowed")


def summary(array):
    array = np.asarray(array)
    values = ", ".join(f"{v:.9g}" for v in array.ravel()[:4])
    return f"[{values}{', ...' if array.size > 4 else ''}]"


def all_of(dtype, names, accumulated=None):
    """Element types of operands that are all alike, but for what is kept in
    the type of accumulation."""
    accumulated = accumulated or oracle.accumulation(dtype)
    own = ("rstd", "mean", "max", "sum", "delta", "dweight_partials",
           "dbias_partials")
    return {name: accumulated if name in own else dtype
            for name in names.split()}


def row_shapes(shape):
    """Of all that a norm or softmax kernel writes."""
    return {"y": shape, "dx": shape, "rstd": shape[:-1], "mean": shape[:-1],
            "dweight": shape[-1:], "dbias": shape[-1:],
            "dweight_partials": partials_shape(shape),
            "dbias_partials": partials_shape(shape)}


@dataclasses.dataclass
class InitFunction(Function):
    """A kernel on tensors whose destinations are used again: it returns copies
    of its results, `<destination>_made`, and then of the destinations as they
    are afterwards, `<destination>_init`."""

    def __post_init__(self):
        like = {name: name[:-5] for name in self.results()}
        self.elements = {**self.elements, **{
            name: self.elements[out] for name, out in like.items()}}
        self.ranks = {**self.ranks, **{
            name: self.ranks[out] for name, out in like.items()}}

    def results(self):
        return [f"{name}_{part}" for part in ("made", "init")
                for name in self.destinations()]

    def written(self):
        return {*self.destinations(), *self.scratch(), *self.results()}

    def parameters(self):
        return self.operands() + self.results()

    def text(self):
        outs, copies, types = self.destinations(), self.results(), self.types()
        results = ([f"%r#{i}" for i in range(len(outs))] if len(outs) > 1
                   else ["%r"])
        parameters = ", ".join(f"%{n}: {types[n]}" for n in self.parameters())
        given = ", ".join(types[n] for n in copies)
        lines = [f"func.func @{self.name}({parameters}) -> ({given}) {{",
                 f"  %r{f':{len(outs)}' if len(outs) > 1 else ''} = "
                 + self.op_text(outs)]
        for name, value in zip(copies, results + [f"%{n}" for n in outs]):
            kind = types[name]
            lines.append(f"  %c_{name} = linalg.copy ins({value} : {kind}) "
                         f"outs(%{name} : {kind}) -> {kind}")
        values = ", ".join(f"%c_{n}" for n in copies)
        return "\n".join(lines + [f"  return {values} : {given}", "}", ""])
