// SPDX-License-Identifier: GPL-3.0-or-later

/* Assigns kernel addresses to the kernel's own file or to sections of its modules, from the
 * capture's metadata, module lists and symbol lists. All of this input is untrusted. */

#include "symbolize/kernel-parts.h"

#include "capture/capture.h"
#include "symbolize/request.h"

#include <stdlib.h>
#include <string.h>

#define BUILD_ID_KEY  "org.gnome.sysprof.kernel-build-id"
#define TIME_KEY      "capture-time" /* each recording writes it once */
#define KERNEL_BINARY "[kernel]"
#define LINE_END      " _text\n"
#define MODULES_FILE  "__modules__"
#define MOST_PARTS    0x10000
#define LARGEST_PART  (UINT64_C (1) << 30) /* bytes */

bool
sysprof_kernel_is_asked_for (const Symbolization *self, AddressId address)
{
  return self->store->addresses.kind[address] == ADDRESS_KERNEL &&
         sysprof_symbolization_wants (self, address);
}

static bool
has_asked_for (const Symbolization *self)
{
  for (AddressId address = 1; address < self->store->addresses.n; address++)
    if (sysprof_kernel_is_asked_for (self, address))
      return true;
  return false;
}

/* --- which kernels --- */

static char *
dup_build_id (Text hex)
{
  return sysprof_is_build_id (hex) ? g_strndup (hex.at, sysprof_text_size (hex))
                                   : g_strdup ("");
}

static KernelPart *
add_part (KernelParts *self, char *binary, char *section, char *build_id)
{
  KernelPart part = { .binary = binary,
                      .section = section,
                      .build_id = build_id,
                      .items = g_array_new (FALSE, FALSE, sizeof (BatchItem)),
                      .offsets = g_array_new (FALSE, FALSE, sizeof (uint64_t)) };

  g_array_append_val (self->parts, part);
  return &g_array_index (self->parts, KernelPart, self->parts->len - 1);
}

/* `ID BUILD-ID`. Recordings of one boot have the same; `first` is the ID of the first, empty
 * before it. */
static void
add_boot (KernelParts *self, Text value, Text *first)
{
  Text id, build_id = { 0 };

  if (!sysprof_text_next_word (&value, &id) || sysprof_text_equal (id, CAPTURE_BOOT_ID_OTHER))
    return;
  (void) sysprof_text_next_word (&value, &build_id);
  if (sysprof_text_skip (&value, " ")) /* older joins: a kernel whose addresses were moved */
    return;

  if (first->at == NULL)
    {
      *first = id;
      add_part (self, g_strdup (KERNEL_BINARY), g_strdup (""), dup_build_id (build_id));
    }
  else if (sysprof_text_size (*first) != sysprof_text_size (id) ||
           memcmp (first->at, id.at, sysprof_text_size (id)) != 0)
    self->are_mixed = true;
}

static uint32_t
count_metadata (const Store *store, const char *key)
{
  uint32_t n = 0;

  for (const Metadata *row = NULL;
       (row = sysprof_store_find_metadata (store, key, row)) != NULL;)
    n++;
  return n;
}

/* Captures with addresses of several kernels get no file: version 3.46 joins captures of
 * several boots as they are. */
static void
add_kernels (KernelParts *self, const Symbolization *symbolization)
{
  const Store *store = symbolization->store;
  const char *build_id = sysprof_symbolization_find_metadata (symbolization, BUILD_ID_KEY);
  uint32_t n_boots = 0, n_recordings = count_metadata (store, TIME_KEY);
  Text first = { 0 };

  for (const Metadata *row = NULL;
       (row = sysprof_store_find_metadata (store, CAPTURE_BOOT_ID, row)) != NULL; n_boots++)
    add_boot (self, sysprof_text_from_string (sysprof_store_string (store, row->value)),
              &first);
  if (n_boots > 0)
    self->are_mixed |= n_recordings > n_boots;
  else if (count_metadata (store, BUILD_ID_KEY) > 1 || n_recordings > 1)
    self->are_mixed = build_id != NULL;
  else if (build_id != NULL)
    add_part (self, g_strdup (KERNEL_BINARY), g_strdup (""),
              dup_build_id (sysprof_text_from_string (build_id)));
  if (self->are_mixed && self->parts->len > 0)
    g_array_index (self->parts, KernelPart, 0).build_id[0] = '\0';
}

