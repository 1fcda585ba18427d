"""Attention at the end of a cache: contiguous or paged, and in any number of
splits, against attention over each sequence's own keys.

What no sequence has, which is what lies past its length, pages of the pool that
are nobody's, and entries of the table past its last page, is NaN, or no page.
"""

import dataclasses
import sys

import numpy as np

import suite as suites
from ops import Function
from setup import oracle
from suite import Want

# Of q, of k and v, and of o.
TYPES = [("f32", "f32", "f32"), ("f64", "f64", "f64"), ("f16", "f16", "f16"),
         ("bf16", "bf16", "bf16"), ("f32", "bf16", "f32"),
         ("f16", "f16", "f32"), ("f64", "f32", "f64")]

SPLITS = (1, 2, 3, 8, 16, None)
LENGTHS = (0, 1, 15, 16, 17, 1000)
PAGE_SIZES = (1, 16, 64)

MINIMUM = {"decode": {"decode_attention": 640},
           "corners": {"decode_attention": 200}}

NO_PAGE = (-1, 2**31 - 1, -2**31)


def known_splits(batch, kv_heads, keys):
    """How many splits there are without `splits`."""
    def up(a, b):
        return -(-a // b)
    aim = up(64, max(min(batch, 64) * min(kv_heads, 64), 1))
    return max(min(aim, up(keys, 64)), up(keys, 256), 1)


@dataclasses.dataclass
class Static:
    """What a function has of its own."""

    types: tuple = TYPES[0]
    paged: bool = False
    lengths: str = "i32"
    splits: int = None
    causal: bool = True
    window: int = None
    softcap: float = None
    scale: float = None
    checkpoints: bool = True
    kind: str = "memref"

    def attributes(self):
        parts = []
        if self.causal:
            parts.append("causal = #pol.causal<bottom_right>")
        for name in ("scale", "softcap"):
            if getattr(self, name) is not None:
                parts.append(f"{name} = {getattr(self, name):.17e} : f64")
        for name in ("window", "splits"):
            if getattr(self, name) is not None:
                parts.append(f"{name} = {getattr(self, name)} : i64")
        return ", ".join(parts)

    def function(self, name):
        q, kv, o = self.types
        accumulated = oracle.accumulation(q)
        elements = {"q": q, "k": kv, "v": kv}
        ranks = {"q": 4, "k": 4, "v": 4, "o": 4}
        if self.paged:
            elements["block_table"], ranks["block_table"] = "i32", 2
        if self.lengths:
            elements["k_lengths"], ranks["k_lengths"] = self.lengths, 1
        elements["o"] = o
        if self.checkpoints:
            elements.update(max=accumulated, sum=accumulated)
            ranks.update(max=3, sum=3)
        for part, rank in (("o", 5), ("max", 4), ("sum", 4)):
            elements[f"partial_{part}"] = accumulated
            # A number of splits that is asked for is known.
            ranks[f"partial_{part}"] = rank if self.splits is None else (
                (None,) * 3 + (self.splits,) + (None,) * (rank - 4))
        return Function(name, "decode_attention", elements, ranks,
                        self.attributes(), self.kind)

    def options(self):
        return oracle.Options(
            scale=self.scale, causal="bottom_right" if self.causal else None,
            window=self.window, softcap=self.softcap)


@dataclasses.dataclass
class Extents:
    """H, Hk, S, D and Dv, the keys of each sequence, T or the size of pages."""

    h: int = 8
    hk: int = 2
    s: int = 1
    d: int = 16
    dv: int = 8
    lengths: tuple = LENGTHS
    t: int = 1003
    page_size: int = 16


def pool_of(suite, e, dtype):
    """Pages in any order, the first of every sequence's shared with the longest
    one's where both are full: the pools of k and v, and the table."""
    size = e.page_size
    counts = [-(-n // size) for n in e.lengths]
    spare = 3
    order = list(suite.random.permutation(sum(counts) + spare))
    longest = int(np.argmax(e.lengths)) if e.lengths else 0
    table = np.zeros((len(e.lengths), max(counts, default=0) + 2), np.int64)
    for row in table:
        row[:] = [suite.choose(NO_PAGE) for _ in row]
    rows = []
    for b, count in enumerate(counts):
        for i in range(count):
            table[b, i] = order.pop()
    for b, n in enumerate(e.lengths):
        if b != longest and n >= size > 0 and e.lengths[longest] >= size:
            table[b, 0] = table[longest, 0]
    pages = sum(counts) + spare
    for b, n in enumerate(e.lengths):
        rows += [(table[b, t // size], t % size) for t in range(n)]
    pools = []
    for depth in (e.d, e.dv):
        pool = np.full((pages, e.hk, size, depth), np.nan)
        for page, row in rows:
            pool[page, :, row] = suite.values((e.hk, depth), dtype)
        pools.append(pool)
    return (*pools, table)


def cache_of(suite, e, dtype):
    """The same, contiguous."""
    caches = []
    for depth in (e.d, e.dv):
        cache = np.full((len(e.lengths), e.hk, e.t, depth), np.nan)
        for b, n in enumerate(e.lengths):
            cache[b, :, :n] = suite.values((e.hk, n, depth), dtype)
        caches.append(cache)
    return caches


def operands(suite, static, e):
    """What a call reads."""
    q, kv, _ = static.types
    inputs = {"q": suite.values((len(e.lengths), e.h, e.s, e.d), q)}
    if static.paged:
        inputs["k"], inputs["v"], inputs["block_table"] = pool_of(suite, e, kv)
    else:
        inputs["k"], inputs["v"] = cache_of(suite, e, kv)
    if static.lengths:
        inputs["k_lengths"] = np.array(e.lengths, np.int64)
    return inputs


def shapes_of(static, e, inputs):
    """Of what a call writes."""
    keys = (inputs["block_table"].shape[1] * e.page_size if static.paged
            else e.t)
    splits = static.splits or known_splits(len(e.lengths), e.hk, keys)
    row = (len(e.lengths), e.h, e.s)
    return {"o": (*row, e.dv), "max": row, "sum": row,
            "partial_o": (*row, splits, e.dv), "partial_max": (*row, splits),
            "partial_sum": (*row, splits)}


def check(suite, modules, function, static, e, inputs=None):
    """Calls a function, and compares."""
    if function.name not in modules:
        return None
    inputs = inputs or operands(suite, static, e)
    want, sizes, growth = oracle.decode_attention(
        inputs["q"], inputs["k"], inputs["v"], inputs.get("block_table"),
        inputs.get("k_lengths"), static.options())
    # A head's matrix; numbers of a query over the heads of a sequence, as a
    # single score that cancels has no size to compare with.
    wants = {name: Want(want[name], sizes[name], 2, growth)
             for name in function.destinations()}
    label = f"{'/'.join(static.types)} {static.attributes()} {e}"
    return suite.check(modules[function.name], function, inputs,
                       shapes_of(static, e, inputs), wants, label)


def run_all(suite, jobs, name, per_module=8):
    """jobs: static options, each with extents."""
    for begin in range(0, len(jobs), per_module):
        part = [(static.function(f"{name}_{begin + i}"), static, extents)
                for i, (static, extents)
                in enumerate(jobs[begin:begin + per_module])]
        modules = suite.compile(name, [function for function, _, _ in part])
        for function, static, extents in part:
            for e in extents:
                check(suite, modules, function, static, e)


def decode(suite):
    """Splits, lengths and pages, all with all in f32; each in every type."""
    def extents(paged):
        return [Extents(s=s, page_size=size) for s in (1, 3)
                for size in (PAGE_SIZES if paged else (None,))]

    jobs = []
    for paged in (False, True):
        for splits in SPLITS:
            for types in TYPES:
                if types != TYPES[0] and splits not in (3, None):
                    continue
                # f64's reference is slow.
                sizes = extents(paged)
                if types[0] == "f64":
                    sizes = [dataclasses.replace(e, h=4) for e in sizes]
                jobs.append((Static(types=types, paged=paged, splits=splits),
                             sizes))
    for paged in (False, True):
        jobs += [(Static(paged=paged, **options), extents(paged))
                 for options in (
                     {"causal": False}, {"window": 0, "splits": 3},
                     {"window": 20}, {"window": 2**63 - 1},
                     {"softcap": 2.0, "scale": 0.5, "splits": 2},
                     {"lengths": "i64", "checkpoints": False},
                     {"kind": "strided"}, {"kind": "tensor"})]
    run_all(suite, jobs, "decode")
    same_for_all_splits(suite)
    last_rows(suite)
    return MINIMUM["decode"]


# What two numbers of splits may differ by, relative to the largest value.
BETWEEN_SPLITS = 1e-6


def same_for_all_splits(suite):
    """The same call with all numbers of splits: the maximum is one number, to
    the bit, and all else the same but for roundings."""
    e = Extents(s=3)
    for paged in (False, True):
        statics = [Static(paged=paged, splits=splits) for splits in SPLITS]
        functions = [s.function(f"split_{i}") for i, s in enumerate(statics)]
        modules = suite.compile("splits", functions)
        inputs = operands(suite, statics[0], e)
        first = None
        for function, static in zip(functions, statics):
            got = check(suite, modules, function, static, e, inputs)
            if got is None:
                continue
            values = {name: array.values() for name, array in got.items()}
            first = first or values
            if not np.array_equal(values["max"], first["max"]):
                suite.problem(f"max depends on splits: {static}")
            for name in ("o", "sum"):
                off = np.abs(values[name] - first[name]).max(axis=-1)
                size = np.abs(first[name]).max(axis=-1)
                if not (off <= BETWEEN_SPLITS * size).all():
                    suite.problem(f"{name} depends on splits: {static}, "
                                  f"{(off / size).max()}")


def last_rows(suite):
    """Full causal attention's last rows, of as many queries as keys."""
    static = Static(lengths=None)
    e = Extents(s=3, lengths=(100, 100), t=100)
    function = static.function("last")
    modules = suite.compile("last", [function])
    inputs = operands(suite, static, e)
    whole = suite.values((2, e.h, 100, e.d), "f32")
    whole[:, :, -3:] = inputs["q"]
    full, sizes, growth = oracle.attention(
        whole, inputs["k"], inputs["v"], None,
        oracle.Options(causal="top_left"))
    if "last" in modules:
        suite.check(modules["last"], function, inputs,
                    shapes_of(static, e, inputs), {
                        name: Want(full[name][:, :, -3:],
                                   sizes[name][:, :, -3:], 2, growth)
                        for name in ("o", "max", "sum")}, "last rows")


# ------------------------------------------------------------------------------
# Corners
# ------------------------------------------------------------------------------


def corners(suite):
    """Extents of 0 and 1, more queries than keys, long caches, heads."""
    sizes = [Extents(h=2, hk=1, lengths=(), t=5),
             Extents(h=0, hk=0, lengths=(3, 2), t=5),
             Extents(h=0, hk=2, lengths=(3, 2), t=5),
             Extents(s=0, lengths=(3, 2), t=5),
             Extents(d=0, lengths=(3, 2), t=5),
             Extents(dv=0, lengths=(3, 2), t=5),
             Extents(lengths=(0, 0), t=0),
             Extents(h=1, hk=1, s=1, d=1, dv=1, lengths=(1,), t=1),
             Extents(h=6, hk=2, s=5, d=3, dv=65, lengths=(2, 7, 4), t=7),
             Extents(h=5, hk=5, s=2, d=65, dv=130, lengths=(33,), t=33),
             Extents(h=8, hk=1, s=4, d=8, dv=8, lengths=(300, 3), t=301),
             Extents(h=2, hk=1, s=2, d=4, dv=3, lengths=(20000,), t=20001,
                     page_size=128)]
    jobs = [(Static(paged=paged, causal=causal, window=window, splits=splits),
             sizes)
            for paged in (False, True)
            for causal, window, splits in ((False, None, None), (True, None, 5),
                                           (True, 3, None))]
    run_all(suite, jobs, "corner")
    infinities(suite)
    return MINIMUM["corners"]


def infinities(suite):
    """Scores of -Inf by their values: NaN if they are all, else no weight. NaN
    and infinities of a key that is kept go where the formula takes them."""
    e = Extents(h=2, hk=1, lengths=(40, 40, 40, 40), t=40, d=1, dv=2)
    for splits in (1, 3, 40):
        static = Static(splits=splits)
        function = static.function(f"odd_{splits}")
        modules = suite.compile("odd", [function])
        inputs = operands(suite, static, e)
        inputs["q"] = np.abs(inputs["q"]) + np.float32(0.1)
        k, v = inputs["k"], inputs["v"]
        k[0] = -np.inf
        k[1, :, :39] = -np.inf
        k[2, :, 20] = np.nan
        v[3, :, 7, 0] = np.inf
        check(suite, modules, function, static, e, inputs)


PARTS = {"decode": decode, "corners": corners}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
