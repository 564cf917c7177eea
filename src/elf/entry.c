// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes the code where processes and threads begin, in files without symbols for it.
 *
 * A complete stack ends in the code that the C library runs before main() or before a thread's
 * first function. Distributions strip the C library: its exported functions keep their names,
 * but __libc_start_call_main and start_thread, which are in such stacks, are static. They are
 * recognized by what they do:
 *
 *   - code whose call-frame entry marks it as outermost: the child's side of clone and clone3,
 *     and _start;
 *   - the function at the file's entry point;
 *   - a function that __libc_start_main calls directly and that calls _setjmp and exit: it sets
 *     up cancellation, calls main, and ends the process with its result;
 *   - a function that calls _setjmp, __ctype_init and __call_tls_dtors: a thread's first
 *     function sets up its locale tables, runs, and destroys its thread-local objects. No other
 *     function makes these three calls.
 *
 * The callees are exported (or PRIVATE) names of the library; the bounds of functions come from
 * its call-frame table. A different function would have to make the same calls, and be in the
 * file that defines __libc_start_main. Code that is not recognized is an ordinary address
 * without a name. On machines other than x86-64, i386 and AArch64, only the first two rules
 * apply. */

#include "elf/frames.h"
#include "elf/image.h"

#include <stdlib.h>

#define MAX_CODE       (16 * 1024) /* bytes of a function that are examined */
#define MAX_ENTRY_CODE 128         /* bytes of an entry point without bounds */
#define MAX_CALLEES    4           /* including the NO_NAME at the end */

#define NO_NAME ELF_N_ENTRY_NAMES

static const char *const entry_names[ELF_N_ENTRY_NAMES] = {
  [ELF_NAME_START_MAIN] = "__libc_start_main",
  [ELF_NAME_SETJMP] = "_setjmp",
  [ELF_NAME_EXIT] = "exit",
  [ELF_NAME_CTYPE_INIT] = "__ctype_init",
  [ELF_NAME_TLS_DTORS] = "__call_tls_dtors",
};

typedef struct
{
  ElfEntryName caller; /* that must call the function directly, or NO_NAME */
  /* that the function must all call directly; terminated by NO_NAME */
  ElfEntryName callees[MAX_CALLEES];
} EntryRule;

static const EntryRule entry_rules[] = {
  { ELF_NAME_START_MAIN, { ELF_NAME_SETJMP, ELF_NAME_EXIT, NO_NAME } },
  { NO_NAME, { ELF_NAME_SETJMP, ELF_NAME_CTYPE_INIT, ELF_NAME_TLS_DTORS, NO_NAME } },
};

typedef struct
{
  uint8_t *bytes;
  size_t size;
  uint64_t address;
} Code;

static bool
read_code (ElfImage *image, uint64_t start, uint64_t end, Code *code)
{
  uint64_t offset, left;
  uint64_t size = end - start;

  if (sysprof_elf_image_offset_of_address (image, start, &offset, &left) != ELF_OK ||
      size > left ||
      sysprof_elf_source_read_new (&image->source, offset, size, MAX_CODE, &code->bytes) !=
          ELF_OK)
    return false;

  code->size = (size_t) size;
  code->address = start;
  return true;
}

/* The target of a direct call at `offset`. Other bytes may look like a call, but their target
 * is hardly ever one of the exact addresses that are compared. */
static bool
decode_call (const ElfImage *image, const Code *code, size_t offset, uint64_t *target)
{
  const uint8_t *at = code->bytes + offset;
  size_t left = code->size - offset;

  if (image->machine == EM_X86_64 || image->machine == EM_386)
    {
      if (left < 5 || at[0] != 0xe8)
        return false;
      *target =
          code->address + offset + 5 +
          (uint64_t) (int64_t) (int32_t) sysprof_bytes_peek_u32 (at + 1, image->is_swapped);
      if (image->machine == EM_386)
        *target &= UINT32_MAX;
      return true;
    }

  if (image->machine == EM_AARCH64)
    {
      uint32_t instruction, words;

      if (left < 4 || offset % 4 != 0)
        return false;
      instruction = sysprof_bytes_peek_u32 (at, image->is_swapped);
      if ((instruction & 0xfc000000) != 0x94000000) /* BL: 26 bits, signed, in words */
        return false;

      words = instruction & 0x03ffffff;
      *target = code->address + offset + (uint64_t) words * 4;
      if (words & 0x02000000)
        *target -= UINT64_C (1) << 28;
      return true;
    }

  return false;
}

