#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a text file as a constant of C.

usage: embed-text.py INPUT OUTPUT.c NAME
"""
import pathlib
import sys

source, output, name = sys.argv[1:]
data = pathlib.Path(source).read_bytes() + b'\0'
rows = [', '.join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
pathlib.Path(output).write_text(f'extern const char {name}[];\nconst char {name}[] = {{\n  ' + ',\n  '.join(rows) + '\n};\n')
