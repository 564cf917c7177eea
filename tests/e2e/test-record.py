#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli: what ends a recording, and what is in the file then."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import captures
import tap
from decoder import Capture, whole
from programs import BUSY, CLI, Case, can_sample, run, wait_for


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

    def test_terminate_and_hang_up_do_the_same(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            status, _, err = self.record_until(number)
            capture = self.assert_finished(status, err)
            self.assertIn("adding symbols", err)
            if can_sample():
                self.assertTrue(capture.file("__symbols__"))
            os.remove("x.syscap")
            os.remove("notify")

    def test_nohup_outlives_the_terminal(self):
        recorder = self.recorder("-o", self.path("x.syscap"), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        recorder.wait_until_recording()
        recorder.send(signal.SIGHUP)
        recorder.send(signal.SIGINT)
        status, _, err = recorder.finish()
        self.assert_finished(status, err)
        self.assertEqual(err.count("Stopping"), 1, err)  # the first signal that it heard

    def test_interrupt_while_writing_to_a_pipe(self):
        recorder = self.recorder("-o", "-")
        recorder.wait_until_recording()
        recorder.send(signal.SIGINT)
        status, out, err = recorder.finish()
        self.assertEqual(status, 0, err)
        capture = whole(out)
        if can_sample():
            self.assertTrue(capture.file("__symbols__"))

    def test_second_interrupt_finishes_the_file(self):
        for signals in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT), (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM)):
            status, _, err = self.record_until(*signals)
            self.assert_finished(status, err)
            os.remove("x.syscap")
            os.remove("notify")

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

        wait_for(lambda: {"process", "map"} <= set(flushed()), "frames of processes and mappings are in the file")
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
        # READY is not printed for a single process; its first status line shows that it runs.
        line = recorder.process.stderr.readline()
        while not line.startswith(b'{"time"'):
            self.assertTrue(line, "the recorder ended")
            line = recorder.process.stderr.readline()
        target.stdin.close()
        target.wait()
        status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        Capture.open(self.path("x.syscap"))


