#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the seconds until the answer of docs/profiling.md: for each workload the commands of Sysprof, then those of perf,
several times in turns. Each recording contains a run of the program. Prints the median, minimum and maximum of the sums.

usage: measure.py BUILD-DIRECTORY ROUNDS [WORKLOAD…]"""

import importlib
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BY_CPU = ("perf record -q --call-graph dwarf -o perf.data --", "perf report -i perf.data --stdio --children -g none")
BY_FRAME_POINTER = ("perf record -q -g -o perf.data --", "perf report -i perf.data --stdio --children -g none")
BY_PROCESS = ("perf record -q -g -o perf.data --", "perf report -i perf.data --stdio --no-children -g none --sort comm")
LIST = "perf report -i perf.data --stdio --children -g none --sort symbol"


def by_syscall(name):
    """The time in system calls, then the functions that make one of them."""
    return "perf trace -s --", f"perf record -q -e syscalls:sys_enter_{name} --call-graph dwarf -o perf.data --", LIST


# A command that ends in -- gets the program.
PERF = {
    "compile_cxx": (*BY_PROCESS, LIST + " --comm cc1plus"),
    "sort_in_sqlite": BY_CPU,
    "map_in_go": BY_FRAME_POINTER,
    "templates_in_cxx": BY_CPU,
    "lock": by_syscall("futex"),
    "fsync": by_syscall("fsync"),
    "pipeline": ("perf sched record -q -o perf.data --", "perf sched latency -i perf.data -s runtime"),
    "loop_in_python": BY_CPU,
    "node": BY_FRAME_POINTER,
    "node_with_names": BY_FRAME_POINTER,
    "growing_cache": ("perf record -q -e page-faults -c 1 --call-graph dwarf -o perf.data --", LIST),
    "frames_in_gtk": BY_CPU,
}


def seconds(commands, program, environment):
    start = time.monotonic()
    for command in commands:
        words = shlex.split(command) + (program if command.endswith("--") else [])
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
    return time.monotonic() - start


def main(build, rounds, names):
    build = os.path.abspath(build)
    os.environ["WORKLOADS"] = os.path.join(build, "tests/workloads")
    sys.path[:0] = [HERE, os.path.join(HERE, "../e2e"), os.path.join(HERE, "../data")]
    table = importlib.import_module("test-workloads")
    os.chdir(tempfile.mkdtemp())
    print("load averages:", *os.getloadavg())
    for name in names or PERF:
        workload = table.WORKLOADS[name]
        ours = (shlex.join([f"{build}/src/cli/sysprof-cli", "-f", *workload.get("options", ()), "x.syscap", "--"]), f"{build}/src/report/sysprof-report x.syscap")
        program = workload["command"]
        found = {"sysprof": [], "perf": []}
        with table.screen_of_x() as environment:
            for _ in range(rounds):
                found["sysprof"].append(seconds(ours, program, environment))
                more = ["--perf-basic-prof"] if name == "node_with_names" else []
                found["perf"].append(seconds(PERF[name], program[:1] + more + program[1:], environment))
        for tool, times in found.items():
            print(f"{name:18} {tool:8} {statistics.median(times):6.1f} s [{min(times):.1f} … {max(times):.1f}]", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
