// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about marks, logs, messages, memory and time. */

#include "views/overview/findings.h"

#include <string.h>

#define BIG_LEAK      10  /* percent */
#define BURST         300 /* percent of the mean second */
#define LEAST_SECONDS 5   /* least duration in which one second can be a burst */

static void
find_busy_second (Findings *self)
{
  Rows rows = { 0 };
  uint64_t most = 0;
  int64_t second = 0;

  if (sysprof_findings_weigh_waits (self) ||
      !sysprof_view_fill (&sysprof_heat_view, self->request, &rows, NULL))
    return;
  for (uint32_t i = 0; i < rows.n_rows; i++)
    if (sysprof_rows_cells (&rows, i)[1].count > most)
      {
        most = sysprof_rows_cells (&rows, i)[1].count;
        second = sysprof_rows_cells (&rows, i)[0].number / 1000000000;
      }
  if (rows.n_rows >= LEAST_SECONDS && most * rows.n_rows > rows.total * BURST / 100)
    {
      g_autofree char *time =
          g_strdup_printf ("%" G_GINT64_FORMAT "s..%" G_GINT64_FORMAT "s", second, second + 1);
      const char *noun = sysprof_findings_noun (self);
      bool is_time = g_str_equal (noun, "time");
      g_autofree char *amount =
          g_strconcat (is_time ? "busy" : "many ", is_time ? NULL : noun, NULL);

      sysprof_findings_add (
          self,
          &(Finding){ .kind = "busy-second", .view = "functions", .options = { "time", time } },
          "Second %" G_GINT64_FORMAT " %s %.1f times as %s as others.", second,
          is_time ? "was" : "has", (double) most * rows.n_rows / (double) rows.total, amount);
    }
  sysprof_rows_clear (&rows);
}

static void
find_errors (Findings *self)
{
  EventMatcher matcher;
  uint32_t n = 0;

  sysprof_event_matcher_init (&matcher, self->store, self->request->filter);
  for (uint32_t i = 0; i < self->store->n_logs && sysprof_is_wanted_at (i); i++)
    {
      const Log *log = &self->store->logs[i];

      n += (log->severity & (4 | 8)) != 0 && /* G_LOG_LEVEL_ERROR, G_LOG_LEVEL_CRITICAL */
           sysprof_event_matcher_takes (&matcher, log->time, log->pid, log->cpu);
    }
  sysprof_event_matcher_clear (&matcher);
  if (n > 0)
    sysprof_findings_add (self, &(Finding){ .kind = "logs", .view = "logs" },
                          "%u error%s logged.", n, n == 1 ? " was" : "s were");
}

static void
find_jitter (Findings *self)
{
  const Store *store = self->store;
  g_autofree bool *is_in = sysprof_request_find_marks (self->request, NULL);
  uint32_t n;
  g_autofree MarkSummary *summaries = sysprof_marks_summarize (store, is_in, &n);

  for (uint32_t i = 0; i < n; i++)
    if (summaries[i].is_periodic && summaries[i].jitter > summaries[i].interval / 2)
      {
        g_autofree char *interval = sysprof_dup_duration (summaries[i].interval);
        g_autofree char *jitter = sysprof_dup_duration (summaries[i].jitter);
        g_autofree char *name =
            sysprof_dup_one_line (sysprof_store_string (store, summaries[i].name));

        sysprof_findings_add (
            self, &(Finding){ .kind = "marks", .view = "marks --by-name" },
            "%s repeats every %s, but 5 %% of intervals differ by %s or more.", name, interval,
            jitter);
        return;
      }
}

static void
find_missing_replies (Findings *self)
{
  const Store *store = self->store;
  g_autofree uint32_t *partner = sysprof_dbus_find_replies (store);
  uint32_t n = 0;

  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      DBusHeader header;

      n += partner[i] == 0 && sysprof_store_read_dbus_header (store, i, &header) &&
           header.type == DBUS_CALL && !header.wants_no_reply;
    }
  if (n > 0)
    sysprof_findings_add (self, &(Finding){ .kind = "dbus", .view = "dbus --by-member" },
                          "%u D-Bus call%s no reply.", n, n == 1 ? " has" : "s have");
}

static void
find_leaks (Findings *self)
{
  const StackEvents *allocations = &self->store->allocations;
  g_autofree uint8_t *lives = NULL;
  uint64_t all = 0, leaked = 0;
  char grouped[SYSPROF_GROUPED_SIZE];

  if (allocations->n == 0)
    return;
  lives = sysprof_heap_ask (self->store, HEAP_LIVE, INT64_MAX);
  for (uint32_t i = 0; i < allocations->n && sysprof_is_wanted_at (i); i++)
    {
      all += (uint64_t) allocations->weight[i];
      leaked += lives[i] ? (uint64_t) allocations->weight[i] : 0;
    }
  if (sysprof_percent (leaked, all) >= BIG_LEAK)
    sysprof_findings_add (
        self,
        &(Finding){
            .kind = "leak", .view = "leaks", .share = sysprof_percent (leaked, all) / 100 },
        "%.1f %% of allocated memory was never freed: %s bytes.", sysprof_percent (leaked, all),
        sysprof_format_grouped (leaked, grouped));
}

void
sysprof_find_events (Findings *self)
{
  find_busy_second (self);
  find_jitter (self);
  find_leaks (self);
  find_missing_replies (self);
  find_errors (self);
}
