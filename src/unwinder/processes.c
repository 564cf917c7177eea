// SPDX-License-Identifier: GPL-3.0-or-later

/* A forked process starts with its parent's mappings. The BPF program looks up the parent for
 * that, so nothing is published at the fork. Most children execute another program at once.
 * Inherited mappings are therefore published only when the child has lived for a while, or when
 * the parent executes a program or exits.
 *
 * A process that has exited is kept for a while, because samples of it may still be queued for
 * unwinding in user space.
 *
 * Where the BPF program queries the kernel for mappings, only the few processes whose samples
 * are finished in user space need all this. For other processes only the files are looked at.
 * Their recent events are kept as they came, and applied when a sample needs the process. */

#include "unwinder/processes-private.h"

#include "access/access.h"
#include "util/util.h"

#include <unistd.h>

#define INHERIT_USEC   (20 * G_TIME_SPAN_MILLISECOND) /* until a child is published */
#define READ_SIZE      (64 * 1024)
#define MOST_ANCESTORS 4     /* whose mappings a process may inherit */
#define MOST_MAPPINGS  16384 /* of one process: more is an attempt to exhaust the tables */

static void
clear_mapping (void *data)
{
  sysprof_code_file_unref (((CodeMapping *) data)->file);
}

static void
free_process (void *data)
{
  CodeProcess *process = data;

  g_array_unref (process->mappings);
  for (unsigned i = 0; i < N_FORMER; i++)
    g_clear_pointer (&process->former[i].mappings, g_array_unref);
  g_free (process);
}

static GArray *
new_mappings (void)
{
  GArray *mappings = g_array_new (false, false, sizeof (CodeMapping));

  g_array_set_clear_func (mappings, clear_mapping);
  return mappings;
}

static bool
is_wanted (const CodeProcesses *self, int32_t pid)
{
  return self->only == NULL || g_hash_table_contains (self->only, GINT_TO_POINTER (pid));
}

static CodeProcess *
get_process (CodeProcesses *self, int32_t pid)
{
  CodeProcess *process = sysprof_code_processes_find (self, pid);

  if (process != NULL)
    return process;

  process = g_new0 (CodeProcess, 1);
  process->pid = pid;
  process->mappings = new_mappings ();
  process->executed_nsec = self->known_since_nsec;
  g_hash_table_insert (self->by_pid, GINT_TO_POINTER (pid), process);
  return process;
}

void
sysprof_code_processes_set_deadline (GQueue *queue, CodeProcess *process, int64_t in_usec)
{
  Deadline *deadline = g_new (Deadline, 1);

  process->deadline_usec = g_get_monotonic_time () + in_usec;
  *deadline = (Deadline){ process->pid, process->deadline_usec };
  g_queue_push_tail (queue, deadline);
}

/* Keeps the process in `only`. */
static void
drop_process (CodeProcesses *self, CodeProcess *process, int64_t now)
{
  if (self->former_pid == process->pid)
    self->former = NULL;
  if (process->is_changed && !self->on_demand)
    g_ptr_array_remove_fast (self->changed, process);
  if (!process->is_inherited)
    sysprof_unwind_publisher_drop_process (self->publisher, (uint32_t) process->pid, now);
  sysprof_mapping_events_follow (self->mapping_events, process->pid, false);
  g_hash_table_remove (self->by_pid, GINT_TO_POINTER (process->pid));
}

void
sysprof_code_processes_forget_one (CodeProcesses *self, CodeProcess *process, int64_t now)
{
  if (self->only != NULL)
    g_hash_table_remove (self->only, GINT_TO_POINTER (process->pid));
  drop_process (self, process, now);
}

/* --- mappings --- */

