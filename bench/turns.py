# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that all benchmarks share. Contestants run in turns; results are medians with spread, and ratios
of pairs.

A benchmark never passes or fails; it prints. Figures of one run are comparable with each other only."""
import atexit
import contextlib
import os
import pathlib
import platform
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get('SYSPROF_BUILD', ROOT / 'build-bench')).resolve()
CLI = BUILD / 'src/cli/sysprof-cli'
REPORT = BUILD / 'src/report/sysprof-report'

# Each report reads files itself, not the symbol cache, unless a benchmark enables it.
os.environ['SYSPROF_SYMBOL_CACHE'] = ''


# Programs that start one after another.
PROGRAMS = """
cat >small.c <<'END'
#include <stdio.h>
int main (void) { for (int i = 0; i < 9; i++) printf ("%d\\n", i * i); return 0; }
END
(while :; do cc -O2 -c small.c; done) &
(while :; do
   /usr/bin/python3 -c 'import json, re; json.dumps([re.sub("1", "2", str(i)) for i in range(3000)])'
   echo 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<20000) SELECT sum(x*x) FROM c;' | sqlite3
 done) &
(while :; do ls / | grep -c a; expr 1 + 1; done) &
wait
"""


class Usage:
    """Resources of a finished process: seconds of wall time and CPU, peak resident KiB, exit status."""

    def __init__(self, wall, usage, status):
        self.wall = wall
        self.cpu = usage.ru_utime + usage.ru_stime
        self.user = usage.ru_utime
        self.system = usage.ru_stime
        self.peak_kib = usage.ru_maxrss
        self.status = os.waitstatus_to_exitcode(status)


# Processes that run, and whether each has a group of its own.
running = {}


def start(command, **options):
    options.setdefault('stdout', subprocess.DEVNULL)
    options.setdefault('stderr', subprocess.DEVNULL)
    options.setdefault('stdin', subprocess.DEVNULL)
    process, began = subprocess.Popen([str(word) for word in command], **options), time.monotonic()
    running[process] = options.get('start_new_session', False)
    return process, began


def finish(process, began):
    """Waits for a process made by start(); children that it waited for itself count as its own."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    running.pop(process, None)
    return Usage(time.monotonic() - began, usage, status)


def give_up(number, _frame):
    """Cleans up once when the benchmark is ended, however often it receives a signal."""
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)
    sys.exit(128 + number)


@atexit.register
def end_all():
    """Ends the processes that an interrupted benchmark started."""
    alive = [(process, is_group) for process, is_group in running.items() if process.returncode is None]
    end_groups([process for process, is_group in alive if is_group])
    for process in [process for process, is_group in alive if not is_group]:
        process.kill()
        process.wait()


ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
for ending in ENDING:
    if ending != signal.SIGHUP or signal.getsignal(ending) != signal.SIG_IGN:  # nohup's
        signal.signal(ending, give_up)


def run(command, **options):
    return finish(*start(command, **options))


def interrupt_after(seconds, command, **options):
    process, began = start(command, **options)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    return finish(process, began)


def n_cpus():
    return len(os.sched_getaffinity(0))


@contextlib.contextmanager
def programs_beside(directory):
    """Programs that start one after another, as long as the block lasts."""
    process, _ = start(['sh', '-c', PROGRAMS], cwd=directory, start_new_session=True)
    try:
        yield
    finally:
        end_groups([process])


def end_groups(processes):
    """Ends processes that were started with start_new_session, and what they started."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        running.pop(process, None)


def compile_program(name, directory, flags=()):
    program = pathlib.Path(directory) / name
    subprocess.run(['cc', '-O2', '-g', '-fno-omit-frame-pointer', '-mno-omit-leaf-frame-pointer',
                    '-fno-optimize-sibling-calls', '-pthread',
                    *flags, '-o', program, ROOT / 'bench' / f'{name}.c'], check=True)
    return program


def in_turns(contestants, rounds):
    """contestants: {name: function → number or None}. Returns {name: [numbers]}, run A B C A B C …"""
    figures = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            value = measure()
            if value is not None:
                figures[name].append(value)
    return figures


def machine():
    model = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), '?')
    return f'{os.cpu_count()} CPUs ({model}), Linux {platform.release()}'


def heading(title):
    print(f'\n== {title}')
    print(f'   machine: {machine()}')
    print(f'   command: {" ".join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]])}')


def show(figures, unit, scale=1.0, digits=2, has_ratios=True):
    """One row per contestant: median [min … max], and the ratios of the first contestant to it, turn by turn."""
    first = next(iter(figures))
    for name, values in figures.items():
        if not values:
            print(f'   {name:28} not measured')
            continue
        scaled = [value * scale for value in values]
        row = (f'   {name:28} {statistics.median(scaled):10.{digits}f} {unit:10}'
               f' [{min(scaled):.{digits}f} … {max(scaled):.{digits}f}]')
        if has_ratios and name != first and figures[first] and all(value > 0 for value in values):
            ratios = [ours / theirs for ours, theirs in zip(figures[first], values)]
            row += (f'   {first} / {name} = {statistics.median(ratios):.2f}'
                    f' [{min(ratios):.2f} … {max(ratios):.2f}]')
        print(row)


def frames(path):
    """(type, time, bytes) of every frame of a little-endian capture."""
    data = pathlib.Path(path).read_bytes()
    at = 256
    while at + 24 <= len(data):
        length, _cpu, _pid, when, kind = struct.unpack_from('<HhiqB', data, at)
        if length < 24 or at + length > len(data):
            break
        yield kind, when, data[at:at + length]
        at += length


def have(program):
    found = shutil.which(program)
    if not found:
        print(f'   {program}: not installed, left out')
    return found


def scratch():
    return tempfile.TemporaryDirectory(prefix='sysprof-bench-', dir=os.environ.get('TMPDIR', '/var/tmp'))
