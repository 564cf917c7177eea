#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions in reports, against addr2line and its like (chains.py).

usage: test-inlines.py SYSPROF-REPORT DIRECTORY-OF-SOURCES
"""

import collections
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
from chains import FUNCTIONS, REPORT, Case, addresses_of, as_json, run  # noqa: E402


class Inlines(Case):
    def test_chains(self):
        for version in ("4", "5"):
            with self.subTest(version=version):
                self.check_chains(self.compile(f"-gdwarf-{version}"))

    def test_folded(self):
        """Inlined functions are functions like others, and every sample counts once."""
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
        """Each line has its weight and the text from its file; lines between them are shown, too."""
        path = self.compile("-O2")
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
                # The whole function: to the brace below the one that opened it.
                text = pathlib.Path(rows[0]["file"]).read_text().splitlines()
                self.assertEqual(rows[-1]["source"], "}")
                self.assertEqual(numbers[-1], text.index("}", numbers[0]) + 1)
                shown = run(REPORT, "source", "--focus", "main", capture)
                self.assertEqual(shown.count(rows[0]["file"]), 1, "the file is named once")

        changed = "changed since the program was built"
        self.assertNotIn(changed, run(REPORT, "source", "--focus", "main", capture))
        os.utime(self.at / "inlines.cc", (os.stat(path).st_mtime + 2,) * 2)
        self.assertIn(changed, run(REPORT, "source", "--focus", "main", capture))
        (self.at / "inlines.cc").unlink()
        self.assertRegex(run(REPORT, "source", "--focus", "main", capture), r"inlines\.cc' cannot be read: No such file")
        self.assertNotIn("source", as_json("source", "--focus", "main", capture)["rows"][0])
        self.assertIn("--no-inlines", run(REPORT, "source", "--focus", "main", "--no-inlines", capture))

    def test_where_functions_are_written(self):
        """Rows say the line on which the source has the function."""
        path = self.compile("-O2")
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
