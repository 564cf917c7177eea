#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scheduler details and events as weights, against what perf and the kernel count of the same run."""

import bisect
import collections
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import captures
import tap
from decoder import Capture
from programs import CAT, CLI, REPORT, Case, needs_root, run, spinning, without_machine

PERF = shutil.which("perf")
FAULTS = 20000  # pages that the program touches for the first time
TOUCH = f"""
import mmap, os, resource, time
memory = mmap.mmap(-1, {FAULTS} * mmap.PAGESIZE)
if hasattr(mmap, 'MADV_NOHUGEPAGE'):
    memory.madvise(mmap.MADV_NOHUGEPAGE)
before = resource.getrusage(resource.RUSAGE_SELF)
for page in range({FAULTS}):
    memory[page * mmap.PAGESIZE] = 1
for _ in range(300):
    time.sleep(1e-5)
after = resource.getrusage(resource.RUSAGE_SELF)
print(os.getpid(), after.ru_minflt - before.ru_minflt, after.ru_nvcsw - before.ru_nvcsw)
"""
SHORT_OF_BUSY = "--no-decode", "--no-cpu", "--no-disk", "--no-memory", "--no-network"


def slices(path):
    return [frame for frame in Capture.open(path).of("mark") if frame["group"] == "Scheduler"]


