# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the capture that test-document.c knows by heart, in both byte orders.

usage: make-capture.py LITTLE BIG
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'data'))
from captures import KERNEL, USER, Capture  # noqa: E402

for path, big in (sys.argv[1], False), (sys.argv[2], True):
    capture = Capture(time=1_000_000, end_time=9_000_000, big=big, capture_time='2026-03-04T05:06:07Z')
    capture.process('/usr/bin/shell --login', time=999_000, pid=10)
    capture.ctrdef([(1, 'CPU Percent', 'Total', 'Use of all CPUs', True), (2, 'Disk', 'Reads', '', False)],
                   time=999_500)
    # Not in the order of time: readers sort.
    capture.sample([0x3000], tid=11, time=1_003_000, cpu=1, pid=10)
    capture.sample([KERNEL, 0xffffffff81000000, USER, 0x1000, 0x2000], tid=10, time=1_001_000, cpu=0, pid=10)
    capture.ctrset([(1, 12.5), (2, 2**40)], time=1_002_000)
    capture.ctrset([(1, 99.25), (2, -3)], time=1_004_000)
    capture.mark('Compositor', 'Dispatch', 'with a message', duration=2_000_000, time=1_005_000, cpu=2, pid=10)
    # Fields that their text fills wholly have no NUL.
    capture.mark('g' * 24, 'n' * 40, '', time=4_661_000_000_000, pid=20)
    pathlib.Path(path).write_bytes(capture.data)
