// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints every view of a capture, in one process.
 *
 *     answer-views CAPTURE FOCUS
 *
 * Writes for each view `VIEW SIZE\n` and its JSON of that size, or `VIEW: ` and the reason why
 * there is none. It makes all other formats, too, and checks them. Status 1 and one line on
 * standard error if the capture cannot be opened. */

#include "tests/views/check-views.h"

#include "document/document.h"

#include <stdio.h>
#include <string.h>

static void
hand_out (const View *view, const ViewRequest *request)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);
  g_autoptr (GError) error = NULL;

  if (!sysprof_render_view (view, RENDER_JSON, request, stream, &error))
    {
      check_one_line (error->message);
      printf ("%s: %s\n", view->name, error->message);
      return;
    }
  printf ("%s %zu\n", view->name, (size_t) g_memory_output_stream_get_data_size (memory));
  fwrite (g_memory_output_stream_get_data (memory), 1,
          g_memory_output_stream_get_data_size (memory), stdout);
}

int
main (int argc, char **argv)
{
  static const char *const details[] = { "details", NULL };
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (GError) error = NULL;
  Shape shape = { 0 };
  ViewRequest request = { .shape = &shape, .symbolize = &options, .switches = details };

  g_assert_cmpint (argc, ==, 3);
  loader = sysprof_document_loader_new (argv[1]);
  sysprof_document_loader_set_symbolize_options (loader, &options);
  document = sysprof_document_loader_load (loader, NULL, &error);
  if (document == NULL)
    {
      check_one_line (error->message);
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }

  request.store = sysprof_document_get_store (document);
  request.symbols = sysprof_document_get_symbols (document);
  for (const View *const *view = sysprof_view_list (); *view != NULL; view++)
    {
      shape.focus =
          strstr ("callers callees source disassembly", (*view)->name) != NULL ? argv[2] : NULL;
      request.search = (*view)->searches ? argv[2] : NULL;
      hand_out (*view, &request);
      for (RenderFormat format = 0; format < N_RENDER_FORMATS; format++)
        check_view (*view, format, &request, NULL, NULL);
    }
  return 0;
}
