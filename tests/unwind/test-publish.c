// SPDX-License-Identifier: GPL-3.0-or-later

/* The walker finds published tables. A table that was taken back stays unchanged for a
 * while, and its memory is used again after that. */

#include "tests/unwind/make-elf.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <unistd.h>

#define SECOND      G_TIME_SPAN_SECOND
#define PID         77
#define BIAS        UINT64_C (0x7f0000000000)
#define RSP(offset) RULE_MAKE (RULE_SP, offset, SLOT_UNCHANGED)

typedef struct
{
  UnwindIndex *index;
  UnwindPublisher *publisher;
  const UnwindMemory *memory;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->index = g_new0 (UnwindIndex, 1);
  self->publisher = sysprof_unwind_publisher_new (self->index, NULL, NULL);
  self->memory = sysprof_unwind_publisher_get_memory (self->publisher);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_unwind_publisher_free (self->publisher);
  g_free (self->index);
}

/* A table of `n_pages` pages in which all of the text has the rule RSP + `offset`; made by
 * hand. */
static UnwindTable
make_table (uint32_t n_pages, uint32_t offset)
{
  const size_t block_size = UNWIND_BLOCK_SIZE (1, 1);
  size_t blocks = sizeof (UnwindTableHeader) + n_pages * sizeof (uint32_t);
  size_t size = blocks + n_pages * block_size;
  uint8_t *bytes = calloc (1, size);
  UnwindTableHeader header = { .magic = UNWIND_TABLE_MAGIC, .n_pages = n_pages, .start = TEXT };
  uint32_t *directory = (uint32_t *) (void *) (bytes + sizeof header);
  UnwindTable table;

  memcpy (bytes, &header, sizeof header);
  for (uint32_t i = 0; i < n_pages; i++)
    {
      uint8_t *block = bytes + blocks + i * block_size;
      uint16_t *first = (uint16_t *) (void *) block;
      uint32_t rule = RSP (offset);

      directory[i] = (uint32_t) (block - bytes);
      for (uint32_t k = 1; k <= UNWIND_BLOCKS; k++)
        first[k] = 1;
      first[UNWIND_BLOCKS + 1] = 1;
      memcpy (block + UNWIND_RULES_OFFSET, &rule, sizeof rule);
    }

  g_assert_true (sysprof_unwind_table_adopt (&table, bytes, size));
  return table;
}

static UnwindFile *
add_file (Fixture *self, uint32_t n_pages, uint32_t offset, int64_t now)
{
  UnwindTable table = make_table (n_pages, offset);
  UnwindFile *file = sysprof_unwind_publisher_add_table (self->publisher, &table, now);

  sysprof_unwind_table_clear (&table);
  return file;
}

static bool
set_one (Fixture *self, uint32_t pid, UnwindFile *file, int64_t now)
{
  UnwindProcessMapping mapping = {
    .start = BIAS + TEXT, .end = BIAS + TEXT + 0x20000, .bias = BIAS, .file = file
  };

  return sysprof_unwind_publisher_set_process (self->publisher, pid, &mapping, 1, now);
}

static uint32_t
find (Fixture *self, uint32_t pid, uint64_t address)
{
  return sysprof_unwind_find_rule (self->memory, pid, address);
}

static const UnwindProcess *
slot_of (Fixture *self, uint32_t pid)
{
  for (uint32_t i = 0; i < UNWIND_PROCESS_SLOTS; i++)
    if (self->index->process[i].pid == pid)
      return &self->index->process[i];
  return NULL;
}

/* The C library that this runs with, by every one of its addresses, against a search through
 * the rows from the first. */
