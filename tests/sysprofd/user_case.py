# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests in which the user "daemon" records through a service on a bus of its own."""
import contextlib
import os
import pathlib
import shutil
import tempfile

import private_bus
from programs import CLI, Case

DEBIAN_SERVICE = "/usr/libexec/sysprofd"
PARANOID = pathlib.Path(private_bus.PARANOID)
QUIET = ("--quiet", "--force", "--no-system-log", "--no-graphics-info", "--no-battery")
KERNEL = 1 << 63
MARKERS = 2**64 - 4096  # and above: not addresses


@contextlib.contextmanager
def restricted_bus(service):
    """A bus on which the user is authorized. Without the service, ordinary users may not sample others."""
    with private_bus.PrivateBus(service, ["daemon"]) as bus:  # which holds the lock of the setting
        before = PARANOID.read_text(encoding="ascii")
        PARANOID.write_text("2", encoding="ascii")
        try:
            yield bus
        finally:
            PARANOID.write_text(before, encoding="ascii")


class UserCase(Case):
    def setUp(self):
        super().setUp()
        reason = private_bus.reason_to_skip()
        if reason:
            self.skipTest(reason)
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        os.chmod(self.directory, 0o777)
        shutil.copy(CLI, self.directory)  # where the user finds it
