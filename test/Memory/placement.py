"""Runs pol-plan on instances, public and generated, and checks what it writes.

Offsets are checked here as well, by other means than pol-plan's. Times are
generous: they are there to notice a search that has lost its way, on a machine
that is busy with something else.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile
import time

CAPACITY = 1048576
# By which factor of the lower bound each may be higher, and the seconds.
PUBLIC = {
    **{f"minimalloc/{name}.1048576.csv": (CAPACITY, None, 30)
       for name in "ABCDEF"},
    "minimalloc/input.12.csv": (12, None, 5),
    "idealloc/G_1.csv": (None, 1.001, 30),
    "idealloc/resnet50.csv": (None, 1.001, 30),
}


class Wrong(Exception):
    """pol-plan does not do what it should."""


def run(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_offsets(before, after, capacity):
    """The rows are those of before with offsets that are valid."""
    if [{**row, "offset": None} for row in after] != \
            [{**row, "offset": None} for row in before]:
        raise Wrong("the rows are not those of the input")
    buffers = [tuple(int(row[c]) for c in ("lower", "upper", "size", "offset"))
               for row in after]
    for index, (lower, upper, size, offset) in enumerate(buffers):
        if offset < 0 or offset + size > capacity:
            raise Wrong(f"buffer {index} at {offset} is not in {capacity}")
        for other in buffers[:index]:
            if max(lower, other[0]) < min(upper, other[1]) and \
                    max(offset, other[3]) < min(offset + size,
                                                other[3] + other[2]):
                raise Wrong(f"buffer {index} is in another one")


def parse_line(text):
    match = re.match(r"\d+ buffers?: height (\d+), lower bound (\d+), ratio "
                     r"([\d.]+), (optimal|not known to be optimal), ([\d.]+) s",
                     text)
    if not match:
        raise Wrong(f"unexpected output {text!r}")
    return int(match[1]), int(match[2]), match[4] == "optimal"


def solve(tool, path, capacity, ratio, seconds):
    """Solves an instance, and says how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.csv"
        limit = ["--capacity", capacity] if capacity else \
            ["--time-limit", 5]
        start = time.monotonic()
        text = run(tool, "--input", path, "--output", output, *limit)
        wall = time.monotonic() - start
        height, bound, _ = parse_line(text)
        if ratio and height > ratio * bound:
            raise Wrong(f"height {height} is more than {ratio} times {bound}")
        check_offsets(read(path), read(output), capacity or height)
        run(tool, "--check", output, "--capacity", capacity or height)
    if wall > seconds:
        raise Wrong(f"took {wall:.1f} s, more than {seconds}")
    print(f"{pathlib.Path(path).name}: height {height}, lower bound {bound}, "
          f"ratio {height / bound:.4f}, {wall:.2f} s")


def check_public(options):
    data = pathlib.Path(options.data)
    if not options.data or not data.is_dir():
        print("SKIP: POL_PLAN_DATA is no folder of public instances")
        return 77
    for name, limits in PUBLIC.items():
        solve(options.pol_plan, data / name, *limits)
    return 0


def check_cuts(tool, folder):
    """Instances that fit without a rest, and whose lower bound says so."""
    for count, seed in [(20, 1), (60, 1), (100, 1), (100, 2), (150, 1),
                        (200, 1), (200, 2)]:
        path = folder / f"cuts-{count}-{seed}.csv"
        run(tool, "--generate", f"cuts:{count}:{seed}", "--output", path)
        if len(read(path)) != count:
            raise Wrong(f"expected {count} buffers in {path}")
        solve(tool, path, CAPACITY, 1, 60)


def check_frames(tool, folder):
    """Many buffers, by the heuristic."""
    for count, ratio in [(1000, 1.05), (10000, 1.05), (100000, 1.05)]:
        path = folder / f"frames-{count}.csv"
        run(tool, "--generate", f"frames:{count}", "--output", path)
        output = folder / "out.csv"
        start = time.monotonic()
        text = run(tool, "--input", path, "--heuristic", "--output", output)
        wall = time.monotonic() - start
        height, bound, _ = parse_line(text)
        if height > ratio * bound:
            raise Wrong(f"height {height} is more than {ratio} times {bound}")
        if wall > 20:
            raise Wrong(f"{count} buffers took {wall:.1f} s")
        run(tool, "--check", output, "--capacity", height)
        print(f"frames:{count}: {text.strip()}")


def check_determinism(tool, folder):
    """The same plan in any process."""
    path, output = folder / "frames-1000.csv", folder / "out.csv"
    texts = set()
    for _ in range(3):
        run(tool, "--input", path, "--output", output)
        texts.add(output.read_text())
    if len(texts) != 1:
        raise Wrong("plans of the same file differ")


def check_generated(options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_cuts(options.pol_plan, folder)
        check_frames(options.pol_plan, folder)
        check_determinism(options.pol_plan, folder)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pol-plan", required=True, help="the tool")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--generated", action="store_true")
    what.add_argument("--data", help="the folder of public instances")
    options = parser.parse_args()
    try:
        return (check_generated if options.generated else check_public)(options)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
