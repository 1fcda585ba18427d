"""The memory of a transformer's training step (see transformer.py).

Its plan is at most 1.02 times its lower bound, the bytes that are live at once,
where shapes are known, and planning takes less than a second. Small ones compute the same bits in all
placements, under two patterns of undefined memory.

pol-run reports a plan after a run, which takes minutes for the large step: by
default it is a smaller one of as many layers, with --large the large one itself.
"""

import argparse
import ctypes
import json
import re
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np

import build
import execute
import transformer

SMALL = transformer.Shape(layers=2, batch=2, sequence=5, width=8, heads=2,
                          hidden=12)
MEDIUM = transformer.Shape(layers=12, batch=1, sequence=32, width=64, heads=4,
                           hidden=256)
LARGE = transformer.Shape(layers=12, batch=2, sequence=128, width=256, heads=4,
                          hidden=1024)
RATIO, SECONDS = 1.02, 1.0
PATTERNS = (0xFF, 0x3C)


def open_shape(shape):
    """The same with batch and sequence only known at run time."""
    return transformer.Shape(shape.layers, None, None, shape.width, shape.heads,
                             shape.hidden)


def extents(kind):
    return [int(e) for e in re.findall(r"(\d+)x", kind)]


def arguments(shape):
    """The extents of each array."""
    kinds = [shape.stream] * 2
    kinds += list(shape.weights().values()) * shape.layers
    return [extents(k) for k in kinds]


# ------------------------------------------------------------------------------
# The same bits everywhere
# ------------------------------------------------------------------------------


class Step:
    """A compiled training step of small extents."""

    def __init__(self, tools, libraries, style, dynamic):
        self.tools, self.libraries = tools, libraries
        self.style, self.dynamic = style, dynamic
        self.shape = open_shape(SMALL) if dynamic else SMALL
        self.name = f"{style}{', dynamic' if dynamic else ''}"
        rng = np.random.default_rng(4)
        self.inputs = [rng.standard_normal(e).astype(np.float32)
                       for e in arguments(SMALL)]
        weights = list(SMALL.weights().values()) * SMALL.layers
        self.ranks = [2, 2] + [len(extents(k)) for k in weights]

    def text(self, root):
        return transformer.module(self.shape, self.style).replace(
            "!pol.arena", root)

    def compile(self, placement):
        root = build.PLACEMENTS[placement].root
        path = self.tools.compile(self.text(root), f"training-{self.style}",
                                  placement, 1)
        return ctypes.CDLL(str(path))

    def footprint(self, library):
        function = getattr(library, "training_step_footprint", None)
        if function is None:
            return None
        function.restype = ctypes.c_int64
        sizes = [SMALL.batch, SMALL.sequence] * 2 if self.dynamic else []
        return function(*map(ctypes.c_int64, sizes))

    def call(self, library, space):
        """The results' bits."""
        error = execute.Error()
        results = [(ctypes.c_int64 * (3 + 2 * r))() for r in self.ranks]
        arrays = [a.copy() for a in self.inputs]
        descriptors = [execute.descriptor(a) for a in arrays]
        status = library.pol_entry_training_step(
            ctypes.byref(error), *map(ctypes.byref, results), space.pointer(),
            *map(ctypes.byref, descriptors))
        if status != execute.OK:
            raise build.Failed(f"{self.name}: status {status}, "
                               f"{error.what.decode()}, wanted {error.wanted}, "
                               f"available {error.available}")
        return [execute.result(r, "f32", rank)
                for r, rank in zip(results, self.ranks)]

    def space(self, placement, library, pattern):
        kind = build.PLACEMENTS[placement].space
        if kind == "heap":
            return execute.Heap(self.libraries, pattern)
        size = self.footprint(library) if kind == "arena" else 2**22
        return execute.Arena(self.libraries, size, pattern,
                             kind == "poisoned")

    def check(self):
        first, failures = None, []
        for placement in build.PLACEMENTS:
            library = self.compile(placement)
            if build.PLACEMENTS[placement].space == "arena" \
                    and self.footprint(library) is None:
                failures.append(f"{self.name}: {placement} has no footprint")
                continue
            for pattern in PATTERNS:
                space = self.space(placement, library, pattern)
                bits = self.call(library, space)
                fault = space.close()
                first = first or bits
                if bits != first or fault:
                    failures.append(f"{self.name}: {placement}, pattern "
                                    f"{pattern:#x}: other results, {fault}")
        values = np.frombuffer(first[0][1], np.float32)
        if not np.isfinite(values).all() or not values.any():
            failures.append(f"{self.name}: no numbers come out")
        print(f"{self.name}: {len(first)} results, the same bits in "
              f"{len(build.PLACEMENTS)} placements and {len(PATTERNS)} patterns"
              if not failures else "\n".join(failures))
        return failures


