#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds habits of scripts/english-words.list in comments, documentation and messages.

Without FILE it checks the whole tree: for each part of it, the number of hits per 1,000 words may only fall (PARTS).
With FILE it prints all hits there, and sentences that are too long.

usage: check-english.py [SOURCE_ROOT] [FILE_OR_FOLDER...]
"""
import pathlib
import re
import sys

# Folders and pages: hits per 1,000 words that are permitted
PARTS = {
    'src include': 2.0,
    'docs *.md': 2.0,
    'tests bench fuzz scripts examples data': 2.0,
}
MAX_WORDS = 34  # in a sentence
IN_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.){25,}"', re.S)
IN_SCRIPT = re.compile(r'"""(.*?)"""|^[ \t]*#(?!!)[^\n]*(?:\n[ \t]*#[^\n]*)*', re.S | re.M)
C_SUFFIXES = ('.c', '.h', '.cc', '.js', '.css')
SCRIPT_SUFFIXES = ('.py', '.build', '.sh')
PAGE_SUFFIXES = ('.md', '.1', '.in')
SKIPPED = ('english-words.list', 'check-english.py', 'test-check-english.py')


def habits(root):
    """Yields (compiled expression, advice)."""
    for line in (root / 'scripts/english-words.list').read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            expression, _, advice = line.rpartition('  ')
            yield re.compile(expression.strip()), advice


def texts(path):
    """Yields (line number, text) of each comment and long string of code, or each line of a page."""
    text = path.read_text(encoding='utf-8', errors='replace')
    if path.suffix in PAGE_SUFFIXES:
        is_code = False
        for number, line in enumerate(text.split('\n'), 1):
            if line.startswith('```'):
                is_code = not is_code
            elif not is_code and not line.startswith('    '):
                yield number, line
        return
    pattern = IN_C if path.suffix in C_SUFFIXES else IN_SCRIPT
    for match in pattern.finditer(text):
        if 'SPDX' not in match[0].split('\n')[0] or '\n' in match[0]:
            found = re.sub(r'(?m)^[ \t]*(?:#|\*(?!/)|//|/\*+)?[ \t]?|\*+/$', '', re.sub(r'[^\n]*SPDX[^\n]*', '', match[0]))
            yield text.count('\n', 0, match.start()) + 1, found.strip('"')


def files_of(root, part):
    for pattern in part.split():
        found = sorted(root.glob(pattern)) if '*' in pattern else sorted((root / pattern).rglob('*'))
        for path in found:
            is_text = path.suffix in (*C_SUFFIXES, *SCRIPT_SUFFIXES, *PAGE_SUFFIXES) or path.parent.name == 'scripts'
            if is_text and path.is_file() and 'seeds' not in path.parts and path.name not in SKIPPED:
                yield path


def hits_of(words, path):
    """Returns (number of words, [(line number, advice, text)])."""
    n_words, hits = 0, []
    for number, text in texts(path):
        flat = ' '.join(text.split())
        n_words += flat.count(' ') + 1 if flat else 0
        for expression, advice in words:
            hits += [(number, advice, flat[max(match.start() - 30, 0):match.end() + 30]) for match in expression.finditer(flat)]
        hits += [(number, f'at most {MAX_WORDS} words in a sentence', sentence[:60]) for sentence in re.split(r'(?<=[.:;]) ', flat)
                 if sentence.count(' ') >= MAX_WORDS]
    return n_words, hits


def main(root, paths):
    words, status = list(habits(root)), 0
    for path in [file for name in paths for file in ([name] if name.is_file() else files_of(pathlib.Path(), str(name)))]:
        for number, advice, text in hits_of(words, path)[1]:
            print(f'{path}:{number}: "{text}": {advice}')
    for part, limit in PARTS.items() if not paths else ():
        n_words = n_hits = 0
        for path in files_of(root, part):
            n, hits = hits_of(words, path)
            n_words, n_hits = n_words + n, n_hits + len(hits)
        rate = 1000 * n_hits / max(n_words, 1)
        print(f'{part}: {n_hits} hits in {n_words} words, {rate:.2f} per 1,000 words; at most {limit} are permitted')
        if rate > limit:
            print('New text has habits of scripts/english-words.list. Print them with scripts/check-english.py . FILE, and rewrite them.')
            status = 1
    return status


if __name__ == '__main__':
    arguments = [pathlib.Path(name) for name in sys.argv[1:]] or [pathlib.Path('.')]
    sys.exit(main(arguments[0], arguments[1:]))
