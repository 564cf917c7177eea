// SPDX-License-Identifier: GPL-3.0-or-later

/* Answers requests about an ELF file from the cache, and starts the parsing child only for
 * answers that the cache does not have. */

#include "inspect/elf-cache.h"

#include "util/util.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A part that is in use. */
typedef struct
{
  ElfPartKind kind;
  guint number; /* index in the entry, if there is an entry */
  int envelope; /* owned; -1: no descriptor was available for it */
  struct stat info;
} Part;

static void
clear_part (void *part)
{
  Part *self = part;

  if (self->envelope >= 0)
    (void) close (self->envelope); /* a socket */
}

/* --- what is open --- */

static void
forget_file (ElfCache *self)
{
  if (self->has_changed && self->entry != NULL)
    sysprof_symbol_cache_store (self->cache, self->entry);
  g_clear_pointer (&self->entry, sysprof_cache_entry_free);
  g_clear_pointer (&self->parts, g_array_unref);
  if (self->envelope >= 0)
    (void) close (self->envelope); /* a socket */
  self->envelope = -1;
  self->is_open = self->is_in_child = self->has_changed = false;
}

bool
sysprof_elf_cache_is_open (const ElfCache *self)
{
  return self->is_open && (!self->is_in_child || self->sandbox.pid != 0);
}

void
sysprof_elf_cache_clear (ElfCache *self)
{
  forget_file (self);
  g_clear_pointer (&self->cache, sysprof_symbol_cache_free);
  sysprof_confined_child_end (&self->sandbox);
}

/* Whether the file may be passed to the child. If any file in the child is untrusted, the
 * child's time is charged to the budget. */
static bool
admit_file (ElfCache *self, const struct stat *info)
{
  if (self->budget == NULL || sysprof_file_is_trusted (info))
    return true;
  if (!sysprof_file_budget_admit (self->budget, info))
    return false;
  self->sandbox.budget = self->budget;
  return true;
}

bool
sysprof_elf_cache_is_over_budget (const ElfCache *self)
{
  return self->budget != NULL && !sysprof_file_is_trusted (&self->info) &&
         sysprof_file_budget_left_msec (self->budget) == 0;
}

/* Opens the file in the child. The answers will be cached, so they must be trustworthy: a child
 * that has read files of another owner, or from another device such as a container, may be
 * compromised and is replaced. */
static ElfStatus
open_in_child (ElfCache *self,
               int envelope,
               const struct stat *info,
               bool is_for_lines,
               ElfFacts *facts)
{
  if (self->cache != NULL && self->sandbox.pid != 0 &&
      (self->is_child_mixed || self->child_owner != info->st_uid ||
       self->child_device != info->st_dev))
    sysprof_confined_child_end (&self->sandbox);
  self->child_owner = info->st_uid;
  self->child_device = info->st_dev;
  self->is_child_mixed = false;
  self->sandbox.budget = NULL;
  if (!admit_file (self, info))
    return ELF_SKIPPED;
  return sysprof_elf_sandbox_open (&self->sandbox, envelope, info, is_for_lines, facts);
}

static int
duplicate (int fd)
{
  return fcntl (fd, F_DUPFD_CLOEXEC, 0);
}

/* Loads the entry of the file. Returns FALSE if there is none. */
static bool
recall_file (ElfCache *self, const FileIdentity *file)
{
  if (self->envelope >= 0)
    self->entry =
        sysprof_symbol_cache_load (self->cache, file, self->is_for_lines, self->is_by_address);
  return self->entry != NULL;
}

ElfStatus
sysprof_elf_cache_open (ElfCache *self,
                        int envelope,
                        const struct stat *info,
                        bool is_for_lines,
                        ElfFacts *facts)
{
  FileIdentity file;
  bool has_identity = self->cache != NULL && sysprof_file_identity_init (&file, info);
  ElfStatus status;

  forget_file (self);
  self->info = *info;
  self->is_for_lines = is_for_lines;
  self->envelope = duplicate (envelope);
  self->failed = G_MAXUINT;
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (self->parts, clear_part);
  if (has_identity && recall_file (self, &file))
    {
      *facts = self->entry->facts;
      self->is_open = true;
      return ELF_OK;
    }

  status = open_in_child (self, envelope, info, is_for_lines, facts);
  self->is_open = self->is_in_child = status == ELF_OK;
  if (status == ELF_OK && has_identity)
    {
      self->entry = sysprof_cache_entry_new (is_for_lines, &file, facts);
      self->entry->is_by_address = self->is_by_address;
      self->has_changed = true;
    }
  return status;
}

/* --- passing files to the child --- */

/* `facts` are those of the file; they are updated with those of the part. */
static ElfStatus
hand_part (ElfCache *self,
           const ElfPart *part,
           int envelope,
           const struct stat *info,
           ElfFacts *facts)
{
  if (!admit_file (self, info))
    return ELF_SKIPPED;
  self->is_child_mixed = self->is_child_mixed || info->st_uid != self->child_owner ||
                         info->st_dev != self->child_device;
  return sysprof_elf_sandbox_add_part (&self->sandbox, part, envelope, info, facts);
}

