"""Functions that random programs call, in text: they fill memory with numbers
that only depend on where and what for, and take every bit of what they read into
a sum. All arithmetic is on integers, and exact.
"""

import itertools

# Element type: (bytes, the integer of its size, how many bits of a hash make a
# number that the type has exactly).
ELEMENTS = {"f32": (4, "i32", 16), "f64": (8, "i64", 32), "i8": (1, "i8", 8),
            "bf16": (2, "i16", 7), "i64": (8, "i64", 64)}
FLOATS = ("f32", "f64", "bf16")


def view_type(element, rank):
    """Of what the functions take: any view."""
    extents = "?x" * rank
    strides = ", ".join("?" * rank)
    return f"memref<{extents}{element}, strided<[{strides}], offset: ?>>"


def name(kind, element, rank):
    return f"@{kind}_{element}_{rank}"


def encode(element, hashed, result, prefix):
    """Text that makes an element %result of an i64."""
    _, integer, bits = ELEMENTS[element]
    p = prefix
    if element in FLOATS:
        return [f"%{p}_shift = arith.constant {64 - bits} : i64",
                f"%{p}_few = arith.shrui {hashed}, %{p}_shift : i64",
                f"{result} = arith.uitofp %{p}_few : i64 to {element}"]
    if integer == "i64":
        return [f"{result} = arith.addi {hashed}, {hashed} : i64"]
    return [f"%{p}_shift = arith.constant {64 - bits} : i64",
            f"%{p}_few = arith.shrui {hashed}, %{p}_shift : i64",
            f"{result} = arith.trunci %{p}_few : i64 to {element}"]


def decode(element, value, result, prefix):
    """Text that makes an i64 %result of all bits of an element."""
    _, integer, _ = ELEMENTS[element]
    lines = []
    if element in FLOATS:
        lines.append(f"%{prefix}_bits = arith.bitcast {value} : {element} to "
                     f"{integer}")
        value = f"%{prefix}_bits"
    if integer == "i64":
        return lines + [f"{result} = arith.ori {value}, {value} : i64"]
    return lines + [f"{result} = arith.extui {value} : {integer} to i64"]


def scramble(value, salt, result, prefix):
    """Text that makes a hash of two i64."""
    p = prefix
    return [f"%{p}_k = arith.constant -7046029254386353131 : i64",
            f"%{p}_r = arith.constant 29 : i64",
            f"%{p}_a = arith.addi {value}, {salt} : i64",
            f"%{p}_b = arith.muli %{p}_a, %{p}_k : i64",
            f"%{p}_c = arith.shrui %{p}_b, %{p}_r : i64",
            f"{result} = arith.xori %{p}_b, %{p}_c : i64"]


def _loops(rank, extents, body):
    """body in a loop for each dimension; its indices are %i0, %i1."""
    lines = []
    for i in range(rank):
        lines.append(f"{'  ' * i}scf.for %i{i} = %c0 to {extents[i]} step %c1 "
                     "{")
    lines += ["  " * rank + line for line in body]
    lines += ["  " * i + "}" for i in reversed(range(rank))]
    return lines


def _function(kind, element, rank):
    """fill(m, salt), mix(m, out, slot, salt) or step(source, m, salt)."""
    view = view_type(element, rank)
    indices = ", ".join(f"%i{i}" for i in range(rank))
    place = ["%p0 = arith.index_cast %i0 : index to i64"]
    position = "%p0"
    if rank == 2:
        place += ["%p1 = arith.index_cast %i1 : index to i64",
                  "%p2 = arith.shli %p0, %c20 : i64",
                  "%p3 = arith.addi %p2, %p1 : i64"]
        position = "%p3"
    constants = ["%c0 = arith.constant 0 : index",
                 "%c1 = arith.constant 1 : index",
                 "%c20 = arith.constant 20 : i64"]
    dims = [f"%d{i} = memref.dim %m, %c{i} : {view}" for i in range(rank)]
    load = [f"%v = memref.load %m[{indices}] : {view}",
            *decode(element, "%v", "%w", "in")]
    store = [f"memref.store %e, %m[{indices}] : {view}"]
    if kind == "fill":
        head = f"%m: {view}, %salt: i64"
        body = [*place, *scramble(position, "%salt", "%h", "h"),
                *encode(element, "%h", "%e", "out"), *store]
    elif kind == "mix":
        head = f"%m: {view}, %out: memref<?xi64>, %slot: index, %salt: i64"
        body = [*load, "%old = memref.load %out[%slot] : memref<?xi64>",
                "%with = arith.xori %old, %w : i64",
                *scramble("%with", "%salt", "%h", "h"),
                "memref.store %h, %out[%slot] : memref<?xi64>"]
    else:
        head = f"%s: {view}, %m: {view}, %salt: i64"
        for i in range(rank):
            dims += [f"%s{i} = memref.dim %s, %c{i} : {view}",
                     f"%n{i} = arith.minsi %d{i}, %s{i} : index"]
        body = [f"%x = memref.load %s[{indices}] : {view}",
                *decode(element, "%x", "%y", "from"), *load,
                "%both = arith.subi %y, %w : i64",
                *scramble("%both", "%salt", "%h", "h"),
                *encode(element, "%h", "%e", "out"), *store]
    extents = [f"%{'n' if kind == 'step' else 'd'}{i}" for i in range(rank)]
    lines = [*constants, *dims, *_loops(rank, extents, body), "return"]
    return [f"func.func private {name(kind, element, rank)}({head}) {{",
            *("  " + line for line in lines), "}"]


