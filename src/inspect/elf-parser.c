// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes a file, its debug file and the further parts of its debug information to the child
 * that parses them, and records which parts failed. */

#include "inspect/elf-parser.h"

#include <errno.h>
#include <unistd.h>

#define MOST_FAILED         256 /* different files; each one cost time */
#define MOST_FAILED_OF_FILE 3   /* after so many, no further parts are added to the file */

static bool
is_same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtime == b->st_mtime;
}

static void
set_place (ElfParser *self, int root, const char *path)
{
  g_free (self->path);
  self->path = g_strdup (path);
  self->root = root;
  self->has_supplement_status = false;
}

static void
note_skipped (ElfParser *self, const char *path)
{
  if (self->skipped == NULL)
    self->skipped = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->skipped, g_strdup (path));
}

bool
sysprof_elf_parser_has_open (const ElfParser *self, const struct stat *info)
{
  return self->is_open && is_same_file (info, &self->open_file) &&
         sysprof_elf_cache_is_open (&self->elf);
}

ElfStatus
sysprof_elf_parser_open (ElfParser *self,
                         int envelope,
                         const struct stat *info,
                         int root,
                         const char *path,
                         ElfFacts *facts)
{
  ElfStatus status;

  if (sysprof_elf_parser_has_open (self, info))
    {
      *facts = self->facts;
      return ELF_OK;
    }

  self->is_open = self->has_debug = false;
  self->n_failed_of_file = 0;
  g_clear_pointer (&self->split_path, g_free);
  if (self->elf.sandbox.pid == 0)
    self->elf.sandbox.keeps_rights = !self->use_sandbox;
  status = sysprof_elf_cache_open (&self->elf, envelope, info, self->is_for_lines, facts);
  if (status == ELF_SKIPPED)
    note_skipped (self, path);
  self->is_open = status == ELF_OK;
  self->open_file = *info;
  if (status == ELF_OK)
    {
      self->facts = *facts;
      g_free (self->own_path);
      self->own_path = g_strdup (path);
      self->own_root = root;
      set_place (self, root, path);
    }
  return status;
}

/* --- further files --- */

static bool
has_failed (const ElfParser *self, const struct stat *info)
{
  for (guint i = 0; self->failed != NULL && i < self->failed->len; i++)
    if (is_same_file (&g_array_index (self->failed, struct stat, i), info))
      return true;
  return false;
}

/* `info` is NULL if the file could not be examined. */
static void
blame (ElfParser *self, const struct stat *info, const char *path)
{
  if (self->failed == NULL)
    {
      self->failed = g_array_new (FALSE, FALSE, sizeof (struct stat));
      self->blamed = g_ptr_array_new_with_free_func (g_free);
    }
  if (info != NULL && self->failed->len < MOST_FAILED && !has_failed (self, info))
    g_array_append_val (self->failed, *info);
  g_ptr_array_add (self->blamed, g_strdup (path));
}

/* Returns FALSE if the part must not be added, because it failed before, or because too many
 * parts of this file did. */
static bool
may_add (ElfParser *self, const struct stat *info, const char *path)
{
  if (!has_failed (self, info))
    return self->n_failed_of_file < MOST_FAILED_OF_FILE;
  blame (self, info, path);
  return false;
}

bool
sysprof_elf_status_is_failure (ElfStatus status)
{
  return status == ELF_GIVEN_UP || status == ELF_NO_MEMORY || status == ELF_IO_ERROR;
}

ElfStatus
sysprof_elf_status_join (ElfStatus before, ElfStatus status)
{
  if (status == ELF_OK || status == ELF_TOO_LARGE || status == ELF_GIVEN_UP ||
      status == ELF_SKIPPED || (status == ELF_MISMATCH && before == ELF_ABSENT))
    return status;
  return before;
}

/* Handles the result of adding a part. If the child died, a new one is given everything that
 * the old one had. */
static ElfStatus
judge (ElfParser *self, ElfStatus status, const struct stat *info, const char *path)
{
  ElfFacts facts;

  if (status == ELF_SKIPPED)
    note_skipped (self, path);
  if (!sysprof_elf_status_is_failure (status))
    return status;
  if (status == ELF_GIVEN_UP)
    {
      self->has_started_again = true;
      self->is_open = !sysprof_confined_child_is_stopped (&self->elf.sandbox) &&
                      sysprof_elf_cache_start_again (&self->elf, &facts);
      if (!self->is_open)
        return status; /* the main file failed, or the caller canceled */
      self->facts = facts;
    }
  self->n_failed_of_file++;
  blame (self, info, path);
  return ELF_GIVEN_UP;
}

