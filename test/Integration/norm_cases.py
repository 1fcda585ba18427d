"""Cases of pol.rms_norm on whole arrays: shapes, types, attributes, values."""

import itertools

import numpy as np

from batch import Case, Result, dtypes, oracle

EDGE_SIZES = (0, 1, 3, 255, 256, 257)

_random = np.random.RandomState(1)


def values(shape, dtype, scale=1.0):
    """Normally distributed values that the type has."""
    return dtypes.round_to(_random.standard_normal(shape) * scale, dtype)


def accumulation(dtype):
    return "f64" if dtype == "f64" else "f32"


def array_type(kind, shape, dtype, static=True):
    """tensor<4x?xf32> and the like."""
    dims = "".join(f"{d if static else '?'}x" for d in shape)
    return f"{kind}<{dims}{dtype}>"


def fill(shape, dtype, value="nan"):
    """pol-run's text for an array that is full of something: what a kernel is
    to overwrite is full of NaN."""
    dims = "".join(f"{d}x" for d in shape)
    return f"{dims}{dtype}=const:{value}"


def attributes(eps, offset):
    return f"{{eps = {eps:.17e} : f64, offset = {offset:.17e} : f64}}"


def norm_op(types, eps, offset, results=True):
    """pol.rms_norm on %x, %w, %y and %r, as far as `types` has them."""
    ins = [name for name in ("x", "w") if name in types]
    text = ("pol.rms_norm ins(" + ", ".join(f"%{n}" for n in ins) + " : " +
            ", ".join(types[n] for n in ins) + f") outs(%y : {types['y']})")
    if "r" in types:
        text += f" checkpoints(%r : {types['r']})"
    text += " " + attributes(eps, offset)
    if not results:
        return text
    return text + " -> " + ", ".join(types[n] for n in ("y", "r")
                                     if n in types)


def norm_function(kind, types, eps, offset):
    """A function that is the op and no more, with destinations as arguments."""
    outs = [name for name in ("y", "r") if name in types]
    parameters = ", ".join(f"%{n}: {t}" for n, t in types.items())
    given = ", ".join(types[n] for n in outs)
    if kind == "tensor":
        body = (f"  %o:{len(outs)} = {norm_op(types, eps, offset)}\n"
                "  return " + ", ".join(f"%o#{i}" for i in range(len(outs))))
    else:
        body = (f"  {norm_op(types, eps, offset, results=False)}\n"
                "  return " + ", ".join(f"%{n}" for n in outs))
    return f"@F({parameters}) -> ({given}) {{\n{body} : {given}\n}}\n"


def norm_case(group, x, dtype="f32", w=None, w_dtype=None, y_dtype=None,
              rstd=True, eps=1.0e-5, offset=0.0, kind="tensor", static=False):
    """A call of the op on x, with fresh destinations."""
    w_dtype, y_dtype = w_dtype or dtype, y_dtype or dtype
    root_dtype = accumulation(dtype)
    rows = x.shape[:-1]
    types = {"x": array_type(kind, x.shape, dtype, static)}
    arguments = [(types["x"], dtype, x)]
    if w is not None:
        types["w"] = array_type(kind, w.shape, w_dtype, static)
        arguments.append((types["w"], w_dtype, w))
    types["y"] = array_type(kind, x.shape, y_dtype, static)
    arguments.append((types["y"], y_dtype, fill(x.shape, y_dtype)))
    want_y, want_rstd = oracle.rms_norm(x, w, eps, offset)
    results = [Result(types["y"], y_dtype, want_y)]
    if rstd:
        types["r"] = array_type(kind, rows, root_dtype, static)
        arguments.append((types["r"], root_dtype, fill(rows, root_dtype)))
        results.append(Result(types["r"], root_dtype, want_rstd, per_row=True))
    name = (f"{types['x']} of shape {list(x.shape)}, eps {eps}, offset "
            f"{offset}{', weight' if w is not None else ''}")
    function = norm_function(kind, types, eps, offset)
    return Case(group, name, function, arguments, results)


# ------------------------------------------------------------------------------
# Groups
# ------------------------------------------------------------------------------


def large_cases():
    """What users are promised 1e-6 on."""
    x, w = values((4096, 1024), "f32"), values((1024,), "f32")
    for static in (True, False):
        shape = "static" if static else "dynamic"
        yield norm_case(f"4096x1024, {shape}", x, w=w, static=static)
    # The outliers and the spread of rows that activations have.
    spread = x * np.exp(3 * values((4096, 1), "f32"))
    spread[:, 7] *= 100
    yield norm_case("4096x1024, spread", spread.astype(np.float32), w=w,
                    offset=1.0)


