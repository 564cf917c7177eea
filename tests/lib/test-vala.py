#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds a program in Vala against the library's description for it, and runs it.

usage: test-vala.py LIBRARY_DIRECTORY PROGRAM CAPTURE FLAG...
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    library, program, capture, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        # To C only: valac would ask pkg-config for a library that is not installed.
        subprocess.run(['valac', '--quiet', '-C', f'--vapidir={library}', '--pkg=gio-2.0', '--pkg=sysprof-6', f'--directory={directory}',
                        f'--basedir={pathlib.Path(program).parent}', program], check=True)
        source = pathlib.Path(directory) / pathlib.Path(program).with_suffix('.c').name
        binary = pathlib.Path(directory) / 'program'
        subprocess.run(['cc', '-w', source, '-o', binary, *flags, f'-L{library}', '-lsysprof-6', '-lgio-2.0', '-lgobject-2.0',
                        '-lglib-2.0'], check=True)
        run = subprocess.run([binary, capture], capture_output=True, text=True,
                             env={**os.environ, 'LD_LIBRARY_PATH': library})
    print(run.stdout, run.stderr)
    return 0 if run.returncode == 0 and run.stdout == 'read\n' else 1


if __name__ == '__main__':
    sys.exit(main())
