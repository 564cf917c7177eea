// SPDX-License-Identifier: GPL-3.0-or-later

/* Queries the ELF files behind mappings for what the request wants.
 *
 * A file is only used if it is the recorded one: the build IDs must be equal, or the inodes if
 * one side has no build ID. A separate debug file is used if the file itself has only part of
 * its symbols, and only if it belongs to the file.
 *
 * A capture may name any path, and opening or parsing it may block forever. So one child opens
 * files, and another one parses them. If this program was started as root, the parsing child is
 * unprivileged (elf-sandbox.c). */

#include "symbolize/batch.h"
#include "symbolize/fetched-files.h"
#include "symbolize/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_SUFFIX ".debug"

static bool
is_file (const char *path)
{
  return path[0] == '/' && !g_str_has_prefix (path, "//anon") &&
         !g_str_has_prefix (path, "/memfd:") && !g_str_has_prefix (path, "/dev/") &&
         !g_str_has_prefix (path, "/SYSV");
}

static bool
is_wanted (const char *path)
{
  return is_file (path) || strcmp (path, "[vdso]") == 0;
}

/* --- is it the file that was recorded? --- */

static UnnamedReason
check_identity (const FileBatch *batch, const struct stat *info, const ElfFacts *facts)
{
  if (batch->build_id[0] != 0 && facts->build_id_size > 0)
    return sysprof_elf_has_build_id (facts, batch->build_id) ? UNNAMED_NOT
                                                             : UNNAMED_OTHER_BUILD_ID;
  if (batch->inode != 0 && info->st_ino != batch->inode)
    return UNNAMED_OTHER_INODE;
  return UNNAMED_NOT;
}

static UnnamedReason
reason_of_errno (int number)
{
  return number == EACCES || number == EPERM || number == ETIMEDOUT ? UNNAMED_FILE_DENIED
                                                                    : UNNAMED_FILE_MISSING;
}

/* Opens the recorded file, which is now at `path`, in the parser. On failure returns FALSE and
 * sets the reason. */
static bool
open_recorded_file (ElfSearch *self,
                    const FileBatch *batch,
                    int root,
                    const char *path,
                    ElfFacts *facts,
                    UnnamedReason *reason)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_file (&self->locator.opener, OPEN_REGULAR_FILE,
                                       READER_OURSELVES, root, path, &info);

  if (envelope < 0)
    {
      *reason = reason_of_errno (errno);
      return false;
    }

  switch (sysprof_elf_search_open (self, envelope, &info, root, path, facts))
    {
    case ELF_OK:
      *reason = check_identity (batch, &info, facts);
      break;
    case ELF_IO_ERROR:
      *reason = UNNAMED_FILE_DENIED;
      break;
    case ELF_SKIPPED:
      *reason = UNNAMED_SKIPPED;
      break;
    default:
      *reason = UNNAMED_NOT_ELF;
      break;
    }
  return *reason == UNNAMED_NOT;
}

/* --- reasons --- */

/* Returns why addresses have no name although the file could be read. */
static UnnamedReason
reason_of_lack (const ElfFacts *facts, ElfStatus debug_status)
{
  if (debug_status == ELF_OK)
    return UNNAMED_BETWEEN_SYMBOLS;
  if (facts->is_over_limit || debug_status == ELF_TOO_LARGE)
    return UNNAMED_OVER_LIMIT;
  if (debug_status == ELF_SKIPPED)
    return UNNAMED_SKIPPED;
  if (debug_status == ELF_GIVEN_UP)
    return UNNAMED_DEBUG_FILE_FAILED;
  if (debug_status == ELF_MISMATCH)
    return UNNAMED_OTHER_DEBUG_FILE;
  return facts->symbols_status == ELF_OK ? UNNAMED_BETWEEN_SYMBOLS : UNNAMED_NO_SYMBOLS;
}

/* Inode numbers are only meaningful on this machine. */
static bool
is_identifiable (const Symbolization *self, const FileBatch *batch)
{
  return is_file (batch->path) &&
         (batch->build_id[0] != 0 || (batch->inode != 0 && !self->is_elsewhere));
}

