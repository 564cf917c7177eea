// SPDX-License-Identifier: GPL-3.0-or-later

/* Collects the spans of charts, and reduces them to the pixels of the screen. */

#include "views/tracks/span-chart.h"

#include "text/text.h"
#include "views/tracks/track-parts.h"

#include <string.h>

typedef struct
{
  const struct SpanSource *source;
  const Store *store;
  const ViewRequest *request;
  int64_t begin, end;
  EventMatcher matcher;
  int64_t matched_from; /* a span that is older is matched at this time */
  char *folded;         /* text that spans must contain; NULL = all */
  GArray *spans;        /* of ChartSpan */
} SpanFill;

/* The texts are borrowed from the store or static. */
typedef struct SpanSource
{
  const char *name;
  void (*collect) (SpanFill *fill);
  /* Group and name of the row of an item. NULL: each item has a row. */
  void (*get_kind) (const Store *store, uint32_t item, StringId kind[2]);
  /* Items of the same name have the same color. */
  const char *(*get_name) (const Store *store, uint32_t item);
  int32_t (*get_pid) (const Store *store, uint32_t item);
  char *(*dup_title) (const Store *store, uint32_t item);
  char *(*dup_label) (const Store *store, uint32_t item);
  char *(*dup_text) (const Store *store, uint32_t item);
  bool lacks_duration; /* the text does not have it */
} SpanSource;

/* --- collecting --- */

static bool
contains (SpanFill *self, uint32_t item)
{
  g_autofree char *text = NULL, *valid = NULL, *folded = NULL;

  if (self->folded == NULL)
    return true;
  text = self->source->dup_text (self->store, item);
  valid = g_utf8_make_valid (text, -1);
  folded = g_utf8_casefold (valid, -1);
  return strstr (folded, self->folded) != NULL;
}

static void
add_span (SpanFill *self, int64_t from, int64_t to, uint32_t item, int32_t pid, int cpu)
{
  ChartSpan span = { sysprof_request_offset (self->request, from),
                     sysprof_request_offset (self->request, MAX (to, from)), item,
                     self->spans->len };

  if (span.end >= self->begin && span.begin <= self->end &&
      sysprof_event_matcher_takes (&self->matcher, MAX (from, self->matched_from), pid,
                                   (int16_t) cpu) &&
      contains (self, item))
    g_array_append_val (self->spans, span);
}

static void
collect_marks (SpanFill *fill)
{
  for (uint32_t i = 0; i < fill->store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &fill->store->marks[i];

      add_span (fill, mark->time, sysprof_time_sum (mark->time, MAX (mark->duration, 0)), i,
                mark->pid, mark->cpu);
    }
}

static void
collect_processes (SpanFill *fill)
{
  for (ProcessId i = 1; i < fill->store->processes.n && sysprof_is_wanted_at (i); i++)
    {
      const Process *process = &fill->store->processes.row[i];

      add_span (fill, process->start, process->end, i, process->pid, -1);
    }
}

/* Calls until their replies. */
static void
collect_calls (SpanFill *fill)
{
  const Store *store = fill->store;
  g_autofree uint32_t *partner = sysprof_dbus_find_replies (store);

  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      const DBusMessage *message = &store->dbus[i];
      DBusHeader header;

      if (partner[i] != 0 && sysprof_store_read_dbus_header (store, i, &header) &&
          header.type == DBUS_CALL)
        add_span (fill, message->time, store->dbus[partner[i] - 1].time, i, message->pid,
                  message->cpu);
    }
}

static void
get_kind_of_mark (const Store *store, uint32_t item, StringId kind[2])
{
  kind[0] = store->marks[item].group;
  kind[1] = store->marks[item].name;
}

/* --- texts --- */

static const char *
get_name_of_mark (const Store *store, uint32_t item)
{
  return sysprof_store_string (store, store->marks[item].name);
}

static const char *
get_name_of_process (const Store *store, uint32_t item)
{
  return sysprof_store_string (store, store->processes.row[item].comm);
}

static const char *
get_bus (const Store *store, uint32_t item)
{
  return store->dbus[item].bus == 1 ? "system" : "session";
}

static int32_t
get_pid_of_mark (const Store *store, uint32_t item)
{
  return store->marks[item].pid;
}

