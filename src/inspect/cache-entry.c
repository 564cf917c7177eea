// SPDX-License-Identifier: GPL-3.0-or-later

/*   Format: header, ElfFacts of the file, CachedPart [n_parts], offset [n], row [n], frame
 *   [n_frames], text [text_size]
 *
 * Rows and text have the layout of ElfAnswers or ElfLines. The checksum covers everything that
 * follows it. It detects disk corruption; it does not protect against forgery. */

#include "inspect/cache-entry.h"

#include "inspect/elf-sandbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

/* Increase this when the content or the meaning of answers changes. Changes of their size are
 * detected. */
#define VERSION 4

#define BY_ADDRESS     UINT32_C (2)
#define MAGIC          "SymCach"
#define OWN_BYTE_ORDER UINT32_C (0x01020304)
#define NSEC           INT64_C (1000000000)

/* File systems take the change time of a file from a coarse clock: within one step of it the
 * file may change again without a visible difference. File systems on local devices use the
 * kernel's timer tick. For others the clock may be on a server, or on a lower layer with
 * unknown resolution. */
#define FINE_STEP   (NSEC / 10)
#define COARSE_STEP (2 * NSEC)

typedef struct
{
  char magic[8];
  uint64_t checksum;
  uint64_t size; /* of the entry */
  uint32_t byte_order;
  uint32_t version;
  /* identifies the writer: release of the program, and the sizes of its structures */
  uint64_t maker;
  FileIdentity file;
  uint32_t kind; /* 1 = lines; flag BY_ADDRESS */
  uint32_t n_parts;
  uint64_t n;
  uint64_t n_frames;
  uint64_t text_size;
} Header;

#define CHECKED_FROM G_STRUCT_OFFSET (Header, size)

/* --- identities --- */

static int64_t
nsec_of (const struct timespec *time)
{
  return (int64_t) time->tv_sec * NSEC + time->tv_nsec;
}

static uint64_t
digest (const void *bytes, size_t size)
{
  const uint64_t factor = UINT64_C (0x9e3779b97f4a7c15);
  const uint8_t *at = bytes;
  uint64_t lane[4] = { 1, 2, 3, 4 }, word, sum = size;

  for (; size >= sizeof lane; size -= sizeof lane)
    for (size_t i = 0; i < G_N_ELEMENTS (lane); i++, at += sizeof word)
      {
        memcpy (&word, at, sizeof word);
        word = (lane[i] ^ word) * factor;
        lane[i] = word ^ word >> 29;
      }
  for (size_t i = 0; i < G_N_ELEMENTS (lane); i++)
    sum = (sum ^ lane[i] ^ lane[i] >> 32) * factor;
  for (; size > 0; size--)
    sum = ((sum ^ *at++) * factor) ^ sum >> 31;
  return sum ^ sum >> 32;
}

/* Returns 0 if the boot ID is unknown. */
static uint64_t
this_boot (void)
{
  g_autofree char *id = NULL;
  size_t size;

  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &id, &size, NULL) || size == 0)
    return 0;
  return digest (id, size) | 1;
}

bool
sysprof_file_identity_init (FileIdentity *self, const struct stat *info)
{
  bool has_own_device = major (info->st_dev) != 0;
  struct timespec now;
  int64_t settled_nsec;

  /* Read-only images (squashfs, ISO 9660, most EROFS) store a change time that the image's
   * author chose; it may be equal for all files of all builds. Other file systems count whole
   * seconds. */
  if (info->st_ctim.tv_nsec == 0)
    return false;

  *self = (FileIdentity){
    .device = info->st_dev,
    .inode = info->st_ino,
    .size = (uint64_t) info->st_size,
    .modified_nsec = nsec_of (&info->st_mtim),
    .changed_nsec = nsec_of (&info->st_ctim),
  };
  /* The device number is assigned at mount time: overlays, FUSE, network file systems. */
  if (!has_own_device)
    {
      self->boot = this_boot ();
      if (self->boot == 0)
        return false;
    }
  if (clock_gettime (CLOCK_REALTIME, &now) != 0)
    return false;
  settled_nsec = nsec_of (&now) - (has_own_device ? FINE_STEP : COARSE_STEP);
  return self->modified_nsec < settled_nsec && self->changed_nsec < settled_nsec;
}

/* --- entries --- */

CacheEntry *
sysprof_cache_entry_new (bool is_for_lines, const FileIdentity *file, const ElfFacts *facts)
{
  CacheEntry *self = g_new0 (CacheEntry, 1);

  self->is_for_lines = is_for_lines;
  self->file = *file;
  self->facts = *facts;
  self->parts = g_array_new (FALSE, TRUE, sizeof (CachedPart));
  return self;
}