/* The first mapping that ends after `address`. */
static guint
find_mapping (const GArray *mappings, uint64_t address)
{
  guint low = 0, high = mappings->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (mappings, CodeMapping, middle).end <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Removes [start, end) from the list. The kernel reports no unmapping, so a new mapping
 * replaces older ones at its addresses. */
static void
make_room (GArray *mappings, uint64_t start, uint64_t end)
{
  guint i = find_mapping (mappings, start);

  while (i < mappings->len && g_array_index (mappings, CodeMapping, i).start < end)
    {
      CodeMapping *old = &g_array_index (mappings, CodeMapping, i);
      CodeMapping behind = *old;

      if (old->end > end)
        {
          behind.offset += end - old->start;
          behind.start = end;
          if (old->start < start)
            {
              (void) sysprof_code_file_ref (behind.file);
              old->end = start;
              g_array_insert_val (mappings, i + 1, behind);
            }
          else
            *old = behind;
          return;
        }

      if (old->start < start)
        {
          old->end = start;
          i++;
        }
      else
        g_array_remove_index (mappings, i);
    }
}

/* Takes ownership of the file. */
static void
add_mapping (CodeProcess *process, CodeMapping mapping)
{
  if (process->mappings->len >= MOST_MAPPINGS || mapping.start >= mapping.end)
    {
      sysprof_code_file_unref (mapping.file);
      return;
    }

  make_room (process->mappings, mapping.start, mapping.end);
  g_array_insert_val (process->mappings, find_mapping (process->mappings, mapping.start),
                      mapping);
}

/* TRUE if processes are known only from the moment in which a sample needs them. */
static bool
has_history (const CodeProcesses *self)
{
  return self->on_demand && self->only == NULL;
}

/* /proc/PID/maps does not contain the inode generation, so it is taken from the file that the
 * walker met. */
static uint64_t
generation_of (const ProcMapping *mapping, const UnwindFileKey *file)
{
  return file != NULL && file->inode == mapping->inode &&
                 file->device == UNWIND_DEVICE (mapping->device_major, mapping->device_minor)
             ? file->generation
             : 0;
}

/* `urgent`: the file that the walker met; NULL = none. Returns FALSE if there is no such
 * process or it maps no code. */
static bool
read_process (CodeProcesses *self, int32_t pid, bool only_files, const UnwindFileKey *urgent)
{
  autofd fd = sysprof_privilege_open_process_file (self->privilege, pid, "maps");
  g_autoptr (GByteArray) text = g_byte_array_new ();
  uint8_t part[READ_SIZE];
  int64_t now = g_get_monotonic_time ();
  CodeProcess *process = NULL;
  ProcMapping mapping;
  Text maps;
  ssize_t n;

  while (fd >= 0 && (n = read (fd, part, sizeof part)) > 0)
    g_byte_array_append (text, part, (guint) n);
  if (text->len == 0)
    return false; /* a kernel thread, exited, or not readable */

  maps = (Text){ (const char *) text->data, (const char *) text->data + text->len };
  while (sysprof_proc_next_mapping (&maps, &mapping))
    {
      g_autofree char *path = NULL;
      LiveMapping live = { pid,           mapping.start,        mapping.end,
                           mapping.inode, mapping.device_major, mapping.device_minor };

      if (!mapping.is_executable)
        continue;

      live.path = path = g_strndup (mapping.path.at, sysprof_text_size (mapping.path));
      if (only_files)
        {
          sysprof_code_file_unref (sysprof_code_files_get (
              self->files, &live, generation_of (&mapping, urgent), urgent != NULL, now));
          continue;
        }
      process = get_process (self, pid);
      add_mapping (process,
                   (CodeMapping){ mapping.start, mapping.end, mapping.offset,
                                  sysprof_code_files_get (self->files, &live, 0, false, now) });
    }
  if (process != NULL)
    {
      process->is_inherited = false;
      sysprof_code_processes_set_changed (self, process);
    }
  return process != NULL;
}

GArray *
sysprof_code_processes_list_wanted (const CodeProcesses *self)
{
  GArray *wanted;
  GHashTableIter iter;
  void *key;

  if (self->only == NULL)
    return NULL;

  wanted = g_array_new (false, false, sizeof (int32_t));
  g_hash_table_iter_init (&iter, self->only);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      int32_t pid = GPOINTER_TO_INT (key);

      g_array_append_val (wanted, pid);
    }
  return wanted;
}

void
sysprof_code_processes_forget (CodeProcesses *self, int64_t now_nsec)
{
  g_autoptr (GList) known = g_hash_table_get_values (self->by_pid);

  for (const GList *link = known; link != NULL; link = link->next)
    drop_process (self, link->data, g_get_monotonic_time ());
  self->known_since_nsec = now_nsec;
  if (self->mapping_events != NULL)
    sysprof_mapping_events_forget_history (self->mapping_events);
}

void
sysprof_code_processes_read (CodeProcesses *self, int32_t pid)
{
  if (self->only == NULL)
    (void) read_process (self, pid, has_history (self), NULL);
  else if (is_wanted (self, pid))
    (void) read_process (self, pid, false, NULL);
  else if (self->wants_all_files)
    (void) read_process (self, pid, true, NULL);
}

