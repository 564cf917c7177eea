#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times the same queries for one time span after the other, on one CPU. Three methods compete: reuse of the
parts that no selection changes, a new computation for each span, and a naive reader."""
import argparse
import collections
import statistics
import subprocess

import turns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=1000000)
    parser.add_argument('--stacks', type=int, action='append', help='distinct stacks')
    parser.add_argument('--rounds', type=int, default=35)
    options = parser.parse_args()
    for stacks in options.stacks or [100000, 1000000]:
        turns.heading(f'{options.samples} samples over {stacks} distinct stacks, another span of time for each answer')
        with turns.scratch() as directory:
            capture = f'{directory}/samples.syscap'
            subprocess.run([turns.BUILD / 'bench/bench-make-capture', str(options.samples), str(stacks), '50', capture], check=True)
            lines = subprocess.run([turns.BUILD / 'bench/bench-refold', capture, str(options.rounds)],
                                   check=True, capture_output=True, text=True).stdout
        answers = collections.defaultdict(lambda: collections.defaultdict(list))
        for line in lines.splitlines():
            question, who, msec = line.split('\t')
            answers[question][who].append(float(msec))
        for question, figures in answers.items():
            print(f'  {question}')
            # The others answer fewer questions, so ratios are of medians.
            turns.show(figures, 'ms', digits=1, has_ratios=False)
            ours = statistics.median(figures['kept']) if figures['kept'] else None
            for who in ('anew', 'naive'):
                if ours and figures.get(who):
                    print(f'   {who} / kept = {statistics.median(figures[who]) / ours:.0f}')


if __name__ == '__main__':
    main()
