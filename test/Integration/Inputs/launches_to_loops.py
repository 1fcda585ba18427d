"""Rewrites gpu.launch on standard input as loops over blocks and threads, and
memory of the GPU as default memory, so that a CPU can run what a GPU would.

What the threads of a block share is a buffer that all blocks use, one after the
other; the threads run side by side then, so that it shows if two of them use
the same part."""

import re
import sys

LAUNCH = re.compile(
    r" *gpu\.launch blocks\((%\w+), .*?\) in \(%\w+ = (%\w+), .*\) "
    r"threads\((%\w+), .*?\) in \(%\w+ = (%\w+), [^)]*\)"
    r"(?: workgroup\((.*)\))? \{")
SHARED = re.compile(r"(%\w+) : (memref<[^<]*), #gpu\.address_space<workgroup>>")


def rewrite(text):
    launches = 0
    for line in text.splitlines():
        if match := LAUNCH.match(line):
            block, blocks, thread, threads, attributions = match.groups()
            shared = SHARED.findall(attributions or "")
            zero, one = f"%zero_{launches}", f"%one_{launches}"
            launches += 1
            yield f"{zero} = arith.constant 0 : index"
            yield f"{one} = arith.constant 1 : index"
            for name, memref in shared:
                yield f"{name} = memref.alloca() : {memref}>"
            yield f"scf.for {block} = {zero} to {blocks} step {one} {{"
            if shared:
                yield (f"scf.parallel ({thread}) = ({zero}) to ({threads}) "
                       f"step ({one}) {{")
            else:
                yield f"scf.for {thread} = {zero} to {threads} step {one} {{"
        elif line.strip() == "gpu.terminator":
            yield "}"
        else:
            line = re.sub(r", #gpu\.address_space<(global|workgroup)>>", ">",
                          line)
            yield line.replace("<#gpu.address_space<global>>", "")
    if not launches:
        sys.exit("expected launches, but got none")


print("\n".join(rewrite(sys.stdin.read())))
