// SPDX-License-Identifier: GPL-3.0-or-later

/* Imports folded stacks: `command;outer;inner COUNT`, one line per stack, which most profilers
 * can print.
 *
 *   python3-812/813;main;work_[k] 12.5 13      pid, tid, a kernel function, before and after
 *
 * Beyond the plain form it reads decimals (rounded), pairs (the second number counts),
 * `-PID` and `-PID/TID` after the command, the annotations _[k] _[i] _[j] _[w], CRLF, and
 * comments. It ignores and counts lines without a number. The format has no times, so all
 * samples have the same time. */

#include "capture/capture.h"
#include "import/import.h"
#include "import/name-table.h"

#include <math.h>

#define TIME 1 /* ns; there is none in the file */
#define MOST_SAMPLES \
  1000000 /* as many frames at most; with more, each line is one frame with a  \
             weight */
#define MOST_ADDRESSES 8180  /* addresses of a frame of at most 65528 bytes, with markers */
#define CANCEL_EVERY   4096  /* lines */
#define CHUNK_SIZE     16000 /* bytes; a multiple of the size of a weight */
#define FIRST_FREE_PID 1
#define MOST_BAD       10 /* invalid lines per valid line */

typedef struct
{
  StringId command; /* in Folded.commands, as in the file */
  int32_t tid;      /* 0 = main thread of the process */
  uint32_t first;   /* index into Folded.stacks, outermost first */
  uint32_t n;
  uint64_t weight;
} Line;

typedef struct
{
  StringId comm; /* in Folded.commands */
  int32_t pid;
} Command;

typedef struct
{
  NameTable names;
  Intern commands; /* "comm" or "comm-PID" */
  GArray *command; /* Command, by StringId; without a comm where that is no
                      command */
  GArray *lines;   /* Line */
  GArray *stacks;  /* uint32_t, names */
  uint64_t total;
} Folded;

/* Removes a number from the end of `line`, if it is all of it or follows a blank. */
static bool
take_number (Text *line, double *value)
{
  const char *begin = line->end;
  char digits[64];
  size_t size;
  char *end;

  while (begin > line->at && begin[-1] != ' ' && begin[-1] != '\t')
    begin--;
  size = (size_t) (line->end - begin);
  if (size == 0 || size >= sizeof digits || !(g_ascii_isdigit (*begin) || *begin == '.'))
    return false;

  memcpy (digits, begin, size);
  digits[size] = '\0';
  *value = g_ascii_strtod (digits, &end);
  if (*end != '\0' || !isfinite (*value) || *value < 0 || *value > 1e18 ||
      g_ascii_tolower (digits[MIN (size - 1, 1)]) == 'x')
    return false;

  line->end = begin;
  while (line->end > line->at && (line->end[-1] == ' ' || line->end[-1] == '\t'))
    line->end--;
  return true;
}

/* Splits a line into stack and number. */
static bool
split_line (Text line, Text *stack, double *weight)
{
  double before;

  while (line.end > line.at && g_ascii_isspace (line.end[-1]))
    line.end--;
  if (memchr (line.at, 0, sysprof_text_size (line)) != NULL || !take_number (&line, weight))
    return false;

  *stack = line;
  if (take_number (&line, &before) && sysprof_text_size (line) > 0)
    *stack = line; /* a pair: the second number is the new one */
  return sysprof_text_size (*stack) > 0;
}

static bool
is_silent (Text line)
{
  while (line.at < line.end && g_ascii_isspace (*line.at))
    line.at++;
  return line.at == line.end || *line.at == '#';
}

static NameKind
take_annotation (Text *name)
{
  size_t size = sysprof_text_size (*name);
  char kind;

  if (size < 5 || memcmp (name->end - 4, "_[", 2) != 0 || name->end[-1] != ']' ||
      strchr ("kijw", name->end[-2]) == NULL)
    return NAME_USER;

  kind = name->end[-2];
  name->end -= 4;
  return kind == 'k' ? NAME_KERNEL : kind == 'j' ? NAME_JIT : NAME_USER;
}

/* Removes `-PID` or `-PID/TID` from the command. */
static void
take_ids (Text *command, int32_t *pid, int32_t *tid)
{
  const char *dash = memrchr (command->at, '-', sysprof_text_size (*command));
  Text rest;
  uint64_t first, second = 0;

  *pid = *tid = 0;
  if (dash == NULL || dash == command->at)
    return;

  rest = (Text){ dash + 1, command->end };
  if (!sysprof_text_u64 (&rest, &first) || first == 0 || first > G_MAXINT32 ||
      (sysprof_text_skip (&rest, "/") &&
       (!sysprof_text_u64 (&rest, &second) || second > G_MAXINT32)) ||
      sysprof_text_size (rest) > 0)
    return;

  *pid = (int32_t) first;
  *tid = (int32_t) second;
  command->end = dash;
}

