// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads source files: as the recorded program saw them, from this machine, or from debuginfod
 * servers.
 *
 * Only the path connects a source file to the compiled code. It may have changed since; only
 * servers identify it by build ID. */

#include "symbolize/fetched-files.h"
#include "symbolize/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Limit on the bytes of all texts, because an untrusted program or capture may name any number
 * of files. */
#define MOST_SOURCES_SIZE (256 << 20)

typedef struct
{
  Symbolization symbolization;
  FileLocator locator;
  size_t room; /* remaining bytes for further texts; 0 = a file exceeded the limit */
} Finder;

/* The program or library that was compiled from the file, if it can be requested from a
 * server. */
typedef struct
{
  FileBatch batch;
  BatchItem *items;
} Made;

static void
made_init (Made *self, const Store *store, const SourceFile *file)
{
  const Mapping *mapping;

  *self = (Made){ .items = g_new0 (BatchItem, file->n_addresses + 1) };
  mapping =
      &store
           ->mappings[file->n_addresses > 0 ? store->addresses.mapping[file->addresses[0]] : 0];
  self->batch = (FileBatch){ .path = sysprof_store_string (store, mapping->path),
                             .build_id = sysprof_store_string (store, mapping->build_id),
                             .inode = mapping->inode,
                             .items = self->items };
  for (uint32_t i = 0; i < file->n_addresses; i++)
    if (store->addresses.kind[file->addresses[i]] == ADDRESS_USER)
      self->items[self->batch.n_items++].address = file->addresses[i];
}

/* --- on this machine --- */

/* Whether the recorded file of the program is at `path`. */
static bool
find_program (Finder *self,
              const FileBatch *batch,
              int root,
              const char *path,
              struct stat *info)
{
  autofd envelope = path[0] == '/'
                        ? sysprof_open_file (&self->locator.opener, OPEN_REGULAR_FILE,
                                             READER_OURSELVES, root, path, info)
                        : -1;

  return envelope >= 0 && batch->inode != 0 && info->st_ino == batch->inode;
}

/* Returns the reader for sources that the program's file names. */
static uint32_t
find_reader (Finder *self, const FileBatch *batch, int root)
{
  g_autoptr (GPtrArray) paths = NULL;
  struct stat info = { 0 };
  bool is_ours;

  if (geteuid () != 0 || self->locator.mounts == NULL)
    return READER_OURSELVES;
  if (root >= 0)
    return READER_NOBODY;
  paths = sysprof_list_translations (&self->locator, batch, batch->path, &is_ours);
  if (is_ours)
    g_ptr_array_add (paths, g_strdup (batch->path));
  for (guint i = 0; i < paths->len; i++)
    if (find_program (self, batch, -1, paths->pdata[i], &info))
      return sysprof_find_reader (&self->locator.opener, -1, paths->pdata[i], &info);
  return READER_NOBODY;
}

/* Whether the source is newer than the program if the program's file is found next to it; else
 * whether it is newer than the recording. */
static bool
is_newer (Finder *self, const FileBatch *batch, int root, time_t source)
{
  struct stat info = { 0 };
  g_autoptr (GDateTime) recorded = NULL;

  if (self->symbolization.is_elsewhere || self->symbolization.options->sysroot != NULL)
    return false; /* timestamps of another machine cannot be compared */
  if (find_program (self, batch, root, batch->path, &info))
    return source > info.st_mtime;

  recorded = g_date_time_new_from_iso8601 (self->symbolization.store->capture_time, NULL);
  return recorded != NULL && source > g_date_time_to_unix (recorded);
}

static bool
read_text (Finder *self, SourceFile *file, int envelope, const struct stat *info)
{
  autofd text = sysprof_envelope_open (envelope);
  size_t size = (size_t) info->st_size, at = 0;
  ssize_t n = 1;

  if (text < 0)
    return false;
  if (size >= self->room)
    {
      self->room = 0;
      errno = EFBIG;
      return false;
    }
  self->room -= size;
  file->text = g_malloc (size + 1);
  for (; at < size && n > 0; at += (size_t) MAX (n, 0))
    n = pread (text, file->text + at, size - at, (off_t) at);
  file->text[at] = '\0';
  file->size = at;
  return true;
}

static bool
try_place (Finder *self, SourceFile *file, const FileBatch *batch, int root, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = -1;

  if (self->room > 0)
    envelope = sysprof_open_file (&self->locator.opener, OPEN_TEXT_COPY,
                                  find_reader (self, batch, root), root, path, &info);
  else
    errno = EFBIG;
  if (envelope < 0 || !read_text (self, file, envelope, &info))
    {
      /* "Permission denied" for one path is more useful than "not found" for another one. */
      if (file->error == 0 || (file->error == ENOENT && errno != ENOENT))
        file->error = errno;
      return false;
    }
  file->is_newer = is_newer (self, batch, root, info.st_mtime);
  return true;
}

