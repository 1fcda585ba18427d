"""Prints a training step of a transformer, written with pol's ops on tensors.

    x -> [norm -> q, k, v -> attention -> projection -> + -> norm -> MLP -> +] x L

then the gradient of sum((x - target)^2) / 2, and back through all layers to the
gradients of every weight. What the backward pass needs of the forward pass, its
checkpoints and activations, and the gradients come from the arena of the caller;
everything else is in frames. The attention's scores are stored nowhere.

--style=flat writes all layers into one function, calls two functions per layer
that do the work of it. --dynamic leaves batch and sequence open.
"""

import argparse
import dataclasses


@dataclasses.dataclass
class Shape:
    """batch and sequence are None where they are only known at run time."""

    layers: int
    batch: int
    sequence: int
    width: int
    heads: int
    hidden: int

    def name(self, extent):
        return "?" if extent is None else str(extent)

    def tensor(self, *extents):
        return f"tensor<{''.join(self.name(e) + 'x' for e in extents)}f32>"

    @property
    def tokens(self):
        if self.batch is None:
            return None
        return self.batch * self.sequence

    @property
    def rows(self):  # one for each token
        return self.tensor(self.tokens, self.width)

    @property
    def stream(self):
        return self.tensor(self.batch, self.sequence, self.width)

    @property
    def split(self):
        return self.tensor(self.batch, self.sequence, self.heads,
                           self.width // self.heads)

    @property
    def by_head(self):
        return self.tensor(self.batch, self.heads, self.sequence,
                           self.width // self.heads)

    @property
    def per_query(self):
        return self.tensor(self.batch, self.heads, self.sequence)

    @property
    def wide(self):
        return self.tensor(self.tokens, self.hidden)

    @property
    def per_row(self):
        return self.tensor(self.tokens)

    def weights(self):
        """Names and types of a layer's."""
        d, f = self.width, self.hidden
        square = self.tensor(d, d)
        return {"n1": self.tensor(d), "wq": square, "wk": square, "wv": square,
                "wo": square, "n2": self.tensor(d), "up": self.tensor(d, f),
                "down": self.tensor(f, d)}

    def saved(self):
        """Names and types of what a layer's backward pass gets."""
        heads = self.by_head
        return {"x": self.rows, "h1": self.rows, "rstd1": self.per_row,
                "q": heads, "k": heads, "v": heads, "o": heads,
                "max": self.per_query, "sum": self.per_query, "x2": self.rows,
                "h2": self.rows, "rstd2": self.per_row, "u": self.wide}


# How the operands of a product are read: (i, k) x (k, j), and transposed.
_MAPS = {"nn": ("d0, d2", "d2, d1"), "tn": ("d2, d0", "d2, d1"),
         "nt": ("d0, d2", "d1, d2")}


class Text:
    """Lines of one function. Every method returns names of values."""

    def __init__(self, shape):
        self.shape, self.lines, self.count, self.depth = shape, [], 0, 1

    def emit(self, line):
        self.lines.append("  " * self.depth + line)

    def fresh(self, prefix="t"):
        self.count += 1
        return f"%{prefix}{self.count}"

    def alloc(self, space, kind, name):
        value = self.fresh(name)
        extents = ""
        if "?" in kind:
            dynamic = {self.shape.by_head: "%batch, %sequence",
                       self.shape.per_query: "%batch, %sequence",
                       self.shape.split: "%batch, %sequence"}
            extents = f"[{dynamic.get(kind, '%tokens')}]"
        space_type = "!pol.frame" if space.startswith("%f") else "!pol.arena"
        self.emit(f"{value} = pol.alloc {space}{extents} {{name = \"{name}\"}} "
                  f": {space_type} -> {kind}")
        return value

    def elementwise(self, kind, inputs, target, body, name="t"):
        """target, computed from inputs and what it was: %a, %b, %t in body."""
        value, rank = self.fresh(name), kind.count("x")
        ids = ", ".join(f"d{i}" for i in range(rank))
        one = f"affine_map<({ids}) -> ({ids})>"
        loops = ", ".join(["\"parallel\""] * rank)
        ins = ""
        if inputs:
            ins = (f"ins({', '.join(inputs)} : "
                   f"{', '.join([kind] * len(inputs))}) ")
        self.emit(f"{value} = linalg.generic {{indexing_maps = ["
                  f"{', '.join([one] * (len(inputs) + 1))}], iterator_types = "
                  f"[{loops}]}} {ins}outs({target} : {kind}) {{")
        arguments = ", ".join(f"%{n}: f32" for n in "ab"[:len(inputs)] + "t")
        self.emit(f"^bb0({arguments}):")
        for line in body:
            self.emit("  " + line)
        self.emit(f"}} -> {kind}")
        return value

    def add(self, kind, inputs, target, name="t"):
        """target + the input, or the two inputs."""
        names = "%a, %t" if len(inputs) == 1 else "%a, %b"
        return self.elementwise(kind, inputs, target, [
            f"%s = arith.addf {names} : f32", "linalg.yield %s : f32"], name)

    def product(self, maps, left, right, target, kinds, zero=True, name="t"):
        """target (+)= left x right, read as maps say."""
        a, b = (f"affine_map<(d0, d1, d2) -> ({m})>" for m in _MAPS[maps])
        c = "affine_map<(d0, d1, d2) -> (d0, d1)>"
        if zero:
            value = self.fresh(name)
            self.emit(f"{value} = linalg.fill ins(%zero : f32) outs({target} : "
                      f"{kinds[2]}) -> {kinds[2]}")
            target = value
        value = self.fresh(name)
        self.emit(f"{value} = linalg.matmul indexing_maps = [{a}, {b}, {c}] "
                  f"ins({left}, {right} : {kinds[0]}, {kinds[1]}) "
                  f"outs({target} : {kinds[2]}) -> {kinds[2]}")
        return value

    def to_heads(self, rows, target, name="t"):
        """[tokens, width] as [batch, heads, sequence, width of a head]."""
        s = self.shape
        split, value = self.fresh("split"), self.fresh(name)
        tokens = "%batch, %sequence"
        if s.batch is not None:
            tokens = f"{s.batch}, {s.sequence}"
        extents = f"{tokens}, {s.heads}, {s.width // s.heads}"
        self.emit(f"{split} = tensor.expand_shape {rows} [[0, 1], [2, 3]] "
                  f"output_shape [{extents}] : {s.rows} into {s.split}")
        self.emit(f"{value} = linalg.transpose ins({split} : {s.split}) "
                  f"outs({target} : {s.by_head}) permutation = [0, 2, 1, 3]")
        return value

    def from_heads(self, heads, target, name="t"):
        """The way back; target is split."""
        s = self.shape
        split, value = self.fresh("split"), self.fresh(name)
        self.emit(f"{split} = linalg.transpose ins({heads} : {s.by_head}) "
                  f"outs({target} : {s.split}) permutation = [0, 2, 1, 3]")
        self.emit(f"{value} = tensor.collapse_shape {split} [[0, 1], [2, 3]] : "
                  f"{s.split} into {s.rows}")
        return value

    def apply(self, kernel, operands, space, results, extra=""):
        values = [self.fresh(n) for n, _ in results]
        space_type = "!pol.frame" if space.startswith("%f") else "!pol.arena"
        names = ", ".join(n for n, _ in operands)
        kinds = ", ".join(k for n, k in operands if n != "none")
        self.emit(f"{', '.join(values)} = pol.apply \"{kernel}\"({names})"
                  f"{extra} : ({kinds}), {space_type} -> "
                  f"{', '.join(k for _, k in results)}")
        return values

    def frame(self, results, body):
        """A frame on the arena; body is called with its name, and returns the
        values that leave it."""
        frame = self.fresh("f")
        values = [self.fresh(n) for n, _ in results]
        kinds = ", ".join(k for _, k in results)
        self.emit(f"{', '.join(values)} = pol.frame on %arena : !pol.arena -> "
                  f"{kinds} {{")
        self.emit(f"^bb0({frame}: !pol.frame):")
        self.depth += 1
        self.emit(f"pol.yield {', '.join(body(frame))} : {kinds}")
        self.depth -= 1
        self.emit("}")
        return values


_SILU = ["%m = arith.negf %a : f32", "%e = math.exp %m : f32",
         "%d = arith.addf %e, %one : f32", "%s = arith.divf %one, %d : f32"]


def silu(text, u, target):
    return text.elementwise(text.shape.wide, [u], target, [
        *_SILU, "%y = arith.mulf %a, %s : f32", "linalg.yield %y : f32"], "act")


def silu_gradient(text, u, gradient):
    """In place."""
    return text.elementwise(text.shape.wide, [u], gradient, [
        *_SILU, "%r = arith.subf %one, %s : f32",
        "%q = arith.mulf %a, %r : f32", "%p = arith.addf %q, %one : f32",
        "%g = arith.mulf %s, %p : f32", "%y = arith.mulf %t, %g : f32",
        "linalg.yield %y : f32"], "du")


def forward(text, x, w):
    """A layer. w: names of weights. Returns its output, and what it saves."""
    s, kinds = text.shape, text.shape.weights()
    rows = s.rows
    square = (rows, kinds["wq"], rows)
    saved = {"x": x}
    saved["h1"], saved["rstd1"] = text.apply(
        "pol.rms_norm", [(x, rows), (w["n1"], kinds["n1"])], "%arena",
        [("h1_", rows), ("rstd1_", s.per_row)], " in %arena")
    targets = [text.alloc("%arena", s.by_head, n) for n in "qkv"]

    def project(frame):
        heads = []
        for name, target in zip("qkv", targets):
            flat = text.alloc(frame, rows, name + "_rows")
            flat = text.product("nn", saved["h1"], w["w" + name], flat, square)
            heads.append(text.to_heads(flat, target, name))
        return heads

    saved["q"], saved["k"], saved["v"] = text.frame(
        [(n, s.by_head) for n in "qkv"], project)
    heads = [(saved[n], s.by_head) for n in "qkv"]
    saved["o"], saved["max"], saved["sum"] = text.apply(
        "pol.attention", heads, "%arena",
        [("o", s.by_head), ("max", s.per_query), ("sum", s.per_query)],
        " {causal = #pol.causal<top_left>} in %arena")
    x2 = text.alloc("%arena", rows, "x2")

    def output(frame):
        flat = text.alloc(frame, s.split, "o_rows")
        flat = text.from_heads(saved["o"], flat)
        return [text.add(rows, [x], text.product("nn", flat, w["wo"], x2,
                                                 square))]

    saved["x2"], = text.frame([("x2_", rows)], output)
    saved["h2"], saved["rstd2"] = text.apply(
        "pol.rms_norm", [(saved["x2"], rows), (w["n2"], kinds["n2"])],
        "%arena", [("h2_", rows), ("rstd2_", s.per_row)], " in %arena")
    saved["u"] = text.product(
        "nn", saved["h2"], w["up"], text.alloc("%arena", s.wide, "u"),
        (rows, kinds["up"], s.wide), name="u_")
    x3 = text.alloc("%arena", rows, "y")

    def mlp(frame):
        act = silu(text, saved["u"], text.alloc(frame, s.wide, "act"))
        return [text.add(rows, [saved["x2"]],
                         text.product("nn", act, w["down"], x3,
                                      (s.wide, kinds["down"], rows)))]

    y, = text.frame([("y_", rows)], mlp)
    return y, saved


def backward(text, dy, w, saved):
    """A layer, back. Returns the gradients of its input and of its weights."""
    s, kinds = text.shape, text.shape.weights()
    targets = {n: text.alloc("%arena", k, "d_" + n) for n, k in kinds.items()}
    dx = text.alloc("%arena", s.rows, "dx")
    names = list(kinds)

    def body(frame):
        done = {}
        dx2 = mlp_backward(text, frame, dy, w, saved, targets, done)
        gradient = attention_backward(text, frame, dx2, w, saved, targets,
                                      done)
        gradient, done["n1"] = norm_backward(
            text, frame, saved["x"], gradient, w["n1"], saved["rstd1"],
            targets["n1"])
        both = text.add(s.rows, [dx2, gradient], dx)
        return [both] + [done[n] for n in names]

    values = text.frame([("dx_", s.rows)] + [(f"d_{n}_", kinds[n])
                                             for n in names], body)
    return values[0], dict(zip(names, values[1:]))


def norm_backward(text, frame, x, dy, weight, rstd, target):
    s = text.shape
    kind = s.tensor(s.width)
    # The gradient of the weight belongs to the caller.
    return text.apply(
        "pol.rms_norm_grad",
        [(x, s.rows), (dy, s.rows), (weight, kind), (rstd, s.per_row)], frame,
        [("dn", s.rows), ("dw", kind)],
        f" in {frame} override {{dweight = {target} : {kind}}}")


def mlp_backward(text, frame, dy, w, saved, targets, done):
    s, kinds = text.shape, text.shape.weights()
    act = silu(text, saved["u"], text.alloc(frame, s.wide, "act"))
    done["down"] = text.product("tn", act, dy, targets["down"],
                                (s.wide, s.rows, kinds["down"]))
    du = text.product("nt", dy, w["down"], text.alloc(frame, s.wide, "du"),
                      (s.rows, kinds["down"], s.wide))
    du = silu_gradient(text, saved["u"], du)
    done["up"] = text.product("tn", saved["h2"], du, targets["up"],
                              (s.rows, s.wide, kinds["up"]))
    dh2 = text.product("nt", du, w["up"], text.alloc(frame, s.rows, "dh2"),
                       (s.wide, kinds["up"], s.rows))
    dx2, done["n2"] = norm_backward(text, frame, saved["x2"], dh2, w["n2"],
                                    saved["rstd2"], targets["n2"])
    return text.add(s.rows, [dy], dx2)


def attention_backward(text, frame, dx2, w, saved, targets, done):
    """The gradient of the first norm's output."""
    s, kinds = text.shape, text.shape.weights()
    square = kinds["wq"]
    flat = text.from_heads(saved["o"], text.alloc(frame, s.split, "o_rows"))
    done["wo"] = text.product("tn", flat, dx2, targets["wo"],
                              (s.rows, s.rows, square))
    do_rows = text.product("nt", dx2, w["wo"],
                           text.alloc(frame, s.rows, "do_rows"),
                           (s.rows, square, s.rows))
    do = text.to_heads(do_rows, text.alloc(frame, s.by_head, "do"))
    heads = [(saved[n], s.by_head) for n in "qkvo"] + [(do, s.by_head)]
    sums = [(saved[n], s.per_query) for n in ("max", "sum")]
    gradients = text.apply(
        "pol.attention_grad", heads + [("none", "")] * 4 + sums, frame,
        [("dq", s.by_head), ("dk", s.by_head), ("dv", s.by_head)],
        f" {{causal = #pol.causal<top_left>}} in {frame}")
    dh1, zero = text.alloc(frame, s.rows, "dh1"), True
    for name, gradient in zip("qkv", gradients):
        rows = text.from_heads(gradient, text.alloc(frame, s.split,
                                                    f"d{name}_rows"))
        weight = "w" + name
        done[weight] = text.product("tn", saved["h1"], rows, targets[weight],
                                    (s.rows, s.rows, square))
        dh1 = text.product("nt", rows, w[weight], dh1,
                           (s.rows, square, s.rows), zero)
        zero = False
    return dh1


# ------------------------------------------------------------------------------
# Functions
# ------------------------------------------------------------------------------


def prologue(text, x):
    text.emit("%zero = arith.constant 0.0 : f32")
    text.emit("%one = arith.constant 1.0 : f32")
    if text.shape.batch is None:
        text.emit("%c0 = arith.constant 0 : index")
        text.emit("%c1 = arith.constant 1 : index")
        if x:
            kind = text.shape.stream
            text.emit(f"%batch = tensor.dim {x}, %c0 : {kind}")
            text.emit(f"%sequence = tensor.dim {x}, %c1 : {kind}")
        text.emit("%tokens = arith.muli %batch, %sequence : index")


def function(name, visibility, parameters, results, lines):
    head = ",\n    ".join(f"{n}: {k}" for n, k in parameters)
    return "\n".join([f"func.func {visibility}@{name}({head})\n    -> ("
                      f"{', '.join(results)}) {{", *lines, "}"]) + "\n"


def _sizes(shape):
    return [("%batch", "index"), ("%sequence", "index")] \
        if shape.batch is None else []


def layer_functions(shape):
    """A layer there, and a layer back."""
    weights = [(f"%{n}", k) for n, k in shape.weights().items()]
    names = {n: f"%{n}" for n in shape.weights()}
    common = [("%arena", "!pol.arena"), *_sizes(shape)]
    text = Text(shape)
    prologue(text, None)
    y, saved = forward(text, "%x", names)
    kept = [n for n in shape.saved() if n != "x"]
    kinds = [shape.rows] + [shape.saved()[n] for n in kept]
    text.emit(f"return {', '.join([y] + [saved[n] for n in kept])} : "
              f"{', '.join(kinds)}")
    there = function("layer", "private ", common + [("%x", shape.rows)]
                     + weights, kinds, text.lines)
    text = Text(shape)
    prologue(text, None)
    given = [(f"%s_{n}", k) for n, k in shape.saved().items()]
    dx, gradients = backward(text, "%dy", names,
                             {n: f"%s_{n}" for n in shape.saved()})
    kinds = [shape.rows, *shape.weights().values()]
    text.emit(f"return {', '.join([dx, *gradients.values()])} : "
              f"{', '.join(kinds)}")
    back = function("layer_backward", "private ", common
                    + [("%dy", shape.rows)] + weights + given, kinds,
                    text.lines)
    return there + "\n" + back


class Calls:
    """Layers by calls of functions."""

    @staticmethod
    def call(text, name, operands, prefixes, results):
        operands = [("%arena", "!pol.arena"), *_sizes(text.shape), *operands]
        values = [text.fresh(p) for p in prefixes]
        text.emit(f"{', '.join(values)} = func.call @{name}("
                  f"{', '.join(n for n, _ in operands)}) : ("
                  f"{', '.join(k for _, k in operands)}) -> "
                  f"({', '.join(results)})")
        return values

    @classmethod
    def forward(cls, text, x, w):
        s = text.shape
        kept = [n for n in s.saved() if n != "x"]
        values = cls.call(
            text, "layer", [(x, s.rows)] + list(zip(w.values(),
                                                    s.weights().values())),
            ["y"] + [n + "_" for n in kept],
            [s.rows] + [s.saved()[n] for n in kept])
        return values[0], {"x": x, **dict(zip(kept, values[1:]))}

    @classmethod
    def backward(cls, text, dy, w, saved):
        s = text.shape
        operands = [(dy, s.rows)]
        operands += zip(w.values(), s.weights().values())
        operands += [(saved[n], k) for n, k in s.saved().items()]
        values = cls.call(text, "layer_backward", operands,
                          ["dx"] + [f"d_{n}_" for n in s.weights()],
                          [s.rows, *s.weights().values()])
        return values[0], dict(zip(s.weights(), values[1:]))


def module(shape, style="flat"):
    """The text of the module; its entry point is @training_step, which returns
    the last layer's output, the gradient of x and those of all weights."""
    text = Text(shape)
    there, back = forward, backward
    if style == "calls":
        there, back = Calls.forward, Calls.backward
    prologue(text, "%input")
    text.emit("%x = tensor.collapse_shape %input [[0, 1], [2]] : "
              f"{shape.stream} into {shape.rows}")
    text.emit("%goal = tensor.collapse_shape %target [[0, 1], [2]] : "
              f"{shape.stream} into {shape.rows}")
    parameters = [("%arena", "!pol.arena"), ("%input", shape.stream),
                  ("%target", shape.stream)]
    x, layers = "%x", []
    for i in range(shape.layers):
        w = {n: f"%{n}_of_{i}" for n in shape.weights()}
        parameters += [(w[n], k) for n, k in shape.weights().items()]
        x, saved = there(text, x, w)
        layers.append((w, saved))
    gradient = text.elementwise(
        shape.rows, [x, "%goal"], text.alloc("%arena", shape.rows, "dy"),
        ["%s = arith.subf %a, %b : f32", "linalg.yield %s : f32"], "dy")
    found = []
    for w, saved in reversed(layers):
        gradient, gradients = back(text, gradient, w, saved)
        found = [*gradients.values(), *found]
    kinds = [shape.rows] * 2 + list(shape.weights().values()) * shape.layers
    text.emit(f"return {', '.join([x, gradient, *found])} : "
              f"{', '.join(kinds)}")
    main = function("training_step", "", parameters, kinds, text.lines)
    return (layer_functions(shape) + "\n" if style == "calls" else "") + main


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("layers", 12), ("batch", 2), ("sequence", 128),
                        ("width", 256), ("heads", 4), ("hidden", 1024)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--style", choices=["flat", "calls"], default="flat")
    parser.add_argument("--dynamic", action="store_true")
    given = vars(parser.parse_args())
    style, dynamic = given.pop("style"), given.pop("dynamic")
    shape = Shape(**given)
    if dynamic:
        shape.batch = shape.sequence = None
    print(module(shape, style), end="")


if __name__ == "__main__":
    main()
