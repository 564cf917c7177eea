// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of symbols: interns texts and symbols while it is built, and converts reasons to
 * and from text. */

#include "symbolize/symbol-table.h"

#include <string.h>

#define FIRST_ROWS  256
#define FIRST_SLOTS 512
#define MOST_GAPS   1024

typedef struct
{
  SymbolTable table; /* must be first: pointers are cast to the public type */
  gint n_references;
  uint32_t capacity;
  SymbolId *slots; /* [n_slots] open addressing, 0 = free; freed when the table is frozen */
  uint32_t n_slots;
  GBytes *kallsyms;
  uint64_t *link_address; /* [n_addresses] or NULL */
  LinesAhead *ahead;      /* or NULL */
  void (*free_ahead) (LinesAhead *);
} TableWithIndex;

static const char *const kind_names[] = {
  [SYMBOL_NONE] = "none",     [SYMBOL_USER] = "user", [SYMBOL_KERNEL] = "kernel",
  [SYMBOL_INLINE] = "inline", [SYMBOL_JIT] = "jit",   [SYMBOL_PROCESS] = "process",
  [SYMBOL_THREAD] = "thread", [SYMBOL_ROOT] = "root", [SYMBOL_DATA] = "data",
  [SYMBOL_MARKER] = "marker",
};

static const struct
{
  const char *word;
  const char *clause;
  const char *remedy;
} reasons[] = {
  [UNNAMED_NOT] = { "named", "", "" },
  [UNNAMED_NO_MAPPING] = { "no-mapping", "the process had no mapping at this address", "" },
  [UNNAMED_ANONYMOUS] = {
      "anonymous",
      "generated code: the memory is not backed by a file",
      "let the runtime write a perf map or a jitdump (node --perf-basic-prof, python3 -X "
      "perf)",
  },
  [UNNAMED_FILE_MISSING] = {
      "file-missing",
      "the file is not on this machine",
      "open the capture where it was recorded, or record it with symbols",
  },
  [UNNAMED_FILE_DENIED] = {
      "file-denied",
      "the file cannot be read: permission denied, timeout, or I/O error",
      "open the capture as a user who can read the file",
  },
  [UNNAMED_OTHER_INODE] = {
      "other-inode",
      "the file was replaced after the recording",
      "record again",
  },
  [UNNAMED_OTHER_BUILD_ID] = {
      "other-build-id",
      "the file on this machine has another build ID",
      "install the recorded version, or record again",
  },
  [UNNAMED_NOT_ELF] = { "not-elf", "not an ELF file, or a damaged one", "" },
  [UNNAMED_NO_SYMBOLS] = {
      "no-symbols",
      "stripped: it has no symbol table",
      "install its debug symbols",
  },
  [UNNAMED_BETWEEN_SYMBOLS] = {
      "between-symbols",
      "partly stripped",
      "install its debug symbols",
  },
  [UNNAMED_NO_KERNEL_SYMBOLS] = {
      "no-kernel-symbols",
      "the kernel hid its symbols",
      "record as root, or set kernel.kptr_restrict to 0",
  },
  [UNNAMED_OTHER_KERNEL_FILE] = {
      "other-kernel-file",
      "the capture has no kernel symbols, and the vmlinux on this machine is from another "
      "build",
      "install the debug symbols of the recorded kernel",
  },
  [UNNAMED_KERNEL_MOVED] = {
      "kernel-moved",
      "the kernel hid its load address, so its vmlinux cannot be used",
      "record as root, or set kernel.kptr_restrict to 0",
  },
  [UNNAMED_MIXED_KERNELS] = {
      "mixed-kernels",
      "captures of several kernels were joined without recording which address belongs to "
      "which kernel, so no vmlinux can be used",
      "open each capture separately, or record and join them with this version",
  },
  [UNNAMED_OTHER_DEBUG_FILE] = {
      "other-debug-file",
      "stripped, and the debug file on this machine is from another build",
      "install the debug symbols of the recorded version",
  },
  [UNNAMED_DEBUG_FILE_FAILED] = {
      "debug-file-failed",
      "stripped, and its debug file could not be read",
      "reinstall its debug symbols",
  },
  [UNNAMED_OVER_LIMIT] = {
      "over-limit",
      "its symbol table exceeds a limit: 1 GiB, 16 million symbols, or a compression ratio of "
      "1000",
      "",
  },
  [UNNAMED_SKIPPED] = {
      "skipped",
      "not looked up: the search was interrupted, or files of other users exceeded their "
      "limit of 20 s or 64 GiB in total",
      "open the capture where it was recorded, as the user who owns the file",
  },
};

