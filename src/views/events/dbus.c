// SPDX-License-Identifier: GPL-3.0-or-later

/* D-Bus messages: signals, and calls with the time and kind of their replies; with
 * --by-member, statistics of each member. */

#include "views/event-rows.h"

#include <string.h>

#define FLAGS_OFFSET 2 /* bytes; D-Bus specification, "Message Format" */

enum
{
  TIME,
  DURATION,
  BUS,
  TYPE,
  SENDER,
  DESTINATION,
  INTERFACE,
  MEMBER,
  PATH,
  ANSWER,
  SIGNATURE,
  SIZE,
  SERIAL,
  REPLY_SERIAL,
  FLAGS,
  N_COLUMNS,
};

static const Column columns[] = {
  [TIME] = { "time", "TIME", COLUMN_TIME },
  [DURATION] = { "duration", "ANSWERED IN", COLUMN_DURATION },
  [BUS] = { "bus", "BUS", COLUMN_TEXT, .extra = 2 },
  [TYPE] = { "type", "TYPE", COLUMN_TEXT },
  [SENDER] = { "sender", "SENDER", COLUMN_TEXT, .extra = 2 },
  [DESTINATION] = { "destination", "DESTINATION", COLUMN_TEXT, .extra = 1 },
  [INTERFACE] = { "interface", "INTERFACE", COLUMN_TEXT },
  [MEMBER] = { "member", "MEMBER", COLUMN_TEXT },
  [PATH] = { "path", "PATH", COLUMN_TEXT, .is_long = true, .extra = 3 },
  [ANSWER] = { "answer", "ANSWER", COLUMN_TEXT },
  [SIGNATURE] = { "signature", "SIGNATURE", COLUMN_TEXT, .json_only = true },
  [SIZE] = { "size", "BYTES", COLUMN_BYTES, .json_only = true },
  [SERIAL] = { "serial", "SERIAL", COLUMN_NUMBER, .json_only = true },
  [REPLY_SERIAL] = { "reply-serial", "REPLY TO", COLUMN_NUMBER, .json_only = true },
  [FLAGS] = { "flags", "FLAGS", COLUMN_TEXT, .json_only = true },
};

enum
{
  BY_INTERFACE,
  BY_MEMBER,
  BY_TYPE,
  BY_COUNT,
  BY_SPREAD,
  BY_UNANSWERED = BY_SPREAD + N_SPREAD_COLUMNS,
  BY_ERRORS,
  N_BY_COLUMNS,
};

static const Column by_columns[] = {
  [BY_INTERFACE] = { "interface", "INTERFACE", COLUMN_TEXT },
  [BY_MEMBER] = { "member", "MEMBER", COLUMN_TEXT, .is_long = true },
  [BY_TYPE] = { "type", "TYPE", COLUMN_TEXT },
  [BY_COUNT] = { "count", "COUNT", COLUMN_COUNT },
  SPREAD_COLUMNS (BY_SPREAD),
  [BY_UNANSWERED] = { "unanswered", "UNANSWERED", COLUMN_COUNT },
  [BY_ERRORS] = { "errors", "ERRORS", COLUMN_COUNT },
};

static const char *const type_names[] = {
  [DBUS_CALL] = "call",
  [DBUS_REPLY] = "reply",
  [DBUS_ERROR] = "error",
  [DBUS_SIGNAL] = "signal",
};

static const char *
name_of_bus (unsigned bus)
{
  return bus == 1 ? "system" : bus == 2 ? "session" : "other";
}

/* A reply in the row of its call has no row of its own. */
static bool
has_row (const DBusHeader *header, uint32_t partner)
{
  return partner == 0 || header->type == DBUS_CALL;
}

/* Latency of a reply. False if it is unknown because the recorder read both messages at
 * once. */
static bool
measure_answer (const Store *store, uint32_t call, uint32_t reply, int64_t *nsec)
{
  *nsec = sysprof_time_between (store->dbus[call].time, store->dbus[reply].time);
  return *nsec > 0;
}

/* --- rows of messages --- */

