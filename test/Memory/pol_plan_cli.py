"""What pol-plan says and does: errors of one line, and what it reads and writes.

Whatever is wrong with a request gives one line that starts with
`pol-plan: error:` and exit status 1, and nothing is written.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLE = """\
id,lower,upper,size
b1,0,3,4
b2,3,9,4
b3,0,9,4
b4,9,21,4
b5,0,21,4
"""


class PolPlanTest(unittest.TestCase):
    """Runs the tool in a folder of its own."""

    tool = "pol-plan"

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.write(EXAMPLE)

    def write(self, text, name="a.csv"):
        data = text if isinstance(text, bytes) else text.encode()
        (self.folder / name).write_bytes(data)

    def read(self, name="b.csv"):
        return (self.folder / name).read_bytes().decode()

    def run_tool(self, *arguments, stdin=b""):
        return subprocess.run([self.tool, *arguments], cwd=self.folder,
                              capture_output=True, check=False, timeout=120,
                              input=stdin)

    def succeed(self, *arguments, stdin=b""):
        done = self.run_tool(*arguments, stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def fail_with(self, arguments, *parts):
        """The call fails in one line that has all the parts in it."""
        before = sorted(self.folder.rglob("*"))
        done = self.run_tool(*arguments)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 1, text)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(text, r"\Apol-plan: error: [^\n]*\n\Z")
        for part in parts:
            self.assertIn(part, text)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def plan(self, text, *arguments):
        """The rows of the output, each a list of fields."""
        self.write(text)
        self.succeed("--input", "a.csv", "--output", "b.csv", *arguments)
        self.succeed("--check", "b.csv")
        return [line.split(",") for line in self.read().splitlines()]

    def reject(self, text, *parts):
        self.write(text)
        self.fail_with(["--input", "a.csv", "--output", "b.csv"], *parts)


class Options(PolPlanTest):
    def test_one_of_three(self):
        for arguments in ([], ["--input", "a.csv", "--check", "a.csv"],
                          ["--input", "a.csv", "--generate", "cuts:9"]):
            self.fail_with(arguments, "expected one of --input, --check and "
                           "--generate, see pol-plan --help")

    def test_unknown(self):
        self.fail_with(["--inptu", "a.csv"], "see pol-plan --help")
        self.fail_with(["a.csv"], "see pol-plan --help")

    def test_numbers(self):
        for capacity in ("-1", "x", "", "1e3", "9223372036854775808"):
            self.fail_with(["--input", "a.csv", f"--capacity={capacity}"],
                           f"expected --capacity to be a number of bytes, but "
                           f"got '{capacity}'")
        for limit in ("0", "-1", "x", "nan", "inf"):
            self.fail_with(["--input", "a.csv", f"--time-limit={limit}"],
                           "expected --time-limit", f"but got '{limit}'")

    def test_what_does_not_go_together(self):
        for option in ("--heuristic", "--compare", "--time-limit=1",
                       "--output=b.csv"):
            self.fail_with(["--check", "a.csv", option],
                           f"expected no {option.split('=')[0]} with --check")
        for option in ("--heuristic", "--compare", "--time-limit=1",
                       "--capacity=9"):
            self.fail_with(["--generate", "cuts:9", option],
                           f"expected no {option.split('=')[0]} with "
                           "--generate")

    def test_help(self):
        text = self.succeed("--help")
        for option in ("input", "output", "capacity", "time-limit",
                       "heuristic", "compare", "check", "generate"):
            self.assertIn(f"--{option}", text)

    def test_files(self):
        self.fail_with(["--input", "no.csv"], "cannot read 'no.csv'",
                       "No such file")
        self.fail_with(["--input", "a.csv", "--output", "no/b.csv"],
                       "cannot write 'no/b.csv'", "No such file")
        self.fail_with(["--input", "a.csv", "--output", "/dev/full"],
                       "cannot write '/dev/full'")


class Plans(PolPlanTest):
    def test_example(self):
        text = self.succeed("--input", "a.csv", "--capacity", "12",
                            "--output", "b.csv")
        self.assertRegex(text, r"\A5 buffers: height 12, lower bound 12, ratio "
                         r"1\.0000, optimal, [\d.]+ s\n\Z")
        header, *rows = self.read().splitlines()
        self.assertEqual(header, "id,lower,upper,size,offset")
        self.assertEqual([row.rsplit(",", 1)[0] for row in rows],
                         EXAMPLE.splitlines()[1:])
        self.succeed("--check", "b.csv", "--capacity", "12")

    def test_too_little(self):
        self.write("kept", "b.csv")
        self.fail_with(["--input", "a.csv", "--capacity", "11", "--output",
                        "b.csv"], "expected a height of at most 11, but got "
                       "12, which is the least, lower bound 12")
        self.assertEqual(self.read(), "kept")

    def test_columns(self):
        rows = self.plan("size,note,offset,upper,id,lower\n"
                         "8,x,77,4,a,0\n2,y,,4,b,0\n".replace("y,,", "y,0,"))
        self.assertEqual(rows[0], "size,note,offset,upper,id,lower".split(","))
        self.assertEqual([r[:2] + r[3:] for r in rows[1:]],
                         [["8", "x", "4", "a", "0"], ["2", "y", "4", "b", "0"]])
        self.assertEqual({int(r[2]) for r in rows[1:]} & {0}, {0})

    def test_form(self):
        """Ends of lines, quotes, blanks, blank lines and a mark of UTF-8."""
        self.write(b"\xef\xbb\xbfid,lower,upper,size\r\n"
                   b'"a ""b"", c",0,3,4\r\n\r\n  b , 0, 3 ,5\r\n'
                   b'"two\nlines",9,10,"1"')
        self.succeed("--input", "a.csv", "--output", "b.csv")
        self.assertRegex(self.read(), r"""\Aid,lower,upper,size,offset
