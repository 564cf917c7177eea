// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the instructions of functions from the files that their symbols come from. The files
 * are located a second time, because symbolization closes them. */

#include "symbolize/code.h"

#include "disasm/disasm.h"
#include "symbolize/kernel-code.h"
#include "symbolize/symbol-table.h"
#include "symbolize/vmlinux.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_TEXT (3 * ELF_MAX_INSTRUCTION + 1)

G_STATIC_ASSERT (MOST_CODE_OF_PIECE == ELF_MAX_CODE);

/* --- pieces --- */

/* The texts are interned in the store, so equal texts have equal addresses. */
typedef struct
{
  const char *path;
  const char *build_id;
  uint64_t inode;
  uint64_t start;
  SymbolId symbol;
} PieceKey;

static guint
hash_key (const void *data)
{
  const PieceKey *key = data;

  return g_direct_hash (key->path) ^ g_int64_hash (&key->start) ^ key->symbol * 31;
}

static gboolean
is_same_key (const void *a, const void *b)
{
  const PieceKey *left = a, *right = b;

  return left->path == right->path && left->build_id == right->build_id &&
         left->inode == right->inode && left->start == right->start &&
         left->symbol == right->symbol;
}

/* Translates the bounds of the address's function from process addresses to file offsets. If
 * they are unknown or cannot be translated, the result is the address itself as start, without
 * an end. */
static void
find_range (const Symbolization *self, const BatchItem *item, uint64_t *start, uint64_t *end)
{
  uint64_t at = sysprof_symbolization_lookup_address (self, item->address);
  uint64_t begin = self->table->function_start[item->address];
  uint64_t behind = self->table->function_end[item->address];

  *start = item->offset;
  *end = 0;
  if (begin == 0 || begin > at || behind <= at || at - begin > item->offset ||
      behind - at > UINT64_MAX - item->offset)
    return;
  *start = item->offset - (at - begin);
  *end = item->offset + (behind - at);
}

/* Returns 1 + the index of the piece, which is added if it is new; 0 = the limit is reached. */
static uint32_t
add_piece (Symbolization *self, const FileBatch *batch, const BatchItem *item)
{
  CodeCollection *code = self->code;
  SymbolId symbol = self->table->of_address[item->address];
  CodePiece piece = {
    .symbol = symbol, .path = batch->path, .build_id = batch->build_id, .inode = batch->inode
  };
  PieceKey key;
  uint32_t number;

  find_range (self, item, &piece.start, &piece.end);
  /* The bounds of this function are read from the file later. They are the same for all its
   * addresses, so the key does not contain the start. */
  key = (PieceKey){ batch->path, batch->build_id, batch->inode,
                    piece.end != 0 ? piece.start : UINT64_MAX, symbol };
  number = GPOINTER_TO_UINT (g_hash_table_lookup (code->places, &key));
  if (number == 0 && code->pieces->len < MOST_PIECES)
    {
      g_array_append_val (code->pieces, piece);
      number = code->pieces->len;
      g_hash_table_insert (code->places, g_memdup2 (&key, sizeof key),
                           GUINT_TO_POINTER (number));
    }
  code->into->is_cut |= number == 0;
  code->into->piece_of[item->address] = number;
  return number;
}

/* --- reasons --- */

static void
explain (Symbolization *self, const FileBatch *batch, const char *problem, const char *remedy)
{
  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      uint32_t number = add_piece (self, batch, &batch->items[i]);
      CodePiece *piece =
          number != 0 ? &g_array_index (self->code->pieces, CodePiece, number - 1) : NULL;

      if (piece == NULL || piece->n > 0)
        continue;
      piece->problem = problem;
      piece->remedy = remedy;
    }
}

static void
explain_reason (Symbolization *self, const FileBatch *batch, UnnamedReason reason)
{
  explain (self, batch, sysprof_unnamed_reason_to_string (reason),
           sysprof_unnamed_reason_remedy (reason));
}

static void
explain_unsure (Symbolization *self, const FileBatch *batch)
{
  explain (self, batch, "no file on this machine can be identified as the recorded one",
           "Open the capture where it was recorded, or record with build IDs, as sysprof-cli "
           "does.");
}

/* --- instructions --- */