void
sysprof_code_processes_build_tables (CodeProcesses *self,
                                     int32_t pid,
                                     const UnwindFileKey *file)
{
  if (!sysprof_code_files_is_building (self->files, file))
    (void) read_process (self, pid, true, file);
}

/* --- events --- */

static CodeFile *
get_file (CodeProcesses *self, const TaskEvent *event, int64_t now)
{
  LiveMapping live = { event->pid,          event->start,        event->end, event->inode,
                       event->device_major, event->device_minor, event->path };

  return sysprof_code_files_get (self->files, &live, event->inode_generation, true, now);
}

static void
apply_mapped (CodeProcesses *self, const TaskEvent *event)
{
  CodeProcess *process = get_process (self, event->pid);

  add_mapping (process, (CodeMapping){ event->start, event->end, event->offset,
                                       get_file (self, event, g_get_monotonic_time ()) });
  process->is_inherited = false;
  sysprof_code_processes_set_changed (self, process);
}

static void
apply_executed (CodeProcesses *self, const TaskEvent *event)
{
  CodeProcess *process = get_process (self, event->pid);

  g_clear_pointer (&process->former[N_FORMER - 1].mappings, g_array_unref);
  memmove (process->former + 1, process->former,
           sizeof process->former - sizeof process->former[0]);
  process->former[0] = (Former){ process->mappings, process->executed_nsec };
  process->mappings = new_mappings ();
  process->is_inherited = false;
  process->has_ended = false;
  process->is_waiting = false;
  process->executed_nsec = event->time;
  sysprof_unwind_publisher_drop_process (self->publisher, (uint32_t) event->pid,
                                         g_get_monotonic_time ());
}

static void
inherit (CodeProcess *child, const CodeProcess *parent)
{
  for (guint i = 0; i < parent->mappings->len; i++)
    {
      CodeMapping mapping = g_array_index (parent->mappings, CodeMapping, i);

      (void) sysprof_code_file_ref (mapping.file);
      g_array_append_val (child->mappings, mapping);
    }
}

static void
apply_forked (CodeProcesses *self, const TaskEvent *event)
{
  CodeProcess *parent = sysprof_code_processes_find (self, event->parent_pid);
  CodeProcess *child = sysprof_code_processes_find (self, event->pid);

  if (self->only != NULL)
    g_hash_table_add (self->only, GINT_TO_POINTER (event->pid));
  if (child != NULL && child->has_ended)
    {
      /* The pid was reused: the new process stays one of `only`. */
      drop_process (self, child, g_get_monotonic_time ());
      child = NULL;
    }
  if (parent == NULL || child != NULL || has_history (self))
    return; /* the known mappings of the child are newer */

  child = get_process (self, event->pid);
  inherit (child, parent);
  if (self->on_demand)
    {
      sysprof_code_processes_set_changed (self, child);
      return;
    }
  child->parent_pid = event->parent_pid;
  child->is_inherited = true;
  child->is_waiting = parent->is_waiting;
  sysprof_code_processes_set_deadline (&self->inheriting, child, INHERIT_USEC);
}

/* All children with inherited mappings are in the queue `inheriting`. */
static void
publish_children_of (CodeProcesses *self, int32_t pid)
{
  for (const GList *link = self->inheriting.head; link != NULL; link = link->next)
    {
      CodeProcess *process =
          sysprof_code_processes_find (self, ((const Deadline *) link->data)->pid);

      if (process != NULL && process->is_inherited && process->parent_pid == pid)
        {
          process->is_inherited = false;
          sysprof_code_processes_set_changed (self, process);
        }
    }
}

static void
apply_exited (CodeProcesses *self, const TaskEvent *event)
{
  CodeProcess *process = sysprof_code_processes_find (self, event->pid);

  if (process == NULL)
    return;

  process->has_ended = true;
  sysprof_code_processes_set_deadline (&self->lingering, process, LINGER_USEC);
}

bool
sysprof_code_processes_note (CodeProcesses *self,
                             const TaskEvent *event,
                             bool is_told,
                             int64_t now)
{
  const CodeProcess *process;

  if (!has_history (self))
    return true;

  if (event->kind == TASK_MAPPED)
    sysprof_code_file_unref (get_file (self, event, now));
  if (!is_told)
    sysprof_mapping_events_remember (self->mapping_events, event);
  process = sysprof_code_processes_find (self, event->pid);
  return process != NULL && event->time > process->recalled_nsec;
}

