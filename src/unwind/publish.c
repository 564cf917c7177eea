// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes tables into slabs, mappings into lists, and processes into slots, while the walker in
 * the kernel reads them.
 *
 * Readers follow process → list → pages → block. So the writer starts at the end: blocks, then
 * the directory, then the list, and last the slot of the process, each with a barrier before
 * the next. Removed data stays unchanged for a while, so that a walk that has begun sees
 * consistent data. There is no other synchronization: a walk takes microseconds. */

#include "unwind/range-pool.h"
#include "unwind/unwind.h"

#include <glib.h>
#include <string.h>

/* How long removed data stays unchanged, and the minimum if space is short. A walk runs with
 * interrupts off, but a virtual CPU can be stopped in the middle of it. */
#define GRACE_USEC       (1000 * G_TIME_SPAN_MILLISECOND)
#define LEAST_GRACE_USEC (20 * G_TIME_SPAN_MILLISECOND)

typedef enum
{
  POOL_BLOCKS,   /* words of all slabs */
  POOL_PAGES,    /* entries of the directory */
  POOL_MAPPINGS, /* entries of all lists */
  N_POOLS
} PoolKind;

typedef struct
{
  PoolKind kind;
  uint64_t start;
  uint64_t size;
  int64_t since_usec;
} TakenBack;

struct UnwindFile
{
  uint32_t n_references;
  uint64_t start; /* link-time address of its first page */
  uint32_t first_page;
  uint32_t n_pages;
  size_t n_bytes;
};

typedef struct
{
  UnwindProcess *slot;
  uint32_t first;
  uint32_t n;
  UnwindFile **file; /* [n] */
} PublishedProcess;

struct UnwindPublisher
{
  UnwindMemory memory;
  UnwindMakeSlab make_slab; /* NULL: slabs are ordinary memory */
  void *make_slab_data;
  RangePool pool[N_POOLS];
  GQueue taken_back;     /* TakenBack, oldest first */
  GHashTable *processes; /* pid → PublishedProcess */
  uint32_t generation;
  uint32_t n_files;
  uint32_t n_known_files;
  uint32_t n_slabs;
  size_t table_bytes;
  uint64_t n_refused;
};

/* --- space --- */

static void
reclaim (UnwindPublisher *self, int64_t now_usec, int64_t grace_usec)
{
  TakenBack *oldest;

  while ((oldest = g_queue_peek_head (&self->taken_back)) != NULL &&
         now_usec - oldest->since_usec >= grace_usec)
    {
      sysprof_range_pool_give_back (&self->pool[oldest->kind], oldest->start, oldest->size);
      g_free (g_queue_pop_head (&self->taken_back));
    }
}

static void
take_back (UnwindPublisher *self,
           PoolKind kind,
           uint64_t start,
           uint64_t size,
           int64_t now_usec)
{
  const TakenBack range = { kind, start, size, now_usec };

  if (size > 0)
    g_queue_push_tail (&self->taken_back, g_memdup2 (&range, sizeof range));
}

static bool
take (UnwindPublisher *self, PoolKind kind, uint64_t size, int64_t now_usec, uint32_t *start)
{
  RangePool *pool = &self->pool[kind];
  uint64_t found;

  reclaim (self, now_usec, GRACE_USEC);
  if (!sysprof_range_pool_take (pool, size, &found))
    {
      reclaim (self, now_usec, LEAST_GRACE_USEC);
      if (!sysprof_range_pool_take (pool, size, &found))
        return false;
    }

  *start = (uint32_t) found;
  return true;
}

static bool
has_slab (UnwindPublisher *self, uint32_t index)
{
  uint8_t **slab = &self->memory.slab[index];

  if (*slab == NULL)
    {
      *slab = self->make_slab != NULL ? self->make_slab (self->make_slab_data, index)
                                      : g_try_malloc0 (UNWIND_SLAB_SIZE);
      self->n_slabs += *slab != NULL;
    }
  return *slab != NULL;
}

/* --- files --- */

/* Invalidates the caches of walks. */
static void
count_change (UnwindPublisher *self)
{
  uint32_t *version = &self->memory.index->version;

  __atomic_store_n (version, *version + 1, __ATOMIC_RELEASE);
}

