// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-cat: prints a capture as a tree of blocks.
 *
 *   document {
 *     title: "run.syscap";
 *     timespan: BEGIN END;
 *     metadata { … } callgraph { … } marks { … } counters { … }
 *   }
 *
 * All texts are untrusted: they are converted to valid UTF-8 and escaped as in XML. */

#include "document/document.h"
#include "util/util.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_USAGE 2

#define MOST_LEVELS   200
#define CONTROLS_LEFT "\t\n\r"   /* GLib escapes other control characters as numbers */
#define NEXT_LINE     "\302\205" /* U+0085, which GLib does not escape */

typedef struct
{
  gboolean no_callgraph;
  gboolean no_counters;
  gboolean no_marks;
  gboolean no_metadata;
  gboolean no_inlines;
  gboolean version;
  char *capture;
  char *completion; /* name of a shell */
  char *help;       /* what to print instead of a capture, or NULL */
} CatOptions;

/* Limits indentation: blanks of a deep stack could take gigabytes. */
static void
indent (unsigned level)
{
  printf ("%*s", (int) MIN (level, MOST_LEVELS) * 2, "");
}

static void
open_block (unsigned level, const char *name)
{
  indent (level);
  printf ("%s {\n", name);
}

static void
close_block (unsigned level)
{
  indent (level);
  puts ("}");
}

/* Escapes a text. *(full)* */
static char *
escape (const char *text)
{
  g_autofree char *valid = sysprof_dup_visible (text);
  g_autofree char *escaped = g_markup_escape_text (valid, -1);
  GString *line;

  if (strpbrk (escaped, CONTROLS_LEFT) == NULL && strstr (escaped, NEXT_LINE) == NULL)
    return g_steal_pointer (&escaped);

  line = g_string_new (escaped);
  g_string_replace (line, "\t", "&#x9;", 0);
  g_string_replace (line, "\n", "&#xa;", 0);
  g_string_replace (line, "\r", "&#xd;", 0);
  g_string_replace (line, NEXT_LINE, "&#x85;", 0);
  return g_string_free (line, FALSE);
}

static void
print_text (unsigned level, const char *name, const char *text)
{
  g_autofree char *escaped = escape (text);

  indent (level);
  printf ("%s: \"%s\";\n", name, escaped);
}

static void
print_nsec (unsigned level, const char *name, int64_t nsec)
{
  indent (level);
  printf ("%s: %" PRId64 ";\n", name, nsec);
}

static void
print_metadata (const Store *store)
{
  open_block (1, "metadata");
  for (uint32_t i = 0; i < store->n_metadata; i++)
    {
      g_autofree char *id = escape (sysprof_store_string (store, store->metadata[i].id));
      g_autofree char *value = escape (sysprof_store_string (store, store->metadata[i].value));

      indent (2);
      printf ("\"%s\": \"%s\";\n", id, value);
    }
  close_block (1);
}

/* Prints the source location of a function, and whether it is inlined. */
static void
print_location (const SymbolTable *symbols, const Symbol *row)
{
  g_autofree char *file = NULL;

  if (row->is_inlined)
    printf (", inlined: yes");
  if (row->line == 0)
    return;
  file = escape (sysprof_intern_get (&symbols->strings, row->file));
  printf (", file: \"%s\", line: %u", file, row->line);
}

/* Not recursive, because the depth of a tree is untrusted. */
static void
print_callgraph (const Store *store, const SymbolTable *symbols)
{
  Shape shape = { 0 };
  StackWeights weights = { 0 };
  g_autoptr (CallTree) tree = NULL;
  CallNodeId node = 0;
  unsigned level = 2;

  sysprof_stack_weights_fold (&weights, store, symbols, NULL, false);
  tree = sysprof_call_tree_new (store, symbols, &weights, &shape);
  sysprof_stack_weights_clear (&weights);
  open_block (1, "callgraph");
  for (;;)
    {
      g_autofree char *label = sysprof_call_tree_dup_label (tree, store, symbols, node);
      g_autofree char *escaped = escape (label);

      open_block (level, "node");
      indent (level + 1);
      printf ("symbol: \"%s\", self: %" PRIu64 ", total: %" PRIu64, escaped, tree->self[node],
              tree->total[node]);
      print_location (symbols, &symbols->row[tree->symbol[node]]);
      puts (tree->first_child[node] != 0 ? "," : "");
      if (tree->first_child[node] != 0)
        {
          node = tree->first_child[node];
          level++;
          continue;
        }
      close_block (level);
      while (node != 0 && tree->next_sibling[node] == 0)
        {
          node = tree->parent[node];
          close_block (--level);
        }
      if (node == 0)
        break;
      node = tree->next_sibling[node];
    }
  close_block (1);
}

