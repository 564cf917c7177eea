#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An ordinary user makes the paths of a process lead to files of root, and root records: no such file enters the capture, and no device
is opened. The same paths with a file that the user may read do enter it, which shows that the recorder reads them."""

import contextlib
import os
import pathlib
import platform
import shutil
import stat
import struct
import subprocess
import unittest

import decoder
import tap
from programs import CLI, REPORT, Case, needs_root, run

ATTACK = os.environ.get("CONFUSED_DEPUTY", "confused-deputy")
USER = 54321  # no account has it
SECRET = "correct-horse-battery-staple"
SECONDS = "1.5"


def jitdump(name):
    """A jitdump (tools/perf/Documentation/jitdump-specification.txt) with one function of that name."""
    code = b"\xeb\xfe"
    body = struct.pack("<IIQQQQ", 1, 1, 0x1000, 0x1000, len(code), 1) + name.encode() + b"\0" + code
    machine = {"x86_64": 62, "aarch64": 183}[platform.machine()]
    return struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, 1, 1, 0) + struct.pack("<IIQ", 0, 16 + len(body), 2) + body


@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"), "the attacking program has code for these machines alone")
class ConfusedDeputy(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.attack = self.path("attack")
        shutil.copy(ATTACK, self.attack)
        os.chmod(self.attack, 0o755)
        os.mkdir("home")
        os.chown("home", USER, USER)

    def put(self, content, owner):
        path = self.path("home/target")
        with open(path, "wb") as file:
            file.write(content)
        os.chown(path, owner, owner)
        os.chmod(path, 0o600)
        return path

    def record(self, entry, target):
        """The number of the attacking process, and what was said."""
        place = self.path("home/library" if entry == "device" else "home/root")
        if entry != "device" and not os.path.isdir(place):
            os.mkdir(place)
            os.chown(place, USER, USER)
        front = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        with subprocess.Popen([*front, self.attack, entry, place, target], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as attack:
            try:
                pid = attack.stdout.readline().decode().strip()
                if not pid:
                    error = attack.stderr.read().decode()
                    if attack.wait() == 77:
                        self.skipTest("an ordinary user can make no namespaces here")
                    self.fail(error)
                done = run(CLI, "-f", "--no-decode", "-d", SECONDS, "x.syscap")
            finally:
                attack.kill()
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        return pid, said

    def recorded(self, name):
        return decoder.Capture.open("x.syscap").file(name)

    def assert_not_in_capture(self):
        with open("x.syscap", "rb") as file:
            self.assertNotIn(SECRET.encode(), file.read())

    @needs_root
    def test_container_file_of_root(self):
        pid, _ = self.record("facts", self.put(SECRET.encode(), 0))
        self.assert_not_in_capture()
        self.assertIsNone(self.recorded(f"/proc/{pid}/root/run/.containerenv"))

        pid, _ = self.record("facts", self.put(b"image=a", USER))
        self.assertEqual(self.recorded(f"/proc/{pid}/root/run/.containerenv"), b"image=a")

    @needs_root
    def test_link_to_file_of_root(self):
        pid, _ = self.record("link", self.put(SECRET.encode(), 0))
        self.assert_not_in_capture()
        self.assertIsNone(self.recorded(f"/proc/{pid}/root/.flatpak-info"))

    @needs_root
    def test_file_of_proc(self):
        """Of another process; and one that the user may read, but that stores nothing: reading such a file may have effects."""
        with subprocess.Popen(["sleep", "600"], env={"WORD": SECRET}) as other:
            try:
                for entry in ("link", "facts"):
                    with self.subTest(entry):
                        self.record(entry, f"/proc/{other.pid}/environ")
                        self.assert_not_in_capture()
            finally:
                other.kill()
        pid, _ = self.record("facts", "/proc/version")
        self.assertIsNone(self.recorded(f"/proc/{pid}/root/run/.containerenv"))

    @needs_root
    def test_perf_map_of_root(self):
        pid, said = self.record("map", self.put(f"1000 10 {SECRET}\n".encode(), 0))
        self.assert_not_in_capture()
        self.assertIsNone(self.recorded(f"/proc/{pid}/jit-code"))
        self.assertRegex(said, rf"/tmp/perf-{pid}\.map.* may not read it")

        pid, _ = self.record("map", self.put(b"1000 10 function_of_user\n", USER))
        self.assertIn(b"function_of_user", self.recorded(f"/proc/{pid}/jit-code"))

    @needs_root
    def test_jitdump_of_root(self):
        pid, said = self.record("dump", self.put(jitdump(SECRET), 0))
        self.assert_not_in_capture()
        self.assertIsNone(self.recorded(f"/proc/{pid}/jit-code"))
        self.assertRegex(said, rf"/tmp/jit-{pid}\.dump.* may not read it")

        pid, _ = self.record("dump", self.put(jitdump("function_of_user"), USER))
        self.assertIn(b"function_of_user", self.recorded(f"/proc/{pid}/jit-code"))

    @contextlib.contextmanager
    def program(self, source):
        """`home/program`, which the user owns and runs."""
        if not all(shutil.which(tool) for tool in ("gcc", "objcopy", "setpriv")):
            self.skipTest("gcc, objcopy or setpriv is not installed")
        pathlib.Path("program.c").write_text(source, encoding="ascii")
        subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id=none", "-o", "built", "program.c"], check=True)
        yield self.path("built")
        os.chown("built", USER, USER)
        os.replace("built", "home/program")
        front = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        with subprocess.Popen([*front, self.path("home/program")]) as program:
            try:
                done = run(CLI, "-f", "-d", SECONDS, "x.syscap", env={**os.environ, "SYSPROF_SYMBOL_CACHE": ""})
            finally:
                program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)

    @needs_root
    def test_debug_link_to_file_of_root(self):
        for owner in 0, USER:
            with self.subTest(owner=owner):
                with self.program("__attribute__ ((noinline)) void secret_name (void) { for (;;) ; } int main (void) { secret_name (); }") as built:
                    subprocess.run(["objcopy", "--only-keep-debug", built, "debug"], check=True)
                    target = self.put(pathlib.Path("debug").read_bytes(), owner)
                    os.symlink(target, "home/linked.debug")
                    shutil.copy("debug", "linked.debug")
                    subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=linked.debug", built], check=True)
                names = self.recorded("__symbols__") or b""
                self.assertEqual(b"secret_name" in names, owner == USER)
                os.unlink("home/linked.debug")

    @needs_root
    def test_source_of_root(self):
        for owner in 0, USER:
            with self.subTest(owner=owner):
                target = self.put(SECRET.encode() + b"\n", owner)
                with self.program(f'int main (void) {{\n#line 1 "{target}"\nfor (;;) ; }}'):
                    pass
                done = run(REPORT, "source", "--focus", "main", "--format", "json", "x.syscap")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(target.encode(), done.stdout)
                self.assertEqual(SECRET.encode() in done.stdout, owner == USER)

    @needs_root
    def test_device_in_place_of_library(self):
        """A FIFO stands for a device: whoever writes to it waits until it is opened for reading."""
        fifo = self.path("fifo")
        os.mkfifo(fifo, 0o600)
        with subprocess.Popen(["sh", "-c", 'echo ready && echo >"$0"', fifo], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            try:
                self.record("device", fifo)
                self.assertIsNone(writer.poll(), "the recorder has opened the FIFO")
                self.assertTrue(stat.S_ISLNK(os.lstat(self.path("home/library")).st_mode))
            finally:
                writer.kill()

    @needs_root
    def test_root_that_cannot_become_another_user(self):
        """It parses nothing, and reports that."""
        if not shutil.which("setpriv"):
            self.skipTest("setpriv (util-linux) is not installed")
        for missing in ("setuid", "setgid"):
            with self.subTest(missing):
                done = run("setpriv", f"--bounding-set=-{missing}", CLI, "-f", "--no-decode", "x.syscap", "--", "true")
                said = done.stderr.decode()
                self.assertEqual(done.returncode, 0, said)
                self.assertIn("perf maps, jitdumps and container descriptions are missing", said)
                self.assertIn("--cap-add SETUID --cap-add SETGID", said)
        done = run(CLI, "-f", "--no-decode", "x.syscap", "--", "true")
        self.assertNotIn("--cap-add SETUID", done.stderr.decode())


if __name__ == "__main__":
    tap.main()
