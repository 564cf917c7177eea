#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions of the kernel, from its own file, against addr2line: one is compiled here, and a capture made by hand with
a sample at each address of its functions, as it would lie after a start.

usage: test-kernel-lines.py SYSPROF-REPORT
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from captures import KERNEL, Capture  # noqa: E402

REPORT = os.path.abspath(sys.argv[1])
sys.argv[1:] = []
PID, TEXT, MOVED, BUILD_ID = 4000001, 0x1000000, 0x1CE00000, "ab" * 20
SOURCE = """
__attribute__ ((section ("__ksymtab"))) volatile int exported = 1;

static inline __attribute__ ((always_inline)) int
innermost (int x)
{
  return x * exported;
}

static inline __attribute__ ((always_inline)) int
inner (int x)
{
  int y = innermost (x) + exported;
  return y * 3;
}

int
outer (int x)
{
  int y = inner (x);
  return y + exported;
}

int
other (int x)
{
  return outer (exported) - x;
}
"""


def run(*command, text=None):
    return subprocess.run([str(word) for word in command], input=text, check=True, text=True, capture_output=True).stdout


@unittest.skipUnless(shutil.which("addr2line") and shutil.which("cc"), "needs a compiler and addr2line")
class KernelLines(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.dir / "vmlinux"
        (self.dir / "kernel.c").write_text(SOURCE)
        run("cc", "-g", "-O2", "-ffreestanding", "-fno-pic", "-fcf-protection=none", "-c", "-o", self.dir / "kernel.o", self.dir / "kernel.c")
        run("ld", f"-Ttext={TEXT:#x}", f"--build-id=0x{BUILD_ID}", f"--defsym=_text={TEXT}", "-e0", "-o", self.file, self.dir / "kernel.o")
        rows = re.findall(r"^(\w+) (\w+) T (\w+)$", run("nm", "-S", self.file), re.MULTILINE)
        self.names = {int(start, 16) + i: name for start, size, name in rows for i in range(int(size, 16))}
        self.assertEqual(set(self.names.values()), {"outer", "other"})

    def record(self, kallsyms, n_joined=1):
        capture = Capture(1, 2)
        for _ in range(n_joined):
            capture.metadata("org.gnome.sysprof.kernel-build-id", BUILD_ID)
        capture.file("/proc/kallsyms", kallsyms.encode())
        for address in sorted(self.names):
            capture.sample([KERNEL, address + MOVED], pid=PID)
        capture.save(self.dir / "x.syscap")

    def stacks(self, *words):
        done = run(REPORT, "samples", "--debug-dir", self.dir, *words, "--format", "json", "--limit", "0", self.dir / "x.syscap")
        return [[frame for frame in row["stack"] if frame["kind"] != "marker"] for row in json.loads(done)["rows"]]

    def check_lines(self):
        told = run("addr2line", "-a", "-f", "-i", "-e", self.file, text="".join(f"{address:x}\n" for address in sorted(self.names)))
        chains = [list(zip(*[iter(part.splitlines()[1:])] * 2)) for part in re.split(r"^(?=0x)", told, flags=re.MULTILINE)[1:]]
        self.assertTrue(any(len(chain) == 3 for chain in chains))
        self.assertEqual([[(frame["symbol"], f"{frame['file']}:{frame['line']}") for frame in stack] for stack in self.stacks()],
                         [[(name, place.split(" (")[0]) for name, place in chain] for chain in chains])
        # Who leaves the kernel out means what was inlined, too.
        for stack in self.stacks():
            self.assertEqual({(frame["kind"], frame["binary"]) for frame in stack}, {("kernel", "[kernel]")})

    def test_lines_and_names(self):
        """Of a capture without names."""
        self.record(f"{TEXT + MOVED:016x} - _text\n")
        self.check_lines()

    def test_lines_alone(self):
        """The list that the capture has says what functions are called, and a debug file has the lines."""
        starts = {name: min(a for a in self.names if self.names[a] == name) for name in self.names.values()}
        self.record(f"{TEXT + MOVED:016x} - _text\n" + "".join(f"{a + MOVED:016x} T {name}\n" for name, a in starts.items()))
        run("objcopy", "--only-keep-debug", self.file, self.dir / "debug")
        os.rename(self.dir / "debug", self.file)
        self.check_lines()

    def test_joined_captures(self):
        """Of one of them nobody knows where the kernel lay."""
        self.record(f"{TEXT + MOVED:016x} - _text\n{TEXT + MOVED:016x} T listed\n", n_joined=2)
        for stack in self.stacks():
            self.assertEqual([(frame["symbol"], frame.get("line")) for frame in stack], [("listed", None)])

    def test_lines_of_another_kernel(self):
        self.record(f"{TEXT + MOVED:016x} - _text\n{TEXT + MOVED:016x} T listed\n")
        run("ld", f"-Ttext={TEXT:#x}", "--build-id=0x" + "cd" * 20, f"--defsym=_text={TEXT}", "-e0", "-o", self.file, self.dir / "kernel.o")
        for stack in self.stacks():
            self.assertEqual([(frame["symbol"], frame.get("line")) for frame in stack], [("listed", None)])


if __name__ == "__main__":
    unittest.main()
