#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fails when a file of src/ includes a header that src/LAYERS does not allow.

usage: check-layers.py [SOURCE_ROOT]
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def read_layers(path):
    layers = {}
    for line in path.read_text().splitlines():
        line = line.split('#')[0].strip()
        if line:
            module, allowed = line.split(':')
            layers[module.strip()] = set(allowed.split())
    return layers


def faults_of(root):
    layers = read_layers(root / 'src/LAYERS')
    for path in sorted((root / 'src').rglob('*.[ch]')):
        module = path.relative_to(root / 'src').parts[0]
        where = path.relative_to(root)
        if module not in layers:
            yield f'{where}: src/LAYERS does not know the module {module!r}'
            continue
        for header in INCLUDE.findall(path.read_text()):
            parts = header.split('/')
            if len(parts) == 1:
                if not (root / 'include' / header).exists() and not header.startswith('sysprof-'):
                    yield f'{where}: "{header}": write paths as seen from src/'
            elif parts[0] == module:
                if not (root / 'src' / header).exists():
                    yield f'{where}: "{header}" does not exist'
            elif parts[0] not in layers:
                yield f'{where}: "{header}": no module {parts[0]!r}'
            elif parts[0] not in layers[module]:
                yield f'{where}: {module} may not include {parts[0]} ("{header}")'
            elif parts[0] != 'util' and header != f'{parts[0]}/{parts[0]}.h':
                yield f'{where}: "{header}": the door of {parts[0]} is "{parts[0]}/{parts[0]}.h"'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    faults = list(faults_of(root))
    print('\n'.join(faults) if faults else 'layers: every include is allowed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
