"""Named masks against all positions of tiles: those of difference bounds have
exactly the classes that counting gives."""

import argparse
import itertools
import sys
import tempfile

import numpy as np

import masks

_EXTENTS = (1, 15, 17, 63, 64, 65, 100)
_TILES = (1, 16, 64)


class Text:
    """The body of a mask, line by line."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, line):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {line}")
        return f"%v{self.count}"

    def constant(self, number, kind="index"):
        kind = "" if kind == "i1" else f" : {kind}"
        return self.add(f"arith.constant {number}{kind}")

    def op(self, name, *operands, kind="index"):
        return self.add(f"{name} {', '.join(operands)} : {kind}")

    def compare(self, predicate, a, b):
        return self.add(f"arith.cmpi {predicate}, {a}, {b} : index")

    def both(self, a, b):
        return self.op("arith.andi", a, b, kind="i1")

    def either(self, a, b):
        return self.op("arith.ori", a, b, kind="i1")

    def negate(self, a):
        return self.op("arith.xori", a, self.constant("true", "i1"), kind="i1")

    def done(self, value):
        return "\n".join([*self.lines, f"  return {value} : i1"])

    # The parts of masks.

    def causal(self, offset=None):
        last = self.op("arith.addi", "%q", offset) if offset else "%q"
        return self.compare("sle", "%kv", last)

    def at_most_behind(self, window):
        return self.compare("sle", self.op("arith.subi", "%q", "%kv"), window)

    def near(self, window):
        """|q - kv| <= window, as one unsigned comparison."""
        moved = self.op("arith.addi", self.op("arith.subi", "%q", "%kv"), window)
        most = self.op("arith.addi", window, window)
        return self.compare("ule", moved, most)

    def prefix(self, length):
        return self.compare("slt", "%kv", length)

    def length(self, name):
        loaded = self.add(f"memref.load %{name}[%b] : memref<2xi32>")
        return self.add(f"arith.index_cast {loaded} : i32 to index")


def _masks():
    """Pairs of a mask and whether it is exact; the oracle is separate."""

    def make(name, build, oracle, captures=None, values=None, exact=True,
             interval=None):
        text = Text()
        mask = masks.Mask(name, text.done(build(text)), captures or {},
                          values or {})
        return mask, oracle, exact, interval

    def constant_window(t):
        return t.both(t.causal(), t.at_most_behind(t.constant(20)))

    def prefix_lm(t):
        return t.either(t.prefix(t.constant(18)), t.causal())

    def sinks(t):
        return t.both(t.causal(), t.either(
            t.prefix(t.constant(4)), t.at_most_behind(t.constant(9))))

    def dilated(t):
        d = t.op("arith.subi", "%q", "%kv")
        on = t.compare("eq", t.op("arith.remsi", d, t.constant(3)),
                       t.constant(0))
        return t.both(t.causal(), t.both(on, t.at_most_behind(t.constant(30))))

    def lengths(t):
        return t.both(t.causal(), t.both(
            t.prefix(t.length("k")), t.compare("slt", "%q", t.length("q_"))))

    def cases(t):
        far = t.compare("sgt", "%q", t.constant(40))
        return t.add(f"arith.select {far}, {constant_window(t)}, "
                     f"{prefix_lm(t)} : i1")

    def band(t):
        d = t.op("arith.subi", "%kv", "%q")
        return t.either(t.compare("eq", d, t.constant(3)),
                        t.compare("eq", t.op("arith.subi", "%q", "%kv"),
                                  t.constant(7)))

    lens = {"k": "memref<2xi32>", "q_": "memref<2xi32>"}
    values = {"k": np.array([13, 70], np.int32),
              "q_": np.array([64, 40], np.int32)}
    offset, width = {"o": "index"}, {"w": "i32"}

    def wide(t):
        w = t.add("arith.index_cast %w : i32 to index")
        return t.both(t.causal(), t.at_most_behind(w))

    yield make("full", lambda t: t.constant("true", "i1"),
               lambda b, q, k: True, interval=True)
    yield make("none", lambda t: t.constant("false", "i1"),
               lambda b, q, k: False, interval=True)
    yield make("causal", lambda t: t.causal(), lambda b, q, k: k <= q,
               interval=True)
    yield make("not_causal", lambda t: t.negate(t.causal()),
               lambda b, q, k: k > q, interval=True)
    for at in (-30, 5):
        yield make(f"causal_{'m' if at < 0 else 'p'}",
                   lambda t, at=at: t.causal(t.constant(at)),
                   lambda b, q, k, at=at: k <= q + at, interval=True)
        # An index may be any number.
        yield make(f"causal_by_{'m' if at < 0 else 'p'}",
                   lambda t: t.causal("%o"),
                   lambda b, q, k, at=at: k <= q + at, offset, {"o": at},
                   interval=False)
    yield make("window", constant_window,
               lambda b, q, k: (k <= q) & (q - k <= 20), interval=True)
    yield make("not_window", lambda t: t.negate(constant_window(t)),
               lambda b, q, k: (k > q) | (q - k > 20), interval=False)
    yield make("window_of", wide, lambda b, q, k: (k <= q) & (q - k <= 7),
               width, {"w": 7}, interval=True)
    yield make("no_window_of", wide, lambda b, q, k: False, width, {"w": -1},
               interval=True)
    yield make("near", lambda t: t.near(t.constant(11)),
               lambda b, q, k: abs(q - k) <= 11, interval=True)
    yield make("prefix", lambda t: t.prefix(t.constant(18)),
               lambda b, q, k: k < 18, interval=True)
    yield make("prefix_lm", prefix_lm, lambda b, q, k: (k < 18) | (k <= q),
               interval=False)
    yield make("not_prefix_lm", lambda t: t.negate(prefix_lm(t)),
               lambda b, q, k: (k >= 18) & (k > q), interval=True)
    yield make("sinks", sinks,
               lambda b, q, k: (k <= q) & ((k < 4) | (q - k <= 9)),
               interval=False)
    yield make("not_sinks", lambda t: t.negate(sinks(t)),
               lambda b, q, k: ~((k <= q) & ((k < 4) | (q - k <= 9))),
               interval=False)
    yield make("lengths", lengths,
               lambda b, q, k: (k <= q) & (k < values["k"][b])
               & (q < values["q_"][b]), lens, values, interval=True)
    yield make("xor", lambda t: t.op(
        "arith.xori", t.causal(), t.prefix(t.constant(18)), kind="i1"),
        lambda b, q, k: (k <= q) ^ (k < 18), interval=False)
    yield make("same", lambda t: t.add(
        f"arith.cmpi eq, {t.causal()}, {t.prefix(t.constant(18))} : i1"),
        lambda b, q, k: (k <= q) == (k < 18), interval=False)
    yield make("cases", cases, lambda b, q, k: np.where(
        q > 40, (k <= q) & (q - k <= 20), (k < 18) | (k <= q)), interval=False)
    yield make("band", band, lambda b, q, k: (k - q == 3) | (q - k == 7),
               interval=False)
    yield make("dilated", dilated, lambda b, q, k: (k <= q) & (
        np.fmod(q - k, 3) == 0) & (q - k <= 30), exact=False, interval=False)
    yield make("not_dilated", lambda t: t.negate(dilated(t)),
               lambda b, q, k: ~((k <= q) & (np.fmod(q - k, 3) == 0)
                                 & (q - k <= 30)), exact=False, interval=False)


def _far_masks():
    """Comparisons with numbers that are far from all positions, of captures."""
    variables = {"q": lambda q, k: q + 0 * k, "kv": lambda q, k: k + 0 * q,
                 "d": lambda q, k: q - k}
    last = (1 << 63) - 1
    numbers = (last, last - 40, 1 << 62, 1 << 61, -(1 << 61), -(1 << 62),
               40 - last, -last - 1)
    for (name, value), (predicate, compare) in itertools.product(
            variables.items(), (("sle", np.less_equal), ("sge", np.greater_equal),
                                ("eq", np.equal), ("ult", None))):
        for number, far in enumerate(numbers):
            text = Text()
            side = (text.op("arith.subi", "%q", "%kv") if name == "d"
                    else f"%{name}")
            mask = masks.Mask(
                f"far_{name}_{predicate}_{number}",
                text.done(text.compare(predicate, side, "%far")),
                {"far": "index"}, {"far": far})

            def oracle(b, q, k, value=value, compare=compare, far=far):
                if compare is None:
                    return value(q, k).astype(np.uint64) < np.uint64(
                        far % (1 << 64))
                return compare(value(q, k), far)

            yield mask, oracle, True, None


def _check(compiled, oracle, exact, interval, extents):
    name = compiled.mask.name
    if interval is not None and compiled.is_interval != interval:
        yield f"isInterval is {compiled.is_interval}"
    batches = (0, 1) if compiled.mask.captures else (0,)
    for queries, keys in itertools.product(extents, extents):
        for first, batch in itertools.product((0, 37, -20), batches):
            grid = masks.Grid(first, queries, keys)
            where = f"{queries} queries from {first}, {keys} keys, batch {batch}"
            q = np.arange(first, first + queries)[:, None]
            k = np.arange(keys)[None, :]
            true = np.broadcast_to(oracle(batch, q, k), (queries, keys))
            if not np.array_equal(compiled.kept(grid, batch), true):
                yield f"{where}: {name} is not what it should be"
            for tile in _TILES:
                if tile == 1 and queries * keys > 5000:
                    continue
                boxes = np.concatenate([
                    grid.tiles(tile, tile), grid.tiles(1, keys),
                    grid.tiles(queries, 1),
                    # Of no queries, or no keys.
                    [(first, first, 0, keys), (first, first + queries, 0, 0),
                     (first + queries, first + queries, keys, keys)]])
                for problem in masks.check(compiled, grid, boxes, batch,
                                           exact=exact, intervals=20):
                    yield f"{where}, tile {tile}: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", required=True, help="pol-test-opt")
    parser.add_argument("--llvm-bin", required=True)
    options = parser.parse_args()
    cases = [(*case, _EXTENTS) for case in _masks()]
    cases += [(*case, (17,)) for case in _far_masks()]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        library = masks.Tools(options.opt, options.llvm_bin, folder).compile(
            [c[0] for c in cases], level=1)
        for mask, *how in cases:
            problems = list(_check(masks.Compiled(library, mask), *how))
            failures += bool(problems)
            if problems:
                print(f"{mask.name}: {len(problems)} problems")
            for problem in problems[:3]:
                print(f"  {problem}")
    print(f"{len(cases)} masks, {failures} of them wrong")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