static void
test_finds_what_a_naive_search_finds (Fixture *self, gconstpointer data)
{
  struct link_map *map;
  void *library = dlopen ("libc.so.6", RTLD_LAZY);
  UnwindProcessMapping mapping = { 0 };
  const ElfCode *code;
  UnwindTable table;
  ElfImage *image;
  uint64_t address;
  int fd;

  g_assert_nonnull (library);
  g_assert_cmpint (dlinfo (library, RTLD_DI_LINKMAP, &map), ==, 0);
  fd = open (map->l_name, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (sysprof_elf_image_open (fd, &image), ==, ELF_OK);
  g_assert_cmpint (sysprof_unwind_table_build (image, NULL, &table), ==, ELF_OK);
  code = &table.header->segment[0];

  mapping.start = BIAS + (code->start & ~UINT64_C (4095));
  mapping.end = BIAS + ((code->end + 4095) & ~UINT64_C (4095));
  g_assert_true (sysprof_unwind_table_bias (&table, mapping.start, mapping.end,
                                            code->offset & ~UINT64_C (4095), &mapping.bias));
  g_assert_cmphex (mapping.bias, ==, BIAS);
  mapping.file = sysprof_unwind_publisher_add_table (self->publisher, &table, 0);
  g_assert_true (sysprof_unwind_publisher_set_process (self->publisher, PID, &mapping, 1, 0));
  sysprof_unwind_file_unref (self->publisher, mapping.file, 0);

  address = table.header->start;
  for (uint32_t page = 0; page < table.header->n_pages; page++)
    {
      const uint16_t *first =
          (const uint16_t *) (const void *) (table.bytes + table.block[page]);
      uint32_t n_rules = first[UNWIND_BLOCKS + 1], next = 0, rule = RULE_NONE;
      const uint32_t *rules = (const uint32_t *) (const void *) (first + UNWIND_BLOCKS + 2);
      const uint16_t *row = (const uint16_t *) (const void *) (rules + n_rules);

      for (uint32_t i = 0; i < UNWIND_PAGE_SIZE; i++, address++)
        {
          while (table.block[page] != 0 && next < first[UNWIND_BLOCKS] &&
                 next < first[(i >> 8) + 1] && row[next] >> 8 == (i & 255))
            rule = rules[row[next++] & 255];
          if (address + BIAS >= mapping.start && address + BIAS < mapping.end)
            g_assert_cmphex (find (self, PID, address + BIAS), ==, rule);
          else
            g_assert_cmphex (find (self, PID, address + BIAS), ==, RULE_NONE);
        }
    }

  sysprof_unwind_table_clear (&table);
  sysprof_elf_image_free (image);
  close (fd);
  dlclose (library);
}

static void
test_bias_of_odd_segments (void)
{
  UnwindTable table = make_table (4, 8);
  UnwindTableHeader header = *table.header;
  uint64_t bias;

  /* As lld lays them out: the segment begins in the middle of a page that its mapping holds
   * whole. */
  header.n_segments = 2;
  header.segment[0] = (ElfCode){ .start = 0x11040, .end = 0x13000, .offset = 0x1040 };
  header.segment[1] = (ElfCode){ .start = 0x24000, .end = 0x24100, .offset = 0x3000 };
  memcpy (table.bytes, &header, sizeof header);

  g_assert_true (
      sysprof_unwind_table_bias (&table, 0x7f0000011000, 0x7f0000013000, 0x1000, &bias));
  g_assert_cmphex (bias, ==, 0x7f0000000000);
  g_assert_true (
      sysprof_unwind_table_bias (&table, 0x7f0000024000, 0x7f0000025000, 0x3000, &bias));
  g_assert_cmphex (bias, ==, 0x7f0000000000);
  g_assert_true (
      sysprof_unwind_table_bias (&table, 0x7f0000012000, 0x7f0000013000, 0x2000, &bias));
  g_assert_cmphex (bias, ==, 0x7f0000000000);
  g_assert_false (sysprof_unwind_table_bias (&table, 0x7f0000000000, 0x7f0000001000, 0, &bias));
  g_assert_false (
      sysprof_unwind_table_bias (&table, 0x7f0000000000, 0x7f0000001000, 0x4000, &bias));
  sysprof_unwind_table_clear (&table);
}

static void
test_lists_live_on_for_a_while (Fixture *self, gconstpointer data)
{
  UnwindFile *old = add_file (self, 2, 8, 0), *fresh = add_file (self, 2, 16, 0);
  uint32_t first_page, first_list, generation, entry;

  g_assert_true (set_one (self, PID, old, 0));
  sysprof_unwind_file_unref (self->publisher, old, 0);
  generation = slot_of (self, PID)->generation;
  first_list = PROCESS_LIST_FIRST (slot_of (self, PID)->list);
  first_page = self->index->mapping[first_list].first_page;
  entry = self->index->page[first_page];
  g_assert_cmphex (find (self, PID, BIAS + TEXT), ==, RSP (8));

  /* Another list: beside the old one, and of the same generation. */
  g_assert_true (set_one (self, PID, fresh, SECOND));
  g_assert_cmphex (find (self, PID, BIAS + TEXT), ==, RSP (16));
  g_assert_cmpuint (PROCESS_LIST_FIRST (slot_of (self, PID)->list), !=, first_list);
  g_assert_cmpuint (slot_of (self, PID)->generation, ==, generation);

  /* A walk in progress finds all of the old table, until a second has passed. */
  g_assert_true (set_one (self, PID + 1, fresh, 2 * SECOND - 1));
  g_assert_cmphex (self->index->mapping[first_list].start, ==, BIAS + TEXT);
  g_assert_cmpuint (self->index->mapping[first_list].first_page, ==, first_page);
  g_assert_cmphex (self->index->page[first_page], ==, entry);

  g_assert_true (set_one (self, PID + 2, fresh, 2 * SECOND));
  g_assert_cmpuint (PROCESS_LIST_FIRST (slot_of (self, PID + 2)->list), ==, first_list);
  sysprof_unwind_file_unref (self->publisher, fresh, 2 * SECOND);

  old = add_file (self, 2, 24, 3 * SECOND);
  g_assert_cmphex (self->index->page[first_page], ==, entry); /* where the old one was */
  g_assert_cmphex (find (self, PID, BIAS + TEXT), ==, RSP (16));
  sysprof_unwind_file_unref (self->publisher, old, 3 * SECOND);
}

static void
test_exec_makes_a_generation (Fixture *self, gconstpointer data)
{
  UnwindFile *file = add_file (self, 2, 8, 0);
  uint32_t generation;

  g_assert_true (set_one (self, PID, file, 0));
  generation = slot_of (self, PID)->generation;
  sysprof_unwind_publisher_drop_process (self->publisher, PID, 0);
  g_assert_null (slot_of (self, PID));
  g_assert_cmphex (find (self, PID, BIAS + TEXT), ==, RULE_NONE);

  g_assert_true (set_one (self, PID, file, 0));
  g_assert_cmpuint (slot_of (self, PID)->generation, !=, generation);
  sysprof_unwind_file_unref (self->publisher, file, 0);
}

/* The kernel's numbers come around: what is found stays right, whoever else has come and gone
 * in the same slots. */
static void
test_slots_against_a_hash_table (Fixture *self, gconstpointer data)
{
  g_autoptr (GHashTable) truth = g_hash_table_new (NULL, NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  UnwindFile *files[4];
  unsigned n_refused = 0;

  for (unsigned i = 0; i < 4; i++)
    files[i] = add_file (self, 2, 8 + 8 * i, 0);
  for (unsigned i = 0; i < 200000; i++)
    {
      /* Few enough numbers that they meet, and come back. */
      uint32_t pid = (uint32_t) g_rand_int_range (random, 1, 12000);
      unsigned which = (unsigned) g_rand_int_range (random, 0, 4);
      int64_t now = i * G_TIME_SPAN_MILLISECOND;

      if (g_rand_boolean (random))
        {
          sysprof_unwind_publisher_drop_process (self->publisher, pid, now);
          g_hash_table_remove (truth, GUINT_TO_POINTER (pid));
        }
      else if (set_one (self, pid, files[which], now))
        {
          g_hash_table_insert (truth, GUINT_TO_POINTER (pid),
                               GUINT_TO_POINTER (RSP (8 + 8 * which)));
        }
      else
        {
          g_hash_table_remove (truth, GUINT_TO_POINTER (pid));
          n_refused++;
        }
    }

  for (uint32_t pid = 1; pid < 12000; pid++)
    g_assert_cmphex (find (self, pid, BIAS + TEXT), ==,
                     GPOINTER_TO_UINT (g_hash_table_lookup (truth, GUINT_TO_POINTER (pid))));
  g_assert_cmpuint (n_refused, <, 20);
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (self->publisher).n_processes, ==,
                    g_hash_table_size (truth));
  for (unsigned i = 0; i < 4; i++)
    sysprof_unwind_file_unref (self->publisher, files[i], 0);
}

/* --- files that walks in the kernel request --- */

static const UnwindFileSlot *
file_slot_of (Fixture *self, uint64_t inode, uint32_t device)
{
  uint32_t at = sysprof_unwind_file_slot (inode, device);

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++)
    {
      const UnwindFileSlot *slot = &self->index->file[(at + i) & (UNWIND_FILE_SLOTS - 1)];

      if (slot->inode == 0)
        return NULL;
      if (slot->inode == inode && slot->device == device)
        return slot;
    }
  return NULL;
}

