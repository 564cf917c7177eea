#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make demo-container`: what runs in its container has names, and nothing of it stays."""

import os
import re
import shutil
import signal
import subprocess
import unittest

import tap
from programs import NOBODY, TIMEOUT, Case, needs_root, needs_sampling, run

DEMO = os.environ.get("DEMO_CONTAINER", "scripts/demo-container")
BUILD = os.environ.get("BUILD_ROOT", "build")
NAMES = {"cook_dinner", "chop_onions", "bake_bread", "knead_dough"}  # of tests/workloads/kitchen.c
# In a separate mount namespace below another root, where the kernel refuses to make user namespaces.
CHROOTED = ["unshare", "--mount", "sh", "-c", 'mount --rbind / "$0" && exec chroot "$0" "$@"']


@unittest.skipUnless(shutil.which("cc") and shutil.which("unshare"), "needs cc and unshare")
class Container(Case):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")  # all that it makes is made here
        os.mkdir(self.work)
        os.chmod(self.folder, 0o755)
        os.chmod(self.work, 0o777)
        self.environment = dict(os.environ, TMPDIR=self.work, DEMO_SECONDS="1", LC_ALL="C")

    def assert_nothing_stays(self, text):
        self.assertEqual(os.listdir(self.work), [])
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            self.assertNotIn(self.work, mounts.read())
        pid = re.search(r"first process is (\d+) here", text)
        self.assertIsNotNone(pid, text)
        self.assertFalse(os.path.exists(f"/proc/{pid[1]}/exe") and "kitchen" in os.readlink(f"/proc/{pid[1]}/exe"))

    def assert_named(self, done):
        text = done.stdout.decode()
        error = done.stderr.decode()
        if "cannot make a container" in error:
            self.skipTest(error.strip())
        self.assertEqual(done.returncode, 0, error + text)
        self.assertLessEqual(NAMES, {word for line in text.splitlines() if " kitchen " in line for word in line.split()}, text)
        self.assert_nothing_stays(text)
        return text

    @needs_sampling
    def test_names_functions(self):
        self.assert_named(run(DEMO, BUILD, env=self.environment))

    @needs_root
    def test_as_root_where_there_is_no_user_namespace(self):
        os.mkdir("root")
        text = self.assert_named(run(*CHROOTED, self.path("root"), DEMO, BUILD, env=self.environment))
        self.assertIn("made as root", text)

    @needs_root
    def test_says_what_is_missing(self):
        os.mkdir("root")
        for path in ("scripts/demo-container", "tests/workloads/kitchen.c"):
            os.makedirs(os.path.dirname(f"copy/{path}"))
            shutil.copy(os.path.join(os.path.dirname(DEMO), "..", path), f"copy/{path}")
        done = run(*CHROOTED, self.path("root"), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                   self.path("copy/scripts/demo-container"), BUILD, env=self.environment)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, 1, error)
        for part in ("cannot make a container: unshare", "user.max_user_namespaces", "sudo make demo-container"):
            self.assertIn(part, error)
        self.assertEqual(os.listdir(self.work), [])

    @needs_sampling
    def test_removes_it_when_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                # A test that is started in the background ignores SIGINT, and a shell cannot change this.
                process = subprocess.Popen([DEMO, BUILD], env=dict(self.environment, DEMO_SECONDS="60"), stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(process.kill)
                line = process.stdout.readline().decode()
                process.send_signal(number)
                _, error = process.communicate(timeout=TIMEOUT)
                if "cannot make a container" in error.decode():
                    self.skipTest(error.decode().strip())
                self.assertEqual(process.returncode, 130, error)
                self.assert_nothing_stays(line)


if __name__ == "__main__":
    tap.main()
