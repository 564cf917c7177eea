// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the loaded files, with the help of the dynamic loader, and builds their unwind tables
 * from the files, if these are still the loaded ones.
 *
 * *Guarded*: `updating` guards all but what walks read. For walks, the list of mappings is one
 * word, which is written last, with a release that pairs with the walk's acquire. Lists are
 * written one after the other in a ring, so that each stays valid for hundreds of updates.
 * Blocks are never freed. */

#include "backtrace/inside.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_OBJECTS  2048
#define MOST_SEGMENTS 16
#define MOST_NAME     512
#define PROGRAM_PATH  "/proc/self/exe"

/* A loaded file, copied while the loader holds its lock. */
typedef struct
{
  char name[MOST_NAME];
  uint64_t bias;
  ElfW (Phdr) segment[MOST_SEGMENTS];
  uint16_t n_segments;
  const void *image; /* of the vDSO, which is not in a file */
  size_t image_size;
  uint8_t build_id[ELF_MAX_BUILD_ID];
  size_t build_id_size;
} Object;

/* A table in the slabs. A file that is loaded again uses the same table. */
typedef struct
{
  dev_t device; /* 0 for the vDSO */
  ino_t inode;
  off_t size;
  struct timespec changed;
  uint64_t start; /* link-time address of the first page */
  uint32_t first_page;
  uint32_t n_pages; /* 0 = no rules, or no space */
  uint32_t n_code;
  ElfCode code[UNWIND_MOST_SEGMENTS];
} Table;

typedef struct
{
  Object *object; /* [n_objects] */
  size_t n_objects;
  size_t room;
  unsigned long long adds, subs;
} Loaded;

static_assert (UNWIND_MOST_MAPPINGS <= 1 << 16, "a generation stands above the first mapping");

static pthread_mutex_t updating = PTHREAD_MUTEX_INITIALIZER;
static UnwindMemory memory;
static _Atomic uint64_t list;

/* Guarded by `updating`. */
static Table *tables; /* [n_tables] */
static size_t n_tables;
static uint32_t n_slabs, slab_used; /* bytes of the last one */
static uint32_t n_pages;
static uint32_t next_mapping;
static uint32_t generation; /* changes when positions of mappings are reused */
static unsigned long long seen_adds, seen_subs;

uint64_t
sysprof_backtrace_get_list (void)
{
  return atomic_load_explicit (&list, memory_order_acquire);
}

const UnwindMemory *
sysprof_backtrace_get_memory (void)
{
  return &memory;
}

static void *
map (size_t size)
{
  void *bytes = mmap (NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return bytes != MAP_FAILED ? bytes : NULL;
}

/* --- what is loaded --- */

static void
copy_build_id (Object *object, const uint8_t *note, size_t size)
{
  while (size >= sizeof (ElfW (Nhdr)))
    {
      ElfW (Nhdr) header;
      size_t name, whole;

      memcpy (&header, note, sizeof header);
      name = (header.n_namesz + 3u) & ~3u;
      whole = sizeof header + name + ((header.n_descsz + 3u) & ~3u);
      if (whole > size)
        return;
      if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof "GNU" &&
          memcmp (note + sizeof header, "GNU", sizeof "GNU") == 0 &&
          header.n_descsz <= sizeof object->build_id)
        {
          object->build_id_size = header.n_descsz;
          memcpy (object->build_id, note + sizeof header + name, header.n_descsz);
          return;
        }
      note += whole;
      size -= whole;
    }
}

