"""Runs what examples/ and the README say, and checks what comes out."""

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


def readme_sessions():
    """The `$ pol-run` lines of the README, each with what it prints."""
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```")
    for block in blocks[1::2]:
        lines = block.splitlines()[1:]
        if lines and lines[0].startswith("$ pol-run "):
            yield lines[0][2:], "\n".join(lines[1:]) + "\n"


class ExamplesTest(unittest.TestCase):
    tool = "pol-run"

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

    def test_first_lines(self):
        """The first line of an example says how to run it."""
        files = sorted(EXAMPLES.glob("*.mlir"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            line = file.read_text(encoding="utf-8").splitlines()[0]
            command = shlex.split(line.removeprefix("// "))
            self.assertEqual(command[:2], ["build/bin/pol-run",
                                           f"examples/{file.name}"])
            text = self.run_tool(*command[1:])
            self.assertIn("result 0: ", text)

    def test_readme(self):
        sessions = list(readme_sessions())
        self.assertTrue(sessions)
        for line, printed in sessions:
            with self.subTest(line):
                done = run(self.tool, *shlex.split(line)[1:])
                self.assertEqual(done.stdout + done.stderr, printed)

    def test_softmax(self):
        y = self.folder / "y.npy"
        for entry in ("softmax_by_hand", "softmax_applied"):
            for space in ("heap", "arena:66K"):
                self.run_tool("examples/softmax.mlir", "--entry", entry,
                              "--input", X, "--output", y, "--space", space)
                done = self.check("softmax", X, y)
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_softmax_of_other_shapes(self):
        x, y = self.folder / "x.npy", self.folder / "y.npy"
        random = np.random.RandomState(3)
        for shape in ((1, 1), (3, 1), (1, 257), (17, 5)):
            dtypes.save(x, 30 * random.standard_normal(shape), "f32")
            self.run_tool("examples/softmax.mlir", "--entry", "softmax_applied",
                          "--input", x, "--output", y)
            done = self.check("softmax", x, y)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_rms_norm(self):
        y, rstd = self.folder / "y.npy", self.folder / "rstd.npy"
        for entry in ("rms_norm_by_hand", "rms_norm_applied"):
            for space in ("heap", "arena:65K"):
                self.run_tool("examples/rms_norm.mlir", "--entry", entry,
                              "--input", X, "--input", W, "--output", y,
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
    options, rest = parser.parse_known_args()
    ExamplesTest.tool = str(pathlib.Path(options.pol_run).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
