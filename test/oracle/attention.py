"""Attention and its gradients, with whole matrices.

q [B,H,S,D], k [B,Hk,T,D], v [B,Hk,T,Dv], bias [1 or B, 1 or H, S, T]. Every
option is a field of `Options`. Masking is selection: scores are replaced where
they are masked before anything else is done with them, and no sum has terms of
masked positions. So what these hold, NaN included, reaches no result.

A variant's mask and score are functions of `Positions`, and captures are named
arrays that they read; see `Options`.
"""

import dataclasses
from typing import Callable, Optional

import numpy as np

from norms import wide


@dataclasses.dataclass
class Options:
    """What changes the formula, apart from the operands.

    scale: None is 1 / sqrt(D).
    causal: None, "top_left", "bottom_right" or "input_pos".
    mask: of `Positions` and captures, which keys are kept, on top of all else.
    score: of scores, `Positions` and captures, an `Evaluated`; what it is given
      is scaled and capped, and a bias is added to what it gives.
    captures: the arrays that these read, by name. None of them knows what is
      masked: they are asked about every position, and selected from.
    """

    scale: Optional[float] = None
    causal: Optional[str] = None
    input_pos: int = 0
    window: Optional[int] = None
    softcap: Optional[float] = None
    q_lengths: Optional[np.ndarray] = None
    k_lengths: Optional[np.ndarray] = None
    mask: Optional[Callable] = None
    score: Optional[Callable] = None
    captures: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Term:
    """The derivative of a score by an element of a capture: at each position,
    of the element at these indices."""

    capture: str
    indices: tuple
    slope: np.ndarray


@dataclasses.dataclass
class Evaluated:
    """Scores, their derivative by the scores that were given, those by captures,
    and the squares of all that was added up on the way."""

    values: np.ndarray
    slope: np.ndarray
    terms: list = dataclasses.field(default_factory=list)
    squares: object = 0.0


class Positions:
    """Batch, query head, query and key of every score, as integers that can be
    broadcast to [B, H, S, T]. The queries begin at input_pos."""

    def __init__(self, batch, heads, rows, columns, first=0, kind=np.float64):
        self.shape, self.kind = (batch, heads, rows, columns), kind

        def along(axis, start=0):
            shape = [1] * 4
            shape[axis] = -1
            return (np.arange(self.shape[axis]) + start).reshape(shape)

        self.b, self.h, self.q, self.kv = (
            along(0), along(1), along(2, int(first)), along(3))

    def load(self, array, *indices):
        """The elements of a capture: floats as wide as scores, integers of 64
        bits. Indices that are outside are moved inside: they are of positions
        that are masked."""
        array = np.asarray(array)
        is_float = np.issubdtype(array.dtype, np.floating)
        array = array.astype(self.kind if is_float else np.int64)
        return array[inside(indices, array.shape)] if indices else array


def inside(indices, shape):
    return tuple(np.clip(i, 0, d - 1) for i, d in zip(indices, shape))


def kept(batch, rows, columns, options):
    """Which keys each query keeps: booleans [B, 1, S, T]."""
    keep = np.ones((batch, 1, rows, columns), bool)
    # A key is (kv - q) after its query; Python's integers do not overflow.
    after = np.arange(columns)[None, :] - np.arange(rows)[:, None]

    def bound(value):
        return min(max(int(value), -rows - 1), columns + 1)

    if options.causal is not None:
        position = {"top_left": 0, "bottom_right": columns - rows,
                    "input_pos": int(options.input_pos)}[options.causal]
        keep &= after <= bound(position)
        if options.window is not None:
            keep &= after >= bound(position - int(options.window))
    if options.k_lengths is not None:
        keep &= (np.arange(columns)
                 < np.asarray(options.k_lengths).reshape(-1, 1, 1, 1))
    if options.q_lengths is not None:
        keep &= (np.arange(rows)[:, None]
                 < np.asarray(options.q_lengths).reshape(-1, 1, 1, 1))
    return keep


