# SPDX-License-Identifier: GPL-3.0-or-later
"""What the looks of reports must be, whatever names are in them."""

import html.parser
import json
import xml.etree.ElementTree

VIEWS = ["summary", "functions", "tree", "callers", "callees", "flame", "processes", "threads", "samples", "quality",
         "metadata", "files"]
FORMATS = ["text", "json", "html", "svg", "folded"]


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


def check_output(form, text):
    """Well-formed, and nothing in it that a terminal obeys."""
    if form == "json":
        json.loads(text)
    elif form == "svg":
        xml.etree.ElementTree.fromstring(text)
    elif form == "html":
        _Page(text)
    allowed = {"\n", "\t"} if form in ("svg", "html") else {"\n"}
    controls = [character for character in set(text) - allowed if ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0]
    assert not controls, f"{form} has {controls!r}"
