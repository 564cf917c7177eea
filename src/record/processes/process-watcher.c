// SPDX-License-Identifier: GPL-3.0-or-later

/* Records processes, their mappings and namespaces, and where their files are.
 *
 * When the recording has started and kernel events already arrive, /proc is read once. This
 * happens in slices, so that the rings are drained in time. A mapping that is recorded twice is
 * harmless, but a missing one leaves stacks without symbols. What is read from /proc gets the
 * start time of the recording.
 *
 * After that, kernel events report the processes that start. Only data that the events do not
 * contain is read from /proc, within a small budget and only for processes that live long
 * enough: the full command line, the cgroup, the namespaces, and the mount table if the mount
 * namespace is new. The overlay layers of a container are written for each of its processes,
 * because readers look them up by process.
 *
 * If no other instrument has opened kernel events, the watcher does: recordings of counters or
 * allocations need mappings, too.
 */

#include "record/processes/process-watcher.h"

#include "access/access.h"
#include "capture/capture.h"
#include "record/clock.h"
#include "record/processes/container-ids.h"
#include "record/processes/jit-files.h"
#include "record/recording-context.h"
#include "record/sampling/feed.h"
#include "util/overlay-layers.h"
#include "util/util.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

/* The time per interval to read about started processes: 1 % of a CPU. */
#define STARTED_INTERVAL (200 * NSEC_PER_MSEC)
#define STARTED_BUDGET   (2 * NSEC_PER_MSEC)
/* Younger processes are not read. Most processes that a shell or a compiler starts have exited
 * before that, and so cost nothing. */
#define STARTED_AGE (50 * NSEC_PER_MSEC)

#define MAX_COMMAND_LINE 16000             /* bytes: a frame has at most 16,384 */
#define MAX_TEXT_SIZE    (8 * 1024 * 1024) /* bytes; of one file in /proc */
#define FIRST_TEXT_SIZE  (64 * 1024)
#define CONTAINER_MARK   "/libpod-" /* in a cgroup path: the inodes are those of an overlay */

struct _SysprofProcessWatcher
{
  SysprofInstrument parent_instance;

  /* Owned by the pump thread. */
  EventFeed feed;  /* only if no sampler has one */
  GArray *to_read; /* [int32_t] processes still to be read; NULL = done */
  guint n_read;    /* index of the next one */
  /* inode → GArray of OverlayLayer, or NULL: the mount namespaces whose mount table has been
   * written. */
  GHashTable *mount_namespaces;
  ContainerIds facts;
  JitFiles jit_files;
  char *text; /* [text_size] the file read last */
  size_t text_size;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProcessWatcher, sysprof_process_watcher)

/* --- reading --- */

/* Reads the complete file into `text`, appends a NUL, and closes `file_fd`. -1 if it cannot be
 * read. */
static ssize_t
read_file (SysprofProcessWatcher *self, int file_fd)
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
read_text (SysprofProcessWatcher *self,
           RecordingContext *context,
           int32_t pid,
           const char *name)
{
  return read_file (self, sysprof_privilege_open_process_file (context->privilege, pid, name));
}

/* --- data of a process --- */