static StringId
intern_bytes (Disassembly *into, const ElfInstruction *row)
{
  char text[BYTES_TEXT] = "";

  for (unsigned i = 0; i < row->size; i++)
    g_snprintf (text + 3 * i, sizeof text - 3 * i, i + 1 < row->size ? "%02x " : "%02x",
                row->bytes[i]);
  return sysprof_intern_string (&into->strings, text);
}

/* The text comes from an untrusted file. *(full)* */
static char *
dup_printable (const char *text)
{
  char *valid = g_utf8_make_valid (text, -1);

  for (char *at = valid; *at != '\0'; at++)
    if (g_ascii_iscntrl (*at))
      *at = '?';
  return valid;
}

static StringId
intern_text (Disassembly *into, const char *text)
{
  g_autofree char *printable = dup_printable (text);

  return sysprof_intern_string (&into->strings, printable);
}

static StringId
intern_file (Disassembly *into, const char *path)
{
  g_autofree char *short_path =
      path[0] == '/' ? g_canonicalize_filename (path, NULL) : g_strdup (path);

  return intern_text (into, short_path);
}

StringId
sysprof_code_collection_intern_file (CodeCollection *self, const char *path)
{
  return path[0] != '\0' ? intern_file (self->into, path) : 0;
}

Instruction
sysprof_code_collection_make_row (CodeCollection *self,
                                  const CodePiece *piece,
                                  const ElfInstruction *row,
                                  const char *text)
{
  return (Instruction){ .offset = row->offset,
                        .address = row->address,
                        .size = row->size,
                        .text = intern_text (self->into, text + row->text),
                        .bytes = intern_bytes (self->into, row),
                        .is_wanted = self->is_wanted[piece->symbol] };
}

/* Whether one of the requested functions was inlined there. */
static bool
is_wanted_inlined (const Symbolization *self, const char *name)
{
  StringId id = sysprof_intern_lookup (&self->table->strings, name);

  return id != 0 && g_hash_table_contains (self->code->inlined, GUINT_TO_POINTER (id));
}

static void
set_place (const Symbolization *self,
           const ElfAnswers *lines,
           const ElfLineRow *place,
           Instruction *instruction)
{
  Disassembly *into = self->code->into;

  for (uint32_t i = 0; i < place->n; i++)
    {
      const ElfLineFrame *frame = &lines->frame[place->first + i];
      const char *name = lines->text + (frame->demangled != 0 ? frame->demangled : frame->name);

      if (i == 0)
        {
          instruction->file =
              frame->file != 0 ? intern_file (into, lines->text + frame->file) : 0;
          instruction->line = frame->line;
          instruction->inlined = frame->name != 0 ? intern_text (into, name) : 0;
        }
      if (frame->name != 0 && !instruction->is_wanted)
        instruction->is_wanted = is_wanted_inlined (self, name);
    }
}

void
sysprof_code_collection_take (Symbolization *self,
                              const uint32_t *number_of,
                              const ElfAnswers *found,
                              const ElfAnswers *lines)
{
  CodeCollection *code = self->code;
  CodePiece *piece = NULL;

  for (size_t i = 0; i < found->n; i++)
    {
      const ElfInstruction *row = &found->instruction[i];
      Instruction instruction;

      if (i == 0 || row[-1].range != row->range)
        {
          piece = &g_array_index (code->pieces, CodePiece, number_of[row->range] - 1);
          piece->first = code->rows->len;
          piece->n = 0;
          piece->problem = NULL;
        }
      instruction = sysprof_code_collection_make_row (code, piece, row, found->text);
      if (i < lines->n)
        set_place (self, lines, &lines->line[i], &instruction);
      g_array_append_val (code->rows, instruction);
      piece->n++;
    }
}

static int
compare_offsets (const void *a, const void *b)
{
  const ElfCodeRange *left = a, *right = b;

  return (left->start > right->start) - (left->start < right->start);
}

/* Lines must be requested by ascending offsets, but the offsets of overlapping functions do not
 * ascend. */
