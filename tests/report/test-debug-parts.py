#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions whose debug information lies in several files, against addr2line and its like on the same code with all
of it in one (chains.py): files that dwz shared names of.

usage: test-debug-parts.py SYSPROF-REPORT DIRECTORY-OF-SOURCES
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from chains import FUNCTIONS, SOURCES, Case, addresses_of, as_json, run  # noqa: E402


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1]


class Parts(Case):
    compiled = {}

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        for source in SOURCES.glob("inlines.*"):
            shutil.copy(source, cls.directory.name)
        cls.compiled = {}

    def copy_of(self, level, name):
        """Compiled once for all tests."""
        if level not in self.compiled:
            path = os.path.join(self.directory.name, "program" + level)
            run("g++", "-g", level, "-fno-pie", "-no-pie", "-o", path, os.path.join(self.directory.name, "inlines.cc"))
            self.compiled[level] = path
        return shutil.copy(self.compiled[level], str(self.at / name))

    def inlined_in(self, path, *options):
        """How many entries of stacks are of inlined functions."""
        addresses = addresses_of(path, FUNCTIONS)
        rows = as_json("samples", self.capture_of(path, addresses), *options)["rows"]
        return sum(entry["kind"] == "inline" for row in rows for entry in row["stack"])

    def assert_chains(self, path, whole, *options):
        """They are those of the same code with all debug information in one file, which test-inlines.py is about."""
        addresses = addresses_of(whole, FUNCTIONS)
        chains = [self.chains_in(self.capture_of(path, addresses), addresses, *options),
                  self.chains_in(self.capture_of(whole, addresses), addresses)]
        self.assertEqual(*chains)
        self.assertGreater(max(map(len, chains[0].values())), 3)

    def gaps_in(self, path, *options):
        """What is told of debug information that is not all here."""
        rows = as_json("quality", self.capture_of(path, addresses_of(path, FUNCTIONS)), *options)["rows"]
        return [(row["binary"], row["reason"]) for row in rows if "inlined functions missing" in row["reason"]]

    def install(self, part, build_id):
        """Below a directory like /usr/lib/debug."""
        place = self.at / "debug" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
        place.parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(part).rename(place)
        return ("--debug-dir", self.at / "debug")


@unittest.skipUnless(shutil.which("dwz"), "dwz is not here")
class Supplements(Parts):
    def share(self, *options, link="shared", name="program", compiled=("-O2", "-O1")):
        """A program that dwz took names out of, the same before that, and the file that has these."""
        whole, other = (self.copy_of(level, name) for level, name in zip(compiled, ("whole", "other")))
        path, shared = shutil.copy(whole, str(self.at / name)), self.at / "shared"
        subprocess.run(["dwz", *options, "-m", shared, "-M", link, path, other], check=True)
        self.assertTrue(shared.exists())
        return path, whole, shared

    def test_beside_the_program(self):
        """Where the link says, relative to the program; by the links of DWARF 4 and of 5."""
        for options in ((), ("--dwarf-5",)):
            with self.subTest(options=options):
                path, whole, _ = self.share(*options)
                self.assertIn(".debug_sup" if options else ".gnu_debugaltlink", run("readelf", "-SW", path))
                self.check_chains(path, like=whole)
                self.assertEqual(self.gaps_in(path), [])

    def test_by_build_id(self):
        path, whole, shared = self.share()
        options = self.install(shared, build_id_of(shared))
        self.assert_chains(path, whole, *options)
        self.assertEqual(self.gaps_in(path, *options), [])

    def test_in_directory_of_shared_files(self):
        """Where distributions have it, of a link that says so but leads elsewhere from here."""
        path, whole, shared = self.share(link="../../.dwz/machine/package.debug")
        place = self.at / "debug" / ".dwz" / "machine" / "package.debug"
        place.parent.mkdir(parents=True)
        shared.rename(place)
        self.assert_chains(path, whole, "--debug-dir", self.at / "debug")

    def test_of_debug_file(self):
        """The debug file has the link, and its directory is where it leads from."""
        path, whole, shared = self.share()
        build_id = build_id_of(path)
        run("objcopy", "--only-keep-debug", path, path + ".debug")
        run("strip", path)
        options = self.install(path + ".debug", build_id)
        shared.rename(self.at / "debug" / ".build-id" / build_id[:2] / "shared")
        self.assert_chains(path, whole, *options)

    def test_missing(self):
        """Lines are there, and what is lacking is told."""
        path, whole, shared = self.share()
        shared.unlink()
        self.assertLess(self.inlined_in(path), self.inlined_in(whole))
        self.assertEqual(self.gaps_in(path), [
            ("program", "inlined functions missing: the debug file that dwz moved their names to is not here: 'shared'")])
        addresses = addresses_of(whole, FUNCTIONS)
        places = lambda of: [[entry.get("line") for entry in row["stack"]][0] for row in as_json("samples", self.capture_of(of, addresses))["rows"]]
        self.assertEqual(sum(line is not None for line in places(path)), sum(line is not None for line in places(whole)))

    def test_of_another_build(self):
        """Is not used, and told."""
        path, whole, shared = self.share()
        mine = shared.rename(self.at / "mine")
        self.share(name="again", compiled=("-Os", "-O1"))
        self.assertNotEqual(build_id_of(shared), build_id_of(mine))
        self.assertLess(self.inlined_in(path), self.inlined_in(whole))
        self.assertEqual(self.gaps_in(path), [
            ("program", "inlined functions missing: the debug file that dwz moved their names to is of another build: 'shared'")])

    def test_names_itself(self):
        """A file that says that it is its own supplement, by path and build id, is read as such."""
        path, _, shared = self.share(link="program")
        size = len(bytes.fromhex(build_id_of(path)))
        data = bytearray(pathlib.Path(path).read_bytes())
        at = data.index(b"program\0" + bytes.fromhex(build_id_of(shared)))
        data[at + 8:at + 8 + size] = bytes.fromhex(build_id_of(path))
        shared.unlink()
        pathlib.Path(path).write_bytes(data)
        self.inlined_in(path)
        self.assertEqual(self.gaps_in(path), [])

    def test_not_elf(self):
        """A link may lead anywhere: what is no ELF file is not opened for whoever parses."""
        path, _, shared = self.share()
        shared.write_bytes(b"secret\n" * 100)
        self.assertEqual([reason.split(": ")[1] for _, reason in self.gaps_in(path)],
                         ["the debug file that dwz moved their names to is not here"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
