#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that each function of the public headers is documented with the comment above it, and with no other.

usage: test-header-comments.py HEADER-COMMENTS.PY HEADER...
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT, *HEADERS = sys.argv[1:]
del sys.argv[1:]


def words_of(text):
    """Without marks of ownership and names of properties, which become annotations."""
    text = re.sub(r'\*\([a-z,\s]+\)\*|Propert(?:y|ies) [^.]*\.|Since \d+\.|[%@]', ' ', re.sub(r'\s+', ' ', text))
    return re.findall(r'\w+', text)


def comments_above(text):
    """Name of each function -> the plain comment of its group: lines without an empty line between. Read line by line."""
    comment, lines, is_block = None, [], False
    for line in text.split('\n'):
        if not line:
            comment = None
        elif line.startswith('/*') or lines:
            lines = lines + [line]
            if '*/' in line:
                whole, lines = '\n'.join(lines), []
                is_block = whole.startswith('/**')
                comment = None if is_block else re.sub(r'(?m)^ ?\*|^/\*|\*/$', ' ', whole)
        name = re.match(r'(?!#)(?:\w.*[ *])?(sysprof_\w+) \(', line)
        if name and not line.startswith(('G_DECLARE', ' ')):
            yield name.group(1), comment, is_block


class HeaderComments(unittest.TestCase):
    def test_comments_belong_to_their_functions(self):
        with tempfile.NamedTemporaryFile('r') as made:
            subprocess.run([sys.executable, SCRIPT, made.name, *HEADERS], check=True)
            blocks = {block.split(':')[0].strip(' *'): block for block in re.findall(r'/\*\*\n(.*?)\n \*/', made.read(), re.S)}
        n = 0
        for path in HEADERS:
            for name, comment, is_block in comments_above(pathlib.Path(path).read_text()):
                if name not in blocks or name.endswith('_get_type'):
                    continue
                with self.subTest(function=name):
                    parts = re.split(r'(?m)^ \*\n', blocks[name])
                    text = [part for part in parts[1:] if not re.match(r' \* (Returns|Since|Deprecated):', part)]
                    shown = words_of(re.sub(r'(?m)^ \* ?', '', ' '.join(text)))
                    if comment is None:
                        self.assertEqual(shown, [])
                    else:
                        self.assertEqual(shown, words_of(comment))
                    n += 1
        self.assertGreater(n, 200)


if __name__ == '__main__':
    unittest.main()
