"""Random masks against all positions of boxes: what is said to be empty keeps
nothing, what is said to be full drops nothing, and keys and queries lack none
that are kept."""

import argparse
import collections
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import generate
import masks


def _check(library, generator, mask, counts):
    compiled = masks.Compiled(library, mask)
    grid, boxes = generator.grid, generator.boxes()
    first = compiled.kept(grid)
    counts["masks"] += 1
    counts["of one truth"] += bool(first.all() or not first.any())
    counts["intervals"] += compiled.is_interval
    missed, all_boxes = masks.exactness(compiled, grid, boxes)
    counts["boxes"] += all_boxes
    counts["boxes partial for want of proof"] += missed
    if compiled.is_full and not first.all():
        yield "isFull, but not all is kept"
    for batch, head in ((1, 0), (0, 1)):
        uses = compiled.uses_batch if batch else compiled.uses_head
        if not uses and (compiled.kept(grid, batch, head) != first).any():
            yield "it depends on a batch or head, which it should not"
    yield from masks.check(compiled, grid, boxes)
    yield from masks.check(compiled, grid, boxes, batch=1, head=1)


def _run(arguments):
    """Failures of a batch of seeds, as pairs, and counts. Where a batch does
    not compile, its halves are tried."""
    options, seeds = arguments
    failures, counts = [], collections.Counter()
    generators = [generate.Generator(seed) for seed in seeds]
    made = [g.mask() for g in generators]
    with tempfile.TemporaryDirectory() as folder:
        tools = masks.Tools(options.opt, options.llvm_bin, folder)
        try:
            library = tools.compile(made)
        except RuntimeError as error:
            if len(seeds) == 1:
                return [(seeds[0], f"does not compile: {error}")], counts
            half = len(seeds) // 2
            for part in (seeds[:half], seeds[half:]):
                more, counted = _run((options, part))
                failures += more
                counts += counted
            return failures, counts
        for generator, mask in zip(generators, made):
            problems = list(_check(library, generator, mask, counts))
            failures += [(generator.seed, p) for p in problems[:1]]
    return failures, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", required=True, help="pol-test-opt")
    parser.add_argument("--llvm-bin", required=True)
    parser.add_argument("--masks", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="where the first failing masks go")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.masks)
    batches = [(options, list(seeds[i:i + options.batch]))
               for i in range(0, len(seeds), options.batch)]
    failures, counts = [], collections.Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for failed, counted in pool.imap(_run, batches):
            failures += failed
            counts += counted
    for name, count in counts.items():
        print(f"{name}: {count}")
    for seed, text in failures[:10]:
        print(f"seed {seed}: {text}")
        if options.keep:
            Path(options.keep, f"mask-{seed}.mlir").write_text(
                generate.Generator(seed).mask().function())
    print(f"{len(failures)} of {len(seeds)} masks are wrong")
    sys.exit(bool(failures) or counts["masks"] != len(seeds))


if __name__ == "__main__":
    main()
