"""Scores by name. See region.py for how one is written down.

Derivatives are written by hand, and checked in variants_test.py.
"""

import numpy as np

from region import Capture, Score


def _ones(s):
    return np.ones_like(s)


def _like(values, s):
    """Of all positions, whatever the scores hold."""
    return np.broadcast_to(values, s.shape)


def positive(random, shape):
    return random.uniform(0.5, 1.5, size=shape)


def slight(random, shape):
    return 0.2 * random.standard_normal(shape)


def softcap(cap):
    def text(e, s):
        bound = e.number(cap)
        return e.mul(bound, e.op("math.tanh", e.op("arith.divf", s, bound)))

    def values(r, s):
        bent = np.tanh(s / r.number(cap))
        return r.number(cap) * bent, 1 - bent * bent, []
    return Score(f"softcap({cap})", text, values)


def alibi():
    """slope[h] (kv - q)."""
    slopes = Capture(("H",), "float", lambda random, shape: random.uniform(
        0.01, 0.1, size=shape))

    def text(e, s):
        return e.add(s, e.mul(e.load(slopes, e.h), e.real(e.distance())))

    def values(r, s):
        distance = r.real(r.kv - r.q)
        return (s + r.load(slopes, r.h) * distance, _ones(s),
                [(slopes, (r.h,), distance)])
    return Score("alibi", text, values, (slopes,))


def bias(batches=True, heads=True, element="float"):
    """An array of each position; broadcast where it has extent 1."""
    shape = ("B" if batches else 1, "H" if heads else 1, "N", "T")
    array = Capture(shape, element)

    def text(e, s):
        return e.add(s, e.load(array, e.b if batches else 0,
                               e.h if heads else 0, e.q, e.kv))

    def values(r, s):
        at = (r.b if batches else 0, r.h if heads else 0, r.q, r.kv)
        return s + r.load(array, *at), _ones(s), [(array, at, _ones(s))]
    form = f"[{'B' if batches else 1},{'H' if heads else 1}]"
    return Score(f"bias {form}", text, values, (array,))


def relative(reach):
    """A table of each head and distance, up to some reach."""
    table = Capture(("H", 2 * reach + 1))

    def text(e, s):
        shifted = e.add(e.distance(), e.index(reach))
        low = e.op("arith.maxsi", shifted, e.index(0))
        at = e.op("arith.minsi", low, e.index(2 * reach))
        return e.add(s, e.load(table, e.h, at))

    def values(r, s):
        at = (r.h, np.clip(r.kv - r.q + reach, 0, 2 * reach))
        return s + r.load(table, *at), _ones(s), [(table, at, _ones(s))]
    return Score(f"relative({reach})", text, values, (table,))


def _apart(e, of_queries, of_keys, depth):
    """|x_q - y_kv|^2, unrolled."""
    total = None
    for d in range(depth):
        apart = e.sub(e.load(of_queries, e.b, e.q, d),
                      e.load(of_keys, e.b, e.kv, d))
        square = e.mul(apart, apart)
        total = square if total is None else e.add(total, square)
    return total


def _points(shared):
    """Arrays of points of queries and of keys; one, if they are shared."""
    def near(random, shape):
        return 0.5 * random.standard_normal(shape)
    if shared:
        points = Capture(("B", "M", 3), make=near)
        return points, points
    return (Capture(("B", "N", 3), make=near),
            Capture(("B", "T", 3), make=near))


def _point_terms(r, of_queries, of_keys, factor, differences):
    """Derivatives by points: factor times d |x - y|^2."""
    terms = []
    for d, apart in enumerate(differences):
        terms.append((of_queries, (r.b, r.q, d), factor * 2 * apart))
        terms.append((of_keys, (r.b, r.kv, d), factor * -2 * apart))
    return terms


def _differences(r, of_queries, of_keys):
    return [r.load(of_queries, r.b, r.q, d) - r.load(of_keys, r.b, r.kv, d)
            for d in range(3)]


def rbf(shared=False):
    """s - gamma |x_q - y_kv|^2, whose exponential is a Gaussian of points."""
    of_queries, of_keys = _points(shared)
    gamma = Capture((), make=positive)

    def text(e, s):
        return e.sub(s, e.mul(e.load(gamma),
                              _apart(e, of_queries, of_keys, 3)))

    def values(r, s):
        apart = _differences(r, of_queries, of_keys)
        square = sum(a * a for a in apart)
        return (s - r.load(gamma) * square, _ones(s), [
            (gamma, (), -_like(square, s)),
            *_point_terms(r, of_queries, of_keys, -r.load(gamma), apart)])

    def squares(r, s):
        apart = _differences(r, of_queries, of_keys)
        return (r.load(gamma) * sum(a * a for a in apart))**2
    names = (of_queries,) if shared else (of_queries, of_keys)
    return Score(f"rbf({'shared' if shared else ''})", text, values,
                 (*names, gamma), squares)


def gated_rbf():
    """s exp(-gamma[h] |x_q - y_kv|^2)."""
    of_queries, of_keys = _points(False)
    gamma = Capture(("H",), make=positive)

    def text(e, s):
        exponent = e.mul(e.op("arith.negf", e.load(gamma, e.h)),
                         _apart(e, of_queries, of_keys, 3))
        return e.mul(s, e.op("math.exp", exponent))

    def values(r, s):
        apart = _differences(r, of_queries, of_keys)
        square = sum(a * a for a in apart)
        rate = r.load(gamma, r.h)
        gate = np.exp(-rate * square)
        return s * gate, _like(gate, s), [
            (gamma, (r.h,), -square * gate * s),
            *_point_terms(r, of_queries, of_keys, -rate * gate * s, apart)]
    return Score("gated_rbf", text, values, (of_queries, of_keys, gamma))