static void
use_part (ElfParser *self,
          ElfPartKind kind,
          const struct stat *info,
          int root,
          const char *path)
{
  switch (kind)
    {
    case ELF_PART_DEBUG:
      self->debug_file = *info;
      set_place (self, root, path);
      break;
    case ELF_PART_SUPPLEMENT:
      g_free (self->supplement_path);
      self->supplement_path = g_strdup (path);
      break;
    case ELF_PART_PACKAGE:
    case ELF_PART_SPLIT:
      self->split_file = *info;
      g_free (self->split_path);
      self->split_path = g_strdup (path);
      break;
    }
}

ElfStatus
sysprof_elf_parser_add_part (ElfParser *self,
                             const ElfPart *part,
                             int envelope,
                             const struct stat *info,
                             int root,
                             const char *path)
{
  bool is_split = part->kind == ELF_PART_PACKAGE || part->kind == ELF_PART_SPLIT;
  ElfStatus status;

  if ((is_split && self->has_started_again) || !may_add (self, info, path))
    return ELF_GIVEN_UP;
  status = sysprof_elf_cache_add_part (&self->elf, part, envelope, info, &self->facts);
  if (part->kind == ELF_PART_DEBUG)
    self->has_debug = status == ELF_OK;
  if (status == ELF_OK)
    use_part (self, part->kind, info, root, path);
  return judge (self, status, info, path);
}

ElfStatus
sysprof_elf_parser_note_unopened (ElfParser *self, const char *path)
{
  if (errno != ETIMEDOUT && errno != EIO)
    return ELF_ABSENT;
  if (sysprof_elf_parser_n_blamed (self) == 0)
    blame (self, NULL, path);
  return ELF_GIVEN_UP;
}

/* --- after failed answers --- */

static void
do_without_debug_file (ElfParser *self, const struct stat *dropped)
{
  blame (self, dropped, self->path);
  self->has_debug = false;
  set_place (self, self->own_root, self->own_path);
}

static void
do_without_supplement (ElfParser *self, const struct stat *dropped)
{
  blame (self, dropped, self->supplement_path);
  self->has_supplement_status = true;
  self->supplement_status = ELF_GIVEN_UP;
}

bool
sysprof_elf_parser_do_without (ElfParser *self, ElfStatus status)
{
  bool is_back = false;
  struct stat dropped;
  ElfFacts facts;

  if ((!sysprof_elf_status_is_failure (status) && status != ELF_SKIPPED) ||
      sysprof_confined_child_is_stopped (&self->elf.sandbox))
    return false;

  while (!is_back && sysprof_elf_cache_has_parts (&self->elf))
    is_back = sysprof_elf_cache_drop_part (&self->elf, &dropped, &facts);
  self->is_open = is_back;
  if (!is_back)
    return false;

  self->has_started_again = true;
  self->n_failed_of_file++;
  self->facts = facts;
  (self->has_debug && is_same_file (&dropped, &self->debug_file)
       ? do_without_debug_file
       : do_without_supplement) (self, &dropped);
  return true;
}

bool
sysprof_elf_parser_do_without_split (ElfParser *self, ElfStatus status)
{
  if (!sysprof_elf_status_is_failure (status) || self->split_path == NULL)
    return false;

  (void) judge (self, ELF_GIVEN_UP, &self->split_file, self->split_path);
  return self->is_open;
}

guint
sysprof_elf_parser_n_blamed (const ElfParser *self)
{
  return self->blamed != NULL ? self->blamed->len : 0;
}

void
sysprof_elf_parser_forgive (ElfParser *self, guint n)
{
  if (sysprof_elf_parser_n_blamed (self) > n)
    g_ptr_array_set_size (self->blamed, (gint) n);
}

void
sysprof_elf_write_build_id (const uint8_t *id,
                            uint32_t size,
                            char text[2 * ELF_MAX_BUILD_ID + 1])
{
  text[0] = 0;
  for (uint32_t i = 0; i < size; i++)
    g_snprintf (text + 2 * i, 3, "%02x", id[i]);
}

void
sysprof_elf_parser_close (ElfParser *self)
{
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->own_path, g_free);
  g_clear_pointer (&self->supplement_path, g_free);
  g_clear_pointer (&self->split_path, g_free);
  g_clear_pointer (&self->failed, g_array_unref);
  g_clear_pointer (&self->blamed, g_ptr_array_unref);
  g_clear_pointer (&self->skipped, g_ptr_array_unref);
  self->is_open = self->has_debug = false;
  sysprof_elf_cache_clear (&self->elf);
}
