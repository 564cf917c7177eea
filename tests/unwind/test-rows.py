#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables against readelf: every row that readelf interprets is in force where it says, in every file.

usage: test-rows.py PRINT-TABLE [all|many|arm64 DIRECTORY|FILE...]

Without files: a dozen libraries and programs of the system. `all`: every ELF file of the usual directories, which takes
an hour on a well-equipped machine. `many`: those of them that come first in an order of no meaning, up to MANY bytes.
`arm64`: libraries of that machine, whatever this one is.
"""

import bisect
import os
import re
import subprocess
import sys
import zlib

import emulator

PRINT_TABLE = emulator.command(sys.argv[1])
FEW = ["libc.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libcrypto.so.3", "libglib-2.0.so.0",
       "libz.so.1", "/usr/bin/bash", "/usr/bin/git", "/usr/bin/python3", "/usr/bin/perl"]
EVERYWHERE = ["/usr/lib/x86_64-linux-gnu", "/usr/bin", "/usr/sbin", "/usr/lib/gcc", "/usr/libexec"]
MANY = 48 << 20
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
FEW_ARM64 = ["libc.so.6", "ld-linux-aarch64.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libasan.so.8", "libglib-2.0.so.0"]
SKIPPED = 77

MOST_PADDING = 15
STUB = "rsp+8 u"  # a jump through a pointer, between functions, without an entry: what its instruction says
MOST_RULES = 256
LEAST_LINES = 1000  # of all rows together: a test that compares nothing shall not pass

ENTRY = re.compile(r"([0-9a-f]{8}) [0-9a-f]{16} \S+ FDE .*?pc=([0-9a-f]+)\.\.([0-9a-f]+)$")
COMMON = re.compile(r"([0-9a-f]{8}) [0-9a-f]{16} \S+ CIE")
PLT = re.compile(r"DW_OP_breg7 \(rsp\): 8; DW_OP_breg16 \(rip\): 0; DW_OP_lit15; DW_OP_and; DW_OP_lit(\d+); "
                 r"DW_OP_ge; DW_OP_lit3; DW_OP_shl; DW_OP_plus$")
BP_LOAD = re.compile(r"DW_OP_breg6 \(rbp\): -(\d+); DW_OP_deref$")
SP_LOAD = re.compile(r"DW_OP_breg7 \(rsp\): (\d+); DW_OP_deref; DW_OP_(?:plus_uconst: |lit)8(?:; DW_OP_plus)?$")
BASE = re.compile(r"(r\w+)([+-]\d+)$")


def read(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def expressions(path, section):
    """{FDE or CIE: [(location, expression of the CFA)]}, from the instructions as readelf prints them."""
    found, events, location = {}, None, 0
    for line in read("readelf", "--debug-dump=no-follow-links", "--debug-dump=frames", path).stdout.splitlines():
        if line.startswith("Contents of the "):
            section_now = line.split()[3]
        elif match := ENTRY.match(line):
            events, location = [], int(match[2], 16)
            if section_now == section:
                found[match[1]] = (re.search(r"cie=([0-9a-f]+)", line)[1], events)
        elif match := COMMON.match(line):
            events, location = [], 0
            if section_now == section:
                found[match[1]] = (None, events)
        elif "DW_CFA_advance_loc" in line or "DW_CFA_set_loc" in line:
            location = int(line.split()[-1], 16)
        elif "DW_CFA_def_cfa_expression" in line:
            events.append((location, line.split("(", 1)[1][:-1]))
        elif "DW_CFA_def_cfa" in line:
            events.append((location, None))
        elif "DW_CFA_remember_state" in line:
            events.append((location, "remember"))
        elif "DW_CFA_restore_state" in line:
            events.append((location, "restore"))
    return found


def expression_at(found, entry, location):
    common, events = found[entry]
    value = found[common][1][-1][1] if found[common][1] else None
    stack = []
    for at, event in events:
        if at > location:
            break
        if event == "remember":
            stack.append(value)
        elif event == "restore":
            value = stack.pop()
        else:
            value = event
    return value


DWARF_NAMES = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
               "r14", "r15"]


def words(expression):
    """Returns the text that our tool prints for an expression, less the frame pointer."""
    if match := PLT.match(expression):
        return "plt" + match[1]
    if match := BP_LOAD.match(expression):
        return f"[rbp-{match[1]}]"
    if match := SP_LOAD.match(expression):
        return f"[rsp+{match[1]}]+8"
    if expression == "DW_OP_breg7 (rsp): 160; DW_OP_deref":
        return "signal"
    return "escape"


def expected_of_row(cfa, fp, ra):
    """None: any answer that says it does not know."""
    if ra == "u":
        return "end"
    if (match := re.match(r"r(\d+)$", ra)) and fp in ("u", "s") and (base := re.match(r"rsp\+(\d+)$", cfa)):
        return f"{cfa} {DWARF_NAMES[int(match[1])]}" if int(base[1]) % 8 == 0 else "escape"
    if ra != "c-8":
        return "escape"
    if (match := BASE.match(cfa)) and int(match[2]) >= 0 and int(match[2]) % 8 == 0:
        offset = int(match[2])
        base = f"{match[1]}+{offset}"
        limit = 8 * 0xFFFFF if match[1] == "rsp" else 8 * 0x3FFF if match[1] == "rbp" else 8 * 0x3FF
        if offset > limit:
            return "escape"
    elif BASE.match(cfa):
        return "escape"
    else:
        base = cfa  # words() of an expression
        if base in ("escape", "signal"):
            return base
    if fp in ("u", "s"):
        return f"{base} u"
    if re.match(r"c-\d+$", fp) and int(fp[2:]) % 8 == 0 and int(fp[2:]) > 0:
        return f"{base} {fp}"
    if fp == "exp":
        return base + " *"
    return base + " lost"


def expected_of_row_arm64(cfa, fp, ra, is_outermost):
    """The pair of frame pointer and return address, the latter alone, or none saved."""
    if is_outermost:
        return "end"
    match = re.match(r"(sp|x\d+)([+-]\d+)$", cfa)
    if not match or int(match[2]) < 0 or int(match[2]) % 8:
        return "escape"
    base, offset = match[1], int(match[2])
    is_saved = [re.match(r"c-\d+$", place) and int(place[2:]) % 8 == 0 and int(place[2:]) or 0 for place in (fp, ra)]
    most = 8 * (0xFFFFF if base == "sp" else 0x3FFF if base == "x29" else 0x3FF if int(base[1:]) < 16 else -1)
    if offset > most or any(place not in ("u", "s") and not saved for place, saved in zip((fp, ra), is_saved) if place != "c+8"):
        return "escape"
    is_far = base == "sp" and offset > 8 * 0x3FFF - 16
    if is_saved == [0, 0] and ra == "c+8":
        return f"sp+{offset + 16} link c-8" if base == "sp" and not is_far else "escape"  # entered from a stub, which pushed
    if is_far and max(is_saved) > 8 * 62 and offset - max(is_saved) > 8 * 62:
        return "escape"
    if all(is_saved):
        return f"{base}+{offset} {fp}" if is_saved[0] == is_saved[1] + 8 else "escape"
    if base != "sp" or ra == "c+8" or (is_far and is_saved[0]):
        return "escape"
    if is_saved[1]:
        return f"sp+{offset} link {ra}"
    return f"lr+{offset} {fp if is_saved[0] else 'u'}"


def outermost(path, section):
    """Returns {FDE: location from which there is no caller}, and {CIE: the column of the return address},
    from the instructions that readelf prints."""
    found, columns, entry, location, section_now = {}, {}, None, 0, None
    for line in read("readelf", "--debug-dump=no-follow-links", "--debug-dump=frames", path).stdout.splitlines():
        if line.startswith("Contents of the "):
            section_now = line.split()[3]
        elif match := ENTRY.match(line):
            entry, location = match[1], int(match[2], 16)
        elif "DW_CFA_advance_loc" in line or "DW_CFA_set_loc" in line:
            location = int(line.split()[-1], 16)
        elif "DW_CFA_undefined: r30" in line and section_now == section:
            found[entry] = location
        elif match := COMMON.match(line):
            entry = match[1]
        elif "Return address column" in line and section_now == section:
            columns[entry] = int(line.split()[-1])
    return found, columns


def agrees(expected, ours):
    if expected.endswith(" *"):
        return ours.split(" ")[0] == expected[:-2] and ours.split(" ")[1] != "u"
    return expected == ours


class Function:
    def __init__(self, start, end, entry, common):
        self.start, self.end, self.entry, self.common = start, end, entry, common
        self.names, self.rows = [], []


def reference(path, section):
    """The functions of a section by readelf. One without rows of its own has those of its common entry."""
    functions, commons, current, section_now = [], {}, None, None
    for line in read("readelf", "--debug-dump=no-follow-links", "--debug-dump=frames-interp", path).stdout.splitlines():
        if line.startswith("Contents of the "):
            section_now = line.split()[3]
        elif section_now != section:
            continue
        elif match := ENTRY.match(line):
            common = commons.get(re.search(r"cie=([0-9a-f]+)", line)[1])
            current = Function(int(match[2], 16), int(match[3], 16), match[1], common)
            functions.append(current)
        elif match := COMMON.match(line):
            current = commons[match[1]] = Function(0, 0, match[1], None)
        elif line.startswith("   LOC"):
            current.names = line.split()
        elif current and re.match(r"[0-9a-f]{16} ", line):
            current.rows.append(re.sub(r"(r\d+) \(\w+\)", r"\1", line).split())
    return functions


def spans(path, section):
    """[(start, end, expected)], ascending. A function ends where the next begins."""
    found, result = None, []
    is_arm64 = machine_of(path) == ARM64
    last_frames, columns = outermost(path, section) if is_arm64 else ({}, {})
    functions = sorted((f for f in reference(path, section) if f.start < f.end), key=lambda f: (f.start, int(f.entry, 16)))
    starts = [f.start for f in functions]
    for i, function in enumerate(functions):
        if i > 0 and starts[i - 1] == function.start:
            continue
        following = bisect.bisect_right(starts, function.start)
        last = min(function.end, starts[following]) if following < len(starts) else function.end
        names, rows = function.names, function.rows
        if not rows:
            names, rows = function.common.names, [["%x" % function.start] + function.common.rows[-1][1:]]
        for n, row in enumerate(rows):
            at = int(row[0], 16)
            till = min(last, int(rows[n + 1][0], 16)) if n + 1 < len(rows) else last
            if at >= till:
                continue
            cell = dict(zip(names, row))
            if is_arm64:
                cfa, fp, ra = cell["CFA"], cell.get("x29", "u"), cell.get("ra", "u")
                is_outermost = at >= last_frames.get(function.entry, 1 << 64)
                expected = expected_of_row_arm64(cfa, fp, ra, is_outermost)
                # Functions that only others of the same file call, with a return address in another register: one or two.
                result.append((at, till, expected if columns[function.common.entry] == 30 else "none"))
                continue
            cfa, fp, ra = cell["CFA"], cell.get("rbp", "u"), cell.get("ra", "u")
            if cfa == "exp":
                found = found or expressions(path, section)
                expression = expression_at(found, function.entry, at)
                cfa = words(expression)
                if match := re.match(r"DW_OP_breg\d+ \((r\w+)\): (-?\d+)$", expression):
                    cfa = f"{match[1]}{int(match[2]):+d}"
            result.append((at, till, "signal" if cfa == "signal" else expected_of_row(cfa, fp, ra)))
    return result


def code(path):
    ranges = []
    for line in read("readelf", "-lW", path).stdout.splitlines():
        if match := re.match(r"  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ ..E", line):
            offset, start, size = (int(word, 16) for word in match.groups())
            ranges.append((start, start + size, offset))
    return sorted(ranges)


def is_context_start(path, ranges, address):
    """glibc's __start_context, which has no caller: it begins by taking its stack from RBX."""
    with open(path, "rb") as file:
        for start, end, offset in ranges:
            if start <= address < end:
                file.seek(offset + address - start)
                begin = file.read(8)
                return (begin.removeprefix(b"\xf3\x0f\x1e\xfa")[:3] == b"\x48\x89\xdc" or
                        b"\xe0\x03\x13\xaa" in (begin[:4], begin[4:]))  # arm64: from X19
    return False