static void
print_mark (const Store *store, const Mark *mark)
{
  int64_t end;

  if (__builtin_add_overflow (mark->time, mark->duration, &end))
    end = INT64_MAX;
  open_block (3, "mark");
  print_text (4, "name", sysprof_store_string (store, mark->name));
  print_text (4, "message", sysprof_store_string (store, mark->message));
  print_nsec (4, "duration", mark->duration);
  print_nsec (4, "end-time", end);
  close_block (3);
}

/* Prints marks by group, in order of the first mark. */
static void
print_marks (const Store *store)
{
  g_autoptr (GHashTable) by_group = /* group → GArray of indices */
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) groups = g_ptr_array_new (); /* borrowed from by_group */

  open_block (1, "marks");
  for (uint32_t i = 0; i < store->n_marks; i++)
    {
      gpointer key = GUINT_TO_POINTER (store->marks[i].group);
      GArray *group = g_hash_table_lookup (by_group, key);

      if (group == NULL)
        {
          group = g_array_new (FALSE, FALSE, sizeof (uint32_t));
          g_hash_table_insert (by_group, key, group);
          g_ptr_array_add (groups, group);
        }
      g_array_append_val (group, i);
    }
  for (guint g = 0; g < groups->len; g++)
    {
      const GArray *group = g_ptr_array_index (groups, g);
      const Mark *first = &store->marks[g_array_index (group, uint32_t, 0)];

      open_block (2, "group");
      print_text (3, "name", sysprof_store_string (store, first->group));
      for (guint i = 0; i < group->len; i++)
        print_mark (store, &store->marks[g_array_index (group, uint32_t, i)]);
      close_block (2);
    }
  close_block (1);
}

static void
print_counter_value (const Store *store, const Counter *counter, uint32_t value)
{
  const Counters *counters = &store->counters;
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (counter->is_double)
    g_ascii_formatd (text, sizeof text, "%.10g", counters->value[value].dbl);
  else
    g_snprintf (text, sizeof text, "%" PRId64, counters->value[value].i64);
  indent (4);
  printf ("value { time: %" PRId64 "; offset: %" PRId64 "; value: %s; }\n",
          counters->time[value], sysprof_time_between (store->begin, counters->time[value]),
          text);
}

static void
print_counters (const Store *store)
{
  open_block (1, "counters");
  for (uint32_t i = 0; i < store->counters.n; i++)
    {
      const Counter *counter = &store->counters.row[i];

      open_block (2, "counter");
      print_text (3, "category", sysprof_store_string (store, counter->category));
      print_text (3, "name", sysprof_store_string (store, counter->name));
      print_text (3, "description", sysprof_store_string (store, counter->description));
      open_block (3, "values");
      for (uint32_t v = 0; v < counter->n_values; v++)
        print_counter_value (store, counter, counter->first_value + v);
      close_block (3);
      close_block (2);
    }
  close_block (1);
}

static void
print_document (SysprofDocument *document, const CatOptions *options)
{
  const Store *store = sysprof_document_get_store (document);
  g_autofree char *title = sysprof_document_dup_title (document);
  g_autofree char *subtitle = sysprof_document_dup_subtitle (document);

  open_block (0, "document");
  print_text (1, "title", title);
  if (subtitle != NULL)
    print_text (1, "subtitle", subtitle);
  indent (1);
  printf ("timespan: %" PRId64 " %" PRId64 ";\n", store->begin, store->end);
  if (!options->no_metadata)
    print_metadata (store);
  if (!options->no_callgraph)
    print_callgraph (store, sysprof_document_get_symbols (document));
  if (!options->no_marks)
    print_marks (store);
  if (!options->no_counters)
    print_counters (store);
  close_block (0);
}

static void
tell_damage (SysprofDocument *document)
{
  const Store *store = sysprof_document_get_store (document);

  if (store->damage != NULL)
    fprintf (stderr, "sysprof-cat: The capture is damaged. %s\n", store->damage);
  if (store->mixed != NULL)
    fprintf (stderr, "sysprof-cat: The capture was joined from several. %s\n", store->mixed);
}

