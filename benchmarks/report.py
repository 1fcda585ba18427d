"""Results as rows of numbers, and as text."""

import math
import statistics

from limits import NAMES as LIMITS

_FLOPS_LIMITS = ("fma",)


def _timing(entry):
    """What is known of a contender in a case."""
    # JSON has no infinity: an error that is none of any size is null.
    made = {"note": entry.note, "errors": {
        name: error if math.isfinite(error) else None
        for name, error in entry.errors.items()}}
    if entry.problem:
        return {**made, "problem": entry.problem, "wrong": entry.wrong}
    samples = sorted(entry.samples)
    first, _, third = (statistics.quantiles(samples, n=4, method="inclusive")
                       if len(samples) > 1 else samples * 3)
    return {**made, "least": samples[0], "median": statistics.median(samples), "q1": first,
            "q3": third, "samples": len(samples)}


def limit_of(name, rates):
    """The limit of some rounds. What cores can multiply is always the same, and
    less of it only says that one of them had something else to do. Of memory
    there is what others leave: its median counts, as that of times does."""
    return max(rates) if name in _FLOPS_LIMITS else statistics.median(rates)


def row(case, entries, limits, threads):
    """What JSON has of a case. Times are seconds, rates a second. limits: what
    the limit was in each round."""
    limit = limit_of(case.limit, limits)
    timings = {entry.name: _timing(entry) for entry in entries}
    amount = case.flops() if case.limit in _FLOPS_LIMITS else case.bytes()
    for timing in timings.values():
        if "median" in timing:
            timing["rate"] = amount / timing["median"]
            timing["of_limit"] = timing["rate"] / limit
    pol = timings.pop("pol")
    peers = {n: t["median"] for n, t in timings.items() if "median" in t}
    best = min(peers, key=peers.get, default=None)
    made = {
        "kernel": case.kernel, "dtype": case.dtype,
        "shape": case.shape_label(), "causal": case.causal,
        "threads": threads, "bytes": case.bytes(), "flops": case.flops(),
        "limit": case.limit, "limit_rate": limit,
        "limit_median": statistics.median(limits), "limit_best": max(limits),
        "pol": pol, "peers": timings,
        "best_peer": best}
    if best and "median" in pol:
        made["best_peer_over_pol"] = peers[best] / pol["median"]
    return made


# ------------------------------------------------------------------------------
# Text
# ------------------------------------------------------------------------------


def _time(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _rate(name, rate):
    unit = "GFLOP/s" if name in _FLOPS_LIMITS else "GB/s"
    return f"{rate / 1e9:.1f} {unit}"


def header(results):
    lines = [f"{results['cpu']}, {results['threads']} threads, "
             f"{results['last_level_cache'] / 2**20:.0f} MiB last-level cache, "
             f"pol compiled for {results['shapes']} shapes"]
    lines += [f"  {name} {version}"
              for name, version in results["versions"].items()]
    lines += [f"  {name} MISSING: {why}"
              for name, why in results["missing"].items()]
    if results["load"] > 0.5:
        lines.append(f"the load of this machine is {results['load']:.1f}: "
                     "something else runs, and times are not to be trusted")
    if results["quick"]:
        lines.append("quick: shapes are too small to mean anything")
    return "\n".join(lines)


def text(made):
    """A block for each case, a line for each contender."""
    lines = [f"\n{made['kernel']} {made['shape']} {made['dtype']}: "
             f"{made['bytes'] / 2**20:.1f} MiB, {made['flops'] / 1e9:.2f} "
             f"GFLOP; limit {LIMITS[made['limit']]} "
             f"{_rate(made['limit'], made['limit_rate'])}",
             f"  {'':<12} {'median':>10} {'quartiles':>23} {'n':>3} "
             f"{'rate':>14} {'of limit':>8} {'over pol':>8}"]
    pol = made["pol"]
    for name, timing in {"pol": pol, **made["peers"]}.items():
        if "median" not in timing:
            lines.append(f"  {name:<12} {timing['problem']}")
            continue
        ratio = (f"{timing['median'] / pol['median']:8.2f}"
                 if "median" in pol else f"{'':>8}")
        spread = f"{_time(timing['q1'])} .. {_time(timing['q3'])}"
        lines.append(
            f"  {name:<12} {_time(timing['median']):>10} {spread:>23} "
            f"{timing['samples']:>3} {_rate(made['limit'], timing['rate']):>14}"
            f" {timing['of_limit']:>8.2f} {ratio}"
            + (f"  {timing['note']}" if timing["note"] else ""))
    return "\n".join(lines)


def summary(results):
    """A line for each case, and the machine's limits."""
    lines = ["", "limits: " + ", ".join(
        f"{LIMITS[name]} {_rate(name, rate)}"
        for name, rate in results["limits"].items()), "",
        f"{'kernel':<17} {'shape':<25} {'type':<5} {'pol':>10} "
        f"{'of limit':>8}  {'best peer':<12} {'median':>10} {'over pol':>8}"]
    for made in results["rows"]:
        pol = made["pol"]
        line = f"{made['kernel']:<17} {made['shape']:<25} {made['dtype']:<5} "
        if "median" in pol:
            line += f"{_time(pol['median']):>10} {pol['of_limit']:>8.2f}"
        else:
            line += f"{pol['problem']}"
        best = made["best_peer"]
        if best:
            line += (f"  {best:<12} "
                     f"{_time(made['peers'][best]['median']):>10}")
        if "best_peer_over_pol" in made:
            line += f" {made['best_peer_over_pol']:>8.2f}"
        lines.append(line)
    wrong = [(made, name) for made in results["rows"]
             for name, timing in {"pol": made["pol"], **made["peers"]}.items()
             if timing.get("wrong")]
    for made, name in wrong:
        timing = made["pol"] if name == "pol" else made["peers"][name]
        lines.append(f"{name}: {made['kernel']} {made['shape']} "
                     f"{made['dtype']}: {timing['problem']}")
    return "\n".join(lines)