void
sysprof_cache_entry_clear_answers (CacheEntry *self)
{
  g_clear_pointer (&self->offset, free);
  sysprof_elf_answers_clear (&self->answers);
  for (guint i = 0; i < self->parts->len; i++)
    g_array_index (self->parts, CachedPart, i).is_used = 0;
}

void
sysprof_cache_entry_free (CacheEntry *self)
{
  if (self == NULL)
    return;
  sysprof_cache_entry_clear_answers (self);
  g_array_unref (self->parts);
  g_free (self);
}

size_t
sysprof_cache_entry_find_missing (const CacheEntry *self,
                                  const uint64_t *offsets,
                                  size_t n,
                                  uint64_t *missing)
{
  size_t at = 0, n_missing = 0;

  for (size_t i = 0; i < n; i++)
    {
      while (at < self->answers.n && self->offset[at] < offsets[i])
        at++;
      if (at == self->answers.n || self->offset[at] != offsets[i])
        missing[n_missing++] = offsets[i];
    }
  return n_missing;
}

/* --- adding --- */

#define N_KNOWN_TEXTS 0x4000

typedef struct
{
  const char *from;
  uint32_t offset;
  uint32_t pooled;
} KnownText;

/* Merges the texts of old and new answers into one block without duplicates. */
typedef struct
{
  GString *text;
  GHashTable *offsets; /* of texts, in the merged block */
  KnownText *known;    /* [N_KNOWN_TEXTS] a cache, because most texts repeat often */
} TextPool;

static void
init_pool (TextPool *self, size_t size)
{
  *self = (TextPool){
    .text = g_string_sized_new (size),
    .offsets = g_hash_table_new (g_str_hash, g_str_equal),
    .known = g_new0 (KnownText, N_KNOWN_TEXTS),
  };
  g_string_append_c (self->text, 0);
}

static uint32_t
pool_text (TextPool *self, const char *from, uint32_t offset)
{
  KnownText *known = &self->known[offset % N_KNOWN_TEXTS];
  const char *text = from + offset;
  void *found;

  if (offset == 0)
    return 0;
  if (known->from == from && known->offset == offset)
    return known->pooled;

  if (!g_hash_table_lookup_extended (self->offsets, text, NULL, &found))
    {
      found = GSIZE_TO_POINTER (self->text->len);
      g_string_append_len (self->text, text, (gssize) strlen (text) + 1);
      g_hash_table_insert (self->offsets, (char *) text, found);
    }
  *known = (KnownText){ from, offset, (uint32_t) GPOINTER_TO_SIZE (found) };
  return known->pooled;
}

static char *
end_pool (TextPool *self, size_t *size)
{
  g_hash_table_unref (self->offsets);
  g_free (self->known);
  *size = self->text->len;
  return g_string_free (self->text, FALSE);
}

/* Which of two sorted, disjoint lists the next row is taken from. */
typedef struct
{
  const uint64_t *old;
  size_t n_old;
  const uint64_t *new;
  size_t n_new;
  size_t at_old;
  size_t at_new;
} Merge;

static bool
next_of_merge (Merge *self, bool *is_new, size_t *row)
{
  if (self->at_old == self->n_old && self->at_new == self->n_new)
    return false;

  *is_new = self->at_old == self->n_old ||
            (self->at_new < self->n_new && self->new[self->at_new] < self->old[self->at_old]);
  *row = *is_new ? self->at_new++ : self->at_old++;
  return true;
}

static ElfKind
kind_of (const CacheEntry *self)
{
  return self->is_for_lines ? ELF_LINES : ELF_SYMBOLS;
}

static bool
is_small_enough (const CacheEntry *self)
{
  const ElfAnswers *answers = &self->answers;
  size_t row_size = sysprof_elf_row_size (kind_of (self)) + sizeof *self->offset;

  return answers->n <= CACHE_ENTRY_MOST_BYTES / 4 / row_size &&
         answers->n_frames <= CACHE_ENTRY_MOST_BYTES / 4 / sizeof *answers->frame &&
         answers->text_size <= CACHE_ENTRY_MOST_BYTES / 4;
}

static void
merge_symbol (ElfAnswer *to, const ElfAnswers *from, size_t row, TextPool *pool)
{
  *to = from->symbol[row];
  to->name = pool_text (pool, from->text, to->name);
  to->demangled = pool_text (pool, from->text, to->demangled);
}