/* Tries the paths where the processes of the file saw it, then those of this machine. */
static bool
find_here (Finder *self, SourceFile *file, const FileBatch *batch)
{
  g_autofree char *path =
      file->path[0] == '/' ? g_strdup (file->path) : g_strconcat ("/", file->path, NULL);
  g_autoptr (GPtrArray) paths = NULL;
  FileRoots roots;
  bool is_ours;

  sysprof_file_roots_find (&roots, &self->locator, batch);
  for (unsigned i = 0; i < roots.n; i++)
    if ((roots.fd[i] >= 0) && try_place (self, file, batch, roots.fd[i], path))
      return true;
  if (self->locator.mounts == NULL)
    return false;

  paths = sysprof_list_translations (&self->locator, batch, path, &is_ours);
  for (guint i = 0; i < paths->len; i++)
    if (try_place (self, file, batch, -1, paths->pdata[i]))
      return true;
  /* The program may have been compiled on this machine and run elsewhere. */
  return try_place (self, file, batch, -1, path);
}

/* --- from servers --- */

static void
take_fetched (Finder *self, SourceFile *file, const FileBatch *batch, const char *path)
{
  struct stat info = { 0 };
  autofd envelope = sysprof_open_file (&self->locator.opener, OPEN_TEXT_COPY, READER_OURSELVES,
                                       -1, path, &info);

  file->is_fetched = envelope >= 0 && read_text (self, file, envelope, &info);
}

static void
fetch (Finder *self, SourceFile *files, const Made *made, uint32_t n)
{
  const SymbolizeOptions *options = self->symbolization.options;
  g_autofree DebuginfodFile *wanted = g_new0 (DebuginfodFile, n + 1);
  DebuginfodStatus status = { 0 };
  uint32_t n_wanted = 0;

  /* With a sysroot, files of this machine are only used if the options request it. */
  if (options->sysroot != NULL && !options->ask_debuginfod)
    return;
  for (uint32_t i = 0; i < n; i++)
    if (files[i].text == NULL && files[i].path[0] == '/' &&
        sysprof_is_build_id (sysprof_text_from_string (made[i].batch.build_id)))
      wanted[n_wanted++] = (DebuginfodFile){ .build_id = made[i].batch.build_id,
                                             .source = files[i].path,
                                             .may_ask = options->ask_debuginfod,
                                             .weight = n - i };
  if (n_wanted == 0)
    return;

  sysprof_debuginfod_fetch (wanted, n_wanted, self->symbolization.progress,
                            options->debuginfod_queue, options->tell_debuginfod,
                            options->tell_debuginfod_data, &status);
  for (uint32_t i = 0; i < n_wanted; i++)
    for (uint32_t j = 0; j < n && wanted[i].path != NULL; j++)
      if (files[j].text == NULL && files[j].path == wanted[i].source &&
          made[j].batch.build_id == wanted[i].build_id)
        take_fetched (self, &files[j], &made[j].batch, wanted[i].path);
  status.is_done = true;
  if (options->ask_debuginfod && options->tell_debuginfod != NULL)
    options->tell_debuginfod (&status, options->tell_debuginfod_data);
  sysprof_debuginfod_files_clear (wanted, n_wanted);
  g_free (status.problem);
}

/* --- from all places --- */

void
sysprof_source_files_read (SourceFile *files,
                           uint32_t n,
                           Store *store,
                           const SymbolTable *symbols,
                           const SymbolizeOptions *options,
                           GCancellable *cancellable)
{
  Progress progress = { .cancellable = cancellable };
  int64_t until = g_get_monotonic_time () + MOST_SOURCE_SECONDS * G_TIME_SPAN_SECOND;
  uint32_t n_sought = MIN (n, MOST_SOURCES);
  g_autofree Made *made = g_new0 (Made, n_sought + 1);
  Finder self = { .room = MOST_SOURCES_SIZE };
  LocateOptions locate;

  sysprof_symbolization_init (&self.symbolization, &sysprof_names_request, store, options,
                              &progress, (SymbolTable *) symbols);
  locate = sysprof_symbolization_locate_options (&self.symbolization);
  sysprof_file_locator_init (&self.locator, &locate);
  for (uint32_t i = 0; i < n_sought; i++)
    {
      made_init (&made[i], store, &files[i]);
      files[i].is_left_out = g_get_monotonic_time () > until;
      if (!files[i].is_left_out && !sysprof_progress_is_cancelled (&progress))
        (void) find_here (&self, &files[i], &made[i].batch);
    }
  for (uint32_t i = n_sought; i < n; i++)
    files[i].is_left_out = true;
  fetch (&self, files, made, n_sought); /* limits its own time and size */

  for (uint32_t i = 0; i < n_sought; i++)
    g_free (made[i].items);
  sysprof_file_locator_clear (&self.locator);
  sysprof_symbolization_clear (&self.symbolization);
}

void
sysprof_source_file_clear (SourceFile *self)
{
  g_clear_pointer (&self->text, g_free);
}
