"""Attention, forward and backward, over types, shapes and pairs of options.

The parts `forward` and `backward` call functions of many sets of options on
many shapes, so that every option meets every other one; `sizes-forward` and
`sizes-backward` call a few functions on sizes around those of blocks, on long
and on many rows, and on known ones.
"""

import itertools
import sys

import suite as suites
from attention_cases import (BIAS_FORMS, POSITIONS, TYPES, Call, Extents,
                             Static, option_pairs)

# Comparisons that every pair of options has at least, in each direction.
MINIMUM_PER_PAIR = 40
MINIMUM = {"forward": {"attention": 1500},
           "backward": {"attention_grad": 1500},
           "sizes-forward": {"attention": 300},
           "sizes-backward": {"attention_grad": 400}}

FUNCTIONS = 72
CALLS_PER_FUNCTION = 16
FUNCTIONS_PER_MODULE = 6

# The oracle's time is bounded by this many products; those of f64 are slow.
WORK = {"f64": 200_000}
OTHER_WORK = 2_000_000

HEADS = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 2), (4, 1), (5, 5), (6, 6),
         (6, 3), (6, 2), (6, 1)]
LENGTHS = (1, 1, 1, 2, 3, 5, 7, 13, 15, 16, 17, 31, 63, 64, 65)
DEPTHS = (1, 2, 3, 5, 8, 16, 17, 33, 64)
HUGE = (2**63 - 1, -2**63, 2**62, -2**40, 10**6, -10**6)

CAUSAL = (None, "top_left", "input_pos", "bottom_right", "input_pos",
          "input_pos")
GRADIENTS = ("dq", "dk", "dv", "dbias")


