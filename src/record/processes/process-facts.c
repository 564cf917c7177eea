// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads facts about processes in /proc (see process-facts.h). Files of /proc/PID are opened
 * with the privileges of the recorder. */

#include "record/processes/process-facts.h"

#include "access/access.h"
#include "capture/capture.h"
#include "util/overlay-layers.h"
#include "util/util.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define MAX_COMMAND_LINE 16000             /* bytes: a frame has at most 16,384 */
#define MAX_TEXT_SIZE    (8 * 1024 * 1024) /* bytes; of one file in /proc */
#define FIRST_TEXT_SIZE  (64 * 1024)
#define CONTAINER_MARK   "/libpod-" /* in a cgroup path: the inodes are those of an overlay */

/* Reads the complete file into `text`, appends a NUL, and closes `file_fd`. -1 if it cannot be
 * read. */
static ssize_t
read_file (ProcessFacts *self, int file_fd)
{
  autofd fd = file_fd;
  size_t size = 0;

  if (fd < 0)
    return -1;

  for (;;)
    {
      ssize_t n;

      if (size + 1 >= self->text_size)
        {
          if (self->text_size >= MAX_TEXT_SIZE)
            return (ssize_t) size;
          self->text_size = MAX (FIRST_TEXT_SIZE, 2 * self->text_size);
          self->text = g_realloc (self->text, self->text_size);
        }

      n = read (fd, self->text + size, self->text_size - size - 1);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return -1;
      size += (size_t) n;
      self->text[size] = '\0';
      if (n == 0)
        return (ssize_t) size;
    }
}

static ssize_t
read_text (ProcessFacts *self, RecordingContext *context, int32_t pid, const char *name)
{
  return read_file (self, sysprof_privilege_open_process_file (context->privilege, pid, name));
}

/* FALSE if the process has exited. */
static bool
add_command_line (ProcessFacts *self,
                  RecordingContext *context,
                  int32_t pid,
                  int64_t time,
                  bool or_name)
{
  ssize_t size = read_text (self, context, pid, "cmdline");
  size_t length;

  if (size < 0)
    return false;

  length = sysprof_proc_join_arguments (self->text, (size_t) size);
  if (length == 0)
    {
      if (!or_name)
        return true;

      size = read_text (self, context, pid, "comm");
      if (size < 0)
        return false;
      length = sysprof_proc_join_arguments (self->text, (size_t) size);
      while (length > 0 && self->text[length - 1] == ' ')
        self->text[--length] = '\0';
    }
  if (length > MAX_COMMAND_LINE)
    self->text[MAX_COMMAND_LINE] = '\0';

  if (!sysprof_capture_writer_add_process (context->writer, time, -1, pid, self->text))
    sysprof_context_add_lost (context, LOST_RECORDS, 1);
  return true;
}

/* The kernel's events use this name for code without a file; /proc/PID/maps has no name for
 * it. */
#define GENERATED_CODE "//anon"

/* Returns the number of mappings; kernel threads have none. */
static unsigned
add_mappings (ProcessFacts *self,
              RecordingContext *context,
              int32_t pid,
              int64_t time,
              bool in_container)
{
  ssize_t size = read_text (self, context, pid, "maps");
  Text maps = { self->text, self->text + MAX (size, 0) };
  ProcMapping mapping;
  unsigned n = 0;

  while (size > 0 && sysprof_proc_next_mapping (&maps, &mapping))
    {
      bool has_name = sysprof_text_size (mapping.path) > 0;
      bool has_file = has_name && !sysprof_text_starts_with (mapping.path, "[");

      n++;
      if (!has_name && !mapping.is_executable)
        continue;

      /* This overwrites the newline after the path, or a part of " (deleted)", which is no
       * longer needed. */
      if (has_name)
        *(char *) mapping.path.end = '\0';
      if (mapping.is_executable)
        sysprof_jit_files_note (&self->jit_files, pid, has_name ? mapping.path.at : "");
      if (!sysprof_capture_writer_add_map (context->writer, time, -1, pid, mapping.start,
                                           mapping.end, has_file ? mapping.offset : 0,
                                           has_file && !in_container ? mapping.inode : 0,
                                           has_name ? mapping.path.at : GENERATED_CODE))
        sysprof_context_add_lost (context, LOST_RECORDS, 1);
    }
  return n;
}