class Scheduler(Case):
    @needs_root
    @unittest.skipUnless(PERF, "perf is not installed")
    def test_as_perf_sched_timehist(self):
        """The same threads ran as often and as long."""
        # Without --buildid-mmap perf fails at mapping records that the kernel marks because another recorder
        # requests build IDs. With its small rings it loses switches when it has to wait for a processor.
        done = run(PERF, "record", "-q", "-B", "-N", "--buildid-mmap", "-m", "16M", "-k", "CLOCK_MONOTONIC", "-a",
                   "-e", "sched:sched_switch", "-o", "perf.data", "--",
                   CLI, "-f", "--no-perf", "--scheduler", *SHORT_OF_BUSY, "x.syscap", "--",
                   "sh", "-c", f"echo $$ >pid; exec {PERF} bench sched pipe -l 3000")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("pid", encoding="ascii") as file:
            pids = {int(file.read())}
        pids |= {frame["child_pid"] for frame in Capture.open("x.syscap").of("fork") if frame["pid"] in pids}

        # Of these two alone: other threads may do the same meanwhile, and continue after one of the recorders
        # has ended.
        ends = collections.defaultdict(list)
        for mark in slices("x.syscap"):
            if mark["pid"] in pids and mark["message"] == "sched-pipe":
                ends[mark["pid"], mark["cpu"]].append((mark["time"] + mark["duration"], mark["duration"]))
        rows = run(PERF, "sched", "timehist", "-i", "perf.data").stdout.decode(errors="replace")
        known = {(cpu, second) for cpu, second, _, _, is_known in self.switches("perf.data") if is_known}
        pairs, n_rows, n_known = [], 0, 0
        for second, cpu, tid, msec in re.findall(r"^ *([\d.]+) \[(\d+)\] +sched-pipe\[(\d+)[/\d]*\] +[\d.]+ +[\d.]+ +([\d.]+) *$", rows, re.MULTILINE):
            here = ends[int(tid), int(cpu)]
            n_rows += int(tid) in pids
            if int(tid) not in pids or (int(cpu), second) not in known:
                continue
            # The two recorders tell the time of a switch one after the other.
            end = int(second.replace(".", "") + "000")
            place = bisect.bisect(here, (end,))
            nearest = min(here[max(place - 1, 0):place + 1], key=lambda one: abs(one[0] - end), default=(0, 0))
            n_known += 1
            if abs(nearest[0] - end) < 100_000:
                pairs.append((nearest[1], float(msec) * 1e6 + 500))  # it cuts what is below a microsecond
        self.assertGreater(n_known, 1000, "slices of which perf knows the beginning")
        self.assertGreaterEqual(len(pairs), 0.99 * n_known, done.stderr)
        self.assertLessEqual(sum(map(len, ends.values())), 1.01 * n_rows, done.stderr)
        # Slices are of few microseconds, as each of the two recorders delays the other's record of a switch.
        self.assertAlmostEqual(sum(ours for ours, _ in pairs) / sum(theirs for _, theirs in pairs), 1, delta=0.1)

    def switches(self, path):
        """(CPU, second, thread, next thread, whether the record before reports the switch to this thread).
        Some kernels (6.18 is one) lose the events of one CPU's idle thread, including its switches to
        others, until the next boot. Then the start of those others is unknown."""
        runs = {}
        script = run(PERF, "script", "-i", path, "-F", "cpu,time,trace").stdout.decode(errors="replace")
        for cpu, second, before, after in re.findall(r"\[(\d+)\] +([\d.]+):.* prev_pid=(\d+) .* next_pid=(\d+)", script):
            yield int(cpu), second, int(before), int(after), runs.get(cpu, before) == before
            runs[cpu] = after

    def cpus_that_lose_events(self):
        self.assertEqual(run(PERF, "record", "-q", "-B", "-N", "--buildid-mmap", "-m", "16M", "-a", "-e", "sched:sched_switch", "-o", "idle.data", "--", "sleep", "0.5").returncode, 0)
        switches = list(self.switches("idle.data"))
        return {cpu for cpu, _, _, after, _ in switches if after == 0} - {cpu for cpu, _, before, _, _ in switches if before == 0}

    @needs_root
    def test_adds_up_to_the_time_that_the_kernel_counts(self):
        def busy():
            with open("/proc/stat", encoding="ascii") as file:
                lines = [line.split() for line in file if re.match(r"cpu\d", line)]
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            idle = {int(words[0][3:]): (int(words[4]) + int(words[5])) * 10**9 // os.sysconf("SC_CLK_TCK") for words in lines}
            return now, idle

        losing = self.cpus_that_lose_events() if PERF else set()
        with spinning():
            recorder = self.recorder("--no-perf", "--scheduler", "--json-status", *SHORT_OF_BUSY, self.path("x.syscap"))
            recorder.wait_for_status()
            begin, idle_before = busy()
            time.sleep(2)
            end, idle_after = busy()
            recorder.send(signal.SIGINT)
            recorder.finish()
        sums = collections.Counter()
        for mark in slices("x.syscap"):
            sums[mark["cpu"]] += max(0, min(mark["time"] + mark["duration"], end) - max(mark["time"], begin))
        for cpu, idle in idle_before.items():
            expected = (end - begin) - (idle_after[cpu] - idle)
            if cpu in losing:
                print(f"# CPU {cpu}: this kernel loses switches of its idle thread", file=sys.stderr)
                self.assertLessEqual(sums[cpu], expected + 0.05 * (end - begin))
                continue
            self.assertAlmostEqual(sums[cpu], expected, delta=0.05 * (end - begin), msg=f"CPU {cpu}")

    @needs_root
    def test_thread_that_is_never_switched(self):
        """Its processor is never idle. Other threads that the kernel runs now and then are reported as well."""
        # If switches of the idle thread are lost, the time at which this one continues is unknown.
        cpus = sorted(os.sched_getaffinity(0) - (self.cpus_that_lose_events() if PERF else set()))
        if not cpus:
            self.skipTest("this kernel loses switches of the idle threads of all processors")
        cpu = cpus[-1]
        spin = f"import os; os.sched_setaffinity(0, {{{cpu}}}); os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)); "
        target = subprocess.Popen([sys.executable, "-c", spin + "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        target.stdout.readline()
        for name in map(str, range(5)):
            done = run(CLI, "-d", "0.15", "--quiet", "--no-perf", "--scheduler", *SHORT_OF_BUSY, "--no-graphics-info", "--no-pressure", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            marks = [mark for mark in slices(name) if mark["cpu"] == cpu]
            self.assertTrue(marks)
            # A recorder that has to wait for the other processors begins late.
            begin, end = marks[0]["time"], marks[-1]["time"] + marks[-1]["duration"]
            self.assertGreater(sum(mark["duration"] for mark in marks), 0.5 * (end - begin))

    @needs_root
    def test_slices_do_not_overlap(self):
        with spinning():
            done = run(CLI, "-f", "--no-perf", "--scheduler", *SHORT_OF_BUSY, "-d", "0.5", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        end = collections.Counter()
        for mark in sorted(slices("x.syscap"), key=lambda mark: mark["time"]):
            self.assertEqual(mark["name"], f'CPU {mark["cpu"]}')
            self.assertGreaterEqual(mark["time"], end[mark["cpu"]])
            self.assertFalse(mark["message"].startswith("swapper/"))
            end[mark["cpu"]] = mark["time"] + mark["duration"]

        capture, marks = Capture.open("x.syscap"), slices("x.syscap")
        begin = capture.time
        done = run(REPORT, "cpus", "--format", "json", "--time", "100ms..400ms", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in json.loads(done.stdout)["rows"]:
            here = [(mark["time"] - begin, mark["time"] - begin + mark["duration"]) for mark in marks if mark["cpu"] == row["cpu"]]
            self.assertEqual(row["busy"], sum(max(0, min(until, 400_000_000) - max(since, 100_000_000)) for since, until in here))
            self.assertEqual(row["switches"], sum(100_000_000 <= since < 400_000_000 for since, _ in here))
            self.assertAlmostEqual(row["utilization"], row["busy"] / 300_000_000 * 100, places=6)


class Weights(Case):
    def total(self, pid, event):
        done = run(REPORT, "functions", "--format", "json", "--weight", f"period:{event}", "--process", pid, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["weight"]["total"]

    def test_one_event_twice_is_refused(self):
        done = run(CLI, "-f", "-d", "0.1", "--event", "cpu-clock", "--event", "page-faults", "--event", "cpu-clock:1000000", "x.syscap")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"Cannot sample on 'cpu-clock:1000000' as well: 'cpu-clock' is named before", done.stderr)

    @needs_root
    def test_a_killed_recording_says_what_it_was_taken_on(self):
        recorder = self.recorder("--json-status", *SHORT_OF_BUSY, "--unwind", "none", "--event", "context-switches:1", "x.syscap")
        recorder.wait_for_status()
        recorder.process.stderr.readline()
        recorder.send(signal.SIGKILL)
        recorder.process.communicate()
        done = run(REPORT, "functions", "--format", "json", "--weight", "period:context-switches", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["weight"]["total"], 0)

    @needs_root
    def test_joined_captures_do_not_mix_events(self):
        """A sample of one capture must not get the event, or the weight, that has its number in the other."""
        for name, events in (("a", ("cpu-clock:1000000",)), ("b", ("cpu-clock:1000000",)), ("c", ("cpu-clock:2000000",)),
                             ("d", ("page-faults:1", "context-switches:1"))):
            words = [word for event in events for word in ("--event", event)]
            done = run(CLI, "-d", "0.2", "--quiet", *SHORT_OF_BUSY, "--no-graphics-info", "--unwind", "none", *words, name)
            self.assertEqual(done.returncode, 0, done.stderr)

        def join(*names):
            done = run(CLI, "--merge", *names)
            self.assertEqual(done.returncode, 0)
            with open("x.syscap", "wb") as file:
                file.write(done.stdout)
            paths = {chunk["path"] for chunk in Capture.open("x.syscap").of("file")}
            return without_machine(done.stderr), sorted(paths & {"__events__", "__periods__"})

        self.assertEqual(join("a", "b"), (b"", ["__events__"]))
        for names in (("a", "c"), ("a", "d"), ("d", "a"), ("d", "d")):
            told, paths = join(*names)
            self.assertEqual(paths, [])
            self.assertIn(b"The sampling event is not recorded", told)
        self.assertEqual(join("d", self.empty())[1], ["__events__", "__periods__"])

    def test_what_of_waits_is_kept_is_said(self):
        def save(name, address, *files):
            content = captures.Capture().jitmap([(address, name)])
            for data in files:
                content.file("__waits__", data)
            return content.save(name)

        head = b"waits\0\1\0"
        names, waits = save("names", captures.JIT + 1), save("waits", captures.JIT + 1, head)
        again, moved = save("again", captures.JIT + 1, head), save("moved", 0xe0000001, head)
        for inputs, told in (((names, waits), b""), ((names, waits, again), b"are kept from one capture only"),
                             ((names, moved), b"Off-CPU times are dropped")):
            done = run(CLI, "--merge", *inputs)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), told != b"")

    def test_whose_kernel_functions_are_kept_is_said(self):
        def save(name, *files):
            content = captures.Capture().sample([0x1000])
            if name.startswith("boot"):
                content.metadata("org.gnome.sysprof.boot-id", f"{name} -")
            for path in files:
                content.file(path, b"ffffffff81000000 T " + name.encode())
            return content.save(name)

        one, other = save("boot-1", "/proc/kallsyms"), save("boot-2", "/proc/kallsyms")
        none, plain, packed = save("none"), save("plain", "/proc/kallsyms"), save("packed", "/proc/kallsyms.gz")
        for inputs, is_told in (((none, plain), False), ((plain, packed), True), ((packed, none, plain), True),
                                ((one, other, one, plain), False)):  # there is no kernel code
            done = run(CLI, "--merge", *inputs)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"kernel symbols are kept from the first capture only" in done.stderr, is_told)
            self.assertEqual(done.stderr.count(b"\n"), is_told)
            self.assertEqual(without_machine(done.stderr), b"")

    def test_functions_of_the_first_kernel_keep_their_names(self):
        """After two boots the kernel has the same address: named when they were recorded, by a list, and not at all."""
        at = 0xffffffff81000000
        for boot in ("one", "two"):
            content = captures.Capture(1, 2).metadata("org.gnome.sysprof.boot-id", f"{boot} -")
            content.file("__symbols__", captures.symbol_table([(at, at + 64, pid, boot, "[kernel]") for pid in (0, 7)]))
            content.file("/proc/kallsyms", f"{at:016x} T {boot}\n{at + 64:016x} T {boot}_next\n{at + 128:016x} - end\n".encode())
            for offset in (4, 70, 1000):
                content.sample([captures.KERNEL, at + offset], pid=7)
            content.save(boot)
        with open("both.syscap", "wb") as both:
            done = run(CLI, "--merge", "one", "two", stdout=both)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (0, 1))
        self.assertIn(b"Kernel functions of 1 of them are shown as '[kernel of another boot]'", done.stderr)
        done = run(REPORT, "samples", "--format", "json", "--limit", "0", "both.syscap")
        named = [[frame["symbol"] for frame in row["stack"] if frame["kind"] == "kernel"] for row in json.loads(done.stdout)["rows"]]
        self.assertEqual(named, [["one"], ["one_next"], [f"[kernel+{at + 1000:#x}]"],
                                 *[["[kernel of another boot]"]] * 3])

    def test_lists_that_are_joined_are_read(self):
        """How the stacks of processes were found, packed, in pieces whose times stand between each other; one damaged."""
        def save(name, lines, offset, cut=0):
            content = captures.Capture()
            packed = gzip.compress(lines + b"9 none=%d\n" % offset * 2000)
            packed = packed[:len(packed) - cut]
            for at in range(0, len(packed), 20):
                content.file("__unwind__.gz", packed[at:at + 20], is_last=at + 20 >= len(packed), time=2000 + 100 * at + offset)
            return content.save(name)

        inputs = [save("a", b"7 tables=3\n", 0), save("b", b"7 copy=1\n", 50), save("c", b"7 copy=1\n", 70, cut=9)]
        done = run(CLI, "--merge", *inputs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Damaged lists of a capture", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        with open("x.syscap", "wb") as file:
            file.write(done.stdout)
        done = run(REPORT, "files", "--extract", "__unwind__", "x.syscap")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, b"7 tables=3\n" + b"9 none=0\n" * 2000 + b"7 copy=1\n" + b"9 none=50\n" * 2000)

    def test_what_is_mixed_up_is_said(self):
        content = captures.Capture()
        for data in (b"0 ns 1000000 cpu-clock\n", b"0 count 1 page-faults\n"):
            content.file("__events__", data)
        done = run(CAT, content.save("mixed"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"joined from several. The sampling events are unknown", done.stderr)

    def empty(self):
        """Of counters alone."""
        done = run(CLI, "-d", "0.1", "--quiet", "--no-perf", "--no-decode", "--no-graphics-info", "empty")
        self.assertEqual(done.returncode, 0, done.stderr)
        return "empty"

    @needs_root
    def test_many_threads_have_room_for_all_events(self):
        """Five descriptors per thread and processor are more than the soft limit."""
        n_threads = 200 // (os.cpu_count() or 1) + 10
        events = [word for name in ("cpu-clock", "task-clock", "page-faults", "context-switches") for word in ("--event", name)]
        threads = f"import threading, time; [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range({n_threads})]; print(flush=True)"
        target = subprocess.Popen([sys.executable, "-c", threads], stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        target.stdout.readline()
        done = run("sh", "-c", 'ulimit -S -n 512; exec "$@"', "sh", CLI, "-f", "-d", "0.2", "--quiet", *SHORT_OF_BUSY, "--no-graphics-info",
                   "--unwind", "none", *events, "--pid", target.pid, "x.syscap")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    @needs_root
    def test_several_are_as_many_as_the_kernel_counts(self):
        """Page faults and switches of a program that counts its own."""
        done = run(CLI, "-f", *SHORT_OF_BUSY, "--unwind", "none", "--event", "page-faults:1", "--event", "cpu-clock", "--event",
                   "context-switches:1", "--event", "sched:sched_switch", "x.syscap", "--", sys.executable, "-c", TOUCH)
        self.assertEqual(done.returncode, 0, done.stderr)
        pid, faults, switches = map(int, done.stdout.split())
        capture = Capture.open("x.syscap")
        self.assertEqual(capture.file("__events__"), b"0 count 1 page-faults\n1 ns 1000000 cpu-clock\n2 count 1 context-switches\n"
                                                     b"3 count 1 sched:sched_switch\n")
        self.assertGreaterEqual(faults, FAULTS)
        # The program's own figures are of its middle part.
        self.assertGreaterEqual(self.total(pid, "page-faults"), faults)
        self.assertLess(self.total(pid, "page-faults"), faults + 10000)
        self.assertGreaterEqual(self.total(pid, "context-switches"), switches)
        self.assertAlmostEqual(self.total(pid, "sched:sched_switch"), self.total(pid, "context-switches"), delta=5)
        self.assertGreater(self.total(pid, "cpu-clock"), 0)

    @needs_root
    def test_periods_that_vary(self):
        """Some samples a second stand for all."""
        done = run(CLI, "-f", *SHORT_OF_BUSY, "--unwind", "frame-pointer", "-F", "997", "--event", "page-faults", "x.syscap", "--",
                   sys.executable, "-c", TOUCH)
        self.assertEqual(done.returncode, 0, done.stderr)
        faults = int(done.stdout.split()[1])
        total = json.loads(run(REPORT, "functions", "--format", "json", "--weight", "period", "x.syscap").stdout)["weight"]["total"]
        self.assertGreater(total, 0.5 * faults)

    @needs_root
    def test_what_the_machine_lacks(self):
        for words, told in ((("--event", "no-such-event"), b"This machine has "), (("--event", "sched:sched_swich"), b"Did you mean 'sched:sched_switch'?"),
                            (("--unwind", "tables", "--event", "cpu-clock", "--event", "page-faults"), b"--unwind copy")):
            done = run(CLI, "-f", "-d", "0.1", *words, "x.syscap")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(told, done.stderr)
        done = run(CLI, "-f", "-d", "0.1", "--event", "cycles", "x.syscap")
        if done.returncode != 0:
            self.assertRegex(done.stderr, rb"'cycles': this machine does not count it .* This machine has .*cpu-clock")


if __name__ == "__main__":
    tap.main()
