// SPDX-License-Identifier: BSD-2-Clause

/* What a capture contains that matters when it is joined with others.
 *
 * Some embedded files describe one recording. Readers use the first file of a name, so a joined
 * capture must not have one that is true for a part of it only. */

#include "capture/capture.h"

#include <string.h>

/* Compressed files have .gz appended. */
static const struct
{
  const char *path;
  JoinedFiles file;
} files_of_one[] = {
  { CAPTURE_EVENTS_FILE, JOINED_EVENTS },   { CAPTURE_PERIODS_FILE, JOINED_PERIODS },
  { CAPTURE_WAITS_FILE, JOINED_WAITS },     { CAPTURE_FOUND_FILE, JOINED_FOUND },
  { "__unwind__", JOINED_UNWIND },          { "__unnamed__", JOINED_UNNAMED },
  { "/proc/kallsyms", JOINED_KALLSYMS },    { "__ksymbols__", JOINED_KALLSYMS },
  { "__modules__", JOINED_KALLSYMS },       { "__lines__", JOINED_LINES },
  { CAPTURE_THREADS_FILE, JOINED_THREADS }, { "__symbols__", JOINED_SYMBOLS },
};

static bool
is_packed_or_not (const char *path, const char *name)
{
  size_t size = strlen (name);

  return strncmp (path, name, size) == 0 &&
         (path[size] == '\0' || strcmp (path + size, ".gz") == 0);
}

/* /proc/PID/jit-code, or /proc/PID/jit-owners */
static bool
is_jit_code (const char *path)
{
  static const char before[] = "/proc/";
  size_t at = sizeof before - 1;

  if (strncmp (path, before, at) != 0 || path[at] < '0' || path[at] > '9')
    return false;
  at += strspn (path + at, "0123456789");
  return is_packed_or_not (path + at, "/jit-code") ||
         is_packed_or_not (path + at, "/jit-owners");
}

JoinedFiles
sysprof_joined_file (const char *path)
{
  for (size_t i = 0; i < sizeof files_of_one / sizeof files_of_one[0]; i++)
    if (is_packed_or_not (path, files_of_one[i].path))
      return files_of_one[i].file;
  return is_jit_code (path) ? JOINED_JIT_CODE : 0;
}

/* A joined capture may have the file several times. If the copies differ, the events are not
 * known. */
static void
add_events (CaptureContents *self, const SysprofCaptureFileChunk *chunk)
{
  uint8_t *at = self->events + self->events_size;
  size_t left = sizeof self->events - self->events_size;

  if (self->has_whole_events)
    {
      at = self->events + self->events_again;
      left = self->events_size - self->events_again;
    }

  if (chunk->len > left ||
      (self->has_whole_events && memcmp (at, chunk->data, chunk->len) != 0))
    self->files |= JOINED_PERIODS; /* several events, or another program wrote it */
  else if (self->has_whole_events)
    self->events_again += chunk->len;
  else
    {
      memcpy (at, chunk->data, chunk->len);
      self->events_size += chunk->len;
    }

  if (!chunk->is_last)
    return;
  if (self->has_whole_events && self->events_again != self->events_size)
    self->files |= JOINED_PERIODS;
  self->has_whole_events = true;
  self->events_again = 0;
}

static void
add_sample (CaptureContents *self, const SysprofCaptureSample *sample)
{
  const uint8_t *first = (const uint8_t *) sample + sizeof *sample;
  SysprofAddressContext context = SYSPROF_ADDRESS_CONTEXT_NONE;

  self->has_samples = true;
  if (sample->n_addrs > 1 &&
      sysprof_address_is_context_switch (sysprof_load_u64 (first, false), &context) &&
      context == SYSPROF_ADDRESS_CONTEXT_KERNEL)
    self->has_kernel_code = true;
}

/* The first boot counts: the kernel addresses of later ones in this capture were replaced. */
static void
add_metadata (CaptureContents *self, const SysprofCaptureMetadata *metadata)
{
  size_t size = strcspn (metadata->metadata, " ");

  if (strcmp (metadata->id, CAPTURE_BOOT_ID) != 0 || self->boot[0] != '\0' ||
      size >= sizeof self->boot || strcmp (metadata->metadata, CAPTURE_BOOT_ID_OTHER) == 0)
    return;
  memcpy (self->boot, metadata->metadata, size);
  self->boot[size] = '\0';
}

void
sysprof_capture_contents_add_frame (CaptureContents *self, const SysprofCaptureFrame *frame)
{
  const SysprofCaptureFileChunk *chunk = (const SysprofCaptureFileChunk *) frame;
  JoinedFiles file;

  if (frame->type == SYSPROF_CAPTURE_FRAME_SAMPLE)
    add_sample (self, (const SysprofCaptureSample *) frame);
  if (frame->type == SYSPROF_CAPTURE_FRAME_METADATA)
    add_metadata (self, (const SysprofCaptureMetadata *) frame);
  if (frame->type != SYSPROF_CAPTURE_FRAME_FILE_CHUNK)
    return;

  file = sysprof_joined_file (chunk->path);
  self->files |= file;
  if (file == JOINED_EVENTS)
    add_events (self, chunk);
}

bool
sysprof_capture_contents_have_events (const CaptureContents *self)
{
  return self->has_samples || (self->files & JOINED_SAMPLED_ON) != 0;
}

/* Whether samples of both captures were taken on the same event, all with the same period; or
 * only one has samples. */
static bool
agree_on_events (const CaptureContents *a, const CaptureContents *b)
{
  JoinedFiles of_both = (a->files | b->files) & JOINED_SAMPLED_ON;

  if (!sysprof_capture_contents_have_events (a) || !sysprof_capture_contents_have_events (b) ||
      of_both == 0)
    return true;
  return of_both == JOINED_EVENTS && (a->files & b->files & JOINED_EVENTS) != 0 &&
         a->events_size == b->events_size && memcmp (a->events, b->events, a->events_size) == 0;
}

static void
add_contents (CaptureContents *self, const CaptureContents *other)
{
  if ((self->files & JOINED_EVENTS) == 0)
    {
      memcpy (self->events, other->events, other->events_size);
      self->events_size = other->events_size;
    }
  self->has_samples |= other->has_samples;
  self->files |= other->files;
}

bool
sysprof_translation_choose_files (Translation *self,
                                  CaptureContents *before,
                                  bool is_one_of_many)
{
  CaptureContents *contents = &self->contents;
  bool agree;

  self->left = before->files & contents->files & (JOINED_WAITS | JOINED_KALLSYMS);
  if (self->moves_addresses ||
      self->is_of_other_boot) /* addresses within the file would be wrong */
    self->left |= contents->files & JOINED_WAITS;
  if (self->is_of_other_boot)
    self->left |= contents->files & JOINED_KALLSYMS;
  if (is_one_of_many)
    self->left |= contents->files & JOINED_JIT_CODE;
  contents->files &= ~self->left;

  /* Files that are equal in all captures are copied once. */
  if (sysprof_capture_contents_have_events (before))
    self->left |= JOINED_SAMPLED_ON;
  agree = agree_on_events (before, contents);
  add_contents (before, contents);

  return agree;
}
