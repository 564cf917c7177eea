#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first screen of a report has the answer: programs with one bottleneck each, recorded with one command and read with
one. Each row of WORKLOADS has the program, the options of sysprof-cli, and findings that the summary must contain."""

import contextlib
import json
import os
import re
import shutil
import subprocess

import tap
from programs import CLI, REPORT, Case, needs_root, run, skip_without_bpf

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.environ.get("WORKLOADS", ".")
SCREEN = 24  # lines
NOT_RECORDED = "Off-CPU: not recorded"


def source(name):
    return os.path.join(HERE, name)


def built(name):
    return os.path.join(BUILT, name)


def missing_in_python(symbol):
    """Distributions strip Python, so that its own functions have no names."""
    asked = ("import os, sys, sysconfig; print(sys.executable)\n"
             "print(os.path.join(sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('INSTSONAME') or ''))")
    files = [path for path in run("python3", "-c", asked).stdout.decode().splitlines() if os.path.isfile(path)]
    if symbol in run("nm", *files).stdout.decode(errors="replace").split():
        return None
    return f"this Python has no symbol {symbol}"


# Members of findings: a number is the least value, a text is a regular expression for the whole value.
WORKLOADS = {
    "compile_cxx": dict(
        command=["g++", "-O0", "-c", source("tuples.cc"), "-o", "tuples.o"],
        findings=[dict(kind="cpu", process="cc1plus", share=0.5),
                  dict(kind="cpu", symbol=r"(symbol_table::finalize_compilation_unit|c_common_parse_file|c_parse_final_cleanups).*")],
        # The classes are created from templates, and each of their functions is compiled.
        functions={r"instantiate_class_template\(.*": 0.02, r"cgraph_node::expand\(\)": 0.1},
        screen=["cc1plus"]),
    "sort_in_sqlite": dict(
        command=[built("sort-orders")],
        findings=[dict(kind="cpu", symbol="list_orders", share=0.5, text=".*sqlite3_step.*")],
        screen=["list_orders", "sqlite3_step"]),
    "map_in_go": dict(
        command=[built("count-words")],
        findings=[dict(kind="cpu", symbol="main.countWords", share=0.4, text=r".*runtime\.mapassign_faststr.*")],
        screen=["main.countWords", "runtime.mapassign_faststr"]),
    "templates_in_cxx": dict(
        command=[built("sort-names")],
        findings=[dict(kind="cpu", symbol=r"sort_names\(.*", share=0.4, text=".*stable_sort.*")],
        screen=["sort_names"]),
    "lock": dict(
        options=["--off-cpu"], command=[built("update-table")],
        findings=[dict(kind="lock", process="update-table/.*", symbol="update_table", share=0.2)],
        screen=["pthread_mutex_lock ← update_table"]),
    "fsync": dict(
        options=["--off-cpu"], command=[built("append-records")],
        findings=[dict(kind="io", process="append-records/.*", symbol="append_record", share=0.2)],
        screen=["fsync ← append_record"]),
    "pipeline": dict(
        options=["--off-cpu"], command=[source("compress-numbers.sh")],
        findings=[dict(kind="child", process="gzip/.*", share=0.5)],
        screen=["depended on gzip"]),
    "loop_in_python": dict(
        command=["python3", source("find-duplicates.py")],
        findings=[dict(kind="interpreter", process="python3.*", share=0.9, remedy=".*--runtime-names.*")],
        screen=["--runtime-names"]),
    "loop_in_python_with_symbols": dict(
        command=["python3", source("find-duplicates.py")], missing=lambda: missing_in_python("list_contains"),
        findings=[dict(kind="cpu", symbol="list_contains", share=0.5)],
        screen=["list_contains"]),
    "node": dict(
        command=["node", source("sum-scores.js")],
        findings=[dict(kind="interpreter", process="node.*", share=0.8, remedy=".*--runtime-names.*")],
        screen=["--runtime-names"]),
    "node_with_names": dict(
        options=["--runtime-names"], command=["node", source("sum-scores.js")],
        findings=[dict(kind="cpu", symbol=".*sumScores.*", share=0.3)],
        screen=["sumScores"]),
    "growing_cache": dict(
        command=[built("fill-cache")],
        findings=[dict(kind="memory-growth", process="fill-cache/.*"),
                  dict(kind="cpu", symbol="remember_answer", share=0.3)],
        check=lambda test, summary, output: test.check_growth(summary, output),
        screen=["fill-cache uses", "MB/s"]),
    "frames_in_gtk": dict(
        command=[built("draw-chart")], needs_screen=True,
        findings=[dict(kind="frames", process="draw-chart/.*", symbol="draw_grid", share=0.05)],
        screen=["frames took more than 16.7 ms", "draw_grid"]),
}


def matches(finding, wanted):
    for member, value in wanted.items():
        if member not in finding:
            return False
        if isinstance(value, float):
            if finding[member] < value:
                return False
        elif not re.fullmatch(value, finding[member], re.DOTALL):
            return False
    return True


@contextlib.contextmanager
def screen_of_x():
    """An X server, and the environment in which GTK draws on it."""
    reading, writing = os.pipe()
    with subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp"], pass_fds=[writing],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        try:
            with open(reading, encoding="ascii") as file:
                number = file.readline().strip()  # when the server is ready
            yield dict(os.environ, DISPLAY=":" + number, GDK_BACKEND="x11", GSK_RENDERER="cairo", NO_AT_BRIDGE="1", GTK_A11Y="none",
                       GSETTINGS_BACKEND="memory")
        finally:
            server.terminate()


class Workloads(Case):
    def record(self, name):
        workload = WORKLOADS[name]
        program = workload["command"][0]
        if shutil.which(program) is None:
            self.skipTest(f"no {os.path.basename(program)}: it, its compiler or its library is not installed")
        if workload.get("needs_screen") and shutil.which("Xvfb") is None:
            self.skipTest("no Xvfb: it is not installed")
        reason = workload["missing"]() if "missing" in workload else None
        if reason:
            self.skipTest(reason)
        screen = screen_of_x() if workload.get("needs_screen") else contextlib.nullcontext()
        with screen as environment:
            done = run(CLI, *workload.get("options", ()), name + ".syscap", "--", *workload["command"], env=environment)
        told = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, told)
        if NOT_RECORDED in told:
            skip_without_bpf(self, told)
        return done.stdout.decode()

    def check_growth(self, summary, output):
        """The program prints what it kept, and in which time. The recorder reads the memory twice a second."""
        kept, seconds = map(float, re.match(r"(\d+) bytes ([\d.]+) s", output).groups())
        row, = (row for row in summary["memory"] if row["process"].startswith("fill-cache"))
        self.assertGreater(row["last"] - row["first"], kept / 2)
        self.assertLess(row["last"] - row["first"], kept * 1.1)
        text, = (finding["text"] for finding in summary["findings"] if finding["kind"] == "memory-growth")
        number, unit = re.search(r"([\d.]+) ([kMG]?B)/s", text).groups()
        rate = float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
        self.assertGreater(rate, kept / seconds / 2)
        self.assertLess(rate, kept / seconds * 2)

    def check(self, name, output):
        workload = WORKLOADS[name]
        done = run(REPORT, "summary", "--format", "json", name + ".syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        for finding in workload["findings"]:
            self.assertTrue(any(matches(row, finding) for row in summary["findings"]),
                            f"{finding} in\n{json.dumps(summary['findings'], indent=1)}")
        total = summary["weight"]["total"]
        for pattern, share in workload.get("functions", {}).items():
            most = max((row["total"] for row in summary["functions"] if re.fullmatch(pattern, row["symbol"])), default=0)
            self.assertGreaterEqual(most / total, share, pattern)
        if "check" in workload:
            workload["check"](self, summary, output)
        done = run(REPORT, name + ".syscap")
        lines = done.stdout.decode().splitlines()[:SCREEN]
        words = " ".join(" ".join(lines).split())  # sentences are wrapped anywhere
        for text in workload["screen"]:
            self.assertTrue(text in words, f"{text} in\n" + "\n".join(lines))


def add_test(name):
    def test(self):
        self.check(name, self.record(name))
    setattr(Workloads, "test_" + name, needs_root(test))


for each in WORKLOADS:
    add_test(each)


if __name__ == "__main__":
    tap.main()
