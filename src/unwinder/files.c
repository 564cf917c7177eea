// SPDX-License-Identifier: GPL-3.0-or-later

/* A file is identified by device and inode. An inode number can be reused and a file can be
 * rewritten, so the file is opened and checked again when it is mapped a while after the last
 * check.
 *
 * Tables of files that no process maps any more are kept up to a limit, because programs such
 * as compilers start again and again. */

#include "unwinder/files.h"

#include "unwinder/table-builders.h"
#include "util/util.h"

/* After a check, a file is assumed to be unchanged for a share of the time since its last
 * change. A file that is built and rewritten in place soon changes again; an installed file is
 * replaced by a new inode. */
#define LEAST_BELIEVED_USEC (2 * G_TIME_SPAN_SECOND)
#define MOST_BELIEVED_USEC  (60 * G_TIME_SPAN_SECOND)
#define BELIEVED_SHARE      16
#define MOST_UNUSED         2048 /* files that no known process maps */
#define MOST_UNREAD         256  /* files that could not be opened and are published as such */
#define MOST_CONTRADICTIONS (1u << 20) /* bytes of text about contradictions */

typedef struct
{
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode; /* 0 = the vDSO */
} Key;

typedef enum
{
  TABLE_PENDING,
  TABLE_READY,
  TABLE_NONE,   /* the file has nothing to build a table from */
  TABLE_FAILED, /* no room, not readable, or the worker failed */
} TableState;

struct CodeFile
{
  Key key;
  CodeFiles *files;
  unsigned n_references; /* of mappings; a file without any is kept for a while */
  bool is_current;       /* by_key contains it */
  bool is_queued;        /* a job of it has not been collected */
  TableState state;
  UnwindFile *published;
  UnwindTableHeader header; /* of its table */
  char *path;               /* as seen by the process that mapped it first */
  uint64_t inode_generation;
  struct timespec modified;
  off_t size;
  int64_t checked_usec;
  int64_t believed_usec; /* from then on */
};

struct CodeFiles
{
  UnwindPublisher *publisher;
  LiveFiles live_files;
  MappingEvents *mapping_events; /* NULL = no event queue */
  PinnedFiles *kept;             /* NULL = not requested */
  GHashTable *by_key;            /* of CodeFile with is_current */
  TableBuilders *builders;
  unsigned n_unused;
  UnwindFileKey unread[MOST_UNREAD]; /* a ring */
  unsigned n_unread;                 /* in all */
  GString *contradictions;
  CodeFilesStatus status;
};

static guint
hash_key (const void *data)
{
  const Key *key = data;

  return g_int64_hash (&(gint64){ (gint64) key->inode }) ^ key->device_major * 4096 ^
         key->device_minor;
}

static gboolean
equal_keys (const void *a, const void *b)
{
  const Key *left = a, *right = b;

  return left->inode == right->inode && left->device_major == right->device_major &&
         left->device_minor == right->device_minor;
}

static UnwindFileKey
to_kernel_key (const CodeFile *file)
{
  if (file->key.inode == 0)
    return (UnwindFileKey){ FILE_VDSO_INODE, FILE_ANY_SIZE, FILE_VDSO_DEVICE, 0 };

  return (UnwindFileKey){
    .inode = file->key.inode,
    .size = (uint64_t) file->size,
    .device = UNWIND_DEVICE (file->key.device_major, file->key.device_minor),
    .generation = (uint32_t) file->inode_generation,
  };
}

/* Publishes the file for walkers that find files by their inode. */
static void
tell_of_file (CodeFile *file)
{
  UnwindPublisher *publisher = file->files->publisher;
  UnwindFileKey key = to_kernel_key (file);
  int64_t now = g_get_monotonic_time ();

  /* The publisher counts files that find no room. */
  if (file->state == TABLE_FAILED)
    (void) sysprof_unwind_publisher_set_failed_file (publisher, &key, now);
  else
    (void) sysprof_unwind_publisher_set_file (publisher, &key, file->published, &file->header,
                                              now);
}

static ReportedFile
to_reported_file (const CodeFile *file)
{
  return (ReportedFile){ file->key.inode, file->inode_generation, file->key.device_major,
                         file->key.device_minor };
}

/* Passes the build ID to the event queue. */
static void
tell_of_name (const CodeFile *file)
{
  ReportedFile reported = to_reported_file (file);

  sysprof_mapping_events_set_file (file->files->mapping_events, &reported,
                                   file->state != TABLE_PENDING ? file->header.build_id : NULL,
                                   file->header.build_id_size, file->believed_usec * 1000);
}

/* Publishes that the file has no table; otherwise the walker would copy the stack each time
 * that it meets the file. Most such files disappear with their process, so only the last
 * MOST_UNREAD stay published. */
