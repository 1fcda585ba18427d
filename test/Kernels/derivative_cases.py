"""Functions of numbers, one for each op that has a derivative, and regions as
scores have them: what they compute, and where they are evaluated."""

import dataclasses

import numpy as np

INF, NAN = float("inf"), float("nan")


@dataclasses.dataclass
class Function:
    """A function of one to three numbers.

    body: its ops, which take %x, %y and %z, {T} standing for the type, and give
      %r.
    points: where it is smooth: one array for each argument.
    edges: what the gradient is elsewhere, as pairs of arguments and of the
      derivatives by each of them (None: any).
    floor: errors are relative to the derivative, or to this where it is smaller.
    bf16: whether the CPU has it for that type.
    """

    name: str
    body: str
    points: list
    edges: list = dataclasses.field(default_factory=list)
    floor: float = 1e-3
    bf16: bool = True

    arity = property(lambda self: len(self.points))
    # No name of a libm's function, which the code calls.
    symbol = property(lambda self: f"of_{self.name}")


def spread(low, high, count=41):
    """Points of an interval, none of which is one of its ends or round."""
    return low + (high - low) * (np.arange(count) + 0.377) / (count + 0.1)


def pairs(a, b):
    """All points of a grid."""
    grid = np.meshgrid(a, b, indexing="ij")
    return [axis.ravel() for axis in grid]


def unary(name, low, high, edges=(), op=None, floor=1e-3):
    """An op of one operand, on an interval. edges: pairs of an argument and the
    derivative there."""
    return Function(name, f"%r = {op or 'math.' + name} %x : {{T}}",
                    [spread(low, high)],
                    [((x,), (slope,)) for x, slope in edges], floor)


def binary(name, points, edges=(), op=None, floor=1e-3):
    return Function(name, f"%r = {op or 'arith.' + name} %x, %y : {{T}}",
                    points, list(edges), floor)


BOTH = pairs(spread(-3, 3, 11), spread(-2.9, 2.7, 10))
POSITIVE = pairs(spread(0.1, 4, 11), spread(-2.9, 2.7, 10))


def constant(name, value):
    return f"%{name} = arith.constant {value!r} : {{T}}\n"


def selections():
    """Ops that pass a cotangent to one of their operands, or to none."""
    tie = [((2.0, 2.0), (1.0, 0.0)), ((0.0, -0.0), (1.0, 0.0)),
           ((INF, 1.0), None), ((-INF, -INF), (1.0, 0.0))]
    large = tie + [((INF, 1.0), (1.0, 0.0)), ((-INF, 1.0), (0.0, 1.0))]
    small = tie + [((INF, 1.0), (0.0, 1.0)), ((-INF, 1.0), (1.0, 0.0))]
    number = [((NAN, 1.0), (0.0, 1.0)), ((1.0, NAN), (1.0, 0.0))]
    for name, edges in (("maximumf", large), ("minimumf", small),
                        ("maxnumf", large + number),
                        ("minnumf", small + number)):
        yield binary(name, BOTH, [e for e in edges if e[1]])
    yield Function("select", "%c = arith.cmpf ogt, %x, %y : {T}\n"
                   "%r = arith.select %c, %x, %y : {T}", BOTH,
                   [((NAN, 3.0), (0.0, 1.0)), ((INF, 3.0), (1.0, 0.0))])
    signs = [(0.0, 0.0), (-0.0, 0.0), (INF, 1.0), (-INF, -1.0)]
    yield unary("absf", -3, 3, signs)
    yield binary("copysign", BOTH,
                 [((2.0, -0.0), (-1.0, 0.0)), ((-2.0, -1.0), (1.0, 0.0)),
                  ((0.0, -1.0), (0.0, 0.0))], "math.copysign")
    yield Function("clampf", constant("l", -1.25) + constant("h", 0.75) +
                   "%r = math.clampf %x to [%l, %h] : {T}", [spread(-3, 3)],
                   [((-1.25,), (1.0,)), ((0.75,), (1.0,)), ((INF,), (0.0,)),
                    ((-INF,), (0.0,))])
    yield Function("clamp_bounds", constant("v", 0.5) +
                   "%r = math.clampf %v to [%x, %y] : {T}",
                   pairs(spread(-2, 0.9, 9), spread(1, 2, 3)),
                   [((1.0, 2.0), (1.0, 0.0)), ((-1.0, 0.0), (0.0, 1.0)),
                    ((-1.0, 1.0), (0.0, 0.0))])
    for name in ("ceil", "floor", "round", "roundeven", "trunc"):
        yield unary(name, -2, 2, [(1.0, 0.0), (INF, 0.0), (NAN, 0.0)])


