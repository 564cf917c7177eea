// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the command line of sysprof-report. It must not open files. */

#include "report/options.h"

#include "flame/flame.h"
#include "report/arguments.h"
#include "util/util.h"

#include <string.h>

#define set_usage sysprof_report_set_usage

/* Formats of the documentation that this version cannot write. They are not typing errors. */
static const char *const later_formats[] = {
  "firefox", "pprof", "speedscope", "perfetto", "chrome", "callgrind", "syscap", NULL,
};

/* In the order of Weight. */
static const char *const weight_names[] = { "samples", "period", "time", "wall",
                                            "bytes",   "count",  NULL };

/* Suffixes of formats that this version cannot write. Some end in the suffix of a format that
 * it can, so these go first. */
static const struct
{
  const char *suffix;
  const char *format;
} later_suffixes[] = {
  { ".firefox.json.gz", "firefox" },
  { ".speedscope.json", "speedscope" },
  { ".trace.json", "chrome" },
  { ".perfetto-trace", "perfetto" },
  { ".pb.gz", "pprof" },
  { ".callgrind", "callgrind" },
  { ".syscap", "syscap" },
};

/* Values that GOption sets, before they are checked. */
typedef struct
{
  ReportOptions *options;
  char *format;
  gboolean open_result;
  gboolean help;
  char *weight;
  char *completion;        /* name of a shell */
  GOptionEntry *switches;  /* of all views */
  gboolean *switch_is_set; /* [number of switches] */
  GPtrArray *names;        /* const char *: the options that were given, without dashes */
} Given;

static GOptionEntry *
find_entry (GArray *entries, const char *name)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_str_equal (g_array_index (entries, GOptionEntry, i).long_name, name))
      return &g_array_index (entries, GOptionEntry, i);
  return NULL;
}

/* Whether any view has this switch. */
static bool
is_switch (const char *name)
{
  for (const View *const *view = sysprof_view_list (); *view; view++)
    if (sysprof_view_has_switch (*view, name))
      return true;
  return false;
}

/* Makes an option of each switch of a view. Several views may have a switch of the same name. */
static void
make_switch_entries (Given *given)
{
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));

  for (const View *const *view = sysprof_view_list (); *view; view++)
    for (const ViewSwitch *row = (*view)->switches; row && row->name; row++)
      {
        GOptionEntry entry = { .long_name = row->name, .description = row->help };
        GOptionEntry *known = find_entry (entries, row->name);

        if (known != NULL)
          {
            g_autofree char *both =
                g_strdup_printf ("%s; %s: %s", known->description, (*view)->name, row->help);

            known->description = g_intern_string (both);
          }
        else
          g_array_append_val (entries, entry);
      }
  given->switch_is_set = g_new0 (gboolean, MAX (entries->len, 1));
  for (guint i = 0; i < entries->len; i++)
    g_array_index (entries, GOptionEntry, i).arg_data = &given->switch_is_set[i];
  given->switches = (GOptionEntry *) (void *) g_array_free (g_steal_pointer (&entries), FALSE);
}

static void
take_switches (Given *given)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (size_t i = 0; given->switches[i].long_name; i++)
    if (given->switch_is_set[i])
      g_ptr_array_add (names, (char *) given->switches[i].long_name);
  g_ptr_array_add (names, NULL);
  given->options->switches = (const char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static gboolean
set_limit (const char *name, const char *value, gpointer data, GError **error)
{
  ReportOptions *options = ((Given *) data)->options;
  guint64 limit;

  if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT, &limit, NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--limit %s: give a number of rows; 0 shows all.", value);
      return FALSE;
    }
  options->limit = (int) limit;
  options->limit_is_given = true;
  return TRUE;
}

static gboolean
set_min (const char *name, const char *value, gpointer data, GError **error)
{
  Given *given = data;
  ReportOptions *options = given->options;
  char *end;

  g_ptr_array_add (given->names, (char *) "min");
  options->min_is_given = true;
  options->min_percent = g_ascii_strtod (value, &end);
  if (end != value && (*end == '\0' || strcmp (end, "%") == 0) && options->min_percent >= 0 &&
      options->min_percent <= 100)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--min %s: give a percentage from 0 to 100.", value);
  return FALSE;
}