def shape_cases():
    """Ranks 1 to 4 with extents around those of blocks and vectors."""
    for static in (False, True):
        group = "static shapes" if static else "dynamic shapes"
        shapes = [(c,) for c in EDGE_SIZES]
        shapes += itertools.product(EDGE_SIZES, EDGE_SIZES)
        few = (0, 1, 3, 257) if not static else (0, 3)
        shapes += itertools.product((1, 2), few, few)
        shapes += itertools.product((2,), (0, 1, 3), (1, 2), few)
        for shape in shapes:
            yield norm_case(group, values(shape, "f32"),
                            w=values(shape[-1:], "f32"), static=static)


def long_row_cases():
    """Rows in which a running f32 sum would lose digits."""
    for dtype in ("f16", "bf16", "f32", "f64"):
        for length in (65537, 1 << 20):
            # All squares alike is the worst for a running sum.
            x = dtypes.round_to(np.full((2, length), 0.7), dtype)
            x[1] = values((length,), dtype)
            yield norm_case(f"long rows, {dtype}", x, dtype)


def type_cases():
    """Every element type, for x, w and y apart."""
    floats = ("f16", "bf16", "f32", "f64")
    for dtype, static in itertools.product(floats, (False, True)):
        for columns in (1, 255, 1024):
            yield norm_case(f"{dtype}", values((5, columns), dtype), dtype,
                            w=values((columns,), dtype), static=static)
            yield norm_case(f"{dtype}", values((5, columns), dtype), dtype,
                            static=static)
    for x_dtype, w_dtype, y_dtype in itertools.product(floats, repeat=3):
        if x_dtype != "f64" and "f64" in (w_dtype, y_dtype):
            continue
        yield norm_case("mixed types", values((4, 129), x_dtype), x_dtype,
                        w=values((129,), w_dtype), w_dtype=w_dtype,
                        y_dtype=y_dtype, offset=1.0)


def attribute_cases():
    """eps, offset, the weight and the checkpoint, in all combinations."""
    epsilons = (0.0, 2.0**-133, 1e-12, 1e-6, 1e-5, 0.5, 1e3, 1e20)
    kinds = itertools.cycle(("tensor", "memref", "memref"))
    for eps, rstd in itertools.product(epsilons, (False, True)):
        x = values((6, 100), "f32")
        x[1] *= 1e-3
        x[2] *= 1e-20
        yield norm_case("attributes", x, eps=eps, rstd=rstd, kind=next(kinds))
        for offset in (0.0, 1.0, -0.5):
            yield norm_case("attributes", x, w=values((100,), "f32"), eps=eps,
                            offset=offset, rstd=rstd, kind=next(kinds))


def magnitude_cases():
    """Rows whose squares, sums or roots leave the range of the type."""
    scales = {
        "f16": (1e4, 1e-5, 6e-8, 1),
        "bf16": (1e30, 1e-30, 5e37, 1e-39, 1e19, 1),
        "f32": (1e30, 1e-30, 5e37, 1e-38, 1e-42, 1.8e19, 1e-23, 1e-19, 1),
        "f64": (1e200, 1e-200, 1e307, 1e-307, 1e-315, 1e154, 1e-162, 1),
    }
    for (dtype, rows), eps in itertools.product(scales.items(),
                                                (0.0, 1e-5, 1e-30)):
        for columns in (1, 3, 300):
            scale = np.array(rows)[:, None]
            x = values((len(rows), columns), dtype, scale)
            # One large element among small ones, and the reverse.
            mixed = x.copy()
            mixed[:, 0] = x[::-1, 0]
            w = values((columns,), dtype)
            yield norm_case(f"extreme rows, {dtype}", x, dtype, eps=eps)
            yield norm_case(f"extreme rows, {dtype}", mixed, dtype, w=w, eps=eps)
    largest = {"f16": 65504, "f32": 3.4e38, "bf16": 3.38e38, "f64": 1.79e308}
    for dtype, value in largest.items():
        x = dtypes.round_to(np.full((2, 70), value), dtype)
        x[1] *= -1
        yield norm_case(f"extreme rows, {dtype}", x, dtype, eps=0.0)


def special_cases():
    """NaN, infinities and zeros, which go where the formula takes them."""
    nan, inf = np.nan, np.inf
    for dtype, eps in itertools.product(("f16", "bf16", "f32", "f64"),
                                        (0.0, 1e-5)):
        for columns in (1, 4, 100):
            x = values((9, columns), dtype)
            x[1, 0] = nan
            x[2, -1] = inf
            x[3, -1] = -inf
            x[4, 0], x[4, -1] = inf, nan
            x[5] = 0
            x[6] = -0.0
            x[7] = inf
            yield norm_case(f"NaN, Inf, 0, {dtype}", x, dtype, eps=eps)
            w = values((columns,), dtype)
            w[0] = nan
            yield norm_case(f"NaN, Inf, 0, {dtype}", x, dtype, w=w, eps=eps)
            w = w.copy()
            w[0], w[-1] = -inf, 0
            yield norm_case(f"NaN, Inf, 0, {dtype}", x, dtype, w=w, eps=eps,
                            offset=1.0)
