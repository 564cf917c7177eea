#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprofd on a private system bus with real polkit: its objects, the results and errors of every method, and who gets them."""

import os
import re
import subprocess
import unittest
import xml.etree.ElementTree

import private_bus
import tap
from programs import Case, run

SYSPROFD = os.environ["SYSPROFD"]
PATH = "/org/gnome/Sysprof3"
SERVICE = "org.gnome.Sysprof3.Service"
RAPL = "org.gnome.Sysprof3.Profiler"
RIGHTS = "org.gnome.Sysprof3.Rights"
DEBIAN = "/usr/libexec/sysprofd"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
GRANTED, REFUSED = "daemon", "nobody"


def signatures(text):
    """Returns {interface: {(kind, name, directions and types of the arguments)}} of an introspection."""
    return {interface.get("name"): {
        (member.tag, member.get("name"), member.get("type"),
         tuple((arg.get("direction"), arg.get("type")) for arg in member.iter("arg")))
        for member in interface if member.tag != "annotation"}
            for interface in xml.etree.ElementTree.fromstring(text).iter("interface")}


class Service(Case):
    @classmethod
    def setUpClass(cls):
        reason = private_bus.reason_to_skip()
        if reason:
            raise unittest.SkipTest(reason)
        cls.bus = private_bus.PrivateBus(private_bus.confined(SYSPROFD), [GRANTED])
        cls.bus.__enter__()  # pylint: disable=unnecessary-dunder-call
        cls.addClassCleanup(cls.bus.__exit__)

    def call(self, path, interface, method, *arguments, user=GRANTED):
        """Returns what gdbus prints, or its error as 'Name: text'."""
        done = run("setpriv", "--reuid", user, "--clear-groups", "gdbus", "call", "--system", "--dest", "org.gnome.Sysprof3",
                   "--object-path", PATH + path, "--method", f"{interface}.{method}", "--", *arguments, env=self.bus.environment)
        if done.returncode == 0:
            return done.stdout.decode().strip()
        return re.sub(r"^Error: GDBus\.Error:org\.freedesktop\.DBus\.Error\.", "", done.stderr.decode().strip())

    def introspect(self, path, bus=None):
        return run("gdbus", "introspect", "--system", "--xml", "--dest", "org.gnome.Sysprof3", "--object-path", path,
                   env=(bus or self.bus).environment).stdout.decode()

    # --- objects ---

    def test_installed_interfaces_are_those_of_the_objects(self):
        for name, path in ((SERVICE, ""), (RAPL, "/RAPL"), (RIGHTS, "/Rights")):
            with open(private_bus.SOURCE / f"data/sysprofd/{name}.xml", encoding="utf-8") as file:
                self.assertEqual(signatures(file.read())[name], signatures(self.introspect(PATH + path))[name])

    def test_same_interfaces_as_debian(self):
        """Debian's description is that of its service: test-interoperation asks the service itself."""
        for name, path in ((SERVICE, ""), (RAPL, "/RAPL")):
            with open(f"/usr/share/dbus-1/interfaces/{name}.xml", encoding="utf-8") as file:
                theirs = signatures(file.read())[name]
            self.assertTrue(theirs)
            self.assertEqual(theirs, signatures(self.introspect(PATH + path))[name])

    def test_parents_list_their_children(self):
        self.assertIn('<node name="gnome"/>', self.introspect("/org"))
        self.assertEqual(set(re.findall(r'<node name="(\w+)"/>', self.introspect(PATH))), {"RAPL", "Unwinder", "Rights"})

    def test_capabilities(self):
        self.assertEqual(self.call("/RAPL", "org.freedesktop.DBus.Properties", "Get", RAPL, "Capabilities"), "(<@a{sv} {}>,)")
        self.assertEqual(self.call("/RAPL", "org.freedesktop.DBus.Properties", "GetAll", RAPL), "({'Capabilities': <@a{sv} {}>},)")

    # --- who ---

    def test_nothing_without_authorization(self):
        for path, interface, method, *arguments in (
                ("", SERVICE, "PerfEventOpen", "{}", "-1", "0", "0", "0"),
                ("", SERVICE, "GetProcFile", "b'/proc/loadavg'"),
                ("", SERVICE, "GetProcFd", "b'/proc/loadavg'"),
                ("", SERVICE, "GetProcessInfo", "pid"),
                ("", SERVICE, "ListProcesses"),
                ("", SERVICE, "SetGovernor", "powersave"),
                ("", SERVICE, "SetParanoid", "-1"),
                ("/RAPL", RAPL, "Start", "{}", "0"),
                ("/RAPL", RAPL, "Stop"),
                ("/Unwinder", "org.gnome.Sysprof3.Unwinder", "Unwind", "4096", "[]", "0", "0"),
                ("/Rights", RIGHTS, "Connect", "{}"),
                ("/Rights", RIGHTS, "OpenSystemBusMonitor"),
                ("/Rights", RIGHTS, "HoldPowerProfile", "performance"),
                ("/Rights", RIGHTS, "HoldParanoid", "-1")):
            self.assertEqual(self.call(path, interface, method, *arguments, user=REFUSED),
                             "AccessDenied: Not authorized to make request", method)

    # --- the methods ---

    def test_proc_files(self):
        own = f"/proc/{os.getpid()}"
        for path in ("/proc/kallsyms", "/proc/cpuinfo", "/proc/mounts", f"{own}/maps", f"{own}/cgroup", "/sys/devices/system/cpu/online"):
            self.assertRegex(self.call("", SERVICE, "GetProcFile", f"b'{path}'"), r"^\(b", path)
        with open("/proc/1/comm", encoding="utf-8") as file:
            self.assertEqual(self.call("", SERVICE, "GetProcFile", "b'/proc/1/comm'"), f"(b'{file.read().strip()}\\n',)")
        self.assertEqual(self.call("", SERVICE, "GetProcFd", f"b'{own}/maps'"), "(handle 0,)")

    def test_crafted_paths(self):
        for path in ("/etc/shadow", "/proc/1/root/etc/shadow", "/proc/self/root/etc/shadow", "/proc/1/cwd/etc/shadow",
                     "/proc/../etc/shadow", "/proc//kallsyms", "/proc/1/../kallsyms", "/proc/1/fd/0", "/proc/1/exe", "/proc/1/mem",
                     "/proc/1/environ", "/proc/self/maps", "/proc/1/root/.flatpak-info", "/proc/kcore", "/proc/1/map_files", "",
                     "/proc/999999999/maps", "kallsyms", "/proc/kallsyms/", "/proc/kallsyms/.", "/proc/" + "1" * 3000 + "/maps"):
            self.assertEqual(self.call("", SERVICE, "GetProcFile", f"b'{path}'"), "AccessDenied: Failed to load proc file", path)
            self.assertEqual(self.call("", SERVICE, "GetProcFd", f"b'{path}'"), "AccessDenied: Failed to load proc fd", path)
        for array in ("@ay []", "[byte 47, 112, 114, 111, 99, 47, 115, 116, 97, 116]",  # without NUL
                      "[byte 47, 0, 47, 0]"):
            self.assertEqual(self.call("", SERVICE, "GetProcFile", array), "AccessDenied: Failed to load proc file", array)

    def test_process_info(self):
        name = b"/bin/sh\xff 'x"
        with subprocess.Popen([name, "-c", "read x", "", "it's", "a b"], executable="/bin/sh", stdin=subprocess.PIPE) as child:
            found = self.call("", SERVICE, "GetProcessInfo", "pid,cmdline,comm,unknown")
            child.stdin.close()
        self.assertIn(f"'pid': <{child.pid}>", found)
        self.assertIn(r"""'/bin/sh? '\\''x' -c 'read x' 'it'\\''s' 'a b'""", found.replace('\\"', '"'))
        self.assertRegex(self.call("", SERVICE, "GetProcessInfo", ""), r"^\(\[\{'pid': <1>\}, \{'pid': <\d+>\}")

    def test_paranoid_is_restored(self):
        with open(PARANOID, encoding="ascii") as file:
            before = file.read()
        self.assertEqual(self.call("", SERVICE, "SetParanoid", "-1"), f"({before.strip()},)")
        self.assert_paranoid(before)

    def assert_paranoid(self, expected):
        """The bus reports the end of a client before it answers later calls of others."""
        self.call("", SERVICE, "ListProcesses")
        with open(PARANOID, encoding="ascii") as file:
            self.assertEqual(file.read(), expected)

    def test_what_is_not_supported(self):
        self.assertRegex(self.call("", SERVICE, "ListProcesses"), "^NotSupported: ")
        self.assertRegex(self.call("/Unwinder", "org.gnome.Sysprof3.Unwinder", "Unwind", "4096", "[]", "0", "0"), "^NotSupported: ")
        self.assertEqual(self.call("", SERVICE, "SetGovernor", "no governor"), "Failed: Failed to set governor")
        self.assertRegex(self.call("/Rights", RIGHTS, "HoldPowerProfile", "fast"), "^InvalidArgs: .*balanced")
        self.assertRegex(self.call("/RAPL", RAPL, "Start", "{}", "0"), "^InvalidArgs: Invalid param 'fd'")
        self.assertEqual(self.call("/RAPL", RAPL, "Stop"), "()")

    def test_unknown_names(self):
        self.assertRegex(self.call("/None", SERVICE, "ListProcesses"), "UnknownObject|no such object")
        for method in (f"{SERVICE}.None", f"{RIGHTS}.Connect", "org.none.None"):
            done = run("dbus-send", "--system", "--print-reply", "--dest=org.gnome.Sysprof3", PATH, method, env=self.bus.environment)
            self.assertIn(b"UnknownMethod", done.stderr)
        done = run("dbus-send", "--system", "--print-reply", "--dest=org.gnome.Sysprof3", PATH, f"{SERVICE}.SetParanoid", "string:1",
                   env=self.bus.environment)
        self.assertIn(b"InvalidArgs", done.stderr)


if __name__ == "__main__":
    tap.main()
