#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares rules made from instructions with those of the compiler: files with call-frame information are
read as if they had none.

usage: test-code.py PRINT-TABLE [FILE...]

Without files: a few libraries and programs of the system. If both sides find the caller from the stack
pointer, the distance must be the same; a caller's frame pointer that we find in memory must be there.
"""

import os
import subprocess
import sys

PRINT_TABLE = os.path.abspath(sys.argv[1])
FEW = ["libc.so.6", "libz.so.1", "libglib-2.0.so.0", "libm.so.6", "/usr/bin/bash", "/usr/bin/git", "/usr/bin/perl"]
LIBRARIES = "/usr/lib/x86_64-linux-gnu"

MOST_WRONG = 0.0005  # of the bytes that both have rules for
LEAST_READ = 0.7  # of the bytes that have rules
LEAST_BYTES = 100000  # of all files together: a test that compares nothing shall not pass


def rows(kind, path):
    """[(address, rule)], each in force up to the next one."""
    done = subprocess.run([PRINT_TABLE, kind, path], capture_output=True, text=True, check=True)
    return [(int(address, 16), rule) for address, _, rule in (line.partition(" ") for line in done.stdout.splitlines())]


def spans(said, read):
    """(bytes, rule that is said, rule that is read) for all stretches in which both stay the same."""
    places = sorted({address for address, _ in said} | {address for address, _ in read})
    i = j = -1
    for start, end in zip(places, places[1:]):
        while i + 1 < len(said) and said[i + 1][0] <= start:
            i += 1
        while j + 1 < len(read) and read[j + 1][0] <= start:
            j += 1
        if i >= 0 and j >= 0:
            yield start, end - start, said[i][1], read[j][1]


def agree(said, read):
    said_cfa, _, said_fp = said.partition(" ")
    read_cfa, _, read_fp = read.partition(" ")
    if said_cfa[:4] != read_cfa[:4]:
        return True  # one by the stack pointer, the other by the frame pointer: nothing to compare
    if said_cfa != read_cfa:
        return False
    if read_fp == "lost" or said_fp == read_fp:
        return True
    if said_fp == "u":
        return read_fp.startswith("c-")  # saved, and left as it was: both places have it
    # Compilers may omit that it is back in its register after it was popped.
    return read_fp == "u" and said_fp.startswith("c-") and said_cfa.startswith("rsp") and int(said_fp[2:]) > int(said_cfa[4:])


def check(path):
    n_said = n_read = n_wrong = 0
    for start, size, said, read in spans(rows("rows", path), rows("code", path)):
        if not said.startswith(("rsp+", "rbp+")):
            continue
        n_said += size
        if not read.startswith(("rsp+", "rbp+")):
            continue
        n_read += size
        if not agree(said, read):
            n_wrong += size
            if n_wrong < 20 or "-v" in sys.argv:
                print(f"{path} {start:x}: {read!r} by the code, {said!r} by its rules")
    print(f"{path}: {n_said} bytes with rules, {n_read / max(n_said, 1):.1%} read, {n_wrong} bytes wrong ({n_wrong / max(n_read, 1):.3%})", flush=True)
    return n_said, n_read, n_wrong


def main():
    names = [name for name in sys.argv[2:] if name != "-v"] or FEW
    paths = [name if "/" in name else os.path.join(LIBRARIES, name) for name in names]
    results = [check(path) for path in paths if os.path.exists(path)]
    n_said, n_read, n_wrong = (sum(column) for column in zip(*results))
    return 1 if n_said < LEAST_BYTES or n_read < LEAST_READ * n_said or n_wrong > MOST_WRONG * n_read else 0


if __name__ == "__main__":
    sys.exit(main())