/* The cache of walks belongs to one version of the index. */
static void
test_changes_are_counted (Fixture *self, gconstpointer data)
{
  const UnwindFileKey key = { 12, 34567, UNWIND_DEVICE (254, 1), 89 };
  UnwindFile *file = add_file (self, 2, 8, 0);
  UnwindTableHeader header = { .start = TEXT,
                               .n_segments = 1,
                               .segment = { { TEXT, TEXT + 0x1000, 0 } } };
  uint32_t version = self->index->version;

  g_assert_true (sysprof_unwind_publisher_set_file (self->publisher, &key, NULL, NULL, 0));
  g_assert_cmpuint (self->index->version, !=, version);
  version = self->index->version;

  g_assert_true (sysprof_unwind_publisher_set_file (self->publisher, &key, file, &header, 0));
  g_assert_cmpuint (self->index->version, !=, version);
  version = self->index->version;

  sysprof_unwind_publisher_drop_file (self->publisher, &key, 1);
  g_assert_cmpuint (self->index->version, !=, version);
  version = self->index->version;

  sysprof_unwind_file_unref (self->publisher, file, 1);
  g_assert_cmpuint (self->index->version, !=, version);
}

/* Segments as a linker lays them out: link-time addresses and places in the file are not the
 * same. */
static void
test_file_has_its_segments (Fixture *self, gconstpointer data)
{
  const UnwindFileKey key = { 12, 34567, UNWIND_DEVICE (254, 1), 89 };
  UnwindFile *file = add_file (self, 2, 8, 0);
  UnwindTableHeader header = {
    .start = TEXT,
    .n_segments = 2,
    .segment = { { TEXT + 0x340, TEXT + 0x1340, 0x2340 },
                 { TEXT + 0x11000, TEXT + 0x11010, 0x4000 } },
  };
  const UnwindMapping *segment;
  const UnwindFileSlot *slot;

  g_assert_true (sysprof_unwind_publisher_set_file (self->publisher, &key, file, &header, 0));
  slot = file_slot_of (self, 12, UNWIND_DEVICE (254, 1));
  g_assert_nonnull (slot);
  g_assert_cmpuint (slot->size, ==, 34567);
  g_assert_cmpuint (slot->generation, ==, 89);
  g_assert_cmpuint (PROCESS_LIST_COUNT (slot->list), ==, 2);

  /* Byte 0x2340 of the file is at TEXT + 0x340, so the page of TEXT would begin at byte 0x2000;
   * the second's 0x13000 before its byte 0x4000. */
  segment = &self->index->mapping[PROCESS_LIST_FIRST (slot->list)];
  g_assert_cmphex (segment[0].start, ==, 0x2000);
  g_assert_cmphex (segment[0].end, ==, 0x4000);
  g_assert_cmphex (segment[0].origin, ==, 0x2000);
  g_assert_cmphex (segment[1].start, ==, 0x4000);
  g_assert_cmphex (segment[1].end, ==, 0x5000);
  g_assert_cmphex (segment[1].origin, ==, UINT64_C (0x4000) - 0x11000);
  g_assert_cmpuint (segment[1].n_pages, ==, 2);
  g_assert_cmpuint (segment[1].first_page, ==, segment[0].first_page);

  /* Another file under the same number. */
  g_assert_true (sysprof_unwind_publisher_set_file (
      self->publisher, &(UnwindFileKey){ 12, 1, UNWIND_DEVICE (254, 1), 90 }, NULL, NULL, 1));
  g_assert_cmpuint (slot->size, ==, 1);
  g_assert_cmpuint (slot->generation, ==, 90);
  g_assert_cmphex (slot->list, ==, PROCESS_LIST (MAPPING_WITHOUT_RULES, 0));

  sysprof_unwind_publisher_drop_file (self->publisher, &key, 1);
  g_assert_null (file_slot_of (self, 12, UNWIND_DEVICE (254, 1)));
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (self->publisher).n_known_files, ==, 0);
  sysprof_unwind_file_unref (self->publisher, file, 1);
}

