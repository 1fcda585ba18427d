"""Normalizations and softmax along the last dimension, and their gradients.

A gradient reads what the backward kernel reads: the checkpoints and results of
a forward pass are given, rounded as they are, and not computed again.

Gradients return a dictionary of results, and one of their sizes: the root of
the sum of squares of the terms that each element is the sum of, for
`errors.norm_errors`.
"""

import numpy as np


def wide(array):
    """In float64, or wider for float64 inputs, whose squares may overflow."""
    if array.dtype in (np.float64, np.longdouble):
        return array.astype(np.longdouble)
    return array.astype(np.float64)


def _length(x):
    """Of a row. The mean of an empty row is 0."""
    return max(x.shape[-1], 1)


def _mean(x):
    return np.sum(x, axis=-1, keepdims=True) / _length(x)


def _over_rows(x):
    """Sums over all leading dimensions."""
    return np.sum(x, axis=tuple(range(x.ndim - 1)))


def _rss(x):
    """The root of the sum of squares over all leading dimensions."""
    return np.sqrt(_over_rows(x * x))


def _rms(x):
    return np.sqrt(_mean(x * x))


# ------------------------------------------------------------------------------
# Forward
# ------------------------------------------------------------------------------


def rms_norm(x, w=None, eps=1.0e-5, offset=0.0):
    """y = x * rstd * (w + offset), rstd = 1 / sqrt(mean(x^2) + eps).

    Returns y and rstd. The mean of an empty row is 0.
    """
    x = wide(x)
    with np.errstate(all="ignore"):
        mean = np.sum(x * x, axis=-1) / _length(x)
        rstd = 1 / np.sqrt(mean + x.dtype.type(eps))
        y = x * rstd[..., np.newaxis]
        if w is not None:
            y = y * (w.astype(x.dtype) + offset)
    return y, rstd


def layer_norm(x, w=None, b=None, eps=1.0e-5):
    """y = (x - mean) * rstd * w + b, rstd = 1 / sqrt(mean((x - mean)^2) + eps).

    Returns y, mean and rstd, and their sizes.
    """
    x = wide(x)
    with np.errstate(all="ignore"):
        mean = _mean(x)
        centred = x - mean
        rstd = 1 / np.sqrt(_mean(centred * centred) + x.dtype.type(eps))
        y = centred * rstd
        size = (np.abs(x) + np.abs(mean)) * rstd
        if w is not None:
            y = y * w.astype(x.dtype)
            size = size * np.abs(w.astype(x.dtype))
        if b is not None:
            y = y + b.astype(x.dtype)
            size = size + np.abs(b.astype(x.dtype))
        sizes = {"y": size, "mean": _rms(x)[..., 0], "rstd": rstd[..., 0]}
    return y, mean[..., 0], rstd[..., 0], sizes


def softmax(x):
    """exp(x - max) / sum, over the last dimension."""
    x = wide(x)
    with np.errstate(all="ignore"):
        largest = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
        exps = np.exp(x - largest)
        return exps / np.sum(exps, axis=-1, keepdims=True)


# ------------------------------------------------------------------------------
# Gradients
# ------------------------------------------------------------------------------


def rms_norm_grad(x, dy, w, rstd, offset=0.0):
    """dx = rstd (dy g - rstd^2 x mean(dy g x)), g = w + offset or 1, and
    dw = sum of dy x rstd over all rows."""
    x = wide(x)
    dy, rstd = dy.astype(x.dtype), rstd.astype(x.dtype)[..., np.newaxis]
    with np.errstate(all="ignore"):
        g, g_size = x.dtype.type(1), x.dtype.type(1)
        if w is not None:
            g = w.astype(x.dtype) + offset
            g_size = np.abs(w.astype(x.dtype)) + abs(offset)
        normal = x * rstd
        dx = rstd * (dy * g - normal * _mean(dy * g * normal))
        term = dy * g_size
        size = np.abs(rstd) * np.sqrt(
            term**2 + (normal * _rms(term * normal))**2)
        values = {"dx": dx, "dweight": _over_rows(dy * normal)}
        sizes = {"dx": size, "dweight": _rss(dy * normal)}
    return values, sizes


def layer_norm_grad(x, dy, w, mean, rstd):
    """With n = (x - mean) rstd and g = dy w: dx = rstd (g - mean(g) -
    n mean(g n)), dw = sum of dy n, and db = sum of dy over all rows."""
    x = wide(x)
    dy = dy.astype(x.dtype)
    mean = mean.astype(x.dtype)[..., np.newaxis]
    rstd = rstd.astype(x.dtype)[..., np.newaxis]
    with np.errstate(all="ignore"):
        g = dy if w is None else dy * w.astype(x.dtype)
        normal = (x - mean) * rstd
        dx = rstd * (g - _mean(g) - normal * _mean(g * normal))
        # x - mean is rounded relative to what is subtracted.
        n_size = (np.abs(x) + np.abs(mean)) * np.abs(rstd)
        size = np.abs(rstd) * np.sqrt(
            g**2 + _rms(g)**2 + (n_size * _rms(g * n_size))**2)
        values = {"dx": dx, "dweight": _over_rows(dy * normal),
                  "dbias": _over_rows(dy)}
        sizes = {"dx": size, "dweight": _rss(dy * n_size), "dbias": _rss(dy)}
    return values, sizes


def softmax_grad(y, dy):
    """dx = y (dy - sum(dy y))."""
    y = wide(y)
    dy = dy.astype(y.dtype)
    with np.errstate(all="ignore"):
        dx = y * (dy - np.sum(dy * y, axis=-1, keepdims=True))
        size = np.abs(y) * np.sqrt(
            dy**2 + np.sum((dy * y)**2, axis=-1, keepdims=True))
    return {"dx": dx}, {"dx": size}
