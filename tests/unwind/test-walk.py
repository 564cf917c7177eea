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


def dump(program, directory, seed):
    output = os.path.join(directory, "dump")
    environment = dict(os.environ, OUTPUT=output, STOPS=STOPS, MOST_STEPS="23", SEED=str(seed), LC_ALL="C")
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", os.path.join(HERE, "stop-everywhere.py"), program],
        env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert os.path.exists(output), done.stderr + done.stdout
    return output


def check(program, seed):
    directory = tempfile.mkdtemp()
    try:
        output = dump(program, directory, seed)
        with open(output) as file:
            walked = subprocess.run([WALK_DUMP], stdin=file, capture_output=True, text=True, check=True).stdout
        ours = [line.split() for line in walked.splitlines()]
        theirs = [line.split()[1:] for line in open(output) if line.startswith("expect ")]
    finally:
        shutil.rmtree(directory)

    assert len(ours) == len(theirs), (len(ours), len(theirs))
    n_equal = n_whole = 0
    for (reason, used, *addresses), expected in zip(ours, theirs):
        if addresses == expected:
            n_equal += 1
        else:
            print(f"{program}: reason {reason} used {used}\n  ours {' '.join(addresses)}\n  gdb  {' '.join(expected)}")
        n_whole += int(reason) in WHOLE
    print(f"{program}: {len(ours)} stacks, {n_equal} equal to gdb's, {n_whole} whole, seed {seed}")
    return len(ours) > 0 and n_equal == len(ours) == n_whole


def main():
    if shutil.which("gdb") is None:
        print("gdb is not installed")
        return SKIPPED
    return 0 if all([check(program, 1 + i) for i, program in enumerate(PROGRAMS)]) else 1


if __name__ == "__main__":
    sys.exit(main())
