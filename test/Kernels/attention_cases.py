"""Calls of attention and its gradients: operands, options, what to expect."""

import dataclasses

import numpy as np

import workspace
from ops import Function
from setup import dtypes, oracle
from suite import Want

# Of q; k, v; bias; o, dout. Gradients have types of their own.
TYPES = [("f32", "f32", "f32", "f32"), ("bf16", "bf16", "bf16", "bf16"),
         ("f32", "f32", "f32", "f32"), ("f64", "f64", "f64", "f64"),
         ("f16", "f16", "f16", "f16"), ("bf16", "bf16", "f32", "bf16"),
         ("f32", "bf16", "f16", "f32"), ("f16", "f16", "f32", "f32"),
         ("f64", "f32", "f32", "f64")]

# The forms of a bias: whether its batch and its heads are broadcast.
BIAS_FORMS = {"bias [B,H]": (False, False), "bias [1,H]": (True, False),
              "bias [B,1]": (False, True), "bias [1,1]": (True, True)}

POSITIONS = ("input_pos > 0", "input_pos < 0", "input_pos huge")

# What pairs are counted of. Two of one line exclude each other.
EXCLUSIVE = [
    ["GQA", "MQA"],
    list(BIAS_FORMS),
    ["top_left", "bottom_right", *POSITIONS],
    ["k_lengths i32", "k_lengths i64"],
    ["q_lengths i32", "q_lengths i64"],
    ["scale"], ["Dv != D"], ["S != T"], ["S = 1"], ["softcap"], ["window"],
]


def option_pairs():
    """Every pair of options that can be given together."""
    for i, first in enumerate(EXCLUSIVE):
        for second in EXCLUSIVE[i + 1:]:
            for a in first:
                for b in second:
                    yield tuple(sorted((a, b)))


@dataclasses.dataclass
class Static:
    """What a function has of its own: types, and which options there are.

    one: which of the bias's first two extents are 1 in its type.
    alias, gradient_alias: operands that are another operand's value, in both
      directions, and backward only.
    fixed: the extents of all types, if they are static.
    """

    types: tuple = TYPES[0]
    bias: bool = False
    one: tuple = (False, False)
    causal: str = None
    scale: float = None
    softcap: float = None
    window: int = None
    k_lengths: str = None
    q_lengths: str = None
    kind: str = "memref"
    checkpoints: bool = True
    gradients: tuple = ("dq", "dk", "dv", "dbias")
    gradient_type: str = None
    alias: dict = dataclasses.field(default_factory=dict)
    gradient_alias: dict = dataclasses.field(default_factory=dict)
    fixed: object = None

    def attributes(self):
        parts = []
        if self.causal:
            parts.append(f"causal = #pol.causal<{self.causal}>")
        for name in ("scale", "softcap"):
            if getattr(self, name) is not None:
                parts.append(f"{name} = {getattr(self, name):.17e} : f64")
        if self.window is not None:
            parts.append(f"window = {self.window} : i64")
        return ", ".join(parts)

    def _optional(self):
        """Element types of the optional operands."""
        elements = {}
        if self.bias:
            elements["bias"] = self.types[2]
        if self.causal == "input_pos":
            elements["input_pos"] = "index"
        for name in ("q_lengths", "k_lengths"):
            if getattr(self, name):
                elements[name] = getattr(self, name)
        return elements

    def _ranks(self, elements):
        low = {"max": 3, "sum": 3, "delta": 3, "q_lengths": 1, "k_lengths": 1,
               "input_pos": 0, "workspace": 2}
        ranks = {name: low.get(name, 4) for name in elements}
        if self.fixed:
            e = self.fixed
            shapes = {**e.shapes(), "q_lengths": (e.b,), "k_lengths": (e.b,)}
            if "dout" in elements:
                shapes["workspace"] = shapes["grad_workspace"]
            ranks.update({n: s for n, s in shapes.items() if n in ranks})
        bias = tuple(1 if one else None for one in self.one) + (None, None)
        if self.fixed:
            bias = (1 if self.one[0] else e.b, 1 if self.one[1] else e.h, e.s,
                    e.t)
        for name in ("bias", "dbias"):
            if name in ranks:
                ranks[name] = bias
        return ranks

    def forward(self, name):
        q, kv, _, o = self.types
        elements = {"q": q, "k": kv, "v": kv, **self._optional(), "o": o}
        if self.checkpoints:
            accumulated = oracle.accumulation(q)
            elements.update(max=accumulated, sum=accumulated)
        elements["workspace"] = oracle.accumulation(q)
        return Function(name, "attention", elements, self._ranks(elements),
                        self.attributes(), self.kind, dict(self.alias))

    def backward(self, name):
        q, kv, bias, o = self.types
        accumulated = oracle.accumulation(q)
        elements = {"q": q, "k": kv, "v": kv, "o": o, "dout": o,
                    **self._optional(), "max": accumulated,
                    "sum": accumulated}
        own = {"dq": q, "dk": kv, "dv": kv, "dbias": bias}
        for gradient in self.gradients:
            if gradient != "dbias" or self.bias:
                elements[gradient] = self.gradient_type or own[gradient]
        if {"dq", "dk", "dbias"} & set(elements):
            elements["delta"] = accumulated
        if {"dq", "dk", "dv"} & set(elements):
            elements["workspace"] = accumulated
        return Function(name, "attention_grad", elements,
                        self._ranks(elements), self.attributes(), self.kind,
                        {**self.alias, **self.gradient_alias})


