#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli: what ends a recording, and what is in the file then."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import tap
from capture import Capture
from programs import BUSY, CLI, Case, can_sample, needs_sampling, run


class Ending(Case):
    def record_until(self, *signals):
        recorder = self.recorder("-o", self.path("x.syscap"))
        recorder.wait_until_recording()
        for number in signals:
            recorder.send(number)
        return recorder.finish()

    def assert_finished(self, status, err):
        self.assertEqual(status, 0, err)
        capture = Capture.open(self.path("x.syscap"))
        self.assertGreater(capture.end_time, capture.time)
        return capture

    def test_first_interrupt_finishes_with_symbols(self):
        status, out, err = self.record_until(signal.SIGINT)
        capture = self.assert_finished(status, err)
        self.assertEqual(out, b"")
        self.assertIn("Recording, press ^C to exit", err)
        if can_sample():
            self.assertTrue(capture.file("__symbols__"))

    def test_terminate_does_the_same(self):
        status, _, err = self.record_until(signal.SIGTERM)
        capture = self.assert_finished(status, err)
        if can_sample():
            self.assertTrue(capture.file("__symbols__"))

    def test_second_interrupt_finishes_the_file(self):
        status, _, err = self.record_until(signal.SIGINT, signal.SIGINT)
        self.assert_finished(status, err)

    def test_third_interrupt_leaves_what_was_flushed(self):
        recorder = self.recorder("-o", self.path("x.syscap"))
        recorder.wait_until_recording()
        for _ in range(3):
            recorder.send(signal.SIGINT)
        status, _, err = recorder.finish()
        # It may have been quicker than us.
        self.assertIn(status, (0, 1), err)
        if os.path.getsize(self.path("x.syscap")) > 0:
            Capture.open(self.path("x.syscap"))

    def test_kill_leaves_a_capture_up_to_the_last_flush(self):
        recorder = self.recorder("-o", self.path("x.syscap"))
        recorder.wait_until_recording()

        def flushed():
            with contextlib.suppress(ValueError):  # not empty, but read while it was written
                return Capture.open(self.path("x.syscap")).counts()
            return {}

        deadline = time.monotonic() + 60
        while "map" not in flushed() and time.monotonic() < deadline:
            time.sleep(0.01)
        recorder.send(signal.SIGKILL)
        recorder.finish()
        capture = Capture.open(self.path("x.syscap"))
        self.assertTrue(capture.of("process"))
        self.assertTrue(capture.of("map"))

    def test_end_of_command_ends_it(self):
        done = run(CLI, "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        self.assertIn("true", capture.metadata()["spawnable.argv"])

    def test_duration_ends_it(self):
        done = run(CLI, "-d", "0.3", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        self.assertGreaterEqual(capture.end_time - capture.time, 300_000_000)

    def test_size_ends_it_and_is_kept(self):
        done = run(CLI, "--max-size", "3M", "--no-decode", "-F", "20000", "x.syscap", "--", BUSY, "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        size = os.path.getsize("x.syscap")
        if not can_sample():
            self.skipTest("without samples no capture grows that large")
        # The size is looked at between batches of records: a buffer may be on its way.
        self.assertGreater(size, 2 << 20)
        self.assertLess(size, 16 << 20)
        Capture.open("x.syscap")

    def test_end_of_the_recorded_process_ends_it(self):
        target = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        recorder = self.recorder("-p", target.pid, "--json-status", self.path("x.syscap"))
        # It says nothing of READY for a single process; its first status line says that it runs.
        line = recorder.process.stderr.readline()
        while not line.startswith(b"{"):
            self.assertTrue(line, "the recorder ended")
            line = recorder.process.stderr.readline()
        target.stdin.close()
        target.wait()
        status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        Capture.open(self.path("x.syscap"))


class Command(Case):
    def test_pipe_bytes_are_left_alone(self):
        data = os.urandom(1 << 20)
        done = run(CLI, "-f", "x.syscap", "--", "cat", stdin=None, input=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, data)

    def test_report_does_not_reach_the_pipe(self):
        done = run(CLI, "--report", "x.syscap", "--", "echo", "hello")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"hello\n")

    def test_status_of_command_is_passed_on_only_when_asked(self):
        for words, expected in (([], 0), (["--exit-status"], 7)):
            done = run(CLI, "-f", *words, "x.syscap", "--", "sh", "-c", "exit 7")
            self.assertEqual(done.returncode, expected, done.stderr)

    def test_signal_of_command_is_passed_on_as_shells_do(self):
        done = run(CLI, "--exit-status", "x.syscap", "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)

    def test_environment_is_given_but_not_recorded(self):
        # Not as an argument of --env: command lines are recorded, ours too.
        environment = dict(os.environ, SECRET="xyzzy-7261")
        done = run(CLI, "-e", "A=1=2", "-e", "EMPTY", "x.syscap", "--", "sh", "-c", 'echo "$SECRET,$A,${EMPTY-unset}"', env=environment)
        self.assertEqual(done.stdout, b"xyzzy-7261,1=2,\n", done.stderr)
        with open("x.syscap", "rb") as file:
            self.assertNotIn(b"xyzzy-7261", file.read())

    def test_environment_is_recorded_when_asked(self):
        done = run(CLI, "--record-environment", "x.syscap", "--", "true", env=dict(os.environ, SECRET="xyzzy-7261"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("x.syscap", "rb") as file:
            self.assertIn(b"SECRET=xyzzy-7261", file.read())

    def test_command_as_one_word(self):
        done = run(CLI, "-c", "sh -c 'echo a  b'", "x.syscap")
        self.assertEqual((done.returncode, done.stdout), (0, b"a b\n"))

    def test_trace_fd_is_joined(self):
        # A capture of its own with one mark, as the format says, written by a program of the shell's.
        mark = bytes([0x5E, 0x97, 0xCA, 0xFD, 1, 1]) + bytes(250)
        frame = (104).to_bytes(2, "little") + b"\xff\xff" + (4242).to_bytes(4, "little") + (5).to_bytes(8, "little") + b"\x0a"
        frame = (frame + bytes(24 - len(frame)) + (9).to_bytes(8, "little") + b"group".ljust(24, b"\0") + b"name".ljust(40, b"\0") +
                 b"message\0").ljust(104, b"\0")
        with open("given", "wb") as file:
            file.write(mark + frame)
        done = run(CLI, "--use-trace-fd", "x.syscap", "--", "sh", "-c", 'cat given >&"$SYSPROF_TRACE_FD"')
        self.assertEqual(done.returncode, 0, done.stderr)
        marks = [f for f in Capture.open("x.syscap").of("mark") if f.pid == 4242]
        self.assertEqual(len(marks), 1)


class Terminal(Case):
    def read_terminal(self, primary, until):
        text = b""
        while not until(text):
            try:
                more = os.read(primary, 65536)
            except OSError:  # EIO: the other side is closed
                break
            if not more:
                break
            text += more
        return text.decode(errors="replace")

    def test_status_line_is_updated_in_place(self):
        primary, secondary = pty.openpty()
        recorder = self.recorder(self.path("x.syscap"), stderr=secondary, stdout=secondary)
        os.close(secondary)
        line = rb"\d\d:\d\d  \d+ samples  \d+/s  \d+ lost  .*?B  recorder [\d.]+ % CPU"
        text = self.read_terminal(primary, lambda t: len(re.findall(line, t)) >= 2)
        self.assertRegex(text, r"\r\x1b\[K\d\d:\d\d")
        self.assertEqual(text.count("\n"), 1, text)  # "Recording, press ^C to exit"
        recorder.send(signal.SIGINT)
        rest = self.read_terminal(primary, lambda t: False)
        os.close(primary)
        self.assertEqual(recorder.process.wait(), 0, rest)
        self.assertIn("The recorder used", rest)

    def test_quiet_says_nothing(self):
        done = run(CLI, "--quiet", "-d", "0.1", "x.syscap")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        if can_sample():
            self.assertEqual(done.stderr, b"")

    def test_json_status(self):
        done = run(CLI, "--json-status", "-d", "1.5", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        objects = [json.loads(line) for line in done.stderr.splitlines() if line.startswith(b"{")]
        self.assertGreaterEqual(len(objects), 2)
        self.assertEqual([o["finished"] for o in objects], [False] * (len(objects) - 1) + [True])
        self.assertGreaterEqual(objects[-1]["time"], 1_400_000_000)
        capture = Capture.open("x.syscap")
        self.assertEqual(objects[-1]["samples"], len(capture.of("sample")))
        self.assertEqual(objects[-1]["size"], os.path.getsize("x.syscap"))

    def test_capture_is_never_written_to_a_terminal(self):
        primary, secondary = pty.openpty()
        done = run(CLI, "-o", "-", "--", "true", stdout=secondary)
        os.close(secondary)
        os.close(primary)
        self.assert_one_line_error(done, "standard output", "terminal")


class Sampling(Case):
    @needs_sampling
    def test_command_does_not_narrow_the_sampling(self):
        beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            done = run(CLI, "x.syscap", "--", BUSY, "0.3")
        finally:
            beside.kill()
            beside.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        pids = {frame.pid for frame, _, _ in Capture.open("x.syscap").samples()}
        own = {int(number) for number in re.findall(rb"\d+", done.stdout.splitlines()[0])}
        self.assertIn(beside.pid, pids)
        self.assertLessEqual(own, pids)

    @needs_sampling
    def test_pid_narrows_it_to_what_it_starts(self):
        shell = subprocess.Popen(["sh", "-c", f"read go; {BUSY} 0.3; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        recorder = self.recorder("-p", shell.pid, "--json-status", self.path("x.syscap"))
        while not recorder.process.stderr.readline().startswith(b"{"):
            pass
        out, _ = shell.communicate(b"go\n")
        status, _, err = recorder.finish()
        beside.kill()
        beside.wait()
        self.assertEqual(status, 0, err)
        pids = {frame.pid for frame, _, _ in Capture.open(self.path("x.syscap")).samples()}
        own = {int(number) for number in re.findall(rb"\d+", out.splitlines()[0])}
        self.assertNotIn(beside.pid, pids)
        self.assertLessEqual(own, pids)
        self.assertLessEqual(pids, own | {shell.pid})

    @needs_sampling
    def test_frequency_is_kept(self):
        for hertz in (100, 1000):
            done = run(CLI, "-f", "-F", hertz, "x.syscap", "--", BUSY, "0.5")
            self.assertEqual(done.returncode, 0, done.stderr)
            pids = {int(number) for number in re.findall(rb"\d+", done.stdout.splitlines()[0])}
            used = sum(int(line.split()[2]) for line in done.stdout.splitlines()[1:]) / 1000
            n = sum(1 for frame, _, _ in Capture.open("x.syscap").samples() if frame.pid in pids)
            # Starting and ending cost a little CPU time beside what the program counts.
            self.assertGreater(n, 0.85 * hertz * used)
            self.assertLess(n, 1.25 * hertz * used + 10)

    @needs_sampling
    def test_no_perf_leaves_samples_out(self):
        done = run(CLI, "--no-perf", "x.syscap", "--", BUSY, "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Capture.open("x.syscap").of("sample"), [])

    @needs_sampling
    def test_parts_of_stacks(self):
        # The markers of linux/perf_event.h in front of each part. What no frame pointer led to may be any number.
        of_kernel, of_user = 2**64 - 128, 2**64 - 512
        for word, marker, other in (("--kernel-only", of_kernel, of_user), ("--user-only", of_user, of_kernel)):
            done = run(CLI, "-f", word, "x.syscap", "--", "find", "/usr", "-newer", "/")
            self.assertEqual(done.returncode, 0, done.stderr)
            samples = Capture.open("x.syscap").samples()
            self.assertTrue(samples)
            for _, _, addresses in samples:
                self.assertNotIn(other, addresses, [hex(a) for a in addresses])
            self.assertTrue(any(marker in addresses for _, _, addresses in samples))

    def test_what_is_not_built_is_named_and_the_rest_recorded(self):
        done = run(CLI, "--memprof", "--off-cpu", "--rapl", "--scheduler", "--stack-size", "8192", "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.decode().splitlines() if re.match(r"[\w -]+: .*(not built|not recorded|not have)", line)]
        self.assertGreaterEqual(len(lines), 5, done.stderr)
        Capture.open("x.syscap")


if __name__ == "__main__":
    tap.main()
