"""Checks that what is printed reads back as the same, for every test file.

Each .mlir file below the given folders is split at `// -----`. Parts that do
not parse are negative tests and are skipped. Every other part must give the
same text when it is printed in the generic form and read back, and when it is
written as bytecode and read back.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys

SPLIT = "// -----"
# What the suite itself passes to tests of ops that nobody registered.
ALWAYS = ["--allow-unregistered-dialect"]


class Broken(Exception):
    """A part does not survive the trip, or the tool crashed."""


def run_tool(tool, text, *arguments):
    """Runs the tool on text or bytecode; returns its exit status and output."""
    result = subprocess.run(
        [tool, *ALWAYS, *arguments, "-"],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    if result.returncode not in (0, 1):
        raise Broken(
            f"exit status {result.returncode} with {' '.join(arguments)}\n"
            + result.stderr.decode(errors="replace")[-2000:]
        )
    return result.returncode, result.stdout


def split_parts(output):
    """The parts of an output of -split-input-file that are not empty."""
    parts = output.decode().split(SPLIT + "\n")
    return [part.strip("\n") + "\n" for part in parts if part.strip()]


def expect_same(want, got, what):
    if want == got:
        return
    diff = difflib.unified_diff(
        want.splitlines(), got.splitlines(), "printed", what, lineterm=""
    )
    raise Broken("\n".join(diff))


def check_file(tool, path):
    """Returns how many parts of a file were checked, and how many skipped."""
    source = path.read_bytes()
    count = 1 + sum(
        line.strip() == SPLIT.encode() for line in source.splitlines()
    )
    split = f"--split-input-file={SPLIT}"
    _, output = run_tool(tool, source, split)
    pretty = split_parts(output)
    if not pretty:
        return 0, count

    joined = ("\n" + SPLIT + "\n").join(pretty).encode()
    status, output = run_tool(
        tool, joined, split, "--mlir-print-op-generic"
    )
    generic = split_parts(output)
    if status != 0 or len(generic) != len(pretty):
        raise Broken("what is printed does not parse")
    joined = ("\n" + SPLIT + "\n").join(generic).encode()
    status, output = run_tool(tool, joined, split)
    back = split_parts(output)
    if status != 0 or len(back) != len(pretty):
        raise Broken("the generic form does not parse")
    for want, got in zip(pretty, back):
        expect_same(want, got, "read from the generic form")

    for want in pretty:
        status, code = run_tool(tool, want.encode(), "--emit-bytecode")
        if status != 0:
            raise Broken("it cannot be written as bytecode:\n" + want)
        status, output = run_tool(tool, code)
        if status != 0:
            raise Broken("the bytecode does not parse, of:\n" + want)
        expect_same(want, output.decode().strip("\n") + "\n",
                    "read from bytecode")
    return len(pretty), count - len(pretty)


def find_files(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.mlir")):
            if "Inputs" not in path.parts:
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, help="pol-test-opt")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()

    files = list(find_files(options.folders))
    checked = skipped = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(check_file, options.tool, f) for f in files]
        for path, future in zip(files, futures):
            try:
                good, bad = future.result()
                checked += good
                skipped += bad
            except (Broken, OSError, UnicodeDecodeError,
                    subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{path}: {error}", file=sys.stderr)
    print(f"{len(files)} files: {checked} parts are the same after the trip, "
          f"{skipped} do not parse and were skipped, {failed} files failed")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
