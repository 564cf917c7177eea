#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the CPU time and wake-ups per second that a recorder needs for its counters alone, without
samples.

Both are measured between two points of a run, for all threads: the CPU time, from the scheduler's
statistics (ns), and the number of voluntary context switches. Contestants run in turns: all our counters,
all but those of processes, the counters that Sysprof 3.46 also has, no counters (which shows the cost of the recorder itself),
Debian's sysprof-cli with its counters and without, and a program that only reads the same files as often
(read-counters.c)."""
import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import recorders
import turns

WITHOUT = ['--no-cpu', '--no-disk', '--no-memory', '--no-network', '--no-battery']
OF_OURS = ['--no-pressure', '--no-gpu', '--no-process-usage']


def account(pid):
    """CPU seconds and wake-ups of a process and what works for it."""
    cpu = wakeups = 0
    for process in recorders.descendants(pid):
        for task in pathlib.Path(f'/proc/{process}/task').iterdir():
            cpu += int(task.joinpath('schedstat').read_text().split()[0]) / 1e9
            status = task.joinpath('status').read_text()
            wakeups += int(status.split('\nvoluntary_ctxt_switches:')[1].split()[0])
    return cpu, wakeups


@contextlib.contextmanager
def idle_processes(n):
    """Processes that wait for the end of a pipe."""
    stdin, end = os.pipe()
    processes = [subprocess.Popen(['cat'], stdin=stdin, stdout=subprocess.DEVNULL) for _ in range(n)]
    os.close(stdin)
    try:
        yield
    finally:
        os.close(end)
        for process in processes:
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=4, help='between the two moments')
    parser.add_argument('--warm-up', type=float, default=0.7, help='seconds before the first')
    parser.add_argument('--processes', type=int, default=0, help='start that many idle processes before')
    options = parser.parse_args()
    recorders.go_on_with_bus()
    length = int(options.warm_up + options.seconds + 3)

    with turns.scratch() as directory:
        floor = turns.compile_program('read-counters', directory)
        wakeups = {}

        def measure(name, command):
            def once():
                process, began = turns.start(command)
                time.sleep(options.warm_up)
                (cpu, woken), since = account(process.pid), time.monotonic()
                time.sleep(options.seconds)
                (cpu_then, woken_then), seconds = account(process.pid), time.monotonic() - since
                process.send_signal(signal.SIGINT)
                turns.finish(process, began)
                wakeups.setdefault(name, []).append((woken_then - woken) / seconds)
                return (cpu_then - cpu) / seconds
            return once

        def ours(*words):
            return [turns.CLI, '-f', '--quiet', '--no-decode', '--no-perf', *words, f'{directory}/ours.syscap']

        commands = {'all of ours': ours('--thermal', '--rapl'),
                    'all but processes': ours('--thermal', '--rapl', '--no-process-usage'),
                    "ours, the peer's choice": ours(*OF_OURS),
                    'ours without counters': ours(*WITHOUT, *OF_OURS)}
        if pathlib.Path(recorders.DEBIAN_CLI).exists():
            theirs = [recorders.DEBIAN_CLI, '-f', '--no-decode', '--no-perf']
            commands["Debian's sysprof-cli"] = [*theirs, f'{directory}/theirs.syscap']
            commands["Debian's without counters"] = [*theirs, *WITHOUT, f'{directory}/theirs.syscap']
        commands['the bare read'] = [floor, length]

        with idle_processes(options.processes):
            figures = turns.in_turns({name: measure(name, command) for name, command in commands.items()}, options.rounds)
        turns.heading('what counters cost: CPU')
        turns.show(figures, 'us/s', scale=1e6, digits=0)
        turns.heading('what counters cost: wake-ups')
        turns.show(wakeups, 'a second', digits=1)


main()
