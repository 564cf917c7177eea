// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that came to the kernel or went from it while it was recorded: programs of BPF, trampolines. The kernel's list of
 * symbols, read when the recording has ended, has only what is there then.
 *
 * The instrument that reads kernel events fills it, the process watcher writes it. *Owned* by the pump thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_LOG_MOST 65536 /* events; later ones are counted only */

/* Zero is empty. */
typedef struct
{
  GArray *events;
  GStringChunk *names;
  uint64_t n_missed;
} KernelSymbolLog;

void sysprof_kernel_symbol_log_clear (KernelSymbolLog *self);

/* At `time` [size] bytes at `address`, named [name_size] `name`, have come, or gone. */
void sysprof_kernel_symbol_log_add (KernelSymbolLog *self,
                                    int64_t time,
                                    uint64_t address,
                                    uint32_t size,
                                    bool is_gone,
                                    const char *name,
                                    size_t name_size);

/* Lines `ADDRESS SIZE BEGIN END NAME` by address and time, as docs/format.md says; NULL where nothing came or went. */
GString *sysprof_kernel_symbol_log_to_text (KernelSymbolLog *self);

/* Appends to `kallsyms`, the text of /proc/kallsyms, a line for each program that went while it was recorded or that the
 * text does not have, for readers that know no other list. */
void sysprof_kernel_symbol_log_append_gone (KernelSymbolLog *self, GByteArray *kallsyms);
