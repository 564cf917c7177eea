#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the time from a recording without names to the first printed functions, and the time that other
tools need to symbolize all its addresses.

A compiler, Python and a browser are recorded at 10 kHz by ours (--no-decode) and, in the next turn, by
perf. The recordings are kept in the build directory (`make clean` removes them; --record makes new ones).
Programs of distributions have no debug information. Therefore the work includes Go's compiler, built here
with it, and a C++ program (-O2 -g) with many inlined templates. Debian has debug information for Python
and libc (`scripts/install-deps build work`).

Without Go or a C++ compiler this part of the work is skipped with a message, and its files are not
measured.

Then `sysprof-report functions` and `perf report` run in turns, with inlined functions and without, each
warm, and cold: with the page cache dropped before. Ours uses its symbol cache (SYSPROF_SYMBOL_CACHE), or
none, and logs (G_MESSAGES_DEBUG) how long it takes for names, and for lines with inlined functions.
`addr2line`, `eu-addr2line` and `llvm-symbolizer` get the same distinct addresses, file by file, with
functions (-f) and inlined ones (-i). They print no report. Two times are compared with them, in the same
turns:

- All files: the time that `sysprof-report` logs for names and lines together. The time of the other tools
is that of each process from start to end, including input and output. Ours is one process. Its time begins
after the capture was read and ends when names, lines and inlined functions are in its tables. It includes
finding the files, starting the parsing processes, and resolving the addresses of each process, of the
kernel and of generated code, which the other tools do not resolve. It does not include the start of the
program, reading the capture and printing a report.
- Files with debug information, program against program: `print-lines`, which prints the answers of our
reader in the format of addr2line, gets the same lists of addresses and is timed in the same way. It gets
the paths of the debug file and of its dwz supplement as arguments, while the other tools search for them.

A tool that takes longer than --most-seconds for a report, or for one file, is ended there and marked. That
time is counted, and the tool does not get this file again. Each tool runs --tool-rounds times, or as often
as fits into --tool-seconds, but at least once. The whole benchmark takes about five minutes."""
import argparse
import bisect
import collections
import contextlib
import os
import pathlib
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import threading
import time

import machine_work
import turns

FREQUENCY = 10000
CLASSES = ('compiler', 'Python', 'browser')
FOLDER = turns.BUILD / 'recordings/symbols'
PRINT_LINES = turns.BUILD / 'bench/bench-print-lines'
SAMPLE, MAP = 2, 3
EXECUTABLE = 1  # of a segment's flags

# Programs with debug information, which stay beside the recordings: all ask them again.
BUILD_GO = """
[ -e compile ] || GO111MODULE=off GOFLAGS= go build -o compile cmd/compile
cat >tool <<END
#!/bin/sh
case \\$1 in */compile) shift; exec "$PWD/compile" "\\$@" ;; esac
exec "\\$@"
END
chmod +x tool
"""

GO = """
export GOCACHE="$PWD/cache" GO111MODULE=off GOFLAGS=
while :; do go build -a -p 1 -toolexec "$0/tool" net/http; done
"""

BUILD_CPP = """
cat >templates.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

