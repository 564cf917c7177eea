// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters, their values laid side by side, and what the capture says was lost.
 *
 * Ids are only unique together with the pid that defined them; a set whose pid defined nothing
 * at all means the one definition there is. A process that did define some means no other: the
 * collector of 3.46 sets fewer than eight and leaves in the other slots what was in memory, so
 * behind the first id that is not its own nothing counts. */

#include "store/builder.h"

#define DEFINITION_SIZE 128
#define GROUP_SIZE      96
#define GROUP_SLOTS     8
#define VALUES_BETWEEN  0x4000 /* between two checks for cancellation */

/* From this frame on the key means that row. */
typedef struct
{
  FrameNo frame;
  uint64_t key;
  uint32_t row;
} Change;

typedef struct
{
  Store *store;
  GArray *rows;              /* Counter */
  GArray *changes;           /* Change: in order of time */
  GHashTable *by_pid_and_id; /* key_of() → row + 1 that holds at the moment */
  GHashTable *by_id;         /* id → row + 1 of its first definition */
  GHashTable *definers;      /* pids of processes that defined some */
} Definitions;

typedef struct
{
  uint32_t row;
  int64_t time;
  CounterValue value;
} Value;

static uint64_t
key_of (int32_t pid, uint32_t id)
{
  return (uint64_t) (uint32_t) pid << 32 | id;
}

/* GLib's own may leave out the upper half, and many processes have the same ids. */
static guint
hash_key (gconstpointer key)
{
  return (guint) sysprof_mix (*(const uint64_t *) key, 0);
}

static uint32_t
row_of_key (const Definitions *self, uint64_t key)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->by_pid_and_id, &key));
}

/* *Owned* keys: they are wider than a pointer of 32-bit programs. */
static void
set_row_of_key (Definitions *self, uint64_t key, uint32_t row)
{
  g_hash_table_insert (self->by_pid_and_id, g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (row));
}

/* Where in the big-endian file the 24 bits of the id and the 8 of the type lie:
 * docs/format.md. */
static void
read_id_and_type (const Frame *frame, size_t at, uint32_t *id, uint8_t *type)
{
  uint32_t word = sysprof_frame_u32 (frame, at);
  bool is_big_endian = frame->is_swapped == (G_BYTE_ORDER == G_LITTLE_ENDIAN);

  *id = is_big_endian ? word >> 8 : word & 0xffffff;
  *type = (uint8_t) (is_big_endian ? word : word >> 24);
}

static bool
is_same_counter (const Counter *left, const Counter *right)
{
  return left->category == right->category && left->name == right->name &&
         left->description == right->description && left->is_double == right->is_double;
}

static void
define (Definitions *self, FrameNo number)
{
  Store *store = self->store;
  Frame frame = sysprof_store_frame (store, number);
  uint32_t n = sysprof_frame_count (&frame, 24, 32, DEFINITION_SIZE);

  for (uint32_t i = 0; i < n; i++)
    {
      size_t at = 32 + (size_t) i * DEFINITION_SIZE;
      Counter counter = {
        .pid = store->frames.pid[number],
        .category = sysprof_store_intern (store, sysprof_frame_field (&frame, at, 32)),
        .name = sysprof_store_intern (store, sysprof_frame_field (&frame, at + 32, 32)),
        .description = sysprof_store_intern (store, sysprof_frame_field (&frame, at + 64, 52)),
      };
      uint8_t type;
      Change change = { .frame = number };
      uint32_t known;

      read_id_and_type (&frame, at + 116, &counter.id, &type);
      counter.is_double = type == 1;
      change.key = key_of (counter.pid, counter.id);
      known = row_of_key (self, change.key);
      if (counter.id == 0 ||
          (known != 0 &&
           is_same_counter (&g_array_index (self->rows, Counter, known - 1), &counter)))
        continue;

      if (counter.pid >= 0)
        g_hash_table_add (self->definers, GINT_TO_POINTER (counter.pid));
      g_array_append_val (self->rows, counter);
      change.row = self->rows->len;
      g_array_append_val (self->changes, change);
      set_row_of_key (self, change.key, change.row);
      if (!g_hash_table_contains (self->by_id, GUINT_TO_POINTER (counter.id)))
        g_hash_table_insert (self->by_id, GUINT_TO_POINTER (counter.id),
                             GUINT_TO_POINTER (self->rows->len));
    }
}

static void
apply (Definitions *self, const Change *change)
{
  set_row_of_key (self, change->key, change->row);
}

static uint32_t
find_row (const Definitions *self, int32_t pid, uint32_t id)
{
  uint32_t row = row_of_key (self, key_of (pid, id));

  if (row == 0)
    row = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_id, GUINT_TO_POINTER (id)));
  return row;
}

static void
set (const Definitions *self, FrameNo number, const Frame *frame, GArray *values)
{
  const Store *store = self->store;
  uint32_t n_groups = sysprof_frame_count (frame, 24, 32, GROUP_SIZE);
  int32_t pid = store->frames.pid[number];
  bool has_own = g_hash_table_contains (self->definers, GINT_TO_POINTER (pid));

  for (uint32_t i = 0; i < n_groups * GROUP_SLOTS; i++)
    {
      size_t group = 32 + (size_t) (i / GROUP_SLOTS) * GROUP_SIZE;
      uint32_t id = sysprof_frame_u32 (frame, group + i % GROUP_SLOTS * 4);
      uint32_t row = id == 0 ? 0 : find_row (self, pid, id);
      Value value = { row - 1, store->frames.time[number], { 0 } };

      if (has_own && id != 0 && row_of_key (self, key_of (pid, id)) == 0)
        {
          i |= GROUP_SLOTS - 1; /* the rest of the group is none either */
          continue;
        }
      if (row == 0)
        continue;
      value.value.i64 = sysprof_frame_i64 (frame, group + 32 + i % GROUP_SLOTS * 8);
      g_array_index (self->rows, Counter, row - 1).n_values++;
      g_array_append_val (values, value);
    }
}