static void
merge_line (ElfAnswers *to, size_t i, const ElfAnswers *from, size_t row, TextPool *pool)
{
  const ElfLineRow *line = &from->line[row];

  to->line[i] = (ElfLineRow){ (uint32_t) to->n_frames, line->n };
  for (uint32_t j = 0; j < line->n; j++)
    {
      ElfLineFrame *frame = &to->frame[to->n_frames++];

      *frame = from->frame[line->first + j];
      frame->name = pool_text (pool, from->text, frame->name);
      frame->demangled = pool_text (pool, from->text, frame->demangled);
      frame->file = pool_text (pool, from->text, frame->file);
      frame->decl_file = pool_text (pool, from->text, frame->decl_file);
    }
}

bool
sysprof_cache_entry_add (CacheEntry *self, const uint64_t *offsets, const ElfAnswers *answers)
{
  ElfAnswers *own = &self->answers;
  size_t n = own->n + answers->n, i = 0, row;
  uint64_t *offset = g_new (uint64_t, n + 1);
  ElfAnswers merged = {
    .rows = g_malloc0_n (n + 1, sysprof_elf_row_size (kind_of (self))),
    .n = n,
    .frame = g_new0 (ElfLineFrame, own->n_frames + answers->n_frames + 1),
  };
  Merge merge = { self->offset, own->n, offsets, answers->n, 0, 0 };
  TextPool pool;
  bool is_new;

  init_pool (&pool, own->text_size + answers->text_size + 1);
  for (; next_of_merge (&merge, &is_new, &row); i++)
    {
      const ElfAnswers *from = is_new ? answers : own;

      offset[i] = is_new ? offsets[row] : self->offset[row];
      if (self->is_for_lines)
        merge_line (&merged, i, from, row, &pool);
      else
        merge_symbol (&merged.symbol[i], from, row, &pool);
    }

  merged.text = end_pool (&pool, &merged.text_size);
  sysprof_elf_answers_clear (own);
  *own = merged;
  free (self->offset);
  self->offset = offset;
  if (is_small_enough (self))
    return true;

  sysprof_cache_entry_clear_answers (self);
  return false;
}

/* --- getting --- */

/* Uses malloc(), because the owner releases the copy with free(). */
static void *
copy (const void *bytes, size_t size)
{
  void *own = g_malloc (size + 1);

  if (size > 0)
    memcpy (own, bytes, size);
  return own;
}

void
sysprof_cache_entry_get (const CacheEntry *self,
                         const uint64_t *offsets,
                         size_t n,
                         ElfAnswers *answers)
{
  const ElfAnswers *own = &self->answers;
  size_t at = 0;

  *answers = (ElfAnswers){
    .rows = g_malloc_n (n + 1, sysprof_elf_row_size (kind_of (self))),
    .n = n,
    .frame = copy (own->frame, own->n_frames * sizeof *own->frame),
    .n_frames = own->n_frames,
    .text = copy (own->text, own->text_size),
    .text_size = own->text_size,
  };
  for (size_t i = 0; i < n; i++)
    {
      while (self->offset[at] != offsets[i])
        at++;
      if (self->is_for_lines)
        answers->line[i] = own->line[at];
      else
        answers->symbol[i] = own->symbol[at];
    }
}

/* --- bytes --- */

static uint64_t
this_maker (void)
{
  static const uint64_t sizes[] = {
    sizeof (Header),    sizeof (ElfFacts),   sizeof (CachedPart),
    sizeof (ElfAnswer), sizeof (ElfLineRow), sizeof (ElfLineFrame),
  };

  return digest (SYSPROF_CACHE_MAKER, strlen (SYSPROF_CACHE_MAKER)) ^
         digest (sizes, sizeof sizes);
}

void
sysprof_cache_entry_seal (uint8_t *bytes, size_t size)
{
  uint64_t whole = size, checksum;

  if (size < sizeof (Header))
    return;
  memcpy (bytes + G_STRUCT_OFFSET (Header, size), &whole, sizeof whole);
  checksum = digest (bytes + CHECKED_FROM, size - CHECKED_FROM);
  memcpy (bytes + G_STRUCT_OFFSET (Header, checksum), &checksum, sizeof checksum);
}

