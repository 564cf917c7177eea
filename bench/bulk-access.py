#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long a program in Python takes to read every sample: as objects, one by one, and as columns.

The script starts itself again with the system's Python, because that one has PyGObject."""
import argparse
import os
import subprocess
import sys
import tempfile

import turns

PYTHON = '/usr/bin/python3'


def measure_here(path):
    """In a process that knows the library: prints the seconds of each way, which must agree."""
    import time
    import gi
    gi.require_version('Sysprof', '6')
    from gi.repository import Sysprof

    loader = Sysprof.DocumentLoader.new(path)
    loader.set_symbolizer(Sysprof.NoSymbolizer.get())
    document = loader.load(None)
    samples = document.list_samples()
    begin = time.perf_counter()
    one_by_one = sum(samples.get_item(i).get_time() + samples.get_item(i).get_tid() for i in range(samples.get_n_items()))
    middle = time.perf_counter()
    columns = [memoryview(document.dup_column(samples, column).get_data()).cast('q')
               for column in (Sysprof.DocumentColumn.TIME, Sysprof.DocumentColumn.TID)]
    at_once = sum(map(sum, columns))
    end = time.perf_counter()
    assert one_by_one == at_once, (one_by_one, at_once)
    print(middle - begin, end - middle)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=100000)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--here', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        measure_here(options.here)
        return 0

    library = turns.BUILD / 'src/lib'
    if not (library / 'Sysprof-6.typelib').exists():
        print('The build does not describe the library for other languages (g-ir-scanner).', file=sys.stderr)
        return 0
    turns.heading(f'{options.samples} samples from Python: time and thread of each')
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'samples.syscap')
        subprocess.run([turns.BUILD / 'bench/bench-make-capture', str(options.samples), str(options.samples // 10), '50', path], check=True)
        figures = {'one by one': [], 'columns': []}
        for _ in range(options.rounds):
            run = subprocess.run([PYTHON, __file__, '--here', path], check=True, capture_output=True, text=True,
                                 env={**os.environ, 'GI_TYPELIB_PATH': str(library), 'LD_LIBRARY_PATH': str(library),
                                      'PYTHONPATH': str(turns.ROOT / 'bench')})
            for name, seconds in zip(figures, run.stdout.split()):
                figures[name].append(float(seconds) * 1000)
    turns.show(figures, 'ms')
    return 0


if __name__ == '__main__':
    sys.exit(main())