static void
explain_unsure (Symbolization *self, const FileBatch *batch)
{
  if (self->request->explain_unsure != NULL)
    self->request->explain_unsure (self, batch);
}

/* --- fetched files --- */

static void
note_wanted (Symbolization *self, const FileBatch *batch, const ElfFacts *facts)
{
  WantedFile wanted = { .path = batch->path,
                        .recorded_id = batch->build_id,
                        .inode = batch->inode,
                        .is_missing = facts == NULL };

  if (facts != NULL)
    sysprof_elf_write_build_id (facts->build_id, facts->build_id_size, wanted.build_id);
  else
    g_strlcpy (wanted.build_id, batch->build_id, sizeof wanted.build_id);
  if (sysprof_is_build_id (sysprof_text_from_string (wanted.build_id)))
    g_array_append_val (self->wanted, wanted);
}

static bool
open_wanted_file (ElfSearch *self,
                  const FileBatch *batch,
                  const char *build_id,
                  int root,
                  const char *path,
                  ElfFacts *facts)
{
  UnnamedReason reason;

  return open_recorded_file (self, batch, root, path, facts, &reason) &&
         sysprof_elf_has_build_id (facts, build_id);
}

/* Opens the file at one of the roots where it may have been when it was noted as wanted. */
static bool
open_found_file (ElfSearch *self, const FileBatch *batch, const char *build_id, ElfFacts *facts)
{
  g_autoptr (GPtrArray) paths = NULL;
  FileRoots roots;
  bool is_ours;

  sysprof_file_roots_find (&roots, &self->locator, batch);
  for (unsigned i = 0; i < roots.n; i++)
    if (open_wanted_file (self, batch, build_id, roots.fd[i], batch->path, facts))
      return true;
  if (self->locator.mounts == NULL)
    return false;

  paths = sysprof_list_translations (&self->locator, batch, batch->path, &is_ours);
  for (guint i = 0; i < paths->len; i++)
    if (open_wanted_file (self, batch, build_id, -1, paths->pdata[i], facts))
      return true;
  return false;
}

/* Resolves names with a debug file whose main file is missing. Returns FALSE if it is from
 * another build, or its code cannot be assigned to file offsets. */
static bool
use_debug_file_alone (ElfSearch *self, const FileBatch *batch, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_file (&self->locator.opener, OPEN_REGULAR_FILE,
                                       READER_OURSELVES, root, path, &info);
  g_autofree uint64_t *addresses = NULL;
  ElfFacts facts = { 0 };

  if (envelope < 0 ||
      sysprof_elf_search_open (self, envelope, &info, root, path, &facts) != ELF_OK ||
      !sysprof_elf_has_build_id (&facts, batch->build_id) ||
      !self->symbolization->request->is_complete (&facts))
    return false;
  if (facts.text_size != 0)
    {
      if (self->symbolization->request->reads_code)
        return false; /* a debug file contains no code */
      addresses = sysprof_find_link_addresses (self->symbolization->store, batch,
                                               facts.text_address, facts.text_size);
      if (addresses == NULL)
        return false;
    }
  return self->symbolization->request->resolve (self, batch, addresses,
                                                UNNAMED_BETWEEN_SYMBOLS);
}

/* The file itself is on this machine, or was fetched with its debug file. */
static void
resolve_file_fetched (ElfSearch *self, const FileBatch *batch, FetchedFile *fetched)
{
  ElfStatus debug_status = ELF_ABSENT;
  ElfFacts facts = { 0 };
  bool is_open =
      fetched->executable != NULL
          ? open_wanted_file (self, batch, fetched->build_id, -1, fetched->executable, &facts)
          : open_found_file (self, batch, fetched->build_id, &facts);

  fetched->is_unfit = fetched->executable != NULL && !is_open;
  if (!is_open)
    {
      if (fetched->debug != NULL && strcmp (fetched->build_id, batch->build_id) == 0)
        (void) use_debug_file_alone (self, batch, -1, fetched->debug);
      return;
    }

  if (self->parser.has_debug)
    debug_status = ELF_OK;
  else if (fetched->debug != NULL && !self->symbolization->request->is_complete (&facts))
    {
      debug_status = sysprof_elf_search_add_debug (self, fetched->debug);
      fetched->is_unfit = debug_status != ELF_OK && debug_status != ELF_TOO_LARGE;
    }
  /* If no debug file could be used, the file alone has already been tried. It may also be
   * another file than the one found earlier. */
  if (fetched->executable == NULL && debug_status != ELF_OK)
    return;
  (void) self->symbolization->request->resolve (self, batch, NULL,
                                                reason_of_lack (&facts, debug_status));
}

