"""Random programs: functions on memrefs that call each other.

A seed is a program. What it computes is a function of its arguments alone: it
reads nothing that it has not written, and mixes what it reads, by exact
arithmetic, into sums that it is given.
"""

import dataclasses
import random

import model
import prelude
from control import Body, Callee
from emit import Space
from statements import parameter_buffer
from tensors import TensorBody

ROOT = "!ROOT"  # stands for the type of the space arguments


@dataclasses.dataclass
class Options:
    """unbounded: allocations that no footprint covers. counter_sizes: sizes and
    conditions that differ by trip. spaces: space arguments. tensors: in place of memrefs."""

    unbounded: bool = False
    counter_sizes: bool = False
    spaces: int = 1
    tensors: bool = False

    def body(self, name, rng, features, callees):
        kind = TensorBody if self.tensors else Body
        return kind(name, rng, features, self, callees)

    @property
    def container(self):
        return "tensor" if self.tensors else "memref"


@dataclasses.dataclass
class Argument:
    """An argument of an entry point. kind: space, out, tape, position, index,
    input, destination or flag; shape has None for an extent that may vary."""

    name: str
    kind: str
    element: str = ""
    shape: tuple = ()


@dataclasses.dataclass
class Program:
    """name: of its entry point. results: the element and rank of each memref
    that it returns."""

    seed: int
    name: str
    functions: str
    arguments: list
    results: list
    nodes: list
    flags: list
    features: set
    options: Options

    def text(self, root="!pol.arena"):
        return self.functions.replace(ROOT, root)

    def module(self, root="!pol.arena"):
        return module([self], root)

    @property
    def has_footprint(self):
        return "unbounded" not in self.features

    def footprint_parameters(self):
        """What the footprint function takes, as variables of the model."""
        keys = []
        for argument in self.arguments:
            if argument.kind == "index":
                keys.append(("var", argument.name))
            keys += [("dim", argument.name, i)
                     for i, s in enumerate(argument.shape) if s is None]
        return keys

    def worst(self, root, values, effort=None):
        """The footprint of a root, and the tape and flags that need it."""
        return model.worst_case(self.nodes, root, values, self.options.spaces,
                                self.flags, effort)

    def run(self, values, tape, flags):
        return model.Run(self.nodes, values, self.options.spaces, tape, flags)


def module(programs, root="!pol.arena"):
    """The text of a module of programs, whose spaces are of that type."""
    text = "\n".join(p.text(root) for p in programs)
    return prelude.prelude(text) + "\n" + text


_VIEW = "strided<[{}], offset: ?>"


def _callee(name, rng, features, options, callees):
    body = options.body(name, rng, features, callees)
    body.budget = rng.randint(4, 14)
    kind = rng.choice([ROOT, ROOT, "!pol.frame", "!pol.frame", None])
    space = None
    if kind:
        space = Space("%s", kind, 0, -1)
        body.parameter("%s", kind)
        body.spaces[0].append(space)
    _common(body)
    indices = [f"%size{i}" for i in range(rng.randint(0, 2))]
    _indices(body, indices)
    buffers = []
    for i in range(rng.randint(0 if kind else 1, 2)):
        element, rank = rng.choice(["f32", "f64", "bf16"]), rng.choice([1, 2])
        writable = rng.random() < 0.5 and not options.tensors
        layout = _VIEW.format(", ".join("?" * rank))
        buffer = parameter_buffer(f"%x{i}", element, rank, writable=writable,
                                  layout="" if options.tensors else layout,
                                  container=options.container)
        buffers.append((buffer.name, (element, rank, writable)))
        body.parameter(buffer.name, buffer.type)
        body.show(buffer)
        body.variables.append(buffer.dims[0])
    flags = ["%flag0"] if rng.random() < 0.2 else []
    for flag in flags:
        body.parameter(flag, "i1")
    body.unused_flags = list(flags)
    if not kind:
        # Without a space there is nothing to allocate from.
        for buffer in body.visible_buffers():
            body.mix(buffer)
        body.combine_statement()
    else:
        body.statements(body.budget)
    choices = [b for b in body.buffers[0] if b.own and not b.layout
               and not b.stays and b.level == -1]
    result = None
    if choices and rng.random() < 0.7:
        result, = body.returned([rng.choice(choices)])
    body.emit(f"return {result.name} : {result.type}" if result else "return")
    text = body.text("private ", [result.type] if result else ())
    return Callee(body, text, space, indices, buffers, flags, result)