static int
copy_object (struct dl_phdr_info *info, size_t size, void *data)
{
  Loaded *self = data;
  Object *object;

  self->adds = info->dlpi_adds;
  self->subs = info->dlpi_subs;
  if (self->n_objects == self->room || info->dlpi_phnum > MOST_SEGMENTS)
    return self->room == 0; /* first pass: only count */

  object = &self->object[self->n_objects];
  memset (object, 0, sizeof *object);
  object->bias = info->dlpi_addr;
  object->n_segments = info->dlpi_phnum;
  memcpy (object->segment, info->dlpi_phdr, info->dlpi_phnum * sizeof object->segment[0]);
  if (strlen (info->dlpi_name) < sizeof object->name)
    strcpy (object->name, self->n_objects == 0 ? PROGRAM_PATH : info->dlpi_name);

  for (uint16_t i = 0; i < object->n_segments; i++)
    {
      const ElfW (Phdr) *segment = &object->segment[i];
      const void *bytes = (const void *) (uintptr_t) (object->bias + segment->p_vaddr);

      if (segment->p_type == PT_NOTE)
        copy_build_id (object, bytes, segment->p_memsz);
      if (segment->p_type == PT_LOAD && (uintptr_t) bytes == getauxval (AT_SYSINFO_EHDR))
        {
          object->image = bytes;
          object->image_size = segment->p_filesz;
        }
    }
  self->n_objects++;
  return 0;
}

/* --- tables --- */

static bool
is_same_build (const Object *object, ElfImage *image)
{
  uint8_t build_id[ELF_MAX_BUILD_ID];
  size_t size = 0;

  return sysprof_elf_image_build_id (image, build_id, &size) == ELF_OK
             ? size == object->build_id_size && memcmp (build_id, object->build_id, size) == 0
             : object->build_id_size == 0;
}

/* Allocates a block; NULL: the slabs are full. */
static uint8_t *
take_block (size_t size, uint32_t *entry)
{
  uint8_t *block;

  if (n_slabs == 0 || UNWIND_SLAB_SIZE - slab_used < size)
    {
      if (n_slabs == UNWIND_MOST_SLABS || size > UNWIND_SLAB_SIZE - 4 ||
          (memory.slab[n_slabs] = map (UNWIND_SLAB_SIZE)) == NULL)
        return NULL;
      n_slabs++;
      slab_used = 4; /* offset 0 of the first slab means "no rules" */
    }

  block = memory.slab[n_slabs - 1] + slab_used;
  *entry = UNWIND_PAGE_MAKE (n_slabs - 1, slab_used);
  slab_used += (uint32_t) (size + 3) & ~3u;
  return block;
}

static void
store_table (Table *self, const UnwindTable *built)
{
  const UnwindTableHeader *header = built->header;

  self->start = header->start;
  self->n_code = header->n_segments;
  memcpy (self->code, header->segment, sizeof self->code);
  if (header->n_pages > UNWIND_MOST_PAGES - n_pages)
    return;

  for (uint32_t i = 0; i < header->n_pages; i++)
    {
      size_t size = sysprof_unwind_table_block_size (built, i);
      uint8_t *block = NULL;

      memory.index->page[n_pages + i] = 0;
      if (size > 0)
        block = take_block (size, &memory.index->page[n_pages + i]);
      if (block != NULL)
        memcpy (block, built->bytes + built->block[i], size);
    }
  self->first_page = n_pages;
  self->n_pages = header->n_pages;
  n_pages += header->n_pages;
}

static void
build_table (Table *self, const Object *object, int fd)
{
  ElfImage *image = NULL;
  UnwindTable built = { 0 };
  ElfStatus status =
      object->image != NULL
          ? sysprof_elf_image_open_memory (object->image, object->image_size, &image)
          : sysprof_elf_image_open (fd, &image);

  if (status == ELF_OK && is_same_build (object, image) &&
      sysprof_unwind_table_build (image, NULL, &built) == ELF_OK)
    store_table (self, &built);
  sysprof_unwind_table_clear (&built);
  sysprof_elf_image_free (image);
}

static bool
is_of_file (const Table *self, const struct stat *info)
{
  return self->device == info->st_dev && self->inode == info->st_ino &&
         self->size == info->st_size && self->changed.tv_sec == info->st_ctim.tv_sec &&
         self->changed.tv_nsec == info->st_ctim.tv_nsec;
}

