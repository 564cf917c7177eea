# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements for each output format of reports, whatever names they contain."""

import csv
import html.parser
import io
import itertools
import json
import re
import subprocess
import unicodedata
import xml.etree.ElementTree

from programs import REPORT

FORMATS = ["text", "json", "csv", "markdown", "html", "svg", "folded"]


def _views():
    """As the program lists them, so that a new view is in each test that goes through all of them."""
    text = subprocess.run([REPORT, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    views = re.findall(r"^  ([a-z]+) ", text.split("\nViews:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert {"summary", "search"} <= set(views), text
    return views


VIEWS = _views()


def options_of(view, name):
    """Arguments that a view requires: its function or words."""
    if view in ("callers", "callees", "source", "disassembly"):
        return ["--focus", name]
    return ["--search", name] if view == "search" else []


class _Page(html.parser.HTMLParser):
    """Elements are closed in the order in which they are opened."""

    EMPTY = {"meta", "link", "input", "br", "hr", "img"}

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


def _check_csv(text):
    """Tables, separated by an empty line where there are several. Then each has its name in front, alone in a line."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    for is_empty, table in itertools.groupby(rows, lambda row: not row):
        widths = [len(row) for row in table]
        assert is_empty or len(set(widths[1 if widths[0] == 1 else 0:])) <= 1, (widths, text)


def check_output(form, text):
    """Well-formed, and nothing in it that a terminal obeys, or that people cannot see."""
    if form == "json":
        json.loads(text)
    elif form == "svg":
        xml.etree.ElementTree.fromstring(text)
    elif form == "html":
        _Page(text)
    elif form == "csv":
        _check_csv(text)
    if form not in ("json", "csv"):
        hidden = [character for character in set(text) if unicodedata.category(character) in ("Cf", "Zl", "Zp")]
        assert not hidden, f"{form} has {hidden!r}"
    allowed = {"\n", "\t"} if form in ("svg", "html") else {"\n"}
    controls = [character for character in set(text) - allowed if ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0]
    assert not controls, f"{form} has {controls!r}"
