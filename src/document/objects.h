// SPDX-License-Identifier: GPL-3.0-or-later

/* How the module makes its objects. All of them are *owned* by the caller, but only read frozen data. */

#pragma once

#include "document/document.h"
#include "util/index-set.h"

struct _SysprofDocument
{
  GObject parent_instance;
  Store *store;
  SymbolTable *symbols;
  char *filename; /* nullable */
  SysprofTimeSpan span;
  guint n_works; /* of what makes it busy */

  /* *Guarded*: changes from NULL to its value once, by an atomic exchange. [processes.n]
   * NULL until used */
  FrameNo *frame_of_process;
  /* *Guarded*: each goes from NULL to its object once, by an atomic exchange. [sysprof_graph_n_symbols()] */
  SysprofSymbol **symbol_objects;
};

/* As g_task_run_in_thread(), which waits for ever where the system refuses a thread: here the task returns an error then. */
void sysprof_run_in_thread (GTask *task, GTaskThreadFunc func);

/* Takes both references. `filename` may be NULL. *(full)* */
SysprofDocument *
sysprof_document_new (Store *store, SymbolTable *symbols, const char *filename);

struct _SysprofSymbolizer
{
  GObject parent_instance;
};

struct _SysprofSymbolizerClass
{
  GObjectClass parent_class;

  /* Restricts the engine's chain of symbolizers to the one that this object represents. */
  void (*configure) (SysprofSymbolizer *self, SymbolizeOptions *options);
};

/* Adds that symbolizer at the end of the chain. */
void sysprof_symbolize_options_add (SymbolizeOptions *options, SymbolizerKind kind);
void sysprof_symbolizer_configure (SysprofSymbolizer *self, SymbolizeOptions *options);
/* A copy that needs nothing of the first; to be cleared. */
void sysprof_symbolize_options_copy (const SymbolizeOptions *self, SymbolizeOptions *copy);
void sysprof_symbolize_options_clear (SymbolizeOptions *self);

/* The frames of `frames`, which belongs to the store, made on demand. *(full)* */
GListModel *sysprof_frame_model_new (Store *store, const FrameList *frames, GType item_type);
/* The same of frame numbers that it takes. */
GListModel *
sysprof_frame_model_new_take (Store *store, FrameNo *frames, uint32_t n, GType item_type);
/* The same of a set of frame numbers that it takes. */
GListModel *sysprof_frame_model_new_take_set (Store *store, IndexSet *frames, GType item_type);
/* The set of the frames of a list of that store, which is made at the first time; NULL where they are not in order, or not the
 * store's. It lives as long as the list. Any thread. */
const IndexSet *sysprof_frame_model_peek_set (GListModel *model, const Store *store);
/* The frame numbers behind a list of frames of that store, in its order. `*taken` is set where they had to be collected,
 * and then the caller's; frames of other stores are left out of those. */
FrameList sysprof_frame_model_peek (GListModel *model, const Store *store, FrameNo **taken);

/* *(full)* The item of that number. */
typedef gpointer (*IndexModelMake) (gpointer owner, uint32_t number);

/* A list of what `owner` makes of `numbers` [n], which is taken; NULL: of 0 … n - 1. *(full)* */
GListModel *sysprof_index_model_new (gpointer owner,
                                     GType item_type,
                                     IndexModelMake make,
                                     uint32_t *numbers,
                                     guint n);

/* The object of a symbol, made on first use; lives as long as the document. Any thread. */
SysprofSymbol *sysprof_document_get_symbol (SysprofDocument *self, GraphSymbolId id);
/* The number of a symbol, also if it is another document's; 0 where this document has none like it. */
GraphSymbolId sysprof_document_find_symbol (SysprofDocument *self, SysprofSymbol *symbol);
/* *(full)* */
SysprofSymbol *sysprof_symbol_new (const Store *store, SymbolTable *symbols, GraphSymbolId id);
/* Its number in the document of that table; 0 of another's. */
GraphSymbolId sysprof_symbol_get_id (SysprofSymbol *self, const SymbolTable *symbols);

/* [frames->n] *(full)* */
int64_t *sysprof_document_read_column (const Store *store,
                                       const FrameList *frames,
                                       SysprofDocumentColumn column);

/* Something long, which `cancellable` ends. Any thread may tell how far it is; who does notifies the properties "message"
 * and "progress" in the thread that shows them. *(full)* */
SysprofDocumentTask *sysprof_document_task_new (const char *title, GCancellable *cancellable);
void sysprof_document_task_set_progress (SysprofDocumentTask *self,
                                         double progress,
                                         const char *message);

/* While something long is done. */
void sysprof_document_begin_work (SysprofDocument *self);
void sysprof_document_end_work (SysprofDocument *self);

/* The stack of a frame, and its thread; FALSE if it has none. */
bool
sysprof_document_find_stack (const Store *store, FrameNo frame, StackId *stack, int32_t *tid);

/* *(full)* */
SysprofDocumentFile *sysprof_document_file_new (Store *store, uint32_t file);
/* Of SysprofCpuInfo. *(full)* */
GListModel *sysprof_cpu_infos_read (const Store *store);
/* Of lists, one per group, of SysprofMarkCatalog. *(full)* */
GListModel *sysprof_mark_catalogs_new (Store *store);

/* *(full)* */
SysprofDocumentCounter *sysprof_document_counter_new (Store *store, uint32_t index);
SysprofDocumentCounterValue *
sysprof_document_counter_value_new (SysprofDocumentCounter *counter, guint nth);
/* When the recording began, ns. */
int64_t sysprof_document_counter_get_begin (SysprofDocumentCounter *self);