static void
set_answer (Rows *rows,
            Cell *cells,
            const Store *store,
            const DBusHeader *header,
            uint32_t i,
            uint32_t reply)
{
  DBusHeader answer;
  int64_t nsec;

  if (header->type == DBUS_ERROR)
    cells[ANSWER].text = sysprof_rows_dup_text (rows, header->error_name);
  if (header->type != DBUS_CALL)
    return;
  if (reply == 0)
    {
      cells[ANSWER].text = header->wants_no_reply ? "not wanted" : "none";
      return;
    }
  if (measure_answer (store, i, reply - 1, &nsec))
    cells[DURATION].number = nsec;
  cells[ANSWER].text = "reply";
  if (sysprof_store_read_dbus_header (store, reply - 1, &answer) && answer.type == DBUS_ERROR)
    cells[ANSWER].text = sysprof_rows_dup_text (rows, answer.error_name);
}

/* "no-reply no-start" */
static const char *
dup_flags (Rows *rows, uint8_t flags)
{
  static const char *const names[] = { "no-reply", "no-start", "interactive" };
  g_autoptr (GString) text = g_string_new (NULL);

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    if (flags & 1u << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", names[i]);
  return sysprof_rows_dup (rows, text->str);
}

static void
add_message (const ViewRequest *request, Rows *rows, uint32_t i, uint32_t partner)
{
  const Store *store = request->store;
  const DBusMessage *message = &store->dbus[i];
  DBusHeader header;
  bool is_readable = sysprof_store_read_dbus_header (store, i, &header);
  Cell *cells;

  if (is_readable && !has_row (&header, partner))
    return;
  cells = sysprof_rows_add (rows);
  cells[TIME].number = sysprof_request_offset (request, message->time);
  cells[DURATION].number = NO_NUMBER;
  cells[BUS].text = name_of_bus (message->bus);
  cells[SIZE].number = message->size;
  cells[SERIAL].number = cells[REPLY_SERIAL].number = NO_NUMBER;
  if (!is_readable)
    {
      cells[TYPE].text = message->is_too_large ? "too large" : "unreadable";
      return;
    }
  cells[TYPE].text = header.type < G_N_ELEMENTS (type_names) && type_names[header.type]
                         ? type_names[header.type]
                         : "unknown";
  cells[SENDER].text = sysprof_rows_dup_text (rows, header.sender);
  cells[DESTINATION].text = sysprof_rows_dup_text (rows, header.destination);
  cells[INTERFACE].text = sysprof_rows_dup_text (rows, header.interface);
  cells[MEMBER].text = sysprof_rows_dup_text (rows, header.member);
  cells[PATH].text = sysprof_rows_dup_text (rows, header.path);
  cells[SIGNATURE].text = sysprof_rows_dup_text (rows, header.signature);
  cells[FLAGS].text = dup_flags (rows, store->bytes[message->offset + FLAGS_OFFSET]);
  cells[SERIAL].number = header.serial;
  if (header.reply_serial != 0)
    cells[REPLY_SERIAL].number = header.reply_serial;
  set_answer (rows, cells, store, &header, i, partner);
}

/* --- rows of members --- */

typedef struct
{
  char *interface;
  char *member;
  const char *type;
  GArray *latencies; /* int64_t, ns */
  uint64_t n;
  uint64_t n_unanswered;
  uint64_t n_errors;
} Member;

static void
free_member (void *data)
{
  Member *self = data;

  g_free (self->interface);
  g_free (self->member);
  g_array_unref (self->latencies);
  g_free (self);
}

static Member *
find_member (GHashTable *members, const DBusHeader *header)
{
  g_autofree char *interface =
      g_strndup (header->interface.at, sysprof_text_size (header->interface));
  g_autofree char *member = g_strndup (header->member.at, sysprof_text_size (header->member));
  g_autofree char *key = g_strdup_printf ("%u %s\n%s", header->type, interface, member);
  Member *found = g_hash_table_lookup (members, key);

  if (found == NULL)
    {
      found = g_new0 (Member, 1);
      found->interface = g_steal_pointer (&interface);
      found->member = g_steal_pointer (&member);
      found->type = type_names[header->type];
      found->latencies = g_array_new (FALSE, FALSE, sizeof (int64_t));
      g_hash_table_insert (members, g_steal_pointer (&key), found);
    }
  return found;
}

static void
count_message (GHashTable *members, const Store *store, uint32_t i, uint32_t partner)
{
  DBusHeader header, answer;
  Member *member;

  if (!sysprof_store_read_dbus_header (store, i, &header) ||
      (header.type != DBUS_CALL && header.type != DBUS_SIGNAL))
    return;
  member = find_member (members, &header);
  member->n++;
  if (partner != 0)
    {
      int64_t nsec;

      if (measure_answer (store, i, partner - 1, &nsec))
        g_array_append_val (member->latencies, nsec);
      member->n_errors += sysprof_store_read_dbus_header (store, partner - 1, &answer) &&
                          answer.type == DBUS_ERROR;
    }
  else if (header.type == DBUS_CALL && !header.wants_no_reply)
    member->n_unanswered++;
}

static int
compare_members (const void *a, const void *b, void *data)
{
  const Member *left = *(Member *const *) a, *right = *(Member *const *) b;
  int order;

  if (left->n != right->n)
    return left->n < right->n ? 1 : -1;
  order = strcmp (left->interface, right->interface);
  if (order == 0)
    order = strcmp (left->member, right->member);
  return order != 0 ? order : strcmp (left->type, right->type);
}

static void
add_members (Rows *rows, GHashTable *members)
{
  unsigned n;
  g_autofree Member **list = (Member **) g_hash_table_get_keys_as_array (members, &n);

  for (unsigned i = 0; i < n; i++)
    list[i] = g_hash_table_lookup (members, list[i]);
  (void) sysprof_sort_if_wanted (list, n, sizeof *list, compare_members, NULL);
  for (unsigned i = 0; i < n && sysprof_is_wanted_at (i); i++)
    {
      const Member *member = list[i];
      Spread spread =
          sysprof_spread_of ((int64_t *) member->latencies->data, member->latencies->len);
      Cell *cells = sysprof_rows_add (rows);

      cells[BY_INTERFACE].text = sysprof_rows_dup (rows, member->interface);
      cells[BY_MEMBER].text = sysprof_rows_dup (rows, member->member);
      cells[BY_TYPE].text = member->type;
      cells[BY_COUNT].count = member->n;
      sysprof_cells_set_spread (cells + BY_SPREAD, &spread);
      cells[BY_UNANSWERED].count = member->n_unanswered;
      cells[BY_ERRORS].count = member->n_errors;
    }
}

static bool
fill_dbus (const ViewRequest *request, Rows *rows, GError **error)
{
  bool by_member = sysprof_request_has (request, "by-member");
  const Store *store = request->store;
  g_autofree uint32_t *partner = sysprof_dbus_find_replies (store);
  g_autoptr (GHashTable) members =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_member);
  EventMatcher matcher;

  sysprof_rows_init_events (rows, by_member ? by_columns : columns,
                            by_member ? N_BY_COLUMNS : N_COLUMNS, "messages", 0, store->n_dbus);
  sysprof_event_matcher_init (&matcher, store, request->filter);
  for (uint32_t i = 0; i < store->n_dbus && sysprof_is_wanted_at (i); i++)
    {
      const DBusMessage *message = &store->dbus[i];

      if (!sysprof_event_matcher_takes (&matcher, message->time, message->pid, message->cpu))
        continue;
      rows->total++;
      if (by_member)
        count_message (members, store, i, partner[i]);
      else
        add_message (request, rows, i, partner[i]);
    }
  sysprof_event_matcher_clear (&matcher);
  add_members (rows, members);
  return true;
}

static const ViewSwitch switches[] = {
  { "by-member", "Show statistics for each D-Bus method and signal" },
  { NULL },
};

const View sysprof_dbus_view = {
  .name = "dbus",
  .title = "D-Bus messages",
  .summary = "calls with their replies, and signals; --by-member: statistics",
  .switches = switches,
  .recorded_by = "Record messages with sysprof-cli --session-bus, --system-bus or "
                 "--monitor-bus ADDRESS.",
  .options = OPTIONS_EVENTS,
  .fill = fill_dbus,
};
