"""Rules of norms and softmax, one function each. The table is in
edge_cases.py."""

import numpy as np

from edge import EQUAL_TERMS, all_of, row_shapes
from setup import dtypes, oracle

RMS = "x weight y rstd"
RMS_GRAD = "x dy weight rstd dx dweight dweight_partials"
LAYER = "x weight bias y mean rstd"
LAYER_GRAD = ("x dy weight bias mean rstd dx dweight dbias dweight_partials "
              "dbias_partials")
SOFTMAX_GRAD = "y dy dx"


def normal(edge, shape, dtype, scale=1.0, mean=0.0):
    return edge.suite.values(shape, dtype, scale, mean)


def check_rms(edge, kernel, x, w=None, eps=1e-5, offset=0.0, what="",
              growth=1.0):
    """Against the oracle, row by row."""
    elements = kernel.function.elements
    got = kernel(row_shapes(x.shape), x=x, **({} if w is None else
                                             {"weight": w}))
    y, rstd = oracle.rms_norm(x, w, eps, offset)
    accumulated = oracle.accumulation(elements["x"])
    edge.near(got["y"], y, elements["y"], f"y {what}", accumulated, rank=1,
              growth=growth)
    edge.near(got["rstd"], rstd, accumulated, f"rstd {what}", rank=0,
              growth=growth)
    return got


def check_rms_grad(edge, kernel, x, dy, w, eps=1e-5, offset=0.0, what="",
                   growth=1.0):
    elements = kernel.function.elements
    accumulated = oracle.accumulation(elements["x"])
    rstd = dtypes.round_to(oracle.rms_norm(x, w, eps)[1], accumulated)
    got = kernel(row_shapes(x.shape), x=x, dy=dy, weight=w, rstd=rstd)
    values, sizes = oracle.rms_norm_grad(x, dy, w, rstd, offset)
    for name, value in got.items():
        edge.near(value, values[name], elements[name], f"{name} {what}",
                  accumulated, sizes[name], 1, growth)


def check_layer(edge, kernel, x, w, b, eps=1e-5, what="", growth=1.0):
    elements = kernel.function.elements
    accumulated = oracle.accumulation(elements["x"])
    got = kernel(row_shapes(x.shape), x=x, weight=w, bias=b)
    y, mean, rstd, sizes = oracle.layer_norm(x, w, b, eps)
    edge.near(got["y"], y, elements["y"], f"y {what}", accumulated,
              sizes["y"], 1, growth)
    edge.near(got["mean"], mean, accumulated, f"mean {what}",
              size=sizes["mean"], rank=0, growth=growth)
    edge.near(got["rstd"], rstd, accumulated, f"rstd {what}", rank=0,
              growth=growth)


def check_layer_grad(edge, kernel, x, dy, w, eps=1e-5, what="", growth=1.0):
    elements = kernel.function.elements
    accumulated = oracle.accumulation(elements["x"])
    _, mean, rstd, _ = oracle.layer_norm(x, eps=eps)
    mean, rstd = (dtypes.round_to(a, accumulated) for a in (mean, rstd))
    got = kernel(row_shapes(x.shape), x=x, dy=dy, weight=w, bias=w, mean=mean,
                 rstd=rstd)
    values, sizes = oracle.layer_norm_grad(x, dy, w, mean, rstd)
    for name, value in got.items():
        edge.near(value, values[name], elements[name], f"{name} {what}",
                  accumulated, sizes[name], 1, growth)


# ------------------------------------------------------------------------------
# eps, offset
# ------------------------------------------------------------------------------


