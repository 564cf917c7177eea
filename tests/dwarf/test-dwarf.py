#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares src/dwarf with addr2line of binutils and of elfutils, and with llvm-symbolizer, for every address
of small programs that are compiled in many ways.

usage: test-dwarf.py PRINT-LINES

Each of our answers must equal that of one tool. For some ways of compiling, not all tools are trusted:
- binutils names the wrong file for the innermost frame of some inlined functions (that of the unit instead
of the header), where elfutils and LLVM name the right one. It does not read split units; their answers
must equal those of the same program without split units.
- LLVM and binutils take the outermost name from the symbol table if the debug information has no linkage
name.
- elfutils 0.188 prints the line of another call if the code of a call has several parts, takes some names
from the symbol table, and does not read packages of split units.

An answer counts as confirmed if a tool gives the same. It counts as "mixed" if a tool gives the same
except for the outermost name. This happens in C++, where elfutils has another line, and LLVM and binutils
have the symbol. The number of differences from each tool is printed.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import emulator

PRINT_LINES = emulator.command(os.path.abspath(sys.argv[1]))
HERE = pathlib.Path(__file__).resolve().parent
sys.argv[1:] = []
NATIVE = emulator.native_environment()

# Of the C library's start-up code and of the linker there is no debug information: addr2line falls back to symbols.
WITHOUT = re.compile(r"_start$|_init$|_fini$|__do_global|deregister_tm|register_tm|frame_dummy|_dl_relocate|__libc_csu|atexit$")


def run(*command, text=None, cwd=None, check=True):
    done = subprocess.run(command, input=text, text=True, capture_output=True, env=NATIVE, cwd=cwd)
    if done.returncode != 0 and check:
        raise AssertionError(f"{command}: {done.stderr}{done.stdout}")
    return done.stdout


def have(tool):
    return shutil.which(tool, path=NATIVE.get("PATH") if NATIVE else None) is not None


def works(*command):
    return have(command[0]) and subprocess.run(command, env=NATIVE, capture_output=True).returncode == 0


def addresses_of(path):
    """Every address of every function that a compiler made here."""
    found = set()
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTW] (\S+)$", line)
        if match and not WITHOUT.match(match[3]):
            found.update(range(int(match[1], 16), int(match[1], 16) + int(match[2], 16)))
    return sorted(found)


def frames(text):
    """{address: [(function, file, line)]}; the file without '.' and '//', as tools differ in that."""
    answers, rows, name = {}, None, None
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            rows, name = answers.setdefault(int(line, 16), []), None
        elif not line or rows is None:
            continue
        elif name is None:
            name = re.sub(r" inlined at .*", "", line)
        else:
            match = re.match(r"(.*?):(\d+|\?)(:\d+)?( \(discriminator \d+\))?$", line)
            number = 0 if match[2] == "?" else int(match[2])
            path = "??" if match[1] == "??" or number == 0 else os.path.normpath(match[1])
            rows.append((name, path, number))
            name = None
    return answers


def ask(command, path, addresses):
    """eu-addr2line fails where it has no line for one of them, whatever else it found."""
    text = "".join(f"0x{address:x}\n" for address in addresses)
    return frames(run(*command, path, text=text, check=command[0] != "eu-addr2line"))


OTHERS = {
    "binutils": ("addr2line", "-f", "-i", "-a", "-e"),
    "elfutils": ("eu-addr2line", "-f", "-i", "-a", "-e"),
    "LLVM": ("llvm-symbolizer", "--no-demangle", "-f=linkage", "-i", "-a", "--output-style=GNU", "-e"),
}


