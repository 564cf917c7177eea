#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows invalid captures in every view: results must be correct, not merely present.

    test-bad-input.py SYSPROF_REPORT ANSWER_VIEWS
"""

import bz2
import collections
import gzip
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))
import make_captures  # noqa: E402
from captures import JIT, KERNEL, USER, Capture, symbol_table  # noqa: E402

REPORT, ANSWER = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
SCHEMA = pathlib.Path(__file__).parents[2] / "data" / "sysprof-report.schema.json"
DEEP = 8000
LONG = 100_000
NOT_UTF8 = b"\xff\xfe na\xcc\xefve \x80"
KIP = 0xFFFFFFFF81000010
TIMEOUT = 300  # seconds: far above what anything takes, under sanitizers too


def validator():
    try:
        import jsonschema
    except ImportError:
        return None
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


TOLD = ("category", "kind", "unwind")  # texts of which the schema lists all


def shape(value, key=None):
    """All that the schema looks at."""
    if isinstance(value, dict):
        return tuple((name, shape(part, name)) for name, part in sorted(value.items()))
    if isinstance(value, list):
        return frozenset(shape(part, key) for part in value)
    if isinstance(value, (int, float)):
        return type(value), value < 0
    return value if key in TOLD else type(value)


def one_of_each(value):
    """Checks only the first of items with an equal schema, because each takes a millisecond."""
    if isinstance(value, dict):
        return {name: one_of_each(part) for name, part in value.items()}
    if isinstance(value, list):
        return [one_of_each(part) for part in {shape(part): part for part in reversed(value)}.values()]
    return value


def run(*words):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)


def split(out):
    """{view: report, or why there is none}"""
    answers, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        line = out[at:end].decode()
        at = end + 1
        if ": " in line:
            view, answers[view] = line.split(": ", 1)
            continue
        view, size = line.split(" ")
        answers[view] = json.loads(out[at:at + int(size)].decode("utf-8", "strict"))
        at += int(size)
    return answers


class Base(unittest.TestCase):
    VALIDATOR = validator()

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="sysprof-bad-input-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, data, name="x.syscap"):
        path = self.folder / name
        path.write_bytes(bytes(data))
        return path

    def answer(self, capture, focus="main", is_deep=False):
        """Returns all its views; those that need no focus must succeed."""
        done = run(ANSWER, self.write(capture.data if isinstance(capture, Capture) else capture), focus)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        answers = split(done.stdout)
        for view, report in answers.items():
            if isinstance(report, str):
                self.assertIn(view, ("callers", "callees", "source", "disassembly", "search"), report)
            elif self.VALIDATOR and not (is_deep and view in ("tree", "flame", "samples", "search")):
                self.VALIDATOR.validate(one_of_each(report))
        return answers

    def both(self, make, **more):
        """The same whichever way its integers lie."""
        little, big = (self.answer(make(big), **more) for big in (False, True))
        self.assertEqual(little, big)
        return little


def functions(answers):
    return {(row["symbol"], row["kind"]): (row["self"], row["total"]) for row in answers["functions"]["rows"]}


class Names(Base):
    def test_symbol_of_100_000_characters(self):
        name = "long_" + "x" * (LONG - 5)

        def make(big):
            order = ">" if big else "<"
            capture = Capture(big=big).process("/bin/a", pid=7, time=1000).map(0x1000, 0x9000, "/bin/a", pid=7, time=1000)
            for i in range(3):
                capture.sample([USER, 0x2010, 0x3010], 7, pid=7, time=1001 + i)
            table = symbol_table([(0x2000, 0x3000, 7, name, "a"), (0x3000, 0x4000, 7, "main", "a")], order)
            return capture.chunked_file("__symbols__", table, time=1010)

        answers = self.both(make)
        self.assertEqual(functions(answers), {(name, "user"): (3, 3), ("main", "user"): (0, 3)})
        self.assertEqual([row["symbol"] for row in answers["callees"]["rows"]], [name])
        self.assertEqual(answers["samples"]["rows"][0]["stack"][0]["symbol"], name)

    def test_names_that_are_not_utf8(self):
        shown = NOT_UTF8.decode("utf-8", "replace")

        def make(big):
            c = Capture(big=big, capture_time=NOT_UTF8).process(b"/bin/" + NOT_UTF8, pid=7, time=1000)
            c.map(0x1000, 0x9000, b"/lib/" + NOT_UTF8, pid=7, time=1000).sample([USER, 0x2010], 7, pid=7, time=1001)
            c.jitmap([(JIT + 1, NOT_UTF8)], time=1000).sample([JIT + 1], 7, pid=7, time=1002)
            c.mark(NOT_UTF8, NOT_UTF8, NOT_UTF8, 5, time=1003, pid=7).log(NOT_UTF8, NOT_UTF8, time=1004, pid=7)
            c.metadata(NOT_UTF8, NOT_UTF8, time=1000).file(NOT_UTF8, b"x", time=1000)
            c.ctrdef([(1, NOT_UTF8, NOT_UTF8, NOT_UTF8, False)], time=1000).ctrset([(1, 4)], time=1005)
            c.dbus(NOT_UTF8, time=1006).overlay(NOT_UTF8, NOT_UTF8, time=1000)
            c.allocation(0x10, 32, [0x2010], 7, pid=7, time=1007)
            c.file("/proc/7/cgroup", b"0::/" + NOT_UTF8, time=1000).file("/proc/cpuinfo", b"model name: " + NOT_UTF8, time=1000)
            order = ">" if big else "<"
            table = symbol_table([(0x2000, 0x3000, 7, NOT_UTF8, NOT_UTF8)], order)
            return c.file("__symbols__", table, time=1010)

        answers = self.both(make)
        self.assertIn((shown, "user"), functions(answers))
        self.assertIn((shown, "jit"), functions(answers))
        self.assertEqual((answers["marks"]["rows"][0]["group"], answers["logs"]["rows"][0]["message"]), (shown[:24], shown))
        self.assertEqual(answers["counters"]["rows"][0]["name"], shown)
        self.assertEqual(answers["allocations"]["rows"][0]["self"], 32)


class Few(Base):
    def test_nothing(self):
        answers = self.both(lambda big: Capture(big=big))
        for view in ("functions", "samples", "processes", "marks", "counters", "logs", "dbus", "allocations", "heat"):
            self.assertEqual(answers[view]["rows"], [], view)
        self.assertEqual([(row["kind"], row["total"], row["children"]) for row in answers["tree"]["rows"]], [("root", 0, [])])
        for view in ("tree", "flame"):
            done = run(REPORT, view, "--bottom-up", "--format", "json", self.write(Capture().data))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(answers["summary"]["capture"]["samples"], 0)

    def test_one_sample(self):
        answers = self.both(lambda big: Capture(big=big).process("/bin/a b", pid=7, time=900).sample([USER, 0x1000], 7, pid=7, time=1001))
        self.assertEqual(answers["summary"]["capture"]["samples"], 1)
        self.assertEqual([(row["self"], row["total"]) for row in answers["functions"]["rows"]], [(1, 1)])
        self.assertEqual([row["pid"] for row in answers["processes"]["rows"]], [7])

    def test_all_at_one_time(self):
        def make(big):
            capture = Capture(big=big, time=2000, end_time=2000).process("/bin/a", pid=7, time=2000)
            for i in range(30):
                capture.sample([USER, 0x1000 + i % 3], 7, pid=7, time=2000).mark("g", f"m{i % 2}", "", 0, time=2000, pid=7)
            return capture

        answers = self.both(make)
        self.assertEqual(answers["functions"]["capture"]["duration"], 0)
        self.assertEqual(sorted(row["self"] for row in answers["functions"]["rows"]), [10, 10, 10])
        self.assertEqual(len(answers["marks"]["rows"]), 30)

    def test_time_running_backwards(self):
        def make(big):
            capture = Capture(big=big, time=1000, end_time=9000)
            for i in range(50):
                capture.sample([USER, 0x1000], 7, pid=7, time=6000 - 100 * i).ctrset([(1, i)], time=6000 - 100 * i)
            return capture.process("/bin/a", pid=7, time=1000).ctrdef([(1, "c", "n", "", False)], time=1000)

        answers = self.both(make)
        times = [row["time"] for row in answers["samples"]["rows"]]
        self.assertEqual(times, [100 * i for i in range(1, 51)])
        counter = answers["counters"]["rows"][0]
        self.assertEqual((counter["first"], counter["last"], counter["min"], counter["max"]), (49, 0, 0, 49))


class Deep(Base):
    def test_stack_of_8_000_frames(self):
        def make(big):
            capture = Capture(big=big).process("/bin/a", pid=7, time=1000).map(0, 1 << 30, "/bin/a", pid=7, time=1000)
            names = [(0x1000 * i, 0x1000 * (i + 1), 7, f"f{i}", "a") for i in range(1, DEEP + 1)]
            for at in range(2):
                capture.sample([USER] + [0x1000 * i + 8 for i in range(1, DEEP + 1)], 7, pid=7, time=1001 + at)
            return capture.chunked_file("__symbols__", symbol_table(names, ">" if big else "<"), time=1010)

        answers = self.both(make, focus="f4000", is_deep=True)
        self.assertEqual(functions(answers)["f1", "user"], (2, 2))
        self.assertEqual(len(answers["functions"]["rows"]), DEEP)
        depth, rows = 0, answers["tree"]["rows"]
        while rows:
            self.assertEqual((len(rows), rows[0]["total"]), (1, 2))
            depth, last, rows = depth + 1, rows[0], rows[0].get("children")
        self.assertEqual((depth, last["deeper"]), (124, 2))
        self.assertEqual([row["symbol"] for row in answers["callers"]["rows"]], ["f4001"])
        self.assertEqual([row["symbol"] for row in answers["callees"]["rows"]], ["f3999"])


class Contradictions(Base):
    def test_counters_without_definition(self):
        answers = self.both(lambda big: Capture(big=big).ctrset([(1, 5), (2, 1.5)], time=1100, pid=9)
                            .ctrdef([(3, "A", "late", "", False)], time=1900).ctrset([(3, 8)], time=1200))
        self.assertEqual([(row["name"], row["count"], row["last"]) for row in answers["counters"]["rows"]], [("late", 1, 8)])

    def test_duplicate_ids(self):
        """The same counter twice is one; the same id again, with another name, is another from there on."""
        def make(big):
            capture = Capture(big=big)
            for _ in range(3):
                capture.ctrdef([(1, "A", "one", "", False)], time=1000)
            return capture.ctrset([(1, 5)], time=1001).ctrset([(1, 6), (1, 7)], time=1002)

        rows = self.both(make)["counters"]["rows"]
        self.assertEqual(sum(row["count"] for row in rows), 3)

    def test_colliding_ids_of_3_46(self):
        """Two programs beside the recorder number their counters from 1."""
        def make(big):
            c = Capture(big=big).ctrdef([(1, "Disk", "Total", "", False)], time=1000, pid=-1)
            c.ctrdef([(1, "gtk", "fps", "", True)], time=1001, pid=50).ctrset([(1, 5)], time=1002, pid=-1)
            return c.ctrset([(1, 60.0)], time=1003, pid=50).ctrset([(1, 6)], time=1004, pid=-1)

        rows = {row["name"]: (row["count"], row["first"], row["last"]) for row in self.both(make)["counters"]["rows"]}
        self.assertEqual(rows, {"Total": (2, 5, 6), "fps": (1, 60, 60)})

    def test_rubbish_in_padding(self):
        clean, dirty = (make_captures.every_type() for _ in range(2))
        at = 256
        while at < len(dirty.data):
            length = int.from_bytes(dirty.data[at:at + 2], "little")
            kind = dirty.data[at + 16]
            dirty.data[at + 17:at + 20] = b"\xa5\x5a\xff"
            if kind != 1:  # there the second padding tells an index
                dirty.data[at + 20:at + 24] = b"\xde\xad\xbe\xef"
            if kind == 2:
                dirty.data[at + 26:at + 28] = b"\x7f\x80"
            at += length
        self.assertEqual(self.answer(clean), self.answer(dirty))

    def test_frame_indexes_and_traces_as_samples(self):
        """As generation 51 writes them."""
        def make(big):
            capture = Capture(big=big, index=256).process("/bin/a", pid=7, time=1000)
            for i in range(6):
                capture.sample([0x1000, 0x2000], 7, int(i % 2 == 0) << (15 if big else 0), pid=7, time=1001 + i)
                capture.index(256, time=1001 + i)
            return capture.trace([0x1000], 7, pid=7, time=1010)

        answers = self.both(make)
        frames = answers["summary"]["capture"]["frames"]
        self.assertEqual((frames["sample"], frames["frame-index"], frames["trace"], frames["timestamp"]), (6, 6, 1, 0))
        self.assertEqual(answers["functions"]["weight"]["total"], 6)

    def test_all_made_captures(self):
        """Whatever else the store is tested with."""
        for name, make in make_captures.MADE.items():
            if name in ("cut-in-header",):
                continue
            with self.subTest(name=name):
                self.answer(make(), is_deep=True)


def whole_samples(data):
    """How many samples end before the data do."""
    n, at = 0, 256
    while at + 24 <= len(data):
        length = int.from_bytes(data[at:at + 2], "little")
        if length < 24 or at + length > len(data):
            break
        n += data[at + 16] == 2
        at += length
    return n


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
if shutil.which("zstd"):
    PACKERS["zst"] = lambda data: subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


class Cut(Base):
    def capture(self):
        c = make_captures.every_type()
        for i in range(200):
            c.sample([USER, 0x401000 + 16 * (i * 7 % 31), 0x402000 + i], 345, pid=345, time=1500 + i)
        return bytes(c.data)

    def test_cut_anywhere(self):
        data = self.capture()
        for size in range(256, len(data), 1499):
            with self.subTest(size=size):
                answers = self.answer(data[:size])
                self.assertEqual(answers["functions"]["capture"]["samples"], whole_samples(data[:size]))

    def test_cut_in_the_header(self):
        data = self.capture()
        for size in (0, 1, 4, 100, 255):
            done = run(REPORT, self.write(data[:size]))
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(b"Cannot open", done.stderr)

    def test_compressed_and_cut_anywhere(self):
        """The report of a truncated capture is the beginning of the report of the complete one."""
        data = self.capture()
        for name, pack in PACKERS.items():
            packed = pack(data)
            counts = collections.Counter()
            for size in [*range(6, len(packed), max(len(packed) // 12, 1)), len(packed)]:
                with self.subTest(codec=name, size=size):
                    done = run(REPORT, "functions", "--format", "json", self.write(packed[:size], "x.syscap." + name))
                    if done.returncode:
                        self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (1, b"", 1))
                        counts["refused"] += 1
                        continue
                    n = json.loads(done.stdout)["capture"]["samples"]
                    self.assertLessEqual(n, whole_samples(data))
                    if size == len(packed):
                        self.assertEqual((n, done.stderr), (whole_samples(data), b""))
                    else:
                        self.assertIn(b"compressed", done.stderr)
            self.assertGreater(counts["refused"], 0)

    def test_bombs(self):
        """A gigabyte of nothing in a thousandth of it is refused before it is unpacked."""
        (self.folder / "bomb.gz").write_bytes(1024 * gzip.compress(bytes(1 << 20)))
        done = run("sh", "-c", 'ulimit -v "$1"; exec "$2" "$3"', "sh", 512 << 10 if "SANITIZED" not in os.environ else "unlimited",
                   REPORT, self.folder / "bomb.gz")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"does not begin like a capture", done.stderr)


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    unittest.main()
