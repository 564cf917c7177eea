#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debug information in several files: files that dwz shares, and split units. Compares lines and inlined
functions with those that addr2line and similar programs find for the same code with all debug information
in one file (chains.py).

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
from chains import FUNCTIONS, SOURCES, Case, addresses_of, as_json, run, symbols_of  # noqa: E402


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1]


class Parts(Case):
    functions = FUNCTIONS

    def inlined_in(self, path, *options):
        """How many entries of stacks are of inlined functions."""
        addresses = addresses_of(path, self.functions)
        rows = as_json("samples", self.capture_of(path, addresses), *options)["rows"]
        return sum(entry["kind"] == "inline" for row in rows for entry in row["stack"])

    def assert_chains(self, path, whole, *options):
        """They are those of the same code with all debug information in one file, which test-inlines.py is about."""
        addresses = addresses_of(whole, self.functions)
        chains = [self.chains_in(self.capture_of(path, addresses), addresses, *options),
                  self.chains_in(self.capture_of(whole, addresses), addresses)]
        self.assertEqual(*chains)
        self.assertGreater(max(map(len, chains[0].values())), 3)

    def gaps_in(self, path, *options):
        """Returns messages about debug information that is not all available."""
        rows = as_json("quality", self.capture_of(path, addresses_of(path, self.functions)), *options)["rows"]
        return [(row["binary"], row["reason"]) for row in rows if "inlined functions missing" in row["reason"]]

    def install(self, part, build_id):
        """Below a directory like /usr/lib/debug."""
        place = self.at / "debug" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
        place.parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(part).rename(place)
        return ("--debug-dir", self.at / "debug")


@unittest.skipUnless(shutil.which("dwz"), "dwz is not here")
class Supplements(Parts):
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

    def share(self, *options, link="shared", name="program", compiled=("-O2", "-O1")):
        """A program that dwz took names out of, the same before that, and the file that has these."""
        whole, other = (self.copy_of(level, name) for level, name in zip(compiled, ("whole", "other")))
        path, shared = shutil.copy(whole, str(self.at / name)), self.at / "shared"
        subprocess.run(["dwz", *options, "-m", shared, "-M", link, path, other], check=True)
        self.assertTrue(shared.exists())
        return path, whole, shared

    def test_beside_the_program(self):
        """In the file that the link names, relative to the program; with links of DWARF 4 and of 5."""
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
        """In the directory of distributions, for a link that leads elsewhere from here."""
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
        """Lines are available, and the missing parts are reported."""
        path, whole, shared = self.share()
        shared.unlink()
        self.assertLess(self.inlined_in(path), self.inlined_in(whole))
        self.assertEqual(self.gaps_in(path), [
            ("program", "inlined functions missing: the supplementary debug file made by dwz is missing: 'shared'")])
        addresses = addresses_of(whole, self.functions)
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
            ("program", "inlined functions missing: the supplementary debug file made by dwz is from another build: 'shared'")])

    def test_names_itself(self):
        """A file that names itself as its supplement, by path and build ID, is read as such."""
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
                         ["the supplementary debug file made by dwz is missing"])


