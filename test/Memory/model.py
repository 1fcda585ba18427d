"""What a random program does to its spaces, apart from what it computes.

A program is a tree of allocations, frames, branches, loops and calls. Walked
with numbers for its extents it says how far a bump allocator gets in the worst
case, and which decisions lead there; walked with decisions, too, how far that
run gets. The compiler has no part in it.

Sizes are expressions, nested tuples: ("const", 3), ("var", "n0"),
("dim", "x0", 1), and (operation, left, right) for one of `OPERATIONS`.
"""

import dataclasses

ALIGNMENT = 256
LARGEST = 2**63 - 1


class Invalid(Exception):
    """An extent is negative, or a size does not fit into 64 bits."""


class TooLarge(Exception):
    """A run takes longer or more memory than a test should."""


class Effort:
    """What a walk may cost."""

    def __init__(self, steps=20000, total=2**25, trips=48):
        self.steps, self.total, self.trips = steps, total, trips

    def step(self, size=0):
        self.steps -= 1
        self.total -= size
        if self.steps < 0 or self.total < 0:
            raise TooLarge

    def loop(self, trips):
        if trips > self.trips:
            raise TooLarge
        return range(max(trips, 0))


NO_LIMIT = 2**200


def wrap(value):
    """As 64 bits of two's complement."""
    return (value + 2**63) % 2**64 - 2**63


def _ceildiv(a, b):
    return -(-a // b) if b else 0


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "ceildiv": _ceildiv,
}


def evaluate(expression, values):
    """What an expression is, computed as the machine does: in 64 bits."""
    kind = expression[0]
    if kind == "const":
        return expression[1]
    if kind in ("var", "dim"):
        return values[expression]
    left, right = (evaluate(e, values) for e in expression[1:])
    return wrap(OPERATIONS[kind](left, right))


def overflows(expression, values):
    """Whether any step of the evaluation wraps around."""
    if expression[0] in ("const", "var", "dim"):
        return False
    left, right = (evaluate(e, values) for e in expression[1:])
    exact = OPERATIONS[expression[0]](left, right)
    return exact != wrap(exact) or any(
        overflows(e, values) for e in expression[1:])


def substitute(expression, replacements):
    """The expression with variables replaced by expressions."""
    if expression[0] in ("var", "dim"):
        return replacements.get(expression, expression)
    if expression[0] == "const":
        return expression
    return fold(expression[0],
                *(substitute(e, replacements) for e in expression[1:]))


def fold(kind, left, right):
    """The operation, or the constant that it is."""
    if left[0] == right[0] == "const":
        return ("const", evaluate((kind, left, right), {}))
    return (kind, left, right)


def count_bytes(dims, item, values):
    """The size of an allocation; raises Invalid."""
    extents = [evaluate(d, values) for d in dims]
    if any(e < 0 for e in extents):
        raise Invalid
    total = item
    for extent in extents:
        total *= extent
    if total > LARGEST:
        raise Invalid
    return total


