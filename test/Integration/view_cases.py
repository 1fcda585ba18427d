"""Cases of pol.rms_norm on views, in place, and on buffers from spaces."""

import numpy as np

from batch import SPACE, Case, Result, dtypes, oracle
from norm_cases import array_type, attributes, fill, norm_op, values

STRIDED1 = "memref<?xf32, strided<[?], offset: ?>>"
STRIDED2 = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
EPS = 1.0e-5
ATTRS = attributes(EPS, 0.0)

def norm(x, w=None):
    return oracle.rms_norm(x, w, EPS)

def with_part(whole, part, new):
    """A copy in float64 in which a part is replaced."""
    copy = whole.astype(np.float64)
    copy[part] = new
    return copy

def array(kind, value):
    """An argument of static shape, as a tensor or memref."""
    return (array_type(kind, value.shape, "f32"), "f32", value)

def index(value):
    return ("index", "index", f"index={value}")

# ------------------------------------------------------------------------------
# Tensors
# ------------------------------------------------------------------------------

def slice_cases():
    """Slices of tensors, read and written."""
    x, w = values((20, 40), "f32"), values((33,), "f32")
    y, r = norm(x[3:17:2, 5:37:2], w[1:33:2])
    out = array_type("tensor", y.shape, "f32")
    roots = array_type("tensor", r.shape, "f32")
    yield Case("slices of tensors", "static", f"""\
@F(%a: tensor<20x40xf32>, %b: tensor<33xf32>, %y: {out}, %r: {roots})
    -> ({out}, {roots}) {{
  %x = tensor.extract_slice %a[3, 5] [7, 16] [2, 2]
      : tensor<20x40xf32> to {out}
  %w = tensor.extract_slice %b[1] [16] [2] : tensor<33xf32> to tensor<16xf32>
  %0:2 = {norm_op(dict(x=out, w="tensor<16xf32>", y=out, r=roots), EPS, 0.0)}
  return %0#0, %0#1 : {out}, {roots}
}}
""", [array("tensor", x), array("tensor", w), (out, "f32", fill(y.shape, "f32")),
      (roots, "f32", fill(r.shape, "f32"))],
               [Result(out, "f32", y), Result(roots, "f32", r, per_row=True)])

    dynamic = "tensor<?x?xf32>"
    for low, rows, step in ((0, 20, 1), (3, 7, 2), (1, 1, 5), (20, 0, 1)):
        y, _ = norm(x[low:low + rows * step:step, 2:2 + 12 * 3:3])
        yield Case("slices of tensors", f"dynamic {low} {rows} {step}", f"""\
@F(%a: {dynamic}, %low: index, %rows: index, %step: index, %y: {dynamic})
    -> {dynamic} {{
  %two = arith.constant 2 : index
  %x = tensor.extract_slice %a[%low, %two] [%rows, 12] [%step, 3]
      : {dynamic} to tensor<?x12xf32>
  %0 = pol.rms_norm ins(%x : tensor<?x12xf32>) outs(%y : {dynamic}) {ATTRS}
      -> {dynamic}
  return %0 : {dynamic}
}}
""", [(dynamic, "f32", x), index(low), index(rows), index(step),
      (dynamic, "f32", fill((rows, 12), "f32"))], [Result(dynamic, "f32", y)])