static void
tell_of_unread_file (CodeFile *file)
{
  CodeFiles *self = file->files;
  UnwindFileKey *last = &self->unread[self->n_unread % MOST_UNREAD];
  Key key = { last->device >> 20, last->device & 0xfffff, last->inode };

  if (self->n_unread++ >= MOST_UNREAD && !g_hash_table_contains (self->by_key, &key))
    sysprof_unwind_publisher_drop_file (self->publisher, last, g_get_monotonic_time ());
  *last = to_kernel_key (file);
  last->size = FILE_ANY_SIZE;
  /* The publisher counts failures. */
  (void) sysprof_unwind_publisher_set_failed_file (self->publisher, last,
                                                   g_get_monotonic_time ());
}

/* Frees the file unless it is still referenced, current or queued. */
static void
release_file (CodeFile *file)
{
  if (file->n_references > 0 || file->is_current || file->is_queued)
    return;

  if (file->published != NULL)
    sysprof_unwind_file_unref (file->files->publisher, file->published,
                               g_get_monotonic_time ());
  g_free (file->path);
  g_free (file);
}

/* From now on the key belongs to another file, or to none. */
static void
retire_file (CodeFile *file)
{
  CodeFiles *self = file->files;
  UnwindFileKey key = to_kernel_key (file);
  ReportedFile reported = to_reported_file (file);

  sysprof_unwind_publisher_drop_file (self->publisher, &key, g_get_monotonic_time ());
  sysprof_mapping_events_forget_file (self->mapping_events, &reported);
  g_hash_table_remove (self->by_key, &file->key);
  file->is_current = false;
  if (file->n_references == 0)
    self->n_unused--;
  release_file (file);
}

static int
compare_ages (const void *a, const void *b)
{
  const CodeFile *left = *(CodeFile *const *) a, *right = *(CodeFile *const *) b;

  return (left->checked_usec > right->checked_usec) -
         (left->checked_usec < right->checked_usec);
}

/* Retires the `n` unused files whose last check is longest ago. */
static void
retire_unused_files (CodeFiles *self, unsigned n)
{
  g_autoptr (GPtrArray) unused = g_ptr_array_new ();
  GHashTableIter iter;
  void *file;

  g_hash_table_iter_init (&iter, self->by_key);
  while (g_hash_table_iter_next (&iter, NULL, &file))
    if (((CodeFile *) file)->n_references == 0)
      g_ptr_array_add (unused, file);

  g_ptr_array_sort (unused, compare_ages);
  for (guint i = 0; i < MIN (n, unused->len); i++)
    retire_file (g_ptr_array_index (unused, i));
}

CodeFile *
sysprof_code_file_ref (CodeFile *file)
{
  if (file != NULL && file->n_references++ == 0 && file->is_current)
    file->files->n_unused--;
  return file;
}

void
sysprof_code_file_unref (CodeFile *file)
{
  CodeFiles *self;

  if (file == NULL || --file->n_references > 0)
    return;

  self = file->files;
  if (file->is_current && ++self->n_unused > MOST_UNUSED)
    retire_unused_files (self, MOST_UNUSED / 2);
  else
    release_file (file);
}

static bool
is_same_file (const CodeFile *file, const struct stat *info)
{
  return file->size == info->st_size && file->modified.tv_sec == info->st_mtim.tv_sec &&
         file->modified.tv_nsec == info->st_mtim.tv_nsec;
}

/* Based on ctime, which only root can set. */
static int64_t
believed_usec (const struct stat *info)
{
  int64_t age = g_get_real_time () - info->st_ctim.tv_sec * G_TIME_SPAN_SECOND;

  return CLAMP (age / BELIEVED_SHARE, LEAST_BELIEVED_USEC, MOST_BELIEVED_USEC);
}

/* The known file, if it has certainly not been replaced. */
static CodeFile *
find_file (CodeFiles *self,
           const LiveMapping *mapping,
           const Key *key,
           uint64_t inode_generation,
           int64_t now)
{
  CodeFile *file = g_hash_table_lookup (self->by_key, key);
  struct stat info;

  if (file == NULL)
    return NULL;

  if (inode_generation != 0 && file->inode_generation == 0)
    {
      file->inode_generation = inode_generation;
      if (file->state != TABLE_PENDING)
        tell_of_file (file);
    }
  if (inode_generation != 0 && file->inode_generation != inode_generation)
    {
      retire_file (file);
      return NULL;
    }

  if (key->inode == 0 || now - file->checked_usec < file->believed_usec)
    return file;

  file->checked_usec = now;
  if (!sysprof_live_files_look (&self->live_files, mapping, &info))
    return file;
  if (is_same_file (file, &info))
    {
      file->believed_usec = believed_usec (&info);
      return file;
    }

  retire_file (file);
  return NULL;
}

