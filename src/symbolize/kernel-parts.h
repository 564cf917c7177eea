// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel addresses by the file that they are from: the kernel's own, or a section of a module.
 *
 * Where the kernel lay is told by its label `_text` in the list of its symbols. Who was not told the list was not told that either. Of
 * captures of several starts that were joined each kernel has a place of its own (docs/format.md). */

#pragma once

#include "symbolize/batch.h"

typedef struct
{
  char *binary;   /* as stacks show it: [kernel] */
  char *section;  /* of a module; "" = it is the kernel */
  char *build_id; /* lower-case hex, at least 4 digits; "" = not known */
  unsigned place;
  uint64_t
      base; /* address of the label, or of the section; 0 = not known, and there are no items */
  GArray *items;   /* of BatchItem, by offset: from the base */
  GArray *offsets; /* of uint64_t, the distinct ones */
} KernelPart;

typedef struct
{
  GArray *parts;         /* of KernelPart */
  bool are_mixed;        /* captures were joined that do not tell whose kernel is whose: */
  uint32_t mixed_places; /* bits, from the lowest on */
} KernelParts;

/* Of the addresses that are asked for now. */
KernelParts *sysprof_kernel_parts_new (const Symbolization *self);
void sysprof_kernel_parts_free (KernelParts *self);

/* Its items as a batch; borrowed. */
FileBatch sysprof_kernel_part_get_batch (const KernelPart *self);

/* Whether a kernel address has no name yet, or no lines, or code is wanted there. */
bool sysprof_kernel_is_asked_for (const Symbolization *self, AddressId address);
/* 0 also where no start is put. */
unsigned sysprof_kernel_place (uint64_t address);

/* Where the kernel's label `_text` is by a list like /proc/kallsyms, of the kernel at a place. 0: the list does not have it, or hides it. */
uint64_t sysprof_kallsyms_find_text (const char *text, size_t size, unsigned place);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KernelParts, sysprof_kernel_parts_free)