int main ()
{
  std::mt19937_64 random (1);
  std::regex words ("([a-z]+)[0-9]*|[0-9]+([.][0-9]+)?");
  for (size_t round = 0;; round++)
    {
      std::unordered_map<std::string, std::vector<double>> rows;
      std::map<std::string, std::variant<double, std::string>> sums;
      for (int i = 0; i < 20000; i++)
        {
          std::ostringstream text;
          text << "row" << random () % 500 << " " << i * 0.5;
          std::istringstream parts (text.str ());
          std::string name;
          double value;
          parts >> name >> value;
          rows[name].push_back (value);
          if (i % 20 == 0)
            for (std::sregex_iterator it (name.begin (), name.end (), words), end; it != end; ++it)
              sums[(*it)[1].str ()] = it->str ();
        }
      for (auto &[name, values] : rows)
        {
          std::sort (values.begin (), values.end (), [] (double a, double b) { return a > b; });
          sums[name] = std::accumulate (values.begin (), values.end (), 0.0);
        }
      std::vector<std::shared_ptr<std::string>> names;
      for (auto &[name, sum] : sums)
        names.push_back (std::make_shared<std::string> (std::visit ([&name = name] (auto &it) { std::ostringstream s; s << name << it; return s.str (); }, sum)));
      std::stable_sort (names.begin (), names.end (), [] (auto &a, auto &b) { return a->size () < b->size () || *a < *b; });
      std::vector<std::function<size_t (size_t)>> steps;
      for (auto &name : names)
        steps.push_back ([name] (size_t n) { return std::hash<std::string> () (*name) ^ n; });
      size_t hash = round;
      for (auto &step : steps)
        hash = step (hash);
      if (hash == 1)
        puts ("one");
    }
}
END
g++ -std=c++17 -O2 -g -o templates templates.cc
"""


def build_work():
    """The commands of the work that can be built here."""
    commands = []
    for tool, package, script, command in (('go', 'golang', BUILD_GO, ['sh', '-c', GO, FOLDER]),
                                           ('g++', 'g++', BUILD_CPP, [FOLDER / 'templates'])):
        if not shutil.which(tool):
            print(f'   {tool} is not installed: its part of the work is left out. Install {package} (scripts/install-deps build work) for figures '
                  'that can be compared with those of docs/performance.md.')
            continue
        done = subprocess.run(['sh', '-euc', script], cwd=FOLDER, text=True, capture_output=True)
        if done.returncode == 0:
            commands.append(command)
        else:
            print(f'   {tool} could not build its part of the work, which is left out: {(done.stderr.strip().splitlines() or ["it said nothing"])[-1]}')
    return commands


def record(thousands):
    missing = [tool for tool in ('perf', 'gcc', 'python3', 'chromium') if not shutil.which(tool)]
    if missing:
        sys.exit(f"Cannot record: {', '.join(missing)} is what the work is made of, and not installed. Install it (scripts/install-deps build work), "
                 'or run this where it is.')
    FOLDER.mkdir(parents=True, exist_ok=True)
    seconds = thousands * 1000 / FREQUENCY / turns.n_cpus()
    commands = {
        'ours': [turns.CLI, '-f', '-F', FREQUENCY, '-d', seconds, '--quiet', '--no-decode', FOLDER / 'bare.syscap'],
        'perf': ['perf', 'record', '-q', '-B', '-N', '-g', '-a', '-e', 'cpu-clock', '-c', 1000000000 // FREQUENCY, '-o', FOLDER / 'perf.data',
                 'sleep', seconds],
    }
    work = build_work()
    for name, command in commands.items():
        with contextlib.ExitStack() as stack:
            directory = stack.enter_context(turns.scratch())
            for words in work:
                stack.callback(machine_work.Script(words, directory).end)
            stack.enter_context(machine_work.Machine(directory, CLASSES))
            time.sleep(2)
            print(f'   recording {seconds:g} s with {name}', flush=True)
            turns.run(command)


class Mappings:
    """Of one process: what was mapped last at an address."""

    def __init__(self):
        self.starts, self.rows = [], []

    def add(self, row):
        at = bisect.bisect_left(self.starts, row[0])
        if at < len(self.starts) and self.starts[at] == row[0]:
            self.rows[at] = row
        else:
            self.starts.insert(at, row[0])
            self.rows.insert(at, row)

    def find(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return self.rows[at] if at >= 0 and address < self.rows[at][1] else None


def offsets_of_files(capture):
    """{path: set of offsets} of the user addresses of all samples."""
    mappings, seen, offsets = collections.defaultdict(Mappings), set(), collections.defaultdict(set)
    for kind, _, frame in turns.frames(capture):
        pid, = struct.unpack_from('<i', frame, 4)
        if kind == MAP:
            start, end, offset = struct.unpack_from('<QQQ', frame, 24)
            mappings[pid].add((start, end, offset, frame[56:].split(b'\0', 1)[0].decode(errors='replace')))
        elif kind == SAMPLE:
            n, = struct.unpack_from('<H', frame, 24)
            for address in struct.unpack_from(f'<{n}Q', frame, 32):
                if address >= 1 << 63 or (pid, address) in seen:
                    continue
                seen.add((pid, address))
                row = mappings[pid].find(address)
                if row and row[3].startswith('/'):
                    offsets[row[3]].add(address - row[0] + row[2])
    return offsets


def link_addresses(path, offsets):
    """Returns the functions that the file's own tools count, or [] if the file is no ELF file of 64 bits."""
    try:
        data = pathlib.Path(path).open('rb').read(1 << 16)
    except OSError:
        return []
    if data[:6] != b'\x7fELF\x02\x01':
        return []
    at, = struct.unpack_from('<Q', data, 32)
    size, n = struct.unpack_from('<HH', data, 54)
    segments = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(n)]
    return sorted(offset - start + address for kind, flags, start, address, _, length in segments if kind == 1 and flags & EXECUTABLE
                  for offset in offsets if start <= offset < start + length)


