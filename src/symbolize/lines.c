// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds lines and inlined functions to a symbol table. Files are located a second time, now for
 * their debug information.
 *
 * Functions keep their symbols. Functions that were inlined into them get separate symbols and
 * stack entries (store/stacks/inlined-calls.c), so that code that follows stacks handles
 * inlined calls like any others. */

#include "symbolize/lines.h"

#include "symbolize/fetched-files.h"
#include "symbolize/packed-lines.h"
#include "symbolize/symbol-table.h"
#include "symbolize/vmlinux.h"

#include <string.h>

#define N_KNOWN_TEXTS 0x4000

static bool wants (const Symbolization *self, AddressId address);

/* --- the lines of one file --- */

/* A cache, because the texts of a file repeat often. */
typedef struct
{
  uint32_t text; /* offset; 0 = free */
  uint32_t id;
} KnownText;

typedef struct
{
  Symbolization *symbolization;
  const ElfAnswers *lines;
  StringId binary;
  StringId path;
  /* of its inlined functions, so that filters that exclude the kernel exclude them, too */
  SymbolKind kind;
  KnownText files[N_KNOWN_TEXTS];
  KnownText functions[N_KNOWN_TEXTS];
} FileLines;

static StringId
intern_file (FileLines *self, uint32_t text)
{
  SymbolTable *table = self->symbolization->table;
  KnownText *known = &self->files[text % N_KNOWN_TEXTS];
  const char *path = self->lines->text + text;

  if (text == 0)
    return 0;
  if (known->text != text)
    {
      /* A path passed to the compiler may contain "..". */
      g_autofree char *short_path =
          path[0] == '/' ? g_canonicalize_filename (path, NULL) : g_strdup (path);

      *known = (KnownText){ text, sysprof_symbol_table_intern (table, short_path) };
    }
  return known->id;
}

static void
set_place_of_function (FileLines *self, SymbolId symbol, const ElfLineFrame *frame)
{
  Symbol *row = &self->symbolization->table->row[symbol];

  if (row->file != 0 || frame->decl_file == 0 || frame->decl_line == 0)
    return;
  row->file = intern_file (self, frame->decl_file);
  row->line = frame->decl_line;
}

static SymbolId
find_inlined_function (FileLines *self, const ElfLineFrame *frame)
{
  SymbolTable *table = self->symbolization->table;
  KnownText *known = &self->functions[frame->name % N_KNOWN_TEXTS];
  const char *raw_name = self->lines->text + frame->name;
  const char *name = frame->demangled != 0 ? self->lines->text + frame->demangled : raw_name;
  Symbol symbol = {
    .binary = self->binary, .path = self->path, .kind = self->kind, .is_inlined = true
  };

  if (known->text == frame->name)
    return known->id;

  symbol.name = sysprof_symbol_table_intern (table, name);
  if (symbol.name == 0)
    return 0;
  if (strcmp (name, raw_name) != 0)
    symbol.raw_name = sysprof_symbol_table_intern (table, raw_name);
  *known = (KnownText){ frame->name, sysprof_symbol_table_add (table, &symbol) };
  set_place_of_function (self, known->id, frame);
  return known->id;
}

/* Appends the inlined functions of a row, outermost first. Returns their number. */
static uint16_t
append_inlined (FileLines *self, const ElfLineRow *row)
{
  GArray *inlined = self->symbolization->lines->inlined;
  uint16_t n = 0;

  for (uint32_t i = row->n - 1; i-- > 0;)
    {
      const ElfLineFrame *frame = &self->lines->frame[row->first + i];
      InlinedCall call = { .symbol = find_inlined_function (self, frame) };

      if (call.symbol == 0)
        continue;
      call.file = intern_file (self, frame->file);
      call.line = frame->line;
      g_array_append_val (inlined, call);
      n++;
    }
  return n;
}

static void
pack (LineCollection *collection, const FileBatch *batch, const ElfAnswers *lines)
{
  for (uint32_t i = 0; i < batch->n_items; i++)
    collection->is_known[batch->items[i].address] = 1;
  sysprof_packed_lines_add (collection->packed, batch, lines);
}

