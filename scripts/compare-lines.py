#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares functions, inlined calls and lines of every address of the .text of files: sysprof-report,
addr2line, eu-addr2line.

    compare-lines.py [--every N] [--debug-root DIR]… [--report PROGRAM] FILE…

Prints per file how many answers are equal, and how many differ in which way; docs/symbols.md explains
these ways. Answers that no other tool confirms are printed in full and make the exit status 1. A run takes
minutes to hours, because eu-addr2line needs up to a millisecond per address. For files without debug
information here, the script prints the package that may have it."""

import argparse
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/truth"), str(ROOT / "tests/data")]
sys.dont_write_bytecode = True
import line_answers  # noqa: E402

AT_A_TIME = 50000


def compare(path, options, scratch):
    code = line_answers.Code(path, [*options.debug_root, line_answers.DEBUG_ROOT])
    if code.debug is None:
        print(f"{path}: its debug information is not here; see whether Debian has it: apt-cache search -n -- -dbg")
        return True
    comparison = line_answers.Comparison(code)
    addresses = range(code.start, code.end, options.every)
    for first in range(0, len(addresses), AT_A_TIME):
        some = addresses[first:first + AT_A_TIME]
        report_options = [word for root in options.debug_root for word in ("--debug-dir", root)]
        comparison.add(some, comparison.ask(options.report, some, scratch, report_options))
        if sys.stderr.isatty():
            print(f"\r{comparison.n} of {len(addresses)} ", end="", file=sys.stderr, flush=True)

    n = comparison.n - comparison.n_between
    print(f"{path}: {comparison.n} addresses, {comparison.n_between} of them between functions; of the other {n}:")
    for tool in line_answers.TOOLS:
        print(f"  {tool}: {share(comparison.functions[tool], n)} functions, {share(comparison.chains[tool], n)} chains, "
              f"{share(comparison.lines[tool], n)} lines equal")
        for kind, count in comparison.differences[tool].most_common():
            print(f"    {count:9} {kind}")
    for address, chains in comparison.unexplained[:options.most]:
        print(f"  unexplained: {address:#x}")
        for who, chain in chains.items():
            print(f"    {who}: {chain}")
    sys.stdout.flush()
    return not comparison.unexplained


def share(count, n):
    return f"{100 * count / n:.3f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask for every Nth address only")
    parser.add_argument("--debug-root", action="append", default=[], metavar="DIR", help=f"like {line_answers.DEBUG_ROOT}, looked into first")
    parser.add_argument("--report", default=ROOT / "build/src/report/sysprof-report", metavar="PROGRAM", help="our program")
    parser.add_argument("--most", type=int, default=10, metavar="N", help="of unexplained differences, tell N per file")
    parser.add_argument("file", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = [compare(path, options, scratch) for path in options.file]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
