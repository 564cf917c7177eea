#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/test and scripts/tally.py over a project whose tests fail in several ways: test-once-more.py SOURCE-ROOT"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("MESON", "NINJA", "MAKE"))}


class OnceMore(unittest.TestCase):
    def run_tests(self, *options, setup="", retry="1", **tests):
        """(exit status, output, tally) of tests given as SUITE_NAME = shell script."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name)
        lines = ["project('failing')", "sh = find_program('sh')"]
        for name, script in {"unit_fine": "true", **tests}.items():  # suites are named where there are several
            suite = name.split("_")[0]
            (source / name).write_text(f"cd {source}\n{script}\n")
            lines.append(f"test('{name}', sh, args: [files('{name}')], suite: '{suite}')")
        (source / "meson.build").write_text("\n".join([*lines, setup]) + "\n")
        subprocess.run(["meson", "setup", source / "build", source], check=True, stdout=subprocess.DEVNULL, env=CLEAN)
        done = subprocess.run([ROOT / "scripts/test", source / "build", *options], capture_output=True, text=True, env={**CLEAN, "RETRY": retry})
        tally = subprocess.run([sys.executable, ROOT / "scripts/tally.py", source / "build/meson-logs/testlog.json"],
                               capture_output=True, text=True, env=CLEAN)
        self.assertEqual(done.returncode != 0, tally.returncode != 0, tally.stdout)
        return done.returncode, done.stdout, tally.stdout

    FIRST_FAILS = "[ -e been-here ] || { touch been-here; exit 1; }"

    def test_what_passes_alone_counts_and_is_told(self):
        status, output, tally = self.run_tests(e2e_one=self.FIRST_FAILS)
        self.assertEqual(status, 0, output)
        self.assertRegex(tally, r"ran once more, alone \(OK\): .*e2e_one")
        self.assertEqual(tally.splitlines()[-1], "2 passed, 0 failed")

    def test_what_runs_only_where_it_is_named(self):
        """As in the suite soak; and the tally prints the failures."""
        says = "[ -e been-here ] || { touch been-here; echo '1..1'; echo 'not ok 1 grows'; echo '# 7 is not less than 5'; exit 1; }; true"
        status, _, tally = self.run_tests("--suite", "soak", setup="add_test_setup('default', exclude_suites: ['soak'], is_default: true)",
                                          soak_one=says)
        self.assertEqual(status, 0)
        self.assertRegex(tally, r"ran once more, alone \(OK\): .*soak_one.*7 is not less than 5")
        self.assertEqual(tally.splitlines()[-1], "1 passed, 0 failed")

    def test_an_assertion_of_a_test_is_no_crash(self):
        """As a C test ends; but not where the program itself says something critical, or crashes after all."""
        said = "Bail out! ERROR:../tests/some/test-one.c:7:test_one: assertion failed (n >= 1000): (0 >= 1000)"
        ends = "[ -e been-here ] || { touch been-here; echo '%s'; kill -%s $$; }"
        status, output, tally = self.run_tests(system_one=ends % (said, "ABRT"))
        self.assertEqual(status, 0, output)
        self.assertIn("assertion failed (n >= 1000): (0 >= 1000)", tally)
        for other in (ends % ("Bail out! GLib-FATAL-CRITICAL: g_free", "ABRT"), ends % (said, "SEGV"), ends % ("", "ABRT")):
            status, output, tally = self.run_tests(system_one=other)
            self.assertNotEqual(status, 0)
            self.assertNotIn("once more", output + tally)

    def test_nothing_runs_twice_unless_it_was_requested(self):
        status, output, tally = self.run_tests(retry="", e2e_one=self.FIRST_FAILS)
        self.assertNotEqual(status, 0)
        self.assertNotIn("once more", output + tally)
        self.assertEqual(tally.splitlines()[-1], "1 passed, 1 failed")

    def test_what_fails_always_fails(self):
        status, _, tally = self.run_tests(e2e_one="exit 1")
        self.assertNotEqual(status, 0)
        self.assertRegex(tally, r"ran once more, alone \(FAIL\)")
        self.assertEqual(tally.splitlines()[-1], "1 passed, 1 failed")

    def test_no_second_time(self):
        """For failures that do not depend on the machine, found by a sanitizer, by a crash, and if much
        fails."""
        sanitizer = "[ -e been-here ] || { touch been-here; echo 'ERROR: AddressSanitizer: heap-use-after-free' >&2; exit 1; }"
        crash = "[ -e been-here ] || { touch been-here; kill -SEGV $$; }"
        many = {f"e2e_{i}": self.FIRST_FAILS.replace("been-here", f"been-here-{i}") for i in range(6)}
        for tests, n_failed in (({"unit_one": self.FIRST_FAILS, "e2e_fine": "true"}, 1), ({"e2e_one": sanitizer}, 1), ({"e2e_one": crash}, 1),
                                (many, 6)):
            status, output, tally = self.run_tests(**tests)
            self.assertNotEqual(status, 0)
            self.assertNotIn("once more", output + tally)
            self.assertIn(f"{n_failed} failed", tally.splitlines()[-1])


    def tally(self, machine, *tests):
        """(exit status, output) of the tally of TESTS where CI counts skips."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        log = pathlib.Path(folder.name, "build-gcc/meson-logs/testlog.json")
        log.parent.mkdir(parents=True)
        log.write_text("".join(json.dumps({"name": f"some:unit / {name}", "result": result, "duration": duration}) + "\n"
                               for name, result, duration in tests))
        done = subprocess.run([sys.executable, ROOT / "scripts/tally.py", log], capture_output=True, text=True,
                              env={**CLEAN, "CI": "true", **machine})
        return done.returncode, done.stdout

    def test_a_skip_that_is_not_listed_fails(self):
        status, output = self.tally({}, ("fine", "OK", 1), ("strange", "SKIP", 1))
        self.assertEqual(status, 1)
        self.assertIn("strange (skipped, which tests/skips.expected does not list", output)
        self.assertEqual(output.splitlines()[-1], "1 passed, 1 failed")

    @unittest.skipIf(os.geteuid() != 0, "the list is of tests run as root")
    def test_a_skip_is_listed_for_a_kind_of_machine(self):
        """As this test of Python 3.12 is, whose skip the other case of that program does not have."""
        for case, expected in (("test_python", 0), ("test_perf_map", 1)):
            status, output = self.tally({}, ("fine", "OK", 1), (f"e2e-generated: Generated.{case}", "SKIP", 1))
            self.assertEqual(status, expected, output)

    def test_the_slowest_are_listed(self):
        _, output = self.tally({}, *((f"test-{i}", "OK", i) for i in range(20)))
        lines = [line.split() for line in output.splitlines() if "some:unit" in line]
        self.assertEqual([line[0] for line in lines], [f"{i}.0" for i in range(19, 9, -1)])

    def test_a_run_that_was_cut_short_fails(self):
        with tempfile.TemporaryDirectory() as build:
            logs = pathlib.Path(build, "meson-logs")
            logs.mkdir()
            (logs / "testlog.json").write_text(json.dumps({"name": "some:e2e / one", "result": "FAIL", "returncode": 1}) + "\n")
            done = subprocess.run([sys.executable, ROOT / "scripts/once-more.py", build, "testlog", "137"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
