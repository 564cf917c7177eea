// SPDX-License-Identifier: GPL-3.0-or-later

/* What a symbolization looks up for its addresses: names, lines, or code. Code that finds and
 * opens files does not depend on it; the differences are in these constants. */

#pragma once

#include "symbolize/elf-search.h"

typedef struct SymbolRequest
{
  uint8_t address_kind; /* of addresses in files of programs: ADDRESS_USER or ADDRESS_DATA */
  /* The files' debug information is read, so a file must be certainly the recorded one. */
  bool reads_lines;
  /* A debug file, which contains no code, does not replace its main file. */
  bool reads_code;
  bool is_cached;    /* the answers are cached on disk */
  bool reports_gaps; /* incomplete debug information is noted in the table */

  /* Whether an answer for the address is still missing. */
  bool (*wants) (const Symbolization *self, AddressId address);
  /* Whether the file itself has all that a debug file could add. */
  bool (*is_complete) (const ElfFacts *facts);
  /* Whether the open file, which has no usable debug file, is known to give no answers. */
  bool (*is_useless) (const Symbolization *self, const FileBatch *batch, bool is_complete);
  /* Queries the file that is open in the parser, and takes its answers. The keys are link-time
   * `addresses` if given, else offsets. `reason`: why the file may have no answer for some
   * addresses. Returns FALSE if the file gives no answer. */
  bool (*resolve) (ElfSearch *search,
                   const FileBatch *batch,
                   const uint64_t *addresses,
                   UnnamedReason reason);
  /* Likewise, for a file of the kernel, which ran at the link-time addresses plus `shift`
   * (modulo 2^64). */
  void (*resolve_kernel) (Symbolization *self,
                          ElfCache *elf,
                          const FileBatch *batch,
                          const uint64_t *addresses,
                          uint64_t shift);
  /* Each NULL = there is nothing to explain. Store why there is no answer: for the reason, and
   * because no file can be identified as the recorded one. */
  void (*explain) (Symbolization *self, const FileBatch *batch, UnnamedReason reason);
  void (*explain_unsure) (Symbolization *self, const FileBatch *batch);
} SymbolRequest;

extern const SymbolRequest sysprof_names_request; /* names.c */
extern const SymbolRequest sysprof_data_request;  /* likewise, for data */
extern const SymbolRequest sysprof_lines_request; /* lines.c */
extern const SymbolRequest sysprof_code_request;  /* code.c */

static inline bool
sysprof_symbolization_wants (const Symbolization *self, AddressId address)
{
  return self->request->wants (self, address);
}
