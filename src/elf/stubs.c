// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of the stubs in procedure linkage tables (PLT), through which code calls functions of
 * other files. No symbol table lists them.
 *
 * A stub jumps to the address in a slot. A relocation names the function whose address the
 * dynamic linker stores there. On x86-64, a stub has a fixed size and jumps through the slot,
 * or pushes the number of its relocation (the lazy half of a PLT with indirect branch
 * tracking). On AArch64, it begins with `adrp` and `ldr`, which load the slot, and may have
 * `bti c` before them. Other code, and slots without a relocation, have no name here. The code
 * before the first stub of .plt calls the dynamic linker, and is called ".plt", as by perf.
 *
 * Sources: the x86-64 psABI, and the code that GNU ld, lld and mold write. */

#include "elf/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_SECTION   (UINT64_C (16) << 20) /* bytes of one PLT */
#define MAX_NAMES     ((size_t) 64 << 20)   /* bytes of all names */
#define MAX_ARM_STUB  24                    /* bytes */
#define BTI_C         0xd503245f
#define IS_ADRP(word) (((word) &0x9f000000) == 0x90000000)
#define IS_LDR(word)  (((word) &0xffc00000) == 0xf9400000) /* 64 bits, unsigned offset */

static const char *const relocation_sections[] = { ".rela.plt", ".rela.dyn" };
static const char *const stub_sections[] = { ".plt", ".plt.sec", ".plt.got" };
#define N_RELOCATION_SECTIONS (sizeof relocation_sections / sizeof relocation_sections[0])
#define N_STUB_SECTIONS       (sizeof stub_sections / sizeof stub_sections[0])

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t slot; /* address of its pointer */
  size_t name;   /* offset in the names */
} Stub;

/* A relocation of a slot with the address of a function. */
typedef struct
{
  uint64_t slot;
  uint64_t addend; /* of a function that selects one: its address */
  uint32_t symbol; /* in .dynsym; 0 = none */
} SlotRelocation;

/* A growing array of elements of one size. */
typedef struct
{
  void *row;
  size_t n;
  size_t capacity;
} Array;

struct ElfStubs
{
  ElfImage *image;           /* (none) */
  const ElfSymbols *symbols; /* (none); may be NULL */
  Array stubs;               /* of Stub, by start; once loaded, only those with a name */
  Array names;               /* of char, each terminated with NUL */
  /* The address range of each section; end = 0: there is no such section. */
  uint64_t section_start[N_STUB_SECTIONS];
  uint64_t section_end[N_STUB_SECTIONS];
  uint64_t first_start; /* of the first stub in .plt; 0 = none */
  bool is_loaded;
};

/* Returns room for `n` more elements, or NULL. */
static void *
append (Array *self, size_t n, size_t size)
{
  void *added;

  if (n > self->capacity - self->n)
    {
      size_t capacity = (self->n + n) * 2 + 64;
      void *larger = realloc (self->row, capacity * size);

      if (larger == NULL)
        return NULL;
      self->row = larger;
      self->capacity = capacity;
    }
  added = (char *) self->row + self->n * size;
  self->n += n;
  return added;
}

/* --- decoding --- */

typedef struct
{
  const uint8_t *bytes; /* [size] */
  uint64_t size;
  uint64_t address;
  const uint8_t *lazy; /* [lazy_size] .rela.plt; NULL = none */
  uint64_t lazy_size;
  bool is_swapped;
} StubCode;

static bool
decode_x86 (const StubCode *code, uint64_t at, uint64_t *slot)
{
  static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
  const uint8_t *bytes = code->bytes + at;
  uint64_t left = code->size - at < 16 ? code->size - at : 16;
  uint64_t i = 0;
  uint32_t value;

  if (left >= sizeof endbr64 && memcmp (bytes, endbr64, sizeof endbr64) == 0)
    i = sizeof endbr64;
  if (left - i >= 6 && bytes[i] == 0x41 && bytes[i + 1] == 0xbb) /* mov $number, %r11d: mold */
    i += 6;
  if (left - i >= 1 && bytes[i] == 0xf2) /* bnd */
    i++;
  if (left - i < 6)
    return false;

  if (bytes[i] == 0xff && bytes[i + 1] == 0x25) /* jmp *distance(%rip) */
    {
      value = sysprof_bytes_peek_u32 (bytes + i + 2, code->is_swapped);
      *slot = code->address + at + i + 6 + (uint64_t) (int64_t) (int32_t) value;
      return true;
    }
  if (bytes[i] == 0x68) /* push $number */
    {
      value = sysprof_bytes_peek_u32 (bytes + i + 1, code->is_swapped);
      if (value >= code->lazy_size / sizeof (Elf64_Rela))
        return false;
      *slot =
          sysprof_bytes_peek_u64 (code->lazy + value * sizeof (Elf64_Rela), code->is_swapped);
      return true;
    }
  return false;
}

