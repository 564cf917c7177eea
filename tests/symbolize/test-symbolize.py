#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""src/symbolize over captures made by hand: names against nm and /proc/kallsyms, files by their identity, tables by
their description.

usage: test-symbolize.py PRINT-SYMBOLS C-PROGRAM
"""

import bisect
import contextlib
import ctypes
import datetime
import gzip
import os
import pathlib
import platform
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import captures
from captures import KERNEL, USER, symbol_table
from decoder import read_symbol_table

PRINT_SYMBOLS, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:3]
PID, BASE = 4000001, 0x7F0000000000  # above the largest pid: no such process lives
IS_ROOT = os.geteuid() == 0
OTHER_BUILD = "stripped, and the debug file on this machine is from another build"
OVER_LIMIT = "its symbol table exceeds a limit: 1 GiB, 16 million symbols, or a compression ratio of 1000"


def run(*command, check=True):
    done = subprocess.run(command, text=True, capture_output=True)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout


class Row:
    def __init__(self, line):
        fields = line.split("\t")
        self.pid, self.kind, self.address = int(fields[0]), fields[1], int(fields[2], 16)
        self.name, self.binary = fields[3], fields[4]
        self.start, self.end = int(fields[5], 16), int(fields[6], 16)
        self.reason, self.is_entry, self.raw_name = fields[7], fields[8] == "entry", fields[9]


def new_capture(made=None, big=False):
    """One that is made now, or then."""
    made, now = made or datetime.datetime.now(datetime.timezone.utc), time.monotonic_ns()
    return captures.Capture(now, now + 1000000, big, made.strftime("%Y-%m-%dT%H:%M:%SZ"), now=now)


def symbolize(path, *options, command=()):
    rows = [Row(line) for line in run(*command, PRINT_SYMBOLS, *options, path).splitlines()]
    return {row.address: row for row in rows}


def functions(path, *options):
    """{address: (size, {names})} of the functions that nm lists with a size."""
    found = {}
    for line in run("nm", "-S", "--defined-only", *options, path, check=False).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwWiI] (\S+)$", line)
        if match:
            size, names = found.setdefault(int(match[1], 16), (0, set()))
            found[int(match[1], 16)] = (max(size, int(match[2], 16)), names | {match[3].split("@")[0]})
    return found


def frame_entries(path):
    text = run("readelf", "--debug-dump=no-follow-links", "--debug-dump=frames", path, check=False)
    return [(int(b, 16), int(e, 16)) for b, e in re.findall(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)]


def segments(path):
    """Returns (offset, address, size) of the executable segment."""
    loads = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R ?E", run("readelf", "-lW", path))
    return [tuple(int(number, 16) for number in load) for load in loads]


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1]


def library(name):
    for line in run("ldconfig", "-p").splitlines():
        if line.strip().startswith(name + " ") and "x86-64" in line:
            return os.path.realpath(line.split("=> ")[1])


OPEN, READ = 0x20, 1  # of inotify


def reads_of(paths, do):
    """Which of the files, by their numbers, were read while `do` ran, in this order; once for each time that it was opened before."""
    libc = ctypes.CDLL(None, use_errno=True)
    queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    watches = [libc.inotify_add_watch(queue, path.encode(), OPEN | READ) for path in paths]
    do()
    data, at, events = b"", 0, []
    with contextlib.suppress(BlockingIOError):
        while True:
            data += os.read(queue, 65536)
    os.close(queue)
    while at < len(data):
        watch, mask, _, size = struct.unpack_from("<iIII", data, at)
        events.append((watches.index(watch), mask))
        at += 16 + size
    return [file for file, mask in events if mask == READ]


class Symbolize(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def place(self, *names):
        path = os.path.join(self.dir, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def capture_of(self, path, link_addresses, mapped_as=None, inode=None, hex_id=None, is_return=False, **more):
        """One process that has `path` mapped at BASE, and was seen at these addresses of it."""
        offset, address, size = segments(path)[0]
        capture = new_capture(**more)
        capture.process("program", pid=PID)
        inode = os.stat(path).st_ino if inode is None else inode
        capture.map(BASE, BASE + ((size + 4095) & ~4095), mapped_as or path, offset, inode, hex_id, pid=PID)
        for at in link_addresses:
            here = BASE + at - address
            capture.sample([USER, BASE + 0x10, here] if is_return else [USER, here], pid=PID)
        return capture, BASE - address

    def check_names(self, path, found, rows, bias, is_complete=True):
        for address, (size, names) in found.items():
            row = rows[address + bias]
            self.assertIn(row.raw_name or row.name, names)
            self.assertEqual((row.kind, row.reason), ("user", ""))
            self.assertLessEqual(row.start, row.address)
            self.assertLess(row.address, row.end)
            if is_complete:
                self.assertEqual(row.start, address + bias)

    # --- ELF files ---

    def test_every_function(self):
        """First and last byte of every function of libc, ld.so and a program, by nm of the file or its debug file."""
        for path in (library("libc.so.6"), library("ld-linux-x86-64.so.2"), PROGRAM):
            hex_id = build_id(path)
            debug = f"/usr/lib/debug/.build-id/{hex_id[:2]}/{hex_id[2:]}.debug"
            found = functions(debug) if os.path.exists(debug) else functions(path, "-D") or functions(path)
            first = {a: f for a, f in found.items() if f[0]}
            starts = sorted(first)
            last = {}
            for a in starts:
                end = a + first[a][0] - 1
                if bisect.bisect_right(starts, end) - 1 == starts.index(a):
                    last[end] = first[a]
            self.assertGreater(len(first), 5)
            with self.subTest(path):
                capture, bias = self.capture_of(path, list(first) + list(last))
                rows = symbolize(capture.save(self.place("c")))
                self.check_names(path, first, rows, bias)
                self.check_names(path, last, rows, bias, is_complete=False)
                if IS_ROOT:
                    sandboxed = symbolize(self.place("c"), "--sandbox")
                    self.assertEqual({a: vars(r) for a, r in sandboxed.items()}, {a: vars(r) for a, r in rows.items()})

    def test_return_addresses(self):
        """Behind a call that is a function's last instruction lies the next function: the caller is named."""
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        ends = {a + f[0]: f for a, f in found.items() if f[0] > 1}
        capture, bias = self.capture_of(PROGRAM, list(ends), is_return=True)
        rows = symbolize(capture.save(self.place("c")))
        for end, (size, names) in ends.items():
            row = rows[end + bias]
            self.assertIn(row.name, names)
            self.assertEqual((row.start, row.end), (end - size + bias, end + bias))

    def test_identity(self):
        main = next(a for a, f in functions(PROGRAM).items() if "main" in f[1])
        inode, hex_id = os.stat(PROGRAM).st_ino, build_id(PROGRAM)
        wrong = "00" * (len(hex_id) // 2)
        for expected, given in (
            ("main", dict(inode=inode)),
            ("main", dict(inode=0)),
            ("main", dict(inode=inode + 1, hex_id=hex_id)),
            ("the file was replaced after the recording", dict(inode=inode + 1)),
            ("the file on this machine has another build ID", dict(inode=inode, hex_id=wrong)),
            ("the file on this machine has another build ID", dict(inode=0, hex_id=wrong)),
            ("the file is not on this machine", dict(mapped_as="/nowhere/program")),
        ):
            capture, bias = self.capture_of(PROGRAM, [main], **given)
            row = symbolize(capture.save(self.place("c")))[main + bias]
            self.assertEqual(row.reason or row.name, expected, given)
            if row.reason:
                offset, address, size = segments(PROGRAM)[0]
                base = os.path.basename(given.get("mapped_as", PROGRAM))
                self.assertEqual(row.name, f"[{base}+0x{main - address + offset:x}]")

    def test_file_of_several_paths(self):
        """Trees of hard links, as in deployments of OSTree: a file is parsed once, by its device and inode."""
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        programs, links = [self.place("x"), self.place("y")], []
        for path in programs:
            shutil.copy(PROGRAM, path)
        for tree in range(3):
            for path in programs:
                links.append(self.place(str(tree), os.path.basename(path)))
                os.link(path, links[-1])
        offset, address, size = segments(PROGRAM)[0]
        capture = new_capture()
        for i, path in enumerate(links):
            # By its inode alone, by its build ID alone, and by both, as recorders record it.
            capture.process("program", pid=PID + i)
            capture.map(BASE, BASE + ((size + 4095) & ~4095), path, offset, 0 if i >= 4 else os.stat(path).st_ino,
                        f"{i % 2 + 1:02x}" * 20 if i >= 2 else None, pid=PID + i)
            for at in found:
                capture.sample([USER, BASE + at - address], pid=PID + i)
        for i, path in enumerate(programs):
            run("objcopy", "--update-section", f".note.gnu.build-id={self.note(f'{i + 1:02x}' * 20)}", path, self.place("n"))
            with open(path, "wb") as file:  # the links' inode stays
                file.write(pathlib.Path(self.place("n")).read_bytes())
        capture.save(self.place("c"))

        rows = []
        reads = reads_of(programs, lambda: rows.extend(Row(line) for line in run(PRINT_SYMBOLS, self.place("c")).splitlines()))
        self.assertEqual(len(rows), len(links) * len(found))
        for row in rows:
            self.assertIn(row.raw_name or row.name, found[row.address - BASE + address][1])
        self.assertEqual(reads, [0, 1])

    def test_files_that_are_none(self):
        main = next(iter(functions(PROGRAM)))
        text = self.place("text")
        pathlib.Path(text).write_text("no ELF file\n" * 1000)
        os.mkfifo(self.place("fifo"))
        cut = self.place("cut")
        pathlib.Path(cut).write_bytes(pathlib.Path(PROGRAM).read_bytes()[:40])
        for path, reason in (
            (text, "not an ELF file, or a damaged one"),
            (cut, "not an ELF file, or a damaged one"),
            (self.place("fifo"), "the file is not on this machine"),
            (self.dir, "the file is not on this machine"),
            ("/dev/zero", "generated code: the memory is not backed by a file"),
        ):
            for options in ((), ("--sandbox",)) if IS_ROOT else ((),):
                capture, bias = self.capture_of(PROGRAM, [main], mapped_as=path, inode=0)
                row = symbolize(capture.save(self.place("c")), *options)[main + bias]
                self.assertTrue(row.name.startswith("["), row.name)
                if path != "/dev/zero":
                    self.assertEqual(row.reason, reason, path)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_file_that_may_not_be_read(self):
        main = next(iter(functions(PROGRAM)))
        secret = self.place("secret")
        shutil.copy(PROGRAM, secret)
        os.chmod(secret, 0o600)
        os.chmod(self.dir, 0o755)
        capture, bias = self.capture_of(PROGRAM, [main], mapped_as=secret, inode=0)
        capture.save(self.place("c"))
        row = symbolize(self.place("c"), command=("setpriv", "--reuid=65534", "--clear-groups"))[main + bias]
        self.assertEqual(row.reason, "the file cannot be read: permission denied, timeout, or I/O error")

    def stripped_program(self, *names):
        stripped, debug = self.place("bin", "program"), self.place(*names)
        shutil.copy(PROGRAM, stripped)
        run("objcopy", "--only-keep-debug", PROGRAM, debug)
        run("strip", stripped)
        return stripped, debug

    def test_debug_files(self):
        hex_id = build_id(PROGRAM)
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        here = os.path.join(self.dir, "bin").lstrip("/")
        for names, options, has_link in (
            (("bin", "x.debug"), (), True),
            (("bin", ".debug", "x.debug"), (), True),
            (("d", here, "x.debug"), ("--debug-dir", self.place("d")), True),
            (("d", ".build-id", hex_id[:2], hex_id[2:] + ".debug"), ("--debug-dir", self.place("d")), False),
        ):
            with self.subTest(names):
                stripped, debug = self.stripped_program(*names)
                if has_link:
                    run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
                capture, bias = self.capture_of(stripped, found)
                self.check_names(stripped, found, symbolize(capture.save(self.place("c")), *options), bias)
                if IS_ROOT:
                    self.check_names(stripped, found, symbolize(self.place("c"), "--sandbox", *options), bias)

                # One of another build: never used, and neither where only the sum tells.
                other = self.place("other")
                run("objcopy", "--update-section", f".note.gnu.build-id={self.note(hex_id)}", debug, other)
                os.rename(other, debug)
                rows = symbolize(self.place("c"), *options)
                self.assertEqual({r.name[0] for r in rows.values()}, {"["})
                self.assertEqual({r.reason for r in rows.values()}, {OTHER_BUILD})
                shutil.rmtree(self.place("bin"))

    def test_rubbish_behind_a_path(self):
        """Writers leave texts in the padding that begin like a build id: an id is lower-case hex, and it is no reason not to take a file."""
        hex_id = "5f" * 20
        source, program = self.place("plain.c"), self.place("plain")
        pathlib.Path(source).write_text("static int f (void) { return 1; } int main (void) { return f (); }\n")
        run("cc", "-O0", "-no-pie", f"-Wl,--build-id=0x{hex_id}", "-o", program, source)
        found = {a: f for a, f in functions(program).items() if f[0]}
        for rubbish in ("dB", "DB", "d", "d\xfe"):
            capture, bias = self.capture_of(program, found, hex_id=rubbish)
            self.check_names(program, found, symbolize(capture.save(self.place("c"))), bias)
        capture, bias = self.capture_of(program, found, hex_id="db")
        self.assertEqual({r.reason for r in symbolize(capture.save(self.place("c"))).values()}, {"the file on this machine has another build ID"})

    def test_debug_file_alone(self):
        """The file itself is nowhere: by build id its debug file names as much, as far as it is certain what of it was where."""
        source, fixed, hex_id = self.place("fixed.c"), self.place("fixed"), "5e" * 20
        pathlib.Path(source).write_text("static int f (void) { return 1; } int main (void) { return f (); }\n")
        run("cc", "-O0", "-no-pie", f"-Wl,--build-id=0x{hex_id}", "-o", fixed, source)
        debug = self.place("d", ".build-id", hex_id[:2], hex_id[2:] + ".debug")
        strips = [("objcopy", "--only-keep-debug", fixed, debug), ("llvm-objcopy", "--only-keep-debug", fixed, debug),
                  ("eu-strip", "-f", debug, "-o", self.place("unused"), fixed)]
        found = {a: f for a, f in functions(fixed).items() if f[0]}
        gone = dict(mapped_as="/nowhere/program", hex_id=hex_id, inode=1)
        missing = {"the file is not on this machine"}
        for strip in strips:
            if not shutil.which(strip[0]):
                continue
            with self.subTest(strip[0]):
                run(*strip)
                capture, bias = self.capture_of(fixed, found, **gone)
                self.check_names(fixed, found, symbolize(capture.save(self.place("c")), "--debug-dir", self.place("d")), bias)
                if IS_ROOT:
                    self.check_names(fixed, found, symbolize(self.place("c"), "--sandbox", "--debug-dir", self.place("d")), bias)

                capture, bias = self.capture_of(fixed, found, **{**gone, "hex_id": "5e" * 19 + "5f"})
                os.link(debug, debug[:-8] + "5f.debug")
                rows = symbolize(capture.save(self.place("c")), "--debug-dir", self.place("d"))
                self.assertEqual({r.reason for r in rows.values()}, missing)
                os.remove(debug[:-8] + "5f.debug")
                os.remove(debug)

        # A part of the code, without a record of its offset.
        run(*strips[0])
        offset, address, size = segments(fixed)[0]
        capture = new_capture()
        capture.process("program", pid=PID)
        capture.map(BASE, BASE + 0x10000, "/nowhere/program", offset, 1, hex_id, pid=PID)
        for at in found:
            capture.sample([USER, BASE + at - address], pid=PID)
        rows = symbolize(capture.save(self.place("c")), "--debug-dir", self.place("d"))
        self.assertEqual({r.reason for r in rows.values()}, missing)

    def test_file_by_build_id_alone(self):
        """Beside debug files, where somebody collects both."""
        hex_id = build_id(PROGRAM)
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        shutil.copy(PROGRAM, self.place("d", ".build-id", hex_id[:2], hex_id[2:]))
        capture, bias = self.capture_of(PROGRAM, found, mapped_as="/nowhere/program", hex_id=hex_id, inode=1)
        self.check_names(PROGRAM, found, symbolize(capture.save(self.place("c")), "--debug-dir", self.place("d")), bias)

    def note(self, hex_id):
        path = self.place("note")
        wrong = bytes.fromhex(hex_id)[::-1]
        pathlib.Path(path).write_bytes(
            len(b"GNU\0").to_bytes(4, "little") + len(wrong).to_bytes(4, "little") + b"\3\0\0\0GNU\0" + wrong)
        return path

    def test_debug_link_by_sum(self):
        stripped, debug = self.stripped_program("bin", "x.debug")
        for path in (stripped, debug):
            run("objcopy", "--remove-section", ".note.gnu.build-id", path)
        run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        capture, bias = self.capture_of(stripped, found)
        self.check_names(stripped, found, symbolize(capture.save(self.place("c"))), bias)
        with open(debug, "ab") as file:
            file.write(b"\0")
        self.assertEqual({(r.name[0], r.reason) for r in symbolize(self.place("c")).values()}, {("[", OTHER_BUILD)})

    def test_flatpak_debug_runtimes(self):
        """By build ID and by link, in the user's installation and in the system's; /app and /usr are at the
        top of a runtime."""
        hex_id = build_id(PROGRAM)
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        runtime = ("runtime", "org.example.Sdk.Debug", "x86_64", "1", "active", "files")
        places = dict(FLATPAK_USER_DIR=self.place("user"), FLATPAK_SYSTEM_DIR=self.place("system"))
        here = self.dir.lstrip("/").split("/")
        for names in (
            ("user", *runtime, ".build-id", hex_id[:2], hex_id[2:] + ".debug"),
            ("system", *runtime, ".build-id", hex_id[:2], hex_id[2:] + ".debug"),
            ("system", *runtime, *here, "bin", "x.debug"),
            ("user", *runtime, *here[1:], "bin", "x.debug"),
            ("user", "runtime", "org.example.Sdk", *runtime[2:], ".build-id", hex_id[:2], hex_id[2:] + ".debug"),
        ):
            with self.subTest(names), unittest.mock.patch.dict(os.environ, places):
                stripped, debug = self.stripped_program(*names)
                run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
                os.rename(debug, debug + ".x")
                capture, bias = self.capture_of(stripped, found)
                rows = symbolize(capture.save(self.place("c")))
                self.assertEqual({r.reason for r in rows.values()}, {"partly stripped"})
                os.rename(debug + ".x", debug)
                rows = symbolize(self.place("c"))
                if "org.example.Sdk" in names:  # no runtime of debug files
                    self.assertEqual({r.reason for r in rows.values()}, {"partly stripped"})
                else:
                    self.check_names(stripped, found, rows, bias)
                os.remove(debug)

    def test_tables_over_the_limits(self):
        """A symbol table that claims 2 GiB is skipped, in the file or in its debug file, and a message
        reports this."""
        found = {a: f for a, f in functions(PROGRAM).items() if f[0]}
        stripped, debug = self.stripped_program("bin", "x.debug")
        run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
        own = self.place("own")
        shutil.copy(PROGRAM, own)
        for path, changed in ((stripped, debug), (own, own)):
            capture, _ = self.capture_of(path, found)
            data = bytearray(pathlib.Path(changed).read_bytes())
            (headers,), (count,) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<H", data, 0x3C)
            for at in range(headers, headers + 64 * count, 64):
                if struct.unpack_from("<I", data, at + 4)[0] in (2, 11):  # .symtab, .dynsym
                    struct.pack_into("<Q", data, at + 0x20, 2 << 30)
            pathlib.Path(changed).write_bytes(data)
            os.truncate(changed, 3 << 30)
            with self.subTest(path):
                rows = symbolize(capture.save(self.place("c")))
                self.assertEqual({(r.name[0], r.reason) for r in rows.values()}, {("[", OVER_LIMIT)})

    def test_unnamed_says_link_time_address(self):
        """In a program that is not position independent, file offsets and addresses differ."""
        program = self.place("fixed")
        source = self.place("fixed.c")
        pathlib.Path(source).write_text("static int f (void) { return 1; } int main (void) { return f (); }\n")
        run("cc", "-O0", "-no-pie", "-o", program, source)
        place = next(a for a, f in functions(program).items() if "f" in f[1])
        run("strip", program)
        capture, bias = self.capture_of(program, [place])
        row = symbolize(capture.save(self.place("c")))[place + bias]
        self.assertEqual(row.name, f"[fixed:0x{place:x}]")
        self.assertNotEqual(row.reason, "")
        self.assertFalse(row.is_entry)

    def test_entries_of_the_stripped_c_library(self):
        """A sysroot with a C library and no debug files: the functions in which complete stacks end are
        entries without a name."""
        libc = library("libc.so.6")
        hex_id = build_id(libc)
        debug = f"/usr/lib/debug/.build-id/{hex_id[:2]}/{hex_id[2:]}.debug"
        if not os.path.exists(debug):
            self.skipTest("libc6-dbg is not installed")
        os.makedirs(os.path.dirname(self.dir + "/root" + libc))
        shutil.copy(libc, self.dir + "/root" + libc)
        names = {name: a + f[0] // 2 for a, f in functions(debug).items() if f[0] > 1 for name in f[1]}
        entries = [names["__libc_start_call_main"], names["start_thread"]]
        others = [names["_int_malloc"], names["__run_exit_handlers"], names["create_thread"]]
        capture, bias = self.capture_of(libc, entries + others, inode=0)
        rows = symbolize(capture.save(self.place("c")), "--sysroot", self.dir + "/root")
        frames = frame_entries(libc)
        for address in entries + others:
            row = rows[address + bias]
            start = next(begin for begin, end in frames if begin <= address < end)
            self.assertEqual(row.name, f"[libc.so.6:0x{start:x}]")
            self.assertEqual(row.is_entry, address in entries)

    def test_function_without_a_symbol_is_one_entry(self):
        """By the call-frame entries as readelf lists them, also for who opens the capture without the file."""
        program = self.place("stripped")
        run("cc", "-O1", "-o", program, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../elf/functions.c"))
        run("strip", program)
        tables = [int(a, 16) for a in re.findall(r"\] \.plt\S* +PROGBITS +(\w+)", run("readelf", "-SW", program))]
        frames = [f for f in frame_entries(program) if f[1] - f[0] > 8 and f[0] not in tables]  # whose stubs have names
        self.assertGreater(len(frames), 3)
        inside = {begin + at: begin for begin, end in frames for at in (0, 1, (end - begin) // 2, end - begin - 1)}
        for is_return in (False, True):
            places = [a + is_return for a in inside]
            capture, bias = self.capture_of(program, places, is_return=is_return)
            saved = symbolize(capture.save(self.place("c")), "--unnamed", self.place("u"))
            capture.file("__unnamed__", pathlib.Path(self.place("u")).read_bytes())
            shutil.move(program, program + ".away")
            bundled = symbolize(capture.save(self.place("d")))
            shutil.move(program + ".away", program)
            for rows in (saved, bundled):
                for place, begin in zip(places, inside.values()):
                    self.assertEqual(rows[place + bias].name, f"[stripped:0x{begin:x}]")

    def test_stubs(self):
        """Stubs of the procedure linkage table are named as by objdump, also for who opens the capture without the file."""
        program = self.place("stripped")
        run("cc", "-O1", "-fno-builtin", "-Wl,-z,lazy", "-o", program, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../workloads/kitchen.c"), "-lm", "-pthread")
        run("strip", program)
        for path in (program, os.path.realpath(shutil.which("bash"))):
            listing = run("objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path, check=False)
            stubs = {int(a, 16): name for a, name in re.findall(r"^(\w+) <([^>]+@plt)>:", listing, re.MULTILINE)}
            self.assertGreater(len(stubs), 3)
            for is_return in (False, True):
                places = {a + distance + is_return: name for a, name in stubs.items() for distance in (0, 6)}
                capture, bias = self.capture_of(path, places, is_return=is_return)
                there = symbolize(capture.save(self.place("c")), "--pack", self.place("p"), "--unnamed", self.place("u"))
                capture.file("__symbols__", pathlib.Path(self.place("p")).read_bytes())
                capture.file("__unnamed__", pathlib.Path(self.place("u")).read_bytes())
                os.makedirs(self.place("empty"), exist_ok=True)
                elsewhere = symbolize(capture.save(self.place("d")), "--sysroot", self.place("empty"))
                for rows in (there, elsewhere):
                    self.assertEqual({a: rows[a + bias].name for a in places}, places)
                    self.assertEqual({rows[a + bias].reason for a in places}, {""})

    def test_places_without_a_file(self):
        capture = new_capture()
        capture.process("program", pid=PID)
        capture.map(BASE, BASE + 0x1000, "[heap]", pid=PID)
        capture.map(BASE + 0x1000, BASE + 0x2000, "//anon", pid=PID)
        capture.sample([USER, BASE + 0x10], pid=PID)
        capture.sample([USER, BASE + 0x1010], pid=PID)
        capture.sample([USER, BASE + 0x3010], pid=PID)
        rows = symbolize(capture.save(self.place("c")))
        self.assertEqual([(r.name, r.reason[:9]) for a, r in sorted(rows.items())], [
            (f"[heap+0x{BASE + 0x10:x}]", "generated"),
            (f"[anon+0x{BASE + 0x1010:x}]", "generated"),
            (f"[0x{BASE + 0x3010:x}]", "the proce"),
        ])

    def test_vdso(self):
        if platform.machine() != "x86_64":
            self.skipTest("x86-64 only")
        capture = self.capture_of_this_machine()
        capture.process("program", pid=PID)
        capture.map(BASE, BASE + 0x2000, "[vdso]", pid=PID)
        for offset in range(0x400, 0x1800, 16):
            capture.sample([USER, BASE + offset], pid=PID)
        names = {r.name for r in symbolize(capture.save(self.place("c"))).values()}
        self.assertTrue(any("vdso_clock_gettime" in name or "clock_gettime" == name for name in names), names)

    # --- the kernel ---

    KALLSYMS = """\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000040 t first_function
ffffffff81000080 W second_function
ffffffff81000100 D some_table
ffffffff81000200 T ret_from_fork_asm
ffffffffc0100000 t module_function\t[some_module]
ffffffffc0000040 t _RNvCskwGfYPst2Cb_3foo16example_function\t[rust_module]
"""

    def kernel_names(self, capture, *addresses, options=()):
        capture.sample([KERNEL, *addresses[:1]], pid=PID)
        for address in addresses[1:]:
            capture.sample([KERNEL, address], pid=PID)
        rows = symbolize(capture.save(self.place("c")), *options)
        return [rows[a] for a in addresses]

    def test_embedded_kallsyms(self):
        for name, data in (("/proc/kallsyms", self.KALLSYMS.encode()),
                           ("/proc/kallsyms.gz", gzip.compress(self.KALLSYMS.encode()))):
            capture = new_capture()
            capture.chunked_file(name, data)
            rows = self.kernel_names(
                capture, 0xFFFFFFFF81000000, 0xFFFFFFFF8100007F, 0xFFFFFFFF810000FF, 0xFFFFFFFF81000110,
                0xFFFFFFFF81000210, 0xFFFFFFFFC0000050, 0xFFFFFFFFC0100010, 0xFFFFFFFFC0200000, 0xFFFFFFFF80000000)
            self.assertEqual([(r.name, r.binary) for r in rows], [
                ("_text", "[kernel]"), ("first_function", "[kernel]"), ("second_function", "[kernel]"),
                ("[kernel+0xffffffff81000110]", "[kernel]"), ("ret_from_fork_asm", "[kernel]"),
                ("foo::example_function", "[rust_module]"), ("module_function", "[some_module]"),
                ("[kernel+0xffffffffc0200000]", "[kernel]"), ("[kernel+0xffffffff80000000]", "[kernel]")])
            self.assertEqual([r.is_entry for r in rows], [i == 4 for i in range(9)])
            self.assertEqual((rows[1].start, rows[1].end), (0xFFFFFFFF81000040, 0xFFFFFFFF81000080))
            self.assertEqual(rows[5].raw_name, "_RNvCskwGfYPst2Cb_3foo16example_function")

    def test_kernel_code_that_comes_and_goes(self):
        at = 0xFFFFFFFFC0300000
        capture = new_capture()
        begin = capture.now
        capture.chunked_file("/proc/kallsyms", (self.KALLSYMS + f"{at:x} t bpf_prog_3_last\t[bpf]\n{at + 0x2000:x} t later\n").encode())
        capture.chunked_file("__ksymbols__", (
            f"{at:x} 100 0 {begin + 100} bpf_prog_1_first\n{at + 0x10:x} 100 {begin + 200} {begin + 300} bpf_prog_2_second\n"
            f"{at:x} 80 {begin + 400} 0 bpf_prog_3_last\n{at + 0x1000:x} 40 {begin + 10} {begin + 20} ftrace_trampoline\n"
            "no line\n1 2 3\n" + f"{2**64 - 1:x} 100 0 0 beyond\n").encode())
        for when, *offsets in ((50, 0, 0x20, 0x60, 0x1010), (250, 0x20, 0x28, 0x90), (450, 8, 0x28), (470, 0x70), (5 * 10**8, 0x1020)):
            capture.sample([KERNEL, *(at + offset for offset in offsets)], pid=PID, time=begin + when)
        # Of a table without times, as it is after the recording.
        capture.file("__symbols__", symbol_table([(at, at + 0x200, 0, "in_the_table", "[bpf]")]))
        rows = symbolize(capture.save(self.place("c")))
        self.assertEqual({address - at: (row.name, row.binary, row.kind) for address, row in rows.items() if address >= at}, {
            0: ("bpf_prog_1_first", "[bpf]", "kernel"), 8: ("bpf_prog_3_last", "[bpf]", "kernel"),
            0x20: ("bpf_prog_1_first or bpf_prog_2_second", "[bpf]", "kernel"),
            0x28: ("bpf_prog_2_second or bpf_prog_3_last", "[bpf]", "kernel"),
            0x60: ("bpf_prog_1_first", "[bpf]", "kernel"), 0x70: ("bpf_prog_3_last", "[bpf]", "kernel"),
            0x90: ("bpf_prog_2_second", "[bpf]", "kernel"),
            0x1010: ("ftrace_trampoline", "[__builtin__ftrace]", "kernel"),
            0x1020: ("bpf_prog_3_last", "[bpf]", "kernel")})  # long after what stood there

    def test_excerpt_names_nothing_else(self):
        """A function that only bounds a sampled one is not what the functions behind it are."""
        capture = new_capture()
        capture.chunked_file("/proc/kallsyms", self.KALLSYMS.encode())
        self.kernel_names(capture, 0xFFFFFFFF81000044, options=("--kallsyms", self.place("excerpt")))
        more = new_capture()
        more.chunked_file("/proc/kallsyms", pathlib.Path(self.place("excerpt")).read_bytes())
        rows = self.kernel_names(more, 0xFFFFFFFF81000044, 0xFFFFFFFF81000084, 0xFFFFFFFF81000204)
        self.assertEqual([r.name for r in rows],
                         ["first_function", "[kernel+0xffffffff81000084]", "[kernel+0xffffffff81000204]"])
        self.assertEqual(rows[0].end, 0xFFFFFFFF81000080)

    def test_hidden_kernel(self):
        capture = new_capture()
        capture.chunked_file("/proc/kallsyms", re.sub(r"(?m)^\w+", "0" * 16, self.KALLSYMS).encode())
        row = self.kernel_names(capture, 0xFFFFFFFF81000040)[0]
        self.assertEqual((row.name, row.reason), ("[kernel+0xffffffff81000040]", "the kernel hid its symbols"))

    # --- the kernel's own file ---

    KERNEL_SOURCE = """
__attribute__ ((section ("__ksymtab"))) int exported = 1;
int first (int x) { return x * 3 + exported; }
static __attribute__ ((noinline)) int hidden (int x) { return x * 5 - exported; }
int second (int x) { return hidden (x) + x; }
"""
    RELEASE, KERNEL_ID, MOVED = "6.1.0-77-none", "ab" * 20, 0x1CE00000

    def build_kernel(self, path, hex_id=KERNEL_ID):
        """Linked like a kernel. Its functions: {link-time address: (size, {names})}."""
        source = self.place("kernel.c")
        pathlib.Path(source).write_text(self.KERNEL_SOURCE)
        run("cc", "-g", "-O1", "-ffreestanding", "-fno-pic", "-fcf-protection=none", "-c", "-o", self.place("kernel.o"), source)
        run("ld", "-Ttext=0x1000000", f"--build-id=0x{hex_id}", "--defsym=_text=0x1000000", "-e0", "-o", path, self.place("kernel.o"))
        return {a: f for a, f in functions(path).items() if f[0]}

    def capture_of_kernel(self, found, kallsyms=True, hex_id=KERNEL_ID):
        """Its addresses begin where the list says that the label is; no line of it names any of them."""
        capture = new_capture()
        capture.metadata("uname.release", self.RELEASE)
        if hex_id:
            capture.metadata("org.gnome.sysprof.kernel-build-id", hex_id)
        if kallsyms:
            capture.file("/proc/kallsyms", f"{0x1000000 + self.MOVED:016x} - _text\n".encode())
        for address, (size, _) in found.items():
            capture.sample([KERNEL, address + self.MOVED], pid=PID)
            capture.sample([KERNEL, address + self.MOVED + size - 1], pid=PID)
        return capture.save(self.place("c"))

    def test_file_of_the_kernel(self):
        root, dir = self.dir + "/root", self.dir + "/d"
        by_id = f".build-id/{self.KERNEL_ID[:2]}/{self.KERNEL_ID[2:]}"
        for where, options in (
            ("d/" + by_id + ".debug", ("--debug-dir", dir)),
            ("d/" + by_id, ("--debug-dir", dir)),
            ("d/vmlinux", ("--debug-dir", dir)),
            (f"d/lib/modules/{self.RELEASE}/vmlinux", ("--debug-dir", dir)),
            ("root/usr/lib/debug/" + by_id + ".debug", ("--sysroot", root)),
            (f"root/usr/lib/debug/boot/vmlinux-{self.RELEASE}", ("--sysroot", root)),
            (f"root/usr/lib/debug/lib/modules/{self.RELEASE}/vmlinux", ("--sysroot", root)),
            (f"root/boot/vmlinux-{self.RELEASE}", ("--sysroot", root)),
            (f"root/lib/modules/{self.RELEASE}/build/vmlinux", ("--sysroot", root)),
        ):
            with self.subTest(where):
                found = self.build_kernel(self.place(where))
                rows = symbolize(self.capture_of_kernel(found), *options)
                self.assertEqual(len(found), 3)
                self.assertEqual(len(rows), 6)
                for address, (size, names) in found.items():
                    for row in (rows[address + self.MOVED], rows[address + self.MOVED + size - 1]):
                        self.assertIn(row.name, names)
                        self.assertEqual((row.kind, row.binary, row.reason), ("kernel", "[kernel]", ""))
                        self.assertEqual((row.start, row.end), (address + self.MOVED, address + self.MOVED + size))
                if IS_ROOT:
                    self.assertEqual({r.name for r in symbolize(self.place("c"), "--sandbox", *options).values()},
                                     {r.name for r in rows.values()})
                os.remove(self.place(where))

    def test_debug_file_of_the_kernel(self):
        """Contents of packages with debug symbols: they have no code."""
        found = self.build_kernel(self.place("k"))
        run("objcopy", "--only-keep-debug", self.place("k"), self.place("d", "vmlinux"))
        rows = symbolize(self.capture_of_kernel(found), "--debug-dir", self.place("d"))
        self.assertEqual({r.name for r in rows.values()}, {"first", "hidden", "second"})

    def test_file_of_another_kernel(self):
        """Files without the requested build or path: they give no names, and a message reports this."""
        found = self.build_kernel(self.place("d", "vmlinux"))
        for capture, reason in (
            (dict(hex_id="cd" * 20), "the capture has no kernel symbols, and the vmlinux on this machine is from another build"),
            (dict(hex_id=None), "the kernel hid its symbols"),
            (dict(hex_id="../" * 13 + "x"), "the kernel hid its symbols"),
            (dict(kallsyms=False), "the kernel hid its load address, so its vmlinux cannot be used"),
        ):
            rows = symbolize(self.capture_of_kernel(found, **capture), "--debug-dir", self.place("d"))
            self.assertEqual({(r.name, r.reason) for r in rows.values()}, {(f"[kernel+0x{a:x}]", reason) for a in rows})
        rows = symbolize(self.capture_of_kernel(found), "--debug-dir", self.place("none"))
        self.assertEqual({r.reason for r in rows.values()}, {"the kernel hid its symbols"})
        run("strip", self.place("d", "vmlinux"))
        rows = symbolize(self.capture_of_kernel(found), "--debug-dir", self.place("d"))
        self.assertEqual({r.name[0] for r in rows.values()}, {"["})

    def test_place_of_the_kernel_is_kept(self):
        """With the lines that samples touch, for who has its file."""
        capture = new_capture()
        capture.chunked_file("/proc/kallsyms", self.KALLSYMS.encode())
        self.kernel_names(capture, 0xFFFFFFFF81000044, options=("--kallsyms", self.place("excerpt")))
        self.assertIn("ffffffff81000000 - _text", pathlib.Path(self.place("excerpt")).read_text().splitlines())
        for kept in (self.place("excerpt"), self.place("again")):  # of an excerpt, too
            more = new_capture()
            more.chunked_file("/proc/kallsyms", pathlib.Path(kept).read_bytes())
            self.assertEqual(self.kernel_names(more, 0xFFFFFFFF81000044, options=("--kallsyms", self.place("again")))[0].name,
                             "first_function")

    def real_kallsyms(self):
        lines = pathlib.Path("/proc/kallsyms").read_text().splitlines()
        rows = [(int(l.split()[0], 16), l.split()[1], l.split()[2], (l.split() + ["[kernel]"])[3]) for l in lines]
        rows = sorted((r for r in rows if r[0]), key=lambda r: r[0])
        if not rows:
            self.skipTest("the kernel hides its symbols")
        return rows

    def capture_of_this_machine(self, **changes):
        capture = new_capture(made=changes.pop("made", None))
        here = {"uname.release": platform.release(), "uname.version": platform.version(),
                "hostname": socket.gethostname(), **changes}
        for key, value in here.items():
            if value:
                capture.metadata(key.replace("_", "."), value)
        return capture

    def test_running_kernel(self):
        """Random functions of the kernel that runs here, by a parser in Python."""
        rows = self.real_kallsyms()
        starts = [r[0] for r in rows]
        capture = self.capture_of_this_machine()
        picked = {}
        for row in random.Random(1).sample([r for r in rows if r[1] in "tTwW"], 500):
            first = bisect.bisect_left(starts, row[0])
            names = [r for r in rows[first : first + 64] if r[0] == row[0] and r[1] in "tTwW"]
            picked[row[0]] = (names[0][2], names[0][3])
        found = self.kernel_names(capture, *picked, options=("--kallsyms", self.place("excerpt")))
        self.assertEqual([(r.raw_name or r.name, r.binary) for r in found], list(picked.values()))

        # The lines that were used are enough to name the same again.
        again = new_capture()
        again.chunked_file("/proc/kallsyms", pathlib.Path(self.place("excerpt")).read_bytes())
        self.assertEqual([vars(r) for r in self.kernel_names(again, *picked)], [vars(r) for r in found])
        self.assertLess(len(pathlib.Path(self.place("excerpt")).read_text().splitlines()), 3 * len(picked) + 2)

    def test_running_kernel_is_not_asked(self):
        place = next(r[0] for r in self.real_kallsyms() if r[2] == "schedule")
        nameless = f"[kernel+0x{place:x}]"
        self.assertEqual(self.kernel_names(self.capture_of_this_machine(), place)[0].name, "schedule")
        old = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
        for capture in (
            new_capture(),
            self.capture_of_this_machine(uname_release="5.0-other", **{"uname.release": ""}),
            self.capture_of_this_machine(hostname="elsewhere"),
            self.capture_of_this_machine(made=old),
        ):
            self.assertEqual(self.kernel_names(capture, place)[0].name, nameless)

        capture = self.capture_of_this_machine()
        capture.chunked_file("__symbols__", symbol_table([(place + 4096, place + 8192, 0, "other", "")]))
        self.assertEqual(self.kernel_names(capture, place)[0].name, nameless)

    # --- what the capture brings ---

    def test_jit_names(self):
        jit = 0xE000000000000000
        capture = new_capture()
        capture.sample([jit | 1, jit | 2, jit | 3], pid=PID)
        capture.jitmap([(jit | 1, "one"), (jit | 2, "two words")])
        rows = symbolize(capture.save(self.place("c")))
        self.assertEqual([(r.name, r.kind) for a, r in sorted(rows.items())],
                         [("one", "jit"), ("two words", "jit"), (f"[jit+0x{jit | 3:x}]", "jit")])

    def test_perf_maps_are_what_was_recorded(self):
        """Current data of the process are not read: it may be another process with other code. The recorder
        read them."""
        path = f"/tmp/perf-{os.getpid()}.map"
        self.addCleanup(os.remove, path)
        pathlib.Path(path).write_text(f"{BASE:x} 1000 of_now\n")
        capture = self.capture_of_this_machine()
        capture.process("program", pid=os.getpid())
        capture.map(BASE, BASE + 0x2000, "//anon", pid=os.getpid())
        capture.sample([USER, BASE + 0x10], pid=os.getpid())
        row = symbolize(capture.save(self.place("c")))[BASE + 0x10]
        self.assertEqual((row.name, row.reason[:9]), (f"[anon+0x{BASE + 0x10:x}]", "generated"))

    def names_by_table(self, entries, addresses, order="<", table=None, kernel=()):
        capture = new_capture(big=order == ">")
        capture.process("program", pid=PID)
        capture.chunked_file("__symbols__", table if table is not None else symbol_table(entries, order))
        for address in addresses:
            capture.sample([USER, address], pid=PID)
        for address in kernel:
            capture.sample([KERNEL, address], pid=PID)
        rows = symbolize(capture.save(self.place("c")))
        return [rows[a].name for a in [*addresses, *kernel]]

    def test_table_with_ends_behind(self):
        entries = [(0x1000, 0x1010, PID, "one", "a.so"), (0x1010, 0x1020, PID, "two", ""),
                   (0x1000, 0x1010, PID + 1, "not here", "")]
        expected = ["one", "one", "two", "[0x1020]", "[0xfff]"]
        for order in "<>":
            self.assertEqual(self.names_by_table(entries, [0x1000, 0x100F, 0x1010, 0x1020, 0xFFF], order), expected)
        self.assertEqual(self.names_by_table(entries[::-1], [0x1000, 0x100F, 0x1010, 0x1020, 0xFFF]), expected)

    def test_table_with_last_addresses(self):
        """By 3.46: ranges of sampled addresses; kernel functions under each process."""
        kernel = 0xFFFFFFFF81000000
        entries = [(0x1000, 0x1010, PID, "one", "a"), (0x1020, 0x1020, PID, "two", "a"),
                   (kernel + 8, kernel + 16, 7, "in_kernel", "Kernel"), (kernel, kernel + 12, 9, "in_kernel", "Kernel")]
        self.assertEqual(
            self.names_by_table(entries, [0x1000, 0x1010, 0x1020, 0x1011], kernel=[kernel, kernel + 16, kernel + 17]),
            ["one", "one", "two", "[0x1011]", "in_kernel", "in_kernel", f"[kernel+0x{kernel + 17:x}]"])

    def test_table_with_files_for_names(self):
        """3.46 stores the file where it found no name: that is none."""
        entries = [(0x1000, 0x1010, PID, "In file /usr/bin/x", "x"), (0x2000, 0x2010, PID, "In File /usr/bin/x+0x20", "x"),
                   (0x3000, 0x3010, PID, "Inside", "x")]
        self.assertEqual(self.names_by_table(entries, [0x1000, 0x2000, 0x3000]), ["[0x1000]", "[0x2000]", "Inside"])

    def test_damaged_tables(self):
        whole = symbol_table([(0x1000, 0x1010, PID, "one", "a"), (0x2000, 0x2010, PID, "two", "a")])
        outside = symbol_table([(0x1000, 0x1010, PID, "one", "a")])
        outside = outside[:20] + b"\xff\xff\xff\x7f" + outside[24:]
        for table in [whole[:n] for n in range(0, len(whole), 7)] + [outside, b"", bytes(32), bytes(31), b"\xff" * 320]:
            for name in self.names_by_table(None, [0x1000, 0x2000], table=table):
                self.assertIn(name, ("one", "two", "[0x1000]", "[0x2000]"))

    def test_names_are_made_printable(self):
        entries = [(0x1000, 0x1010, PID, "a\x1b[31m\nb", ""), (0x2000, 0x2010, PID, "caf\u00e9", "")]
        self.assertEqual(self.names_by_table(entries, [0x1000, 0x2000]), ["a?[31m?b", "caf\u00e9"])

    def test_lines_that_were_asked_ahead(self):
        """A thread that resolves names ahead finds what is found afterwards, including symbol numbers. This
        also holds if the capture has lines of its own, if some addresses have names from elsewhere, and if
        the results are not used."""
        program = self.place("program")
        pathlib.Path(self.place("program.c")).write_text(self.INLINED)
        run("cc", "-g", "-O2", "-o", program, self.place("program.c"))
        addresses = [at for at, (size, _) in functions(program).items() for at in range(at, at + size)]
        capture, bias = self.capture_of(program, addresses)
        path = capture.save(self.place("c"))
        ask = lambda *options: run(PRINT_SYMBOLS, "--with-lines", *options, path)
        alone = ask()
        self.assertTrue("\tinline\t" in alone, "nothing is inlined")
        self.assertTrue(re.search(r"\touter\t.*program.c:[0-9]+\t", alone), "it has no line")
        self.assertEqual(ask("--ahead"), alone)
        self.assertEqual(ask("--ahead", "--sandbox"), alone)
        self.assertEqual(run(PRINT_SYMBOLS, "--ahead", path), run(PRINT_SYMBOLS, path))

        at = next(at for at, (_, names) in functions(program).items() if "outer" in names) + bias
        capture.chunked_file("__symbols__", symbol_table([(at, at + 2, PID, "renamed", "")]))
        path = capture.save(self.place("named"))
        self.assertTrue("\trenamed\t" in ask(), "nothing is renamed")
        self.assertEqual(ask("--ahead"), ask())
        run(PRINT_SYMBOLS, "--lines", self.place("lines"), path)
        capture.chunked_file("__lines__", pathlib.Path(self.place("lines")).read_bytes())
        path = capture.save(self.place("with-lines"))
        self.assertEqual(ask("--ahead"), ask())

    INLINED = """
volatile int sink;
static inline __attribute__ ((always_inline)) void inner (int n) { for (int i = 0; i < n; i++) sink += i; }
static inline __attribute__ ((always_inline)) void middle (int n) { inner (n); sink++; inner (n + 1); }
__attribute__ ((noinline)) void outer (int n) { middle (n); sink--; middle (2 * n); }
int main (int argc, char **argv) { outer (argc); return 0; }
"""

    def test_packed_table(self):
        """Packed symbols read the same if none of the files exists, and are sorted as readers require."""
        libc = library("libc.so.6")
        found = {a: f for a, f in functions(libc, "-D").items() if f[0]}
        gaps = [a + f[0] for a, f in found.items()]
        capture, bias = self.capture_of(libc, [*found, *gaps], is_return=False)
        capture.chunked_file("/proc/kallsyms", self.KALLSYMS.encode())
        for pid in (PID, PID + 1):
            capture.sample([KERNEL, 0xFFFFFFFF81000050, 0xFFFFFFFF81000080, USER, bias + next(iter(found))], pid=pid)
        before = symbolize(capture.save(self.place("c")), "--pack", self.place("p"), "--unnamed", self.place("u"))
        table = pathlib.Path(self.place("p")).read_bytes()

        entries = read_symbol_table(table)
        self.assertEqual(entries, sorted(entries, key=lambda e: (e[2], e[0])))
        for one, two in zip(entries, entries[1:]):
            self.assertTrue(one[2] != two[2] or one[1] <= two[0], (one, two))
        self.assertEqual({e[2] for e in entries if e[3] == "first_function"}, {0, PID, PID + 1})

        bundled = new_capture()
        bundled.data = capture.data[:]
        bundled.chunked_file("__symbols__", table)
        bundled.chunked_file("__unnamed__", pathlib.Path(self.place("u")).read_bytes())
        bundled.save(self.place("b"))
        os.mkdir(self.place("empty"))
        after = symbolize(self.place("b"), "--sysroot", self.place("empty"))
        facts = lambda r: (r.name, r.binary, r.kind, r.start, r.end, r.reason, r.is_entry)
        self.assertEqual({a: facts(r) for a, r in after.items()}, {a: facts(r) for a, r in before.items()})


if __name__ == "__main__":
    unittest.main()