def insert_cases():
    """Into a part of a tensor, whose other elements stay what they were."""
    x, big = values((4, 9), "f32"), values((11, 22), "f32")
    want = with_part(big, np.s_[1:9:2, 3:21:2], norm(x)[0])
    yield Case("into slices of tensors", "insert_slice", f"""\
@F(%x: tensor<4x9xf32>, %big: tensor<11x22xf32>) -> tensor<11x22xf32> {{
  %y = tensor.extract_slice %big[1, 3] [4, 9] [2, 2]
      : tensor<11x22xf32> to tensor<4x9xf32>
  %0 = pol.rms_norm ins(%x : tensor<4x9xf32>) outs(%y : tensor<4x9xf32>) {ATTRS}
      -> tensor<4x9xf32>
  %1 = tensor.insert_slice %0 into %big[1, 3] [4, 9] [2, 2]
      : tensor<4x9xf32> into tensor<11x22xf32>
  return %1 : tensor<11x22xf32>
}}
""", [array("tensor", x), array("tensor", big)],
               [Result("tensor<11x22xf32>", "f32", want)])

    x, deep = values((3, 8), "f32"), values((3, 5, 8), "f32")
    want = with_part(deep, np.s_[:, 2], norm(x)[0])
    yield Case("into slices of tensors", "a slice of lower rank", """\
@F(%x: tensor<3x8xf32>, %big: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %y = tensor.extract_slice %big[0, 2, 0] [3, 1, 8] [1, 1, 1]
      : tensor<3x5x8xf32> to tensor<3x8xf32>
  %0 = pol.rms_norm ins(%x : tensor<3x8xf32>) outs(%y : tensor<3x8xf32>)
      -> tensor<3x8xf32>
  %1 = tensor.insert_slice %0 into %big[0, 2, 0] [3, 1, 8] [1, 1, 1]
      : tensor<3x8xf32> into tensor<3x5x8xf32>
  return %1 : tensor<3x5x8xf32>
}
""", [array("tensor", x), array("tensor", deep)],
               [Result("tensor<3x5x8xf32>", "f32", want)])

# ------------------------------------------------------------------------------
# Memrefs
# ------------------------------------------------------------------------------

def subview_cases():
    """Views that memref.subview and memref.transpose give."""
    a, b = values((20, 40), "f32"), values((30, 50), "f32")
    part = np.s_[2:12:2, 1:37:4]
    want = with_part(b, np.s_[3:18:3, 4:13], norm(a[part])[0])
    yield Case("views of memrefs", "static, both strided", f"""\
@F(%a: memref<20x40xf32>, %b: memref<30x50xf32>) -> memref<30x50xf32> {{
  %x = memref.subview %a[2, 1] [5, 9] [2, 4] : memref<20x40xf32>
      to memref<5x9xf32, strided<[80, 4], offset: 81>>
  %y = memref.subview %b[3, 4] [5, 9] [3, 1] : memref<30x50xf32>
      to memref<5x9xf32, strided<[150, 1], offset: 154>>
  pol.rms_norm ins(%x : memref<5x9xf32, strided<[80, 4], offset: 81>>)
      outs(%y : memref<5x9xf32, strided<[150, 1], offset: 154>>) {ATTRS}
  return %b : memref<30x50xf32>
}}
""", [array("memref", a), array("memref", b)],
               [Result("memref<30x50xf32>", "f32", want)])

    w, roots = values((40,), "f32"), values((30, 3), "f32")
    y, r = norm(a[2:12:2, 1:37:4], w[4:40:4])
    yield Case("views of memrefs", "dynamic types through a call", f"""\
@F(%a: memref<?x?xf32>, %v: memref<?xf32>, %b: memref<?x?xf32>,
   %c: memref<?x?xf32>, %step: index) -> (memref<?x?xf32>, memref<?x?xf32>) {{
  %x = memref.subview %a[2, 1] [5, 9] [%step, 4] : memref<?x?xf32>
      to memref<5x9xf32, strided<[?, 4], offset: ?>>
  %y = memref.subview %b[3, 4] [5, 9] [3, %step] : memref<?x?xf32>
      to memref<5x9xf32, strided<[?, ?], offset: ?>>
  %w = memref.subview %v[4] [9] [4] : memref<?xf32>
      to memref<9xf32, strided<[4], offset: 4>>
  %r = memref.subview %c[6, 1] [5, 1] [%step, 1] : memref<?x?xf32>
      to memref<5xf32, strided<[?], offset: ?>>
  %0 = memref.cast %x : memref<5x9xf32, strided<[?, 4], offset: ?>> to {STRIDED2}
  %1 = memref.cast %y : memref<5x9xf32, strided<[?, ?], offset: ?>> to {STRIDED2}
  %2 = memref.cast %w : memref<9xf32, strided<[4], offset: 4>> to {STRIDED1}
  %3 = memref.cast %r : memref<5xf32, strided<[?], offset: ?>> to {STRIDED1}
  call @F_norm(%0, %2, %1, %3) : ({STRIDED2}, {STRIDED1}, {STRIDED2}, {STRIDED1}) -> ()
  return %b, %c : memref<?x?xf32>, memref<?x?xf32>
}}
func.func private @F_norm(%x: {STRIDED2}, %w: {STRIDED1}, %y: {STRIDED2}, %r: {STRIDED1}) {{
  {norm_op(dict(x=STRIDED2, w=STRIDED1, y=STRIDED2, r=STRIDED1), EPS, 0.0,
           results=False)}
  return
}}
""", [("memref<?x?xf32>", "f32", a), ("memref<?xf32>", "f32", w),
      ("memref<?x?xf32>", "f32", b), ("memref<?x?xf32>", "f32", roots), index(2)],
               [Result("memref<?x?xf32>", "f32",
                       with_part(b, np.s_[3:18:3, 4:22:2], y)),
                Result("memref<?x?xf32>", "f32",
                       with_part(roots, np.s_[6:16:2, 1], r))])

