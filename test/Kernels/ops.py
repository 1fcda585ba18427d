"""The text of functions that are one kernel and no more, from one table."""

import dataclasses

# The operands of each kernel by group, in order; those that end in "?" are
# optional. A backward kernel reads its checkpoints.
FORWARD = {
    "rms_norm": {"ins": ["x", "weight?"], "outs": ["y"],
                 "checkpoints": ["rstd?"]},
    "layer_norm": {"ins": ["x", "weight?", "bias?"], "outs": ["y"],
                   "checkpoints": ["mean?", "rstd?"]},
    "softmax": {"ins": ["x"], "outs": ["y"]},
    "attention": {"ins": ["q", "k", "v", "bias?", "input_pos?", "q_lengths?",
                          "k_lengths?"],
                  "outs": ["o"], "checkpoints": ["max?", "sum?"],
                  "scratch": ["tiles?", "workspace?"]},
    "decode_attention": {"ins": ["q", "k", "v", "block_table?", "k_lengths?"],
                         "outs": ["o"], "checkpoints": ["max?", "sum?"],
                         "scratch": ["partial_o", "partial_max",
                                     "partial_sum"]},
}
BACKWARD = {
    "rms_norm_grad": {"ins": ["x", "dy", "weight?"], "checkpoints": ["rstd"],
                      "outs": ["dx?", "dweight?"],
                      "scratch": ["dweight_partials?"]},
    "layer_norm_grad": {"ins": ["x", "dy", "weight?", "bias?"],
                        "checkpoints": ["mean", "rstd"],
                        "outs": ["dx?", "dweight?", "dbias?"],
                        "scratch": ["dweight_partials?", "dbias_partials?"]},
    "softmax_grad": {"ins": ["y", "dy", "x?"], "outs": ["dx?"]},
    "attention_grad": {"ins": ["q", "k", "v", "o", "dout", "bias?",
                               "input_pos?", "q_lengths?", "k_lengths?"],
                       "checkpoints": ["max", "sum"],
                       "outs": ["dq?", "dk?", "dv?", "dbias?"],
                       "scratch": ["delta?", "capture_sums?", "tiles?",
                                   "key_tiles?", "workspace?"]},
}
OPERANDS = {**FORWARD, **BACKWARD}


def groups(op):
    """The groups of operands in the order in which they are written."""
    order = (("ins", "outs", "checkpoints", "scratch") if op in FORWARD else
             ("ins", "checkpoints", "outs", "scratch"))
    return [g for g in order if g in OPERANDS[op]]


def members(op, group):
    return [name.rstrip("?") for name in OPERANDS[op].get(group, [])]


def destinations(op):
    """The operands that are written and have results, in order."""
    names = members(op, "outs")
    return names + (members(op, "checkpoints") if op in FORWARD else [])


def mlir_type(kind, element, extents):
    """Of an array; kind: tensor, memref or strided; extents: how many dynamic
    ones, or each of them, None for a dynamic one."""
    if element == "index" and not extents:
        return "index"
    if isinstance(extents, int):
        extents = (None,) * extents
    dims = "".join(f"{'?' if d is None else d}x" for d in extents)
    rank = len(extents)
    if kind == "strided" and rank:
        strides = ", ".join("?" * rank)
        return f"memref<{dims}{element}, strided<[{strides}], offset: ?>>"
    return f"{'memref' if kind == 'strided' else kind}<{dims}{element}>"


def op_text(op, types, attributes="", alias=None, results=(), after=None,
            regions=""):
    """The op with the operands that `types` has. An operand is the value of its
    own name, or of that in `alias`.

    results: operands that it has a result for.
    after: text that follows a group of operands.
    """
    alias, after = alias or {}, after or {}
    parts = [f"pol.{op}"]
    for group in groups(op):
        operands, missing = [], False
        for name in OPERANDS[op][group]:
            optional, name = name.endswith("?"), name.rstrip("?")
            if name not in types:
                missing = True
                continue
            value = f"%{alias.get(name, name)}"
            # By name where an earlier optional operand is missing.
            operands.append((f"{name} = " if optional and missing else "")
                            + value)
        if operands:
            given = ", ".join(types[n] for n in members(op, group)
                              if n in types)
            parts.append(f"{group}({', '.join(operands)} : {given})")
        if after.get(group):
            parts.append(after[group])
    if regions:
        parts.append(regions)
    if attributes:
        parts.append(f"{{{attributes}}}")
    if results:
        parts.append("-> " + ", ".join(types[n] for n in results))
    return " ".join(parts)


@dataclasses.dataclass
class Function:
    """A public function that is one op.

    elements: the element type of each operand that is there.
    ranks: their ranks, or extents as for `mlir_type`.
    kind: "tensor", "memref" or "strided": what its arguments are.
    alias: operands that are another operand's value.
    """

    name: str
    op: str
    elements: dict
    ranks: dict
    attributes: str = ""
    kind: str = "memref"
    alias: dict = dataclasses.field(default_factory=dict)

    def types(self):
        # What a kernel works in is a whole block of memory.
        plain = {"workspace": "memref" if self.kind == "strided" else self.kind}
        return {name: mlir_type(plain.get(name, self.kind), element,
                                self.ranks.get(name, 0))
                for name, element in self.elements.items()}

    def like(self, name):
        """Whose shape an operand has, among those of a call."""
        is_of_gradient = name == "workspace" and self.op == "attention_grad"
        return "grad_workspace" if is_of_gradient else name

    def operands(self):
        """In order."""
        return [name for group in groups(self.op)
                for name in members(self.op, group) if name in self.elements]

    def is_scalar(self, name):
        """Whether an argument is a number and no array."""
        return self.elements[name] == "index"

    def parameters(self):
        return [name for name in self.operands() if name not in self.alias]

    def rank(self, name):
        extents = self.ranks[name]
        return extents if isinstance(extents, int) else len(extents)

    def spaces(self, _shapes):
        """The spaces that it is called with, before all else. shapes: of what
        it writes."""
        return []

    def results(self):
        """What to look at after a call; a function on tensors returns it."""
        return self.destinations()

    def written(self):
        """The arguments that a call may change."""
        return {self.alias.get(name, name)
                for name in self.destinations() + self.scratch()}

    def destinations(self):
        return [n for n in destinations(self.op) if n in self.elements]

    def scratch(self):
        return [n for n in members(self.op, "scratch") if n in self.elements]

    def op_text(self, results):
        return op_text(self.op, self.types(), self.attributes, self.alias,
                       results)

    def text(self):
        types = self.types()
        parameters = ", ".join(f"%{n}: {types[n]}" for n in self.parameters())
        tensors = self.kind == "tensor"
        outs = self.destinations()
        op = self.op_text(outs if tensors else ())
        if not tensors:
            return (f"func.func @{self.name}({parameters}) {{\n  {op}\n"
                    "  return\n}\n")
        given = ", ".join(types[n] for n in outs)
        values = ", ".join(f"%r#{i}" for i in range(len(outs)))
        if len(outs) == 1:
            values = "%r"
        return (f"func.func @{self.name}({parameters}) -> ({given}) {{\n"
                f"  %r{f':{len(outs)}' if len(outs) > 1 else ''} = {op}\n"
                f"  return {values} : {given}\n}}\n")
