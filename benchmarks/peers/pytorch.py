"""PyTorch on the CPU, eager: the kernels that its modules and their gradients
call, by name, so that nothing else is timed."""

import math

import numpy as np
import torch

from common import Prepared, copied, dtypes, empty, fill_with_nan

_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
_aten = torch.ops.aten
_EPS = 1e-5


def _tensor(array, dtype):
    if dtype == "bf16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(tensor, dtype):
    """What memory holds of a tensor."""
    tensor = tensor.detach().contiguous()
    if dtype == "bf16":
        return tensor.to(torch.bfloat16).view(torch.int16).numpy().view(
            np.uint16)
    return tensor.to(_TYPES[dtype]).numpy()


class Contender:
    """Calls without autograd, which has no part in these kernels."""

    def __init__(self, threads, _options):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.version = torch.__version__

    def prepare(self, case, inputs):
        given = {name: _tensor(copied(a, case.dtype_of(name)),
                               case.dtype_of(name))
                 for name, a in inputs.items()}
        made = {"rms_norm": _rms_norm, "layer_norm": _layer_norm,
                "softmax": _softmax, "layer_norm_grad": _layer_norm_grad,
                "softmax_grad": _softmax_grad,
                "rms_norm_grad": _rms_norm_grad,
                "attention": _attention, "attention_grad": _attention_grad,
                "decode_attention": _decode}[case.kernel]
        return made(case, given)


def _owned(case, names):
    """Outputs of ours, and a `Prepared` of a call that fills them."""
    arrays = {n: empty(*case.outputs()[n]) for n in names}
    tensors = {n: _tensor(a, case.dtype_of(n)) for n, a in arrays.items()}

    def prepared(call, note=""):
        return Prepared(call, lambda: arrays,
                        lambda: fill_with_nan(arrays.values()), note)

    return tensors, prepared


def _allocating(case, call, names, note="allocates outputs"):
    """Of a call that returns its outputs. They are freed before the next one,
    which may use their memory again."""
    last = []

    def keep():
        last.clear()
        last[:] = call()

    def outputs():
        return {name: _array(tensor, case.dtype_of(name)).reshape(
            case.outputs()[name][0]) for name, tensor in zip(names, last)}

    return Prepared(keep, outputs, note=note)


def _rms_norm(case, t):
    length = case.shape[1]

    def call():
        y, rstd = _aten._fused_rms_norm(t["x"], [length], t["weight"], _EPS)
        return y, rstd.squeeze(-1)

    return _allocating(case, call, ("y", "rstd"))


def _rms_norm_grad(case, t):
    """There is no kernel: the forward pass is recorded once, outside of what
    is timed, and autograd goes back through its parts."""
    with torch.enable_grad():
        x, weight = (t[n].requires_grad_() for n in ("x", "weight"))
        y = torch.nn.functional.rms_norm(x, [case.shape[1]], weight, _EPS)

    def call():
        return torch.autograd.grad(y, (x, weight), t["dy"], retain_graph=True)

    return _allocating(case, call, ("dx", "dweight"),
                       "by autograd; allocates outputs")


def _f32_weights(case, t, names):
    """Weights in f32, and outputs for them: with narrower ones PyTorch has
    statistics in that type."""
    rows = case.shape[0]
    weights = {n: t[n].float() for n in ("weight", "bias") if n in t}
    outs = {}
    for name in names:
        shape, dtype = case.outputs()[name]
        outs[name] = empty(shape, dtype if name in ("y", "dx") else "f32")
    tensors = {n: _tensor(a, case.dtype_of(n) if n in ("y", "dx") else "f32")
               for n, a in outs.items()}
    for name in ("mean", "rstd"):
        if name in tensors:
            tensors[name] = tensors[name].view(rows, 1)

    def outputs():
        return {n: dtypes.encode(a, case.dtype) if n in ("dweight", "dbias")
                else a for n, a in outs.items()}

    def prepared(call):
        return Prepared(call, outputs, lambda: fill_with_nan(outs.values()),
                        "" if case.dtype == "f32" else "weights in f32")

    return weights, tensors, prepared


def _layer_norm(case, t):
    weights, outs, prepared = _f32_weights(case, t, ("y", "mean", "rstd"))

    def call():
        _aten.native_layer_norm.out(
            t["x"], [case.shape[1]], weights["weight"], weights["bias"], _EPS,
            out0=outs["y"], out1=outs["mean"], out2=outs["rstd"])

    return prepared(call)


def _layer_norm_grad(case, t):
    weights, outs, prepared = _f32_weights(case, t, ("dx", "dweight", "dbias"))
    rows, length = case.shape
    mean, rstd = (t[n].view(rows, 1) for n in ("mean", "rstd"))
    # Not read, but without it there is no gradient of it.
    bias = torch.zeros_like(weights["weight"])

    def call():
        _aten.native_layer_norm_backward.out(
            t["dy"], t["x"], [length], mean, rstd, weights["weight"], bias,
            [True, True, True], out0=outs["dx"], out1=outs["dweight"],
            out2=outs["dbias"])

    return prepared(call)


def _softmax(case, t):
    outs, prepared = _owned(case, ("y",))
    return prepared(lambda: _aten._softmax.out(t["x"], -1, False,
                                               out=outs["y"]))


def _softmax_grad(case, t):
    outs, prepared = _owned(case, ("dx",))
    kind = _TYPES[case.dtype]
    return prepared(lambda: _aten._softmax_backward_data.out(
        t["dy"], t["y"], -1, kind, grad_input=outs["dx"]))


def _attention(case, t):
    def call():
        return _aten._scaled_dot_product_flash_attention_for_cpu(
            t["q"], t["k"], t["v"], 0.0, case.causal)[:1]

    return _allocating(case, call, ("o",))


def _attention_grad(case, t):
    logsumexp = t["max"] + torch.log(t["sum"])
    # It is laid out as the forward kernel leaves it: queries before heads.
    logsumexp = logsumexp.transpose(1, 2).contiguous().transpose(1, 2)

    def call():
        return _aten._scaled_dot_product_flash_attention_for_cpu_backward(
            t["dout"], t["q"], t["k"], t["v"], t["o"], logsumexp, 0.0,
            case.causal)

    return _allocating(case, call, ("dq", "dk", "dv"))


def _decode(case, t):
    """Query heads of a group become rows: they see the same keys."""
    b, h, hk, s, _, d = case.shape
    q = t["q"].view(b, hk, h // hk * s, d)
    scale = 1 / math.sqrt(d)

    def call():
        return _aten._scaled_dot_product_flash_attention_for_cpu(
            q, t["k"], t["v"], 0.0, False, scale=scale)[:1]

    return _allocating(case, call, ("o",))
