"""Attention with scores and masks, forward and backward, against the oracle.

`forward` and `backward` call every variant on several shapes, some of which
cross tiles and are ragged, and some of which have an extent of 0 or 1.
`differences` compares compiled gradients with central differences of the
oracle's loss, for every fourth variant; `all-differences`, for all. `poison`
puts NaN and infinities where nothing is kept, and where some queries keep a key
and others do not. `short-forms` asks for the same bits of an attribute and of
the region that says the same, `packed` of a sequence among others and alone.
`parse` compiles nothing: it asks pol-opt whether it reads all of these
functions.
"""

import sys

import numpy as np

import cases
import packed as packing
import paths  # noqa: F401
import poison as poisons
import short_forms
import suite as suites
from attention_cases import BIAS_FORMS, Extents
from attention_suite import run_all
from driver import Failed
from oracle_test import STEP, differences
from suite import Tally
from variant import VariantCall
from variants_test import loss_of, wide

MINIMUM = {"forward": {"attention": 1500},
           "backward": {"attention_grad": 1800},
           "differences": {"attention_grad": 150},
           "poison": {"attention": 300, "attention_grad": 300},
           "short-forms": {"attention": 60, "attention_grad": 80},
           "packed": {"attention": 200, "attention_grad": 250}}

# Of optimization: there are many functions, and little is asked of each.
LEVEL = 1

# The largest accepted |differences - gradient| / |gradient|, as for the
# attention without regions in Kernels/differences.py.
TOLERANCE = 1e-6


# ------------------------------------------------------------------------------
# All shapes
# ------------------------------------------------------------------------------

LARGE = [(Extents(1, 2, 2, 200, 67, 5, 8), 0),
         (Extents(1, 1, 1, 64, 64, 16, 16), 3),
         (Extents(1, 6, 2, 63, 65, 3, 7), 1),
         (Extents(3, 2, 1, 17, 129, 8, 8), 100)]
EDGES = [(Extents(2, 2, 1, 3, 0, 4, 5), 0), (Extents(2, 2, 1, 0, 3, 4, 5), 2),
         (Extents(1, 1, 1, 1, 1, 1, 1), 0),
         (Extents(2, 2, 2, 1, 40, 4, 4), 39),
         (Extents(2, 3, 1, 40, 1, 4, 4), 0), (Extents(0, 2, 1, 5, 5, 3, 3), 0)]