/* Text after the options in --help without a view. *(full)* */
static char *
dup_description (void)
{
  GString *text = g_string_new ("\nViews:\n");

  for (const View *const *view = sysprof_view_list (); *view; view++)
    g_string_append_printf (text, "  %-11s %s\n", (*view)->name, (*view)->summary);
  g_string_append (
      text, "\nDefault view: summary. Default capture: capture.syscap. Use - for standard\n"
            "input and ./NAME if a capture is called like a view.\n"
            "sysprof-report VIEW --help lists the options of VIEW.\n\nExamples:\n"
            "  sysprof-report run.syscap\n"
            "  sysprof-report callers --focus malloc run.syscap\n"
            "  sysprof-report flame --process gedit -o gedit.html --open run.syscap\n"
            "\nSee sysprof-report(1). To record a capture: sysprof-cli(1).\n");
  return g_string_free (text, FALSE);
}

/* Help for the options of one view. *(full)* */
static char *
dup_view_help (const View *view, const OptionSection *sections, const GOptionEntry *switches)
{
  g_autofree char *before =
      g_strdup_printf ("Usage: sysprof-report %s [OPTION...] [CAPTURE]\n\n%s: %s\n", view->name,
                       view->title, view->summary);
  g_autofree char *after = g_strdup_printf ("\nsysprof-report --help lists all views.\n");
  g_autoptr (GPtrArray) kept =
      g_ptr_array_new_with_free_func ((GDestroyNotify) (void *) g_array_unref);
  g_autoptr (GArray) own = g_array_new (TRUE, TRUE, sizeof (OptionSection));

  for (; sections->title; sections++)
    {
      GArray *entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
      OptionSection section = { .title = sections->title };

      g_ptr_array_add (kept, entries);
      if (sections->entries == switches)
        for (const ViewSwitch *row = view->switches; row && row->name; row++)
          {
            GOptionEntry entry = { .long_name = row->name, .description = row->help };

            section.title = "This view";
            g_array_append_val (entries, entry);
          }
      else
        for (const GOptionEntry *entry = sections->entries; entry->long_name; entry++)
          if (sysprof_view_options_have (view->options, entry->long_name))
            g_array_append_vals (entries, entry, 1);
      section.entries = (const GOptionEntry *) (void *) entries->data;
      if (entries->len > 0)
        g_array_append_val (own, section);
    }
  return sysprof_usage_help (before, (const OptionSection *) (void *) own->data, after);
}

/* The options of a view: "--format --output". *(full)* */
static char *
dup_option_list (const View *view, const OptionSection *sections)
{
  GString *list = g_string_new (NULL);

  for (const ViewSwitch *row = view->switches; row && row->name; row++)
    g_string_append_printf (list, "--%s ", row->name);
  for (; sections->title; sections++)
    for (const GOptionEntry *entry = sections->entries; entry->long_name; entry++)
      if (entry->description && !is_switch (entry->long_name) &&
          sysprof_view_options_have (view->options, entry->long_name))
        g_string_append_printf (list, "--%s ", entry->long_name);
  return g_string_free (list, FALSE);
}

/* Shell script that completes command lines. *(full)* */
static char *
dup_completion (const OptionSection *sections, const char *shell, GError **error)
{
  const char *format_names[N_RENDER_FORMATS + 1] = { NULL };
  const CompletionValues values[] = {
    { "format", format_names },
    { "colors", sysprof_flame_color_schemes () },
    { "weight", weight_names },
    { NULL },
  };
  g_autoptr (GArray) words = g_array_new (TRUE, FALSE, sizeof (CompletionWord));
  Completion completion = { "sysprof-report", sections, NULL, values };

  for (RenderFormat format = 0; format < N_RENDER_FORMATS; format++)
    format_names[format] = sysprof_render_format (format)->name;
  for (const View *const *view = sysprof_view_list (); *view; view++)
    {
      g_autofree char *list = dup_option_list (*view, sections);
      CompletionWord word = { (*view)->name, (*view)->summary, g_intern_string (list) };

      g_array_append_val (words, word);
    }
  completion.words = (const CompletionWord *) words->data;
  return sysprof_completion_script (&completion, shell, error);
}

