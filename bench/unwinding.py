#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What whole stacks cost: ours by tables, by copies and by frame pointers, beside perf record -g, perf record --call-graph dwarf with
8 KB and 64 KB, and Debian's own sysprof-cli, in turns on the same work.

Parts (--part, repeatable; else all):
  kernel     nanoseconds that a sample takes where it is taken, by the depth of the stack, and by how much slower a program becomes
  slowdown   of a program on all CPUs
  recorder   CPU, memory and bytes of a recorder, and what it loses, while programs start one after another
  cgroup     a whole recording with 256 MB
  tables     their size per megabyte of code and for the whole machine (bench/unwind-tables.py has more)
  covered    time until a big file that was just mapped has its table
  exec       time from exec to main

Behind each figure of ours for which there is one stands its target. The kernel counts the time of BPF programs meanwhile."""
import argparse
import mmap
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

import recorders
import turns

KB = 1000
MB = 1000000
READY = 1.0  # seconds until any recorder records
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
    """(frames per sample, ns per sample): of ours, on one CPU, while only the program runs there."""
    recorder = recorders.Recorder('ours', 'ours', '--unwind', 'tables', '--cpu', str(cpu), '--user-only')
    process, began = recorders.start(recorder, 10000, directory, cpu=0)
    time.sleep(READY)
    _, nsec, count = recorders.bpf_objects(process.pid)
    deep_stack(program, depth, seconds, cpu)
    _, nsec_after, count_after = recorders.bpf_objects(process.pid)
    recorders.stop(process, began)
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

    def cost(recorder):
        """Nanoseconds of the program's CPU time per sample."""
        def measure():
            frequency = 1000 if recorder.kind == 'debian' else 10000
            alone, _ = deep_stack(program, DEPTH, options.seconds, cpu)
            process, began = recorders.start(recorder, frequency, directory, cpu=0)
            time.sleep(READY)
            recorded, _ = deep_stack(program, DEPTH, options.seconds, cpu)
            recorders.stop(process, began)
            return max(1 - recorded / alone, 1e-9) / frequency
        return measure

    turns.heading(f'what a sample costs the program that is sampled, {DEPTH} frames without frame pointers, 10 kHz')
    turns.show(turns.in_turns({recorder.name: cost(recorder) for recorder in
                               [*recorders.contestants(), recorders.NO_STACKS, recorders.PERF_NO_STACKS]}, options.rounds),
               'ns', scale=1e9, digits=0)
    print('   (interrupt, record and stack; those who follow frame pointers find one or two of the frames; Debian\'s at its 1 kHz)')


# --- slowdown ---

def part_slowdown(options, directory, program):
    def time_per_round(recorder, frequency):
        def measure():
            if recorder:
                process, began = recorders.start(recorder, frequency, directory)
                time.sleep(READY)
            _, per_second = deep_stack(program, DEPTH, options.seconds)
            if recorder:
                recorders.stop(process, began)
            return 1 / per_second
        return measure

    for frequency in options.frequency or [1000, 4000, 10000]:
        turns.heading(f'time per round of a program on all CPUs, {DEPTH} frames without frame pointers, {frequency} Hz')
        contestants = {recorder.name: time_per_round(recorder, frequency) for recorder in recorders.contestants()
                       if recorder.kind != 'debian' or frequency == 1000}
        contestants['alone'] = time_per_round(None, frequency)
        figures = turns.in_turns(contestants, options.rounds)
        turns.show(figures, 'us', scale=1e6, digits=3)
        for name, values in figures.items():
            slower = [100 * (recorded / alone - 1) for recorded, alone in zip(values, figures['alone'])]
            if name != 'alone':
                print(f'   {name:28} {statistics.median(slower):+.1f} % [{min(slower):+.1f} … {max(slower):+.1f}]')


# --- recorder ---

def record_programs(recorder, frequency, directory, seconds, warm_up=2.0):
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
        found = [recorder for recorder in recorders.contestants() if recorder.kind != 'debian' or frequency == 1000]
        runs = {recorder.name: [] for recorder in found}
        for _ in range(options.rounds):
            for recorder in found:
                runs[recorder.name].append(record_programs(recorder, frequency, directory, options.seconds))
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
        if recorder.kind == 'perf' and not shutil.which('perf'):
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
            usage = recorders.stop(process, began)
            memory.end()
        killed, most = group.n_killed(), group.most()
        group.end()
        try:
            output = recorder.read(directory)
            kept = f'kept {output.samples}, lost {output.lost}, {output.size / MB:.0f} MB of file'
        except (OSError, ValueError) as error:
            kept = f'cannot be read: {error}'
        print(f'   {recorder.name:28} status {usage.status}, {killed} killed; at most {most / MB:.0f} MB with the pages of its files, '
              f'{memory.resident / MB:.0f} MB resident; {kept}')


# --- tables ---