X86_64, ARM64 = 62, 183


def machine_of(path):
    with open(path, "rb") as file:
        return file.read(20)[18]


def is_elf(path, machine=X86_64):
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return head[:6] == b"\x7fELF\x02\x01" and head[18] == machine and head[16] in (2, 3)


def check(path):
    """The number of rows that were compared; fails on the first that differs."""
    done = read(*PRINT_TABLE, "rows", path)
    if done.returncode == 3:
        assert not code(path) or "\nThere is no" in read("readelf", "-lW", path).stdout, f"{path}: {done.stderr}"
        return 0
    assert done.returncode == 0, f"{path}: {done.returncode} {done.stderr}"
    addresses, rules = [], []
    for line in done.stdout.splitlines():
        address, rule = line.split(" ", 1)
        addresses.append(int(address, 16))
        rules.append(rule)
    assert addresses == sorted(set(addresses)), path

    full = {}  # pages with more rules than a row can name: the rarest are not told
    for address, rule in zip(addresses, rules):
        full.setdefault(address >> 16, set()).add(rule)
    full = {page for page, distinct in full.items() if len(distinct) >= MOST_RULES - 8}

    def ours(address):
        return rules[bisect.bisect_right(addresses, address) - 1]

    ranges = code(path)
    covered = spans(path, ".eh_frame")
    starts = [s[0] for s in covered]
    # Go's .debug_frame does not mark where stacks end: tables are made from another section, which test-go.py
    # compares.
    is_go = "gopclntab" in read("readelf", "-SW", path).stdout
    for span in spans(path, ".debug_frame") if not is_go else []:
        at = bisect.bisect_right(starts, span[0]) - 1
        if not (at >= 0 and covered[at][1] > span[0]) and not (at + 1 < len(starts) and starts[at + 1] < span[1]):
            covered.append(span)
    covered.sort()

    n, last = 0, 0
    for start, end, expected in covered:
        if not any(a <= start < b for a, b, _ in ranges):
            continue
        end = min(end, max(b for a, b, _ in ranges if a <= start < b))
        if ours(start) == "end" and is_context_start(path, ranges, start):
            last = end
            continue
        for address in (start, end - 1):
            if address >> 16 in full and ours(address) == "escape":
                continue
            assert agrees(expected, ours(address)), f"{path} {address:x}: {ours(address)!r}, and by readelf {expected!r}"
        n += 1
        if last and start - last > MOST_PADDING and not is_go and any(a <= last and start <= b for a, b, _ in ranges):
            for address in (last, start - 1):
                assert ours(address) in ("none", "signal", "end", STUB), f"{path} {address:x}: {ours(address)!r} where nothing is said"
        last = end
    return n