/* Frame pointers that lead nowhere end a walk for another reason where there might have been a
 * table. */
static void
test_failed_file_is_told_apart (Fixture *self, gconstpointer data)
{
  const UnwindStart start = { .ip = BIAS + TEXT + 8, .sp = 0x7000, .fp = 1, .is_exact = true };
  const UnwindStack stack = { .start = 0x7000 };
  UnwindProcessMapping mapping = { .start = BIAS + TEXT, .end = BIAS + TEXT + 0x1000 };
  const UnwindFileKey key = { 12, 34567, 0, 0 };
  uint64_t address[4];

  for (unsigned failed = 0; failed < 2; failed++)
    {
      mapping.has_failed = failed != 0;
      g_assert_true (
          sysprof_unwind_publisher_set_process (self->publisher, PID, &mapping, 1, 0));
      g_assert_cmpint (
          sysprof_unwind_walk (self->memory, PID, &start, &stack, address, 4).reason, ==,
          failed ? WALK_TABLE_FAILED : WALK_BAD_FP);
    }

  g_assert_true (sysprof_unwind_publisher_set_failed_file (self->publisher, &key, 0));
  g_assert_cmphex (file_slot_of (self, 12, 0)->list, ==, PROCESS_LIST (MAPPING_FAILED, 0));
}

