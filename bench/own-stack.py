#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long a program takes to unwind its own stack, in turns with glibc's backtrace() and
libunwind's unw_backtrace()."""
import argparse
import collections
import statistics
import subprocess

import turns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=50)
    parser.add_argument('--depths', type=int, nargs='+', default=[5, 20, 60])
    args = parser.parse_args()
    program = turns.BUILD / 'bench/bench-own-stack'
    for depth in args.depths:
        done = subprocess.run([program, str(depth), str(args.rounds)], capture_output=True, text=True, check=True)
        nsec, addresses = collections.defaultdict(list), {}
        for line in done.stdout.splitlines():
            name, figure, *n = line.split()
            nsec[name].append(float(figure))
            addresses[name] = int(n[0]) if n else None
        print(f'\n   {depth} functions')
        ours = nsec['sysprof_backtrace']
        for name, figures in nsec.items():
            text = f'   {name:20} {statistics.median(figures):10.0f} ns'
            if addresses[name] is not None:
                ratio = statistics.median(a / b for a, b in zip(ours, figures))
                text += (f' [{min(figures):.0f} … {max(figures):.0f}], {addresses[name]} addresses, '
                         f'{statistics.median(figures) / addresses[name]:.0f} ns each, ours / this {ratio:.2f}')
            print(text)


if __name__ == '__main__':
    main()