def _first(options):
    """The position of the first query."""
    return options.input_pos if options.causal == "input_pos" else 0


def _selected_product(weights, keep, values):
    """The sum over t of weights[..., s, t] values[..., t, d] where s keeps t.

    Weights are 0 where nothing is kept. The products with values that are not
    finite are formed one column at a time, and selected.
    """
    finite = np.isfinite(values)
    total = np.matmul(weights, np.where(finite, values, 0))
    for t in np.flatnonzero(~finite.all(axis=(0, 1, 3))):
        odd = np.where(finite[..., t, :], 0, values[..., t, :])
        terms = weights[..., t, None] * odd[..., None, :]
        total = total + np.where(keep[..., t, None]
                                 & ~finite[..., None, t, :], terms, 0)
    return total


class _Scores:
    """What forward and backward share: scores, and what is kept of them."""

    def __init__(self, q, k, v, bias, options):
        # Results are of the type of q, wide.
        self.q = wide(q)
        kind = self.q.dtype
        batch, heads, rows, depth = q.shape
        # Query head h reads head h / (H / Hk) of k and v.
        self.group = heads // max(k.shape[1], 1)
        self.k = np.repeat(k.astype(kind), self.group, axis=1)
        self.v = np.repeat(v.astype(kind), self.group, axis=1)
        self.scale = (options.scale if options.scale is not None
                      else 1 / np.sqrt(kind.type(max(depth, 1))))
        self.scale = kind.type(self.scale)
        shape = (batch, heads, rows, k.shape[2])
        positions = Positions(*shape, _first(options), kind)
        keep = kept(batch, rows, k.shape[2], options)
        if options.mask is not None:
            keep = keep & options.mask(positions, options.captures)
        self.keep = np.broadcast_to(keep, shape)
        product = self.scale * np.matmul(self.q, np.swapaxes(self.k, 2, 3))
        self.slope = np.ones_like(product)
        score = product
        if options.softcap is not None:
            cap = kind.type(options.softcap)
            bent = np.tanh(product / cap)
            score, self.slope = cap * bent, 1 - bent * bent
        squares, self.terms = product**2, []
        if options.score is not None:
            made = options.score(score, positions, options.captures)
            score, self.terms = made.values, made.terms
            self.slope = self.slope * made.slope
            squares = squares + made.squares
        if bias is not None:
            score = score + bias.astype(kind)
        self.score = np.where(self.keep, score, -np.inf)
        self.size = np.where(self.keep, np.sqrt(squares + score**2), 0)
        # The error of a score is relative to its size, and that of its
        # exponential is as large as that of the score.
        scores = self.size[np.isfinite(self.size)]
        self.growth = 1 + float(scores.max(initial=0))


def attention(q, k, v, bias=None, options=None):
    """o = softmax(scale q k + bias, masked) v, max and sum of each row's
    exponentials. Returns a dictionary of these, one of sizes, and by how much
    an error of a score grows. A row that keeps nothing has o = 0, max = -inf
    and sum = 0."""
    with np.errstate(all="ignore"):
        s = _Scores(q, k, v, bias, options or Options())
        largest = np.max(s.score, axis=-1, initial=-np.inf)
        p = np.where(s.keep, np.exp(s.score - largest[..., None]), 0)
        total = p.sum(axis=-1)
        some = s.keep.any(axis=-1)
        p = np.where(s.keep, p / total[..., None], 0)
        o = np.where(some[..., None], _selected_product(p, s.keep, s.v), 0)
        size = np.sqrt(np.matmul(_finite(p)**2, _finite(s.v)**2))
    largest_size = np.max(s.size, axis=-1, initial=0)
    return ({"o": o, "max": largest, "sum": total},
            {"o": size, "max": largest_size, "sum": total}, s.growth)


