"""The variants that are tested, by name."""

import itertools

import masks as m
import scores as s
from attention_cases import Extents
from variant import Variant

F64 = ("f64",) * 4
F32, F16, BF16 = (("f32",) * 4, ("f16",) * 4, ("bf16",) * 4)
MIXED = ("f32", "bf16", "f16", "f32")

KINDS = ("tensor", "memref", "strided")


def _all():
    """Pairs of a name and what `Variant` takes, of one type and in one form,
    which `every_variant` varies."""
    for mask in (
            m.full(), m.causal(), m.window(0), m.window(5), m.window(70),
            m.band(3), m.prefix(9), m.prefix_lm(20), m.documents("i32"),
            m.documents("i64", False), m.shared_documents(), m.dilated(2),
            m.dilated(3), m.sinks(4, 16), m.blocks(16), m.threshold(0.3),
            m.random_pairs(), m.bits(), m.nothing(), m.by_head(), m.by_batch(),
            m.windows_by_head(), m.windows_by_head("index"), m.selected_rows(),
            m.diagonal(-3), m.suffix(5), m.first_half(),
            m.both(m.causal(), m.documents()),
            m.both(m.dilated(2), m.window(30)),
            m.either(m.prefix(4), m.documents()),
            m.either(m.sinks(2, 3), m.blocks(8)),
            m.differ(m.causal(), m.threshold(0.5)),
            m.invert(m.causal()), m.invert(m.both(m.band(10), m.by_head())),
            m.invert(m.either(m.documents(), m.dilated(2)))):
        yield mask.name, {"mask": mask}
    for score in (
            s.softcap(2.0), s.alibi(), s.bias(), s.bias(False, True),
            s.bias(True, False), s.bias(False, False), s.relative(8), s.rbf(),
            s.rbf(True), s.gated_rbf(), s.pairs(), s.polynomial(),
            s.far(6, 0.25), s.temperature(), s.temperatures(), s.gate(),
            s.square_root(), s.rotation(), s.constant(),
            s.chain(s.alibi(), s.softcap(3.0)),
            s.chain(s.softcap(1.5), s.pairs(), s.temperatures()),
            s.chain(s.temperature(), s.polynomial(), s.far(10, 0.5)),
            s.chain(s.relative(3), s.gated_rbf())):
        yield score.name, {"score": score}
    for score, mask in (
            (s.alibi(), m.causal()), (s.softcap(5.0), m.window(12)),
            (s.rbf(), m.documents()), (s.relative(16), m.sinks(1, 40)),
            (s.rbf(True), m.both(m.causal(), m.shared_documents())),
            (s.bias(), m.prefix_lm(7)), (s.pairs(), m.dilated(2)),
            (s.polynomial(), m.threshold(0.6)),
            (s.gated_rbf(), m.either(m.band(2), m.blocks(16))),
            (s.chain(s.alibi(), s.rbf()), m.invert(m.band(1))),
            (s.temperatures(), m.windows_by_head()),
            (s.rotation(), m.by_head()), (s.constant(), m.by_batch()),
            (s.gate(), m.nothing())):
        yield f"{score.name} where {mask.name}", {"score": score, "mask": mask}


def _short_forms():
    """Regions together with attributes and operands."""
    for name, given in (
            ("causal", {"causal": "top_left"}),
            ("bottom right", {"causal": "bottom_right"}),
            ("input_pos", {"causal": "input_pos"}),
            ("window", {"causal": "top_left", "window": 11}),
            ("window from input_pos", {"causal": "input_pos", "window": 3}),
            ("lengths", {"k_lengths": "i32", "q_lengths": "i64"}),
            ("softcap and scale", {"softcap": 1.5, "scale": 0.4}),
            ("bias", {"bias": True}),
            ("all", {"causal": "input_pos", "window": 25, "bias": True,
                     "k_lengths": "i64", "q_lengths": "i32", "softcap": 4.0,
                     "scale": -0.3})):
        yield f"{name} with alibi", {"score": s.alibi(), **given}
        yield f"{name} with documents and bias", {
            "score": s.bias(), "mask": m.documents(), **given}
        yield f"{name} with dilated and rbf", {
            "score": s.chain(s.rbf(), s.pairs()), "mask": m.dilated(2), **given}


def _captures():
    """What captures are, and which gradients are wanted of them."""
    for element in ("f16", "bf16", "f32", "f64"):
        yield f"captures of {element}", {
            "score": s.chain(s.alibi(), s.bias(False, True)),
            "mask": m.threshold(0.7), "capture": element}
    yield "wide gradients of narrow captures", {
        "score": s.chain(s.relative(4), s.pairs()), "capture": "bf16",
        "capture_gradient_type": "f32"}
    yield "no gradients of captures", {
        "score": s.pairs(), "mask": m.causal(), "capture_gradients": ()}
    yield "gradients of some captures", {
        "score": s.chain(s.rbf(), s.alibi()), "capture_gradients": (1, 3)}
    yield "gradients of captures alone", {
        "score": s.chain(s.pairs(), s.alibi()), "gradients": ()}
    yield "captured f64 number", {"score": s.temperature("f64"), "types": F64}


def every_variant():
    yield from open_variants()
    yield from fixed_variants()


def open_variants():
    """Of dynamic extents; types and kinds take turns where they are open."""
    types = itertools.cycle((F32, F32, F64, BF16, F32, F16, MIXED))
    kinds = itertools.cycle(KINDS)
    for name, given in itertools.chain(_all(), _short_forms(), _captures()):
        given = dict(given)
        given.setdefault("types", next(types))
        variant = Variant(name=name, kind=next(kinds), **given)
        if variant.capture == "f64" and variant.types[0] != "f64":
            # Captures are no wider than scores, as inputs are.
            variant.types = F64
        yield variant


def fixed_variants():
    """Types whose extents are all static."""
    for extents, score, mask in (
            (Extents(2, 4, 2, 16, 32, 8, 8), s.alibi(), m.causal()),
            (Extents(1, 2, 1, 70, 65, 5, 3), s.relative(9), m.window(20)),
            (Extents(2, 2, 2, 7, 13, 4, 4), s.bias(True, False), m.documents()),
            (Extents(1, 1, 1, 128, 128, 8, 8), None, m.blocks(16)),
            (Extents(1, 3, 3, 1, 1, 1, 1), s.rbf(), m.full()),
            (Extents(2, 2, 1, 3, 0, 4, 5), s.pairs(), m.causal()),
            (Extents(2, 2, 1, 0, 3, 4, 5), s.bias(), m.dilated(2))):
        name = f"{score.name if score else 'no score'} where {mask.name}"
        for kind in ("tensor", "memref"):
            yield Variant(name=f"{name}, static {kind}", score=score, mask=mask,
                          fixed=extents, kind=kind)