/* --- files of this machine --- */

/* Resolves names with the open file, which was found below `root` at `path`. On failure returns
 * FALSE and sets the reason. */
static bool
use_open_file (ElfSearch *self,
               const FileBatch *batch,
               int root,
               const char *path,
               const ElfFacts *facts,
               UnnamedReason *reason)
{
  ElfStatus debug_status = ELF_ABSENT;
  bool is_complete = self->symbolization->request->is_complete (facts);
  Symbolization *symbolization = self->symbolization;
  const SymbolRequest *request = symbolization->request;

  /* Without identification, the file may be a different one. */
  if (request->reads_lines && symbolization->is_elsewhere && facts->build_id_size == 0)
    {
      explain_unsure (symbolization, batch);
      return true;
    }
  if (self->parser.has_debug)
    debug_status = ELF_OK;
  else if (!is_complete)
    debug_status = sysprof_elf_search_find_debug (self, batch, root, path, facts);
  if (debug_status != ELF_OK && !is_complete)
    note_wanted (symbolization, batch, facts);
  if ((debug_status != ELF_OK && request->is_useless (symbolization, batch, is_complete)) ||
      request->resolve (self, batch, NULL, reason_of_lack (facts, debug_status)))
    return true;

  *reason =
      sysprof_elf_cache_is_over_budget (&self->parser.elf) ? UNNAMED_SKIPPED : UNNAMED_NOT_ELF;
  return false;
}

/* Resolves names with the file below `root` at `path`. If that fails, sets `reason` and returns
 * FALSE; the caller then tries the next path. */
static bool
try_place (ElfSearch *self,
           const FileBatch *batch,
           int root,
           const char *path,
           UnnamedReason *reason)
{
  UnnamedReason here = UNNAMED_NOT;
  ElfFacts facts = { 0 };
  bool is_open = open_recorded_file (self, batch, root, path, &facts, &here);

  /* A reason from an existing file takes precedence over "file missing". */
  if (here != UNNAMED_NOT && (*reason == UNNAMED_FILE_MISSING || here != UNNAMED_FILE_MISSING))
    *reason = here;
  return is_open && use_open_file (self, batch, root, path, &facts, reason);
}

/* Whether the file that the recorder held open is certainly the recorded one. */
static bool
is_kept_file (const Symbolization *self,
              const FileBatch *batch,
              const PinnedFile *kept,
              const ElfFacts *facts)
{
  if (batch->build_id[0] != 0 && facts->build_id_size > 0)
    return sysprof_elf_has_build_id (facts, batch->build_id);

  /* Inode numbers are unique only within a file system, which recordings do not identify, and
   * they are reused. So the file is only accepted if it is the only one with that number. */
  return batch->inode != 0 && strcmp (batch->path, kept->path) == 0 &&
         sysprof_pinned_files_find (self->options->pinned_files, batch->inode, NULL, 1) == NULL;
}

/* Tries the files that the recorder held open. */
static bool
try_pinned_files (ElfSearch *self, const FileBatch *batch, UnnamedReason *reason)
{
  const PinnedFiles *files = self->symbolization->options->pinned_files;
  const PinnedFile *kept;

  for (unsigned n = 0;
       files != NULL &&
       (kept = sysprof_pinned_files_find (files, batch->inode, batch->path, n)) != NULL;
       n++)
    {
      ElfFacts facts = { 0 };

      if (sysprof_elf_search_open (self, kept->envelope, &kept->info, -1, batch->path,
                                   &facts) == ELF_OK &&
          is_kept_file (self->symbolization, batch, kept, &facts) &&
          use_open_file (self, batch, -1, batch->path, &facts, reason))
        return true;
    }
  return false;
}