def arithmetic():
    yield binary("addf", BOTH, [((INF, -INF), (1.0, 1.0))])
    yield binary("subf", BOTH, [((INF, INF), (1.0, -1.0))])
    yield unary("negf", -3, 3, [(INF, -1.0), (NAN, -1.0)], "arith.negf")
    yield binary("mulf", BOTH, [((0.0, INF), (INF, 0.0)),
                                ((NAN, 2.0), (2.0, NAN))])
    yield binary("divf", BOTH, [((1.0, 0.0), (INF, -INF)),
                                ((1.0, INF), (0.0, -0.0)),
                                ((0.0, 2.0), (0.5, 0.0))])
    yield binary("remf", pairs(spread(-7, 7, 11), spread(1.05, 2.05, 7)),
                 [((5.5, 2.0), (1.0, -2.0)), ((-5.5, 2.0), (1.0, 2.0)),
                  ((1.0, INF), (1.0, 0.0)), ((5.5, -2.0), (1.0, 2.0))])
    yield Function("fma", "%r = math.fma %x, %y, %z : {T}",
                   [*BOTH, spread(-1, 1, BOTH[0].size)], bf16=False)
    # A value that is used twice, and one that is not used.
    yield Function("square", "%r = arith.mulf %x, %x : {T}", [spread(-2, 2)])
    yield Function("unused", "%r = arith.negf %x : {T}", BOTH)
    yield Function("constant", constant("r", 3.5), [spread(-2, 2)])


def powers():
    yield unary("exp", -4, 4, [(-INF, 0.0), (INF, INF), (NAN, NAN)])
    yield unary("exp2", -4, 4, [(-INF, 0.0), (INF, INF)])
    yield unary("expm1", -4, 4, [(0.0, 1.0), (-INF, 0.0), (INF, INF)],
                floor=1.0)
    yield unary("log", 0.05, 9, [(0.0, INF), (INF, 0.0), (NAN, NAN)])
    yield unary("log2", 0.05, 9, [(0.0, INF), (INF, 0.0)])
    yield unary("log10", 0.05, 9, [(0.0, INF), (INF, 0.0)])
    yield unary("log1p", -0.9, 9, [(0.0, 1.0), (-1.0, INF), (INF, 0.0)])
    yield unary("sqrt", 0.05, 9, [(0.0, INF), (INF, 0.0), (-1.0, NAN)])
    yield unary("rsqrt", 0.05, 9, [(0.0, -INF), (INF, -0.0)])
    yield unary("cbrt", 0.05, 9, [(0.0, INF), (INF, 0.0), (-8.0, 1 / 12)])
    yield binary("powf", POSITIVE,
                 [((0.0, 2.0), (0.0, 0.0)), ((0.0, 1.0), (1.0, 0.0)),
                  ((0.0, 0.0), (0.0, 0.0)), ((0.0, 0.5), (INF, 0.0)),
                  ((2.0, 0.0), (0.0, np.log(2.0))), ((-2.0, 3.0), (12.0, NAN)),
                  ((INF, -1.0), (-0.0, 0.0)), ((1.0, INF), (INF, 0.0)),
                  ((INF, 0.0), (0.0, INF)), ((NAN, 0.0), (0.0, NAN))],
                 "math.powf")
    for exponent in (-3, -1, 0, 1, 2, 5):
        edges = [((0.0,), ({0: 0.0, 1: 1.0}[exponent],))] if exponent in (
            0, 1) else []
        yield Function(f"fpowi_{exponent}".replace("-", "m"),
                       f"%n = arith.constant {exponent} : i32\n"
                       "%r = math.fpowi %x, %n : {T}, i32",
                       [np.concatenate([spread(-3, -0.3), spread(0.3, 3)])],
                       edges)


