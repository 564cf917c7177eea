#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what libsysprof exports with the list of its interface and with what its headers declare.

usage: test-exports.py LIBRARY NAMES CC INCLUDE_FLAG...
"""
import re
import subprocess
import sys


def read_names(path):
    sections, names = {}, None
    for line in open(path):
        line = line.strip()
        if line.startswith('['):
            names = sections.setdefault(line[1:-1], set())
        elif line and not line.startswith('#'):
            names.add(line)
    return sections


def exported_by(library):
    output = subprocess.run(['nm', '-D', '--defined-only', library],
                            check=True, capture_output=True, text=True).stdout
    names = {line.split()[2].split('@')[0] for line in output.splitlines() if len(line.split()) == 3}
    # sanitizers bring names of their own
    return {name for name in names if not re.match('__?(asan|odr|ubsan|tsan|sancov)', name)}


def declared_with(compiler, flags):
    output = subprocess.run([*compiler, '-E', '-P', *flags, '-x', 'c', '-'], check=True,
                            input='#include <sysprof.h>\n', capture_output=True, text=True).stdout
    return set(re.findall(r'\b(sysprof_\w+)\s*\(', output))


def main():
    library, names_path, compiler, *flags = sys.argv[1:]

    sections = read_names(names_path)
    exported = exported_by(library)
    declared = declared_with(compiler.split(), flags)
    interface = sections['recording'] | sections['analysis'] | sections['ours']

    faults = [f'exported, but not of the interface: {name}' for name in sorted(exported - interface)]
    faults += [f'of the interface, but not exported: {name}' for name in sorted(interface - exported)]
    faults += [f'exported, but no header declares it: {name}' for name in sorted(exported - declared)]
    print('\n'.join(faults))
    print(f'{len(exported)} names exported')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
