// SPDX-License-Identifier: GPL-3.0-or-later

/* Entries of the cache of symbols, whose checksum is right and whose content is anything. */

#include "fuzz/fuzz.h"
#include "inspect/cache-entry.h"

#include <stdlib.h>
#include <string.h>

#define N_ANSWERS 6

static const uint64_t offsets[N_ANSWERS] = { 0x10, 0x20, 0x21, 0x400, 0x1000, UINT64_MAX };
static const char text[] = "\0_Z1fv\0f()\0main\0/src/a.c\0";

static void
add_names (CacheEntry *entry)
{
  ElfAnswer row[N_ANSWERS] = {
    [1] = { .link_address = 0x1020, .start = 0x1000, .end = 0x1100, .name = 1, .demangled = 7 },
    [2] = { .link_address = 0x1021, .start = 0x1000, .end = 0x1100, .name = 1, .demangled = 7 },
    [3] = { .link_address = 0x1400, .start = 0x1400, .end = 0x1401, .name = 11 },
    [4] = { .link_address = 0x2000, .is_entry = 1 },
  };
  ElfAnswers names = {
    .symbol = row, .n = N_ANSWERS, .text = (char *) text, .text_size = sizeof text
  };

  if (!sysprof_cache_entry_add (entry, offsets, &names))
    abort ();
}

static void
add_lines (CacheEntry *entry)
{
  ElfLineRow row[N_ANSWERS] = { [1] = { 0, 2 }, [3] = { 2, 1 } };
  ElfLineFrame frame[3] = {
    { .name = 1, .demangled = 7, .file = 16, .line = 3, .is_inlined = 1 },
    { .file = 16, .line = 9, .decl_file = 16, .decl_line = 8 },
    { .file = 16, .line = 20 },
  };
  ElfAnswers lines = { .line = row,
                       .n = N_ANSWERS,
                       .frame = frame,
                       .n_frames = G_N_ELEMENTS (frame),
                       .text = (char *) text,
                       .text_size = sizeof text };

  if (!sysprof_cache_entry_add (entry, offsets, &lines))
    abort ();
}

static GByteArray *
make_bytes (bool is_for_lines)
{
  static const ElfFacts facts = { .link = "a.debug", .is_full = 1 };
  static const FileIdentity file = { .inode = 5 };
  const CachedPart part = { .file = file, .kind = 1, .facts = facts };
  g_autoptr (CacheEntry) entry = sysprof_cache_entry_new (is_for_lines, &file, &facts);

  g_array_append_val (entry->parts, part);
  if (is_for_lines)
    add_lines (entry);
  else
    add_names (entry);
  return sysprof_cache_entry_pack (entry);
}

/* As its reader does. */
static void
use (CacheEntry *entry)
{
  g_autoptr (GByteArray) packed = sysprof_cache_entry_pack (entry);
  g_autoptr (CacheEntry) again =
      sysprof_cache_entry_parse (packed->data, packed->len, entry->is_for_lines);
  g_autofree uint64_t *missing = g_new (uint64_t, N_ANSWERS);
  ElfAnswers names = { 0 };
  ElfAnswers lines = { 0 };

  if (again == NULL || again->answers.n != entry->answers.n ||
      sysprof_cache_entry_find_missing (entry, entry->offset, entry->answers.n,
                                        g_newa (uint64_t, entry->answers.n + 1)) != 0)
    abort ();
  sysprof_cache_entry_get (entry, entry->offset, entry->answers.n,
                           entry->is_for_lines ? &lines : &names);
  for (size_t i = 0; i < names.n; i++)
    if (strlen (names.text + names.symbol[i].name) >= names.text_size)
      abort ();
  for (size_t i = 0; i < lines.n; i++)
    for (uint32_t j = 0; j < lines.line[i].n; j++)
      if (strlen (lines.text + lines.frame[lines.line[i].first + j].file) >= lines.text_size)
        abort ();
  if (sysprof_cache_entry_find_missing (entry, offsets, N_ANSWERS, missing) == N_ANSWERS)
    {
      if (entry->is_for_lines)
        add_lines (entry);
      else
        add_names (entry);
    }
  sysprof_elf_answers_clear (&names);
  sysprof_elf_answers_clear (&lines);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  bool is_for_lines = size > 0 && (bytes[0] & 1) != 0;
  g_autoptr (GByteArray) changed = make_bytes (is_for_lines);
  CacheEntry *entry;

  for (size_t at = 1; at + 3 <= size; at += 3)
    {
      size_t place = (bytes[at] | (size_t) bytes[at + 1] << 8) % changed->len;

      changed->data[place] = bytes[at + 2];
      if (at == 1 && (bytes[0] & 2) != 0)
        g_byte_array_set_size (changed, (guint) place + 1);
    }
  sysprof_cache_entry_seal (changed->data, changed->len);
  entry = sysprof_cache_entry_parse (changed->data, changed->len, is_for_lines);
  if (entry != NULL)
    use (entry);
  sysprof_cache_entry_free (entry);
  return 0;
}
