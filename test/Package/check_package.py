"""Checks of the installed package.

paths   nothing in it names the source or build folder: neither a file of text
        nor where a program looks for its libraries.
single  a program has one copy of MLIR and of pol: it loads one libMLIR, defines
        nothing that is in there, and carries pol's runtime or loads it.
passes  a tool starts, and knows each pass of the given .td files once.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys


class Wrong(Exception):
    """The package is not as it should be."""


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True,
                            timeout=300, check=False)
    if result.returncode != 0:
        raise Wrong(f"exit status {result.returncode} of {' '.join(command)}\n"
                    + result.stderr)
    return result.stdout


def read_dynamic(options, path):
    """The values of a file's dynamic section, by tag."""
    values = collections.defaultdict(list)
    for line in run(options.llvm_tools + "/llvm-readelf", "-d",
                    str(path)).splitlines():
        match = re.search(r"\((\w+)\)\s+.*\[(.*)\]", line)
        if match:
            values[match[1]].append(match[2])
    return values


def check_paths(options):
    forbidden = sorted({os.path.realpath(p) for p in options.forbid}
                       | set(options.forbid))
    files = [p for p in sorted(pathlib.Path(options.prefix).rglob("*"))
             if p.is_file()]
    wrong = []
    for path in files:
        data = path.read_bytes()
        if b"\0" not in data:
            text = data.decode()
        elif data.startswith(b"\x7fELF"):
            dynamic = read_dynamic(options, path)
            text = "\n".join(dynamic["RUNPATH"] + dynamic["RPATH"])
        else:
            continue  # an archive: debug information may name the sources
        wrong += [f"{path} names {p}" for p in forbidden if p in text]
    if wrong or not files:
        raise Wrong("\n".join(wrong) or f"nothing in {options.prefix}")
    print(f"{len(files)} files name neither sources nor build")


def read_functions(options, path, *flags):
    """The functions that a file defines for others, without the weak ones,
    of which the linker and the loader keep one."""
    lines = run(options.llvm_tools + "/llvm-nm", "--defined-only",
                "--extern-only", "--format=posix", *flags,
                str(path)).splitlines()
    symbols = (line.split() for line in lines)
    return {s[0] for s in symbols if len(s) > 1 and s[1] == "T"}


def check_single(options):
    of_mlir = read_functions(options, options.mlir, "--dynamic")
    wrong = []
    for path in options.programs:
        needed = read_dynamic(options, path)["NEEDED"]
        for library in ("libMLIR.so", "libLLVM.so"):
            found = [n for n in needed if n.startswith(library)]
            if len(found) != 1:
                wrong.append(f"expected {path} to load {library} once, "
                             f"but got {found}")
        defined = read_functions(options, path)
        if "main" not in defined:
            wrong.append(f"{path} has no symbols to look at")
        if "pol_arena_init" in defined and any("pol_runtime" in n
                                               for n in needed):
            wrong.append(f"{path} has pol's runtime twice")
        twice = sorted(defined & of_mlir - {"_init", "_fini"})
        if twice:
            wrong.append(f"{path} has a copy of {len(twice)} functions of "
                         f"MLIR, such as {twice[0]}")
    if wrong or not of_mlir:
        raise Wrong("\n".join(wrong) or f"no symbols in {options.mlir}")
    print(f"{len(options.programs)} programs have one MLIR and one pol")


def check_passes(options):
    text = run(options.tool, "--help")
    shown = collections.Counter(re.findall(r"^ +--([\w-]+)", text, re.M))
    names = [name for path in options.tablegen for name in
             re.findall(r':\s*Pass<"([\w-]+)"', pathlib.Path(path).read_text())]
    wrong = [f"expected --{n} once in the help of {options.tool}, "
             f"but got it {shown[n]} times" for n in names if shown[n] != 1]
    if wrong or not names:
        raise Wrong("\n".join(wrong) or "no pass in the .td files")
    print(f"{len(names)} passes are registered once")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llvm-tools", required=True, help="LLVM's bin folder")
    checks = parser.add_subparsers(required=True)

    paths = checks.add_parser("paths")
    paths.add_argument("prefix")
    paths.add_argument("--forbid", action="append", required=True)
    paths.set_defaults(check=check_paths)

    single = checks.add_parser("single")
    single.add_argument("--mlir", required=True, help="libMLIR.so")
    single.add_argument("programs", nargs="+")
    single.set_defaults(check=check_single)

    passes = checks.add_parser("passes")
    passes.add_argument("tool")
    passes.add_argument("tablegen", nargs="+")
    passes.set_defaults(check=check_passes)

    options = parser.parse_args()
    try:
        options.check(options)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
