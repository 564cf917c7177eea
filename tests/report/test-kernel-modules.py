#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares names, lines, inlined functions and instructions of kernel modules with nm, addr2line and objdump.
A module is compiled here as the kernel's build does it, without linking. A capture made by hand has the
addresses of its sections.

usage: test-kernel-modules.py SYSPROF-REPORT PRINT-SYMBOLS
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
PID, BUILD_ID, RELEASE = 4000001, "ab" * 20, "6.1.0-77-none"
PLACES = {".text": 0xFFFFFFFFC0800000, ".init.text": 0xFFFFFFFFC0900000, ".text.unlikely": 0xFFFFFFFFC0810000}
SOURCES = ("""
extern int exported (int x);
int shared_count = 1;

static inline __attribute__ ((always_inline)) int
inner (int x)
{
  int y = exported (x) + shared_count;
  return y * 3;
}

int
outer (int x)
{
  int y = inner (x);
  return y + shared_count;
}

int __attribute__ ((section (".init.text")))
first_init (int x)
{
  return outer (x) - inner (x + 1);
}
""", """
extern int exported (int x), outer (int x);

static int __attribute__ ((noinline))
hidden (int x)
{
  return exported (x) * 5;
}

int
second (int x)
{
  return hidden (x) + outer (x);
}

int __attribute__ ((section (".text.unlikely")))
rare (int x)
{
  return hidden (x) - 1;
}
""")


def run(*command, text=None):
    return subprocess.run([str(word) for word in command], input=text, check=True, text=True, capture_output=True).stdout


def can_build():
    return all(map(shutil.which, ("cc", "ld", "nm", "addr2line", "objcopy", "readelf"))) and os.uname().machine in ("x86_64", "aarch64")