class Dwarf(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.at = pathlib.Path(directory.name)
        for source in HERE.glob("*.[ch]*"):
            shutil.copy(source, self.at)

    def compile(self, name, compiler, *options, sources=("inlines.c", "other-unit.c")):
        objects = []
        for source in sources:
            objects.append(f"{name}-{source}.o")
            run(compiler, "-c", "-o", objects[-1], *options, source, cwd=self.at)
        run(compiler, "-o", name, *options, *objects, cwd=self.at)
        return str(self.at / name)

    def compare(self, path, others=("binutils", "elfutils", "LLVM"), least_inlined=50):
        addresses = addresses_of(path)
        ours = ask(PRINT_LINES, path, addresses)
        self.assertEqual(ask([*PRINT_LINES, "-t"], path, addresses), ours)
        theirs = {name: ask(OTHERS[name], path, addresses) for name in others if have(OTHERS[name][0])}
        self.assertTrue(theirs, "none of the other programs is here")
        self.assertEqual(sorted(ours), addresses)
        counts = collections.Counter()
        wrong = []
        for address in addresses:
            mine = ours[address]
            agree = [name for name in theirs if theirs[name].get(address) == mine]
            counts["asked"] += 1
            counts["inlined"] += len(mine) > 1
            counts["unlike " + ", ".join(sorted(set(theirs) - set(agree)))] += len(agree) < len(theirs)
            counts["mixed"] += not agree
            if not agree and not self.is_known(mine, [theirs[name].get(address) for name in theirs]):
                wrong.append((hex(address), mine, {name: theirs[name].get(address) for name in theirs}))
        print(os.path.basename(path), dict(+counts), flush=True)
        self.assertFalse(wrong[:1], f"{len(wrong)} of {len(addresses)} differ from all")
        self.assertGreaterEqual(counts["inlined"], least_inlined)

    @staticmethod
    def is_known(mine, theirs):
        """All as one of them has it, but for the outermost name, which that one takes out of the symbol table; another one has
        it, if all are here. Alone, binutils cannot vouch for the innermost file."""
        def without_name(rows):
            rows = rows[:-1] + [("", *rows[-1][1:])]
            return [(rows[0][0], "", rows[0][2])] + rows[1:] if len(theirs) == 1 else rows

        theirs = [rows for rows in theirs if rows]
        has_name = len(theirs) < 3 or mine[-1][0] in [rows[-1][0] for rows in theirs]
        return has_name and any(without_name(rows) == without_name(mine) for rows in theirs)

    def test_versions_and_compilers(self):
        for compiler in ("gcc", "clang"):
            for version in (2, 4, 5):
                for level in ("-O0", "-O2") if version == 5 else ("-O2",):
                    if have(compiler):
                        with self.subTest(compiler=compiler, version=version, level=level):
                            path = self.compile(f"{compiler}-{version}{level}", compiler, f"-gdwarf-{version}", "-g", level)
                            self.compare(path, least_inlined=0 if level == "-O0" else 50)

    def test_cxx(self):
        for compiler in ("g++", "clang++"):
            for version in (4, 5) if compiler == "g++" else (5,):
                for level in ("-O2",):
                    if works(compiler, "--version"):
                        with self.subTest(compiler=compiler, version=version, level=level):
                            path = self.compile(f"{compiler}-{version}{level}", compiler, f"-gdwarf-{version}", level,
                                                sources=["inlines.cc"])
                            self.compare(path, least_inlined=0 if level == "-O0" else 200)

    def test_64_bit_dwarf_and_sections(self):
        """Offsets of 8 bytes; a section per function, so that units have ranges; no .debug_aranges."""
        path = self.compile("dwarf64", "gcc", "-gdwarf64", "-gdwarf-5", "-O2")
        self.compare(path)
        path = self.compile("sections", "gcc", "-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections")
        self.compare(path)
        run("objcopy", "--remove-section=.debug_aranges", path)
        self.compare(path, others=("binutils", "LLVM"))

    def test_link_time_optimization(self):
        for compiler in ("gcc", "clang"):
            if works(compiler, "-flto", "-o", os.devnull, str(HERE / "inlines.c"), str(HERE / "other-unit.c")):
                self.compare(self.compile(f"{compiler}-lto", compiler, "-flto", "-g", "-O2"))

    def test_compressed_sections(self):
        for kind in ("zlib", "zstd"):
            path = self.compile(kind, "gcc", "-g", "-O2")
            plain = ask(PRINT_LINES, path, addresses_of(path))
            if works("objcopy", f"--compress-debug-sections={kind}", path):
                self.assertIn(" C ", run("readelf", "-SW", path).split(" .debug_info")[1].splitlines()[0])
                self.assertEqual(ask(PRINT_LINES, path, addresses_of(path)), plain)

    def test_split_units(self):
        """The same as of the same code with whole units. (LLVM 14 and elfutils 0.188 leave out some of split ones.)"""
        for compiler in ("gcc", "clang"):
            for version in (4, 5):
                if have(compiler):
                    with self.subTest(compiler=compiler, version=version):
                        name = f"{compiler}-{version}"
                        whole = self.compile(f"whole-{name}", compiler, f"-gdwarf-{version}", "-O2")
                        split = self.compile(f"split-{name}", compiler, "-gsplit-dwarf", f"-gdwarf-{version}", "-O2")
                        self.assertTrue(list(self.at.glob(f"*{name}*.dwo")))
                        self.assertEqual(addresses_of(split), addresses_of(whole))
                        self.assertEqual(ask([*PRINT_LINES, "-t"], split, addresses_of(split)), ask(PRINT_LINES, whole, addresses_of(whole)))

    def test_package_of_split_units(self):
        for compiler, version, packer in (("gcc", 4, "dwp"), ("clang", 5, "llvm-dwp")):
            if have(compiler) and have(packer):
                with self.subTest(compiler=compiler, version=version):
                    path = self.compile(f"package-{compiler}-{version}", compiler, "-gsplit-dwarf", f"-gdwarf-{version}", "-O2")
                    addresses = addresses_of(path)
                    before = ask(PRINT_LINES, path, addresses)
                    if not works(packer, "-e", path, "-o", path + ".dwp"):
                        continue
                    for dwo in self.at.glob("*.dwo"):
                        dwo.unlink()
                    self.assertNotEqual(ask(PRINT_LINES, path, addresses), before)
                    self.assertEqual(ask([*PRINT_LINES, "-t", "-w", path + ".dwp"], path, addresses), before)

    def test_dwz(self):
        """The same as before dwz moved what units share into another file. (LLVM and binutils lose the names then.)"""
        if not have("dwz"):
            self.skipTest("dwz is not here")
        for version in (5,):
            with self.subTest(version=version):
                a = self.compile(f"dwz-a-{version}", "g++", f"-gdwarf-{version}", "-O2", sources=["inlines.cc"])
                b = self.compile(f"dwz-b-{version}", "g++", f"-gdwarf-{version}", "-O1", sources=["inlines.cc"])
                before = {path: ask(PRINT_LINES, path, addresses_of(path)) for path in (a, b)}
                shared = str(self.at / f"shared-{version}")
                run("dwz", "-m", shared, "-M", shared, a, b)
                self.assertIn(".gnu_debugaltlink", run("readelf", "-SW", a))
                for path in (a, b):
                    self.assertEqual(ask([*PRINT_LINES, "-s", shared], path, addresses_of(path)), before[path])
                    missing = ask(PRINT_LINES, path, addresses_of(path))
                    lines = lambda answers: {address: [row[1:] for row in rows] for address, rows in answers.items()}
                    self.assertEqual(lines(missing), lines(before[path]))

    def test_separate_debug_file(self):
        path = self.compile("whole", "gcc", "-g", "-O2")
        before = ask(PRINT_LINES, path, addresses_of(path))
        run("objcopy", "--only-keep-debug", path, path + ".debug")
        self.assertEqual(ask(PRINT_LINES, path + ".debug", sorted(before)), before)

    def test_range_of_function(self):
        """The output of -p equals the symbol table."""
        path = self.compile("ranges", "gcc", "-g", "-O2")
        symbols = [line.split() for line in run("nm", "-S", "--defined-only", path).splitlines()]
        symbols = [(int(row[0], 16), int(row[1], 16)) for row in symbols if len(row) == 4 and row[2] in "tT" and not WITHOUT.match(row[3])]
        self.assertGreater(len(symbols), 4)
        text = run(*PRINT_LINES, "-p", path, text="".join(f"{start + size // 2:x}\n" for start, size in symbols))
        answers = {int(a, 16): (int(b, 16), int(c, 16)) for a, b, c in re.findall(r"^0x(\w+) (\w+) (\w+)$", text, re.M)}
        for start, size in symbols:
            self.assertEqual(answers[start + size // 2], (start, start + size))

    def test_other_machines(self):
        """Big-endian files of 64 bits, little-endian ones of 32."""
        for machine in ("s390x-linux-gnu", "arm-linux-gnueabihf"):
            if have(f"{machine}-gcc"):
                for version in (4, 5):
                    with self.subTest(machine=machine, version=version):
                        path = self.compile(f"{machine}-{version}", f"{machine}-gcc", f"-gdwarf-{version}", "-O2",
                                            "-nostdlib", "-Wl,-e,main")
                        OTHERS["its own"] = (f"{machine}-addr2line", *OTHERS["binutils"][1:])
                        self.compare(path, others=("its own", "elfutils", "LLVM"))


if __name__ == "__main__":
    unittest.main()
