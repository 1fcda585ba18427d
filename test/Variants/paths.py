"""Makes the oracle and the tests of kernels importable."""

import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parents[1]
for _folder in ("oracle", "Kernels"):
    sys.path.insert(0, str(_HERE / _folder))
