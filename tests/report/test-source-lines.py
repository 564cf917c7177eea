#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""File and line beside the names of functions, as people read them: what the JSON of the same capture says. And as programs do, in CSV,
folded stacks and what sysprof-cat prints: what addr2line and the source say.

usage: test-source-lines.py SYSPROF-REPORT DIRECTORY-OF-SOURCES SYSPROF-CAT
"""

import collections
import csv
import fcntl
import html
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
CAT = os.path.abspath(sys.argv.pop())
from chains import FUNCTIONS, REPORT, Case, addresses_of, as_json, chains_of, run  # noqa: E402


def on_terminal(columns, *args):
    """Returns the output on a terminal with that many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PAGER": "cat"}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen([REPORT, *map(str, args)], stdout=follower, env=environment)
    os.close(follower)
    text = b""
    try:
        while got := os.read(leader, 65536):
            text += got
    except OSError:
        pass  # closed by the child
    os.close(leader)
    if child.wait() != 0:
        raise AssertionError(text)
    return text.decode()


class Places(Case):
    def test_places_for_people(self):
        """Text, Markdown and pages show beside a function where it is written, those of stacks the line that was met, as
        the JSON has it; nothing where that is not known, or not wanted."""
        path = self.compile()
        capture = self.capture_of(path, addresses_of(path, r"main|weight"))

        def place_of(row):
            words = [f"{os.path.basename(row['file'])}:{row['line']}"] if "line" in row else []
            return ", ".join(words + ["inlined"] * (row["kind"] == "inline")) or None

        def shown(view, form, *options):
            return run(REPORT, view, *options, "--format", form, "--limit", "0", str(capture))

        def tree_rows(rows):
            for row in rows:
                yield row
                yield from tree_rows(row["children"])

        for view, options in (("functions", ()), ("callees", ("--focus", "main")), ("tree", ())):
            rows = list(tree_rows(as_json(view, capture, *options)["rows"])) if view == "tree" else as_json(view, capture, *options)["rows"]
            self.assertGreater(sum("line" in row for row in rows), 3)
            for form in ("text", "markdown", "html"):
                text = shown(view, form, *options).replace("\\", "")
                for row in rows:
                    place = place_of(row)
                    if not re.fullmatch(r"[\w:]+", row["symbol"]):
                        continue  # letters that a form writes in another way
                    if place is None:
                        self.assertNotRegex(text, rf"\b{re.escape(row['symbol'])} *(<small|\(\w+\.|\w+\.\w+:)")
                    elif form == "html":
                        self.assertIn(f'>{row["symbol"]} <small title="{row.get("file", "")}">{place}</small></td>', text)
                    elif form == "markdown":
                        self.assertIn(f" {row['symbol']} ({place}) |" if view != "tree" else f"{row['symbol']} ({place}) |", text)
                    else:
                        self.assertRegex(text, rf"(?m) {re.escape(row['symbol'])}  {re.escape(place)}$")

        rows = as_json("samples", capture)["rows"]
        stacks = [" < ".join(entry["symbol"] + (f" ({place_of(entry)})" if place_of(entry) else "") for entry in row["stack"]) for row in rows]
        lines = shown("samples", "text").splitlines()
        self.assertEqual([line.split(" yes  ")[1] for line in lines if " yes  " in line], stacks)
        page = shown("samples", "html")
        self.assertEqual(page.count("<small title="), sum(place_of(entry) is not None for row in rows for entry in row["stack"]))

        page = shown("flame", "html")
        graph = json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', page, re.S)[1])
        names = graph["functions"][0::3]
        self.assertEqual({(names[int(i)], place) for i, place in graph["files"].items()},
                         {(row["symbol"], f"{row['file']}:{row['line']}") for row in as_json("functions", capture)["rows"] if "line" in row})
        self.assertIn("main  inlines.cc:", shown("flame", "text"))
        picture = ET.fromstring(shown("flame", "svg"))
        titles = [title.text.rpartition("%)") for title in picture.iter("{http://www.w3.org/2000/svg}title") if "%)" in title.text]
        known = {}  # a function may be there on its own, too
        for row in as_json("functions", capture)["rows"]:
            words = [f"{row['file']}:{row['line']}" for _ in range("line" in row)] + ["inlined"] * (row["kind"] == "inline")
            known.setdefault(row["symbol"], set()).add("\n" * bool(words) + ", ".join(words))
        self.assertGreater(sum(place.endswith("inlined") for _, _, place in titles), 3)
        for text, _, place in titles:
            self.assertIn(place, known.get(text.rpartition(" (")[0], {""}))

        rows = {row["name"]: row for row in as_json("search", capture, "--search", "main")["rows"] if row["kind"] == "symbol"}
        row, = [row for row in as_json("functions", capture)["rows"] if row["symbol"] == "main"]
        self.assertEqual([rows["main"][key] for key in ("symbol-kind", "file", "line")], [row[key] for key in ("kind", "file", "line")])
        self.assertRegex(shown("search", "text", "--search", "main"), rf"(?m) main  program  {re.escape(place_of(row))}$")
        row = next(row for row in as_json("functions", capture)["rows"] if row["kind"] == "inline")
        found, = {each["symbol-kind"] for each in as_json("search", capture, "--search", row["symbol"])["rows"] if each["name"] == row["symbol"]}
        self.assertEqual(found, "inline")

        for view, form in (("functions", "text"), ("functions", "markdown"), ("functions", "html"), ("samples", "text"), ("flame", "text")):
            self.assertNotRegex(shown(view, form, "--no-inlines"), r"inlines\.cc|stl_|<small")
        self.assertIn('"files":{}', shown("flame", "html", "--no-inlines"))

    def folded(self, capture, *options):
        """{stack: weight}"""
        found = collections.Counter()
        for line in run(REPORT, "functions", capture, "--format", "folded", *options).splitlines():
            stack, _, number = line.rpartition(" ")
            found[stack] += int(number)
        return found

    def written_at(self, capture):
        """{(function, is inlined): "FILE:LINE"}, where the source has it; of one there it is looked up."""
        found = {(row["symbol"], row.get("inlined", False)): f"{os.path.basename(row['file'])}:{row['line']}"
                 for row in as_json("functions", capture)["rows"] if "line" in row}
        lines = (self.at / "inlines.cc").read_text().splitlines()
        number, = [number for number, line in enumerate(lines, 1) if re.match(r"main \(", line)]
        self.assertEqual(found["main", False], f"inlines.cc:{number}")
        return found

    def test_folded(self):
        """Bare names, by which readers distinguish functions; requested lines follow and are removed as
        flamegraph.pl does it."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        capture = str(self.capture_of(path, addresses))
        plain = self.folded(capture)
        # The number of inlined functions of each stack, equal to the number that addr2line prints for its
        # file.
        chains = self.chains_in(capture, addresses)
        theirs = chains_of("addr2line", path, addresses)
        same = [at for at in addresses if len(chains[at]) == len(theirs[at])]
        self.assertGreater(len(same), len(addresses) * 3 / 4)
        expected = collections.Counter()
        for at in addresses:
            names = [name for name, _, _ in reversed(chains[at])]
            expected[";".join(["program", "_start", names[0]] + [name + "_[i]" for name in names[1:]])] += 1
        annotated = self.folded(capture, "--annotate")
        self.assertEqual(annotated, expected)
        self.assertEqual(collections.Counter({re.sub(r"_\[[kwij]\](?=;|$)", "", stack): n for stack, n in annotated.items()}), plain)

        written = self.written_at(capture)
        with_lines = self.folded(capture, "--lines", "--annotate")
        self.assertEqual(sum(with_lines.values()), len(addresses))
        seen = set()
        for stack in with_lines:
            for frame in stack.split(";")[1:]:
                name, place, kind = re.fullmatch(r"(.*?)(?: \(([^()]+:\d+)\))?(_\[i\])?", frame).groups()
                self.assertEqual(place, written.get((name, kind is not None)), frame)
                seen.add((name, kind is not None))
        self.assertLessEqual(set(written), seen)
        self.assertEqual(self.folded(capture, "--no-inlines", "--annotate"), self.folded(capture, "--no-inlines"))
        for words in (("--annotate",), ("--lines",), ("--format", "csv", "--lines"), ("--format", "folded", "--lines", "--no-inlines")):
            done = subprocess.run([REPORT, "functions", *words, capture], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"--(annotate|lines) (works only with folded stacks|shows source lines and)")

    def test_csv(self):
        """Beside the names of a stack, in cells with as many lines, what its entries have in the JSON; and that is what addr2line says."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        capture = str(self.capture_of(path, addresses))
        for options in ((), ("--no-inlines",)):
            table = list(csv.DictReader(io.StringIO(run(REPORT, "samples", capture, "--format", "csv", "--limit", "0", *options), newline="")))
            rows = as_json("samples", capture, *options)["rows"]
            self.assertEqual(len(table), len(rows))
            for line, row in zip(table, rows):
                cells = [line["stack" + part].split("\n") for part in ("", "-binary", "-kind", "-file", "-line", "-inlined")]
                self.assertEqual([list(entry) for entry in zip(*cells)],
                                 [[entry["symbol"], entry["binary"], entry["kind"], entry.get("file", ""), str(entry.get("line", "")),
                                   "true" * entry.get("inlined", False)] for entry in row["stack"]])
                self.assertEqual([entry["kind"] == "inline" for entry in row["stack"]], [entry.get("inlined", False) for entry in row["stack"]])
        theirs = chains_of("addr2line", path, addresses)
        table = list(csv.DictReader(io.StringIO(run(REPORT, "samples", capture, "--format", "csv", "--limit", "0"), newline="")))
        agreed = 0
        for line, at in zip(table, addresses):
            places = list(zip(line["stack-file"].split("\n"), line["stack-line"].split("\n")))[:-1]
            agreed += [place for place in places] == [(file, str(number)) for _, file, number in theirs[at]]
        self.assertGreater(agreed, len(addresses) * 3 / 4)

    def test_cat(self):
        """Nodes of inlined functions are marked, and all nodes have their source line."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        capture = str(self.capture_of(path, addresses))
        written = self.written_at(capture)
        pattern = r'symbol: "(.*?)", self: (\d+), total: (\d+)(, inlined: yes)?(?:, file: "(.*?)", line: (\d+))?,?$'
        own, places = collections.Counter(), {}
        for name, self_, _, inlined, file, line in re.findall(pattern, run(CAT, capture), re.M):
            key = html.unescape(name), bool(inlined)
            own[key] += int(self_)
            if file:
                places[key] = f"{os.path.basename(file)}:{line}"
        self.assertEqual(places, written)
        rows = {(row["symbol"], row.get("inlined", False)): row["self"] for row in as_json("functions", capture)["rows"]}
        self.assertEqual({key: n for key, n in own.items() if n}, {key: n for key, n in rows.items() if n})
        self.assertNotRegex(run(CAT, "--no-inlines", capture), r"inlined: yes|, line: ")

    def test_places_on_terminals(self):
        """Dimmed, and only where the name is whole beside it: no name is cut, and no line is longer, for a place."""
        path = self.compile()
        capture = self.capture_of(path, addresses_of(path, r"main|weight"))
        row = next(row for row in as_json("functions", capture)["rows"] if row["symbol"] == "main")
        place = f"inlines.cc:{row['line']}"
        self.assertIn(f" main  \x1b[2m{place}\x1b[0m", on_terminal(120, "functions", capture))
        for view in ("tree", "samples"):
            for columns in (70, 83, 110):
                bare = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in on_terminal(columns, view, capture).splitlines()]
                self.assertLessEqual(max(map(len, bare[2:])), columns)
                self.assertNotIn("inlines.cc", on_terminal(columns, view, "--no-inlines", capture))
        # Up to the name, then two blanks and the source line: with one column less, the line is omitted and
        # the name stays.
        line = next(line for line in on_terminal(120, "functions", capture).splitlines() if " main  " in line)
        size = len(re.sub("\x1b\\[[0-9;]*m", "", line))
        self.assertIn(place, on_terminal(size, "functions", capture))
        self.assertRegex(on_terminal(size - 1, "functions", capture), r" main\r?\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
