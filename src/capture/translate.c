// SPDX-License-Identifier: BSD-2-Clause

/* Copies frames so that they mean the same in another capture: counters and synthetic addresses
 * get the ids of the destination, everything else stays. Each frame is written again by the
 * writer's function for its type, so that whatever other programs left in the padding is not
 * copied. writer-counters.c has the counters. */

#include "capture/capture.h"
#include "capture/reader.h"
#include "capture/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX (SYSPROF_CAPTURE_FRAME_MAX / sizeof (SysprofCaptureCounterValue))
#define CHUNK_MAX  (SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureFileChunk))
#define NAME_MAX_FITTING \
  (SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureJitmap) - sizeof (uint64_t) - 1)

bool
sysprof_translation_init (Translation *self,
                          SysprofCaptureWriter *writer,
                          SysprofCaptureReader *reader)
{
  memset (self, 0, sizeof *self);
  self->writer = writer;
  self->reader = reader != NULL ? sysprof_capture_reader_copy (reader) : NULL;
  self->ids = calloc (VALUES_MAX, sizeof *self->ids);
  self->values = calloc (VALUES_MAX, sizeof *self->values);
  if ((self->reader != NULL || reader == NULL) && self->ids != NULL && self->values != NULL)
    return true;

  sysprof_translation_clear (self);

  return false;
}

void
sysprof_translation_clear (Translation *self)
{
  int saved = errno;

  if (self->reader != NULL)
    sysprof_capture_reader_unref (self->reader);
  sysprof_number_map_clear (&self->addresses);
  sysprof_number_map_clear (&self->counters);
  sysprof_number_map_clear (&self->counters_by_id);
  free (self->ids);
  free (self->values);
  memset (self, 0, sizeof *self);
  errno = saved;
}

static uint64_t
add_name (Translation *self, const char *name)
{
  char fitting[NAME_MAX_FITTING + 1];

  if (self->shorten == NULL || strlen (name) <= NAME_MAX_FITTING)
    return sysprof_capture_writer_add_jitmap (self->writer, name);

  memcpy (fitting, name, NAME_MAX_FITTING);
  fitting[NAME_MAX_FITTING] = '\0';
  self->n_cut++;

  return sysprof_capture_writer_add_jitmap (self->writer, fitting);
}

static bool
add_names_of (Translation *self, const SysprofCaptureJitmap *jitmap, bool keeps_addresses)
{
  SysprofCaptureJitmapIter iter;
  SysprofCaptureAddress address;
  const char *name;

  sysprof_capture_jitmap_iter_init (&iter, jitmap);
  while (sysprof_capture_jitmap_iter_next (&iter, &address, &name))
    {
      uint64_t ours = address;

      if (!keeps_addresses)
        ours = add_name (self, name);
      else if (!sysprof_capture_writer_keep_jitmap (self->writer, address, name))
        return false;
      if (ours == 0 || !sysprof_number_map_set (&self->addresses, address, ours))
        return false;
      self->moves_addresses |= ours != address;
    }

  return true;
}

/* True if the writer has no name yet, and all names are numbered as ours are. */
static bool
can_keep_addresses (Translation *self)
{
  const SysprofCaptureFrame *frame;

  if (sysprof_capture_writer_has_names (self->writer))
    return false;

  (void) sysprof_capture_reader_reset (self->reader); /* cannot fail */
  while ((frame = sysprof_capture_reader_peek_known (self->reader)) != NULL)
    {
      SysprofCaptureJitmapIter iter;
      SysprofCaptureAddress address;
      const char *name;

      if (frame->type == SYSPROF_CAPTURE_FRAME_JITMAP)
        {
          sysprof_capture_jitmap_iter_init (&iter, (const SysprofCaptureJitmap *) frame);
          while (sysprof_capture_jitmap_iter_next (&iter, &address, &name))
            if (address <= SYSPROF_CAPTURE_JITMAP_MARK ||
                address - SYSPROF_CAPTURE_JITMAP_MARK > INT32_MAX)
              return false;
        }
      sysprof_capture_reader_step (self->reader);
    }

  return true;
}

