"""No variant stores scores: no buffer has as many elements as there are pairs
of a query and a key, forward and backward.

pol-run says what was carved and what came from a heap; what is on the stack is
looked up in the code.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import cases
import paths  # noqa: F401
import dtypes
import workspace
from attention_cases import Extents
from suite import Suite
from variant import VariantCall

LENGTH = 200
AT_LEAST = 50
ELEMENT = {"float": 4, "double": 8, "i1": 1, "i8": 1, "i16": 2, "half": 2,
           "bfloat": 2, "i32": 4, "i64": 8, "ptr": 8}


def is_small(variant):
    """Whether no operand has S x T elements."""
    captured = [c.shape or () for c in variant.captures().values()]
    return not variant.bias and not any(
        "T" in shape and ("N" in shape or "S" in shape) for shape in captured)


def functions():
    """Of every second one of f32; every other one has static extents."""
    extents = Extents(1, 2, 1, LENGTH, LENGTH, 4, 4)
    suite = Suite(None, seed=7)
    small = [v for v in cases.open_variants()
             if v.types[0] == "f32" and is_small(v)][::2]
    for number, variant in enumerate(small):
        variant.kind = ("memref", "tensor")[number // 2 % 2]
        variant.fixed = extents if number % 2 else None
        call = VariantCall(suite, variant, extents)
        for name, function in (("forward", variant.forward("f")),
                               ("backward", variant.backward("f"))):
            inputs, shapes, _ = (call.forward() if name == "forward"
                                 else call.backward(suite, function))
            yield f"{variant.name}, {name}", function, inputs, shapes


def inputs_of(folder, function, inputs, shapes):
    """Options of pol-run."""
    for name in function.parameters():
        element = function.elements[name]
        if function.is_scalar(name):
            yield from ("--input", f"{element}={np.asarray(inputs[name])}")
            continue
        value = inputs.get(name, np.zeros(
            shapes.get(function.like(name), ())))
        path = folder / f"{name}.npy"
        dtypes.save(path, np.asarray(value), element)
        yield from ("--input", str(path))


def run(command, text=None):
    done = subprocess.run([str(c) for c in command], input=text,
                          capture_output=True, text=True, check=False,
                          timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name} exited with "
                           f"{done.returncode}\n{done.stderr[:2000]}")
    return done.stdout


def large_on_stack(llvm):
    """Allocas of LLVM IR that are large, or of no known size."""
    for line in llvm.splitlines():
        found = re.search(r"= alloca (\[(\d+) x (\w+)\]|\{.*\}|\w+)"
                          r"(?:, i64 ([^,]+))?", line)
        if not found or found[1].startswith("{"):
            continue
        if found[4] and not found[4].isdigit():
            yield line.strip()
            continue
        count = int(found[2] or 1) * int(found[4] or 1)
        if count * ELEMENT.get(found[3] or found[1], 8) >= LENGTH * LENGTH:
            yield line.strip()


def check(options, name, function, inputs, shapes):
    """Says what is wrong with a function, or nothing; and its largest
    buffer."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, report = folder / "f.mlir", folder / "report.json"
        source.write_text(function.text())
        try:
            run([options.pol_run, source, "--entry", "f", "--threads", "2",
                 "--opt-level", "0",
                 f"--memory-report={report}",
                 *inputs_of(folder, function, inputs, shapes)])
            llvm = run([pathlib.Path(options.llvm_bin) / "mlir-translate",
                        "--mlir-to-llvmir"],
                       run([options.pol_opt, source, "--pol-to-llvm"]))
        except RuntimeError as error:
            return f"{name}: {error}\n{function.text()}", 0
        buffers = json.loads(report.read_text())["buffers"]
    largest = max((b["bytes"] for b in buffers), default=0)
    # As bytes: whatever their elements are, so many are no S x T.
    if largest >= LENGTH * LENGTH:
        return f"{name}: a buffer of {largest} bytes: {buffers}", largest
    large = list(large_on_stack(llvm))
    if large:
        return f"{name}: on the stack: {large}", largest
    return None, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pol-run", required=True)
    parser.add_argument("--pol-opt", required=True)
    parser.add_argument("--llvm-bin", required=True)
    options = parser.parse_args()
    workspace.use_target(options.pol_opt, "vector")
    # Copies: options of pol-run name files.
    every = list(functions())
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        found = list(pool.map(lambda one: check(options, *one), every))
    problems = [wrong for wrong, _ in found if wrong]
    for text in problems[:20]:
        print(f"FAILED: {text}")
    print(f"{len(every)} functions, {len(problems)} problems, the largest "
          f"buffer has {max(size for _, size in found)} bytes")
    if len(every) < AT_LEAST:
        print(f"FAILED: expected {AT_LEAST} functions or more")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