void
sysprof_code_processes_apply (CodeProcesses *self, const TaskEvent *event)
{
  if (!is_wanted (self, event->kind == TASK_FORKED ? event->parent_pid : event->pid))
    {
      if (self->wants_all_files && event->kind == TASK_MAPPED)
        sysprof_code_file_unref (get_file (self, event, g_get_monotonic_time ()));
      return;
    }

  switch (event->kind)
    {
    case TASK_MAPPED:
      apply_mapped (self, event);
      break;
    case TASK_EXECUTED:
      publish_children_of (self, event->pid);
      apply_executed (self, event);
      break;
    case TASK_FORKED:
      apply_forked (self, event);
      break;
    case TASK_EXITED:
      publish_children_of (self, event->pid);
      apply_exited (self, event);
      break;
    }
}

/* --- looking up processes in the history --- */

CodeProcess *
sysprof_code_processes_recall (CodeProcesses *self, int32_t pid, unsigned n_ancestors)
{
  g_autoptr (GArray) events = g_array_new (false, false, sizeof (TaskEvent));
  CodeProcess *process = sysprof_code_processes_find (self, pid), *parent = NULL;
  guint first = 0;

  if (process != NULL || !has_history (self) ||
      g_hash_table_contains (self->unheard_of, GINT_TO_POINTER (pid)))
    return process;

  /* Of a reused pid, the last process is meant. From now on the event queue forwards what the
   * process does. */
  sysprof_mapping_events_follow (self->mapping_events, pid, true);
  sysprof_mapping_events_recall (self->mapping_events, pid, events);
  for (guint i = 0; i < events->len; i++)
    {
      const TaskEvent *event = &g_array_index (events, TaskEvent, i);

      if (event->kind != TASK_FORKED)
        continue;
      first = i + 1;
      if (n_ancestors < MOST_ANCESTORS)
        parent = sysprof_code_processes_recall (self, event->parent_pid, n_ancestors + 1);
    }

  if (parent != NULL)
    {
      process = get_process (self, pid);
      inherit (process, parent);
      sysprof_code_processes_set_changed (self, process);
    }
  else if (!read_process (self, pid, false, NULL) && first == events->len)
    {
      sysprof_mapping_events_follow (self->mapping_events, pid, false);
      g_hash_table_add (self->unheard_of, GINT_TO_POINTER (pid));
      return NULL;
    }
  for (guint i = first; i < events->len; i++)
    sysprof_code_processes_apply (self, &g_array_index (events, TaskEvent, i));

  process = sysprof_code_processes_find (self, pid);
  if (process == NULL)
    sysprof_mapping_events_follow (self->mapping_events, pid, false);
  else if (events->len > 0)
    process->recalled_nsec = g_array_index (events, TaskEvent, events->len - 1).time;
  return process;
}

/* --- construction and destruction --- */

CodeProcesses *
sysprof_code_processes_new (UnwindPublisher *publisher,
                            CodeFiles *files,
                            Privilege *privilege,
                            MappingEvents *mapping_events)
{
  CodeProcesses *self = g_new0 (CodeProcesses, 1);

  self->on_demand = mapping_events != NULL;
  self->mapping_events = mapping_events;
  self->publisher = publisher;
  self->files = files;
  self->privilege = privilege;
  self->by_pid = g_hash_table_new_full (NULL, NULL, NULL, free_process);
  self->unheard_of = g_hash_table_new (NULL, NULL);
  self->changed = g_ptr_array_new ();
  self->scratch = g_array_new (false, false, sizeof (UnwindProcessMapping));
  g_queue_init (&self->inheriting);
  g_queue_init (&self->lingering);
  return self;
}

void
sysprof_code_processes_narrow (CodeProcesses *self, int32_t pid)
{
  if (self->only == NULL)
    self->only = g_hash_table_new (NULL, NULL);
  g_hash_table_add (self->only, GINT_TO_POINTER (pid));
}

void
sysprof_code_processes_widen (CodeProcesses *self)
{
  if (self->on_demand)
    self->wants_all_files = true;
  else
    g_clear_pointer (&self->only, g_hash_table_unref);
}

void
sysprof_code_processes_free (CodeProcesses *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->by_pid);
  g_hash_table_unref (self->unheard_of);
  g_ptr_array_unref (self->changed);
  g_array_unref (self->scratch);
  g_queue_clear_full (&self->inheriting, g_free);
  g_queue_clear_full (&self->lingering, g_free);
  g_clear_pointer (&self->only, g_hash_table_unref);
  g_free (self);
}