static int32_t
get_pid_of_process (const Store *store, uint32_t item)
{
  return store->processes.row[item].pid;
}

static int32_t
get_pid_of_message (const Store *store, uint32_t item)
{
  return store->dbus[item].pid;
}

static char *
dup_name_of_mark (const Store *store, uint32_t item)
{
  return sysprof_dup_one_line (sysprof_store_string (store, store->marks[item].name));
}

static char *
dup_message_of_mark (const Store *store, uint32_t item)
{
  const char *message = sysprof_store_string (store, store->marks[item].message);

  return message[0] ? sysprof_dup_one_line (message) : dup_name_of_mark (store, item);
}

static char *
dup_name_and_message (const Store *store, uint32_t item)
{
  const char *message = sysprof_store_string (store, store->marks[item].message);
  g_autofree char *text = g_strconcat (sysprof_store_string (store, store->marks[item].name),
                                       message[0] ? " – " : "", message, NULL);

  return sysprof_dup_one_line (text);
}

static char *
dup_duration_of_mark (const Store *store, uint32_t item)
{
  return sysprof_dup_duration (store->marks[item].duration);
}

static char *
dup_pid (const Store *store, uint32_t item)
{
  return g_strdup_printf ("%d", store->processes.row[item].pid);
}

static char *
dup_command_line (const Store *store, uint32_t item)
{
  const Process *process = &store->processes.row[item];

  return sysprof_dup_one_line (sysprof_store_string (
      store, process->command_line ? process->command_line : process->comm));
}

static char *
dup_sender (const Store *store, uint32_t item)
{
  DBusHeader header = { 0 };
  g_autofree char *text = NULL;

  (void) sysprof_store_read_dbus_header (store, item, &header); /* else the text is empty */
  text = g_strndup (header.sender.at, sysprof_text_size (header.sender));
  return sysprof_dup_one_line (text != NULL ? text : "");
}

static const SpanSource sources[] = {
  { "marks", collect_marks, get_kind_of_mark, get_name_of_mark, get_pid_of_mark,
    dup_name_of_mark, dup_message_of_mark, sysprof_dup_mark_text },
  { "waterfall", collect_marks, NULL, get_name_of_mark, get_pid_of_mark, dup_duration_of_mark,
    dup_name_and_message, sysprof_dup_mark_text },
  { "processes", collect_processes, NULL, get_name_of_process, get_pid_of_process, dup_pid,
    dup_command_line, sysprof_dup_process_text },
  { "calls", collect_calls, NULL, get_bus, get_pid_of_message, dup_sender,
    sysprof_dup_dbus_text, sysprof_dup_dbus_text, .lacks_duration = true },
};

static const SpanSource *
find_source (const char *name)
{
  const SpanSource *source = sources;

  while (strcmp (source->name, name) != 0)
    source++;
  return source;
}

/* --- rows --- */

/* Group and name of a row, and its number in the order of rows. */
typedef struct
{
  StringId kind[2];
  uint32_t rank;
} Kind;

static guint
hash_kind (gconstpointer data)
{
  const Kind *kind = data;

  return kind->kind[0] * 2654435761u + kind->kind[1];
}

static gboolean
equals_kind (gconstpointer a, gconstpointer b)
{
  return memcmp (((const Kind *) a)->kind, ((const Kind *) b)->kind, 2 * sizeof (StringId)) ==
         0;
}

/* By group, then by name; numbers in names count: "CPU 2" is before "CPU 10". */
static int
compare_kinds (const void *left, const void *right, void *data)
{
  const Kind *a = *(Kind *const *) left, *b = *(Kind *const *) right;
  const Store *store = data;
  int order = 0;

  for (unsigned i = 0; i < 2 && order == 0; i++)
    if (a->kind[i] != b->kind[i])
      order = strverscmp (sysprof_store_string (store, a->kind[i]),
                          sysprof_store_string (store, b->kind[i]));
  return order;
}

