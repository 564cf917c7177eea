#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording contains its symbols: they are the same after its files are gone, and Sysprof 3.46 finds them,
too.

usage: test-bundle.py SYSPROF-CLI PRINT-SYMBOLS PROGRAM [PEER-NAMES]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from decoder import decode
from empty_root import EmptyRoot, can_change_root

CLI, PRINT_SYMBOLS, PROGRAM = sys.argv[1:4]
PEER_NAMES = sys.argv[4] if len(sys.argv) > 4 else None


def run(*command, text=None):
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def names(text):
    """{(pid, address): (kind, name, binary, entry)} of what print-symbols printed."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {(r[0], r[2]): (r[1], r[3], r[4], r[8]) for r in rows}


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def check_file(capture):
    lasts = {}
    before = None
    for frame in capture.frames:
        check(frame["len"] <= 16384 or frame["type"] == "sample", "no frame but deep stacks is longer than 16384 bytes")
        if frame["type"] == "file":
            if frame["path"] == "__symbols__" and frame["path"] not in lasts:
                # Sysprof 3.46 reads only every second frame in a row of file frames.
                check(before != "file", "no file frame stands in front of the table")
            lasts.setdefault(frame["path"], []).append(frame["is_last"])
        before = frame["type"]
    check("__symbols__" in lasts, "the table is there, plain")
    for name in ("__symbols__", "__unnamed__.gz", "/proc/kallsyms.gz"):
        ends = lasts.get(name, [True])
        check(ends == [False] * (len(ends) - 1) + [True], f"the chunks of {name} end once")


def away(path):
    """The names where none of the files is."""
    if not can_change_root():
        with tempfile.TemporaryDirectory() as empty:
            return names(run(PRINT_SYMBOLS, "--sysroot", empty, path))
    with EmptyRoot(PRINT_SYMBOLS) as root:
        return names(root.run(path).decode())


def check_names(path):
    here, bundled = names(run(PRINT_SYMBOLS, "--ignore-bundled", path)), names(run(PRINT_SYMBOLS, path))
    check(bundled == away(path), "names do not depend on files")
    # The files that were recorded are still here, but for processes that have ended meanwhile and their vDSO.
    differing = {key: (here[key], bundled[key]) for key in here if here[key] != bundled[key]}
    check(len(differing) * 50 <= len(here), f"names are those of the files: {list(differing.items())[:5]}")

    found = {name for _, name, _, _ in bundled.values()}
    check(any(name == "main" for name in found), "the program's main is named")
    kernel = [name for kind, name, _, _ in bundled.values() if kind == "kernel"]
    if os.geteuid() == 0:
        # But programs that another recorder had in the kernel, and took out before we looked.
        unnamed = [name for name in kernel if name.startswith("[")]
        check(kernel and len(unnamed) * 50 <= len(kernel), f"kernel functions are named: {unnamed[:5]}")
    check(any(entry == "entry" for _, _, _, entry in bundled.values()), "where stacks begin is known")
    return bundled


def check_peer(path, capture, bundled):
    """For every (pid, address) of a stack, Sysprof 3.46 finds our name; it finds none where we recorded none."""
    asked = {}
    for frame in capture.of("sample"):
        pid, context = frame["pid"], "user"
        for address in frame["addrs"]:
            if address > (1 << 64) - 4096:
                context = "kernel" if address == (1 << 64) - 128 else "user"
                continue
            key = (str(pid) if context == "user" else "0", f"{address:x}")
            asked[(pid, context, address)] = bundled.get(key) or bundled.get(("-1", key[1]))

    questions = list(asked)
    answers = run(PEER_NAMES, path, text="".join(f"{p} {c} {a:x}\n" for p, c, a in questions)).splitlines()
    check(len(answers) == len(questions) > 100, "the peer answers")
    agreed = compared = 0
    for question, answer in zip(questions, answers):
        ours = asked[question]
        if ours is None or ours[1].startswith("["):
            continue
        compared += 1
        agreed += answer == ours[1]
    # It does not look in front of return addresses: a call at a function's end is the next function to it.
    check(compared > 100 and agreed * 100 >= compared * 97, f"the peer agrees: {agreed} of {compared}")
    print(f"the peer agrees on {agreed} of {compared} addresses")


def main():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "a.syscap")
        run(CLI, "-f", path, "--", PROGRAM)
        capture = decode(pathlib.Path(path).read_bytes())
        check(capture.rest == 0, "nothing is behind the last frame")
        check_file(capture)
        bundled = check_names(path)
        if PEER_NAMES:
            check_peer(path, capture, bundled)


main()
