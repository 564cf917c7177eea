#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real recordings cross over, both ways, to Debian's sysprof 3.46.

usage: test-interop.py SYSPROF-CLI SYSPROF-REPORT WITH-DEBIAN-RECORDER BUSY-PROGRAM READ-WITH-OURS READ-WITH-PEER

Ours → theirs: their library reads each of our frames with the same content as ours does, and their --merge joins our
captures without losing one. Theirs → ours: the same number of each frame type, names from their symbol table."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CLI, REPORT, WITH_RECORDER, BUSY, OURS, PEER = (os.path.abspath(path) for path in sys.argv[1:7])
TYPES = ['', 'timestamp', 'sample', 'map', 'process', 'fork', 'exit', 'jitmap', 'ctrdef', 'ctrset', 'mark', 'metadata',
         'log', 'file', 'allocation', 'overlay', 'trace', 'dbus']


def lines(reader, path):
    run = subprocess.run([reader, path], capture_output=True, text=True)
    assert run.returncode == 0, f'{reader} {path}: {run.stdout[-300:]}{run.stderr}'
    return run.stdout.splitlines()


def counts(rows):
    return collections.Counter(TYPES[int(row.split()[0])] for row in rows if not row.startswith('start'))


def report(*arguments):
    run = subprocess.run([REPORT, *arguments, '--format', 'json'], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def frames_of(path):
    frames = report('summary', path)['capture']['frames']
    return collections.Counter({name: n for name, n in frames.items() if n})


def check_ours_in_theirs(directory):
    captures = []
    for name in ('a', 'b'):
        path = f'{directory}/{name}.syscap'
        run = subprocess.run([CLI, '--quiet', '-o', path, '--', BUSY], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        captures.append(path)
    rows = [lines(PEER, path) for path in captures]
    for path, theirs in zip(captures, rows):
        assert theirs == lines(OURS, path), f'{path}: the peer reads other content than ours does'
        assert counts(theirs)['sample'] > 100, counts(theirs)
        assert max(len(frame) for frame in frames_in(path)) <= 16384
    print('ok 1 - their library reads our frames as ours does')

    merged = f'{directory}/merged.syscap'
    with open(merged, 'wb') as out:
        run = subprocess.run(['/usr/bin/sysprof-cli', '--merge', *captures], stdout=out, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    expected = counts(rows[0]) + counts(rows[1])
    joined = counts(lines(PEER, merged))
    expected.pop('jitmap', None), joined.pop('jitmap', None)  # made anew by a join
    assert joined == expected, f'{joined - expected} too many, {expected - joined} lost'
    assert frames_of(merged)['sample'] == expected['sample']
    print('ok 2 - their --merge joins our captures')

    with open(merged, 'wb') as out:
        run = subprocess.run([CLI, '--merge', *captures], stdout=out, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    joined = counts(lines(PEER, merged))
    for kind in ('sample', 'map', 'process', 'fork', 'exit', 'ctrdef', 'ctrset', 'metadata', 'log'):
        assert joined[kind] == expected[kind], f'{kind}: {joined[kind]} of {expected[kind]}'
    print('ok 3 - our --merge makes what their library reads')


def frames_in(path):
    data = pathlib.Path(path).read_bytes()
    at = 256
    while at + 24 <= len(data):
        length = int.from_bytes(data[at:at + 2], 'little')
        yield data[at:at + length]
        at += length


def check_theirs_in_ours(directory):
    path = f'{directory}/theirs.syscap'
    run = subprocess.run([WITH_RECORDER, '/usr/bin/sysprof-cli', '-f', '-c', BUSY, path], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    theirs = counts(lines(PEER, path))
    assert theirs['sample'] > 0, f"the peer recorded no sample: {theirs}\n{run.stdout}{run.stderr}"
    ours = frames_of(path)
    assert ours == theirs, f'{ours} is not {theirs}'
    functions = report('functions', '--process', pathlib.Path(BUSY).name, '--limit', '0', path)['rows']
    assert any(not row['symbol'].startswith('[') for row in functions), functions[:5]
    print(f'# their capture: {dict(theirs)}')
    print('ok 4 - our reader counts what is in theirs')


def main():
    if not shutil.which('sysprof-cli', path='/usr/bin'):
        print('1..0 # SKIP Debian\'s sysprof is not installed')
        return
    print('1..4')
    with tempfile.TemporaryDirectory(prefix='interop-') as directory:
        check_ours_in_theirs(directory)
        check_theirs_in_ours(directory)


main()
