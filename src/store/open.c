// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens a capture: reads the file, checks its header, and runs the steps of builder.h in
 * order. */

#include "store/store.h"

#include "store/builder.h"
#include "store/file-bytes.h"
#include "store/file-stamp.h"

#include <fcntl.h>

static const uint8_t magic[] = { 0x5e, 0x97, 0xca, 0xfd };

#define SHARE_OF_BYTES 0.15 /* of the time, where they must be unpacked */

static bool
check_header (const FileBytes *bytes, const char *name, GError **error)
{
  const char *foreign = sysprof_foreign_file_describe (bytes->bytes, bytes->size);

  if (foreign != NULL)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT, "Cannot open '%s': this is %s.",
                   name, foreign);
      return false;
    }
  if (bytes->size < FILE_HEADER_SIZE)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_TRUNCATED,
                   "Cannot open '%s': it has %zu bytes, and a capture begins with %d. "
                   "It was cut; copy it again from where it was recorded.",
                   name, bytes->size, FILE_HEADER_SIZE);
      return false;
    }

  if (memcmp (bytes->bytes, magic, sizeof magic) != 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                   "Cannot open '%s': it does not begin like a capture (5e 97 ca fd). "
                   "Give a file that sysprof-cli or Sysprof recorded.",
                   name);
      return false;
    }

  return true;
}

/* What comes once the bytes are there. A step that is cancelled ends early; what it leaves can
 * be freed. */
typedef struct
{
  void (*run) (Builder *builder);
  double share; /* about, of the time that it takes to open a capture of samples */
  const char *message;
  bool leaves_file; /* it has read frames all over the file, whose pages are left behind */
} Step;

static const Step steps[] = {
  { sysprof_builder_scan, 0.4, "Finding frames", true },
  { sysprof_builder_read_embedded_files, 0.01, "Finding files", false },
  /* Before the processes, which use them, and the stacks, which share one tree with them. */
  { sysprof_builder_read_waits, 0.02, "Reading waits", false },
  { sysprof_builder_read_thread_names, 0.01, "Reading names of threads", false },
  { sysprof_builder_find_processes, 0.1, "Finding processes", true },
  /* Before the stacks, whose addresses they may tell apart. */
  { sysprof_builder_read_jit_names, 0.01, "Reading names of generated code", false },
  { sysprof_builder_read_jit_code, 0.01, "Reading names of generated code", false },
  { sysprof_builder_fold_stacks, 0.2, "Folding stacks", true },
  { sysprof_builder_read_heap, 0.02, "Reading allocations", false },
  { sysprof_builder_read_marks, 0.02, "Reading marks", false },
  { sysprof_builder_read_logs, 0.01, "Reading logs", false },
  { sysprof_builder_read_dbus, 0.01, "Reading messages", false },
  { sysprof_builder_read_metadata, 0.01, "Reading metadata", false },
  { sysprof_builder_read_counters, 0.02, "Reading counters", false },
  { sysprof_builder_count_lost, 0.01, "Counting losses", false },
  { sysprof_builder_read_sample_notes, 0.01, "Reading how stacks were found", false },
  { sysprof_builder_read_weights, 0.01, "Reading weights", false },
  { sysprof_builder_read_sampled_events, 0.01, "Reading what was sampled on", false },
};

static bool
fill_columns (Builder *builder, GError **error)
{
  for (size_t i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      if (sysprof_progress_stage (builder->progress, steps[i].share, steps[i].message))
        steps[i].run (builder);
      if (sysprof_progress_set_error_if_cancelled (builder->progress, error))
        return false;
      if (steps[i].leaves_file)
        sysprof_file_bytes_leave (builder->file);
    }

  return true;
}