def eps_inside_the_root(edge):
    """1 / sqrt(mean + eps): neither outside the root nor dropped where small,
    and the attribute's 64 bits reach an f64 kernel."""
    for dtype, eps, scale in (("f32", 1e-30, 1e-15), ("f32", 1e3, 10.0),
                              ("f32", 0.25, 0.5), ("f64", 1e-300, 1e-150),
                              ("f64", 0.1, 0.3), ("f64", 1e-5, 1e-3),
                              ("bf16", 1e-30, 1e-15), ("f16", 1e-12, 1e-6)):
        x, w = normal(edge, (4, 33), dtype, scale), normal(edge, (33,), dtype)
        b = np.zeros_like(w)
        what = f"{dtype}, eps {eps}"
        check_rms(edge, edge.rows("rms_norm", all_of(dtype, RMS), eps=eps), x,
                  w, eps, what=what)
        check_layer(edge, edge.rows("layer_norm", all_of(dtype, LAYER),
                                    eps=eps), x, w, b, eps, what)


def offset_in_accumulation_type(edge):
    """Weights that offset + weight loses when it is rounded to their type."""
    for dtype, small in (("bf16", 2.0**-10), ("f16", 2.0**-13)):
        w = np.full(40, small) * np.arange(1, 41) / 40
        w = dtypes.round_to(w, dtype)
        rounded = dtypes.round_to(w + 1.0, dtype)
        edge.expect((rounded == 1).mean() > 0.5, "rounding to lose weights")
        x, dy = normal(edge, (3, 40), dtype), normal(edge, (3, 40), dtype)
        kernel = edge.rows("rms_norm", {**all_of(dtype, RMS), "y": "f32"},
                           offset=1.0)
        check_rms(edge, kernel, x, w, offset=1.0, what=dtype)
        kernel = edge.rows("rms_norm_grad",
                           {**all_of(dtype, RMS_GRAD), "dx": "f32",
                            "dweight": "f32"}, offset=1.0)
        check_rms_grad(edge, kernel, x, dy, w, offset=1.0, what=dtype)


# ------------------------------------------------------------------------------
# Sums
# ------------------------------------------------------------------------------

LONG = 1 << 20


def naive_sum_is_off(edge, terms):
    """Whether one running f32 sum would fail the test."""
    running = np.add.accumulate(terms.astype(np.float32),
                                dtype=np.float32)[-1]
    exact = terms.astype(np.float64).sum()
    edge.expect(abs(running - exact) > 1e-4 * abs(exact),
                "a running sum to be far off")