@dataclasses.dataclass
class Extents:
    """B, H, Hk, S, T, D and Dv of a call."""

    b: int = 1
    h: int = 1
    hk: int = 1
    s: int = 1
    t: int = 1
    d: int = 1
    dv: int = 1

    def work(self):
        return self.b * self.h * self.s * self.t * (self.d + self.dv)

    def shapes(self):
        rows = (self.b, self.h, self.s)
        return {"q": (*rows, self.d), "k": (self.b, self.hk, self.t, self.d),
                "v": (self.b, self.hk, self.t, self.dv),
                "o": (*rows, self.dv), "dout": (*rows, self.dv),
                "max": rows, "sum": rows, "delta": rows,
                "dq": (*rows, self.d), "dk": (self.b, self.hk, self.t, self.d),
                "dv": (self.b, self.hk, self.t, self.dv),
                "workspace": workspace.shape(self.d, self.dv),
                "grad_workspace": workspace.grad_shape(self.d, self.dv,
                                                       self.t)}


class Call:
    """Operands for a static option set and extents.

    form: of the bias. position: what input_pos is.
    """

    def __init__(self, suite, static, extents, form="bias [B,H]", position=0):
        self.static, self.extents = static, extents
        self.form, self.position = form, position
        e = extents
        shapes = extents.shapes()
        self.inputs = {name: suite.values(shapes[name], static.types[i])
                       for name, i in (("q", 0), ("k", 1), ("v", 1))}
        for name, other in static.alias.items():
            self.inputs[name] = self.inputs[other]
        if static.bias:
            # The types say the form where they say anything.
            broadcast = (static.one if static.fixed or any(static.one)
                         else BIAS_FORMS[form])
            batch, heads = broadcast
            self.form = next(f for f, b in BIAS_FORMS.items()
                             if b == tuple(broadcast))
            self.inputs["bias"] = suite.values(
                (1 if batch else e.b, 1 if heads else e.h, e.s, e.t),
                static.types[2])
        for name, limit in (("q_lengths", e.s), ("k_lengths", e.t)):
            if getattr(static, name):
                # Often all of it, so that not everything is masked.
                lengths = suite.random.randint(0, limit + 1, e.b)
                whole = suite.random.randint(0, 2, e.b).astype(bool)
                self.inputs[name] = np.where(whole, limit, lengths)
        if static.causal == "input_pos":
            self.inputs["input_pos"] = position
        self.shapes = shapes
        if static.bias:
            self.shapes["dbias"] = self.inputs["bias"].shape

    def options(self):
        s = self.static
        return oracle.Options(
            scale=s.scale, causal=s.causal, input_pos=self.position,
            window=s.window, softcap=s.softcap,
            q_lengths=self.inputs.get("q_lengths"),
            k_lengths=self.inputs.get("k_lengths"))

    def label(self):
        e, s = self.extents, self.static
        parts = [f"B {e.b} H {e.h}/{e.hk} S {e.s} T {e.t} D {e.d} Dv {e.dv}",
                 "/".join(s.types), s.attributes()]
        if s.bias:
            parts.append(self.form)
        for name in ("input_pos", "q_lengths", "k_lengths"):
            if name in self.inputs:
                parts.append(f"{name} {np.asarray(self.inputs[name]).tolist()}")
        return " ".join(parts)

    def tags(self):
        """The options that this call has, by the names of EXCLUSIVE."""
        e, s = self.extents, self.static
        tags = {
            "GQA": e.h > e.hk > 1, "MQA": e.h > e.hk == 1,
            "top_left": s.causal == "top_left",
            "bottom_right": s.causal == "bottom_right",
            "scale": s.scale is not None, "Dv != D": e.d != e.dv,
            "S != T": e.s != e.t, "S = 1": e.s == 1,
            "softcap": s.softcap is not None, "window": s.window is not None,
        }
        if s.bias and e.b > 1 and e.h > 1:
            tags[self.form] = True
        if s.causal == "input_pos" and self.position:
            far = abs(self.position) > e.s + e.t
            tags["input_pos huge" if far else "input_pos > 0"
                 if self.position > 0 else "input_pos < 0"] = True
        for name in ("q_lengths", "k_lengths"):
            if getattr(s, name):
                tags[f"{name} {getattr(s, name)}"] = True
        # Without elements nothing is compared.
        if not (e.b and e.h and e.s and e.t):
            return set()
        return {name for name, given in tags.items() if given}

    def _made(self):
        inputs = self.inputs
        return oracle.attention(inputs["q"], inputs["k"], inputs["v"],
                                inputs.get("bias"), self.options())

    def forward(self):
        """Inputs, shapes of destinations, and what is expected in them."""
        values, sizes, growth = self._made()
        wants = {"o": Want(values["o"], sizes["o"], 2, growth)}
        if self.static.checkpoints:
            wants["max"] = Want(values["max"], sizes["max"], 1, growth)
            wants["sum"] = Want(values["sum"], sizes["sum"], 1, growth)
        return self.inputs, self.shapes, wants

    def backward(self, suite, function):
        """The same; reads what the forward pass made, rounded."""
        q, _, _, o = self.static.types
        values, _, _ = self._made()
        inputs = dict(self.inputs)
        inputs["dout"] = suite.values(self.shapes["dout"], o)
        inputs["o"] = dtypes.round_to(values["o"], o)
        for name in ("max", "sum"):
            inputs[name] = dtypes.round_to(values[name],
                                           oracle.accumulation(q))
        for name, other in self.static.gradient_alias.items():
            inputs[name] = inputs[other]
        values, sizes, growth = oracle.attention_grad(
            inputs["q"], inputs["k"], inputs["v"], inputs["o"],
            inputs["dout"], inputs["max"], inputs["sum"], inputs.get("bias"),
            self.options())
        wants = {name: Want(values[name], sizes[name], 2, growth)
                 for name in function.destinations()}
        return inputs, self.shapes, wants