static void
add_text (ProcessFacts *self,
          RecordingContext *context,
          int32_t pid,
          int64_t time,
          const char *name,
          size_t size)
{
  char path[64];

  g_snprintf (path, sizeof path, "/proc/%d/%s", pid, name);
  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, time, pid, path, self->text, size, false);
}

/* Writes one line per namespace: its name and its inode. Returns the inode of the mount
 * namespace, or 0 if it is not permitted to know it. Namespaces that kernel events have
 * reported are not read again: that would take longer than everything else about a started
 * process. */
static uint64_t
add_namespaces (ProcessFacts *self, RecordingContext *context, int32_t pid, int64_t time)
{
  static const struct
  {
    const char *name;
    NamespaceKind kind;
  } names[] = {
    { "cgroup", NAMESPACE_CGROUP }, { "ipc", NAMESPACE_IPC }, { "mnt", NAMESPACE_MNT },
    { "net", NAMESPACE_NET },       { "pid", NAMESPACE_PID }, { "time", N_NAMESPACES },
    { "user", NAMESPACE_USER },     { "uts", NAMESPACE_UTS },
  };
  Privilege *privilege = context->privilege;
  const Namespaces *told = sysprof_process_log_get_namespaces (&context->process_log, pid);
  char lines[G_N_ELEMENTS (names) * 32];
  uint64_t mounts = 0;
  int size = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      NamespaceKind kind = names[i].kind;
      uint64_t inode = told != NULL && kind < N_NAMESPACES
                           ? told->inode[kind]
                           : sysprof_privilege_read_namespace (privilege, pid, names[i].name);

      if (kind == NAMESPACE_MNT)
        mounts = inode;
      if (inode != 0)
        size += g_snprintf (lines + size, sizeof lines - (size_t) size,
                            "%s %" G_GUINT64_FORMAT "\n", names[i].name, inode);
    }

  if (size > 0)
    {
      char path[64];

      g_snprintf (path, sizeof path, "/proc/%d/ns", pid);
      (void) sysprof_context_add_file (context, time, pid, path, lines, (size_t) size, false);
    }
  return mounts;
}

/* Records the root directory of the process. The kernel reports the paths of its later mappings
 * relative to that root. */
static void
add_root (RecordingContext *context, int32_t pid, int64_t time)
{
  char path[64], root[PATH_MAX];
  ssize_t size;

  g_snprintf (path, sizeof path, "/proc/%d/root", pid);
  size = readlink (path, root, sizeof root);
  if (size <= 1 || size == sizeof root || root[0] != '/')
    return; /* the same root as ours, or access is denied */

  g_snprintf (path, sizeof path, "/proc/%d/root-path", pid);
  (void) sysprof_context_add_file (context, time, pid, path, root, (size_t) size, false);
}

/* Returns whether the process is in a Podman container. */
static bool
add_cgroup (ProcessFacts *self, RecordingContext *context, int32_t pid, int64_t time)
{
  ssize_t size = read_text (self, context, pid, "cgroup");

  if (size <= 0)
    return false;

  add_text (self, context, pid, time, "cgroup", (size_t) size);
  return strstr (self->text, CONTAINER_MARK) != NULL;
}

/* `layers` may be NULL. */
static void
add_layers (RecordingContext *context, int32_t pid, int64_t time, const GArray *layers)
{
  for (guint i = 0; layers != NULL && i < layers->len; i++)
    {
      const OverlayLayer *layer = &g_array_index (layers, OverlayLayer, i);

      if (!sysprof_capture_writer_add_overlay (context->writer, time, -1, pid, layer->layer,
                                               layer->source, layer->target))
        sysprof_context_add_lost (context, LOST_RECORDS, 1);
    }
}

static void
free_layers (void *layers)
{
  if (layers != NULL)
    g_array_unref (layers);
}

/* `inode` is that of the mount namespace; 0 = unknown. Mounts in our own namespace need no
 * layers, because their paths are valid here. */