void
sysprof_line_collection_add (Symbolization *self, const FileBatch *batch, ElfAnswers *lines)
{
  SymbolTable *table = self->table;
  LineCollection *collection = self->lines;
  g_autofree FileLines *file = NULL;
  const BatchItem *last = NULL; /* whose offset the appended inlined functions belong to */
  uint32_t at = 0, first = 0;
  uint16_t n = 0;

  if (collection->ahead != NULL)
    {
      sysprof_lines_ahead_keep (collection->ahead, batch, lines);
      return;
    }
  if (collection->packed != NULL)
    {
      pack (collection, batch, lines);
      return;
    }
  file = g_new0 (FileLines, 1);
  file->symbolization = self;
  file->lines = lines;
  file->binary = sysprof_symbol_table_intern (table, sysprof_symbolize_base_name (batch->path));
  file->kind = batch->path[0] == '/' ? SYMBOL_INLINE : SYMBOL_KERNEL;
  if (file->kind == SYMBOL_INLINE)
    file->path = sysprof_symbol_table_intern (table, batch->path);
  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      const BatchItem *item = &batch->items[i];
      const ElfLineFrame *outermost;
      const ElfLineRow *row;

      if (!wants (self, item->address))
        continue; /* an unnecessary answer of the second thread */
      while (batch->offsets[at] != item->offset)
        at++;
      row = &lines->line[at];
      collection->is_known[item->address] = 1;
      if (row->n == 0)
        continue;

      if (last == NULL || last->offset != item->offset)
        {
          first = collection->inlined->len;
          n = append_inlined (file, row);
          last = item;
        }
      outermost = &lines->frame[row->first + row->n - 1];
      collection->first_inlined[item->address] = first;
      collection->n_inlined[item->address] = n;
      table->file[item->address] = intern_file (file, outermost->file);
      table->line[item->address] = outermost->line;
      set_place_of_function (file, table->of_address[item->address], outermost);
    }
}

/* --- the request --- */

static bool
wants (const Symbolization *self, AddressId address)
{
  const SymbolTable *table = self->table;
  uint8_t kind;

  if (self->lines->ahead != NULL)
    return true; /* names are not known yet */
  kind = table->row[table->of_address[address]].kind;
  return !self->lines->is_known[address] && (kind == SYMBOL_USER || kind == SYMBOL_KERNEL);
}

static bool
is_complete (const ElfFacts *facts)
{
  return facts->has_lines;
}

static bool
is_useless (const Symbolization *self, const FileBatch *batch, bool is_complete)
{
  return !is_complete;
}

static bool
resolve (ElfSearch *search,
         const FileBatch *batch,
         const uint64_t *addresses,
         UnnamedReason reason)
{
  ElfAnswers lines = { 0 };
  bool is_answered = sysprof_elf_search_resolve_lines (search, batch, addresses, &lines);

  if (is_answered)
    sysprof_line_collection_add (search->symbolization, batch, &lines);
  sysprof_elf_answers_clear (&lines);
  return is_answered;
}

static void
resolve_kernel (Symbolization *self,
                ElfCache *elf,
                const FileBatch *batch,
                const uint64_t *addresses,
                uint64_t shift)
{
  const ElfQuery query = {
    .kind = ELF_LINES, .are_addresses = true, .offsets = addresses, .n = batch->n_offsets
  };
  ElfAnswers lines = { 0 };

  if (sysprof_elf_cache_resolve (elf, &query, &lines) == ELF_OK)
    sysprof_line_collection_add (self, batch, &lines);
  sysprof_elf_answers_clear (&lines);
}

const SymbolRequest sysprof_lines_request = {
  .address_kind = ADDRESS_USER,
  .reads_lines = true,
  .is_cached = true,
  .reports_gaps = true,
  .wants = wants,
  .is_complete = is_complete,
  .is_useless = is_useless,
  .resolve = resolve,
  .resolve_kernel = resolve_kernel,
};

/* --- all files --- */

/* Inserts stack entries for the inlined functions, and their symbols. */
static void
insert_inlined (Store *store, SymbolTable *table, const LineCollection *lines)
{
  uint32_t n = store->addresses.n;
  AddressId at = n;

  if (!sysprof_store_insert_inlined_calls (store, lines->n_inlined))
    return;

  sysprof_symbol_table_extend (table, n, lines->n_inlined);
  for (AddressId address = 0; address < n; address++)
    for (uint32_t i = 0; i < lines->n_inlined[address]; i++, at++)
      {
        const InlinedCall *call =
            &g_array_index (lines->inlined, InlinedCall, lines->first_inlined[address] + i);

        table->of_address[at] = call->symbol;
        table->file[at] = call->file;
        table->line[at] = call->line;
      }
}

