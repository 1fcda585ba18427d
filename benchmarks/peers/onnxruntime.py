"""ONNX Runtime on the CPU: a model of one node for each case, its inputs and
outputs bound to our arrays. Of attention there are two kernels, of which the
faster one is taken."""

import dataclasses
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from common import Prepared, Unsupported, copied, empty, fill_with_nan

_TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16,
          "bf16": TensorProto.BFLOAT16}
_EPS = 1e-5
_NO_KERNEL = (state.NotImplemented, state.InvalidGraph, state.Fail,
              state.InvalidArgument)


class Contender:
    """One session for each case."""

    def __init__(self, threads, _options):
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4
        self.version = onnxruntime.__version__

    def prepare(self, case, inputs):
        if case.is_grad:
            raise Unsupported("has no gradients")
        made, why = [], None
        for model in _models(case):
            try:
                made.append(self._prepare(case, model, inputs))
                made[-1].call()
            except _NO_KERNEL as error:
                why = error
        if not made:
            raise Unsupported(f"has no kernel in {case.dtype}: "
                              f"{str(why).splitlines()[0][:90]}")
        return min(made, key=_seconds) if len(made) > 1 else made[0]

    def _prepare(self, case, model, inputs):
        arrays = {n: copied(model.ours_to_theirs(n, a), case.dtype_of(n))
                  for n, a in inputs.items()}
        outs = {n: empty(model.shapes[n], case.dtype_of(n))
                for n in model.node.output}
        session = self._session(case, model.node, arrays, outs)
        binding = session.io_binding()
        for name, array in arrays.items():
            binding.bind_input(name, "cpu", 0, _TYPES[case.dtype_of(name)],
                               array.shape, array.ctypes.data)
        for name, array in outs.items():
            binding.bind_output(name, "cpu", 0, _TYPES[case.dtype_of(name)],
                                array.shape, array.ctypes.data)

        def call():
            session.run_with_iobinding(binding)

        call.kept = arrays
        return Prepared(call, lambda: {
            n: model.theirs_to_ours(n, a).reshape(case.outputs()[n][0])
            for n, a in outs.items()}, lambda: fill_with_nan(outs.values()),
                        model.note)

    def _session(self, case, node, arrays, outs):
        graph = helper.make_graph(
            [node], "case",
            *([helper.make_tensor_value_info(n, _TYPES[case.dtype_of(n)],
                                             a.shape)
               for n, a in values.items()] for values in (arrays, outs)))
        model = helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft",
                                                             1)])
        return onnxruntime.InferenceSession(
            model.SerializeToString(), self._options,
            providers=["CPUExecutionProvider"])


def _seconds(prepared):
    begin = time.perf_counter()
    prepared.call()
    return time.perf_counter() - begin


@dataclasses.dataclass
class _Model:
    """A node, and the shapes of its arrays.

    swapped: arrays in which queries come before heads, as a layer has them
      before its heads are told apart.
    """

    node: object
    shapes: dict
    note: str = ""
    swapped: tuple = ()

    def ours_to_theirs(self, name, array):
        if name in self.swapped:
            array = np.ascontiguousarray(np.swapaxes(array, 1, 2))
        return array.reshape(self.shapes[name])

    def theirs_to_ours(self, name, array):
        if name not in self.swapped:
            return array
        b, s, width = array.shape
        heads = self.node.attribute[0].i
        return np.ascontiguousarray(np.swapaxes(
            array.reshape(b, s, heads, width // heads), 1, 2))


def _models(case):
    shapes = {n: shape for n, (shape, _) in {**case.inputs(),
                                             **case.outputs()}.items()}
    for name in ("mean", "rstd"):
        if name in shapes:
            shapes[name] += (1,)
    if case.kernel == "softmax":
        node = helper.make_node("Softmax", ["x"], ["y"], axis=-1)
        return [_Model(node, shapes)]
    if case.kernel == "layer_norm":
        node = helper.make_node("LayerNormalization", ["x", "weight", "bias"],
                                ["y", "mean", "rstd"], axis=-1, epsilon=_EPS)
        return [_Model(node, shapes)]
    if case.kernel == "rms_norm":
        node = helper.make_node("SimplifiedLayerNormalization", ["x", "weight"],
                                ["y", "rstd"], axis=-1, epsilon=_EPS)
        return [_Model(node, shapes)]
    return _attention_models(case, shapes)


def _attention_models(case, shapes):
    b, h, hk, s, _, d = case.shape
    standard = helper.make_node("Attention", ["q", "k", "v"], ["o"],
                                is_causal=int(case.causal))
    if case.kernel == "decode_attention":
        # Query heads of a group become rows: they see the same keys.
        folded = (b, hk, h // hk * s, d)
        return [_Model(standard, {**shapes, "q": folded, "o": folded},
                       "Attention")]
    heads = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["o"],
                             domain="com.microsoft", num_heads=h,
                             unidirectional=int(case.causal))
    flat = (b, s, h * d)
    return [_Model(standard, shapes, "Attention"),
            _Model(heads, {**shapes, "q": flat, "o": flat},
                   "MultiHeadAttention", ("q", "o"))]
