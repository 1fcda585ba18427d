"""How far off a result is, and how far off it may be: stated once, here.

docs/Numerics.md says why each number is what it is.
"""

import numpy as np

from dtypes import SMALLEST, round_to

# Unit roundoff of the types that accumulate.
UNIT = {"f32": 2.0**-24, "f64": 2.0**-53}

# What accumulation may cost, relative to what is added up. Kernels add in
# blocks of blocks, so that an addend goes through a few hundred additions at
# most, however long the row. A sum of squares is then off by some 10 to 20
# units, as roundings mostly cancel; a root halves that; a division, a root and
# three products add under 4 units. Users are promised 1e-6 for f32. f64 has
# twice the number of units, so that no bad luck is a failure.
ACCUMULATION = {"f32": 1e-6, "f64": 2e-6 * 2.0**-29}

# What the one rounding of a result to a narrower type may cost: half a unit in
# the last place.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}

# The largest accepted error of a row, relative to the row's largest magnitude
# (see `row_error`), by the element type of the result. Results in f16 and bf16
# are f32 results that were rounded once more.
TOLERANCE = {
    "f64": ACCUMULATION["f64"],
    "f32": ACCUMULATION["f32"],
    "f16": ACCUMULATION["f32"] + ROUNDING["f16"],
    "bf16": ACCUMULATION["f32"] + ROUNDING["bf16"],
}

# Roundings near 0 are no finer than the smallest positive value, and factors
# like a weight magnify them: so many of them are no error.
NO_ERROR = 4


def accumulation(dtype):
    """The type that sums over inputs of a type are kept in."""
    return "f64" if dtype == "f64" else "f32"


def _differences(got, want, dtype):
    """Elementwise |got - want| and |want|; None where NaN or infinities of the
    rounded `want` are not what `got` has. Infinities count as 0."""
    rounded = round_to(want, dtype)
    finite = np.isfinite(rounded)
    alike = np.where(np.isnan(rounded), np.isnan(got), got == rounded)
    if not np.where(finite, np.isfinite(got), alike).all():
        return None
    # The widest type there is: differences of f64 are themselves rounded.
    exact = np.where(finite, want, 0).astype(np.longdouble)
    difference = np.abs(np.where(finite, got, 0).astype(np.longdouble) - exact)
    return difference, np.abs(exact)


def row_error(got, want, dtype):
    """The worst error of a row of `got`, relative to the row's largest value.

    Rows are along the last dimension; a row's error does not hide behind
    another row's size. NaN and infinities must be where the rounded `want` has
    them: if not, the error is infinite. Four times the smallest positive value
    is no error: roundings near 0 are no finer, and a weight magnifies them.
    """
    if got.shape != want.shape:
        return np.inf
    if want.size == 0:
        return 0.0
    found = _differences(got, want, dtype)
    if found is None:
        return np.inf
    difference, exact = found
    worst = difference.max(axis=-1)
    worst = np.where(worst <= NO_ERROR * SMALLEST[dtype], 0, worst)
    scale = exact.max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(worst == 0, 0, worst / scale)
    return float(relative.max())


# The two norms that errors are measured in, over the last dimensions.
_NORMS = (lambda a: np.sqrt((a * a).sum(axis=-1)), lambda a: a.max(axis=-1))


def norm_errors(got, want, dtype, accumulated, size=None, rank=None,
                growth=1.0):
    """How far off `got` is, in the 2-norm and in the maximum norm.

    Returns two numbers: the worse of |got - want| / max(|want|, |size|) in both
    norms, and the worse of |got - want| / allowed, which is good up to 1, with

        allowed = ROUNDING |want| + growth ACCUMULATION max(|want|, |size|).

    dtype: of the result; accumulated: the type that its sums are kept in. There
      is no ROUNDING where they are the same.
    size: what was added up to give `want`, as the root of the sum of squares of
      the terms; where terms cancel, their roundings do not.
    rank: norms are over so many of the last dimensions, each slice by itself:
      an error does not hide behind the size of another slice. None is all.
    growth: by what an error of the inputs' sums grows on the way.

    NaN and infinities must be where the rounded `want` has them, else the error
    is infinite. Where `want` and `size` are zero, so is `got`.
    """
    if got.shape != want.shape:
        return np.inf, np.inf
    if want.size == 0:
        return 0.0, 0.0
    found = _differences(got, want, dtype)
    if found is None:
        return np.inf, np.inf
    difference, exact = found
    difference = np.where(difference <= NO_ERROR * SMALLEST[dtype], 0,
                          difference)
    size = exact if size is None else np.maximum(_finite(size), exact)
    slices = want.shape[:want.ndim - (want.ndim if rank is None else rank)]
    flat = [a.reshape(slices + (-1,)) for a in (difference, exact, size)]
    rounding = 0.0 if dtype == accumulated else ROUNDING[dtype]
    relative, ratio = 0.0, 0.0
    for norm in _NORMS:
        off, whole, terms = (norm(a) for a in flat)
        allowed = (rounding * whole
                   + growth * ACCUMULATION[accumulated] * terms)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = max(ratio, float(np.where(off == 0, 0, off / allowed)
                                     .max(initial=0)))
            relative = max(relative, float(np.where(off == 0, 0, off / terms)
                                           .max(initial=0)))
    return relative, ratio


def _finite(array):
    array = np.asarray(array).astype(np.longdouble)
    return np.where(np.isfinite(array), np.abs(array), 0)
