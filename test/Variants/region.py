"""Bodies of score and mask regions: the text of one, and what NumPy reads.

A mask or a score is given twice, by hand: as a function of an `Emitter`, which
writes MLIR, and as one of a `Reader`, which has arrays. Both have `b`, `h`, `q`
and `kv`, and `load` of a `Capture`.
"""

import dataclasses
from typing import Callable, Optional

import numpy as np

import paths  # noqa: F401
import dtypes

FLOATS = ("f16", "bf16", "f32", "f64")
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


@dataclasses.dataclass(eq=False)
class Capture:
    """What a region reads besides its position.

    shape: extents, as numbers or as names of those of a call: B, H, S, T, N (as
      many as there are positions of queries) or M (the larger of N and T); None
      for a scalar.
    element: an element type; "float" is what the variant says.
    make: its values, of a `RandomState` and a shape.
    """

    shape: Optional[tuple]
    element: str = "float"
    make: Callable = lambda random, shape: random.standard_normal(shape)

    def values(self, random, extents, element):
        shape = tuple(extents.get(d, d) for d in self.shape or ())
        return np.asarray(dtypes.round_to(self.make(random, shape), element))


@dataclasses.dataclass(eq=False)
class Mask:
    """Which keys are kept. text: of an `Emitter`, gives an i1. kept: of a
    `Reader`, gives booleans."""

    name: str
    text: Callable
    kept: Callable
    captures: tuple = ()


@dataclasses.dataclass(eq=False)
class Score:
    """What becomes of a score. text: of an `Emitter` and a value. values: of a
    `Reader` and an array; gives the new one, its derivative by the old one, and
    a list of derivatives by captures, each with the capture and the indices.
    squares: of a `Reader` and the array, of what is added up on the way."""

    name: str
    text: Callable
    values: Callable
    captures: tuple = ()
    squares: Callable = lambda r, s: 0.0


class Value(str):
    """An SSA value and its type."""

    def __new__(cls, name, kind):
        made = super().__new__(cls, name)
        made.type = kind
        return made


class Emitter:
    """Writes the body of one region.

    kind: "tensor", or what captures are instead.
    float: the type of scores.
    captures: names, element types and MLIR types, by `Capture`.
    """

    def __init__(self, kind, float_type, captures):
        self.kind, self.float = kind, float_type
        self.captures = captures
        self.lines = []
        self.s = Value("%s", float_type)
        self.b, self.h, self.q, self.kv = (
            Value(f"%{n}", "index") for n in ("b", "h", "q", "kv"))

    def _add(self, text, kind):
        name = Value(f"%v{len(self.lines)}", kind)
        self.lines.append(f"{name} = {text}")
        return name

    def region(self, name, result):
        """The text of a region that yields a value."""
        arguments = ["%s"] if name == "score" else []
        arguments += ["%b", "%h", "%q", "%kv"]
        arguments += [f"%x{i}" for i in range(len(self.captures))]
        body = "".join(f"\n    {line}" for line in self.lines)
        return (f"{name}({', '.join(arguments)}) {{{body}\n"
                f"    pol.yield {result} : {result.type}\n  }}")

    # Constants

    def index(self, number):
        return self._add(f"arith.constant {number} : index", "index")

    def integer(self, number, kind):
        return self._add(f"arith.constant {number} : {kind}", kind)

    def true(self, value=True):
        return self._add(f"arith.constant {str(value).lower()}", "i1")

    def number(self, value):
        return self._add(f"arith.constant {value:.17e} : {self.float}",
                         self.float)

    # Ops

    def op(self, name, *operands, kind=None):
        kind = kind or operands[0].type
        return self._add(f"{name} {', '.join(operands)} : {kind}", kind)

    def cmp(self, predicate, a, b):
        op = "cmpf" if a.type in FLOATS else "cmpi"
        return self._add(f"arith.{op} {predicate}, {a}, {b} : {a.type}", "i1")

    def both(self, a, b):
        return self.op("arith.andi", a, b)

    def either(self, a, b):
        return self.op("arith.ori", a, b)

    def differ(self, a, b):
        return self.op("arith.xori", a, b)

    def invert(self, a):
        return self.differ(a, self.true())

    def select(self, condition, a, b):
        return self.op("arith.select", condition, a, b, kind=a.type)

    def add(self, a, b):
        return self.op("arith.addf" if a.type in FLOATS else "arith.addi", a, b)

    def sub(self, a, b):
        return self.op("arith.subf" if a.type in FLOATS else "arith.subi", a, b)

    def mul(self, a, b):
        return self.op("arith.mulf" if a.type in FLOATS else "arith.muli", a, b)

    def cast(self, value, kind):
        """To another type of the same sort; an integer to a float through
        i64."""
        if value.type == kind:
            return value
        if kind in FLOATS and value.type in FLOATS:
            wider = WIDTH[kind] > WIDTH[value.type]
            op = "extf" if wider else "truncf"
        elif kind in FLOATS:
            value, op = self.cast(value, "i64"), "sitofp"
        elif "index" in (kind, value.type):
            op = "index_cast"
        else:
            op = "extsi"
        return self._add(f"arith.{op} {value} : {value.type} to {kind}", kind)

    def real(self, value):
        return self.cast(value, self.float)

    def distance(self):
        """kv - q."""
        return self.sub(self.kv, self.q)

    # Captures

    def raw(self, capture, *indices):
        """An element of a capture in its own type, or a scalar."""
        number = list(self.captures).index(capture)
        element, kind = self.captures[capture]
        if capture.shape is None:
            return Value(f"%x{number}", element)
        op = "tensor.extract" if self.kind == "tensor" else "memref.load"
        return self._add(f"{op} %x{number}[{', '.join(indices)}] : {kind}",
                         element)

    def load(self, capture, *indices):
        """The same, floats in the type of scores and integers as an index."""
        value = self.raw(capture, *(
            self.index(i) if isinstance(i, int) else i for i in indices))
        return self.cast(value, self.float if value.type in FLOATS else "index")

    def extent(self, capture, axis):
        number = list(self.captures).index(capture)
        op = "tensor" if self.kind == "tensor" else "memref"
        return self._add(f"{op}.dim %x{number}, {self.index(axis)} : "
                         f"{self.captures[capture][1]}", "index")


class Reader:
    """Positions and captures of a call, for NumPy. names: of captures."""

    def __init__(self, positions, arrays, names):
        self.positions, self.arrays, self.names = positions, arrays, names
        self.b, self.h, self.q, self.kv = (
            positions.b, positions.h, positions.q, positions.kv)
        self.kind = np.dtype(positions.kind).type

    def load(self, capture, *indices):
        return self.positions.load(self.arrays[self.names[capture]], *indices)

    def real(self, values):
        return np.asarray(values).astype(self.kind)

    def number(self, value):
        """A constant as the emitted code has it: f32, unless q is f64, and then
        the oracle is wider."""
        wide = self.kind == np.longdouble
        return self.kind(value if wide else np.float32(value))