static void
queue_job (CodeFiles *self, TableJob job, bool soon)
{
  job.file->is_queued = true;
  self->status.n_waiting++;
  sysprof_table_builders_queue (self->builders, &job, soon);
}

/* Keeps the file open, because its processes may have exited and the file may be deleted before
 * the recording ends. */
static void
keep_file (CodeFiles *self, const LiveMapping *mapping, int envelope, const struct stat *info)
{
  const PinnedFile file = {
    .inode = mapping->inode,
    .device_major = mapping->device_major,
    .device_minor = mapping->device_minor,
    .path = (char *) mapping->path,
    .envelope = envelope,
    .info = *info,
  };

  if (self->kept != NULL && mapping->inode != 0)
    sysprof_pinned_files_add (self->kept, &file);
}

CodeFile *
sysprof_code_files_get (CodeFiles *self,
                        const LiveMapping *mapping,
                        uint64_t inode_generation,
                        bool soon,
                        int64_t now)
{
  Key key = { mapping->device_major, mapping->device_minor, mapping->inode };
  struct stat info = { 0 };
  CodeFile *file;
  int envelope;

  if (mapping->inode == 0 && strcmp (mapping->path, VDSO_PATH) != 0)
    return NULL;

  file = find_file (self, mapping, &key, inode_generation, now);
  if (file != NULL)
    {
      if (self->mapping_events != NULL)
        tell_of_name (file);
      return sysprof_code_file_ref (file);
    }

  envelope = sysprof_live_files_open (&self->live_files, mapping, &info);
  file = g_new0 (CodeFile, 1);
  *file = (CodeFile){
    .key = key,
    .files = self,
    .n_references = 1,
    .is_current = true,
    .state = envelope >= 0 ? TABLE_PENDING : TABLE_FAILED,
    .inode_generation = inode_generation,
    .modified = info.st_mtim,
    .size = info.st_size,
    .checked_usec = now,
    .believed_usec = believed_usec (&info),
    .path = g_strdup (mapping->path),
  };
  if (envelope < 0)
    {
      /* Another process may be able to open the file. */
      file->is_current = false;
      tell_of_unread_file (file);
      self->status.n_without++;
      self->status.n_failed++;
      return file;
    }

  g_hash_table_insert (self->by_key, &file->key, file);
  tell_of_name (file);
  keep_file (self, mapping, envelope, &info);
  queue_job (
      self,
      (TableJob){ .file = file, .envelope = envelope, .debug_envelope = -1, .info = info },
      soon);
  return file;
}

bool
sysprof_code_files_is_building (CodeFiles *self, const UnwindFileKey *file)
{
  const Key key = { file->device >> 20, file->device & 0xfffff, file->inode };
  const CodeFile *known = g_hash_table_lookup (self->by_key, &key);

  return known != NULL && known->state == TABLE_PENDING &&
         (known->inode_generation == 0 || known->inode_generation == file->generation);
}

/* Escapes a path as the kernel does in /proc, because a path can contain a newline. */
static void
append_escaped (GString *text, const char *path)
{
  for (const uint8_t *at = (const uint8_t *) path; *at != '\0'; at++)
    if (*at < ' ' || *at == '\\' || *at == 0x7f)
      g_string_append_printf (text, "\\%03o", *at);
    else
      g_string_append_c (text, (char) *at);
}

/* TRUE if the failure does not depend on the file's content. */
static bool
is_failure (ElfStatus status)
{
  return status == ELF_IO_ERROR || status == ELF_NO_MEMORY || status == ELF_TOO_LARGE;
}

/* TRUE if CFI covers less than seven eighths of the text, so that most unwind rules come from
 * the instructions. Stubs and a few functions in assembly take up less than an eighth. */
static bool
wants_debug_file (const UnwindTableHeader *header)
{
  uint64_t with_cfi = header->covered_size - header->read_size;

  return header->build_id_size > 0 && with_cfi + header->text_size / 8 < header->text_size;
}

/* FALSE: this result is final. */
static bool
queue_again (CodeFiles *self, TableJob *job)
{
  TableJob again = *job;
  bool goes_in_front = false;

  again.table = (UnwindTable){ 0 };
  if (job->status == ELF_OK && !job->has_sought_debug_file &&
      wants_debug_file (job->table.header))
    {
      const UnwindTableHeader *header = job->table.header;

      again.has_sought_debug_file = goes_in_front = true;
      again.debug_envelope = sysprof_live_files_open_debug (&self->live_files, header->build_id,
                                                            header->build_id_size);
      if (again.debug_envelope < 0)
        return false;
    }
  else if (job->status != ELF_OK && job->debug_envelope >= 0)
    {
      /* A table from the file's own instructions is better than none. */
      sysprof_autofd_close (&job->debug_envelope);
      again.debug_envelope = -1;
    }
  else if (job->status == ELF_IO_ERROR && !job->is_again)
    /* A worker can be killed for reasons unrelated to the file. Retry behind all other jobs, so
     * that they do not wait twice. */
    again.is_again = true;
  else
    return false;

  sysprof_unwind_table_clear (&job->table);
  queue_job (self, again, goes_in_front);
  return true;
}

