#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store against tests/data/reference.py: on captures of every kind, and on random ones.

    test-reference.py DUMP-STORE [N-RANDOM [FIRST-SEED]]
"""

import difflib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "data"))
import captures  # noqa: E402
import emulator  # noqa: E402
import make_captures  # noqa: E402
import reference  # noqa: E402


def for_several_threads():
    """More samples and allocations than one thread reads, in stacks that they share."""
    capture = captures.Capture(time=1000).process("many", pid=7, time=1000)
    for i in range(40000):
        capture.sample([captures.USER, 0x1000 + i % 997, 0x9000 + i % 13], 7 + i % 3, pid=7, time=1000 + i * 7919 % 40000, cpu=i % 4)
        capture.allocation(0x10000 + 16 * i, 1 + i % 100, [0x1000 + i % 499, 0x9000], 7, pid=7, time=1000 + i)
    return capture


def main():
    dump_store = emulator.command(sys.argv[1])
    order = emulator.byte_order(sys.argv[1])
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    cases = dict(make_captures.MADE)
    cases.update({f"random-{seed}": lambda seed=seed: make_captures.random_capture(seed)
                  for seed in range(first, first + n_random)})
    cases["for-several-threads"] = for_several_threads
    failed = 0

    with tempfile.TemporaryDirectory() as folder:
        for name, make in cases.items():
            path = os.path.join(folder, name + ".syscap")
            data = bytes(make().data)
            with open(path, "wb") as out:
                out.write(data)
            run = subprocess.run([*dump_store, path], capture_output=True)
            expected, got = reference.describe(data, order == '>'), run.stdout.decode("latin-1")
            if run.returncode != 0 or got != expected:
                failed += 1
                if failed <= 3:
                    print(f"{name}: status {run.returncode}: {run.stderr.decode(errors='replace')}")
                    print("\n".join(list(difflib.unified_diff(expected.split("\n"), got.split("\n"), "expected", "got",
                                                              lineterm="", n=1))[:40]))
            os.unlink(path)

    print(f"{len(cases)} captures, {failed} differ")
    return failed != 0


sys.exit(main())
