"""Every kernel as pol-run compiles and runs it, on files of arrays.

The other tests call what pol-opt lowers; this one takes the way of a user.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import rows
import workspace
from attention_cases import TYPES, Call, Extents, Static
from attention_suite import run_all
from driver import Failed
from rows import Rows
from setup import dtypes
from suite import Suite

FLOATS = ("f16", "bf16", "f32", "f64")
SHAPES = [(5, 257), (65, 3)]
MINIMUM = {"rms_norm": 16, "rms_norm_grad": 16, "layer_norm": 24,
           "layer_norm_grad": 24, "softmax": 8, "softmax_grad": 8,
           "attention": 24, "attention_grad": 32}

WAYS = (("--opt-level", "3", "--threads", "2"),
        ("--opt-level", "0", "--threads", "1"))


class PolRunModule:
    """Functions on tensors, each of which is run by itself."""

    def __init__(self, tools, text):
        self.tools = tools
        self.texts = {name: f"func.func @{name}({rest}" for name, rest in
                      re.findall(r"func\.func @(\w+)\((.*?^}\n)", text,
                                 re.DOTALL | re.MULTILINE)}

    def call(self, function, arguments, results=()):
        """The last arguments but scratch are destinations: their values are
        what comes out."""
        folder = self.tools.folder
        source = folder / "module.mlir"
        source.write_text(self.texts[function])
        command = [self.tools.tool, str(source), "--entry", function,
                   *WAYS[self.tools.runs % len(WAYS)]]
        self.tools.runs += 1
        for i, argument in enumerate(arguments):
            if isinstance(argument, int):
                command += ["--input", f"index={argument}"]
                continue
            path = folder / f"input-{i}.npy"
            dtypes.save(path, argument.values(), argument.dtype)
            command += ["--input", str(path)]
        outputs = [folder / f"output-{i}.npy" for i in range(len(results))]
        for path in outputs:
            command += ["--output", str(path)]
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, timeout=300)
        if done.returncode != 0:
            raise Failed(f"pol-run exited with {done.returncode}\n"
                         f"{done.stderr[:3000]}")
        return [dtypes.load(path) for path in outputs]


class PolRunTools:
    """In place of `driver.Tools`."""

    small_caches = 0

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder)
        self.modules, self.runs = 0, 0

    def set_threads(self, count):
        """pol-run has an option for it."""

    def compile(self, name, text, level=2):
        self.modules += 1
        return PolRunModule(self, text)


class PolRunSuite(Suite):
    """A suite whose results come from files."""

    def results_of(self, function, arrays, given):
        got = super().results_of(function, arrays, [])
        for name, (values, dtype) in zip(function.results(), given):
            if dtype != got[name].dtype:
                raise Failed(f"expected {name} of {got[name].dtype}, but got "
                             f"{dtype}")
            got[name].view[...] = dtypes.encode(values, dtype)
        return got


def row_kernels(suite):
    for op, case in ((f.__name__, getattr(rows, f"{f.__name__}_case"))
                     for f in rows.PARTS.values()):
        made = Rows(suite, op)
        for dtype in FLOATS:
            made.add(rows.all_operands(op, dtype), SHAPES, kind="tensor")
        made.run(case)


def attention_kernels(suite):
    extents = [Extents(2, 4, 2, 17, 19, 8, 5), Extents(1, 2, 1, 1, 65, 16, 16)]
    statics = [Static(types=types, bias=True, causal="bottom_right",
                      softcap=3.0, k_lengths="i32", kind="tensor")
               for types in TYPES if len(set(types)) == 1]
    statics.append(Static(causal="input_pos", window=4, q_lengths="i64",
                          kind="tensor"))
    for forward in (True, False):
        run_all(suite, [(s, [Call(suite, s, e, "bias [1,H]", position=3)
                             for e in extents]) for s in statics], forward)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pol-run", required=True, help="the tool")
    parser.add_argument("--pol-opt", required=True,
                        help="says what the machine is that it compiles for")
    options = parser.parse_args()
    begin = time.monotonic()
    workspace.use_target(options.pol_opt, "vector")
    with tempfile.TemporaryDirectory() as folder:
        suite = PolRunSuite(PolRunTools(options.pol_run, folder), seed=2)
        row_kernels(suite)
        attention_kernels(suite)
        good = suite.report(MINIMUM, time.monotonic() - begin)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
