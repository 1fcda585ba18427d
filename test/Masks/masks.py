"""Compiles masks with the functions that say what they keep of boxes, asks
these, and compares with all positions of the boxes."""

import ctypes
import dataclasses
import itertools
import subprocess
from pathlib import Path

import numpy as np

_numbers = itertools.count()
EMPTY, PARTIAL, FULL = 0, 1, 2

_LOWERING = ("--test-pol-masks", "--arith-expand", "--convert-scf-to-cf",
             "--llvm-request-c-wrappers", "--convert-to-llvm",
             "--reconcile-unrealized-casts")


@dataclasses.dataclass
class Mask:
    """A function of a mask. text: its body. captures: of a name to a type.
    values: of a name to an array or a number."""

    name: str
    text: str
    captures: dict = dataclasses.field(default_factory=dict)
    values: dict = dataclasses.field(default_factory=dict)

    def function(self):
        captures = "".join(f", %{n}: {t}" for n, t in self.captures.items())
        return (f"func.func @{self.name}(%b: index, %h: index, %q: index, "
                f"%kv: index{captures}) -> i1 {{\n{self.text}\n}}\n")


@dataclasses.dataclass(frozen=True)
class Grid:
    """The positions of arrays: queries from `first`, keys from 0."""

    first: int
    queries: int
    keys: int

    def tiles(self, rows, columns):
        """The boxes of a grid of tiles, the last ones ragged."""
        ends = (self.first + self.queries, self.keys)
        return np.array([(i, min(i + rows, ends[0]), j, min(j + columns, ends[1]))
                         for i in range(self.first, ends[0], rows)
                         for j in range(0, ends[1], columns)], np.int64
                        ).reshape(-1, 4)


class Tools:
    """Where the tools are, and a folder to write to."""

    def __init__(self, opt, llvm_bin, folder):
        self.opt, self.llvm, self.folder = Path(opt), Path(llvm_bin), folder

    def run(self, command):
        done = subprocess.run([str(c) for c in command], capture_output=True,
                              text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}\nexited with "
                               f"{done.returncode}\n{done.stderr[:3000]}")
        return done.stdout

    def compile(self, masks, level=0):
        base = f"{self.folder}/masks-{next(_numbers)}"
        source, lowered, llvm, library = (
            f"{base}{s}" for s in (".mlir", ".low.mlir", ".ll", ".so"))
        Path(source).write_text("".join(m.function() for m in masks))
        self.run([self.opt, source, *_LOWERING, "-o", lowered])
        self.run([self.llvm / "mlir-translate", "--mlir-to-llvmir", lowered,
                  "-o", llvm])
        self.run([self.llvm / "clang", f"-O{level}", "-Wno-override-module",
                  "-shared", "-fPIC", llvm, "-o", library])
        return ctypes.CDLL(library)


