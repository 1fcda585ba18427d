"""Calls functions on arrays, compares with the oracle, and counts."""

import argparse
import dataclasses
import itertools
import mmap
import os
import signal
import sys
import tempfile
import time
import traceback

import numpy as np

import workspace
from driver import LAYOUTS, Array, Failed, Tools, scalar
from ops import BACKWARD
from setup import dtypes, oracle


@dataclasses.dataclass
class Want:
    """What a destination should hold afterwards; see `oracle.norm_errors`."""

    values: np.ndarray
    size: object = None
    rank: int = None
    growth: float = 1.0


@dataclasses.dataclass
class Tally:
    """Comparisons of one kind, and the worst of them."""

    count: int = 0
    failed: int = 0
    relative: float = 0.0
    ratio: float = 0.0
    by_type: dict = dataclasses.field(default_factory=dict)

    def add(self, relative, ratio, dtype="f64"):
        self.count += 1
        self.by_type[dtype] = max(self.by_type.get(dtype, 0.0), ratio)
        # Written so that a NaN fails.
        good = ratio <= 1
        self.failed += not good
        self.relative = max(self.relative, relative)
        self.ratio = max(self.ratio, ratio)
        return good


class Suite:
    """Everything that one test compares."""

    def __init__(self, tools, seed):
        self.tools = tools
        self.random = np.random.RandomState(seed)
        self.tallies = {}
        self.pairs = {}
        self.problems = []
        self.compiled = {}
        # What is called, for whom it crashes.
        self.log = lambda label, shapes: None
        self.calls = 0

    # --------------------------------------------------------------------------
    # Values
    # --------------------------------------------------------------------------

    def values(self, shape, dtype, scale=1.0, mean=0.0):
        """Normally distributed values that the type has."""
        return dtypes.round_to(
            self.random.standard_normal(shape) * scale + mean, dtype)

    def choose(self, choices):
        return choices[self.random.randint(len(choices))]

    # --------------------------------------------------------------------------
    # Calls
    # --------------------------------------------------------------------------

    def problem(self, text):
        self.problems.append(text)

    def compile(self, name, functions, level=2):
        """A module of the functions. One that does not compile is a problem,
        and then each of its functions is tried by itself."""
        if not functions:
            return {}
        try:
            module = self.tools.compile(
                name, "\n".join(f.text() for f in functions), level)
            return {f.name: module for f in functions}
        except Failed as failure:
            if len(functions) == 1:
                self.problem(f"{failure}\n{functions[0].text()}")
                return {}
        modules = {}
        for function in functions:
            modules.update(self.compile(f"{name}-{function.name}", [function],
                                        level))
        return modules

    def call(self, module, function, inputs, shapes, label, threads=None):
        """Calls a function on fresh arrays; returns its destinations.

        inputs: values of what is read, and of destinations that are read too;
          an integer is a scalar.
        shapes: of destinations and scratch, which are full of NaN.
        """
        self.calls += 1
        arrays = {}
        for name in function.parameters():
            # What a kernel works in is a whole block of memory.
            is_block = name == "workspace"
            layout = "plain"
            if function.kind == "strided" and not is_block:
                layout = self.choose(list(LAYOUTS))
            element = function.elements[name]
            at_end = is_block or bool(self.random.randint(4))
            if name in inputs:
                value = inputs[name]
                if function.is_scalar(name):
                    arrays[name] = scalar(value, element)
                    continue
            else:
                value = np.full(shapes[function.like(name)], np.nan)
            arrays[name] = Array(value, element, layout, at_end)
        written = function.written()
        before = {name: array.memory.tobytes() for name, array
                  in arrays.items() if isinstance(array, Array)}
        self.tools.set_threads(threads or 1 + self.calls % 2)
        results = ()
        if function.kind == "tensor":
            results = [function.rank(n) for n in function.results()]
        self.log(label, {name: array.view.shape for name, array
                         in arrays.items() if isinstance(array, Array)})
        descriptors = module.call(
            function.name, [*function.spaces(shapes), *arrays.values()],
            results)
        for name, array in arrays.items():
            if not isinstance(array, Array):
                continue
            if name in written:
                if not array.gaps_are_clean():
                    self.problem(f"{label}: {name} was written outside")
            elif array.memory.tobytes() != before[name]:
                self.problem(f"{label}: {name} is an input, and was written")
        return self.results_of(function, arrays, descriptors)

    def results_of(self, function, arrays, given):
        """The arrays that a call wrote. A function on tensors gives
        descriptors: its results lie in their destinations, if it has them."""
        got = {}
        for i, name in enumerate(function.results()):
            array = arrays.get(function.alias.get(name, name))
            if array is None:
                got[name] = function.found(name, given[i])
                continue
            got[name] = array
            if (i < len(given) and array.view.size
                    and given[i][1] != array.view.ctypes.data):
                self.problem(f"{function.op}, {function.name}: the result "
                             f"{name} is not in its destination")
        return got

    def compare(self, function, got, wants, label, accumulated, tags=()):
        """Compares destinations with what they should hold."""
        kernel = function.op
        for name, want in wants.items():
            array = got[name]
            relative, ratio = oracle.norm_errors(
                array.values(), want.values, array.dtype, accumulated,
                want.size, want.rank, want.growth)
            tally = self.tallies.setdefault(kernel, Tally())
            if not tally.add(relative, ratio, array.dtype):
                self.problem(f"{label}: {name} ({array.dtype}) is off by "
                             f"{relative:.3g}, {ratio:.3g} of what is allowed")
            for pair in itertools.combinations(sorted(tags), 2):
                key = (kernel, *pair)
                self.pairs[key] = self.pairs.get(key, 0) + 1

    def check(self, module, function, inputs, shapes, wants, label, tags=()):
        """Calls and compares; an error of the call is a problem."""
        label = f"{function.op} {function.name} {function.kind}: {label}"
        try:
            got = self.call(module, function, inputs, shapes, label)
        except Failed as failure:
            self.problem(f"{label}: {failure}")
            return None
        first = function.elements[function.operands()[0]]
        self.compare(function, got, wants, label, oracle.accumulation(first),
                     tags)
        return got

    # --------------------------------------------------------------------------
    # Report
    # --------------------------------------------------------------------------

    def report(self, minimum, seconds):
        """Prints what was compared; returns whether all is well.

        minimum: comparisons that there must be of each kernel.
        """
        print(f"{'kernel':<16} {'direction':<9} {'comparisons':>11} "
              f"{'worst error':>11}  of what is allowed")
        for kernel, least in minimum.items():
            tally = self.tallies.get(kernel, Tally())
            direction = "backward" if kernel in BACKWARD else "forward"
            print(f"{kernel:<16} {direction:<9} {tally.count:>11} "
                  f"{tally.relative:>11.2e}  "
                  + ", ".join(f"{dtype} {ratio:.2f}" for dtype, ratio
                              in sorted(tally.by_type.items()))
                  + ("  FAILED" if tally.failed else ""))
            if tally.count < least:
                self.problem(f"{kernel}: expected {least} comparisons or more, "
                             f"but got {tally.count}")
        for text in self.problems[:30]:
            print(f"FAILED: {text}")
        if len(self.problems) > 30:
            print(f"... and {len(self.problems) - 30} more")
        total = sum(tally.count for tally in self.tallies.values())
        print(f"{total} comparisons in {self.calls} calls of "
              f"{self.tools.modules} modules, {len(self.problems)} problems, "
              f"{seconds:.0f} s")
        return not self.problems