/* Help for the view `word`, or, if it is not a view, for all. *(full)* */
static char *
dup_help (const char *word, const OptionSection *sections, const GOptionEntry *switches)
{
  const View *view = word ? sysprof_view_find (word) : NULL;
  g_autofree char *description = dup_description ();

  if (view)
    return dup_view_help (view, sections, switches);
  return sysprof_usage_help ("Usage: sysprof-report [VIEW] [OPTION...] [CAPTURE]\n"
                             "\n"
                             "Analyze a capture: where did the time go?\n",
                             sections, description);
}

/* Whether GOption set the value of the entry. */
static bool
is_given (const GOptionEntry *entry)
{
  switch ((int) entry->arg)
    {
    case G_OPTION_ARG_NONE:
      return entry->arg_data && *(const gboolean *) entry->arg_data;
    case G_OPTION_ARG_INT:
      return *(const int *) entry->arg_data != 0;
    case G_OPTION_ARG_CALLBACK: /* the callback takes the name */
      return false;
    default:
      return *(char *const *) entry->arg_data != NULL;
    }
}

static void
take_names (Given *given, const OptionSection *sections)
{
  for (; sections->title; sections++)
    for (const GOptionEntry *entry = sections->entries; entry->long_name; entry++)
      if (is_given (entry))
        g_ptr_array_add (given->names, (char *) entry->long_name);
  g_ptr_array_add (given->names, NULL);
}

static bool
parse_words (Given *given, const char *const *words, char ***rest, GError **error)
{
  ReportOptions *options = given->options;
  /* clang-format off */
  const GOptionEntry output[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &given->format, "Choose the format: text, json, csv, markdown, html, svg, folded", "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Write to FILE; its suffix selects the format", "FILE" },
    { "no-pager", 0, 0, G_OPTION_ARG_NONE, &options->no_pager,
      "Do not page long text on a terminal", NULL },
    { "open", 0, 0, G_OPTION_ARG_NONE, &given->open_result, "Open the result in the browser", NULL },
    { "title", 0, 0, G_OPTION_ARG_STRING, &options->title, "Set the title (flame, html, svg)", "TEXT" },
    { "subtitle", 0, 0, G_OPTION_ARG_STRING, &options->subtitle, "Set the line below the title", "TEXT" },
    { "limit", 0, 0, G_OPTION_ARG_CALLBACK, set_limit, "Show at most N rows (0: all; default on a terminal: what fits)", "N" },
    { "min", 0, 0, G_OPTION_ARG_CALLBACK, set_min, "Hide rows below PERCENT of the total", "PERCENT" },
    { "depth", 0, 0, G_OPTION_ARG_INT, &options->depth, "Show at most N levels", "N" },
    { "sort", 0, 0, G_OPTION_ARG_STRING, &options->sort, "Sort by COLUMN", "COLUMN" },
    { "search", 0, 0, G_OPTION_ARG_STRING, &options->search, "Show only rows that contain these words", "TERMS" },
    { "annotate", 0, 0, G_OPTION_ARG_NONE, &options->annotate, "Mark kernel, inlined and generated functions in folded stacks: _[k] _[i] _[j]", NULL },
    { "lines", 0, 0, G_OPTION_ARG_NONE, &options->lines, "Append file:line to names in folded stacks", NULL },
    { "extract", 0, 0, G_OPTION_ARG_STRING, &options->extract, "Write the embedded file NAME", "NAME" },
    { NULL },
  };
  const GOptionEntry flame[] = {
    { "width", 0, 0, G_OPTION_ARG_INT, &options->width, "Set the width in pixels (svg)", "N" },
    { "height", 0, 0, G_OPTION_ARG_INT, &options->row_height, "Set the row height in pixels (svg)", "N" },
    { "colors", 0, 0, G_OPTION_ARG_STRING, &options->colors, "Choose colors: kind, hot, mem, io, java, red, orange, yellow, green, aqua, blue, purple, grey", "SCHEME" },
    { "icicle", 0, 0, G_OPTION_ARG_NONE, &options->icicle, "Draw the root at the top", NULL },
    { NULL },
  };
  const GOptionEntry others[] = {
    { "debug-dir", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->debug_dirs, "Search DIR for debug files, like /usr/lib/debug", "DIR" },
    { "sysroot", 0, 0, G_OPTION_ARG_FILENAME, &options->sysroot, "Search for programs and libraries below DIR", "DIR" },
    { "debuginfod", 0, 0, G_OPTION_ARG_NONE, &options->debuginfod, "Fetch debug info from debuginfod (default when DEBUGINFOD_URLS is set)", NULL },
    { "no-debuginfod", 0, 0, G_OPTION_ARG_NONE, &options->no_debuginfod, "Never contact debuginfod servers", NULL },
    { "no-inlines", 0, 0, G_OPTION_ARG_NONE, &options->selection.no_inlines, "Do not show inlined functions and source lines", NULL },
    { "weight", 0, 0, G_OPTION_ARG_STRING, &given->weight, "Sum this weight: samples, period (of one event: period:EVENT), time (off the CPU), wall (on and off the CPU), bytes, count (allocations)", "WEIGHT" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &given->help, "Print this help", NULL },
    { "completion", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &given->completion, NULL, "SHELL" },
    { NULL },
  };
  /* clang-format on */
  g_autofree GOptionEntry *selection = sysprof_selection_option_entries (&options->selection);
  const OptionSection sections[] = {
    { "Output", output },
    { "Single views", given->switches },
    { "Selection and shape", selection },
    { "Flame graph", flame },
    { "Symbols and others", others },
    { NULL, NULL },
  };
  g_auto (GStrv) left = sysprof_usage_parse ("sysprof-report", sections, sysprof_report_advice,
                                             words, given, error);

  if (!left)
    return false;
  take_names (given, sections);
  if (given->help)
    options->help = dup_help (left[1], sections, given->switches);
  if (given->completion)
    {
      options->help = dup_completion (sections, given->completion, error);
      if (!options->help)
        return false;
    }
  *rest = g_steal_pointer (&left);
  return true;
}