/* The position of a block is a number of words from the start of all slabs; directory entries
 * contain the same number. */
#define WORD                4u
#define WORDS_PER_SLAB      (UNWIND_SLAB_SIZE / WORD)
#define SLAB_OF(position)   ((position) / WORDS_PER_SLAB)
#define OFFSET_OF(position) ((position) % WORDS_PER_SLAB * WORD)

static bool
add_block (UnwindPublisher *self,
           const UnwindTable *table,
           uint32_t page,
           int64_t now_usec,
           uint32_t *entry)
{
  size_t size = sysprof_unwind_table_block_size (table, page);
  uint32_t position;

  *entry = 0;
  if (size == 0)
    return true;
  if (!take (self, POOL_BLOCKS, size / WORD, now_usec, &position))
    return false;
  if (!has_slab (self, SLAB_OF (position)))
    {
      sysprof_range_pool_give_back (&self->pool[POOL_BLOCKS], position, size / WORD);
      return false;
    }

  memcpy (self->memory.slab[SLAB_OF (position)] + OFFSET_OF (position),
          table->bytes + table->block[page], size);
  *entry = UNWIND_PAGE_MAKE (SLAB_OF (position), OFFSET_OF (position));
  self->table_bytes += size;
  return true;
}

static size_t
block_size (const UnwindPublisher *self, uint32_t entry)
{
  const uint16_t *first =
      (const uint16_t *) (const void *) (self->memory.slab[UNWIND_PAGE_SLAB (entry)] +
                                         UNWIND_PAGE_OFFSET (entry));

  return UNWIND_BLOCK_SIZE (first[UNWIND_BLOCKS + 1], first[UNWIND_BLOCKS]);
}

/* The entries of the directory stay, because a walk may be reading them. They are overwritten
 * when their position is reused. */
static void
take_back_pages (UnwindPublisher *self,
                 uint32_t first_page,
                 uint32_t n_written,
                 uint32_t n_pages,
                 int64_t now_usec)
{
  for (uint32_t i = 0; i < n_written; i++)
    {
      uint32_t entry = self->memory.index->page[first_page + i];

      if (entry == 0)
        continue;
      self->table_bytes -= block_size (self, entry);
      take_back (self, POOL_BLOCKS,
                 (uint64_t) UNWIND_PAGE_SLAB (entry) * WORDS_PER_SLAB +
                     UNWIND_PAGE_OFFSET (entry) / WORD,
                 block_size (self, entry) / WORD, now_usec);
    }
  take_back (self, POOL_PAGES, first_page, n_pages, now_usec);
  count_change (self);
}

UnwindFile *
sysprof_unwind_publisher_add_table (UnwindPublisher *self,
                                    const UnwindTable *table,
                                    int64_t now_usec)
{
  const UnwindTableHeader *header = table->header;
  UnwindFile *file;
  uint32_t first;

  if (!take (self, POOL_PAGES, header->n_pages, now_usec, &first))
    {
      self->n_refused++;
      return NULL;
    }
  for (uint32_t i = 0; i < header->n_pages; i++)
    {
      uint32_t entry;

      if (!add_block (self, table, i, now_usec, &entry))
        {
          take_back_pages (self, first, i, header->n_pages, now_usec);
          self->n_refused++;
          return NULL;
        }
      __atomic_store_n (&self->memory.index->page[first + i], entry, __ATOMIC_RELEASE);
    }

  file = g_new0 (UnwindFile, 1);
  *file = (UnwindFile){
    .n_references = 1,
    .start = header->start,
    .first_page = first,
    .n_pages = header->n_pages,
  };
  self->n_files++;
  return file;
}

UnwindFile *
sysprof_unwind_file_ref (UnwindFile *file)
{
  file->n_references++;
  return file;
}

void
sysprof_unwind_file_unref (UnwindPublisher *self, UnwindFile *file, int64_t now_usec)
{
  if (file == NULL || --file->n_references > 0)
    return;

  take_back_pages (self, file->first_page, file->n_pages, file->n_pages, now_usec);
  self->n_files--;
  g_free (file);
}

