#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many user stacks of a program are complete from its exec on, when it starts while a recording of the whole machine runs.

Each program is copied to a new file before each run, so that the recorder has never seen its inode, and is killed after 0.2, 1 or
5 s. A busy loop runs on every CPU meanwhile. "own program" is compiled for this benchmark and calls itself 40 deep. The time until
the unwind table of the program's file is in place counts from just before execve(); the recorder logs the end of it."""
import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time

import turns

SAMPLE, JITMAP = 2, 7
USER_CONTEXT = 2**64 - 512
JITMAP_MARK = 0xE0 << 56
READY_SECONDS = 2  # until the code that runs already has its tables
MIB = 1 << 20

OWN_PROGRAM = """
#include <stdlib.h>
static volatile unsigned sum;
__attribute__ ((noinline)) static unsigned
work (unsigned depth)
{
  unsigned result = depth == 0 ? 1 : work (depth - 1) + depth;
  for (unsigned i = 0; i < 200; i++)
    sum += i * result;
  return result + sum;
}
int
main (void)
{
  for (;;)
    sum += work (40);
}
"""


def make_inputs(directory):
    """Inputs that last for more than 5 s on a busy machine."""
    path = pathlib.Path(directory)
    with open(path / 'big.c', 'w') as file:
        for i in range(12000):
            file.write(f'int f{i} (int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += a[i] * {i % 7} + (s >> {i % 5}); '
                       f'if (s > {i}) s = s / 3 - a[s & 7]; return s; }}\n')
    with open(path / 'big.s', 'w') as file:
        for i in range(1500000):
            file.write(f'l{i}: movq %rax, {i % 4096}(%rbx,%rcx,4)\n addq $l{i * 7 % 1500000}, %rdx\n')
    with open(path / 'big.txt', 'w') as file:
        for i in range(6000000):
            file.write(f'{i * 2654435761 % 4294967296:010}\n')
    (path / 'own.c').write_text(OWN_PROGRAM)


def programs(directory):
    """{name: (file, words, variables)} of the programs that are installed."""
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True).stdout.strip()
    own = f'{directory}/own'
    subprocess.run(['cc', '-O2', '-fomit-frame-pointer', '-o', own, f'{directory}/own.c'], check=True)
    query = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c WHERE x % 7 = hex(x) % 5;'
    code = 'import json, re\nwhile True: json.loads(json.dumps([re.sub("1", "2", str(i)) for i in range(300)]))'
    wanted = {
        'python3': ('/usr/bin/python3', ['-c', code], {'PYTHONHOME': '/usr'}),
        'cc1': (cc1, ['-quiet', '-O2', f'{directory}/big.c', '-o', '/dev/null'], {}),
        'as': ('/usr/bin/as', [f'{directory}/big.s', '-o', '/dev/null'], {}),
        'sort': ('/usr/bin/sort', ['--parallel=1', '-S', '400M', f'{directory}/big.txt', '-o', '/dev/null'], {}),
        'perl': ('/usr/bin/perl', ['-e', 'while (1) { my %h; $h{$_ % 97} .= sprintf "%d", $_ for 1 .. 3000; }'], {}),
        'sh': ('/bin/sh', ['-c', 'i=0; while :; do i=$((i + 1)); case $i in *99) i=1;; esac; done'], {}),
        'sqlite3': ('/usr/bin/sqlite3', [':memory:', query], {}),
        'own program': (own, [], {}),
    }
    found = {}
    for name, (file, words, variables) in wanted.items():
        if os.path.isfile(file):
            found[name] = (os.path.realpath(file), words, variables)
        else:
            print(f'   {name}: not installed, left out')
    return found


Run = collections.namedtuple('Run', 'name life pid inode started')


