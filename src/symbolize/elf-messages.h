// SPDX-License-Identifier: GPL-3.0-or-later

/* What the parent and the child that parses ELF files say to each other:
 *
 *   request:  ElfRequest (with it, where the call has one, a descriptor), offsets
 *   reply:    ElfReply, answers, text; of lines: ElfReply, rows, frames, splits, text
 *
 * One request is answered before the next is sent. The child may have been taken over by a file that it parsed:
 * the parent believes sizes only within limits, and offsets only inside the text. */

#pragma once

#include "symbolize/elf-worker.h"

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
  CALL_DISASSEMBLE, /* offsets are pairs: ElfCodeRange */
} ElfCall;

typedef struct
{
  uint32_t call;
  uint32_t n_offsets;
  uint32_t are_addresses; /* not offsets */
  uint32_t split;         /* which one of those that were asked for */
  uint64_t shift;         /* of code: addresses are so much above those of the file */
} ElfRequest;

typedef struct
{
  uint32_t status;
  uint32_t n_answers;
  uint64_t text_size;
  uint32_t n_frames;
  uint32_t n_splits;
  uint32_t is_over_limit; /* ElfLines */
  uint32_t padding;
  ElfFacts facts;
} ElfReply;
