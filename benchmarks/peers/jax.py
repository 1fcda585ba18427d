"""JAX on the CPU: the formulas of docs/Kernels.md, in f32 from f16 and bf16,
compiled by XLA for the shapes of the case."""

import os

import numpy as np

from peers import formulas
from common import Prepared, copied


class Contender:
    """One compiled function for each case."""

    def __init__(self, threads, _options):
        os.environ["JAX_PLATFORMS"] = "cpu"
        if threads == 1:
            os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                                       + " --xla_cpu_multi_thread_eigen=false")
        import jax  # pylint: disable=import-outside-toplevel
        self._jax = jax
        self.version = jax.__version__

    def prepare(self, case, inputs):
        jax = self._jax
        given = [jax.device_put(formulas.typed(copied(a, case.dtype_of(n)),
                                               case.dtype_of(n)))
                 for n, a in inputs.items()]
        function = jax.jit(formulas.of(case)).lower(*given).compile()
        last = []

        def call():
            # What was allocated before is free to be used again.
            last.clear()
            last[:] = jax.block_until_ready(function(*given))

        def outputs():
            return {name: formulas.stored(np.asarray(value),
                                          case.dtype_of(name))
                    for name, value in zip(case.outputs(), last)}

        return Prepared(call, outputs, note="allocates outputs")
