// SPDX-License-Identifier: GPL-3.0-or-later

/* The messages between the parent and the child that parses ELF files:
 *
 *   request:  ElfRequest (for some calls with a descriptor), offsets
 *   reply:    ElfReply, answers, text; for lines: ElfReply, rows, frames, splits, text
 *
 * The child answers one request before the parent sends the next. A malicious file may control
 * the child. So the parent accepts only sizes within limits, and only offsets inside the
 * text. */

#pragma once

#include "inspect/elf-worker.h"

typedef enum
{
  CALL_OPEN = 1,
  CALL_OPEN_FOR_LINES,
  CALL_ADD_DEBUG,
  CALL_ADD_SUPPLEMENT,
  CALL_ADD_PACKAGE,
  CALL_ADD_SPLIT,
  CALL_RESOLVE,
  CALL_RESOLVE_LINES,
  CALL_DISASSEMBLE, /* the offsets are pairs: ElfCodeRange */
} ElfCall;

typedef struct
{
  uint32_t call;
  uint32_t n_offsets;
  uint32_t are_addresses; /* instead of offsets */
  uint32_t split;         /* index of the requested file with split units */
  uint64_t shift;         /* for code: added to the link-time addresses of the file */
} ElfRequest;

typedef struct
{
  uint32_t status;
  uint32_t n_answers;
  uint64_t text_size;
  uint32_t n_frames;
  uint32_t n_splits;
  uint32_t is_over_limit; /* as in ElfLines */
  uint32_t padding;
  ElfFacts facts;
} ElfReply;
