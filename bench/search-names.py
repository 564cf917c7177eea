#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking for names while somebody types: our index against strcasestr() over all names, and grep -i over a file of them."""
import argparse
import collections
import os
import random
import statistics
import subprocess
import sys
import time

import turns

SPACES = 'blink v8::internal std gtk g llvm cc wasm net base'.split()
NOUNS = ('Object frame Buffer tree Node text Layout string Scheduler map Renderer hash Table Stream cache signal').split()
VERBS = 'get Set update Create insert lookup Draw parse emit run'.split()
# Of the last, many names have each term and none has both.
TYPED = ['layoutcachecreate', 'gtk_hash_lookup_7f', 'hash 12345', 'net stream dra', 'gtk llvm']


def write_names(path, count):
    chosen = random.Random(1)
    with open(path, 'w') as file:
        for i in range(count):
            space, noun, other, verb = (chosen.choice(words) for words in (SPACES, NOUNS, NOUNS, VERBS))
            file.write(f'{space}_{noun}_{verb}_{chosen.getrandbits(32):x}\n' if i % 3 == 0 else
                       f'{space}::{noun}{other}::{verb}{i}({other} const&)\n')


def grep_msec(path, query):
    """Counts; with more terms what the first has goes through a pipe. Written to /dev/null it would stop at the first."""
    *others, last = query.split()
    line = ''.join(f'grep -iF {term} {{}} | ' for term in others) + f'grep -icF {last} {{}}'
    line = line.replace('{}', path, 1).replace('{}', '')
    began = time.monotonic()
    subprocess.run(['sh', '-c', line], capture_output=True, env=dict(os.environ, LC_ALL='C'))
    return (time.monotonic() - began) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--names', type=int, default=1000000)
    parser.add_argument('--rounds', type=int, default=5)
    options = parser.parse_args()
    program = turns.BUILD / 'bench/bench-search-names'
    turns.heading(f'{options.names} names, searched while somebody types')
    figures = collections.defaultdict(lambda: {'first 100': [], 'first': [], 'strcasestr': [], 'grep -i': []})
    n_found, made = {}, []
    with turns.scratch() as directory:
        path = f'{directory}/names'
        write_names(path, options.names)
        for _ in range(options.rounds):
            lines = subprocess.run([program, path, '1', *TYPED], check=True, capture_output=True, text=True).stdout.splitlines()
            made.append(float(lines[0].split('\t')[1]))
            size, index_size = map(int, lines[1].split('\t'))
            for line in lines[2:]:
                query, count, first, page, scan = line.split('\t')
                n_found[query] = count
                figures[query]['first 100'].append(float(page))
                figures[query]['first'].append(float(first))
                figures[query]['strcasestr'].append(float(scan))
                figures[query]['grep -i'].append(grep_msec(path, query))
    print(f'   making the index: {statistics.median(made):.0f} ms [{min(made):.0f} … {max(made):.0f}];'
          f' {index_size / 1e6:.0f} MB for {size / 1e6:.0f} MB of names')
    print(f'   {"typed":20} {"fit":>8} {"first":>9} {"first 100":>9} {"strcasestr":>10} {"grep -i":>9}   first 100 / strcasestr, / grep')
    for query, of_query in figures.items():
        first, page, scan, grep = (statistics.median(of_query[name]) for name in ('first', 'first 100', 'strcasestr', 'grep -i'))
        print(f'   {query:20} {n_found[query]:>8} {first:9.3f} {page:9.3f} {scan:10.1f} {grep:9.1f}'
              f'   {page / scan:.5f}, {page / grep:.5f}')
    for name in ('first', 'first 100'):
        medians = sorted((statistics.median(of_query[name]), query) for query, of_query in figures.items())
        print(f'   {name}: median of all {statistics.median(m for m, _ in medians):.3f} ms,'
              f' longest {medians[-1][0]:.3f} ms for "{medians[-1][1]}", then {medians[-2][0]:.3f} and {medians[-3][0]:.3f} ms')
    return 0


if __name__ == '__main__':
    sys.exit(main())
