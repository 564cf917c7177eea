#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Assembly without call-frame information in a program without symbols is found by its callers: each function
gets rules that follow from its code. The same holds for a function with wrong rules, which is counted.

usage: test-called.py PRINT-TABLE CC...
"""

import os
import subprocess
import sys
import tempfile

PRINT_TABLE = os.path.abspath(sys.argv[1])
# Not aligned, and beginning with anything; {name: where, from its beginning, RSP is how far from the CFA}.
SOURCE = r"""
#define FUNCTION(name, code) \
  __asm__ (".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code "\n.size " #name ", . - " #name "\n.nops 3\n")
FUNCTION (called, "mov %rdi, %rax\n push %rbx\n sub $64, %rsp\n add %rax, %rbx\n add $64, %rsp\n pop %rbx\n ret");
FUNCTION (jumped_to, "xor %eax, %eax\n push %r12\n pop %r12\n ret");
__asm__ (".p2align 4\n");
FUNCTION (pointed_at, "test %edi, %edi\n push %r13\n pop %r13\n ret");
FUNCTION (called_by_that, "cmp $3, %edi\n push %r14\n call called_from_afar\n pop %r14\n ret");
__asm__ (".fill 400, 1, 0x90\n");
long called (long), jumped_to (long), pointed_at (long), called_by_that (long);
__attribute__ ((noinline)) long tail (long x) { return jumped_to (x + 1); }
FUNCTION (mistaken, ".cfi_startproc\n mov %rdi, %rax\n nop\n push %rbx\n push %rbp\n sub $64, %rsp\n add $64, %rsp\n pop %rbp\n pop %rbx\n ret\n .cfi_endproc");
long mistaken (long);
volatile int sink;
__attribute__ ((noinline)) long plain (long x) { sink = 1; return x + 1; }
__attribute__ ((noinline)) long other (long x) { sink = 2; return called_by_that (x) + 1; }
__asm__ (".fill 400, 1, 0x90\n");
FUNCTION (called_from_afar, "inc %edi\n push %r15\n pop %r15\n ret");
__asm__ (".fill 400, 1, 0x90\n");
long (*volatile pointer) (long);
int main (int n, char **words) { pointer = pointed_at; return (int) (called (n) + mistaken (n) + tail (n) + other (n) + pointer (n) + plain (n)); }
"""
EXPECTED = {
    "called": {0: 8, 3: 8, 4: 16, 8: 80, 11: 80, 15: 16, 16: 8},
    "mistaken": {0: 8, 4: 8, 5: 16, 6: 24, 10: 88, 14: 24, 15: 16, 16: 8},
    "jumped_to": {0: 8, 2: 8, 4: 16, 6: 8},
    "pointed_at": {0: 8, 2: 8, 4: 16, 6: 8},
    "called_by_that": {0: 8, 3: 8, 5: 16, 10: 16, 12: 8},
    "called_from_afar": {0: 8, 2: 8, 4: 16, 6: 8},
}


def main():
    with tempfile.TemporaryDirectory() as directory:
        source, program, stripped = (os.path.join(directory, name) for name in ("main.c", "program", "stripped"))
        with open(source, "w") as file:
            file.write(SOURCE)
        subprocess.run([*sys.argv[2:], "-O2", source, "-o", program], check=True)
        subprocess.run(["strip", "-o", stripped, program], check=True)
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        places = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
        rows = subprocess.run([PRINT_TABLE, "all", stripped], check=True, capture_output=True, text=True).stdout
        facts = subprocess.run([PRINT_TABLE, "facts", stripped], check=True, capture_output=True, text=True).stdout
    rules = [(int(line.split()[0], 16), line.split()[1]) for line in rows.splitlines()]
    n_wrong = 0 if "contradictions 1\n" in facts else 1
    print(facts)
    for name, distances in EXPECTED.items():
        for offset, distance in distances.items():
            at = places[name] + offset
            rule = [rule for start, rule in rules if start <= at][-1]
            if rule != f"rsp+{distance}":
                n_wrong += 1
                print(f"{name}+{offset} ({at:x}): {rule} instead of rsp+{distance}")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