def random_static(suite, number):
    """Options of a function; causal forms and types take turns."""
    def maybe(chance, value):
        return value if suite.random.rand() < chance else None

    causal = CAUSAL[number % len(CAUSAL)]
    bias = bool(maybe(0.85, True))
    static = Static(
        types=TYPES[number // 2 % len(TYPES)], bias=bias, causal=causal,
        scale=maybe(0.5, suite.choose((0.05, 0.2, 0.7, -0.3))),
        softcap=maybe(0.5, suite.choose((0.5, 2.0, 30.0))),
        window=maybe(0.6, suite.choose((0, 1, 4, 20))) if causal else None,
        k_lengths=maybe(0.75, suite.choose(("i32", "i64"))),
        q_lengths=maybe(0.75, suite.choose(("i32", "i64"))),
        kind=suite.choose(("tensor", "memref", "strided")),
        checkpoints=bool(maybe(0.8, True)))
    if suite.random.rand() < 0.3:
        some = [g for g in GRADIENTS if suite.random.rand() < 0.5]
        static.gradients = tuple(some) or ("dv",)
    if static.types[0] != "f64" and suite.random.rand() < 0.3:
        static.gradient_type = "f32"
    return static


def random_extents(suite, work):
    """Extents that are not too much work. Often there are heads that share,
    several batches, and one query."""
    while True:
        heads, kv_heads = suite.choose(HEADS)
        depth = suite.choose(DEPTHS)
        extents = Extents(
            b=suite.choose((1, 2, 2, 3, 4, 5, 6)), h=heads, hk=kv_heads,
            s=suite.choose(LENGTHS), t=suite.choose(LENGTHS[2:]), d=depth,
            dv=suite.choose((depth, *DEPTHS)))
        if suite.random.rand() < 0.2:
            extents.t = extents.s
        if extents.work() <= work:
            return extents


def position(suite, extents, number):
    """An input_pos of each kind in turn, or 0."""
    kind = (*POSITIONS, "0")[number % 4]
    if kind == "input_pos huge":
        return suite.choose(HUGE)
    if kind == "input_pos > 0":
        return int(suite.random.randint(1, extents.t + 1))
    if kind == "input_pos < 0":
        return -int(suite.random.randint(1, extents.s + 1))
    return 0


def random_calls(suite, static):
    work = WORK.get(static.types[0], OTHER_WORK)
    forms = list(BIAS_FORMS)
    for number in range(CALLS_PER_FUNCTION):
        extents = random_extents(suite, work)
        yield Call(suite, static, extents, suite.choose(forms),
                   position(suite, extents, number))


def run_all(suite, jobs, forward, level=2):
    """jobs: pairs of a `Static` and its calls. level: of optimization."""
    jobs = list(jobs)
    for at in range(0, len(jobs), FUNCTIONS_PER_MODULE):
        some = [(static.forward(f"f{at + i}") if forward
                 else static.backward(f"f{at + i}"), calls)
                for i, (static, calls)
                in enumerate(jobs[at:at + FUNCTIONS_PER_MODULE])]
        modules = suite.compile(f"attention-{at}", [f for f, _ in some], level)
        for function, calls in some:
            if function.name not in modules:
                continue
            for call in calls:
                inputs, shapes, wants = (
                    call.forward() if forward
                    else call.backward(suite, function))
                suite.check(modules[function.name], function, inputs, shapes,
                            wants, call.label(), call.tags())


# ------------------------------------------------------------------------------
# Pairs of options
# ------------------------------------------------------------------------------


def pairs(suite, forward):
    statics = [random_static(suite, n) for n in range(FUNCTIONS)]
    run_all(suite, ((s, random_calls(suite, s)) for s in statics), forward)
    kernel = "attention" if forward else "attention_grad"
    print(f"{kernel}: comparisons of each pair of options")
    counts = {pair: suite.pairs.get((kernel, *pair), 0)
              for pair in option_pairs()}
    print_pairs(counts)
    for pair, count in counts.items():
        if count < MINIMUM_PER_PAIR:
            suite.problem(f"{kernel}, {pair[0]} with {pair[1]}: expected "
                          f"{MINIMUM_PER_PAIR} comparisons or more, but got "
                          f"{count}")


def print_pairs(counts):
    """A triangle: a line for each option, a column for each one before it."""
    names = list(dict.fromkeys(n for pair in counts for n in pair))
    width = max(map(len, names))
    for i, name in enumerate(names):
        cells = (counts.get(tuple(sorted((name, other))), "-")
                 for other in names[:i])
        print(f"  {i:>2} {name:<{width}}" + "".join(f"{c:>5}" for c in cells))
    print(" " * (5 + width) + "".join(f"{i:>5}" for i in range(len(names))))


def forward(suite):
    pairs(suite, True)
    return MINIMUM["forward"]


def backward(suite):
    pairs(suite, False)
    return MINIMUM["backward"]


# ------------------------------------------------------------------------------
# Sizes
# ------------------------------------------------------------------------------

AROUND = (15, 16, 17, 63, 64, 65, 255, 256, 257)


def sized_extents():
    """Zero and one, sizes around those of blocks, primes, all heads."""
    yield from (Extents(b, h, hk, s, t, d, dv) for b, h, hk, s, t, d, dv in (
        (0, 2, 1, 3, 4, 5, 5), (2, 0, 1, 3, 4, 5, 5), (2, 2, 1, 0, 4, 5, 3),
        (2, 2, 1, 3, 0, 5, 3), (2, 2, 1, 3, 4, 5, 0), (1, 1, 1, 1, 1, 1, 1),
        (1, 1, 1, 2, 2, 2, 2), (1, 2, 1, 1, 5, 128, 128),
        (1, 1, 1, 11, 13, 257, 7), (1, 1, 1, 3, 5, 1024, 1025)))
    for batch, (heads, kv_heads) in zip(itertools.cycle(range(1, 7)), HEADS):
        yield Extents(batch, heads, kv_heads, 7, 11, 4, 6)
    for size in AROUND:
        yield Extents(1, 2, 1, size, size, 8, 8)
        yield Extents(2, 1, 1, 3, size, 5, 5)
        yield Extents(1, 1, 1, size, 2, 5, 3)
        yield Extents(1, 1, 1, 4, 5, size, 2)
        yield Extents(1, 1, 1, 4, 5, 2, size)
    for size in (1023, 1024, 1025):
        yield Extents(1, 1, 1, 2, size, 3, 3)
        yield Extents(1, 1, 1, size, 3, 3, 2)
    yield Extents(1, 1, 1, 65, 1025, 4, 4)


def long_extents():
    yield Extents(1, 1, 1, 2, 100003, 4, 3)
    yield Extents(1, 1, 1, 65537, 3, 2, 2)


def known_extents():
    """Sizes that attention is known to be tried at elsewhere."""
    for kv_heads in (4, 2):
        yield Extents(2, 4, kv_heads, 96, 128, 64, 64)
        yield Extents(2, 4, kv_heads, 128, 96, 64, 64)


def sized_calls(suite, static, extents):
    for number, e in enumerate(extents):
        if static.types[0] == "f64" and e.work() > 10 * WORK["f64"]:
            continue
        form = list(BIAS_FORMS)[number % len(BIAS_FORMS)]
        yield Call(suite, static, e, form, number % 7 - 2)


def sizes(suite, forward):
    def types(name):
        return next(t for t in TYPES if t == (name,) * 4)

    every = [Static(types=types("f32")),
             Static(types=types("f32"), bias=True, causal="top_left",
                    kind="tensor"),
             Static(types=types("bf16"), causal="bottom_right",
                    kind="strided", gradient_type="f32"),
             Static(types=types("f16"), bias=True, k_lengths="i32",
                    q_lengths="i64"),
             Static(types=types("f64"), bias=True, causal="input_pos",
                    window=3)]
    jobs = [(s, list(sized_calls(suite, s, sized_extents()))) for s in every]
    jobs += [(s, list(sized_calls(suite, s, long_extents())))
             for s in every[:2]]
    for causal, bias in itertools.product((None, "top_left", "bottom_right"),
                                          (False, True)):
        static = Static(causal=causal, bias=bias, kind="tensor")
        forms = BIAS_FORMS if bias else ("bias [B,H]",)
        jobs.append((static, [Call(suite, static, e, form)
                              for e in known_extents() for form in forms]))
    # A bias that its type says is broadcast, and one value as three inputs.
    for one in ((True, False), (False, True), (True, True)):
        static = Static(bias=True, one=one, causal="top_left")
        form = next(f for f, o in BIAS_FORMS.items() if o == one)
        jobs.append((static, [Call(suite, static, e, form) for e in (
            Extents(3, 4, 2, 7, 9, 4, 4), Extents(2, 3, 1, 16, 17, 3, 5))]))
    for kind in ("tensor", "memref", "strided"):
        static = Static(alias={"k": "q", "v": "q"}, causal="top_left",
                        kind=kind)
        jobs.append((static, [Call(suite, static, e) for e in (
            Extents(2, 3, 3, 17, 17, 5, 5), Extents(1, 1, 1, 64, 64, 16, 16),
            Extents(1, 2, 2, 1, 1, 3, 3))]))
    static = Static(gradient_alias={"dout": "o"})
    jobs.append((static, [Call(suite, static,
                               Extents(2, 3, 1, 17, 9, 5, 4))]))
    # Types whose extents are all static.
    for types, e, causal, one in (
            (every[0].types, Extents(2, 4, 2, 16, 32, 8, 8), "top_left",
             (False, False)),
            (every[2].types, Extents(1, 3, 1, 7, 13, 5, 3), "bottom_right",
             (True, False)),
            (every[3].types, Extents(2, 2, 2, 1, 17, 4, 4), None,
             (False, True)),
            (every[4].types, Extents(2, 2, 1, 3, 3, 1, 2), "input_pos",
             (True, True)),
            (every[0].types, Extents(2, 2, 1, 3, 0, 4, 5), None,
             (False, False)),
            (every[0].types, Extents(1, 1, 1, 1, 1, 1, 1), None,
             (True, True))):
        for kind in ("tensor", "memref"):
            static = Static(types=types, bias=True, causal=causal, one=one,
                            k_lengths="i32", fixed=e, kind=kind)
            jobs.append((static, [Call(suite, static, e, position=1)]))
    run_all(suite, jobs, forward)


def sizes_forward(suite):
    sizes(suite, True)
    return MINIMUM["sizes-forward"]


def sizes_backward(suite):
    sizes(suite, False)
    return MINIMUM["sizes-backward"]


PARTS = {"forward": forward, "backward": backward,
         "sizes-forward": sizes_forward, "sizes-backward": sizes_backward}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
