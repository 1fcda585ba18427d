"""Attention with a score and a mask: its functions and its calls."""

import dataclasses

import numpy as np

import paths  # noqa: F401
import oracle
from attention_cases import Call, Static
from ops import Function, groups, members, mlir_type, op_text
from region import FLOATS, Emitter, Mask, Reader, Score

# Where the groups that only variants have follow others.
CAPTURES_AFTER, GRADIENTS_AFTER = "ins", "outs"


@dataclasses.dataclass
class VariantFunction(Function):
    """A function of an op with regions. The captures are c0, c1, ..., and their
    gradients dc0, ...

    scalars: captures that are no arrays.
    regions: text.
    variant: what it is of.
    """

    captures: tuple = ()
    scalars: tuple = ()
    regions: str = ""
    variant: object = None

    def types(self):
        types = super().types()
        types.update({n: self.elements[n] for n in self.scalars})
        return types

    def is_scalar(self, name):
        if name in self.captures:
            return name in self.scalars
        return super().is_scalar(name)

    def gradients(self):
        return [f"d{n}" for n in self.captures if f"d{n}" in self.elements]

    def operands(self):
        found = []
        for group in groups(self.op):
            found += [n for n in members(self.op, group) if n in self.elements]
            if group == CAPTURES_AFTER:
                found += self.captures
            if group == GRADIENTS_AFTER:
                found += self.gradients()
        return found

    def destinations(self):
        return super().destinations() + self.gradients()

    def op_text(self, results):
        types = self.types()
        after = {}
        if self.captures:
            values = ", ".join(f"%{self.alias.get(n, n)}"
                               for n in self.captures)
            kinds = ", ".join(types[n] for n in self.captures)
            after[CAPTURES_AFTER] = f"captures({values} : {kinds})"
        if self.gradients():
            values = ", ".join(f"{self.captures.index(n[1:])} = %{n}"
                               for n in self.gradients())
            kinds = ", ".join(types[n] for n in self.gradients())
            after[GRADIENTS_AFTER] = f"dcaptures({values} : {kinds})"
        return op_text(self.op, types, self.attributes, self.alias, results,
                       after, self.regions)


@dataclasses.dataclass
class Variant(Static):
    """What a function has of its own; see `Static`.

    capture: the element type of captured floats; None is that of scores.
    capture_gradients: "all", or which captures by number.
    capture_gradient_type: their element type, if it is another.
    positions: how many keys come before the first query, for input_pos.
    """

    name: str = ""
    mask: Mask = None
    score: Score = None
    capture: str = None
    capture_gradients: object = "all"
    capture_gradient_type: str = None

    def captures(self):
        """By name."""
        found = dict.fromkeys(c for part in (self.score, self.mask) if part
                              for c in part.captures)
        return {f"c{i}": c for i, c in enumerate(found)}

    def element(self, capture):
        scores = oracle.accumulation(self.types[0])
        return (self.capture or scores if capture.element == "float"
                else capture.element)

    def extents(self, capture):
        """As in its type: None is a dynamic one."""
        if self.fixed is None:
            return tuple(d if isinstance(d, int) else None
                         for d in capture.shape)
        named = named_extents(self.fixed, 0)
        return tuple(named.get(d, d) for d in capture.shape)

    def _regions(self, captures):
        kinds = {}
        for capture in captures.values():
            element = self.element(capture)
            kind = None
            if capture.shape is not None:
                kind = mlir_type(self.kind, element, self.extents(capture))
            kinds[capture] = (element, kind)
        parts = []
        for name, part in (("score", self.score), ("mask", self.mask)):
            if part is not None:
                made = Emitter(self.kind, oracle.accumulation(self.types[0]),
                               kinds)
                result = (part.text(made, made.s) if name == "score"
                          else part.text(made))
                parts.append(made.region(name, result))
        return " ".join(parts)

    def _with_regions(self, function, backward):
        captures = self.captures()
        elements, ranks = dict(function.elements), dict(function.ranks)
        for number, (name, capture) in enumerate(captures.items()):
            elements[name] = self.element(capture)
            ranks[name] = () if capture.shape is None else self.extents(capture)
            wanted = self.capture_gradients
            # A mask's captures have gradients, too: they are 0.
            if (backward and elements[name] in FLOATS
                    and (wanted == "all" or number in wanted)):
                elements[f"d{name}"] = (self.capture_gradient_type
                                        or elements[name])
                ranks[f"d{name}"] = ranks[name]
        if backward and any(f"d{n}" in elements for n in captures):
            elements["delta"] = oracle.accumulation(self.types[0])
            ranks.setdefault("delta", ranks["max"])
        return VariantFunction(
            function.name, function.op, elements, ranks, function.attributes,
            function.kind, function.alias, captures=tuple(captures),
            scalars=tuple(n for n, c in captures.items() if c.shape is None),
            regions=self._regions(captures), variant=self)

    def forward(self, name):
        return self._with_regions(super().forward(name), False)

    def backward(self, name):
        return self._with_regions(super().backward(name), True)

    def options(self, arrays):
        """Those of the oracle, apart from what `Static` has."""
        captures = self.captures()
        names = {c: n for n, c in captures.items()}
        made = {"captures": {n: arrays[n] for n in captures}}
        if self.mask:
            made["mask"] = lambda positions, arrays: self.mask.kept(
                Reader(positions, arrays, names))
        if self.score:
            def score(s, positions, arrays):
                reader = Reader(positions, arrays, names)
                values, slope, terms = self.score.values(reader, s)
                return oracle.Evaluated(
                    values, slope, [oracle.Term(names[c], at, by)
                                    for c, at, by in terms],
                    self.score.squares(reader, s))
            made["score"] = score
        return made


def named_extents(extents, position):
    """What the names in a capture's shape stand for."""
    queries = max(extents.s + position, 0)
    return {"B": extents.b, "H": extents.h, "Hk": extents.hk, "S": extents.s,
            "T": extents.t, "N": queries, "M": max(queries, extents.t)}


class VariantCall(Call):
    """Operands of a variant's functions."""

    def __init__(self, suite, static, extents, form="bias [B,H]", position=0):
        if static.causal != "input_pos":
            position = 0
        super().__init__(suite, static, extents, form, position)
        named = named_extents(extents, position)
        for name, capture in static.captures().items():
            self.inputs[name] = capture.values(suite.random, named,
                                               static.element(capture))
            self.shapes[f"d{name}"] = np.shape(self.inputs[name])

    def options(self):
        options = super().options()
        return dataclasses.replace(options,
                                   **self.static.options(self.inputs))

    def label(self):
        return f"{self.static.name}: {super().label()}"
