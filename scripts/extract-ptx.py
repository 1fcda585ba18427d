#!/usr/bin/env python3
"""Prints the PTX of a module compiled with --pol-to-nvvm="format=isa".

    pol-opt kernels.mlir --pol-to-nvvm=chip=sm_90 | extract-ptx.py [--output DIR]

Each kernel's PTX stands in a string of the module. All of it goes to the
output, one after the other, or with --output to a file for each, NAME.ptx.
"""

import argparse
import pathlib
import re
import sys

BINARY = re.compile(
    r'^ *gpu\.binary @("[^"]*"|[\w$.-]+).*?assembly = "((?:[^"\\]|\\.)*)"',
    re.M | re.S)
ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|["\\])')


def unescape(text):
    """Undoes what MLIR does to the bytes of a string."""
    return ESCAPE.sub(
        lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1],
        text.encode()).decode().rstrip("\0")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR",
                        help="where to write a file for each kernel")
    options = parser.parse_args()

    kernels = [(name.strip('"'), unescape(text))
               for name, text in BINARY.findall(sys.stdin.read())]
    if not kernels:
        print("expected kernels in PTX, but got none", file=sys.stderr)
        return 1
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    for name, text in kernels:
        if options.output:
            (options.output / f"{name}.ptx").write_text(text)
        else:
            print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
