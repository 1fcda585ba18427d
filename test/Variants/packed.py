"""Sequences that are packed in one batch, against each of them alone.

What a sequence computes is the same bits, whatever lies before and behind it.
Rows and keys in no sequence get 0. The gradient of a capture is the sum of what
each sequence gives it, but for the order.
"""

import dataclasses

import numpy as np

import masks as m
import paths  # noqa: F401
import workspace
import scores as s
from attention_cases import Extents
from driver import Failed
from suite import Tally
from variant import Variant, VariantCall

# S and T of each sequence; two are empty on one side, one on both.
SEQUENCES = [[(5, 7), (0, 3), (70, 131), (4, 0), (0, 0), (1, 1), (33, 33)],
             [(3, 9)], [], [(64, 64), (64, 65)]]
# Rows and keys before and behind all sequences.
MARGINS = [(2, 3, 4, 1), (0, 0, 0, 0), (1, 1, 2, 2), (0, 0, 0, 5)]
HEADS = (4, 2, 5, 3)
TOLERANCE = {"f32": 1e-5, "f64": 1e-13}


@dataclasses.dataclass
class Packed(Variant):
    """A variant whose lengths are where sequences begin."""

    def attributes(self):
        parts = super().attributes()
        return f"{parts}, packed" if parts else "packed"


def variants():
    """Named sets of what a packed and a plain function share. Those that read
    captures by position read the same in each sequence."""
    yield "full", {}
    yield "top_left", {"causal": "top_left"}
    yield "bottom_right", {"causal": "bottom_right"}
    yield "window", {"causal": "bottom_right", "window": 20}
    yield "input_pos", {"causal": "input_pos", "window": 9}
    yield "softcap", {"causal": "top_left", "softcap": 1.5}
    yield "dilated", {"mask": m.dilated(2), "position": True}
    yield "documents", {"mask": m.documents(batched=False)}
    yield "alibi", {"score": s.alibi(), "causal": "bottom_right"}
    yield "relative", {"score": s.relative(4), "mask": m.prefix_lm(6)}


def pairs():
    for number, (name, options) in enumerate(variants()):
        types = ("f32", "f64")[number % 2]
        common = {"types": (types,) * 4, "kind": ("memref", "tensor")[number % 2],
                  "capture": types, **options}
        yield (Packed(name=f"{name}, packed", q_lengths="i32", k_lengths="i64",
                      **common),
               Variant(name=name, **common))


def functions():
    made = []
    for number, (packed, plain) in enumerate(pairs()):
        for which, variant in (("packed", packed), ("plain", plain)):
            made += [variant.forward(f"{which}{number}"),
                     variant.backward(f"{which}_grad{number}")]
    return made


class PackedCall:
    """A call of one batch, and those of its sequences."""

    def __init__(self, suite, plain, sequences, margins, position):
        rows, rows_behind, keys, keys_behind = margins
        self.q_offsets = np.cumsum([rows] + [q for q, _ in sequences])
        self.k_offsets = np.cumsum([keys] + [k for _, k in sequences])
        h, hk, d, dv = HEADS
        self.extents = Extents(1, h, hk, self.q_offsets[-1] + rows_behind,
                               self.k_offsets[-1] + keys_behind, d, dv)
        self.call = VariantCall(suite, plain, self.extents, position=position)
        self.label = f"{plain.name}, packed: {sequences}"
        self.made = {}

    def inputs(self, made):
        return {**made, "q_lengths": self.q_offsets,
                "k_lengths": self.k_offsets}

    def slices(self, number):
        return (slice(self.q_offsets[number], self.q_offsets[number + 1]),
                slice(self.k_offsets[number], self.k_offsets[number + 1]))

    def part(self, name, array, number):
        """What one sequence has of an array."""
        rows, keys = self.slices(number)
        if name in ("q", "o", "dout", "max", "sum", "delta", "dq"):
            return array[:, :, rows]
        if name in ("k", "v", "dk", "dv"):
            return array[:, :, keys]
        return array

    def outside(self, name, array):
        """What no sequence has of it."""
        offsets = (self.q_offsets if name in ("o", "max", "sum", "dq")
                   else self.k_offsets)
        return np.concatenate([array[:, :, :offsets[0]],
                               array[:, :, offsets[-1]:]], axis=2)


