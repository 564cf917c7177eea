#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of sysprofd that send random values, flood it, vanish, or pass thousands of descriptors do no harm to other clients. Nor
does a daemon of power profiles that does not answer."""

import contextlib
import os
import pathlib
import pty
import random
import re
import select
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

import private_bus
import tap
from bus_client import Client, Writer, split
from programs import Case, wait_for

SYSPROFD = os.environ["SYSPROFD"]
NAME = "org.gnome.Sysprof3"
PATH = "/org/gnome/Sysprof3"
SERVICE = "org.gnome.Sysprof3.Service"
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
DAEMON, NOBODY = 1, 65534  # the first is authorized
PATIENCE = 20  # seconds in which others get their answers, on a busy machine
FUZZ_CALLS = 1500
METHODS = (
    ("", SERVICE, "PerfEventOpen", "a{sv}iiht"), ("", SERVICE, "GetProcFile", "ay"), ("", SERVICE, "GetProcFd", "ay"),
    ("", SERVICE, "GetProcessInfo", "s"), ("", SERVICE, "ListProcesses", ""), ("", SERVICE, "SetGovernor", "s"),
    ("", SERVICE, "SetParanoid", "i"),
    ("/RAPL", "org.gnome.Sysprof3.Profiler", "Start", "a{sv}h"), ("/RAPL", "org.gnome.Sysprof3.Profiler", "Stop", ""),
    ("/Unwinder", "org.gnome.Sysprof3.Unwinder", "Unwind", "ua(hi)hh"),
    ("/Rights", "org.gnome.Sysprof3.Rights", "Connect", "a{sv}"),
    ("/Rights", "org.gnome.Sysprof3.Rights", "OpenSystemBusMonitor", ""),
    ("/Rights", "org.gnome.Sysprof3.Rights", "HoldPowerProfile", "s"), ("/Rights", "org.gnome.Sysprof3.Rights", "HoldParanoid", "i"),
    ("", "org.freedesktop.DBus.Properties", "Get", "ss"), ("/RAPL", "org.freedesktop.DBus.Properties", "GetAll", "s"),
    ("", "org.freedesktop.DBus.Properties", "Set", "ssv"), ("", "org.freedesktop.DBus.Introspectable", "Introspect", ""),
    ("", "org.freedesktop.DBus.Peer", "Ping", ""), ("/Rights", "org.freedesktop.DBus.Peer", "GetMachineId", ""))
TYPES = {"type": "u", "config": "t", "sample_period": "t", "sample_type": "t", "wakeup_events": "u", "comm": "b", "mmap2": "b", "clockid": "i",
         "use_clockid": "b", "sample_stack_user": "u"}
KEYS = list(TYPES)
OTHER_TYPES = "org.freedesktop.DBus.Error.InvalidArgs: The method has other types of arguments"
TEXTS = ["", "pid,maps,cmdline", "performance", "powersave", "/proc/kallsyms", "x" * 3000, "ä", "../../etc/shadow", "%s%n", SERVICE]


class Values:
    """Random values of any type."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, kind, depth=0):
        pick = self.random
        if kind == "v":
            inner = pick.choice(["y", "b", "i", "u", "t", "x", "d", "s", "g", "ay", "as", "a{sv}", "(iv)", "v"] if depth < 3 else ["u"])
            return inner, self.value(inner, depth + 1)
        if kind in "bnqiuhxtyd":
            limits = {"b": (0, 1), "y": (0, 255), "n": (-2**15, 2**15 - 1), "q": (0, 2**16 - 1), "i": (-2**31, 2**31 - 1), "u": (0, 2**32 - 1),
                      "h": (0, 3), "x": (-2**63, 2**63 - 1), "t": (0, 2**64 - 1), "d": (0, 1)}[kind]
            return pick.choice([*limits, max(limits[0], 0), min(limits[1], 1), pick.randint(*map(int, limits))])
        if kind in "so":
            return pick.choice(KEYS + TEXTS) if kind == "s" else "/a"
        if kind == "g":
            return pick.choice(["", "a{sv}", "(iv)", "ayayay"])
        if kind == "ay":
            return pick.choice([text.encode() + b"\0" for text in TEXTS] + [b"", bytes(pick.randrange(256) for _ in range(20))])
        if kind == "a{sv}" and pick.random() < 0.5:
            values = {"type": 1, "config": 0, "sample_period": 10**6} if pick.random() < 0.5 else {}
            values.update({key: self.value(TYPES[key]) for key in pick.sample(KEYS, pick.randrange(4))})
            return [[key, (TYPES[key], value)] for key, value in values.items()]
        if kind[0] == "a":
            return [self.value(kind[1:], depth + 1) for _ in range(pick.choice([0, 1, 2, 5]))]
        return [pick.choice(KEYS) if kind[0] == "{" and i == 0 else self.value(part, depth + 1) for i, part in enumerate(split(kind[1:-1]))]

    def signature(self, usual):
        return usual if self.random.random() < 0.7 else self.random.choice(["", "s", "i", "a{sv}", "ay", "ssv", "ua(hi)hh", "a{sv}iiht", "aas", "v"])


