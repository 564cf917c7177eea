#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchanges real recordings with Debian's sysprof 3.46, both ways. Its library reads ours frame by frame and
its --merge joins them; our programs open its recordings.

Expected values come from tests/data/decoder.py, a decoder written from the description of the format.

usage: test-recordings.py WITH_DEBIAN_RECORDER SYSPROF_CLI SYSPROF_REPORT SYSPROF_CAT BUSY DUMP TARGET
PEER_DUMP PEER_TARGET
"""
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import captures
import decoder
import frames

RECORDER, CLI, REPORT, CAT, BUSY, DUMP, TARGET, PEER_DUMP, PEER_TARGET = sys.argv[1:10]
del sys.argv[1:10]
PEER_CLI = '/usr/bin/sysprof-cli'
LONGEST = 16384  # bytes of a frame that every reader of recordings takes
DEPTH = 100  # addresses of a stack, which the kernel allows, too
# Two programs that say the same through the ring, and a known user of CPU time.
WORK = '"$1" all && "$2" all && "$3" 0.5'
SAID = {'mark': 4, 'log': 2, 'allocation': 2, 'ctrdef': 1, 'ctrset': 1}


def decode(path):
    with open(path, 'rb') as f:
        capture = decoder.decode(f.read())
    assert capture.rest == 0, f'{path}: {capture.rest} bytes behind the last frame'
    return capture


def report(path, view, *options):
    result = subprocess.run([REPORT, view, '--format', 'json', '--limit', '0', *options, path], capture_output=True, check=True)
    return json.loads(result.stdout)


# Frames that our joins unpack and write in a row.
LISTS = ('__found__', '__unwind__', '__unnamed__', '__lines__', '__threads__')
# Of captures of one boot the first keeps its lists.
KERNEL_LISTS = ('/proc/kallsyms', '__ksymbols__', '__modules__')


def made_of(capture):
    """Returns the number of frames by type, without those that our joins rewrite (names of addresses, the
    symbol table with its timestamp, lists) or keep of one capture only (the CPUs on which samples were
    taken)."""
    return collections.Counter(f['type'] for f in capture.frames if f['type'] not in ('jitmap', 'timestamp', 'frame-index')
                               and f.get('path') not in ('__symbols__', '__events__')
                               and f.get('path', '').removesuffix('.gz') not in LISTS + KERNEL_LISTS)


def decode_file(every, path):
    return b''.join(frame['data'] for frame in every if frame.get('path') == path)


def decode_list(every, name):
    packed = decode_file(every, name + '.gz')
    return decode_file(every, name) + (gzip.decompress(packed) if packed else b'')


def comparable(frame):
    """The parts that --merge of Sysprof 3.46 does not change: it renumbers counters, and does not know build
    IDs."""
    frame = {k: v for k, v in frame.items() if k not in ('at', 'len', 'build_id')}
    if frame['type'] == 'ctrset':
        frame['values'] = [v for _, v in frame['values']]
    if 'counters' in frame:
        frame['counters'] = [{k: v for k, v in counter.items() if k != 'id'} for counter in frame['counters']]
    return json.dumps(frame, sort_keys=True, default=bytes.hex)


def comparables(every):
    """Of all frames how often each is there. Names without code are the same under other addresses, and in other tables."""
    names = {address: name for frame in every if frame['type'] == 'jitmap' for address, name in frame['names']}
    found = collections.Counter()
    for frame in every:
        if frame['type'] == 'sample':
            frame = {**frame, 'addrs': [names.get(address, address) for address in frame['addrs']]}
        if frame['type'] not in ('jitmap', 'timestamp', 'frame-index'):  # the last two carry no data
            found[comparable(frame)] += 1
    return found, set(names.values())


class Case(unittest.TestCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix='sysprof-peers-')
        self.addCleanup(folder.cleanup)
        return folder.name

    def check_decoders_agree(self, path):
        """Both libraries read what the independent decoder finds; returns that."""
        capture = decode(path)
        for dump in PEER_DUMP, DUMP:
            expected = frames.all_dumped(capture.frames, knows_index=dump == DUMP)
            header, found = frames.dump(dump, path)
            self.assertEqual((header['begin'], len(found)), (capture.time, len(expected)), dump)
            for theirs, ours in zip(found, expected):
                self.assertEqual(theirs, ours, dump)
        return capture


class Ours(Case):
    @classmethod
    def setUpClass(cls):
        """With a file name that no other program has: recordings are of the whole machine, and a second
        recording of it may have names that the first one does not have."""
        folder = tempfile.TemporaryDirectory(prefix='sysprof-peers-')
        cls.addClassCleanup(folder.cleanup)
        cls.busy = shutil.copy(BUSY, os.path.join(folder.name, f'own-{os.getpid()}'))

    def record(self, name='a', *options):
        path = os.path.join(self.folder(), name)
        subprocess.run([CLI, '--quiet', *options, '-o', path, '--', self.busy, '0.3'], check=True, stdout=subprocess.DEVNULL)
        return path

    def record_for_join(self, name='a', *options):
        """Deep stacks of other programs would stay complete, in frames at which --merge of Sysprof 3.46
        writes beyond its buffer. Its crash would not depend on the input that this test is about."""
        return self.record(name, '--call-depth', str(DEPTH), *options)

    def test_peer_reads_every_frame(self):
        path = self.record()
        capture = self.check_decoders_agree(path)
        counts = capture.counts()
        for kind in ('sample', 'map', 'process', 'fork', 'exit', 'ctrdef', 'ctrset', 'metadata', 'file'):
            self.assertGreater(counts.get(kind, 0), 0, kind)
        self.assert_usual_frames(capture.frames)

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_peer_reads_switches_and_events(self):
        path = self.record('events', '--scheduler', '--unwind', 'frame-pointer', '--event', 'page-faults', '--event', 'cpu-clock')
        capture = self.check_decoders_agree(path)
        self.assertIn('Scheduler', {f['group'] for f in capture.of('mark')})
        self.assertEqual(len(capture.file('__periods__')), 24 * len(capture.of('sample')))

    def join(self, program, *paths):
        merged = os.path.join(self.folder(), 'merged')
        with open(merged, 'wb') as out:
            subprocess.run([program, '--merge', *paths], stdout=out, check=True)
        return merged

    def assert_usual_frames(self, every):
        """A deep stack of whatever else runs stays whole."""
        self.assertLessEqual(max(frame['len'] for frame in every if frame['type'] != 'sample'), LONGEST)

    def join_by_peer(self, *paths):
        for path in paths:
            longest = max(decode(path).frames, key=lambda frame: frame['len'])
            self.assertLessEqual(longest['len'], LONGEST, longest['type'])
        return self.join(PEER_CLI, *paths)

    def assert_joined(self, parts, joined):
        expected, names = collections.Counter(), set()
        for part in parts:
            frames_of_part, names_of_part = comparables(part)
            expected += frames_of_part
            names |= names_of_part
        found, names_found = comparables(joined)
        self.assertEqual(list(expected - found), [])
        self.assertEqual(list(found - expected), [])
        self.assertEqual(names_found, names)

    @unittest.skipIf(shutil.which(PEER_CLI) is None, 'sysprof-cli is not installed')
    def test_peer_joins_them(self):
        paths = [self.record_for_join(), self.record_for_join()]
        merged = self.join_by_peer(*paths)
        joined = self.check_decoders_agree(merged)
        self.assert_joined([decode(path).frames for path in paths], joined.frames)
        self.check_functions(merged, paths)

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    @unittest.skipIf(shutil.which(PEER_CLI) is None, 'sysprof-cli is not installed')
    def test_peer_reads_and_joins_every_instrument(self):
        """At once; a bus, whose messages 3.46 does not know, where one can be had."""
        words = ['--scheduler', '--off-cpu', '--pressure', '--thermal', '--gpu', '--rapl', '--kernel-log']
        if shutil.which('dbus-daemon'):
            bus = subprocess.Popen(['dbus-daemon', '--session', '--nofork', '--print-address=1'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(bus.communicate)
            self.addCleanup(bus.kill)
            words += ['--monitor-bus', bus.stdout.readline().decode().strip()]
        paths = [self.record_for_join(name, *words) for name in ('a', 'b')]
        of_peer = []
        for path in paths:
            every = decode(path).frames
            kinds = [frame['type'] for frame in every]
            first = kinds.index('dbus') if 'dbus' in kinds else len(kinds)
            self.assertLessEqual(set(kinds[first:]), {'dbus'})
            _, found = frames.dump(PEER_DUMP, path)
            self.assertEqual(found, frames.all_dumped(every[:first], knows_index=False))
            self.assertIn('Scheduler', {frame['group'] for frame in every if frame['type'] == 'mark'})
            of_peer.append(every[:first])
        self.assert_joined(of_peer, decode(self.join_by_peer(*paths)).frames)

    def record_with_trace(self):
        """The command has a capture of its own, with long frames, or with frames at which Sysprof 3.46 stops."""
        path, given = (os.path.join(self.folder(), name) for name in ('a', 'given'))
        own = captures.Capture(now=time.monotonic_ns())
        own.trace([0x1000], 4242, pid=4242).dbus(b'l' * 100).dbus(b'l' * 20000)
        own.mark('group', 'name', 'm' * 30000, pid=4242).log('domain', 'l' * 30000, pid=4242).metadata('key', 'v' * 30000)
        own.process('p' * 30000, pid=4242).file('given-file', b'f' * 60000).mark('group', 'last', pid=4242)
        own.save(given)
        subprocess.run([CLI, '--quiet', '--call-depth', str(DEPTH), '--use-trace-fd', '-o', path, '--',
                        'sh', '-c', f'{self.busy} 0.3; cat {given} >&"$SYSPROF_TRACE_FD"'], check=True, stdout=subprocess.DEVNULL)
        return path

    @unittest.skipIf(shutil.which(PEER_CLI) is None, 'sysprof-cli is not installed')
    def test_peer_joins_what_a_command_traced(self):
        paths = [self.record_with_trace(), self.record_with_trace()]
        late = ('trace', 'dbus')
        of_peer = []
        for path in paths:
            every = decode(path).frames
            kinds = [frame['type'] for frame in every]
            first = min(kinds.index(kind) for kind in late)
            self.assertEqual(kinds[first:], ['trace', 'dbus', 'dbus'])
            self.assertIn('__symbols__', [frame.get('path') for frame in every])
            self.assert_usual_frames(every)
            self.assertEqual(decode_file(every, 'given-file'), b'f' * 60000)
            # Its library reads all but what it does not know.
            _, found = frames.dump(PEER_DUMP, path)
            self.assertEqual(found, frames.all_dumped(every[:first], knows_index=False))
            of_peer.append(every[:first])
        merged = self.join_by_peer(*paths)
        self.assert_joined(of_peer, decode(merged).frames)
        self.check_functions(merged, paths)

    @unittest.skipIf(shutil.which(PEER_CLI) is None, 'sysprof-cli is not installed')
    def test_peer_joins_a_long_environment(self):
        # Its joins make metadata longer.
        paths = [self.record_for_join('a', '--record-environment', '-e', 'LONG=' + 40000 * 'x') for _ in range(2)]
        merged = self.join_by_peer(self.join_by_peer(*paths), *paths)
        self.assert_joined(2 * [decode(path).frames for path in paths], decode(merged).frames)

    def test_peer_reads_what_we_join(self):
        paths = [self.record(), self.record()]
        merged = self.join(CLI, *paths)
        expected = collections.Counter()
        for path in paths:
            expected += made_of(decode(path))
        joined = self.check_decoders_agree(merged)
        self.assertEqual(made_of(joined), expected)
        lists = [decode_list(capture.frames, '/proc/kallsyms') for capture in (joined, decode(paths[0]))]
        self.assertEqual(lists[0], lists[1])
        self.assertEqual(decode_file(joined.frames, '__events__'), decode_file(decode(paths[0]).frames, '__events__'))
        for name in LISTS:
            self.assertEqual(decode_list(joined.frames, name), b''.join(decode_list(decode(path).frames, name) for path in paths), name)
        # Sysprof 3.46 reads only every second frame in a row of file frames, and would miss the table.
        at = next(i for i, f in enumerate(joined.frames) if f.get('path') == '__symbols__')
        self.assertNotEqual(joined.frames[at - 1]['type'], 'file')
        self.check_functions(merged, paths)

    def check_functions(self, merged, paths):
        """The reports contain the work of the program, by its names."""
        def samples(path):
            name = os.path.basename(self.busy)
            return {row['symbol']: row['self'] for row in report(path, 'functions', '--no-inlines', '--process', name)['rows']
                    if row['binary'] == name}

        found, expected = samples(merged), [samples(path) for path in paths]
        for name in ('heavy_work', 'light_work', 'nested_work', 'child_work'):
            self.assertEqual(found[name], sum(one[name] for one in expected), name)


class Theirs(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='sysprof-peers-')
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, 'theirs')
        result = subprocess.run([RECORDER, PEER_CLI, '-f', cls.path, '--', 'sh', '-c', WORK, 'sh', TARGET, PEER_TARGET, BUSY],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode == 77:
            raise unittest.SkipTest(result.stderr)
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    @unittest.skipIf(subprocess.run(['unshare', '--mount', 'true'], stderr=subprocess.DEVNULL).returncode != 0, 'may not mount anything')
    def test_the_machine_stays_as_it_is(self):
        """With the setting in a file that only this process sees."""
        folder = self.folder()
        setting, seen = (os.path.join(folder, name) for name in ('setting', 'seen'))
        pathlib.Path(setting).write_text('2\n')
        subprocess.run(['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" /proc/sys/kernel/perf_event_paranoid && shift && exec "$@"', 'sh', setting,
                        RECORDER, PEER_CLI, '-f', os.path.join(folder, 'theirs'), '--',
                        'sh', '-c', f'sleep 0.5; cat /proc/sys/kernel/perf_event_paranoid >{seen}'], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(pathlib.Path(seen).read_text(), '2\n')

    def test_both_libraries_read_every_frame(self):
        counts = self.check_decoders_agree(self.path).counts()
        # Without rights it records no samples and exits 0.
        self.assertGreater(counts.get('sample', 0), 100)
        for kind in ('map', 'process', *SAID):
            self.assertGreater(counts.get(kind, 0), 0, kind)

    def test_programs_of_both_libraries_are_recorded(self):
        said = collections.defaultdict(collections.Counter)
        for frame in decode(self.path).frames:
            if frame['type'] in SAID and frame['pid'] > 0:
                said[frame['pid']][frame['type']] += 1
        self.assertEqual([dict(kinds) for kinds in said.values()], [SAID, SAID])

    def test_report_counts_the_same_frames(self):
        counts = decode(self.path).counts()
        shown = report(self.path, 'summary')['capture']['frames']
        self.assertEqual({kind: n for kind, n in shown.items() if n}, counts)
        self.assertEqual(sum(row['total'] for row in report(self.path, 'processes')['rows']), counts['sample'])
        self.assertEqual(len(report(self.path, 'samples')['rows']), counts['sample'])

    def test_report_names_functions(self):
        rows = {row['symbol']: row for row in report(self.path, 'functions', '--process', 'busy')['rows']}
        for name in ('heavy_work', 'light_work', 'nested_work', 'child_work'):
            self.assertGreater(rows[name]['self'], 0, name)
        self.assertGreater(rows['main']['total'], rows['heavy_work']['self'])

    def test_cat_prints_all_of_it(self):
        capture = decode(self.path)
        result = subprocess.run([CAT, self.path], capture_output=True, check=True)
        text = result.stdout.decode(errors='replace')
        total = re.search(r'callgraph \{\s*node \{\s*symbol: "All Processes", self: \d+, total: ([\d,]+)', text)
        self.assertEqual(int(total[1].replace(',', '')), capture.counts()['sample'])
        for kind, pattern in (('mark', r'^\s*mark \{'), ('metadata', r'^    "[^"]*": "')):
            self.assertEqual(len(re.findall(pattern, text, re.MULTILINE)), capture.counts().get(kind, 0), kind)


if __name__ == '__main__':
    unittest.main()
