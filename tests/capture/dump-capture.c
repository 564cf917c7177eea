// SPDX-License-Identifier: BSD-2-Clause

/* Prints a capture as one JSON object per line, through the public functions of a reader:
 * linked with this library and with others of the same interface. Texts and bytes are printed
 * in hex.
 *
 * usage: dump-capture CAPTURE
 */

#include <sysprof-capture.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
print_hex (const char *name, const void *bytes, size_t size)
{
  (void) printf (", \"%s\": \"", name);
  for (size_t i = 0; i < size; i++)
    (void) printf ("%02x", ((const unsigned char *) bytes)[i]);
  (void) printf ("\"");
}

static void
print_text (const char *name, const char *text)
{
  print_hex (name, text, strlen (text));
}

static void
print_head (const SysprofCaptureFrame *frame)
{
  (void) printf ("{\"type\": %u, \"cpu\": %d, \"pid\": %d, \"time\": %lld",
                 (unsigned int) frame->type, frame->cpu, frame->pid, (long long) frame->time);
}

static void
print_stack (int tid, const SysprofCaptureAddress *addrs, unsigned int n_addrs)
{
  (void) printf (", \"tid\": %d, \"addrs\": [", tid);
  for (unsigned int i = 0; i < n_addrs; i++)
    (void) printf ("%s%llu", i == 0 ? "" : ", ", (unsigned long long) addrs[i]);
  (void) printf ("]");
}

/* Returns the text after a path if it is an ID, and not padding of a writer. */
static const char *
get_build_id (const SysprofCaptureMap *map)
{
  const char *end = (const char *) map + map->frame.len;
  const char *id = map->filename + strlen (map->filename) + 2;
  size_t length;

  if (id >= end || id[-1] != '@')
    return "";
  length = strspn (id, "0123456789abcdef"); /* the last byte of the frame is NUL */

  return id[length] == '\0' && length >= 2 && length <= 128 && length % 2 == 0 ? id : "";
}

static bool
print_map (SysprofCaptureReader *reader)
{
  const SysprofCaptureMap *map = sysprof_capture_reader_read_map (reader);

  if (map == NULL)
    return false;
  print_head (&map->frame);
  (void) printf (", \"start\": %llu, \"end\": %llu, \"offset\": %llu, \"inode\": %llu",
                 (unsigned long long) map->start, (unsigned long long) map->end,
                 (unsigned long long) map->offset, (unsigned long long) map->inode);
  print_text ("path", map->filename);
  print_text ("build_id", get_build_id (map));

  return true;
}

static bool
print_jitmap (SysprofCaptureReader *reader)
{
  const SysprofCaptureJitmap *jitmap = sysprof_capture_reader_read_jitmap (reader);
  SysprofCaptureJitmapIter iter;
  SysprofCaptureAddress address;
  const char *separator = "";
  const char *name;

  if (jitmap == NULL)
    return false;
  print_head (&jitmap->frame);
  (void) printf (", \"names\": [");
  sysprof_capture_jitmap_iter_init (&iter, jitmap);
  for (; sysprof_capture_jitmap_iter_next (&iter, &address, &name); separator = ", ")
    {
      (void) printf ("%s{\"address\": %llu", separator, (unsigned long long) address);
      print_text ("name", name);
      (void) printf ("}");
    }
  (void) printf ("]");

  return true;
}

static bool
print_definitions (SysprofCaptureReader *reader)
{
  const SysprofCaptureCounterDefine *define =
      sysprof_capture_reader_read_counter_define (reader);

  if (define == NULL)
    return false;
  print_head (&define->frame);
  (void) printf (", \"counters\": [");
  for (unsigned int i = 0; i < define->n_counters; i++)
    {
      const SysprofCaptureCounter *counter = &define->counters[i];

      (void) printf ("%s{\"id\": %u, \"kind\": %u, \"value\": %llu", i == 0 ? "" : ", ",
                     (unsigned int) counter->id, (unsigned int) counter->type,
                     (unsigned long long) counter->value.v64);
      print_text ("category", counter->category);
      print_text ("name", counter->name);
      print_text ("description", counter->description);
      (void) printf ("}");
    }
  (void) printf ("]");

  return true;
}