# What data decides: the next byte of a tape, which ends with ever the same one.
_NEXT = """\
func.func private @next(%tape: memref<?xi8>, %position: memref<1xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %at = memref.load %position[%c0] : memref<1xi64>
  %after = arith.addi %at, %one : i64
  memref.store %after, %position[%c0] : memref<1xi64>
  %size = memref.dim %tape, %c0 : memref<?xi8>
  %last = arith.subi %size, %c1 : index
  %wanted = arith.index_cast %at : i64 to index
  %i = arith.minsi %wanted, %last : index
  %byte = memref.load %tape[%i] : memref<?xi8>
  %r = arith.extui %byte : i8 to i64
  return %r : i64
}
"""


# ------------------------------------------------------------------------------
# The same on tensors
# ------------------------------------------------------------------------------


def tensor_type(element, rank):
    return f"tensor<{'?x' * rank}{element}>"


def _tensor_function(kind, element, rank):
    """tfill(m, salt) -> m, tmix(m, out, slot, salt), and
    tstep(source, m, salt) -> m, where both have the same extents."""
    view = tensor_type(element, rank)
    ids = ", ".join(f"d{i}" for i in range(rank))
    one = f"affine_map<({ids}) -> ({ids})>"
    loops = ", ".join(["\"parallel\""] * rank)
    if kind == "tmix":
        lines = _function("mix", element, rank)
        text = "\n".join(lines).replace(
            view_type(element, rank), view).replace("@mix", "@tmix")
        text = text.replace("memref.dim %m", "tensor.dim %m")
        return text.replace("memref.load %m", "tensor.extract %m").split("\n")
    if kind == "tfill":
        place = ["%i0 = linalg.index 0 : index",
                 "%p0 = arith.index_cast %i0 : index to i64"]
        position = "%p0"
        if rank == 2:
            place += ["%i1 = linalg.index 1 : index",
                      "%p1 = arith.index_cast %i1 : index to i64",
                      "%p2 = arith.shli %p0, %c20 : i64",
                      "%p3 = arith.addi %p2, %p1 : i64"]
            position = "%p3"
        head, ins, arguments, maps = f"%m: {view}, %salt: i64", "", "", [one]
        body = [*place, *scramble(position, "%salt", "%h", "h")]
    else:
        head = f"%s: {view}, %m: {view}, %salt: i64"
        ins, arguments = f"ins(%s : {view}) ", f"%x: {element}, "
        maps = [one, one]
        body = [*decode(element, "%x", "%y", "from"),
                *decode(element, "%v", "%w", "in"),
                "%both = arith.subi %y, %w : i64",
                *scramble("%both", "%salt", "%h", "h")]
    body += [*encode(element, "%h", "%e", "out"),
             f"linalg.yield %e : {element}"]
    return [f"func.func private {name(kind, element, rank)}({head}) -> {view} "
            "{",
            "  %c20 = arith.constant 20 : i64",
            f"  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{loops}]}} {ins}outs(%m : {view}) {{",
            f"  ^bb0({arguments}%v: {element}):",
            *("    " + line for line in body),
            f"  }} -> {view}", f"  return %r : {view}", "}"]


def prelude(text):
    """All functions that a module's text calls."""
    lines = [_NEXT] if "@next(" in text else []
    for kind, element, rank in itertools.product(
            ("fill", "mix", "step"), ELEMENTS, (1, 2)):
        if name(kind, element, rank) + "(" in text:
            lines += _function(kind, element, rank)
    for kind, element, rank in itertools.product(
            ("tfill", "tmix", "tstep"), ELEMENTS, (1, 2)):
        if name(kind, element, rank) + "(" in text:
            lines += _tensor_function(kind, element, rank)
    return "\n".join(lines) + "\n"
