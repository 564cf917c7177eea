// SPDX-License-Identifier: GPL-3.0-or-later

/* Searches all names of a capture by parts of words. See search.h. */

#include "analyze/search/search.h"
#include "analyze/fold/work.h"

#include <assert.h>
#include <string.h>

#define COUNTED_BETWEEN 0x1000 /* between two checks for cancellation */

struct CaptureSearch
{
  Store *store;
  SymbolTable *symbols;
  Arena members; /* texts of D-Bus, which have no end where they stand */
  Found *found;  /* [n] most first */
  uint32_t n;
  TextIndex *index; /* of found[] */
};

const char *
sysprof_found_kind_to_string (FoundKind kind)
{
  static const char *const names[] = {
    [FOUND_SYMBOL] = "symbol",
    [FOUND_BINARY] = "binary",
    [FOUND_PROCESS] = "process",
    [FOUND_MARK] = "mark",
    [FOUND_MESSAGE] = "mark-message",
    [FOUND_COUNTER] = "counter",
    [FOUND_LOG] = "log",
    [FOUND_MEMBER] = "dbus",
    [FOUND_FILE] = "file",
    [FOUND_METADATA] = "metadata",
  };
  static_assert (G_N_ELEMENTS (names) == N_FOUND_KINDS, "every kind has a name");

  return names[kind];
}

/* --- what there is --- */

typedef struct
{
  CaptureSearch *search;
  const SampleFilter *filter;
  GCancellable *cancellable; /* or NULL */
  GArray *found;             /* of Found */
  GHashTable *of_events; /* of what may be there often: itself → 1 + its index in `found` */
  Arena keys;            /* of that */
} Gathering;

/* For loops over `i`. If it returns FALSE, the caller discards its results. */
static bool
goes_on (const Gathering *gathering, uint32_t i)
{
  return i % COUNTED_BETWEEN != 0 || !g_cancellable_is_cancelled (gathering->cancellable);
}

static guint
hash_found (gconstpointer key)
{
  const Found *found = key;

  return (g_str_hash (found->name) * 33 + g_str_hash (found->where)) * N_FOUND_KINDS +
         found->kind;
}

static gboolean
found_equal (gconstpointer left, gconstpointer right)
{
  const Found *a = left, *b = right;

  return a->kind == b->kind && strcmp (a->name, b->name) == 0 &&
         strcmp (a->where, b->where) == 0;
}

/* What may have come before: only counted then. Nothing without a name. */
static void
count (Gathering *gathering, Found found)
{
  guint at;
  Found *key;

  if (*found.name == '\0')
    return;
  at = GPOINTER_TO_UINT (g_hash_table_lookup (gathering->of_events, &found));
  if (at > 0)
    {
      g_array_index (gathering->found, Found, at - 1).count += found.count;
      return;
    }
  if (found.kind == FOUND_MEMBER)
    {
      found.name =
          sysprof_arena_strndup (&gathering->search->members, found.name, strlen (found.name));
      found.where = sysprof_arena_strndup (&gathering->search->members, found.where,
                                           strlen (found.where));
    }
  g_array_append_val (gathering->found, found);
  key = sysprof_arena_alloc (&gathering->keys, sizeof *key);
  *key = found;
  g_hash_table_insert (gathering->of_events, key, GUINT_TO_POINTER (gathering->found->len));
}

static void
gather_symbols (Gathering *gathering, const StackWeights *weights)
{
  const Store *store = gathering->search->store;
  const SymbolTable *symbols = gathering->search->symbols;
  const bool is_whole = sysprof_filter_is_whole (gathering->filter);
  g_autoptr (FunctionTable) functions = sysprof_functions_new (store, symbols, weights, NULL);
  g_autofree FunctionRow *of_symbol = g_new0 (FunctionRow, MAX (symbols->n, 1));

  for (uint32_t i = 0; i < functions->n; i++)
    of_symbol[functions->row[i].symbol] = functions->row[i];

  for (SymbolId i = 1; i < symbols->n && goes_on (gathering, i); i++)
    {
      const Symbol *symbol = &symbols->row[i];
      const StringId path = symbol->path != 0 ? symbol->path : symbol->binary;
      const Found found = {
        .kind = FOUND_SYMBOL,
        .id = i,
        .name = sysprof_symbol_name (symbols, i),
        .where = sysprof_symbol_binary (symbols, i),
        .alias = symbol->raw_name != 0
                     ? sysprof_intern_get (&symbols->strings, symbol->raw_name)
                     : NULL,
        .count = of_symbol[i].total,
      };

      /* Without a selection also what is in no sample, but was allocating, say. */
      if (symbol->kind == SYMBOL_PROCESS || symbol->kind == SYMBOL_THREAD ||
          symbol->kind == SYMBOL_ROOT || symbol->kind == SYMBOL_DATA ||
          symbol->kind == SYMBOL_MARKER || (!is_whole && found.count == 0))
        continue;
      g_array_append_val (gathering->found, found);
      count (gathering, (Found){ .kind = FOUND_BINARY,
                                 .id = i,
                                 .name = sysprof_intern_get (&symbols->strings, path),
                                 .where = "",
                                 .count = of_symbol[i].self });
    }
}

