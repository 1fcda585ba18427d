"""Footprint functions of random programs say what a run takes, to the byte.

For each program and each of its spaces, the decisions that take the most memory
are looked for, and the program runs with them carve by carve: the arena's
high-water mark has to be the footprint of the bump placement. An arena of the
footprint's size has to do, in which nothing else is touched, and one that is a
byte smaller has to fail before anything was touched. See batches.py for the
options.
"""

import statistics
import sys

import batches
import execute
import model

# Of arenas, at first.
PATTERN = 0xFF


class Footprint(batches.Check):
    """Compares the placements "bump" and "plan" with "arena"."""

    # "stack" as well on demand: it is in differential.py.
    placements = ("arena", "bump", "plan")
    level = 0

    def __init__(self):
        self.outcome = None

    def check(self, program, libraries, outcome):
        self.outcome = outcome
        self.program, self.compiled = program, libraries
        if not program.has_footprint:
            return self.check_unbounded()
        for number in range(2):
            values = execute.random_values(program, number)
            if values is None:
                outcome.counts["sizes that make a run too long"] += 1
                continue
            worst = list(execute.worst_cases(program, values))
            # More than any placement takes, on the stack or not.
            self.needed = [2 * peak + 8192 for peak, _ in worst]
            for root, (peak, case) in enumerate(worst):
                failures = self.check_root(root, peak, case)
                if failures:
                    return [(p, f"space {root}: {text}; called with {case}")
                            for p, text in failures]
        return []

    def count(self, what):
        self.outcome.counts[what] += 1

    def check_unbounded(self):
        """Where data decides how often something is allocated, a bump allocator
        has no footprint, unless it is never done. A plan may have one, if nothing
        of a trip stays."""
        values = execute.random_values(self.program, 0)
        if values is None:
            return []
        self.count("programs without a bump footprint, as they should be")
        case = execute.random_case(self.program, values, 0)
        try:
            run = self.program.run(case.values, case.tape, case.flags)
        except model.TooLarge:
            return []
        self.needed = [peak + 8192 for peak in run.peaks]
        failures = []
        for root in range(self.program.options.spaces):
            done, *_, fault = self.call("arena", case, root, self.needed[root])
            if done.status != execute.OK or fault:
                return [("arena", f"arena: status {done.status}, {fault}")]
            for placement in self.placements[1:]:
                size = self.footprint(placement, case.values, root)
                if size is None:
                    continue
                # The model does not know that a loop from 2 to 0 is folded, and
                # what is unbounded with it.
                self.count("bump footprints where a loop that never runs was "
                           "folded" if placement == "bump" else
                           "plans where a bump allocator has no footprint")
                failures += self.check_size(placement, size, case, root,
                                            done.outputs)
        return failures

    def footprint(self, placement, values, root):
        return execute.footprint(self.compiled[placement], self.program,
                                 values, root)

    def call(self, placement, case, root, size, before=0):
        """A call with an arena of that size, of which so many bytes are taken,
        for one space, and such that do for the others. Returns what was done,
        the arena, its state before, and what is wrong with its surroundings."""
        poisoned = placement == "arena"
        spaces = [execute.Arena(
            self.libraries, size if r == root else self.needed[r], PATTERN,
            poisoned)
            for r in range(self.program.options.spaces)]
        arena = spaces[root]
        if before:
            arena.carve(before)
        state = arena.state()
        done = execute.call(self.compiled[placement], self.program, case,
                            spaces)
        # That another arena had room is seen from its peak only.
        others = all(s.untouched() and s.state()[::2] == (0, 0)
                     for s in spaces if s is not arena)
        after = arena.state()
        if placement != "arena" and done.status != execute.OK:
            done.untouched = done.untouched and others and arena.untouched()
        faults = ", ".join(f for f in (s.close() for s in spaces) if f)
        return done, state, after, faults

    def check_root(self, root, peak, case):
        """Failures as pairs (placement, text)."""
        done, _, (_, reached, _), fault = self.call("arena", case, root,
                                               self.needed[root])
        if done.status != execute.OK or fault:
            return [("arena", f"arena: status {done.status}, {fault}")]
        self.count("carve runs of the worst case")
        if reached < peak and self.program.options.tensors:
            # The model does not know where a buffer that bufferization adds
            # stands in for one of the program's, and what is then the worst.
            self.count("spaces in whose place bufferization added memory")
            return []
        if reached != peak:
            return [("arena", f"arena: the run reached {reached}, but the model "
                     f"of the program {peak}")]
        reference = done.outputs
        failures = self.check_carves(case, root, peak)
        sizes = {p: self.footprint(p, case.values, root)
                 for p in self.compiled if p != "arena"}
        if None in sizes.values():
            if self.program.options.counter_sizes:
                self.count("spaces without a footprint, for a size of a trip")
                return failures
            return [(p, f"{p}: there is no footprint function")
                    for p, s in sizes.items() if s is None]
        if "bump" in sizes and sizes["bump"] != reached:
            failures.append(("bump", f"bump: the footprint is {sizes['bump']}, "
                             f"but the carve run reached {reached}"))
        for placement in ("plan", "stack"):
            if placement in sizes and sizes[placement] > reached:
                failures.append((placement, f"{placement}: the footprint is "
                                 f"{sizes[placement]}, but the carve run "
                                 f"reached {reached}"))
        if "plan" in sizes and reached:
            self.outcome.figures.append(sizes["plan"] / reached)
        for placement, size in sizes.items():
            failures += self.check_size(placement, size, case, root, reference)
        return failures

    def check_carves(self, case, root, peak):
        """One byte less, carve by carve: what was taken is given back."""
        if peak == 0:
            return []
        done, state, after, fault = self.call("arena", case, root, peak - 1)
        self.count("arenas one byte too small")
        if done.status != execute.OUT_OF_MEMORY or fault:
            return [("arena", f"arena: one byte less gives status "
                     f"{done.status}, {fault}")]
        if after[0] != state[0]:
            return [("arena", f"arena: failed, and left {after[0]} bytes")]
        return []

    def check_size(self, placement, size, case, root, reference):
        """Exactly the footprint does, also behind what others have taken, and
        one byte less does not."""
        failures = []
        for before in (0, 1):
            start = 256 * before
            if size == 0:
                start = before
            text = f"{placement}: with {before} bytes taken before, "
            done, _, after, fault = self.call(placement, case, root,
                                              start + size, before)
            self.count("arenas of exactly the footprint")
            if done.status != execute.OK or fault:
                failures.append((placement, text + "exactly the footprint of "
                                 f"{size} gives status {done.status}, "
                                 f"{done.error.what.decode()}, {fault}"))
                continue
            if done.outputs != reference:
                failures.append((placement, text + "other results"))
            if after[1] != (start + size if size else before):
                failures.append((placement, text + f"the footprint is {size}, "
                                 f"but the arena's peak {after[1]}"))
            if size == 0:
                continue
            done, state, after, fault = self.call(placement, case, root,
                                                  start + size - 1, before)
            self.count("arenas one byte too small")
            told = done.error.wanted, done.error.available
            if (done.status, *told) != (execute.OUT_OF_MEMORY, size, size - 1):
                failures.append((placement, text + f"one byte less than {size}"
                                 f" gives status {done.status}, wanted "
                                 f"{told[0]}, available {told[1]}"))
            elif not done.untouched or state != after or fault:
                failures.append((placement, text + "one byte less fails, but "
                                 "changed something"))
        return failures

    def report(self, outcome):
        ratios = outcome.figures
        if not ratios:
            return
        smaller = sum(r < 1 for r in ratios)
        print(f"planned / bump: median {statistics.median(ratios):.3f}, mean "
              f"{statistics.mean(ratios):.3f}, best {min(ratios):.3f}, worst "
              f"{max(ratios):.3f}; smaller in {smaller} of {len(ratios)}")


def main():
    parser = batches.arguments(__doc__.splitlines()[0])
    parser.add_argument("--placements", nargs="+",
                        default=list(Footprint.placements))
    options = parser.parse_args()
    check = Footprint()
    check.placements = options.placements
    return batches.run(check, options)


if __name__ == "__main__":
    sys.exit(main())
