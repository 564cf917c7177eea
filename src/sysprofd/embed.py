#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the <interface> elements of introspection files as C strings.

usage: embed.py OUTPUT NAME=FILE…
"""
import json
import pathlib
import re
import sys

lines = ['#include "sysprofd/sysprofd.h"', '']
for argument in sys.argv[2:]:
    name, path = argument.split('=', 1)
    text = re.search(r'  <interface.*</interface>\n', pathlib.Path(path).read_text(), re.S)[0]
    text = re.sub(r'\s*<!--.*?-->', '', text, flags=re.S)
    lines.append(f'const char sysprof_introspection_{name}[] =')
    lines += ['    ' + json.dumps(line) for line in text.splitlines(True)]
    lines[-1] += ';'
pathlib.Path(sys.argv[1]).write_text('\n'.join(lines) + '\n')
