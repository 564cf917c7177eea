#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debug files that crash or block the process that parses them. Only the data of these files are missing, and
a message names them. Lines and inlined functions are then as without the file, which test-debug-parts.py
tests.

usage: test-deadly-parts.py MORTAL-SYSPROF-REPORT DIRECTORY-OF-SOURCES
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from chains import FUNCTIONS, SOURCES, Case, addresses_of, as_json, run  # noqa: E402

KILLS, HANGS = b"KILLS ITS READER", b"HANGS ITS READER"  # at the end of a file: mortal-child.c


class DeadlyParts(Case):
    functions = r"^(work|from_generated|main|other_unit)$"

    def chains(self, path):
        addresses = addresses_of(path, self.functions)
        return self.chains_in(self.capture_of(path, addresses), addresses)

    def look(self, path):
        """Returns chains by address, and the files that messages report as left out."""
        chains = self.chains(path)
        rows = as_json("quality", self.at / "made.syscap")["rows"]
        told = [re.search(r"'(.*)'", row["reason"])[1] for row in rows if row["reason"].startswith("debug file ignored: ")]
        return chains, [pathlib.Path(name).name for name in told]

    def check(self, path, part, *ends):
        """As without that part. Returns the chains without and with it."""
        kept = part.rename(self.at / "kept")
        without = self.chains(path)
        for end in ends:
            part.write_bytes(kept.read_bytes() + end)
            self.assertEqual(self.look(path), (without, [part.name]), end)
        part.write_bytes(kept.read_bytes() + b"HARMS NO READER.")
        whole, told = self.look(path)
        self.assertEqual(told, [])
        self.assertNotEqual(whole, without)
        return without, whole

    def split(self, *options):
        built = self.at / "built"
        built.mkdir()
        for source in ("inlines.c", "inlines.h", "other-unit.c"):
            shutil.copy(SOURCES / source, built)
        for source in ("inlines", "other-unit"):
            run("gcc", "-c", "-g", "-O2", "-fno-pie", "-gsplit-dwarf", *options, "-o", built / f"{source}.o", built / f"{source}.c")
        run("gcc", "-no-pie", "-o", self.at / "program", built / "inlines.o", built / "other-unit.o")
        return str(self.at / "program"), built

    def test_split_units(self):
        """The other unit keeps what it knows."""
        path, built = self.split()
        without, whole = self.check(path, built / "other-unit.dwo", KILLS, HANGS)
        self.assertEqual(max(map(len, without.values())), max(map(len, whole.values())))

    @unittest.skipUnless(shutil.which("dwp"), "dwp is not here")
    def test_package(self):
        path, built = self.split("-gdwarf-4")
        package = pathlib.Path(path + ".dwp")
        subprocess.run(["dwp", "-e", path, "-o", package], check=True, cwd=built, timeout=30)
        moved = built.rename(self.at / "moved")
        _, whole = self.check(path, package, KILLS)
        # The same units have files of their own: those are read then.
        package.write_bytes(package.read_bytes() + KILLS)
        moved.rename(built)
        self.assertEqual(self.look(path), (whole, [package.name]))

    @unittest.skipUnless(shutil.which("dwz"), "dwz is not here")
    def test_supplement(self):
        self.functions = FUNCTIONS
        path, other = self.compile(name="program"), self.compile("-O1", name="other")
        shared = self.at / "shared"
        subprocess.run(["dwz", "-m", shared, "-M", "shared", path, other], check=True)
        self.check(path, shared, KILLS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
