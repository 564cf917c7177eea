#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that knows what its functions took is recovered; perf beside it agrees; names agree with nm.

usage: test-known-split.py SYSPROF-CLI SYSPROF-REPORT KNOWN-SPLIT"""
import bisect
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from capture import Capture

CLI, REPORT, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:4])
SECONDS = 3
FUNCTIONS = ('alpha', 'beta', 'gamma_work', 'delta')


def sampling_error(share, n):
    """Four standard deviations of a share of n samples, and 1 % for what the kernel's timer is late."""
    return 4 * (share * (1 - share) / n) ** 0.5 + 0.01


def report(*arguments):
    run = subprocess.run([REPORT, *arguments, '--format', 'json'], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def record(directory):
    capture, perf_data = f'{directory}/run.syscap', f'{directory}/perf.data'
    command = [CLI, '-F', '1000', '--quiet', '-o', capture, '--', PROGRAM, str(SECONDS)]
    if shutil.which('perf'):
        command = ['perf', 'record', '-q', '-B', '-N', '-g', '-e', 'cpu-clock', '-c', '1000000', '-o', perf_data, '--', *command]
    else:
        perf_data = None
    run = subprocess.run(command, capture_output=True, text=True, cwd=directory)
    assert run.returncode == 0, run.stderr
    return capture, perf_data, json.loads(run.stdout)


def check_split(capture, truth):
    functions = report('functions', '--process', 'known-split', '--limit', '0', capture)
    rows = {row['symbol']: row for row in functions['rows'] if row['binary'] == 'known-split'}
    n = sum(rows[name]['self'] for name in FUNCTIONS)
    total = sum(truth.values())
    # A virtual machine that is not let run misses its timer; how many samples there are is not what is tested here.
    assert n > 0.5 * total / 1e6, f'{n} samples of {total / 1e6:.0f} expected at 1000 a second of CPU time'
    for name in FUNCTIONS:
        share, true_share = rows[name]['self'] / n, truth[name] / total
        assert abs(share - true_share) <= sampling_error(true_share, n), f'{name}: {share:.4f}, in truth {true_share:.4f}'
        print(f'# {name}: {share:.2%} of {n} samples, in truth {true_share:.2%}')
    spend = rows['spend']
    assert spend['total'] >= 0.98 * n, f'spend calls all of them, but its total is {spend["total"]} of {n}'
    print('ok 1 - split of time over functions, threads and a child process')


def check_tree(capture):
    """main → spend → alpha, beta; second_thread → spend → gamma_work: nothing else calls them."""
    callers = {}

    def visit(node, above):
        if node.get('symbol') in FUNCTIONS:
            callers.setdefault(node['symbol'], collections.Counter())[tuple(above[-2:])] += node['total']
        for child in node.get('children', ()):
            visit(child, above + [node.get('symbol')])

    for row in report('tree', '--process', 'known-split', '--limit', '0', capture)['rows']:
        visit(row, [])
    expected = {'alpha': ('main', 'spend'), 'beta': ('main', 'spend'), 'delta': ('main', 'spend'),
                'gamma_work': ('second_thread', 'spend')}
    for name, path in expected.items():
        right, all_of_them = callers[name][path], sum(callers[name].values())
        # A sample on the first instruction of a function has no frame of its own yet and misses the caller.
        assert right >= 0.98 * all_of_them, f'{name}: {callers[name]}'
    print('ok 2 - call tree is the one of the source')


def check_threads(capture):
    threads = report('threads', '--process', 'known-split', '--limit', '0', capture)
    used = [row for row in threads['rows'] if row['total' if 'total' in row else 'samples'] > 100]
    assert len(used) == 3, f'three threads work (two and a child), {len(used)} are shown: {threads["rows"]}'
    print('ok 3 - threads and the child are told apart')


def check_perf(capture, perf_data):
    """perf's ten hottest functions of the same seconds have the same share in ours."""
    if perf_data is None:
        print('ok 4 - perf agrees on the ten hottest # SKIP perf is not installed')
        return
    text = subprocess.run(['perf', 'report', '-i', perf_data, '--stdio', '--no-children', '-g', 'none', '--comm', 'known-split',
                           '--sort', 'dso,sym', '-F', 'sample,dso,sym', '-t', '|'], capture_output=True, text=True).stdout
    theirs = []
    for line in text.splitlines():
        found = re.match(r'\s*(\d+)\s*\|([^|]*)\|\[([.k])\] (\S+)', line)
        if found:
            theirs.append((int(found.group(1)), found.group(2).strip(), found.group(4)))
    assert theirs, 'perf printed no function'
    their_total = sum(n for n, _, _ in theirs)
    rows = report('functions', '--process', 'known-split', '--limit', '0', capture)['rows']
    our_total = sum(row['self'] for row in rows)
    ours = collections.Counter()
    for row in rows:
        ours[row['symbol']] += row['self']
    for n, dso, name in sorted(theirs, reverse=True)[:10]:
        share, their_share = ours[name] / our_total, n / their_total
        allowed = sampling_error(their_share, their_total) + sampling_error(their_share, our_total)
        print(f'# {name} ({dso}): ours {share:.2%}, perf {their_share:.2%}')
        assert abs(share - their_share) <= allowed, f'{name}: {share:.4f}, perf says {their_share:.4f}'
    print('ok 4 - perf agrees on the ten hottest')


def nm_table(path):
    """Functions by link-time address: (sorted starts, {start: (end, {names})})."""
    found = {}
    for arguments in (['nm', '-S', path], ['nm', '-D', '-S', path]):
        for line in subprocess.run(arguments, capture_output=True, text=True).stdout.splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in 'tTwWiuV':
                start, size = int(parts[0], 16), int(parts[1], 16)
                end, names = found.setdefault(start, (start + size, set()))
                names.add(re.sub(r'@.*', '', parts[3]))
                found[start] = (max(end, start + size), names)
    return sorted(found), found


def load_bias(path):
    """[(file offset, size, link-time address)] of the loadable segments."""
    text = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True).stdout
    return [tuple(int(value, 16) for value in (m.group(1), m.group(3), m.group(2)))
            for m in re.finditer(r'LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)', text)]