GByteArray *
sysprof_cache_entry_pack (const CacheEntry *self)
{
  const ElfAnswers *answers = &self->answers;
  Header header = {
    .magic = MAGIC,
    .byte_order = OWN_BYTE_ORDER,
    .version = VERSION,
    .maker = this_maker (),
    .file = self->file,
    .kind = (uint32_t) self->is_for_lines | (self->is_by_address ? BY_ADDRESS : 0),
    .n_parts = self->parts->len,
    .n = answers->n,
    .n_frames = answers->n_frames,
    .text_size = answers->text_size,
  };
  const struct
  {
    const void *bytes;
    size_t size;
  } sections[] = {
    { &header, sizeof header },
    { &self->facts, sizeof self->facts },
    { self->parts->data, self->parts->len * sizeof (CachedPart) },
    { self->offset, answers->n * sizeof *self->offset },
    { answers->rows, answers->n * sysprof_elf_row_size (kind_of (self)) },
    { answers->frame, answers->n_frames * sizeof *answers->frame },
    { answers->text, answers->text_size },
  };
  GByteArray *bytes;
  size_t size = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (sections); i++)
    size += sections[i].size;
  bytes = g_byte_array_sized_new ((guint) size);
  for (size_t i = 0; i < G_N_ELEMENTS (sections); i++)
    if (sections[i].size > 0)
      g_byte_array_append (bytes, sections[i].bytes, (guint) sections[i].size);
  sysprof_cache_entry_seal (bytes->data, bytes->len);
  return bytes;
}

typedef struct
{
  const uint8_t *at;
  size_t left;
} Cursor;

static bool
take (Cursor *self, void *into, size_t size)
{
  if (size > self->left)
    return false;
  if (size > 0)
    memcpy (into, self->at, size);
  self->at += size;
  self->left -= size;
  return true;
}

/* Returns a separate array for free(), or NULL if fewer bytes are left. */
static void *
take_array (Cursor *self, uint64_t n, size_t size)
{
  void *array;

  if (n > self->left / size)
    return NULL;
  array = copy (self->at, (size_t) n * size);
  self->at += (size_t) n * size;
  self->left -= (size_t) n * size;
  return array;
}

static bool
take_parts (CacheEntry *self, Cursor *cursor, uint32_t n)
{
  if (n > CACHE_ENTRY_MOST_PARTS)
    return false;

  for (uint32_t i = 0; i < n; i++)
    {
      CachedPart part;

      if (!take (cursor, &part, sizeof part) || !sysprof_elf_facts_are_sound (&part.facts))
        return false;
      g_array_append_val (self->parts, part);
    }
  return true;
}

static bool
ascend (const uint64_t *offset, size_t n)
{
  for (size_t i = 1; i < n; i++)
    if (offset[i] <= offset[i - 1])
      return false;
  return true;
}

static bool
take_answers (CacheEntry *self, Cursor *cursor, const Header *header)
{
  ElfAnswers *own = &self->answers;
  const ElfQuery query = { .kind = kind_of (self), .n = (size_t) header->n };

  own->rows = take_array (cursor, header->n, sysprof_elf_row_size (query.kind));
  own->n = query.n;
  own->frame = take_array (cursor, header->n_frames, sizeof *own->frame);
  own->n_frames = (size_t) header->n_frames;
  own->text = take_array (cursor, header->text_size, 1);
  own->text_size = (size_t) header->text_size;
  return own->rows != NULL && own->frame != NULL && own->text != NULL &&
         sysprof_elf_answers_are_sound (&query, own);
}

static bool
is_whole (const Header *header, const uint8_t *bytes, size_t size, bool is_for_lines)
{
  return memcmp (header->magic, MAGIC, sizeof header->magic) == 0 &&
         header->byte_order == OWN_BYTE_ORDER && header->version == VERSION &&
         header->maker == this_maker () && header->size == size &&
         (header->kind & ~BY_ADDRESS) == is_for_lines &&
         header->checksum == digest (bytes + CHECKED_FROM, size - CHECKED_FROM);
}

static bool
take_entry (CacheEntry *self, Cursor *cursor, const Header *header)
{
  if (!take (cursor, &self->facts, sizeof self->facts) ||
      !sysprof_elf_facts_are_sound (&self->facts) ||
      !take_parts (self, cursor, header->n_parts))
    return false;
  if (header->n == 0)
    return cursor->left == 0;

  self->offset = take_array (cursor, header->n, sizeof *self->offset);
  return self->offset != NULL && ascend (self->offset, (size_t) header->n) &&
         take_answers (self, cursor, header) && cursor->left == 0;
}

CacheEntry *
sysprof_cache_entry_parse (const uint8_t *bytes, size_t size, bool is_for_lines)
{
  static const ElfFacts no_facts = { 0 };
  Cursor cursor = { bytes, size };
  g_autoptr (CacheEntry) self = NULL;
  Header header;

  if (!take (&cursor, &header, sizeof header) || !is_whole (&header, bytes, size, is_for_lines))
    return NULL;

  self = sysprof_cache_entry_new (is_for_lines, &header.file, &no_facts);
  self->is_by_address = (header.kind & BY_ADDRESS) != 0;
  return take_entry (self, &cursor, &header) ? g_steal_pointer (&self) : NULL;
}