static void
adopt_result (CodeFiles *self, TableJob *job)
{
  CodeFile *file = job->file;
  size_t table_size = job->table.size;

  file->is_queued = false;
  self->status.n_waiting--;
  self->status.building_nsec += job->nsec;
  if (queue_again (self, job))
    return;
  sysprof_autofd_close (&job->envelope);
  sysprof_autofd_close (&job->debug_envelope);
  if (job->status == ELF_OK)
    {
      file->published = sysprof_unwind_publisher_add_table (self->publisher, &job->table,
                                                            g_get_monotonic_time ());
      file->header = *job->table.header;
      self->status.text_size += job->table.header->text_size;
      if (file->header.n_contradictions > 0 && self->contradictions->len < MOST_CONTRADICTIONS)
        {
          g_string_append_printf (self->contradictions, "%u %u ", file->header.n_contradictions,
                                  file->header.n_functions);
          append_escaped (self->contradictions, file->path);
          g_string_append_c (self->contradictions, '\n');
        }
      sysprof_unwind_table_clear (&job->table);
    }
  file->state = file->published != NULL                             ? TABLE_READY
                : job->status == ELF_OK || is_failure (job->status) ? TABLE_FAILED
                                                                    : TABLE_NONE;
  if (file->is_current)
    {
      tell_of_file (file);
      tell_of_name (file);
    }
  /* `bench/first-stacks.py` reads the time. */
  g_debug ("Table of inode %" G_GUINT64_FORMAT ": %s, %zu bytes, in place at %" G_GINT64_FORMAT
           " ns",
           file->key.inode, sysprof_elf_status_to_string (job->status), table_size,
           g_get_monotonic_time () * 1000);
  if (file->state == TABLE_READY)
    self->status.n_tables++;
  else
    self->status.n_without++;
  self->status.n_failed += file->state == TABLE_FAILED;
  release_file (file);
}

bool
sysprof_code_files_collect (CodeFiles *self)
{
  bool any = false;
  TableJob *job;

  while ((job = sysprof_table_builders_collect (self->builders)) != NULL)
    {
      adopt_result (self, job);
      g_free (job);
      any = true;
    }
  return any;
}

void
sysprof_code_file_describe (CodeFile *file, uint64_t offset, UnwindProcessMapping *mapping)
{
  UnwindTable table = { .header = file != NULL ? &file->header : NULL };

  mapping->file = NULL;
  mapping->bias = 0;
  mapping->is_pending = file != NULL && file->state == TABLE_PENDING;
  mapping->has_failed = file != NULL && file->state == TABLE_FAILED;
  if (file != NULL && file->published != NULL &&
      sysprof_unwind_table_bias (&table, mapping->start, mapping->end, offset, &mapping->bias))
    mapping->file = file->published;
}

CodeFilesStatus
sysprof_code_files_get_status (const CodeFiles *self)
{
  CodeFilesStatus status = self->status;

  status.contradictions = self->contradictions->str;
  return status;
}

/* --- construction and destruction --- */

CodeFiles *
sysprof_code_files_new (UnwindPublisher *publisher,
                        Privilege *privilege,
                        MappingEvents *mapping_events,
                        int wake_fd,
                        GError **error)
{
  CodeFiles *self = g_new0 (CodeFiles, 1);

  self->publisher = publisher;
  self->mapping_events = mapping_events;
  self->by_key = g_hash_table_new (hash_key, equal_keys);
  self->contradictions = g_string_new (NULL);
  sysprof_live_files_init (&self->live_files, privilege);
  self->builders = sysprof_table_builders_new (wake_fd, error);
  if (self->builders != NULL)
    return self;
  sysprof_code_files_free (self);
  return NULL;
}

void
sysprof_code_files_keep (CodeFiles *self, unsigned most)
{
  if (self->kept == NULL)
    self->kept = sysprof_pinned_files_new (most);
}

PinnedFiles *
sysprof_code_files_steal_kept (CodeFiles *self)
{
  return g_steal_pointer (&self->kept);
}

/* The job's result is not needed any more. */
static void
drop_job (TableJob *job)
{
  job->file->is_queued = false;
  release_file (job->file);
}

void
sysprof_code_files_free (CodeFiles *self)
{
  if (self == NULL)
    return;

  sysprof_table_builders_free (self->builders, drop_job);
  sysprof_live_files_clear (&self->live_files);
  retire_unused_files (self, UINT_MAX);
  sysprof_pinned_files_free (self->kept);
  g_hash_table_unref (self->by_key);
  g_string_free (self->contradictions, true);
  g_free (self);
}
