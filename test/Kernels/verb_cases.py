"""Every kernel by verbs: outputs, checkpoints and scratch are what the kernel
describes, out of an arena that has room for no more, and gradients go to the
shadows of what is duplicated, full of NaN until then.

The parts are the directions.
"""

import itertools
import sys

import attention_cases
import numpy as np
import rows
import suite as suites
from attention_cases import Call, Extents, Static
from ops import BACKWARD, OPERANDS, Function, members
from verbs import by_verbs

# Comparisons of each kernel in each form.
MINIMUM = 20
FORMS = ("apply", "call")

SHAPES = {1: [(64,), (7,), (0,)],
          2: [(5, 17), (133, 70), (0, 5), (3, 0), (1, 1)],
          3: [(2, 3, 16), (5, 13, 65), (2, 0, 3)]}
STATIC = (70, 48)
EXTENTS = [Extents(2, 4, 2, 7, 9, 8, 5), Extents(1, 3, 1, 17, 65, 16, 16),
           Extents(2, 2, 2, 1, 33, 4, 3), Extents(2, 2, 1, 3, 0, 5, 4),
           Extents(0, 2, 1, 3, 4, 5, 5)]
STATIC_EXTENTS = Extents(2, 4, 2, 16, 24, 8, 8)

# Element types of the first input, of weights or biases, and of shadows: a
# shadow may be wider than its primal.

TYPES = [("f32", "f32", None), ("bf16", "bf16", "f32"), ("f16", "f32", None),
         ("f64", "f32", "f64"), ("f16", "f16", "f32"), ("bf16", "bf16", None)]

CASES = {"rms_norm": rows.rms_norm_case, "layer_norm": rows.layer_norm_case,
         "softmax": rows.softmax_case, "rms_norm_grad": rows.rms_norm_grad_case,
         "layer_norm_grad": rows.layer_norm_grad_case,
         "softmax_grad": rows.softmax_grad_case}
OPTIONS = {"rms_norm": ({"eps": 1e-6, "offset": 1.0}, {}),
           "rms_norm_grad": ({"offset": 1.0}, {}),
           "layer_norm": ({"eps": 1e-3}, {})}

# Which inputs are duplicated, in turn; those that a function has not are left
# out. Of the inputs of gradients some are bare, that is constants.
PAIRS = {
    "rms_norm": [{}, {"x": "given"}, {"x": "carved", "weight": "given"}],
    "layer_norm": [{}, {"bias": "given"}, {"x": "given", "weight": "carved"}],
    "softmax": [{}, {"x": "given"}, {"x": "carved"}],
    "attention": [{}, {"q": "given"}, {"k": "given", "bias": "carved"}],
    "rms_norm_grad": [
        {}, {"dy": "given"}, {"x": "given"}, {"weight": "carved"},
        {"x": "carved", "dy": "given"}, {"x": "given", "weight": "given"},
        {"x": "carved", "weight": "carved"}],
    "layer_norm_grad": [
        {}, {"dy": "given"}, {"x": "given"}, {"weight": "given"},
        {"bias": "carved"}, {"x": "carved", "bias": "given"},
        {"weight": "carved", "bias": "carved", "dy": "given"},
        {"x": "given", "weight": "given", "bias": "given"}],
    "softmax_grad": [{}, {"dy": "given"}, {"x": "given"}, {"x": "carved"},
                     {"y": "given", "dy": "given", "x": "given"}],
    "attention_grad": [
        {}, {"dout": "given"}, {"q": "given"}, {"k": "carved"}, {"v": "given"},
        {"bias": "carved"}, {"q": "carved", "k": "given"},
        {"v": "carved", "dout": "given", "o": "given"},
        {"q": "given", "k": "given", "v": "given", "bias": "given"},
        {"q": "carved", "k": "carved", "v": "carved", "bias": "carved"}]}


def widened(elements, op, pairs, shadow):
    """With gradients of the shadow's type where they go to shadows, and else
    of the types that kernels describe."""
    first = members(op, "ins")[0]
    made = dict(elements)
    for gradient in set(members(op, "outs")) & set(made) if (
            op in BACKWARD) else ():
        name = gradient[1:]
        like = name
        if name not in pairs and (op, name) in LIKE:
            like = LIKE[op, name]
        made[gradient] = elements.get(like, elements[first])
        if name in pairs and shadow:
            made[gradient] = shadow
    return made


# What is described like another operand than the one that it is a gradient of.
LIKE = {("layer_norm_grad", "bias"): "weight", ("softmax_grad", "x"): "y"}


def row_elements(op, x, weight, pairs, shadow, without):
    """Of all operands but those inputs, and the gradients that need them."""
    elements = rows.all_operands(op, x)
    for name in ("weight", "bias"):
        if name in elements:
            elements[name] = weight
    for name in without:
        del elements[name]
        if name == "weight":
            elements.pop("dweight", None)
            elements.pop("dweight_partials", None)
    return widened(elements, op, pairs, shadow)


