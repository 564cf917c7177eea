#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Untrusted names, tables and programs: reports stay text, data for other programs stay well-formed, and no
input takes long, uses unlimited memory or ends a recording."""

import gzip
import json
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys

import captures
import tap
from decoder import Capture
from output_formats import FORMATS, VIEWS, check_output, options_of
from programs import BUSY, CAT, CLI, REPORT, Case, needs_sampling, run

MOST_MEMORY = 3 << 29  # bytes: 1.5 GiB, sanitizer and all
ABSURD = [
    b"\x1b[2J\x1b]0;owned\x07\x1b[31m",
    b"two\nlines\r\nand\tmore",
    b"\xff\xfe\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80",
    "\u2028\u2029\u0085\u009b31m\ufffe\uffff".encode(),
    "\u202egpj.\u2066x\u2069\u200b\u200f\ufeff\u00ad\u061c\u115f".encode(),
    b"</script><script>alert(1)</script>",
    b"]]><!--\"'&amp;&#0;",
    b"%s%n%99999d",
    b"; rm -rf / 12",
    b"\\u0000\\",
    b"",
    b" ",
    b"__symbols__",
]


class Strange(Case):
    """A capture that the test makes goes through every view in every look."""

    def run_bounded(self, *words):
        """As `run`, with the memory that it may have."""
        sanitized = b"__asan_init" in pathlib.Path(REPORT).read_bytes()

        def limit():
            if not sanitized:  # which reserves terabytes of addresses
                resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

        done = run(*words, preexec_fn=limit, env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for alarm in (b"Sanitizer", b"runtime error", b"CRITICAL", b"WARNING **"):
            self.assertNotIn(alarm, done.stderr)
        check_output("text", done.stderr.decode())
        return done

    def check_views(self, path, views=tuple(VIEWS), formats=tuple(FORMATS)):
        for view in views:
            for form in formats:
                with self.subTest(view=view, form=form):
                    done = self.run_bounded(REPORT, view, "--format", form, *options_of(view, "a"), path)
                    if done.returncode == 0:
                        check_output(form, done.stdout.decode())
                    else:
                        self.assertEqual(done.stderr.count(b"\n"), 1)
        done = self.run_bounded(CAT, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        check_output("text", done.stdout.decode())


class Names(Strange):
    def profile(self, name):
        """Everything that has a name is called that."""
        capture = captures.Capture(time=1000, now=1000, capture_time=name)
        capture.process(name, pid=7, time=1000).process(name, pid=8, time=1001)
        capture.map(0x400000, 0x500000, name, pid=7, time=1000)
        capture.map(0x600000, 0x700000, b"/usr/lib/" + name, pid=7, time=1000, build_id=b"zz" + name[:30])
        capture.jitmap([(captures.JIT + 1, name)], time=1000)
        capture.metadata(name, name, time=1000).metadata("hostname", name, time=1000).log(name, name, time=1000)
        capture.mark(name, name, name, 5, pid=7, time=1000).file(name[:255], b"x", time=1000)
        capture.ctrdef([(1, name, name, name, True)], time=1000).ctrset([(1, float("nan")), (1, float("inf"))], time=1001)
        capture.overlay(name, name, time=1000)
        capture.chunked_file("/proc/kallsyms", b"ffffffff81000000 T " + name + b"\nffffffff81001000 T b\t[" + name + b"]\n")
        capture.chunked_file("__symbols__", captures.packed_symbols(
            [(0x400000, 0x400100, 7, 0, 0), (0x400100, 0x400200, 7, 0, len(name) + 1)], name + b"\0" + name + b"\0"))
        capture.chunked_file("/proc/7/mountinfo", b"1 2 3:4 / /" + name + b" rw - ext4 /dev/" + name + b" rw\n")
        capture.chunked_file("__unnamed__", b"7 400500 1500 stripped\n" + name)
        for i, address in enumerate((0x400010, 0x400110, 0x400510, 0x600010, 0x900000, captures.JIT + 1)):
            capture.sample([captures.USER, address], 7 + i % 2, pid=7, time=1002 + i)
        capture.sample([captures.KERNEL, 0xFFFFFFFF81000010, 0xFFFFFFFF81001010, captures.USER, 0x400010], 8, pid=8, time=1100)
        return capture.save("strange")

    def test_absurd_names_in_every_view(self):
        self.check_views(self.profile(b"a" + b"|".join(ABSURD)))

    def test_each_absurd_name(self):
        for number, name in enumerate(ABSURD):
            path = self.profile(name)
            with self.subTest(name=name):
                view, form = VIEWS[number % len(VIEWS)], FORMATS[number % len(FORMATS)]
                self.check_views(path, (view,), (form,))

    def test_names_do_not_lose_samples(self):
        for name in ABSURD:
            done = run(REPORT, "functions", "--format", "json", self.profile(name))
            report = json.loads(done.stdout)
            self.assertEqual(sum(row["self"] for row in report["rows"]), 7, name)

    def test_endless_names(self):
        """As long as frames and files may be."""
        capture = captures.Capture(time=1000, now=1000)
        capture.process(b"p" * 65000, pid=7, time=1000)
        capture.map(0x400000, 0x500000, b"/" + b"m" * 65000, pid=7, time=1000)
        capture.metadata("hostname", b"h" * 65000, time=1000)
        capture.jitmap([(captures.JIT + 1, b"j" * 65000)], time=1000)
        capture.mark("g", "n", b"k" * 65000, pid=7, time=1000)
        capture.chunked_file("__symbols__", captures.packed_symbols([(0x400000, 0x400100, 7, 0, 0)], b"a" * 100000 + b"\0"))
        capture.chunked_file("/proc/kallsyms", b"ffffffff81000000 T " + b"a" * 100000 + b"\nffffffff81001000 T b\n")
        capture.sample([captures.KERNEL, 0xFFFFFFFF81000010, captures.USER, 0x400010, 0x480000, captures.JIT + 1], 7, pid=7, time=1001)
        self.check_views(capture.save("strange"), ("summary", "tree", "flame", "processes", "samples", "metadata"), ("text", "json", "svg"))

    def test_deepest_stack(self):
        capture = captures.Capture(time=1000, now=1000).process("a", pid=7, time=1000)
        for n in range(4):
            capture.sample([captures.USER] + [0x400000 + 16 * i + n for i in range(8000)], 7, pid=7, time=1001 + n)
        path = capture.save("strange")
        self.check_views(path, ("functions", "tree", "flame", "samples"), ("text", "json", "svg"))
        for form in ("text", "html", "folded"):
            done = run(REPORT, "tree", "--bottom-up", "--format", form, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(len(done.stdout), 1000 * len(capture.data), form)


class Tables(Strange):
    def profile(self, **files):
        capture = captures.Capture(time=1000, now=1000).process("a", pid=7, time=1000)
        for name, content in files.items():
            capture.chunked_file({"symbols": "__symbols__", "kallsyms": "/proc/kallsyms", "packed": "/proc/kallsyms.gz",
                                 "unnamed": "__unnamed__", "mounts": "/proc/7/mountinfo"}[name], content)
        for n in range(50):
            capture.sample([captures.KERNEL, 0xFFFFFFFF81000010 + n, captures.USER, 0x400010 + n, 2**63 + n, 0], 7, pid=7, time=1001 + n)
        return capture.save("strange")

    def check_samples_stay(self, path):
        done = self.run_bounded(REPORT, "functions", "--format", "json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(sum(row["self"] for row in report["rows"]), 50)
        return report

    def test_symbol_tables(self):
        top = 2**64 - 1
        text = b"a\0b\0no end"
        for symbols in (
                b"", b"\0", bytes(31), bytes(32), bytes(64), b"\xff" * 100, b"\xff" * 320,
                captures.packed_symbols([], b""), captures.packed_symbols([(0, top, 0, 0, 2)], text),
                captures.packed_symbols([(0x400000, 0x500000, 7, 2**32 - 1, 2**32 - 1)], text),  # names in front of the table
                captures.packed_symbols([(0x400000, 0x500000, 7, 1000, 5000)], text),  # and behind it
                captures.packed_symbols([(0x400000, 0x500000, 7, 4, 4)], text),  # without end
                captures.packed_symbols([(0x500000, 0x400000, 7, 0, 0), (top, 0, 7, 0, 0)], text),  # ends before it begins
                captures.packed_symbols([(0x500000, 0x600000, 9, 0, 0), (0x400000, 0x600000, 7, 2, 2), (0, top, 7, 0, 0)], text),  # unsorted
                captures.packed_symbols([(0x400000 + i, 0x400000 + 2 * i, 7, 0, 2) for i in range(5000)], text),  # overlapping
                captures.packed_symbols([(0x400000, 0x500000, 7, 0, 0)] * 5000, text),  # equal
                captures.packed_symbols([(0x400000 + i, 0x400001 + i, 7, 0, 0) for i in range(100)], text)[:1601]):
            path = self.profile(symbols=symbols)
            with self.subTest(symbols=symbols[:64]):
                self.check_samples_stay(path)

    def test_lists_of_the_kernel(self):
        line = b"ffffffff81000000 T a\n"
        for kallsyms in (b"", b"\n" * 100000, b"\0" * 100000, b"x", line * 20000, line[:-3], line + b"f" * 100000, b"\xff" * 1000,
                         b"ffffffff81000000 T \n", b"ffffffff81000000 T\n", b"ffffffffffffffffff81000000 T a\n", b"0 T a\n" * 1000,
                         b"ffffffff81000000 T a\t[\n", b"ffffffff81000000 T " + b"_R" + b"B_" * 40000 + b"\n",
                         b"ffffffff81000000 T _D1aFHii" + b"HQeQfHQcQd" * 100 + b"Zv\n"):
            with self.subTest(kallsyms=kallsyms[:64]):
                path = self.profile(kallsyms=kallsyms)
                self.check_samples_stay(path)
                done = run(CLI, "--merge", path, path)
                self.assertEqual((done.returncode, b"runtime error" in done.stderr), (0, False), done.stderr)
        for packed in (gzip.compress(line * 1000), gzip.compress(line * 1000)[:-9], gzip.compress(line * 1000)[:20], line, b""):
            with self.subTest(packed=packed[:64]):
                self.check_samples_stay(self.profile(packed=packed))

    def test_list_that_unpacks_without_end(self):
        packed = gzip.compress(b"\n" * (600 << 20), 9)
        path = self.profile(packed=packed)
        self.check_samples_stay(path)
        done = self.run_bounded(REPORT, "files", "--extract", "/proc/kallsyms", path)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1), done.stderr)

    def test_lists_of_what_has_no_name(self):
        for unnamed in (b"7 400010 1 stripped\n" * 5000, b"7 400010\n", b"\n\n\n", b"-1 -1 -1 -1\n", b"7 400010 1 no-such-reason entry entry\n",
                        b"99999999999 ffffffffffffffffff 1 stripped\n", b"\xff" * 3000, b"7 400010 1 " + b"x" * 30000):
            for name in ("unnamed", "mounts"):
                path = self.profile(**{name: unnamed})
                with self.subTest(name=name, content=unnamed[:40]):
                    self.check_samples_stay(path)

    @staticmethod
    def growing_name(n, number):
        """A Rust name of pairs of the pair before: twice as long with each."""
        def back(position):
            digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            if position == 0:
                return "B_"
            position -= 1
            text = digits[position % 62]
            while position >= 62:
                position = position // 62 - 1
                text = digits[position % 62] + text
            return f"B{text}_"

        name, last = f"INvC1a5f{number:04}TllE", len("INvC1a5f0000")
        for _ in range(n):
            here = len(name)
            name += f"T{back(last)}{back(last)}E"
            last = here
        return f"_R{name}E"

    def test_names_of_the_kernel_that_grow(self):
        for levels in (8, 60):
            capture = captures.Capture(time=1000, now=1000).process("a", pid=7, time=1000)
            names = [f"ffffffff8100{i:04x} T {self.growing_name(levels, i)}\n" for i in range(1000)]
            capture.chunked_file("/proc/kallsyms", "".join(names).encode())
            for i in range(1000):
                capture.sample([captures.KERNEL, 0xFFFFFFFF81000000 + i], 7, pid=7, time=1001 + i)
            done = self.run_bounded(REPORT, "functions", "--format", "json", capture.save("strange"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(len(done.stdout), 200 * len(capture.data))
            found = [row["symbol"].startswith("_R") for row in json.loads(done.stdout)["rows"]]
            self.assertEqual(found, [levels == 60] * 1000, "the long ones stay as they are")


class Programs(Case):
    """Programs that run, and whose files are made to mislead who reads them."""

    def make_program(self, number):
        """The kernel reads the segments alone: sections, symbols, notes may be anything."""
        with open(BUSY, "rb") as file:
            data = bytearray(file.read())
        sections, = struct.unpack_from("<Q", data, 40)
        n_sections, = struct.unpack_from("<H", data, 60)
        at = lambda section, field: sections + 64 * section + field
        kinds = {struct.unpack_from("<I", data, at(i, 4))[0]: i for i in range(n_sections)}
        symtab, strtab = kinds[2], struct.unpack_from("<I", data, at(kinds[2], 40))[0]
        put = lambda form, where, *values: struct.pack_into("<" + form, data, where, *values)
        changes = [
            lambda: put("Q", 40, 2**64 - 64),  # sections lie nowhere
            lambda: put("H", 60, 0xffff),  # more of them than there are
            lambda: put("H", 62, 0xfffe),  # their names in none
            lambda: put("Q", at(symtab, 32), 2**63),  # no end of symbols
            lambda: put("Q", at(symtab, 56), 1),  # of one byte each
            lambda: put("Q", at(symtab, 56), 0),
            lambda: put("I", at(symtab, 40), symtab),  # names in the symbols
            lambda: put("I", at(symtab, 40), 2**32 - 1),
            lambda: put("Q", at(strtab, 32), 1),  # names without room
            lambda: put("QQ", at(strtab, 24), 2**64 - 8, 16),
            lambda: [put("I", at(i, 4), 7) for i in range(1, n_sections)],  # all are notes
            lambda: [put("I", at(i, 4), 2) for i in range(1, n_sections)],  # all are symbols
            lambda: [put("Q", at(i, 8), 0x800) for i in range(1, n_sections)],  # all are compressed
            lambda: data.__delitem__(slice(sections, None)),  # the end is missing
        ]
        changes[number]()
        path = self.path(f"odd-{number}")
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        return len(changes)

    @staticmethod
    def make_long_reading(path):
        """With two million symbols, so that its reader lives for a while."""
        with open(BUSY, "rb") as file:
            data = bytearray(file.read())
        sections, = struct.unpack_from("<Q", data, 40)
        n_sections, = struct.unpack_from("<H", data, 60)
        symtab = next(at for at in range(sections, sections + 64 * n_sections, 64) if struct.unpack_from("<I", data, at + 4)[0] == 2)
        offset, size = struct.unpack_from("<QQ", data, symtab + 24)
        symbols = bytes(data[offset:offset + size])
        times = 2_000_000 * 24 // size
        struct.pack_into("<QQ", data, symtab + 24, len(data), times * size)
        with open(path, "wb") as file:
            file.write(data + times * symbols)
        os.chmod(path, 0o755)

    @needs_sampling
    def test_recording_of_odd_programs(self):
        n = self.make_program(0)
        for number in range(1, n):
            self.make_program(number)
        shutil.copy(BUSY, "sane")
        done = run(CLI, "-F", "2000", "x.syscap", "--", "sh", "-c", "for p in ./odd-* ./sane; do $p 0.02 >/dev/null & done; wait")
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        self.assertNotIn("Sanitizer", text)
        self.assertTrue(Capture.open("x.syscap").file("__symbols__"))
        done = run(REPORT, "functions", "--format", "json", "--process", "sane", "x.syscap")
        self.assertTrue({"heavy_work", "light_work"} & {row["symbol"] for row in json.loads(done.stdout)["rows"]}, "others keep their names")
        rows = json.loads(run(REPORT, "quality", "--format", "json", "x.syscap").stdout)["rows"]
        self.assertTrue([row for row in rows if row["binary"].startswith("odd-")], "what could not be named is told")
        self.assertTrue([row for row in rows if row["binary"].startswith("odd-") and row["reason"]], rows)

    @needs_sampling
    def test_death_of_who_reads_them(self):
        """The recorder's child that reads ELF files is killed whenever it appears: files lose names, the recording nothing."""
        self.make_long_reading("sane")
        with subprocess.Popen([CLI, "-F", "500", "x.syscap", "--", "./sane", "0.3"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as recorder:
            n_killed = 0
            while recorder.poll() is None:
                n_killed += self.kill_readers(recorder.pid)
            text = recorder.stderr.read().decode()
        self.assertEqual(recorder.returncode, 0, text)
        self.assertTrue(Capture.open("x.syscap").of("sample"))
        if n_killed == 0:
            self.skipTest("it was always quicker")
        done = run(REPORT, "functions", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)

    @staticmethod
    def kill_readers(recorder):
        """Its children that have given up their rights."""
        n_killed = 0
        try:
            with open(f"/proc/{recorder}/task/{recorder}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
            for task in os.listdir(f"/proc/{recorder}/task"):
                with open(f"/proc/{recorder}/task/{task}/children", encoding="ascii") as file:
                    children += [int(word) for word in file.read().split()]
            for child in set(children):
                with open(f"/proc/{child}/status", encoding="utf-8") as file:
                    if "\nSeccomp:\t2\n" in file.read():
                        os.kill(child, 9)
                        n_killed += 1
        except OSError:
            pass  # it has ended
        return n_killed


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    tap.main()