static SysprofDocument *
load (const char *path, const CatOptions *options, GError **error)
{
  const SymbolizeOptions symbolize = { .with_lines =
                                           !options->no_inlines && !options->no_callgraph };
  g_autoptr (SysprofDocumentLoader) loader = NULL;

  if (g_str_equal (path, "-"))
    loader = sysprof_document_loader_new_for_fd (STDIN_FILENO, error);
  else
    loader = sysprof_document_loader_new (path);
  if (loader != NULL && g_str_equal (path, "-"))
    sysprof_document_loader_set_name (loader, "standard input");
  if (loader != NULL)
    sysprof_document_loader_set_symbolize_options (loader, &symbolize);
  return loader != NULL ? sysprof_document_loader_load (loader, NULL, error) : NULL;
}

/* Sets `capture` to the only argument. */
static gboolean
take_capture (CatOptions *options, char **words, GError **error)
{
  if (words[0] != NULL && g_str_equal (words[0], "--"))
    words++;
  if (words[0] == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "No capture given. Usage: sysprof-cat [OPTION...] CAPTURE; see --help.");
  else if (words[1] != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "Unexpected argument '%s': give one capture.", words[1]);
  else
    options->capture = g_strdup (words[0]);
  return options->capture != NULL;
}

static gboolean
parse_options (CatOptions *options, char **argv, GError **error)
{
  gboolean help = FALSE;
  /* clang-format off */
  const GOptionEntry entries[] = {
    { "no-callgraph", 0, 0, G_OPTION_ARG_NONE, &options->no_callgraph, "Do not print the call graph", NULL },
    { "no-counters", 0, 0, G_OPTION_ARG_NONE, &options->no_counters, "Do not print counter values", NULL },
    { "no-marks", 0, 0, G_OPTION_ARG_NONE, &options->no_marks, "Do not print marks", NULL },
    { "no-metadata", 0, 0, G_OPTION_ARG_NONE, &options->no_metadata, "Do not print metadata", NULL },
    { "no-inlines", 0, 0, G_OPTION_ARG_NONE, &options->no_inlines, "Do not print inlined functions and source lines", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help", NULL },
    { "completion", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &options->completion, NULL, "SHELL" },
    { NULL }
  };
  /* clang-format on */
  static const CompletionValues values[] = { { NULL } };
  const OptionSection sections[] = { { "Options", entries }, { NULL } };
  const Completion completion = { "sysprof-cat", sections, NULL, values };
  g_auto (GStrv) words = sysprof_usage_parse ("sysprof-cat", sections, NULL,
                                              (const char *const *) argv, NULL, error);

  if (words == NULL)
    return FALSE;
  if (options->completion != NULL)
    {
      options->help = sysprof_completion_script (&completion, options->completion, error);
      return options->help != NULL;
    }
  if (help)
    options->help = sysprof_usage_help ("Usage: sysprof-cat [OPTION...] CAPTURE\n\n"
                                        "Print a capture as text.\n",
                                        sections, "\nSee sysprof-cat(1).\n");
  return help || options->version || take_capture (options, words + 1, error);
}

static void
clear_options (CatOptions *options)
{
  g_free (options->capture);
  g_free (options->completion);
  g_free (options->help);
}

/* Checks that all output was written. */
static int
finish_output (void)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return EXIT_SUCCESS;
  fprintf (stderr, "sysprof-cat: Cannot write to standard output: %s. %s\n", g_strerror (errno),
           sysprof_advice_on_errno (errno));
  return EXIT_FAILURE;
}

static int
complain (const GError *error, int status)
{
  fprintf (stderr, "sysprof-cat: %s\n", error->message);
  return status;
}

static int
print_capture (const CatOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocument) document =
      sysprof_check_threads (&error) ? load (options->capture, options, &error) : NULL;

  if (document == NULL)
    return complain (error, EXIT_FAILURE);
  print_document (document, options);
  tell_damage (document);
  return finish_output ();
}

int
main (int argc, char **argv)
{
  CatOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  int status;

  setlocale (LC_ALL, "");
  if (!parse_options (&options, argv, &error))
    status = complain (error, EXIT_USAGE);
  else if (options.help != NULL || options.version)
    {
      fputs (options.help != NULL ? options.help : "Sysprof " SYSPROF_VERSION_S "\n", stdout);
      status = finish_output ();
    }
  else
    status = print_capture (&options);
  clear_options (&options);
  return status;
}
