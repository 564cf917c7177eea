#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli --host over ssh to a server that the test starts: what is recorded there is here, whatever happens on the way."""

import contextlib
import gzip
import json
import os
import pathlib
import pwd
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

import tap
from decoder import Capture, decode, whole
from programs import BUSY, CLI, REPORT, TIMEOUT, Case, can_sample, needs_root, run

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin")
SSH = shutil.which("ssh")
DEBIAN = "/usr/bin/sysprof-cli"
FEW = ["--no-perf", "--no-decode", "--no-graphics-info", "--no-system-log"]  # where only the way matters
NASTY = ["", "a b", "it's", "back\\slash\\\\", "$HOME `id` $(id)", "*", '"', "~", "two\nlines", "=ls", "%self", "ü", "!x", "#", ";&|<>"]
SHELL = os.path.basename(pwd.getpwuid(os.geteuid()).pw_shell)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def parent_and_name(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        name, _, rest = file.read().partition("(")[2].rpartition(")")
        state, parent = rest.split()[:2]
        return (int(parent), name) if state not in "ZX" else (0, "")
    return (0, "")


def descendants(pid):
    """Returns {pid: name} of its children and their children."""
    everything = {int(name): parent_and_name(name) for name in os.listdir("/proc") if name.isdigit()}
    found, before = {pid: ""}, 0
    while len(found) > before:
        before = len(found)
        found.update({child: name for child, (parent, name) in everything.items() if parent in found})
    del found[pid]
    return found


@unittest.skipUnless(SSHD and SSH and shutil.which("ssh-keygen"), "openssh-server or openssh-client is not installed")
class There(Case):
    """This machine once more, by the name of `there`, with a PATH and an empty home of its own."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.place = pathlib.Path(self.folder, "there")
        (self.place / "bin").mkdir(parents=True)
        (self.place / "home").mkdir()
        (self.place / "bin/sysprof-cli").symlink_to(CLI)
        for name in ("host-key", "user-key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / name], check=True)
        self.server = self.port = None

    def start_server(self, path):
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd wants it
        environment = {"PATH": path, "HOME": self.place / "home"}
        environment.update({name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")})
        words = " ".join(f'"{name}={value}"' for name, value in environment.items())
        for _ in range(5):
            self.port = free_port()
            (self.place / "sshd_config").write_text(
                f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.place}/host-key\nPidFile none\nUsePAM no\nStrictModes no\n"
                f"AuthorizedKeysFile {self.place}/user-key.pub\nPasswordAuthentication no\nPermitRootLogin yes\nPrintMotd no\nSetEnv {words}\n")
            self.server = subprocess.Popen([SSHD, "-D", "-e", "-f", self.place / "sshd_config"], stdin=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE)
            said = b""
            for line in iter(self.server.stderr.readline, b""):
                said += line
                if b"Server listening" in line:
                    self.addCleanup(self.stop_server)
                    return
            self.server.communicate()
        self.skipTest(f"sshd does not run here: {said.decode()}")

    def stop_server(self):
        if self.server.poll() is not None:
            return
        for pid in descendants(self.server.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.server.kill()
        self.server.communicate()

    def environment(self, path=None, **more):
        """In which `ssh` knows the server; `path` is the PATH there, None for one with the program under test."""
        is_new = self.server is None
        if is_new:
            self.start_server(path or f"{self.place}/bin:/usr/bin:/bin")
        (self.place / "config").write_text(
            f"Host there\n HostName 127.0.0.1\n Port {self.port}\n User root\n IdentityFile {self.place}/user-key\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {self.place}/known\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking accept-new\n LogLevel ERROR\n")
        (self.place / "here").mkdir(exist_ok=True)
        ssh = self.place / "here/ssh"
        ssh.write_text(f'#!/bin/sh\nexec {SSH} -F {self.place}/config "$@"\n')
        ssh.chmod(0o755)
        if is_new:
            self.log_in(ssh)
        return dict(os.environ, PATH=f"{ssh.parent}:{os.environ['PATH']}", **more)

    def log_in(self, ssh):
        """A locked account, or a shell like nologin, is no fault of the programs under test."""
        done = run(ssh, "there", "exit 0")
        if done.returncode != 0:
            self.skipTest(f"root may not log in by ssh here: status {done.returncode}, {done.stderr.decode().strip()}")

    def record(self, *words, **more):
        return run(CLI, "--host", "there", *words, env=self.environment(**more))

    def files(self):
        return sorted(set(os.listdir(".")) - {"there", "notify"})

    def kill_later(self, path):
        """The command there that writes its pid to `path`, and that outlives its recorder."""
        def kill():
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(pathlib.Path(path).read_text()), signal.SIGKILL)

        self.addCleanup(kill)

    def wait_for_end(self, far):
        """Of the recorder there, and what it started."""
        end = time.monotonic() + TIMEOUT
        while set(far) & set(descendants(self.server.pid)) or any(parent_and_name(pid)[1] == "sysprof-cli" for pid in far):
            self.assertLess(time.monotonic(), end, far)
            time.sleep(0.02)


class Recorded(There):
    @needs_root
    def test_capture_is_as_if_it_were_written_there(self):
        done = self.record("--max-size", "200M", "x.syscap", "--", BUSY, "0.3")
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        capture = Capture.open("x.syscap")
        self.assertIn(f"{BUSY} 0.3", sum(capture.names().values(), []))
        self.assertIn("in 'x.syscap'", text)
        if can_sample():
            self.assertIsNotNone(capture.file("__symbols__"))
            rows = json.loads(run(REPORT, "functions", "--format", "json", "x.syscap").stdout)["rows"]
            self.assertIn("heavy_work", {row["symbol"] for row in rows})
        done = self.record("x.syscap", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--force", done.stderr)

    def test_words_arrive_as_they_are(self):
        done = self.record(*FEW, "--env", "A=it's $HOME", "x.syscap", "--", "python3", "-c",
                           "import os, sys; print('got', [os.environ['A'], sys.stdin.read(), *sys.argv[1:]])", *NASTY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"got {['it' + chr(39) + 's $HOME', '', *NASTY]}\n", done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    def test_status_of_command(self):
        done = self.record(*FEW, "--exit-status", "--json-status", "x.syscap", "--", "sh", "-c", "printf half; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"half", done.stderr)
        last = json.loads(done.stderr.decode().splitlines()[-1])
        self.assertTrue(last["finished"])
        self.assertEqual(last["size"], os.path.getsize("x.syscap"))

    def test_outputs_are_here(self):
        done = self.record(*FEW, "-o", "-", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(whole(done.stdout).of("process"))
        done = self.record(*FEW, "--flame", "x.svg", "--report", "x.syscap.gz", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        with gzip.open("x.syscap.gz") as file:
            self.assertTrue(whole(file.read()).of("process"))
        self.assertEqual(self.files(), ["x.svg", "x.syscap.gz"])
        self.assertEqual(os.listdir(self.place / "home"), [])

    def test_interrupt_ends_it_there(self):
        recorder = self.recorder("--host", "there", "--max-size", "200M", "x.syscap", env=self.environment())
        recorder.wait_until_recording()
        far = descendants(self.server.pid)
        recorder.send(signal.SIGINT)
        status, _, text = recorder.finish()
        self.assertEqual(status, 0, text)
        self.assertIn("adding symbols", text)
        capture = Capture.open("x.syscap")
        if capture.of("sample"):
            self.assertIsNotNone(capture.file("__symbols__"))
        self.wait_for_end(far)

    def test_command_that_outlives_its_recorder(self):
        """It has the far end of standard error, for which the server there keeps the connection."""
        cases = (("-d 0.2", "echo $$ >{}; exec sleep 600", 0), ("--exit-status", "sleep 600 & echo $! >{}; exit 7", 7))
        for number, (option, script, expected) in enumerate(cases):
            pid = self.place / f"pid{number}"
            self.kill_later(pid)
            done = self.record(*FEW, *option.split(), f"{number}.syscap", "--", "sh", "-c", script.format(pid))
            self.assertEqual(done.returncode, expected, done.stderr)
            self.assertNotIn(b"sysprof-cli: ", done.stderr)
            self.assertTrue(Capture.open(f"{number}.syscap").of("process"))
            os.kill(int(pid.read_text()), 0)  # it goes on

    def test_output_that_is_no_text(self):
        done = self.record(*FEW, "--exit-status", "x.syscap", "--", "printf", "a\\0b")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"a\nb", done.stderr)
        self.assertIn(b"in 'x.syscap'", done.stderr)

    def test_command_line_there_is_no_status(self):
        done = self.record(*FEW, "x.syscap", "--", "sh", "-c", "tr '\\0' ' ' </proc/$PPID/cmdline")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.search(r"--far-end=\S+ .*--no-perf .* -o - -- sh", done.stderr.decode()), done.stderr)

    def test_start_up_files_that_print(self):
        if SHELL != "bash":
            self.skipTest("the login shell is not bash, which reads a file for each command")
        (self.place / "home/.bashrc").write_text("echo Welcome\n")
        done = self.record(*FEW, "x.syscap", "--", "true")
        if b"were dropped" not in done.stderr and done.returncode == 0:
            self.skipTest("bash does not read ~/.bashrc for ssh here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"8 bytes", done.stderr)
        self.assertTrue(Capture.open("x.syscap").of("process"))


class Broken(There):
    def test_connection_that_is_lost(self):
        recorder, far = self.recording(self.environment())
        for pid, name in far.items():
            if name.startswith("sshd"):
                os.kill(pid, signal.SIGKILL)
        status, _, text = recorder.finish()
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"sysprof-cli: The connection to 'there' was lost.* [kM]?B received so far are kept in 'x\.syscap'")
        frames = decode(pathlib.Path("x.syscap").read_bytes()).counts()
        done = run(REPORT, "processes", "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["capture"]["frames"]["process"], frames["process"])
        self.wait_for_end(far)

    def test_this_end_is_killed(self):
        recorder = self.recorder("--host", "there", "--max-size", "200M", "x.syscap", env=self.environment())
        recorder.wait_until_recording()
        far = descendants(self.server.pid)
        recorder.send(signal.SIGKILL)
        recorder.finish()
        self.wait_for_end(far)

    def test_nobody_listens(self):
        environment = self.environment()
        self.stop_server()
        done = run(CLI, "--host", "there", "x.syscap", "--", "true", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"Connection refused\s+sysprof-cli: Cannot reach 'there' by ssh[.] .*no ssh server listens")
        self.assertEqual(self.files(), [])

    def recording(self, environment):
        """A recording that has begun, and from which some data has arrived."""
        recorder = self.recorder("--host", "there", "--max-size", "200M", "x.syscap", env=environment)
        recorder.wait_until_recording()
        end = time.monotonic() + TIMEOUT
        while not decode(pathlib.Path("x.syscap").read_bytes()).of("process"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return recorder, descendants(self.server.pid)

    def assert_kept(self, recorder, told):
        status, _, text = recorder.finish()
        self.assertEqual(status, 1, text)
        self.assertRegex(text, rf"sysprof-cli: The connection to 'there' {told}.* received so far are kept in 'x\.syscap' and can be read")
        # The last frame may be incomplete.
        self.assertTrue(decode(pathlib.Path("x.syscap").read_bytes()).of("process"))

    def test_server_that_is_silent(self):
        """The test sends keep-alive requests more often than the default, because ssh uses the first option
        that it reads."""
        environment = self.environment()
        ssh = self.place / "here/ssh"
        ssh.write_text(ssh.read_text().replace('"$@"', '-o ServerAliveInterval=1 -o ServerAliveCountMax=2 "$@"')
                       .replace("exec", f'echo "$@" >>{self.place}/words; exec'))
        recorder, far = self.recording(environment)
        servers = [pid for pid, name in far.items() if name.startswith("sshd")]
        self.assertTrue(servers)
        for pid in servers:
            os.kill(pid, signal.SIGSTOP)
        self.assert_kept(recorder, "was lost")
        for pid in servers:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        self.wait_for_end(far)
        self.assertIn("-o ServerAliveInterval=15 -o ServerAliveCountMax=3", (self.place / "words").read_text())

    def test_recorder_there_is_killed(self):
        recorder, far = self.recording(self.environment())
        for pid, name in far.items():
            if name == "sysprof-cli":
                os.kill(pid, signal.SIGKILL)
        self.assert_kept(recorder, "(was lost|ended too early)")  # as the shell there tells of it
        self.wait_for_end(far)

    def test_name_that_nobody_knows(self):
        environment = self.environment()
        config = self.place / "config"
        config.write_text(config.read_text().replace("HostName 127.0.0.1", f"HostName {'x' * 64}.invalid"))  # longer than names may be: no server is asked
        done = run(CLI, "--host", "there", "x.syscap", "--", "true", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: Cannot reach 'there' by ssh[.] Check the name, or give its address")
        self.assertEqual(self.files(), [])

    def test_machine_with_another_key(self):
        environment = self.environment()
        key = (self.place / "user-key.pub").read_text().split()[:2]
        (self.place / "known").write_text(f"[127.0.0.1]:{self.port} {' '.join(key)}\n")
        done = run(CLI, "--host", "there", "x.syscap", "--", "true", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: Cannot reach 'there' by ssh[.] Its key differs from the known one")
        self.assertEqual(self.files(), [])

    def test_machine_whose_key_nobody_knows(self):
        environment = self.environment()
        (self.place / "known").unlink(missing_ok=True)
        config = self.place / "config"
        config.write_text(config.read_text().replace("accept-new", "yes"))
        done = run(CLI, "--host", "there", "x.syscap", "--", "true", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: Cannot reach 'there' by ssh[.] Connect once with ssh, and compare its key")
        self.assertEqual(self.files(), [])

    def test_login_that_is_refused(self):
        environment = self.environment()
        (self.place / "user-key.pub").write_text("")
        done = run(CLI, "--host", "there", "x.syscap", "--", "true", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: Cannot reach 'there' by ssh[.] It refuses this user")

    def test_no_recorder_there(self):
        done = self.record("x.syscap", "--", "true", path="/no/such/folder")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: There is no sysprof-cli on 'there' .* Install Sysprof")
        self.assertEqual(self.files(), [])

    @unittest.skipUnless(os.path.exists(DEBIAN) and b"3.46" in run(DEBIAN, "--version").stdout, "sysprof-cli 3.46 is not installed")
    def test_older_recorder_there(self):
        done = self.record("x.syscap", "--", "true", path="/usr/bin:/bin")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "sysprof-cli: The sysprof-cli on 'there' has another version.* Install Sysprof")
        self.assertEqual(self.files(), [])

    def test_something_else_there(self):
        (self.place / "other").mkdir()
        program = self.place / "other/sysprof-cli"
        program.write_text("#!/bin/sh\necho Sorry >&2\nexit 3\n")
        program.chmod(0o755)
        done = self.record("x.syscap", "--", "true", path=f"{program.parent}:/usr/bin:/bin")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "Sorry\nsysprof-cli: 'there' sent nothing and exited with status 3[.] Try")
        self.assertEqual(self.files(), [])

    def test_no_ssh_here(self):
        self.assert_one_line_error(run(CLI, "--host", "there", "x.syscap", env=dict(os.environ, PATH="/no/such/folder")), "'ssh'", "Install it")
        self.assertEqual(self.files(), [])

    def test_what_cannot_be_recorded_there(self):
        for words, part in ((["--user", "no-such-user-here"], "no-such-user-here"), (["--", "/no/such/program"], "/no/such/program")):
            done = self.record("x.syscap", *words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(part, done.stderr.decode())
            self.assertEqual(self.files(), [])

    def test_full_disk_here(self):
        done = self.record(*FEW, "-o", "/dev/full", "-d", "20")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"sysprof-cli: Cannot write to '/dev/full': No space left on device", done.stderr)

    def test_what_is_said_to_be_kept_is(self):
        done = run(CLI, "--host", "there", *FEW, "-d", "20", "x.syscap", env=self.environment(),
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 1)
        self.assertIn("sysprof-cli: Cannot write to 'x.syscap': File too large", text)
        self.assertEqual("Nothing is kept" in text, self.files() == [], text)


if __name__ == "__main__":
    tap.main()
