#!/usr/bin/env python3
"""Checks results of pol-run against float64.

    check.py FUNCTION INPUT... RESULT...

FUNCTION is one of the examples': what its file says about its formula, eps and
the like holds here too. The files are .npy files: what goes in, in order, but
for shadows, which are overwritten; then what comes out.

    softmax          X Y
    softmax_grad     Y DY DX
    rms_norm         X W Y [RSTD]
    rms_norm_grad    X W RSTD DY DX DW
    layer_norm       X W B Y MEAN RSTD
    layer_norm_grad  X DY W B MEAN RSTD DX DW DB
    attention        Q K V LENGTHS O MAX SUM
    attention_grad   Q K V O DO LENGTHS MAX SUM DQ DK DV
    decode           Q K V LENGTHS O
    decode_paged     Q K V TABLE LENGTHS O
    training_step    X W K V TARGET O DX DW

The formulas are those of test/oracle, plain NumPy in float64. Prints the largest
error of each result relative to its largest value, and exits with 1 if that is
more than the element type allows.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "test" / "oracle"))

import dtypes  # noqa: E402 (found through the line above)
import oracle  # noqa: E402

# What each of them takes and gives is above. A function of the inputs returns
# results by name, and, if errors grow on the way, the sizes of what is added up
# for each of them and by how much they grow.


def softmax(x):
    return {"y": oracle.softmax(x)}, {}, 1


def softmax_grad(y, dy):
    return *oracle.softmax_grad(y, dy), 1


def rms_norm(x, w):
    y, rstd = oracle.rms_norm(x, w, eps=1.0e-5, offset=1.0)
    return {"y": y, "rstd": rstd}, {}, 1


def rms_norm_grad(x, w, rstd, dy):
    return *oracle.rms_norm_grad(x, dy, w, rstd, offset=1.0), 1


def layer_norm(x, w, b):
    y, mean, rstd, sizes = oracle.layer_norm(x, w, b, eps=1.0e-5)
    return {"y": y, "mean": mean, "rstd": rstd}, sizes, 1


def layer_norm_grad(x, dy, w, _, mean, rstd):
    return *oracle.layer_norm_grad(x, dy, w, mean, rstd), 1


def attention_options(lengths):
    return oracle.Options(causal="bottom_right", k_lengths=lengths)


def attention(q, k, v, lengths):
    return oracle.attention(q, k, v, options=attention_options(lengths))


def attention_grad(q, k, v, o, do, lengths, largest, total):
    return oracle.attention_grad(q, k, v, o, do, largest, total,
                                 options=attention_options(lengths))


def decode(q, k, v, lengths):
    return oracle.decode_attention(q, k, v, None, lengths,
                                   oracle.Options(causal="bottom_right"))


def decode_paged(q, k, v, table, lengths):
    return oracle.decode_attention(q, k, v, table, lengths,
                                   oracle.Options(causal="bottom_right"))


def training_step(x, w, k, v, target):
    """Four kernels in a row, each with an error of its own."""
    options = oracle.Options(causal="top_left")
    q, rstd = oracle.rms_norm(x, w)
    made, made_sizes, growth = oracle.attention(q, k, v, options=options)
    do = made["o"] - target
    middle, middle_sizes, _ = oracle.attention_grad(
        q, k, v, made["o"], do, made["max"], made["sum"], options=options)
    last, _ = oracle.rms_norm_grad(x, middle["dq"], w, rstd)
    _, sizes = oracle.rms_norm_grad(x, middle_sizes["dq"], w, rstd)
    return ({"o": made["o"], **last}, {"o": made_sizes["o"], **sizes},
            4 * growth)


# The number of inputs, and that of results, of which only one is a must.
FUNCTIONS = {softmax: (1, 1), softmax_grad: (2, 1), rms_norm: (2, 2),
             rms_norm_grad: (4, 2), layer_norm: (3, 3), layer_norm_grad: (6, 3),
             attention: (4, 3), attention_grad: (8, 3), decode: (4, 1),
             decode_paged: (5, 1), training_step: (5, 3)}


def check(title, name, got, want, size, allowed):
    """Prints one comparison; returns whether it is close enough."""
    if got.shape != want.shape:
        print(f"{title} {name}: expected the shape {want.shape}, "
              f"but got {got.shape}: FAIL")
        return False
    # A row that keeps no key has a maximum of -inf.
    finite = np.isfinite(want)
    off = np.where(finite | (got != want), np.abs(got - want), 0)
    scale = max(np.abs(np.where(finite, a, 0)).max() for a in (want, size))
    error = off.max() / scale
    # A NaN is no small number.
    good = bool(error <= allowed)
    print(f"{title} {name}: ‖{name} - ref‖∞ / ‖ref‖∞ = {error:.2e}, at most "
          f"{allowed:.0e} allowed: {'PASS' if good else 'FAIL'}")
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    named = {function.__name__: function for function in FUNCTIONS}
    parser.add_argument("function", choices=named)
    parser.add_argument("files", nargs="+", metavar="FILE.npy")
    options = parser.parse_args()
    function = named[options.function]
    inputs, results = FUNCTIONS[function]
    if not inputs < len(options.files) <= inputs + results:
        parser.error(f"expected {inputs} inputs and at most {results} results, "
                     f"but got {len(options.files)} files")
    files = [dtypes.load(path) for path in options.files]
    wanted, sizes, growth = function(*(values for values, _ in files[:inputs]))
    good = True
    for (got, dtype), name in zip(files[inputs:], wanted):
        want = wanted[name]
        good &= check(options.function, name, got, want, sizes.get(name, want),
                      growth * oracle.TOLERANCE[dtype])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
