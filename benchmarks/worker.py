"""A contender in a process of its own, which does what it is told.

Libraries bring thread pools and OpenMP runtimes that do not get along in one
process; one that crashes is gone alone. The parent knows a contender as a
`Process`, whose requests are the methods of `_Worker`.
"""

import ctypes
import gc
import importlib
import multiprocessing
import os
import signal
import time
import traceback
from pathlib import Path

import numpy as np

# A sample of calls takes at least so long, that the clock's does not count.
_SAMPLE_SECONDS = 300e-6


# For those that allocate: memory that they have freed stays theirs, and is in
# huge pages, as our arrays are. Read by glibc when a process begins.
_MALLOC = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:"
           f"glibc.malloc.trim_threshold={1 << 40}")


class Problem(RuntimeError):
    """What went wrong in a contender."""


class _Worker:
    """What a process does; see `Process`."""

    def __init__(self, name, threads, options):
        import common  # pylint: disable=import-outside-toplevel
        common.set_threads(threads)
        module = importlib.import_module(
            name if name in ("pol", "limits") else f"peers.{name}")
        kind = module.Limits if name == "limits" else module.Contender
        self.contender = kind(threads, options)
        self.prepared, self.case, self.calls = None, None, 1

    def version(self):
        return self.contender.version

    def prepare(self, case, folder):
        """From files with the inputs; returns a note and the seconds of the first
        call."""
        self.prepared = None
        self.case = case
        inputs = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r")
                  for name in case.inputs()}
        self.prepared = self.contender.prepare(case, inputs)
        self.prepared.poison()
        return self.prepared.note, self._seconds()

    def outputs(self, folder, indices):
        """Files with the outputs of the last call, or parts of them; returns
        for each output whether it has a NaN."""
        import common  # pylint: disable=import-outside-toplevel
        found = {}
        for name, array in self.prepared.outputs().items():
            axis, places = indices[name]
            shape, dtype = self.case.outputs()[name]
            if array.shape != shape:
                raise Problem(f"expected {name} to be {shape}, but got "
                              f"{array.shape}")
            found[name] = common.has_nan(array, dtype)
            part = array if places is None else np.take(array, places, axis)
            np.save(Path(folder) / f"out-{name}.npy", part)
        return found

    def calibrate(self, tries):
        """Seconds of a call; sets how many of them make a sample."""
        # Allocators may touch pages for a second time.
        once = min(self._seconds() for _ in range(tries))
        if once < _SAMPLE_SECONDS:
            for _ in range(20):
                self.prepared.call()
            begin = time.perf_counter()
            for _ in range(20):
                self.prepared.call()
            once = (time.perf_counter() - begin) / 20
        self.calls = max(1, int(_SAMPLE_SECONDS / max(once, 1e-7)) + 1
                         if once < _SAMPLE_SECONDS else 1)
        return once

    def _seconds(self):
        begin = time.perf_counter()
        self.prepared.call()
        return time.perf_counter() - begin

    def measure(self, samples, warm):
        """Seconds of a call, so many times, each the mean of a sample's."""
        call, calls = self.prepared.call, self.calls
        for _ in range(warm * calls):
            call()
        found = []
        for _ in range(samples):
            begin = time.perf_counter_ns()
            for _ in range(calls):
                call()
            found.append((time.perf_counter_ns() - begin) / calls / 1e9)
        return found

    def drop(self):
        """Frees all that a case has, and what malloc keeps of it."""
        self.prepared = None
        gc.collect()
        try:
            ctypes.CDLL(None).malloc_trim(0)
        except AttributeError:
            pass  # No glibc.

    def prepare_limits(self, total):
        self.contender.prepare(total)

    def measure_limit(self, name):
        return self.contender.measure(name)


def _serve(connection, name, threads, options):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = None
    while True:
        try:
            request, arguments = connection.recv()
        except EOFError:
            return
        try:
            if request == "start":
                worker = _Worker(name, threads, options)
                answer = None
            else:
                answer = getattr(worker, request)(*arguments)
            connection.send((True, answer))
        # Whatever a library raises is an answer.
        except BaseException as error:  # pylint: disable=broad-except
            kind = type(error).__name__
            text = "".join(traceback.format_exception(error))
            connection.send((False, (kind, str(error).strip(), text)))


class Process:
    """A contender's process, started anew when it crashed."""

    def __init__(self, name, threads, options):
        self.name, self._given = name, (name, threads, options)
        self._process = self._connection = None

    def request(self, name, *arguments, timeout=600):
        """Raises `Problem`, whose first argument is the kind of error."""
        if self._process is None:
            self._start()
        return self._ask(name, arguments, timeout)

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        os.environ.setdefault("GLIBC_TUNABLES", _MALLOC)
        self._process = context.Process(
            target=_serve, args=(theirs, *self._given), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._ask("start", (), 300)
        except Problem:
            self.stop()
            raise

    def _ask(self, name, arguments, timeout):
        try:
            self._connection.send((name, arguments))
            if not self._connection.poll(timeout):
                self.stop()
                raise Problem("Timeout", f"no answer in {timeout:.0f} s", "")
            good, answer = self._connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join(10)
            code = self._process.exitcode
            self.stop()
            raise Problem("Crash", f"ended with {code}", "") from None
        if not good:
            raise Problem(*answer)
        return answer

    def drop(self):
        """Frees the arrays of a case, if the process is there."""
        if self._process is not None:
            self._ask("drop", (), 60)

    def stop(self):
        if self._process is not None:
            self._connection.close()
            self._process.join(5)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._process = self._connection = None