class Command(Case):
    def test_goes_on_when_the_recording_ends_and_is_named(self):
        for words, number in ((["-d", "0.2"], None), ([], signal.SIGINT), (["--max-size", "1K"], None)):
            with self.subTest(words):
                recorder = self.recorder(*words, "-f", self.path("x.syscap"), "--", "cat", stdin=subprocess.PIPE)
                recorder.wait_until_recording()
                if number is not None:
                    recorder.send(number)
                self.assertEqual(recorder.process.wait(), 0)
                text = recorder.process.stderr.readline()
                while b"continues without" not in text:
                    self.assertTrue(text)
                    text = recorder.process.stderr.readline()
                self.assertIn(b"'cat' (process ", text)
                pid = int(text.split(b"process ")[1].split(b")")[0])
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    self.assertEqual(file.read(), "cat\n")
                recorder.process.stdin.write(b"alive\n")
                recorder.process.stdin.close()
                self.assertEqual(recorder.process.stdout.read(), b"alive\n")
                recorder.process.stderr.close()
                recorder.process.stdout.close()
                os.remove("notify")

    def test_is_waited_for_where_its_status_is_passed_on(self):
        recorder = self.recorder("--exit-status", "-d", "0.1", self.path("x.syscap"), "--", "sh", "-c", "read word; exit $word",
                                 stdin=subprocess.PIPE)
        text = recorder.process.stderr.readline()
        while b"is still running" not in text:
            self.assertTrue(text)
            text = recorder.process.stderr.readline()
        self.assertIsNone(recorder.process.poll())
        recorder.process.stdin.write(b"23\n")
        recorder.process.stdin.flush()
        status, _, err = recorder.finish()
        self.assertEqual(status, 23, err)

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

    def test_runtimes_are_told_to_name_functions(self):
        script = 'echo "$PYTHONPERFSUPPORT $NODE_OPTIONS $JAVA_TOOL_OPTIONS"'
        names = ("PYTHONPERFSUPPORT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        done = run(CLI, "--runtime-names", "-f", "x.syscap", "--", "sh", "-c", script, env=dict(environment, NODE_OPTIONS="--trace-gc"))
        self.assertEqual(done.stdout.split()[:3], [b"1", b"--perf-basic-prof", b"--trace-gc"], done.stderr)
        self.assertIn(b"-XX:+DumpPerfMapAtExit", done.stdout)
        done = run(CLI, "-f", "x.syscap", "--", "sh", "-c", script, env=environment)
        self.assertEqual(done.stdout.strip(), b"")

    def test_command_as_one_word(self):
        done = run(CLI, "-c", "sh -c 'echo a  b'", "x.syscap")
        self.assertEqual((done.returncode, done.stdout), (0, b"a b\n"))

    def test_trace_fd_is_joined(self):
        # A capture of its own with one mark, written by a program of the shell's.
        captures.Capture().mark("group", "name", "message", 9, time=5, pid=4242).save("given")
        done = run(CLI, "--use-trace-fd", "x.syscap", "--", "sh", "-c", 'cat given >&"$SYSPROF_TRACE_FD"')
        self.assertEqual(done.returncode, 0, done.stderr)
        marks = [f for f in Capture.open("x.syscap").of("mark") if f["pid"] == 4242]
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
        recorder = self.recorder("--no-system-log", self.path("x.syscap"), stderr=secondary, stdout=secondary)
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

    def record_in_terminal(self, *words, columns=80, **more):
        """Returns the output on a terminal of that width for a recording of two and a half seconds."""
        primary, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        recorder = self.recorder("-f", "-d", "2.5", "--no-system-log", *words, self.path("x.syscap"), stdin=secondary, stdout=secondary, stderr=secondary, **more)
        os.close(secondary)
        text = self.read_terminal(primary, lambda t: False)
        os.close(primary)
        self.assertEqual(recorder.process.wait(), 0, text)
        recorder.socket.close()
        os.remove("notify")
        return text

    def test_status_line_fits_the_terminal(self):
        for columns, pattern in ((200, r"/s  \d+ lost  .* recorder|finishing"), (50, r"/s \d+ lost .*B [\d.]+%|finishing"), (20, r"^\d\d:\d\d +\d+")):
            text = self.record_in_terminal(columns=columns)
            lines = re.findall(r"\r\x1b\[K(\d\d:[^\r\n]*)", text)
            self.assertGreaterEqual(len(lines), 2, text)
            for line in lines:
                self.assertLess(len(line), columns)
                self.assertRegex(line, pattern)
            # Each is taken away before anything else is written.
            self.assertNotRegex(text, r"\x1b\[K\d\d:[^\r]*\n")

    def test_no_status_line_where_it_would_disturb(self):
        line = r"\d\d:\d\d  \d+ samples"
        self.assertNotRegex(self.record_in_terminal(env=dict(os.environ, TERM="dumb")), line)
        self.assertNotRegex(self.record_in_terminal("--quiet"), line)
        # A program that takes the terminal over, as pagers, editors and password prompts do.
        text = self.record_in_terminal("--", "sh", "-c", "stty -echo -icanon; sleep 2.2")
        self.assertNotRegex(text, line)

        # In the background of a shell: a terminal that belongs to another group of processes.
        def become_background():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            if os.fork() == 0:
                os.setpgrp()
                return
            _, status = os.wait()
            os._exit(os.waitstatus_to_exitcode(status))

        self.assertNotRegex(self.record_in_terminal(preexec_fn=become_background), line)

    def test_report_is_coloured_where_sysprof_report_is(self):
        if not can_sample():
            self.skipTest("a report without samples has nothing to colour")
        for variables, is_coloured in (({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
            with self.subTest(variables):
                environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **variables}
                text = self.record_in_terminal("-d", "0.2", "--report", "--", BUSY, "0.2", env=environment)
                self.assertEqual(re.search(r"\x1b\[[0-9;]*m", text) is not None, is_coloured, text)

    def test_sizes_are_plain_text(self):
        done = run(CLI, "-d", "0.1", "x.syscap", env=dict(os.environ, LC_ALL="C"))
        self.assertTrue(done.stderr.isascii(), done.stderr)

    def test_quiet_says_nothing(self):
        done = run(CLI, "--quiet", "-d", "0.1", "x.syscap")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        if can_sample():
            self.assertEqual(done.stderr, b"")

    def test_json_status(self):
        done = run(CLI, "--json-status", "-d", "1.5", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        objects = [json.loads(line) for line in done.stderr.splitlines()]
        objects = [o for o in objects if "message" not in o]
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


if __name__ == "__main__":
    tap.main()
