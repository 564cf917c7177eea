// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-report: shows any view of a capture in a terminal, a pipe or a file. */

#include "import/import.h"
#include "report/destination.h"
#include "report/options.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_LIMIT   (1 << 30) /* bytes */
#define TABLE_SIZE (2 << 20) /* bytes: a huge page */

enum
{
  EXIT_DONE,
  EXIT_FAILED,
  EXIT_USAGE,
};

/* Lines of a screen without rows: heading, blank, titles, "... and N more", the prompt. */
#define SCREEN_LINES_BESIDE_ROWS 6

static int
complain (const GError *error, int status)
{
  g_printerr ("sysprof-report: %s\n", error->message);
  return status;
}

static bool
is_same_file (const char *a, const char *b)
{
  struct stat left, right;

  return stat (a, &left) == 0 && stat (b, &right) == 0 && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

static bool
is_regular (const char *path)
{
  struct stat status;

  return stat (path, &status) == 0 && S_ISREG (status.st_mode);
}

/* Converts a file of another profiler first. Opens a capture by name, so that messages
 * contain the name. */
static SysprofDocumentLoader *
make_loader (const char *path, GError **error)
{
  ImportReport import;
  autofd fd = sysprof_import_open (path, &import, NULL, error);
  SysprofDocumentLoader *loader;

  if (fd < 0)
    return NULL;
  if (import.n_bad > 0)
    g_printerr ("sysprof-report: '%s': ignored %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " lines without a stack and a number: the first is line %" G_GUINT64_FORMAT
                ". A line should look like 'command;outer;inner 12'.\n",
                path, import.n_bad, import.n_lines, import.first_bad);
  if (!import.format && is_regular (path))
    return sysprof_document_loader_new (path);
  loader = sysprof_document_loader_new_for_fd (fd, error);
  if (loader)
    sysprof_document_loader_set_name (loader, strcmp (path, "-") ? path : "standard input");
  return loader;
}

/* Prints progress on a terminal, and the result. */
static void
report_debuginfod (const DebuginfodStatus *status, void *data)
{
  g_autofree char *text = sysprof_debuginfod_describe (status);
  bool is_terminal = isatty (STDERR_FILENO);

  if (is_terminal)
    g_printerr ("\r\033[K");
  if (text && status->is_done)
    g_printerr ("sysprof-report: debuginfod: %s\n", text);
  else if (text && is_terminal)
    g_printerr ("debuginfod: %s", text);
}

/* Downloads files from the servers in the environment after the report is written, for the
 * next report. Closes a pipe first, so that its reader sees the end. */
static void
download_queued (DebuginfodQueue *queue)
{
  uint32_t n = sysprof_debuginfod_queue_get_n (queue);
  int null = n > 0 ? open ("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

  if (n == 0)
    return;
  if (null >= 0)
    {
      (void) dup2 (null, STDOUT_FILENO); /* so that the reader of a pipe need not wait */
      (void) close (null);
    }
  g_printerr (
      "sysprof-report: downloading %u file%s from debuginfod servers, for the next report; ^C "
      "cancels. With --debuginfod a report waits for them.\n",
      n, n == 1 ? "" : "s");
  sysprof_debuginfod_queue_fetch (queue, report_debuginfod, NULL);
}

static SymbolizeOptions
make_symbolize_options (const ReportOptions *options, DebuginfodQueue *queue)
{
  return (SymbolizeOptions){
    .debug_dirs = (const char *const *) options->debug_dirs,
    .sysroot = options->sysroot,
    .ask_debuginfod = sysprof_debuginfod_may_ask (options->debuginfod, options->no_debuginfod),
    .debuginfod_queue = options->debuginfod ? NULL : queue,
    .tell_debuginfod = report_debuginfod,
    .with_lines = !options->selection.no_inlines,
  };
}

static SysprofDocument *
load_document (const ReportOptions *options, const SymbolizeOptions *symbolize, GError **error)
{
  g_autoptr (SysprofDocumentLoader) loader = make_loader (options->capture, error);

  if (!loader)
    return NULL;
  sysprof_document_loader_set_symbolize_options (loader, symbolize);
  return sysprof_document_loader_load (loader, NULL, error);
}

/* Prints damage of the capture. The summary shows it itself; other views show only readable
 * data. */
static void
report_damage (const ReportOptions *options, SysprofDocument *document)
{
  const Store *store = sysprof_document_get_store (document);

  if (options->view->sections)
    return;
  if (store->damage)
    g_printerr ("sysprof-report: '%s' is damaged. %s%s%s\n", options->capture, store->damage,
                store->mixed ? " " : "", store->mixed ? store->mixed : "");
  else if (store->mixed)
    g_printerr ("sysprof-report: '%s' was joined from several captures. %s\n", options->capture,
                store->mixed);
}

/* Prints complaints about the user's category rules. */
static void
report_rules (void)
{
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);

  sysprof_category_rules_free (sysprof_category_rules_load (complaints));
  for (guint i = 0; i < complaints->len; i++)
    g_printerr ("sysprof-report: %s\n", (const char *) complaints->pdata[i]);
}

static ViewRequest
make_request (const ReportOptions *options,
              SysprofDocument *document,
              const SymbolizeOptions *symbolize,
              const ResolvedSelection *resolved)
{
  return (ViewRequest){
    .store = sysprof_document_get_store (document),
    .symbols = sysprof_document_get_symbols (document),
    .filter = &resolved->filter,
    .shape = &resolved->shape,
    .selection = &options->selection,
    .path = options->capture,
    .symbolize = symbolize,
    .limit = (uint32_t) options->limit,
    .depth = (uint32_t) options->depth,
    .min_percent = options->min_percent,
    .sort = options->sort,
    .search = options->search,
    .switches = options->switches,
    .annotates = options->annotate,
    .with_lines = options->lines,
    .left_heavy = options->selection.left_heavy,
    .title = options->title,
    .subtitle = options->subtitle,
    .width = (uint32_t) options->width,
    .row_height = (uint32_t) options->row_height,
    .colors = options->colors,
    .icicle = options->icicle,
  };
}

/* Default of --min: text omits light nodes of trees with millions of nodes, unless the user
 * selected rows. */
static double
default_min (const ReportOptions *options)
{
  if (options->format != RENDER_TEXT || options->min_is_given || options->limit_is_given ||
      options->search || options->selection.focus)
    return 0;
  return options->view->text_min_percent;
}

/* Sets color, width and pager if the report goes to a terminal. */
static void
suit_terminal (const ReportOptions *options, ViewRequest *request, Destination *destination)
{
  struct winsize size = { 0 };

  if (!options->min_is_given)
    request->min_percent = default_min (options);
  request->is_ascii = options->format == RENDER_TEXT && !g_get_charset (NULL);
  if (options->format != RENDER_TEXT || options->output || !isatty (STDOUT_FILENO))
    return;
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
    size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
  request->use_color = sysprof_wants_color ();
  request->terminal_colors = sysprof_terminal_colors ();
  request->terminal_width = size.ws_col;
  request->terminal_height = size.ws_row;
  if (!options->limit_is_given && !options->view->sections &&
      options->view->layout == LAYOUT_TABLE && !options->view->is_listing)
    request->limit = (uint32_t) MAX (size.ws_row - SCREEN_LINES_BESIDE_ROWS, 5);
  if (!options->no_pager)
    sysprof_destination_use_pager (destination, size.ws_row);
}

static bool
write_embedded_file (const ReportOptions *options,
                     const Store *store,
                     GOutputStream *stream,
                     GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, options->extract, &reason);

  if (!bytes && reason)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return false;
    }
  if (!bytes)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "'%s' has no embedded file '%s'; the view 'files' lists its files.",
                   options->capture, options->extract);
      return false;
    }
  return g_output_stream_write_all (stream, g_bytes_get_data (bytes, NULL),
                                    g_bytes_get_size (bytes), NULL, NULL, error);
}