static void
lay_out_values (const Builder *self, const GArray *values)
{
  Counters *counters = &self->store->counters;
  g_autofree uint32_t *next = g_new (uint32_t, counters->n);

  counters->time = g_new (int64_t, values->len);
  counters->value = g_new (CounterValue, values->len);
  for (uint32_t i = 0; i < counters->n; i++)
    {
      counters->row[i].first_value = next[i] = counters->n_values;
      counters->n_values += counters->row[i].n_values;
    }

  for (uint32_t i = 0; i < values->len; i++)
    {
      const Value *value = &g_array_index (values, Value, i);

      if (i % VALUES_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      counters->time[next[value->row]] = value->time;
      counters->value[next[value->row]++] = value->value;
    }
}

void
sysprof_builder_read_counters (Builder *self)
{
  Store *store = self->store;
  const FrameList *definitions = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_CTRDEF];
  const FrameList *sets = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_CTRSET];
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (Value));
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (Change));
  g_autoptr (GHashTable) by_pid_and_id =
      g_hash_table_new_full (hash_key, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) by_id = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) definers = g_hash_table_new (NULL, NULL);
  Definitions table = { .store = store,
                        .rows = g_array_new (FALSE, FALSE, sizeof (Counter)),
                        .changes = changes,
                        .by_pid_and_id = by_pid_and_id,
                        .by_id = by_id,
                        .definers = definers };
  uint32_t next = 0;
  size_t left_until = 0;

  for (uint32_t i = 0; i < definitions->n && sysprof_builder_goes_on (self, i, definitions->n);
       i++)
    define (&table, definitions->frame[i]);

  /* A set means the last definition before it; where there is none, for times may be out of
   * order, the first one behind it. */
  for (uint32_t i = changes->len;
       i > 0 && (i % VALUES_BETWEEN != 0 || !sysprof_progress_is_cancelled (self->progress));
       i--)
    apply (&table, &g_array_index (changes, Change, i - 1));
  for (uint32_t i = 0; i < sets->n && sysprof_builder_goes_on (self, i, sets->n); i++)
    {
      Frame frame = sysprof_builder_next_frame (self, sets->frame[i], &left_until);

      for (;
           next < changes->len && g_array_index (changes, Change, next).frame < sets->frame[i];
           next++)
        apply (&table, &g_array_index (changes, Change, next));
      set (&table, sets->frame[i], &frame, values);
    }

  store->counters.n = table.rows->len;
  store->counters.row = (Counter *) g_array_free (table.rows, FALSE);
  lay_out_values (self, values);
}

static bool
is_string (const Store *store, StringId id, const char *string)
{
  return strcmp (sysprof_store_string (store, id), string) == 0;
}

/* How the recorder names what it lost, in a counter and behind the number in a log frame.
 * Captures of other versions know only the first kind, and count everything as that. */
static const struct
{
  const char *counter;
  const char *noun;
} losses[] = {
  { "Lost Samples", " samples" },
  { "Lost Records", " records" },
  { "Lost Others", " other" },
};

/* "Lost N samples" of a log frame: adds to the sum of its kind. */
static void
add_lost_by_log (const Store *store, FrameNo number, uint64_t *sums)
{
  Frame frame = sysprof_store_frame (store, number);
  Text message = sysprof_frame_text (&frame, 64);
  size_t kind = G_N_ELEMENTS (losses) - 1;
  uint64_t n;

  if (!sysprof_text_equal (sysprof_frame_field (&frame, 32, 32), "Sampler") ||
      !sysprof_text_skip (&message, "Lost ") || !sysprof_text_u64 (&message, &n))
    return;

  while (kind > 0 && !sysprof_text_skip (&message, losses[kind].noun))
    kind--;
  sums[kind] += n;
}

static void
add_lost_by_counter (const Store *store, const Counter *counter, uint64_t *sums)
{
  int64_t total;

  if (counter->n_values == 0 || counter->is_double ||
      !is_string (store, counter->category, "Sampler"))
    return;

  total = store->counters.value[counter->first_value + counter->n_values - 1].i64;
  for (size_t i = 0; i < G_N_ELEMENTS (losses); i++)
    if (is_string (store, counter->name, losses[i].counter))
      sums[i] += (uint64_t) MAX (total, 0);
}

void
sysprof_builder_count_lost (Builder *self)
{
  Store *store = self->store;
  const FrameList *logs = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_LOG];
  uint64_t by_counter[G_N_ELEMENTS (losses)] = { 0 }, by_log[G_N_ELEMENTS (losses)] = { 0 };

  for (uint32_t i = 0; i < store->counters.n; i++)
    add_lost_by_counter (store, &store->counters.row[i], by_counter);
  for (uint32_t i = 0; i < logs->n && sysprof_builder_goes_on (self, i, logs->n); i++)
    add_lost_by_log (store, logs->frame[i], by_log);

  /* Counters and logs report the same losses. */
  store->n_lost_samples = MAX (by_counter[0], by_log[0]);
  store->n_lost_records = MAX (by_counter[1], by_log[1]);
  store->n_lost =
      store->n_lost_samples + store->n_lost_records + MAX (by_counter[2], by_log[2]);
}
