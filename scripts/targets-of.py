#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints, for ninja, what the tests of a suite need of a configured build: targets-of.py BUILD SUITE"""

import json
import os
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], check=True, capture_output=True).stdout)


def main(build, suite):
    wanted = {target for test in introspect(build, "--tests") if suite in [name.split(":")[-1] for name in test["suite"]]
              for target in test["depends"]}
    if not wanted:
        print(f"targets-of.py: no test of suite '{suite}' in '{build}' needs anything: name one of tests/meson.build", file=sys.stderr)
        return 1
    root = os.path.realpath(build)
    print(" ".join(sorted(os.path.relpath(path, root) for target in introspect(build, "--targets") if target["id"] in wanted
                          for path in target["filename"])))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