"a ""b"", c",0,3,4,\d
  b , 0, 3 ,5,\d
"two
lines",9,10,"1",0
\Z""")
        self.succeed("--check", "b.csv", "--capacity", "9")

    def test_alignment(self):
        rows = self.plan("id,lower,upper,size,alignment\n"
                         "a,0,2,3,1\nb,0,2,8,8\nc,0,2,8,16\nd,0,2,1,\n")
        self.assertEqual(int(rows[2][-1]) % 8, 0)
        self.assertEqual(int(rows[3][-1]) % 16, 0)

    def test_gaps(self):
        """The second buffer lives in the gaps of the first."""
        rows = self.plan("id,lower,upper,size,gaps\n"
                         "a,0,20,64,3-9 12-15@32:64\nb,3,9,64,\n"
                         "c,12,15,32,\n", "--capacity", "64")
        self.assertEqual([int(r[-1]) for r in rows[1:]], [0, 0, 0])

    def test_nothing_to_place(self):
        self.assertEqual(self.plan("id,lower,upper,size\n"),
                         [["id", "lower", "upper", "size", "offset"]])
        rows = self.plan("id,lower,upper,size\na,5,5,99\nb,0,9,0\n",
                         "--capacity", "0")
        self.assertEqual([r[-1] for r in rows[1:]], ["0", "0"])

    def test_standard_streams(self):
        done = self.run_tool("--input", "-", "--output", "-", "--heuristic",
                             stdin=EXAMPLE.encode())
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"5 buffers: height 12", done.stderr)
        self.write(done.stdout)
        self.succeed("--check", "a.csv", "--capacity", "12")
        text = self.succeed("--generate", "cuts:9")
        self.assertEqual(len(text.splitlines()), 10)

    def test_compare(self):
        text = self.succeed("--input", "a.csv", "--heuristic", "--compare")
        self.assertRegex(text, r"(?s)height 12.*(greedy by \w+: height \d+, "
                         r"ratio [\d.]+\n){3}\Z")


class Tables(PolPlanTest):
    HEADER = "id,lower,upper,size\n"

    def test_header(self):
        self.reject("", "a.csv:1: expected a header with id, lower, upper and "
                    "size, but got no text")
        self.reject("\n \n", "a.csv:1:")
        self.reject("id,lower,upper\n1,2,3\n",
                    "a.csv:1: expected a column size, but got only "
                    "'id,lower,upper'")
        self.reject("id,lower,upper,size,size\n",
                    "a.csv:1: expected one column size, but got two")

    def test_fields(self):
        self.reject(self.HEADER + "a,0,1,2\nb,0,1\n",
                    "a.csv:3: expected 4 fields, as in the header, but got 3")
        self.reject(self.HEADER + 'a,0,1,"2\nb,0,1,2\n',
                    "a.csv:2: expected a closing quote")
        self.reject(self.HEADER + '"a"b,0,1,2\n',
                    "a.csv:2: expected a comma behind a quoted field")
        self.reject(self.HEADER + "a,0,1,2\n\na,3,4,5\n",
                    "a.csv:4: expected ids to be different, but got 'a' as in "
                    "line 2")

    def test_numbers(self):
        for number in ("x", "", "1.5", "1e3", "0x10", "9223372036854775808",
                       "1 2", "\0"):
            for row, column in (("a,{},9,8", "lower"), ("a,0,{},8", "upper"),
                                ("a,0,9,{}", "size")):
                self.reject(self.HEADER + row.format(number) + "\n",
                            f"a.csv:2: expected {column} to be a whole number "
                            "of 64 bits, but got '")
        self.reject("id,lower,upper,size,offset\na,0,9,8,x\n",
                    "expected offset to be")

    def test_buffers(self):
        self.reject(self.HEADER + "a,0,9,8\nb,5,4,8\n",
                    "a.csv:3: expected buffer 'b' to begin before its end, but "
                    "got [5, 4)")
        self.reject(self.HEADER + "a,0,9,-8\n", "a.csv:2: expected the size "
                    "of buffer 'a' to be 0 or more, but got -8")
        big = 2**61
        self.reject(self.HEADER + f"a,0,9,{big}\nb,1,2,{big}\n",
                    "a.csv:3: expected the sizes and alignments to add up to "
                    "less than 2^62, but got too much at buffer 'b'")
        self.reject(self.HEADER + f"a,-{2**63},{2**63 - 1},1\n",
                    "a.csv:2: expected the live range of buffer 'a'")
        for alignment in ("0", "3", "-4"):
            self.reject("id,lower,upper,size,alignment\n"
                        f"a,0,9,8,{alignment}\n", "a.csv:2: expected the "
                        f"alignment of buffer 'a' to be a power of two, but "
                        f"got {alignment}")

    def test_gaps(self):
        for gap in ("3", "3-", "-", "x", "3-5@", "3-5@1", "3-5@1:2:3", "3-5,"):
            self.reject(f'id,lower,upper,size,gaps\na,0,9,8,"1-2 {gap}"\n',
                        "a.csv:2: expected a gap like 3-5 or 3-5@0:64")
        for gap, part in (("5-3", "begin before its end"),
                          ("3-10", "in its live range [0, 9)"),
                          ("1-4 3-5", "to be apart"),
                          ("3-5@4:9", "to leave bytes of its 8 in use")):
            self.reject(f"id,lower,upper,size,gaps\na,0,9,8,{gap}\n",
                        "a.csv:2: expected", part)

    def test_many_rows(self):
        rows = "".join(f"{i},{i},{i + 2},8\n" for i in range(1000000))
        self.write(self.HEADER + rows)
        text = self.succeed("--input", "a.csv", "--heuristic")
        self.assertIn("1000000 buffers: height 16, lower bound 16", text)


class Checks(PolPlanTest):
    HEADER = "id,lower,upper,size,alignment,offset\n"

    def reject_plan(self, rows, *parts, capacity=None):
        self.write(self.HEADER + rows)
        limit = ["--capacity", capacity] if capacity else []
        self.fail_with(["--check", "a.csv", *limit], *parts)

    def test_valid(self):
        self.write(self.HEADER + "a,0,4,8,1,0\nb,2,6,8,4,8\n")
        self.assertEqual(self.succeed("--check", "a.csv", "--capacity", "16"),
                         "valid: 2 buffers, height 16, lower bound 16\n")

    def test_faults(self):
        self.reject_plan("a,0,4,8,1,0\nb,2,6,8,4,4\n", "a.csv:2: expected "
                         "buffers 'a' and 'b' to be apart, but got both in "
                         "bytes [4, 8) during [2, 4)")
        self.reject_plan("a,0,4,8,1,0\nb,2,6,8,4,10\n", "a.csv:3: expected "
                         "buffer 'b' at a multiple of 4, but got 10")
        self.reject_plan("a,0,4,8,1,-8\n", "a.csv:2: expected buffer 'a' at "
                         "an offset of 0 or more, but got -8")
        self.reject_plan(f"a,0,4,8,1,{2**63 - 1}\n", "a.csv:2: expected the "
                         "end of buffer 'a' in 64 bits")
        self.reject_plan("a,0,4,8,1,9\n", "a.csv:2: expected buffer 'a' to "
                         "end at most at 16, but got bytes [9, 17)",
                         capacity="16")

    def test_no_offsets(self):
        self.write(EXAMPLE)
        self.fail_with(["--check", "a.csv"],
                       "a.csv:1: expected a column offset, but got none")


class Generated(PolPlanTest):
    def test_specification(self):
        for spec in ("", "cuts", "cuts:", "cuts:0", "cuts:-1", "cuts:x",
                     "cuts:1:x", "cuts:1:2:3", "other:5", "frames:10000001",
                     "cuts:100001"):
            self.fail_with([f"--generate={spec}", "--output", "b.csv"],
                           "expected", "but got")

    def test_same_everywhere(self):
        """What the generator made when it was written."""
        self.assertEqual(self.succeed("--generate", "cuts:4:2"), CUTS)
        self.assertEqual(self.succeed("--generate", "frames:6:2"), FRAMES)
        self.assertNotEqual(self.succeed("--generate", "frames:6:3"), FRAMES)


CUTS = """\
id,lower,upper,size
0,275456,517120,759808
1,0,275456,759808
2,517120,1048576,759808
3,0,1048576,288768
"""
FRAMES = """\
id,lower,upper,size
0,0,5,896
1,1,7,576
2,2,7,576
3,3,7,832
4,4,6,4032
5,5,7,1344
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pol-plan", required=True, help="the tool")
    options, rest = parser.parse_known_args()
    PolPlanTest.tool = str(pathlib.Path(options.pol_plan).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