def everywhere():
    seen = set()
    for top in EVERYWHERE:
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.realpath(os.path.join(folder, name))
                if path not in seen and is_elf(path):
                    seen.add(path)
                    yield path


def many():
    left = MANY
    for path in sorted(everywhere(), key=lambda path: zlib.crc32(path.encode())):
        if os.path.getsize(path) <= left:
            left -= os.path.getsize(path)
            yield path


def files(arguments):
    if arguments[:1] == ["arm64"]:
        for name in FEW_ARM64:
            if is_elf(path := os.path.join(arguments[1], name), ARM64):
                yield os.path.realpath(path)
        return
    if arguments == ["all"]:
        yield from everywhere()
    elif arguments == ["many"]:
        yield from many()
    else:
        for name in arguments or FEW:
            path = name if "/" in name else os.path.join(LIBRARIES, name)
            if is_elf(path):
                yield os.path.realpath(path)


def main():
    n_files = n_rows = 0
    if sys.argv[2:3] == ["arm64"] and not list(files(sys.argv[2:])):
        print(f"no libraries of arm64 in {sys.argv[3]}: scripts/install-deps build cross")
        return SKIPPED
    failures = []
    for path in files(sys.argv[2:]):
        try:
            n_rows += check(path)
        except AssertionError as error:
            failures.append(str(error))
            print(error, flush=True)
        n_files += 1
    print(f"{n_rows} rows of {n_files} files compared, {len(failures)} files differ")
    return 1 if failures or n_rows < LEAST_LINES else 0


if __name__ == "__main__":
    sys.exit(main())