static bool
write_report (const ReportOptions *options, ViewRequest *request, GError **error)
{
  Destination destination;
  bool is_done;

  is_done = sysprof_destination_open (&destination, options->output, error);
  if (is_done && options->extract)
    is_done = write_embedded_file (options, request->store, destination.stream, error);
  else if (is_done)
    {
      suit_terminal (options, request, &destination);
      is_done = sysprof_render_view (options->view, options->format, request,
                                     destination.stream, error);
    }
  is_done = is_done && sysprof_destination_finish (&destination, error);
  if (!is_done)
    sysprof_name_written_file (error, options->output);
  sysprof_destination_clear (&destination);
  return is_done;
}

/* Chooses a temporary file for a report that is only shown. */
static bool
choose_output_to_open (ReportOptions *options, GError **error)
{
  g_autofree char *pattern = g_strdup_printf ("sysprof-%s-XXXXXX%s", options->view->name,
                                              sysprof_render_format (options->format)->suffix);
  int fd = g_file_open_tmp (pattern, &options->output, error);

  if (fd < 0)
    return false;
  (void) close (fd); /* the file is empty */
  return true;
}

/* Prints the path, too, because xdg-open does not report that there is no browser. */
static bool
show_in_browser (const char *path, GError **error)
{
  const char *arguments[] = { "xdg-open", path, NULL };
  g_autoptr (GError) local = NULL;

  g_printerr ("The report is in %s\n", path);
  if (g_spawn_async (NULL, (char **) arguments, NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                         G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL, NULL, NULL, &local))
    return true;
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "xdg-open cannot show the report: %s. Open the file in a browser yourself.",
               local->message);
  return false;
}

