#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the share of user stacks that reach the start function of their process or thread, while the whole
machine works.

The shares are printed by class of program, for ours beside perf record -g and perf record --call-graph
dwarf, which record the same work at the same time (copies at a lower frequency). One rule judges all: the
outermost entry of the stack is a function in which processes or threads begin, by its name or by the entry
point of its file (src/symbolize/symbolization.c, src/elf/entry.c). Ours also records for each stack whether
it is complete, or the reason why not; both shares are printed. perf prints copies as offsets in files,
which the script resolves with the mappings that ours recorded. The recorders themselves do not count.
Stacks with code made at run time (JavaScript) count. Our shares are also given without them."""
import argparse
import bisect
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import machine_work
import recorders
import turns

sys.path.insert(0, str(turns.ROOT / 'tests/data'))
import captures  # noqa: E402
import decoder  # noqa: E402

PERF_CAPTURE = turns.ROOT / 'scripts/perf-capture'
SHORT = 20_000_000  # ns that a process lives
SECOND = 1_000_000_000  # ns; in the first one tables are made of all that runs
CUT_PREFIXES = ('[stack truncated: ', '[stack cut: ')
LEFT_OUT = ('org.gnome.sysprof.unwind', '__symbols__')

Verdict = collections.namedtuple('Verdict', 'title time is_short is_whole is_made_at_run_time reason binary symbol')


class Lives:
    """Which program a process executed when, and how long it lived: from the frames of a capture."""

    def __init__(self, capture):
        self.names, self.parents = collections.defaultdict(list), {}
        self.born, self.died = {}, {}
        for frame in capture.frames:
            pid, when = frame['pid'], frame['time']
            if frame['type'] == 'process':
                self.names[pid].append((when, frame['command_line']))
            elif frame['type'] == 'fork':
                self.parents[frame['child_pid']] = pid
                self.born[frame['child_pid']] = when
            elif frame['type'] == 'exit':
                self.died[pid] = when
        for names in self.names.values():
            names.sort()

    def title(self, pid, when):
        names = self.names.get(pid, [])
        at = bisect.bisect_right(names, (when, chr(0x10ffff)))
        if at > 0:
            return machine_work.class_of(names[at - 1][1])
        if pid in self.parents and self.parents[pid] != pid:
            return self.title(self.parents[pid], when)
        return machine_work.class_of(names[0][1]) if names else 'all else'

    def is_short(self, pid):
        return pid in self.born and pid in self.died and 0 <= self.died[pid] - self.born[pid] < SHORT


def without_verdicts(data, output):
    """Returns the same capture without our records of how stacks ended, so that it is judged like those of
    perf."""
    kept = decoder.whole(data)
    made = captures.Capture(kept.time, kept.end_time, capture_time=kept.capture_time)
    markers = {address for frame in kept.of('jitmap') for address, name in frame['names'] if name.startswith(CUT_PREFIXES)}
    for frame in kept.frames:
        if frame['type'] == 'sample':
            made.sample([address for address in frame['addrs'] if address not in markers], frame['tid'], pid=frame['pid'],
                        cpu=frame['cpu'], time=frame['time'])
        elif (frame.get('id') or frame.get('path')) not in LEFT_OUT:
            made.raw(data[frame['at']:frame['at'] + frame['len']])
    made.save(output)


def is_code_of_file(entry):
    return entry['binary'] != '' and (not entry['binary'].startswith('[') or entry['binary'] == '[vdso]')


def verdicts(capture, lives, begin, is_told=False):
    """Of each sample that has a user's part; `is_told`: the capture knows which should have had one."""
    done = subprocess.run([turns.REPORT, 'samples', '--format', 'json', '--limit', '0', capture], capture_output=True, check=True)
    for row in json.loads(done.stdout)['rows']:
        user = [entry for entry in row['stack'] if entry['kind'] not in ('kernel', 'marker')]
        if not user and (row['complete'] or not is_told):
            continue
        last = user[-1] if user else {'binary': '', 'symbol': ''}
        yield Verdict(lives.title(row['pid'], begin + row['time']), row['time'], lives.is_short(row['pid']), row['complete'],
                      not all(map(is_code_of_file, user)), row['reason'], last['binary'], last['symbol'])


def share(found):
    if not found:
        return '        –         '
    return f'{100 * sum(one.is_whole for one in found) / len(found):7.2f} % of {len(found):6}'


def without_recorders(found):
    return [one for one in found if one.title != machine_work.RECORDERS]


def by_class(all_verdicts):
    titles = [*machine_work.CLASSES, 'all else']
    rows = {title: [[one for one in found if one.title == title] for found in all_verdicts] for title in titles}
    rows['lived under 20 ms'] = [[one for one in found if one.is_short] for found in all_verdicts]
    rows['all'] = [without_recorders(found) for found in all_verdicts]
    rows['all, after 1 s'] = [[one for one in found if one.time >= SECOND] for found in rows['all']]
    rows[machine_work.RECORDERS] = [[one for one in found if one.title == machine_work.RECORDERS] for found in all_verdicts]
    return rows


