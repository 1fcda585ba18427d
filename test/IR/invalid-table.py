"""Runs every case of the tables: each must be refused, where it says and why.

A table is text. A line `== name` begins a case, whose IR follows as it is; the
IR after `-- name` is wrapped in a function with one argument of each kind (see
ARGUMENTS). In the IR, `//! text` at the end of a line says that an error with
that text is reported at that line, and `@REPEAT(n, text)@` stands for n times
the text. Every case runs by itself and must end with exit status 1, never by a
signal. `--record` writes the errors that are reported into the tables.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ARGUMENTS = (
    "%n: index, %i: i32, %c: i1, %r: f32, %v: vector<4xf32>, "
    "%t: tensor<?xf32>, %t4: tensor<4xf32>, %t8: tensor<8x4xf32>, "
    "%m: memref<?xf32>, %m4: memref<4xf32>, "
    "%u: !pol.undef<?xf32>, %u4: !pol.undef<4xf32>, "
    "%e: !pol.bundle<{}>, %b: !pol.bundle<{y: !pol.undef<?xf32>}>, "
    "%bt: !pol.bundle<{y: tensor<?xf32>}>, "
    "%heap: !pol.heap, %arena: !pol.arena, %frame: !pol.frame, "
    "%arena1: !pol.arena<1>, %mark: !pol.mark"
)
MARK = "//!"


class Case:
    def __init__(self, table, line, kind, name):
        self.table, self.line, self.kind, self.name = table, line, kind, name
        self.lines = []

    def text(self):
        lines = [
            re.sub(
                r"@REPEAT\((\d+), (.*?)\)@",
                lambda found: found.group(2) * int(found.group(1)),
                line.partition(MARK)[0].rstrip(),
            )
            for line in self.lines
        ]
        if self.kind == "--":
            # The line of the function is line 0 of the case.
            lines = [f"func.func @f({ARGUMENTS}) {{", *lines, "  return", "}"]
        return "\n".join(lines) + "\n"

    def first_line(self):
        return 2 if self.kind == "--" else 1

    def expected(self):
        for number, line in enumerate(self.lines):
            _, mark, text = line.partition(MARK)
            if mark:
                return number + self.first_line(), text.strip()
        return None


def read_table(path):
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        header = re.match(r"(==|--) (.+)", line)
        if header:
            cases.append(Case(path, number, *header.groups()))
        elif cases:
            cases[-1].lines.append(line)
    for case in cases:
        while case.lines and not case.lines[-1].strip():
            case.lines.pop()
    return cases


def run(tool, case):
    return subprocess.run(
        [*tool, "-"],
        input=case.text().encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


def errors_of(result):
    """The errors that were reported: line and text."""
    return [
        (int(found.group(1)), found.group(2))
        for found in re.finditer(
            r"^<stdin>:(\d+):\d+: error: (.*)$",
            result.stderr.decode(errors="replace"),
            re.MULTILINE,
        )
    ]


def check(tool, case):
    """Says what is wrong with a case, or nothing."""
    expected = case.expected()
    if expected is None:
        return "it expects no error"
    try:
        result = run(tool, case)
    except subprocess.TimeoutExpired:
        return "it takes more than 120 s"
    if result.returncode != 1:
        return f"exit status {result.returncode}, not 1"
    line, text = expected
    errors = errors_of(result)
    if any(line == at and text in message for at, message in errors):
        return None
    shift = case.line + 1 - case.first_line()
    reported = "".join(f"\n    line {at + shift}: {message[:300]}"
                       for at, message in errors)
    return (f"no error '{text}' at line {line + shift}, but"
            + (reported or " none at all"))


def record(tool, tables):
    """Writes the first error of every case into its table."""
    for table in tables:
        lines = table.read_text().splitlines()
        for case in read_table(table):
            if case.expected() is not None:
                continue
            result = run(tool, case)
            errors = errors_of(result)
            if result.returncode != 1 or not errors:
                print(f"{case.name}: {result.returncode} {errors}")
                continue
            at, message = errors[0]
            index = case.line + at - case.first_line()
            lines[index] += f"  {MARK} {message}"
        table.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="append", type=pathlib.Path,
                        required=True)
    parser.add_argument("--at-least", type=int, default=1,
                        help="how many cases there have to be")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("tool", nargs="+", help="pol-opt and its arguments")
    options = parser.parse_args()

    if options.record:
        record(options.tool, options.table)
        return 0
    cases = [case for table in options.table for case in read_table(table)]
    names = [case.name for case in cases]
    failures = [f"the name '{name}' is used twice"
                for name in sorted({n for n in names if names.count(n) > 1})]
    texts = {}
    for case in cases:
        if texts.setdefault(case.text(), case) is not case:
            failures.append(f"'{case.name}' is '{texts[case.text()].name}'")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, wrong in zip(
            cases, pool.map(lambda case: check(options.tool, case), cases)
        ):
            if wrong:
                failures.append(
                    f"{case.table}:{case.line}: {case.name}: {wrong}")
    print(f"{len(cases)} cases, {len(failures)} failures")
    if len(cases) < options.at_least:
        failures.append(f"expected {options.at_least} cases at least")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
