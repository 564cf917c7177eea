#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long work continues after it was canceled: loading by the engine, loading by callers of the
public loader, each view, and the public documents."""
import argparse
import subprocess
import sys

import turns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=1000000)
    parser.add_argument('--stacks', type=int, default=100000)
    parser.add_argument('--times', type=int, default=20)
    options = parser.parse_args()

    turns.heading(f'a capture of {options.samples} samples and {options.stacks} stacks, cancelled at {options.times} moments')
    with turns.scratch() as directory:
        capture = f'{directory}/samples.syscap'
        subprocess.run([turns.BUILD / 'bench/bench-make-capture', str(options.samples), str(options.stacks), '50',
                        capture], check=True)
        lines = subprocess.run([turns.BUILD / 'bench/bench-cancel-latency', capture, str(options.times)], check=True,
                               capture_output=True, text=True).stdout
    for line in lines.splitlines():
        way, whole, median, worst = line.split()
        print(f'  {way}: {whole} ms uncancelled; comes back after {median} ms (median), {worst} ms (worst)')
    return 0


if __name__ == '__main__':
    sys.exit(main())