static bool
calls_address (const ElfImage *image, const Code *code, uint64_t address)
{
  for (size_t offset = 0; offset < code->size; offset++)
    {
      uint64_t target;

      if (decode_call (image, code, offset, &target) && target == address)
        return true;
    }

  return false;
}

static void
note_address_of_name (ElfImage *image, const char *name, uint64_t address)
{
  for (unsigned i = 0; i < ELF_N_ENTRY_NAMES; i++)
    if (image->entry_names[i] == 0 && strcmp (name, entry_names[i]) == 0)
      image->entry_names[i] = address;
}

/* Several names may have the same address, and only one of them is kept among the symbols. So
 * the addresses are read from the file's dynamic symbol table, once per file, because it may
 * have many thousands of names. */
static void
read_entry_names (ElfImage *image)
{
  const ElfSection *section = NULL;
  uint8_t *table = NULL;
  uint8_t *strings = NULL;
  uint64_t table_size, strings_size;
  size_t entry_size = image->is_64 ? sizeof (Elf64_Sym) : sizeof (Elf32_Sym);

  if (image->are_entry_names_read)
    return;
  image->are_entry_names_read = true;

  for (uint32_t i = 1; i < image->n_sections && section == NULL; i++)
    if (image->sections[i].type == SHT_DYNSYM)
      section = &image->sections[i];
  if (section == NULL || section->link >= image->n_sections)
    return;

  if (sysprof_elf_image_read_section (image, section, &table, &table_size) != ELF_OK ||
      sysprof_elf_image_read_section (image, &image->sections[section->link], &strings,
                                      &strings_size) != ELF_OK)
    goto out;

  for (uint64_t at = 0; at + entry_size <= table_size; at += entry_size)
    {
      uint32_t offset = sysprof_bytes_peek_u32 (table + at, image->is_swapped);
      uint64_t value = image->is_64
                           ? sysprof_bytes_peek_u64 (table + at + 8, image->is_swapped)
                           : sysprof_bytes_peek_u32 (table + at + 4, image->is_swapped);

      if (value != 0 && offset < strings_size)
        note_address_of_name (image, (char *) strings + offset, value);
    }

out:
  free (table);
  free (strings);
}

static bool
matches_rule (ElfImage *image, const EntryRule *rule, const Code *code)
{
  const uint64_t *address_of = image->entry_names;
  uint64_t start, end;
  Code caller = { 0 };
  bool is_called;

  for (unsigned i = 0; rule->callees[i] != NO_NAME; i++)
    if (address_of[rule->callees[i]] == 0 ||
        !calls_address (image, code, address_of[rule->callees[i]]))
      return false;

  if (rule->caller == NO_NAME)
    return true;
  if (sysprof_elf_image_function_bounds (image, address_of[rule->caller], &start, &end) !=
          ELF_OK ||
      !read_code (image, start, end, &caller))
    return false;

  is_called = calls_address (image, &caller, code->address);
  free (caller.bytes);
  return is_called;
}

static bool
is_entry_function (ElfImage *image, const FrameEntry *entry)
{
  Code code = { 0 };
  bool is_entry = false;

  if (entry->is_outermost || (image->entry >= entry->start && image->entry < entry->end))
    return true;

  read_entry_names (image);
  if (image->entry_names[ELF_NAME_START_MAIN] == 0 || /* not the C library */
      !read_code (image, entry->start, entry->end, &code))
    return false;

  for (size_t i = 0; i < sizeof entry_rules / sizeof entry_rules[0] && !is_entry; i++)
    is_entry = matches_rule (image, &entry_rules[i], &code);
  free (code.bytes);
  return is_entry;
}

bool
sysprof_elf_image_is_entry (ElfImage *image, const ElfSymbols *symbols, uint64_t address)
{
  FrameEntry entry;
  ElfSymbol symbol;

  if (symbols != NULL && sysprof_elf_symbols_find (symbols, address, &symbol))
    return false;

  /* Callers look up many addresses in ascending order, so most are in the same function as the
   * previous one. */
  if (address >= image->asked_start && address < image->asked_end)
    return image->is_asked_entry;

  if (sysprof_elf_image_find_frame_entry (image, address, &entry) != ELF_OK)
    return image->entry != 0 && address >= image->entry &&
           address - image->entry < MAX_ENTRY_CODE &&
           sysprof_elf_image_find_frame_entry (image, image->entry, &entry) != ELF_OK;

  image->is_asked_entry = is_entry_function (image, &entry);
  image->asked_start = entry.start;
  image->asked_end = entry.end;
  return image->is_asked_entry;
}
