# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a capture of marks, counters, logs, messages and allocations from a seed. Computes what views must
show, in the simplest way, from the frames that tests/data/decoder.py finds."""
import collections
import math
import pathlib
import random
import statistics
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
import dbus  # noqa: E402
import decoder  # noqa: E402
import captures  # noqa: E402

BEGIN, END = 1_000_000_000, 3_000_000_000
PIDS = (10, 11, 12)
SEVERITIES = ((4, 'error'), (8, 'critical'), (16, 'warning'), (32, 'message'), (64, 'info'), (128, 'debug'))


def make(seed, big=False):
    r = random.Random(seed)
    c = captures.Capture(time=BEGIN, end_time=END, big=big)
    for pid in PIDS:
        c.process(f'/usr/bin/prog{pid} x', pid=pid, time=BEGIN - 5)
    marks(c, r)
    counters(c, r)
    logs(c, r)
    messages(c, r)
    heap(c, r)
    return c.sample([captures.USER, 0x1000], 10, pid=10, time=BEGIN + 77, cpu=1)


def marks(c, r):
    def nest(pid, begin, end, depth):
        c.mark(f'group {depth}', r.choice(('paint', 'layout', 'a|b <c>')), r.choice(('', 'why, "so"')), end - begin, pid=pid,
               time=begin, cpu=r.choice((-1, 0, 3)))
        at = begin
        while depth < 4 and r.random() < 0.7:
            at += r.randrange(0, max((end - at) // 3, 1))
            stop = at + r.randrange(1, max((end - at) // 2, 2))
            if stop > end:
                break
            nest(pid, at, stop, depth + 1)
            at = stop

    for pid in PIDS:
        at = BEGIN
        for _ in range(20):
            at += r.randrange(1, 30_000_000)
            stop = at + r.randrange(1, 60_000_000)
            nest(pid, at, stop, 0)
            at = stop
    for i in range(100):
        c.mark('clock', 'tick', '', 0, pid=10, time=BEGIN + 16_666_667 * i + r.randrange(-900_000, 900_000))
    c.mark('clock', 'tick', '', -5, pid=11, time=BEGIN + 5)


def counters(c, r):
    c.ctrdef([(1, 'Memory', 'Used', 'all', False), (2, 'CPU Percent', 'Combined', '', True), (3, 'x', 'never set', '', False)],
             time=BEGIN)
    c.ctrdef([(1, 'gtk', 'fps', '', True)], pid=10, time=BEGIN)  # the same id, of another program
    for i in range(50):
        at = BEGIN + 40_000_000 * i + r.randrange(40_000_000)
        c.ctrset([(1, r.randrange(1 << 34)), (2, r.random() * 100)], time=at)
        c.ctrset([(1, float(r.randrange(60)))], pid=10, time=at + 1)


def logs(c, r):
    for _ in range(60):
        c.log(r.choice(('Gtk', 'System Log')), r.choice(('said, so', 'ünï\n<b>', '')), r.choice((0, 4, 10, 16, 32, 64, 128, 256)),
              pid=r.choice(PIDS + (-1,)), time=r.randrange(BEGIN, END))


def messages(c, r):
    at, serial = BEGIN, 0
    for _ in range(150):
        serial, at = serial + 1, at + r.randrange(1, 9_000_000)
        sender, bus, big = r.choice((':1.5', ':1.6')), r.choice((1, 2)), r.random() < 0.2
        member = r.choice(('Get', 'Set', 'List'))
        kind = r.choice(('call', 'call', 'call', 'error', 'silent', 'unanswered', 'signal'))
        if kind == 'signal':
            c.dbus(dbus.message(dbus.SIGNAL, serial, big=big, path='/a', interface='org.a.B', member='Changed', sender=sender), bus,
                   time=at)
            continue
        c.dbus(dbus.message(dbus.CALL, serial, b'x' * 8, flags=int(kind == 'silent'), big=big, path='/a', interface='org.a.B',
                            member=member, destination='org.a', sender=sender, signature='s'), bus, time=at)
        if kind in ('call', 'error'):
            # Another sender's serial is another call.
            answer = dict(reply_serial=serial, destination=sender, sender=':1.2')
            if kind == 'error':
                answer['error_name'] = 'org.a.Failed'
            c.dbus(dbus.message(dbus.ERROR if kind == 'error' else dbus.REPLY, 5000 + serial, big=not big, **answer), bus,
                   time=at + r.randrange(1, 30_000_000))
    c.dbus(dbus.message(dbus.REPLY, 9999, reply_serial=77777, destination=':1.5'), 1, time=at)
    c.dbus(b'', 1, 1, time=at).dbus(b'rubbish!', 3, time=at)


def heap(c, r):
    """Some blocks are freed at once, some later, some never, some twice, some reused without a free that was seen."""
    at, live = BEGIN, []
    for i in range(800):
        at += r.randrange(1, 2_000_000)
        pid, tid = r.choice(((10, 10), (10, 20), (11, 11)))
        if live and r.random() < 0.4:
            block = live.pop() if r.random() < 0.6 else live.pop(r.randrange(len(live)))
            c.allocation(block[1], 0, [], block[2] if r.random() < 0.8 else tid, pid=block[0], time=at)
            continue
        block = pid, 0x10000 + 16 * (i if r.random() < 0.95 else r.randrange(max(i, 1))), tid
        live.append(block)
        c.allocation(block[1], r.randrange(1, 5000), [0x1000 * r.randrange(1, 6), 0x9000], tid, pid=pid, time=at)
    c.allocation(0x5, 0, [], 10, pid=10, time=at)


# --- answers ---

class Answers:
    def __init__(self, data):
        self.capture = decoder.decode(bytes(data))
        self.frames = sorted(self.capture.frames, key=lambda frame: frame['time'])

    def of(self, kind, keep=lambda frame: True):
        return [frame for frame in self.frames if frame['type'] == kind and keep(frame)]

    def marks_by_name(self, keep=lambda frame: True):
        rows, every = collections.defaultdict(list), self.of('mark')
        for mark in self.of('mark', keep):
            rows[mark['group'], mark['name']].append(mark)
        return {name: dict(spread([max(m['duration'], 0) for m in found]), total=sum(max(m['duration'], 0) for m in found),
                           self=sum(own_time(m, every) for m in found), histogram=histogram(found), **period(found))
                for name, found in rows.items()}

    def counters(self, keep=lambda frame: True):
        rows = {}
        for frame in self.of('ctrdef'):
            for counter in frame['counters']:
                rows[frame['pid'], counter['id']] = counter, []
        for frame in self.of('ctrset', keep):
            for group in frame['values'].groups:
                for number, raw in group:
                    if (frame['pid'], number) not in rows:
                        break  # 3.46 leaves in empty slots what was in memory
                    counter, values = rows[frame['pid'], number]
                    values.append((frame['time'], as_number(raw, counter['kind'])))
        return {key: (counter, values) for key, (counter, values) in rows.items() if values}

    def calls(self, keep=lambda frame: True):
        """(call, header, answer frame, answer header) of each, the last two None where there is no answer."""
        found, every = [], [(f, dbus.header(f['message'])) for f in self.of('dbus')]
        for frame, head in every:
            if not head or head['kind'] != dbus.CALL or not keep(frame):
                continue
            answers = [(f, h) for f, h in every if h and h['kind'] in (dbus.REPLY, dbus.ERROR) and f['bus'] == frame['bus']
                       and h['reply_serial'] == head['serial'] and h['destination'] == head['sender'] and f['time'] >= frame['time']]
            found.append((frame, head, *(answers[0] if answers else (None, None))))
        return found

    def allocations(self, question='all', until=math.inf):
        """Returns the frames for which the function returns true."""
        events = [f for f in self.of('allocation') if f['time'] < until]
        if question == 'all':
            return [f for f in events if f['size'] > 0]
        found = []
        for i, event in enumerate(events):
            if event['size'] <= 0:
                continue
            later = [f for f in events[i + 1:] if f['pid'] == event['pid'] and f['address'] == event['address']]
            next_of_thread = next((f for f in events[i + 1:] if f['tid'] == event['tid']), None)
            if question == 'live' and not later:
                found.append(event)
            if question == 'temporary' and later and later[0]['size'] <= 0 and later[0] is next_of_thread:
                found.append(event)
        return found


def functions(frames, weight=lambda frame: frame['size']):
    """{innermost address: self}, {address: total}"""
    self, total = collections.Counter(), collections.Counter()
    for frame in frames:
        self[frame['addrs'][0]] += weight(frame)
        for address in set(frame['addrs']):
            total[address] += weight(frame)
    return self, total


def spread(values):
    ordered = sorted(values)
    nearest = lambda percent: ordered[max(math.ceil(len(ordered) * percent / 100) - 1, 0)]
    return dict(count=len(ordered), min=ordered[0], max=ordered[-1], median=int(statistics.median_low(ordered)
                + statistics.median_high(ordered)) // 2, mean=sum(ordered) // len(ordered), p95=nearest(95), p99=nearest(99))


def own_time(mark, every):
    """Returns the nanoseconds that no mark within it covers, by union."""
    begin, end = mark['time'], mark['time'] + max(mark['duration'], 0)
    # Of two equal ones, the later one is within the other.
    inner = sorted((m['time'], m['time'] + m['duration']) for m in every
                   if m['pid'] == mark['pid'] and m['duration'] > 0 and begin <= m['time'] and m['time'] + m['duration'] <= end
                   and ((m['time'], m['duration']) != (begin, mark['duration']) or m['at'] > mark['at']))
    covered, until = 0, begin
    for start, stop in inner:
        covered += max(0, stop - max(start, until))
        until = max(until, stop)
    return end - begin - covered


def histogram(found):
    counts = collections.Counter(max(mark['duration'], 1).bit_length() - 1 for mark in found)
    return [counts[i] for i in range(max(counts) + 1)]


def period(found):
    times = collections.defaultdict(list)
    for mark in found:
        times[mark['pid']].append(mark['time'])
    intervals = [b - a for of_pid in times.values() for a, b in zip(of_pid, of_pid[1:])]
    if len(intervals) < 3:
        return dict(interval=None, jitter=None, worst=None)
    middle = spread(intervals)['median']
    off = spread([abs(interval - middle) for interval in intervals])
    if middle == 0 or off['median'] > middle // 4:
        return dict(interval=None, jitter=None, worst=None)
    return dict(interval=middle, jitter=off['p95'], worst=off['max'])


def as_number(raw, kind):
    data = raw.to_bytes(8, 'little')
    return struct.unpack('<d' if kind == 1 else '<q', data)[0]
