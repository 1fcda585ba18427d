"""Compiles modules to shared objects, and calls their entry points in place.

One module has many functions of dynamic shapes; each is called with many
arrays. Every array that a kernel sees lies in memory of its own, which begins
or ends at a page that may not be touched, and is a view of whatever strides the
function's type admits.
"""

import ctypes
import itertools
import mmap
import re
import subprocess
from pathlib import Path

import numpy as np

from setup import dtypes

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_PROT_NONE = 0


_numbers = itertools.count()


class Failed(RuntimeError):
    """A module did not compile, or a call returned an error."""


# ------------------------------------------------------------------------------
# Arrays
# ------------------------------------------------------------------------------


def guarded(size, at_end=True):
    """Bytes between two pages that may not be touched, at the end or at the
    beginning of what is between them."""
    pages = -(-size // _PAGE)
    memory = mmap.mmap(-1, (pages + 2) * _PAGE)
    raw = np.frombuffer(memory, np.uint8)
    address = raw.ctypes.data
    for page in (address, address + (pages + 1) * _PAGE):
        if _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE),
                          _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
    begin = _PAGE + (pages * _PAGE - size if at_end else 0)
    return raw[begin:begin + size]


class Array:
    """An array of an MLIR element type in memory of its own.

    layout: "plain", or one of `LAYOUTS`: which view of its memory it is. What
      lies between the elements of a view must stay what it was.
    """

    def __init__(self, values, dtype, layout="plain", at_end=True):
        values = np.asarray(values)
        stored = dtypes.encode(values, dtype)
        self.dtype = dtype
        shape, view_of = LAYOUTS[layout](stored.shape)
        kind = dtypes.STORED[dtype]
        raw = guarded(int(np.prod(shape)) * kind.itemsize, at_end)
        # Bytes that are a NaN in every float type.
        raw[:] = 0xFF
        self.memory = raw
        self.view = view_of(raw.view(kind).reshape(shape))
        assert self.view.shape == stored.shape
        self.view[...] = stored

    def values(self):
        return dtypes.decode(self.view.copy(), self.dtype)

    def bytes(self):
        return self.view.tobytes()

    def gaps_are_clean(self):
        """Whether all that the view leaves out is still what it was."""
        copy = self.memory.copy()
        kind = self.view.dtype
        # The same view of the copy.
        there = np.ndarray(self.view.shape, kind, copy.data,
                           self.view.ctypes.data - self.memory.ctypes.data,
                           self.view.strides) if self.view.size else None
        if there is not None:
            there.view(f"u{kind.itemsize}")[...] = 2**(8 * kind.itemsize) - 1
        return bool((copy == 0xFF).all())

    def descriptor(self):
        """MLIR's descriptor of a memref: two pointers, an offset in elements,
        extents and strides. A view that is not plain has an offset."""
        item = self.view.itemsize
        address = self.view.ctypes.data
        base = address
        if self.memory.size and self.view.size:
            base = self.memory.ctypes.data
        if self.view.flags.c_contiguous:
            base = address
        fields = [base, base, (address - base) // item, *self.view.shape,
                  *(s // item for s in self.view.strides)]
        return (ctypes.c_int64 * len(fields))(*fields)


def _plain(shape):
    return shape, lambda a: a


def _offset(shape):
    """A part in the middle of a larger array."""
    larger = tuple(d + 3 for d in shape)
    return larger, lambda a: a[(..., *(slice(1, 1 + d) for d in shape))]


def _strided(shape):
    """Every second or third element in all dimensions."""
    steps = [2 + i % 2 for i in range(len(shape))]
    larger = tuple(d * s for d, s in zip(shape, steps))
    return larger, lambda a: a[(..., *(slice(None, None, s) for s in steps))]


def _transposed(shape):
    return shape[::-1], lambda a: a.transpose()


def _swapped(shape):
    """The last two dimensions of a larger array, exchanged."""
    if len(shape) < 2:
        return _strided(shape)
    larger = shape[:-2] + (shape[-1], shape[-2] + 1)
    return larger, lambda a: np.swapaxes(a[..., :shape[-2]], -1, -2)


def _backwards(shape):
    """All dimensions from their end to their beginning."""
    return shape, lambda a: a[(..., *(slice(None, None, -1) for _ in shape))]


LAYOUTS = {"plain": _plain, "offset": _offset, "strided": _strided,
           "transposed": _transposed, "swapped": _swapped,
           "backwards": _backwards}


# ------------------------------------------------------------------------------
# Arenas
# ------------------------------------------------------------------------------


class _Arena(ctypes.Structure):
    """pol_arena of pol/Runtime/Arena.h."""

    _fields_ = [("ops", ctypes.c_void_p), ("observer", ctypes.c_void_p),
                ("observer_user", ctypes.c_void_p), ("base", ctypes.c_void_p),
                *((name, ctypes.c_int64) for name in (
                    "capacity", "alignment", "offset", "peak", "epoch"))]


class Arena:
    """An arena of so many bytes, a multiple of 256, which ends at a page that
    may not be touched. It is full of NaN."""

    def __init__(self, size):
        self.memory = guarded(size)
        self.memory[:] = 0xFF
        self._arena = _Arena()
        made = ctypes.CDLL(None).pol_arena_init(
            ctypes.byref(self._arena),
            ctypes.c_void_p(self.memory.ctypes.data), ctypes.c_int64(size),
            ctypes.c_int64(0))
        if made != 0:
            raise Failed(f"pol_arena_init returned {made}")

    offset = property(lambda self: self._arena.offset)

    def pointer(self):
        return ctypes.byref(self._arena)


# ------------------------------------------------------------------------------
# Modules
# ------------------------------------------------------------------------------


class _Error(ctypes.Structure):
    """pol_error of pol/Runtime/Error.h."""

    _fields_ = [("code", ctypes.c_int32), ("wanted", ctypes.c_int64),
                ("available", ctypes.c_int64), ("what", ctypes.c_char * 192),
                ("location", ctypes.c_char * 192)]


class Tools:
    """Where the tools are, and what modules are compiled with.

    expansion: "vector", for the machine that this runs on, or "linalg".
    small_caches: bytes of the caches of such a machine, so that what is meant
      for arrays that are larger is tested with small ones; 0 for its own.
    row_group: of that target, if it is not the machine's.
    """

    # Bytes that the first level of small caches has at most.
    _MOST_L1 = 4096

    def __init__(self, pol_opt, llvm_bin, runtime, openmp, folder,
                 expansion="vector", small_caches=0, row_group=None):
        self.pol_opt, self.llvm = pol_opt, Path(llvm_bin)
        # Without a name, modules keep the target that they have.
        cpu = "" if small_caches else "cpu=host "
        self.pipeline = f"--pol-to-llvm=openmp=true {cpu}expansion={expansion}"
        self.small_caches = small_caches
        self.target = self._small_target(row_group) if small_caches else None
        self.runtime, self.openmp = Path(runtime), Path(openmp)
        self.folder = Path(folder)
        if self.runtime.is_dir():
            self.runtime = self._compile_runtime(self.runtime)
        self._omp = ctypes.CDLL(str(self.openmp), mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(self.runtime), mode=ctypes.RTLD_GLOBAL)
        self.modules = 0

    def _small_target(self, row_group):
        """The attributes of a module."""
        done = subprocess.run(
            [str(self.pol_opt), "-", "--pol-set-target=cpu=host"],
            input="module {}", capture_output=True, text=True, check=True)
        line = done.stdout.splitlines()[0]
        target = line[line.index("{"):line.rindex("{")]
        target = re.sub(r"(l2|llc)_bytes = \d+",
                        rf"\1_bytes = {self.small_caches}", target)
        target = re.sub(r"l1_bytes = \d+", "l1_bytes = "
                        f"{min(self.small_caches, self._MOST_L1)}", target)
        if row_group is not None:
            target = re.sub(r", row_group = \d+", "", target)
            target = re.sub(r"(f16 = \w+)", rf"\1, row_group = {row_group}",
                            target)
        return target

    def set_threads(self, count):
        self._omp.omp_set_num_threads(count)

    def _compile_runtime(self, sources):
        """Of its sources, in lib/Runtime of the tree."""
        library = self.folder / "libpol_runtime.so"
        self.step("runtime", [
            self.llvm / "clang++", "-std=c++17", "-O1", "-shared", "-fPIC",
            "-I", sources.parents[1] / "include", "-o", library,
            *sorted(sources.glob("*.cpp"))])
        return library

    def step(self, name, command):
        done = subprocess.run([str(c) for c in command], capture_output=True,
                              text=True, check=False, timeout=600)
        if done.returncode != 0:
            raise Failed(f"{name}: {Path(command[0]).name} exited with "
                         f"{done.returncode}\n{done.stderr[:3000]}")

    def compile(self, name, text, level=2):
        """A module of that text, optimized to that level."""
        self.modules += 1
        # A name of its own: a file that is loaded must not be written again.
        base = self.folder / f"{name}-{next(_numbers)}"
        source, lowered, llvm, object_file = (
            base.with_suffix(s) for s in (".mlir", ".low.mlir", ".ll", ".so"))
        if self.target:
            text = f"module attributes {self.target} {{\n{text}\n}}\n"
        source.write_text(text)
        self.step(name, [self.pol_opt, source, self.pipeline, "-o", lowered])
        self.step(name, [self.llvm / "mlir-translate", "--mlir-to-llvmir",
                          lowered, "-o", llvm])
        self.step(name, [self.llvm / "clang", f"-O{level}", "-march=native",
                          "-Wno-override-module", "-shared", "-fPIC",
                          "-Wl,-Bsymbolic", llvm,
                          "-o", object_file, self.runtime, self.openmp, "-lm"])
        return Module(name, ctypes.CDLL(str(object_file)))


_SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double,
            "i32": ctypes.c_int32, "i64": ctypes.c_int64}


def scalar(value, element):
    """A number as an entry point takes it."""
    if element == "index":
        return int(value)
    return _SCALARS[element](np.asarray(value).item())


class Module:
    """A compiled module."""

    def __init__(self, name, library):
        self.name, self.library = name, library

    def call(self, function, arguments, results=()):
        """Calls an entry point. An argument is an `Array`, an `Arena`, what
        `scalar` gives, or an integer for an index or i64. results: the rank of
        each result; returns descriptors."""
        error = _Error()
        given = [ctypes.byref(error)]
        descriptors = [(ctypes.c_int64 * (3 + 2 * rank))() for rank in results]
        given += [ctypes.byref(d) for d in descriptors]
        # Descriptors have to live as long as the call.
        kept = []
        for argument in arguments:
            if isinstance(argument, Array):
                kept.append(argument.descriptor())
                given.append(ctypes.byref(kept[-1]))
            elif isinstance(argument, Arena):
                given.append(argument.pointer())
            elif isinstance(argument, tuple(_SCALARS.values())):
                given.append(argument)
            else:
                given.append(ctypes.c_int64(argument))
        status = getattr(self.library, f"pol_entry_{function}")(*given)
        if status != 0:
            raise Failed(f"{self.name}: {function} returned {status}: "
                         f"{error.what.decode()}, wanted {error.wanted}, "
                         f"available {error.available}, at "
                         f"{error.location.decode()}")
        return descriptors
