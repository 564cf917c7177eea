// SPDX-License-Identifier: GPL-3.0-or-later

/* Lines and inlined functions as they are collected from files. *Owned* by the thread that
 * loads them. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/lines-ahead.h"
#include "symbolize/request.h"

/* A function that was inlined at an address. */
typedef struct
{
  SymbolId symbol;
  StringId file; /* of the address, or of the call of the next inner function; 0 = unknown */
  uint32_t line;
} InlinedCall;

typedef struct LineCollection
{
  uint8_t *is_known;       /* [addresses.n] a file with debug information was queried for it */
  uint32_t *first_inlined; /* [addresses.n] index into `inlined` of the outermost one */
  uint16_t *n_inlined;     /* [addresses.n] */
  GArray *inlined;         /* of InlinedCall */
  GString *packed;         /* NULL; else results are only written there (packed-lines.h) */
  /* NULL; else results are only stored there, and the other members are not used
   * (lines-ahead.c) */
  LinesAhead *ahead;
} LineCollection;

/* Adds the results for the offsets of a batch to those of its addresses whose lines are still
 * missing. May take over the content of `lines`, which is then empty. */
void
sysprof_line_collection_add (Symbolization *self, const FileBatch *batch, ElfAnswers *lines);

/* For LineCollection.ahead: takes over the answers for a batch. Called by the second thread. */
void sysprof_lines_ahead_keep (LinesAhead *self, const FileBatch *batch, ElfAnswers *lines);
/* Waits until all files were queried, and adds their answers. */
void sysprof_lines_ahead_take (LinesAhead *self, Symbolization *symbolization);

/* Whether the chain contains this symbolizer. */
bool sysprof_symbolize_asks (const SymbolizeOptions *options, SymbolizerKind kind);