static StringId
intern_command (Folded *self, Text comm, int32_t pid)
{
  g_autofree char *key = NULL;
  StringId id, comm_id;
  Command *command;

  if (sysprof_text_size (comm) == 0)
    comm = sysprof_text_from_string ("[unknown]");
  key =
      g_strdup_printf ("%.*s-%d", (int) MIN (sysprof_text_size (comm), G_MAXINT), comm.at, pid);
  id = sysprof_intern_string (&self->commands, key);
  comm_id = sysprof_intern_bytes (&self->commands, comm.at, sysprof_text_size (comm));
  if (MAX (id, comm_id) >= self->command->len)
    g_array_set_size (self->command, MAX (id, comm_id) + 1);

  command = &g_array_index (self->command, Command, id);
  if (command->comm == 0)
    *command = (Command){ comm_id, pid };
  return id;
}

static void
parse_line (Folded *self, Text stack, double weight)
{
  Line line = { .first = self->stacks->len, .weight = (uint64_t) (weight + 0.5) };
  int32_t pid;
  Text part;

  if (!sysprof_text_until (&stack, ';', &part))
    {
      part = stack;
      stack.at = stack.end;
    }

  take_ids (&part, &pid, &line.tid);
  line.command = intern_command (self, part, pid);
  while (stack.at < stack.end)
    {
      NameKind kind;
      uint32_t name;

      if (!sysprof_text_until (&stack, ';', &part))
        {
          part = stack;
          stack.at = stack.end;
        }
      kind = take_annotation (&part);
      name = sysprof_text_size (part) > 0
                 ? sysprof_name_table_intern (&self->names, kind, part)
                 : sysprof_name_table_intern (&self->names, kind,
                                              sysprof_text_from_string ("[unknown]"));
      g_array_append_val (self->stacks, name);
    }

  line.n = self->stacks->len - line.first;
  if (line.weight == 0)
    return;

  if (__builtin_add_overflow (self->total, line.weight, &self->total))
    self->total = G_MAXUINT64;
  g_array_append_val (self->lines, line);
}

static bool
parse (Folded *self,
       Text bytes,
       ImportReport *report,
       GCancellable *cancellable,
       GError **error)
{
  uint64_t number = 0;
  Text line, stack;
  double weight;

  while (sysprof_text_next_line (&bytes, &line))
    {
      if (++number % CANCEL_EVERY == 0 &&
          g_cancellable_set_error_if_cancelled (cancellable, error))
        return false;
      if (is_silent (line))
        continue;

      report->n_lines++;
      if (split_line (line, &stack, &weight))
        parse_line (self, stack, weight);
      else if (report->n_bad++ == 0)
        report->first_bad = number;
    }

  if (report->n_bad < report->n_lines)
    return true;
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
               "none of its %" G_GUINT64_FORMAT " lines ends in a number. "
               "A line should look like 'command;outer;inner 12'.",
               report->n_lines);
  return false;
}

/* Assigns pids: those in the file, and free ones for the other commands. */
static void
assign_pids (Folded *self)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  int32_t next = FIRST_FREE_PID;

  for (unsigned i = 0; i < self->command->len; i++)
    {
      Command *command = &g_array_index (self->command, Command, i);

      if (command->comm != 0 && command->pid != 0 &&
          !g_hash_table_add (taken, GINT_TO_POINTER (command->pid)))
        command->pid = 0; /* two commands with one pid stay separate */
    }

  for (unsigned i = 0; i < self->command->len; i++)
    {
      Command *command = &g_array_index (self->command, Command, i);

      if (command->comm == 0 || command->pid != 0)
        continue;
      while (!g_hash_table_add (taken, GINT_TO_POINTER (next)))
        next++;
      command->pid = next;
    }
}

static bool
write_commands (const Folded *self, SysprofCaptureWriter *writer)
{
  for (unsigned i = 0; i < self->command->len; i++)
    {
      const Command *command = &g_array_index (self->command, Command, i);
      g_autofree char *comm = NULL;

      if (command->comm == 0)
        continue;
      /* The second frame, with a CPU, marks the text as a name and not a command line. */
      comm = g_strdelimit (g_strdup (sysprof_intern_get (&self->commands, command->comm)),
                           " \t", '_');
      if (!sysprof_capture_writer_add_process (writer, TIME, -1, command->pid, comm) ||
          !sysprof_capture_writer_add_process (writer, TIME, 0, command->pid, comm))
        return false;
    }

  return true;
}

