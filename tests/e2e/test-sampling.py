#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli: selection of samples, event sources, and messages about missing samples."""

import contextlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import unittest

import tap
from decoder import Capture
from programs import ACCOUNT, BUSY, CLI, REPORT, Case, needs_root, needs_sampling, run, spinning

CONTEXTS = range(2**64 - 4095, 2**64)  # linux/perf_event.h, PERF_CONTEXT_…
JITMAP = range(0xE000000000000000, 0xF000000000000000)  # of these, what stands in the place of the frames that are cut


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


NESTED = """
volatile unsigned n;
__attribute__ ((noinline)) static void inner (void) { for (;;) n++; }
__attribute__ ((noinline)) static void middle (void) { inner (); n = 1; }
__attribute__ ((noinline)) void outer (void) { middle (); n = 2; }
"""
AS_LIBRARIES_BEGIN = '__asm__ (".globl _start; _start: xorl %ebp, %ebp; call outer; hlt");'
AS_COMPILED = "void _start (void) { outer (); n = 3; }"  # has a frame, above which the number of arguments stands


# A thread each, which say who they are; and after a line on standard input other names, and more threads.
NAMED_THREADS = """
import json, sys, threading
def rename(name, tid=None):
  open(f"/proc/self/task/{tid or threading.get_native_id()}/comm", "w").write(name)
tids, ready, go = {}, threading.Semaphore(0), threading.Event()
def run(key, name):
  if name:
    rename(name)
  tids[key] = threading.get_native_id()
  ready.release()
  if key == "alpha":
    go.wait()
    start("child of alpha", None)
  while True: pass
def start(key, name):
  threading.Thread(target=run, args=(key, name), daemon=True).start()
def report(n):
  for _ in range(n):
    ready.acquire()
  print(json.dumps(tids), flush=True)
start("alpha", "alpha"), start("beta", "beta"), start("plain", None)
report(3)
sys.stdin.readline()
go.set()
rename("gamma \\\\;1", tids["beta"])
rename("renamed")
start("delta", "delta")
report(2)
while True: pass
"""