/* Gives each span the rank of its group and name. */
static void
rank_kinds (SpanChart *self)
{
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (hash_kind, equals_kind, g_free, NULL);
  g_autofree Kind **of_span = g_new (Kind *, MAX (self->n_spans, 1));
  g_autofree Kind **list = NULL;
  uint32_t n_done = 0;
  unsigned n;

  for (uint32_t i = 0; i < self->n_spans && sysprof_is_wanted_at (i); i++, n_done++)
    {
      Kind key = { 0 };

      self->source->get_kind (self->store, self->spans[i].item, key.kind);
      of_span[i] = g_hash_table_lookup (kinds, &key);
      if (of_span[i] == NULL)
        g_hash_table_add (kinds, of_span[i] = g_memdup2 (&key, sizeof key));
    }
  list = (Kind **) g_hash_table_get_keys_as_array (kinds, &n);
  (void) sysprof_sort_if_wanted (list, n, sizeof *list, compare_kinds, (void *) self->store);
  for (unsigned i = 0; i < n; i++)
    list[i]->rank = i;
  for (uint32_t i = 0; i < n_done; i++)
    self->spans[i].kind = of_span[i]->rank;
}

static int
compare_spans (const void *left, const void *right, void *data)
{
  const ChartSpan *a = left, *b = right;
  const bool *by_kind = data;

  if (*by_kind && a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  if (a->end != b->end)
    return a->end > b->end ? -1 : 1;
  return (a->item > b->item) - (a->item < b->item);
}

static bool
is_of_same_group (const SpanChart *self, uint32_t left, uint32_t right)
{
  StringId a[2], b[2];

  self->source->get_kind (self->store, self->spans[left].item, a);
  self->source->get_kind (self->store, self->spans[right].item, b);
  return a[0] == b[0];
}

static void
add_row (GArray *rows, uint32_t first, uint32_t n)
{
  SpanRow row = { first, n };

  g_array_append_val (rows, row);
}

/* Spans of one kind are one row; a heading is before the first row of a group. */
static void
make_rows (SpanChart *self)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (SpanRow));
  bool has_groups = self->source->get_kind != NULL;

  for (uint32_t i = 0; i < self->n_spans; i++)
    {
      if (i > 0 && self->spans[i].kind == self->spans[i - 1].kind)
        {
          g_array_index (rows, SpanRow, rows->len - 1).n++;
          continue;
        }
      if (has_groups && (i == 0 || !is_of_same_group (self, i, i - 1)))
        add_row (rows, i, 0);
      add_row (rows, i, 1);
    }
  self->n_rows = rows->len;
  self->rows = (SpanRow *) g_array_free (rows, FALSE);
}

static void
set_reach (SpanChart *self)
{
  self->reach = g_new (int64_t, MAX (self->n_spans, 1));
  for (uint32_t row = 0; row < self->n_rows; row++)
    for (uint32_t i = 0; i < self->rows[row].n; i++)
      {
        uint32_t at = self->rows[row].first + i;

        self->reach[at] = MAX (self->spans[at].end, i > 0 ? self->reach[at - 1] : INT64_MIN);
      }
}

SpanChart *
sysprof_span_chart_new (const char *name,
                        int64_t begin,
                        int64_t end,
                        const ViewRequest *request)
{
  g_autoptr (SpanChart) self = g_new0 (SpanChart, 1);
  SampleFilter filter = { 0 };
  SpanFill fill = { .store = request->store, .request = request, .begin = begin, .end = end };
  bool by_kind, is_wanted;

  self->source = fill.source = find_source (name);
  if (request->search != NULL && request->search[0] != '\0')
    fill.folded = g_utf8_casefold (request->search, -1);
  self->store = request->store;
  if (request->filter != NULL)
    filter = *request->filter;
  filter.times = NULL;
  filter.n_times = 0;
  filter.time_begin = fill.matched_from = request->store->begin + begin;
  filter.time_end = request->store->begin + end + 1;
  fill.spans = g_array_new (FALSE, FALSE, sizeof (ChartSpan));

  sysprof_request_begin (request);
  sysprof_event_matcher_init (&fill.matcher, fill.store, &filter);
  self->source->collect (&fill);
  sysprof_event_matcher_clear (&fill.matcher);
  g_free (fill.folded);
  self->n_spans = fill.spans->len;
  self->spans = (ChartSpan *) g_array_free (fill.spans, FALSE);
  by_kind = self->source->get_kind != NULL;
  if (by_kind)
    rank_kinds (self);
  (void) sysprof_sort_if_wanted (self->spans, self->n_spans, sizeof *self->spans, compare_spans,
                                 &by_kind);
  is_wanted = sysprof_is_wanted ();
  if (is_wanted)
    {
      make_rows (self);
      set_reach (self);
    }
  sysprof_request_end (request);
  return is_wanted ? g_steal_pointer (&self) : NULL;
}

