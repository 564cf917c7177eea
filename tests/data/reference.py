# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a capture holds, from docs/format.md, as plainly as possible and without regard to speed.

Prints the lines that tests/store/dump-store.c prints. Where the program has trees, hashes and
caches, this has lists that are searched from the front.
"""

import hashlib
import struct
import sys

MARKERS = {-32: 4, -128: 2, -2048: 5, -2176: 6, -2560: 7}  # context → AddressKind; others are user
USER, KERNEL, JIT, UNMAPPED = 1, 2, 3, 8
PROCESSLESS = {2, 3, 4, 6}
LEAST = {1: 24, 2: 32, 3: 57, 4: 25, 5: 28, 6: 24, 7: 28, 8: 32, 9: 32, 10: 97, 11: 65, 12: 65, 13: 284, 14: 48,
         15: 34, 16: 32, 17: 28}
COUNTS = {2: (24, 8, 32), 8: (24, 128, 32), 9: (24, 96, 32), 13: (26, 1, 284), 14: (44, 8, 48), 16: (24, 8, 32),
          17: (26, 1, 28)}
DATA = {2, 3, 4, 5, 6, 9, 10, 12, 14, 16, 17}
ABOUT_PROCESS = {2, 3, 4, 6, 10, 12, 14, 15, 16}
STACKED = {2, 14, 16}


class Frame:
    def __init__(self, order, data, offset):
        self.order, self.offset = order, offset
        self.data = data
        self.pid, self.time = self.get("i", 4), self.get("q", 8)
        self.cpu = self.get("h", 2)
        self.type = data[16]
        if self.type == 1 and len(data) == 32 and self.get("I", 20) in (0x53504958, 0x58495053):
            self.type = 18
        elif not 1 <= self.type <= 17 or not self.is_sound():
            self.unsound = 1 <= self.type <= 17
            self.type = 0

    unsound = False

    def get(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)[0]

    def text(self, at, size=65536):
        return bytes(self.data[at:at + size]).split(b"\0")[0]

    def is_sound(self):
        size = len(self.data)
        if size < LEAST[self.type]:
            return False
        if self.type in COUNTS:
            at, item, begin = COUNTS[self.type]
            return begin + self.get("H", at) * item <= size
        if self.type == 7:
            at = 28
            for _ in range(self.get("I", 24)):
                end = self.data.find(b"\0", at + 8)
                if end < 0:
                    return False
                at = end + 1
        if self.type == 15:
            return 34 + self.get("H", 28) + self.get("H", 30) <= size
        return True

    def addresses(self):
        at, count = (48, 44) if self.type == 14 else (32, 24)
        return struct.unpack_from(f"{self.order}{self.get('H', count)}Q", self.data, at)

    def tid(self):
        return self.get("i", 40 if self.type == 14 else 28)


def quote(text):
    return '"' + "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in text) + '"'


class Process:
    def __init__(self, pid):
        self.pid, self.parent, self.threads = pid, -1, {pid} if pid >= 0 else set()
        self.comm = self.command = None
        self.is_derived = self.described = self.named = self.by_kernel = self.forked = self.exited = False
        self.regions, self.gone = [], False  # (start, end, mapping)
        self.complete = self.user = self.kernel = False
        self.maps = []


class Mapping:
    def __init__(self, frame, process):
        self.process, self.time = process, frame.time
        self.start, self.end = frame.get("Q", 24), frame.get("Q", 32)
        self.offset, self.inode = frame.get("Q", 40), frame.get("Q", 48)
        self.path, self.build_id, self.same = frame.text(56), b"", None
        behind = 56 + len(self.path) + 1
        rest = bytes(frame.data[behind:])
        if rest[:1] == b"@" and b"\0" in rest:
            digits = rest[1:].split(b"\0")[0]
            if 2 <= len(digits) <= 128 and len(digits) % 2 == 0 and all(c in b"0123456789abcdefABCDEF" for c in digits):
                self.build_id = digits.lower()


def either(left, right):
    return left == right or not left or not right


def cut(regions, start, end):
    """What is left of `regions` outside of [start, end)."""
    left = []
    for begin, stop, mapping in regions:
        if begin < min(stop, start):
            left.append((begin, min(stop, start), mapping))
        if max(begin, end) < stop:
            left.append((max(begin, end), stop, mapping))
    return left


class Reference:
    def __init__(self, data):
        self.data, self.out = data, []
        self.swapped = not data[5] & 1
        self.order = ">" if self.swapped else "<"
        self.scan()
        self.find_processes()
        self.spans()
        self.fold()

    def emit(self, *words):
        self.out.append(" ".join(str(word) for word in words))

    def scan(self):
        at, self.damaged_at, self.damage, found = 256, 0, False, []
        while at < len(self.data):
            left = len(self.data) - at
            size = struct.unpack_from(self.order + "H", self.data, at)[0] if left >= 24 else 0
            if size < 24 or size % 8 or size > left:
                self.damaged_at, self.damage = at, True
                break
            found.append(Frame(self.order, self.data[at:at + size], at))
            self.damage |= found[-1].unsound
            at += size
        self.frames = sorted(found, key=lambda frame: frame.time)
        marks = {}
        for frame in self.frames:
            if frame.type == 10:
                marks.setdefault(frame.time, []).append(frame)
        for same in marks.values():
            same.sort(key=lambda frame: -frame.get("q", 24))
        self.frames = [marks[frame.time].pop(0) if frame.type == 10 else frame for frame in self.frames]

        begin, end = struct.unpack_from(self.order + "qq", self.data, 72)
        data = [frame for frame in self.frames if frame.type in DATA]
        if data and (begin <= 0 or sum(frame.time < begin for frame in data) > len(data) // 2):
            begin = data[0].time
        ends = [frame.time + (max(frame.get("q", 24), 0) if frame.type == 10 else 0) for frame in data]
        ends = [end_ if end_ < 2**63 else frame.time for end_, frame in zip(ends, data)]
        self.begin, self.end = begin, max(ends) if ends and max(ends) > begin else max(begin, end)

    def of_type(self, kind):
        return [frame for frame in self.frames if frame.type == kind]

    def process(self, pid):
        if pid not in self.processes:
            self.processes[pid] = Process(pid)
        return self.processes[pid]

    def find_processes(self):
        self.processes, self.by_tid = {}, {}
        for frame in self.frames:
            if frame.type in ABOUT_PROCESS and (frame.pid >= 0 or frame.type in STACKED):
                process = self.process(frame.pid)
                if frame.type in STACKED and frame.tid() >= 0 and frame.tid() != frame.pid:
                    process.threads.add(frame.tid())
                    self.by_tid[frame.tid()] = process
        for frame in self.of_type(5):
            child_id = frame.get("i", 24)
            parent = self.processes.get(frame.pid) or self.by_tid.get(frame.pid)
            child = self.processes.get(child_id)
            frame.child = None
            if parent is None and frame.pid < 0:
                continue
            parent = parent or self.process(frame.pid)
            if child is None or child is parent:
                if child_id >= 0:
                    parent.threads.add(child_id)
                    if child is None:
                        self.by_tid[child_id] = parent
                continue
            frame.parent, frame.child, child.parent = parent, child, parent.pid

    def clamp(self, time, low):
        return self.end if time > self.end else max(time, low)

    def spans(self):
        for process in self.processes.values():
            process.start, process.stop = self.begin, self.end
        for frame in self.frames:
            if frame.type == 5 and frame.child:
                child = frame.child
                child.forked = True
                if not child.described or child.exited:
                    child.start = self.clamp(frame.time, self.begin)
                child.exited, child.stop = False, self.end
                if child.comm is None:
                    child.comm, child.command = frame.parent.comm, frame.parent.command
                    child.is_derived = frame.parent.is_derived
            process = self.processes.get(frame.pid)
            if process is None or frame.type not in (3, 4, 6):
                continue
            if frame.type == 6:
                process.exited, process.stop = True, self.clamp(frame.time, process.start)
                continue
            if not process.described and not process.forked:
                process.start = self.clamp(frame.time, self.begin)
            process.described = True
            if frame.type == 4:
                self.name(process, frame.text(24), frame.cpu)
                process.named = True
                process.by_kernel = process.by_kernel or frame.cpu >= 0
        for process in self.processes.values():
            process.stop = max(process.start, process.stop)
            process.comm = process.comm or (b"swapper" if process.pid == 0 else b"Process %d" % process.pid)
            process.command = process.command or process.comm

    @staticmethod
    def name(process, text, cpu):
        if not text:
            return
        if len(text) <= 15 and (process.named or process.forked) and (cpu >= 0 or not process.by_kernel):
            if process.command is None or process.command == process.comm or not process.named:
                process.command = text
            process.comm, process.is_derived = text, False
            return
        program = text.split(b" ")[0] or text
        parts = program.split(b"/")
        base = parts[-1] if parts[-1] or len(parts) == 1 else parts[-2] + b"/"
        process.comm, process.command, process.is_derived = base, text, True

    def find_mapping(self, process, address, now):
        for start, end, mapping in process.regions:
            if start <= address < end:
                return mapping
        for mapping in [] if process.complete else process.maps:  # what comes later, the first of it
            if mapping.index >= now and mapping.start <= address < mapping.end:
                return mapping
        return None

    def map(self, process, mapping):
        for start, end, old in process.regions:
            if (start, end) == (mapping.start, mapping.end) == (old.start, old.end) and old.process is process \
                    and old.path == mapping.path and old.offset == mapping.offset \
                    and either(old.inode, mapping.inode) and either(old.build_id, mapping.build_id):
                old.inode, old.build_id = old.inode or mapping.inode, old.build_id or mapping.build_id
                mapping.same = old
                return
        process.regions = cut(process.regions, mapping.start, mapping.end) + [(mapping.start, mapping.end, mapping)]

    def fold(self):
        self.mappings, self.rows, self.current, self.stacks, self.unmapped = [], [], {}, set(), None
        for frame in self.of_type(3):
            process = self.processes.get(frame.pid)
            mapping = Mapping(frame, process)
            mapping.index = len(self.mappings)
            self.mappings.append(mapping)
            if process:
                process.maps.append(mapping)
        seen = 0
        self.events = {2: [], 14: []}
        for frame in self.frames:
            if frame.type == 3:
                mapping = self.mappings[seen]
                seen += 1
                if mapping.process and mapping.start < mapping.end:
                    self.map(mapping.process, mapping)
            elif frame.type == 5 and frame.child:
                if not frame.child.regions or frame.child.gone:
                    frame.child.complete |= bool(frame.parent.regions or frame.child.regions)
                    frame.child.regions, frame.child.gone = list(frame.parent.regions), False
            elif frame.type == 6 and frame.pid in self.processes:
                self.processes[frame.pid].gone = True
            elif frame.type in self.events and (frame.type == 2 or frame.get("q", 32) > 0):
                self.events[frame.type].append((frame, self.stack(frame, seen)))

    def stack(self, frame, now):
        process, chain, context = self.processes[frame.pid], [], USER
        is_return = frame.type == 14
        for address in frame.addresses():
            if address >= 2**64 - 4095:
                context, is_return = MARKERS.get(address - 2**64, USER), False
                continue
            kind = JIT if context == USER and address >> 32 == 0xE0000000 else context
            if kind == KERNEL:
                process.kernel = True
            else:
                process.user = True
            row = self.row(None if kind in PROCESSLESS else process, kind, address, is_return, now)
            if row != self.unmapped or chain[-1:] != [row]:
                chain.append(row)
            is_return = True
        path = (frame.pid,)
        for row in reversed(chain):
            path += (row,)
            self.stacks.add(path)
        return chain

    def row(self, process, kind, address, is_return, now):
        key = (process, kind, address)
        mapping = self.find_mapping(process, address, now) if kind == USER else None
        if kind == USER and is_return and not mapping and (process.regions or process.maps):
            if self.unmapped is None:
                self.unmapped = len(self.rows)
                self.rows.append(dict(process=None, kind=UNMAPPED, address=0, mapping=None, offset=0, is_return=True))
            return self.unmapped
        offset = (address - mapping.start + mapping.offset) % 2**64 if mapping else 0
        number = self.current.get(key)
        if number is not None:
            old = self.rows[number]
            was = old["mapping"]
            if was is not mapping and not (was and mapping and old["offset"] == offset and was.path == mapping.path
                                           and was.inode == mapping.inode and was.build_id == mapping.build_id):
                number = None
        if number is None:
            number = self.current[key] = len(self.rows)
            self.rows.append(dict(process=process, kind=kind, address=address, mapping=mapping, offset=offset,
                                  is_return=True))
        self.rows[number]["is_return"] &= is_return
        return number

    def show(self, row):
        text = f"{row['kind']}:{row['address']:x}"
        mapping = row["mapping"]
        if mapping:
            mapping = mapping.same or mapping
            text += f"@{mapping.path.decode('latin-1')}+{row['offset']:x}:{mapping.inode}:{mapping.build_id.decode()}"
        return text

    def counters(self):
        definitions, rows, first = [], [], {}
        for order, frame in enumerate(self.frames):
            if frame.type != 8:
                continue
            for i in range(frame.get("H", 24)):
                at = 32 + i * 128
                word = bytes(frame.data[at + 116:at + 120])
                row = dict(pid=frame.pid, id=int.from_bytes(word[:3], "big" if self.swapped else "little"),
                           category=frame.text(at, 32), name=frame.text(at + 32, 32),
                           description=frame.text(at + 64, 52), double=word[3] == 1)
                if row["id"] == 0:
                    continue
                before = [old for _, old in definitions if (old["pid"], old["id"]) == (row["pid"], row["id"])]
                if before and {k: v for k, v in before[-1].items() if k != "values"} == row:
                    continue
                row["values"] = []
                rows.append(row)
                definitions.append((order, row))
        for order, frame in enumerate(self.frames):
            if frame.type != 9:
                continue
            for group in range(frame.get("H", 24)):
                for slot in range(8):
                    at = 32 + group * 96
                    number = frame.get("I", at + slot * 4)
                    mine = [d for d in definitions if d[1]["pid"] == frame.pid and d[1]["id"] == number]
                    past = [row for when, row in mine if when < order]
                    any_pid = [row for _, row in definitions if row["id"] == number]
                    row = past[-1] if past else mine[0][1] if mine else any_pid[0] if any_pid else None
                    if number and row:
                        row["values"].append((frame.time, frame.get("Q", at + 32 + slot * 8)))
        return rows

    def lost(self, counters):
        by_counter = by_log = 0
        for row in counters:
            if (row["category"], row["name"]) == (b"Sampler", b"Lost Samples") and row["values"] and not row["double"]:
                last = row["values"][-1][1]
                by_counter += last if last < 2**63 else 0
        for frame in self.of_type(12):
            words = frame.text(64).split(b" ")
            if frame.text(32, 32) == b"Sampler" and words[0] == b"Lost" and len(words) > 1 and words[1].isdigit():
                by_log += int(words[1])
        return max(by_counter, by_log)

    def print(self):
        counters = self.counters()
        self.emit("range", self.begin, self.end)
        self.emit("swapped", int(self.swapped), "lost", self.lost(counters), "damaged-at", self.damaged_at, "damage",
                  int(self.damage))
        for kind in range(19):
            self.emit("type", kind, len(self.of_type(kind)))
        for frame in self.frames:
            self.emit("frame", frame.offset, frame.time, frame.type, frame.cpu, frame.pid)
        for process in self.processes.values():
            is_kernel = process.pid == 0 or (not process.regions and not process.user
                                             and (process.kernel or process.named))
            comm = process.command if is_kernel and process.is_derived else process.comm
            self.emit("process", process.pid, "parent", process.parent, "span", process.start, process.stop, "exit",
                      int(process.exited), "kernel", int(is_kernel), quote(comm), quote(process.command), "threads",
                      *sorted(process.threads))
        for mapping in self.mappings:
            if not mapping.same:
                self.emit("mapping", mapping.process.pid if mapping.process else 0, mapping.time, f"{mapping.start:x}",
                          f"{mapping.end:x}", f"{mapping.offset:x}", mapping.inode, quote(mapping.path),
                          quote(mapping.build_id))
        for kind, name in (2, "sample"), (14, "allocation"):
            for frame, chain in self.events[kind]:
                weight = ["weight", frame.get("q", 32)] if kind == 14 else []
                self.emit(name, frame.time, frame.pid, frame.tid(), frame.cpu, *weight, "depth", len(chain),
                          *[self.show(self.rows[row]) for row in chain], "in", frame.pid)
        self.emit("stacks", len(self.stacks), "addresses", len(self.rows))
        for row in self.rows:
            self.emit("address", row["process"].pid if row["process"] else 0, self.show(row), "return",
                      int(row["is_return"]))
        for row in counters:
            self.emit("counter", row["pid"], row["id"], int(row["double"]), quote(row["category"]), quote(row["name"]),
                      quote(row["description"]), *[f"{time}={value:x}" for time, value in row["values"]])
        for frame in self.of_type(10):
            self.emit("mark", frame.time, frame.get("q", 24), frame.pid, frame.cpu, quote(frame.text(32, 24)),
                      quote(frame.text(56, 40)), quote(frame.text(96)))
        for frame in self.of_type(11):
            self.emit("metadata", frame.time, frame.pid, quote(frame.text(24, 40)), quote(frame.text(64)))
        self.jit_names()
        self.files()
        return "\n".join(self.out) + "\n"

    def jit_names(self):
        names = {}
        for frame in self.of_type(7):
            at = 28
            for _ in range(frame.get("I", 24)):
                name = frame.text(at + 8)
                names.setdefault(frame.get("Q", at), name)
                at += 8 + len(name) + 1
        for address in sorted(names):
            self.emit("jit", f"{address:x}", quote(names[address]))

    def files(self):
        files, whole = {}, {}
        for frame in self.of_type(13):
            name = frame.text(28, 256)
            pid, data, done = files.get(name, (frame.pid, b"", False))
            if not done:
                bit = 0x80 if self.swapped else 1
                size = frame.get("H", 26)
                files[name] = pid, data + bytes(frame.data[284:284 + size]), bool(frame.data[24] & bit)
        for name, (pid, data, done) in files.items():
            self.emit("file", pid, len(data), "whole", int(done), hashlib.sha256(data).hexdigest(), quote(name))


def describe(data):
    return Reference(bytes(data)).print()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as capture:
        sys.stdout.write(describe(capture.read()))
