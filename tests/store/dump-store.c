// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints the contents of a store as lines, which a test compares with the output of
 * tests/data/reference.py for the same file. IDs are replaced by what they identify. With
 * --quiet it only opens the file. */

#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

static const char *
string (const Store *store, StringId id)
{
  return sysprof_store_string (store, id);
}

/* A text on one line. */
static void
print_text (const char *text)
{
  putchar ('"');
  for (; *text != '\0'; text++)
    if (*text < ' ' || *text == '"' || *text == '\\' || *text > '~')
      printf ("\\x%02x", (unsigned char) *text);
    else
      putchar (*text);
  putchar ('"');
}

static void
print_string (const Store *store, StringId id)
{
  putchar (' ');
  print_text (string (store, id));
}

static void
dump_frames (const Store *store)
{
  printf ("range %" PRId64 " %" PRId64 "\n", store->begin, store->end);
  printf ("swapped %d lost %" PRIu64 " %" PRIu64 " %" PRIu64 " damaged-at %" PRIu64
          " damage %d\n",
          store->is_swapped, store->n_lost, store->n_lost_samples, store->n_lost_records,
          store->damaged_at, store->damage != NULL);
  for (unsigned i = 0; i < STORE_N_FRAME_TYPES; i++)
    {
      g_assert_cmpuint (store->frames_of_type[i].n, ==, store->n_frames_by_type[i]);
      printf ("type %u %" PRIu64 "\n", i, store->n_frames_by_type[i]);
    }
  for (FrameNo i = 0; i < store->frames.n; i++)
    printf ("frame %" PRIu64 " %" PRId64 " %u %d %d\n", store->frames.offset[i],
            store->frames.time[i], store->frames.type[i], store->frames.cpu[i],
            store->frames.pid[i]);
}

static void
dump_processes (const Store *store)
{
  for (ProcessId id = 1; id < store->processes.n; id++)
    {
      const Process *process = &store->processes.row[id];

      printf ("process %d parent %d span %" PRId64 " %" PRId64 " exit %d kernel %d",
              process->pid, process->parent_pid, process->start, process->end,
              process->has_exit, process->is_kernel);
      print_string (store, process->comm);
      print_string (store, process->command_line);
      printf (" threads");
      for (uint32_t i = 0; i < process->n_threads; i++)
        printf (" %d", store->processes.thread_ids[process->first_thread + i]);
      putchar ('\n');
      g_assert_cmpuint (store->stacks.depth[id], ==, 0);
    }
}

static void
print_address (const Store *store, AddressId id)
{
  const AddressTable *table = &store->addresses;
  const Mapping *mapping = &store->mappings[table->mapping[id]];

  printf (" %u:%" PRIx64, table->kind[id], table->address[id]);
  if (table->mapping[id] != 0)
    printf ("@%s+%" PRIx64 ":%" PRIu64 ":%s", string (store, mapping->path),
            sysprof_store_file_offset (store, id), mapping->inode,
            string (store, mapping->build_id));
}

static void
print_stack (const Store *store, StackId node)
{
  printf (" depth %u", store->stacks.depth[node]);
  for (; store->stacks.depth[node] != 0; node = store->stacks.parent[node])
    {
      g_assert_cmpuint (store->stacks.parent[node], <, node);
      g_assert_cmpuint (store->stacks.depth[node], ==,
                        store->stacks.depth[store->stacks.parent[node]] + 1);
      print_address (store, store->stacks.address[node]);
    }
  printf (" in %d", store->processes.row[node].pid);
}

static void
dump_events (const Store *store, const StackEvents *events, const char *name)
{
  for (uint32_t i = 0; i < events->n; i++)
    {
      StackId node = events->stack[i];

      printf ("%s %" PRId64 " %d %d %d", name, events->time[i], events->pid[i], events->tid[i],
              events->cpu[i]);
      if (events->weight != NULL)
        printf (" weight %" PRId64, events->weight[i]);
      g_assert_cmpuint (sysprof_store_process_of_stack (store, node), ==, events->process[i]);
      print_stack (store, node);
      putchar ('\n');
    }
}

static void
dump_addresses (const Store *store)
{
  printf ("stacks %u addresses %u\n", store->stacks.n - store->processes.n,
          store->addresses.n - 1);
  for (AddressId id = 1; id < store->addresses.n; id++)
    {
      printf ("address %d", store->processes.row[store->addresses.process[id]].pid);
      print_address (store, id);
      printf (" return %d\n", store->addresses.is_return[id]);
    }
}

static void
dump_mappings (const Store *store)
{
  for (MappingId id = 1; id < store->n_mappings; id++)
    {
      const Mapping *mapping = &store->mappings[id];

      printf ("mapping %d %" PRId64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64,
              store->processes.row[mapping->process].pid, mapping->time, mapping->start,
              mapping->end, mapping->file_offset, mapping->inode);
      print_string (store, mapping->path);
      print_string (store, mapping->build_id);
      putchar ('\n');
    }
}

