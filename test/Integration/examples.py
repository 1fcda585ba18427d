"""Runs what examples/ and the pages say, and checks what comes out."""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from batch import dtypes

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
X = EXAMPLES / "data" / "activations.npy"
W = EXAMPLES / "data" / "w.npy"


def run(*command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, text=True,
                          capture_output=True, check=False, timeout=120)


def sessions(page):
    """The `$ pol-run` lines of a page, each with what it prints; a line `...`
    stands for any lines, and `\\` at its end continues one."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = text.split("```")
    for block in blocks[1::2]:
        lines = block.splitlines()[1:]
        if lines and lines[0].startswith("$ pol-run "):
            yield lines[0][2:], "\n".join(lines[1:]) + "\n"


class ExamplesTest(unittest.TestCase):
    tool = "pol-run"
    compiler = "pol-opt"

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_tool(self, *arguments):
        done = run(self.tool, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check(self, *arguments):
        return run(sys.executable, EXAMPLES / "check.py", *arguments)

    def normal(self, name, shape, dtype="f32"):
        """A file of random numbers."""
        path = self.folder / f"{name}.npy"
        seed = int.from_bytes(name.encode(), "little") % 2**32
        values = np.random.RandomState(seed).standard_normal(shape)
        dtypes.save(path, values, dtype)
        return path

    def run_entry(self, entry, inputs, results, *options, file=None):
        """Runs a function of an example, without hidden buffers; returns the
        files of its results and what is printed."""
        words = ["examples/" + (file or f"{entry}.mlir"), "--entry", entry,
                 "--strict", *options]
        for array in inputs:
            words += ["--input", array]
        paths = [self.folder / f"{entry}-{name}.npy" for name in results.split()]
        for path in paths:
            words += ["--output", path]
        return paths, self.run_tool(*words)

    def assert_good(self, count, *arguments):
        done = self.check(*arguments)
        self.assertEqual((done.returncode, done.stdout.count("PASS")),
                         (0, count), done.stdout + done.stderr)

    def assert_same(self, paths, others):
        """The same to the bit."""
        self.assertEqual(len(paths), len(others))
        for path, other in zip(paths, others):
            self.assertEqual(path.read_bytes(), other.read_bytes(), path.name)

    def test_first_lines(self):
        """The first line of an example says how to run it."""
        files = sorted(EXAMPLES.glob("*.mlir"))
        self.assertGreaterEqual(len(files), 6)
        for file in files:
            line = file.read_text(encoding="utf-8").splitlines()[0]
            command = shlex.split(line.removeprefix("// "))
            self.assertEqual(command[:2], ["build/bin/pol-run",
                                           f"examples/{file.name}"])
            text = self.run_tool(*command[1:])
            self.assertIn("result 0: ", text)
            self.assertRegex(text, r"\n  (arena|heap)0? +planned +\d")
            if "--strict" not in command:
                self.assertEqual(self.run_tool(*command[1:], "--strict"), text)

    def test_strict(self):
        """No buffer and no copy is hidden in any example, when tensors become
        memrefs and when kernels become loops: nothing is said, either."""
        files = sorted(EXAMPLES.glob("*.mlir"))
        self.assertGreaterEqual(len(files), 6)
        for file in files:
            for options in ("strict=true", "report-hidden=true"):
                with self.subTest(f"{file.name} {options}"):
                    done = run(self.compiler, file, f"--pol-to-llvm={options}")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn("llvm.func @pol_entry_", done.stdout)

    def test_sessions(self):
        for page in ("README.md", "docs/pol-run.md"):
            found = list(sessions(page))
            self.assertGreaterEqual(len(found), 2)
            for line, printed in found:
                with self.subTest(line):
                    done = run(self.tool, *shlex.split(line)[1:])
                    got = done.stdout + done.stderr
                    before, omitted, after = printed.rpartition("...\n")
                    if omitted and got.startswith(before):
                        got = before + omitted + got[-len(after):]
                    self.assertEqual(got, printed)

    def test_softmax(self):
        y = self.folder / "y.npy"
        for entry in ("softmax_by_hand", "softmax_applied"):
            for space in ("heap", "arena:66K"):
                self.run_tool("examples/softmax.mlir", "--entry", entry,
                              "--strict", "--input", X, "--output", y,
                              "--space", space)
                done = self.check("softmax", X, y)
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_softmax_of_other_shapes(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        random = np.random.RandomState(3)
        for shape in ((1, 1), (3, 1), (1, 257), (17, 5)):
            dtypes.save(x, 30 * random.standard_normal(shape), "f32")
            self.run_tool("examples/softmax.mlir", "--entry", "softmax_applied",
                          "--strict", "--input", x, "--output", y)
            done = self.check("softmax", x, y)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_rms_norm(self):
        y, rstd = self.folder / "y.npy", self.folder / "rstd.npy"
        for entry in ("rms_norm_by_hand", "rms_norm_applied"):
            for space in ("heap", "arena:65K"):
                self.run_tool("examples/rms_norm.mlir", "--entry", entry,
                              "--strict", "--input", X, "--input", W, "--output", y,
                              "--output", rstd, "--space", space)
                done = self.check("rms_norm", X, W, y, rstd)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(done.stdout.count("PASS"), 2)

    def test_destination_style(self):
        """The kernels themselves, on buffers that are inputs."""
        y, rstd = self.folder / "y.npy", self.folder / "rstd.npy"
        matrix, vector = ("256x64xf32=const:nan", "256xf32=const:nan")
        self.run_tool("examples/softmax.mlir", "--entry", "softmax", "--strict",
                      "--input", X, "--input", matrix, "--input", vector,
                      "--input", vector, "--output", y)
        self.assertEqual(self.check("softmax", X, y).returncode, 0)
        self.run_tool("examples/rms_norm.mlir", "--entry", "rms_norm",
                      "--strict", "--input", X, "--input", W, "--input", matrix,
                      "--input", vector, "--output", y, "--output", rstd)
        self.assertEqual(self.check("rms_norm", X, W, y, rstd).returncode, 0)

    # Shadows are overwritten: they go in full of NaN.

    def test_softmax_op(self):
        dy = self.normal("dy", (256, 64))
        (y,), _ = self.run_entry("softmax_op", [X], "y", file="softmax.mlir")
        self.assert_good(1, "softmax", X, y)
        (dx,), text = self.run_entry(
            "softmax_op_grad", [y, dy, X, "256x64xf32=const:nan"], "dx",
            "--memory-report", file="softmax.mlir")
        self.assert_good(1, "softmax_grad", y, dy, dx)
        self.assertIn("(no buffers)", text)

    def test_rms_norm_grad(self):
        file = {"file": "rms_norm.mlir"}
        dy = self.normal("dy", (256, 64))
        (y, rstd), _ = self.run_entry("rms_norm_applied", [X, W], "y rstd",
                                      **file)
        (dx, dw), _ = self.run_entry("rms_norm_grad", [X, W, rstd, dy], "dx dw",
                                     **file)
        self.assert_good(2, "rms_norm_grad", X, W, rstd, dy, dx, dw)
        together, _ = self.run_entry("rms_norm_step", [X, W, dy], "y dx dw",
                                     "--space", "arena:131K", **file)
        self.assert_same(together, (y, dx, dw))
        alone, text = self.run_entry(
            "rms_norm_weight_grad", [X, W, "64xf32=const:nan", rstd, dy], "dw",
            "--memory-report", "--space", "arena:1K", **file)
        self.assert_same(alone, [dw])
        self.assertRegex(text, r"arena +planned +1024 +1024 +1024 ")

    def test_layer_norm(self):
        b, dy = self.normal("b", 64), self.normal("dy", (256, 64))
        (y, mean, rstd), _ = self.run_entry("layer_norm", [X, W, b],
                                            "y mean rstd")
        self.assert_good(3, "layer_norm", X, W, b, y, mean, rstd)
        matrix, vector = "256x64xf32=const:nan", "64xf32=const:nan"
        grads, _ = self.run_entry(
            "layer_norm_grad", [X, matrix, dy, W, vector, b, vector, mean, rstd],
            "dx dw db", file="layer_norm.mlir")
        self.assert_good(3, "layer_norm_grad", X, dy, W, b, mean, rstd, *grads)
        together, _ = self.run_entry("layer_norm_step", [X, W, b, dy],
                                     "y dx dw db", file="layer_norm.mlir")
        self.assert_same(together, [y, *grads])
        alone, _ = self.run_entry(
            "layer_norm_bias_grad", [X, dy, mean, rstd, vector,
                                     "4x64xf32=const:nan"], "db",
            file="layer_norm.mlir")
        self.assert_same(alone, grads[2:])
        ones, zeros = self.folder / "ones.npy", self.folder / "zeros.npy"
        dtypes.save(ones, np.ones(64), "f32")
        dtypes.save(zeros, np.zeros(64), "f32")
        plain, _ = self.run_entry("layer_norm_inference", [X], "y",
                                  file="layer_norm.mlir")
        self.assert_good(1, "layer_norm", X, ones, zeros, *plain)

    def test_attention(self):
        """Of the three batch entries one has no keys; what is in keys and
        values past a length is not a number."""
        shapes = {"q": (3, 6, 16, 24), "k": (3, 2, 20, 24), "v": (3, 2, 20, 8),
                  "do": (3, 6, 16, 8)}
        q, k, v, do = (self.normal(*item) for item in shapes.items())
        lengths = self.folder / "lengths.npy"
        dtypes.save(lengths, [20, 7, 0], "i32")
        for path in (k, v):
            values, _ = dtypes.load(path)
            values[1, :, 7:], values[2] = np.nan, np.nan
            dtypes.save(path, values, "f32")
        (o, *rows), _ = self.run_entry("attention", [q, k, v, lengths],
                                       "o max sum")
        self.assert_good(3, "attention", q, k, v, lengths, o, *rows)
        dq, dk, dv = (f"{'x'.join(map(str, shapes[name]))}xf32=const:nan"
                      for name in "qkv")
        grads, _ = self.run_entry(
            "attention_grad", [q, dq, k, dk, v, dv, o, do, lengths, *rows],
            "dq dk dv", file="attention.mlir")
        self.assert_good(3, "attention_grad", q, k, v, o, do, lengths, *rows,
                         *grads)
        together, _ = self.run_entry("attention_step", [q, k, v, lengths, do],
                                     "o dq dk dv", file="attention.mlir")
        self.assert_same(together, [o, *grads])

    def test_decode_attention(self):
        """A contiguous cache, and the same in pages in another order, whose
        last one is full of what is not a number."""
        q = self.normal("q", (2, 4, 1, 24))
        k, v = (self.normal(name, (2, 2, 96, depth))
                for name, depth in (("k", 24), ("v", 8)))
        lengths, table = (self.folder / f"{name}.npy"
                          for name in ("lengths", "table"))
        dtypes.save(lengths, [90, 33], "i32")
        file = {"file": "decode_attention.mlir"}
        (o,), text = self.run_entry("decode", [q, k, v, lengths], "o",
                                    "--memory-report", **file)
        self.assert_good(1, "decode", q, k, v, lengths, o)
        self.assertRegex(text, r"partial_o +pol.decode_attention +scratch ")
        # Page i of sequence b is page 2 i + b of the pool.
        pools = [self.folder / f"{name}-pool.npy" for name in "kv"]
        for path, pool in zip((k, v), pools):
            values, _ = dtypes.load(path)
            pages = values.reshape(2, 2, 6, 16, -1).transpose(2, 0, 1, 3, 4)
            pages = pages.reshape(12, 2, 16, -1)
            dtypes.save(pool, np.concatenate(
                [pages, np.full_like(pages[:1], np.nan)]), "f32")
        numbers = [[2 * i + b for i in range(6)] for b in range(2)]
        numbers[1][3:] = [12, 12, 12]
        dtypes.save(table, numbers, "i32")
        (paged,), _ = self.run_entry("decode_paged",
                                     [q, *pools, table, lengths], "o", **file)
        self.assert_good(1, "decode_paged", q, *pools, table, lengths, paged)
        self.assert_good(1, "decode", q, k, v, lengths, paged)

    def test_attention_variant(self):
        """Three documents, and slopes of both signs."""
        arrays = {n: self.normal(n, (1, h, 150, 16)) for n, h in
                  (("q", 4), ("k", 2), ("v", 2), ("do", 4))}
        slopes, documents = (self.folder / f"{name}.npy"
                             for name in ("slopes", "documents"))
        ids = np.repeat([4, 2, 9], [70, 1, 79])
        dtypes.save(slopes, [0.5, -0.03, 0.0, 0.1], "f32")
        dtypes.save(documents, ids, "i32")
        results, text = self.run_entry(
            "variant_step", [arrays["q"], arrays["k"], arrays["v"], slopes,
                             documents, arrays["do"]], "o dq dslopes",
            "--memory-report", file="attention_variant.mlir")
        self.assertRegex(text, r"tiles +pol.attention +scratch ")
        q, k, v, do = (dtypes.load(arrays[n])[0].astype(np.float64)
                       for n in ("q", "k", "v", "do"))
        k, v = (np.repeat(a, 2, axis=1) for a in (k, v))
        back = np.arange(150) - np.arange(150)[:, None]
        a = dtypes.load(slopes)[0].astype(np.float64)[:, None, None]
        kept = (ids == ids[:, None]) & (back <= 0)
        s = np.where(kept, q @ k.swapaxes(2, 3) / 4 + a * back, -np.inf)
        p = np.exp(s - s.max(axis=3, keepdims=True))
        p /= p.sum(axis=3, keepdims=True)
        o = p @ v
        ds = p * (do @ v.swapaxes(2, 3) - (do * o).sum(axis=3, keepdims=True))
        wants = o, ds @ k / 4, (ds * back).sum(axis=(0, 2, 3))
        for path, want in zip(results, wants):
            got, _ = dtypes.load(path)
            self.assertLess(np.abs(got - want).max() / np.abs(want).max(),
                            1e-5, path)

    def test_training_step(self):
        x, target = (self.normal(name, (2, 4, 19, 16)) for name in ("x", "t"))
        k, v = (self.normal(name, (2, 2, 19, 16)) for name in "kv")
        w = self.normal("w", 16, "bf16")
        inputs = [x, w, k, v, target]
        # What attention works in grows with the workers.
        results, text = self.run_entry("training_step", inputs, "o dx dw",
                                       "--memory-report", "--space",
                                       "arena:128K", "--max-workers", "2")
        self.assert_good(3, "training_step", *inputs, *results)
        self.assertEqual(dtypes.load(results[2])[1], "f32")
        # What the forward pass leaves, and what the backward pass takes.
        self.assertRegex(text, r"sum +pol.attention +checkpoint +arena0 ")
        self.assertRegex(text, r"delta +pol.attention_grad +scratch +arena1 ")
        self.assertRegex(text, r"\n  arena0 +planned ")
        self.assertRegex(text, r"\n  arena1 +planned ")

    def test_check_fails(self):
        """A wrong result does not pass."""
        y = self.folder / "y.npy"
        x, _ = dtypes.load(X)
        shifted = np.exp(x - x.max(axis=-1, keepdims=True))
        right = shifted / shifted.sum(axis=-1, keepdims=True)
        nan = right.copy()
        nan[100, 3] = np.nan
        for wrong in (right * 1.00001, nan, right[:-1], right[::-1]):
            dtypes.save(y, wrong, "f32")
            done = self.check("softmax", X, y)
            self.assertEqual(done.returncode, 1)
            self.assertIn("FAIL", done.stdout)

    def test_data(self):
        """The script makes the files that are there, to the bit."""
        done = run(sys.executable, EXAMPLES / "data" / "make_activations.py",
                   "--output", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for file in (X, W):
            self.assertEqual((self.folder / file.name).read_bytes(),
                             file.read_bytes())
            self.assertLess(file.stat().st_size, 200_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pol-run", required=True, help="the tool")
    parser.add_argument("--pol-opt", required=True, help="the compiler")
    options, rest = parser.parse_known_args()
    ExamplesTest.tool = str(pathlib.Path(options.pol_run).resolve())
    ExamplesTest.compiler = str(pathlib.Path(options.pol_opt).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
