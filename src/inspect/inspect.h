// SPDX-License-Identifier: GPL-3.0-or-later

/* inspect: finds what one open ELF file and its debug files contain: names, source lines and
 * instructions at offsets. Files are untrusted, so a child without privileges parses them. It
 * gets descriptors only, and its answers are checked.
 *
 *   | layer                                                   | header         |
 *   | remembers which parts of the debug information failed   | elf-parser.h   |
 *   | answers from the cache, or from the child               | elf-cache.h    |
 *   | the answers of one file                                 | cache-entry.h  |
 *   | the user's directory of such answers                    | symbol-cache.h |
 *   | sends calls to the child, and checks what it answers    | elf-sandbox.h  |
 *   | answers them in the child                               | elf-worker.h   |
 *
 * Generated code has its own child (jit-sandbox.h). Objects are *owned* by one thread. */

#pragma once

#include "inspect/elf-parser.h"
#include "inspect/jit-sandbox.h"
#include "inspect/vdso.h"
