#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli without rights: what is missing is named with the ways to grant it, and the rest is recorded."""

import collections
import contextlib
import fcntl
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import unittest

import tap
import wait_stream
from decoder import Capture
from programs import BUSY, CLI, DENY_PERF, LEND_RIGHTS, NOBODY, REPORT, Case, run


PARANOID = "/proc/sys/kernel/perf_event_paranoid"
USER = 2**64 - 512  # PERF_CONTEXT_USER
WHOLE = {1, 2}  # WALK_END, WALK_ROOT of src/bpf/layout.h
UNPRIVILEGED_BPF = "/proc/sys/kernel/unprivileged_bpf_disabled"


def paranoid():
    with open(PARANOID, encoding="ascii") as file:
        return int(file.read())


def set_paranoid(value):
    with open(PARANOID, "w", encoding="ascii") as file:
        file.write(str(value))


class Rights(Case):
    @classmethod
    def setUpClass(cls):
        """As most machines have it, whatever this one has; one at a time, as the setting is the machine's."""
        with contextlib.suppress(OSError):
            lock = open(PARANOID, "r+", encoding="ascii")  # pylint: disable=consider-using-with
            cls.addClassCleanup(lock.close)
            fcntl.flock(lock, fcntl.LOCK_EX)
            cls.addClassCleanup(set_paranoid, paranoid())
            set_paranoid(2)

    def assert_named(self, done):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        for word in ("kernel.perf_event_paranoid", "CAP_PERFMON"):
            self.assertIn(word, text)

    def assert_rest_recorded(self, path):
        capture = Capture.open(path)
        self.assertTrue(capture.of("process"))
        self.assertTrue(capture.of("map"))
        self.assertTrue(capture.of("ctrset"))
        self.assertIn("hostname", capture.metadata())
        return capture

    def test_every_event_refused(self):
        done = run(DENY_PERF, CLI, "-d", "0.5", "x.syscap")
        self.assert_named(done)
        self.assertEqual(self.assert_rest_recorded("x.syscap").of("sample"), [])

    def test_ordinary_user(self):
        if paranoid() < 1:
            self.skipTest("kernel.perf_event_paranoid lets everybody sample here")
        (cli,), as_nobody = self.as_nobody(CLI)
        done = run(*as_nobody, cli, "-d", "0.5", self.path("x.syscap"))
        self.assert_named(done)
        self.assert_rest_recorded("x.syscap")
        # Once, with one line per way.
        for pattern in (" CAP_PERFMON\\.", "^  run it as root,$", "^  or .*: sudo setcap ", "^  or .*: sudo sysctl "):
            self.assertEqual(len(re.findall("(?m)" + pattern, done.stderr.decode())), 1, done.stderr)

    def commands_that_grant(self, done):
        """The commands of the message, as words, without sudo; a person would paste them."""
        return [command.split()[1:] for command in re.findall(r"(?m)^  .*: (sudo .+)$", done.stderr.decode())]

    def assert_whole_system(self, done, path):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"kernel.perf_event_paranoid", done.stderr)
        # Somebody else's process, in the kernel too.
        capture = Capture.open(path)
        self.assertIn(self.beside.pid, {frame["pid"] for frame in capture.of("sample")})

    def spin_beside(self):
        self.beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.addCleanup(self.beside.wait)
        self.addCleanup(self.beside.kill)

    def test_what_the_message_says_grants_it_to_the_program(self):
        if paranoid() < 1:
            self.skipTest("kernel.perf_event_paranoid lets everybody sample here")
        if not shutil.which("setcap"):
            self.skipTest("setcap (libcap2-bin) is not installed")
        (cli, busy), as_nobody = self.as_nobody(CLI, BUSY)
        self.spin_beside()
        deleted = self.start_and_delete(busy, *as_nobody)
        done = run(*as_nobody, cli, "-d", "0.1", self.path("x.syscap"))
        self.assert_named(done)
        for command in self.commands_that_grant(done):
            if command[0] == "setcap":
                self.assertEqual(command[-1], cli)
                granted = run(*command)
                if granted.returncode != 0:
                    self.skipTest(f"no capabilities of files here: {granted.stderr}")
        done = run(*as_nobody, cli, "-d", "0.5", self.path("y.syscap"))
        self.assert_whole_system(done, "y.syscap")
        capture = Capture.open("y.syscap")
        self.assertIn(self.beside.pid, {frame["pid"] for frame in capture.of("map")})  # CAP_SYS_PTRACE
        kallsyms = capture.file("/proc/kallsyms")
        self.assertTrue(kallsyms and re.search(rb"(?m)^(?!0+ )[0-9a-f]+ ", kallsyms))  # CAP_SYSLOG

        done = run(*as_nobody, cli, "-d", "1", "--unwind", "tables", self.path("z.syscap"))
        if b"built without BPF" in done.stderr or platform.machine() != "x86_64":
            return
        self.assertEqual(done.returncode, 0, done.stderr)  # CAP_BPF
        process = json.loads(run(REPORT, "processes", "--format", "json", "--process", deleted, "z.syscap").stdout)["rows"][0]
        self.assertRegex(process["unwind"], r"^tables($| \d|,)")  # CAP_CHECKPOINT_RESTORE: else by its frame pointers

    def test_what_the_message_says_grants_it_to_everybody(self):
        before = paranoid()
        if before < 1:
            self.skipTest("kernel.perf_event_paranoid lets everybody sample here")
        if not os.access(PARANOID, os.W_OK):
            self.skipTest("kernel.perf_event_paranoid cannot be changed here")
        (cli,), as_nobody = self.as_nobody(CLI)
        self.spin_beside()
        command = [c for c in self.commands_that_grant(run(*as_nobody, cli, "-d", "0.1", self.path("x.syscap"))) if c[0] == "sysctl"][0]
        try:
            self.assertEqual(run(*command).returncode, 0)
            done = run(*as_nobody, cli, "-d", "0.5", self.path("y.syscap"))
        finally:
            set_paranoid(before)
        self.assert_whole_system(done, "y.syscap")

    def test_ordinary_user_and_a_process_of_root(self):
        if paranoid() < 1:
            self.skipTest("kernel.perf_event_paranoid lets everybody sample here")
        (cli,), as_nobody = self.as_nobody(CLI)
        self.spin_beside()
        done = run(*as_nobody, cli, "-p", self.beside.pid, "-d", "0.3", self.path("x.syscap"))
        self.assert_named(done)
        self.assertEqual(Capture.open("x.syscap").of("sample"), [])

    def test_ordinary_user_samples_own_command(self):
        (cli, busy), as_nobody = self.as_nobody(CLI, BUSY)
        done = run(*as_nobody, cli, self.path("x.syscap"), "--", busy, "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"child_work", done.stdout)
        self.assert_rest_recorded("x.syscap")

    def start_and_delete(self, program, *front):
        process = subprocess.Popen([*front, program, "60"], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)  # its child, too
        while os.readlink(f"/proc/{process.pid}/exe") != os.path.realpath(program):
            self.assertIsNone(process.poll())
        os.unlink(program)
        return process.pid

    def skip_where_everybody_may_use_bpf(self):
        """There nothing has to be lent."""
        with contextlib.suppress(OSError), open(UNPRIVILEGED_BPF, encoding="ascii") as file:
            if int(file.read()) == 0:
                self.skipTest("kernel.unprivileged_bpf_disabled lets everybody use BPF here")

    def start_hidden_program(self):
        """A program of root, in a folder that other users cannot enter."""
        folder = self.path("hidden")
        os.mkdir(folder, 0o700)
        program = os.path.join(folder, "busy")
        shutil.copy(BUSY, program)
        process = subprocess.Popen([program, "60"], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)  # its child, too
        return process.pid

    @unittest.skipUnless(platform.machine() == "x86_64", "stacks are walked in the kernel on x86-64 alone")
    def test_nobody_with_the_rights_of_a_parent(self):
        """A privileged process opens files and loads BPF programs. The process that records and parses has no
        rights at all, and still unwinds complete stacks of root's programs."""
        self.skip_where_everybody_may_use_bpf()
        (lend,), _ = self.as_nobody(LEND_RIGHTS)
        pid = self.start_hidden_program()
        done = run(lend, pid, "1", self.path("x.syscap"))
        out, err = done.stdout.decode(), done.stderr.decode()
        if "built without BPF" in out:
            self.skipTest("built without BPF")
        self.assertEqual(done.returncode, 0, out + err)

        self.assertRegex(out, rf"Uid:\s{NOBODY}\s{NOBODY}\s{NOBODY}\s{NOBODY}\n")
        self.assertRegex(out, r"Groups:\s*\n")
        for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
            self.assertRegex(out, rf"{name}:\s0+\n")
        self.assertEqual(out.count("refused: "), 9, out)
        self.assertNotIn("told: ", out)
        self.assertEqual(os.stat("x.syscap").st_uid, NOBODY)

        capture = Capture.open("x.syscap")
        self.assertEqual(capture.metadata()["org.gnome.sysprof.unwind"], "tables")
        self.assertIn(pid, {frame["pid"] for frame in capture.of("map")})
        self.assertIn("Scheduler", {frame["group"] for frame in capture.of("mark") if frame["pid"] == pid})
        rows = json.loads(run(REPORT, "samples", "--format", "json", "--process", pid, "x.syscap").stdout)["rows"]
        # Samples before its table is ready are unwound from a copy.
        whole = [row for row in rows if row["complete"] and row["unwind"] in ("tables", "copy")]
        self.assertGreater(len(whole), 100)
        # Before its tables are there, which takes longer on a busy machine, it may be cut.
        covered = rows[len(rows) // 2:]
        self.assertGreaterEqual(sum(row["complete"] for row in covered), 0.97 * len(covered), {row["reason"] for row in covered})
        self.assertTrue(any(row["stack"][-1]["symbol"] == "_start" for row in whole))

        # The same, process by process.
        process = json.loads(run(REPORT, "processes", "--format", "json", "--process", pid, "x.syscap").stdout)["rows"][0]
        self.assertEqual((process["whole"], process["total"]), (len(whole), len(rows)))
        self.assertIn("tables", process["unwind"])

    @unittest.skipUnless(platform.machine() == "x86_64", "stacks are walked in the kernel on x86-64 alone")
    def test_waits_of_one_process_with_the_rights_of_a_parent(self):
        """Beside samples: both walk with the same tables, also the stacks of who wakes it, which is not sampled."""
        self.skip_where_everybody_may_use_bpf()
        (lend,), _ = self.as_nobody(LEND_RIGHTS)
        reader = subprocess.Popen([sys.executable, "-c", "import os\nwhile os.read(0, 1): sum(range(10000))"], stdin=subprocess.PIPE)
        # Another program, of whose files the reader has not all.
        writer = subprocess.Popen(["sh", "-c", "while :; do echo x; sleep 0.01; done"], stdout=reader.stdin)
        for process in reader, writer:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        self.addCleanup(reader.stdin.close)
        for seconds in 1, 4, 16:  # until there are tables, which takes longer on a busy machine
            path = self.path(f"{seconds}.syscap")
            done = run(lend, reader.pid, seconds, path, "off-cpu")
            out, err = done.stdout.decode(), done.stderr.decode()
            if "built without BPF" in out or "Off-CPU: not recorded: the kernel" in out:
                self.skipTest(out)
            self.assertEqual(done.returncode, 0, out + err)
            self.assertNotIn("told: ", out)
            capture = Capture.open(path)
            self.assertEqual({frame["pid"] for frame in capture.of("sample")}, {reader.pid})
            waits = wait_stream.of_capture(capture)
            self.assertEqual({wait.thread.pid for wait in waits.waits}, {reader.pid})
            woken = [wait for wait in waits.waits if wait.waker and wait.waker.pid == writer.pid]
            self.assertGreater(len(woken), 10)
            for stack in woken[-1].stack, woken[-1].waker_stack:
                self.assertIn(USER, stack.addresses)
            if any(wait.waker_stack and self.is_whole(wait.waker_stack) for wait in woken):
                break
        else:
            self.fail(f"no stack of the writer is whole: {collections.Counter(wait.waker_stack and wait.waker_stack.reason for wait in woken)}")

    @staticmethod
    def is_whole(stack):
        return stack.reason in WHOLE and USER in stack.addresses and len(stack.addresses) - stack.addresses.index(USER) > 2

    def test_ordinary_user_is_no_reader_of_others(self):
        (cli,), as_nobody = self.as_nobody(CLI)
        done = run(*as_nobody, cli, "--quiet", "-d", "0.2", self.path("x.syscap"))
        self.assertEqual(done.returncode, 0, done.stderr)
        maps = {frame["pid"] for frame in Capture.open("x.syscap").of("map")}
        self.assertNotIn(os.getpid(), maps)


if __name__ == "__main__":
    tap.main()
