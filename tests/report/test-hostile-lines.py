#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debug information that no compiler writes: what is above a limit is left out and told, and nothing goes round for ever.

usage: test-hostile-lines.py SYSPROF-REPORT DIRECTORY-OF-SOURCES
"""

import pathlib
import re
import struct
import subprocess
import sys
import unittest
import zlib

sys.dont_write_bytecode = True
from chains import REPORT, Case, as_json, run  # noqa: E402

LIMIT = 512  # inlined functions around one address, that one included
BODY = 64  # bytes of the function

# Abbreviations: 1 the unit, 2 a function with code, 3 one without, 4 an inlined one that contains others, 5
# one without code with its name in another entry, 6 an inlined one with its origin in the supplement.
ABBREVIATIONS = """
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .byte 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .byte 3, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0
    .byte 4, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0f, 0, 0
    .byte 5, 0x2e, 0, 0x31, 0x13, 0x20, 0x0b, 0, 0
    .byte 6, 0x1d, 1
    .uleb128 0x31, 0x1f20
    .byte 0x11, 0x01, 0x12, 0x07, 0x59, 0x0f, 0, 0
    .byte 0
"""


def unit(entries):
    return f"""
    .section .debug_info,"",@progbits
unit:
    .long unit_end - unit_begin
unit_begin:
    .short 4
    .long 0
    .byte 8
    .byte 1
    .asciz "hostile.c"
    .quad outer
    .quad {BODY}
{entries}
    .byte 0
unit_end:
"""


def program(entries):
    return f"""
    .globl _start
    .text
    .type outer, @function
outer:
    .skip {BODY}, 0x90
    .size outer, {BODY}
    .type _start, @function
_start:
    call outer
    .skip 8, 0x90
    .size _start, . - _start
    .section .note.GNU-stack,"",@progbits
{ABBREVIATIONS}{unit(entries)}"""


def inlined(number, origin):
    """`origin`: a label, or of 6 an offset in the supplement."""
    return f"    .byte {number}\n    .long {origin}{' - unit' if number == 4 else ''}\n    .quad outer\n    .quad {BODY}\n    .byte 7\n"


OUTER = f'    .byte 2\n    .asciz "outer"\n    .quad outer\n    .quad {BODY}\n'
LEAF = 'leaf:\n    .byte 3\n    .asciz "leaf"\n    .byte 1\n'


def skeletons(n, directory):
    """As many functions, each with a unit of its own in u0.dwo, u1.dwo, …"""
    code = "".join(f"    .type f{i}, @function\nf{i}:\n    .skip 8, 0x90\n    .size f{i}, 8\n" for i in range(n))
    units = "".join(f"""
    .long s{i}_end - s{i}
s{i}:
    .short 5
    .byte 4, 8
    .long 0
    .quad {SPLIT_ID + i}
    .byte 1
    .quad f{i}
    .quad 8
    .asciz "{directory}"
    .asciz "u{i}.dwo"
s{i}_end:
""" for i in range(n))
    return f"""
    .globl _start
    .text
{code}
    .type _start, @function
_start:
    call f0
    .skip 8, 0x90
    .size _start, . - _start
    .section .note.GNU-stack,"",@progbits
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x4a, 0, 0x11, 0x01, 0x12, 0x07, 0x1b, 0x08, 0x76, 0x08, 0, 0, 0
    .section .debug_info,"",@progbits
{units}"""


SPLIT_ID = 0x1122334455660000
SPLIT_UNIT = f"""
    .section .debug_abbrev.dwo,"e",@progbits
    .byte 1, 0x11, 0, 0x03, 0x08, 0, 0, 0
    .section .debug_info.dwo,"e",@progbits
    .long unit_end - unit
unit:
    .short 5
    .byte 5, 8
    .long 0
    .quad {SPLIT_ID}
    .byte 1
    .asciz "u.c"
