"""Rewrites gpu.launch on standard input as loops over blocks and threads, and
memory of the GPU as default memory, so that a CPU can run what a GPU would."""

import re
import sys

LAUNCH = re.compile(
    r" *gpu\.launch blocks\((%\w+), .*?\) in \(%\w+ = (%\w+), .*\) "
    r"threads\((%\w+), .*?\) in \(%\w+ = (%\w+), ")


def rewrite(text):
    launches = 0
    for line in text.splitlines():
        if match := LAUNCH.match(line):
            block, blocks, thread, threads = match.groups()
            zero, one = f"%zero_{launches}", f"%one_{launches}"
            launches += 1
            yield f"{zero} = arith.constant 0 : index"
            yield f"{one} = arith.constant 1 : index"
            yield f"scf.for {block} = {zero} to {blocks} step {one} {{"
            yield f"scf.for {thread} = {zero} to {threads} step {one} {{"
        elif line.strip() == "gpu.terminator":
            yield "}"
        else:
            yield re.sub(r"<#gpu\.address_space<global>>", "",
                         line.replace(", #gpu.address_space<global>>", ">"))
    if not launches:
        sys.exit("expected launches, but got none")


print("\n".join(rewrite(sys.stdin.read())))