static const struct
{
  const char *clause;
  const char *remedy;
} gaps[] = {
  [DEBUG_GAP_NO_SUPPLEMENT] = {
      "the supplementary debug file made by dwz is missing",
      "install all packages of its debug symbols",
  },
  [DEBUG_GAP_OTHER_SUPPLEMENT] = {
      "the supplementary debug file made by dwz is from another build",
      "install all packages of its debug symbols in the same version",
  },
  [DEBUG_GAP_NO_SPLIT] = {
      "files with split debug information are missing",
      "keep them where they were built, or put a package of them (.dwp) next to the program",
  },
  [DEBUG_GAP_OTHER_SPLIT] = {
      "files with split debug information are from another build",
      "build and record again",
  },
  [DEBUG_GAP_OVER_LIMIT] = {
      "debug information exceeds a limit: the size of its sections, its split files, or the "
      "depth of inlining",
      "",
  },
  [DEBUG_GAP_FAILED] = {
      "debug file ignored: it could not be read, took too long or too much memory, or crashed "
      "the parser",
      "reinstall the debug symbols, on a disk that responds",
  },
  [DEBUG_GAP_SKIPPED] = {
      "file of another user skipped: the limit for all such files together is 20 s and 64 GiB",
      "open the capture where it was recorded, as the user who owns the file",
  },
  [DEBUG_GAP_MODULES_LEFT_OUT] = {
      "files of kernel modules were not looked for: more than 4,096 of their sections were "
      "sampled, or the search took 10 s",
      "open the capture again, from a faster disk",
  },
};

G_STATIC_ASSERT (FILE_BUDGET_MSEC == 20000 && FILE_BUDGET_BYTES == UINT64_C (64) << 30);
/* the numbers in the texts below */
G_STATIC_ASSERT (MOST_MODULE_SECTIONS == 4096 && MOST_MODULE_SECONDS == 10);
G_STATIC_ASSERT (G_N_ELEMENTS (gaps) == N_DEBUG_GAPS);
G_STATIC_ASSERT (G_N_ELEMENTS (kind_names) == SYMBOL_MARKER + 1);
G_STATIC_ASSERT (G_N_ELEMENTS (reasons) == N_UNNAMED);

const char *
sysprof_symbol_kind_to_string (SymbolKind kind)
{
  return (size_t) kind < G_N_ELEMENTS (kind_names) ? kind_names[kind] : "none";
}

const char *
sysprof_debug_gap_to_string (DebugGapKind kind)
{
  return (size_t) kind < N_DEBUG_GAPS ? gaps[kind].clause : "";
}

const char *
sysprof_debug_gap_remedy (DebugGapKind kind)
{
  return (size_t) kind < N_DEBUG_GAPS ? gaps[kind].remedy : "";
}

const char *
sysprof_unnamed_reason_to_string (UnnamedReason reason)
{
  return (size_t) reason < N_UNNAMED ? reasons[reason].clause : "";
}

const char *
sysprof_unnamed_reason_remedy (UnnamedReason reason)
{
  return (size_t) reason < N_UNNAMED ? reasons[reason].remedy : "";
}

const char *
sysprof_unnamed_reason_word (UnnamedReason reason)
{
  return reasons[reason].word;
}

UnnamedReason
sysprof_unnamed_reason_from_word (Text word)
{
  UnnamedReason reason = UNNAMED_NOT;

  while (reason < N_UNNAMED && !sysprof_text_equal (word, reasons[reason].word))
    reason++;
  return reason;
}

SymbolTable *
sysprof_symbol_table_new (uint32_t n_addresses)
{
  TableWithIndex *self = g_new0 (TableWithIndex, 1);

  self->n_references = 1;
  self->capacity = FIRST_ROWS;
  self->n_slots = FIRST_SLOTS;
  self->slots = g_new0 (SymbolId, self->n_slots);
  self->table.row = g_new0 (Symbol, self->capacity);
  self->table.n = 1;
  self->table.of_address = sysprof_large_new0 (MAX (n_addresses, 1), sizeof (SymbolId));
  self->table.function_start = sysprof_large_new0 (MAX (n_addresses, 1), sizeof (uint64_t));
  self->table.function_end = sysprof_large_new0 (MAX (n_addresses, 1), sizeof (uint64_t));
  sysprof_intern_init (&self->table.strings);
  return &self->table;
}

static uint32_t
hash_symbol (const Symbol *symbol)
{
  uint64_t hash = symbol->name * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  hash = (hash ^ symbol->binary) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  hash = (hash ^ symbol->kind ^ (uint64_t) symbol->is_inlined << 8) *
         G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (uint32_t) (hash >> 32);
}

static void
grow_slots (TableWithIndex *self)
{
  uint32_t mask;

  g_free (self->slots);
  self->n_slots *= 2;
  self->slots = g_new0 (SymbolId, self->n_slots);
  mask = self->n_slots - 1;
  for (SymbolId id = 1; id < self->table.n; id++)
    {
      uint32_t at = hash_symbol (&self->table.row[id]) & mask;

      while (self->slots[at] != 0)
        at = (at + 1) & mask;
      self->slots[at] = id;
    }
}

