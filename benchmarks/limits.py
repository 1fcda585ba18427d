"""What the machine can do at best, as a contender among the others: limits.c,
compiled for this machine, on arrays of the case's own size."""

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

from common import empty

_FLAGS = ["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-builtin",
          "-ffp-contract=fast", "-fopenmp", "-shared", "-fPIC"]
_TRIPS = 1 << 19
# Of arrays that are smaller than half of this, many repeats are one call.
_REPEATED = 1 << 25
# A measurement takes at least so long.
_SECONDS = 2e-3

NAMES = {"fma": "f32 multiply-adds", "copy": "copy",
         "nt_copy": "non-temporal copy", "read": "read"}


class Limits:
    """Rates of operations or bytes a second."""

    def __init__(self, threads, options):
        self.threads = threads
        self._folder = tempfile.TemporaryDirectory()
        library = Path(self._folder.name) / "limits.so"
        source = Path(__file__).with_name("limits.c")
        llvm = Path(options["llvm_bin"])
        flags = list(_FLAGS)
        if not _takes(llvm, "-mprefer-vector-width=512"):
            flags.remove("-mprefer-vector-width=512")
        subprocess.run([str(llvm / "clang"), *flags, str(source), "-o",
                        str(library), f"-L{Path(options['openmp']).parent}",
                        f"-Wl,-rpath,{Path(options['openmp']).parent}"],
                       check=True, timeout=120)
        self._lib = ctypes.CDLL(str(library))
        size, count = ctypes.c_int64, ctypes.c_int
        pointer = ctypes.c_void_p
        for name, result, types in (
                ("fma", ctypes.c_float, (size, count)),
                ("fma_flops", size, (size, count)),
                ("copy", None, (pointer, pointer, size, count, size)),
                ("copy_nontemporal", None, (pointer, pointer, size, count, size)),
                ("read", ctypes.c_float, (pointer, size, count, size))):
            function = getattr(self._lib, f"limits_{name}")
            function.restype, function.argtypes = result, types
        self._arrays, self._size, self._repeats = None, 0, 1

    def prepare(self, total):
        """Arrays for `total` bytes of traffic, all written before."""
        unit = 512 * self.threads
        self._size = max(total // 2 // unit, 1) * unit
        self._arrays = None
        self._arrays = [empty((self._size // 4,), "f32") for _ in range(2)]
        for array in self._arrays:
            array[...] = 1
        self._repeats = max(1, _REPEATED // (2 * self._size))

    def measure(self, name):
        """A rate, of calls that take long enough."""
        first, second = (array.ctypes.data for array in self._arrays)
        # Half of the bytes are read and half are written; of `read`, both
        # arrays are read.
        rest = (self._size, self.threads, self._repeats)
        moved = 2 * self._size * self._repeats
        call, amount = {
            "fma": (lambda: self._lib.limits_fma(_TRIPS, self.threads),
                    self._lib.limits_fma_flops(_TRIPS, self.threads)),
            "copy": (lambda: self._lib.limits_copy(second, first, *rest),
                     moved),
            "nt_copy": (lambda: self._lib.limits_copy_nontemporal(
                second, first, *rest), moved),
            "read": (lambda: (self._lib.limits_read(first, *rest),
                              self._lib.limits_read(second, *rest)), moved),
        }[name]
        call()
        count, begin = 0, time.perf_counter()
        while True:
            call()
            count += 1
            spent = time.perf_counter() - begin
            if spent > _SECONDS:
                return amount * count / spent


def _takes(llvm, flag):
    """Whether clang has a flag for this machine."""
    done = subprocess.run(
        [str(llvm / "clang"), "-Werror", flag, "-x", "c", "-fsyntax-only",
         "/dev/null"], capture_output=True, check=False, timeout=60)
    return done.returncode == 0
