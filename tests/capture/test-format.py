#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reader, writer and joins against an independent decoder and encoder.

usage: test-format.py DUMP_CAPTURE WRITE_CAPTURE JOIN_CAPTURES
"""
import gzip
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import captures
import decoder
import emulator
import frames

DUMP = sys.argv[1]
WRITE, JOIN = map(emulator.command, sys.argv[2:4])
ORDER = emulator.byte_order(DUMP)
del sys.argv[1:4]
TYPE_AT = 16


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def capture(self, name, content, **header):
        return self.file(name, captures.encode(content, **header))

    def dump(self, path):
        return frames.dump(DUMP, path)

    def assert_frames(self, path, expected):
        self.assertEqual(self.dump(path)[1], frames.all_dumped(expected))


class Reader(Case):
    def test_every_type_in_both_byte_orders(self):
        content = frames.of_every_type()
        for big in (False, True):
            path = self.capture('in', content, big_endian=big, time=7, end_time=2000000000)
            header, _ = self.dump(path)
            self.assertEqual(header, {'order': 4321 if big else 1234, 'begin': 7, 'end': 2000000000,
                                      'capture_time': frames.hexed('2020-01-02T03:04:05Z')})
            self.assert_frames(path, content)

    def test_end_is_found_where_the_header_has_none(self):
        content = frames.of_every_type()
        last_mark = 1000000011 + (1 << 40)
        for big in (False, True):
            path = self.capture('in', content, big_endian=big, time=7, end_time=0)
            self.assertEqual(self.dump(path)[0]['end'], last_mark)

    def test_rubbish_in_padding_is_ignored(self):
        content = [f for f in frames.of_every_type() if f['type'] in ('sample', 'mark', 'process', 'log', 'exit')]
        raw = bytearray(captures.encode(content))
        for frame in decoder.decode(bytes(raw)).frames:
            raw[frame['at'] + 17:frame['at'] + 24] = b'rubbish'
            if frame['type'] == 'sample':
                raw[frame['at'] + 26:frame['at'] + 28] = b'xx'
        self.assert_frames(self.file('in', bytes(raw)), content)

    def test_rubbish_that_looks_like_a_build_id_is_none(self):
        content = [{'type': 'map', 'cpu': 0, 'pid': 1, 'time': 1, 'start': 1, 'end': 2, 'offset': 3, 'inode': 4,
                    'path': '1234', 'build_id': ''}]
        # After a path with 5 bytes of padding, these bytes may contain text that the writer had in memory:
        # here "@dB".
        for path, rubbish in (('1234', b'@\xfe'), ('12', b'@dB\0'), ('12', b'@abc\0'), ('12', b'@a\0'), ('12', b'@\0'), ('1', b'@Ab1f\0')):
            with self.subTest(rubbish):
                content[0]['path'] = path
                raw = bytearray(captures.encode(content))
                at = 256 + 56 + len(path) + 1
                self.assertLessEqual(at + len(rubbish), len(raw))
                raw[at:at + len(rubbish)] = rubbish
                self.assertEqual(decoder.decode(bytes(raw)).frames[0]['build_id'], '')
                path = self.file('in', bytes(raw))
                self.assertEqual(self.dump(path)[1][0]['build_id'], '')
                out = os.path.join(self.folder, 'out')
                subprocess.run([*JOIN, 'cat', out, path], check=True)
                with open(out, 'rb') as f:
                    joined = f.read()
                self.assertEqual(len(joined), len(raw))
                self.assertNotIn(b'@', joined[256 + 56:])

    def test_unknown_types_and_frame_index_are_skipped(self):
        known = frames.of_every_type()
        content = []
        for i, frame in enumerate(known):
            content += [frame, {'type': 'unknown', 'number': (0, 18, 99, 255)[i % 4], 'cpu': 0, 'pid': 0, 'time': 1 << 50,
                                'payload': bytes(8 * i)},
                        {'type': 'frame-index', 'cpu': -1, 'pid': -1, 'time': 3, 'previous': 256}]
        for big in (False, True):
            self.assert_frames(self.capture('in', content, big_endian=big), known)
        # Tests that compare a recording of any length with its dump list the index as the decoder does.
        content = [frame for frame in content if frame['type'] != 'unknown']
        self.assert_frames(self.capture('in', content), content)

    def test_frames_that_contradict_themselves_are_left_out(self):
        content = frames.of_every_type()
        # (type, offset of a count, struct format, value that is too large)
        faults = [('sample', 24, 'H', 6), ('trace', 24, 'H', 6), ('allocation', 44, 'H', 3), ('ctrdef', 24, 'H', 3),
                  ('ctrset', 24, 'H', 3), ('jitmap', 24, 'I', 4), ('file', 26, 'H', 270), ('dbus', 26, 'H', 17),
                  ('overlay', 28, 'H', 20), ('overlay', 30, 'H', 0xffff)]
        for big in (False, True):
            order = '>' if big else '<'
            for name, at, fmt, value in faults:
                raw = bytearray(captures.encode(content, big_endian=big))
                bad = next(f for f in decoder.decode(bytes(raw)).frames if f['type'] == name)
                struct.pack_into(order + fmt, raw, bad['at'] + at, value)
                index = [f['type'] for f in content].index(name)
                self.assert_frames(self.file('in', bytes(raw)), content[:index] + content[index + 1:])

    def test_frames_that_are_too_short_for_their_type_are_left_out(self):
        least = {'sample': 32, 'map': 64, 'process': 32, 'fork': 32, 'jitmap': 32, 'ctrdef': 32, 'ctrset': 32,
                 'mark': 104, 'metadata': 72, 'log': 72, 'file': 288, 'allocation': 48, 'overlay': 40, 'trace': 32,
                 'dbus': 32}
        end = {'type': 'exit', 'cpu': 1, 'pid': 2, 'time': 3}
        for name, size in least.items():
            for length, n_expected in ((size - 8, 1), (size, 2)):
                short = {'type': 'unknown', 'number': decoder.NUMBERS[name], 'cpu': 0, 'pid': 0, 'time': 0,
                         'payload': bytes(length - 24)}
                dumped = self.dump(self.capture('in', [short, end]))[1]
                self.assertEqual(len(dumped), n_expected, (name, length))
                self.assertEqual(dumped[-1], frames.as_dumped(end))

    def test_texts_without_nul_end_with_their_field(self):
        content = [f for f in frames.of_every_type() if f['type'] in ('mark', 'metadata', 'log', 'process', 'overlay')]
        raw = bytearray(captures.encode(content))
        for frame in decoder.decode(bytes(raw)).frames:
            fixed = {'mark': 32, 'metadata': 24, 'log': 32, 'process': 24, 'overlay': 32}[frame['type']]
            raw[frame['at'] + fixed:frame['at'] + frame['len']] = b'x' * (frame['len'] - fixed)
        dumped = self.dump(self.file('in', bytes(raw)))[1]
        self.assertEqual(len(dumped), len(content))
        self.assertEqual(len(bytes.fromhex(next(f for f in dumped if f['type'] == 10)['group'])), 23)

    def test_cut_anywhere(self):
        whole = captures.encode(frames.of_every_type())
        expected = self.dump(self.file('in', whole))[1]
        ends = [f['at'] + f['len'] for f in decoder.decode(whole).frames]
        for size in sorted(random.Random(1).sample(range(256, len(whole)), 100)):
            dumped = self.dump(self.file('in', whole[:size]))[1]
            self.assertEqual(dumped, expected[:sum(end <= size for end in ends)], size)

    def test_what_is_no_capture(self):
        for data in (b'', b'x', bytes(300), decoder.MAGIC + bytes(251), captures.encode([])[:255]):
            result = subprocess.run([*emulator.command(DUMP), self.file('in', data)], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout), (1, ''))
            self.assertIn('Bad message', result.stderr)


class Writer(Case):
    def test_bytes_are_those_of_the_encoder(self):
        path = os.path.join(self.folder, 'out')
        subprocess.run([*WRITE, path], check=True)
        with open(path, 'rb') as f:
            raw = f.read()
        capture = decoder.decode(raw)
        self.assertEqual(capture.rest, 0)
        self.assertEqual(len(capture.frames), 4 + 3 + 2 * 29 + 2 + 5 * 11 + 2)
        self.assertEqual(raw, captures.encode(capture.frames, big_endian=capture.big_endian, time=capture.time, end_time=capture.end_time,
                                            capture_time=capture.capture_time))
        self.assert_frames(path, capture.frames)


class Join(Case):
    def join(self, how, *inputs):
        out = os.path.join(self.folder, 'out')
        subprocess.run([*JOIN, how, out, *inputs], check=True)
        with open(out, 'rb') as f:
            return decoder.decode(f.read())

    @staticmethod
    def plain(content):
        return [{k: v for k, v in f.items() if k not in ('at', 'len')} for f in content]

    def counters(self, name, value, pid=-1):
        return [{'type': 'ctrdef', 'cpu': -1, 'pid': pid, 'time': 1, 'counters': [
                    {'category': 'c', 'name': f'{name} {i}', 'description': '', 'id': i, 'kind': 0, 'value': 0}
                    for i in (1, 2)]},
                {'type': 'ctrset', 'cpu': -1, 'pid': pid, 'time': 2, 'values': [(1, value), (2, value + 1)]}]

    def named_values(self, capture):
        names = {c['id']: c['name'] for f in capture.frames if f['type'] == 'ctrdef' for c in f['counters']}
        n_defined = sum(len(f['counters']) for f in capture.frames if f['type'] == 'ctrdef')
        self.assertEqual(len(names), n_defined)
        return [(names.get(i), v) for f in capture.frames if f['type'] == 'ctrset' for i, v in f['values']]

    def test_counters_stay_apart(self):
        a = self.capture('a', self.counters('A', 10) + self.counters('ring', 30, pid=77))
        b = self.capture('b', self.counters('B', 20), big_endian=True)
        for how in ('join', 'cat'):
            self.assertEqual(self.named_values(self.join(how, a, b)),
                             [('A 1', 10), ('A 2', 11), ('ring 1', 30), ('ring 2', 31), ('B 1', 20), ('B 2', 21)])

    def test_counter_that_another_process_sets(self):
        define, values = self.counters('A', 10)
        a = self.capture('a', [define, dict(values, pid=99)])
        self.assertEqual(self.named_values(self.join('cat', a)), [('A 1', 10), ('A 2', 11)])

    def test_counter_that_is_set_before_its_definition(self):
        define, values = self.counters('A', 10)
        a = self.capture('a', [values, define])
        self.assertEqual(self.named_values(self.join('cat', a)), [('A 1', 10), ('A 2', 11)])

    def test_empty_slots_of_values_are_closed(self):
        define, values = self.counters('A', 10)
        raw = bytearray(captures.encode([define, values]))
        at = len(raw) - 96
        raw[at:at + 8] = struct.pack('<II', 0, 2)
        raw[at + 32:at + 48] = struct.pack('<QQ', 5, 6)
        joined = self.join('cat', self.file('a', bytes(raw)))
        self.assertEqual(self.named_values(joined), [('A 2', 6)])

    def test_names_of_addresses(self):
        def content(names):
            addresses = [a for a, _ in names]
            return [
                {'type': 'sample', 'cpu': 0, 'pid': 1, 'time': 1, 'tid': 1,
                 'addrs': [0xffffffffffffff80, 0xe000000000000001, 0xfffffffffffffe00, *addresses, 0x1234]},
                {'type': 'allocation', 'cpu': 0, 'pid': 1, 'time': 1, 'address': 5, 'size': 6, 'tid': 1, 'addrs': addresses},
                {'type': 'trace', 'cpu': 0, 'pid': 1, 'time': 1, 'tid': 1, 'entering': True, 'addrs': addresses},
                {'type': 'jitmap', 'cpu': -1, 'pid': 1, 'time': 1, 'names': names}]
        jit = 0xe000000000000000
        a = self.capture('a', content([(jit + 1, 'one'), (jit + 2, 'two')]))
        b = self.capture('b', content([(jit + 1, 'three'), (jit + 2, 'one')]), big_endian=True)
        lost = self.capture('c', [{'type': 'sample', 'cpu': 0, 'pid': 1, 'time': 1, 'tid': 1, 'addrs': [jit + 1]}])
        for how in ('join', 'cat'):
            joined = self.join(how, a, b, lost)
            names = dict(pair for f in joined.frames if f['type'] == 'jitmap' for pair in f['names'])
            stacks = {}
            for f in joined.frames:
                if 'addrs' in f:
                    stacks.setdefault(f['type'], []).append([names.get(x, x) for x in f['addrs']])
            self.assertEqual([s[3:5] for s in stacks['sample'][:2]], [['one', 'two'], ['three', 'one']])
            self.assertEqual(stacks['allocation'], [['one', 'two'], ['three', 'one']])
            self.assertEqual(stacks['trace'], [['one', 'two'], ['three', 'one']])
            self.assertEqual(stacks['sample'][2], ['0xe000000000000001'])
            raw = [f['addrs'] for f in joined.frames if f['type'] == 'sample']
            self.assertEqual(raw[0][1], jit + 1)  # in kernel context: code
            self.assertEqual(raw[1][1], jit + 1)

    def test_everything_else_stays(self):
        content = [f for f in frames.of_every_type() if f['type'] not in ('jitmap', 'ctrdef', 'ctrset', 'sample', 'trace')]
        joined = self.join('cat', self.capture('a', content), self.capture('b', content, big_endian=True))
        self.assertEqual(self.plain(joined.frames), content + content)
        joined = self.join('join', self.capture('a', content), self.capture('b', content, big_endian=True))
        late = [f for f in content if f['type'] == 'dbus']
        early = [f for f in content if f['type'] != 'dbus']
        self.assertEqual(self.plain(joined.frames), early + early + late + late)

    def test_metadata_does_not_grow(self):
        metadata = {'type': 'metadata', 'cpu': -1, 'pid': -1, 'time': 1, 'id': 'i', 'value': 'v\0\0\0\0\0\0\0\0\0'}
        joined = self.join('cat', self.capture('a', [metadata]))
        self.assertEqual(joined.frames[0]['len'], 72)

    def test_unknown_types_are_kept_where_they_can_be(self):
        unknown = {'type': 'unknown', 'number': 99, 'cpu': 1, 'pid': 2, 'time': 3, 'payload': b'12345678'}
        end = {'type': 'exit', 'cpu': 0, 'pid': 1, 'time': 1}
        is_big = ORDER == '>'
        a = self.capture('a', [unknown, end], big_endian=is_big)
        self.assertEqual(self.plain(self.join('cat', a).frames), [unknown, end])
        self.assertEqual(self.plain(self.join('join', a, a).frames), [end, end, unknown, unknown])
        self.assertEqual(self.plain(self.join('splice', a).frames), [unknown, end])
        b = self.capture('b', [unknown, end], big_endian=not is_big)
        self.assertEqual(self.plain(self.join('cat', b).frames), [end])

    def test_frame_index_is_dropped(self):
        index = {'type': 'frame-index', 'cpu': -1, 'pid': -1, 'time': 3, 'previous': 0}
        end = {'type': 'exit', 'cpu': 0, 'pid': 1, 'time': 1}
        for how in ('join', 'cat', 'splice'):
            self.assertEqual(self.plain(self.join(how, self.capture('a', [index, end])).frames), [end])

    def test_time_range(self):
        end = {'type': 'exit', 'cpu': 0, 'pid': 1, 'time': 150}
        a = self.capture('a', [end], time=100, end_time=200)
        b = self.capture('b', [dict(end, time=400)], time=50, end_time=0)
        c = self.capture('c', [end], time=120, end_time=130)
        for how in ('join', 'cat'):
            joined = self.join(how, a, b, c)
            self.assertEqual((joined.time, joined.end_time), (50, 400))

    def test_splice_keeps_all_frames_as_they_are(self):
        content = frames.of_every_type()
        for big in (False, True):
            self.assertEqual(self.plain(self.join('splice', self.capture('a', content, big_endian=big)).frames), content)

    def chunks(self, path, data):
        pieces = [data[i:i + 1000] for i in range(0, len(data), 1000)]
        return [{'type': 'file', 'cpu': -1, 'pid': -1, 'time': 1, 'path': path, 'is_last': i == len(pieces) - 1, 'data': p}
                for i, p in enumerate(pieces)]

    def test_symbol_tables_become_one(self):
        a = [(0x1000, 0x2000, 1, 'alpha', 'libc'), (0x3000, 0x4000, 1, 'beta', ''), (0x10, 0x20, 7, 'seven', '')]
        b = [(0x1800, 0x2800, 1, 'late', ''), (0x2f00, 0x4100, 1, 'around', ''), (0x1000, 0x2000, 2, 'gamma', 'libc'),
             (0x1100, 0x1200, 1, 'inside', '')]
        old = [(0x5000, 0x5000, 3, 'point', 'Kernel'), (0x6000, 0x6fff, 3, 'range', '')]
        many = [(16 * i, 16 * i + 16, 9, f'function number {i}', 'tag') for i in range(3000)]
        inputs = [
            self.capture('a', self.chunks('__symbols__', captures.symbol_table(a))),
            self.capture('b', self.chunks('__symbols__', captures.symbol_table(sorted(b, key=lambda entry: (entry[2], entry[0])), '>')), big_endian=True),
            self.capture('c', self.chunks('__symbols__', captures.symbol_table(old, inclusive=True))),
            self.capture('d', self.chunks('__symbols__.gz', gzip.compress(captures.symbol_table(many)))),
            self.capture('e', []),
        ]
        joined = self.join('join', *inputs)
        self.assertTrue(all(f['len'] <= 16384 for f in joined.frames))
        table = decoder.read_symbol_table(joined.files()['__symbols__'], ORDER)
        self.assertNotIn('__symbols__.gz', joined.files())
        self.assertEqual(table, [
            (0x1000, 0x2000, 1, 'alpha', 'libc'), (0x2000, 0x2800, 1, 'late', ''), (0x2f00, 0x3000, 1, 'around', ''),
            (0x3000, 0x4000, 1, 'beta', ''), (0x1000, 0x2000, 2, 'gamma', 'libc'), (0x5000, 0x5001, 3, 'point', 'Kernel'),
            (0x6000, 0x7000, 3, 'range', ''), (0x10, 0x20, 7, 'seven', ''), *many])

    def test_damaged_symbol_tables_do_no_harm(self):
        good = [(0x1000, 0x2000, 1, 'alpha', '')]
        table = captures.symbol_table(good)
        rng = random.Random(2)
        inputs = [self.capture('good', self.chunks('__symbols__', table))]
        for i in range(12):
            bad = bytearray(captures.symbol_table([(0x10 * k, 0x10 * k + 8, 1, f'n{k}', '') for k in range(20)]))
            for _ in range(30):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            inputs.append(self.capture(f'bad{i}', self.chunks('__symbols__', bytes(bad)[:rng.randrange(len(bad))])
                                       if i % 2 else self.chunks('__symbols__.gz', bytes(bad))))
        joined = decoder.read_symbol_table(self.join('join', *inputs).files()['__symbols__'], ORDER)
        self.assertIn((0x1000, 0x2000, 1, 'alpha', ''), joined)
        for (_, end, pid, _, _), (begin, _, next_pid, _, _) in zip(joined, joined[1:]):
            self.assertTrue(pid < next_pid or end <= begin)

    # --- files that hold for one recording ---

    CLOCK, OTHER = b'0 ns 1000000 cpu-clock\n', b'0 count 1 page-faults\n'

    def copy_of_joined(self, name):
        return shutil.copy(os.path.join(self.folder, 'out'), os.path.join(self.folder, name))

    def recording(self, name, files=(), n_samples=1, jit=()):
        content = [{'type': 'jitmap', 'cpu': -1, 'pid': -1, 'time': 1, 'names': list(jit)}] if jit else []
        content += [{'type': 'sample', 'cpu': 0, 'pid': 1, 'time': 2, 'tid': 1, 'addrs': [0x1000]}] * n_samples
        return self.capture(name, content + [chunk for path, data in files for chunk in self.chunks(path, data)])

    def all_of(self, capture, path):
        """Each time the file is there, whole."""
        found, data = [], b''
        for frame in capture.frames:
            if frame['type'] == 'file' and frame['path'] == path:
                data += frame['data']
                if frame['is_last']:
                    found, data = found + [data], b''
        self.assertEqual(data, b'')
        return found

    def test_events_are_kept_where_all_agree(self):
        events, periods = '__events__', '__periods__'
        cases = {  # what each capture says, and its samples: whether a join keeps it
            'same': ([((events, self.CLOCK),), ((events, self.CLOCK),)], True),
            'none has any': ([(), ()], True),
            'another event': ([((events, self.CLOCK),), ((events, self.OTHER),)], False),
            'one says nothing': ([((events, self.CLOCK),), ()], False),
            'the first says nothing': ([(), ((events, self.CLOCK),)], False),
            'each sample has its own': ([((events, self.CLOCK), (periods, b'x' * 24))] * 2, False),
            'the third': ([((events, self.CLOCK),)] * 2 + [((events, self.OTHER),)], False),
        }
        for name, (files, agree) in cases.items():
            inputs = [self.recording(f'in{i}', of_one) for i, of_one in enumerate(files)]
            joined = self.join('join', *inputs)
            path = self.copy_of_joined('joined')
            self.assertEqual(self.all_of(joined, events), [self.CLOCK] if agree and files[0] else [], name)
            self.assertEqual(self.all_of(joined, periods), [], name)
            appended = self.join('cat', *inputs)
            known = set(self.all_of(appended, events))
            # frames are appended to a file that has the key already: a different value records that the value
            # is unknown
            self.assertEqual(known, ({self.CLOCK} if files[0] else set()) if agree else ({self.CLOCK, b''} if files[0] else set()), name)
            self.assertLessEqual(len(self.all_of(appended, periods)), 1, name)
            again = self.join('join', path, self.copy_of_joined('appended'))
            self.assertEqual(self.all_of(again, events)[:1], [self.CLOCK] if agree and files[0] else [], name)
        alone = self.join('cat', self.recording('a', n_samples=0), self.recording('b', ((events, self.OTHER),)))
        self.assertEqual(self.all_of(alone, events), [self.OTHER])

    def test_waits_are_those_of_one_capture(self):
        """Whole, and with the addresses that they were written with."""
        a, b = b'waits\0\1\0' + bytes(2500), b'waits\0\1\0' + b'b' * 1500
        jit = self.mark_of_names()
        plain = self.recording('plain')
        first, second = self.recording('a', (('__waits__', a),)), self.recording('b', (('__waits__', b),))
        named = self.recording('named', (('__waits__', a),), jit=[(jit + 1, 'one'), (jit + 2, 'two')])
        other = self.recording('other', (('__waits__', b),), jit=[(jit + 1, 'three')])
        for how in ('join', 'cat'):
            for inputs, wanted in (((first, second), [a]), ((plain, second, first), [b]), ((named, other), [a]), ((named, plain), [a]),
                                   ((plain, named), [a])):
                self.assertEqual(self.all_of(self.join(how, *inputs), '__waits__'), wanted, (how, inputs))
        names = self.recording('names', jit=[(jit + 1, 'zero')])
        self.assertEqual(self.all_of(self.join('cat', names, other, first), '__waits__'), [a], 'its names have moved')
        joined = self.join('join', names, other, first)
        self.assertEqual(self.all_of(joined, '__waits__'), [b])
        self.assertIn((jit + 1, 'three'), self.names_of(joined))
        moved = self.recording('moved', (('__waits__', b),), jit=[(1, 'four')])
        self.assertEqual(self.all_of(self.join('join', names, moved), '__waits__'), [], 'its names have moved')

    def test_generated_code_is_that_of_one_capture(self):
        """Processes of two captures may have one number."""
        path = '/proc/7/jit-code.gz'
        first, second = self.recording('a', ((path, b'a' * 1500),)), self.recording('b', ((path, b'b'), ('/proc/8/jit-code', b'c'), ('/proc/8/jit-owners', b'0\n')))
        for how in ('join', 'cat'):
            self.assertEqual(self.all_of(self.join(how, first), path), [b'a' * 1500], how)
        for inputs in ((first, second), (first, self.recording('none')), (self.recording('none'), first)):
            joined = self.join('join', *inputs)
            self.assertEqual((self.all_of(joined, path), self.all_of(joined, '/proc/8/jit-owners')), ([], []))
        # frames are appended to a file that has the key already: a different value records that it does not
        # hold for all
        appended = self.join('cat', first, second)
        self.assertEqual((self.all_of(appended, path), self.all_of(appended, '/proc/8/jit-code')), ([b'a' * 1500, b''], [b'']))
        other = self.recording('other', (('/proc/x/jit-code', b'x'), ('/proc//jit-code', b'y'), ('/proc/7/jit-code.x', b'z')))
        joined = self.join('join', first, other)
        self.assertEqual([self.all_of(joined, name) for name in ('/proc/x/jit-code', '/proc//jit-code', '/proc/7/jit-code.x')], [[b'x'], [b'y'], [b'z']])

    def mark_of_names(self):
        """Captures of the same kind of machine share one numbering of names; another kind of machine gets a
        new one."""
        path = self.capture('elsewhere', [{'type': 'jitmap', 'cpu': -1, 'pid': -1, 'time': 1, 'names': [(1, 'name')]}])
        return self.names_of(self.join('cat', path))[0][0] - 1

    def names_of(self, capture):
        return [pair for frame in capture.frames if frame['type'] == 'jitmap' for pair in frame['names']]

    def test_names_of_waits_stay_where_they_are_repeated(self):
        """As a recorder repeats them once it has written the first, which the file may have behind."""
        jit = self.mark_of_names()
        content = [{'type': 'jitmap', 'cpu': -1, 'pid': -1, 'time': 1, 'names': names}
                   for names in ([(jit + 2, 'one'), (jit + 3, 'two')], [(jit + 1, 'one')])]
        path = self.capture('repeated', content + self.chunks('__waits__', b'waits\0\1\0'))
        for how in ('join', 'cat'):
            joined = self.join(how, path, self.recording('names', jit=[(jit + 1, 'three')]))
            self.assertEqual(self.all_of(joined, '__waits__'), [b'waits\0\1\0'])
            self.assertEqual(sorted(self.names_of(joined)), [(jit + 1, 'one'), (jit + 2, 'one'), (jit + 3, 'two'), (jit + 4, 'three')])

    def test_lists_are_joined(self):
        """Entries about single samples and processes, so that those of each capture are found."""
        files = [(('__unwind__', b'%d tables=3\n' % i), ('__found__', bytes([i]) * 1600), ('__unnamed__.gz', gzip.compress(b'line %d\n' % i)))
                 for i in range(3)]
        joined = self.join('join', *(self.recording(f'in{i}', of_one) for i, of_one in enumerate(files)))
        self.assertEqual(self.all_of(joined, '__unwind__'), [b'0 tables=3\n1 tables=3\n2 tables=3\n'])
        self.assertEqual(self.all_of(joined, '__found__'), [b''.join(bytes([i]) * 1600 for i in range(3))])
        self.assertEqual(self.all_of(joined, '__unnamed__'), [b'line 0\nline 1\nline 2\n'])
        self.assertEqual(self.all_of(joined, '__unnamed__.gz'), [])

    LISTS = '__found__', '__unwind__', '__unnamed__', '__lines__', '__threads__'

    def interleaved(self):
        """Two captures, of each list in pieces whose times stand between those of the other one; and what the lists are."""
        rng = random.Random(4)
        texts, paths = [], []
        for i in range(2):
            lines = b''.join(b'%d %x %x dso-not-found\n' % (i + 1, rng.getrandbits(47), rng.getrandbits(40)) for _ in range(2000))
            texts.append({'__found__': lines[:len(lines) // 16 * 16], '__unwind__': lines, '__unnamed__': lines, '__lines__': lines, '__threads__': lines})
            content = []
            for name, data in texts[i].items():
                packed = gzip.compress(data)
                self.assertGreater(len(packed), 5000)
                content += [dict(chunk, time=10 + 20 * at + 10 * i) for at, chunk in enumerate(self.chunks(f'{name}.gz', packed))]
            paths.append(self.capture(f'interleaved{i}', content))
        return paths, texts

    def in_order_of_time(self, capture, path):
        """Returns the frames as a reader sees them that sorts them by time, keeps the file order of equal
        times, and stops at the last."""
        data = b''
        for frame in sorted((f for f in capture.frames if f['type'] == 'file' and f['path'] == path), key=lambda frame: frame['time']):
            data += frame['data']
            if frame['is_last']:
                break
        return data

    def check_gzip(self, data):
        subprocess.run(['gzip', '-t'], input=data, check=True)

    def test_packed_lists_whose_times_interleave_stay_whole(self):
        paths, texts = self.interleaved()
        joined = self.join('join', *paths)
        for name in self.LISTS:
            self.assertEqual(self.in_order_of_time(joined, name), texts[0][name] + texts[1][name], name)
            self.assertEqual(self.all_of(joined, f'{name}.gz'), [], name)
        appended = self.join('cat', *paths)
        for name in self.LISTS:
            packed = self.in_order_of_time(appended, f'{name}.gz')
            self.check_gzip(packed)
            self.assertEqual(gzip.decompress(packed), texts[0][name], name)

    def test_a_list_that_is_packed_in_one_capture_only_is_joined(self):
        """A reader takes the file that is not packed, and would not look for the other one."""
        plain, packed = (('__unnamed__', b'plain'),), (('__unnamed__.gz', gzip.compress(b'packed\n')),)
        for files, wanted in (((plain, packed), b'plain\npacked\n'), ((packed, plain), b'packed\nplain\n')):
            joined = self.join('join', *(self.recording(f'in{i}', of_one) for i, of_one in enumerate(files)))
            self.assertEqual(self.all_of(joined, '__unnamed__'), [wanted])
            self.assertEqual(self.all_of(joined, '__unnamed__.gz'), [])

    def test_a_damaged_list_does_no_harm(self):
        inputs = [self.recording('good', (('__unnamed__.gz', gzip.compress(b'good\n')), ('__found__', bytes(16)))),
                  self.recording('bad', (('__unnamed__.gz', gzip.compress(b'bad\n')[:-9]), ('__found__', b'1' * 20))),
                  self.recording('last', (('__unnamed__.gz', gzip.compress(b'last\n')), ('__found__', b'2' * 16)))]
        joined = self.join('join', *inputs)
        self.assertEqual(self.all_of(joined, '__unnamed__'), [b'good\nlast\n'])
        self.assertEqual(self.all_of(joined, '__found__'), [bytes(16) + b'1' * 16 + b'2' * 16])

    # --- kernels of several boots ---

    BOOT, KERNEL_MARK = 'org.gnome.sysprof.boot-id', 0xffffffffffffff80
    AT, OTHER_KERNEL, BOOT_NAME = 0xffffffff81000000, 0xffffffffffffe000, '[kernel of another boot]'

    def of_boot(self, name, boot, files=(), addresses=(AT,), is_big=False, time=1000, end_time=9000):
        content = [{'type': 'metadata', 'cpu': -1, 'pid': -1, 'time': 1, 'id': self.BOOT, 'value': value} for value in boot]
        content += [{'type': 'sample', 'cpu': 0, 'pid': 1, 'time': 2000, 'tid': 1,
                     'addrs': [self.KERNEL_MARK, address, address + 4, 2**64 - 512, 0x1000]} for address in addresses]
        return self.capture(name, content + [chunk for path, data in files for chunk in self.chunks(path, data)], big_endian=is_big,
                            time=time, end_time=end_time)

    def kernel_addresses(self, joined):
        for frame in joined.of('sample'):
            self.assertEqual(frame['addrs'][:1] + frame['addrs'][-2:], [self.KERNEL_MARK, 2**64 - 512, 0x1000])
            self.assertIn(frame['addrs'][2:-2], ([], [frame['addrs'][1] + 4]))
            self.assertEqual(len(frame['addrs']), 4 if frame['addrs'][1] == self.OTHER_KERNEL else 5)
        return [frame['addrs'][1] for frame in joined.of('sample')]

    def boots_of(self, joined):
        return [frame['value'] for frame in joined.of('metadata') if frame['id'] == self.BOOT]

    def test_kernel_names_of_the_first_boot_stay(self):
        """Addresses of other boots would get wrong names, so one address replaces them."""
        at = self.AT
        def symbols(name):
            return ('__symbols__', captures.symbol_table([(at, at + 16, 0, name, '[kernel]'), (at, at + 16, 1, name, '[kernel]'),
                                                          (0x1000, 0x1010, 1, 'user', '')]))
        inputs = [self.of_boot('a', ['one ab'], [symbols('alpha')]), self.of_boot('b', ['two cd'], [symbols('beta')], is_big=False),
                  self.of_boot('c', ['one ab'], [symbols('gamma')]), self.of_boot('d', [], [symbols('delta')])]
        other = (self.OTHER_KERNEL, self.OTHER_KERNEL + 1, 0, self.BOOT_NAME)
        joined = self.join('join', *inputs)
        self.assertEqual(self.kernel_addresses(joined), [at, self.OTHER_KERNEL, at, self.OTHER_KERNEL])
        self.assertEqual(sorted(self.boots_of(joined)), ['one ab', 'one ab', 'other', 'other'])
        table = decoder.read_symbol_table(joined.files()['__symbols__'], ORDER)
        self.assertEqual({entry[:4] for entry in table if entry[2] == 0}, {(at, at + 16, 0, 'alpha'), other})
        self.assertEqual({entry[:4] for entry in table if entry[2] == 1}, {(at, at + 16, 1, 'alpha'), (0x1000, 0x1010, 1, 'user')})

        # A joined capture is joined again.
        again = self.copy_of_joined('again')
        more = self.join('join', again, inputs[1], inputs[0])
        self.assertEqual(self.kernel_addresses(more), [at, self.OTHER_KERNEL, at, self.OTHER_KERNEL, self.OTHER_KERNEL, at])
        self.assertEqual(sorted(self.boots_of(more)), ['one ab', 'one ab', 'one ab', 'other', 'other', 'other'])
        table = decoder.read_symbol_table(more.files()['__symbols__'], ORDER)
        self.assertEqual({entry[:4] for entry in table if entry[2] == 0}, {(at, at + 16, 0, 'alpha'), other})

    def test_unknown_boots_count_as_one(self):
        unknown = [self.of_boot(f'u{i}', []) for i in range(2)]
        self.assertEqual(self.kernel_addresses(self.join('join', *unknown)), [self.AT] * 2)
        # Kernels of 32 bits, too.
        low = [self.of_boot(f'l{i}', [f'{i} -'], addresses=(0xc0001000,), is_big=is_big, files=[('/proc/kallsyms', b'c0001000 T l%d\n' % i)])
               for i, is_big in enumerate((True, False))]
        joined = self.join('join', *low)
        self.assertEqual(self.kernel_addresses(joined), [0xc0001000, self.OTHER_KERNEL])
        self.assertEqual(self.boots_of(joined), ['0 -', 'other'])
        self.assertEqual(self.all_of(joined, '/proc/kallsyms'), [b'c0001000 T l0\n'])
        for values in (['x' * 64], [''], ['one - 99'], ['one - -1'], ['one - x']):
            self.assertEqual(self.kernel_addresses(self.join('join', self.of_boot('s', values))), [self.AT], values)

    def test_off_cpu_times_keep_their_kernel(self):
        """They contain kernel addresses."""
        waits = b'waits\0\1\0' + bytes(100)
        joined = self.join('join', self.of_boot('a', ['one -']), self.of_boot('b', ['two -'], [('__waits__', waits)]))
        self.assertEqual(self.kernel_addresses(joined), [self.OTHER_KERNEL, self.AT])
        self.assertEqual(self.all_of(joined, '__waits__'), [waits])

    def test_kernel_lists_of_the_first_are_kept(self):
        at = self.AT
        def files(name, begin, end):
            return [('/proc/kallsyms.gz', gzip.compress(b'%016x - _text\n%016x T shared\n%016x t %s\t[m]\n' % (at, at + 64, at + 128, name), mtime=0)),
                    ('__ksymbols__', b'%x 40 %d %d bpf_%s\nrubbish\n' % (at + 0x1000, begin, end, name)),
                    ('__modules__', b'm ab .text=%x .init.text=%x\nn -\n' % (at + 0x2000, at + 0x3000))]
        one = [self.of_boot('a', ['one ab'], files(b'first', 0, 0)), self.of_boot('b', ['one ab'], files(b'second', 3000, 0), time=5000)]
        other = self.of_boot('c', ['two cd'], files(b'third', 0, 4000))
        unknown = [self.of_boot(f'u{i}', [], files(b'u%d' % i, 0, 0)) for i in range(2)]
        for inputs in ((one[0], self.of_boot('none', [])), (*one, other), (one[0], other)):
            joined = self.join('join', *inputs)
            for path, data in files(b'first', 0, 0):
                self.assertEqual(self.all_of(joined, path), [data], 'as it is')
        self.assertEqual(self.all_of(self.join('join', *unknown), '/proc/kallsyms.gz'), [files(b'u0', 0, 0)[0][1]])


if __name__ == '__main__':
    unittest.main()
