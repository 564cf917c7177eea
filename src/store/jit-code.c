// SPDX-License-Identifier: GPL-3.0-or-later

/* Code that programs generate, as they reported it: for each process an embedded file
 * `/proc/PID/jit-code` with lines `START SIZE TIME NAME` (docs/format.md). */

#include "store/builder.h"

#define PREFIX        "/proc/"
#define SUFFIX        "/jit-code"
#define NAME_SIZE     32                   /* of a file that is not packed */
#define MOST_CODE     (UINT32_C (2) << 20) /* rows of all processes together */
#define LINES_BETWEEN 0x1000               /* between two checks for cancellation */

typedef struct
{
  JitCode code;
  uint32_t order;
} OrderedCode;

static int
compare_code (const void *a, const void *b, void *data)
{
  const OrderedCode *left = a, *right = b;

  if (left->code.process != right->code.process)
    return left->code.process < right->code.process ? -1 : 1;
  if (left->code.time != right->code.time)
    return left->code.time < right->code.time ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

/* FALSE where it is no name of such a file, or another one of the same: `name_plain` is what it
 * is called unpacked, of [NAME_SIZE]. */
static bool
parse_name (const char *name, uint64_t *pid, char *name_plain)
{
  Text text = sysprof_text_from_string (name);

  if (!sysprof_text_skip (&text, PREFIX) || !sysprof_text_u64 (&text, pid) ||
      *pid > G_MAXINT32 || !sysprof_text_skip (&text, SUFFIX) ||
      !(text.at == text.end || sysprof_text_equal (text, ".gz")))
    return false;

  (void) g_snprintf (name_plain, NAME_SIZE, PREFIX "%u" SUFFIX, (unsigned) *pid);
  return g_str_has_prefix (name, name_plain); /* not /proc/007 */
}

/* FALSE where it is not known whose it is, of several captures; and of a packed one where it is
 * there unpacked, which is what is read of the two. */
static bool
is_wanted (const Builder *self, const EmbeddedFile *file, const char *name_plain)
{
  const char *name = sysprof_store_string (self->store, file->name);

  return !file->is_contradicted && (strcmp (name, name_plain) == 0 ||
                                    sysprof_builder_find_file (self, name_plain) == NULL);
}

static bool
parse_line (Text *line, JitCode *code)
{
  uint64_t size, time;

  if (!sysprof_text_hex (line, &code->start) || !sysprof_text_skip (line, " ") ||
      !sysprof_text_hex (line, &size) || !sysprof_text_skip (line, " ") ||
      !sysprof_text_u64 (line, &time) || !sysprof_text_skip (line, " "))
    return false;

  code->time = (int64_t) MIN (time, G_MAXINT64);
  return size > 0 && !__builtin_add_overflow (code->start, size, &code->end) &&
         line->at < line->end;
}

static void
read_lines (Builder *self, ProcessId process, GBytes *bytes, GArray *rows)
{
  size_t size;
  const char *data = g_bytes_get_data (bytes, &size);
  Text text = { data, data + size };
  Text line;

  while (rows->len < MOST_CODE && sysprof_text_next_line (&text, &line))
    {
      OrderedCode row = { .code = { .process = process }, .order = rows->len };

      if (rows->len % LINES_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      if (!parse_line (&line, &row.code))
        continue;
      row.code.name = sysprof_store_intern (self->store, line);
      g_array_append_val (rows, row);
    }
}

static GArray *
read_all (Builder *self)
{
  Store *store = self->store;
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (OrderedCode));

  for (uint32_t i = 0; i < store->files.n && sysprof_builder_goes_on (self, i, store->files.n);
       i++)
    {
      const EmbeddedFile *file = &store->files.row[i];
      g_autoptr (GBytes) bytes = NULL;
      char name[NAME_SIZE];
      ProcessId process;
      uint64_t pid;

      if (!parse_name (sysprof_store_string (store, file->name), &pid, name) ||
          !is_wanted (self, file, name))
        continue;
      process = sysprof_builder_process (self, (int32_t) pid);
      if (process == 0)
        continue;
      /* One that cannot be unpacked is as good as none. */
      bytes =
          sysprof_store_read_file_cancellable (store, name, self->progress->cancellable, NULL);
      if (bytes != NULL)
        read_lines (self, process, bytes, rows);
    }
  if (rows->len == MOST_CODE)
    sysprof_builder_note_mixed (
        self,
        "Of the code that programs generated, only the first %u pieces "
        "have names: there are more than that. Record fewer processes at "
        "a time.",
        MOST_CODE);
  return rows;
}

void
sysprof_builder_read_jit_code (Builder *self)
{
  Store *store = self->store;
  g_autoptr (GArray) rows = read_all (self);

  if (rows->len == 0 || !sysprof_progress_sort (self->progress, rows->data, rows->len,
                                                sizeof (OrderedCode), compare_code, NULL))
    return;

  store->n_jit_code = rows->len + 1;
  store->jit_code = g_new0 (JitCode, store->n_jit_code);
  for (guint i = 0; i < rows->len; i++)
    store->jit_code[i + 1] = g_array_index (rows, OrderedCode, i).code;
}
