// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages and the status line on standard error. See terminal.h. */

#include "cli/terminal.h"

#include "util/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NSEC_PER_SEC    1e9
#define DEFAULT_COLUMNS 80 /* width of a terminal that does not report it */
#define CLEAR_LINE      "\r\033[K"

/* Settings that full-screen programs change: pagers and editors change both, password
 * prompts the echo. */
static tcflag_t
get_mode (void)
{
  struct termios mode;

  return tcgetattr (STDERR_FILENO, &mode) == 0 ? mode.c_lflag & (ICANON | ECHO) : 0;
}

void
sysprof_cli_terminal_init (Terminal *self, StatusForm form, bool is_quiet)
{
  const char *type = getenv ("TERM");

  *self = (Terminal){ .form = form, .is_quiet = is_quiet };
  if (form != STATUS_LINE)
    return;

  /* A dumb terminal cannot erase a line, so status lines would fill it. */
  if (is_quiet || !isatty (STDERR_FILENO) || g_strcmp0 (type, "dumb") == 0)
    self->form = STATUS_NONE;
  self->mode = get_mode ();
}

/* Not while another program uses the terminal. */
static bool
may_draw (const Terminal *self)
{
  pid_t foreground = tcgetpgrp (STDERR_FILENO);

  return (foreground < 0 || foreground == getpgrp ()) && get_mode () == self->mode;
}

static size_t
get_columns (void)
{
  struct winsize size;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                          : DEFAULT_COLUMNS;
}

static void
take_line_away (Terminal *self)
{
  if (self->has_line)
    fputs (CLEAR_LINE, stderr);
  self->has_line = false;
}

/* Quotes text for JSON. */
static char *
dup_json_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *json = g_string_new ("\"");

  for (const char *at = valid; *at != '\0'; at++)
    if ((unsigned char) *at < ' ')
      g_string_append_printf (json, "\\u%04x", (unsigned) *at);
    else if (*at == '"' || *at == '\\')
      g_string_append_printf (json, "\\%c", *at);
    else
      g_string_append_c (json, *at);
  g_string_append_c (json, '"');
  return g_string_free (json, FALSE);
}

/* The remote end of --host writes plain messages; the local end formats them. */
static void
print_message (Terminal *self, const char *message)
{
  g_autofree char *json = NULL;

  take_line_away (self);
  if (self->form != STATUS_JSON || self->mark != NULL)
    {
      fprintf (stderr, "%s\n", message);
      return;
    }
  json = dup_json_text (message);
  fprintf (stderr, "{\"message\": %s}\n", json);
}

void
sysprof_cli_terminal_print (Terminal *self, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  print_message (self, message);
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
  print_message (self, message);
}

/* Rate per second between two updates; 0 if no time has passed. */
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

static char *
format_time (int64_t nsec)
{
  int64_t seconds = (int64_t) ((double) nsec / NSEC_PER_SEC + 0.5);
  int64_t minutes = seconds / 60, hours = minutes / 60;

  if (hours > 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT ":%02d:%02d", hours, (int) (minutes % 60),
                            (int) (seconds % 60));
  return g_strdup_printf ("%02d:%02d", (int) minutes, (int) (seconds % 60));
}

/* The numbers with labels, or without labels for a narrow terminal. */
static char *
format_line (const Terminal *self, const RecordingStatus *status, bool is_short)
{
  const char *gap = is_short ? " " : "  ";
  GString *line = g_string_new (NULL);
  g_autofree char *time = format_time (status->duration);
  g_autofree char *size = sysprof_text_of_size (status->size);

  g_string_printf (line, "%s%s%" G_GUINT64_FORMAT "%s%s", time, gap, status->n_samples,
                   is_short ? "" : " samples", gap);
  if (!status->is_stopped)
    g_string_append_printf (
        line, "%.0f/s%s",
        rate (self->last.n_samples, status->n_samples, status->counted - self->last.counted),
        gap);
  g_string_append_printf (line, "%" G_GUINT64_FORMAT " lost%s", status->n_lost_samples, gap);
  if (status->n_lost > status->n_lost_samples)
    g_string_append_printf (line, "%" G_GUINT64_FORMAT " records lost%s",
                            status->n_lost - status->n_lost_samples, gap);
  if (status->n_throttled > 0)
    g_string_append_printf (line, "%" G_GUINT64_FORMAT " throttled%s", status->n_throttled,
                            gap);
  g_string_append_printf (line, "%s%s", size, gap);
  if (status->is_stopped)
    g_string_append (line, "finishing");
  else
    g_string_append_printf (line, is_short ? "%.1f%%" : "recorder %.1f %% CPU",
                            percent_of_cpu (status->cpu_nsec - self->last.cpu_nsec,
                                            status->duration - self->last.duration));
  return g_string_free (line, FALSE);
}

char *
sysprof_cli_terminal_dup_line (const Terminal *self, const RecordingStatus *status, size_t room)
{
  char *line = format_line (self, status, false);

  if (strlen (line) > room)
    {
      g_free (line);
      line = format_line (self, status, true);
    }
  if (strlen (line) > room)
    line[room] = '\0';
  return line;
}

