"""Masks by name. See region.py for how one is written down."""

import numpy as np

from region import Capture, Mask


def full():
    return Mask("full", lambda e: e.true(), lambda r: np.bool_(True))


def nothing():
    return Mask("nothing", lambda e: e.true(False), lambda r: np.bool_(False))


def causal():
    return Mask("causal", lambda e: e.cmp("sle", e.kv, e.q),
                lambda r: r.kv <= r.q)


def window(width):
    """Keys from q - width to q."""
    return Mask(
        f"window({width})",
        lambda e: e.both(e.cmp("sle", e.kv, e.q), e.cmp(
            "sge", e.kv, e.sub(e.q, e.index(width)))),
        lambda r: (r.kv <= r.q) & (r.kv >= r.q - width))


def band(width):
    """Keys that are no further than that, on both sides."""
    def text(e):
        after = e.distance()
        return e.both(e.cmp("sle", after, e.index(width)),
                      e.cmp("sge", after, e.index(-width)))
    return Mask(f"band({width})", text,
                lambda r: np.abs(r.kv - r.q) <= width)


def prefix(length):
    return Mask(f"prefix({length})",
                lambda e: e.cmp("slt", e.kv, e.index(length)),
                lambda r: r.kv < length)


def prefix_lm(length):
    return Mask(
        f"prefix_lm({length})",
        lambda e: e.either(e.cmp("slt", e.kv, e.index(length)),
                           e.cmp("sle", e.kv, e.q)),
        lambda r: (r.kv < length) | (r.kv <= r.q))


def suffix(first):
    """Queries from one on."""
    return Mask(f"suffix({first})",
                lambda e: e.cmp("sge", e.q, e.index(first)),
                lambda r: r.q >= first)


def _ids(random, shape):
    """Of documents, in order along the last dimension."""
    steps = random.uniform(size=shape) < 0.07
    return np.cumsum(steps, axis=-1)


def documents(element="i32", batched=True):
    """Ids of queries and of keys, two captures."""
    lead = ("B",) if batched else ()
    queries = Capture((*lead, "N"), element, _ids)
    keys = Capture((*lead, "T"), element, _ids)

    def text(e):
        first = (e.b,) if batched else ()
        return e.cmp("eq", e.raw(queries, *first, e.q),
                     e.raw(keys, *first, e.kv))

    def kept(r):
        first = (r.b,) if batched else ()
        return r.load(queries, *first, r.q) == r.load(keys, *first, r.kv)
    return Mask(f"documents({element}{', [B]' if batched else ''})", text, kept,
                (queries, keys))


def shared_documents(element="i64"):
    """One array of ids, of queries and keys alike."""
    ids = Capture(("B", "M"), element, _ids)
    return Mask(
        f"shared_documents({element})",
        lambda e: e.cmp("eq", e.load(ids, e.b, e.q), e.load(ids, e.b, e.kv)),
        lambda r: r.load(ids, r.b, r.q) == r.load(ids, r.b, r.kv), (ids,))


def dilated(step):
    return Mask(
        f"dilated({step})",
        lambda e: e.cmp("eq", e.op("arith.remsi", e.sub(e.q, e.kv),
                                   e.index(step)), e.index(0)),
        lambda r: (r.q - r.kv) % step == 0)


def sinks(count, width):
    """The first keys, and a window."""
    return Mask(
        f"sinks({count}, {width})",
        lambda e: e.both(e.cmp("sle", e.kv, e.q), e.either(
            e.cmp("slt", e.kv, e.index(count)),
            e.cmp("sge", e.kv, e.sub(e.q, e.index(width))))),
        lambda r: (r.kv <= r.q) & ((r.kv < count) | (r.kv >= r.q - width)))