/* The request is valid, but this version does not implement it. */
#define set_unbuilt(error, ...) \
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED, __VA_ARGS__)

static bool
set_format (ReportOptions *options, const char *name, GError **error)
{
  for (RenderFormat format = 0; format < N_RENDER_FORMATS; format++)
    if (strcmp (name, sysprof_render_format (format)->name) == 0)
      {
        options->format = format;
        return true;
      }
  if (g_strv_contains (later_formats, name))
    set_unbuilt (
        error,
        "This version cannot write the format '%s' yet; it has text, json, csv, markdown, html, svg and folded.",
        name);
  else
    set_usage (error,
               "Unknown format '%s'; use text, json, csv, markdown, html, svg or folded.",
               name);
  return false;
}

static bool
guess_format (ReportOptions *options, GError **error)
{
  options->format = options->open_result ? RENDER_HTML : RENDER_TEXT;
  if (!options->output || options->extract)
    return true;
  for (size_t i = 0; i < G_N_ELEMENTS (later_suffixes); i++)
    if (g_str_has_suffix (options->output, later_suffixes[i].suffix))
      return set_format (options, later_suffixes[i].format, error);
  for (RenderFormat format = 0; format < N_RENDER_FORMATS; format++)
    if (g_str_has_suffix (options->output, sysprof_render_format (format)->suffix))
      {
        options->format = format;
        return true;
      }
  if (strncmp (options->output, "/dev/", 5) == 0)
    return true;
  set_usage (
      error,
      "Cannot tell the format from the name '%s': it does not end in .txt, .json, .csv, .md, .html, .svg or .folded; add --format.",
      options->output);
  return false;
}

