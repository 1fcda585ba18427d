"""Rules that hold for every kernel, one function each. The table is in
edge_cases.py."""

import numpy as np

import attention_cases
import edge_rows
from driver import LAYOUTS
from edge import InitFunction, Kernel, all_of, row_shapes
from edge_attention import shapes_of, with_checkpoints
from setup import dtypes, oracle

ROWS = {"rms_norm": edge_rows.RMS, "rms_norm_grad": edge_rows.RMS_GRAD,
        "layer_norm": edge_rows.LAYER, "layer_norm_grad": edge_rows.LAYER_GRAD,
        "softmax": "x y", "softmax_grad": edge_rows.SOFTMAX_GRAD}

EXTENTS = attention_cases.Extents(2, 4, 2, 33, 35, 16, 9)


def row_inputs(edge, op, dtype, shape):
    """Of any kernel of norms and softmax."""
    x = edge.suite.values(shape, dtype)
    accumulated = oracle.accumulation(dtype)
    _, mean, rstd, _ = oracle.layer_norm(x)
    if op == "rms_norm_grad":
        rstd = oracle.rms_norm(x)[1]
    every = {"x": x, "dy": edge.suite.values(shape, dtype),
             "weight": edge.suite.values(shape[-1:], dtype),
             "bias": edge.suite.values(shape[-1:], dtype),
             "y": dtypes.round_to(oracle.softmax(x), dtype),
             "mean": dtypes.round_to(mean, accumulated),
             "rstd": dtypes.round_to(rstd, accumulated)}
    written = {"rms_norm": ("y", "rstd"), "layer_norm": ("y", "mean", "rstd"),
               "softmax": ("y",)}.get(op, ())
    return {name: value for name, value in every.items()
            if name in ROWS[op].split() and name not in written}


def every_kernel(edge, dtype, kind, shape=(133, 70), extents=EXTENTS,
                 make=lambda edge, kernel: kernel):
    """Each kernel with all operands, its inputs, and the shapes of what it
    writes."""
    rank = len(shape)
    for op, names in ROWS.items():
        kernel = edge.rows(op, all_of(dtype, names), rank, kind)
        yield (make(edge, kernel), row_inputs(edge, op, dtype, shape),
               row_shapes(shape))
    static = attention_cases.Static(
        types=(dtype,) * 4, bias=True, causal="bottom_right", softcap=4.0,
        window=20, k_lengths="i32", q_lengths="i64", kind=kind)
    call = attention_cases.Call(edge.suite, static, extents, "bias [B,1]")
    inputs, shapes = call.inputs, shapes_of(extents, call.inputs)
    yield make(edge, edge.attention(static)), inputs, shapes
    yield (make(edge, edge.attention(static, backward=True)),
           with_checkpoints(edge, static, inputs), shapes)


def views_of_any_strides(edge):
    """Each layout for all operands: the same bytes as without strides, as far
    as values go."""
    small = attention_cases.Extents(2, 4, 2, 5, 7, 3, 4)
    suite = edge.suite
    choose = suite.choose
    for kernel, inputs, shapes in every_kernel(edge, "f32", "strided", (9, 13),
                                               small):
        made = {}
        for layout in LAYOUTS:
            suite.choose = lambda choices, layout=layout: layout
            try:
                made[layout] = kernel(shapes, **inputs)
            finally:
                suite.choose = choose
        for layout, got in made.items():
            for name, value in got.items():
                edge.equal(value, made["plain"][name],
                           f"{kernel.function.op}: {name}, {layout}")


def gradients_are_overwritten(edge):
    """What destinations and scratch hold before is never read."""
    for kernel, inputs, shapes in every_kernel(edge, "f32", "memref"):
        function = kernel.function
        made = kernel.bytes_of(shapes, **inputs)
        for value in (7.0, np.inf):
            full = {name: np.full(shapes[function.like(name)], value)
                    for name in function.destinations() + function.scratch()}
            again = kernel.bytes_of(shapes, **inputs, **full)
            edge.expect(again == made, f"{function.op} to overwrite {value}")


def inits_are_not_changed(edge):
    """On tensors, a destination that is used again keeps its values."""
    def make(edge, kernel):
        f = kernel.function
        return Kernel(edge, InitFunction(f.name, f.op, f.elements, f.ranks,
                                         f.attributes, "tensor"))

    small = attention_cases.Extents(2, 4, 2, 5, 7, 3, 4)
    for kernel, inputs, shapes in every_kernel(edge, "f32", "tensor", (9, 13),
                                               small, make):
        function = kernel.function
        outs = function.destinations()
        plain = edge.plain(function)(shapes, **inputs)
        full = {name: np.full(shapes[name], 3.0) for name in outs}
        copies = {name: shapes[name[:-5]] for name in function.results()}
        got = kernel({**shapes, **copies}, **inputs, **full)
        for name in outs:
            edge.equal(got[f"{name}_init"], full[name],
                       f"{function.op}: the init of {name}")
            edge.equal(got[f"{name}_made"], plain[name],
                       f"{function.op}: {name}")


def threads_and_runs_do_not_matter(edge):
    """1, 2 and 3 threads, and run after run: the same bytes."""
    # Work of milliseconds, for threads that begin late to have a part in it.
    extents = attention_cases.Extents(2, 4, 2, 257, 260, 64, 33)
    for dtype in ("f32", "bf16"):
        for kernel, inputs, shapes in every_kernel(
                edge, dtype, "memref", (1031, 130), extents):
            op = kernel.function.op
            made = kernel.bytes_of(shapes, threads=1, **inputs)
            for threads in (1, 2, 2, 3, 1):
                again = kernel.bytes_of(shapes, threads=threads, **inputs)
                edge.expect(again == made,
                            f"{op}, {dtype}: the same with {threads} threads")
