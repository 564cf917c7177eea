#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the pages and scripts of this folder as constants of C.

usage: embed.py OUTPUT.c SOURCE_DIR

In a page, @@CSS@@ and @@JS@@ are replaced by other files of the folder. The page is split at @@TITLE@@ and
@@DATA@@, which the renderers fill at run time.
"""
import pathlib
import re
import sys

PAGES = {'flamegraph': {'CSS': ['flamegraph.css'],
                        'JS': ['flamegraph-colors.js', 'flamegraph-text.js', 'flamegraph-tree.js', 'flamegraph-search.js',
                               'flamegraph-state.js', 'short-name.js', 'flamegraph-chart.js', 'flamegraph-table.js', 'flamegraph-menu.js',
                               'flamegraph.js']},
         'table': {'CSS': ['table.css'], 'JS': ['table.js']}}
HOLES = re.compile(r'@@(TITLE|DATA)@@')


def strip_licence(text):
    return re.sub(r'\A(//|/\*|<!--) SPDX[^\n]*\n+', '', text)


def c_bytes(text):
    data = text.encode()
    lines = [', '.join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    return ',\n  '.join(lines + ['0'])


def page_parts(folder, name, files):
    page = strip_licence((folder / f'{name}.html').read_text())
    for key, names in files.items():
        text = '\n'.join(strip_licence((folder / name).read_text()).rstrip() for name in names)
        if '</script' in text.lower() or '</style' in text.lower() or '@@' in text:
            sys.exit(f'{names}: it would end the element that it stands in')
        page = page.replace(f'@@{key}@@', text)
    parts = HOLES.split(page)
    if parts[1::2] != ['TITLE', 'DATA']:
        sys.exit(f'{name}.html: expected the holes TITLE, DATA in this order')
    return parts[0::2]


def main():
    output, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    constants = {}
    for name, files in PAGES.items():
        for role, part in zip(('before_title', 'before_data', 'after_data'),
                              page_parts(folder, name, files)):
            constants[f'{name}_{role}'] = part
    script = strip_licence((folder / 'flamegraph-svg.js').read_text())
    script = script.replace('@@SHORT_NAME@@', strip_licence((folder / 'short-name.js').read_text()).rstrip())
    script = re.sub(r'^\s*//[^\n]*\n', '', script, flags=re.M)
    if set(script) & set('<&') or ']]' + '>' in script:
        sys.exit('flamegraph-svg.js, short-name.js: neither < nor & may stand in it, '
                 'so that it works where CDATA is stripped')
    constants['svg_script'] = script
    out = ['#include "web/web.h"\n']
    for name, text in constants.items():
        out.append(f'const char sysprof_web_{name}[] = {{\n  {c_bytes(text)}\n}};\n')
    output.write_text('\n'.join(out))


if __name__ == '__main__':
    main()