/* Passes everything to the child that it has not read yet. */
static bool
hand_over_telling (ElfCache *self, ElfFacts *facts)
{
  bool is_opened = self->envelope >= 0 && open_in_child (self, self->envelope, &self->info,
                                                         self->is_for_lines, facts) == ELF_OK;

  self->failed = G_MAXUINT;
  self->is_in_child = is_opened;
  for (guint i = 0; i < self->parts->len && self->is_in_child; i++)
    {
      const Part *part = &g_array_index (self->parts, Part, i);

      self->is_in_child =
          part->envelope >= 0 && hand_part (self, &(ElfPart){ .kind = part->kind },
                                            part->envelope, &part->info, facts) == ELF_OK;
      if (!self->is_in_child)
        self->failed = i;
    }
  self->is_open = self->is_in_child;
  return self->is_in_child;
}

static bool
hand_over (ElfCache *self)
{
  ElfFacts facts;

  return self->is_in_child || hand_over_telling (self, &facts);
}

/* Returns why the files could not be passed to the child. */
static ElfStatus
status_of_failed_hand_over (const ElfCache *self)
{
  return sysprof_elf_cache_is_over_budget (self) ? ELF_SKIPPED : ELF_GIVEN_UP;
}

bool
sysprof_elf_cache_start_again (ElfCache *self, ElfFacts *facts)
{
  return hand_over_telling (self, facts);
}

bool
sysprof_elf_cache_has_parts (const ElfCache *self)
{
  return self->parts != NULL && self->parts->len > 0;
}

bool
sysprof_elf_cache_drop_part (ElfCache *self, struct stat *dropped, ElfFacts *facts)
{
  guint at = MIN (self->failed, self->parts->len - 1);

  /* A supplement belongs to the debug file, and is dropped with it. */
  *dropped = g_array_index (self->parts, Part, at).info;
  g_array_set_size (self->parts, at);
  return hand_over_telling (self, facts);
}

/* Disables the cache for this file. */
static bool
stop_remembering (ElfCache *self)
{
  bool is_handed_over = hand_over (self);

  g_clear_pointer (&self->entry, sysprof_cache_entry_free);
  return is_handed_over;
}

/* --- parts --- */

/* A result caused by a timeout or by an allocation failure may be different next time, so it is
 * not cached. */
static bool
is_lasting (ElfStatus status)
{
  return status == ELF_OK || status == ELF_ABSENT || status == ELF_MISMATCH ||
         status == ELF_TOO_LARGE;
}

/* The role of a supplement depends on the debug file. */
static uint32_t
find_beside (const ElfCache *self)
{
  for (guint i = 0; i < self->parts->len; i++)
    if (g_array_index (self->parts, Part, i).kind == ELF_PART_DEBUG)
      return g_array_index (self->parts, Part, i).number + 1;
  return 0;
}

static CachedPart *
find_part (const ElfCache *self, ElfPartKind kind, const FileIdentity *file, guint *number)
{
  for (guint i = 0; self->entry != NULL && i < self->entry->parts->len; i++)
    {
      CachedPart *part = &g_array_index (self->entry->parts, CachedPart, i);

      *number = i;
      if (part->kind == kind && part->beside == find_beside (self) &&
          memcmp (&part->file, file, sizeof *file) == 0)
        return part;
    }
  return NULL;
}

static void
use_part (ElfCache *self, ElfPartKind kind, guint number, int envelope, const struct stat *info)
{
  Part part = { .kind = kind, .number = number, .envelope = envelope, .info = *info };

  g_array_append_val (self->parts, part);
}

/* Does the same as the child, which drops the old parts even if adding the new one fails. */
static void
drop_parts (ElfCache *self, ElfPartKind kind)
{
  for (guint i = self->parts->len; i-- > 0;)
    if (kind == ELF_PART_DEBUG || g_array_index (self->parts, Part, i).kind == kind)
      g_array_remove_index (self->parts, i);
}

static void
remember_part (ElfCache *self,
               ElfPartKind kind,
               const FileIdentity *file,
               ElfStatus status,
               const ElfFacts *facts,
               guint *number)
{
  CachedPart part = {
    .file = *file, .kind = kind, .status = status, .beside = find_beside (self), .facts = *facts
  };

  if (self->entry->parts->len == CACHE_ENTRY_MOST_PARTS)
    {
      g_clear_pointer (&self->entry, sysprof_cache_entry_free);
      return;
    }
  *number = self->entry->parts->len;
  g_array_append_val (self->entry->parts, part);
  self->has_changed = true;
}