def transposed_cases():
    a = values((20, 40), "f32")
    transposed = "memref<?x?xf32, strided<[1, ?]>>"
    for name, read, written, want in (
            ("x", "%t", "%b", norm(a.T)[0]),
            ("y", "%b", "%t", None),
            ("x and y, in place", "%t", "%t", norm(a.T)[0].T)):
        b = values((40, 20), "f32")
        type_of = {"%t": transposed, "%b": "memref<?x?xf32>"}
        result = "%b" if name == "x" else "%a"
        if want is None:
            want = norm(b)[0].T
        yield Case("views of memrefs", f"transposed {name}", f"""\
@F(%a: memref<?x?xf32>, %b: memref<?x?xf32>) -> memref<?x?xf32> {{
  %t = memref.transpose %a (i, j) -> (j, i)
      : memref<?x?xf32> to {transposed}
  pol.rms_norm ins({read} : {type_of[read]}) outs({written} : {type_of[written]})
      {ATTRS}
  return {result} : memref<?x?xf32>
}}
""", [("memref<?x?xf32>", "f32", a), ("memref<?x?xf32>", "f32", b)],
                   [Result("memref<?x?xf32>", "f32", want)])

def unusual_stride_cases():
    """Strides of 0 and below, which no subview gives."""
    a = values((60,), "f32")
    for name, offset, strides, view in (
            ("rows that are one", 7, (0, 1), np.tile(a[7:17], (4, 1))),
            ("elements that are one", 5, (3, 0),
             np.repeat(a[5:17:3, None], 10, axis=1)),
            ("backwards", 59, (-12, -1), a[::-1].reshape(5, 12)[:4, :10]),
            ("overlapping rows", 0, (2, 3),
             np.lib.stride_tricks.as_strided(a, (4, 10), (8, 12)))):
        layout = f"strided<[{strides[0]}, {strides[1]}], offset: {offset}>"
        yield Case("unusual strides", name, f"""\
@F(%a: memref<60xf32>, %y: memref<4x10xf32>) -> memref<4x10xf32> {{
  %x = memref.reinterpret_cast %a to offset: [{offset}], sizes: [4, 10],
      strides: [{strides[0]}, {strides[1]}]
      : memref<60xf32> to memref<4x10xf32, {layout}>
  pol.rms_norm ins(%x : memref<4x10xf32, {layout}>) outs(%y : memref<4x10xf32>)
      {ATTRS}
  return %y : memref<4x10xf32>
}}
""", [array("memref", a), ("memref<4x10xf32>", "f32", fill((4, 10), "f32"))],
                   [Result("memref<4x10xf32>", "f32", norm(view.copy())[0])])

def in_place_cases():
    """y = x, whole and in a view."""
    for shape in ((5, 257), (0, 3), (2, 3, 64), (7,)):
        x, w = values(shape, "f32"), values(shape[-1:], "f32")
        t = array_type("memref", shape, "f32", static=False)
        v = "memref<?xf32>"
        yield Case("in place", str(shape), f"""\
@F(%x: {t}, %w: {v}) -> {t} {{
  pol.rms_norm ins(%x, %w : {t}, {v}) outs(%x : {t}) {ATTRS}
  return %x : {t}
}}
""", [(t, "f32", x), (v, "f32", w)], [Result(t, "f32", norm(x, w)[0])])
    x = values((9, 30), "f32")
    view = "memref<4x10xf32, strided<[60, 3], offset: 31>>"
    yield Case("in place", "a view", f"""\
@F(%a: memref<9x30xf32>) -> memref<9x30xf32> {{
  %x = memref.subview %a[1, 1] [4, 10] [2, 3] : memref<9x30xf32> to {view}
  pol.rms_norm ins(%x : {view}) outs(%x : {view}) {ATTRS}
  return %a : memref<9x30xf32>
}}
""", [array("memref", x)],
               [Result("memref<9x30xf32>", "f32",
                       with_part(x, np.s_[1:9:2, 1:30:3],
                                 norm(x[1:9:2, 1:30:3])[0]))])

