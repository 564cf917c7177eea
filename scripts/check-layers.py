#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fails when a file of src/ includes a header that src/LAYERS does not allow.

A row of src/LAYERS is `module: allowed modules` or `module/folder: allowed modules and folders`. A file belongs to the row
with the longest matching path. Rows stand bottom-up: a row may allow rows above it only, so there is no circle.
Files of another module may be included by their door header only (module/module.h). Folders of one module may include
any header of each other, if their rows allow it.

usage: check-layers.py [SOURCE_ROOT]
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def read_layers(path):
    """Returns {row: set of allowed rows} in the order of the file."""
    layers = {}
    for line in path.read_text().splitlines():
        line = line.split('#')[0].strip()
        if line:
            row, allowed = line.split(':')
            layers[row.strip()] = set(allowed.split())
    return layers


def faults_of_rows(root, layers):
    known = set()
    for row, allowed in layers.items():
        for name in sorted(allowed - known):
            reason = 'has no row above it' if name != row else 'is the row itself'
            yield f'src/LAYERS: {row}: may not allow {name!r}, which {reason}'
        known.add(row)
        if '/' in row and not (root / 'src' / row).is_dir():
            yield f'src/LAYERS: {row}: there is no folder src/{row}'


def row_of(layers, path):
    """Returns the row of a path below src/, or None."""
    parts = path.split('/')[:-1]
    while parts and '/'.join(parts) not in layers:
        parts.pop()
    return '/'.join(parts) or None


def doors(row):
    """Returns the headers that other modules may include, or None for all of them."""
    return None if row == 'util' else {f'{row}/{row.split("/")[-1]}.h'}


def fault_of_include(root, layers, row, header):
    if '/' not in header:
        is_public = (root / 'include' / header).exists() or header.startswith('sysprof-')
        return None if is_public else f'"{header}": write paths as seen from src/'
    module = row.split('/')[0]
    target = row_of(layers, header)
    if header.split('/')[0] == module and not (root / 'src' / header).exists():
        return f'"{header}" does not exist'
    if target is None:
        return f'"{header}": no module {header.split("/")[0]!r}'
    if target == row:
        return None
    if target not in layers[row]:
        return f'{row} may not include {target} ("{header}")'
    if target.split('/')[0] != module and doors(target) and header not in doors(target):
        return f'"{header}": the door of {target} is "{min(doors(target))}"'
    return None


def faults_of(root):
    layers = read_layers(root / 'src/LAYERS')
    yield from faults_of_rows(root, layers)
    for path in sorted((root / 'src').rglob('*.[ch]')):
        name = str(path.relative_to(root / 'src'))
        row = row_of(layers, name)
        if row is None:
            yield f'src/{name}: src/LAYERS does not know the module {name.split("/")[0]!r}'
            continue
        for header in INCLUDE.findall(path.read_text()):
            fault = fault_of_include(root, layers, row, header)
            if fault:
                yield f'src/{name}: {fault}'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    faults = list(faults_of(root))
    print('\n'.join(faults) if faults else 'layers: every include is allowed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
