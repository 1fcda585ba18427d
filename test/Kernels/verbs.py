"""Functions that reach a kernel through verbs: what it needs is described by
the kernel and carved from an arena, and gradients go to shadows."""

import ctypes
import dataclasses

import numpy as np

from driver import Arena
from ops import BACKWARD, Function, members
from setup import dtypes

# Which gradients a scratch buffer is for; without them it is not described.
USED_FOR = {"dweight_partials": {"dweight"}, "dbias_partials": {"dbias"},
            "delta": {"dq", "dk", "dbias"},
            "workspace": {"o", "dq", "dk", "dv"}}
COTANGENTS = ("dy", "dout")


class Carved:
    """An array that a call left in an arena."""

    def __init__(self, arena, dtype, descriptor):
        self.dtype = dtype
        kind = dtypes.STORED[dtype]
        rank = (len(descriptor) - 3) // 2
        shape = tuple(descriptor[3:3 + rank])
        strides = [s * kind.itemsize for s in descriptor[3 + rank:]]
        begin = (descriptor[1] + descriptor[2] * kind.itemsize
                 - arena.memory.ctypes.data)
        self.begin, self.end = begin, begin
        if 0 in shape:
            self.view = np.zeros(shape, kind)
            return
        self.end += int(np.prod(shape)) * kind.itemsize
        # NumPy refuses what is not within the arena's memory.
        self.view = np.ndarray(shape, kind, arena.memory.data, begin,
                               strides).copy()

    def values(self):
        return dtypes.decode(self.view, self.dtype)

    def bytes(self):
        return self.view.tobytes()


