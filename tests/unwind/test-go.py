#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of Go programs, from Go's own table, against the call-frame entries that its linker writes for debuggers.

usage: test-go.py PRINT-TABLE [PROGRAM...]

Without programs: one that is compiled here, in each way of linking. A program is compared if it has .debug_frame.
"""

import bisect
import os
import re
import shutil
import subprocess
import sys
import tempfile

PRINT_TABLE = os.path.abspath(sys.argv[1])
SKIPPED = 77
SOURCE = """
package main
import ("fmt"; "os"; "os/signal"; "sort"; "strings")
func main() {
	s := []int{5, 2, 8, 1}
	signal.Notify(make(chan os.Signal, 1))
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	c := make(chan int)
	go func() { c <- len(s) }()
	fmt.Println(strings.Repeat("x", 3), s, <-c)
}
"""
# Where the code has no caller: TOPFRAME in the documentation of Go's assembler. Changes of SP to another
# stack, or in a way that the table cannot express.
SWITCH = re.compile(r"(runtime\.|time\.)?(systemstack|now|mcall|morestack|gogo|asmcgocall\w*|cgocallback|callCgo\w+|sigfwd|clone|cgoSigtramp|"
                    r"sigtramp\w*|libpreinit|walltime|nanotime1|_cgo\w+|_rt0_amd64_\w*lib)(\.abi\w+)?$")
TOP = re.compile(r"runtime\.(goexit|clone|mstart|rt0_go|mcall|mstart0|mstart1|morestack|morestack_noctxt|asmcgocall|cgocallback|"
                 r"\w*_trampoline|debugCall\w*|sigtramp\w*|systemstack\w*)(\.abi0)?$|_rt0_amd64\w*$")
BASE = re.compile(r"rsp\+(\d+)$")
# The address of a goroutine that continues is in memory, and SP is already that of this goroutine.
ESCAPE = re.compile(r"(runtime\.)?gogo(\.abi0)?$")
LEAST_ROWS = 3000
LARGEST = 8 * 0xFFFFF  # bytes of a frame that a rule can say


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def table(path):
    addresses, rules = [], []
    for line in run(PRINT_TABLE, "rows", path).splitlines():
        address, rule = line.split(" ", 1)
        addresses.append(int(address, 16))
        rules.append(rule.split()[0])
    return lambda at: rules[bisect.bisect_right(addresses, at) - 1]


def debug_rows(path):
    """(function's start, a byte of a row, CFA) by readelf: the first byte of each, and the last one where another row follows."""
    start = last = before = None
    for line in run("readelf", "--debug-dump=frames-interp", path).splitlines():
        if match := re.search(r" FDE .*pc=([0-9a-f]+)\.\.", line):
            start, last = int(match[1], 16), None
        elif " CIE" in line:
            start = None
        elif start is not None and re.match(r"[0-9a-f]{16} ", line):
            words = line.split()
            at, cfa = int(words[0], 16), words[1]
            if last is not None and last < at:
                yield start, at - 1, before
            yield start, at, cfa
            last, before = at, cfa


def check(path):
    names = {}
    for line in run("nm", path).splitlines():
        if match := re.match(r"([0-9a-f]+) [tT] (\S+)$", line):
            names.setdefault(int(match[1], 16), match[2])
    ours = table(path)
    stripped = path + ".stripped"
    run("objcopy", "--strip-all", path, stripped)
    ours_stripped = table(stripped)
    n, faults = 0, []
    for start, at, cfa in debug_rows(path):
        # Of C, which is in libraries as well.
        if not BASE.match(cfa):
            continue
        n += 1
        found = ours(at)
        if found != ours_stripped(at):
            faults.append(f"{at:x}: {found} and, stripped, {ours_stripped(at)}")
        size = int(BASE.match(cfa)[1])
        if found == cfa or (found == "escape" and (size % 8 or size > LARGEST)) or \
                (re.match("go[0-2]$", found) and SWITCH.match(names[start])) or \
                (found == "escape" and ESCAPE.match(names[start])) or \
                (found in ("end", "signal") and (TOP.match(names[start]) or "sigreturn" in names[start])):
            continue
        faults.append(f"{at:x} in {names.get(start)}: {found}, and for debuggers {cfa}")
    print(f"{path}: {n} rows, {len(faults)} differ", *faults[:10], sep="\n  ")
    return n >= LEAST_ROWS and not faults


def main():
    if sys.argv[2:]:
        return 0 if all([check(path) for path in sys.argv[2:]]) else 1
    if shutil.which("go") is None:
        print("go is not installed")
        return SKIPPED
    directory = tempfile.mkdtemp()
    try:
        source = os.path.join(directory, "main.go")
        with open(source, "w") as file:
            file.write(SOURCE)
        environment = dict(os.environ, GO111MODULE="off", GOFLAGS="", GOCACHE=os.path.join(directory, "cache"),
                           GOPATH=os.path.join(directory, "path"))
        good = True
        for mode, cgo in (("exe", "0"), ("pie", "0"), ("c-shared", "1")):
            program = os.path.join(directory, mode)
            run("go", "build", "-buildmode=" + mode, "-o", program, source, env=dict(environment, CGO_ENABLED=cgo))
            good &= check(program)
        return 0 if good else 1
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main())
