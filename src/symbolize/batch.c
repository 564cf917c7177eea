// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups the addresses to resolve by file.
 *
 * Many processes map the same few files, so files are compared once per mapping and not once
 * per address. The addresses are then sorted with a radix sort, least significant digit first,
 * which needs no comparisons.
 *
 * A file gets several batches if it has several paths (hard links), or if some mappings record
 * its inode and others its build ID. Such batches are adjacent, so that the parser still has
 * the file open. */

#include "symbolize/batch.h"

#include "symbolize/request.h"

#include <stdlib.h>

#define DIGIT_BITS 11
#define N_DIGITS   (1u << DIGIT_BITS)

/* --- files --- */

typedef struct
{
  const Mapping *mapping;
  uint32_t number;
  /* number of another candidate that may be the same file, or of this one. At the end all
   * candidates of one file have the same number */
  uint32_t kin;
} Candidate;

typedef struct
{
  const Mapping **file; /* [n_files] sorted */
  uint32_t n_files;
  /* [n_mappings] 1 + index into `file`; 0 = not wanted, or without pending addresses */
  uint32_t *of_mapping;
} Files;

/* Returns 0 if both mappings are of the same file. */
static int
compare_files (const Mapping *left, const Mapping *right)
{
  if (left->build_id != right->build_id)
    return left->build_id < right->build_id ? -1 : 1;
  if (left->inode != right->inode)
    return left->inode < right->inode ? -1 : 1;
  return left->path < right->path ? -1 : left->path > right->path;
}

static int
compare_candidates (const void *a, const void *b, void *data)
{
  const Candidate *left = a, *right = b;

  if (left->kin != right->kin)
    return left->kin < right->kin ? -1 : 1;
  return compare_files (left->mapping, right->mapping);
}

static bool
is_asked_for (const Symbolization *self, AddressId address)
{
  const AddressTable *addresses = &self->store->addresses;

  return addresses->kind[address] == self->request->address_kind &&
         addresses->mapping[address] != 0 && sysprof_symbolization_wants (self, address);
}

/* Consecutive mappings of a path are usually of the same file, so few candidates remain to be
 * sorted. Sets `of_mapping` to 1 + the number of the mapping's candidate. */
static GArray *
find_candidates (Files *files, const Symbolization *self, bool (*is_wanted) (const char *path))
{
  const Store *store = self->store;
  const AddressTable *addresses = &store->addresses;
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autofree uint8_t *is_used = g_new0 (uint8_t, store->n_mappings);
  g_autofree MappingId *last_of_path = g_new0 (MappingId, store->strings.n_strings);

  for (AddressId address = 1; address < addresses->n; address++)
    is_used[addresses->mapping[address]] |= is_asked_for (self, address);

  files->of_mapping = g_new0 (uint32_t, store->n_mappings);
  for (MappingId id = 1; id < store->n_mappings; id++)
    {
      Candidate candidate = { &store->mappings[id], candidates->len, candidates->len };
      MappingId last = last_of_path[candidate.mapping->path];

      if (!is_used[id])
        continue;
      last_of_path[candidate.mapping->path] = id;
      if (last != 0 && compare_files (&store->mappings[last], candidate.mapping) == 0)
        files->of_mapping[id] = files->of_mapping[last];
      else if (is_wanted (sysprof_store_string (store, candidate.mapping->path)))
        {
          g_array_append_val (candidates, candidate);
          files->of_mapping[id] = candidates->len;
        }
    }

  return candidates;
}

static uint32_t
find_kin (GArray *candidates, uint32_t number)
{
  Candidate *row = (Candidate *) (void *) candidates->data;

  while (row[number].kin != number)
    number = row[number].kin = row[row[number].kin].kin;
  return number;
}

/* Links the candidate to the last candidate with the same `known` value. 0 means that the value
 * is unknown. */
static void
join_kin (GArray *candidates, GHashTable *last, uint64_t known, uint32_t number)
{
  uint32_t one, other;
  void *found;

  if (known == 0)
    return;
  if (!g_hash_table_lookup_extended (last, &known, NULL, &found))
    {
      g_hash_table_insert (last, g_memdup2 (&known, sizeof known), GUINT_TO_POINTER (number));
      return;
    }

  one = find_kin (candidates, number);
  other = find_kin (candidates, GPOINTER_TO_UINT (found));
  g_array_index (candidates, Candidate, MAX (one, other)).kin = MIN (one, other);
}

/* The inode numbers may belong to different file systems. So whether two candidates are really
 * the same file is only decided when they are opened. */
static void
find_all_kin (GArray *candidates)
{
  g_autoptr (GHashTable) by_path =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) by_build_id =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) by_inode =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (uint32_t i = 0; i < candidates->len; i++)
    {
      const Mapping *mapping = g_array_index (candidates, Candidate, i).mapping;

      join_kin (candidates, by_path, mapping->path, i);
      join_kin (candidates, by_build_id, mapping->build_id, i);
      join_kin (candidates, by_inode, mapping->inode, i);
    }
  for (uint32_t i = 0; i < candidates->len; i++)
    g_array_index (candidates, Candidate, i).kin = find_kin (candidates, i);
}

