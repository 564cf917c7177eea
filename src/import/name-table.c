// SPDX-License-Identifier: GPL-3.0-or-later

/* Assigns addresses to functions that have only a name, and writes the table that names
 * them. */

#include "import/name-table.h"

#include <stdlib.h>

#define USER_BASE   ((uint64_t) 0x10000)
#define KERNEL_BASE ((uint64_t) 0xffffffff80000000)
#define SPACING     16 /* addresses per function */
#define INSIDE      8  /* so that the address before a return address is in the function, too */
#define CHUNK_SIZE  16100 /* bytes; some readers refuse larger frames */

/* docs/format.md, section on __symbols__. */
typedef struct
{
  uint64_t begin;
  uint64_t end;
  uint32_t pid;
  uint32_t name; /* offset in the table, bytes */
  uint32_t tag;
  uint32_t padding;
} PackedSymbol;

void
sysprof_name_table_init (NameTable *self)
{
  *self = (NameTable){ .uses = g_hash_table_new (NULL, NULL) };
  sysprof_intern_init (&self->names);
}

void
sysprof_name_table_clear (NameTable *self)
{
  sysprof_intern_clear (&self->names);
  g_free (self->address);
  g_clear_pointer (&self->uses, g_hash_table_unref);
  *self = (NameTable){ 0 };
}

uint32_t
sysprof_name_table_intern (NameTable *self, NameKind kind, Text name)
{
  char small[256];
  size_t size = sysprof_text_size (name);
  char *key = size < sizeof small ? small : g_malloc (size + 1);
  uint32_t id;

  key[0] = "ukj"[kind];
  if (size > 0)
    memcpy (key + 1, name.at, size);
  id = sysprof_intern_bytes (&self->names, key, size + 1);
  if (key != small)
    g_free (key);

  if (id >= self->capacity)
    {
      uint32_t before = self->capacity;

      self->capacity = MAX (id + 1, self->capacity * 2);
      self->address = g_renew (uint64_t, self->address, self->capacity);
      memset (self->address + before, 0, (self->capacity - before) * sizeof *self->address);
    }

  return id;
}

NameKind
sysprof_name_table_kind (const NameTable *self, uint32_t name)
{
  switch (sysprof_intern_get (&self->names, name)[0])
    {
    case 'k':
      return NAME_KERNEL;
    case 'j':
      return NAME_JIT;
    default:
      return NAME_USER;
    }
}

static gpointer
use_of (int32_t pid, uint32_t name)
{
  return (gpointer) (uintptr_t) ((uint64_t) (uint32_t) pid << 32 | name);
}

uint64_t
sysprof_name_table_address (NameTable *self,
                            SysprofCaptureWriter *writer,
                            uint32_t name,
                            int32_t pid)
{
  const char *text = sysprof_intern_get (&self->names, name) + 1;
  uint64_t *address = &self->address[name];

  switch (sysprof_name_table_kind (self, name))
    {
    case NAME_JIT:
      if (*address == 0)
        *address = sysprof_capture_writer_add_jitmap (writer, text);
      return *address;
    case NAME_KERNEL:
      return *address = KERNEL_BASE + (uint64_t) name * SPACING + INSIDE;
    default:
      g_hash_table_add (self->uses, use_of (pid, name));
      return *address = USER_BASE + (uint64_t) name * SPACING + INSIDE;
    }
}

static int
compare_symbols (const void *a, const void *b)
{
  const PackedSymbol *left = a, *right = b;

  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static void
add_symbol (GArray *symbols, uint32_t pid, uint64_t inside, uint32_t name)
{
  PackedSymbol symbol = {
    .begin = inside - INSIDE, .end = inside - INSIDE + SPACING, .pid = pid, .name = name
  };

  g_array_append_val (symbols, symbol);
}

static GByteArray *
pack (const NameTable *self)
{
  g_autoptr (GArray) symbols = g_array_new (FALSE, FALSE, sizeof (PackedSymbol));
  g_autofree uint32_t *offset = g_new0 (uint32_t, self->names.n_strings);
  GByteArray *packed = g_byte_array_new ();
  PackedSymbol end = { 0 };
  GHashTableIter iter;
  gpointer use;
  size_t at;

  g_hash_table_iter_init (&iter, self->uses);
  while (g_hash_table_iter_next (&iter, &use, NULL))
    {
      uint64_t key = (uint64_t) (uintptr_t) use;

      add_symbol (symbols, (uint32_t) (key >> 32), self->address[(uint32_t) key],
                  (uint32_t) key);
    }
  for (uint32_t name = 1; name < self->names.n_strings; name++)
    if (self->address[name] != 0 && sysprof_name_table_kind (self, name) == NAME_KERNEL)
      add_symbol (symbols, 0, self->address[name], name);
  g_array_sort (symbols, compare_symbols);

  at = ((size_t) symbols->len + 1) * sizeof (PackedSymbol) + 1; /* after the empty string */
  for (unsigned i = 0; i < symbols->len; i++)
    {
      PackedSymbol *symbol = &g_array_index (symbols, PackedSymbol, i);
      uint32_t name = symbol->name;

      if (offset[name] == 0)
        {
          offset[name] = (uint32_t) at;
          at += self->names.lengths[name]; /* without the letter, with the NUL */
        }
      symbol->name = offset[name];
    }

  g_byte_array_append (packed, (const uint8_t *) symbols->data,
                       symbols->len * (guint) sizeof (PackedSymbol));
  g_byte_array_append (packed, (const uint8_t *) &end, sizeof end);
  g_byte_array_append (packed, (const uint8_t *) "", 1);
  g_byte_array_set_size (packed, (guint) at);
  for (uint32_t name = 1; name < self->names.n_strings; name++)
    if (offset[name] != 0)
      memcpy (packed->data + offset[name], sysprof_intern_get (&self->names, name) + 1,
              self->names.lengths[name]);

  return packed;
}

bool
sysprof_name_table_write (const NameTable *self, SysprofCaptureWriter *writer, int64_t time)
{
  g_autoptr (GByteArray) packed = pack (self);

  /* Sysprof 3.46 skips every other frame of consecutive file frames, so write another frame
   * first. */
  if (!sysprof_capture_writer_add_timestamp (writer, time, -1, -1))
    return false;

  for (size_t at = 0; at < packed->len; at += CHUNK_SIZE)
    {
      size_t size = MIN (packed->len - at, CHUNK_SIZE);

      if (!sysprof_capture_writer_add_file (writer, time, -1, -1, "__symbols__",
                                            at + size == packed->len, packed->data + at, size))
        return false;
    }

  return true;
}
