# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds and reads D-Bus messages in wire format, from the D-Bus Specification ("Message Protocol").

message(...) -> bytes; header(bytes) -> dict, or None if the header is incomplete.
"""
import struct

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
FIELDS = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "error_name": (4, "s"), "reply_serial": (5, "u"),
          "destination": (6, "s"), "sender": (7, "s"), "signature": (8, "g"), "unix_fds": (9, "u")}
NAMES = {code: (name, kind) for name, (code, kind) in FIELDS.items()}


def message(kind, serial, body=b"", flags=0, big=False, **fields):
    order = ">" if big else "<"
    array = b""
    for name, value in fields.items():
        code, form = FIELDS[name]
        array += bytes(-len(array) % 8) + bytes([code, 1]) + form.encode() + b"\0"
        if form == "u":
            array += bytes(-len(array) % 4) + struct.pack(order + "I", value)
        elif form == "g":
            array += bytes([len(value)]) + value.encode() + b"\0"
        else:
            array += bytes(-len(array) % 4) + struct.pack(order + "I", len(value.encode())) + value.encode() + b"\0"
    head = (b"B" if big else b"l") + bytes([kind, flags, 1]) + struct.pack(order + "III", len(body), serial, len(array)) + array
    return head + bytes(-len(head) % 8) + body


def header(data):
    """Of the fields, those that are texts as bytes."""
    if len(data) < 16 or data[:1] not in (b"l", b"B"):
        return None
    order = "<" if data[:1] == b"l" else ">"
    body_size, serial, size = struct.unpack_from(order + "III", data, 4)
    found = {name: b"" for name, (_, kind) in FIELDS.items() if kind != "u"}
    found.update(big=order == ">", kind=data[1], no_reply=bool(data[2] & 1), serial=serial, reply_serial=0)
    at, end = 16, 16 + size
    if end > len(data):
        return None
    try:
        while at < end:
            at += -at % 8
            code, length = data[at], data[at + 1]
            kind = data[at + 2:at + 2 + length].split(b"\0")[0].decode("latin-1")
            at += 2 + length + 1
            if kind in ("s", "o", "u"):
                at += -at % 4
                if at + 4 > end:
                    return None
                value = struct.unpack_from(order + "I", data, at)[0]
                at += 4
            elif kind == "g":
                value = data[at]
                at += 1
            else:
                return None
            if kind != "u":
                start, at = at, at + value + 1
                value = data[start:start + value].split(b"\0")[0]
            if at > end:
                return None
            # A text of one kind where the other belongs is kept; a number is only that of the call.
            name, _ = NAMES.get(code, (None, None))
            if name == "reply_serial":
                found[name] = value if kind == "u" else 0
            elif name in found and name not in ("big", "kind"):
                found[name] = value if kind != "u" else b""
    except IndexError:
        return None
    if at != end:
        return None
    at += -at % 8
    found["body"] = data[at:at + body_size]
    return found
