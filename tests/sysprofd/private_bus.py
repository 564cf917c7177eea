#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A system bus of its own with real polkit and our sysprofd, which the bus activates. Needs root.

The daemons run in a mount namespace in which polkit has our action, and a rule that grants it to some users. Settings
that sysprofd keeps in /run/sysprof stay in this namespace, too.

usage: private_bus.py SYSPROFD [--grant USER]… -- COMMAND…
Runs COMMAND with DBUS_SYSTEM_BUS_ADDRESS. Without --grant only root is authorized.
"""

import ctypes
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
UNIT = SOURCE / "data/sysprofd/sysprof3.service.in"
POLKITD = "/usr/lib/polkit-1/polkitd"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
LOCKS = []
CLONE_NEWNS = 0x20000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={directory}/socket</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{directory}/services</servicedir>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
    <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>
    <allow send_destination="org.freedesktop.PolicyKit1"/>
    <allow send_destination="org.freedesktop.UPower.PowerProfiles"/>
  </policy>
  <policy user="root">
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>
  </policy>
  <policy user="polkitd">
    <allow own="org.freedesktop.PolicyKit1"/>
    <allow send_type="method_call"/>
  </policy>
  <!-- The limits of the system bus. -->
  <limit name="max_incoming_bytes">133169152</limit>
  <limit name="max_incoming_unix_fds">64</limit>
  <limit name="max_outgoing_bytes">133169152</limit>
  <limit name="max_outgoing_unix_fds">64</limit>
  <limit name="max_message_size">33554432</limit>
  <limit name="max_message_unix_fds">16</limit>
  <limit name="max_connections_per_user">512</limit>
  <limit name="auth_timeout">30000</limit>
  <include>{policy}</include>
</busconfig>
"""

RULE = """polkit.addAdminRule (function (action, subject) {
  return ["unix-user:root"];
});
polkit.addRule(function (action, subject) {
  if (action.id == "org.gnome.sysprof3.profile" && %s.indexOf (subject.user) >= 0)
    return polkit.Result.YES;
});
"""


def confined(program):
    """Returns the command that starts our service with the capabilities of the systemd unit."""
    capabilities = re.search("^CapabilityBoundingSet=(.*)", UNIT.read_text(), re.M)[1].lower().replace("cap_", "+").replace(" ", ",")
    return f"{shutil.which('setpriv')} --no-new-privs --bounding-set=-all,{capabilities} {program}"


def configuration(directory):
    """Returns that of a bus as the system bus has it."""
    return CONFIG.format(directory=directory, policy=SOURCE / "data/sysprofd/org.gnome.Sysprof3.conf")


def reason_to_skip():
    """Returns why no private bus can be made here; None if it can."""
    if os.geteuid() != 0:
        return "needs root"
    for program in (POLKITD, shutil.which("dbus-daemon") or "dbus-daemon"):
        if not os.path.exists(program):
            return f"no {program} here"
    return None


def mount(source, target, kind=None, flags=0):
    if LIBC.mount(source and source.encode(), target.encode(), kind and kind.encode(), flags, None) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount on {target}: {os.strerror(ctypes.get_errno())}")


def enter_namespace():
    """Gives this process a mount namespace of its own."""
    if LIBC.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a mount namespace")
    mount(None, "/", None, MS_REC | MS_PRIVATE)


def lock_settings():
    """Until this process ends, no other test changes the settings of the machine."""
    if not LOCKS:
        LOCKS.append(open(PARANOID, "r+", encoding="ascii"))  # pylint: disable=consider-using-with
        fcntl.flock(LOCKS[0], fcntl.LOCK_EX)


class PrivateBus:
    """`service`: the command line that owns org.gnome.Sysprof3; None = the name has no owner."""

    def __init__(self, service, grant=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="sysprof-bus-"))
        os.chmod(self.directory, 0o755)
        self.address = f"unix:path={self.directory}/socket"
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        self.grant = list(grant)
        self.service = service
        self.daemons = []
        self.mounts = []

    def mount(self, source, target, kind=None, flags=0):
        mount(str(source), target, kind, flags)
        self.mounts.append(target)

    def activate(self, name, command):
        services = self.directory / "services"
        services.mkdir(exist_ok=True)
        (services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={command}\nUser=root\n")

    def __enter__(self):
        lock_settings()
        enter_namespace()
        rules = self.directory / "rules"
        rules.mkdir()
        (rules / "10-sysprof.rules").write_text(RULE % repr(self.grant))
        self.mount(rules, "/etc/polkit-1/rules.d", None, MS_BIND)
        actions = self.directory / "actions"
        actions.mkdir()
        shutil.copy(SOURCE / "data/sysprofd/org.gnome.sysprof3.policy", actions)
        self.mount(actions, "/usr/share/polkit-1/actions", None, MS_BIND)
        os.makedirs("/run/sysprof", exist_ok=True)
        self.mount("tmpfs", "/run/sysprof", "tmpfs")
        os.chmod("/run/sysprof", 0o700)
        if self.service:
            self.activate("org.gnome.Sysprof3", self.service)
        (self.directory / "services").mkdir(exist_ok=True)
        config = self.directory / "bus.conf"
        config.write_text(configuration(self.directory))
        self.start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={config}", "--print-address")
        self.daemons[0].stdout.readline()
        self.start(POLKITD, "--no-debug")
        self.wait_for_name("org.freedesktop.PolicyKit1")
        return self

    def start(self, *command):
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.daemons.append(process)
        return process

    def wait_for_name(self, name):
        subprocess.run(["gdbus", "wait", "--system", "--timeout", "60", name], env=self.environment, check=True)

    def __exit__(self, *unused):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)
            daemon.stdout.close()
        for target in reversed(self.mounts):
            LIBC.umount2(target.encode(), MNT_DETACH)
        shutil.rmtree(self.directory)


def main():
    arguments = sys.argv[1:]
    if "--" not in arguments or arguments.index("--") == 0:
        sys.exit(__doc__.strip())
    own, command = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    grant = [own[i + 1] for i, word in enumerate(own[:-1]) if word == "--grant"]
    with PrivateBus(confined(os.path.abspath(own[0])), grant) as bus:
        sys.exit(subprocess.run(command, env=bus.environment, check=False).returncode)


if __name__ == "__main__":
    main()
