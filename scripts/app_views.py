# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections and views of the application, as its sources list them."""
import pathlib
import re

SECTIONS = pathlib.Path(__file__).resolve().parent.parent / 'src/app/sections'
MACROS = {'CHART (': '\n    { "chart"', 'TABLES (': '\n    { "table"\n    { "counters"'}  # of counters.c


def views():
    """Yields SECTION/VIEW in the order of the sidebar."""
    text = '\n'.join(path.read_text() for path in sorted(SECTIONS.glob('*.c')))
    for macro, entries in MACROS.items():
        text = re.sub(r'(?<!define )' + re.escape(macro), lambda _: entries, text)
    for variable in re.findall(r'&app_(\w+)_section', (SECTIONS / 'sections.c').read_text()):
        body = re.search(r'const Section app_%s_section = \{(.*?)\n\};' % variable, text, re.S)
        if body is None:  # one of COUNTER_SECTION
            body = re.search(r'COUNTER_SECTION \(%s,(.*?)\);' % variable, text, re.S)
            section, found = re.search(r'"([^"]+)"', body[1])[1], ['chart', 'table', 'counters']
        else:
            section, found = re.search(r'\.id = "([^"]+)"', body[1])[1], re.findall(r'\n +\{ "([^"]+)"', body[1])
        yield from (f'{section}/{view}' for view in found)
