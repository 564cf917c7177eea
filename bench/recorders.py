# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorders that benchmarks of unwinding compare, and what can be seen of one from outside: samples, losses, CPU, memory."""
import dataclasses
import mmap
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import threading
import time

import turns

DEBIAN_CLI = '/usr/bin/sysprof-cli'
WITH_BUS = turns.ROOT / 'tests/peers/with-debian-recorder'
SAMPLE, LOST, LOST_SAMPLES = 9, 2, 13  # PERF_RECORD_…


@dataclasses.dataclass
class Output:
    """What a recording left."""
    samples: int
    lost: int
    addresses: int  # of all samples; 0 = not known
    size: int

    def per_sample(self):
        return self.size / max(self.samples, 1)


def read_capture(path):
    samples = lost = addresses = 0
    for kind, _, frame in turns.frames(path):
        if kind == 2:
            samples += 1
            addresses += struct.unpack_from('<H', frame, 24)[0]
        elif kind == 12 and b'Lost ' in frame:
            lost += int(re.search(rb'Lost (\d+)', frame).group(1))
    return Output(samples, lost, addresses, os.path.getsize(path))


def read_perf(path):
    """By the layout of perf.data-file-format.txt; a file may have gigabytes."""
    samples = lost = addresses = 0
    with open(path, 'rb') as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        _, _, _, attributes, _, at, size = struct.unpack_from('<8sQQQQQQ', data)
        sample_type = struct.unpack_from('<Q', data, attributes + 24)[0]
        chain = 8 + 8 * bin(sample_type & ~(1 << 5 | 1 << 12 | 1 << 13)).count('1')
        end = at + size
        while at + 8 <= end:
            kind, _, length = struct.unpack_from('<IHH', data, at)
            if length < 8:
                break
            if kind == SAMPLE:
                samples += 1
                if sample_type & 1 << 5:
                    addresses += struct.unpack_from('<Q', data, at + chain)[0]
            elif kind == LOST:
                lost += struct.unpack_from('<Q', data, at + 16)[0]
            elif kind == LOST_SAMPLES:
                lost += struct.unpack_from('<Q', data, at + 8)[0]
            at += length
    return Output(samples, lost, addresses, os.path.getsize(path))


