"""Formulas of cases in JAX, for the peers that compile them."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

_EPS = 1e-5


def typed(array, dtype):
    """An array as JAX knows its type."""
    return array.view(ml_dtypes.bfloat16) if dtype == "bf16" else array


def stored(array, dtype):
    return array.view(np.uint16) if dtype == "bf16" else array


def _wide(*arrays):
    return [a.astype(jnp.float32) for a in arrays]


def _rms_norm(case, x, weight):
    wide, g = _wide(x, weight)
    rstd = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1) + _EPS)
    return (wide * rstd[:, None] * g).astype(x.dtype), rstd


def _layer_norm(case, x, weight, bias):
    wide, g, b = _wide(x, weight, bias)
    mean = jnp.mean(wide, axis=-1)
    centred = wide - mean[:, None]
    rstd = jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1) + _EPS)
    return (centred * rstd[:, None] * g + b).astype(x.dtype), mean, rstd


def _softmax(case, x):
    return (jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(x.dtype),)


def _rms_norm_grad(case, x, dy, weight, rstd):
    wide, grad, g = _wide(x, dy, weight)
    normal = wide * rstd[:, None]
    mean = jnp.mean(grad * g * normal, axis=-1, keepdims=True)
    dx = rstd[:, None] * (grad * g - normal * mean)
    return (dx.astype(x.dtype),
            jnp.sum(grad * normal, axis=0).astype(weight.dtype))


def _layer_norm_grad(case, x, dy, weight, mean, rstd):
    wide, grad, w = _wide(x, dy, weight)
    normal = (wide - mean[:, None]) * rstd[:, None]
    g = grad * w
    dx = rstd[:, None] * (g - jnp.mean(g, axis=-1, keepdims=True) - normal
                          * jnp.mean(g * normal, axis=-1, keepdims=True))
    return (dx.astype(x.dtype),
            jnp.sum(grad * normal, axis=0).astype(weight.dtype),
            jnp.sum(grad, axis=0).astype(weight.dtype))


def _softmax_grad(case, y, dy):
    wide, grad = _wide(y, dy)
    dx = wide * (grad - jnp.sum(grad * wide, axis=-1, keepdims=True))
    return (dx.astype(y.dtype),)


def _scores(case, q, k):
    s = jnp.einsum("bhsd,bhtd->bhst", q, k,
                   preferred_element_type=jnp.float32) / np.sqrt(q.shape[-1])
    if case.causal:
        keep = jnp.tril(jnp.ones(s.shape[-2:], bool))
        s = jnp.where(keep, s, -jnp.inf)
    return s


def _attention(case, q, k, v):
    s = _scores(case, q, k)
    largest = jnp.max(s, axis=-1)
    e = jnp.exp(s - largest[..., None])
    total = jnp.sum(e, axis=-1)
    o = jnp.einsum("bhst,bhtd->bhsd", e.astype(v.dtype), v,
                   preferred_element_type=jnp.float32)
    return (o / total[..., None]).astype(q.dtype), largest, total


def _attention_grad(case, q, k, v, o, dout, largest, total):
    p = jnp.exp(_scores(case, q, k) - largest[..., None]) / total[..., None]
    delta = jnp.sum(dout.astype(jnp.float32) * o.astype(jnp.float32), axis=-1,
                    keepdims=True)
    dp = jnp.einsum("bhsd,bhtd->bhst", dout, v,
                    preferred_element_type=jnp.float32)
    ds = (p * (dp - delta) / np.sqrt(q.shape[-1])).astype(q.dtype)
    p = p.astype(q.dtype)
    return tuple(jnp.einsum(rule, a, b, preferred_element_type=jnp.float32
                            ).astype(q.dtype)
                 for rule, a, b in (("bhst,bhtd->bhsd", ds, k),
                                    ("bhst,bhsd->bhtd", ds, q),
                                    ("bhst,bhsd->bhtd", p, dout)))


def _decode_attention(case, q, k, v):
    """Query heads of a group become rows: they see the same keys."""
    b, h, hk, s, _, d = case.shape
    o = _attention(case, q.reshape(b, hk, h // hk * s, d), k, v)[0]
    return (o.reshape(b, h, s, d),)


def of(case):
    """A function of the case's inputs, in order, to its outputs."""
    formula = {"rms_norm": _rms_norm, "layer_norm": _layer_norm,
               "softmax": _softmax, "rms_norm_grad": _rms_norm_grad,
               "layer_norm_grad": _layer_norm_grad,
               "softmax_grad": _softmax_grad, "attention": _attention,
               "attention_grad": _attention_grad,
               "decode_attention": _decode_attention}[case.kernel]

    def function(*given):
        return formula(case, *given)

    return function
