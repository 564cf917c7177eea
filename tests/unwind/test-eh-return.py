#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where libgcc passes an exception to its handler, in the instructions that objdump prints: from the
call of the one function that all of these call with two addresses in their frame, up to the jump that
leaves it.

usage: test-eh-return.py PRINT-TABLE
"""

import os
import re
import subprocess
import sys

PRINT_TABLE = os.path.abspath(sys.argv[1])
LIBGCC = "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1"
FUNCTIONS = ["_Unwind_RaiseException", "_Unwind_ForcedUnwind", "_Unwind_Resume", "_Unwind_Resume_or_Rethrow"]
SKIPPED = 77


def read(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def instructions():
    """{function: [(address, text)]}"""
    found, current = {}, []
    for line in read("objdump", "-d", "--no-show-raw-insn", LIBGCC).splitlines():
        if match := re.match(r"[0-9a-f]+ <(\w+)@", line):
            current = found.setdefault(match[1], [])
        elif match := re.match(r" +([0-9a-f]+):\t(.*)", line):
            current.append((int(match[1], 16), re.sub(" +", " ", match[2])))
    return found


def expected(code):
    """(address, rule) of a function, and what it calls."""
    exit = next(i for i, (_, text) in enumerate(code) if text == "jmp *%rcx")
    pop = next(i for i in range(exit, 0, -1) if code[i][1] == "pop %rcx")
    call = [i for i in range(exit) if code[i][1].startswith("call")][-2]  # the last one is for debuggers
    source = next(text for _, text in code[call::-1] if text.endswith(",%rsi"))[4:8]
    below = next(int(match[1], 16) for _, text in code if (match := re.match(rf"lea -0x(\w+)\(%rbp\),{source}$", text)))
    rows = [(code[call + 1][0] - 1, f"handover0 rax {below}"), (code[pop - 1][0], "handover1 rcx 0"),
            (code[pop][0], "handover2 rax 0"), (code[exit][0], "handover3 rcx 0")]
    assert code[pop - 1][1] == "mov %rcx,%rsp", code[pop - 1]
    return rows, code[call][1].split()[1]


def main():
    if not os.path.exists(LIBGCC):
        print("there is no libgcc")
        return SKIPPED
    code = instructions()
    rows, called = zip(*(expected(code[name]) for name in FUNCTIONS))
    assert len(set(called)) == 1, called
    ours = [line.split(" ", 1) for line in read(PRINT_TABLE, "all", LIBGCC).splitlines()]
    ours = [(int(address, 16), rule) for address, rule in ours if rule.startswith("handover")]
    assert ours == sorted(sum(rows, [])), (ours, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