static bool
print_values (SysprofCaptureReader *reader)
{
  const SysprofCaptureCounterSet *set = sysprof_capture_reader_read_counter_set (reader);
  const char *separator = "";

  if (set == NULL)
    return false;
  print_head (&set->frame);
  (void) printf (", \"values\": [");
  for (unsigned int i = 0; i < set->n_values * 8U; i++)
    if (set->values[i / 8].ids[i % 8] != 0)
      {
        (void) printf ("%s[%u, %llu]", separator, set->values[i / 8].ids[i % 8],
                       (unsigned long long) set->values[i / 8].values[i % 8].v64);
        separator = ", ";
      }
  (void) printf ("]");

  return true;
}

static bool
print_mark (SysprofCaptureReader *reader)
{
  const SysprofCaptureMark *mark = sysprof_capture_reader_read_mark (reader);

  if (mark == NULL)
    return false;
  print_head (&mark->frame);
  (void) printf (", \"duration\": %lld", (long long) mark->duration);
  print_text ("group", mark->group);
  print_text ("name", mark->name);
  print_text ("message", mark->message);

  return true;
}

static bool
print_log (SysprofCaptureReader *reader)
{
  const SysprofCaptureLog *log = sysprof_capture_reader_read_log (reader);

  if (log == NULL)
    return false;
  print_head (&log->frame);
  (void) printf (", \"severity\": %u", (unsigned int) log->severity);
  print_text ("domain", log->domain);
  print_text ("message", log->message);

  return true;
}

static bool
print_chunk (SysprofCaptureReader *reader)
{
  const SysprofCaptureFileChunk *chunk = sysprof_capture_reader_read_file (reader);

  if (chunk == NULL)
    return false;
  print_head (&chunk->frame);
  (void) printf (", \"is_last\": %s", chunk->is_last ? "true" : "false");
  print_text ("path", chunk->path);
  print_hex ("data", chunk->data, chunk->len);

  return true;
}

static bool
print_allocation (SysprofCaptureReader *reader)
{
  const SysprofCaptureAllocation *allocation = sysprof_capture_reader_read_allocation (reader);

  if (allocation == NULL)
    return false;
  print_head (&allocation->frame);
  (void) printf (", \"address\": %llu, \"size\": %lld",
                 (unsigned long long) allocation->alloc_addr,
                 (long long) allocation->alloc_size);
  print_stack (allocation->tid,
               (const SysprofCaptureAddress *) (const void *) ((const char *) allocation +
                                                               sizeof *allocation),
               allocation->n_addrs);

  return true;
}

static bool
print_overlay (SysprofCaptureReader *reader)
{
  const SysprofCaptureOverlay *overlay = sysprof_capture_reader_read_overlay (reader);

  if (overlay == NULL)
    return false;
  print_head (&overlay->frame);
  (void) printf (", \"layer\": %u", (unsigned int) overlay->layer);
  print_text ("src", overlay->data);
  print_text ("dst", overlay->data + overlay->src_len + 1);

  return true;
}

static bool
print_sample (SysprofCaptureReader *reader)
{
  const SysprofCaptureSample *sample = sysprof_capture_reader_read_sample (reader);

  if (sample == NULL)
    return false;
  print_head (&sample->frame);
  print_stack (
      sample->tid,
      (const SysprofCaptureAddress *) (const void *) ((const char *) sample + sizeof *sample),
      sample->n_addrs);

  return true;
}

#if SYSPROF_CHECK_VERSION(45, 0, 0)
static bool
print_trace (SysprofCaptureReader *reader)
{
  const SysprofCaptureTrace *trace = sysprof_capture_reader_read_trace (reader);

  if (trace == NULL)
    return false;
  print_head (&trace->frame);
  (void) printf (", \"entering\": %s", trace->entering ? "true" : "false");
  print_stack (
      trace->tid,
      (const SysprofCaptureAddress *) (const void *) ((const char *) trace + sizeof *trace),
      trace->n_addrs);

  return true;
}