def arguments(description):
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pol-opt", required=True, help="the tool")
    parser.add_argument("--llvm-bin", required=True,
                        help="the folder of mlir-translate and clang")
    parser.add_argument("--runtime", required=True,
                        help="pol's runtime, a shared library")
    parser.add_argument("--openmp", required=True,
                        help="LLVM's OpenMP, a shared library")
    parser.add_argument("--expansion", choices=("vector", "linalg"),
                        default="vector", help="how kernels are expanded")
    parser.add_argument("--small-caches", type=int, default=0, metavar="BYTES",
                        help="compile for caches that arrays do not fit")
    parser.add_argument("--row-group", type=int, metavar="ROWS",
                        help="with small caches: how many rows that go past "
                             "them are best read side by side")
    parser.add_argument("--keep", help="a folder for modules, kept")
    parser.add_argument("--verbose", action="store_true",
                        help="print what is called, before it is")
    parser.add_argument("parts", nargs="*", help="what to run")
    return parser


def run(description, parts):
    """The main function of a test. parts: functions by name, which take a
    `Suite` and return the minimum of comparisons of each kernel. Each part is a
    process of its own: a kernel that crashes does not end the others."""
    options = arguments(description).parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in options.parts or list(parts):
            called = mmap.mmap(-1, LOG_BYTES)
            child = os.fork()
            if child == 0:
                # Leaves by itself in any case, and not through the parent's
                # code.
                status = 2
                try:
                    status = not run_part(options, folder, name, parts[name],
                                          called)
                except BaseException:  # pylint: disable=broad-except
                    traceback.print_exc()
                finally:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            good &= status == 0
            if status < 0:
                print(f"FAILED: {name}: {signal.Signals(-status).name} in "
                      f"{called[:].rstrip(bytes(1)).decode()}", flush=True)
    return 0 if good else 1


LOG_BYTES = 4096


def run_part(options, folder, name, part, called):
    begin = time.monotonic()
    tools = Tools(options.pol_opt, options.llvm_bin, options.runtime,
                  options.openmp, options.keep or folder, options.expansion,
                  options.small_caches, options.row_group)
    workspace.use_target(options.pol_opt, options.expansion)
    suite = Suite(tools, seed=1)

    def log(label, shapes):
        text = f"{label}, shapes {shapes}".encode()[:LOG_BYTES]
        called[:] = text.ljust(LOG_BYTES, bytes(1))
        if options.verbose:
            print(f"{label}, shapes {shapes}", flush=True)

    suite.log = log
    minimum = part(suite)
    print(f"--- {name}")
    return suite.report(minimum, time.monotonic() - begin)
