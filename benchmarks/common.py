"""What the parts of the benchmarks share: the oracle, arrays, peers' interface.

An array of a case is a NumPy array of what memory holds of its element type:
for bf16, which NumPy does not have, that is its bits.
"""

import dataclasses
import mmap
import os
import sys
from pathlib import Path
from typing import Callable

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "Kernels"), str(ROOT / "test" / "oracle")]

import dtypes  # noqa: E402,F401 (found through the line above)
import oracle  # noqa: E402,F401

_HUGE = 2 * 1024 * 1024


class Unsupported(Exception):
    """A contender does not have this case; the text says why."""


@dataclasses.dataclass
class Prepared:
    """A case as a contender runs it.

    call: computes once, and returns when all is written.
    outputs: the outputs of the last call by name, as arrays; a name that is
      missing is an output that the contender does not have.
    poison: fills all outputs with NaN, where they are the caller's.
    note: what differs from what the others do.
    """

    call: Callable
    outputs: Callable
    poison: Callable = lambda: None
    note: str = ""


def empty(shape, dtype):
    """An array in pages of its own, in huge ones where the system has them:
    what every contender that takes its arrays from outside gets."""
    kind = dtypes.STORED[dtype]
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = mmap.mmap(-1, max(size, 1) + _HUGE,
                       flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            pass  # A kernel without huge pages.
    raw = np.frombuffer(memory, np.uint8)
    begin = -raw.ctypes.data % _HUGE
    array = raw[begin:begin + size].view(kind).reshape(shape)
    array.view(np.uint8)[...] = 0  # Touches every page.
    return array


def copied(array, dtype):
    mine = empty(array.shape, dtype)
    mine[...] = array
    return mine


def fill_with_nan(arrays):
    """Bytes of ones are a NaN in every float type."""
    for array in arrays:
        array.reshape(-1).view(np.uint8)[...] = 0xFF


def has_nan(array, dtype):
    """Whether any element is NaN, in pieces that fit caches."""
    flat = array.reshape(-1)
    for begin in range(0, flat.size, 1 << 20):
        piece = flat[begin:begin + (1 << 20)]
        if dtype == "bf16":
            found = ((piece & 0x7FFF) > 0x7F80).any()
        else:
            found = np.isnan(piece).any()
        if found:
            return True
    return False


def last_level_cache():
    """Its size in bytes, as the system tells it."""
    base = Path("/sys/devices/system/cpu/cpu0/cache")
    sizes = []
    for index in sorted(base.glob("index*")):
        kind = (index / "type").read_text().strip()
        size = (index / "size").read_text().strip()
        if kind != "Instruction" and size.endswith("K"):
            sizes.append(int(size[:-1]) * 1024)
    return max(sizes, default=32 * 1024 * 1024)


def cpu_model():
    """Its name, and what tells CPUs of one name apart."""
    found = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    except OSError:
        return "unknown"
    return (f"{found.get('model name', 'unknown')} (family "
            f"{found.get('cpu family', '?')}, model {found.get('model', '?')})")


def set_threads(threads):
    """For libraries that are loaded later: as many CPUs as threads, which is
    what those that cannot be told go by, and threads that stop spinning before
    it is another contender's turn (`SETTLE_SECONDS`)."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[:threads])
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["KMP_BLOCKTIME"] = "20"
    # Threads that wait give their CPU away only where there are too few: in a
    # virtual machine, that may take longer than a kernel.
    os.environ["KMP_USE_YIELD"] = "2"


# Longer than any library's threads wait for work actively.
SETTLE_SECONDS = 0.03
