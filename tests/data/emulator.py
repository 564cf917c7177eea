# SPDX-License-Identifier: GPL-3.0-or-later
"""How a test starts a program of the build, and what it must know of its machine: in a build for another one, meson names
the emulator."""
import os
import shlex

EMULATOR = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))


def native_environment():
    """meson puts the other machine's tools first in PATH. Tests that modify its programs need these tools;
    tests that compile for this machine or inspect its libraries must not use them."""
    path = ':'.join(part for part in os.environ['PATH'].split(':') if '-linux-gnu' not in part)
    return dict(os.environ, PATH=path)


def command(program):
    return [*EMULATOR, os.path.abspath(program)]


def byte_order(program):
    """`<` or `>`, as struct wants it."""
    with open(program, 'rb') as file:
        return '<>'[file.read(6)[5] - 1]
