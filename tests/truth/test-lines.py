#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares functions, inlined calls and lines of addresses in libc and the dynamic loader with addr2line and
eu-addr2line. Only known kinds of differences are allowed, and another tool must confirm each.
scripts/compare-lines.py does the same with every address of any file; docs/symbols.md explains the kinds."""

import os
import random
import re
import shutil
import tempfile
import unittest

import line_answers
import tap
from programs import BUSY, REPORT

N_ADDRESSES = 1500  # of each file


def libraries():
    """libc and the dynamic loader, without links."""
    found = re.findall(r"/\S+", line_answers.output("ldd", BUSY))
    return sorted({os.path.realpath(path) for path in found if re.match(r"(libc\.so|ld-)", os.path.basename(path))})


@unittest.skipUnless(all(map(shutil.which, line_answers.TOOLS.values())), "addr2line or eu-addr2line is not here")
class Lines(unittest.TestCase):
    def compare(self, code):
        addresses = sorted(random.Random(7).sample(range(code.start, code.end), N_ADDRESSES))
        comparison = line_answers.Comparison(code)
        with tempfile.TemporaryDirectory(prefix="sysprof-lines-") as scratch:
            comparison.add(addresses, comparison.ask(REPORT, addresses, scratch))
        n = comparison.n - comparison.n_between
        for tool in line_answers.TOOLS:
            print(f"# {code.path}: of {n} addresses {comparison.functions[tool]} functions, {comparison.chains[tool]} chains, "
                  f"{comparison.lines[tool]} lines as {tool}; {dict(comparison.differences[tool])}")
        self.assertFalse(comparison.unexplained[:3], f"{len(comparison.unexplained)} of {len(addresses)}")
        # Most is confirmed as it is.
        self.assertGreater(n, N_ADDRESSES * 9 // 10)
        for tool in line_answers.TOOLS:
            self.assertGreater(comparison.lines[tool], n * 3 // 4)

    def test_libraries_of_the_machine(self):
        codes = [line_answers.Code(path) for path in libraries()]
        codes = [code for code in codes if code.debug is not None]
        if not codes:
            self.skipTest("no debug information of libc: install libc6-dbg")
        for code in codes:
            with self.subTest(code.path):
                self.compare(code)


if __name__ == "__main__":
    tap.main()