bool
sysprof_translation_add_names (Translation *self, bool keeps_addresses)
{
  const SysprofCaptureFrame *frame;

  keeps_addresses = keeps_addresses && can_keep_addresses (self);
  (void) sysprof_capture_reader_reset (self->reader); /* cannot fail */
  while ((frame = sysprof_capture_reader_peek_known (self->reader)) != NULL)
    {
      if (frame->type == SYSPROF_CAPTURE_FRAME_JITMAP &&
          !add_names_of (self, (const SysprofCaptureJitmap *) frame, keeps_addresses))
        return false;
      sysprof_capture_contents_add_frame (&self->contents, frame);
      sysprof_capture_reader_step (self->reader);
    }

  return sysprof_capture_reader_check (self->reader);
}

static bool
is_jit_address (SysprofCaptureAddress address)
{
  /* The mark of 64-bit programs, also where this one has 32. Those of 32-bit programs may be code, but for those that
   * have names, which were found before. */
  return (address & UINT64_C (0xFFFFFFFF00000000)) == UINT64_C (0xE000000000000000);
}

static bool
translate_address (Translation *self, SysprofCaptureAddress *address)
{
  uint64_t ours = sysprof_number_map_get (&self->addresses, *address);
  char name[sizeof "0x" + 16];

  if (ours == 0)
    {
      if (!is_jit_address (*address))
        return true;

      /* Without a name in its own capture, it must not get one of another's. */
      (void) snprintf (name, sizeof name, SYSPROF_CAPTURE_ADDRESS_FORMAT, *address);
      ours = sysprof_capture_writer_add_jitmap (self->writer, name);
      if (ours == 0 || !sysprof_number_map_set (&self->addresses, *address, ours))
        return false;
    }
  *address = ours;

  return true;
}

/* Translates a stack in place and sets the number of its addresses, which is smaller where kernel addresses of another
 * boot are replaced by one. Kernel addresses may have the bits of synthetic ones. */
static bool
translate_addresses (Translation *self, uint8_t *addrs, unsigned int *n_addrs)
{
  SysprofAddressContext context = SYSPROF_ADDRESS_CONTEXT_NONE;
  SysprofCaptureAddress last = 0;
  unsigned int n = 0;

  for (unsigned int i = 0; i < *n_addrs; i++)
    {
      SysprofCaptureAddress address = sysprof_load_u64 (addrs + i * sizeof address, false);

      if (sysprof_address_is_context_switch (address, &context))
        ;
      else if (context == SYSPROF_ADDRESS_CONTEXT_KERNEL)
        {
          if (self->is_of_other_boot)
            address = CAPTURE_OTHER_KERNEL_ADDRESS;
          if (self->is_of_other_boot && address == last)
            continue;
        }
      else if ((context == SYSPROF_ADDRESS_CONTEXT_NONE ||
                context == SYSPROF_ADDRESS_CONTEXT_USER) &&
               !translate_address (self, &address))
        return false;
      sysprof_store_u64 (addrs + n++ * sizeof address, address);
      last = address;
    }
  *n_addrs = n;

  return true;
}

static SysprofCaptureWriter *
get_late_writer (const Translation *self)
{
  return self->late_writer != NULL ? self->late_writer : self->writer;
}

static void
fit (Translation *self, SysprofCaptureFrame *frame)
{
  if (self->shorten != NULL && self->shorten (frame))
    self->n_cut++;
}

/* The build id behind the path, or NULL: padding may hold rubbish that begins with '@'. */
static const char *
find_build_id (const SysprofCaptureMap *map)
{
  const char *end = (const char *) map + map->frame.len;
  const char *at = map->filename + strlen (map->filename) + 1;
  size_t n_digits;

  if (at >= end || *at != '@')
    return NULL;
  at++;
  n_digits = strnlen (at, (size_t) (end - at));
  if (n_digits == (size_t) (end - at) || n_digits == 0 ||
      n_digits > SYSPROF_CAPTURE_BUILD_ID_MAX || n_digits % 2 != 0 ||
      strspn (at, "0123456789abcdef") != n_digits)
    return NULL;

  return at;
}

