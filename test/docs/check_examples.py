"""Runs pol-opt on every MLIR example of the documentation.

An example is a block of code marked `mlir` below a heading. What it leaves out
is added, and nothing else:

- Values it uses and does not define are arguments of a function around it. A
  value has the type with which the example uses it: what pol-opt says about
  undeclared names and expected types is followed until nothing is missing.
- Blocks it branches to and does not define return.
- Functions it names and does not define take an input, an output `y` and a
  scratch buffer `tmp`, and have a description that says so.
- A terminator stands in the op that it ends.
- Types and attributes, one a line, are those of a declaration.

Below a pass's heading the pass runs as well. Where the example has a comment
`// error: text`, it fails with that text. Where "becomes" and another example
follow, the ops in that one are in the output. Pages given with --lower are not
generated; their examples go down to LLVM.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

FUNCTION = """func.func private @{0}(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    -> tensor<?xf32>
"""
DESCRIPTION = """pol.description for @{0}(%x: tensor<?xf32>) {{
%u = pol.undef like %x : tensor<?xf32>
{1}}}
"""
DESCRIBE = """pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
             scratch {tmp(2) = %u : !pol.undef<?xf32>}
"""
FRAME = """pol.frame on %space : !pol.arena {0} {{
^bb0(%frame: !pol.frame):
{1}}}
"""
# Ops after which nothing else may stand in a block.
TERMINATORS = ("cf.br", "cf.cond_br", "return", "func.return", "ub.unreachable")

Example = collections.namedtuple("Example", "path line heading after text")


class Wrong(Exception):
    """An example does not do what it shows."""


def read_examples(path):
    """The examples of a page, each with its heading and the line before it."""
    heading = after = ""
    block = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if block is not None:
            if line == "```":
                if block[1] == "mlir":
                    yield Example(path, block[0], heading, after,
                                  "\n".join(block[2]) + "\n")
                block = None
            else:
                block[2].append(line)
        elif line.startswith("```"):
            block = (number, line[3:], [])
        elif re.match("#{1,3} ", line):
            title = line.lstrip("# ")
            heading, after = re.sub(r" \(.*\)$", "", title).strip("`"), ""
        elif line:
            after = line
    if block is not None:
        raise Wrong(f"{path}:{block[0]}: expected the block of code to end")


def run(tool, text, *flags):
    result = subprocess.run(
        [tool, "-", *flags], input=text, capture_output=True, text=True,
        timeout=120, check=False)
    if result.returncode not in (0, 1):
        raise Wrong(f"exit status {result.returncode}\n{result.stderr}")
    return result


def add_symbols(text):
    """Declares the functions that the example names and does not define."""
    defined = set(re.findall(
        r"(?:(?:func|llvm)\.func (?:private |public )?|gpu\.module )@(\w+)",
        text))
    described = set(re.findall(r"pol\.description for @(\w+)", text))
    added = ""
    for name in sorted(set(re.findall(r"@(\w+)", text)) - defined):
        added += FUNCTION.format(name)
        if name not in described:
            added += DESCRIPTION.format(name, DESCRIBE)
    # In front: what the example leaves undefined would clash with their names.
    return added + text


def add_function(text, arguments):
    """Puts a function around the example, with these arguments."""
    labels = set(re.findall(r"(\^\w+)", text))
    labels -= set(re.findall(r"^ *(\^\w+)(?=[:(])", text, re.M))
    if not text.splitlines()[-1].split()[0].startswith(TERMINATORS):
        text += "return\n"
    for label in sorted(labels):
        text += f"{label}:\nreturn\n"
    types = ", ".join(f"{n}: {t}" for n, t in arguments.items())
    return f"func.func @example({types}) {{\n{text}}}\n"


def wrap_region(text):
    """Puts an attention around a region of it. A capture of which no element is
    read is a number."""
    kind, names = re.match(r"(score|mask)\((.*?)\)", text).groups()
    captures = names.split(", ")[5 if kind == "score" else 4:]
    reads = dict(re.findall(r"tensor\.extract (%\w+)\[.*\] : (tensor<.*>)",
                            text))
    types = [reads.get(name, "f32") for name in captures]
    given = ", ".join(f"%given{i}" for i in range(len(types)))
    array = "tensor<2x8x?x8xf32>"
    parameters = ", ".join([f"%all: {array}", *(
        f"%given{i}: {t}" for i, t in enumerate(types))])
    clause = f"captures({given} : {', '.join(types)})" if types else ""
    return (f"func.func @example({parameters}) {{\n"
            f"%result = pol.attention ins(%all, %all, %all : {array}, {array}, {array}) "
            f"{clause} outs(%all : {array}) {text} -> {array}\nreturn\n}}\n")


def wrap(text, arguments):
    """The module that an example is part of."""
    if re.match(r"(score|mask)\(", text):
        return wrap_region(text)
    if re.search(r"^(module|func\.func|gpu\.module|pol\.description)\b", text,
                 re.M):
        return add_symbols(text)
    if text.startswith("pol.describe"):
        return FUNCTION.format("f") + DESCRIPTION.format("f", text)
    if text.startswith("pol.yield"):
        types = re.search(": (.*)", text)
        arrow = f"-> {types[1]}" if types else ""
        text = "%results = " * bool(types) + FRAME.format(arrow, text)
    return add_symbols(add_function(text, arguments))


def wrap_types(text):
    """Declarations with each of the types or attributes."""
    parts = re.split(r"^(?=[!#])", text, flags=re.M)[1:]
    return "".join(
        f"func.func private @t{i}({part.strip()})\n" if part[0] == "!" else
        f"func.func private @t{i}() attributes {{a = {part.strip()}}}\n"
        for i, part in enumerate(parts))


def complete(tool, text):
    """The module of an example: adds arguments until it parses."""
    if text[0] in "!#":
        module = wrap_types(text)
        result = run(tool, module)
        if result.returncode != 0:
            raise Wrong(result.stderr + module)
        return module
    arguments, typed = {}, set()
    while True:
        module = wrap(text, arguments)
        result = run(tool, module)
        if result.returncode == 0:
            return module
        lines = module.splitlines()
        changed = False
        for line, column in re.findall(
                r":(\d+):(\d+): error: use of undeclared SSA value name",
                result.stderr):
            name = re.match(r"%[\w$.-]+",
                            lines[int(line) - 1][int(column) - 1:])[0]
            changed |= name not in arguments
            arguments.setdefault(name, "none")
        for name, wanted in re.findall(
                r"use of value '(%[^']+)' expects different type than prior "
                r"uses: '(.*)' vs '", result.stderr):
            changed |= name in arguments and name not in typed
            arguments[name] = wanted
            typed.add(name)
        if not changed:
            raise Wrong(result.stderr + module)


def find_ops(text):
    return set(re.findall(r"(?<![!#.\w])([a-z_]\w*(?:\.\w+)+)", text))


def run_pass(tool, name, text, module, expansion):
    result = run(tool, module, f"-{name}")
    errors = re.findall(r"// error: (.*)", text)
    if errors:
        missing = [e for e in errors if e not in result.stderr]
        if missing or result.returncode == 0:
            raise Wrong(f"expected the error '{missing or errors}', but got\n"
                        + result.stderr + result.stdout)
        return
    if result.returncode != 0:
        raise Wrong(f"-{name} fails\n{result.stderr}{module}")
    missing = find_ops(expansion) - find_ops(result.stdout)
    if missing:
        raise Wrong(f"expected {', '.join(sorted(missing))} after -{name}, "
                    f"but got\n{result.stdout}")


def check(tool, example, following, lower):
    """Checks one example; the following one is what it becomes, or none."""
    module = complete(tool, example.text)
    if lower:
        run_pass(tool, "pol-to-llvm", example.text, module, "")
    if not example.heading.startswith("-") or example.after == "becomes":
        return
    expansion = following.text if following and (
        following.heading == example.heading
        and following.after == "becomes") else ""
    run_pass(tool, example.heading[1:], example.text, module, expansion)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="pol-opt")
    parser.add_argument("--lower", action="append", type=pathlib.Path,
                        default=[], metavar="PAGE")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    examples = [e for page in options.pages + options.lower
                for e in read_examples(page)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(check, options.tool, *pair,
                               pair[0].path in options.lower)
                   for pair in zip(examples, examples[1:] + [None])]
        for example, future in zip(examples, futures):
            try:
                future.result()
            except Wrong as wrong:
                failed += 1
                print(f"{example.path}:{example.line}: {example.heading}: "
                      f"{wrong}", file=sys.stderr)
    print(f"{len(examples)} examples, {failed} of them wrong")
    return 1 if failed or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
