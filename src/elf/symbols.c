// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols of functions, or of data: sorted, one name per address.
 *
 * Each table is read completely and decoded into entries of fixed size. These are sorted by
 * address with a radix sort (150,000 entries in a few ms), and then one name is kept for each
 * address. Functions may contain others (hand-written assembly, malicious files). `outer` links
 * each to the one around it, so that a lookup after the end of an inner function still finds
 * the outer one. */

#include "elf/image.h"
#include "elf/inflate.h"

#include <stdlib.h>

#define MAX_SYMBOLS  (UINT64_C (16) << 20) /* per table */
#define MAX_NESTING  64                    /* maximum steps of a lookup */
#define NO_OUTER     UINT32_MAX
#define RANK_NO_TYPE 3 /* after global, weak and local functions */
#define N_TABLES     3 /* .symtab, .dynsym, .symtab in .gnu_debugdata */

typedef struct
{
  uint64_t start;
  uint64_t size; /* if `is_sized` is false: up to the end of its section */
  uint32_t name; /* offset in the strings of its table */
  uint8_t table;
  uint8_t rank; /* lower is better */
  bool is_sized;
} RawSymbol;

typedef struct
{
  RawSymbol *row; /* [n] */
  size_t n;
  size_t capacity;
} RawSymbols;

/* *Frozen* once loaded. */
struct ElfSymbols
{
  ElfSymbol *row; /* [n] by start, each start once */
  /* [n] the nearest earlier symbol that may extend past this one's start; or NO_OUTER */
  uint32_t *outer;
  size_t n;
  char *strings[N_TABLES]; /* [strings_size], terminated with NUL */
  uint64_t strings_size[N_TABLES];
  bool of_data;
  bool is_full;
  bool is_over_limit;
};

/* A symbol table entry of either class. */
typedef struct
{
  uint32_t name;
  uint8_t type;
  uint8_t binding;
  uint16_t section;
  uint64_t value;
  uint64_t size;
} FileSymbol;

static FileSymbol
decode_symbol (const ElfImage *image, const uint8_t *at)
{
  bool is_swapped = image->is_swapped;

  if (image->is_64)
    return (FileSymbol){
      .name = sysprof_bytes_peek_u32 (at, is_swapped),
      .type = at[4] & 0xf,
      .binding = at[4] >> 4,
      .section = sysprof_bytes_peek_u16 (at + 6, is_swapped),
      .value = sysprof_bytes_peek_u64 (at + 8, is_swapped),
      .size = sysprof_bytes_peek_u64 (at + 16, is_swapped),
    };

  return (FileSymbol){
    .name = sysprof_bytes_peek_u32 (at, is_swapped),
    .value = sysprof_bytes_peek_u32 (at + 4, is_swapped),
    .size = sysprof_bytes_peek_u32 (at + 8, is_swapped),
    .type = at[12] & 0xf,
    .binding = at[12] >> 4,
    .section = sysprof_bytes_peek_u16 (at + 14, is_swapped),
  };
}

static uint8_t
rank_of_symbol (const FileSymbol *symbol)
{
  uint8_t rank = symbol->binding == STB_GLOBAL || symbol->binding == STB_GNU_UNIQUE ? 0
                 : symbol->binding == STB_WEAK                                      ? 1
                                                                                    : 2;

  return symbol->type == STT_NOTYPE ? (uint8_t) (rank + RANK_NO_TYPE) : rank;
}

static bool
is_wanted (const FileSymbol *symbol, bool of_data)
{
  return of_data ? symbol->type == STT_OBJECT
                 : symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
                       symbol->type == STT_NOTYPE;
}

