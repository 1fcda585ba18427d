"""Compares the named masks and scores of attention with NumPy, at all positions
of small arrays."""

import argparse
import dataclasses
import subprocess
import sys
import tempfile

import numpy as np

from driver import Array, Tools
from setup import dtypes

BATCHES, HEADS, QUERIES, KEYS = 2, 3, 5, 7
SHAPE = (BATCHES, HEADS, QUERIES, KEYS)
B, H, Q, K = np.indices(SHAPE)
RANDOM = np.random.RandomState(3)
TOLERANCE = {"f32": 4e-6, "f64": 1e-14}


def floats(*shape):
    """Numbers that bf16 has, and all other types."""
    return dtypes.round_to(RANDOM.uniform(-2, 2, shape), "bf16").astype(
        np.float64)


@dataclasses.dataclass
class Variant:
    """spec: as the test's pass reads it. captures: pairs of an array and its
    element type, {T} for the score's. want: a mask, or a function of scores."""

    name: str
    spec: str
    want: object
    captures: list = dataclasses.field(default_factory=list)

    is_mask = property(lambda self: not callable(self.want))


def masks():
    causal = K <= Q
    lengths = np.array([2, 6])
    ids = np.array([[0, 0, 1, 1, 2, 2, 2], [3, 3, 3, 3, 3, 4, 4]])
    same = ids[B, Q] == ids[B, K]
    yield Variant("full", '["full"]', np.ones(SHAPE, bool))
    yield Variant("causal", '["causal"]', causal)
    for window in (0, 2, 2**63 - 1):
        yield Variant(f"window_{window}", f'["window", {window}]',
                      causal & (Q - K <= window))
    for length in (0, 3, 2**63 - 1):
        yield Variant(f"prefix_{length}", f'["prefix", {length}]', K < length)
        yield Variant(f"prefix_lm_{length}", f'["prefix_lm", {length}]',
                      causal | (K < length))
    yield Variant("prefix_of", '["prefix_of", 0]', K < lengths[B],
                  [(lengths, "i32")])
    yield Variant("prefix_lm_of", '["prefix_lm_of", 0]',
                  causal | (K < lengths[B]), [(lengths, "i64")])
    yield Variant("document", '["document", 0, 0]', same, [(ids, "i32")])
    yield Variant("document_two", '["document", 0, 1]',
                  ids[B, Q] == ids[0][K], [(ids, "i64"), (ids[0], "i64")])
    yield Variant("causal_document", '["and", ["causal"], ["document", 0, 0]]',
                  causal & same, [(ids, "i32")])
    yield Variant("not_causal", '["not", ["causal"]]', ~causal)
    yield Variant("or", '["or", ["not", ["causal"]], ["document", 0, 0]]',
                  ~causal | same, [(ids, "i32")])


def scores():
    slopes, bias, table = floats(HEADS), floats(*SHAPE), floats(HEADS, 5)
    x, y, gamma = floats(BATCHES, 7, 3), floats(7, 3), floats(HEADS)
    entry = np.clip(K - Q + 2, 0, 4)
    squared = np.sum((x[B, Q] - y[K])**2, axis=-1)
    yield Variant("plain", '["plain"]', lambda s: s)
    yield Variant("softcap", '["softcap", 1.5]',
                  lambda s: 1.5 * np.tanh(s / 1.5))
    for kind in ("{T}", "bf16", "f16", "f64"):
        yield Variant(f"alibi_{kind.strip('{}')}", '["alibi", 0]',
                      lambda s: s + slopes[H] * (K - Q), [(slopes, kind)])
    yield Variant("bias_4", '["bias", 0]', lambda s: s + bias, [(bias, "{T}")])
    yield Variant("bias_3", '["bias", 0]', lambda s: s + bias[1][H, Q, K],
                  [(bias[1], "f16")])
    yield Variant("bias_2", '["bias", 0]', lambda s: s + bias[1, 1][Q, K],
                  [(bias[1, 1], "{T}")])
    yield Variant("relative", '["relative", 0, 2]',
                  lambda s: s + table[H, entry], [(table, "{T}")])
    yield Variant("relative_1", '["relative", 0, 2]',
                  lambda s: s + table[0][entry], [(table[0], "{T}")])
    yield Variant("rbf", '["rbf", 0, 1, 2]',
                  lambda s: s - gamma[H] * squared,
                  [(x, "{T}"), (y, "bf16"), (gamma, "{T}")])
    yield Variant("composed", '["compose", ["alibi", 0], ["softcap", 1.5]]',
                  lambda s: 1.5 * np.tanh((s + slopes[H] * (K - Q)) / 1.5),
                  [(slopes, "{T}")])


