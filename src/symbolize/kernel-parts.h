// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel addresses grouped by file: the kernel's own, or a section of a module.
 *
 * The load address of the kernel is that of the symbol `_text` in the list of kernel symbols.
 * It is unknown if the recorder was not permitted to read the list. */

#pragma once

#include "symbolize/batch.h"

typedef struct
{
  char *binary;   /* as shown in stacks: [kernel] */
  char *section;  /* of a module; "" = the kernel itself */
  char *build_id; /* lower-case hex, at least 4 digits; "" = unknown */
  /* address of `_text`, or of the section; 0 = unknown, and there are no items */
  uint64_t base;
  GArray *items;   /* of BatchItem, sorted by offset from the base */
  GArray *offsets; /* of uint64_t: the offsets without duplicates */
} KernelPart;

typedef struct
{
  GArray *parts;  /* of KernelPart */
  bool are_mixed; /* joined captures do not record which address belongs to which kernel */
} KernelParts;

/* Groups the kernel addresses that are wanted now. */
KernelParts *sysprof_kernel_parts_new (const Symbolization *self);
void sysprof_kernel_parts_free (KernelParts *self);

/* Returns its items as a batch; borrowed. */
FileBatch sysprof_kernel_part_get_batch (const KernelPart *self);

/* Whether a kernel address still needs a name or lines, or its code is wanted. */
bool sysprof_kernel_is_asked_for (const Symbolization *self, AddressId address);

/* Finds the symbol `_text` in a list like /proc/kallsyms. Returns 0 if the list does not
 * contain it, or hides it. */
uint64_t sysprof_kallsyms_find_text (const char *text, size_t size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KernelParts, sysprof_kernel_parts_free)
