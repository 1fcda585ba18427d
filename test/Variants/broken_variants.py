"""Breaks a stand-in for the ops in many ways, and sees that the suite fails;
and that it passes where nothing is broken.

The stand-in is NumPy, and nothing is compiled: this shows that what the suite
expects is sharp enough.
"""

import dataclasses
import sys

import numpy as np

import paths  # noqa: F401
import oracle
import variant_suite
from stand_in import Correct, StandInSuite, options_of
from variant import VariantFunction


def numpy_options(function, v):
    """The oracle's options of a call."""
    options = options_of(function, v)
    if not isinstance(function, VariantFunction):
        return options
    captured = {n: np.asarray(v[n]) for n in function.captures}
    return dataclasses.replace(options, **function.variant.options(captured))


def compute(function, v, options):
    if function.op == "attention":
        return oracle.attention(v["q"], v["k"], v["v"], v.get("bias"),
                                options)[0]
    return oracle.attention_grad(
        *(v[n] for n in ("q", "k", "v", "o", "dout", "max", "sum")),
        v.get("bias"), options)[0]


class Variants(Correct):
    """What the ops do. options, made: change what they are told and give."""

    def options(self, function, options):
        return options

    def made(self, function, values, made):
        return made

    def compute(self, function, values):
        options = self.options(function, numpy_options(function, values))
        return self.made(function, values, compute(function, values, options))


def _moved(positions, **changed):
    """Positions, some of them others."""
    made = oracle.Positions(*positions.shape, 0, positions.kind)
    for name in ("b", "h", "q", "kv"):
        setattr(made, name, getattr(positions, name))
    for name, value in changed.items():
        setattr(made, name, value)
    return made


def moves(*what, **how):
    """Parts of a variant that see other positions. what: mask, score; how: the
    new values of a name, of the positions."""
    def options(self, function, options):
        changed = {}
        for part in what:
            usual = getattr(options, part)
            if usual is None:
                continue

            def other(*given, usual=usual):
                *first, positions, captures = given
                return usual(*first, _moved(positions, **{
                    n: of(positions) for n, of in how.items()}), captures)
            changed[part] = other
        return dataclasses.replace(options, **changed)
    return {"options": options}


def drops(**changed):
    """Options that are ignored."""
    return {"options": lambda self, function, options:
            dataclasses.replace(options, **changed)}


def rescored(change):
    """Another thing than what the score gives."""
    def options(self, function, options):
        if options.score is None:
            return options

        def score(s, positions, captures):
            return change(options.score(s, positions, captures))
        return dataclasses.replace(options, score=score)
    return {"options": options}


def gradients(change):
    """Other gradients of captures."""
    def made(self, function, values, made):
        for name in (n for n in made if n.startswith("dc")):
            made[name] = change(function, values, name, made[name])
        return made
    return {"made": made}


def _leaks(self, function, values, made):
    """What masked keys hold is multiplied by 0."""
    if function.op == "attention":
        made["o"] = made["o"] + 0 * np.sum(values["v"])
    elif "dv" in made:
        made["dv"] = made["dv"] + 0 * np.sum(values["dout"])
    return made


def _leaks_captures(self, function, values, made):
    """And of captures."""
    for name in function.captures:
        value = np.asarray(values[name])
        if value.dtype.kind == "f" and f"d{name}" in made:
            made[f"d{name}"] = made[f"d{name}"] + 0 * value
    return made


def _masked_rows(self, function, values, made):
    """Rows without keys are NaN."""
    if function.op == "attention":
        made["o"] = np.where(made["sum"][..., None] == 0, np.nan, made["o"])
    return made


# By the part that should fail.
BROKEN = {
    "the mask is ignored": ("forward", drops(mask=None)),
    "the score is ignored": ("forward", drops(score=None)),
    "lengths are ignored": ("forward", drops(k_lengths=None, q_lengths=None)),
    "causal is ignored": ("forward", drops(causal=None, window=None)),
    "the cap is ignored": ("forward", drops(softcap=None)),
    "the mask does not know input_pos": ("forward", moves(
        "mask", q=lambda p: p.q - p.q.flat[0] if p.q.size else p.q)),
    "the score does not know input_pos": ("forward", moves(
        "score", q=lambda p: p.q - p.q.flat[0] if p.q.size else p.q)),
    "the mask sees the head of keys": ("forward", moves(
        "mask", h=lambda p: p.h // 2)),
    "the score sees the head of keys": ("forward", moves(
        "score", h=lambda p: p.h // 2)),
    "the mask has one batch": ("forward", moves("mask", b=lambda p: 0 * p.b)),
    "the score has one batch": ("forward", moves("score", b=lambda p: 0 * p.b)),
    "keys begin anew in each tile": ("forward", moves(
        "mask", "score", kv=lambda p: p.kv % 64)),
    "queries begin anew in each tile": ("forward", moves(
        "mask", "score", q=lambda p: p.q % 64)),
    "the score's slope is forgotten": ("backward", rescored(
        lambda e: dataclasses.replace(e, slope=np.ones_like(e.slope)))),
    "a second load has no gradient": ("backward", rescored(
        lambda e: dataclasses.replace(e, terms=list(
            {t.capture: t for t in e.terms}.values())))),
    "captures have no gradient": ("backward", gradients(
        lambda f, v, n, g: 0 * g)),
    "a capture's gradient is scaled": ("backward", gradients(
        lambda f, v, n, g: g * (f.variant.scale or 0.5))),
    "one head has a capture's gradient": ("backward", gradients(
        lambda f, v, n, g: g / max(v["q"].shape[1], 1))),
    "masked keys are multiplied": ("poison", {"made": _leaks}),
    "masked captures are multiplied": ("poison", {"made": _leaks_captures}),
    "rows without keys are NaN": ("forward", {"made": _masked_rows}),
}

class Found(Exception):
    """A part failed, as it should."""


def fails(kernel, part):
    """The first problem of a part, or nothing."""
    suite = StandInSuite(kernel)

    def problem(text):
        raise Found(text)
    suite.problem = problem
    try:
        variant_suite.PARTS[part](suite)
    except Found as found:
        return str(found)
    return None


def main():
    good = True
    jobs = [("nothing", part, {}) for part in variant_suite.COMPARED]
    jobs += [(name, *broken) for name, broken in BROKEN.items()]
    for name, part, steps in jobs:
        found = fails(type("Kernel", (Variants,), steps)(), part)
        if bool(found) != bool(steps):
            good = False
            print(f"FAILED: {name}: {part} says {found or 'nothing'}")
        else:
            print(f"{name}: {part} {'fails' if found else 'passes'}",
                  flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
