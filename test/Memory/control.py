"""Frames, branches, loops and calls of random functions."""

import dataclasses
import operator

import model
from emit import Entered, Space
from statements import WEIGHTS, Writer, open_frame

_PREDICATES = {"slt": operator.lt, "sge": operator.ge, "eq": operator.eq,
               "ne": operator.ne}


class Body(Writer):
    """All statements. budget: how many more the function may have."""

    budget = 30
    weights = WEIGHTS

    def statements(self, count):
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            names = [n for n in self.weights
                     if len(self.path) < 5 or n not in (
                         "frame", "branch", "switch", "loop", "carry", "grow",
                         "repeat", "decided", "iterate")]
            weights = [self.weights[n] for n in names]
            name = self.rng.choices(names, weights)[0]
            getattr(self, f"{name}_statement")()
            self.flush()

    def some_statements(self):
        self.statements(self.rng.randint(1, 6))
        if self.rng.random() < 0.3:
            for buffer in self.buffers[-1]:
                if self.rng.random() < 0.5:
                    self.mix(buffer)

    def may_leave(self, buffer, frame_level=None):
        return not buffer.stays and (frame_level is None
                                     or buffer.level < frame_level)

    # Frames

    def frame_statement(self):
        spaces = self.visible_spaces()
        space = spaces[-1]
        if self.rng.random() < 0.3:
            space = self.rng.choice(spaces)
        entered, frame = open_frame(self, space)
        if any(e.kind == "frame" for e in self.path):
            self.features.add("nested frames")
        self.features.add("frame on a frame" if space.type == "!pol.frame"
                          else "frame on a space")
        if self.looping():
            self.features.add("frame in a loop")
        self.nodes.append(entered.node)
        kept = []

        def write():
            self.spaces[-1].append(frame)
            self.some_statements()
            if self.rng.random() < 0.4:
                new = self.new_buffer(leaves=True)
                if new is not None:
                    self.show(new)
                    self.flush()
            if entered.needed and not entered.used:
                self.fill(self.allocate(frame, "i8", [("const", 3)], False))
            choices = [b for b in self.buffers[-1]
                       if self.may_leave(b, frame.level)]
            kept.extend(self.rng.sample(choices, min(len(choices), 2))
                        if self.rng.random() < 0.7 else [])
            names = ", ".join(b.name for b in kept)
            types = ", ".join(b.type for b in kept)
            self.emit(f"pol.yield{f' {names} : {types}' if kept else ''}")

        lines = self.region(entered, write, entered.node.body)
        results = self.results(kept)
        types = results[1].replace("(", "").replace(")", "")
        self.emit(f"{results[0]}pol.frame on {space.name} : {space.type}"
                  f"{types} {{")
        self.emit(f"^bb0({frame.name}: !pol.frame):")
        self.lines += lines
        self.emit("}")
        if kept:
            self.features.add("buffer out of a frame")

    def results(self, buffers):
        """The names before and the types behind an op with these results, which
        can be seen from here on."""
        if not buffers:
            return "", ""
        names = []
        for buffer in buffers:
            names.append(self.fresh("r"))
            self.show(dataclasses.replace(buffer, name=names[-1]))
        types = ", ".join(b.type for b in buffers)
        return f"{', '.join(names)} = ", f" -> ({types})"

    # Branches

    def condition(self):
        """The name of an i1, and a node without arms: the second one is taken
        where it is true."""
        rng = self.rng
        if self.unused_flags and not self.looping() and rng.random() < 0.6:
            flag = self.unused_flags.pop()
            self.features.add("branch on an i1 argument")
            return flag, model.Decided([], flag)
        if rng.random() < 0.5 or not self.variables:
            self.features.add("branch on data")
            return self.next_bit(), model.Decided([])
        predicate = rng.choice(list(_PREDICATES))
        left, right = rng.choice(self.variables), self.size()
        compare = _PREDICATES[predicate]
        name = self.fresh("k")
        self.emit(f"{name} = arith.cmpi {predicate}, {self.index(left)}, "
                  f"{self.index(right)} : index")
        self.features.add("branch on sizes")
        return name, model.Known(lambda values: int(compare(
            model.evaluate(left, values), model.evaluate(right, values))), [])

    def arm(self, template, firm):
        """The lines and nodes of one arm, and the buffer that it yields."""
        nodes, chosen = [], []

        def write():
            self.some_statements()
            if template is not None:
                chosen.append(self.like(template))
                self.emit(f"scf.yield {chosen[0].name} : {chosen[0].type}")
            else:
                self.emit("scf.yield")

        lines = self.region(Entered("branch", firm=firm), write, nodes)
        return lines, nodes, chosen

    def like(self, template):
        """A buffer of that type which may leave the block."""
        if self.rng.random() < 0.6 and not template.layout:
            new = self.new_buffer(template.element, template.dims, leaves=True)
            if new is not None and new.type == template.type:
                return new
        other = self.pick(lambda b: b.type == template.type
                          and b.dims == template.dims and not b.stays)
        return other or template

    def template(self):
        if self.rng.random() < 0.5:
            return self.pick(lambda b: not b.stays)
        return None

    def branch_statement(self):
        name, node = self.condition()
        self.nodes.append(node)
        template = self.template()
        firm = isinstance(node, model.Decided)
        second = self.arm(template, firm)
        has_else = template is not None or self.rng.random() < 0.6
        first = self.arm(template, firm) if has_else else ([], [], [])
        node.arms += [first[1], second[1]]
        result = self.joined([first, second]) if template else ("", "")
        self.emit(f"{result[0]}scf.if {name}{result[1]} {{")
        self.lines += second[0]
        if has_else:
            self.emit("} else {")
            self.lines += first[0]
        self.emit("}")
        self.use_joined(template)

    def joined(self, arms):
        buffers = [chosen[0] for _, _, chosen in arms]
        self.features.add("buffer out of a branch")
        return self.results([self.alias("", buffers)])

    def switch_statement(self):
        count = self.rng.randint(2, 4)
        if self.rng.random() < 0.6 or not self.variables:
            byte, rest, name = self.next_byte(), self.fresh("k"), self.fresh("k")
            self.emit(f"{rest} = arith.remui {byte}, "
                      f"{self.constant(count, 'i64')} : i64")
            self.emit(f"{name} = arith.index_cast {rest} : i64 to index")
            node = model.Decided([])
            self.features.add("switch on data")
        else:
            which = ("ceildiv", self.rng.choice(self.variables), ("const", 5))
            name = self.index(which)
            node = model.Known(lambda values: self._case(
                model.evaluate(which, values), count), [])
            self.features.add("switch on sizes")
        self.nodes.append(node)
        template = self.template()
        arms = [self.arm(template, isinstance(node, model.Decided))
                for _ in range(count)]
        node.arms += [nodes for _, nodes, _ in arms]
        result = self.joined(arms) if template else ("", "")
        types = result[1].replace("(", "").replace(")", "") if template else ""
        self.emit(f"{result[0]}scf.index_switch {name}{types}")
        for number, (lines, _, _) in enumerate(arms):
            last = number == count - 1
            self.emit("default {" if last else f"case {number} {{")
            self.lines += lines
            self.emit("}")
        self.use_joined(template)

    def use_joined(self, template):
        """Reads what the arms yield: else a buffer in them is done with where
        it is made, and may be placed there."""
        if template is not None and None not in template.shown:
            self.mix(self.buffers[-1][-1])

    @staticmethod
    def _case(value, count):
        return value if 0 <= value < count - 1 else count - 1

    # Loops

    def bounds(self):
        """The text of a loop's bounds, and its node without a body."""
        begin, step = self.rng.choice([(0, 1), (0, 1), (1, 2), (2, 3)])
        end = ("const", self.rng.randint(0, 5))
        if self.variables and self.rng.random() < 0.6:
            variable = self.rng.choice(self.variables)
            end = self.rng.choice([("ceildiv", variable, ("const", 6)),
                                   ("min", variable, ("const", 4))])
        count = ("ceildiv", ("max", ("sub", end, ("const", begin)),
                             ("const", 0)), ("const", step))
        variable = self.fresh("i")
        text = (f"scf.for {variable} = {self.constant(begin)} to "
                f"{self.index(end)} step {self.constant(step)}")
        key = ("var", variable)
        self.features.add("loop over constants" if end[0] == "const"
                          else "loop over sizes")
        return text, model.Loop(count, key, begin, step, [])

    def loop_body(self, node, write, kind="loop"):
        def body():
            variable = getattr(node, "variable", None)
            if variable:
                self.known[-1][variable] = variable[1]
            write()

        count = getattr(node, "count", None)
        firm = count is None or not self.is_constant(count)
        return self.region(Entered(kind, firm=firm), body, node.body)

    @classmethod
    def is_constant(cls, expression):
        if expression[0] == "const":
            return True
        return (expression[0] not in ("var", "dim")
                and all(map(cls.is_constant, expression[1:])))

    def loop_statement(self):
        text, node = self.bounds()
        self.nodes.append(node)
        lines = self.loop_body(node, self.some_statements)
        self.emit(text + " {")
        self.lines += lines
        self.emit("}")

    def pair(self):
        """Two buffers of one type that may be written, or None."""
        one = self.pick(lambda b: b.writable)
        if one is None:
            return None
        other = self.pick(lambda b: b.type == one.type and b.dims == one.dims
                          and b is not one and b.writable)
        if other is None and not one.layout:
            other = self.new_buffer(one.element, one.dims)
            if other is not None and other.type != one.type:
                return None
        return other and (one, other)

    def carry_statement(self):
        """Two buffers that change places on every trip."""
        pair = self.pair()
        if pair is None:
            return
        text, node = self.bounds()
        self.nodes.append(node)
        both = self.alias("", pair)
        inner = [dataclasses.replace(both, name=self.fresh("q"))
                 for _ in range(2)]

        def write():
            for buffer in inner:
                self.show(buffer)
            self.step(*inner)
            self.some_statements()
            self.mix(inner[1])
            self.emit(f"scf.yield {inner[1].name}, {inner[0].name} : "
                      f"{both.type}, {both.type}")

        given = ", ".join(f"{i.name} = {p.name}" for i, p in zip(inner, pair))
        lines = self.loop_body(node, write)
        results = self.results([both, both])
        self.emit(f"{results[0]}{text} iter_args({given}){results[1]} {{")
        self.lines += lines
        self.emit("}")
        self.features.add("buffers carried by a loop")

    def grow_statement(self):
        """Every trip has a new buffer, made from that of the trip before."""
        one = self.pick(lambda b: not b.layout)
        if one is None:
            return
        text, node = self.bounds()
        self.nodes.append(node)
        inner = dataclasses.replace(one, name=self.fresh("q"))
        made = []

        def write():
            self.show(inner)
            self.some_statements()
            new = self.new_buffer(one.element, one.dims, leaves=True)
            if new is not None and new.type == one.type:
                self.step(inner, new)
                made.append(new)
                self.features.add("allocation on every trip")
            self.emit(f"scf.yield {(made or [inner])[0].name} : {inner.type}")

        lines = self.loop_body(node, write)
        results = self.results([self.alias("", [one, *made])])
        self.emit(f"{results[0]}{text} iter_args({inner.name} = {one.name})"
                  f"{results[1]} {{")
        self.lines += lines
        self.emit("}")

    def decided_statement(self):
        """As many trips as data says."""
        byte, name = self.next_byte(), self.fresh("k")
        rest, variable = self.fresh("k"), self.fresh("j")
        self.emit(f"{rest} = arith.remui {byte}, {self.constant(4, 'i64')} : i64")
        self.emit(f"{name} = arith.index_cast {rest} : i64 to index")
        node = model.DecidedLoop([])
        self.nodes.append(node)
        zero, one = self.constant(0), self.constant(1)
        lines = self.loop_body(node, self.some_statements, "while")
        self.emit(f"scf.for {variable} = {zero} to {name} step {one} {{")
        self.lines += lines
        self.emit("}")
        self.features.add("loop over data")

    def repeat_statement(self):
        """scf.while, with two buffers that change places."""
        pair = self.pair()
        if pair is None:
            return
        both = self.alias("", pair)
        node = model.DecidedLoop([], repeated=True)
        self.nodes.append(node)
        trips, again, bit, few, go = (self.fresh(p) for p in "jjnnn")
        inner = [dataclasses.replace(both, name=self.fresh("q"))
                 for _ in range(2)]
        zero, one, limit = (self.constant(v) for v in (0, 1, node.limit))
        types = f"{both.type}, {both.type}, index"

        def write():
            for buffer in inner:
                self.show(buffer)
            self.step(*inner)
            self.some_statements()
            self.emit(f"{again} = arith.addi {trips}, {one} : index")
            self.emit(f"scf.yield {inner[1].name}, {inner[0].name}, {again} : "
                      f"{types}")

        lines = self.loop_body(node, write, "while")
        results = self.results([both, both])
        names = results[0].removesuffix(" = ")
        before = [self.fresh("q") for _ in range(2)]
        self.emit(f"{names}, {self.fresh('r')} = scf.while ({before[0]} = "
                  f"{pair[0].name}, {before[1]} = {pair[1].name}, {trips} = "
                  f"{zero}) : ({types}) -> ({types}) {{")
        byte = self.fresh("n")
        self.lines += ["  " + line for line in (
            f"{byte} = func.call @next(%tape, %position) : "
            "(memref<?xi8>, memref<1xi64>) -> i64",
            f"{bit} = arith.trunci {byte} : i64 to i1",
            f"{few} = arith.cmpi slt, {trips}, {limit} : index",
            f"{go} = arith.andi {bit}, {few} : i1",
            f"scf.condition({go}) {before[0]}, {before[1]}, {trips} : {types}")]
        self.emit("} do {")
        self.emit(f"^bb0({inner[0].name}: {both.type}, {inner[1].name}: "
                  f"{both.type}, {trips}: index):")
        self.lines += lines
        self.emit("}")
        self.features.add("while")


