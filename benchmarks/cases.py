"""What is measured: kernels, shapes, and what each of them costs at least.

Every number that is derived from a shape is here: bytes, each array's counted
once, and floating-point operations, in which an exponential is one.
"""

import dataclasses

import common

# Operations per element of x, counted from the formulas of docs/Kernels.md.
ROW_FLOPS = {"rms_norm": 4, "layer_norm": 8, "softmax": 5, "rms_norm_grad": 9,
             "layer_norm_grad": 14, "softmax_grad": 4}
# Multiply-adds over S x T x D, two operations each, of the products of matrices:
# q k and p v; forward again k q, dout v, and those of dv, dq and dk.
ATTENTION_FLOPS = {"attention": 4, "attention_grad": 10, "decode_attention": 4}

FULL_ROWS = (1024, 4096, 16384)


@dataclasses.dataclass(frozen=True)
class Case:
    """A kernel on arrays of one shape.

    shape: (rows, M) of norms and softmax, (B, H, Hk, S, T, D) of attention.
    limit: what of the machine bounds it: "fma", "read", "copy", or "nt_copy",
      a copy past the caches.
    """

    kernel: str
    dtype: str
    shape: tuple
    limit: str
    causal: bool = False

    @property
    def is_rows(self):
        return self.kernel in ROW_FLOPS

    @property
    def base(self):
        """The kernel whose gradient this is, or itself."""
        return self.kernel.removesuffix("_grad")

    @property
    def is_grad(self):
        return self.kernel.endswith("_grad")

    def label(self):
        return f"{self.kernel} {self.shape_label()} {self.dtype}"

    def shape_label(self):
        if self.is_rows:
            return "x".join(map(str, self.shape))
        b, h, hk, s, t, d = self.shape
        heads = f"H={h}" if h == hk else f"H={h}/{hk}"
        text = f"{heads} S={s} T={t} D={d}" if s != t else f"{heads} S={s} D={d}"
        return (f"B={b} " if b > 1 else "") + text + (
            " causal" if self.causal else "")

    # --------------------------------------------------------------------------
    # Arrays
    # --------------------------------------------------------------------------

    def inputs(self):
        """Shape and element type of each, in the order of pol's operands."""
        shapes = self._row_shapes() if self.is_rows else self._head_shapes()
        names = {
            "rms_norm": ["x", "weight"],
            "layer_norm": ["x", "weight", "bias"],
            "softmax": ["x"],
            "rms_norm_grad": ["x", "dy", "weight", "rstd"],
            "layer_norm_grad": ["x", "dy", "weight", "mean", "rstd"],
            "softmax_grad": ["y", "dy"],
            "attention": ["q", "k", "v"],
            "decode_attention": ["q", "k", "v"],
            "attention_grad": ["q", "k", "v", "o", "dout", "max", "sum"],
        }[self.kernel]
        return {name: shapes[name] for name in names}

    def outputs(self):
        """The same. The first ones are results, the others checkpoints."""
        shapes = self._row_shapes() if self.is_rows else self._head_shapes()
        names = {
            "rms_norm": ["y", "rstd"],
            "layer_norm": ["y", "mean", "rstd"],
            "softmax": ["y"],
            "rms_norm_grad": ["dx", "dweight"],
            "layer_norm_grad": ["dx", "dweight", "dbias"],
            "softmax_grad": ["dx"],
            "attention": ["o", "max", "sum"],
            "decode_attention": ["o"],
            "attention_grad": ["dq", "dk", "dv"],
        }[self.kernel]
        return {name: shapes[name] for name in names}

    def dtype_of(self, name):
        """The element type of an input or output."""
        return {**self.inputs(), **self.outputs()}[name][1]

    def _row_shapes(self):
        rows, length = self.shape
        return {
            **{name: ((rows, length), self.dtype)
               for name in ("x", "y", "dx", "dy")},
            **{name: ((length,), self.dtype)
               for name in ("weight", "bias", "dweight", "dbias")},
            **{name: ((rows,), "f32") for name in ("mean", "rstd")}}

    def _head_shapes(self):
        b, h, hk, s, t, d = self.shape
        return {
            **{name: ((b, h, s, d), self.dtype)
               for name in ("q", "o", "dout", "dq")},
            **{name: ((b, hk, t, d), self.dtype)
               for name in ("k", "v", "dk", "dv")},
            **{name: ((b, h, s), "f32") for name in ("max", "sum")}}

    # --------------------------------------------------------------------------
    # Costs
    # --------------------------------------------------------------------------

    def bytes(self):
        """What has to be moved: every input read and every output written
        once."""
        total = 0
        for shape, dtype in [*self.inputs().values(),
                             *self.outputs().values()]:
            size = common.dtypes.STORED[dtype].itemsize
            for extent in shape:
                size *= extent
            total += size
        return total

    def flops(self):
        if self.is_rows:
            rows, length = self.shape
            return rows * length * ROW_FLOPS[self.kernel]
        b, h, _, s, t, d = self.shape
        # Half of the scores are masked, of as many queries as keys.
        return (ATTENTION_FLOPS[self.kernel] * b * h * s * t * d
                // (2 if self.causal else 1))


def _rows(bytes_of_x_and_y, length, dtype):
    size = common.dtypes.STORED[dtype].itemsize
    rows = -(-bytes_of_x_and_y // (2 * length * size))
    return (-(-rows // 64) * 64, length)


def _row_cases(total, lengths, dtypes):
    """Norms and softmax, forward and backward, x and y of `total` bytes."""
    return [Case(kernel, dtype, _rows(total, length, dtype), "nt_copy")
            for dtype in dtypes for kernel in ROW_FLOPS for length in lengths]


def _attention(kernel, dtype, size, depth, causal, heads=8):
    return Case(kernel, dtype, (1, heads, heads, size, size, depth), "fma",
                causal)


LEAST_BYTES = 1 << 28


def full():
    """All cases."""
    # Where x alone is not larger than the cache, parts of it stay there.
    total = max(2 * common.last_level_cache(), LEAST_BYTES)
    cases = _row_cases(total, FULL_ROWS, ["f32"])
    cases += [Case(kernel, "f32", (64, 1024), "copy") for kernel in ROW_FLOPS]
    cases += _row_cases(total, [4096], ["bf16", "f16"])
    cases += [_attention("attention", "f32", size, depth, causal)
              for depth in (64, 128) for size in (512, 1024, 2048, 4096)
              for causal in (False, True)]
    cases += [_attention("attention_grad", "f32", size, 64, causal)
              for size in (512, 1024, 2048) for causal in (False, True)]
    cases += [_attention(kernel, dtype, 1024, 64, causal)
              for kernel in ("attention", "attention_grad")
              for dtype in ("bf16", "f16") for causal in (False, True)]
    cases += [Case("decode_attention", dtype, (1, 32, 8, 1, 8192, 128), "read")
              for dtype in ("f32", "bf16", "f16")]
    return cases


def quick():
    """One small shape of each kind: whether all works, and no measurement."""
    cases = _row_cases(1 << 18, [256], ["f32", "bf16"])
    cases += [_attention(kernel, dtype, 128, 64, causal, heads=2)
              for kernel in ("attention", "attention_grad")
              for dtype, causal in (("f32", False), ("f32", True),
                                    ("bf16", False))]
    cases += [Case("decode_attention", "f32", (1, 8, 2, 1, 300, 64), "read")]
    return cases