def sums_are_blocked(edge):
    """Equal terms, whose running sum in f32 loses digits for good."""
    x = np.full((1, LONG), 0.7, np.float32)
    w = np.full(LONG, 0.3, np.float32)
    naive_sum_is_off(edge, x[0] * x[0])
    check_rms(edge, edge.rows("rms_norm", all_of("f32", RMS)), x, w,
              growth=EQUAL_TERMS)
    # Deviations that go far one way, in large steps, and back in small ones.
    x[0, :LONG // 4] = 0.1
    check_layer(edge, edge.rows("layer_norm", all_of("f32", LAYER)), x, w, w,
                growth=EQUAL_TERMS)
    dy = np.full_like(x, 0.7)
    check_rms_grad(edge, edge.rows("rms_norm_grad", all_of("f32", RMS_GRAD)),
                   x, dy, w, growth=EQUAL_TERMS)
    check_layer_grad(edge, edge.rows("layer_norm_grad",
                                     all_of("f32", LAYER_GRAD)), x, dy, w,
                     growth=EQUAL_TERMS)
    # Exponentials that are all 0.1 but one.
    logits = np.full((1, LONG), np.log(0.1), np.float32)
    logits[0, 0] = 0
    naive_sum_is_off(edge, np.exp(logits[0]))
    got = edge.rows("softmax", all_of("f32", "x y"))(
        {"y": logits.shape}, x=logits)
    edge.near(got["y"], oracle.softmax(logits), "f32", "softmax", rank=1,
              growth=EQUAL_TERMS)
    y = dtypes.round_to(oracle.softmax(logits), "f32")
    got = edge.rows("softmax_grad", all_of("f32", SOFTMAX_GRAD))(
        {"dx": y.shape}, y=y, dy=dy)
    values, sizes = oracle.softmax_grad(y, dy)
    edge.near(got["dx"], values["dx"], "f32", "softmax_grad", size=sizes["dx"],
              rank=1, growth=EQUAL_TERMS)


def sums_over_rows_are_blocked(edge):
    """dweight and dbias of equal terms over many rows."""
    rows = 1 << 18
    x = np.full((rows, 2), 1.0, np.float32)
    dy, w = np.full_like(x, 0.7), np.ones(2, np.float32)
    naive_sum_is_off(edge, dy[:, 0])
    one, zero = np.ones(rows), np.zeros(rows)
    got = edge.rows("rms_norm_grad", all_of("f32", RMS_GRAD))(
        row_shapes(x.shape), x=x, dy=dy, weight=w, rstd=one)
    want = np.full(2, np.float64(np.float32(0.7)) * rows)
    edge.near(got["dweight"], want, "f32", "dweight of rms_norm",
              growth=EQUAL_TERMS)
    got = edge.rows("layer_norm_grad", all_of("f32", LAYER_GRAD))(
        row_shapes(x.shape), x=x, dy=dy, weight=w, bias=w, mean=zero, rstd=one)
    edge.near(got["dweight"], want, "f32", "dweight of layer_norm",
              growth=EQUAL_TERMS)
    edge.near(got["dbias"], want, "f32", "dbias of layer_norm",
              growth=EQUAL_TERMS)
    # A large sum of a block of rows, and 63 of others that are each just under
    # half of its last place: a running sum of blocks loses them all.
    dy[:rows // 64], dy[rows // 64:] = 1, 0.99 * 2.0**-24
    want = dy.sum(axis=0, dtype=np.float64)
    lost = want - rows // 64
    edge.expect((lost > 3e-6 * want).all(), "a running sum to be off")
    got = edge.rows("rms_norm_grad", all_of("f32", RMS_GRAD))(
        row_shapes(x.shape), x=x, dy=dy, weight=w, rstd=one)
    edge.near(got["dweight"], want, "f32", "dweight of rms_norm, one block",
              growth=EQUAL_TERMS)
    got = edge.rows("layer_norm_grad", all_of("f32", LAYER_GRAD))(
        row_shapes(x.shape), x=x, dy=dy, weight=w, bias=w, mean=zero, rstd=one)
    for name in ("dweight", "dbias"):
        edge.near(got[name], want, "f32", f"{name} of layer_norm, one block",
                  growth=EQUAL_TERMS)


def variance_is_of_differences(edge):
    """mean((x - mean)^2), where mean(x^2) - mean^2 has no digit left."""
    x = normal(edge, (4, 1000), "f32", mean=3e4)
    squares = (x * x).mean(axis=-1, dtype=np.float32)
    wrong = squares - x.mean(axis=-1, dtype=np.float32)**2
    edge.expect((np.abs(wrong - 1) > 0.2).any(), "the other formula to fail")
    w, b = normal(edge, (1000,), "f32"), normal(edge, (1000,), "f32")
    check_layer(edge, edge.rows("layer_norm", all_of("f32", LAYER)), x, w, b)


def squares_of_f16_do_not_overflow(edge):
    """Squares up to 4e9, and their sums, in f32."""
    x = normal(edge, (3, 300), "f16", 2e4)
    x[1] = 65504
    x[2] = np.where(np.arange(300) % 2, 65504, -65504)
    w = normal(edge, (300,), "f16")
    dy = normal(edge, (3, 300), "f16")
    check_rms(edge, edge.rows("rms_norm", all_of("f16", RMS)), x, w)
    check_rms_grad(edge, edge.rows("rms_norm_grad", {
        **all_of("f16", RMS_GRAD), "dx": "f32"}), x, dy, w)
    # A constant row has no variance: only its mean has to be right.
    check_layer(edge, edge.rows("layer_norm", all_of("f16", LAYER)), x[::2], w,
                w)
    check_layer_grad(edge, edge.rows("layer_norm_grad", {
        **all_of("f16", LAYER_GRAD), "dx": "f32"}), x[::2], dy[::2], w)


def extreme_rows(edge):
    """f32 rows whose squares overflow or vanish, and those of the other
    types."""
    for dtype, scales in (("f32", (1e30, 1e-30, 1e19, 1.8e19, 1e-23, 1e-19,
                                   3e37)),
                          ("bf16", (1e30, 1e-30, 1e19, 1e-23)),
                          ("f64", (1e200, 1e-200, 1e154, 1e-162))):
        scale = np.array(scales)[:, None]
        for columns in (1, 5, 300):
            shape = (len(scales), columns)
            x, dy = normal(edge, shape, dtype, scale), normal(edge, shape,
                                                              dtype)
            w = normal(edge, (columns,), dtype)
            for eps in (0.0, 1e-5):
                what = f"{dtype}, {columns} columns, eps {eps}"
                check_rms(edge, edge.rows("rms_norm", all_of(dtype, RMS),
                                          eps=eps), x, w, eps, what=what)
                check_rms_grad(edge, edge.rows(
                    "rms_norm_grad", {**all_of(dtype, RMS_GRAD)}), x, dy, w,
                    eps, what=what)
                if columns == 1 and eps == 0:
                    # No variance: infinite, by the formula.
                    continue
                check_layer(edge, edge.rows("layer_norm", all_of(dtype, LAYER),
                                            eps=eps), x, w, w, eps, what)
                check_layer_grad(edge, edge.rows(
                    "layer_norm_grad", all_of(dtype, LAYER_GRAD)), x, dy, w,
                    eps, what)


def softmax_subtracts_the_maximum(edge):
    """Logits whose exponentials overflow, and -Inf, which is 0."""
    for dtype in ("f16", "bf16", "f32", "f64"):
        largest = {"f16": 65504, "f64": 1.7e308}.get(dtype, 3.3e38)
        x = normal(edge, (6, 40), dtype, 1000.0)
        x[1] = dtypes.round_to(largest, dtype)
        x[2] = -x[1]
        x[3, ::2] = -np.inf
        x[4, 1:] = -np.inf
        x[5] = np.where(np.arange(40) % 2, x[1], x[2])
        got = edge.rows("softmax", all_of(dtype, "x y"))({"y": x.shape}, x=x)
        edge.near(got["y"], oracle.softmax(x), dtype, dtype, rank=1)
        edge.equal(got["y"][4], np.arange(40) == 0, f"{dtype}: one value")


def not_finite_values_propagate(edge):
    """As the formulas say, and into no other row."""
    for dtype in ("f32", "bf16", "f64"):
        for bad in (np.nan, np.inf, -np.inf):
            x, dy = normal(edge, (4, 9), dtype), normal(edge, (4, 9), dtype)
            w = normal(edge, (9,), dtype)
            x[1, 3] = dy[2, 4] = bad
            what = f"{dtype}, {bad}"
            check_rms(edge, edge.rows("rms_norm", all_of(dtype, RMS)), x, w,
                      what=what)
            check_layer(edge, edge.rows("layer_norm", all_of(dtype, LAYER)), x,
                        w, w, what=what)
            got = edge.rows("softmax", all_of(dtype, "x y"))({"y": x.shape},
                                                            x=x)
            edge.near(got["y"], oracle.softmax(x), dtype, f"softmax {what}",
                      rank=1)
            y = dtypes.round_to(oracle.softmax(x), dtype)
            got = edge.rows("softmax_grad", all_of(dtype, SOFTMAX_GRAD))(
                {"dx": y.shape}, y=y, dy=dy)
            values, sizes = oracle.softmax_grad(y, dy)
            edge.near(got["dx"], values["dx"], dtype, f"softmax_grad {what}",
                      size=sizes["dx"], rank=1)
            clean = np.where(np.isfinite(x), x, 0)
            check_rms_grad(edge, edge.rows("rms_norm_grad",
                                           all_of(dtype, RMS_GRAD)), clean, dy,
                           w, what=what)
            check_layer_grad(edge, edge.rows(
                "layer_norm_grad", all_of(dtype, LAYER_GRAD)), clean, dy, w,
                what=what)


# ------------------------------------------------------------------------------
# Gradients of weights
# ------------------------------------------------------------------------------

# Just off the multiples of a block of rows, whose size grows beyond 4096 rows.
ROW_COUNTS = (1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 4160, 8191,
              8192, 8193, 8320, 12289)


def weight_gradients_sum_over_all_rows(edge):
    """Ones everywhere: every row counts once, and f32 holds the counts."""
    splits = {1: lambda r: (), 2: lambda r: (r,), 3: lambda r: (r, 2),
              4: lambda r: (3, r, 1)}
    for rank, split in splits.items():
        rms = edge.rows("rms_norm_grad", all_of("f32", RMS_GRAD), rank)
        layer = edge.rows("layer_norm_grad", all_of("f32", LAYER_GRAD), rank)
        for count in ROW_COUNTS if rank > 1 else (1,):
            shape = (*split(count), 3)
            rows = int(np.prod(shape[:-1]))
            one = np.ones(shape)
            given = {"x": one, "dy": one, "weight": one[(0,) * (rank - 1)],
                     "bias": one[(0,) * (rank - 1)],
                     "rstd": np.ones(shape[:-1]), "mean": np.zeros(shape[:-1])}
            want = np.full(3, float(rows))
            got = rms(row_shapes(shape), **given)
            edge.equal(got["dweight"], want, f"rms_norm, {shape}")
            got = layer(row_shapes(shape), **given)
            edge.equal(got["dweight"], want, f"layer_norm, {shape}")
            edge.equal(got["dbias"], want, f"dbias, {shape}")


def empty_and_single(edge):
    """Zero rows, zero columns, one column: results that exist are written."""
    shapes = ((0, 3), (3, 0), (0, 0), (3, 1), (1, 1))
    # Extents that types have not, and those that they have.
    cases = [(dtype, shapes, None) for dtype in ("f32", "bf16", "f64")]
    cases += [("f32", [shape], shape) for shape in shapes]
    for dtype, shapes, fixed in cases:
        kernels = {op: edge.rows(op, all_of(dtype, names), fixed=fixed,
                                 **({"eps": 0.25} if op in
                                    ("rms_norm", "layer_norm") else {}))
                   for op, names in (
                       ("rms_norm", RMS), ("rms_norm_grad", RMS_GRAD),
                       ("layer_norm", LAYER), ("layer_norm_grad", LAYER_GRAD),
                       ("softmax", "x y"), ("softmax_grad", SOFTMAX_GRAD))}
        for shape in shapes:
            one = np.ones(shape)
            given = {"x": one, "y": one, "dy": one, "weight": np.ones(
                shape[-1:]), "bias": np.full(shape[-1:], 2.0),
                "rstd": np.ones(shape[:-1]), "mean": np.zeros(shape[:-1])}
            got = {}
            for op, kernel in kernels.items():
                inputs = {n: v for n, v in given.items()
                          if n not in kernel.function.destinations()}
                got[op] = kernel(row_shapes(shape), **inputs)
            what = f"{dtype}, {list(shape)}"
            rows, columns = shape
            rstd = 2.0 if columns == 0 else 1 / np.sqrt(1.25)
            edge.near(got["rms_norm"]["rstd"], np.full(rows, rstd),
                      oracle.accumulation(dtype), f"rstd {what}")
            edge.equal(got["layer_norm"]["rstd"], np.full(rows, 2.0),
                       f"rstd of layer_norm {what}")
            edge.equal(got["layer_norm"]["mean"],
                       np.full(rows, 0.0 if columns == 0 else 1.0),
                       f"mean {what}")
            # One column is its own mean, and all of its row.
            edge.equal(got["layer_norm"]["y"], np.full(shape, 2.0),
                       f"layer_norm {what}")
            edge.equal(got["softmax"]["y"], one, f"softmax {what}")
            edge.equal(got["softmax_grad"]["dx"], 0 * one,
                       f"softmax_grad {what}")
            for op in ("rms_norm_grad", "layer_norm_grad"):
                edge.equal(got[op]["dweight"], np.full(columns, float(rows)),
                           f"dweight of {op} {what}")
            edge.equal(got["layer_norm_grad"]["dbias"],
                       np.full(columns, float(rows)), f"dbias {what}")
