// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads a capture with whatever capture library it is built against, calling the typed read function for every
 * frame, and prints one line per frame: type, cpu, pid, time and a checksum over what a reader can see of the
 * content. Built once against the peer's library and once against ours: the two outputs must be equal. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysprof-capture.h>

static uint32_t sum;

static void
add (const void *bytes, size_t size)
{
  const unsigned char *at = bytes;

  for (size_t i = 0; i < size; i++)
    sum = sum * 31 + at[i];
}

static void
add_number (int64_t number)
{
  add (&number, sizeof number);
}

static void
add_text (const char *text)
{
  add (text, strlen (text) + 1);
}

/* FALSE where the reader refuses the frame. */
static bool
read_frame (SysprofCaptureReader *reader, SysprofCaptureFrameType type)
{
#define READ(Type, name)                                                                        \
  const SysprofCapture##Type *frame = sysprof_capture_reader_read_##name (reader);            \
  if (frame == NULL)                                                                            \
    return false;

  switch (type)
    {
    case SYSPROF_CAPTURE_FRAME_SAMPLE:
      {
        READ (Sample, sample)
        add_number (frame->tid);
        add (frame->addrs, frame->n_addrs * sizeof frame->addrs[0]);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_MAP:
      {
        READ (Map, map)
        add_number ((int64_t) frame->start);
        add_number ((int64_t) frame->end);
        add_number ((int64_t) frame->offset);
        add_number ((int64_t) frame->inode);
        add_text (frame->filename);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_PROCESS:
      {
        READ (Process, process)
        add_text (frame->cmdline);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_FORK:
      {
        READ (Fork, fork)
        add_number (frame->child_pid);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_EXIT:
      {
        READ (Exit, exit)
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_JITMAP:
      {
        READ (Jitmap, jitmap)
        add_number (frame->n_jitmaps);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_CTRDEF:
      {
        READ (CounterDefine, counter_define)
        for (unsigned i = 0; i < frame->n_counters; i++)
          {
            add_text (frame->counters[i].category);
            add_text (frame->counters[i].name);
            add_text (frame->counters[i].description);
            add_number (frame->counters[i].id);
            add_number (frame->counters[i].type);
          }
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_CTRSET:
      {
        READ (CounterSet, counter_set)
        add (frame->values, frame->n_values * sizeof frame->values[0]);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_MARK:
      {
        READ (Mark, mark)
        add_number (frame->duration);
        add_text (frame->group);
        add_text (frame->name);
        add_text (frame->message);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_METADATA:
      {
        READ (Metadata, metadata)
        add_text (frame->id);
        add_text (frame->metadata);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_LOG:
      {
        READ (Log, log)
        add_number (frame->severity);
        add_text (frame->domain);
        add_text (frame->message);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_FILE_CHUNK:
      {
        READ (FileChunk, file)
        add_text (frame->path);
        add_number (frame->is_last);
        add (frame->data, frame->len);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      {
        READ (Allocation, allocation)
        add_number ((int64_t) frame->alloc_addr);
        add_number (frame->alloc_size);
        add_number (frame->tid);
        add (frame->addrs, frame->n_addrs * sizeof frame->addrs[0]);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_OVERLAY:
      {
        READ (Overlay, overlay)
        add_number (frame->layer);
        add (frame->data, (size_t) frame->src_len + frame->dst_len + 2);
        return true;
      }
    case SYSPROF_CAPTURE_FRAME_TIMESTAMP:
      {
        READ (Timestamp, timestamp)
        return true;
      }
    default:
      return sysprof_capture_reader_skip (reader);
    }
}

int
main (int argc, char **argv)
{
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  unsigned long n = 0;

  if (argc != 2)
    return 2;
  reader = sysprof_capture_reader_new (argv[1]);
  if (reader == NULL)
    {
      perror (argv[1]);
      return 1;
    }

  printf ("start %" PRIi64 " %s\n", sysprof_capture_reader_get_start_time (reader), sysprof_capture_reader_get_time (reader));
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      sum = 0;
      if (!read_frame (reader, frame.type))
        {
          printf ("refused: frame %lu of type %d\n", n, frame.type);
          return 1;
        }
      printf ("%d %d %" PRIi32 " %" PRIi64 " %08" PRIx32 "\n", frame.type, frame.cpu, frame.pid, frame.time, sum);
      n++;
    }

  sysprof_capture_reader_unref (reader);
  return 0;
}
