#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cost of complete stacks. Contestants run in turns on the same work: ours with tables, with
copies and with frame pointers, perf record -g, perf record --call-graph dwarf with 8 KB and 64 KB, and
Debian's own sysprof-cli.

Parts (--part, repeatable; default: all):
    kernel     nanoseconds per sample in the BPF walker, by stack depth, as counted by the kernel
    slowdown   of a program on all CPUs, and CPU time of the program per sample
    recorder   CPU, memory, bytes and losses of a recorder while programs start one after another
    cgroup     a whole recording with 256 MB
    tables     their size per megabyte of code and for the whole machine (bench/unwind-tables.py has more)
    covered    time until a big file that was just mapped has its table
    exec       time from exec to main

Figures of ours that have a target are printed with it. In the parts kernel and recorder the kernel counts
the time of BPF programs. This takes time itself, which the figures include."""
import argparse
import contextlib
import mmap
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

import recorders
import turns

KB = 1000
MB = 1000000
DEPTH = 20  # of the stacks of the program that is slowed down
DEPTHS = (5, 20, 66, 200)
LEAST_FREE = 6 * 1000 * MB


def pinned(cpu):
    return lambda: os.sched_setaffinity(0, {cpu})


def deep_stack(program, depth, seconds, cpu=None):
    """Rounds per second of CPU time, and per second."""
    done = subprocess.run([program, str(depth), str(seconds)], capture_output=True, text=True, check=True,
                          preexec_fn=pinned(cpu) if cpu is not None else None)
    return tuple(map(float, done.stdout.split()))


def slope_and_rest(points):
    """Least squares: y = rest + slope · x."""
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points))
    return slope, mean_y - slope * mean_x


# --- kernel ---

def time_of_walks(program, directory, cpu, depth, seconds):
    """(frames per sample, ns per sample): of ours, of one program alone, on a CPU of its own."""
    deep, deep_began = turns.start([program, depth, seconds + 3 * recorders.READY], preexec_fn=pinned(cpu))
    recorder = recorders.Recorder('ours', 'ours', '--unwind', 'tables', '--pid', str(deep.pid), '--user-only')
    process, began = recorders.start(recorder, 10000, directory, cpu=min(os.sched_getaffinity(0)))
    time.sleep(recorders.READY)
    _, nsec, count = recorders.bpf_objects(process.pid)
    time.sleep(seconds)
    _, nsec_after, count_after = recorders.bpf_objects(process.pid)
    recorders.stop(process, began)
    deep.kill()
    turns.finish(deep, deep_began)
    output = recorder.read(directory)
    return output.addresses / max(output.samples, 1), (nsec_after - nsec) / max(count_after - count, 1)


def part_kernel(options, directory, program):
    if turns.n_cpus() < 2:
        print('   needs two CPUs: left out')
        return
    cpu = max(os.sched_getaffinity(0))

    turns.heading('time in the walker per sample, by the kernel\'s own count (target: 45 ns a frame, 800 ns besides)')
    points = []
    for depth in DEPTHS:
        runs = [time_of_walks(program, directory, cpu, depth, options.seconds) for _ in range(options.rounds)]
        frames, nsec = (statistics.median(values) for values in zip(*runs))
        points.append((frames, nsec))
        print(f'   {frames:6.1f} frames {nsec:8.0f} ns [{min(n for _, n in runs):.0f} … {max(n for _, n in runs):.0f}]')
    slope, rest = slope_and_rest(points)
    print(f'   {slope:.1f} ns a frame and {rest:.0f} ns besides')


# --- slowdown ---

def part_slowdown(options, directory, program):
    def work():
        """Seconds of CPU time per round, and seconds."""
        return tuple(1 / rate for rate in deep_stack(program, DEPTH, options.seconds))

    for frequency in options.frequency or [1000, 4000, 10000]:
        contestants = {recorder.name: recorder for recorder in recorders.contestants(frequency)}
        if frequency == 10000:
            contestants |= {recorder.name: recorder for recorder in (recorders.NO_STACKS, recorders.PERF_NO_STACKS)
                            if recorder.kind != 'perf' or recorders.have_perf()}
        contestants['nothing recording'] = None
        found = recorders.slower(work, contestants, frequency, options.rounds, directory)

        turns.heading(f'slowdown of a program on all CPUs, {DEPTH} frames without frame pointers, {frequency} Hz: '
                      'longer it took than alone')
        turns.show({name: [recorded / alone - 1 for _, (recorded, alone) in runs] for name, runs in found.items()}, '%', scale=100,
                   digits=1, has_ratios=False)
        print('   of its CPU time per sample:')
        turns.show({name: [(recorded / alone - 1) / frequency for (recorded, alone), _ in runs] for name, runs in found.items()}, 'us',
                   scale=1e6, digits=1, has_ratios=False)
    print('   (interrupt, record and stack; who follows frame pointers finds one or two of the frames; Debian\'s has its 1 kHz only)')


# --- recorder ---

def record_programs(recorder, frequency, directory, seconds, warm_up=1.5):
    """Figures of one recording while programs start: while it lasts, and of all of it, its end with symbols included."""
    with turns.programs_beside(directory):
        time.sleep(0.3)
        helpers = recorders.daemon() if recorder.kind == 'debian' else []
        helpers_before = recorders.cpu_seconds(helpers)
        process, began = recorders.start(recorder, frequency, directory, decodes=True)
        memory = recorders.Memory(process.pid)
        time.sleep(warm_up)
        first, since = recorders.cpu_seconds([process.pid, *helpers]), time.monotonic()
        _, nsec, count = recorders.bpf_objects(process.pid)
        time.sleep(seconds)
        cpu, length = recorders.cpu_seconds([process.pid, *helpers]) - first, time.monotonic() - since
        _, nsec_after, count_after = recorders.bpf_objects(process.pid)
        usage = recorders.stop(process, began)
        helpers_cpu = recorders.cpu_seconds(helpers) - helpers_before
        memory.end()
    output = recorder.read(directory)
    walking = 0
    if recorder in (recorders.PERF_8K, recorders.PERF_64K):
        walking = turns.run(['perf', 'script', '--no-inline', '-F', 'ip', '-i', f'{directory}/{recorder.output}']).cpu
    return {
        'cpu': cpu / length,
        'whole': usage.cpu + helpers_cpu,
        'walked': usage.cpu + helpers_cpu + walking,
        'bytes': output.per_sample(),
        'samples': output.samples,
        'lost': output.lost,
        'resident': memory.resident,
        'locked': memory.locked + memory.maps,
        'walk': (nsec_after - nsec) / (count_after - count) if count_after > count else None,
    }


def part_recorder(options, directory, program):
    rows = [('cpu', 'CPU while recording', '% of a CPU', 100, 2), ('whole', 'CPU of all of it, with its end', 's', 1, 2),
            ('walked', 'CPU until stacks are walked: the same, and of perf script where the file has copies', 's', 1, 2),
            ('bytes', 'bytes of file per sample', 'bytes', 1, 0), ('resident', 'most memory resident, its children included', 'MB', 1 / MB, 1),
            ('locked', 'most memory locked, and BPF maps (part of it may be resident, too)', 'MB', 1 / MB, 1),
            ('walk', 'ns in the walker per sample (target: 3,000)', 'ns', 1, 0)]
    for frequency in options.frequency or [1000, 4000]:
        found = recorders.contestants(frequency)
        runs = {recorder.name: [] for recorder in found}
        for _ in range(options.rounds):
            for recorder in list(found):
                try:
                    runs[recorder.name].append(record_programs(recorder, frequency, directory, options.seconds))
                except ChildProcessError as error:
                    if recorder.kind == 'ours':
                        raise
                    print(f'   {recorder.name}: left out from here on: {error}')
                    found.remove(recorder)
        runs = {name: measured for name, measured in runs.items() if measured}
        for key, title, unit, scale, digits in rows:
            turns.heading(f'{title}, programs starting all the time, {frequency} Hz, {options.seconds:g} s')
            turns.show({name: [run[key] for run in measured if run[key] is not None] for name, measured in runs.items()
                        if key != 'walk' or measured[0][key] is not None}, unit, scale=scale, digits=digits)
        for name, measured in runs.items():
            print(f'   {name:28} lost {sum(run["lost"] for run in measured)}, kept {sum(run["samples"] for run in measured)}')


# --- cgroup ---

class MemoryGroup:
    """A control group of our own with a limit. Made where the hierarchy is mounted, version 1 or 2; None where there is none."""

    def __init__(self, limit):
        self.path, self.is_v2, self.mounted = None, False, None
        for line in open('/proc/self/mounts'):
            _, where, kind, words, *_ = line.split()
            if kind == 'cgroup' and 'memory' in words.split(','):
                self.path = pathlib.Path(where)
            elif kind == 'cgroup2' and self.path is None and 'memory' in pathlib.Path(where, 'cgroup.controllers').read_text().split():
                self.path, self.is_v2 = pathlib.Path(where), True
                pathlib.Path(where, 'cgroup.subtree_control').write_text('+memory')
        if self.path is None:
            raise OSError('no memory controller is mounted')
        self.path /= f'sysprof-bench-{os.getpid()}'
        self.path.mkdir()
        self.write('memory.max' if self.is_v2 else 'memory.limit_in_bytes', limit)

    def write(self, name, value):
        (self.path / name).write_text(str(value))

    def read(self, name):
        try:
            return (self.path / name).read_text()
        except OSError:
            return ''

    def most(self):
        return int(self.read('memory.peak' if self.is_v2 else 'memory.max_usage_in_bytes') or 0)

    def n_killed(self):
        found = re.search(r'oom_kill (\d+)', self.read('memory.events' if self.is_v2 else 'memory.oom_control'))
        return int(found.group(1)) if found else 0

    def end(self):
        for _ in range(50):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)


def part_cgroup(options, directory, program):
    turns.heading(f'a recording of {3 * options.seconds:g} s with 256 MB of memory, programs starting all the time, 4 kHz, its end included')
    for recorder in [recorders.TABLES, recorders.COPY, recorders.PERF_G, recorders.PERF_64K]:
        if recorder.kind == 'perf' and not recorders.have_perf():
            continue
        try:
            group = MemoryGroup(256 << 20)
        except OSError as error:
            print(f'   not measured: {error}')
            return
        with turns.programs_beside(directory):
            process, began = recorders.start(recorder, 4000, directory, decodes=True,
                                             preexec_fn=lambda group=group: group.write('cgroup.procs', os.getpid()))
            memory = recorders.Memory(process.pid)
            time.sleep(3 * options.seconds)
            os.kill(process.pid, signal.SIGINT)  # it may have been killed
            usage = turns.finish(process, began)
            memory.end()
        killed, most = group.n_killed(), group.most()
        group.end()
        try:
            output = recorder.read(directory)
            kept = f'kept {output.samples}, lost {output.lost}, {output.size / MB:.0f} MB of file'
        except (OSError, ValueError) as error:
            kept = f'cannot be read: {error}'
        end = 'ended as it was told' if usage.status in (0, -signal.SIGINT) else f'ended with status {usage.status}'
        print(f'   {recorder.name:28} {end}, {killed} killed; at most {most / MB:.0f} MB with the pages of its files, '
              f'{memory.resident / MB:.0f} MB resident; {kept}')


# --- tables ---

def debug_lines(directory, until):
    """Returns the messages of our recorder as (time, line), until `until`, called every millisecond with the
    messages so far, returns true."""
    process, began = recorders.start(recorders.TABLES, 1000, directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     env=dict(os.environ, G_MESSAGES_DEBUG='all'))
    os.set_blocking(process.stdout.fileno(), False)
    lines, rest = [], b''
    while not until(lines):
        chunk = process.stdout.read() or b''
        *whole, rest = (rest + chunk).split(b'\n')
        lines += [(time.monotonic(), line.decode()) for line in whole]
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    os.set_blocking(process.stdout.fileno(), True)
    lines += [(time.monotonic(), line.decode()) for line in (rest + process.stdout.read()).split(b'\n')]
    turns.finish(process, began)
    return lines


def part_tables(options, directory, program):
    with turns.programs_beside(directory):
        subprocess.run(['python3', turns.ROOT / 'bench/unwind-tables.py', '--mapped', '--rounds', str(options.rounds)], check=True)
    print('   targets: 45 KB of table and 0.8 ms per MB of code')

    turns.heading('tables of all that runs, as it is recorded while programs start')
    for _ in range(options.rounds):
        over = time.monotonic() + options.seconds
        with turns.programs_beside(directory):
            lines = debug_lines(directory, lambda _: time.monotonic() > over)
        for _, line in lines:
            if 'Unwinder: ' in line and 'tables' in line:
                print('   ' + line.split('Unwinder: ')[1])
    print('   target: ready 150 ms after the start, with 300 files; bench/whole-machine.py prints the same where more runs')


# --- covered ---

BIG_FILES = ('/usr/lib/chromium/chromium', '/usr/bin/node', '/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1',
             '/usr/lib/x86_64-linux-gnu/libwebkit2gtk-4.1.so.0', '/usr/lib/gcc/x86_64-linux-gnu/12/cc1')
MOST_SECONDS = 8  # until we no longer wait for a table


def time_until_covered(path, directory):
    """(seconds, bytes of the table) for a copy of the file that the recorder has not seen before; None if it
    made no table."""
    copy = pathlib.Path(directory, 'big')
    shutil.copy(path, copy)
    inode = copy.stat().st_ino
    made = re.compile(rf'Table of inode {inode}: .* (\d+) bytes')
    began = time.monotonic()
    mapped, mapped_at, n_read = [], None, 0

    def is_covered(lines):
        nonlocal mapped_at, n_read
        if mapped_at is None and time.monotonic() > began + 1.5:
            mapped_at = time.monotonic()
            with open(copy, 'rb') as file:
                mapped.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
        fresh, n_read = lines[n_read:], len(lines)
        return time.monotonic() > began + MOST_SECONDS or any(made.search(line) for _, line in fresh)

    lines = debug_lines(directory, is_covered)
    for mapping in mapped:
        mapping.close()
    copy.unlink()
    for when, line in lines:
        if mapped_at is not None and made.search(line):
            return when - mapped_at, int(made.search(line).group(1))
    return None


def part_covered(options, directory, program):
    for beside, where in ((contextlib.nullcontext, 'nothing else running'), (lambda: turns.programs_beside(directory), 'programs starting all the time')):
        turns.heading(f'from mapping a big file that is new to the table for it, {where}')
        for path in map(pathlib.Path, filter(os.path.exists, BIG_FILES)):
            found = []
            for _ in range(options.rounds):
                with beside():
                    found.append(time_until_covered(path, directory))
            waits = [seconds for seconds, _ in filter(None, found)]
            missing = f'; no table came in {len(found) - len(waits)} of {len(found)} runs' if len(waits) < len(found) else ''
            if waits:
                size = next(filter(None, found))[1]
                print(f'   {path.name:28} {1000 * statistics.median(waits):8.0f} ms [{1000 * min(waits):.0f} … {1000 * max(waits):.0f}]'
                      f'  table of {size / MB:.1f} MB, file of {path.stat().st_size / MB:.0f} MB{missing}')
            else:
                print(f'   {path.name:28} not measured{missing}')
    print('   (samples of the meantime are finished from copies of their stacks)')


# --- exec ---

def part_exec(options, directory, program):
    starter = turns.compile_program('exec-to-main', directory)

    def work():
        """Median seconds from exec to main, on one CPU: where processes also move the time has two peaks, and the share of each drifts."""
        done = subprocess.run([starter, '1000'], capture_output=True, text=True, check=True, preexec_fn=pinned(max(os.sched_getaffinity(0))))
        return (statistics.median(map(int, done.stdout.split())) / 1e9,)

    contestants = {recorder.name: recorder for recorder in recorders.contestants()}
    contestants['nothing recording'] = None
    found = recorders.slower(work, contestants, 1000, options.rounds, directory)

    turns.heading('from exec to main, median of 1,000 starts, 1 kHz')
    turns.show({name: [recorded for [(recorded, _)] in runs] for name, runs in found.items()}, 'us', scale=1e6, digits=1)
    print('   longer than alone, before and after:')
    turns.show({name: [recorded - alone for [(recorded, alone)] in runs] for name, runs in found.items()}, 'us', scale=1e6, digits=1,
               has_ratios=False)


# function, rounds, seconds of each measurement, whether the kernel counts the time of BPF programs meanwhile
PARTS = {
    'kernel': (part_kernel, 3, 1, True),
    'slowdown': (part_slowdown, 3, 1, False),
    'recorder': (part_recorder, 3, 2, True),
    'cgroup': (part_cgroup, 1, 2, False),
    'tables': (part_tables, 3, 2, False),
    'covered': (part_covered, 3, 1, False),
    'exec': (part_exec, 3, 1, False),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', choices=PARTS, action='append')
    parser.add_argument('--rounds', type=int, help='default: as each part needs')
    parser.add_argument('--seconds', type=float, help='of each measurement; default: as each part needs')
    parser.add_argument('--frequency', type=int, action='append', help='of slowdown and recorder')
    options = parser.parse_args()

    if os.geteuid() != 0:
        print('unwinding: needs root: left out')
        return
    recorders.go_on_with_bus()
    with turns.scratch() as directory:
        if shutil.disk_usage(directory).free < LEAST_FREE:
            print(f'unwinding: needs {LEAST_FREE / MB / 1000:.0f} GB in {directory}: left out')
            return
        program = turns.compile_program('deep-stack', directory, ['-fomit-frame-pointer', '-momit-leaf-frame-pointer'])
        for part in options.part or PARTS:
            measure, rounds, seconds, counts_programs = PARTS[part]
            chosen = argparse.Namespace(rounds=options.rounds or rounds, seconds=options.seconds or seconds, frequency=options.frequency)
            began = time.monotonic()
            with recorders.KernelSettings(counts_programs):
                measure(chosen, directory, program)
            print(f'   ({part}: {time.monotonic() - began:.0f} s)', flush=True)


if __name__ == '__main__':
    main()
