"""Checks the oracle against itself: gradients by central differences, masks by
the rules one by one, and that masked values reach nothing."""

import itertools
import sys
import unittest

import numpy as np

import dtypes
import oracle

# Third derivatives times the square of the step, and roundings divided by it:
# float64 inputs are computed with 64 bits or more.
STEP = 1e-5
CLOSE = 1e-8


def differences(function, arrays, name):
    """The gradient of a scalar function by each element of one array."""
    gradient = np.zeros(arrays[name].shape)
    for index in np.ndindex(gradient.shape):
        ends = []
        for sign in (1, -1):
            moved = dict(arrays)
            moved[name] = arrays[name].copy()
            moved[name][index] += sign * STEP
            ends.append(function(**moved))
        gradient[index] = (ends[0] - ends[1]) / (2 * STEP)
    return gradient


class Gradients(unittest.TestCase):

    def setUp(self):
        self.random = np.random.RandomState(7)

    def normal(self, *shape):
        return self.random.standard_normal(shape)

    def close(self, function, arrays, values):
        """values: gradients by the name of the array."""
        for name, value in values.items():
            want = differences(function, arrays, name)
            off = np.linalg.norm(np.float64(value - want))
            self.assertLess(off, CLOSE * (1 + np.linalg.norm(want)), name)

    def test_rms_norm(self):
        for offset in (0.0, 1.0):
            arrays = {"x": self.normal(2, 3, 5), "w": self.normal(5)}
            dy = self.normal(2, 3, 5)
            _, rstd = oracle.rms_norm(**arrays)
            got, _ = oracle.rms_norm_grad(arrays["x"], dy, arrays["w"], rstd,
                                          offset)
            self.close(lambda x, w, o=offset: np.sum(
                dy * oracle.rms_norm(x, w, offset=o)[0]),
                arrays, {"x": got["dx"], "w": got["dweight"]})

    def test_layer_norm(self):
        arrays = {"x": self.normal(2, 3, 5) + 2, "w": self.normal(5),
                  "b": self.normal(5)}
        dy = self.normal(2, 3, 5)
        _, mean, rstd, _ = oracle.layer_norm(**arrays)
        got, _ = oracle.layer_norm_grad(arrays["x"], dy, arrays["w"], mean,
                                        rstd)
        self.close(lambda **a: np.sum(dy * oracle.layer_norm(**a)[0]), arrays,
                   {"x": got["dx"], "w": got["dweight"], "b": got["dbias"]})

    def test_softmax(self):
        arrays, dy = {"x": self.normal(3, 6)}, self.normal(3, 6)
        got, _ = oracle.softmax_grad(oracle.softmax(arrays["x"]), dy)
        self.close(lambda x: np.sum(dy * oracle.softmax(x)), arrays,
                   {"x": got["dx"]})

    def test_attention(self):
        cases = [
            oracle.Options(),
            oracle.Options(scale=0.7, causal="top_left"),
            oracle.Options(causal="bottom_right", softcap=1.5),
            oracle.Options(causal="input_pos", input_pos=2, window=1),
            oracle.Options(k_lengths=np.array([2, 0]), softcap=0.8,
                           q_lengths=np.array([3, 1])),
        ]
        shapes = itertools.cycle([(2, 4), (1, 1), (2, 1), (1, 4)])
        for options, (batch, heads) in zip(cases, shapes):
            arrays = {"q": self.normal(2, 4, 3, 2),
                      "k": self.normal(2, 2, 5, 2),
                      "v": self.normal(2, 2, 5, 3),
                      "bias": self.normal(batch, heads, 3, 5)}
            dout = self.normal(2, 4, 3, 3)
            made, _, _ = oracle.attention(**arrays, options=options)
            got, _, _ = oracle.attention_grad(
                arrays["q"], arrays["k"], arrays["v"], made["o"], dout,
                made["max"], made["sum"], arrays["bias"], options)
            self.close(
                lambda options=options, dout=dout, **a: np.sum(
                    dout * oracle.attention(**a, options=options)[0]["o"]),
                arrays, {"q": got["dq"], "k": got["dk"], "v": got["dv"],
                         "bias": got["dbias"]})


