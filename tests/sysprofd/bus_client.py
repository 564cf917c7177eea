# SPDX-License-Identifier: GPL-3.0-or-later
"""A D-Bus client that can send what others would not: any types, descriptors, and messages without waiting for replies."""

import array
import os
import re
import socket
import struct

ALIGNMENT = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "s": 4, "o": 4, "a": 4, "h": 4,
             "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}
NUMBERS = {"y": "B", "n": "h", "q": "H", "b": "I", "i": "i", "u": "I", "h": "I", "x": "q", "t": "Q", "d": "d"}


def split(signature):
    """Returns the complete types of a signature."""
    types, at = [], 0
    while at < len(signature):
        start = at
        while signature[at] == "a":
            at += 1
        depth = 0
        while True:
            depth += (signature[at] in "({") - (signature[at] in ")}")
            at += 1
            if depth == 0:
                break
        types.append(signature[start:at])
    return types


class Writer:
    def __init__(self):
        self.bytes = bytearray()

    def align(self, n):
        self.bytes += bytes(-len(self.bytes) % n)

    def write(self, kind, value):
        self.align(ALIGNMENT[kind[0]])
        if kind in NUMBERS:
            self.bytes += struct.pack("<" + NUMBERS[kind], value)
        elif kind in "so":
            data = value if isinstance(value, bytes) else value.encode()
            self.bytes += struct.pack("<I", len(data)) + data + b"\0"
        elif kind == "g":
            self.bytes += bytes([len(value)]) + value.encode() + b"\0"
        elif kind == "v":
            self.write("g", value[0])
            self.write(*value)
        elif kind[0] == "a":
            self.write_array(kind[1:], value)
        else:
            for part, member in zip(split(kind[1:-1]), value):
                self.write(part, member)

    def write_array(self, element, values):
        at = len(self.bytes)
        self.bytes += bytes(4)
        self.align(ALIGNMENT[element[0]])
        start = len(self.bytes)
        for value in values.items() if isinstance(values, dict) else values:
            self.write(element, value)
        struct.pack_into("<I", self.bytes, at, len(self.bytes) - start)


class Reader:
    def __init__(self, data):
        self.bytes = data
        self.at = 0

    def align(self, n):
        self.at += -self.at % n

    def take(self, n):
        self.at += n
        return self.bytes[self.at - n:self.at]

    def read(self, kind):
        self.align(ALIGNMENT[kind[0]])
        if kind in NUMBERS:
            form = "<" + NUMBERS[kind]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if kind in "so":
            return self.take(self.read("u") + 1)[:-1].decode()
        if kind == "g":
            return self.take(self.take(1)[0] + 1)[:-1].decode()
        if kind == "v":
            return self.read(self.read("g"))
        if kind[0] == "a":
            size = self.read("u")
            self.align(ALIGNMENT[kind[1]])
            if kind == "ay":
                return bytes(self.take(size))
            end, values = self.at + size, []
            while self.at < end:
                values.append(self.read(kind[1:]))
            return dict(values) if kind[1] == "{" else values
        return tuple(self.read(part) for part in split(kind[1:-1]))


class Message:
    def __init__(self, data, fds):
        self.type = data[1]
        self.serial = struct.unpack_from("<I", data, 8)[0]
        reader = Reader(data)
        reader.at = 12
        fields = dict(reader.read("a(yv)"))
        self.path, self.interface, self.member = (fields.get(code) for code in (1, 2, 3))
        self.error, self.reply_serial, self.destination, self.sender = fields.get(4), fields.get(5), fields.get(6), fields.get(7)
        self.signature = fields.get(8, "")
        self.fds = fds
        reader.align(8)
        body = Reader(data[reader.at:])
        self.body = [body.read(kind) for kind in split(self.signature)]

    def close(self):
        while self.fds:
            os.close(self.fds.pop())


class Client:
    """`user`: the user ID under which this process connects; its own is kept."""

    def __init__(self, address, user=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.serial = 0
        self.name = None
        path = re.fullmatch("unix:path=([^,]*).*", address)[1]
        before = os.geteuid()
        if user is not None:
            os.seteuid(user)
        try:
            self.socket.connect(path)
            self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
        finally:
            os.seteuid(before)
        lines = b""
        while lines.count(b"\n") < 2:
            lines += self.socket.recv(1)
        self.name = self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello").body[0]

    def send(self, destination, path, interface, member, signature="", body=(), fds=(), **more):
        """Returns the serial."""
        self.serial += 1
        content = more.get("content")
        if content is None:
            writer = Writer()
            for kind, value in zip(split(signature), body):
                writer.write(kind, value)
            content = writer.bytes
        fields = [(1, ("o", path)), (2, ("s", interface)), (3, ("s", member)), (5, ("u", more.get("reply_serial"))),
                  (6, ("s", destination)), (8, ("g", signature or None)), (9, ("u", len(fds) or None))]
        header = Writer()
        header.bytes += struct.pack("<cBBBII", b"l", more.get("type", 1), more.get("flags", 0), 1, len(content), self.serial)
        header.write("a(yv)", [field for field in fields if field[1][1] is not None])
        header.align(8)
        data = bytes(header.bytes) + bytes(content)
        sent = self.socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
        self.socket.sendall(data[sent:])
        return self.serial

    def receive(self):
        """Returns the next message, with its descriptors. Answers Ping, as each D-Bus library does."""
        message = self.receive_any()
        while message.member == "Ping" and message.destination == self.name:
            self.send(message.sender, None, None, None, type=2, reply_serial=message.serial)
            message = self.receive_any()
        return message

    def receive_any(self):
        data, fds = b"", array.array("i")
        size = 16
        while len(data) < size:
            part, control, _flags, _address = self.socket.recvmsg(size - len(data), socket.CMSG_SPACE(64 * 4))
            if not part:
                raise EOFError("the bus has closed the connection")
            for _level, _type, passed in control:
                fds.frombytes(passed)
            data += part
            if len(data) == 16:
                body, fields = struct.unpack_from("<I", data, 4)[0], struct.unpack_from("<I", data, 12)[0]
                size = 16 + fields + -fields % 8 + body
        return Message(data, list(fds))

    def wait(self, serial):
        while True:
            message = self.receive()
            if message.reply_serial == serial and message.type in (2, 3):
                return message
            message.close()

    def call(self, *arguments, **more):
        return self.wait(self.send(*arguments, **more))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
