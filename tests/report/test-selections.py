#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares every view of samples, with all pairs of options that select or shape, on random captures: the
JSON of sysprof-report must equal counts sample by sample. Samples are those that tests/data/decoder.py
finds; function addresses are made up by this file. SELECTIONS=n runs more of them, SEED=n others."""
import collections
import fnmatch
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
import decoder  # noqa: E402
from captures import KERNEL, USER, Capture, symbol_table  # noqa: E402

REPORT = os.path.abspath(sys.argv.pop(1))
SELECTIONS = int(os.environ.get('SELECTIONS', 110))
SEED = int(os.environ.get('SEED', 20261122))

BEGIN = 5_000_000_000
STEP = 1_000_000
Function = collections.namedtuple('Function', 'symbol binary kind')
Sample = collections.namedtuple('Sample', 'time pid tid cpu stack')  # stack: outermost first

# Base addresses, as a process with pid 0 has them; others have theirs elsewhere.
FILES = {'prog': (0x1000000, '/usr/bin/prog'), 'libc.so.6': (0x2000000, '/usr/lib/x86_64-linux-gnu/libc.so.6'),
         'libown.so.1': (0x3000000, '/opt/libown.so.1'), 'libcairo.so.2': (0x4000000, '/lib/libcairo.so.2')}
SHIFT = 0x10000000
NAMES = {'prog': ('_start', 'main', 'alpha', 'read', 'work'), 'libc.so.6': ('malloc', 'read', 'qsort', 'memcpy'),
         'libown.so.1': ('own_alloc', 'run', 'main'), 'libcairo.so.2': ('paint', 'cairo_read')}
KERNEL_NAMES = ('entry_SYSCALL_64', 'vfs_read', 'schedule', 'read')
KERNEL_BASE = 0xFFFFFFFF81000000
COMMANDS = {10: '/usr/bin/prog --a', 11: '/usr/bin/prog --b', 20: '/opt/tool x', 30: '/usr/bin/prog-helper', 3: 'kworker/0:1', 0: 'swapper/0'}
GROUPS = {10: '/user.slice/a.scope', 20: '/system.slice/tool.service', 3: '/'}
PARENTS = {11: 10, 30: 20}


def comm_of(pid):
    return COMMANDS[pid] if pid in (0, 3) else COMMANDS[pid].split(' ')[0].rsplit('/', 1)[1]


def user_address(pid, binary, name):
    return FILES[binary][0] + pid * SHIFT + 0x1000 + 0x100 * NAMES[binary].index(name)


def counts_for(mark, sample):
    """Marks of the scheduler count for a CPU, others for their process, or for all."""
    if mark['group'] == 'Scheduler':
        return mark['cpu'] == sample.cpu
    return mark['pid'] in (-1, sample.pid)


def make(path, seed):
    r = random.Random(seed)
    c = Capture(time=BEGIN, end_time=BEGIN + 400 * STEP)
    functions = {}  # (pid, begin of it) -> Function
    for pid, command in COMMANDS.items():
        c.process(command, pid=pid, time=BEGIN - 2)
        if pid not in (0, 3):
            for binary, (base, file) in FILES.items():
                c.map(base + pid * SHIFT, base + pid * SHIFT + 0x100000, file, pid=pid, time=BEGIN - 1)
                for name in NAMES[binary]:
                    functions[pid, user_address(pid, binary, name)] = Function(name, binary, 'user')
    for child, parent in PARENTS.items():
        c.fork(child, pid=parent, time=BEGIN - 1)
    for pid, group in GROUPS.items():
        c.file(f'/proc/{pid}/cgroup', f'0::{group}\n'.encode(), time=BEGIN)
    kernel = {name: KERNEL_BASE + 0x100 * (i + 1) for i, name in enumerate(KERNEL_NAMES)}
    functions |= {(None, at): Function(name, '[kernel]', 'kernel') for name, at in kernel.items()}
    c.file('/proc/kallsyms', ''.join(f'{at:x} T {name}\n' for name, at in kernel.items()).encode(), time=BEGIN)
    for begin, end, name in (30, 60, 'paint'), (50, 90, 'layout'), (200, 201, 'paint'), (250, 250, 'paint'), (300, 360, 'layout'):
        c.mark('ui', name, duration=(end - begin) * STEP, time=BEGIN + begin * STEP, pid=r.choice((10, 20)))
    for cpu in range(3):
        c.mark('Scheduler', f'CPU {cpu}', duration=r.randrange(20, 200) * STEP, time=BEGIN + r.randrange(200) * STEP, pid=20, cpu=cpu)
    c.mark('ui', 'idle', duration=90 * STEP, time=BEGIN + 50 * STEP, pid=-1, cpu=1)
    c.chunked_file('__symbols__', symbol_table(sorted(((at, at + 0x100, pid, f.symbol, f.binary) for (pid, at), f in functions.items()
                                                       if pid is not None), key=lambda row: (row[2], row[0]))), time=BEGIN)
    for i in range(400):
        pid = r.choice((10, 10, 11, 20, 30, 3, 0))
        chain = []
        if pid in (0, 3) or r.random() < 0.3:
            chain += [KERNEL] + [r.choice(list(kernel.values())) + r.choice((4, 8)) for _ in range(r.randrange(1, 4))]
        if pid not in (0, 3):
            chain.append(USER)
            last = None
            for _ in range(r.randrange(1, 7)):
                binary = r.choice(list(NAMES))
                last = last if last and r.random() < 0.3 else user_address(pid, binary, r.choice(NAMES[binary]))
                chain.append(last + r.choice((4, 0x20)))
        if r.random() < 0.03:
            chain = []
        tid = pid if pid in (0, 3) else pid * 100 + r.randrange(2) if r.random() < 0.5 else pid
        c.sample(chain, tid, pid=pid, time=BEGIN + i * STEP + r.randrange(STEP), cpu=r.randrange(4))
    c.save(path)
    return functions


class Truth:
    """The contents of the file, and the expected results, each counted in the simplest way."""

    def __init__(self, path, functions):
        capture = decoder.Capture.open(path)
        self.marks = capture.of('mark')
        self.samples = []
        self.known = set()
        for frame in capture.of('sample'):
            stack, context = [], None
            for address in frame['addrs']:
                if address in (KERNEL, USER):
                    context = address
                    continue
                stack.append(functions[None if context == KERNEL else frame['pid'], address & ~0xff])
            self.samples.append(Sample(frame['time'], frame['pid'], frame['tid'], frame['cpu'], stack[::-1]))
            self.known.update(stack)
        assert len(self.samples) == 400

    # --- selection ---

    def takes(self, options, sample):
        def any_of(key, test):
            return key not in options or any(test(value) for value in options[key])

        def bears(name, pid):
            return fnmatch.fnmatchcase(comm_of(pid), name)

        def terms(key, text_of):
            wanted = [t for t in options.get(key, ()) if t[0] != '!']
            banned = [t[1:] for t in options.get(key, ()) if t[0] == '!']
            found = lambda term: any(term.lower() in text_of(f, term).lower() for f in sample.stack)
            return (not wanted or any(map(found, wanted))) and not any(map(found, banned))

        def path_or_name(function, term):
            return FILES[function.binary][1] if '/' in term and function.binary in FILES else function.binary

        def group_of(pid):
            return GROUPS.get(pid) or (group_of(PARENTS[pid]) if pid in PARENTS else '')

        def within(span):
            begin, end = (int(t[:-2]) * STEP if t else None for t in span.split('..'))
            return (begin or 0) <= sample.time - BEGIN and (end is None or sample.time - BEGIN < end)

        def in_mark(text):
            group, name = text.split('/')
            return any(fnmatch.fnmatchcase(m['group'], group) and fnmatch.fnmatchcase(m['name'], name) and
                       m['time'] <= sample.time < m['time'] + max(m['duration'], 1) and counts_for(m, sample) for m in self.marks)

        if sample.pid == 0 and 'idle' not in options and 'process' not in options:
            return False
        return (any_of('process', lambda name: sample.pid == int(name) if name.isdigit() else bears(name, sample.pid)) and
                any_of('thread', lambda name: sample.tid == int(name) if name.isdigit() else
                       any(sample.tid == pid and bears(name, pid) for pid in COMMANDS)) and
                any_of('cpu', lambda text: str(sample.cpu) in text.replace('1-2', '1,2').split(',')) and
                any_of('cgroup', lambda glob: group_of(sample.pid) != '' and fnmatch.fnmatchcase(group_of(sample.pid), glob)) and
                any_of('time', within) and any_of('mark', in_mark) and
                terms('symbol', lambda f, _: f.symbol) and terms('binary', path_or_name))

    # --- shape ---

    def collapsed(self, options, function):
        return any(fnmatch.fnmatchcase(function.binary, p) or function.binary.startswith(p + '.so') for p in options.get('collapse', ()))

    def focused(self, options, function):
        if 'focus' not in options:
            return False
        focus = options['focus'][0]
        exactly = [f for f in self.known if f.symbol == focus]
        matches = exactly or [f for f in self.known if focus.lower() in f.symbol.lower()]
        if self.collapsed(options, function):
            return any(f.binary == function.binary and f.symbol not in options.get('merge-function', ()) for f in matches)
        return function in matches

    def visible(self, options, stack, fold=False):
        """(label, is in focus) of what shows, outermost first."""
        shown = []
        for function in stack:
            path = FILES[function.binary][1] if function.binary in FILES else ''
            if 'no-kernel' in options and function.kind == 'kernel':
                continue
            if 'hide-system' in options and path.startswith(('/usr/lib', '/lib')) and '.so' in path:
                continue
            if function.symbol in options.get('merge-function', ()):
                continue
            collapsed = self.collapsed(options, function)
            label = Function(f'[{function.binary}]', function.binary, function.kind) if collapsed else function
            if shown and shown[-1][0] == label and (collapsed or (fold and 'fold-recursion' in options)):
                continue
            shown.append((label, self.focused(options, function)))
        return shown

    def paths(self, options):
        """(path from below the root, sample) of the samples that a tree holds."""
        for sample in self.samples:
            if not self.takes(options, sample):
                continue
            shown = self.visible(options, sample.stack, fold=False)
            if 'focus' in options:
                places = [i for i, (_, focused) in enumerate(shown) if focused]
                if not places:
                    continue
                shown = shown[:places[-1] + 1] if 'bottom-up' in options else shown[places[0]:]
            labels = [label for label, _ in shown]
            if 'fold-recursion' in options:
                labels = [label for i, label in enumerate(labels) if i == 0 or label != labels[i - 1]]
            if 'bottom-up' in options:
                labels.reverse()
            if 'focus' not in options:
                if 'threads' in options:
                    labels.insert(0, Function(f'Thread {sample.tid}', '', 'thread'))
                process = comm_of(sample.pid)
                labels.insert(0, (process if 'merge-processes' in options else (process, sample.pid)))
            yield tuple(labels), sample

    def tree(self, options, is_flame):
        rows = collections.defaultdict(lambda: [0, 0])
        for path, _ in self.paths(options):
            for i in range(len(path) + 1):
                rows[path[:i]][1] += 1
            rows[path][0] += 1
        least, depth = float(options.get('min', ['0'])[0]), int(options.get('depth', ['0'])[0])
        total = self.total(options)
        above = lambda n: not least or (total and n * 100 >= least * total)
        children = collections.defaultdict(list)
        for path in rows:
            if path and (not depth or len(path) <= depth) and above(rows[path][1]):
                children[path[:-1]].append(path)

        has_self = is_flame or 'bottom-up' not in options

        def nested(path):
            label = path[-1] if path else Function('All Processes', '', 'root')
            if not isinstance(label, Function):
                label = Function(label[0] if isinstance(label, tuple) else label, '', 'process')
            return (*label, rows[path][0] if has_self else None, rows[path][1], tuple(sorted(nested(child) for child in children[path])))
        return [nested(())] if above(rows[()][1]) else []

    def total(self, options):
        return sum(self.takes(options, sample) for sample in self.samples)

    def table(self, options, row_of):
        rows = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples:
            if not self.takes(options, sample):
                continue
            shown = self.visible(options, sample.stack)
            found = [row_of(shown, i) for i in range(len(shown))]
            for row in {row for row in found if row}:
                rows[row][1] += 1
            if found and found[-1]:
                rows[found[-1]][0] += 1
        return {row: tuple(sums) for row, sums in rows.items()}

    def functions(self, options):
        return self.table(options, lambda shown, i: shown[i][0])

    def callers(self, options):
        return self.table(options, lambda shown, i: shown[i - 1][0] if i and shown[i][1] else None)

    def callees(self, options):
        return self.table(options, lambda shown, i: shown[i][0] if i and shown[i - 1][1] else None)

    def count(self, options, key):
        return dict(collections.Counter(key(s) for s in self.samples if self.takes(options, s)))

    def folded(self, options):
        lines = collections.Counter()
        options = {k: v for k, v in options.items() if k != 'bottom-up'} | {'merge-processes': []}
        for path, _ in self.paths(options):
            names = [part.symbol if isinstance(part, Function) else part.replace(' ', '_') for part in path]
            if names[-1].startswith('Thread '):  # a number behind a blank would be read as the count
                names[-1] = names[-1].replace(' ', '_')
            lines[';'.join(names)] += 1
        return lines


FILTERS = {
    'time': (['20ms..300ms'], ['..150ms'], ['100ms..'], ['10ms..50ms', '40ms..200ms', '350ms..']),
    'process': (['prog'], ['10', '20'], ['prog*'], ['0', 'kworker*'], ['11', 'nobody']),
    'thread': (['10', '1001', '2000'], ['prog', '3'], ['2001', '1100', '11', '20', '3000']),
    'cpu': (['0'], ['1-2'], ['0,3', '1-2']),
    'cgroup': (['/user.slice/*'], ['/*'], ['/system.slice/tool.service', '/']),
    'mark': (['ui/paint'], ['u*/*'], ['ui/layout', 'ui/nothing'], ['Scheduler/CPU*'], ['ui/idle', 'Scheduler/CPU 1'], ['ui/idle']),
    'symbol': (['READ'], ['!malloc'], ['main', 'alpha', '!qsort'], ['!nowhere']),
    'binary': (['libc'], ['!own'], ['/usr/', '[kernel]'], ['prog', '!libcairo']),
    'idle': ([],),
}
SHAPES = {name: ([],) for name in ('no-kernel', 'bottom-up', 'left-heavy', 'fold-recursion', 'threads', 'hide-system', 'merge-processes')}
SHAPES |= {'collapse': (['libc'], ['lib*'], ['prog', 'libown.so.1']), 'merge-function': (['malloc'], ['main', 'read']), 'focus': (['read'], ['MAIN'], ['alloc'], ['vfs_read']),
           'depth': (['2'], ['4']), 'min': (['1'], ['20']), 'no-inlines': ([],)}
OPTIONS = FILTERS | SHAPES
VIEWS = ('tree', 'flame', 'functions', 'callers', 'callees', 'samples', 'processes', 'threads', 'cpus', 'heat', 'cgroups', 'folded')


def options_of(view):
    """Those that the view has; folded stacks are trees."""
    text = subprocess.run([REPORT, 'tree' if view == 'folded' else view, '--help'], stdout=subprocess.PIPE, check=True).stdout.decode()
    return OPTIONS.keys() & set(re.findall(r'(?m)^  --([a-z-]+)', text))


def choose(r):
    """Each pair of options of a view is in at least one selection, the rest is random; (view, options) each."""
    own = {view: options_of(view) for view in VIEWS}
    left = {frozenset(pair) for options in own.values() for pair in itertools.combinations(options, 2)}
    for i in range(SELECTIONS):
        view = VIEWS[i % len(VIEWS)]
        chosen = {name for name in FILTERS if r.random() < 0.15} | {name for name in SHAPES if r.random() < 0.35}
        for pair in sorted((pair for pair in left if pair <= own[view]), key=sorted)[:4]:
            chosen |= pair
        chosen &= own[view]
        left -= {frozenset(pair) for pair in itertools.combinations(chosen, 2)}
        if view in ('callers', 'callees'):
            chosen.add('focus')
        yield view, {name: r.choice(OPTIONS[name]) for name in sorted(chosen)}
    assert not left, 'more selections are needed for all pairs'


def words_of(options):
    for name, values in options.items():
        yield from itertools.chain.from_iterable((f'--{name}', value) for value in values) if values else (f'--{name}',)


def nested(row):
    return (row['symbol'], row['binary'], row['kind'], row.get('self'), row['total'], tuple(sorted(map(nested, row['children']))))


class Selections(unittest.TestCase):
    def ask(self, path, view, options):
        words = ['functions' if view == 'folded' else view, *words_of(options), '--format', 'folded' if view == 'folded' else 'json', path]
        done = subprocess.run([REPORT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b''), words)
        return done.stdout.decode() if view == 'folded' else json.loads(done.stdout)

    def check_order(self, rows, heaviest_first):
        for row in rows:
            keys = [-child['total'] if heaviest_first else
                    int(child['symbol'].split()[1]) if child['kind'] == 'thread' else child['symbol'] for child in row['children']]
            self.assertEqual(keys, sorted(keys))
            self.check_order(row['children'], heaviest_first)

    def check(self, truth, path, view, options):
        answer = self.ask(path, view, options)
        if view == 'folded':
            lines = dict(line.rsplit(' ', 1) for line in answer.splitlines())
            self.assertEqual({stack: int(n) for stack, n in lines.items()}, truth.folded(options))
            return len(lines)
        rows = answer['rows']
        self.assertEqual(answer['weight'], {'name': 'samples', 'unit': 'count', 'total': truth.total(options)})
        if view in ('tree', 'flame'):
            # A flame graph is drawn whole.
            self.assertEqual([nested(row) for row in rows],
                             truth.tree({k: v for k, v in options.items() if view == 'tree' or k != 'min'}, view == 'flame'))
            if view == 'tree' or 'left-heavy' in options or 'collapse' not in options:  # a binary is at the place of its first function
                self.check_order(rows, view == 'tree' or 'left-heavy' in options)
        elif view in ('functions', 'callers', 'callees'):
            wanted = getattr(truth, view)(options)
            least = float(options.get('min', ['0'])[0])
            has_self, order = view != 'callers', 'total' if view == 'callers' else 'self'
            self.assertEqual({Function(r['symbol'], r['binary'], r['kind']): (r['self'] if has_self else None, r['total']) for r in rows},
                             {f: (w[0] if has_self else None, w[1]) for f, w in wanted.items() if w[1] * 100 >= least * truth.total(options)})
            self.assertEqual([r[order] for r in rows], sorted((r[order] for r in rows), reverse=True))
        elif view == 'samples':
            wanted = [(s.time - BEGIN, s.pid, s.tid, s.cpu, [label for label, _ in self.folded_stack(truth, options, s)])
                      for s in truth.samples if truth.takes(options, s)]
            self.assertEqual([(r['time'], r['pid'], r['tid'], r['cpu'],
                               [Function(e['symbol'], e['binary'], e['kind']) for e in r['stack'] if e['kind'] != 'marker'])
                              for r in rows], wanted)
        else:
            keys = {'threads': (lambda s: (s.pid, s.tid), lambda r: (r['pid'], r['tid'])),
                    'cpus': (lambda s: s.cpu, lambda r: r['cpu']), 'heat': (lambda s: (s.time - BEGIN) // 10**9, lambda r: r['time'] // 10**9),
                    'cgroups': (lambda s: GROUPS.get(s.pid) or GROUPS.get(PARENTS.get(s.pid)) or 'unknown', lambda r: r['cgroup']),
                    'processes': ((lambda s: comm_of(s.pid), lambda r: comm_of(r['pid'])) if 'merge-processes' in options else
                                  (lambda s: s.pid, lambda r: r['pid']))}[view]
            least = float(options.get('min', ['0'])[0]) if view != 'heat' else 0
            wanted = {k: n for k, n in truth.count(options, keys[0]).items() if k is not None and n * 100 >= least * truth.total(options)}
            found = [(keys[1](r), r['total']) for r in rows if r['total']]
            self.assertEqual(dict(found), wanted)
            self.assertEqual(len(found), len(wanted))
        return len(rows)

    def folded_stack(self, truth, options, sample):
        return truth.visible(options, sample.stack, fold=True)[::-1]

    def test_views_give_what_counting_gives(self):
        r = random.Random(SEED)
        n_answered = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'random.syscap')
            truth = Truth(path, make(path, SEED))
            for view, options in choose(r):
                with self.subTest(seed=SEED, words=' '.join([view, *words_of(options)])):
                    n_answered += self.check(truth, path, view, options) > 1
        self.assertGreater(n_answered, SELECTIONS // 3)


if __name__ == '__main__':
    unittest.main()
