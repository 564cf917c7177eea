#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares this version (SYSPROF_BUILD) with a build of another one (BASE): recording, reports, symbols, unwinding.

Both builds do the same work in turns, A B A B …, and the ratio of each pair is printed. A change that should
not cost anything keeps the ratios near 1. The four parts (--part, repeatable; default: all):
    recording  CPU time of the recorder per second, and of its BPF walker per sample, while programs start
    report     seconds from a capture with names to printed functions, and to a printed tree
    symbols    seconds from a capture without names to printed functions, without a symbol cache
    unwinding  CPU time to make the unwind tables of all files that processes have mapped"""
import argparse
import pathlib
import subprocess
import time

import recorders
import turns
from importlib import import_module


def mapped_files():
    return import_module('unwind-tables').mapped_files()


def part_recording(builds, directory, options):
    for frequency in options.frequency or [1000, 10000]:
        walks = {name: [] for name in builds}

        def measure(name):
            capture = f'{directory}/{name}.syscap'
            with turns.programs_beside(directory):
                time.sleep(0.3)
                process, began = turns.start([builds[name] / 'src/cli/sysprof-cli', '-f', '--quiet', '--no-decode', '-F', frequency, capture])
                time.sleep(1.5)
                cpu, since = recorders.cpu_seconds([process.pid]), time.monotonic()
                _, nsec, count = recorders.bpf_objects(process.pid)
                time.sleep(options.seconds)
                cpu, length = recorders.cpu_seconds([process.pid]) - cpu, time.monotonic() - since
                _, nsec_after, count_after = recorders.bpf_objects(process.pid)
                recorders.stop(process, began)
            walks[name].append((nsec_after - nsec) / max(count_after - count, 1))
            return cpu / length

        with recorders.KernelSettings(counts_programs=True):
            used = turns.in_turns({name: lambda name=name: measure(name) for name in builds}, options.rounds)
        turns.heading(f'recorder CPU at {frequency} Hz while programs start')
        turns.show(used, '% of a CPU', scale=100, digits=2)
        print('   BPF walker per sample:')
        turns.show(walks, 'ns', digits=0)


def record(builds, directory, name, *words):
    """A capture of both CPUs at work, made by this version."""
    capture = pathlib.Path(directory) / f'{name}.syscap'
    with turns.programs_beside(directory):
        turns.run([builds['this'] / 'src/cli/sysprof-cli', '-f', '--quiet', '-F', 10000, '-d', 10, *words, capture])
    return capture


def compare_reports(builds, title, capture, views, rounds):
    for view in views:
        seconds = turns.in_turns({
            name: lambda report=build / 'src/report/sysprof-report': turns.run([report, view, capture]).wall for name, build in builds.items()
        }, rounds)
        turns.heading(f'{title}: {view}')
        turns.show(seconds, 's', digits=3)


def part_report(builds, directory, options):
    capture = record(builds, directory, 'named')
    compare_reports(builds, 'from a capture with names', capture, ('functions', 'tree', 'summary', 'flame'), 2 * options.rounds)


def part_symbols(builds, directory, options):
    capture = record(builds, directory, 'bare', '--no-decode')
    compare_reports(builds, 'from a capture without names', capture, ('functions',), options.rounds)


def part_unwinding(builds, directory, options):
    paths = '\n'.join(mapped_files())

    def measure(build):
        done = subprocess.run([build / 'bench/bench-unwind-tables', '1'], input=paths, capture_output=True, text=True, check=True)
        return int(next(line.split()[1] for line in done.stdout.splitlines() if line.startswith('nsec')))

    nsec = turns.in_turns({name: lambda build=build: measure(build) for name, build in builds.items()}, options.rounds)
    turns.heading('CPU time to make the unwind tables of all mapped files')
    turns.show(nsec, 's', scale=1e-9, digits=3)


PARTS = {'recording': part_recording, 'report': part_report, 'symbols': part_symbols, 'unwinding': part_unwinding}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('base', type=pathlib.Path, metavar='BASE', help='build directory of the other version')
    parser.add_argument('--part', action='append', choices=PARTS)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=5, help='of each recording')
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()
    builds = {'this': turns.BUILD, 'base': options.base.resolve()}
    with turns.scratch() as directory:
        for part in options.part or PARTS:
            PARTS[part](builds, directory, options)


main()
