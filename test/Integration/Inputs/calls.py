"""Calls what a test lists, and prints how each call ended.

usage: calls.py FILE POL-RUN [ARGUMENT...]

FILE has functions, and comments that say what to call them with:

  // ARGS: norm x=3x64xf32 weight=64xf32     what its arguments usually are
  // CALL: norm weight=63xf32 [--option...]  a call with another weight

An array is full of ones, a length of const:N is written 2xi32=const:N. Prints
"exit STATUS" of each call, and what it had to say, in a line.
"""

import re
import shlex
import subprocess
import sys


def arguments_of(text, function):
    """The names of a function's arguments, in order."""
    match = re.search(rf"func\.func @{function}\((.*?)\)\s*(?:->|\{{)", text,
                      re.DOTALL)
    return re.findall(r"%(\w+): (?!!pol)", match.group(1))


def as_input(value):
    return value if "=" in value else f"{value}=ones"


def main(file, *pol_run):
    with open(file, encoding="utf-8") as source:
        text = source.read()
    usual = {}
    for kind, line in re.findall(r"^// (ARGS|CALL): (.*)$", text, re.MULTILINE):
        function, *words = shlex.split(line)
        options = [word for word in words if word.startswith("--")]
        given = dict(word.split("=", 1) for word in words
                     if not word.startswith("--"))
        if kind == "ARGS":
            usual[function] = given
            continue
        names = arguments_of(text, function)
        if unknown := set(given) - set(names):
            sys.exit(f"{line}: expected arguments of @{function}, but got "
                     f"{unknown}")
        values = {**usual[function], **given}
        inputs = [f"--input={as_input(values[name])}" for name in names]
        done = subprocess.run(
            [*pol_run, file, f"--entry={function}", "--opt-level=0",
             *options, *inputs], capture_output=True, text=True, check=False)
        said = " ".join((done.stderr or done.stdout).splitlines())
        print(f"{line} -> exit {done.returncode} {said}".rstrip(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
