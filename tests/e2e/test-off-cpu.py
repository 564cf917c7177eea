#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares waits with a program that logs its own waits, with the clock, and with perf for the same run."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import tap
import wait_stream
from decoder import Capture
from programs import CLI, REPORT, Case, run, skip_without_bpf

PERF = shutil.which("perf")
DENY_TRACING = os.environ.get("DENY_TRACING", "deny-tracing")
CONTENDED_LOCKS = [os.environ.get(name, name.lower().replace("_", "-")) for name in ("CONTENDED_LOCKS", "CONTENDED_LOCKS_FIXED")]
KNOWN_WAITS = os.environ.get("KNOWN_WAITS", "known-waits")
SHORT = "--no-cpu", "--no-disk", "--no-memory", "--no-network", "--no-decode"
FIRST_PID_NAMESPACE = 0xeffffffc  # its inode, in each kernel
NOT_RECORDED = "Off-CPU: not recorded"
WHOLE = {1, 2, 3, 4}  # WALK_END … of src/bpf/layout.h
MSEC = 10**6
USER = 2**64 - 512  # PERF_CONTEXT_USER
NEAR = 50000  # ns: perf rounds, and its program runs before or behind ours

Step = collections.namedtuple("Step", "tid begin end first second")


def steps(text):
    found = collections.OrderedDict()
    for line in text.splitlines():
        name, *numbers = line.split()
        found[name] = Step(*map(int, numbers))
    return found


def longest(waits, step):
    """Of waits within this time span."""
    inside = [wait for wait in waits.of(step.tid) if wait.begin >= step.begin and wait.begin + wait.duration <= step.end and wait.reason != "preempted"]
    return max(inside, key=lambda wait: wait.duration, default=None)


