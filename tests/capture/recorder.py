# SPDX-License-Identifier: GPL-3.0-or-later
"""A small recorder for tests: hands out rings on a control socket, and reads them."""
import array
import mmap
import os
import select
import socket
import struct
import subprocess
import time

import decoder

PAGE = mmap.PAGESIZE
REQUEST = b'CreatRing\0'


class Ring:
    def __init__(self, body_pages, order):
        self.order = order
        self.fd = os.memfd_create('[sysprof-ring-buffer]')
        self.size = body_pages * PAGE
        os.truncate(self.fd, PAGE + self.size)
        self.memory = mmap.mmap(self.fd, PAGE + self.size)
        struct.pack_into(order + 'IIII', self.memory, 0, 0, 0, PAGE, self.size)
        self.frames = []
        self.ended = False

    def drain(self):
        head, tail = struct.unpack_from(self.order + 'II', self.memory, 0)
        while head != tail and not self.ended:
            body = self.memory[PAGE + head:PAGE + self.size] + self.memory[PAGE:PAGE + head]
            available = (tail - head) % self.size
            length, = struct.unpack_from(self.order + 'H', body, 0)
            assert 24 <= length <= available and length % 8 == 0, (length, available)
            if body[16] == 0xff:
                assert length == 24
                self.ended = True
            else:
                self.frames.append(decoder.decode_frame(body[:length], self.order))
            head = (head + length) % self.size
        struct.pack_into(self.order + 'I', self.memory, 0, head)

    def n_dropped(self):
        return struct.unpack_from(self.order + 'I', self.memory, 16)[0]


class Recorder:
    """Runs a command as a target. `answer(recorder, socket)` replies to one request; by default with a ring."""

    order = '<'  # of the target, as struct wants it

    def __init__(self, answer=None, body_pages=63, drains=True):
        self.rings = []
        self.answer = answer or Recorder.send_ring
        self.body_pages = body_pages
        self.drains = drains
        self.n_requests = 0

    def send_ring(self, ours):
        ring = Ring(self.body_pages, self.order)
        self.rings.append(ring)
        ours.sendmsg([b'\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [ring.fd]))])
        os.close(ring.fd)

    def run(self, command, timeout=60, close_at_request=None):
        """The finished process, with how long it ran as `seconds`."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        os.set_inheritable(theirs.fileno(), True)
        began = time.monotonic()
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT,
                                   env=dict(os.environ, SYSPROF_CONTROL_FD=str(theirs.fileno())))
        theirs.close()
        pending = b''
        is_open = True
        poll = select.poll()
        poll.register(ours, select.POLLIN)
        while process.poll() is None and time.monotonic() - began < timeout:
            events = poll.poll(2)
            if is_open and events:
                try:
                    got = ours.recv(4096)
                except ConnectionResetError:
                    got = b''
                if not got:
                    is_open = False
                    poll.unregister(ours)
                pending += got
            while is_open and len(pending) >= len(REQUEST):
                assert pending[:len(REQUEST)] == REQUEST, pending
                pending = pending[len(REQUEST):]
                self.n_requests += 1
                if close_at_request is not None and self.n_requests > close_at_request:
                    is_open = False
                    poll.unregister(ours)
                    ours.close()
                else:
                    self.answer(self, ours)
            if self.drains:
                for ring in self.rings:
                    ring.drain()
        if process.poll() is None:
            process.kill()
        process.seconds = time.monotonic() - began
        process.output = process.stdout.read().decode()
        process.stdout.close()
        process.wait()
        if self.drains:
            for ring in self.rings:
                ring.drain()
        ours.close()
        return process

    def frames(self):
        return [frame for ring in self.rings for frame in ring.frames]
