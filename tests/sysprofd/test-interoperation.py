#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interfaces of Sysprof 3.46, the counters of energy, and what the installed files promise."""

import os
import pathlib
import re
import struct
import subprocess
import tempfile
import xml.etree.ElementTree

import decoder
import private_bus
import tap
from bus_client import Client
from programs import Case, run

SYSPROFD = os.environ["SYSPROFD"]
DEBIAN_SERVICE = "/usr/libexec/sysprofd"
NAME = "org.gnome.Sysprof3"
PATH = "/org/gnome/Sysprof3"
RAPL = "org.gnome.Sysprof3.Profiler"
MOST_EXPOSURE = 2.0


def interfaces(bus, path):
    """Returns {interface: {(kind, name, types)}} of an object, without annotations."""
    text = run("gdbus", "introspect", "--system", "--xml", "--dest", NAME, "--object-path", path, env=bus.environment).stdout
    return {interface.get("name"): {
        (member.tag, member.get("name"), member.get("type"), tuple((arg.get("direction"), arg.get("name"), arg.get("type")) for arg in member.iter("arg")))
        for member in interface if member.tag != "annotation"}
            for interface in xml.etree.ElementTree.fromstring(text).iter("interface")}


class WithBus(Case):
    def setUp(self):
        reason = private_bus.reason_to_skip()
        if reason:
            self.skipTest(reason)

    def bus(self, service):
        bus = private_bus.PrivateBus(service, ["daemon"])
        bus.__enter__()  # pylint: disable=unnecessary-dunder-call
        self.addCleanup(bus.__exit__)
        return bus


class Debian(WithBus):
    def setUp(self):
        super().setUp()
        if not os.path.exists(DEBIAN_SERVICE):
            self.skipTest("no Sysprof 3.46 here")

    def test_same_interfaces(self):
        theirs, ours = self.bus(DEBIAN_SERVICE), self.bus(private_bus.confined(SYSPROFD))
        for path in ("", "/RAPL"):
            expected = interfaces(theirs, PATH + path)
            self.assertTrue(expected)
            self.assertEqual(interfaces(ours, PATH + path), expected)


class Energy(WithBus):
    """Directories as the kernel makes them; virtual machines have none."""

    def test_counters(self):
        bus = self.bus(None)
        zones = pathlib.Path(bus.directory) / "class/powercap"
        energy = {}
        for zone, name, value in (("intel-rapl:0", "package-0", 5), ("intel-rapl:0:0", "core", 7), ("intel-rapl:0:1", "dram", 0),
                                  ("intel-rapl:1", "package-1", 999_000_000), ("intel-rapl:2", "psys", 1)):
            directory = zones / zone
            directory.mkdir(parents=True)
            (directory / "name").write_text(name + "\n")
            (directory / "max_energy_range_uj").write_text("1000000000\n")
            energy[zone] = directory / "energy_uj"
            energy[zone].write_text(f"{value}\n")
        bus.mount(zones.parent, "/sys/class", None, private_bus.MS_BIND)
        service = bus.start(SYSPROFD)
        bus.wait_for_name(NAME)
        file = os.memfd_create("[sysprof-proxy]")
        with Client(bus.address, 1) as client:
            self.assertEqual(client.call(NAME, PATH + "/RAPL", RAPL, "Start", "a{sv}h", [[], 0], [file]).error, None)
            again = client.call(NAME, PATH + "/RAPL", RAPL, "Start", "a{sv}h", [[], 0], [file])
            self.assertEqual(again.body, ["RAPL collector already running"])
            energy["intel-rapl:0"].write_text("60000005\n")
            energy["intel-rapl:1"].write_text("19000000\n")  # 20 J later, over the end of its range
            with Client(bus.address, 1) as other:
                other.call(NAME, PATH + "/RAPL", RAPL, "Stop")  # not its own
            self.assertEqual(client.call(NAME, PATH + "/RAPL", RAPL, "Stop").error, None)
        service.terminate()
        service.wait(60)
        size = os.fstat(file).st_size
        capture = decoder.decode(os.pread(file, size, 0))
        os.close(file)
        (definition,) = capture.of("ctrdef")
        self.assertEqual([(counter["category"], counter["name"]) for counter in definition["counters"]],
                         [("RAPL", name) for name in ("Package Watt", "Core Watt", "GFX Watt", "RAM Watt")])
        joule, before = 0, definition["time"]
        for frame in capture.of("ctrset"):
            watt = struct.unpack("<d", struct.pack("<Q", dict(frame["values"])[definition["counters"][0]["id"]]))[0]
            joule += watt * (frame["time"] - before) / 1e9
            before = frame["time"]
        self.assertAlmostEqual(joule, 80, delta=0.8)


class Build(Case):
    def test_only_the_c_library(self):
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", SYSPROFD).stdout.decode())
        libraries = [name for name in libraries if not re.match(r"(libasan|libubsan|libtsan)\.", name)]
        self.assertEqual(set(libraries) - {"libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}, {"libc.so.6"})

    def test_unit_is_confined(self):
        with tempfile.TemporaryDirectory() as directory:
            unit = pathlib.Path(directory) / "sysprof3.service"
            unit.write_text(private_bus.UNIT.read_text().replace("@LIBEXECDIR@", "/usr/libexec"))
            done = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
        exposure = re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout.decode())
        self.assertLess(float(exposure[1]), MOST_EXPOSURE, done.stderr)

    def test_exits(self):
        """Idle: 0. Without a bus or without the name: 1."""
        self.assertEqual(run(SYSPROFD, env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/none"}).returncode, 1)
        self.assertEqual(run(SYSPROFD, "--none").returncode, 2)
        if private_bus.reason_to_skip():
            return
        with private_bus.PrivateBus(None) as bus:
            self.assertEqual(run(SYSPROFD, "--idle", "0", env=bus.environment).returncode, 0)
            done = run("setpriv", "--reuid", "daemon", "--clear-groups", SYSPROFD, env=bus.environment)
            self.assertEqual((done.returncode, b"does not give the name" in done.stderr), (1, True))
            first = bus.start(SYSPROFD)
            bus.wait_for_name(NAME)
            second = bus.start(SYSPROFD)
            self.assertEqual(first.wait(60), 0)  # replaced
            second.terminate()
            self.assertEqual(second.wait(60), 0)


if __name__ == "__main__":
    tap.main()
