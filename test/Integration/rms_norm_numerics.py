"""Compares pol.rms_norm, as pol-run runs it, with the float64 oracle.

Cases run in batches: optimized with two threads on the heap, and not optimized
with one thread on an arena; both are compared with the oracle. Some batches run
again, with other threads and spaces, and must give the same to the bit.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import sys
import tempfile

import norm_cases
import view_cases
from batch import Batch, merge, report

GROUPS = {
    "large": [norm_cases.large_cases],
    "shapes": [norm_cases.shape_cases],
    "long-rows": [norm_cases.long_row_cases],
    "types": [norm_cases.type_cases],
    "attributes": [norm_cases.attribute_cases],
    "magnitudes": [norm_cases.magnitude_cases],
    "special": [norm_cases.special_cases],
    "views": [view_cases.slice_cases, view_cases.insert_cases,
              view_cases.subview_cases, view_cases.transposed_cases,
              view_cases.unusual_stride_cases, view_cases.in_place_cases],
    "spaces": [view_cases.frame_cases],
}

# The time to compile grows with the square of what one function returns.
CASES_PER_BATCH = 10

ARENA = "arena:64M"
OPTIMIZED = ("--threads", "2", "--opt-level", "3")
PLAIN = ("--threads", "1", "--opt-level", "0", "--space", ARENA)

# The groups of which batches run again, in these ways.
REPEATED = ("large", "long-rows", "types", "spaces")
AGAIN = (
    ("--threads", "2"),
    ("--threads", "1"),
    ("--threads", "2", "--space", ARENA),
)


def make_batches(groups):
    """Batches, each with whether to repeat it: the first two of a group."""
    for group in groups:
        cases = (case for make in GROUPS[group] for case in make())
        for number in itertools.count():
            batch = list(itertools.islice(cases, CASES_PER_BATCH))
            if not batch:
                break
            repeat = group in REPEATED and number < 2
            yield Batch(f"{group}-{number}", batch), repeat


def run_batch(batch, repeat, tool, folder):
    """Returns tallies, how many runs were repeated, and those that differ."""
    tallies, differing = {}, []
    first = batch.run(tool, folder, *OPTIMIZED)
    batch.compare(folder, tallies)
    repeated = AGAIN if repeat else ()
    for options in repeated:
        again = batch.run(tool, folder, *options)
        wrong = sum(a != b for a, b in zip(first, again, strict=True))
        if wrong:
            differing.append(f"{batch.name}: {wrong} of {len(first)} results "
                             f"differ with {' '.join(options)}")
    batch.run(tool, folder, *PLAIN)
    batch.compare(folder, tallies)
    batch.clean(folder)
    return tallies, len(repeated), differing


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pol-run", required=True, help="the tool")
    parser.add_argument("groups", nargs="*", default=list(GROUPS),
                        metavar="group",
                        help=f"which to run of {', '.join(GROUPS)}")
    return parser.parse_args()


def main():
    options = parse_arguments()
    tallies, repeated, differing = {}, 0, []
    workers = min(4, os.cpu_count() or 1)
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(workers) as pool):
        running = [pool.submit(run_batch, batch, repeat, options.pol_run,
                               pathlib.Path(folder))
                   for batch, repeat in make_batches(options.groups)]
        for future in running:
            more, runs, others = future.result()
            merge(tallies, more)
            repeated += runs
            differing += others
    good = report(tallies)
    print(f"{repeated} repeated runs, {len(differing)} with other bytes")
    for text in differing:
        print(f"FAILED: {text}")
    return 0 if good and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
