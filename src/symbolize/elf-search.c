// SPDX-License-Identifier: GPL-3.0-or-later

/* Connects the search for files on this machine with the parser of ELF files. */

#include "symbolize/elf-search.h"

#include <unistd.h>

void
sysprof_elf_search_init (ElfSearch *self, Symbolization *symbolization, bool is_fetched)
{
  LocateOptions options = sysprof_symbolization_locate_options (symbolization);
  bool is_for_code = symbolization->code != NULL;

  *self = (ElfSearch){
    .symbolization = symbolization,
    .parser = { .use_sandbox = is_fetched || is_for_code || symbolization->options->use_sandbox,
                .is_for_lines = symbolization->lines != NULL || is_for_code,
                .elf = REMEMBERED_ELF_INIT },
  };
  sysprof_file_locator_init (&self->locator, &options);
  /* Parsing a file may take long. So cancelation must interrupt the wait for either child. */
  self->parser.elf.sandbox.stop_fd = self->locator.stop.fd;
  self->parser.elf.sandbox.has_stop_fd = self->locator.stop.fd >= 0;
  self->parser.elf.budget = symbolization->budget;
  /* Instructions are not cached. */
  if (!symbolization->options->no_cache && !is_for_code)
    self->parser.elf.cache = sysprof_symbol_cache_new ();
}

void
sysprof_elf_search_clear (ElfSearch *self)
{
  sysprof_elf_parser_close (&self->parser);
  sysprof_file_locator_clear (&self->locator);
}

static uint32_t
find_reader (ElfSearch *self, int root, const char *path, const struct stat *info)
{
  if (self->locator.mounts != NULL)
    return sysprof_find_reader (&self->locator.opener, root, path, info);
  return geteuid () == 0 && info->st_uid != 0 ? info->st_uid : READER_OURSELVES;
}

ElfStatus
sysprof_elf_search_open (ElfSearch *self,
                         int envelope,
                         const struct stat *info,
                         int root,
                         const char *path,
                         ElfFacts *facts)
{
  uint32_t reader = find_reader (self, root, path, info);

  if (!sysprof_elf_parser_has_open (&self->parser, info))
    self->reader = reader;
  else if (self->reader != reader)
    self->reader = READER_NOBODY; /* the file was found twice, with two readers */
  return sysprof_elf_parser_open (&self->parser, envelope, info, root, path, facts);
}

uint32_t
sysprof_elf_search_reader (const ElfSearch *self, int root)
{
  return geteuid () == 0 && root >= 0 && self->locator.mounts != NULL ? READER_NOBODY
                                                                      : self->reader;
}

bool
sysprof_part_search_try (int root, const char *path, void *part_search)
{
  PartSearch *self = part_search;
  uint32_t reader = sysprof_elf_search_reader (self->search, root);

  self->status = sysprof_elf_status_join (
      self->status, self->add (self->search, reader, root, path, self->i));
  return self->status == ELF_OK;
}
