"""IREE on the CPU: the formulas of formulas.py, which JAX writes as StableHLO,
and for attention without a mask IREE's own op, whichever is faster."""

import math
import os
import time
from importlib import metadata

import iree.compiler.tools as compiler
import iree.runtime as runtime

from common import Prepared, Unsupported, copied
from peers import formulas

_FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
_TYPES = {"f32": "f32", "bf16": "bf16", "f16": "f16"}


class Contender:
    """One compiled module for each case."""

    def __init__(self, threads, _options):
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax  # pylint: disable=import-outside-toplevel
        self._jax = jax
        runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self._config = runtime.Config("local-task")
        self.version = metadata.version("iree-base-compiler")

    def prepare(self, case, inputs):
        given = [formulas.typed(copied(a, case.dtype_of(n)), case.dtype_of(n))
                 for n, a in inputs.items()]
        arrays = [runtime.asdevicearray(self._config.device, a) for a in given]
        text = self._jax.jit(formulas.of(case)).lower(*given).as_text()
        made = [self._prepare(case, text, "stablehlo", arrays,
                              tuple(case.outputs()), "formula")]
        if case.kernel == "attention" and not case.causal:
            try:
                made.append(self._prepare(case, _attention(case), "auto",
                                          arrays, ("o",), "attention op"))
            except Unsupported as error:
                made[0].note += f"; attention op {error}"
        return min(made, key=_seconds) if len(made) > 1 else made[0]

    def _prepare(self, case, text, form, arrays, names, note):
        try:
            code = compiler.compile_str(text, input_type=form,
                                        target_backends=["llvm-cpu"],
                                        extra_args=_FLAGS)
        except compiler.CompilerToolError as error:
            lines = [line for line in str(error).splitlines()
                     if "error:" in line]
            raise Unsupported("does not compile: "
                              + (lines or ["?"])[0].strip()[:90]) from None
        context = runtime.SystemContext(config=self._config)
        module = runtime.VmModule.copy_buffer(context.instance, code)
        context.add_vm_module(module)
        function = context.modules[module.name]["main"]
        last = []

        def call():
            # What was allocated before is free to be used again.
            last.clear()
            results = function(*arrays)
            last[:] = results if isinstance(results, tuple) else [results]

        def outputs():
            return {name: formulas.stored(value.to_host(), case.dtype_of(name))
                    for name, value in zip(names, last)}

        call.kept = context
        return Prepared(call, outputs, note=f"{note}; allocates outputs")


def _seconds(prepared):
    prepared.call()
    begin = time.perf_counter()
    prepared.call()
    return time.perf_counter() - begin


def _attention(case):
    b, h, _, s, t, d = case.shape
    kind = _TYPES[case.dtype]
    q, k = f"tensor<{b}x{h}x{s}x{d}x{kind}>", f"tensor<{b}x{h}x{t}x{d}x{kind}>"
    dims = "(b, h, m, n, d, t)"
    maps = ", ".join(f"affine_map<{dims} -> ({to})>" for to in (
        "b, h, m, d", "b, h, t, d", "b, h, t, n", "", "b, h, m, n"))
    return f"""
func.func @main(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %scale = arith.constant {1 / math.sqrt(d):.9e} : {kind}
  %empty = tensor.empty() : {q}
  %o = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}>
      ins(%q, %k, %v, %scale : {q}, {k}, {k}, {kind}) outs(%empty : {q}) {{
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  }} -> {q}
  return %o : {q}
}}
"""