def drop_caches():
    os.sync()
    pathlib.Path('/proc/sys/vm/drop_caches').write_text('3')


Memory = collections.namedtuple('Memory', 'anonymous resident resident_alone')  # KiB


def memory_of(pid):
    """Of a process with its children, which any of its threads may have started. Shared pages count for each
    of them."""
    try:
        text = pathlib.Path(f'/proc/{pid}/status').read_text()
        below = [child for task in pathlib.Path(f'/proc/{pid}/task').iterdir() for child in (task / 'children').read_text().split()]
    except OSError:
        return Memory(0, 0, 0)
    anonymous, resident = (int(found[1]) if (found := re.search(rf'^{field}:\s+(\d+) kB', text, re.M)) else 0
                           for field in ('RssAnon', 'VmRSS'))
    children = [memory_of(child) for child in below]
    return Memory(anonymous + sum(child.anonymous for child in children), resident + sum(child.resident for child in children), resident)


def own_memory(command, environment, is_cold=False):
    """Memory, each the most there was at once. Looked at every few milliseconds, so not timed."""
    def watch():
        while not is_done.is_set():
            seen.append(memory_of(process.pid))
            time.sleep(0.003)

    if is_cold:
        drop_caches()
    seen, is_done = [Memory(0, 0, 0)], threading.Event()
    process, began = turns.start(command, env=environment)
    watcher = threading.Thread(target=watch)
    watcher.start()
    turns.finish(process, began)
    is_done.set()
    watcher.join()
    return Memory(*map(max, zip(*seen)))


def timed(command, peak, is_cold, most_seconds, text=None, environment=None):
    """Seconds, or None where it failed or took too long."""
    def cap():
        resource.setrlimit(resource.RLIMIT_CPU, (most_seconds,) * 2)

    if is_cold:
        drop_caches()
    stdin = open(text, 'rb') if text else subprocess.DEVNULL
    usage = turns.run(command, stdin=stdin, preexec_fn=cap, env=environment)
    if text:
        stdin.close()
    if usage.status < 0 or (usage.status > 0 and not text):  # tools say so, too, that they do not know an address
        return None
    peak.append(usage.peak_kib)
    return usage.wall


def keeping(directory):
    return dict(os.environ, SYSPROF_SYMBOL_CACHE=str(directory))


def told(command, environment, is_cold):
    """{'Names': ms, 'Lines': ms} of one run, as the program itself says."""
    if is_cold:
        drop_caches()
    done = subprocess.run([str(word) for word in command], env=dict(environment, G_MESSAGES_DEBUG='all'), text=True, errors='replace',
                          capture_output=True, check=True)
    return {what: float(time) for what, time in re.findall(r'(Names|Lines) of \d+ addresses took ([0-9.]+) ms', done.stdout + done.stderr)}


def show_memory(contestants):
    turns.heading('memory of that, with all children')
    for name, (command, environment) in contestants.items():
        for is_cold in (False, True):
            memory = own_memory(command, environment, is_cold)
            print(f'   {name + (", cold" if is_cold else ""):28} {memory.anonymous / 1024:10.0f} MiB that is no file\'s, {memory.resident / 1024:.0f} MiB'
                  f' resident; the program alone {memory.resident_alone / 1024:.0f} MiB')