static void
test_files_against_a_hash_table (Fixture *self, gconstpointer data)
{
  g_autoptr (GHashTable) truth = g_hash_table_new (NULL, NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  unsigned n_refused = 0;

  for (unsigned i = 0; i < 200000; i++)
    {
      UnwindFileKey key = { (uint64_t) g_rand_int_range (random, 1, 12000), i, 0, 0 };
      void *inode = GUINT_TO_POINTER (key.inode);

      if (g_rand_boolean (random))
        {
          sysprof_unwind_publisher_drop_file (self->publisher, &key, i);
          g_hash_table_remove (truth, inode);
        }
      else if (sysprof_unwind_publisher_set_file (self->publisher, &key, NULL, NULL, i))
        g_hash_table_insert (truth, inode, GUINT_TO_POINTER (i));
      else
        n_refused++;
    }

  for (unsigned inode = 1; inode < 12000; inode++)
    {
      const UnwindFileSlot *slot = file_slot_of (self, inode, 0);
      void *i;

      g_assert_cmpint (
          slot != NULL, ==,
          g_hash_table_lookup_extended (truth, GUINT_TO_POINTER (inode), NULL, &i));
      if (slot != NULL)
        g_assert_cmpuint (slot->size, ==, GPOINTER_TO_UINT (i));
    }
  g_assert_cmpuint (n_refused, <, 20);
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (self->publisher).n_known_files, ==,
                    g_hash_table_size (truth));
}

