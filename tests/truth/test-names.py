#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every address of libc, of the dynamic loader and of a program that a recording of the machine met has the name that nm and
addr2line give it; and these are the names of the capture itself, read where none of the files is.

Expected values: the addresses by an independent decoder, where they lie by its mappings and readelf's segments, names by nm of
the file and of its debug file, as far as installed."""

import bisect
import collections
import json
import os
import re
import subprocess
import tempfile
import unittest

import decoder
import tap
from empty_root import EmptyRoot, can_change_root
from programs import BUSY, CLI, REPORT, can_sample, run

MARKERS = 2**64 - 4095  # from here on: what follows in the stack
JITMAP = 0xE  # the highest bits of what says why a stack is cut
USER = 2**64 - 512
UNMAPPED = "[unmapped]"
# Much of the dynamic loader and of libc, besides what the program does.
WORK = 'busy=$1; "$busy" 0.5; i=0; while [ $i -lt 60 ]; do ls -lR /usr/lib/locale /etc/alternatives | sort; i=$((i+1)); done >/dev/null'


def output(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def libraries(program):
    """Paths of libc and of the dynamic loader, without links."""
    found = re.findall(r"/\S+", output("ldd", program))
    return [os.path.realpath(path) for path in found if re.match(r"(libc\.so|ld-)", os.path.basename(path))]


class Names:
    """Returns the answers of nm and addr2line for a file."""

    def __init__(self, path):
        self.path, self.inode = path, os.stat(path).st_ino
        self.segments = [tuple(int(number, 16) for number in load) for load in
                         re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", output("readelf", "-lW", path))]
        build_id = re.search(r"Build ID: (\w+)", output("readelf", "-nW", path))
        debug = f"/usr/lib/debug/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug" if build_id else ""
        self.source = debug if os.path.exists(debug) else path
        self.names = collections.defaultdict(set)  # address → all names
        self.ends = {}
        for options in (["-D", path], [path], [self.source]):
            for start, size, name in re.findall(r"^(\w{16}) (?:(\w{16}) )?[tTwWiI] (\S+)$",
                                                output("nm", "-S", "--defined-only", *options), re.MULTILINE):
                start, size = int(start, 16), int(size or "0", 16)
                self.names[start].add(name.split("@")[0])
                self.ends[start] = max(self.ends.get(start, 0), start + size)
        self.add_stubs()
        self.starts = sorted(self.names)

    def add_stubs(self):
        """Adds the stubs that objdump names; it names a selected function by its address, and the code before the first stub by its distance."""
        text = subprocess.run(["objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", self.path], capture_output=True, text=True).stdout
        for start, name, distance, selected in re.findall(r"^(\w{16}) <((?:\*ABS\*\+0x(\w+)|[^>]+?)@plt(-0x\w+)?)>:", text, re.MULTILINE):
            start = int(start, 16)
            functions = self.names.get(int(distance, 16), ()) if distance else ()
            self.names[start] |= {".plt"} if selected else {f + "@plt" for f in functions} or {name}
            self.ends[start] = start + (8 if f"{start + 8:016x} <" in text else 16)

    def link_address(self, offset):
        for at, address, size in self.segments:
            if at <= offset < at + size:
                return address + offset - at
        return None

    def at(self, address):
        """Names of the innermost function around the address; of a symbol without a size in front of it; else none."""
        i = bisect.bisect_right(self.starts, address) - 1
        nearest = self.starts[i] if i >= 0 else None
        while i >= 0 and self.starts[i] > address - 0x100000:
            if address < self.ends[self.starts[i]]:
                return self.names[self.starts[i]], True
            i -= 1
        if nearest is not None and self.ends[nearest] == nearest:
            return self.names[nearest], False
        return set(), False

    def by_lines(self, addresses):
        """{address: name} by addr2line: the function that was not inlined, as its source calls it."""
        text = output("addr2line", "-a", "-f", "-i", "-e", self.source, text="".join(f"{address:#x}\n" for address in addresses))
        found, at = {}, None
        for line in text.splitlines():
            if re.fullmatch(r"0x[0-9a-f]{16}", line):
                at, found_here = int(line, 16), []
                found[at] = found_here
            else:
                found_here.append(line)
        return {address: lines[-2] for address, lines in found.items()}


def source_name(name):
    """Without what the compiler adds to copies of a function."""
    return re.sub(r"(\.(part|constprop|isra|cold|lto_priv)(\.\d+)?)+$", "", name)


class Mappings:
    """Returns the file mappings of each process, with times."""

    def __init__(self, frames):
        self._maps = collections.defaultdict(list)
        self._parents = {}
        for frame in sorted(frames, key=lambda frame: frame["time"]):
            if frame["type"] == "map":
                self._maps[frame["pid"]].append(frame)
            elif frame["type"] == "fork":
                self._parents.setdefault(frame["child_pid"], (frame["pid"], frame["time"]))

    def find(self, pid, time, address):
        for _ in range(50):  # generations
            for frame in reversed(self._maps[pid]):
                if frame["time"] <= time and frame["start"] <= address < frame["end"]:
                    return frame
            if pid not in self._parents:
                return None
            pid, forked = self._parents[pid]
            time = min(time, forked)
        return None


@unittest.skipUnless(can_sample(), "may not sample the machine: needs root or kernel.perf_event_paranoid below 1")
class SampledAddresses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="sysprof-truth-")
        cls.addClassCleanup(folder.cleanup)
        cls.capture = f"{folder.name}/run.syscap"
        done = run(CLI, "-F", "4000", "--quiet", "-o", cls.capture, "--", "sh", "-c", WORK, "sh", BUSY)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        cls.decoded = decoder.Capture.open(cls.capture)
        cls.here = run(REPORT, "samples", "--no-inlines", "--format", "json", "--limit", "0", cls.capture).stdout
        cls.away = None
        if can_change_root():
            with EmptyRoot(REPORT) as root:
                cls.away = root.run(cls.capture, "samples", "--no-inlines", "--format", "json", "--limit", "0")

    def user_entries(self, mappings):
        """(pid, time, address, whether it is a return address, our row) of each user entry of each stack."""
        samples = sorted((f for f in self.decoded.frames if f["type"] == "sample"), key=lambda f: f["time"])
        rows = json.loads(self.here if self.away is None else self.away)["rows"]
        self.assertEqual([(f["time"] - self.decoded.time, f["pid"], f["tid"], f["cpu"]) for f in samples],
                         [(r["time"], r["pid"], r["tid"], r["cpu"]) for r in rows])
        for sample, row in zip(samples, rows):
            entries = [entry for entry in row["stack"] if entry["kind"] != "marker"]
            # Of several callers in turn where nothing is mapped, one entry is left.
            addresses = [address for address in sample["addrs"] if address >> 60 != JITMAP]
            n_gone = sum(1 for address in addresses if address < MARKERS) - len(entries)
            n_runs = sum(entry["symbol"] == UNMAPPED for entry in entries)
            i, context, is_return, run_of = 0, None, False, None
            for address in addresses:
                if address >= MARKERS:
                    context, is_return, run_of = address, False, None
                    continue
                is_more = run_of is not None and n_gone > 0 and (
                    n_runs == 0 or mappings.find(sample["pid"], sample["time"], address) is None)
                if is_more:
                    n_gone -= 1
                else:
                    entry, i = entries[i], i + 1
                    run_of = entry if entry["symbol"] == UNMAPPED else None
                    n_runs -= run_of is not None
                if context == USER:
                    yield sample["pid"], sample["time"], address, is_return, entry
                is_return = True
            self.assertEqual((i, n_gone), (len(entries), 0), row)

    def test_names_are_the_same_where_no_file_is(self):
        if self.away is None:
            self.skipTest("may not change the root directory")
        here, away = json.loads(self.here), json.loads(self.away)
        self.assertGreater(len(here["rows"]), 100)
        self.assertEqual(here["rows"], away["rows"])

    def judge(self, names, address, line, ours):
        """Whether `ours` is right for the link-time address."""
        where = f"{names.path} {address:#x}"
        expected, has_bounds = names.at(address)
        if ours in expected or has_bounds:
            self.assertIn(ours, expected, where)
            if not has_bounds or line == "??" or ours.endswith("plt"):
                return "as nm"
            self.assertIn(source_name(line), set(map(source_name, expected)), where)
            return "as nm and addr2line"
        # Addresses without a symbol, or with one without a size.
        self.assertRegex(ours, r"^\[" + re.escape(os.path.basename(names.path)) + r"[+:]0x[0-9a-f]+\]$", where)
        return "no name"

    def test_every_address_has_the_name_of_nm_and_addr2line(self):
        files = {path: Names(path) for path in (*libraries(BUSY), os.path.realpath(BUSY))}
        self.assertEqual(len(files), 3)
        mappings = Mappings(self.decoded.frames)
        # (process, link-time address, whether it is a return address) → what we call it
        sampled = {path: collections.defaultdict(set) for path in files}
        for pid, time, address, is_return, entry in self.user_entries(mappings):
            where = mappings.find(pid, time, address)
            path = where and os.path.realpath(where["path"])
            if where is None:
                self.assertNotIn(entry["binary"], map(os.path.basename, files), (pid, hex(address)))
            if path not in files or where["inode"] not in (0, files[path].inode):
                continue  # another file, or one of that name in a container
            link = files[path].link_address(address - where["start"] + where["offset"])
            if link is not None:  # else the page is the file's, but of no segment
                self.assertEqual(entry["binary"], os.path.basename(path), (pid, hex(address)))
                sampled[path][pid, link, is_return].add(entry["symbol"])

        for path, addresses in sampled.items():
            names, verdicts = files[path], collections.Counter()
            # A return address is after the call, and the call has a name. But an address that was also
            # sampled in this process has one name there.
            asked = {(link if (pid, link, False) in addresses else link - 1, name)
                     for (pid, link, _), found in addresses.items() for name in found}
            lines = names.by_lines(sorted({address for address, _ in asked}))
            for address, ours in asked:
                verdicts[self.judge(names, address, lines[address], ours)] += 1
            print(f"# {path} (names of {names.source}): {dict(verdicts)}")
            self.assertGreater(verdicts["as nm and addr2line"], 10, path)


if __name__ == "__main__":
    tap.main()
