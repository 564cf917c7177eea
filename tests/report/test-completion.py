#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What shells complete, asked of the shells themselves.

usage: test-completion.py PROGRAM...
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = {pathlib.Path(path).name: path for path in sys.argv[1:]}
del sys.argv[1:]


def script(program, shell):
    return subprocess.run([PROGRAMS[program], '--completion', shell], capture_output=True, check=True, text=True).stdout


def options(program):
    shown = subprocess.run([PROGRAMS[program], '--help'], capture_output=True, check=True, text=True).stdout
    return set(re.findall(r'(?m)^ +(?:-\w, )?(--[a-z][a-z-]+)', shown))


class Completion(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        pathlib.Path(self.folder, 'run.syscap').touch()
        pathlib.Path(self.folder, 'a b.syscap').touch()

    def tearDown(self):
        self.temporary.cleanup()

    def ask_bash(self, program, *words):
        """What it offers for the last word; '=' is a word of its own there."""
        quoted = ' '.join("'" + word + "'" for word in (program, *words))
        source = script(program, 'bash') + f"""
compopt () {{ :; }}
COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_{program.replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(['bash', '-c', source], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, '')
        return set(done.stdout.split('\n')) - {''}

    def test_bash(self):
        for program in PROGRAMS:
            self.assertEqual(self.ask_bash(program, '--'), options(program))
        ask = lambda *words: self.ask_bash('sysprof-report', *words)
        self.assertEqual(ask('--format', ''), {'text', 'json', 'csv', 'markdown', 'html', 'svg', 'folded'})
        self.assertEqual(ask('--format', '=', 'j'), {'json'})
        self.assertEqual(ask('--format', '='), ask('--format', ''))
        self.assertEqual(ask('fun'), {'functions'})
        self.assertEqual(ask('functions', ''), {'run.syscap', 'a b.syscap'})
        self.assertEqual(ask('-o', 'r'), {'run.syscap'})
        self.assertEqual(ask('--process', ''), set())
        self.assertIn('bash', self.ask_bash('sysprof-cli', '-f', 'x', '--', 'ba'))
        self.assertEqual(self.ask_bash('sysprof-cli', '--unwind', 't'), {'tables'})

    def test_zsh(self):
        if not shutil.which('zsh'):
            self.skipTest('zsh is not installed')
        for program in PROGRAMS:
            text = script(program, 'zsh')
            self.assertTrue(text.startswith(f'#compdef {program}\n'))
            source = "_arguments () { printf '%s\\n' \"$@\" }\n" + text
            done = subprocess.run(['zsh', '-f', '-c', source], capture_output=True, text=True)
            self.assertEqual(done.stderr, '')
            self.assertEqual(set(re.findall(r'(?m)^\*?(--[a-z][a-z-]+)', done.stdout)), options(program))

    def test_fish(self):
        if not shutil.which('fish'):
            self.skipTest('fish is not installed')

        def ask(program, line):
            done = subprocess.run(['fish', '--no-config', '-c', script(program, 'fish') + f"complete -C '{line}'"],
                                  capture_output=True, text=True, cwd=self.folder, env={'HOME': self.folder, 'PATH': '/usr/bin:/bin'})
            return {answer.split('\t')[0] for answer in done.stdout.splitlines()}

        for program in PROGRAMS:
            self.assertEqual(ask(program, program + ' --'), options(program))
        self.assertEqual(ask('sysprof-report', 'sysprof-report fun'), {'functions'})
        self.assertEqual(ask('sysprof-report', 'sysprof-report --format j'), {'json'})

    def test_other_shell(self):
        done = subprocess.run([PROGRAMS['sysprof-report'], '--completion', 'csh'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('there are bash, zsh and fish', done.stderr)


if __name__ == '__main__':
    unittest.main()
