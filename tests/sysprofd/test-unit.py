#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd unit, started by a systemd in namespaces of its own: its sandbox permits what the service needs, and it restores settings.

With the word `inside`, this program runs as a unit of that systemd and prints what it finds as JSON.
"""

import json
import os
import shutil
import sys
import tempfile
import time

import private_bus
import tap
from bus_client import Client
from programs import Case, run, wait_for

SYSTEMD = "/lib/systemd/systemd"
BUS = "/run/dbus/system_bus_socket"
NAME = "org.gnome.Sysprof3"
PATH = "/org/gnome/Sysprof3"
SERVICE = "org.gnome.Sysprof3.Service"
RIGHTS = "org.gnome.Sysprof3.Rights"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
UNITS = {
    "test.target": "Wants=dbus.service polkit.service run.service",
    "sysinit.target": "", "basic.target": "", "shutdown.target": "",
    "dbus.socket": f"[Socket]\nListenStream={BUS}",
    "dbus.service": "Requires=dbus.socket\nAfter=dbus.socket\n[Service]\n"
                    "ExecStart=/usr/bin/dbus-daemon --nofork --nopidfile --address=systemd: --config-file={directory}/bus.conf",
    "polkit.service": "[Service]\nType=dbus\nBusName=org.freedesktop.PolicyKit1\nExecStart=/usr/lib/polkit-1/polkitd --no-debug",
    "run.service": "After=polkit.service\n[Service]\nType=oneshot\nEnvironment=PYTHONPATH={path} CALL_RIGHTS={call_rights}\n"
                   "StandardOutput=file:{directory}/found\nStandardError=file:{directory}/errors\nExecStart={python} {program} inside\nExecStopPost=/bin/systemctl poweroff -ff",
}
INIT = """
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount --bind {directory}/actions /usr/share/polkit-1/actions
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/bin
cp {program} /run/bin/sysprofd
umount -R /sys/fs/cgroup
mount -t tmpfs tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/systemd
if mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
then hierarchy=systemd.unified_cgroup_hierarchy=0
else umount /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup || exit 77; hierarchy=
fi
export container=test SYSTEMD_UNIT_PATH={directory}/units
exec {systemd} --system --unit=test.target --log-target=console $hierarchy
"""


def paranoid():
    with open(PARANOID, encoding="ascii") as file:
        return int(file.read())


def inside():
    found = {}
    run("systemctl", "start", "sysprof3.service")
    client = Client(f"unix:path={BUS}")

    def call(path, interface, method, signature, *body):
        reply = client.call(NAME, PATH + path, interface, method, signature, body)
        return reply.error or reply.body[0]

    for path in ("/proc/kallsyms", "/proc/mounts", "/proc/1/maps", "/sys/devices/system/cpu/online"):
        found[path] = len(call("", SERVICE, "GetProcFile", "ay", path.encode() + b"\0"))
    found["rights"] = run(os.environ["CALL_RIGHTS"], 1, env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={BUS}"}).stdout.decode()
    found["event"] = call("", SERVICE, "PerfEventOpen", "a{sv}iiht",
                          {"type": ("u", 1), "sample_period": ("t", 1000000)}, -1, 0, 0xffffffff, 0)
    before = paranoid()
    call("/Rights", RIGHTS, "HoldParanoid", "i", -1)
    found["held"] = paranoid()
    run("systemctl", "kill", "--signal=KILL", "--kill-who=main", "sysprof3.service")
    wait_for(lambda: run("systemctl", "is-active", "sysprof3.service").stdout == b"failed\n", "the unit has failed")
    found["restored"] = paranoid() == before
    run("systemctl", "start", "sysprof3.service")
    call("/Rights", RIGHTS, "Connect", "a{sv}", [])
    start = time.monotonic()
    run("systemctl", "stop", "sysprof3.service")
    found["seconds to stop"] = time.monotonic() - start
    print(json.dumps(found))


class Unit(Case):
    def test_sandbox(self):
        reason = private_bus.reason_to_skip()
        if reason or not os.path.exists(SYSTEMD):
            self.skipTest(reason or "no systemd here")
        private_bus.lock_settings()
        directory = tempfile.mkdtemp(prefix="sysprof-unit-")
        self.addCleanup(shutil.rmtree, directory)
        names = {"directory": directory, "program": __file__, "python": sys.executable, "path": os.environ["PYTHONPATH"],
                 "call_rights": os.environ["CALL_RIGHTS"]}
        for folder in ("units", "actions"):
            os.mkdir(f"{directory}/{folder}")
        shutil.copy(private_bus.SOURCE / "data/sysprofd/org.gnome.sysprof3.policy", f"{directory}/actions")
        for name, text in UNITS.items():
            with open(f"{directory}/units/{name}", "w", encoding="utf-8") as file:
                file.write("[Unit]\nDefaultDependencies=no\n" + text.format(**names) + "\n")
        with open(f"{directory}/units/sysprof3.service", "w", encoding="utf-8") as file:
            file.write(private_bus.UNIT.read_text().replace("@LIBEXECDIR@", "/run/bin"))
        with open(f"{directory}/bus.conf", "w", encoding="utf-8") as file:
            file.write(private_bus.configuration(directory))
        done = run("unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--cgroup", "sh", "-c",
                   INIT.format(directory=directory, program=os.environ["SYSPROFD"], systemd=SYSTEMD))
        if done.returncode == 77:
            self.skipTest("no group of processes can be made here")
        with open(f"{directory}/found", encoding="utf-8") as file, open(f"{directory}/errors", encoding="utf-8") as errors:
            found = json.loads(file.read() or self.fail(errors.read()))
        sizes = [found.pop(path) for path in list(found) if path.startswith("/")]
        self.assertGreater(min(sizes), 2, done.stderr)
        self.assertLess(found.pop("seconds to stop"), 20)
        self.assertEqual(found, {"rights": "symbols with addresses\nevent\nmappings\n" + ("walker\n" if os.environ["HAS_BPF"] == "true" else ""),
                                 "event": 0, "held": -1, "restored": True})


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        inside()
    else:
        tap.main()
