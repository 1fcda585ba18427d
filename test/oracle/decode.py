"""Attention of queries at the end of a cache: each sequence by itself, as
attention over the keys that it has, and nothing else."""

import dataclasses

import numpy as np

from attention import Options, attention


def gathered(pool, table, length):
    """Keys or values [1, Hk, length, D] of one sequence: key t is row t mod P of
    page table[t // P]."""
    size = pool.shape[2]
    rows = [pool[table[t // size], :, t % size] for t in range(length)]
    empty = np.zeros((pool.shape[1], 0, pool.shape[3]), pool.dtype)
    return (np.stack(rows, axis=1) if rows else empty)[None]


def decode_attention(q, k, v, table=None, lengths=None, options=None):
    """What attention gives, sequence by sequence. With a table, k and v are
    pools of pages. `causal` is None or "bottom_right": of n keys and S queries,
    query s sees those up to n - S + s."""
    options = options or Options()
    parts = []
    for b in range(q.shape[0]):
        if table is None:
            length = k.shape[2] if lengths is None else int(lengths[b])
            keys, values = (a[b:b + 1, :, :length] for a in (k, v))
        else:
            keys, values = (gathered(a, table[b], int(lengths[b]))
                            for a in (k, v))
        parts.append(attention(q[b:b + 1], keys, values, None,
                               dataclasses.replace(options, k_lengths=None,
                                                   q_lengths=None)))
    if not parts:
        parts = [attention(q, *(np.zeros((0, a.shape[1], 0, a.shape[3]),
                                         a.dtype) for a in (k, v)),
                           None, options)]
    values, sizes = ({name: np.concatenate([part[i][name] for part in parts])
                      for name in ("o", "max", "sum")} for i in (0, 1))
    return values, sizes, max(growth for _, _, growth in parts)
