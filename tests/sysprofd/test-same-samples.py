#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An ordinary user's recordings through a service of the other generation have the samples of root's recordings.

Our recorder with Debian's service of Sysprof 3.46, and Debian's recorder with our service. In each case root records
the same run of the same program at the same time with our recorder, with its own rights. The program is built with
frame pointers, and both recordings unwind by them.

The program has one CPU for itself: real-time priority, and the recorders run elsewhere. So it is hardly ever preempted, and
the number of samples that is expected is its CPU time times the rate. A timer's period can begin anywhere in a run of
the program, which makes a difference of at most one sample for each preemption. The kernel takes away at most 5 % of
each second from real-time programs: that makes ten preemptions or fewer, or 0.3 %. The tolerance of 2 % is a multiple of this.
"""

import collections
import glob
import os
import signal
import subprocess

import decoder
import private_bus
import tap
from programs import BUSY, CLI, REPORT, run, wait_for
from user_case import DEBIAN_SERVICE, KERNEL, MARKERS, PARANOID, QUIET, UserCase, restricted_bus

SYSPROFD = os.environ["SYSPROFD"]
DEBIAN_CLI = "/usr/bin/sysprof-cli"
USER = ("setpriv", "--reuid", "daemon", "--clear-groups")
RATE = 1000  # samples per second of CPU time
TOLERANCE = 0.02
SECONDS = 1  # of each of the three threads of BUSY
# Sysprof 3.46 samples on this event. Virtual machines often have no hardware counters.
DEBIAN_EVENT = "cycles:1200000" if glob.glob("/sys/bus/event_source/devices/cpu*") else "cpu-clock"
OLDER_NOTE = ("Sampler: Stacks of programs without frame pointers are truncated: the sysprofd of this machine is of an older version, which "
              "lends neither BPF programs nor copies of stacks. Install the newer sysprofd.\n")
# Events of Sysprof 3.46 do not identify mapped files, and without that only functions of the symbol table are shown.
INLINED = ";burn"


class SameSamples(UserCase):
    def setUp(self):
        super().setUp()
        if not os.path.exists(DEBIAN_SERVICE):
            self.skipTest("no Sysprof 3.46 here")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU only")

    def start(self, bus, command, name):
        """Returns the recorder after its recording has begun."""
        path = f"{self.directory}/{name}.syscap"
        with open(f"{self.directory}/{name}.log", "wb") as log:
            recorder = subprocess.Popen([*command, path], stderr=log,  # pylint: disable=consider-using-with
                                        env={**bus.environment, "DESKTOP_SESSION": "x", "HOME": self.directory})
        self.addCleanup(recorder.kill)
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 4096 or recorder.poll() is not None, "the recording has begun")
        return recorder

    def finish(self, recorder, name):
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(60), 0)
        with open(f"{self.directory}/{name}.log", encoding="utf-8") as log:
            return log.read()

    def record_both(self, service, user_command, event):
        """Returns what the user's recorder reports, and the CPU time of the program in seconds. Sets `samples` and `stacks` of each recording."""
        self.samples, self.stacks = {}, {}
        for path in glob.glob(f"{self.directory}/*.syscap"):
            os.unlink(path)
        cpus = sorted(os.sched_getaffinity(0))
        elsewhere = ["nice", "-n", "-20", "taskset", "-c", ",".join(map(str, cpus[:-1]))]
        with restricted_bus(service) as bus:
            user = self.start(bus, [*elsewhere, *USER, *user_command], "user")
            root = self.start(bus, [*elsewhere, CLI, *QUIET, "--unwind=frame-pointer", f"--event={event}"], "root")
            work = subprocess.Popen(["chrt", "--fifo", "10", "taskset", "-c", str(cpus[-1]), BUSY, str(SECONDS)], stdout=subprocess.DEVNULL)  # pylint: disable=consider-using-with
            _, work.returncode, used = os.wait4(work.pid, 0)
            errors = self.finish(user, "user")
            self.finish(root, "root")
            self.assertEqual(PARANOID.read_text(encoding="ascii").strip(), "2")
        for name in ("user", "root"):
            self.read(name, work.pid)
        return errors, used.ru_utime + used.ru_stime

    def read(self, name, pid):
        path = f"{self.directory}/{name}.syscap"
        capture = decoder.Capture.open(path)
        family = {pid} | {frame["child_pid"] for frame in capture.of("fork") if frame["pid"] == pid}
        self.samples[name] = [frame for frame in capture.of("sample") if frame["pid"] in family]
        folded = run(REPORT, "--format=folded", "--no-kernel", f"--process-tree={pid}", path)
        self.assertEqual(folded.returncode, 0, folded.stderr)
        self.stacks[name] = collections.Counter()
        for line in folded.stdout.decode().splitlines():
            stack, _, count = line.rpartition(" ")
            self.stacks[name][stack.replace(INLINED, "")] += int(count)

    def check_samples(self, expected):
        user, root = len(self.samples["user"]), len(self.samples["root"])
        self.assertLess(abs(user - root), TOLERANCE * expected, (user, root))
        for samples in self.samples.values():  # the rest of the machine's kernel is sampled as well
            self.assertTrue(any(KERNEL <= address < MARKERS for frame in samples for address in frame["addrs"]))

    def check_stacks(self):
        """A stack of a hundredth of the samples is in both; at rarer ones, a timer can hit the few instructions that make a frame."""
        often = {name: {stack for stack, count in stacks.items() if count > len(self.samples[name]) / 100} for name, stacks in self.stacks.items()}
        self.assertEqual(often["user"], often["root"])
        leaves = {stack.rpartition(";")[2] for stack in often["user"]}
        self.assertEqual(leaves, {"heavy_work", "light_work", "nested_work", "child_work"})

    def test_our_recorder_with_debians_service(self):
        for options, note in (((), OLDER_NOTE), (("--unwind=frame-pointer",), "")):
            with self.subTest(options=options):
                errors, used = self.record_both(DEBIAN_SERVICE, [f"{self.directory}/sysprof-cli", *QUIET, *options], "cpu-clock")
                self.assertEqual(errors, note)
                self.check_samples(used * RATE)
                self.assertGreater(len(self.samples["user"]), 0.9 * used * RATE)  # a host may take its CPU away
                self.check_stacks()
                capture = decoder.Capture.open(f"{self.directory}/user.syscap")
                self.assertIn(b" do_syscall_64" if os.uname().machine == "x86_64" else b" el0", capture.file("/proc/kallsyms"))

    def test_debians_recorder_with_our_service(self):
        self.record_both(private_bus.confined(SYSPROFD), [DEBIAN_CLI, "-f", "--no-battery"], DEBIAN_EVENT)
        self.check_samples(len(self.samples["root"]))
        self.check_stacks()


if __name__ == "__main__":
    tap.main()
