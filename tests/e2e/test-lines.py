#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of programs with debug information in several files. The capture contains inlined functions and
lines, and needs none of these files afterwards. A capture without names gets them later."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

import tap
from programs import CLI, REPORT, Case, needs_sampling, run

HEADER = """
static inline unsigned long mix (unsigned long x)
{
  x ^= x << 13; x ^= x >> 7; x ^= x << 17;
  return x;
}
static inline unsigned long rounds (unsigned long x, unsigned n)
{
  while (n-- > 0)
    x = mix (x);
  return x;
}
"""
LIBRARY = """
#include "inlined.h"
unsigned long in_library (unsigned long x, unsigned n) { return rounds (x, n); }
"""
PROGRAM = """
#include "inlined.h"
#include <time.h>
#ifdef HAS_LIBRARY
unsigned long in_library (unsigned long x, unsigned n);
#else
#define in_library(x, n) (x)
#endif
__attribute__ ((noinline)) static unsigned long work (unsigned long x) { return rounds (x, 20000); }
int main (void)
{
  struct timespec now;
  unsigned long x = 88172645463325252ul;
  do { x = in_library (work (x), 20000); clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now); } while (now.tv_sec == 0 && now.tv_nsec < 400000000);
  return x == 1;
}
"""


@needs_sampling
class Lines(Case):
    def setUp(self):
        super().setUp()
        for name, text in (("inlined.h", HEADER), ("library.c", LIBRARY), ("program.c", PROGRAM)):
            pathlib.Path(name).write_text(text, encoding="ascii")

    def compile(self, compiler, *words):
        subprocess.run([compiler, "-g", "-O2", "-Wl,--build-id", *words], check=True)

    def record(self, *words):
        done = run(CLI, "-f", "-F", "500", "--max-size", "200M", *words, "x.syscap", "--", "./program",
                   env=dict(os.environ, LD_LIBRARY_PATH=self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)

    def inlined(self, binary="program"):
        """Returns {function: source file and line} of inlined functions."""
        done = run(REPORT, "functions", "--format", "json", "--limit", "0", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["symbol"]: (os.path.basename(row["file"]), row["line"]) for row in json.loads(done.stdout)["rows"]
                if row["kind"] == "inline" and row["binary"] == binary}

    def expected(self):
        return {name: ("inlined.h", 1 + next(i for i, line in enumerate(HEADER.splitlines()) if f" {name} (" in line)) for name in ("mix", "rounds")}

    def forget(self):
        for path in pathlib.Path().iterdir():
            if path.name != "x.syscap":
                path.unlink()

    def test_split_units(self):
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for decoding in ((), ("--no-decode",)):
                with self.subTest(compiler, decoding=decoding):
                    self.setUp()
                    # In one step clang leaves the file beside the program.
                    subprocess.run([compiler, "-g", "-O2", "-gsplit-dwarf", "-c", "program.c"], check=True)
                    subprocess.run([compiler, "-Wl,--build-id", "-o", "program", "program.o"], check=True)
                    self.assertTrue(os.path.exists("program.dwo"))
                    self.record(*decoding)
                    self.assertEqual(self.inlined(), self.expected())
                    os.remove("program.dwo")
                    self.assertEqual(self.inlined(), {} if decoding else self.expected())
                    self.forget()
                    self.assertEqual(self.inlined(), {} if decoding else self.expected())

    @unittest.skipUnless(shutil.which("dwz"), "dwz is not installed")
    def test_program_and_library_that_share(self):
        self.compile("cc", "-shared", "-fPIC", "-o", "libinner.so", "library.c")
        self.compile("cc", "-DHAS_LIBRARY", "-o", "program", "program.c", "-L.", "-linner")
        subprocess.run(["dwz", "-m", "shared", "-M", "shared", "program", "libinner.so"], check=True)
        for decoding in ((), ("--no-decode",)):
            with self.subTest(decoding):
                self.record(*decoding)
                for binary in ("program", "libinner.so"):
                    self.assertEqual(self.inlined(binary), self.expected())
        self.record()
        self.forget()
        for binary in ("program", "libinner.so"):
            self.assertEqual(self.inlined(binary), self.expected())


if __name__ == "__main__":
    tap.main()
