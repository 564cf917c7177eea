#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that write marks, counters and logs into the recording, over the socket that they inherit from the
recorder: as they should, and as they must not."""

import array
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

import tap
from decoder import decode
from programs import CLI, TIMEOUT, Case, run

TARGET = os.environ["COLLECTOR_TARGET"]
ONLY_PROGRAM = ("--no-perf", "--no-cpu", "--no-disk", "--no-memory", "--no-network", "--no-battery", "--no-pressure", "--no-gpu",
                "--no-system-log", "--no-graphics-info", "--no-process-usage", "--no-recorder", "--no-decode", "--quiet", "--force", "--exit-status")
PAGE = mmap.PAGESIZE
HEAD, TAIL, N_DROPPED = 0, 4, 16  # offsets in the first page of a ring
SAMPLE, MARK, FILE, END = 2, 10, 13, 0xFF


def request_ring():
    """For programs under test: the memory of a new ring."""
    control = socket.socket(fileno=os.dup(int(os.environ["SYSPROF_CONTROL_FD"])))
    control.setblocking(True)
    control.sendall(b"CreatRing\0")
    _, messages, _, _ = control.recvmsg(1, socket.CMSG_SPACE(4))
    fd, = array.array("i", messages[0][2])
    return mmap.mmap(fd, os.fstat(fd).st_size)


def header(length, kind, time=1):
    return struct.pack("<HhiqB7x", length, -1, os.getpid(), time, kind)


def mark(name, length=104):
    return (header(length, MARK) + struct.pack("<q24s40s", 0, b"hostile", name)).ljust(length, b"m")


def put(memory, frames, tail=None):
    memory[PAGE : PAGE + len(frames)] = frames
    struct.pack_into("<I", memory, TAIL, len(frames) if tail is None else tail)


# What a hostile program does to its ring, by name. Each has written a mark "good" before.
GOOD = mark(b"good")
HOSTILE = {
    "length-0": lambda memory: put(memory, GOOD + header(0, MARK).ljust(104)),
    "length-8": lambda memory: put(memory, GOOD + header(8, MARK).ljust(104)),
    "length-23": lambda memory: put(memory, GOOD + header(23, MARK).ljust(104)),
    "unaligned": lambda memory: put(memory, GOOD + header(101, MARK).ljust(104)),
    "beyond-tail": lambda memory: put(memory, GOOD + header(112, MARK).ljust(104)),
    "longest": lambda memory: put(memory, GOOD + header(65528, MARK).ljust(104)),
    "unknown": lambda memory: put(memory, GOOD + header(24, 200)),
    "tail-out-of-range": lambda memory: put(memory, GOOD, len(memory) - PAGE),
    "tail-huge": lambda memory: put(memory, GOOD, 0xFFFFFFFF),
    "tail-unaligned": lambda memory: put(memory, GOOD, 103),
}


def change_while_read():
    """Writes random bytes to random places for a while. The recorder must survive it."""
    random = __import__("random").Random(1)
    rings = [request_ring() for _ in range(20)]
    for _ in range(30000):
        memory = random.choice(rings)
        where = random.choice((HEAD, TAIL, N_DROPPED, PAGE, PAGE + 104, random.randrange(len(memory) - 8)))
        struct.pack_into("<I", memory, where & ~3, random.choice((0, 8, 24, 104, 208, 4096, random.getrandbits(32))))


def sample_in_a_thread():
    """Writes a sample with the thread's number, and waits until the recorder has read it."""
    with open("/proc/thread-self/stat", encoding="ascii") as stat, open("thread", "w", encoding="ascii") as file:
        file.write(stat.read().split()[0])
    memory = request_ring()
    put(memory, header(40, SAMPLE) + struct.pack("<HHiQ", 1, 0, threading.get_native_id(), 0x401000))
    while struct.unpack_from("<I", memory, HEAD) != (40,):
        os.sched_yield()


def act(what):
    """A program under test, in Python."""
    if what == "sample-in-a-thread":
        thread = threading.Thread(target=sample_in_a_thread)
        thread.start()
        thread.join()
    elif what == "change-while-read":
        change_while_read()
    elif what == "file":
        chunk = header(288, FILE) + struct.pack("<HH256s", 1, 4, b"notes.txt") + b"text"
        put(request_ring(), chunk)
    elif what == "lossy":
        struct.pack_into("<I", request_ring(), N_DROPPED, 1234)
    elif what == "junk":
        socket.socket(fileno=os.dup(int(os.environ["SYSPROF_CONTROL_FD"]))).sendall(b"GiveMeAll\0")
    elif what == "shrink":
        fd = int(os.environ["SYSPROF_CONTROL_FD"])
        control = socket.socket(fileno=os.dup(fd))
        control.setblocking(True)
        control.sendall(b"CreatRing\0")
        _, messages, _, _ = control.recvmsg(1, socket.CMSG_SPACE(4))
        try:
            os.truncate(array.array("i", messages[0][2])[0], 0)
        except PermissionError:
            return
        sys.exit("the file was truncated")
    else:
        HOSTILE[what](request_ring())


