# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles made by hand, and the answers to them counted from the stacks alone."""
import random


class Profile:
    """Stacks root first, as [(name, kind, binary), …] with a weight."""

    def __init__(self):
        self.stacks = []
        self.places = {}  # function: (file, line)

    def add(self, names, weight, pid=0, binary='app'):
        """`pid` tells processes of one name apart."""
        frames = []
        for name in names:
            kind = {'_[k]': 'kernel', '_[w]': 'wait'}.get(name[-4:], 'user')
            frames.append((name if kind == 'user' else name[:-4], kind, binary if kind == 'user' else '[kernel]'))
        frames[0] = (frames[0][0], 'process', '', pid)
        self.stacks.append((frames, weight))
        return self

    def total(self):
        return sum(weight for _, weight in self.stacks)

    def share_matching(self, predicate):
        """Of stacks in which any function matches: nested ones count once."""
        hits = sum(weight for frames, weight in self.stacks if any(predicate(f[0]) for f in frames))
        return 100 * hits / self.total()

    def rows(self):
        """Returns the input of draw-flame: merged, children sorted by name."""
        root = {'total': 0, 'children': {}}
        for frames, weight in self.stacks:
            at = root
            at['total'] += weight
            for frame in frames:
                at = at['children'].setdefault(frame, {'total': 0, 'children': {}})
                at['total'] += weight
        lines = [f'0\t{root["total"]}\troot\t\tAll Processes']
        todo = [(1, frame, node) for frame, node in sorted(root['children'].items(), reverse=True)]
        while todo:
            depth, (name, kind, binary, *_), node = todo.pop()
            place = ''.join(f'\t{part}' for part in self.places.get(name, ()))
            lines.append(f'{depth}\t{node["total"]}\t{kind}\t{binary}\t{escape(name)}{place}')
            todo += [(depth + 1, f, n) for f, n in sorted(node['children'].items(), reverse=True)]
        return ('\n'.join(lines) + '\n').encode()


def escape(name):
    raw = name if isinstance(name, bytes) else name.encode('utf-8', 'surrogateescape')
    return ''.join(chr(b) if 32 <= b < 127 and b != 92 else f'\\x{b:02x}' for b in raw)


def small():
    """1,000 samples; alpha 40 %, beta (twice nested) 30 %, Beta 10 %, kernel 20 %."""
    return (Profile()
            .add(['app', 'main', 'alpha'], 400)
            .add(['app', 'main', 'beta'], 100)
            .add(['app', 'main', 'beta', 'helper', 'beta'], 200)
            .add(['app', 'main', 'Beta'], 100)
            .add(['sh', 'main', 'read', 'do_syscall_64_[k]', 'vfs_read_[k]'], 200))


def hostile():
    return (Profile()
            .add(['app', '<>&"\'\\;#', 'newline\nin it', 'operator<< <char, std::x>(a&, b&&)'], 300)
            .add(['app', '</script><script>alert(1)</script>', ']]>', '<!--'], 200)
            .add(['app', 'L' * 100000], 100)
            .add(['app', 'not utf-8 \udcff\udcfe', 'bell \a esc \x1b[31m', 'sep \u2028 \u2029 \x85'], 250)
            .add(['app', '日本語の関数', 'ünïcödé', '😀' * 40], 150)
            .add(['deep'] + [f'level{i}' for i in range(1000)], 50))


def large(n=40000, seed=7):
    """Many functions, most of them too narrow for any screen."""
    dice = random.Random(seed)
    profile = Profile()
    for i in range(n):
        depth = dice.randint(2, 40)
        path = ['proc%d' % dice.randint(0, 30)]
        for level in range(depth):
            path.append('%s_%d_%d' % (dice.choice(['draw', 'parse', 'alloc', 'lock', 'read']), level,
                                      int(dice.paretovariate(0.7)) % 50))
        if dice.random() < 0.3:
            path += ['entry_SYSCALL_64_[k]', 'do_syscall_64_[k]', 'vfs_read_[k]']
        profile.add(path, 1 + int(dice.paretovariate(1.1)) % 1000)
    return profile
