"""How much attention's workers work in, for the target that the tools have."""

import re
import subprocess

_GRAD_KEYS, _SUMMED_KEYS = 72, 288
_ALIGNMENT = 64

# Without a target, the reference expansion works in nothing.
_target = None


def use_target(pol_opt, expansion):
    """Asks the tool what the machine is that kernels are compiled for."""
    global _target  # pylint: disable=global-statement
    _target = None
    if expansion == "linalg":
        return
    done = subprocess.run([str(pol_opt), "-", "--pol-set-target=cpu=host"],
                          input="module {}", capture_output=True, text=True,
                          check=True)
    _target = {name: int(value) for name, value in
               re.findall(r"(\w+) = (\d+)", done.stdout)}


def _tile():
    """What a register tile of the target is: vectors of queries, and rows."""
    if _target["vector_registers"] < 32:
        return 2, 6
    return (4, 4) if _target["vector_bits"] >= 512 else (3, 8)


def _keys():
    """Of a tile of scores."""
    return 128 if _target["l1_bytes"] >= 48 * 1024 else 64


def _up(value, multiple):
    return -(-value // multiple) * multiple


def _shape(lines, others=0):
    """Lines are as long as a block of queries, which the function is given."""
    if _target is None:
        return (0, 0)
    vectors, rows = _tile()
    queries = vectors * _target["vector_bits"] // 32
    return (_target["max_workers"],
            _up(lines(rows) * queries + others, _ALIGNMENT))


def shape(depth, value_depth):
    """Of `workspace`."""
    return _shape(lambda rows: depth + 2 * _up(value_depth, rows)
                  + _up(_keys(), rows))


def grad_shape(depth, value_depth, keys):
    """Of that of the gradients."""
    return _shape(lambda rows: 2 * depth + value_depth + _up(depth, rows)
                  + 2 * _up(min(_GRAD_KEYS, keys), rows),
                  3 * min(_SUMMED_KEYS, keys) * (depth + value_depth))