unit_end:
"""


class HostileLines(Case):
    def assemble(self, text, name="program"):
        source, path = self.at / f"{name}.s", str(self.at / name)
        source.write_text(text)
        run("cc", "-nostdlib", "-static", "-Wl,--build-id", "-o", path, str(source))
        return path

    def address_of(self, path):
        return next(int(line.split()[0], 16) for line in run("nm", path).splitlines() if line.endswith(" outer"))

    def stack_in(self, path):
        """Names and kinds, innermost first, and the report's messages about missing lines."""
        capture = self.capture_of(path, [self.address_of(path) + 4])
        stack = as_json("samples", capture)["rows"][0]["stack"]
        told = [row["reason"] for row in as_json("quality", capture)["rows"] if row["reason"].startswith("inlined functions missing")]
        return [(entry["symbol"], entry["kind"]) for entry in stack], told

    def test_nested(self):
        for n in (LIMIT - 2, LIMIT - 1, LIMIT, 2000, 100000):
            with self.subTest(n):
                nested = "".join(inlined(4, "leaf") for _ in range(n)) + f"    .skip {n}\n"
                stack, told = self.stack_in(self.assemble(program(OUTER + nested + "    .byte 0\n" + LEAF)))
                self.assertEqual(stack, [("leaf", "inline")] * min(n, LIMIT - 1) + [("outer", "user"), ("_start", "user")])
                self.assertEqual(len(told), int(n >= LIMIT), told)
                for line in told:
                    self.assertIn("exceeds a limit", line)

    def test_split_files(self):
        """Units beyond the number of open files are not reported as missing."""
        (self.at / "u.s").write_text(SPLIT_UNIT)
        run("cc", "-c", "-o", str(self.at / "u.o"), str(self.at / "u.s"))
        content = (self.at / "u.o").read_bytes()
        for n, reasons in ((LIMIT, []), (LIMIT + 1, ["exceeds a limit"]), (3 * LIMIT, ["exceeds a limit"])):
            with self.subTest(n):
                path = self.assemble(skeletons(n, self.at))
                for i in range(n):
                    (self.at / f"u{i}.dwo").write_bytes(content.replace(struct.pack("<Q", SPLIT_ID), struct.pack("<Q", SPLIT_ID + i)))
                start = min(int(line.split()[0], 16) for line in run("nm", path).splitlines() if line.endswith(" f0"))
                capture = self.capture_of(path, [start + 8 * i for i in range(n)])
                told = [row["reason"] for row in as_json("quality", capture)["rows"] if row["reason"].startswith("inlined functions missing")]
                self.assertEqual(len(told), len(reasons), told)
                for line, reason in zip(told, reasons):
                    self.assertIn(reason, line)

    def test_more_sources_than_are_looked_for(self):
        most = 4096
        n = most + 3
        files = "".join(f'    .file {i} "{self.at}/s{i}.c"\n' for i in range(1, n + 1))
        lines = "".join(f"    .loc {i} 1\n    nop\n" for i in range(1, n + 1))
        path = self.at / "many"
        (self.at / "many.s").write_text(f"    .globl _start\n    .text\n{files}    .type _start, @function\n_start:\n{lines}"
                                        f'    .size _start, . - _start\n    .section .note.GNU-stack,"",@progbits\n')
        run("cc", "-g", "-nostdlib", "-static", "-Wl,--build-id", "-o", str(path), str(self.at / "many.s"))
        start = next(int(line.split()[0], 16) for line in run("nm", str(path)).splitlines() if line.endswith(" _start"))
        text = run(REPORT, "source", "--focus", "_start", "--limit", "0", self.capture_of(str(path), [start + i for i in range(n)]))
        told = re.search(r"(\d+) sources were skipped", text)
        self.assertTrue(told, text[-1000:])
        self.assertGreaterEqual(int(told[1]), n - most)  # more where looking for the others takes too long

    def test_origins_that_go_round(self):
        """An inlined function without a name is not shown; its callees and callers are."""
        for entries in ("a:\n    .byte 5\n    .long a - unit\n    .byte 1\n",
                        "a:\n    .byte 5\n    .long b - unit\n    .byte 1\nb:\n    .byte 5\n    .long a - unit\n    .byte 1\n",
                        "a:\n    .byte 5\n    .long unit_end - unit + 4096\n    .byte 1\n"):
            with self.subTest(entries):
                nested = inlined(4, "a") + inlined(4, "leaf") + "    .byte 0, 0\n"
                stack, _ = self.stack_in(self.assemble(program(OUTER + nested + "    .byte 0\n" + LEAF + entries)))
                self.assertEqual(stack, [("leaf", "inline"), ("outer", "user"), ("_start", "user")])

    def test_origins_that_go_round_in_a_supplement(self):
        entries = "a:\n    .byte 5\n    .long b - unit\n    .byte 1\nb:\n    .byte 5\n    .long a - unit\n    .byte 1\n"
        supplement = self.assemble(program(OUTER + "    .byte 0\n" + LEAF + entries), "supplement")
        offsets = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", supplement).splitlines()}
        run("objcopy", "-O", "binary", "--only-section=.note.gnu.build-id", supplement, str(self.at / "id"))
        link = "".join(f"    .byte {byte}\n" for byte in b"supplement\0" + (self.at / "id").read_bytes()[16:])
        for origin, named in (("leaf", True), ("a", False)):
            nested = inlined(6, offsets[origin]) + inlined(4, "leaf") + "    .byte 0, 0\n"
            text = program(OUTER + nested + "    .byte 0\n" + LEAF) + f'    .section .gnu_debugaltlink,"",@progbits\n{link}'
            stack, told = self.stack_in(self.assemble(text))
            self.assertEqual([name for name, _ in stack], ["leaf"] * (1 + named) + ["outer", "_start"])
            self.assertEqual(told, [])

    def test_long_chain_of_origins(self):
        chain = "".join(f"a{i}:\n    .byte 5\n    .long a{i + 1} - unit\n    .byte 1\n" for i in range(40))
        chain += 'a40:\n    .byte 3\n    .asciz "far"\n    .byte 1\n'
        for i, named in ((30, True), (10, False)):
            nested = inlined(4, f"a{i}") + "    .byte 0\n"
            stack, _ = self.stack_in(self.assemble(program(OUTER + nested + "    .byte 0\n" + chain)))
            self.assertEqual([name for name, _ in stack], ["far"] * named + ["outer", "_start"])

    def test_compressed_sections(self):
        """A section with an impossible size, or one that is compressed to less than a thousandth."""
        path = self.assemble(program(OUTER + inlined(4, "leaf") + "    .byte 0, 0\n" + LEAF))
        for kind, size, content in (("huge", 1 << 40, b"x" * 100000), ("most", (1 << 64) - 1, b"x" * 100000),
                                    ("packed", 1 << 26, bytes(1 << 26)), ("beyond", (1 << 30) + 1, b"x" * 4000000)):
            with self.subTest(kind):
                packed = zlib.compress(content, 9) if kind in ("huge", "packed") else content
                (self.at / "section").write_bytes(struct.pack("<IIQQ", 1, 0, size, 1) + packed)
                bomb = str(self.at / f"bomb-{kind}")
                run("objcopy", f"--update-section=.debug_info={self.at / 'section'}", path, bomb)
                self.set_compressed(pathlib.Path(bomb))
                stack, told = self.stack_in(bomb)
                self.assertEqual(stack, [("outer", "user"), ("_start", "user")])
                self.assertEqual(len(told), 1)
                self.assertIn("exceeds a limit", told[0])

    @staticmethod
    def set_compressed(path):
        """Sets SHF_COMPRESSED, for which objcopy has no option."""
        data = bytearray(path.read_bytes())
        table, = struct.unpack_from("<Q", data, 40)
        size, n, names = struct.unpack_from("<HHH", data, 58)
        strings, = struct.unpack_from("<Q", data, table + names * size + 24)
        for at in range(table, table + n * size, size):
            name = strings + struct.unpack_from("<I", data, at)[0]
            if data[name:].startswith(b".debug_info\0"):
                struct.pack_into("<Q", data, at + 8, 0x800)
        path.write_bytes(data)


if __name__ == "__main__":
    unittest.main()