def row_function(op, number, turn, pairs, form, shape=None):
    x, weight, shadow = TYPES[turn % len(TYPES)]
    # Without the optional inputs, now and then.
    without = [n for n in ("weight", "bias", "x") if n not in pairs
               and turn % 4 == 3 and f"{n}?" in OPERANDS[op]["ins"]]
    elements = row_elements(op, x, weight, pairs, shadow, without)
    rank = (2, 3, 1)[turn % 3]
    numbers = OPTIONS.get(op, ({},))[turn % len(OPTIONS.get(op, ({},)))]
    if "weight" not in elements:
        numbers = {k: v for k, v in numbers.items() if k != "offset"}
    lower = {"rstd": rank - 1, "mean": rank - 1, "weight": 1, "bias": 1,
             "dweight": 1, "dbias": 1, "dweight_partials": 2,
             "dbias_partials": 2}
    ranks = {n: lower.get(n, rank) for n in elements}
    if shape:
        every = {**rows.grad_shapes(shape), "rstd": shape[:-1],
                 "mean": shape[:-1], "weight": shape[-1:], "bias": shape[-1:]}
        ranks = {n: every.get(n, shape) for n in elements}
    function = Function(f"f{number}", op, elements, ranks,
                        rows.attributes(**numbers), "tensor")
    shapes = [shape] if shape else SHAPES[rank]
    made = by_verbs(function, pairs, form, dropped_of(function, pairs, form,
                                                      turn))
    return made, [(CASES[op], s, numbers) for s in shapes]


def dropped_of(function, pairs, form, turn):
    """Results that a call does without: checkpoints, and now and then a
    gradient of those that are all bare."""
    if form != "call" or turn % 2:
        return ()
    if function.op not in BACKWARD:
        return members(function.op, "checkpoints")
    gradients = function.destinations()
    if len(gradients) < 2 or {f"d{n}" for n in pairs} & set(gradients):
        return ()
    return (gradients[turn // 2 % len(gradients)],)


def row_kernel(suite, op):
    jobs = []
    turns = itertools.count()
    for form in FORMS:
        for pairs in PAIRS[op]:
            for shape in (None, None, STATIC):
                jobs.append(row_function(op, len(jobs), next(turns), pairs,
                                         form, shape))
    run(suite, op, jobs, lambda function, job: job[0](suite, function, job[1],
                                                      **job[2]))


def attention_kernel(suite, op):
    jobs = []
    turns = itertools.count()
    for form in FORMS:
        for pairs in PAIRS[op]:
            for fixed in (None, STATIC_EXTENTS):
                jobs.append(attention_function(
                    suite, op, len(jobs), next(turns), pairs, form, fixed))
    backward = op in BACKWARD
    run(suite, op, jobs, lambda function, call: call.backward(suite, function)
        if backward else call.forward())


def attention_function(suite, op, number, turn, pairs, form, fixed):
    q, bias, shadow = TYPES[turn % len(TYPES)]
    static = Static(
        types=(q, q, bias, q), bias="bias" in pairs or turn % 3 != 1,
        causal=(None, "bottom_right", "input_pos", "top_left")[turn % 4],
        softcap=(None, 3.0)[turn % 2], window=4 if turn % 4 == 2 else None,
        k_lengths=("i32", None, "i64")[turn % 3],
        q_lengths=(None, "i64")[turn // 2 % 2], kind="tensor", fixed=fixed)
    make = static.backward if op in BACKWARD else static.forward
    function = make(f"f{number}")
    function.elements = widened(function.elements, op, pairs, shadow)
    made = by_verbs(function, pairs, form, dropped_of(function, pairs, form,
                                                      turn))
    forms = list(attention_cases.BIAS_FORMS)
    return made, [Call(suite, static, e, forms[(turn + i) % 4], position=2)
                  for i, e in enumerate([fixed] if fixed else EXTENTS)]


def run(suite, op, jobs, case):
    """jobs: functions, and what each is called with; case gives inputs, shapes
    and what to expect."""
    count = {form: 0 for form in FORMS}
    for at in range(0, len(jobs), 12):
        some = jobs[at:at + 12]
        modules = suite.compile(f"{op}-{at}", [f for f, _ in some])
        for function, calls in some:
            for call in calls if function.name in modules else ():
                inputs, shapes, wants = case(function, call)
                shapes = {**shapes, **function.extra_shapes(inputs)}
                wants = {n: w for n, w in wants.items()
                         if n in function.destinations()}
                label = (f"{function.form} {function.pairs} "
                         f"{function.elements} "
                         f"{[np.shape(i) for i in inputs.values()]}")
                got = suite.check(modules[function.name], function, inputs,
                                  shapes, wants, label)
                if got is None:
                    continue
                count[function.form] += len(wants)
                for complaint in function.complaints(got):
                    suite.problem(f"{op} {function.name}: {label}: {complaint}")
    for form, compared in count.items():
        if compared < MINIMUM:
            suite.problem(f"{op} by {form}: expected {MINIMUM} comparisons or "
                          f"more, but got {compared}")


def forward(suite):
    for op in ("rms_norm", "layer_norm", "softmax"):
        row_kernel(suite, op)
    attention_kernel(suite, "attention")
    return {op: 2 * MINIMUM for op in ("rms_norm", "layer_norm", "softmax",
                                       "attention")}


def backward(suite):
    for op in ("rms_norm_grad", "layer_norm_grad", "softmax_grad"):
        row_kernel(suite, op)
    attention_kernel(suite, "attention_grad")
    return {op: 2 * MINIMUM for op in BACKWARD}


PARTS = {"forward": forward, "backward": backward}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