/* FALSE if the process has exited. */
static bool
add_command_line (SysprofProcessWatcher *self,
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
add_mappings (SysprofProcessWatcher *self,
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
add_text (SysprofProcessWatcher *self,
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
add_namespaces (SysprofProcessWatcher *self,
                RecordingContext *context,
                int32_t pid,
                int64_t time)
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
add_cgroup (SysprofProcessWatcher *self, RecordingContext *context, int32_t pid, int64_t time)
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
add_mount_table (SysprofProcessWatcher *self,
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

  if (inode != self->facts.own_mounts)
    layers = sysprof_overlay_layers_parse ((Text){ self->text, self->text + size });
  add_layers (context, pid, time, layers);
  g_hash_table_insert (self->mount_namespaces, g_memdup2 (&inode, sizeof inode), layers);
}

static void
add_thread_name (SysprofProcessWatcher *self,
                 RecordingContext *context,
                 int32_t pid,
                 int32_t tid)
{
  ssize_t size = read_text (self, context, tid, "comm");

  if (size > 1) /* the name ends in a newline */
    sysprof_thread_names_add_running (&context->thread_names, context->begin,
                                      (ThreadId){ pid, tid }, self->text, (size_t) size - 1);
}

/* The main thread comes first, because the names of the others are compared with it. */
static void
add_thread_names (SysprofProcessWatcher *self, RecordingContext *context, int32_t pid)
{
  g_autoptr (GArray) tids = g_array_new (false, false, sizeof (pid_t));

  add_thread_name (self, context, pid, pid);
  /* the process may have exited */
  (void) sysprof_tasks_append_threads (tids, context->privilege, pid);
  for (guint i = 0; i < tids->len; i++)
    if (g_array_index (tids, pid_t, i) != pid)
      add_thread_name (self, context, pid, g_array_index (tids, pid_t, i));
}

static void
add_running_process (SysprofProcessWatcher *self, RecordingContext *context, int32_t pid)
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
  sysprof_container_ids_request (&self->facts, pid, time, mounts);
}

/* Kernel events have already reported mappings, name and parent. */
static void
add_started_process (SysprofProcessWatcher *self,
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
  sysprof_container_ids_request (&self->facts, process->pid, process->time, mounts);
}

/* --- the phases --- */

static GArray *
list_processes_to_read (RecordingContext *context)
{
  ProcessLog *log = &context->process_log;
  GArray *pids;

  if (log->only == NULL)
    return sysprof_tasks_list_processes (context->privilege);

  pids = g_array_new (false, false, sizeof (int32_t));
  g_array_append_vals (pids, log->only, log->n_only);
  return pids;
}

static bool
read_running_processes (RecordingContext *context, int64_t deadline, void *data)
{
  SysprofProcessWatcher *self = data;

  while (self->to_read != NULL && sysprof_clock_now () < deadline)
    {
      if (self->n_read < self->to_read->len)
        add_running_process (self, context,
                             g_array_index (self->to_read, int32_t, self->n_read++));
      else
        g_clear_pointer (&self->to_read, g_array_unref);
    }
  return self->to_read != NULL;
}

/* Reads the processes that were started before `before`, as many as possible until
 * `deadline`. */
static void
read_started_processes (SysprofProcessWatcher *self,
                        RecordingContext *context,
                        int64_t before,
                        int64_t deadline)
{
  ProcessLog *log = &context->process_log;
  StartedProcess process;

  while (sysprof_clock_now () < deadline && sysprof_process_log_take (log, before, &process))
    add_started_process (self, context, &process);
}

static void
started_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofProcessWatcher *self = data;

  sysprof_jit_files_take_log (&self->jit_files);
  read_started_processes (self, context, now - STARTED_AGE, now + STARTED_BUDGET);
}

/* Opens events for mappings and processes without samples. If that is denied, there is only
 * /proc; the sampler has reported the reason. */
static void
open_events (SysprofProcessWatcher *self, RecordingContext *context)
{
  g_autoptr (GError) error = NULL;
  PerfSession *session = sysprof_perf_session_open (
      &(PerfSessionOptions){ .target = PERF_TARGET_SYSTEM }, context->privilege, &error);

  if (session == NULL)
    {
      g_debug ("Cannot open process events: %s", error->message);
      return;
    }

  context->process_log.is_tracked = true;
  sysprof_event_feed_start (&self->feed, context, session, LOST_RECORDS);
}

static gboolean
sysprof_process_watcher_prepare (SysprofInstrument *instrument,
                                 RecordingContext *context,
                                 GError **error)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);
  ProcessLog *log = &context->process_log;

  if (!log->is_tracked && log->only == NULL)
    open_events (self, context);

  sysprof_pump_add_tick (context->pump, STARTED_INTERVAL, started_tick, self);
  return TRUE;
}

static void
add_mounts (SysprofProcessWatcher *self, RecordingContext *context)
{
  ssize_t size = read_file (self, sysprof_privilege_open_mounts (context->privilege));

  if (size > 0)
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->begin, -1, "/proc/mounts", self->text,
                                     (size_t) size, true);
}

static void
sysprof_process_watcher_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);

  if (self->feed.session != NULL)
    sysprof_perf_session_enable (self->feed.session);

  sysprof_container_ids_init (&self->facts, context);
  sysprof_jit_files_init (&self->jit_files, context);
  add_mounts (self, context);
  self->to_read = list_processes_to_read (context);
  sysprof_pump_add_work (context->pump, read_running_processes, self);
}

static void
sysprof_process_watcher_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);

  sysprof_event_feed_stop (&self->feed);
  /* so that short recordings are complete, too */
  (void) read_running_processes (context, INT64_MAX, self);
  read_started_processes (self, context, INT64_MAX, sysprof_clock_now () + STARTED_INTERVAL);
  sysprof_jit_files_take_log (&self->jit_files);
  sysprof_container_ids_finish (&self->facts);
}

