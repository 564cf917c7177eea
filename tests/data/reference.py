# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the contents of a capture, computed from docs/format.md in the simplest way and without regard to
speed.

Prints the same lines as tests/store/dump-store.c. It searches lists from the front, where the C program
has trees, hashes and caches.
"""

import hashlib
import itertools
import sys

import dbus
import decoder

MARKERS = {-32: 4, -128: 2, -2048: 5, -2176: 6, -2560: 7}  # context → AddressKind; others are user
USER, KERNEL, JIT, UNMAPPED = 1, 2, 3, 8
PROCESSLESS = {2, 3, 4, 6}
DATA = {2, 3, 4, 5, 6, 9, 10, 12, 14, 16, 17}
ABOUT_PROCESS = {2, 3, 4, 6, 10, 12, 14, 15, 16}
STACKED = {2, 14, 16}


def meant(groups, own):
    """A frame that defines counters with these IDs sets no others: the values after the first one with ID 0
    are undefined memory."""
    for group in groups:
        yield from itertools.takewhile(lambda slot: not own or slot[0] in own, group)


class Frame:
    """The frames from the decoder, with types as numbers: 0 if unknown or damaged, 18 for the index. Texts
    are bytes again."""

    def __init__(self, found):
        self.found, self.offset = found, found["at"]
        self.pid, self.time, self.cpu = found["pid"], found["time"], found["cpu"]
        self.type = 18 if found["type"] == "frame-index" else decoder.NUMBERS.get(found["type"], 0)

    def __getitem__(self, member):
        return as_bytes(self.found[member])


def as_bytes(value):
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


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
        self.start, self.end, self.offset, self.inode = (frame[member] for member in ("start", "end", "offset", "inode"))
        self.path, self.build_id, self.same = frame["path"], frame["build_id"].lower(), None


def either(left, right):
    return left == right or not left or not right


def cut(regions, start, end):
    """Returns the parts of `regions` outside of [start, end)."""
    left = []
    for begin, stop, mapping in regions:
        if begin < min(stop, start):
            left.append((begin, min(stop, start), mapping))
        if max(begin, end) < stop:
            left.append((max(begin, end), stop, mapping))
    return left


class Reference:
    """`is_big_endian`: of the machine whose store this is."""

    def __init__(self, data, is_big_endian=False):
        self.capture, self.out = decoder.decode(data, keep_damaged=True), []
        self.swapped = self.capture.big_endian != is_big_endian
        self.size = len(data)
        self.scan()
        self.find_processes()
        self.spans()
        self.names_of_jit = {address for frame in self.of_type(7) for address, _ in frame["names"]}
        self.fold()

    def emit(self, *words):
        self.out.append(" ".join(str(word) for word in words))

    def scan(self):
        self.damaged_at = self.size - self.capture.rest if self.capture.rest else 0
        self.damage = self.capture.rest > 0 or bool(self.capture.of("damaged"))
        self.frames = sorted(map(Frame, self.capture.frames), key=lambda frame: frame.time)
        marks = {}
        for frame in self.frames:
            if frame.type == 10:
                marks.setdefault(frame.time, []).append(frame)
        for same in marks.values():
            same.sort(key=lambda frame: -frame["duration"])
        self.frames = [marks[frame.time].pop(0) if frame.type == 10 else frame for frame in self.frames]

        begin, end = self.capture.time, self.capture.end_time
        data = [frame for frame in self.frames if frame.type in DATA]
        if data and (begin <= 0 or sum(frame.time < begin for frame in data) > len(data) // 2):
            begin = data[0].time
        ends = [frame.time + (max(frame["duration"], 0) if frame.type == 10 else 0) for frame in data]
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
                if frame.type in STACKED and frame["tid"] >= 0 and frame["tid"] != frame.pid:
                    process.threads.add(frame["tid"])
                    self.by_tid[frame["tid"]] = process
        for frame in self.of_type(5):
            child_id = frame["child_pid"]
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
                self.name(process, frame["command_line"], frame.cpu)
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
        is_repeated = process.named and cpu >= 0 and process.command == text
        if is_repeated or (len(text) <= 15 and (process.named or process.forked) and (cpu >= 0 or not process.by_kernel)):
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
        self.events = {2: [], 14: [], 16: []}
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
            elif frame.type in self.events:
                frame.chain = self.stack(frame, seen)
                if frame.type != 14 or frame["size"] > 0:
                    self.events[frame.type].append((frame, frame.chain))

    def stack(self, frame, now):
        process, chain, context = self.processes[frame.pid], [], USER
        is_return = frame.type != 2
        for address in frame["addrs"]:
            if address >= 2**64 - 4095:
                context, is_return = MARKERS.get(address - 2**64, USER), False
                continue
            is_jit = address >> 32 == 0xE0000000 or (address >> 28 == 0xE and address in self.names_of_jit)
            kind = JIT if context == USER and is_jit else context
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
            for counter in frame["counters"]:
                row = dict(pid=frame.pid, id=counter["id"], category=as_bytes(counter["category"]), name=as_bytes(counter["name"]),
                           description=as_bytes(counter["description"]), double=counter["kind"] == 1)
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
            own = {row["id"] for _, row in definitions if row["pid"] == frame.pid >= 0}
            for number, value in meant(frame["values"].groups, own):
                mine = [d for d in definitions if d[1]["pid"] == frame.pid and d[1]["id"] == number]
                past = [row for when, row in mine if when < order]
                any_pid = [row for _, row in definitions if row["id"] == number]
                row = past[-1] if past else mine[0][1] if mine else any_pid[0] if any_pid else None
                if row:
                    row["values"].append((frame.time, value))
        return rows

    def lost(self, counters):
        """All, samples, records."""
        kinds = [b"Lost Samples", b"Lost Records", b"Lost Others"]
        by_counter, by_log = [0] * 3, [0] * 3
        for row in counters:
            if row["category"] == b"Sampler" and row["name"] in kinds and row["values"] and not row["double"]:
                last = row["values"][-1][1]
                by_counter[kinds.index(row["name"])] += last if last < 2**63 else 0
        for frame in self.of_type(12):
            words = frame["message"].split(b" ")
            if frame["domain"] == b"Sampler" and words[0] == b"Lost" and len(words) > 1 and words[1].isdigit():
                noun = words[2] if len(words) > 2 else b""
                by_log[1 if noun.startswith(b"records") else 2 if noun.startswith(b"other") else 0] += int(words[1])
        each = [max(pair) for pair in zip(by_counter, by_log)]
        return sum(each), each[0], each[1]

    def print(self):
        counters = self.counters()
        self.emit("range", self.begin, self.end)
        self.emit("swapped", int(self.swapped), "lost", *self.lost(counters), "damaged-at", self.damaged_at, "damage",
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
        for kind, name in (2, "sample"), (14, "allocation"), (16, "trace"):
            for frame, chain in self.events[kind]:
                weight = ["weight", frame["size"]] if kind == 14 else []
                self.emit(name, frame.time, frame.pid, frame["tid"], frame.cpu, *weight, "depth", len(chain),
                          *[self.show(self.rows[row]) for row in chain], "in", frame.pid)
        self.emit("stacks", len(self.stacks), "addresses", len(self.rows))
        for row in self.rows:
            self.emit("address", row["process"].pid if row["process"] else 0, self.show(row), "return",
                      int(row["is_return"]))
        for row in counters:
            self.emit("counter", row["pid"], row["id"], int(row["double"]), quote(row["category"]), quote(row["name"]),
                      quote(row["description"]), *[f"{time}={value:x}" for time, value in row["values"]])
        for frame in self.of_type(10):
            self.emit("mark", frame.time, frame["duration"], frame.pid, frame.cpu, quote(frame["group"]),
                      quote(frame["name"]), quote(frame["message"]))
        for frame in self.of_type(12):
            self.emit("log", frame.time, frame.pid, frame.cpu, frame["severity"], quote(frame["domain"]), quote(frame["message"]))
        for frame in self.of_type(11):
            self.emit("metadata", frame.time, frame.pid, quote(frame["id"]), quote(frame["value"]))
        self.jit_names()
        self.dbus()
        self.heap()
        self.files()
        return "\n".join(self.out) + "\n"

    def dbus(self):
        for frame in self.of_type(17):
            words = ["dbus", frame.time, frame.pid, frame.cpu, "bus", frame["bus"], "size", len(frame["message"]), "too-large",
                     frame["flags"] & 1]
            head = dbus.header(frame["message"])
            if head:
                words += ["big", int(head["big"]), "type", head["kind"], "no-reply", int(head["no_reply"]), "serial",
                          head["serial"], "of", head["reply_serial"]]
                words += [quote(head[name]) for name in ("path", "interface", "member", "error_name", "destination", "sender",
                                                         "signature")]
                words += ["body", len(head["body"]), hashlib.sha256(head["body"]).hexdigest()]
            self.emit(*words)

    def heap(self):
        row = 0
        for frame in self.of_type(14):
            words = ["heap", f"{frame['address']:x}", frame["size"], frame["tid"]]
            if frame["size"] > 0:
                words += ["row", row]
                row += 1
            self.emit(*words, "depth", len(frame.chain), *[self.show(self.rows[at]) for at in frame.chain], "in", frame.pid)

    def jit_names(self):
        names = {}
        for frame in self.of_type(7):
            for address, name in frame["names"]:
                names.setdefault(address, as_bytes(name))
        for address in sorted(names):
            self.emit("jit", f"{address:x}", quote(names[address]))

    def files(self):
        files = {}
        for frame in self.of_type(13):
            name = frame["path"]
            pid, data, done = files.get(name, (frame.pid, b"", False))
            if not done:
                files[name] = pid, data + frame["data"], frame["is_last"]
        for name, (pid, data, done) in files.items():
            self.emit("file", pid, len(data), "whole", int(done), hashlib.sha256(data).hexdigest(), quote(name))


def describe(data, is_big_endian=False):
    return Reference(bytes(data), is_big_endian).print()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as capture:
        sys.stdout.write(describe(capture.read()))