/* --- load addresses --- */

uint64_t
sysprof_kallsyms_find_text (const char *text, size_t size)
{
  const char *end = text + size;
  const char *at = text, *found;
  uint64_t address, highest = 0; /* older joins moved all kernels but one to lower addresses */

  while (text != NULL &&
         (found = memmem (at, (size_t) (end - at), LINE_END, strlen (LINE_END))) != NULL)
    {
      const char *line = found;
      Text rest;

      while (line > text && line[-1] != '\n')
        line--;
      rest = (Text){ line, end };
      if (sysprof_text_hex (&rest, &address) && address > highest)
        highest = address;
      at = found + 1;
    }
  return highest;
}

static void
find_bases (KernelParts *self, const Symbolization *symbolization)
{
  g_autoptr (GBytes) list = NULL;
  g_autofree char *own = NULL;
  const char *text = NULL;
  gsize size = 0;

  if (symbolization->options->kernel_symbols != NULL)
    list = g_bytes_ref (symbolization->options->kernel_symbols);
  else
    list = sysprof_store_read_file_cancellable (symbolization->store, "/proc/kallsyms",
                                                symbolization->progress->cancellable, NULL);
  if (list != NULL)
    text = g_bytes_get_data (list, &size);
  else if (symbolization->is_this_boot && symbolization->options->sysroot == NULL &&
           g_file_get_contents ("/proc/kallsyms", &own, &size, NULL))
    text = own;
  if (text == NULL)
    return;

  for (guint i = 0; i < self->parts->len; i++)
    {
      KernelPart *part = &g_array_index (self->parts, KernelPart, i);

      if (part->section[0] == '\0')
        part->base = sysprof_kallsyms_find_text (text, size);
    }
}

/* --- modules --- */

/* Parses `SECTION=ADDRESS`. */
static bool
parse_section (Text word, Text *section, uint64_t *address)
{
  const char *sign = memchr (word.at, '=', sysprof_text_size (word));

  if (sign == NULL || sign == word.at)
    return false;
  *section = (Text){ word.at, sign };
  word.at = sign + 1;
  return sysprof_text_hex (&word, address) && *address != 0;
}

/* Names become parts of paths. */
static bool
is_name (Text name)
{
  return memchr (name.at, '/', sysprof_text_size (name)) == NULL && name.at[0] != '.';
}

/* Each line is `NAME BUILD-ID SECTION=ADDRESS …`. If several kernels are mixed, modules cannot
 * be assigned to one of them, so they are ignored. */
static void
add_modules (KernelParts *self, const Symbolization *symbolization)
{
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      symbolization->store, MODULES_FILE, symbolization->progress->cancellable, NULL);
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, NULL) : NULL;
  Text text, line;

  if (data == NULL || self->are_mixed)
    return;

  text = (Text){ data, data + g_bytes_get_size (bytes) };
  while (sysprof_text_next_line (&text, &line))
    {
      Text name, build_id, word, section;
      uint64_t address;

      if (!sysprof_text_next_word (&line, &name) || !is_name (name) ||
          !sysprof_text_next_word (&line, &build_id))
        continue;
      while (self->parts->len < MOST_PARTS && sysprof_text_next_word (&line, &word))
        if (parse_section (word, &section, &address))
          add_part (self, g_strdup_printf ("[%.*s]", (int) sysprof_text_size (name), name.at),
                    g_strndup (section.at, sysprof_text_size (section)),
                    dup_build_id (build_id))
              ->base = address;
    }
}

/* --- addresses --- */

static int
compare_bases (const void *a, const void *b)
{
  const KernelPart *left = a, *right = b;

  return (left->base > right->base) - (left->base < right->base);
}