static void
dump_counters (const Store *store)
{
  const Counters *counters = &store->counters;

  for (uint32_t i = 0; i < counters->n; i++)
    {
      const Counter *counter = &counters->row[i];

      printf ("counter %d %u %d", counter->pid, counter->id, counter->is_double);
      print_string (store, counter->category);
      print_string (store, counter->name);
      print_string (store, counter->description);
      for (uint32_t v = counter->first_value; v < counter->first_value + counter->n_values; v++)
        printf (" %" PRId64 "=%" PRIx64, counters->time[v], (uint64_t) counters->value[v].i64);
      putchar ('\n');
    }
}

static void
dump_texts (const Store *store)
{
  for (uint32_t i = 0; i < store->n_marks; i++)
    {
      const Mark *mark = &store->marks[i];

      printf ("mark %" PRId64 " %" PRId64 " %d %d", mark->time, mark->duration, mark->pid,
              mark->cpu);
      print_string (store, mark->group);
      print_string (store, mark->name);
      print_string (store, mark->message);
      putchar ('\n');
    }

  for (uint32_t i = 0; i < store->n_logs; i++)
    {
      const Log *log = &store->logs[i];

      printf ("log %" PRId64 " %d %d %u", log->time, log->pid, log->cpu, log->severity);
      print_string (store, log->domain);
      print_string (store, log->message);
      putchar ('\n');
    }

  for (uint32_t i = 0; i < store->n_metadata; i++)
    {
      const Metadata *metadata = &store->metadata[i];

      printf ("metadata %" PRId64 " %d", metadata->time, metadata->pid);
      print_string (store, metadata->id);
      print_string (store, metadata->value);
      putchar ('\n');
    }

  for (uint32_t i = 0; i < store->n_jit_names; i++)
    {
      printf ("jit %" PRIx64, store->jit_names[i].address);
      print_string (store, store->jit_names[i].name);
      putchar ('\n');
    }
}

static void
print_slice (Text text)
{
  g_autofree char *copy = g_strndup (text.at, sysprof_text_size (text));

  putchar (' ');
  print_text (copy);
}

static void
print_dbus_header (const Store *store, const DBusHeader *header)
{
  const uint8_t *body = store->bytes + header->body;
  g_autofree char *sum =
      g_compute_checksum_for_data (G_CHECKSUM_SHA256, body, header->body_size);

  printf (" big %d type %u no-reply %d serial %u of %u", header->is_big_endian, header->type,
          header->wants_no_reply, header->serial, header->reply_serial);
  print_slice (header->path);
  print_slice (header->interface);
  print_slice (header->member);
  print_slice (header->error_name);
  print_slice (header->destination);
  print_slice (header->sender);
  print_slice (header->signature);
  printf (" body %u %s", header->body_size, sum);
}

static void
dump_dbus (const Store *store)
{
  for (uint32_t i = 0; i < store->n_dbus; i++)
    {
      const DBusMessage *message = &store->dbus[i];
      DBusHeader header;

      printf ("dbus %" PRId64 " %d %d bus %u size %u too-large %d", message->time, message->pid,
              message->cpu, message->bus, message->size, message->is_too_large);
      if (sysprof_store_read_dbus_header (store, i, &header))
        print_dbus_header (store, &header);
      putchar ('\n');
    }
}

static void
dump_heap (const Store *store)
{
  const HeapEvents *heap = &store->heap;

  for (uint32_t i = 0; i < heap->n; i++)
    {
      printf ("heap %" PRIx64 " %" PRId64 " %d", heap->address[i], heap->size[i], heap->tid[i]);
      if (heap->allocation[i] != NO_ALLOCATION)
        {
          FrameNo frame = store->frames_of_type[14].frame[i];

          g_assert_cmpint (store->allocations.time[heap->allocation[i]], ==,
                           store->frames.time[frame]);
          printf (" row %u", heap->allocation[i]);
        }
      print_stack (store, heap->stack[i]);
      putchar ('\n');
    }
}

static void
dump_files (const Store *store)
{
  for (uint32_t i = 0; i < store->files.n; i++)
    {
      const EmbeddedFile *file = &store->files.row[i];
      g_autoptr (GBytes) stored = sysprof_store_read_file_raw (store, i, NULL);
      g_autofree char *sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, stored);

      g_assert_cmpuint (g_bytes_get_size (stored), ==, file->size);
      printf ("file %d %" PRIu64 " whole %d %s", file->pid, file->size, file->is_whole, sum);
      print_string (store, file->name);
      putchar ('\n');
    }
}

int
main (int argc, char **argv)
{
  bool is_quiet = argc == 3 && strcmp (argv[1], "--quiet") == 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;

  if (argc != 2 + is_quiet)
    {
      fprintf (stderr, "Usage: dump-store [--quiet] CAPTURE\n");
      return 2;
    }

  store = sysprof_store_open (argv[1 + is_quiet], NULL, &error);
  if (store == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }

  if (store->damage != NULL)
    fprintf (stderr, "%s\n", store->damage);
  if (is_quiet)
    return 0;

  dump_frames (store);
  dump_processes (store);
  dump_mappings (store);
  dump_events (store, &store->samples, "sample");
  dump_events (store, &store->allocations, "allocation");
  dump_events (store, &store->traces, "trace");
  dump_addresses (store);
  dump_counters (store);
  dump_texts (store);
  dump_dbus (store);
  dump_heap (store);
  dump_files (store);
  return 0;
}