ElfStatus
sysprof_elf_cache_add_part (ElfCache *self,
                            const ElfPart *part,
                            int envelope,
                            const struct stat *info,
                            ElfFacts *facts)
{
  ElfPartKind kind = part->kind;
  FileIdentity file;
  CachedPart *known;
  ElfStatus status;
  guint number = 0;

  /* Files with split units are requested by an answer of the child, so the child has the file
   * already. */
  if (kind == ELF_PART_PACKAGE || kind == ELF_PART_SPLIT)
    return self->is_in_child ? hand_part (self, part, envelope, info, facts) : ELF_ABSENT;
  if (!sysprof_elf_cache_is_open (self))
    return ELF_ABSENT;
  drop_parts (self, kind);
  if (self->entry != NULL && !sysprof_file_identity_init (&file, info) &&
      !stop_remembering (self))
    return ELF_GIVEN_UP;

  known = find_part (self, kind, &file, &number);
  if (known != NULL && is_lasting ((ElfStatus) known->status) && !self->is_in_child)
    {
      int own = known->status == ELF_OK ? duplicate (envelope) : -1;

      if (own >= 0)
        {
          use_part (self, kind, number, own, info);
          if (kind == ELF_PART_DEBUG)
            *facts = known->facts;
        }
      if (own >= 0 || known->status != ELF_OK)
        return (ElfStatus) known->status;
    }

  if (!hand_over (self))
    return status_of_failed_hand_over (self);
  status = hand_part (self, part, envelope, info, facts);
  if (known == NULL && self->entry != NULL && is_lasting (status))
    remember_part (self, kind, &file, status, facts, &number);
  if (status == ELF_OK)
    use_part (self, kind, number, duplicate (envelope), info);
  return status;
}

/* --- answers --- */

static bool
is_in_use (const ElfCache *self, guint number)
{
  for (guint i = 0; i < self->parts->len; i++)
    if (g_array_index (self->parts, Part, i).number == number)
      return true;
  return false;
}

/* Answers that were given with other parts are outdated. */
static void
keep_to_parts (ElfCache *self)
{
  CacheEntry *entry = self->entry;
  bool is_same = true;

  for (guint i = 0; i < entry->parts->len; i++)
    is_same = is_same &&
              is_in_use (self, i) == (g_array_index (entry->parts, CachedPart, i).is_used != 0);
  if (is_same)
    return;

  sysprof_cache_entry_clear_answers (entry);
  for (guint i = 0; i < entry->parts->len; i++)
    g_array_index (entry->parts, CachedPart, i).is_used = is_in_use (self, i);
}

/* Returns FALSE if there are too many answers, or if they depend on files that entries do not
 * list. */
static bool
learn (ElfCache *self, const uint64_t *offsets, const ElfAnswers *answers)
{
  self->has_changed = true;
  if (answers->n_splits == 0 && !answers->is_over_limit &&
      sysprof_cache_entry_add (self->entry, offsets, answers))
    return true;

  g_clear_pointer (&self->entry, sysprof_cache_entry_free);
  return false;
}

static ElfStatus
resolve (ElfCache *self, const ElfQuery *query, ElfAnswers *answers)
{
  g_autofree uint64_t *missing = g_new (uint64_t, query->n + 1);
  ElfQuery rest = *query;
  ElfAnswers found = { 0 };
  ElfStatus status = ELF_OK;

  keep_to_parts (self);
  rest.offsets = missing;
  rest.n = sysprof_cache_entry_find_missing (self->entry, query->offsets, query->n, missing);
  if (rest.n > 0 && !hand_over (self))
    return status_of_failed_hand_over (self);
  if (rest.n == query->n && rest.n > 0)
    {
      status = sysprof_elf_sandbox_resolve (&self->sandbox, query, answers);
      if (status == ELF_OK)
        /* the answers are valid even if they cannot be cached */
        (void) learn (self, query->offsets, answers);
      return status;
    }

  if (rest.n > 0)
    status = sysprof_elf_sandbox_resolve (&self->sandbox, &rest, &found);
  if (status == ELF_OK && rest.n > 0 && !learn (self, missing, &found))
    status = sysprof_elf_sandbox_resolve (&self->sandbox, query, answers);
  else if (status == ELF_OK)
    sysprof_cache_entry_get (self->entry, query->offsets, query->n, answers);
  sysprof_elf_answers_clear (&found);
  return status;
}

ElfStatus
sysprof_elf_cache_resolve (ElfCache *self, const ElfQuery *query, ElfAnswers *answers)
{
  ElfQuery asked = *query;

  if (query->are_addresses && !self->is_by_address)
    {
      if (!stop_remembering (self))
        return ELF_GIVEN_UP;
    }
  else if (self->entry == NULL && !hand_over (self))
    return status_of_failed_hand_over (self);

  /* All requests to this cache are of one sort. */
  asked.are_addresses = query->are_addresses || self->is_by_address;
  return self->entry != NULL ? resolve (self, &asked, answers)
                             : sysprof_elf_sandbox_resolve (&self->sandbox, &asked, answers);
}
