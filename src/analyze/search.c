// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/search.h"

#include <string.h>

struct CaptureSearch
{
  Store *store;
  SymbolTable *symbols;
  Intern texts; /* of each kind its own: the first byte of each is the kind */
  Found *found; /* [n] most first */
  uint32_t n;
  TextIndex *index; /* of found[].text */
};

const char *
sysprof_found_kind_to_string (FoundKind kind)
{
  static const char *const names[N_FOUND_KINDS] = {
    "symbol", "binary", "mark", "mark-message", "log", "dbus", "file", "metadata",
  };

  return names[kind];
}

/* --- what there is --- */

typedef struct
{
  CaptureSearch *search;
  GArray *found; /* of Found; [i] is text i + 1 of `texts`, its text not yet set */
  GString *buffer;
} Gathering;

/* What stands in the buffer, `count` times more. */
static void
add_buffer (Gathering *gathering, FoundKind kind, uint32_t id, uint64_t count)
{
  CaptureSearch *self = gathering->search;
  GString *buffer = gathering->buffer;
  StringId text;

  buffer->str[0] = (char) (kind + 1);
  text = sysprof_intern_bytes (&self->texts, buffer->str, buffer->len);
  if (text > gathering->found->len)
    {
      const Found found = { .kind = kind, .id = id };

      g_array_append_val (gathering->found, found);
    }
  g_array_index (gathering->found, Found, text - 1).count += count;
}

/* The strings one behind the other; those that are NULL do not stand there. Nothing, if the first is empty. */
static void
add (Gathering *gathering,
     FoundKind kind,
     uint32_t id,
     uint64_t count,
     const char *first,
     const char *between,
     const char *second)
{
  if (*first == '\0')
    return;
  g_string_truncate (gathering->buffer, 1);
  g_string_append (gathering->buffer, first);
  if (second != NULL && *second != '\0')
    {
      g_string_append (gathering->buffer, between);
      g_string_append (gathering->buffer, second);
    }
  add_buffer (gathering, kind, id, count);
}

static void
gather_symbols (Gathering *gathering)
{
  const Store *store = gathering->search->store;
  const SymbolTable *symbols = gathering->search->symbols;
  g_autofree uint64_t *self = g_new0 (uint64_t, symbols->n);

  for (uint32_t i = 0; i < store->samples.n; i++)
    self[symbols->of_address[store->stacks.address[store->samples.stack[i]]]]++;

  for (SymbolId i = 1; i < symbols->n; i++)
    {
      const Symbol *symbol = &symbols->row[i];

      if (symbol->kind == SYMBOL_PROCESS || symbol->kind == SYMBOL_THREAD ||
          symbol->kind == SYMBOL_ROOT)
        continue;
      add (gathering, FOUND_SYMBOL, i, self[i], sysprof_symbol_name (symbols, i), " ",
           sysprof_symbol_binary (symbols, i));
      add (gathering, FOUND_BINARY, i, self[i],
           sysprof_intern_get (&symbols->strings,
                               symbol->path != 0 ? symbol->path : symbol->binary),
           NULL, NULL);
    }
}

static void
gather_marks (Gathering *gathering)
{
  const Store *store = gathering->search->store;

  for (uint32_t i = 0; i < store->n_marks; i++)
    {
      const Mark *mark = &store->marks[i];

      add (gathering, FOUND_MARK, i, 1, sysprof_store_string (store, mark->group), "/",
           sysprof_store_string (store, mark->name));
      add (gathering, FOUND_MESSAGE, i, 1, sysprof_store_string (store, mark->message), NULL,
           NULL);
    }
}

static void
gather_members (Gathering *gathering)
{
  const Store *store = gathering->search->store;
  DBusHeader header;

  for (uint32_t i = 0; i < store->n_dbus; i++)
    if (sysprof_store_read_dbus_header (store, i, &header) &&
        sysprof_text_size (header.member) > 0)
      {
        GString *buffer = g_string_truncate (gathering->buffer, 1);

        g_string_append_len (buffer, header.interface.at,
                             (gssize) sysprof_text_size (header.interface));
        g_string_append_c (buffer, '.');
        g_string_append_len (buffer, header.member.at,
                             (gssize) sysprof_text_size (header.member));
        add_buffer (gathering, FOUND_MEMBER, i, 1);
      }
}

static void
gather_rest (Gathering *gathering)
{
  const Store *store = gathering->search->store;

  for (uint32_t i = 0; i < store->n_logs; i++)
    {
      const char *domain = sysprof_store_string (store, store->logs[i].domain);
      const char *message = sysprof_store_string (store, store->logs[i].message);

      add (gathering, FOUND_LOG, i, 1, *domain != '\0' ? domain : message, ": ",
           *domain != '\0' ? message : NULL);
    }
  for (uint32_t i = 0; i < store->files.n; i++)
    add (gathering, FOUND_FILE, i, 1, sysprof_store_string (store, store->files.row[i].name),
         NULL, NULL);
  for (uint32_t i = 0; i < store->n_metadata; i++)
    add (gathering, FOUND_METADATA, i, 1, sysprof_store_string (store, store->metadata[i].id),
         ": ", sysprof_store_string (store, store->metadata[i].value));
}

/* --- birth and death --- */

static int
compare_found (const void *left, const void *right)
{
  const Found *a = left, *b = right;

  if (a->count != b->count)
    return a->count < b->count ? 1 : -1;
  return a->kind != b->kind ? (int) a->kind - (int) b->kind
         : a->id < b->id    ? -1
                            : a->id > b->id;
}

CaptureSearch *
sysprof_capture_search_new (Store *store, SymbolTable *symbols, GCancellable *cancellable)
{
  CaptureSearch *self = g_new0 (CaptureSearch, 1);
  Gathering gathering = {
    .search = self,
    .found = g_array_new (false, false, sizeof (Found)),
    .buffer = g_string_new (" "),
  };
  g_autofree const char **names = NULL;

  self->store = sysprof_store_ref (store);
  self->symbols = sysprof_symbol_table_ref (symbols);
  sysprof_intern_init (&self->texts);
  gather_symbols (&gathering);
  gather_marks (&gathering);
  gather_members (&gathering);
  gather_rest (&gathering);
  g_string_free (gathering.buffer, true);

  self->n = gathering.found->len;
  self->found = (Found *) (void *) g_array_free (gathering.found, false);
  for (uint32_t i = 0; i < self->n; i++)
    self->found[i].text = sysprof_intern_get (&self->texts, i + 1) + 1;
  if (self->n > 0)
    qsort (self->found, self->n, sizeof *self->found, compare_found);

  names = g_new (const char *, MAX (self->n, 1));
  for (uint32_t i = 0; i < self->n; i++)
    names[i] = self->found[i].text;
  self->index = sysprof_text_index_new (names, self->n, cancellable);
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
  sysprof_intern_clear (&self->texts);
  sysprof_symbol_table_unref (self->symbols);
  sysprof_store_unref (self->store);
  g_free (self);
}

Found *
sysprof_capture_search_find (const CaptureSearch *self,
                             const char *query,
                             uint32_t limit,
                             uint32_t *n_found,
                             GCancellable *cancellable)
{
  g_autofree TextMatch *matches =
      sysprof_text_index_find (self->index, query, limit, n_found, cancellable);
  Found *found = g_new (Found, MAX (*n_found, 1));

  for (uint32_t i = 0; i < *n_found; i++)
    found[i] = self->found[matches[i].name];
  return found;
}
