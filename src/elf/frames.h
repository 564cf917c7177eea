// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "elf/elf.h"

/* An entry of the call-frame table. */
typedef struct
{
  uint64_t start;
  uint64_t end;
  /* the entry marks the outermost function: the return address is undefined throughout */
  bool is_outermost;
} FrameEntry;

ElfStatus
sysprof_elf_image_find_frame_entry (ElfImage *image, uint64_t address, FrameEntry *entry);
