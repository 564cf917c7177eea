#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code without a file has the name that its program gave it, at that time, and no name from another program."""

import glob
import json
import os
import platform
import shutil
import sys
import unittest

import decoder
import tap
from programs import CLI, REPORT, Case, needs_root, run

PROGRAM = os.environ.get("GENERATED_CODE", "generated-code")
SHORT_LIVED_BPF = os.environ.get("SHORT_LIVED_BPF", "short-lived-bpf")
SCRIPT = """
function burnInner(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) * (i % 7); return s; }
function burnOuter() { let t = 0; for (let i = 0; i < 200; i++) t += burnInner(20000); return t; }
const end = Date.now() + 1200; let r = 0; while (Date.now() < end) r += burnOuter(); console.log(process.pid);
"""
JAVA = """
public class Burn {
  static double burnInner(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * (i % 7); return s; }
  public static void main(String[] arguments) throws Exception {
    double r = 0; long end = System.nanoTime() + 1500000000L;
    while (System.nanoTime() < end) r += burnInner(20000);
    System.out.println(ProcessHandle.current().pid() + " " + (r > 0));
  }
}
"""


@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"), "the test makes code of these machines alone")
class Generated(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.remove_maps, set(glob.glob("/tmp/perf-*.map*")))

    def remove_maps(self, before):
        """Those of the programs that this test has started."""
        for path in getattr(self, "made", []):
            for each in (path, path + ".target"):
                if each not in before and os.path.lexists(each):
                    os.unlink(each)

    def record(self, *command, options=()):
        done = run(CLI, "-f", "--max-size", "200M", *options, "x.syscap", "--", *command)
        words = done.stdout.decode().split()
        self.made = [f"/tmp/perf-{word}.map" for word in words[:1]]
        self.assertEqual(done.returncode, 0, done.stderr)
        return words, done.stderr.decode()

    def functions(self, *options):
        done = run(REPORT, "functions", "--format", "json", *options, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["symbol"]: row["self"] for row in json.loads(done.stdout)["rows"]}

    def assert_named(self, functions, *names):
        for name in names:
            self.assertTrue(any(name in function and count > 5 for function, count in functions.items()), (name, functions))

    @needs_root
    def test_perf_map(self):
        words, _ = self.record(PROGRAM, "map", "0.8")
        functions = self.functions("--process", words[0])
        self.assert_named(functions, "generated_code of a program")
        self.assertFalse(any(function.startswith("[anon") for function in functions), functions)

    @needs_root
    def test_user_with_many_groups(self):
        """The kernel reports them in front of the number that the file is named after."""
        (program,), _ = self.as_nobody(PROGRAM)
        groups = ",".join(str(1000000 + i) for i in range(2000))
        words, _ = self.record("setpriv", "--reuid=54321", "--regid=54321", f"--groups={groups}", program, "map", "0.8")
        self.assert_named(self.functions("--process", words[0]), "generated_code of a program")

    @needs_root
    def test_programs_in_the_kernel_that_are_gone(self):
        for options in [], ["--no-decode"]:
            with self.subTest(options):
                done = run(CLI, "-f", "--max-size", "200M", *options, "x.syscap", "--", SHORT_LIVED_BPF, "300")
                if done.returncode == 77:
                    self.skipTest("the kernel compiles no programs of BPF for us")
                self.assertEqual(done.returncode, 0, done.stderr)
                names = done.stdout.decode().split()
                with open("/proc/kallsyms", encoding="utf-8", errors="replace") as file:
                    self.assertEqual([name for name in names if name in file.read()], [])
                self.assert_named(self.functions(), *names)
                if options:
                    listed = decoder.Capture.open("x.syscap").file("/proc/kallsyms").decode()
                    for name in names:
                        self.assertRegex(listed, rf"(?m)^[0-9a-f]{{16}} t {name}\t\[bpf\]$")

    @needs_root
    def test_build_id_of_the_kernel(self):
        """As perf reads it."""
        perf = shutil.which("perf") and run("perf", "buildid-list", "--kernel")
        if not perf or perf.returncode != 0 or not perf.stdout.strip():
            self.skipTest("needs perf, and a kernel that tells")
        done = run(CLI, "-f", "--no-decode", "--max-size", "200M", "x.syscap", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(decoder.Capture.open("x.syscap").metadata().get("org.gnome.sysprof.kernel-build-id"),
                         perf.stdout.decode().split()[0])

    @needs_root
    def test_perf_map_without_decoding(self):
        words, _ = self.record(PROGRAM, "map", "0.8", options=["--no-decode"])
        self.assert_named(self.functions("--process", words[0]), "generated_code of a program")

    @needs_root
    def test_not_to_be_trusted(self):
        for how, reason in (("link", "symbolic link"), ("pipe", "not a regular file"), ("stranger", "belongs to user 12345")):
            with self.subTest(how):
                words, said = self.record(PROGRAM, how, "0.8")
                self.assertIn(reason, said)
                self.assertIn(f"/tmp/perf-{words[0]}.map", said)
                self.assertFalse(any("generated_code" in name for name in self.functions("--process", words[0])))
                self.remove_maps(set())

    @needs_root
    def test_namespaces(self):
        """A number of its own, and a /tmp that is gone when it has ended: until then the file has to be found, however busy the machine."""
        front = ("unshare", "--pid", "--fork", "--mount-proc", "--mount", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$0" "$@"')
        if not shutil.which("unshare") or run(*front, "true").returncode != 0:
            self.skipTest("no namespaces can be made here")
        program = self.path("program")
        shutil.copy(PROGRAM, program)
        os.chmod(self.folder, 0o755)
        if self.folder.startswith("/tmp/"):
            # Its /tmp is another one: the program comes along by a descriptor.
            front = ("unshare", "--pid", "--fork", "--mount-proc", "--mount", "sh", "-c",
                     'exec 9<"$0" && mount -t tmpfs none /tmp && exec /proc/self/fd/9 "$@"', program)
            words, _ = self.record(*front, "map", "3")
        else:
            words, _ = self.record(*front, program, "map", "3")
        self.made = []
        self.assertEqual(words[0], "1")
        self.assert_named(self.functions(), "generated_code of a program")

    @needs_root
    def test_replaced_code_is_named_by_time(self):
        words, _ = self.record(PROGRAM, "dump", "1.6")
        self.made = []
        done = run(REPORT, "samples", "--format", "json", "--process", words[0], "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [(row["time"], row["stack"][0]["symbol"]) for row in json.loads(done.stdout)["rows"] if len(row["stack"]) > 0]
        first = [time for time, name in rows if name == "first_code"]
        second = [time for time, name in rows if name == "second_code"]
        self.assertGreater(len(first), 20, rows[:20])
        self.assertGreater(len(second), 20, rows[:20])
        self.assertLess(max(first), min(second))
        self.assertEqual(decoder.Capture.open("x.syscap").file(f"/proc/{words[0]}/jit-owners"), b"%d\n" % os.geteuid())
        # Both have the same instructions, which are in the dump; it is in the working directory of the
        # program.
        for name in ("first_code", "second_code"):
            done = run(REPORT, "disassembly", "--format", "json", "--focus", name, "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = json.loads(done.stdout)["rows"]
            self.assertEqual(len(shown), 3, shown)
            self.assertRegex(shown[-1]["instruction"], "^ret")
            self.assertGreater(sum(row["self"] for row in shown), 20)

    @needs_root
    def test_instructions_of_another_user(self):
        """The file belongs to the program's user, and is read with that user's rights; a process that takes
        over its PID is another user's."""
        (program,), as_nobody = self.as_nobody(PROGRAM)
        words, _ = self.record(*as_nobody, program, "dump", "1.2")
        dump = self.path(f"jit-{words[0]}.dump")
        owner = os.stat(dump).st_uid
        self.assertNotEqual(owner, os.geteuid())
        self.assertEqual(decoder.Capture.open("x.syscap").file(f"/proc/{words[0]}/jit-owners"), b"%d\n" % owner)
        for n_rows in (3, 0):
            done = run(REPORT, "disassembly", "--format", "json", "--focus", "first_code", "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(json.loads(done.stdout)["rows"]), n_rows, done.stdout)
            os.chown(dump, owner - 1, -1)

    @needs_root
    def test_node(self):
        node = shutil.which("node") or shutil.which("nodejs")
        if node is None:
            self.skipTest("there is no Node here")
        with open("burn.js", "w", encoding="ascii") as file:
            file.write(SCRIPT)
        for option in ("--perf-basic-prof", "--perf-prof"):
            with self.subTest(option):
                words, _ = self.record(node, option, "burn.js")
                self.assert_named(self.functions("--process", words[0]), "burnOuter")
                self.remove_maps(set())

    @needs_root
    def test_java(self):
        if shutil.which("java") is None or shutil.which("javac") is None:
            self.skipTest("there is no JDK here")
        with open("Burn.java", "w", encoding="ascii") as file:
            file.write(JAVA)
        self.assertEqual(run("javac", "Burn.java").returncode, 0)
        option = "-XX:+DumpPerfMapAtExit"
        if run("java", "-XX:+UnlockDiagnosticVMOptions", option, "-version").returncode != 0:
            self.skipTest("this Java writes no perf maps")
        words, _ = self.record("java", "-XX:+UnlockDiagnosticVMOptions", option, "Burn")
        self.assert_named(self.functions("--process", words[0]), "burnInner")

    @needs_root
    def test_python(self):
        if sys.version_info < (3, 12):
            self.skipTest("this Python writes no perf maps: it is older than 3.12")
        script = "import os, time\ndef burn():\n    return sum(i * i for i in range(20000))\n" \
                 "end = time.time() + 1.2\nwhile time.time() < end: burn()\nprint(os.getpid())"
        words, _ = self.record(sys.executable, "-X", "perf", "-c", script)
        self.assert_named(self.functions("--process", words[0]), "burn")


if __name__ == "__main__":
    tap.main()