@dataclasses.dataclass
class VerbFunction(Function):
    """A public function on tensors that is one kernel, by verbs, and returns
    what it wrote. Make one with `by_verbs`.

    pairs: the inputs that are duplicated, and where their shadow comes from:
      "given", an argument, or "carved", of a pol.alloc. What is no gradient's
      input has a shadow that nobody looks at, and dy and dout a primal.
    form: "apply", or "call": descriptions, frame and call one by one.
    dropped: what is described and then left out of the call.
    """

    pairs: dict = dataclasses.field(default_factory=dict)
    form: str = "apply"
    dropped: tuple = ()
    arena: object = None

    def destinations(self):
        return [n for n in super().destinations() if n not in self.dropped]

    def inputs(self):
        """What the verb is given, in order; not all of it is there."""
        return members(self.op, "ins") + (
            members(self.op, "checkpoints") if self.op in BACKWARD else [])

    def other_half(self, name):
        """The argument that is the other half of a pair: the gradient's
        destination, or what is not to be read nor written."""
        if name in COTANGENTS:
            return f"{name}_primal"
        gradient = f"d{name}"
        return (gradient if gradient in members(self.op, "outs")
                else f"{name}_shadow")

    def parameters(self):
        names = [n for n in self.inputs() if n in self.elements]
        return names + [self.other_half(n) for n, whose in self.pairs.items()
                        if whose == "given"]

    def written(self):
        return set(self.destinations()) & set(self.parameters())

    def scratch(self):
        return []

    # --------------------------------------------------------------------------
    # Calls
    # --------------------------------------------------------------------------

    def extra_shapes(self, inputs):
        """Of arguments that no operand is."""
        return {self.other_half(n): np.shape(inputs[n]) for n in self.pairs}

    def spaces(self, shapes):
        """An arena that has room for what a kernel describes, and no more."""
        names = [n for n in super().destinations()
                 if n not in self.parameters()]
        names += [n for n in Function.scratch(self)]
        names += [self.other_half(n) for n, whose in self.pairs.items()
                  if whose == "carved" and self.other_half(n) not in names]
        sizes = [int(np.prod(shapes[self.like(n)]))
                 * dtypes.STORED[self.elements[n]].itemsize for n in names]
        self.arena = Arena(sum(-(-size // 256) * 256 for size in sizes) or 256)
        return [self.arena]

    def found(self, name, descriptor):
        """A result that is no argument."""
        return Carved(self.arena, self.elements[name], descriptor)

    def complaints(self, got):
        """What is wrong with where results lie, and what else was carved."""
        carved = sorted((a.begin, a.end, name) for name, a in got.items()
                        if isinstance(a, Carved) and a.end > a.begin)
        for (_, end, first), (begin, _, second) in zip(carved, carved[1:]):
            if begin < end:
                yield f"{first} and {second} overlap"
        kept = max((end for _, end, _ in carved), default=0)
        # What is not returned is carved too, and stays.
        if not self.dropped and not any(
                w == "carved" and self.other_half(n) not in self.destinations()
                for n, w in self.pairs.items()):
            if self.arena.offset != kept:
                yield (f"expected {kept} bytes of the arena to be taken, but "
                       f"got {self.arena.offset}")

    # --------------------------------------------------------------------------
    # Text
    # --------------------------------------------------------------------------

    def undef(self, name):
        """The type of what is to be allocated."""
        return self.types()[name].replace("tensor<", "!pol.undef<", 1)

    def pair_lines(self, name, types):
        """The pair of a duplicated input: its type, and how it is made."""
        other = self.other_half(name)
        pair = f"!pol.duplicated<{types[name]}, {types[other]}>"
        primal, shadow = name, other
        if name in COTANGENTS:
            primal, shadow = other, name
            pair = f"!pol.duplicated<{types[other]}, {types[name]}>"
        if self.pairs[name] == "given":
            return pair, [f"%p_{name} = pol.duplicated %{primal}, %{shadow} : "
                          f"{types[primal]}, {types[shadow]}"]
        undef = f"!pol.duplicated<{types[name]}, {self.undef(other)}>"
        return pair, [
            f"%u_{name} = pol.duplicated %{name} : {types[name]} -> {undef}",
            f"%p_{name} = pol.alloc %arena, %u_{name} : !pol.arena, {undef} -> "
            f"{pair}"]

    def verb_operands(self, types):
        """The operands as text, their types as text, and lines before them."""
        operands, given, lines = [], [], []
        for name in self.inputs():
            if name not in self.elements:
                operands.append("none")
            elif name in self.pairs:
                pair, made = self.pair_lines(name, types)
                operands.append(f"%p_{name}")
                given.append(pair)
                lines += made
            else:
                operands.append(f"%{name}")
                given.append(types[name])
        while operands[-1] == "none":
            operands.pop()
        return f"({', '.join(operands)})", f"({', '.join(given)})", lines

    def text(self):
        types = self.types()
        operands, given, lines = self.verb_operands(types)
        outs = self.destinations()
        results = ", ".join(types[n] for n in outs)
        count = f":{len(outs)}" if len(outs) > 1 else ""
        options = f" {{{self.attributes}}}" if self.attributes else ""
        if self.form == "apply":
            lines.append(f'%r{count} = pol.apply "pol.{self.op}"{operands}'
                         f"{options} in %arena : {given}, !pol.arena -> "
                         f"{results}")
        else:
            lines += self.call_lines(operands, given, options, types, results)
        values = ", ".join(f"%r#{i}" for i in range(len(outs)))
        if len(outs) == 1:
            values = "%r"
        parameters = "".join(f", %{n}: {types[n]}" for n in self.parameters())
        body = "\n  ".join(lines)
        return (f"func.func @{self.name}(%arena: !pol.arena{parameters}) -> "
                f"({results}) {{\n  {body}\n  return {values} : {results}\n"
                "}\n")

    def call_lines(self, operands, given, options, types, results):
        """Outputs and checkpoints of the arena, scratch of a frame, and the
        call with those that are wanted."""
        verb = f'"pol.{self.op}"{operands}{options}'
        before, inside, call, bundles = [], [], "", ""
        shadows = {self.other_half(n) for n in self.pairs}
        for group in ("outs", "checkpoints", "scratch"):
            names = [n for n in members(self.op, group)
                     if n in self.elements and n not in shadows]
            if not names or (group, self.op in BACKWARD) == ("checkpoints",
                                                             True):
                continue
            clause = "outputs" if group == "outs" else group
            space = ("%frame", "!pol.frame") if group == "scratch" else (
                "%arena", "!pol.arena")
            lines = inside if group == "scratch" else before
            whole = bundle_type(names, types)
            lines.append(f"%{group} = pol.{clause} {verb} in {space[0]} : "
                         f"{given}, {space[1]} -> {whole}")
            kept = [n for n in names if n not in self.dropped]
            if kept != names:
                lines += [f'%g_{n} = pol.get %{group}, "{n}" : {whole}'
                          for n in kept]
                fields = ", ".join(f"{n} = %g_{n} : {types[n]}" for n in kept)
                lines.append(f"%some_{group} = pol.bundle {{{fields}}}")
            if kept:
                value = f"%{group}" if kept == names else f"%some_{group}"
                call += f" {clause}({value})"
                bundles += f", {bundle_type(kept, types)}"
        count = len(self.destinations())
        made = "%c" + (f":{count}" if count > 1 else "")
        values = (", ".join(f"%c#{i}" for i in range(count)) if count > 1
                  else "%c")
        return [*before,
                f"%r{made[2:]} = pol.frame on %arena : !pol.arena -> {results}"
                " {", "^bb0(%frame: !pol.frame):", *inside,
                f"{made} = pol.call {verb}{call} : {given}{bundles} -> "
                f"{results}", f"pol.yield {values} : {results}", "}"]


def bundle_type(names, types):
    fields = ", ".join(f"{n}: {types[n]}" for n in names)
    return f"!pol.bundle<{{{fields}}}>"


def by_verbs(function, pairs=None, form="apply", dropped=()):
    """A kernel by verbs, of a function that is the op: without what is not
    described where some inputs are duplicated."""
    pairs = pairs or {}
    op = function.op
    gradients = {f"d{n}" for n in pairs} & set(members(op, "outs"))
    elements = dict(function.elements)
    if op in BACKWARD and gradients:
        for name in set(members(op, "outs")) - gradients:
            elements.pop(name, None)
    left = set(elements) & set(members(op, "outs")) - set(dropped)
    for name, used_for in USED_FOR.items():
        if not used_for & left:
            elements.pop(name, None)
    made = VerbFunction(function.name, op, elements, dict(function.ranks),
                        function.attributes, "tensor", {}, dict(pairs), form,
                        tuple(dropped))
    for name in pairs:
        other = made.other_half(name)
        made.elements.setdefault(other, elements[name])
        made.ranks.setdefault(other, function.ranks[name])
    return made
