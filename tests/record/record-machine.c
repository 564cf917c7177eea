// SPDX-License-Identifier: GPL-3.0-or-later

/* Records every counter of a machine that is a tree of files, and prints which ones are
 * unavailable.
 *
 *     record-machine ROOT CAPTURE SECONDS */

#include "record/counters/sampled-counters.h"
#include "recorder.h"

#include <stdlib.h>

extern const InstrumentRow sysprof_process_usage_row;

/* Adds the instruments whose values are counters. */
static void
add_counters (SysprofProfiler *profiler)
{
  for (const InstrumentRow *const *row = sysprof_instrument_rows; *row != NULL; row++)
    {
      g_autoptr (SysprofInstrument) instrument = (*row)->new != NULL ? (*row)->new () : NULL;

      if (instrument != NULL &&
          (*row == &sysprof_process_usage_row ||
           G_TYPE_CHECK_INSTANCE_TYPE (instrument, sysprof_counter_instrument_get_type ())))
        sysprof_profiler_add_instrument (profiler, g_steal_pointer (&instrument));
    }
}

static void
print_diagnostics (SysprofRecording *recording)
{
  g_autoptr (GListModel) diagnostics = sysprof_recording_list_diagnostics (recording);

  for (guint i = 0; i < g_list_model_get_n_items (diagnostics); i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, i);

      g_print ("%s: %s\n", sysprof_diagnostic_get_domain (diagnostic),
               sysprof_diagnostic_get_message (diagnostic));
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  Recorded recorded = { 0 };
  SysprofCaptureWriter *writer;

  if (argc != 4)
    {
      g_printerr ("usage: record-machine ROOT CAPTURE SECONDS\n");
      return 2;
    }

  writer = sysprof_capture_writer_new (argv[2], 0);
  g_assert_nonnull (writer);
  add_counters (profiler);
  sysprof_profiler_set_machine (profiler, argv[1]);
  sysprof_profiler_set_max_duration (profiler, (gint64) (atof (argv[3]) * 1e9));
  record_and_wait (&recorded, profiler, writer);
  g_assert_no_error (recorded.error);
  print_diagnostics (recorded.recording);
  recorded_clear (&recorded);
  return 0;
}
