#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time from exec of the recorder to its first sample, from Ctrl-C to a finished file with symbols, and bytes per sample.

A busy program runs on every CPU meanwhile. perf's file has no symbols in it, so its time to finish is given for orientation."""
import argparse
import os
import re
import signal
import subprocess
import time

import turns


def first_sample_of_perf(path):
    text = subprocess.run(['perf', 'script', '--ns', '-F', 'time', '-i', path], capture_output=True, text=True).stdout
    times = re.findall(r'(\d+)\.(\d{9})', text)
    return min(int(seconds) * 1000000000 + int(rest) for seconds, rest in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--seconds', type=float, default=5)
    parser.add_argument('--frequency', type=int, default=1000)
    options = parser.parse_args()

    with turns.scratch() as directory:
        busy = turns.compile_program('busy-machine', directory)
        ours, theirs = f'{directory}/o.syscap', f'{directory}/perf.data'
        commands = {
            'sysprof-cli': [turns.CLI, '-f', '-F', options.frequency, '--quiet', ours],
            'perf record -g': ['perf', 'record', '-q', '-B', '-N', '-g', '-a', '-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock', '-c',
                               1000000000 // options.frequency, '-o', theirs],
        }
        first, end, size = ({name: [] for name in commands} for _ in range(3))
        load, _ = turns.start([busy, 20, int(options.rounds * (options.seconds + 6) * 2)])
        time.sleep(0.5)

        for _ in range(options.rounds):
            for name, command in commands.items():
                began_nsec = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                process, began = turns.start(command)
                time.sleep(options.seconds)
                interrupted = time.monotonic()
                process.send_signal(signal.SIGINT)
                turns.finish(process, began)
                end[name].append(time.monotonic() - interrupted)
                if name == 'sysprof-cli':
                    samples = [when for kind, when, _ in turns.frames(ours) if kind == 2]
                    first[name].append((min(samples) - began_nsec) / 1e9)
                    size[name].append(os.path.getsize(ours) / len(samples))
                else:
                    text = subprocess.run(['perf', 'report', '--stats', '-i', theirs], capture_output=True, text=True).stdout
                    first[name].append((first_sample_of_perf(theirs) - began_nsec) / 1e9)
                    size[name].append(os.path.getsize(theirs) / int(re.search(r'SAMPLE events: +(\d+)', text).group(1)))

        load.kill()
        load.wait()
        turns.heading('from exec of the recorder to the first sample')
        turns.show(first, 'ms', scale=1000, digits=1)
        turns.heading(f'from Ctrl-C to a finished file after {options.seconds:g} s (ours with symbols)')
        turns.show(end, 'ms', scale=1000, digits=0)
        turns.heading('bytes of file per sample (all of the file: processes, maps and symbols included)')
        turns.show(size, 'bytes', digits=0)


main()
