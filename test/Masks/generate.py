"""Random masks: bounds, remainders, quotients, loads, choices, arithmetic that
wraps, and numbers near the ends of 64 bits."""

import random

import numpy as np

import masks

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt",
               "uge")
_WIDTHS = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8}
_INTEGERS = {"i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8}
_ROWS = 64


def _hostile(rng, width):
    """A number near an end of some bits, or near a limit of the analysis."""
    ends = [-(1 << (width - 1)), (1 << (width - 1)) - 1]
    if width == 64:
        ends += [sign * (1 << bit) for sign in (-1, 1)
                 for bit in (31, 32, 40, 59, 60, 61, 62)]
    number = rng.choice(ends) + rng.randint(-40, 40)
    return max(ends[0], min(ends[1], number))


class Generator:
    """Writes one mask."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed, self.lines, self.count = seed, [], 0
        self.captures, self.values = {}, {}
        self.numbers = {"index": ["%q", "%kv", "%q", "%kv", "%b", "%h"]}
        self.hostility = self.rng.choice((0, 0, 0.05, 0.3))
        # What is asked of: not so much that most masks are all or nothing.
        self.grid = masks.Grid(
            self.rng.choice((0, 0, 0, 5, 20, -9)), self.rng.randint(1, 40),
            self.rng.randint(1, 40))

    def add(self, line):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {line}")
        return f"%v{self.count}"

    def capture(self, kind, value):
        name = f"c{len(self.captures)}"
        self.captures[name], self.values[name] = kind, value
        return f"%{name}"

    # Numbers.

    def number(self, width):
        """A constant's value."""
        if self.rng.random() < self.hostility:
            return _hostile(self.rng, width)
        return self.rng.choice((0, 1, 2, 3, -1, -3, 7, 8, 16,
                                self.rng.randint(-10, 50)))

    def leaf(self, kind):
        choice, width = self.rng.random(), _WIDTHS[kind]
        if choice < 0.3 or kind not in self.numbers:
            if choice < 0.05:
                return self.capture(kind, self.number(width))
            if choice < 0.12 and kind != "index":
                return self.load(kind)
            return self.add(f"arith.constant {self.number(width)} : {kind}")
        return self.rng.choice(self.numbers[kind])

    def load(self, kind):
        """Of an array, at an index that is made to be within it."""
        shape = self.rng.choice(((_ROWS,), (2, _ROWS), (2, 8, _ROWS)))
        dtype = bool if kind == "i1" else _INTEGERS[kind]
        values = self.elements(kind, shape).astype(dtype)
        static = self.rng.random() < 0.5
        dims = "x".join(str(n) if static else "?" for n in shape)
        array = self.capture(f"memref<{dims}x{kind}>", values)
        indices = [self.within(shape[-1])]
        if len(shape) > 2:
            indices.insert(0, self.within(shape[1]))
        if len(shape) > 1:
            indices.insert(0, "%b")
        return self.add(f"memref.load {array}[{', '.join(indices)}] : "
                        f"memref<{dims}x{kind}>")

    def elements(self, kind, shape):
        """Ids that do not decrease, or anything."""
        generator = np.random.default_rng(self.rng.getrandbits(32))
        if kind == "i1":
            return np.sort(generator.integers(0, 2, shape), -1)
        if self.rng.random() < 0.6:
            return np.cumsum(generator.random(shape) < 0.1, -1)
        if self.rng.random() < self.hostility:
            return np.full(shape, _hostile(self.rng, _WIDTHS[kind]))
        return generator.integers(-20, 60, shape)

    def within(self, extent):
        """An index of an array: queries are less than its rows, and may be
        negative."""
        choice = self.rng.random()
        if choice < 0.35 and extent == _ROWS:
            return "%kv"
        index = "%q" if choice < 0.7 else self.expression("index", 1)
        low = self.add("arith.constant 0 : index")
        high = self.add(f"arith.constant {extent - 1} : index")
        index = self.add(f"arith.maxsi {index}, {low} : index")
        return self.add(f"arith.minsi {index}, {high} : index")

    def expression(self, kind, depth):
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf(kind)
        made = self.rng.choice((
            self.linear, self.linear, self.linear, self.product, self.quotient,
            self.quotient, self.extreme, self.bits, self.choice, self.cast,
            self.cast, self.magnitude))(kind, depth - 1)
        if self.rng.random() < 0.3:
            self.numbers.setdefault(kind, []).append(made)
        return made

    def linear(self, kind, depth):
        a, b = self.expression(kind, depth), self.expression(kind, depth)
        name = self.rng.choice(("add", "sub", "sub"))
        if kind == "index" and self.rng.random() < 0.2:
            return self.add(f"index.{name} {a}, {b}")
        return self.add(f"arith.{name}i {a}, {b} : {kind}")

    def product(self, kind, depth):
        a = self.expression(kind, depth)
        b = (self.expression(kind, depth) if self.rng.random() < 0.3
             else self.add(f"arith.constant {self.number(_WIDTHS[kind])} : "
                           f"{kind}"))
        return self.add(f"arith.muli {a}, {b} : {kind}")

    def quotient(self, kind, depth):
        a = self.expression(kind, depth)
        if self.rng.random() < 0.75:
            b = self.rng.choice((1, 2, 3, 4, 7, 16, 60, -3))
            b = self.add(f"arith.constant {b} : {kind}")
        else:
            one = self.add(f"arith.constant 1 : {kind}")
            b = self.expression(kind, depth)
            b = self.add(f"arith.maxsi {b}, {one} : {kind}")
        name = self.rng.choice(("divsi", "divui", "floordivsi", "ceildivsi",
                                "ceildivui", "remsi", "remsi", "remui"))
        return self.add(f"arith.{name} {a}, {b} : {kind}")

    def extreme(self, kind, depth):
        name = self.rng.choice(("minsi", "maxsi", "minui", "maxui"))
        return self.add(f"arith.{name} {self.expression(kind, depth)}, "
                        f"{self.expression(kind, depth)} : {kind}")

    def bits(self, kind, depth):
        name = self.rng.choice(("andi", "andi", "ori", "xori", "shli", "shrsi",
                                "shrui"))
        a = self.expression(kind, depth)
        if name.startswith("sh"):
            b = self.add(f"arith.constant {self.rng.randint(0, 6)} : {kind}")
        elif self.rng.random() < 0.6:
            b = self.add(f"arith.constant {self.rng.choice((1, 3, 7, 15, 6))} "
                         f": {kind}")
        else:
            b = self.expression(kind, depth)
        return self.add(f"arith.{name} {a}, {b} : {kind}")

    def choice(self, kind, depth):
        condition = self.condition(depth)
        return self.add(f"arith.select {condition}, "
                        f"{self.expression(kind, depth)}, "
                        f"{self.expression(kind, depth)} : {kind}")

    def magnitude(self, kind, depth):
        return self.add(f"math.absi {self.expression(kind, depth)} : {kind}")

    def cast(self, kind, depth):
        source = self.rng.choice([k for k in (*_WIDTHS, "i1") if k != kind])
        a = (self.condition(depth) if source == "i1"
             else self.expression(source, depth))
        unsigned = self.rng.random() < 0.4
        if "index" in (kind, source):
            name = "index_castui" if unsigned else "index_cast"
        elif source == "i1" or _WIDTHS[source] < _WIDTHS[kind]:
            name = "extui" if unsigned else "extsi"
        else:
            name = "trunci"
        return self.add(f"arith.{name} {a} : {source} to {kind}")

    # Conditions.

    def difference(self):
        """A comparison of q, kv or q - kv with what depends on neither."""
        variable = self.rng.choice(("%q", "%kv", None, None))
        if variable is None:
            order = ["%q", "%kv"]
            self.rng.shuffle(order)
            variable = self.add(f"arith.subi {order[0]}, {order[1]} : index")
        if self.rng.random() < 0.7:
            other = self.add(f"arith.constant {self.number(64)} : index")
        else:
            other = self.capture("index", self.number(64))
        if self.rng.random() < 0.3:
            variable = self.add(f"arith.addi {variable}, {other} : index")
            other = self.add(f"arith.constant {self.number(64)} : index")
        return self.add(f"arith.cmpi {self.rng.choice(_PREDICATES)}, "
                        f"{variable}, {other} : index")

    def wrapping(self):
        """A sum or product of a position that wraps in the middle of a box."""
        kind = self.rng.choice(tuple(_WIDTHS))
        last = (1 << (_WIDTHS[kind] - 1)) - 1
        at = self.rng.choice(("%q", "%kv"))
        if kind != "index":
            at = self.add(f"arith.index_cast {at} : index to {kind}")
        sign, near = self.rng.choice((-1, 1)), self.rng.randint(0, 40)
        if self.rng.random() < 0.7:
            other = self.add(f"arith.constant {sign * (last - near)} : {kind}")
            name = "addi" if sign > 0 else "subi"
            if self.rng.random() < 0.5:
                name = {"addi": "subi", "subi": "addi"}[name]
        else:
            other = self.add(f"arith.constant {sign * (last // (near + 1))} : "
                             f"{kind}")
            name = "muli"
        made = self.add(f"arith.{name} {at}, {other} : {kind}")
        bound = self.rng.choice((0, near, last // 2, -last // 2, last - 40))
        bound = self.add(f"arith.constant {bound} : {kind}")
        return self.add(f"arith.cmpi {self.rng.choice(_PREDICATES)}, {made}, "
                        f"{bound} : {kind}")

    def condition(self, depth):
        choice = self.rng.random()
        if choice < 0.32:
            return self.difference()
        if choice < 0.4:
            return self.wrapping()
        if choice < 0.45:
            return self.load("i1")
        if choice < 0.48:
            return self.floats()
        if choice < 0.5:
            return self.add(f"arith.constant {self.rng.choice(('true', 'false'))}")
        kind = self.rng.choice(("index", "index", "i64", "i32", "i16", "i8"))
        if choice < 0.6:
            # Ids.
            kind = self.rng.choice(("i64", "i32", "i8"))
            return self.add(f"arith.cmpi eq, {self.load(kind)}, "
                            f"{self.load(kind)} : {kind}")
        return self.add(f"arith.cmpi {self.rng.choice(_PREDICATES)}, "
                        f"{self.expression(kind, depth)}, "
                        f"{self.expression(kind, depth)} : {kind}")

    def floats(self):
        values = np.random.default_rng(self.seed).random(_ROWS, np.float32)
        array = self.capture(f"memref<{_ROWS}xf32>", values)
        at = self.rng.choice(("%b", "%kv"))
        loaded = self.add(f"memref.load {array}[{at}] : memref<{_ROWS}xf32>")
        half = self.add("arith.constant 0.5 : f32")
        return self.add(f"arith.cmpf olt, {loaded}, {half} : f32")

    def formula(self, depth):
        if depth == 0:
            return self.condition(2)
        a, b = self.formula(depth - 1), self.formula(depth - 1)
        name = self.rng.choice(("andi", "andi", "ori", "ori", "xori", "not",
                                "select", "eq", "ne"))
        if name == "not":
            return self.add(f"arith.xori {a}, "
                            f"{self.add('arith.constant true')} : i1")
        if name == "select":
            return self.add(f"arith.select {self.condition(1)}, {a}, {b} : i1")
        if name in ("eq", "ne"):
            return self.add(f"arith.cmpi {name}, {a}, {b} : i1")
        return self.add(f"arith.{name} {a}, {b} : i1")

    def mask(self):
        result = self.formula(self.rng.choice((0, 1, 1, 2, 2, 3, 4)))
        text = "\n".join([*self.lines, f"  return {result} : i1"])
        return masks.Mask(f"m{self.seed}", text, self.captures, self.values)

    def boxes(self):
        """Tiles of a few sizes, and boxes with few or no positions."""
        sizes = self.rng.sample((2, 4, 8, 16), 2)
        grid = self.grid
        found = [grid.tiles(*sizes), grid.tiles(1, grid.keys),
                 grid.tiles(grid.queries, 1)]
        for _ in range(40):
            q = sorted(self.rng.randint(grid.first, grid.first + grid.queries)
                       for _ in range(2))
            k = sorted(self.rng.randint(0, grid.keys) for _ in range(2))
            found.append(np.array([[*q, *k]]))
        return np.concatenate(found)
