// SPDX-License-Identifier: GPL-3.0-or-later

/* document: the public GObject face of the analysis side, thin over the engine, and the selection that all programs
 * spell the same way.
 *
 * A SysprofDocument holds a frozen store and its symbols; what our own programs need of them is here. */

#pragma once

#include "analyze/analyze.h"

#include <sysprof.h>

/* Borrowed; live as long as the document. */
Store *sysprof_document_get_store (SysprofDocument *self);
SymbolTable *sysprof_document_get_symbols (SysprofDocument *self);

/* [processes.n] the control group of each process, "" where the capture does not tell; NULL behind them. *(full)* */
char **sysprof_store_dup_cgroups (const Store *store);

/* What programs ask of the loader beyond the public API. Set before loading. */
void sysprof_document_loader_set_symbolize_options (SysprofDocumentLoader *self,
                                                    const SymbolizeOptions *options);
/* What a loader of a descriptor calls it in messages. */
void sysprof_document_loader_set_name (SysprofDocumentLoader *self, const char *name);

/* --- selection: the options of commands.md section 2, for every view and export --- */

typedef struct Selection
{
  char **times;         /* "A..B"; here and in the lists below, "!VALUE" excludes */
  char **processes;     /* NAME|PID */
  char **process_trees; /* NAME|PID */
  char **threads;       /* NAME|TID */
  char **cpus;          /* LIST */
  char **cgroups;       /* GLOB */
  char **marks;         /* GROUP/NAME */
  char **symbols;       /* TEXT, !TEXT */
  char **binaries;      /* TEXT, !TEXT */
  gboolean command;     /* the recorded command and its descendants */
  gboolean all;         /* not the recorded command alone, where that is the default */
  gboolean no_kernel;
  gboolean idle;
  gboolean bottom_up;
  gboolean left_heavy;
  gboolean fold_recursion;
  gboolean by_threads;
  gboolean merge_processes;
  gboolean hide_system;
  gboolean no_inlines; /* for who loads the document */
  char **collapse;     /* BINARY */
  char **merged;       /* FUNCTION */
  char *focus;
} Selection;

/* The GOptionEntries that fill `selection`, which must stay where it is; NULL-terminated, to g_free(). */
GOptionEntry *sysprof_selection_option_entries (Selection *selection);
void sysprof_selection_clear (Selection *self);

/* One row for each option of a selection, in the order of --help. */
typedef struct
{
  const char *name;
  enum
  {
    SELECTION_LIST,   /* char ** */
    SELECTION_TEXT,   /* char * */
    SELECTION_SWITCH, /* gboolean */
  } kind;
  size_t offset; /* of the member in Selection */
  bool selects;  /* it excludes samples or events; the others change the shape of a view */
  const char *help;
  const char *argument; /* for --help; NULL for switches */
} SelectionOption;

/* Ended by a row without a name. */
extern const SelectionOption sysprof_selection_options[];

/* Selects the recorded command, if one was recorded and neither `all` is set nor processes were
 * selected in another way. Views that begin with the command call this. */
void sysprof_selection_default_to_command (Selection *self, const Store *store);

/* The recorded command as in a shell; NULL if the whole machine was recorded. *(full)* */
char *sysprof_store_dup_command (const Store *store);

/* The process of the recorded command; 0 if there is none. */
ProcessId sysprof_store_find_command (const Store *store);
/* Adds the descendants of the processes in is_in[processes.n], as far as the capture has their
 * forks. */
void sysprof_store_add_descendants (const Store *store, bool *is_in);

/* The selection against one document: what analyze takes. Errors name the option and what it should look like. */
typedef struct
{
  SampleFilter filter;
  Shape shape;
  /* … private: what the pointers in `filter` point to */
  GArray *times;
  GArray *spans;
  GArray *other_spans;
  GArray *processes;
  GArray *tids;
  GArray *cpus;
} ResolvedSelection;

/* The result borrows `self`. All errors are usage errors. An unknown name is no error: it
 * selects nothing. */
gboolean sysprof_selection_resolve (const Selection *self,
                                    const Store *store,
                                    ResolvedSelection *resolved,
                                    GError **error);
void sysprof_resolved_selection_clear (ResolvedSelection *self);