/* Prints a message if the file does not exist and another command line was probably meant. */
static bool
check_capture (const ReportOptions *options)
{
  const View *view = options->view;

  if (access (options->capture, F_OK) == 0 || errno != ENOENT ||
      strcmp (options->capture, "-") == 0)
    return true;
  if (options->is_default_capture)
    g_printerr ("sysprof-report: No capture given. There is no %s here either. Usage: "
                "sysprof-report [VIEW] [OPTION...] CAPTURE; see --help. (A file called '%s' is "
                "written ./%s.)\n",
                options->capture, view->name, view->name);
  else if ((view->options & OPTIONS_FOCUS) && !options->selection.focus)
    g_printerr ("sysprof-report: There is no file '%s'. Did you mean: sysprof-report %s "
                "--focus %s\n",
                options->capture, view->name, options->capture);
  else
    return true;
  return false;
}

static int
report (ReportOptions *options)
{
  g_autoptr (DebuginfodQueue) queue = sysprof_debuginfod_queue_new ();
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (GError) error = NULL;
  ResolvedSelection resolved = { 0 };
  ChosenWeights weights = { 0 };
  SymbolizeOptions symbolize = make_symbolize_options (options, queue);
  WeightChoice choice = { options->weight, options->event, options->capture };
  ViewRequest request;
  bool is_done;

  if (!check_capture (options))
    return EXIT_USAGE;
  if (options->output && is_same_file (options->output, options->capture))
    {
      g_printerr ("sysprof-report: '%s' is the capture itself; write to another file.\n",
                  options->output);
      return EXIT_USAGE;
    }
  document = load_document (options, &symbolize, &error);
  if (!document)
    return complain (error, EXIT_FAILED);
  report_damage (options, document);
  report_rules ();
  if (options->view->begins_with_command && options->format != RENDER_FOLDED)
    sysprof_selection_default_to_command (&options->selection,
                                          sysprof_document_get_store (document));
  if (!sysprof_selection_resolve (&options->selection, sysprof_document_get_store (document),
                                  &resolved, &error))
    return complain (error, EXIT_USAGE);

  request = make_request (options, document, &symbolize, &resolved);
  is_done =
      sysprof_weigh (&choice, sysprof_document_get_store (document),
                     sysprof_document_get_symbols (document), &resolved.filter, &weights,
                     &error) &&
      (!options->open_result || options->output || choose_output_to_open (options, &error)) &&
      write_report (options, &request, &error) &&
      (!options->open_result || show_in_browser (options->output, &error));
  sysprof_resolved_selection_clear (&resolved);
  sysprof_chosen_weights_clear (&weights);
  if (is_done)
    download_queued (queue);
  if (is_done || sysprof_report_reader_is_gone (error))
    return EXIT_DONE;
  return complain (error, error->domain == G_OPTION_ERROR ? EXIT_USAGE : EXIT_FAILED);
}

static int
print_text (const char *text)
{
  if (fputs (text, stdout) != EOF && fflush (stdout) != EOF)
    return EXIT_DONE;
  g_printerr ("sysprof-report: Cannot write to standard output: %s. %s\n", g_strerror (errno),
              sysprof_advice_on_errno (errno));
  return EXIT_FAILED;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  ReportOptions options = { 0 };
  int status;

#ifdef M_ARENA_MAX
  /* Keep small memory for the next step of loading, so that the kernel need not clear the
   * pages again. Tables have their own mappings, with huge pages if the kernel has some, and
   * return them: otherwise holes between tables take 70 MiB for a million samples. */
  (void) mallopt (M_MMAP_THRESHOLD, TABLE_SIZE);
  (void) mallopt (M_TRIM_THRESHOLD, NO_LIMIT);
  (void) mallopt (M_ARENA_MAX, 1);
#endif
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");      /* figures are equal in all locales */
  (void) signal (SIGPIPE, SIG_IGN); /* a reader that quits early is not a failure */
  (void) signal (SIGXFSZ, SIG_IGN); /* report a file size limit like a full disk */
  sysprof_temporary_files_remove_on_signals ();

  if (!sysprof_report_options_parse (&options, argv, &error))
    status = complain (error, g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED)
                                  ? EXIT_FAILED
                                  : EXIT_USAGE);
  else if (options.help || options.version)
    status = print_text (options.help ? options.help : "Sysprof " SYSPROF_VERSION_S "\n");
  else if (!sysprof_check_threads (&error))
    status = complain (error, EXIT_FAILED);
  else
    status = report (&options);
  sysprof_report_options_clear (&options);
  return status;
}