static bool
decode_arm (const StubCode *code, uint64_t at, uint64_t *slot)
{
  uint64_t left = code->size - at;
  const uint8_t *bytes = code->bytes + at;
  uint64_t page = code->address + at;
  uint64_t first, second, pages;

  if (left >= 4 && sysprof_bytes_peek_u32 (bytes, code->is_swapped) == BTI_C)
    {
      bytes += 4;
      left -= 4;
      page += 4;
    }
  if (left < 8)
    return false;
  first = sysprof_bytes_peek_u32 (bytes, code->is_swapped);
  second = sysprof_bytes_peek_u32 (bytes + 4, code->is_swapped);
  if (!IS_ADRP (first) || !IS_LDR (second))
    return false;

  /* 21 bits, signed: 2 of them at bit 29, the others from bit 5 on */
  pages = ((first >> 5 & 0x7ffff) << 2 | (first >> 29 & 3)) << 43;
  *slot = (page & ~UINT64_C (0xfff)) + (uint64_t) ((int64_t) pages >> 43 << 12) +
          (second >> 10 & 0xfff) * 8;
  return true;
}

/* Appends the stubs of one section. */
static bool
decode_stubs (ElfStubs *self, const ElfImage *image, const StubCode *code, bool is_got)
{
  bool is_arm = image->machine == EM_AARCH64;
  /* Stubs of .plt.got are half as long, unless they begin with endbr64. */
  uint64_t step = is_arm ? 4 : is_got && code->size > 0 && code->bytes[0] == 0xff ? 8 : 16;
  size_t first = self->stubs.n;

  for (uint64_t at = 0; at < code->size; at += step)
    {
      Stub *last = self->stubs.n > first ? (Stub *) self->stubs.row + self->stubs.n - 1 : NULL;
      uint64_t start = code->address + at;
      uint64_t size = is_arm ? MAX_ARM_STUB : step;
      uint64_t slot;

      if (!(is_arm ? decode_arm : decode_x86) (code, at, &slot))
        continue;
      if (is_arm && last != NULL && last->slot == slot && start - last->start == step)
        continue; /* after `bti c` */
      if (last != NULL && last->end > start)
        last->end = start;
      last = append (&self->stubs, 1, sizeof *last);
      if (last == NULL)
        return false;
      *last =
          (Stub){ start, start + (size < code->size - at ? size : code->size - at), slot, 0 };
    }
  return true;
}

/* --- relocations --- */

static int
compare_relocations (const void *a, const void *b)
{
  const SlotRelocation *left = a, *right = b;

  return left->slot < right->slot ? -1 : left->slot > right->slot;
}

static bool
is_of_slot (uint16_t machine, uint32_t type)
{
  return machine == EM_AARCH64 ? type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
                                     type == R_AARCH64_IRELATIVE
                               : type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
                                     type == R_X86_64_IRELATIVE;
}