/* --- files, for walks that find mappings in the kernel --- */

static UnwindFileSlot *
get_file_slot (UnwindPublisher *self, uint32_t slot)
{
  return &self->memory.index->file[slot & (UNWIND_FILE_SLOTS - 1)];
}

/* The slot of the file, or else a free one; NULL: neither. */
static UnwindFileSlot *
find_file_slot (UnwindPublisher *self, const UnwindFileKey *key)
{
  uint32_t first = sysprof_unwind_file_slot (key->inode, key->device);
  UnwindFileSlot *free_slot = NULL;

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++)
    {
      UnwindFileSlot *slot = get_file_slot (self, first + i);

      if (slot->inode == key->inode && slot->device == key->device)
        return slot;
      if (free_slot == NULL && (slot->inode == 0 || slot->inode == FILE_GONE))
        free_slot = slot;
      if (slot->inode == 0)
        break;
    }
  return free_slot;
}

/* File offsets replace addresses. The kernel maps complete pages. */
static UnwindMapping
to_segment (const UnwindFile *file, const ElfCode *segment)
{
  const uint64_t in_page = UINT64_C (4095);

  return (UnwindMapping){
    .start = segment->offset & ~in_page,
    .end = (segment->offset + (segment->end - segment->start) + in_page) & ~in_page,
    .origin = file->start + segment->offset - segment->start,
    .first_page = file->first_page,
    .n_pages = file->n_pages,
  };
}

static void
set_file_list (UnwindPublisher *self, UnwindFileSlot *slot, uint64_t list, int64_t now_usec)
{
  uint64_t old = slot->list;

  __atomic_store_n (&slot->list, list, __ATOMIC_RELEASE);
  count_change (self);
  take_back (self, POOL_MAPPINGS, PROCESS_LIST_FIRST (old), PROCESS_LIST_COUNT (old), now_usec);
}

/* `without`: one of MAPPING_…, if `file` is NULL. */
static bool
set_file (UnwindPublisher *self,
          const UnwindFileKey *key,
          UnwindFile *file,
          const UnwindTableHeader *header,
          uint32_t without,
          int64_t now_usec)
{
  UnwindFileSlot *slot = find_file_slot (self, key);
  uint32_t n = file != NULL ? header->n_segments : 0;
  uint32_t first = without;

  if (slot == NULL || key->inode == 0 || key->inode == FILE_GONE || n > UNWIND_MOST_SEGMENTS ||
      (n > 0 && !take (self, POOL_MAPPINGS, n, now_usec, &first)))
    {
      self->n_refused++;
      return false;
    }

  for (uint32_t i = 0; i < n; i++)
    self->memory.index->mapping[first + i] = to_segment (file, &header->segment[i]);
  if (slot->inode == key->inode)
    {
      /* The slot is pending while the key changes: no walk may find the old table under the new
       * key. */
      if (slot->size != key->size || slot->generation != key->generation)
        set_file_list (self, slot, PROCESS_LIST (MAPPING_PENDING, 0), now_usec);
      __atomic_store_n (&slot->size, key->size, __ATOMIC_RELEASE);
      __atomic_store_n (&slot->generation, key->generation, __ATOMIC_RELEASE);
      set_file_list (self, slot, PROCESS_LIST (first, n), now_usec);
      return true;
    }

  slot->size = key->size;
  slot->device = key->device;
  slot->generation = key->generation;
  slot->list = PROCESS_LIST (first, n);
  __atomic_store_n (&slot->inode, key->inode, __ATOMIC_RELEASE);
  count_change (self);
  self->n_known_files++;
  return true;
}

bool
sysprof_unwind_publisher_set_file (UnwindPublisher *self,
                                   const UnwindFileKey *key,
                                   UnwindFile *file,
                                   const UnwindTableHeader *header,
                                   int64_t now_usec)
{
  return set_file (self, key, file, header, MAPPING_WITHOUT_RULES, now_usec);
}

bool
sysprof_unwind_publisher_set_failed_file (UnwindPublisher *self,
                                          const UnwindFileKey *key,
                                          int64_t now_usec)
{
  return set_file (self, key, NULL, NULL, MAPPING_FAILED, now_usec);
}