SymbolId
sysprof_symbol_table_add (SymbolTable *table, const Symbol *symbol)
{
  TableWithIndex *self = (TableWithIndex *) table;
  uint32_t mask = self->n_slots - 1;
  uint32_t at = hash_symbol (symbol) & mask;
  SymbolId id;

  for (; (id = self->slots[at]) != 0; at = (at + 1) & mask)
    {
      const Symbol *row = &table->row[id];

      if (row->name == symbol->name && row->binary == symbol->binary &&
          row->kind == symbol->kind && row->is_inlined == symbol->is_inlined)
        return id;
    }

  if (table->n == self->capacity)
    {
      self->capacity *= 2;
      table->row = g_renew (Symbol, table->row, self->capacity);
    }
  id = table->n++;
  table->row[id] = *symbol;
  self->slots[at] = id;
  if (table->n * 2 > self->n_slots)
    grow_slots (self);

  return id;
}

static bool
is_printable (const char *text)
{
  for (const char *at = text; *at != 0; at++)
    if ((unsigned char) *at < 0x20 || *at == 0x7f)
      return false;

  return g_utf8_validate (text, -1, NULL);
}

StringId
sysprof_symbol_table_intern (SymbolTable *self, const char *text)
{
  g_autofree char *clean = NULL;

  if (text == NULL || is_printable (text))
    return text == NULL ? 0 : sysprof_intern_string (&self->strings, text);

  clean = g_utf8_make_valid (text, -1);
  for (char *at = clean; *at != 0; at++)
    if ((unsigned char) *at < 0x20 || *at == 0x7f)
      *at = '?';
  return sysprof_intern_string (&self->strings, clean);
}

void
sysprof_symbol_table_take_kallsyms (SymbolTable *table, GBytes *lines)
{
  TableWithIndex *self = (TableWithIndex *) table;

  g_clear_pointer (&self->kallsyms, g_bytes_unref);
  self->kallsyms = lines;
}

GBytes *
sysprof_symbol_table_get_kallsyms (const SymbolTable *table)
{
  return ((const TableWithIndex *) table)->kallsyms;
}

void
sysprof_symbol_table_take_link_addresses (SymbolTable *table, uint64_t *link_address)
{
  ((TableWithIndex *) table)->link_address = link_address;
}

uint64_t
sysprof_symbol_table_get_link_address (const SymbolTable *table, AddressId address)
{
  const TableWithIndex *self = (const TableWithIndex *) table;

  return self->link_address != NULL ? self->link_address[address] : 0;
}

void
sysprof_symbol_table_take_ahead (SymbolTable *table,
                                 LinesAhead *ahead,
                                 void (*free_ahead) (LinesAhead *))
{
  ((TableWithIndex *) table)->ahead = ahead;
  ((TableWithIndex *) table)->free_ahead = free_ahead;
}

LinesAhead *
sysprof_symbol_table_steal_ahead (SymbolTable *table)
{
  return g_steal_pointer (&((TableWithIndex *) table)->ahead);
}

void
sysprof_symbol_table_extend (SymbolTable *table, uint32_t n, const uint16_t *n_inner)
{
  TableWithIndex *self = (TableWithIndex *) table;
  uint32_t n_rows = n;

  for (AddressId i = 0; i < n; i++)
    n_rows += n_inner[i];
  sysprof_store_extend_column (&table->of_address, sizeof *table->of_address, n, n_inner,
                               n_rows);
  sysprof_store_extend_column (&table->function_start, sizeof *table->function_start, n,
                               n_inner, n_rows);
  sysprof_store_extend_column (&table->function_end, sizeof *table->function_end, n, n_inner,
                               n_rows);
  sysprof_store_extend_column (&table->file, sizeof *table->file, n, n_inner, n_rows);
  sysprof_store_extend_column (&table->line, sizeof *table->line, n, n_inner, n_rows);
  sysprof_store_extend_column (&self->link_address, sizeof *self->link_address, n, n_inner,
                               n_rows);
}

void
sysprof_symbol_table_note_gap (SymbolTable *self, const DebugGap *gap)
{
  /* The same file may be queried several times. */
  for (uint32_t i = 0; i < self->n_gaps; i++)
    {
      const DebugGap *known = &self->gap[i];

      if (known->binary == gap->binary && known->kind == gap->kind && known->what == gap->what)
        return;
    }
  if (self->n_gaps == MOST_GAPS)
    return;
  self->gap = g_renew (DebugGap, self->gap, self->n_gaps + 1);
  self->gap[self->n_gaps++] = *gap;
}

SymbolTable *
sysprof_symbol_table_ref (SymbolTable *table)
{
  g_atomic_int_inc (&((TableWithIndex *) table)->n_references);
  return table;
}

void
sysprof_symbol_table_unref (SymbolTable *table)
{
  TableWithIndex *self = (TableWithIndex *) table;

  if (!g_atomic_int_dec_and_test (&self->n_references))
    return;

  g_clear_pointer (&self->ahead, self->free_ahead);
  g_free (table->row);
  g_free (table->of_address);
  g_free (table->function_start);
  g_free (table->function_end);
  g_free (table->file);
  g_free (table->line);
  g_free (table->gap);
  g_free (table->categories);
  sysprof_intern_clear (&table->strings);
  g_clear_pointer (&self->kallsyms, g_bytes_unref);
  g_free (self->link_address);
  g_free (self->slots);
  g_free (self);
}
