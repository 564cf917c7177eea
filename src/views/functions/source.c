// SPDX-License-Identifier: GPL-3.0-or-later

/* Source lines of one function with their weights; with --whole-files, all lines of its
 * files. */

#include "views/functions/source-lines.h"
#include "views/sample-rows.h"

#include <errno.h>
#include <string.h>

#define MOST_BETWEEN   60    /* lines without weight that are shown between two with weight */
#define CONTEXT        3     /* lines around a line with weight where more are not shown */
#define MOST_WHOLE     20000 /* lines of files that are shown whole */
#define TAB_COLUMNS    8
#define MOST_ADDRESSES 16 /* of a file, often one for each process */

enum
{
  SELF,
  TOTAL,
  LINE,
  FILE_NAME,
  SOURCE,
  N_COLUMNS,
};

static const Column columns[] = {
  [SELF] = { "self", "SELF", COLUMN_COUNT, .share = true, .hides_zero = true },
  [TOTAL] = { "total", "TOTAL", COLUMN_COUNT, .share = true, .hides_zero = true },
  [LINE] = { "line", "LINE", COLUMN_NUMBER },
  [FILE_NAME] = { "file", "FILE", COLUMN_TEXT, .heading = 1 },
  [SOURCE] = { "source", "SOURCE", COLUMN_TEXT, .is_long = true, .may_miss = true },
};

typedef struct
{
  const ViewRequest *request;
  Rows *rows;
  SourceLines source;
  const char *file;
  uint32_t last;    /* last line that was added */
  uint32_t n_whole; /* lines of the file if all are shown, or 0 */
} SourceRows;

/* Replaces tabs by blanks, because the text does not start at a tab stop. *(full)* */
static char *
dup_without_tabs (const char *line)
{
  GString *text = g_string_new (NULL);
  size_t column = 0;

  for (; *line != '\0' && *line != '\r'; line++, column++)
    if (*line == '\t')
      {
        size_t n = TAB_COLUMNS - column % TAB_COLUMNS;

        g_string_append_printf (text, "%*s", (int) n, "");
        column += n - 1;
      }
    else
      {
        g_string_append_c (text, *line);
      }
  return g_string_free (text, FALSE);
}

static void
add_line (SourceRows *self, uint32_t line, uint64_t weight, uint64_t total)
{
  Cell *cells = sysprof_rows_add (self->rows);
  const char *text = sysprof_source_lines_get (&self->source, line);
  g_autofree char *shown = text != NULL ? dup_without_tabs (text) : NULL;

  cells[SELF].count = weight;
  cells[TOTAL].count = total;
  cells[LINE].number = line;
  cells[FILE_NAME].text = self->file;
  cells[SOURCE].text = sysprof_rows_dup (self->rows, shown);
  self->last = line;
}

/* Adds the lines without weight from `begin` to before `end`, or, if they are many, the first
 * and last ones. */
static void
add_lines_between (SourceRows *self, uint32_t begin, uint32_t end)
{
  bool is_long = self->n_whole == 0 && end > begin && end - begin > MOST_BETWEEN;

  if (self->source.lines == NULL)
    return;
  if (self->n_whole != 0)
    end = MIN (end, self->n_whole + 1); /* a changed file may have fewer lines */
  for (uint32_t line = begin; line < end; line++)
    if (!is_long || line < begin + CONTEXT)
      add_line (self, line, 0, 0);
    else if (line < end - CONTEXT)
      line = end - CONTEXT - 1;
    else
      add_line (self, line, 0, 0);
}

/* The known lines of these functions in a file that are nearest to `line`, up to it: of the
 * first one, or of the last one. `line` itself if there is none. */
static uint32_t
find_begin (const SourceRows *self,
            const bool *is_wanted,
            StringId file,
            uint32_t line,
            bool is_last)
{
  const SymbolTable *symbols = self->request->symbols;
  uint32_t begin = 0;

  for (SymbolId i = 1; i < symbols->n; i++)
    if (is_wanted[i] && symbols->row[i].file == file && symbols->row[i].line != 0 &&
        symbols->row[i].line <= line &&
        (begin == 0 || (symbols->row[i].line < begin) != is_last))
      begin = symbols->row[i].line;
  return begin != 0 ? begin : line;
}

static bool
closes_function (const char *text)
{
  text += strspn (text, " \t");
  return text[0] == '}' || g_str_has_prefix (text, "end");
}

/* Adds the lines after the last one with weight to the end of the function, whose first line is
 * `begin`. Debug information of captures does not have the end, so it is the first line that is
 * not indented deeper than `begin`. */
