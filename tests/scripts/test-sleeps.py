#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests wait for a condition, with a bound (wait_for in tests/e2e/programs.py), and not for a time: how long something takes
depends on what else the machine does. Each call of sleep() in tests/ is listed here with its reason.

    test-sleeps.py SOURCE-ROOT"""

import pathlib
import re
import sys
import unittest

SLEEP = re.compile(r"\b(?:sleep|usleep|nanosleep|g_usleep) ?\(")
WORKLOAD = "the program under observation sleeps, and the test looks at these sleeps"
# file below tests/: (number of calls, reason)
ALLOWED = {
    "e2e/contended-locks.c": (1, WORKLOAD),
    "e2e/known-waits.c": (1, WORKLOAD),
    "e2e/limited-loop.c": (1, "nothing reports that the recorder has made its tables"),
    "e2e/short-lived-bpf.c": (2, "BPF programs end at a time of the kernel's choice, which it does not report"),
    "e2e/programs.py": (1, "interval of wait_for"),
    "e2e/test-debuginfod.py": (1, "interval of a loop that waits for a condition"),
    "e2e/test-events.py": (2, WORKLOAD + "; /proc/stat counts in ticks, of which many have to pass"),
    "e2e/test-host.py": (2, "interval of loops that wait for a condition"),
    "e2e/test-off-cpu.py": (9, WORKLOAD + "; all threads are observed for a time"),
    "e2e/test-soak.py": (1, "memory is measured once a second"),
    "e2e/test-symbol-cache.py": (1, "the cache ignores files that were changed less than this time ago"),
    "e2e/test-system-messages.py": (1, "nothing reports that the recorder has looked at all processes"),
    "peers/gtk-target.py": (1, WORKLOAD),
    "inspect/test-symbol-cache.c": (1, "interval of a loop that waits for a condition"),
    "record/dbus/test-bus.c": (1, "the server answers late, which the client must bear"),
    "record/sampling/test-sampling.c": (1, "interval of a loop that waits for a condition"),
    "views/test-threads.c": (1, "cancels at a random moment; each outcome is correct"),
}


class Sleeps(unittest.TestCase):
    def test_every_sleep_has_a_reason(self):
        found = {}
        for path in sorted(TESTS.rglob("*")):
            if path.suffix in (".c", ".h", ".py") and path.name != pathlib.Path(__file__).name:
                n_calls = len(SLEEP.findall(path.read_text(encoding="utf-8")))
                if n_calls:
                    found[str(path.relative_to(TESTS))] = n_calls
        self.assertEqual(found, {name: n_calls for name, (n_calls, _) in ALLOWED.items()},
                         "wait for a condition instead, or give the reason in tests/scripts/test-sleeps.py")


if __name__ == "__main__":
    TESTS = pathlib.Path(sys.argv.pop(1)) / "tests"
    unittest.main()