/* FALSE if it is no function, or no data. */
static bool
convert_symbol (const ElfImage *image,
                bool of_data,
                const FileSymbol *symbol,
                uint64_t strings_size,
                RawSymbol *raw)
{
  const ElfSection *section = NULL;
  uint64_t room = UINT64_MAX;
  uint64_t start = symbol->value;

  if (!is_wanted (symbol, of_data))
    return false;
  if (symbol->section == SHN_UNDEF || symbol->name == 0 || symbol->name >= strings_size)
    return false;

  if (symbol->section < SHN_LORESERVE && symbol->section < image->n_sections)
    section = &image->sections[symbol->section];
  /* A label without a type is code only if its section is; others mark ends and tables. */
  if (symbol->type == STT_NOTYPE && (section == NULL || !(section->flags & SHF_EXECINSTR)))
    return false;
  if (image->machine == EM_ARM && !of_data)
    start &= ~UINT64_C (1); /* bit 0 means Thumb */

  if (section != NULL && image->type == ET_REL)
    start += section->address;
  if (section != NULL)
    {
      if (start < section->address || start - section->address >= section->size)
        return false;
      room = section->size - (start - section->address);
    }
  else if (symbol->size == 0)
    {
      return false;
    }
  if (room > UINT64_MAX - start)
    room = UINT64_MAX - start;
  if (room == 0)
    return false;

  *raw = (RawSymbol){
    .start = start,
    .size = symbol->size == 0 || symbol->size > room ? room : symbol->size,
    .name = symbol->name,
    .rank = rank_of_symbol (symbol),
    .is_sized = symbol->size != 0,
  };
  return true;
}

static bool
append_symbol (RawSymbols *symbols, const RawSymbol *raw)
{
  if (symbols->n == symbols->capacity)
    {
      size_t capacity = symbols->capacity == 0 ? 1024 : symbols->capacity * 2;
      RawSymbol *larger = realloc (symbols->row, capacity * sizeof *larger);

      if (larger == NULL)
        return false;
      symbols->row = larger;
      symbols->capacity = capacity;
    }

  symbols->row[symbols->n++] = *raw;
  return true;
}

/* The first table of that type. If the status is ELF_OK, the caller frees both parts. */
typedef struct
{
  uint8_t *bytes;
  uint64_t n;
  size_t entry_size;
  char *strings; /* [strings_size], terminated with NUL */
  uint64_t strings_size;
} FileTable;

static ElfStatus
load_table (FileTable *self, ElfImage *image, uint32_t type)
{
  const ElfSection *section = NULL;
  const ElfSection *names;
  uint64_t size;
  ElfStatus status;

  *self = (FileTable){ .entry_size = image->is_64 ? sizeof (Elf64_Sym) : sizeof (Elf32_Sym) };
  for (uint32_t i = 1; i < image->n_sections && section == NULL; i++)
    if (image->sections[i].type == type)
      section = &image->sections[i];
  if (section == NULL)
    return ELF_ABSENT;
  if (section->link == 0 || section->link >= image->n_sections)
    return ELF_CORRUPT;
  names = &image->sections[section->link];
  if (names->type != SHT_STRTAB)
    return names->type == SHT_NOBITS ? ELF_ABSENT : ELF_CORRUPT;

  status = sysprof_elf_image_read_section (image, section, &self->bytes, &size);
  if (status != ELF_OK)
    return status;
  self->n = size / self->entry_size;
  status = self->n > MAX_SYMBOLS
               ? ELF_TOO_LARGE
               : sysprof_elf_image_read_section (image, names, (uint8_t **) &self->strings,
                                                 &self->strings_size);
  if (status != ELF_OK)
    free (self->bytes);
  return status;
}

ElfStatus
sysprof_elf_image_find_label (ElfImage *image, const char *name, uint64_t *address)
{
  FileTable file;
  ElfStatus status = load_table (&file, image, SHT_SYMTAB);

  if (status != ELF_OK)
    return status;

  status = ELF_ABSENT;
  for (uint64_t i = 1; i < file.n && status != ELF_OK; i++)
    {
      FileSymbol symbol = decode_symbol (image, file.bytes + i * file.entry_size);

      if (symbol.section == SHN_UNDEF || symbol.name >= file.strings_size ||
          strcmp (file.strings + symbol.name, name) != 0)
        continue;
      *address = symbol.value;
      status = ELF_OK;
    }
  free (file.bytes);
  free (file.strings);
  return status;
}