static void
gather_processes (Gathering *gathering, const StackWeights *weights)
{
  const Store *store = gathering->search->store;
  g_autofree uint64_t *totals =
      g_memdup2 (weights->self, MAX (store->stacks.n, 1) * sizeof *weights->self);

  /* Parents come first, and the first of all are processes. */
  for (StackId i = store->stacks.n; i-- > store->processes.n;)
    totals[store->stacks.parent[i]] += totals[i];
  for (ProcessId i = 1; i < store->processes.n && goes_on (gathering, i); i++)
    if (totals[i] > 0 || sysprof_filter_is_whole (gathering->filter))
      count (
          gathering,
          (Found){ .kind = FOUND_PROCESS,
                   .id = i,
                   .name = sysprof_store_string (store, store->processes.row[i].comm),
                   .where = sysprof_store_string (store, store->processes.row[i].command_line),
                   .count = totals[i] });
}

static void
gather_marks (Gathering *gathering, const EventMatcher *matcher)
{
  const Store *store = gathering->search->store;

  for (uint32_t i = 0; i < store->n_marks && goes_on (gathering, i); i++)
    {
      const Mark *mark = &store->marks[i];
      const char *name = sysprof_store_string (store, mark->name);

      if (!sysprof_event_matcher_takes (matcher, mark->time, mark->pid, mark->cpu))
        continue;
      count (gathering, (Found){ .kind = FOUND_MARK,
                                 .id = i,
                                 .name = name,
                                 .where = sysprof_store_string (store, mark->group),
                                 .count = 1 });
      count (gathering, (Found){ .kind = FOUND_MESSAGE,
                                 .id = i,
                                 .name = sysprof_store_string (store, mark->message),
                                 .where = name,
                                 .count = 1 });
    }
}

static void
gather_members (Gathering *gathering, const EventMatcher *matcher)
{
  const Store *store = gathering->search->store;
  DBusHeader header;

  for (uint32_t i = 0; i < store->n_dbus && goes_on (gathering, i); i++)
    {
      const DBusMessage *message = &store->dbus[i];

      if (!sysprof_event_matcher_takes (matcher, message->time, message->pid, message->cpu) ||
          !sysprof_store_read_dbus_header (store, i, &header))
        continue;

      g_autofree char *member = g_strndup (header.member.at, sysprof_text_size (header.member));
      g_autofree char *interface =
          g_strndup (header.interface.at, sysprof_text_size (header.interface));

      count (
          gathering,
          (Found){
              .kind = FOUND_MEMBER, .id = i, .name = member, .where = interface, .count = 1 });
    }
}

static void
gather_logs (Gathering *gathering, const EventMatcher *matcher)
{
  const Store *store = gathering->search->store;

  for (uint32_t i = 0; i < store->n_logs && goes_on (gathering, i); i++)
    {
      const Log *log = &store->logs[i];

      if (sysprof_event_matcher_takes (matcher, log->time, log->pid, log->cpu))
        count (gathering, (Found){ .kind = FOUND_LOG,
                                   .id = i,
                                   .name = sysprof_store_string (store, log->message),
                                   .where = sysprof_store_string (store, log->domain),
                                   .count = 1 });
    }
}