def angles():
    yield unary("sin", -7, 7, [(0.0, 1.0), (INF, NAN)], floor=0.1)
    yield unary("cos", -7, 7, [(0.0, -0.0), (INF, NAN)], floor=0.1)
    for kind, body in (("sin", "%r, %c = math.sincos %x : {T}"),
                       ("cos", "%s, %r = math.sincos %x : {T}"),
                       ("both", "%s, %c = math.sincos %x : {T}\n"
                                "%r = arith.divf %s, %c : {T}")):
        yield Function(f"sincos_{kind}", body, [spread(-1.4, 1.4)], floor=0.1)
    yield unary("tan", -1.4, 1.4, [(0.0, 1.0)])
    yield unary("asin", -0.98, 0.98, [(0.0, 1.0), (1.0, INF), (-1.0, INF),
                                      (2.0, NAN)])
    yield unary("acos", -0.98, 0.98, [(0.0, -1.0), (1.0, -INF), (2.0, NAN)])
    yield unary("atan", -5, 5, [(0.0, 1.0), (INF, 0.0), (-INF, 0.0)])
    yield binary("atan2", BOTH,
                 [((0.0, 2.0), (0.5, -0.0)), ((2.0, 0.0), (0.0, -0.5)),
                  ((INF, 1.0), (0.0, 0.0)), ((1.0, -INF), (0.0, 0.0)),
                  ((0.0, 0.0), (NAN, NAN)),
                  ((1e30, 1e30), (5e-31, -5e-31))], "math.atan2")
    yield unary("sinh", -4, 4, [(0.0, 1.0), (INF, INF)])
    yield unary("cosh", -4, 4, [(0.0, 0.0), (-INF, -INF)])
    yield unary("tanh", -4, 4, [(0.0, 1.0), (INF, 0.0), (-INF, 0.0)],
                floor=1.0)
    yield unary("asinh", -9, 9, [(0.0, 1.0), (INF, 0.0), (-INF, 0.0),
                                 (1e30, 1e-30)])
    yield unary("acosh", 1.1, 9, [(1.0, INF), (INF, 0.0), (0.0, NAN),
                                  (1e30, 1e-30)])
    yield unary("atanh", -0.95, 0.95, [(0.0, 1.0), (1.0, INF), (-1.0, INF)])
    yield unary("erf", -3, 3, [(0.0, 2 / np.sqrt(np.pi)), (INF, 0.0)])
    yield unary("erfc", -3, 3, [(0.0, -2 / np.sqrt(np.pi)), (INF, -0.0)])