def _common(body):
    for name, kind in (("%out", "memref<?xi64>"), ("%tape", "memref<?xi8>"),
                       ("%position", "memref<1xi64>")):
        body.parameter(name, kind)


def _indices(body, names):
    for name in names:
        body.parameter(name, "index")
        body.known[0][("var", name)] = name
        body.variables.append(("var", name))


def _entry(name, rng, features, options, callees):
    body = options.body(name, rng, features, callees)
    body.budget = rng.randint(15, 40)
    arguments = []
    for i in range(options.spaces):
        body.parameter(f"%s{i}", ROOT)
        body.spaces[0].append(Space(f"%s{i}", ROOT, i, -1))
        arguments.append(Argument(f"%s{i}", "space"))
    _common(body)
    arguments += [Argument("%out", "out", "i64", (None,)),
                  Argument("%tape", "tape", "i8", (None,)),
                  Argument("%position", "position", "i64", (1,))]
    indices = [f"%size{i}" for i in range(rng.randint(1, 3))]
    _indices(body, indices)
    arguments += [Argument(n, "index") for n in indices]
    destinations = []
    for i in range(rng.randint(0, 3)):
        element = rng.choice(["f32", "f64", "i8", "bf16"])
        shape = tuple(rng.choice([None, None, 4, 6])
                      for _ in range(rng.choice([1, 2])))
        is_input = rng.random() < 0.5
        buffer = parameter_buffer(
            f"%x{i}", element, len(shape), writable=not is_input,
            shown=list(shape), container=options.container)
        body.parameter(buffer.name, buffer.type)
        arguments.append(Argument(
            buffer.name, "input" if is_input else "destination", element,
            shape))
        if not is_input:
            features.add("destination")
            destinations.append(buffer)
        if is_input or not options.tensors:
            body.show(buffer)
        if not is_input and not options.tensors:
            body.fill(buffer)
        body.variables += [d for d in buffer.dims if d[0] == "dim"]
    flags = [f"%flag{i}" for i in range(rng.randint(0, 3))]
    for flag in flags:
        body.parameter(flag, "i1")
        arguments.append(Argument(flag, "flag"))
    body.unused_flags = list(flags)
    body.statements(body.budget)
    for buffer in body.buffers[0]:
        body.mix(buffer)
    choices = [b for b in body.buffers[0] if b.own and not b.layout
               and not b.stays and b.level == -1]
    results = body.returned(
        rng.sample(choices, min(len(choices), rng.randint(0, 2))))
    if results:
        features.add("memory returned")
    if options.tensors:
        # A destination that is used before may be copied to memory that is not
        # the caller's.
        for buffer in destinations:
            body.fill(buffer)
        results += destinations
    if results:
        body.emit(f"return {', '.join(b.name for b in results)} : "
                  f"{', '.join(b.type for b in results)}")
    else:
        body.emit("return")
    return body, arguments, flags, results


def generate(seed):
    rng = random.Random(seed)
    options = Options(unbounded=rng.random() < 0.06,
                      counter_sizes=rng.random() < 0.08,
                      spaces=2 if rng.random() < 0.1 else 1,
                      tensors=rng.random() < 0.2)
    name = f"p{seed}"
    callees = []
    for i in range(rng.choice([0, 1, 2, 3, 4, 4])):
        callees.append(_callee(f"{name}_f{i}", rng, set(), options, callees))
    features = {"on tensors" if options.tensors else "on memrefs"}
    body, arguments, flags, results = _entry(name, rng, features, options,
                                             callees)
    if options.spaces > 1:
        features.add("two spaces")
    text = "\n".join(c.text for c in callees)
    text += body.text("", [b.type for b in results])
    return Program(seed, name, text, arguments,
                   [(b.element, b.rank) for b in results], body.top, flags,
                   features, options)