/* A line that wraps could not be erased. */
static void
print_line (Terminal *self, const RecordingStatus *status)
{
  g_autofree char *line = NULL;

  if (!may_draw (self))
    return;
  line = sysprof_cli_terminal_dup_line (self, status, get_columns () - 1);
  fprintf (stderr, CLEAR_LINE "%s", line);
  fflush (stderr);
  self->has_line = true;
}

/* Formats numbers for JSON with g_ascii_dtostr(), because a locale may use a decimal comma. */
static void
print_json (Terminal *self, const RecordingStatus *status, bool is_last)
{
  int64_t nsec = status->duration - self->last.duration;
  char samples_per_second[G_ASCII_DTOSTR_BUF_SIZE];
  char cpu_percent[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (samples_per_second, sizeof samples_per_second, "%.1f",
                   is_last ? rate (0, status->n_samples, status->duration)
                           : rate (self->last.n_samples, status->n_samples,
                                   status->counted - self->last.counted));
  g_ascii_formatd (cpu_percent, sizeof cpu_percent, "%.3f",
                   is_last ? percent_of_cpu (status->cpu_nsec, status->duration)
                           : percent_of_cpu (status->cpu_nsec - self->last.cpu_nsec, nsec));
  fprintf (
      stderr,
      "%s%s{\"time\": %" G_GINT64_FORMAT ", \"samples\": %" G_GUINT64_FORMAT
      ", \"rate\": %s, \"lost\": %" G_GUINT64_FORMAT ", \"lost-samples\": %" G_GUINT64_FORMAT
      ", \"lost-records\": %" G_GUINT64_FORMAT ", \"throttled\": %" G_GUINT64_FORMAT
      ", \"frames\": %" G_GUINT64_FORMAT ", \"size\": %" G_GUINT64_FORMAT
      ", \"cpu-time\": %" G_GINT64_FORMAT ", \"cpu-percent\": %s, \"finished\": %s}\n",
      self->mark != NULL ? self->mark : "", self->mark != NULL ? " " : "", status->duration,
      status->n_samples, samples_per_second, status->n_lost, status->n_lost_samples,
      status->n_lost_records, status->n_throttled, status->n_frames, status->size,
      status->cpu_nsec, cpu_percent, is_last ? "true" : "false");
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

/* "N records lost" with their kinds; NULL if none were lost. */
static char *
dup_lost_records (const RecordingStatus *status)
{
  uint64_t n = status->n_lost - status->n_lost_samples;

  if (status->n_lost <= status->n_lost_samples)
    return NULL;
  return g_strdup_printf ("%" G_GUINT64_FORMAT " records lost (%" G_GUINT64_FORMAT
                          " of processes, mappings and recorded programs)",
                          n, status->n_lost_records);
}

void
sysprof_cli_terminal_summary (Terminal *self, const RecordingStatus *status, const char *name)
{
  g_autofree char *size = sysprof_text_of_size (status->size);
  g_autofree char *lost =
      g_strdup_printf ("%" G_GUINT64_FORMAT " lost", status->n_lost_samples);
  g_autofree char *records = dup_lost_records (status);
  g_autofree char *throttled =
      g_strdup_printf (", %" G_GUINT64_FORMAT " throttled by the kernel", status->n_throttled);
  g_autofree char *place = NULL;
  g_autofree char *share = g_strdup ("");

  if (self->form == STATUS_JSON)
    return;
  if (status->n_throttled == 0)
    throttled[0] = '\0';
  /* --quiet omits success messages only. */
  if (status->n_lost_samples > 0 || (self->is_quiet && status->n_throttled > 0))
    sysprof_cli_terminal_print (
        self,
        "Samples are missing: %s%s. More came than the recorder, the disk or the kernel's limits "
        "could take; a lower --frequency helps.",
        lost, throttled);
  if (records != NULL)
    sysprof_cli_terminal_print (
        self, "%s: stacks, names and marks of some processes may be incomplete.", records);
  if (name == NULL)
    place = g_strdup ("not kept");
  else if (g_str_equal (name, "-"))
    place = g_strdup (size);
  else
    place = g_strdup_printf ("%s in '%s'", size, name);
  /* Start and end cost the same however short a recording is, so a percentage would mislead. */
  if (status->duration >= (int64_t) NSEC_PER_SEC)
    {
      g_free (share);
      share = g_strdup_printf (", %.1f %% of one CPU",
                               percent_of_cpu (status->cpu_nsec, status->duration));
    }
  sysprof_cli_terminal_note (self,
                             "Recorded %.1f s: %" G_GUINT64_FORMAT
                             " sample%s, %s%s%s%s, %s. The recorder used %.2f s of CPU time%s.",
                             (double) status->duration / NSEC_PER_SEC, status->n_samples,
                             status->n_samples == 1 ? "" : "s",
                             status->n_lost_samples > 0 ? lost : "none lost",
                             records != NULL ? ", " : "", records != NULL ? records : "",
                             throttled, place, (double) status->cpu_nsec / NSEC_PER_SEC, share);
}