static void
add_rest (SourceRows *self, uint32_t begin)
{
  uint32_t first = self->last + 1;
  uint32_t end = first;
  const char *text = sysprof_source_lines_get (&self->source, self->last);
  bool is_at_end = self->last != begin && sysprof_source_line_ends_function (
                                              &self->source, begin, text != NULL ? text : "");

  for (; !is_at_end && end < first + MOST_BETWEEN; end++)
    {
      text = sysprof_source_lines_get (&self->source, end);
      if (text == NULL || sysprof_source_line_ends_function (&self->source, begin, text))
        break;
    }
  if (is_at_end || end == first + MOST_BETWEEN)
    end = is_at_end ? first : first + CONTEXT;
  else if (text != NULL && closes_function (text))
    end++;
  for (uint32_t line = first; line < end; line++)
    if (sysprof_source_lines_get (&self->source, line) != NULL)
      add_line (self, line, 0, 0);
}

/* Notes about source files: the first missing one and the first that changed. */
static void
describe_files (const SourceFile *files, uint32_t n, bool hides_options, GString *note)
{
  const SourceFile *missing = NULL, *newer = NULL;
  uint32_t n_missing = 0, n_newer = 0, n_left_out = 0;

  for (uint32_t i = n; i-- > 0;)
    {
      if (files[i].text == NULL && files[i].is_left_out)
        n_left_out++;
      else if (files[i].text == NULL)
        {
          missing = &files[i];
          n_missing++;
        }
      else if (files[i].is_newer)
        {
          newer = &files[i];
          n_newer++;
        }
    }
  if (missing != NULL)
    {
      g_string_append_printf (note, "The source '%s' cannot be read: %s", missing->path,
                              g_strerror (missing->error != 0 ? missing->error : ENOENT));
      if (n_missing > 1)
        g_string_append_printf (note, ", and %u more", n_missing - 1);
      g_string_append (note, hides_options
                                 ? ". "
                                 : ". Use --sysroot DIR to search for sources below DIR, or "
                                   "--debuginfod to download them. ");
    }
  if (n_left_out > 0)
    g_string_append_printf (
        note,
        "%u sources were skipped: the limits are %d sources and %d s. Choose fewer "
        "functions%s. ",
        n_left_out, MOST_SOURCES, MOST_SOURCE_SECONDS, hides_options ? "" : " with --focus");
  if (newer != NULL)
    {
      g_string_append_printf (note, "The source '%s'", newer->path);
      if (n_newer > 1)
        g_string_append_printf (note, " and %u more", n_newer - 1);
      g_string_append (note, " changed since the program was built, so lines may be wrong. "
                             "Build and record it again. ");
    }
}

static void
add_file (SourceRows *self,
          const bool *is_wanted,
          const LineWeight *lines,
          uint32_t n,
          SourceFile *text)
{
  uint32_t begin = find_begin (self, is_wanted, lines[0].file, lines[0].line, false);

  self->file = text->path;
  sysprof_source_lines_init (&self->source, text->text, text->size);
  self->n_whole = sysprof_request_has (self->request, "whole-files") &&
                          self->source.lines != NULL &&
                          self->rows->n_rows + self->source.lines->len <= MOST_WHOLE
                      ? self->source.lines->len
                      : 0;
  /* The function begins before its first line with weight, or nothing knows where. */
  if (self->n_whole != 0)
    begin = 1;
  else if (begin == lines[0].line)
    begin -= MIN (CONTEXT, begin - 1);
  self->last = begin - 1;
  for (uint32_t i = 0; i < n; i++)
    {
      add_lines_between (self, self->last + 1, lines[i].line);
      add_line (self, lines[i].line, lines[i].self, lines[i].total);
    }
  if (self->n_whole != 0)
    add_lines_between (self, self->last + 1, self->n_whole + 1);
  else
    add_rest (self, find_begin (self, is_wanted, lines[0].file, self->last, true));
  sysprof_source_lines_clear (&self->source);
}

/* --- texts --- */

/* Some code addresses of each file of `lines`, all in one binary. The process that mapped it
 * knows where its source may be. [n_files * MOST_ADDRESSES] *(full)* */
