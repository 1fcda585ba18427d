"""Pictures of tile classes against counting, and how few tiles are visited."""

import argparse
import re
import subprocess
import sys

import numpy as np

_SIGNS = ".+#"


def _module(queries, keys, body, ids=None):
    """One attention op. body: of its mask, that yields %kept. ids: of each
    position, a constant, the capture %ids."""
    q, k = f"tensor<1x1x{queries}x8xf32>", f"tensor<1x1x{keys}x8xf32>"
    constant = clause = argument = ""
    if ids is not None:
        kind = f"tensor<{len(ids)}xi32>"
        data = ids.astype("<i4").tobytes().hex().upper()
        constant = f'  %ids = arith.constant dense<"0x{data}"> : {kind}\n'
        clause, argument = f"    captures(%ids : {kind})\n", ", %d"
    return (f"func.func @f(%q: {q}, %k: {k}, %o: {q}) -> {q} {{\n{constant}"
            f"  %0 = pol.attention ins(%q, %k, %k : {q}, {k}, {k})\n{clause}"
            f"    outs(%o : {q})\n    mask(%b, %h, %i, %j{argument}) {{\n{body}"
            f"      pol.yield %kept : i1\n    }} -> {q}\n"
            f"  return %0 : {q}\n}}\n")


_CAUSAL = "      %kept = arith.cmpi sle, %j, %i : index\n"
_WINDOW = """      %behind = arith.subi %i, %j : index
      %most = arith.constant 256 : index
      %causal = arith.cmpi sle, %j, %i : index
      %near = arith.cmpi sle, %behind, %most : index
      %kept = arith.andi %causal, %near : i1
"""
_BLOCKS = """      %size = arith.constant 256 : index
      %bi = arith.divsi %i, %size : index
      %bj = arith.divsi %j, %size : index
      %kept = arith.cmpi eq, %bi, %bj : index
"""


def _documents(length):
    kind = f"tensor<{length}xi32>"
    return (f"      %di = tensor.extract %d[%i] : {kind}\n"
            f"      %dj = tensor.extract %d[%j] : {kind}\n"
            "      %kept = arith.cmpi eq, %di, %dj : i32\n")


def _print(opt, module, options):
    done = subprocess.run(
        [opt, f"--pol-print-tile-classes={options}", "-o", "/dev/null"],
        input=module, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{done.stderr[:2000]}\n{module[:2000]}")
    return done.stderr.splitlines()[1:]


def _picture(kept, rows, columns):
    lines = []
    for i in range(0, kept.shape[0], rows):
        parts = [kept[i:i + rows, j:j + columns]
                 for j in range(0, kept.shape[1], columns)]
        lines.append("".join(
            _SIGNS[int(p.any()) + int(p.all())] for p in parts))
    return lines


def _check_pictures(opt):
    for queries, keys, tile, first in ((1, 1, 64, 0), (65, 100, 16, 0),
                                       (300, 700, 64, 400), (63, 17, 1, -9)):
        i = np.arange(first, first + queries)[:, None]
        j = np.arange(keys)[None, :]
        for name, body, kept in (
                ("causal", _CAUSAL, j <= i),
                ("window", _WINDOW, (j <= i) & (i - j <= 256))):
            lines = _print(opt, _module(queries, keys, body),
                           f"tile-queries={tile} tile-keys={tile} "
                           f"first-query={first}")
            if lines[:-1] != _picture(kept, tile, tile):
                yield (f"{name} of {queries} x {keys} from {first}, tile {tile}, "
                       "is\n" + "\n".join(lines))


def _check_counts(opt):
    length = 4096
    ids = np.arange(length) // 256
    for name, body, captured, most in (
            ("causal", _CAUSAL, None, 51), ("window of 256", _WINDOW, None, 9),
            ("documents by ids", _documents(length), ids, 8),
            ("documents by quotients", _BLOCKS, None, 8)):
        line = _print(opt, _module(length, length, body, captured),
                      "counts-only=true")[-1]
        print(f"{name}: {line}")
        visited = float(re.search(r"\(([\d.]+)%\)", line)[1])
        if visited > most or "unknown" in line:
            yield f"{name}: expected at most {most}%"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", required=True, help="pol-opt")
    options = parser.parse_args()
    problems = [*_check_pictures(options.opt), *_check_counts(options.opt)]
    for problem in problems:
        print(problem)
    print(f"{len(problems) or 'no'} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
