// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of threads: lines `PID TID TIME NAME` of an embedded file (docs/format.md), and where
 * threads are missing there the names that the recorded waits have. Threads in neither have the
 * name of their process. */

#include "store/builder.h"

#include "capture/capture.h"

#define MOST_LINES    (1u << 22)
#define LINES_BETWEEN 0x1000 /* lines between two checks for cancellation */

/* `\OOO` stands for a byte. */
static StringId
intern_unescaped (Store *store, Text text)
{
  g_autoptr (GString) name = g_string_new (NULL);

  for (const char *at = text.at; at < text.end; at++)
    if (*at == '\\' && text.end - at > 3)
      {
        const unsigned byte = (unsigned) ((at[1] & 7) << 6 | (at[2] & 7) << 3 | (at[3] & 7));

        g_string_append_c (name, (char) byte);
        at += 3;
      }
    else
      g_string_append_c (name, *at);
  return sysprof_intern_bytes (&store->strings, name->str, name->len);
}

static bool
parse_line (Store *store, Text line, ThreadName *row)
{
  uint64_t pid, tid, time;

  if (!sysprof_text_u64 (&line, &pid) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_u64 (&line, &tid) || !sysprof_text_skip (&line, " ") ||
      !sysprof_text_u64 (&line, &time) || !sysprof_text_skip (&line, " ") || pid > INT32_MAX ||
      tid > INT32_MAX || sysprof_text_size (line) == 0)
    return false;

  *row = (ThreadName){ .pid = (int32_t) pid,
                       .tid = (int32_t) tid,
                       .time = (int64_t) MIN (time, (uint64_t) INT64_MAX),
                       .name = intern_unescaped (store, line) };
  return true;
}

static void
read_lines (Builder *self, GBytes *bytes, GArray *rows)
{
  size_t size;
  const char *data = g_bytes_get_data (bytes, &size);
  Text text = { data, data + size };
  Text line;

  for (uint32_t i = 0; i < MOST_LINES && sysprof_text_next_line (&text, &line); i++)
    {
      ThreadName row;

      if (i % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      if (parse_line (self->store, line, &row))
        g_array_append_val (rows, row);
    }
}

static int
compare_names (const void *a, const void *b, void *data)
{
  const ThreadName *left = a, *right = b;

  if (left->tid != right->tid)
    return left->tid < right->tid ? -1 : 1;
  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  return (left->time > right->time) - (left->time < right->time);
}

/* Waits do not say since when a thread has its name. */
static void
add_waiting (const Store *store, const GHashTable *listed, GArray *rows)
{
  for (uint32_t i = 0; i < store->waits.n_threads; i++)
    {
      const WaitThread *thread = &store->waits.threads[i];
      ThreadName row = { thread->pid, thread->tid, 0, thread->comm };

      if (row.name != 0 &&
          !g_hash_table_contains ((GHashTable *) listed, GINT_TO_POINTER (row.tid)))
        g_array_append_val (rows, row);
    }
}

void
sysprof_builder_read_thread_names (Builder *self)
{
  Store *store = self->store;
  g_autoptr (GHashTable) listed = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (ThreadName));
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      store, CAPTURE_THREADS_FILE, self->progress->cancellable, NULL); /* may be absent */

  if (bytes != NULL)
    read_lines (self, bytes, rows);
  for (uint32_t i = 0; i < rows->len; i++)
    g_hash_table_add (listed, GINT_TO_POINTER (g_array_index (rows, ThreadName, i).tid));
  add_waiting (store, listed, rows);

  if (!sysprof_progress_sort (self->progress, rows->data, rows->len, sizeof (ThreadName),
                              compare_names, NULL))
    return;
  store->processes.n_thread_names = rows->len;
  store->processes.thread_names = (ThreadName *) g_array_free (g_steal_pointer (&rows), FALSE);
}

/* The first row at or behind that thread. */
static uint32_t
find_thread (const Processes *processes, int32_t tid)
{
  uint32_t low = 0, high = processes->n_thread_names;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (processes->thread_names[middle].tid < tid)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The same process, or one of the same name with which it was merged. */
static bool
is_alike (const Store *store, ProcessId process, int32_t pid)
{
  const Process *row = &store->processes.row[process];

  return row->pid == pid ||
         row->comm == store->processes.row[sysprof_store_find_process (store, pid)].comm;
}

static StringId
find_name (const Store *store, ProcessId process, int32_t tid, int64_t time)
{
  const Processes *processes = &store->processes;
  StringId name = 0;

  for (uint32_t i = find_thread (processes, tid);
       i < processes->n_thread_names && processes->thread_names[i].tid == tid; i++)
    {
      const ThreadName *row = &processes->thread_names[i];

      if (is_alike (store, process, row->pid) && (name == 0 || row->time <= time))
        name = row->name;
    }
  return name;
}

StringId
sysprof_store_thread_name (const Store *self, ProcessId process, int32_t tid, int64_t time)
{
  const Process *row = &self->processes.row[process];
  StringId name;

  if (process == 0 || tid < 0 || self->processes.n_thread_names == 0)
    return 0;

  name = find_name (self, process, tid, time);
  if (name == 0 && tid != row->pid)
    name = find_name (self, process, row->pid, time);
  return name != 0 ? name : row->comm;
}

char *
sysprof_store_dup_thread_label (const Store *self, ProcessId process, int32_t tid)
{
  StringId name = sysprof_store_thread_name (self, process, tid, INT64_MAX);

  if (tid < 0)
    return g_strdup ("Thread ?"); /* the capture does not say which one */
  return name != 0 ? g_strdup_printf ("%s (%d)", sysprof_store_string (self, name), tid)
                   : g_strdup_printf ("Thread %d", tid);
}
