#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cost of unwind tables: time and bytes per megabyte of code, for the files that processes have
mapped now, and for all libraries and programs of the machine.

For comparison it prints the bytes of .eh_frame, which a table replaces, and the time of `readelf -wF`,
which reads the same."""
import argparse
import os
import statistics
import subprocess

import turns

MB = 1e6


def is_elf(path):
    try:
        with open(path, 'rb') as file:
            return file.read(4) == b'\x7fELF'
    except OSError:
        return False


def mapped_files():
    paths = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            for line in open(f'/proc/{pid}/maps'):
                parts = line.split(None, 5)
                if len(parts) > 5 and 'x' in parts[1] and parts[5].startswith('/'):
                    paths.add(parts[5].strip())
        except OSError:
            pass
    return sorted(path for path in paths if is_elf(path))


def installed_files():
    paths = set()
    for top in ('/usr/lib', '/usr/bin', '/usr/sbin', '/usr/libexec'):
        for folder, _, names in os.walk(top):
            if not folder.startswith('/usr/lib/debug'):
                paths.update(os.path.realpath(os.path.join(folder, name)) for name in names)
    return sorted(path for path in paths if is_elf(path))


def show(title, paths, rounds):
    program = turns.BUILD / 'bench/bench-unwind-tables'
    done = subprocess.run([program, str(rounds)], input='\n'.join(paths), capture_output=True, text=True, check=True)
    figures, nsec = {}, []
    for line in done.stdout.splitlines():
        name, number = line.split()
        if name == 'nsec':
            nsec.append(int(number))
        else:
            figures[name] = int(number)
    text = figures['text'] / MB
    per_mb = [n / 1e6 / text for n in nsec]
    print(f'\n   {title}: {figures["files"]} files, {text:.0f} MB of code, {figures["frames"] / MB:.1f} MB of .eh_frame, '
          f'{100 * figures["covered"] / figures["text"]:.2f} % of the code with rules')
    print(f'   build       {statistics.median(per_mb):8.2f} ms per MB of code [{min(per_mb):.2f} … {max(per_mb):.2f}], '
          f'{statistics.median(nsec) / 1e6 / (figures["frames"] / MB):.1f} ms per MB of .eh_frame, '
          f'{statistics.median(nsec) / 1e9:.2f} s in all, one thread')
    print(f'   table       {figures["table"] / 1e3 / text:8.1f} KB per MB of code; .eh_frame has '
          f'{figures["frames"] / 1e3 / text:.1f} KB')
    print(f'   published   {figures["published"] / MB:8.1f} MB in {figures["slabs"] / MB:.1f} MB of slabs, '
          f'{figures["refused"]} tables without room')
    print(f'   rows        {figures["rows"]:8} of which {figures["escapes"]} say only that the rule does not fit')
    print(f'   memory      {figures["peak_kib"] / 1024:8.1f} MiB at most')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--mapped', action='store_true', help='not also of what is installed')
    options = parser.parse_args()

    turns.heading('unwind tables')
    mapped = mapped_files()
    show('mapped now', mapped, options.rounds)
    if not options.mapped:
        show('installed', installed_files(), max(1, options.rounds // 3))

    if turns.have('readelf'):
        usage = turns.run(['readelf', '--debug-dump=no-follow-links', '--debug-dump=frames-interp', *mapped])
        print(f'\n   readelf -wF of what is mapped now: {usage.cpu:.2f} s of CPU')


if __name__ == '__main__':
    main()
