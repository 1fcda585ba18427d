"""Attributes and operands that say what a region says: the same bits."""

import dataclasses

import numpy as np

import paths  # noqa: F401
import masks as m
import scores as s
from attention_cases import Extents
from driver import Failed
from region import Capture, Mask
from suite import Tally
from variant import Variant, VariantCall

EXTENTS = (Extents(2, 4, 2, 70, 131, 5, 3), Extents(1, 2, 1, 131, 70, 8, 8),
           Extents(2, 2, 2, 9, 7, 3, 4), Extents(1, 1, 1, 3, 0, 2, 2))
POSITIONS = (0, 37, -4, 200)


@dataclasses.dataclass
class Pair:
    """Two variants that say the same.

    same: operands of the first that are captures of the second, by the
      capture's number; their gradients are the same, too.
    numbers: values of captures by number, of a call of the first.
    """

    name: str
    short: dict
    region: dict
    same: dict = dataclasses.field(default_factory=dict)
    numbers: dict = dataclasses.field(default_factory=dict)


def _lengths(element, of_queries):
    """kv < lengths[b], or q < lengths[b]."""
    lengths = Capture(("B",), element,
                      lambda random, shape: np.zeros(shape))

    def position(of):
        return of.q if of_queries else of.kv
    return Mask("lengths",
                lambda e: e.cmp("slt", position(e), e.load(lengths, e.b)),
                lambda r: position(r) < r.load(lengths, r.b), (lengths,))


def _window_of(width):
    """A window that begins at a captured position."""
    shift = Capture(None, "index", lambda random, shape: np.int64(0))

    def text(e):
        last = e.add(e.q, e.load(shift))
        return e.both(e.cmp("sle", e.kv, last),
                      e.cmp("sge", e.kv, e.sub(last, e.index(width))))

    def kept(r):
        last = r.q + r.load(shift)
        return (r.kv <= last) & (r.kv >= last - width)
    return Mask(f"window of {width} from a position", text, kept, (shift,))


def pairs():
    """Each short form, and some together."""
    def behind(call):
        return call.extents.t - call.extents.s

    yield Pair("top_left", {"causal": "top_left"}, {"mask": m.causal()})
    yield Pair("bottom_right", {"causal": "bottom_right"},
               {"mask": m.diagonal(0)}, numbers={0: behind})
    yield Pair("input_pos", {"causal": "input_pos"}, {"mask": m.diagonal(0)},
               same={"input_pos": 0})
    yield Pair("window", {"causal": "top_left", "window": 9},
               {"mask": m.window(9)})
    yield Pair("window of bottom_right", {"causal": "bottom_right",
                                          "window": 33},
               {"mask": _window_of(33)}, numbers={0: behind})
    yield Pair("window of input_pos", {"causal": "input_pos", "window": 0},
               {"mask": _window_of(0)}, same={"input_pos": 0})
    yield Pair("softcap", {"softcap": 1.75}, {"score": s.softcap(1.75)})
    for batches in (True, False):
        for heads in (True, False):
            one = (not batches, not heads)
            yield Pair(f"bias {one}", {"bias": True, "one": one},
                       {"score": s.bias(batches, heads)}, same={"bias": 0})
    yield Pair("k_lengths", {"k_lengths": "i32"},
               {"mask": _lengths("i32", False)}, same={"k_lengths": 0})
    yield Pair("q_lengths", {"q_lengths": "i64"},
               {"mask": _lengths("i64", True)}, same={"q_lengths": 0})
    yield Pair("all", {"causal": "top_left", "window": 20, "softcap": 2.5,
                       "bias": True, "k_lengths": "i64", "q_lengths": "i32"},
               {"score": s.chain(s.softcap(2.5), s.bias()),
                "mask": m.both(m.window(20), m.both(
                    _lengths("i64", False), _lengths("i32", True)))},
               same={"bias": 0, "k_lengths": 1, "q_lengths": 2})
    # A short form beside a region, and both in regions.
    yield Pair("causal and a mask", {"causal": "top_left",
                                     "mask": m.dilated(2)},
               {"mask": m.both(m.causal(), m.dilated(2))})
    yield Pair("softcap and a score", {"softcap": 0.875,
                                       "score": s.far(5, 0.5)},
               {"score": s.chain(s.softcap(0.875), s.far(5, 0.5))})


def variants():
    """Pairs, and both variants of each, in two types in turn."""
    types = ("f32", "bf16", "f64")
    for number, pair in enumerate(pairs()):
        common = {"types": (types[number % 3],) * 4,
                  "kind": ("memref", "tensor")[number % 2]}
        capture = common["types"][0]
        yield (pair, Variant(name=f"{pair.name}, short", **common,
                             **pair.short),
               Variant(name=f"{pair.name}, region", capture=capture, **common,
                       **pair.region))


def functions(_suite=None):
    made = []
    for number, (_, short, region) in enumerate(variants()):
        for which, variant in (("short", short), ("region", region)):
            made += [variant.forward(f"{which}{number}"),
                     variant.backward(f"{which}_grad{number}")]
    return made


def run(suite):
    made = functions()
    modules = {}
    for at in range(0, len(made), 8):
        modules.update(suite.compile(f"short-forms-{at}", made[at:at + 8],
                                     level=1))
    by_name = {f.name: f for f in made}
    for number, (pair, short, region) in enumerate(variants()):
        for extents, position in zip(EXTENTS, POSITIONS):
            call = VariantCall(suite, short, extents, position=position)
            for suffix in ("", "_grad"):
                names = [f"{w}{suffix}{number}" for w in ("short", "region")]
                if not set(names) <= set(modules):
                    continue
                compare(suite, [(modules[n], by_name[n]) for n in names], pair,
                        call, region)


def compare(suite, both, pair, call, region):
    """Calls both on the same values, and compares bytes."""
    first, second = both
    label = f"{pair.name}: {call.label()}"
    forward = first[1].op == "attention"
    inputs, shapes, wants = (call.forward() if forward
                             else call.backward(suite, first[1]))
    names = {f"c{at}": name for name, at in pair.same.items()}
    others = {c: inputs[n] for c, n in names.items()}
    others.update({f"c{n}": of(call) for n, of in pair.numbers.items()})
    kept = {n: v for n, v in inputs.items() if n in second[1].elements}
    other_shapes = {**shapes, **{f"d{c}": np.shape(v)
                                 for c, v in others.items()}}
    got = suite.check(*first, inputs, shapes, wants, label)
    try:
        found = suite.call(*second, {**kept, **others}, other_shapes, label)
    except Failed as failure:
        suite.problem(f"{label}: {failure}")
        return
    for name, array in found.items():
        # A capture's gradient is that of the operand it is.
        alike = f"d{names[name[1:]]}" if name[1:] in names else name
        if got is None or alike not in got:
            continue
        tally = suite.tallies.setdefault(first[1].op, Tally())
        same = got[alike].bytes() == array.bytes()
        if not tally.add(0.0, 0.0 if same else np.inf):
            suite.problem(f"{label}: {name} of the region is not {alike} of "
                          "the short form, bit by bit")
