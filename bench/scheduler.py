#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cost of recording every context switch of the machine, and every wait with its stack and that
of its waker, at the highest rate of switches that the machine reaches.

The work is one pinned `perf bench sched pipe` per CPU. In turns it is recorded by `sysprof-cli` with
--scheduler, with --off-cpu and with both, by `perf sched record`, which has no stacks, and not at all. The
script prints how much longer the work takes, the CPU time of the recorder, bytes per switch (as counted by
the kernel), and lost events."""
import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import time

import recorders
import turns

ONLY_SWITCHES = ('--no-perf', '--no-decode', '--no-cpu', '--no-disk', '--no-memory', '--no-network', '--no-pressure',
                 '--no-gpu', '--no-battery', '--no-system-log', '--no-graphics-info')

START = 3  # seconds that each has before the work begins: programs are loaded into the kernel


def switches():
    return int(re.search(r'^ctxt (\d+)', pathlib.Path('/proc/stat').read_text(), re.MULTILINE).group(1))


def work(n):
    """(seconds of the slower one, switches of the machine meanwhile)"""
    before = switches()
    running = [subprocess.Popen(['taskset', '-c', str(cpu), 'perf', 'bench', '-f', 'simple', 'sched', 'pipe', '-l', str(n)],
                                stdout=subprocess.PIPE, text=True) for cpu in sorted(os.sched_getaffinity(0))]
    seconds = max(float(process.communicate()[0].split()[0]) for process in running)
    return seconds, switches() - before


def count_lost(path):
    """As the capture says."""
    lost = 0
    for kind, _, frame in turns.frames(path):
        if kind == 11 and b'org.gnome.sysprof.lost\0' in frame:
            lost += int(frame[64:].split(b'\0', 1)[0])
    return lost


class Contestant:
    def __init__(self, name, command, path, read):
        self.name, self.command, self.path, self.read = name, command, path, read

    def measure(self, n):
        process, began = turns.start(self.command)
        time.sleep(START)
        before = recorders.cpu_seconds(recorders.descendants(process.pid))
        seconds, count = work(n)
        cpu = recorders.cpu_seconds(recorders.descendants(process.pid)) - before
        process.send_signal(signal.SIGINT)
        usage = turns.finish(process, began)
        lost = self.read(self.path)
        size = os.path.getsize(self.path)
        os.unlink(self.path)
        return {'seconds': seconds, 'rate': count / seconds, 'cpu': cpu / count, 'cpu of all': usage.cpu / count, 'bytes': size / count, 'lost': lost}


def read_perf(path):
    return recorders.read_perf(path).lost


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--operations', type=int, default=100000)
    options = parser.parse_args()
    if not turns.have('perf') or os.geteuid() != 0:
        print('   this takes perf, and root')
        return

    with turns.scratch() as directory:
        ours, perf = f'{directory}/run.syscap', f'{directory}/perf.data'
        command = [turns.CLI, '-f', '--quiet', *ONLY_SWITCHES]
        contestants = [Contestant(' '.join(wanted), [*command, *wanted, ours], ours, count_lost)
                       for wanted in (['--scheduler'], ['--off-cpu'], ['--off-cpu', '--scheduler'])]
        contestants.append(Contestant('perf sched record', ['perf', 'sched', 'record', '-o', perf], perf, read_perf))

        found = {contestant.name: [] for contestant in contestants}
        alone = []
        for _ in range(options.rounds):
            for contestant in contestants:
                found[contestant.name].append(contestant.measure(options.operations))
            alone.append(work(options.operations))

    turns.heading('every switch and every wait, one pinned pipe per CPU')
    base = statistics.median(seconds for seconds, _ in alone)
    print(f'   alone: {statistics.median(count / seconds for seconds, count in alone):,.0f} switches a second')
    print('   switches a second while recorded:')
    turns.show({name: [run['rate'] for run in runs] for name, runs in found.items()}, '', digits=0, has_ratios=False)
    print('   slowdown:')
    turns.show({name: [run['seconds'] / base - 1 for run in runs] for name, runs in found.items()}, '%', scale=100, digits=1, has_ratios=False)
    print('   CPU of the recorder per switch, while the work runs:')
    turns.show({name: [run['cpu'] for run in runs] for name, runs in found.items()}, 'ns', scale=1e9, digits=0)
    print('   the same with its start and its end:')
    turns.show({name: [run['cpu of all'] for run in runs] for name, runs in found.items()}, 'ns', scale=1e9, digits=0)
    print('   in the file per switch:')
    turns.show({name: [run['bytes'] for run in runs] for name, runs in found.items()}, 'bytes', digits=0)
    print('   lost:')
    turns.show({name: [run['lost'] for run in runs] for name, runs in found.items()}, '', digits=0, has_ratios=False)


main()
