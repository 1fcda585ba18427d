"""What pol's kernels compute, in float64: the one oracle of all tests.

Every function is the formula of the kernel's documentation, written down with
NumPy and nothing else. None of it is derived from what a lowering does: no
blocks, no scaling, no order of sums. f64 inputs are computed in the widest type
that NumPy has.

An element type is named as in MLIR ("f16", "bf16", "f32", "f64"). NumPy has no
bf16: see dtypes.py for how its values are kept.

    norms.py      rms_norm, layer_norm, softmax, and their gradients
    attention.py  attention and its gradients, with any mask and score
    decode.py     attention at the end of a cache, paged or not
    errors.py     how errors are measured, and how large they may be
"""

# pylint: disable=unused-import
from attention import (Evaluated, Options, Positions, Term,  # noqa: F401
                       attention, attention_grad, kept)
from decode import decode_attention  # noqa: F401
from errors import (ACCUMULATION, ROUNDING, TOLERANCE,  # noqa: F401
                    accumulation, norm_errors, row_error)
from norms import (layer_norm, layer_norm_grad, rms_norm,  # noqa: F401
                   rms_norm_grad, softmax, softmax_grad)
