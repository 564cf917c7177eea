#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU that a recorder takes per second of recording on a busy machine with process churn.

A long run minus a short run, so that start-up and finishing cancel. Contestants in turns: ours, `perf record -g`, a bare
loop that drains the same rings, and one that drains them into a file. What each lost is printed beside it."""
import argparse
import re
import subprocess
import time

import turns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--long', type=float, default=9)
    parser.add_argument('--short', type=float, default=2)
    parser.add_argument('--churn', type=int, default=100, help='processes per second')
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()

    with turns.scratch() as directory:
        busy = turns.compile_program('busy-machine', directory)
        drain = turns.compile_program('drain-rings', directory)
        ours = f'{directory}/ours.syscap'
        theirs = f'{directory}/perf.data'
        lost = {}

        def cpu_per_second(command, collect=None):
            def measure():
                load, _ = turns.start([busy, options.churn, int(options.long + options.short + 6)])
                time.sleep(0.3)
                cpu = {}
                for length in (options.long, options.short):
                    cpu[length] = turns.run(command(length)).cpu
                    if collect and length == options.long:
                        collect()
                load.kill()
                load.wait()
                return (cpu[options.long] - cpu[options.short]) / (options.long - options.short)
            return measure

        for frequency in options.frequency or [1000, 4000, 10000]:
            def lost_of_perf():
                text = subprocess.run(['perf', 'report', '-i', theirs, '--stats'], capture_output=True, text=True).stdout
                found = re.search(r'LOST_SAMPLES events: +(\d+)', text)
                lost['perf record -g'] = f'{found.group(1) if found else 0} loss records'

            def lost_of_ours():
                count = sum(1 for kind, _, frame in turns.frames(ours) if kind == 12 and b'Lost ' in frame)
                samples = sum(1 for kind, _, _ in turns.frames(ours) if kind == 2)
                lost['sysprof-cli'] = f'{count} loss records, {samples} samples'

            contestants = {
                'sysprof-cli': cpu_per_second(lambda s: [turns.CLI, '-f', '-F', frequency, '-d', s, '--no-decode', '--quiet', ours],
                                              lost_of_ours),
                'perf record -g': cpu_per_second(lambda s: ['perf', 'record', '-q', '-B', '-N', '-g', '-a', '-e', 'cpu-clock', '-c',
                                                            1000000000 // frequency, '-o', theirs, 'sleep', s], lost_of_perf),
                'drain the rings': cpu_per_second(lambda s: [drain, frequency, int(s)]),
                'drain into a file': cpu_per_second(lambda s: [drain, frequency, int(s), f'{directory}/raw']),
            }
            turns.heading(f'recorder CPU at {frequency} Hz, {options.churn} processes a second')
            turns.show(turns.in_turns(contestants, options.rounds), '% of a CPU', scale=100, digits=3)
            for name, text in lost.items():
                print(f'   {name}: {text}')


main()
