// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel symbols: `ADDRESS TYPE NAME [MODULE]` per line, from the capture. If the capture has
 * none, they are read from the running kernel, provided that it is the recorded one.
 *
 * A symbol extends to the next address, and the last one for a short distance. If an address
 * has several names, the first one counts. All addresses are 0 if the kernel hid them. Lines
 * are only parsed if a sample is in their range. */

#include "symbolize/symbolizer.h"

#include "elf/elf.h"
#include "symbolize/kernel-parts.h"
#include "symbolize/symbol-table.h"
#include "symbolize/transient-kernel-symbols.h"
#include "symbolize/vmlinux.h"

#include <stdlib.h>
#include <string.h>

#define LAST_SYMBOL_SIZE 4096 /* bytes: if no other symbol follows */
/* bytes: an address further after a symbol's start does not belong to it */
#define LARGEST_FUNCTION (1 << 20)
#define MOST_LINES       (16u << 20)
#define LINES_BETWEEN    0x4000 /* between two checks for cancelation */
/* marks a line in a capture that only gives the end of the previous symbol */
#define BOUND_TYPE '-'

typedef struct
{
  uint64_t address;
  uint32_t line; /* offset of its line in the text */
  bool is_code;
} KernelSymbol;

typedef struct
{
  const char *text; /* [size] */
  SymbolId *symbol; /* [n] the symbol of each row; 0 = not interned yet */
  size_t size;
  KernelSymbol *row; /* [n] sorted by address */
  uint32_t n;
} KernelSymbols;

static bool
parse_line (Text *line, uint64_t *address, char *type)
{
  if (!sysprof_text_hex (line, address) || sysprof_text_size (*line) < 3 ||
      line->at[0] != ' ' || line->at[2] != ' ')
    return false;

  *type = line->at[1];
  line->at += 3;
  return true;
}

static int
compare_symbols (const void *a, const void *b, void *data)
{
  const KernelSymbol *left = a;
  const KernelSymbol *right = b;

  if (left->address != right->address)
    return left->address < right->address ? -1 : 1;
  /* Keep the order of the file, so that the first name of an address comes first. */
  return left->line < right->line ? -1 : left->line > right->line;
}

/* Keeps the first symbol that is code, else the first one. */
static void
keep_one_per_address (KernelSymbols *self)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n; i++)
    if (n == 0 || self->row[i].address != self->row[n - 1].address)
      self->row[n++] = self->row[i];
    else if (self->row[i].is_code && !self->row[n - 1].is_code)
      self->row[n - 1] = self->row[i];
  self->n = n;
}

static void
load_symbols (KernelSymbols *self, const char *text, size_t size, const Progress *progress)
{
  GArray *rows = g_array_sized_new (FALSE, FALSE, sizeof (KernelSymbol),
                                    (guint) MIN (size / 40 + 16, MOST_LINES));
  Text whole = { text, text + MIN (size, G_MAXUINT32) };
  bool is_sorted = true;
  uint64_t last = 0;
  Text line;

  while (rows->len < MOST_LINES && sysprof_text_next_line (&whole, &line))
    {
      KernelSymbol symbol = { .line = (uint32_t) (line.at - text) };
      char type;

      if (rows->len % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (progress))
        break;
      if (!parse_line (&line, &symbol.address, &type) || symbol.address == 0)
        continue;

      symbol.is_code = type == 't' || type == 'T' || type == 'w' || type == 'W';
      is_sorted &= symbol.address >= last;
      last = symbol.address;
      g_array_append_val (rows, symbol);
    }

  self->text = text;
  self->size = size;
  self->n = rows->len;
  self->row = (KernelSymbol *) (void *) g_array_free (rows, FALSE);
  self->symbol = g_new0 (SymbolId, self->n + 1);
  if (!is_sorted)
    (void) sysprof_progress_sort (progress, self->row, self->n, sizeof *self->row,
                                  /* the caller checks for cancelation */
                                  compare_symbols, NULL);
  keep_one_per_address (self);
}

/* Finds the row whose range contains the address, and the end of the range. Returns FALSE if
 * the address is in data or between symbols. */
static bool
find_symbol (const KernelSymbols *self, uint64_t address, uint32_t *found, uint64_t *end)
{
  uint32_t low = 0;
  uint32_t row;

  for (uint32_t high = self->n; low < high;)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->row[middle].address <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return false;

  row = low - 1;
  if (!self->row[row].is_code)
    return false;

  *found = row;
  *end = low < self->n ? self->row[low].address : self->row[row].address + LAST_SYMBOL_SIZE;
  return address < *end && address - self->row[row].address < LARGEST_FUNCTION;
}

static Text
line_of_row (const KernelSymbols *self, uint32_t row)
{
  Text rest = { self->text + self->row[row].line, self->text + self->size };
  Text line = rest;

  (void) sysprof_text_next_line (&rest, &line); /* it was parsed before */
  return line;
}