class SplitUnits(Parts):
    functions = r"^(work|from_generated|main|other_unit)$"

    def split(self, compiler="gcc", version=5, level="-O2"):
        """A program with split units, which are below `built`, and the same without."""
        built = self.at / "built"
        shutil.rmtree(built, ignore_errors=True)
        built.mkdir()
        for source in ("inlines.c", "inlines.h", "other-unit.c"):
            shutil.copy(SOURCES / source, built)
        paths = {}
        for name, options in (("whole", ()), ("program", ("-gsplit-dwarf",))):
            objects = []
            for source in ("inlines.c", "other-unit.c"):
                objects.append(f"{name}-{source[:-2]}.o")
                subprocess.run([compiler, "-c", "-g", f"-gdwarf-{version}", level, "-fno-pie", *options, "-o", objects[-1], source],
                               cwd=built, check=True)
            paths[name] = str(self.at / name)
            subprocess.run([compiler, "-no-pie", "-Wl,--build-id", "-o", paths[name], *objects], cwd=built, check=True)
        self.assertEqual(len(list(built.glob("*.dwo"))), 2)
        self.assertEqual(symbols_of(paths["program"]), symbols_of(paths["whole"]))
        return paths["program"], paths["whole"], built

    def test_where_they_were_built(self):
        for compiler in ("gcc", "clang"):
            for version in (4, 5):
                if shutil.which(compiler):
                    with self.subTest(compiler=compiler, version=version):
                        path, whole, _ = self.split(compiler, version)
                        self.assert_chains(path, whole)
                        self.assertEqual(self.gaps_in(path), [])
                        if (compiler, version) == ("gcc", 5):
                            self.check_chains(path, like=whole, functions=self.functions)

    def test_beside_the_program(self):
        path, whole, built = self.split()
        for dwo in built.glob("*.dwo"):
            dwo.rename(self.at / dwo.name)
        self.assert_chains(path, whole)

    def test_in_debug_directory(self):
        """At the path where they were built, or in it."""
        for place in (self.at / "debug" / str(self.at)[1:] / "built", self.at / "debug"):
            with self.subTest(place=place):
                path, whole, built = self.split()
                place.mkdir(parents=True, exist_ok=True)
                for dwo in built.glob("*.dwo"):
                    dwo.rename(place / dwo.name)
                self.assert_chains(path, whole, "--debug-dir", self.at / "debug")
                shutil.rmtree(self.at / "debug")

    def test_package(self):
        """Beside the program."""
        for compiler, version, packer in (("gcc", 4, "dwp"), ("clang", 5, "llvm-dwp")):
            if shutil.which(compiler) and shutil.which(packer):
                with self.subTest(packer=packer):
                    path, whole, built = self.split(compiler, version)
                    subprocess.run([packer, "-e", path, "-o", path + ".dwp"], check=True, cwd=built, timeout=30)
                    shutil.rmtree(built)
                    self.assert_chains(path, whole)
                    self.assertEqual(self.gaps_in(path), [])
                    os.unlink(path + ".dwp")
                    self.assertEqual(len(self.gaps_in(path)), 1)

    def test_package_of_another_build(self):
        if not shutil.which("dwp"):
            self.skipTest("dwp is not here")
        path, whole, built = self.split("gcc", 4)
        kept = shutil.copy(path, self.at / "kept")
        self.split("gcc", 4, level="-Os")
        subprocess.run(["dwp", "-e", path, "-o", path + ".dwp"], check=True, cwd=built, timeout=30)
        shutil.rmtree(built)
        os.rename(kept, path)
        (binary, reason), = self.gaps_in(path)
        self.assertRegex(reason, r": files with split debug information are from another build: '[a-z-]+\.dwo' and 1 more$")

    def test_package_by_build_id(self):
        if not shutil.which("clang") or not shutil.which("llvm-dwp"):
            self.skipTest("clang or llvm-dwp is not here")
        path, whole, built = self.split("clang", 5)
        subprocess.run(["llvm-dwp", "-e", path, "-o", self.at / "package"], check=True, cwd=built, timeout=30)
        shutil.rmtree(built)
        build_id = build_id_of(path)
        options = self.install(self.at / "package", build_id)
        place = self.at / "debug" / ".build-id" / build_id[:2]
        (place / (build_id[2:] + ".debug")).rename(place / (build_id[2:] + ".dwp"))
        self.assert_chains(path, whole, *options)

    def test_missing(self):
        """Functions and the contents of the skeletons remain, and the missing parts are reported."""
        path, whole, built = self.split()
        (built / "program-other-unit.dwo").unlink()
        some = self.inlined_in(path)
        self.assertEqual(self.gaps_in(path), [
            ("program", "inlined functions missing: files with split debug information are missing: 'program-other-unit.dwo'")])
        (built / "program-inlines.dwo").unlink()
        self.assertLess(self.inlined_in(path), some)
        (binary, reason), = self.gaps_in(path)
        self.assertRegex(reason, r"'program-[a-z-]+\.dwo' and 1 more$")
        addresses = addresses_of(whole, self.functions)
        rows = [as_json("samples", self.capture_of(of, addresses))["rows"] for of in (path, whole)]
        names = [[row["stack"][-2]["symbol"] for row in of] for of in rows]
        self.assertEqual(*names)
        self.assertEqual(*[[row["stack"][0].get("line") for row in of] for of in rows])

    def test_of_another_build(self):
        """Files and packages of the same names: not used, and told."""
        path, whole, built = self.split()
        inlined = self.inlined_in(whole)
        kept = shutil.copy(path, self.at / "kept")
        self.split(level="-Os")
        os.rename(kept, path)
        self.assertEqual(self.inlined_in(path), 0)
        (binary, reason), = self.gaps_in(path)
        self.assertRegex(reason, r": files with split debug information are from another build: 'program-[a-z-]+\.dwo' and 1 more$")
        self.assertGreater(inlined, 0)

    def test_not_elf(self):
        path, _, built = self.split()
        for dwo in built.glob("*.dwo"):
            dwo.write_bytes(b"secret\n" * 100)
        (binary, reason), = self.gaps_in(path)
        self.assertIn("are missing", reason)


if __name__ == "__main__":
    unittest.main(verbosity=2)
