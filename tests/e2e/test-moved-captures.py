#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures on another machine: they bring their names, or are named by build ID; files of the same name are no help."""

import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import unittest

import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, needs_sampling, run

# Two that differ in their names alone: where one's function is, the other has another one.
SOURCE = """
#include <time.h>
volatile unsigned long sink;
__attribute__ ((always_inline)) static inline unsigned long PREFIX_leaf (unsigned long n) { while (n % 64 != 0) n += n >> 3 | 1; return n; }
__attribute__ ((noinline)) static void PREFIX_inner (unsigned n) { while (n-- > 0) sink += PREFIX_leaf (n); }
__attribute__ ((noinline)) static void PREFIX_outer (void) { PREFIX_inner (50000); sink++; }
int main (void)
{
  struct timespec now;
  do { PREFIX_outer (); clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now); } while (now.tv_nsec < 300000000);
  return 0;
}
"""
NAMES = {"true_inner", "true_outer"}
LIES = {"other_inner", "other_outer"}


@unittest.skipUnless(shutil.which("cc") and shutil.which("objcopy"), "a compiler or objcopy is not installed")
class Elsewhere(Case):
    def build(self, prefix, build_id, path):
        """The program without symbols at `path`, and what names it, as PREFIX.debug."""
        pathlib.Path(f"{prefix}.c").write_text(SOURCE.replace("PREFIX", prefix), encoding="ascii")
        subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", f"-Wl,--build-id=0x{build_id}", "-o", path, f"{prefix}.c"], check=True)
        shutil.copy(path, f"{path}.whole")
        subprocess.run(["objcopy", "--only-keep-debug", path, f"{prefix}.debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", path], check=True)

    @staticmethod
    def install(debug, build_id, folder):
        place = pathlib.Path(folder, ".build-id", build_id[:2])
        place.mkdir(parents=True)
        shutil.copy(debug, place / (build_id[2:] + ".debug"))

    def record(self, *words):
        for _ in range(3):
            done = run(CLI, "-f", "-F", "500", "--max-size", "200M", *words, "x.syscap", "--", "./program")
            self.assertEqual(done.returncode, 0, done.stderr)
            capture = Capture.open("x.syscap")
            self.assertTrue(capture.of("sample"))
            # On a busy machine the kernel may drop mapping records of the program. Then the recorder reports
            # that records were lost.
            if capture.metadata()["org.gnome.sysprof.lost"] == "0":
                break

    def names(self, *words, front=()):
        """Of the program's own functions: name to samples in it."""
        done = run(*front, REPORT, "functions", "--format", "json", "--process", "program", *words, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["symbol"]: row["self"] for row in json.loads(done.stdout)["rows"] if row["binary"] == "program"}

    @needs_sampling
    def test_small_device_without_symbols(self):
        """Recorded where everything is stripped, without looking names up; named where its files and debug files are kept."""
        build_id = secrets.token_hex(20)
        self.build("true", build_id, "program")
        self.record("--no-decode")
        self.assertIsNone(Capture.open("x.syscap").file("__symbols__"))
        self.assertIn(build_id, {frame["build_id"] for frame in Capture.open("x.syscap").of("map")})
        self.install("true.debug", build_id, "debug")
        self.build("other", secrets.token_hex(20), "another")
        self.install("other.debug", build_id, "lying")  # what has that name is of another build
        image = pathlib.Path("image" + os.path.abspath("program"))  # the device's files, as they are kept on a workstation
        image.parent.mkdir(parents=True)
        shutil.copy("program", image)
        for what in ("gone", "replaced"):
            with self.subTest(what):
                if what == "gone":
                    os.remove("program")
                else:
                    shutil.copy("another.whole", "program")
                for words in ((), ("--debug-dir", "lying"), ("--sysroot", "image"), ("--sysroot", "image", "--debug-dir", "lying")):
                    found = self.names(*words)
                    self.assertTrue(found)
                    self.assertFalse(set(found) & (NAMES | LIES), found)
                    self.assertTrue(any(re.match(r"\[program[+:]0x", name) for name in found), found)
                found = self.names("--sysroot", "image", "--debug-dir", "debug")
                self.assertTrue(NAMES <= set(found), found)
                self.assertFalse(set(found) & LIES)
                self.assertGreater(found["true_inner"] + found.get("true_leaf", 0), sum(found.values()) / 2)

    @needs_root
    @needs_sampling
    def test_machine_with_the_same_names(self):
        """In a mount namespace with another program, with symbols, at the path; for a capture with names, and
        one without."""
        self.build("true", secrets.token_hex(20), "program")
        shutil.move("program.whole", "program")
        self.build("other", secrets.token_hex(20), "another")
        front = ["unshare", "-m", "sh", "-c", f'mount --bind "$0/another.whole" "$0/program" && exec "$@"', self.folder]
        if not shutil.which("unshare") or run(*front, "true").returncode != 0:
            self.skipTest("no mount namespace can be made here")
        for words in ((), ("--no-decode",)):
            with self.subTest(words):
                self.record(*words)
                here, there = self.names(), self.names(front=front)
                self.assertTrue(NAMES <= set(here), here)
                self.assertFalse(set(there) & LIES, there)
                self.assertEqual(sum(there.values()), sum(here.values()))
                if not words:
                    self.assertEqual(there, here)
                else:
                    self.assertFalse(set(there) & NAMES, there)

    def empty_root(self):
        """A folder with sysprof-report, what it is linked with, and nothing else."""
        root = pathlib.Path("root")
        listed = run("ldd", REPORT).stdout.decode()
        for path in {REPORT, *re.findall(r"(/\S+) \(0x", listed)}:
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        return root

    @needs_root
    @needs_sampling
    def test_empty_machine(self):
        """The report from the capture alone equals the report on this machine: functions of programs,
        libraries and the kernel, and inlined functions, which only debug information contains."""
        if b"__asan_init" in pathlib.Path(REPORT).read_bytes():
            self.skipTest("the address sanitizer needs /proc")
        self.build("true", secrets.token_hex(20), "program")
        shutil.move("program.whole", "program")
        self.record()
        root = self.empty_root()
        shutil.copy("x.syscap", root)
        words = [REPORT, "functions", "--limit", "0", "--format", "json", "x.syscap"]
        here = run(*words)
        there = run("chroot", root, *words)
        self.assertEqual((here.returncode, there.returncode), (0, 0), there.stderr)
        here, there = (json.loads(done.stdout) for done in (here, there))
        self.assertTrue(NAMES <= {row["symbol"] for row in there["rows"]})
        self.assertTrue({row["symbol"] for row in there["rows"] if row["kind"] == "kernel" and row["symbol"][0] != "["})
        leaf = [row for row in there["rows"] if row["symbol"] == "true_leaf"]
        number = 1 + SOURCE.splitlines().index(next(line for line in SOURCE.splitlines() if "PREFIX_leaf (unsigned long n)" in line))
        self.assertEqual([(row["kind"], row["file"], row["line"]) for row in leaf], [("inline", os.path.abspath("true.c"), number)])
        key = lambda row: (row["symbol"], row["binary"], row["kind"], row["self"], row["total"], row.get("file", ""), row.get("line", 0))
        self.assertEqual(sorted(map(key, there["rows"])), sorted(map(key, here["rows"])))


if __name__ == "__main__":
    tap.main()
