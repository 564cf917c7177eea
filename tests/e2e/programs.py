# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs under test, and ways to run them as a person would. Their paths come from the environment, which meson sets."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

CLI = os.environ.get("SYSPROF_CLI", "sysprof-cli")
REPORT = os.environ.get("SYSPROF_REPORT", "sysprof-report")
CAT = os.environ.get("SYSPROF_CAT", "sysprof-cat")
BUSY = os.environ.get("BUSY", "busy")
LEND_RIGHTS = os.environ.get("LEND_RIGHTS", "lend-rights")
DENY_PERF = os.environ.get("DENY_PERF", "deny-perf")
NOBODY = 65534
# An account that no other process has. The kernel limits the memory that perf events may lock for each account.
ACCOUNT = 1_000_000 + os.getpid()
TIMEOUT = 120  # seconds: far above what anything takes, under sanitizers too

# nohup, or a shell that starts the tests in the background, makes them ignore signals. The programs under
# test must not inherit this.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def run(*words, **more):
    """Runs to the end, with output as bytes."""
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("timeout", TIMEOUT)
    return subprocess.run([str(word) for word in words], check=False, **more)


def wait_for(condition, what):
    """Returns what `condition` returns once that is true; fails with `what` after TIMEOUT, which is far above what anything takes."""
    end = time.monotonic() + TIMEOUT
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {TIMEOUT} s: {what() if callable(what) else what}")
        time.sleep(0.01)


def cpu_time(pid):
    """Seconds of CPU time that the process has used in user mode."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu_time(pid, seconds):
    """Until the process has used so much more CPU time. Samples are taken in that time, however busy the machine is."""
    end = cpu_time(pid) + seconds
    wait_for(lambda: cpu_time(pid) >= end, f"process {pid} used {seconds} s of CPU time")


BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY = 0, 2
SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)


def can_use_bpf():
    """Whether the kernel gives this process a map for BPF programs and describes its types, by asking the kernel itself."""
    if SYS_BPF is None or os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
        return False
    attributes = struct.pack("IIIII", BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0).ljust(128, b"\0")
    fd = ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, BPF_MAP_CREATE, attributes, len(attributes))
    if fd < 0:
        return False
    os.close(fd)
    return True


def skip_without_bpf(test, told):
    """The recorder did not use BPF, for the reason that it told. That is a fault where the kernel permits BPF to us."""
    if "built without BPF" not in told and can_use_bpf():
        test.fail("the kernel permits BPF, but the recorder did not use it: " + told)
    test.skipTest("no BPF here: " + told)


def without_machine(told):
    """Messages of --merge without two kinds: lists of kernel functions, which captures of unprivileged users
    do not have, and messages about code that other programs of the recorded machine generate."""
    of_machine = b"Lists of kernel symbols are ", b"Lists of generated code are "
    return b"".join(line for line in told.splitlines(True) if not any(part in line for part in of_machine))


@contextlib.contextmanager
def spinning(*front):
    """A process that does nothing but use a CPU."""
    process = subprocess.Popen([*front, sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Recorder:
    """A running recorder; `wait_until_recording` returns when the recorder prints that it records."""

    def __init__(self, folder, *words, **more):
        path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(TIMEOUT)
        environment = dict(more.pop("env", os.environ), NOTIFY_SOCKET=path)
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([CLI, *[str(word) for word in words]], env=environment, **more)

    def wait_until_recording(self):
        assert self.socket.recv(100) == b"READY=1"

    def wait_for_status(self):
        """Waits for the first line of --json-status: then a recording of single processes runs, too. Returns
        the messages before it."""
        before = b""
        for line in iter(self.process.stderr.readline, b""):
            if line.startswith(b'{"time"'):
                return before.decode()
            before += (json.loads(line)["message"] + "\n").encode() if line.startswith(b'{"message"') else line
        raise AssertionError(f"the recorder ended: {before.decode()}")

    def send(self, number):
        self.process.send_signal(number)

    def finish(self):
        try:
            out, err = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.socket.close()
        return self.process.returncode, out, err.decode(errors="replace")


class Case(unittest.TestCase):
    """Each test has an empty folder, in which it runs."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sysprof-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def path(self, name):
        return os.path.join(self.folder, name)

    def recorder(self, *words, **more):
        recorder = Recorder(self.folder, *words, **more)

        def end():
            if recorder.process.poll() is None:
                recorder.process.send_signal(signal.SIGKILL)
                recorder.process.communicate()

        self.addCleanup(end)
        return recorder

    def assert_one_line_error(self, done, *parts):
        """Status 1, and one line on standard error that has all `parts`."""
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 1, text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("sysprof-cli: "), text)
        for part in parts:
            self.assertIn(part, text)

    def as_nobody(self, *programs):
        """Copies of programs that ACCOUNT may run, in a folder where it may write; and the words in front of a command."""
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        if not shutil.which("setpriv"):
            self.skipTest("setpriv (util-linux) is not installed")
        os.chmod(self.folder, 0o777)
        copies = []
        for program in programs:
            copy = self.path(os.path.basename(program))
            shutil.copy(program, copy)
            os.chmod(copy, stat.S_IRUSR | 0o755)
            copies.append(copy)
        return copies, ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups", "--inh-caps=-all"]


def needs_root(function):
    return unittest.skipUnless(os.geteuid() == 0, "needs root")(function)


def can_sample():
    """Whether this process may sample the whole machine."""
    if os.geteuid() == 0:
        return True
    with contextlib.suppress(OSError), open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read()) < 1
    return False


def needs_sampling(function):
    return unittest.skipUnless(can_sample(), "may not sample the machine: needs root or kernel.perf_event_paranoid below 1")(function)
