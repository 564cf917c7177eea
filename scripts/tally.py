#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds up the tests of meson's testlog.json files: tally.py FILE...

Prints every skip with its reason and every failure by name, with what it told last; the last line is
"N passed, N failed" and, if there were any, ", N skipped". A program that speaks
TAP counts once per case, any other program once. Where a FILE has a FILE-once-more
beside it (once-more.py), what that says of a test counts, and both are told. Exit status: 1 if one failed,
or if a file is missing or holds no test: a run that did not happen did not pass.
"""

import json
import os
import re
import sys

CASE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s*#\s*(SKIP|TODO)\S*\s*(.*))?$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?$", re.IGNORECASE)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


MOST_SAID = 600  # characters


def last_line(text, otherwise="it gave no reason"):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else otherwise


def said_last(test):
    """What a program told that failed: why it gave up, else the last line below its last failed case, else of its errors."""
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
            for outcome, name, reason in found:
                counts[outcome] += 1
                if outcome == SKIPPED:
                    print(f"skipped: {name}: {reason}")
                elif outcome == FAILED:
                    print(f"FAILED: {name} ({reason or path})")
            if any(outcome == FAILED for outcome, _, _ in found):
                print(f"  {said_last(test)}")
    if broken:
        counts[FAILED] += 1
    line = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    if counts[SKIPPED]:
        line += f", {counts[SKIPPED]} skipped"
    print(line, flush=True)
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