/* Tries the file's own path below the roots of running processes, then below our own root.
 * `reason_there` is set to the reason of the first one. */
static bool
try_own_path (ElfSearch *self,
              const FileBatch *batch,
              bool may_be_ours,
              UnnamedReason *reason_there,
              UnnamedReason *reason)
{
  FileRoots roots;

  sysprof_file_roots_find (&roots, &self->locator, batch);
  for (unsigned i = 0; i < roots.n; i++)
    {
      const char *rest = sysprof_file_roots_find_rest (&roots, i, batch->path);

      if (roots.fd[i] < 0)
        *reason_there = *reason;
      if (rest != NULL && try_place (self, batch, roots.fd[i], rest, reason))
        return true;
      if ((roots.fd[i] >= 0 || may_be_ours) &&
          try_place (self, batch, roots.fd[i], batch->path, reason))
        return true;
    }
  return false;
}

/* Tries the paths where processes that have exited saw it. */
static bool
try_translations (ElfSearch *self,
                  const FileBatch *batch,
                  bool has_tried_ours,
                  UnnamedReason reason_there,
                  UnnamedReason *reason)
{
  bool is_ours;
  g_autoptr (GPtrArray) paths =
      sysprof_list_translations (&self->locator, batch, batch->path, &is_ours);

  /* The file at this path on the host is unrelated, so its reason is not used. */
  if (!is_ours)
    *reason = reason_there;
  for (guint i = 0; i < paths->len; i++)
    if ((!has_tried_ours || strcmp (paths->pdata[i], batch->path) != 0) &&
        try_place (self, batch, -1, paths->pdata[i], reason))
      return true;

  return paths->len == 0 && is_ours && !has_tried_ours &&
         try_place (self, batch, -1, batch->path, reason);
}

/* Tries DIR/.build-id/ab/cdef.debug, and next to it the file itself, as some tools collect
 * both. */
static bool
try_build_id_below (ElfSearch *self, const FileBatch *batch, int root, UnnamedReason *reason)
{
  const DebugLink recorded = { batch->build_id, "" };
  g_autoptr (GArray) candidates =
      sysprof_list_debug_candidates (&self->locator, root, batch->path, &recorded, true);

  for (guint i = 0; i < candidates->len; i++)
    {
      const DebugCandidate *candidate = &g_array_index (candidates, DebugCandidate, i);
      g_autofree char *itself =
          g_strndup (candidate->path, strlen (candidate->path) - strlen (DEBUG_SUFFIX));
      ElfFacts facts = { 0 };
      UnnamedReason here;

      if (open_recorded_file (self, batch, candidate->root, itself, &facts, &here) &&
          sysprof_elf_has_build_id (&facts, batch->build_id) && facts.text_size == 0 &&
          use_open_file (self, batch, candidate->root, itself, &facts, reason))
        return true;
      if (use_debug_file_alone (self, batch, candidate->root, candidate->path))
        return true;
    }
  return false;
}

/* Searches by build ID only, independent of the path. */
static bool
try_build_id (ElfSearch *self, const FileBatch *batch, UnnamedReason *reason)
{
  FileRoots roots;

  if (!sysprof_is_build_id (sysprof_text_from_string (batch->build_id)))
    return false;

  sysprof_file_roots_find (&roots, &self->locator, batch);
  for (unsigned i = 0; i < roots.n; i++)
    if (try_build_id_below (self, batch, roots.fd[i], reason))
      return true;
  return false;
}

