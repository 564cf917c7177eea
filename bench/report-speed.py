#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures time and peak memory from a finished recording to printed functions, and to a printed call tree.

Ours and perf each make recordings once, at 10 kHz, while a compiler, an interpreter, a program of known
depth and process churn keep all CPUs busy. The recordings stay in the build directory (`make clean`
removes them; --record makes new ones). Ours follows frame pointers, as perf does. The case "whole stacks"
has the stacks that ours records by default. They are deeper, and more of them differ. perf has no call
chains to merge for functions (-g none), and its memory is limited. --script also folds the output of `perf
script`, which takes minutes at a million samples.

--made THOUSANDS reads generated captures of a million samples with so many thousands of distinct stacks,
in turns with a naive reader (naive-reader.c), which does not look up names. --samples N generates captures
of N samples."""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import time

import turns

FREQUENCY = 10000
RECORDINGS = turns.BUILD / 'recordings'


def start_mixed_load(directory, seconds):
    busy = turns.compile_program('busy-machine', directory)
    compiler = (f'while :; do cc -O2 -D_GNU_SOURCE -fsyntax-only "{turns.ROOT}/bench/drain-rings.c"; '
                f'cc -O2 -D_GNU_SOURCE -c -o "{directory}/out.o" "{turns.ROOT}/bench/drain-rings.c"; done')
    interpreter = ('import json, re\n'
                   'while True:\n'
                   '    text = json.dumps([{"number": i, "words": str(i).split("7")} for i in range(20000)])\n'
                   '    json.loads(text); sorted(re.findall(r"[0-9]+", text))')
    commands = ([busy, 50, seconds], ['sh', '-c', compiler], ['python3', '-c', interpreter])
    return [turns.start(command, start_new_session=True)[0] for command in commands]


def record(thousands, recorders):
    """Records with each recorder in turn until there are about so many samples."""
    directory = RECORDINGS / f'{thousands}k'
    directory.mkdir(parents=True, exist_ok=True)
    seconds = thousands * 1000 / FREQUENCY / turns.n_cpus()
    for name, command in recorders.items():
        load = start_mixed_load(directory, int(seconds + 20))
        time.sleep(1)
        print(f'   recording {seconds:g} s with {name}', flush=True)
        turns.run(command(directory, seconds))
        turns.end_groups(load)


def whole(directory, seconds):
    return [turns.CLI, '-f', '-F', FREQUENCY, '-d', seconds, '--quiet', directory / 'whole.syscap']


def ours(directory, seconds):
    return [*whole(directory, seconds)[:-1], '--unwind', 'frame-pointer', directory / 'ours.syscap']


def ours_without_symbols(directory, seconds):
    return [*ours(directory, seconds)[:-1], '--no-decode', directory / 'bare.syscap']


def perf(directory, seconds):
    return ['perf', 'record', '-q', '-B', '-N', '-g', '-a', '-e', 'cpu-clock', '-c', 1000000000 // FREQUENCY,
            '-o', directory / 'perf.data', 'sleep', seconds]


def samples_of_ours(capture):
    """Not read here: what this process holds counts among the memory of those that it starts."""
    report = subprocess.run([turns.REPORT, 'metadata', '--format', 'json', '--limit', '1', capture], check=True, capture_output=True)
    return json.loads(report.stdout)['capture']['samples']


def samples_of(directory):
    stats = subprocess.run(['perf', 'report', '--stats', '-i', directory / 'perf.data'], capture_output=True, text=True).stdout
    counts = {name: samples_of_ours(directory / f'{name}.syscap') for name in ('ours', 'bare', 'whole')}
    counts['perf'] = int(re.search(r'SAMPLE events: +(\d+)', stats).group(1))
    return counts


def meter(peak):
    """Makes functions that run a command and return its seconds; `peak` gets the KiB."""

    def measure(name, command, **rest):
        def run():
            usage = turns.run(command, **rest)
            if usage.status != 0:
                return None
            peak.setdefault(name, []).append(usage.peak_kib)
            return usage.wall
        return run

    return measure


def compare_made(thousands, n_samples, rounds):
    """Ours and the naive reader over a made capture."""
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    capture = RECORDINGS / f'made-{n_samples}-{thousands}k.syscap'
    if not capture.exists():
        turns.run([turns.BUILD / 'bench/bench-make-capture', n_samples, thousands * 1000, 100, capture])
    size_kib = capture.stat().st_size / 1024
    for view in ('functions', 'tree'):
        peak = {}
        measure = meter(peak)
        wall = turns.in_turns({
            'sysprof-report': measure('sysprof-report', [turns.REPORT, view, capture]),
            'naive reader': measure('naive reader', [turns.BUILD / 'bench/bench-naive-reader', view, capture]),
        }, rounds)
        turns.heading(f'{n_samples} made samples, {thousands} thousand distinct stacks: {view}')
        turns.show(wall, 's', digits=3)
        turns.show(peak, 'MiB', scale=1 / 1024, digits=0)
        above = {'above the file': [kib - size_kib for kib in peak.get('sysprof-report', [])]}
        turns.show(above, 'MiB', scale=1 / 1024, digits=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--thousands', type=int, action='append', help='thousands of samples')
    parser.add_argument('--record', action='store_true', help='make the recordings anew')
    parser.add_argument('--perf-memory', type=float, default=6, help='GiB of address space for perf')
    parser.add_argument('--perf-seconds', type=float, default=60, help='most of CPU time for one run of perf')
    parser.add_argument('--script', action='store_true', help='also fold what perf script prints')
    parser.add_argument('--made', type=int, action='append', metavar='THOUSANDS', help='distinct stacks of made captures')
    parser.add_argument('--samples', type=int, default=1000000, help='of made captures')
    options = parser.parse_args()
    for thousands in options.made or []:
        compare_made(thousands, options.samples, options.rounds)
    if options.made and not options.thousands:
        return

    def cap():
        resource.setrlimit(resource.RLIMIT_AS, (int(options.perf_memory * (1 << 30)),) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(options.perf_seconds),) * 2)

    for thousands in options.thousands or [100, 1000]:
        directory = RECORDINGS / f'{thousands}k'
        recorders = {'ours': ours, 'bare': ours_without_symbols, 'whole': whole, 'perf': perf}
        missing = {name: command for name, command in recorders.items()
                   if options.record or not (directory / {'perf': 'perf.data'}.get(name, f'{name}.syscap')).exists()}
        if missing:
            record(thousands, missing)
        counts = samples_of(directory)

        data = directory / 'perf.data'
        for what, view, arguments in (('functions', 'functions', ['-g', 'none']), ('a call tree', 'tree', ['-g', 'graph,0.5,caller'])):
            peak = {}
            measure = meter(peak)
            perf_report = ['perf', 'report', '--stdio', '--no-children', *arguments, '-i', data]
            contestants = {
                'sysprof-report': measure('sysprof-report', [turns.REPORT, view, directory / 'ours.syscap']),
                'with symbols from ELF files': measure('with symbols from ELF files', [turns.REPORT, view, directory / 'bare.syscap']),
                'whole stacks': measure('whole stacks', [turns.REPORT, view, directory / 'whole.syscap']),
                'perf report': measure('perf report', perf_report, preexec_fn=cap),
            }
            if options.script:
                script = f'perf script -F comm,ip,sym -i "{data}" | awk -f "{turns.ROOT}/bench/fold-script.awk"'
                contestants['perf script, folded'] = measure('perf script, folded', ['sh', '-c', script])
            wall = turns.in_turns(contestants, options.rounds)
            turns.heading(f'from a finished recording of {thousands} thousand samples to {what}')
            print(f'   samples: {counts["ours"]} ours, {counts["bare"]} ours without symbols, {counts["whole"]} with whole stacks, {counts["perf"]} perf;'
                  f' perf may use {options.perf_memory:g} GiB and {options.perf_seconds:g} s')
            turns.show(wall, 's', digits=3)
            peak = {name: peak.get(name, []) for name in contestants}
            turns.show(peak, 'MiB', scale=1 / 1024, digits=0)


main()