def blocks(size):
    def block(e, x):
        return e.op("arith.floordivsi", x, e.index(size))
    return Mask(f"blocks({size})",
                lambda e: e.cmp("eq", block(e, e.q), block(e, e.kv)),
                lambda r: r.q // size == r.kv // size)


def threshold(limit):
    """A random number of each head and key, below a limit."""
    chances = Capture(("H", "T"), "float",
                      lambda random, shape: random.uniform(size=shape))
    return Mask(
        f"threshold({limit})",
        lambda e: e.cmp("olt", e.load(chances, e.h, e.kv), e.number(limit)),
        lambda r: r.load(chances, r.h, r.kv) < r.number(limit), (chances,))


def random_pairs():
    """A random number of each query and key, below one that is captured."""
    chances = Capture(("N", "T"), "float",
                      lambda random, shape: random.uniform(size=shape))
    limit = Capture(None, "f32", lambda random, shape: np.float32(0.4))
    return Mask(
        "random_pairs",
        lambda e: e.cmp("olt", e.load(chances, e.q, e.kv), e.load(limit)),
        lambda r: r.load(chances, r.q, r.kv) < r.load(limit), (chances, limit))


def bits():
    """A captured array of booleans, as i8."""
    allowed = Capture(("B", "N", "T"), "i8",
                      lambda random, shape: random.randint(0, 2, shape))
    return Mask(
        "bits",
        lambda e: e.cmp("ne", e.raw(allowed, e.b, e.q, e.kv),
                        e.integer(0, "i8")),
        lambda r: r.load(allowed, r.b, r.q, r.kv) != 0, (allowed,))


def by_head():
    """Even heads see all, the others what came before."""
    def text(e):
        even = e.cmp("eq", e.op("arith.remui", e.h, e.index(2)), e.index(0))
        return e.either(even, e.cmp("sle", e.kv, e.q))
    return Mask("by_head", text, lambda r: (r.h % 2 == 0) | (r.kv <= r.q))


def windows_by_head(element="i32"):
    """A width of each head."""
    widths = Capture(("H",), element,
                     lambda random, shape: random.randint(0, 40, shape))
    return Mask(
        f"windows_by_head({element})",
        lambda e: e.both(e.cmp("sle", e.kv, e.q), e.cmp(
            "sge", e.kv, e.sub(e.q, e.load(widths, e.h)))),
        lambda r: (r.kv <= r.q) & (r.kv >= r.q - r.load(widths, r.h)),
        (widths,))


def by_batch():
    """The first batch entry sees all, the second nothing, the others what came
    before."""
    def text(e):
        first = e.cmp("eq", e.b, e.index(0))
        second = e.cmp("eq", e.b, e.index(1))
        return e.select(first, e.true(), e.select(
            second, e.true(False), e.cmp("sle", e.kv, e.q)))
    return Mask("by_batch", text,
                lambda r: np.where(r.b == 0, True, np.where(
                    r.b == 1, False, r.kv <= r.q)))


def selected_rows():
    """By a captured mark of each query."""
    marks = Capture(("N",), "i32",
                    lambda random, shape: random.randint(0, 2, shape))
    return Mask("selected_rows",
                lambda e: e.cmp("ne", e.raw(marks, e.q), e.integer(0, "i32")),
                lambda r: r.load(marks, r.q) != 0, (marks,))


def diagonal(offset):
    """Keys up to q and a captured index."""
    shift = Capture(None, "index", lambda random, shape: np.int64(offset))
    return Mask(f"diagonal({offset})",
                lambda e: e.cmp("sle", e.kv, e.add(e.q, e.load(shift))),
                lambda r: r.kv <= r.q + r.load(shift), (shift,))


def first_half():
    """Keys before half of a capture's extent."""
    of_keys = Capture(("T",), "i32", lambda random, shape: np.zeros(shape))
    return Mask(
        "first_half",
        lambda e: e.cmp("slt", e.kv, e.op("arith.divui", e.extent(of_keys, 0),
                                          e.index(2))),
        lambda r: r.kv < r.positions.shape[3] // 2, (of_keys,))


# Of others


def _captures(*masks):
    return tuple(dict.fromkeys(c for m in masks for c in m.captures))


def both(a, b):
    return Mask(f"({a.name} and {b.name})",
                lambda e: e.both(a.text(e), b.text(e)),
                lambda r: a.kept(r) & b.kept(r), _captures(a, b))


def either(a, b):
    return Mask(f"({a.name} or {b.name})",
                lambda e: e.either(a.text(e), b.text(e)),
                lambda r: a.kept(r) | b.kept(r), _captures(a, b))


def differ(a, b):
    return Mask(f"({a.name} xor {b.name})",
                lambda e: e.differ(a.text(e), b.text(e)),
                lambda r: a.kept(r) ^ b.kept(r), _captures(a, b))


def invert(a):
    return Mask(f"not {a.name}", lambda e: e.invert(a.text(e)),
                lambda r: ~a.kept(r), a.captures)
