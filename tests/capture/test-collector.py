#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collector under a recorder that behaves, and under some that do not.

usage: test-collector.py COLLECTOR_TARGET
"""
import array
import os
import socket
import subprocess
import sys
import tempfile
import unittest

import decoder
import emulator
from recorder import PAGE, Recorder

Recorder.order = emulator.byte_order(sys.argv[1])
TARGET = emulator.command(sys.argv.pop(1))
STALL = 5.0  # seconds; far more than any wait that the collector allows itself


def run_with_fd(number, fds=(), target=('active',)):
    return subprocess.run([*TARGET, *target], pass_fds=fds, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, SYSPROF_CONTROL_FD=number))


class Collector(unittest.TestCase):
    def run_target(self, recorder, *arguments, status=0, **options):
        process = recorder.run([*TARGET, *map(str, arguments)], **options)
        self.assertEqual(process.returncode, status, process.output)
        return process

    def test_frames_of_each_kind(self):
        recorder = Recorder()
        process = self.run_target(recorder, 'all')
        frames = recorder.frames()
        self.assertEqual(len(recorder.rings), 1)
        self.assertTrue(all(f['pid'] == process.pid for f in frames))
        self.assertTrue(all(0 <= f['cpu'] < os.cpu_count() for f in frames))
        stack = [0x401000, 0x402000, 0x403000]
        expected = [
            {'type': 'mark', 'time': 1000, 'duration': 2000, 'group': 'group', 'name': 'name', 'message': 'message'},
            {'type': 'mark', 'time': 1001, 'duration': 0, 'group': '', 'name': '', 'message': ''},
            {'type': 'mark', 'group': 'a group that is longer ', 'message': 'm',
             'name': 'a name that is longer than the forty by'},
            {'type': 'mark', 'time': 1003, 'duration': 5, 'name': 'printf', 'message': 'number 42'},
            {'type': 'log', 'severity': 16, 'domain': 'domain', 'message': 'warning'},
            {'type': 'log', 'severity': 64, 'domain': 'domain', 'message': '00007'},
            {'type': 'sample', 'tid': process.pid, 'addrs': stack},
            {'type': 'sample', 'tid': process.pid, 'addrs': []},
            {'type': 'allocation', 'address': 0xdead000, 'size': 4096, 'tid': process.pid, 'addrs': stack},
            {'type': 'allocation', 'address': 0xdead000, 'size': 0, 'tid': process.pid, 'addrs': []},
            {'type': 'ctrdef'},
            {'type': 'ctrset'},
        ]
        self.assertEqual(len(frames), len(expected))
        for frame, members in zip(frames, expected):
            self.assertEqual({k: frame[k] for k in members}, members)
        ids = [c['id'] for c in frames[10]['counters']]
        self.assertEqual([c['name'] for c in frames[10]['counters']], [f'counter {i}' for i in range(10)])
        self.assertEqual(frames[11]['values'], list(zip(ids, range(100, 110))))

    def test_one_ring_per_thread_that_ends_with_it(self):
        recorder = Recorder(body_pages=2)
        self.run_target(recorder, 'threads', 200, 3)
        self.assertEqual(len(recorder.rings), 200)
        self.assertTrue(all(ring.ended and len(ring.frames) == 3 for ring in recorder.rings))

    @unittest.skipIf(emulator.EMULATOR, 'qemu-user accepts MADV_WIPEONFORK and does nothing')
    def test_child_gets_its_own_ring(self):
        recorder = Recorder()
        process = self.run_target(recorder, 'fork')
        parent, child = recorder.rings
        self.assertEqual([f['name'] for f in parent.frames], ['before', 'parent'])
        self.assertEqual([f['name'] for f in child.frames], ['child'])
        self.assertEqual(child.frames[0]['message'], str(child.frames[0]['pid']))
        self.assertNotEqual(child.frames[0]['pid'], process.pid)
        self.assertTrue(parent.ended)  # at its exit; the child ended by _exit()
        self.assertFalse(child.ended)

    def test_nested_calls_are_dropped(self):
        recorder = Recorder()
        self.run_target(recorder, 'nested')
        self.assertEqual([f['type'] for f in recorder.frames()], ['sample', 'allocation'])

    def test_long_messages_are_cut(self):
        lengths = [*range(65400, 65601, 8), 65431, 65432, 65439, 65535, 65536, 70000, 300000]
        recorder = Recorder()
        self.run_target(recorder, 'long', *lengths)
        frames = recorder.frames()
        self.assertEqual(len(frames), 4 * len(lengths))
        for i, length in enumerate(lengths):
            mark, printf, log, log_printf = (f['message'] for f in frames[4 * i:4 * i + 4])
            self.assertEqual(len(mark), min(length, 65431))
            self.assertEqual(printf, mark)
            self.assertEqual(len(log), min(length, 65463))
            self.assertEqual(len(log_printf), 2047)

    def test_texts_are_cut_between_characters(self):
        recorder = Recorder()
        self.run_target(recorder, 'wide')
        self.assertEqual(len(recorder.frames()), 3)
        for frame in recorder.frames():
            self.assertGreater(len(frame['message']), 21800)
            self.assertEqual(set(frame['message']), {'\u21d2'})

    def test_message_in_a_ring_that_is_too_small_for_it(self):
        recorder = Recorder(body_pages=1)
        self.run_target(recorder, 'long', 70000)
        self.assertEqual(len(recorder.frames()), 4)
        self.assertTrue(all(len(f['message']) <= PAGE for f in recorder.frames()))

    def test_everything_arrives_at_a_recorder_that_reads(self):
        recorder = Recorder(body_pages=1)
        self.run_target(recorder, 'marks', 2000)
        self.assertEqual([f['time'] for f in recorder.frames()], list(range(2000)))

    def test_recorder_that_never_reads(self):
        recorder = Recorder(body_pages=2, drains=False)
        process = self.run_target(recorder, 'marks', 100000)
        self.assertLess(process.seconds, STALL)
        recorder.rings[0].drain()
        n_fitting = (2 * PAGE - 24 - 1) // 104
        self.assertEqual([f['time'] for f in recorder.frames()], list(range(n_fitting)))
        self.assertEqual(recorder.rings[0].n_dropped(), 100000 - n_fitting)

    def test_frames_from_signal_handlers(self):
        recorder = Recorder(body_pages=1)
        self.run_target(recorder, 'signals', 5000)
        frames = recorder.frames()
        self.assertEqual([f['time'] for f in frames if f['group'] == 'thread'], list(range(5000)))
        self.assertTrue(any(f['group'] == 'handler' for f in frames))
        self.assertTrue(all(f['message'] == 'from a signal handler' for f in frames if f['group'] == 'handler'))

    @unittest.skipIf(emulator.EMULATOR, 'the child would not be emulated')
    def test_program_that_is_started_with_vfork(self):
        recorder = Recorder()
        process = self.run_target(recorder, 'exec')
        parent, child = recorder.rings
        self.assertEqual([f['name'] for f in parent.frames], ['before', 'after'])
        self.assertEqual([f['name'] for f in child.frames], ['mark'] * 3)
        self.assertNotEqual(child.frames[0]['pid'], process.pid)

    def test_reply_without_ring(self):
        recorder = Recorder(answer=lambda self, ours: ours.send(b'\0'))
        process = self.run_target(recorder, 'threads', 20, 10)
        self.assertEqual(recorder.n_requests, 20)
        self.assertLess(process.seconds, STALL)

    def test_reply_that_is_no_ring(self):
        def answer(recorder, ours):
            files = {0: os.open('/dev/null', os.O_RDWR), 1: os.memfd_create('empty'), 2: os.memfd_create('odd'),
                     3: os.memfd_create('zeros')}
            os.truncate(files[2], 3 * PAGE + 1)
            os.truncate(files[3], 3 * PAGE)
            fd = files[recorder.n_requests % 4]
            ours.sendmsg([b'\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])
            for fd in files.values():
                os.close(fd)
        self.run_target(Recorder(answer=answer), 'threads', 8, 10)

    def test_reply_with_two_descriptors(self):
        def answer(recorder, ours):
            ours.sendmsg([b'\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0, 1]))])
        self.run_target(Recorder(answer=answer), 'threads', 4, 10)

    def test_recorder_that_never_answers(self):
        recorder = Recorder(answer=lambda self, ours: None)
        process = self.run_target(recorder, 'threads', 200, 10)
        self.assertLess(process.seconds, STALL)

    def test_socket_that_is_closed_at_the_first_request(self):
        process = self.run_target(Recorder(), 'threads', 200, 10, close_at_request=0)
        self.assertLess(process.seconds, STALL)

    def test_socket_that_is_closed_later(self):
        recorder = Recorder(drains=False, body_pages=1)
        process = self.run_target(recorder, 'threads', 50, 1000, close_at_request=10)
        self.assertEqual(len(recorder.rings), 10)
        self.assertLess(process.seconds, STALL)

    def test_numbers_that_are_none(self):
        for number in ('', '0', '1', '2', '-1', '3x', ' 3', '0x3', '99999', '99999999999999999999'):
            self.assertEqual(run_with_fd(number).stdout, '0\n', repr(number))

    def test_numbers_that_became_something_else(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
            server = socket.socket(socket.AF_UNIX)
            server.bind(folder + '/socket')
            server.listen()
            client = socket.socket(socket.AF_UNIX)
            client.connect(folder + '/socket')
            accepted, _ = server.accept()
            accepted.setblocking(False)
            datagrams = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            tcp = socket.socket(socket.AF_INET)
            for fd in (file.fileno(), server.fileno(), client.fileno(), datagrams[0].fileno(), tcp.fileno()):
                result = run_with_fd(str(fd), [fd])
                self.assertEqual((result.returncode, result.stdout), (0, '0\n'))
            self.assertEqual(os.fstat(file.fileno()).st_size, 0)
            self.assertRaises(BlockingIOError, accepted.recv, 1)
            for s in (server, client, accepted, *datagrams, tcp):
                s.close()

    def test_trace_file(self):
        """Without a control socket, frames of all kinds, threads and processes are appended to one capture."""
        variables = {k: v for k, v in os.environ.items() if k != 'SYSPROF_CONTROL_FD'}
        fd = os.memfd_create('trace')
        self.addCleanup(os.close, fd)
        script = '"$@" all; "$@" threads 20 50 & "$@" fork; wait'
        subprocess.run(['sh', '-c', script, 'sh', *TARGET], check=True, timeout=60, pass_fds=[fd],
                       env=dict(variables, SYSPROF_TRACE_FD=str(fd)))
        with open(f'/proc/self/fd/{fd}', 'rb') as file:
            capture = decoder.decode(file.read())
        names = [f.get('name') for f in capture.frames if f['type'] == 'mark']
        self.assertEqual([f['type'] for f in capture.frames if f['pid'] == capture.frames[0]['pid']],
                         ['mark'] * 4 + ['log'] * 2 + ['sample'] * 2 + ['allocation'] * 2 + ['ctrdef', 'ctrset'])
        self.assertEqual(capture.frames[3]['message'], 'number 42')
        self.assertEqual(len(names), 4 + 20 * 50 + 3)
        forked = {f['name']: f['pid'] for f in capture.frames if f['type'] == 'mark' and f['name'] in ('before', 'parent', 'child')}
        self.assertEqual(forked['before'], forked['parent'])
        if not emulator.EMULATOR:  # qemu-user accepts MADV_WIPEONFORK and does nothing
            self.assertNotEqual(forked['child'], forked['parent'])

    def test_trace_files_that_are_none(self):
        """The collector writes only to an empty file, and does not continue a file that something else began."""
        variables = {k: v for k, v in os.environ.items() if k != 'SYSPROF_CONTROL_FD'}
        begun = os.memfd_create('begun')
        os.write(begun, b'x' * 5000)
        short = os.memfd_create('short')
        os.write(short, b'x')
        pipe = os.pipe()
        with open('/dev/null', 'rb') as null, tempfile.NamedTemporaryFile() as file:
            read_only = os.open(file.name, os.O_RDONLY)
            fds = (begun, short, *pipe, null.fileno(), read_only)
            for fd in fds:
                result = subprocess.run([*TARGET, 'active'], pass_fds=[fd], capture_output=True, text=True, timeout=60,
                                        env=dict(variables, SYSPROF_TRACE_FD=str(fd)))
                self.assertEqual((result.returncode, result.stdout), (0, '0\n'))
            self.assertEqual((os.fstat(begun).st_size, os.fstat(short).st_size, os.fstat(read_only).st_size), (5000, 1, 0))
            for fd in (begun, short, *pipe, read_only):
                os.close(fd)

    def test_nothing_records(self):
        environment = {k: v for k, v in os.environ.items() if k not in ('SYSPROF_CONTROL_FD', 'SYSPROF_TRACE_FD')}
        result = subprocess.run([*TARGET, 'active'], env=environment, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, '0\n'))
        self.assertEqual(subprocess.run([*TARGET, 'threads', '4', '1000'], env=environment).returncode, 0)


if __name__ == '__main__':
    unittest.main()