/* What belongs to any selection. */
static void
gather_rest (Gathering *gathering)
{
  const Store *store = gathering->search->store;

  for (uint32_t i = 0; i < store->counters.n; i++)
    {
      const Counter *counter = &store->counters.row[i];

      count (gathering, (Found){ .kind = FOUND_COUNTER,
                                 .id = i,
                                 .name = sysprof_store_string (store, counter->name),
                                 .where = sysprof_store_string (store, counter->category),
                                 .count = counter->n_values });
    }
  for (uint32_t i = 0; i < store->files.n; i++)
    count (gathering, (Found){ .kind = FOUND_FILE,
                               .id = i,
                               .name = sysprof_store_string (store, store->files.row[i].name),
                               .where = "",
                               .count = 1 });
  for (uint32_t i = 0; i < store->n_metadata; i++)
    count (gathering, (Found){ .kind = FOUND_METADATA,
                               .id = i,
                               .name = sysprof_store_string (store, store->metadata[i].id),
                               .where = sysprof_store_string (store, store->metadata[i].value),
                               .count = 1 });
}

static void
gather (CaptureSearch *self, const SampleFilter *filter, GCancellable *cancellable)
{
  Gathering gathering = {
    .search = self,
    .filter = filter,
    .cancellable = cancellable,
    .found = g_array_new (false, false, sizeof (Found)),
    .of_events = g_hash_table_new (hash_found, found_equal),
  };
  StackWeights weights = { 0 };
  EventMatcher matcher;

  sysprof_stack_weights_fold (&weights, self->store, self->symbols, filter, false);
  gather_symbols (&gathering, &weights);
  gather_processes (&gathering, &weights);
  sysprof_stack_weights_clear (&weights);

  sysprof_event_matcher_init (&matcher, self->store, filter);
  gather_marks (&gathering, &matcher);
  gather_members (&gathering, &matcher);
  gather_logs (&gathering, &matcher);
  sysprof_event_matcher_clear (&matcher);
  gather_rest (&gathering);

  g_hash_table_unref (gathering.of_events);
  sysprof_arena_clear (&gathering.keys);
  self->n = gathering.found->len;
  self->found = (Found *) (void *) g_array_free (gathering.found, false);
}

/* --- birth and death --- */

static int
compare_found (const void *left, const void *right, void *data)
{
  const Found *a = left, *b = right;

  if (a->count != b->count)
    return a->count < b->count ? 1 : -1;
  return a->kind != b->kind ? (int) a->kind - (int) b->kind
         : a->id < b->id    ? -1
                            : a->id > b->id;
}

CaptureSearch *
sysprof_capture_search_new (Store *store,
                            SymbolTable *symbols,
                            const SampleFilter *filter,
                            GCancellable *cancellable)
{
  CaptureSearch *self = g_new0 (CaptureSearch, 1);
  const FoldWork work = { .cancellable = cancellable };
  g_autofree TextFields *texts = NULL;

  self->store = sysprof_store_ref (store);
  self->symbols = sysprof_symbol_table_ref (symbols);
  gather (self, filter, cancellable);
  if (!sysprof_fold_work_sort (&work, self->found, self->n, sizeof *self->found, compare_found,
                               NULL))
    {
      sysprof_capture_search_free (self);
      return NULL;
    }

  texts = g_new (TextFields, MAX (self->n, 1));
  for (uint32_t i = 0; i < self->n; i++)
    texts[i] =
        (TextFields){ { self->found[i].name, self->found[i].where, self->found[i].alias } };
  self->index = sysprof_text_index_new (texts, self->n, cancellable);
  if (self->index != NULL)
    return self;

  sysprof_capture_search_free (self);
  return NULL;
}

void
sysprof_capture_search_free (CaptureSearch *self)
{
  if (self == NULL)
    return;
  sysprof_text_index_free (self->index);
  g_free (self->found);
  sysprof_arena_clear (&self->members);
  sysprof_symbol_table_unref (self->symbols);
  sysprof_store_unref (self->store);
  g_free (self);
}

uint32_t
sysprof_capture_search_count (const CaptureSearch *self)
{
  return self->n;
}

Found *
sysprof_capture_search_find (const CaptureSearch *self,
                             const TextQuery *query,
                             uint32_t limit,
                             uint32_t *n_found,
                             GCancellable *cancellable)
{
  g_autofree TextMatch *matches =
      sysprof_text_index_find (self->index, query, limit, n_found, cancellable);
  Found *found = g_new (Found, MAX (*n_found, 1));

  for (uint32_t i = 0; i < *n_found; i++)
    found[i] = self->found[matches[i].text];
  return found;
}