@unittest.skipUnless(platform.machine() == "x86_64", "only this machine runs programs of 32 bits beside its own")
class Compat(Case):
    """Programs of 32 bits are unwound by frame pointers if they have any. Otherwise their stacks carry the
    reason."""

    def rows_of(self, begin, *options):
        with open("nested.c", "w", encoding="ascii") as file:
            file.write(NESTED + begin)
        built = run("gcc", "-m32", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie", "-fno-optimize-sibling-calls", *options, "nested.c", "-o", "nested")
        if built.returncode != 0:
            self.skipTest(f"gcc -m32 does not work here: {built.stderr}")
        try:
            program = subprocess.Popen([self.path("nested"), "an", "argument"])
        except OSError as error:
            self.skipTest(f"this kernel runs no programs of 32 bits: {error}")
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        done = run(CLI, "-f", "--unwind", "tables", "-d", "1", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.report("samples", program.pid)
        self.assertGreater(len(rows), 10)
        return program.pid, rows

    def report(self, view, pid):
        return json.loads(run(REPORT, view, "--format", "json", "--process", pid, "x.syscap").stdout)["rows"]

    @needs_root
    def test_with_frame_pointers(self):
        self.check_with_frame_pointers(AS_LIBRARIES_BEGIN)

    @needs_root
    def test_without_a_library(self):
        self.check_with_frame_pointers(AS_COMPILED)

    def check_with_frame_pointers(self, begin):
        pid, rows = self.rows_of(begin, "-O0", "-fno-omit-frame-pointer")
        found = [[entry["symbol"] for entry in row["stack"] if entry["kind"] == "user"][:4] for row in rows]
        right = found.count(["inner", "middle", "outer", "_start"])
        self.assertGreaterEqual(right, 0.9 * len(rows), found[:3])
        self.assertGreaterEqual(sum(row["complete"] for row in rows), 0.9 * len(rows), {row["reason"] for row in rows})
        self.assertIn("frame pointers", self.report("processes", pid)[0]["unwind"])
        self.assertEqual({row["unwind"] for row in rows}, {"frame-pointer"})

    @needs_root
    def test_without(self):
        pid, rows = self.rows_of(AS_LIBRARIES_BEGIN, "-O1", "-fomit-frame-pointer")
        cut = [row for row in rows if row["reason"] == "compat"]
        self.assertGreaterEqual(len(cut), 0.9 * len(rows), {row["reason"] for row in rows})
        self.assertFalse(any(row["complete"] for row in cut))
        quality = [row for row in self.report("quality", pid) if "32-bit" in row["reason"]]
        self.assertIn("-fno-omit-frame-pointer", quality[0]["remedy"])


class Refused(Case):
    @needs_root
    @unittest.skipUnless(shutil.which("taskset"), "taskset (util-linux) is not installed")
    def test_walker_of_some_cpus(self):
        """Records of the walker on the sampled CPU are not lost if another CPU refuses them."""
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) < 2:
            self.skipTest("there is one CPU")
        preload = dict(os.environ, LD_PRELOAD=os.environ["REFUSE_PROGRAM"],
                       ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
        with spinning("taskset", "-c", str(cpus[0])), spinning("taskset", "-c", str(cpus[1])):
            for seconds in 2, 20:  # until it is loaded, on a busy machine
                done = run(CLI, "-f", "-d", seconds, "x.syscap", env=preload)
                if b"some CPUs" in done.stderr or b"copies" in done.stderr:
                    break
        self.assertEqual(done.returncode, 0, done.stderr)
        if b"built without BPF" in done.stderr or b"that needs root" in done.stderr:
            self.skipTest("no BPF here")
        self.assertRegex(done.stderr.decode(), r"truncated on some CPUs: .* CPU \d+ \(Invalid argument\)\. Use --unwind=copy")
        capture = Capture.open("x.syscap")
        self.assertEqual(capture.metadata()["org.gnome.sysprof.unwind"], "tables")
        rows = json.loads(run(REPORT, "samples", "--format", "json", "x.syscap").stdout)["rows"]
        walked = [row for row in rows if row["unwind"] == "tables"]
        self.assertEqual(len({row["cpu"] for row in walked}), 1)
        self.assertGreater(sum(row["complete"] for row in walked), 0.5 * len(walked))
        self.assertIn("frame-pointer", {row["unwind"] for row in rows})

    @needs_root
    @unittest.skipUnless(shutil.which("setarch"), "setarch (util-linux) is not installed")
    def test_without_a_walker_nobody_makes_tables(self):
        """On a kernel that reports a version before 6.1, no other instrument needs the thread that makes
        them."""
        look = "i=0; while [ $i -lt 300 ] && cat /proc/$PPID/task/*/comm | grep -q sysprof-unwind; do i=$((i + 1)); sleep 0.1; done; " \
            "cat /proc/$PPID/task/*/comm"
        preload = dict(os.environ, LD_PRELOAD=os.environ["REFUSE_PROGRAM"], REFUSE_ALL="1",
                       ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
        done = run("setarch", "--uname-2.6", CLI, "-f", "x.syscap", "--", "sh", "-c", look, env=preload)
        self.assertEqual(done.returncode, 0, done.stderr)
        if b"the kernel rejects the BPF program that unwinds them" not in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertIn(b"sysprof-pump\n", done.stdout)
        self.assertNotIn(b"sysprof-unwind\n", done.stdout)


GENERATED = """
import mmap, sys
code = mmap.mmap(-1, 1 << 16, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
print(flush=True)
sys.stdin.read()
"""


class Generated(Case):
    @needs_sampling
    def test_code_from_before_the_recording_is_mapped(self):
        with subprocess.Popen([sys.executable, "-c", GENERATED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            with open(f"/proc/{program.pid}/maps", encoding="ascii") as file:
                words = [line.split() for line in file]
            done = run(CLI, "-d", "0.3", "x.syscap")
            program.stdin.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        generated = {tuple(int(number, 16) for number in word[0].split("-")) for word in words if len(word) == 5 and word[1][2] == "x"}
        self.assertTrue(generated)
        found = {(frame["start"], frame["end"]) for frame in Capture.open("x.syscap").of("map")
                 if frame["pid"] == program.pid and frame["path"] == "//anon"}
        self.assertEqual(found, generated)


class Whole(Case):
    @needs_sampling
    def test_command_does_not_narrow_the_sampling(self):
        beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            done = run(CLI, "x.syscap", "--", BUSY, "0.3")
        finally:
            beside.kill()
            beside.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        pids = {frame["pid"] for frame in Capture.open("x.syscap").of("sample")}
        own = {int(number) for number in re.findall(rb"\d+", done.stdout.splitlines()[0])}
        self.assertIn(beside.pid, pids)
        self.assertLessEqual(own, pids)

    @needs_sampling
    def test_pid_narrows_it_to_what_it_starts(self):
        shell = subprocess.Popen(["sh", "-c", f"read go; {BUSY} 0.3; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        recorder = self.recorder("-p", shell.pid, "--json-status", self.path("x.syscap"))
        recorder.wait_for_status()
        out, _ = shell.communicate(b"go\n")
        status, _, err = recorder.finish()
        beside.kill()
        beside.wait()
        self.assertEqual(status, 0, err)
        pids = {frame["pid"] for frame in Capture.open(self.path("x.syscap")).of("sample")}
        own = {int(number) for number in re.findall(rb"\d+", out.splitlines()[0])}
        self.assertNotIn(beside.pid, pids)
        self.assertLessEqual(own, pids)
        self.assertLessEqual(pids, own | {shell.pid})

    @needs_sampling
    def test_frequency_is_kept(self):
        for hertz in (100, 1000):
            done = run(CLI, "-f", "-F", hertz, "x.syscap", "--", BUSY, "0.5")
            self.assertEqual(done.returncode, 0, done.stderr)
            pids = {int(number) for number in re.findall(rb"\d+", done.stdout.splitlines()[0])}
            used = sum(int(line.split()[2]) for line in done.stdout.splitlines()[1:]) / 1000
            n = sum(1 for frame in Capture.open("x.syscap").of("sample") if frame["pid"] in pids)
            # It is chance whom a sample finds: four times the deviation. Starting and ending cost a little CPU time
            # beside what the program counts.
            expected, deviation = hertz * used, (hertz * used) ** 0.5
            self.assertGreater(n, 0.95 * expected - 4 * deviation)
            self.assertLess(n, 1.1 * expected + 4 * deviation + 10)

    @needs_sampling
    def test_no_perf_leaves_samples_out(self):
        done = run(CLI, "--no-perf", "x.syscap", "--", BUSY, "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Capture.open("x.syscap").of("sample"), [])

    @needs_sampling
    def test_parts_of_stacks(self):
        # The markers of linux/perf_event.h in front of each part. Addresses not found by a frame pointer may
        # be any number.
        of_kernel, of_user = 2**64 - 128, 2**64 - 512
        for word, marker, other in (("--kernel-only", of_kernel, of_user), ("--user-only", of_user, of_kernel)):
            done = run(CLI, "-f", word, "x.syscap", "--", "find", "/usr", "-newer", "/")
            self.assertEqual(done.returncode, 0, done.stderr)
            samples = Capture.open("x.syscap").of("sample")
            self.assertTrue(samples)
            for sample in samples:
                self.assertNotIn(other, sample["addrs"], [hex(a) for a in sample["addrs"]])
            self.assertTrue(any(marker in sample["addrs"] for sample in samples))

    def test_what_is_not_built_is_named_and_the_rest_recorded(self):
        done = run(CLI, "--memprof", "--speedtrack", "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.decode().splitlines() if re.match(r"[\w -]+: .*(not built|not recorded|not have)", line)]
        self.assertGreaterEqual(len(lines), 2, done.stderr)
        Capture.open("x.syscap")


class Who(Case):
    @needs_sampling
    def test_several_processes_and_the_last_to_end(self):
        with spinning() as beside, spinning() as first, spinning() as second:
            recorder = self.recorder("-p", first.pid, "-p", second.pid, "--json-status", self.path("x.syscap"))
            recorder.wait_for_status()
            first.kill()
            first.wait()
            self.assertIsNone(recorder.process.poll())
            recorder.process.stderr.readline()  # one second more of the other
            second.kill()
            second.wait()
            status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        pids = {frame["pid"] for frame in Capture.open("x.syscap").of("sample")}
        self.assertEqual(pids, {first.pid, second.pid})
        self.assertNotIn(beside.pid, pids)

    @needs_sampling
    def test_one_thread(self):
        program = ("import threading\ndef spin():\n  while True: pass\n"
                   "thread = threading.Thread(target=spin)\nthread.start()\nprint(thread.native_id, flush=True)\nspin()")
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as target:
            tid = int(target.stdout.readline())
            done = run(CLI, "--tid", tid, "-d", "0.5", "x.syscap")
            target.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({(frame["pid"], frame["tid"]) for frame in Capture.open("x.syscap").of("sample")}, {(target.pid, tid)})

    @needs_sampling
    def test_threads_have_their_names_of_all_times(self):
        """As /proc says: from before the recording, changed, and of new threads; and inherited names."""
        with subprocess.Popen([sys.executable, "-c", NAMED_THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            self.addCleanup(target.kill)
            before = json.loads(target.stdout.readline())
            recorder = self.recorder("-p", target.pid, "--json-status", self.path("x.syscap"))
            recorder.wait_for_status()
            target.stdin.write(b"\n")
            target.stdin.flush()
            after = json.loads(target.stdout.readline())
            recorder.process.stderr.readline()  # one second more
            names = {int(task): pathlib.Path(f"/proc/{target.pid}/task/{task}/comm").read_text("ascii")[:-1]
                     for task in os.listdir(f"/proc/{target.pid}/task")}
            recorder.process.send_signal(signal.SIGINT)
            status, _, err = recorder.finish()
            target.kill()
        self.assertEqual(status, 0, err)
        self.assertEqual(sorted(names.values()), sorted(["renamed", "alpha", "gamma \\;1", "delta", "alpha", names[before["plain"]]]))
        rows = {row["tid"]: row for row in json.loads(run(REPORT, "threads", "--format", "json", "--limit", 0, "x.syscap").stdout)["rows"]}
        self.assertEqual({tid: rows[tid]["name"] for tid in names}, names)
        for name, tids in (("alpha", {before["alpha"], after["child of alpha"]}), ("beta", {before["beta"]}), ("gamma*", {before["beta"]}),
                           ("delta", {after["delta"]}), ("renamed", {target.pid}), (names[before["plain"]], {before["plain"], target.pid})):
            chosen = json.loads(run(REPORT, "threads", "--format", "json", "--thread", name, "x.syscap").stdout)["rows"]
            if name == "renamed":  # which "delta" inherited, and kept for as long as it waited for a CPU
                chosen = [row for row in chosen if row["tid"] != after["delta"]]
            self.assertEqual({row["tid"] for row in chosen} & set(names), {tid for tid in tids if rows[tid]["total"]}, name)
        folded = run(REPORT, "--format", "folded", "--threads", "x.syscap").stdout.decode()
        self.assertIn(f";gamma \\:1 ({before['beta']});", folded)

    @needs_sampling
    def test_named_twice_is_sampled_once(self):
        with spinning() as target:
            before = cpu_seconds(target.pid)
            done = run(CLI, "-p", target.pid, "--tid", target.pid, "-p", target.pid, "-d", "1", "--no-decode", "x.syscap")
            used = cpu_seconds(target.pid) - before
        self.assertEqual(done.returncode, 0, done.stderr)
        n = len(Capture.open("x.syscap").of("sample"))
        self.assertGreater(n, 0)
        self.assertLess(n, 1.3 * 1000 * used + 20)

    @needs_sampling
    def test_without_what_it_starts(self):
        with subprocess.Popen(["sh", "-c", f"read go; {BUSY} 0.2; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
            recorder = self.recorder("-p", shell.pid, "--no-follow-forks", "--json-status", self.path("x.syscap"))
            recorder.wait_for_status()
            shell.communicate(b"go\n")
            status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        self.assertEqual({frame["pid"] for frame in Capture.open("x.syscap").of("sample")}, {shell.pid})

    @needs_sampling
    @needs_root
    def test_one_user(self):
        if not shutil.which("setpriv"):
            self.skipTest("setpriv (util-linux) is not installed")
        with spinning(), spinning("setpriv", f"--reuid={ACCOUNT}", "--clear-groups") as theirs:
            done = run(CLI, "--user", ACCOUNT, "-d", "0.5", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(theirs.pid, {frame["pid"] for frame in Capture.open("x.syscap").of("sample")})
        for frame in Capture.open("x.syscap").of("sample"):
            with contextlib.suppress(FileNotFoundError):  # has ended
                self.assertEqual(os.stat(f"/proc/{frame['pid']}").st_uid, ACCOUNT)

    # A mount of the test's own if the machine has none that perf events use; groups exist until they are
    # empty.
    GROUPS = """
        set -e
        place=$1; group=sysprof-test-$$; shift
        mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2 }' /proc/self/mounts | head -n 1)
        test -n "$mount" || mount=$(awk '$3 == "cgroup2" { print $2 }' /proc/self/mounts | head -n 1)
        if test -z "$mount"; then mount=$place; mount -t cgroup2 none "$mount" || exit 77; fi
        mkdir "$mount/$group" "$mount/$group/below" || exit 77
        trap 'for pid in $1 $2 $3; do echo $pid >"$mount/cgroup.procs"; done; rmdir "$mount/$group/below" "$mount/$group"' EXIT
        echo $1 >"$mount/$group/cgroup.procs"
        echo $2 >"$mount/$group/below/cgroup.procs"
        echo $3 >"$mount/$group/cgroup.procs"
        "$5" --cgroup "$group" --pid $1 --pid $2 --pid $4 -d 0.5 x.syscap
    """

    @needs_sampling
    @needs_root
    def test_chosen_processes_of_a_cgroup(self):
        os.mkdir("groups")
        with spinning() as inside, spinning() as below, spinning() as not_chosen, spinning() as outside:
            pids = [process.pid for process in (inside, below, not_chosen, outside)]
            done = run("unshare", "-m", "sh", "-c", self.GROUPS, "sh", self.path("groups"), *pids, CLI)
        if done.returncode == 77:
            self.skipTest(f"no cgroup can be made here: {done.stderr.decode()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({frame["pid"] for frame in Capture.open("x.syscap").of("sample")}, {inside.pid, below.pid})

    @needs_sampling
    def test_one_processor(self):
        done = run(CLI, "--cpu", "0", "x.syscap", "--", BUSY, "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({frame["cpu"] for frame in Capture.open("x.syscap").of("sample")}, {0})


class What(Case):
    @needs_sampling
    @needs_root
    def test_namespaces_of_what_is_started_are_those_of_proc(self):
        names = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
        # It prints its data, then lives until the test has read it.
        script = f"echo $$; for name in {' '.join(names)}; do readlink /proc/$$/ns/$name; done; exec sleep 1"
        done = run(CLI, "x.syscap", "--", "unshare", "-m", "-n", "-u", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        pid, *links = done.stdout.decode().split()
        expected = "".join(f"{name} {re.sub('[^0-9]', '', link)}\n" for name, link in zip(names, links))
        # It may have been looked at before, too, when it had not yet left those it came from.
        recorded = Capture.open("x.syscap").file(f"/proc/{pid}/ns").decode()
        self.assertEqual(recorded[-len(expected):], expected)

    @needs_sampling
    def test_delay(self):
        with spinning():
            done = run(CLI, "--delay", "0.5", "-d", "1", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        times = [frame["time"] - capture.time for frame in capture.of("sample")]
        self.assertTrue(times)
        self.assertGreater(min(times), 490_000_000)

    @needs_sampling
    def test_depth_of_stacks(self):
        for words, depth in ((["--call-depth", "2"], 2), (["--unwind", "none"], 1)):
            done = run(CLI, "-f", *words, "x.syscap", "--", BUSY, "0.2")
            self.assertEqual(done.returncode, 0, done.stderr)
            depths = {sum(1 for address in frame["addrs"] if address not in CONTEXTS and address not in JITMAP) for frame in Capture.open("x.syscap").of("sample")}
            self.assertEqual(max(depths), depth)

    @needs_sampling
    def test_deeper_stacks_than_the_kernel_takes(self):
        """They are cut where it says, whoever walks them."""
        most = int(pathlib.Path("/proc/sys/kernel/perf_event_max_stack").read_text())
        if most > 200:
            self.skipTest(f"the kernel takes {most} addresses")
        # Each list within a list is a call or more.
        program = "import time\nx = []\nfor _ in range(400): x = [x]\nend = time.monotonic() + 1\nwhile time.monotonic() < end: repr(x)"
        done = run(CLI, "-f", "--call-depth", "1000", "x.syscap", "--", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"limit of {most}; deeper stacks are truncated", done.stderr.decode())
        depths = {sum(1 for address in frame["addrs"] if address not in CONTEXTS and address not in JITMAP) for frame in Capture.open("x.syscap").of("sample")}
        self.assertIn(max(depths), range(most // 2, most + 1))

    @needs_sampling
    def test_every_page_fault(self):
        # Of 4096 pages that are written for the first time, each is one.
        program = "import mmap; m = mmap.mmap(-1, 4096 * mmap.PAGESIZE)\nfor i in range(4096): m[i * mmap.PAGESIZE] = 1"
        with subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", sys.executable, "-c", program], stdin=subprocess.PIPE) as target:
            recorder = self.recorder("--event", "minor-faults:1", "-p", target.pid, "--json-status", self.path("x.syscap"))
            recorder.wait_for_status()
            target.communicate(b"go\n")
            status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        n = len(Capture.open("x.syscap").of("sample"))
        self.assertGreater(n, 4096)
        self.assertLess(n, 4 * 4096)

    @needs_sampling
    @needs_root
    def test_tracepoint_sees_every_exec(self):
        shutil.copy(shutil.which("true"), "known-program")
        done = run(CLI, "--event", "sched:sched_process_exec", self.path("x.syscap"), "--",
                   "sh", "-c", "i=0; while [ $i -lt 50 ]; do ./known-program; i=$((i+1)); done")
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = Capture.open("x.syscap")
        names = capture.names()
        self.assertEqual(sum("known-program" in names[frame["pid"]] for frame in capture.of("sample")), 50)

    def test_counters_are_left_out(self):
        done = run(CLI, "-d", "0.3", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        every = Capture.open("x.syscap").counter_categories()
        self.assertLessEqual({"CPU Percent", "Disk", "Memory", "Network"}, every)
        for word, gone in (("--no-cpu", "CPU Percent"), ("--no-disk", "Disk"), ("--no-memory", "Memory"), ("--no-network", "Network"),
                           ("--no-pressure", "Pressure"), ("--no-battery", "Battery"), ("--no-gpu", "GPU"), ("--no-process-usage", "Process"),
                           ("--no-recorder", "Recorder")):
            done = run(CLI, "-f", "-d", "0.1", word, "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            left = Capture.open("x.syscap").counter_categories()
            self.assertEqual(left, {name for name in every if not name.startswith(gone.split()[0])})


class Churn(Case):
    @needs_sampling
    def test_short_lives_have_names_and_mappings(self):
        shutil.copy(shutil.which("true"), "known-program")
        n = 2000
        done = run(CLI, self.path("x.syscap"), "--", "sh", "-c", f"i=0; while [ $i -lt {n} ]; do ./known-program; i=$((i+1)); done")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"none lost", done.stderr)
        capture = Capture.open("x.syscap")
        names, files = capture.names(), capture.mapped_files()
        known = {pid for pid in names if "known-program" in names[pid]}
        self.assertEqual(len(known), n)
        self.assertEqual({pid for pid in known if self.path("known-program") in files[pid]}, known)
        self.assertEqual({pid for pid in known if any("/libc" in path for path in files[pid])}, known)
        self.assertLessEqual(known, {frame["pid"] for frame in capture.of("exit")})
        # All samples after its start have names.
        sampled = {frame["pid"] for frame in capture.of("sample")}
        self.assertTrue(sampled & known)


class Missing(Case):
    @needs_sampling
    def record_with_a_stop(self, quiet, seconds):
        """Returns (capture, message about lost samples or None, all messages)."""
        recorder = self.recorder("-f", *quiet, "-F", "20000", "--no-decode", self.path("x.syscap"))
        try:
            recorder.wait_until_recording()
            # Stopped, as with ^Z, it takes nothing, and the kernel's rings become full.
            recorder.send(signal.SIGSTOP)
            run("timeout", str(seconds), "sh", "-c", "while :; do :; done")
            recorder.send(signal.SIGCONT)
            recorder.send(signal.SIGINT)
            status, _, err = recorder.finish()
        finally:
            os.remove("notify")
        self.assertEqual(status, 0, err)
        return Capture.open("x.syscap"), re.search(r"Samples are missing: (\d+) lost", err), err

    def test_lost_samples_are_counted_and_told(self):
        for quiet in ([], ["--quiet"]):
            with self.subTest(quiet), spinning():
                # A machine that is busy with other work takes fewer samples than requested, and the rings
                # have more room.
                for seconds in (2, 8, 32):
                    capture, told, err = self.record_with_a_stop(quiet, seconds)
                    if told:
                        break
                self.assertTrue(told, err)
                self.assertGreater(int(told[1]), 0)
                self.assertEqual(capture.metadata()["org.gnome.sysprof.lost-samples"], told[1])
                self.assertTrue(any("Lost" in frame["message"] for frame in capture.of("log")))


if __name__ == "__main__":
    tap.main()
