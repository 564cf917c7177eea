# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorders that benchmarks of unwinding compare, and what can be seen of one from outside: samples, losses, CPU, memory."""
import contextlib
import dataclasses
import functools
import mmap
import os
import pathlib
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import threading
import time

import turns

DEBIAN_CLI = '/usr/bin/sysprof-cli'
WITH_BUS = turns.ROOT / 'tests/peers/with-debian-recorder'
SAMPLE, LOST, LOST_SAMPLES, KERNEL_SYMBOL, BPF_EVENT, FINISHED_INIT = 9, 2, 13, 17, 18, 82  # PERF_RECORD_…
SAMPLE_HEAD = 32  # bytes of a capture's sample before its addresses
CONTEXTS = 2**64 - 4095  # from here on: no addresses, but what follows
READY = 1.0  # seconds until any recorder records


@dataclasses.dataclass
class Output:
    """The files that a recording wrote."""
    samples: int
    lost: int
    addresses: int  # of all samples; perf's with what separates kernel and user; 0 = not known
    size: int

    def per_sample(self):
        return self.size / max(self.samples, 1)


def read_capture(path):
    samples = lost = addresses = 0
    for kind, _, frame in turns.frames(path):
        if kind == 2:
            samples += 1
            n, = struct.unpack_from('<H', frame, 24)
            addresses += sum(address < CONTEXTS for address in struct.unpack_from(f'<{n}Q', frame, SAMPLE_HEAD))
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
        # --buildid-mmap: without it perf fails at mapping records that the kernel marks because another
        # recorder requests build IDs.
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


@functools.cache
def have_perf():
    """MappingEvents once, when it is missing or of no use."""
    if not shutil.which('perf'):
        print('   perf is not installed: nothing of it is measured; on Debian: apt-get install linux-perf')
        return False
    done = subprocess.run(['perf', 'record', '-q', '-B', '-N', '--buildid-mmap', '-a', '-e', 'cpu-clock', '-o', '/dev/null', 'true'],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        print(f'   perf cannot record here: nothing of it is measured: {" ".join(done.stderr.split())}')
    return done.returncode == 0


def contestants(frequency=1000):
    """All that are installed, ours with tables first. Debian's has a frequency of its own: 1 kHz."""
    found = [TABLES, COPY, FRAME_POINTERS]
    if have_perf():
        found += [PERF_G, PERF_8K, PERF_64K]
    if os.environ.get('SYSPROF_BENCH_BUS') and frequency == 1000:
        found.append(DEBIAN)
    return found


def go_on_with_bus():
    """Runs this benchmark again in a bus of its own, without which Debian's recorder takes no samples."""
    if os.environ.get('SYSPROF_BENCH_BUS') or os.geteuid() != 0 or not os.access(DEBIAN_CLI, os.X_OK):
        return
    probe = subprocess.run([WITH_BUS, 'true'], capture_output=True, text=True)
    if probe.returncode != 0:
        print(f"   Debian's sysprof-cli left out: {probe.stderr.strip()}")
        return
    os.execve(WITH_BUS, [str(WITH_BUS), sys.executable, *sys.argv], dict(os.environ, SYSPROF_BENCH_BUS='1'))


def without_bpf_records(path):
    """Replaces overlong records of a perf file by records without effect.

    If a BPF program is loaded, as with our recorder, and several perfs record, the kernel gives all but
    the first perf records that are a few undefined bytes too long. perf searches these bytes for an event,
    and its reader stops there."""
    with open(path, 'r+b') as file, mmap.mmap(file.fileno(), 0) as data:
        _, _, _, _, _, at, size = struct.unpack_from('<8sQQQQQQ', data)
        end = at + size
        while at + 8 <= end:
            kind, _, length = struct.unpack_from('<IHH', data, at)
            if length < 8:
                break
            if kind in (KERNEL_SYMBOL, BPF_EVENT):
                struct.pack_into('<I', data, at, FINISHED_INIT)
            at += length


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
    """Settings for the time of a benchmark: whether BPF programs count their time (which takes time, too); and perf does not slow
    sampling down for the machine's sake (which would last beyond the contestant that made it so)."""

    def __init__(self, counts_programs):
        self.wanted = {'/proc/sys/kernel/bpf_stats_enabled': '1' if counts_programs else '0',
                       '/proc/sys/kernel/perf_cpu_time_max_percent': '100'}

    def __enter__(self):
        self.before = {}
        for path, value in self.wanted.items():
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


def remove_outputs(directory):
    """At once: gigabytes of stacks would be written to the disk while the next one is measured."""
    for name in (TABLES.output, PERF_G.output):
        pathlib.Path(directory, name).unlink(missing_ok=True)


def start(recorder, frequency, directory, cpu=None, decodes=False, **options):
    """`cpu`: runs there alone."""
    remove_outputs(directory)
    pin = ['taskset', '-c', str(cpu)] if cpu is not None else []
    command = [*pin, *recorder.command(frequency, directory, decodes)]
    return start_perf(command, **options) if recorder.kind == 'perf' else turns.start(command, **options)


def start_perf(command, **options):
    """Returns when it takes samples, which on a busy machine is seconds later: it looks at all processes first."""
    started = begin_perf(command, **options)
    wait_for_perf(started[0])
    return started


def begin_perf(command, **options):
    """It takes samples after wait_for_perf()."""
    ours_in, its_out = os.pipe()
    its_in, ours_out = os.pipe()
    process, began = turns.start([*command, '-D', '-1', '--control', f'fd:{its_in},{its_out}'], pass_fds=(its_in, its_out), **options)
    os.close(its_in)
    os.close(its_out)
    process.control = open(ours_out, 'w'), open(ours_in)  # it ends when they are closed
    return process, began


def wait_for_perf(process):
    to_perf, of_perf = process.control
    try:
        to_perf.write('enable\n')
        to_perf.flush()
        answer = of_perf.readline()
    except BrokenPipeError:
        answer = ''
    if not answer.strip('\0').startswith('ack'):
        raise ChildProcessError(ended_by_itself(process, process.wait()))


def ended_by_itself(process, status):
    return f'{" ".join(map(str, process.args))} ended by itself, with status {status}: run it alone to see why'


def stop(process, began):
    if process.poll() is not None:
        raise ChildProcessError(ended_by_itself(process, process.returncode))
    process.send_signal(signal.SIGINT)
    return turns.finish(process, began)


@contextlib.contextmanager
def recording(recorder, frequency, directory, cpu=None):
    """The block runs while it records; with None as recorder, as long after as with one."""
    if recorder:
        process, began = start(recorder, frequency, directory, cpu)
    time.sleep(READY)
    yield process if recorder else None
    if recorder:
        stop(process, began)
        remove_outputs(directory)


def slower(work, contestants, frequency, rounds, directory, cpu=None):
    """How much longer work takes while somebody records, in turns, each beside the runs alone before and after it.

    contestants: {name: recorder or None}; work: function → tuple of numbers, the less the better.
    Returns {name: [tuple of (number while recorded, number alone)]}."""
    found = {name: [] for name in contestants}
    before = work()
    for _ in range(rounds):
        for name, recorder in contestants.items():
            with recording(recorder, frequency, directory, cpu):
                recorded = work()
            after = work()
            found[name].append([(here, statistics.mean(alone)) for here, *alone in zip(recorded, before, after)])
            before = after
    return found
