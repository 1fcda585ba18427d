"""pol as a contender: a function per case, compiled for this machine.

Outputs are the caller's (`override`); checkpoints and scratch are in an arena
of the caller's, of as many bytes as the function's footprint says, which is
reset before each call. `strict` refuses every other buffer and copy.
"""

import ctypes
import tempfile

import numpy as np

from common import Prepared, copied, dtypes, empty, fill_with_nan
from driver import Arena, Array, Failed, Tools

# The inputs of the verb in order, where they are not those of the case.
_INPUTS = {
    "layer_norm_grad": ("x", "dy", "weight", None, "mean", "rstd"),
    "attention_grad": ("q", "k", "v", "o", "dout", None, None, None, None,
                       "max", "sum"),
}
# Outputs that pol has as checkpoints: in the arena.
_CHECKPOINTS = {"rms_norm": ("rstd",), "layer_norm": ("mean", "rstd"),
                "attention": ("max", "sum")}


class _Owned(Array):
    """An array as it is, with no guards."""

    def __init__(self, view, dtype):  # pylint: disable=super-init-not-called
        self.view, self.memory, self.dtype = view, view, dtype


def _type(shape, dtype, dynamic):
    dims = "".join(f"{'?' if dynamic else d}x" for d in shape)
    return f"tensor<{dims}{dtype}>"


def text_of(case, dynamic):
    """A function @f of a case: arena, inputs, outputs; it returns outputs and
    checkpoints."""
    types = {name: _type(*of, dynamic)
             for name, of in {**case.inputs(), **case.outputs()}.items()}
    operands = _INPUTS.get(case.kernel, tuple(case.inputs()))
    given = [name for name in operands if name]
    outs = [name for name in case.outputs()
            if name not in _CHECKPOINTS.get(case.kernel, ())]
    results = ", ".join(types[name] for name in case.outputs())
    parameters = ", ".join(["%arena: !pol.arena"] + [
        f"%{name}: {types[name]}" for name in [*case.inputs()]] + [
        f"%out_{name}: {types[name]}" for name in outs])
    overrides = ", ".join(f"{n} = %out_{n} : {types[n]}" for n in outs)
    count = len(case.outputs())
    values = ", ".join(f"%r#{i}" for i in range(count)) if count > 1 else "%r"
    causal = " {causal = #pol.causal<top_left>}" if case.causal else ""
    return (
        f"func.func @f({parameters}) -> ({results}) {{\n"
        f"  %r{f':{count}' if count > 1 else ''} = pol.apply "
        f"\"pol.{case.kernel}\"("
        + ", ".join(f"%{n}" if n else "none" for n in operands)
        + f"){causal} in %arena override {{{overrides}}}\n    : ("
        + ", ".join(types[n] for n in given)
        + f"), !pol.arena -> {results}\n  return {values} : {results}\n}}\n")


class Contender:
    """options: what run.py was told: the tools' paths, and `dynamic`."""

    def __init__(self, threads, options):
        # Kept by name: it goes with this object.
        self._folder = tempfile.TemporaryDirectory()
        self._options = options
        self._tools = Tools(options["pol_opt"], options["llvm_bin"],
                            options["runtime"], options["openmp"],
                            self._folder.name, options["expansion"])
        self._tools.pipeline += " strict=true"
        self._tools.set_threads(threads)
        self._compiled = {}
        self.version = options["version"]

    def _module(self, case):
        text = text_of(case, self._options["dynamic"])
        if text not in self._compiled:
            self._compiled[text] = self._tools.compile(case.kernel, text,
                                                       level=3)
        return self._compiled[text].library

    def _footprint(self, library, case):
        if not self._options["dynamic"]:
            extents = []
        else:
            outs = [case.outputs()[n] for n in case.outputs()
                    if n not in _CHECKPOINTS.get(case.kernel, ())]
            extents = [d for shape, _ in [*case.inputs().values(), *outs]
                       for d in shape]
        size = library.f_footprint
        size.restype = ctypes.c_int64
        return size(*map(ctypes.c_int64, extents))

    def prepare(self, case, inputs):
        library = self._module(case)
        arena = Arena(-(-max(self._footprint(library, case), 256) // 256) * 256)
        outputs = {n: _Owned(empty(*of), of[1])
                   for n, of in case.outputs().items()
                   if n not in _CHECKPOINTS.get(case.kernel, ())}
        arrays = [_Owned(copied(a, case.dtype_of(n)), case.dtype_of(n))
                  for n, a in inputs.items()]
        descriptors = [a.descriptor() for a in [*arrays, *outputs.values()]]
        results = [(ctypes.c_int64 * (3 + 2 * len(shape)))()
                   for shape, _ in case.outputs().values()]
        arguments = [ctypes.c_void_p(None), *map(ctypes.byref, results),
                     arena.pointer(), *map(ctypes.byref, descriptors)]
        entry = library.pol_entry_f
        reset, space = ctypes.CDLL(None).pol_arena_reset, arena.pointer()

        def call():
            reset(space)
            status = entry(*arguments)
            if status:
                raise Failed(f"status {status}")

        def found():
            got = {}
            for result, (name, (shape, dtype)) in zip(results,
                                                      case.outputs().items()):
                got[name] = (outputs[name].view if name in outputs
                             else _at(result, shape, dtype))
                if name in outputs and (result[1]
                                        != outputs[name].view.ctypes.data):
                    raise Failed(f"{name} is not in its destination")
            return got

        # Arrays have to live as long as what points to them.
        call.kept = (arrays, outputs, descriptors, arena)
        return Prepared(
            call, found,
            lambda: fill_with_nan([a.view for a in outputs.values()]
                                  + [arena.memory]))


def _at(descriptor, shape, dtype):
    """The array that a returned descriptor, of identity layout, is of."""
    kind = dtypes.STORED[dtype]
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(
        descriptor[1])
    return np.frombuffer(memory, kind).reshape(shape)