def check_names(capture_path):
    """Every sampled address in libc, the dynamic loader and the program has the name that nm gives it."""
    capture = Capture(capture_path)
    bundled = {pid: sorted(entries) for pid, entries in capture.symbols().items()}
    starts = {pid: [entry[0] for entry in entries] for pid, entries in bundled.items()}
    tables, biases = {}, {}
    checked = collections.Counter()
    seen = set()
    for pid, _tid, _time, _kernel, user in capture.samples:
        for position, address in enumerate(user):
            where = capture.locate(pid, address)
            if where is None or (pid, address) in seen:
                continue
            base = os.path.basename(where[0])
            if base not in ('known-split', 'libc.so.6') and not base.startswith('ld-linux'):
                continue
            seen.add((pid, address))
            path, offset = where
            # Only the file itself: nm does not look into separate debug files, so a name that comes from there is checked below.
            if path not in tables:
                tables[path], biases[path] = nm_table(path), load_bias(path)
            link = next(a + offset - o for o, size, a in biases[path] if o <= offset < o + size)
            names = set()
            for probe in {link, link - 1}:
                order, table = tables[path]
                at = bisect.bisect_right(order, probe) - 1
                while at >= 0 and order[at] > probe - 0x10000:
                    end, here = table[order[at]]
                    if probe < end:
                        names |= here
                        break
                    at -= 1
            entries = bundled.get(pid, [])
            at = bisect.bisect_right(starts.get(pid, []), address) - 1
            ours = entries[at][2] if at >= 0 and address <= entries[at][1] else None
            if names:
                assert ours in names, f'{path}+{link:#x}: ours {ours}, nm {names}'
                checked[base] += 1
            elif ours is not None and not ours.startswith('['):
                text = subprocess.run(['addr2line', '-f', '-e', path, hex(link - 1 if position else link)],
                                      capture_output=True, text=True).stdout.split('\n')[0]
                assert text == ours or text == '??', f'{path}+{link:#x}: ours {ours}, addr2line {text}'
    print(f'# addresses compared: {dict(checked)}')
    assert checked['known-split'] >= 10, checked
    print('ok 5 - names agree with nm and addr2line')


def main():
    print('1..5')
    with tempfile.TemporaryDirectory(prefix='known-split-') as directory:
        capture, perf_data, truth = record(directory)
        check_split(capture, truth)
        check_tree(capture)
        check_threads(capture)
        check_perf(capture, perf_data)
        check_names(capture)


main()