static void
add_mount_table (ProcessFacts *self,
                 RecordingContext *context,
                 int32_t pid,
                 int64_t time,
                 uint64_t inode)
{
  ssize_t size = read_text (self, context, pid, "mountinfo");
  GArray *layers = NULL;

  if (size <= 0)
    return;

  add_text (self, context, pid, time, "mountinfo", (size_t) size);
  if (inode == 0)
    return;

  if (inode != self->container_ids.own_mounts)
    layers = sysprof_overlay_layers_parse ((Text){ self->text, self->text + size });
  add_layers (context, pid, time, layers);
  g_hash_table_insert (self->mount_namespaces, g_memdup2 (&inode, sizeof inode), layers);
}

static void
add_thread_name (ProcessFacts *self, RecordingContext *context, int32_t pid, int32_t tid)
{
  ssize_t size = read_text (self, context, tid, "comm");

  if (size > 1) /* the name ends in a newline */
    sysprof_thread_names_add_running (&context->thread_names, context->begin,
                                      (ThreadId){ pid, tid }, self->text, (size_t) size - 1);
}

/* The main thread comes first, because the names of the others are compared with it. */
static void
add_thread_names (ProcessFacts *self, RecordingContext *context, int32_t pid)
{
  g_autoptr (GArray) tids = g_array_new (false, false, sizeof (pid_t));

  add_thread_name (self, context, pid, pid);
  /* the process may have exited */
  (void) sysprof_tasks_append_threads (tids, context->privilege, pid);
  for (guint i = 0; i < tids->len; i++)
    if (g_array_index (tids, pid_t, i) != pid)
      add_thread_name (self, context, pid, g_array_index (tids, pid_t, i));
}

void
sysprof_process_facts_add_running (ProcessFacts *self, RecordingContext *context, int32_t pid)
{
  int64_t time = context->begin;
  bool in_container;
  uint64_t mounts;

  if (!add_command_line (self, context, pid, time, true))
    return;

  in_container = read_text (self, context, pid, "cgroup") > 0 &&
                 strstr (self->text, CONTAINER_MARK) != NULL;
  if (add_mappings (self, context, pid, time, in_container) == 0)
    return; /* a kernel thread, or access is denied */

  add_thread_names (self, context, pid);
  (void) add_cgroup (self, context, pid, time);
  add_root (context, pid, time);
  mounts = add_namespaces (self, context, pid, time);
  add_mount_table (self, context, pid, time, mounts);
  sysprof_container_ids_request (&self->container_ids, pid, time, mounts);
}

/* Kernel events have already reported mappings, name and parent. */
void
sysprof_process_facts_add_started (ProcessFacts *self,
                                   RecordingContext *context,
                                   const StartedProcess *process)
{
  void *layers;
  uint64_t mounts;

  if (!add_command_line (self, context, process->pid, process->time, false))
    return;

  (void) add_cgroup (self, context, process->pid, process->time);
  add_root (context, process->pid, process->time);
  mounts = add_namespaces (self, context, process->pid, process->time);
  if (mounts != 0 &&
      g_hash_table_lookup_extended (self->mount_namespaces, &mounts, NULL, &layers))
    add_layers (context, process->pid, process->time, layers);
  else if (mounts != 0)
    add_mount_table (self, context, process->pid, process->time, mounts);
  sysprof_container_ids_request (&self->container_ids, process->pid, process->time, mounts);
}

void
sysprof_process_facts_add_mounts (ProcessFacts *self, RecordingContext *context)
{
  ssize_t size = read_file (self, sysprof_privilege_open_mounts (context->privilege));

  if (size > 0)
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->begin, -1, "/proc/mounts", self->text,
                                     (size_t) size, true);
}

void
sysprof_process_facts_init (ProcessFacts *self, RecordingContext *context)
{
  *self = (ProcessFacts){
    .mount_namespaces =
        g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_layers),
  };
  sysprof_container_ids_init (&self->container_ids, context);
  sysprof_jit_files_init (&self->jit_files, context);
}

void
sysprof_process_facts_clear (ProcessFacts *self)
{
  sysprof_jit_files_clear (&self->jit_files);
  g_clear_pointer (&self->mount_namespaces, g_hash_table_unref);
  g_free (self->text);
}
