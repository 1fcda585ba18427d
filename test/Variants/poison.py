"""NaN and infinities where nothing is kept: they must reach nothing."""

import numpy as np

import paths  # noqa: F401
import oracle
from attention_cases import Extents
from driver import Failed
from suite import Tally
from variant import VariantCall

import cases

BAD = (np.nan, np.inf, -np.inf)


def keeps(call):
    """What is kept of each position, [B, H, S, T]."""
    e, options = call.extents, call.options()
    shape = (e.b, e.h, e.s, e.t)
    keep = oracle.kept(e.b, e.s, e.t, options)
    if options.mask:
        keep = keep & options.mask(positions_of(call), options.captures)
    return np.broadcast_to(keep, shape)


def positions_of(call):
    e = call.extents
    return oracle.Positions(e.b, e.h, e.s, e.t, call.position)


def of_keys(call, keep, reduce):
    """Of each key and head of keys, any or all of what queries keep."""
    e = call.extents
    shape = (e.b, e.hk, e.h // max(e.hk, 1), e.t)
    return reduce(reduce(keep, axis=2).reshape(shape), axis=2)


def read_elements(call, keep):
    """Which elements kept positions read of each array that the score alone
    captures, by the terms of the oracle. A mask reads its captures
    everywhere."""
    static, options = call.static, call.options()
    if static.score is None:
        return {}
    names = {c: n for n, c in static.captures().items()}
    wanted = {names[c] for c in static.score.captures if c.shape is not None}
    if static.mask:
        wanted -= {names[c] for c in static.mask.captures}
    with np.errstate(all="ignore"):
        made = options.score(np.ones(keep.shape), positions_of(call),
                             options.captures)
    read = {n: np.zeros(np.shape(call.inputs[n]), bool) for n in wanted}
    for term in made.terms:
        if term.capture in read:
            at = tuple(np.broadcast_to(i, keep.shape)[keep]
                       for i in term.indices)
            read[term.capture][at] = True
    return read


def poisoned(call, inputs, bad):
    """The inputs with a value in keys and values that no query keeps, in
    queries that keep nothing, in biases of masked positions, and in elements of
    captures that no kept position reads."""
    keep, made = keeps(call), dict(inputs)
    used = {"k": of_keys(call, keep, np.any)[..., None],
            "q": keep.any(axis=3)[..., None]}
    used.update(v=used["k"], dout=used["q"], **read_elements(call, keep))
    if "bias" in inputs:
        axes = tuple(a for a in (0, 1) if inputs["bias"].shape[a] == 1)
        used["bias"] = keep.any(axis=axes, keepdims=True)
    for name, where in used.items():
        if name in made:
            made[name] = np.where(where, made[name], bad).astype(
                made[name].dtype)
    return made


def with_seen(call, bad):
    """Puts a value into a key and its value that some queries keep and others
    do not; returns whether there is one."""
    keep = keeps(call)
    some = of_keys(call, keep, np.any) & ~of_keys(call, keep, np.all)
    if not some.any():
        return False
    at = tuple(np.argwhere(some)[0])
    for name in ("k", "v"):
        call.inputs[name] = call.inputs[name].copy()
        call.inputs[name][at] = bad
    return True


# ------------------------------------------------------------------------------
# Compiled
# ------------------------------------------------------------------------------


class Poison:
    """Compares what a function gives of clean and of poisoned inputs."""

    def __init__(self, suite, module, function):
        self.suite, self.module, self.function = suite, module, function

    def _bytes(self, inputs, shapes, label):
        got = self.suite.call(self.module, self.function, inputs, shapes, label,
                              threads=1)
        return {name: array.bytes() for name, array in got.items()}

    def unread(self, call, clean, shapes):
        """The same bytes, whatever there is where nothing is kept."""
        label = f"poison, {call.label()}"
        want = self._bytes(clean, shapes, label)
        for bad in BAD:
            got = self._bytes(poisoned(call, clean, bad), shapes,
                              f"{label}, {bad}")
            for name, found in got.items():
                tally = self.suite.tallies.setdefault(self.function.op, Tally())
                same = found == want[name]
                if not tally.add(0.0, 0.0 if same else np.inf):
                    self.suite.problem(f"{label}: {bad} where nothing is kept "
                                       f"reaches {name}")


def _extents(variant):
    return variant.fixed or Extents(2, 4, 2, 30, 75, 4, 3)


def run(suite):
    """Every second variant forward, every fourth one backward."""
    variants = [v for v in cases.every_variant() if v.mask or v.causal
                or v.k_lengths]
    for forward, some in ((True, variants[::2]), (False, variants[1::4])):
        for at in range(0, len(some), 6):
            made = [(v, (v.forward if forward else v.backward)(f"f{at + i}"))
                    for i, v in enumerate(some[at:at + 6])]
            modules = suite.compile(f"poison-{forward}-{at}",
                                    [f for _, f in made], level=1)
            for variant, function in made:
                if function.name in modules:
                    _run_one(suite, variant, function, modules[function.name])


def _run_one(suite, variant, function, module):
    def given(call):
        return (call.forward() if function.op == "attention"
                else call.backward(suite, function))

    call = VariantCall(suite, variant, _extents(variant), position=7)
    try:
        inputs, shapes, _ = given(call)
        Poison(suite, module, function).unread(call, inputs, shapes)
    except Failed as failure:
        suite.problem(f"poison, {call.label()}: {failure}")
    # What becomes of an infinity is the score's own affair.
    plain = variant.score is None and not variant.bias
    if variant.score and variant.score.name.startswith("constant"):
        return
    for bad in (np.nan, np.inf) if plain else (np.nan,):
        if with_seen(call, bad):
            inputs, shapes, wants = given(call)
            suite.check(module, function, inputs, shapes, wants,
                        f"{call.label()}, {bad} that some queries keep")
