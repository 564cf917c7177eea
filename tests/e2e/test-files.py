#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli and its files: what cannot be written, what must not be lost, compression, joining, results."""

import bz2
import contextlib
import gzip
import lzma
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import threading
import xml.etree.ElementTree

import tap
from decoder import Capture, whole
from programs import BUSY, CAT, CLI, NOBODY, REPORT, TIMEOUT, Case, can_sample, needs_root, needs_sampling, run, wait_for, without_machine

LIMIT = 51200  # bytes of a file


@contextlib.contextmanager
def full_pipe():
    """The end of a pipe into which nothing goes any more."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    os.set_blocking(writing, True)
    try:
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


class Refused(Case):
    def test_existing_file_stays_without_force(self):
        with open("x.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        self.assert_one_line_error(run(CLI, "x.syscap", "--", "true"), "x.syscap", "--force")
        with open("x.syscap", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_existing_file_is_replaced_with_force(self):
        with open("x.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        done = run(CLI, "-f", "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        Capture.open("x.syscap")
        self.assertEqual(os.listdir("."), ["x.syscap"])

    def test_only_the_default_capture_is_renamed(self):
        with open("capture.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        self.assert_one_line_error(run(CLI, "capture.syscap", "--", "true"), "capture.syscap", "--force")
        self.assert_one_line_error(run(CLI, "--", "./does-not-exist"), "does-not-exist")
        self.assertEqual(os.listdir("."), ["capture.syscap"])
        done = run(CLI, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(".")), ["capture.syscap", "capture.syscap.old"])
        with open("capture.syscap.old", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        first = Capture.open("capture.syscap").time
        done = run(CLI, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Capture.open("capture.syscap.old").time, first)
        self.assertGreater(Capture.open("capture.syscap").time, first)

    def test_command_that_does_not_exist_costs_nothing(self):
        with open("x.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        for command in ("no-such-command-here", "./no-such-command-here", "/", "/etc/passwd"):
            self.assert_one_line_error(run(CLI, "-f", "x.syscap", "--", command), command)
        with open("x.syscap", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(os.listdir("."), ["x.syscap"])

    def test_command_that_cannot_be_executed_costs_nothing(self):
        with open("script", "w", encoding="ascii") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod("script", 0o755)
        with open("x.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        done = run(CLI, "-f", "x.syscap", "--", "./script")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"./script", done.stderr)
        with open("x.syscap", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(sorted(os.listdir(".")), ["script", "x.syscap"])
        done = run(CLI, "new.syscap", "--", "./script")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(sorted(os.listdir(".")), ["script", "x.syscap"])

    def test_process_that_does_not_exist(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        for word in ("--pid", "--tid"):
            self.assert_one_line_error(run(CLI, word, ended.pid, "x.syscap"), f"{word} {ended.pid}")
        self.assertEqual(os.listdir("."), [])

    def test_folder_that_does_not_exist(self):
        self.assert_one_line_error(run(CLI, "nowhere/x.syscap", "--", "true"), "nowhere/x.syscap", "No such file")

    def test_file_that_may_not_be_written(self):
        (cli,), as_nobody = self.as_nobody(CLI)
        os.mkdir("closed", 0o755)
        self.assert_one_line_error(run(*as_nobody, cli, "closed/x.syscap", "--", "true"), "closed/x.syscap", "Permission denied")
        with open("kept.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        self.assert_one_line_error(run(*as_nobody, cli, "-f", "kept.syscap", "--", "true"), "kept.syscap", "Permission denied")
        with open("kept.syscap", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_flame_graph_that_exists_stays_without_force(self):
        with open("x.svg", "w", encoding="ascii") as file:
            file.write("precious")
        self.assert_one_line_error(run(CLI, "--flame", "x.svg", "x.syscap", "--", "true"), "x.svg", "--force")
        with open("x.svg", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(os.listdir("."), ["x.svg"])

    def test_usage_errors(self):
        for words, *parts in (
                (["--no-such-option"], "--no-such-option", "--help"), (["--frequncy=9"], "--frequency"), (["-z"], "-z", "--help"),
                (["-F"], "-F"), (["--force=no"], "--force"), (["a", "b"], "'b'", "--"), (["-F", "0"], "--frequency 0"),
                (["-F99x"], "--frequency 99x"), (["-d", "0"], "--duration 0"), (["--max-size", "x"], "--max-size x"),
                (["--buffer-size", "0"], "--buffer-size 0"), (["--stack-size", "5"], "--stack-size 5"), (["--cpu", "99999"], "--cpu"),
                (["--user", "no-such-user-here"], "no-such-user-here"), (["--pid", "self"], "--pid self"),
                (["--power-profile", "fast"], "--power-profile fast"), (["--memprof"], "--memprof", "command"),
                (["--exit-status"], "--exit-status", "command"), (["--"], "--"), (["-c", "a 'b"], "--command"),
                (["-e", "=x", "--", "true"], "--env =x"), (["--kernel-only", "--user-only"], "--kernel-only"),
                (["--follow-forks", "--no-follow-forks"], "--no-follow-forks"), (["--flame", "x.png"], "x.png", ".svg"),
                (["--flame", "x.svg", "-o", "./x.svg"], "x.svg"), (["--host", "-x"], "--host '-x'"),
                (["--unwind", "x"], "--unwind x"), (["--event", "cycles:0"], "cycles:0")):
            with self.subTest(words):
                self.assert_one_line_error(run(CLI, *words), *parts)
        self.assertEqual(os.listdir("."), [])

    def test_errors_say_what_to_do(self):
        with open("plain", "w", encoding="ascii"):
            pass
        os.mkdir("folder")
        for words, why, advice in (
                (["--", "/nonexistent"], "No such file", "Check the name"), (["--", "./plain"], "Permission denied", "chmod +x"),
                (["--", "./folder"], "Is a directory", "Name a program in it"), (["--", "no-such-program"], "PATH", "give its path"),
                (["-o", "no/x.syscap", "--", "true"], "No such file", "Is there a directory")):
            with self.subTest(words):
                self.assert_one_line_error(run(CLI, *words), why, advice)
        environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/no/bus", "DBUS_SYSTEM_BUS_ADDRESS": "nonsense"}
        for words, advice in ((["-d", "0.1"], "No bus is running there. Start it"), (["-d", "0.1", "--system-bus"], "Give unix:path=FILE")):
            done = run(CLI, "-f", "--session-bus", *words, "x.syscap", env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("D-Bus Monitor: Messages on the session bus are not recorded", done.stderr.decode())
            self.assertIn(advice, done.stderr.decode())
        done = run(REPORT, "nothing.syscap")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "No such file or directory[.] Check the name")

    @needs_sampling
    def test_what_cannot_be_sampled_costs_nothing(self):
        with open("x.syscap", "w", encoding="ascii") as file:
            file.write("precious")
        for words in (["--event", "nonsense"], ["--event", "no_such:tracepoint"], ["--event", "cpu-clock:0"], ["--cgroup", "no-such-group"]):
            with self.subTest(words):
                self.assert_one_line_error(run(CLI, "-f", "-d", "9", *words, "x.syscap"), words[1])
                self.assert_one_line_error(run(CLI, "-d", "9", *words, "new.syscap"), words[1])
                self.assert_one_line_error(run(CLI, *words, "new.syscap", "--", "touch", "started"), words[1])
        with open("x.syscap", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(os.listdir("."), ["x.syscap"])

    def test_program_in_the_place_of_the_capture(self):
        shutil.copy(BUSY, "a")
        self.assert_one_line_error(run(CLI, "./a"), "'./a' exists", "put -- before it")

    def test_names_that_cannot_be_files(self):
        os.symlink("nowhere/x", "link.syscap")
        os.mkdir("folder")
        self.assert_one_line_error(run(CLI, "link.syscap", "--", "true"), "link.syscap", "symbolic link")
        self.assert_one_line_error(run(CLI, "folder", "--", "true"), "folder", "Name a file in it")
        self.assert_one_line_error(run(CLI, "", "--", "true"), "''")
        self.assertEqual(sorted(os.listdir(".")), ["folder", "link.syscap"])

    def test_too_few_descriptors(self):
        done = run("sh", "-c", 'ulimit -n 10; exec "$@"', "sh", CLI, "-d", "5", "x.syscap")
        self.assert_one_line_error(done, "Too many open files", "ulimit -n")
        self.assertEqual(os.listdir("."), [])

    @needs_root
    def test_owner_and_mode_of_a_replaced_file_stay(self):
        with open("x.syscap", "w", encoding="ascii"):
            pass
        os.chown("x.syscap", NOBODY, NOBODY)
        os.chmod("x.syscap", 0o604)
        done = run(CLI, "-f", "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        info = os.stat("x.syscap")
        self.assertEqual((info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)), (NOBODY, NOBODY, 0o604))

    def test_new_file_is_not_for_everybody(self):
        done = run(CLI, "x.syscap", "--", "true", umask=0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat("x.syscap").st_mode), 0o640)

    def test_version_and_help(self):
        done = run(CLI, "--version")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"Sysprof 51.0.0\n", b""))
        done = run(CAT, "--version")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"Sysprof 51.0.0\n", b""))
        done = run(CLI, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(run(CLI, "-h").stdout, done.stdout)
        for word in (b"--frequency", b"--merge", b"--use-trace-fd"):
            self.assertIn(word, done.stdout)
        for word in (b"--memprof", b"--speedtrack"):
            self.assertNotIn(word, done.stdout)


class Interrupted(Case):
    def test_who_prints_a_capture_ends_and_has_printed_nothing(self):
        """It reads a pipe that is never closed. A capture is printed once it is known to be one: there is no half."""
        with subprocess.Popen([CAT, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as cat:
            cat.stdin.write(b"\x5e\x97\xca\xfd" + bytes(1 << 20))  # far more than a pipe holds: it has read some of it
            cat.stdin.flush()
            cat.send_signal(signal.SIGINT)
            self.assertEqual(cat.wait(timeout=TIMEOUT), -signal.SIGINT)
            self.assertEqual(cat.stdout.read(), b"")
            self.assertEqual(cat.stderr.read(), b"")


class FullDisk(Case):
    @needs_root
    def test_full_disk_keeps_what_was_recorded(self):
        os.mkdir("small")
        # The recorded program continues after the recording, so it checks this itself.
        work = "touch work; while [ -e work ]; do :; done"
        script = ("mount -t tmpfs -o size=2m none small && \"$@\"; status=$?; cp small/x.syscap kept.syscap; rm work; exit $status")
        done = run("unshare", "-m", "sh", "-c", script, "sh", CLI, "-F", "20000", "--no-decode", "small/x.syscap", "--", "sh", "-c", work)
        text = done.stderr.decode()
        if "unshare" in text or "mount:" in text:
            self.skipTest(f"may not mount: {text.splitlines()[0]}")
        if not can_sample():
            self.skipTest("without samples no disk becomes full")
        self.assertEqual(done.returncode, 1, text)
        self.assertIn("the disk is full", text)
        capture = Capture.open("kept.syscap")
        self.assertGreater(os.path.getsize("kept.syscap"), 1 << 20)
        self.assertTrue(capture.of("sample"))

    @needs_root
    def test_disk_that_is_full_already_costs_no_old_file(self):
        os.mkdir("small")
        script = ("mount -t tmpfs -o size=64k none small || exit 77; echo precious >small/x.syscap; cat /dev/zero >small/fill 2>/dev/null;"
                  '"$@"; status=$?; cp small/x.syscap kept; ls -A small >left; exit $status')
        done = run("unshare", "-m", "sh", "-c", script, "sh", CLI, "-f", "small/x.syscap", "--", "true")
        if done.returncode == 77 or b"unshare" in done.stderr:
            self.skipTest(f"may not mount: {done.stderr}")
        self.assert_one_line_error(done, "small/x.syscap", "No space left")
        with open("kept", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious\n")
        with open("left", encoding="ascii") as file:
            self.assertEqual(file.read().split(), ["fill", "x.syscap"])

    def test_limit_of_file_size(self):
        # Whatever else the machine does, the command lines of these alone are more than that.
        zeros = ["0"] * 7500
        for _ in range(8):
            sleeper = subprocess.Popen(["sleep", "1000", *zeros])
            self.addCleanup(sleeper.communicate)
            self.addCleanup(sleeper.kill)
        done = run("sh", "-c", f'ulimit -f {LIMIT // 512}; exec "$@"', "sh", CLI, "x.syscap", "-d", "20", "--", BUSY, "0.2")
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 1, text)
        size = os.path.getsize("x.syscap")
        self.assertRegex(text, rf"Cannot write to '.*/x\.syscap': File too large\. .* {size / 1000:.1f} kB are saved")
        # All of it is whole frames, up to the one that does not fit; the recorder writes none that is longer.
        capture = Capture.open("x.syscap")
        self.assertGreater(len(capture.frames), 1)
        self.assertLessEqual(size, LIMIT)
        self.assertGreater(size, LIMIT - 16384)

    def test_limit_that_allows_no_file(self):
        done = run("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", CLI, "x.syscap", "--", "true")
        self.assert_one_line_error(done, "x.syscap", "File too large")
        self.assertEqual(os.listdir("."), [])

    def test_limit_that_allows_no_report(self):
        self.assertEqual(run(CLI, "x.syscap", "--", "true").returncode, 0)
        done = run("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", REPORT, "flame", "--format", "html", "-o", "x.html", "x.syscap")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"File too large", done.stderr)
        self.assertEqual(os.listdir("."), ["x.syscap"])

    def test_device_that_is_always_full(self):
        done = run(CLI, "-o", "/dev/full", "-d", "5")
        self.assert_one_line_error(done, "'/dev/full'", "No space left on device")
        with open("/dev/full", "wb") as full:
            self.assert_one_line_error(run(CLI, "-o", "-", "-d", "5", stdout=full), "standard output", "No space left on device")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    @needs_sampling
    def test_flame_graph_on_full_disk(self):
        os.symlink("/dev/full", "x.svg")
        done = run(CLI, "--flame", "x.svg", "x.syscap", "--", BUSY, "0.1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, b"'x.svg': .*No space left on device")
        self.assertTrue(Capture.open("x.syscap").of("sample"))

    def test_compressed_file_on_full_disk(self):
        os.symlink("/dev/full", "x.syscap.gz")
        done = run(CLI, "-o", "x.syscap.gz", "-d", "5")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, b"/dev/full': No space left on device")

    def test_report_on_full_disk(self):
        self.assertEqual(run(CLI, "x.syscap", "--", "true").returncode, 0)
        done = run(REPORT, "metadata", "-o", "/dev/full", "x.syscap")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, b"Cannot write to '/dev/full': .*No space left on device")
        with open("/dev/full", "wb") as full:
            for program in ([REPORT, "metadata"], [CAT]):
                done = run(*program, "x.syscap", stdout=full)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, b"standard output: .*No space left on device")


class Meanwhile(Case):
    """Another program does something to the file while it is recorded."""

    def record(self, name, act, *words):
        """What the recorder reports. Something has reached the file when `act` is called."""
        recorder = self.recorder(*words, name)
        recorder.wait_until_recording()
        wait_for(lambda: os.path.getsize(name) > 0, f"{name} has bytes")
        act(name)
        recorder.send(signal.SIGINT)
        status, _, err = recorder.finish()
        self.assertEqual(status, 1, err)
        os.remove("notify")
        return err

    def test_file_that_does_not_stay(self):
        def replace(name):
            with open("other", "w", encoding="ascii") as file:
                file.write("other")
            os.rename("other", name)

        for name in ("x.syscap", "x.syscap.gz"):
            for act, told in ((os.remove, f"'{name}' was removed"), (replace, f"'{name}' was replaced by another file"),
                              (lambda name: os.rename(name, "moved"), f"The recording is in '{self.path('moved')}'"),
                              (lambda name: os.truncate(name, 0), f"'[^']*{name}': another program truncated it")):
                with self.subTest(name, told=told):
                    self.assertRegex(self.record(name, act, "-f"), told)
        with open("x.syscap.gz", "rb") as file:
            self.assertEqual(file.read(), b"")

    def test_renamed_file_is_complete(self):
        self.record("x.syscap", lambda name: os.rename(name, "moved"))
        self.assertTrue(Capture.open("moved").of("process"))

    def test_recording_ends_when_its_file_is_removed(self):
        recorder = self.recorder("x.syscap")
        recorder.wait_until_recording()
        os.remove("x.syscap")
        status, _, err = recorder.finish()
        self.assertEqual(status, 1, err)
        self.assertIn("'x.syscap' was removed", err)

    def test_two_recorders_of_one_file(self):
        for name, words in (("x.syscap", []), ("x.syscap", ["-f"]), ("x.syscap.zst", [])):
            with self.subTest(name, words=words):
                recorder = self.recorder(*words, name)
                recorder.wait_until_recording()
                before = os.stat(name).st_ino
                self.assert_one_line_error(run(CLI, "-f", name, "--", "true"), f"'{name}': another recorder is writing it")
                self.assertEqual(os.stat(name).st_ino, before)
                recorder.send(signal.SIGINT)
                status, _, err = recorder.finish()
                self.assertEqual(status, 0, err)
                done = run(REPORT, "metadata", name)
                self.assertEqual(done.returncode, 0, done.stderr)
                os.remove("notify")
        self.assertEqual(run(CLI, "-f", "x.syscap", "--", "true").returncode, 0)

    def test_two_recorders_of_one_standard_output(self):
        with open("x.syscap", "wb") as file:
            recorder = self.recorder("-o", "-", stdout=file)
            recorder.wait_until_recording()
        done = run("sh", "-c", '"$1" -o - -- true 1<>x.syscap', "sh", CLI)
        self.assertEqual(done.returncode, 1, done.stderr)
        recorder.send(signal.SIGINT)
        status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        Capture.open("x.syscap")


class RefusedThreads(Case):
    def refuse(self, number, *words, once=False):
        """Runs to the end, without the threads from that number on."""
        environment = dict(os.environ, LD_PRELOAD=os.environ["REFUSE_THREADS_MODULE"], REFUSE_THREADS=str(number),
                           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
        if once:
            environment["REFUSE_ONCE"] = "1"
        return run(*words, env=environment)

    def test_no_thread_at_all(self):
        self.assertEqual(run(CLI, "x.syscap", "--", "true").returncode, 0)
        for words in ([CLI, "y.syscap", "--", "true"], [REPORT, "x.syscap"], [CAT, "x.syscap"]):
            with self.subTest(words):
                done = self.refuse(0, *words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rb"Cannot start a thread: .*'ulimit -u'")
        self.assertEqual(os.listdir("."), ["x.syscap"])

    def test_recorder_that_gets_no_more_threads(self):
        # 0 is the check at the beginning. 2 is GLib's own, which ends the program without it.
        n_recorded = 0
        for number in (1, *range(3, 14)):
            for words in ([], ["--unwind", "copy"]):
                with self.subTest(number, words=words):
                    done = self.refuse(number, CLI, "-f", *words, "x.syscap.gz", "--", "true", once=True)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    n_recorded += done.returncode == 0
        self.assertGreater(n_recorded, 0)


class Elsewhere(Case):
    def test_dash_in_the_place_of_the_capture(self):
        done = run(CLI, "-", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(whole(done.stdout).of("process"))
        self.assertEqual(os.listdir("."), [])

    def test_memory_file(self):
        fd = os.memfd_create("capture")
        done = run(CLI, "-d", "0.2", "-o", "-", stdout=fd)
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open(f"/proc/self/fd/{fd}")
        os.close(fd)
        self.assertTrue(capture.of("process"))
        self.assertGreater(capture.end_time, capture.time)

    def test_nothing_is_written_behind_what_a_file_holds(self):
        with open("x", "w", encoding="ascii") as file:
            file.write("precious")
        for words in (["-o", "-", "--", "true"], ["--merge", "a.syscap", "b.syscap"]):
            with open("x", "ab") as file:
                self.assert_one_line_error(run(CLI, *words, stdout=file), "standard output", ">>FILE")
        with open("x", encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_closed_standard_descriptors(self):
        # Output of the recorder or the command must not get into the capture.
        for closed in ("0", "1", "2", "0 1 2"):
            with self.subTest(closed):
                redirections = " ".join(f"{fd}>&-" for fd in closed.split())
                for words in (["--", "sh", "-c", "echo out; echo err >&2"], ["-d", "0.1"]):
                    done = run("sh", "-c", f'exec "$@" {redirections}', "sh", CLI, "-f", "--report", "x.syscap", *words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    Capture.open("x.syscap")

    def test_pipe_without_room_for_a_copy(self):
        done = run(CLI, "-o", "-", "--", "true", env=dict(os.environ, TMPDIR="/no/such/directory"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no symbols", done.stderr)
        self.assertIn(b"TMPDIR", done.stderr)
        self.assertTrue(whole(done.stdout).of("process"))

    def test_standard_output_gets_the_capture_and_nothing_else(self):
        done = run(CLI, "-o", "-", "--", "echo", "hello")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = whole(done.stdout)
        self.assertIn(b"hello\n", done.stderr)
        self.assertIn("echo", capture.metadata()["spawnable.argv"])
        if can_sample():
            self.assertTrue(capture.file("__symbols__"))

    def test_fifo_is_written_as_it_is(self):
        os.mkfifo("fifo")
        read = []
        reader = threading.Thread(target=lambda: read.append(open("fifo", "rb").read()))  # pylint: disable=consider-using-with
        reader.start()
        done = run(CLI, "fifo", "--", "true")
        reader.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        whole(read[0])
        self.assertTrue(stat.S_ISFIFO(os.stat("fifo").st_mode))

    def test_null_device(self):
        done = run(CLI, "/dev/null", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_reader_that_goes_away(self):
        with subprocess.Popen([CLI, "-o", "-", "-d", "30"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
            recorder.stdout.close()
            err = recorder.stderr.read().decode()
        self.assertEqual(recorder.returncode, 1, err)
        self.assertIn("Broken pipe", err)

    def test_compressed(self):
        kinds = {"gz": gzip.decompress, "xz": lzma.decompress, "bz2": bz2.decompress,
                 "zst": lambda data: run("zstd", "-dc", stdin=None, input=data).stdout}
        for suffix, unpack in kinds.items():
            with self.subTest(suffix):
                if suffix == "zst" and not shutil.which("zstd"):
                    self.skipTest("zstd is not installed")
                done = run(CLI, f"x.syscap.{suffix}", "--", "true")
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(f"x.syscap.{suffix}", "rb") as file:
                    capture = whole(unpack(file.read()))
                self.assertTrue(capture.of("process"))
                done = run(REPORT, "metadata", f"x.syscap.{suffix}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"hostname", done.stdout)


class Merge(Case):
    def setUp(self):
        super().setUp()
        for name in ("a.syscap", "b.syscap"):
            done = run(CLI, name, "--", BUSY, "0.1")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_joins_all_frames(self):
        done = run(CLI, "--merge", "a.syscap", "b.syscap")
        self.assertEqual((done.returncode, without_machine(done.stderr)), (0, b""))
        a, b, both = Capture.open("a.syscap"), Capture.open("b.syscap"), whole(done.stdout)
        for kind in ("sample", "map", "process", "fork", "exit", "ctrset", "metadata"):
            self.assertEqual(both.counts()[kind], a.counts()[kind] + b.counts()[kind], kind)
        self.assertEqual(both.time, min(a.time, b.time))
        # The last samples may be slightly after the end. Names of addresses outside of code are no events.
        self.assertEqual(both.end_time, max([a.end_time, b.end_time] +
                                            [frame["time"] for capture in (a, b) for frame in capture.frames if frame["type"] != "jitmap"]))
        for mode in ("wb", "ab"):
            with open(f"to-{mode}", mode) as file:
                self.assertEqual(run(CLI, "--merge", "a.syscap", "b.syscap", stdout=file).returncode, 0)
            again = Capture.open(f"to-{mode}")
            self.assertEqual((again.time, again.end_time, again.counts()), (both.time, both.end_time, both.counts()))

    def test_refusals(self):
        self.assert_one_line_error(run(CLI, "--merge", "a.syscap"), "--merge")
        self.assert_one_line_error(run(CLI, "--merge", "a.syscap", "b.syscap", "-o", "c.syscap"), "--output", ">FILE")
        self.assert_one_line_error(run(CLI, "--merge", "a.syscap", "/dev/null"), "/dev/null", "regular file")
        self.assert_one_line_error(run(CLI, "--merge", "a.syscap", "none.syscap"), "none.syscap", "No such file")
        with open("text", "w", encoding="ascii") as file:
            file.write("no capture")
        self.assert_one_line_error(run(CLI, "--merge", "a.syscap", "text"), "text", "not a capture")
        primary, secondary = pty.openpty()
        done = run(CLI, "--merge", "a.syscap", "b.syscap", stdout=secondary)
        os.close(secondary)
        os.close(primary)
        self.assert_one_line_error(done, "terminal")

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            self.assert_one_line_error(run(CLI, "--merge", "a.syscap", "b.syscap", stdout=full), "No space left")


class Results(Case):
    @needs_sampling
    def test_flame_graphs_are_whole_and_name_functions(self):
        done = run(CLI, "--flame", "x.svg", "x.syscap", "--", BUSY, "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        picture = xml.etree.ElementTree.parse("x.svg").getroot()
        self.assertTrue(picture.tag.endswith("svg"))
        with open("x.svg", encoding="utf-8") as file:
            self.assertIn("heavy_work", file.read())

        done = run(CLI, "-f", "--flame", "x.html", "x.syscap", "--", BUSY, "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("x.html", encoding="utf-8") as file:
            page = file.read()
        self.assertIn("heavy_work", page)
        self.assertNotRegex(page, r"(src|href)=[\"']?https?:")
        self.assertEqual(sorted(os.listdir(".")), ["x.html", "x.svg", "x.syscap"])

    def test_signal_leaves_no_part_of_a_page_behind(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), full_pipe() as pipe:
                # The report does not get out, so the page behind it is not written before the signal.
                recorder = self.recorder("-f", "-d", "0.1", "--report", "--flame", "x.html", "x.syscap", stdout=pipe)
                line = b" "
                while line and b"x.syscap" not in line:
                    line = recorder.process.stderr.readline()
                self.assertTrue([name for name in os.listdir(".") if name.startswith(".x.html.")])
                recorder.send(number)
                self.assertEqual(recorder.finish()[0], -number)
                self.assertEqual(sorted(os.listdir(".")), ["notify", "x.syscap"])
                Capture.open("x.syscap")
                os.remove("notify")

    def test_leaving_at_once_leaves_no_part_of_a_page_behind(self):
        recorder = self.recorder("--flame", "x.html", "x.syscap")
        recorder.wait_until_recording()
        for _ in range(3):
            recorder.send(signal.SIGINT)
        recorder.finish()
        self.assertFalse([name for name in os.listdir(".") if name.startswith(".")])

    def test_signal_leaves_no_part_of_a_report_behind(self):
        self.assertEqual(run(CLI, "x.syscap", "--", BUSY, "0.2").returncode, 0)
        with subprocess.Popen([REPORT, "flame", "--format", "html", "-o", "x.html", "x.syscap"]) as report:
            while report.poll() is None and os.listdir(".") == ["x.syscap"]:
                pass
            report.send_signal(signal.SIGINT)
        self.assertIn(report.returncode, (0, -signal.SIGINT))  # it may have been quicker than us
        self.assertFalse([name for name in os.listdir(".") if name.startswith(".")])

    @needs_sampling
    def test_report_goes_to_standard_output_without_a_command(self):
        done = run(CLI, "--report", "-d", "0.3", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"(?i)samples")

    @needs_sampling
    def test_flame_graph_of_what_went_to_a_pipe(self):
        done = run(CLI, "-o", "-", "--flame", "x.svg", "--", BUSY, "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole(done.stdout)
        with open("x.svg", encoding="utf-8") as file:
            self.assertIn("heavy_work", file.read())


class Cat(Case):
    def test_prints_what_the_capture_holds(self):
        done = run(CLI, "x.syscap", "--", BUSY, "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        done = run(CAT, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        self.assertTrue(text.startswith('document {\n  title: "'), text[:200])
        self.assertEqual(text.count("{"), text.count("}"))
        for name in ("metadata", "callgraph", "marks", "counters"):
            self.assertEqual(len(re.findall(rf"^  {name} {{$", text, re.M)), 1)
        for key in capture.metadata():
            self.assertIn(f'"{key}": "', text)
        if can_sample():
            self.assertIn(f"total: {len(capture.of('sample'))}", text)
            self.assertIn('symbol: "heavy_work"', text)
        definitions = sum(len(frame["counters"]) for frame in capture.of("ctrdef"))
        self.assertEqual(len(re.findall(r"^    counter {$", text, re.M)), definitions)

    def test_switches_leave_blocks_out(self):
        run(CLI, "x.syscap", "--", "true")
        for name in ("metadata", "callgraph", "marks", "counters"):
            done = run(CAT, f"--no-{name}", "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout.decode(), rf"(?m)^  {name} {{$")

    def test_standard_input_and_errors(self):
        run(CLI, "x.syscap", "--", "true")
        with open("x.syscap", "rb") as file:
            done = run(CAT, "-", stdin=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(CAT)
        self.assertEqual((done.returncode, done.stderr), (2, b"sysprof-cat: No capture given. Usage: sysprof-cat [OPTION...] CAPTURE; see --help.\n"))
        done = run(CAT, "none.syscap")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"none.syscap", done.stderr)


if __name__ == "__main__":
    tap.main()