/* NULL: the file has no table. */
static const Table *
get_table (const Object *object)
{
  int fd = object->image == NULL ? open (object->name, O_RDONLY | O_CLOEXEC) : -1;
  struct stat info = { 0 };
  const Table *found = NULL;
  Table *more;

  if (object->image == NULL && (fd < 0 || fstat (fd, &info) != 0 || !S_ISREG (info.st_mode)))
    goto out;

  for (size_t i = 0; i < n_tables && found == NULL; i++)
    if (is_of_file (&tables[i], &info))
      found = &tables[i];
  if (found != NULL)
    goto out;

  more = realloc (tables, (n_tables + 1) * sizeof *tables);
  if (more == NULL)
    goto out;
  tables = more;
  tables[n_tables] = (Table){
    .device = info.st_dev, .inode = info.st_ino, .size = info.st_size, .changed = info.st_ctim
  };
  build_table (&tables[n_tables], object, fd);
  found = &tables[n_tables++];

out:
  if (fd >= 0)
    (void) close (fd);
  return found;
}

/* --- mappings --- */

static int
compare_mappings (const void *a, const void *b)
{
  const UnwindMapping *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

static void
add_mappings (UnwindMapping *mappings, uint32_t *n, const Object *object)
{
  const Table *table = get_table (object);

  if (table != NULL && table->n_pages > 0)
    {
      for (uint32_t i = 0; i < table->n_code && *n < UNWIND_MOST_MAPPINGS / 2; i++)
        mappings[(*n)++] = (UnwindMapping){ .start = object->bias + table->code[i].start,
                                            .end = object->bias + table->code[i].end,
                                            .origin = object->bias + table->start,
                                            .first_page = table->first_page,
                                            .n_pages = table->n_pages };
      return;
    }

  for (uint16_t i = 0; i < object->n_segments && *n < UNWIND_MOST_MAPPINGS / 2; i++)
    {
      const ElfW (Phdr) *segment = &object->segment[i];

      if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
        mappings[(*n)++] =
            (UnwindMapping){ .start = object->bias + segment->p_vaddr,
                             .end = object->bias + segment->p_vaddr + segment->p_memsz,
                             .first_page = MAPPING_WITHOUT_RULES };
    }
}

static bool
publish (const Loaded *loaded)
{
  UnwindMapping *mappings = malloc (UNWIND_MOST_MAPPINGS / 2 * sizeof *mappings);
  uint32_t n = 0;

  if (mappings == NULL)
    return false;

  for (size_t i = 0; i < loaded->n_objects; i++)
    add_mappings (mappings, &n, &loaded->object[i]);
  qsort (mappings, n, sizeof *mappings, compare_mappings);

  if (next_mapping + n >= UNWIND_MOST_MAPPINGS)
    {
      next_mapping = 0;
      generation++;
    }
  memcpy (&memory.index->mapping[next_mapping], mappings, n * sizeof *mappings);
  free (mappings);
  /* Pairs with the walk's acquire: everything that the list refers to was written before. */
  atomic_store_explicit (&list, BACKTRACE_LIST (next_mapping, generation, n),
                         memory_order_release);
  next_mapping += n;
  return true;
}

static bool
update (void)
{
  Loaded loaded = { 0 };
  bool is_done;

  /* The callback stops at the first file, which has the counts of loads and unloads. */
  (void) dl_iterate_phdr (copy_object, &loaded);
  if (list != 0 && loaded.adds == seen_adds && loaded.subs == seen_subs)
    return true;

  if (memory.index == NULL)
    memory.index = map (sizeof *memory.index);
  loaded.object = map (MOST_OBJECTS * sizeof *loaded.object);
  if (memory.index == NULL || loaded.object == NULL)
    return false;

  loaded.room = MOST_OBJECTS;
  (void) dl_iterate_phdr (copy_object, &loaded);
  is_done = publish (&loaded);
  if (is_done)
    {
      seen_adds = loaded.adds;
      seen_subs = loaded.subs;
    }
  (void) munmap (loaded.object, MOST_OBJECTS * sizeof *loaded.object);
  return is_done;
}

bool
sysprof_backtrace_update (void)
{
  bool is_done;

  (void) pthread_mutex_lock (&updating);
  sysprof_backtrace_forget_unknown ();
  is_done = update ();
  (void) pthread_mutex_unlock (&updating);
  return is_done;
}
