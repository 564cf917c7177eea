// SPDX-License-Identifier: GPL-3.0-or-later

/* Looks up lines in a second thread while names are still being resolved, because neither needs
 * the other. Answers that turn out to be unnecessary are dropped. The thread reads the frozen
 * store and writes only into its own tables. The loading thread adds the answers in the order
 * of files, so that the result does not depend on timing.
 *
 * The loading thread forks the children before it reads the capture, because a forked child is
 * a copy of the whole process. */

#include "symbolize/lines.h"

#include "symbolize/fetched-files.h"
#include "symbolize/symbol-table.h"
#include "util/children/confined-child.h"
#include "util/children/prepared-children.h"

#define N_CHILDREN 2 /* the opener and the parser */

typedef struct
{
  FileBatch batch; /* of `batches` */
  ElfAnswers lines;
} Answer;

struct LinesAhead
{
  GThread *thread; /* NULL: it was joined */
  PreparedChild child[N_CHILDREN];
  unsigned n_children;
  /* *Owned* by the thread until it has ended. */
  Store *store;
  SymbolizeOptions options;
  SymbolTable *table; /* only for its gaps */
  FileBatches *batches;
  GArray *answers; /* of Answer */
  GArray *wanted;  /* of WantedFile */
  /* Our own, canceled together with the caller's. */
  GCancellable *cancellable;
  GCancellable *callers; /* or NULL */
  gulong handler;        /* of it, or 0 */
};

/* --- the thread --- */

void
sysprof_lines_ahead_keep (LinesAhead *self, const FileBatch *batch, ElfAnswers *lines)
{
  const Answer answer = { *batch, *lines };

  g_array_append_val (self->answers, answer);
  *lines = (ElfAnswers){ 0 };
}

static void
look (LinesAhead *self)
{
  Progress progress = { .cancellable = self->cancellable };
  LineCollection lines = { .ahead = self };
  Symbolization symbolization;

  self->table = sysprof_symbol_table_new (1);
  sysprof_symbolization_init (&symbolization, &sysprof_lines_request, self->store,
                              &self->options, &progress, self->table);
  symbolization.lines = &lines;
  self->batches = sysprof_elf_find_lines (&symbolization);
  self->wanted = g_array_ref (symbolization.wanted);
  sysprof_symbolization_clear (&symbolization);
}

static gpointer
run (gpointer data)
{
  LinesAhead *self = data;

  sysprof_prepared_children_take (self->child, self->n_children);
  look (self);
  sysprof_confined_children_dismiss ();
  return NULL;
}

/* --- the loading thread --- */

static void
cancel_ours (GCancellable *callers, gpointer ours)
{
  g_cancellable_cancel (ours);
}

static bool
has_file (const Store *store, const char *name)
{
  StringId id = sysprof_intern_lookup (&store->strings, name);

  return id != 0 && g_hash_table_contains (store->files.row_of_name, GUINT_TO_POINTER (id));
}

/* If the capture contains lines, files are not queried. Lines from servers are looked up with
 * their names. */
static bool
is_worth_it (const Store *store, const SymbolizeOptions *options)
{
  return sysprof_symbolize_asks (options, SYMBOLIZER_ELF) && !options->ask_debuginfod &&
         options->pinned_files == NULL &&
         (options->ignore_bundled ||
          (!has_file (store, "__lines__") && !has_file (store, "__lines__.gz")));
}

static bool
start (LinesAhead *self, Store *store, const SymbolizeOptions *options)
{
  self->n_children = sysprof_prepared_children_lend (self->child, N_CHILDREN);
  if (self->n_children == N_CHILDREN)
    {
      self->store = sysprof_store_ref (store);
      self->options = *options;
      self->thread = g_thread_try_new ("lines", run, self, NULL);
    }
  if (self->thread == NULL)
    sysprof_prepared_children_take (self->child, self->n_children);
  return self->thread != NULL;
}

LinesAhead *
sysprof_lines_ahead_begin (Store *store,
                           const SymbolizeOptions *options,
                           GCancellable *cancellable)
{
  g_autoptr (LinesAhead) self = g_new0 (LinesAhead, 1);

  self->cancellable = g_cancellable_new ();
  self->answers = g_array_new (FALSE, FALSE, sizeof (Answer));
  if (cancellable != NULL)
    {
      self->callers = g_object_ref (cancellable);
      self->handler = g_cancellable_connect (cancellable, G_CALLBACK (cancel_ours),
                                             g_object_ref (self->cancellable), g_object_unref);
    }
  if (!is_worth_it (store, options) || !start (self, store, options))
    return NULL;
  return g_steal_pointer (&self);
}

static void
add_gaps (const SymbolTable *from, SymbolTable *to)
{
  for (uint32_t i = 0; i < from->n_gaps; i++)
    {
      DebugGap gap = from->gap[i];

      gap.binary =
          sysprof_symbol_table_intern (to, sysprof_intern_get (&from->strings, gap.binary));
      gap.what =
          sysprof_symbol_table_intern (to, sysprof_intern_get (&from->strings, gap.what));
      sysprof_symbol_table_note_gap (to, &gap);
    }
}

void
sysprof_lines_ahead_take (LinesAhead *self, Symbolization *symbolization)
{
  g_clear_pointer (&self->thread, g_thread_join);
  for (guint i = 0; i < self->answers->len; i++)
    {
      Answer *answer = &g_array_index (self->answers, Answer, i);

      if (!sysprof_progress_is_cancelled (symbolization->progress))
        sysprof_line_collection_add (symbolization, &answer->batch, &answer->lines);
      sysprof_elf_answers_clear (&answer->lines);
    }
  g_array_set_size (self->answers, 0);
  add_gaps (self->table, symbolization->table);
  g_array_append_vals (symbolization->wanted, self->wanted->data, self->wanted->len);
}

void
sysprof_lines_ahead_free (LinesAhead *self)
{
  g_cancellable_cancel (self->cancellable);
  g_clear_pointer (&self->thread, g_thread_join);
  if (self->handler != 0)
    g_cancellable_disconnect (self->callers, self->handler);
  g_clear_object (&self->callers);
  g_object_unref (self->cancellable);
  for (guint i = 0; i < self->answers->len; i++)
    sysprof_elf_answers_clear (&g_array_index (self->answers, Answer, i).lines);
  g_array_unref (self->answers);
  g_clear_pointer (&self->wanted, g_array_unref);
  g_clear_pointer (&self->batches, sysprof_file_batches_free);
  g_clear_pointer (&self->table, sysprof_symbol_table_unref);
  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self);
}