static void
find_lines (ElfSearch *search,
            const FileBatch *batch,
            const ElfAnswers *found,
            ElfAnswers *lines)
{
  g_autofree uint64_t *offsets = g_new (uint64_t, found->n + 1);
  FileBatch all = *batch;

  *lines = (ElfAnswers){ 0 };
  if (!search->symbolization->options->with_lines)
    return;
  for (size_t i = 0; i < found->n; i++)
    {
      offsets[i] = found->instruction[i].offset;
      if (i > 0 && offsets[i] < offsets[i - 1])
        return;
    }
  all.offsets = offsets;
  all.n_offsets = (uint32_t) found->n;
  if (!sysprof_elf_search_resolve_lines (search, &all, NULL, lines))
    *lines = (ElfAnswers){ 0 };
}

/* Returns [*n] sorted by offset, without duplicates. Sets `number_of` to the piece of each
 * range. */
static ElfCodeRange *
list_ranges (Symbolization *self, const FileBatch *batch, uint32_t **number_of, uint32_t *n)
{
  CodeCollection *code = self->code;
  g_autofree bool *is_listed = g_new0 (bool, MOST_PIECES);
  ElfCodeRange *ranges = g_new0 (ElfCodeRange, MOST_PIECES);
  g_autofree uint32_t *numbers = g_new0 (uint32_t, MOST_PIECES);

  *n = 0;
  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      uint32_t number = add_piece (self, batch, &batch->items[i]);
      const CodePiece *piece;

      if (number == 0 || is_listed[number - 1])
        continue;
      is_listed[number - 1] = true;
      piece = &g_array_index (code->pieces, CodePiece, number - 1);
      ranges[(*n)++] = (ElfCodeRange){ piece->start, piece->end };
    }
  qsort (ranges, *n, sizeof *ranges, compare_offsets);
  for (uint32_t i = 0; i < *n; i++)
    for (guint j = 0; j < code->pieces->len; j++)
      if (is_listed[j] && g_array_index (code->pieces, CodePiece, j).start == ranges[i].start)
        numbers[i] = j + 1;
  *number_of = g_steal_pointer (&numbers);
  return ranges;
}

static bool
resolve (ElfSearch *search,
         const FileBatch *batch,
         const uint64_t *addresses,
         UnnamedReason reason)
{
  Symbolization *self = search->symbolization;
  ElfAnswers found = { 0 };
  ElfAnswers lines = { 0 };
  g_autofree uint32_t *number_of = NULL;
  uint32_t n;
  g_autofree ElfCodeRange *ranges = list_ranges (self, batch, &number_of, &n);
  ElfStatus status = sysprof_elf_sandbox_resolve (
      &search->parser.elf.sandbox, &(ElfQuery){ .kind = ELF_CODE, .ranges = ranges, .n = n },
      &found);

  if (status == ELF_UNSUPPORTED)
    explain (self, batch, "the disassembler does not support its instruction set", "");
  if (status != ELF_OK)
    return status == ELF_UNSUPPORTED;

  /* A range without code has no instructions. */
  explain (self, batch,
           "the file has no code at this address, or the end of the function is unknown", "");
  find_lines (search, batch, &found, &lines);
  sysprof_code_collection_take (self, number_of, &found, &lines);
  /* The debug information may still be fetched from servers. */
  for (uint32_t i = 0; i < batch->n_items && (lines.n > 0 || !self->options->with_lines); i++)
    self->code->is_open[batch->items[i].address] = 0;
  sysprof_elf_answers_clear (&found);
  sysprof_elf_answers_clear (&lines);
  return true;
}

/* --- the request --- */

static bool
wants (const Symbolization *self, AddressId address)
{
  return self->code->is_open[address] != 0;
}

static bool
is_complete (const ElfFacts *facts)
{
  return facts->has_lines;
}

static bool
is_useless (const Symbolization *self, const FileBatch *batch, bool is_complete)
{
  return false; /* the code is in the file itself */
}

static void
resolve_kernel (Symbolization *self,
                ElfCache *elf,
                const FileBatch *batch,
                const uint64_t *addresses,
                uint64_t shift)
{
  sysprof_kernel_code_read (self, &elf->sandbox, batch, shift);
}

/* Lines were resolved before, and noted the same gaps. */
const SymbolRequest sysprof_code_request = {
  .address_kind = ADDRESS_USER,
  .reads_lines = true,
  .reads_code = true,
  .wants = wants,
  .is_complete = is_complete,
  .is_useless = is_useless,
  .resolve = resolve,
  .resolve_kernel = resolve_kernel,
  .explain = explain_reason,
  .explain_unsure = explain_unsure,
};

