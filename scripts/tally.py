#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds up the tests of meson's testlog.json files: tally.py FILE...

Prints every skip with its reason, every failure by name with the program's last message, and the slowest test programs.
The last line is "N passed, N failed" and, if there were any, ", N skipped". A program that speaks TAP counts once per case, any
other program once. If a FILE has a FILE-once-more beside it (once-more.py), the second result of a test counts, and both are
printed. With CI=true in the environment, and in `make check-all`, a skip that tests/skips.expected does not list for this kind of machine is a
failure. Exit status: 1 if a test failed, or if a file is missing or holds no test: a run that did not happen did not pass.
"""

import fnmatch
import json
import os
import re
import sys

CASE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s*#\s*(SKIP|TODO)\S*\s*(.*))?$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?$", re.IGNORECASE)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


MOST_SAID = 600  # characters
N_SLOWEST = 10
EXPECTED_SKIPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/skips.expected")


def kind_of_machine():
    """The column of tests/skips.expected for this run."""
    if os.geteuid() != 0:
        return "user"
    return "all" if os.environ.get("CHECK_ALL") else "gate"


def expected_skips(machine):
    """[(pattern of a test's name, patterns of builds)] for a kind of machine. The first line names the columns."""
    with open(EXPECTED_SKIPS, encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.split("|")] for line in file if line.strip() and not line.startswith("#")]
    column = rows[0].index(machine)
    return [(row[0], row[column].split()) for row in rows[1:]]


def is_expected(skips, path, name):
    """Whether a skip is listed. PATH is the log of a build, whose directory is named build-KIND."""
    build = path.split("/meson-logs/")[0].rsplit("/", 1)[-1].removeprefix("build-")
    name = name.split(" / ", 1)[-1]
    return any(fnmatch.fnmatchcase(name, pattern) and any(fnmatch.fnmatchcase(build, kind) for kind in builds)
               for pattern, builds in skips)


def last_line(text, otherwise="it gave no reason"):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else otherwise


def said_last(test):
    """Returns why a program failed: its reason, or the last line below its last failed case, or the last line
    of its errors."""
    output = test.get("stdout") or ""
    gave_up = [line for line in output.splitlines() if line.startswith("Bail out!")]
    if gave_up:
        return gave_up[-1][-MOST_SAID:]
    _, failure, below = output.rpartition("\nnot ok ")
    told = "\n".join(line for line in below.splitlines() if line.startswith("#")) if failure else ""
    return last_line(told, last_line(test.get("stderr") or "", last_line(output, "")))[-MOST_SAID:]


def cases(test):
    """(outcome, name, reason) per case of one test program."""
    name, result = test["name"], test["result"]
    output = test.get("stdout") or ""
    found, planned = [], None
    for line in output.splitlines():
        plan = PLAN.match(line)
        case = CASE.match(line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                found.append((SKIPPED, name, plan[2] or "it gave no reason"))
        elif case:
            label = f"{name}: {case[3]}"
            if (case[4] or "").upper() == "SKIP":
                found.append((SKIPPED, label, case[5] or "it gave no reason"))
            elif case[1] and not case[4]:
                found.append((FAILED, label, ""))
            else:
                found.append((PASSED, label, ""))
    if planned is None:
        outcome = {"OK": PASSED, "EXPECTEDFAIL": PASSED, "SKIP": SKIPPED}.get(result, FAILED)
        return [(outcome, name, last_line(output) if outcome == SKIPPED else result)]
    if result not in ("OK", "SKIP", "EXPECTEDFAIL") and not any(c[0] == FAILED for c in found):
        # Its cases passed but the program did not: a crash, a leak, a time-out, a case never run.
        found.append((FAILED, name, result))
    return found


def read_log(path):
    with open(path, encoding="utf-8") as log:
        return [json.loads(line) for line in log if line.strip()]


def results(path):
    """The tests of a log, each as it ended last; prints those that ended otherwise before."""
    tests = read_log(path)
    again = path.removesuffix(".json") + "-once-more.json"
    if not os.path.exists(again):
        return tests
    last = {test["name"]: test for test in read_log(again)}
    for test in tests:
        if test["name"] in last:
            failed = [f"{name} ({reason})" if reason else name for outcome, name, reason in cases(test) if outcome == FAILED]
            print(f"ran once more, alone ({last[test['name']]['result']}): {', '.join(failed)}: {said_last(test)}")
    return [last.get(test["name"], test) for test in tests]


def main(paths):
    counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    broken = False
    durations = []
    is_compared = os.environ.get("CI") or os.environ.get("CHECK_ALL")
    skips = expected_skips(kind_of_machine()) if is_compared else None
    for path in paths:
        try:
            tests = results(path)
        except OSError as error:
            print(f"no results: {error}")
            broken = True
            continue
        if not tests:
            print(f"no test in {path}")
            broken = True
        for test in tests:
            found = cases(test)
            durations.append((test.get("duration") or 0, test["name"], path))
            for outcome, name, reason in found:
                if outcome == SKIPPED and skips is not None and not is_expected(skips, path, name):
                    outcome, reason = FAILED, f"skipped, which tests/skips.expected does not list for {kind_of_machine()}: {reason}"
                counts[outcome] += 1
                if outcome == SKIPPED:
                    print(f"skipped: {name}: {reason}")
                elif outcome == FAILED:
                    print(f"FAILED: {name} ({reason or path})")
            if any(outcome == FAILED for outcome, _, _ in found):
                print(f"  {said_last(test)}")
    print(f"The {N_SLOWEST} slowest test programs:")
    for duration, name, path in sorted(durations, reverse=True)[:N_SLOWEST]:
        print(f"{duration:8.1f} s  {name} ({path.split('/meson-logs/')[0]})")
    if broken:
        counts[FAILED] += 1
    line = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    if counts[SKIPPED]:
        line += f", {counts[SKIPPED]} skipped"
    print(line, flush=True)
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
