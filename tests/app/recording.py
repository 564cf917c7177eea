# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture with a known number of everything that sections show."""

import captures

SECOND = 10**9
PID, THREAD = 100, 101
NAMES = ['main', 'draw', 'blur', 'wait_for_data', 'parse']
MAIN, DRAW, BLUR, WAIT, PARSE = (captures.JIT + 16 * (i + 1) for i in range(len(NAMES)))
N_SAMPLES = 1000  # one each 10 ms: draw > blur in the first half, parse in the second


def write(path, seconds=10):
    capture = captures.Capture(time=0, end_time=seconds * SECOND)
    capture.process('/usr/bin/painter --fast', time=0, pid=PID)
    capture.jitmap([(captures.JIT + 16 * (i + 1), name) for i, name in enumerate(NAMES)], time=0, pid=PID)
    capture.metadata('uname', 'Linux test', time=0)
    capture.ctrdef([(1, 'CPU Percent', 'Combined', 'Use of all CPUs', 1), (2, 'Memory', 'Used', 'Used memory', 0)], time=0)
    for i in range(N_SAMPLES):
        time = i * seconds * SECOND // N_SAMPLES
        stack = [BLUR, DRAW, MAIN] if i < N_SAMPLES // 2 else [PARSE, MAIN]
        capture.sample(stack, tid=PID if i % 4 else THREAD, time=time, pid=PID, cpu=i % 2)
        if i % 100 == 0:
            capture.mark('painter', 'frame', f'frame {i // 100}', duration=SECOND // 20, time=time, pid=PID, cpu=0)
            capture.log('painter', f'message {i // 100}', severity=16, time=time, pid=PID)
            capture.ctrset([(1, float(i // 10)), (2, i * 1024)], time=time)
    capture.file('/etc/os-release', b'NAME=Test\n', time=seconds * SECOND)
    return capture.save(path)
