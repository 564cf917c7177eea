# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions, inlined calls and lines of addresses of a file: from sysprof-report, for a capture with one
sample at each, and from addr2line of binutils and of elfutils.

An answer is a chain, innermost first: [(function, file, line)], "??" and 0 where nothing is known."""

import bisect
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess

from captures import USER, Capture

PID, BASE = 4000001, 0x7F0000000000  # above the largest pid: no such process lives
DEBUG_ROOT = "/usr/lib/debug"
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "DEBUGINFOD_URLS": ""}


def output(*command, text=None, check=True):
    done = subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode != 0 and check:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


class Code:
    """Returns the instructions of a file: .text, and the segment that contains it."""

    def __init__(self, path, debug_roots=(DEBUG_ROOT,)):
        self.path = os.path.realpath(path)
        sections = output("readelf", "-SW", self.path)
        text = re.search(r"\] \.text +PROGBITS +(\w+) (\w+) (\w+)", sections)
        self.start, self.offset, size = (int(number, 16) for number in text.groups())
        self.end = self.start + size
        build_id = re.search(r"Build ID: (\w+)", output("readelf", "-nW", self.path))
        names = [f"{root}/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug" for root in debug_roots] if build_id else []
        names = [name for name in names if os.path.exists(name)]
        if not names and " .debug_info " in sections:
            names = [self.path]
        self.debug = names[0] if names else None  # who has the debug information


def ask_report(report, code, addresses, scratch, options=()):
    """{address: chain} by `sysprof-report samples`."""
    chains = {}
    for first in range(0, len(addresses), 200000):
        some = addresses[first:first + 200000]
        capture = Capture(0, len(some) + 1)
        capture.process(code.path, pid=PID, time=0)
        page = code.offset & ~4095
        capture.map(BASE, BASE + (code.end - code.start + code.offset - page + 4095 & ~4095), code.path, page,
                    os.stat(code.path).st_ino, pid=PID, time=0)
        for i, address in enumerate(some):
            capture.sample([USER, BASE + address - code.start + code.offset - page], pid=PID, tid=PID, time=i)
        path = capture.save(os.path.join(scratch, "addresses.syscap"))
        rows = json.loads(output(report, "samples", path, "--format", "json", "--limit", "0", *options))["rows"]
        if len(rows) != len(some):
            raise RuntimeError(f"{len(rows)} samples of {len(some)}")
        for row in rows:
            chains[some[row["time"]]] = [
                (entry["symbol"], os.path.normpath(entry["file"]) if "file" in entry else "??", entry.get("line", 0))
                for entry in row["stack"] if entry["kind"] != "marker"]
        os.unlink(path)
    return chains


def parse_chains(text):
    """Parses the output of `-a -f -i` of both."""
    chains, name, rows = {}, None, None
    for line in text.splitlines():
        if line.startswith("0x") and re.fullmatch(r"0x[0-9a-f]+", line):
            rows, name = chains.setdefault(int(line, 16), []), None
        elif rows is None:
            continue
        elif name is None:
            name = re.sub(r" inlined at .*", "", line)
        else:
            match = re.match(r"(.*?):(\d+|\?)(:\d+)?( \(discriminator \d+\))?$", line)
            number = 0 if match[2] == "?" else int(match[2])
            rows.append((name, "??" if number == 0 or match[1] == "??" else os.path.normpath(match[1]), number))
            name = None
    return chains


def ask_tool(tool, code, addresses):
    """{address: chain} by `addr2line` or `eu-addr2line`."""
    text = "".join(f"0x{address:x}\n" for address in addresses)
    # That of elfutils fails where it has no line for one of them, whatever else it found.
    return parse_chains(output(tool, "-a", "-f", "-i", "-C", "-e", code.debug, text=text, check=False))


def ask_llvm(code, addresses):
    """{address: chain} by `llvm-symbolizer`; {} without it. It does not read what dwz moved into another file."""
    if shutil.which("llvm-symbolizer") is None or ".gnu_debugaltlink" in output("readelf", "-SW", code.debug):
        return {}
    text = "".join(f"0x{address:x}\n" for address in addresses)
    return parse_chains(output("llvm-symbolizer", "-a", "-i", "--output-style=GNU", "-f=linkage", "-e", code.debug, text=text))


# Suffixes that compilers and linkers add to names of copies or parts of functions, and versions.
SUFFIXES = re.compile(r"( \[clone [^]]*\]|\.(part|constprop|isra|cold|lto_priv|localalias)(\.\d+)*|@@?[A-Z][\w.]*)+$")


def source_name(name):
    """As the source calls it: without the compiler's additions, scopes, template arguments and parameters."""
    name = SUFFIXES.sub("", name).removeprefix("__GI_")
    name = re.sub(r"\(anonymous namespace\)|\{lambda\(.*\)#\d+\}|\[abi:\w+\]", "", name)
    depth, plain = 0, ""
    for i, letter in enumerate(name):
        if letter in "<(" and not plain.endswith("operator"):
            depth += 1
        if depth == 0:
            plain += letter
        if letter in ">)" and depth > 0 and name[i - 1] != "-":
            depth -= 1
    return re.sub(r"\s*(const)?\s*$", "", plain).split("::")[-1].split(" ")[-1]


