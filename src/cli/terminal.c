// SPDX-License-Identifier: GPL-3.0-or-later

/* What the person who records sees. */

#include "cli/terminal.h"

#include <stdarg.h>
#include <stdio.h>

#define NSEC_PER_SEC 1e9

static void
take_line_away (Terminal *self)
{
  if (self->has_line)
    fputs ("\r\033[K", stderr);
  self->has_line = false;
}

void
sysprof_cli_terminal_print (Terminal *self, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  take_line_away (self);
  fprintf (stderr, "%s\n", message);
}

void
sysprof_cli_terminal_note (Terminal *self, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (self->is_quiet)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  take_line_away (self);
  fprintf (stderr, "%s\n", message);
}

/* Per second between two looks; 0 if no time went by. */
static double
rate (uint64_t before, uint64_t now, int64_t nsec)
{
  return nsec > 0 ? (double) (now - before) / ((double) nsec / NSEC_PER_SEC) : 0;
}

static double
percent_of_cpu (int64_t cpu_nsec, int64_t nsec)
{
  return nsec > 0 ? 100.0 * (double) cpu_nsec / (double) nsec : 0;
}

static void
print_line (Terminal *self, const RecordingStatus *status)
{
  int64_t nsec = status->duration - self->last.duration;
  int64_t seconds = status->duration / (int64_t) NSEC_PER_SEC;
  g_autofree char *size = g_format_size (status->size);
  g_autofree char *throttled = NULL;

  if (status->n_throttled > 0)
    throttled = g_strdup_printf ("%" G_GUINT64_FORMAT " throttled  ", status->n_throttled);
  take_line_away (self);
  fprintf (stderr,
           "%02d:%02d  %" G_GUINT64_FORMAT " samples  %.0f/s  %" G_GUINT64_FORMAT
           " lost  %s%s  recorder %.1f %% CPU",
           (int) (seconds / 60), (int) (seconds % 60), status->n_samples,
           rate (self->last.n_samples, status->n_samples, nsec), status->n_lost,
           throttled != NULL ? throttled : "", size,
           percent_of_cpu (status->cpu_nsec - self->last.cpu_nsec, nsec));
  fflush (stderr);
  self->has_line = true;
}

/* Numbers as C writes them: g_ascii_dtostr, since a locale's comma is no JSON. */
static void
print_json (Terminal *self, const RecordingStatus *status, bool is_last)
{
  int64_t nsec = status->duration - self->last.duration;
  char samples_per_second[G_ASCII_DTOSTR_BUF_SIZE];
  char cpu_percent[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (samples_per_second, sizeof samples_per_second, "%.1f",
                   is_last ? rate (0, status->n_samples, status->duration)
                           : rate (self->last.n_samples, status->n_samples, nsec));
  g_ascii_formatd (cpu_percent, sizeof cpu_percent, "%.3f",
                   is_last ? percent_of_cpu (status->cpu_nsec, status->duration)
                           : percent_of_cpu (status->cpu_nsec - self->last.cpu_nsec, nsec));
  fprintf (stderr,
           "{\"time\": %" G_GINT64_FORMAT ", \"samples\": %" G_GUINT64_FORMAT
           ", \"rate\": %s, \"lost\": %" G_GUINT64_FORMAT ", \"throttled\": %" G_GUINT64_FORMAT
           ", \"frames\": %" G_GUINT64_FORMAT ", \"size\": %" G_GUINT64_FORMAT
           ", \"cpu-time\": %" G_GINT64_FORMAT ", \"cpu-percent\": %s, \"finished\": %s}\n",
           status->duration, status->n_samples, samples_per_second, status->n_lost,
           status->n_throttled, status->n_frames, status->size, status->cpu_nsec, cpu_percent,
           is_last ? "true" : "false");
}

void
sysprof_cli_terminal_status (Terminal *self, const RecordingStatus *status, bool is_last)
{
  if (self->form == STATUS_LINE && !is_last)
    print_line (self, status);
  else if (self->form == STATUS_JSON)
    print_json (self, status, is_last);
  self->last = *status;
}

void
sysprof_cli_terminal_summary (Terminal *self, const RecordingStatus *status, const char *name)
{
  g_autofree char *size = g_format_size (status->size);
  g_autofree char *lost = g_strdup ("none lost");
  g_autofree char *throttled = g_strdup ("");
  g_autofree char *place = g_strdup ("");
  g_autofree char *share = g_strdup ("");

  if (self->form == STATUS_JSON)
    return;
  if (status->n_lost > 0)
    {
      g_free (lost);
      lost = g_strdup_printf ("%" G_GUINT64_FORMAT " lost", status->n_lost);
    }
  if (status->n_throttled > 0)
    {
      g_free (throttled);
      throttled = g_strdup_printf (", held back %" G_GUINT64_FORMAT " times by the kernel",
                                   status->n_throttled);
    }
  if (name != NULL)
    {
      g_free (place);
      place = g_strdup_printf (" in '%s'", name);
    }
  /* Beginning and ending cost the same however short a recording is: a share of that would mislead. */
  if (status->duration >= (int64_t) NSEC_PER_SEC)
    {
      g_free (share);
      share = g_strdup_printf (", %.1f %% of one CPU",
                               percent_of_cpu (status->cpu_nsec, status->duration));
    }
  sysprof_cli_terminal_note (self,
                             "Recorded %.1f s: %" G_GUINT64_FORMAT
                             " samples, %s%s, %s%s. The recorder used %.2f s of CPU time%s.",
                             (double) status->duration / NSEC_PER_SEC, status->n_samples, lost,
                             throttled, size, place, (double) status->cpu_nsec / NSEC_PER_SEC,
                             share);
}
