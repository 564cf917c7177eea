#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A main loop in a cgroup with little memory, beside a process in the same group that writes much. The waits
name the calls that block the loop, and the pressure counters report which group is short of memory. The
expected values are the kernel's counters for the thread, and its pressure files."""

import contextlib
import json
import os
import shutil
import subprocess

import tap
import wait_stream
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run, skip_without_bpf, wait_for

LIMITED_LOOP = os.environ.get("LIMITED_LOOP", "limited-loop")
MB = 1 << 20
LIMIT = 64 * MB
WRITTEN = 160  # MB, of the writer's file, which is written again and again
ROUNDS = 5
IN_MEMORY = {"tmpfs", "ramfs"}
BLOCKING = {"save_settings": {"io", "syscall:fsync", "syscall:pwrite64"}, "look_at_pages": {"page-fault", "io"}}


def text(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def stalled(path):
    """Microseconds in which tasks waited, as long as there is the file."""
    return int(text(path).split("total=")[1].split()[0])


def mounts(kind):
    """(where, options) of file systems."""
    return [(words[1], words[3].split(",")) for words in map(str.split, text("/proc/self/mounts").splitlines()) if words[2] == kind]


class MemoryLimit(Case):
    def make_group(self, mount):
        group = os.path.join(mount, f"sysprof-test-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError as error:
            self.skipTest(f"no cgroup can be made in {mount}: {error.strerror}")
        self.addCleanup(self.remove, group)
        return group

    @staticmethod
    def remove(group):
        def is_removed():
            with contextlib.suppress(OSError):
                os.rmdir(group)
            return not os.path.isdir(group)

        wait_for(is_removed, f"{group} is empty")

    def make_groups(self):
        """One with a limit, of whichever version of cgroups has memory here; and one whose pressure the kernel keeps, where that is another."""
        unified = [where for where, _ in mounts("cgroup2")]
        limited = [where for where, options in mounts("cgroup") if "memory" in options]
        if limited:
            groups = [self.make_group(limited[0])]
            limit = "memory.limit_in_bytes"
        else:
            unified = [where for where in unified if "memory" in text(where + "/cgroup.subtree_control").split()]
            if not unified:
                self.skipTest("no cgroup here can have a limit of memory")
            groups = [self.make_group(unified[0])]
            limit = "memory.max"
        with open(os.path.join(groups[0], limit), "w", encoding="ascii") as file:
            file.write(str(LIMIT))
        if limited and unified:
            groups.append(self.make_group(unified[0]))
        return groups

    def start_writer(self, front):
        script = f"while dd if=/dev/zero of=written bs=1M count={WRITTEN} conv=notrunc status=none; do :; done"
        writer = subprocess.Popen(["sh", "-c", front + script], start_new_session=True, stderr=subprocess.DEVNULL)

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(writer.pid, 9)
            writer.wait()

        self.addCleanup(end)

    @needs_root
    def test_blocking_calls_are_named(self):
        kind = run("stat", "-f", "-c", "%T", ".").stdout.decode().strip()
        if kind in IN_MEMORY:
            self.skipTest(f"files of tests lie in memory here ({kind}): nobody waits for a disk")
        has_pressure = os.path.exists("/proc/pressure/memory")
        groups = self.make_groups()
        # The writer is ended first if memory does not suffice.
        join = "".join(f"echo $$ >{group}/cgroup.procs && " for group in groups)
        self.start_writer(join + "echo 1000 >/proc/self/oom_score_adj && ")
        before = {name: stalled(f"/proc/pressure/{name}") for name in ("memory", "io")} if has_pressure else {}
        done = run(CLI, "-f", "--no-perf", "--off-cpu", "--no-decode", "--no-disk", "--no-network", "--quiet", "x.syscap", "--",
                   "sh", "-c", f"{join} exec {LIMITED_LOOP} settings {ROUNDS} >said")
        told = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, told)
        if "Off-CPU: not recorded" in told:
            skip_without_bpf(self, told)
        after = {name: stalled(f"/proc/pressure/{name}") for name in before}
        self.check_waits()
        if has_pressure:
            self.check_pressure(before, after, groups)
        else:
            print("# this kernel keeps no pressure")

    def check_waits(self):
        calls = [(words[0].split("-")[0], *map(int, words[1:])) for words in map(str.split, text("said").splitlines())]
        self.assertGreaterEqual(len(calls), 2 * ROUNDS)
        tid = calls[0][1]
        capture = Capture.open("x.syscap")
        waits = wait_stream.of_capture(capture)
        unseen = int(capture.metadata().get("org.gnome.sysprof.unseen-switches", "0"))
        print(f"# {unseen} switches that the kernel passed over")
        rows = [row for row in self.report("waits", "--details")["rows"] if row["tid"] == tid]
        for name, function in (("save", "save_settings"), ("look", "look_at_pages")):
            of_kind = [call for call in calls if call[0] == name]
            n_switches = sum(call[4] for call in of_kind)
            n_faults = sum(call[5] for call in of_kind)
            took = sum(call[3] - call[2] for call in of_kind)
            print(f"# {function}: {took / 1e6:.1f} ms, {n_switches} switches, {n_faults} faults for which something was read")
            with self.subTest(function):
                if n_switches == 0:
                    print(f"# {function} waited for nothing, as the kernel counts")
                    continue
                inside = [wait for wait in waits.of(tid) if wait.reason != "preempted"
                          and any(begin <= wait.begin < end for _, _, begin, end, *_ in of_kind)]
                # At most as many as the kernel counted, and few fewer: of two switches in a row on one CPU,
                # the kernel may omit one.
                self.assertLessEqual(len(inside), n_switches)
                self.assertGreaterEqual(len(inside) + unseen + waits.n_lost, n_switches - n_switches // 50)
                named = [row for row in rows if any(symbol == function for symbol in self.names(row))]
                self.assertTrue(named, rows[:3])
                longest = max(named, key=lambda row: row["time"])
                self.assertIn(longest["reason"], BLOCKING[function] | {"runnable", "preempted"}, longest)
                self.assertTrue({row["reason"] for row in named} & BLOCKING[function], named[:3])
                self.assertFalse(any(row["idle"] for row in named), named[:3])
                self.assertLessEqual(sum(row["time"] for row in named), took)
        idle = [row for row in rows if row["idle"]]
        self.assertTrue(idle, "the loop had nothing to do now and then")
        self.assertFalse([row for row in idle if {"save_settings", "look_at_pages"} & set(self.names(row))])

    @staticmethod
    def names(row):
        """Without what compilers append."""
        return [entry["symbol"].split(".")[0] for entry in row["stack"]]

    def check_pressure(self, before, after, groups):
        counters = {row["name"]: row for row in self.report("counters")["rows"] if row["category"] == "Pressure"}
        for name, counter in (("memory", "Memory"), ("io", "I/O")):
            self.assertIn(counter, counters)
            print(f"# {counter}: the kernel's sum grew by {(after[name] - before[name]) / 1e3:.1f} ms, at most {counters[counter]['max']:.1f} % of the time")
            if after[name] - before[name] > 0:
                self.assertGreater(counters[counter]["max"], 0)
        group = os.path.basename(groups[-1])
        ours = [name for name in counters if group in name]
        print("#", ", ".join(f"{name}: at most {counters[name]['max']:.1f} %" for name in sorted(ours)) or "no pressure of the group")
        with contextlib.suppress(FileNotFoundError):
            if stalled(f"{groups[-1]}/io.pressure") > 0:
                self.assertIn(f"I/O ({group})", counters)
                self.assertGreater(counters[f"I/O ({group})"]["max"], 0)

    def report(self, view, *options):
        done = run(REPORT, view, *options, "--format", "json", "--limit", "0", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


if __name__ == "__main__":
    tap.main()