class Symbols:
    """The functions of nm: which names the one around an address has."""

    def __init__(self, code):
        self._rows = collections.defaultdict(set)  # (start, size) → names; of size 0: up to the next one
        for options in (["-D", code.path], [code.debug]):
            text = output("nm", "-S", "-C", "--defined-only", *options, check=False)
            for start, size, name in re.findall(r"^(\w{16}) (?:(\w{16}) )?[tTwWiIuV] (.+)$", text, re.MULTILINE):
                self._rows[int(start, 16), int(size or "0", 16)].add(name)
        self._places = sorted(self._rows)
        self._longest = max(size for _, size in self._places)

    def at(self, address):
        """The names of all functions that hold the address."""
        found = set()
        i = bisect.bisect_right(self._places, (address, 2**64)) - 1
        while i >= 0 and self._places[i][0] > address - self._longest:
            start, size = self._places[i]
            if address < start + size:
                found |= self._rows[start, size]
            i -= 1
        return found

    def before(self, address):
        """Of the nearest symbol in front that does not say how far it reaches; of one that does none."""
        i = bisect.bisect_right(self._places, (address, 2**64)) - 1
        return self._rows[self._places[i]] if i >= 0 and self._places[i][1] == 0 else set()


def same_name(left, right, names=()):
    """`names` are those that one function has: to be it, both have to have one of them."""
    if left == right or (source_name(left) == source_name(right) and not ("(" in left and "(" in right)):
        return True
    known = set(names) | set(map(source_name, names))
    return all(name in known or source_name(name) in known for name in (left, right))


def same_names(ours, theirs, names):
    """Whether both are the same calls; `names` are those of the function around the inlined ones."""
    last = len(ours) - 1
    return len(ours) == len(theirs) and all(
        same_name(mine[0], other[0], names if i == last else ()) for i, (mine, other) in enumerate(zip(ours, theirs)))


BETWEEN = "between functions"
START_UP = "start-up code"
UNEXPLAINED = "unexplained: "


def differences(ours, theirs, witnesses, names, before):
    """Returns the differences between `theirs` and `ours`: none, or some of

    - "between functions": no symbol contains the address, and ours reports this;
    - "start-up code": the preceding symbol, which ours names, has no size and no line;
    - "fewer calls", "more calls": another chain has the calls of ours, each at its line;
    - "innermost name", "inner file", "outermost line", …: at one level of the chain, where another tool
    agrees with ours.

    `names` are those of the symbols that contain the address, `before` those of the preceding one.
    `witnesses` are the chains of other tools; a difference that none of them confirms is unexplained."""
    if same_names(ours, theirs, names) and all(mine[1:] == other[1:] for mine, other in zip(ours, theirs)):
        return set()
    if not names and [(name in before, file, line) for name, file, line in ours] == [(True, "??", 0)]:
        return {START_UP}
    if not names:
        lines = {chain[0][1:] for chain in (theirs, *witnesses)} | {("??", 0)}
        is_good = len(ours) == 1 and ours[0][0].startswith("[") and ours[0][1:] in lines
        return {BETWEEN if is_good else UNEXPLAINED + BETWEEN}

    witnesses = [chain for chain in witnesses if same_names(ours, chain, names) or len(chain) == len(ours) == len(theirs)]
    found = set()

    def add(kind, is_witnessed):
        found.add(kind if is_witnessed else UNEXPLAINED + kind)

    if len(theirs) != len(ours):
        add("fewer calls" if len(theirs) < len(ours) else "more calls",
            any(same_names(ours, chain, names) and [row[2] for row in ours] == [row[2] for row in chain] for chain in witnesses))
        return found
    last = len(ours) - 1
    for i, (mine, other) in enumerate(zip(ours, theirs)):
        place = "outermost" if i == last else "inner" if i > 0 else "innermost"
        around = names if i == last else ()
        if not same_name(mine[0], other[0], around):
            add(f"{place} name", any(same_name(mine[0], chain[i][0], around) for chain in witnesses))
        if mine[2] != other[2]:
            add(f"{place} line", any(mine[1:] == chain[i][1:] for chain in witnesses))
        elif mine[1] != other[1]:
            add(f"{place} file", any(mine[1:] == chain[i][1:] for chain in witnesses))
    return found


TOOLS = {"binutils": "addr2line", "elfutils": "eu-addr2line"}  # whom we compare with


class Comparison:
    """Of addresses of a file: how many answers are the same, and each kind of difference."""

    def __init__(self, code):
        self._code = code
        self._symbols = Symbols(code)
        self.n = self.n_between = 0
        self.functions, self.chains, self.lines = (collections.Counter() for _ in range(3))  # that are equal, by tool
        self.differences = collections.defaultdict(collections.Counter)  # by tool
        self.unexplained = []  # (address, {who: chain})

    def ask(self, report, addresses, scratch, options=()):
        """{who: {address: chain}}, all at a time."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = {"ours": pool.submit(ask_report, report, self._code, addresses, scratch, options),
                     "LLVM": pool.submit(ask_llvm, self._code, addresses)}
            asked.update((who, pool.submit(ask_tool, tool, self._code, addresses)) for who, tool in TOOLS.items())
            return {who: answer.result() for who, answer in asked.items()}

    def add(self, addresses, answers):
        for address in addresses:
            chains = {who: answer.get(address, [("??", "??", 0)]) for who, answer in answers.items() if answer}
            self._add(address, chains.pop("ours"), chains)

    def _add(self, address, ours, others):
        names, before = self._symbols.at(address), self._symbols.before(address)
        self.n += 1
        self.n_between += not names
        is_unexplained = False
        for tool in TOOLS:
            theirs = others[tool]
            witnesses = [chain for who, chain in others.items() if who != tool]
            kinds = differences(ours, theirs, witnesses, names, before)
            if names:
                self.functions[tool] += same_name(ours[-1][0], theirs[-1][0], names)
                self.chains[tool] += same_names(ours, theirs, names)
                self.lines[tool] += [row[1:] for row in ours] == [row[1:] for row in theirs]
            self.differences[tool].update(kinds)
            is_unexplained = is_unexplained or any(kind.startswith(UNEXPLAINED) for kind in kinds)
        if is_unexplained:
            self.unexplained.append((address, {"ours": ours, **others}))
