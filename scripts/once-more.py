#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs failed tests a second time, one after the other: once-more.py BUILD LOG-NAME STATUS

It repeats only tests that observe the whole machine (suites e2e, peers, system, soak, hotplug, live),
because other processes may disturb them. It repeats none of these:
- tests in which a sanitizer found an error, or in which a program crashed (except for a failed assertion
of the test itself), because these are not failures by chance
- all tests if many failed, because then something is broken
- all tests if meson ended otherwise (STATUS) than by failing tests, because then others may not have run

The results are in LOG-NAME-once-more.json. tally.py counts them instead, and prints both. Exit status: 0
if all passed then.
"""

import json
import os
import re
import subprocess
import sys

MOST = 5
DISTURBED = {"e2e", "peers", "system", "soak", "hotplug", "live"}
SANITIZER = r"(Address|Leak|Thread|Memory)Sanitizer|runtime error:"
SIGNAL = r"SIG(SEGV|ABRT|BUS|ILL|FPE)|Segmentation fault|core dumped|-(4|6|7|8|11) != 0"
NO_CHANCE = re.compile(f"{SANITIZER}|{SIGNAL}")
# How a C program of ours ends where it asserts; a critical message is no assertion.
ASSERTED = re.compile(r"^Bail out! ERROR:\S*tests/\S+\.c:\d+:\w+: (assertion failed|'.*' should be)", re.MULTILINE)
ABORTED = -6


def suites_of(test):
    return set(re.sub(r"^.*?:| / .*$", "", test["name"]).split("+"))


def may_be_chance(test):
    said = (test.get("stdout") or "") + (test.get("stderr") or "")
    ended = test["returncode"] >= 0 or test["returncode"] == ABORTED and ASSERTED.search(said)
    return DISTURBED & suites_of(test) and ended and not NO_CHANCE.search(said)


def main(build, name, status):
    try:
        with open(f"{build}/meson-logs/{name}.json", encoding="utf-8") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except OSError as error:
        print(f"no test ran: {error}", file=sys.stderr)
        return 1
    failed = [test for test in tests if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")]
    # Its status is the number of failed tests, in some versions 1.
    if int(status) not in (1, len(failed)) or not failed or len(failed) > MOST or not all(map(may_be_chance, failed)):
        return 1
    names = [test["name"].split(" / ", 1)[1] for test in failed]
    # Named, as some run only where they are.
    suites = [word for suite in sorted(set.union(*map(suites_of, failed))) for word in ("--suite", suite)]
    print(f"== once more, alone: {' '.join(names)}", flush=True)
    return subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--num-processes", "1",
                           "--logbase", f"{name}-once-more", *suites, *names], stdin=subprocess.DEVNULL, env=os.environ).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
