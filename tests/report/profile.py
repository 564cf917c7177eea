# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture made by hand together with the answers that follow from it, counted from plain lists."""
import collections
import gzip
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
from captures import KERNEL, USER, Capture, symbol_table  # noqa: E402

BEGIN = 5_000_000_000
KERNEL_BASE = 0xFFFFFFFF81000000
USER_BASE = 0x400000
ENTRIES = {'_start', 'ret_from_fork'}

Frame = collections.namedtuple('Frame', 'symbol binary kind')
Sample = collections.namedtuple('Sample', 'time pid tid cpu stack')  # stack: innermost first


class Profile:
    def __init__(self):
        self.samples, self.processes, self.user, self.kernel = [], {}, {}, {}
        self.marks, self.files, self.parents = [], [], {}

    def process(self, pid, command):
        self.processes[pid] = command
        return self

    def mark(self, group, name, begin, end):
        """From the `begin`th sample until before the `end`th."""
        self.marks.append((group, name, BEGIN + 1_000_000 * (begin + 1), 1_000_000 * (end - begin)))
        return self

    def cgroup(self, pid, text):
        self.files.append((f'/proc/{pid}/cgroup', text.encode()))
        return self

    def frame(self, name):
        is_kernel = name.endswith('_[k]')
        name = name.removesuffix('_[k]')
        table = self.kernel if is_kernel else self.user
        base, step = (KERNEL_BASE, 0x1000) if is_kernel else (USER_BASE, 0x1000)
        table.setdefault(name, base + step * (len(table) + 1))
        return Frame(name, '[kernel]' if is_kernel else 'prog', 'kernel' if is_kernel else 'user')

    def add(self, n, pid, tid, *names):
        """`names`: outermost first."""
        stack = tuple(self.frame(name) for name in reversed(names))
        for _ in range(n):
            self.samples.append(Sample(BEGIN + 1_000_000 * (len(self.samples) + 1), pid, tid,
                                       len(self.samples) % 2, stack))
        return self

    def addresses(self, stack):
        """As the sampler writes them: context markers, return addresses behind the call."""
        chain, context = [], None
        for i, frame in enumerate(stack):
            if frame.kind != context:
                context = frame.kind
                chain.append(KERNEL if context == 'kernel' else USER)
            table = self.kernel if frame.kind == 'kernel' else self.user
            chain.append(table[frame.symbol] + 0x20)
        return chain

    def symbols(self):
        """The packed table of the format, § 10."""
        return symbol_table([(address, address + 0x1000, pid, name, 'prog') for pid in sorted(self.processes)
                             for name, address in sorted(self.user.items(), key=lambda item: item[1])])

    def write(self, path):
        capture = Capture(time=BEGIN, end_time=0)
        for pid, command in self.processes.items():
            capture.process(command, pid=pid, time=BEGIN - 1)
            if not command.startswith('kworker'):  # kernel threads have no maps
                capture.map(USER_BASE, USER_BASE + 0x10000000, '/usr/bin/prog', 0, 1, pid=pid,
                            time=BEGIN - 1)
        capture.metadata('hostname', 'box', time=BEGIN).metadata('n-cpu', '2', time=BEGIN)
        capture.file('/etc/os-release', b'PRETTY_NAME="Some OS"\n', time=BEGIN)
        kallsyms = ''.join(f'{address:x} T {name}\n' for name, address in self.kernel.items())
        capture.file('/proc/kallsyms.gz', gzip.compress(kallsyms.encode()), time=BEGIN)
        for child, parent in self.parents.items():
            capture.fork(child, pid=parent, time=BEGIN - 1)
        for name, content in self.files:
            capture.file(name, content, time=BEGIN)
        for group, name, begin, duration in self.marks:
            capture.mark(group, name, duration=duration, time=begin, pid=10)
        for sample in self.samples:
            capture.sample(self.addresses(sample.stack), sample.tid, pid=sample.pid, time=sample.time, cpu=sample.cpu)
        capture.chunked_file('__symbols__', self.symbols(), time=BEGIN)
        capture.save(path)
        return self

    # --- answers ---

    def functions(self, samples=None):
        rows = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples if samples is None else samples:
            if sample.stack:
                rows[sample.stack[0]][0] += 1
            for frame in set(sample.stack):
                rows[frame][1] += 1
        return {frame: tuple(weights) for frame, weights in rows.items()}

    def comm(self, pid):
        if self.processes[pid].startswith('kworker'):
            return self.processes[pid]
        return pathlib.PurePath(self.processes[pid].split(' ')[0]).name[:15]

    def tree(self):
        """{path: (self, total)} with paths from the root: process, then frames."""
        rows = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples:
            path = (sample.pid,)
            rows[()][1] += 1
            rows[path][1] += 1
            for frame in reversed(sample.stack):
                path += (frame,)
                rows[path][1] += 1
            rows[path][0] += 1
        return {path: tuple(weights) for path, weights in rows.items()}

    def folded(self):
        lines = collections.Counter()
        for sample in self.samples:
            lines[';'.join([self.comm(sample.pid).replace(' ', '_')] +
                           [frame.symbol for frame in reversed(sample.stack)])] += 1
        return lines

    def whole(self):
        return sum(1 for s in self.samples if s.stack and s.stack[-1].symbol in ENTRIES)


def usual():
    return (Profile()
            .process(10, '/usr/bin/prog --fast x').process(11, '/usr/bin/prog --slow').process(3, 'kworker/0:1')
            .process(99, '/bin/idle')
            .add(400, 10, 10, '_start', 'main', 'alpha')
            .add(100, 10, 12, '_start', 'main', 'beta')
            .add(30, 10, 12, '_start', 'main', 'beta', 'alpha', 'beta')
            .add(200, 11, 11, '_start', 'main', 'beta', 'entry_SYSCALL_64_[k]', 'do_syscall_64_[k]', 'vfs_read_[k]')
            .add(50, 11, 11, 'helper', 'alpha')
            .add(20, 3, 3, 'ret_from_fork_[k]', 'kthread_[k]')
            .add(10, 10, 10, 'entry_SYSCALL_64_[k]', 'do_execve_[k]'))