void
sysprof_unwind_publisher_drop_file (UnwindPublisher *self,
                                    const UnwindFileKey *key,
                                    int64_t now_usec)
{
  UnwindFileSlot *slot = find_file_slot (self, key);
  uint32_t at;

  if (slot == NULL || slot->inode != key->inode || key->inode == 0 || key->inode == FILE_GONE)
    return;

  __atomic_store_n (&slot->inode, FILE_GONE, __ATOMIC_RELEASE);
  set_file_list (self, slot, PROCESS_LIST (MAPPING_PENDING, 0), now_usec);
  self->n_known_files--;

  /* A slot with a collision chain stays marked until nothing follows it. */
  at = (uint32_t) (slot - self->memory.index->file);
  if (get_file_slot (self, at + 1)->inode != 0)
    return;
  for (; get_file_slot (self, at)->inode == FILE_GONE; at--)
    __atomic_store_n (&get_file_slot (self, at)->inode, 0, __ATOMIC_RELEASE);
}

/* --- processes --- */

static UnwindProcess *
get_slot (UnwindPublisher *self, uint32_t slot)
{
  return &self->memory.index->process[slot & (UNWIND_PROCESS_SLOTS - 1)];
}

static UnwindProcess *
find_free_slot (UnwindPublisher *self, uint32_t pid)
{
  uint32_t first = sysprof_unwind_slot (pid);

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++)
    {
      UnwindProcess *slot = get_slot (self, first + i);

      if (slot->pid == 0 || slot->pid == PROCESS_GONE)
        return slot;
    }
  return NULL;
}

/* A slot with a collision chain stays marked until nothing follows it. */
static void
leave_slot (UnwindPublisher *self, UnwindProcess *slot)
{
  uint32_t at = (uint32_t) (slot - self->memory.index->process);

  __atomic_store_n (&slot->pid, PROCESS_GONE, __ATOMIC_RELEASE);
  if (get_slot (self, at + 1)->pid != 0)
    return;
  for (; get_slot (self, at)->pid == PROCESS_GONE; at--)
    __atomic_store_n (&get_slot (self, at)->pid, 0, __ATOMIC_RELEASE);
}

static void
take_back_list (UnwindPublisher *self, PublishedProcess *process, int64_t now_usec)
{
  take_back (self, POOL_MAPPINGS, process->first, process->n, now_usec);
  for (uint32_t i = 0; i < process->n; i++)
    sysprof_unwind_file_unref (self, process->file[i], now_usec);
  g_clear_pointer (&process->file, g_free);
  process->n = 0;
}

static UnwindMapping
to_mapping (const UnwindProcessMapping *mapping)
{
  const UnwindFile *file = mapping->file;

  return (UnwindMapping){
    .start = mapping->start,
    .end = mapping->end,
    .origin = file != NULL ? file->start + mapping->bias : mapping->start,
    .first_page = file != NULL          ? file->first_page
                  : mapping->is_pending ? MAPPING_PENDING
                  : mapping->has_failed ? MAPPING_FAILED
                                        : MAPPING_WITHOUT_RULES,
    .n_pages = file != NULL ? file->n_pages : 0,
  };
}

