// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the view and the capture, explains words that are neither, and refuses options that
 * the view would ignore. */

#include "report/arguments.h"

#include <string.h>

#define set_usage sysprof_report_set_usage

/* Commands of perf and other programs that a user may type as a view. */
static const struct
{
  const char *word;
  const char *advice;
} foreign_words[] = {
  { "annotate", "the views 'source' and 'disassembly' show the lines and instructions of the "
                "function of --focus" },
  { "report", "the view 'functions' lists functions by time" },
  { "script", "the view 'samples' lists single samples; --format folded writes all stacks" },
  { "sched", "the view 'waits' shows time off the CPU" },
  { "trace", "the view 'waits' shows time in system calls" },
  { "record", "sysprof-cli records" },
  { "top", "sysprof-cli --top shows a live view" },
  { "help", "sysprof-report --help lists views and options" },
};

const OptionAdvice sysprof_report_advice[] = {
  { "-i", "Give the capture as the last word, without an option." },
  { "--input", "Give the capture as the last word, without an option." },
  { "-n", "Use --limit N for the number of rows; counts are always shown." },
  { "-p", "Use --process NAME|PID." },
  { "--pid", "Use --process NAME|PID." },
  { "--comm", "Use --process NAME." },
  { "--comms", "Use --process NAME." },
  { "--tid", "Use --thread NAME|TID." },
  { "--dso", "Use --binary TEXT." },
  { "--dsos", "Use --binary TEXT." },
  { "-g", "The views tree, callers and callees show who calls whom." },
  { "--call-graph", "The views tree, callers and callees show who calls whom." },
  { "--children", "The column TOTAL includes callees." },
  { "--stdio", "Text is the default." },
  { "--top", "sysprof-cli --top shows a live view." },
  { NULL },
};

void
sysprof_report_set_usage (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (
      error, g_error_new_valist (G_OPTION_ERROR, G_OPTION_ERROR_FAILED, format, arguments));
  va_end (arguments);
}

/* Whether the word is a command of another program. Sets `error`. */
static bool
explain_foreign_word (const char *word, GError **error)
{
  if (strcmp (word, "diff") == 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "This version cannot compare captures yet. (A file called '%s' is written "
                   "./%s.)",
                   word, word);
      return true;
    }
  for (size_t i = 0; i < G_N_ELEMENTS (foreign_words); i++)
    if (strcmp (foreign_words[i].word, word) == 0)
      {
        set_usage (error, "There is no view '%s': %s. (A file called '%s' is written ./%s.)",
                   word, foreign_words[i].advice, word, word);
        return true;
      }
  return false;
}

static void
set_no_view (const char *name, const char *next, GError **error)
{
  Closest closest = sysprof_closest_to (name);

  if (next && sysprof_view_find (next))
    {
      set_usage (error, "The view comes first: sysprof-report %s %s", next, name);
      return;
    }
  if (explain_foreign_word (name, error))
    return;
  for (const View *const *view = sysprof_view_list (); *view; view++)
    sysprof_closest_offer (&closest, (*view)->name, strlen ((*view)->name), (*view)->name);
  set_usage (error, "Unknown view '%s'.%s%s%s sysprof-report --help lists views.", name,
             closest.best ? " Did you mean '" : "", closest.best ? closest.best : "",
             closest.best ? "'?" : "");
}

static void
refuse_third_word (char **words, GError **error)
{
  const View *view = sysprof_view_find (words[0]);

  if (explain_foreign_word (words[0], error))
    return;
  if (view && (view->options & OPTIONS_FOCUS) && words[3] == NULL)
    set_usage (error, "Unexpected argument '%s'. Did you mean: sysprof-report %s --focus %s %s",
               words[1], view->name, words[1], words[2]);
  else
    set_usage (error, "Unexpected argument '%s': give one view and one capture.", words[2]);
}

bool
sysprof_report_take_arguments (ReportOptions *options, char **words, GError **error)
{
  unsigned n = g_strv_length (words);
  const char *view = n == 2 || (n == 1 && sysprof_view_find (words[0])) ? words[0] : NULL;
  const char *capture = n > 0 && view != words[n - 1] ? words[n - 1] : NULL;

  if (n > 2)
    {
      refuse_third_word (words, error);
      return false;
    }
  if (!view && capture && explain_foreign_word (capture, error))
    return false;
  options->view = sysprof_view_find (view ? view : options->extract ? "files" : "summary");
  if (!options->view)
    {
      set_no_view (view, capture, error);
      return false;
    }
  options->is_default_capture = !capture;
  options->capture = g_strdup (capture ? capture : DEFAULT_CAPTURE);
  return true;
}

/* --- options of views --- */

static bool
has_option (const ReportOptions *options, const View *view, const char *name)
{
  /* Folded stacks are the same for all views. */
  if (options->format == RENDER_FOLDED && sysprof_view_options_have (OPTIONS_CALL_TREE, name))
    return true;
  if (g_strv_contains (options->switches, name))
    return sysprof_view_has_switch (view, name);
  return sysprof_view_options_have (view->options, name);
}

bool
sysprof_report_check_options (const ReportOptions *options,
                              const char *const *names,
                              GError **error)
{
  for (; *names; names++)
    {
      g_autoptr (GString) views = g_string_new (NULL);
      const View *first = NULL;
      unsigned n = 0;

      if (has_option (options, options->view, *names))
        continue;
      for (const View *const *view = sysprof_view_list (); *view; view++)
        if (has_option (options, *view, *names))
          {
            first = n++ == 0 ? *view : first;
            g_string_append_printf (views, "%s%s", n > 1 ? ", " : "", (*view)->name);
          }
      if (n == 1)
        set_usage (error,
                   "--%s works only with the view '%s', not with '%s': sysprof-report %s --%s",
                   *names, first->name, options->view->name, first->name, *names);
      else
        set_usage (error, "--%s does not work with the view '%s'. The views with it are: %s.",
                   *names, options->view->name, views->str);
      return false;
    }
  return true;
}
