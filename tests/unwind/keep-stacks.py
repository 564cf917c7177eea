#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes kept-stacks-arm64.txt, which test-kept.py walks: a few stacks out of dumps of walk-self, each with no more bytes than its
walk needs, and the rules of the addresses on them.

usage: keep-stacks.py PRINT-TABLE WALK-DUMP DUMP... >kept-stacks-arm64.txt

where DUMP is made by `walk-self-… --dump DUMP` on arm64, or under qemu-aarch64 in a build of scripts/check-cross.
"""

import bisect
import functools
import subprocess
import sys

PRINT_TABLE, WALK_DUMP = sys.argv[1:3]
MOST_BYTES = 3000
MOST_SIGNAL_BYTES = 6400  # the kernel's part alone has 4688
SIGNAL = 7  # RULE_SIGNAL: an emulator's page with the code that handlers return to is no file
KEPT = 4  # of a dump


@functools.lru_cache
def table(path):
    lines = subprocess.run([PRINT_TABLE, "numbers", path], capture_output=True, text=True, check=True).stdout.splitlines()
    places, rules = zip(*(line.split() for line in lines))
    return [int(place, 16) for place in places], rules


def rule_at(maps, address):
    for start, end, offset, path in maps:
        if start <= address < end:
            places, rules = table(path)
            at = address - start + offset  # these files have their code where it is in the file
            return rules[bisect.bisect_right(places, at) - 1] if at >= places[0] else "0"
    return f"{SIGNAL:x}"


def lines_of(maps, machine, stops):
    addresses = sorted({a for stop in stops for word in stop["expect"].split()[2:] for a in (int(word, 16) - 1, int(word, 16))})
    yield machine
    for address in addresses:
        yield f"rule {address:x} {rule_at(maps, address)}"
    for stop in stops:
        yield from (f"{key} {stop[key]}" for key in ("regs", "code", "stack"))


def walk(*arguments):
    text = "\n".join(lines_of(*arguments)) + "\n"
    return subprocess.run([WALK_DUMP], input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def cut(maps, machine, stop):
    """With as few bytes as its walk needs, or None."""
    start, _, stack = stop["stack"].partition(" ")
    low, high = 0, min(len(stack) // 2, MOST_BYTES if stop["expect"].split()[1] == "0" else MOST_SIGNAL_BYTES) // 8
    if walk(maps, machine, [dict(stop, stack=f"{start} {stack[:16 * high]}")]) != [stop["expect"]]:
        return None
    while low < high:
        middle = (low + high) // 2
        if walk(maps, machine, [dict(stop, stack=f"{start} {stack[:16 * middle]}")]) == [stop["expect"]]:
            high = middle
        else:
            low = middle + 1
    return dict(stop, stack=f"{start} {stack[:16 * high]}")


def read(path):
    maps, machine, stops, stop = [], None, [], {}
    for line in open(path):
        key, _, rest = line.rstrip("\n").partition(" ")
        if key == "machine":
            machine = line.rstrip("\n")
        elif key == "map":
            start, end, offset, file = rest.split()
            maps.append((int(start, 16), int(end, 16), int(offset, 16), file))
        else:
            stop[key] = rest
        if key == "expect":
            stops.append(stop)
            stop = {}
    return maps, machine, stops


def main():
    print("# SPDX-License-Identifier: GPL-3.0-or-later")
    print("# Stacks of walk-self on arm64; keep-stacks.py has made this file.")
    for path in sys.argv[3:]:
        maps, machine, stops = read(path)
        kept, seen = [], set()
        for stop in stops:
            reason, used, *addresses = stop["expect"].split()
            shape = (used, tuple(rule_at(maps, int(a, 16) - (i > 0))[-1] for i, a in enumerate(addresses)))
            if reason == "1" and shape not in seen and (short := cut(maps, machine, stop)):
                seen.add(shape)
                kept.append(short)
        # One through a signal, then those with the most kinds of rules.
        kept.sort(key=lambda s: -len({rule_at(maps, int(a, 16) - 1) for a in s["expect"].split()[2:]}))
        kept = [s for s in kept if s["expect"].split()[1] != "0"][:1] + [s for s in kept if s["expect"].split()[1] == "0"]
        kept = kept[:KEPT]
        print(*lines_of(maps, machine, kept), sep="\n")
        for stop in kept:
            print("expect", stop["expect"])
        print("unmap")


if __name__ == "__main__":
    main()