/* Fills `files`. Returns FALSE if canceled. */
static bool
find_files (Files *files, const Symbolization *self, bool (*is_wanted) (const char *path))
{
  g_autoptr (GArray) candidates = find_candidates (files, self, is_wanted);
  g_autofree uint32_t *file_of_candidate = g_new (uint32_t, candidates->len + 1);

  find_all_kin (candidates);
  if (!sysprof_progress_sort (self->progress, candidates->data, candidates->len,
                              sizeof (Candidate), compare_candidates, NULL))
    return false;
  files->file = g_new (const Mapping *, MAX (candidates->len, 1));
  file_of_candidate[0] = 0; /* not wanted */
  for (uint32_t i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (i == 0 || compare_candidates (candidate, candidate - 1, NULL) != 0)
        files->file[files->n_files++] = candidate->mapping;
      file_of_candidate[candidate->number + 1] = files->n_files;
    }

  for (MappingId id = 1; id < self->store->n_mappings; id++)
    files->of_mapping[id] = file_of_candidate[files->of_mapping[id]];
  return true;
}

/* --- addresses --- */

static BatchItem *
collect_items (const Symbolization *self, const Files *files, uint32_t *n_items)
{
  const AddressTable *addresses = &self->store->addresses;
  BatchItem *items;
  uint32_t n = 0;

  for (AddressId address = 1; address < addresses->n; address++)
    n += is_asked_for (self, address) && files->of_mapping[addresses->mapping[address]] != 0;

  items = sysprof_large_new (MAX (n, 1), sizeof *items);
  *n_items = n;
  n = 0;
  for (AddressId address = 1; address < addresses->n; address++)
    if (is_asked_for (self, address) && files->of_mapping[addresses->mapping[address]] != 0)
      {
        uint64_t offset = sysprof_store_file_offset (self->store, address);

        offset -= addresses->is_return[address] != 0 && offset > 0;
        items[n++] =
            (BatchItem){ offset, address, files->of_mapping[addresses->mapping[address]] - 1 };
      }

  return items;
}

/* This sort is stable. It skips a pass in which all items have the same digit. */
static void
sort_by_digit (BatchItem **items, BatchItem **room, uint32_t n, unsigned shift)
{
  uint32_t place[N_DIGITS] = { 0 };
  uint32_t sum = 0;
  BatchItem *from = *items, *to = *room;

  for (uint32_t i = 0; i < n; i++)
    place[from[i].offset >> shift & (N_DIGITS - 1)]++;
  if (place[from[0].offset >> shift & (N_DIGITS - 1)] == n)
    return;

  for (unsigned i = 0; i < N_DIGITS; i++)
    {
      uint32_t here = place[i];

      place[i] = sum;
      sum += here;
    }
  for (uint32_t i = 0; i < n; i++)
    to[place[from[i].offset >> shift & (N_DIGITS - 1)]++] = from[i];

  *items = to;
  *room = from;
}

static void
sort_by_file (BatchItem **items, BatchItem **room, uint32_t n, uint32_t n_files)
{
  g_autofree uint32_t *place = g_new0 (uint32_t, (size_t) n_files + 1);
  BatchItem *from = *items, *to = *room;

  for (uint32_t i = 0; i < n; i++)
    place[from[i].file + 1]++;
  for (uint32_t i = 0; i < n_files; i++)
    place[i + 1] += place[i];
  for (uint32_t i = 0; i < n; i++)
    to[place[from[i].file]++] = from[i];

  *items = to;
  *room = from;
}

/* Sorts by file, offset and address; the input is sorted by address. If canceled, the order is
 * unspecified. */
static BatchItem *
sort_items (const Symbolization *self, BatchItem *items, uint32_t n, uint32_t n_files)
{
  BatchItem *room = sysprof_large_new (MAX (n, 1), sizeof *items);
  uint64_t all = 0;

  for (uint32_t i = 0; i < n; i++)
    all |= items[i].offset;
  for (unsigned shift = 0; n > 0 && shift < 64 && all >> shift != 0 &&
                           !sysprof_progress_is_cancelled (self->progress);
       shift += DIGIT_BITS)
    sort_by_digit (&items, &room, n, shift);
  sort_by_file (&items, &room, n, n_files);

  g_free (room);
  return items;
}

static void
fill_rows (FileBatches *batches, const Store *store, const Files *files, uint32_t n_items)
{
  uint32_t n_offsets = 0;

  for (uint32_t i = 0; i < n_items; i++)
    {
      const BatchItem *item = &batches->items[i];
      FileBatch *row = &batches->row[item->file];

      if (row->n_items++ == 0)
        {
          const Mapping *mapping = files->file[item->file];

          row->path = sysprof_store_string (store, mapping->path);
          row->build_id = sysprof_store_string (store, mapping->build_id);
          row->inode = mapping->inode;
          row->items = item;
          row->offsets = &batches->offsets[n_offsets];
        }
      if (row->n_offsets == 0 || row->offsets[row->n_offsets - 1] != item->offset)
        {
          batches->offsets[n_offsets++] = item->offset;
          row->n_offsets++;
        }
    }
}

FileBatches *
sysprof_file_batches_new (const Symbolization *self, bool (*is_wanted) (const char *path))
{
  FileBatches *batches = g_new0 (FileBatches, 1);
  Files files = { 0 };
  uint32_t n_items = 0;

  if (find_files (&files, self, is_wanted))
    {
      batches->items = collect_items (self, &files, &n_items);
      batches->items = sort_items (self, batches->items, n_items, files.n_files);
    }
  if (!sysprof_progress_is_cancelled (self->progress))
    {
      batches->offsets = g_new (uint64_t, MAX (n_items, 1));
      batches->n = files.n_files;
      batches->row = g_new0 (FileBatch, MAX (files.n_files, 1));
      fill_rows (batches, self->store, &files, n_items);
    }

  g_free (files.file);
  g_free (files.of_mapping);
  return batches;
}

void
sysprof_file_batches_free (FileBatches *batches)
{
  g_free (batches->row);
  g_free (batches->items);
  g_free (batches->offsets);
  g_free (batches);
}
