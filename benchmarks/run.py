#!/usr/bin/env python3
"""Measures pol's kernels, what other libraries need for the same, and what the
machine can do at best, side by side. README.md says how to read the result."""

import argparse
import datetime
import fnmatch
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import cases
import check
import common
import report
import roofline
from limits import NAMES as LIMITS
from worker import Problem, Process

PEERS = ("pytorch", "onnxruntime", "jax", "iree", "onednn")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--plot", help="a roofline, an SVG file")
    parser.add_argument("--quick", action="store_true",
                        help="small shapes, one round: a test, no measurement")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="cases whose label contains or matches this")
    parser.add_argument("--peers", default="all",
                        help="all, none, or some of " + ", ".join(PEERS))
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--seconds", type=float, default=6.0,
                        help="time for the measurements of a case")
    parser.add_argument("--rounds", type=int, default=10,
                        help="rounds of a case, at most")
    parser.add_argument("--dynamic", action="store_true",
                        help="compile pol's kernels without knowing shapes")
    parser.add_argument("--expansion", choices=("vector", "linalg"),
                        default="vector", help="how pol expands kernels")
    parser.add_argument("--build", default=str(common.ROOT / "build"),
                        help="pol's build folder; what is needed is built first")
    parser.add_argument("--no-build", action="store_true",
                        help="take what is there")
    parser.add_argument("--llvm-bin", help="the folder of clang")
    parser.add_argument("--pol-opt", help="the tool, if not the build's")
    parser.add_argument("--runtime", help="pol's runtime, if not the build's")
    parser.add_argument("--openmp", help="LLVM's OpenMP, if not beside clang")
    options = parser.parse_args()
    if not 1 <= options.threads <= len(os.sched_getaffinity(0)):
        parser.error("expected --threads from 1 to "
                     f"{len(os.sched_getaffinity(0))}, but got "
                     f"{options.threads}")
    options.peers = {"all": PEERS, "none": ()}.get(
        options.peers, tuple(p for p in options.peers.split(",") if p))
    for peer in options.peers:
        if peer not in PEERS:
            parser.error(f"expected one of {', '.join(PEERS)} as a peer, but "
                         f"got {peer}")
    return options


# ------------------------------------------------------------------------------
# Tools
# ------------------------------------------------------------------------------


def _first(what, paths):
    for path in paths:
        if path and Path(path).exists():
            return str(Path(path).resolve())
    raise SystemExit(f"run.py: expected {what} at one of "
                     + ", ".join(str(p) for p in paths if p))


def _cached(build, name):
    """A value of CMake's cache."""
    try:
        for line in (build / "CMakeCache.txt").read_text().splitlines():
            key, _, value = line.partition("=")
            if key.split(":")[0] == name:
                return value
    except OSError:
        pass
    return None