class Collector(Case):
    def record(self, *command, status=0, options=()):
        """The capture, and the messages of the recorder."""
        done = run(CLI, *ONLY_PROGRAM, *options, "c.syscap", "--", *command)
        self.assertEqual(done.returncode, status, done.stderr)
        with open("c.syscap", "rb") as file:
            return decode(file.read()), done.stderr.decode()

    def test_frames_of_each_kind(self):
        capture, text = self.record(TARGET, "all")
        frames = [f for f in capture.frames if f["type"] in ("mark", "log", "sample", "allocation")]
        pid = frames[0]["pid"]
        self.assertEqual(text, "")
        self.assertEqual([f["type"] for f in frames if f["pid"] == pid],
                         ["mark"] * 4 + ["log"] * 2 + ["sample"] * 2 + ["allocation"] * 2)
        first = frames[0]
        self.assertEqual((first["time"], first["duration"], first["group"], first["name"], first["message"]),
                         (1000, 2000, "group", "name", "message"))
        self.assertEqual(frames[6]["addrs"], [0x401000, 0x402000, 0x403000])
        self.assertEqual((frames[8]["address"], frames[8]["size"]), (0xdead000, 4096))

    def test_counters_of_two_processes_stay_apart(self):
        capture, _ = self.record("sh", "-c", f"{TARGET} all & {TARGET} all; wait")
        defined = [(f["pid"], c["id"]) for f in capture.of("ctrdef") for c in f["counters"] if c["category"] == "category"]
        values = {(f["pid"], id): value for f in capture.of("ctrset") for id, value in f["values"]}
        self.assertEqual(len(defined), 20)
        self.assertEqual(len({id for _, id in defined}), 20)
        self.assertEqual(sorted(values[key] for key in defined), sorted([*range(100, 110)] * 2))

    def test_two_hundred_threads(self):
        capture, text = self.record(TARGET, "threads", "200", "500")
        self.assertEqual(len(capture.of("mark")), 200 * 500)
        self.assertEqual(text, "")

    def test_children(self):
        for what in "fork", "exec":
            capture, _ = self.record(TARGET, what)
            names = [(f["name"], f["pid"]) for f in capture.of("mark")]
            parents = {pid for name, pid in names if name in ("before", "parent", "after")}
            children = {pid for name, pid in names if name in ("child", "mark")}
            self.assertEqual((len(parents), len(children), parents & children), (1, 1, set()), what)

    def test_long_messages(self):
        lengths = [*range(65400, 65601, 8), 65431, 65432, 65439, 65535, 65536, 70000, 300000]
        capture, text = self.record(TARGET, "long", *lengths)
        marks = capture.of("mark")
        self.assertEqual(len(marks), 2 * len(lengths))
        # Sysprof 3.46 cannot join longer frames than 16384 bytes.
        self.assertTrue(all(set(f["message"]) == {"x"} and len(f["message"]) == 16384 - 96 - 1 for f in marks))
        self.assertEqual(len([f for f in capture.of("log") if f["domain"] == "long"]), 2 * len(lengths))
        self.assertIn(f"{3 * len(lengths)} frames", text)

    def test_program_that_is_killed_while_it_writes(self):
        capture, _ = self.record(TARGET, "killed", "2000", status=128 + signal.SIGKILL)
        self.assertEqual(capture.rest, 0)
        # The first of them were written before the others, which may be more than the disk can take.
        self.assertGreaterEqual(len([f for f in capture.of("mark") if f["group"] == "thread"]), 2000)
        self.assertTrue([f for f in capture.of("mark") if f["group"] == "endless"])

    def test_program_outlives_the_recorder(self):
        done = run(CLI, *ONLY_PROGRAM, "c.syscap", "--", TARGET, "outlive", "1000000", timeout=TIMEOUT)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(done.stdout, b"alive\n")  # run() waits until the program has ended, too

    def test_threads_that_start_after_the_recording(self):
        capture, _ = self.record(TARGET, "late", options=("--duration", "0.3"))
        self.assertEqual([f["name"] for f in capture.of("mark")], ["before"])

    def test_lost_frames_are_counted(self):
        capture, text = self.record(sys.executable, __file__, "act", "lossy")
        self.assertIn("dropped 1234 of its marks", text)
        self.assertIn("1234 records lost (1234 of processes, mappings and recorded programs)", text)
        self.assertIn("'python3", text)
        metadata = {f["id"]: f["value"] for f in capture.of("metadata")}
        self.assertEqual(metadata["org.gnome.sysprof.lost-records"], "1234")

    def test_files(self):
        capture, _ = self.record(sys.executable, __file__, "act", "file")
        self.assertEqual([(f["path"], f["data"]) for f in capture.of("file") if f["path"] == "notes.txt"], [("notes.txt", b"text")])

    def test_hostile_programs(self):
        for what in HOSTILE:
            with self.subTest(what):
                capture, text = self.record(sys.executable, __file__, "act", what)
                n_good = 0 if what.startswith("tail") else 1
                self.assertEqual([f["name"] for f in capture.of("mark")], ["good"] * n_good)
                self.assertIn("damaged 1 of the buffers", text)
        for what in "change-while-read", "junk", "shrink":
            with self.subTest(what):
                self.record(sys.executable, __file__, "act", what)

    def test_numbers_of_another_pid_namespace(self):
        inside = "unshare", "--pid", "--fork"
        if run(*inside, "true").returncode != 0:
            self.skipTest("not allowed to make a PID namespace")
        # /proc is that of the outer namespace.
        script = 'read -r outer rest </proc/self/stat; echo $outer $$ >numbers; exec "$0" all'
        capture, text = self.record(*inside, "sh", "-c", script, TARGET)
        self.assertEqual(text, "")
        with open("numbers", encoding="ascii") as file:
            outer, inner = map(int, file.read().split())
        self.assertEqual(inner, 1)
        frames = [f for f in capture.frames if f["type"] in ("mark", "log", "sample", "allocation")]
        self.assertEqual({f["pid"] for f in frames[:10]}, {outer})
        self.assertEqual({f["tid"] for f in frames[:10] if "tid" in f}, {outer})
        marks, _ = self.record(*inside, "sh", "-c", script.replace("all", "mark a b"), CLI)
        with open("numbers", encoding="ascii") as file:
            self.assertEqual([f["pid"] for f in marks.of("mark")], [int(file.read().split()[0])])
        samples, _ = self.record(*inside, sys.executable, __file__, "act", "sample-in-a-thread")
        with open("thread", encoding="ascii") as file:
            self.assertEqual([f["tid"] for f in samples.of("sample")], [int(file.read())])

    def test_trace_file_without_the_socket(self):
        capture, _ = self.record("env", "-u", "SYSPROF_CONTROL_FD", TARGET, "all", options=("--use-trace-fd",))
        self.assertEqual([f["name"] for f in capture.of("mark")][0], "name")
        self.assertEqual(len(capture.of("mark")), 4)


