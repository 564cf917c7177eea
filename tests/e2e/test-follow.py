#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture is opened and followed while sysprof-cli writes it, and is in the end what it is to somebody who comes then."""

import json
import os
import signal
import subprocess

import tap
from decoder import Capture
from programs import REPORT, TIMEOUT, Case, run

FOLLOW = os.environ.get("FOLLOW_CAPTURE", "follow-capture")
N_TIMES = 3  # that something new was seen while the recording went on


class Following(Case):
    def test_recording_that_goes_on(self):
        path = self.path("x.syscap")
        recorder = self.recorder("-F", "200", "-o", path)
        recorder.wait_until_recording()
        while not os.path.exists(path) or os.path.getsize(path) <= 256:
            self.assertIsNone(recorder.process.poll())
        with subprocess.Popen([FOLLOW, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as follow:
            counts = []
            while len(set(counts)) < N_TIMES:  # on a busy machine it looks again before there is more
                counts.append(int(follow.stdout.readline()))
            self.assertEqual(counts, sorted(counts))

            # Requests during the recording are answered, too.
            done = run(REPORT, "summary", "--format", "json", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["format"], "sysprof-report")
            self.assertIsNone(recorder.process.poll())

            recorder.send(signal.SIGINT)
            status, _, err = recorder.finish()
            self.assertEqual(status, 0, err)
            out, complaints = follow.communicate(timeout=TIMEOUT)
        self.assertEqual(follow.returncode, 0, complaints.decode(errors="replace"))
        counts += [int(line) for line in out.split()]
        self.assertEqual(counts[-1], sum(Capture.open(path).counts().values()))


if __name__ == "__main__":
    tap.main()
