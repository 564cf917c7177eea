#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""src/elf is plain C: besides libc it needs the unpackers and the demangler only.

usage: test-undefined.py LIBELF.A
"""

import re
import subprocess
import sys

ALLOWED = re.compile(
    r"sysprof_elf_|sysprof_bytes_|lzma_|ZSTD_(decompress|getFrameContentSize)$|inflate(Init2_|End)?$|libdeflate_|uncompress$|crc32$|(rust|cplus|dlang)_demangle|"
    r"(malloc|calloc|realloc|free|qsort|bsearch|snprintf|mem\w+|str\w+|pread(64)?|fstat(64)?|syscall|_?setjmp|longjmp|__longjmp_chk|__errno_location|"
    r"\.TOC\.|__aeabi_\w+|"  # ppc64le, arm: of the compiler
    r"__stack_chk_fail|__\w+_chk|_GLOBAL_OFFSET_TABLE_)$|__(a|ub|t)san_|__sanitizer|__gcov|__llvm"
)

undefined = {
    line.split()[-1]
    for line in subprocess.run(["nm", "-u", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    if re.match(r"\s+[Uw] ", line)
}
foreign = sorted(name for name in undefined if not ALLOWED.match(name))
sys.exit(f"src/elf needs {foreign}" if foreign or not undefined else 0)