def compare(suite, both, call, sequences, backward):
    """The packed call against one call for each sequence."""
    (packed, packed_function), (plain, plain_function) = both
    inputs, shapes, _ = (call.call.backward(suite, plain_function) if backward
                         else call.call.forward())
    inputs = {**inputs, **(call.made if backward else {})}
    got = suite.call(packed, packed_function, call.inputs(inputs), shapes,
                     call.label)
    if not backward:
        call.made = {name: array.values() for name, array in got.items()}
    tally = suite.tallies.setdefault(packed_function.op, Tally())

    def expect(holds, what):
        if not tally.add(0.0, 0.0 if holds else np.inf):
            suite.problem(f"{call.label}: {what}")

    sums = {n: 0.0 for n in got if n.startswith("dc")}
    for number in range(len(sequences)):
        some = {n: call.part(n, np.asarray(v), number) if np.ndim(v) else v
                for n, v in inputs.items()}
        some_shapes = {n: call.part(n, np.empty(v), number).shape
                       for n, v in shapes.items()}
        some_shapes["grad_workspace"] = workspace.grad_shape(
            *(some[n].shape[-1] for n in "qv"), some["k"].shape[2])
        alone = suite.call(plain, plain_function, some, some_shapes, call.label)
        for name, array in alone.items():
            if name in sums:
                sums[name] = sums[name] + array.values()
                continue
            part = call.part(name, got[name].values(), number)
            expect(part.tobytes() == array.values().tobytes(),
                   f"{name} of sequence {number} is not what it is alone")
    for name, array in got.items():
        values = array.values()
        if name in sums:
            size = np.abs(sums[name]).max(initial=0.0) + np.abs(
                values).max(initial=0.0)
            off = np.abs(values - sums[name]).max(initial=0.0)
            expect(off <= TOLERANCE[array.dtype] * size,
                   f"{name} is off by {off} of {size}")
            continue
        nothing = -np.inf if name == "max" else 0.0
        expect((call.outside(name, values) == nothing).all(),
               f"{name} is not {nothing} outside of sequences")


def check_order(suite, module, function, call):
    """A sequence that ends before it begins is refused."""
    inputs, shapes, _ = call.call.forward()
    inputs = call.inputs(inputs)
    offsets = inputs["k_lengths"].copy()
    offsets[1:3] = offsets[-1], offsets[-1] - 1
    inputs["k_lengths"] = offsets
    try:
        suite.call(module, function, inputs, shapes, call.label)
    except Failed as failure:
        if "the least step of k_lengths" not in str(failure):
            suite.problem(f"{call.label}: {failure}")
        return
    suite.problem(f"{call.label}: offsets that decrease were taken")


def run(suite):
    made = functions()
    modules = {}
    for at in range(0, len(made), 8):
        modules.update(suite.compile(f"packed-{at}", made[at:at + 8]))
    by_name = {f.name: f for f in made}
    for number, (_, plain) in enumerate(pairs()):
        for sequences, margins in zip(SEQUENCES, MARGINS):
            call = PackedCall(suite, plain, sequences, margins,
                              position=(3, 0)[number % 2])
            for suffix in ("", "_grad"):
                names = [f"{w}{suffix}{number}" for w in ("packed", "plain")]
                if not set(names) <= set(modules):
                    continue
                try:
                    compare(suite, [(modules[n], by_name[n]) for n in names],
                            call, sequences, suffix != "")
                except Failed as failure:
                    suite.problem(f"{call.label}: {failure}")
            name = f"packed{number}"
            if len(sequences) > 1 and name in modules:
                check_order(suite, modules[name], by_name[name], call)
