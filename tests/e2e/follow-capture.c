// SPDX-License-Identifier: GPL-3.0-or-later

/* Follows a capture while somebody writes it, and compares what it has in the end with the file opened for the first time.
 *
 *   follow-capture FILE
 *
 * Writes the number of frames for each document that is new. When its input is closed, the capture is complete. */

#include "tests/views/check-same.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define PAUSE 20 /* ms between two looks at the file */

static SysprofDocument *
load (const char *path)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (path);
  g_autoptr (GError) error = NULL;
  SysprofDocument *document = sysprof_document_loader_load (loader, NULL, &error);

  if (document == NULL)
    g_error ("%s", error->message);
  return document;
}

int
main (int argc, char **argv)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (SysprofDocument) fresh = NULL;
  struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
  bool is_complete = false;

  g_assert_cmpint (argc, ==, 2);
  loader = sysprof_document_loader_new (argv[1]);
  document = load (argv[1]);
  while (!is_complete)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SysprofDocument) newer = NULL;

      is_complete = poll (&input, 1, PAUSE) > 0;
      newer = sysprof_document_loader_follow (loader, document, NULL, &error);
      g_assert_no_error (error);
      if (newer == NULL)
        continue;
      printf ("%u\n", g_list_model_get_n_items (G_LIST_MODEL (newer)));
      fflush (stdout);
      g_set_object (&document, newer);
    }

  fresh = load (argv[1]);
  check_same (document, fresh);
  return 0;
}