static void
add_kernel_symbol_log (RecordingContext *context)
{
  KernelSymbolLog *log = &context->kernel_symbol_log;
  GString *text = sysprof_kernel_symbol_log_to_text (log);

  if (text == NULL)
    return;

  (void) sysprof_context_add_file (context, context->begin, -1, "__ksymbols__",
                                   (const uint8_t *) text->str, text->len, false);
  g_string_free (text, TRUE);
  if (log->n_missed > 0)
    sysprof_context_report (context, "Processes", false,
                            "The log of loaded and unloaded kernel code is full: the first %u "
                            "events are recorded, %" G_GUINT64_FORMAT " more are not. Samples "
                            "of such code may have wrong symbols. Record for a shorter time.",
                            KERNEL_SYMBOL_LOG_MOST, log->n_missed);
}

static void
add_thread_names_file (RecordingContext *context)
{
  ThreadNames *names = &context->thread_names;
  GString *text = sysprof_thread_names_to_text (names);

  if (text == NULL)
    return;

  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, context->begin, -1, CAPTURE_THREADS_FILE,
                                   (const uint8_t *) text->str, text->len, true);
  g_string_free (text, TRUE);
  if (names->n_missed > 0)
    sysprof_context_report (
        context, "Processes", false,
        "Only the first %u thread names are recorded, not %" G_GUINT64_FORMAT
        " later ones; these threads have the name of their process. Record "
        "for a shorter time, or fewer processes.",
        THREAD_NAMES_MOST, names->n_missed);
}

/* Written at the end, so that it includes modules loaded during the recording. */
static void
add_module_sections (RecordingContext *context)
{
  g_autofree char *text = sysprof_dup_module_sections (MODULES_DIR);

  if (text != NULL)
    (void) sysprof_context_add_file (context, context->begin, -1, "__modules__",
                                     (const uint8_t *) text, strlen (text), true);
}

/* Files are compressed only now, because that takes longer than anything else here. */
static gboolean
sysprof_process_watcher_augment (SysprofInstrument *instrument,
                                 RecordingContext *context,
                                 GError **error)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (instrument);
  autofd fd = -1;
  g_autoptr (GByteArray) symbols = NULL;
  uint8_t part[FIRST_TEXT_SIZE];
  ssize_t n;

  sysprof_jit_files_add (&self->jit_files);
  add_kernel_symbol_log (context);
  add_thread_names_file (context);
  add_module_sections (context);
  if (context->bundles_kernel_symbols)
    return TRUE;

  fd = sysprof_privilege_open_kallsyms (context->privilege);
  if (fd < 0)
    {
      g_debug ("No kernel symbols: %s", g_strerror (errno));
      return TRUE;
    }

  symbols = g_byte_array_new ();
  while ((n = read (fd, part, sizeof part)) > 0)
    g_byte_array_append (symbols, part, (guint) n);
  sysprof_kernel_symbol_log_append_gone (&context->kernel_symbol_log, symbols);

  (void) sysprof_context_add_file (context, context->begin, -1, "/proc/kallsyms", symbols->data,
                                   symbols->len, true);
  return TRUE;
}

static void
sysprof_process_watcher_finalize (GObject *object)
{
  SysprofProcessWatcher *self = SYSPROF_PROCESS_WATCHER (object);

  g_clear_pointer (&self->to_read, g_array_unref);
  sysprof_jit_files_clear (&self->jit_files);
  g_hash_table_unref (self->mount_namespaces);
  g_free (self->text);
  G_OBJECT_CLASS (sysprof_process_watcher_parent_class)->finalize (object);
}

static void
sysprof_process_watcher_class_init (SysprofProcessWatcherClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_process_watcher_finalize;

  klass->parent_class.name = "Processes";
  klass->parent_class.prepare = sysprof_process_watcher_prepare;
  klass->parent_class.record = sysprof_process_watcher_record;
  klass->parent_class.stop = sysprof_process_watcher_stop;
  klass->parent_class.augment = sysprof_process_watcher_augment;
}

static void
sysprof_process_watcher_init (SysprofProcessWatcher *self)
{
  self->mount_namespaces =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_layers);
}

SysprofInstrument *
sysprof_process_watcher_new (void)
{
  return g_object_new (SYSPROF_TYPE_PROCESS_WATCHER, NULL);
}
