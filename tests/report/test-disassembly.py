#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions in reports, against objdump: captures made by hand, with samples in functions of small programs that are compiled here.

usage: test-disassembly.py SYSPROF-REPORT DIRECTORY-OF-SOURCES
"""

import collections
import json
import os
import pathlib
import platform
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from captures import JIT, KERNEL, USER, Capture, symbol_table  # noqa: E402

REPORT, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.argv[1:] = []
PID, BASE = 4000001, 0x7F0000000000  # above the largest pid: no such process lives

PROGRAM = r"""
#include <stdio.h>
static volatile unsigned sink;
__attribute__ ((noinline)) static unsigned leaf (unsigned x) { return x * 1664525u / (x | 1); }
__attribute__ ((noinline)) static double floats (double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i] / 3; return s; }
static inline __attribute__ ((always_inline)) unsigned inlined (unsigned x)
{
  return (x ^ x >> 3) % 1000003;
}
__attribute__ ((noinline)) unsigned middle (unsigned x)
{
  unsigned sum = 0;
  for (unsigned i = 0; i < 10; i++)
    sum += leaf (x + i) + inlined (sum);
  if (sum == 7)
    printf ("%u\n", sum);
  return sum + 1;
}
__attribute__ ((noinline)) unsigned recursive (unsigned n) { return n == 0 ? 1 : n + recursive (n - 1) * recursive (n / 2); }
int main (int argc, char **argv)
{
  double x[5] = { argc };
  switch (argc) { case 1: sink = 3; break; case 2: sink = 5; break; case 3: puts (argv[1]); break; case 4: return 9; case 5: sink++; }
  sink = middle (argc) + recursive (argc) + (unsigned) floats (x, 5);
  return 0;
}
"""


def run(*command, fails=False):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stderr if fails else done.stdout


def as_json(*args):
    return json.loads(run(REPORT, *args, "--format", "json", "--limit", "0"))


def functions_of(path):
    """{name: (start, end)}"""
    return {match[3]: (int(match[1], 16), int(match[1], 16) + int(match[2], 16))
            for match in re.finditer(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] (\S+)$", run("nm", "-S", "--defined-only", path), re.M)}


# Prefixes, which the one writes before the mnemonic and the other before or behind it.
PREFIXES = {"cs", "ds", "es", "data16", "rep", "repz", "repe", "repnz", "repne", "bnd", "notrack", "lock", "rex.W"}


def mnemonic(text):
    words = [word for word in text.split() if word not in PREFIXES]
    # String instructions have their operand's size in the name, or not.
    return re.sub(r"^(stos|movs|lods|scas|cmps)[bwdq]$", r"\1", words[0]) if words else "nop"


def objdump(path, start, end):
    """[(address, bytes, mnemonic)]"""
    text = run("objdump", "-d", "-w", "-M", "intel", "--insn-width=16", f"--start-address={start}", f"--stop-address={end}", path)
    found = re.findall(r"^ +([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$", text, re.M)
    return [(int(at, 16), code.strip(), mnemonic(words)) for at, code, words in found]


class Disassembly(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.at = pathlib.Path(directory.name).resolve()

    def compile(self, *options, name="program", text=PROGRAM, compiler="gcc"):
        source = self.at / f"{name}.{'c' if compiler == 'gcc' else 'cc'}"
        source.write_text(text)
        path = self.at / name
        run(compiler, "-g", "-fno-pie", "-no-pie", "-o", path, *(options or ("-O2",)), source)
        return path

    def map(self, capture, path, at=BASE, inode=None, hex_id=None, pid=PID):
        """Returns the difference between addresses of the process and link-time addresses of the file."""
        load = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R ?E", run("readelf", "-lW", path))
        offset, address, size = [int(number, 16) for number in load.groups()]
        inode = os.stat(path).st_ino if inode is None else inode
        capture.map(at, at + (size + 4095 & ~4095), str(path), offset, inode, hex_id, pid=pid, time=0)
        return at - address

    def capture_of(self, path, stacks, **more):
        """One process, seen once in each stack of link-time addresses, innermost first."""
        capture = Capture(0, len(stacks) + 1).process("program", pid=PID, time=0)
        base = self.map(capture, path, **more)
        for i, stack in enumerate(stacks):
            capture.sample([USER] + [base + at for at in stack], pid=PID, tid=PID, time=i)
        return capture.save(self.at / "made.syscap")

    def check(self, path, name, rows):
        start, end = functions_of(path)[name]
        self.assertEqual([(int(row["address"], 16), row["bytes"], mnemonic(row["instruction"])) for row in rows], objdump(path, start, end))

    def test_instructions(self):
        """Those of objdump, each with as many samples as it has bytes, one at each."""
        programs = [(self.compile(option, name="program" + option), ("leaf", "floats", "middle", "recursive", "main"))
                    for option in ("-O0", "-O3")]
        inlines = (SOURCES / "inlines.cc").read_text()
        (self.at / "inlines.h").write_text((SOURCES / "inlines.h").read_text())
        programs.append((self.compile("-O2", name="inlines", text=inlines, compiler="g++"), ("main",)))
        for path, names in programs:
            functions = functions_of(path)
            for name in [name for name in names if name in functions]:
                with self.subTest(program=path.name, function=name):
                    start, end = functions[name]
                    capture = self.capture_of(path, [[at] for at in range(start, end)])
                    rows = as_json("disassembly", "--focus", name, capture)["rows"]
                    self.check(path, name, rows)
                    for row in rows:
                        size = len(row["bytes"].split())
                        self.assertEqual((row["function"], row["binary"], row["self"], row["total"]), (name, str(path), size, size))
                    own = sum(row["self"] for row in as_json("functions", "--no-inlines", capture)["rows"] if row["symbol"] == name)
                    self.assertEqual(sum(row["self"] for row in rows), own)

    def test_lines(self):
        """Of each instruction that line which addr2line, or one of its like, names."""
        path = self.compile()
        start, end = functions_of(path)["middle"]
        rows = as_json("disassembly", "--focus", "middle", self.capture_of(path, [[start]]))["rows"]
        answers = [run(tool, "-e", path, *[row["address"] for row in rows]).splitlines() for tool in ("addr2line", "eu-addr2line")]
        for i, row in enumerate(rows):
            known = {tuple(re.match(r"(.*?):(\d+)", lines[i]).groups()) for lines in answers}
            self.assertIn((row["file"], str(row["line"])), known, row)
        self.assertEqual({row.get("inlined") for row in rows}, {None, "inlined"})
        # As a heading, once where it stays the same.
        text = run(REPORT, "disassembly", "--focus", "middle", self.at / "made.syscap")
        places = [(row.get("inlined"), row["file"], row["line"]) for row in rows]
        changes = [place for i, place in enumerate(places) if i == 0 or places[i - 1] != place]
        self.assertEqual([tuple(found) for found in re.findall(r"^(?:(inlined)  )?(\S+):(\d+)$", text, re.M)],
                         [(name or "", file, str(line)) for name, file, line in changes])
        self.assertEqual(len(re.findall(rf"^middle  {re.escape(str(path))}$", text, re.M)), 1)

    def test_without_debug_information(self):
        path = self.compile("-O2", "-g0", "-fno-ident")
        start, end = functions_of(path)["middle"]
        rows = as_json("disassembly", "--focus", "middle", self.capture_of(path, [[start]]))["rows"]
        self.check(path, "middle", rows)
        self.assertFalse([row for row in rows if "line" in row or "file" in row])
        # Nor does anything stand above them but the function.
        text = run(REPORT, "disassembly", "--focus", "middle", self.at / "made.syscap")
        self.assertNotRegex(text, r"(?m)^(-|\(unknown\))$")

    def test_lines_not_wanted(self):
        path = self.compile()
        start, end = functions_of(path)["middle"]
        rows = as_json("disassembly", "--no-inlines", "--focus", "middle", self.capture_of(path, [[start]]))["rows"]
        self.check(path, "middle", rows)
        self.assertFalse([row for row in rows if "line" in row or "file" in row or "inlined" in row])

    def test_name_that_turns_the_line(self):
        path = self.compile(name="a\u202eb\u2066c")
        text = run(REPORT, "functions", self.capture_of(path, [[functions_of(path)["leaf"][0]]]))
        self.assertIn("a<U+202E>b<U+2066>c", text)
        self.assertNotRegex(text, "[\u202a-\u202e\u2066-\u2069]")

    def test_sources_too_large_together(self):
        """A program can name any number of large files."""
        names = [self.at / f"source{i}" for i in range(17)]
        names[0].touch()
        os.truncate(names[0], 16 << 20)
        for name in names[1:]:
            os.link(names[0], name)
        text = "".join(f'# 1 "{name}"\n__attribute__ ((noinline)) int many{i} (int x) {{ return x + {i}; }}\n' for i, name in enumerate(names))
        path = self.compile("-O0", text=text + "int main (void) { return many3 (1); }\n")
        functions = functions_of(path)
        capture = self.capture_of(path, [[functions[f"many{i}"][0]] for i in range(17)])
        self.assertRegex(run(REPORT, "source", "--focus", "many", capture), "cannot be read: File too large, and 1 more")

    def test_generated_code(self):
        """No file is missing here: there is none."""
        capture = Capture(0, 2).process("program", pid=PID, time=0)
        capture.jitmap([(JIT + 1, "generated")], time=0).sample([USER, JIT + 1], pid=PID, tid=PID, time=1)
        capture.save(self.at / "made.syscap")
        for view in ("source", "disassembly"):
            self.assertRegex(run(REPORT, view, "--focus", "generated", self.at / "made.syscap"), "was generated while the program ran.*'callers'")

    def dump(self, records, machine=62, cut=0):
        """Writes a jitdump: ("load", address, time, number, name, code), ("move", from, to, time, number, size),
        ("lines", address, time, [(address, line, name)]). Source: Linux, tools/perf/Documentation/jitdump-specification.txt."""
        data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, PID, 0, 0)
        for kind, *what in records:
            if kind == "load":
                at, time, number, name, code = what
                number, body = 0, struct.pack("<IIQQQQ", PID, PID, at, at, len(code), number) + name.encode() + b"\0" + code
            elif kind == "move":
                begin, at, time, number, size = what
                number, body = 1, struct.pack("<IIQQQQQ", PID, PID, at, begin, at, size, number)
            else:
                at, time, entries = what
                number, body = 2, struct.pack("<QQ", at, len(entries))
                body += b"".join(struct.pack("<QII", *entry[:2], 0) + entry[2] + b"\0" for entry in entries)
            data += struct.pack("<IIQ", number, 16 + len(body), time) + body
        path = self.at / f"jit-{PID}.dump"
        path.write_bytes(data[:len(data) - cut])
        return path

    def generated(self, path, lines, samples, inode=None, owners=None):
        """One process that mapped the dump `path`, and said `lines`: (start, size, time, name); seen at (time, address)."""
        capture = Capture(0, 1000).process("program", pid=PID, time=0)
        if path:
            capture.map(0x5000000, 0x5001000, str(path), 0, path.stat().st_ino if inode is None else inode, pid=PID, time=0)
        capture.map(0x10000000, 0x10100000, "//anon", 0, 0, pid=PID, time=0)
        for time, at in samples:
            capture.sample([USER, at], pid=PID, tid=PID, time=time)
        capture.chunked_file(f"/proc/{PID}/jit-code", "".join(f"{at:x} {size:x} {time} {name}\n" for at, size, time, name in lines).encode(), time=1000)
        if owners is not None:
            capture.file(f"/proc/{PID}/jit-owners", owners)
        return capture.save(self.at / "made.syscap")

    def code_of(self, path, name):
        """Its bytes, and the output of objdump for them at another address."""
        start, end = functions_of(path)[name]
        code = b"".join(bytes.fromhex(row[1]) for row in objdump(path, start, end))
        self.assertEqual(len(code), end - start)
        return code

    def objdump_at(self, code, address):
        raw = self.at / "raw"
        raw.write_bytes(code)
        text = run("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "-M", "intel", "--insn-width=16", f"--adjust-vma={address}", raw)
        return [(int(at, 16), words.strip(), mnemonic(rest)) for at, words, rest in re.findall(r"^ +([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$", text, re.M)]

    def check_generated(self, capture, name, expected, path):
        rows = as_json("disassembly", "--focus", name, capture)["rows"]
        self.assertEqual([(int(row["address"], 16), row["bytes"], mnemonic(row["instruction"])) for row in rows], expected)
        self.assertEqual({(row["function"], row["binary"]) for row in rows}, {(name, str(path))})
        return rows

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is that of this compiler")
    def test_jitdump(self):
        """Code of dumps, by time: compared with objdump's output for the same bytes."""
        path = self.compile("-O1")
        leaf, middle, floats = [self.code_of(path, name) for name in ("leaf", "middle", "floats")]
        at = 0x10000040
        records = [("load", at, 100, 1, "early", leaf), ("load", at, 500, 2, "late", middle),
                   ("load", 0x10002000, 100, 3, "moving", floats), ("move", 0x10002000, 0x10003000, 600, 3, len(floats))]
        lines = [(at, len(leaf), 100, "early"), (at, len(middle), 500, "late"),
                 (0x10002000, len(floats), 100, "moving"), (0x10003000, len(floats), 600, "moving")]
        samples = [(200, at)] * 3 + [(700 + i, at + i) for i in range(len(middle))] + [(300, 0x10002000), (900, 0x10003001), (900, 0x10003001)]
        dump = self.dump(records)
        capture = self.generated(dump, lines, samples)
        early = self.check_generated(capture, "early", self.objdump_at(leaf, at), dump)
        self.assertEqual([row["self"] for row in early], [3] + [0] * (len(early) - 1))
        late = self.check_generated(capture, "late", self.objdump_at(middle, at), dump)
        self.assertEqual([row["self"] for row in late], [len(row["bytes"].split()) for row in late])
        rows = as_json("disassembly", "--focus", "moving", capture)["rows"]
        self.assertEqual([(int(row["address"], 16), row["bytes"], mnemonic(row["instruction"])) for row in rows],
                         self.objdump_at(floats, 0x10003000) + self.objdump_at(floats, 0x10002000))
        self.assertEqual(sum(row["self"] for row in rows), 3)

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is that of this compiler")
    def test_jitdump_lines(self):
        """Of each instruction the line that addr2line names for the same code in a file, whose line table becomes that of the dump."""
        path = self.compile("-O0", "-gdwarf-4")
        start, end = functions_of(path)["middle"]
        table = []
        for match in re.finditer(r"^(\S+) +(\d+) +0x([0-9a-f]+)", run("objdump", "--dwarf=decodedline", path), re.M):
            if start <= int(match[3], 16) < end:
                table.append((int(match[3], 16), int(match[2])))
        self.assertGreater(len(table), 5)
        code, at = self.code_of(path, "middle"), 0x10000800
        rows = objdump(path, start, end)
        answers = run("addr2line", "-e", path, *[hex(row[0]) for row in rows]).splitlines()
        expected = [int(re.search(r":(\d+)", answer)[1]) for answer in answers]
        source = str(self.at / "program.c").encode()
        # As the specification has it; as V8 writes it for perf, too high by the header of an ELF file, and each file once.
        for shift, again in ((0, source), (0x40, b"\xff")):
            entries = [(at + address - start + shift, line, source if i == 0 else again) for i, (address, line) in enumerate(table)]
            for moved in (0, 0x10004000):
                records = [("lines", at, 90, entries), ("load", at, 100, 1, "with_lines", code)]
                lines = [(at, len(code), 100, "with_lines")]
                if moved:
                    records.append(("move", at, moved, 200, 1, len(code)))
                    lines.append((moved, len(code), 200, "with_lines"))
                dump = self.dump(records)
                capture = self.generated(dump, lines, [(300, moved or at)])
                found = self.check_generated(capture, "with_lines", self.objdump_at(code, moved or at), dump)
                self.assertEqual([row.get("line") for row in found], expected)
                self.assertEqual({row["file"] for row in found}, {source.decode()})
                self.assertFalse([row for row in as_json("disassembly", "--focus", "with_lines", "--no-inlines", capture)["rows"] if "line" in row])
        # Names that are none, as Node.js writes them, cost the name alone.
        entries = [(at + address - start + 0x40, line, b"\xc3k\xa6\x15\0" + b"\0\0\0abcdefgh\1jklm" + b"gram.c") for address, line in table]
        dump = self.dump([("lines", at, 90, entries), ("load", at, 100, 1, "with_lines", code)])
        found = self.check_generated(self.generated(dump, [(at, len(code), 100, "with_lines")], [(300, at)]), "with_lines", self.objdump_at(code, at), dump)
        self.assertEqual({row.get("file") for row in found}, {None})
        text = run(REPORT, "disassembly", "--focus", "with_lines", self.at / "made.syscap")
        self.assertEqual(set(re.findall(r"(?m)^line (\d+)$", text)), {str(row["line"]) for row in found if "line" in row})
        self.assertGreater(len({row.get("line") for row in found}), 2)

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is that of this compiler")
    def test_jitdump_of_somebody_else(self):
        """At the same path, with the same inode number: it is used only if its owner is the recorded one."""
        code = self.code_of(self.compile("-O1"), "leaf")
        at, owner = 0x10000040, os.geteuid() or 65534
        records, lines, samples = [("load", at, 100, 1, "made", code)], [(at, len(code), 100, "made")], [(200, at)]
        dump = self.dump(records)
        os.chown(dump, owner, -1)
        for owners in (f"{owner}\n", f"0\n{owner}\n"):
            self.check_generated(self.generated(dump, lines, samples, owners=owners.encode()), "made", self.objdump_at(code, at), dump)
        refused = [owners.encode() for owners in ("0\n", f"{owner + 1}\n", "", f"x{owner}\n", f"{owner}x\n", f"{owner}0\n", f"{owner + (1 << 32)}\n")]
        for owners in (*refused, *([] if owner == os.geteuid() else [None])):
            capture = self.generated(dump, lines, samples, owners=owners)
            self.assertEqual(as_json("disassembly", "--focus", "made", capture)["rows"], [], owners)
            self.assertIn("belongs to another user", run(REPORT, "disassembly", "--focus", "made", capture))
        if os.geteuid() == 0:
            os.chown(dump, 0, -1)
        self.check_generated(self.generated(dump, lines, samples), "made", self.objdump_at(code, at), dump)

    def test_jitdump_that_cannot_be_shown(self):
        code = self.code_of(self.compile("-O1"), "leaf")
        at = 0x10000040
        records, lines, samples = [("load", at, 100, 1, "made", code)], [(at, len(code), 100, "made")], [(200, at)]
        dump = self.dump(records)

        def note(capture):
            self.assertEqual(as_json("disassembly", "--focus", "made", capture)["rows"], [])
            return run(REPORT, "disassembly", "--focus", "made", capture)

        self.assertRegex(note(self.generated(dump, lines, samples, inode=dump.stat().st_ino + 1)), "jitdump, which contains the code, is missing")
        self.assertRegex(note(self.generated(dump, lines, samples, inode=0)), "no file on this machine can be identified as the recorded one")
        self.assertRegex(note(self.generated(None, lines, samples)), "was generated at run time, and the program reported only its name.*'callers'")
        self.assertRegex(note(self.generated(self.dump(records, machine=0), lines, samples)), "does not support its instruction set")
        self.assertRegex(note(self.generated(self.dump(records, cut=1), lines, samples)), "jitdump does not contain it")
        self.assertRegex(note(self.generated(self.dump([("load", at, 101, 1, "made", code)]), lines, samples)), "jitdump does not contain it")
        capture = self.generated(dump := self.dump(records), lines, samples)
        whole = dump.read_bytes()
        dump.write_bytes(b"no dump at all" * 10)
        self.assertRegex(note(capture), "is not a jitdump")
        # Whatever the file contains: rows or a message.
        for i in range(0, len(whole), 3):
            dump.write_bytes(whole[:i] + b"\xff\xff\xff" + whole[i + 3:])
            done = subprocess.run([REPORT, "disassembly", "--focus", "made", capture], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        dump.unlink()
        self.assertRegex(note(capture), "jitdump, which contains the code, is missing")

    def test_calls(self):
        """Callees count at the call instruction, once per stack; a return address that was also sampled is
        two rows."""
        path = self.compile("-O1", "-fno-optimize-sibling-calls")
        functions = functions_of(path)
        code = objdump(path, *functions["recursive"])
        calls = [i for i, row in enumerate(code) if row[2] == "call"]
        self.assertEqual(len(calls), 2)
        behind = [code[i + 1][0] for i in calls]
        stacks = [
            [functions["leaf"][0], behind[0]],                        # through the first call
            [code[0][0], behind[0], behind[0], behind[1]],            # through both, and in itself
            [behind[0]],                                              # there, and not as a caller
            [code[calls[1]][0], behind[1]],                           # at the call that the outer one is in
        ]
        expected = collections.Counter({(code[calls[0]][0], "total"): 2, (code[calls[1]][0], "total"): 2, (code[0][0], "self"): 1,
                                        (code[0][0], "total"): 1, (behind[0], "self"): 1, (behind[0], "total"): 1,
                                        (code[calls[1]][0], "self"): 1})
        rows = as_json("disassembly", "--focus", "recursive", self.capture_of(path, stacks))["rows"]
        found = {(int(row["address"], 16), key): row[key] for row in rows for key in ("self", "total") if row[key]}
        self.assertEqual(found, dict(expected))
        called = [row["instruction"] for row in as_json("disassembly", "--focus", "middle",
                                                        self.capture_of(path, [[functions["middle"][0]]]))["rows"]]
        self.assertTrue([text for text in called if text == f"call {functions['leaf'][0]:#x} <leaf>"], called)

    def test_selection(self):
        """Weights are those of the selection; where nothing of it is in the function, that is said."""
        path = self.compile()
        start, end = functions_of(path)["leaf"]
        capture = self.capture_of(path, [[start]] * 3)
        self.assertEqual(as_json("disassembly", "--focus", "leaf", "--time", "1ns..", capture)["rows"][0]["self"], 2)
        self.assertIn("No selected sample is in 'leaf'", run(REPORT, "disassembly", "--focus", "leaf", "--time", "1s..", capture))

    def test_inlined(self):
        """Of a function that was inlined those of its instructions, wherever they are."""
        path = self.compile()
        start, end = functions_of(path)["middle"]
        capture = self.capture_of(path, [[at] for at in range(start, end)])
        total, = [row["total"] for row in as_json("functions", capture)["rows"] if row["symbol"] == "inlined"]
        rows = as_json("disassembly", "--focus", "inlined", capture)["rows"]
        self.assertEqual({(row["function"], row["inlined"]) for row in rows}, {("middle", "inlined")})
        self.assertEqual(sum(row["self"] for row in rows), total)
        self.assertGreater(total, 0)

    def test_function_without_a_name(self):
        """A function that the recorder found in a stripped file, with only its start in the capture: shown
        once, with its total weight."""
        path = self.compile("-O2")
        start, end = functions_of(path)["leaf"]
        run("strip", path)
        capture = Capture(0, end - start + 1).process("program", pid=PID, time=0)
        base = self.map(capture, path)
        for at in range(start, end):
            capture.sample([USER, base + at], pid=PID, tid=PID, time=at - start)
        lines = [f"{PID} {base + at:x} {at:x} no-symbols function {start:x}\n" for at in range(start, end)]
        capture.chunked_file("__unnamed__", "".join(lines).encode(), time=end - start)
        rows = as_json("disassembly", "--focus", f"[program:{start:#x}]", capture.save(self.at / "made.syscap"))["rows"]
        expected = objdump(path, start, end)
        self.assertEqual([(int(row["address"], 16), row["bytes"], row["self"]) for row in rows[:len(expected)]],
                         [(at, code, len(code.split())) for at, code, _ in expected])
        self.assertEqual(sum(row["self"] for row in rows), end - start)

    def test_two_files(self):
        """Functions of one name in two files are shown separately, the heavier one first."""
        paths = [self.compile(option, name=name) for name, option in (("first", "-O2"), ("second", "-O0"))]
        capture = Capture(0, 9).process("program", pid=PID, time=0)
        bases = [self.map(capture, path, at=BASE + (i << 30)) for i, path in enumerate(paths)]
        starts = [functions_of(path)["leaf"][0] for path in paths]
        for i in range(3):
            capture.sample([USER, bases[i > 0] + starts[i > 0]], pid=PID, tid=PID, time=i)
        rows = as_json("disassembly", "--focus", "leaf", capture.save(self.at / "made.syscap"))["rows"]
        self.assertEqual(list(dict.fromkeys(row["binary"] for row in rows)), [str(paths[1]), str(paths[0])])
        for path, weight in zip(paths, (1, 2)):
            own = [row for row in rows if row["binary"] == str(path)]
            self.check(path, "leaf", own)
            self.assertEqual(own[0]["self"], weight)

    def test_what_cannot_be_shown(self):
        path = self.compile("-O2", "-Wl,--build-id=0x0123456789abcdef")
        start = functions_of(path)["leaf"][0]
        # Names come with the capture.
        base = self.map(Capture(0, 1), path)
        names = symbol_table([(base + start, base + functions_of(path)["leaf"][1], PID, "leaf", "program")])

        def notes(change, focus="leaf", **more):
            copy = self.at / "copy"
            copy.write_bytes(path.read_bytes())
            capture = Capture(0, 3).process("program", pid=PID, time=0)
            capture.metadata("uname.release", more.pop("release", os.uname().release), time=0)
            base = self.map(capture, copy, **more)
            capture.sample([USER, base + start], pid=PID, tid=PID, time=1)
            capture.sample([KERNEL, 0xFFFFFFFF81000010, USER, base + start], pid=PID, tid=PID, time=2)
            capture.chunked_file("__symbols__", names, time=2)
            change(copy)
            saved = capture.save(self.at / "made.syscap")
            self.assertEqual(as_json("disassembly", "--focus", focus, saved)["rows"], [])
            return run(REPORT, "disassembly", "--focus", focus, saved)

        def cut(copy):
            os.truncate(copy, 40)

        hex_id = "0123456789abcdef"
        self.assertRegex(notes(pathlib.Path.unlink, hex_id=hex_id), "copy' cannot be shown: the file is not on this machine")
        self.assertRegex(notes(cut, hex_id=hex_id), "copy' cannot be shown: not an ELF file, or a damaged one")
        self.assertRegex(notes(lambda copy: None, hex_id=hex_id[::-1]), "copy' cannot be shown: the file on this machine has another build ID")
        self.assertRegex(notes(lambda copy: None, inode=1), "copy' cannot be shown: the file was replaced after the recording|no file on this machine can be identified")
        self.assertRegex(notes(lambda copy: None, release="0.1", inode=0), "no file on this machine can be identified as the recorded one")
        self.assertRegex(notes(lambda copy: copy.write_text("#!/bin/sh\n"), hex_id=hex_id), "copy' cannot be shown: not an ELF file")
        self.assertRegex(notes(lambda copy: None, focus="kernel+0x", hex_id=hex_id), "is a function of the kernel")
        message = run(REPORT, "disassembly", "--focus", "nowhere", self.at / "made.syscap", fails=True)
        self.assertIn("no function of this capture has that in its name", message)
        message = run(REPORT, "disassembly", self.at / "made.syscap", fails=True)
        self.assertIn("name the function with --focus", message)

    def check_answer(self, capture):
        """The name may be gone with the symbol table."""
        done = subprocess.run([REPORT, "disassembly", "--focus", "middle", capture], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done)
        self.assertNotIn("Sanitizer", done.stderr)
        if done.returncode:
            self.assertIn("no function of this capture", done.stderr)

    def test_damaged(self):
        """Whatever the file contains: rows or a message."""
        path = self.compile("-O2", "-Wl,--build-id=0x0123456789abcdef")
        start, end = functions_of(path)["middle"]
        capture = self.capture_of(path, [[at] for at in range(start, end)], hex_id="0123456789abcdef")
        whole = path.read_bytes()
        for step in (3, 1021):
            for at in range(step, min(len(whole), 4096), 800):
                damaged = bytearray(whole)
                for i in range(at, min(at + step, len(damaged))):
                    damaged[i] = 0xFF ^ damaged[i]
                path.write_bytes(damaged)
                self.check_answer(capture)
        path.write_bytes(whole)
        # Invalid instructions keep their addresses.
        load = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R ?E", run("readelf", "-lW", path))
        offset = start - int(load[2], 16) + int(load[1], 16)
        damaged = bytearray(whole)
        damaged[offset:offset + end - start] = b"\x06" * (end - start)
        path.write_bytes(damaged)
        rows = as_json("disassembly", "--focus", "middle", capture)["rows"]
        self.assertEqual([(int(row["address"], 16), row["instruction"], row["self"]) for row in rows],
                         [(at, ".byte 0x06", 1) for at in range(start, end)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
