#!/usr/bin/env python3
"""What run.py checks, against contenders that are right, and that are wrong in
ways that a kernel could be: those must be called wrong, and not be timed."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import cases
import check
from common import dtypes, oracle
from run import Entry
from worker import Problem

_ROWS = (64, 96)


def _right(case, inputs):
    """The outputs of a case, from the oracle, rounded."""
    wide = {n: dtypes.decode(a, case.dtype_of(n)) for n, a in inputs.items()}
    options = oracle.Options(causal="top_left" if case.causal else None)
    if case.kernel == "rms_norm":
        values = dict(zip(("y", "rstd"), oracle.rms_norm(*wide.values())))
    elif case.kernel == "rms_norm_grad":
        values, _ = oracle.rms_norm_grad(*wide.values())
    elif case.kernel == "attention":
        values, _, _ = oracle.attention(*wide.values(), None, options)
    else:
        values, _, _ = oracle.attention_grad(*wide.values(), None, options)
    return {n: np.ascontiguousarray(dtypes.encode(
        dtypes.round_to(values[n], dtype), dtype))
            for n, (_, dtype) in case.outputs().items()}


class _Fake:
    """A contender's process whose outputs are given."""

    def __init__(self, outputs, problem=None):
        self.outputs, self.problem = outputs, problem

    def request(self, name, *arguments):
        if name == "prepare":
            if self.problem:
                raise self.problem
            return "", 0.0
        assert name == "outputs"
        folder, indices = arguments
        found = {}
        for output, array in self.outputs.items():
            axis, places = indices[output]
            found[output] = bool(np.isnan(array).any())
            np.save(Path(folder) / f"out-{output}.npy",
                    array if places is None else np.take(array, places, axis))
        return found


def _with(outputs, name, change):
    made = {n: a.copy() for n, a in outputs.items()}
    change(made[name])
    return made


def _set(place, value):
    def change(array):
        array[place] = value
    return change


def _scale(place, factor):
    def change(array):
        array[place] = (array[place].astype(np.float32) * factor).astype(
            array.dtype)
    return change


def _broken(case, inputs, right):
    """Outputs that are wrong, by what is wrong with them."""
    made = {}
    for name in case.outputs():
        last = tuple(-1 for _ in right[name].shape)
        made[f"{name}: left as it was at the end"] = _with(
            right, name, _set(last, np.nan))
        made[f"{name}: zero"] = _with(right, name, _set(..., 0))
        made[f"{name}: one row off by 2%"] = _with(
            right, name, _scale(last[:1], 1.02))
    if case.kernel == "rms_norm_grad":
        x, dy, _, rstd = inputs.values()
        made["dweight: without the last row"] = _with(
            right, "dweight",
            lambda a: a.__isub__(dy[-1] * x[-1] * rstd[-1]))
    if case.kernel == "attention":
        made["heads in another order"] = _with(
            right, "o", lambda a: a.__setitem__(..., a[:, ::-1].copy()))
        made["with another mask"] = _right(
            cases.Case(case.kernel, case.dtype, case.shape, case.limit,
                       not case.causal), inputs)
    return made


def _checked(case, wants, name, outputs, problem=None):
    entry = Entry(name, _Fake(outputs, problem))
    with tempfile.TemporaryDirectory() as folder:
        entry.check(case, wants, folder)
    return entry


def main():
    heads = (1, 4, 4, 48, 48, 16)
    tried, failed = 0, []
    for case in (cases.Case("rms_norm", "f32", _ROWS, "copy"),
                 cases.Case("rms_norm_grad", "f32", _ROWS, "copy"),
                 cases.Case("attention", "f32", heads, "fma"),
                 cases.Case("attention", "f16", heads, "fma", True),
                 cases.Case("attention_grad", "f32", heads, "fma", True)):
        rng = np.random.default_rng(3)
        inputs = check.make_inputs(case, rng)
        wants = check.wanted(case, inputs, rng)
        right = _right(case, inputs)
        for name in ("pol", "peer"):
            tried += 1
            entry = _checked(case, wants, name, right)
            if not entry.runs():
                failed.append(f"{case.label()}: {name} is right, but got "
                              f"{entry.problem}")
            for what, outputs in _broken(case, inputs, right).items():
                tried += 1
                entry = _checked(case, wants, name, outputs)
                if entry.runs() or not entry.wrong:
                    failed.append(f"{case.label()}: {name} passed: {what}")
        # pol has to have all outputs; a peer may have the first alone.
        first = {k: right[k] for k in list(right)[:1]}
        tried += 3
        if _checked(case, wants, "pol", first).runs():
            failed.append(f"{case.label()}: pol passed without outputs")
        if not _checked(case, wants, "peer", first).runs():
            failed.append(f"{case.label()}: a peer needs all outputs")
        if _checked(case, wants, "peer", right,
                    Problem("Crash", "ended with -11", "")).runs():
            failed.append(f"{case.label()}: a crash passed")
    for text in failed:
        print(f"FAILED: {text}")
    print(f"{tried} tried, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
