#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check-layers.py must refuse what src/LAYERS forbids: each kind of fault in a tree of its own."""
import pathlib
import subprocess
import sys
import tempfile

CHECK = sys.argv[1]
LAYERS = 'low:\nutil:\nhigh: low util\n'


def check(files):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {'src/LAYERS': LAYERS, 'src/low/low.h': '', 'src/low/inner.h': '', **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        run = subprocess.run([sys.executable, CHECK, name], capture_output=True, text=True)
        return run.returncode, run.stdout


def main():
    cases = [
        ('allowed door', {'src/high/a.c': '#include "low/low.h"\n'}, 0),
        ('upward', {'src/low/a.c': '#include "high/high.h"\n'}, 1),
        ('not the door', {'src/high/a.c': '#include "low/inner.h"\n'}, 1),
        ('unknown module', {'src/other/a.c': ''}, 1),
        ('own header missing', {'src/low/a.c': '#include "low/gone.h"\n'}, 1),
        ('not as seen from src', {'src/low/a.c': '#include "inner.h"\n'}, 1),
    ]
    for name, files, expected in cases:
        status, output = check(files)
        assert status == expected, f'{name}: status {status}, expected {expected}\n{output}'
    print(f'{len(cases)} trees judged as expected')


main()
