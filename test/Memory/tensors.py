"""Statements of random functions on tensors, whose memory is chosen by
bufferization in place of what is allocated."""

import dataclasses

import model
import prelude
from control import Body
from emit import Entered
from statements import WEIGHTS, open_frame


class TensorBody(Body):
    """A value is written once: what writes to a tensor gives another value, and
    only what belongs to the same block is written."""

    container = "tensor"
    weights = {**{n: WEIGHTS[n] for n in (
        "allocate", "read", "combine", "elementwise", "view", "kernel", "frame",
        "branch", "switch", "loop", "decided", "call")}, "apply": 4,
        "iterate": 2}

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.unused = []

    def show(self, buffer):
        super().show(buffer)
        self.unused.append(buffer)

    def flush(self):
        # Values that nothing uses are removed with their memory.
        for buffer in self.unused:
            self.mix(buffer)
        self.unused = []

    def returned(self, choices):
        """New buffers in place of what would be returned, which bufferization
        may have copied to memory that is not the caller's."""
        returned = []
        for chosen in choices:
            new = self.allocate(self.visible_spaces()[0], chosen.element, chosen.dims, True)
            self.fill(new)
            self.step(chosen, new)
            returned.append(new)
        return returned

    def as_view(self, buffer):
        wanted = prelude.tensor_type(buffer.element, buffer.rank)
        if buffer.type == wanted:
            return buffer.name
        name = self.fresh("v")
        self.emit(f"{name} = tensor.cast {buffer.name} : {buffer.type} to "
                  f"{wanted}")
        return name

    def write(self, kind, buffer, before=""):
        """buffer is what the function returns from here on."""
        view = prelude.tensor_type(buffer.element, buffer.rank)
        given = [g for g in (before, self.as_view(buffer)) if g]
        salt, name = self.salted(), self.fresh("w")
        self.emit(f"{name} = func.call "
                  f"{prelude.name(kind, buffer.element, buffer.rank)}("
                  f"{', '.join([*given, salt])}) : ("
                  f"{', '.join([view] * len(given) + ['i64'])}) -> {view}")
        if buffer.type != view:
            inner, name = name, self.fresh("v")
            self.emit(f"{name} = tensor.cast {inner} : {view} to {buffer.type}")
        buffer.name = name

    def fill(self, buffer):
        self.write("tfill", buffer)

    def step(self, source, target):
        self.write("tstep", target, before=self.as_view(source))

    def mix(self, buffer):
        view = prelude.tensor_type(buffer.element, buffer.rank)
        mine, salt = self.as_view(buffer), self.salted()
        slot = self.constant(self.rng.randrange(16))
        self.emit(f"func.call {prelude.name('tmix', buffer.element, buffer.rank)}"
                  f"({mine}, %out, {slot}, {salt}) : ({view}, memref<?xi64>, "
                  "index, i64) -> ()")

    def as_result(self, *targets):
        names = [self.fresh("w") for _ in targets]
        after = " -> " + ", ".join(t.type for t in targets)
        return (f"{', '.join(names)} = ", after,
                dataclasses.replace(targets[0], name=names[0]))

    def combine_statement(self):
        mine = [b for b in self.buffers[-1] if b.writable]
        if not mine:
            return
        target = self.rng.choice(mine)
        source = self.pick(lambda b: b.element == target.element
                           and b.dims == target.dims and b is not target)
        if source is not None:
            self.step(source, target)

    def view_statement(self):
        buffer = self.pick()
        if buffer is None or 0 in buffer.shown:
            return
        if self.rng.random() < 0.3 and buffer.rank == 2:
            view = self._collapse_tensor(buffer)
        else:
            view = self._slice(buffer)
        self.features.add("view")
        self.show(view)

    def _slice(self, buffer):
        halves = [model.fold("ceildiv", d, ("const", 2)) for d in buffer.dims]
        sizes = ", ".join(self.index(h) for h in halves)
        offsets = ", ".join(self.index(model.fold("sub", d, h))
                            for d, h in zip(buffer.dims, halves))
        view = dataclasses.replace(
            buffer, name=self.fresh("v"), dims=halves, writable=False,
            shown=[None] * buffer.rank)
        ones = ", ".join("1" * buffer.rank)
        self.emit(f"{view.name} = tensor.extract_slice {buffer.name}[{offsets}] "
                  f"[{sizes}] [{ones}] : {buffer.type} to {view.type}")
        # Where it is returned, or goes out of its block, it is copied to
        # memory that nobody has asked for.
        view.stays = True
        return view

    def _collapse_tensor(self, buffer):
        total = None
        if None not in buffer.shown:
            total = buffer.shown[0] * buffer.shown[1]
        view = dataclasses.replace(
            buffer, name=self.fresh("v"), shown=[total], writable=False,
            dims=[model.fold("mul", *buffer.dims)], stays=True)
        self.emit(f"{view.name} = tensor.collapse_shape {buffer.name} [[0, 1]] :"
                  f" {buffer.type} into {view.type}")
        return view

    def kernel_statement(self):
        source = self.pick(lambda b: b.element in prelude.FLOATS)
        if source is None:
            return
        target = self.new_buffer(source.element, source.dims, filled=False)
        if target is None:
            return
        before, after, result = self.as_result(target)
        self.emit(f"{before}pol.{self.rng.choice(['rms_norm', 'softmax'])} "
                  f"ins({source.name} : {source.type}) outs({target.name} : "
                  f"{target.type}){after}")
        self.features.add("kernel")
        self.show(result)

    def applied(self, name, operands, space, results):
        """pol.apply: its results, allocated from the space."""
        allocated = []
        self.note_use(space)
        for element, dims in results:
            self.nodes.append(model.Alloc(
                space.root, dims, prelude.ELEMENTS[element][0]))
            source = operands[0]
            shown = source.shown[1:]
            if dims == source.dims[:len(dims)]:
                shown = source.shown[:len(dims)]
            allocated.append(dataclasses.replace(
                source, name=self.fresh("y"), element=element, dims=dims,
                level=space.level, own=True, stays=False, writable=True,
                shown=shown))
        names = ", ".join(b.name if b else "none" for b in operands)
        self.emit(f"{', '.join(b.name for b in allocated)} = pol.apply "
                  f"\"pol.{name}\"({names}) in {space.name} : "
                  f"({', '.join(b.type for b in operands if b)}), "
                  f"{space.type} -> {', '.join(b.type for b in allocated)}")
        return allocated

    def apply_statement(self):
        """A norm, and perhaps its gradient, whose scratch is in a frame."""
        source = self.pick(lambda b: b.element == "f32" and b.rank == 2
                           and not b.stays)
        spaces = [s for s in self.visible_spaces()
                  if not any(e.kind == "frame" and e.root == s.root
                             for e in self.path[s.level + 1:])
                  and not self.in_decided_loop(s.root)]
        if source is None or not spaces:
            return
        space = self.rng.choice(spaces)
        weight = self.pick(lambda b: b.element in ("f32", "bf16")
                           and b.dims == source.dims[1:])
        operands = [source] + ([weight] if weight else [])
        y, rstd = self.applied("rms_norm", operands, space, [
            ("f32", source.dims), ("f32", source.dims[:1])])
        self.features.add("pol.apply")
        self.show(y)
        self.show(rstd)
        if self.rng.random() < 0.5:
            return
        dy = self.pick(lambda b: b.element == "f32" and b.dims == source.dims
                       and b.type == source.type and b is not source) or y
        operands = [source, dy, weight, rstd]
        results = [("f32", source.dims)]
        if weight:
            results.append((weight.element, source.dims[1:]))
        gradients = self.applied("rms_norm_grad", operands, space, results)
        if weight:
            entered, _ = open_frame(self, space)
            rows, block = source.dims[0], ("const", 64)
            entered.node.body.append(model.Alloc(space.root, [
                model.fold("ceildiv", rows, block), source.dims[1]], 4))
            self.nodes.append(entered.node)
            self.features.add("scratch of a kernel")
        for buffer in gradients:
            self.show(buffer)

    def iterate_statement(self):
        """A loop that writes to one tensor over and over."""
        mine = [b for b in self.buffers[-1] if b.writable]
        if not mine:
            return
        target = self.rng.choice(mine)
        text, node = self.bounds()
        self.nodes.append(node)
        inner = dataclasses.replace(target, name=self.fresh("q"))
        header = f"{text} iter_args({inner.name} = {target.name})"

        def write():
            self.show(inner)
            self.some_statements()
            self.fill(inner)
            self.emit(f"scf.yield {inner.name} : {inner.type}")

        lines = self.loop_body(node, write)
        target.name = self.fresh("r")
        self.emit(f"{target.name} = {header} -> ({target.type}) {{")
        self.lines += lines
        self.emit("}")
        self.features.add("buffers carried by a loop")

    def region(self, entered: Entered, write, nodes, indent="  "):
        """What a region writes to outer tensors stays in it."""
        outer = [[dataclasses.replace(b) for b in scope]
                 for scope in self.buffers]
        unused, self.unused = self.unused, []
        lines = super().region(entered, write, nodes, indent)
        for scope, before in zip(self.buffers, outer):
            for buffer, was in zip(scope, before):
                buffer.name = was.name
        self.unused = unused
        return lines
