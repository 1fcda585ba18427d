"""oneDNN on the CPU, as PyPI has it (`onednn`, `onednn-devel`): norms and
softmax, through onednn.cpp, which is compiled here.

PyPI's build runs its primitives as SYCL tasks with TBB's threads.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

from common import Prepared, Unsupported, dtypes, fill_with_nan

_EPS = 1e-5
# Numbers of arrays, from dnnl_types.h.
_SRC, _DST, _MEAN, _VARIANCE, _SCALE, _SHIFT = 1, 17, 49, 50, 51, 52
_DIFF_SRC, _DIFF_DST, _DIFF_SCALE, _DIFF_SHIFT = 129, 145, 255, 256
# In f32 whatever x is: with narrower ones the library has its reference alone.
_WEIGHTS = ("weight", "bias", "dweight", "dbias")
_ARRAYS = {
    "softmax": {"x": _SRC, "y": _DST},
    "softmax_grad": {"y": _DST, "dy": _DIFF_DST, "dx": _DIFF_SRC},
    "rms_norm": {"x": _SRC, "weight": _SCALE, "y": _DST, "rstd": _VARIANCE},
    "layer_norm": {"x": _SRC, "weight": _SCALE, "bias": _SHIFT, "y": _DST,
                   "mean": _MEAN, "rstd": _VARIANCE},
    "rms_norm_grad": {"x": _SRC, "dy": _DIFF_DST, "weight": _SCALE,
                      "rstd": _VARIANCE, "dx": _DIFF_SRC,
                      "dweight": _DIFF_SCALE},
    "layer_norm_grad": {"x": _SRC, "dy": _DIFF_DST, "weight": _SCALE,
                        "mean": _MEAN, "rstd": _VARIANCE, "dx": _DIFF_SRC,
                        "dweight": _DIFF_SCALE, "dbias": _DIFF_SHIFT},
}


class Contender:
    """The library, and the shim that calls it."""

    def __init__(self, _threads, options):
        self.version = metadata.version("onednn")
        metadata.version("onednn-devel")
        prefix = Path(sys.prefix)
        header = prefix / "include/oneapi/dnnl/dnnl.hpp"
        if not header.exists():
            raise ImportError(f"expected {header}")
        # Where the CPU is found as a device.
        os.environ["OCL_ICD_FILENAMES"] = str(prefix / "lib/libintelocl.so")
        self._folder = tempfile.TemporaryDirectory()
        shim = Path(self._folder.name) / "onednn.so"
        done = subprocess.run(
            [str(Path(options["llvm_bin"]) / "clang++"), "-std=c++17", "-O2",
             "-shared", "-fPIC", f"-I{prefix / 'include'}",
             str(Path(__file__).with_suffix(".cpp")), "-o", str(shim),
             f"-L{prefix / 'lib'}", "-ldnnl", "-Wl,--allow-shlib-undefined",
             # Also for what the library itself needs.
             f"-Wl,--disable-new-dtags,-rpath,{prefix / 'lib'}"],
            capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            raise ImportError(f"shim: {done.stderr[:200]}")
        self._lib = ctypes.CDLL(str(shim))
        text, size, pointer = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
        self._lib.onednn_make.restype = pointer
        self._lib.onednn_make.argtypes = [text, size, size, text, text, text,
                                          size]
        self._lib.onednn_implementation.restype = text
        self._lib.onednn_implementation.argtypes = [pointer]
        self._lib.onednn_array.restype = pointer
        self._lib.onednn_array.argtypes = [pointer, ctypes.c_int]
        self._lib.onednn_run.argtypes = [pointer]
        self._lib.onednn_free.argtypes = [pointer]

    def prepare(self, case, inputs):
        if case.kernel not in _ARRAYS:
            raise Unsupported("has no such primitive")
        why = ctypes.create_string_buffer(200)
        made = self._lib.onednn_make(
            case.kernel.encode(), *case.shape, case.dtype.encode(), b"f32",
            why, len(why))
        if not made:
            raise Unsupported(f"has none for this: {why.value.decode()}")
        handle = _Handle(self._lib, made)
        arrays = {}
        for name, number in _ARRAYS[case.kernel].items():
            shape, dtype = {**case.inputs(), **case.outputs()}[name]
            arrays[name] = _view(self._lib.onednn_array(made, number), shape,
                                 "f32" if name in _WEIGHTS else dtype)
            if name in inputs:
                value = inputs[name]
                if name == "rstd":
                    value = _variance(value)
                elif name in _WEIGHTS:
                    value = dtypes.decode(value, dtype)
                arrays[name][...] = value
        run = self._lib.onednn_run

        def call():
            if run(made):
                raise RuntimeError("a primitive failed")

        call.kept = handle
        outs = {n: arrays[n] for n in case.outputs() if n in arrays}

        def outputs():
            found = dict(outs)
            for name, array in outs.items():
                if name == "rstd":
                    found[name] = 1 / np.sqrt(array + np.float32(_EPS))
                elif name in _WEIGHTS:
                    found[name] = dtypes.encode(array, case.dtype)
            return found

        notes = [self._lib.onednn_implementation(made).decode()]
        if "rstd" in arrays:
            notes.append("variance for rstd")
        if "weight" in arrays and case.dtype != "f32":
            notes.append("weights in f32")
        return Prepared(call, outputs, lambda: fill_with_nan(outs.values()),
                        "; ".join(notes))


class _Handle:
    """A primitive and its arrays, until nobody has it."""

    def __init__(self, lib, made):
        self._lib, self._made = lib, made

    def __del__(self):
        self._lib.onednn_free(self._made)


def _variance(rstd):
    return (1 / rstd.astype(np.float64)**2 - _EPS).astype(np.float32)


def _view(address, shape, dtype):
    kind = dtypes.STORED[dtype]
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    return np.frombuffer(memory, kind).reshape(shape)
