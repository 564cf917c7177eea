#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what marks cost a recorded program (marks.c): one call, a call when nothing records, and threads that
write at full speed, with the part of the marks that arrives.

Contestants run in turns: our library and recorder, those of Sysprof 3.46, and the floor, which reads the clock and
copies the bytes of such a mark."""
import argparse
import os
import pathlib
import subprocess

import recorders
import turns

OURS, PEER = turns.BUILD / 'bench/bench-marks', turns.BUILD / 'bench/bench-peer-marks'
MARK = 10  # frame type
ONLY_PROGRAM = ['--no-perf', '--no-cpu', '--no-disk', '--no-memory', '--no-network', '--no-battery', '--no-pressure', '--no-gpu',
                '--no-system-log', '--no-graphics-info', '--no-recorder', '--no-decode', '--quiet']


def alone(*command):
    environment = {k: v for k, v in os.environ.items() if k not in ('SYSPROF_CONTROL_FD', 'SYSPROF_TRACE_FD')}
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=1, help='of the threads')
    parser.add_argument('--threads', type=int, default=200)
    options = parser.parse_args()
    has_peer = PEER.exists() and pathlib.Path(recorders.DEBIAN_CLI).exists()
    if has_peer:
        recorders.go_on_with_bus()

    with turns.scratch() as directory:
        capture = f'{directory}/marks.syscap'
        ours = [turns.CLI, '-f', *ONLY_PROGRAM, capture, '--', OURS]
        theirs = [recorders.DEBIAN_CLI, '-f', '--no-perf', '--no-decode', capture, '--', PEER]
        arrived = {}

        def recorded(command, *words):
            """Returns the output of the program. Debian's recorder prints on standard output, too."""
            output = f'{directory}/output'
            script = f'exec "$@" >{output}'
            at = command.index('--') + 1
            subprocess.run([str(word) for word in [*command[:at], 'sh', '-c', script, 'sh', *command[at:], *words]],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            return pathlib.Path(output).read_text().split()

        def threads(name, command):
            def once():
                speed, n = recorded(command, 'threads', options.threads, options.seconds)
                arrived.setdefault(name, []).append(sum(kind == MARK for kind, *_ in turns.frames(capture)) / int(n))
                return float(speed)
            return once

        calls = {'ours': lambda: float(recorded(ours, 'call')[0])}
        bare = {'ours': lambda: float(alone(OURS, 'bare')[0])}
        full = {'ours': threads('ours', ours)}
        if has_peer:
            calls['Sysprof 3.46'] = lambda: float(recorded(theirs, 'call')[0])
            bare['Sysprof 3.46'] = lambda: float(alone(PEER, 'bare')[0])
            full['Sysprof 3.46'] = threads('Sysprof 3.46', theirs)
        calls['the floor'] = lambda: float(alone(OURS, 'floor')[0])

        turns.heading('one mark while recording, with its clock reading')
        turns.show(turns.in_turns(calls, options.rounds), 'ns')
        turns.heading('one call when nothing records')
        turns.show(turns.in_turns(bare, options.rounds), 'ns')
        turns.heading(f'{options.threads} threads at full speed: marks per second')
        turns.show(turns.in_turns(full, options.rounds), 'M/s', scale=1e-6)
        turns.heading('… and the part that is in the capture')
        turns.show(arrived, '%', scale=100)


main()
