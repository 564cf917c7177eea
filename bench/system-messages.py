#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cost of recording messages of the system: a message bus, the journal and the kernel log, each
flooded.

The bus is started by the benchmark. journald runs in a mount namespace with an empty /run. Contestants run
in turns, one at a time: ours, and for each source the program that comes with it and writes all messages
to a file. The result is the CPU time of all threads per recorded message, from one second after the start
to the end of the recorder, less its CPU time without messages, and the number of missing messages."""
import argparse
import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

import recorders
import turns

NOTHING_ELSE = ['-f', '--quiet', '--no-perf', '--no-decode', '--no-graphics-info', '--no-cpu', '--no-disk', '--no-memory', '--no-network',
                '--no-battery', '--no-pressure', '--no-gpu']
JOURNALD = '/lib/systemd/systemd-journald'
JOURNALD_SETTINGS = '[Journal]\nRateLimitBurst=0\nStorage=volatile\nRuntimeMaxUse=2G\nReadKMsg=no\nForwardToSyslog=no\n'
CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
MARK = 'VoiceOfFlood'  # once in each message, and once for it in what any contestant writes
BODY = 'what a program says, ' * 6
QUIET = 0.4  # seconds without work after which a recorder has all


class Contestant:
    """`command` writes to `path`, or, with is_output, to its standard output, which goes there."""

    def __init__(self, name, command, path, is_output=True):
        self.name, self.command, self.path, self.is_output = name, command, path, is_output

    def measure(self, flood):
        """flood: function → messages said. Returns CPU seconds, bytes of the file and how many of the messages are in it."""
        with open(self.path if self.is_output else os.devnull, 'wb') as output:
            process, began = turns.start(self.command, stdout=output)
        time.sleep(recorders.READY)
        before = recorders.cpu_seconds(recorders.descendants(process.pid))
        n = flood()
        wait_until_idle(process.pid)
        if process.poll() is not None:
            raise ChildProcessError(recorders.ended_by_itself(process, process.returncode))
        process.send_signal(signal.SIGINT)
        usage = turns.finish(process, began)
        has = pathlib.Path(self.path).read_bytes().count(MARK.encode())
        size = os.path.getsize(self.path)
        os.unlink(self.path)
        return usage.cpu - before, size, n, has


def wait_until_idle(pid):
    before, since = -1, time.monotonic()
    while time.monotonic() < since + QUIET:
        now = recorders.cpu_seconds(recorders.descendants(pid))
        if now > before + 0.002:
            before, since = now, time.monotonic()
        time.sleep(0.02)


def compare(title, contestants, flood, rounds):
    found = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            quiet_cpu, quiet_size, _, _ = contestant.measure(lambda: 0)
            cpu, size, n, has = contestant.measure(flood)
            found[contestant.name].append({'cpu': (cpu - quiet_cpu) / max(has, 1), 'quiet': quiet_cpu, 'lost': n - has,
                                           'bytes': (size - quiet_size) / max(has, 1)})
    turns.heading(title)
    print('   CPU of the recorder without any message, its end included:')
    turns.show({name: [run['quiet'] for run in runs] for name, runs in found.items()}, 'ms', scale=1e3, digits=1, has_ratios=False)
    print('   CPU of the recorder for each message:')
    turns.show({name: [run['cpu'] for run in runs] for name, runs in found.items()}, 'us', scale=1e6)
    print('   in the file for each message:')
    turns.show({name: [run['bytes'] for run in runs] for name, runs in found.items()}, 'bytes', digits=0, has_ratios=False)
    print('   messages lost:')
    turns.show({name: [run['lost'] for run in runs] for name, runs in found.items()}, '', digits=0, has_ratios=False)


def ours(directory, *words):
    path = f'{directory}/run.syscap'
    return Contestant('ours', [turns.CLI, *NOTHING_ELSE, *words, path], path, is_output=False)


# --- a message bus ---

def field(code, kind, value):
    """A header field: its code, its signature, and a text with its length in front, which has one byte where it is a signature."""
    length = struct.pack('<B' if kind == 'g' else '<I', len(value))
    return bytes([code, 1]) + kind.encode() + b'\0' + length + value.encode() + b'\0'


def bus_message(kind, serial, fields, body=b''):
    """D-Bus Specification, "Message Format"; fields: (code, signature, value)…"""
    listed = b''
    for each in fields:
        listed += bytes(-len(listed) % 8) + field(*each)
    return struct.pack('<cBBBIII', b'l', kind, 1, 1, len(body), serial, len(listed)) + listed + bytes(-len(listed) % 8) + body


def bus_signal(serial):
    body = struct.pack('<I', len(BODY)) + BODY.encode() + b'\0'
    return bus_message(4, serial, [(1, 'o', '/org/example/Flood'), (2, 's', 'org.example.Flood'), (3, 's', MARK), (8, 'g', 's')], body)


class Talker:
    """A connection that says signals."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.split('path=')[1].split(',')[0])
        self.socket.sendall(b'\0AUTH EXTERNAL ' + str(os.geteuid()).encode().hex().encode() + b'\r\n')
        if not self.socket.recv(4096).startswith(b'OK'):
            raise ConnectionError(f'the bus at {address} does not take us')
        hello = bus_message(1, 1, [(1, 'o', '/org/freedesktop/DBus'), (2, 's', 'org.freedesktop.DBus'), (3, 's', 'Hello'),
                                   (6, 's', 'org.freedesktop.DBus')])
        self.socket.sendall(b'BEGIN\r\n' + hello)
        self.socket.recv(4096)

    def flood(self, n):
        for first in range(2, n + 2, 64):
            self.socket.sendall(b''.join(map(bus_signal, range(first, min(first + 64, n + 2)))))
        return n