class _Descriptor:
    """A memref of an array, by address."""

    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        if self.array.dtype == bool:
            self.array = self.array.astype(np.uint8)
        rank = self.array.ndim
        sizes = list(self.array.shape)
        strides = [s // self.array.itemsize for s in self.array.strides]
        fields = [self.array.ctypes.data] * 2 + [0] + sizes + strides
        self.words = (ctypes.c_int64 * (3 + 2 * rank))(*fields)

    def pointer(self):
        return ctypes.byref(self.words)


_SCALARS = {"index": ctypes.c_int64, "i64": ctypes.c_int64,
            "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8,
            "f32": ctypes.c_float, "f64": ctypes.c_double}


class Compiled:
    """One mask of a library."""

    def __init__(self, library, mask):
        self.library, self.mask = library, mask
        info = getattr(library, f"_mlir_ciface_{mask.name}_info")()
        self.is_full, self.is_interval, self.uses_batch, self.uses_head = (
            bool(info & 1 << i) for i in range(4))

    def _call(self, suffix, batch, head, arrays):
        function = getattr(self.library, f"_mlir_ciface_{self.mask.name}{suffix}")
        function.restype = None
        arguments, kept = [ctypes.c_int64(batch), ctypes.c_int64(head)], []
        for name, kind in self.mask.captures.items():
            value = self.mask.values[name]
            if kind in _SCALARS:
                arguments.append(_SCALARS[kind](value))
            else:
                kept.append(_Descriptor(value))
                arguments.append(kept[-1].pointer())
        kept += [_Descriptor(a) for a in arrays]
        arguments += [d.pointer() for d in kept[len(kept) - len(arrays):]]
        function(*arguments)
        return kept[-1].array

    def kept(self, grid, batch=0, head=0):
        """What is kept of all positions, by the mask itself."""
        queries = np.arange(grid.first, grid.first + grid.queries)
        rows = np.stack(np.meshgrid(queries, np.arange(grid.keys),
                                    indexing="ij"), -1).reshape(-1, 2)
        found = self._call("_kept", batch, head,
                           [rows, np.zeros(len(rows), np.int8)])
        return found.reshape(grid.queries, grid.keys).astype(bool)

    def answers(self, boxes, batch=0, head=0):
        """Of each box the class, the keys and the queries."""
        return self._call("_answers", batch, head,
                          [boxes, np.full((len(boxes), 5), -77, np.int64)])


def true_classes(kept, grid, boxes):
    """The classes of boxes, by counting."""
    counts = np.zeros((grid.queries + 1, grid.keys + 1), np.int64)
    counts[1:, 1:] = kept.cumsum(0).cumsum(1)
    q0, q1 = boxes[:, 0] - grid.first, boxes[:, 1] - grid.first
    k0, k1 = boxes[:, 2], boxes[:, 3]
    q1, k1 = np.maximum(q0, q1), np.maximum(k0, k1)
    some = counts[q1, k1] - counts[q0, k1] - counts[q1, k0] + counts[q0, k0]
    return np.where(some == 0, EMPTY,
                    np.where(some == (q1 - q0) * (k1 - k0), FULL, PARTIAL))


def _true_interval(kept, first):
    """The first and last of what is kept in any row, half open."""
    found = np.flatnonzero(kept)
    return (first + found[0], first + found[-1] + 1) if len(found) else None


def check_interval(what, got, kept, all_of, is_exact):
    """What is wrong with a begin and an end, or None. kept: of the positions
    `all_of`, a begin and an end."""
    begin, end = got
    true = _true_interval(kept, all_of[0])
    if end < begin:
        return f"{what} end before they begin: {got}"
    if begin == end and true is not None:
        return f"{what} are said to be none, but are {true}"
    if begin < all_of[0] or end > max(all_of):
        return f"{what} {got} are not among {all_of}"
    if true is None:
        return f"{what} {got} are none" if is_exact and begin != end else None
    if begin > true[0] or end < true[1]:
        return f"{what} {got} lack some of {true}"
    if is_exact and (begin, end) != true:
        return f"{what} {got} are not exactly {true}"
    return None


def check(compiled, grid, boxes, batch=0, head=0, exact=False, intervals=50):
    """Yields what is wrong with the answers of boxes. exact: classes have to be
    those that counting gives. intervals: how many boxes' keys and queries are
    looked at."""
    kept = compiled.kept(grid, batch, head)
    answers = compiled.answers(boxes, batch, head)
    true = true_classes(kept, grid, boxes)
    got = answers[:, 0]
    wrong = got != true if exact else (got != PARTIAL) & (got != true)
    for i in np.flatnonzero(wrong):
        yield f"box {boxes[i].tolist()}: class {got[i]}, but it is {true[i]}"
    step = max(1, len(boxes) // intervals)
    for box, answer in zip(boxes[::step].tolist(), answers[::step].tolist()):
        q0, q1, k0, k1 = box
        part = kept[q0 - grid.first:max(q0, q1) - grid.first, k0:max(k0, k1)]
        for what, found, some, bounds in (
                ("keys", answer[1:3], part.any(0), (k0, k1)),
                ("queries", answer[3:5], part.any(1), (q0, q1))):
            problem = check_interval(what, tuple(found), some, bounds,
                                     compiled.is_interval)
            if problem:
                yield f"box {box}: {problem}"


def exactness(compiled, grid, boxes):
    """How many boxes that are empty or full are said to be partial."""
    true = true_classes(compiled.kept(grid), grid, boxes)
    got = compiled.answers(boxes)[:, 0]
    return int(((got == PARTIAL) & (true != PARTIAL)).sum()), len(boxes)