def shapes_of(number, variant):
    """Extents and input_pos of the calls of a variant."""
    if variant.fixed:
        return [(variant.fixed, 0)]
    # The oracle's long double, for f64, is slow.
    long = ((Extents(1, 2, 1, 70, 130, 4, 3), 60) if variant.types[0] == "f64"
            else (Extents(2, 4, 2, 131, 197, 8, 5), 66))
    return [(Extents(3, 4, 2, 13, 21, 4, 6), 8), long,
            LARGE[number % len(LARGE)], EDGES[number % len(EDGES)],
            EDGES[(number // 2 + 3) % len(EDGES)]]


def calls_of(suite, number, variant):
    forms = list(BIAS_FORMS)
    for extents, position in shapes_of(number, variant):
        yield VariantCall(suite, variant, extents, forms[number % len(forms)],
                          position)


def run_variants(suite, forward):
    run_all(suite, ((variant, calls_of(suite, number, variant)) for
                    number, variant in enumerate(cases.every_variant())),
            forward, LEVEL)


def forward(suite):
    run_variants(suite, True)
    return MINIMUM["forward"]


def backward(suite):
    run_variants(suite, False)
    return MINIMUM["backward"]


# ------------------------------------------------------------------------------
# Differences
# ------------------------------------------------------------------------------

SMALL = Extents(2, 2, 1, 5, 6, 2, 2)
LARGER = Extents(1, 4, 2, 19, 23, 5, 8)
DIRECTIONS = 8


def directional(suite, loss, arrays, name, gradient):
    """Slopes along random directions, by the gradient and by differences."""
    pairs = []
    for _ in range(DIRECTIONS):
        direction = suite.random.standard_normal(gradient.shape)
        direction = np.asarray(direction / np.linalg.norm(direction))
        ends = [loss(**{**arrays, name: arrays[name] + sign * STEP * direction})
                for sign in (1, -1)]
        pairs.append((np.sum(gradient * direction),
                      float(ends[0] - ends[1]) / (2 * STEP)))
    return np.array(pairs).T


def compare_differences(suite, module, function, call, every_element):
    label = f"{call.label()}: differences"
    inputs, shapes, _ = call.backward(suite, function)
    try:
        got = suite.call(module, function, inputs, shapes, label)
    except Failed as failure:
        suite.problem(f"{label}: {failure}")
        return
    options = call.options()
    arrays = {n: np.asarray(inputs[n]) for n in (
        "q", "k", "v", "bias", *options.captures) if n in inputs}
    loss = loss_of(options, inputs["dout"])
    for name, array in got.items():
        value = array.values()
        if every_element:
            want = differences(loss, arrays, name[1:])
        else:
            value, want = directional(suite, loss, arrays, name[1:], value)
        off, size = np.linalg.norm(value - want), np.linalg.norm(want)
        # Gradients that are 0, of what a mask reads for one, are 0.
        error = off / size if size else off
        tally = suite.tallies.setdefault(function.op, Tally())
        if not tally.add(error, error / TOLERANCE):
            suite.problem(f"{label}: {name} is off by {error:.3g} of "
                          "differences")


def compare_with_differences(suite, step=4):
    """Every variant whose number is a multiple of the step, in f64."""
    variants = [wide(v) for v in cases.open_variants()][::step]
    # A number in f32 has no small steps.
    variants = [v for v in variants
                if "f32" not in map(v.element, v.captures().values())]
    for at in range(0, len(variants), 6):
        some = [(v, v.backward(f"f{at + i}"))
                for i, v in enumerate(variants[at:at + 6])]
        modules = suite.compile(f"differences-{at}", [f for _, f in some],
                                LEVEL)
        for variant, function in some:
            if function.name not in modules:
                continue
            for extents, every in ((SMALL, True), (LARGER, False)):
                compare_differences(
                    suite, modules[function.name], function,
                    VariantCall(suite, variant, extents, position=2), every)
    return MINIMUM["differences"]


# ------------------------------------------------------------------------------
# Parse
# ------------------------------------------------------------------------------


def parse(suite):
    """Whether all texts are read, and mean something."""
    functions = []
    for number, variant in enumerate(cases.every_variant()):
        functions += [variant.forward(f"forward{number}"),
                      variant.backward(f"backward{number}")]
    functions += short_forms.functions(suite)
    tools = suite.tools

    def reads(name, some):
        path = tools.folder / f"{name}.mlir"
        path.write_text("\n".join(f.text() for f in some))
        try:
            tools.step(name, [tools.pol_opt, path, "-o", "/dev/null"])
        except Failed as failure:
            return failure
        return None

    if reads("all", functions):
        for function in functions:
            failure = reads(function.name, [function])
            if failure and len(suite.problems) < 20:
                suite.problem(f"{failure}\n{function.text()}")
    print(f"{len(functions)} functions")
    return {}


def poison(suite):
    poisons.run(suite)
    return MINIMUM["poison"]


def same_bits(suite):
    short_forms.run(suite)
    return MINIMUM["short-forms"]


def all_differences(suite):
    return compare_with_differences(suite, step=1)


def packed(suite):
    packing.run(suite)
    return MINIMUM["packed"]


PARTS = {"forward": forward, "backward": backward,
         "differences": compare_with_differences,
         "all-differences": all_differences, "poison": poison,
         "short-forms": same_bits, "packed": packed, "parse": parse}

# Those that compare functions with the oracle, or with each other, and that a
# stand-in can answer: it has no packed sequences.
COMPARED = ("forward", "backward", "poison", "short-forms")

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