@unittest.skipUnless(can_build(), "needs a compiler and binutils of a machine whose relocations are known")
class KernelModules(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.built = self.dir / "my-module.o"

    def build(self, *options):
        for i, source in enumerate(SOURCES):
            (self.dir / f"{i}.c").write_text(source)
            run("cc", "-g", "-O2", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables", *options, "-c", "-o", self.dir / f"{i}.o",
                self.dir / f"{i}.c")
        run("ld", "-r", f"--build-id=0x{BUILD_ID}", "-o", self.built, self.dir / "0.o", self.dir / "1.o")
        headers = {m[2]: int(m[1]) for m in re.finditer(r"^ *\[ *(\d+)\] (\S+)", run("readelf", "-SW", self.built), re.MULTILINE)}
        self.sizes = {m[1]: int(m[2], 16) for m in re.finditer(r"\] (\S+) +PROGBITS +\w+ \w+ (\w+)", run("readelf", "-SW", self.built))}
        self.functions = []  # section, offset, size, name
        for line in run("readelf", "-sW", self.built).splitlines():
            words = line.split()
            if len(words) == 8 and words[3] == "FUNC" and words[6].isdigit():
                section = next(name for name, number in headers.items() if number == int(words[6]))
                self.functions.append((section, int(words[1], 16), int(words[2], 0), words[7]))
        self.assertEqual({f[3] for f in self.functions}, {"outer", "first_init", "hidden", "second", "rare"})
        self.assertEqual({f[0] for f in self.functions}, set(PLACES))

    def places(self):
        return [(section, offset + i, name) for section, offset, size, name in sorted(self.functions) for i in range(size)]

    def install(self, path, *command):
        path = self.dir / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if command:
            path.write_bytes(subprocess.run([*command, self.built], check=True, capture_output=True).stdout)
        else:
            shutil.copy(self.built, path)
        return path

    def record(self, modules=None, files=(), boots=("one -",), beside=(), release=RELEASE):
        if modules is None:
            modules = f"other - .text=1\nmy_module {BUILD_ID} " + " ".join(f"{name}={at:x}" for name, at in PLACES.items()) + "\n"
        capture = Capture(1, 2)
        if release:
            capture.metadata("uname.release", release)
        for boot in boots:
            capture.metadata("capture-time", "then").metadata("org.gnome.sysprof.boot-id", boot)
        for name, data in [("__modules__", modules.encode()), *files]:
            capture.chunked_file(name, data)
        for section, offset, _ in self.places():
            capture.sample([KERNEL, PLACES[section] + offset], pid=PID)
        for address in beside:
            capture.sample([KERNEL, address], pid=PID)
        return capture.save(self.dir / "x.syscap")

    def stacks(self, *words):
        done = run(REPORT, "samples", *words, "--format", "json", "--limit", "0", self.dir / "x.syscap")
        return [[frame for frame in row["stack"] if frame["kind"] != "marker"] for row in json.loads(done)["rows"]]

    def chains(self):
        """Returns the answer of addr2line, which takes offsets in a section of such a file."""
        chains = []
        for section in sorted(PLACES):
            offsets = [offset for name, offset, _ in self.places() if name == section]
            told = run("addr2line", "-a", "-f", "-i", "-j", section, "-e", self.built, text="".join(f"{offset:x}\n" for offset in offsets))
            for part in re.split(r"^(?=0x)", told, flags=re.MULTILINE)[1:]:
                chains.append([(name, place.split(" (")[0]) for name, place in zip(*[iter(part.splitlines()[1:])] * 2)])
        self.assertTrue(any(len(chain) == 2 for chain in chains))
        return chains

    def check(self, *words):
        stacks = self.stacks(*words)
        self.assertEqual([[(frame["symbol"], f"{frame['file']}:{frame['line']}") for frame in stack] for stack in stacks], self.chains())
        self.assertEqual({(frame["kind"], frame["binary"]) for stack in stacks for frame in stack}, {("kernel", "[my_module]")})
        self.assertEqual([[frame.get("inlined", False) for frame in stack] for stack in stacks],
                         [[True] * (len(stack) - 1) + [False] for stack in stacks])

    def check_names(self, *words):
        self.assertEqual([stack[0]["symbol"] for stack in self.stacks(*words)], [name for _, _, name in self.places()])

    def dep(self, name):
        (self.dir / f"root/lib/modules/{RELEASE}").mkdir(parents=True, exist_ok=True)
        (self.dir / f"root/lib/modules/{RELEASE}/modules.dep").write_text(f"kernel/fs/x.ko:\nkernel/my/{name}: kernel/fs/x.ko\n")

    def test_places(self):
        """By its build ID or by its release, with the names of modules in files, whole, packed, or as a debug file."""
        debug, lib = f".build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}", f"lib/modules/{RELEASE}/kernel/my/my-module.ko"
        packers = {"": (), ".xz": ("xz", "-c"), ".gz": ("gzip", "-c"), ".zst": ("zstd", "-q", "-c")}
        options = {"debug": ("--debug-dir", self.dir / "debug"), "root": ("--sysroot", self.dir / "root")}
        for dwarf in ("-gdwarf-4", "-gdwarf-5"):
            self.build(dwarf)
            self.record()
            self.dep("my-module.ko")
            for path in (f"debug/{debug}.debug", f"debug/{debug}", f"root/usr/lib/debug/{debug}.debug", f"root/usr/lib/debug/{lib}",
                         f"root/usr/lib/debug/{lib}.debug", *(f"root/{lib}{suffix}" for suffix in packers)):
                command = packers[os.path.splitext(path)[1]] if path.startswith("root/lib") and not path.endswith(".ko") else ()
                if command and not shutil.which(command[0]):
                    continue
                with self.subTest(path=path, dwarf=dwarf):
                    self.dep("my-module.ko" + (os.path.splitext(path)[1] if command else ""))
                    file = self.install(path, *command)
                    self.check(*options[path.split("/")[0]])
                    os.remove(file)
            with self.subTest("separate"):
                stripped, separate = self.install(f"root/{lib}"), self.dir / f"debug/{debug}.debug"
                separate.parent.mkdir(parents=True, exist_ok=True)
                run("objcopy", "--only-keep-debug", stripped, separate)
                run("strip", "--strip-debug", stripped)
                self.check_names(*options["root"])
                self.check(*options["root"], *options["debug"])
                os.remove(stripped)
                os.remove(separate)

    def test_compressed_sections(self):
        self.build("-gz=zlib")
        self.record()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        self.check("--debug-dir", self.dir / "debug")

    def test_not_the_one(self):
        """Of another build, in other sections, or of who knows which."""
        self.build()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        for modules in ("", f"my_module {'cd' * 20} .text={PLACES['.text']:x}\n", f"my_module - .text={PLACES['.text']:x}\n",
                        f"my_module {BUILD_ID} .data={PLACES['.text']:x}\n", f"my_module {BUILD_ID} .text=0\n", f"../my_module {BUILD_ID} .text=x\n"):
            self.record(modules)
            self.assertEqual({stack[0]["symbol"][:10] for stack in self.stacks("--debug-dir", self.dir / "debug")}, {"[kernel+0x"}, modules)

    def test_what_lies_behind_a_section(self):
        """The section is not followed by the same one as in the file."""
        self.build()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        beside = [PLACES[section] + self.sizes[section] + i for section in sorted(PLACES) for i in range(256)]
        self.record(beside=beside)
        stacks = self.stacks("--debug-dir", self.dir / "debug")
        self.assertEqual([stack[-1]["symbol"] for stack in stacks], [name for _, _, name in self.places()] + [f"[kernel+{at:#x}]" for at in beside])
        self.assertFalse([frame for stack in stacks[-len(beside):] for frame in stack if frame.get("line")])

    def test_starts_that_are_not_told_apart(self):
        """If two modules have the same addresses, it is unknown which one was loaded; at different addresses
        both are found."""
        self.build()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        for boots, is_named in ((("one -", "two -"), False), (("one -", "one -"), True), (("one -", "two - 1"), True)):
            self.record(boots=boots)
            names = {stack[0]["symbol"] for stack in self.stacks("--debug-dir", self.dir / "debug")}
            self.assertEqual("outer" in names, is_named, boots)

    def test_carried(self):
        """The recording contains enough, if the file is gone."""
        self.build()
        file = self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        brought = {"__symbols__": self.dir / "symbols", "__lines__": self.dir / "lines"}
        run(PRINT_SYMBOLS, "--debug-dir", self.dir / "debug", "--pack", brought["__symbols__"], "--lines", brought["__lines__"], self.record())
        os.remove(file)
        self.record(files=[(name, path.read_bytes()) for name, path in brought.items()])
        self.check()

    def test_more_than_are_looked_for(self):
        """As many as would keep a person waiting: those at the lowest addresses are, and it is said that others are not."""
        self.build()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        others = [(f"other_{i}", PLACES[".text.unlikely"] + (i + 1) * 0x1000) for i in range(4100)]
        modules = [f"my_module {BUILD_ID} .text={PLACES['.text']:x} .text.unlikely={PLACES['.text.unlikely']:x}"]
        modules += [f"{name} {i:040x} .text={at:x}" for i, (name, at) in enumerate(others)]
        # The last of them would have been found by the build ID that it has.
        last = others[-1][1] + 0x1000
        modules.append(f"last {BUILD_ID} .text={last:x}")
        outer = next(offset for section, offset, _, name in self.functions if name == "outer")
        capture = self.record("\n".join(modules) + "\n", beside=[at for _, at in others] + [last + outer], release=None)
        options = ("--no-inlines", "--debug-dir", self.dir / "debug")  # names alone: it is thousands of files that are not there
        stacks = self.stacks(*options)
        self.assertIn("outer", {stack[-1]["symbol"] for stack in stacks})
        self.assertEqual(stacks[-1][-1]["symbol"], f"[kernel+{last + outer:#x}]")
        rows = json.loads(run(REPORT, "quality", "--format", "json", *options, capture))["rows"]
        told = [row["reason"] for row in rows if "were not looked for" in row["reason"]]
        self.assertTrue(told and all(re.search(r"4,096 of their sections .*: '\[other_\d+\]' and \d+ more$", reason) for reason in told), rows)

    def rows_of(self, view, focus, *words):
        done = run(REPORT, view, "--focus", focus, *words, "--format", "json", "--limit", "0", self.dir / "x.syscap")
        return [row for row in json.loads(done)["rows"] if view != "disassembly" or row["function"] == focus]

    def linked(self):
        """{section: [(address, bytes, mnemonic, what it refers to)]}, as a linker puts it where the kernel had it, with all that is not of the module."""
        script = "".join(f"{name} {at:#x} : {{ *({name}) }} " for name, at in {**PLACES, ".data": 0xFFFFFFFFC0A00000}.items())
        (self.dir / "script").write_text("SECTIONS { " + script + "/DISCARD/ : { *(.note*) *(.comment) } }")
        run("ld", "-T", self.dir / "script", "--defsym=exported=0xffffffffc0b00000", "-e0", "-o", self.dir / "linked", self.built)
        found = {}
        for section in PLACES:
            text = run("objdump", "-d", "-w", "-M", "intel", "--insn-width=16", "-j", section, self.dir / "linked")
            found[section] = [(int(at, 16), code.strip(), words.split()[0], (re.findall(r"<([^>]+)>$", words) or [None])[0])
                              for at, code, words in re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$", text, re.MULTILINE)]
        return found

    def relocated(self):
        """{section: [offset]} where the file leaves something to who links it."""
        found, section = {}, None
        for line in run("readelf", "-rW", self.built).splitlines():
            match = re.match(r"Relocation section '\.rela(\S+)'", line)
            if match:
                section = match[1]
            elif re.match(r"[0-9a-f]{12,}  ", line):
                found.setdefault(section, []).append(int(line.split()[0], 16))
        return found

    def check_instructions(self, *words):
        theirs, left = self.linked(), self.relocated()
        n_linked, n_named = 0, 0
        for section, offset, size, name in self.functions:
            rows = self.rows_of("disassembly", name, *words)
            begin = PLACES[section] + offset
            expected = [row for row in theirs[section] if begin <= row[0] < begin + size]
            self.assertEqual([(int(row["address"], 16), len(row["bytes"].split())) for row in rows], [(at, len(code.split())) for at, code, _, _ in expected])
            self.assertEqual([row["self"] for row in rows], [len(row["bytes"].split()) for row in rows])
            self.assertEqual({row["binary"] for row in rows}, {"[my_module]"})
            for row, (at, code, mnemonic, target) in zip(rows, expected):
                self.assertEqual(row["instruction"].split()[0], mnemonic)
                open_ = [where for where in left.get(section, ()) if at <= where + PLACES[section] < at + len(code.split())]
                named = (re.findall(r" <([^>]+)>$", row["instruction"]) or [None])[0]
                if target is not None and target.split("+")[0] != name:
                    self.assertEqual(named, target, (row, target))
                if row["bytes"] == code:
                    n_linked += bool(open_)
                else:  # what it refers to lies in another section, or outside: its name stands for it
                    self.assertTrue(open_ and named, row)
                    n_named += 1
            # addr2line takes offsets in a section of such a file.
            told = run("addr2line", "-a", "-f", "-i", "-j", section, "-e", self.built, text="".join(f"{at - PLACES[section]:x}\n" for at, _, _, _ in expected))
            chains = [list(zip(*[iter(part.splitlines()[1:])] * 2)) for part in re.split(r"^(?=0x)", told, flags=re.MULTILINE)[1:]]
            self.assertEqual([(f"{row['file']}:{row['line']}", row.get("inlined")) for row in rows],
                             [(chain[0][1].split(" (")[0], chain[0][0] if len(chain) > 1 else None) for chain in chains])
        self.assertGreater(n_linked, 0)
        self.assertGreater(n_named, 3)

    @unittest.skipUnless(os.uname().machine == "x86_64", "objdump prints words, and no bytes, for others")
    def test_instructions(self):
        """objdump's output for the module linked to its load address, and addr2line's for its file; a sample
        at each byte."""
        self.build()
        self.record()
        file = self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        debug = ("--debug-dir", self.dir / "debug")
        self.check_instructions(*debug)
        self.assertEqual({row["inlined"] for row in self.rows_of("disassembly", "outer", *debug) if "inlined" in row}, {"inner"})
        self.assertFalse([row for row in self.rows_of("disassembly", "outer", *debug, "--no-inlines") if "line" in row])
        # Distributions have its code in one file and its debug information in another.
        os.remove(file)
        stripped = self.install(f"root/lib/modules/{RELEASE}/kernel/my/my-module.ko")
        self.dep("my-module.ko")
        run("objcopy", "--only-keep-debug", stripped, file)
        run("strip", "--strip-debug", stripped)
        self.check_instructions("--sysroot", self.dir / "root", *debug)
        # A debug file in which sections are elsewhere has other lines than that code.
        run("objcopy", "--only-keep-debug", "--set-section-alignment", ".init.text=65536", self.built, file)
        self.assertFalse([row for row in self.rows_of("disassembly", "first_init", "--sysroot", self.dir / "root", *debug) if "line" in row])
        os.remove(stripped)
        self.assertEqual(self.rows_of("disassembly", "outer", *debug), [])
        note = run(REPORT, "disassembly", "--focus", "outer", *debug, self.dir / "x.syscap")
        self.assertRegex(note, r"'outer' is a function of the kernel module \[my_module\].*build ID")

    def test_instructions_of_other_machines(self):
        """Targets outside of the module are unknown here, and operands without relocation are not shown."""
        self.build()
        self.record()
        file = self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        content = bytearray(file.read_bytes())
        for machine in (243, 22, 21, 8):  # RISC-V, s390, PowerPC, MIPS
            content[18:20] = machine.to_bytes(2, sys.byteorder)
            file.write_bytes(content)
            self.assertIn("outer", {stack[-1]["symbol"] for stack in self.stacks("--no-inlines", "--debug-dir", self.dir / "debug")})
            self.assertEqual(self.rows_of("disassembly", "outer", "--debug-dir", self.dir / "debug"), [])

    def test_code_of_no_module(self):
        """The kernel's list names it as if it were one's."""
        self.functions = []
        at = PLACES[".text"]
        self.record("", files=[("/proc/kallsyms", f"{at:x} t bpf_prog_1_of\t[bpf]\n{at + 64:x} t ftrace_trampoline\t[__builtin__ftrace]\n{at + 128:x} T end\n".encode())],
                    beside=[at, at + 64])
        for name in ("bpf_prog_1_of", "ftrace_trampoline"):
            note = run(REPORT, "disassembly", "--focus", name, self.dir / "x.syscap")
            self.assertRegex(note, rf"The kernel generated '{name}' while it ran \(\[\w+\]\), so its code is in no file")
            self.assertNotIn("/lib/modules", note)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is of this machine")
    def test_what_lies_before_data(self):
        """Compilers refer to places before a table, where the file has a function."""
        (self.dir / "x.s").write_text(".globl outer\n.type outer, @function\nouter: lea table-8(%rip), %rax\nret\n.balign 16\n.size outer, .-outer\n"
                                      ".section .rodata\n.balign 16\ntable: .quad 1\n")
        run("cc", "-c", "-o", self.dir / "x.o", self.dir / "x.s")
        run("ld", "-r", f"--build-id=0x{BUILD_ID}", "-o", self.built, self.dir / "x.o")
        self.functions = [(".text", 0, 16, "outer")]
        self.record()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        rows = self.rows_of("disassembly", "outer", "--debug-dir", self.dir / "debug")
        self.assertRegex(rows[0]["instruction"], r"^lea .* <\.rodata-0x8>$")

    def test_source(self):
        """Of inlined functions, too: each line has what addr2line says was there."""
        self.build()
        self.record()
        self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        chains = self.chains()
        for name in ("outer", "inner"):
            expected = {}
            for chain in chains:
                for place in {place for function, place in chain if function == name}:
                    expected[place] = expected.get(place, 0) + 1
            rows = self.rows_of("source", name, "--debug-dir", self.dir / "debug")
            self.assertEqual({f"{row['file']}:{row['line']}": row["total"] for row in rows if row["total"]}, expected)

    def test_damaged(self):
        """Whatever is in it, each sample stays."""
        self.build()
        self.record()
        path = self.install(f"debug/.build-id/{BUILD_ID[:2]}/{BUILD_ID[2:]}.debug")
        whole = path.read_bytes()
        sections = re.findall(r"^ *\[ *\d+\] (?:\.rela\S+|\.symtab) +\S+ +\w+ (\w+) (\w+)", run("readelf", "-SW", path), re.MULTILINE)
        self.assertGreater(len(sections), 5)
        for at, size in sections:
            for value in (b"\xff", b"\0", b"\x7f"):
                bytes_ = bytearray(whole)
                begin, size_ = int(at, 16), int(size, 16)
                bytes_[begin:begin + size_] = value * size_
                path.write_bytes(bytes_)
                self.assertEqual(len(self.stacks("--debug-dir", self.dir / "debug")), len(self.places()))
                done = subprocess.run([REPORT, "disassembly", "--focus", "first_init", "--debug-dir", self.dir / "debug", self.dir / "x.syscap"],
                                      capture_output=True, text=True) if value == b"\xff" else None
                if done is not None:  # the name may be gone
                    self.assertRegex(f"{done.returncode} {done.stderr}", r"^0 $|^[12] .*no function of this capture")


if __name__ == "__main__":
    unittest.main()
