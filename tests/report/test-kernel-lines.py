#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares lines and inlined functions of a kernel with addr2line. A kernel file is compiled here. A capture
made by hand has a sample at each address of its functions, at the addresses of one boot.

usage: test-kernel-lines.py SYSPROF-REPORT PRINT-SYMBOLS
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

REPORT, PRINT_SYMBOLS = map(os.path.abspath, sys.argv[1:3])
sys.argv[1:] = []
PID, TEXT, MOVED, BUILD_ID = 4000001, 0x1000000, 0xFFFFFFFF9CE00000, "ab" * 20
PLACE = 1 << 48
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
        self.link()

    def link(self):
        run("cc", "-g", "-O2", "-ffreestanding", "-fno-pic", "-fcf-protection=none", "-c", "-o", self.dir / "kernel.o", self.dir / "kernel.c")
        run("ld", f"-Ttext={TEXT:#x}", f"--build-id=0x{BUILD_ID}", f"--defsym=_text={TEXT}", "-e0", "-o", self.file, self.dir / "kernel.o")
        rows = re.findall(r"^(\w+) (\w+) T (\w+)$", run("nm", "-S", self.file), re.MULTILINE)
        self.names = {int(start, 16) + i: name for start, size, name in rows for i in range(int(size, 16))}
        self.assertEqual(set(self.names.values()), {"outer", "other"})

    def record(self, kallsyms, n_joined=1, boots=(), places=(0,), files=()):
        capture = Capture(1, 2)
        for _ in range(n_joined):
            capture.metadata("org.gnome.sysprof.kernel-build-id", BUILD_ID)
        for boot in boots:
            capture.metadata("capture-time", "then").metadata("org.gnome.sysprof.boot-id", boot)
        for name, data in [("/proc/kallsyms", kallsyms.encode()), *files]:
            capture.chunked_file(name, data)
        for place in places:
            for address in sorted(self.names):
                capture.sample([KERNEL, address + MOVED - place * PLACE], pid=PID)
        return capture.save(self.dir / "x.syscap")

    def stacks(self, *words):
        done = run(REPORT, "samples", "--debug-dir", self.dir, *words, "--format", "json", "--limit", "0", self.dir / "x.syscap")
        return [[frame for frame in row["stack"] if frame["kind"] != "marker"] for row in json.loads(done)["rows"]]

    def check_lines(self):
        told = run("addr2line", "-a", "-f", "-i", "-e", self.file, text="".join(f"{address:x}\n" for address in sorted(self.names)))
        chains = [list(zip(*[iter(part.splitlines()[1:])] * 2)) for part in re.split(r"^(?=0x)", told, flags=re.MULTILINE)[1:]]
        self.assertTrue(any(len(chain) == 3 for chain in chains))
        self.assertEqual([[(frame["symbol"], f"{frame['file']}:{frame['line']}") for frame in stack] for stack in self.stacks()],
                         [[(name, place.split(" (")[0]) for name, place in chain] for chain in chains])
        # --no-kernel hides its inlined functions, too.
        for stack in self.stacks():
            self.assertEqual({(frame["kind"], frame["binary"]) for frame in stack}, {("kernel", "[kernel]")})
            self.assertEqual([frame.get("inlined", False) for frame in stack], [True] * (len(stack) - 1) + [False])

    def test_lines_and_names(self):
        """Of a capture without names."""
        self.record(f"{TEXT + MOVED:016x} - _text\n")
        self.check_lines()

    def test_inlined_is_told(self):
        """In all views; of a function that is both, each of both is one."""
        path = self.record(f"{TEXT + MOVED:016x} - _text\n")
        inlined = {"innermost", "inner", "outer"}
        told = run("addr2line", "-f", "-i", "-e", self.file, text="".join(f"{address:x}\n" for address in sorted(self.names)))
        self.assertEqual(inlined | {"other"}, set(told.splitlines()[::2]))
        for view in ("functions", "tree"):
            rows = json.loads(run(REPORT, view, "--debug-dir", self.dir, "--format", "json", "--limit", "0", path))["rows"]
            found = []
            while rows:
                found += [(row["symbol"], row.get("inlined", False)) for row in rows if row["symbol"] in inlined | {"other"}]
                rows = [child for row in rows for child in row.get("children", ())]
            self.assertEqual(set(found), {(name, True) for name in inlined} | {("outer", False), ("other", False)})
            text = run(REPORT, view, "--debug-dir", self.dir, "--limit", "0", path)
            self.assertEqual(set(re.findall(r"(\w+)  kernel\.c:\d+, inlined$", text, re.M)), inlined)
            self.assertEqual(set(re.findall(r"(\w+)  kernel\.c:\d+$", text, re.M)), {"outer", "other"})
        self.assertIn("innermost (kernel.c:", run(REPORT, "samples", "--debug-dir", self.dir, "--limit", "0", path))
        picture = run(REPORT, "flame", "--debug-dir", self.dir, "--format", "svg", path)
        self.assertEqual(set(re.findall(r"<title>(\w+) [^<]*, inlined</title>", picture)), inlined)
        found = json.loads(run(REPORT, "search", "--search", "outer", "--debug-dir", self.dir, "--format", "json", path))["rows"]
        self.assertEqual(sorted(row.get("inlined", False) for row in found if row["name"] == "outer"), [False, True])
        folded = run(REPORT, "functions", "--debug-dir", self.dir, "--format", "folded", "--annotate", path)
        self.assertEqual(set(re.findall(r";(\w+)_\[k\]", folded)), inlined | {"other"})

    def test_what_it_said_is_kept(self):
        """In the cache on disk, if the file is not new; addresses that are looked up later are added."""
        cache = self.dir / "cache"
        os.environ["SYSPROF_SYMBOL_CACHE"] = str(cache)
        self.addCleanup(os.environ.__setitem__, "SYSPROF_SYMBOL_CACHE", os.environ.get("KEPT_CACHE", ""))
        os.utime(self.file, (1, 1))
        for names in (dict(list(self.names.items())[::2]), self.names):
            self.names = names
            self.record(f"{TEXT + MOVED:016x} - _text\n")
            for _ in range(2):
                self.check_lines()

    def test_lines_alone(self):
        """The list in the capture has names of functions, and a debug file has the lines."""
        starts = {name: min(a for a in self.names if self.names[a] == name) for name in self.names.values()}
        self.record(f"{TEXT + MOVED:016x} - _text\n" + "".join(f"{a + MOVED:016x} T {name}\n" for name, a in starts.items()))
        run("objcopy", "--only-keep-debug", self.file, self.dir / "debug")
        os.rename(self.dir / "debug", self.file)
        self.check_lines()

    def places_text(self, *places):
        return "".join(f"{TEXT + MOVED - place * PLACE:016x} - _text\n" for place in places)

    def test_boots_that_older_versions_joined(self):
        """They moved the addresses of all kernels but one, which has lines; the others have names only if the capture has them."""
        boots = [f"one {BUILD_ID}", f"two {BUILD_ID} 1", f"one {BUILD_ID}", f"three {BUILD_ID} 2", "unknown - 3"]
        self.record(self.places_text(1, 0, 2), n_joined=3, boots=boots, places=(0,))
        self.check_lines()
        self.record(self.places_text(1, 0), n_joined=3, boots=boots, places=(1, 2, 3))
        self.assertEqual({frame["symbol"][:8] for stack in self.stacks() for frame in stack}, {"[kernel+"})

    def test_boots_that_share_addresses(self):
        for other in (f"two {BUILD_ID}", f"onetwo {BUILD_ID}", "unknown", "unknown -"):
            boots = [f"one {BUILD_ID}", other]
            path = self.record(self.places_text(0), boots=boots)
            self.assertEqual({frame["symbol"][:8] for stack in self.stacks() for frame in stack}, {"[kernel+"})
            quality = run(REPORT, "quality", "--format", "json", "--debug-dir", self.dir, path)
            self.assertIn("without recording which address belongs to which kernel", quality)

    def test_carried(self):
        """The recording contains enough, if the file is gone; also for another boot of that kernel."""
        capture = self.record(self.places_text(0), boots=[f"one {BUILD_ID}"])
        brought = {"__symbols__": self.dir / "symbols", "__lines__": self.dir / "lines"}
        run(PRINT_SYMBOLS, "--debug-dir", self.dir, "--pack", brought["__symbols__"], "--lines", brought["__lines__"], capture)
        files = [(name, path.read_bytes()) for name, path in brought.items()]
        self.assertIn(f"file {BUILD_ID} 0 [kernel]\n".encode(), files[1][1])
        kept = self.file.rename(self.dir / "kept")
        for options in (dict(boots=[f"two {BUILD_ID}"]), dict(boots=[f"two {BUILD_ID}", "other"], n_joined=2)):
            self.record(self.places_text(0), files=files, **options)
            kept.rename(self.file)  # addr2line looks into it
            expected = run("addr2line", "-a", "-f", "-i", "-e", self.file, text="".join(f"{a:x}\n" for a in sorted(self.names)))
            self.file.rename(kept)
            lines = [re.sub(r" \(.*", "", place) for place in expected.splitlines()]
            chains = [list(zip(*[iter(part.splitlines()[1:])] * 2)) for part in re.split(r"^(?=0x)", "\n".join(lines), flags=re.MULTILINE)[1:]]
            told = [[(frame["symbol"], f"{frame['file']}:{frame['line']}") for frame in stack] for stack in self.stacks()]
            self.assertEqual([[place for _, place in stack] for stack in told],
                             [[place for _, place in chain] for chain in chains])
            self.assertEqual([stack[:-1] for stack in told[:len(chains)]], [chain[:-1] for chain in chains])

    def test_joined_captures(self):
        """The load address of one of them is unknown."""
        self.record(f"{TEXT + MOVED:016x} - _text\n{TEXT + MOVED:016x} T listed\n", n_joined=2)
        for stack in self.stacks():
            self.assertEqual([(frame["symbol"], frame.get("line")) for frame in stack], [("listed", None)])

    def instructions(self, focus, *words):
        done = run(REPORT, "disassembly", "--focus", focus, "--debug-dir", self.dir, *words, "--format", "json", "--limit", "0", self.dir / "x.syscap")
        return json.loads(done)["rows"]

    def note(self, focus):
        return run(REPORT, "disassembly", "--focus", focus, "--debug-dir", self.dir, self.dir / "x.syscap")

    def list_symbols(self):
        """Like the kernel's list, which has no ends of functions, with another function far after the last."""
        starts = {name: min(a for a in self.names if self.names[a] == name) for name in self.names.values()}
        return f"{TEXT + MOVED:016x} - _text\n" + "".join(f"{a + MOVED:016x} T {name}\n" for name, a in starts.items()) + \
            f"{max(self.names) + MOVED + 64:016x} T behind\n"

    def test_instructions(self):
        """objdump's output for the file at its load address; a sample at each byte, lines as in addr2line."""
        for kallsyms in (self.list_symbols(), f"{TEXT + MOVED:016x} - _text\n"):
            self.record(kallsyms)
            for name in ("outer", "other"):
                places = sorted(a for a in self.names if self.names[a] == name)
                text = run("objdump", "-d", "-w", "-M", "intel", "--insn-width=16", f"--adjust-vma={MOVED}",
                           f"--start-address={places[0] + MOVED}", f"--stop-address={places[-1] + 1 + MOVED}", self.file)
                theirs = [(int(at, 16), code.strip()) for at, code in re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t", text, re.M)]
                # The one is inlined into the other, too.
                rows = [row for row in self.instructions(name) if row["function"] == name]
                self.assertEqual([(int(row["address"], 16), row["bytes"]) for row in rows], theirs)
                self.assertEqual([row["self"] for row in rows], [len(row["bytes"].split()) for row in rows])
                self.assertEqual({row["binary"] for row in rows}, {"[kernel]"})
                told = run("addr2line", "-e", self.file, text="".join(f"{at - MOVED:x}\n" for at, _ in theirs))
                self.assertEqual([f"{row['file']}:{row['line']}" for row in rows], [line.split(" (")[0] for line in told.splitlines()])
                self.assertFalse([row for row in self.instructions(name, "--no-inlines") if "line" in row])
                self.assertIn("The running kernel patches its code", self.note(name))
            self.assertEqual({row.get("inlined") for row in self.instructions("outer")} - {None}, {"outer", "inner", "innermost"})

    def test_calls_within_the_kernel(self):
        """Callees count at the call, which is the instruction before the return address."""
        (self.dir / "kernel.c").write_text(SOURCE.replace("int\nouter", "__attribute__ ((noinline, noipa)) int\nouter"))
        self.link()
        start, end = [f(a for a in self.names if self.names[a] == "other") for f in (min, max)]
        code = re.findall(r"^ *([0-9a-f]+):\t[0-9a-f ]+?\t(\w+) .*", run("objdump", "-d", "-w", "--insn-width=16", f"--start-address={start}", f"--stop-address={end + 1}", self.file), re.M)
        call, = [i for i, row in enumerate(code) if row[1] in ("call", "bl")]
        capture = Capture(1, 2).metadata("org.gnome.sysprof.kernel-build-id", BUILD_ID)
        capture.file("/proc/kallsyms", self.list_symbols().encode())
        outer = min(a for a in self.names if self.names[a] == "outer")
        for _ in range(3):
            capture.sample([KERNEL, outer + MOVED, int(code[call + 1][0], 16) + MOVED], pid=PID)
        capture.save(self.dir / "x.syscap")
        rows = self.instructions("other")
        self.assertEqual([(int(row["address"], 16) - MOVED, row["total"]) for row in rows if row["total"]], [(int(code[call][0], 16), 3)])
        self.assertRegex(next(row["instruction"] for row in rows if row["total"]), rf"0x{outer + MOVED:x} <outer>")

    def test_instructions_that_nobody_has(self):
        self.record(self.list_symbols())
        whole = self.file.read_bytes()
        for change in (lambda: self.file.unlink(), lambda: run("objcopy", "--only-keep-debug", self.file),
                       lambda: self.record("".join(line for line in self.list_symbols().splitlines(True) if "_text" not in line))):
            self.file.write_bytes(whole)
            change()
            self.assertEqual(self.instructions("outer"), [])
            self.assertRegex(self.note("outer"), r"'o\w+' is a function of the kernel\. Its code is read from the kernel's file \(vmlinux\).*--debuginfod")

    def test_lines_of_another_kernel(self):
        self.record(f"{TEXT + MOVED:016x} - _text\n{TEXT + MOVED:016x} T listed\n")
        run("ld", f"-Ttext={TEXT:#x}", "--build-id=0x" + "cd" * 20, f"--defsym=_text={TEXT}", "-e0", "-o", self.file, self.dir / "kernel.o")
        for stack in self.stacks():
            self.assertEqual([(frame["symbol"], frame.get("line")) for frame in stack], [("listed", None)])


if __name__ == "__main__":
    unittest.main()
