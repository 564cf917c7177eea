#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records messages of the system: a journal whose journald runs in a mount namespace with an empty /run, the
kernel log, and a message bus of the test. Expected values come from journalctl, dbus-send and Debian's
sysprof.

usage: test-system-messages.py [NAME]    the programs come from the environment, see programs.py
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run, wait_for

JOURNALD = "/lib/systemd/systemd-journald"
N_FLOOD = 3000
LONG = "long " * 8000
NOT_WANTED = ["--no-perf", "--no-decode", "--no-graphics-info", "--no-cpu", "--no-disk", "--no-memory", "--no-network"]

WITH_JOURNALD = """
set -e
mount -t tmpfs none /run
mkdir -p /run/systemd/journald.conf.d /run/systemd/journal /run/log/journal
printf '[Journal]\\nRateLimitBurst=0\\nStorage=volatile\\nReadKMsg=no\\nForwardToSyslog=no\\n' >/run/systemd/journald.conf.d/test.conf
%s >journald.log 2>&1 &
journald=$!
trap 'kill $journald' EXIT
for i in $(seq 200); do [ -S /run/systemd/journal/socket ] && break; sleep 0.05; done
"$@"
""" % JOURNALD

# Says what systemd.journal-fields(7) allows, to the journal's own socket, as sd_journal_send() does.
TALK = """
import socket, struct, subprocess, sys
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.connect("/run/systemd/journal/socket")
def say(message, **fields):
    parts = [f"{key}={value}\\n".encode() for key, value in fields.items()]
    journal.send(b"".join(parts) + b"MESSAGE\\n" + struct.pack("<Q", len(message)) + message + b"\\n")
if sys.argv[1] == "before":
    say(b"before the recording", PRIORITY=3)
else:
    for priority in range(8):
        say(b"priority %d" % priority, PRIORITY=priority)
    say(b"no priority")
    say(b"two\\nlines and a \\0 NUL", PRIORITY=6)
    say(sys.argv[2].encode(), PRIORITY=6)
    say(b"huge " * 30000, PRIORITY=6)
    for i in range(int(sys.argv[3])):
        say(b"flood %d" % i, PRIORITY=5)
    # The recording ends with this program: the daemon writes first what it has got.
    subprocess.run(["journalctl", "--sync"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


def logs_of(path, domain):
    done = run(REPORT, "logs", "--format", "json", path)
    assert done.returncode == 0, done.stderr
    return [row for row in json.loads(done.stdout)["rows"] if row["domain"] == domain]


class Journal(Case):
    @needs_root
    def test_says_what_journalctl_says(self):
        for program in (JOURNALD, "journalctl", "unshare"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        if run("unshare", "-m", "mount", "-t", "tmpfs", "none", self.folder).returncode != 0:
            self.skipTest("no mount namespace can be made here")

        script = ('"$1" -c "$2" before; "$3" -f --quiet $4 x.syscap -- "$1" -c "$2" now "$5" "$6"; '
                  'journalctl --sync >/dev/null 2>&1; journalctl --no-pager --all -o json >journal.json')
        done = run("unshare", "-m", "--propagation", "private", "sh", "-c", WITH_JOURNALD, "sh", "sh", "-c", script, "sh",
                   sys.executable, TALK, CLI, " ".join(NOT_WANTED), LONG, N_FLOOD)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

        with open("journal.json", encoding="utf-8") as file:
            known = [json.loads(line) for line in file]
        said = [entry for entry in known if entry.get("_COMM", "").startswith("python") and entry["MESSAGE"] != "before the recording"]
        rows = [row for row in logs_of("x.syscap", "System Log") if row["message"] != "before the recording"]
        rows = [row for row in rows if not row["message"].startswith(("Journal started", "Runtime Journal"))]
        self.assertEqual(len(said), 12 + N_FLOOD)
        self.assertEqual([row["message"] for row in rows[:9]], [f"priority {i}" for i in range(8)] + ["no priority"])
        self.assertEqual([row["severity"] for row in rows[:9]],
                         ["error", "error", "critical", "warning", "warning", "message", "info", "debug", ""])
        self.assertEqual(rows[9]["message"], "two\nlines and a   NUL")
        self.assertTrue(rows[10]["message"].startswith("long long"))
        self.assertIn(f"[truncated: {len(LONG)} bytes in all]", rows[10]["message"])
        # Of one that is packed only the beginning is unpacked.
        size, said_of_it = re.search(r"\[truncated: (\d+) bytes (in all|or more)\]$", rows[11]["message"]).groups()
        self.assertTrue(said_of_it == "or more" and 60000 < int(size) <= 150000, rows[11]["message"][-60:])
        self.assertEqual([row["message"] for row in rows[12:]], [entry["MESSAGE"] for entry in said[12:]])
        # Both clocks count from the same moment, and one message is as far from the other in each.
        begin = rows[0]["time"] - int(said[0]["__MONOTONIC_TIMESTAMP"]) * 1000
        for row, entry in zip(rows, said):
            self.assertEqual(row["time"], int(entry["__MONOTONIC_TIMESTAMP"]) * 1000 + begin)

    def test_no_journal_is_told_when_asked_for(self):
        if glob.glob("/run/log/journal/*/*.journal") or glob.glob("/var/log/journal/*/*.journal"):
            self.skipTest("this machine has a journal")
        words = ["-f", *NOT_WANTED, "-d", "0.1", "x.syscap"]
        self.assertIn(b"System Logs: The system's journal is not recorded: ", run(CLI, "--verbose", *words).stderr)
        self.assertNotIn(b"journal", run(CLI, *words).stderr)
        with open("x.syscap", "rb") as file:
            self.assertIn(b"org.gnome.sysprof.lacks.System Logs\0", file.read())
        self.assertEqual(run(CLI, "--quiet", *words).stderr, b"")
        self.assertNotIn(b"journal", run(CLI, "--verbose", "--no-system-log", *words).stderr)

    def test_default_recording_tells_nothing_of_what_is_not_there(self):
        os.mkdir("empty")
        words = ["-d", "0.1", "--no-perf", "--no-decode", "--quiet", "x.syscap"]
        done = run(CLI, "-f", *words, env={**os.environ, "PATH": self.folder + "/empty"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        done = run(CLI, "-f", "--verbose", *words, env={**os.environ, "PATH": self.folder + "/empty"})
        self.assertIn(b"Subprocess Output: The output of 'eglinfo' is not recorded: ", done.stderr)
        self.assertIn(b"Subprocess Output: The output of 'glxinfo' is not recorded: ", done.stderr)


# A process with another root directory, which has all of /usr. Its files describe its container, and one of
# them is not a regular file.
CONTAINER = """
set -e
mount -t tmpfs none root
mkdir root/usr root/run root/proc root/etc
mount --rbind /usr root/usr
for name in bin lib lib64; do ln -s usr/$name root/$name; done
printf '[Application]\\nname=org.example.App\\n' >root/.flatpak-info
mkfifo root/run/.containerenv
exec chroot root /usr/bin/sleep 60
"""


# A process whose root is an overlay of three directories, with all of /usr in it; and what it starts later.
OVERLAY = """
set -e
mount -t tmpfs none layers
mkdir layers/top layers/work "layers/a middle" layers/bottom
mkdir layers/bottom/usr layers/bottom/dev root
: >layers/bottom/dev/null
for name in bin lib lib64; do ln -s usr/$name layers/bottom/$name; done
echo below >layers/bottom/said
echo above >"layers/a middle/said"
mount -t overlay none -o "lowerdir=$PWD/layers/a middle:$PWD/layers/bottom,upperdir=$PWD/layers/top,workdir=$PWD/layers/work" root
mount --rbind /usr root/usr
cd root
mkdir old
pivot_root . old
exec chroot . /usr/bin/sh -c 'echo ready; read line; sleep 30 & sleep 31 & wait'
"""


class Container(Case):
    @needs_root
    def test_layers_of_its_root_are_told(self):
        if not shutil.which("unshare") or run("unshare", "-m", "true").returncode != 0:
            self.skipTest("no mount namespace can be made here")
        container = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", "mkdir layers; " + OVERLAY], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(container.communicate)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in self.pids_below(container.pid)])
        if container.stdout.readline() != b"ready\n":
            self.skipTest(f"no overlay can be made here: {container.stderr.readline().decode()}")
        self.assertEqual(run("cat", f"/proc/{container.pid}/root/said").stdout, b"above\n")
        recorder = subprocess.Popen([CLI, "--quiet", *NOT_WANTED, "-d", "1.5", "x.syscap"])
        wait_for(lambda: os.path.exists("x.syscap") or recorder.poll() is not None, "the capture is there")
        time.sleep(0.5)
        container.stdin.write(b"\n")
        container.stdin.flush()
        self.assertEqual(recorder.wait(), 0)

        pids = self.pids_below(container.pid)
        self.assertEqual(len(pids), 3)
        folder = os.path.join(self.folder, "layers")
        expected = [(0, f"{folder}/top", "/"), (1, f"{folder}/a middle", "/"), (2, f"{folder}/bottom", "/")]
        told = [frame for frame in Capture.open("x.syscap").of("overlay") if frame["src"].startswith(self.folder)]
        for pid in pids:
            self.assertEqual([(frame["layer"], frame["src"], frame["dst"]) for frame in told if frame["pid"] == pid], expected, pid)
        # Nobody else has them.
        self.assertEqual({frame["pid"] for frame in told}, set(pids))

        # Debian's library reads them.
        if os.path.exists("/usr/bin/sysprof-cli"):
            with open("joined.syscap", "wb") as out:
                self.assertEqual(run("/usr/bin/sysprof-cli", "--merge", "x.syscap", "x.syscap", stdout=out).returncode, 0)
            joined = [frame for frame in Capture.open("joined.syscap").of("overlay") if frame["pid"] in pids]
            self.assertEqual([(frame["pid"], frame["layer"], frame["src"], frame["dst"]) for frame in joined],
                             2 * [(frame["pid"], frame["layer"], frame["src"], frame["dst"]) for frame in told])

    def pids_below(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [pid, *(below for child in file.read().split() for below in self.pids_below(int(child)))]

    @needs_root
    def test_facts_at_its_root_are_kept(self):
        if not shutil.which("unshare") or run("unshare", "-m", "true").returncode != 0:
            self.skipTest("no mount namespace can be made here")
        os.mkdir("root")
        container = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", CONTAINER], stderr=subprocess.DEVNULL)
        self.addCleanup(container.communicate)
        self.addCleanup(container.kill)
        while os.path.basename(os.readlink(f"/proc/{container.pid}/exe")) != "sleep":
            self.assertIsNone(container.poll())
        done = run(CLI, *NOT_WANTED, "-d", "2", "x.syscap")  # plus the time that it waits at the end
        self.assertEqual(done.returncode, 0, done.stderr)
        name = f"/proc/{container.pid}/root/.flatpak-info"
        done = run(REPORT, "files", "--format", "json", "x.syscap")
        names = [row["path"] if "path" in row else row["name"] for row in json.loads(done.stdout)["rows"]]
        self.assertIn(name, names)
        self.assertNotIn(f"/proc/{container.pid}/root/run/.containerenv", names)
        self.assertNotIn(f"/proc/{os.getpid()}/root/.flatpak-info", names)
        self.assertEqual(run(REPORT, "files", "--extract", name, "x.syscap").stdout, b"[Application]\nname=org.example.App\n")


class Bus(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("dbus-daemon") or not shutil.which("dbus-send"):
            self.skipTest("dbus is not installed")
        daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.communicate)
        self.addCleanup(daemon.kill)
        self.address = daemon.stdout.readline().decode().strip()
        self.environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address}

    def test_calls_get_their_answers(self):
        script = ("for i in 1 2 3; do dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames; done;"
                  "dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NoSuchThing;"
                  "for i in 1 2 3; do dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId; done")
        done = run(CLI, *NOT_WANTED, "--session-bus", "x.syscap", "--", "sh", "-c", script, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(REPORT, "dbus", "--by-member", "--format", "json", "x.syscap")
        rows = {row["member"]: row for row in json.loads(done.stdout)["rows"] if row["type"] == "call"}
        for member, count, errors in (("ListNames", 3, 0), ("NoSuchThing", 1, 1)):
            self.assertEqual((rows[member]["count"], rows[member]["unanswered"], rows[member]["errors"]), (count, 0, errors), member)
            self.assertGreaterEqual(rows[member]["min"] or 0, 0)  # missing if call and answer were read at once
        done = run(REPORT, "dbus", "--format", "json", "x.syscap")
        self.assertEqual({row["bus"] for row in json.loads(done.stdout)["rows"]}, {"session"})

    def test_debian_reads_all_that_stands_before(self):
        if not os.path.exists("/usr/bin/sysprof-cli"):
            self.skipTest("Debian's sysprof is not installed")
        for name, words in (("a.syscap", ["--monitor-bus", self.address]), ("b.syscap", [])):
            done = run(CLI, "--no-perf", "--no-decode", "--no-graphics-info", *words, name, "--", "dbus-send", "--session",
                       "--dest=org.example", "/", "org.example.Nothing", env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
        with open("joined.syscap", "wb") as out:
            self.assertEqual(run("/usr/bin/sysprof-cli", "--merge", "a.syscap", "b.syscap", stdout=out).returncode, 0)

        def frames(path):
            done = run(REPORT, "summary", "--format", "json", path)
            return json.loads(done.stdout)["capture"]["frames"]

        a, b, joined = frames("a.syscap"), frames("b.syscap"), frames("joined.syscap")
        self.assertGreater(a["dbus"], 0)
        self.assertNotIn("dbus", {kind for kind, n in joined.items() if n > 0})
        for kind in ("map", "process", "metadata", "log", "file", "ctrset"):
            self.assertEqual(joined.get(kind, 0), a.get(kind, 0) + b.get(kind, 0), kind)


if __name__ == "__main__":
    tap.main()
