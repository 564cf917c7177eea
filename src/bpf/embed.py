#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the bytes of a compiled BPF object as a C file.

usage: embed.py OBJECT OUTPUT NAME
"""
import pathlib
import sys


def main():
    source, output, name = sys.argv[1:]
    data = pathlib.Path(source).read_bytes()
    rows = (', '.join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32))
    pathlib.Path(output).write_text(
        '#include "bpf/objects.h"\n\n'
        f'const unsigned char {name}[] = {{\n' + ',\n'.join(rows) + '\n};\n'
        f'const size_t {name}_size = sizeof {name};\n')


if __name__ == '__main__':
    main()
