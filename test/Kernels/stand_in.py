"""Kernels in NumPy that take the place of compiled ones, to test the tests.

They compute the oracle's formulas and round once. A `Broken` one changes what
goes in, how it is computed, or what comes out.
"""

import re

import numpy as np

from driver import Array
from setup import dtypes, oracle
from suite import Suite


def number(text, name, default=None, kind=float):
    """An attribute's value."""
    found = re.search(rf"\b{name} = (\S+) :", text)
    return kind(found[1]) if found else default


def options_of(function, values):
    text = function.attributes
    causal = re.search(r"#pol\.causal<(\w+)>", text)
    return oracle.Options(
        scale=number(text, "scale"), softcap=number(text, "softcap"),
        causal=causal[1] if causal else None,
        window=number(text, "window", kind=int),
        input_pos=values.get("input_pos", 0),
        q_lengths=values.get("q_lengths"), k_lengths=values.get("k_lengths"))


def compute(function, v):
    """Values by destination, from values of operands."""
    op, text = function.op, function.attributes
    eps, offset = number(text, "eps", 1e-5), number(text, "offset", 0.0)
    if op == "rms_norm":
        y, rstd = oracle.rms_norm(v["x"], v.get("weight"), eps, offset)
        return {"y": y, "rstd": rstd}
    if op == "layer_norm":
        y, mean, rstd, _ = oracle.layer_norm(v["x"], v.get("weight"),
                                             v.get("bias"), eps)
        return {"y": y, "mean": mean, "rstd": rstd}
    if op == "softmax":
        return {"y": oracle.softmax(v["x"])}
    if op == "rms_norm_grad":
        return oracle.rms_norm_grad(v["x"], v["dy"], v.get("weight"),
                                    v["rstd"], offset)[0]
    if op == "layer_norm_grad":
        return oracle.layer_norm_grad(v["x"], v["dy"], v.get("weight"),
                                      v["mean"], v["rstd"])[0]
    if op == "softmax_grad":
        return oracle.softmax_grad(v["y"], v["dy"])[0]
    options = options_of(function, v)
    if op == "attention":
        return oracle.attention(v["q"], v["k"], v["v"], v.get("bias"),
                                options)[0]
    return oracle.attention_grad(
        *(v[n] for n in ("q", "k", "v", "o", "dout", "max", "sum")),
        v.get("bias"), options)[0]


class Correct:
    """What a kernel does, in steps that can be broken."""

    threads = 1

    def read(self, array):
        return array.values()

    def before(self, function, values):
        """Changes the operands' values."""

    def compute(self, function, values):
        return compute(function, values)

    def after(self, function, values, made):
        """Changes the results, in accumulation."""

    def write(self, array, values):
        array.view[...] = dtypes.encode(
            dtypes.round_to(values, array.dtype), array.dtype)


class StandInModule:
    """In place of a compiled module of one function."""

    def __init__(self, function, kernel):
        self.function, self.kernel = function, kernel

    def call(self, _, arguments, results=()):
        function = self.function
        arrays = dict(zip(function.parameters(), arguments))
        for name, other in function.alias.items():
            arrays[name] = arrays[other]
        # A number is an integer, or what `driver.scalar` gives.
        values = {name: self.kernel.read(array) if isinstance(array, Array)
                  else getattr(array, "value", array)
                  for name, array in arrays.items()
                  if name in function.operands()}
        with np.errstate(all="ignore"):
            self.kernel.before(function, values)
            made = self.kernel.compute(function, values)
            self.kernel.after(function, values, made)
            outs = function.destinations()
            if function.results() == outs:
                for name in outs:
                    self.kernel.write(arrays[name], made[name])
            else:
                for name in outs:
                    self.kernel.write(arrays[f"{name}_made"], made[name])
                    arrays[f"{name}_init"].view[...] = self.init(
                        arrays[name], arrays[f"{name}_made"])
        return [arrays[name].descriptor() for name in function.results()
                ] if results else []

    def init(self, init, made):
        """What a destination holds afterwards that is used again."""
        keeps = getattr(self.kernel, "keeps_inits", True)
        return (init if keeps else made).view


class StandInTools:
    """In place of `driver.Tools`."""

    modules = 0

    def __init__(self, kernel):
        self.kernel = kernel

    def set_threads(self, count):
        self.kernel.threads = count


class StandInSuite(Suite):
    """A suite whose kernels are a stand-in."""

    def __init__(self, kernel, seed=1):
        super().__init__(StandInTools(kernel), seed)
        self.kernel = kernel

    def compile(self, name, functions, level=2):
        for function in functions:
            function.text()
        return {f.name: StandInModule(f, self.kernel) for f in functions}