def _version(pol_opt):
    """Of the tree, and the tool's hash, which may be of another one."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"],
                          cwd=common.ROOT, capture_output=True, text=True,
                          check=False)
    tool = hashlib.sha256(Path(pol_opt).read_bytes()).hexdigest()[:12]
    return f"{done.stdout.strip() or 'unknown'}, pol-opt {tool}"


def tools(options):
    """Builds, and finds what compiles kernels."""
    build = Path(options.build)
    if (build / "CMakeCache.txt").exists() and not options.no_build:
        say("build pol-opt and the runtime")
        subprocess.run(["cmake", "--build", str(build), "--target", "pol-opt",
                        "PolRuntimeShared"], check=True,
                       stdout=subprocess.DEVNULL)
    major = (common.ROOT / "cmake/LLVMVersion.txt").read_text().split(".")[0]
    mlir = _cached(build, "MLIR_DIR")
    clang = _first("clang", [
        options.llvm_bin and Path(options.llvm_bin) / "clang",
        mlir and Path(mlir).parents[2] / "bin" / "clang",
        f"/usr/lib/llvm-{major}/bin/clang"])
    llvm = Path(clang).parent
    # clang may be a link into that folder.
    if not (llvm / "mlir-translate").exists():
        llvm = Path(options.llvm_bin or f"/usr/lib/llvm-{major}/bin")
    pol_opt = _first("pol-opt", [options.pol_opt, build / "bin/pol-opt",
                                 build / "pol-opt"])
    return {
        "pol_opt": pol_opt,
        "runtime": _first("pol's runtime", [
            options.runtime, build / "lib/libpol_runtime.so",
            build / "libpol_runtime.so"]),
        "openmp": _first("LLVM's OpenMP", [
            options.openmp, _cached(build, "POL_OMP_LIBRARY"),
            llvm.parent / "lib/libomp.so"]),
        "llvm_bin": str(llvm), "dynamic": options.dynamic,
        "expansion": options.expansion, "version": _version(pol_opt)}


# ------------------------------------------------------------------------------
# Measurements
# ------------------------------------------------------------------------------


def say(text):
    """Progress: one line that is written over on a terminal, else a line each.
    """
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:shutil.get_terminal_size().columns - 1]}",
              end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


class Entry:
    """A contender in one case."""

    def __init__(self, name, process):
        self.name, self.process = name, process
        self.note = self.problem = ""
        self.wrong = False
        self.errors, self.samples = {}, []
        self.first = self.once = self.spent = 0.0

    def check(self, case, wants, folder):
        """Runs it once and compares; fills in what went wrong."""
        try:
            self.note, self.first = self.process.request("prepare", case,
                                                         folder)
            nans = self.process.request("outputs", folder, {
                name: (want.axis, want.indices)
                for name, want in wants.items()})
        except Problem as problem:
            kind, text = (*problem.args, "", "")[:2]
            first = (text or kind).splitlines()[0][:160]
            self.problem = (first if kind == "Unsupported"
                            else f"failed: {kind}: {first}")
            return
        for name, found_nan in nans.items():
            got = np.load(Path(folder) / f"out-{name}.npy")
            relative, ratio = wants[name].error(got, case.dtype_of(name),
                                                self.name == "pol")
            self.errors[name] = relative
            # Written so that a NaN fails.
            if found_nan or not ratio <= 1:
                self.problem += (f"; {name} is" if self.wrong else
                                 f"WRONG: {name} is")
                self.problem += (f" off by {relative:.2g}, {ratio:.2g} of what "
                                 "is allowed"
                                 + (", and has NaN" if found_nan else ""))
                self.wrong = True
        if self.name == "pol" and set(nans) != set(wants):
            self.wrong, self.problem = True, "WRONG: outputs are missing"
        missing = [name for name in wants if name not in nans]
        if missing:
            self.note = "; ".join(filter(None, [
                self.note, f"without {', '.join(missing)}"]))

    def runs(self):
        return not self.problem

    def attempt(self, what, *arguments):
        """Does one of what is below; who fails at it is out."""
        if not self.runs():
            return
        try:
            what(self, *arguments)
        except Problem as problem:
            self.problem = f"failed: {problem.args[0]}: {problem.args[1]}"

    def calibrate(self, total):
        """The first call has pages to touch, and counts only for want of time
        for a second one."""
        self.once = self.first
        if self.first <= 5 * total:
            self.once = self.process.request(
                "calibrate", 2 if 2 * self.first <= total else 1)
        if 3 * self.once > total:
            self.samples = [self.once]

    def measure(self, share, total):
        """A turn, if there is time for it: three samples in any case, but for
        one that takes too long for that."""
        warm, count = (1, 3) if 4 * self.once < share / 2 else (0, 1)
        enough = 1 if 3 * self.once > total else 3
        if (len(self.samples) >= enough
                and self.spent + (warm + count) * self.once > share):
            return
        begin = time.monotonic()
        self.samples += self.process.request("measure", count, warm)
        self.spent += time.monotonic() - begin


def _rounds(case, entries, limits, options):
    """All contenders in turn, beginning with another one each time. Returns
    what the limit was in each round."""
    running = [e for e in entries if e.runs()]
    found = []
    limits.request("prepare_limits", case.bytes())
    share = options.seconds / max(len(running), 1)
    for entry in running:
        time.sleep(common.SETTLE_SECONDS)
        entry.attempt(Entry.calibrate, options.seconds)
    for turn in range(options.rounds):
        time.sleep(common.SETTLE_SECONDS)
        found.append(limits.request("measure_limit", case.limit))
        for i in range(len(running)):
            time.sleep(common.SETTLE_SECONDS)
            running[(turn + i) % len(running)].attempt(
                Entry.measure, share, options.seconds)
    return found


def measure(case, processes, limits, options, tell=lambda what: None):
    """A row of the results. tell: is told what is being done."""
    rng = np.random.default_rng(1)
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        tell("inputs and the oracle")
        inputs = check.make_inputs(case, rng)
        for name, array in inputs.items():
            np.save(Path(folder) / f"{name}.npy", array)
        wants = check.wanted(case, inputs, rng)
        del inputs
        entries = [Entry(name, process) for name, process in processes.items()]
        for entry in entries:
            tell(f"check {entry.name}")
            entry.check(case, wants, folder)
    tell("measure " + ", ".join(e.name for e in entries if e.runs()))
    try:
        found = _rounds(case, entries, limits, options)
    finally:
        for entry in entries:
            entry.process.drop()
    return {**report.row(case, entries, found, options.threads),
            "load": os.getloadavg()[0]}


def machine_limits(limits, found, quick):
    """All limits, of arrays twice as large as the last-level cache each."""
    limits.request("prepare_limits",
                   1 << 20 if quick else 4 * common.last_level_cache())
    for _ in range(3):
        for name in LIMITS:
            time.sleep(common.SETTLE_SECONDS)
            found.setdefault(name, []).append(
                limits.request("measure_limit", name))
    limits.request("prepare_limits", 1)


def start(names, options, given):
    """Processes of the contenders that are here, and why the others are not."""
    processes, versions, missing = {}, {}, {}
    for name in names:
        say(f"start {name}")
        process = Process(name, options.threads, given)
        try:
            versions[name] = process.request("version")
            processes[name] = process
        except Problem as problem:
            if name == "pol":
                raise SystemExit(f"run.py: pol: {problem}") from None
            kind, text = (*problem.args, "", "")[:2]
            missing[name] = f"{kind}: {(text or '?').splitlines()[0]}"
    return processes, versions, missing


def chosen(options):
    every = cases.quick() if options.quick else cases.full()
    if not options.only:
        return every
    return [case for case in every if any(
        part in case.label() or fnmatch.fnmatch(case.label(), part)
        for part in options.only)]


def save(options, results, found):
    """What there is so far. found: rates of the machine's limits."""
    results["limits"] = {name: max(rates) for name, rates in found.items()}
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    if options.plot and results["rows"]:
        Path(options.plot).write_text(roofline.svg(results))


