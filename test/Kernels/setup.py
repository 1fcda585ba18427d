"""Makes the oracle importable: `from setup import dtypes, oracle`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))

import dtypes  # noqa: E402,F401 (found through the line above)
import oracle  # noqa: E402,F401