def compare_memory(directory):
    """Of ours alone, for who has no recording by perf."""
    functions = [turns.REPORT, 'functions', FOLDER / 'bare.syscap']
    kept = keeping(f'{directory}/kept')
    turns.run(functions, env=kept)
    show_memory({'sysprof-report': (functions, kept), 'nothing kept': (functions, keeping(''))})


def compare_reports(options, directory):
    functions = [turns.REPORT, 'functions', FOLDER / 'bare.syscap']
    perf = ['perf', 'report', '--stdio', '--no-children', '-g', 'none', '-i', FOLDER / 'perf.data']
    kept, nothing = keeping(f'{directory}/kept'), keeping('')
    contestants = {
        'sysprof-report': (functions, kept),
        'nothing kept': (functions, nothing),
        'perf report': ([*perf, '--no-inline'], None),
        'perf report, inlined': ([*perf, '--inline'], None),
    }
    timed(functions, [], False, options.most_seconds, environment=kept)  # the page cache is filled, and what files answer is kept
    for is_cold in (False, True):
        peak = {name: [] for name in contestants}
        wall = turns.in_turns({
            name: (lambda name=name, command=command, environment=environment:
                   timed(command, peak[name], is_cold, options.most_seconds, environment=environment))
            for name, (command, environment) in contestants.items()}, options.rounds)
        turns.heading(f'from a recording without names to the first names on screen, {"cold" if is_cold else "warm"}')
        turns.show(wall, 's', digits=3)
        turns.show(peak, 'MiB', scale=1 / 1024, digits=0)
        parts = {'': kept, ', nothing kept': nothing}
        rows = [{name: told(functions, environment, is_cold) for name, environment in parts.items()} for _ in range(options.rounds)]
        for what in ('Names', 'Lines'):
            turns.show({f'{what.lower()} of that{name}': [row[name][what] for row in rows] for name in parts}, 'ms', digits=0)
    show_memory({name: contestants[name] for name in ('sysprof-report', 'nothing kept')})


def ask_readelf(option, file):
    return subprocess.run(['readelf', '-W', *option.split(), file], capture_output=True, text=True, errors='replace').stdout


def debug_file_of(path):
    """The file itself, or a separate one that its build id leads to; None where neither has debug information."""
    build_id = re.search(r'Build ID: ([0-9a-f]{2})([0-9a-f]+)', ask_readelf('-n', path))
    files = [path] + ([f'/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug'] if build_id else [])
    return next((file for file in files if os.path.exists(file) and '.debug_info' in ask_readelf('-S', file)), None)


def print_lines_of(path):
    """Our reader as a program for that file."""
    file = debug_file_of(path)
    link = re.search(r'\]\s+(\S+)', ask_readelf('-p .gnu_debugaltlink', file))
    supplement = ['-s', os.path.join(os.path.dirname(file), link[1])] if link else []
    return [PRINT_LINES, *supplement, file]


class Tool:
    """A tool that gets one file at a time. A file that takes too long is not passed to it again, and counts
    as that long."""

    def __init__(self, command_of, options):
        self.command_of, self.options = command_of, options
        self.given_up, self.peak, self.of_debug, self.spent = set(), [], [], 0

    def name_all(self, lists, with_debug):
        if self.spent * (1 + 1 / max(len(self.of_debug), 1)) > self.options.tool_seconds:
            return None
        peak, seconds = [], {}
        for path, text in lists.items():
            one = None if path in self.given_up else timed(self.command_of(path), peak, False, self.options.most_seconds, text)
            seconds[path] = self.options.most_seconds if one is None else one
            if one is None:
                self.given_up.add(path)
        self.peak.append(max(peak, default=0))
        self.of_debug.append(sum(seconds[path] for path in with_debug))
        self.spent += sum(seconds.values())
        return sum(seconds.values())


def show_times(ours, others):
    """How many times as long as ours others take, turn by turn."""
    for name, values in others.items():
        times = [theirs / own for own, theirs in zip(ours, values)]
        if times:
            print(f'   {name:28} takes {statistics.median(times):.1f} times as long [{min(times):.1f} … {max(times):.1f}], {len(times)} rounds')


