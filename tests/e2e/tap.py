# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the unittest cases of the calling file and prints TAP: one line per test, skips with their reasons."""

import sys
import unittest


class _Result(unittest.TestResult):
    def __init__(self, total):
        super().__init__()
        self.number = 0
        self.broken_parts = []  # of the test that runs
        print(f"1..{total}", flush=True)

    def _line(self, test, verdict, note=""):
        self.number += 1
        name = test.id().split(".", 1)[-1]
        print(f"{verdict} {self.number} {name}{note}", flush=True)

    def addSuccess(self, test):
        self._line(test, "ok")

    def addSkip(self, test, reason):
        self._line(test, "ok", f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._tell(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._tell(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            found = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.broken_parts.append(f"{subtest.id()}\n{found[-1][1]}")

    def stopTest(self, test):
        super().stopTest(test)
        if self.broken_parts:
            self._tell(test, "\n".join(self.broken_parts))
        self.broken_parts = []

    def _tell(self, test, text):
        self._line(test, "not ok")
        for line in text.splitlines():
            print(f"# {line}", flush=True)


def main():
    module = sys.modules["__main__"]
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if len(sys.argv) > 1:  # one test by name, while working on it
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:], module)
    result = suite.run(_Result(suite.countTestCases()))
    sys.exit(0 if result.wasSuccessful() else 1)
