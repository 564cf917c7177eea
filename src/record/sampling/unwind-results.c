// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes the results of unwinding at the end of a recording: how stacks were unwound, why they
 * end, and the failures of the unwinder. */

#include "capture/capture.h"
#include "record/sampling/sampler-private.h"
#include "util/util.h"

#include <string.h>

#define TALLY_NAME "__unwind__"
/* bytes of a value: Sysprof 3.46 joins frames of at most 16,384 bytes */
#define MOST_METADATA 16000

/* Writes whole lines, split into parts that fit a frame. */
static void
write_contradictions (RecordingContext *context, const char *lines)
{
  while (*lines != '\0')
    {
      size_t size = strnlen (lines, MOST_METADATA);
      const char *end = memrchr (lines, '\n', size);

      if (end == NULL)
        return; /* no path is that long */
      (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                                  "org.gnome.sysprof.contradictions", lines,
                                                  end - lines);
      lines = end + 1;
    }
}

/* Records events that the unwinder has lost and tables that it could not build or store. Writes
 * nothing if there are none. */
static void
write_shortcomings (RecordingContext *context,
                    const UnwinderStatus *status,
                    uint64_t n_without_copy)
{
  g_autofree char *text = NULL;

  if (status->n_lost == 0 && status->use.n_refused == 0 && status->files.n_failed == 0 &&
      n_without_copy == 0)
    return;
  text = g_strdup_printf ("lost=%" G_GUINT64_FORMAT " without-room=%" G_GUINT64_FORMAT
                          " failed=%u without-copy=%" G_GUINT64_FORMAT,
                          status->n_lost, status->use.n_refused, status->files.n_failed,
                          n_without_copy);
  (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                              "org.gnome.sysprof.unwinder", text, -1);
}

static void
pass_pinned_files (SysprofSampler *self, RecordingContext *context)
{
  PinnedFiles *kept = sysprof_unwinder_steal_pinned_files (self->unwinder);
  unsigned n_let_go = kept != NULL ? sysprof_pinned_files_get_n_released (kept) : 0;
  g_autofree char *text = g_strdup_printf ("%u", n_let_go);

  if (n_let_go > 0)
    (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                                "org.gnome.sysprof.files-let-go", text, -1);
  sysprof_pinned_files_free (context->pinned_files);
  context->pinned_files = kept;
}

/* Writes the samples that are still pending, then the number of stacks for each reason to
 * end. */
void
sysprof_sampler_finish_unwinder (SysprofSampler *self, RecordingContext *context)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->feed.session);
  g_autoptr (GString) counts = g_string_new (NULL);
  UnwinderStatus status;

  sysprof_event_feed_drain (&self->feed);
  sysprof_unwinder_stop (self->unwinder, &status);
  sysprof_unwinder_write_finished (self->unwinder, decoder);
  decoder->take_unfinished = NULL;
  pass_pinned_files (self, context);

  for (uint32_t i = 0; i < WALK_REASONS; i++)
    if (decoder->n_walks[i] > 0)
      g_string_append_printf (counts, "%s%s=%" G_GUINT64_FORMAT, counts->len > 0 ? " " : "",
                              sysprof_walk_reason_to_string (i), decoder->n_walks[i]);
  (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                              "org.gnome.sysprof.walks", counts->str, -1);
  write_contradictions (context, status.files.contradictions);
  write_shortcomings (context, &status, decoder->n_without_copy);

  g_debug ("Walks: %s", counts->str);
  g_debug (
      "Unwinder: %u tables (%u files without) of %.1f MB of text, %.1f MB in slabs of %.1f MB, "
      "built in %.0f ms; ready after %.0f ms",
      status.files.n_tables, status.files.n_without, (double) status.files.text_size / 1e6,
      (double) status.use.table_bytes / 1e6, (double) status.use.slab_bytes / 1e6,
      (double) status.files.building_nsec / 1e6, (double) status.ready_nsec / 1e6);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " wake-ups, %.0f ms "
           "of CPU time, %" G_GUINT64_FORMAT " lost, %" G_GUINT64_FORMAT " without space",
           status.n_events, status.n_wake_ups, (double) status.cpu_nsec / 1e6, status.n_lost,
           status.use.n_refused);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " pending samples, %" G_GUINT64_FORMAT " "
           "completed, %" G_GUINT64_FORMAT " rejected",
           status.pending.n_taken, status.pending.n_finished, status.pending.n_refused);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " copies, %" G_GUINT64_FORMAT
           " forwarded, %" G_GUINT64_FORMAT " rejected, %.0f ms of CPU time of the workers",
           status.copies.n_taken, status.copies.n_handed_on, status.copies.n_refused,
           (double) status.copies.cpu_nsec / 1e6);
}

/* Writes the best unwind method of each process, and which samples used another. */
void
sysprof_sampler_write_tally (SysprofSampler *self, RecordingContext *context)
{
  g_autofree char *text = sysprof_stack_tally_dup_text (self->tally);
  size_t size;
  const void *notes = sysprof_stack_tally_get_notes (self->tally, &size);

  if (size > 0)
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->end, -1, CAPTURE_FOUND_FILE, notes, size,
                                     false);

  if (text[0] != '\0')
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->end, -1, TALLY_NAME, text, strlen (text),
                                     false);
}