def run_once(name, life, program, directory):
    file, words, variables = program
    copy = f'{tempfile.mkdtemp(dir=directory)}/{os.path.basename(file)}'  # kept: its inode is not used again
    shutil.copy(file, copy)
    inode = os.stat(copy).st_ino
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.write(writer, struct.pack('q', time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        os.execve(copy, [copy, *words], {**os.environ, **variables})
    os.close(writer)
    started, = struct.unpack('q', os.read(reader, 8))
    os.close(reader)
    time.sleep(life)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return Run(name, life, pid, inode, started)


def stacks_by_pid(path):
    """{pid: [(time, reason or None)]} of the samples that have a user stack."""
    names, stacks = {}, collections.defaultdict(list)
    for kind, when, frame in turns.frames(path):
        if kind == JITMAP:
            at = 28
            for _ in range(struct.unpack_from('<I', frame, 24)[0]):
                end = frame.index(b'\0', at + 8)
                names[struct.unpack_from('<Q', frame, at)[0]] = frame[at + 8:end].decode(errors='replace')
                at = end + 1
        elif kind == SAMPLE:
            n, = struct.unpack_from('<H', frame, 24)
            addresses = struct.unpack_from(f'<{n}Q', frame, 32)
            if USER_CONTEXT not in addresses:
                continue
            last = addresses[-1]
            marker = names.get(last, '') if last >> 56 & 0xF0 == JITMAP_MARK >> 56 else ''
            reason = re.match(r'\[stack (?:cut|truncated): (.*)\]', marker)
            stacks[struct.unpack_from('<i', frame, 4)[0]].append((when, reason.group(1) if reason else None))
    return stacks


def tables_in_place(log):
    """{inode: [ns]}: a file system uses the inode of a deleted file again."""
    times = collections.defaultdict(list)
    for inode, when in re.findall(r'Table of inode (\d+): .* in place at (\d+) ns', log):
        times[int(inode)].append(int(when))
    return times


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def record(options, frequency, directory):
    """Runs and what the recorder made of them."""
    capture = f'{directory}/first.syscap'
    log = open(f'{directory}/log', 'w+')
    recorder, began = turns.start([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', capture], stderr=log, stdout=log,
                                  env={**os.environ, 'G_MESSAGES_DEBUG': 'all'})
    runs = []
    time.sleep(READY_SECONDS)
    for name, program in programs(directory).items():
        if options.program and name not in options.program:
            continue
        for life in options.life or [0.2, 1, 5]:
            for _ in range(max(1, options.short_runs if life < 1 else options.rounds)):
                runs.append(run_once(name, life, program, directory))
    time.sleep(0.5)
    recorder.send_signal(signal.SIGINT)
    turns.finish(recorder, began)
    log.seek(0)
    text = log.read()
    summary = [line.split('DEBUG: ')[-1] for line in text.splitlines() if 'pending samples' in line or 'Walks:' in line]
    lost = sum(int(re.search(rb'Lost (\d+)', frame).group(1)) for kind, _, frame in turns.frames(capture)
               if kind == 12 and b'Lost ' in frame)
    return runs, stacks_by_pid(capture), tables_in_place(text), summary, lost


def show(runs, stacks, tables):
    print(f'   {"program":14} {"life":>5} {"runs":>4} {"stacks":>7} {"complete":>9} {"table in place: median, p99":>28}   reasons')
    total = complete = 0
    for name, life in dict.fromkeys((run.name, run.life) for run in runs):
        these = [run for run in runs if (run.name, run.life) == (name, life)]
        reasons = collections.Counter(reason for run in these for when, reason in stacks[run.pid] if when >= run.started)
        waits = [(min(times) - run.started) / 1e6 for run in these if (times := [t for t in tables[run.inode] if t >= run.started])]
        n = sum(reasons.values())
        total, complete = total + n, complete + reasons[None]
        ready = f'{statistics.median(waits):.1f} ms, {percentile(waits, 0.99):.1f} ms' if waits else 'no table'
        cut = ', '.join(f'{reason} {count}' for reason, count in reasons.most_common() if reason is not None)
        print(f'   {name:14} {life:5} {len(these):4} {n:7} {100 * reasons[None] / max(n, 1):8.2f}% {ready:>28}   {cut}')
    print(f'   all: {total} user stacks, {100 * complete / max(total, 1):.3f} % complete')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=1, help='runs of 1 and 5 s of each program')
    parser.add_argument('--short-runs', type=int, default=10, help='runs of less than 1 s of each program')
    parser.add_argument('--frequency', type=int, action='append')
    parser.add_argument('--life', type=float, action='append', help='seconds; default: 0.2, 1 and 5')
    parser.add_argument('--program', action='append', help='only these')
    parser.add_argument('--busy', type=int, default=turns.n_cpus(), help='busy loops beside')
    options = parser.parse_args()

    with turns.scratch() as directory:
        make_inputs(directory)
        for frequency in options.frequency or [1000, 8000]:
            beside = [turns.start(['sh', '-c', 'while :; do :; done'])[0] for _ in range(options.busy)]
            time.sleep(0.2)
            runs, stacks, tables, summary, lost = record(options, frequency, directory)
            for process in beside:
                process.kill()
                process.wait()
            turns.heading(f'first stacks at {frequency} Hz, {options.busy} busy loops beside, load {os.getloadavg()[0]:.1f}')
            show(runs, stacks, tables)
            for line in [*summary, f'{lost} samples lost']:
                print(f'   {line}')


main()
