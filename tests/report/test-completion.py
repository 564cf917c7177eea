#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the completion of options in the shells themselves.

usage: test-completion.py PROGRAM...
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS = {pathlib.Path(path).name: path for path in sys.argv[1:]}
del sys.argv[1:]


def script(program, shell):
    return subprocess.run([PROGRAMS[program], '--completion', shell], capture_output=True, check=True, text=True).stdout


def options(program, *words):
    shown = subprocess.run([PROGRAMS[program], *words, '--help'], capture_output=True, check=True, text=True).stdout
    return set(re.findall(r'(?m)^ +(?:-\w, )?(--[a-z][a-z-]+)', shown))


# Types the beginning of an option and the completion key; the resulting line then goes to a file.
BASH = """
tell () { printf %s "$READLINE_LINE" >~/completed; exit; }
bind -x '"\\C-x": tell'
"""
ZSH = """
fpath=(~ $fpath)
autoload -U compinit
compinit -u -d ~/dump
tell () { BUFFER='TYPED'; CURSOR=$#BUFFER; zle expand-or-complete; print -rn -- "$BUFFER" >~/completed; BUFFER=exit; zle accept-line; }
zle -N zle-line-init tell
"""
OPTIONS = {  # the one that its beginning leaves
    'sysprof-cli': ('--no-debuginfo', '--no-debuginfod'),
    'sysprof-report': ('--merge-pro', '--merge-processes'),
    'sysprof-cat': ('--no-cal', '--no-callgraph'),
}


def in_terminal(command, typed, folder):
    """Runs it until it ends, and types that."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, dict(os.environ, HOME=folder, ZDOTDIR=folder, TERM='dumb', INPUTRC='/dev/null'))
    os.write(terminal, typed)
    gives_up, shown = time.monotonic() + 60, b''
    while time.monotonic() < gives_up:
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # nobody has the terminal open any more
                break
    else:
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(terminal)
    return shown


class Completion(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        pathlib.Path(self.folder, 'run.syscap').touch()
        pathlib.Path(self.folder, 'a b.syscap').touch()

    def tearDown(self):
        self.temporary.cleanup()

    def ask_bash(self, program, *words):
        """Returns its proposals for the last word; '=' is a separate word there."""
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

    def completed(self, command, typed):
        shown = in_terminal(command, typed, self.folder)
        path = pathlib.Path(self.folder, 'completed')
        self.assertTrue(path.exists(), shown)
        return path.read_text().strip()

    def test_key_in_bash(self):
        for program in PROGRAMS:
            beginning, whole = OPTIONS[program]
            pathlib.Path(self.folder, 'rc').write_text(script(program, 'bash') + BASH)
            self.assertEqual(self.completed(['bash', '--rcfile', 'rc', '-i'], f'{program} {beginning}\t\x18'.encode()),
                             f'{program} {whole}')

    def test_key_in_zsh(self):
        if not shutil.which('zsh'):
            self.skipTest('zsh is not installed')
        for program in PROGRAMS:
            beginning, whole = OPTIONS[program]
            pathlib.Path(self.folder, f'_{program}').write_text(script(program, 'zsh'))
            pathlib.Path(self.folder, '.zshrc').write_text(ZSH.replace('TYPED', f'{program} {beginning}'))
            self.assertEqual(self.completed(['zsh', '-d', '-i'], b''), f'{program} {whole}')
        pathlib.Path(self.folder, '.zshrc').write_text(ZSH.replace('TYPED', 'sysprof-cli mar'))
        self.assertEqual(self.completed(['zsh', '-d', '-i'], b''), 'sysprof-cli mark')

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
        for view in ('functions', 'tree', 'heat', 'waits', 'files', 'summary'):
            self.assertEqual(ask(view, '--'), options('sysprof-report', view))
        self.assertIn('bash', self.ask_bash('sysprof-cli', '-f', 'x', '--', 'ba'))
        self.assertEqual(self.ask_bash('sysprof-cli', '--unwind', 't'), {'tables'})
        self.assertEqual(self.ask_bash('sysprof-cli', 'ma'), {'mark'})
        self.assertEqual(self.ask_bash('sysprof-cli', '-f', 'ma'), set())

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
        self.assertEqual(ask('sysprof-cli', 'sysprof-cli mar'), {'mark'})

    def test_other_shell(self):
        done = subprocess.run([PROGRAMS['sysprof-report'], '--completion', 'csh'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('there are bash, zsh and fish', done.stderr)


if __name__ == '__main__':
    unittest.main()
