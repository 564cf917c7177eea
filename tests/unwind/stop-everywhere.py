# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside gdb: stops a program after a few instructions again and again, and writes registers, stack and gdb's own
backtrace.

environment: OUTPUT, STOPS, MOST_STEPS, SEED, BREAKS; START: where to begin, main
"""
import os
import random

import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
RED_ZONE = 128
MOST_STACK = 1 << 20

dice = random.Random(int(os.environ["SEED"]))


def mappings(pid):
    for line in open(f"/proc/{pid}/maps"):
        parts = line.split(None, 5)
        begin, end = (int(word, 16) for word in parts[0].split("-"))
        yield begin, end, parts[1], int(parts[2], 16), parts[5].strip() if len(parts) > 5 else ""


def write_maps(out, pid, known):
    now = [m for m in mappings(pid) if "x" in m[2]]
    if now == known:
        return now
    out.write("unmap\n")
    for begin, end, _, offset, path in now:
        if path == "[vdso]":
            path = os.environ["OUTPUT"] + ".vdso"
            with open(path, "wb") as file:
                file.write(gdb.selected_inferior().read_memory(begin, end - begin))
        out.write(f"map {begin:x} {end:x} {offset:x} {path or '-'}\n")
    return now


def backtrace():
    pcs, frame = [], gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # those are not on the stack
            pcs.append(frame.pc())
        frame = frame.older()
    return pcs


def main():
    for command in ("set pagination off", "set confirm off", "set backtrace past-main on", "set backtrace past-entry on",
                    "set backtrace limit unlimited", "set debuginfod enabled off", "set disable-randomization on",
                    "handle all nostop noprint pass", "set breakpoint pending on"):
        gdb.execute(command, to_string=True)
    gdb.execute("break " + os.environ.get("START", "main"), to_string=True)
    gdb.execute("run", to_string=True)
    gdb.execute("delete", to_string=True)
    # Signals and jumps out of them make gdb lose its step: here it finds the program again.
    for function in os.environ["BREAKS"].split():
        gdb.execute(f"break {function}", to_string=True)
    inferior = gdb.selected_inferior()
    known = None
    with open(os.environ["OUTPUT"], "w") as out:
        for _ in range(int(os.environ["STOPS"])):
            gdb.execute(f"stepi {dice.randint(1, int(os.environ['MOST_STEPS']))}", to_string=True)
            if not inferior.pid:
                break
            known = write_maps(out, inferior.pid, known)
            frame = gdb.newest_frame()
            values = [int(frame.read_register(name)) & (1 << 64) - 1 for name in REGISTERS]
            sp = values[7]
            # A large frame may reach below what the kernel has given the stack so far.
            low, end = next((m[0], m[1]) for m in mappings(inferior.pid) if sp < m[1])
            start = max(low, sp - RED_ZONE)
            stack = bytes(inferior.read_memory(start, min(end - start, MOST_STACK)))
            out.write("regs " + " ".join(f"{v:x}" for v in values) + "\n")
            out.write(f"code {bytes(inferior.read_memory(values[16] - 1, 8)).hex()}\n")
            out.write(f"stack {start:x} {stack.hex()}\n")
            out.write("expect " + " ".join(f"{pc:x}" for pc in backtrace()) + "\n")
    gdb.execute("kill", to_string=True) if inferior.pid else None


main()