class Hostile(Case):
    @classmethod
    def setUpClass(cls):
        reason = private_bus.reason_to_skip()
        if reason:
            raise unittest.SkipTest(reason)
        cls.bus = private_bus.PrivateBus(private_bus.confined(SYSPROFD), ["daemon"])
        cls.bus.__enter__()  # pylint: disable=unnecessary-dunder-call
        cls.addClassCleanup(cls.bus.__exit__)
        cls.judge = Client(cls.bus.address, DAEMON)
        cls.addClassCleanup(cls.judge.close)
        cls.judge.call(NAME, PATH, SERVICE, "ListProcesses")
        cls.service = cls.judge.call(*BUS, "GetConnectionUnixProcessID", "s", [NAME]).body[0]

    def setUp(self):
        self.assertEqual(self.judge.call(*BUS, "GetConnectionUnixProcessID", "s", [NAME]).body[0], self.service, "the service has ended")

    def assert_serves(self):
        """Another client gets its answer, from the same process."""
        start = time.monotonic()
        reply = self.judge.call(NAME, PATH, SERVICE, "GetProcFile", "ay", [b"/proc/version\0"])
        self.assertEqual(reply.error, None)
        self.assertLess(time.monotonic() - start, PATIENCE)
        self.assertEqual(self.judge.call(*BUS, "GetConnectionUnixProcessID", "s", [NAME]).body[0], self.service)

    def connect(self, user=DAEMON):
        client = Client(self.bus.address, user)
        self.addCleanup(client.close)
        return client

    def count_fds(self):
        return len(os.listdir(f"/proc/{self.service}/fd"))

    def test_random_calls(self):
        """Each call is answered, or the bus itself refuses it."""
        seed = int(os.environ.get("FUZZ_SEED", "1"))
        values = Values(seed)
        fds = [os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC), os.memfd_create("x"), os.open("/etc/passwd", os.O_RDONLY | os.O_CLOEXEC)]
        client = self.connect()
        answered = 0
        results = {method: set() for _path, _interface, method, _signature in METHODS}
        for i in range(FUZZ_CALLS):
            path, interface, method, usual = values.random.choice(METHODS)
            signature = values.signature(usual)
            passed = values.random.sample(fds, 3) + [fds[0]] if "h" in signature else []
            more = {}
            if i % 10 == 0:
                writer = Writer()
                for kind in split(signature):
                    writer.write(kind, values.value(kind))
                for _ in range(3 if writer.bytes else 0):
                    writer.bytes[values.random.randrange(len(writer.bytes))] = values.random.randrange(256)
                more["content"] = bytes(writer.bytes)
            try:
                reply = client.call(NAME, PATH + path, interface, method, signature, [values.value(kind) for kind in split(signature)],
                                    passed, **more)
                answered += 1
                results[method].add(f"{reply.error}: {reply.body[0]}" if reply.error else "success")
                reply.close()
            except (EOFError, ConnectionError):
                client = self.connect()
        for fd in fds:
            os.close(fd)
        self.assertGreater(answered, FUZZ_CALLS * 0.8, f"seed {seed}")
        self.assertEqual([method for method, found in results.items() if not found - {OTHER_TYPES}], [], "methods that were not reached")
        self.assertRegex(" ".join(results["PerfEventOpen"]), "success|Bad file descriptor")  # the kernel has seen it
        self.assertEqual([text for found in results.values() for text in found if "was ended" in text], [], f"seed {seed}: a child has crashed")
        self.assert_serves()

    def test_every_method_is_called(self):
        found = set()
        for path in {path for path, _interface, _method, _signature in METHODS}:
            text = self.judge.call(NAME, PATH + path, "org.freedesktop.DBus.Introspectable", "Introspect").body[0]
            for interface in xml.etree.ElementTree.fromstring(text).iter("interface"):
                found |= {(interface.get("name"), method.get("name"),
                           "".join(arg.get("type") for arg in method.iter("arg") if arg.get("direction") == "in")) for method in interface.iter("method")}
        self.assertEqual({method[1:] for method in METHODS}, found)

    def test_flood(self):
        client = self.connect()
        n = 5000
        for _ in range(20):  # each reads megabytes
            client.send(NAME, PATH, SERVICE, "GetProcFile", "ay", [b"/proc/kallsyms\0"], flags=1)
        self.assert_serves()
        serials = {client.send(NAME, PATH, SERVICE, "ListProcesses") for _ in range(n)}
        self.assert_serves()
        errors = set()
        while serials:
            reply = client.receive()
            if reply.type == 4:  # a signal of the bus
                continue
            serials.remove(reply.reply_serial)
            errors.add(reply.error.rsplit(".", 1)[1])
        self.assertEqual(errors, {"NotSupported", "LimitsExceeded"})
        self.assert_serves()

    def test_vanishing_clients(self):
        for user in (DAEMON, NOBODY) * 20:
            with Client(self.bus.address, user) as client:
                for path, interface, method, signature in METHODS:
                    if "h" not in signature and method != "Set":
                        client.send(NAME, PATH + path, interface, method, signature, [Values(1).value(kind) for kind in split(signature)])
        self.assert_serves()
        wait_for(lambda: children(self.service) == [], "all children have ended")

    def test_stopped_child(self):
        """A child that does not answer delays the other calls of its client only, and ends with the client."""
        client = self.connect()
        stopped = []
        while not stopped:
            for _ in range(20):
                client.send(NAME, PATH, SERVICE, "GetProcFile", "ay", [b"/proc/kallsyms\0"], flags=1)
            for pid in children(self.service):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                wait_for(lambda pid=pid: process_state(pid) in (None, "T", "Z"), "it has stopped or ended")
            stopped = [pid for pid in children(self.service) if process_state(pid) == "T"]
        self.assert_serves()
        self.assertLessEqual(set(stopped), set(children(self.service)))
        client.close()
        wait_for(lambda: children(self.service) == [], "the child has ended")

    def test_thousands_of_descriptors(self):
        before = self.count_fds()
        null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        for user in (DAEMON, NOBODY):
            with contextlib.suppress(EOFError, ConnectionError), Client(self.bus.address, user) as client:
                for _ in range(500):
                    client.send(NAME, PATH, SERVICE, "PerfEventOpen", "a{sv}iiht", [[], -1, 0, 0, 0], [null] * 16)
                self.assertLess(self.count_fds(), before + 300)
        os.close(null)
        self.assert_serves()
        wait_for(lambda: self.count_fds() <= before + 1, lambda: f"{self.count_fds()} descriptors, {before} before")

    def test_long_message(self):
        reply = self.connect().call(NAME, PATH, SERVICE, "GetProcessInfo", "s", ["x" * 1_000_000])
        self.assertEqual(reply.error, "org.freedesktop.DBus.Error.LimitsExceeded")
        reply = self.connect(NOBODY).call(NAME, "/" + "x" * 1_000_000, SERVICE, "ListProcesses")
        self.assertEqual(reply.error, "org.freedesktop.DBus.Error.UnknownObject")
        self.assert_serves()

    def send_paced(self, client, n, *call):
        """So slowly that the bus lets them through."""
        for i in range(n):
            client.send(NAME, PATH, *call)
            if i % 50 == 49:
                self.judge.call(NAME, PATH, SERVICE, "ListProcesses")

    def test_client_that_does_not_read(self):
        """A bus does not accept messages of a service whose replies fill its queues. 64 descriptors are enough for that."""
        stalled = [self.connect(0), self.connect(0)]
        for client in stalled:
            self.send_paced(client, 500, SERVICE, "GetProcFd", "ay", [b"/proc/version\0"])
        self.assert_serves()
        client = self.connect(NOBODY)
        call = ("org.freedesktop.DBus.Introspectable", "Introspect")
        self.send_paced(client, 100, *call)
        received = [client.receive_any()]
        while received[-1].member != "Ping":
            received.append(client.receive_any())
        self.assertLess(len(received), 50)  # those that follow are sent when it has answered
        client.send(received[-1].sender, None, None, None, type=2, reply_serial=received[-1].serial)
        self.assertEqual(client.call(NAME, PATH, *call).error, None)

    def test_connections_of_a_user_are_limited(self):
        client = self.connect()
        fds = []
        while True:
            reply = client.call(NAME, PATH + "/Rights", "org.gnome.Sysprof3.Rights", "Connect", "a{sv}", [[]])
            if reply.error:
                break
            fds += reply.fds
        self.assertEqual((reply.error, len(fds)), ("org.freedesktop.DBus.Error.LimitsExceeded", 32))
        other = self.connect(0).call(NAME, PATH + "/Rights", "org.gnome.Sysprof3.Rights", "Connect", "a{sv}", [[]])
        self.assertEqual(other.error, None)
        for fd in fds + other.fds:
            os.close(fd)
        wait_for(lambda: children(self.service) == [], "all children have ended")

    def test_invalid_request_ends_a_connection(self):
        client = self.connect()
        (fd,) = client.call(NAME, PATH + "/Rights", "org.gnome.Sysprof3.Rights", "Connect", "a{sv}", [[]]).fds
        os.write(fd, b"x" * 5000)
        self.assertEqual(os.read(fd, 100), b"")
        os.close(fd)

    @contextlib.contextmanager
    def agent(self):
        """Polkit requests a password, and the user does not type it. Yields a function that returns what polkit shows."""
        leader, follower = pty.openpty()
        registered, end = os.pipe()
        with subprocess.Popen(["setsid", "--ctty", "pkttyagent", "--process", str(os.getpid()), "--notify-fd", str(end)],
                              stdin=follower, stdout=follower, stderr=follower, env=self.bus.environment, pass_fds=[end]) as agent:
            os.close(follower)
            os.close(end)
            try:
                self.assertEqual(os.read(registered, 1), b"")
                yield lambda: os.read(leader, 1000)
            finally:
                agent.kill()
        os.close(leader)
        os.close(registered)

    def test_password_of_one_does_not_delay_others(self):
        client = self.connect(NOBODY)
        with self.agent() as read:
            client.send(NAME, PATH, SERVICE, "GetProcFile", "ay", [b"/proc/version\0"])
            shown = b""
            while b"Password:" not in shown:
                shown += read()
            self.assertIn(b"Authentication is required to profile the system", shown)
            self.assert_serves()
            client.close()
            self.assert_serves()

    def test_many_waiting_clients_of_a_user(self):
        """A bus permits 128 calls of the service that polkit has not answered. The calls of a user have a limit of memory."""
        with self.agent(), open("/dev/null", "rb") as null:
            clients = [self.connect(NOBODY) for _ in range(200)]
            for client in clients:
                client.send(NAME, PATH, SERVICE, "ListProcesses")
            self.assert_serves()
            before = self.count_fds()
            for client in clients:
                for _ in range(10):
                    client.send(NAME, PATH, SERVICE, "GetProcessInfo", "s", ["x" * 60_000])
                client.send(NAME, PATH, SERVICE, "PerfEventOpen", "a{sv}iiht", [[], -1, 0, 0, 0], [null.fileno()] * 16)
                self.assert_serves()  # and its queue in the bus is empty, which has at most 64 descriptors
            self.assertLess(self.count_fds(), before + 300)
            if b"__asan_init" not in pathlib.Path(SYSPROFD).read_bytes():  # it keeps freed memory
                status = pathlib.Path(f"/proc/{self.service}/status").read_text(encoding="ascii")
                self.assertLess(int(re.search(r"VmHWM:\s*(\d+)", status)[1]), 64 * 1024)
            for client in clients:
                client.close()
        self.assert_serves()

    def test_power_profiles_that_do_not_answer(self):
        """Another client is served while the service waits for the daemon, which may take 3 s."""
        daemon = self.connect(0)
        daemon.call(*BUS, "RequestName", "su", ["org.freedesktop.UPower.PowerProfiles", 0])

        def serves_meanwhile():
            client = self.connect()
            client.call(*BUS, "GetId")  # skips the signals of the bus
            client.send(NAME, PATH + "/Rights", "org.gnome.Sysprof3.Rights", "HoldPowerProfile", "s", ["performance"])
            while daemon.receive().member != "Get":
                continue
            self.judge.call(NAME, PATH, SERVICE, "ListProcesses")
            is_waiting = select.select([client.socket], [], [], 0)[0] == []
            self.assertEqual(client.receive().error, "org.freedesktop.DBus.Error.Failed")
            client.close()
            return is_waiting

        self.assertTrue(any(serves_meanwhile() for _ in range(5)))  # a busy machine may need more than one
        wait_for(lambda: children(self.service) == [], "all children have ended")
        self.assertFalse(os.path.exists("/run/sysprof/held/power-profile"))


class NoPolkit(Case):
    def test_nothing_without_polkit(self):
        reason = private_bus.reason_to_skip()
        if reason:
            self.skipTest(reason)
        with private_bus.PrivateBus(private_bus.confined(SYSPROFD), ["daemon"]) as bus:
            bus.daemons[1].send_signal(signal.SIGKILL)
            bus.daemons[1].wait()
            with Client(bus.address, 0) as client:
                for path, interface, method, signature in METHODS[:14]:
                    if "h" in signature:
                        continue
                    reply = client.call(NAME, PATH + path, interface, method, signature, [Values(1).value(kind) for kind in split(signature)])
                    self.assertEqual(reply.error, "org.freedesktop.DBus.Error.AccessDenied", method)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def process_state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return None


if __name__ == "__main__":
    tap.main()
