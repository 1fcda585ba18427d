"""Random programs compute the same, bit for bit, wherever their memory is.

Every program is compiled for every placement, and run with the same arguments
under two patterns of undefined memory. See batches.py for the options, and
build.py for the placements.
"""

import sys

import batches
import build
import execute
import model

PATTERNS = (0xFF, 0x3C)


class Differential(batches.Check):
    """Compares all placements with the first one."""

    def __init__(self, placements):
        self.placements = placements

    def check(self, program, libraries, outcome):
        for number in range(2):
            values = execute.random_values(program, number)
            if values is None:
                outcome.counts["sizes that make a run too long"] += 1
                continue
            cases = [execute.random_case(program, values, number)]
            if program.has_footprint:
                cases += [case for _, case in
                          execute.worst_cases(program, values)]
            for case in cases:
                failure = self.compare(program, libraries, case, outcome)
                if failure:
                    return [failure]
        return []

    def compare(self, program, libraries, case, outcome):
        """A failure, or None. Unequal results are those of the later run."""
        try:
            run = program.run(case.values, case.tape, case.flags)
        except model.TooLarge:
            outcome.counts["tapes that make a run too long"] += 1
            return None
        outcome.counts["cases"] += 1
        first = None
        for placement, library in libraries.items():
            for pattern in PATTERNS:
                done, fault = self.run(placement, library, program, case, run,
                                       pattern)
                outcome.counts["runs"] += 1
                where = f"{placement}, pattern {pattern:#x}"
                if done.status != execute.OK:
                    return placement, (
                        f"{where}: status {done.status}, "
                        f"{done.error.what.decode()}, wanted "
                        f"{done.error.wanted}, available "
                        f"{done.error.available}, at "
                        f"{done.error.location.decode()}")
                if fault:
                    return placement, f"{where}: {fault}"
                first = first or (where, done.outputs)
                if done.outputs != first[1]:
                    return placement, (
                        f"{where}: other results than {first[0]}, in "
                        f"{self.differences(program, first[1], done.outputs)}"
                        f"; called with {case}")
        return None

    @staticmethod
    def differences(program, first, second):
        names = [a.name for a in program.arguments if a.element]
        names += [f"result {i}" for i in range(len(program.results))]
        return ", ".join(n for n, a, b in zip(names, first, second) if a != b)

    def run(self, placement, library, program, case, run, pattern):
        kind = build.PLACEMENTS[placement].space
        spaces = []
        for root in range(program.options.spaces):
            if kind == "heap":
                spaces.append(execute.Heap(self.libraries, pattern))
                continue
            size = None
            if kind == "arena":
                size = execute.footprint(library, program, case.values, root)
            if size is None:
                # More than the model says a run takes: frames on the stack
                # reclaim nothing, and bufferization may move what is allocated.
                # How much it is to the byte is footprint.py's to check.
                size = 2 * run.peaks[root] + 4096
            spaces.append(execute.Arena(self.libraries, max(size, 0), pattern,
                                        kind == "poisoned"))
        done = execute.call(library, program, case, spaces)
        faults = [fault for fault in (s.close() for s in spaces) if fault]
        return done, ", ".join(faults)


def main():
    parser = batches.arguments(__doc__.splitlines()[0])
    parser.set_defaults(programs=500)
    parser.add_argument("--placements", nargs="+",
                        default=list(build.PLACEMENTS),
                        choices=list(build.PLACEMENTS))
    options = parser.parse_args()
    check = Differential(options.placements)
    return batches.run(check, options)


if __name__ == "__main__":
    sys.exit(main())