def debug_lines(directory, seconds, meanwhile):
    """What ours says that it does, as (when, line). A step of `meanwhile` is made every millisecond."""
    process, began = recorders.start(recorders.TABLES, 1000, directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     env=dict(os.environ, G_MESSAGES_DEBUG='all'))
    os.set_blocking(process.stdout.fileno(), False)
    lines, rest, until = [], b'', time.monotonic() + seconds
    while time.monotonic() < until:
        chunk = process.stdout.read() or b''
        *whole, rest = (rest + chunk).split(b'\n')
        lines += [(time.monotonic(), line.decode()) for line in whole]
        next(meanwhile, None)
        time.sleep(0.001)
    process.send_signal(2)
    os.set_blocking(process.stdout.fileno(), True)
    lines += [(time.monotonic(), line.decode()) for line in (rest + process.stdout.read()).split(b'\n')]
    turns.finish(process, began)
    return lines


def part_tables(options, directory, program):
    subprocess.run(['python3', turns.ROOT / 'bench/unwind-tables.py', '--rounds', str(options.rounds)], check=True)
    print('   targets: 45 KB of table and 0.8 ms per MB of code')
    turns.heading('tables of the whole machine, as it is recorded while programs start')
    with turns.programs_beside(directory):
        lines = debug_lines(directory, options.seconds, iter(()))
    for _, line in lines:
        if 'Unwinder: ' in line and 'tables' in line:
            print('   ' + line.split('Unwinder: ')[1])
    print('   target: ready 150 ms after the start, with 300 files')


# --- covered ---

BIG_FILES = ('/usr/lib/chromium/chromium', '/usr/bin/node', '/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1',
             '/usr/lib/x86_64-linux-gnu/libwebkit2gtk-4.1.so.0', '/usr/libexec/gcc/x86_64-linux-gnu/12/cc1plus',
             '/usr/lib/gcc/x86_64-linux-gnu/12/cc1')


def map_after(seconds, path, mapped_at):
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        yield
    with open(path, 'rb') as file:
        mapped_at.append(time.monotonic())
        with mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC):
            while True:
                yield


def part_covered(options, directory, program):
    """The copy is a file of which nothing is known."""
    turns.heading('from mapping a big file that is new to the table for it')
    big = [pathlib.Path(path) for path in BIG_FILES if os.path.exists(path)]
    for path in big:
        waits = []
        for _ in range(options.rounds):
            copy = pathlib.Path(directory, 'big')
            shutil.copy(path, copy)
            inode = copy.stat().st_ino
            mapped_at = []
            for when, line in debug_lines(directory, 4, map_after(1.5, copy, mapped_at)):
                if f'Table of inode {inode}:' in line and mapped_at:
                    waits.append(when - mapped_at[0])
                    size = int(re.search(r'(\d+) bytes', line).group(1))
            copy.unlink()
        if waits:
            print(f'   {path.name:28} {1000 * statistics.median(waits):8.0f} ms [{1000 * min(waits):.0f} … {1000 * max(waits):.0f}]'
                  f'  table of {size / MB:.1f} MB, file of {path.stat().st_size / MB:.0f} MB')
        else:
            print(f'   {path.name:28} no table came')
    print('   (samples of the meantime are finished from copies of their stacks)')


# --- exec ---

def part_exec(options, directory, program):
    starter = turns.compile_program('exec-to-main', directory)

    def from_exec_to_main(recorder):
        def measure():
            if recorder:
                process, began = recorders.start(recorder, 1000, directory)
                time.sleep(READY)
            done = subprocess.run([starter, '1000'], capture_output=True, text=True, check=True)
            if recorder:
                recorders.stop(process, began)
            return statistics.median(map(int, done.stdout.split()))
        return measure

    turns.heading('from exec to main, median of 1,000 starts, 1 kHz')
    figures = turns.in_turns({'alone': from_exec_to_main(None),
                              **{recorder.name: from_exec_to_main(recorder) for recorder in recorders.contestants()}}, options.rounds)
    turns.show(figures, 'us', scale=1e-3, digits=1)
    for name, values in figures.items():
        added = [recorded - alone for recorded, alone in zip(values, figures['alone'])]
        if name != 'alone':
            print(f'   {name:28} {statistics.median(added) / 1000:+.1f} us [{min(added) / 1000:+.1f} … {max(added) / 1000:+.1f}]')


PARTS = {'kernel': part_kernel, 'slowdown': part_slowdown, 'recorder': part_recorder, 'cgroup': part_cgroup, 'tables': part_tables,
         'covered': part_covered, 'exec': part_exec}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', choices=PARTS, action='append')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=2)
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()

    if os.geteuid() != 0:
        print('unwinding: needs root: left out')
        return
    recorders.go_on_with_bus()
    with recorders.KernelSettings(), turns.scratch() as directory:
        if shutil.disk_usage(directory).free < LEAST_FREE:
            print(f'unwinding: needs {LEAST_FREE / MB / 1000:.0f} GB in {directory}: left out')
            return
        program = turns.compile_program('deep-stack', directory, ['-fomit-frame-pointer', '-momit-leaf-frame-pointer'])
        for part in options.part or PARTS:
            PARTS[part](options, directory, program)


if __name__ == '__main__':
    main()
