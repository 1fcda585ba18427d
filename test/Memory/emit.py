"""The text of one function of a random program, and its model beside it."""

import dataclasses

import model
import prelude


@dataclasses.dataclass
class Space:
    """A space that can be seen: a parameter, or a frame. level: how deep in
    the function it is opened, -1 for a parameter."""

    name: str
    type: str
    root: int
    level: int


@dataclasses.dataclass
class Buffer:
    """A memref. level: that of the deepest space it may be from; what is in no
    frame can be returned. own: its memory is from a space of this function, and
    not given. stays: it may not leave its block. layout: "" or a strided one."""

    name: str
    element: str
    dims: list
    level: int
    own: bool = True
    stays: bool = False
    layout: str = ""
    shown: list = None  # its dims as in the type, None for unknown ones
    writable: bool = True
    container: str = "memref"  # or tensor

    def __post_init__(self):
        if self.shown is None:
            self.shown = static_dims(self.dims)

    @property
    def rank(self):
        return len(self.dims)

    @property
    def type(self):
        extents = "".join(f"{'?' if d is None else d}x" for d in self.shown)
        layout = f", {self.layout}" if self.layout else ""
        return f"{self.container}<{extents}{self.element}{layout}>"


@dataclasses.dataclass
class Entered:
    """A region that is being written. kind: frame, branch, loop or while. firm:
    that the compiler cannot know how often it runs. used: a frame that is
    allocated from. needed: a frame that has to be, or it would be folded away,
    and something from an outer space in it be placed elsewhere."""

    kind: str
    root: int = -1
    node: object = None
    firm: bool = False
    used: bool = False
    needed: bool = False


def static_dims(dims):
    return [d[1] if d[0] == "const" else None for d in dims]