static ElfStatus
read_table (ElfSymbols *self,
            RawSymbols *raws,
            ElfImage *image,
            uint32_t section,
            unsigned table)
{
  FileTable file;
  ElfStatus status = load_table (&file, image, section);

  if (status != ELF_OK)
    return status;

  self->strings[table] = file.strings;
  self->strings_size[table] = file.strings_size;
  for (uint64_t i = 1; i < file.n && status == ELF_OK; i++)
    {
      FileSymbol symbol = decode_symbol (image, file.bytes + i * file.entry_size);
      RawSymbol raw;

      if (!convert_symbol (image, self->of_data, &symbol, self->strings_size[table], &raw))
        continue;
      raw.table = (uint8_t) table;
      if (!append_symbol (raws, &raw))
        status = ELF_NO_MEMORY;
    }

  free (file.bytes);
  return status;
}

static ElfStatus
read_debug_data (ElfSymbols *self, RawSymbols *raws, ElfImage *image, unsigned table)
{
  const ElfSection *section = sysprof_elf_image_find_section (image, ".gnu_debugdata");
  uint8_t *packed = NULL;
  uint8_t *unpacked = NULL;
  uint64_t packed_size, unpacked_size;
  ElfImage *inner = NULL;
  ElfStatus status;

  if (section == NULL)
    return ELF_ABSENT;

  status = sysprof_elf_image_read_section (image, section, &packed, &packed_size);
  if (status == ELF_OK)
    status = sysprof_elf_inflate_xz (packed, packed_size, &unpacked, &unpacked_size);
  free (packed);
  if (status == ELF_OK)
    status = sysprof_elf_image_open_memory (unpacked, (size_t) unpacked_size, &inner);
  if (status == ELF_OK)
    status = read_table (self, raws, inner, SHT_SYMTAB, table);

  sysprof_elf_image_free (inner);
  free (unpacked);
  return status;
}

/* A stable sort by start. Bytes that are equal in all starts cost no pass. */
static bool
sort_by_start (RawSymbols *symbols)
{
  RawSymbol *from = symbols->row;
  RawSymbol *to = malloc ((symbols->n + 1) * sizeof *to);
  uint64_t differing = 0;

  if (to == NULL)
    return false;
  for (size_t i = 1; i < symbols->n; i++)
    differing |= from[i].start ^ from[0].start;

  for (unsigned shift = 0; shift < 64; shift += 8)
    {
      size_t position[256] = { 0 };
      size_t sum = 0;
      RawSymbol *swapped;

      if (((differing >> shift) & 0xff) == 0)
        continue;

      for (size_t i = 0; i < symbols->n; i++)
        position[(from[i].start >> shift) & 0xff]++;
      for (unsigned digit = 0; digit < 256; digit++)
        {
          size_t n = position[digit];

          position[digit] = sum;
          sum += n;
        }
      for (size_t i = 0; i < symbols->n; i++)
        to[position[(from[i].start >> shift) & 0xff]++] = from[i];

      swapped = from;
      from = to;
      to = swapped;
    }

  symbols->row = from;
  free (to);
  return true;
}

static const char *
name_of_symbol (const ElfSymbols *self, const RawSymbol *raw)
{
  return self->strings[raw->table] + raw->name;
}

/* Whether `b` is a better name than `a` for their common address. Of equal names, the first
 * stays. */
static bool
is_better (const ElfSymbols *self, const RawSymbol *a, const RawSymbol *b)
{
  if (a->rank != b->rank)
    return b->rank < a->rank;

  return strlen (name_of_symbol (self, b)) < strlen (name_of_symbol (self, a));
}

static bool
is_hidden_label (const ElfSymbols *self, const RawSymbol *raw, uint32_t outer)
{
  if (raw->rank < RANK_NO_TYPE)
    return false;

  for (unsigned step = 0; outer != NO_OUTER && step < MAX_NESTING; step++)
    {
      if (self->row[outer].end > raw->start)
        return true;
      outer = self->outer[outer];
    }
  return false;
}

/* The nearest symbol of the chain from `outer` that extends past `start`. Symbols that end
 * before can be dropped from the chain permanently, because starts only increase. */
static uint32_t
skip_ended (const ElfSymbols *self, uint32_t outer, uint64_t start)
{
  while (outer != NO_OUTER && self->row[outer].end <= start)
    outer = self->outer[outer];

  return outer;
}

