#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the examples of the manuals on a capture with the data that they need.

usage: test-examples.py SOURCE_DIR RECORDER PROGRAM...
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
RECORDER = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAMS = [pathlib.Path(path).resolve() for path in sys.argv[1:]]
del sys.argv[1:]
sys.path.insert(0, str(ROOT / 'tests' / 'report'))
import profile  # noqa: E402
import waits  # noqa: E402


def examples(program):
    page = next((ROOT / 'docs' / 'man').glob(f'{program.name}.1*')).read_text().replace('\\-', '-')
    return re.findall(r'(?m)^\.B (.+)$', page.partition('.SH EXAMPLES')[2].partition('.SH ')[0])


# Programs that examples of recording call: another machine, and a build. (The arguments of ssh begin with its
# own options.)
STAND_INS = {'ssh': 'while case "$1" in -o) shift 2;; -*) shift;; *) false;; esac; do :; done\nshift; exec sh -c "$*"', 'make': ':'}


class Examples(unittest.TestCase):
    def test_examples_of_recording(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program, does in STAND_INS.items():
                (folder / program).write_text(f'#!/bin/sh\n{does}\n')
                (folder / program).chmod(0o755)
            environment = dict(os.environ, PATH=os.pathsep.join([name, str(RECORDER.parent), os.environ['PATH']]))
            run = lambda line: subprocess.run(['bash', '-c', line], cwd=name, env=environment, capture_output=True,
                                              stdin=subprocess.DEVNULL)
            tried = run('sysprof-cli -d 0.1 tried.syscap')
            if tried.returncode != 0:
                self.skipTest('nothing may be recorded here: ' + tried.stderr.decode(errors='replace'))
            lines = examples(RECORDER)
            self.assertGreaterEqual(len(lines), 3)
            for line in lines:
                done = run(re.sub(r' -d \d+', ' -d 0.2', line))  # nobody waits for a test so long
                self.assertEqual(done.returncode, 0, (line, done.stderr))
                if '--report' in line:
                    self.assertIn(b'samples', done.stdout.lower(), line)
            made = {path.name for path in folder.iterdir() if path.suffix in ('.syscap', '.html')}
            self.assertEqual(made, {'tried.syscap', 'capture.syscap', 'build.syscap', 'build.html', 'docs.syscap', 'server.syscap'})
            for path in folder.glob('*.syscap'):
                self.assertEqual(path.read_bytes()[:4], b'\x5e\x97\xca\xfd', path)

    def test_examples_of_manuals(self):
        with tempfile.TemporaryDirectory() as folder:
            made = profile.Profile().process(10, '/usr/bin/gcc -c x.c').mark('gtk', 'paint', 20, 50)
            for i in range(40):
                made.add(100, 10, 10, '_start', 'main', 'malloc', 'brk_[k]').add(1, 10, 10, '_start', 'main')
            waited = waits.Stream().wait(profile.BEGIN + 10**6, 10**7, (10, 10, 'gcc'), waits.IO, stack=made.addresses(made.samples[0].stack))
            made.files += [('__events__', b'0 ns 1000000 cpu-clock\n'), ('__waits__', bytes(waited.data))]
            for name in 'run', 'build', 'a', 'b':
                made.write(pathlib.Path(folder) / f'{name}.syscap')
            environment = dict(os.environ, PATH=os.pathsep.join([*(str(p.parent) for p in PROGRAMS), os.environ['PATH']]))
            for program in PROGRAMS:
                lines = examples(program)
                self.assertGreaterEqual(len(lines), 3, program.name)
                for line in lines:
                    done = subprocess.run(['bash', '-c', line], cwd=folder, env=environment, capture_output=True, text=True,
                                          stdin=subprocess.DEVNULL)
                    differs = line.startswith('diff ')  # which says so by its status: the names are others
                    self.assertEqual((done.returncode, done.stderr), (int(differs), ''), line)
            self.assertTrue(any(pathlib.Path(folder).glob('*.svg')))


if __name__ == '__main__':
    unittest.main()
