#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions in reports, against addr2line and its like: captures made by hand, with one sample at each address of every
function of small programs that are compiled here.

usage: test-inlines.py SYSPROF-REPORT DIRECTORY-OF-SOURCES

What each of the other programs gets wrong at times is in tests/dwarf/test-dwarf.py.
"""

import collections
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
from captures import USER, Capture  # noqa: E402

REPORT, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.argv[1:] = []
PID, BASE = 4000001, 0x7F0000000000  # above the largest pid: no such process lives


def run(*command, text=None):
    done = subprocess.run(command, input=text, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout


def as_json(*args):
    return json.loads(run(REPORT, *map(str, args), "--format", "json", "--limit", "0"))


def code_of(path):
    """(offset, address, size) of what is executable."""
    load = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R ?E", run("readelf", "-lW", path))
    return [int(number, 16) for number in load.groups()]


def symbols_of(path):
    """{address: {names}}, each name demangled as addr2line does it."""
    found = {}
    for line in run("nm", "-S", "-C", "--defined-only", path).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.+)$", line)
        for at in range(int(match[1], 16), int(match[1], 16) + int(match[2], 16)) if match else ():
            found.setdefault(at, set()).add(match[3])
    return found


def addresses_of(path, pattern):
    """Every address of the functions whose names fit; not of parts that a compiler took out, which addr2line names as the whole."""
    found = set()
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] ([^.\s]+)$", line)
        if match and re.search(pattern, match[3]):
            found.update(range(int(match[1], 16), int(match[1], 16) + int(match[2], 16)))
    return sorted(found)


# With these a chain has names like ours.
OTHERS = {
    "addr2line": ("-i", "-f", "-C", "-a", "-e"),
    "eu-addr2line": ("-i", "-f", "-C", "-a", "-e"),
    "llvm-symbolizer": ("-f=linkage", "-i", "-a", "--output-style=GNU", "-e"),
}


def chains_of(tool, path, addresses):
    """{address: [(function, file, line)]}, innermost first."""
    chains, name = {}, None
    text = "".join(f"0x{at:x}\n" for at in addresses)
    # eu-addr2line fails where it has no line for one of them, whatever else it found.
    done = subprocess.run([tool, *OTHERS[tool], path], input=text, text=True, capture_output=True)
    for line in done.stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            rows, name = chains.setdefault(int(line, 16), []), None
        elif name is None:
            name = re.sub(r" inlined at .*", "", line)
        else:
            match = re.match(r"(.*?):(\d+|\?)(:\d+)?( \(discriminator \d+\))?$", line)
            rows.append((name, os.path.normpath(match[1]), int(match[2]) if match[2] != "?" else 0))
            name = None
    return chains


FUNCTIONS = r"main|weight|sort_some|introsort|scaled"


class Inlines(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.at = pathlib.Path(directory.name).resolve()
        for source in SOURCES.glob("inlines.*"):
            shutil.copy(source, self.at)

    def compile(self, *options, name="program"):
        path = str(self.at / name)
        run("g++", "-O2", "-g", "-fno-pie", "-no-pie", "-o", path, *options, str(self.at / "inlines.cc"))
        return path

    def capture_of(self, path, addresses, mapped_as=None, hex_id=None, inode=None, callers=()):
        """One process that was seen at each of these, called from `callers`, innermost first, and _start: `addresses[i]` at i ns."""
        start = int(re.search(r"Entry point address: +0x(\w+)", run("readelf", "-hW", path))[1], 16)
        offset, address, size = code_of(path)
        capture = Capture(0, len(addresses) + 1)
        capture.process("program", pid=PID, time=0)
        inode = os.stat(path).st_ino if inode is None else inode
        capture.map(BASE, BASE + (size + 4095 & ~4095), mapped_as or path, offset, inode, hex_id, pid=PID, time=0)
        for i, at in enumerate(addresses):
            stack = [at, *callers, start + 2]
            capture.sample([USER] + [BASE + each - address for each in stack], pid=PID, tid=PID, time=i)
        return capture.save(self.at / "made.syscap")

    def chains_in(self, capture, addresses, *options):
        """{address: [(function, file, line)]} of our stacks."""
        rows = as_json("samples", capture, *options)["rows"]
        self.assertEqual(len(rows), len(addresses))
        chains = {}
        for row in rows:
            stack = row["stack"]
            self.assertEqual(stack.pop(), {"symbol": "_start", "binary": stack[0]["binary"], "kind": "user"})
            self.assertEqual([entry["kind"] for entry in stack], ["inline"] * (len(stack) - 1) + ["user"])
            chains[addresses[row["time"]]] = [(entry["symbol"], entry.get("file", "??"), entry.get("line", 0)) for entry in stack]
        return chains

    def check_chains(self, path):
        """Each chain is that of one of the others, or its names, files and lines are each those of one; the
        function around all inlined ones may have the name of the symbol table."""
        addresses = addresses_of(path, FUNCTIONS)
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        others = [chains_of(tool, path, addresses) for tool in OTHERS if shutil.which(tool)]
        symbols = symbols_of(path)
        differing = 0
        for at in addresses:
            theirs = [other[at] for other in others]
            self.assertIn(len(chains[at]), map(len, theirs), (hex(at), chains[at], theirs))
            for i, frame in enumerate(chains[at]):
                for column in range(3):
                    known = {chain[i][column] for chain in theirs if i < len(chain)}
                    if column == 0 and i == len(chains[at]) - 1:
                        known |= symbols[at]
                    self.assertIn(frame[column], known, (hex(at), i))
            differing += chains[at][:-1] not in [chain[:-1] for chain in theirs]
        self.assertLess(differing, len(addresses) / 4)
        self.assertGreater(max(map(len, chains.values())), 3)

    def test_chains(self):
        for version in ("4", "5"):
            with self.subTest(version=version):
                self.check_chains(self.compile(f"-gdwarf-{version}"))

    def test_folded(self):
        """What is inlined is a function like others, and every sample is in one place."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        capture = self.capture_of(path, addresses)
        expected = collections.Counter()
        for at in addresses:
            expected[";".join(["program", "_start"] + [name for name, _, _ in reversed(chains[at])])] += 1
        folded = collections.Counter()
        for line in run(REPORT, "functions", capture, "--format", "folded").splitlines():
            stack, _, number = line.rpartition(" ")
            folded[stack] += int(number)
        self.assertEqual(folded, expected)

        own, total = collections.Counter(), collections.Counter()
        for at in addresses:
            kinds = ["inline"] * (len(chains[at]) - 1) + ["user"]
            entries = [(name, kind) for (name, _, _), kind in zip(chains[at], kinds)]
            own[entries[0]] += 1
            total.update({*entries, ("_start", "user")})
        report = as_json("functions", capture)
        self.assertEqual(report["weight"]["total"], len(addresses))
        self.assertEqual({(row["symbol"], row["kind"]): (row["self"], row["total"]) for row in report["rows"]},
                         {entry: (own[entry], total[entry]) for entry in total})

        # Trees, focus and filters meet them, too.
        inlined = max((entry for entry in total if entry[1] == "inline" and "::" in entry[0]), key=lambda entry: total[entry])
        holding = [at for at in addresses if inlined[0] in [name for name, _, _ in chains[at]]]
        report = as_json("functions", capture, "--symbol", inlined[0])
        self.assertEqual(sum(row["self"] for row in report["rows"]), len(holding))
        report = as_json("callers", capture, "--focus", inlined[0])
        outer = {chains[at][i + 1][0] for at in holding for i, (name, _, _) in enumerate(chains[at][:-1]) if name == inlined[0]}
        self.assertLessEqual(outer, {row["symbol"] for row in report["rows"]} | {inlined[0]})
        tree = as_json("tree", capture)["rows"]
        self.assertEqual(sum(row["total"] for row in tree), len(addresses))

    def test_without(self):
        """Functions of their own, and nothing of lines."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        capture = self.capture_of(path, addresses)
        report = as_json("functions", capture, "--no-inlines")
        expected = collections.Counter(chains[at][-1][0] for at in addresses)
        self.assertEqual({row["symbol"]: row["self"] for row in report["rows"] if row["symbol"] != "_start"}, expected)
        self.assertEqual({row["kind"] for row in report["rows"]}, {"user"})
        self.assertFalse([row for row in report["rows"] if "file" in row or "line" in row])
        self.assertEqual(report["selection"], {"no-inlines": True})

    def test_callers(self):
        """A return address stands for the call before it, and its inlined functions are between what it called and its own."""
        path = self.compile()
        inner = addresses_of(path, r"weight")[0]
        callers = [at for at in addresses_of(path, r"^main$")][1:]
        for_each = self.chains_in(self.capture_of(path, [at - 1 for at in callers]), [at - 1 for at in callers])
        at = max(callers, key=lambda each: len(for_each[each - 1]))
        self.assertGreater(len(for_each[at - 1]), 2)
        stack = as_json("samples", self.capture_of(path, [inner], callers=[at]))["rows"][0]["stack"]
        outer = [(entry["symbol"], entry.get("file", "??"), entry.get("line", 0)) for entry in stack[:-1]]
        self.assertEqual(outer[-len(for_each[at - 1]):], for_each[at - 1])

    def test_source(self):
        """Each line has what was there, the text that it has in its file, and those between them are told, too."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        capture = self.capture_of(path, addresses)
        chains = self.chains_in(capture, addresses)
        inlined = collections.Counter(name for chain in chains.values() for name, _, _ in chain[:-1]).most_common(1)[0][0]
        for function in ("main", inlined):
            own, total = collections.Counter(), collections.Counter()
            for chain in chains.values():
                own.update([chain[0][1:]] if chain[0][0] == function else [])
                total.update({(file, line) for name, file, line in chain if name == function})
            rows = as_json("source", "--focus", function, capture)["rows"]
            self.assertEqual({(row["file"], row["line"]): (row["self"], row["total"]) for row in rows if row["total"] > 0},
                             {place: (own[place], total[place]) for place in total if place[1] > 0})
            for row in rows:
                if row["file"].startswith(str(self.at)):
                    text = pathlib.Path(row["file"]).read_text().splitlines()[row["line"] - 1].expandtabs()
                    self.assertEqual(row.get("source", ""), text)
            if function == "main":
                numbers = [row["line"] for row in rows]
                self.assertEqual(numbers, list(range(numbers[0], numbers[-1] + 1)))
                self.assertRegex(rows[0]["source"], r"^main \(")

        (self.at / "inlines.cc").unlink()
        self.assertRegex(run(REPORT, "source", "--focus", "main", capture), r"inlines\.cc' cannot be read: No such file")
        self.assertNotIn("source", as_json("source", "--focus", "main", capture)["rows"][0])
        self.assertIn("--no-inlines", run(REPORT, "source", "--focus", "main", "--no-inlines", capture))

    def test_where_functions_are_written(self):
        """Rows say the line on which the source has the function."""
        path = self.compile()
        capture = self.capture_of(path, addresses_of(path, r"main|weight|sort_some"))
        found = {row["symbol"]: (row["file"], row["line"]) for row in as_json("functions", capture)["rows"] if "line" in row}
        for symbol, source, pattern in (("main", "inlines.cc", r"^main \("), ("outer::Shape::weight() const", "inlines.cc", r"^Shape::weight"),
                                        ("header_leaf", "inlines.h", r"^header_leaf")):
            lines = (self.at / source).read_text().splitlines()
            numbers = [number for number, line in enumerate(lines, 1) if re.match(pattern, line)]
            matching = [place for name, place in found.items() if name.split("(")[0] == symbol.split("(")[0]]
            self.assertEqual(matching, [(str(self.at / source), numbers[0])], found)

    def test_separate_debug_file(self):
        """By build id, also where the program has its symbols still."""
        whole = self.compile()
        addresses = addresses_of(whole, FUNCTIONS)
        chains = self.chains_in(self.capture_of(whole, addresses), addresses)
        for strip in ("--strip-all", "--strip-debug"):
            with self.subTest(strip=strip):
                stripped = str(self.at / ("stripped" + strip))
                hex_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", whole))[1]
                debug = self.at / "debug" / ".build-id" / hex_id[:2] / (hex_id[2:] + ".debug")
                debug.parent.mkdir(parents=True, exist_ok=True)
                run("objcopy", "--only-keep-debug", whole, str(debug))
                run("strip", strip, "-o", stripped, whole)
                capture = self.capture_of(stripped, addresses, hex_id=hex_id)
                self.assertEqual(self.chains_in(capture, addresses, "--debug-dir", self.at / "debug"), chains)
                kinds = {row["kind"] for row in as_json("functions", capture)["rows"]}
                self.assertEqual(kinds, {"user"})

    def test_other_file(self):
        """Lines are those of the file that was recorded, or none."""
        path = self.compile()
        addresses = addresses_of(path, r"main")
        capture = self.capture_of(path, addresses, hex_id="00112233445566778899aabbccddeeff00112233")
        for row in as_json("functions", capture)["rows"]:
            self.assertEqual((row["kind"], "line" in row), ("user", False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