static bool
fold (ElfSymbols *self, const RawSymbols *raws)
{
  uint32_t top = NO_OUTER;

  self->row = malloc ((raws->n + 1) * sizeof *self->row);
  self->outer = malloc ((raws->n + 1) * sizeof *self->outer);
  if (self->row == NULL || self->outer == NULL)
    return false;

  for (size_t i = 0; i < raws->n;)
    {
      const RawSymbol *best = &raws->row[i];
      const RawSymbol *sized = best->is_sized ? best : NULL;
      uint64_t end;
      size_t next = i + 1;

      for (; next < raws->n && raws->row[next].start == best->start; next++)
        {
          if (is_better (self, best, &raws->row[next]))
            best = &raws->row[next];
          if (sized == NULL && raws->row[next].is_sized)
            sized = &raws->row[next];
        }

      /* An alias without a size gets that of the others at the same address. */
      if (best->is_sized || sized == NULL)
        sized = best;
      end = sized->start + sized->size;
      if (!sized->is_sized && next < raws->n && raws->row[next].start < end)
        end = raws->row[next].start;
      i = next;

      top = skip_ended (self, top, best->start);
      if (is_hidden_label (self, best, top))
        continue;

      self->row[self->n] = (ElfSymbol){ best->start, end, name_of_symbol (self, best) };
      self->outer[self->n] = top;
      top = (uint32_t) self->n++;
    }

  return true;
}

static ElfStatus
load (ElfImage *image, bool of_data, ElfSymbols **symbols)
{
  ElfSymbols *self = calloc (1, sizeof *self);
  RawSymbols raws = { 0 };
  ElfStatus status[N_TABLES];
  ElfStatus result = ELF_ABSENT;

  if (self == NULL)
    return ELF_NO_MEMORY;

  self->of_data = of_data;
  status[0] = read_table (self, &raws, image, SHT_SYMTAB, 0);
  status[1] = read_table (self, &raws, image, SHT_DYNSYM, 1);
  /* A complete .symtab contains all symbols. */
  status[2] = status[0] == ELF_OK ? ELF_ABSENT : read_debug_data (self, &raws, image, 2);
  self->is_full = status[0] == ELF_OK || status[2] == ELF_OK;

  /* One good table is enough, even if another one is corrupt. */
  for (unsigned i = 0; i < N_TABLES; i++)
    {
      self->is_over_limit |= status[i] == ELF_TOO_LARGE;
      if (result != ELF_OK && (status[i] == ELF_OK || result == ELF_ABSENT))
        result = status[i];
    }

  if (result == ELF_OK && (!sort_by_start (&raws) || !fold (self, &raws)))
    result = ELF_NO_MEMORY;
  free (raws.row);

  if (result != ELF_OK)
    {
      sysprof_elf_symbols_free (self);
      return result;
    }
  *symbols = self;
  return ELF_OK;
}

ElfStatus
sysprof_elf_symbols_load (ElfImage *image, ElfSymbols **symbols)
{
  return load (image, false, symbols);
}

ElfStatus
sysprof_elf_symbols_load_data (ElfImage *image, ElfSymbols **symbols)
{
  return load (image, true, symbols);
}

void
sysprof_elf_symbols_free (ElfSymbols *symbols)
{
  if (symbols == NULL)
    return;

  for (unsigned i = 0; i < N_TABLES; i++)
    free (symbols->strings[i]);
  free (symbols->row);
  free (symbols->outer);
  free (symbols);
}

size_t
sysprof_elf_symbols_count (const ElfSymbols *symbols)
{
  return symbols->n;
}

ElfSymbol
sysprof_elf_symbols_get (const ElfSymbols *symbols, size_t i)
{
  return symbols->row[i];
}

bool
sysprof_elf_symbols_is_full (const ElfSymbols *symbols)
{
  return symbols->is_full;
}

bool
sysprof_elf_symbols_is_over_limit (const ElfSymbols *symbols)
{
  return symbols->is_over_limit;
}

bool
sysprof_elf_symbols_find (const ElfSymbols *symbols, uint64_t address, ElfSymbol *symbol)
{
  size_t low = 0;
  size_t high = symbols->n;
  uint32_t at;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (symbols->row[middle].start <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return false;

  at = (uint32_t) (low - 1);
  for (unsigned step = 0; at != NO_OUTER && step < MAX_NESTING; step++)
    {
      if (address < symbols->row[at].end)
        {
          *symbol = symbols->row[at];
          return true;
        }
      at = symbols->outer[at];
    }

  return false;
}
