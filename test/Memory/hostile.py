"""Footprints of random programs at extents that no program is meant for.

Negative ones, zeros, and such whose products are beyond 64 bits: the footprint
is -1 or what the exact model of the program says, and never anything else; what
does not fit fails before anything is touched. See batches.py for the options.
"""

import random
import sys

import batches
import execute
import model

VALUES = (-1, 0, 1, -2**63, 2**62, 2**63 - 1, 2**31, 2**32 + 1)


class Hostile(batches.Check):
    """Looks at all placements that have footprints."""

    placements = ("bump", "plan")

    def check(self, program, libraries, outcome):
        # On tensors, bufferization may leave out what the model allocates.
        if (not program.has_footprint or program.options.spaces > 1
                or program.options.tensors):
            return []
        rng = random.Random(f"{program.seed}-hostile")
        keys = [k for k in program.footprint_parameters()
                if k[1] not in ("%out", "%tape")]
        base = execute.random_values(program, 0)
        if base is None or not keys:
            return []
        for number in range(12):
            values = dict(base)
            if number:
                for key in rng.sample(keys, rng.randint(1, len(keys))):
                    values[key] = rng.choice(VALUES)
            for placement, library in libraries.items():
                failure = self.look(placement, library, program, values,
                                    outcome)
                if failure:
                    return [(placement, f"{placement}: {failure}; called with "
                             f"{values}")]
        return []

    @staticmethod
    def expected(program, values):
        """What the bump footprint has to be, None where that takes too long."""
        try:
            return program.worst(0, values)[0]
        except model.Invalid:
            return -1
        except model.TooLarge:
            return None

    def look(self, placement, library, program, values, outcome):
        got = execute.footprint(library, program, values)
        if got is None:
            return None
        outcome.counts[f"{placement} footprints"] += 1
        if got < 0:
            outcome.counts[f"{placement} footprints of -1"] += 1
        want = self.expected(program, values)
        if got < -1:
            return f"the footprint is {got}"
        if want is not None and want < 0 and got != -1:
            return f"the footprint is {got}, but a size is out of bounds"
        if want is not None and got > max(want, -1):
            return f"the footprint is {got}, more than the {want} of a run"
        exact = placement == "bump" and not self.wraps(program, values)
        if exact and want is not None and got != want:
            return f"the footprint is {got}, and not {want}"
        return self.call(library, program, values, got, outcome)

    @staticmethod
    def wraps(program, values):
        """Whether a footprint may be -1 for more than the run itself."""
        return any(values[key] < 0 or values[key] >= 2**31
                   for key in program.footprint_parameters())

    def call(self, library, program, values, footprint, outcome):
        """A call that must fail. Extents of arrays have to be true."""
        if 0 <= footprint <= 2**16 or any(
                values[k] < 0 or values[k] > 64
                for k in program.footprint_parameters() if k[0] == "dim"):
            return None
        size = 512
        arena = execute.Arena(self.libraries, size, 0xFF)
        state = arena.state()
        case = execute.Case(values, [0] * values[("dim", "%tape", 0)],
                            {f: 0 for f in program.flags})
        done = execute.call(library, program, case, [arena])
        outcome.counts["calls that must fail"] += 1
        wanted = (execute.INVALID_SIZE if footprint < 0
                  else execute.OUT_OF_MEMORY)
        clean = (done.untouched and arena.untouched()
                 and arena.state() == state)
        fault = arena.close()
        if done.status != wanted or not clean or fault:
            return (f"the footprint is {footprint}, but a call with {size} "
                    f"bytes gives status {done.status}"
                    f"{'' if clean else ' and changes something'} {fault}")
        if footprint > 0 and (done.error.wanted, done.error.available) != (
                footprint, size):
            return (f"wanted {done.error.wanted} and available "
                    f"{done.error.available} are told, not {footprint} and "
                    f"{size}")
        return None


def main():
    parser = batches.arguments(__doc__.splitlines()[0])
    parser.set_defaults(programs=200)
    options = parser.parse_args()
    return batches.run(Hostile(), options)


if __name__ == "__main__":
    sys.exit(main())