@dataclasses.dataclass
class Callee:
    """A function that others call. buffers: the elements, ranks and names of
    those that it is given; result: the buffer that it returns, or None."""

    body: Body
    text: str
    space: Space
    indices: list
    buffers: list
    flags: list
    result: object

    @property
    def flags_needed(self):
        return len(self.flags)

    def call(self, caller):
        space = self.choose_space(caller)
        given = [self.argument(caller, *kind) for _, kind in self.buffers]
        if None in given or (self.space and space is None):
            return
        names, types, roots = [], [], {}
        if self.space:
            names.append(space.name)
            types.append(space.type)
            roots = {0: space.root}
            caller.note_use(space)
        names += ["%out", "%tape", "%position"]
        types += ["memref<?xi64>", "memref<?xi8>", "memref<1xi64>"]
        arguments = {}
        for index in self.indices:
            expression = caller.size()
            arguments[("var", index)] = expression
            names.append(caller.index(expression))
            types.append("index")
        for (name, _), buffer in zip(self.buffers, given):
            names.append(caller.as_view(buffer))
            types.append(dict(self.body.parameters)[name])
            arguments |= {("dim", name, i): d
                          for i, d in enumerate(buffer.dims)}
        flags = {f: caller.unused_flags.pop() for f in self.flags}
        names += flags.values()
        types += ["i1"] * len(flags)
        caller.nodes.append(model.Call(self.body.top, arguments, roots, flags))
        caller.features |= self.body.features | {"call"}
        results = ("", " -> ()")
        if self.result is not None:
            dims = [model.substitute(d, arguments) for d in self.result.dims]
            level = max([space.level, *(
                i for i, e in enumerate(caller.path)
                if e.kind == "frame" and e.root == space.root)])
            results = caller.results([dataclasses.replace(
                self.result, dims=dims, level=level, own=True,
                shown=self.result.shown)])
            caller.features.add("buffer out of a call")
        caller.emit(f"{results[0]}func.call @{self.body.name}("
                    f"{', '.join(names)}) : ({', '.join(types)}){results[1]}")

    @staticmethod
    def argument(caller, element, rank, writable):
        if caller.rng.random() < 0.7:
            buffer = caller.pick(lambda b: b.element == element and b.rank ==
                                 rank and (b.writable or not writable))
            if buffer is not None:
                return buffer
        return caller.new_buffer(element, caller.dims(rank))

    def choose_space(self, caller):
        if not self.space:
            return None
        unbounded = caller.options.unbounded
        choices = []
        for space in caller.visible_spaces():
            if space.type != self.space.type:
                continue
            lost = any(e.kind == "frame" and e.root == space.root
                       for e in caller.path[space.level + 1:])
            if lost and caller.rng.random() < 0.8:
                continue
            if model.persists(self.body.top) and caller.in_decided_loop(space.root):
                if not unbounded:
                    continue
                caller.features.add("unbounded")
            choices.append(space)
        return caller.rng.choice(choices) if choices else None
