#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walker over copied stacks against gdb: a program stopped after every few instructions, each stack equal to gdb's.

usage: test-walk.py WALK-DUMP STOPS PROGRAM...
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WALK_DUMP, STOPS = os.path.abspath(sys.argv[1]), sys.argv[2]
PROGRAMS = [os.path.abspath(p) for p in sys.argv[3:]]
SKIPPED = 77
WHOLE = (1, 2)  # WALK_END, WALK_ROOT
USED_FP_FIRST = 2
LEAST_WHOLE = 0.98  # the last instructions of longjmp(), and code without rules
LEAST_STOPS = 400


def dump(program, directory, seed):
    output = os.path.join(directory, "dump")
    environment = dict(os.environ, OUTPUT=output, STOPS=STOPS, MOST_STEPS="23", BREAKS="on_signal on_jump jumped contexts library_calls", SEED=str(seed), LC_ALL="C")
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", os.path.join(HERE, "stop-everywhere.py"), program],
        env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert os.path.exists(output), done.stderr + done.stdout
    return output


def cut(addresses, code):
    outside = (i for i, a in enumerate(addresses) if not any(b <= int(a, 16) < e for b, e in code))
    return addresses[:next(outside, len(addresses))]


def read_dump(path):
    """Returns gdb's stacks, each truncated where it leaves the program's code: gdb does not know that a
    context's start has no caller."""
    code, stacks, codes = [], [], []
    for line in open(path):
        kind, _, rest = line.partition(" ")
        if kind == "unmap\n":
            code = []
        elif kind == "map":
            begin, end = rest.split()[:2]
            code.append((int(begin, 16), int(end, 16)))
        elif kind == "expect":
            stacks.append(cut(rest.split(), code))
            codes.append(code)
    return stacks, codes


def check(program, seed):
    """Whole stacks are gdb's; of those that are not, what there is is gdb's as well, and they are few."""
    directory = tempfile.mkdtemp()
    try:
        output = dump(program, directory, seed)
        if program.endswith("-fp"):
            # gdb has the rules in .debug_frame; we are to do without.
            stripped = os.path.join(directory, "stripped")
            subprocess.run(["objcopy", "--strip-debug", program, stripped], check=True)
            text = open(output).read().replace(f" {program}\n", f" {stripped}\n")
            open(output, "w").write(text)
        with open(output) as file:
            walked = subprocess.run([WALK_DUMP], stdin=file, capture_output=True, text=True, check=True).stdout
        ours = [line.split() for line in walked.splitlines()]
        theirs, codes = read_dump(output)
    finally:
        shutil.rmtree(directory)

    assert len(ours) == len(theirs), (len(ours), len(theirs))
    # The functions in which the program's own stacks end: frames beyond are wrong, and gdb fails at other
    # ones.
    ends = {expected[-1] for (reason, _, *addresses), expected in zip(ours, theirs) if int(reason) in WHOLE and addresses == expected}
    n_wrong = n_whole = n_doubtful = 0
    for (reason, used, *addresses), expected, code in zip(ours, theirs, codes):
        is_whole = int(reason) in WHOLE
        if not is_whole:
            addresses = cut(addresses, code)
        n_whole += is_whole
        if addresses == (expected if is_whole else expected[:len(addresses)]):
            continue
        gdb_gave_up = addresses[:len(expected)] == expected and expected[-1] not in ends and addresses[-1] in ends
        if int(used) & USED_FP_FIRST or gdb_gave_up:
            # We say ourselves that it is doubtful; or gdb knows no way on in code without rules.
            n_doubtful += 1
        else:
            n_wrong += 1
            print(f"{program}: reason {reason} used {used}\n  ours {' '.join(addresses)}\n  gdb  {' '.join(expected)}")
    print(f"{program}: {len(ours)} stacks, {n_wrong} unlike gdb's, {n_whole} whole, {n_doubtful} doubtful, seed {seed}")
    return len(ours) >= min(int(STOPS), LEAST_STOPS) and n_wrong == 0 and n_whole - n_doubtful >= LEAST_WHOLE * len(ours)


def main():
    if shutil.which("gdb") is None:
        print("gdb is not installed")
        return SKIPPED
    return 0 if all([check(program, 1 + i) for i, program in enumerate(PROGRAMS)]) else 1


if __name__ == "__main__":
    sys.exit(main())
