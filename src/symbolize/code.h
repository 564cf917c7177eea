// SPDX-License-Identifier: GPL-3.0-or-later

/* The code of functions, as it is collected from files. *Owned* by the thread that collects
 * it. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/request.h"

typedef struct CodeCollection
{
  uint8_t *is_open; /* [addresses.n] code or its lines are still missing */
  const bool *is_wanted;
  Disassembly *into;
  GArray *pieces;      /* of CodePiece */
  GArray *rows;        /* of Instruction */
  GHashTable *places;  /* PieceKey → 1 + index of the piece */
  GHashTable *inlined; /* StringId of the names of requested functions that may be inlined */
} CodeCollection;

/* --- for other sources of code --- */

/* Makes a row for an instruction whose line is not known yet; the row's offsets are relative to
 * `text`. */
Instruction sysprof_code_collection_make_row (CodeCollection *self,
                                              const CodePiece *piece,
                                              const ElfInstruction *row,
                                              const char *text);
/* Returns 0 for "". */
StringId sysprof_code_collection_intern_file (CodeCollection *self, const char *path);

/* Takes over instructions, and for each one its row in `lines`, which may be empty.
 * number_of[range] is 1 + the index of its piece. */
void sysprof_code_collection_take (Symbolization *self,
                                   const uint32_t *number_of,
                                   const ElfAnswers *found,
                                   const ElfAnswers *lines);

/* Reads the functions that programs generated, from their jitdump files (jit-code.c). */
void sysprof_jit_code_read (Symbolization *self);
