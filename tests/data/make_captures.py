#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures of every kind that loading must get right. With a folder as argument, writes them there.

    make_captures.py FOLDER            the named ones
    make_captures.py FOLDER random N   N of random frames (seeds 0 … N - 1)
    make_captures.py --one NAME FILE   that one
"""

import gzip
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dbus  # noqa: E402
from captures import JIT, KERNEL, USER, Capture  # noqa: E402

KIP = 0xFFFFFFFF81000010
MADE = {}


def capture(function):
    MADE[function.__name__.replace("_", "-")] = function
    return function


@capture
def empty():
    return Capture()


@capture
def one_sample():
    return Capture().process("/bin/a b", pid=7, time=900).sample([USER, 0x1000], 7, pid=7, time=1001)


@capture
def every_type(big=False):
    c = Capture(time=1000, end_time=5000, big=big)
    c.timestamp(time=1000, cpu=2, pid=345).process("foo --bar", time=1000, pid=345)
    c.map(0x400000, 0x500000, "/usr/bin/foo", 0x1000, 987654, time=1001, pid=345)
    c.map(0x600000, 0x700000, "/usr/lib/libbar.so", 0, 0, "0123456789abcdef", time=1001, pid=345)
    c.sample([KERNEL, KIP, KIP + 64, USER, 0x401000, 0x601000, 0x402000], 346, 0xABCD, time=1002, cpu=1, pid=345)
    c.fork(399, time=1003, cpu=0, pid=345).exit(time=1900, pid=399)
    c.sample([USER, 0x401000], 399, time=1500, pid=399)
    c.jitmap([(JIT + 1, "jitfunc_one"), (JIT + 2, "jitfunc_two")], time=1800, pid=24237)
    c.sample([JIT + 2, JIT + 1, 0x401000], 345, time=1700, pid=345)
    c.ctrdef([(1, "CPU", "Total", "all of it", True), (2, "Disk", "Reads", "", False)], time=1000)
    c.ctrset([(1, 22.5), (2, -800)], time=1100).ctrset([(2, 7)] * 9 + [(1, 1.5)], time=1200)
    c.mark("gtk", "paint", "hello", 17, time=1300, pid=345, cpu=3)
    c.mark("gtk", "paint", "longer", 99, time=1300, pid=345).mark("g" * 30, "n" * 50, "", 5, time=1300, pid=345)
    c.metadata("uname.sysname", "Linux\0\0\0", time=1000).metadata("uname.sysname", "again", time=1001)
    c.log("Gtk", "a log message", 16, time=1400, pid=345).log("Sampler", "Lost 12 samples", 8, time=1600)
    c.file("/etc/os-release", b"NAME=x\n", time=1000)
    c.file("/proc/cpuinfo.gz", gzip.compress(b"cpu" * 100, mtime=0), time=1000)
    c.allocation(0xDEAD000, 4096, [0x7F001000, 0x401000], 346, time=1450, pid=345, cpu=1)
    c.allocation(0xDEAD000, 0, time=1460, pid=345).overlay("/src/diff", "/", 7, time=1000, pid=345)
    c.trace([0x401000, 0x402000], 345, time=1470, pid=345)
    return c.dbus(b"l\1\0\1hello", time=1480).index(256, time=1490)


@capture
def every_type_big_endian():
    return every_type(big=True)


@capture
def time_runs_backwards():
    c = Capture().process("/bin/a", pid=7, time=5000)
    for i in range(300):
        c.sample([USER, 0x1000 + i % 5], 7, pid=7, time=5000 - i)
    return c


@capture
def all_at_one_time():
    c = Capture()
    for i in range(50):
        c.mark("g", f"m{i}", "", i * 37 % 11, pid=7, time=2000).sample([USER, 0x1000 + i], 7, pid=7, time=2000)
    return c


@capture
def counters_without_definition():
    c = Capture().ctrset([(1, 5), (2, 1.5)], time=1100, pid=9)
    return c.ctrdef([(3, "A", "defined late", "", False)], time=1900).ctrset([(3, 8)], time=1200)


@capture
def counter_ids_of_two_processes():
    c = Capture().ctrdef([(1, "Disk", "Total", "", False)], time=1000, pid=-1)
    c.ctrdef([(1, "gtk", "fps", "", True)], time=1001, pid=50).ctrset([(1, 5)], time=1002, pid=-1)
    c.ctrset([(1, 60.0)], time=1003, pid=50).ctrset([(1, 6)], time=1004, pid=51)
    c.ctrdef([(1, "gtk", "fps", "", True)], time=1005, pid=50).ctrset([(1, 61.0)], time=1006, pid=50)
    return c.ctrdef([(1, "gtk", "other", "", True)], time=1007, pid=50).ctrset([(1, 9.0)], time=1008, pid=50)


@capture
def counter_slots_with_rubbish():
    """As a process with the collector of 3.46 leaves them."""
    c = Capture().ctrdef([(i, "Disk", f"Total {i}", "", False) for i in (1, 2, 10)], time=1000)
    c.ctrdef([(1, "gtk", "fps", "", True), (3, "gtk", "pixels", "", False)], time=1001, pid=50)
    c.ctrset([(1, 5), (10, 7)], time=1002).ctrset([(3, 7), (65696, 0), (10, 2**62), (1, 2.0)], time=1003, pid=50)
    c.ctrset([(1, 1.0), (3, 1), (0, 0), (1, 4.0), (7042151, 1), (3, 9), (1, 9.0), (1, 9.0), (1, 3.0)], time=1004, pid=50)
    return c.ctrset([(10, 8)], time=1005, pid=51)


@capture
def lost_samples_counter():
    c = Capture()
    for number in (1, 2, 3):
        c.ctrdef([(number, "Sampler", "Lost Samples", "", False)], time=1000)
    c.ctrset([(3, 5)], time=1100).ctrset([(3, 40)], time=1200)
    return c.log("Sampler", "Lost 30 samples", time=1300)


@capture
def lost_kinds():
    c = Capture()
    for number, name in enumerate(("Lost Samples", "Lost Records", "Lost Others"), 1):
        c.ctrdef([(number, "Sampler", name, "", False)], time=1000)
    c.ctrset([(1, 0), (2, 7), (3, 1)], time=1100).ctrset([(1, 4), (2, 2**63)], time=1200)
    c.log("Sampler", "Lost 3 samples", time=1300).log("Sampler", "Lost 9 records of processes and mappings", time=1301)
    return c.log("Sampler", "Lost 5 other frames", time=1302).log("Sampler", "Lost 2", time=1303)


@capture
def jitmap_after_use():
    c = Capture()
    for i in range(40):
        c.sample([JIT + 1 + i % 3, KERNEL, JIT + 1], 7, pid=7, time=1000 + i)
    return c.jitmap([(JIT + 1, "first"), (JIT + 3, "third")], time=900).jitmap([(JIT + 1, "again")], time=9000)


@capture
def jitmap_of_32_bits():
    """Adds addresses of code, and addresses without a name outside of it."""
    c = Capture().map(0xE0000000, 0xE0010000, "/bin/low", pid=7, time=900)
    c.jitmap([(0xE0000001, "first"), (0xE0000002, "second")], time=5000)
    return c.sample([USER, 0xE0000002, 0xE0000001, 0xE0000003, 0x1000], 7, pid=7, time=1001)


@capture
def fork_inherits_mappings():
    c = Capture().process("/bin/sh -c ./x y z", pid=10, time=900).map(0x1000, 0x9000, "/bin/sh", pid=10, time=900)
    c.fork(11, pid=10, time=1100).sample([USER, 0x2000, 0x3000], 11, pid=11, time=1101)
    c.map(0x2000, 0x4000, "/bin/x", 0x100, pid=11, time=1102).process("x", pid=11, time=1102)
    c.sample([USER, 0x2000, 0x5000], 11, pid=11, time=1103).sample([USER, 0x2000, 0x5000], 10, pid=10, time=1104)
    c.map(0x5000, 0x6000, "/bin/late", pid=10, time=1105).sample([USER, 0x2000, 0x5000], 11, pid=11, time=1106)
    c.sample([USER, 0x2000, 0x5000], 10, pid=10, time=1107).fork(12, pid=10, time=1108)
    return c.exit(pid=11, time=1109).fork(11, pid=12, time=1110).sample([USER, 0x5000], 11, pid=11, time=1111)


@capture
def threads_are_forks_too():
    c = Capture().process("/bin/a", pid=10, time=900).fork(20, pid=10, time=1001).fork(21, pid=20, time=1002)
    c.fork(30, pid=21, time=1003).sample([USER, 1], 30, pid=30, time=1004).sample([USER, 1], 22, pid=10, time=1005)
    return c.fork(31, pid=22, time=1006).exit(pid=31, time=1007)


@capture
def mapping_replaced():
    c = Capture().process("/bin/a", pid=7, time=900).map(0x1000, 0x9000, "/lib/old.so", pid=7, time=900)
    c.sample([USER, 0x2000, 0x8000], 7, pid=7, time=1001).map(0x1800, 0x3000, "/lib/new.so", pid=7, time=1002)
    c.sample([USER, 0x2000, 0x8000], 7, pid=7, time=1003).map(0x1000, 0x9000, "/lib/old.so", pid=7, time=1004)
    c.sample([USER, 0x2000, 0x8000], 7, pid=7, time=1005)
    c.map(0x1000, 0x9000, "/lib/old.so", 0, 55, pid=7, time=1006).sample([USER, 0x2000], 7, pid=7, time=1007)
    c.map(0x1000, 0x9000, "/lib/old.so", 0, 56, "ABCD", pid=7, time=1008).sample([USER, 0x2000], 7, pid=7, time=1009)
    return c.map(0x1000, 0xA000, "/lib/old.so", 0, 56, "abcd", pid=7, time=1010).sample([USER, 0x2000], 7, pid=7, time=1011)


@capture
def mapping_read_after_first_samples():
    c = Capture().sample([USER, 0x2000, 0x7000], 7, pid=7, time=1000).map(0x1000, 0x3000, "/lib/a.so", pid=7, time=1001)
    return c.map(0x2000, 0x8000, "/lib/b.so", pid=7, time=1002).sample([USER, 0x2000, 0x7000], 7, pid=7, time=1003)


@capture
def mapping_without_length():
    c = Capture().map(0x2000, 0x2000, "/a", pid=7, time=1).map(0x3000, 0x1000, "/b", pid=7, time=1)
    c.map(0, 2**64 - 1, "/whole", pid=7, time=2).map(0x2000, 0x3000, "/c", -5 % 2**64, pid=7, time=3)
    return c.sample([USER, 0x2fff, 0x1fff, 0, 2**63], 7, pid=7, time=1001)


@capture
def build_ids():
    c = Capture()
    for i, build_id in enumerate(["", "a", "ab", "AB", "xy", "ab" * 64, "ab" * 65, "abc"]):
        c.map(0x1000 * i, 0x1000 * i + 0x800, f"/lib/{i}", 0, 0, build_id, pid=7, time=1000 + i)
    return c.frame("map", c.pack("QQQQ", 1, 2, 3, 4) + b"/x\0@abcd", pid=8, time=1)  # no NUL


@capture
def texts_without_nul():
    c = Capture().frame("process", b"12345678", pid=7, time=1).frame("map", c_map(0, 9) + b"/12345678", pid=7, time=2)
    c.frame("mark", bytes(8) + b"g" * 24 + b"n" * 40 + b"m" * 8, pid=7, time=3)
    return c.frame("metadata", b"k" * 40 + b"v" * 8, time=4).frame("process", b"\0" * 8, pid=9, time=5)


def c_map(start, end):
    return Capture().pack("QQQQ", start, end, 0, 0)


@capture
def all_contexts():
    chain = [KIP, 2**64 - 32, 1, 2**64 - 2048, 2, 2**64 - 2176, 3, 2**64 - 2560, 4, 2**64 - 640, 5, USER, 6, KERNEL, 7,
             2**64 - 4095, 8, 2**64 - 4096, 9]
    return Capture().sample(chain, 7, pid=7, time=1001).sample(chain, 8, pid=8, time=1002).sample([USER], pid=9, time=1003)


@capture
def kernel_threads():
    c = Capture().process("kworker/0:1-events", pid=5, time=900).sample([KERNEL, KIP], 5, pid=5, time=1001)
    c.process("kthreadd", pid=2, time=900).sample([KERNEL, KIP], 0, pid=0, time=1002)
    c.process("/usr/bin/sleeper 10", pid=6, time=900).map(1, 9, "/x", pid=6, time=900)
    return c.sample([KERNEL, KIP], 6, pid=6, time=1003).mark("g", "n", pid=77, time=1004)


@capture
def names():
    c = Capture().process("/usr/bin/python3 /opt/a/b c", pid=1, time=1).process("python3", pid=1, time=1100)
    c.process("-bash", pid=2, time=1).process("renamed", pid=2, time=1200).process("/a/b/", pid=3, time=1)
    c.process("/a b/c d", pid=4, time=1).process(" x", pid=5, time=1).process("long enough to be a command line", pid=6, time=1)
    c.map(1, 2, "/m", pid=8, time=1).process("foo --bar", pid=8, time=1500)
    # Forked by 1, executed: the kernel's comm, then what the recorder read; and the same without the latter.
    c.fork(20, pid=1, time=1200).process("ks", pid=20, cpu=1, time=1210).process("./ks 2", pid=20, time=1210)
    c.fork(21, pid=1, time=1200).process("ks", pid=21, cpu=0, time=1210)
    return c.process("/bin/first one", pid=7, time=1).process("/bin/second one two", pid=7, time=1400).process("", pid=7, time=1500)


@capture
def embedded_files():
    c = Capture().file("a", b"1", False, time=1).file("b", b"x" * 300, False, time=1).file("a", b"2", False, time=1)
    c.file("b", b"", True, time=2).file("a", b"3", True, time=2).file("a", b"4", True, time=3).file("cut", b"5", False, time=1)
    return c.file("n" * 300, b"6", True, time=1).file("", b"", True, time=1).file("b", b"late", False, time=9)


@capture
def unknown_types():
    c = Capture().frame(0, b"", time=1).frame(18, b"x" * 40, time=2).frame(255, b"", time=3).frame(200, b"y", time=4)
    return c.sample([USER, 1], pid=7, time=1001)


@capture
def lying_frames():
    c = Capture().sample([1, 2], n=3, pid=7, time=1).sample([1], n=8187, pid=7, time=2).allocation(1, 2, [3], n=4, time=3)
    c.ctrdef([(1, "a", "b", "c", False)], n=2, time=4).ctrset([(1, 2)], n=9, time=5).jitmap([(JIT + 1, "x")], n=2, time=6)
    c.jitmap([(JIT + 1, "x")], n=2**32 - 1, time=7).file("f", b"1", n=65535, time=8).dbus(b"x" * 8, time=9)
    c.frame("map", b"", time=10).frame("process", b"", time=11).frame("fork", b"", time=12).frame("mark", b"x" * 8, time=13)
    c.frame("overlay", c.pack("B3xHH", 0, 100, 100), time=14).frame("trace", c.pack("HHi", 1, 0, 0), time=15)
    return c.frame("jitmap", c.pack("I", 1) + b"8 bytes!" + b"no NUL here!", time=16).sample([1], pid=7, time=17)


@capture
def impossible_length():
    return Capture().sample([1], pid=7, time=1001).frame("exit", length=0).sample([2], pid=7, time=1002)


@capture
def odd_length():
    return Capture().sample([1], pid=7, time=1001).frame("exit", length=25).sample([2], pid=7, time=1002)


@capture
def cut_in_frame():
    c = Capture().sample([1], pid=7, time=1001).sample([2] * 10, pid=7, time=1002)
    del c.data[-3:]
    return c


@capture
def cut_in_header():
    return Capture().sample([1], pid=7, time=1001).raw(b"\x18\0\0")


@capture
def deep_stack():
    chain = [USER] + [0x1000 + i * 16 for i in range(8000)]
    return Capture().sample(chain, 7, pid=7, time=1001).sample(chain, 7, pid=7, time=1002).sample(chain[:-1], 7, pid=7, time=1003)


@capture
def extreme_times():
    c = Capture(time=-5, end_time=-9).mark("g", "n", "", 2**63 - 1, pid=7, time=2**63 - 2)
    return c.mark("g", "n", "", -7, pid=7, time=0).sample([1], pid=7, time=-2**63).exit(pid=7, time=2**63 - 1)


@capture
def begin_later_than_data():
    c = Capture(time=10**12, end_time=10**12 + 5)
    for i in range(5):
        c.sample([USER, 1], 7, pid=7, time=1000 + i)
    return c


@capture
def begin_in_the_middle():
    c = Capture(time=5000, end_time=9000).process("/bin/a", pid=7, time=100).ctrdef([(1, "a", "b", "", False)], time=99999)
    for i in range(5):
        c.sample([USER, 1], 7, pid=7, time=5500 + i)
    return c


@capture
def only_descriptions():
    return Capture(time=5000, end_time=7000).metadata("k", "v", time=9000).file("f", b"", time=9999)


@capture
def bus_messages():
    c = Capture()
    for big in False, True:
        call = dict(path="/org/a", interface="org.a.B", member="Do", destination="org.a", sender=":1.5", signature="s")
        c.dbus(dbus.message(dbus.CALL, 7, b"body", big=big, **call), 1, time=1100)
        c.dbus(dbus.message(dbus.CALL, 8, flags=1, big=big, path="/", member="Ping"), 2, time=1101)
        c.dbus(dbus.message(dbus.REPLY, 20, b"12345678", big=big, reply_serial=7, destination=":1.5", sender=":1.2"), 1, time=1102)
        c.dbus(dbus.message(dbus.ERROR, 21, big=big, error_name="org.a.Failed", reply_serial=8, unix_fds=2), 3, time=1103)
        c.dbus(dbus.message(dbus.SIGNAL, 22, big=big, path="/org/a", interface="org.a.B", member="Changed"), 0, time=1104)
    whole = dbus.message(dbus.CALL, 7, b"the body", path="/org/a", interface="org.a.B", member="Do", signature="ay")
    for size in range(len(whole)):
        c.dbus(whole[:size], time=1200 + size)
    for at in range(len(whole)):
        c.dbus(whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:], time=1400 + at)
        c.dbus(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], time=1600 + at)
    return c.dbus(b"", 2, 1, time=1800)


@capture
def pid_minus_one():
    return Capture().sample([USER, 1, 2], pid=-1, time=1001).sample([KERNEL, KIP], pid=-1, time=1002).mark("a", "b", time=1003)


def random_capture(seed):
    """Few pids, addresses, times and names, so that things meet; one frame in fifty lies."""
    r = random.Random(seed)
    c = Capture(time=r.choice([0, 1000, 1040]), end_time=r.choice([0, 1020, 2000]), big=r.random() < 0.2)
    pids = [r.randrange(0, 12) for _ in range(5)] + [-1]
    paths = ["/bin/a", "/lib/b.so", "[vdso]", ""]

    def stack():
        return [r.choice([USER, KERNEL, 2**64 - 32, JIT + 1, JIT + 2, KIP, KIP + 8] + [0x1000 * r.randrange(16) + 4] * 9)
                for _ in range(r.randrange(8))]

    def text():
        return r.choice(["", "a", "/usr/bin/thing --with arguments", "short name", "\u00e4", "x" * 70, "/a/b", "kworker/0:1"])

    def counter():
        return r.randrange(4), r.choice(["A", "Sampler"]), r.choice(["B", "Lost Samples"]), text(), r.random() < 0.3

    for _ in range(r.randrange(160)):
        at = dict(time=1000 + r.randrange(60), pid=r.choice(pids), cpu=r.choice([-1, 0, 3]))
        start = 0x1000 * r.randrange(16)
        makers = [
            lambda: c.sample(stack(), r.choice([-1, 1, 2, 7, 20]), r.randrange(65536), **at),
            lambda: c.sample(stack(), at["pid"], **at),
            lambda: c.map(start, start + 0x800 * r.randrange(9), r.choice(paths), r.choice([0, 0x1000]), r.choice([0, 0, 5, 6]),
                          r.choice([None, None, "ab", "AB", "zz", "a"]), **at),
            lambda: c.process(text(), **at),
            lambda: c.fork(r.choice(pids + [20, 21]), **at),
            lambda: c.exit(**at),
            lambda: c.jitmap([(JIT + r.randrange(3), text()) for _ in range(r.randrange(3))], **at),
            lambda: c.ctrdef([counter() for _ in range(r.randrange(3))], **at),
            lambda: c.ctrset([(r.randrange(5), r.choice([1, -1, 2.5])) for _ in range(r.randrange(11))], **at),
            lambda: c.mark(text(), text(), text(), r.choice([0, 5, 60, -1]), **at),
            lambda: c.metadata(text(), text(), **at),
            lambda: c.log(r.choice(["Sampler", "x"]), r.choice(["Lost 3 samples", "Lost", text()]), **at),
            lambda: c.file(r.choice(["f", "g", "f.gz"]), text().encode(), r.random() < 0.3, **at),
            lambda: c.allocation(r.randrange(99), r.choice([0, 8, 100, -1]), stack(), 7, **at),
            lambda: c.overlay(text(), text(), **at),
            lambda: c.trace(stack(), **at),
            lambda: c.dbus(text().encode(), **at),
            lambda: c.index(256, **at),
            lambda: c.timestamp(**at),
        ]
        if r.random() < 0.02:
            c.frame(r.randrange(20), r.randbytes(r.randrange(80)), **at)
        else:
            r.choice(makers)()
    if r.random() < 0.2:
        c.raw(r.randbytes(r.randrange(40)))
    return c


@capture
def told(big=False):
    """Data that recorders embed about processes, CPUs and samples."""
    c = Capture(time=1000, end_time=9000, big=big).metadata("org.gnome.sysprof.unwind", "tables", time=1000)
    c.process("/bin/a b", pid=10, time=1000).map(0x1000, 0x9000, "/bin/a", 0, 5, pid=10, time=1000)
    c.overlay("/var/lib/layers/diff", "/", 1, pid=10, time=1000)
    c.file("/proc/10/mountinfo", b"22 1 0:21 / / rw shared:1 - overlay overlay rw,lowerdir=/l:/m,upperdir=/u\n"
           b"36 22 98:7 /a\\040b /mnt rw - btrfs /dev/sda rw,subvolid=5,subvol=/@\nno line of that table\n", time=1001)
    c.file("/proc/10/cgroup", b"12:pids:/x\n0::/user.slice/app-a\\x2db.scope\n", time=1001)
    c.file("/proc/cpuinfo", b"processor\t: 0\nmodel name\t: Some CPU\ncore id\t: 1\n\nprocessor\t: 1\n", time=1001)
    c.file("/etc/os-release", b'NAME="x"\nPRETTY_NAME="Some OS"\n', time=1001)
    for i in range(3):
        c.sample([USER, 0x2000 + 16 * i, 0x3000], 11 + i, pid=10, time=1100 + i)
    found = b"".join((1100 + i).to_bytes(8, "little") + (11 + i).to_bytes(4, "little") + bytes([1 + i, 0, 0, 0]) for i in range(3))
    return c.file("__found__", found, time=1200)


@capture
def all_kinds():
    """Some of everything, in no order of time."""
    c = Capture(time=1000, end_time=5000)
    for make in every_type, fork_inherits_mappings, mapping_replaced, embedded_files, counter_ids_of_two_processes, \
            all_contexts, names, threads_are_forks_too, jitmap_after_use:
        c.raw(make().data[256:])
    for seed in range(7):
        made = random_capture(seed)
        if not made.big:
            c.raw(made.data[256:whole_frames(made.data)])
    return c


def whole_frames(data):
    """Returns where the last complete frame of a little-endian capture ends."""
    at = 256
    while at + 24 <= len(data):
        length = int.from_bytes(data[at:at + 2], "little")
        if length < 24 or length % 8 or at + length > len(data):
            break
        at += length
    return at


def main():
    if sys.argv[1] == "--one":
        with open(sys.argv[3], "wb") as out:
            out.write(MADE[sys.argv[2]]().data)
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    made = {name: make for name, make in MADE.items()}
    if sys.argv[2:3] == ["random"]:
        made = {f"random-{seed}": lambda seed=seed: random_capture(seed) for seed in range(int(sys.argv[3]))}
    for name, make in made.items():
        with open(os.path.join(folder, name + ".syscap"), "wb") as out:
            out.write(make().data)


if __name__ == "__main__":
    main()