static bool
check_numbers (const ReportOptions *options, GError **error)
{
  const struct
  {
    const char *option;
    int value;
    int max;
  } numbers[] = {
    { "--depth", options->depth, G_MAXINT },
    { "--width", options->width, 100000 },    /* px; the most that renderers can draw */
    { "--height", options->row_height, 200 }, /* px */
  };

  for (size_t i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].value < 0 || numbers[i].value > numbers[i].max)
      {
        set_usage (error, "%s %d: give a number from 1 to %d.", numbers[i].option,
                   numbers[i].value, numbers[i].max);
        return false;
      }
  if ((options->width > 0 && options->width < 100) ||
      (options->row_height > 0 && options->row_height < 8))
    {
      set_usage (error, "--width is at least 100 pixels, --height (of a row) at least 8.");
      return false;
    }
  if (options->colors && !g_strv_contains (sysprof_flame_color_schemes (), options->colors))
    {
      g_autofree char *names = g_strjoinv (", ", (char **) sysprof_flame_color_schemes ());

      set_usage (error, "--colors %s: unknown scheme; use one of %s.", options->colors, names);
      return false;
    }
  if ((options->annotate || options->lines) && options->format != RENDER_FOLDED)
    {
      set_usage (
          error,
          "--%s works only with folded stacks (--format folded, or a FILE that ends in .folded).",
          options->annotate ? "annotate" : "lines");
      return false;
    }
  if (options->lines && options->selection.no_inlines)
    {
      set_usage (error,
                 "--lines shows source lines and --no-inlines hides them; give one of them.");
      return false;
    }
  return true;
}

static bool
set_weight (ReportOptions *options, const char *weight, GError **error)
{
  if (g_str_has_prefix (weight, "period:") && weight[strlen ("period:")] != '\0')
    {
      options->weight = WEIGHT_PERIOD;
      options->event = g_strdup (weight + strlen ("period:"));
      return true;
    }
  for (size_t i = 0; weight_names[i]; i++)
    if (strcmp (weight, weight_names[i]) == 0)
      {
        options->weight = (Weight) (WEIGHT_SAMPLES + i);
        return true;
      }
  set_usage (error,
             "--weight %s: unknown weight; use samples, period, period:EVENT, time, "
             "wall, bytes or count.",
             weight);
  return false;
}

static bool
check (Given *given, char **words, GError **error)
{
  ReportOptions *options = given->options;

  if (options->version)
    return true;
  if (given->weight && !set_weight (options, given->weight, error))
    return false;
  if (options->output && strcmp (options->output, "-") == 0)
    g_clear_pointer (&options->output, g_free);
  options->open_result = given->open_result;
  return sysprof_report_take_arguments (options, words, error) &&
         (given->format ? set_format (options, given->format, error)
                        : guess_format (options, error)) &&
         sysprof_report_check_options (options, (const char *const *) given->names->pdata,
                                       error) &&
         check_numbers (options, error);
}

bool
sysprof_report_options_parse (ReportOptions *options, char **argv, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  Given given = { .options = options, .names = names };
  g_auto (GStrv) words = NULL;
  bool is_good;

  make_switch_entries (&given);
  is_good = parse_words (&given, (const char *const *) argv, &words, error);

  if (is_good)
    take_switches (&given);
  if (is_good && !options->help)
    {
      char **rest = words + 1;

      if (rest[0] && strcmp (rest[0], "--") == 0)
        rest++;
      is_good = check (&given, rest, error);
    }
  g_free (given.format);
  g_free (given.weight);
  g_free (given.completion);
  g_free (given.switches);
  g_free (given.switch_is_set);
  return is_good;
}

void
sysprof_report_options_clear (ReportOptions *options)
{
  sysprof_selection_clear (&options->selection);
  g_free (options->help);
  g_free (options->switches);
  g_free (options->capture);
  g_free (options->output);
  g_free (options->extract);
  g_free (options->sort);
  g_free (options->event);
  g_free (options->search);
  g_free (options->title);
  g_free (options->subtitle);
  g_free (options->colors);
  g_strfreev (options->debug_dirs);
  g_free (options->sysroot);
  *options = (ReportOptions){ 0 };
}