def compositions():
    """What one op after the other makes of it: branches above all."""
    positive = (constant("zero", 0.0) +
                "%p = arith.cmpf ogt, %x, %zero : {T}\n")
    yield Function("log_or_itself", positive + "%l = math.log %x : {T}\n"
                   "%r = arith.select %p, %l, %x : {T}", [spread(-3, 3)],
                   [((0.0,), (1.0,)), ((-0.0,), (1.0,)), ((-INF,), (1.0,)),
                    ((INF,), (0.0,)), ((NAN,), (1.0,))])
    yield Function("root_or_zero", positive + "%l = math.sqrt %x : {T}\n"
                   "%r = arith.select %p, %l, %zero : {T}", [spread(-3, 3)],
                   [((0.0,), (0.0,)), ((-1.0,), (0.0,)), ((NAN,), (0.0,)),
                    ((INF,), (0.0,))])
    # The branch that is not taken is NaN all along, and infinite at 0.
    yield Function("deep_branch", positive + "%l = math.log %x : {T}\n"
                   "%q = math.sqrt %l : {T}\n%t = math.tanh %q : {T}\n"
                   "%i = arith.divf %t, %x : {T}\n"
                   "%r = arith.select %p, %i, %x : {T}", [spread(-3, -0.1)],
                   [((0.0,), (1.0,)), ((-1.0,), (1.0,)), ((NAN,), (1.0,))])
    yield Function("softcap", constant("c", 2.5) +
                   "%q = arith.divf %x, %c : {T}\n%t = math.tanh %q : {T}\n"
                   "%r = arith.mulf %t, %c : {T}", [spread(-6, 6)],
                   [((INF,), (0.0,)), ((-INF,), (0.0,)), ((0.0,), (1.0,))],
                   floor=1.0, bf16=False)
    yield Function("polynomial", constant("a", 0.5) + constant("b", -1.25) +
                   "%1 = math.fma %x, %a, %b : {T}\n"
                   "%2 = math.fma %1, %x, %y : {T}\n"
                   "%r = arith.mulf %2, %x : {T}", BOTH, floor=1.0, bf16=False)
    yield Function("silu", "%n = arith.negf %x : {T}\n%e = math.exp %n : {T}\n" +
                   constant("one", 1.0) + "%d = arith.addf %e, %one : {T}\n"
                   "%r = arith.divf %x, %d : {T}", [spread(-5, 5)], floor=1.0)
    # Through an integer nothing passes.
    yield Function("through_integer", "%i = arith.fptosi %y : {T} to i32\n"
                   "%f = arith.sitofp %i : i32 to {T}\n"
                   "%r = arith.mulf %x, %f : {T}",
                   pairs(spread(-3, 3, 7), np.array([1.4, 2.3, -2.6])),
                   bf16=False)


FUNCTIONS = [*arithmetic(), *selections(), *powers(), *angles(),
             *compositions()]


@dataclasses.dataclass
class Region:
    """A score of H heads, S queries and T keys, from %s, %h, %i and %j.

    arrays: shapes of its captures %a0, %a1, ..., each with the type of its
      elements, {T} or one of its own.
    """

    name: str
    body: str
    arrays: list


DISTANCE = """%d = arith.subi %j, %i : index
%di = arith.index_cast %d : index to i32
%df = arith.sitofp %di : i32 to {T}
"""

REGIONS = [
    Region("alibi", DISTANCE + """
%slope = memref.load %a0[%h] : memref<?x{T}>
%b = arith.mulf %slope, %df : {T}
%r = arith.addf %s, %b : {T}""", [((2,), "{T}")]),
    Region("alibi_bf16", DISTANCE + """
%slope = memref.load %a0[%h] : memref<?xbf16>
%wide = arith.extf %slope : bf16 to {T}
%b = arith.mulf %wide, %df : {T}
%r = arith.addf %s, %b : {T}""", [((2,), "bf16")]),
    Region("relative", """
%d = arith.subi %j, %i : index
%reach = arith.constant 2 : index
%zero = arith.constant 0 : index
%last = arith.constant 4 : index
%m = arith.addi %d, %reach : index
%l = arith.maxsi %m, %zero : index
%n = arith.minsi %l, %last : index
%v = memref.load %a0[%h, %n] : memref<?x?x{T}>
%t = math.tanh %v : {T}
%r = arith.addf %s, %t : {T}""", [((2, 5), "{T}")]),
    # The same array at two places.
    Region("rbf", """
%xi = memref.load %a0[%i] : memref<?x{T}>
%xj = memref.load %a0[%j] : memref<?x{T}>
%e = arith.subf %xi, %xj : {T}
%q = arith.mulf %e, %e : {T}
%g = memref.load %a1[%h] : memref<?x{T}>
%n = arith.negf %g : {T}
%p = arith.mulf %n, %q : {T}
%k = math.exp %p : {T}
%r = arith.mulf %s, %k : {T}""", [((6,), "{T}"), ((2,), "{T}")]),
    Region("gate", """
%zero = arith.constant 0.0 : {T}
%g = memref.load %a0[%h, %j] : memref<?x?x{T}>
%c = arith.cmpf ogt, %g, %zero : {T}
%l = math.log %g : {T}
%o = arith.select %c, %l, %s : {T}
%r = arith.addf %o, %s : {T}""", [((2, 6), "{T}")]),
]
