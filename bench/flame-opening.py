#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening a flame graph in a browser (headless Chromium), from the navigation to the second drawn frame: the page and
the SVG of one capture, and a page without content. The capture has the shape of a recording of a busy machine."""
import argparse
import pathlib
import subprocess
import sys
import time

import turns

sys.path.insert(0, str(turns.ROOT / 'tests/flame'))
import browser  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--samples', type=int, default=300000)
    parser.add_argument('--stacks', type=int, default=60000)
    parser.add_argument('--capture', help='open this capture instead')
    options = parser.parse_args()
    if browser.find() is None:
        sys.exit('Chromium is not installed')

    with turns.scratch() as directory, browser.Browser() as chromium:
        folder = pathlib.Path(directory)
        capture = options.capture or folder / 'machine.syscap'
        if not options.capture:
            subprocess.run([turns.BUILD / 'bench/bench-make-capture', str(options.samples), str(options.stacks), '300',
                            capture], check=True)
        (folder / 'empty.html').write_text('<!DOCTYPE html><title>empty</title>')
        for name in ('flame.html', 'flame.svg'):
            subprocess.run([turns.REPORT, 'flame', '--all', '--output', folder / name, capture], check=True)
            print(f'{name}: {(folder / name).stat().st_size / 1e6:.2f} MB')

        def opening(name):
            def once():
                began = time.monotonic()
                page = chromium.open(folder / name)
                page.frame()
                passed = time.monotonic() - began
                chromium.call('Target.closeTarget', targetId=page.call('Target.getTargetInfo')['targetInfo']['targetId'])
                return passed
            return once

        turns.heading(f'opening a flame graph: {options.capture or f"{options.samples} samples"}')
        turns.show(turns.in_turns({name: opening(name) for name in ('flame.html', 'flame.svg', 'empty.html')},
                                  options.rounds), 'ms', scale=1000, digits=0)


main()