/* --- all files --- */

void
sysprof_disassembly_clear (Disassembly *self)
{
  g_free (self->piece);
  g_free (self->row);
  g_free (self->piece_of);
  if (self->strings.strings != NULL)
    sysprof_intern_clear (&self->strings);
  *self = (Disassembly){ 0 };
}

bool
sysprof_disassemble (Disassembly *self,
                     Store *store,
                     const SymbolTable *symbols,
                     const SymbolizeOptions *options,
                     const bool *is_at,
                     const bool *is_wanted,
                     GCancellable *cancellable,
                     GError **error)
{
  SymbolizeOptions from_cache = options != NULL ? *options : (SymbolizeOptions){ 0 };
  Progress progress = { .cancellable = cancellable };
  CodeCollection code = { .is_wanted = is_wanted, .into = self };
  Symbolization symbolization;
  const char *problem;
  bool is_done;

  *self = (Disassembly){ 0 };
  if (!sysprof_disasm_load (&problem))
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "Instructions cannot be shown: %s", problem);
      return false;
    }

  sysprof_intern_init (&self->strings);
  self->piece_of = g_new0 (uint32_t, store->addresses.n + 1);
  code.is_open = g_new0 (uint8_t, store->addresses.n + 1);
  for (AddressId i = 0; i < store->addresses.n; i++)
    code.is_open[i] = is_at[i];
  code.pieces = g_array_new (FALSE, FALSE, sizeof (CodePiece));
  code.rows = g_array_new (FALSE, FALSE, sizeof (Instruction));
  code.inlined = g_hash_table_new (NULL, NULL);
  for (SymbolId i = 1; i < symbols->n; i++)
    if (is_wanted[i] &&
        (symbols->row[i].kind == SYMBOL_INLINE || symbols->row[i].kind == SYMBOL_KERNEL))
      g_hash_table_add (code.inlined, GUINT_TO_POINTER (symbols->row[i].name));
  code.places = g_hash_table_new_full (hash_key, is_same_key, g_free, NULL);

  /* The servers were queried when names were resolved, and their files are in the cache. The
   * table is only read. */
  from_cache.was_asked_debuginfod = from_cache.ask_debuginfod;
  from_cache.ask_debuginfod = false;
  sysprof_symbolization_init (&symbolization, &sysprof_code_request, store, &from_cache,
                              &progress, (SymbolTable *) symbols);
  symbolization.code = &code;
  sysprof_jit_code_read (&symbolization);
  sysprof_vmlinux_resolve (&symbolization);
  is_done = sysprof_elf_symbolizer.resolve (&symbolization, error) &&
            sysprof_debuginfod_symbolizer.resolve (&symbolization, error) &&
            !sysprof_progress_set_error_if_cancelled (&progress, error);
  sysprof_symbolization_clear (&symbolization);

  self->n_pieces = code.pieces->len;
  self->n = code.rows->len;
  self->piece = (CodePiece *) (void *) g_array_free (code.pieces, FALSE);
  self->row = (Instruction *) (void *) g_array_free (code.rows, FALSE);
  g_hash_table_unref (code.places);
  g_hash_table_unref (code.inlined);
  g_free (code.is_open);
  if (!is_done)
    sysprof_disassembly_clear (self);
  return is_done;
}

const Instruction *
sysprof_disassembly_find (const Disassembly *self,
                          const Store *store,
                          AddressId address,
                          uint64_t before)
{
  uint32_t number = self->piece_of[address];
  uint64_t offset;
  uint32_t low, high;

  if (number == 0 || self->piece[number - 1].n == 0)
    return NULL;
  offset = self->piece[number - 1].is_in_memory ? store->addresses.address[address]
                                                : sysprof_store_file_offset (store, address);
  if (offset < before)
    return NULL;
  offset -= before;

  low = self->piece[number - 1].first;
  high = low + self->piece[number - 1].n;
  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->row[middle].offset <= offset)
        low = middle;
      else
        high = middle;
    }
  if (offset < self->row[low].offset || offset - self->row[low].offset >= self->row[low].size)
    return NULL;
  return &self->row[low];
}
