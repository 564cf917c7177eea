// SPDX-License-Identifier: GPL-3.0-or-later

/* --report and --flame: what is shown when the recording is done. */

#include "cli/results.h"

#include "util/util.h"
#include "views/views.h"

#include <gio/gunixoutputstream.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SUMMARY_ROWS 20

static gboolean
render_view (const char *name,
             RenderFormat format,
             ViewRequest *request,
             int fd,
             GError **error)
{
  const View *view = sysprof_view_find (name);
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (fd, FALSE);
  Rows rows = { 0 };
  gboolean done;

  done = view->fill (request, &rows, error) &&
         sysprof_render (format, view, request, &rows, stream, error) &&
         g_output_stream_flush (stream, NULL, error);
  sysprof_rows_clear (&rows);
  return done;
}

static gboolean
print_report (const CliOptions *options, ViewRequest *request, GError **error)
{
  /* Descriptor 1 is standard error already where the capture went to standard output. */
  int fd = options->command != NULL ? STDERR_FILENO : STDOUT_FILENO;
  struct winsize size;

  if (isatty (fd) && ioctl (fd, TIOCGWINSZ, &size) == 0)
    {
      request->terminal_width = size.ws_col;
      request->terminal_height = size.ws_row;
      request->use_color = getenv ("NO_COLOR") == NULL;
    }
  request->limit = SUMMARY_ROWS;
  return render_view ("summary", RENDER_TEXT, request, fd, error);
}

static gboolean
write_flame (const CliOptions *options, ViewRequest *request, Output *flame, GError **error)
{
  RenderFormat format = g_str_has_suffix (options->flame, ".svg") ? RENDER_SVG : RENDER_HTML;

  request->limit = 0;
  request->use_color = FALSE;
  request->terminal_width = 0;
  request->terminal_height = 0;
  return render_view ("flame", format, request, flame->fd, error) &&
         sysprof_cli_output_close (flame, error) && sysprof_cli_output_commit (flame, error);
}

gboolean
sysprof_cli_show_results (const CliOptions *options, int fd, Output *flame, GError **error)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  ResolvedSelection resolved = { 0 };
  Selection selection = { 0 };
  gboolean done;

  loader = sysprof_document_loader_new_for_fd (fd, error);
  if (loader == NULL)
    return FALSE;
  document = sysprof_document_loader_load (loader, NULL, error);
  if (document == NULL)
    return FALSE;
  if (!sysprof_selection_resolve (&selection, sysprof_document_get_store (document), &resolved,
                                  error))
    return FALSE;

  ViewRequest request = { .document = document,
                          .selection = &resolved,
                          .selection_as_given = &selection };

  done = (!options->report || print_report (options, &request, error)) &&
         (options->flame == NULL || write_flame (options, &request, flame, error));
  sysprof_resolved_selection_clear (&resolved);
  return done;
}