@contextlib.contextmanager
def bus(directory):
    daemon, _ = turns.start(['dbus-daemon', '--session', '--nofork', '--print-address=1', f'--address=unix:path={directory}/bus'],
                            stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield daemon.stdout.readline().decode().strip()
    finally:
        turns.end_groups([daemon])


def compare_bus(directory, n, rounds):
    if not turns.have('dbus-daemon'):
        return
    with bus(directory) as address:
        talker = Talker(address)
        output = f'{directory}/theirs'
        contestants = [ours(directory, '--no-system-log', '--monitor-bus', address)]
        if turns.have('dbus-monitor'):
            contestants += [Contestant(f'dbus-monitor --{form}', ['dbus-monitor', '--address', address, f'--{form}'], output)
                            for form in ('profile', 'binary')]
        if turns.have('busctl'):
            contestants += [Contestant(f'busctl {verb}', ['busctl', f'--address={address}', verb], output)
                            for verb in ('monitor', 'capture')]
        compare(f'a message bus: {n:,} signals of {len(bus_signal(2))} bytes at once', contestants, lambda: talker.flood(n), rounds)


# --- the journal ---

def journald_runs():
    """In a mount namespace of this process, with a /run of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    for done in (lambda: libc.unshare(CLONE_NEWNS), lambda: libc.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None),
                 lambda: libc.mount(b'none', b'/run', b'tmpfs', 0, b'size=1G')):
        if done() != 0:
            print(f'   no mount namespace can be made here ({os.strerror(ctypes.get_errno())}): the journal is left out')
            return False
    for path in ('/run/systemd/journald.conf.d', '/run/systemd/journal', '/run/log/journal'):
        os.makedirs(path)
    pathlib.Path('/run/systemd/journald.conf.d/bench.conf').write_text(JOURNALD_SETTINGS)
    turns.start([JOURNALD], start_new_session=True)
    for _ in range(200):
        if os.path.exists('/run/systemd/journal/socket'):
            return True
        time.sleep(0.05)
    print('   journald does not start here: the journal is left out')
    return False


def compare_journal(directory, n, rounds):
    if not turns.have('journalctl') or not os.access(JOURNALD, os.X_OK):
        return
    if not journald_runs():
        return
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.connect('/run/systemd/journal/socket')

    def flood():
        for i in range(n):
            journal.send(f'PRIORITY=6\nFLOOD={i}\nMESSAGE={MARK} {BODY}\n'.encode())
        subprocess.run(['journalctl', '--sync'], stderr=subprocess.DEVNULL)
        return n

    journalctl = ['journalctl', '--no-pager', '-f', '-n', '0', '-o']
    contestants = [ours(directory)]
    contestants += [Contestant(f'journalctl -f -o {form}', [*journalctl, form], f'{directory}/theirs') for form in ('export', 'short')]
    compare(f'the journal: {n:,} messages at once', contestants, flood, rounds)


# --- the kernel's log ---

def compare_kernel_log(directory, n, rate, rounds):
    with contextlib.ExitStack() as stack:
        setting = pathlib.Path('/proc/sys/kernel/printk_devkmsg')
        try:
            before = setting.read_text()
            setting.write_text('on\n')
            stack.callback(setting.write_text, before)
            kmsg = stack.enter_context(open('/dev/kmsg', 'wb', buffering=0))
        except OSError as error:
            print(f"   the kernel's log is left out: {error}")
            return

        def flood():
            began = time.monotonic()
            for i in range(n):
                # Without a newline the kernel keeps a message open and would report the last one only with
                # the next.
                kmsg.write(f'<15>{MARK} {i} {BODY}\n'.encode())
                if i % 50 == 0:
                    time.sleep(max(0, began + i / rate - time.monotonic()))
            return n

        contestants = [ours(directory, '--no-system-log', '--kernel-log')]
        if turns.have('dmesg'):
            contestants += [Contestant('dmesg --follow-new', ['dmesg', '--follow-new'], f'{directory}/theirs'),
                            Contestant('dmesg --follow-new --raw', ['dmesg', '--follow-new', '--raw'], f'{directory}/theirs')]
        compare(f"the kernel's log: {n:,} messages, {rate:,} a second", contestants, flood, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--messages', type=int, default=20000, help='of each flood')
    parser.add_argument('--kernel-rate', type=int, default=10000, help="messages a second in the kernel's log, which is a ring and nobody waits for its readers")
    parser.add_argument('--part', choices=('bus', 'journal', 'kernel-log'), action='append', help='this one only; repeatable')
    options = parser.parse_args()
    parts = options.part or ['bus', 'journal', 'kernel-log']
    if os.geteuid() != 0 and parts != ['bus']:
        print("   the journal of a journald of its own and the kernel's log take root")
        parts = [part for part in parts if part == 'bus']

    with turns.scratch() as directory:
        if 'bus' in parts:
            compare_bus(directory, options.messages, options.rounds)
        if 'kernel-log' in parts:
            compare_kernel_log(directory, options.messages, options.kernel_rate, options.rounds)
        if 'journal' in parts:  # last: it takes this process to a mount namespace
            compare_journal(directory, options.messages, options.rounds)


sys.exit(main())