def compare_tools(options, directory):
    addresses = {path: link_addresses(path, offsets) for path, offsets in offsets_of_files(FOLDER / 'bare.syscap').items()}
    addresses = {path: found for path, found in addresses.items() if found}
    with_debug = {path for path in addresses if debug_file_of(path)}
    lists = {}
    for number, (path, found) in enumerate(addresses.items()):
        lists[path] = f'{directory}/{number}'
        pathlib.Path(lists[path]).write_text(''.join(f'{address:#x}\n' for address in found))
    tools = {name: Tool(lambda path, words=name.split(): [*words, path], options)
             for name in ('addr2line -f -i -e', 'eu-addr2line -f -i -e', 'llvm-symbolizer --inlining -e') if turns.have(name.split()[0])}
    commands = {path: print_lines_of(path) for path in with_debug}
    program = Tool(commands.get, options)
    functions = [turns.REPORT, 'functions', FOLDER / 'bare.syscap']
    rows = []

    def ours():
        rows.append(told(functions, keeping(''), False))
        return sum(rows[-1].values()) / 1000

    timed(functions, [], False, options.most_seconds, environment=keeping(f'{directory}/kept'))
    contestants = {
        'ours': ours,
        'ours, kept': lambda: sum(told(functions, keeping(f'{directory}/kept'), False).values()) / 1000,
        'print-lines': lambda: program.name_all({path: lists[path] for path in sorted(with_debug)}, with_debug)}
    wall = turns.in_turns({**contestants, **{name: (lambda tool=tool: tool.name_all(lists, with_debug)) for name, tool in tools.items()}},
                          options.tool_rounds)
    wall.pop('print-lines')
    turns.heading(f'names and lines of {sum(map(len, addresses.values()))} distinct addresses of {len(addresses)} files, warm')
    turns.show(wall, 's', digits=3, has_ratios=False)
    turns.show({what.lower(): [row[what] / 1000 for row in rows] for what in ('Names', 'Lines')}, 's', digits=3, has_ratios=False)
    show_times(wall['ours'], {name: values for name, values in wall.items() if name != 'ours'})
    turns.heading(f'program against program: {sum(len(addresses[path]) for path in with_debug)} of these, of {len(with_debug)} files with debug information')
    turns.show({'print-lines': program.of_debug, **{name: tool.of_debug for name, tool in tools.items()}}, 's', digits=3, has_ratios=False)
    show_times(program.of_debug, {name: tool.of_debug for name, tool in tools.items()})
    turns.show({name: tool.peak for name, tool in {'print-lines': program, **tools}.items()}, 'MiB', scale=1 / 1024, digits=0, has_ratios=False)
    for name, tool in tools.items():
        for path in sorted(tool.given_up):
            print(f'   {name}: {path} took longer than {options.most_seconds} s of CPU, and counts as that')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--thousands', type=int, default=1000, help='thousands of samples')
    parser.add_argument('--record', action='store_true', help='make the recordings anew')
    parser.add_argument('--most-seconds', type=int, default=30, help='of CPU time, for one run of a peer')
    parser.add_argument('--tool-rounds', type=int, default=5)
    parser.add_argument('--tool-seconds', type=int, default=60, help='for all rounds of one tool')
    parser.add_argument('--no-tools', action='store_true', help='reports alone')
    parser.add_argument('--no-reports', action='store_true', help='tools alone')
    parser.add_argument('--only-memory', action='store_true', help='that of our reports, of a recording that is there')
    options = parser.parse_args()
    if options.only_memory:
        if not (FOLDER / 'bare.syscap').exists():
            sys.exit(f"There is no recording to report of: '{FOLDER / 'bare.syscap'}' is not there. Run this once without --only-memory.")
        with turns.scratch() as directory:
            compare_memory(directory)
        return
    needed = 'bare.syscap' if options.no_reports else 'perf.data'
    if options.record or not (FOLDER / needed).exists():
        record(options.thousands)
    if not options.no_reports:
        with turns.scratch() as directory:
            compare_reports(options, directory)
    if not options.no_tools:
        with turns.scratch() as directory:
            compare_tools(options, directory)


main()