void
sysprof_span_chart_free (SpanChart *self)
{
  g_free (self->rows);
  g_free (self->spans);
  g_free (self->reach);
  g_free (self);
}

/* --- pixels --- */

/* The first span of a row that ends at or after `time`. */
static uint32_t
find_first (const SpanChart *self, const SpanRow *row, int64_t time)
{
  uint32_t low = 0, high = row->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->reach[row->first + middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
sysprof_span_chart_cut (const SpanChart *self,
                        uint32_t row_number,
                        int64_t begin,
                        int64_t end,
                        uint32_t n_bins,
                        GArray *bars)
{
  const SpanRow *row = &self->rows[row_number];
  double bins_per_nsec = n_bins / (double) MAX (end - begin, 1);
  int64_t longest = 0;
  uint32_t last_bin = 0;
  TrackSpan *last = NULL;

  for (uint32_t i = find_first (self, row, begin); i < row->n; i++)
    {
      const ChartSpan *span = &self->spans[row->first + i];
      uint32_t bin = (uint32_t) ((double) MAX (span->begin - begin, 0) * bins_per_nsec);
      TrackSpan bar = { span->begin, span->end, span->item, .n = 1 };

      if (span->begin > end)
        return;
      if (span->end < begin)
        continue;
      if (last == NULL || bin != last_bin)
        {
          g_array_append_val (bars, bar);
          last = &g_array_index (bars, TrackSpan, bars->len - 1);
          last_bin = bin;
          longest = span->end - span->begin;
          continue;
        }
      if (span->end - span->begin > longest)
        {
          longest = span->end - span->begin;
          last->item = span->item;
        }
      last->end = MAX (last->end, span->end);
      last->n++;
    }
}

int64_t
sysprof_span_chart_find (const SpanChart *self,
                         uint32_t row_number,
                         int64_t time,
                         int64_t distance)
{
  const SpanRow *row = &self->rows[row_number];
  int64_t nearest = distance, found = -1;

  for (uint32_t i = find_first (self, row, time - distance); i < row->n; i++)
    {
      const ChartSpan *span = &self->spans[row->first + i];
      int64_t away = time < span->begin ? span->begin - time : MAX (time - span->end, 0);

      if (span->begin > time + distance)
        break;
      if (away > nearest)
        continue;
      nearest = away;
      found = row->first + i;
    }
  return found;
}

char *
sysprof_span_chart_dup_title (const SpanChart *self, uint32_t row)
{
  uint32_t item = self->spans[self->rows[row].first].item;
  StringId kind[2];

  if (self->rows[row].n > 0)
    return self->source->dup_title (self->store, item);
  self->source->get_kind (self->store, item, kind);
  return sysprof_dup_one_line (sysprof_store_string (self->store, kind[0]));
}

const char *
sysprof_span_chart_get_name (const SpanChart *self, uint32_t item)
{
  return self->source->get_name (self->store, item);
}

char *
sysprof_span_chart_dup_label (const SpanChart *self, uint32_t item)
{
  return self->source->dup_label (self->store, item);
}

char *
sysprof_span_chart_dup_text (const SpanChart *self, const ChartSpan *span)
{
  g_autofree char *text = self->source->dup_text (self->store, span->item);
  g_autofree char *duration = NULL;

  if (!self->source->lacks_duration)
    return g_steal_pointer (&text);
  duration = sysprof_dup_duration (span->end - span->begin);
  return g_strdup_printf ("%s, %s", text, duration);
}

int32_t
sysprof_span_chart_get_pid (const SpanChart *self, uint32_t item)
{
  return self->source->get_pid (self->store, item);
}

bool
sysprof_span_chart_is_of_marks (const SpanChart *self)
{
  return self->source->collect == collect_marks;
}

bool
sysprof_span_chart_has_row_per_span (const SpanChart *self)
{
  return self->source->get_kind == NULL;
}