bool
sysprof_symbolize_asks (const SymbolizeOptions *options, SymbolizerKind kind)
{
  if (options->no_symbols)
    return false;
  for (uint8_t i = 0; i < options->n_chain; i++)
    if (options->chain[i] == kind)
      return true;
  return options->n_chain == 0;
}

/* Collects the lines in the capture, then those in files. Returns FALSE only with `error`
 * set. */
static bool
collect (Symbolization *self, LinesAhead *ahead, GError **error)
{
  const SymbolizeOptions *options = self->options;

  if (sysprof_symbolize_asks (options, SYMBOLIZER_BUNDLED) && !options->ignore_bundled)
    sysprof_packed_lines_use (self);
  if (!sysprof_symbolize_asks (options, SYMBOLIZER_ELF))
    return true;
  sysprof_vmlinux_resolve (self);
  if (ahead != NULL)
    sysprof_lines_ahead_take (ahead, self);
  else if (!sysprof_elf_symbolizer.resolve (self, error))
    return false;
  return sysprof_debuginfod_symbolizer.resolve (self, error);
}

bool
sysprof_symbol_table_load_lines (SymbolTable *table,
                                 Store *store,
                                 const SymbolizeOptions *options,
                                 Progress *progress,
                                 GError **error)
{
  g_autoptr (LinesAhead) ahead = sysprof_symbol_table_steal_ahead (table);
  uint32_t n = store->addresses.n;
  SymbolizeOptions from_cache = options != NULL ? *options : (SymbolizeOptions){ 0 };
  LineCollection lines = {
    .is_known = g_new0 (uint8_t, n + 1),
    .first_inlined = g_new0 (uint32_t, n + 1),
    .n_inlined = g_new0 (uint16_t, n + 1),
    .inlined = g_array_new (FALSE, FALSE, sizeof (InlinedCall)),
  };
  int64_t began = g_get_monotonic_time ();
  Symbolization self;
  bool is_done;

  /* The servers were queried when names were resolved, and their files are in the cache. */
  from_cache.was_asked_debuginfod = from_cache.ask_debuginfod;
  from_cache.ask_debuginfod = false;
  sysprof_symbolization_init (&self, &sysprof_lines_request, store, &from_cache, progress,
                              table);
  self.lines = &lines;
  table->file = sysprof_large_new0 (MAX (n, 1), sizeof *table->file);
  table->line = sysprof_large_new0 (MAX (n, 1), sizeof *table->line);
  is_done =
      sysprof_progress_stage (progress, 1, "Finding lines") && collect (&self, ahead, error);
  is_done = !sysprof_progress_set_error_if_cancelled (progress, error) && is_done;
  /* Memory that only the lookup needed is freed before all stacks are extended. */
  sysprof_symbolization_clear (&self);
  g_free (lines.is_known);
  if (is_done)
    insert_inlined (store, table, &lines);

  g_free (lines.first_inlined);
  g_free (lines.n_inlined);
  g_array_unref (lines.inlined);
  g_debug ("Lines of %u addresses took %.1f ms", n,
           (double) (g_get_monotonic_time () - began) / 1000);
  return is_done;
}

GBytes *
sysprof_symbol_table_pack_lines (SymbolTable *table,
                                 Store *store,
                                 const SymbolizeOptions *options,
                                 GCancellable *cancellable)
{
  SymbolizeOptions from_files = *options;
  Progress progress = { .cancellable = cancellable };
  LineCollection lines = {
    .is_known = g_new0 (uint8_t, store->addresses.n + 1),
    .packed = g_string_new (NULL),
  };
  Symbolization self;

  from_files.ask_debuginfod = false;
  sysprof_symbolization_init (&self, &sysprof_lines_request, store, &from_files, &progress,
                              table);
  self.lines = &lines;
  (void) collect (&self, NULL, NULL); /* the lines found before a cancelation are valid */

  sysprof_symbolization_clear (&self);
  g_free (lines.is_known);
  if (lines.packed->len == 0)
    {
      g_string_free (lines.packed, TRUE);
      return NULL;
    }
  return g_string_free_to_bytes (lines.packed);
}