class Function:
    """Writes operations at the current place."""

    container = "memref"

    def __init__(self, name, rng, features):
        self.name, self.rng, self.features = name, rng, features
        self.lines, self.nodes, self.path = [], [], []
        self.top = self.nodes
        self.buffers, self.spaces = [[]], [[]]
        self.known = [{}]  # expressions and constants that have a name
        self.parameters, self.count, self.salt = [], 0, 0
        self.unused_flags, self.flags = [], []
        self.variables = []  # expressions that sizes are made of

    # Names and text

    def fresh(self, prefix):
        self.count += 1
        return f"%{prefix}{self.count}"

    def emit(self, line):
        self.lines.append(line)

    def parameter(self, name, kind):
        self.parameters.append((name, kind))
        return name

    def look_up(self, key):
        for scope in reversed(self.known):
            if key in scope:
                return scope[key]
        return None

    def constant(self, value, kind="index"):
        key = ("literal", value, kind)
        name = self.look_up(key)
        if name is None:
            name = self.known[-1][key] = self.fresh("c")
            self.emit(f"{name} = arith.constant {value} : {kind}")
        return name

    def new_salt(self):
        """A number that no other operation of the function has."""
        self.salt += 1
        return hash_of(self.name) + self.salt * 1000003

    def index(self, expression):
        """The name of an index of that value."""
        name = self.look_up(expression)
        if name is not None and self.rng.random() < 0.7:
            return name
        kind = expression[0]
        if kind == "const":
            return self.constant(expression[1])
        if kind == "var":
            return self.look_up(expression)
        if kind == "dim":
            return self._dim(expression)
        left, right = (self.index(e) for e in expression[1:])
        op = {"add": "addi", "sub": "subi", "mul": "muli", "min": "minsi",
              "max": "maxsi", "ceildiv": "ceildivsi"}[kind]
        name = self.known[-1][expression] = self.fresh("e")
        self.emit(f"{name} = arith.{op} {left}, {right} : index")
        return name

    def _dim(self, expression):
        _, argument, dimension = expression
        position = self.constant(dimension)
        kind = dict(self.parameters)[argument]
        name = self.known[-1][expression] = self.fresh("d")
        dialect = kind.split("<")[0]
        self.emit(f"{name} = {dialect}.dim {argument}, {position} : {kind}")
        return name

    # Regions

    def region(self, entered, write, nodes, indent="  "):
        """The lines of a region that `write` writes, whose nodes are `nodes`."""
        outer = self.lines, self.nodes
        self.lines, self.nodes = [], nodes
        self.path.append(entered)
        for stack, empty in ((self.buffers, []), (self.spaces, []),
                             (self.known, {})):
            stack.append(empty)
        write()
        for stack in (self.buffers, self.spaces, self.known):
            stack.pop()
        self.path.pop()
        lines = [indent + line for line in self.lines]
        self.lines, self.nodes = outer
        return lines

    def visible_buffers(self):
        return [b for scope in self.buffers for b in scope]

    def visible_spaces(self):
        return [s for scope in self.spaces for s in scope]

    # Where an allocation goes

    def in_decided_loop(self, root):
        """Whether what is allocated here is left behind by the trips of a loop
        that data decides."""
        for entered in reversed(self.path):
            if entered.kind == "frame" and entered.root == root:
                return False
            if entered.kind == "while":
                return True
        return False

    def placement(self, space, is_static, leaves):
        """Where an allocation from a space goes: "here", the frame that it is
        placed before, or None where it is not possible. leaves: whether it is
        used out of its block."""
        after = self.path[space.level + 1:]
        losing = next((i for i, e in enumerate(after)
                       if e.kind == "frame" and e.root == space.root), None)
        if losing is None:
            return "here"
        between = after[losing + 1:]
        if self.path[-1].kind != "frame" and not leaves:
            return "here" if self.path[-1].firm else None
        loops = [e for e in between if e.kind in ("loop", "while")]
        if not is_static:
            loops += [e for e in between if e.kind == "branch"]
        if not loops:
            # A branch that is never taken goes, and its allocations with it.
            surely = all(e.firm for e in between if e.kind == "branch")
            return after[losing] if surely else None
        return None if leaves or not any(e.firm for e in loops) else "here"

    def note_use(self, space):
        """Something is allocated from the space here."""
        if space.level >= 0:
            self.path[space.level].used = True
        for entered in self.path[space.level + 1:]:
            if entered.kind == "frame" and entered.root == space.root:
                entered.needed = True

    def can_allocate(self, space, is_static, leaves, allow_unbounded):
        place = self.placement(space, is_static, leaves)
        if place is None:
            return False
        if place == "here":
            return allow_unbounded or not self.in_decided_loop(space.root)
        # The loops around the frame that it is placed before.
        position = next(i for i, e in enumerate(self.path) if e is place)
        outer = self.path[:position]
        for entered in reversed(outer):
            if entered.kind == "frame" and entered.root == space.root:
                return True
            if entered.kind == "while":
                return allow_unbounded
        return True

    def allocate(self, space, element, dims, leaves, attributes=""):
        """A buffer with undefined contents."""
        place = self.placement(
            space, all(d[0] == "const" for d in dims), leaves)
        extents = [self.index(d) for d in dims if d[0] != "const"]
        name = self.fresh("b")
        self.note_use(space)
        node = model.Alloc(space.root, dims, prelude.ELEMENTS[element][0])
        losing = any(e.kind == "frame" and e.root == space.root
                     for e in self.path[space.level + 1:])
        if place == "here":
            self.nodes.append(node)
        else:
            place.node.before.append(node)
            self.features.add("outer allocation in a frame")
        if self.in_decided_loop(space.root) and place == "here":
            self.features.add("unbounded")
        buffer = Buffer(name, element, dims, space.level,
                        stays=losing and place == "here",
                        container=self.container)
        if any(d is None for d in buffer.shown):
            self.features.add("dynamic size")
        self.features.add(element)
        shape = f"[{', '.join(extents)}]" if extents else ""
        self.emit(f"{name} = pol.alloc {space.name}{shape}{attributes} : "
                  f"{space.type} -> {buffer.type}")
        return buffer

    # Reading and writing

    def as_view(self, buffer):
        """The buffer under the type that the prelude's functions take."""
        wanted = prelude.view_type(buffer.element, buffer.rank)
        if buffer.type == wanted:
            return buffer.name
        name = self.fresh("v")
        self.emit(f"{name} = memref.cast {buffer.name} : {buffer.type} to "
                  f"{wanted}")
        return name

    def salted(self):
        """An i64 that is another one on every trip of the loops around."""
        salt = self.constant(self.new_salt(), "i64")
        counters = [key for scope in self.known for key in scope
                    if key[0] == "var" and key[1].startswith("%i")]
        for key in counters:
            trip, times = self.fresh("t"), self.fresh("t")
            more = self.fresh("t")
            self.emit(f"{trip} = arith.index_cast {self.look_up(key)} : index "
                      "to i64")
            self.emit(f"{times} = arith.muli {trip}, "
                      f"{self.constant(7919, 'i64')} : i64")
            self.emit(f"{more} = arith.addi {salt}, {times} : i64")
            salt = more
        return salt

    def call_prelude(self, kind, buffer, before="", middle=""):
        view = prelude.view_type(buffer.element, buffer.rank)
        name = prelude.name(kind, buffer.element, buffer.rank)
        mine, salt = self.as_view(buffer), self.salted()
        given, kinds = [mine], [view]
        if before:
            given, kinds = [before, mine], [view, view]
        if middle:
            given += ["%out", middle]
            kinds += ["memref<?xi64>", "index"]
        self.emit(f"func.call {name}({', '.join([*given, salt])}) : "
                  f"({', '.join([*kinds, 'i64'])}) -> ()")

    def fill(self, buffer):
        self.call_prelude("fill", buffer)

    def mix(self, buffer):
        self.call_prelude("mix", buffer,
                          middle=self.constant(self.rng.randrange(16)))

    def step(self, source, target):
        self.call_prelude("step", target, before=self.as_view(source))

    def next_byte(self):
        """An i64 that data gives."""
        name = self.fresh("n")
        self.emit(f"{name} = func.call @next(%tape, %position) : "
                  "(memref<?xi8>, memref<1xi64>) -> i64")
        return name

    def next_bit(self):
        byte, bit = self.next_byte(), self.fresh("n")
        self.emit(f"{bit} = arith.trunci {byte} : i64 to i1")
        return bit

    # The whole

    def text(self, visibility, results=()):
        head = ", ".join(f"{n}: {t}" for n, t in self.parameters)
        types = ", ".join(results)
        arrow = f" -> ({types})" if results else ""
        return "\n".join([
            f"func.func {visibility}@{self.name}({head}){arrow} {{",
            *("  " + line for line in self.lines), "}"]) + "\n"


def hash_of(name):
    """A number for a name, the same in every process."""
    value = 0
    for letter in name.encode():
        value = (value * 131 + letter) % 2**40
    return value
