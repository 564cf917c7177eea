// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbolize/elf-parser.h"

static void
set_place (ElfParser *self, int root, const char *path)
{
  g_free (self->path);
  self->path = g_strdup (path);
  self->root = root;
  self->has_supplement_status = false;
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

  if (self->is_open && info->st_dev == self->open_file.st_dev &&
      info->st_ino == self->open_file.st_ino && info->st_size == self->open_file.st_size &&
      info->st_mtime == self->open_file.st_mtime && sysprof_remembered_elf_is_open (&self->elf))
    {
      *facts = self->facts;
      return ELF_OK;
    }

  self->is_open = self->has_debug = false;
  if (self->elf.sandbox.pid == 0)
    {
      self->elf.sandbox.keeps_rights = !self->use_sandbox;
      self->elf.sandbox.has_stop_fd = self->opener.has_stop_fd;
      self->elf.sandbox.stop_fd = self->opener.stop_fd;
    }
  status = sysprof_remembered_elf_open (&self->elf, envelope, info, self->is_for_lines, facts);
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

ElfStatus
sysprof_elf_parser_add_debug (ElfParser *self,
                              int envelope,
                              const struct stat *info,
                              int root,
                              const char *path)
{
  ElfStatus status =
      sysprof_remembered_elf_add_debug (&self->elf, envelope, info, &self->facts);

  self->has_debug = status == ELF_OK;
  if (status == ELF_OK)
    set_place (self, root, path);
  return status;
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
  self->is_open = self->has_debug = false;
  sysprof_opener_clear (&self->opener);
  sysprof_remembered_elf_clear (&self->elf);
}