# ------------------------------------------------------------------------------
# The plan of a large one
# ------------------------------------------------------------------------------


def processor_seconds(tools, *arguments):
    """What pol-opt takes of a processor, whatever else runs on it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tools.run([tools.pol_opt, *arguments, "-o", "/dev/null"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def planning_seconds(tools, path):
    """What pol-plan-memory adds to that; best of three."""
    stages = [path, "--pol-describe-stage", "--pol-materialize-stage"]
    return (min(processor_seconds(tools, *stages, "--pol-plan-memory")
                for _ in range(3))
            - min(processor_seconds(tools, *stages) for _ in range(3)))


def plan_of(tools, pol_run, path, shape):
    """What pol-run reports of the arena, and how many buffers it has."""
    report = tools.folder / "plan.json"
    inputs = []
    for array in arguments(shape):
        inputs += ["--input",
                   "x".join(map(str, array)) + "xf32=const:0.01"]
    level = "0" if shape is MEDIUM else "1"
    tools.run([pol_run, path, "--entry", "training_step", *inputs, "--space",
               "arena", "--strict", "--threads", "1", "--opt-level", level,
               f"--memory-report={report}"], timeout=3000)
    read = json.loads(report.read_text())
    return read["spaces"][0], sum(b["space"] == read["spaces"][0]["name"]
                                  for b in read["buffers"])


def check_plan(tools, pol_run, style, dynamic, shape):
    name = (f"{shape.layers} layers of width {shape.width}, {style}"
            f"{', dynamic' if dynamic else ''}")
    path = tools.folder / f"training-{style}-{dynamic}.mlir"
    path.write_text(transformer.module(
        open_shape(LARGE) if dynamic else LARGE, style))
    seconds = planning_seconds(tools, path)
    path.write_text(transformer.module(
        open_shape(shape) if dynamic else shape, style))
    space, buffers = plan_of(tools, pol_run, path, shape)
    peak, bump, bound = (space.get(k) for k in ("peak", "bump", "lower_bound"))
    print(f"{name}: planned {peak}, lower bound {bound} ({peak / bound:.4f}), "
          f"bump {bump} ({peak / bump:.3f}), {buffers} buffers, planned in "
          f"{seconds:.2f} s")
    failures = []
    if space["mode"] != "planned":
        failures.append(f"{name}: the mode is {space['mode']}")
    # Of open shapes the order of buffers has to hold for all of them.
    if not dynamic and peak > RATIO * bound:
        failures.append(f"{name}: the plan is more than {RATIO} times the "
                        "lower bound")
    if peak > bump:
        failures.append(f"{name}: the plan is larger than bump's")
    if seconds >= SECONDS:
        failures.append(f"{name}: planning took {seconds} s")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("pol-opt", "pol-run", "llvm-bin", "runtime"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--folder")
    parser.add_argument("--large", action="store_true",
                        help="the plan of the large step, which then has to run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tools = build.Tools(options.pol_opt, options.llvm_bin, options.runtime,
                            Path(options.folder or temporary))
        libraries = execute.load(tools.runtime, tools.poison())
        failures = []
        for style in ("flat", "calls"):
            for dynamic in (False, True):
                failures += Step(tools, libraries, style, dynamic).check()
                failures += check_plan(tools, options.pol_run, style, dynamic,
                                       LARGE if options.large else MEDIUM)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