bool
sysprof_unwind_publisher_set_process (UnwindPublisher *self,
                                      uint32_t pid,
                                      const UnwindProcessMapping *mappings,
                                      uint32_t n_mappings,
                                      int64_t now_usec)
{
  PublishedProcess *process = g_hash_table_lookup (self->processes, GUINT_TO_POINTER (pid));
  PublishedProcess fresh = { 0 };

  /* Excludes the vsyscall page: the walker ignores addresses in the kernel's half, and no code
   * is called from there. */
  while (n_mappings > 0 && mappings[n_mappings - 1].end >> 63 != 0)
    n_mappings--;
  fresh.n = n_mappings;

  if (process != NULL)
    fresh.slot = process->slot;
  else
    fresh.slot = pid == 0 || pid == PROCESS_GONE ? NULL : find_free_slot (self, pid);
  if (fresh.slot == NULL ||
      (n_mappings > 0 && !take (self, POOL_MAPPINGS, n_mappings, now_usec, &fresh.first)))
    {
      /* An incomplete list would cause wrong stacks; without a list, stacks are only
       * truncated. */
      sysprof_unwind_publisher_drop_process (self, pid, now_usec);
      self->n_refused++;
      return false;
    }

  fresh.file = g_new (UnwindFile *, n_mappings);
  for (uint32_t i = 0; i < n_mappings; i++)
    {
      self->memory.index->mapping[fresh.first + i] = to_mapping (&mappings[i]);
      fresh.file[i] =
          mappings[i].file != NULL ? sysprof_unwind_file_ref (mappings[i].file) : NULL;
    }

  __atomic_store_n (&fresh.slot->list, PROCESS_LIST (fresh.first, n_mappings),
                    __ATOMIC_RELEASE);
  if (process == NULL)
    {
      fresh.slot->generation = ++self->generation;
      __atomic_store_n (&fresh.slot->pid, pid, __ATOMIC_RELEASE);
      process = g_new0 (PublishedProcess, 1);
      g_hash_table_insert (self->processes, GUINT_TO_POINTER (pid), process);
    }
  else
    take_back_list (self, process, now_usec);
  *process = fresh;
  return true;
}

void
sysprof_unwind_publisher_drop_process (UnwindPublisher *self, uint32_t pid, int64_t now_usec)
{
  PublishedProcess *process = g_hash_table_lookup (self->processes, GUINT_TO_POINTER (pid));

  if (process == NULL)
    return;
  leave_slot (self, process->slot);
  take_back_list (self, process, now_usec);
  g_hash_table_remove (self->processes, GUINT_TO_POINTER (pid));
}

/* --- the publisher --- */

UnwindPublisher *
sysprof_unwind_publisher_new (UnwindIndex *index, UnwindMakeSlab make_slab, void *data)
{
  UnwindPublisher *self = g_new0 (UnwindPublisher, 1);
  uint64_t never_used;

  self->memory.index = index;
  self->make_slab = make_slab;
  self->make_slab_data = data;
  self->processes = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_queue_init (&self->taken_back);
  sysprof_range_pool_init (&self->pool[POOL_BLOCKS],
                           (uint64_t) UNWIND_MOST_SLABS * WORDS_PER_SLAB, WORDS_PER_SLAB);
  sysprof_range_pool_init (&self->pool[POOL_PAGES], UNWIND_MOST_PAGES, 0);
  sysprof_range_pool_init (&self->pool[POOL_MAPPINGS], UNWIND_MOST_MAPPINGS, 0);

  /* So that no block has the directory entry 0. */
  (void) sysprof_range_pool_take (&self->pool[POOL_BLOCKS], 1, &never_used);
  return self;
}

void
sysprof_unwind_publisher_free (UnwindPublisher *self)
{
  GHashTableIter iter;
  gpointer process;

  if (self == NULL)
    return;

  g_hash_table_iter_init (&iter, self->processes);
  while (g_hash_table_iter_next (&iter, NULL, &process))
    take_back_list (self, process, 0);
  g_hash_table_unref (self->processes);
  g_queue_clear_full (&self->taken_back, g_free);
  for (unsigned i = 0; i < N_POOLS; i++)
    sysprof_range_pool_clear (&self->pool[i]);
  for (unsigned i = 0; i < UNWIND_MOST_SLABS && self->make_slab == NULL; i++)
    g_free (self->memory.slab[i]);
  g_free (self);
}

const UnwindMemory *
sysprof_unwind_publisher_get_memory (const UnwindPublisher *self)
{
  return &self->memory;
}

UnwindUse
sysprof_unwind_publisher_get_use (const UnwindPublisher *self)
{
  return (UnwindUse){
    .table_bytes = self->table_bytes,
    .slab_bytes = (size_t) self->n_slabs * UNWIND_SLAB_SIZE,
    .n_files = self->n_files,
    .n_known_files = self->n_known_files,
    .n_processes = g_hash_table_size (self->processes),
    .n_mappings = (uint32_t) self->pool[POOL_MAPPINGS].n_used,
    .n_pages = (uint32_t) self->pool[POOL_PAGES].n_used,
    .n_refused = self->n_refused,
  };
}
