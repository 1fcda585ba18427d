#!/usr/bin/env python3
"""Checks a result of pol-run against float64.

    check.py softmax X Y
    check.py rms_norm X W Y [RSTD]

X, W, Y and RSTD are .npy files: what went in and what came out. The formulas
are those of test/oracle/oracle.py, plain NumPy in float64; what rms_norm.mlir
has for eps and offset is 1e-5 and 1. Prints the largest error relative to the
largest value, and exits with 1 if that is more than the element type allows.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "test" / "oracle"))

import dtypes  # noqa: E402 (found through the line above)
import oracle  # noqa: E402


def load(paths):
    return [dtypes.load(path)[0] for path in paths]


def read_softmax(files):
    x, y = load(files)
    return [("y", y, oracle.softmax(x))]


def read_rms_norm(files):
    x, w, *got = load(files)
    want = oracle.rms_norm(x, w, eps=1.0e-5, offset=1.0)
    return list(zip(("y", "rstd"), got, want))


def check(kernel, name, got, want, allowed):
    """Prints one comparison; returns whether it is close enough."""
    if got.shape != want.shape:
        print(f"{kernel} {name}: expected the shape {want.shape}, "
              f"but got {got.shape}: FAIL")
        return False
    error = np.abs(got - want).max() / np.abs(want).max()
    # A NaN is no small number.
    good = bool(error <= allowed)
    print(f"{kernel} {name}: ‖{name} - ref‖∞ / ‖ref‖∞ = {error:.2e}, at most "
          f"{allowed:.0e} allowed: {'PASS' if good else 'FAIL'}")
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    kernels = {"softmax": (read_softmax, (2,)), "rms_norm": (read_rms_norm,
                                                            (3, 4))}
    parser.add_argument("kernel", choices=kernels)
    parser.add_argument("files", nargs="+", metavar="FILE.npy")
    options = parser.parse_args()
    read, counts = kernels[options.kernel]
    if len(options.files) not in counts:
        parser.error(f"expected {' or '.join(map(str, counts))} files, but "
                     f"got {len(options.files)}")
    allowed = oracle.TOLERANCE[dtypes.load(options.files[0])[1]]
    good = [check(options.kernel, name, got, want, allowed)
            for name, got, want in read(options.files)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