# ------------------------------------------------------------------------------
# Spaces
# ------------------------------------------------------------------------------

def twice(x):
    """The norm of the norm, which is stored as f32 in between."""
    return norm(dtypes.round_to(norm(x)[0], "f32"))[0]

def frame_cases():
    """Buffers from the space, from frames, and from frames on frames."""
    x = values((31, 100), "f32")
    for t in ("tensor<?x?xf32>", "tensor<31x100xf32>"):
        space = ("!pol.arena", None, SPACE)
        bundle = f"!pol.bundle<{{y: {t}}}>"
        yield Case("spaces and frames", f"apply, {t}", f"""\
@F(%s: !pol.arena, %x: {t}) -> {t} {{
  %y = pol.apply "pol.rms_norm"(%x) {ATTRS} in %s : ({t}), !pol.arena -> {t}
  return %y : {t}
}}
""", [space, (t, "f32", x)], [Result(t, "f32", norm(x)[0])])
        yield Case("spaces and frames", f"nested frames, {t}", f"""\
@F(%s: !pol.arena, %x: {t}, %y: {t}) -> {t} {{
  %r = pol.frame on %s : !pol.arena -> {t} {{
  ^bb0(%f: !pol.frame):
    %b = pol.outputs "pol.rms_norm"(%x) in %f : ({t}), !pol.frame -> {bundle}
    %0 = pol.call "pol.rms_norm"(%x) {ATTRS} outputs(%b) : ({t}), {bundle} -> {t}
    %q = pol.frame on %f : !pol.frame -> {t} {{
    ^bb0(%g: !pol.frame):
      %c = pol.outputs "pol.rms_norm"(%x) in %g : ({t}), !pol.frame -> {bundle}
      %1 = pol.call "pol.rms_norm"(%x) {ATTRS} outputs(%c) : ({t}), {bundle} -> {t}
      %2 = pol.rms_norm ins(%1 : {t}) outs(%0 : {t}) {ATTRS} -> {t}
      pol.yield %2 : {t}
    }}
    %3 = linalg.copy ins(%q : {t}) outs(%y : {t}) -> {t}
    pol.yield %3 : {t}
  }}
  return %r : {t}
}}
""", [space, (t, "f32", x), (t, "f32", fill(x.shape, "f32"))],
                   [Result(t, "f32", twice(x))])
    yield Case("spaces and frames", "a frame in a loop", f"""\
@F(%s: !pol.arena, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>)
    -> tensor<?x?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r = scf.for %i = %c0 to %rows step %c1 iter_args(%out = %y) -> tensor<?x?xf32> {{
    %z = pol.frame on %s : !pol.arena -> tensor<?x?xf32> {{
    ^bb0(%f: !pol.frame):
      %row = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1]
          : tensor<?x?xf32> to tensor<?xf32>
      %t = pol.apply "pol.rms_norm"(%row) {ATTRS} in %f
          : (tensor<?xf32>), !pol.frame -> tensor<?xf32>
      %d = tensor.extract_slice %out[%i, 0] [1, %n] [1, 1]
          : tensor<?x?xf32> to tensor<?xf32>
      %u = pol.rms_norm ins(%t : tensor<?xf32>) outs(%d : tensor<?xf32>) {ATTRS}
          -> tensor<?xf32>
      %o = tensor.insert_slice %u into %out[%i, 0] [1, %n] [1, 1]
          : tensor<?xf32> into tensor<?x?xf32>
      pol.yield %o : tensor<?x?xf32>
    }}
    scf.yield %z : tensor<?x?xf32>
  }}
  return %r : tensor<?x?xf32>
}}
""", [("!pol.arena", None, SPACE), ("tensor<?x?xf32>", "f32", x),
      ("tensor<?x?xf32>", "f32", fill(x.shape, "f32"))],
               [Result("tensor<?x?xf32>", "f32", twice(x))])
