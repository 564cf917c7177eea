// SPDX-License-Identifier: GPL-3.0-or-later

/* Orders events about thread names by time, and decides which names the file must list (see
 * thread-names.h). No function here reads /proc. */

#include "perf/thread-names.h"

#include <inttypes.h>
#include <string.h>

/* A thread that changes its name within this time after its start (ns) never counts under the
 * inherited one: otherwise every thread of a program would match the name of the program. */
#define INHERITED_NSEC INT64_C (200000000)

typedef enum
{
  THREAD_RUNNING,
  THREAD_FORKED,
  THREAD_RENAMED,
  THREAD_EXECUTED,
  THREAD_ENDED,
} EventKind;

typedef struct
{
  int64_t time;
  guint order; /* of arrival */
  EventKind kind;
  ThreadId thread;
  ThreadId parent;  /* for THREAD_FORKED */
  const char *name; /* for the others, except THREAD_ENDED */
} PendingEvent;

/* The name of a thread so far, and whether the file lists it. For threads that are not listed,
 * readers use the name of the process. */
typedef struct
{
  int32_t pid;
  const char *name; /* NULL = unknown */
  int64_t since;    /* ns; when it got the name */
  bool is_inherited;
  bool is_listed;
  guint inherited_line; /* 1 + index of the line with the inherited name; 0 = none */
} NamedThread;

typedef struct
{
  ThreadId thread;
  int64_t time;
  const char *name;
} NameLine;

void
sysprof_thread_names_clear (ThreadNames *self)
{
  g_clear_pointer (&self->threads, g_hash_table_unref);
  g_clear_pointer (&self->names, g_string_chunk_free);
  g_clear_pointer (&self->pending, g_array_unref);
  g_clear_pointer (&self->lines, g_array_unref);
}

/* --- adding events --- */

static void
add_event (ThreadNames *self, PendingEvent event, const char *name, size_t size)
{
  if (self->threads == NULL)
    {
      self->threads = g_hash_table_new_full (NULL, NULL, NULL, g_free);
      self->names = g_string_chunk_new (4096);
      self->pending = g_array_new (FALSE, FALSE, sizeof (PendingEvent));
      self->lines = g_array_new (FALSE, FALSE, sizeof (NameLine));
    }

  if (name != NULL)
    {
      g_autofree char *text = g_strndup (name, size);

      event.name = g_string_chunk_insert_const (self->names, text);
    }
  event.order = self->pending->len;
  g_array_append_val (self->pending, event);
}

void
sysprof_thread_names_add_running (ThreadNames *self,
                                  int64_t time,
                                  ThreadId thread,
                                  const char *name,
                                  size_t size)
{
  add_event (self, (PendingEvent){ .time = time, .kind = THREAD_RUNNING, .thread = thread },
             name, size);
}

void
sysprof_thread_names_add_renamed (ThreadNames *self,
                                  int64_t time,
                                  ThreadId thread,
                                  const char *name,
                                  size_t size,
                                  bool is_exec)
{
  EventKind kind = is_exec ? THREAD_EXECUTED : THREAD_RENAMED;

  add_event (self, (PendingEvent){ .time = time, .kind = kind, .thread = thread }, name, size);
}

void
sysprof_thread_names_add_forked (ThreadNames *self,
                                 int64_t time,
                                 ThreadId thread,
                                 ThreadId parent)
{
  PendingEvent event = { .time = time, .kind = THREAD_FORKED, .thread = thread };

  event.parent = parent;
  add_event (self, event, NULL, 0);
}

void
sysprof_thread_names_add_ended (ThreadNames *self, int64_t time, ThreadId thread)
{
  add_event (self, (PendingEvent){ .time = time, .kind = THREAD_ENDED, .thread = thread }, NULL,
             0);
}

/* --- in order of time --- */

static NamedThread *
find_thread (ThreadNames *self, int32_t tid)
{
  return g_hash_table_lookup (self->threads, GINT_TO_POINTER (tid));
}

static NamedThread *
get_thread (ThreadNames *self, ThreadId id)
{
  NamedThread *thread = find_thread (self, id.tid);

  if (thread == NULL)
    {
      thread = g_new0 (NamedThread, 1);
      g_hash_table_insert (self->threads, GINT_TO_POINTER (id.tid), thread);
    }
  thread->pid = id.pid;
  return thread;
}

static const char *
name_of (ThreadNames *self, int32_t tid)
{
  const NamedThread *thread = find_thread (self, tid);

  return thread != NULL ? thread->name : NULL;
}

static void
list_name (ThreadNames *self, int32_t tid, NamedThread *thread, int64_t time, const char *name)
{
  NameLine line = { { thread->pid, tid }, time, name };

  thread->is_listed = true;
  if (self->lines->len < THREAD_NAMES_MOST)
    g_array_append_val (self->lines, line);
  else
    self->n_missed++;
}

static void
set_name (NamedThread *thread, const char *name, int64_t time, bool is_inherited)
{
  thread->name = name;
  thread->since = time;
  thread->is_inherited = is_inherited;
  thread->inherited_line = 0;
}

/* The main thread of a process is always listed: readers may name the process by its arguments,
 * which differ for scripts and for programs that rename themselves. */
static void
take_running (ThreadNames *self, const PendingEvent *event)
{
  NamedThread *thread = get_thread (self, event->thread);

  if (thread->name != NULL)
    return; /* an event has set a newer name */

  set_name (thread, event->name, event->time, false);
  if (event->thread.tid == event->thread.pid ||
      event->name != name_of (self, event->thread.pid))
    list_name (self, event->thread.tid, thread, event->time, event->name);
}

