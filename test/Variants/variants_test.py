"""Checks the variants' masks and scores, and their oracle, against themselves:
texts against formulas, gradients by central differences, masked values."""

import dataclasses
import sys
import unittest

import numpy as np

import cases
import paths  # noqa: F401
import oracle
from attention_cases import Extents
from interpret import interpret
from oracle_test import CLOSE, STEP, differences
from poison import poisoned
from suite import Suite
from variant import Variant, VariantCall

SMALL = Extents(2, 2, 1, 4, 5, 2, 2)
LARGER = Extents(2, 4, 2, 40, 45, 3, 2)
DIRECTIONS = 3
OPERANDS = ("q", "k", "v", "bias")


def wide(variant):
    """The same in f64, of any extents."""
    return dataclasses.replace(variant, types=cases.F64, capture=None,
                               fixed=None)


def gradients(call, options, dout):
    """The oracle's, after its forward pass."""
    inputs = call.inputs
    made, _, _ = oracle.attention(*(inputs.get(n) for n in OPERANDS), options)
    got, _, _ = oracle.attention_grad(
        inputs["q"], inputs["k"], inputs["v"], made["o"], dout, made["max"],
        made["sum"], inputs.get("bias"), options)
    return made, got


def loss_of(options, dout):
    def loss(**arrays):
        captured = {n: arrays.get(n, a) for n, a in options.captures.items()}
        moved = dataclasses.replace(options, captures=captured)
        made, _, _ = oracle.attention(*(arrays.get(n) for n in OPERANDS), moved)
        return np.sum(dout * made["o"])
    return loss


class Gradients(unittest.TestCase):
    """Of every variant, by central differences of the oracle's own loss."""

    def check(self, extents, compare):
        suite = Suite(None, seed=3)
        for variant in map(wide, cases.open_variants()):
            call = VariantCall(suite, variant, extents, position=1)
            # Steps are smaller than what f32 has.
            for name in variant.captures():
                if call.inputs[name].dtype == np.float32:
                    call.inputs[name] = call.inputs[name].astype(
                        np.float64)
            options = call.options()
            dout = suite.random.standard_normal(call.shapes["o"])
            _, got = gradients(call, options, dout)
            arrays = {n: call.inputs[n] for n in
                      (*OPERANDS, *options.captures) if n in call.inputs}
            loss = loss_of(options, dout)
            for name, value in got.items():
                with self.subTest(variant.name, gradient=name):
                    compare(suite, loss, arrays, name[1:], np.float64(value))

    def test_every_element(self):
        def compare(_suite, loss, arrays, name, value):
            want = differences(loss, arrays, name)
            off = np.linalg.norm(value - want)
            self.assertLess(off, CLOSE * (1 + np.linalg.norm(want)))
        self.check(SMALL, compare)

    def test_directions(self):
        def compare(suite, loss, arrays, name, value):
            for _ in range(DIRECTIONS):
                direction = suite.random.standard_normal(value.shape)
                direction = np.asarray(direction / np.linalg.norm(direction))
                ends = [loss(**{**arrays, name: arrays[name]
                                + sign * STEP * direction})
                        for sign in (1, -1)]
                want = float(ends[0] - ends[1]) / (2 * STEP)
                got = np.sum(value * direction)
                self.assertLess(abs(got - want),
                                CLOSE * (1 + np.linalg.norm(value)))
        self.check(LARGER, compare)


class Texts(unittest.TestCase):

    def test_texts_say_what_numpy_says(self):
        suite = Suite(None, seed=4)
        extents = Extents(3, 4, 2, 37, 41, 2, 2)
        for variant in map(wide, cases.every_variant()):
            call = VariantCall(suite, variant, extents, position=2)
            options = call.options()
            positions = oracle.Positions(3, 4, 37, 41, call.position,
                                         np.float64)
            arrays = [np.asarray(a) for a in options.captures.values()]
            where = [positions.b, positions.h, positions.q, positions.kv]
            regions = variant.backward("f").regions
            with self.subTest(variant.name):
                if options.mask:
                    want = options.mask(positions, options.captures)
                    got = interpret(regions, "mask", [*where, *arrays])
                    np.testing.assert_array_equal(
                        np.broadcast_to(got, positions.shape),
                        np.broadcast_to(want, positions.shape))
                if options.score:
                    s = suite.random.standard_normal(positions.shape)
                    want = options.score(s, positions, options.captures)
                    got = interpret(regions, "score", [s, *where, *arrays])
                    np.testing.assert_allclose(
                        np.float64(got) + 0 * s, np.float64(want.values),
                        rtol=1e-6, atol=1e-6)

    def test_names(self):
        names = [v.name for v in cases.every_variant()]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 100)

    def test_masks_keep_some_and_not_all(self):
        """No mask is trivial by mistake."""
        suite = Suite(None, seed=5)
        for variant in cases.every_variant():
            if not variant.mask or variant.mask.name in ("full", "nothing"):
                continue
            call = VariantCall(suite, wide(variant), Extents(3, 2, 1, 99, 98))
            options = call.options()
            positions = oracle.Positions(3, 2, 99, 98, call.position)
            keep = np.broadcast_to(options.mask(positions, options.captures),
                                   positions.shape)
            with self.subTest(variant.name):
                self.assertTrue(keep.any() and not keep.all())


class Masked(unittest.TestCase):

    def test_masked_values_reach_nothing(self):
        """What keys that nobody keeps and captures at such places hold."""
        suite = Suite(None, seed=6)
        for mask, score in ((cases.m.window(2), cases.s.rbf()),
                            (cases.m.nothing(), cases.s.pairs()),
                            (cases.m.dilated(2), cases.s.bias()),
                            (cases.m.prefix(3), cases.s.gate())):
            # More keys than any query keeps.
            variant = Variant(types=cases.F64, mask=mask, score=score)
            call = VariantCall(suite, variant, Extents(1, 2, 1, 4, 9, 3, 2))
            options = call.options()
            dout = suite.random.standard_normal(call.shapes["o"])
            made, got = gradients(call, options, dout)
            clean = {**call.inputs, "dout": dout}
            for bad in (np.nan, np.inf, -np.inf):
                call.inputs = poisoned(call, clean, bad)
                other, others = gradients(call, call.options(),
                                          call.inputs["dout"])
                call.inputs = dict(clean)
                for name, value in {**made, **got}.items():
                    with self.subTest(f"{mask.name} {score.name} {name} {bad}"):
                        np.testing.assert_array_equal(
                            {**other, **others}[name], value)


if __name__ == "__main__":
    sys.exit(unittest.main())