static bool
print_dbus_message (SysprofCaptureReader *reader)
{
  const SysprofCaptureDBusMessage *message = sysprof_capture_reader_read_dbus_message (reader);

  if (message == NULL)
    return false;
  print_head (&message->frame);
  (void) printf (", \"bus\": %u, \"flags\": %u", (unsigned int) message->bus_type,
                 (unsigned int) message->flags);
  print_hex ("message", message->message, message->message_len);

  return true;
}
#endif

static bool
print_plain (SysprofCaptureReader *reader, SysprofCaptureFrameType type)
{
  const SysprofCaptureFork *fork;
  const SysprofCaptureProcess *process;
  const SysprofCaptureMetadata *metadata;
  const SysprofCaptureTimestamp *timestamp;
  const SysprofCaptureExit *exited;

  if (type == SYSPROF_CAPTURE_FRAME_TIMESTAMP &&
      (timestamp = sysprof_capture_reader_read_timestamp (reader)) != NULL)
    print_head (&timestamp->frame);
  else if (type == SYSPROF_CAPTURE_FRAME_EXIT &&
           (exited = sysprof_capture_reader_read_exit (reader)) != NULL)
    print_head (&exited->frame);
  else if (type == SYSPROF_CAPTURE_FRAME_FORK &&
           (fork = sysprof_capture_reader_read_fork (reader)) != NULL)
    {
      print_head (&fork->frame);
      (void) printf (", \"child_pid\": %d", fork->child_pid);
    }
  else if (type == SYSPROF_CAPTURE_FRAME_PROCESS &&
           (process = sysprof_capture_reader_read_process (reader)) != NULL)
    {
      print_head (&process->frame);
      print_text ("command_line", process->cmdline);
    }
  else if (type == SYSPROF_CAPTURE_FRAME_METADATA &&
           (metadata = sysprof_capture_reader_read_metadata (reader)) != NULL)
    {
      print_head (&metadata->frame);
      print_text ("id", metadata->id);
      print_text ("value", metadata->metadata);
    }
  else
    return false;

  return true;
}

static bool
print_frame (SysprofCaptureReader *reader, SysprofCaptureFrameType type)
{
  switch ((int) type)
    {
    case SYSPROF_CAPTURE_FRAME_SAMPLE:
      return print_sample (reader);
    case SYSPROF_CAPTURE_FRAME_MAP:
      return print_map (reader);
    case SYSPROF_CAPTURE_FRAME_JITMAP:
      return print_jitmap (reader);
    case SYSPROF_CAPTURE_FRAME_CTRDEF:
      return print_definitions (reader);
    case SYSPROF_CAPTURE_FRAME_CTRSET:
      return print_values (reader);
    case SYSPROF_CAPTURE_FRAME_MARK:
      return print_mark (reader);
    case SYSPROF_CAPTURE_FRAME_LOG:
      return print_log (reader);
    case SYSPROF_CAPTURE_FRAME_FILE_CHUNK:
      return print_chunk (reader);
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      return print_allocation (reader);
    case SYSPROF_CAPTURE_FRAME_OVERLAY:
      return print_overlay (reader);
#if SYSPROF_CHECK_VERSION(45, 0, 0)
    case SYSPROF_CAPTURE_FRAME_TRACE:
      return print_trace (reader);
    case SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE:
      return print_dbus_message (reader);
#endif
    default:
      return print_plain (reader, type);
    }
}

int
main (int argc, char **argv)
{
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;

  if (argc != 2)
    return 2;

  reader = sysprof_capture_reader_new (argv[1]);
  if (reader == NULL)
    {
      (void) fprintf (stderr, "%s: %s\n", argv[1], strerror (errno));
      return 1;
    }

  (void) printf ("{\"order\": %d, \"begin\": %lld, \"end\": %lld",
                 sysprof_capture_reader_get_byte_order (reader),
                 (long long) sysprof_capture_reader_get_start_time (reader),
                 (long long) sysprof_capture_reader_get_end_time (reader));
  print_text ("capture_time", sysprof_capture_reader_get_time (reader));
  (void) printf ("}\n");

  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      if (print_frame (reader, type))
        (void) printf ("}\n");
      else if (!sysprof_capture_reader_skip (reader))
        break;
    }
  sysprof_capture_reader_unref (reader);

  return 0;
}