def main():
    # To be stopped is to be interrupted: files in memory go, results stay.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = arguments()
    if options.quick:
        options.rounds, options.seconds = 1, min(options.seconds, 0.5)
    every = chosen(options)
    if options.list:
        print("\n".join(case.label() for case in every))
        return 0
    if not every:
        raise SystemExit("run.py: no case matches --only")
    given = tools(options)
    processes, versions, missing = start(("pol", *options.peers), options,
                                         given)
    limits = Process("limits", options.threads, given)
    found, rows = {}, []
    results = {
        "when": datetime.datetime.now().isoformat(timespec="seconds"),
        "cpu": common.cpu_model(), "threads": options.threads,
        "load": os.getloadavg()[0],
        "last_level_cache": common.last_level_cache(),
        "shapes": "dynamic" if options.dynamic else "static",
        "expansion": options.expansion, "quick": options.quick,
        "versions": versions, "missing": missing, "limits": {}, "rows": rows}
    say("measure the machine's limits")
    machine_limits(limits, found, options.quick)
    print(report.header(results))
    try:
        for i, case in enumerate(every):
            begin, where = time.monotonic(), f"[{i + 1}/{len(every)}] "
            rows.append(measure(
                case, processes, limits, options,
                lambda what: say(f"{where}{case.label()}: {what}")))
            say(f"{where}{case.label()}: {time.monotonic() - begin:.0f} s")
            if sys.stderr.isatty():
                say("")
            print(report.text(rows[-1]), flush=True)
            save(options, results, found)
        machine_limits(limits, found, options.quick)
    except KeyboardInterrupt:
        print(f"stopped after {len(rows)} of {len(every)} cases",
              file=sys.stderr)
    save(options, results, found)
    for process in (*processes.values(), limits):
        process.stop()
    print(report.summary(results))
    bad = [row for row in rows if row["pol"].get("problem")]
    return 1 if bad or len(rows) < len(every) else 0


if __name__ == "__main__":
    sys.exit(main())