/* Frames of unknown type cannot be converted to another byte order or shortened: such ones are dropped. */
static bool
copy_raw (Translation *self, const SysprofCaptureFrame *frame)
{
  if (self->reader->is_swapped ||
      (self->shorten != NULL && frame->len > SYSPROF_CAPTURE_FRAME_USUAL_MAX))
    return true;

  return sysprof_capture_writer_add_copy (self->writer, frame);
}

static bool
copy_stack_frame (Translation *self, SysprofCaptureFrame *frame)
{
  SysprofCaptureWriter *writer = self->writer;
  SysprofCaptureAllocation *allocation = (SysprofCaptureAllocation *) frame;
  SysprofCaptureSample *sample = (SysprofCaptureSample *) frame;
  SysprofCaptureTrace *trace = (SysprofCaptureTrace *) frame;
  uint8_t *addrs = (uint8_t *) sample + sizeof *sample;
  unsigned int n_addrs = sample->n_addrs;

  if (frame->type == SYSPROF_CAPTURE_FRAME_ALLOCATION)
    {
      addrs = (uint8_t *) allocation + sizeof *allocation;
      n_addrs = allocation->n_addrs;
    }
  if (!translate_addresses (self, addrs, &n_addrs))
    return false;

  /* The buffer of the reader is aligned as frames are, to 8 bytes. */
  const SysprofCaptureAddress *aligned = (const SysprofCaptureAddress *) (const void *) addrs;

  if (frame->type == SYSPROF_CAPTURE_FRAME_ALLOCATION)
    return sysprof_capture_writer_add_allocation_copy (
        writer, frame->time, frame->cpu, frame->pid, allocation->tid, allocation->alloc_addr,
        allocation->alloc_size, aligned, n_addrs);
  if (frame->type == SYSPROF_CAPTURE_FRAME_TRACE)
    return sysprof_capture_writer_add_trace (get_late_writer (self), frame->time, frame->cpu,
                                             frame->pid, trace->tid, aligned, n_addrs,
                                             trace->entering);
  return sysprof_capture_writer_add_sample (writer, frame->time, frame->cpu, frame->pid,
                                            sample->tid, aligned, n_addrs);
}

static bool
copy_process_frame (Translation *self, SysprofCaptureFrame *frame)
{
  SysprofCaptureWriter *writer = self->writer;

  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_MAP:
      {
        const SysprofCaptureMap *map = (const SysprofCaptureMap *) frame;
        const char *build_id = find_build_id (map);

        fit (self, frame);
        return sysprof_capture_writer_add_map_with_build_id (
            writer, frame->time, frame->cpu, frame->pid, map->start, map->end, map->offset,
            map->inode, map->filename, build_id);
      }

    case SYSPROF_CAPTURE_FRAME_PROCESS:
      return sysprof_capture_writer_add_process (writer, frame->time, frame->cpu, frame->pid,
                                                 ((SysprofCaptureProcess *) frame)->cmdline);

    case SYSPROF_CAPTURE_FRAME_FORK:
      return sysprof_capture_writer_add_fork (writer, frame->time, frame->cpu, frame->pid,
                                              ((SysprofCaptureFork *) frame)->child_pid);

    case SYSPROF_CAPTURE_FRAME_EXIT:
      return sysprof_capture_writer_add_exit (writer, frame->time, frame->cpu, frame->pid);

    default:
      {
        const SysprofCaptureOverlay *overlay = (const SysprofCaptureOverlay *) frame;

        return sysprof_capture_writer_add_overlay (writer, frame->time, frame->cpu, frame->pid,
                                                   overlay->layer, overlay->data,
                                                   overlay->data + overlay->src_len + 1);
      }
    }
}

