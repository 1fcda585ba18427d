"""Runs a check on many random programs: batch by batch, in processes of their
own, so that what crashes is one program's failure."""

import argparse
import collections
import dataclasses
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import tempfile
import time

import build
import execute
import generate


@dataclasses.dataclass
class Outcome:
    """failures: pairs (seed, text). figures: anything that a check counts."""

    failures: list = dataclasses.field(default_factory=list)
    figures: list = dataclasses.field(default_factory=list)
    counts: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)
    features: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)
    programs: int = 0

    def add(self, other):
        self.failures += other.failures
        self.figures += other.figures
        self.counts += other.counts
        self.features += other.features
        self.programs += other.programs


class Check:
    """What is done with each program. placements: those it is compiled for."""

    placements = ()
    level = 0

    def prepare(self, tools):
        """Before anything else, in every process."""
        self.libraries = execute.load(tools.runtime, tools.poison())

    def check(self, program, libraries, outcome):
        """libraries: of each placement. Adds to the outcome; a failure is a
        pair (placement, text) in what it returns."""
        raise NotImplementedError

    def report(self, outcome):
        """Prints what was counted."""


def _run_batch(check, tools, seeds, connection):
    check.prepare(tools)
    outcome = Outcome()
    programs = [generate.generate(seed) for seed in seeds]
    compiled = {
        placement: build.compile_programs(tools, programs, placement,
                                          check.level, outcome.failures)
        for placement in check.placements}
    for program in programs:
        connection.send(program.seed)
        outcome.programs += 1
        outcome.features.update(program.features)
        libraries = {p: c.get(program.seed) for p, c in compiled.items()}
        if None in libraries.values():
            continue
        for placement, text in check.check(program, libraries, outcome) or ():
            outcome.failures.append((
                program.seed, f"{text}\n  {tools.keep(program, placement)}"))
    connection.send(outcome)
    connection.close()


def _process(check, tools, seeds, timeout):
    """The outcome of a batch, whatever happens to it."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(
        target=_run_batch, args=(check, tools, seeds, sender))
    process.start()
    sender.close()
    at, done, deadline = None, None, time.monotonic() + timeout
    try:
        while done is None and receiver.poll(deadline - time.monotonic()):
            got = receiver.recv()
            if isinstance(got, Outcome):
                done = got
            else:
                at = got
    except EOFError:
        pass
    late = time.monotonic() >= deadline
    if late:
        process.terminate()
    process.join()
    if done is not None:
        return done
    how = (f"ran for {timeout} s" if late
           else f"ended with status {process.exitcode}")
    return _after_crash(check, tools, seeds, at, how, timeout)


def _after_crash(check, tools, seeds, at, how, timeout):
    """The rest of a batch in which the program `at` crashed."""
    outcome = Outcome()
    if at is None:
        outcome.failures.append((seeds[0], f"the batch of seeds {seeds} {how} "
                                 "before any program ran"))
        return outcome
    placement = check.placements[0]
    outcome.failures.append((at, f"the program {how}: "
                             f"{tools.keep(generate.generate(at), placement)}"))
    outcome.programs += 1
    rest = [seed for seed in seeds if seed != at]
    if rest:
        outcome.add(_process(check, tools, rest, timeout))
    return outcome


def _work(arguments):
    return _process(*arguments)


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--pol-opt", required=True)
    parser.add_argument("--llvm-bin", required=True)
    parser.add_argument("--runtime", required=True,
                        help="libpol_runtime.so")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0,
                        help="seed of the first program")
    parser.add_argument("--replay", type=int, metavar="SEED",
                        help="one program alone")
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--level", type=int, default=None,
                        help="how far LLVM optimizes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, default=20,
                        help="how many failures are printed")
    parser.add_argument("--folder", help="where failures are kept")
    return parser


def run(check, options):
    """Runs the check; returns the exit status."""
    folder = options.folder or tempfile.mkdtemp(prefix="pol-memory-")
    tools = build.Tools(options.pol_opt, options.llvm_bin, options.runtime,
                        folder)
    tools.poison()
    if options.level is not None:
        check.level = options.level
    seeds = list(range(options.first, options.first + options.programs))
    if options.replay is not None:
        seeds = [options.replay]
    batches = [seeds[i:i + options.batch]
               for i in range(0, len(seeds), options.batch)]
    begin, outcome = time.monotonic(), Outcome()
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        for done in pool.imap(_work, [(check, tools, b, 600) for b in batches]):
            outcome.add(done)
    return _report(check, outcome, seeds, folder, time.monotonic() - begin,
                   options.show)


def _report(check, outcome, seeds, folder, seconds, shown):
    width = max((len(f) for f in outcome.features), default=0)
    print(f"{outcome.programs} programs, of seeds {seeds[0]} to {seeds[-1]}, in "
          f"{seconds:.0f} s; with")
    for feature, count in sorted(outcome.features.items()):
        print(f"  {feature:<{width}}  {count:>6}")
    for what, count in sorted(outcome.counts.items()):
        print(f"{count:>8} {what}")
    check.report(outcome)
    outcome.failures.sort()
    for seed, text in outcome.failures[:shown]:
        print(f"FAILED: seed {seed} (--replay {seed}): {text}")
    failed = len({seed for seed, _ in outcome.failures})
    print(f"{failed} programs failed"
          + (f"; see {folder}" if failed else ""))
    if not failed and not any(pathlib.Path(folder).glob("failed-*")):
        for path in pathlib.Path(folder).glob("libpoison.so"):
            path.unlink()
    good = outcome.programs == len(seeds) and not failed
    return 0 if good else 1
