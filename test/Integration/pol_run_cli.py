"""What pol-run says and does: errors of one line, and what it prints and writes.

Whatever is wrong with a request gives one line that starts with
`pol-run: error:` and exit status 1, and nothing is written. Where the module
itself is wrong, MLIR's diagnostics come before that line.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import numpy as np

from batch import dtypes

MODULE = """\
func.func @add(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %z: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  %0 = linalg.add ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%z : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @norm(%space: !pol.arena, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = pol.apply "pol.rms_norm"(%x) in %space
      : (tensor<?x?xf32>), !pol.arena -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @two(%x: memref<?xf32>, %n: i64) -> (i64, memref<?xf32>) {
  return %n, %x : i64, memref<?xf32>
}
func.func @static(%x: memref<2x3xf32>) -> memref<2x3xf32> {
  return %x : memref<2x3xf32>
}
func.func @nothing() { return }
func.func private @hidden(%x: f32) { return }
func.func private @external(%x: f32)
"""

# Types that no array has, or that no row-major array can be.
UNSUPPORTED = {
    "vector<4xf32>": "vector<4xf32>",
    "memref<*xf32>": "memref<*xf32>",
    "complex<f32>": "complex<f32>",
    "i4": "i4",
    "memref<4xi4>": "i4",
    "memref<2xcomplex<f32>>": "complex<f32>",
    "!pol.mark": "!pol.mark",
    "memref<1xf32, strided<[1], offset: 3>>": "offset",
    "memref<1xf32, strided<[7]>>": "row-major",
}


def npy_header(text, version=1):
    text = text.encode("latin1") + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text


class PolRunTest(unittest.TestCase):
    """Runs the tool in a folder of its own."""

    tool = "pol-run"

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "m.mlir").write_text(MODULE)

    def save(self, name, array, dtype):
        dtypes.save(self.folder / name, array, dtype)

    def load(self, name):
        return dtypes.load(self.folder / name)

    def run_tool(self, *arguments):
        return subprocess.run([self.tool, *arguments], cwd=self.folder,
                              capture_output=True, check=False, timeout=120,
                              stdin=subprocess.DEVNULL)

    def run_entry(self, entry, *arguments):
        done = self.run_tool("m.mlir", "--entry", entry, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def check_failure(self, arguments, *parts, diagnostics=False):
        """The call fails in one line that has all the parts in it."""
        before = sorted(self.folder.rglob("*"))
        done = self.run_tool(*arguments)
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 1, text)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(text.endswith("\n"))
        lines = text[:-1].split("\n")
        errors = [line for line in lines if line.startswith("pol-run: error: ")]
        self.assertEqual(errors, lines[-1:], text)
        if not diagnostics:
            self.assertEqual(len(lines), 1, text)
        for part in parts:
            self.assertIn(part, lines[-1])
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def check_entry_failure(self, entry, arguments, *parts):
        self.check_failure(["m.mlir", "--entry", entry, *arguments], *parts)


class InputErrors(PolRunTest):
    X = ("--input", "3x4xf32=ones")

    def test_file(self):
        self.check_entry_failure("static", ["--input", "no.npy"],
                                 "input 0", "'no.npy'", "No such file")
        (self.folder / "d.npy").mkdir()
        self.check_entry_failure("static", ["--input", "d.npy"], "'d.npy'")

    def test_element_type(self):
        self.save("x.npy", np.ones((2, 3)), "f64")
        self.check_entry_failure("static", ["--input", "x.npy"], "input 0",
                                 "expected 2x3xf32, but got 2x3xf64")
        self.save("x.npy", np.ones((2, 3)), "i32")
        self.check_entry_failure("static", ["--input", "x.npy"],
                                 "expected 2x3xf32, but got 2x3xi32")

    def test_shape(self):
        for shape in ("2x4", "3x2", "6", "2x3x1", "0x3"):
            self.check_entry_failure(
                "static", ["--input", f"{shape}xf32=ones"],
                f"expected 2x3xf32, but got {shape}xf32")
        self.check_entry_failure("static", ["--input", "f32=1"],
                                 "expected 2x3xf32, but got f32")
        self.check_entry_failure(
            "add", [*self.X, *self.X, "--input", "3x5xf32=ones"], "input 2",
            "expected ?x4xf32, but got 3x5xf32")

    def test_count(self):
        self.check_entry_failure("add", self.X, "expected 3 inputs, but got 1")
        self.check_entry_failure("add", self.X * 4,
                                 "expected 3 inputs, but got 4")
        self.check_entry_failure("nothing", self.X,
                                 "expected 0 inputs, but got 1")
        # Spaces take no input.
        self.check_entry_failure("norm", self.X * 2,
                                 "expected 1 input, but got 2")

    def test_scalar(self):
        x = ("--input", "4xf32=ones", "--input")
        self.check_entry_failure("two", [*x, "i32=1"], "input 1",
                                 "expected i64, but got i32")
        self.check_entry_failure("two", [*x, "1xi64=ones"],
                                 "expected i64, but got 1xi64")
        self.check_entry_failure("two", [*x, "i64=x"], "'x'")
        self.check_entry_failure("two", [*x, "i64=99999999999999999999"], "i64")

    def test_text(self):
        for text in ("", "4xf32", "4xf33=ones", "4x=ones", "-1xf32=ones",
                     "4xf32=sevens", "4xf32=random:", "4xf32=random:-1",
                     "?xf32=ones", "f32=", "4xi32=normal:1", "4xf32=const:",
                     "4xf32=\x1b[31m", "4xf16=const:1e9",
                     "9223372036854775807x9223372036854775807xf32=ones"):
            self.check_entry_failure("static", ["--input", text], "input 0")


class FileErrors(PolRunTest):
    """Files that are not what their names say."""

    GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

    def check_bytes(self, contents, *parts):
        (self.folder / "x.npy").write_bytes(contents)
        self.check_entry_failure("static", ["--input", "x.npy"], "input 0",
                                 "'x.npy'", *parts)

    def test_truncated(self):
        whole = npy_header(self.GOOD) + bytes(24)
        for size in (0, 1, 5, 6, 7, 8, 9, 10, 40, len(whole) - 24,
                     len(whole) - 1):
            self.check_bytes(whole[:size])
        self.check_bytes(whole + b"\0", "24 bytes")

    def test_hostile_header(self):
        for text in (
                "", "{", "{}", "[]", "None", "{'descr': '<f4'}",
                self.GOOD.replace("(2, 3)", "(-2, 3)"),
                self.GOOD.replace("(2, 3)", "(2, 3.0)"),
                self.GOOD.replace("(2, 3)", "6"),
                self.GOOD.replace("(2, 3)", f"({2**62}, {2**62})"),
                self.GOOD.replace("(2, 3)", f"({2**70},)"),
                self.GOOD.replace("(2, 3)", "(" + "1," * 1000 + ")"),
                self.GOOD.replace("<f4", ">f4"),
                self.GOOD.replace("<f4", "|O"),
                self.GOOD.replace("'<f4'", "[('a', '<f4')]"),
                self.GOOD.replace("False", "__import__('os').abort()"),
                self.GOOD.replace("}", "'x': 1}"),
                "(" * 60000, "\x1b[2J\0\n" * 100):
            self.check_bytes(npy_header(text) + bytes(24))

    def test_size_of_header(self):
        start = b"\x93NUMPY"
        self.check_bytes(start + b"\x01\0\xff\xff{}")
        self.check_bytes(start + b"\x02\0\xff\xff\xff\xff{}")
        self.check_bytes(start + b"\x09\0\x01\0{", "version")

    def test_other_files(self):
        self.check_bytes(b"PK\x03\x04 as numpy.savez writes")
        self.check_bytes(np.random.RandomState(0).bytes(4096))


class ModuleErrors(PolRunTest):
    def check_text(self, text, *parts, arguments=(), diagnostics=True):
        file = self.folder / "bad.mlir"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.check_failure(["bad.mlir", *arguments], *parts,
                           diagnostics=diagnostics)

    def test_file(self):
        self.check_failure(["no.mlir"], "'no.mlir'", "No such file")
        self.check_failure([str(self.folder)], "directory")

    def test_unparsable(self):
        self.check_text("func.func @f(", "could not parse the module")
        self.check_text("garbage", "could not parse the module")
        self.check_text(np.random.RandomState(0).bytes(4096), "parse")
        self.check_text(b"ML\xefR" + bytes(range(256)), "parse")

    def test_empty(self):
        self.check_text("", "expected a public function", diagnostics=False)
        self.check_text("func.func private @f() { return }",
                        "expected a public function", diagnostics=False)

    def test_invalid(self):
        self.check_text("func.func @f() -> f32 { return }", "parse")

    def test_does_not_compile(self):
        self.check_text("""
            func.func @f(%s: !pol.heap) -> memref<4xf32> {
              %0 = pol.frame on %s : !pol.heap -> memref<4xf32> {
              ^bb0(%f: !pol.frame):
                %m = pol.alloc %f[] : !pol.frame -> memref<4xf32>
                pol.yield %m : memref<4xf32>
              }
              return %0 : memref<4xf32>
            }""", "could not compile the module")

    def test_entry(self):
        for name, part in (("none", "'none'"), ("hidden", "public"),
                           ("external", "body"), ("", "")):
            self.check_failure(["m.mlir", "--entry", name], part)
        self.check_failure(["m.mlir"], "expected --entry", "'add'", "'norm'")

    def test_unsupported_types(self):
        for text, part in UNSUPPORTED.items():
            with self.subTest(text):
                self.check_text(f"func.func @f(%x: {text}) {{ return }}", part,
                                arguments=("--input", "1xf32=ones"))
        self.check_text("func.func @f() -> vector<1xf32> {"
                        " %0 = arith.constant dense<0.0> : vector<1xf32>"
                        " return %0 : vector<1xf32> }", "vector<1xf32>")


class OptionErrors(PolRunTest):
    X = ("--input", "3x4xf32=ones")

    def test_values(self):
        for option, values in {
                "--space": ("", "stack", "arena:", "arena:-1", "arenas",
                            "arena:1T", "arena:x", "arena:1.5M", "heap:1",
                            "arena:9999999999999999999", "arena:8589934592G"),
                "--placement": ("", "planned", "Plan", "x"),
                "--threads": ("", "0", "-1", "x", "4097", "1e3", "2 "),
                "--time": ("", "0", "-1", "x", "1.5", "99999999999999999999"),
                "--opt-level": ("", "4", "-1", "x", "O3"),
                "--max-stack-bytes": ("", "-1", "x"),
                "--target": ("", "gpu", "cuda", "CPU"),
                "--memory-report": ("x", "x.csv", "x.json.gz", "x.SVG", "svg"),
        }.items():
            for value in values:
                with self.subTest(f"{option}={value}"):
                    self.check_entry_failure(
                        "norm", [*self.X, f"{option}={value}"], option)

    def test_options(self):
        self.check_failure(["m.mlir", "--inptu", "x"], "'--inptu'", "--help")
        self.check_failure(["m.mlir", "m.mlir"], "--help")
        self.check_entry_failure(
            "norm", [*self.X, "--space", "arena:1M", "--space", "heap"],
            "expected one --space")

    def test_outputs(self):
        out = ("--output", "y.npy")
        self.check_entry_failure("static", ["--input", "2x3xf32=ones", *out,
                                            "--output", "z.npy"],
                                 "at most 1 output,", "'static'", "got 2")
        self.check_entry_failure("nothing", out, "at most 0 outputs")
        two = ("--input", "4xf32=ones", "--input", "i64=1")
        self.check_entry_failure("two", [*two, *out, *out], "'y.npy' twice")
        # Found out before the first result is written.
        for path in ("no/y.npy", ".", "m.mlir/y.npy"):
            self.check_entry_failure("two", [*two, *out, "--output", path],
                                     f"cannot write '{path}'")
            for report in ("no/r.json", "no/r.svg", "no/r.txt"):
                self.check_entry_failure(
                    "norm", [*self.X, f"--memory-report={report}"],
                    f"cannot write '{report}'")

    def test_arena_too_small(self):
        carved = ("'y'", "'pol.rms_norm'", "3x4xf32", "m.mlir:8:")
        for placement, parts in (("carve", carved), ("bump", ("m.mlir:7:",)),
                                 ("plan", ("function 'norm'", "m.mlir:7:"))):
            more = [*self.X, f"--placement={placement}"]
            for size in ("0", "1", "47"):
                self.check_entry_failure(
                    "norm", [*more, "--output", "y.npy", "--space",
                             f"arena:{size}", "--memory-report=r.json"],
                    *parts, "wants 48 bytes",
                    f"but {size} {'is' if size == '1' else 'are'} available")
            self.run_entry("norm", *more, "--space", "arena:48")

    def test_no_footprint(self):
        """Of a function whose sizes depend on data, or that is not planned."""
        self.check_entry_failure("norm", [*self.X, "--placement=carve",
                                          "--space=arena"], "--space")
        self.check_entry_failure("norm", [*self.X, "--plan-only", "--output",
                                          "y.npy"], "--plan-only")

    def test_memory_that_nobody_has(self):
        self.check_entry_failure("norm", [*self.X, "--space",
                                          "arena:8000000000G"])
        self.check_entry_failure("static", ["--input",
                                            f"2x{2**60}xf32=zeros"])


class Successes(PolRunTest):
    def test_types(self):
        """What goes in comes out, bit for bit."""
        names = [name for name in dtypes.NUMPY if name != "index"]
        types = [f"memref<?x?x{name}>" for name in names]
        parameters = ", ".join(f"%{n}: {t}" for n, t in zip(names, types))
        (self.folder / "m.mlir").write_text(
            f"func.func @f({parameters}) -> ({', '.join(types)}) {{\n  return "
            f"{', '.join(f'%{n}' for n in names)} : {', '.join(types)}\n}}\n")
        for shape in ((2, 3), (0, 3), (1, 1)):
            arguments = []
            for name in names:
                values = np.arange(np.prod(shape)).reshape(shape) - 2
                self.save(f"{name}.npy", dtypes.round_to(values, name), name)
                arguments += ["--input", f"{name}.npy", "--output",
                              f"out-{name}.npy"]
            self.run_entry("f", *arguments)
            for name in names:
                (given, _), (got, dtype) = (self.load(f"{name}.npy"),
                                            self.load(f"out-{name}.npy"))
                self.assertEqual((got.tobytes(), got.shape, dtype),
                                 (given.tobytes(), shape, name))

    def test_scalars(self):
        values = {"f16": "1.5", "bf16": "-2", "f32": "0.1", "f64": "0.1",
                  "i1": "true", "i8": "-128", "i16": "7", "i32": "-1",
                  "i64": str(2**62), "index": "12"}
        parameters = ", ".join(f"%{t}: {t}" for t in values)
        (self.folder / "m.mlir").write_text(
            f"func.func @f({parameters}) -> ({', '.join(values)}) {{\n  return "
            f"{', '.join(f'%{t}' for t in values)} : {', '.join(values)}\n}}\n")
        arguments = []
        for name, value in values.items():
            arguments += ["--input", f"{name}={value}", "--output",
                          f"{name}.npy"]
        text = self.run_entry("f", *arguments)
        self.assertEqual(len(text.splitlines()), len(values))
        for name, value in values.items():
            got, _ = self.load(f"{name}.npy")
            want = 1 if value == "true" else float(value)
            self.assertEqual(got.shape, ())
            self.assertEqual(got, dtypes.round_to(want, name), name)

    def test_several(self):
        text = self.run_entry("two", "--input", "5xf32=iota", "--input",
                              "i64=-9", "--output", "n.npy", "--output",
                              "x.npy")
        self.assertRegex(text, r"(?m)^result 0: i64 .*\[-9\]$")
        self.assertRegex(text, r"(?m)^result 1: 5xf32 .*\[0, 1, 2, 3, 4\]$")
        self.assertEqual(self.load("n.npy")[0], -9)
        self.assertEqual(self.load("x.npy")[0].tolist(), [0, 1, 2, 3, 4])

    def test_fewer_outputs_than_results(self):
        self.run_entry("two", "--input", "1xf32=ones", "--input", "i64=4",
                       "--output", "n.npy")
        self.assertEqual(self.load("n.npy")[0], 4)

    def test_fortran_order(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.save(self.folder / "x.npy", np.asfortranarray(x))
        self.assertIn(b"'fortran_order': True",
                      (self.folder / "x.npy").read_bytes())
        self.run_entry("static", "--input", "x.npy", "--output", "y.npy")
        self.assertTrue(np.array_equal(self.load("y.npy")[0], x))

    def test_named_entry_among_others(self):
        text = self.run_entry("add", "--input", "2x4xf32=iota", "--input",
                              "2x4xf32=const:2", "--input", "2x4xf32=zeros")
        self.assertIn("[2, 3, 4, 5, 6, 7, ...]", text)

    def test_only_entry(self):
        (self.folder / "one.mlir").write_text(
            "func.func private @g(%x: f32) { return }\n"
            "func.func @f(%x: f32) -> f32 { return %x : f32 }\n")
        done = self.run_tool("one.mlir", "--input", "f32=3")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_others_do_not_matter(self):
        """A function that could not be an entry point, beside one that is."""
        with open(self.folder / "m.mlir", "a", encoding="utf-8") as file:
            file.write("func.func @tuple(%x: tuple<f32>) { return }\n")
        self.run_entry("nothing")

    def test_output_replaces(self):
        (self.folder / "y.npy").write_text("old")
        self.run_entry("static", "--input", "2x3xf32=ones", "--output", "y.npy")
        self.assertEqual(self.load("y.npy")[0].tolist(), [[1, 1, 1]] * 2)
        names = {path.name for path in self.folder.iterdir()}
        self.assertEqual(names, {"m.mlir", "y.npy"})

    def test_time(self):
        text = self.run_entry("norm", "--input", "3x4xf32=ones", "--time", "3")
        number = r"\d+\.\d+"
        self.assertRegex(text, rf"(?m)^compile: {number} ms \(place {number}, "
                               rf"expand {number}, lower {number}, "
                               rf"optimize {number}, assemble {number}\)$")
        self.assertRegex(text, rf"(?m)^time: median {number} us, best {number} "
                               rf"us, worst {number} us of 3 runs$")

    def test_time_in_a_small_arena(self):
        """Each run has the memory of the first."""
        self.run_entry("norm", "--input", "3x4xf32=ones", "--time", "20",
                       "--space", "arena:48")

    def test_help(self):
        done = self.run_tool("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("entry", "input", "output", "space", "placement",
                       "plan-only", "target", "threads",
                       "memory-report", "time", "opt-level", "strict",
                       "no-checks"):
            self.assertRegex(done.stdout.decode(), rf"(?m)^ +--{option}\b")


class MemoryReports(PolRunTest):
    """What is observed of carves at run time, but for the last."""

    ARGUMENTS = ("--input", "300x64xf32=normal:1", "--space", "arena:100K",
                 "--placement=carve")

    def report(self, entry, *arguments):
        """The report of a run, from its file of JSON."""
        text = self.run_entry(entry, *arguments, "--memory-report=r.json")
        self.assertNotIn("memory report", text)
        return json.loads((self.folder / "r.json").read_text())

    def test_json(self):
        report = self.report("norm", *self.ARGUMENTS)
        self.assertEqual(report, {
            "entry": "norm",
            "buffers": [{
                "name": "y", "kernel": "pol.rms_norm", "role": "output",
                "space": "arena", "bytes": 76800, "offset": 0, "times": 1,
                "begin": 1, "location": "m.mlir:8:8"}],
            "spaces": [{
                "name": "arena", "mode": "carved", "clock": "event",
                "steps": 1, "capacity": 102400, "peak": 76800,
                "lower_bound": 76800}]})

    def test_text(self):
        text = self.run_entry("norm", *self.ARGUMENTS, "--memory-report")
        table = text[text.index("memory report of norm\n"):]
        self.run_entry("norm", *self.ARGUMENTS, "--memory-report=r.txt")
        self.assertEqual((self.folder / "r.txt").read_text(), table)
        self.assertRegex(table, r"\n  arena +carved +102400 +76800 +76800 +1.000"
                                r"\n$")

    def test_svg(self):
        text = self.run_entry("norm", *self.ARGUMENTS, "--memory-report=r.svg")
        self.assertNotIn("memory report", text)
        svg = "{http://www.w3.org/2000/svg}"
        root = xml.etree.ElementTree.parse(self.folder / "r.svg").getroot()
        self.assertEqual(root.tag, svg + "svg")
        buffers = [group for group in root.iter(svg + "g")
                   if group.get("class") == "b output"]
        self.assertEqual(len(buffers), 1)
        self.assertEqual(len(buffers[0].findall(svg + "rect")), 1)
        title = buffers[0].find(svg + "title").text
        for part in ("y", "kernel: pol.rms_norm", "75 KiB (76800 bytes)",
                     "offset: 0 to 76800", "live: event 1 to the end",
                     "at m.mlir:8:8"):
            self.assertIn(part, title.splitlines())

    LOOP = """
        func.func @loop(%s: !pol.arena, %n: index, %x: memref<64xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %d = arith.constant 64 : index
          scf.for %i = %c0 to %n step %c1 {
            pol.frame on %s : !pol.arena {
            ^bb0(%f: !pol.frame):
              %a = pol.alloc %f[%d] {name = "a"} : !pol.frame -> memref<?xf32>
              linalg.copy ins(%x : memref<64xf32>) outs(%a : memref<?xf32>)
              %b = pol.alloc %f[%d] {name = "b"} : !pol.frame -> memref<?xf32>
              linalg.copy ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
              linalg.copy ins(%b : memref<?xf32>) outs(%x : memref<64xf32>)
              pol.yield
            }
          }
          return
        }"""

    def run_loop(self, trips):
        (self.folder / "m.mlir").write_text(self.LOOP)
        report = self.report(
            "loop", "--input", f"index={trips}", "--input", "64xf32=ones",
            "--space", "arena:1K", "--max-stack-bytes=0", "--placement=carve")
        space, = report["spaces"]
        self.assertEqual((space["peak"], space["lower_bound"], space["steps"]),
                         (512, 512, 3 * trips))
        rows = {row["name"]: row for row in report["buffers"]}
        self.assertEqual({n: (r["times"], r["begin"], r["end"], r["offset"])
                          for n, r in rows.items()},
                         {"a": (trips, 1, 3 * trips, 0),
                          "b": (trips, 2, 3 * trips, 256)})
        return rows

    def test_lives_in_a_loop(self):
        rows = self.run_loop(5)
        for name, first, offset in (("a", 1, 0), ("b", 2, 256)):
            self.assertEqual(rows[name]["lives"], [
                {"offset": offset, "begin": 3 * i + first, "end": 3 * i + 3}
                for i in range(5)])

    def test_lives_in_a_long_loop(self):
        """Not one by one: a report is not longer than people can read."""
        for row in self.run_loop(1001).values():
            self.assertNotIn("lives", row)

    def test_planned(self):
        """Known before the run, and the same without one."""
        inputs = ("--input", "index=5", "--input", "64xf32=ones",
                  "--max-stack-bytes=0")
        (self.folder / "m.mlir").write_text(self.LOOP)
        for placement, mode, peak, ends in (
                ("plan", "planned", 256, {"a": (0, 1, 0), "b": (1, 2, 0)}),
                ("bump", "bump", 512, {"a": (0, 2, 0), "b": (1, 2, 256)})):
            more = inputs + (f"--placement={placement}",)
            report = self.report("loop", *more, "--space", "arena:1K")
            space, = report["spaces"]
            self.assertEqual(
                (space["mode"], space["clock"], space["peak"], space["bump"],
                 space["steps"]), (mode, "op", peak, 512, 2))
            self.assertEqual(
                {row["name"]: (row["begin"], row["end"], row["offset"])
                 for row in report["buffers"]}, ends)
            del space["capacity"]
            self.assertEqual(self.report("loop", *more, "--plan-only"), report)

    def test_heap_beside_arena(self):
        """What is planned is told of its own space, whatever is before it."""
        (self.folder / "m.mlir").write_text("""
            func.func @f(%h: !pol.heap, %a: !pol.arena, %n: index)
                -> (memref<?xf32>, memref<64xf32>) {
              %x = pol.alloc %h[%n] {name = "x"} : !pol.heap -> memref<?xf32>
              %y = pol.alloc %a {name = "y"} : !pol.arena -> memref<64xf32>
              return %x, %y : memref<?xf32>, memref<64xf32>
            }""")
        for space, kinds in (("heap", ("heap0", "heap1")),
                             ("arena:1K", ("arena0", "arena1")),
                             ("arena", ("heap0", "arena1"))):
            report = self.report("f", "--input", "index=10", "--space", space)
            self.assertEqual({row["name"]: row["space"]
                              for row in report["buffers"]},
                             dict(zip("xy", kinds)))
            first, second = report["spaces"]
            self.assertEqual((first["name"], second["name"]), kinds)
            self.assertEqual((second["mode"], second["peak"]),
                             ("planned", 256))
        self.assertEqual(second["capacity"], 256)

    def test_exact_arena(self):
        """The arena is what the function needs; one byte less is too small."""
        inputs = ("--input", "300x64xf32=normal:1")
        report = self.report("norm", *inputs, "--space", "arena")
        self.assertEqual(report["spaces"][0]["capacity"], 76800)
        self.run_entry("norm", *inputs, "--space", "arena:76800")
        done = self.run_tool("m.mlir", "--entry", "norm", *inputs, "--space",
                             "arena:76799")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(),
                         "^pol-run: error: out of memory: all that function "
                         "'norm' allocates wants 76800 bytes, but 76799 are "
                         "available, at ")

    def test_no_room_for_the_report(self):
        """What cannot be written in full is an error and not a crash."""
        for name in ("r.json", "r.svg", "r.txt"):
            (self.folder / name).symlink_to("/dev/full")
            done = self.run_tool("m.mlir", "--entry", "norm", *self.ARGUMENTS,
                                 f"--memory-report={name}")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.decode(),
                             f"pol-run: error: cannot write '{name}': "
                             "No space left on device\n")

    def test_columns(self):
        """Names of any length, and numbers that end where their title does."""
        name = "a" * 50
        (self.folder / "m.mlir").write_text(f"""
            func.func @f(%s: !pol.heap, %n: index) -> memref<?xf32> {{
              %a = pol.alloc %s[%n] {{name = "{name}", kernel = "k{name}"}}
                  : !pol.heap -> memref<?xf32>
              %b = pol.alloc %s[%n] {{name = "b"}} : !pol.heap -> memref<?xf32>
              memref.copy %a, %b : memref<?xf32> to memref<?xf32>
              return %b : memref<?xf32>
            }}""")
        text = self.run_entry("f", "--input", "index=1000", "--memory-report")
        head, *rows = text[text.index("memory report"):].splitlines()[1:4]
        self.assertEqual(len(rows), 2)
        for title in ("bytes", "times"):
            end = head.index(title) + len(title)
            for row in rows:
                self.assertRegex(row[:end], r" \d+$")
        for row in rows:
            starts = [m.start() for m in re.finditer(r"\S+", row)]
            self.assertEqual(starts[1], head.index("kernel"))
            self.assertEqual(starts[3], head.index("space"))

    def test_no_buffers(self):
        text = self.run_entry("nothing", "--memory-report")
        self.assertIn("(no buffers)", text)
        self.run_entry("nothing", "--memory-report=r.svg")
        self.assertIn("No buffers", (self.folder / "r.svg").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pol-run", required=True, help="the tool")
    options, rest = parser.parse_known_args()
    PolRunTest.tool = str(pathlib.Path(options.pol_run).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
