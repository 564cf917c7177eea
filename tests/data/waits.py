# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the embedded file `__waits__` from the table of docs/format.md, and makes captures of threads that wait from a seed.

Shares no code with the recorder or the reader.
"""
import random
import sys

import captures

PAGE_FAULT, CHILD, SLEEP, FUTEX, IO, SYSCALL, OTHER, PREEMPTED = range(1, 9)
GOES_ON, HAS_LOCK, BY_INTERRUPT, UNINTERRUPTIBLE, WAS_BEFORE = 1, 2, 4, 8, 16
MAGIC = b'waits\0\1\0'


def unsigned(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def signed(value):
    return unsigned(value * 2 if value >= 0 else -value * 2 - 1)


class Stream:
    def __init__(self):
        self.data, self.last = bytearray(MAGIC), 0
        self.threads, self.stacks = {}, {}

    def add(self, kind, *parts):
        self.data += bytes([kind]) + b''.join(parts)
        return self

    def thread(self, tid, pid, comm):
        """Returns the number of its entry; adds an entry if it differs from the last one of that tid."""
        number, known = self.threads.get(tid, (None, None))
        if known != (pid, comm):
            number = self.n_threads = getattr(self, 'n_threads', -1) + 1
            name = captures.text(comm)
            self.add(1, unsigned(tid), unsigned(pid), unsigned(len(name)), name)
            self.threads[tid] = number, (pid, comm)
        return number

    def stack(self, addresses):
        """Its number + 1; 0 for None."""
        if addresses is None:
            return 0
        addresses = tuple(addresses)
        if addresses not in self.stacks:
            last, words = 0, b''
            for address in addresses:
                # as a number of 64 bits with a sign
                difference = (address - last + 2**63) % 2**64 - 2**63
                words, last = words + signed(difference), address
            self.add(2, unsigned(len(addresses)), b'\3\0', words)
            self.stacks[addresses] = len(self.stacks) + 1
        return self.stacks[addresses]

    def wait(self, begin, duration, thread, reason, runnable=0, syscall=None, flags=0, stack=None, waker=None, waker_stack=None,
             lock=None, holder=0, cpu=0):
        """`thread`, `waker`: (tid, pid, comm)."""
        number = self.thread(*thread)
        by = self.thread(*waker) + 1 if waker else 0
        own, its = self.stack(stack), self.stack(waker_stack)
        parts = [signed(begin - self.last), unsigned(duration), unsigned(runnable), unsigned(number), bytes([reason]),
                 unsigned(0 if syscall is None else syscall + 1), bytes([flags | (HAS_LOCK if lock is not None else 0)]),
                 unsigned(own), unsigned(by), unsigned(its)]
        if lock is not None:
            parts += [unsigned(lock), unsigned(holder)]
        self.last = begin
        return self.add(3, *parts, signed(cpu))

    def sampled(self, n):
        return self.add(4, unsigned(n))

    def lost(self, n, time):
        return self.add(5, unsigned(n), signed(time))

    def run(self, thread, nsec):
        number = self.thread(*thread)
        return self.add(6, unsigned(number), unsigned(nsec))


def embed(capture, stream, size=3000, time=None):
    """In chunks; whoever wants other frames between them does so before."""
    data = bytes(stream.data)
    for at in range(0, len(data), size):
        capture.file('__waits__', data[at:at + size], at + size >= len(data), **({} if time is None else {'time': time}))
    return capture


# --- a capture from a seed ---

BEGIN, END = 1_000_000_000, 3_000_000_000
THREADS = [(10, 10, 'main'), (11, 10, 'worker'), (20, 20, 'server'), (21, 20, 'pool'), (30, 30, 'loop')]
COMMANDS = {10: 'prog', 20: 'daemon', 30: 'desktop'}
FUNCTIONS = ['start', 'work', 'read_file', 'lock', 'poll', 'g_main_context_dispatch', 'wake', 'notify', 'unlock']
SYSCALLS = {0: 'read', 7: 'poll', 232: 'epoll_wait', 74: 'fsync', 999: '999'}
NAME_OF_REASON = {PAGE_FAULT: 'page-fault', CHILD: 'child', SLEEP: 'sleep', FUTEX: 'futex', IO: 'io', OTHER: 'other',
                  PREEMPTED: 'preempted'}


def address(name):
    return captures.JIT + 1 + FUNCTIONS.index(name)


def stack_of(names):
    return [captures.USER] + [address(name) for name in names]


def make(seed, big=False, period=1_000_000, sampled=1):
    """The capture and what it says: (waits, runs, samples), each a list of dicts."""
    r = random.Random(seed)
    c = captures.Capture(time=BEGIN, end_time=END, big=big)
    c.metadata('uname.machine', 'x86_64', time=BEGIN)
    c.jitmap([(address(name), name) for name in FUNCTIONS], time=BEGIN)
    for pid, command in COMMANDS.items():
        c.process(f'/usr/bin/{command}', pid=pid, time=BEGIN)
    waits, runs, samples, stream = [], [], [], Stream()
    for thread in THREADS:
        at, ran = BEGIN + (-5_000_000 if r.random() < 0.5 else 0), 0
        while at < END:
            wait = random_wait(r, thread, at, ran == 0 and at < BEGIN)
            waits.append(wait)
            at = wait['begin'] + wait['duration']
            length = min(r.randrange(1, 40_000_000), END - at)
            ran += max(length, 0)
            for time in range(at, at + length, period):
                samples.append(dict(time=time, thread=thread, cpu=r.randrange(4), stack=random_stack(r)))
            at += length
        runs.append(dict(thread=thread, run=ran))
    samples.sort(key=lambda sample: sample['time'])
    waits.sort(key=lambda wait: wait['begin'] + wait['duration'])  # as a recorder learns of them
    for i, wait in enumerate(waits):
        wait['weight'] = sampled if wait['duration'] < 20_000_000 else 1
        if wait['weight'] != (waits[i - 1]['weight'] if i > 0 else 1):
            stream.sampled(wait['weight'])
        stream.wait(wait['begin'], wait['duration'], wait['thread'], wait['reason'], wait['runnable'], wait['syscall'], wait['flags'],
                    stack_of(wait['stack']), wait['waker'], wait['waker'] and stack_of(wait['waker_stack']), wait['lock'],
                    wait['holder'], wait['cpu'])
        if i == 5:
            stream.lost(3, wait['begin'])
    for run in runs:
        stream.run(run['thread'], run['run'])
    c.file('__events__', f'0 ns {period} cpu-clock\n'.encode(), time=BEGIN)
    data = bytes(stream.data)
    pieces = [data[at:at + 500] for at in range(0, len(data), 500)]
    for i, sample in enumerate(samples):
        c.sample(stack_of(sample['stack']), sample['thread'][0], pid=sample['thread'][1], time=sample['time'], cpu=sample['cpu'])
        if i % 20 == 0 and pieces:
            c.file('__waits__', pieces.pop(0), not pieces, time=sample['time'])
    while pieces:
        c.file('__waits__', pieces.pop(0), not pieces, time=END)
    return c, waits, runs, samples


def random_stack(r):
    return [r.choice(FUNCTIONS) for _ in range(r.randrange(1, 4))] + ['start']


def random_wait(r, thread, at, before):
    reason = r.choice([PAGE_FAULT, CHILD, SLEEP, FUTEX, FUTEX, IO, SYSCALL, SYSCALL, SYSCALL, OTHER, PREEMPTED])
    duration = min(r.randrange(0, 80_000_000), END - at)
    wait = dict(begin=at, duration=duration, thread=thread, reason=reason, syscall=None, flags=WAS_BEFORE if before else 0,
                runnable=duration if reason == PREEMPTED else r.choice((0, r.randrange(0, duration + 1))),
                stack=random_stack(r), waker=None, waker_stack=None, lock=None, holder=0, cpu=r.randrange(4))
    if reason == SYSCALL:
        wait['syscall'] = r.choice(list(SYSCALLS))
    elif reason in (FUTEX, SLEEP):
        wait['syscall'] = 202
    if reason != PREEMPTED:
        kind = r.randrange(3)
        if kind == 0:
            wait['flags'] |= BY_INTERRUPT
        elif kind == 1:
            wait['waker'] = r.choice([other for other in THREADS if other != thread])
            wait['waker_stack'] = random_stack(r)
    if reason == FUTEX and r.random() < 0.7:
        wait['lock'] = r.choice((0x7000, 0x7040, 0xffffffffffff))
        wait['holder'] = r.choice((0, 10, 11, 20, 77))
    if at + duration >= END:
        wait['flags'] |= GOES_ON
    return wait


def some_of_everything():
    """For the fuzzers: small."""
    c = captures.Capture(time=1000, end_time=9000).metadata('uname.machine', 'x86_64', time=1000)
    c.process('/bin/a', pid=10, time=1000).map(0x1000, 0x9000, '/bin/a', pid=10, time=1000)
    c.jitmap([(address(name), name) for name in FUNCTIONS], time=1000).fork(12, pid=10, time=1200)
    c.file('__events__', b'0 ns 100 cpu-clock\n', time=1000)
    main, worker, kernel = (10, 10, 'a'), (12, 10, 'worker'), (2, 2, 'kthread')
    s = Stream()
    s.wait(900, 300, main, SYSCALL, 10, 7, WAS_BEFORE | BY_INTERRUPT, stack_of(['poll', 'start']), cpu=1)
    s.wait(1300, 500, main, FUTEX, 50, 202, 0, [captures.KERNEL, 2**63 + 5, captures.USER, 0x2000, 0x3000], worker,
           stack_of(['unlock', 'work']), 0x7000, 12)
    s.wait(1350, 200, worker, SLEEP, 0, 230, BY_INTERRUPT, stack_of(['work', 'g_main_context_dispatch']))
    s.sampled(4).wait(1600, 40, worker, PREEMPTED, 40, stack=[])
    s.wait(1700, 20, worker, IO, 5, 0, UNINTERRUPTIBLE, None, kernel)
    s.sampled(1).wait(1000, 5000, kernel, OTHER, 0, None, GOES_ON, [captures.KERNEL, 2**63 + 5, 2**63 + 64]).lost(7, 3000)
    s.wait(2000, 100, (12, 10, 'renamed'), PAGE_FAULT, 1, stack=stack_of(['read_file']))
    s.wait(2200, 0, main, CHILD, 0, 61, stack=stack_of(['start'])).run(main, 500).run(worker, 700).run(main, 1)
    for i in range(6):
        c.sample(stack_of(FUNCTIONS[i:i + 2]), 10 if i % 2 else 12, pid=10, time=1250 + 100 * i)
    return embed(c, s, 100, time=1500)


if __name__ == '__main__':
    some_of_everything().save(sys.argv[1])