class Mark(Case):
    def record(self, script):
        done = run(CLI, *ONLY_PROGRAM, "c.syscap", "--", "sh", "-c", script, CLI)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("c.syscap", "rb") as file:
            return decode(file.read()).of("mark")

    def test_marks_of_a_script(self):
        marks = self.record('"$0" mark build begin "the message"; "$0" mark build outer -- "$0" mark build inner')
        self.assertEqual(sorted((f["group"], f["name"], f["message"]) for f in marks),
                         [("build", "begin", "the message"), ("build", "inner", ""), ("build", "outer", "")])
        begin, inner, outer = sorted(marks, key=lambda f: f["name"])
        self.assertEqual((begin["duration"], inner["duration"]), (0, 0))
        self.assertLess(begin["time"], outer["time"])
        self.assertLessEqual(outer["time"], inner["time"])
        self.assertGreaterEqual(outer["time"] + outer["duration"], inner["time"])

    def test_a_mark_covers_its_command(self):
        mark, = self.record('"$0" mark a b -- sleep 0.2')
        self.assertGreaterEqual(mark["duration"], 200_000_000)

    def test_exit_status_is_that_of_the_command(self):
        for script, status in ("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -signal.SIGKILL), ("true", 0):
            self.assertEqual(run(CLI, "mark", "a", "b", "--", "sh", "-c", script).returncode, status, script)
        done = run(CLI, "mark", "a", "b", "--", "./does-not-exist")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"Cannot run './does-not-exist'", done.stderr)
        with open("data", "wb"):
            pass
        self.assertEqual(run(CLI, "mark", "a", "b", "--", "./data").returncode, 126)

    def test_without_a_recorder_the_command_runs(self):
        done = run(CLI, "mark", "a", "b", "c", "--", "echo", "--", "x")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"-- x\n", b""))
        self.assertEqual(run(CLI, "mark", "a", "b").returncode, 0)

    def test_signals_reach_the_command(self):
        script = "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
        with subprocess.Popen([CLI, "mark", "a", "b", "--", "sh", "-c", script], stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.terminate()
            self.assertEqual(process.stdout.read(), b"got\n")
            self.assertEqual(process.wait(TIMEOUT), 3)

    def test_wrong_words(self):
        for words in (), ("a",), ("a", "b", "c", "d"), ("a", "b", "--"):
            self.assert_one_line_error(run(CLI, "mark", *words), "mark: give a group")
        self.assertIn(b"Usage: sysprof-cli mark GROUP NAME", run(CLI, "mark", "--help").stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["act"]:
        act(sys.argv[2])
    else:
        tap.main()