static void
name_address (Symbolization *self,
              const KernelSymbols *symbols,
              AddressId address,
              uint32_t row,
              uint64_t end)
{
  Text line = line_of_row (symbols, row);
  Text name, module;
  g_autofree char *raw_name = NULL;
  g_autofree char *binary = NULL;
  char *demangled;
  uint64_t start;
  char type;

  if (!parse_line (&line, &start, &type))
    return;

  if (symbols->symbol[row] != 0)
    {
      sysprof_symbolization_name_again (self, address, symbols->symbol[row], start, end);
      return;
    }

  /* A tab separates name and module; neither contains tabs. */
  if (!sysprof_text_next_word (&line, &name))
    return;
  raw_name = g_strndup (name.at, sysprof_text_size (name));
  if (sysprof_text_next_word (&line, &module) && module.at[0] == '[')
    binary = g_strndup (module.at, sysprof_text_size (module));

  /* Only Rust names are mangled in kernels. The list is untrusted, so others are not
   * demangled. */
  demangled = strncmp (raw_name, "_R", 2) == 0 ? sysprof_elf_demangle (raw_name) : NULL;
  symbols->symbol[row] =
      sysprof_symbolization_name (self, address,
                                  &(SymbolAnswer){
                                      .name = demangled != NULL ? demangled : raw_name,
                                      .raw_name = raw_name,
                                      .binary = binary != NULL ? binary : "[kernel]",
                                      .kind = SYMBOL_KERNEL,
                                      .start = start,
                                      .end = end,
                                  });
  free (demangled);
}

typedef enum
{
  ROW_UNUSED,
  ROW_IS_BOUND, /* the row before it is in use and ends here */
  ROW_IS_USED,
} RowUse;

/* Adds the label `_text`, from which vmlinux.c computes the load address of the kernel. It has
 * no type: the address may have
 * better names. */
static void
append_load_address (GString *text, const KernelSymbols *symbols, const uint8_t *use)
{
  uint64_t address = sysprof_kallsyms_find_text (symbols->text, symbols->size);

  if (address != 0 && memchr (use, ROW_IS_USED, symbols->n) != NULL)
    g_string_append_printf (text, "%016" G_GINT64_MODIFIER "x %c _text\n", address, BOUND_TYPE);
}

/* Returns the lines that a capture needs: those that were used, and those that give their ends.
 * The latter have no type: because the lines after them are omitted, their symbols would extend
 * over other functions. Readers may look up more addresses than the recorder did, for example
 * in joined captures. */
static GBytes *
excerpt (const KernelSymbols *symbols, const uint8_t *use)
{
  GString *text = g_string_new (NULL);

  append_load_address (text, symbols, use);
  for (uint32_t i = 0; i < symbols->n; i++)
    if (use[i] != ROW_UNUSED)
      {
        Text line = line_of_row (symbols, i);
        gsize begin = text->len;
        char *type;

        g_string_append_len (text, line.at, (gssize) sysprof_text_size (line));
        g_string_append_c (text, '\n');
        type = strchr (text->str + begin, ' '); /* a row always has a blank after its address */
        if (use[i] == ROW_IS_BOUND && type != NULL)
          type[1] = BOUND_TYPE;
      }

  return g_string_free_to_bytes (text);
}

static void
mark_used (const KernelSymbols *symbols, uint8_t *use, uint32_t row)
{
  use[row] = ROW_IS_USED;
  if (row + 1 < symbols->n && use[row + 1] == ROW_UNUSED)
    use[row + 1] = ROW_IS_BOUND;
}

static void
name_addresses (Symbolization *self, const KernelSymbols *symbols)
{
  const AddressTable *addresses = &self->store->addresses;
  g_autofree uint8_t *use = g_new0 (uint8_t, symbols->n + 1); /* of RowUse */

  for (AddressId address = 1;
       address < addresses->n && sysprof_symbolization_goes_on (self, address); address++)
    {
      uint32_t row;
      uint64_t end;

      if (addresses->kind[address] != ADDRESS_KERNEL ||
          !sysprof_symbolization_is_open (self, address))
        continue;
      if (!find_symbol (symbols, sysprof_symbolization_lookup_address (self, address), &row,
                        &end))
        continue;

      name_address (self, symbols, address, row, end);
      mark_used (symbols, use, row);
    }

  sysprof_symbol_table_take_kallsyms (self->table, excerpt (symbols, use));
}

static bool
has_open_address (const Symbolization *self)
{
  const AddressTable *addresses = &self->store->addresses;

  for (AddressId address = 1; address < addresses->n; address++)
    if (addresses->kind[address] == ADDRESS_KERNEL &&
        sysprof_symbolization_is_open (self, address))
      return true;

  return false;
}

static void
resolve_by_list (Symbolization *self)
{
  g_autoptr (GBytes) embedded = NULL;
  g_autofree char *own = NULL;
  KernelSymbols symbols = { 0 };
  const char *text = NULL;
  size_t size = 0;

  /* A list that cannot be decompressed is treated as missing, so that the rest of the capture
   * can be shown. */
  if (self->options->kernel_symbols != NULL)
    embedded = g_bytes_ref (self->options->kernel_symbols);
  else
    embedded = sysprof_store_read_file_cancellable (self->store, "/proc/kallsyms",
                                                    self->progress->cancellable, NULL);
  if (embedded != NULL)
    text = g_bytes_get_data (embedded, &size);
  else if (self->has_kernel_names || !self->is_this_boot ||
           !g_file_get_contents ("/proc/kallsyms", &own, &size, NULL))
    return;
  else
    text = own;

  if (text != NULL && size > 0)
    {
      load_symbols (&symbols, text, size, self->progress);
      name_addresses (self, &symbols);
      g_free (symbols.row);
      g_free (symbols.symbol);
    }
}

static bool
resolve (Symbolization *self, GError **error)
{
  if (self->options->kernel_symbols == NULL)
    sysprof_name_transient_kernel_symbols (self);
  if (has_open_address (self))
    resolve_by_list (self);
  sysprof_vmlinux_resolve (self);
  return true;
}

const Symbolizer sysprof_kallsyms_symbolizer = { "kallsyms", resolve };
