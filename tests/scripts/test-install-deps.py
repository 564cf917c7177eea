#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/install-deps on machines of other kinds, which are made of a PATH with nothing else in it: what it installs, and
the line that it prints where it may not or cannot.

usage: test-install-deps.py SCRIPT
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)
TOOLS = 'sh cut echo grep sed sort tr'.split()


class Machine(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.bin = pathlib.Path(directory.name)
        for tool in TOOLS:
            if shutil.which(tool):
                (self.bin / tool).symlink_to(shutil.which(tool))
        self.user(0)

    def program(self, name, text):
        path = self.bin / name
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(0o755)

    def user(self, uid):
        self.program('id', f'echo {uid}')

    def run_script(self, *sets):
        return subprocess.run([SCRIPT, *sets], env={'PATH': str(self.bin)}, capture_output=True, text=True, check=False)

    def line_to_type(self, done):
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        self.assertRegex(done.stderr, r'\A[^\n]*Type this[^\n]*\n[^\n]*\n\Z')
        return done.stderr.splitlines()[1].split()

    def test_debian_as_root_installs_what_is_missing(self):
        self.program('dpkg-query', 'for last; do :; done; [ "$last" = meson ] || echo installed')
        self.program('apt-cache', 'exit 0')
        self.program('apt-get', f'echo "$@" >>{self.bin}/done')
        done = self.run_script('build')
        self.assertEqual(done.returncode, 0, done.stderr)
        commands = (self.bin / 'done').read_text().splitlines()
        self.assertEqual([line.split()[0] for line in commands], ['update', 'install'])
        self.assertEqual([word for word in commands[1].split()[1:] if not word.startswith('-')], ['meson'])

    def test_compilers_for_other_machines(self):
        self.program('dpkg-query', 'exit 1')
        self.user(1000)
        words = self.line_to_type(self.run_script('build', 'cross'))
        for package in 's390x-linux-gnu powerpc64le-linux-gnu arm-linux-gnueabihf aarch64-linux-gnu'.split():
            self.assertIn(f'gcc-{package}', words)
        self.assertIn('qemu-user', words)

    def test_debian_without_rights(self):
        self.program('dpkg-query', 'exit 1')
        self.user(1000)
        words = self.line_to_type(self.run_script('build'))
        self.assertEqual(words[:3], ['sudo', 'apt-get', 'install'])
        for package in 'gcc meson libglib2.0-dev libiberty-dev zlib1g-dev'.split():
            self.assertIn(package, words)

    def test_fedora(self):
        self.program('rpm', 'exit 1')
        for uid, prefix in ((0, []), (1000, ['sudo'])):
            self.user(uid)
            words = self.line_to_type(self.run_script('build', 'check'))
            self.assertEqual(words[:len(prefix) + 2], [*prefix, 'dnf', 'install'])
            for package in 'gcc meson ninja-build glib2-devel binutils-devel xz-devel perf'.split():
                self.assertIn(package, words)

    def test_arch(self):
        self.program('pacman', 'exit 1')
        words = self.line_to_type(self.run_script('build'))
        self.assertEqual(words[:3], ['pacman', '-S', '--needed'])
        for package in 'gcc meson ninja glib2-devel xz'.split():
            self.assertIn(package, words)

    def test_elsewhere(self):
        done = self.run_script('build')
        self.assertEqual(done.returncode, 1)
        self.assertIn('libglib2.0-dev', done.stderr)

    def test_says_nothing_where_all_is_there(self):
        for name in ('rpm', 'pacman'):
            self.program(name, 'exit 0')
            done = self.run_script('build', 'check', 'bench', 'cross', 'format')
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
            (self.bin / name).unlink()

    def test_wrong_usage(self):
        for sets in ((), ('check',), ('build', 'nonsense')):
            self.assertEqual(self.run_script(*sets).returncode, 2, sets)

    def test_rows_name_a_package_each(self):
        """For every distribution: an incomplete row would silently install nothing."""
        text = pathlib.Path(SCRIPT).read_text()
        rows = ' '.join(re.findall(r"(?ms)^(?:build|check|bench|cross|format)='(.*?)'", text)).split()
        self.assertGreater(len(rows), 30)
        for row in rows:
            self.assertEqual(len([name for name in row.split('|') if name]), 3, row)


if __name__ == '__main__':
    unittest.main()