class Attention(unittest.TestCase):

    def test_kept(self):
        """Each position by the rules, in Python's integers."""
        rows, columns = 4, 6
        huge = (-2**63, 2**63 - 1)
        for causal, pos, window in itertools.product(
                (None, "top_left", "bottom_right", "input_pos"),
                (*range(-7, 8), *huge), (None, 0, 1, 3, 2**63 - 1)):
            options = oracle.Options(
                causal=causal, input_pos=pos, window=window,
                k_lengths=np.array([6, 3]), q_lengths=np.array([2, 4]))
            got = oracle.kept(2, rows, columns, options)
            start = {None: 0, "top_left": 0, "bottom_right": columns - rows,
                     "input_pos": pos}[causal]
            for b, q, kv in itertools.product(range(2), range(rows),
                                              range(columns)):
                want = kv < options.k_lengths[b] and q < options.q_lengths[b]
                if causal is not None:
                    want = want and kv <= q + start
                    if window is not None:
                        want = want and kv >= q + start - window
                self.assertEqual(bool(got[b, 0, q, kv]), bool(want))

    def test_masked_values_reach_nothing(self):
        random = np.random.RandomState(3)
        options = oracle.Options(causal="top_left",
                                 k_lengths=np.array([3, 5]),
                                 q_lengths=np.array([4, 2]))
        q, k, v, bias, dout = (random.standard_normal(s) for s in (
            (2, 2, 4, 3), (2, 2, 5, 3), (2, 2, 5, 2), (2, 2, 4, 5),
            (2, 2, 4, 2)))
        keep = np.broadcast_to(oracle.kept(2, 4, 5, options), bias.shape)
        made, _, _ = oracle.attention(q, k, v, bias, options)
        rest = (made["o"], dout, made["max"], made["sum"])
        grads, _, _ = oracle.attention_grad(q, k, v, *rest, bias, options)
        for bad in (np.nan, np.inf):
            bias2 = np.where(keep, bias, bad)
            q2, k2, v2, dout2 = q.copy(), k.copy(), v.copy(), dout.copy()
            q2[1, :, 2:] = dout2[1, :, 2:] = bad
            k2[0, :, 3:] = v2[0, :, 3:] = bad
            # No query keeps the last key.
            k2[1, :, 4] = v2[1, :, 4] = bad
            other, _, _ = oracle.attention(q2, k2, v2, bias2, options)
            for name, value in made.items():
                np.testing.assert_array_equal(other[name], value)
            rest2 = (made["o"], dout2, made["max"], made["sum"])
            others, _, _ = oracle.attention_grad(q2, k2, v2, *rest2, bias2,
                                                 options)
            for name, value in grads.items():
                np.testing.assert_array_equal(others[name], value)

    def test_not_finite_values_propagate(self):
        q, k, v = np.zeros((1, 1, 2, 1)), np.zeros((1, 1, 2, 1)), np.ones(
            (1, 1, 2, 1))
        v[0, 0, 1] = np.inf
        made, _, _ = oracle.attention(q, k, v, None,
                                      oracle.Options(causal="top_left"))
        self.assertEqual(made["o"].ravel().tolist(), [1.0, np.inf])

    def test_rows_without_keys(self):
        q, k = np.ones((1, 1, 3, 2)), np.ones((1, 1, 2, 2))
        made, _, _ = oracle.attention(
            q, k, k, None, oracle.Options(causal="input_pos", input_pos=-2))
        self.assertTrue((made["o"][0, 0, :2] == 0).all())
        self.assertEqual(made["max"][0, 0, :2].tolist(), [-np.inf] * 2)
        self.assertEqual(made["sum"].ravel().tolist(), [0, 0, 1])


class DecodeAttention(unittest.TestCase):

    def test_last_rows_and_pages(self):
        """It gives the last rows of causal attention, whatever lies past a
        length and wherever pages are."""
        random = np.random.RandomState(9)
        whole, k, v = (random.standard_normal(shape) for shape in
                       ((2, 4, 7, 3), (2, 2, 7, 3), (2, 2, 7, 2)))
        options = oracle.Options(causal="bottom_right", window=3)
        lengths = (7, 5)
        full, _, _ = oracle.attention(
            whole, k, v, None, oracle.Options(causal="top_left", window=3))
        q = np.stack([whole[b, :, n - 2:n] for b, n in enumerate(lengths)])
        got, _, _ = oracle.decode_attention(q, k, v, None, lengths, options)
        for b, n in enumerate(lengths):
            for name, value in got.items():
                np.testing.assert_allclose(value[b], full[name][b, :, n - 2:n],
                                           rtol=1e-12)
        # Pages of three keys: the last ones are not full.
        table = np.array([[4, 0, 2], [1, 3, -1]])
        pools = [np.full((5, 2, 3, a.shape[3]), np.nan) for a in (k, v)]
        for b, n in enumerate(lengths):
            for t in range(n):
                for pool, a in zip(pools, (k, v)):
                    pool[table[b, t // 3], :, t % 3] = a[b, :, t]
        paged, _, _ = oracle.decode_attention(q, *pools, table, lengths,
                                              options)
        for name, value in paged.items():
            np.testing.assert_array_equal(value, got[name])


class Errors(unittest.TestCase):

    def ratio(self, got, want, dtype="f32", **more):
        return oracle.norm_errors(np.array(got), np.array(want), dtype, "f32",
                                  **more)[1]

    def test_measures(self):
        want = np.array([[1.0, 2.0], [1e-3, 0.0]])
        self.assertEqual(self.ratio(want, want), 0)
        off = want + [[0, 0], [1e-6, 0]]
        self.assertLess(self.ratio(off, want), 1)
        self.assertGreater(self.ratio(off, want, rank=1), 1)
        self.assertLess(self.ratio(off, want, rank=1, growth=1001.0), 1)
        self.assertLess(self.ratio(off, want, rank=1, size=want + 2.0), 1)
        self.assertEqual(self.ratio([0.0, 0.0], [0.0, 0.0]), 0)
        self.assertEqual(self.ratio([1e-30, 0.0], [0.0, 0.0]), np.inf)
        self.assertEqual(self.ratio([1.0], [1.0, 1.0]), np.inf)

    def test_what_is_not_finite(self):
        nan, inf = np.nan, np.inf
        self.assertEqual(self.ratio([nan, inf, 1], [nan, inf, 1]), 0)
        for got in ([0, inf, 1], [nan, -inf, 1], [nan, nan, 1],
                    [nan, inf, inf]):
            self.assertEqual(self.ratio(got, [nan, inf, 1.0]), inf)
        # Too large for f16, and near its smallest value.
        self.assertEqual(self.ratio([inf], [1e5], "f16"), 0)
        self.assertEqual(self.ratio([2.0**-24], [0.0], "f16"), 0)

    def test_rounding(self):
        for dtype in ("f16", "bf16"):
            want = np.random.RandomState(1).standard_normal(1000)
            got = dtypes.round_to(want, dtype)
            self.assertLessEqual(self.ratio(got, want, dtype), 1)
            self.assertGreater(self.ratio(got, want, "f32"), 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