def function_text(variant, dtype):
    """The variant as a function, and an entry point that calls it at all
    positions."""
    types = []
    for array, kind in variant.captures:
        # The last dimension of points is static.
        sizes = ["?"] * (array.ndim - 1) + [
            "3" if "rbf" in variant.spec and array.ndim > 1 else "?"]
        types.append(f"memref<{'x'.join(sizes)}x{kind.replace('{T}', dtype)}>")
    result = "i32" if variant.is_mask else dtype
    names = [f"%a{i}" for i in range(len(types))]
    given = "".join(f", {n}: {t}" for n, t in zip(names, types))
    indices = ["%b", "%h", "%i", "%j"]
    at = ", ".join(indices)
    whole = f"memref<?x?x?x?x{result}>"
    kinds = ", ".join([dtype] * (not variant.is_mask) + ["index"] * 4 + types)
    used = ", ".join(["%s"] * (not variant.is_mask) + indices + names)
    loops = "".join(
        f"%n{c} = memref.dim %out, %c{c} : {whole}\n"
        f"scf.for {name} = %c0 to %n{c} step %c1 {{\n"
        for c, name in enumerate(indices))
    constants = "".join(f"%c{i} = arith.constant {i} : index\n"
                        for i in range(4))
    call = f"func.call @{variant.name}({used}) : ({kinds})"
    if variant.is_mask:
        body = f"%kept = {call} -> i1\n%r = arith.extui %kept : i1 to i32\n"
    else:
        body = (f"%s = memref.load %out[{at}] : {whole}\n"
                f"%r = {call} -> {dtype}\n")
    kind = "mask" if variant.is_mask else "score"
    return f"""
func.func private @{variant.name}({kinds}) -> {'i1' if variant.is_mask else dtype}
    attributes {{test.{kind} = {variant.spec}}}
func.func @{variant.name}_run(%out: {whole}{given}) {{
{constants}{loops}{body}memref.store %r, %out[{at}] : {whole}
}}
}}
}}
}}
return
}}
"""


def check(module, variant, dtype):
    """The largest error, or whether a mask differs."""
    start = (np.zeros(SHAPE, np.int32) if variant.is_mask else
             dtypes.round_to(RANDOM.uniform(-3, 3, SHAPE), dtype))
    out = Array(start, "i32" if variant.is_mask else dtype)
    module.call(f"{variant.name}_run", [out] + [
        Array(dtypes.round_to(a, k) if "f" in k else a, k)
        for a, k in ((a, kind.replace("{T}", dtype))
                     for a, kind in variant.captures)])
    got = out.values()
    if variant.is_mask:
        return float(np.any(got != variant.want))
    want = variant.want(start.astype(np.float64))
    return np.max(np.abs(got - want)) / max(1, np.max(np.abs(want)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("pol-opt", "llvm-bin", "runtime", "openmp"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    variants = [*masks(), *scores()]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.pol_opt, options.llvm_bin, options.runtime,
                      options.openmp, folder)
        for dtype, tolerance in TOLERANCE.items():
            done = subprocess.run(
                [options.pol_opt, "-", "--test-pol-attention-variants"],
                input="".join(function_text(v, dtype) for v in variants),
                capture_output=True, text=True, check=False, timeout=120)
            if done.returncode != 0:
                raise RuntimeError(done.stderr[:3000])
            module = tools.compile(dtype, done.stdout, level=1)
            for variant in variants:
                error = check(module, variant, dtype)
                # Written so that a NaN fails.
                if not error <= tolerance:
                    failed += 1
                    print(f"FAILED: {variant.name}, {dtype}: error {error:.3g}")
    print(f"{len(variants)} variants in {len(TOLERANCE)} types, {failed} wrong")
    return 1 if failed or len(variants) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
