// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel code that was loaded or unloaded during the recording: BPF programs, trampolines.
 * /proc/kallsyms is read after the recording and only has the code that exists then.
 *
 * The instrument that reads kernel events fills the log, and the process watcher writes it.
 * *Owned* by the pump thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_LOG_MOST 65536 /* events; later ones are only counted */

/* All zero = empty. */
typedef struct
{
  GArray *events;
  GStringChunk *names;
  uint64_t n_missed;
} KernelSymbolLog;

void sysprof_kernel_symbol_log_clear (KernelSymbolLog *self);

/* At `time`, `size` bytes of code at `address` were loaded, or unloaded if `is_gone`. `name`
 * has `name_size` bytes. */
void sysprof_kernel_symbol_log_add (KernelSymbolLog *self,
                                    int64_t time,
                                    uint64_t address,
                                    uint32_t size,
                                    bool is_gone,
                                    const char *name,
                                    size_t name_size);

/* Lines `ADDRESS SIZE BEGIN END NAME` by address and time (see docs/format.md); NULL if there
 * were no events. */
GString *sysprof_kernel_symbol_log_to_text (KernelSymbolLog *self);

/* Appends lines to `kallsyms`, the text of /proc/kallsyms: one for each program that was
 * unloaded during the recording or that the text does not have. Some readers know no other
 * list. */
void sysprof_kernel_symbol_log_append_gone (KernelSymbolLog *self, GByteArray *kallsyms);
