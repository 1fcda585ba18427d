"""Compiles modules of random programs, one for each placement of their memory."""

import ctypes
import dataclasses
import itertools
import subprocess
from pathlib import Path

import generate

_numbers = itertools.count()


class Failed(RuntimeError):
    """A tool did not do what it should; says which, on what, and how."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """options: of the pipeline. root: the type of space arguments. space: what
    is passed for them, see execute.py."""

    options: str
    root: str = "!pol.arena"
    space: str = "arena"


# "arena" is the instrumented run: every allocation is carved by itself.
PLACEMENTS = {
    "heap": Placement("max-stack-bytes=0", "!pol.heap", "heap"),
    "arena": Placement("placement=carve max-stack-bytes=0", space="poisoned"),
    "bump": Placement("placement=bump max-stack-bytes=0"),
    "plan": Placement("placement=plan max-stack-bytes=0"),
    "stack": Placement("placement=plan"),
}


class Tools:
    """Where the tools are. Everything is written to `folder`, and what failed
    is left there."""

    def __init__(self, pol_opt, llvm_bin, runtime, folder):
        self.pol_opt, self.llvm = Path(pol_opt), Path(llvm_bin)
        self.runtime, self.folder = Path(runtime), Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, command, timeout=300):
        command = [str(c) for c in command]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  check=False, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)}\nran for {timeout} s") from None
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}\nexited with "
                         f"{done.returncode}\n{done.stderr[:2000]}")
        return done

    def poison(self):
        """The library of spaces that poison what they give."""
        library = self.folder / "libpoison.so"
        if not library.exists():
            include = Path(__file__).resolve().parents[2] / "include"
            self.run([self.llvm / "clang", "-O1", "-shared", "-fPIC", "-Wall",
                      "-Werror", "-I", include, "-o", library,
                      Path(__file__).with_name("poison_space.c"), self.runtime,
                      f"-Wl,-rpath,{self.runtime.parent}"])
        return library

    def pipeline(self, placement):
        return f"--pol-to-llvm={PLACEMENTS[placement].options}"

    def compile(self, text, name, placement, level):
        """The shared object of a module's text."""
        base = self.folder / f"{name}-{placement}-{next(_numbers)}"
        source, lowered, llvm, library = (
            Path(f"{base}{s}") for s in (".mlir", ".low.mlir", ".ll", ".so"))
        source.write_text(text)
        self.run([self.pol_opt, source, self.pipeline(placement), "-o",
                  lowered])
        self.run([self.llvm / "mlir-translate", "--mlir-to-llvmir", lowered,
                  "-o", llvm])
        self.run([self.llvm / "clang", f"-O{level}", "-Wno-override-module",
                  "-shared", "-fPIC", "-Wl,-Bsymbolic", llvm, "-o", library,
                  self.runtime, f"-Wl,-rpath,{self.runtime.parent}", "-lm",
                  # Conversions to bf16.
                  "--rtlib=compiler-rt"])
        for path in (source, lowered, llvm):
            path.unlink()
        return library

    def keep(self, program, placement):
        """A file with the program, for a failure's report."""
        path = self.folder / f"failed-{program.seed}-{placement}.mlir"
        path.write_text(program.module(PLACEMENTS[placement].root))
        return (f"seed {program.seed}, {path}\n  {self.pol_opt} {path} "
                f"'{self.pipeline(placement)}'")


def compile_programs(tools, programs, placement, level, failures):
    """The libraries of the programs by seed. Where a module does not compile,
    its halves are tried; each program that does not by itself is a failure."""
    text = generate.module(programs, PLACEMENTS[placement].root)
    name = f"batch-{programs[0].seed}-{len(programs)}"
    try:
        library = tools.compile(text, name, placement, level)
    except Failed as error:
        if len(programs) == 1:
            failures.append((programs[0].seed, f"{placement}: does not "
                             f"compile: {tools.keep(programs[0], placement)}\n"
                             f"  {error}"))
            return {}
        half = len(programs) // 2
        return {**compile_programs(tools, programs[:half], placement, level,
                                   failures),
                **compile_programs(tools, programs[half:], placement, level,
                                   failures)}
    loaded = ctypes.CDLL(str(library))
    library.unlink()
    return {program.seed: loaded for program in programs}
