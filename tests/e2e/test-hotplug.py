#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli while a processor is taken from the whole machine: for machines that may be disturbed, and with nothing beside it."""

import contextlib
import os
import signal
import subprocess

import tap
from decoder import Capture
from programs import Case, needs_root, needs_sampling, spinning

ONLINE = "/sys/devices/system/cpu/cpu1/online"


@contextlib.contextmanager
def guard():
    """Puts the processor back, also if we are killed: it waits, in a session of its own, for the end of what we hold."""
    process = subprocess.Popen(["sh", "-c", f"cat; echo 1 >{ONLINE}"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


class Processors(Case):
    def set_online(self, text):
        with open(ONLINE, "w", encoding="ascii") as file:
            file.write(text)

    @needs_sampling
    @needs_root
    def test_one_goes_and_comes_back(self):
        if not os.access(ONLINE, os.W_OK):
            self.skipTest(f"no processor here can be taken away: {ONLINE} is not there, or not ours to write")
        with guard(), spinning(), spinning():
            recorder = self.recorder("--json-status", "-F", "1000", self.path("x.syscap"))
            recorder.wait_for_status()
            try:
                self.set_online("0")
            except OSError as error:
                self.skipTest(f"the kernel does not let a processor go: {error}")
            # The list of processors is read once a second; so are these lines written.
            for _ in range(3):
                recorder.process.stderr.readline()
            self.set_online("1")
            for _ in range(3):
                recorder.process.stderr.readline()
            recorder.send(signal.SIGINT)
            status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        capture = Capture.open(self.path("x.syscap"))
        times = sorted(frame["time"] - capture.time for frame in capture.of("sample") if frame["cpu"] == 1)
        gaps = [b - a for a, b in zip(times, times[1:])]
        self.assertGreater(max(gaps), 1_000_000_000)  # away
        self.assertGreater(times[-1] - times[gaps.index(max(gaps)) + 1], 500_000_000)  # and back
        on_0 = [frame["time"] - capture.time for frame in capture.of("sample") if frame["cpu"] == 0]
        self.assertLess(max(b - a for a, b in zip(on_0, on_0[1:])), 1_000_000_000)


if __name__ == "__main__":
    tap.main()