static void
test_full (Fixture *self, gconstpointer data)
{
  const uint32_t n_mappings = 1000;
  g_autofree UnwindProcessMapping *mappings = g_new0 (UnwindProcessMapping, n_mappings);
  unsigned n_published = 0;

  for (uint32_t i = 0; i < n_mappings; i++)
    mappings[i] =
        (UnwindProcessMapping){ .start = 0x1000 + i * 0x2000, .end = 0x2000 + i * 0x2000 };
  for (uint32_t pid = 1; pid <= 100; pid++)
    n_published +=
        sysprof_unwind_publisher_set_process (self->publisher, pid, mappings, n_mappings, 0);
  g_assert_cmpuint (n_published, ==, UNWIND_MOST_MAPPINGS / n_mappings);
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (self->publisher).n_refused, ==,
                    100 - n_published);
  g_assert_null (slot_of (self, 100));

  /* One that is known but finds no room for its next list is not left with half of the
   * truth. */
  g_assert_false (
      sysprof_unwind_publisher_set_process (self->publisher, 1, mappings, n_mappings, 1));
  g_assert_null (slot_of (self, 1));
  g_assert_false (
      sysprof_unwind_publisher_set_process (self->publisher, 1, mappings, n_mappings, 2));
  /* If room is short it is used again after 20 ms already. */
  g_assert_true (sysprof_unwind_publisher_set_process (self->publisher, 1, mappings, n_mappings,
                                                       SECOND / 50 + 2));
}

static uint8_t *
make_few_slabs (void *data, uint32_t index)
{
  uint8_t **slabs = data;

  return index < 2 ? (slabs[index] = g_malloc0 (UNWIND_SLAB_SIZE)) : NULL;
}

static void
test_slabs_end (void)
{
  g_autofree UnwindIndex *index = g_new0 (UnwindIndex, 1);
  uint8_t *slabs[2] = { NULL, NULL };
  UnwindPublisher *publisher = sysprof_unwind_publisher_new (index, make_few_slabs, slabs);
  UnwindTable table = make_table (1000, 8);
  UnwindFile *files[32];
  unsigned n = 0;

  while (n < 32 &&
         (files[n] = sysprof_unwind_publisher_add_table (publisher, &table, 0)) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 2 * UNWIND_SLAB_SIZE / (1000 * UNWIND_BLOCK_SIZE (1, 1)));
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (publisher).slab_bytes, ==,
                    2 * UNWIND_SLAB_SIZE);
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (publisher).table_bytes, ==,
                    n * 1000 * UNWIND_BLOCK_SIZE (1, 1));

  /* The refused one returns its memory, which is enough for another. */
  for (unsigned i = 0; i < n; i++)
    sysprof_unwind_file_unref (publisher, files[i], SECOND);
  g_assert_cmpuint (sysprof_unwind_publisher_get_use (publisher).table_bytes, ==, 0);
  for (unsigned i = 0; i < n; i++)
    {
      files[i] = sysprof_unwind_publisher_add_table (publisher, &table, 2 * SECOND);
      g_assert_nonnull (files[i]);
    }
  for (unsigned i = 0; i < n; i++)
    sysprof_unwind_file_unref (publisher, files[i], 2 * SECOND);

  sysprof_unwind_table_clear (&table);
  sysprof_unwind_publisher_free (publisher);
  g_free (slabs[0]);
  g_free (slabs[1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) \
  g_test_add ("/unwind/publish/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("finds-what-a-naive-search-finds", test_finds_what_a_naive_search_finds);
  ADD ("lists-live-on-for-a-while", test_lists_live_on_for_a_while);
  ADD ("exec-makes-a-generation", test_exec_makes_a_generation);
  ADD ("slots-against-a-hash-table", test_slots_against_a_hash_table);
  ADD ("file-has-its-segments", test_file_has_its_segments);
  ADD ("changes-are-counted", test_changes_are_counted);
  ADD ("failed-file-is-told-apart", test_failed_file_is_told_apart);
  ADD ("files-against-a-hash-table", test_files_against_a_hash_table);
  ADD ("full", test_full);
#undef ADD
  g_test_add_func ("/unwind/publish/slabs-end", test_slabs_end);
  g_test_add_func ("/unwind/publish/bias-of-odd-segments", test_bias_of_odd_segments);
  return g_test_run ();
}
