# SPDX-License-Identifier: GPL-3.0-or-later
"""The embedded file of waits, read as docs/format.md says; written for the tests alone."""

import collections

MAGIC = b"waits\0\1\0"
REASONS = "none page-fault child sleep futex io syscall other preempted".split()
NOT_ENDED, HAS_LOCK, BY_INTERRUPT, UNINTERRUPTIBLE, BEGAN_BEFORE = 1, 2, 4, 8, 16

Thread = collections.namedtuple("Thread", "tid pid name")
Stack = collections.namedtuple("Stack", "reason how addresses")
Wait = collections.namedtuple("Wait", "begin duration runnable thread reason call flags stack waker waker_stack lock holder cpu")


class Waits:
    def __init__(self, data):
        self.data, self.at = data, len(MAGIC)
        assert data.startswith(MAGIC)
        self.threads, self.stacks, self.waits, self.n_lost = [], [], [], 0
        self.ran = collections.Counter()
        entries = {1: self._thread, 2: self._stack, 3: self._wait, 4: self._number, 5: self._lost, 6: self._run}
        self.begin = 0
        while self.at < len(data):
            entries[self._byte()]()

    def _byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def _number(self):
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def _signed(self):
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def _thread(self):
        tid, pid, size = self._number(), self._number(), self._number()
        self.threads.append(Thread(tid, pid, self.data[self.at:self.at + size].decode(errors="replace")))
        self.at += size

    def _stack(self):
        n, reason, how = self._number(), self._byte(), self._byte()
        addresses, before = [], 0
        for _ in range(n):
            before = (before + self._signed()) & 2**64 - 1
            addresses.append(before)
        self.stacks.append(Stack(reason, how, addresses))

    def _entry(self, entries):
        number = self._number()
        return entries[number - 1] if number > 0 else None

    def _wait(self):
        self.begin += self._signed()
        duration, runnable, thread = self._number(), self._number(), self.threads[self._number()]
        reason, call, flags = REASONS[self._byte()], self._number() - 1, self._byte()
        stack, waker, waker_stack = self._entry(self.stacks), self._entry(self.threads), self._entry(self.stacks)
        lock, holder = (self._number(), self._number()) if flags & HAS_LOCK else (None, None)
        self.waits.append(Wait(self.begin, duration, runnable, thread, reason, call, flags, stack, waker, waker_stack, lock, holder, self._signed()))

    def _lost(self):
        self.n_lost += self._number()
        self._signed()

    def _run(self):
        thread = self.threads[self._number()]
        self.ran[thread.tid] += self._number()

    def of(self, tid):
        """In the order of time, which the file has for each CPU alone."""
        return sorted((wait for wait in self.waits if wait.thread.tid == tid), key=lambda wait: wait.begin)


def of_capture(capture):
    return Waits(b"".join(frame["data"] for frame in capture.of("file") if frame["path"] == "__waits__"))
