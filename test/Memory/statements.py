"""The statements of random functions: each writes text and model alike."""

import dataclasses

import model
import prelude
from emit import Buffer, Entered, Function, Space

# A statement's name, and how often it is tried.
WEIGHTS = {"allocate": 5, "read": 5, "combine": 3, "elementwise": 2, "copy": 2,
           "view": 3, "select": 1, "kernel": 2, "frame": 4, "branch": 3,
           "switch": 1, "loop": 2, "carry": 1, "grow": 1, "repeat": 1,
           "decided": 1, "call": 5}


class Writer(Function):
    """Writes random statements. options: what the program may have."""

    def __init__(self, name, rng, features, options, callees=()):
        super().__init__(name, rng, features)
        self.options, self.callees = options, list(callees)

    # Choices

    def size(self):
        """A random expression for an extent."""
        rng = self.rng
        if not self.variables or rng.random() < 0.3:
            return ("const", rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 24]
                                        if rng.random() < 0.3 else
                                        [1, 3, 4, 8, 12, 20]))
        variable = rng.choice(self.variables)
        if self.options.counter_sizes and rng.random() < 0.3:
            counters = [k for scope in self.known for k in scope
                        if k[0] == "var" and k[1].startswith("%i")]
            if counters:
                self.features.add("size of a trip")
                variable = rng.choice(counters)
        kind = rng.randrange(8)
        small = ("const", rng.randint(1, 6))
        if kind == 0:
            return ("add", variable, small)
        if kind == 1:
            return ("mul", variable, ("const", rng.randint(2, 4)))
        if kind == 2:
            return ("ceildiv", variable, small)
        if kind == 3:
            return ("max", variable, rng.choice([small, *self.variables]))
        if kind == 4:
            return ("min", variable, rng.choice([small, *self.variables]))
        if kind == 5:
            return ("add", variable, rng.choice(self.variables))
        return variable

    def dims(self, rank=None):
        """Random extents, not too many elements."""
        rank = rank or self.rng.choice([1, 1, 2])
        dims = [self.size() for _ in range(rank)]
        if rank == 1 and self.variables and self.rng.random() < 0.15:
            dims = [("mul", self.rng.choice(self.variables),
                     self.rng.choice(self.variables))]
        return dims

    def pick(self, accept=lambda b: True):
        """A visible buffer, rather a young one."""
        choices = [b for b in self.visible_buffers() if accept(b)]
        if not choices:
            return None
        if self.rng.random() < 0.5:
            choices = choices[-4:]
        return self.rng.choice(choices)

    def pick_space(self, dims, leaves=False):
        static = all(d[0] == "const" for d in dims)
        choices = [s for s in self.visible_spaces() if self.can_allocate(
            s, static, leaves, self.options.unbounded)]
        if not choices:
            return None
        if self.rng.random() < 0.6:
            return choices[-1]
        return self.rng.choice(choices)

    def new_buffer(self, element=None, dims=None, leaves=False, filled=True):
        """A buffer from some visible space, or None."""
        dims = self.dims() if dims is None else dims
        space = self.pick_space(dims, leaves)
        if space is None:
            return None
        element = element or self.rng.choice(["f32", "f32", "f64", "i8", "bf16"])
        buffer = self.allocate(space, element, dims, leaves)
        if filled:
            self.fill(buffer)
        return buffer

    def show(self, buffer):
        self.buffers[-1].append(buffer)

    def flush(self):
        """Called where what was shown can be used."""

    def returned(self, choices):
        """Which buffers are returned in place of those."""
        return choices

    # Straight code

    def allocate_statement(self):
        late = self.rng.random() < 0.2
        buffer = self.new_buffer(filled=not late)
        if buffer is None:
            return
        if late:
            # Live from its first write only.
            self.features.add("written late")
            self.read_statement()
            self.combine_statement()
            self.fill(buffer)
        self.show(buffer)

    def read_statement(self):
        buffer = self.pick()
        if buffer is not None:
            self.mix(buffer)

    def combine_statement(self):
        target = self.pick(lambda b: b.writable)
        if target is None:
            return
        source = self.pick(lambda b: b.element == target.element
                           and b.rank == target.rank)
        self.step(source, target)

    def elementwise_statement(self):
        """A new buffer from another one, by linalg or a loop."""
        source = self.pick()
        if source is None:
            return
        target = self.new_buffer(source.element, source.dims, filled=False)
        if target is None:
            return
        salt = self.salted()
        ids = ", ".join(f"d{i}" for i in range(source.rank))
        plain = f"affine_map<({ids}) -> ({ids})>"
        kinds = ", ".join(["\"parallel\""] * source.rank)
        element = source.element
        same = self.pick(lambda b: b.element == element
                         and b.dims == source.dims) or source
        ins = [source, same]
        before, after, result = self.as_result(target)
        self.emit(f"{before}linalg.generic {{indexing_maps = [{plain}, {plain}, "
                  f"{plain}], iterator_types = [{kinds}]}}")
        self.emit(f"    ins({', '.join(b.name for b in ins)} : "
                  f"{', '.join(b.type for b in ins)}) "
                  f"outs({target.name} : {target.type}) {{")
        self.emit(f"^bb0(%x: {element}, %y: {element}, %z: {element}):")
        lines = [*prelude.decode(element, "%x", "%p", "x"),
                 *prelude.decode(element, "%y", "%q", "y"),
                 "%both = arith.subi %p, %q : i64",
                 *prelude.scramble("%both", salt, "%h", "h"),
                 *prelude.encode(element, "%h", "%r", "r"),
                 f"linalg.yield %r : {element}"]
        self.lines += ["  " + line for line in lines]
        self.emit("}" + after)
        self.features.add("linalg.generic")
        self.show(result)

    def as_result(self, *targets):
        """What stands before and behind an op that writes to targets, and what
        can be seen of it afterwards."""
        return "", "", targets[0]

    def copy_statement(self):
        source = self.pick()
        if source is None:
            return
        target = self.new_buffer(source.element, source.dims, filled=False)
        if target is None:
            return
        self.emit(f"memref.copy {source.name}, {target.name} : {source.type} "
                  f"to {target.type}")
        self.show(target)

    def view_statement(self):
        buffer = self.pick()
        if buffer is None:
            return
        kind = self.rng.choice(["part", "part", "collapse", "cast"])
        view = None
        if kind == "part":
            view = self._part(buffer)
        elif kind == "collapse" and buffer.rank == 2 and not buffer.layout:
            view = self._collapse(buffer)
        elif kind == "cast" and not buffer.layout and None not in buffer.shown:
            name = self.fresh("v")
            view = dataclasses.replace(buffer, name=name,
                                       shown=[None] * buffer.rank)
            self.emit(f"{name} = memref.cast {buffer.name} : {buffer.type} to "
                      f"{view.type}")
        if view is not None:
            self.features.add("view")
            self.show(view)

    def _part(self, buffer):
        """The first or the second half in each dimension."""
        if 0 in buffer.shown:
            return None  # MLIR does not infer the strides of such
        halves = [model.fold("ceildiv", d, ("const", 2)) for d in buffer.dims]
        sizes, offsets = [], []
        for extent, half in zip(buffer.dims, halves):
            size = self.index(half)
            sizes.append(size)
            offsets.append(self.constant(0))
            if self.rng.random() < 0.5:
                offsets[-1] = self.index(model.fold("sub", extent, half))
        ones = ", ".join("1" * buffer.rank)
        if buffer.layout:
            result = buffer.layout
        else:
            # Strides are static where inner extents are.
            strides, product = [], 1
            for shown in reversed(buffer.shown):
                strides.append("?" if product is None else str(product))
                product = (None if product is None or shown is None
                           else product * shown)
            result = f"strided<[{', '.join(reversed(strides))}], offset: ?>"
        name = self.fresh("v")
        view = dataclasses.replace(buffer, name=name, dims=halves,
                                   shown=[None] * buffer.rank, layout=result)
        self.emit(f"{name} = memref.subview {buffer.name}"
                  f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{ones}] : "
                  f"{buffer.type} to {view.type}")
        return view

    def _collapse(self, buffer):
        name = self.fresh("v")
        total = None
        if None not in buffer.shown:
            total = buffer.shown[0] * buffer.shown[1]
        view = dataclasses.replace(
            buffer, name=name, dims=[model.fold("mul", *buffer.dims)], shown=[total])
        self.emit(f"{name} = memref.collapse_shape {buffer.name} [[0, 1]] : "
                  f"{buffer.type} into {view.type}")
        return view

    def select_statement(self):
        one = self.pick()
        if one is None:
            return
        other = self.pick(lambda b: b.type == one.type and b.dims == one.dims
                          and b is not one)
        if other is None:
            return
        bit = self.next_bit()
        self.nodes.append(model.Decided([[], []]))
        name = self.fresh("v")
        self.emit(f"{name} = arith.select {bit}, {one.name}, {other.name} : "
                  f"{one.type}")
        self.features.add("select of buffers")
        self.show(self.alias(name, [one, other]))

    @staticmethod
    def alias(name, buffers):
        """What may be any of several buffers of one type."""
        return dataclasses.replace(
            buffers[0], name=name, level=max(b.level for b in buffers),
            own=all(b.own for b in buffers),
            stays=any(b.stays for b in buffers),
            writable=all(b.writable for b in buffers))

    def kernel_statement(self):
        source = self.pick(lambda b: b.element in prelude.FLOATS)
        if source is None:
            return
        target = self.new_buffer(source.element, source.dims, filled=False)
        if target is None:
            return
        kernel = self.rng.choice(["rms_norm", "layer_norm", "softmax"])
        sums = "f64" if source.element == "f64" else "f32"
        ins, kept = [source], []
        if kernel != "softmax":
            # No wider than sums are.
            weight = self.pick(lambda b: b.element in ("bf16", "f32", sums)
                               and b.dims == source.dims[-1:])
            if weight is not None:
                ins.append(weight)
            if self.rng.random() < 0.5:
                for _ in range(1 if kernel == "rms_norm" else 2):
                    kept.append(self.checkpoint(sums, source.dims[:-1]))
        line = (f"pol.{kernel} ins({', '.join(b.name for b in ins)} : "
                f"{', '.join(b.type for b in ins)}) outs({target.name} : "
                f"{target.type})")
        if kept and None not in kept:
            line += (f" checkpoints({', '.join(b.name for b in kept)} : "
                     f"{', '.join(b.type for b in kept)})")
        self.emit(line)
        self.features.add("kernel")
        self.show(target)
        if kept and None not in kept and source.rank == 2:
            for buffer in kept:
                self.show(buffer)

    def checkpoint(self, element, dims):
        space = self.pick_space(dims)
        return space and self.allocate(space, element, dims, False)

    def call_statement(self):
        callees = [c for c in self.callees if c.flags_needed <=
                   (0 if self.looping() else len(self.unused_flags))]
        if callees:
            self.rng.choice(callees).call(self)

    def looping(self):
        return any(e.kind in ("loop", "while") for e in self.path)


def open_frame(writer, space):
    """The space of a new frame, and what it enters."""
    node = model.Frame(space.root, [], [])
    name = writer.fresh("f")
    entered = Entered("frame", space.root, node)
    frame = Space(name, "!pol.frame", space.root, len(writer.path))
    return entered, frame


def parameter_buffer(name, element, rank, writable=False, shown=None,
                     layout="", container="memref"):
    """A buffer that a function is given."""
    dims = [("dim", name, i) for i in range(rank)]
    if shown:
        dims = [("const", s) if s is not None else d
                for s, d in zip(shown, dims)]
    return Buffer(name, element, dims, -1, own=False, layout=layout,
                  shown=shown or [None] * rank, writable=writable,
                  container=container)