/* Appends the relocations of slots, sorted. */
static ElfStatus
read_relocations (ElfImage *image, Array *relocations)
{
  for (size_t i = 0; i < N_RELOCATION_SECTIONS; i++)
    {
      const ElfSection *section =
          sysprof_elf_image_find_section (image, relocation_sections[i]);
      uint8_t *bytes;
      uint64_t size;

      if (section == NULL ||
          sysprof_elf_image_read_section (image, section, &bytes, &size) != ELF_OK)
        continue;
      for (uint64_t at = 0; size - at >= sizeof (Elf64_Rela); at += sizeof (Elf64_Rela))
        {
          uint64_t kind = sysprof_bytes_peek_u64 (bytes + at + 8, image->is_swapped);
          SlotRelocation *added;

          if (!is_of_slot (image->machine, (uint32_t) kind))
            continue;
          added = append (relocations, 1, sizeof *added);
          if (added == NULL)
            {
              free (bytes);
              return ELF_NO_MEMORY;
            }
          added->slot = sysprof_bytes_peek_u64 (bytes + at, image->is_swapped);
          added->symbol = (uint32_t) (kind >> 32);
          added->addend = sysprof_bytes_peek_u64 (bytes + at + 16, image->is_swapped);
        }
      free (bytes);
    }

  if (relocations->n > 0)
    qsort (relocations->row, relocations->n, sizeof (SlotRelocation), compare_relocations);
  return ELF_OK;
}

/* --- names --- */

typedef struct
{
  const ElfSymbols *symbols; /* may be NULL */
  uint8_t *table;            /* [table_size] .dynsym; NULL = none */
  uint64_t table_size;
  char *strings; /* [strings_size], terminated with NUL */
  uint64_t strings_size;
} StubNames;

static void
read_dynamic_names (StubNames *self, ElfImage *image)
{
  for (uint32_t i = 1; i < image->n_sections; i++)
    {
      const ElfSection *section = &image->sections[i];

      if (section->type != SHT_DYNSYM || section->link >= image->n_sections)
        continue;
      if (sysprof_elf_image_read_section (image, section, &self->table, &self->table_size) !=
              ELF_OK ||
          sysprof_elf_image_read_section (image, &image->sections[section->link],
                                          (uint8_t **) &self->strings,
                                          &self->strings_size) != ELF_OK)
        self->strings_size = 0;
      return;
    }
}

/* The name of the function in the slot, up to its version; NULL = unknown. */
static const char *
find_function (const StubNames *self, const SlotRelocation *relocation, bool is_swapped)
{
  uint64_t at = (uint64_t) relocation->symbol * sizeof (Elf64_Sym);
  ElfSymbol symbol;
  uint32_t name;

  if (relocation->symbol == 0)
    return self->symbols != NULL &&
                   sysprof_elf_symbols_find (self->symbols, relocation->addend, &symbol) &&
                   symbol.start == relocation->addend
               ? symbol.name
               : NULL;
  if (at + sizeof (Elf64_Sym) > self->table_size)
    return NULL;
  name = sysprof_bytes_peek_u32 (self->table + at, is_swapped);
  return name != 0 && name < self->strings_size ? self->strings + name : NULL;
}

static bool
append_name (ElfStubs *self, const char *name, size_t size, size_t *offset)
{
  char *room = size < MAX_NAMES - self->names.n
                   ? append (&self->names, size + sizeof ELF_STUB_SUFFIX, 1)
                   : NULL;

  if (room == NULL)
    return false;
  *offset = self->names.n - size - sizeof ELF_STUB_SUFFIX;
  memcpy (room, name, size);
  memcpy (room + size, ELF_STUB_SUFFIX, sizeof ELF_STUB_SUFFIX);
  return true;
}

/* Drops the stubs without a name. */
static void
name_stubs (ElfStubs *self, const Array *relocations, const StubNames *names, bool is_swapped)
{
  Stub *rows = self->stubs.row;
  size_t n = self->stubs.n;

  self->stubs.n = 0;
  for (size_t i = 0; i < n; i++)
    {
      Stub *stub = &rows[i];
      const SlotRelocation key = { .slot = stub->slot };
      const SlotRelocation *found = relocations->n > 0
                                        ? bsearch (&key, relocations->row, relocations->n,
                                                   sizeof key, compare_relocations)
                                        : NULL;
      const char *name = found != NULL ? find_function (names, found, is_swapped) : NULL;
      char text[32];

      if (found != NULL && name == NULL && found->symbol == 0)
        {
          (void) snprintf (text, sizeof text, "*ABS*+0x%" PRIx64, found->addend);
          name = text; /* as objdump calls a function without a name */
        }
      if (name == NULL || !append_name (self, name, strcspn (name, "@"), &stub->name))
        continue;
      if (self->first_start == 0 && stub->start >= self->section_start[0] &&
          stub->start < self->section_end[0])
        self->first_start = stub->start;
      rows[self->stubs.n++] = *stub;
    }
}

