// SPDX-License-Identifier: GPL-3.0-or-later

/* Everything in a capture that has a name, found by parts of it. */

#pragma once

#include "analyze/text-index.h"
#include "symbolize/symbolize.h"

typedef enum
{
  FOUND_SYMBOL,
  FOUND_BINARY,
  FOUND_MARK,    /* "group/name" */
  FOUND_MESSAGE, /* of a mark */
  FOUND_LOG,     /* "domain: message" */
  FOUND_MEMBER,  /* of D-Bus: "interface.member" */
  FOUND_FILE,
  FOUND_METADATA, /* "id: value" */
  N_FOUND_KINDS,
} FoundKind;

/* "symbol", "binary", "mark", … as people and programs see it. */
const char *sysprof_found_kind_to_string (FoundKind kind);

typedef struct
{
  FoundKind kind;
  uint32_t
      id; /* SymbolId; of the others the first row of marks, logs, dbus, files or metadata, for a binary its
                     * first symbol */
  const char *text; /* living as long as the search */
  uint64_t count;   /* samples in which it is innermost; of the others, how often it is there */
} Found;

typedef struct CaptureSearch CaptureSearch;

/* Takes references. NULL if it was cancelled. *Frozen*: any thread may search. *(full)* */
CaptureSearch *
sysprof_capture_search_new (Store *store, SymbolTable *symbols, GCancellable *cancellable);
void sysprof_capture_search_free (CaptureSearch *self);

/* The best `limit` of what contains all terms, as sysprof_text_index_find() has it; of equally good ones first what there
 * is more of. *(full)* */
Found *sysprof_capture_search_find (const CaptureSearch *self,
                                    const char *query,
                                    uint32_t limit,
                                    uint32_t *n_found,
                                    GCancellable *cancellable);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CaptureSearch, sysprof_capture_search_free)