def pairs():
    """s + u[b, q] w[h, kv]."""
    u, w = Capture(("B", "N")), Capture(("H", "T"))

    def text(e, s):
        return e.op("math.fma", e.load(u, e.b, e.q), e.load(w, e.h, e.kv), s)

    def values(r, s):
        of_query, of_key = r.load(u, r.b, r.q), r.load(w, r.h, r.kv)
        return (s + of_query * of_key, _ones(s),
                [(u, (r.b, r.q), of_key), (w, (r.h, r.kv), of_query)])
    return Score("pairs", text, values, (u, w))


def polynomial():
    """c0 + c1 s + c2 s^2."""
    c = Capture((3,), make=slight)

    def text(e, s):
        high = e.add(e.load(c, 1), e.mul(e.load(c, 2), s))
        return e.add(e.load(c, 0), e.mul(s, high))

    def values(r, s):
        low, middle, high = (r.load(c, n) for n in range(3))
        return (low + s * (middle + high * s), middle + 2 * high * s,
                [(c, (n,), s**n) for n in range(3)])

    def squares(r, s):
        return sum((r.load(c, n) * s**n)**2 for n in range(3))
    return Score("polynomial", text, values, (c,), squares)


def far(reach, factor):
    """Smaller where the distance is larger."""
    def text(e, s):
        after = e.distance()
        near = e.both(e.cmp("sle", after, e.index(reach)),
                      e.cmp("sge", after, e.index(-reach)))
        return e.select(near, s, e.mul(s, e.number(factor)))

    def values(r, s):
        slope = np.where(np.abs(r.kv - r.q) <= reach, r.number(1),
                         r.number(factor))
        return slope * s, _like(slope, s), []
    return Score(f"far({reach}, {factor})", text, values)


def temperature(element="f32"):
    """s / t for a captured number, or, of no element type, for an array of
    it."""
    t = (Capture(None, element, positive) if element
         else Capture((), make=positive))

    def values(r, s):
        by = r.load(t)
        return s / by, _ones(s) / by, [(t, (), -s / by**2)]
    return Score(f"temperature({element})",
                 lambda e, s: e.op("arith.divf", s, e.load(t)), values, (t,))


def temperatures():
    """s t[b, h]."""
    t = Capture(("B", "H"), make=positive)

    def values(r, s):
        by = r.load(t, r.b, r.h)
        return s * by, _like(by, s), [(t, (r.b, r.h), s)]
    return Score("temperatures",
                 lambda e, s: e.mul(s, e.load(t, e.b, e.h)), values, (t,))


def gate():
    """s + log(1 + exp(g[b, kv]))."""
    g = Capture(("B", "T"))

    def text(e, s):
        grown = e.op("math.exp", e.load(g, e.b, e.kv))
        return e.add(s, e.op("math.log1p", grown))

    def values(r, s):
        grown = np.exp(r.load(g, r.b, r.kv))
        return (s + np.log1p(grown), _ones(s),
                [(g, (r.b, r.kv), grown / (1 + grown))])
    return Score("gate", text, values, (g,))


def square_root():
    """s + sqrt(a[kv]) of a positive number, minus its inverse. Of one number for
    a head, all scores would be off alike, and the gradient 0."""
    a = Capture(("T",), make=positive)

    def text(e, s):
        return e.sub(e.add(s, e.op("math.sqrt", e.load(a, e.kv))),
                     e.op("math.rsqrt", e.load(a, e.kv)))

    def values(r, s):
        root = np.sqrt(r.load(a, r.kv))
        return (s + root - 1 / root, _ones(s),
                [(a, (r.kv,), 0.5 / root + 0.5 / root**3)])
    return Score("square_root", text, values, (a,))


def rotation():
    """s cos(a[q]) + sin(a[q]) w[kv]."""
    a, w = Capture(("N",)), Capture(("T",))

    def text(e, s):
        angle = e.load(a, e.q)
        return e.add(e.mul(s, e.op("math.cos", angle)),
                     e.mul(e.op("math.sin", angle), e.load(w, e.kv)))

    def values(r, s):
        angle, weight = r.load(a, r.q), r.load(w, r.kv)
        cos, sin = np.cos(angle), np.sin(angle)
        return s * cos + sin * weight, _like(cos, s), [
            (a, (r.q,), cos * weight - s * sin), (w, (r.kv,), sin)]

    def squares(r, s):
        return (np.sin(r.load(a, r.q)) * r.load(w, r.kv))**2
    return Score("rotation", text, values, (a, w), squares)


def constant():
    """A score that does not depend on q and k."""
    w = Capture(("H", "T"))

    def values(r, s):
        return (_like(r.load(w, r.h, r.kv), s), np.zeros_like(s),
                [(w, (r.h, r.kv), _ones(s))])
    return Score("constant", lambda e, s: e.load(w, e.h, e.kv), values, (w,))


def chain(*scores):
    """One after the other."""
    def text(e, s):
        for score in scores:
            s = score.text(e, s)
        return s

    def values(r, s):
        slope, terms = _ones(s), []
        for score in scores:
            s, own, new = score.values(r, s)
            terms = [(c, at, own * by) for c, at, by in terms] + new
            slope = slope * own
        return s, slope, terms

    def squares(r, s):
        total = 0.0
        for score in scores:
            total = total + score.squares(r, s)
            s = score.values(r, s)[0]
            total = total + s**2
        return total
    captures = tuple(dict.fromkeys(c for s in scores for c in s.captures))
    return Score(" then ".join(s.name for s in scores), text, values, captures,
                 squares)
