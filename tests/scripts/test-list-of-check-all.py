#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""CONTRIBUTING.md names each test that only `make check-all` runs: test-list-of-check-all.py SOURCE-ROOT BUILD-ROOT"""

import json
import pathlib
import re
import subprocess
import sys

SUITES = {"check-all", "hotplug", "soak"}


def main(source, build):
    done = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True)
    text = pathlib.Path(source, "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line for line in text.partition("### Tests that only")[2].splitlines() if line.startswith("|")]
    listed = set(re.findall(r"`([\w*-]+)`", "\n".join(row.split("|")[1] for row in rows)))
    missing = sorted(test["name"] for test in json.loads(done.stdout)
                     if SUITES & {suite.split(":")[-1] for suite in test["suite"]} and test["name"].removeprefix("e2e-") not in listed
                     and test["name"] not in listed)
    for name in missing:
        print(f"CONTRIBUTING.md: no row for '{name}' in the table of tests that only `make check-all` runs")
    return 1 if missing or not listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
