# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares chains of inlined functions in reports with those of addr2line and similar programs, for small
programs that are compiled here. The captures are made by hand, with one sample at each address. For tests
with these arguments:

    SYSPROF-REPORT DIRECTORY-OF-SOURCES

tests/dwarf/test-dwarf.py lists the errors of the other programs.
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
    """Returns (offset, address, size) of the executable segment."""
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


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.at = pathlib.Path(directory.name).resolve()
        for source in SOURCES.glob("inlines.*"):
            shutil.copy(source, self.at)

    def compile(self, *options, name="program"):
        """A program of ours. Without options it is a copy of the one that the build made once for all tests, whose debug
        information names the sources in SOURCES; otherwise it names those in self.at."""
        path = str(self.at / name)
        if not options:
            return shutil.copy(os.environ["INLINES"], path)
        run("g++", "-O2", "-g", "-fno-pie", "-no-pie", "-o", path, *options, str(self.at / "inlines.cc"))
        return path

    def capture_of(self, path, addresses, mapped_as=None, hex_id=None, inode=None, callers=(), files=(), metadata=()):
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
        for key, value in metadata:
            capture.metadata(key, value)
        for name, content in files:
            capture.chunked_file(name, content)
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

    def check_chains(self, path, *options, like=None, functions=FUNCTIONS):
        """Each chain is that of one of the others, or its names, files and lines are each those of one; the
        function around all inlined ones may have the name of the symbol table. `like`: a file of the same code that they read."""
        like = like or path
        addresses = addresses_of(like, functions)
        chains = self.chains_in(self.capture_of(path, addresses), addresses, *options)
        others = [chains_of(tool, like, addresses) for tool in OTHERS if shutil.which(tool)]
        symbols = symbols_of(like)
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
