#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Intersecting two lists of frames: ours against compressed bitmaps (libroaring)."""
import argparse
import collections
import subprocess
import sys

import turns

FORMS = ('intersected', '... and written out as an array', '... of lists of frames that are intersected for the first time')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=1000000)
    parser.add_argument('--rounds', type=int, default=21)
    options = parser.parse_args()
    program = turns.BUILD / 'bench/bench-intersect-lists'
    if not program.exists():
        print('Without libroaring (Debian: libroaring-dev) there is nothing to compare with.', file=sys.stderr)
        return 0

    turns.heading(f'lists of frames of {options.samples} samples, intersected')
    with turns.scratch() as directory:
        capture = f'{directory}/samples.syscap'
        subprocess.run([turns.BUILD / 'bench/bench-make-capture', str(options.samples), '100000', '50', capture], check=True)
        lines = subprocess.run([program, capture, str(options.rounds)], check=True, capture_output=True, text=True).stdout
    pairs = collections.defaultdict(lambda: [{'ours': [], 'bitmaps': []} for _ in FORMS])
    for line in lines.splitlines():
        name, n_left, n_right, *figures = line.split('\t')
        forms = pairs[f'{name} ({n_left} and {n_right})']
        for values, figure in zip((values for form in forms for values in form.values()), figures):
            values.append(float(figure))
    for name, forms in pairs.items():
        for title, figures in zip(FORMS, forms):
            print(f'  {name}: {title}')
            turns.show(figures, 'ms', digits=4)
    return 0


if __name__ == '__main__':
    sys.exit(main())
