"""What pol's kernels compute, in float64: the one oracle of all tests.

Every function is the formula of the kernel's documentation, written down with
NumPy and nothing else, for arrays of any rank. None of it is derived from what
a lowering does: no blocks, no scaling, no order of sums.

An element type is named as in MLIR ("f16", "bf16", "f32", "f64"). NumPy has no
bf16: see dtypes.py for how its values are kept.
"""

import numpy as np

from dtypes import SMALLEST, round_to

# ------------------------------------------------------------------------------
# Tolerances
# ------------------------------------------------------------------------------

# The largest accepted error of a row, relative to the row's largest magnitude
# (see `row_error`), by the element type of the result.
#
# Kernels accumulate in f32 (f64 for f64 inputs), and add in blocks of blocks, so
# that an addend goes through a few hundred additions at most, however long the
# row. With unit roundoff u = 6e-8, a sum of squares is then off by some 10 u to
# 20 u, as roundings mostly cancel; the root halves that; the division, the root
# and three products add under 4 u. Users are promised 1e-6 for f32. f64 has
# u = 1.1e-16 and twice the number of units, so that no bad luck is a failure.
# Results in f16 and bf16 are f32 results that were rounded once more, by half a
# unit in the last place: 2^-11 and 2^-8.
TOLERANCE = {
    "f64": 2e-6 * 2.0**-29,
    "f32": 1e-6,
    "f16": 1e-6 + 2.0**-11,
    "bf16": 1e-6 + 2.0**-8,
}


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
    rounded = round_to(want, dtype)
    finite = np.isfinite(rounded)
    alike = np.where(np.isnan(rounded), np.isnan(got), got == rounded)
    if not np.where(finite, np.isfinite(got), alike).all():
        return np.inf
    # The widest type there is: differences of f64 are themselves rounded.
    exact = np.where(finite, want, 0).astype(np.longdouble)
    difference = np.abs(np.where(finite, got, 0).astype(np.longdouble) - exact)
    worst = difference.max(axis=-1)
    worst = np.where(worst <= 4 * SMALLEST[dtype], 0, worst)
    scale = np.abs(exact).max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(worst == 0, 0, worst / scale)
    return float(relative.max())


# ------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------


def _wide(array):
    """In float64, or wider for float64 inputs, whose squares may overflow."""
    if array.dtype == np.float64:
        return array.astype(np.longdouble)
    return array.astype(np.float64)


def rms_norm(x, w=None, eps=1.0e-5, offset=0.0):
    """y = x * rstd * (w + offset), rstd = 1 / sqrt(mean(x^2) + eps).

    Returns y and rstd. The mean of an empty row is 0.
    """
    x = _wide(x)
    length = max(x.shape[-1], 1)
    with np.errstate(all="ignore"):
        mean = np.sum(x * x, axis=-1) / length
        rstd = 1 / np.sqrt(mean + x.dtype.type(eps))
        y = x * rstd[..., np.newaxis]
        if w is not None:
            y = y * (w.astype(x.dtype) + offset)
    return y, rstd


def softmax(x):
    """exp(x - max) / sum, over the last dimension."""
    x = _wide(x)
    with np.errstate(all="ignore"):
        largest = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
        exps = np.exp(x - largest)
        return exps / np.sum(exps, axis=-1, keepdims=True)
