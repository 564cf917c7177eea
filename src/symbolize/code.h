// SPDX-License-Identifier: GPL-3.0-or-later

/* The code of functions, as it comes in from files. *Owned* by the thread that looks for it. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-parser.h"

typedef struct CodeCollection
{
  uint8_t *is_open; /* [addresses.n] code, or its lines, are still to be found */
  const bool *is_wanted;
  Disassembly *into;
  GArray *pieces;     /* of CodePiece */
  GArray *rows;       /* of Instruction */
  GHashTable *places; /* PieceKey → 1 + index of its piece */
  GHashTable
      *inlined; /* StringId of the names of functions that are asked for and may be inlined */
} CodeCollection;

static inline bool
sysprof_code_collection_wants (const Symbolization *self, AddressId address)
{
  return self->code->is_open[address] != 0;
}

/* Takes the functions of a batch, and their lines where those are known, from the file that is open in the parser. FALSE where it
 * answers nothing. */
bool
sysprof_code_collection_read (Symbolization *self, const FileBatch *batch, ElfParser *parser);

/* Why there are none; where some were found already, nothing changes. */
void sysprof_code_collection_explain (Symbolization *self,
                                      const FileBatch *batch,
                                      UnnamedReason reason);
/* The same, as nothing says that a file is the one that was recorded. Always TRUE. */
bool sysprof_code_collection_explain_unsure (Symbolization *self, const FileBatch *batch);

/* --- for who reads code elsewhere --- */

/* An instruction as it is shown, whose line is not known yet; `text` is what the row's texts are offsets into. */
Instruction sysprof_code_collection_make_row (CodeCollection *self,
                                              const CodePiece *piece,
                                              const ElfInstruction *row,
                                              const char *text);
/* 0 = "". */
StringId sysprof_code_collection_intern_file (CodeCollection *self, const char *path);

/* Takes instructions, and of `lines`, which may have none, a row for each. number_of[ranges]: 1 + the indices of their pieces. */
void sysprof_code_collection_take (Symbolization *self,
                                   const uint32_t *number_of,
                                   const ElfInstructions *found,
                                   const ElfLines *lines);

/* Takes the functions that programs generated, from their jitdumps (jit-code.c). */
void sysprof_jit_code_read (Symbolization *self);