static bool
copy_file_chunk (Translation *self, const SysprofCaptureFileChunk *chunk)
{
  const SysprofCaptureFrame *frame = &chunk->frame;
  size_t most = self->shorten != NULL ? CHUNK_MAX : UINT16_MAX;
  size_t at = 0;

  do
    {
      size_t n = chunk->len - at < most ? chunk->len - at : most;
      bool is_last = chunk->is_last && at + n == chunk->len;

      if (!sysprof_capture_writer_add_file (self->writer, frame->time, frame->cpu, frame->pid,
                                            chunk->path, is_last, chunk->data + at, n))
        return false;
      at += n;
    }
  while (at < chunk->len);

  return true;
}

static bool
copy_text_frame (Translation *self, SysprofCaptureFrame *frame)
{
  SysprofCaptureWriter *writer = self->writer;

  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_MARK:
      {
        const SysprofCaptureMark *mark = (const SysprofCaptureMark *) frame;

        return sysprof_capture_writer_add_mark (writer, frame->time, frame->cpu, frame->pid,
                                                (uint64_t) mark->duration, mark->group,
                                                mark->name, mark->message);
      }

    case SYSPROF_CAPTURE_FRAME_METADATA:
      {
        const SysprofCaptureMetadata *metadata = (const SysprofCaptureMetadata *) frame;

        if (self->is_of_other_boot && strcmp (metadata->id, CAPTURE_BOOT_ID) == 0)
          return true; /* sysprof_translation_copy() adds the replacement */
        return sysprof_capture_writer_add_metadata (writer, frame->time, frame->cpu, frame->pid,
                                                    metadata->id, metadata->metadata, -1);
      }

    case SYSPROF_CAPTURE_FRAME_LOG:
      {
        const SysprofCaptureLog *log = (const SysprofCaptureLog *) frame;

        return sysprof_capture_writer_add_log (writer, frame->time, frame->cpu, frame->pid,
                                               log->severity, log->domain, log->message);
      }

    default:
      return copy_file_chunk (self, (const SysprofCaptureFileChunk *) frame);
    }
}

static bool
copy_dbus_message (Translation *self, const SysprofCaptureDBusMessage *message)
{
  const SysprofCaptureFrame *frame = &message->frame;

  return sysprof_capture_writer_add_dbus_message (
      get_late_writer (self), frame->time, frame->cpu, frame->pid, message->bus_type,
      message->flags, message->message, message->message_len);
}

static bool
copy_frame (Translation *self, SysprofCaptureFrame *frame)
{
  if (frame->type != SYSPROF_CAPTURE_FRAME_MAP)
    fit (self, frame); /* of a map, the build ID after the path is read first */

  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_TIMESTAMP:
      return sysprof_capture_writer_add_timestamp (self->writer, frame->time, frame->cpu,
                                                   frame->pid);

    case SYSPROF_CAPTURE_FRAME_JITMAP:
      return true; /* its names are added already */

    case SYSPROF_CAPTURE_FRAME_SAMPLE:
    case SYSPROF_CAPTURE_FRAME_TRACE:
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      return copy_stack_frame (self, frame);

    case SYSPROF_CAPTURE_FRAME_CTRDEF:
      return sysprof_translation_copy_definitions (self, (SysprofCaptureCounterDefine *) frame);

    case SYSPROF_CAPTURE_FRAME_CTRSET:
      return sysprof_translation_copy_values (self, (const SysprofCaptureCounterSet *) frame);

    case SYSPROF_CAPTURE_FRAME_MAP:
    case SYSPROF_CAPTURE_FRAME_PROCESS:
    case SYSPROF_CAPTURE_FRAME_FORK:
    case SYSPROF_CAPTURE_FRAME_EXIT:
    case SYSPROF_CAPTURE_FRAME_OVERLAY:
      return copy_process_frame (self, frame);

    case SYSPROF_CAPTURE_FRAME_MARK:
    case SYSPROF_CAPTURE_FRAME_METADATA:
    case SYSPROF_CAPTURE_FRAME_LOG:
    case SYSPROF_CAPTURE_FRAME_FILE_CHUNK:
      return copy_text_frame (self, frame);

    case SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE:
      return copy_dbus_message (self, (const SysprofCaptureDBusMessage *) frame);

    default:
      return copy_raw (self, frame);
    }
}

