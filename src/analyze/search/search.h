// SPDX-License-Identifier: GPL-3.0-or-later

/* Everything in a capture that has a name, found by parts of it. */

#pragma once

#include "analyze/search/text-index.h"
#include "symbolize/symbolize.h"

struct SampleFilter;

typedef enum
{
  FOUND_SYMBOL,  /* in a binary */
  FOUND_BINARY,  /* the path, as far as it is known */
  FOUND_PROCESS, /* "comm", in its command line */
  FOUND_MARK,    /* in a group */
  FOUND_MESSAGE, /* of a mark, in its name */
  FOUND_COUNTER, /* in a category */
  FOUND_LOG,     /* in a domain */
  FOUND_MEMBER,  /* of D-Bus, in an interface */
  FOUND_FILE,
  FOUND_METADATA, /* the id, in its value */
  N_FOUND_KINDS,
} FoundKind;

/* "symbol", "binary", "process", … as people and programs see it. */
const char *sysprof_found_kind_to_string (FoundKind kind);

/* Texts live as long as the search. */
typedef struct
{
  uint8_t kind; /* FoundKind */
  uint32_t
      id; /* SymbolId, of a binary its first one; ProcessId; of the others the first row of marks, counters, logs,
                 * dbus, files, metadata */
  const char *name;
  const char *where; /* "" = nowhere */
  const char *alias; /* the raw symbol name in the file, as an alternative; or NULL */
  uint64_t
      count; /* weight with the symbol anywhere in the stack, within the binary or process; of the others how often
                      * it is there */
} Found;

typedef struct CaptureSearch CaptureSearch;

/* Of what the filter takes, which may be NULL for everything; counters, embedded files and metadata belong to any selection. Takes
 * references. NULL if it was cancelled. *Frozen*: any thread may search. *(full)* */
CaptureSearch *sysprof_capture_search_new (Store *store,
                                           SymbolTable *symbols,
                                           const struct SampleFilter *filter,
                                           GCancellable *cancellable);
void sysprof_capture_search_free (CaptureSearch *self);

/* How many there are that can be found. */
uint32_t sysprof_capture_search_count (const CaptureSearch *self);

/* The best `limit` of what contains all terms, as sysprof_text_index_find() has it; of those that fit equally well first
 * what there is more of. *(full)* */
Found *sysprof_capture_search_find (const CaptureSearch *self,
                                    const TextQuery *query,
                                    uint32_t limit,
                                    uint32_t *n_found,
                                    GCancellable *cancellable);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CaptureSearch, sysprof_capture_search_free)