def outputs(options, directory):
    """{column: (what perf leaves, the capture made of it, frequency, words)}"""
    others = [('perf -g', options.frequency, ['-g'])] + [
        (f'perf dwarf,{size}', options.copies, ['--call-graph', f'dwarf,{size}']) for size in (8192, 65528)]
    return {name: (f'{directory}/{number}.data', f'{directory}/{number}.syscap', frequency, words)
            for number, (name, frequency, words) in enumerate(others) if recorders.have_perf()}


def record(others, ours, options, directory):
    """Records with ours and perf at the same time. Returns the recorder's messages about its tables."""
    started = [recorders.begin_perf(['perf', 'record', '-q', '-B', '-N', '--buildid-mmap', '-k', 'CLOCK_MONOTONIC', *words, '-a', '-e',
                                     'cpu-clock', '-c', 1000000000 // frequency, '-o', perf_data])
               for perf_data, _, frequency, words in others.values()]
    for process, _ in started:
        recorders.wait_for_perf(process)
    with open(f'{directory}/messages', 'w+') as messages:
        recorder, began = turns.start([turns.CLI, '-f', '--quiet', '-F', options.frequency, '--unwind', options.unwind, ours],
                                      stdout=messages, env=dict(os.environ, G_MESSAGES_DEBUG='all'))
        time.sleep(options.seconds)
        for process, _ in started:
            process.send_signal(signal.SIGINT)
        recorders.stop(recorder, began)
        for process, since in started:
            turns.finish(process, since)
        messages.seek(0)
        return [line.split('Unwinder: ')[1].strip() for line in messages if 'Unwinder: ' in line and ' tables ' in line]


def judge(others, ours, directory):
    """{column: verdicts}"""
    data = pathlib.Path(ours).read_bytes()
    kept = decoder.whole(data)
    lives = Lives(kept)
    columns = {'ours': list(verdicts(ours, lives, kept.time, is_told=True))}
    without_verdicts(data, f'{directory}/judged.syscap')
    columns['ours, judged alike'] = list(verdicts(f'{directory}/judged.syscap', lives, kept.time))
    for name, (perf_data, theirs, _, _) in others.items():
        recorders.without_bpf_records(perf_data)
        converted = subprocess.run([PERF_CAPTURE, perf_data, ours, theirs], capture_output=True, text=True)
        if converted.stderr:
            print(f'   {name}: {converted.stderr.strip()}')
        if converted.returncode == 0:
            columns[name] = list(verdicts(theirs, lives, kept.time))
    return columns


def show_table(columns):
    print('   ' + ' ' * 18 + ''.join(f'{name:>22}' for name in columns))
    for title, cells in by_class(list(columns.values())).items():
        if any(cells):
            print(f'   {title:18}' + ''.join(f'{share(cell):>22}' for cell in cells))
    ours = without_recorders(columns['ours'])
    native = [one for one in ours if not one.is_made_at_run_time]
    print(f'   ours, stacks of native code alone: {share(native).strip()}; those with code made at run time: '
          f'{share([one for one in ours if one.is_made_at_run_time]).strip()}')


def show_cut(ours, n_most=12):
    cut = collections.Counter((one.title, one.reason, one.binary or '(no file)', one.symbol) for one in ours if not one.is_whole)
    print('   ours, what is not whole:')
    for (title, reason, binary, symbol), n in cut.most_common(n_most):
        print(f'   {n:6} {100 * n / len(ours):6.3f} %  {title:14} {reason:14} {binary}  {symbol}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=float, default=15, help='of each recording')
    parser.add_argument('--warm-up', type=float, default=8, help='seconds until all works')
    parser.add_argument('--frequency', type=int, default=1000)
    parser.add_argument('--copies', type=int, default=200, metavar='HZ', help='of perf record --call-graph dwarf')
    parser.add_argument('--unwind', default='tables', help='how ours finds stacks; auto: the first quarter of a second by frame pointers')
    parser.add_argument('--keep', help='folder for the captures')
    options = parser.parse_args()

    if os.geteuid() != 0:
        print('whole-machine: needs root: left out')
        return
    turns.heading(f'stacks that reach where a process or a thread begins; the whole machine at work, {options.frequency} Hz, '
                  f'{options.seconds:g} s')
    with recorders.KernelSettings(counts_programs=False), turns.scratch() as directory:
        if options.keep:
            directory = options.keep
            pathlib.Path(directory).mkdir(exist_ok=True)
        others, ours = outputs(options, directory), f'{directory}/ours.syscap'
        with machine_work.Machine(directory):
            time.sleep(options.warm_up)
            said = record(others, ours, options, directory)
        columns = judge(others, ours, directory)
        print()
        show_table(columns)
        show_cut(without_recorders(columns['ours']))
        for line in said:
            print(f'   ours: {line}')


if __name__ == '__main__':
    main()