static bool
is_wanted (const Translation *self, const SysprofCaptureFrame *frame, CopyFlags flags)
{
  const SysprofCaptureFileChunk *chunk = (const SysprofCaptureFileChunk *) frame;
  JoinedFiles file;
  bool is_late = !sysprof_capture_frame_type_is_known (frame->type) ||
                 frame->type == SYSPROF_CAPTURE_FRAME_TRACE ||
                 frame->type == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE;

  if (sysprof_capture_frame_is_index ((const uint8_t *) frame, false))
    return false;
  if (frame->type != SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
    return (flags & (is_late ? COPY_LATE : COPY_EARLY)) != 0;

  file = sysprof_joined_file (chunk->path);
  if (((self->left | self->merged) & file) != 0)
    return false;

  return (flags & (is_late ? COPY_LATE : COPY_EARLY)) != 0;
}

/* Names of addresses come before the frames that use them, also before those that are copied last. */
static bool
prepare_for_later (Translation *self, SysprofCaptureFrame *frame, CopyFlags flags)
{
  SysprofCaptureTrace *trace = (SysprofCaptureTrace *) frame;

  if ((flags & COPY_EARLY) == 0)
    return true;

  fit (self, frame); /* only counted here */
  if (frame->type == SYSPROF_CAPTURE_FRAME_TRACE)
    {
      unsigned int n_addrs = trace->n_addrs;

      return translate_addresses (self, (uint8_t *) trace + sizeof *trace, &n_addrs);
    }
  return true;
}

/* A file that is left out, of the name of one that may have been written before: readers that see what contradicts it know that it does
 * not hold for all. */
static bool
contradict (Translation *self, const SysprofCaptureFrame *frame)
{
  const SysprofCaptureFileChunk *chunk = (const SysprofCaptureFileChunk *) frame;

  if (!self->contradicts_code || frame->type != SYSPROF_CAPTURE_FRAME_FILE_CHUNK ||
      !chunk->is_last || sysprof_joined_file (chunk->path) != JOINED_JIT_CODE)
    return true;
  return sysprof_capture_writer_add_file (self->writer, frame->time, frame->cpu, frame->pid,
                                          chunk->path, true, (const uint8_t *) "", 0);
}

bool
sysprof_translation_copy (Translation *self, CopyFlags flags)
{
  const SysprofCaptureFrame *frame;

  if ((flags & COPY_EARLY) != 0 && self->is_of_other_boot &&
      !sysprof_capture_writer_add_metadata (self->writer, self->reader->header.time, -1, -1,
                                            CAPTURE_BOOT_ID, CAPTURE_BOOT_ID_OTHER, -1))
    return false;

  (void) sysprof_capture_reader_reset (self->reader); /* cannot fail */
  while ((frame = sysprof_capture_reader_next_any (self->reader)) != NULL)
    {
      /* The reader is ours, and so are the bytes of its frames. */
      SysprofCaptureFrame *own =
          (SysprofCaptureFrame *) (self->reader->buffer + self->reader->at);

      if (is_wanted (self, frame, flags)
              ? !copy_frame (self, own)
              : !prepare_for_later (self, own, flags) || !contradict (self, own))
        return false;
      sysprof_capture_reader_step (self->reader);
    }

  return sysprof_capture_reader_check (self->reader);
}

bool
sysprof_translation_copy_frame (Translation *self, SysprofCaptureFrame *frame)
{
  if (frame->type == SYSPROF_CAPTURE_FRAME_JITMAP)
    return add_names_of (self, (const SysprofCaptureJitmap *) frame, false);

  return !is_wanted (self, frame, COPY_EARLY | COPY_LATE) || copy_frame (self, frame);
}