static Store *
new_store (FileBytes *bytes,
           const FileStamp *stamp,
           const char *name,
           Progress *progress,
           GError **error)
{
  OpenStore *self = g_new0 (OpenStore, 1);
  Store *store = &self->store;
  Builder builder = {
    .store = store, .file = &self->bytes, .progress = progress, .key = sysprof_random_key ()
  };
  bool done;

  g_atomic_ref_count_init (&self->n_refs);
  sysprof_intern_init (&store->strings);
  self->bytes = *bytes;
  self->path = g_strdup (name);
  store->path = self->path;
  store->stamp = *stamp;
  store->bytes = bytes->bytes;
  store->size = bytes->size;

  builder.damage =
      g_string_new (bytes->is_cut ? "The compressed data end early or are damaged." : NULL);
  builder.mixed = g_string_new (NULL);
  builder.process_of_pid = g_hash_table_new (NULL, NULL);
  builder.process_of_tid = g_hash_table_new (NULL, NULL);
  done = fill_columns (&builder, error);

  sysprof_file_bytes_leave (&self->bytes);
  self->damage = g_string_free (builder.damage, FALSE);
  store->damage = *self->damage != '\0' ? self->damage : NULL;
  self->mixed = g_string_free (builder.mixed, FALSE);
  store->mixed = *self->mixed != '\0' ? self->mixed : NULL;
  g_hash_table_unref (builder.process_of_pid);
  g_hash_table_unref (builder.process_of_tid);
  g_free (builder.sample_digests); /* where folding was cancelled */
  g_free (builder.allocation_digests);
  g_free (builder.trace_digests);
  sysprof_wait_stacks_clear (&builder.wait_stacks);
  g_free (builder.fork_parent);
  g_free (builder.fork_child);
  g_free (builder.comm_is_derived);
  g_free (builder.has_process_frame);

  if (done && sysprof_file_bytes_were_cut (bytes))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_TRUNCATED,
          "Cannot open '%s': it was cut while it was read. Wait until whoever writes it is done.",
          name != NULL ? name : "the capture");
      done = false;
    }
  if (done)
    return store;

  sysprof_open_store_free (self);
  return NULL;
}

static size_t
memory_limit (void)
{
  long n_pages = sysconf (_SC_PHYS_PAGES);
  long page_size = sysconf (_SC_PAGESIZE);

  if (n_pages <= 0 || page_size <= 0)
    return FILE_BYTES_MOST;
  /* In 64 bits: a machine may have more than one of its programs can address. */
  return (size_t) MIN (FILE_BYTES_MOST, (uint64_t) n_pages * (uint64_t) page_size / 4 * 3);
}

Store *
sysprof_store_open_fd_telling (int fd, const char *name, Progress *progress, GError **error)
{
  const char *shown = name != NULL ? name : "the capture";
  FileBytes bytes = { 0 };
  FileStamp stamp;

  /* First: what is appended while we read belongs to the next who opens it. */
  sysprof_file_stamp_read (&stamp, fd);
  if (!sysprof_progress_stage (progress, SHARE_OF_BYTES, "Reading the capture"))
    {
      (void) sysprof_progress_set_error_if_cancelled (progress, error); /* it is */
      return NULL;
    }
  if (!sysprof_file_bytes_read (&bytes, fd, shown, memory_limit (), magic, sizeof magic,
                                progress, error))
    return NULL;

  if (!check_header (&bytes, shown, error))
    {
      sysprof_file_bytes_clear (&bytes);
      return NULL;
    }

  return new_store (&bytes, &stamp, name, progress, error);
}

Store *
sysprof_store_open_fd (int fd, const char *name, GCancellable *cancellable, GError **error)
{
  Progress progress = { .cancellable = cancellable };

  return sysprof_store_open_fd_telling (fd, name, &progress, error);
}

Store *
sysprof_store_open_telling (const char *path, Progress *progress, GError **error)
{
  autofd fd = -1;

  if (strcmp (path, "-") == 0)
    return sysprof_store_open_fd_telling (STDIN_FILENO, "standard input", progress, error);

  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot open '%s'", path);
      return NULL;
    }

  return sysprof_store_open_fd_telling (fd, path, progress, error);
}

Store *
sysprof_store_open (const char *path, GCancellable *cancellable, GError **error)
{
  Progress progress = { .cancellable = cancellable };

  return sysprof_store_open_telling (path, &progress, error);
}