static bool
write_line (Folded *self, SysprofCaptureWriter *writer, const Line *line, uint64_t n_times)
{
  static const uint64_t markers[] = { (uint64_t) -512, (uint64_t) -128, (uint64_t) -512 };
  uint64_t addresses[MOST_ADDRESSES + 1];
  const Command *command = &g_array_index (self->command, Command, line->command);
  uint64_t context = 0;
  unsigned n = 0;

  for (uint32_t i = line->n; i > 0 && n < MOST_ADDRESSES; i--)
    {
      uint32_t name = g_array_index (self->stacks, uint32_t, line->first + i - 1);
      uint64_t marker = markers[sysprof_name_table_kind (&self->names, name)];

      if (marker != context)
        addresses[n++] = context = marker;
      addresses[n] = sysprof_name_table_address (&self->names, writer, name, command->pid);
      if (addresses[n++] == 0)
        return false;
    }

  for (; n_times > 0; n_times--)
    if (!sysprof_capture_writer_add_sample (writer, TIME, -1, command->pid,
                                            line->tid > 0 ? line->tid : command->pid, addresses,
                                            n))
      return false;

  return true;
}

/* Writes one int64_t per sample frame, in file order. */
static bool
write_weights (const Folded *self, SysprofCaptureWriter *writer)
{
  g_autofree int64_t *weights = g_new (int64_t, MAX (self->lines->len, 1));
  size_t size = self->lines->len * sizeof *weights;

  for (unsigned i = 0; i < self->lines->len; i++)
    weights[i] = (int64_t) MIN (g_array_index (self->lines, Line, i).weight, G_MAXINT64);

  for (size_t at = 0; at < size; at += CHUNK_SIZE)
    {
      size_t now = MIN (size - at, CHUNK_SIZE);

      if (!sysprof_capture_writer_add_file (writer, TIME, -1, -1, "__weights__",
                                            at + now == size, (const uint8_t *) weights + at,
                                            now))
        return false;
    }

  return true;
}

static bool
write_capture (Folded *self, SysprofCaptureWriter *writer)
{
  bool is_weighted = self->total > MOST_SAMPLES;

  assign_pids (self);
  if (!write_commands (self, writer))
    return false;

  for (unsigned i = 0; i < self->lines->len; i++)
    {
      const Line *line = &g_array_index (self->lines, Line, i);

      if (!write_line (self, writer, line, is_weighted ? 1 : line->weight))
        return false;
    }

  return (!is_weighted || write_weights (self, writer)) &&
         sysprof_capture_writer_add_metadata (writer, TIME, -1, -1,
                                              "org.gnome.sysprof.imported", "folded", -1) &&
         sysprof_name_table_write (&self->names, writer, TIME) &&
         sysprof_capture_writer_set_time_range (writer, TIME, TIME);
}

static bool
convert (Text bytes,
         SysprofCaptureWriter *writer,
         ImportReport *report,
         GCancellable *cancellable,
         GError **error)
{
  Folded folded = { .command = g_array_new (FALSE, TRUE, sizeof (Command)),
                    .lines = g_array_new (FALSE, FALSE, sizeof (Line)),
                    .stacks = g_array_new (FALSE, FALSE, sizeof (uint32_t)) };
  bool is_done;

  sysprof_name_table_init (&folded.names);
  sysprof_intern_init (&folded.commands);
  is_done = parse (&folded, bytes, report, cancellable, error);
  if (is_done && !write_capture (&folded, writer))
    {
      sysprof_set_error_errno (error, "the capture cannot be written");
      is_done = false;
    }

  sysprof_name_table_clear (&folded.names);
  sysprof_intern_clear (&folded.commands);
  g_array_unref (folded.command);
  g_array_unref (folded.lines);
  g_array_unref (folded.stacks);
  return is_done;
}

/* Recognizes text whose first lines include a stack and a number. */
static bool
recognize (Text begin, bool is_all)
{
  unsigned n_good = 0, n_bad = 0;
  bool has_separator = false;
  Text line, stack;
  double weight;

  if (memchr (begin.at, 0, sysprof_text_size (begin)) != NULL)
    return false;

  while (sysprof_text_next_line (&begin, &line))
    {
      if (is_silent (line) || (begin.at == begin.end && !is_all && n_good + n_bad > 0))
        continue; /* the last line may be incomplete */
      if (!split_line (line, &stack, &weight))
        n_bad++;
      else
        {
          n_good++;
          has_separator |= memchr (stack.at, ';', sysprof_text_size (stack)) != NULL;
        }
    }

  return n_good > 0 && (has_separator ? n_bad <= MOST_BAD * n_good : n_bad == 0);
}

const Importer sysprof_folded_importer = {
  .name = "folded",
  .title = "folded stacks",
  .recognize = recognize,
  .convert = convert,
};