def bump(offset, size):
    """The end of a carve. One of no bytes changes nothing."""
    if size == 0:
        return offset
    end = -(-offset // ALIGNMENT) * ALIGNMENT + size
    if end > LARGEST:
        raise Invalid
    return end


# ------------------------------------------------------------------------------
# Nodes
# ------------------------------------------------------------------------------

# A root is the number of a space argument; frames belong to a root.


@dataclasses.dataclass
class Alloc:
    root: int
    dims: list
    item: int


@dataclasses.dataclass
class Frame:
    root: int
    before: list  # allocations that are placed before the frame
    body: list


@dataclasses.dataclass
class Known:
    """A branch whose condition follows from shapes: selector gives the arm."""

    selector: object  # a function of values
    arms: list


@dataclasses.dataclass
class Decided:
    """A branch that data decides: the next byte of the tape modulo the number
    of arms, or a flag, an i1 argument."""

    arms: list
    flag: str = None


@dataclasses.dataclass
class Loop:
    """count trips; the values of `variable` are begin, begin + step, ..."""

    count: object
    variable: object
    begin: int
    step: int
    body: list


@dataclasses.dataclass
class DecidedLoop:
    """As many trips as the next byte of the tape says, modulo 4. Or, `repeated`,
    a loop that goes on for as long as the next byte is odd, up to limit."""

    body: list
    repeated: bool = False
    limit: int = 3


@dataclasses.dataclass
class Call:
    callee: list  # its nodes
    arguments: dict  # its variables as expressions of the caller's
    roots: dict  # its roots as the caller's
    flags: dict  # its flags as the caller's


def persists(nodes):
    """Whether a piece of program may leave something allocated behind."""
    for node in nodes:
        inner = [node.before] if isinstance(node, Frame) else []
        inner += getattr(node, "arms", [])
        if isinstance(node, (Loop, DecidedLoop)):
            inner.append(node.body)
        if isinstance(node, Call) and node.roots:
            inner.append(node.callee)
        if isinstance(node, Alloc) or any(map(persists, inner)):
            return True
    return False


@dataclasses.dataclass
class Context:
    """Where in a program the walk is: the values of variables, and what the
    roots and flags of this function are."""

    values: dict
    roots: dict
    flags: dict

    def with_value(self, variable, value):
        return Context({**self.values, variable: value}, self.roots,
                       self.flags)

    def of_call(self, call):
        values = {name: evaluate(e, self.values)
                  for name, e in call.arguments.items()}
        return Context(values,
                       {k: self.roots[v] for k, v in call.roots.items()},
                       {k: self.flags[v] for k, v in call.flags.items()})


# ------------------------------------------------------------------------------
# The worst case
# ------------------------------------------------------------------------------

# Decisions are () or (decision, ...) or ("both", first, second), in the order
# in which the program asks for them. A decision is a byte, or (flag, bit).


def _then(first, second):
    if not first:
        return second
    if not second:
        return first
    return ("both", first, second)


def flatten(decisions):
    """The bytes of the tape, and the flags."""
    tape, flags, stack = [], {}, [decisions]
    while stack:
        top = stack.pop()
        if not top:
            continue
        if top[0] == "both":
            stack += [top[2], top[1]]
        elif top[0] == "flag":
            flags[top[1]] = top[2]
        else:
            tape.append(top[1])
    return tape, flags


@dataclasses.dataclass
class Outcome:
    """The furthest that a piece of program can end, and the furthest that it
    can get in between; either with the decisions that lead there."""

    end: int
    end_by: tuple
    peak: int
    peak_by: tuple


class Worst:
    """The worst case of one root."""

    def __init__(self, root, effort):
        self.root, self.effort = root, effort

    def block(self, nodes, offset, context):
        done = Outcome(offset, (), offset, ())
        for node in nodes:
            done = self._join(done, self._node(node, done.end, context))
        return done

    @staticmethod
    def _join(first, second):
        """One after the other. Where it gets furthest in the second part, the
        first one has to end as far as it can."""
        peak, by = first.peak, first.peak_by
        if second.peak > first.peak:
            peak, by = second.peak, _then(first.end_by, second.peak_by)
        return Outcome(second.end, _then(first.end_by, second.end_by), peak, by)

    def _node(self, node, offset, context):
        self.effort.step()
        method = getattr(self, "_" + type(node).__name__.lower())
        return method(node, offset, context)

    def _alloc(self, node, offset, context):
        size = count_bytes(node.dims, node.item, context.values)
        self.effort.step(size)
        end = offset
        if context.roots[node.root] == self.root:
            end = bump(offset, size)
        return Outcome(end, (), end, ())

    def _frame(self, node, offset, context):
        before = self.block(node.before, offset, context)
        body = self.block(node.body, before.end, context)
        if context.roots[node.root] != self.root:
            return self._join(before, body)
        done = self._join(before, body)
        # What a frame ends at does not depend on decisions in it, which still
        # have to be made.
        return Outcome(before.end, done.end_by, done.peak, done.peak_by)

    def _known(self, node, offset, context):
        return self.block(node.arms[node.selector(context.values)], offset,
                          context)

    def _decided(self, node, offset, context):
        best = None
        for number, arm in enumerate(node.arms):
            by = ("byte", number)
            if node.flag:
                by = ("flag", context.flags[node.flag], number)
            done = self.block(arm, offset, context)
            done = Outcome(done.end, _then(by, done.end_by), done.peak,
                           _then(by, done.peak_by))
            best = done if best is None else self._better(best, done)
        return best

    @staticmethod
    def _better(a, b):
        end, peak = a, a
        if b.end > a.end:
            end = b
        if b.peak > a.peak:
            peak = b
        return Outcome(end.end, end.end_by, peak.peak, peak.peak_by)

    def _loop(self, node, offset, context):
        done = Outcome(offset, (), offset, ())
        for trip in self.effort.loop(evaluate(node.count, context.values)):
            self.effort.step()
            inner = context.with_value(node.variable,
                                       node.begin + trip * node.step)
            done = self._join(done, self.block(node.body, done.end, inner))
        return done

    def _decidedloop(self, node, offset, context):
        # Nothing persists, so the furthest is a single trip.
        done = self.block(node.body, offset, context)
        byte = ("byte", 1)
        stop = ("byte", 0) if node.repeated else ()
        return Outcome(offset, _then(_then(byte, done.end_by), stop), done.peak,
                       _then(byte, done.peak_by))

    def _call(self, node, offset, context):
        return self.block(node.callee, offset, context.of_call(node))


def worst_case(nodes, root, values, roots, flags, effort=None):
    """The footprint of one root, and the tape and flags that need it."""
    context = Context(values, {r: r for r in range(roots)},
                      {f: f for f in flags})
    done = Worst(root, effort or Effort()).block(nodes, 0, context)
    return (done.peak, *flatten(done.peak_by))


# ------------------------------------------------------------------------------
# One run
# ------------------------------------------------------------------------------


class Run:
    """A run with a tape and flags: how far every root gets."""

    def __init__(self, nodes, values, roots, tape, flags):
        self.offsets, self.peaks = [0] * roots, [0] * roots
        self.tape, self.position, self.flags = tape, 0, flags
        self.effort = Effort()
        self._block(nodes, Context(values, {r: r for r in range(roots)},
                                   {f: f for f in flags}))

    def _next(self):
        byte = self.tape[min(self.position, len(self.tape) - 1)]
        self.position += 1
        return byte

    def _block(self, nodes, context):
        for node in nodes:
            self.effort.step()
            getattr(self, "_" + type(node).__name__.lower())(node, context)

    def _alloc(self, node, context):
        root = context.roots[node.root]
        size = count_bytes(node.dims, node.item, context.values)
        self.effort.step(size)
        self.offsets[root] = bump(self.offsets[root], size)
        self.peaks[root] = max(self.peaks[root], self.offsets[root])

    def _frame(self, node, context):
        self._block(node.before, context)
        root = context.roots[node.root]
        mark = self.offsets[root]
        self._block(node.body, context)
        self.offsets[root] = mark

    def _known(self, node, context):
        self._block(node.arms[node.selector(context.values)], context)

    def _decided(self, node, context):
        if node.flag:
            arm = self.flags[context.flags[node.flag]]
        else:
            arm = self._next() % len(node.arms)
        self._block(node.arms[arm], context)

    def _loop(self, node, context):
        for trip in self.effort.loop(evaluate(node.count, context.values)):
            self.effort.step()
            self._block(node.body, context.with_value(
                node.variable, node.begin + trip * node.step))

    def _decidedloop(self, node, context):
        if not node.repeated:
            for _ in range(self._next() % 4):
                self._block(node.body, context)
            return
        trips = 0
        while self._next() % 2 and trips < node.limit:
            self._block(node.body, context)
            trips += 1

    def _call(self, node, context):
        self._block(node.callee, context.of_call(node))
