#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture that goes through a pipe, which cannot seek and may end anywhere: what arrived is a capture."""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import unittest

import tap
from decoder import decode, whole
from programs import BUSY, CAT, CLI, REPORT, Case, can_sample, needs_sampling, run

DEBIAN = "/usr/bin/sysprof-cli"
N_CUTS = 4
HEADER = 256  # bytes of a capture in front of its frames
END_TIME = 80  # its place in there


def recorded(*options):
    """The bytes that went into a pipe."""
    done = run(CLI, "--max-size", "200M", *options, "-o", "-", "--", BUSY, "0.3")
    assert done.returncode == 0, done.stderr
    return done.stdout


def boundaries(data):
    """Offsets behind which a frame begins, or nothing."""
    offsets = [HEADER]
    while offsets[-1] < len(data):
        offsets.append(offsets[-1] + struct.unpack_from("<H", data, offsets[-1])[0])
    return offsets


def spread(offsets):
    """Some of them: the ends, and what lies evenly between."""
    return sorted({offsets[0], offsets[1], offsets[-2], offsets[-1], *offsets[:: max(1, len(offsets) // N_CUTS)]})


class Cut(Case):
    def frames_shown(self, data, view="counters"):
        done = run(REPORT, view, "--format", "json", "-", stdin=None, input=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        return {kind: n for kind, n in report["capture"]["frames"].items() if n}, report["capture"]["duration"], done.stderr.decode()

    def test_every_part_of_whole_frames_opens(self):
        data = recorded()
        for end in spread(boundaries(data)):
            with self.subTest(end=end, of=len(data)):
                part = decode(data[:end])
                self.assertEqual(part.rest, 0)
                frames, duration, text = self.frames_shown(data[:end])
                self.assertEqual(frames, dict(part.counts()))
                self.assertEqual(text, "")
                times = [frame["time"] for frame in part.of("sample")]
                if times:  # nobody went back to write the end: it is where the last of them is, or behind
                    self.assertGreaterEqual(duration, max(times) - part.time)
        with open("part.syscap", "wb") as file:
            file.write(data[:end])
        for view in ("summary", "functions", "processes"):
            self.assertEqual(run(REPORT, view, "part.syscap").returncode, 0, view)

    def test_what_ends_in_a_frame_opens(self):
        data = recorded()
        for end in spread(boundaries(data))[1:-1]:
            with self.subTest(end=end, of=len(data)):
                frames, _, text = self.frames_shown(data[: end + 9])
                self.assertEqual(frames, dict(decode(data[:end]).counts()))
                self.assertIn("9 bytes", text)
        done = run(CAT, "-", stdin=None, input=data[: end + 9])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"9 bytes", done.stderr)
        self.assertEqual(done.stdout.count(b"{"), done.stdout.count(b"}"))

    def test_what_has_no_header_does_not(self):
        data = recorded()
        for size in (0, 1, HEADER - 1):
            for program in (REPORT, CAT):
                done = run(program, "-", stdin=None, input=data[:size])
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{size} bytes", done.stderr.decode())
                self.assertIn("standard input", done.stderr.decode())

    @unittest.skipUnless(os.path.exists(DEBIAN) and b"3.46" in run(DEBIAN, "--version").stdout, "sysprof-cli 3.46 is not installed")
    def test_debian_reads_every_part(self):
        data = recorded("--call-depth", "100")  # it dies of deep stacks of whatever else runs
        for end in spread(boundaries(data)):
            for extra in (0, 9):
                with self.subTest(end=end, extra=extra, of=len(data)):
                    for name, part in (("part", data[: end + extra]), ("none", data[:HEADER])):
                        with open(name, "wb") as file:
                            file.write(part)
                    done = run(DEBIAN, "--merge", "part", "none")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    # It adds frames of its own about the joining, and splits lists of counters as it likes.
                    of_recorder = ("sample", "map", "process", "fork", "exit", "ctrset", "file")
                    part, joined = decode(data[:end]).counts(), whole(done.stdout).counts()
                    self.assertEqual({kind: joined[kind] for kind in of_recorder}, {kind: part[kind] for kind in of_recorder})


class Flow(Case):
    @needs_sampling
    def test_what_came_before_the_recorder_was_killed(self):
        """It is written as it is recorded: who reads has it, whatever happens to who wrote."""
        data = b""
        with subprocess.Popen([CLI, "-o", "-", "--", BUSY, "100"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True) as recorder:
            try:
                while len(data) < HEADER or not decode(data).of("sample"):
                    more = os.read(recorder.stdout.fileno(), 1 << 20)
                    self.assertTrue(more, "the recorder ended")
                    data += more
                recorder.send_signal(signal.SIGKILL)
                data += recorder.stdout.read()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(recorder.pid, signal.SIGKILL)  # the command and what it started, which go on without their recorder
        capture = decode(data)
        done = run(REPORT, "functions", "--format", "json", "-", stdin=None, input=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["capture"]["samples"], len(capture.of("sample")))

    def test_stopped_by_hand(self):
        """The reader gets all that a file would get, symbols included; the header of a pipe has no end."""
        recorder = self.recorder("-o", "-", "--max-size", "200M")
        recorder.wait_until_recording()
        recorder.send(signal.SIGINT)
        status, data, text = recorder.finish()
        self.assertEqual(status, 0, text)
        capture = whole(data)
        self.assertEqual(struct.unpack_from("<q", data, END_TIME), (0,))
        self.assertTrue(capture.of("process"))
        if can_sample() and capture.of("sample"):
            self.assertIsNotNone(capture.file("__symbols__"))

    @unittest.skipUnless(shutil.which("cat"), "there is no cat")
    def test_through_other_programs(self):
        done = run("sh", "-c", '"$1" -o - -- "$2" 0.2 2>err | cat | "$3" summary --format json -', "sh", CLI, BUSY, REPORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["capture"]["path"], "-")
        self.assertGreater(report["capture"]["frames"]["process"], 0)


if __name__ == "__main__":
    tap.main()
