#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of arm64 that are kept here are walked on this machine as they were on their own.

usage: test-kept.py WALK-DUMP STACKS
"""

import subprocess
import sys

import emulator

LEAST = 12


def main():
    walk_dump, path = sys.argv[1:]
    with open(path) as stacks:
        expected = [line.split(" ", 1)[1].rstrip() for line in stacks if line.startswith("expect ")]
    with open(path) as stacks:
        walked = subprocess.run(emulator.command(walk_dump), stdin=stacks, capture_output=True, text=True, check=True).stdout.splitlines()
    for ours, theirs in zip(walked, expected):
        if ours != theirs:
            print(f"walked {ours}\nthere  {theirs}")
    return 0 if walked == expected and len(expected) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
