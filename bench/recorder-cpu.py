#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the CPU time that a recorder needs per second of recording, on a busy machine with process churn.

With --programs the machine also compiles, and runs Python, sqlite3 and shell scripts in loops. The
recorder then has to read the code of these programs when they start.

The script reads the CPU time of all threads at two points of a run, from the scheduler's statistics (ns).
This leaves out start-up and end, which vary. Contestants run in turns: ours with unwind tables, ours with
frame pointers, `perf record -g`, a loop that only drains the same rings, and one that drains them into a
file. With --copies: ours with stack copies, which it unwinds, and `perf record --call-graph dwarf`, which
stores them. Lost samples are printed for each."""
import argparse
import contextlib
import pathlib
import re
import signal
import subprocess
import time

import turns


def cpu_seconds(pid):
    """Of all threads that live, and of the children that work for them."""
    used = 0
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        used += int(task.joinpath('schedstat').read_text().split()[0]) / 1e9
        used += sum(cpu_seconds(child) for child in task.joinpath('children').read_text().split())
    return used


def size_per(n_samples, path):
    return f'{pathlib.Path(path).stat().st_size / max(n_samples, 1):.0f} bytes of file per sample'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=7, help='between the two moments')
    parser.add_argument('--warm-up', type=float, default=2, help='seconds before the first')
    parser.add_argument('--churn', type=int, default=100, help='processes per second')
    parser.add_argument('--programs', action='store_true', help='start programs one after another')
    parser.add_argument('--copies', action='store_true', help='of 8 KiB of each stack')
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()
    length = options.warm_up + options.seconds + 2

    with turns.scratch() as directory:
        busy = turns.compile_program('busy-machine', directory)
        drain = turns.compile_program('drain-rings', directory)
        ours = f'{directory}/ours.syscap'
        theirs = f'{directory}/perf.data'
        lost = {}

        def cpu_per_second(command, collect=None):
            def measure():
                load, _ = turns.start([busy, options.churn, int(length + 2)])
                with turns.programs_beside(directory) if options.programs else contextlib.nullcontext():
                    time.sleep(0.3)
                    recorder, began = turns.start(command)
                    time.sleep(options.warm_up)
                    first, since = cpu_seconds(recorder.pid), time.monotonic()
                    time.sleep(options.seconds)
                    cpu, seconds = cpu_seconds(recorder.pid) - first, time.monotonic() - since
                    recorder.send_signal(signal.SIGINT)
                    turns.finish(recorder, began)
                load.kill()
                load.wait()
                if collect:
                    collect()
                return cpu / seconds
            return measure

        for frequency in options.frequency or [1000, 4000, 10000]:
            def lost_of_perf():
                text = subprocess.run(['perf', 'report', '-i', theirs, '--stats'], capture_output=True, text=True).stdout
                counts = {name: int(re.search(rf' {name} events: +(\d+)|$', text).group(1) or 0)
                          for name in ('SAMPLE', 'LOST', 'LOST_SAMPLES')}
                lost['perf record'] = f'{counts["SAMPLE"]} samples, {counts["LOST"] + counts["LOST_SAMPLES"]} loss records, {size_per(counts["SAMPLE"], theirs)}'

            def lost_of_ours():
                samples = sum(1 for kind, _, _ in turns.frames(ours) if kind == 2)
                count = sum(1 for kind, _, frame in turns.frames(ours) if kind == 12 and b'Lost ' in frame)
                lost['sysprof-cli'] = f'{samples} samples, {count} loss records, {size_per(samples, ours)}'

            def perf_record(*words):
                return cpu_per_second(['perf', 'record', '-q', '-B', '-N', *words, '-a', '-e', 'cpu-clock', '-c', 1000000000 // frequency,
                                       '-o', theirs], lost_of_perf)

            ours_by_tables = cpu_per_second([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', ours], lost_of_ours)
            contestants = {
                'sysprof-cli': ours_by_tables,
                '--unwind copy': cpu_per_second([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', '--unwind', 'copy',
                                                 '--stack-size', 8192, ours]),
                '--call-graph dwarf,8192': perf_record('--call-graph', 'dwarf,8192'),
            } if options.copies else {
                'sysprof-cli': ours_by_tables,
                'of it, without counters': cpu_per_second([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', '--no-cpu',
                                                           '--no-disk', '--no-memory', '--no-network', '--no-pressure', '--no-gpu',
                                                           '--no-battery', ours]),
                '--unwind frame-pointer': cpu_per_second([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', '--unwind',
                                                          'frame-pointer', ours]),
                'perf record -g': perf_record('-g'),
                'drain the rings': cpu_per_second([drain, frequency, int(length + 2)]),
                'drain into a file': cpu_per_second([drain, frequency, int(length + 2), f'{directory}/raw']),
            }
            beside = ', programs beside' if options.programs else ''
            turns.heading(f'recorder CPU at {frequency} Hz, {options.churn} processes a second{beside}')
            turns.show(turns.in_turns(contestants, options.rounds), '% of a CPU', scale=100, digits=3)
            for name, text in lost.items():
                print(f'   {name}: {text}')


main()