/* --- all together --- */

static int
compare_stubs (const void *a, const void *b)
{
  const Stub *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

static bool
decode_sections (ElfStubs *self, ElfImage *image)
{
  const ElfSection *lazy = sysprof_elf_image_find_section (image, ".rela.plt");
  StubCode code = { .is_swapped = image->is_swapped };
  uint8_t *lazy_bytes = NULL;
  bool is_good = true;

  if (lazy != NULL &&
      sysprof_elf_image_read_section (image, lazy, &lazy_bytes, &code.lazy_size) == ELF_OK)
    code.lazy = lazy_bytes;
  else
    code.lazy_size = 0;

  for (size_t i = 0; i < N_STUB_SECTIONS && is_good; i++)
    {
      const ElfSection *section = sysprof_elf_image_find_section (image, stub_sections[i]);
      uint8_t *bytes;

      if (section == NULL || section->size > MAX_SECTION ||
          sysprof_elf_image_read_section (image, section, &bytes, &code.size) != ELF_OK)
        continue;
      code.bytes = bytes;
      code.address = section->address;
      is_good = decode_stubs (self, image, &code, i == N_STUB_SECTIONS - 1);
      free (bytes);
    }
  free (lazy_bytes);

  if (self->stubs.n > 0)
    qsort (self->stubs.row, self->stubs.n, sizeof (Stub), compare_stubs);
  return is_good;
}

/* Stubs that do not fit into memory have no name. */
static void
load_stubs (ElfStubs *self)
{
  StubNames names = { .symbols = self->symbols };
  Array relocations = { 0 };

  read_dynamic_names (&names, self->image);
  if (!decode_sections (self, self->image) ||
      read_relocations (self->image, &relocations) != ELF_OK)
    self->stubs.n = 0;
  name_stubs (self, &relocations, &names, self->image->is_swapped);

  free (relocations.row);
  free (names.table);
  free (names.strings);
}

/* Only notes where the sections are, which answers most questions without reading them. */
ElfStubs *
sysprof_elf_stubs_new (ElfImage *image, const ElfSymbols *symbols)
{
  ElfStubs *self = calloc (1, sizeof *self);
  bool is_supported =
      image->is_64 && (image->machine == EM_X86_64 || image->machine == EM_AARCH64);

  if (self == NULL)
    return NULL;
  self->image = image;
  self->symbols = symbols;
  for (size_t i = 0; is_supported && i < N_STUB_SECTIONS; i++)
    {
      const ElfSection *section = sysprof_elf_image_find_section (image, stub_sections[i]);

      if (section == NULL || section->size > UINT64_MAX - section->address)
        continue;
      self->section_start[i] = section->address;
      self->section_end[i] = section->address + section->size;
    }
  return self;
}

static bool
find_loaded (const ElfStubs *self, uint64_t address, ElfSymbol *symbol)
{
  const Stub *rows = self->stubs.row;
  size_t low = 0;

  for (size_t high = self->stubs.n; low < high;)
    {
      size_t middle = low + (high - low) / 2;

      if (rows[middle].start <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low > 0 && address < rows[low - 1].end)
    *symbol = (ElfSymbol){ rows[low - 1].start, rows[low - 1].end,
                           (const char *) self->names.row + rows[low - 1].name };
  else if (address >= self->section_start[0] && address < self->first_start)
    *symbol = (ElfSymbol){ self->section_start[0], self->first_start, stub_sections[0] };
  else
    return false;
  return true;
}

bool
sysprof_elf_stubs_find (ElfStubs *self, uint64_t address, ElfSymbol *symbol)
{
  bool is_inside = false;

  for (size_t i = 0; i < N_STUB_SECTIONS; i++)
    is_inside |= address >= self->section_start[i] && address < self->section_end[i];
  if (!is_inside)
    return false;

  if (!self->is_loaded)
    load_stubs (self);
  self->is_loaded = true;
  return find_loaded (self, address, symbol);
}

void
sysprof_elf_stubs_free (ElfStubs *stubs)
{
  if (stubs == NULL)
    return;
  free (stubs->stubs.row);
  free (stubs->names.row);
  free (stubs);
}
