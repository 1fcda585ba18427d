"""Evaluates the text of a region with NumPy, all positions at once.

It knows the ops that `Emitter` writes and no more. So texts and the formulas
beside them can be compared without a compiler.
"""

import re

import numpy as np


def _remsi(a, b):
    return np.fmod(a, b)


_OPS = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.subf": np.subtract,
    "arith.subi": np.subtract, "arith.mulf": np.multiply,
    "arith.muli": np.multiply, "arith.divf": np.divide,
    "arith.negf": np.negative, "arith.andi": np.logical_and,
    "arith.ori": np.logical_or, "arith.xori": np.logical_xor,
    "arith.select": np.where, "arith.remsi": _remsi, "arith.remui": np.mod,
    "arith.divui": np.floor_divide, "arith.floordivsi": np.floor_divide,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "math.tanh": np.tanh, "math.exp": np.exp, "math.sqrt": np.sqrt,
    "math.rsqrt": lambda a: 1 / np.sqrt(a), "math.log1p": np.log1p,
    "math.cos": np.cos, "math.sin": np.sin,
    "math.fma": lambda a, b, c: a * b + c,
}
_COMPARE = {"eq": np.equal, "ne": np.not_equal, "slt": np.less,
            "sle": np.less_equal, "sge": np.greater_equal, "olt": np.less}
_CASTS = {"arith.extf": float, "arith.truncf": float, "arith.sitofp": float,
          "arith.index_cast": int, "arith.extsi": int}


def _constant(text):
    if text in ("true", "false"):
        return np.bool_(text == "true")
    return float(text) if re.search(r"[.e]", text) else int(text)


def _value(op, rest, values):
    """Of one op, from the text after its name."""
    body = rest.rsplit(" : ", 1)[0]
    if op == "arith.constant":
        return _constant(body)
    if op in ("tensor.extract", "memref.load"):
        array, indices = re.fullmatch(r"(%\w+)\[(.*)\]", body).groups()
        array = values[array]
        at = [values[i] for i in indices.split(", ")]
        # What is outside is of positions that are masked.
        return array[tuple(np.clip(i, 0, d - 1)
                           for i, d in zip(at, array.shape))]
    if op in ("arith.cmpi", "arith.cmpf"):
        predicate, *names = body.split(", ")
        return _COMPARE[predicate](*(values[n] for n in names))
    operands = [values[n] for n in body.split(", ")]
    if op in ("tensor.dim", "memref.dim"):
        return operands[0].shape[operands[1]]
    if op in _CASTS:
        return np.asarray(operands[0]).astype(_CASTS[op])
    return _OPS[op](*operands)


def interpret(regions, name, arguments):
    """What the region of that name yields, of arguments in order."""
    names, body = re.search(rf"\b{name}\(([^)]*)\) {{(.*?)\n  }}", regions,
                            re.DOTALL).groups()
    values = dict(zip(names.split(", "), arguments, strict=True))
    for line in body.strip().splitlines():
        found = re.fullmatch(r"(%\w+) = (\S+) (.*)", line.strip())
        if found:
            values[found[1]] = _value(found[2], found[3], values)
        else:
            result = re.fullmatch(r"pol\.yield (%\w+) : \w+", line.strip())[1]
    return values[result]
