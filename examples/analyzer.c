// SPDX-License-Identifier: GPL-3.0-or-later

/* Write your own analyzer: how many counters, samples and marks capture.syscap holds, and the last value of each
 * counter. No symbols are looked up, so it is quick.
 *
 *     cc analyzer.c -o analyzer $(pkg-config --cflags --libs sysprof-6) */

#include <stdio.h>
#include <stdlib.h>
#include <sysprof.h>

int
main (int argc, char *argv[])
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  g_autoptr (GListModel) counters = NULL;
  g_autoptr (GListModel) samples = NULL;
  g_autoptr (GListModel) marks = NULL;
  g_autoptr (GError) error = NULL;

  loader = sysprof_document_loader_new (argc > 1 ? argv[1] : "capture.syscap");
  sysprof_document_loader_set_symbolizer (loader, sysprof_no_symbolizer_get ());

  document = sysprof_document_loader_load (loader, NULL, &error);
  if (document == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return EXIT_FAILURE;
    }

  counters = sysprof_document_list_counters (document);
  samples = sysprof_document_list_samples (document);
  marks = sysprof_document_list_marks (document);
  printf ("counters: %u\nsamples: %u\nmarks: %u\n", g_list_model_get_n_items (counters),
          g_list_model_get_n_items (samples), g_list_model_get_n_items (marks));

  for (guint i = 0; i < g_list_model_get_n_items (counters); i++)
    {
      g_autoptr (SysprofDocumentCounter) counter = g_list_model_get_item (counters, i);
      guint n_values = sysprof_document_counter_get_n_values (counter);

      if (n_values > 0)
        printf ("%s/%s: %g\n", sysprof_document_counter_get_category (counter),
                sysprof_document_counter_get_name (counter),
                sysprof_document_counter_get_value_double (counter, n_values - 1, NULL));
    }

  return EXIT_SUCCESS;
}