def attention_grad(q, k, v, o, dout, largest, total, bias=None, options=None):
    """The gradients of q, k, v and bias, given what the forward pass gave.

    p = exp(score - max) / sum, dv = p dout, ds = p (dout v - delta) with delta
    = sum(dout o), which is the bias's gradient where the bias is not broadcast.
    """
    with np.errstate(all="ignore"):
        s = _Scores(q, k, v, bias, options or Options())
        kind = s.q.dtype
        o, dout, largest, total = (
            a.astype(kind) for a in (o, dout, largest, total))
        keep, turned = s.keep, np.swapaxes(s.keep, 2, 3)
        p = np.where(keep, np.exp(s.score - largest[..., None])
                     / total[..., None], 0)
        dp = np.matmul(dout, np.swapaxes(s.v, 2, 3))
        delta = np.sum(dout * o, axis=-1, keepdims=True)
        dbias = np.where(keep, p * (dp - delta), 0)
        ds = np.where(keep, s.scale * dbias * s.slope, 0)
        values = {
            "dq": _selected_product(ds, keep, s.k),
            "dk": _over_group(_selected_product(
                np.swapaxes(ds, 2, 3), turned, s.q), k.shape[1]),
            "dv": _over_group(_selected_product(
                np.swapaxes(p, 2, 3), turned, dout), k.shape[1]),
        }
        dp_size = np.sqrt(
            np.matmul(_finite(dout)**2, np.swapaxes(_finite(s.v), 2, 3)**2)
            + np.sum(_finite(dout * o)**2, axis=-1, keepdims=True))
        ds_size = _finite(p) * np.where(keep, dp_size, 0)
        scaled = (abs(s.scale) * ds_size)**2
        sizes = {
            "dq": np.sqrt(np.matmul(scaled, _finite(s.k)**2)),
            "dk": np.sqrt(_over_group(np.matmul(
                np.swapaxes(scaled, 2, 3), _finite(s.q)**2), k.shape[1])),
            "dv": np.sqrt(_over_group(np.matmul(
                np.swapaxes(_finite(p), 2, 3)**2, _finite(dout)**2),
                k.shape[1])),
        }
        if bias is not None:
            shape = bias.shape
            values["dbias"] = _reduced(dbias, shape)
            sizes["dbias"] = np.sqrt(_reduced(ds_size**2, shape))
        _add_captures(values, sizes, s, dbias, ds_size, options)
    return values, sizes, s.growth


def _add_captures(values, sizes, scores, dscore, dscore_size, options):
    """The gradients of captures: each term goes to the element it is of."""
    for name, array in (options.captures if options else {}).items():
        if not np.issubdtype(np.asarray(array).dtype, np.floating):
            continue
        total, squares = (np.zeros(np.shape(array), dscore.dtype)
                          for _ in range(2))
        for term in scores.terms:
            if term.capture != name:
                continue
            shape = scores.keep.shape
            keep = scores.keep
            parts = np.where(keep, dscore * term.slope, 0)[keep]
            # What is not finite has no size.
            of_size = _finite(np.where(keep, dscore_size * term.slope, 0))[keep]
            at = tuple(np.broadcast_to(i, shape)[keep] for i in
                       inside(term.indices, total.shape))
            np.add.at(total, at, parts if at else parts.sum())
            np.add.at(squares, at, of_size**2 if at else (of_size**2).sum())
        values[f"d{name}"], sizes[f"d{name}"] = total, np.sqrt(squares)


def _over_group(array, kv_heads):
    """Sums over the query heads that read the same head of k and v."""
    batch, heads, rows, depth = array.shape
    return array.reshape(batch, kv_heads, heads // max(kv_heads, 1), rows,
                         depth).sum(axis=2)


def _reduced(array, shape):
    """Sums over the first two dimensions where the shape has 1."""
    for axis in (0, 1):
        if shape[axis] == 1:
            array = array.sum(axis=axis, keepdims=True)
    return array


def _finite(array):
    return np.where(np.isfinite(array), array, 0)