class Recorder:
    """One contestant; `words` are all but frequency and output."""

    def __init__(self, name, kind, *words):
        self.name, self.kind, self.words = name, kind, words
        self.output = 'perf.data' if kind == 'perf' else 'run.syscap'

    def command(self, frequency, directory, decodes=False):
        path = f'{directory}/{self.output}'
        if self.kind == 'ours':
            symbols = [] if decodes else ['--no-decode']
            return [turns.CLI, '-f', '--quiet', '-F', frequency, *symbols, *self.words, path]
        if self.kind == 'debian':
            symbols = [] if decodes else ['--no-decode']
            return [DEBIAN_CLI, '-f', *symbols, *self.words, path]
        # --buildid-mmap: without it perf dies of the kernel's marks on mappings when another recorder asks for build IDs.
        return ['perf', 'record', '-q', '-B', '-N', '--buildid-mmap', *self.words, '-a', '-e', 'cpu-clock', '-c',
                1000000000 // frequency, '-o', path]

    def read(self, directory):
        path = f'{directory}/{self.output}'
        return read_perf(path) if self.kind == 'perf' else read_capture(path)


TABLES = Recorder('ours, tables', 'ours', '--unwind', 'tables')
COPY = Recorder('ours, copies', 'ours', '--unwind', 'copy', '--stack-size', '8192')
FRAME_POINTERS = Recorder('ours, frame pointers', 'ours', '--unwind', 'frame-pointer')
PERF_G = Recorder('perf -g', 'perf', '-g')
PERF_8K = Recorder('perf dwarf,8192', 'perf', '--call-graph', 'dwarf,8192')
PERF_64K = Recorder('perf dwarf,65528', 'perf', '--call-graph', 'dwarf,65528')
PERF_NO_STACKS = Recorder('perf, no stacks', 'perf')
NO_STACKS = Recorder('ours, no stacks', 'ours', '--unwind', 'none')
DEBIAN = Recorder("Debian's sysprof-cli", 'debian')


def contestants():
    """All that are installed, ours with tables first. Debian's has a frequency of its own."""
    found = [TABLES, COPY, FRAME_POINTERS]
    if turns.have('perf'):
        found += [PERF_G, PERF_8K, PERF_64K]
    if os.environ.get('SYSPROF_BENCH_BUS'):
        found.append(DEBIAN)
    return found


def go_on_with_bus():
    """Runs this benchmark anew in a bus of its own, without which Debian's recorder takes no samples."""
    if os.environ.get('SYSPROF_BENCH_BUS') or os.geteuid() != 0 or not os.access(DEBIAN_CLI, os.X_OK):
        return
    probe = subprocess.run([WITH_BUS, 'true'], capture_output=True, text=True)
    if probe.returncode != 0:
        print(f"   Debian's sysprof-cli left out: {probe.stderr.strip()}")
        return
    os.execve(WITH_BUS, [str(WITH_BUS), sys.executable, *sys.argv], dict(os.environ, SYSPROF_BENCH_BUS='1'))


# --- what can be seen from outside ---

def descendants(pid):
    found = [pid]
    for process in found:
        try:
            for task in os.listdir(f'/proc/{process}/task'):
                found += map(int, pathlib.Path(f'/proc/{process}/task/{task}/children').read_text().split())
        except OSError:
            pass
    return found


def daemon():
    """Debian's recorder has a helper that opens the events and reads /proc for it."""
    return [int(pid) for pid in filter(str.isdigit, os.listdir('/proc'))
            if pathlib.Path(f'/proc/{pid}/comm').exists() and pathlib.Path(f'/proc/{pid}/comm').read_text() == 'sysprofd\n']


def cpu_seconds(pids):
    """Of all threads that live."""
    total = 0
    for pid in pids:
        try:
            total += sum(int(task.joinpath('schedstat').read_text().split()[0])
                         for task in pathlib.Path(f'/proc/{pid}/task').iterdir())
        except OSError:
            pass
    return total / 1e9


def status_kib(pid, *names):
    try:
        text = pathlib.Path(f'/proc/{pid}/status').read_text()
    except OSError:
        return 0
    return sum(int(number) for name, number in re.findall(r'^(\w+):\s+(\d+) kB$', text, re.MULTILINE) if name in names)


def bpf_objects(pid):
    """(bytes of all maps, ns that programs have run, how often): of the descriptors of a process."""
    size = nsec = count = 0
    seen = set()
    try:
        for fd in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
            fields = dict(re.findall(r'^(\w+):\s+(\S+)$', fd.read_text(), re.MULTILINE))
            name = ('map', fields['map_id']) if 'map_id' in fields else ('prog', fields.get('prog_id'))
            if name[1] is None or name in seen:
                continue
            seen.add(name)
            if name[0] == 'map':
                size += int(fields['memlock'])
            else:
                nsec += int(fields.get('run_time_ns', 0))
                count += int(fields.get('run_cnt', 0))
    except OSError:
        pass
    return size, nsec, count


class Memory(threading.Thread):
    """The most that a recorder and its children have resident and locked, and their BPF maps: looked at every 50 ms."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.is_over = pid, threading.Event()
        self.resident = self.locked = self.maps = 0
        self.start()

    def run(self):
        while not self.is_over.wait(0.05):
            family = descendants(self.pid)
            self.resident = max(self.resident, sum(status_kib(pid, 'VmRSS') for pid in family) * 1024)
            self.locked = max(self.locked, status_kib(self.pid, 'VmLck', 'VmPin') * 1024)
            self.maps = max(self.maps, bpf_objects(self.pid)[0])

    def end(self):
        self.is_over.set()
        self.join()


class KernelSettings:
    """Settings for the time of a benchmark: BPF programs count their time, perf does not slow sampling down for the machine's sake
    (which would last beyond the contestant that made it so)."""
    WANTED = {'/proc/sys/kernel/bpf_stats_enabled': '1', '/proc/sys/kernel/perf_cpu_time_max_percent': '100'}

    def __enter__(self):
        self.before = {}
        for path, value in self.WANTED.items():
            try:
                self.before[path] = pathlib.Path(path).read_text()
                pathlib.Path(path).write_text(value)
            except OSError as error:
                print(f'   {path} stays as it is: {error.strerror}')
        return self

    def __exit__(self, *error):
        for path, value in reversed(list(self.before.items())):
            try:
                pathlib.Path(path).write_text(value)
            except OSError:
                pass


def start(recorder, frequency, directory, cpu=None, decodes=False, **options):
    """`cpu`: runs there alone."""
    pin = ['taskset', '-c', str(cpu)] if cpu is not None else []
    return turns.start([*pin, *recorder.command(frequency, directory, decodes)], **options)


def stop(process, began):
    process.send_signal(signal.SIGINT)
    return turns.finish(process, began)
