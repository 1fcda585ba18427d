"""Runs many small cases in one call of pol-run, and compares with the oracle.

A case is a function on arrays, what it is called with, and what it should give.
A batch is one module: the functions of its cases, private, and one entry point
that calls them one after the other. So hundreds of cases cost one compilation.
"""

import dataclasses
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))

import dtypes  # noqa: E402 (found through the line above)
import oracle  # noqa: E402

# An argument that pol-run supplies, see `Case`.
SPACE = object()


@dataclasses.dataclass
class Result:
    """What a case should give: an array of rows, or one value per row."""

    type: str
    dtype: str
    want: object
    per_row: bool = False

    def error(self, got, dtype):
        """The error of what came out."""
        want = self.want
        if dtype != self.dtype:
            return float("inf")
        if self.per_row:
            got, want = got[..., None], want[..., None]
        return oracle.row_error(got, want, dtype)


@dataclasses.dataclass
class Case:
    """A function to call.

    function: its text, named @F, from the parameter list on; equal texts are
      one function.
    arguments: triples (MLIR type, element type, value). A value is an array,
      pol-run's text for one ("4xf32=ones"), or SPACE.
    results: a Result each.
    """

    group: str
    name: str
    function: str
    arguments: list
    results: list


@dataclasses.dataclass
class Tally:
    """What was compared, and how far off it was at most."""

    count: int = 0
    worst: float = 0.0
    allowed: float = 1.0
    failures: list = dataclasses.field(default_factory=list)

    def add(self, count, worst, allowed, failures):
        """The worst error is that nearest to what is accepted."""
        self.count += count
        if self.allowed == 1.0 or worst / allowed > self.worst / self.allowed:
            self.worst, self.allowed = worst, allowed
        self.failures += failures


class Batch:
    """The cases of one module."""

    def __init__(self, name, cases):
        self.name = name
        self.cases = cases

    def module(self):
        """The text of the module. All spaces are one, the first argument."""
        names, functions = {}, []
        parameters, results, calls = ["%space: !pol.arena"], [], []
        for number, case in enumerate(self.cases):
            if case.function not in names:
                names[case.function] = f"@f{len(names)}"
                functions.append("func.func private " + case.function.replace(
                    "@F", names[case.function]))
            operands, types = [], []
            for position, (mlir_type, _, value) in enumerate(case.arguments):
                operand = f"%a{number}_{position}"
                if value is SPACE:
                    operand = "%space"
                else:
                    parameters.append(f"{operand}: {mlir_type}")
                operands.append(operand)
                types.append(mlir_type)
            given = [result.type for result in case.results]
            calls.append(
                f"  %r{number}:{len(given)} = call {names[case.function]}"
                f"({', '.join(operands)}) : ({', '.join(types)}) -> "
                f"({', '.join(given)})")
            results += [(f"%r{number}#{i}", t) for i, t in enumerate(given)]
        values = ", ".join(value for value, _ in results)
        types = ", ".join(mlir_type for _, mlir_type in results)
        return "\n".join(functions + [
            f"func.func @run({', '.join(parameters)}) -> ({types}) {{",
            *calls, f"  return {values} : {types}", "}", ""])

    def write(self, folder):
        """Writes the module and its inputs; returns pol-run's arguments."""
        file = folder / f"{self.name}.mlir"
        file.write_text(self.module())
        command = [str(file), "--entry", "run"]
        for number, case in enumerate(self.cases):
            for position, (_, dtype, value) in enumerate(case.arguments):
                if value is SPACE:
                    continue
                if not isinstance(value, str):
                    path = folder / f"{self.name}-{number}-{position}.npy"
                    dtypes.save(path, value, dtype)
                    value = str(path)
                command += ["--input", value]
        return command

    def outputs(self, folder):
        count = sum(len(case.results) for case in self.cases)
        return [folder / f"{self.name}-result-{i}.npy" for i in range(count)]

    def run(self, tool, folder, *options):
        """Runs the batch; returns the bytes of each result's file."""
        command = [tool, *self.write(folder), *options]
        outputs = self.outputs(folder)
        for path in outputs:
            path.unlink(missing_ok=True)
            command += ["--output", str(path)]
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(
                f"{self.name} {' '.join(options)}: pol-run exited with "
                f"{done.returncode}\n{done.stderr[-4000:]}")
        if done.stderr:
            raise RuntimeError(f"{self.name}: unexpected output on stderr\n"
                               + done.stderr[-4000:])
        return [path.read_bytes() for path in outputs]

    def clean(self, folder):
        """Removes the files: all batches together have large ones."""
        for path in folder.glob(f"{self.name}*"):
            if path.name.startswith((f"{self.name}.", f"{self.name}-")):
                path.unlink()

    def compare(self, folder, tallies):
        """Compares the files of the last run with the oracle, by group."""
        outputs = iter(self.outputs(folder))
        for case in self.cases:
            tally = tallies.setdefault(case.group, Tally())
            for index, result in enumerate(case.results):
                error = result.error(*dtypes.load(next(outputs)))
                allowed = oracle.TOLERANCE[result.dtype]
                failures = []
                # Written so that a NaN fails.
                if not error <= allowed:
                    failures.append(
                        f"{self.name}: {case.name}, result {index}: error "
                        f"{error:.3g}, more than {allowed:.3g}")
                tally.add(1, error, allowed, failures)


def merge(tallies, more):
    for group, tally in more.items():
        tallies.setdefault(group, Tally()).add(
            tally.count, tally.worst, tally.allowed, tally.failures)


def report(tallies):
    """Prints a line for each group; returns whether all is well."""
    width = max(len(group) for group in tallies)
    print(f"{'group':<{width}}  {'comparisons':>11}  {'worst error':>11}  "
          f"{'allowed':>8}")
    for group, tally in tallies.items():
        print(f"{group:<{width}}  {tally.count:>11}  {tally.worst:>11.2e}  "
              f"{tally.allowed:>8.1e}{'  FAILED' if tally.failures else ''}")
    failures = [text for tally in tallies.values() for text in tally.failures]
    for text in failures[:40]:
        print(f"FAILED: {text}")
    if len(failures) > 40:
        print(f"... and {len(failures) - 40} more")
    total = sum(tally.count for tally in tallies.values())
    print(f"{total} comparisons, {len(failures)} failed")
    return total > 0 and not failures
