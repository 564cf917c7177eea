// SPDX-License-Identifier: GPL-3.0-or-later

/* --report and --flame: output at the end of a recording. */

#include "cli/results.h"

#include "document/document.h"
#include "render/render.h"

#include <gio/gunixoutputstream.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static gboolean
render_view (const char *name,
             RenderFormat format,
             const ViewRequest *request,
             int fd,
             GError **error)
{
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (fd, FALSE);

  return sysprof_render_view (sysprof_view_find (name), format, request, stream, error) &&
         g_output_stream_flush (stream, NULL, error);
}

static gboolean
print_report (const CliOptions *options, ViewRequest *request, GError **error)
{
  /* Descriptor 1 is standard error if the capture goes to standard output. */
  int fd = options->command != NULL ? STDERR_FILENO : STDOUT_FILENO;
  struct winsize size;

  request->is_ascii = !g_get_charset (NULL);
  if (isatty (fd) && ioctl (fd, TIOCGWINSZ, &size) == 0)
    {
      request->terminal_width = size.ws_col;
      request->use_color = sysprof_wants_color ();
      request->terminal_colors = (uint8_t) sysprof_terminal_colors ();
    }
  if (render_view ("summary", RENDER_TEXT, request, fd, error))
    return TRUE;
  if (fd == STDOUT_FILENO)
    sysprof_name_written_file (error, NULL);
  return FALSE;
}

static gboolean
write_flame (const CliOptions *options, ViewRequest *request, OutputFile *flame, GError **error)
{
  RenderFormat format = g_str_has_suffix (options->flame, ".svg") ? RENDER_SVG : RENDER_HTML;

  request->use_color = FALSE;
  request->is_ascii = FALSE;
  request->terminal_width = 0;
  if (render_view ("flame", format, request, flame->fd, error) &&
      sysprof_cli_output_close (flame, error) && sysprof_cli_output_commit (flame, error))
    return TRUE;
  sysprof_name_written_file (error, options->flame);
  return FALSE;
}

static gboolean
show_views (const CliOptions *options,
            SysprofDocument *document,
            OutputFile *flame,
            GError **error)
{
  Store *store = sysprof_document_get_store (document);
  Selection selection = { 0 };
  ResolvedSelection resolved;
  gboolean is_done;

  sysprof_selection_default_to_command (&selection, store);
  if (!sysprof_selection_resolve (&selection, store, &resolved, error))
    return FALSE;

  ViewRequest request = { .store = store,
                          .symbols = sysprof_document_get_symbols (document),
                          .filter = &resolved.filter,
                          .shape = &resolved.shape,
                          .selection = &selection,
                          .path = options->output };

  is_done = (!options->report || print_report (options, &request, error)) &&
            (options->flame == NULL || write_flame (options, &request, flame, error));
  sysprof_resolved_selection_clear (&resolved);
  return is_done;
}

gboolean
sysprof_cli_show_results (const CliOptions *options, int fd, OutputFile *flame, GError **error)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;

  loader = sysprof_document_loader_new_for_fd (fd, error);
  if (loader == NULL)
    return FALSE;
  document = sysprof_document_loader_load (loader, NULL, error);
  if (document == NULL)
    return FALSE;
  return show_views (options, document, flame, error);
}
