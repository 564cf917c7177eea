#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions that captures carry: they are those of the files, which are gone.

usage: test-carried-lines.py SYSPROF-REPORT DIRECTORY-OF-SOURCES PRINT-SYMBOLS
"""

import gzip
import os
import pathlib
import random
import re
import sys
import unittest

sys.dont_write_bytecode = True
PRINT_SYMBOLS = os.path.abspath(sys.argv.pop())
from chains import FUNCTIONS, Case, addresses_of, as_json, run  # noqa: E402


class CarriedLines(Case):
    def brought(self, path, addresses):
        """Adds the data that a recording of these programs would embed."""
        capture = self.capture_of(path, addresses)
        run(PRINT_SYMBOLS, "--pack", self.at / "symbols", "--lines", self.at / "lines", capture)
        return [("__symbols__", (self.at / "symbols").read_bytes()), ("__lines__", (self.at / "lines").read_bytes())]

    def test_brought_by_the_capture(self):
        """Of files that are gone, compressed or not, whatever embedded data of other captures follow."""
        path = self.compile()
        addresses, inode = addresses_of(path, FUNCTIONS), os.stat(path).st_ino
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        symbols, (name, lines) = self.brought(path, addresses)
        other = lines.replace(path.encode(), b"/another/file").replace(b"main", b"niam")
        other += lines.replace(b"text ", b"text lie-")
        kept = pathlib.Path(path).rename(self.at / "kept")
        for content in ([(name, lines)], [(f"{name}.gz", gzip.compress(lines))], [(name, lines + other)]):
            kept.rename(path)  # readelf looks into it
            capture = self.capture_of(path, addresses, inode=inode, files=[symbols, *content])
            pathlib.Path(path).rename(kept)
            self.assertEqual(self.chains_in(capture, addresses), chains)

        # Of another inode it is another file.
        kept.rename(path)
        capture = self.capture_of(path, addresses, inode=inode + 1, files=[symbols, (name, lines)])
        self.assertEqual({len(chain) for chain in self.chains_in(capture, addresses).values()}, {1})

    def test_parts(self):
        """The lines of a file in several embedded parts, in any order, among parts without lines."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        symbols, (name, lines) = self.brought(path, addresses)
        head, *rest = lines.splitlines(keepends=True)
        texts = b"".join(line for line in rest if line.startswith(b"text "))
        parts = [head + texts + line for line in rest if line.startswith(b"at ")]
        parts += [head] * 1000 + [head + b"at 0 1,2\n", head + texts]
        random.Random(5).shuffle(parts)
        capture = self.capture_of(path, addresses, files=[symbols, (name, b"".join(parts))])
        os.remove(path)
        self.assertEqual(self.chains_in(capture, addresses), chains)

    def test_of_several_machines(self):
        """After captures of several machines were joined, an inode identifies no file any more; a build ID
        does."""
        path = self.compile("-Wl,--build-id")
        addresses, inode = addresses_of(path, FUNCTIONS), os.stat(path).st_ino
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        build_id = re.search(r"Build ID: (\w+)", run("readelf", "-nW", path))[1]
        files = self.brought(path, addresses)
        text = files[1][1].decode()
        with_id = [files[0], (files[1][0], text.replace("file - ", f"file {build_id} ", 1).encode())]
        self.assertNotEqual(with_id, files)
        for others, hex_id, brought, is_told in (("same", None, files, True), ("other", None, files, False),
                                                 ("other", build_id, with_id, True)):
            with self.subTest(others=others, hex_id=hex_id):
                metadata = [("hostname", "same"), ("hostname", others)]
                capture = self.capture_of(path, addresses, inode=inode, hex_id=hex_id, files=brought, metadata=metadata)
                os.rename(path, self.at / "kept")
                told = self.chains_in(capture, addresses)
                os.rename(self.at / "kept", path)
                if is_told:
                    self.assertEqual(told, chains)
                else:
                    self.assertEqual({len(chain) for chain in told.values()}, {1})

    def test_damaged_lines(self):
        """Impossible rows are ignored: each sample keeps its function."""
        path = self.compile()
        addresses = addresses_of(path, FUNCTIONS)
        chains = self.chains_in(self.capture_of(path, addresses), addresses)
        symbols, (name, lines) = self.brought(path, addresses)
        rng = random.Random(5)
        at = [match.start() for match in re.finditer(rb"(?m)^at ", lines)]
        damaged = [b"", b"at 0 1,2,3,4,5,6\n", lines.replace(b"file ", b"file  ", 1), lines.replace(b",", b",9999999999"),
                   lines.replace(b",", b",99999"), lines.replace(b"text ", b"txet "), lines.replace(b"\n", b"\r"),
                   lines[:at[9]] + lines[at[9]:].replace(b" ", b" 0,0,0,0,0,0 "),
                   lines[:at[3]] + b"at " + lines[at[3] + 3:].split(b" ")[0] + b" 1,0,1,1,1,1" * 100000 + b"\n" + lines[at[4]:]]
        damaged += [lines[:rng.randrange(len(lines))] for _ in range(8)]
        for _ in range(16):
            content = bytearray(lines)
            for _ in range(rng.choice((1, 10, 300))):
                content[rng.randrange(len(content))] = rng.choice(b"0123456789, \n\0\xfftextatfile")
            damaged.append(bytes(content))
        for content in damaged:
            capture = self.capture_of(path, addresses, files=[symbols, (name, content)])
            rows = as_json("samples", capture)["rows"]
            self.assertEqual(len(rows), len(addresses))
            for row in rows:
                functions = [entry["symbol"] for entry in row["stack"] if entry["kind"] == "user"]
                self.assertEqual(functions, [chains[addresses[row["time"]]][-1][0], "_start"])


if __name__ == "__main__":
    unittest.main()