static void
list_texts (const ViewRequest *request,
            const bool *is_wanted,
            const LineWeight *lines,
            uint32_t n,
            SourceFile *files,
            AddressId *places)
{
  const SymbolTable *symbols = request->symbols;
  const AddressTable *addresses = &request->store->addresses;
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  uint32_t n_files = 0;

  for (uint32_t i = 0; i < n; i++)
    if (i == 0 || lines[i].file != lines[i - 1].file)
      {
        files[n_files] = (SourceFile){
          .path = sysprof_intern_get (&symbols->strings, lines[i].file),
          .addresses = places + (size_t) n_files * MOST_ADDRESSES,
        };
        g_hash_table_insert (numbers, GUINT_TO_POINTER (lines[i].file),
                             GUINT_TO_POINTER (++n_files));
      }
  for (AddressId i = 0; i < addresses->n && sysprof_is_wanted_at (i); i++)
    {
      uint32_t number = is_wanted[symbols->of_address[i]] && addresses->mapping[i] != 0
                            ? GPOINTER_TO_UINT (g_hash_table_lookup (
                                  numbers, GUINT_TO_POINTER (symbols->file[i])))
                            : 0;
      SourceFile *file = number != 0 ? &files[number - 1] : NULL;
      AddressId *first = number != 0 ? places + (size_t) (number - 1) * MOST_ADDRESSES : NULL;

      if (number == 0 || file->n_addresses == MOST_ADDRESSES)
        continue;
      if (file->n_addresses > 0 && request->store->mappings[addresses->mapping[*first]].path !=
                                       request->store->mappings[addresses->mapping[i]].path)
        continue;
      first[file->n_addresses++] = i;
    }
}

static void
add_files (SourceRows *self, const bool *is_wanted, const LineWeight *lines, uint32_t n)
{
  const ViewRequest *request = self->request;
  g_autofree SourceFile *files = NULL;
  g_autofree AddressId *places = NULL;
  g_autoptr (GString) note = g_string_new (NULL);
  uint32_t n_files = 0, at = 0, end;

  for (uint32_t i = 0; i < n; i++)
    n_files += i == 0 || lines[i].file != lines[i - 1].file;
  files = g_new0 (SourceFile, n_files + 1);
  places = g_new0 (AddressId, (size_t) n_files * MOST_ADDRESSES + 1);
  list_texts (request, is_wanted, lines, n, files, places);
  sysprof_source_files_read (files, n_files, request->store, request->symbols,
                             request->symbolize, g_cancellable_get_current ());
  describe_files (files, n_files, request->hides_options, note);
  for (uint32_t i = 0; i < n; i = end, at++)
    {
      for (end = i; end < n && lines[end].file == lines[i].file;)
        end++;
      add_file (self, is_wanted, lines + i, end - i, &files[at]);
      sysprof_source_file_clear (&files[at]);
    }
  if (note->len > 0)
    self->rows->note = sysprof_rows_dup (self->rows, g_strchomp (note->str));
}

/* Whether all functions are code for which no file has lines. */
static bool
are_generated (const SymbolTable *symbols, const bool *is_wanted)
{
  for (SymbolId i = 1; i < symbols->n; i++)
    if (is_wanted[i] && symbols->row[i].kind != SYMBOL_JIT)
      return false;
  return true;
}

static const char *
dup_why_none (const ViewRequest *request, const bool *is_wanted, Rows *rows)
{
  const char *reason =
      request->hides_options
          ? "no debug information was found. Install its debug symbols, or add their "
            "directory to the settings of recordings, and open the capture again."
          : "no debug information was found. Install its debug symbols, name their folder "
            "with --debug-dir, or download them with --debuginfod.";
  g_autofree char *note = NULL;

  if (request->symbols->line == NULL)
    reason = "--no-inlines was given.";
  else if (are_generated (request->symbols, is_wanted))
    reason = "it was generated while the program ran; the capture has its name but not its "
             "lines. The view 'callers' shows what called it.";
  note =
      g_strdup_printf ("No source lines are known for '%s': %s", request->shape->focus, reason);
  return sysprof_rows_dup (rows, note);
}

static bool
fill_source (const ViewRequest *request, Rows *rows, GError **error)
{
  SourceRows self = { .request = request, .rows = rows };
  g_autofree bool *is_wanted = NULL;
  g_autofree LineWeight *lines = NULL;
  StackWeights weights;
  uint32_t n = 0;

  if (!sysprof_request_needs_focus (request, "source", error))
    return false;

  is_wanted = sysprof_focus_match (request->symbols, request->shape->focus, NULL);
  sysprof_request_fold (request, false, &weights);
  lines = sysprof_lines_weigh (request->store, request->symbols, &weights, is_wanted, &n);
  sysprof_rows_init (rows, columns, N_COLUMNS, weights.total);
  if (n > 0)
    add_files (&self, is_wanted, lines, n);
  sysprof_stack_weights_clear (&weights);
  if (n == 0)
    rows->note = dup_why_none (request, is_wanted, rows);
  return true;
}

static const ViewSwitch switches[] = {
  { "whole-files", "Show all lines of the source files" },
  { NULL },
};

const View sysprof_source_view = {
  .name = "source",
  .title = "Source",
  .summary = "source lines of the --focus function",
  .switches = switches,
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_SAMPLES | OPTIONS_SHARES | OPTIONS_FOCUS,
  .fill = fill_source,
  .is_listing = true,
};