static void
resolve_file (ElfSearch *self, const FileBatch *batch)
{
  /* Without an identification, a file of another namespace must not be used. */
  bool may_be_ours = self->locator.mounts == NULL || sysprof_file_batch_is_identified (batch);
  UnnamedReason reason = UNNAMED_FILE_MISSING, reason_there = UNNAMED_FILE_MISSING;

  if (try_own_path (self, batch, may_be_ours, &reason_there, &reason))
    return;
  if (self->locator.mounts != NULL &&
      try_translations (self, batch, may_be_ours, reason_there, &reason))
    return;
  if (try_pinned_files (self, batch, &reason) || try_build_id (self, batch, &reason))
    return;

  if (self->symbolization->request->explain != NULL)
    self->symbolization->request->explain (self->symbolization, batch, reason);
  if (reason == UNNAMED_FILE_MISSING || reason == UNNAMED_OTHER_INODE ||
      reason == UNNAMED_OTHER_BUILD_ID)
    note_wanted (self->symbolization, batch, NULL);
}

/* The vDSO is the same in every process of the running kernel, so our own is used. */
static void
resolve_vdso (Symbolization *self, const FileBatch *batch)
{
  ElfAnswers answers = { 0 };

  if (self->is_this_boot &&
      sysprof_vdso_resolve (batch->offsets, batch->n_offsets, &answers) == ELF_OK)
    sysprof_names_use (self, batch, &answers, UNNAMED_BETWEEN_SYMBOLS);
  else
    self->request->explain (self, batch, UNNAMED_FILE_MISSING);
  sysprof_elf_answers_clear (&answers);
}

static void
note_gaps (const Symbolization *self,
           const FileBatch *batch,
           DebugGapKind kind,
           const GPtrArray *paths)
{
  for (guint i = 0; paths != NULL && i < paths->len; i++)
    sysprof_symbolization_note_gap (self, batch->path, kind, 1, paths->pdata[i]);
}

static void
note_failed_parts (ElfSearch *self, const FileBatch *batch)
{
  note_gaps (self->symbolization, batch, DEBUG_GAP_FAILED, self->parser.blamed);
  note_gaps (self->symbolization, batch, DEBUG_GAP_SKIPPED, self->parser.skipped);
  sysprof_elf_parser_forgive (&self->parser, 0);
  g_clear_pointer (&self->parser.skipped, g_ptr_array_unref);
}

/* `fetched` is [batches->n], or NULL for files of this machine. */
static void
resolve_batches (Symbolization *self, const FileBatches *batches, FetchedFile *fetched)
{
  ElfSearch search;

  sysprof_elf_search_init (&search, self, fetched != NULL);
  for (uint32_t i = 0; i < batches->n && sysprof_progress_at (self->progress, i, batches->n);
       i++)
    {
      const FileBatch *batch = &batches->row[i];

      if (fetched != NULL && fetched[i].executable == NULL && fetched[i].debug == NULL)
        continue;
      if (self->request->reads_lines && !is_identifiable (self, batch))
        {
          explain_unsure (self, batch);
          continue;
        }
      if (fetched != NULL)
        {
          resolve_file_fetched (&search, batch, &fetched[i]);
          if (search.parser.is_open)
            sysprof_elf_write_build_id (search.parser.facts.alt_id,
                                        search.parser.facts.alt_id_size, fetched[i].supplement);
        }
      else if (is_file (batch->path))
        resolve_file (&search, batch);
      else
        resolve_vdso (self, batch);
      note_failed_parts (&search, batch);
    }
  sysprof_elf_search_clear (&search);
}

void
sysprof_elf_resolve_fetched (Symbolization *self,
                             const FileBatches *batches,
                             FetchedFile *fetched)
{
  resolve_batches (self, batches, fetched);
}

FileBatches *
sysprof_elf_find_lines (Symbolization *self)
{
  FileBatches *batches = sysprof_file_batches_new (self, is_wanted);

  resolve_batches (self, batches, NULL);
  return batches;
}

static bool
resolve (Symbolization *self, GError **error)
{
  g_autoptr (FileBatches) batches = sysprof_file_batches_new (self, is_wanted);

  resolve_batches (self, batches, NULL);
  return true;
}

const Symbolizer sysprof_elf_symbolizer = { "elf", resolve };