static int
compare_items (const void *a, const void *b)
{
  const BatchItem *left = a, *right = b;

  if (left->offset != right->offset)
    return left->offset < right->offset ? -1 : 1;
  return left->address < right->address ? -1 : left->address > right->address;
}

/* Returns the last part that starts at or before the address, or NULL if there is none. */
static KernelPart *
find_part (const KernelParts *self, uint64_t address)
{
  KernelPart *rows = (KernelPart *) (void *) self->parts->data;
  guint low = 0;

  for (guint high = self->parts->len; low < high;)
    {
      guint middle = low + (high - low) / 2;

      if (rows[middle].base <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0 || rows[low - 1].base == 0 || address - rows[low - 1].base >= LARGEST_PART)
    return NULL;
  return &rows[low - 1];
}

static void
collect_items (KernelParts *self, const Symbolization *symbolization)
{
  for (AddressId address = 1; address < symbolization->store->addresses.n; address++)
    {
      uint64_t at;
      KernelPart *part;

      if (!sysprof_kernel_is_asked_for (symbolization, address))
        continue;
      at = sysprof_symbolization_lookup_address (symbolization, address);
      part = find_part (self, at);
      if (part != NULL)
        {
          BatchItem item = { at - part->base, address, 0 };

          g_array_append_val (part->items, item);
        }
    }
}

static void
list_offsets (KernelPart *self)
{
  g_array_sort (self->items, compare_items);
  for (guint i = 0; i < self->items->len; i++)
    {
      uint64_t offset = g_array_index (self->items, BatchItem, i).offset;

      if (i == 0 || g_array_index (self->items, BatchItem, i - 1).offset != offset)
        g_array_append_val (self->offsets, offset);
    }
}

/* Parts of one file and section are merged, so that the file is queried once. Code is an
 * exception, because it is shown at its run-time address. */
static void
merge_same_files (KernelParts *self)
{
  g_autoptr (GHashTable) firsts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < self->parts->len; i++)
    {
      KernelPart *part = &g_array_index (self->parts, KernelPart, i), *first;
      char *key;

      if (part->items->len == 0 || part->build_id[0] == '\0')
        continue;
      key = g_strdup_printf ("%s%s %s", part->build_id, part->binary, part->section);
      first = g_hash_table_lookup (firsts, key);
      if (first == NULL)
        {
          g_hash_table_insert (firsts, key, part);
          continue;
        }
      g_free (key);
      g_array_append_vals (first->items, part->items->data, part->items->len);
      g_array_set_size (part->items, 0);
    }
}

/* --- --- */

static void
clear_part (void *part)
{
  KernelPart *self = part;

  g_free (self->binary);
  g_free (self->section);
  g_free (self->build_id);
  g_array_unref (self->items);
  g_array_unref (self->offsets);
}

KernelParts *
sysprof_kernel_parts_new (const Symbolization *symbolization)
{
  KernelParts *self = g_new0 (KernelParts, 1);

  self->parts = g_array_new (FALSE, FALSE, sizeof (KernelPart));
  g_array_set_clear_func (self->parts, clear_part);
  if (!has_asked_for (symbolization))
    return self;

  add_kernels (self, symbolization);
  add_modules (self, symbolization);
  if (self->parts->len == 0)
    return self;
  find_bases (self, symbolization);
  g_array_sort (self->parts, compare_bases);
  collect_items (self, symbolization);
  if (!symbolization->request->reads_code)
    merge_same_files (self);
  for (guint i = 0; i < self->parts->len; i++)
    list_offsets (&g_array_index (self->parts, KernelPart, i));
  return self;
}

void
sysprof_kernel_parts_free (KernelParts *self)
{
  g_array_unref (self->parts);
  g_free (self);
}

FileBatch
sysprof_kernel_part_get_batch (const KernelPart *self)
{
  return (FileBatch){
    .path = self->binary,
    .section = self->section,
    .build_id = self->build_id,
    .items = (const BatchItem *) (const void *) self->items->data,
    .n_items = self->items->len,
    .offsets = (const uint64_t *) (const void *) self->offsets->data,
    .n_offsets = self->offsets->len,
  };
}