def has(times, time):
    """perf's numbers have three decimals."""
    return any(abs(other - time) <= 3000 for other in times)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class OffCpu(Case):
    refusal = None  # not tried yet; else why nothing can be recorded here

    def setUp(self):
        super().setUp()
        if OffCpu.refusal is None:
            text = run(CLI, "-f", "--off-cpu", "--no-perf", "-d", "0.1", *SHORT, "tried.syscap").stderr.decode(errors="replace")
            OffCpu.refusal = text if NOT_RECORDED in text else ""
        if OffCpu.refusal:
            skip_without_bpf(self, OffCpu.refusal)

    def skip_where_numbers_differ(self):
        if os.stat("/proc/self/ns/pid").st_ino != FIRST_PID_NAMESPACE:
            self.skipTest("in a namespace processes have other numbers than those by which the kernel's scheduler knows them")

    def record(self, *options, cli=(CLI,), command=(KNOWN_WAITS, "file")):
        done = run(*cli, "-f", "--off-cpu", "--quiet", *SHORT, *options, "x.syscap", "--", "sh", "-c", '"$@" >said', "sh", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        with open("said", encoding="ascii") as file:
            return wait_stream.of_capture(capture), steps(file.read()), capture

    def check_steps(self, waits, known):
        def check(name, reason, at_least, **members):
            with self.subTest(name):
                wait = longest(waits, known[name])
                self.assertIsNotNone(wait, f"none of {len(waits.of(known[name].tid))} waits")
                self.assertEqual(wait.reason, reason, wait)
                self.assertGreaterEqual(wait.duration, at_least)
                for member, value in members.items():
                    found = getattr(wait, member)
                    self.assertEqual(found.tid if member == "waker" and found else found, value, wait)
                return wait

        sleep = check("sleep", "sleep", 500 * MSEC, waker=None)
        self.assertTrue(sleep.flags & wait_stream.BY_INTERRUPT, sleep)
        lock = known["lock"]
        check("lock", "futex", 190 * MSEC, lock=lock.first, holder=lock.second, waker=lock.second)
        lock = known["inheriting-lock"]
        check("inheriting-lock", "futex", 90 * MSEC, lock=lock.first, holder=lock.second, waker=lock.second)
        pipe = check("pipe", "syscall", 140 * MSEC, call=known["pipe"].first, waker=known["pipe"].second)
        for stack in pipe.stack, pipe.waker_stack:
            self.assertIn(stack.reason, WHOLE)
        idle = check("idle", "syscall", 250 * MSEC, call=known["idle"].first, waker=None)
        self.assertTrue(idle.flags & wait_stream.BY_INTERRUPT, idle)
        check("child", "child", 100 * MSEC, waker=known["child"].first)

        for name, reasons in (("fsync", {"io", "syscall"}), ("fault", {"page-fault"})):
            step = known[name]
            inside = [wait for wait in waits.of(step.tid) if step.begin <= wait.begin < step.end and wait.reason not in ("preempted", "other")]
            if not inside:
                print(f"# {name}: nothing was waited for: the file is in memory", file=sys.stderr)
                continue
            self.assertLessEqual({wait.reason for wait in inside}, reasons | ({"syscall"} if name == "fsync" else set()))
            if name == "fsync":
                self.assertEqual({wait.call for wait in inside}, {step.first})

    def check_times(self, waits, known):
        """Of each of its threads: waiting and running are all of the time."""
        step = known["burn"]
        main = waits.of(step.tid)
        begin = min(wait.begin for wait in main)
        total = sum(wait.duration for wait in main) + waits.ran[step.tid]
        self.assertAlmostEqual(total / (step.end - begin), 1, delta=0.01)
        waited = sum(wait.duration for wait in main if step.begin <= wait.begin < step.end)
        self.assertGreater(waits.ran[step.tid] + waited, step.end - step.begin - MSEC)
        for wait in waits.waits:
            self.assertLessEqual(wait.runnable, wait.duration)
            if wait.reason == "preempted":
                self.assertEqual(wait.runnable, wait.duration)

    def test_program_that_knows(self):
        waits, known, capture = self.record("--no-perf")
        self.assertEqual(waits.n_lost, 0)
        self.assertEqual(capture.metadata()["org.gnome.sysprof.lost"], "0")
        self.check_steps(waits, known)
        self.check_times(waits, known)

    def test_with_samples(self):
        waits, known, _ = self.record()
        self.check_steps(waits, known)

    def test_all_time_of_every_thread(self):
        """Those that were there from the first to the last moment."""
        recorder = self.recorder("--no-perf", "--off-cpu", "--json-status", *SHORT, self.path("x.syscap"))
        recorder.wait_for_status()
        time.sleep(2)
        # Some machines hide their first process from whoever goes through all of them.
        threads = {int(tid) for pid in os.listdir("/proc") if pid.isdigit() and pid != "1" for tid in self.threads_of(pid)}
        recorder.send(signal.SIGINT)
        recorder.finish()
        waits = wait_stream.of_capture(Capture.open("x.syscap"))
        begin = min(wait.begin for wait in waits.waits)
        end = max(wait.begin + wait.duration for wait in waits.waits)
        waited = collections.Counter()
        before = set()
        for wait in waits.waits:
            waited[wait.thread.tid] += wait.duration
            if wait.begin == begin:
                before.add(wait.thread.tid)
        checked = threads & before
        self.assertGreater(len(checked), 10)
        for tid in checked:
            if not os.path.exists(f"/proc/{tid}"):
                continue  # its last moments are no wait
            with self.subTest(tid=tid):
                self.assertAlmostEqual((waited[tid] + waits.ran[tid]) / (end - begin), 1, delta=0.01)

    @staticmethod
    def threads_of(pid):
        try:
            return os.listdir(f"/proc/{pid}/task")
        except OSError:
            return []

    @staticmethod
    def switches(script):
        """(time, thread, next thread, whether the record before reports the switch to this thread). Some
        kernels (6.18 is one) lose the events of one CPU's idle thread, including its switches to others,
        until the next boot. Then the start of those others is unknown."""
        runs = {}
        for cpu, second, before, after in re.findall(r"\[(\d+)\] +([\d.]+): +sched:sched_switch:.* prev_pid=(\d+) .* next_pid=(\d+)", script):
            yield round(float(second) * 1e9), int(before), int(after), runs.get(cpu, before) == before
            runs[cpu] = after

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_as_perf_sched_timehist(self):
        """Each time that a thread of the program waited and ran, and how late it came to run."""
        done = run(PERF, "record", "-q", "-B", "-N", "--buildid-mmap", "-m", "16M", "-a", "-k", "CLOCK_MONOTONIC", "-e", "sched:sched_switch", "-e", "sched:sched_waking",
                   "-e", "sched:sched_wakeup_new", "-o", "perf.data", "--",
                   CLI, "-f", "--no-perf", "--off-cpu", *SHORT, "x.syscap", "--", "sh", "-c", f"exec {KNOWN_WAITS} file >said")
        self.assertEqual(done.returncode, 0, done.stderr)
        waits = wait_stream.of_capture(Capture.open("x.syscap"))
        with open("said", encoding="ascii") as file:
            known = steps(file.read())
        rows = run(PERF, "sched", "timehist", "-i", "perf.data").stdout.decode(errors="replace")
        script = run(PERF, "script", "-i", "perf.data", "--ns", "-F", "cpu,time,event,trace").stdout.decode(errors="replace")
        switches = list(self.switches(script))
        n_all = 0
        for tid in known["lock"].second, known["burn"].tid:
            left = [time for time, before, _, is_known in switches if before == tid and is_known]
            came = [time for time, _, after, _ in switches if after == tid]
            wakings = [round(float(second) * 1e9) for second in re.findall(rf"([\d.]+): +sched:sched_waking:.* pid={tid} ", script)]
            n_checked, different = 0, []
            for row in re.finditer(r"^ *([\d.]+) +\[\d+\] +.+?\[(\d+)(?:/\d+)?\] +([\d.]+) +([\d.]+) +([\d.]+)", rows, re.MULTILINE):
                end, waited, delayed, ran = (round(float(row.group(i)) * scale) for i, scale in ((1, 1e9), (3, 1e6), (4, 1e6), (5, 1e6)))
                # Kernels lose switches of their idle threads: only what perf has seen begin and end counts.
                begin = end - ran
                if int(row.group(2)) != tid or waited == 0 or not has(came, begin) or not has(left, begin - waited):
                    continue
                ours = min(waits.of(tid), key=lambda wait: abs(wait.begin + wait.duration - begin))
                after = next((wait for wait in waits.of(tid) if wait.begin > ours.begin), None)
                pairs = [(ours.begin + ours.duration, begin), (ours.duration, waited)]
                # An interrupt of such an idle thread may wake it.
                if ours.reason != "preempted" and any(begin - waited - NEAR <= time <= begin for time in wakings):
                    pairs.append((ours.runnable, delayed))
                if after is not None and has(left, end):
                    pairs.append((after.begin - ours.begin - ours.duration, ran))
                if any(abs(one - other) > NEAR for one, other in pairs):
                    different.append(pairs)
                n_checked += 1
            n_all += n_checked
            self.assertLessEqual(len(different), max(2, n_checked // 20), f"of {n_checked}")
        self.assertGreater(n_all, 3)

    @unittest.skipUnless(shutil.which("nm"), "nm is not installed")
    def test_locks_have_names(self):
        """Of programs at fixed addresses and at random ones; also when the program is gone."""
        short = [option for option in SHORT if option != "--no-decode"]
        for program in CONTENDED_LOCKS:
            with self.subTest(program):
                shutil.copy(program, "locks")
                objects = {line.split()[2] for line in run("nm", "locks").stdout.decode().splitlines() if line.split()[-2] in "bBdD"}
                self.assertLessEqual({"hot_lock", "queue_filled"}, objects)
                done = run(CLI, "-f", "--off-cpu", "--quiet", *short, "x.syscap", "--", "./locks")
                self.assertEqual(done.returncode, 0, done.stderr)
                os.unlink("locks")
                rows = json.loads(run(REPORT, "waits", "--by-lock", "--command", "--format", "json", "x.syscap").stdout)["rows"]
                rows = {row["name"]: row for row in rows}
                self.assertEqual({name for name in rows if not name.startswith("first ")} - objects, set(), rows)
                self.check_lock(rows["hot_lock"], "mutex", "update_total", "holding-functions", "update_total")
                self.check_lock(rows["first locked in append_to_heap"], "mutex", "append_to_heap", "holding-functions", "append_to_heap")
                self.check_lock(rows["queue_filled"], "condition", "take_from_queue", "signaling-functions", "put_into_queue")
                threads = {*rows["hot_lock"]["waiters"], *rows["hot_lock"]["holders"]}
                self.assertGreater(len(threads), 1)
                self.assertEqual({thread.split("/")[0] for thread in threads}, {"locks"})
                self.assertNotIn("main", {function for row in rows.values() for function in row["waiting-functions"]}, "joins are not locks")

    def check_lock(self, row, kind, waits_in, role, other):
        self.assertEqual((row["kind"], row["waiting-functions"][0], row[role][0]), (kind, waits_in, other), row)

    def record_python(self, script, *options):
        done = run(CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, *options, "x.syscap", "--", sys.executable, "-c", textwrap.dedent(script))
        self.assertEqual(done.returncode, 0, done.stderr)
        return wait_stream.of_capture(Capture.open("x.syscap"))

    def test_preempted_threads_have_their_stack(self):
        """Two that want the same processor take it from each other, by the timer's interrupt."""
        waits = self.record_python("""
            import os, time
            os.sched_setaffinity(0, {0})
            child = os.fork()
            end = time.monotonic() + 1.5
            while time.monotonic() < end: pass
            if child: os.waitpid(child, 0)
            """)
        preempted = [wait for wait in waits.waits if wait.reason == "preempted" and wait.stack and wait.thread.name.startswith("python")]
        self.assertGreater(len(preempted), 5)
        with_program = [wait for wait in preempted if USER in wait.stack.addresses]
        self.assertGreater(len(with_program), 0.9 * len(preempted))

    @unittest.skipUnless(os.cpu_count() > 1, "needs two processors")
    def test_wakers_on_other_processors(self):
        waits = self.record_python("""
            import os
            here, there = os.pipe(), os.pipe()
            cpus = sorted(os.sched_getaffinity(0))
            if os.fork() == 0:
                os.sched_setaffinity(0, {cpus[0]})
                for _ in range(5000):
                    os.read(here[0], 1)
                    os.write(there[1], b"x")
                os._exit(0)
            os.sched_setaffinity(0, {cpus[-1]})
            for _ in range(5000):
                os.write(here[1], b"x")
                os.read(there[0], 1)
            os.wait()
            """)
        reads = [wait for wait in waits.waits if wait.reason == "syscall" and wait.call == 0 and wait.thread.name.startswith("python")]
        self.assertGreater(len(reads), 1000)
        unknown = [wait for wait in reads if wait.waker is None and not wait.flags & wait_stream.BY_INTERRUPT]
        self.assertLess(len(unknown), 0.005 * len(reads))

    def test_names_are_those_of_the_time(self):
        """Before they execute another program, as well in a thread that is not the first, and after."""
        waits = self.record_python("""
            import os, sys, threading, time
            for _ in range(20):
                if os.fork() == 0:
                    time.sleep(0.004)
                    os.execvp("sleep", ["sleep", "0.004"])
                os.wait()
            def other():
                time.sleep(0.02)
                os.execv(sys.executable, [sys.executable, "-c", "import time\\nfor _ in range(250): time.sleep(0.0099)"])
            threading.Thread(target=other).start()
            time.sleep(9)
            """)
        def count(least, most):
            return collections.Counter(wait.thread.name[:6] for wait in waits.waits if wait.reason == "sleep" and least <= wait.duration - wait.runnable < most)
        short = count(3.9 * MSEC, 6 * MSEC)
        self.assertGreaterEqual(short["python"], 18, short)
        self.assertGreaterEqual(short["sleep"], 18, short)
        later = [wait.thread for wait in waits.waits if wait.reason == "sleep" and 9.8 * MSEC <= wait.duration - wait.runnable < 12 * MSEC]
        tid, n = collections.Counter(thread.tid for thread in later if thread.name.startswith("python")).most_common(1)[0]
        self.assertGreater(n, 200)
        self.assertEqual({thread.name[:6] for thread in later if thread.tid == tid}, {"python"})

    def test_whoever_becomes_wanted_has_no_time_before(self):
        waits = self.record_python("""
            import os, time
            def spin(second):
                end = time.monotonic() + second
                while time.monotonic() < end: pass
            def become(user):  # whose a thread is, is looked at when it is switched
                time.sleep(0.01); os.seteuid(user); time.sleep(0.01)
            spin(1)
            become(65534); spin(0.2)
            become(0); spin(0.5)
            become(65534); spin(0.2)
            """, "--user", "65534")
        tids = {thread.tid for thread in (wait.thread for wait in waits.waits) if thread.name.startswith("python")} or set(waits.ran)
        for tid in tids:
            waited = sum(wait.duration for wait in waits.of(tid))
            self.assertLess(waits.ran[tid] + waited, 600 * MSEC)

    @staticmethod
    def wait_until(recorder, nsec):
        """Returns its own report, once a second; 0 before it records."""
        for line in iter(recorder.process.stderr.readline, b""):
            if line.startswith(b"{") and json.loads(line).get("time", 0) >= nsec:
                return
        raise AssertionError("the recorder ended")

    def test_children_from_before_the_beginning(self):
        """Processes that a selected process starts during --delay are selected, too."""
        self.skip_where_numbers_differ()
        script = "import os, sys, time\nprint(flush=True)\ninput()\nif os.fork() == 0: print(os.getpid(), flush=True)\nwhile True: time.sleep(0.01)"
        parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(parent.communicate)
        self.addCleanup(os.killpg, parent.pid, signal.SIGKILL)
        parent.stdout.readline()
        recorder = self.recorder("--no-perf", "--off-cpu", "--json-status", *SHORT, "--delay", "2", "--pid", parent.pid, self.path("x.syscap"))
        self.wait_until(recorder, 1)
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        child = int(parent.stdout.readline())
        self.wait_until(recorder, 3e9)
        recorder.send(signal.SIGINT)
        recorder.finish()
        waits = wait_stream.of_capture(Capture.open("x.syscap"))
        self.assertEqual({wait.thread.pid for wait in waits.waits}, {parent.pid, child})

    def test_only_what_was_chosen(self):
        self.skip_where_numbers_differ()
        sleeper = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"])
        try:
            done = run(CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, "-d", "0.5", "--pid", sleeper.pid, "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            waits = wait_stream.of_capture(Capture.open("x.syscap"))
            self.assertEqual({wait.thread.pid for wait in waits.waits}, {sleeper.pid})
            self.assertGreater(len(waits.waits), 20)

            done = run("setpriv", f"--reuid=65534", "--clear-groups", sys.executable, "-c", "pass") if shutil.which("setpriv") else None
            if done is not None:
                other = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "while :; do sleep 0.01; done"])
                try:
                    run(CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, "-d", "0.5", "--user", "65534", "x.syscap")
                    waits = wait_stream.of_capture(Capture.open("x.syscap"))
                    names = {wait.thread.name for wait in waits.waits}
                    self.assertIn("sleep", names)
                    self.assertNotIn(sleeper.pid, {wait.thread.pid for wait in waits.waits})
                finally:
                    other.kill()
                    other.wait()

            run(CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, "-d", "0.5", "--cpu", "0", "x.syscap")
            waits = wait_stream.of_capture(Capture.open("x.syscap"))
            self.assertEqual({wait.cpu for wait in waits.waits if not wait.flags & wait_stream.BEGAN_BEFORE}, {0})
        finally:
            sleeper.kill()
            sleeper.wait()


class Refused(Case):
    def test_without_rights_says_what_is_missing(self):
        (cli,), front = self.as_nobody(CLI)
        done = run(*front, cli, "-f", "--off-cpu", "--no-perf", "-d", "0.2", *SHORT, self.path("x.syscap"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), r"Off-CPU: not recorded: .*CAP_BPF and CAP_PERFMON")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_other_numbers_of_processes_are_told(self):
        inside = "unshare", "--pid", "--fork", "--mount-proc"
        if not shutil.which("unshare") or run(*inside, "true").returncode != 0:
            self.skipTest("no namespaces of processes here")
        record = *inside, CLI, "-f", "--off-cpu", "--no-perf", "-d", "0.1", *SHORT
        # Looked at before the programs are loaded: said also where they are not had.
        self.assertRegex(run(*record, "--pid", "1", "x.syscap").stderr.decode(), r"Off-CPU: not recorded: PIDs in this container")
        text = run(*record, "x.syscap").stderr.decode()
        if NOT_RECORDED in text:
            self.skipTest(text)
        self.assertRegex(text, r"PIDs outside of this container")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_who_is_left_out_leaves_nothing_that_runs(self):
        """The unwinder, which makes tables of the whole machine for this test only, is a thread of the
        recorder."""
        command = "sh", "-c", "sleep 0.1; cat /proc/$PPID/task/*/comm"
        done = run(CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, "x.syscap", "--", *command)
        if NOT_RECORDED in done.stderr.decode():
            self.skipTest(done.stderr.decode())
        self.assertIn(b"sysprof-unwind\n", done.stdout)
        done = run(DENY_TRACING, CLI, "-f", "--off-cpu", "--no-perf", "--quiet", *SHORT, "y.syscap", "--", *command)
        self.assertRegex(done.stderr, rb"Off-CPU: not recorded: the kernel rejects")
        self.assertIn(b"sysprof-pump\n", done.stdout)
        self.assertNotIn(b"sysprof-unwind\n", done.stdout)


if __name__ == "__main__":
    tap.main()
