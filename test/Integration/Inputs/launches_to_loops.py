"""Rewrites gpu.launch on standard input as loops over blocks and threads, and
memory of the GPU as default memory, so that a CPU can run what a GPU would.

What the threads of a block share is a buffer that all blocks use, one after the
other. Threads run one after the other, too, but whenever one stores to such a
buffer, all parts of other threads are overwritten, as if these had run in the
meantime: a thread that uses another's part computes something else.
"""

import re
import sys

LAUNCH = re.compile(
    r" *gpu\.launch blocks\((%\w+), .*?\) in \(%\w+ = (%\w+), .*\) "
    r"threads\((%\w+), .*?\) in \(%\w+ = (%\w+), [^)]*\)"
    r"(?: workgroup\((.*)\))? \{")
SHARED = re.compile(
    r"(%\w+) : memref<((?:\d+x)+)(\w+), #gpu\.address_space<workgroup>>")
STORE = re.compile(r" *memref\.store .*#gpu\.address_space<workgroup>")


def overwrite_others(shared, thread, count):
    """All of a shared buffer that is not this thread's, its last dimension."""
    name, shape, element = shared
    rank = shape.count("x")
    dims = ", ".join(f"d{i}" for i in range(rank))
    loops = ", ".join(['"parallel"'] * rank)
    return f"""
        linalg.generic {{
            indexing_maps = [affine_map<({dims}) -> ({dims})>],
            iterator_types = [{loops}]}}
            outs({name} : memref<{shape}{element}>) {{
        ^bb0(%old_{count}: {element}):
          %owner_{count} = linalg.index {rank - 1} : index
          %own_{count} = arith.cmpi eq, %owner_{count}, {thread} : index
          %other_{count} = arith.constant -77.0 : {element}
          %new_{count} = arith.select %own_{count}, %old_{count}, %other_{count} : {element}
          linalg.yield %new_{count} : {element}
        }}"""


def rewrite(text):
    launches = 0
    overwritten = 0
    shared = []
    for line in text.splitlines():
        if match := LAUNCH.match(line):
            block, blocks, thread, threads, attributions = match.groups()
            shared = SHARED.findall(attributions or "")
            zero, one = f"%zero_{launches}", f"%one_{launches}"
            launches += 1
            yield f"{zero} = arith.constant 0 : index"
            yield f"{one} = arith.constant 1 : index"
            for name, shape, element in shared:
                yield f"{name} = memref.alloca() : memref<{shape}{element}>"
            yield f"scf.for {block} = {zero} to {blocks} step {one} {{"
            yield f"scf.for {thread} = {zero} to {threads} step {one} {{"
        elif line.strip() == "gpu.terminator":
            yield "}"
        else:
            is_shared = STORE.match(line)
            line = re.sub(r", #gpu\.address_space<(global|workgroup)>>", ">",
                          line)
            yield line.replace("<#gpu.address_space<global>>", "")
            for buffer in shared if is_shared else []:
                yield overwrite_others(buffer, thread, overwritten)
                overwritten += 1
    if not launches:
        sys.exit("expected launches, but got none")


print("\n".join(rewrite(sys.stdin.read())))