static void
take_forked (ThreadNames *self, const PendingEvent *event)
{
  const char *name = name_of (self, event->parent.tid);
  bool is_process = event->thread.tid == event->thread.pid;
  /* what readers assume */
  const char *usual = name_of (self, is_process ? event->parent.pid : event->thread.pid);
  NamedThread *thread = get_thread (self, event->thread);

  set_name (thread, name, event->time, true);
  /* If it is listed already, the number belonged to another thread before. */
  if (name == NULL || (name == usual && !thread->is_listed))
    return;

  list_name (self, event->thread.tid, thread, event->time, name);
  if (self->n_missed == 0)
    thread->inherited_line = self->lines->len;
}

/* Before a process is renamed: its other threads keep its previous name, so they must be listed
 * now. */
static void
list_others (ThreadNames *self, const PendingEvent *event)
{
  GHashTableIter iter;
  void *tid, *value;

  g_hash_table_iter_init (&iter, self->threads);
  while (g_hash_table_iter_next (&iter, &tid, &value))
    {
      NamedThread *other = value;

      if (other->pid == event->thread.pid && GPOINTER_TO_INT (tid) != event->thread.tid &&
          !other->is_listed && other->name != NULL)
        list_name (self, GPOINTER_TO_INT (tid), other, other->since, other->name);
    }
}

static void
take_renamed (ThreadNames *self, const PendingEvent *event)
{
  int32_t tid = event->thread.tid;
  bool is_process = tid == event->thread.pid;
  NamedThread *thread = get_thread (self, event->thread);
  bool is_soon = thread->is_inherited && event->time - thread->since < INHERITED_NSEC;

  if (event->name == thread->name)
    return;

  if (is_soon && thread->inherited_line != 0)
    {
      g_array_index (self->lines, NameLine, thread->inherited_line - 1).name = event->name;
      set_name (thread, event->name, thread->since, false);
      return;
    }

  if (is_process && event->kind == THREAD_RENAMED && thread->name != NULL)
    list_others (self, event);
  if (!is_process && !thread->is_listed && thread->name != NULL && !is_soon)
    list_name (self, tid, thread, thread->since, thread->name);

  set_name (thread, event->name, event->time, false);
  /* Frames record the names of processes; only listed ones must be updated here. */
  if (thread->is_listed || (!is_process && event->name != name_of (self, event->thread.pid)))
    list_name (self, tid, thread, event->time, event->name);
}

static void
take_ended (ThreadNames *self, const PendingEvent *event)
{
  const NamedThread *thread = find_thread (self, event->thread.tid);

  /* A listed thread stays known: another thread that gets its number must be listed, too. */
  if (thread != NULL && !thread->is_listed)
    g_hash_table_remove (self->threads, GINT_TO_POINTER (event->thread.tid));
}

static void
take_event (ThreadNames *self, const PendingEvent *event)
{
  static void (*const take[]) (ThreadNames *, const PendingEvent *) = {
    [THREAD_RUNNING] = take_running, [THREAD_FORKED] = take_forked,
    [THREAD_RENAMED] = take_renamed, [THREAD_EXECUTED] = take_renamed,
    [THREAD_ENDED] = take_ended,
  };

  take[event->kind](self, event);
}

static int
compare_events (const void *a, const void *b)
{
  const PendingEvent *left = a, *right = b;

  if (left->time != right->time)
    return left->time < right->time ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

void
sysprof_thread_names_settle (ThreadNames *self, int64_t until)
{
  guint n = 0;

  if (self->pending == NULL || self->pending->len == 0)
    return;

  g_array_sort (self->pending, compare_events);
  while (n < self->pending->len && g_array_index (self->pending, PendingEvent, n).time < until)
    take_event (self, &g_array_index (self->pending, PendingEvent, n++));
  g_array_remove_range (self->pending, 0, n);
  for (guint i = 0; i < self->pending->len; i++)
    g_array_index (self->pending, PendingEvent, i).order = i;
}

/* --- the file --- */

static int
compare_lines (const void *a, const void *b)
{
  const NameLine *left = a, *right = b;

  if (left->thread.pid != right->thread.pid)
    return left->thread.pid < right->thread.pid ? -1 : 1;
  if (left->thread.tid != right->thread.tid)
    return left->thread.tid < right->thread.tid ? -1 : 1;
  return (left->time > right->time) - (left->time < right->time);
}

GString *
sysprof_thread_names_to_text (ThreadNames *self)
{
  GString *text;

  sysprof_thread_names_settle (self, INT64_MAX);
  if (self->lines == NULL || self->lines->len == 0)
    return NULL;

  g_array_sort (self->lines, compare_lines);
  text = g_string_new (NULL);
  for (guint i = 0; i < self->lines->len; i++)
    {
      const NameLine *line = &g_array_index (self->lines, NameLine, i);

      g_string_append_printf (text, "%" PRId32 " %" PRId32 " %" PRId64 " ", line->thread.pid,
                              line->thread.tid, line->time);
      for (const char *at = line->name; *at != '\0'; at++)
        if (g_ascii_iscntrl (*at) || *at == '\\')
          g_string_append_printf (text, "\\%03o", (unsigned) (unsigned char) *at);
        else
          g_string_append_c (text, *at);
      g_string_append_c (text, '\n');
    }
  return text;
}
